/*
 * report.h: results (docs/results-format.md) are drawn by the program okra-report.
 */
#ifndef OKRA_REPORT_H
#define OKRA_REPORT_H

#include "cli.h"

/* Before long work: is the program there? It is looked for beside okra, in the absolute
 * folders of PATH, and as a package of python3, never in the current folder. CLI_FAILED,
 * with what is missing and how to install it. */
int report_check(const cli_run *run);
/* Draws results, an object or an array, as a page (.html, .md; title "": what they are)
 * or as one figure (.svg, .png; the figure's id, "all" for all side by side). */
int report_draw(const cli_run *run, const json_t *results, const char *output,
                const char *title, const char *figure);
typedef enum report_program { OKRA_REPORT, OKRA_AUDIT } report_program;
/* Starts it with these arguments, which end at NULL; `extra`: the file /dev/fd/N behind
 * the last one holds it. okra-audit gets the command's name first. */
int report_start(const cli_run *run, report_program program, const char *const *arguments,
                 const json_t *extra);

#endif
