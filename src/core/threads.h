/*
 * threads.h: what src/linalg must know of running loops.
 */
#ifndef OKRA_THREADS_H_
#define OKRA_THREADS_H_

#include <stdbool.h>

/* Is the calling thread a worker of okra_parallel_? Then BLAS stays single-threaded. */
bool okra_inside_worker_(void);
/* Provided by src/linalg: between the two BLAS uses `threads` threads. In a worker they
 * do nothing: its loop holds BLAS at one. */
void okra_blas_hold_(int threads);
void okra_blas_release_(void);

#endif
