/*
 * What linear algebra does at its limits: indices beyond 32 bits, sizes BLAS cannot
 * count, numbers that are not finite, matrices that are not
 * definite or not invertible, memory that runs out, and BLAS threads inside and outside
 * of loops.
 */
#include "matrices.h"

#include <cblas.h>
#include <limits.h>
#include <sys/mman.h>

/* ---- sizes ---- */

/* rows x cols with a stride so long that element (2, 0) lies beyond 2^31 elements: 24 GiB
 * of addresses, of which only the touched pages exist */
static const okra_int far_stride = ((okra_int)1 << 30) + 8;
enum { far_rows = 3 };

static okra_mat_ far_matrix(okra_int cols)
{
    size_t bytes = (size_t)(far_rows * far_stride) * sizeof(double);
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return (okra_mat_){p == MAP_FAILED ? NULL : p, far_rows, cols, far_stride};
}

static void far_free(okra_mat_ A)
{
    munmap(A.p, (size_t)(A.rows * A.ld) * sizeof(double));
}

/* A = 4 I + ones (3 x 3) in every far view */
static void far_fill(okra_mat_ A)
{
    okra_mat_fill_(A, 1);
    okra_mat_add_diagonal_(A, 4);
}

static void far_operations(okra_context *ctx, okra_mat_ A, okra_mat_ B)
{
    double w[far_rows], jitter, u[9], s[3], v[9];
    okra_mat_ near = okra_mat_of_(u, 3, 3), vt = okra_mat_of_(v, 3, 3);
    const double last = 5; /* element (2, 2) */

    far_fill(A);
    CHECK_OK(okra_mat_copy_(A, near));
    CHECK_OK(okra_mat_transpose_(A, B));
    CHECK(at(B, false, 2, 2) == last && at(B, false, 2, 0) == 1);
    CHECK_OK(okra_gemm_(ctx, false, false, 1, A, near, 0, B)); /* A^2 = 16 I + 11 ones */
    CHECK_NEAR(at(B, false, 2, 2), 27, 1e-13);
    CHECK_OK(okra_syrk_(ctx, true, 1, A, 0, B));
    CHECK_NEAR(at(B, false, 2, 0), 11, 1e-13);
    CHECK_NEAR(at(B, false, 0, 2), 11, 1e-13);
    CHECK_OK(okra_cholesky_(ctx, A, &jitter));
    CHECK_OK(okra_mat_copy_(near, B));
    CHECK_OK(okra_cholesky_solve_(ctx, A, B));
    CHECK_NEAR(at(B, false, 2, 2), 1, 1e-15);
    CHECK_NEAR(at(B, false, 2, 0), 0, 1e-15);
    CHECK_OK(okra_mat_copy_(near, B));
    CHECK_OK(okra_cholesky_solve_rows_(ctx, A, B));
    CHECK_NEAR(at(B, false, 2, 2), 1, 1e-15);

    far_fill(A);
    CHECK_OK(okra_eigh_(ctx, A, w));
    CHECK_NEAR(w[0], 4, 1e-14);
    CHECK_NEAR(w[2], 7, 1e-14);
    CHECK_NEAR(fabs(at(A, false, 2, 2)), sqrt(1.0 / 3), 1e-14);

    far_fill(A);
    CHECK_OK(okra_mat_copy_(near, B));
    CHECK_OK(okra_solve_general_(ctx, A, B));
    CHECK_NEAR(at(B, false, 2, 2), 1, 1e-15);

    far_fill(A);
    CHECK_FAILS(okra_svd_(ctx, A, B, s, vt), OKRA_EUNSUPPORTED,
                "svd: A is 3 x 3 with row stride 1073741832; LAPACK takes at most "
                "2147483647 elements");
    CHECK_OK(okra_eigh_large_(ctx, A, w));
    CHECK_NEAR(fabs(at(A, false, 2, 2)), sqrt(1.0 / 3), 1e-14);
}

TEST(far_indices)
{
    okra_mat_ A = far_matrix(3), B = far_matrix(3);
    if (!A.p || !B.p) {
        SKIP("no 24 GiB of addresses");
    }
    okra_context *ctx = new_context();
    far_operations(ctx, A, B);
    okra_context_free(ctx);
    far_free(A);
    far_free(B);
}

