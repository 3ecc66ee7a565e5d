/*
 * paper.h: how a table or figure of a paper is run again.
 *
 * One file an entry: the protocol (folds, repeats, grids, what is measured), no
 * mathematics; everything is computed by the library. An entry fills tables whose cells
 * hold the printed value and ours, and figures; paper_finish writes them as a table for
 * people and as JSON for programs (docs/results-format.md).
 *
 * To add one: a file with one paper_entry, one line in entries.c, and its name beside the
 * tables and figures it runs in catalogue.c.
 */
#ifndef OKRA_PAPER_H
#define OKRA_PAPER_H

#include "okra/okra.h"

#include <jansson.h>
#include <stdio.h>

typedef struct paper_run paper_run;

typedef enum paper_time { PAPER_SECONDS, PAPER_MINUTES, PAPER_HOUR } paper_time;

typedef struct paper_entry {
    const char *name;  /* "weston-t3"                                               */
    const char *paper; /* "Weston et al. 2003"                                      */
    const char *title; /* "Table 3: bottom half of a digit from its top half"       */
    /* What it reads, relative to the data folder, space separated; NULL: built-in.
     * `original` names the files as their makers publish them. */
    const char *files;
    const char *original;
    paper_time quick, full; /* how long --quick and --full take on two cores */
    okra_status (*run)(paper_run *run);
} paper_entry;

extern const paper_entry *const paper_entries[]; /* ends at NULL */

/* A table or figure of a paper, run by an entry or not. */
typedef struct paper_item {
    const char *paper, *item; /* "Kadri et al. 2013", "Table 3"                    */
    const char *title;
    const char *entries; /* names, space separated; NULL: nothing runs it          */
    const char *note;    /* why nothing or not all of it can be run; NULL: all can */
} paper_item;

extern const paper_item paper_items[]; /* ends at a paper of NULL */

/* ---- what an entry may ask ---- */

okra_context *paper_context(paper_run *run);
bool paper_quick(const paper_run *run);
uint64_t paper_seed(const paper_run *run);
/* Reads a file of the data folder ("usps/train_x.npy"). */
okra_status paper_read(paper_run *run, const char *file, okra_data **out) OKRA_CHECK;
/* The path of a file of the data folder, for readers of other kinds; in `buffer`. */
const char *paper_path(const paper_run *run, const char *file, char *buffer, size_t size);
/* The folder for files that do not outlast a run: TMPDIR where it is set. */
const char *paper_temporary(void);

/* ---- finished work survives an interruption ---- */

/* True and the values if a step of this key was finished by an earlier, interrupted run
 * with the same settings. */
bool paper_have(paper_run *run, const char *key, double *values, size_t count);
/* Keeps the values of a finished step on disk. */
okra_status paper_keep(paper_run *run, const char *key, const double *values,
                       size_t count) OKRA_CHECK;

/* ---- what an entry tells ---- */

/* Where the paper leaves the protocol open: the reading taken. */
void paper_reading(paper_run *run, const char *format, ...) OKRA_PRINTF(2, 3);
/* Where our data or protocol is not the paper's; before the first cell, since no cell of
 * the entry can then be compared. */
void paper_deviation(paper_run *run, const char *format, ...) OKRA_PRINTF(2, 3);
/* Anything a reader should know of the result. */
void paper_remark(paper_run *run, const char *format, ...) OKRA_PRINTF(2, 3);

typedef enum paper_better { PAPER_LOWER, PAPER_HIGHER, PAPER_NEITHER } paper_better;

/* Opens a table; `columns` are names separated by '|'; the handle is an index. */
int paper_table(paper_run *run, const char *id, const char *title, const char *metric,
                paper_better better, const char *columns);

/* By what the cells of a table are compared: z = (ours - printed) / root of the sum of
 * both squared standard errors. Before the first cell. */
typedef struct paper_yardstick {
    bool errors;      /* the paper prints standard errors of means ...             */
    int count;        /* ... or deviations of so many values; 0: it prints neither */
    bool one_draw;    /* the print is one draw (set, network, partition), ours many:
                         its error is at least the deviation between ours          */
    const char *over; /* what our values are: "folds", "networks"                  */
} paper_yardstick;
void paper_yardstick_of(paper_run *run, int table, paper_yardstick yardstick);

/* How a cell is compared with the printed value. `why` explains those that are not. */
typedef enum paper_apart {
    PAPER_TOGETHER, /* as the paper says it                                          */
    PAPER_CONSTANT, /* after one constant of the table was fitted on another cell    */
    PAPER_FOUND,    /* under a reading that was found with the print in sight        */
    PAPER_APART,    /* not: the two measure different things                         */
    PAPER_FITTED,   /* not: the constant of the table was fitted on this cell        */
    PAPER_SEEN,     /* not, and never counted: test results were in sight            */
    PAPER_BOUND,    /* the same: the best setting on test data, what could be had    */
    PAPER_LEAK      /* the same: what is to be predicted is among the outputs        */
} paper_apart;

/* One cell. printed mean and sd (NaN: the paper has none); our values, one a fold or
 * repeat (count 0: we have none). `why` explains a cell that differs; NULL: unexplained.
 * |z| <= 2: reproduced, past that it differs. Where the entry tells a deviation no cell
 * is comparable, better or worse. */
typedef struct paper_cell {
    double printed, printed_sd;
    const double *values;
    size_t count;
    const char *why;
    paper_apart apart;
} paper_cell;
okra_status paper_put(paper_run *run, int table, const char *row, const char *column,
                      paper_cell cell) OKRA_CHECK;

/* A figure as JSON for the report; `figure` is stolen. Types and their fields are in
 * docs/results-format.md: curve, heatmap, images, network, bars, scatter. */
okra_status paper_figure(paper_run *run, const char *id, const char *type,
                         const char *title, json_t *figure) OKRA_CHECK;

/* Mean and standard deviation (n-1; 0 for one value). */
void paper_moments(const double *values, size_t count, double *mean, double *sd);

/* ---- running, for the command line ---- */

typedef struct paper_settings {
    const char *data;    /* data folder, or NULL: none found */
    const char *results; /* where JSON and partial results go */
    bool quick;
    const char *command; /* the command line, kept in the result */
    const char *engine;  /* where large matrices live, kept too; NULL: not said */
} paper_settings;

/* Is every file of the entry there? The first missing one goes to `missing`. */
bool paper_available(const paper_entry *entry, const paper_settings *settings,
                     char *missing, size_t size);
/* Runs an entry; *json (NULL on failure) is the result, to be decref'd by the caller. */
okra_status paper_execute(okra_context *context, const paper_entry *entry,
                          const paper_settings *settings, json_t **json) OKRA_CHECK;
/* Removes the finished steps of an entry whose result is on disk. */
void paper_forget(okra_context *context, const paper_entry *entry,
                  const paper_settings *settings);
/* The entry's needs in words: "usps/train_x.npy, or zip.train as published". */
const char *paper_needs(const paper_entry *entry, char *buffer, size_t size);
/* Where the result of an entry lies: RESULTS/NAME-quick.json. */
void paper_result_path(const paper_entry *entry, const paper_settings *settings,
                       char *path, size_t size);
/* The finished result of the entry in the folder of results, if its seed is the context's
 * and, unless `any`, the same sources made it; else NULL. */
json_t *paper_finished(const paper_entry *entry, const paper_settings *settings,
                       const okra_context *context, bool any);
/* A result without tables that says what the entry needs. */
json_t *paper_left_out(const paper_entry *entry, const paper_settings *settings);
/* Our tables as text, paper beside okra. */
void paper_print(const json_t *json, FILE *out);

#endif
