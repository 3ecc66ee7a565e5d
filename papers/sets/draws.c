/*
 * draws.c: random numbers, and the S-shape of Tonde and Elgammal.
 */
#include "draws.h"

#include <math.h>
#include <stdlib.h>

static const double two_pi = 2 * 3.14159265358979323846;

/* splitmix64 */
double draw_uniform(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

double draw_normal(uint64_t *state)
{
    double radius = sqrt(-2 * log(1 - draw_uniform(state)));
    return radius * cos(two_pi * draw_uniform(state));
}

okra_status draw_sshape(uint64_t seed, okra_int n, paper_pairs *out)
{
    double *x = malloc(2 * (size_t)n * sizeof *x), *y = x + n;
    if (!x) {
        return okra_fail(OKRA_EMEM, "no memory for a draw");
    }
    for (okra_int i = 0; i < n; i++) {
        y[i] = draw_uniform(&seed);
        x[i] = y[i] + 0.3 * sin(two_pi * y[i]) + 0.05 * draw_normal(&seed);
    }
    okra_status st = paper_dense(x, n, 1, &out->x);
    if (st == OKRA_OK) {
        st = paper_dense(y, n, 1, &out->y);
    }
    free(x);
    return st;
}
