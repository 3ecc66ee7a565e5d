/*
 * The smoothness penalty in factored form: C + 2 lambda2 Phi'M Phi against M written out
 * for K = Phi Phi', at ranks that are not full; features in memory and in a file.
 */
#include "solve/moments.h"
#include "thin.h"

#include <unistd.h>

enum { P = 3 };

typedef struct task {
    okra_int n, m;
    double *x, *Phi, *K, *M, *want;
    thin in;
    okra_problem_ p;
} task;

static double *doubles(okra_int count)
{
    return calloc((size_t)count + 1, sizeof(double));
}

static void make(uint64_t seed, okra_int n, const char *kernel, const char *low, task *t)
{
    okra_random_ r = okra_random_create_(seed, 3);
    *t = (task){.n = n, .x = doubles(n * P)};
    harness_normals(&r, n * P, t->x);
    for (okra_int i = 0; i < n * P; i++) {
        t->x[i] *= 0.7; /* neighbours that are near */
    }
    t->in = thin_open(t->x, n, P, P, kernel, low, seed);
    t->m = t->in.map->rank;
    t->Phi = doubles(n * t->m);
    t->K = doubles(n * n);
    t->M = doubles(n * n);
    t->want = doubles(t->m * t->m);
    double *V = doubles(n * t->in.map->columns);
    okra_mat_ Vm = okra_mat_of_(V, n, t->in.map->columns);
    CHECK_OK(okra_map_values_(NULL, t->in.map, t->in.data, 0, Vm));
    CHECK_OK(okra_map_features_(NULL, t->in.map, Vm, okra_mat_of_(t->Phi, n, t->m)));
    free(V);
    okra_mat_ F = okra_mat_of_(t->Phi, n, t->m);
    CHECK_OK(okra_gemm_(NULL, false, true, 1, F, F, 0, okra_mat_of_(t->K, n, n)));
    t->p = (okra_problem_){
        .n = n / 2, .unlabelled = n - n / 2, .x = t->in.data, .map_x = t->in.map};
}

static void clear(task *t)
{
    thin_close(&t->in);
    free(t->x);
    free(t->Phi);
    free(t->K);
    free(t->M);
    free(t->want);
}

/* W_ij = max(K_ij, 0) of the union of the k nearest; k = 0: of all pairs, as they are. */
static void naive_weights(const task *t, okra_int k, double *W)
{
    okra_int n = t->n;
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            okra_int closer = 0;
            double d = t->K[j * n + j] - 2 * t->K[i * n + j];
            for (okra_int l = 0; k > 0 && l < n && closer < k; l++) {
                closer += l != i && t->K[l * n + l] - 2 * t->K[i * n + l] < d;
            }
            if ((i != j || k == 0) && closer < OKRA_MAX_(k, 1)) { /* knn has no loops */
                W[i * n + j] = W[j * n + i] =
                    k > 0 ? fmax(t->K[i * n + j], 0) : t->K[i * n + j];
            }
        }
    }
}

/* want = C + 2 lambda2 Phi' M^power Phi */
static void naive(task *t, okra_int k, bool normalized, int power, double lambda2)
{
    okra_int n = t->n, m = t->m;
    double *degree = doubles(n), *MT = doubles(n * m), *T = doubles(n * m);
    memset(t->M, 0, (size_t)(n * n) * sizeof(double));
    naive_weights(t, k, t->M);
    for (okra_int i = 0; i < n * n; i++) {
        degree[i / n] += t->M[i];
    }
    for (okra_int i = 0; i < n * n; i++) {
        double a = degree[i / n], b = degree[i % n];
        t->M[i] = i / n == i % n ? a - t->M[i] : -t->M[i];
        t->M[i] = !normalized ? t->M[i] : a > 0 && b > 0 ? t->M[i] / sqrt(a * b) : 0;
    }
    memcpy(T, t->Phi, (size_t)(n * m) * sizeof *T);
    okra_mat_ Tm = okra_mat_of_(T, n, m), MTm = okra_mat_of_(MT, n, m);
    for (int s = 0; s < power; s++) {
        CHECK_OK(okra_gemm_(NULL, false, false, 1, okra_mat_of_(t->M, n, n), Tm, 0, MTm));
        CHECK_OK(okra_mat_copy_(MTm, Tm));
    }
    okra_mat_ F = okra_mat_of_(t->Phi, n, m), want = okra_mat_of_(t->want, m, m);
    okra_mat_ labelled = okra_mat_of_(t->Phi, t->p.n, m);
    CHECK_OK(okra_gemm_(NULL, true, false, 2 * lambda2, F, Tm, 0, want));
    CHECK_OK(okra_gemm_(NULL, true, false, 1, labelled, labelled, 1, want));
    free(degree);
    free(MT);
    free(T);
}

