/*
 * ok3.c: output-kernel trees, extremely randomised and averaged (P. Geurts, L. Wehenkel,
 * F. d'Alche-Buc, ICML 2006 and 2007; P. Geurts, D. Ernst, L. Wehenkel, Machine Learning
 * 63, 2006).
 *
 * A tree splits on columns of the inputs (columns.c) or on similarities to training
 * inputs: the features of an input x are then k_x = (k(x_1,x), ..., k(x_n,x)). Of
 * `features` random ones, each with a random cut between its values at two random inputs
 * of the node, the split of a node S into S_1 and S_2 is taken that reduces most the
 * variance of the outputs in feature space,
 *
 *     s var(S) = sum_{i in S} l_ii - g(S) / s,   g(S) = sum_{i,j in S} l_ij,   s = |S|
 *     reduction = s var(S) - s_1 var(S_1) - s_2 var(S_2)
 *               = g(S_1)/s_1 + g(S_2)/s_2 - g(S)/s
 *
 * In a leaf the prediction is the mean of its outputs (trees.h).
 *
 * g of all candidate splits of a node is one product: with the 0/1 matrix Z (features x
 * s) of members of S_1, g(S_1) are the row sums of Z * (Z L_S), and
 * g(S_2) = g(S) - 2 1'L_S z + g(S_1). Of many candidates in a large node those that
 * cannot be the best are left out before (splits.c), which decides the cost: about s^2
 * features / 6 additions of floats a node; trees in parallel, each worker with n^2
 * doubles and a quarter of that. Same seed, same trees on any number of threads.
 */
#include "method/neighbours/splits.h"
#include "method/neighbours/trees.h"

typedef struct ok3_options {
    okra_columns_options_ of;
    int splits;
} ok3_options;

enum { ON_KERNEL, ON_COLUMNS };

static const okra_option rows[] = {
    {"trees", OKRA_OPTION_INT, offsetof(ok3_options, of.trees), "100", 1, 1e6, NULL, "T",
     "trees that are averaged"},
    {"features", OKRA_OPTION_INT, offsetof(ok3_options, of.features), "0", 0, 1e9, NULL,
     "F",
     "random splits tried at a node; 0: one per training input, 1000 at most; of "
     "columns: one per column, 100 at most"},
    {"leaf", OKRA_OPTION_INT, offsetof(ok3_options, of.leaf), "1", 1, 1e9, NULL, "N",
     "least number of training pairs in a leaf"},
    {"splits", OKRA_OPTION_CHOICE, offsetof(ok3_options, splits), "kernel", 1, 0,
     "kernel|columns", "WHAT",
     "split on similarities k(x_i, x), or on the columns of dense inputs"},
    {"parts", OKRA_OPTION_INT, offsetof(ok3_options, of.parts), "0", 0, 1e6, NULL, "N",
     "splits on columns: each tree leaves out one of N random parts of the pairs; 0: "
     "none"},
    {0},
};

extern const okra_method_ okra_method_ok3_;

/* Of more work than twice this the splits that cannot be the best are left out first,
 * down to this: BLAS has other code for small products, which rounds otherwise. */
enum { SMALL = 1 << 21 };

typedef struct scratch {
    okra_splits_ splits;
    double *L, *Z, *G; /* n x n, (features + 1) x n twice */
    okra_int *features, *at;
    double *cut;       /* of each candidate         */
    okra_int *feature; /* likewise                  */
} scratch;

typedef struct forest {
    okra_context *ctx;
    okra_columns_options_ o;
    okra_int n;
    okra_mat_ K, L;
    scratch *work; /* one a worker */
    int workers;
} forest;

/* ---- one split ---- */

/* Random features, each with a cut between its values at two random items (similarities
 * have long tails: between the extremes most cuts would split off a single item). Returns
 * how many were not constant. */
static okra_int candidates(const forest *f, scratch *w, okra_random_ *random,
                           const double *item, okra_int s)
{
    okra_int found = 0;
    for (okra_int k = 0; k < f->n && found < f->o.features; k++) {
        okra_int other = k + okra_random_below_(random, f->n - k);
        OKRA_SWAP_(w->features[other], w->features[k]);
        okra_int j = w->features[k];
        okra_int a = okra_random_below_(random, s), b = okra_random_below_(random, s - 1);
        const double *first = f->K.p + (okra_int)item[a] * f->K.ld; /* K is symmetric */
        const double *second = f->K.p + (okra_int)item[b + (b >= a)] * f->K.ld;
        double x = first[j], y = second[j];
        double low = fmin(x, y), high = fmax(x, y);
        if (high > low) {
            double cut = low + (high - low) * okra_random_uniform_(random);
            w->feature[found] = j;
            w->cut[found++] = cut > low ? cut : high; /* left: below the cut */
        }
    }
    return found;
}

