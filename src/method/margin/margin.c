/*
 * margin.c: maximum margin regression and its relatives in the output feature space,
 *
 *     min_h  sum_i<=n L_i(h(x_i)) + lambda_1 |h|^2
 *            + 2 lambda_2 sum_ij M_ij <h(x_i), h(x_j)>              (Brouard eq. 4 and 8)
 *     hinge    L_i(u) = max(0, 1 - <y_i, u>)
 *     epsilon  L_i(u) = max(0, |y_i - u| - epsilon);   huber: see dual.c
 *
 * A pair of weight u_i has u_i L_i, so that 0 <= a_i <= u_i below.
 *
 * h in the space of k(x,x') A. With S = J K (lambda_1 I + 2 lambda_2 M K)^-1 J' (n x n;
 * K / lambda_1 without unlabelled inputs) and L the output Gram matrix, the hinge dual is
 * (eq. 5 and 10)
 *     min_a  a'Qa / 2 - sum(a), 0 <= a <= 1,   Q = (L o S) / 2
 *     w(x) = diag(a) J (lambda_1 I + 2 lambda_2 K M)^-1 k_x / 2      (Table 2)
 * and for a matrix operator A = E' diag(g) E on explicit outputs Y (Prop. 10, its inverse
 * belonging to the bracket alone)
 *     Q = sum_j g_j (Y e_j)(Y e_j)' o S(g_j) / 2,  S(g) = J K (lambda_1 + 2 lambda_2 g M
 *     K)^-1 J'
 *     h(x) = sum_j g_j e_j e_j' Y' diag(a) J (lambda_1 + 2 lambda_2 g_j K M)^-1 k_x / 2.
 *
 * The other losses have vectors alpha_i (dual.c). At the optimum block i is alone best at
 * alpha_i = v_i / (S_ii / 2 + rho_i), v_i = y_i - sum_k!=i S_ik alpha_k / 2, so that over
 * the i with finite rho_i
 *     alpha = T Y,   T = (diag(rho) + S / 2)^-1
 * gives the coefficients over the training outputs by one symmetric solve (huber within
 * delta: rho = 1/2, which is ridge); the gap that is reported is the primal value of T Y
 * less the dual value of alpha. Where outputs are interpolated (epsilon = 0) that matrix
 * may be singular; then T = alpha Y^+.
 *
 * Cost beside the duals of boxqp.c and dual.c: K and L once; semi-supervised: semi.c,
 * and n^2 N a lambda (times d with a matrix operator). Along a path each lambda starts
 * from the solution of the one before.
 */
#include "method/margin/margin.h"

#include "solve/ridge.h"

static const okra_option rows[] = {
    {"lambda", OKRA_OPTION_NUMBER, offsetof(okra_margin_options_, lambda), "0.1", 1e-300,
     1e300, NULL, "V", "regularisation: lambda |h|^2 beside the sum of losses"},
    {"loss", OKRA_OPTION_CHOICE, offsetof(okra_margin_options_, loss), "hinge", 1, 0,
     "hinge|epsilon|huber", "NAME",
     "hinge of <y, h(x)>, or a loss of the distance |y - h(x)|: epsilon, huber"},
    {"tube", OKRA_OPTION_NUMBER, offsetof(okra_margin_options_, tube), "0.1", 0, 1e300,
     NULL, "V", "distances up to this cost nothing (loss epsilon)"},
    {"delta", OKRA_OPTION_NUMBER, offsetof(okra_margin_options_, delta), "1", 1e-300,
     1e300, NULL, "V", "distances beyond this cost linearly (loss huber)"},
    {"operator", OKRA_OPTION_TEXT, offsetof(okra_margin_options_, operator_text),
     "identity", 1, 0, NULL, "OP", "identity, matrix:FILE (d x d) or graph:FILE,mu=V"},
    {"lambda2", OKRA_OPTION_NUMBER, offsetof(okra_margin_options_, lambda2), "0", 0,
     1e300, NULL, "V",
     "weight of smoothness over the graph of all inputs, labelled or not"},
    {"graph", OKRA_OPTION_TEXT, offsetof(okra_margin_options_, graph), "gram", 1, 0, NULL,
     "EXPR", "gram, knn(k=N), knn(share=V) or file(W), | normalized, power, diffusion"},
    {"tolerance", OKRA_OPTION_NUMBER, offsetof(okra_margin_options_, tolerance), "1e-8",
     1e-300, 1, NULL, "V",
     "stop when the duality gap is below this times |dual|, or rounding"},
    {0},
};

