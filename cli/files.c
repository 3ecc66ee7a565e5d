/*
 * files.c: finding, reading and writing data files.
 */
#include "cli.h"
#include "okra/program.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool cli_ends(const char *text, const char *tail)
{
    size_t n = strlen(text), m = strlen(tail);
    return n >= m && strcmp(text + n - m, tail) == 0;
}

/* The length of "type:" before a path, 0 if there is none. */
static size_t type_length(const char *spec)
{
    size_t length = strspn(spec, "abcdefghijklmnopqrstuvwxyz0");
    return length > 1 && spec[length] == ':' ? length + 1 : 0;
}

/* The file of a spec exists under `folder`; ":name" may follow it. */
static bool exists(const char *folder, const char *path)
{
    char whole[4096];
    struct stat found;
    if (snprintf(whole, sizeof whole, "%s%s%s", folder, *folder ? "/" : "", path) >=
        (int)sizeof whole) {
        return false;
    }
    if (stat(whole, &found) == 0) {
        return true;
    }
    char *colon = strrchr(whole, ':');
    if (colon) {
        *colon = '\0';
    }
    return colon && stat(whole, &found) == 0;
}

const char *cli_find(const cli_run *run, const char *spec, char *buffer, size_t size)
{
    size_t type = type_length(spec);
    const char *path = spec + type, *variable = getenv("OKRA_DATA");
    const char *folder = *run->common.data ? run->common.data : variable ? variable : "";
    if (!*folder || *path == '/' || strcmp(path, "-") == 0 || exists("", path) ||
        !exists(folder, path) ||
        snprintf(buffer, size, "%.*s%s/%s", (int)type, spec, folder, path) >= (int)size) {
        return spec;
    }
    return buffer;
}

okra_status cli_take_input(cli_run *run, const char *spec)
{
    if (strcmp(spec + type_length(spec), "-") != 0) {
        return OKRA_OK;
    }
    bool twice = run->input_taken;
    run->input_taken = true;
    return twice ? okra_fail(OKRA_EARG,
                             "standard input is named twice: '-' can be read once")
                 : OKRA_OK;
}

static okra_status read_one(cli_run *run, const char *spec, const okra_data *like,
                            okra_data **out)
{
    char buffer[4096];
    const char *file = cli_find(run, spec, buffer, sizeof buffer);
    CHK(cli_take_input(run, spec));
    return !run->inputs ? okra_data_read_like(run->context, file, like, out)
           : *run->common.bag
               ? okra_data_read_bags(run->context, file, run->common.bag, like, out)
               : okra_data_read_inputs(run->context, file, like, out);
}

enum { PARTS = 64 };

static void free_parts(okra_data *(*parts)[PARTS])
{
    for (int k = 0; k < PARTS; k++) {
        okra_data_free((*parts)[k]);
    }
}

/* Several files, a line each, describe the same objects: a tuple. */
okra_status cli_read_like(cli_run *run, const char *spec, const okra_data *like,
                          okra_data **out)
{
    FREED_BY(free_parts) okra_data *parts[PARTS] = {NULL};
    char one[4096];
    int count = 0;
    if (!strchr(spec, '\n')) {
        return read_one(run, spec, like, out);
    }
    for (const char *p = spec; p; p = strchr(p, '\n')) {
        p += *p == '\n';
        int length = snprintf(one, sizeof one, "%.*s", (int)strcspn(p, "\n"), p);
        if (count == PARTS || length >= (int)sizeof one) {
            return okra_fail(OKRA_EARG, "more than %d files, or a name too long", PARTS);
        }
        CHK(read_one(run, one, okra_data_part(like, count), &parts[count]));
        if (okra_data_kind(parts[count++]) == OKRA_TUPLE) {
            return okra_fail(OKRA_EARG,
                             "%s becomes vectors and molecules, and cannot stand beside "
                             "other inputs; give them apart: --x TABLE:A,B of the "
                             "numbers and classes, --x TABLE:C of the SMILES",
                             one);
        }
    }
    return okra_data_tuple(parts, count, out);
}

