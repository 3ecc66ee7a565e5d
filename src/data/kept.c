/*
 * kept.c: a bag checked against the tables of those who filled it.
 */
#include "data/kept.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- sizes ---- */

static int find(const okra_sizes_ *sizes, const char *name, size_t length)
{
    for (int k = 0; k < sizes->count; k++) {
        if (strlen(sizes->of[k].name) == length &&
            memcmp(sizes->of[k].name, name, length) == 0) {
            return k;
        }
    }
    return -1;
}

static void set(okra_sizes_ *sizes, const char *name, size_t length, okra_int value)
{
    int k = find(sizes, name, length);
    if (k < 0 && sizes->count < OKRA_SIZES_MOST_ && length < sizeof sizes->of[0].name) {
        k = sizes->count++;
        memcpy(sizes->of[k].name, name, length);
        sizes->of[k].name[length] = '\0';
    }
    if (k >= 0) {
        sizes->of[k].value = value;
    }
}

void okra_sizes_set_(okra_sizes_ *sizes, const char *name, okra_int value)
{
    set(sizes, name, strlen(name), value);
}

okra_int okra_sizes_get_(const okra_sizes_ *sizes, const char *name)
{
    int k = find(sizes, name, strlen(name));
    return k < 0 ? -1 : sizes->of[k].value;
}

static bool letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static size_t name_length(const char *text)
{
    size_t length = 0;
    while (letter(text[length])) {
        length++;
    }
    return length;
}

/* The value of a sum of terms; false: a size in it does not exist. */
static bool evaluate(const okra_sizes_ *sizes, const char *text, double *out)
{
    double sum = 0;
    const char *at = text;
    while (*at) {
        double term = 1;
        at += *at == '+';
        if (!letter(*at)) {
            char *end = NULL;
            term = okra_strtod_(at, &end);
            if (end == at) {
                return false;
            }
            at = end + (*end == '*');
            if (*end != '*') {
                sum += term;
                continue;
            }
        }
        size_t length = name_length(at);
        int k = find(sizes, at, length);
        if (k < 0 || sizes->of[k].value < 0) {
            return false;
        }
        sum += term * (double)sizes->of[k].value;
        at += length;
    }
    *out = sum;
    return true;
}

/* Is `found` the size that the text says? A new name alone is given that value. */
static bool fits(okra_sizes_ *sizes, const char *text, okra_int found, double *expected)
{
    size_t length = name_length(text);
    if (length > 0 && !text[length] && find(sizes, text, length) < 0) {
        set(sizes, text, length, found);
    }
    *expected = -1;
    return evaluate(sizes, text, expected) && *expected == (double)found;
}

/* ---- one row ---- */

typedef struct checked {
    const okra_kept_ *row;
    char name[160];
    okra_bag_ *bag;
    okra_sizes_ *sizes;
} checked;

static okra_status check_value(const checked *c, double value, double low, double high)
{
    unsigned flags = c->row->flags;
    if (isfinite(value) && value >= low && value <= high &&
        !(flags & OKRA_KEPT_WHOLE_ && value != floor(value)) &&
        !(flags & OKRA_KEPT_POSITIVE_ && !(value > 0))) {
        return OKRA_OK;
    }
    char range[80] = "a finite number";
    if (c->row->low || c->row->high) {
        snprintf(range, sizeof range, "%s from %g to %g",
                 flags & OKRA_KEPT_WHOLE_ ? "an integer" : "a number", low, high);
    } else if (flags & OKRA_KEPT_POSITIVE_) {
        snprintf(range, sizeof range, "a finite number above 0");
    }
    return okra_fail_(OKRA_EFORMAT, "'%s' is or holds %g, expected %s", c->name, value,
                      range);
}

/* The bounds of values; false: a size in them does not exist. */
static bool bounds(const checked *c, double *low, double *high)
{
    *low = -(double)INFINITY;
    *high = (double)INFINITY;
    return (!c->row->low || evaluate(c->sizes, c->row->low, low)) &&
           (!c->row->high || evaluate(c->sizes, c->row->high, high));
}

static okra_status no_size(const checked *c)
{
    return okra_fail_(OKRA_EFORMAT, "'%s' does not belong to a model of this kind",
                      c->name);
}