extern const okra_method_ okra_method_margin_;

static void release(okra_margin_ *m)
{
    okra_matrix_free_(m->K);
    okra_semi_clear_(&m->s);
    FREE(m->A, m->g);
    okra_matrix_free_(m->L);
    okra_free_(m->Y);
    for (okra_int k = 0; m->S && k < m->count; k++) {
        okra_free_(m->S[k]);
    }
    FREE(m->S, m->alpha, m->H);
}

/* ---- what every lambda shares ---- */

static okra_status check(const okra_problem_ *p, const okra_options *options,
                         const okra_margin_options_ *o)
{
    static const char *const names[] = {"tube", "delta"};
    static const int losses[] = {OKRA_LOSS_TUBE_, OKRA_LOSS_HUBER_};
    for (int k = 0; k < 2; k++) {
        REFUSE_IF(okra_options_is_set(options, names[k]) && o->loss != losses[k],
                  OKRA_EARG, "margin: %s is for loss %s", names[k],
                  k ? "huber" : "epsilon");
    }
    REFUSE_IF(p->n < 1, OKRA_ESHAPE, "margin: there are no training pairs");
    REFUSE_IF(strcmp(o->operator_text, "identity") != 0 && !p->features,
              OKRA_EUNSUPPORTED,
              "margin: operator %s needs outputs with explicit features: dense vectors "
              "under a linear output kernel",
              o->operator_text);
    return okra_semi_check_("margin", p, options);
}

static okra_status read_operator(okra_margin_ *m)
{
    okra_operator_ op = {.kind = OKRA_OPERATOR_IDENTITY};
    CHK(okra_operator_read_(m->ctx, m->o.operator_text, m->p, &op));
    m->A = op.A;
    REFUSE_IF(op.kind != OKRA_OPERATOR_IDENTITY && op.kind != OKRA_OPERATOR_MATRIX,
              OKRA_EUNSUPPORTED,
              "margin: operator %s, expected identity, matrix:FILE or graph:FILE,mu=V",
              m->o.operator_text);
    if (m->A) {
        MAKE(m->g, m->d);
        CHK(okra_operator_decompose_(m->ctx, okra_mat_of_(m->A, m->d, m->d), m->g));
    }
    return OKRA_OK;
}

/* Y = sqrt(scale) y E', or coordinates of the feature space from L = R R'. */
static okra_status coordinates(okra_margin_ *m)
{
    okra_int n = m->n, d = m->d;
    FREED_BY(okra_matrix_drop_) okra_matrix_ *L = NULL;
    OWNED double *v = NULL, *row = NULL;
    if (m->p->features) {
        okra_mat_ y = okra_mat_view_(m->p->features, n, d, m->p->features_ld);
        m->q = d;
        CHK(okra_doubles_(m->ctx, n, d, "the output features", &m->Y));
        CHK(okra_mat_copy_(y, okra_mat_of_(m->Y, n, d)));
        if (m->A) {
            CHK(okra_engine_gemm_(m->ctx, false, true, 1, y, okra_mat_of_(m->A, d, d), 0,
                                  okra_mat_of_(m->Y, n, d)));
        }
        okra_scale_(n * d, sqrt(m->p->feature_scale), m->Y);
        return OKRA_OK;
    }
    MAKE(v, n);
    MAKE(row, n);
    CHK(okra_problem_L_(m->ctx, m->p, &L));
    CHK(okra_matrix_eigh_(m->ctx, L, v));
    CHK(okra_doubles_(m->ctx, n, n, "the output coordinates", &m->Y));
    okra_int first = 0;
    while (first < n && v[first] <= (double)n * DBL_EPSILON * v[n - 1]) {
        first++;
    }
    m->q = n - first;
    for (okra_int j = 0; j < m->q; j++) {
        CHK(okra_matrix_get_(m->ctx, L, first + j, 0, okra_mat_of_(row, 1, n)));
        for (okra_int i = 0; i < n; i++) {
            m->Y[i * m->q + j] = sqrt(v[first + j]) * row[i];
        }
    }
    return OKRA_OK;
}

