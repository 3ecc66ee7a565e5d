/*
 * places.h: the string of the least expected number of places that are wrong.
 */
#ifndef OKRA_PLACES_H_
#define OKRA_PLACES_H_

#include "data/data.h"

/* code (room for `longest`) and *length: the string of at most `longest` of these letters
 * with the least sum_i w_i hamming(y, y_i), hamming as the metric of strings. */
okra_status okra_best_places_(const okra_data *y, const int32_t *alphabet,
                              okra_int letters, okra_int longest, const double *w,
                              int32_t *code, okra_int *length) OKRA_CHECK;

#endif
