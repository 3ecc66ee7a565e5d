/*
 * commands.c: the table of commands. A new command is one file and one line here.
 */
#include "commands.h"

#include <string.h>

/* clang-format off */
const cli_command *const cli_commands[] = {
    &cli_fit,
    &cli_select,
    &cli_predict,
    &cli_update,
    &cli_basis,
    &cli_merge,
    &cli_score,
    &cli_link,
    &cli_index,
    &cli_fuse,
    &cli_gram,
    &cli_twin,
    &cli_info,
    &cli_demo,
    &cli_paper,
    &cli_report,
    &cli_audit,
    &cli_split,
    &cli_explain,
    &cli_next,
    &cli_version,
    &cli_help_me,
    NULL,
};
/* clang-format on */

const cli_command *cli_find_command(const char *name)
{
    for (size_t i = 0; cli_commands[i]; i++) {
        if (strcmp(cli_commands[i]->name, name) == 0) {
            return cli_commands[i];
        }
    }
    return NULL;
}
