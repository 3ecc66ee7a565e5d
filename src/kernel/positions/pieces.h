/*
 * pieces.h: a kernel that is a sum over positions taken apart, for methods that weigh the
 * positions by themselves.
 */
#ifndef OKRA_PIECES_H_
#define OKRA_PIECES_H_

#include "kernel/kernel.h"

/* Where the square patches of an image lie: patch (r, c) is number r * across + c. */
typedef struct okra_layout_ {
    okra_int width, height, patch; /* pixels; 0: no images */
    okra_int down, across;         /* patches              */
    okra_int *row, *col;           /* first pixels of the patches: `down`, `across` */
} okra_layout_;
void okra_layout_clear_(okra_layout_ *layout);
/* Of the kernel patches with these parameters, on images of d pixels. */
okra_status okra_patches_layout_(const void *params, const okra_data *data,
                                 okra_layout_ *out);

/* position(k) or patches(k, ...) on a training set of n objects: k at every position. The
 * kernel outlives the pieces. OKRA_EUNSUPPORTED for any other kernel; `who` asks. */
typedef struct okra_pieces_ okra_pieces_;
okra_status okra_pieces_create_(okra_context *ctx, const char *who,
                                const okra_kernel *kernel, const okra_data *train,
                                okra_pieces_ **out);
void okra_pieces_free_(okra_pieces_ *pieces);
OKRA_DROPS_(okra_pieces_drop_, okra_pieces_, okra_pieces_free_)
okra_int okra_pieces_count_(const okra_pieces_ *pieces); /* positions of the longest */
const okra_layout_ *okra_pieces_layout_(const okra_pieces_ *pieces);
/* K (n x n): the values at position p, 0 for objects that have no such position. */
okra_status okra_pieces_gram_(okra_context *ctx, const okra_pieces_ *pieces, okra_int p,
                              okra_mat_ K);
/* K_rc: object first + r of `data` against training object c at position p. */
okra_status okra_pieces_cross_(okra_context *ctx, const okra_pieces_ *pieces,
                               const okra_data *data, okra_int first, okra_int p,
                               okra_mat_ K);

/* Is it position(zero-one), the number of positions with equal letters? */
bool okra_kernel_counts_letters_(const okra_kernel *kernel);

#endif
