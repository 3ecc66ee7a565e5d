/*
 * stream.c: okra predict --x -: rows of standard input are predicted as they come.
 *
 * Each line is answered alone, as soon as it is there: the bits of an answer do not
 * depend on what came with it, a pipe of any length needs as much memory as a line, and
 * who writes a line and waits for its answer gets it.
 */
#include "predict/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const formats[] = {"csv", "tsv", "txt", "smiles", "svm"};
static const char *const endings[] = {".csv", ".tsv", ".txt", ".smi"};

static bool standard(const char *spec, const char **format)
{
    *format = NULL;
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++) {
        size_t length = strlen(formats[k]);
        if (strncmp(spec, formats[k], length) == 0 && strcmp(spec + length, ":-") == 0) {
            *format = formats[k];
        }
    }
    return *format || strcmp(spec, "-") == 0;
}

/* The spec for standard output of what `output` is called; NULL: it is no text. */
static const char *text_output(const char *output)
{
    static const char *const specs[] = {"csv:-", "tsv:-", "txt:-", "smiles:-"};
    const char *format;
    if (standard(output, &format)) {
        return output;
    }
    for (size_t k = 0; k < sizeof endings / sizeof *endings; k++) {
        if (cli_ends(output, endings[k])) {
            return specs[k];
        }
    }
    return NULL;
}

bool cli_stream_fits(const char *x, const char *output)
{
    const char *format;
    return standard(x, &format) && text_output(output);
}

/* The format of lines that hold inputs of this model; NULL: there is none. */
static const char *line_format(const okra_model *model)
{
    static const char *const of[][2] = {
        {"dense", "csv"}, {"sparse", "svm"}, {"strings", "txt"}, {"graphs", "smiles"}};
    const char *format = NULL;
    json_t *about = json_loads(okra_model_json(model), 0, NULL);
    const char *kind =
        json_string_value(json_object_get(json_object_get(about, "x"), "kind"));
    for (size_t k = 0; kind && k < 4; k++) {
        format = strcmp(kind, of[k][0]) == 0 ? of[k][1] : format;
    }
    json_decref(about);
    return format;
}

/* ---- text ---- */

typedef struct texts {
    const cli_stream *s;
    const char *format, *output;
    bool heading, rows; /* what has come so far */
    char **names;       /* of the columns, as the heading told them; or NULL */
    okra_int width;
    bool refused;     /* they are not those of the model */
    long long failed; /* lines without an answer */
} texts;

/* Does the line hold something before `stop`, which begins a comment? */
static bool is_filled(const char *text, size_t size, char stop)
{
    size_t k = 0;
    while (k < size && text[k] != stop && memchr(" \t\r\n", text[k], 4)) {
        k++;
    }
    return k < size && text[k] != stop;
}

static bool is_table(const char *format)
{
    return strcmp(format, "csv") == 0 || strcmp(format, "tsv") == 0;
}

/* Objects of lines. A heading is the first line or none: in the middle it would have no
 * answer. What begins like a number is none: it would be a row that is lost. */
static okra_status read_lines(const cli_run *run, const texts *t, const char *text,
                              size_t size, okra_data **x, bool *heading)
{
    okra_status st = okra_data_parse(run->context, t->format, text, size, x);
    *heading = st == OKRA_OK && is_table(t->format) && okra_data_count(*x) == 0;
    bool numeric = memchr("+-.0123456789", text[strspn(text, " \t\"")], 13) != NULL;
    return *heading && (t->heading || t->rows || numeric)
               ? okra_fail(OKRA_EFORMAT, "'%.*s' is no row of numbers",
                           (int)strcspn(text, "\r\n"), text)
               : st;
}

/* The names that a heading told. */
static okra_status keep_names(texts *t, const okra_data *x)
{
    okra_int d = okra_data_column(x, 0) ? okra_data_width(x) : 0;
    if (d == 0 || t->names) {
        return OKRA_OK;
    }
    t->names = cli_alloc((size_t)d, sizeof *t->names);
    for (; t->names && t->width < d; t->width++) {
        t->names[t->width] = strdup(okra_data_column(x, t->width));
        if (!t->names[t->width]) {
            break;
        }
    }
    return t->width < d ? okra_fail(OKRA_EMEM, "out of memory") : OKRA_OK;
}

/* Columns by these names, in all lines; a heading with others is wrong for all. */
static okra_status by_name(const cli_run *run, texts *t, bool heading, okra_data **x)
{
    OWNED_DATA *before = NULL;
    CHK(heading ? keep_names(t, *x) : OKRA_OK);
    bool unclear = heading && !t->names; /* it tells no columns apart */
    if (!unclear && (!t->names || okra_data_width(*x) != t->width)) {
        return OKRA_OK;
    }
    t->refused = true;
    CHK(okra_data_name(*x, "standard input"));
    CHK(t->names ? okra_data_set_columns(*x, (const char *const *)t->names) : OKRA_OK);
    before = TAKE(*x);
    CHK(okra_data_align(heading ? run->context : NULL, before,
                        okra_model_inputs(t->s->model), x));
    t->refused = false;
    return OKRA_OK;
}