static okra_status smooth(okra_context *ctx, const task *t, const char *graph,
                          double lambda2, double *out)
{
    okra_status st = OKRA_OK;
    okra_moments_ moments = {0};
    TRY(okra_moments_create_(ctx, &t->p, false, 0, NULL, &moments));
    TRY(okra_moments_smooth_(ctx, &t->p, graph, lambda2, &moments));
    if (out) {
        memcpy(out, moments.C, (size_t)(t->m * t->m) * sizeof *out);
    }
done:
    okra_moments_clear_(&moments);
    return st;
}

static const struct {
    const char *text;
    okra_int k;
    bool normalized;
    int power;
} graphs[] = {{"gram", 0, false, 1},
              {"gram|normalized", 0, true, 1},
              {"knn(k=1)", 1, false, 1},
              {"knn(k=4)|normalized", 4, true, 1},
              {"knn(k=3)|power(p=2)", 3, false, 2},
              {"knn(k=5)|normalized|power(p=3)", 5, true, 3},
              {"knn(k=2)|normalized|power(p=2)|power(p=2)", 2, true, 4}};
enum { GRAPHS = sizeof graphs / sizeof *graphs };

static double error_of(okra_context *ctx, task *t, int g)
{
    double *got = doubles(t->m * t->m);
    naive(t, graphs[g].k, graphs[g].normalized, graphs[g].power, 0.3);
    CHECK_OK(smooth(ctx, t, graphs[g].text, 0.3, got));
    double error = harness_relative(t->m * t->m, got, t->want);
    free(got);
    return error;
}

/* Ten times the worst over 50 seeds, which was 3.5e-15. */
TEST(penalties_follow_their_definition)
{
    static const char *const kinds[] = {"nystrom(rank=6)", "chol(rank=9,tol=0)",
                                        "sketch(rank=5,p=0.4)", "rff(rank=40)"};
    for (int c = 0; c < GRAPHS * 4 * 3; c++) {
        task t;
        int rest = c, graph = pick(&rest, GRAPHS), kind = pick(&rest, 4);
        make((uint64_t)c, 20, "rbf(sigma=1)", kinds[kind], &t);
        /* a poor sketch has negative row sums, which gram refuses */
        if (kind < 2 || graphs[graph].k > 0) {
            CHECK_NEAR(error_of(NULL, &t, graph), 0, 3.5e-14);
        }
        clear(&t);
    }
}

/* More than one block of pairs; and a budget that puts the features into a file. */
TEST(blocks_and_files)
{
    enum { LARGE = 600 };
    task t;
    okra_context *small = NULL;
    make(1, LARGE, "rbf(sigma=1)", "nystrom(rank=50)", &t);
    CHECK_OK(okra_context_create(&small));
    CHECK_OK(okra_context_set_threads(small, 2));
    CHECK_OK(okra_context_set_memory(small, okra_account_bytes_(small) + 950000));
    for (int g = 2; g < GRAPHS; g++) {
        double *got = doubles(t.m * t.m), *again = doubles(t.m * t.m);
        CHECK_NEAR(error_of(NULL, &t, g), 0, 1e-12);
        CHECK_OK(smooth(NULL, &t, graphs[g].text, 0.3, got));
        CHECK_OK(smooth(small, &t, graphs[g].text, 0.3, again));
        CHECK_NEAR(harness_relative(t.m * t.m, again, got), 0, 3.5e-14);
        CHECK_OK(smooth(small, &t, graphs[g].text, 0.3, got));
        CHECK(memcmp(again, got, (size_t)(t.m * t.m) * sizeof *got) == 0);
        free(got);
        free(again);
    }
    CHECK_FAILS(smooth(small, &t, "knn(share=0.5)", 1, NULL), OKRA_EBUDGET,
                "300 neighbours of each of 600 inputs");
    okra_context_free(small);
    clear(&t);
}