/* Sizes above INT_MAX never reach BLAS. */
TEST(narrowing)
{
    double x[4] = {1, 2, 3, 4}, c[4], s[2];
    okra_int over = (okra_int)INT_MAX + 1;
    okra_mat_ wide = {x, 1, 2, over}, tall = {x, over, 0, 0}, C = okra_mat_of_(c, 1, 1);
    okra_mat_ two = {x, 2, 2, over};

    CHECK_FAILS(okra_gemm_(NULL, false, true, 1, wide, wide, 0, C), OKRA_EUNSUPPORTED,
                "gemm: a matrix of 1 x 2 with row stride 2147483648; BLAS takes at most "
                "2147483647");
    CHECK_FAILS(okra_gemm_(NULL, true, false, 1, tall, tall, 0, okra_mat_of_(c, 0, 0)),
                OKRA_EUNSUPPORTED, "a matrix of 2147483648 x 0");
    CHECK_FAILS(okra_syrk_(NULL, false, 1, wide, 0, C), OKRA_EUNSUPPORTED, "syrk: a");
    CHECK_FAILS(okra_cholesky_(NULL, two, NULL), OKRA_EUNSUPPORTED, "cholesky: a");
    CHECK_FAILS(okra_trsm_(NULL, true, false, two, two), OKRA_EUNSUPPORTED, "trsm: a");
    CHECK_FAILS(okra_eigh_(NULL, two, s), OKRA_EUNSUPPORTED, "eigh: a");
    CHECK_FAILS(okra_svd_(NULL, two, two, s, two), OKRA_EUNSUPPORTED, "svd: a");
    CHECK_FAILS(okra_solve_general_(NULL, two, two), OKRA_EUNSUPPORTED, "solve: a");
}

/* ---- numbers ---- */

static void warned(void *user, const char *text)
{
    snprintf(user, 300, "%s", text);
}

TEST(jitter)
{
    enum { n = 30, d = 4 };
    char warning[300];
    okra_context *ctx = new_context();
    okra_random_ r = okra_random_create_(7, 0);
    okra_mat_ X = mat_random(&r, n, d), A = mat_random(&r, n, n);
    double jitter = -1, mean = 0;
    okra_context_set_warning(ctx, warned, warning);
    CHECK_OK(okra_syrk_(ctx, false, 1, X, 0, A)); /* of rank 4 */
    okra_mat_add_diagonal_(A, -1e-11);            /* and surely not definite */
    for (okra_int i = 0; i < n; i++) {
        mean += at(A, false, i, i) / n;
    }
    okra_mat_ L = mat_clone(A), G = mat_clone(A);
    strcpy(warning, "");
    CHECK_OK(okra_cholesky_(ctx, L, &jitter));
    /* the first of eps mean 10^k that is above 1e-11 (mean is near 4) */
    double want = DBL_EPSILON * mean;
    while (want < 1e-11) {
        want *= 10;
    }
    CHECK_NEAR(jitter / want, 1, 1e-12);
    CHECK(strstr(warning, "30 x 30 matrix is not positive definite to rounding"));
    okra_mat_add_diagonal_(G, jitter);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = i + 1; j < n; j++) {
            CHECK(at(L, false, i, j) == at(A, false, i, j));
            L.p[i * L.ld + j] = 0;
        }
    }
    /* L L' = A + jitter I; worst 0.8 eps max|A| */
    CHECK_NEAR(product_error(L, false, L, true, G, norm_of(G)), 0, 8);
    mat_free(X);
    mat_free(A);
    mat_free(L);
    mat_free(G);
    okra_context_free(ctx);
}

