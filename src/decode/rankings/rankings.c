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
 *   ndcg                  gains of items times discounts of places: exact by sorting
 *                         (below); outputs may be relevances in the place of ranks, and
 *                         the result then is a vector of scores
 *   anything else         up to SMALL items every ranking; beyond, and of kendall beyond
 *                         EXACT, a beam search (beam.c) from the nearest training outputs
 *                         and from Borda's order, whose moves put an item to another
 *                         place: not exact
 *
 * The K best: up to SMALL items exactly, of all rankings; under kendall up to EXACT items
 * too. Beyond, the beam goes on from the best one, exactly under spearman and linear,
 * where every other ranking has two items of neighbouring ranks whose exchange is no
 * worse; it then looks at these exchanges alone.
 *
 * All of them report the true distance or loss.
 */
#include "decode/rankings/orders.h"
#include "kernel/expression/expr.h"

enum { EXACT = OKRA_PAIRED_MOST_, SMALL = 7 };

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

static const double MANY = 1e9; /* kernel values that take a minute */

/* ---- gains ---- */

/* Orders of the least expected loss where items gain by their places.
 *
 *     D(y_i, order) = -sum_p c_p g_i(item at place p),   c_1 >= c_2 >= ... >= 0
 *
 * is linear in the gains, so that sum_i w_i D is least for the items in descending order
 * of E_j = sum_i w_i g_i(j) (rearrangement), whatever the signs of the weights. A metric
 * that counts ties as the mean over their orders gives them by itself: with item j first
 * and all others tied
 *     sum_i w_i D = -(c_1 - c) E_j - c sum_k E_k,   c the mean of c_2, c_3, ...
 * which ascends as E_j descends. These d n losses are computed once, then a block of
 * predictions is one product and d log d a test point; exact.
 */
typedef struct gains {
    const okra_output_ *output;
    okra_pair_loss_ *loss;
    bool ranks;
    double *D; /* d x n: losses where item j is first */
    okra_int tests;
    double *result, *distance; /* tests x d, tests */
} gains;

OKRA_FREES_(gains_free, gains, it->D, it->result, it->distance)

OKRA_DROPS_(drop, gains, gains_free)

/* d objects: in object j item j is first and all others are tied. */
static okra_status make_firsts(const okra_context *ctx, const gains *g, okra_data **out)
{
    okra_int d = g->output->y->d;
    OWNED double *values = NULL;
    CHK(okra_doubles_(ctx, d, d, "an order for each item", &values));
    for (okra_int i = 0; i < d * d; i++) {
        bool first = i / d == i % d;
        values[i] = g->ranks ? (first ? 1 : 2) : first;
    }
    return okra_data_adopt_dense_(&values, d, d, "orders of items", out);
}

/* ranks: objects are rankings; else scores, larger is first. */
static okra_status gains_create(okra_context *ctx, const okra_output_ *output,
                                okra_pair_loss_ *loss, okra_int tests, bool ranks,
                                gains **out)
{
    FREED_BY(drop) gains *g = NULL;
    FREED_BY(okra_data_drop_) okra_data *firsts = NULL;
    okra_int d = output->y->d, n = output->y->n;
    ZMAKE(g, 1);
    g->output = output;
    g->loss = loss;
    g->ranks = ranks;
    g->tests = tests;
    MAKE(g->distance, tests);
    CHK(okra_doubles_(ctx, tests, d, "the decoded rankings", &g->result));
    CHK(okra_doubles_(ctx, d, n, "the losses of items that are first", &g->D));
    CHK(make_firsts(ctx, g, &firsts));
    CHK(okra_pair_loss_bind_(ctx, loss, firsts));
    okra_status st = okra_pair_loss_pairs_(ctx, loss, 0, okra_mat_of_(g->D, d, n));
    CHK(okra_pair_loss_bind_(ctx, loss, NULL));
    CHK(st);
    *out = TAKE(g);
    return OKRA_OK;
}

/* Expected losses of items, m x d, as rankings or scores. */
static okra_status make_objects(const gains *g, okra_int m, double *result)
{
    okra_int d = g->output->y->d;
    OWNED int32_t *code = NULL;
    MAKE(code, d);
    for (okra_int r = 0; r < m; r++) {
        double *row = result + r * d;
        if (g->ranks) {
            CHK(okra_order_ascending_(row, d, code));
        }
        for (okra_int j = 0; j < d; j++) {
            row[j] = g->ranks ? code[j] : -row[j];
        }
    }
    return OKRA_OK;
}

