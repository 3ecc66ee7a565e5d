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

enum { ROWS = 256 };

static const double *vector(const okra_store_ *store, const char *name)
{
    return okra_store_mat_(store, name).p;
}

static double number(const okra_store_ *store, const char *name, double otherwise)
{
    okra_store_get_number_(store, name, &otherwise);
    return otherwise;
}

void okra_solution_plain_(const okra_store_ *store, okra_int n, okra_solution_ *out)
{
    okra_solution_ s = {.kind = OKRA_SOLUTION_DENSE_,
                        .store = store,
                        .n = n,
                        .lambda = number(store, "lambda", -1),
                        .weights = vector(store, "sample-weight"),
                        .total = (double)n,
                        .jitter = number(store, "jitter", 0),
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
    out->center = number(store, "center", 0) != 0;
    out->times = vector(store, "output-lambda");
    out->has_moments = okra_store_has_(store, "moments.C");
    bool penalty = number(store, "lambda2", 0) != 0;
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
        out->noise *= out->weights ? out->total : number(store, "pairs", out->total);
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

okra_status okra_solution_factor_(okra_context *ctx, okra_solution_ *s,
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
    CHK(okra_solution_factor_(ctx, s, kx, &G));
    return okra_matrix_solve_host_(ctx, true, G, X);
}

okra_status okra_solution_inverse_(okra_context *ctx, okra_solution_ *s,
                                   const okra_trained_kernel_ *kx, okra_mat_ B)
{
    okra_mat_fill_(B, 0);
    okra_mat_add_diagonal_(B, 1);
    CHK(okra_solution_solve_(ctx, s, kx, B));
    okra_mat_mirror_(B);
    return OKRA_OK;
}

okra_status okra_solution_diagonal_(okra_context *ctx, okra_solution_ *s,
                                    const okra_trained_kernel_ *kx, double *q)
{
    const okra_matrix_ *G = NULL;
    FREED_BY(okra_matrix_drop_) okra_matrix_ *X = NULL;
    CHK(okra_solution_factor_(ctx, s, kx, &G));
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
    CHK(okra_solution_factor_(ctx, s, kx, &G));
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
    CHK(okra_solution_factor_(ctx, s, kx, &G));
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
