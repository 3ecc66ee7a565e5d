/*
 * ridge.c: regularised least squares from inputs to the output feature space,
 *
 *     min_h  sum_i |phi(y_i) - h(x_i)|^2 + lambda |h|^2,
 *
 * h in the space of an operator-valued kernel k(x,x') A (Brouard et al. 2016 eq. 3).
 *
 *   identity  A = I:  w(x) = (K + lambda I)^-1 k_x             (Cortes et al. 2005)
 *   cov, ccov         w(x) = T a k_x,  T a K + n lambda a = I  (Kadri et al. 2013 eq. 8)
 *             T = L, or L - (K + n eps I)^-1 K L for ccov      (its eq. 5 and 7)
 *   matrix    A = E' diag(g) E, d x d, outputs with explicit features Y (n x d):
 *             h(x) = sum_j g_j e_j e_j' Y' (lambda I + g_j K)^-1 k_x  (Brouard eq. 12)
 *             which with K = V' diag(v) V is
 *             h(x)' = k_x' C,  C = V' [ (V Y E')_ij g_j / (lambda + g_j v_i) ] E
 *   diagonal  K(x,x') = (1 - t) k(x,x') I + t diag(x o x'), see ridge_diagonal.c
 *
 * k_x = (k(x_1,x), ..., k(x_n,x)); L the output Gram matrix. lambda is scikit-learn's
 * KernelRidge alpha for identity and matrix; cov and ccov have n lambda in its place.
 *
 * Centred outputs: phi(y_i) - m with the mean m restored after, that is
 *     w_i <- w_i + (1 - sum_j w_j) / n,   cov and ccov on the centred L.
 *
 * Semi-supervised, identity and matrix, N inputs of which the first n have outputs:
 *     min_h  sum_i<=n |phi(y_i) - h(x_i)|^2 + lambda |h|^2
 *            + 2 lambda_2 sum_ij M_ij <h(x_i), h(x_j)>          (Brouard eq. 7, Prop. 9)
 *     w(x) = J (lambda I + K P)^-1 k_x,  P = J'J + 2 lambda_2 M,  K: N x N, k_x: N
 *     h(x) = sum_j g_j e_j e_j' Y' J (lambda I + g_j K P)^-1 k_x
 * with M of graph.c and the solves of semi.c.
 *
 * Weights of pairs, u_i above 0 (2: the pair twice): sum_i u_i |phi(y_i) - h(x_i)|^2, so
 * that with S = diag(u)^1/2 everything above holds of S K S and S phi(Y), and n is
 * sum_i u_i; means are weighted. Then h(x) = sum_i s_i phi(y_i) w~_i, w~ = B~ S k_x. The
 * graph holds each input once, whatever its weight.
 *
 * Outputs with missing values (NaN), identity and matrix: the sum runs over the known
 * ones; ridge_missing.c.
 *
 * Cost: one lambda, identity: K is factored in place (n^3/3 flops, n^2 doubles), a query
 * takes 2 n^2. Several lambdas share one eigendecomposition of K, each then costs n^3;
 * cov and ccov as linalg/kron.c says; matrix: eigendecompositions of K and A. Where
 * outputs have explicit features the coefficients of h(x)' = k_x' C are kept as well, so
 * that an explicit prediction takes n d a query. Low rank: ridge_low.c.
 */
#include "method/ridge/ridge_options.h"
#include "method/ridge/ridge_directions.h"
#include "method/ridge/ridge_sum.h"

#include "method/ridge/operator.h"

#include <math.h>

