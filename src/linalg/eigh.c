/*
 * eigh.c: symmetric eigendecomposition A = V' diag(w) V, row i of V the eigenvector of
 * w_i. About 9 n^3 operations. Eigenvalues to a few eps ||A|| absolutely, V orthogonal to
 * a few n eps; an eigenvector is only as good as the gap of its eigenvalue. One thread:
 * LAPACK. Several: the steps of blas.h.
 *
 * LAPACK is column-major: a row-major matrix with row stride ld is its transpose, so the
 * lower triangle is LAPACK's upper one and nothing is copied. LAPACKE's *_work entry
 * points are used with work space of our own, so that all memory is asked of the budget.
 */
#include "linalg/blas.h"

#include <lapacke.h>
#include <cblas.h>

/* ---- eigenvectors of a tridiagonal matrix by halves, on several threads
 * (Cuppen; Gu and Eisenstat).
 *
 * T = [T1 0; 0 T2] + rho b b', b one at the last row of T1 and the first of T2 (the sign
 * of rho in one of them). The parts are solved by LAPACK, each in one thread. With their
 * eigenvalues D and z = Z'b, the eigenvalues of D + rho z z' are the roots of
 * 1 + rho sum z_i^2 / (d_i - x), one loop; its eigenvectors have entries
 * z_i / (d_i - x) for the z that belongs to the roots as they came out, another; and Z
 * times these is a product. LAPACK's dlaed2 takes out what need not change before.
 */

/* LAPACK's own steps, which LAPACKE does not declare. */
void LAPACK_GLOBAL(dlaed2, DLAED2)(int *k, const int *n, const int *n1, double *d,
                                   double *q, const int *ldq, int *indxq, double *rho,
                                   double *z, double *dlamda, double *w, double *q2,
                                   int *indx, int *indxc, int *indxp, int *coltyp,
                                   int *info);
void LAPACK_GLOBAL(dlaed4, DLAED4)(const int *n, const int *i, const double *d,
                                   const double *z, double *delta, const double *rho,
                                   double *dlam, int *info);
void LAPACK_GLOBAL(dlamrg, DLAMRG)(const int *n1, const int *n2, const double *a,
                                   const int *step1, const int *step2, int *index);

enum { grain = 32 }; /* roots of a task */

/* ---- two parts become one ---- */

typedef struct merge {
    okra_context *ctx;
    int n, n1, k; /* rows, those of the first part, roots to find */
    double *d;
    okra_mat_ Z;
    double rho;
    double *z, *poles, *w; /* w: z of the k that change, then as the roots have it */
    double *parts, *roots; /* Q2 and S of LAPACK */
    double *scratch;       /* k numbers for each thread */
    int *place, *types;    /* INDXC and COLTYP of LAPACK */
} merge;

/* Row j of Z becomes d_i - x_j. */
static okra_status find_roots(void *arg, okra_int begin, okra_int end, int worker)
{
    const merge *m = arg;
    for (okra_int j = begin; j < end; j++) {
        int info = 0, at = (int)j + 1;
        LAPACK_GLOBAL(dlaed4, DLAED4)
        (&m->k, &at, m->poles, m->w, m->Z.p + j * m->Z.ld, &m->rho, m->d + j, &info);
        REFUSE_IF(info != 0, OKRA_ENUMERIC, "eigh: eigenvalue %lld of %d was not found",
                  (long long)j, m->k);
    }
    return OKRA_OK;
}

/* z_i^2 = prod_j (d_i - x_j) / prod_{j != i} (d_i - d_j), with the sign of w. */
static okra_status correct_z(void *arg, okra_int begin, okra_int end, int worker)
{
    const merge *m = arg;
    double *z = m->z;
    for (okra_int i = begin; i < end; i++) {
        z[i] = m->Z.p[i * m->Z.ld + i];
    }
    for (okra_int j = 0; j < m->k; j++) {
        const double *delta = m->Z.p + j * m->Z.ld;
        for (okra_int i = begin; i < end; i++) {
            if (i != j) {
                z[i] *= delta[i] / (m->poles[i] - m->poles[j]);
            }
        }
    }
    for (okra_int i = begin; i < end; i++) {
        z[i] = copysign(sqrt(-z[i]), m->w[i]);
    }
    return OKRA_OK;
}