okra_status cli_read_inputs(cli_run *run, const char *spec, const okra_data *like,
                            okra_data **out)
{
    run->inputs = true;
    okra_status st = cli_read_like(run, spec, like, out);
    run->inputs = false;
    return st;
}

okra_status cli_read(cli_run *run, const char *spec, okra_data **out)
{
    return cli_read_like(run, spec, NULL, out);
}

/* ---- pairs ---- */

const char *cli_without_types(const char *spec)
{
    for (size_t type; (type = type_length(spec)) > 0;) {
        spec += type;
    }
    return spec;
}

/* The length of "TABLE" in TABLE:COLUMN: before the last colon that follows a dot of its
 * name. */
size_t cli_table_length(const char *spec)
{
    size_t length = strcspn(spec, "\n"), end = length;
    bool dot = false;
    for (size_t k = 0; k < length; k++) {
        dot = spec[k] == '.' || (dot && spec[k] != '/');
        end = dot && spec[k] == ':' ? k : end;
    }
    return end;
}

/* Where y is "TABLE:COLUMN", TABLE or TABLE:!OTHER among the inputs is without that
 * column. A field of spectra (FILE.mgf:smiles) is no column: x is all of them. */
static const char *rest_of_table(const cli_run *run, const char *x, const char *y,
                                 char *buffer, size_t size)
{
    const char *column = cli_without_types(y), *line = x, *next;
    size_t used = 0, table = strchr(column, ':') ? cli_table_length(column) : 0;
    bool spectra = table > 4 && (strncmp(column + table - 4, ".mgf", 4) == 0 ||
                                 strncmp(column + table - 4, ".msp", 4) == 0);
    if (spectra || table == 0 || !column[table] || !column[table + 1] ||
        strchr(column, '\n') || strlen(x) + 64 * strlen(y) >= size) {
        return x;
    }
    for (; line; line = next) {
        int length = (int)strcspn(line, "\n");
        const char *own = cli_without_types(line);
        size_t rest = (size_t)(line + length - own);
        bool same = rest >= table && strncmp(own, column, table) == 0;
        bool all = same && rest == table;
        bool less = same && strncmp(own + table, ":!", 2) == 0;
        const char *also = all ? ":!" : less ? "," : "";
        next = line[length] ? line + length + 1 : NULL;
        used += (size_t)snprintf(buffer + used, size - used, "%.*s%s%s%s", length, line,
                                 also, *also ? column + table + 1 : "", next ? "\n" : "");
        if ((all || less) && !run->common.quiet) {
            fprintf(stderr, "okra %s: x is %.*s without the column%s '%s', which %s y\n",
                    run->command->name, (int)rest, own,
                    strchr(column + table, ',') ? "s" : "", column + table + 1,
                    strchr(column + table, ',') ? "are" : "is");
        }
    }
    return buffer;
}

/* Columns of one table that are chosen for both sides. */
static void warn_both(const cli_run *run, const char *x, const char *y,
                      const okra_data *in, const okra_data *out)
{
    const char *table = cli_without_types(x), *also = cli_without_types(y);
    size_t length = strcspn(table, ":\n");
    char name[80];
    if (table[length] != ':' || strcmp(table, also) == 0 ||
        strncmp(table, also, length + 1) != 0) {
        return;
    }
    for (okra_int j = 0; j < okra_data_width(out); j++) {
        const char *of = okra_data_column(out, j), *one = NULL;
        for (okra_int k = 0; of && (one = okra_data_column(in, k)); k++) {
            if (strcmp(one, of) == 0) {
                okra_text_printable(of, name, sizeof name);
                fprintf(stderr,
                        "okra %s: warning: the column '%s' of %.*s is an output, and "
                        "stays among the inputs\n",
                        run->command->name, name, (int)length, table);
            }
        }
    }
}

