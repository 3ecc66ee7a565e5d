/*
 * best.h: the k best of many, written once.
 *
 * A list of at most `most` items, sorted: smaller keys first, of equal ones the lower id
 * first, of equal ids the earlier one. An item is a struct that begins with okra_rank_.
 */
#ifndef OKRA_BEST_H_
#define OKRA_BEST_H_

#include "core/core.h"

/* A number as the sum of two, of which `high` is the rounded one. */
typedef struct okra_key_ {
    double high, low;
} okra_key_;
static inline bool okra_key_less_(okra_key_ a, okra_key_ b)
{
    return a.high < b.high || (a.high == b.high && a.low < b.low);
}

typedef struct okra_rank_ {
    okra_key_ key;
    okra_int id;
} okra_rank_;
static inline bool okra_rank_less_(okra_rank_ a, okra_rank_ b)
{
    return okra_key_less_(a.key, b.key) || (!okra_key_less_(b.key, a.key) && a.id < b.id);
}

/* Makes room for an item of that rank in a list of *count items of `size` bytes; NULL: it
 * is not among the best. The place has the rank already; its other members are those of a
 * free item, or of the one that drops out, so that what they point to can be used again.
 * A key that is NaN is never among the best. Cost: log k comparisons, up to k moves. */
void *okra_best_put_(void *items, size_t size, okra_int *count, okra_int most,
                     okra_rank_ rank);

#endif
