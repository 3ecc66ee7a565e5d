/*
 * update.c: okra update: training pairs of a model come and go.
 */
#include "commands.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct update_fields {
    const char *x, *y, *weight, *remove, *removed_x, *output;
    int compact;
} update_fields;

static const okra_option rows[] = {
    {"x", OKRA_OPTION_READ, offsetof(update_fields, x), "", 1, 0, NULL, "FILE",
     "New inputs, one object per row"},
    {"y", OKRA_OPTION_READ, offsetof(update_fields, y), "", 1, 0, NULL, "FILE",
     "New outputs, in the same order"},
    {"sample-weight", OKRA_OPTION_READ, offsetof(update_fields, weight), "", 1, 0, NULL,
     "FILE",
     "Weights of the new pairs, one number per row of --y; 1 where it is not given"},
    {"remove", OKRA_OPTION_READ, offsetof(update_fields, remove), "", 1, 0, NULL, "FILE",
     "Training pairs that go: their numbers, one per line, counted from 0. They go "
     "before "
     "the new ones come"},
    {"removed-x", OKRA_OPTION_READ, offsetof(update_fields, removed_x), "", 1, 0, NULL,
     "FILE",
     "Inputs of the pairs that go, in the order of --remove: for models of low rank, "
     "which "
     "hold no training inputs"},
    {"output", OKRA_OPTION_WRITTEN, offsetof(update_fields, output), NULL, 1, 0, NULL,
     "FILE", "The model file to write; may be the one that was read"},
    CLI_COMPACT_ROW(update_fields),
    {0}};

typedef struct job {
    update_fields f;
    okra_model *model, *changed;
    okra_data *x, *y, *removed_x;
    okra_int *remove;
    okra_int count;
    okra_update_report report;
    double seconds;
} job;

/* A line that begins like a number and is none. */
static bool is_half_number(const char *line)
{
    char *end, digit = line[strspn(line, "+-0")];
    bool hexadecimal = digit == 'x' || digit == 'X';
    strtod(line, &end);
    return *line && strchr("+-.0123456789", *line) &&
           (end == line || hexadecimal || end[strspn(end, " \t\r\n\"")]);
}

/* A table may begin with a heading, a name. What begins with a digit is none: it would be
 * a row that stays. Pipes can be read once, and are not looked at. */
static int check_heading(const cli_run *run, const char *spec)
{
    char buffer[4096], *line = NULL;
    const char *path = cli_find(run, spec, buffer, sizeof buffer), *begin = "";
    bool typed = strncmp(path, "csv:", 4) == 0 || strncmp(path, "tsv:", 4) == 0;
    bool text = typed || cli_ends(path, ".csv") || cli_ends(path, ".tsv") ||
                cli_ends(path, ".txt");
    struct stat found;
    path += typed ? 4 : 0;
    FILE *file = text && stat(path, &found) == 0 && S_ISREG(found.st_mode)
                     ? fopen(path, "r")
                     : NULL;
    size_t room = 0;
    long long number = 0;
    int status = CLI_DONE;
    while (file && !*begin && getline(&line, &room, file) >= 0) {
        begin = line + strspn(line, " \t\r\n\"");
        number++;
    }
    if (*begin && is_half_number(begin)) {
        status =
            cli_failure(run, "%s: line %lld: found '%.*s', expected one whole number",
                        spec, number, (int)strcspn(begin, "\r\n"), begin);
    }
    if (file) {
        fclose(file);
    }
    free(line);
    return status;
}

/* Whole numbers, one per row. */
static int read_rows(cli_run *run, job *j)
{
    okra_data *table = NULL;
    okra_int ld = 0;
    int status = check_heading(run, j->f.remove);
    status =
        status ? status : cli_status(run, cli_read_numbers(run, j->f.remove, &table));
    const double *values = table ? okra_data_values(table, &ld) : NULL;
    if (status == CLI_DONE && (!values || okra_data_width(table) != 1)) {
        status = cli_failure(run, "%s: expected one number per line, the rows that go",
                             j->f.remove);
    }
    j->count = status == CLI_DONE ? okra_data_count(table) : 0;
    if (status == CLI_DONE && j->count == 0) {
        status = cli_failure(run, "%s: there are no rows to remove", j->f.remove);
    }
    j->remove = cli_alloc((size_t)j->count + 1, sizeof *j->remove);
    if (status == CLI_DONE && !j->remove) {
        status = cli_failure(run, "out of memory");
    }
    for (okra_int i = 0; i < j->count && status == CLI_DONE; i++) {
        double v = values[i * ld];
        if (v != floor(v) || fabs(v) > 9e15) {
            status = cli_failure(run, "%s: row %lld holds %g, expected a whole number",
                                 j->f.remove, (long long)i, v);
        } else {
            j->remove[i] = (okra_int)v;
        }
    }
    okra_data_free(table);
    return status;
}

