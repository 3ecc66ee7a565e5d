/*
 * sets.c: prediction sets, intervals and rejections of okra predict.
 */
#include "predict/sets_job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool cli_sets_wanted(const cli_sets *f)
{
    return f->set > 0 || f->interval > 0 || f->reject > 0 || *f->p_values;
}

int cli_sets_check(const cli_run *run, const cli_sets *f)
{
    static const char *const levels[] = {"set", "interval", "reject"};
    static const char *const others[] = {
        "bounds",      "conformal",     "conformal-score", "conformal-folds",
        "calibrate-x", "calibrate-y",   "groups",          "test-groups",
        "group-cuts",  "shift-weights", "truth",           "test-shift-weights"};
    const double values[] = {f->set, f->interval, f->reject};
    for (int i = 0; i < 3; i++) {
        if (okra_options_is_set(run->options, levels[i]) &&
            !(values[i] > 0 && values[i] < 1)) {
            return cli_usage(run, "--%s is %g, expected a number between 0 and 1",
                             levels[i], values[i]);
        }
    }
    for (size_t i = 0; !cli_sets_wanted(f) && i < sizeof others / sizeof *others; i++) {
        if (okra_options_is_set(run->options, others[i])) {
            return cli_usage(run,
                             "--%s has no use without --set, --interval, --reject or "
                             "--p-values",
                             others[i]);
        }
    }
    return CLI_DONE;
}

/* Each different candidate once. */
static int choose_candidates(cli_run *run, cli_sets_job *j, const okra_data *given)
{
    const okra_data *from = given ? given : okra_model_outputs(j->model);
    okra_int n = okra_data_count(from);
    j->row = malloc((size_t)n * sizeof *j->row + 1);
    if (!j->row) {
        return cli_failure(run, "out of memory");
    }
    okra_status st = okra_data_distinct(from, j->row, &j->count);
    if (st == OKRA_OK) {
        st = okra_data_take(from, j->row, j->count, &j->candidates);
    }
    return cli_status(run, st);
}

/* ---- tables ---- */

/* Each entry of a sparse vector, each 1 of bits. */
typedef void (*entry_fn)(void *user, okra_int j, double value);
static void each_entry(const okra_data *data, okra_int i, entry_fn entry, void *user)
{
    const okra_int *indices = NULL;
    const double *values = NULL;
    okra_int words = 0;
    const okra_int *indptr = okra_data_compressed(data, &indices, &values);
    const uint64_t *bits = indptr ? NULL : okra_data_words(data, &words);
    for (okra_int k = indptr ? indptr[i] : 0; indptr && k < indptr[i + 1]; k++) {
        entry(user, indices[k], values[k]);
    }
    for (okra_int j = 0; bits && j < okra_data_width(data); j++) {
        if (bits[i * words + j / 64] >> (j % 64) & 1) {
            entry(user, j, 1);
        }
    }
}

typedef struct printing {
    FILE *out;
    bool dense;
    okra_int count;
} printing;

static void print_entry(void *user, okra_int j, double value)
{
    printing *p = user;
    fputs(p->count++ > 0 ? " " : "", p->out);
    if (!p->dense) {
        fprintf(p->out, "%lld", (long long)j);
    }
    if (p->dense || value < 1 || value > 1) {
        fprintf(p->out, "%s%.17g", p->dense ? "" : ":", value);
    }
}

void cli_print_vector(FILE *out, const okra_data *data, okra_int i)
{
    okra_int ld = 0;
    const double *values = okra_data_values(data, &ld);
    printing p = {out, values != NULL, 0};
    for (okra_int j = 0; values && j < okra_data_width(data); j++) {
        print_entry(&p, j, values[i * ld + j]);
    }
    each_entry(data, i, print_entry, &p);
}

static void print_point(FILE *out, uint32_t c)
{
    if (c < 0x80) {
        fputc((int)c, out);
    } else if (c < 0x800) {
        fprintf(out, "%c%c", (int)(0xc0 | c >> 6), (int)(0x80 | (c & 0x3f)));
    } else if (c < 0x10000) {
        fprintf(out, "%c%c%c", (int)(0xe0 | c >> 12), (int)(0x80 | (c >> 6 & 0x3f)),
                (int)(0x80 | (c & 0x3f)));
    } else {
        fprintf(out, "%c%c%c%c", (int)(0xf0 | c >> 18), (int)(0x80 | (c >> 12 & 0x3f)),
                (int)(0x80 | (c >> 6 & 0x3f)), (int)(0x80 | (c & 0x3f)));
    }
}

