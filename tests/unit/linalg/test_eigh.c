/*
 * Eigendecompositions and general solves on several threads: each step against its
 * definition in long double, the whole against one thread, on random and degenerate
 * matrices of sizes around the ends of panels, blocks and halves, with strides above the
 * width. Tolerances are ten times the worst error over 20 seeds and three processors'
 * BLAS.
 */
#include "matrices.h"

#ifndef SEEDS
#define SEEDS 1
#endif

static const int teams[] = {1, 2, 3, 8};
enum { TEAMS = sizeof teams / sizeof *teams };

static okra_context *with_threads(int threads)
{
    okra_context *ctx = new_context();
    CHECK_OK(okra_context_set_threads(ctx, threads));
    return ctx;
}

/* ---- to tridiagonal form and back ---- */

static worst_of reduce_worst = {"A = H T H', ||A||", 28, 0}; /* 2.8 */
static worst_of reflect_worst = {"H orthogonal, 1", 87, 0};  /* 8.7 */

/* T whole, of its diagonal and what stands beside it. */
static okra_mat_ whole(okra_int n, const double *d, const double *e)
{
    okra_random_ r = okra_random_create_(0, 0);
    okra_mat_ T = mat_random(&r, n, n);
    okra_mat_fill_(T, 0);
    for (okra_int i = 0; i < n; i++) {
        T.p[i * T.ld + i] = d[i];
        if (i > 0) {
            T.p[i * T.ld + i - 1] = T.p[(i - 1) * T.ld + i] = e[i - 1];
        }
    }
    return T;
}

static okra_mat_ identity(okra_int n)
{
    double ones[512] = {0}, zeros[512] = {0};
    for (okra_int i = 0; i < n; i++) {
        ones[i] = 1;
    }
    return whole(n, ones, zeros);
}

/* A' = (H T) H', where rows of `back` are those of the identity times H'. */
static void check_reduction(okra_context *ctx, okra_mat_ A)
{
    okra_int n = A.rows;
    double d[512], e[512], tau[512];
    okra_mat_ R = mat_clone(A), back = identity(n), TH = mat_clone(A);
    okra_mat_mirror_(A);
    CHECK_OK(okra_tridiagonal_(ctx, R, d, e, tau));
    CHECK_OK(okra_tridiagonal_rotate_(ctx, R, tau, back)); /* H' */
    okra_mat_ T = whole(n, d, e);
    CHECK_OK(okra_gemm_(NULL, false, false, 1, T, back, 0, TH));
    note(&reduce_worst, product_error(back, true, TH, false, A, norm_of(A)));
    note(&reflect_worst, orthogonality_error(back, false));
    mat_free(R);
    mat_free(back);
    mat_free(TH);
    mat_free(T);
}

TEST(reduction)
{
    static const okra_int sizes_of[] = {1, 2, 3, 31, 32, 33, 63, 65, 97, 130};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        for (int t = 0; t < TEAMS; t++) {
            okra_context *ctx = with_threads(teams[t]);
            for (size_t s = 0; s < sizeof sizes_of / sizeof *sizes_of; s++) {
                okra_random_ r = okra_random_create_(seed, s);
                okra_mat_ A = mat_random(&r, sizes_of[s], sizes_of[s]);
                check_reduction(ctx, A);
                mat_free(A);
            }
            okra_context_free(ctx);
        }
    }
    report(&reduce_worst);
    report(&reflect_worst);
}

/* ---- a tridiagonal matrix by halves ---- */

static worst_of divide_worst = {"T = Z W Z', ||T||", 66, 0}; /* 6.6 */
static worst_of divide_basis = {"Z orthogonal, 1", 230, 0};  /* 23 */

/* Row k of Z, in ascending order of eigenvalues; checks that they ascend. */
static okra_mat_ in_order(okra_mat_ Z, const double *d, const int *order, double *w)
{
    okra_mat_ V = mat_clone(Z);
    for (okra_int k = 0; k < Z.rows; k++) {
        w[k] = d[order[k] - 1];
        CHECK(k == 0 || w[k - 1] <= w[k]);
        CHECK_OK(okra_mat_copy_(okra_mat_part_(Z, order[k] - 1, 1, 0, Z.cols),
                                okra_mat_part_(V, k, 1, 0, Z.cols)));
    }
    return V;
}

