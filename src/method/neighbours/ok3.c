/*
 * ok3.c: output-kernel trees, extremely randomised and averaged (P. Geurts, L. Wehenkel,
 * F. d'Alche-Buc, ICML 2006 and 2007; P. Geurts, D. Ernst, L. Wehenkel, Machine Learning
 * 63, 2006).
 *
 * A tree splits on similarities to training inputs: the features of an input x are
 * k_x = (k(x_1,x), ..., k(x_n,x)). Of `features` random ones, each with a random cut
 * between its values at two random inputs of the node, the split of a node S into S_1 and
 * S_2 is taken that reduces most the variance of the outputs in feature space,
 *
 *     s var(S) = sum_{i in S} l_ii - g(S) / s,   g(S) = sum_{i,j in S} l_ij,   s = |S|
 *     reduction = s var(S) - s_1 var(S_1) - s_2 var(S_2)
 *               = g(S_1)/s_1 + g(S_2)/s_2 - g(S)/s
 *
 * In a leaf the prediction is the mean of its outputs, so that over T trees
 *
 *     w_i(x) = (1/T) sum_t [x and x_i in one leaf of t] / |leaf|
 *
 * g of all candidate splits of a node is one product: with the 0/1 matrix Z (features x
 * s) of members of S_1, g(S_1) are the row sums of Z * (Z L_S), and
 * g(S_2) = g(S) - 2 1'L_S z + g(S_1). Of many candidates in a large node those that
 * cannot be the best are left out before (splits.c), which decides the cost: about s^2
 * features / 6 additions of floats a node; trees in parallel, each worker with n^2
 * doubles and a quarter of that. Same seed, same trees on any number of threads. T trees
 * take 7 doubles per node and n per tree.
 */
#include "method/neighbours/splits.h"

typedef struct ok3_options {
    okra_int trees, features, leaf;
} ok3_options;

static const okra_option rows[] = {
    {"trees", OKRA_OPTION_INT, offsetof(ok3_options, trees), "100", 1, 1e6, NULL, "T",
     "trees that are averaged"},
    {"features", OKRA_OPTION_INT, offsetof(ok3_options, features), "0", 0, 1e9, NULL, "F",
     "random splits tried at a node; 0: one per training input, 1000 at most"},
    {"leaf", OKRA_OPTION_INT, offsetof(ok3_options, leaf), "1", 1, 1e9, NULL, "N",
     "least number of training pairs in a leaf"},
    {0},
};

extern const okra_method_ okra_method_ok3_;

/* As stored, one row per node: all numbers are exact in doubles. */
enum { FEATURE, CUT, LEFT, RIGHT, BEGIN, END, REDUCTION, FIELDS };

/* Of more work than twice this the splits that cannot be the best are left out first,
 * down to this: BLAS has other code for small products, which rounds otherwise. */
enum { SMALL = 1 << 21 };

typedef struct tree {
    double *node; /* FIELDS each; FEATURE -1: a leaf, members items[BEGIN..END-1] */
    okra_int count;
} tree;

typedef struct scratch {
    okra_splits_ splits;
    double *L, *Z, *G; /* n x n, (features + 1) x n twice */
    okra_int *features, *at, *aside;
    double *cut;       /* of each candidate         */
    okra_int *feature; /* likewise                  */
    okra_int *stack;
} scratch;

