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
    OWNED double *T = NULL;
    MAKE(T, m * n);
    for (okra_int r0 = 0; r0 < m; r0 += TILE) {
        for (okra_int c = 0; c < n; c++) {
            for (okra_int r = r0; r < m && r < r0 + TILE; r++) {
                T[c * m + r] = W[r * n + c];
            }
        }
    }
    return cli_status(run, cli_write(run, T, n, m, j->f.weights));
}

static int write_report(cli_run *run, const predict_job *j)
{
    okra_int tests;
    cli_table t;
    const double *report = okra_prediction_report(j->prediction, &tests);
    if (!report) {
        return cli_failure(run, "nothing was optimised: --report is for --decode optimum "
                                "of twin Gaussian processes and --decode rewrite");
    }
    CHK(cli_table_open(run, j->f.report, "test", &t));
    for (int c = 0; c < OKRA_REPORT_COLUMNS; c++) {
        fprintf(t.out, "%c%s", t.mark, okra_prediction_report_name(j->prediction, c));
    }
    fputc('\n', t.out);
    for (okra_int i = 0; i < tests; i++) {
        const double *r = report + i * OKRA_REPORT_COLUMNS;
        fprintf(t.out, "%lld%c%.17g%c%.0f%c%.3g%c%.0f\n", (long long)i, t.mark, r[0],
                t.mark, r[1], t.mark, r[2], t.mark, r[3]);
    }
    return cli_file_close(run, t.file, CLI_DONE);
}

/* An empty field where a value does not exist. */
static int write_confidence(cli_run *run, const predict_job *j)
{
    okra_int tests;
    cli_table t;
    const double *values = okra_prediction_confidence(j->prediction, &tests);
    CHK(cli_table_open(run, j->f.confidence, "test,distance,gap,variance\n", &t));
    for (okra_int i = 0; i < tests; i++) {
        fprintf(t.out, "%lld", (long long)i);
        for (int c = 0; c < OKRA_CONFIDENCE_COLUMNS; c++) {
            double v = values[i * OKRA_CONFIDENCE_COLUMNS + c];
            fputc(t.mark, t.out);
            if (isfinite(v)) {
                fprintf(t.out, "%.17g", v);
            }
        }
        fputc('\n', t.out);
    }
    return cli_file_close(run, t.file, CLI_DONE);
}

/* One column per class that has training pairs, under its name. */
static int write_probabilities(cli_run *run, const predict_job *j)
{
    const okra_data *y = okra_model_outputs(j->model);
    okra_int m = okra_data_count(j->x), width = okra_data_width(y), length;
    const okra_int *codes = okra_data_codes(y);
    OWNED double *values = NULL;
    OWNED okra_int *of = NULL; /* 1 + a pair of the class */
    cli_table t;
    MAKE(values, m * width);
    MAKE(of, width);
    TRY(okra_predict_classes(run->context, j->model, j->x, NULL, values));
    CHK(cli_table_open(run, j->f.probabilities, "test", &t));
    for (okra_int i = okra_data_count(y); i > 0; i--) {
        of[codes[i - 1]] = i;
    }
    for (okra_int c = 0; c < width; c++) {
        const char *name = of[c] ? okra_data_text(y, of[c] - 1, &length) : NULL;
        if (name) {
            fprintf(t.out, "%c%.*s", t.mark, (int)length, name);
        } else if (of[c]) {
            fprintf(t.out, "%c%lld", t.mark, (long long)c);
        }
    }
    for (okra_int i = 0; i < m * width; i++) {
        if (i % width == 0) {
            fprintf(t.out, "\n%lld", (long long)(i / width));
        }
        if (of[i % width]) {
            fprintf(t.out, "%c%.10g", t.mark, values[i]);
        }
    }
    fputc('\n', t.out);
    return cli_file_close(run, t.file, CLI_DONE);
}

int cli_predict_write(cli_run *run, const predict_job *j)
{
    const predict_fields *f = &j->f;
    okra_int m, d;
    CHK(*f->weights ? write_weights(run, j) : CLI_DONE);
    CHK(*f->report ? write_report(run, j) : CLI_DONE);
    CHK(*f->confidence ? write_confidence(run, j) : CLI_DONE);
    CHK(*f->probabilities ? write_probabilities(run, j) : CLI_DONE);
    if (*f->embedding) {
        const double *H = okra_prediction_embedding(j->prediction, &m, &d);
        TRY(cli_write(run, H, m, d, f->embedding));
    }
    return *f->output && !j->ranked
               ? cli_status(run, okra_data_write(run->context,
                                                 okra_prediction_objects(j->prediction),
                                                 f->output))
               : CLI_DONE;
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
