/*
 * ridge_options.c: the option table of ridge.c, its checks and the plan of a fit.
 */
#include "method/ridge/ridge_options.h"

#include "method/smoothness/semi.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { KEEP_MOST = 16384 }; /* pairs up to which weights are kept: 2 GiB */

const okra_option okra_ridge_rows_[] = {
    {"lambda", OKRA_OPTION_NUMBER, offsetof(okra_ridge_options_, lambda), "0.1", 0, 1e300,
     NULL, "V", "(K + lambda I); n lambda with cov and ccov; 0: least norm"},
    {"output-lambda", OKRA_OPTION_TEXT, offsetof(okra_ridge_options_, output_lambda), "",
     1, 0, NULL, "V,...", "lambda times these, one for each explicit output"},
    {"operator", OKRA_OPTION_TEXT, offsetof(okra_ridge_options_, operator_text),
     "identity", 1, 0, NULL, "OP",
     "identity, tensor, cov, ccov, diagonal(t=V), matrix:FILE or graph:FILE,mu=V"},
    {"epsilon", OKRA_OPTION_NUMBER, offsetof(okra_ridge_options_, epsilon), "0.01",
     1e-300, 1e300, NULL, "V",
     "regularisation of the conditional covariance (ccov only)"},
    {"center-output", OKRA_OPTION_BOOL, offsetof(okra_ridge_options_, center), "no", 1, 0,
     NULL, "", "subtract the mean output in feature space, and restore it after"},
    {"lambda2", OKRA_OPTION_NUMBER, offsetof(okra_ridge_options_, lambda2), "0", 0, 1e300,
     NULL, "V", "weight of smoothness over the graph of all inputs, labelled or not"},
    {"graph", OKRA_OPTION_TEXT, offsetof(okra_ridge_options_, graph), "gram", 1, 0, NULL,
     "EXPR", "gram, knn(k=N), knn(share=V) or file(W), | normalized, power, diffusion"},
    {"keep", OKRA_OPTION_CHOICE, offsetof(okra_ridge_options_, keep), "auto", 1, 0,
     "auto|weights|coefficients", "WHAT",
     "of explicit outputs: weights (n x n numbers; matrix operators: factors for "
     "updates) or coefficients; auto: weights up to 16,384 pairs"},
    {"keep-moments", OKRA_OPTION_BOOL, offsetof(okra_ridge_options_, keep_moments), "no",
     1, 0, NULL, "",
     "of low rank: keep the moments of the training set, which `okra update` and `okra "
     "merge` need"},
    {"solver", OKRA_OPTION_CHOICE, offsetof(okra_ridge_options_, solver), "direct", 1, 0,
     "direct|cg", "HOW", "of low rank: by moments, or by conjugate gradients"},
    {"cg-tolerance", OKRA_OPTION_NUMBER, offsetof(okra_ridge_options_, cg.tolerance),
     "1e-8", 0, 1, NULL, "V", "conjugate gradients: relative residual to reach"},
    {"cg-iterations", OKRA_OPTION_INT, offsetof(okra_ridge_options_, cg.iterations),
     "100", 1, 1e9, NULL, "N", "conjugate gradients: steps at most"},
    {"checkpoint", OKRA_OPTION_WRITTEN, offsetof(okra_ridge_options_, cg.checkpoint), "",
     1, 0, NULL, "FILE",
     "keep the moments of low rank, the state of conjugate gradients or the factor of "
     "one "
     "lambda here, and go on from it"},
    {0},
};

/* ---- checks ---- */

okra_status okra_ridge_options_check_(const okra_options *options,
                                      const okra_ridge_options_ *o, const okra_ridge_ *r)
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
    okra_status st = okra_semi_check_("ridge", p, options);
    if (st == OKRA_OK && p->map_x && okra_options_is_set(options, "lambda2")) {
        st = okra_graph_low_check_(o->graph);
    }
    if (st != OKRA_OK) {
        return st;
    }
    for (size_t l = 0; l < r->count; l++) {
        REFUSE_IF(!(r->lambda[l] >= 0 && isfinite(r->lambda[l])), OKRA_EARG,
                  "ridge: lambda is %g, expected a number of 0 or more", r->lambda[l]);
        const char *with = diagonal                                  ? o->operator_text
                           : okra_options_is_set(options, "lambda2") ? "lambda2"
                           : o->solver == OKRA_RIDGE_SOLVER_CG_      ? "solver cg"
                           : p->y && p->y->missing                   ? "missing values"
                                                                     : NULL;
        REFUSE_IF(r->lambda[l] == 0 && with, OKRA_EARG,
                  "ridge: lambda is 0, which with %s has no solution of "
                  "least norm in closed form; expected a positive number",
                  with);
    }
    return OKRA_OK;
}

