/*
 * store.c: stores, and their check against the tables of those who filled them.
 *
 * A store holds a few dozen items at most, so a name is found by a linear search.
 *
 * A square matrix may stand in a room: memory with space for more rows and columns.
 * Stores share a room. Each sees the first rows and columns of it, and whoever sees all
 * that are in use may append more, which the others never look at; so a model grows
 * without a copy while the one it grew from lives on.
 */
#include "data/data.h"

/* ---- rooms ---- */

struct okra_growing_ {
    atomic_int references;
    _Atomic okra_int used; /* rows */
    okra_int side;
    double *p; /* side x side, 0 where nothing was written */
};

okra_status okra_growing_create_(okra_context *ctx, okra_int n, const char *what,
                                 okra_growing_ **out)
{
    OWNED okra_growing_ *room = NULL;
    okra_int more = n + n / 8 + 16, side = (more + 7) / 8 * 8;
    if (8.0 * (double)side * (double)side > (double)okra_memory_left_(ctx)) {
        side = n; /* less than everything: the next one moves */
    }
    CHK(okra_budget_ask_(ctx, 8.0 * (double)side * (double)side,
                         "%s of %lld x %lld doubles", what, (long long)side,
                         (long long)side));
    ZMAKE(room, 1);
    ZMAKE(room->p, side * side);
    atomic_init(&room->references, 1);
    atomic_init(&room->used, n);
    room->side = side;
    *out = TAKE(room);
    return OKRA_OK;
}

okra_mat_ okra_growing_mat_(okra_growing_ *room, okra_int n)
{
    return (okra_mat_){room->p, n, n, room->side};
}

void okra_growing_leave_(okra_growing_ *room, okra_int n, okra_int before)
{
    if (room) {
        atomic_compare_exchange_strong(&room->used, &n, before);
        if (atomic_fetch_sub(&room->references, 1) == 1) {
            FREE(room->p, room);
        }
    }
}

okra_growing_ *okra_store_enter_(const okra_store_ *store, const char *name, okra_int n)
{
    const okra_store_item_ *item = okra_store_find_(store, OKRA_KEPT_MATRIX_, name);
    okra_int used = item ? item->A.rows : 0;
    if (!item || !item->room || n > item->room->side ||
        !atomic_compare_exchange_strong(&item->room->used, &used, n)) {
        return NULL;
    }
    atomic_fetch_add(&item->room->references, 1);
    return item->room;
}

/* ---- stores ---- */

okra_status okra_store_create_(okra_store_ **out)
{
    OWNED okra_store_ *store = NULL;
    ZMAKE(store, 1);
    ZMAKE(store->memo, 1);
    *out = TAKE(store);
    return OKRA_OK;
}

void okra_store_free_(okra_store_ *store)
{
    if (!store) {
        return;
    }
    for (okra_int i = 0; i < store->count; i++) {
        okra_store_item_ *item = &store->items[i];
        if (item->source.free) {
            item->source.free(item->source.self);
        }
        if (item->room) {
            okra_growing_leave_(item->room, item->A.rows, item->before);
        }
        FREE(item->name, item->text, item->owned);
    }
    FREE(atomic_load(&store->memo->values), store->memo, store->items, store);
}

okra_store_item_ *okra_store_find_(const okra_store_ *store, okra_schema_sort_ sort,
                                   const char *name)
{
    for (okra_int i = 0; i < store->count; i++) {
        if (store->items[i].sort == sort && strcmp(store->items[i].name, name) == 0) {
            return &store->items[i];
        }
    }
    return NULL;
}

okra_status okra_store_add_(okra_store_ *store, const char *name, okra_store_item_ item)
{
    OWNED char *copy = NULL, *text = NULL;
    REFUSE_IF(okra_store_find_(store, item.sort, name), OKRA_EINTERNAL,
              "'%s' is stored twice", name);
    RESIZE(store->items, store->count + 1);
    GOT(copy = okra_strdup_(name));
    if (item.text) {
        GOT(text = okra_strdup_(item.text));
    }
    item.name = TAKE(copy);
    item.text = TAKE(text);
    store->items[store->count++] = item;
    return OKRA_OK;
}

