/*
 * trees.c: trees as a model keeps them, and the weights that they give.
 *
 * T trees over n pairs take 7 doubles per node, fewer than 2 n nodes a tree, and n per
 * tree. A query takes the depth of each tree.
 */
#include "method/neighbours/trees.h"

enum { FIELDS = OKRA_NODE_FIELDS_ };
_Static_assert(FIELDS == 7, "as the table of what is kept says");

void okra_trees_clear_(okra_trees_ *trees)
{
    for (okra_int t = 0; trees->trees && t < trees->count; t++) {
        okra_free_(trees->trees[t].node);
    }
    FREE(trees->trees, trees->items);
    *trees = (okra_trees_){0};
}

typedef struct growth {
    okra_context *ctx;
    const okra_growing_trees_ *how;
    okra_trees_ trees;
} growth;

static void add_node(okra_tree_ *tree, okra_int begin, okra_int end)
{
    double *node = tree->node + tree->count++ * FIELDS;
    memset(node, 0, FIELDS * sizeof *node);
    node[OKRA_NODE_FEATURE_] = -1;
    node[OKRA_NODE_BEGIN_] = (double)begin;
    node[OKRA_NODE_END_] = (double)end;
}

/* The items of a tree, those that it sees first; returns how many. The units are dealt
 * out anew for every `hands` trees. */
static okra_int deal(const growth *g, okra_int number, okra_int *hand, double *items)
{
    const okra_growing_trees_ *h = g->how;
    const okra_int *part = h->units ? h->units->part : NULL;
    okra_int seen = 0, out = h->n, count = part ? h->units->count : h->n;
    if (h->hands > 0) {
        okra_random_ random = okra_random_create_(
            okra_context_seed(g->ctx), 0x70415 + (uint64_t)(number / h->hands));
        okra_iota_(count, hand);
        okra_random_shuffle_(&random, count, hand); /* the place of each unit */
    }
    for (okra_int i = 0; i < h->n; i++) {
        if (h->hands > 0 && hand[part ? part[i] : i] % h->hands == number % h->hands) {
            items[--out] = (double)i;
        } else {
            items[seen++] = (double)i;
        }
    }
    return seen;
}

/* Items below the cut first, both parts in their order; returns how many. */
static okra_int divide(const okra_split_ *split, double *item, okra_int s, double *aside)
{
    okra_int left = 0, right = 0;
    for (okra_int i = 0; i < s; i++) {
        if (split->row[(okra_int)item[i]] < split->cut) {
            item[left++] = item[i];
        } else {
            aside[right++] = item[i];
        }
    }
    memcpy(item + left, aside, (size_t)right * sizeof *item);
    return left;
}

static okra_status grow(growth *g, okra_int number, int worker)
{
    const okra_growing_trees_ *h = g->how;
    okra_tree_ *t = &g->trees.trees[number];
    double *items = g->trees.items + number * h->n;
    okra_random_ random =
        okra_random_create_(okra_context_seed(g->ctx), h->stream + (uint64_t)number);
    OWNED okra_int *stack = NULL;
    OWNED double *aside = NULL;
    okra_int depth = 0;
    MAKE(stack, 2 * h->n + 2);
    MAKE(aside, h->n);
    okra_int seen = deal(g, number, stack, items);
    MAKE(t->node, (2 * seen - 1) * FIELDS);
    if (h->begin) {
        h->begin(h->forest, worker);
    }
    add_node(t, 0, seen);
    stack[depth++] = 0;
    while (depth > 0) {
        double *node = t->node + stack[--depth] * FIELDS;
        okra_int begin = (okra_int)node[OKRA_NODE_BEGIN_],
                 s = (okra_int)node[OKRA_NODE_END_] - begin;
        okra_split_ best = {.feature = -1};
        if (s >= 2 * h->leaf) {
            CHK(h->split(h->forest, worker, &random, items + begin, s, &best));
        }
        if (best.feature >= 0) {
            okra_int left = divide(&best, items + begin, s, aside);
            node[OKRA_NODE_FEATURE_] = (double)best.feature;
            node[OKRA_NODE_CUT_] = best.cut;
            node[OKRA_NODE_REDUCTION_] = best.reduction;
            node[OKRA_NODE_LEFT_] = (double)t->count;
            node[OKRA_NODE_RIGHT_] = (double)(t->count + 1);
            stack[depth++] = t->count;
            stack[depth++] = t->count + 1;
            add_node(t, begin, begin + left);
            add_node(t, begin + left, begin + s);
        }
    }
    double *less = okra_realloc_(t->node, t->count * FIELDS, sizeof *less);
    t->node = less ? less : t->node;
    return OKRA_OK;
}

