/*
 * bench_engine_verbs.c: seconds of single verbs of an engine, for bench_cuda.py.
 *
 *     bench_engine_verbs ENGINE WHAT N...
 * WHAT: cholesky, eigh, gram (rbf of N x 64 numbers) or leave (what leave-one-out takes
 * for one lambda by Cholesky: a copy, the factor, the diagonal of the inverse). One JSON
 * line for each N: the best of three runs. A verb may return before a device is done;
 * reading one number waits.
 */
#include "engine/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WIDTH = 64, RUNS = 3 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static okra_status wait_for(okra_context *ctx, const okra_matrix_ *A)
{
    double one = 0;
    return okra_matrix_get_(ctx, A, 0, 0, okra_mat_of_(&one, 1, 1));
}

/* exp(-|x - x'|^2 / d) of standard normal rows. */
static okra_status entries_of(okra_context *ctx, okra_int n, double **x, okra_data **data,
                              okra_kernel **kernel, okra_trained_kernel_ **bound,
                              okra_entries_ **entries)
{
    okra_random_ r = okra_random_create_(1, 1);
    MAKE(*x, n * WIDTH);
    for (okra_int i = 0; i < n * WIDTH; i++) {
        (*x)[i] = okra_random_normal_(&r);
    }
    CHK(okra_data_dense(*x, n, WIDTH, WIDTH, data));
    CHK(okra_kernel_parse("rbf(gamma=0.015625)", kernel));
    CHK(okra_trained_kernel_create_(ctx, *kernel, *data, bound));
    return okra_entries_create_(ctx, *bound, NULL, entries);
}

/* As src/solve/smoother_dense.c does it. */
static okra_status leave(okra_context *ctx, const okra_matrix_ *A, okra_matrix_ *L,
                         okra_matrix_ *X, double *q)
{
    okra_status st = OKRA_OK;
    TRY(okra_matrix_copy_(ctx, false, A, L));
    TRY(okra_matrix_cholesky_(ctx, L, NULL));
    TRY(okra_matrix_fill_(ctx, 0, X));
    TRY(okra_matrix_add_diagonal_(ctx, 1, X));
    TRY(okra_matrix_trsm_(ctx, false, true, L, X));
    TRY(okra_matrix_combine_(ctx, OKRA_COMBINE_PRODUCT_, 0, 0, NULL, NULL, X, X));
    TRY(okra_matrix_row_sums_(ctx, X, q));
done:
    return st;
}

static okra_status measure(okra_context *ctx, const char *what, okra_int n, double *best)
{
    okra_status st = OKRA_OK;
    OWNED double *x = NULL, *w = NULL;
    okra_data *data = NULL;
    okra_kernel *kernel = NULL;
    okra_trained_kernel_ *bound = NULL;
    okra_entries_ *entries = NULL;
    okra_matrix_ *A = NULL, *L = NULL, *X = NULL;
    bool leaves = strcmp(what, "leave") == 0;
    MAKE(w, n);
    TRY(entries_of(ctx, n, &x, &data, &kernel, &bound, &entries));
    TRY(okra_matrix_create_(ctx, n, n, "the matrix", &A));
    if (leaves) {
        TRY(okra_matrix_create_(ctx, n, n, "the factor", &L));
        TRY(okra_matrix_create_(ctx, n, n, "its inverse", &X));
    }
    *best = 1e300;
    for (int run = 0; run < RUNS; run++) {
        double begin = now();
        TRY(okra_matrix_gram_(ctx, entries, 0, A));
        TRY(wait_for(ctx, A));
        if (strcmp(what, "gram") != 0) {
            TRY(okra_matrix_add_diagonal_(ctx, 0.1, A));
            TRY(wait_for(ctx, A));
            begin = now();
            TRY(leaves                      ? leave(ctx, A, L, X, w)
                : strcmp(what, "eigh") == 0 ? okra_matrix_eigh_(ctx, A, w)
                                            : okra_matrix_cholesky_(ctx, A, NULL));
            TRY(wait_for(ctx, A));
        }
        *best = OKRA_MIN_(*best, now() - begin);
    }
done:
    okra_matrix_free_(A);
    okra_matrix_free_(L);
    okra_matrix_free_(X);
    okra_entries_free_(entries);
    okra_trained_kernel_free_(bound);
    okra_kernel_free(kernel);
    okra_data_free(data);
    return st;
}

int main(int argc, char **argv)
{
    okra_context *ctx = NULL;
    okra_status st = OKRA_OK;
    if (argc < 4) {
        fprintf(stderr,
                "usage: bench_engine_verbs ENGINE cholesky|eigh|gram|leave N...\n");
        return 2;
    }
    TRY(okra_context_create(&ctx));
    TRY(okra_context_set_engine(ctx, argv[1]));
    for (int k = 3; k < argc; k++) {
        double best = 0;
        TRY(measure(ctx, argv[2], strtoll(argv[k], NULL, 10), &best));
        printf("{\"verb\": \"%s\", \"n\": %s, \"seconds\": %.6f}\n", argv[2], argv[k],
               best);
        fflush(stdout);
    }
done:
    if (st != OKRA_OK) {
        fprintf(stderr, "%s\n", okra_message());
    }
    okra_context_free(ctx);
    return st == OKRA_OK ? 0 : 1;
}