static okra_status predict_lines(cli_run *run, texts *t, const char *text, size_t size,
                                 okra_prediction **p)
{
    OWNED_DATA *x = NULL;
    okra_predict_request request = {OKRA_SIZED(okra_predict_request),
                                    .candidates = t->s->candidates};
    bool heading = false;
    CHK(read_lines(run, t, text, size, &x, &heading));
    bool rows = okra_data_count(x) > 0;
    CHK(by_name(run, t, heading, &x));
    if (rows) {
        CHK(okra_predict(run->context, t->s->model, x, run->library, &request, p));
    }
    t->heading = t->heading || heading;
    t->rows = t->rows || rows;
    return OKRA_OK;
}

/* A line that cannot be answered is reported; its answer is an empty line. */
static int pass_over(const cli_run *run, texts *t, long long line)
{
    const char *message = okra_message();
    bool counts = strncmp(message, "line 1", 6) == 0; /* it was read alone */
    message += counts ? 6 : 0;
    t->failed++;
    cli_failure(run, "standard input, line %lld%s%.*s", line, counts ? "" : ": ",
                cli_without_hints(message), message);
    return putchar('\n') == EOF || fflush(stdout) == EOF
               ? cli_failure(run, "standard output cannot be written")
               : CLI_DONE;
}

/* A line that holds nothing has an empty line for an answer, so that who counts lines
 * keeps step. */
static int answer_line(cli_run *run, void *user, const char *text, size_t size,
                       long long line)
{
    texts *t = user;
    FREED_BY(okra_prediction_free_at) okra_prediction *p = NULL;
    bool svm = strcmp(t->format, "svm") == 0, open = svm || is_table(t->format);
    if (open && !is_filled(text, size, svm ? '#' : '\n')) {
        return putchar('\n') == EOF || fflush(stdout) == EOF
                   ? cli_failure(run, "standard output cannot be written")
                   : CLI_DONE;
    }
    okra_status st = predict_lines(run, t, text, size, &p);
    if (st != OKRA_OK && st != OKRA_ECANCELLED && st != OKRA_EMEM && !t->refused) {
        return pass_over(run, t, line);
    }
    if (st == OKRA_OK && p) {
        st = okra_data_write(run->context, okra_prediction_objects(p), t->output);
    }
    return cli_status(run, st);
}

/* ---- lines of standard input, as they come ---- */

enum { PIECE = 1 << 18, LINE_MOST = 64 << 20 };

typedef struct lines {
    char *p;
    size_t begin, used, room;
    bool end;
    long long line; /* of what is at `begin`, counted from 1 */
} lines;

/* Waits for more; at the end `end` is set. */
static int read_more(cli_run *run, lines *in)
{
    if (in->begin > 0) {
        memmove(in->p, in->p + in->begin, in->used - in->begin);
        in->used -= in->begin;
        in->begin = 0;
    }
    if (in->room - in->used < PIECE) {
        size_t room = 2 * in->room + 2 * PIECE;
        char *grown = room > LINE_MOST ? NULL : realloc(in->p, room + 1);
        if (!grown) {
            return cli_failure(run, "standard input: line %lld is too long", in->line);
        }
        in->p = grown;
        in->room = room;
    }
    ssize_t got = read(STDIN_FILENO, in->p + in->used, PIECE);
    if (got < 0 && errno != EINTR) {
        return cli_failure(run, "standard input: cannot be read: %s", strerror(errno));
    }
    in->end = got == 0;
    in->used += got > 0 ? (size_t)got : 0;
    in->p[in->used] = '\0'; /* the last line may have no end */
    return cli_signal_caught() ? CLI_FAILED : CLI_DONE;
}

/* Bytes of the next line, 0: it is not complete; at the end the last one may have no end.
 */
static size_t take(const lines *in)
{
    const char *begin = in->p + in->begin;
    size_t size = in->used - in->begin;
    const char *end = size > 0 ? memchr(begin, '\n', size) : NULL;
    return end ? (size_t)(end - begin) + 1 : in->end ? size : 0;
}

/* Calls `each` with every line. */
static int each_line(cli_run *run, lines *in, void *user,
                     int (*each)(cli_run *run, void *user, const char *text, size_t size,
                                 long long line))
{
    int status = CLI_DONE;
    while (status == CLI_DONE) {
        size_t size = take(in);
        if (size > 0) {
            status = each(run, user, in->p + in->begin, size, in->line++);
            in->begin += size;
        } else if (in->end) {
            break;
        } else {
            status = read_more(run, in);
        }
    }
    return status;
}

