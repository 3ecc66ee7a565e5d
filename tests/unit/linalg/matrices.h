/*
 * matrices.h: what the tests of linear algebra share: views with guarded padding, naive
 * products in long double, and errors in units of eps.
 */
#ifndef OKRA_TEST_MATRICES_H
#define OKRA_TEST_MATRICES_H

#include "harness.h"
#include "linalg/blas.h"

#include <float.h>

static const okra_int sizes[] = {0, 1, 2, 17, 64, 65};
enum { n_sizes = 6, padding = 3 };
static const double guard = 12345.678; /* stands in the padding and must stay there */

static inline okra_context *new_context(void)
{
    okra_context *ctx = NULL;
    CHECK_OK(okra_context_create(&ctx));
    return ctx;
}

/* rows x cols of normals in a block with ld = cols + 3; free by mat_free */
static inline okra_mat_ mat_random(okra_random_ *r, okra_int rows, okra_int cols)
{
    okra_mat_ A = {NULL, rows, cols, cols + padding};
    A.p = okra_alloc_(rows * A.ld, sizeof *A.p);
    for (okra_int i = 0; i < rows; i++) {
        for (okra_int j = 0; j < A.ld; j++) {
            A.p[i * A.ld + j] = j < cols ? okra_random_normal_(r) : guard;
        }
    }
    return A;
}

/* A freed view whose padding was written to is a failure. */
static inline void mat_free(okra_mat_ A)
{
    for (okra_int i = 0; i < A.rows; i++) {
        for (okra_int j = A.cols; j < A.ld; j++) {
            CHECK(A.p[i * A.ld + j] == guard);
        }
    }
    okra_free_(A.p);
}

static inline okra_mat_ mat_clone(okra_mat_ A)
{
    okra_random_ r = okra_random_create_(0, 0);
    okra_mat_ B = mat_random(&r, A.rows, A.cols);
    CHECK_OK(okra_mat_copy_(A, B));
    return B;
}

static inline double at(okra_mat_ A, bool trans, okra_int i, okra_int j)
{
    return trans ? A.p[j * A.ld + i] : A.p[i * A.ld + j];
}

/* (op(A) op(B))_ij, and with it the sum of absolute values that bounds its rounding */
static inline long double product_at(okra_mat_ A, bool ta, okra_mat_ B, bool tb,
                                     okra_int i, okra_int j, long double *size)
{
    long double sum = 0;
    *size = 0;
    for (okra_int k = 0; k < (ta ? A.rows : A.cols); k++) {
        long double t = (long double)at(A, ta, i, k) * (long double)at(B, tb, k, j);
        sum += t;
        *size += fabsl(t);
    }
    return sum;
}

/* largest |(op(A) op(B))_ij - C_ij| in units of eps * scale */
static inline double product_error(okra_mat_ A, bool ta, okra_mat_ B, bool tb,
                                   okra_mat_ C, double scale)
{
    double worst = 0;
    for (okra_int i = 0; i < C.rows; i++) {
        for (okra_int j = 0; j < C.cols; j++) {
            long double size, p = product_at(A, ta, B, tb, i, j, &size);
            double e = (double)fabsl(p - (long double)at(C, false, i, j));
            worst = e <= worst ? worst : e;
        }
    }
    return worst == 0 ? 0 : worst / (DBL_EPSILON * scale);
}

/* largest |A A' - I| (trans: A' A) in units of eps */
static inline double orthogonality_error(okra_mat_ A, bool trans)
{
    double worst = 0;
    okra_int n = trans ? A.cols : A.rows;
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            long double size, p = product_at(A, trans, A, !trans, i, j, &size);
            double e = (double)fabsl(p - (i == j));
            worst = e <= worst ? worst : e;
        }
    }
    return worst / DBL_EPSILON;
}

static inline double norm_of(okra_mat_ A)
{
    double norm = 0;
    for (okra_int i = 0; i < A.rows; i++) {
        for (okra_int j = 0; j < A.cols; j++) {
            norm = hypot(norm, at(A, false, i, j));
        }
    }
    return norm;
}

/* Keeps the worst of many errors and holds each against the tolerance. */
typedef struct worst_of {
    const char *what;
    double allowed, worst;
} worst_of;

static inline void note(worst_of *w, double error)
{
    CHECK_NEAR(error, 0, w->allowed);
    w->worst = error <= w->worst ? w->worst : error;
}

static inline void report(const worst_of *w)
{
    printf("  %-24s worst %8.3g of %g allowed\n", w->what, w->worst, w->allowed);
}

#ifndef SEEDS
#define SEEDS SOME(2)
#endif

typedef void (*body)(okra_context *ctx, okra_random_ *r);

/* An operation for every seed. Its body goes over the sizes. Tolerances are ten times the
 * worst error over 100 seeds, in units of eps times the scale named. */
static inline void for_seeds(body run)
{
    okra_context *ctx = new_context();
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        okra_random_ r = okra_random_create_(seed, 1);
        run(ctx, &r);
    }
    okra_context_free(ctx);
}

#endif
