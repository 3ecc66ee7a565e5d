/*
 * rankings.c: rankings of d items, outputs y that are permutations of 1..d: y_j is the
 * rank of item j.
 *
 *     argmin over all d! rankings of |phi(y) - h|^2, or of the expected loss
 *
 *   spearman, linear      l(y_i, y) = a + b <y_i, y>: the items in the order of
 *                         sum_i w_i y_i (rearrangement): exact
 *   kendall               a sum over pairs of items: exact up to EXACT items by the best
 *                         order of every set of items (dynamic programming, 2^d d)
 *   hamming, mae, mse     a sum over items of a cost of its rank: exact by assignment
 *   anything else         up to SMALL items every ranking; beyond, and of kendall beyond
 *                         EXACT, a beam search (beam.c) from the nearest training outputs
 *                         and from Borda's order, whose moves put an item to another
 *                         place: not exact
 *
 * All of them report the true distance or loss.
 */
#include "decode/rankings/assignment.h"
#include "decode/beam.h"
#include "decode/delta.h"
#include "kernel/expression/expr.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EXACT = 14, SMALL = 7 };

typedef struct rankings_options {
    okra_int beam, rounds;
} rankings_options;

static const okra_option rows[] = {
    {"beam", OKRA_OPTION_INT, offsetof(rankings_options, beam), "16", 1, 1e6, NULL, "N",
     "nearest rankings that are kept and changed further"},
    {"rounds", OKRA_OPTION_INT, offsetof(rankings_options, rounds), "1000", 1, 1e6, NULL,
     "N", "rounds of changes at most"},
    {0},
};

/* How the best ranking is found before the beam looks at it. */
typedef enum how { ANY, SORTED, PAIRS, PLACES } how;

typedef struct state {
    const okra_output_ *output;
    okra_int tests, d;
    how how;
    double power;  /* PLACES: |r - r'|^power; 0: [r != r'] */
    int32_t *code; /* d */
    okra_beam_ *beam;
    double *result, *distance; /* tests x d, tests */
} state;

extern const okra_decoder_ okra_decoder_rankings_;

static void release(void *arg)
{
    state *s = arg;
    if (s) {
        okra_beam_free_(s->beam);
        okra_free_(s->code);
        okra_free_(s->result);
        okra_free_(s->distance);
        okra_free_(s);
    }
}

/* ---- rankings as data ---- */

static okra_status objects(const void *user, const int32_t *codes,
                           const okra_int *offsets, okra_int count, okra_data **out)
{
    const state *s = user;
    OWNED double *values = NULL;
    (void)offsets; /* every ranking has d codes */
    MAKE(values, count * s->d);
    for (okra_int i = 0; i < count * s->d; i++) {
        values[i] = codes[i];
    }
    CHK(okra_data_adopt_dense_(values, count, s->d, "proposed rankings", out));
    values = NULL;
    return OKRA_OK;
}

/* ---- moves ---- */

/* The item of rank `from` gets rank `to`, those between move up or down. */
static void shift(const int32_t *codes, okra_int d, int32_t from, int32_t to,
                  int32_t *out)
{
    for (okra_int j = 0; j < d; j++) {
        int32_t r = codes[j];
        out[j] = r == from             ? to
                 : r > from && r <= to ? r - 1
                 : r < from && r >= to ? r + 1
                                       : r;
    }
}

static okra_status neighbours(const void *user, const int32_t *codes, okra_int length,
                              okra_offer_ *offer)
{
    const state *s = user;
    for (int32_t from = 1; from <= length; from++) {
        for (int32_t to = 1; to <= length; to++) {
            if (to != from && to != from - 1) { /* neighbours change places once */
                shift(codes, length, from, to, s->code);
                CHK(okra_offer_put_(offer, s->code, length));
            }
        }
    }
    return OKRA_OK;
}

static okra_status start(void *user, okra_int index, okra_offer_ *offer)
{
    const state *s = user;
    const double *y = s->output->y->values + index * s->output->y->ld;
    for (okra_int j = 0; j < s->d; j++) {
        s->code[j] = (int32_t)y[j];
    }
    return okra_offer_put_(offer, s->code, s->d);
}

/* ---- exact ---- */

typedef struct scored {
    double score;
    okra_int item;
} scored;

static int by_score(const void *pa, const void *pb)
{
    const scored *a = pa, *b = pb;
    return a->score != b->score ? (a->score < b->score ? -1 : 1)
                                : (a->item > b->item) - (a->item < b->item);
}

