/*
 * update.c: a model whose training pairs come and go.
 *
 * The new training set are the pairs of the model, less those that are removed, then the
 * new ones. Kernels keep the statistics of the first fit (standardize, the basis of low
 * rank, what a file said); those of `center` are means over the training set itself, so
 * that such a model is fitted anew. A method that can changes what it keeps (its hook
 * `update`); for all others, and where that is not possible, there is a new fit on the
 * new training set with the options of the model, and the report says why.
 *
 * No file is opened because the model names one: a fit that would need one is refused.
 */
#include "model/update.h"
#include "okra/conformal.h"

#include <stdlib.h>
#include <string.h>

/* ---- which rows ---- */

static okra_status sort_rows(okra_update_job_ *j)
{
    okra_int n = j->model->training->y->n, count = j->request.remove_count;
    MAKE(j->removed, count);
    MAKE(j->order, n);
    for (okra_int i = 0; i < count; i++) {
        j->removed[i] = j->request.remove[i];
        REFUSE_IF(j->removed[i] < 0 || j->removed[i] >= n, OKRA_EARG,
                  "update: row %lld is to go, expected one of the %lld training pairs, "
                  "counted from 0",
                  (long long)j->removed[i], (long long)n);
    }
    if (count > 1) {
        qsort(j->removed, (size_t)count, sizeof *j->removed, okra_by_int_);
    }
    okra_int q = 0;
    for (okra_int i = 0; i < n; i++) {
        if (q < count && j->removed[q] == i) {
            q++;
            REFUSE_IF(q < count && j->removed[q] == i, OKRA_EARG,
                      "update: row %lld is to go twice", (long long)i);
        } else {
            j->order[j->kept++] = i;
        }
    }
    return OKRA_OK;
}

/* ---- the new training set ---- */

/* The rows of `order`, then `more` (or NULL). */
okra_status okra_update_join_(const okra_data *data, const okra_int *order,
                              okra_int count, const okra_data *more, okra_data **out)
{
    FREED_BY(okra_data_drop_) okra_data *kept = NULL;
    if (count == data->n) { /* all of them, as they are */
        kept = okra_data_retain(data);
    } else {
        CHK(okra_data_take(data, order, count, &kept));
    }
    if (more) {
        CHK(okra_data_concat(kept, more, out));
    } else {
        *out = okra_data_retain(kept);
    }
    return OKRA_OK;
}

static okra_status check(const okra_update_job_ *j)
{
    const okra_update_request *r = &j->request;
    const okra_training_ *t = j->model->training;
    char a[96], b[96];
    REFUSE_IF(!r->x != !r->y, OKRA_EARG,
              "update: %s is missing: inputs and outputs go "
              "together",
              r->x ? "y" : "x");
    REFUSE_IF(!r->x && r->remove_count == 0, OKRA_EARG,
              "update: there is nothing to add and nothing to "
              "remove");
    REFUSE_IF(r->x && r->x->n != r->y->n, OKRA_ESHAPE,
              "x has %s, y has %s; expected as many of each",
              okra_data_describe_(r->x, a, sizeof a),
              okra_data_describe_(r->y, b, sizeof b));
    REFUSE_IF(okra_data_holds_gram_(t->x) || okra_data_holds_gram_(t->y),
              OKRA_EUNSUPPORTED,
              "update: the model was fitted on a Gram matrix that was "
              "computed before, whose columns are the training objects: fit "
              "anew on the Gram matrix of all pairs");
    REFUSE_IF(r->x && (r->x->missing ||
                       (r->y->missing &&
                        !okra_method_takes_(j->model->method, OKRA_TAKES_MISSING_))),
              OKRA_EUNSUPPORTED, "%s has missing values, which method %s does not use",
              r->x->missing ? "x" : "y", j->model->method->name);
    REFUSE_IF(r->y && r->y->weights &&
                  !okra_method_takes_(j->model->method, OKRA_TAKES_WEIGHTS_),
              OKRA_EUNSUPPORTED, "y has weights, which method %s does not use",
              j->model->method->name);
    return OKRA_OK;
}

/* New rows with their columns as the model has them, by name. */
static okra_status align(okra_update_job_ *j)
{
    const okra_training_ *t = j->model->training;
    const okra_data **given[] = {&j->request.x, &j->request.y, &j->request.removed_x};
    for (int k = 0; k < 3; k++) {
        if (*given[k]) {
            CHK(okra_data_align(j->ctx, *given[k], k == 1 ? t->y : t->x, &j->aligned[k]));
            *given[k] = j->aligned[k];
        }
    }
    return OKRA_OK;
}

