/*
 * arff.c: the attribute-relation files of WEKA, with dense or sparse rows.
 *
 * Numeric attributes, and nominal ones whose values are all numbers ({0,1}), are
 * features. A last attribute with text values is the class: it is left out of the
 * features and read by labels:FILE; labels:FILE:NAME reads another attribute.
 */
#include "data/formats.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

typedef enum sort { NUMERIC, NOMINAL_NUMBERS, NOMINAL_TEXTS, OTHER } sort;

typedef struct attribute {
    sort sort;
    okra_int name;        /* index into texts                           */
    okra_int first, last; /* the nominal values in texts, last excluded */
} attribute;

typedef struct relation {
    okra_lines_ lines;
    attribute *attributes;
    okra_int count, room;
    okra_texts_ texts; /* names and nominal values */
    okra_int rows;
    bool sparse;
} relation;

typedef struct span {
    const char *begin, *close;
} span;

static void skip_blanks(const char **p, const char *end)
{
    while (*p < end && (**p == ' ' || **p == '\t')) {
        (*p)++;
    }
}

/* A value up to one of the stops, quotes removed; false if a quote is not closed. */
static bool next_value(const char **p, const char *end, const char *stops, span *out)
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

/* The next line that is neither blank nor a comment, its leading blanks cut. */
static bool next_line(okra_lines_ *lines)
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

static okra_status line_fail(const relation *r, const char *what)
{
    return okra_fail_(OKRA_EFORMAT, "line %" PRId64 ": %s", r->lines.number, what);
}

static const char *name_of(const relation *r, okra_int k)
{
    return r->texts.block + r->texts.offsets[r->attributes[k].name];
}

/* ---- the head -------------------------------------------------------------------- */

static okra_status read_nominal(relation *r, attribute *a, const char *p)
{
    okra_status st = OKRA_OK;
    const char *end = r->lines.close;
    span value;
    double number;
    a->sort = NOMINAL_NUMBERS;
    do {
        p++; /* the brace or comma */
        if (!next_value(&p, end, ",}", &value) || p == end ||
            value.begin == value.close) {
            return line_fail(r, "the list of values is damaged");
        }
        TRY(okra_texts_add_(&r->texts, value.begin, value.close));
        if (okra_number_(value.begin, value.close, &number) != OKRA_TOKEN_NUMBER_) {
            a->sort = NOMINAL_TEXTS;
        }
    } while (*p == ',');
    a->last = r->texts.count;
done:
    return st;
}

static okra_status read_attribute(relation *r, const char *p)
{
    okra_status st = OKRA_OK;
    const char *end = r->lines.close;
    attribute a = {.sort = OTHER};
    span name;
    if (!next_value(&p, end, " \t", &name) || name.begin == name.close) {
        return line_fail(r, "the attribute has no name");
    }
    a.name = r->texts.count;
    TRY(okra_texts_add_(&r->texts, name.begin, name.close));
    a.first = a.last = r->texts.count;
    skip_blanks(&p, end);
    if (p < end && *p == '{') {
        TRY(read_nominal(r, &a, p));
    } else if (keyword(&p, end, "numeric") || keyword(&p, end, "real") ||
               keyword(&p, end, "integer")) {
        a.sort = NUMERIC;
    } else if (!keyword(&p, end, "string") && !keyword(&p, end, "date")) {
        return line_fail(r, "the attribute's type is not one of numeric, real, integer, "
                            "{values}, string, date");
    }
    if (r->count == r->room) {
        okra_int room = OKRA_MAX_(2 * r->room, 16);
        attribute *grown = okra_realloc_(r->attributes, room, sizeof *grown);
        if (!grown) {
            st = OKRA_EMEM;
            goto done;
        }
        r->attributes = grown;
        r->room = room;
    }
    r->attributes[r->count++] = a;
done:
    return st;
}

static okra_status read_head(relation *r)
{
    okra_status st = OKRA_OK;
    for (;;) {
        if (!next_line(&r->lines)) {
            FAIL(OKRA_EFORMAT, "not an ARFF file, or cut short: it has no @data line");
        }
        const char *p = r->lines.begin, *end = r->lines.close;
        if (keyword(&p, end, "@data")) {
            break;
        }
        if (keyword(&p, end, "@attribute")) {
            TRY(read_attribute(r, p));
        } else if (!keyword(&p, end, "@relation")) {
            st = line_fail(r, "expected @relation, @attribute or @data");
            goto done;
        }
    }
    if (r->count == 0) {
        FAIL(OKRA_EFORMAT, "there is no @attribute before @data");
    }
done:
    return st;
}

/* ---- the rows -------------------------------------------------------------------- */

/* What is done with the value of attribute k in the current row. */
typedef okra_status (*taker)(void *arg, const relation *r, okra_int k, span value);

