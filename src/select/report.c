/*
 * report.c: what a selection found: its JSON, and questions to it.
 */
#include "select/select.h"
#include "okra/more/select.h"
#include "okra/more/traits.h"

static json_t *number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

/* value, which is given away, or NULL where something of it was lost on the way. */
static json_t *whole(json_t *value, bool good)
{
    if (!good) {
        json_decref(value);
        return NULL;
    }
    return value;
}

static json_t *settings(const okra_space_ *space, const okra_setting_ *setting)
{
    json_t *o = json_object();
    bool good = true;
    for (size_t i = 0; i < space->count; i++) {
        good &=
            !json_object_set_new(o, space->axes[i].name, json_string(setting->text[i]));
    }
    return whole(o, good);
}

static json_t *cell(const okra_selection *s, okra_int values, const okra_cell_ *c)
{
    json_t *list = json_array();
    bool good = true;
    for (okra_int f = 0; f < values; f++) {
        good &= !json_array_append_new(list, number(c->values[f]));
    }
    json_t *o =
        json_pack("{s:o, s:o, s:o, s:o}", "settings", settings(s->space, &c->setting),
                  "mean", number(c->mean), "error", number(c->error), "values", list);
    good &= isnan(c->gcv) || !json_object_set_new(o, "gcv", number(c->gcv));
    good &= isnan(c->part) || !json_object_set_new(o, "part", number(c->part));
    good &= !c->refined || !json_object_set_new(o, "refined", json_true());
    return whole(o, good);
}

/* Name and values of every axis. */
static json_t *axes(const okra_space_ *space)
{
    json_t *list = json_array();
    bool good = true;
    for (size_t i = 0; i < space->count; i++) {
        json_t *values = json_array();
        for (okra_int k = 0; k < OKRA_MIN_(space->axes[i].count, 10000); k++) {
            char *text = NULL;
            good &= okra_grid_text_(space->axes[i].grid, k, &text) == OKRA_OK &&
                    !json_array_append_new(values, json_string(text));
            okra_free_(text);
        }
        good &= !json_array_append_new(
            list, json_pack("{s:s, s:o}", "name", space->axes[i].name, "values", values));
    }
    return whole(list, good);
}

static json_t *outer(const okra_selection *s)
{
    json_t *list = json_array();
    bool good = true;
    double sum = 0, squares = 0, count = (double)s->outer_count;
    for (okra_int f = 0; f < s->outer_count; f++) {
        const okra_outer_ *o = &s->outer[f];
        const okra_cell_ *best = &o->found.cells[o->found.best];
        sum += o->error;
        good &= !json_array_append_new(
            list,
            json_pack("{s:o, s:I, s:I, s:o, s:o}", "value", number(o->error), "trained",
                      (json_int_t)o->trained, "tested", (json_int_t)o->tested, "settings",
                      settings(s->space, &best->setting), "inner", number(best->mean)));
    }
    for (okra_int f = 0; f < s->outer_count; f++) {
        double d = s->outer[f].error - sum / count;
        squares += d * d;
    }
    double error = count > 1 ? sqrt(squares / (count - 1) / count) : (double)NAN;
    return whole(json_pack("{s:o, s:o, s:o}", "mean", number(sum / count), "error",
                           number(error), "folds", list),
                 good);
}

okra_status okra_selection_report_(okra_selection *s)
{
    json_t *cells = json_array();
    const okra_verdict_ *v = &s->verdict;
    okra_int closed = 0;
    bool good = true;
    for (okra_int i = 0; i < s->found.count; i++) {
        closed += s->found.cells[i].closed;
        good &= !json_array_append_new(cells, cell(s, s->values, &s->found.cells[i]));
    }
    json_t *nested = s->outer_count > 0 ? outer(s) : NULL, *left_out = NULL;
    if (v->measure) {
        left_out = json_pack("{s:s, s:o, s:s, s:o, s:b}", "measure", v->measure, "value",
                             number(v->value), "naive", v->naive_is, "naive_value",
                             number(v->naive), "nothing", v->nothing);
    }
    good &= (s->outer_count == 0 || nested) && (!v->measure || left_out);
    const char *forms = closed == 0 ? "no" : closed == s->found.count ? "yes" : "some";
    FREED_BY(okra_json_drop_)
    json_t *o = whole(
        json_pack(
            "{s:s, s:i, s:s, s:s, s:s, s:s, s:s, s:b, s:I, s:s, s:o, s:o, s:s*, s:o*, "
            "s:o*, s:o*, s:s*, s:s*, s:o, s:f}",
            "okra", okra_version(), "format", 1, "kind", "select", "method",
            s->space->method->name, "decode", s->decode, "cv", s->cv, "metric", s->metric,
            "loss", s->loss, s->links ? "nodes" : "pairs", (json_int_t)s->n,
            "closed_form", forms, "axes", axes(s->space), "best",
            cell(s, s->values, &s->found.cells[s->found.best]), "output_lambda",
            s->output_lambda, "output_loss",
            s->output_lambda ? number(s->output_loss) : NULL, "nested", nested,
            "left_out", left_out, "methods", s->methods, "output_kernels",
            s->output_kernels, "cells", cells, "seconds", s->seconds),
        good);
    REFUSE_IF(!o, OKRA_EMEM, "could not describe the selection as JSON");
    return okra_json_text_(o, &s->json);
}

void okra_selection_free(okra_selection *s)
{
    if (s) {
        okra_found_free_(&s->found);
        for (okra_int f = 0; s->outer && f < s->outer_count; f++) {
            okra_found_free_(&s->outer[f].found);
        }
        okra_free_(s->outer);
        okra_space_free_(s->space);
        FREE(s->cv, s->metric, s->output_lambda, s->json, s->decode, s->methods,
             s->output_kernels, s);
    }
}