/* Inputs of the pairs, then those without outputs. */
static okra_status make_data(okra_update_job_ *j)
{
    const okra_training_ *t = j->model->training;
    OWNED okra_int *rest = NULL;
    okra_int n = t->y->n, extra = t->x->n - n;
    FREED_BY(okra_data_drop_) okra_data *pairs = NULL, *others = NULL;
    CHK(okra_update_join_(t->y, j->order, j->kept, j->request.y, &j->y));
    CHK(okra_update_join_(t->x, j->order, j->kept, j->request.x, &pairs));
    if (extra > 0) {
        MAKE(rest, extra);
        for (okra_int i = 0; i < extra; i++) {
            rest[i] = n + i;
        }
        CHK(okra_data_take(t->x, rest, extra, &others));
        CHK(okra_data_concat(pairs, others, &j->x));
    } else {
        j->x = okra_data_retain(pairs);
    }
    return OKRA_OK;
}

/* ---- a new fit ---- */

/* Both kernels as the model has them, closed to files. */
okra_status okra_update_training_(okra_update_job_ *j, bool anew)
{
    const okra_training_ *t = j->model->training;
    FREED_BY(okra_kernel_drop_) okra_kernel *kx = NULL, *ky = NULL;
    CHK(okra_kernel_parse_kept_(okra_kernel_text(t->kx), &kx));
    CHK(okra_kernel_parse_kept_(okra_kernel_text(t->ky), &ky));
    CHK(okra_training_create_(j->ctx, j->x, j->y, kx, ky, anew ? NULL : j->model->bag,
                              &j->training));
    kx = ky = NULL;
    return OKRA_OK;
}

static okra_status refit(okra_update_job_ *j, const okra_problem_ *problem,
                         const char *file)
{
    okra_bag_free_(j->bag);
    j->bag = NULL;
    REFUSE_IF(
        file && !(problem->A && okra_model_keeps_(j->model->method, file)),
        OKRA_EUNSUPPORTED,
        "update: the model must be fitted anew (%s), and its option %s names a file; "
        "a model opens no files: use fit on all pairs",
        j->change.why, file);
    CHK(okra_bag_create_(&j->bag));
    CHK(okra_method_fit_(j->ctx, j->model->method, problem, j->options, j->bag));
    CHK(okra_low_put_(j->ctx, j->training->bound_x, "x", 1, &j->bag));
    return okra_low_put_(j->ctx, j->training->bound_y, "y", 1, &j->bag);
}

/* Numbers and texts that belong to the kernels or the model as a whole. */
okra_status okra_update_common_(const okra_bag_ *from, okra_bag_ *to)
{
    static const char *const numbers[] = {"twin.hsic-before", "twin.hsic-after",
                                          "align.value"};
    static const char *const texts[] = {"decode", "align.kernels", "align.weights"};
    double value;
    for (int k = 0; k < 3; k++) {
        const char *text = okra_bag_get_text_(from, texts[k]);
        if (okra_bag_get_number_(from, numbers[k], &value)) {
            CHK(okra_bag_put_number_(to, numbers[k], value));
        }
        CHK(text ? okra_bag_put_text_(to, texts[k], text) : OKRA_OK);
    }
    return OKRA_OK;
}

/* Why kernels of this model cannot keep their statistics; NULL: they can. */
static const char *moving(const okra_update_job_ *j)
{
    const okra_training_ *t = j->model->training;
    bool centers = okra_kernel_means_(t->kx) || okra_kernel_means_(t->ky);
    bool follows = okra_kernel_follows_(t->kx) || okra_kernel_follows_(t->ky);
    bool low = okra_kernel_low_(t->kx) || okra_kernel_low_(t->ky);
    return centers   ? "a kernel is centred over the training set"
           : follows ? "a kernel learns from the training set"
           : low || (t->map_y && j->request.remove_count > 0)
               ? "a kernel of low rank has its basis among the pairs"
               : NULL;
}

