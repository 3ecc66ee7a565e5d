/*
 * decode.h: from a predicted point of the output feature space to an object.
 *
 * The squared distance of a prediction to a candidate y is
 *     l(y,y) - 2 sum_i w_i l(y_i,y) + w' L w        (weights)
 *     |phi(y)|^2 - 2 <h, phi(y)> + |h|^2            (embedding)
 * A decoder is created once for a model and a candidate set, then fed blocks of
 * predictions. To add one: a file and one line in decoders.c.
 */
#ifndef OKRA_DECODE_H_
#define OKRA_DECODE_H_

#include "method/method.h"

/* The output side of a model, all that a decoder may see. */
typedef struct okra_output_ {
    const okra_data *y;
    const okra_bound_ *ky;
    const double *features; /* explicit features as in okra_problem_, or NULL */
    okra_int d, features_ld;
    double feature_scale;
} okra_output_;

/* A block of predictions: exactly one of W (m x n) and H (m x d) has p != NULL. */
typedef struct okra_block_ {
    okra_int first, m; /* which test points: first..first+m-1 */
    okra_mat_ W, H;
} okra_block_;

/* Candidate rows allowed for test point i: ranges[i].begin..end-1; NULL: all of them. */
typedef struct okra_range_ {
    okra_int begin, end;
} okra_range_;

typedef struct okra_decode_request_ {
    const okra_data *candidates; /* NULL: the training outputs */
    const okra_range_ *ranges;   /* one a test point, or NULL */
    okra_int tests, top;         /* test points in all; how many best to keep */
} okra_decode_request_;

/* What decoders deliver, for all test points. */
typedef struct okra_decoded_ {
    okra_data *objects; /* tests objects: the best one each; NULL for `none`           */
    okra_int top;       /* columns of index and distance; 0 where there are none        */
    okra_int *index;    /* tests x top candidate rows, best first; -1 where fewer exist */
    double *distance;   /* tests x top squared feature-space distances                  */
} okra_decoded_;

typedef struct okra_decoder_ {
    const char *name, *help;
    okra_option_table options;
    okra_status (*create)(okra_context *ctx, const okra_output_ *output,
                          const okra_options *options,
                          const okra_decode_request_ *request, void **state);
    okra_status (*block)(okra_context *ctx, void *state, const okra_block_ *block);
    okra_status (*finish)(okra_context *ctx, void *state, okra_decoded_ *out);
    void (*free)(void *state);
} okra_decoder_;

extern const okra_decoder_ *const okra_decoders_[]; /* ends at NULL */
const okra_decoder_ *okra_decoder_find_(const char *name);
void okra_decoded_clear_(okra_decoded_ *decoded);

#endif
