/*
 * select.c: the whole of a selection: what is asked is checked, then one search, or for
 * nested cross-validation one search on the training pairs of every outer fold, whose
 * choice is fitted on them and measured on the fold; and one on all pairs, which gives
 * the settings to use.
 *
 * Pairs as they are compared:
 *   weights        a pair of weight 0 is no pair
 *   copies         would stay while a pair is left out: equal inputs form a group
 *   near copies    rows of one person, one molecule: the same
 *   relative-loss  feature-loss of outputs over their deviation s_j and the root of their
 *                  number: mean_j |y_j - h_j|^2 / s_j^2, of outputs that vary: the unit
 *                  of one changes nothing else
 */
#include "select/select.h"
#include "okra/more/select.h"
#include "okra/more/traits.h"

/* ---- pairs as they are compared ---- */

void okra_prepared_clear_(okra_prepared_ *p)
{
    okra_data_free(p->x);
    okra_data_free(p->y);
    for (int k = 0; k < 3; k++) {
        okra_data_free(p->keys[k]);
    }
}

/* Pairs of weight 0 leave x, y and what the request says of pairs. */
static okra_status prepare_weights(const okra_data *x, const okra_data *y,
                                   okra_select_request *r, okra_prepared_ *p)
{
    const okra_data **keys[] = {&r->folds, &r->groups, &r->strata};
    OWNED okra_int *index = NULL;
    okra_int count = 0;
    CHK(okra_weights_drop_(x, y, &p->x, &p->y));
    if (p->y->n == y->n) {
        return OKRA_OK;
    }
    CHK(okra_weights_positive_(y, y->n, &index, &count));
    for (int k = 0; k < 3; k++) {
        if (*keys[k] && (*keys[k])->n == y->n) { /* else it is refused later */
            CHK(okra_data_take(*keys[k], index, count, &p->keys[k]));
            *keys[k] = p->keys[k];
        }
    }
    return OKRA_OK;
}

/* ---- copies ---- */

okra_status okra_prepare_copies_(const okra_data *x, const okra_data *y, okra_data **out,
                                 okra_int *units)
{
    enum { FEW = 20, SHARE = 50 };
    okra_int n = y->n, different = 0, copies = 0;
    OWNED okra_int *of_x = NULL, *of_y = NULL;
    *units = 0;
    if (x->n != n || x->kind == OKRA_GRAM || y->kind == OKRA_GRAM || n < FEW) {
        return OKRA_OK;
    }
    MAKE(of_x, n);
    MAKE(of_y, n);
    CHK(okra_data_same_(&x, 1, of_x));
    CHK(okra_data_same_(&y, 1, of_y));
    for (okra_int i = 0; i < n; i++) {
        different += of_x[i] == i;
        copies += of_x[i] != i && of_y[i] == of_y[of_x[i]];
    }
    /* few inputs that differ are categories: that they come again is to be expected */
    if (copies > n / SHARE && different >= FEW && different >= n / 10) {
        CHK(okra_data_labels(of_x, n, NULL, n, out));
        *units = different;
    }
    return OKRA_OK;
}

/* ---- outputs in their own units ---- */

/* 1 / (s_j sqrt(d)), 0 of a column that varies by rounding alone. */
static double factor(const okra_data *y, okra_int j)
{
    double mean = 0, square = 0, count = 0;
    for (okra_int i = 0; i < y->n; i++) { /* Welford: NaN is missing */
        double v = y->values[i * y->ld + j], before = v - mean, u = okra_weight_(y, i);
        if (!isnan(v)) {
            count += u;
            mean += u * before / count;
            square += u * before * (v - mean);
        }
    }
    double s = count > 0 ? sqrt(square / count) : 0;
    bool varies = s > (double)y->n * DBL_EPSILON * fabs(mean) && isfinite(s);
    return varies ? 1 / s / sqrt((double)y->d) : 0;
}

/* Takes the place of p->y, with its weights. */
static okra_status replace(okra_data *made, okra_prepared_ *p)
{
    okra_data *before = p->y;
    if (before->weights) {
        CHK(okra_data_weigh(made, before->weights, before->n, &p->y));
    } else {
        p->y = okra_data_retain(made);
    }
    okra_data_free(before);
    return OKRA_OK;
}

