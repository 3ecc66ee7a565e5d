/*
 * automatic.c: a fit that needs no options. What they leave open is set by the rules of
 * fill.c, and searched for by leave-one-out in closed form, on at most SEARCH pairs,
 * drawn by the seed; without a closed form by five folds, on at most REFITTED.
 *     kx, ky, lambda, decode   not set, or `auto`: fill.c
 *     low-rank-x               of more than DENSE pairs, where the method has such a form
 * Cost: about 15 decompositions of SEARCH x SEARCH matrices, whatever the training set.
 */
#include "select/select.h"
#include "okra/more/select.h"
#include "okra/more/traits.h"

enum { SEARCH = 1000, REFITTED = 300, REWRITTEN = 400, DENSE = 20000, RANK = 2000 };

/* ---- what is set before the search ---- */

/* Options that the method has and the user left open. */
static okra_status set_open(okra_context *ctx, const okra_method_ *method,
                            const okra_data *x, const okra_data *y, okra_options *o,
                            okra_options **out)
{
    static const char *const kernels[] = {"kx", "ky"};
    for (int k = 0; k < 2; k++) {
        if (okra_rule_open_(o, kernels[k])) {
            CHK(okra_options_set(o, kernels[k], "auto"));
        }
    }
    if ((okra_option_find_(&method->options, "lambda", 6) || method->path) &&
        okra_rule_open_(o, "lambda")) {
        CHK(okra_options_set(o, "lambda", "auto"));
    }
    CHK(okra_rule_tries_(method, y->n, o));
    return okra_rules_fill_(ctx, x, y, o, false, out);
}

/* ---- fewer pairs ---- */

/* m of the numbers first..first+n-1, drawn by the seed, in their order. */
static okra_status draw(const okra_context *ctx, okra_int first, okra_int n, okra_int m,
                        okra_int *index)
{
    OWNED okra_int *all = NULL;
    okra_random_ random = okra_random_create_(okra_context_seed(ctx), 0xc405e);
    MAKE(all, n);
    for (okra_int i = 0; i < n; i++) {
        all[i] = first + i;
    }
    okra_random_shuffle_(&random, n, all);
    memcpy(index, all, (size_t)m * sizeof *index);
    qsort(index, (size_t)m, sizeof *index, okra_by_int_);
    return OKRA_OK;
}

/* m pairs, and as large a share of the inputs without outputs. */
static okra_status thin(const okra_context *ctx, const okra_data *x, const okra_data *y,
                        okra_int m, okra_data **some_x, okra_data **some_y)
{
    okra_int n = y->n;
    OWNED okra_int *index = NULL;
    okra_int more = (x->n - n) * m / n;
    MAKE(index, m + more);
    CHK(draw(ctx, 0, n, m, index));
    CHK(draw(ctx, n, x->n - n, more, index + m));
    CHK(okra_data_take(x, index, m + more, some_x));
    return okra_data_take(y, index, m, some_y);
}

/* ---- the search ---- */

/* The first cell of every grid: where nothing can be left out, or nothing varies. Of a
 * few kernels (`few`) the likeliest. */
static okra_status first_cell(okra_context *ctx, const okra_data *x, bool few,
                              okra_options *o, okra_options **fit)
{
    FREED_BY(okra_space_drop_) okra_space_ *space = NULL;
    FREED_BY(okra_setting_free_) okra_setting_ setting = {NULL, 0};
    OWNED char *middle = NULL;
    if (few) {
        CHK(okra_rule_middle_(ctx, x, &middle));
        CHK(okra_options_set(o, "kx", middle));
    }
    CHK(okra_space_create_(o, &space));
    /* of 17 lambdas from 1e-6 to 100 times the mean of k(x,x): it; of seven from 1e-5 to
     * 10 times: a tenth of it */
    okra_int at = space->lambdas * 3 / 4;
    CHK(okra_space_setting_(space, space->path ? at : 0, &setting));
    return okra_space_options_(space, &setting, fit, NULL);
}

/* Dense tables, where nobody names a method: is a blend with trees (method/blend.c)
 * better than ridge, by the same measure of the same pairs left out? By 3 % and 1/n of
 * the loss for one number more; only where effort is asked for, since ridge has sets,
 * intervals and updates. */
