/* Every verb of an engine against naive loops: host, and the one that OKRA_TEST_ENGINE
 * names. */
#include "pairs_of.h"

TEST(put_and_get)
{
    setup();
    for (int s = 0; s < SIZES; s++) {
        okra_int n = sizes[s];
        pair a = random_pair(n, n + 3), b = random_pair(n + 3, n);
        CHECK(far(&a) == 0);
        CHECK_OK(okra_matrix_copy_(ctx, true, a.A, b.A));
        for (okra_int k = 0; k < n * (n + 3); k++) {
            b.p[k % (n + 3) * n + k / (n + 3)] = a.p[k];
        }
        CHECK(far(&b) == 0);
        double part[2] = {0};
        okra_mat_ some = okra_mat_of_(part, 1, 2);
        CHECK_OK(okra_matrix_get_(ctx, a.A, n - 1, n + 1, some));
        CHECK(part[0] == a.p[(n - 1) * (n + 3) + n + 1]);
        CHECK(part[1] == a.p[(n - 1) * (n + 3) + n + 2]);
        part[0] = a.p[1] = 42;
        CHECK_OK(okra_matrix_put_(ctx, okra_mat_of_(part, 1, 1), 0, 1, a.A));
        CHECK(far(&a) == 0);
        double *taken = NULL;
        CHECK_OK(okra_matrix_take_(ctx, &a.A, "a test", &taken));
        CHECK(a.A == NULL);
        CHECK(harness_relative(n * (n + 3), taken, a.p) == 0);
        okra_free_(taken);
        drop(&a);
        drop(&b);
    }
    finish();
}

TEST(a_block_with_a_stride_is_borrowed)
{
    double block[12], got[6];
    okra_matrix_ *A = NULL;
    setup();
    harness_normals(&source, 12, block);
    CHECK_OK(okra_matrix_borrow_(ctx, okra_mat_view_(block, 3, 2, 4), &A));
    CHECK(A->rows == 3 && A->cols == 2);
    CHECK_OK(okra_matrix_get_(ctx, A, 0, 0, okra_mat_of_(got, 3, 2)));
    for (int k = 0; k < 6; k++) {
        CHECK(got[k] == block[k / 2 * 4 + k % 2]);
    }
    okra_matrix_free_(A);
    finish();
}

TEST(elementwise)
{
    setup();
    for (int s = 0; s < SIZES; s++) {
        okra_int n = sizes[s], m = n + 2;
        pair a = random_pair(n, m), b = random_pair(n, m);
        double *r = okra_alloc_(n, sizeof *r), *c = okra_alloc_(m, sizeof *c);
        harness_normals(&source, n, r);
        harness_normals(&source, m, c);
        CHECK_OK(okra_matrix_scale_(ctx, r, c, a.A));
        for (okra_int k = 0; k < n * m; k++) {
            a.p[k] *= r[k / m] * c[k % m];
        }
        CHECK_NEAR(far(&a), 0, CLOSE);
        CHECK_OK(okra_matrix_scale_(ctx, NULL, c, a.A));
        CHECK_OK(okra_matrix_scale_(ctx, r, NULL, a.A));
        for (okra_int k = 0; k < n * m; k++) {
            a.p[k] *= r[k / m] * c[k % m];
        }
        CHECK_NEAR(far(&a), 0, CLOSE);
        CHECK_OK(
            okra_matrix_combine_(ctx, OKRA_COMBINE_SUM_, 2, -3, NULL, NULL, b.A, a.A));
        for (okra_int k = 0; k < n * m; k++) {
            a.p[k] = 2 * a.p[k] - 3 * b.p[k];
        }
        CHECK_NEAR(far(&a), 0, CLOSE);
        CHECK_OK(
            okra_matrix_combine_(ctx, OKRA_COMBINE_PRODUCT_, 0, 0, NULL, NULL, b.A, a.A));
        for (okra_int k = 0; k < n * m; k++) {
            a.p[k] *= b.p[k];
        }
        CHECK_NEAR(far(&a), 0, CLOSE);
        CHECK_OK(
            okra_matrix_combine_(ctx, OKRA_COMBINE_POWER_, 3, 0, NULL, NULL, NULL, a.A));
        for (okra_int k = 0; k < n * m; k++) {
            a.p[k] = a.p[k] * a.p[k] * a.p[k];
        }
        CHECK_NEAR(far(&a), 0, CLOSE);
        for (okra_int k = 0; k < n * m; k++) {
            r[k / m] = fabs(r[k / m]);
            c[k % m] = fabs(c[k % m]);
            a.p[k] = b.p[k] / (r[k / m] * c[k % m] + 0.5);
        }
        CHECK_OK(okra_matrix_combine_(ctx, OKRA_COMBINE_DIVIDE_, 0.5, 0, r, c, b.A, a.A));
        CHECK_NEAR(far(&a), 0, CLOSE);
        CHECK_OK(okra_matrix_fill_(ctx, 7, a.A));
        CHECK_OK(okra_matrix_add_diagonal_(ctx, 0.5, a.A));
        for (okra_int k = 0; k < n * m; k++) {
            a.p[k] = 7 + (k / m == k % m ? 0.5 : 0);
        }
        CHECK(far(&a) == 0);
        CHECK_OK(okra_matrix_diagonal_(ctx, a.A, r));
        CHECK(r[0] == 7.5 && r[n - 1] == 7.5);
        drop(&a);
        drop(&b);
        okra_free_(r);
        okra_free_(c);
    }
    finish();
}

