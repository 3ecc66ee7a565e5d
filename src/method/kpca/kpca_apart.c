/*
 * kpca_apart.c: the components of kpca.c where several processes share large matrices and
 * none of them holds one whole: with all components the scores S and the coefficients
 * (K + lambda I)^-1 S are n x p, p near n. They stay on the engine, and the model keeps
 * them there (engine/block.c).
 */
#include "method/kpca/kpca.h"

#include <math.h>

/* Rows of S' from the eigenvectors in the last p rows of V, and the offset. */
static okra_status transposed(okra_context *ctx, const okra_large_ *V, const double *v,
                              okra_axes_ *a, okra_large_ *St)
{
    enum { ROWS = 64 };
    okra_int n = a->n, height = OKRA_MIN_(ROWS, a->p);
    OWNED double *block = NULL, *row = NULL;
    CHK(okra_doubles_(ctx, height, n, "some output components", &block));
    MAKE(row, n);
    for (okra_int j = 0; j < a->p; j += height) {
        okra_mat_ some = okra_mat_of_(block, OKRA_MIN_(height, a->p - j), n);
        CHK(okra_large_get_(ctx, V, n - j - some.rows, 0, some));
        for (okra_int r = 0; r < some.rows / 2; r++) { /* the last one comes first */
            okra_mat_ a1 = okra_mat_part_(some, r, 1, 0, n);
            okra_mat_ a2 = okra_mat_part_(some, some.rows - 1 - r, 1, 0, n);
            CHK(okra_mat_copy_(a1, okra_mat_of_(row, 1, n)));
            CHK(okra_mat_copy_(a2, a1));
            CHK(okra_mat_copy_(okra_mat_of_(row, 1, n), a2));
        }
        for (okra_int r = 0; r < some.rows; r++) {
            double *s = block + r * n, mu = v[j + r];
            okra_kpca_center_(a, s);
            a->mu[j + r] = mu;
            for (okra_int i = 0; i < n; i++) {
                s[i] *= sqrt(mu);
                a->offset[j + r] += s[i] * a->mean[i] / mu;
            }
        }
        CHK(okra_large_put_(ctx, some, j, 0, St));
    }
    return OKRA_OK;
}

okra_status okra_kpca_take_apart_(okra_context *ctx, const okra_large_ *V,
                                  const double *v, okra_axes_ *a)
{
    FREED_BY(okra_large_drop_) okra_large_ *St = NULL;
    CHK(okra_large_create_(ctx, a->p, a->n, "the output components", &St));
    CHK(transposed(ctx, V, v, a, St));
    CHK(okra_large_create_(ctx, a->n, a->p, "the output components", &a->T));
    return okra_large_copy_(ctx, true, St, a->T);
}

/* S, each row divided by s_i or times it (s NULL: as it is), into the bag. */
static okra_status keep(okra_context *ctx, const okra_axes_ *a, const char *name,
                        bool divide, okra_large_ **made, okra_bag_ *bag)
{
    FREED_BY(okra_large_drop_) okra_large_ *S = NULL;
    OWNED double *by = NULL;
    if (!made) {
        CHK(okra_large_create_(ctx, a->n, a->p, "the output components", &S));
        CHK(okra_large_copy_(ctx, false, a->T, S));
        made = &S;
    }
    if (a->s) {
        MAKE(by, a->n);
        for (okra_int i = 0; i < a->n; i++) {
            by[i] = divide ? 1 / a->s[i] : a->s[i];
        }
        CHK(okra_large_scale_(ctx, by, NULL, *made));
    }
    return okra_large_keep_(ctx, made, false, "the output components", name, bag);
}

okra_status okra_kpca_put_apart_(okra_context *ctx, const okra_axes_ *a,
                                 const okra_large_ *G, okra_bag_ *bag)
{
    FREED_BY(okra_large_drop_) okra_large_ *C = NULL;
    CHK(okra_large_create_(ctx, a->n, a->p, "the coefficients of the components", &C));
    CHK(okra_large_copy_(ctx, false, a->T, C));
    CHK(okra_large_solve_(ctx, true, G, C));
    CHK(keep(ctx, a, "coefficients", false, &C, bag));
    CHK(keep(ctx, a, "scores", true, NULL, bag));
    return a->s ? keep(ctx, a, "duals", false, NULL, bag) : OKRA_OK;
}