okra_status okra_ridge_features_(okra_ridge_ *r)
{
    okra_int n = r->p->n, d = r->p->d;
    CHK(okra_doubles_(r->ctx, n, d, "the output features", &r->Y));
    CHK(okra_mat_copy_(okra_mat_view_(r->p->features, n, d, r->p->features_ld),
                       okra_mat_of_(r->Y, n, d)));
    for (okra_int i = 0; i < n * d; i++) {
        r->missing = r->missing || isnan(r->Y[i]);
    }
    if (r->center) {
        ZMAKE(r->mean, d);
        for (okra_int j = 0; j < d; j++) { /* the mean of what is known */
            double known = 0;
            for (okra_int i = 0; i < n; i++) {
                known += isnan(r->Y[i * d + j]) ? 0 : okra_ridge_weight_(r, i);
            }
            for (okra_int i = 0; i < n; i++) {
                double y = r->Y[i * d + j];
                r->mean[j] += isnan(y) ? 0 : okra_ridge_weight_(r, i) * y / known;
            }
        }
        for (okra_int i = 0; i < n; i++) {
            for (okra_int j = 0; j < d; j++) {
                r->Y[i * d + j] -= r->mean[j];
            }
        }
    }
    for (okra_int i = 0; r->s && i < n * d; i++) {
        r->Y[i] *= r->s[i / d];
    }
    return OKRA_OK;
}

/* ---- the method ---- */

static okra_status check_complete(const okra_ridge_ *r, const char *who)
{
    return r->missing ? okra_fail_(OKRA_EUNSUPPORTED,
                                   "ridge: %s needs outputs without missing values", who)
                      : OKRA_OK;
}

static okra_status solve(okra_ridge_ *r, const okra_ridge_options_ *o, okra_operator_ *op,
                         bool semi)
{
    bool covariances = op->kind == OKRA_OPERATOR_COV || op->kind == OKRA_OPERATOR_CCOV;
    if (r->p->map_x) {
        return o->solver == OKRA_RIDGE_SOLVER_CG_   ? okra_ridge_cg_(r, &o->cg)
               : op->kind == OKRA_OPERATOR_DIAGONAL ? okra_ridge_low_diagonal_(r, op->t)
                                                    : okra_ridge_low_(r, op, o->epsilon);
    }
    if (covariances) {
        CHK(check_complete(r, op->kind == OKRA_OPERATOR_CCOV ? "operator ccov"
                                                             : "operator cov"));
        CHK(okra_ridge_covariance_(r, op->kind == OKRA_OPERATOR_CCOV ? o->epsilon : -1));
    } else if (op->kind == OKRA_OPERATOR_DIAGONAL) {
        CHK(okra_ridge_diagonal_(r, op->t));
    } else if (r->missing) {
        CHK(okra_ridge_missing_(r, semi ? o->graph : NULL, o->lambda2, op->A));
    } else if (semi) {
        CHK(okra_ridge_semi_(r, o->graph, o->lambda2, op->A));
    } else {
        bool factors =
            o->keep == OKRA_RIDGE_KEEP_WEIGHTS_ && r->count == 1 && r->lambda[0] > 0;
        CHK(!op->A    ? okra_ridge_identity_(r)
            : factors ? okra_ridge_factors_(r, op->A)
                      : okra_ridge_matrix_(r, op->A));
    }
    return OKRA_OK;
}

