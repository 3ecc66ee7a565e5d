/*
 * run.h: the inside of a run, shared by run.c, steps.c, table.c and stamp.c.
 */
#ifndef OKRA_PAPER_RUN_H
#define OKRA_PAPER_RUN_H

#include "paper.h"

enum { PAPER_PATH = 4096 };

struct paper_run {
    okra_context *context;
    const paper_entry *entry;
    const paper_settings *settings;
    json_t *result;       /* the JSON under construction      */
    json_t *steps;        /* key -> values of finished steps  */
    json_t *passed;       /* keys of steps that other processes compute */
    FILE *lines;          /* the file of finished steps */
    long read;            /* its bytes that were read */
    int claims;           /* the file whose locks say who computes what; -1: none */
    double claimed;       /* when the step under way began */
    double begin, before; /* when it began; seconds of other runs of it */
    char scratch[256];    /* files made from originals; "" if none */
};

/* Finished steps: read at the beginning, forgotten at the end. */
okra_status paper_steps_open(paper_run *run) OKRA_CHECK;
void paper_steps_close(paper_run *run);
/* Waits until the steps that were passed over are finished, or nobody computes them. */
void paper_steps_await(paper_run *run);
double paper_now(void);
/* Seconds spent on the entry, by all processes. */
double paper_spent(const paper_run *run);

/* A digest of the sources of the library and the entries: what numbers depend on. */
const char *paper_source(void);
/* Says in the result what it is made by: commit, source, machine, threads, engine (NULL:
 * not said). */
void paper_stamp(json_t *result, const okra_context *context, const char *engine);

#endif
