/*
 * run.h: the inside of a run, shared by run.c, table.c and stamp.c.
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
    double begin, before; /* when it began; seconds of interrupted runs before */
    char scratch[256];    /* files made from originals; "" if none */
};

/* A digest of the sources of the library and the entries: what numbers depend on. */
const char *paper_source(void);
/* Says in the result what it is made by: commit, source, machine, threads, engine (NULL:
 * not said). */
void paper_stamp(json_t *result, const okra_context *context, const char *engine);

#endif
