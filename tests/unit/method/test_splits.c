/*
 * Splits that may be the best of a node: none is left out that is, by the definition of
 * the reduction in double precision, and of usual outputs few others are kept.
 */
#include "harness.h"
#include "method/neighbours/splits.h"

enum { ITEMS = 210, SPLITS = 150 };

typedef struct node {
    double K[ITEMS * ITEMS], L[ITEMS * ITEMS], cut[SPLITS], gain[SPLITS];
    okra_int at[ITEMS], feature[SPLITS], n, s, leaf, smaller[SPLITS];
} node;

enum { VECTORS, OFFSET, INDEFINITE, SAME, NOTHING, OUTLIER, KINDS };

static double output(int kind, double dot, okra_int i, okra_int j, double scale)
{
    double far = i == 0 && j == 0 ? 1e12 : 0;
    return scale * (kind == SAME      ? 1
                    : kind == NOTHING ? 0
                    : kind == OFFSET  ? dot + 1e3
                    : kind == OUTLIER ? dot + far
                                      : dot);
}

/* K of n inputs; a node of s of them, with outputs of that kind */
static void make_node(node *v, int kind, okra_int s, double scale, uint64_t seed)
{
    enum { D = 3 };
    okra_random_ r = okra_random_create_(seed, 3);
    static double x[ITEMS * D], y[ITEMS * D], noise[ITEMS * ITEMS];
    v->n = s + okra_random_below_(&r, ITEMS - s + 1);
    v->s = s;
    v->leaf = 1 + okra_random_below_(&r, 4);
    harness_normals(&r, v->n * D, x);
    harness_normals(&r, s * D, y);
    harness_normals(&r, s * s, noise);
    for (okra_int i = 0; i < v->n; i++) {
        for (okra_int j = 0; j <= i; j++) {
            double d2 = 0;
            for (int k = 0; k < D; k++) {
                d2 += (x[i * D + k] - x[j * D + k]) * (x[i * D + k] - x[j * D + k]);
            }
            v->K[i * v->n + j] = v->K[j * v->n + i] = exp(-d2);
        }
    }
    for (okra_int i = 0; i < s; i++) {
        v->at[i] = i + (i >= s / 2 ? v->n - s : 0);
        for (okra_int j = 0; j <= i; j++) {
            double dot = kind == INDEFINITE ? noise[i * s + j] : 0;
            for (int k = 0; k < D; k++) {
                dot += y[i * D + k] * y[j * D + k];
            }
            v->L[i * s + j] = v->L[j * s + i] = output(kind, dot, i, j, scale);
        }
    }
    for (okra_int c = 0; c < SPLITS; c++) {
        okra_int a = okra_random_below_(&r, s), b = okra_random_below_(&r, s - 1);
        v->feature[c] = okra_random_below_(&r, v->n);
        const double *row = v->K + v->feature[c] * v->n;
        v->cut[c] = fmax(row[v->at[a]], row[v->at[b + (b >= a)]]);
    }
}

/* g(S_1)/s_1 + g(S_2)/s_2 - g(S)/s of centred outputs, the definition */
static void measure(node *v)
{
    static double M[ITEMS * ITEMS], mean[ITEMS];
    double all = 0;
    for (okra_int i = 0; i < v->s; i++) {
        mean[i] = 0;
        for (okra_int j = 0; j < v->s; j++) {
            mean[i] += v->L[i * v->s + j] / (double)v->s;
        }
        all += mean[i] / (double)v->s;
    }
    for (okra_int i = 0; i < v->s * v->s; i++) {
        M[i] = v->L[i] - mean[i / v->s] - mean[i % v->s] + all;
    }
    for (okra_int c = 0; c < SPLITS; c++) {
        const double *row = v->K + v->feature[c] * v->n;
        double g[2] = {0};
        okra_int count[2] = {0};
        for (okra_int i = 0; i < v->s; i++) {
            bool side = row[v->at[i]] < v->cut[c];
            count[side]++;
            for (okra_int j = 0; j < v->s; j++) {
                g[side] += side == (row[v->at[j]] < v->cut[c]) ? M[i * v->s + j] : 0;
            }
        }
        v->smaller[c] = OKRA_MIN_(count[0], count[1]);
        v->gain[c] = g[0] / (double)count[0] + g[1] / (double)count[1];
    }
}