/* A few whole numbers, or texts that come again and again, may be meant as classes. */
static okra_status hint_classes(const cli_run *run, const char *spec, const okra_data *y)
{
    okra_int n = okra_data_count(y), ld = 0, different = 0;
    const double *values = okra_data_values(y, &ld);
    bool texts = okra_data_kind(y) == OKRA_STRINGS;
    bool likely = texts || (okra_data_kind(y) == OKRA_DENSE && okra_data_width(y) == 1);
    bool zero_one = !texts;
    for (okra_int i = 0; likely && !texts && i < n; i++) {
        double v = values[i * ld];
        likely = v == floor(v);
        zero_one = zero_one && (v == 0 || v == 1);
    }
    if (!likely || zero_one || n < 10 || strchr(spec, '\n') ||
        okra_options_is_set(run->library, "ky")) {
        return OKRA_OK;
    }
    OWNED okra_int *first = malloc((size_t)n * sizeof *first);
    CHK(first ? okra_data_distinct(y, first, &different) : OKRA_EMEM);
    bool few = different <= 20;
    okra_int most = texts ? n / (few ? 2 : 5) : few ? n / 3 : 0;
    if (different > 1 && different <= most) {
        fprintf(stderr,
                "okra %s: y holds %lld different %s, learned as %s; --y labels:%s makes "
                "them classes\n",
                run->command->name, (long long)different,
                texts ? "strings" : "whole numbers", texts ? "strings" : "numbers",
                cli_without_types(spec));
    }
    return OKRA_OK;
}

/* Each input needs an output, unless a semi-supervised fit is asked for. */
static okra_status check_counts(const cli_run *run, const char *x, const char *y,
                                const okra_data *in, const okra_data *out)
{
    long long a = (long long)okra_data_count(in), b = (long long)okra_data_count(out);
    bool semi = run->library && okra_options_get(run->library, "lambda2") &&
                okra_options_is_set(run->library, "lambda2");
    return a > b && !semi
               ? okra_fail(OKRA_ESHAPE,
                           "--x %s has %lld objects, --y %s has %lld; expected "
                           "an output for each input",
                           x, a, y, b)
               : OKRA_OK;
}

okra_status cli_read_pairs(cli_run *run, const char *x, const char *y,
                           const char *unlabelled, const okra_model *model,
                           okra_data **x_out, okra_data **y_out)
{
    const okra_data *like[2] = {model ? okra_model_inputs(model) : NULL,
                                model ? okra_model_outputs(model) : NULL};
    char buffer[8192], edited[12000], column[4096];
    const char *of = cli_without_types(y), *table = cli_without_types(x);
    OWNED_DATA *outputs = NULL, *more = NULL, *before = NULL;
    if (*of == ':' && snprintf(column, sizeof column, "%.*s%.*s%s", (int)(of - y), y,
                               (int)cli_table_length(table), table,
                               of) < (int)sizeof column) { /* a column of x's table */
        y = column;
    }
    if (!strpbrk(y, ":./-") && access(y, F_OK) != 0) {
        return okra_fail(
            OKRA_EIO, "--y %s: there is no such file; a column of --x is --y :%s", y, y);
    }
    const char *inputs = rest_of_table(run, x, y, buffer, sizeof buffer);
    bool columns = !model && strchr(inputs, ':');
    if (columns) { /* which may depend on the outputs */
        CHK(cli_read_like(run, y, like[1], &outputs));
        inputs = cli_edited(run, inputs, outputs, edited, sizeof edited);
    }
    CHK(cli_read_inputs(run, inputs, like[0], x_out));
    CHK(columns ? OKRA_OK : cli_read_like(run, y, like[1], &outputs));
    CHK(okra_data_outputs(run->context, *x_out, outputs, y_out));
    if (!run->common.quiet) {
        warn_both(run, x, y, *x_out, *y_out);
        if (okra_data_kind(*y_out) == OKRA_SPECTRA) {
            cli_warn(
                run,
                "the outputs are the spectra of %s; FILE:smiles reads their molecules",
                y);
        }
        CHK(check_counts(run, x, y, *x_out, *y_out));
        CHK(hint_classes(run, y, *y_out));
    }
    if (*unlabelled) {
        CHK(cli_read_like(run, unlabelled, *x_out, &more));
        before = TAKE(*x_out);
        CHK(okra_data_concat(before, more, x_out));
    }
    return OKRA_OK;
}