static okra_status plain_path(okra_context *ctx, const okra_problem_ *problem,
                              const okra_options *options, const double *lambda,
                              size_t count, okra_bag_ *const *bags)
{
    okra_ridge_options_ o;
    okra_operator_ op = {.kind = OKRA_OPERATOR_IDENTITY};
    okra_ridge_ r = {
        .ctx = ctx, .p = problem, .lambda = lambda, .count = count, .bags = bags};
    OWNS(&op.A, &r.Y, &r.mean, &r.s);
    CHK(okra_options_read(options, &okra_method_ridge_.options, &o));
    r.center = o.center;
    CHK(okra_problem_roots_(problem, &r.s, &r.total));
    CHK(okra_ridge_options_check_(options, &o, &r));
    CHK(okra_ridge_fit_check_(options, &o, &r));
    r.slim = r.slim || *o.output_lambda;
    r.keep_moments = o.keep_moments;
    r.checkpoint = o.cg.checkpoint;
    r.operator_text = o.operator_text;
    r.epsilon = o.epsilon;
    CHK(okra_operator_read_(ctx, o.operator_text, problem, &op));
    if (problem->features && !problem->map_x) {
        CHK(okra_ridge_features_(&r));
    }
    bool semi = okra_options_is_set(options, "lambda2");
    r.lambda2 = semi && problem->map_x ? o.lambda2 : 0;
    r.graph = o.graph;
    CHK(okra_ridge_keep_operator_(&r, op.A));
    CHK(solve(&r, &o, &op, semi));
    for (size_t l = 0; l < count; l++) {
        if (r.mean) {
            CHK(okra_ridge_put_mean_(bags[l], r.mean, problem->d));
        }
        CHK(okra_ridge_unscale_(&r, bags[l]));
        CHK(okra_bag_put_text_(bags[l], "operator", o.operator_text));
        CHK(okra_bag_put_number_(bags[l], "lambda", lambda[l]));
        CHK(okra_bag_put_number_(bags[l], "center", o.center));
        if (semi) {
            CHK(okra_bag_put_number_(bags[l], "lambda2", o.lambda2));
            CHK(okra_bag_put_text_(bags[l], "graph", o.graph));
        }
    }
    return OKRA_OK;
}

static okra_status path(okra_context *ctx, const okra_problem_ *problem,
                        const okra_options *options, const double *lambda, size_t count,
                        okra_bag_ *const *bags)
{
    okra_status st = OKRA_OK;
    okra_ridge_options_ o;
    okra_outputs_ outputs = {0};
    okra_bag_ **all = NULL;
    size_t total = 0;
    TRY(okra_options_read(options, &okra_method_ridge_.options, &o));
    if (!*o.output_lambda) {
        return plain_path(ctx, problem, options, lambda, count, bags);
    }
    TRY(okra_ridge_outputs_check_(&o));
    TRY(okra_outputs_open_(o.output_lambda, problem, lambda, count, &outputs));
    total = count * (size_t)outputs.distinct;
    ZALLOC(all, (okra_int)total);
    for (size_t i = 0; i < total; i++) {
        TRY(okra_bag_create_(&all[i]));
    }
    TRY(plain_path(ctx, problem, options, outputs.lambda, total, all));
    for (size_t l = 0; l < count; l++) {
        TRY(okra_outputs_merge_(&outputs, lambda[l], all + l * (size_t)outputs.distinct,
                                bags[l]));
    }
done:
    for (size_t i = 0; all && i < total; i++) {
        okra_bag_free_(all[i]);
    }
    okra_free_(all);
    okra_outputs_clear_(&outputs);
    return st;
}

/* cov, ccov and missing values have no closed form: the caller refits. */
static okra_status plain_leave(okra_context *ctx, const okra_problem_ *problem,
                               const okra_options *options, const double *lambda,
                               size_t count, const okra_parts_ *parts, bool explicitly,
                               okra_left_fn_ sink, void *user)
{
    okra_ridge_options_ o;
    okra_operator_ op = {.kind = OKRA_OPERATOR_IDENTITY};
    okra_leave_ l = {parts, explicitly, sink, user}, plain = l;
    okra_ridge_ r = {.ctx = ctx, .p = problem, .lambda = lambda, .count = count};
    OWNS(&op.A, &r.Y, &r.mean, &r.s);
    okra_unscaled_ back = {&r, &plain};
    CHK(okra_options_read(options, &okra_method_ridge_.options, &o));
    r.center = o.center;
    CHK(okra_problem_roots_(problem, &r.s, &r.total));
    if (r.s) {
        l.sink = okra_ridge_unscale_left_;
        l.user = &back;
    }
    CHK(okra_ridge_options_check_(options, &o, &r));
    CHK(okra_operator_read_(ctx, o.operator_text, problem, &op));
    if (problem->features && !problem->map_x) {
        CHK(okra_ridge_features_(&r));
    }
    REFUSE_IF(op.kind == OKRA_OPERATOR_COV || op.kind == OKRA_OPERATOR_CCOV || r.missing,
              OKRA_EUNSUPPORTED, "ridge: operator %s%s has no closed form of leaving out",
              o.operator_text, r.missing ? " with missing values" : "");
    for (size_t k = 0; k < count; k++) {
        REFUSE_IF(lambda[k] == 0 && (op.A || problem->map_x), OKRA_EUNSUPPORTED,
                  "ridge: lambda = 0 has a closed form of leaving out "
                  "with the operator identity alone, not of low rank");
    }
    if (op.kind == OKRA_OPERATOR_DIAGONAL) {
        CHK(problem->map_x ? okra_ridge_low_diagonal_leave_(&r, op.t, &l)
                           : okra_ridge_diagonal_leave_(&r, op.t, &l));
        return OKRA_OK;
    }
    bool semi = okra_options_is_set(options, "lambda2");
    r.lambda2 = semi ? o.lambda2 : 0;
    r.graph = o.graph;
    return problem->map_x
               ? okra_ridge_low_leave_(&r, op.A, &l)
               : okra_ridge_leave_(&r, op.A, semi ? o.graph : NULL, o.lambda2, &l);
}

