/*
 * values.c: the parameters of kernels and transforms: single values, lists {a,b,c},
 * ranges lo..hi[:steps] and auto; and messages that point at a character.
 */
#include "kernel/expression/parse.h"
#include "okra/program.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROWS_MOST = 32, STEPS = 10, STEPS_MOST = 10000 };

/* ---- messages ---- */

okra_status okra_parse_point_(const okra_parser_ *p, okra_status status, size_t at)
{
    enum { BEFORE = 50, AFTER = 30 }; /* how much of a long text is shown */
    size_t length = strlen(p->text), begin = at > BEFORE ? at - BEFORE : 0;
    size_t end = length - at > AFTER ? at + AFTER : length, columns = 0;
    char shown[BEFORE + AFTER + 8];

    /* Whole characters only: bytes 10xxxxxx continue one. */
    while (begin > 0 && ((unsigned char)p->text[begin] & 0xc0) == 0x80) {
        begin++;
    }
    while (end < length && ((unsigned char)p->text[end] & 0xc0) == 0x80) {
        end--;
    }
    snprintf(shown, sizeof shown, "%s%.*s%s", begin ? "..." : "", (int)(end - begin),
             p->text + begin, end < length ? "..." : "");
    for (char *c = shown; *c; c++) {
        *c = iscntrl((unsigned char)*c) ? ' ' : *c;
    }
    for (size_t k = begin; k < at; k++) {
        columns += ((unsigned char)p->text[k] & 0xc0) != 0x80;
    }
    columns += begin ? 3 : 0;
    return okra_fail_(status, "%s\n    %s\n    %*s^", okra_message(), shown, (int)columns,
                      "");
}

okra_status okra_parse_fail_(const okra_parser_ *p, okra_status status, size_t at,
                             const char *format, ...)
{
    char what[512];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    status = okra_fail_(status, "%s: %s", p->what ? p->what : "kernel expression", what);
    return okra_parse_point_(p, status, at);
}

/* ---- words ---- */

void okra_parse_space_(okra_parser_ *p)
{
    while (isspace((unsigned char)p->text[p->at])) {
        p->at++;
    }
}

static size_t digits(const char *s)
{
    size_t k = 0;
    while (isdigit((unsigned char)s[k])) {
        k++;
    }
    return k;
}

size_t okra_parse_number_(const char *text, bool sign)
{
    const char *s = text;
    s += sign && (*s == '-' || *s == '+');
    size_t whole = digits(s), fraction = 0;
    s += whole;
    if (*s == '.' && s[1] != '.') {
        fraction = digits(s + 1);
        s += whole + fraction > 0 ? 1 + fraction : 0;
    }
    if (whole + fraction == 0) {
        return 0;
    }
    if (*s == 'e' || *s == 'E') {
        size_t signs = s[1] == '-' || s[1] == '+', power = digits(s + 1 + signs);
        s += power ? 1 + signs + power : 0;
    }
    return (size_t)(s - text);
}

size_t okra_parse_name_(const char *text)
{
    size_t k = 0;
    while (isalpha((unsigned char)text[k]) ||
           (k > 0 &&
            (isdigit((unsigned char)text[k]) || text[k] == '-' || text[k] == '_'))) {
        k++;
    }
    return k;
}

/* A plain value: a number or a word. */
static size_t word(const char *text)
{
    size_t k = 0;
    while (isalnum((unsigned char)text[k]) || (text[k] && strchr("_.+-/", text[k]))) {
        k++;
    }
    return k;
}

/* ---- values ---- */

typedef struct list {
    char **items;
    okra_int count;
} list;

static void list_clear(list *l)
{
    for (okra_int k = 0; l->items && k < l->count; k++) {
        okra_free_(l->items[k]);
    }
    okra_free_(l->items);
}

static okra_status append(list *l, const char *text, size_t length)
{
    char *copy = okra_strndup_(text, length);
    GOT(copy);
    char **grown = okra_realloc_(l->items, l->count + 1, sizeof *grown);
    if (!grown) {
        okra_free_(copy);
        return OKRA_EMEM;
    }
    l->items = grown;
    l->items[l->count++] = copy;
    return OKRA_OK;
}

static okra_status bad_range(const okra_parser_ *p, size_t at)
{
    return okra_parse_fail_(p, OKRA_EARG, at,
                            "a range is lo..hi or lo..hi:steps with 0 < lo < hi and 2 to "
                            "%d steps",
                            STEPS_MOST);
}

