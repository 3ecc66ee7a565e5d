/*
 * network.h: networks whose nodes are objects.
 */
#ifndef OKRA_NETWORK_H_
#define OKRA_NETWORK_H_

#include "data/data.h"

enum { OKRA_NETWORK_NODES_MOST_ = 1 << 28 };

/* An undirected edge with its weight. */
typedef struct okra_link_ {
    okra_int a, b;
    double weight;
} okra_link_;

/* A network of `nodes` nodes; edges come once each. `names` (may be NULL) are copied. A
 * self-loop, an edge that comes twice, an end that is no node and a weight that is not
 * positive are refused, by the number of the edge from 0 in *bad (may be NULL). */
okra_status okra_network_create_(okra_int nodes, const okra_link_ *edges, okra_int count,
                                 const char *const *names, okra_int *bad,
                                 okra_network_ **out);
/* The same nodes, names and edges? */
bool okra_network_equal_(const okra_network_ *a, const okra_network_ *b);
/* n nodes of a network (which is retained); codes == NULL: all of them in order. */
okra_status okra_nodes_create_(const okra_network_ *network, const okra_int *codes,
                               okra_int n, const char *source, okra_data **out);

#endif