/* L, or sum_j g_j (Y e_j)(Y e_j)' */
static okra_status output_gram(okra_margin_ *m)
{
    okra_int n = m->n, d = m->d;
    FREED_BY(okra_matrix_drop_) okra_matrix_ *factor = NULL;
    OWNED double *scaled = NULL;
    if (!m->A) {
        return okra_problem_L_(m->ctx, m->p, &m->L);
    }
    CHK(okra_doubles_(m->ctx, n, d, "the rotated outputs", &scaled));
    for (okra_int i = 0; i < n * d; i++) {
        scaled[i] = sqrt(m->g[i % d]) * m->Y[i];
    }
    CHK(okra_matrix_create_(m->ctx, n, n, "the Gram matrix of the outputs", &m->L));
    CHK(okra_matrix_borrow_(m->ctx, okra_mat_of_(scaled, n, d), &factor));
    return okra_matrix_syrk_(m->ctx, false, 1, factor, 0, m->L);
}

/* only: the one lambda, or 0: there are several. */
static okra_status prepare(okra_margin_ *m, double only)
{
    bool hinge = m->o.loss == OKRA_LOSS_HINGE_;
    if (!hinge || m->A) {
        CHK(coordinates(m));
    }
    m->count = m->A && m->semi ? m->d : 1;
    if (hinge && m->count == 1) {
        CHK(output_gram(m));
    }
    if (m->semi) {
        CHK(okra_semi_open_(m->ctx, m->p, NULL, m->o.graph, m->o.lambda2, false,
                            m->A ? 0 : only, &m->s));
    } else {
        CHK(okra_problem_K_(m->ctx, m->p, &m->K));
    }
    ZMAKE(m->S, m->count);
    for (okra_int k = 0; k < m->count; k++) {
        CHK(okra_doubles_(m->ctx, m->n, m->n, "the margin's quadratic form", &m->S[k]));
    }
    if (hinge) {
        ZMAKE(m->alpha, m->n);
    } else {
        CHK(okra_doubles_(m->ctx, m->n, m->q, "the dual variables", &m->alpha));
        CHK(okra_doubles_(m->ctx, m->n, m->q, "the fitted outputs", &m->H));
        okra_mat_fill_(okra_mat_of_(m->alpha, m->n, m->q), 0);
    }
    return OKRA_OK;
}

/* ---- the solution in a store ---- */

okra_status okra_margin_report_(const okra_margin_ *m, double lambda, double dual,
                                double gap, double goal, okra_store_ *store)
{
    bool converged = gap <= goal;
    if (!converged) {
        okra_warn_(m->ctx,
                   "margin: lambda = %g: stopped with a duality gap of %.3g (dual value "
                   "%.6g), expected %.3g",
                   lambda, gap, dual, goal);
    }
    CHK(okra_store_put_number_(store, "dual", dual));
    CHK(okra_store_put_number_(store, "gap", gap));
    return okra_store_put_number_(store, "converged", converged);
}

/* B (n x N) = T' J (lambda I + 2 lambda_2 K M)^-1 / 2 and C = B' y into the store, T: n x
 * n, or NULL: the diagonal `t`. */
