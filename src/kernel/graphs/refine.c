/*
 * refine.c: one round of label refinement (B. Weisfeiler and A. Leman, 1968): every node
 * gets a new label for its old one and the multiset of the edges and labels around it.
 */
#include "kernel/graphs/graph_features.h"

OKRA_ORDER_(in_order, okra_neighbour_, OKRA_UP_(edge), OKRA_UP_(node))

okra_status okra_neighbours_(const okra_graph_view_ *g, okra_neighbour_ **out)
{
    okra_int most = 0;
    for (okra_int i = 0; i < g->nodes; i++) {
        most = OKRA_MAX_(most, g->first[i + 1] - g->first[i]);
    }
    MAKE(*out, most);
    return OKRA_OK;
}

okra_status okra_refine_(const okra_graph_view_ *g, okra_collector_ *c, uint64_t round,
                         const uint64_t *code, okra_neighbour_ *around, uint64_t *next)
{
    for (okra_int i = 0; i < g->nodes; i++) {
        okra_int degree = g->first[i + 1] - g->first[i];
        for (okra_int k = 0; k < degree; k++) {
            okra_int at = g->first[i] + k;
            around[k] = (okra_neighbour_){g->edge_label[at], code[g->other[at]]};
        }
        if (degree > 1) {
            qsort(around, (size_t)degree, sizeof *around, in_order);
        }
        CHK(okra_fold_(c, code[i], 5, round, &next[i]));
        for (okra_int k = 0; k < degree; k++) {
            CHK(okra_fold_(c, next[i], around[k].edge, around[k].node, &next[i]));
        }
    }
    return OKRA_OK;
}
