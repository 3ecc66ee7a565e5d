/*
 * bench_libraries.c: seconds of okra's own product, factor and eigenvectors, for
 * bench_libraries.py.
 *
 *     bench_libraries THREADS
 * Each line of the input, WHAT N, is answered by the seconds of one run: `product` of two
 * N x N matrices, `factor` (Cholesky) or `eigenvectors` of a symmetric one. OpenBLAS is
 * called from okra's threads, one thread in each call.
 */
#include "linalg/linalg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static okra_status run(okra_context *ctx, const char *what, okra_int n, double *seconds)
{
    OWNED double *space = NULL;
    okra_random_ r = okra_random_create_(1, 1);
    double added = 0;
    MAKE(space, 3 * n * n + n);
    okra_mat_ A = okra_mat_of_(space, n, n), B = okra_mat_of_(A.p + n * n, n, n);
    okra_mat_ C = okra_mat_of_(B.p + n * n, n, n);
    for (okra_int i = 0; i < 3 * n * n; i++) {
        space[i] = okra_random_normal_(&r);
    }
    okra_mat_mirror_(A);
    okra_mat_add_diagonal_(A, 3 * (double)n);
    double begin = okra_now_();
    if (strcmp(what, "product") == 0) {
        CHK(okra_gemm_(ctx, false, true, 1, A, B, 0, C));
    } else if (strcmp(what, "factor") == 0) {
        CHK(okra_cholesky_quiet_(ctx, A, &added));
    } else {
        CHK(okra_eigh_(ctx, A, space + 3 * n * n));
    }
    *seconds = okra_now_() - begin;
    return OKRA_OK;
}

int main(int argc, char **argv)
{
    okra_context *ctx = NULL;
    char what[32];
    long long n = 0;
    double seconds = 0;
    if (argc != 2 || okra_context_create(&ctx) != OKRA_OK ||
        okra_context_set_threads(ctx, (int)strtol(argv[1], NULL, 10)) != OKRA_OK) {
        fprintf(stderr, "usage: bench_libraries THREADS\n");
        return 2;
    }
    while (scanf("%31s %lld", what, &n) == 2) {
        if (run(ctx, what, n, &seconds) != OKRA_OK) {
            fprintf(stderr, "%s\n", okra_message());
            return 1;
        }
        printf("%.6f\n", seconds);
        fflush(stdout);
    }
    okra_context_free(ctx);
    return 0;
}
