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
#include "model/model.h"
#include "okra/more/conformal.h"
#include "okra/more/objects.h"
#include "okra/more/update.h"

/* One update. */
typedef struct update_job {
    okra_context *ctx;
    const okra_model *model;
    okra_update_request request;
    okra_int *removed, *order; /* ascending; labelled rows that stay */
    okra_int kept;
    okra_data *new_x, *new_y; /* without pairs of weight 0, which are none */
    okra_data *aligned[3];    /* x, y and removed-x, columns as the model has them */
    okra_data *x, *y;
    okra_options *options;
    okra_training_ *training;
    okra_store_ *store;
    okra_change_ change;
} update_job;

/* ---- which rows ---- */

static okra_status sort_rows(update_job *j)
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
static okra_status join(const okra_data *data, const okra_int *order, okra_int count,
                        const okra_data *more, okra_data **out)
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

static okra_status check(const update_job *j)
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
static okra_status align(update_job *j)
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
static okra_status make_data(update_job *j)
{
    const okra_training_ *t = j->model->training;
    okra_int n = t->y->n, extra = t->x->n - n;
    FREED_BY(okra_data_drop_) okra_data *pairs = NULL, *others = NULL;
    CHK(join(t->y, j->order, j->kept, j->request.y, &j->y));
    CHK(join(t->x, j->order, j->kept, j->request.x, &pairs));
    if (extra > 0) {
        CHK(okra_data_some_(t->x, n, extra, extra, &others));
        CHK(okra_data_concat(pairs, others, &j->x));
    } else {
        j->x = okra_data_retain(pairs);
    }
    return OKRA_OK;
}

/* ---- a new fit ---- */

static okra_status refit(update_job *j, const okra_problem_ *problem, const char *file)
{
    okra_store_drop_(&j->store);
    REFUSE_IF(
        file && !(problem->A && okra_model_keeps_(j->model->method, file)),
        OKRA_EUNSUPPORTED,
        "update: the model must be fitted anew (%s), and its option %s names a file; "
        "a model opens no files: use fit on all pairs",
        j->change.why, file);
    CHK(okra_store_create_(&j->store));
    CHK(okra_method_fit_(j->ctx, j->model->method, problem, j->options, j->store));
    CHK(okra_low_put_(j->ctx, j->training->bound_x, "x", 1, &j->store));
    return okra_low_put_(j->ctx, j->training->bound_y, "y", 1, &j->store);
}

okra_status okra_update_common_(const okra_store_ *from, okra_store_ *to)
{
    static const char *const numbers[] = {"twin.hsic-before", "twin.hsic-after",
                                          "align.value"};
    static const char *const texts[] = {"decode", "align.kernels", "align.weights"};
    double value;
    for (int k = 0; k < 3; k++) {
        const char *text = okra_store_get_text_(from, texts[k]);
        if (okra_store_get_number_(from, numbers[k], &value)) {
            CHK(okra_store_put_number_(to, numbers[k], value));
        }
        CHK(text ? okra_store_put_text_(to, texts[k], text) : OKRA_OK);
    }
    return OKRA_OK;
}

/* Why kernels of this model cannot keep their statistics; NULL: they can. */
static const char *moving(const update_job *j)
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

static okra_status change_all(update_job *j)
{
    const char *file = NULL, *why = moving(j);
    const okra_method_ *method = j->model->method;
    CHK(okra_model_options_(j->model, &j->options, &file));
    CHK(okra_training_again_(j->ctx, j->model, j->x, j->y, why, &j->training));
    okra_problem_ problem = okra_training_problem_(j->training, j->x, NULL);
    CHK(okra_matrix_to_host_(j->ctx, j->model->store, true));
    okra_solution_ fitted;
    okra_model_solution_(j->model, &fitted);
    problem.A =
        fitted.A.rows == problem.d && fitted.A.cols == problem.d ? fitted.A.p : NULL;
    j->change = (okra_change_){.old = j->model->store,
                               .problem = &problem,
                               .removed = j->removed,
                               .removed_count = j->request.remove_count,
                               .added = j->request.y ? j->request.y->n : 0,
                               .why = why ? why : "the method has no other way"};
    CHK(okra_store_create_(&j->store));
    if (!why && method->solution == okra_solution_open_) {
        CHK(okra_solution_update_(j->ctx, &j->change, j->store));
    }
    if (!j->change.done) {
        CHK(refit(j, &problem, file));
    }
    return okra_update_common_(j->model->store, j->store);
}

/* ---- models of low rank ----
 *
 * They hold a basis in place of their training inputs, and sums over the pairs
 * (solve/sum.c), to which moments of the pairs that come are added; those of pairs that
 * go are subtracted, for which their inputs must be given again. */

/* The pairs of one side, as a problem on the maps of `whole`. */
static okra_problem_ part(const okra_problem_ *whole, const okra_data *x,
                          const okra_data *y)
{
    okra_problem_ p = *whole;
    p.n = y->n;
    p.unlabelled = 0;
    p.x = x;
    p.y = y;
    p.features = whole->features ? y->values : NULL;
    p.features_ld = y->ld;
    p.weights = y->weights;
    return p;
}

