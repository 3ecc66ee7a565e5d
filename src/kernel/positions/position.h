/*
 * position.h: kernels of kernels, and kernels of vectors by way of other collections.
 */
#ifndef OKRA_POSITION_H_
#define OKRA_POSITION_H_

#include "kernel/kernel.h"

extern const okra_kernel_class_ okra_position_, okra_patches_, okra_bag_, okra_jitter_,
    okra_ic_, okra_cost_, okra_metric_, okra_tasks_;

/* The parameters of position, with which those of patches and bag begin. */
typedef struct okra_position_params_ {
    const okra_kernel *inner;
    bool map;
} okra_position_params_;

/* Does the inner kernel meet the labels of these sequences or strings, or the vectors?
 * OKRA_EARG where it takes neither. */
okra_status okra_position_labels_(const okra_kernel *inner, const okra_data *data,
                                  bool *labels);

/* These elements of sequences or strings, counted over all of them, as labels (code
 * points, one more for a missing label) or as vectors. */
okra_status okra_position_elements_(okra_context *ctx, const okra_data *from, bool labels,
                                    const okra_int *order, okra_int count,
                                    okra_data **out);
/* The inner kernel bound to the elements of the training set. What it read from files is
 * saved under `name` and comes from the store then; all else is bound anew. */
okra_status okra_position_bind_(okra_context *ctx, const okra_kernel *inner,
                                const okra_data *members, const okra_store_ *store,
                                const char *name, okra_trained_kernel_ **bound);
/* shared begins with a pointer to it. */
okra_status okra_position_save_(const void *shared, okra_store_ *store, const char *name);
/* The check of that, of so many elements. */
okra_status okra_position_check_kept_(const void *params, const okra_data *train,
                                      okra_int elements_count, const char *name,
                                      okra_store_ *store);

/* ---- pieces ----
 * A kernel that is a sum over positions taken apart, for methods that weigh the
 * positions by themselves.
 */

/* Where the square patches of an image lie: patch (r, c) is number r * across + c. */
typedef struct okra_layout_ {
    okra_int width, height, patch; /* pixels; 0: no images */
    okra_int down, across;         /* patches              */
    okra_int *row, *col;           /* first pixels of the patches: `down`, `across` */
} okra_layout_;
void okra_layout_clear_(okra_layout_ *layout);
/* The pixels of patch p of an image. */
void okra_layout_cut_(const okra_layout_ *layout, const double *image, okra_int p,
                      double *to);
/* Of the kernel patches with these parameters, on images of d pixels. */
okra_status okra_patches_layout_(const void *params, const okra_data *data,
                                 okra_layout_ *out);

/* position(k) or patches(k, ...) on a training set of n objects: k at every position. The
 * kernel outlives the pieces. */
typedef struct okra_pieces_ {
    const okra_position_params_ *params;
    okra_int n, d, count; /* count: positions of the longest */
    bool labels;
    okra_layout_ layout;
    struct okra_piece_ *at; /* count */
} okra_pieces_;
/* OKRA_EUNSUPPORTED for any other kernel; `who` asks. */
okra_status okra_pieces_create_(okra_context *ctx, const char *who,
                                const okra_kernel *kernel, const okra_data *train,
                                okra_pieces_ **out);
void okra_pieces_free_(okra_pieces_ *pieces);
OKRA_DROPS_(okra_pieces_drop_, okra_pieces_, okra_pieces_free_)
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
