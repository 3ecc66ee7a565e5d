/*
 * okra/more/group.h: engines, and runs of many processes (engine mpi) that compute
 * together. All of them run the same program on the same inputs.
 */
#ifndef OKRA_MORE_GROUP_H
#define OKRA_MORE_GROUP_H

#include "okra/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An engine of many processes (mpi): all of them run the same program on the same inputs.
 * How many are there? 1: no such engine. */
OKRA_EXPERIMENTAL int okra_context_processes(const okra_context *context);
/* Is this the process that prints and writes files? */
OKRA_EXPERIMENTAL bool okra_context_is_primary(const okra_context *context);
/* Where there are many: does a model that they fit keep its n x n matrices in parts, so
 * that no process ever holds one of them whole? All processes must then save such a
 * model, predict with it and update it together. Not set: each process gets a whole
 * model. */
OKRA_EXPERIMENTAL void okra_context_set_distributed(okra_context *context,
                                                    bool distributed);
/* Every process calls this before it ends, with how it went. OKRA_OK where all went well;
 * else each gets a failure, and *talks (NULL: not wanted) is true for the one whose
 * message tells why: that which failed first. Where there is one process: `status`. */
OKRA_EXPERIMENTAL okra_status okra_context_finish_together(okra_context *context,
                                                           okra_status status,
                                                           bool *talks);
/* Every engine: what it is, or (not runs) why it cannot run. */
typedef void (*okra_engine_fn)(void *user, const char *name, bool runs, const char *text);
OKRA_EXPERIMENTAL void okra_engine_each(okra_engine_fn fn, void *user);
/* The operation on matrices that was begun last in this context ("eigh", "gemm", ...; "":
 * none) and the number of its rows: what a cancelled call may still wait for, since an
 * operation runs to its end. May be called from a signal handler. */
OKRA_EXPERIMENTAL const char *okra_context_doing(const okra_context *context,
                                                 okra_int *size);

#ifdef __cplusplus
}
#endif
#endif
