/*
 * options.c: one table of rows gives defaults, range checks and set-by-name.
 */
#include "core/core.h"
#include "okra/program.h"

#include <ctype.h>
#include <locale.h>
#include <pthread.h>

typedef struct setting {
    char *name, *value;
} setting;

struct okra_options {
    const okra_option_table **tables;
    size_t table_count;
    setting *settings;
    okra_int count, capacity;
};

/* ---- one row ---- */

/* A number, or a whole one. */
static okra_status parse_number(const char *owner, const okra_option *row,
                                const char *text, void *field)
{
    bool whole = row->type == OKRA_OPTION_INT;
    char *end = NULL;
    errno = 0;
    long long integer = whole ? strtoll(text, &end, 10) : 0;
    double value = whole ? (double)integer : okra_strtod_(text, &end);
    REFUSE_IF(end == text || *end || isnan(value) || (whole && errno == ERANGE),
              OKRA_EARG, "%s: %s is '%s', expected a %snumber", owner, row->name, text,
              whole ? "whole " : "");
    REFUSE_IF(row->low <= row->high && !(value >= row->low && value <= row->high),
              OKRA_EARG, "%s: %s is %s, expected %.10g to %.10g", owner, row->name, text,
              row->low, row->high);
    if (whole) {
        *(okra_int *)field = integer;
    } else {
        *(double *)field = value;
    }
    return OKRA_OK;
}

static okra_status parse_bool(const char *owner, const okra_option *row, const char *text,
                              bool *field)
{
    static const char *const yes[] = {"1", "true", "yes", "on"};
    static const char *const no[] = {"0", "false", "no", "off"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        if (strcmp(text, yes[i]) == 0 || strcmp(text, no[i]) == 0) {
            *field = strcmp(text, yes[i]) == 0;
            return OKRA_OK;
        }
    }
    return okra_fail_(OKRA_EARG, "%s: %s is '%s', expected yes or no", owner, row->name,
                      text);
}

static okra_status parse_choice(const char *owner, const okra_option *row,
                                const char *text, int *field)
{
    size_t length = strlen(text);
    const char *p = row->choices;
    for (int index = 0;; index++) {
        size_t width = strcspn(p, "|");
        if (width == length && memcmp(p, text, length) == 0) {
            *field = index;
            return OKRA_OK;
        }
        REFUSE_IF(!p[width], OKRA_EARG, "%s: %s is '%s', expected one of %s", owner,
                  row->name, text, row->choices);
        p += width + 1;
    }
}

okra_status okra_option_parse_(const char *owner, const okra_option *row,
                               const char *text, void *field)
{
    switch (row->type) {
    case OKRA_OPTION_NUMBER:
    case OKRA_OPTION_INT:
        return parse_number(owner, row, text, field);
    case OKRA_OPTION_BOOL:
        return parse_bool(owner, row, text, field);
    case OKRA_OPTION_CHOICE:
        return parse_choice(owner, row, text, field);
    case OKRA_OPTION_TEXT:
    case OKRA_OPTION_READ:
    case OKRA_OPTION_WRITTEN:
        *(const char **)field = text;
        return OKRA_OK;
    }
    return okra_fail_(OKRA_EINTERNAL, "%s: %s has an unknown type", owner, row->name);
}

/* A row without a default leaves its field zeroed; whoever needs it asks for it. */
okra_status okra_option_defaults_(const okra_option_table *table, void *fields)
{
    memset(fields, 0, table->size);
    for (const okra_option *row = table->rows; row && row->name; row++) {
        if (row->preset) {
            CHK(okra_option_parse_(table->owner, row, row->preset,
                                   (char *)fields + row->offset));
        }
    }
    return OKRA_OK;
}

const okra_option *okra_option_find_(const okra_option_table *table, const char *name,
                                     size_t length)
{
    for (const okra_option *row = table->rows; row && row->name; row++) {
        if (strlen(row->name) == length && memcmp(row->name, name, length) == 0) {
            return row;
        }
    }
    return NULL;
}

/* ---- did you mean ---- */

enum { NEAR = 3, NAME_MOST = 63 };

/* Whatever their case. */
static int edit_distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    if (n > NAME_MOST || m > NAME_MOST) {
        return NEAR + 1;
    }
    int row[NAME_MOST + 1];
    for (size_t j = 0; j <= m; j++) {
        row[j] = (int)j;
    }
    for (size_t i = 1; i <= n; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            int change = diagonal + (tolower((unsigned char)a[i - 1]) !=
                                     tolower((unsigned char)b[j - 1]));
            diagonal = row[j];
            row[j] = OKRA_MIN_(change, OKRA_MIN_(row[j], row[j - 1]) + 1);
        }
    }
    return row[m];
}