const char *okra_selection_json(const okra_selection *selection)
{
    return selection ? selection->json : NULL;
}

okra_int okra_selection_count(const okra_selection *selection)
{
    return selection ? selection->found.count : 0;
}

okra_int okra_selection_best(const okra_selection *selection)
{
    return selection ? selection->found.best : 0;
}

static okra_status check_cell(const okra_selection *s, okra_int cell)
{
    return cell >= 0 && cell < s->found.count
               ? OKRA_OK
               : okra_fail_(OKRA_EARG, "cell %lld is asked of a selection of %lld",
                            (long long)cell, (long long)s->found.count);
}

okra_status okra_selection_cell(const okra_selection *selection, okra_int cell,
                                double *mean, double *error)
{
    NOT_NULL(selection);
    CHK(check_cell(selection, cell));
    GIVE(mean, selection->found.cells[cell].mean);
    GIVE(error, selection->found.cells[cell].error);
    return OKRA_OK;
}

const char *okra_selection_value(const okra_selection *selection, okra_int cell,
                                 const char *option)
{
    if (!selection || !option) {
        return NULL;
    }
    if (strcmp(option, "decode") == 0) {
        return selection->decode;
    }
    return cell >= 0 && cell < selection->found.count
               ? okra_space_value_(selection->space,
                                   &selection->found.cells[cell].setting, option)
               : NULL;
}

okra_status okra_selection_options(const okra_selection *selection, okra_int cell,
                                   okra_options **fit, okra_options **predict)
{
    NOT_NULL(selection);
    CHK(check_cell(selection, cell));
    CHK(okra_space_options_(selection->space, &selection->found.cells[cell].setting, fit,
                            predict));
    if (selection->space->decode_set) {
        OWNED char *decode = NULL;
        CHK(okra_cut_text_(okra_space_decode_(selection->space),
                           selection->found.cells[cell].threshold, &decode));
        CHK(fit ? okra_options_set(*fit, "decode", decode) : OKRA_OK);
        CHK(predict ? okra_options_set(*predict, "decode", decode) : OKRA_OK);
    }
    if (fit && selection->output_lambda && cell == selection->found.best) {
        CHK(okra_options_set(*fit, "output-lambda", selection->output_lambda));
        CHK(okra_options_set(*fit, "lambda", "1"));
    }
    return OKRA_OK;
}

okra_int okra_selection_outer_count(const okra_selection *selection)
{
    return selection ? selection->outer_count : 0;
}

double okra_selection_outer_error(const okra_selection *selection, okra_int fold)
{
    return selection && fold >= 0 && fold < selection->outer_count
               ? selection->outer[fold].error
               : (double)NAN;
}

const char *okra_selection_outer_value(const okra_selection *selection, okra_int fold,
                                       const char *option)
{
    if (!selection || fold < 0 || fold >= selection->outer_count) {
        return NULL;
    }
    const okra_found_ *found = &selection->outer[fold].found;
    return okra_space_value_(selection->space, &found->cells[found->best].setting,
                             option);
}

/* ---- what the best setting of an automatic fit is worth: left-out pairs by a
 * measure that people know, and what is right without looking at the inputs at all.
 *
 *     numbers       R2 = 1 - squared error / variance; the mean has 0
 *     classes       the error rate; the most frequent class
 *     label sets    F1 of sets; the most frequent set
 *     strings       exact matches; the most frequent string
 *     rankings      pairs of items in the wrong order; the most frequent ranking
 * From the left-out predictions that settings were compared by, or once more for the best
 * where these were not decoded; optimistic by the choice, unlike nested folds.
 */

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
    static const okra_verdict_ rankings = {.measure = "pairs in the wrong order",
                                           .naive_is = "the most frequent ranking"};
    FREED_BY(okra_selection_drop_) okra_selection *again = NULL;
    const okra_decoder_ *decoder = okra_decoder_find_(okra_options_get(fit, "decode"));
    bool loss = y->kind == OKRA_LABELS, f1 = strncmp(s->metric, "f1", 2) == 0;
    bool ranks = decoder && decoder->suits == OKRA_SUITS_RANKED_;
    const char *metric = f1      ? s->metric
                         : loss  ? "zero-one"
                         : ranks ? "kendall"
                                 : "exact-match";
    bool known = strcmp(s->metric, metric) == 0;
    okra_verdict_ v = f1 ? sets : loss ? classes : ranks ? rankings : strings;
    v.value = s->found.cells[s->found.best].mean;
    bool cheap = !decoder || ranks || decoder->suits == OKRA_SUITS_TRANSCRIBED_;
    if (!known && (!okra_rule_closed_(s->space->method, fit, y) || !cheap ||
                   (!loss && !ranks && y->kind != OKRA_STRINGS))) {
        return OKRA_OK;
    }
    CHK(constant(ctx, y, metric, &v.naive));
    if (!known) {
        CHK(okra_judge_(ctx, x, y, fit, NULL, metric, decoder ? "kfold:5" : "loo",
                        &again));
        v.value = again->found.cells[again->found.best].mean;
    }
    double noise = 2 * sqrt(v.naive * (1 - v.naive) / (double)y->n);
    v.nothing = (loss || ranks ? v.naive - v.value : v.value - v.naive) <
                (f1 || ranks ? 0.01 : noise);
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
    okra_free_at_(&s->json);
    return okra_selection_report_(s);
}
