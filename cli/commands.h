/*
 * commands.h: every command, each defined in the file of its name.
 */
#ifndef OKRA_COMMANDS_H
#define OKRA_COMMANDS_H

#include "cli.h"

extern const cli_command cli_fit;
extern const cli_command cli_select;
extern const cli_command cli_predict;
extern const cli_command cli_update;
extern const cli_command cli_basis;
extern const cli_command cli_merge;
extern const cli_command cli_score;
extern const cli_command cli_gram;
extern const cli_command cli_twin;
extern const cli_command cli_info;
extern const cli_command cli_demo;
extern const cli_command cli_link;
extern const cli_command cli_index;
extern const cli_command cli_fuse;
extern const cli_command cli_paper;
extern const cli_command cli_report;
extern const cli_command cli_audit, cli_split, cli_explain, cli_next;
extern const cli_command cli_version;
extern const cli_command cli_help_me;

#endif