/* All bytes into an unnamed file: a format that is no lines of text. */
static int spool(cli_run *run, lines *in, const char *format, char *spec, size_t size)
{
    FILE *file = tmpfile();
    int status = file ? CLI_DONE : cli_failure(run, "no file can be made in TMPDIR");
    while (status == CLI_DONE) {
        if (in->used > 0 && fwrite(in->p, 1, in->used, file) != in->used) {
            status = cli_failure(run, "a file in TMPDIR cannot be written");
        }
        in->begin = in->used = 0;
        if (in->end) {
            break;
        }
        status = status ? status : read_more(run, in);
    }
    if (status == CLI_DONE && fflush(file) == 0) {
        rewind(file);
        snprintf(spec, size, "%s:/dev/fd/%d", format, fileno(file));
    } /* it stays open until the program ends */
    return status;
}

static const char *const magic[][2] = {
    {"\x93NUMPY", "npy"}, {"PK\x03\x04", "npz"}, {"%%MatrixMarket", "mtx"}};
enum { MAGIC = sizeof magic / sizeof *magic };

/* What begins like another format; *open: more bytes may tell. */
static const char *other_format(const lines *in, bool *open)
{
    *open = false;
    for (size_t k = 0; k < MAGIC; k++) {
        size_t length = strlen(magic[k][0]);
        bool agrees = in->used == 0 || memcmp(in->p, magic[k][0],
                                              in->used < length ? in->used : length) == 0;
        if (agrees && in->used >= length) {
            return magic[k][1];
        }
        *open = *open || (agrees && !in->end);
    }
    return NULL;
}

/* While lines go out, standard output is the file -o. */
static int with_output(cli_run *run, lines *in, texts *t)
{
    const char *output = t->s->output, *format;
    if (standard(output, &format)) {
        int status = each_line(run, in, t, answer_line);
        return status == CLI_DONE && t->failed > 0 ? CLI_FAILED : status;
    }
    cli_file *file = cli_file_open(run, output);
    if (!file) {
        return CLI_FAILED;
    }
    fflush(stdout);
    int kept = dup(STDOUT_FILENO), status = CLI_DONE;
    if (kept < 0 || dup2(fileno(cli_file_stream(file)), STDOUT_FILENO) < 0) {
        status = cli_failure(run, "%s: cannot be written", output);
    }
    status = status ? status : each_line(run, in, t, answer_line);
    if (status == CLI_DONE && t->failed > 0) {
        status = cli_failure(run, "%s is not written: lines without an answer: %lld",
                             output, t->failed);
    }
    if (kept >= 0) {
        dup2(kept, STDOUT_FILENO);
        close(kept);
    }
    return cli_file_close(run, file, status);
}

int cli_stream_text(cli_run *run, const cli_stream *s, bool *whole, char *spec,
                    size_t size)
{
    lines in = {.line = 1};
    texts t = {.s = s, .output = text_output(s->output)};
    int status = CLI_DONE;
    standard(s->x, &t.format);
    bool told = t.format != NULL;
    t.format = told ? t.format : line_format(s->model);
    *whole = !t.format;
    if (*whole) { /* okra_data_read finds out */
        snprintf(spec, size, "-");
        return CLI_DONE;
    }
    bool open = !told;
    const char *other = NULL;
    while (open && status == CLI_DONE) {
        other = other_format(&in, &open);
        status = open && !other ? read_more(run, &in) : CLI_DONE;
        open = open && !other;
    }
    if (other) {
        *whole = true;
        status = spool(run, &in, other, spec, size);
    } else
        status = status ? status : with_output(run, &in, &t);
    if (status == CLI_DONE && !*whole && t.heading && !t.rows) {
        status = cli_failure(run, "standard input: line 1 is a heading, and no row of "
                                  "numbers comes after it");
    }
    free(in.p);
    while (t.width > 0) {
        free(t.names[--t.width]);
    }
    free(t.names);
    return status;
}

/* ---- JSON lines ---- */

static int answer_json(cli_run *run, void *user, const char *text, size_t size,
                       long long line)
{
    (void)line;
    char *copy = strndup(text, size - (text[size - 1] == '\n'));
    int status =
        copy ? cli_stream_answer(run, user, copy) : cli_failure(run, "out of memory");
    free(copy);
    return status;
}

int cli_stream_json(cli_run *run, const cli_stream *s)
{
    lines in = {.line = 1};
    cli_stream copy = *s;
    int status = each_line(run, &in, &copy, answer_json);
    if (status == CLI_DONE && copy.failed > 0) {
        status =
            cli_failure(run, "lines that were answered with an error: %lld", copy.failed);
    }
    free(in.p);
    return status;
}