/* Row j of Z becomes eigenvector j of D + rho z z', in the order of the parts. */
static okra_status form_vectors(void *arg, okra_int begin, okra_int end, int worker)
{
    const merge *m = arg;
    double *s = m->scratch + (okra_int)worker * m->n;
    for (okra_int j = begin; j < end; j++) {
        double *row = m->Z.p + j * m->Z.ld;
        for (okra_int i = 0; i < m->k; i++) {
            s[i] = m->z[i] / row[i];
        }
        double norm = cblas_dnrm2(m->k, s, 1);
        for (okra_int i = 0; i < m->k; i++) {
            row[i] = s[m->place[i] - 1] / norm;
        }
    }
    return OKRA_OK;
}

/* With two roots dlaed4 gives the vectors themselves. */
static void order_pair(const merge *m)
{
    for (okra_int j = 0; j < 2; j++) {
        double *row = m->Z.p + j * m->Z.ld, both[2] = {row[0], row[1]};
        row[0] = both[m->place[0] - 1];
        row[1] = both[m->place[1] - 1];
    }
}

static okra_status solve_secular(merge *m)
{
    CHK(okra_parallel_least_(m->ctx, (double)m->k * m->k, m->k, grain, NULL, find_roots,
                             m));
    if (m->k == 2) {
        order_pair(m);
    } else if (m->k > 2) {
        CHK(okra_parallel_least_(m->ctx, (double)m->k * m->k, m->k, grain, NULL,
                                 correct_z, m));
        CHK(okra_parallel_least_(m->ctx, (double)m->k * m->k, m->k, grain, NULL,
                                 form_vectors, m));
    }
    return OKRA_OK;
}

/* Columns first.. of the rows below k of Z = the vectors' columns from `from`, `count` of
 * them, times the part's rows. */
static okra_status multiply_part(const merge *m, okra_int from, okra_int count,
                                 const double *part, okra_int first, okra_int width)
{
    okra_mat_ out = okra_mat_part_(m->Z, 0, m->k, first, width);
    if (count == 0) {
        okra_mat_fill_(out, 0);
        return OKRA_OK;
    }
    okra_mat_ S = okra_mat_of_(m->roots, m->k, count);
    okra_mat_ P = okra_mat_of_((double *)(uintptr_t)part, count, width);
    CHK(okra_mat_copy_(okra_mat_part_(m->Z, 0, m->k, from, count), S));
    return okra_blas_gemm_(m->ctx, false, false, 1, S, P, 0, out);
}

/* Columns of type 1 are zero in the second part, those of type 3 in the first. The second
 * part comes first: it overwrites no vector's entry that the first one reads. */
static okra_status combine(merge *m)
{
    okra_int n1 = m->n1, n2 = m->n - n1;
    okra_int upper = m->types[0] + m->types[1], lower = m->types[1] + m->types[2];
    m->roots = m->parts + n1 * upper + n2 * lower;
    CHK(solve_secular(m));
    CHK(multiply_part(m, m->types[0], lower, m->parts + n1 * upper, n1, n2));
    return multiply_part(m, 0, upper, m->parts, 0, n1);
}

/* Work space of a merge of n rows: as dlaed1 has it. */
typedef struct space {
    double *numbers; /* n^2 + 4n */
    double *scratch; /* n for each thread */
    int *whole;      /* 4n, and 5 times its size and 3 for each leaf */
} space;

/* d and Z, of n1 and n - n1 rows, each in ascending order by its part of `order`. */
static okra_status merge_two(okra_context *ctx, const space *s, int n1, double rho,
                             double *d, okra_mat_ Z, int *order)
{
    static const int forward = 1, backward = -1;
    int n = (int)Z.rows, ld = (int)Z.ld, info = 0, *whole = s->whole;
    double *z = s->numbers;
    merge m = {ctx,   n,         n1,        0,    d,          Z,         rho,          z,
               z + n, z + 2 * n, z + 3 * n, NULL, s->scratch, whole + n, whole + 2 * n};
    cblas_dcopy(n1, Z.p + n1 - 1, ld, z, 1);
    cblas_dcopy(n - n1, Z.p + n1 * Z.ld + n1, ld, z + n1, 1);
    LAPACK_GLOBAL(dlaed2, DLAED2)
    (&m.k, &n, &n1, d, Z.p, &ld, order, &m.rho, z, m.poles, m.w, m.parts, whole, m.place,
     whole + 3 * n, m.types, &info);
    REFUSE_IF(info != 0, OKRA_EINTERNAL, "eigh: LAPACK refused its argument %d", -info);
    if (m.k == 0) { /* nothing changes: dlaed2 has put all in order */
        for (int i = 0; i < n; i++) {
            order[i] = i + 1;
        }
        return OKRA_OK;
    }
    CHK(combine(&m));
    int kept = n - m.k;
    LAPACK_GLOBAL(dlamrg, DLAMRG)(&m.k, &kept, d, &forward, &backward, order);
    return OKRA_OK;
}

