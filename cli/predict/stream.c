/*
 * stream.c: okra predict --x -: rows of standard input are predicted as they come.
 *
 * What has arrived is answered at once, at most so many rows together that a batch takes
 * little memory; nothing else is kept. So a pipe of any length needs as much memory as a
 * batch, and who writes a line and waits for its answer gets it.
 */
#include "predict/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 1024, PIECE = 1 << 18, LINE_MOST = 64 << 20 };

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

/* ---- lines of standard input ---- */

typedef struct input {
    char *p;
    size_t begin, used, room;
    bool end;
    long long line; /* of what is at `begin`, counted from 1 */
} input;

/* Waits for more; at the end `end` is set. */
static int more(cli_run *run, input *in)
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

/* Bytes and number of the complete lines at hand, ROWS of them at most; at the end the
 * last one may have no end. */
static size_t take(const input *in, int *lines)
{
    size_t at = in->begin;
    *lines = 0;
    while (*lines < ROWS) {
        const char *end = at < in->used ? memchr(in->p + at, '\n', in->used - at) : NULL;
        if (!end && !(in->end && at < in->used)) {
            break;
        }
        at = end ? (size_t)(end - in->p) + 1 : in->used;
        ++*lines;
    }
    return at - in->begin;
}

/* Calls `each` with complete lines until there are no more. */
static int each_piece(cli_run *run, input *in, void *user,
                      int (*each)(cli_run *run, void *user, const char *text, size_t size,
                                  int lines, long long line))
{
    int status = CLI_DONE, lines = 0;
    while (status == CLI_DONE) {
        size_t size = take(in, &lines);
        if (lines > 0) {
            status = each(run, user, in->p + in->begin, size, lines, in->line);
            in->begin += size;
            in->line += lines;
        } else if (in->end) {
            break;
        } else {
            status = more(run, in);
        }
    }
    return status;
}

/* ---- text ---- */

typedef struct texts {
    const cli_stream *s;
    const char *format, *output;
    bool heading, rows; /* what has come so far */
    long long failed;   /* lines without an answer */
} texts;

/* Lines that hold something before `stop`, which begins a comment. */
static okra_int filled_lines(const char *text, size_t size, char stop)
{
    okra_int count = 0;
    bool filled = false, stopped = false;
    for (size_t k = 0; k < size; k++) {
        stopped = stopped || text[k] == stop;
        filled = filled || (!stopped && !memchr(" \t\r\n", text[k], 4));
        if (text[k] == '\n' || k + 1 == size) {
            count += filled;
            filled = stopped = false;
        }
    }
    return count;
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
    *heading = st == OKRA_OK && is_table(t->format) &&
               okra_data_count(*x) < filled_lines(text, size, '\n');
    bool numeric = memchr("+-.0123456789", text[strspn(text, " \t\"")], 13) != NULL;
    return *heading && (t->heading || t->rows || numeric)
               ? okra_fail(OKRA_EFORMAT, "'%.*s' is no row of numbers",
                           (int)strcspn(text, "\r\n"), text)
               : st;
}

static okra_status predict_lines(cli_run *run, texts *t, const char *text, size_t size,
                                 okra_prediction **p)
{
    okra_data *x = NULL;
    okra_predict_request request = {OKRA_SIZED(okra_predict_request),
                                    .candidates = t->s->candidates};
    bool heading = false;
    okra_status st = read_lines(run, t, text, size, &x, &heading);
    bool rows = st == OKRA_OK && okra_data_count(x) > 0;
    if (rows) {
        st = okra_predict(run->context, t->s->model, x, run->library, &request, p);
    }
    if (st == OKRA_OK) {
        t->heading = t->heading || heading;
        t->rows = t->rows || rows;
    }
    okra_data_free(x);
    return st;
}

/* What a message says before hints for outputs. */
static int without_hints(const char *message)
{
    const char *classes = strstr(message, "; classes are read as");
    const char *gaps = strstr(message, "; outputs with gaps");
    const char *end = classes ? classes : gaps;
    return (int)(end ? (size_t)(end - message) : strlen(message));
}

