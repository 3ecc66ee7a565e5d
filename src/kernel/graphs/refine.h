/*
 * refine.h: one round of label refinement, shared by wl and ecfp.
 */
#ifndef OKRA_REFINE_H_
#define OKRA_REFINE_H_

#include "kernel/graphs/graph_features.h"

/* A neighbour as it is seen: the label of the edge and the code of the node. */
typedef struct okra_neighbour_ {
    uint64_t edge, node;
} okra_neighbour_;

/* Room for the neighbours of any one node. */
okra_status okra_neighbours_(const okra_graph_view_ *g, okra_neighbour_ **out);

/* next[i] <- code of (round, code[i], sorted neighbours of i as they are seen). */
okra_status okra_refine_(const okra_graph_view_ *g, okra_collector_ *c, uint64_t round,
                         const uint64_t *code, okra_neighbour_ *around, uint64_t *next);

#endif