/* ---- the parts ---- */

typedef struct division {
    okra_int leaves; /* a power of two */
    double *d, *e;
    okra_mat_ Z;
    int *order;
    space space;
} division;

/* Halves of halves, the first never the larger one, as dlaed2 wants it. */
static okra_int begin_of(const division *v, okra_int leaf)
{
    okra_int first = 0, n = v->Z.rows;
    if (leaf == v->leaves) {
        return n;
    }
    for (okra_int leaves = v->leaves / 2; leaves > 0; leaves /= 2) {
        bool second = leaf >= leaves;
        first += second ? n / 2 : 0;
        leaf -= second ? leaves : 0;
        n = second ? n - n / 2 : n / 2;
    }
    return first;
}

static okra_status solve_leaves(void *arg, okra_int begin, okra_int end, int worker)
{
    const division *v = arg;
    for (okra_int k = begin; k < end; k++) {
        okra_int first = begin_of(v, k), n = begin_of(v, k + 1) - first;
        okra_int most = v->Z.rows / v->leaves + 1; /* rows of a leaf */
        double *work = v->space.numbers + k * (most * most + 4 * most + 1);
        lapack_int info =
            LAPACKE_dstedc_work(LAPACK_COL_MAJOR, 'I', (int)n, v->d + first, v->e + first,
                                v->Z.p + first * v->Z.ld + first, (int)v->Z.ld, work,
                                (int)(n * n + 4 * n + 1),
                                v->space.whole + k * (5 * most + 3), (int)(5 * n + 3));
        REFUSE_IF(info != 0, OKRA_ENUMERIC,
                  "eigh: LAPACK dstedc did not converge (info %d)", (int)info);
        for (okra_int i = 0; i < n; i++) {
            v->order[first + i] = (int)i + 1;
        }
    }
    return OKRA_OK;
}

/* T without the corners between leaves: T1 and T2 less |rho| where b is one. */
static void cut(const division *v)
{
    for (okra_int k = 1; k < v->leaves; k++) {
        okra_int at = begin_of(v, k);
        v->d[at - 1] -= fabs(v->e[at - 1]);
        v->d[at] -= fabs(v->e[at - 1]);
    }
}

static okra_status merge_leaves(okra_context *ctx, const division *v)
{
    for (okra_int step = 1; step < v->leaves; step *= 2) {
        for (okra_int k = 0; k < v->leaves; k += 2 * step) {
            okra_int first = begin_of(v, k), middle = begin_of(v, k + step);
            okra_int n = begin_of(v, k + 2 * step) - first;
            CHK(merge_two(ctx, &v->space, (int)(middle - first), v->e[middle - 1],
                          v->d + first, okra_mat_part_(v->Z, first, n, first, n),
                          v->order + first));
        }
    }
    return OKRA_OK;
}

/* Roots that are equal to rounding may come out exchanged: a few steps of insertion. */
static void sort_order(okra_int n, const double *d, int *order)
{
    for (okra_int i = 1; i < n; i++) {
        for (okra_int k = i; k > 0 && d[order[k] - 1] < d[order[k - 1] - 1]; k--) {
            OKRA_SWAP_(order[k], order[k - 1]);
        }
    }
}

okra_status okra_divide_(okra_context *ctx, okra_int leaves, double *d, double *e,
                         okra_mat_ Z, int *order)
{
    okra_int n = Z.rows, workers = okra_workers_(ctx);
    OWNED double *numbers = NULL, *scratch = NULL;
    OWNED int *whole = NULL;
    division v = {.leaves = 1, .d = d, .e = e, .Z = Z, .order = order};
    while (v.leaves < leaves && 4 * v.leaves <= n) {
        v.leaves *= 2;
    }
    okra_int most = n / v.leaves + 1;
    okra_int size = OKRA_MAX_(n * n + 4 * n, v.leaves * (most * most + 4 * most + 1));
    CHK(okra_doubles_(ctx, size, 1, "eigh: work space", &numbers));
    MAKE(scratch, n * workers);
    MAKE(whole, OKRA_MAX_(4 * n, v.leaves * (5 * most + 3)));
    v.space = (space){numbers, scratch, whole};
    okra_mat_fill_(Z, 0);
    cut(&v);
    CHK(okra_parallel_(ctx, v.leaves, 1, NULL, solve_leaves, &v));
    CHK(merge_leaves(ctx, &v));
    sort_order(n, d, order);
    return OKRA_OK;
}