okra_status cli_read_candidates(cli_run *run, const char *spec, const okra_data *like,
                                okra_data **out)
{
    okra_status st = okra_context_set_strict(run->context, run->common.strict ? 1 : -1);
    st = st == OKRA_OK ? cli_read_like(run, spec, like, out) : st;
    okra_status back = okra_context_set_strict(run->context, run->common.strict);
    return st == OKRA_OK ? back : st;
}

okra_status cli_read_numbers(cli_run *run, const char *spec, okra_data **out)
{
    char csv[4200];
    bool text = cli_ends(spec, ".txt") && type_length(spec) == 0;
    snprintf(csv, sizeof csv, "csv:%s", spec);
    OWNED_DATA *like = NULL; /* texts are no numbers, even alone in their column */
    CHK(okra_data_dense(&(double){0}, 1, 1, 1, &like));
    okra_status st = cli_read_like(run, text ? csv : spec, like, out);
    if (st == OKRA_EFORMAT) { /* it cannot be read in another way, as outputs can */
        char message[1024];
        snprintf(message, sizeof message, "%s", okra_message());
        st = okra_fail(st, "%.*s", cli_without_hints(message), message);
    }
    return st;
}

int cli_read_whole(cli_run *run, const char *file, okra_int columns, okra_int *rows,
                   const char *expected, okra_int **out)
{
    OWNED_DATA *table = NULL;
    okra_int ld = 0;
    TRY(cli_read_numbers(run, file, &table));
    const double *values = okra_data_values(table, &ld);
    okra_int found = okra_data_count(table);
    if (!values || okra_data_width(table) != columns || (*rows >= 0 && found != *rows)) {
        return cli_failure(run, "%s: %s", file, expected);
    }
    *rows = found;
    MAKE(*out, found * columns);
    for (okra_int i = 0; i < found * columns; i++) {
        double v = values[i / columns * ld + i % columns];
        if (v != floor(v) || fabs(v) > 9e15) {
            return cli_failure(run, "%s: row %lld holds %g, expected a whole number",
                               file, (long long)(i / columns), v);
        }
        (*out)[i] = (okra_int)v;
    }
    return CLI_DONE;
}

int cli_without_hints(const char *message)
{
    const char *classes = strstr(message, "; classes are read as");
    const char *gaps = strstr(message, "; outputs with gaps");
    const char *end = classes ? classes : gaps;
    return (int)(end ? (size_t)(end - message) : strlen(message));
}

/* The numbers of a file, one per pair. */
static okra_status read_weights(cli_run *run, const char *file, okra_int n, double *to)
{
    OWNED_DATA *data = NULL;
    okra_int ld = 0;
    CHK(cli_read_numbers(run, file, &data));
    const double *values = okra_data_values(data, &ld);
    okra_int count = okra_data_count(data), width = okra_data_width(data);
    bool row = count == 1 && width == n, column = width == 1 && count == n;
    if (!values) {
        return okra_fail(OKRA_ESHAPE,
                         "%s holds %s, expected %lld weights, one number per pair", file,
                         okra_kind_name(okra_data_kind(data)), (long long)n);
    }
    if (!row && !column) {
        return okra_fail(OKRA_ESHAPE,
                         "%s: found %lld rows of %lld values, expected %lld weights, one "
                         "number per pair",
                         file, (long long)count, (long long)width, (long long)n);
    }
    for (okra_int i = 0; i < n; i++) {
        to[i] *= row ? values[i] : values[i * ld];
    }
    return OKRA_OK;
}

okra_status cli_weigh(cli_run *run, const char *file, const char *classes, okra_data **y)
{
    bool balanced = strcmp(classes, "balanced") == 0;
    okra_int n = okra_data_count(*y);
    OWNED_DATA *given = NULL, *before = NULL;
    OWNED double *weights = NULL;
    if (!*file && !balanced) {
        return OKRA_OK;
    }
    weights = cli_alloc((size_t)n + 1, sizeof *weights);
    if (!weights) {
        return OKRA_EMEM;
    }
    for (okra_int i = 0; i < n; i++) {
        weights[i] = 1;
    }
    CHK(*file ? read_weights(run, file, n, weights) : OKRA_OK);
    if (balanced) { /* classes of the pairs that count */
        CHK(okra_data_weigh(*y, weights, n, &given));
        CHK(okra_data_balanced(given, weights));
        for (okra_int i = 0; i < n; i++) {
            weights[i] *= okra_data_weights(given)[i];
        }
    }
    before = TAKE(*y);
    return okra_data_weigh(before, weights, n, y);
}

