/*
 * blas_eigh.c: the symmetric eigendecomposition on several threads: blas_eigh.h.
 */
#include "linalg/backend/blas_eigh.h"
#include "linalg/backend.h"

#include <math.h>
#include <string.h>

/* A power of two that brings the largest of the numbers near one: products neither
 * overflow nor vanish, and no digit is lost. */
static int scale_of(double largest)
{
    int exponent = 0;
    frexp(largest, &exponent);
    return largest > 0 ? exponent : 0;
}

static double largest_of(okra_int n, const double *x, double so_far)
{
    for (okra_int i = 0; i < n; i++) {
        so_far = fmax(so_far, fabs(x[i]));
    }
    return so_far;
}

static void scale(okra_int n, int exponent, double *x)
{
    for (okra_int i = 0; i < n; i++) {
        x[i] = ldexp(x[i], exponent);
    }
}

/* The lower triangle, where its numbers are far from one; what it was divided by. */
static int scale_matrix(okra_mat_ A)
{
    enum { far = 300 };
    double largest = 0;
    for (okra_int i = 0; i < A.rows; i++) {
        largest = largest_of(i + 1, A.p + i * A.ld, largest);
    }
    int exponent = scale_of(largest);
    if (exponent > -far && exponent < far) {
        return 0;
    }
    for (okra_int i = 0; i < A.rows; i++) {
        scale(i + 1, -exponent, A.p + i * A.ld);
    }
    return exponent;
}

typedef struct result {
    okra_mat_ Z, A;
    const int *order;
} result;

static okra_status copy_rows(void *arg, okra_int begin, okra_int end, int worker)
{
    const result *r = arg;
    (void)worker;
    for (okra_int i = begin; i < end; i++) {
        memcpy(r->A.p + i * r->A.ld, r->Z.p + (r->order[i] - 1) * r->Z.ld,
               (size_t)r->A.cols * sizeof(double));
    }
    return OKRA_OK;
}

okra_status okra_blas_eigh_team_(okra_context *ctx, int team, okra_mat_ A, double *w)
{
    okra_int n = A.rows;
    OWNED double *space = NULL, *z = NULL;
    OWNED int *order = NULL;
    CHK(okra_doubles_(ctx, n, n, "eigh: eigenvectors", &z));
    MAKE(space, 3 * n);
    MAKE(order, n);
    double *d = space, *e = space + n, *tau = space + 2 * n;
    okra_mat_ Z = okra_mat_of_(z, n, n);

    int outer = scale_matrix(A);
    CHK(okra_tridiagonal_(ctx, A, d, e, tau));
    int inner = scale_of(largest_of(n - 1, e, largest_of(n, d, 0)));
    scale(n, -inner, d);
    scale(n - 1, -inner, e);
    CHK(okra_divide_(ctx, team, d, e, Z, order));
    CHK(okra_tridiagonal_rotate_(ctx, A, tau, Z));
    for (okra_int i = 0; i < n; i++) {
        w[i] = ldexp(d[order[i] - 1], inner + outer);
    }
    result r = {Z, A, order};
    return okra_parallel_(ctx, n, 64, NULL, copy_rows, &r);
}
