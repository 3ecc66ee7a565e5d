/*
 * bag.c: named matrices, numbers and texts: what a method leaves in a model.
 *
 * A bag holds a few dozen entries at most, so a name is found by a linear search.
 *
 * A square matrix may stand in a room: memory with space for more rows and columns. Bags
 * share a room. Each sees the first rows and columns of it, and whoever sees all that are
 * in use may append more, which the others never look at; so a model grows without a copy
 * while the one it grew from lives on.
 */
#include "data/data.h"

#include <string.h>

struct okra_room_ {
    atomic_int references;
    _Atomic okra_int used; /* rows */
    okra_int side;
    double *p; /* side x side, 0 where nothing was written */
};

typedef enum sort { MATRIX, NUMBER, TEXT } sort;

typedef struct entry {
    sort sort;
    char *name;
    const double *values; /* MATRIX */
    okra_int rows, cols, ld;
    okra_rows_ source; /* where it is while it has no values */
    okra_room_ *room;  /* that it stands in, or NULL */
    okra_int before;   /* rows of the room that were in use before it */
    double number;     /* NUMBER */
    char *text;        /* TEXT */
    void *owned;       /* MATRIX taken over */
    bool declared;     /* a table of what is kept names it (kept.c) */
} entry;

struct okra_bag_ {
    entry *entries;
    size_t count;
    okra_memo_ *memo;
};

/* ---- rooms ---- */

OKRA_DROPS_(drop_room, okra_room_, okra_room_free_)

okra_status okra_room_create_(okra_context *ctx, okra_int n, const char *what,
                              okra_room_ **out)
{
    FREED_BY(drop_room) okra_room_ *room = NULL;
    okra_int more = n + n / 8 + 16, side = (more + 7) / 8 * 8;
    if (8.0 * (double)side * (double)side > (double)okra_memory_left_(ctx)) {
        side = n; /* less than everything: the next one moves */
    }
    CHK(okra_budget_ask_(ctx, 8.0 * (double)side * (double)side,
                         "%s of %lld x %lld doubles", what, (long long)side,
                         (long long)side));
    ZMAKE(room, 1);
    atomic_init(&room->references, 1);
    atomic_init(&room->used, n);
    room->side = side;
    ZMAKE(room->p, side * side);
    *out = TAKE(room);
    return OKRA_OK;
}

void okra_room_free_(okra_room_ *room)
{
    if (room && atomic_fetch_sub(&room->references, 1) == 1) {
        FREE(room->p, room);
    }
}

okra_mat_ okra_room_mat_(okra_room_ *room, okra_int n)
{
    okra_mat_ A = {room->p, n, n, room->side};
    return A;
}

void okra_room_leave_(okra_room_ *room, okra_int n, okra_int before)
{
    if (room) {
        atomic_compare_exchange_strong(&room->used, &n, before);
        okra_room_free_(room);
    }
}

/* ---- bags ---- */

okra_status okra_bag_create_(okra_bag_ **out)
{
    OWNED okra_bag_ *bag = NULL;
    ZMAKE(bag, 1);
    ZMAKE(bag->memo, 1);
    *out = TAKE(bag);
    return OKRA_OK;
}

okra_memo_ *okra_bag_memo_(const okra_bag_ *bag)
{
    return bag->memo;
}

static void free_source(entry *e)
{
    if (e->source.free) {
        e->source.free(e->source.self);
    }
    e->source = (okra_rows_){0};
}

void okra_bag_free_(okra_bag_ *bag)
{
    if (!bag) {
        return;
    }
    for (size_t i = 0; i < bag->count; i++) {
        free_source(&bag->entries[i]);
        FREE(bag->entries[i].name, bag->entries[i].text, bag->entries[i].owned);
        okra_room_leave_(bag->entries[i].room, bag->entries[i].rows,
                         bag->entries[i].before);
    }
    FREE(atomic_load(&bag->memo->values), bag->memo, bag->entries, bag);
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
    OWNED char *copy = NULL;
    char *text = NULL;
    REFUSE_IF(find(bag, e.sort, name), OKRA_EINTERNAL, "'%s' is stored twice", name);
    RESIZE(bag->entries, (okra_int)bag->count + 1);
    copy = okra_strdup_(name);
    text = copy && e.text ? okra_strdup_(e.text) : NULL;
    if (!copy || (e.text && !text)) {
        return OKRA_EMEM;
    }
    e.name = copy;
    e.text = text;
    bag->entries[bag->count++] = e;
    copy = NULL;
    return OKRA_OK;
}