static okra_status compare_blend(okra_context *ctx, const okra_data *x,
                                 const okra_data *y, okra_int n, const okra_options *o,
                                 okra_options **fit, okra_selection *s)
{
    enum { LEAST = 50, MOST = 10000, COLUMNS = 100, WIDTH = 64 };
    FREED_BY(okra_options_drop_) okra_options *other = NULL;
    FREED_BY(okra_selection_drop_) okra_selection *blend = NULL;
    const char *rival = okra_method_auto_(s->space->method)->rival;
    okra_cell_ *best = &s->found.cells[s->found.best];
    double width = 10 + (double)(y->kind == OKRA_DENSE ? y->d : WIDTH),
           work = (double)y->n * (double)OKRA_MIN_(x->d, COLUMNS) * width;
    if (!rival || okra_options_is_set(o, "method") ||
        strcmp(okra_options_get(o, "effort"), "thorough") != 0 || x->kind != OKRA_DENSE ||
        y->missing || !okra_weights_plain_(y) || y->n < LEAST || n > MOST || work > 4e7) {
        return OKRA_OK;
    }
    CHK(okra_options_copy(*fit, &other));
    CHK(okra_options_set(other, "method", rival));
    if (okra_options_is_set(o, "decode")) { /* with a threshold of its own */
        CHK(okra_options_set(other, "decode", okra_options_get(o, "decode")));
    }
    okra_status st = okra_judge_(ctx, x, y, other, NULL, s->metric, s->cv, &blend);
    if (st == OKRA_EARG || st == OKRA_EUNSUPPORTED) {
        return OKRA_OK; /* an option that only ridge has */
    }
    CHK(st);
    const okra_cell_ *found = &blend->found.cells[blend->found.best];
    GOT(s->methods =
            okra_format_("%s on %lld pairs: %s %.4g, %s %.4g", s->cv, (long long)y->n,
                         s->space->method->name, best->mean, rival, found->mean));
    double before = s->loss ? best->mean : 1 - best->mean,
           after = s->loss ? found->mean : 1 - found->mean;
    if (after < before * (0.97 - 1 / (double)y->n)) {
        okra_options_drop_(fit);
        CHK(okra_selection_options(blend, blend->found.best, fit, NULL));
        best->mean = found->mean;
        best->error = found->error;
    }
    return OKRA_OK;
}

/* Label sets: is F1 of left-out sets better where sets are compared by tanimoto, which
 * the search of decoder labels needs longer for? With the same kernel of the inputs, by
 * five folds on at most SETS pairs. */
static okra_status compare_tanimoto(okra_context *ctx, const okra_method_ *method,
                                    const okra_data *x, const okra_data *y,
                                    const okra_options *o, okra_options **fit,
                                    okra_selection *s)
{
    enum { SETS = 500, LABELS = 400 };
    const double gain = 0.005;
    FREED_BY(okra_options_drop_) okra_options *other = NULL;
    FREED_BY(okra_data_drop_) okra_data *some_x = NULL, *some_y = NULL;
    FREED_BY(okra_selection_drop_) okra_selection *linear = NULL, *counted = NULL;
    OWNED char *lambdas = NULL;
    const char *metric = okra_rule_metric_(y);
    if (!method->leave || !strstr(okra_options_get(o, "decode"), "threshold=auto") ||
        okra_options_is_set(o, "metric") || okra_data_width(y) > LABELS || y->n < 50 ||
        strcmp(okra_options_get(*fit, "ky"), "linear") != 0) {
        return OKRA_OK;
    }
    if (y->n > SETS) {
        CHK(thin(ctx, x, y, SETS, &some_x, &some_y));
        x = some_x;
        y = some_y;
    }
    double lambda = okra_strtod_(okra_options_get(*fit, "lambda"), NULL);
    GOT(lambdas = okra_format_("%.6g,%.6g", 0.3 * lambda, lambda));
    CHK(okra_options_copy(*fit, &other));
    CHK(okra_options_set(other, "ky", "tanimoto"));
    CHK(okra_options_set(other, "decode", "labels"));
    CHK(okra_judge_(ctx, x, y, *fit, NULL, metric, "kfold:5", &linear));
    CHK(okra_judge_(ctx, x, y, other, lambdas, metric, "kfold:5", &counted));
    const okra_cell_ *found = &counted->found.cells[counted->found.best];
    double a = linear->found.cells[0].mean;
    GOT(s->output_kernels =
            okra_format_("kfold:5 on %lld pairs: linear %.4g, tanimoto %.4g",
                         (long long)y->n, a, found->mean));
    if (found->mean > a + gain) {
        s->found.cells[s->found.best].mean = found->mean;
        s->found.cells[s->found.best].error = found->error;
        okra_options_drop_(fit);
        CHK(okra_selection_options(counted, counted->found.best, fit, NULL));
    }
    return OKRA_OK;
}

