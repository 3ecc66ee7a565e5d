/*
 * group.c: the left-out errors of cells that differ in lambda alone.
 * In closed form from one decomposition of the whole training set, which serves every
 * fold and lambda (method->leave). Exact where
 *   - neither kernel centers or is learned (twin): its values would change with the
 *     pairs that stay,
 *   - every pair is left out once a repeat (not `train-on-one`),
 *   - the decoder makes an object from the prediction alone, or chooses a candidate.
 * Else by fitting each fold anew: one path of lambdas from shared decompositions, as many
 * at a time as memory holds. A fold has one value of the metric; leave-one-out is scored
 * as a whole, since some metrics say nothing of a single pair.
 */
#include "select/select.h"

/* Positions of the task to indices into the source. */
static void to_source(const okra_lambda_group_ *g, okra_int *index, okra_int count)
{
    for (okra_int i = 0; g->task->index && i < count; i++) {
        index[i] = g->task->index[index[i]];
    }
}

static void free_parts(okra_lambda_group_ *g)
{
    for (okra_int p = 0; g->parts && p < g->task->folds.parts; p++) {
        okra_view_drop_(&g->parts[p]);
    }
}

static okra_status open_view(okra_context *ctx, okra_lambda_group_ *g,
                             const okra_int *train, okra_int n, const okra_int *test,
                             okra_int m, okra_view_ **out)
{
    okra_view_request_ r = {.kx = g->kx,
                            .ky = g->ky,
                            .objects = g->plain,
                            .method = g->task->space->method,
                            .train = train,
                            .test = test,
                            .n = n,
                            .m = m,
                            .keep_inputs = g->keep_inputs,
                            .rows = g->rows};
    return okra_view_create_(ctx, g->task->source, &r, out);
}

/* Of the mean of n values; NaN of one. */
static double standard_error(okra_int n, const double *each, const double *weights,
                             double mean)
{
    double sum = 0, total = 0, count = (double)n;
    for (okra_int i = 0; i < n; i++) {
        double w = weights ? weights[i] : 1;
        sum += w * w * (each[i] - mean) * (each[i] - mean);
        total += w;
    }
    return n < 2     ? (double)NAN
           : weights ? sqrt(sum * count / (count - 1)) / total
                     : sqrt(sum / (count - 1) / count);
}

/* ---- in closed form ---- */

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

/* The mean over `count` folds or repeats. */
static void add_threshold(okra_cell_ *cell, double threshold, okra_int count)
{
    cell->threshold =
        (isnan(cell->threshold) ? 0 : cell->threshold) + threshold / (double)count;
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
    to_source(g, g->train, n);
    to_source(g, g->test, m);
    okra_mute_(ctx, true); /* the view of all pairs has warned */
    okra_status st = open_view(ctx, g, g->train, n, g->test, m, out);
    okra_mute_(ctx, false);
    CHK(st);
    double half = (double)okra_context_memory(ctx) / 2;
    *keep = (double)okra_memory_used_(ctx) < half;
    g->parts[p] = *keep ? *out : NULL;
    return OKRA_OK;
}

/* One part: its rows of the predictions, against a view of the pairs that stay. */
static okra_status score_part(okra_context *ctx, okra_lambda_group_ *g,
                              const okra_left_ *left, okra_int p, double *value)
{
    FREED_BY(okra_mat_drop_) okra_mat_ P = {0};
    okra_view_ *v = NULL;
    okra_int n, m;
    bool keep = true;
    okra_folds_get_(&g->task->folds, g->repeat * g->task->folds.parts + p, g->train, &n,
                    g->test, &m);
    okra_mat_ from = left->H.p ? left->H : left->W;
    okra_int width = left->H.p ? from.cols : n;
    CHK(okra_mat_room_(ctx, m, width, "the predictions of a fold", &P));
    for (okra_int i = 0; i < m; i++) {
        for (okra_int j = 0; j < width; j++) {
            okra_int column = left->H.p ? j : g->train[j];
            P.p[i * width + j] = from.p[g->test[i] * from.ld + column];
        }
    }
    CHK(view_of_part(ctx, g, p, n, m, &keep, &v));
    okra_mat_ none = {0};
    okra_block_ block = {.m = m, .W = left->H.p ? none : P, .H = left->H.p ? P : none};
    okra_left_out_ left_out = {.block = block};
    okra_status st = okra_scorer_value_(ctx, &g->scorer, v, &left_out, value, g->each);
    okra_view_free_(keep ? NULL : v);
    return st;
}

