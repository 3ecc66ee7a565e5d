/*
 * values.c: the parameters of kernels and transforms: single values, lists {a,b,c},
 * ranges lo..hi[:steps] and auto; and messages that point at a character.
 */
#include "kernel/expression/expr.h"
#include "okra/program.h"

#include <ctype.h>

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

char okra_parse_next_(okra_parser_ *p)
{
    while (isspace((unsigned char)p->text[p->at])) {
        p->at++;
    }
    return p->text[p->at];
}

static const char digits[] = "0123456789";

size_t okra_parse_number_(const char *text, bool sign)
{
    const char *s = text;
    s += sign && (*s == '-' || *s == '+');
    size_t whole = strspn(s, digits), fraction = 0;
    s += whole;
    if (*s == '.' && s[1] != '.') {
        fraction = strspn(s + 1, digits);
        s += whole + fraction > 0 ? 1 + fraction : 0;
    }
    if (whole + fraction == 0) {
        return 0;
    }
    if (*s == 'e' || *s == 'E') {
        size_t signs = s[1] == '-' || s[1] == '+', power = strspn(s + 1 + signs, digits);
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

static okra_status append(okra_grid_axis_ *axis, const char *text, size_t length)
{
    RESIZE(axis->values, axis->count + 1);
    GOT(axis->values[axis->count] = okra_strndup_(text, length));
    axis->count++;
    return OKRA_OK;
}

/* Log-spaced from lo to hi, to 12 digits so that powers of ten stay short. */
static okra_status range(okra_parser_ *p, bool whole, okra_grid_axis_ *l)
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
        size_t length = strspn(p->text + p->at + 1, digits);
        steps = length ? okra_strtod_(p->text + p->at + 1, NULL) : 0;
        p->at += 1 + length;
        every = false;
    }
    PARSE_REFUSE_IF(
        second == 0 || !(lo > 0 && lo < hi && isfinite(hi)) ||
            !(steps >= 2 && steps <= STEPS_MOST),
        at, "a range is lo..hi or lo..hi:steps with 0 < lo < hi and 2 to %d steps",
        STEPS_MOST);
    for (okra_int k = 0; k < (okra_int)steps; k++) {
        double share = (double)k / (steps - 1);
        double value = every ? ceil(lo) + (double)k : lo * pow(hi / lo, share);
        okra_number_format_(text, sizeof text, 12, whole ? round(value) : value);
        if (l->count == 0 || strcmp(l->values[l->count - 1], text) != 0) {
            CHK(append(l, text, strlen(text)));
        }
    }
    return OKRA_OK;
}

static okra_status braces(okra_parser_ *p, okra_grid_axis_ *l)
{
    do {
        p->at++; /* { or , */
        okra_parse_next_(p);
        size_t length = word(p->text + p->at);
        PARSE_REFUSE_IF(length == 0, p->at, "expected a value");
        CHK(append(l, p->text + p->at, length));
        p->at += length;
    } while (okra_parse_next_(p) == ',');
    PARSE_REFUSE_IF(p->text[p->at] != '}', p->at, "expected ',' or '}'");
    p->at++;
    return OKRA_OK;
}

okra_status okra_parse_list_(okra_parser_ *p, bool numeric, bool whole,
                             okra_grid_axis_ *out, bool *grid)
{
    const char *s = p->text + p->at;
    size_t length = okra_parse_number_(s, true);
    out->begin = p->at;
    out->node = -1;
    *grid = true;
    if (*s == '{') {
        CHK(braces(p, out));
    } else if (numeric && length > 0 && s[length] == '.' && s[length + 1] == '.') {
        CHK(range(p, whole, out));
    } else {
        length = numeric && length > 0 ? length : word(s);
        *grid = numeric && strncmp(s, "auto", 4) == 0; /* auto, auto-align/30 */
        PARSE_REFUSE_IF(length == 0, p->at, "expected a value");
        p->at += length;
        CHK(append(out, s, length));
    }
    out->end = p->at;
    return OKRA_OK;
}

okra_status okra_parse_commas_(okra_parser_ *p, okra_grid_axis_ *out)
{
    while (p->text[p->at] == ',') {
        size_t length = word(p->text + ++p->at);
        PARSE_REFUSE_IF(length == 0, p->at, "expected a value");
        CHK(append(out, p->text + p->at, length));
        p->at += length;
    }
    out->end = p->at;
    return OKRA_OK;
}

okra_status okra_parse_value_(okra_parser_ *p, const char *owner, const okra_option *row,
                              void *field)
{
    FREED_BY(okra_grid_axis_clear_)
    okra_grid_axis_ axis = {.owner = owner, .param = row->name};
    bool whole = row->type == OKRA_OPTION_INT, grid = false;
    bool text = row->type == OKRA_OPTION_TEXT || row->type == OKRA_OPTION_READ;
    okra_parse_next_(p);
    CHK(okra_parse_list_(p, whole || row->type == OKRA_OPTION_NUMBER, whole, &axis,
                         &grid));
    PARSE_REFUSE_IF(
        grid && !p->grid, axis.begin,
        "'%.*s' is a grid of values for selection: a kernel needs one value here",
        (int)OKRA_MIN_(p->at - axis.begin, 40), p->text + axis.begin);
    /* All values are checked as the row says; the first stays in the field. */
    for (okra_int k = axis.count - 1; k >= 0; k--) {
        if (text) { /* the node owns its texts */
            char *copy = k == 0 ? okra_strdup_(axis.values[k]) : NULL;
            *(char **)field = copy;
            GOT(k > 0 || copy);
            continue;
        }
        /* `auto` stands for a number that is found later */
        bool later = p->grid && strncmp(axis.values[k], "auto", 4) == 0;
        okra_status st =
            okra_option_parse_(owner, row, later ? "1" : axis.values[k], field);
        if (st != OKRA_OK) {
            return okra_parse_point_(p, st, axis.begin);
        }
    }
    if (grid) {
        int last = p->kernel->count - 1;
        axis.node = last < 0 ? -1 : p->kernel->nodes[last].serial;
        CHK(okra_grid_add_(p->grid, &axis));
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
    if (length > 0 && okra_parse_next_(p) == '=') {
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
    char next = okra_parse_next_(p);
    bool inside = p->inside;
    p->inside = false;
    if (inside && next == ')') {
        p->at++;
    } else if (next == '(' || inside) {
        PARSE_REFUSE_IF(inside && next != ',', p->at, "expected ',' or ')'");
        do {
            const okra_option *row;
            p->at++; /* ( or , */
            if (okra_parse_next_(p) == ')' && place == 0 && !inside) {
                break;
            }
            size_t at = p->at;
            CHK(find_row(p, table, positional, place++, &row));
            PARSE_REFUSE_IF(given[row - table->rows], at, "%s is given twice", row->name);
            given[row - table->rows] = true;
            CHK(okra_parse_value_(p, table->owner, row, (char *)fields + row->offset));
        } while (okra_parse_next_(p) == ',');
        PARSE_REFUSE_IF(p->text[p->at] != ')', p->at, "expected ',' or ')'");
        p->at++;
    }
    for (size_t k = 0; table->rows[k].name; k++) {
        PARSE_REFUSE_IF(!given[k] && !table->rows[k].preset, start, "%s needs %s",
                        table->owner, table->rows[k].name);
    }
    return OKRA_OK;
}
