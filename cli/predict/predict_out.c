/*
 * predict_out.c: what okra predict writes: objects, weights, embeddings, reports.
 */
#include "predict/predict_job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* n_train x n_test: one column per test point. */
static int write_weights(cli_run *run, const predict_job *j)
{
    enum { TILE = 64 };
    okra_int m, n;
    const double *W = okra_prediction_weights(j->prediction, &m, &n);
    double *T = malloc((size_t)m * (size_t)n * sizeof *T + 1);
    if (!T) {
        return cli_failure(run, "out of memory: %lld x %lld weights", (long long)n,
                           (long long)m);
    }
    for (okra_int r0 = 0; r0 < m; r0 += TILE) {
        for (okra_int c = 0; c < n; c++) {
            for (okra_int r = r0; r < m && r < r0 + TILE; r++) {
                T[c * m + r] = W[r * n + c];
            }
        }
    }
    int status = cli_status(run, cli_write(run, T, n, m, j->f.weights));
    free(T);
    return status;
}

static int write_report(cli_run *run, const predict_job *j)
{
    okra_int tests;
    const double *report = okra_prediction_report(j->prediction, &tests);
    char separator = cli_ends(j->f.report, ".csv") ? ',' : '\t';
    if (!report) {
        return cli_failure(run, "nothing was optimised: --report is for --decode optimum "
                                "of twin Gaussian processes and --decode rewrite");
    }
    cli_file *file = cli_file_open(run, j->f.report);
    if (!file) {
        return CLI_FAILED;
    }
    FILE *out = cli_file_stream(file);
    fputs("test", out);
    for (int c = 0; c < OKRA_REPORT_COLUMNS; c++) {
        fprintf(out, "%c%s", separator, okra_prediction_report_name(j->prediction, c));
    }
    fputc('\n', out);
    for (okra_int i = 0; i < tests; i++) {
        const double *r = report + i * OKRA_REPORT_COLUMNS;
        fprintf(out, "%lld%c%.17g%c%.0f%c%.3g%c%.0f\n", (long long)i, separator, r[0],
                separator, r[1], separator, r[2], separator, r[3]);
    }
    return cli_file_close(run, file, CLI_DONE);
}

/* An empty field where a value does not exist. */
static int write_confidence(cli_run *run, const predict_job *j)
{
    okra_int tests;
    const double *values = okra_prediction_confidence(j->prediction, &tests);
    char separator = cli_ends(j->f.confidence, ".csv") ? ',' : '\t';
    cli_file *file = cli_file_open(run, j->f.confidence);
    if (!file) {
        return CLI_FAILED;
    }
    FILE *out = cli_file_stream(file);
    fprintf(out, "test%cdistance%cgap%cvariance\n", separator, separator, separator);
    for (okra_int i = 0; i < tests; i++) {
        fprintf(out, "%lld", (long long)i);
        for (int c = 0; c < OKRA_CONFIDENCE_COLUMNS; c++) {
            double v = values[i * OKRA_CONFIDENCE_COLUMNS + c];
            fputc(separator, out);
            if (isfinite(v)) {
                fprintf(out, "%.17g", v);
            }
        }
        fputc('\n', out);
    }
    return cli_file_close(run, file, CLI_DONE);
}

