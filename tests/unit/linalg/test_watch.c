/*
 * Watched operations: each names its phase, is reported until its end, and gives the bits
 * that it gives unheard.
 */
#include "heard.h"
#include "matrices.h"

enum { N = 90, COLS = 40 };

/* One operation on A (N x N, positive definite) and B (N x COLS), results into them. */
typedef okra_status (*operation)(okra_context *ctx, okra_mat_ A, okra_mat_ B, double *w);

static okra_status gemm(okra_context *ctx, okra_mat_ A, okra_mat_ B, double *w)
{
    (void)w;
    return okra_gemm_(ctx, true, false, 1, okra_mat_part_(A, 0, COLS, 0, N),
                      okra_mat_part_(A, 0, COLS, 0, COLS), 0, B);
}

static okra_status syrk(okra_context *ctx, okra_mat_ A, okra_mat_ B, double *w)
{
    (void)w;
    return okra_syrk_(ctx, false, 1, B, 0, A);
}

static okra_status cholesky(okra_context *ctx, okra_mat_ A, okra_mat_ B, double *w)
{
    (void)B, (void)w;
    return okra_cholesky_(ctx, A, NULL);
}

static okra_status trsm(okra_context *ctx, okra_mat_ A, okra_mat_ B, double *w)
{
    (void)w;
    return okra_trsm_(ctx, true, false, A, B);
}

static okra_status eigh(okra_context *ctx, okra_mat_ A, okra_mat_ B, double *w)
{
    (void)B;
    return okra_eigh_(ctx, A, w);
}

static okra_status svd(okra_context *ctx, okra_mat_ A, okra_mat_ B, double *w)
{
    return okra_svd_(ctx, B, okra_mat_part_(A, 0, N, 0, COLS), w,
                     okra_mat_part_(A, 0, COLS, COLS, COLS));
}

static okra_status solve(okra_context *ctx, okra_mat_ A, okra_mat_ B, double *w)
{
    (void)w;
    return okra_solve_general_(ctx, A, B);
}

static const struct {
    operation run;
    const char *what;
} operations[] = {{gemm, "products"}, {syrk, "products"},     {cholesky, "factor"},
                  {trsm, "solve"},    {eigh, "eigenvectors"}, {svd, "singular values"},
                  {solve, "factor"}};

static okra_mat_ definite(okra_random_ *r)
{
    okra_mat_ A = mat_random(r, N, N);
    for (okra_int i = 0; i < N; i++) {
        for (okra_int j = 0; j <= i; j++) {
            A.p[j * A.ld + i] = A.p[i * A.ld + j];
        }
        A.p[i * A.ld + i] += 4 * N;
    }
    return A;
}

static bool same(okra_mat_ A, okra_mat_ B)
{
    int other = 0;
    for (okra_int i = 0; i < A.rows; i++) {
        other +=
            memcmp(A.p + i * A.ld, B.p + i * B.ld, (size_t)A.cols * sizeof(double)) != 0;
    }
    return other == 0;
}

static void check(operation run, const char *what)
{
    okra_random_ r = okra_random_create_(1, 2);
    okra_context *told = new_context(), *mute = new_context();
    okra_mat_ A = definite(&r), B = mat_random(&r, N, COLS);
    okra_mat_ A2 = mat_clone(A), B2 = mat_clone(B);
    double w[N] = {0}, w2[N] = {0};
    heard h = {.count = 0};
    okra_context_set_progress(told, hear, &h);
    CHECK_OK(run(told, A, B, w));
    CHECK_OK(run(mute, A2, B2, w2));
    CHECK_TEXT(h.what, what);
    CHECK(h.count >= 2 && h.last == h.total && h.total > 0);
    CHECK(same(A, A2) && same(B, B2) && memcmp(w, w2, sizeof w) == 0);
    mat_free(A);
    mat_free(B);
    mat_free(A2);
    mat_free(B2);
    okra_context_free(told);
    okra_context_free(mute);
}

TEST(every_operation_is_watched_and_keeps_its_bits)
{
    okra_watch_least_ = 0;
    for (size_t k = 0; k < sizeof operations / sizeof *operations; k++) {
        check(operations[k].run, operations[k].what);
    }
}

TEST(small_work_is_not_told)
{
    okra_random_ r = okra_random_create_(1, 2);
    okra_context *told = new_context();
    okra_mat_ A = definite(&r);
    heard h = {.count = 0};
    okra_watch_least_ = 1;
    okra_context_set_progress(told, hear, &h);
    CHECK_OK(okra_cholesky_(told, A, NULL));
    CHECK(h.count == 0);
    mat_free(A);
    okra_context_free(told);
}

MAIN(RUN(every_operation_is_watched_and_keeps_its_bits), RUN(small_work_is_not_told))
