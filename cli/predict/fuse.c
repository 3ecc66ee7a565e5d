/*
 * fuse.c: okra fuse: rankings of several models as one.
 */
#include "commands.h"
#include "predict/ranked.h"
#include "predict/table.h"

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
    {"output", OKRA_OPTION_WRITTEN, offsetof(fuse_fields, output), NULL, 1, 0, NULL,
     "FILE", "The fused ranking, as .tsv or .csv"},
    {"weights", OKRA_OPTION_TEXT, offsetof(fuse_fields, weights), "", 1, 0, NULL, "LIST",
     "A weight of each table between commas; all the same if not given"},
    {"y", OKRA_OPTION_READ, offsetof(fuse_fields, y), "", 1, 0, NULL, "FILE",
     "The true outputs of the tests, which were held out: weights are chosen by the mean "
     "of 1 over the rank of the truth"},
    {"candidates", OKRA_OPTION_READ, offsetof(fuse_fields, candidates), "", 1, 0, NULL,
     "FILE", "With --y: the candidates that the tables number, also an index"},
    {"top", OKRA_OPTION_INT, offsetof(fuse_fields, top), "0", 0, 1e9, NULL, "K",
     "Write the K best of each test; 0: all of them"},
    {0}};

enum { TEST, CANDIDATE, DISTANCE, QUERY, ABOUT, COLUMNS };

typedef struct read_table {
    const char *path;
    char *text; /* the file */
    const char *heading;
    char separator;
    int column[COLUMNS]; /* -1: there is none; from ABOUT on all tells of the candidate */
    okra_int *test, *candidate;
    double *distance;
    const char **line;
    okra_int count, room;
} read_table;

static void clear_table(read_table *t)
{
    free(t->text);
    free(t->test);
    free(t->candidate);
    free(t->distance);
    free(t->line);
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
    const char **line = distance ? realloc(t->line, room * sizeof *line) : NULL;
    t->line = line ? line : t->line;
    t->room = line ? (okra_int)room : t->room;
    return line != NULL;
}

static bool find_columns(read_table *t)
{
    static const char *const names[] = {"test", "candidate", "distance", "query", "mass"};
    for (int c = 0; c < COLUMNS; c++) {
        t->column[c] = cli_column(t->heading, t->separator, names[c]);
    }
    return t->column[TEST] >= 0 && t->column[CANDIDATE] >= 0 && t->column[DISTANCE] >= 0;
}

/* The three numbers of a line; false: one is none. */
static bool take_numbers(const read_table *t, const char *line, double values[3])
{
    bool good = true;
    for (int c = 0; c <= DISTANCE && good; c++) {
        const char *begin, *end;
        char *stop = NULL;
        good = cli_field(line, t->separator, t->column[c], &begin, &end);
        values[c] = good ? strtod(begin, &stop) : 0;
        good = good && stop > begin && stop == end;
    }
    return good;
}

