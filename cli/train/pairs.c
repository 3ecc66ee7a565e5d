/*
 * pairs.c: okra fit --rows --columns and okra predict of such a model.
 */
#include "train/pairs.h"
#include "okra/more/pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --y, NaN standing for gaps. */
static okra_status read_values(cli_run *run, const char *file, okra_int n, okra_int m,
                               double *out)
{
    char spec[4200];
    okra_data *y = NULL;
    snprintf(spec, sizeof spec, "%s%s",
             strncmp(file, "missing:", 8) == 0 ? "" : "missing:", file);
    okra_status st = cli_read(run, spec, &y);
    st = st ? st : okra_pairs_values(y, n, m, out);
    okra_data_free(y);
    return st;
}

static void print(const okra_pairs *pairs, const char *file, double seconds)
{
    char buffer[64];
    json_t *about = json_loads(okra_pairs_json(pairs), 0, NULL), *value;
    const json_t *own = json_object_get(about, "own");
    size_t k;
    cli_line(stdout, "model", "%s", file);
    cli_line_data(stdout, "rows", json_object_get(about, "rows"));
    cli_line_data(stdout, "columns", json_object_get(about, "columns"));
    json_array_foreach(json_object_get(about, "kernels"), k, value)
    {
        cli_line(stdout, k ? "" : "kx", "%s%g * (%s) * (%s)", k ? "+ " : "",
                 json_number_value(json_array_get(value, 0)),
                 json_string_value(json_array_get(value, 1)),
                 json_string_value(json_array_get(value, 2)));
    }
    cli_line(stdout, "lambda", "%g", json_number_value(json_object_get(about, "lambda")));
    cli_line(stdout, "own", "%g of rows, %g of columns",
             json_number_value(json_array_get(own, 0)),
             json_number_value(json_array_get(own, 1)));
    cli_line(stdout, "time", "%s", cli_seconds(seconds, buffer, sizeof buffer));
    printf("\n%-10s %10s %12s  %s\n", "left out", "mse", "concordance", "how");
    json_array_foreach(json_object_get(about, "scores"), k, value)
    {
        printf("%-10s %10.4g %12.4f  %s\n",
               json_string_value(json_object_get(value, "setting")),
               json_number_value(json_object_get(value, "mse")),
               json_number_value(json_object_get(value, "concordance")),
               json_string_value(json_object_get(value, "how")));
    }
    json_decref(about);
}

int cli_pairs_fit(cli_run *run, const cli_pairs *p, const char *y, const char *kernel,
                  double lambda, double calibration, const char *output)
{
    double begin = cli_now();
    char *end = NULL;
    okra_data *rows = NULL, *columns = NULL;
    okra_pairs *pairs = NULL;
    bool chosen = strcmp(p->own, "auto") == 0;
    double own = chosen ? -1 : strtod(p->own, &end), *values = NULL;
    REFUSE_IF(!*p->rows || !*p->columns, "pairs need both --rows and --columns");
    REFUSE_IF(!chosen && (*end || end == p->own || !(own >= 0)),
              "--own is '%s', expected auto or a number from 0", p->own);
    okra_status st = cli_read(run, p->rows, &rows);
    st = st ? st : cli_read(run, p->columns, &columns);
    okra_int n = rows ? okra_data_count(rows) : 0,
             m = columns ? okra_data_count(columns) : 0;
    if (st == OKRA_OK) {
        values = cli_alloc((size_t)n * (size_t)m + 1, sizeof *values);
        st = values ? read_values(run, y, n, m, values) : OKRA_EMEM;
    }
    okra_pairs_request request = {OKRA_SIZED(okra_pairs_request),
                                  .rows = rows,
                                  .columns = columns,
                                  .values = values,
                                  .kernel = kernel,
                                  .lambda = lambda,
                                  .own = own,
                                  .setting = (okra_pair_setting)p->setting,
                                  .calibration = calibration};
    st = st ? st : okra_pairs_fit(run->context, &request, &pairs);
    st = st ? st : okra_pairs_save(run->context, pairs, output);
    int status = cli_status(run, st);
    if (status == CLI_DONE && run->common.json) {
        status = cli_print_json(run, json_loads(okra_pairs_json(pairs), 0, NULL));
    } else if (status == CLI_DONE && !run->common.quiet) {
        print(pairs, output, cli_now() - begin);
    }
    okra_pairs_free(pairs);
    okra_data_free(rows);
    okra_data_free(columns);
    free(values);
    return status;
}

