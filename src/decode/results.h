/*
 * results.h: what decoders make up: objects as codes, letters of a string, members of a
 * set or ranks of items; the best of every test point, and lists of the best so far.
 */
#ifndef OKRA_RESULTS_H_
#define OKRA_RESULTS_H_

#include "candidates/nearest.h"
#include "decode/decode.h"

/* `count` objects from their codes: object c has codes offsets[c]..offsets[c+1]-1. */
typedef okra_status (*okra_objects_)(okra_context *ctx, const void *user,
                                     const int32_t *codes, const okra_int *offsets,
                                     okra_int count, okra_data **out);
/* Codes are characters; user: the outputs, of whose kind the strings or sequences are. */
okra_status okra_objects_letters_(okra_context *ctx, const void *user,
                                  const int32_t *codes, const okra_int *offsets,
                                  okra_int count, okra_data **out) OKRA_CHECK;

okra_int okra_longest_(const okra_data *y); /* characters of the longest of y */

typedef struct okra_result_ {
    int32_t *codes; /* NULL: there is none */
    okra_int length;
    double distance;
} okra_result_;

/* Those of all test points. The state of a decoder that has no other end than
 * okra_results_give_ begins with it. */
typedef struct okra_results_ {
    const okra_output_ *output;
    okra_int tests, top;
    okra_result_ *cells; /* tests x top, best first */
    okra_objects_ objects;
    const void *user;
    okra_panels_ *training; /* where distances were measured */
} okra_results_;
/* Fails where the request has candidates; `who` asks. most: objects that there are at
 * most, so that no more are asked for. */
okra_status okra_results_open_(okra_context *ctx, const char *who, double most,
                               const okra_output_ *output,
                               const okra_decode_request_ *request, okra_objects_ objects,
                               const void *user, okra_results_ *out) OKRA_CHECK;
void okra_results_clear_(okra_results_ *results);
/* One of test point i, which has `rank` better ones; copies the codes. Threads may put
 * those of different test points. */
okra_status okra_results_put_(const okra_results_ *results, okra_int i, okra_int rank,
                              const int32_t *codes, okra_int length,
                              double distance) OKRA_CHECK;
/* The distances of the results of a block of weights, by the output kernel. */
okra_status okra_results_measure_(okra_context *ctx, okra_results_ *results,
                                  const okra_block_ *block) OKRA_CHECK;
/* All of them as a decoder gives them; results: an okra_results_. */
okra_status okra_results_give_(okra_context *ctx, void *results,
                               okra_decoded_ *out) OKRA_CHECK;

/* ---- the best so far ---- */

typedef struct okra_item_ {
    okra_rank_ rank;
    int32_t *codes;
    okra_int length, room;
    double distance;
    bool expanded;
} okra_item_;

/* The objects of the least keys, best first; of equal ones that which came first. */
typedef struct okra_shortlist_ {
    okra_item_ *items;
    okra_int count, most, came;
    okra_int room; /* of items: `most` may become less */
    bool distinct; /* no object comes twice; else it is looked for */
} okra_shortlist_;
okra_status okra_shortlist_open_(okra_int most, bool distinct,
                                 okra_shortlist_ *out) OKRA_CHECK;
void okra_shortlist_clear_(okra_shortlist_ *list);
void okra_shortlist_empty_(okra_shortlist_ *list); /* to be filled again */
okra_status okra_shortlist_put_(okra_shortlist_ *list, const int32_t *codes,
                                okra_int length, okra_key_ key,
                                double distance) OKRA_CHECK;
bool okra_shortlist_has_(const okra_shortlist_ *list, const int32_t *codes,
                         okra_int length);
/* The best that is not yet expanded, which then counts as that; NULL: all are. */
okra_item_ *okra_shortlist_next_(const okra_shortlist_ *list);
/* What a key must be below. */
double okra_shortlist_worst_(const okra_shortlist_ *list);
/* Copies a list to those of test point i. */
okra_status okra_results_list_(const okra_results_ *results, okra_int i,
                               const okra_shortlist_ *list) OKRA_CHECK;

/* Grows a block to hold `need` elements. */
okra_status okra_reserve_(void **block, okra_int need, okra_int *room,
                          size_t size) OKRA_CHECK;

#endif