/* A = V' diag(w) V */
static double definition_error(okra_mat_ A, okra_mat_ V, const double *w)
{
    okra_mat_ wV = mat_clone(V);
    for (okra_int i = 0; i < V.rows; i++) {
        for (okra_int j = 0; j < V.cols; j++) {
            wV.p[i * wV.ld + j] *= w[i];
        }
    }
    double norm = norm_of(A);
    double error = product_error(V, true, wV, false, A, norm > 0 ? norm : 1);
    mat_free(wV);
    return error;
}

static void check_division(okra_context *ctx, okra_int leaves, okra_int n,
                           const double *d0, const double *e0)
{
    double d[512], e[512], w[512];
    int order[512];
    memcpy(d, d0, sizeof d);
    memcpy(e, e0, sizeof e);
    okra_mat_ T = whole(n, d, e), Z = mat_clone(T);
    CHECK_OK(okra_divide_(ctx, leaves, d, e, Z, order));
    okra_mat_ V = in_order(Z, d, order, w);
    note(&divide_worst, definition_error(T, V, w));
    note(&divide_basis, orthogonality_error(V, false));
    mat_free(T);
    mat_free(Z);
    mat_free(V);
}

/* Random; e is 0 everywhere, at the cuts, tiny, negative; one eigenvalue n times over;
 * pairs of eigenvalues that are equal to rounding (Wilkinson); the second difference. */
enum { KINDS = 8 };
static void make_tridiagonal(int kind, okra_random_ *r, okra_int n, double *d, double *e)
{
    for (okra_int i = 0; i < n; i++) {
        double middle = fabs((double)i - (double)(n - 1) / 2);
        d[i] = kind == 4   ? 1
               : kind == 5 ? middle
               : kind == 6 ? 2
                           : okra_random_normal_(r);
        e[i] = kind == 1 || kind == 4                ? 0
               : kind == 2 && (i + 1) % (n / 2) == 0 ? 0
               : kind == 3                           ? 1e-17 * okra_random_normal_(r)
               : kind == 5 || kind == 6              ? 1
               : kind == 7                           ? -fabs(okra_random_normal_(r))
                                                     : okra_random_normal_(r);
    }
}

TEST(halves)
{
    static const okra_int sizes_of[] = {4, 9, 50, 101, 128};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        for (int t = 0; t < TEAMS; t++) {
            okra_context *ctx = with_threads(teams[t]);
            for (size_t s = 0; s < sizeof sizes_of / sizeof *sizes_of; s++) {
                for (int kind = 0; kind < KINDS; kind++) {
                    okra_random_ r = okra_random_create_(seed, (uint64_t)kind);
                    double d[512] = {0}, e[512] = {0};
                    make_tridiagonal(kind, &r, sizes_of[s], d, e);
                    check_division(ctx, teams[t], sizes_of[s], d, e);
                }
            }
            okra_context_free(ctx);
        }
    }
    report(&divide_worst);
    report(&divide_basis);
}

/* ---- the whole ---- */

static worst_of whole_worst = {"eigh, ||A||", 150, 0};        /* 15 */
static worst_of whole_basis = {"eigh basis, 1", 230, 0};      /* 23 */
static worst_of whole_values = {"eigh values, ||A||", 56, 0}; /* 5.6 */

