/*
 * naive.c: similar nodes are linked: score(u, v) = k(u, v) (Y. Yamanishi et al.,
 * Bioinformatics 20, 2004, their direct approach). Nothing is learned.
 */
#include "method/method.h"

static okra_status fit(okra_context *ctx, const okra_problem_ *problem,
                       const okra_options *options, okra_store_ *store)
{
    return OKRA_OK;
}

static okra_int width(const okra_store_ *store)
{
    return 1;
}

static okra_status factors(okra_context *ctx, const okra_store_ *store,
                           okra_query_ *query, okra_int labelled, okra_mat_ P,
                           okra_mat_ Q)
{
    if (P.p) {
        okra_mat_fill_(P, 0);
    }
    if (Q.p) {
        okra_mat_fill_(Q, 0);
    }
    return OKRA_OK;
}

static const okra_linker_ linker = {
    .kernel = OKRA_LINKER_ALWAYS_, .width = width, .factors = factors};

static const okra_schema_ kept_nothing[] = {
    OKRA_KEEPS_SAME_("inputs", "c", "n"),
    OKRA_KEPT_END_,
};

const okra_method_ okra_method_naive_ = {
    .name = "naive",
    .unweighted =
        "scores links by the input kernel alone: weights of pairs have no meaning",
    .help = "links only: nodes with similar descriptions, score k(u, v)",
    .options = {"naive", NULL, 0},
    .fit = fit,
    .linker = &linker,
    .kept = (const okra_schema_ *const[]){kept_nothing, NULL},
};
