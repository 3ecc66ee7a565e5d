/*
 * fuse.c: okra fuse: rankings of several models as one.
 */
#include "commands.h"
#include "predict/ranked.h"
#include "predict/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TABLES_MOST = 64 };

typedef struct fuse_fields {
    const char *output, *weights, *y, *candidates;
    okra_int top;
} fuse_fields;

#define FIELDS fuse_fields
static const okra_option rows[] = {
    ROW(WRITTEN, "output", output, NULL, "FILE", "The fused ranking, as .tsv or .csv"),
    ROW(TEXT, "weights", weights, "", "LIST",
        "A weight of each table between commas; all the same if not given"),
    ROW(READ, "y", y, "", "FILE",
        "The true outputs of the tests, which were held out: weights are chosen by the "
        "mean of 1 over the rank of the truth"),
    ROW(READ, "candidates", candidates, "", "FILE",
        "With --y: the candidates that the tables number, also an index"),
    RANGE(INT, "top", top, "0", 0, 1e9, "K",
          "Write the K best of each test; 0: all of them"),
    {0}};

enum { TEST, CANDIDATE, DISTANCE, QUERY, ABOUT, COLUMNS };

/* From ABOUT on all columns tell of the candidate. */
typedef struct read_table {
    cli_columns c;
    okra_int *test, *candidate;
    double *distance;
} read_table;

static void clear_table(read_table *t)
{
    cli_columns_clear(&t->c);
    free(t->test);
    free(t->candidate);
    free(t->distance);
}

