/*
 * solution.c: solution.h of a store, and what follows from the factor G of K + noise.
 *
 *     variance  k(x,x) - |G^-1 k_x|^2          a difference that is 0 or above but for
 *                                              rounding, eps k(x,x)
 *     diagonal  B_ii = |column i of G^-1|^2    a sum of squares
 *
 * Pairs of weight u_i: the model keeps S^-1 G~ of G~ G~' = S K S + lambda I, S =
 * diag(u)^1/2, so that G G' = K + lambda S^-2 (weights.c).
 */
#include "solve/solution.h"
#include "kernel/networks/network.h"

enum { ROWS = 256 };

void okra_solution_plain_(const okra_store_ *store, okra_int n, okra_solution_ *out)
{
    okra_solution_ s = {.kind = OKRA_SOLUTION_DENSE_,
                        .store = store,
                        .n = n,
                        .lambda = okra_store_number_(store, "lambda", -1),
                        .weights = okra_store_mat_(store, "sample-weight").p,
                        .total = (double)n,
                        .jitter = okra_store_number_(store, "jitter", 0),
                        .no_closed_form = "the method does not solve (K + lambda I)",
                        .has_factor = okra_store_has_(store, "factor")};
    for (okra_int i = 0; s.weights && i < n; i++) {
        s.total += (i == 0 ? -(double)n : 0) + s.weights[i];
    }
    s.noise = s.lambda;
    *out = s;
}

void okra_solution_open_(const okra_store_ *store, okra_int n, okra_solution_ *out)
{
    okra_solution_plain_(store, n, out);
    out->operator_text = okra_store_get_text_(store, "operator");
    out->op = okra_operator_kind_of_(out->operator_text);
    out->A = okra_store_mat_(store, "operator.A");
    out->center = okra_store_number_(store, "center", 0) != 0;
    out->times = okra_store_mat_(store, "output-lambda").p;
    out->has_moments = okra_store_has_(store, "moments.C");
    bool penalty = okra_store_number_(store, "lambda2", 0) != 0;
    double none = 0;
    out->kind = okra_store_get_number_(store, "cg.steps", &none) ? OKRA_SOLUTION_CG_
                : okra_store_get_number_(store, "x.rank", &none) ? OKRA_SOLUTION_LOW_
                : penalty                                        ? OKRA_SOLUTION_GRAPH_
                                                                 : OKRA_SOLUTION_DENSE_;
    out->no_closed_form = out->op != OKRA_OPERATOR_IDENTITY
                              ? "the operator is not identity"
                          : penalty ? "there is a smoothness penalty, lambda2"
                                    : NULL;
    /* Every coordinate of diagonal, and each with a lambda of its own, has a process of
     * its own. "pairs": more than the model has outputs. */
    if (out->op == OKRA_OPERATOR_DIAGONAL || out->times) {
        out->noise = -1;
    } else if (out->op == OKRA_OPERATOR_COV || out->op == OKRA_OPERATOR_CCOV) {
        out->noise *=
            out->weights ? out->total : okra_store_number_(store, "pairs", out->total);
    }
}

void okra_solution_clear_(okra_solution_ *s)
{
    okra_matrix_free_(s->made);
    *s = (okra_solution_){0};
}

/* ---- the factor ---- */

/* K + noise = G G' anew. */
static okra_status make_factor(okra_context *ctx, okra_solution_ *s,
                               const okra_trained_kernel_ *kx, okra_matrix_ **out)
{
    okra_problem_ pairs = {.n = s->n, .weights = s->weights, .kx = kx};
    OWNED double *root = NULL;
    FREED_BY(okra_matrix_drop_) okra_matrix_ *G = NULL;
    double total = 0;
    CHK(okra_problem_roots_(&pairs, &root, &total));
    CHK(okra_problem_scaled_K_(ctx, &pairs, root, &G));
    CHK(okra_matrix_add_diagonal_(ctx, s->noise, G));
    CHK(okra_matrix_cholesky_(ctx, G, &s->jitter));
    for (okra_int i = 0; root && i < s->n; i++) {
        root[i] = 1 / root[i];
    }
    CHK(root ? okra_matrix_scale_(ctx, root, NULL, G) : OKRA_OK);
    *out = TAKE(G);
    return OKRA_OK;
}

