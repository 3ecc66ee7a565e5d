/*
 * window.c: which candidates fit a query: by mass, formula and columns of the index.
 *
 * A window is read once; every query then has an interval of masses, which the sorted
 * rows of a shard are cut by, and tests of single rows: the formula, bounds of columns. A
 * formula is also a mass, so that it cuts, too. A query that does not tell what a window
 * needs fits nothing: a warning, and an error where the context is strict or where no
 * query tells it.
 */
#include "candidates/set.h"

#include "okra/more/objects.h"

#include <strings.h>

/* One part of a window, as it was written. */
typedef struct part {
    char name[64];
    bool around;       /* else from..to     */
    double low, share; /* around: so much, and so much of the query's value */
    double high;
} part;

enum { PARTS = OKRA_COLUMNS_MOST_ };
static const double formula_away = 0.001; /* rounding of tables of masses */

static okra_status not_a_window(const char *text)
{
    return okra_fail_(OKRA_EARG,
                      "within is '%s', expected parts such as mass=10ppm, mass=0.5Da, "
                      "formula, COLUMN=0.5 or COLUMN=1..3 between commas",
                      text);
}

/* NAME=VALUEunit, NAME=LOW..HIGH or formula. */
static bool parse_part(const char *text, size_t length, part *p)
{
    char copy[160], *end = NULL;
    *p = (part){.around = true};
    if (length >= sizeof copy) {
        return false;
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    size_t name = strcspn(copy, "=");
    if (name == 0 || name >= sizeof p->name) {
        return false;
    }
    memcpy(p->name, copy, name);
    if (strcasecmp(p->name, "formula") == 0) {
        return !copy[name];
    }
    if (!copy[name]) {
        return false;
    }
    bool mass = strcasecmp(p->name, "mass") == 0;
    const char *value = copy + name + 1, *dots = strstr(value, "..");
    if (dots) {
        p->around = false;
        double values[2];
        bool good = okra_number_(value, dots, &values[0]) == OKRA_TOKEN_NUMBER_ &&
                    okra_number_(dots + 2, value + strlen(value), &values[1]) ==
                        OKRA_TOKEN_NUMBER_;
        p->low = good ? values[0] : 0;
        p->high = good ? values[1] : 0;
        return good && p->low <= p->high;
    }
    double away = okra_strtod_(value, &end);
    bool ppm = strcmp(end, "ppm") == 0, dalton = mass && strcmp(end, "Da") == 0;
    p->share = ppm ? 1e-6 * away : 0;
    p->low = ppm ? 0 : away;
    return end != value && away >= 0 && isfinite(away) &&
           (ppm || dalton || (!mass && !*end));
}

static int column_of(const okra_index *index, const char *name)
{
    for (int k = 0; index && k < index->columns; k++) {
        if (strcasecmp(index->column[k], name) == 0) {
            return k;
        }
    }
    return -1;
}

static okra_status parse_within(const char *text, const okra_index *index, part *parts,
                                int *count)
{
    for (const char *at = text; *at || at == text;) {
        size_t length = strcspn(at, ",");
        part *p = &parts[*count];
        if (*count == PARTS || !parse_part(at, length, p)) {
            return not_a_window(text);
        }
        bool known =
            !(index && index->width > 0) &&
            (strcasecmp(p->name, "mass") == 0 || strcasecmp(p->name, "formula") == 0);
        REFUSE_IF(!known && column_of(index, p->name) < 0, OKRA_EARG,
                  "within is '%s', but the %s no column '%s'", text,
                  index ? "index has" : "candidates have", p->name);
        (*count)++;
        if (!at[length]) {
            return OKRA_OK;
        }
        at += length + 1;
        if (!*at) {
            break;
        }
    }
    return not_a_window(text);
}

/* ---- what a query tells ---- */

/* The number that a query has under a name; NaN: it does not tell. */
static double number_of(const okra_data *x, okra_int i, const char *name)
{
    okra_int length = 0;
    double value = 0;
    const char *text = okra_data_about(x, i, name, &length);
    return text && okra_number_(text, text + length, &value) == OKRA_TOKEN_NUMBER_
               ? value
               : (double)NAN;
}

/* Its formula, and the mass of that; 0: it does not tell. */
static uint64_t formula_of(const okra_data *x, okra_int i, const char *given,
                           double *mass)
{
    okra_int length = 0;
    const char *text = given ? given : okra_data_about(x, i, "FORMULA", &length);
    okra_atom_counts_ atoms;
    if (text) {
        return okra_formula_key_(text, given ? strlen(given) : (size_t)length, mass);
    }
    okra_atoms_(x, i, &atoms);
    *mass = atoms.mass;
    return okra_atoms_key_(&atoms);
}

static double value_of(const okra_index *index, const okra_data *x, okra_int i,
                       const okra_window *request, const char *name)
{
    if (strcasecmp(name, "mass") == 0) {
        double mass = request->masses ? request->masses[i] : okra_data_mass(x, i);
        return mass > 0 && isfinite(mass) ? mass : (double)NAN;
    }
    int column = column_of(index, name);
    return request->values ? request->values[i * index->columns + column]
                           : number_of(x, i, name);
}

/* Narrows the window of query i by one part; false: the query does not tell. */
static bool narrow(const okra_index *index, const okra_data *x,
                   const okra_window *request, const part *p, okra_int i,
                   okra_windows_ *w, int filter)
{
    double low = p->low, high = p->high, mass = 0;
    bool formula = strcasecmp(p->name, "formula") == 0;
    if (formula) {
        w->formula[i] =
            formula_of(x, i, request->formulas ? request->formulas[i] : NULL, &mass);
        low = mass - formula_away;
        high = mass + formula_away;
    } else if (p->around) {
        double value = value_of(index, x, i, request, p->name);
        double away = p->low + p->share * fabs(value);
        low = value - away;
        high = value + away;
    }
    bool tells = formula ? w->formula[i] != 0 : !isnan(low);
    if (filter < 0) {
        w->low[i] = fmax(w->low[i], tells ? low : (double)INFINITY);
        w->high[i] = fmin(w->high[i], tells ? high : -(double)INFINITY);
    } else {
        double *bound = w->bound + 2 * (i * w->filters + filter);
        bound[0] = tells ? low : (double)INFINITY;
        bound[1] = tells ? high : -(double)INFINITY;
    }
    return tells;
}

static okra_status told(okra_context *ctx, const okra_data *x, const part *p,
                        okra_int first, okra_int silent)
{
    bool mass = strcasecmp(p->name, "mass") == 0;
    okra_int length = 0;
    const char *adduct = mass ? okra_data_about(x, first, "ADDUCT", &length) : NULL;
    char why[96] = "";
    if (silent == 0) {
        return OKRA_OK;
    }
    if (adduct) {
        snprintf(why, sizeof why, " (the adduct '%.*s' is not known)",
                 (int)OKRA_MIN_(length, 40), adduct);
    }
    REFUSE_IF(
        silent == x->n || okra_context_strict_(ctx) > 0, OKRA_EARG,
        "%s: object %lld (counted from 0) does not tell its %s, which a window needs%s",
        x->source, (long long)first, p->name,
        adduct ? why
        : mass ? ": a spectrum has a precursor and an adduct or charge"
               : "");
    okra_warn_(
        ctx,
        "%s: %lld of %lld objects do not tell their %s, which a window needs: they "
        "get no candidates%s",
        x->source, (long long)silent, (long long)x->n, p->name, why);
    return OKRA_OK;
}

okra_status okra_windows_open_(okra_context *ctx, const okra_index *index,
                               const okra_data *x, const okra_window *request,
                               okra_windows_ *w)
{
    part parts[PARTS];
    int count = 0, filter[PARTS];
    w->used = request->within && *request->within;
    if (!w->used) {
        return OKRA_OK;
    }
    CHK(parse_within(request->within, index, parts, &count));
    for (int k = 0; k < count; k++) {
        filter[k] = -1;
        if (strcasecmp(parts[k].name, "formula") == 0) {
            w->formulas = true;
        } else if (strcasecmp(parts[k].name, "mass") != 0) {
            filter[k] = w->filters;
            w->column[w->filters++] = column_of(index, parts[k].name);
        }
    }
    ZMAKE(w->formula, x->n);
    MAKE(w->low, x->n);
    MAKE(w->high, x->n);
    MAKE(w->bound, 2 * x->n * w->filters);
    for (okra_int i = 0; i < x->n; i++) {
        w->low[i] = -(double)INFINITY;
        w->high[i] = (double)INFINITY;
    }
    for (int k = 0; k < count; k++) {
        okra_int silent = 0, first = 0;
        for (okra_int i = 0; i < x->n; i++) {
            bool tells = narrow(index, x, request, &parts[k], i, w, filter[k]);
            first = tells || silent > 0 ? first : i;
            silent += !tells;
        }
        CHK(told(ctx, x, &parts[k], first, silent));
    }
    return OKRA_OK;
}

OKRA_SHARED_CLEARS_(okra_windows_close_, okra_windows_, it->formula, it->low, it->high,
                    it->bound)

/* ---- rows ---- */

okra_int okra_shard_row_(const okra_shard_ *s, double mass, bool above)
{
    double from = above ? nextafter(mass, (double)INFINITY) : mass;
    return okra_below_(s->mass, sizeof *s->mass, (okra_int)s->head.rows, from);
}

void okra_windows_rows_(const okra_windows_ *w, okra_int query, const okra_shard_ *s,
                        okra_int *begin, okra_int *end)
{
    *begin = 0;
    *end = (okra_int)s->head.rows;
    if (w->used) {
        *begin = okra_shard_row_(s, w->low[query], false);
        *end = okra_shard_row_(s, w->high[query], true);
        *end = OKRA_MAX_(*begin, *end);
    }
}

bool okra_windows_fits_(const okra_windows_ *w, okra_int query, const okra_shard_ *s,
                        okra_int row)
{
    if (!w->used) {
        return true;
    }
    bool fits = s->mass[row] >= w->low[query] && s->mass[row] <= w->high[query] &&
                (!w->formulas || s->formula[row] == w->formula[query]);
    for (int k = 0; fits && k < w->filters; k++) {
        const double *bound = w->bound + 2 * (query * w->filters + k);
        double value = s->values[row * (okra_int)s->head.columns + w->column[k]];
        fits = value >= bound[0] && value <= bound[1];
    }
    return fits;
}