/* The kept ones, in their order; true where split c is among them. */
static okra_int keep(const node *v, okra_int least, bool *kept)
{
    okra_splits_ w = {0};
    okra_int feature[SPLITS], at = 0;
    double cut[SPLITS];
    memcpy(feature, v->feature, sizeof feature);
    memcpy(cut, v->cut, sizeof cut);
    okra_node_items_ items = {okra_mat_of_((double *)(uintptr_t)v->K, v->n, v->n),
                              okra_mat_of_((double *)(uintptr_t)v->L, v->s, v->s), v->at,
                              v->s, v->leaf};
    CHECK_OK(okra_splits_create_(NULL, v->n, v->s, SPLITS, &w));
    okra_int count = okra_splits_keep_(&w, &items, SPLITS, least, feature, cut);
    for (okra_int c = 0; c < SPLITS; c++) {
        kept[c] = at < count && feature[at] == v->feature[c] && cut[at] == v->cut[c];
        at += kept[c];
    }
    CHECK(at == count);
    okra_splits_free_(&w);
    return count;
}

static const okra_int sizes[] = {2, 3, 9, 63, 64, 65, 127, 128, 129, 200};
enum { SIZES = sizeof sizes / sizeof *sizes };

TEST(the_best_split_is_kept)
{
    static node v;
    static const double scales[] = {1, 0x1p500, 0x1p-500, 0x1p-1040};
    for (int c = 0; c < SOME(KINDS * SIZES * 4); c++) {
        int rest = c, kind = pick(&rest, KINDS), size = pick(&rest, SIZES);
        double best = -(double)INFINITY;
        bool kept[SPLITS];
        okra_int few = 0;
        make_node(&v, kind, sizes[size], scales[rest], (uint64_t)c);
        measure(&v);
        okra_int count = keep(&v, 0, kept);
        for (okra_int k = 0; k < SPLITS; k++) {
            best = fmax(best, v.smaller[k] >= v.leaf ? v.gain[k] : best);
        }
        for (okra_int k = 0; k < SPLITS; k++) {
            bool can = v.smaller[k] >= v.leaf;
            CHECK(can || !kept[k]);
            CHECK(!can || kept[k] || v.gain[k] < best);
            few += can && v.gain[k] >= best * 0.99;
        }
        if ((kind == VECTORS || kind == INDEFINITE) && scales[rest] > 1e-300) {
            CHECK(count <= few);
        }
    }
}

TEST(as_many_are_kept_as_are_asked_for)
{
    static node v;
    bool kept[SPLITS];
    make_node(&v, VECTORS, 128, 1, 5);
    okra_int few = keep(&v, 0, kept);
    CHECK(few > 0 && few < 10);
    for (okra_int least = 1; least <= SPLITS; least++) {
        okra_int count = keep(&v, least, kept);
        CHECK(count >= least && count <= few + least);
    }
}

static okra_status create(okra_splits_ *w)
{
    okra_status st = okra_splits_create_(NULL, 70, 70, 5, w);
    if (st != OKRA_OK) {
        okra_splits_free_(w);
    }
    return st;
}

TEST(failing_allocations_are_survived)
{
    okra_splits_ w = {0};
    CHECK_ALLOCATIONS((w = (okra_splits_){0}, create(&w)), okra_splits_free_(&w));
}

MAIN(RUN(the_best_split_is_kept), RUN(as_many_are_kept_as_are_asked_for),
     RUN(failing_allocations_are_survived))
