/*
 * Products and triangular solves of one row or column, which take a path of their own,
 * against sums written out; equal columns must have equal sums, whatever their place.
 * Tolerances are ten times the worst difference over 4 seeds.
 */
#include "matrices.h"

enum { K = 700, COLUMNS = 1100 };

static okra_context *with_threads(int threads)
{
    okra_context *ctx = new_context();
    CHECK_OK(okra_context_set_threads(ctx, threads));
    return ctx;
}

TEST(one_row_times_a_matrix)
{
    okra_random_ r = okra_random_create_(1, 0);
    okra_mat_ x = mat_random(&r, 1, K), B = mat_random(&r, K, COLUMNS), want[2];
    for (okra_int i = 0; i < K; i++) { /* equal columns */
        B.p[i * B.ld + 1097] = B.p[i * B.ld + 1023] = B.p[i * B.ld + 3];
    }
    okra_mat_ Bt = mat_random(&r, COLUMNS, K);
    CHECK_OK(okra_mat_transpose_(B, Bt));
    for (int t = 0; t < 2; t++) {
        want[t] = mat_random(&r, 1, COLUMNS);
        for (int threads = 1; threads < 4; threads++) {
            okra_context *ctx = with_threads(threads);
            okra_mat_ y = mat_random(&r, 1, COLUMNS), y0 = mat_clone(y);
            CHECK_OK(okra_gemm_(ctx, false, t == 1, 0.7, x, t ? Bt : B, -2, y));
            for (okra_int j = 0; j < COLUMNS; j++) {
                double sum = 0;
                for (okra_int i = 0; i < K; i++) {
                    sum += x.p[i] * B.p[i * B.ld + j];
                }
                CHECK_NEAR(y.p[j], 0.7 * sum - 2 * y0.p[j], 1e-11); /* 7e-13 at worst */
            }
            CHECK_OK(okra_gemm_(ctx, false, t == 1, 1, x, t ? Bt : B, 0, y));
            CHECK(y.p[3] == y.p[1023] && y.p[3] == y.p[1097]);
            if (threads == 1) {
                memcpy(want[t].p, y.p, COLUMNS * sizeof(double));
            }
            CHECK(memcmp(want[t].p, y.p, COLUMNS * sizeof(double)) == 0);
            y.p[0] = NAN; /* beta = 0: what was there does not count */
            CHECK_OK(okra_gemm_(ctx, false, t == 1, 1, x, t ? Bt : B, 0, y));
            CHECK(isfinite(y.p[0]));
            mat_free(y);
            mat_free(y0);
            okra_context_free(ctx);
        }
        mat_free(want[t]);
    }
    mat_free(x);
    mat_free(B);
    mat_free(Bt);
}

/* Residuals of L z = b and L'z = b, as a row on the right and as a column on the left. */
TEST(one_right_hand_side)
{
    okra_random_ r = okra_random_create_(2, 0);
    for (okra_int n = 256; n < 1300; n += 257) {
        okra_mat_ L = mat_random(&r, n, n);
        for (okra_int i = 0; i < n; i++) {
            for (okra_int j = 0; j < n; j++) {
                L.p[i * L.ld + j] *=
                    j <= i ? 0.02 : (double)NAN; /* above: not to be read */
            }
            L.p[i * L.ld + i] = 2 + 0.1 * (double)(i % 7);
        }
        for (int way = 0; way < 12; way++) {
            bool left = way & 1, trans = way & 2;
            okra_context *ctx = with_threads(1 + way / 4);
            okra_mat_ b = mat_random(&r, 1, n);
            okra_mat_ z = left ? okra_mat_of_(b.p, n, 1) : b;
            double *kept = okra_alloc_(n, sizeof *kept);
            memcpy(kept, b.p, (size_t)n * sizeof *kept);
            CHECK_OK(okra_trsm_(ctx, left, trans, L, z));
            bool transposed = left ? trans : !trans;
            for (okra_int i = 0; i < n; i++) {
                double sum = 0;
                for (okra_int j = transposed ? i : 0; j < (transposed ? n : i + 1); j++) {
                    sum += (transposed ? L.p[j * L.ld + i] : L.p[i * L.ld + j]) * z.p[j];
                }
                CHECK_NEAR(sum, kept[i], 1e-11); /* 1e-13 at worst */
            }
            okra_free_(kept);
            mat_free(b);
            okra_context_free(ctx);
        }
        mat_free(L);
    }
}

/* Solves by the inverse of a factor against substitution, of sizes around groups of rows;
 * what is above the diagonal is not read, and the number of threads changes nothing. */
TEST(one_right_hand_side_by_the_inverse)
{
    const okra_int many[] = {1, 2, 7, 8, 9, 63, 255, 256, 257, 700};
    okra_random_ r = okra_random_create_(3, 0);
    for (size_t k = 0; k < sizeof many / sizeof *many; k++) {
        okra_int n = many[k];
        okra_mat_ A = mat_random(&r, n, n), b = mat_random(&r, 1, n), want = mat_clone(b);
        double *T = okra_alloc_(okra_inverse_count_(n), sizeof *T), *first = NULL;
        for (okra_int i = 0; i < n; i++) {
            for (okra_int j = 0; j < n; j++) {
                double *a = A.p + i * A.ld + j;
                *a = j > i    ? (double)NAN
                     : j == i ? 1 + 0.1 * (double)(i % 7)
                              : 0.3 * *a / sqrt((double)n);
            }
        }
        CHECK_OK(okra_cholesky_solve_rows_(NULL, A, want));
        CHECK_OK(okra_inverse_(NULL, A, T));
        for (int threads = 1; threads < 4; threads++) {
            okra_context *ctx = with_threads(threads);
            okra_mat_ x = mat_clone(b);
            CHECK_OK(okra_inverse_row_(ctx, n, T, x.p));
            for (okra_int i = 0; i < n; i++) {
                CHECK_NEAR(x.p[i], want.p[i], 1e-12); /* 2e-14 at worst */
            }
            first = first ? first : memcpy(okra_alloc_(n, 8), x.p, (size_t)n * 8);
            for (okra_int i = 0; i < n; i++) {
                CHECK(x.p[i] == first[i]);
            }
            mat_free(x);
            okra_context_free(ctx);
        }
        okra_free_(first);
        okra_free_(T);
        mat_free(A);
        mat_free(b);
        mat_free(want);
    }
}

MAIN(RUN(one_row_times_a_matrix), RUN(one_right_hand_side),
     RUN(one_right_hand_side_by_the_inverse))
