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
 * = 0, shorter than the kernel's substrings) are left out as among candidates. The K best
 * are those that the search keeps; exact under weighted-degree, and where there are at
 * most EVERY strings of the longest length, which are all looked at.
 */
#include "data/strings.h"
#include "decode/beam.h"
#include "decode/strings/debruijn.h"
#include "decode/strings/degree.h"
#include "decode/strings/editor.h"
#include "decode/pair_loss.h"
#include "decode/strings/median.h"
#include "decode/strings/places.h"
#include "decode/strings/writing.h"
#include "kernel/strings/string_kernels.h"

#include <math.h>

enum { MEDIAN_LONGEST = 1000, EVERY = OKRA_FRONT_ };

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
    okra_editor_ editor;
    bool every;             /* there are few strings: all of them are looked at */
    okra_beam_ *beam;       /* where the kernel is not known to written.h, else NULL */
    okra_written_ *written; /* where it is */
    okra_starts_ *starts;
    okra_int width, rounds;
    bool empty;
    okra_pair_loss_ *loss; /* what is minimised in the place of the distance, or NULL */
    bool median;           /* it, or the kernel, is of the edit distance: median.c */
    double sigma, scale;   /* the kernel; sigma 0: the loss */
    okra_int k;            /* of the spectrum kernel; 0: another kernel */
    okra_debruijn_ graph;
    okra_degree_ *degree; /* weighted-degree: all of the search */
    okra_int unfinished;  /* exact searches given up */
    okra_results_ finds;
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
        okra_results_clear_(&s->finds);
        okra_free_(s);
    }
}

OKRA_DROPS_(drop, state, release)

/* ---- moves ---- */