TEST(not_definite)
{
    okra_context *ctx = new_context();
    double jitter = -1, a[] = {1, 2, 2, 1}, zero[] = {0}, nan[] = {1, NAN, NAN, 1};
    double inf[] = {INFINITY, 0, 0, 1}, late[] = {1, 0, 0, NAN};
    CHECK_FAILS(okra_cholesky_(ctx, okra_mat_of_(a, 2, 2), &jitter), OKRA_ENUMERIC,
                "2 x 2 matrix is not positive definite, not even with 0.0001 (1e-04");
    CHECK_FAILS(okra_cholesky_(ctx, okra_mat_of_(zero, 1, 1), &jitter), OKRA_ENUMERIC,
                "not positive definite");
    CHECK_FAILS(okra_cholesky_(ctx, okra_mat_of_(nan, 2, 2), &jitter), OKRA_ENUMERIC,
                "element (1, 0) of A is nan");
    CHECK_FAILS(okra_cholesky_(ctx, okra_mat_of_(inf, 2, 2), &jitter), OKRA_ENUMERIC,
                "element (0, 0) of A is inf");
    CHECK_FAILS(okra_cholesky_(ctx, okra_mat_of_(late, 2, 2), &jitter), OKRA_ENUMERIC,
                "element (1, 1) of A is nan");
    CHECK(jitter == -1);
    okra_context_free(ctx);
}

/* Without jitter: a factor, or the matrix as it was. */
TEST(tried)
{
    okra_context *ctx = new_context();
    double good[] = {4, 2, 2, 5}, bad[] = {1, 2, 2, 1};
    bool done = false;
    CHECK_OK(okra_cholesky_try_(ctx, okra_mat_of_(good, 2, 2), &done));
    CHECK(done && good[0] == 2 && good[1] == 2 && good[2] == 1 && good[3] == 2);
    CHECK_OK(okra_cholesky_try_(ctx, okra_mat_of_(bad, 2, 2), &done));
    CHECK(!done && bad[0] == 1 && bad[1] == 2 && bad[2] == 2 && bad[3] == 1);
    CHECK_OK(okra_cholesky_try_(ctx, okra_mat_of_(NULL, 0, 0), &done));
    CHECK(done);
    okra_context_free(ctx);
}

TEST(not_finite_or_singular)
{
    double nan[] = {1, 0, NAN, 1}, s[2], u[4], v[4];
    okra_mat_ A = okra_mat_of_(nan, 2, 2);
    CHECK_FAILS(okra_eigh_(NULL, A, s), OKRA_ENUMERIC,
                "eigh: element (1, 0) of A is nan");
    CHECK_FAILS(okra_svd_(NULL, A, okra_mat_of_(u, 2, 2), s, okra_mat_of_(v, 2, 2)),
                OKRA_ENUMERIC, "svd: element (1, 0)");
    CHECK_FAILS(okra_solve_general_(NULL, A, A), OKRA_ENUMERIC, "solve: element (1");
    okra_context *ctx = new_context();
    double singular[] = {1, 2, 2, 4}, rhs[] = {1, 1};
    CHECK_FAILS(
        okra_solve_general_(ctx, okra_mat_of_(singular, 2, 2), okra_mat_of_(rhs, 2, 1)),
        OKRA_ENUMERIC, "the 2 x 2 matrix is singular (pivot 2 is 0)");
    okra_context_free(ctx);
}

/* ---- helpers ---- */

TEST(helpers)
{
    okra_random_ r = okra_random_create_(9, 0);
    for (int t = 0; t < n_sizes * n_sizes; t++) {
        okra_int m = sizes[t % n_sizes], n = sizes[t / n_sizes];
        okra_mat_ A = mat_random(&r, m, n), B = mat_random(&r, n, m), C = mat_clone(A);
        CHECK_OK(okra_mat_transpose_(A, B));
        okra_mat_add_diagonal_(C, 2);
        for (okra_int i = 0; i < m; i++) {
            for (okra_int j = 0; j < n; j++) {
                CHECK(at(B, false, j, i) == at(A, false, i, j));
                CHECK(at(C, false, i, j) == at(A, false, i, j) + (i == j ? 2 : 0));
            }
        }
        if (m == n) {
            okra_mat_mirror_(C);
            for (okra_int i = 0; i < m; i++) {
                for (okra_int j = 0; j < n; j++) {
                    okra_int hi = OKRA_MAX_(i, j), lo = OKRA_MIN_(i, j);
                    CHECK(at(C, false, i, j) == at(A, false, hi, lo) + (i == j ? 2 : 0));
                }
            }
        }
        mat_free(A);
        mat_free(B);
        mat_free(C);
    }
    double a[] = {1, 2, 3, 4, 5, 6, 7}, b[] = {7, 6, 5, 4, 3, 2, 1};
    CHECK(okra_dot_(0, a, b) == 0);
    CHECK(okra_dot_(3, a, b) == 34);
    CHECK(okra_dot_(7, a, b) == 84);
}