/* Against its definition and the values of one thread; twice: the same bits. */
static void check_whole(okra_context *ctx, okra_context *one, int team, okra_mat_ A)
{
    okra_int n = A.rows;
    double w[512], again[512], alone[512];
    okra_mat_ V = mat_clone(A), U = mat_clone(A), W = mat_clone(A);
    okra_mat_mirror_(A);
    for (okra_int i = 0; i < n; i++) { /* nothing above the diagonal is read */
        okra_mat_fill_(okra_mat_part_(V, i, 1, i + 1, n - i - 1), NAN);
    }
    CHECK_OK(okra_eigh_team_(ctx, team, V, w));
    CHECK_OK(okra_eigh_team_(ctx, team, U, again));
    CHECK_OK(okra_eigh_(one, W, alone));
    double norm = norm_of(A), worst = 0;
    for (okra_int i = 0; i < n; i++) {
        CHECK(i == 0 || w[i - 1] <= w[i]);
        CHECK(memcmp(V.p + i * V.ld, U.p + i * U.ld, (size_t)n * sizeof *w) == 0);
        worst = fmax(worst, fabs(w[i] - alone[i]));
    }
    CHECK(memcmp(w, again, (size_t)n * sizeof *w) == 0);
    note(&whole_values, norm > 0 ? worst / (DBL_EPSILON * norm) : worst);
    note(&whole_worst, definition_error(A, V, w));
    note(&whole_basis, orthogonality_error(V, false));
    mat_free(V);
    mat_free(U);
    mat_free(W);
}

/* Random; zero; rank 1; sizes 1 to 1e-12; a kernel matrix with every row twice; blocks
 * that do not meet; numbers near the largest and the smallest that there are. */
enum { SHAPES = 8 };
static okra_mat_ make_matrix(int kind, okra_random_ *r, okra_int n)
{
    okra_mat_ A = mat_random(r, n, n);
    double at[512];
    for (okra_int i = 0; i < n; i++) {
        at[i] = i % 2 ? at[i - 1] : okra_random_normal_(r);
    }
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            double *a = A.p + i * A.ld + j;
            *a = kind == 1   ? 0
                 : kind == 2 ? 1
                 : kind == 3 ? *a * pow(10, -6.0 * (double)(i + j) / (double)n)
                 : kind == 4 ? exp(-pow(at[i] - at[j], 2))
                 : kind == 5 ? (i / 7 == j / 7 ? *a : 0)
                 : kind == 6 ? *a * 1e303
                 : kind == 7 ? *a * 1e-300
                             : *a;
        }
    }
    return A;
}

TEST(whole_decompositions)
{
    static const okra_int sizes_of[] = {1, 2, 5, 33, 64, 129, 200};
    okra_context *one = with_threads(1);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        for (int t = 1; t < TEAMS; t++) {
            okra_context *ctx = with_threads(teams[t]);
            for (size_t s = 0; s < sizeof sizes_of / sizeof *sizes_of; s++) {
                for (int kind = 0; kind < SHAPES; kind++) {
                    okra_random_ r = okra_random_create_(seed, s);
                    okra_mat_ A = make_matrix(kind, &r, sizes_of[s]);
                    check_whole(ctx, one, teams[t], A);
                    mat_free(A);
                }
            }
            okra_context_free(ctx);
        }
    }
    okra_context_free(one);
    report(&whole_worst);
    report(&whole_basis);
    report(&whole_values);
}

/* Large enough that every loop of it is shared: by the values and a few vectors. */
TEST(large_decomposition)
{
    enum { n = 1000 };
    okra_random_ r = okra_random_create_(3, 3);
    okra_context *two = with_threads(2), *one = with_threads(1);
    okra_mat_ A = mat_random(&r, n, n), V = mat_clone(A), W = mat_clone(A);
    double *w = okra_alloc_(2 * (okra_int)n, sizeof *w);
    okra_mat_mirror_(A);
    CHECK_OK(okra_eigh_(two, V, w));
    CHECK_OK(okra_eigh_(one, W, w + n));
    double norm = norm_of(A), values = 0, vectors = 0;
    for (okra_int i = 0; i < n; i++) {
        values = fmax(values, fabs(w[i] - w[n + i]));
        for (okra_int k = 0; i % 100 == 0 && k < n; k++) {
            double sum = okra_dot_(n, A.p + k * A.ld, V.p + i * V.ld);
            vectors = fmax(vectors, fabs(sum - w[i] * V.p[i * V.ld + k]));
        }
    }
    printf("  n = 1000: values %.2g, vectors %.2g (eps ||A||)\n",
           values / (DBL_EPSILON * norm), vectors / (DBL_EPSILON * norm));
    CHECK(values <= 2.2 * DBL_EPSILON * norm);
    CHECK(vectors <= 0.8 * DBL_EPSILON * norm);
    okra_free_(w);
    mat_free(A);
    mat_free(V);
    mat_free(W);
    okra_context_free(two);
    okra_context_free(one);
}

