/*
 * arff_rows.c: the head of an attribute-relation file, and its rows one by one.
 */
#include "data/files/arff.h"

#include <inttypes.h>
#include <strings.h>

static void skip_blanks(const char **p, const char *end)
{
    while (*p < end && (**p == ' ' || **p == '\t')) {
        (*p)++;
    }
}

/* A value up to one of the stops, quotes removed; false if a quote is not closed. */
static bool next_value(const char **p, const char *end, const char *stops,
                       okra_span_ *out)
{
    skip_blanks(p, end);
    const char *q = *p;
    if (q < end && (*q == '\'' || *q == '"')) {
        char quote = *q++;
        out->begin = q;
        while (q < end && *q != quote) {
            q += *q == '\\' && q + 1 < end ? 2 : 1;
        }
        if (q >= end) {
            return false;
        }
        out->close = q++;
        skip_blanks(&q, end);
        *p = q;
        return q == end || strchr(stops, *q) || strchr(stops, ' ');
    }
    out->begin = q;
    while (q < end && !(*q && strchr(stops, *q))) {
        q++;
    }
    *p = q;
    while (q > out->begin && (q[-1] == ' ' || q[-1] == '\t')) {
        q--;
    }
    out->close = q;
    return true;
}

static bool keyword(const char **p, const char *end, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(end - *p) < length || strncasecmp(*p, word, length) != 0) {
        return false;
    }
    *p += length;
    return true;
}

bool okra_arff_line_(okra_lines_ *lines)
{
    while (okra_lines_next_(lines)) {
        skip_blanks(&lines->begin, lines->close);
        while (lines->close > lines->begin &&
               (lines->close[-1] == ' ' || lines->close[-1] == '\t')) {
            lines->close--;
        }
        if (lines->begin < lines->close && *lines->begin != '%') {
            return true;
        }
    }
    return false;
}

static okra_status line_fail(const okra_arff_ *r, const char *what)
{
    return okra_fail_(OKRA_EFORMAT, "line %" PRId64 ": %s", r->lines.number, what);
}

const char *okra_arff_name_(const okra_arff_ *r, okra_int k)
{
    return r->texts.block + r->texts.offsets[r->attributes[k].name];
}

/* ---- the head ---- */

static okra_status read_nominal(okra_arff_ *r, okra_arff_attribute_ *a, const char *p)
{
    const char *end = r->lines.close;
    okra_span_ value;
    double number;
    a->sort = OKRA_ARFF_NOMINAL_NUMBERS_;
    do {
        p++; /* the brace or comma */
        if (!next_value(&p, end, ",}", &value) || p == end ||
            value.begin == value.close) {
            return line_fail(r, "the list of values is damaged");
        }
        CHK(okra_texts_add_(&r->texts, value.begin, value.close));
        if (okra_number_(value.begin, value.close, &number) != OKRA_TOKEN_NUMBER_) {
            a->sort = OKRA_ARFF_NOMINAL_TEXTS_;
        }
    } while (*p == ',');
    a->last = r->texts.count;
    return OKRA_OK;
}

static okra_status read_attribute(okra_arff_ *r, const char *p)
{
    const char *end = r->lines.close;
    okra_arff_attribute_ a = {.sort = OKRA_ARFF_OTHER_};
    okra_span_ name;
    if (!next_value(&p, end, " \t", &name) || name.begin == name.close) {
        return line_fail(r, "the attribute has no name");
    }
    a.name = r->texts.count;
    CHK(okra_texts_add_(&r->texts, name.begin, name.close));
    a.first = a.last = r->texts.count;
    skip_blanks(&p, end);
    if (p < end && *p == '{') {
        CHK(read_nominal(r, &a, p));
    } else if (keyword(&p, end, "numeric") || keyword(&p, end, "real") ||
               keyword(&p, end, "integer")) {
        a.sort = OKRA_ARFF_NUMERIC_;
    } else if (!keyword(&p, end, "string") && !keyword(&p, end, "date")) {
        return line_fail(r, "the attribute's type is not one of numeric, real, integer, "
                            "{values}, string, date");
    }
    if (r->count == r->room) {
        okra_int room = OKRA_MAX_(2 * r->room, 16);
        RESIZE(r->attributes, room);
        r->room = room;
    }
    r->attributes[r->count++] = a;
    return OKRA_OK;
}

