/*
 * elementwise.c: each rank works on the entries that it has; only transposing and
 * centring carry anything.
 */
#include "ranks.h"

#include <math.h>
#include <string.h>

void pdtran_(const int *m, const int *n, const double *alpha, const double *A,
             const int *ia, const int *ja, const int *da, const double *beta, double *C,
             const int *ic, const int *jc, const int *dc);

okra_status ranks_copy_(void *e, okra_context *ctx, bool trans, const void *A, void *B)
{
    okra_status st = OKRA_OK;
    ranks_ *g = e;
    const ranks_body_ *a = A;
    ranks_body_ *b = B;
    if (!trans) {
        memcpy(b->p, a->p, (size_t)(a->lm * a->ln) * sizeof *a->p);
        return OKRA_OK;
    }
    const int one = 1, m = (int)b->cols, n = (int)b->rows;
    const double unit = 1, zero = 0;
    TRY(ranks_agree_(g, g->host->cancelled(ctx), "transpose", (uint64_t)a->rows,
                     (uint64_t)a->cols));
    pdtran_(&m, &n, &unit, a->p, &one, &one, a->desc, &zero, b->p, &one, &one, b->desc);
done:
    return st;
}

okra_status ranks_fill_(void *e, okra_context *ctx, double value, void *A)
{
    ranks_body_ *a = A;
    (void)e, (void)ctx;
    for (okra_int k = 0; k < a->lm * a->ln; k++) {
        a->p[k] = value;
    }
    return OKRA_OK;
}

okra_status ranks_add_diagonal_(void *e, okra_context *ctx, double value, void *A)
{
    const ranks_ *g = e;
    ranks_body_ *a = A;
    (void)ctx;
    RANKS_ROWS(g, a, i, row)
    {
        okra_int at, local, count;
        if (i < a->cols && ranks_span_(g, i, i + 1, g->row, g->pr, &at, &local, &count)) {
            row[local] += value;
        }
    }
    return OKRA_OK;
}

okra_status ranks_scale_(void *e, okra_context *ctx, const double *r, const double *c,
                         void *A)
{
    const ranks_ *g = e;
    ranks_body_ *a = A;
    (void)ctx;
    RANKS_ROWS(g, a, i, row)
    {
        for (okra_int l = 0; l < a->lm; l++) {
            row[l] *= (r ? r[i] : 1) * (c ? c[ranks_global_(g, l, g->row, g->pr)] : 1);
        }
    }
    return OKRA_OK;
}

okra_status ranks_center_(void *e, okra_context *ctx, double *mean, void *A)
{
    okra_status st = OKRA_OK;
    ranks_ *g = e;
    ranks_body_ *a = A;
    okra_int n = a->rows;
    double all = 0, *own = g->host->alloc(n, sizeof *own);
    TRY(ranks_agree_(g, own ? OKRA_OK : OKRA_EMEM, "center", (uint64_t)n, 0));
    TRY(ranks_row_sums_(e, ctx, A, own));
    for (okra_int i = 0; i < n; i++) {
        own[i] /= (double)n;
        all += own[i] / (double)n;
        if (mean) {
            mean[i] = own[i];
        }
    }
    RANKS_ROWS(g, a, i, row)
    {
        for (okra_int l = 0; l < a->lm; l++) {
            row[l] += all - own[i] - own[ranks_global_(g, l, g->row, g->pr)];
        }
    }
done:
    g->host->free(own);
    return st;
}

okra_status ranks_combine_(void *e, okra_context *ctx, okra_combine_ how, double s,
                           double t, const double *r, const double *c, const void *B,
                           void *A)
{
    const ranks_ *g = e;
    ranks_body_ *a = A;
    const ranks_body_ *with = B ? B : A;
    (void)ctx;
    RANKS_ROWS(g, a, i, row)
    {
        const double *b = with->p + i_l * a->lm;
        for (okra_int l = 0; l < a->lm; l++) {
            switch (how) {
            case OKRA_COMBINE_SUM_:
                row[l] = s * row[l] + t * b[l];
                break;
            case OKRA_COMBINE_PRODUCT_:
                row[l] *= b[l];
                break;
            case OKRA_COMBINE_POWER_:
                row[l] = pow(row[l], s);
                break;
            case OKRA_COMBINE_DIVIDE_:
                row[l] = b[l] / (r[i] * c[ranks_global_(g, l, g->row, g->pr)] + s);
                break;
            }
        }
    }
    return OKRA_OK;
}
