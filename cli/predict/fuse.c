/*
 * fuse.c: okra fuse: rankings of several models as one.
 */
#include "commands.h"
#include "predict/screen.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TABLES_MOST = 64 };

typedef struct fuse_fields {
    const char *output, *weights, *y, *candidates;
    okra_int top;
} fuse_fields;

static const okra_option rows[] = {
    {"output", OKRA_OPTION_TEXT, offsetof(fuse_fields, output), NULL, 1, 0, NULL, "FILE",
     "The fused ranking, as .tsv or .csv"},
    {"weights", OKRA_OPTION_TEXT, offsetof(fuse_fields, weights), "", 1, 0, NULL, "LIST",
     "A weight of each table between commas; all the same if not given"},
    {"y", OKRA_OPTION_TEXT, offsetof(fuse_fields, y), "", 1, 0, NULL, "FILE",
     "The true outputs of the tests, which were held out: weights are chosen by the mean "
     "of 1 over the rank of the truth"},
    {"candidates", OKRA_OPTION_TEXT, offsetof(fuse_fields, candidates), "", 1, 0, NULL,
     "FILE", "With --y: the candidates that the tables number, also an index"},
    {"top", OKRA_OPTION_INT, offsetof(fuse_fields, top), "0", 0, 1e9, NULL, "K",
     "Write the K best of each test; 0: all of them"},
    {0}};

typedef struct read_table {
    char *text; /* the file */
    okra_int *test, *candidate;
    double *distance;
    okra_int count, room;
} read_table;

static void clear_table(read_table *t)
{
    free(t->text);
    free(t->test);
    free(t->candidate);
    free(t->distance);
}

static char *read_whole(const char *path)
{
    FILE *f = fopen(path, "r");
    char *text = NULL;
    size_t used = 0, room = 1 << 16, got = 1;
    while (f && got > 0) {
        char *grown = realloc(text, room + 1);
        if (!grown) {
            free(text);
            fclose(f);
            errno = ENOMEM;
            return NULL;
        }
        text = grown;
        got = fread(text + used, 1, room - used, f);
        used += got;
        text[used] = '\0';
        room = used == room ? 2 * room : room;
    }
    if (f) {
        fclose(f);
    }
    return text;
}

static bool grow(read_table *t)
{
    if (t->count < t->room) {
        return true;
    }
    size_t room = t->room ? 2 * (size_t)t->room : 1024;
    okra_int *test = realloc(t->test, room * sizeof *test);
    t->test = test ? test : t->test;
    okra_int *candidate = test ? realloc(t->candidate, room * sizeof *candidate) : NULL;
    t->candidate = candidate ? candidate : t->candidate;
    double *distance = candidate ? realloc(t->distance, room * sizeof *distance) : NULL;
    t->distance = distance ? distance : t->distance;
    t->room = distance ? (okra_int)room : t->room;
    return distance != NULL;
}

/* Which of the three columns each field of the heading is. */
static bool find_columns(const char *line, char separator, int column[3])
{
    static const char *const names[] = {"test", "candidate", "distance"};
    int k = 0;
    column[0] = column[1] = column[2] = -1;
    for (const char *at = line; at; k++) {
        size_t length = strcspn(at, separator == ',' ? ",\r\n" : "\t\r\n");
        for (int c = 0; c < 3; c++) {
            if (strlen(names[c]) == length && memcmp(names[c], at, length) == 0) {
                column[c] = k;
            }
        }
        at = at[length] == separator ? at + length + 1 : NULL;
    }
    return column[0] >= 0 && column[1] >= 0 && column[2] >= 0;
}

