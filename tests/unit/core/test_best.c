/*
 * test_best.c: the k best of many against sorting all of them.
 */
#include "harness.h"

#include "core/core.h"

#include <math.h>

enum { MANY = 200 };

typedef struct item {
    okra_rank_ rank;
    int *room; /* goes around with the items */
    int when;
} item;

static int by_rank(const void *p, const void *q)
{
    const item *a = p, *b = q;
    if (okra_rank_less_(a->rank, b->rank) || okra_rank_less_(b->rank, a->rank)) {
        return okra_rank_less_(a->rank, b->rank) ? -1 : 1;
    }
    return a->when - b->when;
}

static void check_problem(okra_random_ *r, okra_int most, int keys, int ids)
{
    item all[MANY], list[MANY];
    int rooms[MANY] = {0};
    okra_int count = 0;
    bool used[MANY] = {false};
    for (int k = 0; k < MANY; k++) {
        list[k] = (item){.room = &rooms[k]};
    }
    for (int k = 0; k < MANY; k++) {
        double high = (double)okra_random_below_(r, keys);
        double low = 1e-20 * (double)okra_random_below_(r, 2);
        okra_int id = okra_random_below_(r, ids);
        all[k] = (item){{{high, low}, id}, NULL, k};
        item *place = okra_best_put_(list, sizeof *list, &count, most, all[k].rank);
        if (place) {
            place->when = k;
            *place->room = k;
        }
    }
    CHECK(!okra_best_put_(list, sizeof *list, &count, most,
                          (okra_rank_){{(double)NAN, 0}, 0}));
    qsort(all, MANY, sizeof *all, by_rank);
    CHECK(count == OKRA_MIN_(most, MANY));
    for (okra_int k = 0; k < count; k++) {
        okra_int at = list[k].room - rooms;
        CHECK(list[k].when == all[k].when && *list[k].room == all[k].when);
        CHECK(at >= 0 && at < MANY && !used[at]); /* no two share what they point to */
        used[at] = true;
    }
}

TEST(the_best_are_those_of_sorting)
{
    okra_random_ r = okra_random_create_(3, 0);
    static const okra_int most[] = {1, 2, 7, 50, MANY - 1, MANY};
    for (int k = 0; k < SOME(60); k++) {
        check_problem(&r, most[k % 6], k % 2 ? 5 : 1000, k % 3 ? 1000 : 1);
    }
}

MAIN(RUN(the_best_are_those_of_sorting))
