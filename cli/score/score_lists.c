/*
 * score_lists.c: scores of lists and sets of candidates, and of intervals, as okra
 * predict wrote them.
 */
#include "score/score.h"
#include "okra/program.h"
#include "predict/ranked.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct score_lists {
    okra_int n, width;
    okra_int *index; /* n x width: numbers of candidates in order, -1: no more */
    double *bounds;  /* n x width x 2: of intervals, in place of index         */
    double *p;       /* n x width: p-values, NaN: none; NULL: no such column   */
} score_lists;

enum { TEST, CANDIDATE, OUTPUT, LOWER, UPPER, P_VALUE, COLUMNS };
static const char *const names[COLUMNS] = {"test",  "candidate", "output",
                                           "lower", "upper",     "p_value"};

typedef struct reader {
    const char *file;
    char separator;
    int column[COLUMNS]; /* where each stands, or -1 */
    long long line;
    okra_int *test, *what; /* one of each line: a candidate or an output */
    double *ends;          /* two of each line */
    size_t count, room;
} reader;

/* Field k of a line, without its end; NULL: there are fewer. Between quotes a comma is
 * none. */
static char *field(char *line, int k, char separator)
{
    bool quoted = false;
    for (char *at = line; at && *at; at++) {
        if (k == 0) {
            return at;
        }
        quoted ^= *at == '"' && separator == ',';
        k -= *at == separator && !quoted;
    }
    return NULL;
}

static int read_heading(const cli_run *run, char *line, reader *r)
{
    r->separator = strchr(line, '\t') ? '\t' : ',';
    for (int c = 0; c < COLUMNS; c++) {
        r->column[c] = -1;
    }
    int k = 0;
    for (char *at = line; at; at = field(at, 1, r->separator), k++) {
        size_t length = strcspn(at, "\t,\r\n");
        for (int c = 0; c < COLUMNS; c++) {
            if (strlen(names[c]) == length && memcmp(names[c], at, length) == 0) {
                r->column[c] = k;
            }
        }
    }
    bool lists = r->column[TEST] >= 0 && r->column[CANDIDATE] >= 0;
    bool intervals = r->column[TEST] >= 0 && r->column[OUTPUT] >= 0 &&
                     r->column[LOWER] >= 0 && r->column[UPPER] >= 0;
    return lists || intervals
               ? CLI_DONE
               : cli_failure(run,
                             "%s: line 1: expected the headings test and candidate, or "
                             "test, output, lower and upper",
                             r->file);
}

static int number(const cli_run *run, const reader *r, char *line, int column,
                  double *out)
{
    char *text = field(line, r->column[column], r->separator), *end = NULL;
    *out = text ? strtod(text, &end) : 0;
    return text && end != text
               ? CLI_DONE
               : cli_failure(run, "%s: line %lld: expected a number as %s", r->file,
                             r->line, names[column]);
}

static int grow(const cli_run *run, reader *r)
{
    if (r->count < r->room) {
        return CLI_DONE;
    }
    size_t room = 2 * r->room + 64;
    okra_int *test = realloc(r->test, room * sizeof *test);
    r->test = test ? test : r->test;
    okra_int *what = realloc(r->what, room * sizeof *what);
    r->what = what ? what : r->what;
    double *ends = realloc(r->ends, 2 * room * sizeof *ends);
    r->ends = ends ? ends : r->ends;
    if (!test || !what || !ends) {
        return cli_failure(run, "out of memory");
    }
    r->room = room;
    return CLI_DONE;
}

