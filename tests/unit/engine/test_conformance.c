/* Every verb of an engine against naive loops: host, and the one that OKRA_TEST_ENGINE
 * names. */
#include "harness.h"

#include "engine/engine.h"

static okra_context *ctx;
static okra_random_ source;

enum { SIZES = 4 };
static const okra_int sizes[SIZES] = {1, 2, 7, 65};

/* Relative to the largest entry; measured: host 3e-15, test 1e-14 at n = 65. */
static const double CLOSE = 1e-13;

static void setup(void)
{
    const char *name = getenv("OKRA_TEST_ENGINE");
    source = okra_random_create_(15, 1);
    CHECK_OK(okra_context_create(&ctx));
    CHECK_OK(okra_context_set_engine(ctx, name ? name : "host"));
}

static void finish(void)
{
    okra_context_free(ctx);
}

typedef struct pair {
    okra_int rows, cols;
    double *p;      /* the host's copy */
    okra_large_ *A; /* the engine's    */
} pair;

static okra_mat_ mat(const pair *a)
{
    return okra_mat_of_(a->p, a->rows, a->cols);
}

static pair random_pair(okra_int rows, okra_int cols)
{
    pair a = {rows, cols, okra_alloc_(rows * cols, sizeof(double)), NULL};
    harness_normals(&source, rows * cols, a.p);
    CHECK_OK(okra_large_create_(ctx, rows, cols, "a test", &a.A));
    CHECK_OK(okra_large_put_(ctx, mat(&a), 0, 0, a.A));
    return a;
}

/* Positive definite: R R' + n I, or (shift) something else in the place of n. */
static pair definite_pair(okra_int n, double shift)
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
    CHECK_OK(okra_large_put_(ctx, mat(&a), 0, 0, a.A));
    okra_free_(R);
    return a;
}

static void drop(pair *a)
{
    okra_large_free_(a->A);
    okra_free_(a->p);
}

/* How far the engine's matrix is from the host's. */
static double far(const pair *a)
{
    double *got = okra_alloc_(a->rows * a->cols, sizeof *got);
    CHECK_OK(okra_large_get_(ctx, a->A, 0, 0, okra_mat_of_(got, a->rows, a->cols)));
    double worst = harness_relative(a->rows * a->cols, got, a->p);
    okra_free_(got);
    return worst;
}

