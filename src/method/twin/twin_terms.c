/*
 * twin_terms.c: the terms of one side of twin kernel learning, numbered: monomials of q
 * kernels by total degree, binomial(d + q - 1, q - 1) of degree d, then by exponents, the
 * highest of the first kernel first.
 */
#include "method/twin/twin.h"

#include <string.h>

static okra_int binomial(okra_int n, okra_int k)
{
    double value = 1;
    for (okra_int i = 1; i <= k; i++) {
        value = value * (double)(n - k + i) / (double)i;
        if (value > 2.0 * OKRA_TWIN_TERMS_MOST) {
            return 2 * OKRA_TWIN_TERMS_MOST;
        }
    }
    return (okra_int)(value + 0.5);
}

okra_int okra_twin_terms_(const okra_twin_side_ *side)
{
    okra_int count = binomial(side->kernels + side->degree, side->kernels) - 1;
    return count > OKRA_TWIN_TERMS_MOST ? -1 : count;
}

void okra_twin_exponents_(const okra_twin_side_ *side, okra_int t, int *p)
{
    int q = side->kernels, total = 1;
    memset(p, 0, (size_t)q * sizeof *p);
    for (;; total++) { /* the terms of one total degree */
        okra_int count = binomial(total + q - 1, q - 1);
        if (t < count) {
            break;
        }
        t -= count;
    }
    for (int k = 0; k < q - 1; k++) {
        for (p[k] = total;; p[k]--) {
            okra_int count = binomial(total - p[k] + q - k - 2, q - k - 2);
            if (t < count) {
                break;
            }
            t -= count;
        }
        total -= p[k];
    }
    p[q - 1] = total;
}

static okra_int find_term(const okra_twin_side_ *given, const int *p)
{
    int other[OKRA_TWIN_KERNELS_MOST];
    for (okra_int t = 0;; t++) {
        okra_twin_exponents_(given, t, other);
        if (memcmp(p, other, (size_t)given->kernels * sizeof *p) == 0) {
            return t;
        }
    }
}

void okra_twin_recipes_(const okra_twin_side_ *side, okra_twin_recipe_ *out)
{
    okra_int terms = okra_twin_terms_(side);
    for (okra_int t = 0; t < terms; t++) {
        int p[OKRA_TWIN_KERNELS_MOST] = {0}, k = side->kernels - 1;
        okra_twin_exponents_(side, t, p);
        while (p[k] == 0) {
            k--;
        }
        p[k]--;
        out[t] = (okra_twin_recipe_){t < side->kernels ? -1 : find_term(side, p), k};
    }
}
