/*
 * pairs.c: okra fit --rows --columns and okra predict of such a model.
 */
#include "train/pairs.h"
#include "okra/more/pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A matrix or lines; `none` where nothing is told. */
static okra_status read_values(cli_run *run, const char *file, okra_int n, okra_int m,
                               double none, double *out)
{
    char spec[4200];
    OWNED_DATA *y = NULL;
    snprintf(spec, sizeof spec, "%s%s",
             strncmp(file, "missing:", 8) == 0 ? "" : "missing:", file);
    CHK(cli_read(run, spec, &y));
    CHK(okra_pairs_values(y, n, m, out));
    for (okra_int k = 0; k < n * m; k++) {
        out[k] = isnan(out[k]) ? none : out[k];
    }
    return OKRA_OK;
}

static double score(const json_t *line, const char *name)
{
    const json_t *value = json_object_get(line, name);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

/* seconds below 0: not known. */
static int tell(const cli_run *run, const okra_pairs *pairs, const char *file,
                double seconds)
{
    char buffer[64];
    OWNED_JSON *about = json_loads(okra_pairs_json(pairs), 0, NULL);
    json_t *value;
    if (run->common.json) {
        return cli_print_json(run, TAKE(about));
    }
    double number = 0, own[2] = {0, 0};
    const char *kernels[2] = {"", ""};
    size_t k;
    json_unpack(about, "{s:F, s:[F, F]}", "lambda", &number, "own", &own[0], &own[1]);
    cli_line(stdout, "model", "%s", file);
    cli_line_data(stdout, "rows", json_object_get(about, "rows"));
    cli_line_data(stdout, "columns", json_object_get(about, "columns"));
    json_array_foreach(json_object_get(about, "kernels"), k, value)
    {
        double scale = 0;
        json_unpack(value, "[F, s, s]", &scale, &kernels[0], &kernels[1]);
        cli_line(stdout, k ? "" : "kx", "%s%g * (%s) * (%s)", k ? "+ " : "", scale,
                 kernels[0], kernels[1]);
    }
    cli_line(stdout, "lambda", "%g", number);
    cli_line(stdout, "own", "%g of rows, %g of columns", own[0], own[1]);
    if (seconds >= 0) {
        cli_line(stdout, "time", "%s", cli_seconds(seconds, buffer, sizeof buffer));
    }
    printf("\n%-10s %10s %12s  %s\n", "left out", "mse", "concordance", "how");
    json_array_foreach(json_object_get(about, "scores"), k, value)
    {
        printf("%-10s %10.4g %12.4f  %s\n",
               json_string_value(json_object_get(value, "setting")), score(value, "mse"),
               score(value, "concordance"),
               json_string_value(json_object_get(value, "how")));
    }
    return CLI_DONE;
}

FREED_AT(okra_pairs, okra_pairs_free)

bool cli_pairs_is(cli_run *run)
{
    char buffer[4096];
    return okra_pairs_is(run->context,
                         cli_find(run, run->operands[0], buffer, sizeof buffer));
}

int cli_pairs_info(cli_run *run)
{
    char buffer[4096];
    FREED_BY(okra_pairs_free_at) okra_pairs *pairs = NULL;
    const char *file = cli_find(run, run->operands[0], buffer, sizeof buffer);
    TRY(okra_pairs_load(run->context, file, &pairs));
    return tell(run, pairs, file, -1);
}

int cli_pairs_fit(cli_run *run, const cli_pairs *p, const char *y, const char *kernel,
                  double lambda, double calibration, const char *output)
{
    double begin = cli_now();
    char *end = NULL;
    OWNED_DATA *rows = NULL, *columns = NULL;
    FREED_BY(okra_pairs_free_at) okra_pairs *pairs = NULL;
    OWNED double *values = NULL, *weights = NULL;
    bool chosen = strcmp(p->own, "auto") == 0;
    double own = chosen ? -1 : strtod(p->own, &end);
    REFUSE_IF(!*p->rows || !*p->columns, "pairs need both --rows and --columns");
    REFUSE_IF(!chosen && (*end || end == p->own || !(own >= 0)),
              "--own is '%s', expected auto or a number from 0", p->own);
    TRY(cli_read(run, p->rows, &rows));
    TRY(cli_read(run, p->columns, &columns));
    okra_int n = okra_data_count(rows), m = okra_data_count(columns);
    MAKE(values, n * m);
    TRY(read_values(run, y, n, m, (double)NAN, values));
    if (*p->weight) {
        MAKE(weights, n * m);
        TRY(read_values(run, p->weight, n, m, 0, weights));
    }
    okra_pairs_request request = {OKRA_SIZED(okra_pairs_request),
                                  .rows = rows,
                                  .columns = columns,
                                  .values = values,
                                  .weights = weights,
                                  .kernel = kernel,
                                  .lambda = lambda,
                                  .own = own,
                                  .setting = (okra_pair_setting)p->setting,
                                  .calibration = calibration};
    TRY(okra_pairs_fit(run->context, &request, &pairs));
    TRY(okra_pairs_save(run->context, pairs, output));
    return run->common.quiet && !run->common.json
               ? CLI_DONE
               : tell(run, pairs, output, cli_now() - begin);
}

/* The `top` largest of each line (0: all, in order): of each row, or (turned) column. */
static int write_table(const cli_run *run, const double *F, okra_int n, okra_int m,
                       okra_int top, double width, const char *output)
{
    bool turned = top < 0;
    okra_int lines = turned ? m : n, across = turned ? n : m, most = turned ? -top : top;
    okra_int step = turned ? m : 1;
    OWNED bool *taken = NULL;
    cli_table t;
    MAKE(taken, across);
    CHK(cli_table_open(run, output,
                       width >= 0 ? "row,column,value,low,high\n" : "row,column,value\n",
                       &t));
    for (okra_int i = 0; i < lines; i++) {
        const double *line = F + i * (turned ? 1 : m);
        memset(taken, 0, (size_t)across * sizeof *taken);
        for (okra_int k = 0; k < (most && most < across ? most : across); k++) {
            okra_int best = most ? -1 : k;
            for (okra_int j = 0; most && j < across; j++) {
                if (!taken[j] && (best < 0 || line[j * step] > line[best * step])) {
                    best = j;
                }
            }
            taken[best] = true;
            double v = line[best * step];
            fprintf(t.out, "%lld%c%lld%c%.10g", (long long)(turned ? best : i), t.mark,
                    (long long)(turned ? i : best), t.mark, v);
            if (width >= 0) {
                fprintf(t.out, "%c%.10g%c%.10g", t.mark, v - width, t.mark, v + width);
            }
            fputc('\n', t.out);
        }
    }
    return cli_file_close(run, t.file, CLI_DONE);
}

int cli_pairs_predict(cli_run *run, const char *rows, const char *columns, okra_int top,
                      double alpha, const char *output)
{
    char buffer[4096];
    FREED_BY(okra_pairs_free_at) okra_pairs *pairs = NULL;
    OWNED_DATA *new_rows = NULL, *new_columns = NULL;
    okra_int n, m;
    OWNED double *F = NULL;
    double width = -1;
    REFUSE_IF(!*output, "nothing to write: give -o");
    bool table = top || alpha > 0;
    REFUSE_IF(table && !cli_ends(output, ".csv") && !cli_ends(output, ".tsv"),
              "--top and --interval write a table: -o is '%s', expected .tsv or .csv",
              output);
    TRY(okra_pairs_load(run->context,
                        cli_find(run, run->operands[0], buffer, sizeof buffer), &pairs));
    okra_pairs_size(pairs, &n, &m);
    if (*rows) {
        TRY(cli_read(run, rows, &new_rows));
        n = okra_data_count(new_rows);
    }
    if (*columns) {
        TRY(cli_read(run, columns, &new_columns));
        m = okra_data_count(new_columns);
    }
    MAKE(F, n * m);
    TRY(okra_pairs_predict(run->context, pairs, new_rows, new_columns, F));
    TRY(alpha > 0 ? okra_pairs_interval(pairs, alpha, &width) : OKRA_OK);
    return table
               ? write_table(run, F, n, m, *rows || !*columns ? top : -top, width, output)
               : cli_status(run, cli_write(run, F, n, m, output));
}
