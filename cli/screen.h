/*
 * screen.h: okra predict among the candidates of an index.
 */
#ifndef OKRA_CLI_SCREEN_H
#define OKRA_CLI_SCREEN_H

#include "cli.h"

typedef struct cli_screening {
    const char *candidates, *within, *output;
    okra_int top, shortlist;
    bool exact;
} cli_screening;

bool cli_is_index(const char *candidates);
/* Ranks and writes the table. */
int cli_screen(cli_run *run, const cli_screening *how, const okra_model *model,
               const okra_data *x);

#endif