void cli_print_object(FILE *out, const okra_data *data, okra_int i, char separator)
{
    okra_int length = 0;
    bool quoted = false;
    const char *text = okra_data_text(data, i, &length);
    const int32_t *points = text ? NULL : okra_data_characters(data, i, &length);
    length = text || points ? length : 0;
    for (okra_int k = 0; separator == ',' && k < length; k++) {
        uint32_t c = text ? (unsigned char)text[k] : (uint32_t)points[k];
        quoted |= c == ',' || c == '"';
    }
    fputs(quoted ? "\"" : "", out);
    for (okra_int k = 0; k < length; k++) {
        uint32_t c = text ? (unsigned char)text[k] : (uint32_t)points[k];
        if (separator && (c < 32 || c == 127 || (c == '\\' && separator == '\t'))) {
            fprintf(out, "\\x%02x", c);
            continue;
        }
        fputs(c == '"' && quoted ? "\"" : "", out);
        if (text) {
            fputc((int)c, out);
        } else {
            print_point(out, c);
        }
    }
    fputs(quoted ? "\"" : "", out);
}

json_t *cli_object_text(const okra_data *data, okra_int i)
{
    char *text = NULL;
    size_t size = 0;
    json_t *value = NULL;
    FILE *out = open_memstream(&text, &size);
    if (out) {
        cli_print_object(out, data, i, '\0');
        long wrote = ftell(out); /* it does not tell what it loses for want of memory */
        bool whole = !ferror(out);
        whole = fclose(out) == 0 && whole && text && wrote >= 0 && (size_t)wrote == size;
        value = whole ? json_stringn(text, size) : NULL;
    }
    if (!value) {
        cli_lose();
    }
    free(text);
    return value;
}

static void set_entry(void *user, okra_int j, double value)
{
    char key[32];
    snprintf(key, sizeof key, "%lld", (long long)j);
    json_object_set_new(user, key, json_real(value));
}

json_t *cli_object_json(const okra_data *data, okra_int i)
{
    okra_int ld = 0, length = 0;
    okra_kind kind = okra_data_kind(data);
    const double *values = okra_data_values(data, &ld);
    const okra_int *codes = okra_data_codes(data);
    if (values || kind == OKRA_SPARSE || kind == OKRA_BITS) {
        json_t *list = values ? json_array() : json_object();
        for (okra_int k = 0; values && k < okra_data_width(data); k++) {
            json_array_append_new(list, json_real(values[i * ld + k]));
        }
        each_entry(data, i, set_entry, list);
        return list;
    }
    if (okra_data_text(data, i, &length) || okra_data_characters(data, i, &length)) {
        return cli_object_text(data, i);
    }
    return codes ? json_integer((json_int_t)codes[i]) : json_null();
}

typedef struct member {
    okra_int candidate;
    double p;
} member;

static int by_p(const void *a, const void *b)
{
    const member *p = a, *q = b;
    if (p->p != q->p) {
        return p->p < q->p ? -1 : 1;
    }
    return (p->candidate > q->candidate) - (p->candidate < q->candidate);
}

/* The members of the set of test t, smallest p-value first; returns their number. */
static okra_int members(const cli_sets_job *j, okra_int t, double alpha, member *out)
{
    okra_int count = 0;
    for (okra_int c = 0; c < j->count; c++) {
        double p = j->p[t * j->count + c];
        if (p > alpha) {
            out[count++] = (member){c, p};
        }
    }
    qsort(out, (size_t)count, sizeof *out, by_p);
    return count;
}

static void print_member(FILE *out, const cli_sets_job *j, okra_int t, const member *m,
                         char sep)
{
    fprintf(out, "%lld%c%lld%c", (long long)t, sep, (long long)j->row[m->candidate], sep);
    cli_print_object(out, j->candidates, m->candidate, sep);
    fprintf(out, "%c%.17g\n", sep, m->p);
}

/* The sets, or with --reject those of one member alone; *size: members in all, *single:
 * sets of one. */
static int write_sets(cli_run *run, const cli_sets_job *j, const char *output,
                      okra_int *size, okra_int *single)
{
    bool reject = j->f->reject > 0;
    char sep = cli_ends(output, ".csv") ? ',' : '\t';
    member *list = malloc((size_t)j->count * sizeof *list + 1);
    cli_file *file = list ? cli_file_open(run, output) : NULL;
    if (!list) {
        return cli_failure(run, "out of memory");
    }
    if (!file) {
        free(list);
        return CLI_FAILED;
    }
    FILE *out = cli_file_stream(file);
    fprintf(out, "test%ccandidate%cobject%cp_value\n", sep, sep, sep);
    for (okra_int t = 0; t < j->tests; t++) {
        okra_int count = members(j, t, reject ? j->f->reject : j->f->set, list);
        *size += count;
        *single += count == 1;
        for (okra_int k = 0; k < count && (!reject || count == 1); k++) {
            print_member(out, j, t, &list[k], sep);
        }
    }
    free(list);
    return cli_file_close(run, file, CLI_DONE);
}

