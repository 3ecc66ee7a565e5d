/*
 * lanes.c: the batches of a block of pairs of strings.
 */
#include "kernel/strings/string_kernels.h"
#include "data/strings.h"

typedef struct side {
    const okra_data *data;
    okra_batch_ batch;
    const void *arg;
    okra_int depth;
} side;

okra_status okra_lanes_create_(const okra_data *data, okra_batch_ batch, const void *arg,
                               okra_int depth, void **out)
{
    side *s = NULL;
    MAKE(s, 1);
    *s = (side){data, batch, arg, depth};
    *out = s;
    return OKRA_OK;
}

/* The next batch of strings as lanes of t, then pads; returns its positions. Lanes
 * without a string are all pads. */
static okra_int fill_batch(const okra_data *data, const okra_int *order, int count,
                           double pad, okra_lane_ *t)
{
    okra_int positions, length;
    okra_characters_(data, order[count - 1], &positions);
    for (int l = 0; l < OKRA_LANES_; l++) {
        const int32_t *code =
            okra_characters_(data, order[OKRA_MIN_(l, count - 1)], &length);
        for (okra_int k = 0; k < positions; k++) {
            t[k][l] = l < count && k < length ? code[k] : pad;
        }
    }
    return positions;
}

/* Every lane of s <- the same string; returns its length. */
static okra_int spread(const okra_data *data, okra_int i, okra_lane_ *s)
{
    okra_int length;
    const int32_t *code = okra_characters_(data, i, &length);
    for (okra_int k = 0; k < length; k++) {
        s[k] = (okra_lane_){0} + code[k];
    }
    return length;
}

static okra_int longest(const okra_data *data, okra_int first, okra_int count)
{
    okra_int most = 0;
    for (okra_int k = first; k < first + count; k++) {
        okra_int length;
        okra_characters_(data, k, &length);
        most = OKRA_MAX_(most, length);
    }
    return most;
}

typedef struct space {
    okra_lane_ *s, *t, *work;
    okra_int *order; /* the strings, by length */
} space;

static okra_status get_space(okra_context *ctx, const side *b, okra_int j0, okra_int nj,
                             okra_int s_most, okra_int t_most, space *sp)
{
    CHK(okra_budget_ask_(ctx,
                         (double)sizeof(okra_lane_) *
                             ((double)s_most + (double)t_most * (double)(b->depth + 1)),
                         "comparing strings of %" PRId64 " and %" PRId64 " characters",
                         s_most, t_most));
    MAKE(sp->s, s_most);
    MAKE(sp->t, t_most);
    MAKE(sp->work, t_most * b->depth);
    MAKE(sp->order, nj);
    for (okra_int k = 0; k < nj; k++) {
        sp->order[k] = j0 + k;
    }
    return okra_order_by_length_(b->data, nj, sp->order);
}

OKRA_CLEARS_(free_space, space, it->s, it->t, it->work, it->order)

okra_status okra_lanes_block_(okra_context *ctx, const void *params, const void *pa,
                              okra_int i0, okra_int ni, const void *pb, okra_int j0,
                              okra_int nj, double *out, okra_int ld)
{
    const side *a = pa, *b = pb;
    FREED_BY(free_space) space sp = {0};
    CHK(get_space(ctx, b, j0, nj, longest(a->data, i0, ni), longest(b->data, j0, nj),
                  &sp));
    for (okra_int c = 0; c < nj; c += OKRA_LANES_) {
        const okra_int *order = sp.order + c;
        int count = (int)OKRA_MIN_(nj - c, OKRA_LANES_);
        okra_int n = fill_batch(b->data, order, count, OKRA_PAD_T_, sp.t);
        for (okra_int r = 0; r < ni; r++) {
            double value[OKRA_LANES_];
            okra_int m = spread(a->data, i0 + r, sp.s);
            b->batch(b->arg, m, sp.s, n, sp.t, sp.work, value);
            for (int l = 0; l < count; l++) {
                out[r * ld + order[l] - j0] = value[l];
            }
        }
    }
    return OKRA_OK;
}

okra_status okra_lanes_diagonal_(okra_context *ctx, const void *params, const void *pa,
                                 okra_int n, double *out)
{
    const side *a = pa;
    FREED_BY(free_space) space sp = {0};
    okra_int most = longest(a->data, 0, n);
    CHK(get_space(ctx, a, 0, n, most, most, &sp));
    for (okra_int c = 0; c < n; c += OKRA_LANES_) {
        double value[OKRA_LANES_];
        const okra_int *order = sp.order + c;
        int count = (int)OKRA_MIN_(n - c, OKRA_LANES_);
        okra_int length = fill_batch(a->data, order, count, OKRA_PAD_T_, sp.t);
        fill_batch(a->data, order, count, OKRA_PAD_S_, sp.s);
        a->batch(a->arg, length, sp.s, length, sp.t, sp.work, value);
        for (int l = 0; l < count; l++) {
            out[order[l]] = value[l];
        }
    }
    return OKRA_OK;
}
