/*
 * original.c: data sets as their makers publish them, turned into the files of entries.
 *
 *   zip.train, zip.test      text: digit and 256 grey levels in [-1, 1], row by row
 *   usps_all.mat             data: 256 x 1100 x 10 bytes, images by columns, 1, ..., 9, 0
 *   letter.data              text: id, letter, next id, word, position, fold, 128 bits
 *   ankurDataPoseSilhouette.mat   Y, Z, Y_test, Z_test: silhouettes and poses
 *
 * Texts may be packed by gzip.
 */
#include "original.h"

#include "run.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* One conversion: where from, where to. */
typedef struct job {
    okra_context *context;
    const char *from;   /* the original                  */
    const char *folder; /* of the files that are made    */
    const char *part;   /* "train" of zip.train, or NULL */
} job;

static okra_status no_memory(const job *j)
{
    return okra_fail(OKRA_EMEM, "%s: no memory to convert it", j->from);
}

/* values, n x d, as FOLDER/name; they are given away. */
static okra_status save(const job *j, const char *name, double *values, okra_int n,
                        okra_int d)
{
    char path[PAPER_PATH];
    okra_data *data = NULL;
    snprintf(path, sizeof path, "%s/%s", j->folder, name);
    okra_status st = okra_data_dense(values, n, d, d, &data);
    if (st == OKRA_OK) {
        st = okra_data_write(j->context, data, path);
    }
    okra_data_free(data);
    free(values);
    return st;
}

static FILE *create(const job *j, const char *name)
{
    char path[PAPER_PATH];
    snprintf(path, sizeof path, "%s/%s", j->folder, name);
    return fopen(path, "w");
}

/* ---- texts: lines of fields ----------------------------------------------------------
 */

enum { LINE_MOST = 1 << 16 };

typedef struct lines {
    gzFile file;
    char *text;
    long number;
} lines;

static okra_status lines_open(const job *j, lines *l)
{
    *l = (lines){.file = gzopen(j->from, "rb"), .text = malloc(LINE_MOST)};
    return l->file && l->text ? OKRA_OK
                              : okra_fail(OKRA_EIO, "%s: %s", j->from, strerror(errno));
}

static void lines_close(lines *l)
{
    if (l->file) {
        gzclose(l->file);
    }
    free(l->text);
}

/* The next line that is not blank; false at the end. */
static bool lines_next(lines *l)
{
    while (gzgets(l->file, l->text, LINE_MOST)) {
        l->number++;
        if (l->text[strspn(l->text, " \t\r\n")]) {
            return true;
        }
    }
    return false;
}

/* `count` numbers at *p, which moves behind them. */
static bool numbers(char **p, double *values, okra_int count)
{
    for (okra_int k = 0; k < count; k++) {
        char *end;
        values[k] = strtod(*p, &end);
        if (end == *p) {
            return false;
        }
        *p = end;
    }
    return true;
}

static bool at_end(const char *p)
{
    return p[strspn(p, " \t\r\n")] == '\0';
}

/* Room for row n of width d in values that grow by doubling. */
static bool grow(double **values, okra_int n, okra_int d, okra_int *room)
{
    if (n < *room) {
        return true;
    }
    okra_int more = *room ? 2 * *room : 1024;
    double *wider = realloc(*values, (size_t)(more * d) * sizeof **values);
    if (!wider) {
        return false;
    }
    *values = wider;
    *room = more;
    return true;
}

/* ---- zip.train -----------------------------------------------------------------------
 */

enum { PIXELS = 256 };

static okra_status zip_digits(const job *j)
{
    lines l;
    double *rows = NULL, *x = NULL, *y = NULL;
    okra_int n = 0, room = 0, d = PIXELS + 1;
    okra_status st = lines_open(j, &l);
    while (st == OKRA_OK && lines_next(&l)) {
        char *p = l.text;
        if (!grow(&rows, n, d, &room)) {
            st = no_memory(j);
        } else if (!numbers(&p, rows + n * d, d) || !at_end(p)) {
            st = okra_fail(OKRA_EFORMAT,
                           "%s: line %ld: expected a digit and 256 grey levels", j->from,
                           l.number);
        }
        n++;
    }
    lines_close(&l);
    if (st == OKRA_OK) {
        x = malloc((size_t)(n * PIXELS + 1) * sizeof *x);
        y = malloc((size_t)(n + 1) * sizeof *y);
        st = x && y ? OKRA_OK : no_memory(j);
    }
    for (okra_int i = 0; st == OKRA_OK && i < n; i++) {
        y[i] = rows[i * d];
        for (okra_int k = 0; k < PIXELS; k++) { /* three decimals are given */
            x[i * PIXELS + k] = round(1000 * rows[i * d + 1 + k]);
        }
    }
    free(rows);
    char name[2][32];
    snprintf(name[0], sizeof name[0], "%s_x.npy", j->part);
    snprintf(name[1], sizeof name[1], "%s_y.npy", j->part);
    if (st != OKRA_OK) {
        free(x);
        free(y);
        return st;
    }
    st = save(j, name[0], x, n, PIXELS);
    okra_status other = save(j, name[1], y, n, 1);
    return st == OKRA_OK ? other : st;
}