/* The items of a node, which are ascending, and L_S, which at the root is L. */
static okra_node_items_ gather(const forest *f, scratch *w, const double *item,
                               okra_int s)
{
    for (okra_int i = 0; i < s; i++) {
        w->at[i] = (okra_int)item[i];
    }
    for (okra_int i = 0; i < s && s < f->n; i++) {
        const double *row = f->L.p + w->at[i] * f->L.ld;
        for (okra_int j = 0; j < s; j++) {
            w->L[i * s + j] = row[w->at[j]];
        }
    }
    return (okra_node_items_){f->K, s < f->n ? okra_mat_of_(w->L, s, s) : f->L, w->at, s,
                              f->o.leaf};
}

/* Z (width x s, width = count + 1): 1 where the item goes left, a candidate a row; the
 * last row is all 1. G <- Z L_S, whose last row is 1'L_S. Rows of K are read in the order
 * of the items. */
static okra_status products(const forest *f, scratch *w, const okra_node_items_ *node,
                            okra_int count)
{
    okra_int s = node->s;
    for (okra_int c = 0; c <= count; c++) {
        const double *row = f->K.p + (c < count ? w->feature[c] * f->K.ld : 0);
        double cut = c < count ? w->cut[c] : (double)INFINITY;
        okra_splits_left_(row, cut, s, w->at, w->Z + c * s);
    }
    return okra_gemm_(f->ctx, false, false, 1, okra_mat_of_(w->Z, count + 1, s), node->L,
                      0, okra_mat_of_(w->G, count + 1, s));
}

/* The candidate of the largest reduction; -1: none leaves `leaf` items on both sides. */
static okra_int best_split(const forest *f, const scratch *w, okra_int s, okra_int count,
                           double *reduction)
{
    okra_int best = -1;
    const double *ones = w->Z + count * s, *sums = w->G + count * s; /* 1, 1'L_S */
    double total = okra_dot_(s, ones, sums);
    *reduction = -(double)INFINITY;
    for (okra_int c = 0; c < count; c++) {
        const double *z = w->Z + c * s;
        double left = okra_dot_(s, z, ones), g1 = okra_dot_(s, z, w->G + c * s);
        double right = (double)s - left, g2 = total - 2 * okra_dot_(s, z, sums) + g1;
        double gain = g1 / left + g2 / right - total / (double)s;
        if (left >= (double)f->o.leaf && right >= (double)f->o.leaf &&
            gain > *reduction) {
            *reduction = gain;
            best = c;
        }
    }
    return best;
}

static okra_status split_node(void *arg, int worker, okra_random_ *random,
                              const double *item, okra_int s, okra_split_ *out)
{
    const forest *f = arg;
    scratch *w = &f->work[worker];
    double reduction = 0;
    okra_int count = candidates(f, w, random, item, s);
    if (count == 0) {
        return OKRA_OK;
    }
    okra_node_items_ here = gather(f, w, item, s);
    if (count * s * s > 2 * SMALL) {
        count = okra_splits_keep_(&w->splits, &here, count, SMALL / (s * s), w->feature,
                                  w->cut);
    }
    CHK(products(f, w, &here, count));
    okra_int c = best_split(f, w, s, count, &reduction);
    if (c >= 0) {
        *out = (okra_split_){w->feature[c], f->K.p + w->feature[c] * f->K.ld, w->cut[c],
                             reduction};
    }
    return OKRA_OK;
}

static void begin_tree(void *arg, int worker)
{
    const forest *f = arg;
    okra_iota_(f->n, f->work[worker].features);
}

/* ---- the method ---- */

static okra_status make_scratch(const forest *f, scratch *w)
{
    okra_int n = f->n, width = f->o.features + 1;
    if (width * n * n > 2 * SMALL) {
        CHK(okra_splits_create_(f->ctx, n, n, f->o.features, &w->splits));
    }
    CHK(okra_doubles_(f->ctx, n, n, "outputs of a node of a tree", &w->L));
    CHK(okra_doubles_(f->ctx, n, width, "splits of a tree", &w->Z));
    CHK(okra_doubles_(f->ctx, n, width, "splits of a tree", &w->G));
    MAKE(w->features, n);
    MAKE(w->at, n);
    MAKE(w->cut, width);
    MAKE(w->feature, width);
    return OKRA_OK;
}

static void forest_clear(forest *f)
{
    for (int i = 0; f->work && i < f->workers; i++) {
        scratch *w = &f->work[i];
        okra_splits_free_(&w->splits);
        FREE(w->L, w->Z, w->G, w->features, w->at, w->cut, w->feature);
    }
    okra_free_(f->work);
}

