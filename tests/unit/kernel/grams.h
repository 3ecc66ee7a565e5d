/*
 * grams.h: Gram matrices by the text of their kernel.
 */
#ifndef OKRA_TEST_GRAMS_H
#define OKRA_TEST_GRAMS_H

#include "harness.h"
#include "kernel/kernel.h"

static inline okra_kernel *parse(const char *text)
{
    okra_kernel *kernel = NULL;
    CHECK_OK(okra_kernel_parse(text, &kernel));
    return kernel;
}

static inline okra_status try_gram(okra_context *ctx, const char *text,
                                   const okra_data *a, const okra_data *b, double *K)
{
    okra_kernel *kernel = NULL;
    okra_status st = okra_kernel_parse(text, &kernel);
    if (st == OKRA_OK) {
        st = okra_gram(ctx, kernel, a, b, K, okra_data_count(b ? b : a));
    }
    okra_kernel_free(kernel);
    return st;
}

static inline void gram(const char *text, const okra_data *a, const okra_data *b,
                        double *K)
{
    CHECK_OK(try_gram(NULL, text, a, b, K));
}

#endif
