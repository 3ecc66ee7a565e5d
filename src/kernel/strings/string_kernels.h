/*
 * string_kernels.h: the kernels of strings, and what they share.
 */
#ifndef OKRA_STRING_KERNELS_H_
#define OKRA_STRING_KERNELS_H_

#include "kernel/kernel.h"

extern const okra_kernel_class_ okra_ssk_, okra_spectrum_, okra_mismatch_,
    okra_weighted_degree_, okra_edit_, okra_ends_;

/* The side of kernels that read the objects themselves: the data. */
okra_status okra_plain_side_(okra_context *ctx, const void *params, const void *shared,
                             const okra_data *data, void **side);
void okra_plain_side_free_(void *side);
/* The training data alone, shared by all sides; okra_plain_side_free_ unbinds it. */
okra_status okra_plain_bind_(okra_context *ctx, const void *params,
                             const okra_data *train, void **shared);

/* The distinct characters of all strings, ascending; okra_free_ frees *letters. */
okra_status okra_alphabet_(const okra_data *data, int32_t **letters, okra_int *count);
/* The place of a character in the alphabet, or `count` if it is not there. */
okra_int okra_letter_(const int32_t *letters, okra_int count, int32_t code);

/* Warns when the kernel is not positive semidefinite on the training set: on all of it,
 * or on OKRA_PSD_MOST_ objects spread evenly over a larger one. For kernels that need not
 * be; called at the end of their `bind`. */
enum { OKRA_PSD_MOST_ = 300 };
okra_status okra_psd_check_(okra_context *ctx, const okra_kernel_class_ *class,
                            const void *params, const void *shared,
                            const okra_data *train);

/* The parameters of ssk and of spectrum. */
typedef struct okra_ssk_params_ {
    okra_int length;
    double decay;
    bool upto;
} okra_ssk_params_;
typedef struct okra_spectrum_params_ {
    okra_int k;
} okra_spectrum_params_;

typedef struct okra_mismatch_params_ {
    okra_int k, m, alphabet;
} okra_mismatch_params_;
/* shared[d], d = 0..*top: words that two substrings share which differ in d places; 0
 * beyond. */
enum { OKRA_MISMATCH_TOP_ = 16 };
okra_status okra_mismatch_shared_(const okra_mismatch_params_ *p, const okra_data *train,
                                  okra_int *top, double shared[OKRA_MISMATCH_TOP_ + 1]);

typedef struct okra_edit_params_ {
    double sigma;
} okra_edit_params_;

typedef struct okra_degree_params_ {
    okra_int k;
} okra_degree_params_;

/* Whether the kernel is the spectrum kernel, times a constant or not, and its k. */
bool okra_trained_kernel_is_spectrum_(const okra_trained_kernel_ *bound, okra_int *k);

#endif
