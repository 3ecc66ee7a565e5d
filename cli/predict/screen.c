/*
 * screen.c: okra predict --candidates NAME.okx: the nearest candidates of an index, as a
 * table.
 */
#include "predict/screen.h"
#include "predict/table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool cli_is_index(const char *candidates)
{
    return cli_ends(candidates, ".okx") || cli_ends(candidates, ".okx/");
}

/* Fields of one line, apart by tabs (or commas), as a file has them: what a terminal
 * would obey is escaped, but a backslash, which SMILES may have, stays. */
static void print_text(FILE *out, const char *text, size_t length, char separator)
{
    char *copy = cli_alloc(length + 1, 1), *shown = cli_alloc(4 * length + 8, 1);
    if (copy && shown) {
        memcpy(copy, text, length);
        copy[length] = '\0';
        okra_text_printable(copy, shown, 4 * length + 8);
        bool quoted = separator == ',' && strpbrk(shown, ",\"");
        fputs(quoted ? "\"" : "", out);
        for (const char *p = shown; *p; p++) {
            if (strncmp(p, "\\x5c", 4) == 0) {
                fputc('\\', out);
                p += 3;
            } else {
                fputs(quoted && *p == '"' ? "\"" : "", out);
                fputc(*p == '\t' ? ' ' : *p, out);
            }
        }
        fputs(quoted ? "\"" : "", out);
    }
    free(copy);
    free(shown);
}

static void formula_of(const char *text, okra_int length, char *out, size_t size)
{
    okra_data *one = NULL;
    char *copy = cli_alloc((size_t)length + 1, 1);
    const char *const texts[] = {copy};
    out[0] = '\0';
    if (copy) {
        memcpy(copy, text, (size_t)length);
        okra_status st = okra_data_smiles(NULL, texts, 1, &one);
        if (st == OKRA_OK) {
            okra_data_formula(one, 0, out, size);
        } else if (st == OKRA_EMEM) {
            cli_lose();
        }
    }
    okra_data_free(one);
    free(copy);
}

cli_ranked_row cli_ranked_row_of(const cli_ranked_table *t, okra_int i)
{
    cli_ranked_row r = {
        .test = i / t->top, .rank = i % t->top + 1, .number = t->number[i]};
    okra_int length = 0;
    const char *text = okra_index_text(t->index, r.number, &length);
    r.row = okra_index_row(t->index, r.number);
    r.distance = t->distance[i];
    r.p = t->p ? t->p[i] : 0;
    r.mass = okra_index_mass(t->index, r.number);
    r.smiles = r.name = text;
    r.name_length = length;
    if (r.row >= 0) { /* a vector: all of the text is its name */
        return r;
    }
    while (r.smiles_length < length && text[r.smiles_length] != ' ' &&
           text[r.smiles_length] != '\t') {
        r.smiles_length++;
    }
    okra_int at = r.smiles_length;
    while (at < length && (text[at] == ' ' || text[at] == '\t')) {
        at++;
    }
    r.name = text + at;
    r.name_length = length - at;
    formula_of(text, r.smiles_length, r.formula, sizeof r.formula);
    return r;
}

static void print_rows(const cli_ranked_table *t, FILE *out, char s)
{
    bool vectors = okra_index_width(t->index) > 0;
    fprintf(out, "test%cquery%crank%ccandidate%cdistance%cp_value%cmass%c", s, s, s, s, s,
            s, s);
    if (vectors) {
        fprintf(out, "row%cname\n", s);
    } else {
        fprintf(out, "formula%csmiles%cname\n", s, s);
    }
    for (okra_int i = 0; i < t->tests * t->top; i++) {
        if (t->number[i] < 0) {
            continue;
        }
        cli_ranked_row r = cli_ranked_row_of(t, i);
        okra_int length = 0;
        const char *title = okra_data_text(t->x, r.test, &length);
        fprintf(out, "%lld%c", (long long)r.test, s);
        print_text(out, title ? title : "", title ? (size_t)length : 0, s);
        fprintf(out, "%c%lld%c%lld%c%.17g%c", s, (long long)r.rank, s,
                (long long)r.number, s, r.distance, s);
        if (t->p) {
            fprintf(out, "%.6g", r.p);
        }
        fprintf(out, "%c%.6f%c", s, r.mass, s);
        if (vectors) {
            fprintf(out, "%lld", (long long)r.row);
        } else {
            fprintf(out, "%s%c", r.formula, s);
            print_text(out, r.smiles, (size_t)r.smiles_length, s);
        }
        fputc(s, out);
        print_text(out, r.name, (size_t)r.name_length, s);
        fputc('\n', out);
    }
}

