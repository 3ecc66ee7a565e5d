/*
 * Graphs over inputs: the matrix M of every expression against its definition, what is
 * kept sparse, and what is refused.
 */
#include "solve/graph.h"
#include "naive.h"

#include <unistd.h>

/* M as the graph applies it, n x n. */
static void matrix_of(const okra_graph_ *g, okra_int n, double *out)
{
    double eye[N * N];
    identity(n, eye);
    CHECK_OK(
        okra_graph_apply_(NULL, g, okra_mat_of_(eye, n, n), okra_mat_of_(out, n, n)));
}

static okra_status make(const char *text, const toy *t, okra_graph_ **g)
{
    double K[N * (N + 1)]; /* a stride that is not the width */
    okra_mat_ view = {K, t->n, t->n, t->n + 1};
    CHECK_OK(okra_mat_copy_(okra_mat_view_(t->K, t->n, t->n, t->n), view));
    return okra_graph_create_(NULL, text, &(okra_graph_kernel_){.K = view}, g);
}

/* W by its definition: all pairs, or the union of the k nearest by distance. */
static void naive_weights_of(const toy *t, okra_int k, double *W)
{
    okra_int n = t->n;
    for (okra_int i = 0; i < n * n; i++) {
        W[i] = k > 0 ? 0 : t->K[i];
    }
    for (okra_int i = 0; k > 0 && i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            okra_int closer = 0;
            double d = t->K[j * n + j] - 2 * t->K[i * n + j];
            for (okra_int l = 0; l < n; l++) {
                double e = t->K[l * n + l] - 2 * t->K[i * n + l];
                closer += l != i && (e < d || (e == d && l < j));
            }
            if (j != i && closer < k) {
                W[i * n + j] = W[j * n + i] = t->K[i * n + j];
            }
        }
    }
}

static void naive_laplacian(okra_int n, const double *W, bool normalized, double *P)
{
    double degree[N] = {0};
    for (okra_int i = 0; i < n * n; i++) {
        degree[i / n] += i % (n + 1) == 0 && !normalized ? 0 : W[i];
    }
    for (okra_int i = 0; i < n * n; i++) {
        double a = degree[i / n], b = degree[i % n];
        P[i] = i % (n + 1) == 0 ? a - (normalized ? W[i] : 0) : -W[i];
        if (normalized) {
            P[i] = a > 0 && b > 0 ? P[i] / sqrt(a * b) : 0;
        }
    }
}

static void check(const char *text, const toy *t, const double *want, double tolerance)
{
    okra_graph_ *g = NULL;
    double got[N * N];
    CHECK_OK(make(text, t, &g));
    matrix_of(g, t->n, got);
    CHECK_NEAR(harness_relative(t->n * t->n, got, want), 0, tolerance);
    okra_graph_free_(g);
}

TEST(matrices_follow_their_definitions)
{
    static const okra_int sizes[] = {2, 3, N};
    for (uint64_t seed = 0; seed < 20; seed++) {
        for (okra_int size = 0; size < 3; size++) {
            toy t = make_toy(seed % 2 ? DUPLICATED : RANDOM, sizes[size], seed, true);
            okra_int n = t.n;
            double W[N * N], P[N * N], M2[N * N], M4[N * N], M5[N * N];
            naive_weights_of(&t, 0, W);
            naive_laplacian(n, W, false, P);
            check("gram", &t, P, 0);
            times(n, n, n, P, P, M2);
            times(n, n, n, M2, M2, M4);
            times(n, n, n, M4, P, M5);
            check(" gram | power ( p = 5 )", &t, M5, 1e-14); /* worst of powers 1e-15 */
            check("gram|power", &t, M5, 1e-14);
            check("gram|power(p=2)|power(p=2)", &t, M4, 1e-14);
            naive_laplacian(n, W, true, P);
            check("gram | normalized", &t, P, 3e-15); /* worst of sums 2.9e-16 */
            naive_weights_of(&t, 1, W);
            naive_laplacian(n, W, false, P);
            check("knn(k=1)", &t, P, 3e-15);
            naive_laplacian(n, W, true, P);
            times(n, n, n, P, P, M2);
            check("knn(k=1) | normalized | power(p=2)", &t, M2, 1e-14);
            if (n == N) {
                naive_weights_of(&t, 3, W);
                naive_laplacian(n, W, false, P);
                check("knn(k=3)", &t, P, 3e-15);
                check("knn(share=0.3)", &t, P, 3e-15); /* round(2.7) */
                naive_weights_of(&t, 8, W);
                naive_laplacian(n, W, false, P);
                check("knn(share=1)", &t, P, 3e-15); /* all the others */
            }
        }
    }
}

/* exp(-beta P) by its series, scaled and squared. */
static void naive_exp(okra_int n, const double *P, double beta, double *out)
{
    double term[N * N], next[N * N];
    identity(n, out);
    identity(n, term);
    for (int k = 1; k < 40; k++) {
        times(n, n, n, term, P, next);
        for (okra_int i = 0; i < n * n; i++) {
            term[i] = -beta / 64 / k * next[i];
            out[i] += term[i];
        }
    }
    for (int k = 0; k < 6; k++) {
        times(n, n, n, out, out, next);
        memcpy(out, next, sizeof next);
    }
}

TEST(diffusion)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        toy t = make_toy(seed % 2 ? DUPLICATED : RANDOM, N, seed, true);
        double W[N * N], P[N * N], E[N * N], M2[N * N];
        naive_weights_of(&t, 2, W);
        naive_laplacian(N, W, false, P);
        naive_exp(N, P, 0.7, E);
        check("knn(k=2) | diffusion(beta=0.7)", &t, E,
              3e-13); /* worst of all three 3.2e-14 */
        times(N, N, N, E, E, M2);
        check("knn(k=2) | diffusion(beta=0.7) | power(p=2)", &t, M2, 3e-13);
        times(N, N, N, P, P, M2);
        naive_exp(N, M2, 1, E);
        check("knn(k=2) | power(p=2) | diffusion", &t, E, 3e-13);
    }
}

