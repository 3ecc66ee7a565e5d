/*
 * ranked.c: okra predict --top: the best candidates of each test point, as a table.
 */
#include "predict/ranked.h"
#include "predict/sets.h"

#include <stdlib.h>
#include <string.h>

int cli_distinct_make(cli_run *run, const okra_data *candidates, cli_distinct *out)
{
    okra_int n = okra_data_count(candidates), count = 0;
    if (okra_data_kind(candidates) == OKRA_GRAM) {
        return CLI_DONE; /* rows are known by their places alone */
    }
    out->row = malloc((size_t)n * sizeof *out->row + 1);
    if (!out->row) {
        return cli_failure(run, "out of memory");
    }
    okra_status st = okra_candidates_distinct(candidates, out->row, &count);
    if (st == OKRA_OK && count < n) {
        st = okra_data_take(candidates, out->row, count, &out->objects);
    }
    return cli_status(run, st);
}

void cli_distinct_clear(cli_distinct *distinct)
{
    okra_data_free(distinct->objects);
    free(distinct->row);
}

typedef struct table {
    const okra_data *set; /* that the numbers of the prediction are of */
    const okra_int *row;  /* what they were called, or NULL            */
    okra_int tests, top;
    const okra_int *index;
    const double *distance;
    bool texts, vectors; /* how objects are shown, if at all */
} table;

static okra_int number_of(const table *t, okra_int i)
{
    return t->row ? t->row[t->index[i]] : t->index[i];
}

static bool has_text(const okra_data *data)
{
    okra_int length;
    return data && okra_data_count(data) > 0 &&
           (okra_data_text(data, 0, &length) || okra_data_characters(data, 0, &length));
}

static void print_rows(const table *t, FILE *out, char separator)
{
    fprintf(out, "test%crank%ccandidate%cdistance", separator, separator, separator);
    if (t->texts || t->vectors) {
        fprintf(out, "%cobject", separator);
    }
    fputc('\n', out);
    for (okra_int i = 0; i < t->tests * t->top; i++) {
        if (t->index[i] >= 0) {
            fprintf(out, "%lld%c%lld%c%lld%c%.17g", (long long)(i / t->top), separator,
                    (long long)(i % t->top + 1), separator, (long long)number_of(t, i),
                    separator, t->distance[i]);
            if (t->texts || t->vectors) {
                fputc(separator, out);
                if (t->texts) {
                    cli_print_object(out, t->set, t->index[i], separator);
                } else {
                    cli_print_vector(out, t->set, t->index[i]);
                }
            }
            fputc('\n', out);
        }
    }
}

static void print_json(const table *t, FILE *out)
{
    const char *comma = "";
    fputc('[', out);
    for (okra_int i = 0; i < t->tests * t->top; i++) {
        if (t->index[i] >= 0) {
            fprintf(out,
                    "%s\n  {\"test\": %lld, \"rank\": %lld, \"candidate\": %lld, "
                    "\"distance\": %.17g",
                    comma, (long long)(i / t->top), (long long)(i % t->top + 1),
                    (long long)number_of(t, i), t->distance[i]);
            json_t *text = t->texts     ? cli_object_text(t->set, t->index[i])
                           : t->vectors ? cli_object_json(t->set, t->index[i])
                                        : NULL;
            if (text) {
                fputs(", \"object\": ", out);
                json_dumpf(text, out, JSON_ENCODE_ANY);
                json_decref(text);
            }
            fputc('}', out);
            comma = ",";
        }
    }
    fputs("\n]\n", out);
}

int cli_ranked_write(cli_run *run, const okra_prediction *prediction,
                     const okra_data *candidates, const cli_distinct *distinct,
                     const char *file)
{
    table t = {.set = distinct->objects ? distinct->objects : candidates,
               .row = distinct->objects ? distinct->row : NULL,
               .tests = okra_prediction_count(prediction)};
    t.index = okra_prediction_index(prediction, &t.top);
    t.distance = okra_prediction_distance(prediction, &t.top);
    t.texts = has_text(t.set);
    t.vectors = !t.texts && candidates == okra_prediction_proposals(prediction);
    cli_file *target = cli_file_open(run, file);
    if (!target) {
        return CLI_FAILED;
    }
    if (cli_ends(file, ".json")) {
        print_json(&t, cli_file_stream(target));
    } else {
        print_rows(&t, cli_file_stream(target), cli_ends(file, ".csv") ? ',' : '\t');
    }
    return cli_file_close(run, target, CLI_DONE);
}