TEST(put_and_get)
{
    setup();
    for (int s = 0; s < SIZES; s++) {
        okra_int n = sizes[s];
        pair a = random_pair(n, n + 3), b = random_pair(n + 3, n);
        CHECK(far(&a) == 0);
        CHECK_OK(okra_large_copy_(ctx, true, a.A, b.A));
        for (okra_int k = 0; k < n * (n + 3); k++) {
            b.p[k % (n + 3) * n + k / (n + 3)] = a.p[k];
        }
        CHECK(far(&b) == 0);
        double part[2] = {0};
        okra_mat_ some = okra_mat_of_(part, 1, 2);
        CHECK_OK(okra_large_get_(ctx, a.A, n - 1, n + 1, some));
        CHECK(part[0] == a.p[(n - 1) * (n + 3) + n + 1]);
        CHECK(part[1] == a.p[(n - 1) * (n + 3) + n + 2]);
        part[0] = a.p[1] = 42;
        CHECK_OK(okra_large_put_(ctx, okra_mat_of_(part, 1, 1), 0, 1, a.A));
        CHECK(far(&a) == 0);
        CHECK_FAILS(okra_large_get_(ctx, a.A, n, 0, some), OKRA_ESHAPE, "get");
        CHECK_FAILS(okra_large_copy_(ctx, false, a.A, b.A), OKRA_ESHAPE, "copy");
        double *taken = NULL;
        CHECK_OK(okra_large_take_(ctx, &a.A, "a test", &taken));
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
    okra_large_ *A = NULL;
    setup();
    harness_normals(&source, 12, block);
    CHECK_OK(okra_large_borrow_(ctx, okra_mat_view_(block, 3, 2, 4), &A));
    CHECK(okra_large_rows_(A) == 3 && okra_large_cols_(A) == 2);
    CHECK_OK(okra_large_get_(ctx, A, 0, 0, okra_mat_of_(got, 3, 2)));
    for (int k = 0; k < 6; k++) {
        CHECK(got[k] == block[k / 2 * 4 + k % 2]);
    }
    okra_large_free_(A);
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
        CHECK_OK(okra_large_scale_(ctx, r, c, a.A));
        for (okra_int k = 0; k < n * m; k++) {
            a.p[k] *= r[k / m] * c[k % m];
        }
        CHECK_NEAR(far(&a), 0, CLOSE);
        CHECK_OK(okra_large_scale_(ctx, NULL, c, a.A));
        CHECK_OK(okra_large_scale_(ctx, r, NULL, a.A));
        for (okra_int k = 0; k < n * m; k++) {
            a.p[k] *= r[k / m] * c[k % m];
        }
        CHECK_NEAR(far(&a), 0, CLOSE);
        CHECK_OK(
            okra_large_combine_(ctx, OKRA_COMBINE_SUM_, 2, -3, NULL, NULL, b.A, a.A));
        for (okra_int k = 0; k < n * m; k++) {
            a.p[k] = 2 * a.p[k] - 3 * b.p[k];
        }
        CHECK_NEAR(far(&a), 0, CLOSE);
        CHECK_OK(
            okra_large_combine_(ctx, OKRA_COMBINE_PRODUCT_, 0, 0, NULL, NULL, b.A, a.A));
        for (okra_int k = 0; k < n * m; k++) {
            a.p[k] *= b.p[k];
        }
        CHECK_NEAR(far(&a), 0, CLOSE);
        CHECK_OK(
            okra_large_combine_(ctx, OKRA_COMBINE_POWER_, 3, 0, NULL, NULL, NULL, a.A));
        for (okra_int k = 0; k < n * m; k++) {
            a.p[k] = a.p[k] * a.p[k] * a.p[k];
        }
        CHECK_NEAR(far(&a), 0, CLOSE);
        for (okra_int k = 0; k < n * m; k++) {
            r[k / m] = fabs(r[k / m]);
            c[k % m] = fabs(c[k % m]);
            a.p[k] = b.p[k] / (r[k / m] * c[k % m] + 0.5);
        }
        CHECK_OK(okra_large_combine_(ctx, OKRA_COMBINE_DIVIDE_, 0.5, 0, r, c, b.A, a.A));
        CHECK_NEAR(far(&a), 0, CLOSE);
        CHECK_OK(okra_large_fill_(ctx, 7, a.A));
        CHECK_OK(okra_large_add_diagonal_(ctx, 0.5, a.A));
        for (okra_int k = 0; k < n * m; k++) {
            a.p[k] = 7 + (k / m == k % m ? 0.5 : 0);
        }
        CHECK(far(&a) == 0);
        CHECK_OK(okra_large_diagonal_(ctx, a.A, r));
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
        CHECK_OK(okra_large_row_sums_(ctx, a.A, sums));
        for (okra_int i = 0; i < n; i++) {
            double sum = 0;
            for (okra_int j = 0; j < m; j++) {
                sum += a.p[i * m + j];
                want += a.p[i * m + j] * b.p[i * m + j];
            }
            CHECK_NEAR(sums[i], sum, 1e-12);
        }
        CHECK_OK(okra_large_dot_(ctx, a.A, b.A, &got));
        CHECK_NEAR(got, want, 1e-11);
        harness_normals(&source, m, offset);
        okra_int k = 3;
        CHECK_OK(okra_large_best_(ctx, a.A, offset, k, index, value));
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
        CHECK_FAILS(okra_large_best_(ctx, a.A, NULL, m + 1, index, value), OKRA_ESHAPE,
                    NULL);
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
        okra_large_ *list[P + Q];
        double got[P * Q];
        for (int k = 0; k < P + Q; k++) {
            all[k] = random_pair(n, m);
            list[k] = all[k].A;
        }
        for (okra_int p = 1; p <= P; p += 5) {
            CHECK_OK(okra_large_dots_(ctx, p, list, Q, list + P, got));
            for (okra_int k = 0; k < p * Q; k++) {
                CHECK_NEAR(got[k], okra_dot_(n * m, all[k / Q].p, all[P + k % Q].p),
                           1e-10);
            }
        }
        CHECK_OK(okra_large_dots_(ctx, 0, list, Q, list + P, NULL));
        pair other = random_pair(n + 1, m);
        okra_large_ *odd[] = {list[P], other.A};
        CHECK_FAILS(okra_large_dots_(ctx, 2, list, 2, odd, got), OKRA_ESHAPE,
                    "dots: matrices of");
        for (int k = 0; k < P + Q; k++) {
            drop(&all[k]);
        }
        drop(&other);
    }
    finish();
}