/* G of K + noise = G G', lower triangular, on the engine; it belongs to the solution. */
static okra_status factor_of(okra_context *ctx, okra_solution_ *s,
                             const okra_trained_kernel_ *kx, const okra_matrix_ **G)
{
    if (!s->G && s->has_factor) {
        s->G = okra_matrix_kept_(s->store, "factor");
        if (!s->G) {
            CHK(okra_matrix_borrow_(ctx, okra_store_mat_(s->store, "factor"), &s->made));
        }
    } else if (!s->G) {
        CHK(make_factor(ctx, s, kx, &s->made));
    }
    s->G = s->G ? s->G : s->made;
    *G = s->G;
    return OKRA_OK;
}

/* ---- what follows from it ---- */

okra_status okra_solution_solve_(okra_context *ctx, okra_solution_ *s,
                                 const okra_trained_kernel_ *kx, okra_mat_ X)
{
    const okra_matrix_ *G = NULL;
    CHK(factor_of(ctx, s, kx, &G));
    return okra_matrix_solve_host_(ctx, true, G, X);
}

okra_status okra_solution_inverse_(okra_context *ctx, okra_solution_ *s,
                                   const okra_trained_kernel_ *kx, okra_mat_ B)
{
    okra_mat_units_(B, 0);
    CHK(okra_solution_solve_(ctx, s, kx, B));
    okra_mat_mirror_(B);
    return OKRA_OK;
}

okra_status okra_solution_diagonal_(okra_context *ctx, okra_solution_ *s,
                                    const okra_trained_kernel_ *kx, double *q)
{
    const okra_matrix_ *G = NULL;
    FREED_BY(okra_matrix_drop_) okra_matrix_ *X = NULL;
    CHK(factor_of(ctx, s, kx, &G));
    CHK(okra_matrix_create_(ctx, s->n, s->n, "the inverse of a factor", &X));
    CHK(okra_matrix_fill_(ctx, 0, X));
    CHK(okra_matrix_add_diagonal_(ctx, 1, X));
    CHK(okra_matrix_trsm_(ctx, false, true, G, X)); /* row i: column i of G^-1 */
    CHK(okra_matrix_combine_(ctx, OKRA_COMBINE_PRODUCT_, 0, 0, NULL, NULL, X, X));
    return okra_matrix_row_sums_(ctx, X, q);
}

okra_status okra_solution_border_(okra_context *ctx, okra_solution_ *s,
                                  const okra_trained_kernel_ *kx,
                                  const okra_entries_ *entries, okra_int first,
                                  okra_mat_ K, okra_mat_ U)
{
    const okra_matrix_ *G = NULL;
    CHK(factor_of(ctx, s, kx, &G));
    CHK(okra_matrix_gram_host_(ctx, entries, first, K));
    CHK(okra_mat_copy_(K, U));
    return okra_matrix_solve_host_(ctx, false, G, U);
}

/* B (of the host) <- rows of k_x' G'^-1 */
static okra_status half_solve(okra_context *ctx, const okra_entries_ *entries,
                              okra_int first, const okra_matrix_ *G, okra_mat_ B)
{
    FREED_BY(okra_matrix_drop_) okra_matrix_ *rows = NULL;
    CHK(okra_matrix_begin_(ctx, false, B, &rows));
    CHK(okra_matrix_gram_(ctx, entries, first, rows));
    CHK(okra_matrix_trsm_(ctx, false, true, G, rows));
    return okra_matrix_end_(ctx, rows, B);
}

