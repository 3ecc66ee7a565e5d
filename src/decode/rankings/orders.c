/*
 * orders.c: the best ranking of d items for a row of weights, exactly.
 */
#include "decode/rankings/orders.h"

#include "decode/rankings/assignment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

okra_status okra_order_ascending_(const double *score, okra_int d, int32_t *code)
{
    OWNED scored *items = NULL;
    MAKE(items, d);
    for (okra_int j = 0; j < d; j++) {
        items[j] = (scored){score[j], j};
    }
    qsort(items, (size_t)d, sizeof *items, by_score);
    for (okra_int j = 0; j < d; j++) {
        code[items[j].item] = (int32_t)(j + 1);
    }
    return OKRA_OK;
}

/* Borda: ranks in the order of sum_i w_i y_i, which maximises sum_i w_i <y_i, y>. */
okra_status okra_order_sorted_(const okra_data *y, const double *w, int32_t *code)
{
    OWNED double *score = NULL;
    ZMAKE(score, y->d);
    for (okra_int i = 0; i < y->n; i++) {
        for (okra_int j = 0; j < y->d; j++) {
            score[j] += w[i] * y->values[i * y->ld + j];
        }
    }
    return okra_order_ascending_(score, y->d, code);
}

/* gain[a d + b] = sum_i w_i sign(y_ib - y_ia): what item a before item b is worth. */
static void pair_gains(const okra_data *y, const double *w, double *gain)
{
    memset(gain, 0, (size_t)(y->d * y->d) * sizeof *gain);
    for (okra_int i = 0; i < y->n; i++) {
        const double *row = y->values + i * y->ld;
        for (okra_int a = 0; a < y->d; a++) {
            for (okra_int b = 0; b < y->d; b++) {
                gain[a * y->d + b] += row[a] < row[b]   ? w[i]
                                      : row[a] > row[b] ? -w[i]
                                                        : 0;
            }
        }
    }
}

/* best[S] = max over the last item b of S of best[S - b] and what
 * all others of S before b are worth. */
okra_status okra_order_paired_(const okra_data *y, const double *w, int32_t *code)
{
    okra_int d = y->d, sets = (okra_int)1 << d;
    OWNED double *gain = NULL, *best = NULL;
    OWNED unsigned char *last = NULL;
    MAKE(gain, d * d);
    MAKE(best, sets);
    MAKE(last, sets);
    pair_gains(y, w, gain);
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

/* cost[j d + r] = sum_i w_i |r + 1 - y_ij|^power. */
okra_status okra_order_assigned_(const okra_data *y, const double *w, double power,
                                 int32_t *code)
{
    OWNED okra_int *rank = NULL;
    okra_int d = y->d;
    OWNED double *cost = NULL;
    ZMAKE(cost, d * d);
    MAKE(rank, d);
    for (okra_int i = 0; i < y->n; i++) {
        for (okra_int j = 0; j < d; j++) {
            for (okra_int r = 0; r < d; r++) {
                double apart = fabs((double)(r + 1) - y->values[i * y->ld + j]);
                cost[j * d + r] += w[i] * (power > 0 ? pow(apart, power) : apart > 0);
            }
        }
    }
    CHK(okra_assignment_(d, cost, rank));
    for (okra_int j = 0; j < d; j++) {
        code[j] = (int32_t)(rank[j] + 1);
    }
    return OKRA_OK;
}