static int read_one(const cli_run *run, const char *path, read_table *t)
{
    long long number = 1;
    t->path = path;
    t->text = cli_slurp(path);
    if (!t->text) {
        return cli_failure(run, "%s: cannot be read: %s", path, strerror(errno));
    }
    const char *text = t->text + (strncmp(t->text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0);
    size_t heading = strcspn(text, "\n");
    t->heading = text;
    t->separator = memchr(text, '\t', heading) ? '\t' : ',';
    if (!find_columns(t)) {
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
        if (!take_numbers(t, line, v) || v[0] != floor(v[0]) || v[1] != floor(v[1]) ||
            fabs(v[0]) > 9e15 || fabs(v[1]) > 9e15) {
            return cli_failure(run,
                               "%s: line %lld: expected test, candidate and distance",
                               path, number);
        }
        if (!grow(t)) {
            return cli_failure(run, "out of memory");
        }
        t->test[t->count] = (okra_int)v[0];
        t->candidate[t->count] = (okra_int)v[1];
        t->line[t->count] = line;
        t->distance[t->count++] = v[2];
    }
    return CLI_DONE;
}

/* ---- what tests and candidates are ---- */

/* A test or a candidate, and the text that a table has for it. */
typedef struct described {
    okra_int number;
    const read_table *table;
    const char *text;
    size_t length;
} described;

typedef struct descriptions {
    described *all; /* by number, one each */
    okra_int count;
} descriptions;

static int by_number(const void *a, const void *b)
{
    const described *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

/* Texts of all tests or candidates; two tables that say different things of one are of
 * different ones. */
static int describe(const cli_run *run, const read_table *tables, int count, int column,
                    descriptions *out)
{
    size_t room = 0;
    okra_int kept = 0;
    for (int k = 0; k < count; k++) {
        room += (size_t)tables[k].count;
    }
    out->all = malloc(room * sizeof *out->all + 1);
    if (!out->all) {
        return cli_failure(run, "out of memory");
    }
    for (int k = 0; k < count; k++) {
        const read_table *t = &tables[k];
        bool readable = t->separator == tables[0].separator && t->column[column] >= 0;
        for (okra_int i = 0; readable && i < t->count; i++) {
            const char *begin, *end;
            if (cli_field(t->line[i], t->separator, t->column[column], &begin, &end)) {
                end = column == ABOUT ? cli_line_end(begin) : end;
                okra_int number = column == ABOUT ? t->candidate[i] : t->test[i];
                out->all[out->count++] =
                    (described){number, t, begin, (size_t)(end - begin)};
            }
        }
    }
    if (out->count > 0) {
        qsort(out->all, (size_t)out->count, sizeof *out->all, by_number);
    }
    for (okra_int i = 0; i < out->count; i++) {
        const described *one = &out->all[i], *last = kept > 0 ? &out->all[kept - 1] : one;
        if (kept == 0 || one->number != last->number) {
            out->all[kept++] = *one;
        } else if (one->length != last->length ||
                   memcmp(one->text, last->text, one->length) != 0) {
            return cli_failure(
                run, "%s and %s are of different %ss: number %lld is '%.*s' and '%.*s'",
                last->table->path, one->table->path,
                column == ABOUT ? "candidate" : "test", (long long)one->number,
                (int)(last->length < 80 ? last->length : 80), last->text,
                (int)(one->length < 80 ? one->length : 80), one->text);
        }
    }
    out->count = kept;
    return CLI_DONE;
}

static void print_described(FILE *out, const descriptions *d, okra_int number)
{
    described want = {.number = number};
    const described *found =
        d->count > 0 ? bsearch(&want, d->all, (size_t)d->count, sizeof *d->all, by_number)
                     : NULL;
    if (found) {
        fwrite(found->text, 1, found->length, out);
    }
}

/* ---- weights ---- */

static int given_weights(const cli_run *run, const char *text, int count, double *w)
{
    const char *at = text;
    for (int k = 0; k < count; k++) {
        char *end = NULL;
        w[k] = *text ? strtod(at, &end) : 1.0 / count;
        bool last = k == count - 1;
        REFUSE_IF(*text && (end == at || *end != (last ? '\0' : ',')),
                  "--weights is '%s', expected %d numbers between commas", text, count);
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
        st = cli_read_candidates(run, f->candidates, NULL, &set);
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
    status = status ? status : find_truth(run, f, y, truth);
    status =
        status ? status
               : cli_status(run, okra_fuse_weights(lists, count, truth, tests, w, &mrr));
    if (status == CLI_DONE && !run->common.quiet) {
        fprintf(stderr, "weights ");
        for (int k = 0; k < count; k++) {
            fprintf(stderr, "%s%.10g", k ? "," : "", w[k]);
        }
        fprintf(stderr, ", mrr %.4g (candidates of the same score before the truth)\n",
                mrr);
    }
    free(truth);
    okra_data_free(y);
    return status;
}

/* ---- the table ---- */

/* Columns that tell of tests and candidates follow where the tables have them. */
static int write_fused(const cli_run *run, const fuse_fields *f, const okra_fused *fused,
                       const read_table *first, const descriptions told[2])
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
    bool about = s == first->separator && told[1].count > 0 && first->column[ABOUT] >= 0;
    const char *begin = "", *end = begin;
    if (about) {
        (void)cli_field(first->heading, s, first->column[ABOUT], &begin, &end);
        end = cli_line_end(begin);
    }
    fprintf(out, "test%crank%ccandidate%cscore", s, s, s);
    if (about) {
        fprintf(out, "%cquery%c%.*s", s, s, (int)(end - begin), begin);
    }
    fputc('\n', out);
    for (okra_int i = 0; i < count; i++) {
        rank = i > 0 && test[i] == test[i - 1] ? rank + 1 : 1;
        if (f->top == 0 || rank <= f->top) {
            fprintf(out, "%lld%c%lld%c%lld%c%.17g", (long long)test[i], s,
                    (long long)rank, s, (long long)candidate[i], s, score[i]);
            if (about) {
                fputc(s, out);
                print_described(out, &told[0], test[i]);
                fputc(s, out);
                print_described(out, &told[1], candidate[i]);
            }
            fputc('\n', out);
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
    descriptions told[2] = {{NULL, 0}, {NULL, 0}}; /* tests, candidates */
    int count = run->operand_count;
    int status = cli_status(run, cli_fields(run, &f));
    REFUSE_IF(status == CLI_DONE && (!*f.y != !*f.candidates || (*f.y && *f.weights)),
              *f.weights ? "--weights are given or chosen with --y"
                         : "--y and --candidates go together");
    for (int k = 0; k < count && status == CLI_DONE; k++) {
        status = cli_ask(run, run->operands[k], 5); /* lines and entries, too */
        status = status ? status : read_one(run, run->operands[k], &tables[k]);
        lists[k] = (okra_list){OKRA_SIZED(okra_list), tables[k].count, tables[k].test,
                               tables[k].candidate, tables[k].distance};
    }
    for (int k = 0; k < 2 && status == CLI_DONE; k++) {
        status = describe(run, tables, count, k ? ABOUT : QUERY, &told[k]);
    }
    if (status == CLI_DONE) {
        status = *f.y ? chosen_weights(run, &f, lists, count, w)
                      : given_weights(run, f.weights, count, w);
    }
    status = status ? status : cli_status(run, okra_fuse(lists, count, w, &fused));
    status = status ? status : write_fused(run, &f, fused, &tables[0], told);
    okra_fused_free(fused);
    free(told[0].all);
    free(told[1].all);
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
        "out, okra chooses the weights\nand prints them on standard error.\n",
    .examples =
        "okra fuse a.tsv b.tsv -o fused.tsv\n"
        "okra fuse held_a.tsv held_b.tsv --y held.smi --candidates c.okx -o h.tsv\n"
        "okra fuse a.tsv b.tsv --weights 0.7,0.3 --top 20 -o fused.tsv\n",
    .own = {"fuse", rows, sizeof(fuse_fields)},
    .refuses = "seed engine threads json",
    .operands_least = 1,
    .operands_most = 64,
    .operand = "RANKED.tsv",
    .run = run_fuse,
};
