/*
 * update.c: okra update: training pairs of a model come and go.
 */
#include "commands.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct update_fields {
    const char *x, *y, *weight, *remove, *removed_x, *output;
    int compact;
} update_fields;

#define FIELDS update_fields
static const okra_option rows[] = {
    ROW(READ, "x", x, "", "FILE", "New inputs, one object per row"),
    ROW(READ, "y", y, "", "FILE", "New outputs, in the same order"),
    ROW(READ, "sample-weight", weight, "", "FILE",
        "Weights of the new pairs, one number per row of --y; 1 where it is not given"),
    ROW(READ, "remove", remove, "", "FILE",
        "Training pairs that go: their numbers, one per line, counted from 0. They go "
        "before the new ones come"),
    ROW(READ, "removed-x", removed_x, "", "FILE",
        "Inputs of the pairs that go, in the order of --remove: for models of low rank, "
        "which hold no training inputs"),
    ROW(WRITTEN, "output", output, NULL, "FILE",
        "The model file to write; may be the one that was read"),
    COMPACT_ROW,
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
    char buffer[4096];
    OWNED char *line = NULL;
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
    while (file && !*begin && getline(&line, &room, file) >= 0) {
        begin = line + strspn(line, " \t\r\n\"");
        number++;
    }
    if (file) {
        fclose(file);
    }
    return *begin && is_half_number(begin)
               ? cli_failure(run,
                             "%s: line %lld: found '%.*s', expected one whole number",
                             spec, number, (int)strcspn(begin, "\r\n"), begin)
               : CLI_DONE;
}

/* Whole numbers, one per row. */
static int read_rows(cli_run *run, job *j)
{
    CHK(check_heading(run, j->f.remove));
    j->count = -1;
    CHK(cli_read_whole(run, j->f.remove, 1, &j->count,
                       "expected one number per line, the rows that go", &j->remove));
    return j->count > 0
               ? CLI_DONE
               : cli_failure(run, "%s: there are no rows to remove", j->f.remove);
}

static int read_all(cli_run *run, job *j)
{
    CHK(cli_load_model(run, run->operands[0], &j->model));
    if (*j->f.x) {
        TRY(cli_read_pairs(run, j->f.x, j->f.y, "", j->model, &j->x, &j->y));
        TRY(cli_weigh(run, j->f.weight, "none", &j->y));
    }
    if (*j->f.removed_x) {
        TRY(cli_read_like(run, j->f.removed_x, okra_model_inputs(j->model),
                          &j->removed_x));
    }
    return *j->f.remove ? read_rows(run, j) : CLI_DONE;
}

static int check(const cli_run *run, const update_fields *f)
{
    REFUSE_IF(!*f->x != !*f->y, "--x and --y go together: --%s is missing",
              *f->x ? "y" : "x");
    REFUSE_IF(!*f->x && !*f->remove, "nothing to do: give --x and --y, or --remove");
    REFUSE_IF(*f->weight && !*f->x, "--sample-weight is for new pairs: give --x and --y");
    REFUSE_IF(*f->removed_x && !*f->remove, "--removed-x has no use without --remove");
    return cli_check_model_file(run, f->output);
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

static void clear(job *j)
{
    okra_model_free(j->changed);
    okra_model_free(j->model);
    okra_data_free(j->x);
    okra_data_free(j->y);
    okra_data_free(j->removed_x);
    free(j->remove);
}

static int run_update(cli_run *run)
{
    FREED_BY(clear) job j = {.report = {OKRA_SIZED(okra_update_report)}};
    double begin = cli_now();
    TRY(cli_fields(run, &j.f));
    CHK(check(run, &j.f));
    CHK(read_all(run, &j));
    okra_update_request request = {OKRA_SIZED(okra_update_request),
                                   .x = j.x,
                                   .y = j.y,
                                   .remove = j.remove,
                                   .remove_count = j.count,
                                   .removed_x = j.removed_x};
    TRY(okra_model_update(run->context, j.model, &request, &j.report, &j.changed));
    bool kept = j.report.how == OKRA_UPDATE_FACTOR && j.f.compact == OKRA_COMPACT_AUTO;
    okra_compact compact = kept ? OKRA_COMPACT_NO : (okra_compact)j.f.compact;
    TRY(cli_save_model(run, j.changed, compact, j.f.output));
    j.seconds = cli_now() - begin;
    return summarise(run, &j);
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