okra_status okra_store_put_(okra_store_ *store, const char *name, double **values,
                            okra_int rows, okra_int cols)
{
    okra_store_item_ item = {.A = okra_mat_of_(*values, rows, cols), .owned = *values};
    CHK(okra_store_add_(store, name, item));
    *values = NULL;
    return OKRA_OK;
}

okra_status okra_store_put_copy_(okra_store_ *store, const char *name,
                                 const double *values, okra_int rows, okra_int cols)
{
    OWNED double *copy = NULL;
    MAKE(copy, rows * cols);
    OKRA_COPY_(copy, values, (rows * cols));
    return okra_store_put_(store, name, &copy, rows, cols);
}

okra_status okra_store_put_number_(okra_store_ *store, const char *name, double value)
{
    return okra_store_add_(
        store, name, (okra_store_item_){.sort = OKRA_KEPT_NUMBER_, .number = value});
}

okra_status okra_store_put_text_(okra_store_ *store, const char *name, const char *text)
{
    okra_store_item_ item = {.sort = OKRA_KEPT_TEXT_, .text = (char *)(uintptr_t)text};
    return okra_store_add_(store, name, item);
}

okra_status okra_store_settle_(okra_context *ctx, okra_store_ *store, const char *name)
{
    OWNED double *values = NULL;
    okra_store_item_ *item = okra_store_find_(store, OKRA_KEPT_MATRIX_, name);
    if (!item || !item->source.get) {
        return OKRA_OK;
    }
    okra_int rows = item->A.rows, cols = item->A.cols;
    CHK(okra_doubles_(ctx, rows, cols, "an array of the model", &values));
    CHK(item->source.get(ctx, item->source.self, 0, okra_mat_of_(values, rows, cols)));
    if (item->source.free) {
        item->source.free(item->source.self);
    }
    item->source = (okra_rows_){0};
    item->A = okra_mat_of_(values, rows, cols);
    item->owned = TAKE(values);
    return OKRA_OK;
}

okra_mat_ okra_store_mat_(const okra_store_ *store, const char *name)
{
    const okra_store_item_ *item = okra_store_find_(store, OKRA_KEPT_MATRIX_, name);
    return item ? item->A : (okra_mat_){0};
}

const double *okra_store_get_(const okra_store_ *store, const char *name, okra_int *rows,
                              okra_int *cols)
{
    okra_mat_ A = okra_store_mat_(store, name);
    GIVE(rows, A.rows);
    GIVE(cols, A.cols);
    return A.p;
}

double *okra_store_edit_(okra_store_ *store, const char *name, okra_int *rows,
                         okra_int *cols)
{
    const okra_store_item_ *item = okra_store_find_(store, OKRA_KEPT_MATRIX_, name);
    okra_store_get_(store, name, rows, cols);
    return item ? item->owned : NULL;
}

bool okra_store_has_(const okra_store_ *store, const char *name)
{
    return okra_store_find_(store, OKRA_KEPT_MATRIX_, name);
}

bool okra_store_get_number_(const okra_store_ *store, const char *name, double *value)
{
    const okra_store_item_ *item = okra_store_find_(store, OKRA_KEPT_NUMBER_, name);
    if (item) {
        *value = item->number;
    }
    return item;
}

double okra_store_number_(const okra_store_ *store, const char *name, double otherwise)
{
    okra_store_get_number_(store, name, &otherwise);
    return otherwise;
}

const char *okra_store_get_text_(const okra_store_ *store, const char *name)
{
    const okra_store_item_ *item = okra_store_find_(store, OKRA_KEPT_TEXT_, name);
    return item ? item->text : NULL;
}

/* ---- sizes ---- */

