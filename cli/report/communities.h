/*
 * communities.h: groups of nodes that have more edges among them than with others.
 */
#ifndef OKRA_CLI_COMMUNITIES_H
#define OKRA_CLI_COMMUNITIES_H

#include <stdbool.h>
#include <stddef.h>

/* Ends of `count` edges, edge k between ends[2k] and ends[2k+1], all below n. community:
 * n numbers from 0, the largest group first; *found: how many. Nodes without an edge are
 * one group, the last. The same edges give the same groups. false: out of memory. */
bool communities_find(size_t n, const size_t *ends, size_t count, size_t *community,
                      size_t *found);

#endif