static okra_status each_dense(relation *r, taker take, void *arg)
{
    okra_status st = OKRA_OK;
    const char *p = r->lines.begin, *end = r->lines.close;
    span value;
    for (okra_int k = 0; k < r->count; k++) {
        if (!next_value(&p, end, ",", &value)) {
            return line_fail(r, "a quote is not closed, or text follows it");
        }
        if (k + 1 < r->count && p == end) {
            FAIL(OKRA_EFORMAT,
                 "line %" PRId64 " has %" PRId64 " values; there are %" PRId64
                 " attributes",
                 r->lines.number, k + 1, r->count);
        }
        TRY(take(arg, r, k, value));
        p += k + 1 < r->count; /* the comma */
    }
    if (p < end) {
        return line_fail(r, "more values than attributes");
    }
done:
    return st;
}

static okra_status each_sparse(relation *r, taker take, void *arg)
{
    okra_status st = OKRA_OK;
    const char *p = r->lines.begin, *end = r->lines.close;
    okra_int index, previous = -1;
    span value;
    if (*p != '{') {
        return line_fail(r, "a dense row among sparse ones");
    }
    p++;
    skip_blanks(&p, end);
    while (p < end && *p != '}') {
        if (!okra_whole_(&p, end, &index) || index <= previous || index >= r->count) {
            FAIL(OKRA_EFORMAT,
                 "line %" PRId64 ": expected ascending indices from 0 to %" PRId64
                 ", each followed by a value",
                 r->lines.number, r->count - 1);
        }
        previous = index;
        if (!next_value(&p, end, ",}", &value)) {
            return line_fail(r, "a quote is not closed, or text follows it");
        }
        TRY(take(arg, r, index, value));
        if (p < end && *p == ',') {
            p++;
            skip_blanks(&p, end);
        }
    }
    if (p == end || p + 1 != end) {
        return line_fail(r, p == end ? "the closing brace is missing"
                                     : "text follows the closing brace");
    }
done:
    return st;
}

static okra_status each_value(relation *r, taker take, void *arg)
{
    if (r->sparse) {
        return each_sparse(r, take, arg);
    }
    return *r->lines.begin == '{' ? line_fail(r, "a sparse row among dense ones")
                                  : each_dense(r, take, arg);
}

/* Counts the rows, and the commas as a bound on the entries of sparse rows. */
static okra_int measure(relation *r)
{
    okra_int commas = 0;
    for (okra_lines_ lines = r->lines; next_line(&lines); r->rows++) {
        r->sparse = r->rows == 0 ? *lines.begin == '{' : r->sparse;
        for (const char *p = lines.begin; p < lines.close; p++) {
            commas += *p == ',';
        }
    }
    return commas;
}

/* ---- features -------------------------------------------------------------------- */

typedef struct fill {
    double *values; /* dense: the current row      */
    okra_csr_ csr;  /* sparse: rows, and their end */
    okra_int used, width;
} fill;

static okra_status take_feature(void *arg, const relation *r, okra_int k, span value)
{
    fill *f = arg;
    double number;
    if (k >= f->width) {
        return OKRA_OK; /* the class */
    }
    okra_token_ token = okra_number_(value.begin, value.close, &number);
    if (token != OKRA_TOKEN_NUMBER_) {
        return okra_bad_field_(token, r->lines.number, k + 1, value.begin, value.close);
    }
    if (!r->sparse) {
        f->values[k] = number;
    } else if (number != 0) {
        f->csr.indices[f->used] = k;
        f->csr.values[f->used++] = number;
    }
    return OKRA_OK;
}

/* How many attributes are features; all of them must be numbers. */
static okra_status feature_count(const relation *r, okra_int *width)
{
    *width = r->count - (r->attributes[r->count - 1].sort == NOMINAL_TEXTS);
    for (okra_int k = 0; k < *width; k++) {
        if (r->attributes[k].sort != NUMERIC &&
            r->attributes[k].sort != NOMINAL_NUMBERS) {
            return okra_fail_(OKRA_EUNSUPPORTED,
                              "attribute %" PRId64 " ('%s') is text; features must be "
                              "numbers (labels:FILE:NAME reads one attribute as labels)",
                              k + 1, name_of(r, k));
        }
    }
    return *width > 0 ? OKRA_OK
                      : okra_fail_(OKRA_EFORMAT, "there are no features, only the class");
}

static okra_status read_features(okra_source_ *source, relation *r, okra_data **out)
{
    okra_status st = OKRA_OK;
    fill f = {0};
    double *values = NULL;
    okra_int entries = measure(r) + r->rows, rest = r->lines.end - r->lines.p;
    TRY(feature_count(r, &f.width));
    if (r->sparse) {
        TRY(okra_budget_ask_(source->ctx, 16.0 * (double)entries, "the sparse rows"));
        ALLOC(f.csr.indptr, r->rows + 1);
        ALLOC(f.csr.indices, entries);
        ALLOC(f.csr.values, entries);
        f.csr.indptr[0] = 0;
    } else {
        if ((double)r->rows * (double)r->count > (double)rest) {
            FAIL(OKRA_EFORMAT,
                 "%" PRId64 " rows of %" PRId64 " attributes are more than the %" PRId64
                 " bytes after @data can hold",
                 r->rows, r->count, rest);
        }
        TRY(okra_doubles_(source->ctx, r->rows, f.width, "a table", &values));
        f.values = values;
    }
    for (okra_int i = 0; i < r->rows && next_line(&r->lines); i++) {
        TRY(each_value(r, take_feature, &f));
        if (r->sparse) {
            f.csr.indptr[i + 1] = f.used;
        } else {
            f.values += f.width;
        }
    }
    if (r->sparse) {
        TRY(okra_data_adopt_sparse_(&f.csr, r->rows, f.width, source->name, out));
    } else {
        TRY(okra_data_adopt_dense_(values, r->rows, f.width, source->name, out));
        values = NULL;
    }
done:
    okra_free_(values);
    okra_csr_free_(&f.csr);
    return st;
}

