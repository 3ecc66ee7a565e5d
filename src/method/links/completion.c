/*
 * completion.c: the output Gram matrix, known among n labelled nodes, is completed from
 * the input Gram matrix of all nodes. Links only.
 *
 * Symbols: v labelled, h new nodes; K (inputs) in blocks K_vv, K_vh, K_hh; L = L_vv;
 * W = (K_vv + e I)^-1 K_vh (n x m), the weights of ridge.
 *
 * em (K. Tsuda, S. Akaho, K. Asai, JMLR 4, 2003; T. Kato, K. Tsuda, K. Asai,
 * Bioinformatics 21, 2005): D, known in D_vv = L, closest to M = K + lambda I in the
 * Kullback-Leibler divergence tr(M^-1 D) - log det(M^-1 D). With one fixed M the e-step
 * is the whole algorithm, and closed (the conditional law of h given v is that of M):
 *
 *     D_vh = L W,   D_hh = W'L W + M_hh - M_hv M_vv^-1 M_vh,   e = lambda
 *
 * With m-step = yes the scale of M is fitted too, M = b (K + lambda I): the m-step of b
 * given D is tr((K + lambda I)^-1 D) / N over all N nodes, and since new nodes add b each
 * to that trace, the alternation of both steps stands still at
 *     b = tr((K_vv + lambda I)^-1 L) / n,
 * which labelled nodes tell alone (iterated in the tests). Kept is L / b: scores are
 * those of D / b, whose order is that of D. Spectral variants of M are not fitted.
 *
 * pkmr (Y. Yamanishi and J.-P. Vert, 2007, penalized kernel matrix regression):
 * D = K A K with A >= 0 that minimises |L - K_vv A K_vv|^2 + lambda tr(A K_vv). With
 * B = K_vv A K_vv the penalty is lambda tr(B K_vv^-1), so that B is the projection
 *     B = (L - lambda/2 K_vv^-1)_+        (negative eigenvalues set to 0)
 * and D_vh = B W, D_hh = W'B W; epsilon is added to the diagonal of K_vv.
 *
 * In both the labelled nodes have the unit vectors as weights. Cost: Cholesky factor
 * (n^3/3); pkmr an inverse and an eigendecomposition besides; 4 n^2 a new node.
 */
#include "method/method.h"

typedef struct completion_options {
    double lambda, epsilon;
    bool m_step;
} completion_options;

/* clang-format off */
static const okra_option em_rows[] = {
    {"lambda", OKRA_OPTION_NUMBER, offsetof(completion_options, lambda), "0.1", 1e-300, 1e300,
     NULL, "V", "added to the diagonal of the Gram matrix of the inputs"},
    {"m-step", OKRA_OPTION_BOOL, offsetof(completion_options, m_step), "no", 1, 0, NULL, "",
     "fit the scale of the Gram matrix of the inputs to the known outputs"},
    {0}};
static const okra_option pkmr_rows[] = {
    {"lambda", OKRA_OPTION_NUMBER, offsetof(completion_options, lambda), "0.1", 0, 1e300, NULL,
     "V", "weight of the penalty tr(A K)"},
    {"epsilon", OKRA_OPTION_NUMBER, offsetof(completion_options, epsilon), "0.01", 1e-300,
     1e300, NULL, "V", "added to the diagonal of the Gram matrix of the inputs"},
    {0}};
/* clang-format on */

extern const okra_method_ okra_method_em_, okra_method_pkmr_;

static okra_status factor(okra_context *ctx, const okra_problem_ *p, double ridge,
                          okra_store_ *store)
{
    OWNED double *K = NULL;
    CHK(okra_problem_host_K_(ctx, p, &K));
    okra_mat_add_diagonal_(okra_mat_of_(K, p->n, p->n), ridge);
    CHK(okra_engine_cholesky_(ctx, okra_mat_of_(K, p->n, p->n), NULL));
    return okra_store_put_(store, "factor", &K, p->n, p->n);
}

/* L <- L / b, b = tr((K + lambda I)^-1 L) / n. Outputs of 0 stay. */
static okra_status rescale(okra_context *ctx, okra_mat_ factor, okra_mat_ L)
{
    okra_int n = L.rows;
    OWNED double *X = NULL;
    double scale = 0;
    CHK(okra_doubles_(ctx, n, n, "the scale of the Gram matrix", &X));
    CHK(okra_mat_copy_(L, okra_mat_of_(X, n, n)));
    CHK(okra_engine_cholesky_solve_rows_(ctx, factor, okra_mat_of_(X, n, n)));
    for (okra_int i = 0; i < n; i++) {
        scale += X[i * n + i] / (double)n;
    }
    for (okra_int i = 0; scale > 0 && i < n * n; i++) {
        L.p[i / n * L.ld + i % n] /= scale;
    }
    return OKRA_OK;
}

static okra_status fit_em(okra_context *ctx, const okra_problem_ *p,
                          const okra_options *options, okra_store_ *store)
{
    completion_options o;
    OWNED double *L = NULL;
    CHK(okra_options_read(options, &okra_method_em_.options, &o));
    CHK(factor(ctx, p, o.lambda, store));
    CHK(okra_problem_host_L_(ctx, p, &L));
    if (o.m_step) {
        CHK(rescale(ctx, okra_store_mat_(store, "factor"), okra_mat_of_(L, p->n, p->n)));
    }
    return okra_store_put_(store, "output", &L, p->n, p->n);
}

