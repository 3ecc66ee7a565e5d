/*
 * select.c: the whole of a selection: what is asked is checked, then one search, or for
 * nested cross-validation one search on the training pairs of every outer fold, whose
 * choice is fitted on them and measured on the fold; and one on all pairs, which gives
 * the settings to use.
 */
#include "select/select.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

typedef struct job {
    okra_context *ctx;
    okra_pairs_ source;
    okra_select_fields_ fields;
    okra_cv_ cv;
    okra_keys_ keys;
    okra_scorer_ scorer;
    okra_journal_ *journal;
    okra_selection *out;
    okra_int before, total;
    bool edges, own;           /* as in okra_search_ */
    bool kx_open, lambda_open; /* `auto` */
} job;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- checks ---- */

static okra_status check_labels(const okra_data *labels, const char *what, okra_int n,
                                const okra_int **codes)
{
    char text[96];
    if (labels && (labels->kind != OKRA_LABELS || labels->n != n)) {
        return okra_fail_(OKRA_ESHAPE, "%s: found %s, expected labels of the %lld pairs",
                          what, okra_data_describe_(labels, text, sizeof text),
                          (long long)n);
    }
    *codes = labels ? labels->codes : NULL;
    return OKRA_OK;
}

/* A search over more cells than this is refused, with what it would cost. */
static okra_status check_size(const job *j)
{
    const okra_space_ *space = j->out->space;
    okra_int cells = okra_search_cells_(space, j->fields.budget);
    double n = (double)j->source.n, settings = (double)cells / (double)space->lambdas;
    if (cells <= OKRA_CELLS_MOST_) {
        return OKRA_OK;
    }
    /* about 10 n^3 flops for a decomposition at some 10 Gflop/s */
    double hours = (settings * 10 * n * n * n + (double)cells * n * n) / 1e10 / 3600;
    return okra_fail_(
        OKRA_EARG,
        "the grid has %lld cells, %.3g settings beside lambda: some %.2g hours of "
        "computing for %lld pairs. At most %d cells are evaluated: shorten the lists, or "
        "give a budget of cells to be drawn",
        (long long)cells, settings, hours, (long long)j->source.n, OKRA_CELLS_MOST_);
}

/* Labels that are to be told apart must be there in what is trained on. */
static okra_status check_classes(const job *j, const okra_folds_ *folds,
                                 const okra_int *index)
{
    const okra_data *y = j->source.y;
    OWNED okra_int *train = NULL, *test = NULL;
    okra_int n, m;
    if (j->source.links) {
        return okra_links_check_(&j->source, folds, index);
    }
    if (y->kind != OKRA_LABELS || !folds->part) {
        return OKRA_OK;
    }
    MAKE(train, folds->n);
    MAKE(test, folds->n);
    for (okra_int f = 0; f < okra_folds_count_(folds); f++) {
        bool several = false;
        okra_folds_get_(folds, f, train, &n, test, &m);
        for (okra_int i = 0; i < n && !several; i++) {
            okra_int a = index ? index[train[i]] : train[i];
            okra_int b = index ? index[train[0]] : train[0];
            several = y->codes[a] != y->codes[b];
        }
        if (!several) {
            return okra_fail_(
                OKRA_EARG,
                "fold %lld trains on %lld pairs of one class alone: stratify the folds "
                "or take fewer of them",
                (long long)f, (long long)n);
        }
    }
    return OKRA_OK;
}

