/*
 * neighbours.c: nearest training inputs, by insertion into a sorted list: O(n) while few
 * change places, O(nk) at worst.
 */
#include "method/neighbours/neighbours.h"

okra_int okra_nearest_inputs_(okra_int n, const double *k_x, const double *train_self,
                              okra_int k, okra_int *nearest, double *distance)
{
    okra_int held = 0;
    for (okra_int c = 0; c < n; c++) {
        double d = train_self[c] - 2 * k_x[c];
        okra_int at = held;
        while (at > 0 && d < distance[at - 1]) {
            at--;
        }
        if (at == k) {
            continue;
        }
        held = OKRA_MIN_(held + 1, k);
        for (okra_int i = held - 1; i > at; i--) {
            nearest[i] = nearest[i - 1];
            distance[i] = distance[i - 1];
        }
        nearest[at] = c;
        distance[at] = d;
    }
    return held;
}