static int find_size(const okra_sizes_ *sizes, const char *name, size_t length)
{
    for (int k = 0; k < sizes->count; k++) {
        if (strlen(sizes->of[k].name) == length &&
            memcmp(sizes->of[k].name, name, length) == 0) {
            return k;
        }
    }
    return -1;
}

static void set_size(okra_sizes_ *sizes, const char *name, size_t length, okra_int value)
{
    int k = find_size(sizes, name, length);
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
    set_size(sizes, name, strlen(name), value);
}

okra_int okra_sizes_get_(const okra_sizes_ *sizes, const char *name)
{
    int k = find_size(sizes, name, strlen(name));
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
        int k = find_size(sizes, at, length);
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
    if (length > 0 && !text[length] && find_size(sizes, text, length) < 0) {
        set_size(sizes, text, length, found);
    }
    *expected = -1;
    return evaluate(sizes, text, expected) && *expected == (double)found;
}

/* ---- one row ---- */

typedef struct checked {
    const okra_schema_ *row;
    char name[160];
    okra_store_ *store;
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
    if (plain && (st = okra_finite_(A.p, A.rows, A.cols, A.ld)) != OKRA_OK) {
        okra_message_prefix_("'%s'", c->name);
        return st;
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
    static const char *const what[] = {"matrix", "number", "text"};
    const okra_schema_ *row = c->row;
    double number = 0, low, high, other = 0;
    if (row->sort == OKRA_KEPT_EQUAL_) {
        bool good = evaluate(c->sizes, row->rows, &number) &&
                    evaluate(c->sizes, row->cols, &other) && number == other;
        return good ? OKRA_OK
                    : okra_fail_(OKRA_EFORMAT, "there are %.0f %s, expected %.0f", number,
                                 row->name, other);
    }
    okra_store_item_ *item = okra_store_find_(c->store, row->sort, c->name);
    REFUSE_IF(!item && !(row->flags & OKRA_KEPT_OPTIONAL_), OKRA_EFORMAT,
              "the %s '%s' is missing", what[row->sort], c->name);
    if (!item) {
        return OKRA_OK;
    }
    item->declared = true;
    if (row->sort == OKRA_KEPT_MATRIX_) {
        return check_matrix(c, item->A);
    }
    if (row->sort == OKRA_KEPT_NUMBER_ && !(row->flags & OKRA_KEPT_LOOSE_)) {
        return bounds(c, &low, &high) ? check_value(c, item->number, low, high)
                                      : no_size(c);
    }
    return OKRA_OK;
}

/* ---- tables ---- */

static void full_name(const char *prefix, const char *name, char out[160])
{
    snprintf(out, 160, "%s%s%s", prefix ? prefix : "", prefix && *name ? "." : "", name);
}

okra_status okra_schema_check_(const okra_schema_ *rows, const char *prefix,
                               okra_store_ *store, okra_sizes_ *sizes)
{
    for (; rows->name; rows++) {
        checked c = {.row = rows, .store = store, .sizes = sizes};
        full_name(prefix, rows->name, c.name);
        CHK(check_row(&c));
    }
    return OKRA_OK;
}

static bool present(const okra_schema_ *row, const char *prefix, const okra_store_ *store)
{
    char name[160];
    full_name(prefix, row->name ? row->name : "", name);
    return row->name && okra_store_find_(store, row->sort, name);
}

okra_status okra_schema_check_forms_(const okra_schema_ *const *forms, const char *prefix,
                                     okra_store_ *store, okra_sizes_ *sizes)
{
    while (forms[1] && !present(forms[0], prefix, store)) {
        forms++;
    }
    return okra_schema_check_(forms[0], prefix, store, sizes);
}

okra_status okra_schema_check_all_(const okra_store_ *store)
{
    for (okra_int i = 0; i < store->count; i++) {
        REFUSE_IF(!store->items[i].declared, OKRA_EFORMAT,
                  "'%s' is nothing that a model of this method and these kernels keeps",
                  store->items[i].name);
    }
    return OKRA_OK;
}