/* n x d x 2 doubles in NumPy's format, version 1.0. */
static int write_cube(cli_run *run, const double *values, okra_int n, okra_int d,
                      const char *path)
{
    char head[128];
    cli_file *file = cli_file_open(run, path);
    if (!file) {
        return CLI_FAILED;
    }
    FILE *out = cli_file_stream(file);
    int used = snprintf(head, sizeof head,
                        "{'descr': '<f8', 'fortran_order': False, 'shape': (%lld, %lld, "
                        "2), }",
                        (long long)n, (long long)d);
    int size = (10 + used + 1 + 63) / 64 * 64 - 10; /* the values begin at 64 bytes */
    fwrite("\x93NUMPY\x01", 1, 7, out);
    fprintf(out, "%c%c%c%s%*s\n", 0, size & 255, size >> 8, head, size - used - 1, "");
    fwrite(values, sizeof *values, (size_t)(n * d) * 2, out);
    return cli_file_close(run, file, CLI_DONE);
}

static int write_intervals(cli_run *run, const cli_sets_job *j, const char *output,
                           const double *bounds, const double *radius, okra_int d)
{
    char sep = cli_ends(output, ".csv") ? ',' : '\t';
    cli_file *file = cli_file_open(run, output);
    if (!file) {
        return CLI_FAILED;
    }
    FILE *out = cli_file_stream(file);
    fprintf(out, "test%coutput%clower%cupper%cradius\n", sep, sep, sep, sep);
    for (okra_int k = 0; k < j->tests * d; k++) {
        fprintf(out, "%lld%c%lld%c%.17g%c%.17g%c%.17g\n", (long long)(k / d), sep,
                (long long)(k % d), sep, bounds[2 * k], sep, bounds[2 * k + 1], sep,
                radius[k / d]);
    }
    return cli_file_close(run, file, CLI_DONE);
}

/* ---- the two kinds ---- */

/* What is said in the end; with the truth, how often it was held. */
static int say(const cli_run *run, const cli_sets_job *j, const cli_sets_result *r,
               const char *name, double value)
{
    const char *how = r->how;
    if (run->common.json && j->truth) {
        return cli_print_json(run, cli_sets_json(run, r));
    }
    if (run->common.json) {
        return cli_print_json(
            run, json_pack("{s:I, s:s, s:o}", "tests", (json_int_t)j->tests, "conformal",
                           how, name, isfinite(value) ? json_real(value) : json_null()));
    }
    if (!run->common.quiet) {
        cli_line(stdout, "tests", "%lld", (long long)j->tests);
        cli_line(stdout, "conformal", "%s, score %s", how, j->f->score);
        cli_line(stdout, name, "%.4g", value);
        if (j->truth) {
            cli_line(stdout, "coverage", "%.4f", cli_sets_coverage(r));
        }
    }
    return CLI_DONE;
}

/* The candidate that is the truth of each test input. */
static int find_truth(cli_run *run, const cli_sets_job *j, okra_int **out)
{
    *out = NULL;
    if (!j->truth) {
        return CLI_DONE;
    }
    *out = malloc((size_t)j->tests * sizeof **out + 1);
    return *out ? cli_status(run, okra_data_match(j->truth, j->candidates, *out))
                : cli_failure(run, "out of memory");
}

static int sets(cli_run *run, cli_sets_job *j, const okra_data *given, const char *output)
{
    int status = choose_candidates(run, j, given);
    okra_int size = 0, single = 0;
    if (status != CLI_DONE) {
        return status;
    }
    j->p = malloc((size_t)j->tests * (size_t)j->count * sizeof *j->p + 1);
    if (!j->p) {
        return cli_failure(run, "out of memory: %lld x %lld p-values",
                           (long long)j->tests, (long long)j->count);
    }
    status = cli_status(run, okra_conformal_p_values(run->context, j->model, j->x,
                                                     j->candidates, &j->s, j->p));
    if (status == CLI_DONE && *j->f->p_values) {
        status =
            cli_status(run, cli_write(run, j->p, j->tests, j->count, j->f->p_values));
    }
    if (status == CLI_DONE && *output) {
        status = write_sets(run, j, output, &size, &single);
        okra_int *truth = NULL;
        status = status ? status : find_truth(run, j, &truth);
        if (status == CLI_DONE && strcmp(output, "-") != 0) {
            double tests = j->tests > 0 ? (double)j->tests : 1;
            cli_sets_result r = {.tests = j->tests,
                                 .count = j->count,
                                 .alpha = j->f->reject > 0 ? j->f->reject : j->f->set,
                                 .p = j->p,
                                 .truth = truth,
                                 .groups = j->s.by_class ? j->truth : j->s.test_groups,
                                 .how = cli_sets_how(j)};
            status = say(run, j, &r, j->f->reject > 0 ? "answered" : "set size",
                         (double)(j->f->reject > 0 ? single : size) / tests);
        }
        free(truth);
    }
    return status;
}