/* The best cut for all left-out pairs at once, and the values of the folds at it. */
static okra_status cut_left(okra_context *ctx, const okra_lambda_group_ *g,
                            const okra_left_ *left, okra_cell_ *cell)
{
    const okra_folds_ *folds = &g->task->folds;
    const okra_cut_ *cut = &g->scorer.cut;
    okra_int parts = folds->part ? folds->parts : 1, first = g->repeat * parts;
    OWNED okra_cut_sums_ *sums = NULL;
    okra_block_ block = {.m = folds->n, .W = left->W, .H = left->H};
    ZMAKE(sums, parts + 1);
    CHK(okra_cut_block_(ctx, cut, &g->view->output, &block, g->view->train_y,
                        folds->part ? folds->part + g->repeat * folds->n : NULL, sums));
    for (okra_int p = 0; p < parts; p++) {
        okra_cut_merge_(&sums[p], &sums[parts]);
    }
    int best = okra_cut_best_(cut, &sums[parts]);
    add_threshold(cell, okra_cut_threshold_(best), folds->repeats);
    for (okra_int p = 0; cut->judges && p < parts; p++) {
        cell->values[first + p] = okra_cut_value_(cut, &sums[p], best);
    }
    if (cut->judges && !folds->part) {
        cell->error = okra_cut_error_(cut, &sums[parts], best);
    }
    return OKRA_OK;
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
    if (g->scorer.cut.wanted) {
        CHK(cut_left(ctx, g, left, cell));
    }
    if (g->scorer.cut.judges) {
        return OKRA_OK;
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
        cell->error = standard_error(folds->n, g->each, weights, cell->values[0]);
    }
    if (g->scorer.feature && left->slack) {
        cell->gcv = gcv(folds->n, g->each, left->slack, weights);
    }
    return OKRA_OK;
}

static okra_status has_closed_form(const okra_lambda_group_ *g, bool *out)
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
           (parts || g->scorer.feature || space->decoder->pointwise || g->chooses ||
            g->scorer.cut.judges);
    return OKRA_OK;
}

/* OKRA_EUNSUPPORTED where the method finds that it has none. */
static okra_status by_closed_form(okra_context *ctx, okra_lambda_group_ *g)
{
    const okra_folds_ *folds = &g->task->folds;
    okra_int n = folds->n;
    okra_iota_(n, g->at);
    to_source(g, g->at, n);
    CHK(open_view(ctx, g, g->at, n, g->at, 0, &g->view));
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
        free_parts(g);
    }
    return OKRA_OK;
}

/* ---- by refits ---- */

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
        cell->error = standard_error(n, each, truth->weights, cell->values[0]);
    }
    return OKRA_OK;
}

static okra_status score_fit(okra_context *ctx, okra_lambda_group_ *g,
                             const okra_view_ *v, size_t l, okra_int fold,
                             const okra_left_out_ *p)
{
    const okra_scorer_ *s = &g->scorer;
    okra_cell_ *cell = g->cells[l];
    double value = 0, threshold = 0;
    if (s->cut.wanted) {
        REFUSE_IF(!g->task->folds.part, OKRA_EUNSUPPORTED,
                  "decoder labels: threshold=auto needs folds (kfold:5) where left-out "
                  "predictions have no closed form");
        CHK(okra_scorer_cut_(ctx, s, v, p, &value, &threshold));
        add_threshold(cell, threshold, okra_folds_count_(&g->task->folds));
        cell->values[fold] = value;
    }
    return s->cut.judges ? OKRA_OK
           : g->task->folds.part
               ? okra_scorer_value_(ctx, s, v, p, &cell->values[fold], g->each)
               : gather(ctx, g, v, l, fold, p);
}

/* What is fitted for some lambdas: models, or what a method leaves in stores. */
typedef struct fitted {
    okra_model **models;
    okra_store_ **stores;
    size_t count;
} fitted;

static void fitted_clear(fitted *f)
{
    for (size_t l = 0; l < f->count; l++) {
        okra_model_free(f->models ? f->models[l] : NULL);
        okra_store_free_(f->stores ? f->stores[l] : NULL);
    }
    FREE(f->models, f->stores);
}

/* Models as a user would fit them. */
static okra_status fit_plain(okra_context *ctx, okra_lambda_group_ *g,
                             const okra_view_ *v, size_t first, size_t count,
                             okra_int fold)
{
    FREED_BY(fitted_clear) fitted f = {.count = count};
    bool mute = okra_align_asked_(g->kx); /* each fold would tell */
    ZMAKE(f.models, (okra_int)count);
    if (mute) {
        okra_mute_(ctx, true);
    }
    okra_status st =
        okra_fit_with_(ctx, NULL, v->train_x, v->train_y, g->fit,
                       g->task->space->path ? g->lambda + first : NULL, count, f.models);
    if (mute) {
        okra_mute_(ctx, false);
    }
    CHK(st);
    for (size_t l = 0; l < count; l++) {
        okra_left_out_ p = {.model = f.models[l]};
        CHK(okra_cancelled_(ctx));
        CHK(score_fit(ctx, g, v, first + l, fold, &p));
    }
    return OKRA_OK;
}

