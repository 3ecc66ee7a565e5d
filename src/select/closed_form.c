/*
 * closed_form.c: left-out errors from one decomposition of the whole training set, which
 * serves every fold and lambda (method->leave). Exact where
 *   - neither kernel centers or is learned (twin): its values would change with the
 *     pairs that stay,
 *   - every pair is left out once a repeat (not `train-on-one`),
 *   - the decoder makes an object from the prediction alone, or chooses a candidate;
 *     parts of several pairs are scored one by one against their own training outputs.
 */
#include "select/group.h"

/* GCV(lambda) = mean |r_i|^2 / (mean (1 - G_ii))^2, r_i = (1 - G_ii) times the left-out
 * residual (Golub, Heath and Wahba 1979). */
static double gcv(okra_int n, const double *losses, const double *slack,
                  const double *weights)
{
    double residuals = 0, trace = 0, total = 0;
    for (okra_int i = 0; i < n; i++) {
        double w = weights ? weights[i] : 1;
        residuals += w * slack[i] * slack[i] * losses[i];
        trace += w - 1 + slack[i];
        total += w;
    }
    return total * residuals / (trace * trace);
}

/* The view of fold p of this repeat; *keep: it stays in g->parts. */
static okra_status view_of_part(okra_context *ctx, okra_lambda_group_ *g, okra_int p,
                                okra_int n, okra_int m, bool *keep, okra_view_ **out)
{
    *out = g->parts[p];
    *keep = true;
    if (*out) {
        return OKRA_OK;
    }
    okra_group_to_source_(g, g->train, n);
    okra_group_to_source_(g, g->test, m);
    CHK(okra_group_view_(ctx, g, g->train, n, g->test, m, out));
    double half = (double)okra_context_memory(ctx) / 2;
    *keep = (double)okra_memory_used_(ctx) < half;
    g->parts[p] = *keep ? *out : NULL;
    return OKRA_OK;
}

/* One part: its rows of the predictions, against a view of the pairs that stay. */
static okra_status score_part(okra_context *ctx, okra_lambda_group_ *g,
                              const okra_left_ *left, okra_int p, double *value)
{
    okra_status st = OKRA_OK;
    okra_view_ *v = NULL;
    double *P = NULL;
    okra_int n, m;
    bool keep = true;
    okra_folds_get_(&g->task->folds, g->repeat * g->task->folds.parts + p, g->train, &n,
                    g->test, &m);
    okra_mat_ from = left->H.p ? left->H : left->W;
    okra_int width = left->H.p ? from.cols : n;
    TRY(okra_doubles_(ctx, m, width, "the predictions of a fold", &P));
    for (okra_int i = 0; i < m; i++) {
        for (okra_int j = 0; j < width; j++) {
            okra_int column = left->H.p ? j : g->train[j];
            P[i * width + j] = from.p[g->test[i] * from.ld + column];
        }
    }
    TRY(view_of_part(ctx, g, p, n, m, &keep, &v));
    okra_mat_ rows = okra_mat_of_(P, m, width), none = {0};
    okra_block_ block = {
        .m = m, .W = left->H.p ? none : rows, .H = left->H.p ? rows : none};
    okra_left_out_ left_out = {.block = block};
    TRY(okra_scorer_value_(ctx, &g->scorer, v, &left_out, value, g->each));
done:
    if (!keep) {
        okra_view_free_(v);
    }
    okra_free_(P);
    return st;
}

static okra_status on_left(okra_context *ctx, void *user, const okra_left_ *left)
{
    okra_lambda_group_ *g = user;
    okra_cell_ *cell = g->cells[left->lambda];
    const okra_folds_ *folds = &g->task->folds;
    const double *weights = g->view->train_y->weights;
    bool has = false;
    if (g->task->outputs) {
        CHK(okra_outputs_add_(g, left, cell));
    }
    if (folds->part) {
        for (okra_int p = 0; p < folds->parts; p++) {
            CHK(score_part(ctx, g, left, p, &cell->values[g->repeat * folds->parts + p]));
        }
        return OKRA_OK;
    }
    okra_block_ block = {.m = folds->n, .W = left->W, .H = left->H};
    CHK(okra_scorer_left_(ctx, &g->scorer, g->view, &block, &cell->values[0], g->each,
                          &has));
    if (has) {
        cell->error = okra_standard_error_(folds->n, g->each, weights, cell->values[0]);
    }
    if (g->scorer.feature && left->slack) {
        cell->gcv = gcv(folds->n, g->each, left->slack, weights);
    }
    return OKRA_OK;
}

okra_status okra_group_has_closed_form_(const okra_lambda_group_ *g, bool *out)
{
    const okra_space_ *space = g->task->space;
    FREED_BY(okra_kernel_drop_) okra_kernel *kx = NULL, *ky = NULL;
    if (g->plain && !g->low) {
        *out = false;
        return OKRA_OK;
    }
    CHK(okra_kernel_parse(g->kx, &kx));
    CHK(okra_kernel_parse(g->ky, &ky));
    bool parts = g->task->folds.part != NULL;
    *out = space->method->leave && space->path && (g->low || !g->plain) &&
           !g->task->folds.train_on_one && !okra_kernel_centers_(kx) &&
           !okra_kernel_centers_(ky) &&
           (parts || g->scorer.feature || space->decoder->pointwise || g->chooses);
    return OKRA_OK;
}

okra_status okra_group_closed_form_(okra_context *ctx, okra_lambda_group_ *g)
{
    const okra_folds_ *folds = &g->task->folds;
    okra_int n = folds->n;
    okra_iota_(n, g->at);
    okra_group_to_source_(g, g->at, n);
    CHK(okra_group_view_(ctx, g, g->at, n, g->at, 0, &g->view));
    if (g->low) {
        CHK(okra_view_low_(ctx, g->task->space->method, g->fit, g->view));
    }
    ZMAKE(g->parts, folds->parts);
    for (g->repeat = 0; g->repeat < folds->repeats; g->repeat++) {
        okra_parts_ parts = {folds->parts,
                             folds->part ? folds->part + g->repeat * n : NULL};
        CHK(g->task->space->method->leave(ctx, &g->view->problem, g->fit, g->lambda,
                                          g->count, &parts,
                                          g->view->output.features != NULL, on_left, g));
        okra_group_free_parts_(g);
    }
    return OKRA_OK;
}
