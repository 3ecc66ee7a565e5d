/*
 * sequences_read.c: sequences of vectors with labels from files.
 *
 * - sequences:vectors.npy:positions.tsv: row i of the table tells about vector i; the
 *   table lies beside the file of vectors, unless its path begins with a slash.
 * - sequences:positions.tsv: labels alone.
 * - letter.data: both in one: id, letter, next_id, word_id, position, fold, then the
 *   pixels (Taskar et al.).
 *
 * The table has a header. Its column word_id (or sequence) says which sequence a row
 * belongs to, rows of one sequence being neighbours; position (if there) must count up by
 * one; letter (or label) is one character.
 */
#include "data/files/formats.h"
#include "data/strings.h"

enum { SEQUENCE, POSITION, LABEL, COLUMNS };
static const char *const headers[COLUMNS] = {"word_id|sequence", "position",
                                             "letter|label"};

/* The one character of a text. */
static okra_status one_character(const char *text, okra_int row, int32_t *label)
{
    okra_utf8_ utf8 = {0};
    int32_t code = OKRA_UTF8_BAD_;
    const char *p = text;
    do {
        code = *p ? okra_utf8_take_(&utf8, (unsigned char)*p++) : OKRA_UTF8_BAD_;
    } while (code == OKRA_UTF8_MORE_);
    REFUSE_IF(code < 0 || *p, OKRA_EFORMAT,
              "row %" PRId64
              " (after the header, from 1): the label is '%.40s', expected one character",
              row + 1, text);
    *label = code;
    return OKRA_OK;
}

static okra_status check_position(const char *text, bool first, okra_int *last,
                                  okra_int row)
{
    okra_int position = 0;
    const char *p = text, *end = text + strlen(text);
    REFUSE_IF(!okra_whole_(&p, end, &position) || p != end ||
                  (!first && position != *last + 1),
              OKRA_EFORMAT,
              "row %" PRId64
              " (after the header, from 1): position '%.40s', expected %s%" PRId64,
              row + 1, text, first ? "a whole number of at least " : "",
              first ? (okra_int)0 : *last + 1);
    *last = position;
    return OKRA_OK;
}

/* offsets (room for rows + 1) and labels from the texts; *n sequences. */
static okra_status walk(okra_texts_ *texts, okra_int rows, okra_int *offsets,
                        int32_t *labels, okra_int *n)
{
    okra_int last = 0;
    *n = 0;
    offsets[0] = 0;
    for (okra_int i = 0; i < rows; i++) {
        char *const *ids = texts[SEQUENCE].pointers;
        bool first = i == 0 || strcmp(ids[i], ids[i - 1]) != 0;
        *n += first;
        if (texts[POSITION].count) {
            CHK(check_position(texts[POSITION].pointers[i], first, &last, i));
        }
        labels[i] = OKRA_NO_LABEL_;
        if (texts[LABEL].count) {
            CHK(one_character(texts[LABEL].pointers[i], i, &labels[i]));
        }
        offsets[*n] = i + 1;
    }
    return OKRA_OK;
}

static void free_columns(okra_texts_ (*texts)[COLUMNS])
{
    for (int k = 0; k < COLUMNS; k++) {
        okra_texts_free_(&(*texts)[k]);
    }
}

/* From a table of positions and the vectors (NULL: none). */
static okra_status combine(const okra_bytes_ *table, char separator,
                           const okra_data *vectors, const char *name, okra_data **out)
{
    FREED_BY(free_columns) okra_texts_ texts[COLUMNS] = {{0}};
    OWNED okra_int *offsets = NULL;
    OWNED int32_t *labels = NULL;
    okra_int n = 0;
    CHK(okra_table_columns_(table, separator, COLUMNS, headers, texts));
    okra_int rows = OKRA_MAX_(texts[SEQUENCE].count, texts[LABEL].count);
    REFUSE_IF(rows > 0 && texts[SEQUENCE].count == 0, OKRA_EFORMAT,
              "the table has no column word_id or sequence");
    REFUSE_IF(vectors && vectors->n != rows, OKRA_ESHAPE,
              "the table has %" PRId64 " rows and there are %" PRId64
              " vectors: expected as many",
              rows, vectors->n);
    MAKE(offsets, rows + 1);
    MAKE(labels, rows);
    CHK(walk(texts, rows, offsets, labels, &n));
    CHK(okra_data_sequences(offsets, vectors ? vectors->values : NULL, labels, n,
                            vectors ? vectors->d : 0, out));
    return okra_data_rename_(out, name);
}

static char separator_of(const char *path)
{
    size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".csv") == 0 ? ',' : '\t';
}