okra_status okra_prepare_relative_(const okra_method_ *method, const okra_options *o,
                                   okra_prepared_ *p)
{
    const okra_data *y = p->y;
    FREED_BY(okra_data_drop_) okra_data *made = NULL;
    OWNED double *values = NULL;
    okra_int area = 0;
    if (!okra_metric_has(okra_options_get(o, "metric"), OKRA_METRIC_RELATIVE)) {
        return OKRA_OK;
    }
    REFUSE_IF(!okra_rule_relative_(method, o, y), OKRA_EARG,
              "metric relative-loss is of ridge on dense vectors whose "
              "coordinates are learned apart: operator identity or diagonal, "
              "ky linear, no low rank of outputs; r2 and arrmse are of all");
    CHK(okra_area_(y->n, y->d, sizeof *values, &area));
    MAKE(values, area);
    for (okra_int j = 0; j < y->d; j++) {
        double f = factor(y, j);
        for (okra_int i = 0; i < y->n; i++) {
            double v = y->values[i * y->ld + j];
            values[i * y->d + j] = f > 0 || isnan(v) ? f * v : 0;
        }
    }
    CHK(okra_data_adopt_dense_(&values, y->n, y->d, y->source, &made));
    made->missing = y->missing;
    return replace(made, p);
}

/* Classes compared by feature-loss under zero-one, which is <e_y, e_y'>: as rows e_y with
 * n d numbers a prediction in the place of n^2. `folds`: nobody asked for these, and one
 * may lack a class. */
static okra_status prepare_classes(const okra_method_ *method, const okra_options *o,
                                   okra_prepared_ *p, bool folds, bool *out)
{
    const okra_data *y = p->y;
    FREED_BY(okra_data_drop_) okra_data *made = NULL;
    OWNED double *values = NULL;
    okra_int area = 0;
    *out = y->kind == OKRA_LABELS && method->leave && y->d <= y->n / 2 &&
           okra_rule_apart_(method, o) && okra_rule_closed_(method, o, y) &&
           strcmp(okra_options_get(o, "ky"), "zero-one") == 0 &&
           strcmp(okra_options_get(o, "metric"), "feature-loss") == 0 &&
           (folds || strcmp(okra_options_get(o, "cv"), "loo") == 0);
    if (!*out) {
        return OKRA_OK;
    }
    CHK(okra_area_(y->n, y->d, sizeof *values, &area));
    ZMAKE(values, area);
    for (okra_int i = 0; i < y->n; i++) {
        values[i * y->d + y->codes[i]] = 1;
    }
    CHK(okra_data_adopt_dense_(&values, y->n, y->d, y->source, &made));
    return replace(made, p);
}

/* ---- searches ---- */

static void clear_task(okra_task_ *task)
{
    okra_folds_free_(&task->folds);
}

static okra_status search(okra_job_ *j, const okra_int *index, okra_int n, okra_int outer,
                          okra_found_ *found)
{
    FREED_BY(clear_task)
    okra_task_ task = {.source = &j->source,
                       .space = j->out->space,
                       .index = index,
                       .cv = j->cv.kind,
                       .outputs = j->fields.per_output,
                       .metric = j->fields.metric};
    okra_cell_search_ s = {.task = &task,
                           .budget = j->fields.budget,
                           .refine = j->fields.refine,
                           .loss = j->scorer.loss,
                           .edges = j->edges && outer < 0,
                           .own = j->own,
                           .halve = !j->edges && outer < 0 &&
                                    j->fields.effort != OKRA_THOROUGH_,
                           .seed = okra_context_seed(j->ctx),
                           .journal = j->journal,
                           .outer = outer,
                           .before = j->before,
                           .total = j->total};
    CHK(okra_job_folds_(j, index, n, outer, &task.folds));
    CHK(okra_search_run_(j->ctx, &s, found));
    j->before = s.before;
    j->out->values = okra_task_values_(&task);
    return OKRA_OK;
}

