/*
 * transforms.h: the transforms of Gram values, each defined in a file of its own or with
 * its relatives.
 */
#ifndef OKRA_TRANSFORMS_H_
#define OKRA_TRANSFORMS_H_

#include "kernel/kernel.h"

extern const okra_transform_class_ okra_normalize_, okra_center_, okra_rbf_, okra_poly_,
    okra_power_, okra_poly_series_, okra_exp_, okra_tanimoto_, okra_dice_;

/* gamma of exp(-gamma d^2), from the parameters of `rbf`. */
double okra_rbf_gamma_(const void *params);

#endif