okra_status cli_write(cli_run *run, const double *values, okra_int rows, okra_int cols,
                      const char *file)
{
    OWNED_DATA *data = NULL;
    CHK(okra_data_dense(values, rows, cols, cols, &data));
    return okra_data_write(run->context, data, file);
}

static void say_size(const cli_run *run, const okra_model *model, okra_compact how)
{
    const double large = 64.0 * 1024 * 1024;
    char a[64], b[64], rest[2][128] = {"", ""};
    double all = okra_model_bytes(model, OKRA_COMPACT_NO);
    if (how == OKRA_COMPACT_AUTO && all >= large &&
        okra_model_bytes(model, how) < all / 2) {
        fprintf(stderr,
                "okra %s: the model leaves out its factor, %s, which is computed again "
                "where it is needed; --compact=no keeps it\n",
                run->command->name, cli_bytes(all, a, sizeof a));
    }
    double size = okra_model_bytes(model, how);
    if (size < large) {
        return;
    }
    double half = okra_model_bytes(model, OKRA_COMPACT_YES);
    double none = okra_model_bytes(model, OKRA_COMPACT_RECOMPUTE);
    if (how == OKRA_COMPACT_NO && half < 0.8 * size) {
        snprintf(rest[0], sizeof rest[0], "; with --compact %s",
                 cli_bytes(half, b, sizeof b));
    }
    if (how != OKRA_COMPACT_RECOMPUTE && none < 0.8 * half) {
        snprintf(rest[1], sizeof rest[1], "; with --compact=recompute %s",
                 cli_bytes(none, b, sizeof b));
    }
    fprintf(stderr, "okra %s: the model takes about %s%s%s\n", run->command->name,
            cli_bytes(size, a, sizeof a), rest[0], rest[1]);
}

okra_status cli_save_model(const cli_run *run, const okra_model *model, okra_compact how,
                           const char *file)
{
    if (!run->common.quiet) {
        say_size(run, model, how);
    }
    return okra_model_save(
        run->context, model,
        (&(okra_save_request){OKRA_SIZED(okra_save_request), .compact = how}), file);
}

int cli_check_writable(const cli_run *run, const char *path)
{
    if (!*path || strcmp(path, "-") == 0) {
        return CLI_DONE;
    }
    const char *file = cli_without_types(path), *slash = strrchr(file, '/');
    char folder[4096];
    struct stat found;
    bool device =
        stat(file, &found) == 0 && !S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode);
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - file + 1) : 1,
             slash ? file : ".");
    return access(device ? file : folder, W_OK) == 0
               ? CLI_DONE
               : cli_failure(run, "%s: cannot be written: %s", path, strerror(errno));
}

int cli_check_model_file(const cli_run *run, const char *path)
{
    REFUSE_IF(strcmp(path, "-") == 0,
              "a model is mapped from its file: -o must name one");
    return cli_check_writable(run, path);
}

int cli_load_model(const cli_run *run, const char *path, okra_model **model)
{
    char buffer[4096], head[2] = "PK";
    const char *found = cli_find(run, path, buffer, sizeof buffer);
    FILE *file = fopen(found, "rb");
    size_t length = file ? fread(head, 1, sizeof head, file) : 0;
    bool other = file && !ferror(file) && (length < 2 || memcmp(head, "PK", 2) != 0);
    if (file) {
        fclose(file);
    }
    return other ? cli_failure(run,
                               "%s: not an okra model: a model is what okra fit -o "
                               "writes",
                               found)
                 : cli_status(run, okra_model_load(run->context, found, model));
}