static okra_status neighbours(const void *user, const int32_t *codes, okra_int length,
                              okra_offer_ *offer)
{
    return okra_editor_neighbours_(&((const state *)user)->editor, codes, length, offer);
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

/* The best string of every length: its letters are the first ones of the longest. Where
 * one is wanted, the best of them. */
static okra_status places(void *user, const double *w, okra_offer_ *offer)
{
    state *s = user;
    okra_int length = 0;
    CHK(okra_best_places_(s->output->y, s->editor.alphabet, s->editor.letters,
                          s->editor.longest, w, s->editor.edited, &length));
    for (okra_int t = 0; s->finds.top > 1 && t <= s->editor.longest; t++) {
        CHK(okra_offer_put_(offer, s->editor.edited, t));
    }
    return okra_offer_put_(offer, s->editor.edited, length);
}

/* ---- all strings ---- */

/* Strings of up to the longest length, and training outputs, which may be longer. */
static double how_many(const okra_editor_ *e, const okra_data *y)
{
    double sizes = (double)e->longest + 1, letters = (double)e->letters;
    return (letters > 1 ? pow(letters, sizes) : sizes) + (double)y->n;
}

/* Are there few strings? */
static bool is_few(const okra_editor_ *e)
{
    okra_int length = e->one_length ? e->known : e->longest;
    return length <= EVERY && pow((double)e->letters, (double)length) <= EVERY;
}

static okra_status every(void *user, const double *w, okra_offer_ *offer)
{
    const state *s = user;
    const okra_editor_ *e = &s->editor;
    okra_int words = 1;
    (void)w;
    for (okra_int t = 0; t <= e->longest; t++, words *= e->letters) {
        for (okra_int k = 0; (!e->one_length || t == e->known) && k < words; k++) {
            for (okra_int i = 0, rest = k; i < t; i++, rest /= e->letters) {
                e->edited[i] = e->alphabet[rest % e->letters];
            }
            CHK(okra_offer_put_(offer, e->edited, t));
        }
    }
    return OKRA_OK;
}

/* ---- the decoder ---- */

static okra_status start(void *user, okra_int index, okra_offer_ *offer)
{
    const state *s = user;
    okra_int length;
    const int32_t *codes = okra_characters_(s->output->y, index, &length);
    return okra_offer_put_(offer, codes, length);
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
    REFUSE_IF(s->editor.one_length && s->editor.longest < length, OKRA_EARG,
              "decoder string: longest is %lld, and kernel weighted-degree compares "
              "strings of %lld letters alone",
              (long long)s->editor.longest, (long long)length);
    if (okra_kernel_is_degree_(s->output->kernel, &k)) {
        CHK(okra_degree_create_(s->editor.alphabet, s->editor.letters, k, length,
                                s->finds.top, &s->degree));
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
    double values = edits * (double)s->width * (double)y->n * (double)s->finds.tests;
    if (!s->loss && !s->every && values > 2e9) {
        okra_warn_(ctx,
                   "string: every edit is compared with all %lld training outputs, some "
                   "%.1g kernel values for %lld test points; under ssk, spectrum, "
                   "mismatch and position(zero-one) it is not, a beam below %lld takes "
                   "less, and decoder candidates or rewrite much less",
                   (long long)y->n, values, (long long)s->finds.tests,
                   (long long)s->width);
    }
}

static okra_status create_beam(okra_context *ctx, state *s)
{
    double power = 0;
    bool by_place = s->loss &&
                    okra_pair_loss_shape_(s->loss, &power) == OKRA_SHAPE_PLACES_ &&
                    power == 0;
    bool done = s->every || (by_place && s->finds.top == 1);
    okra_moves_ moves = {.decoder = "decoder string",
                         .what = "string",
                         .user = s,
                         .start = start,
                         .begin = s->every     ? every
                                  : s->graph.g ? exact
                                  : by_place   ? places
                                               : NULL,
                         .neighbours = neighbours,
                         .objects = okra_objects_letters_,
                         .kind = s->output->y,
                         .finds = &s->finds,
                         .width = s->width,
                         .rounds = done ? 0 : s->rounds,
                         .empty = s->empty,
                         .loss = s->loss};
    tell_cost(ctx, s);
    return okra_beam_create_(ctx, s->output, &moves, &s->beam);
}

/* What the kernel or the loss is searched with. */
static okra_status open_search(okra_context *ctx, state *s, okra_int beam)
{
    const okra_editor_ *e = &s->editor;
    if (!s->loss) {
        CHK(prepare_exact(ctx, s));
        CHK(prepare_degree(s));
        CHK(okra_written_create_(s->output, e->alphabet, e->letters, e->longest,
                                 &s->written));
    }
    s->every = s->finds.top > 1 && is_few(e);
    s->width = beam > 0 ? beam : s->written ? 32 : 16;
    s->width = OKRA_MAX_(s->width, s->finds.top);
    double power = 0;
    bool edits = s->loss ? okra_pair_loss_shape_(s->loss, &power) == OKRA_SHAPE_EDITS_
                         : okra_kernel_is_edit_(s->output->kernel, &s->sigma, &s->scale);
    s->median = edits && !s->every && OKRA_MAX_(e->known, e->longest) <= MEDIAN_LONGEST;
    if (s->written || s->median) {
        return okra_starts_create_(ctx, s->output, s->loss, s->finds.tests,
                                   OKRA_MIN_(s->width, s->output->y->n), s->empty,
                                   &s->starts);
    }
    return s->degree ? OKRA_OK : create_beam(ctx, s);
}

static okra_status create(okra_context *ctx, const okra_output_ *output,
                          const okra_options *options,
                          const okra_decode_request_ *request, void **out)
{
    FREED_BY(drop) state *s = NULL;
    string_options o;
    CHK(okra_options_read(options, &okra_decoder_string_.options, &o));
    ZMAKE(s, 1);
    REFUSE_IF(output->y->kind != OKRA_STRINGS &&
                  !(request->loss && output->y->kind == OKRA_SEQUENCES),
              OKRA_EUNSUPPORTED, "decoder string needs strings as outputs; these are %s",
              okra_kind_name(output->y->kind));
    s->output = output;
    CHK(okra_editor_open_(output->y, o.alphabet, o.longest, &s->editor));
    CHK(okra_results_open_(ctx, "string", how_many(&s->editor, output->y), request,
                           &s->finds));
    s->loss = request->loss;
    s->rounds = o.rounds;
    s->empty = o.empty;
    CHK(open_search(ctx, s, o.beam));
    *out = TAKE(s);
    return OKRA_OK;
}

/* Under the kernels of written.h. */
static okra_status write_rows(okra_context *ctx, state *s, const okra_block_ *block,
                              okra_result_ *found)
{
    okra_status st = OKRA_OK;
    okra_int m = block->m;
    double *norm = NULL;
    int32_t **words = NULL;
    okra_word_ *more = NULL;
    ALLOC(norm, m);
    ZALLOC(words, m);
    ZALLOC(more, m);
    TRY(okra_starts_block_(ctx, s->starts, block, norm));
    for (okra_int r = 0; s->graph.g && r < m; r++) {
        TRY(okra_cancelled_(ctx));
        TRY(exact_word(s, block->W.p + r * block->W.ld, &words[r], &more[r].length));
        more[r].code = words[r];
    }
    okra_writing_ how = {
        s->written,        s->output,         s->starts, s->editor.alphabet,
        s->editor.letters, s->editor.longest, s->width,  s->rounds,
        s->empty,          s->every,          more};
    TRY(okra_write_(ctx, &how, block, norm, s->finds.top, found));
done:
    for (okra_int r = 0; words && r < m; r++) {
        okra_free_(words[r]);
    }
    FREE(words, more, norm);
    return st;
}

static okra_status search_rows(okra_context *ctx, state *s, const okra_block_ *block,
                               okra_result_ *found)
{
    okra_median_ how = {s->output->y,      s->editor.alphabet, s->editor.letters,
                        s->editor.longest, s->width,           s->rounds,
                        s->starts,         s->sigma,           s->scale};
    return s->median   ? okra_median_block_(ctx, &how, block, s->finds.top, found)
           : s->degree ? okra_degree_block_(ctx, s->degree, s->output, block, found)
                       : write_rows(ctx, s, block, found);
}

static okra_status block_in(okra_context *ctx, void *arg, const okra_block_ *block)
{
    state *s = arg;
    okra_int count = block->m * s->finds.top;
    okra_result_ *found = NULL;
    if (s->beam) {
        return okra_beam_block_(ctx, s->beam, block);
    }
    CHK(okra_block_weights_(block, "decoder string"));
    ZMAKE(found, count);
    okra_status st = search_rows(ctx, s, block, found);
    if (st == OKRA_OK) {
        st = okra_results_put_all_(&s->finds, block->first, block->m, found);
    }
    okra_result_free_(found, count);
    return st;
}

static okra_status finish(okra_context *ctx, void *arg, okra_decoded_ *out)
{
    state *s = arg;
    if (s->unfinished > 0) {
        okra_warn_(ctx, "string: the exact search was given up for %lld of %lld",
                   (long long)s->unfinished, (long long)s->finds.tests);
    }
    return okra_results_give_(&s->finds, okra_objects_letters_, s->output->y, out);
}

const okra_decoder_ okra_decoder_string_ = {
    .name = "string",
    .makes_up = true,
    .all = 1u << OKRA_STRINGS | 1u << OKRA_SEQUENCES,
    .help = "new strings: exact for the spectrum kernel, a search by edits for others",
    .options = {"decoder string", rows, sizeof(string_options)},
    .create = create,
    .block = block_in,
    .finish = finish,
    .free = release,
};