static int read_one(cli_run *run, const char *path, read_table *t)
{
    static const char *const names[] = {"test", "candidate", "distance", "query", "mass"};
    CHK(cli_columns_read(run, path, names, COLUMNS, &t->c));
    const int *column = t->c.column;
    if (column[TEST] < 0 || column[CANDIDATE] < 0 || column[DISTANCE] < 0) {
        return cli_failure(
            run, "%s: line 1: expected the headings test, candidate and distance", path);
    }
    MAKE(t->test, t->c.count);
    MAKE(t->candidate, t->c.count);
    MAKE(t->distance, t->c.count);
    for (okra_int i = 0; i < t->c.count; i++) {
        const double *v = t->c.values + i * COLUMNS;
        for (int k = TEST; k <= DISTANCE; k++) {
            CHK(cli_columns_check(run, &t->c, i, k, COLUMNS, names[k], k != DISTANCE));
        }
        t->test[i] = (okra_int)v[TEST];
        t->candidate[i] = (okra_int)v[CANDIDATE];
        t->distance[i] = v[DISTANCE];
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
    okra_int room = 0, kept = 0;
    for (int k = 0; k < count; k++) {
        room += tables[k].c.count;
    }
    MAKE(out->all, room);
    for (int k = 0; k < count; k++) {
        const read_table *t = &tables[k];
        const cli_columns *c = &t->c;
        bool readable = c->separator == tables[0].c.separator && c->column[column] >= 0;
        for (okra_int i = 0; readable && i < c->count; i++) {
            const char *begin, *end;
            if (cli_field(c->line[i], c->separator, c->column[column], &begin, &end)) {
                end = column == ABOUT ? cli_line_end(begin) : end;
                okra_int number = column == ABOUT ? t->candidate[i] : t->test[i];
                out->all[out->count++] =
                    (described){number, t, begin, (size_t)(end - begin)};
            }
        }
    }
    qsort(out->all, (size_t)out->count, sizeof *out->all, by_number);
    for (okra_int i = 0; i < out->count; i++) {
        const described *one = &out->all[i], *last = kept > 0 ? &out->all[kept - 1] : one;
        if (kept == 0 || one->number != last->number) {
            out->all[kept++] = *one;
        } else if (one->length != last->length ||
                   memcmp(one->text, last->text, one->length) != 0) {
            return cli_failure(
                run, "%s and %s are of different %ss: number %lld is '%.*s' and '%.*s'",
                last->table->c.path, one->table->c.path,
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
        bsearch(&want, d->all, (size_t)d->count, sizeof *d->all, by_number);
    if (found) {
        fwrite(found->text, 1, found->length, out);
    }
}

typedef struct job {
    read_table tables[TABLES_MOST];
    descriptions told[2]; /* tests, candidates */
    okra_fused *fused;
} job;

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
    OWNED_DATA *set = NULL;
    FREED_BY(okra_index_free_at) okra_index *index = NULL;
    if (cli_is_index(f->candidates)) {
        TRY(okra_index_open(run->context,
                            cli_find(run, f->candidates, buffer, sizeof buffer), &index));
        return cli_status(run, okra_index_find(run->context, index, y, truth));
    }
    TRY(cli_read_candidates(run, f->candidates, NULL, &set));
    return cli_status(run, okra_data_match(y, set, truth));
}

static int chosen_weights(cli_run *run, const fuse_fields *f, const okra_list *lists,
                          int count, double *w)
{
    OWNED_DATA *y = NULL;
    OWNED okra_int *truth = NULL;
    double mrr = 0;
    TRY(cli_read(run, f->y, &y));
    okra_int tests = okra_data_count(y);
    MAKE(truth, tests);
    CHK(find_truth(run, f, y, truth));
    TRY(okra_fuse_weights(lists, count, truth, tests, w, &mrr));
    if (!run->common.quiet) {
        fprintf(stderr, "weights ");
        for (int k = 0; k < count; k++) {
            fprintf(stderr, "%s%.10g", k ? "," : "", w[k]);
        }
        fprintf(stderr, ", mrr %.4g (candidates of the same score before the truth)\n",
                mrr);
    }
    return CLI_DONE;
}

/* ---- the table ---- */

/* Columns that tell of tests and candidates follow where the tables have them. */
static int write_fused(const cli_run *run, const fuse_fields *f, const okra_fused *fused,
                       const cli_columns *first, const descriptions told[2])
{
    const okra_int *test, *candidate;
    const double *score;
    okra_int count = okra_fused_entries(fused, &test, &candidate, &score), rank = 0;
    cli_table t;
    CHK(cli_table_open(run, f->output, "test,rank,candidate,score", &t));
    char s = t.mark;
    bool about = s == first->separator && told[1].count > 0 && first->column[ABOUT] >= 0;
    if (about) {
        const char *begin = "", *end = begin;
        (void)cli_field(first->heading, s, first->column[ABOUT], &begin, &end);
        fprintf(t.out, "%cquery%c%.*s", s, s, (int)(cli_line_end(begin) - begin), begin);
    }
    fputc('\n', t.out);
    for (okra_int i = 0; i < count; i++) {
        rank = i > 0 && test[i] == test[i - 1] ? rank + 1 : 1;
        if (f->top == 0 || rank <= f->top) {
            fprintf(t.out, "%lld%c%lld%c%lld%c%.17g", (long long)test[i], s,
                    (long long)rank, s, (long long)candidate[i], s, score[i]);
            if (about) {
                fputc(s, t.out);
                print_described(t.out, &told[0], test[i]);
                fputc(s, t.out);
                print_described(t.out, &told[1], candidate[i]);
            }
            fputc('\n', t.out);
        }
    }
    return cli_file_close(run, t.file, CLI_DONE);
}

static void clear(job *j)
{
    okra_fused_free(j->fused);
    free(j->told[0].all);
    free(j->told[1].all);
    for (int k = 0; k < TABLES_MOST; k++) {
        clear_table(&j->tables[k]);
    }
}

static int run_fuse(cli_run *run)
{
    fuse_fields f;
    okra_list lists[TABLES_MOST];
    double w[TABLES_MOST] = {0};
    FREED_BY(clear) job j = {.fused = NULL};
    int count = run->operand_count;
    TRY(cli_fields(run, &f));
    REFUSE_IF(!*f.y != !*f.candidates || (*f.y && *f.weights),
              *f.weights ? "--weights are given or chosen with --y"
                         : "--y and --candidates go together");
    for (int k = 0; k < count; k++) {
        read_table *t = &j.tables[k];
        CHK(read_one(run, run->operands[k], t));
        lists[k] = (okra_list){OKRA_SIZED(okra_list), t->c.count, t->test, t->candidate,
                               t->distance};
    }
    for (int k = 0; k < 2; k++) {
        CHK(describe(run, j.tables, count, k ? ABOUT : QUERY, &j.told[k]));
    }
    CHK(*f.y ? chosen_weights(run, &f, lists, count, w)
             : given_weights(run, f.weights, count, w));
    TRY(okra_fuse(lists, count, w, &j.fused));
    return write_fused(run, &f, j.fused, &j.tables[0].c, j.told);
}

const cli_command cli_fuse = {
    .name = "fuse",
    .purpose = "Combine the rankings of several models",
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
    .refuses = "seed engine threads json bag",
    .operands_least = 1,
    .operands_most = 64,
    .operand = "RANKED.tsv",
    .run = run_fuse,
};