static int read_line(const cli_run *run, char *line, okra_int n, reader *r)
{
    double test, what, low = 0, high = 0;
    bool intervals = r->column[CANDIDATE] < 0;
    int status = number(run, r, line, TEST, &test);
    status =
        status ? status : number(run, r, line, intervals ? OUTPUT : CANDIDATE, &what);
    if (status == CLI_DONE && intervals) {
        status = number(run, r, line, LOWER, &low);
        status = status ? status : number(run, r, line, UPPER, &high);
    } else if (status == CLI_DONE && r->column[P_VALUE] >= 0) {
        char *text = field(line, r->column[P_VALUE], r->separator), *end = text;
        low = text ? strtod(text, &end) : 0;
        low = text && end != text ? low : (double)NAN; /* an empty one is none */
    }
    if (status == CLI_DONE &&
        !(test >= 0 && test < (double)n && what >= 0 && what < 9e15)) {
        status = cli_failure(
            run, "%s: line %lld: test %g and %s %g, expected tests 0 to %lld", r->file,
            r->line, test, intervals ? "output" : "candidate", what, (long long)n - 1);
    }
    status = status ? status : grow(run, r);
    if (status == CLI_DONE) {
        r->test[r->count] = (okra_int)test;
        r->what[r->count] = (okra_int)what;
        r->ends[2 * r->count] = low;
        r->ends[2 * r->count++ + 1] = high;
    }
    return status;
}

/* Lists of one width from the lines. */
static int arrange(const cli_run *run, const reader *r, okra_int n, score_lists *out)
{
    bool intervals = r->column[CANDIDATE] < 0;
    okra_int *used = calloc((size_t)n + 1, sizeof *used), width = 0;
    for (size_t k = 0; used && k < r->count; k++) {
        okra_int size = intervals ? r->what[k] + 1 : ++used[r->test[k]];
        width = size > width ? size : width;
    }
    size_t places = (size_t)n * (size_t)width;
    out->n = n;
    out->width = width;
    out->index = intervals ? NULL : malloc(places * sizeof *out->index + 1);
    out->bounds = intervals ? calloc(2 * places + 1, sizeof *out->bounds) : NULL;
    out->p = !intervals && r->column[P_VALUE] >= 0 ? malloc(places * sizeof *out->p + 1)
                                                   : NULL;
    if (!used || (!out->index && !out->bounds)) {
        free(used);
        return cli_failure(run, "out of memory");
    }
    for (size_t k = 0; out->index && k < places; k++) {
        out->index[k] = -1;
    }
    memset(used, 0, (size_t)n * sizeof *used);
    for (size_t k = 0; k < r->count; k++) {
        okra_int t = r->test[k];
        if (out->index) {
            if (out->p) {
                out->p[t * width + used[t]] = r->ends[2 * k];
            }
            out->index[t * width + used[t]++] = r->what[k];
        } else {
            memcpy(out->bounds + 2 * (t * width + r->what[k]), r->ends + 2 * k,
                   2 * sizeof(double));
            used[t]++;
        }
    }
    int status = CLI_DONE;
    for (okra_int t = 0; t < n && out->bounds && status == CLI_DONE; t++) {
        if (used[t] != width) {
            status =
                cli_failure(run, "%s: test %lld has %lld intervals, expected %lld",
                            r->file, (long long)t, (long long)used[t], (long long)width);
        }
    }
    free(used);
    return status;
}

/* A table with columns test and candidate (rank, if there, must ascend), or test, output,
 * lower and upper; n tests are expected, which may have empty lists. */
static int score_lists_read(cli_run *run, const char *file, okra_int n, score_lists *out)
{
    char buffer[4096], *line = NULL;
    size_t size = 0;
    reader r = {.file = file};
    FILE *in = fopen(cli_find(run, file, buffer, sizeof buffer), "r");
    if (!in) {
        return cli_failure(run, "%s: cannot be opened", file);
    }
    int status = CLI_DONE;
    while (status == CLI_DONE && getline(&line, &size, in) >= 0) {
        r.line++;
        if (r.line == 1) {
            status = read_heading(run, line, &r);
        } else if (line[strspn(line, " \r\n")]) {
            status = read_line(run, line, n, &r);
        }
    }
    if (status == CLI_DONE && r.line == 0) {
        status = cli_failure(run, "%s: the file is empty", file);
    }
    status = status ? status : arrange(run, &r, n, out);
    fclose(in);
    free(line);
    free(r.test);
    free(r.what);
    free(r.ends);
    return status;
}

static void score_lists_clear(score_lists *lists)
{
    free(lists->index);
    free(lists->bounds);
    free(lists->p);
}

/* ---- figures ---- */

/* Where the truth of test t stands in its list; -1: nowhere. */
static okra_int place_of(const score_lists *l, const okra_int *truth, okra_int t)
{
    for (okra_int k = 0; k < l->width && truth[t] >= 0; k++) {
        if (l->index[t * l->width + k] == truth[t]) {
            return k;
        }
    }
    return -1;
}

