/*
 * nodes.h: names of nodes, and the lists and pairs that are written with them.
 */
#ifndef OKRA_CLI_NODES_H
#define OKRA_CLI_NODES_H

#include "cli.h"

/* Nodes 0..count-1; names == NULL: they are called by number. */
typedef struct cli_nodes {
    okra_int count;
    char **names;    /* by node                    */
    okra_int *order; /* nodes in order of the names */
} cli_nodes;

/* One name per line, one line per node, or TABLE:COLUMN; path "": by number. */
int cli_nodes_read(cli_run *run, const char *path, okra_int count, cli_nodes *out);
void cli_nodes_clear(cli_nodes *nodes);
/* The name of a node; a number is written to `buffer` (of 32). */
const char *cli_node_name(const cli_nodes *nodes, okra_int node, char *buffer);

/* Nodes, one per line; a repeated one is refused. *list is to be freed. */
int cli_nodes_list(cli_run *run, const cli_nodes *nodes, const char *path,
                   okra_int **list, okra_int *count);
/* Pairs, two names a line and perhaps a positive number (1 if not), blanks, tabs or a
 * comma between; # begins a comment; a first line that names no node is headings. A node
 * with itself is refused; pairs that come again either way round are left out, and how
 * many is said. `member` (may be NULL): both ends must be nodes where it is true, else
 * they are no `kind` nodes. kind == NULL: the number may be any, and is not used. */
int cli_nodes_pairs(cli_run *run, const cli_nodes *nodes, const char *path,
                    const bool *member, const char *kind, okra_link **list,
                    okra_int *count);

/* The known part of a network. */
typedef struct cli_known {
    okra_int *labelled, labelled_count;
    bool *member; /* by node: labelled */
    okra_link *edges;
    okra_int edge_count;
} cli_known;

/* labelled "": the ends of the known edges, in order. */
int cli_known_read(cli_run *run, const cli_nodes *nodes, const char *labelled,
                   const char *edges, cli_known *out);
void cli_known_clear(cli_known *known);
okra_link_task cli_known_task(const cli_known *known, const okra_data *x,
                              const okra_data *gram);
/* A time of diffusion; auto: 0. */
int cli_norm(const cli_run *run, const char *text, double *norm);
int cli_beta(const cli_run *run, const char *text, double *beta);
/* Objects, or a Gram matrix without its prefix. */
int cli_read_gram(cli_run *run, const char *spec, bool gram, okra_data **out);

/* Pairs by their ends, for qsort and bsearch. */
int cli_by_ends(const void *p, const void *q);

#endif