/* `sets`: the kernel and the decoder of label sets are open. */
static okra_status search(okra_context *ctx, const okra_method_ *method,
                          const okra_data *x, const okra_data *y, okra_options *o,
                          bool sets, okra_options **fit, okra_selection **out)
{
    FREED_BY(okra_data_drop_) okra_data *some_x = NULL, *some_y = NULL;
    FREED_BY(okra_selection_drop_) okra_selection *s = NULL;
    bool grams = x->kind == OKRA_GRAM || y->kind == OKRA_GRAM;
    okra_int most = okra_rule_closed_(method, o, y) ? SEARCH : REFITTED;
    const char *effort = okra_options_get(o, "effort");
    most = strcmp(effort, "quick") == 0      ? OKRA_MIN_(most, REFITTED)
           : strcmp(effort, "thorough") == 0 ? 2 * most
                                             : most;
    if (strcmp(effort, "normal") == 0 && okra_rule_rewritten_(x, y)) {
        most = OKRA_MIN_(most, REWRITTEN); /* its few kernels differ little */
    }
    if (y->missing) { /* a factor for each output: d most^3 stays the same */
        most = (okra_int)(REFITTED / cbrt(fmax(1, (double)y->d / 3)));
    }
    if (y->n > most && !grams) {
        CHK(thin(ctx, x, y, most, &some_x, &some_y));
    }
    const okra_data *pairs_x = some_x ? some_x : x, *pairs_y = some_y ? some_y : y;
    if (!method->leave) { /* of fits that are thrown away */
        okra_mute_(ctx, true);
    }
    okra_status st = okra_select_pairs_(ctx, pairs_x, pairs_y, o, NULL, false, &s);
    if (!method->leave) {
        okra_mute_(ctx, false);
    }
    CHK(st);
    CHK(okra_selection_options(s, okra_selection_best(s), fit, NULL));
    CHK(compare_blend(ctx, pairs_x, pairs_y, y->n, o, fit, s));
    if (sets) {
        CHK(compare_tanimoto(ctx, method, pairs_x, pairs_y, o, fit, s));
    }
    CHK(okra_verdict_tell_(ctx, pairs_x, pairs_y, *fit, s));
    *out = TAKE(s);
    return OKRA_OK;
}

/* ---- the whole ---- */

/* Beyond DENSE pairs an n x n matrix is no longer a matter of course. */
static okra_status lower(const okra_method_ *method, const okra_data *x,
                         const okra_data *y, okra_options *fit)
{
    char text[40];
    bool open = !okra_options_is_set(fit, "low-rank") &&
                !okra_options_is_set(fit, "low-rank-x") && method->low_rank &&
                x->kind != OKRA_GRAM;
    double scale;
    FREED_BY(okra_kernel_drop_) okra_kernel *ky = NULL;
    CHK(okra_kernel_parse(okra_options_get(fit, "ky"), &ky));
    bool explicitly = y->kind == OKRA_DENSE && okra_kernel_is_linear_(ky, &scale);
    if (y->n > DENSE && open && explicitly) {
        snprintf(text, sizeof text, "nystrom(rank=%d)", RANK);
        CHK(okra_options_set(fit, "low-rank-x", text));
    }
    return OKRA_OK;
}

/* By the search of the method itself; `few`: kernels are open. */
static okra_status choose(okra_context *context, const okra_method_ *method,
                          const okra_data *x, const okra_data *y, okra_options *copy,
                          bool few, okra_options **chosen, okra_selection **s)
{
    okra_status st = OKRA_OK;
    FREED_BY(okra_options_drop_) okra_options *filled = NULL;
    FREED_BY(okra_space_drop_) okra_space_ *space = NULL;
    CHK(set_open(context, method, x, y, copy, &filled));
    CHK(okra_space_create_(filled, &space));
    bool sets = okra_rule_auto_(copy, "ky") && okra_rule_open_(copy, "decode");
    if (y->n < 3 || space->cells < 2) {
        if (space->cells > 1) {
            okra_warn_(context,
                       "fit: nothing can be left out of %lld pair%s, so that "
                       "kernel and lambda are a guess",
                       (long long)y->n, y->n > 1 ? "s" : "");
        }
        CHK(first_cell(context, x, few, filled, chosen));
    } else {
        st = search(context, method, x, y, filled, sets, chosen, s);
        if (!method->leave && (st == OKRA_EARG || st == OKRA_EUNSUPPORTED)) {
            /* A fold is too small for the method, or it cannot be compared: what the
             * whole training set has to say to it, the fit will tell. */
            st = first_cell(context, x, few, filled, chosen);
        }
        CHK(st);
    }
    return OKRA_OK;
}

