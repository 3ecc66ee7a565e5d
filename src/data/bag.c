/*
 * bag.c: named matrices, numbers and texts: what a method leaves in a model.
 *
 * A bag holds a few dozen entries at most, so a name is found by a linear search.
 */
#include "data/data.h"

#include <string.h>

typedef enum sort { MATRIX, NUMBER, TEXT } sort;

typedef struct entry {
    sort sort;
    char *name;
    const double *values; /* MATRIX */
    okra_int rows, cols;
    double number; /* NUMBER */
    char *text;    /* TEXT */
    void *owned;   /* MATRIX taken over */
    bool declared; /* a table of what is kept names it (kept.c) */
} entry;

struct okra_bag_ {
    entry *entries;
    size_t count;
};

okra_status okra_bag_create_(okra_bag_ **out)
{
    okra_bag_ *bag = okra_zalloc_(1, sizeof *bag);
    if (!bag) {
        return OKRA_EMEM;
    }
    *out = bag;
    return OKRA_OK;
}

void okra_bag_free_(okra_bag_ *bag)
{
    if (!bag) {
        return;
    }
    for (size_t i = 0; i < bag->count; i++) {
        okra_free_(bag->entries[i].name);
        okra_free_(bag->entries[i].text);
        okra_free_(bag->entries[i].owned);
    }
    okra_free_(bag->entries);
    okra_free_(bag);
}

static const entry *find(const okra_bag_ *bag, sort which, const char *name)
{
    for (size_t i = 0; i < bag->count; i++) {
        if (bag->entries[i].sort == which && strcmp(bag->entries[i].name, name) == 0) {
            return &bag->entries[i];
        }
    }
    return NULL;
}

/* Adds an entry, its name and text copied. */
static okra_status add(okra_bag_ *bag, const char *name, entry e)
{
    okra_status st = OKRA_OK;
    char *copy = NULL, *text = NULL;
    if (find(bag, e.sort, name)) {
        FAIL(OKRA_EINTERNAL, "'%s' is stored twice", name);
    }
    entry *grown = okra_realloc_(bag->entries, (okra_int)bag->count + 1, sizeof *grown);
    if (!grown) {
        st = OKRA_EMEM;
        goto done;
    }
    bag->entries = grown;
    copy = okra_strdup_(name);
    text = copy && e.text ? okra_strdup_(e.text) : NULL;
    if (!copy || (e.text && !text)) {
        st = OKRA_EMEM;
        goto done;
    }
    e.name = copy;
    e.text = text;
    grown[bag->count++] = e;
    copy = NULL;
done:
    okra_free_(copy);
    return st;
}

okra_status okra_bag_put_(okra_bag_ *bag, const char *name, double *values, okra_int rows,
                          okra_int cols)
{
    return add(bag, name,
               (entry){.sort = MATRIX,
                       .values = values,
                       .rows = rows,
                       .cols = cols,
                       .owned = values});
}

okra_status okra_bag_put_copy_(okra_bag_ *bag, const char *name, const double *values,
                               okra_int rows, okra_int cols)
{
    okra_status st = OKRA_OK;
    double *copy = NULL;
    ALLOC(copy, rows * cols);
    if (rows * cols > 0) {
        memcpy(copy, values, (size_t)(rows * cols) * sizeof *copy);
    }
    TRY(okra_bag_put_(bag, name, copy, rows, cols));
    copy = NULL;
done:
    okra_free_(copy);
    return st;
}

okra_status okra_bag_put_view_(okra_bag_ *bag, const char *name, const double *values,
                               okra_int rows, okra_int cols)
{
    return add(bag, name,
               (entry){.sort = MATRIX, .values = values, .rows = rows, .cols = cols});
}

okra_status okra_bag_put_number_(okra_bag_ *bag, const char *name, double value)
{
    return add(bag, name, (entry){.sort = NUMBER, .number = value});
}

okra_status okra_bag_put_text_(okra_bag_ *bag, const char *name, const char *text)
{
    return add(bag, name, (entry){.sort = TEXT, .text = (char *)(uintptr_t)text});
}

const double *okra_bag_get_(const okra_bag_ *bag, const char *name, okra_int *rows,
                            okra_int *cols)
{
    const entry *e = find(bag, MATRIX, name);
    if (rows) {
        *rows = e ? e->rows : 0;
    }
    if (cols) {
        *cols = e ? e->cols : 0;
    }
    return e ? e->values : NULL;
}

double *okra_bag_edit_(okra_bag_ *bag, const char *name, okra_int *rows, okra_int *cols)
{
    const entry *e = find(bag, MATRIX, name);
    *rows = e ? e->rows : 0;
    *cols = e ? e->cols : 0;
    return e ? e->owned : NULL;
}

bool okra_bag_get_number_(const okra_bag_ *bag, const char *name, double *value)
{
    const entry *e = find(bag, NUMBER, name);
    if (e) {
        *value = e->number;
    }
    return e != NULL;
}

const char *okra_bag_get_text_(const okra_bag_ *bag, const char *name)
{
    const entry *e = find(bag, TEXT, name);
    return e ? e->text : NULL;
}

/* The index-th entry of its sort. */
static const entry *nth(const okra_bag_ *bag, sort which, size_t index)
{
    for (size_t i = 0; i < bag->count; i++) {
        if (bag->entries[i].sort == which && index-- == 0) {
            return &bag->entries[i];
        }
    }
    return NULL;
}

const char *okra_bag_each_(const okra_bag_ *bag, size_t index, const double **values,
                           okra_int *rows, okra_int *cols)
{
    const entry *e = nth(bag, MATRIX, index);
    if (!e) {
        return NULL;
    }
    *values = e->values;
    *rows = e->rows;
    *cols = e->cols;
    return e->name;
}

const char *okra_bag_each_number_(const okra_bag_ *bag, size_t index, double *value)
{
    const entry *e = nth(bag, NUMBER, index);
    if (!e) {
        return NULL;
    }
    *value = e->number;
    return e->name;
}

const char *okra_bag_each_text_(const okra_bag_ *bag, size_t index, const char **text)
{
    const entry *e = nth(bag, TEXT, index);
    if (!e) {
        return NULL;
    }
    *text = e->text;
    return e->name;
}

void okra_bag_declare_(okra_bag_ *bag, int which, const char *name)
{
    for (size_t i = 0; i < bag->count; i++) {
        entry *e = &bag->entries[i];
        e->declared |= (int)e->sort == which && strcmp(e->name, name) == 0;
    }
}

const char *okra_bag_undeclared_(const okra_bag_ *bag)
{
    for (size_t i = 0; i < bag->count; i++) {
        if (!bag->entries[i].declared) {
            return bag->entries[i].name;
        }
    }
    return NULL;
}
