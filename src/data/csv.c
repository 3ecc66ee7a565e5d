/*
 * csv.c: tables of text, separated by commas (.csv, RFC 4180) or tabs (.tsv).
 *
 * A first line in which no field is a number is a header. Every other field must be a
 * number, but for the one column read as labels.
 */
#include "data/formats.h"
#include "data/strings.h"
#include "data/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* The fields of a table, one after another; a quoted field may hold line ends. */
typedef struct table {
    const char *p, *end;
    char separator;
    okra_int line, column; /* of the field, from 1; the line where it begins */
    okra_int next_line;
    const char *begin, *close; /* the field, without quotes     */
    bool quoted, escaped;      /* escaped: holds doubled quotes */
    bool last;                 /* of its record                 */
} table;

static table table_begin(const okra_bytes_ *bytes, char separator)
{
    okra_lines_ lines = okra_lines_begin_(bytes);
    return (table){.p = lines.p,
                   .end = lines.end,
                   .separator = separator,
                   .next_line = 1,
                   .last = true};
}

static okra_status table_fail(const table *t, const char *what)
{
    return okra_fail_(OKRA_EFORMAT, "line %" PRId64 ", column %" PRId64 ": %s", t->line,
                      t->column, what);
}

/* Blank lines between records are passed over. */
static void skip_blank_lines(table *t)
{
    for (;;) {
        const char *q = t->p;
        while (q < t->end && (*q == '\r' || (*q == ' ' && t->separator != ' '))) {
            q++;
        }
        if (q < t->end && *q != '\n') {
            return;
        }
        if (q == t->end) {
            t->p = q;
            return;
        }
        t->p = q + 1;
        t->next_line++;
    }
}

static okra_status quoted_field(table *t)
{
    const char *q = t->p + 1;
    t->begin = q;
    for (;; q++) {
        if (q == t->end) {
            return table_fail(t, "a quoted field has no closing quote");
        }
        if (*q == '\n') {
            t->next_line++;
        } else if (*q == '"' && q + 1 < t->end && q[1] == '"') {
            t->escaped = true;
            q++;
        } else if (*q == '"') {
            break;
        }
    }
    t->close = q++;
    if (q < t->end && *q == '\r') {
        q++;
    }
    if (q < t->end && *q != t->separator && *q != '\n') {
        return table_fail(t, "text follows the closing quote");
    }
    t->p = q;
    return OKRA_OK;
}

/* Moves to the next field; *more is false at the end of the table. */
static okra_status table_next(table *t, bool *more)
{
    okra_status st = OKRA_OK;
    if (t->last) {
        skip_blank_lines(t);
        if (t->p == t->end) {
            *more = false;
            return OKRA_OK;
        }
        t->column = 0;
    }
    *more = true;
    t->column++;
    t->line = t->next_line;
    t->escaped = false;
    t->quoted = t->p < t->end && *t->p == '"';
    if (t->quoted) {
        TRY(quoted_field(t));
    } else {
        t->begin = t->p;
        while (t->p < t->end && *t->p != t->separator && *t->p != '\n') {
            t->p++;
        }
        t->close = t->p;
    }
    t->last = t->p == t->end || *t->p == '\n';
    if (t->last && !t->quoted && t->close > t->begin && t->close[-1] == '\r') {
        t->close--;
    }
    if (t->p < t->end) {
        t->next_line += *t->p == '\n';
        t->p++;
    }
done:
    return st;
}

/* The shape of a table whose rows must agree. */
typedef struct shape {
    okra_int records, columns;
    bool numbers; /* some field of the first record is a number or stands for one */
} shape;

