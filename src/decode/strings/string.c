/*
 * string.c: strings nearest to a prediction, also ones never seen in training.
 *
 * Under any string kernel: a beam search (beam.c) that begins from the nearest training
 * outputs and moves by single edits: insert, delete or replace a letter, swap neighbours.
 * Letters are those of the training outputs, or those given. Under the spectrum kernel,
 * scaled or not, the best string of at most the longest length is found exactly first
 * (debruijn.c) and begins the beam too; under weighted-degree, where all strings have one
 * length, the best one is found exactly (degree.c). The result is at most as far as the
 * nearest training output; its distance is the true one. Strings without features (l(y,y)
 * = 0, shorter than the kernel's substrings) are left out as among candidates.
 */
#include "data/strings.h"
#include "decode/beam.h"
#include "decode/strings/debruijn.h"
#include "decode/strings/degree.h"
#include "decode/strings/editor.h"
#include "decode/delta.h"
#include "decode/strings/median.h"
#include "decode/strings/places.h"
#include "decode/strings/writing.h"
#include "kernel/strings/string_kernels.h"

#include <string.h>

enum { MEDIAN_LONGEST = 1000 };

typedef struct string_options {
    okra_int beam, rounds, longest;
    const char *alphabet;
    bool empty;
} string_options;

static const okra_option rows[] = {
    {"beam", OKRA_OPTION_INT, offsetof(string_options, beam), "0", 0, 1e6, NULL, "N",
     "nearest strings that are kept and edited further; 0: 32, or 16 where the kernel is "
     "evaluated against every training output"},
    {"rounds", OKRA_OPTION_INT, offsetof(string_options, rounds), "1000", 1, 1e6, NULL,
     "N", "rounds of edits at most"},
    {"longest", OKRA_OPTION_INT, offsetof(string_options, longest), "0", 0, 1e6, NULL,
     "N", "letters of a new string at most; 0: two more than any training output has"},
    {"alphabet", OKRA_OPTION_TEXT, offsetof(string_options, alphabet), "", 1, 0, NULL,
     "TEXT", "letters to write with; those of the training outputs if not given"},
    {"allow-empty-candidates", OKRA_OPTION_BOOL, offsetof(string_options, empty), "no", 1,
     0, NULL, "", "keep strings whose self-similarity is zero"},
    {0},
};

typedef struct state {
    const okra_output_ *output;
    okra_int tests;
    okra_editor_ editor;
    okra_beam_ *beam;       /* where the kernel is not known to written.h, else NULL */
    okra_written_ *written; /* where it is */
    okra_starts_ *starts;
    okra_int width, rounds;
    bool empty;
    okra_delta_ *loss; /* what is minimised in the place of the distance, or NULL */
    bool median;       /* it is the edit distance: median.c */
    okra_int k;        /* of the spectrum kernel; 0: another kernel */
    okra_debruijn_ graph;
    okra_degree_ *degree; /* weighted-degree: all of the search */
    okra_int unfinished;  /* exact searches given up */
    okra_ragged_builder_ result;
    double *distance;
} state;

extern const okra_decoder_ okra_decoder_string_;

static void release(void *arg)
{
    state *s = arg;
    if (s) {
        okra_beam_free_(s->beam);
        okra_starts_free_(s->starts);
        okra_written_free_(s->written);
        okra_editor_clear_(&s->editor);
        okra_debruijn_clear_(&s->graph);
        okra_degree_free_(s->degree);
        okra_ragged_abandon_(&s->result);
        okra_free_(s->distance);
        okra_free_(s);
    }
}

/* ---- moves ---- */

static okra_status neighbours(const void *user, const int32_t *codes, okra_int length,
                              okra_offer_ *offer)
{
    return okra_editor_neighbours_(&((const state *)user)->editor, codes, length, offer);
}

static okra_status objects(const void *user, const int32_t *codes,
                           const okra_int *offsets, okra_int count, okra_data **out)
{
    const state *s = user;
    FREED_BY(okra_ragged_abandon_) okra_ragged_builder_ b = {0};
    CHK(okra_characters_begin_(&b));
    for (okra_int i = 0; i < count; i++) {
        const void *const array[] = {codes + offsets[i]};
        CHK(okra_ragged_push_many_(&b, offsets[i + 1] - offsets[i], array));
        CHK(okra_ragged_close_(&b));
    }
    return okra_letters_as_(s->output->y, &b, "proposed strings", out);
}

/* ---- exact search under the spectrum kernel ---- */

/* The best string for a row of weights, letters that the caller frees. */
static okra_status exact_word(state *s, const double *w, int32_t **out, okra_int *length)
{
    bool complete = true;
    okra_status st = okra_debruijn_word_(&s->graph, s->output->y, s->editor.alphabet, w,
                                         out, length, &complete);
    s->unfinished += !complete;
    return st;
}