static okra_status put_weights(okra_margin_ *m, double lambda, const double *T,
                               const double *t, okra_store_ *store)
{
    okra_int n = m->n, N = m->N;
    OWNED double *R = NULL;
    CHK(okra_doubles_(m->ctx, n, N, "the margin weights", &R));
    okra_mat_fill_(okra_mat_of_(R, n, N), 0);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int k = 0; k < n; k++) {
            R[i * N + k] = (T ? T[k * n + i] : i == k ? t[i] : 0) / 2;
        }
    }
    return okra_semi_put_weights_(
        m->ctx, m->semi ? &m->s : NULL, lambda, okra_mat_of_(R, n, N),
        okra_mat_view_(m->p->features, n, m->d, m->p->features_ld), false, store);
}

/* With a matrix operator: C in the units of y. Row j of X: g_j (dual of coordinate j)' J
 * (lambda I + 2 lambda_2 g_j K M)^-1 / 2; C = X'E. */
static okra_status put_coefficients(okra_margin_ *m, double lambda, okra_store_ *store)
{
    okra_int n = m->n, d = m->d;
    bool hinge = m->o.loss == OKRA_LOSS_HINGE_;
    OWNED double *B = NULL;
    double unit = sqrt(m->p->feature_scale);
    CHK(okra_doubles_(m->ctx, n, d, "the margin coefficients", &B));
    for (okra_int i = 0; i < n * d; i++) {
        B[i] = (hinge ? m->alpha[i / d] * m->Y[i] : m->alpha[i]) / (2 * unit);
    }
    return okra_semi_put_(m->ctx, m->semi ? &m->s : NULL, m->N, lambda, m->g,
                          okra_mat_of_(m->A, d, d), okra_mat_of_(B, n, d), true, store);
}

/* Supervised hinge, identity: w_i = scale_i k(x_i, x), and C = diag(scale) y. */
static okra_status put_scale(okra_margin_ *m, double lambda, okra_store_ *store)
{
    okra_int n = m->n, d = m->d;
    OWNED double *scale = NULL, *C = NULL;
    MAKE(scale, n);
    for (okra_int i = 0; i < n; i++) {
        scale[i] = m->alpha[i] / (2 * lambda);
    }
    if (m->p->features) {
        CHK(okra_doubles_(m->ctx, n, d, "the margin coefficients", &C));
        for (okra_int i = 0; i < n * d; i++) {
            C[i] = scale[i / d] * m->p->features[i / d * m->p->features_ld + i % d];
        }
        CHK(okra_store_put_(store, "coefficients", &C, n, d));
    }
    return okra_store_put_(store, "scale", &scale, 1, n);
}

/* ---- one lambda ---- */

/* S <- K / lambda and, for the hinge loss, Q = S o L / 2 in its place. */
static okra_status scale_gram(okra_margin_ *m, double lambda, okra_mat_ S)
{
    FREED_BY(okra_matrix_drop_) okra_matrix_ *A = NULL;
    OWNED double *zeros = NULL;
    ZMAKE(zeros, m->n);
    CHK(okra_matrix_begin_(m->ctx, false, S, &A));
    CHK(okra_matrix_combine_(m->ctx, OKRA_COMBINE_DIVIDE_, lambda, 0, zeros, zeros, m->K,
                             A));
    if (m->L) {
        CHK(okra_matrix_combine_(m->ctx, OKRA_COMBINE_PRODUCT_, 0, 0, NULL, NULL, m->L,
                                 A));
        CHK(okra_matrix_combine_(m->ctx, OKRA_COMBINE_SUM_, 0.5, 0, NULL, NULL, A, A));
    }
    return okra_matrix_end_(m->ctx, A, S);
}

static okra_status make_S(okra_margin_ *m, double lambda)
{
    okra_int n = m->n;
    for (okra_int k = 0; k < m->count; k++) {
        if (m->semi) {
            CHK(okra_semi_gram_(m->ctx, &m->s, lambda, m->A ? m->g[k] : 1,
                                okra_mat_of_(m->S[k], n, n)));
        } else {
            CHK(scale_gram(m, lambda, okra_mat_of_(m->S[k], n, n)));
        }
    }
    return OKRA_OK;
}

