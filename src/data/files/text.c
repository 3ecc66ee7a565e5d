/*
 * text.c: numbers, lines and words of text files.
 *
 * Numbers: a decimal with at most 2^53 as digits and a power of ten up to 22 is the
 * correctly rounded product or quotient of two exact doubles (Clinger 1990, "How to read
 * floating point numbers accurately", sec. 3); any other goes through strtod.
 */
#include "data/files/formats.h"

#include <ctype.h>
#include <strings.h>

enum {
    EXACT_POWER = 22,
    EXPONENT_MOST = 100000,
    NUMBER_MOST = 1000, /* characters; longer ones are taken for text */
    SHOWN = 40
};
static const double powers[EXACT_POWER + 1] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* What a decimal looks like after a scan of its characters. */
typedef struct decimal {
    bool negative, exact; /* exact: no digit was lost in `digits` */
    uint64_t digits;
    int exponent;
} decimal;

/* Scans [+-]digits[.digits][(e|E)[+-]digits] filling p..end exactly. */
static bool scan(const char *p, const char *end, decimal *d)
{
    *d = (decimal){.exact = true};
    if (p < end && (*p == '-' || *p == '+')) {
        d->negative = *p++ == '-';
    }
    int seen = 0;
    bool point = false;
    for (; p < end && (is_digit(*p) || (*p == '.' && !point)); p++) {
        if (*p == '.') {
            point = true;
            continue;
        }
        seen = 1;
        if (d->digits > (UINT64_C(1) << 53) / 10 - 1) {
            d->exact = false;
        } else {
            d->digits = 10 * d->digits + (uint64_t)(*p - '0');
            d->exponent -= point;
        }
    }
    if (!seen) {
        return false;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        bool down = p < end && *p == '-';
        p += p < end && (*p == '-' || *p == '+');
        int value = 0;
        if (p == end) {
            return false;
        }
        for (; p < end && is_digit(*p); p++) {
            value = OKRA_MIN_(10 * value + (*p - '0'), EXPONENT_MOST);
        }
        d->exponent += down ? -value : value;
    }
    return p == end;
}

/* strtod on a text that is not terminated. */
static double by_strtod(const char *p, const char *end)
{
    char buffer[NUMBER_MOST + 1];
    size_t length = (size_t)(end - p);
    memcpy(buffer, p, length);
    buffer[length] = '\0';
    return okra_strtod_(buffer, NULL);
}

static bool is_word(const char *p, const char *end, const char *word)
{
    return (size_t)(end - p) == strlen(word) && strncasecmp(p, word, strlen(word)) == 0;
}

okra_token_ okra_number_(const char *p, const char *end, double *value)
{
    while (p < end && is_blank(*p)) {
        p++;
    }
    while (p < end && is_blank(end[-1])) {
        end--;
    }
    if (p == end || is_word(p, end, "?") || is_word(p, end, "NA") ||
        is_word(p, end, "-")) {
        return OKRA_TOKEN_MISSING_;
    }
    decimal d;
    if (end - p <= NUMBER_MOST && scan(p, end, &d)) {
        if (d.exact && abs(d.exponent) <= EXACT_POWER) {
            double digits = (double)d.digits;
            *value = d.exponent < 0 ? digits / powers[-d.exponent]
                                    : digits * powers[d.exponent];
            *value = d.negative ? -*value : *value;
        } else {
            *value = by_strtod(p, end);
        }
        return isfinite(*value) ? OKRA_TOKEN_NUMBER_ : OKRA_TOKEN_NONFINITE_;
    }
    const char *word = p + (*p == '-' || *p == '+');
    *value = is_word(word, end, "nan") ? NAN : INFINITY;
    return is_word(word, end, "nan") || is_word(word, end, "inf") ||
                   is_word(word, end, "infinity")
               ? OKRA_TOKEN_NONFINITE_
               : OKRA_TOKEN_TEXT_;
}

bool okra_whole_(const char **p, const char *end, okra_int *value)
{
    const char *q = *p;
    okra_int number = 0;
    for (; q < end && is_digit(*q); q++) {
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, *q - '0', &number)) {
            return false;
        }
    }
    if (q == *p) {
        return false;
    }
    *p = q;
    *value = number;
    return true;
}

okra_int okra_plain_number_(const char *text, okra_int most)
{
    const char *p = text, *end = text + strlen(text);
    okra_int value = 0;
    bool plain = okra_whole_(&p, end, &value) && p == end && value <= most &&
                 (text[0] != '0' || !text[1]);
    return plain ? value : -1;
}

okra_lines_ okra_lines_begin_(const okra_bytes_ *bytes)
{
    const char *p = (const char *)bytes->p, *end = p + bytes->size;
    if (bytes->size >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0) {
        p += 3;
    }
    return (okra_lines_){.p = p, .end = end};
}

void okra_lines_progress_(const okra_source_ *source, const okra_lines_ *lines)
{
    okra_int left = (okra_int)(lines->end - lines->p), size = source->bytes.size;
    okra_progress_(source->ctx, "read", OKRA_MAX_(size - left, 0), size);
}