/* ---- letter.data ---------------------------------------------------------------------
 */

enum { LETTER_PIXELS = 128 };

/* One line of the file. */
typedef struct letter {
    char letter;
    long word, position, fold;
} letter;

static bool letter_read(char *p, letter *a, double *pixels)
{
    int used = 0;
    return sscanf(p, "%*d %c %*d %ld %ld %ld %n", &a->letter, &a->word, &a->position,
                  &a->fold, &used) == 4 &&
           used > 0 && (p += used, numbers(&p, pixels, LETTER_PIXELS)) && at_end(p);
}

/* A word is over: its line of words.tsv. */
static void word_done(FILE *words, okra_int id, okra_int fold, okra_int next,
                      const char *word, int length)
{
    fprintf(words, "%lld\t%lld\t%lld\t%d\t%.*s\n", (long long)id, (long long)fold,
            (long long)(next - length), length, length, word);
}

/* Reads the letters, writes their tables on the way. Words keep their order and are
 * numbered from 0. */
static okra_status letter_lines(const job *j, lines *l, FILE *letters, FILE *words,
                                double **pixels, okra_int *count)
{
    okra_int n = 0, room = 0, word = -1;
    letter a = {0}, last = {0};
    char text[256];
    int length = 0;
    fprintf(letters, "row\tletter\tword_id\tposition\tfold\n");
    fprintf(words, "word_id\tfold\tfirst_row\tlength\tword\n");
    while (lines_next(l)) {
        if (!grow(pixels, n, LETTER_PIXELS, &room)) {
            return no_memory(j);
        }
        if (!letter_read(l->text, &a, *pixels + n * LETTER_PIXELS)) {
            return okra_fail(OKRA_EFORMAT,
                             "%s: line %ld: expected id, letter, next id, word, "
                             "position, fold and 128 pixels",
                             j->from, l->number);
        }
        if (n == 0 || a.word != last.word) {
            if (n > 0) {
                word_done(words, word, last.fold, n, text, length);
            }
            word++;
            length = 0;
        }
        if (length == (int)sizeof text) {
            return okra_fail(OKRA_EFORMAT,
                             "%s: line %ld: a word of more than 256 letters", j->from,
                             l->number);
        }
        fprintf(letters, "%lld\t%c\t%lld\t%d\t%ld\n", (long long)n, a.letter,
                (long long)word, length, a.fold);
        text[length++] = a.letter;
        last = a;
        n++;
    }
    if (n > 0) {
        word_done(words, word, last.fold, n, text, length);
    }
    *count = n;
    return OKRA_OK;
}

static okra_status letter_data(const job *j)
{
    lines l;
    double *pixels = NULL;
    okra_int n = 0;
    okra_status st = lines_open(j, &l);
    FILE *letters = create(j, "letters.tsv"), *words = create(j, "words.tsv");
    if (st == OKRA_OK && (!letters || !words)) {
        st = okra_fail(OKRA_EIO, "%s: %s", j->folder, strerror(errno));
    }
    if (st == OKRA_OK) {
        st = letter_lines(j, &l, letters, words, &pixels, &n);
    }
    lines_close(&l);
    FILE *files[] = {letters, words};
    for (int i = 0; i < 2; i++) {
        if (files[i] && fclose(files[i]) != 0 && st == OKRA_OK) {
            st = okra_fail(OKRA_EIO, "%s: %s", j->folder, strerror(errno));
        }
    }
    if (st != OKRA_OK) {
        free(pixels);
        return st;
    }
    return save(j, "pixels.npy", pixels, n, LETTER_PIXELS);
}

/* ---- MATLAB files --------------------------------------------------------------------
 */

static okra_status variable(const job *j, const char *name, okra_data **out)
{
    char spec[PAPER_PATH + 64];
    snprintf(spec, sizeof spec, "%s:%s", j->from, name);
    return okra_data_read(j->context, spec, out);
}

