/*
 * results.h: what decoders make up: the best objects of every test point, as codes.
 */
#ifndef OKRA_RESULTS_H_
#define OKRA_RESULTS_H_

#include "decode/decode.h"

/* One object: letters of a string, members of a set, ranks of items. */
typedef struct okra_result_ {
    int32_t *codes; /* from okra_alloc_; NULL: there is none */
    okra_int length;
    double distance;
} okra_result_;
/* Copies the codes. */
okra_status okra_result_make_(const int32_t *codes, okra_int length, double distance,
                              okra_result_ *out) OKRA_CHECK;

/* `count` objects from their codes: object c has codes offsets[c]..offsets[c+1]-1. */
typedef okra_status (*okra_objects_)(const void *user, const int32_t *codes,
                                     const okra_int *offsets, okra_int count,
                                     okra_data **out);
/* Codes are characters; user: the outputs, of whose kind the strings or sequences are. */
okra_status okra_objects_letters_(const void *user, const int32_t *codes,
                                  const okra_int *offsets, okra_int count,
                                  okra_data **out) OKRA_CHECK;

/* Those of all test points. */
typedef struct okra_results_ {
    okra_int tests, top;
    okra_int count; /* objects so far */
    int32_t *codes;
    okra_int *offsets; /* count + 1 */
    okra_int room, codes_room;
    okra_int *index;  /* tests x top: objects, best first; -1 where there are fewer */
    double *distance; /* tests x top */
} okra_results_;
/* Fails where the request has candidates; `who` asks. most: objects that there are at
 * most, so that no more are asked for. */
okra_status okra_results_open_(okra_context *ctx, const char *who, double most,
                               const okra_decode_request_ *request,
                               okra_results_ *out) OKRA_CHECK;
void okra_results_clear_(okra_results_ *finds);
/* One more of test point i, which has `rank` better ones. */
okra_status okra_results_put_(okra_results_ *finds, okra_int i, okra_int rank,
                              const int32_t *codes, okra_int length,
                              double distance) OKRA_CHECK;
/* rows x top of test points first, first + 1, ..., each row best first. */
okra_status okra_results_put_all_(okra_results_ *finds, okra_int first, okra_int rows,
                                  const okra_result_ *found) OKRA_CHECK;
void okra_result_free_(okra_result_ *found, okra_int count); /* and the array */
/* All of them as a decoder gives them. */
okra_status okra_results_give_(okra_results_ *finds, okra_objects_ objects,
                               const void *user, okra_decoded_ *out) OKRA_CHECK;

/* Grows a block to hold `need` elements. */
okra_status okra_reserve_(void **block, okra_int need, okra_int *room,
                          size_t size) OKRA_CHECK;

#endif
