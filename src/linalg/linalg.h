/*
 * linalg.h: the only door to BLAS and LAPACK.
 *
 * Matrices are row-major views (p, rows, cols, ld), ld >= cols. Views do not own. Shapes
 * must agree: whoever takes data from outside has checked them. Sizes are 64-bit; they
 * are narrowed to BLAS integers in one place, with an error when they do not fit.
 */
#ifndef OKRA_LINALG_H_
#define OKRA_LINALG_H_

#include "core/core.h"

typedef struct okra_mat_ {
    double *p;
    okra_int rows, cols, ld;
} okra_mat_;

static inline okra_mat_ okra_mat_of_(double *p, okra_int rows, okra_int cols)
{
    okra_mat_ a = {p, rows, cols, cols};
    return a;
}

/* A fresh matrix, which okra_mat_drop_ frees; what it holds is not defined. */
okra_status okra_mat_room_(const okra_context *ctx, okra_int rows, okra_int cols,
                           const char *what, okra_mat_ *out);
static inline void okra_mat_drop_(okra_mat_ *A)
{
    okra_free_(A->p);
}

/* A view of memory that is only read: an operand, never a result. */
static inline okra_mat_ okra_mat_view_(const double *p, okra_int rows, okra_int cols,
                                       okra_int ld)
{
    okra_mat_ a = {(double *)(uintptr_t)p, rows, cols, ld};
    return a;
}

/* rows r0..r0+nr-1 and columns c0..c0+nc-1 of a */
static inline okra_mat_ okra_mat_part_(okra_mat_ a, okra_int r0, okra_int nr, okra_int c0,
                                       okra_int nc)
{
    okra_mat_ part = {a.p + r0 * a.ld + c0, nr, nc, a.ld};
    return part;
}

/* C <- alpha op(A) op(B) + beta C; beta == 0 never reads C. */
okra_status okra_gemm_(okra_context *ctx, bool ta, bool tb, double alpha, okra_mat_ A,
                       okra_mat_ B, double beta, okra_mat_ C);

/* C <- alpha A A' + beta C (trans: alpha A' A + beta C), both triangles of C written. */
okra_status okra_syrk_(okra_context *ctx, bool trans, double alpha, okra_mat_ A,
                       double beta, okra_mat_ C);

/* A = L L' in the lower triangle of A, symmetric with both triangles given (the upper one
 * is left as it was). If A is not
 * positive definite to rounding, multiples of eps*mean(diag) are added to the diagonal,
 * growing tenfold, until it is; *jitter (may be NULL) is what was added, 0 if nothing,
 * and the context is warned; it is warned too where the condition number, by the least
 * and the largest pivot, leaves less than three digits. Fails with OKRA_ENUMERIC when
 * 1e-4*mean(diag) does not do, or on a NaN. */
okra_status okra_cholesky_(okra_context *ctx, okra_mat_ A, double *jitter);

/* The same without the warning, where jitter is expected or told once for many. */
okra_status okra_cholesky_quiet_(okra_context *ctx, okra_mat_ A, double *jitter);

/* The same without jitter and warning: where A is not positive definite to rounding, or
 * holds a NaN, it is left as it was and *done is false. */
okra_status okra_cholesky_try_(okra_context *ctx, okra_mat_ A, bool *done);

/* One try, which leaves A half done where *done is false: a verb of the host engine. */
okra_status okra_factor_(okra_context *ctx, okra_mat_ A, bool *done);

/* The rule of both for a matrix that lies elsewhere (engine/matrix.c), by what can be
 * done with it. jitter NULL: without jitter; *done then tells. warned: may be NULL. */
typedef struct okra_cholesky_steps_ {
    okra_status (*diagonal)(void *user, double *d);
    /* lower triangle <- L; *done false: a pivot was not positive or finite */
    okra_status (*factor)(void *user, bool *done);
    /* lower triangle <- upper triangle, diagonal <- d */
    okra_status (*restore)(void *user, const double *d);
    okra_status (*finite)(void *user); /* fails at a NaN or an infinity */
    void *user;
} okra_cholesky_steps_;
okra_status okra_cholesky_by_(okra_context *warned, okra_int n,
                              const okra_cholesky_steps_ *steps, double *jitter,
                              bool *done);

/* left: B <- op(L)^-1 B; right: B <- B op(L)^-1, L lower triangular, op by trans. */
okra_status okra_trsm_(okra_context *ctx, bool left, bool trans, okra_mat_ L,
                       okra_mat_ B);

/* Rows of B are right-hand sides: B <- B (L L')^-1, from the factor of okra_cholesky_. */
okra_status okra_cholesky_solve_rows_(okra_context *ctx, okra_mat_ L, okra_mat_ B);
/* Columns of B are right-hand sides: B <- (L L')^-1 B. */
okra_status okra_cholesky_solve_(okra_context *ctx, okra_mat_ L, okra_mat_ B);
/* One right-hand side b after the other, b <- (L L')^-1 b: T, okra_inverse_count_(n)
 * numbers, is made of the factor L (n x n) once; inverse.c. */