static okra_status change_all(okra_update_job_ *j)
{
    okra_status st = OKRA_OK;
    const char *file = NULL, *why = moving(j);
    const okra_method_ *method = j->model->method;
    TRY(okra_model_options_(j->model, &j->options, &file));
    TRY(okra_update_training_(j, why != NULL));
    okra_problem_ problem = okra_training_problem_(j->training, j->x, NULL);
    TRY(okra_large_settle_(j->ctx, j->model->bag, true));
    okra_mat_ A = okra_bag_mat_(j->model->bag, "operator.A");
    problem.A = A.rows == problem.d && A.cols == problem.d ? A.p : NULL;
    j->change = (okra_change_){.old = j->model->bag,
                               .problem = &problem,
                               .removed = j->removed,
                               .removed_count = j->request.remove_count,
                               .added = j->request.y ? j->request.y->n : 0,
                               .why = why ? why : "the method has no other way"};
    TRY(okra_bag_create_(&j->bag));
    if (!why && method->solution == okra_solution_open_) {
        TRY(okra_solution_update_(j->ctx, &j->change, j->bag));
    }
    if (!j->change.done) {
        TRY(refit(j, &problem, file));
    }
    TRY(okra_update_common_(j->model->bag, j->bag));
done:
    j->change.problem = NULL;
    return st;
}

/* ---- all together ---- */

static okra_status change_model(okra_update_job_ *j)
{
    if (j->model->method->linker) { /* its network would have other nodes than outputs */
        return okra_fail_(
            OKRA_EUNSUPPORTED,
            "update: method %s learns from a whole network: use link on the new one",
            j->model->method->name);
    }
    REFUSE_IF(j->kept + (j->request.y ? j->request.y->n : 0) == 0, OKRA_ESHAPE,
              "update: no training pairs would be left");
    if (okra_update_is_low_(j->model)) {
        CHK(okra_update_low_(j));
    } else if (j->request.removed_x) {
        return okra_fail_(
            OKRA_EARG, "update: removed-x is for models of low rank; this one holds its "
                       "training inputs");
    } else {
        CHK(make_data(j));
        CHK(change_all(j));
    }
    return OKRA_OK;
}

static void clear(okra_update_job_ *j)
{
    FREE(j->removed, j->order);
    for (int k = 0; k < 3; k++) {
        okra_data_free(j->aligned[k]);
    }
    okra_data_free(j->new_x);
    okra_data_free(j->new_y);
    okra_data_free(j->x);
    okra_data_free(j->y);
    okra_options_free(j->options);
    okra_training_free_(j->training);
    okra_bag_free_(j->bag);
}

okra_status okra_model_update(okra_context *context, const okra_model *model,
                              const okra_update_request *request,
                              okra_update_report *report, okra_model **out)
{
    NOT_NULL(out);
    FREED_BY(clear) okra_update_job_ j = {.ctx = context, .model = model};
    FREED_BY(okra_model_drop_) okra_model *made = NULL;
    okra_update_report known = {OKRA_SIZED(okra_update_report)};
    NOT_NULL(model);
    NOT_NULL(request);
    SIZED(request, &j.request);
    if (report) {
        SIZED(report, &known);
    }
    REFUSE_IF(j.request.remove_count < 0 ||
                  (j.request.remove_count > 0 && !j.request.remove),
              OKRA_EARG, "okra_model_update: there are %lld rows to remove, and no list",
              (long long)j.request.remove_count);
    CHK(check(&j));
    CHK(align(&j));
    if (j.request.x) {
        CHK(okra_weights_drop_(j.request.x, j.request.y, &j.new_x, &j.new_y));
        j.request.x = j.new_x;
        j.request.y = j.new_y;
        CHK(okra_model_meets_calibration_(context, model, j.new_x, j.new_y));
    }
    CHK(sort_rows(&j));
    CHK(change_model(&j));
    CHK(okra_model_assemble_(j.training, model->method, j.options, NULL, j.bag, &made));
    j.bag = NULL;
    if (model->calibration_x) { /* unseen before, unseen now */
        CHK(okra_model_set_calibration(made, model->calibration_x, model->calibration_y));
    }
    *out = TAKE(made);
    known.added = j.request.y ? j.request.y->n : 0;
    known.removed = j.request.remove_count;
    known.how = !j.change.done               ? OKRA_UPDATE_REFIT
                : okra_update_is_low_(model) ? OKRA_UPDATE_MOMENTS
                                             : OKRA_UPDATE_FACTOR;
    known.drift = j.change.done ? j.change.drift : 0;
    known.why = j.change.done ? NULL : j.change.why;
    if (report) {
        size_t size = report->size;
        memcpy(report, &known, OKRA_MIN_(size, sizeof known));
        report->size = size;
    }
    return OKRA_OK;
}
