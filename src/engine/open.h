/*
 * open.h: what the files of this folder share: an open engine, and a matrix of it.
 */
#ifndef OKRA_ENGINE_OPEN_H_
#define OKRA_ENGINE_OPEN_H_

#include "engine/engine.h"

#include <stdatomic.h>

struct okra_engine_ {
    const okra_engine_class_ *verbs;
    void *state;   /* what verbs->open made            */
    void *library; /* of dlopen, or NULL: built in      */
    atomic_int references;
};

/* Closes the engine where nobody else holds it. */
void okra_engine_drop_(void *engine);

struct okra_large_ {
    const okra_engine_ *engine;
    void *body;
    okra_int rows, cols;
};

static inline bool okra_large_empty_(const okra_large_ *A)
{
    return A->rows == 0 || A->cols == 0;
}

/* The verb of A's engine or, where there is none, a failure; `ctx` is in scope. */
#define CALL(A, verb, ...)                                                \
    ((A)->engine->verbs->verb                                             \
         ? (A)->engine->verbs->verb((A)->engine->state, ctx, __VA_ARGS__) \
         : okra_verb_missing_((A), #verb))
okra_status okra_verb_missing_(const okra_large_ *A, const char *verb);
/* A failure that tells both shapes. */
okra_status okra_shapes_refuse_(const char *verb, const okra_large_ *A,
                                const okra_large_ *B);
okra_status okra_square_check_(const char *verb, const okra_large_ *A) OKRA_CHECK;
/* Is there a block of that shape at (i, j)? */
okra_status okra_part_check_(const char *verb, const okra_large_ *A, okra_int i,
                             okra_int j, okra_mat_ block) OKRA_CHECK;

/* Numbers that a verb of a plugin gave (rows x cols, row stride ld): no NaN. The host has
 * checks of its own. */
okra_status okra_arrived_(const okra_engine_ *engine, const char *verb,
                          const double *values, okra_int rows, okra_int cols,
                          okra_int ld) OKRA_CHECK;
/* least <= index[k] < most, whichever engine it is. */
okra_status okra_arrived_places_(const okra_engine_ *engine, const char *verb,
                                 okra_int least, okra_int most, okra_int count,
                                 const okra_int *index) OKRA_CHECK;

/* The context's engine; NULL or none set: host. */
const okra_engine_ *okra_engine_of_(const okra_context *ctx);

/* Calls `call`, of `work` operations with A, and reports progress where it is long and
 * A's engine is not the host. *rate: operations per second, which it corrects. */
okra_status okra_engine_watched_(okra_context *ctx, const okra_large_ *A,
                                 _Atomic double *rate, const char *what, double work,
                                 okra_call_ call, void *arg) OKRA_CHECK;

/* The kernel and the collection behind entries of okra_entries_create_, for the host
 * engine; NULL: the entries come from elsewhere. */
const okra_bound_ *okra_entries_bound_(const okra_entries_ *entries,
                                       const okra_other_ **other);

/* OKRA_EUNSUPPORTED with a sentence where the file is not a whole shared object. */
okra_status okra_engine_whole_(const char *path) OKRA_CHECK;

#endif
