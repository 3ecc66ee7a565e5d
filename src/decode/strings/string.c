/*
 * string.c: strings nearest to a prediction, also ones never seen in training.
 *
 * Under any string kernel: a beam search (beam.c) that begins from the nearest training
 * outputs and moves by single edits: insert, delete or replace a letter, swap neighbours.
 * Letters are those of the training outputs, or those given. Under the spectrum kernel,
 * scaled or not, the best string of at most the longest length is found exactly first
 * (exact.c) and begins the beam too; under weighted-degree, where all strings have one
 * length, the best one is found exactly (exact.c). The result is at most as far as the
 * nearest training output; its distance is the true one. Strings without features (l(y,y)
 * = 0, shorter than the kernel's substrings) are left out as among candidates. The K best
 * are those that the search keeps; exact under weighted-degree, and where there are at
 * most EVERY strings of the longest length, which are all looked at.
 */
#include "decode/strings/string_prediction.h"

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
    okra_results_ results;
    const okra_output_ *output;
    okra_string_search_ search;
    okra_beam_ *beam;      /* where the kernel is not known to string_prediction.h */
    okra_pair_loss_ *loss; /* what is minimised in the place of the distance, or NULL */
    bool median;           /* it, or the kernel, is of the edit distance: median.c */
    okra_int k;            /* of the spectrum kernel; 0: another kernel */
    okra_debruijn_ graph;
    okra_degree_ *degree; /* weighted-degree: all of the search */
    okra_int unfinished;  /* exact searches given up */
} state;

static void clear(void *arg)
{
    state *s = arg;
    okra_beam_free_(s->beam);
    okra_starts_free_(s->search.starts);
    okra_string_kernel_free_(s->search.written);
    FREE(s->search.alphabet, s->search.edited);
    okra_debruijn_clear_(&s->graph);
    okra_degree_free_(s->degree);
    okra_results_clear_(&s->results);
}

/* ---- letters ---- */

static okra_status choose_alphabet(okra_string_search_ *s, const okra_data *y,
                                   const char *text)
{
    okra_int given = 0, known = 0;
    FREED_BY(okra_data_drop_) okra_data *data = NULL;
    OWNED int32_t *letters = NULL;
    CHK(okra_alphabet_(y, &s->alphabet, &s->letters));
    if (*text) {
        CHK(okra_data_strings(&text, 1, &data));
        CHK(okra_alphabet_(data, &letters, &given));
        for (okra_int c = 0; c < given; c++) {
            known += okra_letter_(s->alphabet, s->letters, letters[c]) < s->letters;
        }
        REFUSE_IF(known == 0, OKRA_EARG,
                  "decoder string: alphabet is '%s', and no training output has any of "
                  "its letters",
                  text);
        okra_free_(s->alphabet);
        s->alphabet = TAKE(letters);
        s->letters = given;
    }
    REFUSE_IF(s->letters == 0, OKRA_EARG,
              "decoder string: the training outputs have no letters");
    return OKRA_OK;
}

/* The letters of the training outputs y, or those of `text` where it has any; longest 0:
 * two more than a training output. */
static okra_status open_letters(const okra_data *y, const char *text, okra_int longest,
                                okra_string_search_ *e)
{
    e->y = y;
    e->known = okra_longest_(y);
    e->longest = longest > 0 ? longest : e->known + 2;
    CHK(choose_alphabet(e, y, text));
    MAKE(e->edited, OKRA_MAX_(e->longest, e->known) + 1);
    return OKRA_OK;
}

/* ---- moves ---- */

typedef struct proposing {
    const okra_string_search_ *how;
    okra_offer_ *offer;
} proposing;

static okra_status replace(void *user, okra_word_ y, okra_int at)
{
    const proposing *p = user;
    int32_t *e = p->how->edited, before = e[at];
    for (okra_int c = 0; c < p->how->letters; c++) {
        e[at] = p->how->alphabet[c];
        CHK(okra_offer_put_(p->offer, e, y.length));
    }
    e[at] = before;
    return OKRA_OK;
}

static okra_status propose(void *user, okra_word_ y, okra_int kept)
{
    return okra_offer_put_(((const proposing *)user)->offer, y.code, y.length);
}

static okra_status neighbours(const void *user, const int32_t *codes, okra_int length,
                              okra_offer_ *offer)
{
    const okra_string_search_ *e = &((const state *)user)->search;
    proposing p = {e, offer};
    const okra_edited_ to = {&p, replace, propose};
    return okra_edits_of_((okra_word_){codes, length}, e->one_length, e->longest,
                          e->edited, &to);
}

/* ---- exact search under the spectrum kernel ---- */