okra_status okra_solution_variances_(okra_context *ctx, okra_solution_ *s,
                                     const okra_trained_kernel_ *kx, const okra_data *x,
                                     okra_int step, double *out)
{
    OWNED double *self = NULL, *B = NULL;
    FREED_BY(okra_test_side_drop_) okra_test_side_ *other = NULL;
    FREED_BY(okra_entries_drop_) okra_entries_ *entries = NULL;
    const okra_matrix_ *G = NULL;
    CHK(okra_test_side_create_(ctx, kx, x, &other));
    MAKE(self, x->n);
    CHK(okra_test_side_diagonal_(ctx, kx, other, self));
    CHK(okra_entries_create_(ctx, kx, other, &entries));
    CHK(okra_doubles_(ctx, ROWS, s->n, "a block of test rows", &B));
    CHK(factor_of(ctx, s, kx, &G));
    for (okra_int first = 0; first < x->n; first += ROWS) {
        okra_mat_ rows = okra_mat_of_(B, OKRA_MIN_(ROWS, x->n - first), s->n);
        CHK(half_solve(ctx, entries, first, G, rows));
        for (okra_int r = 0; r < rows.rows; r++) {
            const double *b = B + r * s->n;
            double v = self[first + r] - okra_dot_(s->n, b, b);
            out[(first + r) * step] = fmax(v, 0);
        }
    }
    return OKRA_OK;
}

/* ---- the operator of a decomposable kernel k(x,x') A from its text.
 *
 * A task graph with adjacency matrix M (d x d, symmetric, >= 0) gives
 *     A = (mu Lap + (1 - mu) I)^-1,  Lap = D - M,  D_ii = sum_j M_ij,  0 <= mu < 1
 * (Brouard, Szafranski, d'Alche-Buc 2016, sec. 5.2, A_2; Evgeniou et al. 2005): its
 * penalty is mu/2 sum_ij M_ij |h_i - h_j|^2 + (1 - mu) sum_i |h_i|^2. Lap is positive
 * semi-definite, so the inverse is taken by a Cholesky factor, O(d^3); its condition is
 * at most 1 + 2 mu max_i D_ii / (1 - mu).
 */

/* M becomes mu (D - M) + (1 - mu) I; a loop M_ii adds nothing to D - M. */
static okra_status regularised_laplacian(const char *file, okra_int d, double mu,
                                         double *M)
{
    for (okra_int i = 0; i < d; i++) {
        double degree = 0;
        for (okra_int j = 0; j < d; j++) {
            double m = M[i * d + j];
            REFUSE_IF(m < 0, OKRA_EARG,
                      "operator: %s: element (%lld, %lld) is %.10g, expected "
                      "the weights of a graph, 0 or more",
                      file, (long long)i, (long long)j, m);
            degree += i == j ? 0 : m;
            M[i * d + j] = -mu * m;
        }
        M[i * d + i] = mu * degree + (1 - mu);
    }
    return OKRA_OK;
}

/* (gamma=V) or (gamma=auto) */
static okra_status estimate(okra_context *ctx, const char *text, const okra_problem_ *p,
                            double **out)
{
    char *end = NULL;
    const char *begin = strncmp(text, "(gamma=", 7) == 0 ? text + 7 : NULL;
    bool chosen = begin && strcmp(begin, "auto)") == 0;
    double gamma = begin && !chosen ? okra_strtod_(begin, &end) : 0;
    REFUSE_IF(!chosen && (!(gamma > 0 && isfinite(gamma)) || end == begin ||
                          strcmp(end, ")") != 0),
              OKRA_EARG,
              "operator: 'graph:estimate%s', expected estimate(gamma=V) with "
              "V > 0, or estimate(gamma=auto)",
              text);
    return okra_tasks_estimate_(ctx,
                                okra_mat_view_(p->features, p->n, p->d, p->features_ld),
                                p->weights, gamma, out);
}