static json_t *hits(const score_lists *l, const okra_int *truth)
{
    json_t *x = json_array(), *y = json_array();
    for (okra_int k = 0; k < l->width; k++) {
        okra_int in = 0;
        for (okra_int t = 0; t < l->n; t++) {
            okra_int at = place_of(l, truth, t);
            in += at >= 0 && at <= k;
        }
        json_array_append_new(x, json_integer((json_int_t)k + 1));
        json_array_append_new(y, json_real((double)in / (double)l->n));
    }
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:[{s:s, s:o, s:o}]}", "id", "hits",
                     "type", "curve", "title", "Truths among the first k", "x_label", "k",
                     "y_label", "share of the tests", "series", "name", "among the first",
                     "x", x, "y", y);
}

static json_t *calibration(const score_lists *l, const okra_int *truth)
{
    enum { STEPS = 50 };
    json_t *x = json_array(), *y = json_array();
    for (int k = 0; k <= STEPS; k++) {
        okra_int below = 0, all = 0;
        double level = (double)k / STEPS;
        for (okra_int t = 0; t < l->n; t++) {
            okra_int at = place_of(l, truth, t);
            double p = at >= 0 ? l->p[t * l->width + at] : (double)NAN;
            all += !isnan(p);
            below += p <= level;
        }
        json_array_append_new(x, json_real(level));
        json_array_append_new(y, json_real(all > 0 ? (double)below / (double)all : 0));
    }
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:[{s:s, s:o, s:o}, {s:s, s:[f, f], s:[f, f]}]}", "id",
        "calibration", "type", "curve", "title", "p-values of truths in the lists",
        "x_label", "p-value", "y_label", "share at or below it", "series", "name",
        "observed", "x", x, "y", y, "name", "as it should be at most", "x", 0.0, 1.0, "y",
        0.0, 1.0);
}

/* How often the truth (a number of each test, -1: none) is among the first k, and, where
 * there are p-values, how they are spread for the truths that the lists have. */
static void score_lists_figures(const score_lists *l, const okra_int *truth,
                                json_t *figures)
{
    if (l->n > 0 && l->width > 0) {
        json_array_append_new(figures, hits(l, truth));
    }
    if (l->n > 0 && l->p) {
        json_array_append_new(figures, calibration(l, truth));
    }
}

/* ---- the metrics ---- */

/* The same of an index, whose candidates differ. */
static int number_in_index(cli_run *run, const score_fields *f, const okra_data *y,
                           const score_lists *l, okra_int *truth)
{
    char buffer[4096];
    okra_index *index = NULL;
    const char *path = cli_find(run, f->candidates, buffer, sizeof buffer);
    int status = cli_status(run, okra_index_open(run->context, path, &index));
    status =
        status ? status : cli_status(run, okra_index_find(run->context, index, y, truth));
    for (okra_int k = 0; k < l->n * l->width && status == CLI_DONE; k++) {
        if (l->index[k] >= okra_index_lines(index)) {
            status =
                cli_failure(run, "%s: candidate %lld, expected less than %lld", f->lists,
                            (long long)l->index[k], (long long)okra_index_lines(index));
        }
    }
    okra_index_free(index);
    return status;
}