static int intervals(cli_run *run, cli_sets_job *j, const char *output)
{
    okra_int d = okra_data_width(okra_model_outputs(j->model));
    size_t count = (size_t)j->tests * (size_t)d;
    double *bounds = malloc(count * 2 * sizeof *bounds + 1);
    double *radius = malloc((size_t)j->tests * sizeof *radius + 1);
    int status = bounds && radius ? CLI_DONE : cli_failure(run, "out of memory");
    if (status == CLI_DONE) {
        status = cli_status(run, okra_conformal_intervals(run->context, j->model, j->x,
                                                          j->f->interval, &j->s, bounds,
                                                          radius));
    }
    if (status == CLI_DONE && *j->f->bounds) {
        status = write_cube(run, bounds, j->tests, d, j->f->bounds);
    }
    if (status == CLI_DONE && *output) {
        status = write_intervals(run, j, output, bounds, radius, d);
    }
    if (status == CLI_DONE && strcmp(output, "-") != 0) {
        double sum = 0;
        for (size_t k = 0; k < count; k++) {
            sum += bounds[2 * k + 1] - bounds[2 * k];
        }
        cli_sets_result r = {.tests = j->tests,
                             .d = d,
                             .alpha = j->f->interval,
                             .bounds = bounds,
                             .groups = j->s.test_groups,
                             .how = cli_sets_how(j)};
        r.values = j->truth ? okra_data_values(j->truth, &r.values_ld) : NULL;
        if (j->truth && (!r.values || okra_data_width(j->truth) != d)) {
            status = cli_failure(run, "%s: expected vectors of length %lld", j->f->truth,
                                 (long long)d);
        } else {
            status = say(run, j, &r, "mean width", count > 0 ? sum / (double)count : 0);
        }
    }
    free(bounds);
    free(radius);
    return status;
}

static int check(const cli_run *run, const cli_sets *f, const char *output, bool given)
{
    int kinds = (f->set > 0) + (f->interval > 0) + (f->reject > 0);
    const char *files[] = {output, f->bounds, f->p_values};
    if (kinds > 1) {
        return cli_usage(run, "--set, --interval and --reject exclude one another");
    }
    if (f->interval > 0 ? !*output && !*f->bounds : kinds > 0 && !*output) {
        return cli_usage(run, "nothing to write: give -o%s",
                         f->interval > 0 ? " or --bounds" : "");
    }
    if (kinds == 0 && *f->truth) {
        return cli_usage(run,
                         "--truth has no use with --p-values alone: give --set ALPHA");
    }
    if (f->interval > 0 && given) {
        return cli_usage(run, "--candidates has no use with --interval");
    }
    if (okra_options_is_set(run->options, "conformal-folds") &&
        strcmp(f->conformal, "cv+") != 0) {
        return cli_usage(run, "--conformal-folds is for --conformal cv+");
    }
    if (strcmp(output, "-") == 0 && (*f->truth || strcmp(f->p_values, "-") == 0)) {
        return cli_usage(run, "-o - takes standard output: --truth and --p-values - have "
                              "no use");
    }
    if (kinds == 0 && *output) {
        return cli_usage(run, "--p-values alone writes no objects: -o has no use; give "
                              "--set ALPHA");
    }
    if ((*f->bounds && f->interval == 0) || (*f->p_values && f->interval > 0)) {
        return cli_usage(run, "--bounds goes with --interval, --p-values with --set");
    }
    if (*output && strcmp(output, "-") != 0 && !cli_ends(output, ".tsv") &&
        !cli_ends(output, ".csv")) {
        return cli_usage(run, "-o is '%s', expected a table: a name in .tsv or .csv",
                         output);
    }
    for (int i = 0; i < 3; i++) {
        int status = cli_check_writable(run, files[i]);
        if (status != CLI_DONE) {
            return status;
        }
    }
    return CLI_DONE;
}

int cli_sets_write(cli_run *run, const cli_sets *f, const okra_model *model,
                   const okra_data *x, const okra_data *candidates, const char *output)
{
    cli_sets_job j = {.f = f, .model = model, .x = x, .tests = okra_data_count(x)};
    int status = check(run, f, output, candidates != NULL);
    status = status ? status : cli_sets_read(run, &j);
    if (status == CLI_DONE) {
        status = f->interval > 0 ? intervals(run, &j, output)
                                 : sets(run, &j, candidates, output);
    }
    while (j.owned_count > 0) {
        okra_data_free(j.owned[--j.owned_count]);
    }
    okra_data_free(j.candidates);
    free(j.row);
    free(j.p);
    return status;
}