/* Borda: ranks in the order of sum_i w_i y_i, which maximises sum_i w_i <y_i, y>. */
static okra_status sorted(const state *s, const double *w, int32_t *code)
{
    const okra_data *y = s->output->y;
    OWNED scored *items = NULL;
    MAKE(items, s->d);
    for (okra_int j = 0; j < s->d; j++) {
        items[j] = (scored){0, j};
        for (okra_int i = 0; i < y->n; i++) {
            items[j].score += w[i] * y->values[i * y->ld + j];
        }
    }
    qsort(items, (size_t)s->d, sizeof *items, by_score);
    for (okra_int j = 0; j < s->d; j++) {
        code[items[j].item] = (int32_t)(j + 1);
    }
    return OKRA_OK;
}

/* gain[a d + b] = sum_i w_i sign(y_ib - y_ia): what item a before item b is worth. */
static void pair_gains(const state *s, const double *w, double *gain)
{
    const okra_data *y = s->output->y;
    memset(gain, 0, (size_t)(s->d * s->d) * sizeof *gain);
    for (okra_int i = 0; i < y->n; i++) {
        const double *row = y->values + i * y->ld;
        for (okra_int a = 0; a < s->d; a++) {
            for (okra_int b = 0; b < s->d; b++) {
                gain[a * s->d + b] += row[a] < row[b]   ? w[i]
                                      : row[a] > row[b] ? -w[i]
                                                        : 0;
            }
        }
    }
}

/* The order of most gain: best[S] = max over the last item b of S of best[S - b] and what
 * all others of S before b are worth. */
static okra_status ordered(const state *s, const double *w, int32_t *code)
{
    okra_int d = s->d, sets = (okra_int)1 << d;
    OWNED double *gain = NULL, *best = NULL;
    OWNED unsigned char *last = NULL;
    MAKE(gain, d * d);
    MAKE(best, sets);
    MAKE(last, sets);
    pair_gains(s, w, gain);
    best[0] = 0;
    for (okra_int S = 1; S < sets; S++) {
        best[S] = -(double)INFINITY;
        last[S] = 0;
        for (okra_int b = 0; b < d; b++) {
            if (!(S >> b & 1)) {
                continue;
            }
            double value = best[S ^ ((okra_int)1 << b)];
            for (okra_int a = 0; a < d; a++) {
                value += a != b && (S >> a & 1) ? gain[a * d + b] : 0;
            }
            if (value > best[S]) {
                best[S] = value;
                last[S] = (unsigned char)b;
            }
        }
    }
    for (okra_int S = sets - 1, rank = d; S > 0; rank--) {
        okra_int b = last[S];
        code[b] = (int32_t)rank;
        S ^= (okra_int)1 << b;
    }
    return OKRA_OK;
}

/* The ranks of least sum of costs: cost[j d + r] = sum_i w_i |r + 1 - y_ij|^power. */
static okra_status assigned(const state *s, const double *w, int32_t *code)
{
    const okra_data *y = s->output->y;
    OWNED okra_int *rank = NULL;
    okra_int d = s->d;
    OWNED double *cost = NULL;
    ZMAKE(cost, d * d);
    MAKE(rank, d);
    for (okra_int i = 0; i < y->n; i++) {
        for (okra_int j = 0; j < d; j++) {
            for (okra_int r = 0; r < d; r++) {
                double apart = fabs((double)(r + 1) - y->values[i * y->ld + j]);
                cost[j * d + r] +=
                    w[i] * (s->power > 0 ? pow(apart, s->power) : apart > 0);
            }
        }
    }
    CHK(okra_assignment_(d, cost, rank));
    for (okra_int j = 0; j < d; j++) {
        code[j] = (int32_t)(rank[j] + 1);
    }
    return OKRA_OK;
}

/* All rankings of few items, by exchanges in the order of Heap. */
static okra_status every(const state *s, okra_offer_ *offer)
{
    okra_int count[SMALL] = {0}, i = 1;
    int32_t *code = s->code;
    for (okra_int j = 0; j < s->d; j++) {
        code[j] = (int32_t)(j + 1);
    }
    CHK(okra_offer_put_(offer, code, s->d));
    while (i < s->d) {
        if (count[i] < i) {
            okra_int other = i % 2 ? count[i] : 0;
            int32_t swap = code[i];
            code[i] = code[other];
            code[other] = swap;
            CHK(okra_offer_put_(offer, code, s->d));
            count[i]++;
            i = 1;
        } else {
            count[i++] = 0;
        }
    }
    return OKRA_OK;
}

static okra_status begin(void *user, const double *w, okra_offer_ *offer)
{
    const state *s = user;
    if (s->how == ANY && s->d <= SMALL) {
        return every(s, offer);
    }
    CHK(s->how == PLACES                   ? assigned(s, w, s->code)
        : s->how == PAIRS && s->d <= EXACT ? ordered(s, w, s->code)
                                           : sorted(s, w, s->code));
    return okra_offer_put_(offer, s->code, s->d);
}