TEST(reductions)
{
    setup();
    for (int s = 0; s < SIZES; s++) {
        okra_int n = sizes[s], m = n + 2, index[3 * 65];
        pair a = random_pair(n, m), b = random_pair(n, m);
        double sums[65], want = 0, got = 0, value[3 * 65], offset[67];
        CHECK_OK(okra_matrix_row_sums_(ctx, a.A, sums));
        for (okra_int i = 0; i < n; i++) {
            double sum = 0;
            for (okra_int j = 0; j < m; j++) {
                sum += a.p[i * m + j];
                want += a.p[i * m + j] * b.p[i * m + j];
            }
            CHECK_NEAR(sums[i], sum, 1e-12);
        }
        CHECK_OK(okra_matrix_dot_(ctx, a.A, b.A, &got));
        CHECK_NEAR(got, want, 1e-11);
        harness_normals(&source, m, offset);
        okra_int k = 3;
        CHECK_OK(okra_matrix_best_(ctx, a.A, offset, k, index, value));
        for (okra_int i = 0; i < n; i++) {
            for (okra_int t = 0; t < k; t++) {
                okra_int j = index[i * k + t], above = 0;
                double v = a.p[i * m + j] + offset[j];
                CHECK_NEAR(value[i * k + t], v, 1e-14);
                for (okra_int o = 0; o < m; o++) {
                    above += a.p[i * m + o] + offset[o] > v;
                }
                CHECK(above == t);
            }
        }
        drop(&a);
        drop(&b);
    }
    finish();
}

/* Lists of lengths that no block of pairs divides, and matrices of every size. */
TEST(inner_products_of_lists)
{
    enum { P = 11, Q = 5 };
    setup();
    for (int s = 0; s < SIZES; s++) {
        okra_int n = sizes[s], m = n + 3;
        pair all[P + Q];
        okra_matrix_ *list[P + Q];
        double got[P * Q];
        for (int k = 0; k < P + Q; k++) {
            all[k] = random_pair(n, m);
            list[k] = all[k].A;
        }
        for (okra_int p = 1; p <= P; p += 5) {
            CHECK_OK(okra_matrix_dots_(ctx, p, list, Q, list + P, got));
            for (okra_int k = 0; k < p * Q; k++) {
                CHECK_NEAR(got[k], okra_dot_(n * m, all[k / Q].p, all[P + k % Q].p),
                           1e-10);
            }
        }
        CHECK_OK(okra_matrix_dots_(ctx, 0, list, Q, list + P, NULL));
        for (int k = 0; k < P + Q; k++) {
            drop(&all[k]);
        }
    }
    finish();
}

TEST(ties_go_to_the_lower_column)
{
    okra_int index[2];
    double same[4] = {1, 2, 2, 2}, value[2];
    okra_matrix_ *A = NULL;
    setup();
    CHECK_OK(okra_matrix_borrow_(ctx, okra_mat_of_(same, 1, 4), &A));
    CHECK_OK(okra_matrix_best_(ctx, A, NULL, 2, index, value));
    CHECK(index[0] == 1 && index[1] == 2 && value[0] == 2 && value[1] == 2);
    okra_matrix_free_(A);
    finish();
}

