/*
 * problem.c: the Gram matrices that a method asks of its training set.
 */
#include "method/method.h"

static okra_status gram(okra_context *ctx, okra_int n, const char *what,
                        const okra_bound_ *kernel, const double *given, okra_int given_ld,
                        double **out)
{
    okra_status st = OKRA_OK;
    double *G = NULL;
    TRY(okra_doubles_(ctx, n, n, what, &G));
    if (given) {
        TRY(okra_mat_copy_(okra_mat_view_(given, n, n, given_ld), okra_mat_of_(G, n, n)));
    } else {
        TRY(okra_bound_gram_(ctx, kernel, okra_mat_of_(G, n, n)));
    }
    *out = G;
    G = NULL;
done:
    okra_free_(G);
    return st;
}

okra_status okra_problem_K_(okra_context *ctx, const okra_problem_ *p, double **K)
{
    return gram(ctx, p->n + p->unlabelled, "the Gram matrix of the inputs", p->kx,
                p->given_K, p->given_K_ld, K);
}

okra_status okra_problem_L_(okra_context *ctx, const okra_problem_ *p, double **L)
{
    return gram(ctx, p->n, "the Gram matrix of the outputs", p->ky, p->given_L,
                p->given_L_ld, L);
}
