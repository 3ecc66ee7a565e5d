/*
 * margin.h: fits of margin on toys, and its quadratic form written out.
 */
#ifndef OKRA_TEST_MARGIN_H_
#define OKRA_TEST_MARGIN_H_

#include "solve/graph.h"
#include "naive.h"

#include <unistd.h>

enum { LABELLED = 5, SEEDS = 12 };
static char operator_file[64], operator_text[80];

/* Before the tests: names a file for an operator that no other process has. */
static inline void name_operator(void)
{
    snprintf(operator_file, sizeof operator_file, "margin-%d.csv", (int)getpid());
    snprintf(operator_text, sizeof operator_text, "matrix:%s", operator_file);
}

static inline const okra_method_ *method(const char *name)
{
    return okra_method_find_(name);
}

static inline okra_options *options_of(const char *name, const char *const *pairs)
{
    const okra_option_table *table = &method(name)->options;
    okra_options *o = NULL;
    CHECK_OK(okra_options_create(&table, 1, &o));
    for (; pairs && *pairs; pairs += 2) {
        CHECK_OK(okra_options_set(o, pairs[0], pairs[1]));
    }
    return o;
}

static inline okra_status fit_with(const char *name, const toy *t, okra_int n,
                                   bool features, const okra_options *o,
                                   okra_store_ **store)
{
    okra_status st = OKRA_OK;
    okra_problem_ p = problem_of(t, features);
    okra_store_ *b = NULL;
    p.n = n;
    p.unlabelled = t->n - n;
    p.given_L_ld = t->n;
    TRY(okra_store_create_(&b));
    TRY(okra_method_fit_(NULL, method(name), &p, o, b));
    *store = b;
    b = NULL;
done:
    okra_store_free_(b);
    return st;
}

static inline okra_status fit(const char *name, const toy *t, okra_int n, bool features,
                              const char *const *pairs, okra_store_ **store)
{
    okra_options *o = options_of(name, pairs);
    okra_status st = fit_with(name, t, n, features, o, store);
    okra_options_free(o);
    return st;
}

/* Of rows of k(., train): m x t->n. */
static inline void predict(const char *name, const toy *t, const double *rows, okra_int m,
                           okra_int n, const okra_store_ *store, bool embed,
                           okra_int cols, double *out)
{
    double Kx[N * N];
    memcpy(Kx, rows, (size_t)(m * t->n) * sizeof *rows);
    okra_query_ q = {.m = m, .n = n, .Kx = okra_mat_of_(Kx, m, t->n)};
    CHECK_OK((embed ? method(name)->embed : method(name)->predict)(
        NULL, store, &q, okra_mat_of_(out, m, cols)));
}

static inline double number(const okra_store_ *store, const char *name)
{
    double value = NAN;
    CHECK(okra_store_get_number_(store, name, &value));
    return value;
}

/* X = (lambda I + 2 lambda2 g M K)^-1 J' (N x n), S = J K X (n x n). */
static inline void naive_deformed(const toy *t, okra_int n, const char *graph,
                                  double lambda, double lambda2, double g, double *X,
                                  double *S)
{
    double P[N * N], A[N * N], eye[N * N];
    okra_int all = t->n;
    okra_graph_ *made = NULL;
    identity(all, eye);
    memset(P, 0, sizeof P);
    if (graph) {
        CHECK_OK(okra_graph_create_(
            NULL, graph, &(okra_graph_kernel_){.K = okra_mat_view_(t->K, all, all, all)},
            &made));
        CHECK_OK(okra_graph_apply_(NULL, made, okra_mat_of_(eye, all, all),
                                   okra_mat_of_(P, all, all)));
        okra_graph_free_(made);
    }
    times(all, all, all, P, t->K, A);
    for (okra_int i = 0; i < all * all; i++) {
        A[i] = 2 * lambda2 * g * A[i] + lambda * eye[i];
    }
    for (okra_int i = 0; i < all * n; i++) {
        X[i] = i / n == i % n;
    }
    eliminate(all, A, n, X);
    times(n, all, n, t->K, X, S);
}

static inline void write_operator(const double *A)
{
    FILE *f = fopen(operator_file, "w");
    for (okra_int i = 0; f && i < D * D; i++) {
        fprintf(f, "%.17g%c", A[i], i % D == D - 1 ? '\n' : ',');
    }
    CHECK(f && fclose(f) == 0);
}

#endif
