/*
 * smooth.h: a kernel on dense vectors as a smooth function of one of them: values and
 * gradients of k(y, y_i) in y.
 */
#ifndef OKRA_SMOOTH_H_
#define OKRA_SMOOTH_H_

#include "kernel/kernel.h"

typedef struct okra_smooth_ {
    const okra_kernel *kernel;
    const okra_data *train;
    double *shift;  /* d: the origin */
    double *spread; /* d: by which the kernel divides coordinates, or NULL */
    double *self;   /* nodes x n: self-similarities of the training vectors, by node */
    bool bounded;   /* k(y,y) is, for all y */
} okra_smooth_;

/* Both are borrowed and must outlive it. OKRA_EUNSUPPORTED where the data are not dense
 * vectors or a part of the kernel has no derivative. bound: the kernel as it was bound,
 * whose statistics count; NULL: those of the data. */
okra_status okra_smooth_create_(okra_context *ctx, const okra_kernel *kernel,
                                const okra_data *train, const okra_trained_kernel_ *bound,
                                okra_smooth_ **out);
void okra_smooth_free_(okra_smooth_ *smooth);

/* A selection of training vectors and the work space of one thread. */
typedef struct okra_smooth_work_ okra_smooth_work_;
/* Room for up to `most` vectors. */
okra_status okra_smooth_work_create_(okra_context *ctx, const okra_smooth_ *smooth,
                                     okra_int most, okra_smooth_work_ **out);
void okra_smooth_work_free_(okra_smooth_work_ *work);
/* The training vectors index[0..count-1]; NULL: the first `count`. */
void okra_smooth_select_(okra_smooth_work_ *work, const okra_int *index, okra_int count);
/* values[i] = k(y, y_i) of the selection, *self = k(y,y). */
void okra_smooth_values_(okra_smooth_work_ *work, const double *y, double *values,
                         double *self);
/* gradient (d) = sum_i c_i dk(y, y_i)/dy + c_self dk(y,y)/dy at the y of the last
 * okra_smooth_values_. */
void okra_smooth_gradient_(okra_smooth_work_ *work, const double *c, double c_self,
                           double *gradient);
/* What a gradient needs of the last okra_smooth_values_, put aside and fetched back. */
okra_int okra_smooth_kept_(const okra_smooth_work_ *work); /* how many numbers */
void okra_smooth_keep_(const okra_smooth_work_ *work, double *kept);
void okra_smooth_recall_(okra_smooth_work_ *work, const double *kept);

#endif