static okra_status check(job *j, const okra_options *options)
{
    const okra_select_request *r = j->source.request;
    okra_int n = j->source.n;
    CHK(okra_cv_parse_(j->fields.cv, &j->cv));
    if (!j->source.links) {
        CHK(okra_method_check_pairs_(j->out->space->method, j->source.x, j->source.y));
    }
    CHK(check_labels(r->folds, "folds", n, &j->keys.folds));
    CHK(check_labels(r->groups, "groups", n, &j->keys.groups));
    CHK(check_labels(r->strata, "strata", n, &j->keys.strata));
    bool loo = j->cv.kind != OKRA_CV_KFOLD_ && j->cv.outer == 0;
    if (loo && (r->folds || r->groups || r->strata || j->fields.repeats > 1 ||
                j->fields.train_on_one)) {
        return okra_fail_(
            OKRA_EARG,
            "cv is %s, which leaves out every pair by itself: folds, groups, strata, "
            "repeats and train-on-one are for kfold and nested",
            j->fields.cv);
    }
    if (r->folds && (r->groups || r->strata || j->fields.repeats > 1)) {
        return okra_fail_(OKRA_EARG,
                          "the folds are given: groups, strata and repeats have no use");
    }
    if (okra_options_is_set(options, "top")) {
        return okra_fail_(OKRA_EARG, "top has no use in a selection");
    }
    CHK(okra_scorer_create_(j->fields.metric, &j->source, j->out->space, &j->scorer));
    if (j->cv.kind == OKRA_CV_GCV_ && !j->scorer.feature) {
        return okra_fail_(OKRA_EARG,
                          "generalised cross-validation estimates feature-loss, not %s",
                          j->fields.metric);
    }
    if (j->fields.per_output) {
        CHK(okra_outputs_check_(&j->source, j->out->space, &j->scorer, options, &j->cv));
    } else if (r->output_groups) {
        return okra_fail_(OKRA_EARG, "groups of outputs are for per-output");
    }
    return check_size(j);
}

/* ---- searches ---- */

/* Folds of a search over the pairs of `index`, the outer fold it belongs to or -1. */
static okra_status inner_folds(const job *j, const okra_int *index, okra_int n,
                               okra_int outer, okra_folds_ *out)
{
    okra_keys_ keys = j->keys;
    bool nested = j->cv.outer > 0;
    if (nested) {
        keys.folds = NULL; /* they are the outer ones */
    }
    if (j->cv.kind != OKRA_CV_KFOLD_) {
        keys = (okra_keys_){NULL, NULL, NULL};
    }
    okra_int parts = j->cv.kind == OKRA_CV_KFOLD_ ? j->cv.parts : n;
    okra_int repeats = nested ? 1 : j->fields.repeats;
    uint64_t seed = okra_context_seed(j->ctx) + 1000003u * (uint64_t)(outer + 1);
    okra_status st = okra_folds_create_(&keys, index, n, parts, repeats, seed, out);
    if (st == OKRA_OK) {
        out->train_on_one = j->fields.train_on_one && !nested;
        st = check_classes(j, out, index);
        if (st != OKRA_OK) {
            okra_folds_free_(out);
        }
    }
    return st;
}

/* The folds of every search are drawn once before any computing, so that those which
 * cannot be learned from are refused first. */
static okra_status check_folds(const job *j, const okra_folds_ *outer)
{
    okra_status st = OKRA_OK;
    okra_int *train = NULL, *test = NULL, n = j->source.n, m;
    okra_folds_ inner = {0};
    TRY(inner_folds(j, NULL, n, -1, &inner));
    if (outer) {
        TRY(check_classes(j, outer, NULL));
        ALLOC(train, n);
        ALLOC(test, n);
    }
    for (okra_int f = 0; outer && f < okra_folds_count_(outer); f++) {
        okra_folds_free_(&inner);
        okra_folds_get_(outer, f, train, &n, test, &m);
        st = inner_folds(j, train, n, f, &inner);
        if (st != OKRA_OK) {
            okra_message_prefix_("within outer fold %lld", (long long)f);
            goto done;
        }
    }
done:
    okra_folds_free_(&inner);
    okra_free_(train);
    okra_free_(test);
    return st;
}