/* Q of a graph: (L o S) / 2, or sum_j g_j (Y e_j)(Y e_j)' o S(g_j) / 2. */
static okra_status hinge_form(okra_margin_ *m, okra_mat_ Q)
{
    okra_int n = m->n, d = m->d;
    OWNED double *L = NULL;
    if (m->L) {
        MAKE(L, n);
    }
    for (okra_int i = 0; i < n; i++) {
        if (L) {
            CHK(okra_matrix_get_(m->ctx, m->L, i, 0, okra_mat_of_(L, 1, n)));
        }
        for (okra_int k = 0; k < n; k++) {
            double sum = L ? L[k] * Q.p[i * n + k] : 0;
            for (okra_int j = 0; !L && j < d; j++) {
                sum += m->g[j] * m->Y[i * d + j] * m->Y[k * d + j] * m->S[j][i * n + k];
            }
            Q.p[i * n + k] = sum / 2;
        }
    }
    return OKRA_OK;
}

static okra_status fit_hinge(okra_margin_ *m, double lambda, okra_store_ *store)
{
    okra_int n = m->n;
    okra_boxqp_report_ r;
    double *Q = m->S[0]; /* becomes the quadratic form */
    if (m->semi) {
        CHK(hinge_form(m, okra_mat_of_(Q, n, n)));
    }
    CHK(okra_boxqp_bounded_(m->ctx, okra_mat_of_(Q, n, n), m->p->weights, m->o.tolerance,
                            m->alpha, &r));
    CHK(okra_margin_report_(m, lambda, r.dual, r.gap, r.goal, store));
    return m->A      ? put_coefficients(m, lambda, store)
           : m->semi ? put_weights(m, lambda, NULL, m->alpha, store)
                     : put_scale(m, lambda, store);
}

/* ---- losses of the distance ---- */

/* T (n x n): alpha = T Y; 0 in rows and columns where alpha is 0. */
static okra_status coefficients_of(const okra_margin_ *m, const okra_dual_ *dual,
                                   double *T)
{
    OWNED okra_int *active = NULL;
    okra_int n = m->n, f = 0;
    const double *S = m->S[0];
    OWNED double *F = NULL, *I = NULL, *v = NULL, *D = NULL, *rho = NULL;
    MAKE(active, n);
    MAKE(v, m->q);
    MAKE(D, m->q);
    MAKE(rho, n);
    for (okra_int i = 0; i < n; i++) {
        okra_dual_shrinkage_(dual, m->alpha, m->H, i, v, D, &rho[i]);
        active[f] = i;
        f += isfinite(rho[i]) != 0;
    }
    CHK(okra_doubles_(m->ctx, f, f, "the active block", &F));
    CHK(okra_doubles_(m->ctx, f, f, "the active block", &I));
    for (okra_int r = 0; r < f; r++) {
        okra_int i = active[r];
        for (okra_int c = 0; c < f; c++) {
            F[r * f + c] = S[i * n + active[c]] / 2;
            I[r * f + c] = r == c;
        }
        F[r * f + r] += rho[i];
    }
    okra_mat_fill_(okra_mat_of_(T, n, n), 0);
    /* where outputs are interpolated the block may be singular, and the gap tells */
    okra_status st = okra_cholesky_quiet_(m->ctx, okra_mat_of_(F, f, f), NULL);
    if (st == OKRA_ENUMERIC) {
        return OKRA_OK;
    }
    CHK(st);
    CHK(okra_engine_cholesky_solve_(m->ctx, okra_mat_of_(F, f, f),
                                    okra_mat_of_(I, f, f)));
    for (okra_int r = 0; r < f; r++) {
        for (okra_int c = 0; c < f; c++) {
            T[active[r] * n + active[c]] = I[r * f + c];
        }
    }
    return OKRA_OK;
}

