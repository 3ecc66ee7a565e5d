/*
 * screen.h: okra predict among the candidates of an index.
 */
#ifndef OKRA_CLI_SCREEN_H
#define OKRA_CLI_SCREEN_H

#include "cli.h"

typedef struct cli_screening {
    const char *candidates, *within, *about, *output;
    okra_int top, shortlist;
    bool exact;
    int p_values; /* CLI_P_... */
} cli_screening;

enum { CLI_P_AUTO, CLI_P_KEPT, CLI_P_LEFT_OUT, CLI_P_NONE };

typedef struct cli_ranked_table {
    const okra_index *index;
    const okra_data *x;
    const okra_int *number;
    const double *distance;
    okra_int tests, top;
    double *p; /* NULL: not known */
    okra_int pairs;
    const char *calibrated; /* by which pairs */
    okra_int empty;         /* tests without a candidate */
} cli_ranked_table;

typedef struct cli_ranked_row {
    okra_int test, rank, number, row; /* row: of a vector in its source; else -1 */
    double distance, p, mass;
    const char *smiles, *name;
    okra_int smiles_length, name_length;
    char formula[128];
} cli_ranked_row;

/* Entry i of tests x top; there must be a candidate. */
cli_ranked_row cli_ranked_row_of(const cli_ranked_table *t, okra_int i);
/* The spectra of the first queries, each above the training spectrum that has the largest
 * weight, and their ranked molecules, for okra report: screen_figures.c. */
int cli_ranked_figures(cli_run *run, const okra_model *model, const cli_ranked_table *t,
                       json_t *figures);

bool cli_is_index(const char *candidates);
/* Ranks and writes the table. */
int cli_screen(cli_run *run, const cli_screening *how, const okra_model *model,
               const okra_data *x);

#endif
