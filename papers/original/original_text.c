/*
 * original_text.c: zip.train and letter.data, plain or packed by gzip.
 */
#include "original_job.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* ---- texts: lines of fields ---- */

enum { LINE_MOST = 1 << 16 };

typedef struct lines {
    gzFile file;
    char *text;
    long number;
} lines;

static okra_status lines_open(const original_job *j, lines *l)
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

/* ---- zip.train ---- */

enum { PIXELS = 256 };

okra_status original_zip_digits(const original_job *j)
{
    lines l;
    double *rows = NULL, *x = NULL, *y = NULL;
    okra_int n = 0, room = 0, d = PIXELS + 1;
    okra_status st = lines_open(j, &l);
    while (st == OKRA_OK && lines_next(&l)) {
        char *p = l.text;
        if (!grow(&rows, n, d, &room)) {
            st = original_no_memory(j);
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
        st = x && y ? OKRA_OK : original_no_memory(j);
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
    st = original_save(j, name[0], x, n, PIXELS);
    okra_status other = original_save(j, name[1], y, n, 1);
    return st == OKRA_OK ? other : st;
}

/* ---- letter.data ---- */

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
static okra_status letter_lines(const original_job *j, lines *l, FILE *letters,
                                FILE *words, double **pixels, okra_int *count)
{
    okra_int n = 0, room = 0, word = -1;
    letter a = {0}, last = {0};
    char text[256];
    int length = 0;
    fprintf(letters, "row\tletter\tword_id\tposition\tfold\n");
    fprintf(words, "word_id\tfold\tfirst_row\tlength\tword\n");
    while (lines_next(l)) {
        if (!grow(pixels, n, LETTER_PIXELS, &room)) {
            return original_no_memory(j);
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

okra_status original_letter_data(const original_job *j)
{
    lines l;
    double *pixels = NULL;
    okra_int n = 0;
    okra_status st = lines_open(j, &l);
    FILE *letters = original_create(j, "letters.tsv"),
         *words = original_create(j, "words.tsv");
    if (st == OKRA_OK && letters && words) {
        st = letter_lines(j, &l, letters, words, &pixels, &n);
    }
    lines_close(&l);
    FILE *files[] = {letters, words};
    for (int i = 0; i < 2; i++) {
        okra_status closed = original_close(j, files[i]);
        st = st == OKRA_OK ? closed : st;
    }
    if (st != OKRA_OK) {
        free(pixels);
        return st;
    }
    return original_save(j, "pixels.npy", pixels, n, LETTER_PIXELS);
}
