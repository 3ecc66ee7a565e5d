/*
 * commands.h: every command, each defined in the file of its name. A new one is one file
 * and one line here.
 */
#ifndef OKRA_COMMANDS_H
#define OKRA_COMMANDS_H

#include "cli.h"

/* clang-format off */
#define CLI_COMMANDS(X)                                                              \
    X(fit) X(select) X(predict) X(update) X(basis) X(merge) X(score) X(link)         \
    X(index) X(fuse) X(gram) X(twin) X(info) X(demo) X(paper) X(report)              \
    X(audit) X(split) X(explain) X(next) X(version) X(help_me)
/* clang-format on */
#define CLI_DECLARE(name) extern const cli_command cli_##name;
CLI_COMMANDS(CLI_DECLARE)

#endif