static okra_status measure(table t, shape *out)
{
    okra_status st = OKRA_OK;
    shape s = {0};
    bool more;
    for (;;) {
        TRY(table_next(&t, &more));
        if (!more) {
            break;
        }
        double value;
        if (s.records == 0) {
            s.columns++;
            s.numbers =
                s.numbers || okra_number_(t.begin, t.close, &value) != OKRA_TOKEN_TEXT_;
        }
        if (t.last) {
            if (t.column != s.columns) {
                FAIL(OKRA_EFORMAT,
                     "line %" PRId64 " has %" PRId64 " columns; expected %" PRId64
                     " as in the first line",
                     t.line, t.column, s.columns);
            }
            s.records++;
        }
    }
    if (s.records == 0) {
        FAIL(OKRA_EFORMAT, "the file is empty; expected a table of numbers");
    }
    *out = s;
done:
    return st;
}

static okra_status read_numbers(okra_source_ *source, table t, okra_data **out)
{
    okra_status st = OKRA_OK;
    double *values = NULL;
    shape s = {0};
    bool more = true;
    TRY(measure(t, &s));
    okra_int header = s.numbers ? 0 : s.columns, n = s.records - (header > 0);
    TRY(okra_doubles_(source->ctx, n, s.columns, "a table", &values));
    for (okra_int k = -header; k < n * s.columns; k++) {
        TRY(table_next(&t, &more));
        if (k >= 0) {
            okra_token_ token = okra_number_(t.begin, t.close, &values[k]);
            bool gap = token == OKRA_TOKEN_MISSING_ ||
                       (token == OKRA_TOKEN_NONFINITE_ && isnan(values[k]));
            if (gap && source->how == OKRA_HOW_MISSING_) {
                values[k] = NAN;
            } else if (token != OKRA_TOKEN_NUMBER_) {
                st = okra_bad_field_(token, t.line, t.column, t.begin, t.close);
                goto done;
            }
        }
    }
    TRY(okra_data_adopt_dense_(values, n, s.columns, source->name, out));
    values = NULL;
done:
    okra_free_(values);
    return st;
}

/* ---- labels ---------------------------------------------------------------------- */

/* The text of the field, quotes undoubled. */
static okra_status add_text(const table *t, const char *begin, const char *close,
                            okra_texts_ *texts)
{
    okra_status st = OKRA_OK;
    TRY(okra_texts_add_(texts, begin, close));
    if (t->escaped) {
        char *from = texts->block + texts->offsets[texts->count - 1], *to = from;
        for (; *from; from++) {
            *to++ = *from;
            from += from[0] == '"' && from[1] == '"';
        }
        *to = '\0';
    }
done:
    return st;
}

static okra_status add_label(const table *t, okra_texts_ *texts)
{
    double value;
    if (okra_number_(t->begin, t->close, &value) == OKRA_TOKEN_MISSING_) {
        return okra_bad_field_(OKRA_TOKEN_MISSING_, t->line, t->column, t->begin,
                               t->close);
    }
    const char *begin = t->begin, *close = t->close;
    while (!t->quoted && begin < close && *begin == ' ') {
        begin++;
    }
    while (!t->quoted && begin < close && close[-1] == ' ') {
        close--;
    }
    return add_text(t, begin, close, texts);
}

/* A string as it stands; it must not be empty. */
static okra_status add_string(const table *t, okra_texts_ *texts)
{
    okra_utf8_ utf8 = {0};
    okra_int character = 0;
    if (t->begin == t->close) {
        return table_fail(t, "the field is empty; expected a string");
    }
    for (const char *p = t->begin; p < t->close; p++) {
        int32_t code = okra_utf8_take_(&utf8, (unsigned char)*p);
        character += code >= 0;
        if (code == OKRA_UTF8_BAD_ || code == 0) {
            return okra_fail_(OKRA_EFORMAT,
                              "line %" PRId64 ", column %" PRId64 ", character %" PRId64
                              ": not UTF-8 text (byte 0x%02x)",
                              t->line, t->column, character + (code != 0),
                              (unsigned char)*p);
        }
    }
    if (utf8.more > 0) {
        return table_fail(t, "the field ends inside a UTF-8 character");
    }
    return add_text(t, t->begin, t->close, texts);
}

