/*
 * shortest_path.c: shortest-path kernel.
 *
 * A feature is (label, label, distance) of an unordered pair of different nodes that are
 * connected; edges have length 1, their labels play no part (K. Borgwardt and H.-P.
 * Kriegel, Shortest-path kernels on graphs, ICDM 2005, with delta kernels on labels and
 * lengths). Cost of a graph: a breadth-first search a node.
 */
#include "kernel/graphs/graph_features.h"

typedef struct shortest_params {
    okra_feature_params_ how;
} shortest_params;

static okra_status extract(const void *arg, const okra_graph_view_ *g, okra_collector_ *c)
{
    OWNED int32_t *queue = NULL, *distance = NULL;
    MAKE(queue, g->nodes);
    MAKE(distance, g->nodes);
    for (int32_t root = 0; root < g->nodes; root++) {
        okra_int head = 0, tail = 0;
        for (okra_int i = 0; i < g->nodes; i++) {
            distance[i] = -1;
        }
        distance[root] = 0;
        queue[tail++] = root;
        while (head < tail) {
            int32_t u = queue[head++];
            uint64_t low = OKRA_MIN_(g->label[root], g->label[u]), code;
            uint64_t high = OKRA_MAX_(g->label[root], g->label[u]);
            if (u > root) {
                CHK(okra_fold_(c, OKRA_CODE_ROOT_, 6, (uint64_t)distance[u], &code));
                CHK(okra_fold_(c, code, low, high, &code));
                CHK(okra_collect_(c, code));
            }
            for (okra_int k = g->first[u]; k < g->first[u + 1]; k++) {
                if (distance[g->other[k]] < 0) {
                    distance[g->other[k]] = distance[u] + 1;
                    queue[tail++] = g->other[k];
                }
            }
        }
    }
    return OKRA_OK;
}

static const okra_option table[] = {OKRA_FEATURE_ROWS_(shortest_params, "1"),
                                    {.name = NULL}};

const okra_kernel_class_ okra_shortest_path_ = {
    .name = "shortest-path",
    .help = "pairs of labels at a distance, of graphs",
    .params = {"shortest-path", table, sizeof(shortest_params)},
    .extract = extract,
    OKRA_FEATURE_CLASS_(OKRA_GRAPHS)};
