/*
 * nearest.h: the best of many candidates, a list a test point, filled panel by panel, and
 * the order of candidates.
 */
#ifndef OKRA_NEAREST_H_
#define OKRA_NEAREST_H_

#include "decode/decode.h"

/* What orders the objects near one prediction: self - 2 inner, exactly, as the sum of
 * two numbers of which `high` is the rounded one. */
typedef struct okra_key_ {
    double high, low;
} okra_key_;
okra_key_ okra_key_of_(double self, double inner);
static inline bool okra_key_less_(okra_key_ a, okra_key_ b)
{
    return a.high < b.high || (a.high == b.high && a.low < b.low);
}
/* The value that all of self have, up to rounding, but for those to skip (NULL: none);
 * NaN: they differ, or are none. */
okra_status okra_self_constant_(okra_context *ctx, const double *self, okra_int n,
                                const bool *skip, double *out) OKRA_CHECK;
/* self, or the constant where it is that up to rounding. */
double okra_self_settle_(double self, double constant);

typedef struct okra_nearest_ {
    okra_int tests, top, count;
    const okra_range_ *ranges;
    bool negative;     /* values below 0 are no rounding: a criterion, not a distance */
    bool *skip;        /* candidates left out, or NULL */
    okra_int *index;   /* tests x top: best first, -1 where there are fewer */
    double *distance;  /* tests x top */
    okra_key_ *key;    /* tests x top: what the lists are sorted by */
    double *runner_up; /* tests, where wanted */
} okra_nearest_;

/* Fails where a range of the request is not within the `count` candidates. */
okra_status okra_nearest_open_(okra_context *ctx, const okra_decode_request_ *request,
                               okra_int count, bool negative,
                               okra_nearest_ *out) OKRA_CHECK;
void okra_nearest_clear_(okra_nearest_ *nearest);
/* Leaves out candidates with l(y,y) = self <= 0; fails where a test has no other. */
okra_status okra_nearest_leave_out_empty_(okra_context *ctx, okra_nearest_ *nearest,
                                          const double *self) OKRA_CHECK;
/* Whether a test point of the block may choose among these candidates. */
bool okra_nearest_wanted_(const okra_nearest_ *nearest, const okra_block_ *block,
                          okra_int first, okra_int columns);

/* Candidates first..first+columns-1 at scale (self_c - 2 G_rc + norm_r) from row r of the
 * block, chosen by self_c - 2 G_rc. The self-similarities may depend on the row: those of
 * row r are self + which[r] columns. */
typedef struct okra_measured_ {
    const okra_block_ *block;
    okra_int first, columns;
    const double *self, *G, *norm; /* norm == NULL: 0 */
    double scale;
    double constant; /* of all l(y,y), which then do not count in the order; or NaN */
    const okra_int *which; /* NULL: all 0 */
} okra_measured_;
/* Panels come by ascending index, a block at a time. */
okra_status okra_nearest_put_(okra_context *ctx, okra_nearest_ *nearest,
                              const okra_measured_ *measured) OKRA_CHECK;
/* One candidate of test point i, self and constant as above; by ascending index too, but
 * for those that are farther. */
void okra_nearest_offer_(okra_nearest_ *nearest, okra_int i, okra_int candidate,
                         double self, double inner, double norm, double constant);
/* The lists as a decoder gives them, with the best of each as an object of `set`. Fails
 * with `whose: test point i has no WHAT` where a list is empty. */
okra_status okra_nearest_give_(okra_nearest_ *nearest, const okra_data *set,
                               const char *whose, const char *what,
                               okra_decoded_ *out) OKRA_CHECK;

#endif
