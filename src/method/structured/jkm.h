/*
 * jkm.h: what jkm.c (the method) and jkm_tube.c (its other loss) share.
 */
#ifndef OKRA_JKM_H_
#define OKRA_JKM_H_

#include "solve/groups.h"

/* The loss max(0, |y_i - h(x_i)| - tube), every lambda of r into its bag. */
okra_status okra_jkm_tube_(const okra_grouped_ *r, double tube, double tolerance,
                           okra_bag_ *const *bags) OKRA_CHECK;

#endif
