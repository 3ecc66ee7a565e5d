/*
 * sums.c: moments as a list of sums: room for them, their addition, their centres.
 */
#include "solve/moments.h"

okra_moments_sums_ okra_moments_list_(okra_moments_ *t)
{
    okra_int m = t->m, d = t->d;
    return (okra_moments_sums_){{t->C, t->R, t->D, t->phi, t->psi, &t->kept_y},
                                {m * m, m * d, t->D ? d * d : 0, m, d, 1}};
}

okra_status okra_moments_room_(okra_context *ctx, bool outputs, okra_moments_ *t)
{
    CHK(okra_doubles_(ctx, t->m, t->m, "the moments of the inputs", &t->C));
    CHK(okra_doubles_(ctx, t->m, t->d, "the moments of inputs and outputs", &t->R));
    if (outputs) {
        CHK(okra_doubles_(ctx, t->d, t->d, "the moments of the outputs", &t->D));
    }
    MAKE(t->phi, t->m);
    MAKE(t->psi, t->d);
    okra_moments_add_(0, NULL, t);
    return OKRA_OK;
}

void okra_moments_add_(double sign, okra_moments_ *from, okra_moments_ *to)
{
    okra_moments_sums_ a = from ? okra_moments_list_(from) : (okra_moments_sums_){0};
    okra_moments_sums_ b = okra_moments_list_(to);
    for (int k = 0; k < OKRA_MOMENTS_SUMS_; k++) {
        for (okra_int i = 0; i < b.size[k]; i++) {
            b.p[k][i] = from ? b.p[k][i] + sign * a.p[k][i] : 0;
        }
    }
}

void okra_moments_center_(okra_moments_ *t)
{
    double n = t->total;
    for (okra_int i = 0; i < t->m; i++) {
        for (okra_int j = 0; j < t->d; j++) {
            t->R[i * t->d + j] -= n * t->phi[i] * t->psi[j];
        }
    }
    for (okra_int i = 0; t->D && i < t->d; i++) {
        for (okra_int j = 0; j < t->d; j++) {
            t->D[i * t->d + j] -= n * t->psi[i] * t->psi[j];
        }
    }
}

OKRA_SHARED_CLEARS_(okra_moments_clear_, okra_moments_, it->C, it->R, it->D, it->phi,
                    it->psi)