/* The column chosen by `part`, a number from 1 or the text of a field in the header. */
static okra_status choose_column(table t, const char *part, const shape *s,
                                 okra_int *column, bool *header)
{
    okra_status st = OKRA_OK;
    bool more = true;
    const char *p = part;
    *header = false;
    *column = 1;
    if (!part && s->columns > 1) {
        FAIL(OKRA_ESHAPE,
             "labels must be one column, found %" PRId64
             "; choose one as labels:FILE:COLUMN, by its name or number",
             s->columns);
    }
    if (!part) {
        return OKRA_OK;
    }
    for (okra_int k = 1; k <= s->columns; k++) {
        TRY(table_next(&t, &more));
        if ((size_t)(t.close - t.begin) == strlen(part) &&
            memcmp(t.begin, part, strlen(part)) == 0) {
            *column = k;
            *header = true;
            return OKRA_OK;
        }
    }
    if (!okra_whole_(&p, part + strlen(part), column) || *p || *column < 1 ||
        *column > s->columns) {
        FAIL(OKRA_EARG, "there is no column '%s' among the %" PRId64 " columns", part,
             s->columns);
    }
    *header = s->columns > 1 && !s->numbers;
done:
    return st;
}

/* Is the first text the only one that is not a number? Then it is a header. */
static bool first_is_header(const okra_texts_ *texts)
{
    double value;
    for (okra_int k = 0; k < texts->count; k++) {
        const char *text = texts->pointers[k];
        okra_token_ token = okra_number_(text, text + strlen(text), &value);
        if ((token == OKRA_TOKEN_NUMBER_) != (k > 0)) {
            return false;
        }
    }
    return texts->count > 1;
}

static okra_status read_column(okra_source_ *source, table t, okra_data **out)
{
    okra_status st = OKRA_OK;
    okra_texts_ texts = {0};
    shape s = {0};
    okra_int column = 1;
    bool header = false, more = true;
    TRY(measure(t, &s));
    TRY(choose_column(t, source->part, &s, &column, &header));
    for (okra_int record = 0; record < s.records;) {
        TRY(table_next(&t, &more));
        if (t.column == column && !(header && record == 0)) {
            TRY(source->how == OKRA_HOW_STRINGS_ ? add_string(&t, &texts)
                                                 : add_label(&t, &texts));
        }
        record += t.last;
    }
    TRY(okra_texts_done_(&texts));
    if (source->how == OKRA_HOW_STRINGS_) {
        TRY(okra_data_strings((const char *const *)texts.pointers, texts.count, out));
        TRY(okra_data_rename_(out, source->name));
        goto done;
    }
    okra_int skip = !header && first_is_header(&texts);
    TRY(okra_labels_from_texts_(texts.pointers + skip, texts.count - skip, source->name,
                                out));
done:
    okra_texts_free_(&texts);
    return st;
}

static okra_status read_table(okra_source_ *source, char separator, okra_data **out)
{
    table t = table_begin(&source->bytes, separator);
    if (source->how == OKRA_HOW_LABELS_ || source->how == OKRA_HOW_STRINGS_) {
        return read_column(source, t, out);
    }
    if (source->part) {
        return okra_fail_(OKRA_EARG,
                          "only labels: and strings: can choose a column ('%s')",
                          source->part);
    }
    return read_numbers(source, t, out);
}

okra_status okra_read_csv_(okra_source_ *source, okra_data **out)
{
    return read_table(source, ',', out);
}

okra_status okra_read_tsv_(okra_source_ *source, okra_data **out)
{
    return read_table(source, '\t', out);
}

/* Does the list "a|b" have the header of the field at hand? */
static bool in_list(const char *list, const table *t)
{
    size_t length = (size_t)(t->close - t->begin);
    for (const char *p = list; p; p = strchr(p, '|') ? strchr(p, '|') + 1 : NULL) {
        if (strcspn(p, "|") == length && memcmp(p, t->begin, length) == 0) {
            return true;
        }
    }
    return false;
}