/* The chosen settings fitted on the training pairs of an outer fold, measured on it. */
static okra_status measure(okra_job_ *j, const okra_folds_ *folds, okra_int fold,
                           okra_outer_ *outer)
{
    const okra_cell_ *best = &outer->found.cells[outer->found.best];
    okra_cell_ cell = {
        .error = (double)NAN, .gcv = (double)NAN, .threshold = best->threshold};
    okra_cell_ *only = &cell;
    OWNED double *values = NULL;
    okra_folds_ one = {.n = folds->n, .parts = 2, .repeats = 1};
    OWNS(&one.part);
    okra_task_ task = {.source = &j->source,
                       .space = j->out->space,
                       .cv = OKRA_CV_KFOLD_,
                       .metric = j->fields.metric};
    const okra_int *part = folds->part + fold / folds->parts * folds->n;
    MAKE(one.part, folds->n);
    for (okra_int i = 0; i < folds->n; i++) {
        bool in = part[i] == fold % folds->parts;
        one.part[i] = in != folds->train_on_one ? 0 : 1;
    }
    MAKE(values, 2);
    cell.values = values;
    cell.setting = best->setting;
    task.folds = one;
    CHK(okra_group_fold_(j->ctx, &task, &only, 1, 0));
    outer->error = values[0];
    return OKRA_OK;
}

static okra_status run_outer(okra_job_ *j, const okra_folds_ *folds, okra_int fold)
{
    OWNED okra_int *train = NULL, *test = NULL;
    okra_outer_ *outer = &j->out->outer[fold];
    char name[32];
    double value = (double)NAN;
    okra_cell_ kept = {.values = &value, OKRA_CELL_UNKNOWN_};
    MAKE(train, folds->n);
    MAKE(test, folds->n);
    okra_folds_get_(folds, fold, train, &outer->trained, test, &outer->tested);
    CHK(search(j, train, outer->trained, fold, &outer->found));
    snprintf(name, sizeof name, "outer %lld", (long long)outer->found.best);
    if (okra_journal_find_(j->journal, fold, name, 1, &kept)) {
        outer->error = value;
    } else {
        CHK(measure(j, folds, fold, outer));
        value = outer->error;
        CHK(okra_journal_add_(j->journal, fold, name, 1, &kept));
        CHK(okra_journal_save_(j->journal, NULL));
    }
    return OKRA_OK;
}

static okra_status nested(okra_job_ *j)
{
    FREED_BY(okra_folds_free_) okra_folds_ folds = {0};
    okra_selection *out = j->out;
    CHK(okra_folds_create_(&j->keys, NULL, j->source.n, j->cv.outer, j->fields.repeats,
                           okra_context_seed(j->ctx), &folds));
    folds.train_on_one = j->fields.train_on_one;
    REFUSE_IF(!folds.part, OKRA_EARG,
              "%lld outer folds of %lld pairs leave one pair each: take fewer",
              (long long)j->cv.outer, (long long)j->source.n);
    CHK(okra_job_check_folds_(j, &folds));
    okra_int count = okra_folds_count_(&folds);
    j->total *= count + 1;
    ZMAKE(out->outer, count);
    out->outer_count = count;
    for (okra_int f = 0; f < count; f++) {
        CHK(run_outer(j, &folds, f));
    }
    return OKRA_OK;
}

static okra_status run(okra_job_ *j, const okra_options *options)
{
    const okra_select_request *r = j->source.request;
    okra_selection *out = j->out;
    double begin = okra_now_();
    uint64_t mark = okra_fingerprint_(options, &j->source, okra_context_seed(j->ctx));
    CHK(okra_context_same_(j->ctx, "data and options of a selection", mark));
    if (j->cv.outer == 0) {
        CHK(okra_job_check_folds_(j, NULL));
    }
    CHK(okra_journal_open_(j->ctx, r->resume, mark, &j->journal));
    j->total = okra_search_cells_(out->space, j->fields.budget);
    if (j->cv.outer > 0) {
        CHK(nested(j));
    }
    CHK(search(j, NULL, j->source.n, -1, &out->found));
    if (j->fields.per_output) {
        CHK(okra_outputs_choose_(&j->source, out));
    }
    CHK(okra_cut_text_(okra_space_decode_(out->space),
                       out->found.cells[out->found.best].threshold, &out->decode));
    out->n = j->source.n;
    out->loss = j->scorer.loss;
    out->links = j->source.links != NULL;
    out->seconds = okra_now_() - begin;
    return okra_selection_report_(out);
}

/* As predict does: where no decoder is named, the vector itself if it is explicit. */
static okra_status open_decoder(okra_job_ *j)
{
    okra_space_ *space = j->out->space;
    FREED_BY(okra_kernel_drop_) okra_kernel *ky = NULL;
    FREED_BY(okra_setting_free_) okra_setting_ setting = {NULL, 0};
    double scale;
    if (space->decode_set || j->source.links || space->ky_varies ||
        j->source.request->candidates || j->source.y->kind != OKRA_DENSE ||
        okra_method_auto_(space->method)->decoder ||
        okra_method_compares_(space->method)->criterion) {
        return OKRA_OK;
    }
    CHK(okra_space_setting_(space, 0, &setting));
    const char *text = okra_space_value_(space, &setting, "ky");
    if (!text || !strstr(text, "auto")) {
        CHK(okra_kernel_parse(text ? text : "linear", &ky));
        if (okra_kernel_is_linear_(ky, &scale)) {
            space->decoder = okra_decoder_default_(true, false);
        }
    }
    return OKRA_OK;
}

