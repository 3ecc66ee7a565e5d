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

static inline void gram(const char *text, const okra_data *a, const okra_data *b,
                        double *K)
{
    okra_kernel *kernel = parse(text);
    okra_int ld = okra_data_count(b ? b : a);
    CHECK_OK(okra_gram(NULL, kernel, a, b, K, ld));
    okra_kernel_free(kernel);
}

#endif