static okra_status fit_kernel(okra_context *ctx, const okra_problem_ *p,
                              const okra_columns_options_ *o, okra_store_ *store)
{
    okra_int n = p->n;
    FREED_BY(forest_clear)
    forest f = {.ctx = ctx, .o = *o, .n = n, .workers = okra_workers_(ctx)};
    FREED_BY(okra_trees_clear_) okra_trees_ grown = {0};
    OWNED double *K = NULL, *L = NULL;
    if (f.o.features == 0) {
        f.o.features = OKRA_MIN_(n, 1000); /* as for regression trees in the paper */
    }
    f.o.features = OKRA_MIN_(f.o.features, n);
    CHK(okra_problem_host_K_(ctx, p, &K));
    CHK(okra_problem_host_L_(ctx, p, &L));
    f.K = okra_mat_of_(K, n, n);
    okra_mat_mirror_(f.K); /* symmetric to the last bit, whatever made it */
    f.L = okra_mat_of_(L, n, n);
    ZMAKE(f.work, f.workers);
    for (int i = 0; i < f.workers; i++) {
        CHK(make_scratch(&f, &f.work[i]));
    }
    okra_growing_trees_ how = {.count = o->trees,
                               .n = n,
                               .leaf = o->leaf,
                               .stream = 0x0433,
                               .split = split_node,
                               .begin = begin_tree,
                               .forest = &f};
    CHK(okra_trees_grow_(ctx, &how, &grown));
    return okra_trees_keep_(ctx, &grown, store);
}

static okra_status fit(okra_context *ctx, const okra_problem_ *p,
                       const okra_options *options, okra_store_ *store)
{
    ok3_options o;
    FREED_BY(okra_judged_clear_) okra_judged_ judged = {0};
    CHK(okra_options_read(options, &okra_method_ok3_.options, &o));
    REFUSE_IF(o.splits == ON_KERNEL && o.of.parts > 0, OKRA_EARG,
              "ok3: parts is for splits on columns");
    if (o.splits == ON_KERNEL) {
        return fit_kernel(ctx, p, &o.of, store);
    }
    CHK(okra_judged_create_(ctx, p, &judged));
    CHK(okra_columns_grow_(ctx, p, judged.F, &o.of, NULL, store));
    return okra_store_put_number_(store, "columns", (double)p->x->d);
}

/* How many columns trees split on; 0: similarities. */
static okra_int columns(const okra_store_ *store)
{
    return (okra_int)okra_store_number_(store, "columns", 0);
}

static okra_status check_trees(const okra_store_ *store, const okra_facts_ *facts)
{
    okra_int d = columns(store);
    REFUSE_IF(d > 0 && facts->x->kind != OKRA_DENSE, OKRA_EFORMAT,
              "ok3: the trees split on columns, which the inputs have none of");
    return okra_trees_check_(store, facts->y->n, d > 0 ? d : facts->y->n);
}

static okra_status predict(okra_context *ctx, const okra_store_ *store,
                           okra_query_ *query, okra_mat_ out)
{
    okra_mat_ X = query->Kx;
    if (columns(store) > 0) {
        CHK(okra_columns_query_(query, &X));
    }
    CHK(okra_trees_check_(store, query->n, X.cols));
    return okra_trees_weights_(ctx, store, X, out);
}

/* Where nobody asks for a kernel, dense inputs are split on their columns. */
static okra_status fill(const okra_open_ *open, okra_options *o)
{
    return open->kx && open->x && open->x->kind == OKRA_DENSE &&
                   !okra_options_is_set(o, "splits")
               ? okra_options_set(o, "splits", "columns")
               : OKRA_OK;
}

/* clang-format off */
static const okra_schema_ kept_columns[] = {
    OKRA_KEEPS_NUMBER_("columns", OKRA_KEPT_WHOLE_, "x", "x"),
    OKRA_TREES_KEPT_,
    OKRA_KEPT_END_};
static const okra_schema_ kept_trees[] = {
    OKRA_TREES_KEPT_,
    OKRA_KEPT_END_};
/* clang-format on */

const okra_method_ okra_method_ok3_ = {
    .name = "ok3",
    .unweighted = "grows trees from pairs of equal weight: it does not use weights",
    .help = "output-kernel trees: extremely randomised, on columns or similarities",
    .options = {"ok3", rows, sizeof(ok3_options)},
    .automatic = &(const okra_auto_){.fill = fill},
    .fit = fit,
    .predict = predict,
    .kept = (const okra_schema_ *const[]){kept_columns, kept_trees, NULL},
    .check = check_trees,
};
