/*
 * paths.c: labelled paths of at most m edges.
 *
 * A feature is the sequence of labels node, edge, node, ..., node along a path that meets
 * no node twice, read in the direction that comes first; single nodes are paths of 0
 * edges. Each path is found from both ends and counted from one. paths(m=6) | tanimoto is
 * the kernel of Brouard, Szafranski and d'Alche-Buc 2016, sec. 6.2 (after Ralaivola et
 * al., Graph kernels for chemical informatics, Neural Networks 18, 2005).
 *
 * Cost of a graph: all paths from all nodes, nodes times (degree - 1)^m.
 */
#include "kernel/graphs/graph_features.h"

enum { LONGEST = 32 };

typedef struct paths_params {
    okra_feature_params_ how;
    okra_int m;
} paths_params;

/* The path being walked: nodes, labels as they come (node, edge, node, ...), codes. */
typedef struct walk {
    int32_t node[LONGEST + 1];
    okra_int next[LONGEST + 1]; /* place among the neighbours */
    uint64_t labels[2 * LONGEST + 1];
    uint64_t code[LONGEST + 1];
} walk;

/* Is this the direction that counts? Of two equal ones, that from the smaller node. */
static bool forward(const walk *w, okra_int edges)
{
    for (okra_int a = 0, b = 2 * edges; a < b; a++, b--) {
        if (w->labels[a] != w->labels[b]) {
            return w->labels[a] < w->labels[b];
        }
    }
    return w->node[0] <= w->node[edges];
}

/* Depth first from one node, with an explicit stack. */
static okra_status walk_from(const okra_graph_view_ *g, int32_t start, okra_int m,
                             bool *on, walk *w, okra_collector_ *c)
{
    okra_int depth = 0;
    w->node[0] = start;
    w->next[0] = g->first[start];
    w->labels[0] = g->label[start];
    CHK(okra_fold_(c, OKRA_CODE_ROOT_, 4, g->label[start], &w->code[0]));
    CHK(okra_collect_(c, w->code[0]));
    on[start] = true;
    while (depth >= 0) {
        int32_t u = w->node[depth];
        if (depth == m || w->next[depth] == g->first[u + 1]) {
            on[u] = false;
            depth--;
            continue;
        }
        okra_int k = w->next[depth]++;
        int32_t v = g->other[k];
        if (on[v]) {
            continue;
        }
        on[v] = true;
        w->labels[2 * depth + 1] = g->edge_label[k];
        w->labels[2 * depth + 2] = g->label[v];
        CHK(okra_fold_(c, w->code[depth], g->edge_label[k], g->label[v],
                       &w->code[depth + 1]));
        depth++;
        w->node[depth] = v;
        w->next[depth] = g->first[v];
        if (forward(w, depth)) {
            CHK(okra_collect_(c, w->code[depth]));
        }
    }
    return OKRA_OK;
}

static okra_status extract(const void *arg, const okra_graph_view_ *g, okra_collector_ *c)
{
    const paths_params *p = arg;
    OWNED bool *on = NULL;
    walk w;
    ZMAKE(on, g->nodes);
    for (int32_t i = 0; i < g->nodes; i++) {
        CHK(walk_from(g, i, p->m, on, &w, c));
    }
    return OKRA_OK;
}

static const okra_option table[] = {{"m", OKRA_OPTION_INT, offsetof(paths_params, m), "6",
                                     0, LONGEST, NULL, "N", "edges of the longest paths"},
                                    OKRA_FEATURE_ROWS_(paths_params, "0"),
                                    {.name = NULL}};

const okra_kernel_class_ okra_paths_ = {
    .name = "paths",
    .help = "labelled paths of at most m edges that two graphs share",
    .params = {"paths", table, sizeof(paths_params)},
    .extract = extract,
    OKRA_FEATURE_CLASS_(OKRA_GRAPHS)};