/* The best string for a row of weights into `out`; its length. */
static okra_int exact_word(state *s, const double *w, int32_t *out)
{
    bool complete = true;
    okra_int length = okra_debruijn_word_(&s->graph, s->output->y, s->search.alphabet, w,
                                          out, &complete);
    s->unfinished += !complete;
    return length;
}

static okra_status exact(void *user, const double *w, okra_offer_ *offer)
{
    state *s = user;
    okra_int length = exact_word(s, w, s->search.edited);
    return length > 0 ? okra_offer_put_(offer, s->search.edited, length) : OKRA_OK;
}

/* The best string of every length: its letters are the first ones of the longest. Where
 * one is wanted, the best of them. */
static okra_status places(void *user, const double *w, okra_offer_ *offer)
{
    state *s = user;
    okra_int length = 0;
    CHK(okra_best_places_(s->output->y, s->search.alphabet, s->search.letters,
                          s->search.longest, w, s->search.edited, &length));
    for (okra_int t = 0; s->results.top > 1 && t <= s->search.longest; t++) {
        CHK(okra_offer_put_(offer, s->search.edited, t));
    }
    return okra_offer_put_(offer, s->search.edited, length);
}

/* ---- all strings ---- */

/* Strings of up to the longest length, and training outputs, which may be longer. */
static double how_many(const okra_string_search_ *e, const okra_data *y)
{
    double sizes = (double)e->longest + 1, letters = (double)e->letters;
    return (letters > 1 ? pow(letters, sizes) : sizes) + (double)y->n;
}

/* Are there few strings? */
static bool is_few(const okra_string_search_ *e)
{
    okra_int length = e->one_length ? e->known : e->longest;
    return length <= EVERY && pow((double)e->letters, (double)length) <= EVERY;
}

static okra_status every(void *user, const double *w, okra_offer_ *offer)
{
    const state *s = user;
    const okra_string_search_ *e = &s->search;
    okra_int words = 1;
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
    double scale;
    const okra_spectrum_params_ *p =
        okra_kernel_core_leaf_(s->output->kernel, &okra_spectrum_, &scale, NULL);
    if (!p) {
        return OKRA_OK;
    }
    s->k = p->k;
    okra_status st =
        okra_debruijn_create_(s->search.letters, s->k, s->search.longest, &s->graph);
    if (st == OKRA_EUNSUPPORTED) {
        okra_warn_(ctx, "string: no exact search: %s", okra_message());
        st = OKRA_OK;
    }
    return st;
}