/* The three numbers of a line; false: one is none. Fields in quotes may hold commas. */
static bool take_numbers(const char *line, char separator, const int column[3],
                         double values[3])
{
    int k = 0, found = 0;
    for (const char *at = line; at && *at && *at != '\n'; k++) {
        const char *end = at;
        bool quoted = false;
        while (*end && *end != '\n' && (*end != separator || quoted)) {
            quoted ^= *end++ == '"';
        }
        for (int c = 0; c < 3; c++) {
            if (column[c] == k) {
                char *stop = NULL;
                values[c] = strtod(at, &stop);
                found += stop > at && (stop == end || *stop == '\r');
            }
        }
        at = *end == separator ? end + 1 : NULL;
    }
    return found == 3;
}

static int read_one(const cli_run *run, const char *path, read_table *t)
{
    int column[3];
    long long number = 1;
    t->text = read_whole(path);
    if (!t->text) {
        return cli_failure(run, "%s: cannot be read: %s", path, strerror(errno));
    }
    const char *text = t->text + (strncmp(t->text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0);
    size_t heading = strcspn(text, "\n");
    char separator = memchr(text, '\t', heading) ? '\t' : ',';
    if (!find_columns(text, separator, column)) {
        return cli_failure(
            run, "%s: line 1: expected the headings test, candidate and distance", path);
    }
    for (const char *line = text + heading; *line; line += strcspn(line, "\n")) {
        double v[3] = {0, 0, 0};
        line++;
        number++;
        if (strspn(line, " \r") == strcspn(line, "\n")) {
            continue; /* an empty line is none */
        }
        if (!take_numbers(line, separator, column, v) || v[0] != floor(v[0]) ||
            v[1] != floor(v[1]) || fabs(v[0]) > 9e15 || fabs(v[1]) > 9e15) {
            return cli_failure(run,
                               "%s: line %lld: expected test, candidate and distance",
                               path, number);
        }
        if (!grow(t)) {
            return cli_failure(run, "out of memory");
        }
        t->test[t->count] = (okra_int)v[0];
        t->candidate[t->count] = (okra_int)v[1];
        t->distance[t->count++] = v[2];
    }
    return CLI_DONE;
}

/* ---- weights ---- */

static int given_weights(const cli_run *run, const char *text, int count, double *w)
{
    const char *at = text;
    for (int k = 0; k < count; k++) {
        char *end = NULL;
        w[k] = *text ? strtod(at, &end) : 1.0 / count;
        bool last = k == count - 1;
        if (*text && (end == at || *end != (last ? '\0' : ','))) {
            return cli_usage(run, "--weights is '%s', expected %d numbers between commas",
                             text, count);
        }
        at = *text ? end + 1 : at;
    }
    return CLI_DONE;
}

static int find_truth(cli_run *run, const fuse_fields *f, const okra_data *y,
                      okra_int *truth)
{
    char buffer[4096];
    okra_data *set = NULL;
    okra_index *index = NULL;
    okra_status st;
    if (cli_is_index(f->candidates)) {
        const char *path = cli_find(run, f->candidates, buffer, sizeof buffer);
        st = okra_index_open(run->context, path, &index);
        st = st == OKRA_OK ? okra_index_find(run->context, index, y, truth) : st;
    } else {
        st = cli_read_candidates(run, f->candidates, &set);
        st = st == OKRA_OK ? okra_data_match(y, set, truth) : st;
    }
    okra_index_free(index);
    okra_data_free(set);
    return cli_status(run, st);
}

static int chosen_weights(cli_run *run, const fuse_fields *f, const okra_list *lists,
                          int count, double *w)
{
    okra_data *y = NULL;
    double mrr = 0;
    int status = cli_status(run, cli_read(run, f->y, &y));
    okra_int tests = okra_data_count(y);
    okra_int *truth = malloc((size_t)tests * sizeof *truth + 1);
    if (status == CLI_DONE && !truth) {
        status = cli_failure(run, "out of memory");
    }
    if (status == CLI_DONE) {
        status = find_truth(run, f, y, truth);
    }
    if (status == CLI_DONE) {
        status = cli_status(run, okra_fuse_weights(lists, count, truth, tests, w, &mrr));
    }
    if (status == CLI_DONE && !run->common.quiet) {
        fprintf(stderr, "weights ");
        for (int k = 0; k < count; k++) {
            fprintf(stderr, "%s%.10g", k ? "," : "", w[k]);
        }
        fprintf(stderr, ", mrr %.4g\n", mrr);
    }
    free(truth);
    okra_data_free(y);
    return status;
}

/* ---- the table ---- */

static int write_fused(const cli_run *run, const fuse_fields *f, const okra_fused *fused)
{
    const okra_int *test, *candidate;
    const double *score;
    okra_int count = okra_fused_entries(fused, &test, &candidate, &score), rank = 0;
    char s = cli_ends(f->output, ".csv") ? ',' : '\t';
    cli_file *file = cli_file_open(run, f->output);
    if (!file) {
        return CLI_FAILED;
    }
    FILE *out = cli_file_stream(file);
    fprintf(out, "test%crank%ccandidate%cscore\n", s, s, s);
    for (okra_int i = 0; i < count; i++) {
        rank = i > 0 && test[i] == test[i - 1] ? rank + 1 : 1;
        if (f->top == 0 || rank <= f->top) {
            fprintf(out, "%lld%c%lld%c%lld%c%.17g\n", (long long)test[i], s,
                    (long long)rank, s, (long long)candidate[i], s, score[i]);
        }
    }
    return cli_file_close(run, file, CLI_DONE);
}

static int run_fuse(cli_run *run)
{
    fuse_fields f;
    static read_table tables[TABLES_MOST];
    okra_list lists[TABLES_MOST];
    double w[TABLES_MOST] = {0};
    okra_fused *fused = NULL;
    int count = run->operand_count;
    int status = cli_status(run, cli_fields(run, &f));
    if (status == CLI_DONE && (!*f.y != !*f.candidates || (*f.y && *f.weights))) {
        return cli_usage(run, *f.weights ? "--weights are given or chosen with --y"
                                         : "--y and --candidates go together");
    }
    for (int k = 0; k < count && status == CLI_DONE; k++) {
        status = read_one(run, run->operands[k], &tables[k]);
        lists[k] = (okra_list){OKRA_SIZED(okra_list), tables[k].count, tables[k].test,
                               tables[k].candidate, tables[k].distance};
    }
    if (status == CLI_DONE) {
        status = *f.y ? chosen_weights(run, &f, lists, count, w)
                      : given_weights(run, f.weights, count, w);
    }
    if (status == CLI_DONE) {
        status = cli_status(run, okra_fuse(lists, count, w, &fused));
    }
    if (status == CLI_DONE) {
        status = write_fused(run, &f, fused);
    }
    okra_fused_free(fused);
    for (int k = 0; k < count; k++) {
        clear_table(&tables[k]);
    }
    return status;
}

const cli_command cli_fuse = {
    .name = "fuse",
    .purpose = "Make one ranking of those of several models",
    .usage = "RANKED.tsv RANKED.tsv... -o FILE [flags]",
    .about =
        "Each table is what 'okra predict --top' wrote for the same tests and "
        "candidates. "
        "Distances\nof a test become deviations from their mean; scores are weighted "
        "sums "
        "of these, larger\nis better. With --y and --candidates, of tests that were held "
        "out, the weights are chosen\nand told on standard error.\n",
    .examples =
        "okra fuse a.tsv b.tsv -o fused.tsv\n"
        "okra fuse held_a.tsv held_b.tsv --y held.smi --candidates c.okx -o h.tsv\n"
        "okra fuse a.tsv b.tsv --weights 0.7,0.3 --top 20 -o fused.tsv\n",
    .own = {"fuse", rows, sizeof(fuse_fields)},
    .refuses = "seed engine threads memory json",
    .operands_least = 1,
    .operands_most = 64,
    .operand = "RANKED.tsv",
    .run = run_fuse,
};