static okra_status search(job *j, const okra_int *index, okra_int n, okra_int outer,
                          okra_found_ *found)
{
    okra_status st = OKRA_OK;
    okra_task_ task = {.source = &j->source,
                       .space = j->out->space,
                       .index = index,
                       .cv = j->cv.kind,
                       .outputs = j->fields.per_output,
                       .metric = j->fields.metric};
    okra_search_ s = {.task = &task,
                      .budget = j->fields.budget,
                      .refine = j->fields.refine,
                      .loss = j->scorer.loss,
                      .edges = j->edges && outer < 0,
                      .own = j->own,
                      .seed = okra_context_seed(j->ctx),
                      .journal = j->journal,
                      .outer = outer,
                      .before = j->before,
                      .total = j->total};
    TRY(inner_folds(j, index, n, outer, &task.folds));
    TRY(okra_search_run_(j->ctx, &s, found));
    j->before = s.before;
    j->out->values = okra_task_values_(&task);
done:
    okra_folds_free_(&task.folds);
    return st;
}

/* The chosen settings fitted on the training pairs of an outer fold, measured on it. */
static okra_status measure(job *j, const okra_folds_ *folds, okra_int fold,
                           okra_outer_ *outer)
{
    okra_status st = OKRA_OK;
    okra_cell_ cell = {.error = (double)NAN, .gcv = (double)NAN};
    okra_cell_ *only = &cell;
    double *values = NULL;
    okra_folds_ one = {.n = folds->n, .parts = 2, .repeats = 1};
    okra_task_ task = {.source = &j->source,
                       .space = j->out->space,
                       .cv = OKRA_CV_KFOLD_,
                       .metric = j->fields.metric};
    const okra_int *part = folds->part + fold / folds->parts * folds->n;
    ALLOC(one.part, folds->n);
    for (okra_int i = 0; i < folds->n; i++) {
        bool in = part[i] == fold % folds->parts;
        one.part[i] = in != folds->train_on_one ? 0 : 1;
    }
    ALLOC(values, 2);
    cell.values = values;
    cell.setting = outer->found.cells[outer->found.best].setting;
    task.folds = one;
    TRY(okra_group_fold_(j->ctx, &task, &only, 1, 0));
    outer->error = values[0];
done:
    okra_free_(one.part);
    okra_free_(values);
    return st;
}