/* The mean error of an output that the best setting leaves; 0: not known. */
static okra_status residual_of(const okra_selection *s, const okra_data *y, double *out)
{
    double mean = 0, error = 0;
    *out = 0;
    if (!s) {
        return OKRA_OK;
    }
    CHK(okra_selection_cell(s, okra_selection_best(s), &mean, &error));
    bool relative = okra_metric_has(s->metric, OKRA_METRIC_RELATIVE);
    *out = sqrt(mean) * (relative ? okra_inspect_deviation_(y) : 1);
    return OKRA_OK;
}

/* Kernel and lambda are those of a method with a closed form that is like this one. */
static okra_status like_another(okra_context *ctx, const okra_method_ *method,
                                const okra_data *x, okra_open_ *open,
                                const okra_options *given, okra_options **fit,
                                okra_selection **selection)
{
    static const char *const shared[] = {"kx", "ky", "lambda", "decode"};
    FREED_BY(okra_options_drop_) okra_options *other = NULL, *found = NULL, *own = NULL;
    CHK(okra_select_options(&other));
    CHK(okra_options_set(other, "method", okra_method_auto_(method)->like));
    CHK(okra_options_copy(given, &own));
    for (int k = 0; k < 4; k++) {
        if (!okra_rule_open_(given, shared[k])) {
            CHK(okra_options_set(other, shared[k], okra_options_get(given, shared[k])));
        }
    }
    CHK(okra_choose(ctx, x, open->y, other, &found, selection));
    for (int k = 0; k < 4; k++) {
        if (okra_options_is_set(found, shared[k])) {
            CHK(okra_options_set(own, shared[k], okra_options_get(found, shared[k])));
        }
    }
    open->like = true;
    CHK(residual_of(*selection, open->y, &open->residual));
    CHK(okra_rule_fill_(method, open, own));
    return first_cell(ctx, x, false, own, fit);
}

/* The kernel that the other method likes best. */
static okra_status kernel_of_another(okra_context *ctx, const okra_method_ *method,
                                     const okra_data *x, const okra_data *y,
                                     okra_options *own)
{
    FREED_BY(okra_options_drop_) okra_options *other = NULL, *found = NULL;
    CHK(okra_select_options(&other));
    CHK(okra_options_set(other, "method", okra_method_auto_(method)->like));
    CHK(okra_choose(ctx, x, y, other, &found, NULL));
    return okra_options_set(own, "kx", okra_options_get(found, "kx"));
}

static okra_status choose_all(okra_context *ctx, const okra_method_ *method,
                              const okra_data *x, const okra_data *y, okra_options *copy,
                              okra_options **chosen, okra_selection **s)
{
    const okra_auto_ *a = okra_method_auto_(method);
    okra_open_ open = {.x = x,
                       .y = y,
                       .kx = okra_rule_open_(copy, "kx"),
                       .ky = okra_rule_open_(copy, "ky"),
                       .lambda = okra_rule_open_(copy, "lambda")};
    okra_likeness_ like = a->likeness ? a->likeness(&open, copy) : OKRA_LIKE_NOTHING_;
    if (like == OKRA_LIKE_WHOLE_) {
        return like_another(ctx, method, x, &open, copy, chosen, s);
    }
    bool few = open.kx && !method->leave;
    if (like == OKRA_LIKE_KERNEL_) {
        CHK(kernel_of_another(ctx, method, x, y, copy));
        few = false;
    }
    CHK(choose(ctx, method, x, y, copy, few, chosen, s));
    return OKRA_OK;
}

/* The fit that follows takes an n x n matrix where nothing of low rank takes its place: a
 * budget that it breaks is an error before the search. */