/* The `top` largest of each line (0: all, in order): of each row, or (turned) column. */
static int write_table(const cli_run *run, const double *F, okra_int n, okra_int m,
                       okra_int top, double width, const char *output)
{
    bool turned = top < 0;
    okra_int lines = turned ? m : n, across = turned ? n : m, most = turned ? -top : top;
    char mark = cli_ends(output, ".csv") ? ',' : '\t';
    bool *taken = cli_alloc((size_t)across + 1, sizeof *taken);
    cli_file *file = taken ? cli_file_open(run, output) : NULL;
    if (!file) {
        free(taken);
        return CLI_FAILED;
    }
    FILE *out = cli_file_stream(file);
    fprintf(out, "row%ccolumn%cvalue%s\n", mark, mark,
            width >= 0 ? (mark == ',' ? ",low,high" : "\tlow\thigh") : "");
    for (okra_int i = 0; i < lines; i++) {
        memset(taken, 0, (size_t)across * sizeof *taken);
        for (okra_int k = 0; k < (most && most < across ? most : across); k++) {
            okra_int best = most ? -1 : k;
            for (okra_int j = 0; most && j < across; j++) {
                double v = F[turned ? j * m + i : i * m + j];
                if (!taken[j] &&
                    (best < 0 || v > F[turned ? best * m + i : i * m + best])) {
                    best = j;
                }
            }
            taken[best] = true;
            okra_int row = turned ? best : i, column = turned ? i : best;
            double v = F[row * m + column];
            fprintf(out, "%lld%c%lld%c%.10g", (long long)row, mark, (long long)column,
                    mark, v);
            if (width >= 0) {
                fprintf(out, "%c%.10g%c%.10g", mark, v - width, mark, v + width);
            }
            fputc('\n', out);
        }
    }
    free(taken);
    return cli_file_close(run, file, CLI_DONE);
}

int cli_pairs_predict(cli_run *run, const char *rows, const char *columns, okra_int top,
                      double alpha, const char *output)
{
    char buffer[4096];
    okra_pairs *pairs = NULL;
    okra_data *side[2] = {NULL};
    okra_int size[2] = {0};
    double *F = NULL, width = -1;
    REFUSE_IF(!*output, "nothing to write: give -o");
    REFUSE_IF(
        (top || alpha > 0) && !cli_ends(output, ".csv") && !cli_ends(output, ".tsv"),
        "--top and --interval write a table: -o is '%s', expected a name in .tsv or "
        ".csv",
        output);
    const char *file = cli_find(run, run->operands[0], buffer, sizeof buffer);
    okra_status st = okra_pairs_load(run->context, file, &pairs);
    okra_pairs_size(pairs, &size[0], &size[1]);
    for (int k = 0; k < 2; k++) {
        const char *spec = k ? columns : rows;
        if (st == OKRA_OK && *spec) {
            st = cli_read(run, spec, &side[k]);
            size[k] = side[k] ? okra_data_count(side[k]) : 0;
        }
    }
    if (st == OKRA_OK) {
        F = cli_alloc((size_t)size[0] * (size_t)size[1] + 1, sizeof *F);
        st = F ? okra_pairs_predict(run->context, pairs, side[0], side[1], F) : OKRA_EMEM;
    }
    if (st == OKRA_OK && alpha > 0) {
        st = okra_pairs_interval(pairs, alpha, &width);
    }
    int status = cli_status(run, st);
    if (status == CLI_DONE && (top || alpha > 0)) {
        status = write_table(run, F, size[0], size[1], *rows || !*columns ? top : -top,
                             width, output);
    } else if (status == CLI_DONE) {
        status = cli_status(run, cli_write(run, F, size[0], size[1], output));
    }
    okra_pairs_free(pairs);
    okra_data_free(side[0]);
    okra_data_free(side[1]);
    free(F);
    return status;
}
