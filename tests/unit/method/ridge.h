/*
 * ridge.h: fitting and applying ridge to a toy.
 */
#ifndef OKRA_TEST_RIDGE_H
#define OKRA_TEST_RIDGE_H

#include "naive.h"

#include <unistd.h>

static inline const okra_method_ *ridge(void)
{
    return okra_method_find_("ridge");
}

/* Options from "name", "value", ..., NULL. */
static inline okra_options *options_of(const char *const *pairs)
{
    const okra_option_table *table = &ridge()->options;
    okra_options *o = NULL;
    CHECK_OK(okra_options_create(&table, 1, &o));
    for (; pairs && *pairs; pairs += 2) {
        CHECK_OK(okra_options_set(o, pairs[0], pairs[1]));
    }
    return o;
}

/* The first n of the toy's inputs keep their outputs. */
static inline okra_status fit_with(const toy *t, okra_int n, bool features,
                                   const okra_options *o, okra_store_ **store)
{
    okra_status st = OKRA_OK;
    okra_problem_ p = problem_of(t, features);
    okra_store_ *b = NULL;
    p.n = n;
    p.unlabelled = t->n - n;
    TRY(okra_store_create_(&b));
    TRY(okra_method_fit_(NULL, ridge(), &p, o, b));
    *store = b;
    b = NULL;
done:
    okra_store_free_(b);
    return st;
}

static inline okra_status fit_part(const toy *t, okra_int n, bool features,
                                   const char *const *pairs, okra_store_ **store)
{
    okra_options *o = options_of(pairs);
    okra_status st = fit_with(t, n, features, o, store);
    okra_options_free(o);
    return st;
}

static inline okra_status fit(const toy *t, bool features, const okra_options *options,
                              okra_store_ **store)
{
    return fit_with(t, t->n, features, options, store);
}

typedef okra_status (*predictor)(okra_context *, const okra_store_ *, okra_query_ *,
                                 okra_mat_);

/* out: m x cols, written through a wider stride and copied back */
static inline void apply(predictor f, const toy *t, const okra_store_ *store,
                         okra_int cols, double *out)
{
    double Kx[M * N], wide[M * (N + 3)];
    memcpy(Kx, t->Kx, sizeof Kx);
    okra_query_ q = {.m = t->m, .n = t->n, .Kx = okra_mat_of_(Kx, t->m, t->n)};
    okra_mat_ view = {wide, t->m, cols, cols + 3};
    CHECK_OK(f(NULL, store, &q, view));
    CHECK_OK(okra_mat_copy_(view, okra_mat_of_(out, t->m, cols)));
}

/* A d x d matrix in a fresh file; `spec` gets "prefix" + its name. */
static inline void write_matrix(const char *prefix, okra_int rows, okra_int cols,
                                const double *A, char *spec, size_t size)
{
    char path[] = "/tmp/okra-operator-XXXXXX.csv";
    int fd = mkstemps(path, 4);
    FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
    CHECK(f != NULL);
    for (okra_int i = 0; f && i < rows * cols; i++) {
        fprintf(f, "%.17g%s", A[i], (i + 1) % cols ? "," : "\n");
    }
    if (f) {
        fclose(f);
    }
    snprintf(spec, size, "%s%s", prefix, path);
}

#endif
