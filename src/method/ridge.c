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
 *   diagonal  K(x,x') = (1 - t) k(x,x') I + t diag(x o x'), see diagonal.c
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
 * ones; missing.c.
 *
 * Cost: one lambda, identity: K is factored in place (n^3/3 flops, n^2 doubles), a query
 * takes 2 n^2. Several lambdas share one eigendecomposition of K, each then costs n^3;
 * cov and ccov as linalg/kron.c says; matrix: eigendecompositions of K and A. Where
 * outputs have explicit features the coefficients of h(x)' = k_x' C are kept as well, so
 * that an explicit prediction takes n d a query. Low rank: low.c.
 */
#include "solve/ridge.h"
#include "solve/graph.h"

#include "method/method.h"

typedef struct ridge_options {
    double lambda, epsilon, lambda2;
    const char *operator_text, *graph, *output_lambda;
    bool center, keep_moments;
    int solver, keep, precision;
    okra_cg_options_ cg;
} ridge_options;

enum { SOLVER_DIRECT, SOLVER_CG };
enum { KEEP_AUTO, KEEP_WEIGHTS, KEEP_COEFFICIENTS };

enum { KEEP_MOST = 16384 }; /* pairs up to which weights are kept: 2 GiB */

extern const okra_method_ okra_method_ridge_;

static const okra_option rows[] = {
    {"lambda", OKRA_OPTION_NUMBER, offsetof(ridge_options, lambda), "0.1", 0, 1e300, NULL,
     "V", "(K + lambda I); n lambda with cov and ccov; 0: least norm"},
    {"output-lambda", OKRA_OPTION_TEXT, offsetof(ridge_options, output_lambda), "", 1, 0,
     NULL, "V,...", "lambda times these, one for each explicit output"},
    {"operator", OKRA_OPTION_TEXT, offsetof(ridge_options, operator_text), "identity", 1,
     0, NULL, "OP",
     "identity, tensor, cov, ccov, diagonal(t=V), matrix:FILE or graph:FILE,mu=V"},
    {"epsilon", OKRA_OPTION_NUMBER, offsetof(ridge_options, epsilon), "0.01", 1e-300,
     1e300, NULL, "V", "regularisation of the conditional covariance (ccov only)"},
    {"center-output", OKRA_OPTION_BOOL, offsetof(ridge_options, center), "no", 1, 0, NULL,
     "", "subtract the mean output in feature space, and restore it after"},
    {"lambda2", OKRA_OPTION_NUMBER, offsetof(ridge_options, lambda2), "0", 0, 1e300, NULL,
     "V", "weight of smoothness over the graph of all inputs, labelled or not"},
    {"graph", OKRA_OPTION_TEXT, offsetof(ridge_options, graph), "gram", 1, 0, NULL,
     "EXPR", "gram, knn(k=N), knn(share=V) or file(W), | normalized, power, diffusion"},
    {"keep", OKRA_OPTION_CHOICE, offsetof(ridge_options, keep), "auto", 1, 0,
     "auto|weights|coefficients", "WHAT",
     "explicit outputs only: store weights (n x n numbers; matrix operators: factors for "
     "updates) or coefficients; auto: weights up to 16,384 pairs"},
    {"precision", OKRA_OPTION_CHOICE, offsetof(ridge_options, precision), "auto", 1, 0,
     "auto|double|mixed", "HOW",
     "coefficients alone, operator identity: factor in single precision, refine to "
     "double "
     "(mixed); auto: where that is surely faster"},
    {"keep-moments", OKRA_OPTION_BOOL, offsetof(ridge_options, keep_moments), "no", 1, 0,
     NULL, "",
     "low rank only: store the moments of the training set, which `okra update` and "
     "`okra merge` need"},
    {"solver", OKRA_OPTION_CHOICE, offsetof(ridge_options, solver), "direct", 1, 0,
     "direct|cg", "HOW", "low rank only: solve by moments, or by conjugate gradients"},
    {"cg-tolerance", OKRA_OPTION_NUMBER, offsetof(ridge_options, cg.tolerance), "1e-8", 0,
     1, NULL, "V", "conjugate gradients: relative residual to reach"},
    {"cg-iterations", OKRA_OPTION_INT, offsetof(ridge_options, cg.iterations), "100", 1,
     1e9, NULL, "N", "conjugate gradients: steps at most"},
    {"checkpoint", OKRA_OPTION_WRITTEN, offsetof(ridge_options, cg.checkpoint), "", 1, 0,
     NULL, "FILE",
     "keep the moments of low rank, the state of conjugate gradients or the factor of "
     "one "
     "lambda here, and go on from it"},
    {0},
};

/* ---- checks ---- */

static okra_status check_options(const okra_options *options, const ridge_options *o,
                                 const okra_ridge_ *r)
{
    const okra_problem_ *p = r->p;
    REFUSE_IF(p->n < 1, OKRA_ESHAPE, "ridge: there are no training pairs");
    if (strncmp(o->operator_text, "matrix:", 7) == 0 ||
        strncmp(o->operator_text, "graph:", 6) == 0) {
        REFUSE_IF(!p->features, OKRA_EUNSUPPORTED,
                  "ridge: operator %s needs outputs with explicit features: "
                  "dense vectors under a linear output kernel",
                  o->operator_text);
    }
    okra_operator_kind_ kind = okra_operator_kind_of_(o->operator_text);
    REFUSE_IF(okra_options_is_set(options, "epsilon") && kind != OKRA_OPERATOR_CCOV,
              OKRA_EARG, "ridge: epsilon is for operator ccov, but the operator is %s",
              o->operator_text);
    bool covariance = kind == OKRA_OPERATOR_COV || kind == OKRA_OPERATOR_CCOV;
    bool diagonal = kind == OKRA_OPERATOR_DIAGONAL;
    REFUSE_IF((covariance || diagonal) && okra_options_is_set(options, "lambda2"),
              OKRA_EUNSUPPORTED,
              "ridge: lambda2 is for the operators identity and matrix, but "
              "the operator is %s",
              o->operator_text);
    CHK(okra_semi_check_("ridge", p, options));
    if (p->map_x && okra_options_is_set(options, "lambda2")) {
        CHK(okra_graph_low_check_(o->graph));
    }
    for (size_t l = 0; l < r->count; l++) {
        REFUSE_IF(!(r->lambda[l] >= 0 && isfinite(r->lambda[l])), OKRA_EARG,
                  "ridge: lambda is %g, expected a number of 0 or more", r->lambda[l]);
    }
    const char *with = diagonal                                  ? o->operator_text
                       : okra_options_is_set(options, "lambda2") ? "lambda2"
                       : o->solver == SOLVER_CG                  ? "solver cg"
                       : p->y && p->y->missing                   ? "missing values"
                                                                 : NULL;
    REFUSE_IF(with && okra_ridge_least_lambda_(r) == 0, OKRA_EARG,
              "ridge: lambda is 0, which with %s has no solution of "
              "least norm in closed form; expected a positive number",
              with);
    return OKRA_OK;
}

/* Options of conjugate gradients are for solver cg, which is for low rank. */
static okra_status check_solver(const okra_problem_ *p, const okra_options *options,
                                const ridge_options *o)
{
    static const char *const own[] = {"cg-tolerance", "cg-iterations"};
    for (int i = 0; o->solver != SOLVER_CG && i < 2; i++) {
        REFUSE_IF(okra_options_is_set(options, own[i]), OKRA_EARG,
                  "ridge: %s is for solver cg", own[i]);
    }
    bool identity = okra_operator_kind_of_(o->operator_text) == OKRA_OPERATOR_IDENTITY;
    REFUSE_IF(o->solver == SOLVER_CG && !identity, OKRA_EARG,
              "ridge: solver cg is for operator identity, but the operator "
              "is %s",
              o->operator_text);
    REFUSE_IF(o->solver == SOLVER_CG && okra_options_is_set(options, "lambda2"),
              OKRA_EUNSUPPORTED,
              "ridge: solver cg has no smoothness penalty: leave lambda2 out");
    REFUSE_IF(o->solver == SOLVER_CG && !p->map_x, OKRA_EARG,
              "ridge: solver cg needs low-rank-x");
    return OKRA_OK;
}

/* Of moments and conjugate gradients there is a checkpoint, and of one factor. */
static okra_status check_checkpoint(const okra_ridge_ *r, const okra_options *options,
                                    const ridge_options *o)
{
    const okra_problem_ *p = r->p;
    okra_operator_kind_ kind = okra_operator_kind_of_(o->operator_text);
    bool identity = kind == OKRA_OPERATOR_IDENTITY;
    bool diagonal = kind == OKRA_OPERATOR_DIAGONAL;
    const char *why = NULL;
    if (strcmp(o->cg.checkpoint, "-") == 0) {
        why = "is a file, which is read again, and not standard output";
    } else if (r->count > 1 || r->times) {
        why = "is of one lambda, not of a path";
    } else if (p->map_x && diagonal) {
        why = "does not go with the operator diagonal";
    } else if (!p->map_x && (!identity || r->lambda[0] == 0)) {
        why = "without low-rank-x is of the factor of K + lambda I: operator identity, "
              "lambda above 0";
    } else if (!p->map_x && p->y && p->y->missing) {
        why = "does not go with missing values";
    } else if (!p->map_x &&
               (okra_options_is_set(options, "lambda2") || p->unlabelled > 0)) {
        why = "without low-rank-x does not go with lambda2 or inputs without outputs";
    }
    REFUSE_IF(why, OKRA_EARG, "ridge: a checkpoint %s", why);
    /* Can it be written? Better known now than when there is something to keep. */
    FREED_BY(okra_writer_drop_) okra_writer_ *file = NULL;
    bool there = false;
    CHK(okra_at_(okra_bytes_there_(o->cg.checkpoint, &there), "checkpoint %s",
                 o->cg.checkpoint));
    return okra_writer_join_(r->ctx, o->cg.checkpoint, &file);
}

/* Moments are those of one pass: nothing else may be in the system. */
static okra_status check_moments(const okra_problem_ *p, const okra_options *options,
                                 const ridge_options *o)
{
    const char *why = NULL;
    if (!p->map_x) {
        why = "needs low-rank-x";
    } else if (!p->features && !p->map_y) {
        why =
            "needs outputs with features: dense vectors under a linear output kernel, or "
            "low-rank-y";
    } else if (o->solver == SOLVER_CG) {
        why = "is for solver direct";
    } else if (okra_options_is_set(options, "lambda2") || p->unlabelled > 0) {
        why = "does not go with lambda2 or inputs without outputs";
    } else if (okra_operator_kind_of_(o->operator_text) == OKRA_OPERATOR_DIAGONAL) {
        why = "does not go with the operator diagonal";
    } else if (*o->output_lambda) {
        why = "does not go with output-lambda";
    }
    return why ? okra_fail_(OKRA_EARG, "ridge: keep-moments %s", why) : OKRA_OK;
}

/* A factor in single precision is of K + lambda I, and does not stay. */
static okra_status check_mixed(const okra_ridge_ *r, const okra_options *options,
                               const ridge_options *o)
{
    const okra_problem_ *p = r->p;
    bool identity = okra_operator_kind_of_(o->operator_text) == OKRA_OPERATOR_IDENTITY;
    const char *why =
        p->map_x ? "does not go with low-rank-x"
        : !identity || *o->output_lambda || okra_options_is_set(options, "lambda2") ||
                p->unlabelled > 0
            ? "is for the operator identity, without output-lambda and lambda2"
        : !p->features ? "needs outputs with explicit features: dense vectors under a "
                         "linear output kernel"
        : o->keep == KEEP_WEIGHTS ? "keeps coefficients alone, not weights"
        : *o->cg.checkpoint       ? "has no checkpoint"
                                  : NULL;
    return why ? okra_fail_(OKRA_EARG, "ridge: precision mixed %s", why) : OKRA_OK;
}

static okra_status check_fit(const okra_options *options, const ridge_options *o,
                             okra_ridge_ *r)
{
    const okra_problem_ *p = r->p;
    CHK(check_solver(p, options, o));
    CHK(o->keep_moments ? check_moments(p, options, o) : OKRA_OK);
    CHK(*o->cg.checkpoint ? check_checkpoint(r, options, o) : OKRA_OK);
    REFUSE_IF(o->keep == KEEP_COEFFICIENTS && !p->features, OKRA_EARG,
              "ridge: keep coefficients needs outputs with explicit features: "
              "dense vectors under a linear output kernel");
    bool mixed = o->precision == OKRA_PRECISION_MIXED_;
    CHK(mixed ? check_mixed(r, options, o) : OKRA_OK);
    /* Does the model do without the n x n numbers that weights need? */
    r->precision = o->precision;
    r->slim = p->features && (mixed || o->keep == KEEP_COEFFICIENTS ||
                              (o->keep == KEEP_AUTO && p->n > KEEP_MOST));
    return OKRA_OK;
}

/* The multiples m_j of output-lambda, lambda_j = lambda m_j for output j. */
static okra_status read_times(const okra_problem_ *p, const ridge_options *o,
                              double **out)
{
    const char *at = o->output_lambda;
    okra_operator_kind_ kind = okra_operator_kind_of_(o->operator_text);
    bool apart = kind == OKRA_OPERATOR_IDENTITY || kind == OKRA_OPERATOR_DIAGONAL;
    OWNED double *times = NULL;
    okra_int j = 0;
    REFUSE_IF(!apart || o->keep == KEEP_WEIGHTS, OKRA_EARG,
              "ridge: output-lambda is for the operators identity and "
              "diagonal, and keeps no weights; found operator %s%s",
              o->operator_text, o->keep == KEEP_WEIGHTS ? ", keep weights" : "");
    REFUSE_IF(!p->features, OKRA_EARG,
              "ridge: output-lambda needs outputs with explicit features: dense vectors "
              "under a linear output kernel");
    MAKE(times, p->d);
    for (; j < p->d && *at; j++) {
        char *end = NULL;
        times[j] = okra_strtod_(at, &end);
        REFUSE_IF(end == at || (*end && *end != ',') || !(times[j] >= 0) ||
                      !isfinite(times[j]),
                  OKRA_EARG,
                  "ridge: output-lambda holds '%.20s' for output %lld (counted from 0), "
                  "expected numbers of 0 or more between commas",
                  at, (long long)j);
        at = *end == ',' ? end + 1 : end;
    }
    REFUSE_IF(j < p->d || *at, OKRA_ESHAPE,
              "ridge: output-lambda has %s than %lld numbers, one for each coordinate of "
              "the outputs",
              j < p->d ? "fewer" : "more", (long long)p->d);
    *out = TAKE(times);
    return OKRA_OK;
}

/* ---- before a fit of low rank ---- */

/* Does a fit see rows in passes alone? Moments are sums over rows. */
static bool passes(const okra_options *options)
{
    static const char *const good[] = {
        "kx",     "ky",      "method",        "low-rank", "low-rank-x",
        "lambda", "epsilon", "center-output", "decode",   "checkpoint"};
    static const char *const with[][2] = {{"solver", "direct"},
                                          {"keep", "coefficients"},
                                          {"operator", "identity"},
                                          {"operator", "cov"},
                                          {"operator", "ccov"}};
    const char *name, *value;
    bool all = true;
    for (size_t i = 0; options && (name = okra_options_each_(options, i, &value)); i++) {
        bool found = strcmp(name, "operator") == 0 && strncmp(value, "matrix:", 7) == 0;
        for (size_t k = 0; k < sizeof good / sizeof *good; k++) {
            found = found || strcmp(name, good[k]) == 0;
        }
        for (size_t k = 0; k < sizeof with / sizeof *with; k++) {
            found = found ||
                    (strcmp(name, with[k][0]) == 0 && strcmp(value, with[k][1]) == 0);
        }
        all = all && found;
    }
    return all;
}

/* What a smoothness penalty adds (solve/low.c). */
static okra_status plan_graph(const char *text, okra_fit_plan_ *p)
{
    okra_graph_text_ graph = {0};
    OWNS(&graph.file);
    double m = p->m, held = 0;
    CHK(okra_graph_low_check_(text));
    CHK(okra_graph_parse_(text, &graph));
    bool gram = graph.source == OKRA_GRAPH_GRAM_;
    if (gram) {
        p->passes += 2;
        p->row += 2 * p->map + 3 * m * m;
    } else {
        bool search = graph.source == OKRA_GRAPH_KNN_;
        p->passes += 1;
        p->row += p->map + 2 * m * m + (search ? p->n * m : 0);
        held = (graph.stages > 0 ? 2 : 1) * p->n * m;
        snprintf(p->kept, sizeof p->kept, ", %.2f GiB of features in memory or TMPDIR",
                 8 * held / 1073741824.0);
    }
    p->doubles += 2 * m * m;
    return OKRA_OK;
}

static okra_status plan(const okra_options *options, okra_fit_plan_ *p)
{
    ridge_options o;
    double m = p->m, d = p->d;
    p->rows_alone = passes(options);
    CHK(okra_options_read(options, &okra_method_ridge_.options, &o));
    if (o.solver == SOLVER_CG) { /* cg.c */
        double steps = (double)o.cg.iterations;
        p->row = m * p->value + 2 * m * d + steps * (m * p->value + 4 * m * d);
        p->passes = steps + 1;
        p->once *= 8;
        p->doubles += 3 * m * d;
        p->width = d;
        p->most = true;
        return OKRA_OK;
    }
    if (okra_options_is_set(options, "lambda2")) {
        CHK(plan_graph(o.graph, p));
    }
    if (okra_operator_kind_of_(o.operator_text) == OKRA_OPERATOR_DIAGONAL) { /* low.c */
        p->passes += 1;
        p->row += p->map + 2 * m * d;
        p->doubles += 3 * m * d;
    }
    return OKRA_OK;
}

/* ---- what selection and other users ask ---- */

static okra_coupling_ coupling(const okra_options *options)
{
    static const okra_coupling_ of[] = {[OKRA_OPERATOR_IDENTITY] = OKRA_OUTPUTS_ALIKE_,
                                        [OKRA_OPERATOR_COV] = OKRA_OUTPUTS_SHARED_,
                                        [OKRA_OPERATOR_CCOV] = OKRA_OUTPUTS_SHARED_,
                                        [OKRA_OPERATOR_MATRIX] = OKRA_OUTPUTS_BOUND_,
                                        [OKRA_OPERATOR_DIAGONAL] = OKRA_OUTPUTS_APART_};
    return of[okra_operator_kind_of_(okra_options_get(options, "operator"))];
}

/* Outputs are centred all in one, unless a lambda alone is chosen for twin kernels, whose
 * lambda is no choice; gcv is of plain outputs. */
static okra_status fill(const okra_open_ *open, okra_options *o)
{
    const char *cv = okra_options_get(o, "cv");
    bool plain = coupling(o) == OKRA_OUTPUTS_ALIKE_ && !open->ranked &&
                 !(cv && strcmp(cv, "gcv") == 0);
    return plain && (open->kx || !okra_options_is_set(o, "twin")) &&
                   !okra_options_is_set(o, "center-output")
               ? okra_options_set(o, "center-output", "yes")
               : OKRA_OK;
}

static const okra_auto_ automatic = {
    .fill = fill,
    .coupling = coupling,
    .rival = "blend",
    .aligned = "what is learned of a letter comes from its own position alone; method "
               "m3n learns it from all positions",
};

/* ---- the method ---- */

static okra_status solve(okra_ridge_ *r, const ridge_options *o, okra_operator_ *op)
{
    bool covariances = op->kind == OKRA_OPERATOR_COV || op->kind == OKRA_OPERATOR_CCOV;
    if (op->kind == OKRA_OPERATOR_DIAGONAL) {
        return okra_ridge_diagonal_(r, op->t);
    }
    if (r->p->map_x) {
        return o->solver == SOLVER_CG ? okra_ridge_cg_(r, &o->cg)
                                      : okra_ridge_low_(r, op, o->epsilon);
    }
    if (covariances) {
        REFUSE_IF(r->missing, OKRA_EUNSUPPORTED,
                  "ridge: operator %s needs outputs without missing values",
                  op->kind == OKRA_OPERATOR_CCOV ? "ccov" : "cov");
        CHK(okra_ridge_covariance_(r, op->kind == OKRA_OPERATOR_CCOV ? o->epsilon : -1));
    } else if (r->missing) {
        CHK(okra_ridge_missing_(r, op->A));
    } else if (r->graph) {
        CHK(okra_ridge_semi_(r, op->A));
    } else {
        bool factors = o->keep == KEEP_WEIGHTS && r->count == 1 && r->lambda[0] > 0;
        CHK(!op->A    ? okra_ridge_identity_(r)
            : factors ? okra_ridge_factors_(r, op->A)
                      : okra_ridge_matrix_(r, op->A));
    }
    return OKRA_OK;
}

/* What a fit and leaving out share: the options as a problem of solvers. */
typedef struct ridge {
    okra_ridge_ r;
    ridge_options o;
    okra_operator_ op;
    double *times;
} ridge;

static void ridge_clear(ridge *z)
{
    FREE(z->op.A, z->r.Y, z->r.mean, z->r.s, z->times);
}

static okra_status open_ridge(const okra_options *options, ridge *z)
{
    okra_ridge_ *r = &z->r;
    const ridge_options *o = &z->o;
    CHK(okra_options_read(options, &okra_method_ridge_.options, &z->o));
    if (*o->output_lambda) {
        CHK(read_times(r->p, o, &z->times));
        r->times = z->times;
    }
    r->center = o->center;
    if (okra_options_is_set(options, "lambda2")) {
        r->graph = o->graph;
        r->lambda2 = o->lambda2;
    }
    CHK(okra_problem_roots_(r->p, &r->s, &r->total));
    CHK(check_options(options, o, r));
    return OKRA_OK;
}

static okra_status open_outputs(ridge *z)
{
    okra_ridge_ *r = &z->r;
    CHK(okra_operator_read_(r->ctx, z->o.operator_text, r->p, &z->op));
    return r->p->features && !r->p->map_x ? okra_ridge_features_(r) : OKRA_OK;
}

static okra_status path(okra_context *ctx, const okra_problem_ *problem,
                        const okra_options *options, const double *lambda, size_t count,
                        okra_store_ *const *stores)
{
    FREED_BY(ridge_clear)
    ridge z = {.r = {.ctx = ctx,
                     .p = problem,
                     .lambda = lambda,
                     .count = count,
                     .stores = stores}};
    okra_ridge_ *r = &z.r;
    CHK(open_ridge(options, &z));
    CHK(check_fit(options, &z.o, r));
    r->slim = r->slim || r->times;
    r->keep_moments = z.o.keep_moments;
    r->checkpoint = z.o.cg.checkpoint;
    r->operator_text = z.o.operator_text;
    r->epsilon = z.o.epsilon;
    CHK(open_outputs(&z));
    CHK(z.op.A ? okra_ridge_keep_operator_(r, z.op.A) : OKRA_OK);
    CHK(solve(r, &z.o, &z.op));
    for (size_t l = 0; l < count; l++) {
        if (r->mean) {
            CHK(okra_store_put_copy_(stores[l], "mean", r->mean, 1, problem->d));
        }
        CHK(r->s ? okra_ridge_unscale_(r, stores[l]) : OKRA_OK);
        CHK(okra_store_put_text_(stores[l], "operator", z.o.operator_text));
        CHK(okra_store_put_number_(stores[l], "lambda", lambda[l]));
        CHK(okra_store_put_number_(stores[l], "center", z.o.center));
        if (r->graph) {
            CHK(okra_store_put_number_(stores[l], "lambda2", r->lambda2));
            CHK(okra_store_put_text_(stores[l], "graph", r->graph));
        }
        if (r->times) {
            CHK(okra_store_put_copy_(stores[l], "output-lambda", r->times, 1,
                                     problem->d));
        }
    }
    return OKRA_OK;
}

/* cov, ccov and missing values have no closed form: the caller refits. */
static okra_status leave(okra_context *ctx, const okra_problem_ *problem,
                         const okra_options *options, const double *lambda, size_t count,
                         const okra_parts_ *parts, bool explicitly, okra_left_fn_ sink,
                         void *user)
{
    FREED_BY(ridge_clear)
    ridge z = {.r = {.ctx = ctx, .p = problem, .lambda = lambda, .count = count}};
    okra_ridge_ *r = &z.r;
    CHK(open_ridge(options, &z));
    okra_leave_ l = {parts, explicitly || r->times, sink, user}, plain = l;
    okra_unscaled_ back = {r, &plain};
    if (r->s) {
        l.sink = okra_ridge_unscale_left_;
        l.user = &back;
    }
    CHK(open_outputs(&z));
    bool covariances = z.op.kind == OKRA_OPERATOR_COV || z.op.kind == OKRA_OPERATOR_CCOV;
    REFUSE_IF(covariances || r->missing, OKRA_EUNSUPPORTED,
              "ridge: operator %s%s has no closed form of leaving out", z.o.operator_text,
              r->missing ? " with missing values" : "");
    REFUSE_IF(okra_ridge_least_lambda_(r) == 0 && (z.op.A || problem->map_x),
              OKRA_EUNSUPPORTED,
              "ridge: lambda = 0 has a closed form of leaving out "
              "with the operator identity alone, not of low rank");
    return okra_ridge_leave_(r, &z.op, &l);
}

const okra_method_ okra_method_ridge_ = {
    .name = "ridge",
    .help = "regularised least squares with an operator-valued kernel",
    .automatic = &automatic,
    .options = {"ridge", rows, sizeof(ridge_options)},
    .takes = OKRA_TAKES_WEIGHTS_ | OKRA_TAKES_MISSING_ | OKRA_TAKES_UNLABELLED_ |
             OKRA_TAKES_LARGE_ | OKRA_TAKES_MATRIX_,
    .low_rank = okra_method_always_,
    .path = path,
    .form = okra_ridge_form_,
    .width = okra_ridge_width_,
    .predict = okra_ridge_predict_,
    .embed = okra_ridge_embed_,
    .leave = leave,
    .solution = okra_solution_open_,
    .check = okra_solution_check_,
    .kept = okra_solution_kept_,
    .plan = plan,
};