static okra_status exact(void *user, const double *w, okra_offer_ *offer)
{
    okra_int length = 0;
    OWNED int32_t *word = NULL;
    CHK(exact_word(user, w, &word, &length));
    if (length > 0) {
        CHK(okra_offer_put_(offer, word, length));
    }
    return OKRA_OK;
}

static okra_status places(void *user, const double *w, okra_offer_ *offer)
{
    state *s = user;
    okra_int length = 0;
    CHK(okra_best_places_(s->output->y, s->editor.alphabet, s->editor.letters,
                          s->editor.longest, w, s->editor.edited, &length));
    return okra_offer_put_(offer, s->editor.edited, length);
}

/* ---- the decoder ---- */

static okra_status start(void *user, okra_int index, okra_offer_ *offer)
{
    const state *s = user;
    okra_int length;
    const int32_t *codes = okra_characters_(s->output->y, index, &length);
    return okra_offer_put_(offer, codes, length);
}

static okra_status found(void *user, okra_int i, const int32_t *codes, okra_int length,
                         double distance)
{
    state *s = user;
    const void *const array[] = {codes};
    CHK(okra_ragged_push_many_(&s->result, length, array));
    CHK(okra_ragged_close_(&s->result));
    s->distance[i] = distance;
    return OKRA_OK;
}

/* Tables for the exact search, where the kernel is the spectrum and they are small. */
static okra_status prepare_exact(okra_context *ctx, state *s)
{
    okra_status st = OKRA_OK;
    if (!okra_bound_is_spectrum_(s->output->ky, &s->k)) {
        return OKRA_OK;
    }
    st = okra_debruijn_create_(s->editor.letters, s->k, s->editor.longest, &s->graph);
    if (st == OKRA_EUNSUPPORTED) {
        okra_warn_(ctx, "string: no exact search: %s", okra_message());
        st = OKRA_OK;
    }
    return st;
}

/* Strings of the one length that weighted-degree compares; nothing else is searched. */
static okra_status prepare_degree(state *s)
{
    okra_int k = 0, length = s->editor.known;
    s->editor.one_length = okra_kernel_one_length_(s->output->kernel);
    if (s->editor.one_length && s->editor.longest < length) {
        return okra_fail_(
            OKRA_EARG,
            "decoder string: longest is %lld, and kernel weighted-degree compares "
            "strings of %lld letters alone",
            (long long)s->editor.longest, (long long)length);
    }
    if (okra_kernel_is_degree_(s->output->kernel, &k)) {
        CHK(okra_degree_create_(s->editor.alphabet, s->editor.letters, k, length,
                                &s->degree));
    }
    return OKRA_OK;
}

/* Under a kernel that is not written from tables each of at least `width` strings a test
 * point has all its edits compared with every training output: a word before that takes
 * long. */
static void tell_cost(okra_context *ctx, const state *s)
{
    const okra_data *y = s->output->y;
    double letters = (double)y->groups[0].offsets[y->n] / (double)y->n;
    double edits = (2 * letters + 1) * (double)s->editor.letters + 2 * letters;
    double values = edits * (double)s->width * (double)y->n * (double)s->tests;
    if (!s->loss && values > 2e9) {
        okra_warn_(ctx,
                   "string: every edit is compared with all %lld training outputs, some "
                   "%.1g kernel values for %lld test points; under ssk, spectrum, "
                   "mismatch and position(zero-one) it is not, a beam below %lld takes "
                   "less, and decoder candidates or rewrite much less",
                   (long long)y->n, values, (long long)s->tests, (long long)s->width);
    }
}

static okra_status create_beam(okra_context *ctx, state *s)
{
    bool by_place = s->loss && strcmp(okra_delta_spec_(s->loss), "hamming") == 0;
    okra_moves_ moves = {.decoder = "decoder string",
                         .what = "string",
                         .user = s,
                         .start = start,
                         .begin = s->graph.g ? exact
                                  : by_place ? places
                                             : NULL,
                         .neighbours = neighbours,
                         .objects = objects,
                         .found = found,
                         .width = s->width,
                         .rounds = by_place ? 0 : s->rounds,
                         .empty = s->empty,
                         .loss = s->loss};
    tell_cost(ctx, s);
    return okra_beam_create_(ctx, s->output, &moves, s->tests, &s->beam);
}

