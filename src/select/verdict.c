/*
 * verdict.c: what the best setting of an automatic fit is worth: left-out pairs by a
 * measure that people know, and what is right without looking at the inputs at all.
 *
 *     numbers       R2 = 1 - squared error / variance; the mean has 0
 *     classes       the error rate; the most frequent class
 *     label sets    F1 of sets; the most frequent set
 *     strings       exact matches; the most frequent string
 *
 * It is computed from the left-out predictions that settings were compared by, or once
 * more for the best of them where these were not decoded. It is optimistic by what the
 * choice among settings takes: nested folds of okra select tell without that.
 */
#include "okra/more/traits.h"
#include "select/select.h"

okra_status okra_judge_(okra_context *ctx, const okra_data *x, const okra_data *y,
                        const okra_options *fit, const char *lambda, const char *metric,
                        const char *cv, okra_selection **out)
{
    FREED_BY(okra_options_drop_) okra_options *o = NULL;
    const char *name, *value;
    CHK(okra_select_options(&o));
    for (size_t i = 0; (name = okra_options_each_(fit, i, &value)); i++) {
        CHK(okra_options_set(o, name, value));
    }
    CHK(lambda ? okra_options_set(o, "lambda", lambda) : OKRA_OK);
    CHK(okra_options_set(o, "metric", metric));
    CHK(okra_options_set(o, "cv", cv));
    CHK(okra_options_set(o, "refine", "0"));
    okra_mute_(ctx, true);
    okra_status st = okra_select_pairs_(ctx, x, y, o, NULL, false, out);
    okra_mute_(ctx, false);
    return st;
}

/* The value of a metric where every prediction is the most frequent output. */
static okra_status constant(okra_context *ctx, const okra_data *y, const char *metric,
                            double *out)
{
    OWNED okra_int *same = NULL;
    OWNED double *count = NULL;
    FREED_BY(okra_data_drop_) okra_data *all = NULL;
    okra_int most = 0;
    MAKE(same, y->n);
    ZMAKE(count, y->n);
    CHK(okra_data_same_(&y, 1, same));
    for (okra_int i = 0; i < y->n; i++) {
        count[same[i]] += okra_weight_(y, i);
    }
    for (okra_int i = 0; i < y->n; i++) {
        most = count[i] > count[most] ? i : most;
    }
    for (okra_int i = 0; i < y->n; i++) {
        same[i] = most;
    }
    CHK(okra_data_take(y, same, y->n, &all));
    return okra_score(ctx, metric, y, all, out, NULL, NULL);
}

/* Numbers: from the loss that settings were compared by. */
static bool of_numbers(const okra_data *y, const okra_selection *s, okra_verdict_ *v)
{
    double spread = okra_inspect_deviation_(y);
    const okra_cell_ *best = &s->found.cells[s->found.best];
    if (y->kind != OKRA_DENSE || !okra_metric_has(s->metric, OKRA_METRIC_UNDECODED) ||
        !okra_kernel_has(okra_selection_value(s, s->found.best, "ky"),
                         OKRA_KERNEL_LINEAR) ||
        !(spread > 0)) {
        return false;
    }
    bool relative = okra_metric_has(s->metric, OKRA_METRIC_RELATIVE);
    *v = (okra_verdict_){.measure = "R2",
                         .naive_is = "the mean",
                         .value = 1 - best->mean / (relative ? 1 : spread * spread)};
    v->nothing = v->value <= 0.01;
    return true;
}

/* Objects: what is decoded, compared with the truth. */
static okra_status of_objects(okra_context *ctx, const okra_data *x, const okra_data *y,
                              const okra_options *fit, const okra_selection *s,
                              okra_verdict_ *out)
{
    static const okra_verdict_ sets = {.measure = "F1",
                                       .naive_is = "the most frequent set"};
    static const okra_verdict_ classes = {.measure = "error rate",
                                          .naive_is = "the most frequent class"};
    static const okra_verdict_ strings = {.measure = "exact matches",
                                          .naive_is = "the most frequent output"};
    FREED_BY(okra_selection_drop_) okra_selection *again = NULL;
    bool loss = y->kind == OKRA_LABELS, f1 = strncmp(s->metric, "f1", 2) == 0;
    const char *metric = f1 ? s->metric : loss ? "zero-one" : "exact-match";
    bool known = strcmp(s->metric, metric) == 0;
    okra_verdict_ v = f1 ? sets : loss ? classes : strings;
    v.value = s->found.cells[s->found.best].mean;
    if (!known &&
        (!okra_rule_closed_(s->space->method, fit, y) ||
         *okra_options_get(fit, "decode") || (!loss && y->kind != OKRA_STRINGS))) {
        return OKRA_OK;
    }
    CHK(constant(ctx, y, metric, &v.naive));
    if (!known) {
        CHK(okra_judge_(ctx, x, y, fit, NULL, metric, "loo", &again));
        v.value = again->found.cells[again->found.best].mean;
    }
    double noise = 2 * sqrt(v.naive * (1 - v.naive) / (double)y->n);
    v.nothing = (loss ? v.naive - v.value : v.value - v.naive) < (f1 ? 0.01 : noise);
    *out = v;
    return OKRA_OK;
}

okra_status okra_verdict_tell_(okra_context *ctx, const okra_data *x, const okra_data *y,
                               const okra_options *fit, okra_selection *s)
{
    okra_verdict_ v = {.measure = NULL};
    if (!of_numbers(y, s, &v)) {
        CHK(of_objects(ctx, x, y, fit, s, &v));
    }
    s->verdict = v;
    if (v.measure && v.nothing) {
        okra_warn_(
            ctx,
            "fit: of pairs left out the best setting is no better than %s (%s %.3g "
            "against %.3g); the inputs may tell nothing of the outputs",
            v.naive_is, v.measure, v.value, v.naive);
    }
    okra_free_(s->json);
    s->json = NULL;
    return okra_selection_report_(s);
}