/* Options of conjugate gradients are for solver cg, which is for low rank. */
static okra_status check_solver(const okra_problem_ *p, const okra_options *options,
                                const okra_ridge_options_ *o)
{
    static const char *const own[] = {"cg-tolerance", "cg-iterations"};
    for (int i = 0; o->solver != OKRA_RIDGE_SOLVER_CG_ && i < 2; i++) {
        REFUSE_IF(okra_options_is_set(options, own[i]), OKRA_EARG,
                  "ridge: %s is for solver cg", own[i]);
    }
    bool identity = okra_operator_kind_of_(o->operator_text) == OKRA_OPERATOR_IDENTITY;
    REFUSE_IF(o->solver == OKRA_RIDGE_SOLVER_CG_ && !identity, OKRA_EARG,
              "ridge: solver cg is for operator identity, but the operator "
              "is %s",
              o->operator_text);
    REFUSE_IF(o->solver == OKRA_RIDGE_SOLVER_CG_ &&
                  okra_options_is_set(options, "lambda2"),
              OKRA_EUNSUPPORTED,
              "ridge: solver cg has no smoothness penalty: leave lambda2 out");
    REFUSE_IF(o->solver == OKRA_RIDGE_SOLVER_CG_ && !p->map_x, OKRA_EARG,
              "ridge: solver cg needs low-rank-x");
    return OKRA_OK;
}

