/*
 * score_lists.c: reads the tables of okra predict --top, --set and --interval.
 */
#include "score/score_lists.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

int score_lists_read(cli_run *run, const char *file, okra_int n, score_lists *out)
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
    if (status == CLI_DONE) {
        status = arrange(run, &r, n, out);
    }
    fclose(in);
    free(line);
    free(r.test);
    free(r.what);
    free(r.ends);
    return status;
}

void score_lists_clear(score_lists *lists)
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

void score_lists_figures(const score_lists *l, const okra_int *truth, json_t *figures)
{
    if (l->n > 0 && l->width > 0) {
        json_array_append_new(figures, hits(l, truth));
    }
    if (l->n > 0 && l->p) {
        json_array_append_new(figures, calibration(l, truth));
    }
}
