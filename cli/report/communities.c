/*
 * communities.c: groups by modularity (Blondel, Guillaume, Lambiotte and Lefebvre 2008).
 *
 * With m edges, degrees d and groups c, the modularity is the share of edges within
 * groups less what nodes of these degrees would have by chance: sum over pairs of one
 * group of A_ij / 2m - d_i d_j / 4m^2. Nodes move one by one to the group of a neighbour
 * where it grows most, until none does; then groups are merged two by two while that
 * makes it grow. Nodes and groups are visited in their order: no random numbers.
 */
#include "report/communities.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 50 };

typedef struct graph {
    size_t n, *first,
        *other;             /* neighbours of i: other[first[i]] .. other[first[i+1]-1] */
    double *degree, *total; /* of nodes, of groups */
    double *links;          /* of the node in hand, to each group */
    double edges;           /* 2m */
} graph;

static void fill(graph *g, const size_t *ends, size_t count)
{
    for (size_t k = 0; k < 2 * count; k++) {
        g->first[ends[k] + 1]++;
        g->degree[ends[k]]++;
    }
    for (size_t i = 0; i < g->n; i++) {
        g->first[i + 1] += g->first[i];
        g->total[i] = g->degree[i];
    }
    for (size_t k = 0; k < 2 * count; k++) { /* from the back, which restores first */
        size_t e = 2 * count - 1 - k;
        g->other[--g->first[ends[e] + 1]] = ends[e ^ 1];
    }
    memmove(g->first, g->first + 1, g->n * sizeof *g->first);
    g->first[g->n] = 2 * count;
    g->edges = 2 * (double)count;
}

/* To the best group among those of its neighbours; whether it moved. */
static bool move(graph *g, size_t i, size_t *c)
{
    size_t from = c[i], best = from;
    for (size_t k = g->first[i]; k < g->first[i + 1]; k++) {
        g->links[c[g->other[k]]] += g->other[k] != i;
    }
    g->total[from] -= g->degree[i];
    double gain = g->links[from] - g->degree[i] * g->total[from] / g->edges;
    for (size_t k = g->first[i]; k < g->first[i + 1]; k++) {
        size_t to = c[g->other[k]];
        double here = g->links[to] - g->degree[i] * g->total[to] / g->edges;
        if (here > gain + 1e-9) {
            gain = here;
            best = to;
        }
    }
    for (size_t k = g->first[i]; k < g->first[i + 1]; k++) {
        g->links[c[g->other[k]]] = 0;
    }
    g->total[best] += g->degree[i];
    c[i] = best;
    return best != from;
}

/* Group `from` into its best neighbour where the modularity grows. */
static bool merge(graph *g, size_t from, size_t *c)
{
    double gain = 1e-9;
    size_t best = from;
    for (size_t i = 0; i < g->n; i++) {
        for (size_t k = g->first[i]; c[i] == from && k < g->first[i + 1]; k++) {
            g->links[c[g->other[k]]]++;
        }
    }
    for (size_t to = 0; to < g->n; to++) {
        double here = g->links[to] - g->total[from] * g->total[to] / g->edges;
        if (to != from && g->links[to] > 0 && here > gain) {
            gain = here;
            best = to;
        }
        g->links[to] = 0;
    }
    for (size_t i = 0; best != from && i < g->n; i++) {
        c[i] = c[i] == from ? best : c[i];
    }
    if (best != from) {
        g->total[best] += g->total[from];
        g->total[from] = 0;
    }
    return best != from;
}

/* Numbers from 0 by size, the largest first; nodes without an edge come last. */
static size_t number(const graph *g, size_t *c, size_t *size, size_t *name)
{
    size_t n = g->n, found = 0;
    bool alone = false;
    memset(size, 0, n * sizeof *size);
    for (size_t i = 0; i < n; i++) {
        name[i] = n;
        size[c[i]] += g->degree[i] > 0;
        alone = alone || !(g->degree[i] > 0);
    }
    for (;; found++) {
        size_t most = n;
        for (size_t k = 0; k < n; k++) {
            if (size[k] > 0 && name[k] == n && (most == n || size[k] > size[most])) {
                most = k;
            }
        }
        if (most == n) {
            break;
        }
        name[most] = found;
    }
    for (size_t i = 0; i < n; i++) {
        c[i] = g->degree[i] > 0 ? name[c[i]] : found;
    }
    return found + alone;
}

bool communities_find(size_t n, const size_t *ends, size_t count, size_t *community,
                      size_t *found)
{
    graph g = {.n = n,
               .first = calloc(n + 2, sizeof *g.first),
               .other = calloc(2 * count + 1, sizeof *g.other),
               .degree = calloc(3 * n, sizeof *g.degree)};
    size_t *room = calloc(2 * n, sizeof *room);
    bool good = g.first && g.other && g.degree && room;
    if (good) {
        g.total = g.degree + n;
        g.links = g.degree + 2 * n;
        fill(&g, ends, count);
        for (size_t i = 0; i < n; i++) {
            community[i] = i;
        }
        bool moved = count > 0;
        for (int round = 0; moved && round < ROUNDS; round++) {
            moved = false;
            for (size_t i = 0; i < n; i++) {
                moved = (g.degree[i] > 0 && move(&g, i, community)) || moved;
            }
            for (size_t k = 0; !moved && k < n; k++) {
                moved = g.total[k] > 0 && merge(&g, k, community);
            }
        }
        *found = number(&g, community, room, room + n);
    }
    free(g.first);
    free(g.other);
    free(g.degree);
    free(room);
    return good;
}