TEST(ties_go_to_the_lower_column)
{
    okra_int index[2];
    double same[4] = {1, 2, 2, 2}, value[2];
    okra_large_ *A = NULL;
    setup();
    CHECK_OK(okra_large_borrow_(ctx, okra_mat_of_(same, 1, 4), &A));
    CHECK_OK(okra_large_best_(ctx, A, NULL, 2, index, value));
    CHECK(index[0] == 1 && index[1] == 2 && value[0] == 2 && value[1] == 2);
    okra_large_free_(A);
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
        CHECK_OK(okra_large_center_(ctx, mean, a.A));
        for (okra_int k = 0; k < n * n; k++) {
            a.p[k] += all - row[k / n] - row[k % n];
        }
        CHECK(harness_relative(n, mean, row) <= CLOSE);
        CHECK(n == 1 || far(&a) <= CLOSE);
        CHECK_OK(okra_large_center_(ctx, NULL, a.A));
        CHECK(n == 1 || far(&a) <= CLOSE);
        drop(&a);
    }
    finish();
}

static double element(const pair *a, bool trans, okra_int i, okra_int j)
{
    return trans ? a->p[j * a->cols + i] : a->p[i * a->cols + j];
}

TEST(products)
{
    setup();
    for (int s = 0; s < SIZES; s++) {
        for (int form = 0; form < 4; form++) {
            bool ta = form & 1, tb = form & 2;
            okra_int m = sizes[s], k = m + 1, n = m + 4;
            pair a = ta ? random_pair(k, m) : random_pair(m, k);
            pair b = tb ? random_pair(n, k) : random_pair(k, n), c = random_pair(m, n);
            for (int beta = 0; beta < 3; beta++) {
                CHECK_OK(okra_large_gemm_(ctx, ta, tb, 0.5, a.A, b.A, beta, c.A));
                for (okra_int e = 0; e < m * n; e++) {
                    double sum = 0;
                    for (okra_int t = 0; t < k; t++) {
                        sum += element(&a, ta, e / n, t) * element(&b, tb, t, e % n);
                    }
                    c.p[e] = 0.5 * sum + beta * c.p[e];
                }
                CHECK_NEAR(far(&c), 0, CLOSE);
            }
            pair g = random_pair(m, m);
            CHECK_OK(okra_large_syrk_(ctx, ta, 2, a.A, 0, g.A));
            for (okra_int e = 0; e < m * m; e++) {
                g.p[e] = 0;
                for (okra_int t = 0; t < k; t++) {
                    g.p[e] += 2 * element(&a, ta, e / m, t) * element(&a, ta, e % m, t);
                }
            }
            CHECK_NEAR(far(&g), 0, CLOSE);
            CHECK_FAILS(okra_large_gemm_(ctx, ta, tb, 1, a.A, b.A, 0, g.A), OKRA_ESHAPE,
                        "gemm");
            drop(&a);
            drop(&b);
            drop(&c);
            drop(&g);
        }
    }
    finish();
}

