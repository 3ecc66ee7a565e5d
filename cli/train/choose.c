/*
 * choose.c: what fit and link are not told is chosen by the library and told as a command
 * line that does the same again.
 */
#include "train/choose.h"

#include <stdlib.h>
#include <string.h>

static bool is_auto(const char *text)
{
    return strcmp(text, "auto") == 0;
}

/* Every option of fit that is set, once. */
typedef okra_status (*option_fn)(void *user, const okra_option *row, const char *value);

static okra_status each_set(const okra_options *options, option_fn act, void *user)
{
    size_t count;
    const okra_option_table *const *tables = okra_option_tables("fit", &count);
    okra_status st = OKRA_OK;
    for (size_t t = 0; t < count; t++) {
        for (const okra_option *row = tables[t]->rows; row && row->name; row++) {
            bool seen = false;
            for (size_t s = 0; s < t && !seen; s++) {
                for (const okra_option *r = tables[s]->rows; r && r->name; r++) {
                    seen = seen || strcmp(r->name, row->name) == 0;
                }
            }
            if (!seen && st == OKRA_OK && okra_options_is_set(options, row->name)) {
                st = act(user, row, okra_options_get(options, row->name));
            }
        }
    }
    return st;
}

static okra_status copy(void *user, const okra_option *row, const char *value)
{
    return okra_options_set(user, row->name, value);
}

bool choose_has_lambda(const cli_run *run)
{
    const char *help, *name;
    const okra_option_table *table;
    for (size_t i = 0; (name = okra_method_name(i, &help, &table)); i++) {
        if (strcmp(name, okra_options_get(run->library, "method")) == 0) {
            for (const okra_option *row = table->rows; row && row->name; row++) {
                if (strcmp(row->name, "lambda") == 0) {
                    return true;
                }
            }
        }
    }
    return false;
}

bool choose_needed(const cli_run *run, const choose_open *open)
{
    return is_auto(open->kx) || is_auto(open->ky) ||
           (is_auto(open->lambda) && choose_has_lambda(run));
}

okra_status choose_pass_on(cli_run *run, const choose_open *open)
{
    const char *const typed[][2] = {
        {"kx", open->kx}, {"ky", open->ky}, {"lambda", open->lambda}};
    for (size_t i = 0; i < 3; i++) {
        if (!is_auto(typed[i][1])) {
            CHK(okra_options_set(run->library, typed[i][0], typed[i][1]));
        }
    }
    return OKRA_OK;
}

okra_status choose_links(cli_run *run, const okra_link_task *task,
                         const okra_link_settings *settings, okra_selection **selection)
{
    FREED_BY(okra_options_free_at) okra_options *options = NULL;
    okra_options *fit = NULL;
    CHK(okra_select_options(&options));
    CHK(each_set(run->library, copy, options));
    CHK(okra_choose_links(run->context, task, settings, options, &fit, selection));
    okra_options_free(run->library);
    run->library = fit;
    return OKRA_OK;
}

okra_status choose_options(cli_run *run, const choose_open *open, const okra_data *x,
                           const okra_data *y, okra_selection **selection)
{
    FREED_BY(okra_options_free_at) okra_options *options = NULL;
    okra_options *fit = NULL;
    CHK(okra_select_options(&options));
    CHK(each_set(run->library, copy, options));
    if (!is_auto(open->lambda)) { /* a list too */
        CHK(okra_options_set(options, "lambda", open->lambda));
    }
    if (open->effort) {
        CHK(okra_options_set(options, "effort", open->effort));
    }
    if (is_auto(open->kx)) {
        CHK(okra_options_set(options, "kx", "auto"));
    }
    if (is_auto(open->ky)) {
        CHK(okra_options_set(options, "ky", "auto"));
    }
    CHK(okra_choose(run->context, x, y, options, &fit, selection));
    okra_options_free(run->library);
    run->library = fit;
    return OKRA_OK;
}

/* ---- as a command line ---- */

typedef struct line {
    FILE *out;
    const char *lambda;
} line;

static void append_flag(line *t, const char *name, const char *value)
{
    fprintf(t->out, " --%s ", name);
    cli_put_word(t->out, value);
}

static okra_status append_option(void *user, const okra_option *row, const char *value)
{
    line *t = user;
    bool flag = row->type == OKRA_OPTION_BOOL && strcmp(value, "yes") == 0;
    if (strcmp(row->name, "method") == 0 && strcmp(value, row->preset) == 0) {
        return OKRA_OK; /* as it is without it */
    }
    if (flag) {
        fprintf(t->out, " --%s", row->name);
    } else {
        bool list = strcmp(row->name, "lambda") == 0 && t->lambda;
        append_flag(t, row->name, list ? t->lambda : value);
    }
    return OKRA_OK;
}

