/*
 * solver.c: the method `plain` as an example of hooks: ridge with the operator identity
 * again, w(x) = (K + lambda I)^-1 k_x, with what it takes to be chosen for and to give
 * conformal intervals. K lives in the engine, which factors it and solves with it.
 */
#include "method/method.h"

typedef struct plain_options {
    double lambda;
} plain_options;

static const okra_option rows[] = {{"lambda", OKRA_OPTION_NUMBER,
                                    offsetof(plain_options, lambda), "0.1", 1e-9, 1e9,
                                    NULL, "V", "added to the diagonal"},
                                   {0}};

static okra_status fit_one(okra_context *ctx, const okra_problem_ *problem, double lambda,
                           okra_store_ *store)
{
    FREED_BY(okra_matrix_drop_) okra_matrix_ *K = NULL;
    CHK(okra_problem_K_(ctx, problem, &K));
    CHK(okra_matrix_add_diagonal_(ctx, lambda, K));
    CHK(okra_matrix_cholesky_(ctx, K, NULL));
    CHK(okra_matrix_keep_(ctx, &K, true, "the factor", "factor", store));
    CHK(okra_store_put_number_(store, "center", 0));
    return okra_store_put_number_(store, "lambda", lambda);
}

static okra_status path(okra_context *ctx, const okra_problem_ *problem,
                        const okra_options *options, const double *lambda, size_t count,
                        okra_store_ *const *stores)
{
    (void)options;
    for (size_t l = 0; l < count; l++) {
        CHK(fit_one(ctx, problem, lambda[l], stores[l]));
    }
    return OKRA_OK;
}

static okra_form_ form(const okra_store_ *store)
{
    (void)store;
    return OKRA_FORM_WEIGHTS;
}

static okra_status predict(okra_context *ctx, const okra_store_ *store,
                           okra_query_ *query, okra_mat_ out)
{
    okra_int n = 0, columns = 0;
    const okra_matrix_ *there = okra_matrix_kept_(store, "factor");
    if (there) { /* several processes share it */
        return okra_query_solve_by_(ctx, query, there, out);
    }
    const double *L = okra_store_get_(store, "factor", &n, &columns);
    return okra_query_solve_(ctx, query, okra_mat_view_(L, n, n, n), out);
}

static okra_coupling_ coupling(const okra_options *options)
{
    (void)options;
    return OKRA_OUTPUTS_ALIKE_;
}

/* clang-format off */
static const okra_schema_ kept_factor[] = {
    OKRA_KEEPS_MATRIX_("factor", OKRA_KEPT_FACTOR_, "n", "n"),
    OKRA_KEEPS_NUMBER_("lambda", OKRA_KEPT_POSITIVE_, "1e-9", "1e9"),
    OKRA_KEEPS_NUMBER_("center", OKRA_KEPT_WHOLE_, "0", "1"),
    OKRA_KEEPS_SAME_("inputs", "c", "n"),
    OKRA_KEPT_END_};
static const okra_schema_ *const kept[] = {kept_factor, NULL};
/* clang-format on */

/* Kernel and lambda are looked for where that has a closed form. */
static okra_likeness_ likeness(const okra_open_ *open, const okra_options *options)
{
    (void)options;
    return open->kx ? OKRA_LIKE_WHOLE_ : OKRA_LIKE_NOTHING_;
}

static const okra_auto_ automatic = {
    .like = "ridge", .likeness = likeness, .coupling = coupling};

const okra_method_ okra_method_plain_ = {
    .name = "plain",
    .help = "ridge with the operator identity",
    .options = {"plain", rows, sizeof(plain_options)},
    .takes = OKRA_TAKES_LARGE_,
    .automatic = &automatic,
    .path = path,
    .form = form,
    .predict = predict,
    .solution = okra_solution_open_,
    .kept = kept,
};
