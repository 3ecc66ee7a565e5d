/*
 * best.c: the k best of many, as a sorted list.
 */
#include "core/core.h"

enum { ITEM_MOST = 128 };

static okra_rank_ rank_at(const char *items, size_t size, okra_int k)
{
    okra_rank_ rank;
    memcpy(&rank, items + (size_t)k * size, sizeof rank);
    return rank;
}

void *okra_best_put_(void *list, size_t size, okra_int *count, okra_int most,
                     okra_rank_ rank)
{
    char *items = list, spare[ITEM_MOST];
    okra_int low = 0, high = *count, last = *count < most ? *count : most - 1;
    if (isnan(rank.key.high) || size > sizeof spare ||
        (high == most && !okra_rank_less_(rank, rank_at(items, size, last)))) {
        return NULL;
    }
    while (low < high) {
        okra_int middle = low + (high - low) / 2;
        if (okra_rank_less_(rank, rank_at(items, size, middle))) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    char *place = items + (size_t)low * size;
    memcpy(spare, items + (size_t)last * size, size);
    memmove(place + size, place, (size_t)(last - low) * size);
    memcpy(place, spare, size);
    memcpy(place, &rank, sizeof rank);
    *count += *count < most;
    return place;
}