static void write_file(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    CHECK(f && fputs(text, f) >= 0);
    if (f) {
        fclose(f);
    }
}

TEST(files_and_sparsity)
{
    char dense[64], sparse[64], text[160];
    snprintf(dense, sizeof dense, "graph-%d.csv", (int)getpid());
    snprintf(sparse, sizeof sparse, "graph-%d.mtx", (int)getpid());
    write_file(dense, "9,1,0\n1,0,0\n0,0,0\n"); /* a loop, an edge, an isolated node */
    write_file(sparse, "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n"
                       "1 1 9\n2 1 1\n");
    toy t = make_toy(RANDOM, 3, 1, true);
    const double P[9] = {1, -1, 0, -1, 1, 0, 0, 0, 0};
    const double off = -1 / sqrt(10); /* degrees 10, 1, 0: the loop counts */
    const double Q[9] = {0.1, off, 0, off, 1, 0, 0, 0, 0};
    const char *files[] = {dense, sparse};
    for (int k = 0; k < 2; k++) {
        snprintf(text, sizeof text, "file( %s )", files[k]);
        check(text, &t, P, 0);
        snprintf(text, sizeof text, "file(%s)|normalized", files[k]);
        check(text, &t, Q, 1e-15);
        okra_graph_ *g = NULL;
        CHECK_OK(make(text, &t, &g));
        CHECK(okra_graph_entries_(g) == (k ? 5 : 9));
        okra_graph_free_(g);
        CHECK_ALLOCATIONS(make(text, &t, &g), okra_graph_free_(g));
    }
    okra_graph_ *g = NULL;
    toy big = make_toy(RANDOM, N, 1, true);
    CHECK_OK(make("knn(k=1)|power(p=5)", &big, &g));
    CHECK(okra_graph_entries_(g) <= 3 * N);
    okra_graph_free_(g);
    snprintf(text, sizeof text, "file(%s)", dense);
    CHECK_FAILS(make(text, &big, &g), OKRA_ESHAPE, "expected a matrix of 9 x 9");
    write_file(dense, "0,1,0\n2,0,0\n0,0,0\n");
    CHECK_FAILS(make(text, &t, &g), OKRA_EARG, "expected a symmetric matrix");
    write_file(dense, "0,-1,0\n-1,0,0\n0,0,0\n");
    CHECK_FAILS(make(text, &t, &g), OKRA_EARG, "inputs 0 and 1 (counted from 0) is -1");
    snprintf(text, sizeof text, "file(%s)", sparse);
    write_file(sparse, "%%MatrixMarket matrix coordinate real general\n3 3 1\n2 1 1\n");
    CHECK_FAILS(make(text, &t, &g), OKRA_EARG, "expected a symmetric matrix");
    write_file(sparse,
               "%%MatrixMarket matrix coordinate real symmetric\n3 3 1\n2 1 -1\n");
    CHECK_FAILS(make(text, &t, &g), OKRA_EARG, "expected 0 or more");
    unlink(dense);
    unlink(sparse);
    CHECK_FAILS(make("file(none.npy)", &t, &g), OKRA_EIO, "none.npy");
}

TEST(refusals)
{
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"", "expected gram"},
        {"ring", "expected gram"},
        {"knn", "either k=N or share=V"},
        {"knn(k=3,share=0.5)", "either k=N or share=V"},
        {"knn(k=0)", "k"},
        {"knn(k=2.5)", "k"},
        {"knn(share=2)", "share"},
        {"knn(3)", "expected name=value"},
        {"knn(k=3", "expected ',' or ')'"},
        {"gram(k=3)", "no parameter"},
        {"file()", "names no file"},
        {"normalized", "expected gram"},
        {"gram | gram", "expected normalized"},
        {"gram | power(p=2) | normalized", "right after the graph"},
        {"gram | normalized | normalized", "right after the graph"},
        {"gram | power(p=0)", "p"},
        {"gram | diffusion(beta=-1)", "beta"},
        {"gram |", "expected normalized"},
        {"gram|power|power|power|power|power|power|power|power|power", "more than 8"},
        {"knn(k=9)", "k = 9 among 9 inputs, expected at most 8"},
    };
    toy t = make_toy(RANDOM, N, 1, true);
    okra_graph_ *g = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_FAILS(make(bad[i].text, &t, &g), OKRA_EARG, bad[i].message);
    }
    toy one = make_toy(RANDOM, 1, 1, true);
    CHECK_FAILS(make("knn(k=1)", &one, &g), OKRA_EARG, "expected at most 0");
    CHECK_OK(make("gram", &one, &g));
    okra_graph_free_(g);
    toy linear = make_toy(RANK_DEFICIENT, N, 1, true);
    CHECK_FAILS(make("gram", &linear, &g), OKRA_EARG, "expected 0 or more");
    CHECK_FAILS(make("knn(k=8)", &linear, &g), OKRA_EARG, "expected 0 or more");
    CHECK_ALLOCATIONS(make("knn(k=2)|normalized|diffusion(beta=2)", &t, &g),
                      okra_graph_free_(g));
    CHECK_ALLOCATIONS(make("gram|power(p=3)", &t, &g), okra_graph_free_(g));
}

MAIN(RUN(matrices_follow_their_definitions), RUN(diffusion), RUN(files_and_sparsity),
     RUN(refusals))