/* Log-spaced from lo to hi, to 12 digits so that powers of ten stay short. */
static okra_status range(okra_parser_ *p, bool whole, list *l)
{
    size_t at = p->at, first = okra_parse_number_(p->text + at, false);
    size_t second = okra_parse_number_(p->text + at + first + 2, false);
    double lo = okra_strtod_(p->text + at, NULL),
           hi = okra_strtod_(p->text + at + first + 2, NULL);
    double steps = whole ? floor(hi) - ceil(lo) + 1 : STEPS;
    bool every = whole;
    char text[32];

    p->at += first + 2 + second;
    if (p->text[p->at] == ':') {
        size_t length = digits(p->text + p->at + 1);
        steps = length ? okra_strtod_(p->text + p->at + 1, NULL) : 0;
        p->at += 1 + length;
        every = false;
    }
    if (second == 0 || !(lo > 0 && lo < hi && isfinite(hi)) ||
        !(steps >= 2 && steps <= STEPS_MOST)) {
        return bad_range(p, at);
    }
    for (okra_int k = 0; k < (okra_int)steps; k++) {
        double share = (double)k / (steps - 1);
        double value = every ? ceil(lo) + (double)k : lo * pow(hi / lo, share);
        okra_number_format_(text, sizeof text, 12, whole ? round(value) : value);
        if (l->count == 0 || strcmp(l->items[l->count - 1], text) != 0) {
            CHK(append(l, text, strlen(text)));
        }
    }
    return OKRA_OK;
}

static okra_status braces(okra_parser_ *p, list *l)
{
    do {
        p->at++; /* { or , */
        okra_parse_space_(p);
        size_t length = word(p->text + p->at);
        PARSE_REFUSE_IF(length == 0, p->at, "expected a value");
        CHK(append(l, p->text + p->at, length));
        p->at += length;
        okra_parse_space_(p);
    } while (p->text[p->at] == ',');
    PARSE_REFUSE_IF(p->text[p->at] != '}', p->at, "expected ',' or '}'");
    p->at++;
    return OKRA_OK;
}

/* Reads what stands at the cursor; *grid: it is not a single value. */
static okra_status read_values(okra_parser_ *p, bool numeric, bool whole, list *l,
                               bool *grid)
{
    const char *s = p->text + p->at;
    size_t length = okra_parse_number_(s, true);
    *grid = true;
    if (*s == '{') {
        return braces(p, l);
    }
    if (numeric && length > 0 && s[length] == '.' && s[length + 1] == '.') {
        return range(p, whole, l);
    }
    if (!numeric || length == 0) {
        length = word(s);
    }
    *grid = numeric && strncmp(s, "auto", 4) == 0; /* auto, auto-align/30 */
    PARSE_REFUSE_IF(length == 0, p->at, "expected a value");
    p->at += length;
    return append(l, s, length);
}

okra_status okra_parse_list_(okra_parser_ *p, bool numeric, bool whole, bool commas,
                             char ***values, okra_int *count, bool *grid)
{
    FREED_BY(list_clear) list found = {NULL, 0};
    CHK(read_values(p, numeric, whole, &found, grid));
    while (commas && p->text[p->at] == ',') {
        size_t length = word(p->text + ++p->at);
        PARSE_REFUSE_IF(length == 0, p->at, "expected a value");
        CHK(append(&found, p->text + p->at, length));
        p->at += length;
    }
    *grid = *grid || commas;
    if (*grid) {
        *values = found.items;
        *count = found.count;
        found.items = NULL;
    }
    return OKRA_OK;
}

void okra_parse_list_free_(char **values, okra_int count)
{
    list l = {values, count};
    list_clear(&l);
}

/* Checks all values as the row says and leaves the first in the field. */
static okra_status check_values(const okra_parser_ *p, const char *owner,
                                const okra_option *row, size_t at, list *l, void *field)
{
    okra_status st = OKRA_OK;
    for (okra_int k = l->count - 1; k >= 0; k--) {
        if (okra_option_is_text_(row)) { /* the node owns its texts */
            char *copy = k == 0 ? okra_strdup_(l->items[k]) : NULL;
            if (k == 0 && !copy) {
                return OKRA_EMEM;
            }
            *(char **)field = copy;
            continue;
        }
        /* `auto` stands for a number that is found later */
        bool later = p->grid && strncmp(l->items[k], "auto", 4) == 0;
        st = okra_option_parse_(owner, row, later ? "1" : l->items[k], field);
        if (st != OKRA_OK) {
            return okra_parse_point_(p, st, at);
        }
    }
    return st;
}