static okra_status leave(okra_context *ctx, const okra_problem_ *problem,
                         const okra_options *options, const double *lambda, size_t count,
                         const okra_parts_ *parts, bool explicitly, okra_left_fn_ sink,
                         void *user)
{
    okra_ridge_options_ o;
    FREED_BY(okra_outputs_clear_) okra_outputs_ outputs = {0};
    okra_outputs_sink_ merged = {&outputs, sink, user, NULL};
    OWNS(&merged.H);
    CHK(okra_options_read(options, &okra_method_ridge_.options, &o));
    if (!*o.output_lambda) {
        return plain_leave(ctx, problem, options, lambda, count, parts, explicitly, sink,
                           user);
    }
    CHK(okra_ridge_outputs_check_(&o));
    CHK(okra_outputs_open_(o.output_lambda, problem, lambda, count, &outputs));
    return plain_leave(ctx, problem, options, outputs.lambda,
                       count * (size_t)outputs.distinct, parts, true, okra_outputs_left_,
                       &merged);
}

/* ---- what a model keeps ---- */

/* clang-format off */
#define RIDGE_COMMON \
    OKRA_KEEPS_MATRIX_("mean", OKRA_KEPT_OPTIONAL_, "1", "d"), \
    OKRA_KEEPS_MATRIX_("operator.A", OKRA_KEPT_OPTIONAL_, "d", "d"), \
    OKRA_KEEPS_TEXT_("operator", 0), \
    OKRA_KEEPS_NUMBER_("lambda", 0, "0", "1e300"), \
    OKRA_KEEPS_NUMBER_("center", OKRA_KEPT_WHOLE_, "0", "1"), \
    OKRA_KEEPS_TEXT_("graph", OKRA_KEPT_OPTIONAL_), \
    OKRA_KEEPS_TOLD_("jitter"), \
    OKRA_KEEPS_TOLD_("pairs"), \
    OKRA_KEEPS_TOLD_("drift"), \
    OKRA_KEEPS_TOLD_("lambda2")
#define RIDGE_FACTOR(k) OKRA_KEEPS_MATRIX_("factor." #k, OKRA_KEPT_FACTOR_ | \
                                           OKRA_KEPT_OPTIONAL_, "n", "n")
static const okra_kept_ kept_factor[] = {
    OKRA_KEEPS_MATRIX_("factor", OKRA_KEPT_FACTOR_, "n", "n"),
    OKRA_KEEPS_SAME_("inputs", "c", "n"),
    OKRA_KEEPS_MATRIX_("coefficients", OKRA_KEPT_OPTIONAL_, "c", "d"),
    RIDGE_COMMON,
    OKRA_KEPT_END_};