/* Strings of the one length that weighted-degree compares; nothing else is searched. */
static okra_status prepare_degree(state *s)
{
    okra_int k = 0, length = s->search.known;
    s->search.one_length = okra_kernel_one_length_(s->output->kernel);
    REFUSE_IF(s->search.one_length && s->search.longest < length, OKRA_EARG,
              "decoder string: longest is %lld, and kernel weighted-degree compares "
              "strings of %lld letters alone",
              (long long)s->search.longest, (long long)length);
    if (okra_kernel_is_degree_(s->output->kernel, &k)) {
        CHK(okra_degree_create_(s->search.alphabet, s->search.letters, k, length,
                                s->results.top, &s->degree));
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
    double edits = (2 * letters + 1) * (double)s->search.letters + 2 * letters;
    double values =
        edits * (double)s->search.width * (double)y->n * (double)s->results.tests;
    if (!s->loss && !s->search.every && values > 2e9) {
        okra_warn_(ctx,
                   "string: every edit is compared with all %lld training outputs, some "
                   "%.1g kernel values for %lld test points; under ssk, spectrum, "
                   "mismatch and position(zero-one) it is not, a beam below %lld takes "
                   "less, and decoder candidates or rewrite much less",
                   (long long)y->n, values, (long long)s->results.tests,
                   (long long)s->search.width);
    }
}

static okra_status create_beam(okra_context *ctx, state *s)
{
    double power = 0;
    bool by_place = s->loss &&
                    okra_pair_loss_shape_(s->loss, &power) == OKRA_SHAPE_PLACES_ &&
                    power == 0;
    bool done = s->search.every || (by_place && s->results.top == 1);
    okra_moves_ moves = {.decoder = "decoder string",
                         .what = "string",
                         .user = s,
                         .start = start,
                         .begin = s->search.every ? every
                                  : s->graph.g    ? exact
                                  : by_place      ? places
                                                  : NULL,
                         .neighbours = neighbours,
                         .results = &s->results,
                         .width = s->search.width,
                         .rounds = done ? 0 : s->search.rounds,
                         .empty = s->search.empty,
                         .loss = s->loss};
    tell_cost(ctx, s);
    return okra_beam_create_(ctx, s->output, &moves, &s->beam);
}

/* What the kernel or the loss is searched with. */
static okra_status open_search(okra_context *ctx, state *s, okra_int beam)
{
    const okra_string_search_ *e = &s->search;
    if (!s->loss) {
        CHK(prepare_exact(ctx, s));
        CHK(prepare_degree(s));
        CHK(okra_string_kernel_create_(s->output, e->alphabet, e->letters, e->longest,
                                       &s->search.written));
    }
    s->search.every = s->results.top > 1 && is_few(e);
    s->search.width = beam > 0 ? beam : s->search.written ? 32 : 16;
    s->search.width = OKRA_MAX_(s->search.width, s->results.top);
    double power = 0;
    bool edits = s->loss ? okra_pair_loss_shape_(s->loss, &power) == OKRA_SHAPE_EDITS_
                         : okra_kernel_is_edit_(s->output->kernel, &s->search.sigma,
                                                &s->search.scale);
    s->median =
        edits && !s->search.every && OKRA_MAX_(e->known, e->longest) <= MEDIAN_LONGEST;
    if (s->search.written || s->median) {
        return okra_starts_create_(ctx, s->output, s->loss, s->results.tests,
                                   OKRA_MIN_(s->search.width, s->output->y->n),
                                   s->search.empty, &s->search.starts);
    }
    return s->degree ? OKRA_OK : create_beam(ctx, s);
}

static okra_status open(okra_context *ctx, void *arg, const okra_output_ *output,
                        const void *options, const okra_decode_request_ *request)
{
    state *s = arg;
    const string_options *o = options;
    REFUSE_IF(output->y->kind != OKRA_STRINGS &&
                  !(request->loss && output->y->kind == OKRA_SEQUENCES),
              OKRA_EUNSUPPORTED, "decoder string needs strings as outputs; these are %s",
              okra_kind_name(output->y->kind));
    s->output = output;
    CHK(open_letters(output->y, o->alphabet, o->longest, &s->search));
    CHK(okra_results_open_(ctx, "string", how_many(&s->search, output->y), output,
                           request, okra_objects_letters_, output->y, &s->results));
    s->loss = request->loss;
    s->search.rounds = o->rounds;
    s->search.empty = o->empty;
    return open_search(ctx, s, o->beam);
}

/* Under the kernels of string_prediction.h. */
static okra_status write_rows(okra_context *ctx, state *s, const okra_block_ *block)
{
    okra_int m = block->m, longest = s->search.longest;
    OWNED double *norm = NULL;
    OWNED int32_t *letters = NULL;
    OWNED okra_word_ *more = NULL;
    MAKE(norm, m);
    ZMAKE(more, m);
    MAKE(letters, s->graph.g ? m * longest : 1);
    CHK(okra_starts_block_(ctx, s->search.starts, block, norm));
    for (okra_int r = 0; s->graph.g && r < m; r++) {
        CHK(okra_cancelled_(ctx));
        more[r].code = letters + r * longest;
        more[r].length =
            exact_word(s, block->W.p + r * block->W.ld, letters + r * longest);
    }
    return okra_write_(ctx, &s->search, more, block, norm, &s->results);
}

static okra_status block_in(okra_context *ctx, void *arg, const okra_block_ *block)
{
    state *s = arg;
    if (s->beam) {
        return okra_beam_block_(ctx, s->beam, block);
    }
    CHK(okra_block_weights_(block, "decoder string"));
    return s->median ? okra_median_block_(ctx, &s->search, block, &s->results)
           : s->degree
               ? okra_degree_block_(ctx, s->degree, s->output->y, block, &s->results)
               : write_rows(ctx, s, block);
}

static okra_status finish(okra_context *ctx, void *arg, okra_decoded_ *out)
{
    state *s = arg;
    if (s->unfinished > 0) {
        okra_warn_(ctx, "string: the exact search was given up for %lld of %lld",
                   (long long)s->unfinished, (long long)s->results.tests);
    }
    return okra_results_give_(ctx, &s->results, out);
}

const okra_decoder_ okra_decoder_string_ = {
    .name = "string",
    .automatic = "ssk(length=3,decay=0.5,upto=1) | normalize",
    .suits = OKRA_SUITS_WRITTEN_,
    .makes_up = true,
    .all = 1u << OKRA_STRINGS | 1u << OKRA_SEQUENCES,
    .help = "new strings: exact for the spectrum kernel, a search by edits for others",
    .options = {"decoder string", rows, sizeof(string_options)},
    .state = sizeof(state),
    .open = open,
    .block = block_in,
    .finish = finish,
    .clear = clear,
};