/* ---- the decoder ---- */

static okra_status found(void *user, okra_int i, const int32_t *codes, okra_int length,
                         double distance)
{
    state *s = user;
    for (okra_int j = 0; j < length; j++) {
        s->result[i * length + j] = codes[j];
    }
    s->distance[i] = distance;
    return OKRA_OK;
}

/* Is the kernel c times the named one, c > 0? */
static bool is_kernel(const okra_kernel *kernel, const char *name)
{
    int root = kernel->count - 1;
    while (kernel->nodes[root].kind == OKRA_NODE_SCALE_ &&
           kernel->nodes[root].scale > 0) {
        root = kernel->nodes[root].a;
    }
    const okra_node_ *node = &kernel->nodes[root];
    return node->kind == OKRA_NODE_LEAF_ && strcmp(node->leaf->name, name) == 0;
}

static void choose(state *s, const okra_delta_ *loss)
{
    const okra_kernel *kernel = loss ? okra_delta_kernel_(loss) : s->output->kernel;
    const char *spec = loss ? okra_delta_spec_(loss) : "";
    static const struct {
        const char *spec;
        how how;
        double power;
    } known[] = {{"kendall", PAIRS, 0},
                 {"spearman", SORTED, 0},
                 {"hamming", PLACES, 0},
                 {"mae", PLACES, 1},
                 {"mse", PLACES, 2}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (strcmp(spec, known[k].spec) == 0) {
            s->how = known[k].how;
            s->power = known[k].power;
        }
    }
    if (kernel) {
        s->how = is_kernel(kernel, "kendall")                                   ? PAIRS
                 : is_kernel(kernel, "spearman") || is_kernel(kernel, "linear") ? SORTED
                                                                                : ANY;
    }
}

static okra_status create(okra_context *ctx, const okra_output_ *output,
                          const okra_options *options,
                          const okra_decode_request_ *request, void **out)
{
    okra_status st = OKRA_OK;
    state *s = NULL;
    rankings_options o;
    TRY(okra_options_read(options, &okra_decoder_rankings_.options, &o));
    TRY(okra_decode_check_plain_("rankings", request));
    if (output->y->kind != OKRA_DENSE) {
        FAIL(OKRA_EUNSUPPORTED,
             "decoder rankings needs dense vectors of ranks; these are %s",
             okra_kind_name(output->y->kind));
    }
    st = okra_data_check_rankings_(output->y);
    if (st != OKRA_OK) {
        okra_message_prefix_("decoder rankings: the training outputs");
        goto done;
    }
    ZALLOC(s, 1);
    s->output = output;
    s->tests = request->tests;
    s->d = output->y->d;
    choose(s, request->loss);
    ALLOC(s->code, s->d);
    ALLOC(s->distance, s->tests);
    TRY(okra_doubles_(ctx, s->tests, s->d, "the decoded rankings", &s->result));
    bool exact =
        s->how == SORTED || s->how == PLACES || (s->how == PAIRS && s->d <= EXACT);
    okra_moves_ moves = {.decoder = "decoder rankings",
                         .what = "ranking",
                         .user = s,
                         .start = start,
                         .begin = begin,
                         .neighbours = neighbours,
                         .objects = objects,
                         .found = found,
                         .width = o.beam,
                         .rounds = exact || s->d <= SMALL ? 0 : o.rounds,
                         .empty = true,
                         .loss = request->loss};
    TRY(okra_beam_create_(ctx, output, &moves, s->tests, &s->beam));
    *out = s;
    s = NULL;
done:
    release(s);
    return st;
}

static okra_status block_in(okra_context *ctx, void *arg, const okra_block_ *block)
{
    state *s = arg;
    return okra_beam_block_(ctx, s->beam, block);
}

static okra_status finish(okra_context *ctx, void *arg, okra_decoded_ *out)
{
    state *s = arg;
    FREED_BY(okra_data_drop_) okra_data *rankings = NULL;
    (void)ctx;
    CHK(okra_data_adopt_dense_(s->result, s->tests, s->d, "decoded rankings", &rankings));
    s->result = NULL;
    CHK(okra_decoded_single_(rankings, s->tests, s->distance, out));
    s->distance = NULL;
    rankings = NULL;
    return OKRA_OK;
}

const okra_decoder_ okra_decoder_rankings_ = {
    .name = "rankings",
    .help = "rankings (vectors of ranks 1 to d): exact under spearman, and under kendall "
            "up to 14 items, any kernel up to 7; else a search",
    .options = {"decoder rankings", rows, sizeof(rankings_options)},
    .weights = true,
    .create = create,
    .block = block_in,
    .finish = finish,
    .free = release,
};