/* ---- memory, threads, cancellation ---- */

TEST(memory)
{
    enum { n = 9 };
    okra_random_ r = okra_random_create_(11, 0);
    okra_mat_ X = mat_random(&r, n + 2, n), A = mat_random(&r, n, n), L = mat_clone(A);
    okra_mat_ U = mat_clone(X), Vt = mat_clone(A), W = mat_clone(X), B = mat_clone(A);
    double s[n];
    okra_context *ctx = new_context();
    CHECK_ALLOCATIONS(okra_syrk_(ctx, true, 1, X, 0, A), (void)0);
    CHECK_ALLOCATIONS(okra_gemm_(ctx, true, false, 1, X, X, 0, B), (void)0);
    CHECK_OK(okra_mat_copy_(A, L));
    CHECK_ALLOCATIONS(okra_cholesky_(ctx, L, NULL), (void)0);
    CHECK_ALLOCATIONS(okra_cholesky_solve_(ctx, L, B), (void)0);
    CHECK_ALLOCATIONS(okra_eigh_(ctx, L, s), (void)0);
    CHECK_ALLOCATIONS(okra_eigh_large_(ctx, L, s), (void)0);
    CHECK_OK(okra_mat_copy_(X, W));
    CHECK_ALLOCATIONS(okra_svd_(ctx, W, U, s, Vt), (void)0);
    CHECK_OK(okra_mat_copy_(A, L));
    CHECK_ALLOCATIONS(okra_solve_general_(ctx, L, B), (void)0);
    CHECK_OK(okra_context_set_memory(ctx, okra_account_bytes_(ctx) + 100));
    CHECK_FAILS(okra_eigh_(ctx, L, s), OKRA_EBUDGET, "eigh");
    CHECK_FAILS(okra_eigh_large_(ctx, L, s), OKRA_EBUDGET, "eigh");
    CHECK_FAILS(okra_svd_(ctx, W, U, s, Vt), OKRA_EBUDGET, "svd");
    okra_context_cancel(ctx);
    CHECK_FAILS(okra_gemm_(ctx, true, false, 1, X, X, 0, B), OKRA_ECANCELLED, NULL);
    okra_context_free(ctx);
    okra_mat_ all[] = {X, A, L, U, Vt, W, B};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        mat_free(all[i]);
    }
}

static okra_status product_in_loop(void *arg, okra_int begin, okra_int end, int worker)
{
    double x = 2, *threads = arg;
    okra_mat_ one = okra_mat_of_(&x, 1, 1);
    okra_status st = OKRA_OK;
    (void)end;
    (void)worker;
    TRY(okra_gemm_(NULL, false, false, 1, one, one, 0,
                   okra_mat_of_(&threads[begin], 1, 1)));
    threads[begin] = openblas_get_num_threads();
done:
    return st;
}

TEST(threads)
{
    double x = 2, y, threads[8];
    okra_mat_ one = okra_mat_of_(&x, 1, 1);
    okra_context *ctx = new_context();
    for (int n = 1; n <= 2; n++) {
        CHECK_OK(okra_context_set_threads(ctx, n));
        openblas_set_num_threads(3 - n); /* of the program, which keeps it */
        CHECK_OK(okra_gemm_(ctx, false, false, 1, one, one, 0, okra_mat_of_(&y, 1, 1)));
        CHECK(y == 4);
        CHECK(openblas_get_num_threads() == 3 - n);
        CHECK_OK(okra_parallel_(ctx, 8, 1, NULL, product_in_loop, threads));
        for (int i = 0; i < 8; i++) {
            CHECK(threads[i] == 1);
        }
        CHECK(openblas_get_num_threads() == 3 - n);
    }
    okra_context_free(ctx);
}

MAIN(RUN(far_indices), RUN(narrowing), RUN(jitter), RUN(not_definite), RUN(tried),
     RUN(not_finite_or_singular), RUN(helpers), RUN(memory), RUN(threads))