static void print_json(const cli_ranked_table *t, FILE *out)
{
    const char *comma = "";
    fputc('[', out);
    for (okra_int i = 0; i < t->tests * t->top; i++) {
        if (t->number[i] < 0) {
            continue;
        }
        cli_ranked_row r = cli_ranked_row_of(t, i);
        okra_int length = 0;
        const char *title = okra_data_text(t->x, r.test, &length);
        json_t *one = json_pack(
            "{s:I, s:o?, s:I, s:I, s:f, s:o, s:f}", "test", (json_int_t)r.test, "query",
            title ? json_stringn(title, (size_t)length) : json_string(""), "rank",
            (json_int_t)r.rank, "candidate", (json_int_t)r.number, "distance", r.distance,
            "p_value", t->p ? json_real(r.p) : json_null(), "mass", r.mass);
        json_t *what =
            r.row >= 0 ? json_pack("{s:I, s:o?}", "row", (json_int_t)r.row, "name",
                                   json_stringn(r.name, (size_t)r.name_length))
                       : json_pack("{s:s, s:o?, s:o?}", "formula", r.formula, "smiles",
                                   json_stringn(r.smiles, (size_t)r.smiles_length),
                                   "name", json_stringn(r.name, (size_t)r.name_length));
        json_object_update(one, what);
        json_decref(what);
        fprintf(out, "%s\n  ", comma);
        json_dumpf(one, out, JSON_PRESERVE_ORDER);
        json_decref(one);
        comma = ",";
    }
    fputs("\n]\n", out);
}

static int summarise(cli_run *run, const cli_screening *how, const okra_model *model,
                     const cli_ranked_table *t, const okra_ranked *ranked, double seconds)
{
    char buffer[64];
    double compared = 0;
    for (okra_int i = 0; i < t->tests; i++) {
        compared += (double)okra_ranked_compared(ranked, i);
    }
    bool taken = strcmp(how->output, "-") == 0;
    if (run->common.json && !taken) {
        double error = okra_ranked_error(ranked);
        json_t *result = cli_result(run, "ranked", "ranked", "Candidates, best first");
        json_t *own = json_pack(
            "{s:s, s:I, s:I, s:f, s:I, s:o, s:s, s:I, s:s, s:f}", "model",
            run->operands[0], "tests", (json_int_t)t->tests, "candidates",
            (json_int_t)okra_index_count(t->index), "compared", compared,
            "without_candidates", (json_int_t)t->empty, "error",
            isfinite(error) ? json_real(error) : json_null(), "p_values", t->calibrated,
            "pairs", (json_int_t)t->pairs, "output", how->output, "seconds", seconds);
        int status =
            cli_ranked_figures(run, model, t, json_object_get(result, "figures"));
        json_object_update(result, own);
        json_decref(own);
        if (status == CLI_DONE) {
            return cli_print_json(run, result);
        }
        json_decref(result);
        return status;
    }
    if (!run->common.quiet && !taken) {
        cli_line(stdout, "tests", "%lld", (long long)t->tests);
        cli_line(stdout, "candidates", "%lld, compared with a test point %.1f",
                 (long long)okra_index_count(t->index),
                 t->tests > 0 ? compared / (double)t->tests : 0);
        if (t->empty > 0) {
            cli_line(stdout, "without", "%lld tests fit no candidate",
                     (long long)t->empty);
        }
        if (okra_ranked_error(ranked) > 0) {
            cli_line(stdout, "low rank",
                     "squared distances of the shortlist were off by %.2g at most",
                     okra_ranked_error(ranked));
        }
        if (t->p) {
            cli_line(stdout, "p-values", "by %lld pairs, %s", (long long)t->pairs,
                     t->calibrated);
        }
        cli_line(stdout, "output", "%s", how->output);
        cli_line(stdout, "time", "%s", cli_seconds(seconds, buffer, sizeof buffer));
    }
    return CLI_DONE;
}