/* Every value of the matrix, and its diagonal. */
static okra_status check_values(const checked *c, okra_mat_ A)
{
    okra_status st = OKRA_OK;
    double low, high;
    bool plain = !c->row->low && !c->row->high &&
                 !(c->row->flags & (OKRA_KEPT_WHOLE_ | OKRA_KEPT_POSITIVE_));
    if (!bounds(c, &low, &high)) {
        return no_size(c);
    }
    if (!A.p) {
        return OKRA_OK; /* on an engine: whoever writes them looks at them */
    }
    if (plain) {
        st = okra_finite_(A.p, A.rows, A.cols, A.ld);
        if (st != OKRA_OK) {
            okra_message_prefix_("'%s'", c->name);
            return st;
        }
    }
    for (okra_int i = 0; !plain && i < A.rows * A.cols; i++) {
        CHK(check_value(c, A.p[i / A.cols * A.ld + i % A.cols], low, high));
    }
    for (okra_int i = 0; c->row->flags & OKRA_KEPT_FACTOR_ && i < A.rows; i++) {
        REFUSE_IF(!(A.p[i * A.ld + i] > 0), OKRA_EFORMAT,
                  "'%s' has %g on its diagonal, expected numbers above 0", c->name,
                  A.p[i * A.ld + i]);
    }
    return OKRA_OK;
}

static okra_status check_matrix(const checked *c, okra_mat_ A)
{
    double expected_rows = 0, expected_cols = 0;
    bool good = fits(c->sizes, c->row->rows, A.rows, &expected_rows);
    good = fits(c->sizes, c->row->cols, A.cols, &expected_cols) && good;
    if (good) {
        return check_values(c, A);
    }
    if (expected_rows < 0 || expected_cols < 0) {
        return no_size(c);
    }
    return okra_fail_(OKRA_EFORMAT, "'%s' is %lld x %lld, expected %.0f x %.0f", c->name,
                      (long long)A.rows, (long long)A.cols, expected_rows, expected_cols);
}

static okra_status check_row(const checked *c)
{
    const okra_kept_ *row = c->row;
    double number = 0, low, high, other = 0;
    okra_mat_ A = {0};
    bool there = false;
    if (row->sort == OKRA_KEPT_EQUAL_) {
        bool good = evaluate(c->sizes, row->rows, &number) &&
                    evaluate(c->sizes, row->cols, &other) && number == other;
        return good ? OKRA_OK
                    : okra_fail_(OKRA_EFORMAT, "there are %.0f %s, expected %.0f", number,
                                 row->name, other);
    }
    if (row->sort == OKRA_KEPT_MATRIX_) {
        A = okra_bag_mat_(c->bag, c->name);
        there = okra_bag_has_(c->bag, c->name);
    } else if (row->sort == OKRA_KEPT_NUMBER_) {
        there = okra_bag_get_number_(c->bag, c->name, &number);
    } else {
        there = okra_bag_get_text_(c->bag, c->name) != NULL;
    }
    if (!there) {
        static const char *const what[] = {"matrix", "number", "text"};
        return row->flags & OKRA_KEPT_OPTIONAL_
                   ? OKRA_OK
                   : okra_fail_(OKRA_EFORMAT, "the %s '%s' is missing", what[row->sort],
                                c->name);
    }
    okra_bag_declare_(c->bag, (int)row->sort, c->name);
    if (row->sort == OKRA_KEPT_MATRIX_) {
        return check_matrix(c, A);
    }
    if (row->sort == OKRA_KEPT_NUMBER_ && !(row->flags & OKRA_KEPT_LOOSE_)) {
        return bounds(c, &low, &high) ? check_value(c, number, low, high) : no_size(c);
    }
    return OKRA_OK;
}

/* ---- tables ---- */

static void full_name(const char *prefix, const char *name, char out[160])
{
    snprintf(out, 160, "%s%s%s", prefix ? prefix : "", prefix && *name ? "." : "", name);
}

okra_status okra_kept_check_(const okra_kept_ *rows, const char *prefix, okra_bag_ *bag,
                             okra_sizes_ *sizes)
{
    okra_status st = OKRA_OK;
    for (; rows->name && st == OKRA_OK; rows++) {
        checked c = {.row = rows, .bag = bag, .sizes = sizes};
        full_name(prefix, rows->name, c.name);
        st = check_row(&c);
    }
    return st;
}

static bool present(const okra_kept_ *row, const char *prefix, const okra_bag_ *bag)
{
    char name[160];
    double number;
    full_name(prefix, row->name ? row->name : "", name);
    return row->name &&
           (row->sort == OKRA_KEPT_MATRIX_   ? okra_bag_has_(bag, name)
            : row->sort == OKRA_KEPT_NUMBER_ ? okra_bag_get_number_(bag, name, &number)
                                             : okra_bag_get_text_(bag, name) != NULL);
}

okra_status okra_kept_check_forms_(const okra_kept_ *const *forms, const char *prefix,
                                   okra_bag_ *bag, okra_sizes_ *sizes)
{
    while (forms[1] && !present(forms[0], prefix, bag)) {
        forms++;
    }
    return okra_kept_check_(forms[0], prefix, bag, sizes);
}

okra_status okra_kept_check_all_(const okra_bag_ *bag)
{
    const char *name = okra_bag_undeclared_(bag);
    return name ? okra_fail_(OKRA_EFORMAT,
                             "'%s' is nothing that a model of this method and these "
                             "kernels keeps",
                             name)
                : OKRA_OK;
}