static okra_status fit_some(okra_context *ctx, okra_lambda_group_ *g, const okra_view_ *v,
                            size_t first, size_t count, okra_int fold)
{
    const okra_method_ *method = g->task->space->method;
    FREED_BY(fitted_clear) fitted f = {.count = count};
    OWNED double *P = NULL;
    ZMAKE(f.stores, (okra_int)count);
    for (size_t l = 0; l < count; l++) {
        CHK(okra_store_create_(&f.stores[l]));
    }
    CHK(g->task->space->path
            ? method->path(ctx, &v->problem, g->fit, g->lambda + first, count, f.stores)
            : okra_method_fit_(ctx, method, &v->problem, g->fit, f.stores[0]));
    for (size_t l = 0; l < count; l++) {
        okra_left_out_ p = {.model = NULL};
        CHK(okra_cancelled_(ctx));
        CHK(okra_view_predict_(ctx, v, method, f.stores[l], &P, &p.block));
        CHK(score_fit(ctx, g, v, first + l, fold, &p));
        okra_free_at_(&P);
    }
    return OKRA_OK;
}

static okra_status refit_fold(okra_context *ctx, okra_lambda_group_ *g, okra_int fold)
{
    FREED_BY(okra_view_drop_) okra_view_ *v = NULL;
    okra_int n, m;
    okra_folds_get_(&g->task->folds, fold, g->train, &n, g->test, &m);
    to_source(g, g->train, n);
    to_source(g, g->test, m);
    CHK(open_view(ctx, g, g->train, n, g->test, m, &v));
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

static okra_status refit_all(okra_context *ctx, okra_lambda_group_ *g)
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
        CHK(refit_fold(ctx, g, f));
    }
    okra_progress_end_(ctx, "folds");
    if (!task->folds.part) {
        okra_iota_(n, g->at);
        to_source(g, g->at, n);
        CHK(okra_data_take(task->source->y, g->at, n, &truth));
        for (size_t l = 0; l < g->count; l++) {
            CHK(score_gathered(ctx, g, l, truth));
        }
    }
    return OKRA_OK;
}

/* ---- the group ---- */

static void close_group(okra_lambda_group_ *g)
{
    free_parts(g);
    for (size_t l = 0; g->pool && l < g->count; l++) {
        okra_data_free(g->pool[l]);
    }
    okra_options_free(g->fit);
    okra_options_free(g->predict);
    FREE(g->parts, g->pool, g->losses, g->lambda, g->each, g->at, g->train, g->test);
    okra_view_free_(g->view);
}

static okra_status is_low(const okra_lambda_group_ *g, bool *out)
{
    const okra_method_ *method = g->task->space->method;
    const okra_pairs_ *source = g->task->source;
    okra_fit_fields_ f;
    FREED_BY(okra_kernel_drop_) okra_kernel *ky = NULL;
    CHK(okra_options_read(g->fit, &okra_fit_table_, &f));
    *out = !okra_align_asked_(g->kx) && !method->compares && !*f.twin &&
           !g->task->folds.part && (*f.low_rank || *f.low_rank_x);
    if (*out) {
        CHK(okra_kernel_parse(g->ky, &ky));
        *out = okra_fit_factored_(&f, method, g->fit, source->x, source->y, ky);
    }
    return OKRA_OK;
}

/* Methods with a space or criterion of their own, kernels that are learned or of low
 * rank, and outputs with missing values go through fit and predict as a user's would. */
static bool is_plain(const okra_lambda_group_ *g)
{
    static const char *const options[] = {"twin", "low-rank", "low-rank-x", "low-rank-y"};
    const okra_method_ *method = g->task->space->method;
    bool learned = okra_align_asked_(g->kx); /* from the pairs that stay */
    bool plain = learned || method->compares || g->task->source->y->missing;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        plain = plain || okra_options_is_set(g->fit, options[i]);
    }
    return plain;
}

okra_status okra_cell_lambda_(const okra_space_ *space, const okra_cell_ *cell,
                              double *out)
{
    const okra_option *row = okra_option_find_(&space->method->options, "lambda", 6);
    return okra_option_parse_(space->method->name, row,
                              okra_space_value_(space, &cell->setting, "lambda"), out);
}

