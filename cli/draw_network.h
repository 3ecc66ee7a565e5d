/*
 * draw_network.h: networks side by side, each with its adjacency matrix below.
 */
#ifndef OKRA_DRAW_NETWORK_H
#define OKRA_DRAW_NETWORK_H

#include "okra/okra.h"

#include <stdio.h>

typedef struct draw_panel {
    const char *title;
    const okra_link *edges;
    okra_int count;
} draw_panel;

/* Nodes are placed once, by the edges of the first panel. marked[i]: drawn in another
 * colour (the labelled nodes); may be NULL. false: out of memory. */
bool draw_networks(FILE *out, okra_int nodes, const bool *marked,
                   const draw_panel *panels, int count);

#endif
