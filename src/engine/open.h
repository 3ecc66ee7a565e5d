/*
 * open.h: what the files of this folder share: an open engine, and a matrix of it.
 */
#ifndef OKRA_ENGINE_OPEN_H_
#define OKRA_ENGINE_OPEN_H_

#include "engine/engine.h"

struct okra_engine_ {
    const okra_engine_class_ *verbs;
    void *state;   /* what verbs->open made            */
    void *library; /* of dlopen, or NULL: built in      */
    atomic_int references;
};

/* Closes the engine where nobody else holds it. */
void okra_engine_drop_(void *engine);

struct okra_matrix_ {
    const okra_engine_ *engine;
    void *body;
    okra_int rows, cols;
};

/* The context's engine; NULL or none set: host. */
const okra_engine_ *okra_engine_of_(const okra_context *ctx);

/* The kernel and the collection behind entries of okra_entries_create_, for the host
 * engine; NULL: the entries come from elsewhere. */
const okra_trained_kernel_ *okra_entries_bound_(const okra_entries_ *entries,
                                                const okra_test_side_ **other);

#endif