/* Of moments and conjugate gradients there is a checkpoint, and of one factor. */
static okra_status check_checkpoint(const okra_ridge_ *r, const okra_options *options,
                                    const okra_ridge_options_ *o)
{
    const okra_problem_ *p = r->p;
    okra_operator_kind_ kind = okra_operator_kind_of_(o->operator_text);
    bool identity = kind == OKRA_OPERATOR_IDENTITY;
    bool diagonal = kind == OKRA_OPERATOR_DIAGONAL;
    const char *why = NULL;
    if (!*o->cg.checkpoint) {
        return OKRA_OK;
    }
    if (strcmp(o->cg.checkpoint, "-") == 0) {
        why = "is a file, which is read again, and not standard output";
    } else if (r->count > 1) {
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
    okra_status st = okra_bytes_there_(o->cg.checkpoint, &there);
    if (st != OKRA_OK) {
        okra_message_prefix_("checkpoint %s", o->cg.checkpoint);
        return st;
    }
    return okra_writer_join_(r->ctx, o->cg.checkpoint, &file);
}

/* Moments are those of one pass: nothing else may be in the system. */
static okra_status check_moments(const okra_problem_ *p, const okra_options *options,
                                 const okra_ridge_options_ *o)
{
    const char *why = NULL;
    if (!o->keep_moments) {
        return OKRA_OK;
    }
    if (!p->map_x) {
        why = "needs low-rank-x";
    } else if (!p->features && !p->map_y) {
        why =
            "needs outputs with features: dense vectors under a linear output kernel, or "
            "low-rank-y";
    } else if (o->solver == OKRA_RIDGE_SOLVER_CG_) {
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

/* Does the model do without the n x n numbers that weights need? */
static okra_status check_keep(const okra_problem_ *p, const okra_ridge_options_ *o,
                              bool *slim)
{
    REFUSE_IF(o->keep == OKRA_RIDGE_KEEP_COEFFICIENTS_ && !p->features, OKRA_EARG,
              "ridge: keep coefficients needs outputs with explicit features: "
              "dense vectors under a linear output kernel");
    *slim = p->features && (o->keep == OKRA_RIDGE_KEEP_COEFFICIENTS_ ||
                            (o->keep == OKRA_RIDGE_KEEP_AUTO_ && p->n > KEEP_MOST));
    return OKRA_OK;
}

okra_status okra_ridge_fit_check_(const okra_options *options,
                                  const okra_ridge_options_ *o, okra_ridge_ *r)
{
    CHK(check_solver(r->p, options, o));
    CHK(check_moments(r->p, options, o));
    CHK(check_checkpoint(r, options, o));
    return check_keep(r->p, o, &r->slim);
}

okra_status okra_ridge_outputs_check_(const okra_ridge_options_ *o)
{
    okra_operator_kind_ kind = okra_operator_kind_of_(o->operator_text);
    bool apart = kind == OKRA_OPERATOR_IDENTITY || kind == OKRA_OPERATOR_DIAGONAL;
    return apart && o->keep != OKRA_RIDGE_KEEP_WEIGHTS_
               ? OKRA_OK
               : okra_fail_(OKRA_EARG,
                            "ridge: output-lambda is for the operators identity and "
                            "diagonal, and keeps no weights; found operator %s%s",
                            o->operator_text,
                            o->keep == OKRA_RIDGE_KEEP_WEIGHTS_ ? ", keep weights" : "");
}

/* ---- before a fit of low rank ---- */

/* What a smoothness penalty adds (moments_graph.c). */
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

okra_status okra_ridge_plan_(const okra_options *options, okra_fit_plan_ *p)
{
    okra_ridge_options_ o;
    double m = p->m, d = p->d;
    CHK(okra_options_read(options, &okra_method_ridge_.options, &o));
    if (o.solver == OKRA_RIDGE_SOLVER_CG_) { /* ridge_cg.c */
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
    if (okra_operator_kind_of_(o.operator_text) ==
        OKRA_OPERATOR_DIAGONAL) { /* ridge_low_diagonal.c */
        p->passes += 1;
        p->row += p->map + 2 * m * d;
        p->doubles += 3 * m * d;
    }
    return OKRA_OK;
}

/* ---- what selection and other users ask ---- */

okra_coupling_ okra_ridge_coupling_(const okra_options *options)
{
    static const okra_coupling_ of[] = {[OKRA_OPERATOR_IDENTITY] = OKRA_OUTPUTS_ALIKE_,
                                        [OKRA_OPERATOR_COV] = OKRA_OUTPUTS_SHARED_,
                                        [OKRA_OPERATOR_CCOV] = OKRA_OUTPUTS_SHARED_,
                                        [OKRA_OPERATOR_MATRIX] = OKRA_OUTPUTS_BOUND_,
                                        [OKRA_OPERATOR_DIAGONAL] = OKRA_OUTPUTS_APART_};
    return of[okra_operator_kind_of_(okra_options_get(options, "operator"))];
}

const char *okra_ridge_bordered_(const okra_bag_ *bag)
{
    double lambda2 = 0;
    const char *text = okra_bag_get_text_(bag, "operator");
    if (okra_operator_kind_of_(text) != OKRA_OPERATOR_IDENTITY) {
        return "the operator is not identity";
    }
    return okra_bag_get_number_(bag, "lambda2", &lambda2) && lambda2 != 0
               ? "there is a smoothness penalty, lambda2"
               : NULL;
}

/* Moments are sums over rows. */
bool okra_ridge_passes_(const okra_options *options)
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

/* Outputs alike are centred, unless a lambda alone is chosen for twin kernels, whose
 * lambda is no choice; gcv is of plain outputs. */
static okra_status fill(const okra_open_ *open, okra_options *o)
{
    const char *cv = okra_options_get(o, "cv");
    bool plain =
        okra_ridge_coupling_(o) == OKRA_OUTPUTS_ALIKE_ && !(cv && strcmp(cv, "gcv") == 0);
    return plain && (open->kx || !okra_options_is_set(o, "twin")) &&
                   !okra_options_is_set(o, "center-output")
               ? okra_options_set(o, "center-output", "yes")
               : OKRA_OK;
}

const okra_auto_ okra_ridge_auto_ = {
    .fill = fill,
    .aligned = "what is learned of a letter comes from its own position alone; method "
               "m3n learns it from all positions",
};