static void job_clear(okra_job_ *j)
{
    okra_source_clear_(&j->source);
    okra_journal_free_(j->journal);
    okra_selection_free(j->out);
}

static okra_status select_on(okra_job_ *j, const okra_options *options,
                             okra_selection **out)
{
    const okra_select_request *request = j->source.request;
    ZMAKE(j->out, 1);
    CHK(okra_options_read(options, &okra_select_table_, &j->fields));
    j->out->cv = okra_strdup_(j->fields.cv);
    j->out->metric = okra_strdup_(j->fields.metric);
    GOT(j->out->cv && j->out->metric);
    CHK(okra_space_create_(options, &j->out->space));
    for (size_t a = 0; a < j->out->space->count; a++) {
        okra_axis_ *axis = &j->out->space->axes[a];
        axis->automatic = (j->kx_open && strcmp(axis->name, "kx") == 0) ||
                          (j->lambda_open && strcmp(axis->name, "lambda") == 0);
    }
    CHK(open_decoder(j));
    CHK(okra_job_check_(j, options));
    okra_status st = run(j, options);
    if (st == OKRA_ECANCELLED && request->keep && j->journal &&
        okra_journal_count_(j->journal) > 0) {
        /* the message of the cancelling goes if this fails */
        okra_status kept = okra_journal_save_(j->journal, request->keep);
        st = kept == OKRA_OK ? OKRA_ECANCELLED : kept;
    }
    if (st == OKRA_OK) {
        *out = TAKE(j->out);
    }
    return st;
}

/* Copies of pairs are left out together, or it is said that they should be. */
static okra_status part_copies(const okra_job_ *j, okra_select_request *r, bool open,
                               const okra_options *o, okra_prepared_ *p, okra_int *units)
{
    FREED_BY(okra_data_drop_) okra_data *equal = NULL;
    bool keys = r->groups || r->folds || r->strata, set = okra_options_is_set(o, "cv");
    *units = keys ? r->groups ? r->groups->d : j->source.n : 0;
    if (keys || (set && strcmp(okra_options_get(o, "cv"), "loo") != 0)) {
        return OKRA_OK;
    }
    if (open && okra_rule_ranked_(j->source.y, o)) {
        CHK(okra_ranks_groups_(j->source.y, &p->keys[1], units));
        r->groups = p->keys[1];
        return OKRA_OK;
    }
    CHK(okra_prepare_copies_(j->source.x, j->source.y, &equal, units));
    if (!equal && open && !set && j->source.x->n == j->source.y->n) {
        CHK(okra_inspect_near_(j->source.x, &equal, units));
        if (equal) {
            okra_warn_(j->ctx,
                       "of %lld pairs the inputs lie in %lld groups of near copies (rows "
                       "of one person, one thing?): settings are compared by leaving "
                       "groups out; tests should leave them out too",
                       (long long)j->source.n, (long long)*units);
        }
    }
    if (equal && open && !set) {
        r->groups = p->keys[1] = equal;
        equal = NULL;
    } else if (equal) {
        okra_warn_(j->ctx,
                   "of %lld pairs only %lld have different inputs: without a pair its "
                   "copies are still learned from, so that a lambda too small looks "
                   "best; kfold with groups leaves equal inputs out together",
                   (long long)j->source.n, (long long)*units);
    }
    return OKRA_OK;
}

/* Rules in place of `auto`, and how settings that nobody wrote are compared; p: NULL of
 * links. */