/* A linear kernel has negative values, which no rank explains; a factor of an RBF kernel
 * whose features are poor has them too, and these count as 0. */
TEST(negative_values)
{
    task t;
    make(1, 20, "linear", "chol(rank=3,tol=0)", &t);
    CHECK_FAILS(smooth(NULL, &t, "knn(k=19)", 1, NULL), OKRA_EARG, "expected 0 or more");
    clear(&t);
    int negative = 0;
    for (uint64_t seed = 0; seed < 5; seed++) {
        make(seed, 20, "rbf(sigma=0.7)", "nystrom(rank=4)", &t);
        for (okra_int i = 0; i < 400; i++) {
            negative += t.K[i] < -1e-6;
        }
        CHECK_OK(smooth(NULL, &t, "knn(k=19)", 1, NULL));
        clear(&t);
    }
    CHECK(negative > 0);
}

TEST(small_and_degenerate)
{
    task t;
    double got[4];
    make(1, 2, "rbf(sigma=1)", "nystrom(rank=2)", &t); /* two inputs, one labelled */
    naive(&t, 1, false, 1, 2);
    CHECK_OK(smooth(NULL, &t, "knn(k=1)", 2, got));
    CHECK_NEAR(harness_relative(4, got, t.want), 0, 1e-14);
    CHECK_FAILS(smooth(NULL, &t, "knn(k=2)", 2, NULL), OKRA_EARG, "expected at most 1");
    CHECK_FAILS(smooth(NULL, &t, "file(none.npy)", 2, NULL), OKRA_EIO, "none.npy");
    CHECK_FAILS(smooth(NULL, &t, "knn(k=1)|diffusion", 2, NULL), OKRA_EUNSUPPORTED,
                "diffusion needs");
    CHECK_FAILS(smooth(NULL, &t, "gram|power(p=2)", 2, NULL), OKRA_EUNSUPPORTED,
                "a power of gram needs");
    clear(&t);
    make(2, 8, "rbf(sigma=1)", "nystrom(rank=5)", &t);
    memcpy(t.x + 4 * P, t.x, 4 * P * sizeof *t.x); /* every input twice */
    CHECK_OK(smooth(NULL, &t, "knn(k=1)|normalized|power(p=2)", 2, NULL));
    CHECK_ALLOCATIONS(smooth(NULL, &t, "knn(k=2)|normalized|power(p=4)", 2, NULL),
                      (void)0);
    CHECK_ALLOCATIONS(smooth(NULL, &t, "gram|normalized", 2, NULL), (void)0);
    clear(&t);
    /* far apart: nobody has neighbours, so that there is nothing to smooth */
    make(3, 6, "rbf(sigma=1e-3)", "nystrom(rank=6)", &t);
    double *C = doubles(36), *all = doubles(36);
    CHECK_OK(smooth(NULL, &t, "gram|normalized", 0, C));
    CHECK_OK(smooth(NULL, &t, "gram|normalized", 5, all));
    CHECK(memcmp(C, all, 36 * sizeof *C) == 0);
    CHECK_OK(smooth(NULL, &t, "knn(k=2)|normalized", 5, all));
    CHECK(memcmp(C, all, 36 * sizeof *C) == 0);
    free(C);
    free(all);
    clear(&t);
}

MAIN(RUN(penalties_follow_their_definition), RUN(blocks_and_files), RUN(negative_values),
     RUN(small_and_degenerate))
