/*
 * commands.h: every command, each defined in the file of its name.
 */
#ifndef OKRA_COMMANDS_H
#define OKRA_COMMANDS_H

#include "cli.h"

extern const cli_command cli_fit, cli_predict, cli_score, cli_gram, cli_info, cli_demo,
    cli_version, cli_help_me, cli_paper, cli_twin;

#endif
