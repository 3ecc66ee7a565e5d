/*
 * kernel_data.h: small collections for the tests of kernels.
 */
#ifndef OKRA_TEST_KERNEL_DATA_H
#define OKRA_TEST_KERNEL_DATA_H

#include "harness.h"
#include "okra/data.h"

/* Normal values, or ones, where a coin of this share says so; else 0. */
static inline double *random_values(okra_random_ *r, okra_int count, double share,
                                    bool ones)
{
    double *x = okra_alloc_(count, sizeof *x);
    for (okra_int i = 0; i < count; i++) {
        double value = ones ? 1 : okra_random_normal_(r);
        x[i] = okra_random_uniform_(r) < share ? value : 0;
    }
    return x;
}

static inline okra_data *sparse_of(const double *x, okra_int n, okra_int d)
{
    okra_data *data = NULL;
    okra_int *indptr = okra_zalloc_(n + 1, sizeof *indptr), count = 0;
    okra_int *indices = okra_alloc_(n * d, sizeof *indices);
    double *values = okra_alloc_(n * d, sizeof *values);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < d; j++) {
            if (x[i * d + j] != 0) {
                indices[count] = j;
                values[count++] = x[i * d + j];
            }
        }
        indptr[i + 1] = count;
    }
    CHECK_OK(okra_data_sparse(indptr, indices, values, n, d, &data));
    okra_free_(values);
    okra_free_(indices);
    okra_free_(indptr);
    return data;
}

static inline okra_data *bits_of(const double *x, okra_int n, okra_int d)
{
    okra_data *data = NULL;
    okra_int bytes = (d + 7) / 8;
    unsigned char *packed = okra_zalloc_(n * bytes, 1);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < d; j++) {
            if (x[i * d + j] != 0) {
                packed[i * bytes + j / 8] |= (unsigned char)(1u << (j % 8));
            }
        }
    }
    CHECK_OK(okra_data_bits(packed, n, d, bytes, &data));
    okra_free_(packed);
    return data;
}

/* The n x d values as a collection of that kind. */
static inline okra_data *data_of(okra_kind kind, const double *x, okra_int n, okra_int d)
{
    okra_data *data = NULL;
    if (kind == OKRA_SPARSE) {
        return sparse_of(x, n, d);
    }
    if (kind == OKRA_BITS) {
        return bits_of(x, n, d);
    }
    CHECK_OK(okra_data_dense(x, n, d, d, &data));
    return data;
}

enum { LONGEST = 9 };

/* Random strings over `letters` letters, lengths 0 to LONGEST (or all `fixed`). */
static inline okra_data *random_strings(uint64_t seed, okra_int n, int letters, int fixed)
{
    okra_random_ r = okra_random_create_(seed, 5);
    char block[64][LONGEST + 1];
    const char *texts[64];
    okra_data *data = NULL;
    for (okra_int i = 0; i < n; i++) {
        okra_int length = fixed ? fixed : okra_random_below_(&r, LONGEST + 1);
        for (okra_int k = 0; k < length; k++) {
            block[i][k] = (char)('a' + okra_random_below_(&r, letters));
        }
        block[i][length] = 0;
        texts[i] = block[i];
    }
    CHECK_OK(okra_data_strings(texts, n, &data));
    return data;
}

#endif
