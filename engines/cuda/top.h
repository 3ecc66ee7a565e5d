/*
 * top.h: the best of many rows of bits for each query, as the files of the verb `top`
 * share it. top.c says how it works.
 */
#ifndef OKRA_GPU_TOP_H_
#define OKRA_GPU_TOP_H_

#include "gpu.h"

enum {
    TOP_MOST = 256,        /* best of a query that are asked for            */
    TOP_QUERIES = 16384,   /* queries                                       */
    TOP_TRAINING = 131072, /* columns: 127^2 times as many fit 32 bits      */
    TOP_LEAST = 8192,      /* rows; fewer are not worth while               */
    TOP_ODD = 4096,        /* rows whose codes do not fit                    */
    TOP_PAIRS = 1 << 22,   /* of such a row and a query                     */
};

typedef struct top_ {
    gpu_ *g;
    okra_context *ctx;
    okra_mat_ W;
    const uint64_t *a, *b; /* the host's rows of bits */
    okra_int a_ld, b_ld;
    const double *v; /* bits of b */
    const bool *skip;
    okra_int count, n, m, k, width;
    okra_int ld;           /* of codes: n, rounded up                     */
    okra_int rows, height; /* rows of codes of W; the most there may be   */
    okra_int chunk, unit;  /* rows of a product; rows that are copied      */
    int room;              /* of a list                                   */
    double centre, step;   /* code 0, and 1 more                          */
    double typical;        /* root of the sum of squares of a row's codes */
    /* of queries, on the host */
    double *unit_of, *norm, *one; /* what 1 more is; of codes: 2-norm and 1-norm */
    int *low;
    int8_t *codes; /* height x ld */
    float *offset; /* ld */
    /* on the device */
    uint64_t *yb, *yt, *bits[2];
    double *v_all, *W_all, *norm_all, *one_all, *parts;
    float *v_float, *offset_all, *u;
    int8_t *W_codes, *X;
    int *S, *square, *low_all, *listed, *kept;
    int64_t *limit, *odd;
    uint8_t *flag[2];
    gpu_found_ *list;
    gpu_choice_ *state;
} top_;

/* ---- top_codes.c ---- */

/* centre, step and typical, from a sample of rows; wide: codes of all values fit. */
okra_status top_range_(top_ *t, bool wide);
/* The codes of W and of the columns, to the device; false: W is not finite. */
okra_status top_weights_(top_ *t, bool *fine);
/* The largest difference of a score from its code, with what margin (top.c), in units of
 * codes: bound (norm + sqrt(most) + root) + bias one. */
double top_bound_(void);
double top_root_(const top_ *t);
double top_bias_(const top_ *t);

/* ---- top_exact.c ---- */

/* From the lists to the answer. */
okra_status top_answer_(top_ *t, gpu_choice_ found, okra_int *index, double *value);

#endif