/* p-values of all distances, as asked for; auto: where they are to be had. */
static int calibrate(cli_run *run, const cli_screening *how, const okra_model *model,
                     cli_ranked_table *t)
{
    enum { PAIRS_MOST = 2000 };
    bool kept = okra_model_calibration(model, NULL, NULL) > 0;
    bool training =
        how->p_values == CLI_P_LEFT_OUT ||
        (how->p_values == CLI_P_AUTO && !kept && okra_model_count(model) <= PAIRS_MOST);
    t->calibrated = "none";
    if (how->p_values == CLI_P_NONE ||
        (how->p_values == CLI_P_AUTO && !kept && !training)) {
        return CLI_DONE;
    }
    t->p = malloc((size_t)(t->tests * t->top) * sizeof *t->p + 1);
    if (!t->p) {
        return cli_failure(run, "out of memory");
    }
    okra_status st = okra_conformal_distances(run->context, model, training, t->distance,
                                              t->tests * t->top, t->p, &t->pairs);
    if (st == OKRA_OK) {
        t->calibrated = training ? "left out" : "kept";
    } else if (how->p_values == CLI_P_AUTO &&
               (st == OKRA_EUNSUPPORTED || st == OKRA_ESHAPE || st == OKRA_EARG)) {
        free(t->p);
        t->p = NULL;
        st = OKRA_OK;
    }
    return cli_status(run, st);
}

/* ---- what a table tells of the test points ---- */

typedef struct told {
    double *masses, *values; /* values: tests x columns of the index */
    char **formulas;
    okra_int tests;
} told;

static void clear_texts(char **texts, okra_int count)
{
    for (okra_int i = 0; texts && i < count; i++) {
        free(texts[i]);
    }
    free(texts);
}

static void clear_told(told *t)
{
    clear_texts(t->formulas, t->tests);
    free(t->masses);
    free(t->values);
}

/* The number of a field; NaN: there is none. */
static double number_in(const char *text)
{
    char *end = NULL;
    double value = text ? strtod(text, &end) : 0;
    bool good = text && end != text && !end[strspn(end, " \t")] && isfinite(value);
    return good ? value : (double)NAN;
}

/* A column of a table, one text for each test point. */
static int read_column(const cli_run *run, const char *about, const char *heading,
                       const char *name, okra_int tests, char **texts)
{
    char separator = memchr(heading, '\t', strcspn(heading, "\n")) ? '\t' : ',';
    int column = cli_column(heading, separator, name);
    okra_int i = 0;
    if (column < 0) {
        return cli_failure(run, "%s: line 1: no column is called '%s'", about, name);
    }
    for (const char *line = heading + strcspn(heading, "\n"); *line;
         line += strcspn(line, "\n")) {
        const char *begin, *end;
        line++;
        if (cli_line_end(line) == line) {
            continue; /* an empty line is none */
        }
        if (i < tests && cli_field(line, separator, column, &begin, &end)) {
            texts[i] = strndup(begin, (size_t)(end - begin));
        }
        i++;
    }
    return i == tests ? CLI_DONE
                      : cli_failure(run,
                                    "%s has %lld lines below its header, there are %lld "
                                    "test points",
                                    about, (long long)i, (long long)tests);
}

/* Puts a column where the ranking looks for it. */
static void take_told(const char *name, const okra_index *index, char **texts, told *t,
                      okra_rank_request *request)
{
    int width = okra_index_columns(index), k = 0;
    bool mass = strcasecmp(name, "mass") == 0;
    while (k < width && strcasecmp(okra_index_column(index, k), name) != 0) {
        k++;
    }
    for (okra_int i = 0; i < t->tests; i++) {
        if (mass) {
            t->masses[i] = number_in(texts[i]);
        } else if (k < width) {
            t->values[i * width + k] = number_in(texts[i]);
        }
    }
    request->masses = mass ? t->masses : request->masses;
    request->values = !mass && k < width ? t->values : request->values;
}

