/*
 * heard.h: what a context told of its progress.
 */
#ifndef OKRA_TEST_HEARD_H
#define OKRA_TEST_HEARD_H

#include "harness.h"

typedef struct heard {
    char what[32];
    int count;
    okra_int last, total;
} heard;

static inline void hear(void *user, const char *what, okra_int done, okra_int total)
{
    heard *h = user;
    snprintf(h->what, sizeof h->what, "%s", what);
    h->count++;
    h->last = done;
    h->total = total;
}

#endif
