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

/* The next option of fit that is set; NULL at the end. */
static const okra_option *next_set(const okra_options *options, cli_tables *t)
{
    const okra_option *row = cli_next_row(t);
    while (row && !okra_options_is_set(options, row->name)) {
        row = cli_next_row(t);
    }
    return row;
}

/* Options of a selection with the values of a fit's. */
static okra_status as_selection(const okra_options *fit, okra_options **out)
{
    cli_tables t = {.count = 0};
    cli_tables_add(&t, "fit");
    CHK(okra_select_options(out));
    for (const okra_option *row; (row = next_set(fit, &t));) {
        CHK(okra_options_set(*out, row->name, okra_options_get(fit, row->name)));
    }
    return OKRA_OK;
}

bool choose_has_lambda(const cli_run *run)
{
    const char *name, *method = okra_options_get(run->library, "method");
    const okra_option_table *table;
    for (size_t i = 0; (name = okra_method_name(i, NULL, &table)); i++) {
        if (strcmp(name, method) == 0) {
            return cli_row_in(table, "lambda");
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
    CHK(as_selection(run->library, &options));
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
    CHK(as_selection(run->library, &options));
    if (!is_auto(open->lambda)) { /* a list too */
        CHK(okra_options_set(options, "lambda", open->lambda));
    }
    CHK(open->effort ? okra_options_set(options, "effort", open->effort) : OKRA_OK);
    if (is_auto(open->kx)) {
        CHK(okra_options_set(options, "kx", "auto"));
    }
    CHK(is_auto(open->ky) ? okra_options_set(options, "ky", "auto") : OKRA_OK);
    CHK(okra_choose(run->context, x, y, options, &fit, selection));
    okra_options_free(run->library);
    run->library = fit;
    return OKRA_OK;
}

/* ---- as a command line ---- */

static void append_flag(FILE *out, const char *name, const char *value)
{
    fprintf(out, " --%s ", name);
    cli_put_word(out, value);
}

/* lambda: a list in the place of the value, or NULL. */
static void append_options(FILE *out, const okra_options *options, const char *lambda)
{
    cli_tables t = {.count = 0};
    cli_tables_add(&t, "fit");
    for (const okra_option *row; (row = next_set(options, &t));) {
        const char *value = okra_options_get(options, row->name);
        bool list = strcmp(row->name, "lambda") == 0 && lambda;
        if (strcmp(row->name, "method") == 0 && strcmp(value, row->preset) == 0) {
            continue; /* as it is without it */
        }
        if (row->type == OKRA_OPTION_BOOL && strcmp(value, "yes") == 0) {
            fprintf(out, " --%s", row->name);
        } else {
            append_flag(out, row->name, list ? lambda : value);
        }
    }
}

/* The command's own flags as typed (of `only`, if given), but for the file that is
 * written. */
static void append_own(FILE *out, const cli_run *run, const char *only)
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
            fprintf(out, " --%s=%s", row->name, values);
            continue;
        }
        do { /* one per line, where given several times */
            size_t length = strcspn(values, "\n");
            char one[4096];
            snprintf(one, sizeof one, "%.*s", (int)length, values);
            append_flag(out, row->name, one);
            values += length + (values[length] == '\n');
        } while (*values);
    }
}

static char *command(const cli_run *run, const char *name, const char *only,
                     const okra_options *options, const char *lambda)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    const char *output = okra_options_get(run->options, "output");
    if (!out) {
        return NULL;
    }
    const char *header[] = {"", " --header yes", " --header no"};
    fprintf(out, "okra %s%s", name, header[run->common.header]);
    append_own(out, run, only);
    if (*run->common.bag) {
        append_flag(out, "bag", run->common.bag);
    }
    append_options(out, options, lambda);
    if (run->common.seed != 0) {
        fprintf(out, " --seed %lld", (long long)run->common.seed);
    }
    if (*output || only) {
        fprintf(out, " -o ");
        cli_put_word(out, *output ? output : "model.okra");
    }
    if (fclose(out) != 0) {
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
    OWNED_JSON *about = json_loads(okra_selection_json(selection), 0, NULL);
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
}

void choose_verdict(const okra_selection *selection, char *text, size_t size)
{
    OWNED_JSON *about = json_loads(okra_selection_json(selection), 0, NULL);
    const json_t *told = json_object_get(about, "left_out");
    text[0] = '\0';
    if (told) {
        snprintf(text, size, "%s %.3g; %s: %.3g",
                 json_string_value(json_object_get(told, "measure")),
                 json_number_value(json_object_get(told, "value")),
                 json_string_value(json_object_get(told, "naive")),
                 json_number_value(json_object_get(told, "naive_value")));
    }
}