static okra_status open_group(okra_lambda_group_ *g)
{
    const okra_task_ *task = g->task;
    const okra_space_ *space = task->space;
    okra_int n = task->folds.n;
    CHK(okra_space_options_(space, &g->cells[0]->setting, &g->fit, &g->predict));
    CHK(task->source->classes ? okra_options_set(g->fit, "ky", "linear") : OKRA_OK);
    g->kx = okra_options_get(g->fit, "kx");
    g->ky = okra_options_get(g->fit, "ky");
    MAKE(g->lambda, (okra_int)g->count);
    MAKE(g->each, n);
    MAKE(g->at, n);
    MAKE(g->train, n);
    MAKE(g->test, n);
    for (size_t l = 0; space->path && l < g->count; l++) {
        CHK(okra_cell_lambda_(space, g->cells[l], &g->lambda[l]));
    }
    CHK(okra_scorer_create_(task->metric, task->source, space, &g->scorer));
    g->scorer.predict = g->predict;
    if (g->scorer.lists) {
        CHK(okra_ranks_number_(task->source));
    }
    if (!isnan(g->cells[0]->threshold)) { /* the cut is known */
        OWNED char *text = NULL;
        CHK(okra_cut_text_(space->decode, g->cells[0]->threshold, &text));
        CHK(okra_options_set(g->predict, "decode", text));
        g->scorer.cut = (okra_cut_){.wanted = false};
    }
    /* Candidates of their own, and decoders that look at objects, need the objects. */
    g->chooses = okra_decoder_chooses_(space->decoder, g->predict);
    g->rows =
        g->scorer.feature || (g->chooses && !space->decoder->argument &&
                              !g->scorer.candidates && !task->source->request->window);
    CHK(is_low(g, &g->low));
    g->plain = is_plain(g) || (!g->scorer.feature && !space->decoder->pointwise &&
                               !g->chooses && !g->scorer.cut.judges);
    g->keep_inputs = okra_method_takes_(space->method, OKRA_TAKES_UNLABELLED_) &&
                     (task->source->inputs > task->source->n ||
                      okra_options_is_set(g->fit, "lambda2"));
    return OKRA_OK;
}

okra_int okra_task_values_(const okra_task_ *task)
{
    return task->folds.part ? okra_folds_count_(&task->folds) : 1;
}

/* Mean over folds and its standard error; that of leave-one-out is known already. */
static void summarise(const okra_task_ *task, okra_cell_ *cell)
{
    okra_int count = okra_task_values_(task);
    double sum = okra_total_(count, cell->values);
    cell->mean = task->cv == OKRA_CV_GCV_ ? cell->gcv : sum / (double)count;
    if (task->folds.part) {
        cell->error = standard_error(count, cell->values, NULL, cell->mean);
    }
    cell->closed = task->closed;
}

okra_status okra_group_fold_(okra_context *ctx, okra_task_ *task,
                             okra_cell_ *const *cells, size_t count, okra_int fold)
{
    FREED_BY(close_group)
    okra_lambda_group_ g = {.task = task, .cells = cells, .count = count};
    if (task->source->links) {
        return okra_links_fold_(ctx, task, cells, count, fold);
    }
    CHK(open_group(&g));
    return refit_fold(ctx, &g, fold);
}

okra_status okra_group_run_(okra_context *ctx, okra_task_ *task, okra_cell_ *const *cells,
                            size_t count)
{
    FREED_BY(close_group)
    okra_lambda_group_ g = {.task = task, .cells = cells, .count = count};
    bool closed = false, links = task->source->links != NULL;
    CHK(links ? okra_links_run_(ctx, task, cells, count) : open_group(&g));
    CHK(links ? OKRA_OK : has_closed_form(&g, &closed));
    if (closed) {
        okra_status st = by_closed_form(ctx, &g);
        closed = st != OKRA_EUNSUPPORTED;
        CHK(closed ? st : OKRA_OK);
    }
    if (!links) {
        task->closed = closed;
        REFUSE_IF(
            task->cv == OKRA_CV_GCV_ && (!closed || isnan(cells[0]->gcv)),
            OKRA_EUNSUPPORTED,
            "generalised cross-validation is defined for ridge with the operator "
            "identity, plain outputs and the metric feature-loss; use loo or kfold");
        REFUSE_IF(task->outputs && !closed, OKRA_EUNSUPPORTED,
                  "per-output needs left-out predictions in closed form, which these "
                  "settings do not have: kernels with center, missing values, and folds "
                  "of low rank");
        CHK(closed ? OKRA_OK : refit_all(ctx, &g));
    }
    for (size_t l = 0; l < count; l++) {
        summarise(task, cells[l]);
    }
    return OKRA_OK;
}
