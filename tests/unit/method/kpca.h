/*
 * kpca.h: fits of kernel PCA regression to toys, and how far two results are apart.
 */
#ifndef OKRA_TEST_KPCA_H
#define OKRA_TEST_KPCA_H

#include "naive.h"

static inline const okra_method_ *kpca(void)
{
    return okra_method_find_("kpca");
}

static inline okra_status fit_with(okra_context *ctx, const toy *t, const char *option,
                                   const char *components, const char *lambda,
                                   okra_store_ **out)
{
    okra_status st = OKRA_OK;
    const okra_option_table *table = &kpca()->options;
    okra_options *o = NULL;
    okra_store_ *store = NULL;
    okra_problem_ p = problem_of(t, false);
    TRY(okra_options_create(&table, 1, &o));
    TRY(okra_options_set(o, option, components));
    TRY(okra_options_set(o, "lambda", lambda));
    TRY(okra_store_create_(&store));
    TRY(okra_method_fit_(ctx, kpca(), &p, o, store));
    *out = store;
    store = NULL;
done:
    okra_store_free_(store);
    okra_options_free(o);
    return st;
}

static inline okra_status weigh(const toy *t, const okra_store_ *store, double *W)
{
    okra_query_ q = {.m = t->m, .n = t->n};
    double Kx[M * N];
    memcpy(Kx, t->Kx, sizeof Kx);
    q.Kx = okra_mat_of_(Kx, t->m, t->n);
    return kpca()->predict(NULL, store, &q, okra_mat_of_(W, t->m, t->n));
}

/* |sum_i (a_i - b_i) phi(y_i)|^2 */
static inline double apart(const toy *t, const double *a, const double *b)
{
    double sum = 0;
    for (okra_int i = 0; i < t->n; i++) {
        for (okra_int j = 0; j < t->n; j++) {
            sum += (a[i] - b[i]) * t->L[i * t->n + j] * (a[j] - b[j]);
        }
    }
    return sum;
}

#endif