static okra_status grow_body(void *arg, okra_int begin, okra_int end, int worker)
{
    for (okra_int t = begin; t < end; t++) {
        CHK(grow(arg, t, worker));
    }
    return OKRA_OK;
}

static void growth_clear(growth *g)
{
    okra_trees_clear_(&g->trees);
}

okra_status okra_trees_grow_(okra_context *ctx, const okra_growing_trees_ *how,
                             okra_trees_ *out)
{
    FREED_BY(growth_clear)
    growth g = {.ctx = ctx, .how = how, .trees = {.count = how->count, .n = how->n}};
    ZMAKE(g.trees.trees, how->count);
    CHK(okra_doubles_(ctx, how->count, how->n, "the leaves of the trees",
                      &g.trees.items));
    CHK(okra_parallel_(ctx, how->count, 1, "grow trees", grow_body, &g));
    *out = TAKE(g.trees);
    return OKRA_OK;
}

okra_status okra_trees_keep_(okra_context *ctx, okra_trees_ *trees, okra_store_ *store)
{
    OWNED double *nodes = NULL, *roots = NULL;
    okra_int total = 0, at = 0;
    for (okra_int t = 0; t < trees->count; t++) {
        total += trees->trees[t].count;
    }
    CHK(okra_doubles_(ctx, total, FIELDS, "the nodes of the trees", &nodes));
    MAKE(roots, trees->count);
    for (okra_int t = 0; t < trees->count; t++) {
        const okra_tree_ *tree = &trees->trees[t];
        roots[t] = (double)at;
        for (okra_int k = 0; k < tree->count; k++) {
            double *node = nodes + (at + k) * FIELDS;
            memcpy(node, tree->node + k * FIELDS, FIELDS * sizeof *node);
            node[OKRA_NODE_LEFT_] += (double)at;
            node[OKRA_NODE_RIGHT_] += (double)at;
        }
        at += tree->count;
    }
    CHK(okra_store_put_(store, "nodes", &nodes, total, FIELDS));
    CHK(okra_store_put_(store, "roots", &roots, 1, trees->count));
    return okra_store_put_(store, "items", &trees->items, trees->count, trees->n);
}

static bool whole(double value)
{
    return value == floor(value);
}

okra_status okra_trees_check_(const okra_store_ *store, okra_int n, okra_int features)
{
    okra_mat_ nodes = okra_store_mat_(store, "nodes");
    bool good = true;
    for (okra_int i = 0; good && i < nodes.rows; i++) {
        const double *node = nodes.p + i * FIELDS;
        double feature = node[OKRA_NODE_FEATURE_], left = node[OKRA_NODE_LEFT_],
               right = node[OKRA_NODE_RIGHT_], begin = node[OKRA_NODE_BEGIN_],
               end = node[OKRA_NODE_END_];
        good = whole(feature) && whole(left) && whole(right) && whole(begin) &&
               whole(end) && begin >= 0 && begin < end && end <= (double)n &&
               feature < (double)features &&
               (feature < 0 || (left > (double)i && left < (double)nodes.rows &&
                                right > (double)i && right < (double)nodes.rows));
    }
    return good ? OKRA_OK
                : okra_fail_(OKRA_EFORMAT, "ok3: the trees of the model are not valid");
}

typedef struct descent {
    okra_mat_ nodes, roots, items, X, out;
} descent;

static okra_status descend(void *arg, okra_int begin, okra_int end, int worker)
{
    const descent *d = arg;
    okra_int trees = d->items.rows;
    for (okra_int r = begin; r < end; r++) {
        const double *x = d->X.p + r * d->X.ld;
        double *w = d->out.p + r * d->out.ld;
        okra_mat_fill_(okra_mat_part_(d->out, r, 1, 0, d->out.cols), 0);
        for (okra_int t = 0; t < trees; t++) {
            const double *node = okra_tree_leaf_(d->nodes.p, d->roots.p[t], x);
            okra_int first = (okra_int)node[OKRA_NODE_BEGIN_],
                     last = (okra_int)node[OKRA_NODE_END_];
            double share =
                1 / ((node[OKRA_NODE_END_] - node[OKRA_NODE_BEGIN_]) * (double)trees);
            for (okra_int i = first; i < last; i++) {
                w[(okra_int)d->items.p[t * d->items.cols + i]] += share;
            }
        }
    }
    return OKRA_OK;
}

okra_status okra_trees_weights_(okra_context *ctx, const okra_store_ *store, okra_mat_ X,
                                okra_mat_ out)
{
    descent d = {okra_store_mat_(store, "nodes"), okra_store_mat_(store, "roots"),
                 okra_store_mat_(store, "items"), X, out};
    return okra_parallel_(ctx, out.rows, 4, "trees", descend, &d);
}