okra_status okra_read_sequences_(const okra_file_format_ *format, okra_source_ *source,
                                 okra_data **out)
{
    FREED_BY(okra_data_drop_) okra_data *vectors = NULL;
    FREED_BY(okra_bytes_close_) okra_bytes_ table = {0};
    OWNED char *path = NULL;
    if (format->read == okra_read_letters_) {
        return okra_read_letters_(source, out);
    }
    if (!source->part) {
        REFUSE_IF(format->read != okra_read_tsv_ && format->read != okra_read_csv_,
                  OKRA_EARG,
                  "vectors need a table of positions: sequences:FILE:TABLE.tsv");
        return combine(&source->bytes, format->read == okra_read_csv_ ? ',' : '\t', NULL,
                       source->name, out);
    }
    const char *slash = source->part[0] == '/' ? NULL : strrchr(source->path, '/');
    GOT(path = okra_format_("%.*s%s", slash ? (int)(slash - source->path + 1) : 0,
                            source->path, source->part));
    okra_source_ values = *source;
    values.part = NULL;
    values.how = OKRA_HOW_DENSE_;
    okra_status st = okra_format_read_(format, &values, &vectors);
    source->bytes = values.bytes; /* a reader may have taken them over */
    CHK(st);
    CHK(okra_bytes_open_(source->ctx, path, &table));
    return okra_at_(combine(&table, separator_of(path), vectors, source->name, out), "%s",
                    path);
}

/* ---- letter.data ---- */

enum {
    LEADING = 6,
    WORD_ID = 3
}; /* fields before the pixels; which is the word's number */

typedef struct letters {
    double *pixels;
    int32_t *labels;
    okra_int *offsets, rows, n, d;
    double word; /* the number of the word at hand */
} letters;

static okra_status bad_line(const okra_lines_ *lines, const char *what)
{
    return okra_fail_(OKRA_EFORMAT, "line %" PRId64 ": %s", lines->number, what);
}

/* One letter: id, letter, next_id, word_id, position, fold, pixels. */
static okra_status one_letter(const okra_lines_ *lines, letters *to)
{
    const char *p = lines->begin, *word, *close;
    okra_int field = 0;
    double id = 0;
    for (; okra_word_(&p, lines->close, &word, &close); field++) {
        double value = 0;
        if (field == 1) {
            to->labels[to->rows] = (unsigned char)*word;
            if (close - word != 1 || (unsigned char)*word >= 0x80) {
                return bad_line(lines, "the second field must be one letter");
            }
            continue;
        }
        if (okra_number_(word, close, &value) != OKRA_TOKEN_NUMBER_) {
            return okra_bad_field_(OKRA_TOKEN_TEXT_, lines->number, field + 1, word,
                                   close);
        }
        if (field >= LEADING && field < LEADING + to->d) {
            to->pixels[to->rows * to->d + field - LEADING] = value;
        }
        id = field == WORD_ID ? value : id;
    }
    REFUSE_IF(field != LEADING + to->d, OKRA_EFORMAT,
              "line %" PRId64 " has %" PRId64 " fields; expected %" PRId64
              " as in the first line",
              lines->number, field, LEADING + to->d);
    to->n += to->rows == 0 || id != to->word;
    to->word = id;
    to->offsets[to->n] = ++to->rows;
    return OKRA_OK;
}

okra_status okra_read_letters_(okra_source_ *source, okra_data **out)
{
    letters to = {0};
    OWNS(&to.pixels, &to.labels, &to.offsets);
    okra_int rows = 0, fields = 0;
    for (okra_lines_ lines = okra_lines_begin_(&source->bytes);
         okra_lines_next_(&lines);) {
        const char *p = lines.begin, *word, *close;
        while (rows == 0 && okra_word_(&p, lines.close, &word, &close)) {
            fields++;
        }
        rows++;
    }
    REFUSE_IF(fields < LEADING, OKRA_EFORMAT,
              "line 1 has %" PRId64 " fields; expected id, letter, next_id, "
              "word_id, position, fold and pixels",
              fields);
    to.d = fields - LEADING;
    CHK(okra_doubles_(source->ctx, rows, to.d, "images of letters", &to.pixels));
    MAKE(to.labels, rows);
    MAKE(to.offsets, rows + 1);
    to.offsets[0] = 0;
    for (okra_lines_ lines = okra_lines_begin_(&source->bytes);
         okra_lines_next_(&lines);) {
        CHK(one_letter(&lines, &to));
    }
    CHK(okra_data_sequences(to.offsets, to.pixels, to.labels, to.n, to.d, out));
    return okra_data_rename_(out, source->name);
}