static const okra_kept_ kept_weights[] = {
    OKRA_KEEPS_MATRIX_("B", 0, "n", "c"),
    OKRA_KEEPS_MATRIX_("coefficients", OKRA_KEPT_OPTIONAL_, "c", "d"),
    RIDGE_COMMON,
    OKRA_KEPT_END_};
static const okra_kept_ kept_embedding[] = {
    OKRA_KEEPS_MATRIX_("coefficients", 0, "c", "d"),
    RIDGE_COMMON,
    RIDGE_FACTOR(0), RIDGE_FACTOR(1), RIDGE_FACTOR(2), RIDGE_FACTOR(3),
    RIDGE_FACTOR(4), RIDGE_FACTOR(5), RIDGE_FACTOR(6), RIDGE_FACTOR(7),
    RIDGE_FACTOR(8), RIDGE_FACTOR(9), RIDGE_FACTOR(10), RIDGE_FACTOR(11),
    RIDGE_FACTOR(12), RIDGE_FACTOR(13), RIDGE_FACTOR(14), RIDGE_FACTOR(15),
    OKRA_KEEPS_MATRIX_("slope", OKRA_KEPT_OPTIONAL_, "1", "d"),
    OKRA_KEEPS_VALUES_("output-lambda", OKRA_KEPT_OPTIONAL_, "1", "d", "0", "1e300"),
    OKRA_KEEPS_TOLD_("cg.steps"),
    OKRA_KEEPS_TOLD_("cg.residual"),
    OKRA_RIDGE_KEEPS_MOMENTS_,
    OKRA_KEPT_END_};
static const okra_kept_ *const kept[] = {kept_factor, kept_weights, kept_embedding, NULL};
/* clang-format on */

/* n lambda with cov and ccov, as in their systems; every coordinate of diagonal has a
 * process of its own. */
static bool noise(const okra_bag_ *bag, okra_int n, double *lambda)
{
    okra_operator_kind_ kind =
        okra_operator_kind_of_(okra_bag_get_text_(bag, "operator"));
    bool covariances = kind == OKRA_OPERATOR_COV || kind == OKRA_OPERATOR_CCOV;
    okra_int rows_found, cols_found;
    if (kind == OKRA_OPERATOR_DIAGONAL ||
        okra_bag_get_(bag, "output-lambda", &rows_found, &cols_found) ||
        !okra_bag_get_number_(bag, "lambda", lambda)) {
        return false;
    }
    okra_int one = 0, count = 0;
    const double *weights = okra_bag_get_(bag, "sample-weight", &one, &count);
    double total = (double)n;
    okra_bag_get_number_(bag, "pairs", &total); /* more than the model has outputs */
    total = weights ? 0 : total;
    for (okra_int i = 0; weights && i < count; i++) {
        total += weights[i];
    }
    *lambda *= covariances ? total : 1;
    return true;
}

const okra_method_ okra_method_ridge_ = {
    .name = "ridge",
    .help = "regularised least squares with an operator-valued kernel",
    .recomputes = true,
    .matrix = "operator",
    .automatic = &okra_ridge_auto_,
    .coupling = okra_ridge_coupling_,
    .bordered = okra_ridge_bordered_,
    .passes = okra_ridge_passes_,
    .basis = okra_ridge_basis_,
    .options = {"ridge", okra_ridge_rows_, sizeof(okra_ridge_options_)},
    .weights = true,
    .missing = true,
    .unlabelled = true,
    .low_rank = true,
    .large = true,
    .path = path,
    .form = okra_ridge_form_,
    .width = okra_ridge_width_,
    .predict = okra_ridge_predict_,
    .embed = okra_ridge_embed_,
    .embeds = okra_ridge_embeds_,
    .leave = leave,
    .update = okra_ridge_update_,
    .sum = okra_ridge_sum_,
    .check = okra_ridge_check_,
    .kept = kept,
    .noise = noise,
    .plan = okra_ridge_plan_,
};
