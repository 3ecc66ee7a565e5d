/*
 * table.c: the fields of a table of text, one after another (RFC 4180).
 */
#include "data/files/table.h"

#include <inttypes.h>
#include <string.h>

okra_table_ okra_table_begin_(const okra_bytes_ *bytes, char separator)
{
    okra_lines_ lines = okra_lines_begin_(bytes);
    return (okra_table_){.p = lines.p,
                         .end = lines.end,
                         .separator = separator,
                         .next_line = 1,
                         .last = true};
}

okra_status okra_table_fail_(const okra_table_ *t, const char *what)
{
    return okra_fail_(OKRA_EFORMAT, "line %" PRId64 ", column %" PRId64 ": %s", t->line,
                      t->column, what);
}

/* Blank lines between records are passed over. */
static void skip_blank_lines(okra_table_ *t)
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

static okra_status quoted_field(okra_table_ *t)
{
    const char *q = t->p + 1;
    t->begin = q;
    for (;; q++) {
        if (q == t->end) {
            return okra_table_fail_(t, "a quoted field has no closing quote");
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
        return okra_table_fail_(t, "text follows the closing quote");
    }
    t->p = q;
    return OKRA_OK;
}

okra_status okra_table_next_(okra_table_ *t, bool *more)
{
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
        CHK(quoted_field(t));
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
    return OKRA_OK;
}

okra_token_ okra_table_number_(const okra_table_ *t, double *value)
{
    char buffer[64];
    size_t length = (size_t)(t->close - t->begin);
    okra_token_ token = okra_number_(t->begin, t->close, value);
    const char *comma =
        token == OKRA_TOKEN_TEXT_ && t->separator == ';' && length < sizeof buffer
            ? memchr(t->begin, ',', length)
            : NULL;
    if (comma) {
        memcpy(buffer, t->begin, length);
        buffer[comma - t->begin] = '.';
        token = okra_number_(buffer, buffer + length, value);
    }
    return token;
}

okra_status okra_table_measure_(okra_table_ t, okra_table_shape_ *out)
{
    okra_table_shape_ s = {0};
    bool more;
    for (;;) {
        CHK(okra_table_next_(&t, &more));
        if (!more) {
            break;
        }
        double value;
        if (s.records == 0) {
            s.columns++;
            s.numbers = s.numbers || okra_table_number_(&t, &value) != OKRA_TOKEN_TEXT_;
        }
        if (t.last) {
            REFUSE_IF(t.column != s.columns, OKRA_EFORMAT,
                      "line %" PRId64 " has %" PRId64 " columns; expected %" PRId64
                      " as in the first line",
                      t.line, t.column, s.columns);
            s.records++;
        }
    }
    REFUSE_IF(s.records == 0, OKRA_EFORMAT,
              "the file is empty; expected a table of numbers");
    *out = s;
    return OKRA_OK;
}
