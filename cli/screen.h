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
    int p_values; /* CLI_P_... */
} cli_screening;

enum { CLI_P_AUTO, CLI_P_KEPT, CLI_P_LEFT_OUT, CLI_P_NONE };

bool cli_is_index(const char *candidates);
/* Ranks and writes the table. */
int cli_screen(cli_run *run, const cli_screening *how, const okra_model *model,
               const okra_data *x);

#endif
