/*
 * string_kernels.h: the kernels of strings, and what they share.
 */
#ifndef OKRA_STRING_KERNELS_H_
#define OKRA_STRING_KERNELS_H_

#include "core/simd.h"
#include "kernel/graphs/graph_features.h"

extern const okra_kernel_class_ okra_ssk_, okra_spectrum_, okra_mismatch_,
    okra_weighted_degree_, okra_edit_, okra_ends_, okra_alignment_;

/* The distinct characters of all strings, ascending; okra_free_ frees *letters. */
okra_status okra_alphabet_(const okra_data *data, int32_t **letters, okra_int *count);
/* The place of a character in the alphabet, or `count` if it is not there. */
okra_int okra_letter_(const int32_t *letters, okra_int count, int32_t code);

/* Puts numbers of strings in order of length, equal ones by number. */
okra_status okra_order_by_length_(const okra_data *data, okra_int count, okra_int *index);

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
    okra_feature_params_ how; /* all features, counted */
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

/* ---- lanes ----
 * A dynamic programme over pairs of strings, eight pairs at a time.
 *
 * The recursions of string kernels run along both strings and leave nothing to vectorise
 * within one pair. Eight pairs side by side do: lane l holds pair (s_l, t_l), character i
 * of s_l is s[i*LANES + l], as a double (code points are exact). Strings of a block are
 * met in order of length, so that the lanes of a batch end nearly together; a lane past
 * the end of its string holds a pad, which equals no character and no other pad.
 */

typedef int64_t okra_mask_ __attribute__((vector_size(OKRA_LANES_ * sizeof(int64_t))));

/* x where the mask is set, 0 elsewhere. (A macro: vectors as arguments would depend on
 * the machine's conventions for calls.) */
#define OKRA_WHERE_(mask, x) ((okra_lane_)((okra_mask_)(x) & (mask)))

/* Pads are negative and differ. */
#define OKRA_PAD_S_ (-1.0)
#define OKRA_PAD_T_ (-2.0)

/* value[l] = k(s_l, t_l), for s of m and t of n positions; work: `depth`*n lanes. */
typedef void (*okra_batch_)(const void *arg, okra_int m, const okra_lane_ *s, okra_int n,
                            const okra_lane_ *t, okra_lane_ *work, double *value);

/* The side of such a kernel: `depth` lanes of work space a position of t. */
okra_status okra_lanes_create_(const okra_data *data, okra_batch_ batch, const void *arg,
                               okra_int depth, void **side);
/* Its other hooks, all in OKRA_LANES_HOOKS_; self-similarities have the same bits as a
 * block of one pair. */
okra_status okra_lanes_block_(okra_context *ctx, const void *params, const void *a,
                              okra_int i0, okra_int ni, const void *b, okra_int j0,
                              okra_int nj, double *out, okra_int ld);
okra_status okra_lanes_diagonal_(okra_context *ctx, const void *params, const void *a,
                                 okra_int n, double *out);
#define OKRA_LANES_HOOKS_ \
    .free_side = okra_free_, .block = okra_lanes_block_, .diagonal = okra_lanes_diagonal_

/* Defines the batch function `name` from `body`, an always-inlined function of these
 * parameters, for the vector units of the machine (simd.h). Nothing is contracted or
 * reordered: all variants give the same bits. */
#define OKRA_BATCH_PARAMETERS_                                                         \
    const void *arg, okra_int m, const okra_lane_ *s, okra_int n, const okra_lane_ *t, \
        okra_lane_ *work, double *value, bool fused
#define OKRA_BATCH_(name, body)                                                   \
    OKRA_VARIANTS_(name, body,                                                    \
                   (const void *arg, okra_int m, const okra_lane_ *s, okra_int n, \
                    const okra_lane_ *t, okra_lane_ *work, double *value),        \
                   (arg, m, s, n, t, work, value))

#endif