typedef struct forest {
    okra_context *ctx;
    ok3_options o;
    okra_int n;
    okra_mat_ K, L;
    tree *trees;
    double *items; /* trees x n */
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
        okra_int j = w->features[other];
        w->features[other] = w->features[k];
        w->features[k] = j;
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

/* Items below the cut first, both parts in their order; returns how many. */
static okra_int divide(const forest *f, scratch *w, double *item, okra_int s, okra_int c)
{
    okra_int left = 0, right = 0;
    for (okra_int i = 0; i < s; i++) {
        okra_int a = (okra_int)item[i];
        if (f->K.p[w->feature[c] * f->K.ld + a] < w->cut[c]) {
            item[left++] = item[i];
        } else {
            w->aside[right++] = a;
        }
    }
    for (okra_int i = 0; i < right; i++) {
        item[left + i] = (double)w->aside[i];
    }
    return left;
}

/* ---- a tree ---- */

static double *add_node(tree *t, okra_int begin, okra_int end)
{
    double *node = t->node + t->count++ * FIELDS;
    memset(node, 0, FIELDS * sizeof *node);
    node[FEATURE] = -1;
    node[BEGIN] = (double)begin;
    node[END] = (double)end;
    return node;
}

static okra_status split_node(const forest *f, scratch *w, okra_random_ *random,
                              double *items, tree *t, okra_int at, okra_int *depth)
{
    double *node = t->node + at * FIELDS, reduction = 0;
    okra_int begin = (okra_int)node[BEGIN], s = (okra_int)node[END] - begin;
    if (s < 2 * f->o.leaf) {
        return OKRA_OK;
    }
    okra_int count = candidates(f, w, random, items + begin, s);
    if (count == 0) {
        return OKRA_OK;
    }
    okra_node_items_ here = gather(f, w, items + begin, s);
    if (count * s * s > 2 * SMALL) {
        count = okra_splits_keep_(&w->splits, &here, count, SMALL / (s * s), w->feature,
                                  w->cut);
    }
    CHK(products(f, w, &here, count));
    okra_int c = best_split(f, w, s, count, &reduction);
    if (c >= 0) {
        okra_int left = divide(f, w, items + begin, s, c);
        node[FEATURE] = (double)w->feature[c];
        node[CUT] = w->cut[c];
        node[REDUCTION] = reduction;
        node[LEFT] = (double)t->count;
        add_node(t, begin, begin + left);
        node[RIGHT] = (double)t->count;
        add_node(t, begin + left, begin + s);
        w->stack[(*depth)++] = (okra_int)node[LEFT];
        w->stack[(*depth)++] = (okra_int)node[RIGHT];
    }
    return OKRA_OK;
}

static okra_status grow(const forest *f, okra_int number, scratch *w)
{
    tree *t = &f->trees[number];
    double *items = f->items + number * f->n;
    okra_random_ random =
        okra_random_create_(okra_context_seed(f->ctx), 0x0433 + (uint64_t)number);
    okra_int depth = 0;
    MAKE(t->node, (2 * f->n - 1) * FIELDS);
    for (okra_int i = 0; i < f->n; i++) {
        items[i] = (double)i;
        w->features[i] = i;
    }
    add_node(t, 0, f->n);
    w->stack[depth++] = 0;
    while (depth > 0) {
        CHK(split_node(f, w, &random, items, t, w->stack[--depth], &depth));
    }
    double *less = okra_realloc_(t->node, t->count * FIELDS, sizeof *less);
    t->node = less ? less : t->node;
    return OKRA_OK;
}

static okra_status grow_body(void *arg, okra_int begin, okra_int end, int worker)
{
    okra_status st = OKRA_OK;
    const forest *f = arg;
    for (okra_int t = begin; t < end && st == OKRA_OK; t++) {
        st = grow(f, t, &f->work[worker]);
    }
    return st;
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
    MAKE(w->aside, n);
    MAKE(w->cut, width);
    MAKE(w->feature, width);
    MAKE(w->stack, 2 * n + 2);
    return OKRA_OK;
}

static void free_scratch(scratch *w)
{
    okra_splits_free_(&w->splits);
    FREE(w->L, w->Z, w->G, w->features, w->at, w->aside, w->cut, w->feature, w->stack);
}

/* All nodes in one matrix, children numbered in it; roots: where trees begin. */
static okra_status keep_trees(const forest *f, okra_store_ *store)
{
    OWNED double *nodes = NULL, *roots = NULL;
    okra_int total = 0, at = 0;
    for (okra_int t = 0; t < f->o.trees; t++) {
        total += f->trees[t].count;
    }
    CHK(okra_doubles_(f->ctx, total, FIELDS, "the nodes of the trees", &nodes));
    MAKE(roots, f->o.trees);
    for (okra_int t = 0; t < f->o.trees; t++) {
        roots[t] = (double)at;
        for (okra_int k = 0; k < f->trees[t].count; k++) {
            double *node = nodes + (at + k) * FIELDS;
            memcpy(node, f->trees[t].node + k * FIELDS, FIELDS * sizeof *node);
            node[LEFT] += (double)at;
            node[RIGHT] += (double)at;
        }
        at += f->trees[t].count;
    }
    CHK(okra_store_put_(store, "nodes", &nodes, total, FIELDS));
    return okra_store_put_(store, "roots", &roots, 1, f->o.trees);
}

static void forest_clear(forest *f)
{
    for (okra_int t = 0; f->trees && t < f->o.trees; t++) {
        okra_free_(f->trees[t].node);
    }
    for (int i = 0; f->work && i < f->workers; i++) {
        free_scratch(&f->work[i]);
    }
    FREE(f->trees, f->work, f->items);
}

static okra_status fit(okra_context *ctx, const okra_problem_ *p,
                       const okra_options *options, okra_store_ *store)
{
    okra_int n = p->n;
    FREED_BY(forest_clear)
    forest f = {.ctx = ctx, .n = n, .workers = okra_workers_(ctx)};
    OWNED double *K = NULL, *L = NULL;
    CHK(okra_options_read(options, &okra_method_ok3_.options, &f.o));
    if (f.o.features == 0) {
        f.o.features = OKRA_MIN_(n, 1000); /* as for regression trees in the paper */
    }
    f.o.features = OKRA_MIN_(f.o.features, n);
    CHK(okra_problem_host_K_(ctx, p, &K));
    CHK(okra_problem_host_L_(ctx, p, &L));
    f.K = okra_mat_of_(K, n, n);
    okra_mat_mirror_(f.K); /* symmetric to the last bit, whatever made it */
    f.L = okra_mat_of_(L, n, n);
    ZMAKE(f.trees, f.o.trees);
    ZMAKE(f.work, f.workers);
    for (int i = 0; i < f.workers; i++) {
        CHK(make_scratch(&f, &f.work[i]));
    }
    CHK(okra_doubles_(ctx, f.o.trees, n, "the leaves of the trees", &f.items));
    CHK(okra_parallel_(ctx, f.o.trees, 1, "grow trees", grow_body, &f));
    CHK(keep_trees(&f, store));
    return okra_store_put_(store, "items", &f.items, f.o.trees, n);
}

typedef struct descent {
    const okra_query_ *query;
    okra_mat_ nodes, roots, items, out;
} descent;

static okra_status descend(void *arg, okra_int begin, okra_int end, int worker)
{
    const descent *d = arg;
    okra_int trees = d->items.rows;
    (void)worker;
    for (okra_int r = begin; r < end; r++) {
        const double *k = d->query->Kx.p + r * d->query->Kx.ld;
        double *w = d->out.p + r * d->out.ld;
        okra_mat_fill_(okra_mat_part_(d->out, r, 1, 0, d->out.cols), 0);
        for (okra_int t = 0; t < trees; t++) {
            const double *node = d->nodes.p + (okra_int)d->roots.p[t] * FIELDS;
            while (node[FEATURE] >= 0) {
                bool left = k[(okra_int)node[FEATURE]] < node[CUT];
                node = d->nodes.p + (okra_int)node[left ? LEFT : RIGHT] * FIELDS;
            }
            double share = 1 / ((node[END] - node[BEGIN]) * (double)trees);
            for (okra_int i = (okra_int)node[BEGIN]; i < (okra_int)node[END]; i++) {
                w[(okra_int)d->items.p[t * d->items.cols + i]] += share;
            }
        }
    }
    return OKRA_OK;
}

static bool whole(double value)
{
    return value == floor(value);
}

/* A model file may be altered: indices must stay inside, and children come after. */
static okra_status check_nodes(const okra_store_ *store, okra_int n)
{
    okra_mat_ nodes = okra_store_mat_(store, "nodes");
    bool good = true;
    for (okra_int i = 0; good && i < nodes.rows; i++) {
        const double *node = nodes.p + i * FIELDS;
        good = whole(node[FEATURE]) && whole(node[LEFT]) && whole(node[RIGHT]) &&
               whole(node[BEGIN]) && whole(node[END]) && node[BEGIN] >= 0 &&
               node[BEGIN] < node[END] && node[END] <= (double)n &&
               node[FEATURE] < (double)n &&
               (node[FEATURE] < 0 ||
                (node[LEFT] > (double)i && node[LEFT] < (double)nodes.rows &&
                 node[RIGHT] > (double)i && node[RIGHT] < (double)nodes.rows));
    }
    return good ? OKRA_OK
                : okra_fail_(OKRA_EFORMAT, "ok3: the trees of the model are not valid");
}

static okra_status check_trees(const okra_store_ *store, const okra_facts_ *facts)
{
    return check_nodes(store, facts->y->n);
}

static okra_status predict(okra_context *ctx, const okra_store_ *store,
                           okra_query_ *query, okra_mat_ out)
{
    descent d = {query, okra_store_mat_(store, "nodes"), okra_store_mat_(store, "roots"),
                 okra_store_mat_(store, "items"), out};
    CHK(check_nodes(store, query->n));
    return okra_parallel_(ctx, query->m, 4, "trees", descend, &d);
}

/* clang-format off */
static const okra_schema_ kept_trees[] = {
    OKRA_KEEPS_MATRIX_("nodes", 0, "t", "7"),
    OKRA_KEEPS_VALUES_("roots", OKRA_KEPT_WHOLE_, "1", "T", "0", "t-1"),
    OKRA_KEEPS_VALUES_("items", OKRA_KEPT_WHOLE_, "T", "n", "0", "n-1"),
    OKRA_KEEPS_SAME_("inputs", "c", "n"),
    OKRA_KEPT_END_};
static const okra_schema_ *const kept[] = {kept_trees, NULL};
_Static_assert(FIELDS == 7, "as the table of what is kept says");
/* clang-format on */

const okra_method_ okra_method_ok3_ = {
    .name = "ok3",
    .unweighted = "grows trees from pairs that are drawn alike: it does not use weights",
    .help = "output-kernel trees: extremely randomised, on similarities to the inputs",
    .options = {"ok3", rows, sizeof(ok3_options)},
    .fit = fit,
    .form = okra_form_weights_,
    .predict = predict,
    .kept = kept,
    .check = check_trees,
};