/* T = alpha Y^+, Y = U diag(s) V': the least coefficients that give alpha. */
static okra_status least_coefficients(const okra_margin_ *m, double *T)
{
    okra_int n = m->n, q = m->q, k = OKRA_MIN_(n, q);
    OWNED double *Y = NULL, *s = NULL;
    FREED_BY(okra_mat_drop_) okra_mat_ U = {0}, Vt = {0};
    CHK(okra_doubles_(m->ctx, n, q, "the outputs' coordinates", &Y));
    CHK(okra_mat_room_(m->ctx, n, k, "the outputs' coordinates", &U));
    CHK(okra_mat_room_(m->ctx, k, q, "the outputs' coordinates", &Vt));
    MAKE(s, k);
    CHK(okra_mat_copy_(okra_mat_of_(m->Y, n, q), okra_mat_of_(Y, n, q)));
    CHK(okra_svd_(m->ctx, okra_mat_of_(Y, n, q), U, s, Vt));
    okra_mat_ W = okra_mat_of_(Y, n, k); /* alpha V diag(1/s), in the place of Y */
    CHK(okra_engine_gemm_(m->ctx, false, true, 1, okra_mat_of_(m->alpha, n, q), Vt, 0,
                          W));
    for (okra_int i = 0; i < n * k; i++) {
        double v = s[i % k];
        W.p[i] = v > (double)OKRA_MAX_(n, q) * DBL_EPSILON * s[0] ? W.p[i] / v : 0;
    }
    return okra_engine_gemm_(m->ctx, false, true, 1, W, U, 0, okra_mat_of_(T, n, n));
}

/* The gap between what T keeps of alpha and the dual value found. */
static okra_status measure_kept(const okra_margin_ *m, const okra_dual_ *dual,
                                const double *T, okra_dual_report_ *r)
{
    okra_int n = m->n, q = m->q;
    OWNED double *alpha = NULL, *H = NULL;
    okra_dual_report_ kept;
    CHK(okra_doubles_(m->ctx, n, q, "the dual variables", &alpha));
    CHK(okra_doubles_(m->ctx, n, q, "the fitted outputs", &H));
    CHK(okra_engine_gemm_(m->ctx, false, false, 1, okra_mat_view_(T, n, n, n),
                          okra_mat_of_(m->Y, n, q), 0, okra_mat_of_(alpha, n, q)));
    CHK(okra_dual_measure_(m->ctx, dual, alpha, H, &kept));
    r->gap = kept.primal - r->dual;
    r->converged = r->gap <= r->goal;
    return OKRA_OK;
}

/* One lambda of a loss of the distance; S is that of this lambda. */
static okra_status fit_distance(okra_margin_ *m, double lambda, okra_store_ *store)
{
    okra_int n = m->n, q = m->q;
    OWNED double *T = NULL;
    okra_dual_report_ r = {0};
    okra_dual_ dual = {.n = n, .q = q, .Y = m->Y, .g = m->g, .count = m->count};
    dual.S = (const double *const *)m->S;
    dual.loss = (okra_loss_)m->o.loss;
    dual.width = m->o.loss == OKRA_LOSS_HUBER_ ? m->o.delta : m->o.tube;
    dual.tolerance = m->o.tolerance;
    dual.weights = m->p->weights;
    CHK(okra_dual_solve_(m->ctx, &dual, m->alpha, m->H, &r));
    if (!m->A) {
        bool converged = r.converged;
        CHK(okra_doubles_(m->ctx, n, n, "the margin weights", &T));
        CHK(coefficients_of(m, &dual, T));
        CHK(measure_kept(m, &dual, T, &r));
        if (converged && !r.converged) {
            CHK(least_coefficients(m, T));
            CHK(measure_kept(m, &dual, T, &r));
        }
    }
    CHK(okra_margin_report_(m, lambda, r.dual, r.gap, r.goal, store));
    return m->A ? put_coefficients(m, lambda, store)
                : put_weights(m, lambda, T, NULL, store);
}

/* ---- the method ---- */

