/*
 * run.h: the inside of a run, shared by run.c and table.c.
 */
#ifndef OKRA_PAPER_RUN_H
#define OKRA_PAPER_RUN_H

#include "paper.h"

enum { PAPER_PATH = 4096 };

struct paper_run {
    okra_context *context;
    const paper_entry *entry;
    const paper_settings *settings;
    json_t *result; /* the JSON under construction      */
    json_t *steps;  /* key -> values of finished steps  */
};

#endif