/* A X = B by both sides of a Cholesky factor. */
TEST(factor_and_solve)
{
    setup();
    for (int s = 0; s < SIZES; s++) {
        okra_int n = sizes[s];
        pair a = definite_pair(n, (double)n), x = random_pair(n, 3),
             y = random_pair(3, n);
        double *B = okra_zalloc_(3 * n, sizeof *B), *C = okra_zalloc_(3 * n, sizeof *C);
        double jitter = 1;
        for (okra_int i = 0; i < n; i++) {
            for (okra_int j = 0; j < 3; j++) {
                for (okra_int k = 0; k < n; k++) {
                    B[i * 3 + j] += a.p[i * n + k] * x.p[k * 3 + j];
                    C[j * n + i] += y.p[j * n + k] * a.p[k * n + i];
                }
            }
        }
        CHECK_OK(okra_large_put_(ctx, okra_mat_of_(B, n, 3), 0, 0, x.A));
        CHECK_OK(okra_large_put_(ctx, okra_mat_of_(C, 3, n), 0, 0, y.A));
        CHECK_OK(okra_large_cholesky_(ctx, a.A, &jitter));
        CHECK(jitter == 0);
        CHECK_OK(okra_large_solve_(ctx, true, a.A, x.A));
        CHECK_OK(okra_large_solve_(ctx, false, a.A, y.A));
        CHECK_NEAR(far(&x), 0, 10 * CLOSE);
        CHECK_NEAR(far(&y), 0, 10 * CLOSE);
        CHECK_FAILS(okra_large_trsm_(ctx, true, false, a.A, y.A),
                    n == 3 ? OKRA_OK : OKRA_ESHAPE, NULL);
        okra_free_(B);
        okra_free_(C);
        drop(&a);
        drop(&x);
        drop(&y);
    }
    finish();
}

TEST(jitter_is_added_and_told)
{
    double ones[16], jitter = 0;
    bool done = true;
    okra_large_ *A = NULL;
    setup();
    CHECK_OK(okra_large_create_(ctx, 4, 4, "a test", &A));
    for (int k = 0; k < 16; k++) {
        ones[k] = 1 - (k / 4 == k % 4 ? 1e-15 : 0); /* not positive semi-definite */
    }
    CHECK_OK(okra_large_put_(ctx, okra_mat_of_(ones, 4, 4), 0, 0, A));
    CHECK_OK(okra_large_cholesky_try_(ctx, A, &done));
    CHECK(!done);
    double back[16];
    CHECK_OK(okra_large_get_(ctx, A, 0, 0, okra_mat_of_(back, 4, 4)));
    CHECK(harness_relative(16, back, ones) == 0);
    CHECK_OK(okra_large_cholesky_(ctx, A, &jitter));
    CHECK(jitter > 0 && jitter < 1e-12);
    for (int k = 0; k < 16; k++) {
        ones[k] = k / 4 == k % 4 ? 1 : -5;
    }
    CHECK_OK(okra_large_put_(ctx, okra_mat_of_(ones, 4, 4), 0, 0, A));
    CHECK_FAILS(okra_large_cholesky_(ctx, A, &jitter), OKRA_ENUMERIC,
                "not positive definite");
    ones[9] = ones[6] = NAN;
    CHECK_OK(okra_large_put_(ctx, okra_mat_of_(ones, 4, 4), 0, 0, A));
    CHECK_FAILS(okra_large_cholesky_(ctx, A, &jitter), OKRA_ENUMERIC, "nan");
    okra_large_free_(A);
    finish();
}

