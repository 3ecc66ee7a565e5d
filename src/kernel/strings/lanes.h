/*
 * lanes.h: a dynamic programme over pairs of strings, eight pairs at a time.
 *
 * The recursions of string kernels run along both strings and leave nothing to vectorise
 * within one pair. Eight pairs side by side do: lane l holds pair (s_l, t_l), character i
 * of s_l is s[i*LANES + l], as a double (code points are exact). Strings of a block are
 * met in order of length, so that the lanes of a batch end nearly together; a lane past
 * the end of its string holds a pad, which equals no character and no other pad.
 */
#ifndef OKRA_LANES_H_
#define OKRA_LANES_H_

#include "data/data.h"
#include "core/simd.h"

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

typedef struct okra_lanes_ {
    okra_batch_ batch;
    const void *arg;
    okra_int depth; /* lanes of work space a position of t */
} okra_lanes_;

/* out[r*ld + c] = k(a_(i0+r), b_(j0+c)): the block of a kernel class. */
okra_status okra_lanes_block_(okra_context *ctx, const okra_lanes_ *how,
                              const okra_data *a, okra_int i0, okra_int ni,
                              const okra_data *b, okra_int j0, okra_int nj, double *out,
                              okra_int ld);
/* out[i] = k(a_i, a_i), the same bits as a block of one pair. */
okra_status okra_lanes_diagonal_(okra_context *ctx, const okra_lanes_ *how,
                                 const okra_data *a, okra_int n, double *out);

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