/* ---- labels ---------------------------------------------------------------------- */

typedef struct chosen {
    okra_int attribute;
    span value;
    okra_texts_ texts; /* the labels row by row */
    okra_int *codes;   /* of nominal texts      */
} chosen;

static okra_status take_chosen(void *arg, const relation *r, okra_int k, span value)
{
    (void)r;
    chosen *c = arg;
    if (k == c->attribute) {
        c->value = value;
    }
    return OKRA_OK;
}

static bool same(const char *text, span value)
{
    size_t length = (size_t)(value.close - value.begin);
    return strlen(text) == length && memcmp(text, value.begin, length) == 0;
}

static okra_status add_label(const relation *r, chosen *c, okra_int i)
{
    const attribute *a = &r->attributes[c->attribute];
    double number;
    if (!c->value.begin) { /* left out of a sparse row: 0, or the first value */
        static const char zero[] = "0";
        const char *text =
            a->first < a->last ? r->texts.block + r->texts.offsets[a->first] : zero;
        c->value = (span){text, text + strlen(text)};
    }
    if (okra_number_(c->value.begin, c->value.close, &number) == OKRA_TOKEN_MISSING_) {
        return okra_bad_field_(OKRA_TOKEN_MISSING_, r->lines.number, c->attribute + 1,
                               c->value.begin, c->value.close);
    }
    for (okra_int k = a->first; k < a->last; k++) {
        if (same(r->texts.block + r->texts.offsets[k], c->value)) {
            c->codes[i] = k - a->first;
            return okra_texts_add_(&c->texts, c->value.begin, c->value.close);
        }
    }
    if (a->first < a->last) {
        return okra_fail_(OKRA_EFORMAT,
                          "line %" PRId64 ", column %" PRId64
                          ": '%.*s' is not among the values of attribute '%s'",
                          r->lines.number, c->attribute + 1,
                          (int)OKRA_MIN_(c->value.close - c->value.begin, 40),
                          c->value.begin, name_of(r, c->attribute));
    }
    return okra_texts_add_(&c->texts, c->value.begin, c->value.close);
}

static okra_status choose(const relation *r, const char *part, okra_int *out)
{
    for (okra_int k = 0; k < r->count; k++) {
        if (part ? strcmp(name_of(r, k), part) == 0 : k == r->count - 1) {
            *out = k;
            return OKRA_OK;
        }
    }
    return okra_fail_(OKRA_EARG, "there is no attribute '%s'", part);
}

static okra_status read_labels(okra_source_ *source, relation *r, okra_data **out)
{
    okra_status st = OKRA_OK;
    chosen c = {0};
    TRY(choose(r, source->part, &c.attribute));
    measure(r);
    ALLOC(c.codes, r->rows);
    for (okra_int i = 0; i < r->rows && next_line(&r->lines); i++) {
        c.value = (span){NULL, NULL};
        TRY(each_value(r, take_chosen, &c));
        TRY(add_label(r, &c, i));
    }
    const attribute *a = &r->attributes[c.attribute];
    if (a->sort == NOMINAL_TEXTS) {
        TRY(okra_texts_done_(&r->texts));
        TRY(okra_data_labels(c.codes, r->rows,
                             (const char *const *)r->texts.pointers + a->first,
                             a->last - a->first, out));
    } else {
        TRY(okra_texts_done_(&c.texts));
        TRY(okra_labels_from_texts_(c.texts.pointers, c.texts.count, source->name, out));
    }
done:
    okra_free_(c.codes);
    okra_texts_free_(&c.texts);
    return st;
}

okra_status okra_read_arff_(okra_source_ *source, okra_data **out)
{
    okra_status st = OKRA_OK;
    relation r = {.lines = okra_lines_begin_(&source->bytes)};
    TRY(read_head(&r));
    if (source->how == OKRA_HOW_LABELS_) {
        TRY(read_labels(source, &r, out));
    } else if (source->part) {
        FAIL(OKRA_EARG, "only labels: can choose an attribute ('%s')", source->part);
    } else {
        TRY(read_features(source, &r, out));
    }
done:
    okra_free_(r.attributes);
    okra_texts_free_(&r.texts);
    return st;
}
