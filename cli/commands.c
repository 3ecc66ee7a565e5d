/*
 * commands.c: the table of commands.
 */
#include "commands.h"

#include <string.h>

#define ENTRY(name) &cli_##name,
const cli_command *const cli_commands[] = {CLI_COMMANDS(ENTRY) NULL};

const cli_command *cli_find_command(const char *name)
{
    for (size_t i = 0; cli_commands[i]; i++) {
        if (strcmp(cli_commands[i]->name, name) == 0) {
            return cli_commands[i];
        }
    }
    return NULL;
}
