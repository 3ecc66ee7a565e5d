/* lowrank_points.h: objects of three kinds, kernels of low rank bound to them, and specs.
 */
#ifndef OKRA_TEST_LOWRANK_POINTS_H
#define OKRA_TEST_LOWRANK_POINTS_H

#include "kernel/lowrank/lowrank.h"
#include "kernel_data.h"

enum { N = 17, M = 6, ALL = N + M, P = 3 };

typedef enum sort { VECTORS, STRINGS, GRAPHS, SORTS } sort;
static const char *const kernels[SORTS] = {"rbf(sigma=1)", "spectrum(k=2) | normalize",
                                           "paths(m=2) | tanimoto"};

typedef struct points {
    okra_data *train, *test, *both; /* both: train, then test */
} points;

static inline okra_data *random_objects(okra_random_ *r, sort which, okra_int n)
{
    static const char *const smiles[] = {
        "CCO",    "CCN",    "c1ccccc1", "CC(=O)O",  "CCCC",   "CNC",
        "C1CC1O", "CC(C)N", "OCCO",     "NCC(=O)O", "CCS",    "CC=CC",
        "C#CC",   "CCCl",   "c1ccncc1", "CC(N)=O",  "C1CCC1", "COC",
        "FC(F)F", "CCBr",   "OC=O",     "NCCN",     "CSC"};
    okra_data *out = NULL;
    double x[ALL * P];
    char letters[ALL][8];
    const char *texts[ALL];
    harness_normals(r, n * P, x);
    for (okra_int i = 0; i < n; i++) {
        for (int k = 0; k < 7; k++) {
            letters[i][k] = (char)('a' + okra_random_below_(r, 3));
        }
        letters[i][7] = 0;
        texts[i] = which == STRINGS ? letters[i] : smiles[i];
    }
    if (which == VECTORS) {
        CHECK_OK(okra_data_dense(x, n, P, P, &out));
        okra_data *owned = NULL;
        CHECK_OK(okra_data_copy(out, &owned));
        okra_data_free(out);
        out = owned;
    } else if (which == STRINGS) {
        CHECK_OK(okra_data_strings(texts, n, &out));
    } else {
        CHECK_OK(okra_data_smiles(NULL, texts, n, &out));
    }
    return out;
}

/* n training objects; `repeats`: they are the first half of them twice. */
static inline void make(uint64_t seed, sort which, okra_int n, bool repeats, points *p)
{
    okra_random_ r = okra_random_create_(seed, 11);
    okra_data *all = random_objects(&r, which, ALL);
    okra_int index[ALL];
    for (okra_int i = 0; i < n + M; i++) {
        index[i] = i >= n ? N + i - n : repeats ? i % ((n + 1) / 2) : i;
    }
    CHECK_OK(okra_data_take(all, index, n + M, &p->both));
    CHECK_OK(okra_data_take(all, index, n, &p->train));
    CHECK_OK(okra_data_take(all, index + n, M, &p->test));
    okra_data_free(all);
}

static inline void clear(points *p)
{
    okra_data_free(p->train);
    okra_data_free(p->test);
    okra_data_free(p->both);
}

/* k(x, x) of the kernels above; other kernels are not asked for. */
static const double ones[M] = {1, 1, 1, 1, 1, 1};

/* A kernel and what it is bound to. */
typedef struct seen {
    okra_kernel *kernel;
    okra_trained_kernel_ *bound;
    okra_test_side_ *other;
} seen;

static inline okra_status see(const char *text, const points *p, okra_store_ *store,
                              seen *s)
{
    okra_status st = OKRA_OK;
    *s = (seen){NULL, NULL, NULL};
    TRY(okra_kernel_parse(text, &s->kernel));
    TRY(store ? okra_trained_kernel_check_kept_(s->kernel, p->train,
                                                okra_data_count(p->train), "k", store)
              : OKRA_OK);
    TRY(store
            ? okra_trained_kernel_load_(NULL, s->kernel, p->train, store, "k", &s->bound)
            : okra_trained_kernel_create_(NULL, s->kernel, p->train, &s->bound));
    TRY(okra_test_side_create_(NULL, s->bound, p->test, &s->other));
done:
    return st;
}

static inline void unsee(seen *s)
{
    okra_test_side_free_(s->other);
    okra_trained_kernel_free_(s->bound);
    okra_kernel_free(s->kernel);
    *s = (seen){NULL, NULL, NULL};
}

/* G (n + m square) <- values of the bound kernel: training and cross parts, tests among
 * themselves too. */
static inline void values(const seen *s, const points *p, const double *whole, double *G)
{
    okra_int n = s->bound->train.n, m = s->other->view.n, w = n + m;
    double K[ALL * ALL], d[ALL], self[ALL];
    okra_trained_kernel_ *again = NULL;
    CHECK_OK(okra_trained_kernel_again_(NULL, s->bound, p->test, &again));
    CHECK_OK(okra_trained_kernel_gram_(NULL, again, okra_mat_of_(K, m, m)));
    CHECK_OK(
        okra_mat_copy_(okra_mat_of_(K, m, m), (okra_mat_){G + n * (w + 1), m, m, w}));
    okra_trained_kernel_free_(again);
    CHECK_OK(okra_trained_kernel_gram_(NULL, s->bound, okra_mat_of_(K, n, n)));
    CHECK_OK(okra_mat_copy_(okra_mat_of_(K, n, n), (okra_mat_){G, n, n, w}));
    CHECK_OK(okra_test_side_cross_(NULL, s->bound, s->other, 0, okra_mat_of_(K, m, n)));
    CHECK_OK(okra_mat_copy_(okra_mat_of_(K, m, n), (okra_mat_){G + n * w, m, n, w}));
    CHECK_OK(okra_test_side_cross_t_(NULL, s->bound, s->other, 0, okra_mat_of_(K, n, m)));
    CHECK_OK(okra_mat_copy_(okra_mat_of_(K, n, m), (okra_mat_){G + n, n, m, w}));
    CHECK_OK(okra_test_side_diagonal_(NULL, s->bound, s->other, d));
    CHECK_OK(okra_trained_kernel_diagonal_(NULL, s->bound, self));
    for (okra_int i = 0; i < n; i++) {
        CHECK(G[i * (w + 1)] == self[i]);
    }
    /* A new object's own is that before low rank. */
    const char *text = okra_kernel_text(s->kernel), *pipe = strrchr(text, '|');
    for (okra_int i = 0; whole && strstr(pipe, "rank=") && i < m; i++) {
        CHECK_NEAR(d[i], whole[i], 1e-15);
    }
}

static const char *const specs[] = {"chol(rank=5)",
                                    "nystrom(rank=5)",
                                    "nystrom(rank=5,pivots=leverage)",
                                    "nystrom(rank=5,pivots=kmeans)",
                                    "sketch(rank=4,p=0.4)",
                                    "sketch(rank=4,kind=gaussian)",
                                    "rff(rank=6)"};
enum { SPECS = sizeof specs / sizeof *specs };

static inline bool fits(sort which, const char *spec)
{
    return which == VECTORS || !strstr(spec, "rff");
}

#endif
