/*
 * edits_kernel.h: the kernel of edits, written out.
 */
#ifndef OKRA_TEST_EDITS_KERNEL_H_
#define OKRA_TEST_EDITS_KERNEL_H_

#include "decode/rewriting/edits.h"

/* The kernel of edits of training pairs i and j: the shares of the aspects they have
 * alike. */
static inline double edits_kernel(const okra_rulebook_ *book, okra_int i, okra_int j)
{
    static const double share[OKRA_ASPECTS_] = {0.5,  0.1,  0.1,  0.1,
                                                0.05, 0.05, 0.05, 0.05};
    double sum = 0;
    for (int a = 0; a < OKRA_ASPECTS_; a++) {
        sum += book->of[i][a] == book->of[j][a] ? share[a] : 0;
    }
    return sum;
}

#endif