const char *okra_nearest(const char *name, const char *const *names, size_t count)
{
    if (!name || !names) {
        return NULL;
    }
    const char *best = NULL;
    int least = NEAR + 1;
    for (size_t i = 0; i < count; i++) {
        if (!names[i]) {
            continue;
        }
        int d = edit_distance(name, names[i]);
        int longer = (int)OKRA_MAX_(strlen(name), strlen(names[i]));
        /* About half of the letters must agree. */
        if (d < least && 2 * d <= longer + 1) {
            least = d;
            best = names[i];
        }
    }
    return best;
}

/* ---- a set of values ---- */

okra_status okra_options_create(const okra_option_table *const *tables, size_t count,
                                okra_options **out)
{
    NOT_NULL(tables, out);
    FREED_BY(okra_options_drop_) okra_options *o = NULL;
    ZMAKE(o, 1);
    MAKE(o->tables, (okra_int)count);
    if (count > 0) {
        memcpy(o->tables, tables, count * sizeof *tables);
    }
    o->table_count = count;
    *out = TAKE(o);
    return OKRA_OK;
}

okra_status okra_options_copy(const okra_options *options, okra_options **out)
{
    NOT_NULL(options, out);
    FREED_BY(okra_options_drop_) okra_options *copy = NULL;
    CHK(okra_options_create(options->tables, options->table_count, &copy));
    for (okra_int i = 0; i < options->count; i++) {
        CHK(okra_options_set(copy, options->settings[i].name,
                             options->settings[i].value));
    }
    *out = TAKE(copy);
    return OKRA_OK;
}

void okra_options_free(okra_options *options)
{
    if (options) {
        for (okra_int i = 0; i < options->count; i++) {
            FREE(options->settings[i].name, options->settings[i].value);
        }
        FREE(options->settings, options->tables, options);
    }
}

static setting *find_setting(const okra_options *o, const char *name)
{
    for (okra_int i = 0; i < o->count; i++) {
        if (strcmp(o->settings[i].name, name) == 0) {
            return &o->settings[i];
        }
    }
    return NULL;
}

static const okra_option *find_row(const okra_options *o, const char *name,
                                   const char **owner)
{
    for (size_t i = 0; i < o->table_count; i++) {
        const okra_option *row = okra_option_find_(o->tables[i], name, strlen(name));
        if (row) {
            *owner = o->tables[i]->owner;
            return row;
        }
    }
    return NULL;
}

static okra_status unknown(const okra_options *o, const char *name)
{
    const char *best = NULL;
    for (size_t i = 0; i < o->table_count; i++) {
        for (const okra_option *row = o->tables[i]->rows; row && row->name; row++) {
            const char *const pair[] = {best, row->name};
            best = okra_nearest(name, best ? pair : pair + 1, best ? 2 : 1);
        }
    }
    return best ? okra_fail_(OKRA_EARG, "there is no option '%s'; did you mean '%s'?",
                             name, best)
                : okra_fail_(OKRA_EARG, "there is no option '%s'", name);
}

okra_status okra_options_set(okra_options *options, const char *name, const char *value)
{
    OWNED char *copy = NULL, *name_copy = NULL;
    const char *owner = NULL;
    NOT_NULL(options, name, value);
    const okra_option *row = find_row(options, name, &owner);
    if (!row) {
        return unknown(options, name);
    }
    union {
        double number;
        okra_int integer;
        bool flag;
        const char *text;
        int choice;
    } parsed;
    CHK(okra_option_parse_(owner, row, value, &parsed));
    GOT(copy = okra_strdup_(value));
    setting *old = find_setting(options, name);
    if (old) {
        okra_free_(old->value);
        old->value = TAKE(copy);
        return OKRA_OK;
    }
    GOT(name_copy = okra_strdup_(name));
    EXTEND(options->settings, options->count, options->capacity, 8);
    options->settings[options->count++] = (setting){TAKE(name_copy), TAKE(copy)};
    return OKRA_OK;
}

okra_status okra_options_set_number(okra_options *options, const char *name, double value)
{
    char text[40];
    okra_number_format_(text, sizeof text, 17, value);
    return okra_options_set(options, name, text);
}

const char *okra_options_get(const okra_options *options, const char *name)
{
    if (!options || !name) {
        return NULL;
    }
    const setting *s = find_setting(options, name);
    if (s) {
        return s->value;
    }
    const char *owner;
    const okra_option *row = find_row(options, name, &owner);
    return row ? row->preset : NULL;
}

bool okra_options_is_set(const okra_options *options, const char *name)
{
    return options && name && find_setting(options, name);
}