static okra_status gains_block(okra_context *ctx, gains *g, const okra_block_ *block)
{
    okra_int d = g->output->y->d, n = g->output->y->n, m = block->m;
    double *result = g->result + block->first * d;
    FREED_BY(okra_data_drop_) okra_data *view = NULL;
    OWNED okra_int *owner = NULL;
    OWNED okra_key_ *key = NULL;
    CHK(okra_block_weights_(block, "decoder loss"));
    CHK(okra_gemm_(ctx, false, true, 1, block->W, okra_mat_of_(g->D, d, n), 0,
                   okra_mat_of_(result, m, d)));
    CHK(make_objects(g, m, result));
    MAKE(owner, m);
    MAKE(key, m);
    okra_iota_(m, owner);
    CHK(okra_data_dense(result, m, d, d, &view));
    return okra_risk_propose_(ctx, g->loss, view, owner, block->W, key,
                              g->distance + block->first);
}

/* Rankings; or scores, what item j is worth where it is first and the others come in any
 * order. Their distances are the expected losses. */
static okra_status gains_give(gains *g, okra_decoded_ *out)
{
    FREED_BY(okra_data_drop_) okra_data *rankings = NULL;
    CHK(okra_data_adopt_dense_(&g->result, g->tests, g->output->y->d, "decoded rankings",
                               &rankings));
    CHK(okra_decoded_single_(&rankings, g->tests, &g->distance, out));
    okra_iota_(g->tests, out->index);
    out->proposals = okra_data_retain(out->objects);
    return OKRA_OK;
}

/* ---- the search ---- */

/* How the best ranking is found before the beam looks at it. */
typedef enum how { ANY, SORTED, PAIRS, PLACES } how;

typedef struct state {
    okra_results_ results;
    const okra_output_ *output;
    okra_int d;
    how how;
    double power;  /* PLACES: |r - r'|^power; 0: [r != r'] */
    int32_t *code; /* d */
    okra_beam_ *beam;
    gains *gains; /* in the place of the beam */
    okra_context *ctx;
} state;

static void clear(void *arg)
{
    state *s = arg;
    okra_beam_free_(s->beam);
    gains_free(s->gains);
    okra_free_(s->code);
    okra_results_clear_(&s->results);
}

/* ---- rankings as data ---- */

/* Every ranking has d codes. */
static okra_status objects(okra_context *ctx, const void *user, const int32_t *codes,
                           const okra_int *offsets, okra_int count, okra_data **out)
{
    okra_int d = ((const okra_data *)user)->d;
    OWNED double *values = NULL;
    MAKE(values, count * d);
    for (okra_int i = 0; i < count * d; i++) {
        values[i] = codes[i];
    }
    return okra_data_adopt_dense_(&values, count, d, "decoded rankings", out);
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
        int32_t last =
            s->how == SORTED ? OKRA_MIN_(from + 1, (int32_t)length) : (int32_t)length;
        for (int32_t to = s->how == SORTED ? from + 1 : 1; to <= last; to++) {
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
            OKRA_SWAP_(code[i], code[other]);
            CHK(okra_offer_put_(offer, code, s->d));
            count[i]++;
            i = 1;
        } else {
            count[i++] = 0;
        }
    }
    return OKRA_OK;
}

static okra_status offer_paired(const state *s, const double *w, okra_offer_ *offer)
{
    OWNED int32_t *codes = NULL;
    okra_int count = 0;
    MAKE(codes, s->results.top * s->d);
    CHK(okra_order_paired_(s->output->y, w, s->results.top, codes, &count));
    for (okra_int k = 0; k < count; k++) {
        CHK(okra_offer_put_(offer, codes + k * s->d, s->d));
    }
    return OKRA_OK;
}

static okra_status begin(void *user, const double *w, okra_offer_ *offer)
{
    const state *s = user;
    if (s->d <= SMALL && (s->how == ANY || s->results.top > 1)) {
        return every(s, offer);
    }
    const okra_data *y = s->output->y;
    if (s->how == PAIRS && s->d <= EXACT) {
        return offer_paired(s, w, offer);
    }
    CHK(s->how == PLACES ? okra_order_assigned_(s->ctx, y, w, s->power, s->code)
                         : okra_order_sorted_(y, w, s->code));
    return okra_offer_put_(offer, s->code, s->d);
}

/* ---- the decoder ---- */

static void choose(state *s, const okra_pair_loss_ *loss)
{
    static const how of[] = {[OKRA_SHAPE_PAIRS_] = PAIRS,
                             [OKRA_SHAPE_RANKS_] = SORTED,
                             [OKRA_SHAPE_INNER_] = SORTED,
                             [OKRA_SHAPE_PLACES_] = PLACES,
                             [OKRA_SHAPE_GAINS_] = ANY};
    const okra_kernel *kernel = loss ? loss->kernel : s->output->kernel;
    double scale = 1;
    s->how = of[kernel ? okra_kernel_shape_(kernel, &scale)
                       : okra_pair_loss_shape_(loss, &s->power)];
    s->how = scale > 0 ? s->how : ANY;
}

