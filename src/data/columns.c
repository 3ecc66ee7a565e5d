/*
 * columns.c: names of the columns of vectors, as the header of a table tells them.
 *
 * Who fits on one table and predicts another means columns by name, whatever their order.
 * So names go along wherever rows are chosen or put together, a model keeps them, and new
 * rows are brought into its order. Names are UTF-8 without control characters, 1 to
 * NAME_MOST bytes, all different and of LIST_MOST bytes together. Of a table with others
 * it is known that it has a header (count 0), which no model with names takes.
 */
#include "data/files/formats.h"
#include "data/strings.h"
#include "okra/more/objects.h"
#include "okra/program.h"

enum { NAME_MOST = 255, LIST_MOST = 1 << 20 };

struct okra_columns_ {
    int references; /* atomic */
    okra_int count;
    okra_names_ names; /* in order: they are different */
};

okra_columns_ *okra_columns_retain_(const okra_columns_ *columns)
{
    okra_columns_ *own = (okra_columns_ *)(uintptr_t)columns;
    if (own) {
        __atomic_add_fetch(&own->references, 1, __ATOMIC_RELAXED);
    }
    return own;
}

void okra_columns_free_(okra_columns_ *columns)
{
    if (columns && __atomic_sub_fetch(&columns->references, 1, __ATOMIC_ACQ_REL) == 0) {
        okra_names_free_(&columns->names);
        okra_free_(columns);
    }
}

static bool is_name(const char *text)
{
    okra_utf8_ utf8 = {0};
    bool good = *text != '\0';
    size_t length = 0;
    for (; good && text[length] && length <= NAME_MOST; length++) {
        int32_t code = okra_utf8_take_(&utf8, (unsigned char)text[length]);
        good = code == OKRA_UTF8_MORE_ ||
               (code != OKRA_UTF8_BAD_ && code >= ' ' && !(code >= 0x7f && code < 0xa0));
    }
    return good && length <= NAME_MOST && utf8.more == 0;
}

static okra_status refuse(okra_int j, const char *what)
{
    return okra_fail_(OKRA_EARG, "the name of column %" PRId64 " (counted from 0) %s", j,
                      what);
}

static okra_status create(const char *const *names, okra_int count, okra_columns_ **out)
{
    FREED_BY(okra_columns_drop_) okra_columns_ *made = NULL;
    okra_int at = 0;
    ZMAKE(made, 1);
    made->references = 1;
    made->count = count;
    for (okra_int j = 0; j < count; j++) {
        if (!names[j] || !is_name(names[j])) {
            return refuse(j, "is not UTF-8 text of 1 to 255 bytes without control "
                             "characters");
        }
        CHK(okra_names_add_(&made->names, names[j], names[j] + strlen(names[j]), &at));
        if (at != j) {
            return refuse(j, "is that of another column");
        }
        if (made->names.texts.used > LIST_MOST) {
            return refuse(j, "makes the names longer than a megabyte");
        }
    }
    *out = TAKE(made);
    return OKRA_OK;
}

static bool has_columns(const okra_data *data)
{
    return data->kind == OKRA_DENSE || data->kind == OKRA_SPARSE ||
           data->kind == OKRA_BITS || data->kind == OKRA_GRAM;
}

okra_status okra_data_set_columns(okra_data *data, const char *const *names)
{
    okra_columns_ *made = NULL;
    NOT_NULL(data);
    REFUSE_IF(names && !has_columns(data), OKRA_EARG,
              "%s holds %s, which have no columns", data->source,
              okra_kind_name(data->kind));
    REFUSE_IF(data->of, OKRA_EARG, "columns are named before objects get weights");
    CHK(names ? create(names, data->d, &made) : OKRA_OK);
    okra_columns_free_(data->columns);
    data->columns = made;
    return OKRA_OK;
}

okra_status okra_columns_read_(okra_data *data, const char *const *names)
{
    okra_status st = okra_data_set_columns(data, names);
    return st == OKRA_EARG ? create(NULL, 0, &data->columns) : st;
}

const char *okra_data_column(const okra_data *data, okra_int j)
{
    return data && data->columns && j >= 0 && j < data->columns->count
               ? okra_name_(&data->columns->names, j)
               : NULL;
}

void okra_columns_pass_(const okra_data *from, okra_data *to)
{
    if (from->columns && has_columns(to) && !to->columns &&
        (from->columns->count == 0 || to->d == from->columns->count)) {
        to->columns = okra_columns_retain_(from->columns);
    }
}

/* ---- another order ---- */

static okra_int find(const okra_data *data, const char *name)
{
    return okra_names_find_(&data->columns->names, name, name + strlen(name));
}

/* from[j]: which column of x is column j of `like`; *same: the order is the same, *any:
 * they have a name in common, *lacks: the first that x does not have, or -1. */
