/*
 * score_lists.h: lists and sets of candidates, and intervals, as okra predict wrote them.
 */
#ifndef OKRA_CLI_SCORE_LISTS_H
#define OKRA_CLI_SCORE_LISTS_H

#include "cli.h"

typedef struct score_lists {
    okra_int n, width;
    okra_int *index; /* n x width: numbers of candidates in order, -1: no more */
    double *bounds;  /* n x width x 2: of intervals, in place of index         */
} score_lists;

/* A table with columns test and candidate (rank, if there, must ascend), or test, output,
 * lower and upper; n tests are expected, which may have empty lists. */
int score_lists_read(cli_run *run, const char *file, okra_int n, score_lists *out);
void score_lists_clear(score_lists *lists);

#endif