okra_status okra_arff_head_(okra_arff_ *r)
{
    for (;;) {
        REFUSE_IF(!okra_arff_line_(&r->lines), OKRA_EFORMAT,
                  "not an ARFF file, or cut short: it has no @data line");
        const char *p = r->lines.begin, *end = r->lines.close;
        if (keyword(&p, end, "@data")) {
            break;
        }
        if (keyword(&p, end, "@attribute")) {
            CHK(read_attribute(r, p));
        } else if (!keyword(&p, end, "@relation")) {
            return line_fail(r, "expected @relation, @attribute or @data");
        }
    }
    REFUSE_IF(r->count == 0, OKRA_EFORMAT, "there is no @attribute before @data");
    return OKRA_OK;
}

/* ---- the rows ---- */

static okra_status each_dense(okra_arff_ *r, okra_arff_taker_ take, void *arg)
{
    const char *p = r->lines.begin, *end = r->lines.close;
    okra_span_ value;
    for (okra_int k = 0; k < r->count; k++) {
        if (!next_value(&p, end, ",", &value)) {
            return line_fail(r, "a quote is not closed, or text follows it");
        }
        REFUSE_IF(k + 1 < r->count && p == end, OKRA_EFORMAT,
                  "line %" PRId64 " has %" PRId64 " values; there are %" PRId64
                  " attributes",
                  r->lines.number, k + 1, r->count);
        CHK(take(arg, r, k, value));
        p += k + 1 < r->count; /* the comma */
    }
    return p < end ? line_fail(r, "more values than attributes") : OKRA_OK;
}

static okra_status each_sparse(okra_arff_ *r, okra_arff_taker_ take, void *arg)
{
    const char *p = r->lines.begin, *end = r->lines.close;
    okra_int index, previous = -1;
    okra_span_ value;
    if (*p != '{') {
        return line_fail(r, "a dense row among sparse ones");
    }
    p++;
    skip_blanks(&p, end);
    while (p < end && *p != '}') {
        REFUSE_IF(!okra_whole_(&p, end, &index) || index <= previous || index >= r->count,
                  OKRA_EFORMAT,
                  "line %" PRId64 ": expected ascending indices from 0 to %" PRId64
                  ", each followed by a value",
                  r->lines.number, r->count - 1);
        previous = index;
        if (!next_value(&p, end, ",}", &value)) {
            return line_fail(r, "a quote is not closed, or text follows it");
        }
        CHK(take(arg, r, index, value));
        if (p < end && *p == ',') {
            p++;
            skip_blanks(&p, end);
        }
    }
    if (p == end || p + 1 != end) {
        return line_fail(r, p == end ? "the closing brace is missing"
                                     : "text follows the closing brace");
    }
    return OKRA_OK;
}

okra_status okra_arff_row_(okra_arff_ *r, okra_arff_taker_ take, void *arg)
{
    if (r->sparse) {
        return each_sparse(r, take, arg);
    }
    return *r->lines.begin == '{' ? line_fail(r, "a sparse row among dense ones")
                                  : each_dense(r, take, arg);
}

okra_int okra_arff_measure_(okra_arff_ *r)
{
    okra_int commas = 0;
    for (okra_lines_ lines = r->lines; okra_arff_line_(&lines); r->rows++) {
        r->sparse = r->rows == 0 ? *lines.begin == '{' : r->sparse;
        for (const char *p = lines.begin; p < lines.close; p++) {
            commas += *p == ',';
        }
    }
    return commas;
}