okra_int okra_inverse_count_(okra_int n);
okra_status okra_inverse_(okra_context *ctx, okra_mat_ L, double *T);
okra_status okra_inverse_row_(okra_context *ctx, okra_int n, const double *T, double *b);

/* A Cholesky factor in single precision, n^2/2 floats (single.c): okra_single_count_(n)
 * of them, in blocks (i, j), j <= i, of OKRA_SINGLE_ rows and columns with row stride
 * *ld. Blocks come with A, rows beyond n those of the identity; *done false: a pivot is
 * not positive. B <- (L L')^-1 B of n rows, to single precision. */
enum { OKRA_SINGLE_ = 256 };
okra_int okra_single_count_(okra_int n);
float *okra_single_block_(float *L, okra_int i, okra_int j, okra_int *ld);
okra_status okra_single_factor_(okra_context *ctx, okra_int n, float *L, bool *done);
okra_status okra_single_solve_(okra_context *ctx, okra_int n, const float *L,
                               okra_mat_ B);

/* G <- the factor of L L' without `count` of its rows and columns, ascending; what is
 * above its diagonal is left as it was; without.c. */
okra_status okra_factor_without_(okra_context *ctx, okra_mat_ L, const okra_int *removed,
                                 okra_int count, okra_mat_ G);

/* Symmetric A = V' diag(w) V, eigenvalues ascending; row i of V, which overwrites A, is
 * the i-th eigenvector. Only the lower triangle of A is read. */
okra_status okra_eigh_(okra_context *ctx, okra_mat_ A, double *w);

/* Thin A = U diag(s) Vt, s descending, U: rows x k, Vt: k x cols, k = min(rows, cols).
 * A is destroyed. */
okra_status okra_svd_(okra_context *ctx, okra_mat_ A, okra_mat_ U, double *s,
                      okra_mat_ Vt);

/* Solves the general square A X = B by LU with partial pivoting; A is destroyed, B
 * becomes X. Fails with OKRA_ENUMERIC when A is exactly singular. */
okra_status okra_solve_general_(okra_context *ctx, okra_mat_ A, okra_mat_ B);

/* ---- small helpers, plain C ---- */

void okra_mat_fill_(okra_mat_ A, double value);
void okra_mat_units_(okra_mat_ A, okra_int first); /* rows first.. of the identity */
/* B <- A, and B <- A', blocked; OKRA_ESHAPE, and nothing is written, where B has another
 * shape. */
okra_status okra_mat_copy_(okra_mat_ A, okra_mat_ B);
okra_status okra_mat_transpose_(okra_mat_ A, okra_mat_ B);
void okra_mat_add_diagonal_(okra_mat_ A, double value);
void okra_mat_mirror_(okra_mat_ A);                   /* upper triangle <- lower */
void okra_mat_restore_(okra_mat_ A, const double *d); /* lower <- upper, diagonal <- d */
/* H A H, H = I - 11'/n, A symmetric; mean (n) gets A1/n as it was. */
void okra_mat_center_(okra_mat_ A, double *mean);
double okra_dot_(okra_int n, const double *a, const double *b);
/* v = value; v *= by; v /= by; y += a x; v = max(v, 0); the sums of v and |v|, from the
 * first to the last; the largest of v and of |v|, 0 at least; |a - b|^2. */
static inline void okra_fill_(okra_int n, double value, double *v)
{
    for (okra_int i = 0; i < n; i++) {
        v[i] = value;
    }
}
static inline void okra_scale_(okra_int n, double by, double *v)
{
    for (okra_int i = 0; i < n; i++) {
        v[i] *= by;
    }
}
static inline void okra_scale_down_(okra_int n, double by, double *v)
{
    for (okra_int i = 0; i < n; i++) {
        v[i] /= by;
    }
}
static inline void okra_axpy_(okra_int n, double a, const double *x, double *y)
{
    for (okra_int i = 0; i < n; i++) {
        y[i] += a * x[i];
    }
}
static inline double okra_total_(okra_int n, const double *v)
{
    double sum = 0;
    for (okra_int i = 0; i < n; i++) {
        sum += v[i];
    }
    return sum;
}
static inline void okra_clamp_(okra_int n, double *v)
{
    for (okra_int i = 0; i < n; i++) {
        v[i] = fmax(v[i], 0);
    }
}
static inline double okra_total_abs_(okra_int n, const double *v)
{
    double sum = 0;
    for (okra_int i = 0; i < n; i++) {
        sum += fabs(v[i]);
    }
    return sum;
}
static inline double okra_most_(okra_int n, const double *v)
{
    double most = 0;
    for (okra_int i = 0; i < n; i++) {
        most = fmax(most, v[i]);
    }
    return most;
}
static inline double okra_most_abs_(okra_int n, const double *v)
{
    double most = 0;
    for (okra_int i = 0; i < n; i++) {
        most = fmax(most, fabs(v[i]));
    }
    return most;
}
static inline double okra_distance2_(okra_int n, const double *a, const double *b)
{
    double sum = 0;
    for (okra_int i = 0; i < n; i++) {
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    }
    return sum;
}

#endif