static okra_status fill(okra_job_ *j, const okra_options *options, okra_select_request *r,
                        okra_prepared_ *p, okra_options **out)
{
    const okra_method_ *method = NULL;
    FREED_BY(okra_options_drop_) okra_options *filled = NULL;
    bool links = j->source.links != NULL;
    okra_int units = 0;
    j->kx_open =
        !j->edges || okra_rule_auto_(options, "kx"); /* or automatic.c filled it */
    j->lambda_open = !j->edges || okra_rule_auto_(options, "lambda");
    j->own = !j->edges || !okra_options_is_set(options, "refine");
    CHK(okra_rules_fill_(j->ctx, j->source.x, j->source.y, options, links, &filled));
    CHK(okra_method_choose_(okra_options_get(filled, "method"), &method));
    bool open = j->kx_open || j->lambda_open;
    if (p) {
        CHK(part_copies(j, r, open, filled, p, &units));
    }
    if (open && j->edges && !links && j->source.n == 2) {
        okra_warn_(j->ctx, "select: without one of 2 pairs there is nothing to compare "
                           "settings by, so that the best is a guess");
    }
    if (open) {
        CHK(okra_rule_how_(method, j->source.y, j->source.n, units, filled));
    } else if ((r->folds || r->groups || r->strata) &&
               !okra_options_is_set(filled, "cv")) {
        char text[32];
        snprintf(text, sizeof text, "kfold:%lld",
                 (long long)OKRA_MIN_(units > 1 ? units : 5, 5));
        CHK(okra_options_set(filled, "cv", text));
    }
    if (p) {
        CHK(okra_prepare_relative_(method, filled, p));
        CHK(prepare_classes(method, filled, p, !j->edges, &j->source.classes));
        j->source.y = p->y;
    }
    *out = TAKE(filled);
    return OKRA_OK;
}

okra_status okra_select(okra_context *context, const okra_data *x, const okra_data *y,
                        const okra_options *options, const okra_select_request *request,
                        okra_selection **out)
{
    NOT_NULL(x, y, out);
    CHK(okra_outputs_known_(y));
    return okra_select_pairs_(context, x, y, options, request, true, out);
}

okra_status okra_select_pairs_(okra_context *context, const okra_data *x,
                               const okra_data *y, const okra_options *options,
                               const okra_select_request *request, bool edges,
                               okra_selection **out)
{
    FREED_BY(okra_options_drop_) okra_options *defaults = NULL, *filled = NULL;
    FREED_BY(okra_prepared_clear_) okra_prepared_ p = {0};
    okra_select_request known = {OKRA_SIZED(okra_select_request)};
    SIZED(request, &known);
    FREED_BY(job_clear) okra_job_ j = {.ctx = context, .edges = edges};
    CHK(prepare_weights(x, y, &known, &p));
    j.source = (okra_pairs_){
        .x = p.x, .y = p.y, .n = p.y->n, .inputs = p.x->n, .request = &known};
    CHK(options ? OKRA_OK : okra_select_options(&defaults));
    CHK(fill(&j, options ? options : defaults, &known, &p, &filled));
    return select_on(&j, filled, out);
}

okra_status okra_select_links(okra_context *context, const okra_link_task *task,
                              const okra_link_settings *settings,
                              const okra_options *options,
                              const okra_select_request *request, okra_selection **out)
{
    FREED_BY(okra_link_parts_clear_) okra_link_parts_ parts = {0};
    FREED_BY(okra_data_drop_) okra_data *x = NULL;
    FREED_BY(okra_options_drop_) okra_options *copy = NULL, *filled = NULL;
    okra_link_settings usual = {OKRA_SIZED(okra_link_settings), .beta = 1};
    okra_link_source_ links = {task, &usual};
    okra_select_request known = {OKRA_SIZED(okra_select_request)};
    NOT_NULL(task, out);
    SIZED(settings, &usual);
    SIZED(request, &known);
    CHK(options ? okra_options_copy(options, &copy) : okra_select_options(&copy));
    if (!okra_options_is_set(copy, "metric")) {
        CHK(okra_options_set(copy, "metric", "auc-roc"));
    }
    const okra_method_ *method = okra_method_find_(okra_options_get(copy, "method"));
    if (method && method->linker) {
        usual.norm = 0; /* it has a score of its own */
    }
    CHK(okra_link_parts_create_(context, task, NULL, &usual, &parts));
    okra_int n = task->labelled_count;
    CHK(okra_link_take_(context, task->x, parts.labelled, n, parts.labelled, n, &x));
    FREED_BY(job_clear)
    okra_job_ j = {.ctx = context,
                   .edges = true,
                   .source = {.x = x,
                              .y = parts.y,
                              .n = n,
                              .inputs = n,
                              .links = &links,
                              .request = &known}};
    CHK(fill(&j, copy, &known, NULL, &filled));
    return select_on(&j, filled, out);
}