static int read_all(cli_run *run, job *j)
{
    int status = cli_load_model(run, run->operands[0], &j->model);
    if (status == CLI_DONE && *j->f.x) {
        status = cli_status(
            run, cli_read_pairs(run, j->f.x, j->f.y, "", j->model, &j->x, &j->y));
    }
    if (status == CLI_DONE && *j->f.removed_x) {
        status =
            cli_status(run, cli_read_like(run, j->f.removed_x,
                                          okra_model_inputs(j->model), &j->removed_x));
    }
    if (status == CLI_DONE && j->y) {
        status = cli_status(run, cli_weigh(run, j->f.weight, "none", &j->y));
    }
    if (status == CLI_DONE && *j->f.remove) {
        status = read_rows(run, j);
    }
    return status;
}

static int check(const cli_run *run, const update_fields *f)
{
    REFUSE_IF(strcmp(f->output, "-") == 0,
              "a model is mapped from its file: -o must name one");
    REFUSE_IF(!*f->x != !*f->y, "--x and --y go together: --%s is missing",
              *f->x ? "y" : "x");
    REFUSE_IF(!*f->x && !*f->remove, "nothing to do: give --x and --y, or --remove");
    REFUSE_IF(*f->weight && !*f->x, "--sample-weight is for new pairs: give --x and --y");
    REFUSE_IF(*f->removed_x && !*f->remove, "--removed-x has no use without --remove");
    return cli_check_writable(run, f->output);
}

static const char *how(const okra_update_report *r)
{
    return r->how == OKRA_UPDATE_FACTOR    ? "factor"
           : r->how == OKRA_UPDATE_MOMENTS ? "moments"
                                           : "new fit";
}

static int summarise(const cli_run *run, const job *j)
{
    const okra_update_report *r = &j->report;
    char buffer[64];
    if (run->common.json) {
        json_t *result =
            json_pack("{s:s, s:I, s:I, s:I, s:s, s:f, s:f}", "model", j->f.output, "n",
                      (json_int_t)okra_model_count(j->changed), "added",
                      (json_int_t)r->added, "removed", (json_int_t)r->removed, "how",
                      how(r), "drift", r->drift, "seconds", j->seconds);
        if (result && r->why) {
            json_object_set_new(result, "why", json_string(r->why));
        }
        return cli_print_json(run, result);
    }
    if (!run->common.quiet) {
        cli_line(stdout, "model", "%s", j->f.output);
        cli_line(stdout, "pairs", "%lld, %lld added, %lld removed",
                 (long long)okra_model_count(j->changed), (long long)r->added,
                 (long long)r->removed);
        bool factor = r->why && strstr(r->why, "does not keep its factor");
        cli_line(stdout, "how", "%s%s%s%s", how(r), r->why ? ": " : "",
                 r->why ? r->why : "",
                 factor ? " (okra fit --keep weights keeps it)" : "");
        if (r->how != OKRA_UPDATE_REFIT) {
            cli_line(stdout, "drift", "%.1e", r->drift);
        }
        cli_line(stdout, "kernels", "those of the first fit");
        cli_line(stdout, "time", "%s", cli_seconds(j->seconds, buffer, sizeof buffer));
    }
    return CLI_DONE;
}

static int run_update(cli_run *run)
{
    job j = {.report = {OKRA_SIZED(okra_update_report)}};
    double begin = cli_now();
    int status = cli_status(run, cli_fields(run, &j.f));
    status = status ? status : check(run, &j.f);
    status = status ? status : read_all(run, &j);
    if (status == CLI_DONE) {
        okra_update_request request = {OKRA_SIZED(okra_update_request),
                                       .x = j.x,
                                       .y = j.y,
                                       .remove = j.remove,
                                       .remove_count = j.count,
                                       .removed_x = j.removed_x};
        status = cli_status(run, okra_model_update(run->context, j.model, &request,
                                                   &j.report, &j.changed));
    }
    bool kept = j.report.how == OKRA_UPDATE_FACTOR && j.f.compact == OKRA_COMPACT_AUTO;
    okra_compact compact = kept ? OKRA_COMPACT_NO : (okra_compact)j.f.compact;
    status = status
                 ? status
                 : cli_status(run, cli_save_model(run, j.changed, compact, j.f.output));
    j.seconds = cli_now() - begin;
    status = status == CLI_DONE ? summarise(run, &j) : status;
    okra_model_free(j.changed);
    okra_model_free(j.model);
    okra_data_free(j.x);
    okra_data_free(j.y);
    okra_data_free(j.removed_x);
    free(j.remove);
    return status;
}

const cli_command cli_update = {
    .name = "update",
    .purpose = "Add training pairs to a model, or remove some, without starting over",
    .usage = "MODEL [--x FILE --y FILE] [--remove FILE] -o MODEL [flags]",
    .about =
        "The new model is what a fit on the changed pairs gives, to rounding. Ridge with "
        "the\noperator identity, or a matrix and --keep weights, changes its factor, n^2 "
        "operations\nfor each row; models of low rank that were fitted with "
        "--keep-moments add and subtract\nmoments. All others are fitted anew, with the "
        "same options, and okra says so. Kernels\nstay those of the first fit.\n",
    .gathers = " x y removed-x ",
    .examples = "okra update model.okra --x new_x.npy --y new_y.npy -o model2.okra\n"
                "okra update model.okra --remove rows.txt -o model2.okra\n",
    .own = {"update", rows, sizeof(update_fields)},
    .operands_least = 1,
    .operands_most = 1,
    .operand = "MODEL",
    .replaces = true,
    .run = run_update,
};