/* Eigenvalues that are equal to rounding come out in ascending order all the same. */
TEST(a_cluster_ascends)
{
    enum { n = 607 };
    okra_random_ r = okra_random_create_(5, 5);
    double w[n];
    for (int team = 5; team <= 11; team += 6) {
        okra_context *ctx = with_threads(team);
        okra_mat_ A = mat_random(&r, n, n);
        okra_mat_fill_(A, 1e-15);
        for (okra_int i = 0; i < n; i++) {
            A.p[i * A.ld + i] = 1 + 1e-15 * (double)i;
        }
        CHECK_OK(okra_eigh_team_(ctx, team, A, w));
        for (okra_int i = 1; i < n; i++) {
            CHECK(w[i - 1] <= w[i]);
        }
        mat_free(A);
        okra_context_free(ctx);
    }
}

TEST(memory_and_cancellation)
{
    okra_random_ r = okra_random_create_(4, 4);
    okra_context *ctx = with_threads(2);
    okra_mat_ A = mat_random(&r, 40, 40);
    double w[40];
    CHECK_ALLOCATIONS(okra_eigh_team_(ctx, 2, A, w), (void)0);
    CHECK_OK(okra_context_set_memory(ctx, okra_account_bytes_(ctx) + 100));
    CHECK_FAILS(okra_eigh_team_(ctx, 2, A, w), OKRA_EBUDGET, "eigh");
    CHECK_OK(okra_context_set_memory(ctx, 0));
    okra_context_cancel(ctx);
    CHECK_FAILS(okra_eigh_team_(ctx, 2, A, w), OKRA_ECANCELLED, "stopped");
    mat_free(A);
    okra_context_free(ctx);
}

/* ---- general solves ---- */

static worst_of solve_worst = {"solve, |A||X|", 78, 0}; /* 7.8 */

TEST(solves)
{
    static const okra_int sizes_of[] = {343, 401, 512};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        for (int t = 0; t < TEAMS; t++) {
            okra_context *ctx = with_threads(teams[t]);
            for (size_t s = 0; s < sizeof sizes_of / sizeof *sizes_of; s++) {
                okra_random_ r = okra_random_create_(seed, s);
                okra_int n = sizes_of[s];
                okra_mat_ A = mat_random(&r, n, n), F = mat_clone(A);
                okra_mat_ B = mat_random(&r, n, 3), X = mat_clone(B);
                CHECK_OK(okra_solve_general_(ctx, F, X));
                double scale = norm_of(A) * norm_of(X) / sqrt((double)n);
                note(&solve_worst, product_error(A, false, X, false, B, scale));
                mat_free(A);
                mat_free(F);
                mat_free(B);
                mat_free(X);
            }
            okra_context_free(ctx);
        }
    }
    report(&solve_worst);
}

/* The pivot that is 0 has the same number on every team: an equal row beside another. */
TEST(singular)
{
    for (int t = 0; t < TEAMS; t++) {
        okra_random_ r = okra_random_create_(6, 6);
        okra_context *ctx = with_threads(teams[t]);
        okra_mat_ A = mat_random(&r, 400, 400), B = mat_random(&r, 400, 1);
        for (okra_int i = 0; i < 400; i++) { /* columns 317 and 350 are zero */
            A.p[317 * A.ld + i] = A.p[350 * A.ld + i] = 0;
        }
        CHECK_FAILS(okra_solve_general_(ctx, A, B), OKRA_ENUMERIC,
                    "singular (pivot 318 is 0)");
        mat_free(A);
        mat_free(B);
        okra_context_free(ctx);
    }
}

MAIN(RUN(reduction), RUN(halves), RUN(whole_decompositions), RUN(large_decomposition),
     RUN(a_cluster_ascends), RUN(memory_and_cancellation), RUN(solves), RUN(singular))
