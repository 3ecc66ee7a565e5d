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
                                   okra_bag_ **out)
{
    okra_status st = OKRA_OK;
    const okra_option_table *table = &kpca()->options;
    okra_options *o = NULL;
    okra_bag_ *bag = NULL;
    okra_problem_ p = problem_of(t, false);
    TRY(okra_options_create(&table, 1, &o));
    TRY(okra_options_set(o, option, components));
    TRY(okra_options_set(o, "lambda", lambda));
    TRY(okra_bag_create_(&bag));
    TRY(okra_method_fit_(ctx, kpca(), &p, o, bag));
    *out = bag;
    bag = NULL;
done:
    okra_bag_free_(bag);
    okra_options_free(o);
    return st;
}

static inline okra_status weigh(const toy *t, const okra_bag_ *bag, double *W)
{
    okra_query_ q = {.m = t->m, .n = t->n};
    double Kx[M * N];
    memcpy(Kx, t->Kx, sizeof Kx);
    q.Kx = okra_mat_of_(Kx, t->m, t->n);
    return kpca()->predict(NULL, bag, &q, okra_mat_of_(W, t->m, t->n));
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
