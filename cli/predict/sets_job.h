/*
 * sets_job.h: what sets.c, sets_read.c and sets_out.c share.
 */
#ifndef OKRA_SETS_JOB_H
#define OKRA_SETS_JOB_H

#include "predict/sets.h"

typedef struct cli_sets_job {
    const cli_sets *f;
    const okra_model *model;
    const okra_data *x;
    okra_data *candidates; /* as they are numbered in p          */
    okra_int *row;         /* of each in the file or training set */
    okra_int tests, count;
    okra_conformal_settings s;
    okra_data *owned[10];
    const okra_data *truth;
    int owned_count;
    double *p;
} cli_sets_job;

/* Reads the files that the flags name into the settings; what is read is j->owned. What
 * is `auto` there becomes what it stands for. */
int cli_sets_read(cli_run *run, cli_sets_job *j);
/* The sets, or with --reject those of one member alone; *size: members in all, *single:
 * sets of one. */
int cli_sets_write_members(cli_run *run, const cli_sets_job *j, const char *output,
                           okra_int *size, okra_int *single);
/* n x d x 2 doubles in NumPy's format, version 1.0. */
int cli_sets_write_cube(cli_run *run, const double *values, okra_int n, okra_int d,
                        const char *path);
int cli_sets_write_intervals(cli_run *run, const cli_sets_job *j, const char *output,
                             const double *bounds, const double *radius, okra_int d);

#endif