static okra_status usps_all(const job *j)
{
    enum { CLASSES = 10, SIDE = 16 };
    okra_data *data = NULL;
    okra_int ld = 0;
    double *x = NULL, *y = NULL;
    okra_status st = variable(j, "data", &data);
    if (st == OKRA_OK &&
        (okra_data_count(data) != PIXELS || okra_data_width(data) % CLASSES != 0)) {
        st = okra_fail(
            OKRA_EFORMAT, "%s: data is %lld x %lld, expected 256 x images x 10 classes",
            j->from, (long long)okra_data_count(data), (long long)okra_data_width(data));
    }
    const double *values = st == OKRA_OK ? okra_data_values(data, &ld) : NULL;
    okra_int n = values ? okra_data_width(data) : 0, each = n / CLASSES;
    if (st == OKRA_OK) {
        x = malloc((size_t)(n * PIXELS + 1) * sizeof *x);
        y = malloc((size_t)(n + 1) * sizeof *y);
        st = x && y ? OKRA_OK : no_memory(j);
    }
    for (okra_int i = 0; st == OKRA_OK && i < n; i++) {
        y[i] = (double)((i / each + 1) % CLASSES);
        for (okra_int r = 0; r < SIDE; r++) {
            for (okra_int c = 0; c < SIDE; c++) {
                x[i * PIXELS + r * SIDE + c] = values[(c * SIDE + r) * ld + i];
            }
        }
    }
    okra_data_free(data);
    if (st != OKRA_OK) {
        free(x);
        free(y);
        return st;
    }
    st = save(j, "x.npy", x, n, PIXELS);
    okra_status other = save(j, "y.npy", y, n, 1);
    return st == OKRA_OK ? other : st;
}

static okra_status poser(const job *j)
{
    static const char *const names[][2] = {{"Y", "train_x.npy"},
                                           {"Z", "train_y.npy"},
                                           {"Y_test", "test_x.npy"},
                                           {"Z_test", "test_y.npy"}};
    okra_status st = OKRA_OK;
    for (size_t k = 0; k < sizeof names / sizeof *names && st == OKRA_OK; k++) {
        char path[PAPER_PATH];
        okra_data *data = NULL;
        snprintf(path, sizeof path, "%s/%s", j->folder, names[k][1]);
        st = variable(j, names[k][0], &data);
        if (st == OKRA_OK) {
            st = okra_data_write(j->context, data, path);
        }
        okra_data_free(data);
    }
    return st;
}

/* ---- which is which ------------------------------------------------------------------
 */

static const struct original {
    const char *name, *folder, *files, *part;
    okra_status (*make)(const job *j);
} originals[] = {
    {"zip.train", "usps", "train_x.npy train_y.npy", "train", zip_digits},
    {"zip.test", "usps", "test_x.npy test_y.npy", "test", zip_digits},
    {"usps_all.mat", "usps11000", "x.npy y.npy", NULL, usps_all},
    {"letter.data", "ocr_letters", "pixels.npy letters.tsv words.tsv", NULL, letter_data},
    {"ankurDataPoseSilhouette.mat", "poser",
     "train_x.npy train_y.npy test_x.npy test_y.npy", NULL, poser},
};
enum { ORIGINALS = sizeof originals / sizeof *originals };

/* The next name of a list separated by spaces, with the folder before it; false at the
 * end. */
static bool next_file(const struct original *o, const char **p, char *file, size_t size)
{
    size_t width = strcspn(*p, " ");
    snprintf(file, size, "%s/%.*s", o->folder, (int)width, *p);
    *p += width + ((*p)[width] == ' ');
    return width > 0;
}

static const struct original *find(const char *file)
{
    for (size_t k = 0; k < ORIGINALS; k++) {
        const char *p = originals[k].files;
        char one[128];
        while (next_file(&originals[k], &p, one, sizeof one)) {
            if (strcmp(one, file) == 0) {
                return &originals[k];
            }
        }
    }
    return NULL;
}

const char *paper_original_name(const char *file)
{
    const struct original *o = find(file);
    return o ? o->name : NULL;
}

bool paper_original(const char *data, const char *file, char *path, size_t size)
{
    const struct original *o = find(file);
    for (int k = 0; o && k < 4; k++) {
        snprintf(path, size, "%s/%s%s%s%s", data, k & 2 ? o->folder : "",
                 k & 2 ? "/" : "", o->name, k & 1 ? ".gz" : "");
        if (access(path, R_OK) == 0) {
            return true;
        }
    }
    return false;
}

okra_status paper_convert(okra_context *context, const char *data, const char *file,
                          const char *scratch)
{
    char from[PAPER_PATH], folder[PAPER_PATH];
    const struct original *o = find(file);
    if (!o || !paper_original(data, file, from, sizeof from)) {
        return okra_fail(OKRA_EINTERNAL, "%s is made from no other file", file);
    }
    snprintf(folder, sizeof folder, "%s/%s", scratch, o->folder);
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        return okra_fail(OKRA_EIO, "%s: %s", folder, strerror(errno));
    }
    return o->make(&(job){context, from, folder, o->part});
}

void paper_convert_clean(const char *scratch)
{
    for (size_t k = 0; k < ORIGINALS; k++) {
        const char *p = originals[k].files;
        char file[128], path[PAPER_PATH];
        while (next_file(&originals[k], &p, file, sizeof file)) {
            snprintf(path, sizeof path, "%s/%s", scratch, file);
            unlink(path);
        }
        snprintf(path, sizeof path, "%s/%s", scratch, originals[k].folder);
        rmdir(path);
    }
    rmdir(scratch);
}