okra_status okra_parse_value_(okra_parser_ *p, const char *owner, const okra_option *row,
                              void *field)
{
    FREED_BY(list_clear) list values = {NULL, 0};
    bool whole = row->type == OKRA_OPTION_INT, grid = false;
    bool numeric = whole || row->type == OKRA_OPTION_NUMBER;

    okra_parse_space_(p);
    size_t at = p->at;
    CHK(read_values(p, numeric, whole, &values, &grid));
    PARSE_REFUSE_IF(
        grid && !p->grid, at,
        "'%.*s' is a grid of values for selection: a kernel needs one value here",
        (int)OKRA_MIN_(p->at - at, 40), p->text + at);
    CHK(check_values(p, owner, row, at, &values, field));
    if (grid) {
        CHK(okra_grid_add_(p->grid, at, p->at, values.items, values.count));
        values.items = NULL;
        int last = p->kernel->count - 1;
        okra_grid_own_(p->grid, owner, row->name,
                       last < 0 ? -1 : p->kernel->nodes[last].serial);
    }
    return OKRA_OK;
}

/* ---- parameters ---- */

/* The row that the cursor's argument is for; the cursor moves to the value. */
static okra_status find_row(okra_parser_ *p, const okra_option_table *table,
                            bool positional, size_t place, const okra_option **row)
{
    size_t at = p->at, length = okra_parse_name_(p->text + at);
    p->at += length;
    okra_parse_space_(p);
    if (length > 0 && p->text[p->at] == '=') {
        const char *names[ROWS_MOST];
        char name[64];
        size_t count = 0;
        p->at++;
        *row = okra_option_find_(table, p->text + at, length);
        if (*row) {
            return OKRA_OK;
        }
        while (table->rows[count].name) {
            names[count] = table->rows[count].name;
            count++;
        }
        snprintf(name, sizeof name, "%.*s", (int)OKRA_MIN_(length, 63), p->text + at);
        const char *near = okra_nearest(name, names, count);
        return okra_parse_fail_(p, OKRA_EARG, at, "%s has no parameter '%s'%s%s%s",
                                table->owner, name, near ? ", did you mean '" : "",
                                near ? near : "", near ? "'?" : "");
    }
    p->at = at;
    PARSE_REFUSE_IF(!table->rows[0].name, at, "%s has no parameters", table->owner);
    PARSE_REFUSE_IF(!positional, at, "expected name=value, as in %s(%s=...)",
                    table->owner, table->rows[0].name);
    size_t rows = 0;
    while (table->rows[rows].name) {
        rows++;
    }
    PARSE_REFUSE_IF(place >= rows, at, "%s takes %d values at most", table->owner,
                    (int)rows);
    *row = &table->rows[place];
    return OKRA_OK;
}

okra_status okra_parse_params_(okra_parser_ *p, const okra_option_table *table,
                               bool positional, void *fields)
{
    bool given[ROWS_MOST] = {false};
    size_t start = p->at, place = 0;

    CHK(okra_option_defaults_(table, fields));
    okra_parse_space_(p);
    bool inside = p->inside;
    p->inside = false;
    if (inside && p->text[p->at] == ')') {
        p->at++;
    } else if (p->text[p->at] == '(' || inside) {
        PARSE_REFUSE_IF(inside && p->text[p->at] != ',', p->at, "expected ',' or ')'");
        do {
            const okra_option *row;
            p->at++; /* ( or , */
            okra_parse_space_(p);
            if (place == 0 && p->text[p->at] == ')' && !inside) {
                break;
            }
            size_t at = p->at;
            CHK(find_row(p, table, positional, place++, &row));
            PARSE_REFUSE_IF(given[row - table->rows], at, "%s is given twice", row->name);
            given[row - table->rows] = true;
            CHK(okra_parse_value_(p, table->owner, row, (char *)fields + row->offset));
            okra_parse_space_(p);
        } while (p->text[p->at] == ',');
        PARSE_REFUSE_IF(p->text[p->at] != ')', p->at, "expected ',' or ')'");
        p->at++;
    }
    for (size_t k = 0; table->rows[k].name; k++) {
        PARSE_REFUSE_IF(!given[k] && !table->rows[k].preset, start, "%s needs %s",
                        table->owner, table->rows[k].name);
    }
    return OKRA_OK;
}