enum { eigh_most = 32766 }; /* LAPACK counts work space, 1 + 6n + 2n^2, in ints */

/* Operations that are worth a thread more. */
static const double thread_work = 1e9;

/* ---- by LAPACK ---- */

/* LAPACK's columns of eigenvectors are our rows. Divide and conquer, the fastest, wants
 * 2 n^2 doubles of work space. */
static okra_status eigh_alone(okra_context *ctx, okra_mat_ A, double *w)
{
    okra_int n = A.rows, lwork = 1 + 6 * n + 2 * n * n, liwork = 3 + 5 * n;
    OWNED double *work = NULL;
    OWNED lapack_int *iwork = NULL;
    CHK(okra_doubles_(ctx, lwork, 1, "eigh: work space", &work));
    MAKE(iwork, liwork);
    lapack_int info =
        LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'U', (int)n, A.p, okra_blas_stride_(A),
                            w, work, (int)lwork, iwork, (int)liwork);
    REFUSE_IF(info != 0, OKRA_ENUMERIC, "eigh: LAPACK dsyevd did not converge (info %d)",
              (int)info);
    return OKRA_OK;
}

/* With relatively robust representations, which want n^2 doubles. The one place where
 * BLAS's own threads help, and spin: above eigh_most this takes minutes to hours. */
okra_status okra_eigh_large_(okra_context *ctx, okra_mat_ A, double *w)
{
    okra_int n = A.rows, lwork = 26 * n, liwork = 10 * n;
    OWNED double *work = NULL, *v = NULL;
    OWNED lapack_int *iwork = NULL;
    lapack_int found = 0;
    CHK(okra_doubles_(ctx, n, n, "eigh: eigenvectors", &v));
    MAKE(work, lwork);
    MAKE(iwork, liwork + 2 * n);
    okra_blas_hold_(okra_blas_team_(ctx, 9 * pow((double)n, 3), thread_work));
    lapack_int info = LAPACKE_dsyevr_work(
        LAPACK_COL_MAJOR, 'V', 'A', 'U', (int)n, A.p, okra_blas_stride_(A), 0, 0, 0, 0, 0,
        &found, w, v, (int)n, iwork + liwork, work, (int)lwork, iwork, (int)liwork);
    okra_blas_release_();
    REFUSE_IF(info != 0 || found != n, OKRA_ENUMERIC,
              "eigh: LAPACK dsyevr found %d of %lld eigenvalues (info %d)", (int)found,
              (long long)n, (int)info);
    return okra_mat_copy_(okra_mat_of_(v, n, n), A);
}

/* ---- on several threads ---- */

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
    for (okra_int i = begin; i < end; i++) {
        memcpy(r->A.p + i * r->A.ld, r->Z.p + (r->order[i] - 1) * r->Z.ld,
               (size_t)r->A.cols * sizeof(double));
    }
    return OKRA_OK;
}

okra_status okra_eigh_team_(okra_context *ctx, int team, okra_mat_ A, double *w)
{
    okra_int n = A.rows;
    OWNED double *room = NULL, *z = NULL;
    OWNED int *order = NULL;
    CHK(okra_doubles_(ctx, n, n, "eigh: eigenvectors", &z));
    MAKE(room, 3 * n);
    MAKE(order, n);
    double *d = room, *e = room + n, *tau = room + 2 * n;
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

/* ---- the choice ---- */

typedef struct decomposition {
    okra_context *ctx;
    okra_mat_ A;
    double *w;
} decomposition;

static okra_status run_eigh(void *arg)
{
    const decomposition *d = arg;
    okra_int n = d->A.rows;
    int team = okra_blas_team_(d->ctx, 9 * pow((double)n, 3), thread_work);
    if (n > eigh_most) {
        return okra_eigh_large_(d->ctx, d->A, d->w);
    }
    okra_blas_hold_(1);
    okra_status st = team > 1 ? okra_eigh_team_(d->ctx, team, d->A, d->w)
                              : eigh_alone(d->ctx, d->A, d->w);
    okra_blas_release_();
    return st;
}

okra_status okra_eigh_(okra_context *ctx, okra_mat_ A, double *w)
{
    decomposition d = {ctx, A, w};
    CHK(okra_blas_enter_(ctx, "eigh", 1, &A));
    CHK(okra_blas_finite_("eigh", true, A));
    return A.rows == 0 ? OKRA_OK
                       : okra_blas_watched_(ctx, OKRA_WORK_EIGEN_,
                                            9 * pow((double)A.rows, 3), run_eigh, &d);
}
