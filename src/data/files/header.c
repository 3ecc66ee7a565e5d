/*
 * header.c: is the first line of a table the names of its columns, or a row?
 *
 * Evidence, in this order, of the first line f and the LOOK records below it:
 *   a number in f: a row;
 *   a column of numbers or dates below a text of f: names;
 *   a field that stands for none in f: a row;
 *   a text of f again in its column, or twice in f: a row;
 *   a column whose texts below come again and again, but not that of f: names;
 *   words that usually name columns: names;
 * otherwise a row. All but the first three may be wrong, so okra prints the choice.
 */
#include "data/files/formats.h"

#include <ctype.h>
#include <strings.h>

enum { LOOK = 1000, COLUMNS = 256 };

/* ---- dates ---- */

/* Days from 1970-01-01 to the day of the Gregorian calendar, counted in years that begin
 * with March. */
static double days_of(okra_int y, okra_int m, okra_int d)
{
    okra_int year = y - (m <= 2), day = (153 * ((m + 9) % 12) + 2) / 5 + d - 1,
             all = 365 * year + year / 4 - year / 100 + year / 400 + day - 719468;
    return (double)all;
}

bool okra_date_(const char *p, const char *end, double *days)
{
    static const int length[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    okra_int v[6] = {0};
    int n = 0;
    char first = 0;
    while (p < end && *p == ' ') {
        p++;
    }
    while (n < 6 && p < end && okra_whole_(&p, end, &v[n])) {
        char c = p < end ? *p : 0;
        n++;
        first = n == 1 ? c : first;
        bool goes_on = n == 1   ? c && strchr("-/.", c) != NULL
                       : n == 2 ? c == first
                       : n == 3 ? c == ' ' || c == 'T'
                                : c == ':' && n < 6;
        if (!goes_on) {
            break;
        }
        p++;
    }
    while (p < end && n > 3 && (*p == 'Z' || *p == '.' || isdigit((unsigned char)*p))) {
        p++; /* parts of a second */
    }
    while (p < end && *p == ' ') {
        p++;
    }
    okra_int year = first == '.' ? v[2] : v[0], day = first == '.' ? v[0] : v[2];
    if (n < 3 || p < end || year < 1000 || year > 9999 || v[1] < 1 || v[1] > 12 ||
        day < 1 || day > length[v[1] - 1] || v[3] > 24 || v[4] > 59 || v[5] > 60) {
        return false;
    }
    *days = days_of(year, v[1], day) + (double)(v[3] * 3600 + v[4] * 60 + v[5]) / 86400;
    return true;
}

/* ---- evidence ---- */

/* The texts of the first LOOK + 1 records, record by record; the field of each is `kind`.
 */
typedef struct look {
    char *const *texts;
    okra_int records, columns;
} look;

static const char *at(const look *l, okra_int record, okra_int column)
{
    return l->texts[record * l->columns + column];
}

static bool is_value(const char *text, bool *gap)
{
    const char *end = text + strlen(text);
    double value;
    okra_token_ token = okra_number_(text, end, &value);
    *gap = token == OKRA_TOKEN_MISSING_;
    return token != OKRA_TOKEN_TEXT_ || okra_date_(text, end, &value);
}

/* Numbers or dates, and perhaps gaps, below a text? */
static bool values_below(const look *l, okra_int j)
{
    bool gap, some = false;
    if (is_value(at(l, 0, j), &gap)) {
        return false;
    }
    for (okra_int i = 1; i < l->records; i++) {
        if (!is_value(at(l, i, j), &gap)) {
            return false;
        }
        some = some || !gap;
    }
    return some;
}

/* How often the first text comes again, and how many others come once, below it. */
static okra_status repeats(const look *l, okra_int j, okra_int *again, okra_int *once)
{
    OWNED const char **below = NULL;
    okra_int n = l->records - 1;
    MAKE(below, n);
    *again = *once = 0;
    for (okra_int i = 0; i < n; i++) {
        below[i] = at(l, i + 1, j);
        *again += strcmp(below[i], at(l, 0, j)) == 0;
    }
    qsort(below, (size_t)n, sizeof *below, okra_by_text_);
    for (okra_int i = 0; i < n; i++) {
        *once += (i == 0 || strcmp(below[i], below[i - 1]) != 0) &&
                 (i == n - 1 || strcmp(below[i], below[i + 1]) != 0);
    }
    return OKRA_OK;
}

static bool usual_name(const char *text)
{
    static const char *const usual[] = {
        "answer",  "category", "class",  "date",     "description", "feature", "features",
        "form",    "formula",  "gene",   "id",       "inflected",   "input",   "key",
        "label",   "labels",   "lemma",  "molecule", "name",        "output",  "plural",
        "protein", "question", "sample", "sequence", "singular",    "smiles",  "source",
        "stem",    "tag",      "tags",   "target",   "text",        "title",   "type",
        "value",   "word",     "x",      "y"};
    for (size_t k = 0; k < sizeof usual / sizeof *usual; k++) {
        if (strcasecmp(text, usual[k]) == 0) {
            return true;
        }
    }
    return false;
}

/* Names (true) or a row, and whether that is beyond doubt; `gaps`: it has some. */
static okra_status weigh(const look *l, bool gaps, bool *names, bool *sure)
{
    enum { RARE = 20 }; /* one text in twenty may come once */
    bool usual = true, repeat = false;
    *names = *sure = false;
    for (okra_int j = 0; j < l->columns; j++) {
        if (values_below(l, j)) {
            *names = *sure = true;
            return OKRA_OK;
        }
    }
    *sure = gaps;
    for (okra_int j = 0; j < l->columns && !gaps; j++) {
        okra_int again, once;
        CHK(repeats(l, j, &again, &once));
        for (okra_int k = 0; k < j; k++) {
            again += strcmp(at(l, 0, j), at(l, 0, k)) == 0;
        }
        if (again > 0) {
            *sure = true;
            return OKRA_OK;
        }
        usual = usual && usual_name(at(l, 0, j));
        repeat = repeat || (l->records > 5 && once * RARE <= l->records);
    }
    *names = !gaps && (usual || repeat);
    return OKRA_OK;
}

static void tell(const okra_source_ *source, const look *l, bool names)
{
    char line[160] = "";
    for (okra_int j = 0; j < l->columns && strlen(line) < 100; j++) {
        size_t used = strlen(line);
        snprintf(line + used, sizeof line - used, "%s%.40s", j ? ", " : "", at(l, 0, j));
    }
    okra_warn_(source->ctx,
               "%s: the first line (%s) is taken as %s; --header %s (in Python "
               "header=%s) takes it as %s",
               source->name, line, names ? "names of columns" : "a row",
               names ? "no" : "yes", names ? "False" : "True",
               names ? "a row" : "names of columns");
}

okra_status okra_table_header_(const okra_source_ *source, okra_table_ t,
                               const okra_table_shape_ *s, bool texts, bool *header)
{
    FREED_BY(okra_texts_free_) okra_texts_ seen = {0};
    look l = {.columns = OKRA_MIN_(s->columns, COLUMNS)};
    bool more = true, sure = true;
    double value;
    int set = okra_context_header_(source->ctx);
    *header = set > 0 || (set == 0 && !s->numbers && (!texts || s->columns > 1));
    bool kinds = source->inputs && !source->like && s->columns > 1 &&
                 (!source->part || *source->part == '!');
    if (set != 0 || s->numbers || s->records < 2 || !(texts || kinds || s->gaps)) {
        *header = *header && (set > 0 || !s->gaps);
        return OKRA_OK;
    }
    l.records = OKRA_MIN_(s->records, LOOK + 1);
    for (okra_int k = 0; k < l.records * s->columns; k++) {
        CHK(okra_table_next_(&t, &more));
        if (t.column <= l.columns) { /* a number, however it is written, is "0" */
            const char *zero = "0";
            bool number = okra_table_number_(&t, &value) == OKRA_TOKEN_NUMBER_;
            CHK(okra_texts_add_(&seen, number ? zero : t.begin,
                                number ? zero + 1 : t.close));
        }
    }
    CHK(okra_texts_done_(&seen));
    l.texts = seen.pointers;
    CHK(weigh(&l, s->gaps > 0, header, &sure));
    *header = *header || (!texts && !sure); /* of several kinds: without a number */
    if (!sure) {
        tell(source, &l, *header);
    }
    return OKRA_OK;
}

/* ---- columns without a name ---- */

okra_status okra_table_leave_unnamed_(const okra_source_ *source, okra_table_ t,
                                      const okra_table_shape_ *s, okra_columns_choice_ *c)
{
    OWNED double *last = NULL;
    bool more = true;
    double value;
    MAKE(last, s->columns);
    for (okra_int k = 0; k < s->records * s->columns; k++) {
        CHK(okra_table_next_(&t, &more));
        okra_int j = t.column - 1;
        if (k < s->columns) {
            last[j] = t.begin == t.close && c->taken[j] ? -1 : (double)NAN;
        } else if (!isnan(last[j])) { /* infinite: nothing but gaps */
            okra_token_ token = okra_table_number_(&t, &value);
            bool gap = token == OKRA_TOKEN_MISSING_ && (last[j] == -1 || isinf(last[j])),
                 next = token == OKRA_TOKEN_NUMBER_ &&
                        (value == last[j] + 1 || (last[j] == -1 && value == 1));
            last[j] = gap ? (double)INFINITY : next ? value : (double)NAN;
        }
    }
    for (okra_int j = 0; j < s->columns && c->count > 1; j++) {
        if (!isnan(last[j])) {
            okra_warn_(source->ctx,
                       "%s: left out: column %" PRId64
                       ", which has no name and %s; with a name it is kept",
                       source->name, j + 1, isinf(last[j]) ? "is empty" : "counts rows");
            c->taken[j] = false;
            c->count--;
        }
    }
    return OKRA_OK;
}