static okra_status ask_early(const okra_context *ctx, const okra_method_ *method,
                             const okra_data *x, const okra_data *y,
                             const okra_options *given)
{
    const char *solver = okra_options_get(given, "solver");
    bool low = okra_options_is_set(given, "low-rank") ||
               okra_options_is_set(given, "low-rank-x") ||
               (y->n > DENSE && y->kind == OKRA_DENSE);
    bool dense = method->low_rank && !low && x->kind != OKRA_GRAM &&
                 (!solver || strcmp(solver, "direct") == 0) && okra_engine_is_host_(ctx);
    return dense
               ? okra_budget_ask_(ctx, 8.0 * (double)x->n * (double)x->n,
                                  "the Gram matrix of the inputs of %lld x %lld doubles",
                                  (long long)x->n, (long long)x->n)
               : OKRA_OK;
}

/* One value far from all others decides widths and lambda. */
static void tell_outlier(const okra_context *ctx, const okra_data *data, const char *side)
{
    enum { FAR = 50 };
    okra_int row = 0, column = 0;
    double times = okra_inspect_outlier_(data, &row, &column);
    if (times > FAR) {
        okra_warn_(ctx,
                   "fit: %s: row %lld has %.4g in column %lld, %.3g deviations away from "
                   "the others (counted from 0): if it is an error, leave it out",
                   side, (long long)row, data->values[row * data->ld + column],
                   (long long)column, times);
    }
}

okra_status okra_choose(okra_context *context, const okra_data *x, const okra_data *y,
                        const okra_options *options, okra_options **fit,
                        okra_selection **selection)
{
    const okra_method_ *method = NULL;
    FREED_BY(okra_options_drop_) okra_options *copy = NULL, *chosen = NULL;
    FREED_BY(okra_selection_drop_) okra_selection *s = NULL;
    FREED_BY(okra_data_drop_) okra_data *some_y = NULL, *some_x = NULL;
    NOT_NULL(x, y, fit);
    CHK(okra_weights_drop_(x, y, &some_x, &some_y));
    x = some_x;
    y = some_y;
    CHK(options ? okra_options_copy(options, &copy) : okra_select_options(&copy));
    CHK(okra_method_choose_(okra_options_get(copy, "method"), &method));
    CHK(okra_method_check_pairs_(method, x, y));
    CHK(okra_outputs_known_(y));
    CHK(ask_early(context, method, x, y, copy));
    tell_outlier(context, x, "inputs");
    tell_outlier(context, y, "outputs");
    CHK(choose_all(context, method, x, y, copy, &chosen, &s));
    CHK(lower(method, x, y, chosen));
    const char *hint = okra_method_auto_(method)->aligned;
    if (hint && x->kind == OKRA_SEQUENCES && x->d > 0 && y->kind == OKRA_STRINGS &&
        okra_inspect_aligned_(x, y)) {
        okra_warn_(context, "fit: %s", hint);
    }
    *fit = TAKE(chosen);
    GIVE(selection, TAKE(s));
    return OKRA_OK;
}

/* ---- links of a network
 *
 * Kernel and lambda where they are open: by leave-one-out over links (link/leave.c), or
 * five folds, on at most NODES labelled nodes (NODES_REFITTED where each fold is fitted
 * anew): the ends of edges that are evenly spaced in the list of edges.
 * ---- */

enum { NODES = 300, NODES_REFITTED = 100 };

/* The task with `most` labelled nodes; `nodes` and `edges` hold its arrays. */
static okra_status thin_nodes(const okra_link_task *task, okra_int most, okra_int **nodes,
                              okra_link **edges, okra_link_task *out)
{
    OWNED bool *in = NULL;
    okra_int count = 0, kept = 0;
    ZMAKE(in, task->x->n);
    MAKE(*nodes, most + 1);
    MAKE(*edges, task->edge_count);
    /* every s-th edge, then those beside them, until there are nodes enough */
    okra_int step = OKRA_MAX_(1, 2 * task->edge_count / most);
    for (okra_int from = 0; from < step && count < most; from++) {
        for (okra_int k = from; k < task->edge_count && count < most; k += step) {
            const okra_int ends[] = {task->edges[k].a, task->edges[k].b};
            for (int e = 0; e < 2; e++) {
                if (!in[ends[e]]) {
                    in[ends[e]] = true;
                    (*nodes)[count++] = ends[e];
                }
            }
        }
    }
    for (okra_int k = 0; k < task->edge_count; k++) {
        if (in[task->edges[k].a] && in[task->edges[k].b]) {
            (*edges)[kept++] = task->edges[k];
        }
    }
    *out = *task;
    out->labelled = *nodes;
    out->labelled_count = count;
    out->edges = *edges;
    out->edge_count = kept;
    return OKRA_OK;
}

