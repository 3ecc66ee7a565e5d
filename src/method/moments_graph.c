/*
 * moments_graph.c: the smoothness penalty of semi-supervised ridge in factored form, for
 * the graph `gram`, whose weights are the kernel itself.
 *
 * Over all N inputs, W = Phi Phi' and M = diag(W 1) - W, so that
 *     Phi'M Phi = Phi' diag(Phi s) Phi - G G,   s = Phi'1,  G = Phi'Phi,
 * and what ridge needs of P = J'J + 2 lambda_2 M (semi.c) is
 *     Phi'P Phi = C + 2 lambda_2 Phi'M Phi,     C: over the labelled inputs.
 * W must be >= 0, as in graph.c; what is seen of it are its row sums, which are checked.
 * Cost: two passes over the inputs, 3 N m^2 and 2 m^3; memory 2 m^2 and a block.
 */
#include "method/moments.h"

typedef struct penalty {
    okra_mat_ G, Q; /* m x m: Phi'Phi, Phi' diag(Phi s) Phi */
    double *s;      /* m */
    double total;   /* 1'W 1 = |s|^2 */
    double *scaled; /* ROWS x m */
} penalty;

enum { ROWS = 1024 };

static okra_status first(okra_context *ctx, void *user, okra_int at, okra_mat_ Phi,
                         okra_mat_ Psi)
{
    okra_status st = OKRA_OK;
    penalty *z = user;
    (void)Psi;
    TRY(okra_syrk_(ctx, true, 1, Phi, at > 0, z->G));
    for (okra_int i = 0; i < Phi.rows; i++) {
        for (okra_int j = 0; j < Phi.cols; j++) {
            z->s[j] += Phi.p[i * Phi.ld + j];
        }
    }
done:
    return st;
}

static okra_status second(okra_context *ctx, void *user, okra_int at, okra_mat_ Phi,
                          okra_mat_ Psi)
{
    okra_status st = OKRA_OK;
    penalty *z = user;
    okra_int m = Phi.cols;
    (void)Psi;
    for (okra_int i0 = 0; i0 < Phi.rows; i0 += ROWS) {
        okra_int some = OKRA_MIN_(ROWS, Phi.rows - i0);
        okra_mat_ P = okra_mat_part_(Phi, i0, some, 0, m);
        okra_mat_ S = okra_mat_of_(z->scaled, some, m);
        for (okra_int i = 0; i < some; i++) {
            double degree = okra_dot_(m, P.p + i * P.ld, z->s);
            if (degree < -1e-8 * z->total) {
                FAIL(OKRA_EARG,
                     "graph gram: the kernel of input %lld with all others sums to %g, "
                     "expected a kernel whose values are not below 0",
                     (long long)(at + i0 + i), degree);
            }
            for (okra_int j = 0; j < m; j++) {
                S.p[i * m + j] = degree * P.p[i * P.ld + j];
            }
        }
        TRY(okra_gemm_(ctx, true, false, 1, P, S, at + i0 > 0, z->Q));
    }
done:
    return st;
}

okra_status okra_moments_smooth_(okra_context *ctx, const okra_problem_ *p,
                                 double lambda2, okra_moments_ *t)
{
    okra_status st = OKRA_OK;
    okra_int m = t->m;
    double *G = NULL, *Q = NULL;
    penalty z = {.s = NULL};
    okra_problem_ all = *p; /* every input, and no outputs */
    all.n += all.unlabelled;
    all.map_y = NULL;
    all.features = NULL;
    TRY(okra_doubles_(ctx, m, m, "the moments of all inputs", &G));
    TRY(okra_doubles_(ctx, m, m, "the smoothness penalty", &Q));
    TRY(okra_doubles_(ctx, ROWS, m, "a block of features", &z.scaled));
    ZALLOC(z.s, m);
    z.G = okra_mat_of_(G, m, m);
    z.Q = okra_mat_of_(Q, m, m);
    TRY(okra_moments_pass_(ctx, &all, "moments of all inputs", 0, first, &z));
    z.total = okra_dot_(m, z.s, z.s);
    TRY(okra_moments_pass_(ctx, &all, "smoothness", 0, second, &z));
    TRY(okra_gemm_(ctx, false, false, -1, z.G, z.G, 1, z.Q));
    for (okra_int i = 0; i < m; i++) {
        for (okra_int j = 0; j <= i; j++) { /* symmetric to the last bit */
            double q = lambda2 * (Q[i * m + j] + Q[j * m + i]);
            t->C[i * m + j] += q;
            t->C[j * m + i] = t->C[i * m + j];
        }
    }
done:
    okra_free_(G);
    okra_free_(Q);
    okra_free_(z.s);
    okra_free_(z.scaled);
    return st;
}
