/*
 * permutations.h: all rankings of up to 8 items.
 */
#ifndef OKRA_TEST_PERMUTATIONS_H
#define OKRA_TEST_PERMUTATIONS_H

#include <stdbool.h>
#include <string.h>

enum { MOST = 8, ALL = 40320 };

static int items = MOST;
static double every[ALL * MOST];
static int rankings;

/* All rankings of `items`, by recursion. */
static inline void list(double *row, int placed, bool *used)
{
    if (placed == items) {
        memcpy(every + rankings++ * items, row, sizeof *row * (size_t)items);
        return;
    }
    for (int r = 0; r < items; r++) {
        if (!used[r]) {
            used[r] = true;
            row[placed] = r + 1;
            list(row, placed + 1, used);
            used[r] = false;
        }
    }
}

static inline void list_all(int d)
{
    double row[MOST];
    bool used[MOST] = {false};
    items = d;
    rankings = 0;
    list(row, 0, used);
}

#endif
