/*
 * npy.h: NumPy's array format, shared by .npy and .npz files and the model file.
 */
#ifndef OKRA_NPY_H_
#define OKRA_NPY_H_

#include "data/data.h"

typedef struct okra_npy_ {
    char type;      /* 'b' bool, 'i', 'u', 'f'            */
    int size;       /* bytes an element                   */
    bool swapped;   /* big-endian                         */
    bool fortran;   /* column after column                */
    int dimensions; /* 1 or 2                            */
    okra_int rows, cols;
    okra_int offset; /* of the first element             */
} okra_npy_;

/* Parses the header of a whole array file in memory and tests that its elements fill the
 * rest of the bytes exactly. */
okra_status okra_npy_parse_(const unsigned char *p, okra_int size, okra_npy_ *out);
/* Dense data from the whole array file at p. The elements are used in place when they
 * already are what okra computes with; `holder`, the bytes that p points into, is then
 * taken over (and zeroed). `nan`: elements that are not finite are let through. */
okra_status okra_npy_data_(const okra_context *ctx, const unsigned char *p, okra_int size,
                           okra_bytes_ *holder, bool nan, const char *source,
                           okra_data **out);
/* A version 1 header for n x d elements in C order (d < 0: a 1-D array of n), for example
 * descr "<f8". Returns its length, a multiple of 64. */
enum { OKRA_NPY_HEADER_ = 128 };
size_t okra_npy_header_(const char *descr, okra_int n, okra_int d,
                        char header[OKRA_NPY_HEADER_]);

#endif