bool okra_lines_next_(okra_lines_ *lines)
{
    if (lines->p == lines->end) {
        return false;
    }
    const char *feed = memchr(lines->p, '\n', (size_t)(lines->end - lines->p));
    lines->begin = lines->p;
    lines->close = feed ? feed : lines->end;
    lines->p = feed ? feed + 1 : lines->end;
    if (lines->close > lines->begin && lines->close[-1] == '\r') {
        lines->close--;
    }
    lines->number++;
    return true;
}

bool okra_word_(const char **p, const char *end, const char **word, const char **close)
{
    const char *q = *p;
    while (q < end && is_blank(*q)) {
        q++;
    }
    *word = q;
    while (q < end && !is_blank(*q)) {
        q++;
    }
    *close = *p = q;
    return *word < *close;
}

okra_status okra_bad_field_(okra_token_ token, okra_int line, okra_int column,
                            const char *p, const char *end)
{
    char shown[SHOWN + 4];
    size_t length = 0, size = (size_t)(end - p);
    bool semicolon = memchr(p, ';', size), tab = memchr(p, '\t', size);
    for (; p < end && length < SHOWN; p++) {
        shown[length++] = isprint((unsigned char)*p) || (*p & 0x80) ? *p : '?';
    }
    shown[length] = '\0';
    if (p < end) {
        strcpy(shown + length, "...");
    }
    return okra_fail_(
        OKRA_EFORMAT, "line %" PRId64 ", column %" PRId64 ": %s%s%s", line, column,
        token != OKRA_TOKEN_MISSING_ ? "'"
        : length > 0                 ? "a value is missing ("
                                     : "a value is missing",
        shown,
        token == OKRA_TOKEN_MISSING_
            ? length > 0 ? "); outputs with gaps are read as missing:FILE"
                         : "; outputs with gaps are read as missing:FILE"
        : token != OKRA_TOKEN_NONFINITE_ && (semicolon || tab)
            ? "' is not a number; fields stand between commas in .csv files, between "
              "tabs in .tsv files"
        : token != OKRA_TOKEN_NONFINITE_
            ? "' is not a number; classes are read as labels:FILE, and FILE:!COLUMN is "
              "without that column"
        : shown[0] == 'n' || shown[0] == 'N'
            ? "' found; values must be finite; outputs with gaps are read as missing:FILE"
            : "' found; values must be finite");
}

const char *okra_double_text_(double value, char text[OKRA_NUMBER_TEXT_])
{
    for (int digits = 15; digits <= 17; digits++) {
        okra_number_format_(text, OKRA_NUMBER_TEXT_, digits, value);
        if (okra_strtod_(text, NULL) == value) {
            break;
        }
    }
    return text;
}

/* ---- collected texts ---- */

okra_status okra_texts_add_(okra_texts_ *texts, const char *p, const char *end)
{
    okra_int length = end - p;
    CHK(okra_reserve_(&texts->block, texts->used + length + 1, &texts->capacity, 1));
    CHK(okra_reserve_(&texts->offsets, texts->count + 1, &texts->room,
                      sizeof *texts->offsets));
    memcpy(texts->block + texts->used, p, (size_t)length);
    texts->block[texts->used + length] = '\0';
    texts->offsets[texts->count++] = texts->used;
    texts->used += length + 1;
    return OKRA_OK;
}

okra_status okra_texts_done_(okra_texts_ *texts)
{
    MAKE(texts->pointers, texts->count);
    for (okra_int k = 0; k < texts->count; k++) {
        texts->pointers[k] = texts->block + texts->offsets[k];
    }
    return OKRA_OK;
}

OKRA_SHARED_CLEARS_(okra_texts_free_, okra_texts_, it->block, it->offsets, it->pointers)

/* ---- texts and their numbers ---- */

/* The number of a text, -1: it is not there. */
static okra_int seek(const okra_names_ *n, uint64_t hash, const char *p, const char *end)
{
    size_t length = (size_t)(end - p);
    okra_int at = 0, k;
    while ((k = okra_hashed_next_(&n->slots, hash, &at)) >= 0 &&
           (strlen(okra_name_(n, k)) != length ||
            memcmp(okra_name_(n, k), p, length) != 0)) {
    }
    return k;
}

okra_int okra_names_find_(const okra_names_ *n, const char *p, const char *end)
{
    return seek(n, okra_mix_(OKRA_MIX_START_, p, (size_t)(end - p)), p, end);
}

okra_status okra_names_add_(okra_names_ *n, const char *p, const char *end,
                            okra_int *code)
{
    uint64_t hash = okra_mix_(OKRA_MIX_START_, p, (size_t)(end - p));
    okra_int found = seek(n, hash, p, end);
    if (found < 0) {
        found = n->texts.count;
        CHK(okra_texts_add_(&n->texts, p, end));
        CHK(okra_hashed_put_(&n->slots, hash, found));
    }
    *code = found;
    return OKRA_OK;
}

void okra_names_free_(okra_names_ *n)
{
    okra_texts_free_(&n->texts);
    okra_free_(n->slots.slots);
}

/* ---- fields of a table ---- */

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
            okra_token_ token = okra_table_number_(&t, &value);
            s.gaps += token == OKRA_TOKEN_MISSING_;
            s.numbers =
                s.numbers || (token != OKRA_TOKEN_TEXT_ && token != OKRA_TOKEN_MISSING_);
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
    s.numbers = s.numbers || s.gaps == s.columns;
    *out = s;
    return OKRA_OK;
}
