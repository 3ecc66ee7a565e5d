/*
 * gains.c: orders of the least expected loss where items gain by their places.
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
#include "decode/pair_loss.h"
#include "decode/propose.h"
#include "decode/rankings/orders.h"
#include "decode/risk.h"

struct okra_gains_ {
    const okra_output_ *output;
    okra_pair_loss_ *loss;
    bool ranks;
    double *D; /* d x n: losses where item j is first */
    okra_int tests;
    double *result, *distance; /* tests x d, tests */
};

OKRA_SHARED_FREES_(okra_gains_free_, okra_gains_, it->D, it->result, it->distance)

OKRA_DROPS_(drop, okra_gains_, okra_gains_free_)

/* d objects: in object j item j is first and all others are tied. */
static okra_status make_firsts(const okra_context *ctx, const okra_gains_ *g,
                               okra_data **out)
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

okra_status okra_gains_create_(okra_context *ctx, const okra_output_ *output,
                               okra_pair_loss_ *loss, okra_int tests, bool ranks,
                               okra_gains_ **out)
{
    FREED_BY(drop) okra_gains_ *g = NULL;
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
static okra_status make_objects(const okra_gains_ *g, okra_int m, double *result)
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

okra_status okra_gains_block_(okra_context *ctx, okra_gains_ *g, const okra_block_ *block)
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

okra_status okra_gains_give_(okra_gains_ *g, okra_decoded_ *out)
{
    FREED_BY(okra_data_drop_) okra_data *rankings = NULL;
    CHK(okra_data_adopt_dense_(&g->result, g->tests, g->output->y->d, "decoded rankings",
                               &rankings));
    CHK(okra_decoded_single_(rankings, g->tests, g->distance, out));
    okra_iota_(g->tests, out->index);
    out->proposals = okra_data_retain(rankings);
    g->distance = NULL;
    rankings = NULL;
    return OKRA_OK;
}
