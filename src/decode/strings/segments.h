/*
 * segments.h: what every letter of a string becomes in another, aligned by many pairs.
 */
#ifndef OKRA_SEGMENTS_H_
#define OKRA_SEGMENTS_H_

#include "decode/rewriting/edits.h"

enum { OKRA_SEGMENT_MOST_ = 3, OKRA_NO_LETTER_ = -1 /* beyond a word or a segment */ };

/* A letter and what it becomes. */
typedef struct okra_segment_ {
    int32_t letter, length, codes[OKRA_SEGMENT_MOST_];
    double share, seen; /* P(segment | letter); expected count */
} okra_segment_;

/* Pairs of strings x and y, borrowed. Each letter of x becomes a segment of 0 to 3
 * letters of y, in order: the likeliest way, where P(segment | letter) is estimated by
 * expectation maximisation from all pairs. Where all of them have equal lengths, each
 * letter becomes one letter. */
typedef struct okra_segments_ {
    const okra_data *x, *y;
    bool equal;       /* all pairs have equal lengths */
    int32_t *letters; /* of x, ascending */
    okra_int letter_count;
    okra_int *offsets;            /* of the letters of every x */
    const okra_segment_ **became; /* of every letter; NULL: the pair cannot be aligned */
    okra_segment_ *segments;      /* all of them, */
    okra_int room, count;
    okra_hashed_ places; /* by letter and codes */
} okra_segments_;
okra_status okra_segments_align_(okra_context *ctx, const okra_data *x,
                                 const okra_data *y, okra_segments_ *out);
void okra_segments_clear_(okra_segments_ *segments);

#endif
