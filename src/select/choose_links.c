/*
 * choose_links.c: kernel and lambda of a network's links, where they are open: by
 * leave-one-out over links (link/leave.c), or five folds, on at most NODES labelled nodes
 * (REFITTED for methods that are fitted anew for every fold).
 *
 * A few nodes of a large network may have no edge among them: those taken are the ends of
 * edges, evenly spaced in the list of edges.
 */
#include "select/select.h"

enum { NODES = 300, REFITTED = 100 };

/* The task with `most` labelled nodes; `nodes` and `edges` hold its arrays. */
static okra_status thin(const okra_link_task *task, okra_int most, okra_int **nodes,
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

static okra_status search(okra_context *ctx, const okra_link_task *task,
                          const okra_link_settings *settings, const okra_options *o,
                          bool refits, okra_options **fit, okra_selection **out)
{
    okra_link_task some = *task;
    okra_link_settings ends = {OKRA_SIZED(okra_link_settings), .beta = 1};
    OWNED okra_link *edges = NULL;
    OWNED okra_int *nodes = NULL;
    FREED_BY(okra_selection_drop_) okra_selection *s = NULL;
    okra_int most = refits ? REFITTED : NODES;
    if (settings) {
        ends = *settings;
    }
    ends.known = false; /* no closed form; what predicts one end well predicts two */
    ends.together =
        true; /* else kernels that are too narrow win: each end knows the other */
    if (task->labelled_count > most && !task->gram && task->x->kind != OKRA_GRAM) {
        CHK(thin(task, most, &nodes, &edges, &some));
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
    okra_link_settings known;
    NOT_NULL(task);
    NOT_NULL(task->x);
    NOT_NULL(fit);
    if (settings) {
        SIZED(settings, &known);
        settings = &known;
    }
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
        st = search(context, task, settings, copy, !method->leave, &chosen, &s);
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
