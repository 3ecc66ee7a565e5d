/*
 * plugin.h: what the files of the test engine share.
 */
#ifndef OKRA_TEST_PLUGIN_H_
#define OKRA_TEST_PLUGIN_H_

#include "engine/engine.h"

typedef struct state {
    const okra_engine_host_ *host;
    long long puts, gets, put_doubles, get_doubles, largest_get, factors;
} state;

enum { MAGIC = 0x6f6b7261 };

typedef struct body {
    int magic;
    okra_int rows, cols;
    double *p;
} body;

static inline okra_status refuse(const state *s)
{
    return s->host->fail(OKRA_EINTERNAL,
                         "engine test: a pointer that is no matrix of it");
}

#define MINE(A)                                            \
    do {                                                   \
        if (!(A) || ((const body *)(A))->magic != MAGIC) { \
            return refuse(e);                              \
        }                                                  \
    } while (0)

/* Entry (i, j), wherever it lies. */
static inline double *at(const void *A, okra_int i, okra_int j)
{
    const body *b = A;
    return b->p + (b->rows * b->cols - 1 - (j * b->rows + i));
}

/* plugin_solve.c: verbs of the engine. */
okra_status test_cholesky(void *e, okra_context *ctx, void *A, bool *done);
okra_status test_restore(void *e, okra_context *ctx, const double *d, void *A);
okra_status test_trsm(void *e, okra_context *ctx, bool left, bool trans, const void *L,
                      void *B);
okra_status test_eigh(void *e, okra_context *ctx, void *A, double *w);

#endif