TEST(centring)
{
    setup();
    for (int s = 0; s < SIZES; s++) {
        okra_int n = sizes[s];
        pair a = definite_pair(n, 1);
        double mean[65], row[65], all = 0;
        for (okra_int i = 0; i < n; i++) {
            row[i] = 0;
            for (okra_int j = 0; j < n; j++) {
                row[i] += a.p[i * n + j] / (double)n;
            }
            all += row[i] / (double)n;
        }
        CHECK_OK(okra_matrix_center_(ctx, mean, a.A));
        for (okra_int k = 0; k < n * n; k++) {
            a.p[k] += all - row[k / n] - row[k % n];
        }
        CHECK(harness_relative(n, mean, row) <= CLOSE);
        CHECK(n == 1 || far(&a) <= CLOSE);
        CHECK_OK(okra_matrix_center_(ctx, NULL, a.A));
        CHECK(n == 1 || far(&a) <= CLOSE);
        drop(&a);
    }
    finish();
}

TEST(empty_matrices)
{
    okra_matrix_ *A = NULL, *B = NULL, *C = NULL;
    double got[4] = {1, 1, 1, 1}, sum = 1, jitter = 1, *taken = NULL;
    setup();
    CHECK_OK(okra_matrix_create_(ctx, 0, 0, "a test", &A));
    CHECK_OK(okra_matrix_create_(ctx, 2, 0, "a test", &B));
    CHECK_OK(okra_matrix_create_(ctx, 2, 2, "a test", &C));
    CHECK_OK(okra_matrix_fill_(ctx, 3, C));
    CHECK_OK(okra_matrix_cholesky_(ctx, A, &jitter));
    CHECK_OK(okra_matrix_eigh_(ctx, A, NULL));
    CHECK_OK(okra_matrix_center_(ctx, NULL, A));
    CHECK_OK(okra_matrix_row_sums_(ctx, B, got));
    CHECK(got[0] == 0 && got[1] == 0);
    CHECK_OK(okra_matrix_dot_(ctx, B, B, &sum));
    CHECK(sum == 0);
    sum = 1;
    CHECK_OK(okra_matrix_dots_(ctx, 1, &B, 1, &B, &sum));
    CHECK(sum == 0);
    CHECK_OK(okra_matrix_gemm_(ctx, false, true, 1, B, B, 2, C));
    CHECK_OK(okra_matrix_get_(ctx, C, 0, 0, okra_mat_of_(got, 2, 2)));
    CHECK(got[0] == 6 && got[3] == 6);
    CHECK_OK(okra_matrix_syrk_(ctx, false, 1, B, 0, C));
    CHECK_OK(okra_matrix_get_(ctx, C, 0, 0, okra_mat_of_(got, 2, 2)));
    CHECK(got[0] == 0 && got[3] == 0);
    CHECK_OK(okra_matrix_take_(ctx, &B, "a test", &taken));
    CHECK(taken != NULL);
    okra_free_(taken);
    okra_matrix_free_(A);
    okra_matrix_free_(C);
    finish();
}

/* Terms of many sizes, each of one process; put compares the bits of all processes. */
TEST(sums_over_processes)
{
    enum { TERMS = 13, MOST = (1 << 20) + 3 };
    static const okra_int counts[] = {1, 7, 999, 40000, MOST};
    setup();
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        okra_int n = counts[c], first = 0, mine = 0;
        double *got = okra_zalloc_(n, sizeof *got), *want = okra_zalloc_(n, sizeof *want);
        double *size = okra_zalloc_(n, sizeof *size), worst = 0;
        okra_matrix_ *A = NULL;
        CHECK(got && want && size);
        okra_engine_share_(ctx, TERMS, &first, &mine);
        for (okra_int t = 0; t < TERMS; t++) {
            double scale = pow(10, (double)(t % 5 - 2));
            for (okra_int k = 0; k < n; k++) {
                double term = scale * ((double)((k + 1) * (t + 3) % 997) - 498);
                want[k] += term;
                size[k] += fabs(term);
                got[k] += t >= first && t < first + mine ? term : 0;
            }
        }
        CHECK_OK(okra_engine_sum_(ctx, n, got));
        for (okra_int k = 0; k < n; k++) {
            worst = fmax(worst, fabs(got[k] - want[k]) / size[k]);
        }
        CHECK_NEAR(worst, 0, 1e-15);
        CHECK_OK(okra_matrix_create_(ctx, 1, n, "a test", &A));
        CHECK_OK(okra_matrix_put_(ctx, okra_mat_of_(got, 1, n), 0, 0, A));
        okra_matrix_free_(A);
        okra_free_(got);
        okra_free_(want);
        okra_free_(size);
    }
    finish();
}

MAIN(RUN(put_and_get), RUN(a_block_with_a_stride_is_borrowed), RUN(elementwise),
     RUN(reductions), RUN(inner_products_of_lists), RUN(ties_go_to_the_lower_column),
     RUN(centring), RUN(empty_matrices), RUN(sums_over_processes))