static okra_status run_outer(job *j, const okra_folds_ *folds, okra_int fold)
{
    OWNED okra_int *train = NULL, *test = NULL;
    okra_outer_ *outer = &j->out->outer[fold];
    char name[32];
    double value = (double)NAN;
    okra_cell_ kept = {
        .values = &value, .mean = (double)NAN, .error = (double)NAN, .gcv = (double)NAN};
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

static okra_status nested(job *j)
{
    FREED_BY(okra_folds_free_) okra_folds_ folds = {0};
    okra_selection *out = j->out;
    CHK(okra_folds_create_(&j->keys, NULL, j->source.n, j->cv.outer, j->fields.repeats,
                           okra_context_seed(j->ctx), &folds));
    folds.train_on_one = j->fields.train_on_one;
    if (!folds.part) {
        return okra_fail_(
            OKRA_EARG, "%lld outer folds of %lld pairs leave one pair each: take fewer",
            (long long)j->cv.outer, (long long)j->source.n);
    }
    CHK(check_folds(j, &folds));
    okra_int count = okra_folds_count_(&folds);
    j->total *= count + 1;
    ZMAKE(out->outer, count);
    out->outer_count = count;
    for (okra_int f = 0; f < count; f++) {
        CHK(run_outer(j, &folds, f));
    }
    return OKRA_OK;
}

static okra_status run(job *j, const okra_options *options)
{
    const okra_select_request *r = j->source.request;
    okra_selection *out = j->out;
    double begin = now();
    uint64_t mark = okra_fingerprint_(options, &j->source, okra_context_seed(j->ctx));
    if (j->cv.outer == 0) {
        CHK(check_folds(j, NULL));
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
    out->n = j->source.n;
    out->loss = j->scorer.loss;
    out->links = j->source.links != NULL;
    out->seconds = now() - begin;
    return okra_selection_report_(out);
}

/* As predict does: where no decoder is named, the vector itself if it is explicit. */
static okra_status open_decoder(job *j)
{
    okra_space_ *space = j->out->space;
    FREED_BY(okra_kernel_drop_) okra_kernel *ky = NULL;
    FREED_BY(okra_setting_free_) okra_setting_ setting = {NULL, 0};
    double scale;
    if (space->decode_set || j->source.links || space->ky_varies ||
        j->source.request->candidates || j->source.y->kind != OKRA_DENSE ||
        space->method->decoder || space->method->criterion) {
        return OKRA_OK;
    }
    CHK(okra_space_setting_(space, 0, &setting));
    const char *text = okra_space_value_(space, &setting, "ky");
    if (!text || !strstr(text, "auto")) {
        CHK(okra_kernel_parse(text ? text : "linear", &ky));
        if (okra_kernel_is_linear_(ky, &scale)) {
            space->decoder = okra_decoder_find_("explicit");
        }
    }
    return OKRA_OK;
}

static okra_status select_on(job *j, const okra_options *options, okra_selection **out)
{
    okra_status st = OKRA_OK;
    const okra_select_request *request = j->source.request;
    ZALLOC(j->out, 1);
    TRY(okra_options_read(options, &okra_select_table_, &j->fields));
    j->out->cv = okra_strdup_(j->fields.cv);
    j->out->metric = okra_strdup_(j->fields.metric);
    if (!j->out->cv || !j->out->metric) {
        st = OKRA_EMEM;
        goto done;
    }
    TRY(okra_space_create_(options, &j->out->space));
    for (size_t a = 0; a < j->out->space->count; a++) {
        okra_axis_ *axis = &j->out->space->axes[a];
        axis->automatic = (j->kx_open && strcmp(axis->name, "kx") == 0) ||
                          (j->lambda_open && strcmp(axis->name, "lambda") == 0);
    }
    TRY(open_decoder(j));
    TRY(check(j, options));
    st = run(j, options);
    if (st == OKRA_ECANCELLED && request->keep && j->journal &&
        okra_journal_count_(j->journal) > 0) {
        /* the message of the cancelling goes if this fails */
        okra_status kept = okra_journal_save_(j->journal, request->keep);
        st = kept == OKRA_OK ? OKRA_ECANCELLED : kept;
    }
    if (st == OKRA_OK) {
        *out = j->out;
        j->out = NULL;
    }
done:
    okra_source_clear_(&j->source);
    okra_journal_free_(j->journal);
    okra_selection_free(j->out);
    return st;
}

/* Rules in place of `auto`, and how settings that nobody wrote are compared. */
static okra_status fill(job *j, const okra_options *options, okra_options **out)
{
    const okra_method_ *method = NULL;
    FREED_BY(okra_options_drop_) okra_options *filled = NULL;
    bool links = j->source.links != NULL;
    j->kx_open = !j->edges || okra_rule_auto_(options, "kx"); /* or choose.c filled it */
    j->lambda_open = !j->edges || okra_rule_auto_(options, "lambda");
    j->own = !j->edges || !okra_options_is_set(options, "refine");
    CHK(okra_rules_fill_(j->ctx, j->source.x, j->source.y, options, links, &filled));
    CHK(okra_method_choose_(okra_options_get(filled, "method"), &method));
    if (j->kx_open || j->lambda_open) {
        CHK(okra_rule_how_(method, j->source.y, j->source.n, filled));
    }
    *out = filled;
    filled = NULL;
    return OKRA_OK;
}

okra_status okra_select(okra_context *context, const okra_data *x, const okra_data *y,
                        const okra_options *options, const okra_select_request *request,
                        okra_selection **out)
{
    NOT_NULL(x);
    NOT_NULL(y);
    NOT_NULL(out);
    return okra_select_pairs_(context, x, y, options, request, true, out);
}

/* Pairs of weight 0 are no pairs: they leave x, y and what the request says of pairs. */
typedef struct weighed {
    okra_data *x, *y, *keys[3];
} weighed;

static okra_status drop_weightless(const okra_data *x, const okra_data *y,
                                   okra_select_request *r, weighed *w)
{
    okra_status st = OKRA_OK;
    const okra_data **keys[] = {&r->folds, &r->groups, &r->strata};
    okra_int *index = NULL, count = 0;
    TRY(okra_weights_drop_(x, y, &w->x, &w->y));
    if (w->y->n == y->n) {
        return OKRA_OK;
    }
    TRY(okra_weights_positive_(y, y->n, &index, &count));
    for (int k = 0; k < 3; k++) {
        if (*keys[k] && (*keys[k])->n == y->n) { /* else it is refused later */
            TRY(okra_data_take(*keys[k], index, count, &w->keys[k]));
            *keys[k] = w->keys[k];
        }
    }
done:
    okra_free_(index);
    return st;
}

static void clear_weighed(weighed *w)
{
    okra_data_free(w->x);
    okra_data_free(w->y);
    for (int k = 0; k < 3; k++) {
        okra_data_free(w->keys[k]);
    }
}

okra_status okra_select_pairs_(okra_context *context, const okra_data *x,
                               const okra_data *y, const okra_options *options,
                               const okra_select_request *request, bool edges,
                               okra_selection **out)
{
    okra_status st = OKRA_OK;
    okra_options *filled = NULL, *defaults = NULL;
    okra_select_request known = {OKRA_SIZED(okra_select_request)};
    if (request) {
        SIZED(request, &known);
    }
    job j = {.ctx = context, .edges = edges};
    weighed w = {0};
    TRY(drop_weightless(x, y, &known, &w));
    x = w.x;
    y = w.y;
    j.source =
        (okra_pairs_){.x = x, .y = y, .n = y->n, .inputs = x->n, .request = &known};
    TRY(options ? OKRA_OK : okra_select_options(&defaults));
    TRY(fill(&j, options ? options : defaults, &filled));
    TRY(select_on(&j, filled, out));
done:
    clear_weighed(&w);
    okra_options_free(filled);
    okra_options_free(defaults);
    return st;
}

okra_status okra_select_links(okra_context *context, const okra_link_task *task,
                              const okra_link_settings *settings,
                              const okra_options *options,
                              const okra_select_request *request, okra_selection **out)
{
    okra_status st = OKRA_OK;
    okra_options *copy = NULL, *filled = NULL;
    okra_data *x = NULL;
    okra_link_parts_ parts = {0};
    okra_link_source_ links = {task, settings};
    okra_link_settings known_settings;
    okra_select_request known = {OKRA_SIZED(okra_select_request)};
    NEED(task);
    NEED(out);
    if (settings) {
        SIZED(settings, &known_settings);
        settings = links.settings = &known_settings;
    }
    if (request) {
        SIZED(request, &known);
    }
    TRY(options ? okra_options_copy(options, &copy) : okra_select_options(&copy));
    if (!okra_options_is_set(copy, "metric")) {
        TRY(okra_options_set(copy, "metric", "auc-roc"));
    }
    TRY(okra_link_parts_create_(context, task, NULL, settings, &parts));
    okra_int n = task->labelled_count;
    TRY(okra_link_take_(context, task->x, parts.labelled, n, parts.labelled, n, &x));
    job j = {.ctx = context,
             .edges = true,
             .source = {.x = x,
                        .y = parts.y,
                        .n = n,
                        .inputs = n,
                        .links = &links,
                        .request = &known}};
    TRY(fill(&j, copy, &filled));
    TRY(select_on(&j, filled, out));
done:
    okra_options_free(filled);
    okra_options_free(copy);
    okra_data_free(x);
    okra_link_parts_clear_(&parts);
    return st;
}