/* The command's own flags as typed (of `only`, if given), but for the file that is
 * written. */
static void append_own(line *t, const cli_run *run, const char *only)
{
    for (const okra_option *row = run->command->own.rows; row->name; row++) {
        const char *values = okra_options_get(run->options, row->name);
        bool passed = strcmp(row->name, "kx") == 0 || strcmp(row->name, "ky") == 0 ||
                      strcmp(row->name, "lambda") == 0 ||
                      strcmp(row->name, "effort") == 0;
        char word[64];
        snprintf(word, sizeof word, " %s ", row->name);
        if (passed || strcmp(row->name, "output") == 0 || (only && !strstr(only, word)) ||
            !okra_options_is_set(run->options, row->name)) {
            continue;
        }
        if (row->type == OKRA_OPTION_BOOL || strcmp(row->name, "compact") == 0) {
            fprintf(t->out, " --%s=%s", row->name, values);
            continue;
        }
        do { /* one per line, where given several times */
            size_t length = strcspn(values, "\n");
            char one[4096];
            snprintf(one, sizeof one, "%.*s", (int)length, values);
            append_flag(t, row->name, one);
            values += length + (values[length] == '\n');
        } while (*values);
    }
}

static char *command(const cli_run *run, const char *name, const char *only,
                     const okra_options *options, const char *lambda)
{
    char *text = NULL;
    size_t size = 0;
    line t = {open_memstream(&text, &size), lambda};
    const char *output = okra_options_get(run->options, "output");
    if (!t.out) {
        return NULL;
    }
    const char *header[] = {"", " --header yes", " --header no"};
    fprintf(t.out, "okra %s%s", name, header[run->common.header]);
    append_own(&t, run, only);
    if (*run->common.bag) {
        append_flag(&t, "bag", run->common.bag);
    }
    okra_status st = each_set(options, append_option, &t);
    if (run->common.seed != 0) {
        fprintf(t.out, " --seed %lld", (long long)run->common.seed);
    }
    if (*output || only) {
        fprintf(t.out, " -o ");
        cli_put_word(t.out, *output ? output : "model.okra");
    }
    if (fclose(t.out) != 0 || st != OKRA_OK) {
        free(text);
        return NULL;
    }
    return text;
}

char *choose_command(const cli_run *run, const char *lambda)
{
    return command(run, run->command->name, NULL, run->library, lambda);
}

char *choose_fit_command(const cli_run *run, const okra_options *fit)
{
    return command(run, "fit", " x y unlabelled sample-weight class-weight compact ", fit,
                   NULL);
}

void choose_summary(const okra_selection *selection, okra_int n, char *text, size_t size)
{
    json_t *about = json_loads(okra_selection_json(selection), 0, NULL);
    const json_t *best = json_object_get(about, "best");
    const json_t *error = json_object_get(best, "error");
    const char *cv = json_string_value(json_object_get(about, "cv"));
    bool links = json_is_integer(json_object_get(about, "nodes"));
    const char *metric = json_string_value(json_object_get(about, "metric"));
    bool loss = json_is_true(json_object_get(about, "loss"));
    bool relative = okra_metric_has(metric, OKRA_METRIC_RELATIVE);
    long long pairs =
        json_integer_value(json_object_get(about, links ? "nodes" : "pairs"));
    char of[48] = "";
    if (pairs < n) {
        snprintf(of, sizeof of, " of %lld", (long long)n);
    }
    int used = snprintf(
        text, size, "%s on %lld%s %s: %lld settings, the best with %s %.4g",
        !cv || strcmp(cv, "loo") == 0 ? "leave-one-out" : cv, pairs, of,
        links ? "nodes" : "pairs", (long long)okra_selection_count(selection),
        loss ? "loss" : metric, json_number_value(json_object_get(best, "mean")));
    if (relative && used > 0 && (size_t)used < size) {
        used += snprintf(text + used, size - (size_t)used, " of the outputs' variances");
    }
    if (error && json_is_number(error) && used > 0 && (size_t)used < size) {
        snprintf(text + used, size - (size_t)used, " (standard error %.2g)",
                 json_number_value(error));
    }
    json_decref(about);
}

void choose_verdict(const okra_selection *selection, char *text, size_t size)
{
    json_t *about = json_loads(okra_selection_json(selection), 0, NULL);
    const json_t *told = json_object_get(about, "left_out");
    text[0] = '\0';
    if (told) {
        snprintf(text, size, "%s %.3g; %s: %.3g",
                 json_string_value(json_object_get(told, "measure")),
                 json_number_value(json_object_get(told, "value")),
                 json_string_value(json_object_get(told, "naive")),
                 json_number_value(json_object_get(told, "naive_value")));
    }
    json_decref(about);
}
