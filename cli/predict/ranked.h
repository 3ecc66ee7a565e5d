/*
 * ranked.h: okra predict --top: the best candidates of each test point, as a table. The
 * candidates are a list, the training outputs, an index, or what a decoder made up.
 */
#ifndef OKRA_CLI_RANKED_H
#define OKRA_CLI_RANKED_H

#include "cli.h"

bool cli_is_index(const char *candidates);

/* Objects that differ, and where each stands first. */
typedef struct cli_distinct {
    okra_data *objects; /* NULL: all of them differ */
    okra_int *row;
} cli_distinct;
int cli_distinct_make(cli_run *run, const okra_data *candidates, cli_distinct *out);
void cli_distinct_clear(cli_distinct *distinct);

typedef struct cli_ranking {
    const char *file;                /* where the table goes */
    const char *weights, *embedding; /* files that were written beside it, or "" */
    const okra_model *model;
    const okra_data *x;
    const okra_prediction *prediction;
    const okra_index *index; /* or */
    const okra_data *list;   /* candidates as they were given, or made up */
    cli_distinct distinct;   /* what is numbered, if not these; borrowed */
    bool taken;              /* standard output has data: print nothing */
    const okra_int *ranges;  /* tests x 2: --ranges; NULL: not given */
    bool p_values, compared; /* asked for; a window or an index chose */
    bool made;               /* the decoder made up the list: nothing was compared */
    int known_pairs;         /* CLI_KNOWN_... */
    double begin;            /* when it began */
    /* found by cli_ranked_write */
    okra_int tests, top, empty, pairs;
    const okra_int *number;
    const double *distance;
    double *p; /* NULL: not asked for */
    bool left_out;
} cli_ranking;
enum { CLI_KNOWN_AUTO, CLI_KNOWN_KEPT, CLI_KNOWN_LEFT_OUT };

/* One line of the table. */
typedef struct cli_ranked_row {
    okra_int test, rank;
    okra_int number; /* the row of the candidate in its file */
    double distance, p, mass;
    const char *smiles, *name;
    okra_int smiles_length, name_length;
    char formula[128];
} cli_ranked_row;
/* Entry i of tests x top; false: there is no candidate. */
bool cli_ranked_row_of(const cli_ranking *r, okra_int i, cli_ranked_row *out);
bool cli_ranked_molecules(const cli_ranking *r); /* are candidates molecules? */

/* Writes the table and tells of it. */
int cli_ranked_write(cli_run *run, cli_ranking *r);
/* The spectra of the first queries, each above the training spectrum that has the largest
 * weight, and their ranked molecules, for okra report: ranked_figures.c. */
int cli_ranked_figures(cli_run *run, const cli_ranking *r, json_t *figures);

/* What a table tells of the test points, as a window takes it: about.c. */
typedef struct cli_about {
    double *masses, *values; /* values: tests x columns of the index */
    char **formulas;
    okra_int tests;
} cli_about;
int cli_about_read(cli_run *run, const char *file, const okra_index *index,
                   cli_about *about, okra_window *window);
void cli_about_clear(cli_about *about);

#endif