static okra_status read_graph(okra_context *ctx, const char *text, const okra_problem_ *p,
                              double **out)
{
    okra_int d = p->d;
    OWNED char *file = NULL;
    char *end = NULL;
    OWNED double *M = NULL, *A = NULL;
    const char *comma = strrchr(text, ',');
    double mu =
        comma && strncmp(comma, ",mu=", 4) == 0 ? okra_strtod_(comma + 4, &end) : -1;
    REFUSE_IF(!(mu >= 0 && mu < 1) || end == comma + 4 || *end, OKRA_EARG,
              "operator: 'graph:%s', expected graph:FILE,mu=V with 0 <= V < 1", text);
    GOT(file = okra_strndup_(text, (size_t)(comma - text)));
    bool guess = strncmp(file, "estimate", 8) == 0 && (file[8] == '(' || !file[8]);
    CHK(guess ? estimate(ctx, file + 8, p, &M)
              : okra_tasks_read_(ctx, "operator", file, d, &M));
    CHK(regularised_laplacian(file, d, mu, M));
    CHK(okra_doubles_(ctx, d, d, "the operator matrix", &A));
    okra_mat_units_(okra_mat_of_(A, d, d), 0);
    CHK(okra_cholesky_(ctx, okra_mat_of_(M, d, d), NULL));
    CHK(okra_cholesky_solve_(ctx, okra_mat_of_(M, d, d), okra_mat_of_(A, d, d)));
    *out = TAKE(A);
    return OKRA_OK;
}

static okra_status read_diagonal(const char *text, okra_operator_ *out)
{
    char *end = NULL;
    const char *begin = strncmp(text, "diagonal(t=", 11) == 0 ? text + 11 : NULL;
    double t = begin ? okra_strtod_(begin, &end) : -1;
    REFUSE_IF(!(t >= 0 && t <= 1) || end == begin || strcmp(end, ")") != 0, OKRA_EARG,
              "operator: '%s', expected diagonal(t=V) with 0 <= V <= 1", text);
    *out = (okra_operator_){.kind = OKRA_OPERATOR_DIAGONAL, .t = t};
    return OKRA_OK;
}

okra_operator_kind_ okra_operator_kind_of_(const char *text)
{
    static const struct {
        const char *name;
        okra_operator_kind_ kind;
    } plain[] = {{"identity", OKRA_OPERATOR_IDENTITY},
                 {"tensor", OKRA_OPERATOR_IDENTITY},
                 {"cov", OKRA_OPERATOR_COV},
                 {"ccov", OKRA_OPERATOR_CCOV}};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        if (!text || strcmp(text, plain[i].name) == 0) {
            return plain[i].kind;
        }
    }
    return strncmp(text, "diagonal", 8) == 0 ? OKRA_OPERATOR_DIAGONAL
                                             : OKRA_OPERATOR_MATRIX;
}

okra_status okra_operator_read_(okra_context *ctx, const char *text,
                                const okra_problem_ *problem, okra_operator_ *out)
{
    okra_operator_kind_ kind = okra_operator_kind_of_(text);
    if (kind != OKRA_OPERATOR_MATRIX) {
        *out = (okra_operator_){.kind = kind};
        return kind == OKRA_OPERATOR_DIAGONAL ? read_diagonal(text, out) : OKRA_OK;
    }
    bool matrix = strncmp(text, "matrix:", 7) == 0;
    REFUSE_IF(!matrix && strncmp(text, "graph:", 6) != 0, OKRA_EARG,
              "operator: '%s' is unknown, expected identity, tensor, cov, "
              "ccov, diagonal(t=V), matrix:FILE, graph:FILE,mu=V or "
              "graph:estimate(gamma=G),mu=V",
              text);
    okra_operator_ op = {.kind = OKRA_OPERATOR_MATRIX};
    if (problem->A) {
        okra_int d = problem->d;
        CHK(okra_doubles_(ctx, d, d, "the operator matrix", &op.A));
        memcpy(op.A, problem->A, (size_t)(d * d) * sizeof *op.A);
    } else {
        CHK(matrix ? okra_tasks_read_(ctx, "operator", text + 7, problem->d, &op.A)
                   : read_graph(ctx, text + 6, problem, &op.A));
    }
    *out = op;
    return OKRA_OK;
}

okra_status okra_operator_decompose_(okra_context *ctx, okra_mat_ A, double *g)
{
    CHK(okra_eigh_(ctx, A, g));
    double top = fmax(fabs(g[0]), fabs(g[A.rows - 1]));
    REFUSE_IF(
        g[0] < -1e-8 * top, OKRA_EARG,
        "operator: the smallest eigenvalue of the matrix is %.6g, the largest %.6g, "
        "expected a positive semi-definite matrix",
        g[0], g[A.rows - 1]);
    okra_clamp_(A.rows, g);
    return OKRA_OK;
}