static okra_status path(okra_context *ctx, const okra_problem_ *problem,
                        const okra_options *options, const double *lambda, size_t count,
                        okra_store_ *const *stores)
{
    FREED_BY(release)
    okra_margin_ m = {.ctx = ctx,
                      .p = problem,
                      .n = problem->n,
                      .N = problem->n + problem->unlabelled,
                      .d = problem->d,
                      .semi = okra_options_is_set(options, "lambda2")};
    CHK(okra_options_read(options, &okra_method_margin_.options, &m.o));
    CHK(check(problem, options, &m.o));
    CHK(read_operator(&m));
    if (problem->map_x) {
        return okra_margin_low_(&m, lambda, count, stores);
    }
    CHK(prepare(&m, count == 1 ? lambda[0] : 0));
    for (size_t l = 0; l < count; l++) {
        CHK(make_S(&m, lambda[l]));
        CHK(m.o.loss == OKRA_LOSS_HINGE_ ? fit_hinge(&m, lambda[l], stores[l])
                                         : fit_distance(&m, lambda[l], stores[l]));
        CHK(okra_problem_put_weights_(problem, stores[l]));
        CHK(okra_store_put_number_(stores[l], "lambda", lambda[l]));
    }
    return OKRA_OK;
}

static okra_form_ form(const okra_store_ *store)
{
    return okra_store_has_(store, "scale") ? OKRA_FORM_WEIGHTS : okra_ridge_form_(store);
}

static okra_status predict(okra_context *ctx, const okra_store_ *store,
                           okra_query_ *query, okra_mat_ out)
{
    const double *scale = okra_store_mat_(store, "scale").p;
    if (!scale) {
        return okra_ridge_predict_(ctx, store, query, out);
    }
    if (query->K) {
        CHK(okra_matrix_scale_(ctx, NULL, scale, query->K));
        return okra_matrix_get_(ctx, query->K, 0, 0, out);
    }
    for (okra_int i = 0; i < out.rows; i++) {
        for (okra_int j = 0; j < out.cols; j++) {
            out.p[i * out.ld + j] = scale[j] * query->Kx.p[i * query->Kx.ld + j];
        }
    }
    return OKRA_OK;
}

/* clang-format off */
#define KEEPS_ALWAYS                                                               \
    OKRA_KEEPS_NUMBER_("lambda", 0, "0", "1e300"), OKRA_KEEPS_TOLD_("dual"),        \
    OKRA_KEEPS_TOLD_("gap"), OKRA_KEEPS_TOLD_("converged"), OKRA_KEPT_END_
static const okra_schema_ kept_scale[] = {
    OKRA_KEEPS_MATRIX_("scale", 0, "1", "n"),
    OKRA_KEEPS_SAME_("inputs", "c", "n"),
    OKRA_KEEPS_MATRIX_("coefficients", OKRA_KEPT_OPTIONAL_, "c", "d"),
    KEEPS_ALWAYS};
static const okra_schema_ kept_weights[] = {
    OKRA_KEEPS_MATRIX_("B", 0, "n", "c"),
    OKRA_KEEPS_MATRIX_("coefficients", OKRA_KEPT_OPTIONAL_, "c", "d"),
    KEEPS_ALWAYS};
static const okra_schema_ kept_embedding[] = {
    OKRA_KEEPS_MATRIX_("coefficients", 0, "c", "d"),
    KEEPS_ALWAYS};
/* clang-format on */

const okra_method_ okra_method_margin_ = {
    .name = "margin",
    .automatic = &okra_margin_auto_,
    .help = "Maximum margin regression, and regression with robust losses",
    .options = {"margin", rows, sizeof(okra_margin_options_)},
    .takes = OKRA_TAKES_WEIGHTS_ | OKRA_TAKES_UNLABELLED_ | OKRA_TAKES_LARGE_ |
             OKRA_TAKES_MATRIX_,
    .low_rank = okra_margin_factored_,
    .path = path,
    .form = form,
    .width = okra_ridge_width_,
    .predict = predict,
    .embed = okra_ridge_embed_,
    .kept = (const okra_schema_ *const[]){kept_scale, kept_weights, kept_embedding, NULL},
    .plan = okra_margin_plan_,
};
