/*
 * refit.c: left-out errors by fitting each fold anew: one path of lambdas from shared
 * decompositions, as many at a time as memory holds.
 *
 * A fold has one value of the metric. Leave-one-out is scored as a whole instead: the n
 * predictions are gathered, since some metrics say nothing of a single pair.
 */
#include "select/group.h"

#include "model/align.h"

/* The prediction of one left-out pair joins those before it. */
static okra_status gather(okra_context *ctx, okra_lambda_group_ *g, const okra_view_ *v,
                          size_t l, okra_int pair, const okra_left_out_ *p)
{
    FREED_BY(okra_data_drop_) okra_data *objects = NULL;
    okra_data *more = NULL;
    double value;
    if (g->scorer.feature) {
        return okra_scorer_feature_(ctx, v, p, &value,
                                    g->losses + (okra_int)l * g->task->folds.n + pair);
    }
    CHK(okra_scorer_objects_(ctx, &g->scorer, v, p, &objects));
    if (g->pool[l]) {
        CHK(okra_data_concat(g->pool[l], objects, &more));
    } else {
        more = okra_data_retain(objects);
    }
    okra_data_free(g->pool[l]);
    g->pool[l] = more;
    return OKRA_OK;
}

static okra_status score_gathered(okra_context *ctx, okra_lambda_group_ *g, size_t l,
                                  const okra_data *truth)
{
    okra_cell_ *cell = g->cells[l];
    okra_int n = g->task->folds.n;
    const double *each = g->each;
    bool has = true;
    if (g->scorer.feature) {
        each = g->losses + (okra_int)l * n;
        cell->values[0] = okra_weighted_mean_(n, each, truth->weights);
    } else {
        CHK(okra_score(ctx, g->scorer.metric, truth, g->pool[l], &cell->values[0],
                       g->each, &has));
    }
    if (has) {
        cell->error = okra_standard_error_(n, each, truth->weights, cell->values[0]);
    }
    return OKRA_OK;
}

static okra_status score_fit(okra_context *ctx, okra_lambda_group_ *g,
                             const okra_view_ *v, size_t l, okra_int fold,
                             const okra_left_out_ *p)
{
    return g->task->folds.part ? okra_scorer_value_(ctx, &g->scorer, v, p,
                                                    &g->cells[l]->values[fold], g->each)
                               : gather(ctx, g, v, l, fold, p);
}

/* Models as a user would fit them. */
static okra_status fit_plain(okra_context *ctx, okra_lambda_group_ *g,
                             const okra_view_ *v, size_t first, size_t count,
                             okra_int fold)
{
    okra_status st = OKRA_OK;
    okra_model **models = NULL;
    bool mute = okra_warns_(ctx) && okra_align_asked_(g->kx); /* each fold would tell */
    ZALLOC(models, (okra_int)count);
    if (mute) {
        okra_mute_(ctx, true);
    }
    st = okra_fit_with_(ctx, NULL, v->train_x, v->train_y, g->fit,
                        g->task->space->path ? g->lambda + first : NULL, count, models);
    if (mute) {
        okra_mute_(ctx, false);
    }
    TRY(st);
    for (size_t l = 0; l < count; l++) {
        okra_left_out_ p = {.model = models[l]};
        TRY(okra_cancelled_(ctx));
        TRY(score_fit(ctx, g, v, first + l, fold, &p));
    }
done:
    for (size_t l = 0; models && l < count; l++) {
        okra_model_free(models[l]);
    }
    okra_free_(models);
    return st;
}

static okra_status fit_some(okra_context *ctx, okra_lambda_group_ *g, const okra_view_ *v,
                            size_t first, size_t count, okra_int fold)
{
    okra_status st = OKRA_OK;
    const okra_method_ *method = g->task->space->method;
    okra_bag_ **bags = NULL;
    double *P = NULL;
    ZALLOC(bags, (okra_int)count);
    for (size_t l = 0; l < count; l++) {
        TRY(okra_bag_create_(&bags[l]));
    }
    TRY(g->task->space->path
            ? method->path(ctx, &v->problem, g->fit, g->lambda + first, count, bags)
            : okra_method_fit_(ctx, method, &v->problem, g->fit, bags[0]));
    for (size_t l = 0; l < count; l++) {
        okra_left_out_ p = {.model = NULL};
        TRY(okra_cancelled_(ctx));
        TRY(okra_view_predict_(ctx, v, method, bags[l], &P, &p.block));
        TRY(score_fit(ctx, g, v, first + l, fold, &p));
        okra_free_(P);
        P = NULL;
    }
done:
    for (size_t l = 0; bags && l < count; l++) {
        okra_bag_free_(bags[l]);
    }
    FREE(bags, P);
    return st;
}

okra_status okra_group_refit_(okra_context *ctx, okra_lambda_group_ *g, okra_int fold)
{
    FREED_BY(okra_view_drop_) okra_view_ *v = NULL;
    okra_int n, m;
    okra_folds_get_(&g->task->folds, fold, g->train, &n, g->test, &m);
    okra_group_to_source_(g, g->train, n);
    okra_group_to_source_(g, g->test, m);
    CHK(okra_group_view_(ctx, g, g->train, n, g->test, m, &v));
    double inputs = (double)v->train_x->n;
    double left = (double)okra_memory_left_(ctx) / 2;
    double most = left / (8 * inputs * inputs + 1) - 2;
    size_t some = most < 1 ? 1 : most > 1e6 ? 1000000 : (size_t)most;
    for (size_t first = 0; first < g->count; first += some) {
        size_t count = OKRA_MIN_(some, g->count - first);
        CHK(g->plain ? fit_plain(ctx, g, v, first, count, fold)
                     : fit_some(ctx, g, v, first, count, fold));
    }
    return OKRA_OK;
}

okra_status okra_group_refit_all_(okra_context *ctx, okra_lambda_group_ *g)
{
    const okra_task_ *task = g->task;
    FREED_BY(okra_data_drop_) okra_data *truth = NULL;
    okra_int n = task->folds.n, folds = okra_folds_count_(&task->folds);
    if (!task->folds.part) {
        CHK(okra_doubles_(ctx, (okra_int)g->count, g->scorer.feature ? n : 0,
                          "left-out losses", &g->losses));
        ZMAKE(g->pool, (okra_int)g->count);
    }
    for (okra_int f = 0; f < folds; f++) {
        CHK(okra_cancelled_(ctx));
        okra_progress_(ctx, "folds", f, folds);
        CHK(okra_group_refit_(ctx, g, f));
    }
    okra_progress_end_(ctx, "folds");
    if (!task->folds.part) {
        okra_iota_(n, g->at);
        okra_group_to_source_(g, g->at, n);
        CHK(okra_data_take(task->source->y, g->at, n, &truth));
        for (size_t l = 0; l < g->count; l++) {
            CHK(score_gathered(ctx, g, l, truth));
        }
    }
    return OKRA_OK;
}