/* The likeliest kernel and the lambda of the method's table. */
static okra_status guess(okra_context *ctx, const okra_data *x, bool kx, bool lambda,
                         okra_options *o)
{
    OWNED char *middle = NULL;
    if (kx) {
        CHK(okra_rule_middle_(ctx, x, &middle));
        CHK(okra_options_set(o, "kx", middle));
    }
    if (lambda) {
        const okra_method_ *method = okra_method_find_(okra_options_get(o, "method"));
        const okra_option *row = okra_option_find_(&method->options, "lambda", 6);
        CHK(okra_options_set(o, "lambda", row->preset));
    }
    return OKRA_OK;
}

/* Every option that is set as one of fit. */
static okra_status as_fit(const okra_options *from, okra_options **out)
{
    FREED_BY(okra_space_drop_) okra_space_ *space = NULL;
    FREED_BY(okra_setting_free_) okra_setting_ setting = {NULL, 0};
    CHK(okra_space_create_(from, &space));
    CHK(okra_space_setting_(space, 0, &setting));
    return okra_space_options_(space, &setting, out, NULL);
}

static okra_status search_links(okra_context *ctx, const okra_link_task *task,
                                const okra_link_settings *settings, const okra_options *o,
                                bool refits, okra_options **fit, okra_selection **out)
{
    okra_link_task some = *task;
    okra_link_settings ends = *settings;
    OWNED okra_link *edges = NULL;
    OWNED okra_int *nodes = NULL;
    FREED_BY(okra_selection_drop_) okra_selection *s = NULL;
    okra_int most = refits ? NODES_REFITTED : NODES;
    ends.known = false; /* no closed form; what predicts one end well predicts two */
    ends.together =
        true; /* else kernels that are too narrow win: each end knows the other */
    if (task->labelled_count > most && !task->gram && task->x->kind != OKRA_GRAM) {
        CHK(thin_nodes(task, most, &nodes, &edges, &some));
    }
    CHK(okra_select_links(ctx, &some, &ends, o, NULL, &s));
    CHK(okra_selection_options(s, okra_selection_best(s), fit, NULL));
    *out = TAKE(s);
    return OKRA_OK;
}

okra_status okra_choose_links(okra_context *context, const okra_link_task *task,
                              const okra_link_settings *settings,
                              const okra_options *options, okra_options **fit,
                              okra_selection **selection)
{
    okra_status st = OKRA_OK;
    const okra_method_ *method = NULL;
    FREED_BY(okra_options_drop_) okra_options *copy = NULL, *chosen = NULL;
    FREED_BY(okra_selection_drop_) okra_selection *s = NULL;
    okra_link_settings known = {OKRA_SIZED(okra_link_settings), .beta = 1};
    NOT_NULL(task, fit);
    NOT_NULL(task->x);
    SIZED(settings, &known);
    CHK(options ? okra_options_copy(options, &copy) : okra_select_options(&copy));
    CHK(okra_method_choose_(okra_options_get(copy, "method"), &method));
    bool kx = okra_rule_open_(copy, "kx");
    bool lambda = okra_rule_open_(copy, "lambda") &&
                  okra_option_find_(&method->options, "lambda", 6);
    if (kx) {
        CHK(okra_options_set(copy, "kx", "auto"));
    }
    if (lambda) {
        CHK(okra_options_set(copy, "lambda", "auto"));
    }
    if ((kx || lambda) && !method->linker && task->edge_count > 0) {
        st = search_links(context, task, &known, copy, !method->leave, &chosen, &s);
        if (st == OKRA_EARG || st == OKRA_EUNSUPPORTED) {
            st = OKRA_OK; /* nothing to compare by; what is wrong the fit will tell */
        }
        CHK(st);
    }
    if (!chosen) {
        CHK(guess(context, task->x, kx, lambda, copy));
        CHK(as_fit(copy, &chosen));
    }
    *fit = TAKE(chosen);
    GIVE(selection, TAKE(s));
    return OKRA_OK;
}
