/*
 * group.c: the left-out errors of cells that differ in lambda alone.
 *
 * In closed form where there is one (closed_form.c), else by refits (refit.c).
 */
#include "select/group.h"

#include "model/align.h"
#include "model/options.h"

#include <math.h>

void okra_group_free_parts_(okra_lambda_group_ *g)
{
    for (okra_int p = 0; g->parts && p < g->task->folds.parts; p++) {
        okra_view_free_(g->parts[p]);
        g->parts[p] = NULL;
    }
}

static void close_group(okra_lambda_group_ *g)
{
    okra_group_free_parts_(g);
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
    *out = !okra_align_asked_(g->kx) && !method->components && !method->criterion &&
           !*f.twin && !g->task->folds.part && (*f.low_rank || *f.low_rank_x);
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
    bool plain =
        learned || method->components || method->criterion || g->task->source->y->missing;
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
    /* Candidates of their own, and decoders that look at objects, need the objects. */
    g->chooses = okra_decoder_chooses_(space->decoder, g->predict);
    g->rows = g->scorer.feature ||
              (g->chooses && !space->decoder->argument && !g->scorer.candidates);
    CHK(is_low(g, &g->low));
    g->plain =
        is_plain(g) || (!g->scorer.feature && !space->decoder->pointwise && !g->chooses);
    g->keep_inputs =
        space->method->unlabelled && (task->source->inputs > task->source->n ||
                                      okra_options_is_set(g->fit, "lambda2"));
    return OKRA_OK;
}

okra_status okra_group_view_(okra_context *ctx, okra_lambda_group_ *g,
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

void okra_group_to_source_(const okra_lambda_group_ *g, okra_int *index, okra_int count)
{
    for (okra_int i = 0; g->task->index && i < count; i++) {
        index[i] = g->task->index[index[i]];
    }
}

double okra_standard_error_(okra_int n, const double *each, const double *weights,
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

okra_int okra_task_values_(const okra_task_ *task)
{
    return task->folds.part ? okra_folds_count_(&task->folds) : 1;
}

/* Mean over folds and its standard error; that of leave-one-out is known already. */
static void summarise(const okra_task_ *task, okra_cell_ *cell)
{
    okra_int count = okra_task_values_(task);
    double sum = 0;
    for (okra_int f = 0; f < count; f++) {
        sum += cell->values[f];
    }
    cell->mean = task->cv == OKRA_CV_GCV_ ? cell->gcv : sum / (double)count;
    if (task->folds.part) {
        cell->error = okra_standard_error_(count, cell->values, NULL, cell->mean);
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
    return okra_group_refit_(ctx, &g, fold);
}

okra_status okra_group_run_(okra_context *ctx, okra_task_ *task, okra_cell_ *const *cells,
                            size_t count)
{
    okra_status st = OKRA_OK;
    okra_lambda_group_ g = {.task = task, .cells = cells, .count = count};
    bool closed = false;
    if (task->source->links) {
        TRY(okra_links_run_(ctx, task, cells, count));
        goto means;
    }
    TRY(open_group(&g));
    TRY(okra_group_has_closed_form_(&g, &closed));
    if (closed) {
        st = okra_group_closed_form_(ctx, &g);
        closed = st != OKRA_EUNSUPPORTED;
        TRY(closed ? st : OKRA_OK);
    }
    task->closed = closed;
    FAIL_IF(task->cv == OKRA_CV_GCV_ && (!closed || isnan(cells[0]->gcv)),
            OKRA_EUNSUPPORTED,
            "generalised cross-validation is defined for ridge with the operator "
            "identity, plain outputs and the metric feature-loss; use loo or kfold");
    FAIL_IF(task->outputs && !closed, OKRA_EUNSUPPORTED,
            "per-output needs left-out predictions in closed form, which these settings "
            "do not have: kernels with center, missing values, and folds of low rank");
    if (!closed) {
        TRY(okra_group_refit_all_(ctx, &g));
    }
means:
    for (size_t l = 0; l < count; l++) {
        summarise(task, cells[l]);
    }
done:
    close_group(&g);
    return st;
}
