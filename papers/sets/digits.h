/*
 * digits.h: the first 100 of each of the ten digits of USPS, grey from 0 (background) to
 * 1, in folds that hold as many of each digit.
 */
#ifndef OKRA_PAPER_DIGITS_H
#define OKRA_PAPER_DIGITS_H

#include "../protocol.h"

enum { DIGITS_COUNT = 1000, DIGITS_HALF = 128, DIGITS_PARTITIONS = 10 };

typedef struct digits_set {
    double *pixels; /* 1000 x 256                         */
    okra_int *classes;
} digits_set;

okra_status digits_read(paper_run *run, digits_set *out) OKRA_CHECK;
void digits_clear(digits_set *set);

/* Partition `number` in an order of its own: each fifth of it holds 20 of each digit, in
 * a random order. `order`: room for 1000. */
void digits_order(paper_run *run, const digits_set *set, int number, okra_int *order);
/* Columns begin..end-1 of the images in that order, each row divided by its length. */
okra_status digits_unit(const digits_set *set, const okra_int *order, okra_int begin,
                        okra_int end, okra_data **out) OKRA_CHECK;

#endif