okra_status okra_options_read(const okra_options *options, const okra_option_table *table,
                              void *fields)
{
    NOT_NULL(table);
    REFUSE_IF(!fields && table->rows && table->rows->name, OKRA_EARG,
              "okra_options_read: fields is NULL");
    CHK(okra_option_defaults_(table, fields));
    for (okra_int i = 0; options && i < options->count; i++) {
        const setting *s = &options->settings[i];
        const okra_option *row = okra_option_find_(table, s->name, strlen(s->name));
        if (row) {
            CHK(okra_option_parse_(table->owner, row, s->value,
                                   (char *)fields + row->offset));
        }
    }
    return OKRA_OK;
}

okra_status okra_options_check_used_(const okra_options *options,
                                     const okra_option_table *const *tables, size_t count,
                                     const char *who)
{
    for (okra_int i = 0; options && i < options->count; i++) {
        const char *name = options->settings[i].name;
        bool used = false;
        for (size_t t = 0; t < count && !used; t++) {
            used = okra_option_find_(tables[t], name, strlen(name)) != NULL;
        }
        REFUSE_IF(!used, OKRA_EARG, "%s does not use the option '%s'", who, name);
    }
    return OKRA_OK;
}

const char *okra_options_each_(const okra_options *options, size_t index,
                               const char **value)
{
    if (!options || (okra_int)index >= options->count) {
        return NULL;
    }
    *value = options->settings[index].value;
    return options->settings[index].name;
}

/* ---- numbers as text, the same in every locale ---- */

/* A host program may have set one whose decimal point is a comma. */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static locale_t plain; /* made once, never changed; (locale_t)0 if that failed */

static void make_plain(void)
{
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

void okra_iota_(okra_int n, okra_int *out)
{
    for (okra_int i = 0; i < n; i++) {
        out[i] = i;
    }
}

okra_int okra_below_(const double *sorted, size_t size, okra_int n, double x)
{
    okra_int low = 0, high = n;
    while (low < high) {
        okra_int middle = low + (high - low) / 2;
        double value;
        memcpy(&value, (const char *)sorted + (size_t)middle * size, sizeof value);
        if (value < x) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

okra_int okra_run_of_(const void *first, size_t size, okra_int n, okra_int at)
{
    okra_int low = 0, high = n, begin;
    while (high - low > 1) {
        okra_int middle = low + (high - low) / 2;
        memcpy(&begin, (const char *)first + (size_t)middle * size, sizeof begin);
        *(begin <= at ? &low : &high) = middle;
    }
    return low;
}

#define COMPARES(name, type)                             \
    int name(const void *a, const void *b)               \
    {                                                    \
        type x = *(const type *)a, y = *(const type *)b; \
        return (x > y) - (x < y);                        \
    }
COMPARES(okra_by_int_, okra_int)
COMPARES(okra_by_code_, uint64_t)
COMPARES(okra_by_int32_, int32_t)
COMPARES(okra_by_double_, double)

int okra_by_text_(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

double okra_strtod_(const char *text, char **end)
{
    pthread_once(&once, make_plain);
    return plain ? strtod_l(text, end, plain) : strtod(text, end);
}

void okra_number_format_(char *buffer, size_t size, int digits, double value)
{
    snprintf(buffer, size, "%.*g", digits, value);
    for (char *p = buffer; *p; p++) {
        if (!strchr("0123456789+-.einfa", *p)) {
            *p = '.';
        }
    }
}

/* ---- settings of callers that were compiled with an older or a newer header ---- */

/*
 * A struct of settings begins with its size. Fields are only ever added at the end and 0
 * means the default, so that a shorter struct is filled up with zeros, and a longer one
 * is understood as long as what is not known here is 0. No struct that begins with a
 * size_t ends inside of one, nor inside of a pointer or a number.
 */

okra_status okra_sized_(const char *function, const char *name, const void *given,
                        void *copy, size_t most)
{
    size_t size;
    memcpy(&size, given, sizeof size);
    REFUSE_IF(size < sizeof size || size > (size_t)1 << 16 || size % sizeof size != 0,
              OKRA_EARG,
              "%s: %s->size is %zu, expected the size of the struct: begin its "
              "initialiser with OKRA_SIZED(type)",
              function, name, size);
    const unsigned char *bytes = given;
    for (size_t i = most; i < size; i++) {
        REFUSE_IF(bytes[i] != 0, OKRA_EUNSUPPORTED,
                  "%s: %s sets a field that this okra %s does not know (byte %zu of %zu)",
                  function, name, okra_version(), i, size);
    }
    memset(copy, 0, most);
    memcpy(copy, given, OKRA_MIN_(size, most));
    memcpy(copy, &most, sizeof most);
    return OKRA_OK;
}