static void compare(const okra_data *x, const okra_data *like, okra_int *from, bool *same,
                    bool *any, okra_int *lacks)
{
    *same = x->columns->count == like->columns->count;
    *any = false;
    *lacks = -1;
    for (okra_int j = 0; j < like->columns->count; j++) {
        from[j] = find(x, okra_data_column(like, j));
        *same = *same && from[j] == j;
        *any = *any || from[j] >= 0;
        *lacks = *lacks < 0 && from[j] < 0 ? j : *lacks;
    }
}

/* The first column of x that `like` does not have. */
static okra_int stranger(const okra_data *x, const okra_data *like)
{
    okra_int j = 0;
    while (j < x->columns->count && find(like, okra_data_column(x, j)) >= 0) {
        j++;
    }
    return j;
}

static okra_status refuse_names(const okra_data *x, const okra_data *like, okra_int lacks)
{
    char found[80], expected[80];
    okra_int strange = stranger(x, like);
    const char *name = okra_data_column(x, strange);
    okra_text_printable(name ? name : "", found, sizeof found);
    REFUSE_IF(lacks < 0, OKRA_ESHAPE,
              "%s: column %" PRId64 " is '%s', which is none of the %" PRId64
              " columns of %s; FILE:!COLUMN is without that column",
              x->source, strange + 1, found, like->columns->count, like->source);
    okra_text_printable(okra_data_column(like, lacks), expected, sizeof expected);
    return name ? okra_fail_(OKRA_ESHAPE,
                             "%s: column %" PRId64 " is '%s', expected '%s' or another "
                             "of the %" PRId64 " columns of %s, in any order",
                             x->source, strange + 1, found, expected,
                             like->columns->count, like->source)
                : okra_fail_(OKRA_ESHAPE,
                             "%s: there is no column '%s', which is one of the %" PRId64
                             " columns of %s",
                             x->source, expected, like->columns->count, like->source);
}

static okra_status reorder(okra_context *ctx, const okra_data *x, const okra_data *like,
                           const okra_int *from, okra_data **out)
{
    FREED_BY(okra_data_drop_) okra_data *made = NULL;
    OWNED okra_int *to = NULL;
    MAKE(to, x->d);
    for (okra_int j = 0; j < x->d; j++) {
        to[from[j]] = j;
    }
    CHK(okra_move_columns_(ctx, x, to, &made));
    okra_columns_pass_(like, made);
    CHK(okra_weights_take_(&x, 1, NULL, x->n, made));
    okra_warn_(ctx,
               "%s: its columns stand in another order than those of %s; they are taken "
               "by name",
               x->source, like->source);
    *out = TAKE(made);
    return OKRA_OK;
}

static okra_status align_parts(okra_context *ctx, const okra_data *x,
                               const okra_data *like, bool strict, okra_data **out)
{
    FREED_BY(okra_data_drop_) okra_data *to = NULL;
    bool changed = false;
    CHK(okra_data_weigh(x, NULL, 0, &to)); /* parts of its own */
    for (int k = 0; k < x->component_count; k++) {
        okra_data *part = NULL;
        CHK(okra_columns_align_(ctx, x->components[k], like->components[k], strict,
                                &part));
        changed = changed || part != x->components[k];
        okra_data_free(to->components[k]);
        to->components[k] = part;
    }
    if (changed) {
        CHK(okra_weights_take_(&x, 1, NULL, x->n, to));
        *out = okra_data_retain(to);
    } else {
        *out = okra_data_retain(x);
    }
    return OKRA_OK;
}

okra_status okra_columns_align_(okra_context *ctx, const okra_data *x,
                                const okra_data *like, bool strict, okra_data **out)
{
    OWNED okra_int *from = NULL;
    bool same = true, any = true;
    okra_int lacks = -1;
    if (x->component_count > 0 && x->kind == like->kind &&
        x->component_count == like->component_count) {
        return align_parts(ctx, x, like, strict, out);
    }
    bool names = x->columns && like->columns && like->columns->count > 0;
    REFUSE_IF(names && strict && x->columns->count == 0, OKRA_ESHAPE,
              "%s: its header does not tell its columns apart; expected the "
              "%" PRId64 " columns of %s, in any order",
              x->source, like->columns->count, like->source);
    if (names && x->columns->count > 0) {
        MAKE(from, like->columns->count);
        compare(x, like, from, &same, &any, &lacks);
        if ((strict || any) && (lacks >= 0 || x->columns->count > like->columns->count)) {
            return refuse_names(x, like, lacks);
        }
    }
    if (same || lacks >= 0) {
        *out = okra_data_retain(x);
        return OKRA_OK;
    }
    return reorder(ctx, x, like, from, out);
}

okra_status okra_data_align(okra_context *context, const okra_data *x,
                            const okra_data *like, okra_data **out)
{
    NOT_NULL(x, like, out);
    return okra_columns_align_(context, x, like, true, out);
}