okra_status okra_bag_put_(okra_bag_ *bag, const char *name, double **values,
                          okra_int rows, okra_int cols)
{
    CHK(add(bag, name,
            (entry){.sort = MATRIX,
                    .values = *values,
                    .rows = rows,
                    .cols = cols,
                    .ld = cols,
                    .owned = *values}));
    *values = NULL;
    return OKRA_OK;
}

okra_status okra_bag_put_room_(okra_bag_ *bag, const char *name, okra_room_ *room,
                               okra_int n, okra_int before)
{
    return add(bag, name,
               (entry){.sort = MATRIX,
                       .values = room->p,
                       .rows = n,
                       .cols = n,
                       .ld = room->side,
                       .room = room,
                       .before = before});
}

okra_room_ *okra_bag_enter_(const okra_bag_ *bag, const char *name, okra_int n)
{
    const entry *e = find(bag, MATRIX, name);
    okra_int used = e ? e->rows : 0;
    if (!e || !e->room || n > e->room->side ||
        !atomic_compare_exchange_strong(&e->room->used, &used, n)) {
        return NULL;
    }
    atomic_fetch_add(&e->room->references, 1);
    return e->room;
}

okra_status okra_bag_put_copy_(okra_bag_ *bag, const char *name, const double *values,
                               okra_int rows, okra_int cols)
{
    OWNED double *copy = NULL;
    MAKE(copy, rows * cols);
    if (rows * cols > 0) {
        memcpy(copy, values, (size_t)(rows * cols) * sizeof *copy);
    }
    return okra_bag_put_(bag, name, &copy, rows, cols);
}

okra_status okra_bag_put_view_(okra_bag_ *bag, const char *name, const double *values,
                               okra_int rows, okra_int cols)
{
    return add(
        bag, name,
        (entry){
            .sort = MATRIX, .values = values, .rows = rows, .cols = cols, .ld = cols});
}

okra_status okra_bag_put_rows_(okra_bag_ *bag, const char *name, okra_rows_ source,
                               okra_int rows, okra_int cols)
{
    return add(
        bag, name,
        (entry){
            .sort = MATRIX, .source = source, .rows = rows, .cols = cols, .ld = cols});
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

okra_mat_ okra_bag_mat_(const okra_bag_ *bag, const char *name)
{
    const entry *e = find(bag, MATRIX, name);
    return e ? okra_mat_view_(e->values, e->rows, e->cols, e->ld) : (okra_mat_){0};
}

bool okra_bag_has_(const okra_bag_ *bag, const char *name)
{
    return find(bag, MATRIX, name) != NULL;
}

const okra_rows_ *okra_bag_rows_(const okra_bag_ *bag, const char *name)
{
    const entry *e = find(bag, MATRIX, name);
    return e && e->source.get ? &e->source : NULL;
}

okra_status okra_bag_settle_(okra_context *ctx, okra_bag_ *bag, const char *name)
{
    OWNED double *values = NULL;
    const entry *found = find(bag, MATRIX, name);
    if (!found || !found->source.get) {
        return OKRA_OK;
    }
    entry *e = &bag->entries[found - bag->entries];
    CHK(okra_doubles_(ctx, e->rows, e->cols, "an array of the model", &values));
    CHK(e->source.get(ctx, e->source.self, 0, okra_mat_of_(values, e->rows, e->cols)));
    free_source(e);
    e->values = e->owned = values;
    values = NULL;
    return OKRA_OK;
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

const char *okra_bag_each_(const okra_bag_ *bag, size_t index, okra_mat_ *matrix)
{
    const entry *e = nth(bag, MATRIX, index);
    if (!e) {
        return NULL;
    }
    *matrix = okra_mat_view_(e->values, e->rows, e->cols, e->ld);
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