/* What the parts of the window ask for: NAME=VALUE, not NAME=FROM..TO. */
static int read_told(cli_run *run, const cli_screening *how, const okra_index *index,
                     told *t, okra_rank_request *request)
{
    char buffer[4096];
    size_t tests = (size_t)t->tests;
    size_t numbers = tests * (size_t)okra_index_columns(index);
    int status = CLI_DONE;
    char *text = cli_slurp(cli_find(run, how->about, buffer, sizeof buffer));
    if (!text) {
        return cli_failure(run, "%s: cannot be read: %s", how->about, strerror(errno));
    }
    const char *heading = text + (strncmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0);
    t->masses = calloc(tests + 1, sizeof *t->masses);
    t->values = malloc(numbers * sizeof *t->values + 1);
    for (size_t i = 0; t->values && i < numbers; i++) {
        t->values[i] = (double)NAN;
    }
    for (const char *at = how->within; *at && status == CLI_DONE;) {
        size_t length = strcspn(at, ","), end = strcspn(at, ",=");
        const char *dots = strstr(at, "..");
        char name[64] = "", **texts = calloc(tests + 1, sizeof *texts);
        if (!t->masses || !t->values || !texts) {
            status = cli_failure(run, "out of memory");
        } else if (end < sizeof name && !(dots && dots < at + length)) {
            memcpy(name, at, end);
            status = read_column(run, how->about, heading, name, t->tests, texts);
            take_told(name, index, texts, t, request);
        }
        if (strcasecmp(name, "formula") == 0) {
            char **before = t->formulas;
            t->formulas = texts;
            texts = before;
            request->formulas = (const char *const *)t->formulas;
        }
        clear_texts(texts, t->tests);
        at += length + (at[length] == ',');
    }
    free(text);
    return status;
}

int cli_screen(cli_run *run, const cli_screening *how, const okra_model *model,
               const okra_data *x)
{
    okra_ranked *ranked = NULL;
    okra_index *index = NULL;
    double begin = cli_now();
    char buffer[4096];
    okra_rank_request request = {
        OKRA_SIZED(okra_rank_request), .within = *how->within ? how->within : NULL,
        .top = how->top, .shortlist = how->shortlist, .exact = how->exact};
    const char *path = cli_find(run, how->candidates, buffer, sizeof buffer);
    int status = cli_status(run, okra_index_open(run->context, path, &index));
    told about = {.tests = okra_data_count(x)};
    if (status == CLI_DONE && *how->about) {
        status = read_told(run, how, index, &about, &request);
    }
    if (status == CLI_DONE) {
        status = cli_status(
            run, okra_index_rank_all(run->context, index, model, x, &request, &ranked));
    }
    cli_ranked_table t = {.index = index, .x = x};
    cli_file *file = NULL;
    if (status == CLI_DONE) {
        t.number = okra_ranked_index(ranked, &t.tests, &t.top);
        t.distance = okra_ranked_distance(ranked);
        for (okra_int i = 0; i < t.tests; i++) {
            t.empty += t.top == 0 || t.number[i * t.top] < 0;
        }
        status = calibrate(run, how, model, &t);
    }
    if (status == CLI_DONE) {
        file = cli_file_open(run, how->output);
        status = file ? CLI_DONE : CLI_FAILED;
    }
    if (file && cli_ends(how->output, ".json")) {
        print_json(&t, cli_file_stream(file));
    } else if (file) {
        print_rows(&t, cli_file_stream(file), cli_ends(how->output, ".csv") ? ',' : '\t');
    }
    status = file ? cli_file_close(run, file, status) : status;
    if (status == CLI_DONE) {
        status = summarise(run, how, model, &t, ranked, cli_now() - begin);
    }
    free(t.p);
    clear_told(&about);
    okra_ranked_free(ranked);
    okra_index_free(index);
    return status;
}