static okra_status check_outputs(const okra_data *y, bool ranks)
{
    REFUSE_IF(y->kind != OKRA_DENSE, OKRA_EUNSUPPORTED,
              "decoder rankings needs dense vectors of ranks; these are %s",
              okra_kind_name(y->kind));
    return ranks ? okra_at_(okra_data_check_rankings_(y),
                            "decoder rankings: the training outputs")
                 : OKRA_OK;
}

static okra_status open_search(okra_context *ctx, state *s, okra_pair_loss_ *loss,
                               const rankings_options *o)
{
    bool paired = s->how == PAIRS && s->d <= EXACT;
    bool exact =
        paired || (s->results.top == 1 && (s->how == SORTED || s->how == PLACES));
    double top = (double)s->results.top, d = (double)s->d;
    if (paired) {
        CHK(okra_budget_ask_(ctx, top * (double)okra_order_paired_bytes_(s->d),
                             "the best rankings"));
    } else if (s->d > SMALL && top * d * d * (double)s->output->y->n > MANY &&
               s->how != SORTED) {
        okra_warn_(ctx,
                   "decoder rankings: a search for the %lld best rankings of %lld items "
                   "takes some %.0g kernel values for each test point; a smaller top, "
                   "kernel spearman, or kendall of up to %d items takes less",
                   (long long)s->results.top, (long long)s->d,
                   top * d * d * (double)s->output->y->n, EXACT);
    }
    okra_int rounds = exact || s->d <= SMALL ? 0 : o->rounds;
    if (rounds > 0 && s->how != SORTED) { /* of one ranking all neighbours at a time */
        CHK(okra_budget_ask_(ctx, d * d * (d * sizeof(int32_t) + 4 * sizeof(okra_int)),
                             "the neighbours of a ranking of %lld items",
                             (long long)s->d));
    }
    okra_moves_ moves = {.decoder = "decoder rankings",
                         .what = "ranking",
                         .user = s,
                         .start = start,
                         .begin = begin,
                         .neighbours = neighbours,
                         .results = &s->results,
                         .width = o->beam,
                         .rounds = rounds,
                         .empty = true,
                         .loss = loss};
    return okra_beam_create_(ctx, s->output, &moves, &s->beam);
}

static okra_status open(okra_context *ctx, void *arg, const okra_output_ *output,
                        const void *options, const okra_decode_request_ *request)
{
    state *s = arg;
    const rankings_options *o = options;
    okra_pair_loss_ *loss = request->loss;
    double power = 0;
    bool by_gains = loss && okra_pair_loss_shape_(loss, &power) == OKRA_SHAPE_GAINS_;
    bool ranks = !by_gains || strstr(loss->spec, "order=ranks");
    CHK(okra_results_open_(ctx, "rankings", tgamma((double)output->y->d + 1), output,
                           request, objects, output->y, &s->results));
    CHK(check_outputs(output->y, ranks));
    REFUSE_IF(!ranks && s->results.top > 1, OKRA_EARG,
              "decoder rankings gives one vector of scores per test point: top is %lld, "
              "expected 1, or rankings and order=ranks",
              (long long)s->results.top);
    s->ctx = ctx;
    s->output = output;
    s->d = output->y->d;
    MAKE(s->code, s->d);
    if (by_gains && s->results.top == 1) {
        CHK(gains_create(ctx, output, loss, s->results.tests, ranks, &s->gains));
    } else {
        choose(s, loss);
        CHK(open_search(ctx, s, loss, o));
    }
    return OKRA_OK;
}

static okra_status block_in(okra_context *ctx, void *arg, const okra_block_ *block)
{
    state *s = arg;
    return s->gains ? gains_block(ctx, s->gains, block)
                    : okra_beam_block_(ctx, s->beam, block);
}

static okra_status finish(okra_context *ctx, void *arg, okra_decoded_ *out)
{
    state *s = arg;
    return s->gains ? gains_give(s->gains, out)
                    : okra_results_give_(ctx, &s->results, out);
}

const okra_decoder_ okra_decoder_rankings_ = {
    .name = "rankings",
    .makes_up = true,
    .all = 1u << OKRA_DENSE | 1u << OKRA_SPARSE | 1u << OKRA_BITS,
    .all_rankings = true,
    .help = "rankings (vectors of ranks 1 to d): exact under spearman, and under kendall "
            "up to 18 items, any kernel up to 7; else a search",
    .automatic = "kendall",
    .suits = OKRA_SUITS_RANKED_,
    .options = {"decoder rankings", rows, sizeof(rankings_options)},
    .weights = true,
    .state = sizeof(state),
    .open = open,
    .block = block_in,
    .finish = finish,
    .clear = clear,
};
