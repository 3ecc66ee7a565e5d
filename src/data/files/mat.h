/*
 * mat.h: what okra-mat, the program that reads MATLAB files, says to the library.
 *
 * It gets the file as standard input and writes records to standard output: one of kind
 * SHAPE, then one of kind DATA with the elements right behind it; or, at any time, one of
 * kind ERROR with `count` bytes of text behind it. The library believes nothing of this.
 */
#ifndef OKRA_MAT_H_
#define OKRA_MAT_H_

#include <stdint.h>

#define OKRA_MAT_PROGRAM_ "okra-mat"
#define OKRA_MAT_MAGIC_ "okramat1"

typedef enum okra_mat_kind_ {
    OKRA_MAT_SHAPE_ = 1, /* name, rows, cols, sparse */
    OKRA_MAT_DATA_,      /* dense: rows x cols doubles by rows. Sparse: rows + 1 row
                            beginnings, count column numbers, all int64, count doubles */
    OKRA_MAT_ERROR_,     /* status, count bytes of text */
} okra_mat_kind_;

/* Only doubles and int64 arrays follow: both programs run on one machine. */
typedef struct okra_mat_record_ {
    char magic[8];
    int32_t kind, status, sparse, zero;
    int64_t rows, cols, count;
    char name[64]; /* ended by NUL */
} okra_mat_record_;

#endif