okra_status okra_table_columns_(const okra_bytes_ *bytes, char separator, int count,
                                const char *const *names, okra_texts_ *texts)
{
    enum { MOST = 8 };
    okra_status st = OKRA_OK;
    table t = table_begin(bytes, separator);
    shape s = {0};
    bool more = true;
    okra_int column[MOST] = {0}; /* of each name, from 1; 0: none */
    TRY(measure(t, &s));
    for (okra_int record = 0; record < s.records;) {
        TRY(table_next(&t, &more));
        for (int k = 0; k < OKRA_MIN_(count, MOST); k++) {
            if (record == 0 && in_list(names[k], &t)) {
                column[k] = t.column;
            } else if (record > 0 && column[k] == t.column) {
                TRY(add_text(&t, t.begin, t.close, &texts[k]));
            }
        }
        record += t.last;
    }
    for (int k = 0; k < count; k++) {
        TRY(okra_texts_done_(&texts[k]));
    }
done:
    return st;
}

/* ---- writing --------------------------------------------------------------------- */

/* A class name, quoted where it must be: a reader shall take it for the same text. */
static okra_status put_name(okra_writer_ *w, const char *name, char separator)
{
    okra_status st = OKRA_OK;
    const char special[] = {separator, '"', '\n', '\r', '\0'};
    if (!name[strcspn(name, special)]) {
        return okra_writer_put_(w, name, strlen(name));
    }
    TRY(okra_writer_put_(w, "\"", 1));
    for (const char *p = name; *p; p++) {
        TRY(okra_writer_put_(w, "\"\"", *p == '"' ? 1 : 0));
        TRY(okra_writer_put_(w, p, 1));
    }
    TRY(okra_writer_put_(w, "\"", 1));
done:
    return st;
}

static okra_status put_row(okra_writer_ *w, const okra_data *data, okra_int i,
                           char separator)
{
    okra_status st = OKRA_OK;
    char text[OKRA_NUMBER_TEXT_];
    for (okra_int j = 0; j < data->d; j++) {
        double value = data->kind == OKRA_BITS ? okra_bit_(data, i, j)
                                               : data->values[i * data->ld + j];
        okra_double_text_(value, text);
        if (j > 0) {
            TRY(okra_writer_put_(w, &separator, 1));
        }
        TRY(okra_writer_put_(w, text, strlen(text)));
    }
done:
    return st;
}

static okra_status write_strings(okra_writer_ *w, const okra_data *data, char separator)
{
    okra_status st = OKRA_OK;
    char *text = NULL;
    for (okra_int i = 0; i < data->n; i++) {
        TRY(okra_string_text_(data, i, &text));
        TRY(put_name(w, text, separator));
        TRY(okra_writer_put_(w, "\n", 1));
        okra_free_(text);
        text = NULL;
    }
done:
    okra_free_(text);
    return st;
}

static okra_status write_table(okra_writer_ *w, const okra_data *data, char separator)
{
    okra_status st = OKRA_OK;
    if (data->kind == OKRA_STRINGS) {
        return write_strings(w, data, separator);
    }
    if (data->kind > OKRA_STRINGS) {
        FAIL(OKRA_EUNSUPPORTED, "%s cannot be written as a table",
             okra_kind_name(data->kind));
    }
    if (data->kind == OKRA_SPARSE) {
        FAIL(OKRA_EUNSUPPORTED, "sparse data cannot be written as a table, but as .mtx, "
                                "or read with dense: first");
    }
    for (okra_int i = 0; i < data->n; i++) {
        if (data->kind != OKRA_LABELS) {
            TRY(put_row(w, data, i, separator));
        } else if (data->class_names) {
            TRY(put_name(w, data->class_names[data->codes[i]], separator));
        } else {
            TRY(okra_writer_printf_(w, "%" PRId64, data->codes[i]));
        }
        TRY(okra_writer_put_(w, "\n", 1));
    }
done:
    return st;
}

okra_status okra_write_csv_(okra_writer_ *w, const okra_data *data)
{
    return write_table(w, data, ',');
}

okra_status okra_write_tsv_(okra_writer_ *w, const okra_data *data)
{
    return write_table(w, data, '\t');
}