/* One column per class that has training pairs, under its name. */
static int write_probabilities(cli_run *run, const predict_job *j)
{
    const okra_data *y = okra_model_outputs(j->model);
    okra_int m = okra_data_count(j->x), width = okra_data_width(y), length;
    const okra_int *codes = okra_data_codes(y);
    double *values = cli_alloc((size_t)(m * width) + 1, sizeof *values);
    okra_int *of = cli_alloc((size_t)width + 1, sizeof *of); /* 1 + a pair of the class */
    cli_file *file = NULL;
    char separator = cli_ends(j->f.probabilities, ".csv") ? ',' : '\t';
    int status = !values || !of
                     ? cli_failure(run, "out of memory")
                     : cli_status(run, okra_predict_classes(run->context, j->model, j->x,
                                                            NULL, values));
    if (status == CLI_DONE) {
        file = cli_file_open(run, j->f.probabilities);
        status = file ? CLI_DONE : CLI_FAILED;
    }
    if (status == CLI_DONE) {
        FILE *out = cli_file_stream(file);
        for (okra_int i = okra_data_count(y); i > 0; i--) {
            of[codes[i - 1]] = i;
        }
        fputs("test", out);
        for (okra_int c = 0; c < width; c++) {
            const char *name = of[c] ? okra_data_text(y, of[c] - 1, &length) : NULL;
            if (name) {
                fprintf(out, "%c%.*s", separator, (int)length, name);
            } else if (of[c]) {
                fprintf(out, "%c%lld", separator, (long long)c);
            }
        }
        for (okra_int i = 0; i < m * width; i++) {
            if (i % width == 0) {
                fprintf(out, "\n%lld", (long long)(i / width));
            }
            if (of[i % width]) {
                fprintf(out, "%c%.10g", separator, values[i]);
            }
        }
        fputc('\n', out);
        status = cli_file_close(run, file, CLI_DONE);
    }
    free(values);
    free(of);
    return status;
}

int cli_predict_write(cli_run *run, const predict_job *j)
{
    int status = CLI_DONE;
    okra_int m, d;
    if (*j->f.weights) {
        status = write_weights(run, j);
    }
    if (status == CLI_DONE && *j->f.report) {
        status = write_report(run, j);
    }
    if (status == CLI_DONE && *j->f.confidence) {
        status = write_confidence(run, j);
    }
    if (status == CLI_DONE && *j->f.probabilities) {
        status = write_probabilities(run, j);
    }
    if (status == CLI_DONE && *j->f.embedding) {
        const double *H = okra_prediction_embedding(j->prediction, &m, &d);
        status = cli_status(run, cli_write(run, H, m, d, j->f.embedding));
    }
    const okra_data *objects = okra_prediction_objects(j->prediction);
    if (status == CLI_DONE && *j->f.output && !j->ranked) {
        status = cli_status(run, okra_data_write(run->context, objects, j->f.output));
    }
    return status;
}

/* What is on standard output already is data. */
bool cli_predict_taken(const predict_fields *f)
{
    const char *files[] = {f->output,     f->weights, f->embedding,
                           f->confidence, f->report,  f->probabilities};
    bool taken = false;
    for (int i = 0; i < 6; i++) {
        taken = taken || strcmp(files[i], "-") == 0;
    }
    return taken;
}

int cli_predict_tell(const cli_run *run, const predict_job *j)
{
    const predict_fields *f = &j->f;
    const char *files[] = {"output",   f->output,   "weights",
                           f->weights, "embedding", f->embedding};
    okra_int tests = okra_prediction_count(j->prediction);
    double seconds = cli_now() - j->begin;
    char buffer[64];
    bool taken = cli_predict_taken(f);
    if (run->common.json && !taken) {
        json_t *result = json_pack("{s:s, s:I, s:I, s:f}", "model", run->operands[0], "n",
                                   (json_int_t)okra_model_count(j->model), "tests",
                                   (json_int_t)tests, "seconds", seconds);
        for (size_t i = 0; result && i < 6; i += 2) {
            if (*files[i + 1]) {
                json_object_set_new(result, files[i], json_string(files[i + 1]));
            }
        }
        return cli_print_json(run, result);
    }
    if (!run->common.quiet && !run->common.json && !taken) {
        cli_line(stdout, "tests", "%lld", (long long)tests);
        for (size_t i = 0; i < 6; i += 2) {
            if (*files[i + 1]) {
                cli_line(stdout, files[i], "%s", files[i + 1]);
            }
        }
        cli_line(stdout, "time", "%s", cli_seconds(seconds, buffer, sizeof buffer));
    }
    return CLI_DONE;
}