/* V A V' = diag(w), V V' = I, w ascending. */
TEST(eigenvectors)
{
    setup();
    for (int s = 0; s < SIZES; s++) {
        okra_int n = sizes[s];
        pair a = definite_pair(n, 0);
        double *w = okra_alloc_(n, sizeof *w), *V = okra_alloc_(n * n, sizeof *V);
        double top = 0, worst = 0;
        CHECK_OK(okra_large_eigh_(ctx, a.A, w));
        CHECK_OK(okra_large_get_(ctx, a.A, 0, 0, okra_mat_of_(V, n, n)));
        for (okra_int i = 0; i < n; i++) {
            CHECK(i == 0 || w[i - 1] <= w[i]);
            top = fmax(top, fabs(w[i]));
            for (okra_int j = 0; j < n; j++) { /* A v_i = w_i v_i; v_i'v_j */
                double sum = 0, inner = 0;
                for (okra_int k = 0; k < n; k++) {
                    sum += a.p[j * n + k] * V[i * n + k];
                    inner += V[i * n + k] * V[j * n + k];
                }
                worst = fmax(worst, fabs(sum - w[i] * V[i * n + j]));
                CHECK_NEAR(inner, i == j, 1e-12);
            }
        }
        CHECK_NEAR(worst / top, 0, 1e-12);
        okra_free_(w);
        okra_free_(V);
        drop(&a);
    }
    finish();
}

TEST(empty_matrices)
{
    okra_large_ *A = NULL, *B = NULL, *C = NULL;
    double got[4] = {1, 1, 1, 1}, sum = 1, jitter = 1, *taken = NULL;
    setup();
    CHECK_OK(okra_large_create_(ctx, 0, 0, "a test", &A));
    CHECK_OK(okra_large_create_(ctx, 2, 0, "a test", &B));
    CHECK_OK(okra_large_create_(ctx, 2, 2, "a test", &C));
    CHECK_OK(okra_large_fill_(ctx, 3, C));
    CHECK_OK(okra_large_cholesky_(ctx, A, &jitter));
    CHECK_OK(okra_large_eigh_(ctx, A, NULL));
    CHECK_OK(okra_large_center_(ctx, NULL, A));
    CHECK_OK(okra_large_row_sums_(ctx, B, got));
    CHECK(got[0] == 0 && got[1] == 0);
    CHECK_OK(okra_large_dot_(ctx, B, B, &sum));
    CHECK(sum == 0);
    sum = 1;
    CHECK_OK(okra_large_dots_(ctx, 1, &B, 1, &B, &sum));
    CHECK(sum == 0);
    CHECK_OK(okra_large_gemm_(ctx, false, true, 1, B, B, 2, C));
    CHECK_OK(okra_large_get_(ctx, C, 0, 0, okra_mat_of_(got, 2, 2)));
    CHECK(got[0] == 6 && got[3] == 6);
    CHECK_OK(okra_large_syrk_(ctx, false, 1, B, 0, C));
    CHECK_OK(okra_large_get_(ctx, C, 0, 0, okra_mat_of_(got, 2, 2)));
    CHECK(got[0] == 0 && got[3] == 0);
    CHECK_OK(okra_large_take_(ctx, &B, "a test", &taken));
    CHECK(taken != NULL);
    okra_free_(taken);
    okra_large_free_(A);
    okra_large_free_(C);
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
        okra_large_ *A = NULL;
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
        CHECK_OK(okra_large_create_(ctx, 1, n, "a test", &A));
        CHECK_OK(okra_large_put_(ctx, okra_mat_of_(got, 1, n), 0, 0, A));
        okra_large_free_(A);
        okra_free_(got);
        okra_free_(want);
        okra_free_(size);
    }
    finish();
}

MAIN(RUN(put_and_get), RUN(a_block_with_a_stride_is_borrowed), RUN(elementwise),
     RUN(reductions), RUN(inner_products_of_lists), RUN(ties_go_to_the_lower_column),
     RUN(centring), RUN(products), RUN(factor_and_solve), RUN(jitter_is_added_and_told),
     RUN(eigenvectors), RUN(empty_matrices), RUN(sums_over_processes))