/* Which object has that row in its file, rows ascend; -1: none. */
static okra_int object_at(const okra_data *data, okra_int row)
{
    okra_int low = 0, high = okra_data_count(data);
    while (low < high) {
        okra_int middle = low + (high - low) / 2;
        if (okra_data_row(data, middle) < row) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return okra_data_row(data, low) == row ? low : -1;
}

/* The number of the true candidate of each test, and lists by the same numbers. */
static int number_truth(cli_run *run, const score_fields *f, const okra_data *y,
                        score_lists *l, okra_int *truth)
{
    char buffer[4096];
    okra_model *model = NULL;
    okra_data *given = NULL;
    okra_int *same = NULL;
    if (cli_is_index(f->candidates)) {
        return number_in_index(run, f, y, l, truth);
    }
    okra_status st =
        *f->candidates
            ? cli_read_candidates(run, f->candidates, NULL, &given)
            : okra_model_load(run->context,
                              cli_find(run, f->model, buffer, sizeof buffer), &model);
    const okra_data *among = model ? okra_model_outputs(model) : given;
    okra_int count = st == OKRA_OK ? okra_data_count(among) : 0;
    int status = cli_status(run, st);
    same = malloc((size_t)count * sizeof *same + 1);
    if (status == CLI_DONE && !same) {
        status = cli_failure(run, "out of memory");
    }
    if (status == CLI_DONE) {
        st = okra_candidates_match(y, among, truth);
        st = st == OKRA_OK ? okra_candidates_match(among, among, same) : st;
        status = cli_status(run, st);
    }
    for (okra_int k = 0; k < l->n * l->width && status == CLI_DONE; k++) {
        okra_int at = l->index[k] < 0 ? -1 : object_at(among, l->index[k]);
        if (l->index[k] >= 0 && at < 0) {
            okra_int end = okra_data_row(among, count - 1) + 1;
            status = cli_failure(run, "%s: candidate %lld, expected less than %lld%s",
                                 f->lists, (long long)l->index[k], (long long)end,
                                 l->index[k] < end ? "; that line was left out" : "");
        } else if (at >= 0) { /* of equal candidates the first stands for all */
            l->index[k] = same[at];
        }
    }
    free(same);
    okra_data_free(given);
    okra_model_free(model);
    return status;
}

/* Intervals: each output is a set of numbers; coverage is that of the known ones. */
static int check_intervals(cli_run *run, const okra_data *y, const score_lists *l,
                           scores *s)
{
    okra_int ld, d = okra_data_width(y);
    const double *values = okra_data_values(y, &ld);
    if (!values || d != l->width) {
        return cli_failure(run, "the intervals are of %lld outputs, --y has %lld",
                           (long long)l->width, (long long)d);
    }
    s->unknown = 0;
    for (okra_int i = 0; i < s->n * d; i++) {
        s->unknown += isnan(values[i / d * ld + i % d]);
    }
    for (size_t k = 0; k < s->count; k++) {
        REFUSE_IF(!okra_metric_has(s->spec[k], OKRA_METRIC_INTERVALS),
                  "metric %s has no use of intervals: coverage, set-size", s->spec[k]);
    }
    return CLI_DONE;
}

/* The value of metric k, and one an object in `each`. */
static okra_status measure(const cli_run *run, const okra_data *y, const score_lists *l,
                           const okra_int *truth, scores *s, size_t k, double *each)
{
    okra_int ld = 0;
    const double *values = l->bounds ? okra_data_values(y, &ld) : NULL;
    okra_status st = okra_metric_is_loss(s->spec[k], &s->loss[k]);
    return st != OKRA_OK ? st
           : l->bounds
               ? okra_score_intervals(run->context, s->spec[k], values, ld, l->bounds,
                                      s->n, l->width, &s->value[k], each)
               : okra_score_lists(run->context, s->spec[k], truth, l->index, s->n,
                                  l->width, &s->value[k], each);
}

int score_listed(cli_run *run, const score_fields *f, const okra_data *y, scores *s)
{
    score_lists l = {0};
    okra_int *truth = malloc((size_t)s->n * sizeof *truth + 1);
    double *column = malloc((size_t)s->n * sizeof *column + 1);
    int status = truth && column ? score_lists_read(run, f->lists, s->n, &l)
                                 : cli_failure(run, "out of memory");
    if (status == CLI_DONE && l.bounds) {
        status = check_intervals(run, y, &l, s);
    } else
        status = status ? status : number_truth(run, f, y, &l, truth);
    for (size_t k = 0; k < s->count && status == CLI_DONE; k++) {
        status = cli_status(run, measure(run, y, &l, truth, s, k, column));
        s->has[k] = true;
        for (okra_int i = 0; s->each && status == CLI_DONE && i < s->n; i++) {
            s->each[(size_t)i * s->count + k] = column[i];
        }
    }
    if (status == CLI_DONE && s->figures && l.index) {
        score_lists_figures(&l, truth, s->figures);
    }
    free(truth);
    free(column);
    score_lists_clear(&l);
    return status;
}
