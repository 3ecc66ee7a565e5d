/* pairs_of.h: matrices of an engine beside the same of the host, on host or on the engine
 * that OKRA_TEST_ENGINE names. */
#ifndef OKRA_TEST_PAIRS_OF_H_
#define OKRA_TEST_PAIRS_OF_H_

#include "harness.h"

#include "engine/engine.h"

static okra_context *ctx;
static okra_random_ source;

enum { SIZES = 4 };
static const okra_int sizes[SIZES] = {1, 2, 7, 65};

/* Relative to the largest entry; measured: host 3e-15, test 1e-14 at n = 65. */
static const double CLOSE = 1e-13;

static inline void setup(void)
{
    const char *name = getenv("OKRA_TEST_ENGINE");
    source = okra_random_create_(15, 1);
    CHECK_OK(okra_context_create(&ctx));
    CHECK_OK(okra_context_set_engine(ctx, name ? name : "host"));
}

static inline void finish(void)
{
    okra_context_free(ctx);
}

typedef struct pair {
    okra_int rows, cols;
    double *p;       /* the host's copy */
    okra_matrix_ *A; /* the engine's    */
} pair;

static inline okra_mat_ mat(const pair *a)
{
    return okra_mat_of_(a->p, a->rows, a->cols);
}

static inline pair random_pair(okra_int rows, okra_int cols)
{
    pair a = {rows, cols, okra_alloc_(rows * cols, sizeof(double)), NULL};
    harness_normals(&source, rows * cols, a.p);
    CHECK_OK(okra_matrix_create_(ctx, rows, cols, "a test", &a.A));
    CHECK_OK(okra_matrix_put_(ctx, mat(&a), 0, 0, a.A));
    return a;
}

/* Positive definite: R R' + n I, or (shift) something else in the place of n. */
static inline pair definite_pair(okra_int n, double shift)
{
    pair a = random_pair(n, n);
    double *R = okra_alloc_(n * n, sizeof *R);
    memcpy(R, a.p, (size_t)(n * n) * sizeof *R);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            a.p[i * n + j] = i == j ? shift : 0;
            for (okra_int k = 0; k < n; k++) {
                a.p[i * n + j] += R[i * n + k] * R[j * n + k];
            }
        }
    }
    CHECK_OK(okra_matrix_put_(ctx, mat(&a), 0, 0, a.A));
    okra_free_(R);
    return a;
}

static inline void drop(pair *a)
{
    okra_matrix_free_(a->A);
    okra_free_(a->p);
}

/* How far the engine's matrix is from the host's. */
static inline double far(const pair *a)
{
    double *got = okra_alloc_(a->rows * a->cols, sizeof *got);
    CHECK_OK(okra_matrix_get_(ctx, a->A, 0, 0, okra_mat_of_(got, a->rows, a->cols)));
    double worst = harness_relative(a->rows * a->cols, got, a->p);
    okra_free_(got);
    return worst;
}

#endif