/* A <- its projection on the positive semi-definite matrices. */
static okra_status positive_part(okra_context *ctx, okra_mat_ A)
{
    okra_int n = A.rows, negative = 0;
    OWNED double *x = NULL, *V = NULL;
    MAKE(x, n);
    CHK(okra_doubles_(ctx, n, n, "eigenvectors of the output matrix", &V));
    CHK(okra_mat_copy_(A, okra_mat_of_(V, n, n)));
    CHK(okra_engine_eigh_(ctx, okra_mat_of_(V, n, n), x));
    while (negative < n && x[negative] <= 0) {
        negative++;
    }
    for (okra_int r = negative; r < n; r++) {
        okra_scale_(n, sqrt(x[r]), V + r * n);
    }
    return okra_engine_syrk_(ctx, true, 1,
                             okra_mat_of_(V + negative * n, n - negative, n), 0, A);
}

static okra_status fit_pkmr(okra_context *ctx, const okra_problem_ *p,
                            const okra_options *options, okra_store_ *store)
{
    completion_options o;
    okra_int n = p->n;
    OWNED double *L = NULL, *inverse = NULL;
    CHK(okra_options_read(options, &okra_method_pkmr_.options, &o));
    CHK(factor(ctx, p, o.epsilon, store));
    CHK(okra_problem_host_L_(ctx, p, &L));
    CHK(okra_doubles_(ctx, n, n, "the inverse of the Gram matrix", &inverse));
    okra_mat_units_(okra_mat_of_(inverse, n, n), 0);
    CHK(okra_engine_cholesky_solve_rows_(ctx, okra_store_mat_(store, "factor"),
                                         okra_mat_of_(inverse, n, n)));
    for (okra_int i = 0; i < n * n; i++) {
        L[i] -= o.lambda / 2 * inverse[i];
    }
    CHK(positive_part(ctx, okra_mat_of_(L, n, n)));
    return okra_store_put_(store, "output", &L, n, n);
}

/* ---- factors ---- */

/* P = W B, Q = W in the first n columns; B: L or its projection. */
static okra_status product(okra_context *ctx, const okra_store_ *store, okra_query_ *q,
                           okra_int labelled, okra_mat_ P, okra_mat_ Q)
{
    okra_mat_ B = okra_store_mat_(store, "output"), W = {0};
    OWNED double *own = NULL;
    CHK(okra_doubles_(ctx, q->m, q->n, "weights", &own));
    W = okra_mat_of_(own, q->m, q->n);
    if (labelled >= 0) {
        okra_mat_units_(W, labelled);
    } else {
        CHK(okra_mat_copy_(okra_mat_part_(q->Kx, 0, q->m, 0, q->n), W));
        CHK(okra_engine_cholesky_solve_rows_(ctx, okra_store_mat_(store, "factor"), W));
    }
    if (Q.p) {
        CHK(okra_mat_copy_(W, okra_mat_part_(Q, 0, q->m, 0, q->n)));
    }
    return P.p ? okra_engine_gemm_(ctx, false, false, 1, W, B, 0,
                                   okra_mat_part_(P, 0, q->m, 0, q->n))
               : OKRA_OK;
}

static okra_int width_pkmr(const okra_store_ *store)
{
    return okra_store_mat_(store, "output").rows;
}

static okra_int width_em(const okra_store_ *store)
{
    return 2 * width_pkmr(store);
}

/* D_hh needs k(u,v) - k_u'w_v besides: [W L, -K] against [W, W], new nodes alone. */
static okra_status factors_em(okra_context *ctx, const okra_store_ *store, okra_query_ *q,
                              okra_int labelled, okra_mat_ P, okra_mat_ Q)
{
    okra_int n = q->n;
    CHK(product(ctx, store, q, labelled, P, Q));
    for (okra_int i = 0; i < q->m; i++) {
        for (okra_int j = 0; j < n; j++) {
            if (P.p) {
                P.p[i * P.ld + n + j] = labelled >= 0 ? 0 : -q->Kx.p[i * q->Kx.ld + j];
            }
            if (Q.p) {
                Q.p[i * Q.ld + n + j] = labelled >= 0 ? 0 : Q.p[i * Q.ld + j];
            }
        }
    }
    return OKRA_OK;
}

static const okra_linker_ em_linker = {
    .kernel = OKRA_LINKER_NEW_, .width = width_em, .factors = factors_em};
static const okra_schema_ kept_both[] = {
    OKRA_KEEPS_MATRIX_("factor", OKRA_KEPT_FACTOR_, "n", "n"),
    OKRA_KEEPS_MATRIX_("output", 0, "n", "n"),
    OKRA_KEEPS_SAME_("inputs", "c", "n"),
    OKRA_KEPT_END_,
};
static const okra_schema_ *const kept[] = {kept_both, NULL};

const okra_method_ okra_method_em_ = {
    .name = "em",
    .unweighted =
        "completes the Gram matrix of a network: weights of pairs have no meaning",
    .help = "links only: the output Gram matrix completed by information geometry",
    .options = {"em", em_rows, sizeof(completion_options)},
    .fit = fit_em,
    .linker = &em_linker,
    .kept = kept,
};

const okra_method_ okra_method_pkmr_ = {
    .name = "pkmr",
    .unweighted =
        "completes the Gram matrix of a network: weights of pairs have no meaning",
    .help = "links only: penalised regression of the output on the input Gram matrix",
    .options = {"pkmr", pkmr_rows, sizeof(completion_options)},
    .fit = fit_pkmr,
    .linker = &(const okra_linker_){.width = width_pkmr, .factors = product},
    .kept = kept,
};