static okra_status create(okra_context *ctx, const okra_output_ *output,
                          const okra_options *options,
                          const okra_decode_request_ *request, void **out)
{
    okra_status st = OKRA_OK;
    state *s = NULL;
    string_options o;
    TRY(okra_options_read(options, &okra_decoder_string_.options, &o));
    TRY(okra_decode_check_plain_("string", request));
    if (output->y->kind != OKRA_STRINGS &&
        !(request->loss && output->y->kind == OKRA_SEQUENCES)) {
        FAIL(OKRA_EUNSUPPORTED, "decoder string needs strings as outputs; these are %s",
             okra_kind_name(output->y->kind));
    }
    ZALLOC(s, 1);
    s->output = output;
    s->tests = request->tests;
    TRY(okra_editor_open_(output->y, o.alphabet, o.longest, &s->editor));
    s->loss = request->loss;
    if (!s->loss) {
        TRY(prepare_exact(ctx, s));
        TRY(prepare_degree(s));
    }
    s->rounds = o.rounds;
    s->empty = o.empty;
    if (!s->loss) {
        TRY(okra_written_create_(output, s->editor.alphabet, s->editor.letters,
                                 s->editor.longest, &s->written));
    }
    s->width = o.beam > 0 ? o.beam : s->written ? 32 : 16;
    s->median = s->loss && strcmp(okra_delta_spec_(s->loss), "edit") == 0 &&
                OKRA_MAX_(s->editor.known, s->editor.longest) <= MEDIAN_LONGEST;
    if (s->written || s->median) {
        TRY(okra_starts_create_(ctx, output, s->loss, s->tests,
                                OKRA_MIN_(s->width, output->y->n), o.empty, &s->starts));
    } else if (!s->degree) {
        TRY(create_beam(ctx, s));
    }
    TRY(okra_characters_begin_(&s->result));
    ALLOC(s->distance, s->tests);
    *out = s;
    s = NULL;
done:
    release(s);
    return st;
}

/* Under the kernels of written.h. */
static okra_status write_block(okra_context *ctx, state *s, const okra_block_ *block)
{
    okra_status st = OKRA_OK;
    okra_int m = block->m, *lengths = NULL;
    double *norm = NULL;
    int32_t **codes = NULL, **words = NULL;
    okra_word_ *more = NULL;
    TRY(okra_block_weights_(block, "decoder string"));
    ALLOC(norm, m);
    ALLOC(lengths, m);
    ZALLOC(codes, m);
    ZALLOC(words, m);
    ZALLOC(more, m);
    TRY(okra_starts_block_(ctx, s->starts, block, norm));
    for (okra_int r = 0; s->graph.g && r < m; r++) {
        TRY(okra_cancelled_(ctx));
        TRY(exact_word(s, block->W.p + r * block->W.ld, &words[r], &more[r].length));
        more[r].code = words[r];
    }
    okra_writing_ how = {
        s->written,        s->output, s->starts, s->editor.alphabet, s->editor.letters,
        s->editor.longest, s->width,  s->rounds, s->empty,           more};
    TRY(okra_write_(ctx, &how, block, norm, codes, lengths, s->distance + block->first));
    for (okra_int r = 0; r < m; r++) {
        TRY(found(s, block->first + r, codes[r], lengths[r],
                  s->distance[block->first + r]));
    }
done:
    for (okra_int r = 0; r < m; r++) {
        okra_free_(codes ? codes[r] : NULL);
        okra_free_(words ? words[r] : NULL);
    }
    okra_free_(codes);
    okra_free_(words);
    okra_free_(more);
    okra_free_(lengths);
    okra_free_(norm);
    return st;
}

/* By median.c or degree.c, which give whole words. */
static okra_status words_block(okra_context *ctx, state *s, const okra_block_ *block)
{
    FREED_BY(okra_data_drop_) okra_data *words = NULL;
    okra_int length;
    double *distance = s->distance + block->first;
    okra_median_ how = {s->output->y,      s->editor.alphabet, s->editor.letters,
                        s->editor.longest, s->width,           s->rounds,
                        s->starts};
    CHK(okra_block_weights_(block, "decoder string"));
    CHK(s->median
            ? okra_median_block_(ctx, &how, block, distance, &words)
            : okra_degree_block_(ctx, s->degree, s->output, block, distance, &words));
    for (okra_int r = 0; r < block->m; r++) {
        const int32_t *codes = okra_characters_(words, r, &length);
        CHK(found(s, block->first + r, codes, length, distance[r]));
    }
    return OKRA_OK;
}

static okra_status block_in(okra_context *ctx, void *arg, const okra_block_ *block)
{
    state *s = arg;
    return s->median || s->degree ? words_block(ctx, s, block)
           : s->written           ? write_block(ctx, s, block)
                                  : okra_beam_block_(ctx, s->beam, block);
}

static okra_status finish(okra_context *ctx, void *arg, okra_decoded_ *out)
{
    state *s = arg;
    FREED_BY(okra_data_drop_) okra_data *strings = NULL;
    if (s->unfinished > 0) {
        okra_warn_(ctx, "string: the exact search was given up for %lld of %lld",
                   (long long)s->unfinished, (long long)s->tests);
    }
    CHK(okra_letters_as_(s->output->y, &s->result, "decoded strings", &strings));
    CHK(okra_decoded_single_(strings, s->tests, s->distance, out));
    s->distance = NULL;
    strings = NULL;
    return OKRA_OK;
}

const okra_decoder_ okra_decoder_string_ = {
    .name = "string",
    .help = "new strings: exact for the spectrum kernel, a search by edits for others",
    .options = {"decoder string", rows, sizeof(string_options)},
    .create = create,
    .block = block_in,
    .finish = finish,
    .free = release,
};
