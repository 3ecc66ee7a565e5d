/*
 * reduce.c: sums over a matrix, and the best of each of its rows: each rank reduces what
 * it has, and the parts are put together.
 */
#include "ranks.h"

#include <math.h>
#include <string.h>

okra_status ranks_diagonal_(void *e, okra_context *ctx, const void *A, double *out)
{
    const ranks_ *g = e;
    const ranks_body_ *a = A;
    okra_int n = OKRA_MIN_(a->rows, a->cols);
    memset(out, 0, (size_t)n * sizeof *out);
    RANKS_ROWS(g, a, i, row)
    {
        okra_int at, local, count;
        if (i < n && ranks_span_(g, i, i + 1, g->row, g->pr, &at, &local, &count)) {
            out[i] = row[local];
        }
    }
    return ranks_sum_(e, ctx, n, out);
}

okra_status ranks_row_sums_(void *e, okra_context *ctx, const void *A, double *out)
{
    const ranks_ *g = e;
    const ranks_body_ *a = A;
    memset(out, 0, (size_t)a->rows * sizeof *out);
    RANKS_ROWS(g, a, i, row)
    {
        for (okra_int l = 0; l < a->lm; l++) {
            out[i] += row[l];
        }
    }
    return ranks_sum_(e, ctx, a->rows, out);
}

okra_status ranks_dot_(void *e, okra_context *ctx, const void *A, const void *B,
                       double *out)
{
    const ranks_body_ *a = A, *b = B;
    double sum = 0;
    for (okra_int k = 0; k < a->ln; k++) {
        double some = 0; /* row by row: what is rounded is small beside the sum */
        for (okra_int l = 0; l < a->lm; l++) {
            some += a->p[k * a->lm + l] * b->p[k * a->lm + l];
        }
        sum += some;
    }
    *out = sum;
    return ranks_sum_(e, ctx, 1, out);
}

/* ---- the best of each row ---- */

typedef struct scored_ {
    double value;
    long long index; /* -1: none */
} scored_;

static bool before(scored_ a, scored_ b)
{
    return b.index < 0 || a.value > b.value ||
           (!(a.value < b.value) && a.index < b.index);
}

/* Into a list of k, best first. */
static void insert(scored_ *list, okra_int k, scored_ one)
{
    if (one.index < 0 || !before(one, list[k - 1])) {
        return;
    }
    okra_int at = k - 1;
    for (; at > 0 && before(one, list[at - 1]); at--) {
        list[at] = list[at - 1];
    }
    list[at] = one;
}

static void clear(scored_ *list, okra_int count)
{
    for (okra_int i = 0; i < count; i++) {
        list[i] = (scored_){0, -1};
    }
}

/* Rows first.. of this rank's part; each list is empty where it has none of the row. */
static void best_here(const ranks_ *g, const ranks_body_ *A, const double *offset,
                      okra_int first, okra_int rows, okra_int k, scored_ *lists)
{
    clear(lists, rows * k);
    RANKS_ROWS(g, A, i, row)
    {
        for (okra_int l = 0; i >= first && i < first + rows && l < A->lm; l++) {
            okra_int j = ranks_global_(g, l, g->row, g->pr);
            insert(lists + (i - first) * k, k,
                   (scored_){row[l] + (offset ? offset[j] : 0), j});
        }
    }
}

okra_status ranks_best_(void *e, okra_context *ctx, const void *A, const double *offset,
                        okra_int k, okra_int *index, double *value)
{
    enum { CHUNK = 1 << 20 };
    okra_status st = OKRA_OK;
    ranks_ *g = e;
    const ranks_body_ *a = A;
    okra_int height = OKRA_MIN_(a->rows, OKRA_MAX_(1, CHUNK / (k * g->ranks)));
    okra_int room = height * k;
    scored_ *mine = g->host->alloc(room, sizeof *mine), *list = NULL;
    scored_ *all = g->host->alloc(room * g->ranks, sizeof *all);
    list = g->host->alloc(k, sizeof *list);
    st = mine && all && list ? g->host->cancelled(ctx) : OKRA_EMEM;
    TRY(ranks_agree_(g, st, "best", (uint64_t)a->rows, (uint64_t)k));
    for (okra_int first = 0; first < a->rows; first += height) {
        okra_int rows = OKRA_MIN_(height, a->rows - first);
        int bytes = (int)(rows * k * (okra_int)sizeof *mine);
        best_here(g, a, offset, first, rows, k, mine);
        MPI_Allgather(mine, bytes, MPI_BYTE, all, bytes, MPI_BYTE, g->comm);
        for (okra_int r = 0; r < rows; r++) {
            clear(list, k);
            for (okra_int q = 0; q < k * g->ranks; q++) {
                insert(list, k, all[(q / k * rows + r) * k + q % k]);
            }
            for (okra_int t = 0; t < k; t++) {
                index[(first + r) * k + t] = list[t].index;
                value[(first + r) * k + t] = list[t].value;
            }
        }
    }
done:
    g->host->free(mine);
    g->host->free(all);
    g->host->free(list);
    return st;
}