static okra_status check_low(const update_job *j)
{
    const okra_update_request *r = &j->request;
    const okra_training_ *t = j->model->training;
    okra_solution_ fitted;
    okra_model_solution_(j->model, &fitted);
    REFUSE_IF(!fitted.has_moments, OKRA_EUNSUPPORTED,
              "update: the model is of low rank and holds a basis, not its training "
              "inputs: fit it with --keep-moments, or fit anew");
    REFUSE_IF(r->remove_count > 0 && !r->removed_x, OKRA_EARG,
              "update: a model of low rank holds no training inputs: give those of the "
              "rows that go as well (removed-x)");
    REFUSE_IF(r->removed_x && r->removed_x->n != r->remove_count, OKRA_ESHAPE,
              "update: %lld rows are to go, and there are inputs of %lld",
              (long long)r->remove_count, (long long)r->removed_x->n);
    if (r->y && (r->y->kind != t->y->kind || r->y->d != t->y->d)) {
        char a[96], b[96];
        return okra_fail_(OKRA_ESHAPE, "y has %s, the model was fitted on %s",
                          okra_data_describe_(r->y, a, sizeof a),
                          okra_data_describe_(t->y, b, sizeof b));
    }
    REFUSE_IF(r->remove_count > 0 && t->map_y && t->map_y->index, OKRA_EUNSUPPORTED,
              "update: the basis of the outputs is among the training pairs, so that "
              "none can go");
    return OKRA_OK;
}

/* What is subtracted must be what was added. */
static okra_status check_removed(const update_job *j)
{
    const okra_update_request *r = &j->request;
    const okra_data *x = r->removed_x;
    okra_mat_ keys = okra_store_mat_(j->model->store, "moments.keys");
    for (okra_int i = 0; keys.p && i < r->remove_count; i++) {
        REFUSE_IF(okra_data_key_(x, i) != keys.p[r->remove[i]], OKRA_EARG,
                  "update: object %lld (counted from 0) of removed-x is not the input of "
                  "training pair %lld, which is to go",
                  (long long)i, (long long)r->remove[i]);
    }
    return OKRA_OK;
}

static okra_status change_moments(update_job *j)
{
    const okra_update_request *r = &j->request;
    const char *file = NULL;
    FREED_BY(okra_data_drop_) okra_data *gone = NULL;
    FREED_BY(okra_map_drop_) okra_map_ *map = NULL;
    okra_problem_ less = {0}, more = {0};
    CHK(check_low(j));
    j->x = okra_data_retain(j->model->training->x);
    CHK(join(j->model->training->y, j->order, j->kept, r->y, &j->y));
    CHK(okra_model_options_(j->model, &j->options, &file));
    CHK(okra_training_again_(j->ctx, j->model, j->x, j->y, false, &j->training));
    CHK(okra_map_load_over_(j->ctx, j->training->kx, j->training->x, j->model->store,
                            "basis", "kx", &map));
    okra_problem_ whole = okra_training_problem_(j->training, j->x, map);
    whole.unlabelled = 0; /* x is the basis */
    if (r->remove_count > 0) {
        CHK(check_removed(j));
        /* `removed_x` is in the order of the request, and so are these outputs */
        CHK(okra_data_take(j->model->training->y, r->remove, r->remove_count, &gone));
        less = part(&whole, r->removed_x, gone);
    }
    if (r->y) {
        more = part(&whole, r->x, r->y);
    }
    const okra_store_ *const stores[] = {j->model->store};
    okra_sum_ sum = {.stores = stores,
                     .count = 1,
                     .removed = j->removed,
                     .removed_count = r->remove_count,
                     .less = gone ? &less : NULL,
                     .more = r->y ? &more : NULL,
                     .whole = &whole};
    CHK(okra_store_create_(&j->store));
    CHK(okra_solution_sum_(j->ctx, &sum, j->options, j->store));
    CHK(okra_update_common_(j->model->store, j->store));
    j->change.drift = sum.drift;
    j->change.done = true;
    return OKRA_OK;
}

/* ---- all together ---- */

static okra_status change_model(update_job *j)
{
    if (j->model->method->linker) { /* its network would have other nodes than outputs */
        return okra_fail_(
            OKRA_EUNSUPPORTED,
            "update: method %s learns from a whole network: use link on the new one",
            j->model->method->name);
    }
    REFUSE_IF(j->kept + (j->request.y ? j->request.y->n : 0) == 0, OKRA_ESHAPE,
              "update: no training pairs would be left");
    if (okra_model_low_(j->model)) {
        CHK(change_moments(j));
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

static void clear(update_job *j)
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
    okra_store_free_(j->store);
}

okra_status okra_model_update(okra_context *context, const okra_model *model,
                              const okra_update_request *request,
                              okra_update_report *report, okra_model **out)
{
    NOT_NULL(model, request, out);
    FREED_BY(clear) update_job j = {.ctx = context, .model = model};
    FREED_BY(okra_model_drop_) okra_model *made = NULL;
    okra_update_report known = {OKRA_SIZED(okra_update_report)};
    SIZED(request, &j.request);
    SIZED(report, &known);
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
    CHK(okra_model_assemble_(j.training, model->method, j.options, NULL, j.store, &made));
    j.store = NULL;
    if (model->calibration_x) { /* unseen before, unseen now */
        CHK(okra_model_set_calibration(made, model->calibration_x, model->calibration_y));
    }
    *out = TAKE(made);
    known.added = j.request.y ? j.request.y->n : 0;
    known.removed = j.request.remove_count;
    known.how = !j.change.done           ? OKRA_UPDATE_REFIT
                : okra_model_low_(model) ? OKRA_UPDATE_MOMENTS
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
