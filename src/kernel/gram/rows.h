/*
 * rows.h: rows of vectors as kernels want to see them, whatever kind holds them.
 *
 * Unless both are dense, two rows meet with one of them wide (d doubles) and the other
 * thin (its nonzeros): a sparse or packed row is spread into a buffer of d doubles once
 * and then met by every row of the other block at the cost of that row's nonzeros.
 */
#ifndef OKRA_ROWS_H_
#define OKRA_ROWS_H_

#include "data/data.h"

/* The nonzeros of a row; values == NULL: all are 1. */
typedef struct okra_thin_ {
    okra_int count;
    const okra_int *indices;
    const double *values;
} okra_thin_;

/* A row of d doubles, how many are not 0, and the sum of their magnitudes in the order of
 * the indices. */
typedef struct okra_wide_ {
    const double *values;
    okra_int nonzeros;
    double magnitude;
} okra_wide_;

static inline double okra_thin_value_(const okra_thin_ *t, okra_int k)
{
    return t->values ? t->values[k] : 1;
}

/* The nonzeros of row i of sparse or packed data; `indices` has room for d, used for
 * packed rows only. Zeros stored in a sparse row are passed on. */
okra_thin_ okra_row_thin_(const okra_data *data, okra_int i, okra_int *indices);

/* out[r*ld + c] = meet(a_(i0+r), b_(j0+c)), one of them wide and one thin; a or b is not
 * dense. Needs d doubles of scratch (and d indices where bits are packed). */
typedef double (*okra_meet_)(const okra_wide_ *wide, const okra_thin_ *thin);
okra_status okra_rows_meet_(const okra_data *a, okra_int i0, okra_int ni,
                            const okra_data *b, okra_int j0, okra_int nj, okra_meet_ meet,
                            double *out, okra_int ld);

/* OKRA_ESHAPE unless the widths are equal or both collections are sparse (an absent
 * column is 0); OKRA_EBUDGET if the scratch of okra_rows_meet_ has no room. */
okra_status okra_widths_(okra_context *ctx, const char *kernel, const okra_data *data,
                         const okra_data *train);

#endif