/* A line that cannot be answered is told, and its answer is an empty line. */
static int pass_over(const cli_run *run, texts *t, long long line)
{
    const char *message = okra_message();
    bool counts = strncmp(message, "line 1", 6) == 0; /* it was read alone */
    message += counts ? 6 : 0;
    t->failed++;
    cli_failure(run, "standard input, line %lld%s%.*s", line, counts ? "" : ": ",
                without_hints(message), message);
    return putchar('\n') == EOF || fflush(stdout) == EOF
               ? cli_failure(run, "standard output cannot be written")
               : CLI_DONE;
}

/* Lines that are wrong together are tried by halves. */
static int answer_text(cli_run *run, void *user, const char *text, size_t size, int lines,
                       long long line)
{
    texts *t = user;
    okra_prediction *p = NULL;
    bool svm = strcmp(t->format, "svm") == 0;
    if ((svm || is_table(t->format)) && filled_lines(text, size, svm ? '#' : '\n') == 0) {
        return CLI_DONE;
    }
    okra_status st = predict_lines(run, t, text, size, &p);
    if (st != OKRA_OK && st != OKRA_ECANCELLED && st != OKRA_EMEM) {
        size_t half = 0;
        for (int k = 0; k < lines / 2; k++) {
            half += (size_t)((const char *)memchr(text + half, '\n', size - half) -
                             (text + half)) +
                    1;
        }
        int status = lines == 1 ? pass_over(run, t, line)
                                : answer_text(run, t, text, half, lines / 2, line);
        return lines == 1 || status != CLI_DONE
                   ? status
                   : answer_text(run, t, text + half, size - half, lines - lines / 2,
                                 line + lines / 2);
    }
    if (st == OKRA_OK && p) {
        st = okra_data_write(run->context, okra_prediction_objects(p), t->output);
    }
    okra_prediction_free(p);
    return cli_status(run, st);
}

/* All bytes into an unnamed file: a format that is no lines of text. */
static int spool(cli_run *run, input *in, const char *format, char *spec, size_t size)
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
        status = status ? status : more(run, in);
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
static const char *other_format(const input *in, bool *open)
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
static int with_output(cli_run *run, input *in, texts *t)
{
    const char *output = t->s->output, *format;
    if (standard(output, &format)) {
        int status = each_piece(run, in, t, answer_text);
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
    status = status ? status : each_piece(run, in, t, answer_text);
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
    input in = {.line = 1};
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
        status = open && !other ? more(run, &in) : CLI_DONE;
        open = open && !other;
    }
    if (other) {
        *whole = true;
        status = spool(run, &in, other, spec, size);
    } else if (status == CLI_DONE) {
        status = with_output(run, &in, &t);
    }
    if (status == CLI_DONE && !*whole && t.heading && !t.rows) {
        status = cli_failure(run, "standard input: line 1 is a heading, and no row of "
                                  "numbers comes after it");
    }
    free(in.p);
    return status;
}

/* ---- JSON lines ---- */

static int answer_json(cli_run *run, void *user, const char *text, size_t size, int count,
                       long long line)
{
    char *lines[ROWS];
    const char *at = text;
    int status = CLI_DONE, made = 0;
    (void)line;
    for (; made < count; made++) {
        const char *end = memchr(at, '\n', size - (size_t)(at - text));
        size_t length = end ? (size_t)(end - at) : size - (size_t)(at - text);
        lines[made] = strndup(at, length);
        if (!lines[made]) {
            status = cli_failure(run, "out of memory");
            break;
        }
        at += length + 1;
    }
    status = status ? status : cli_stream_answer(run, user, lines, count);
    while (made > 0) {
        free(lines[--made]);
    }
    return status;
}

int cli_stream_json(cli_run *run, const cli_stream *s)
{
    input in = {.line = 1};
    cli_stream copy = *s;
    int status = each_piece(run, &in, &copy, answer_json);
    if (status == CLI_DONE && copy.failed > 0) {
        status =
            cli_failure(run, "lines that were answered with an error: %lld", copy.failed);
    }
    free(in.p);
    return status;
}
