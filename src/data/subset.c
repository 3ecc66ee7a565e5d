/*
 * subset.c: chosen objects of a collection, copies and several joined, as collections of
 * their own.
 */
#include "data/graphs.h"

/* Objects of several collections of one kind, one after the other: all of them, or chosen
 * ones of the only collection. */
typedef struct chosen {
    const okra_data *const *part;
    okra_int parts, count; /* count: of the objects in all */
    const okra_int *index; /* NULL: all of them */
} chosen;

static okra_int count_of(const chosen *c, okra_int p)
{
    return c->index ? c->count : c->part[p]->n;
}

/* ---- rows of one size ---- */

typedef const void *row_of(const okra_data *data, okra_int i);

static const void *value_row(const okra_data *data, okra_int i)
{
    return data->values + i * data->ld;
}

static const void *diagonal_row(const okra_data *data, okra_int i)
{
    return data->diagonal + i;
}

static const void *bit_row(const okra_data *data, okra_int i)
{
    return data->bits + i * data->words;
}

static const void *code_row(const okra_data *data, okra_int i)
{
    return data->codes + i;
}

/* Rows of `size` words of 8 bytes in a fresh block that `to` owns; NULL: no memory. */
static void *take_rows(okra_data *to, const chosen *c, okra_int size, row_of *row)
{
    uint64_t *block = okra_alloc_(c->count, (size_t)size * sizeof *block), *at = block;
    if (!block) {
        return NULL;
    }
    okra_data_own_(to, block);
    for (okra_int p = 0; size > 0 && p < c->parts; p++) {
        for (okra_int k = 0; k < count_of(c, p); k++, at += size) {
            memcpy(at, row(c->part[p], c->index ? c->index[k] : k),
                   (size_t)size * sizeof *at);
        }
    }
    return block;
}

static okra_status take_values(okra_data *to, const chosen *c)
{
    bool diagonal = true;
    to->ld = to->d;
    GOT(to->values = take_rows(to, c, to->d, value_row));
    for (okra_int p = 0; p < c->parts; p++) {
        diagonal = diagonal && c->part[p]->diagonal;
    }
    if (diagonal) {
        GOT(to->diagonal = take_rows(to, c, 1, diagonal_row));
    }
    return OKRA_OK;
}

static okra_status take_pieces(okra_data *to, const chosen *c)
{
    double *values = NULL;
    MAKE(values, c->count * to->d);
    okra_data_own_(to, values);
    to->values = values;
    for (okra_int k = 0; k < c->count; k++) {
        CHK(okra_stack_copy_(c->part[0], c->index ? c->index[k] : k, 1,
                             values + k * to->d));
    }
    return OKRA_OK;
}

/* Classes with names are those of the first, then the new ones of the others; without,
 * the codes stay. */
static okra_status take_labels(okra_data *to, const chosen *c)
{
    const okra_data *first = c->part[0];
    OWNED const char **names = NULL;
    okra_int *codes = take_rows(to, c, 1, code_row), most = 0;
    GOT(codes);
    to->codes = codes;
    for (okra_int p = 0; p < c->parts; p++) {
        const okra_data *own = c->part[p];
        REFUSE_IF(
            !first->class_names != !own->class_names, OKRA_EARG,
            "labels of %s have names and those of %s are numbers; expected one sort",
            first->class_names ? first->source : own->source,
            first->class_names ? own->source : first->source);
        to->d = OKRA_MAX_(to->d, own->d);
        most += own->d;
    }
    if (!first->class_names) {
        return OKRA_OK;
    }
    MAKE(names, most);
    memcpy(names, first->class_names, (size_t)first->d * sizeof *names);
    to->d = first->d;
    codes += count_of(c, 0);
    for (okra_int p = 1; p < c->parts; codes += c->part[p++]->n) {
        const okra_data *own = c->part[p];
        OWNED okra_int *place = NULL;
        MAKE(place, own->d);
        for (okra_int j = 0; j < own->d; j++) {
            okra_int at = 0;
            while (at < to->d && strcmp(names[at], own->class_names[j]) != 0) {
                at++;
            }
            names[at] = own->class_names[j];
            place[j] = at;
            to->d = OKRA_MAX_(to->d, at + 1);
        }
        for (okra_int i = 0; i < own->n; i++) {
            codes[i] = place[codes[i]];
        }
    }
    return okra_data_names_(to, names);
}

static okra_status take_nodes(okra_data *to, const chosen *c)
{
    const okra_data *first = c->part[0];
    for (okra_int p = 1; p < c->parts; p++) {
        REFUSE_IF(!okra_network_equal_(first->network, c->part[p]->network), OKRA_EARG,
                  "the nodes of %s and %s are of two networks", first->source,
                  c->part[p]->source);
    }
    to->network = okra_network_retain_(first->network);
    GOT(to->codes = take_rows(to, c, 1, code_row));
    return OKRA_OK;
}

/* ---- runs of elements ---- */

/* A ragged group; of sparse vectors their compressed rows as one. */
static okra_ragged_ group_of(const okra_data *data, int g)
{
    const okra_csr_ *csr = &data->csr;
    okra_ragged_ rows = {.name = "entries", .offsets = csr->indptr, .field_count = 2};
    rows.fields[0] = (okra_field_){"index", OKRA_FIELD_INT64, 1, csr->indices};
    rows.fields[1] = (okra_field_){"value", OKRA_FIELD_DOUBLE, 1, csr->values};
    return data->kind == OKRA_SPARSE ? rows : data->groups[g];
}

static okra_status take_group(const chosen *c, int g, okra_ragged_ *to)
{
    OWNED okra_ragged_ *from = NULL;
    OWNED okra_int *counts = NULL;
    MAKE(from, c->parts);
    MAKE(counts, c->parts);
    for (okra_int p = 0; p < c->parts; p++) {
        from[p] = group_of(c->part[p], g);
        counts[p] = count_of(c, p);
    }
    return okra_ragged_take_(from, c->parts, c->index, counts, to);
}

static okra_status take_sparse(okra_data *to, const chosen *c)
{
    okra_ragged_ rows;
    CHK(take_group(c, 0, &rows));
    to->csr = (okra_csr_){rows.offsets, rows.fields[0].values, rows.fields[1].values};
    okra_data_own_(to, to->csr.indptr);
    okra_data_own_(to, to->csr.indices);
    okra_data_own_(to, to->csr.values);
    for (okra_int p = 0; p < c->parts; p++) {
        to->d = OKRA_MAX_(to->d, c->part[p]->d);
    }
    return OKRA_OK;
}

static okra_status take_groups(okra_data *to, const chosen *c)
{
    const okra_data *first = c->part[0];
    for (okra_int p = 1; p < c->parts; p++) {
        REFUSE_IF(first->group_count != c->part[p]->group_count, OKRA_EARG,
                  "%s of %s and %s are described in different ways",
                  okra_kind_name(first->kind), first->source, c->part[p]->source);
    }
    for (int k = 0; k < first->group_count; k++) {
        CHK(take_group(c, k, &to->groups[k]));
        to->group_count = k + 1;
    }
    return OKRA_OK;
}

/* ---- objects made of objects ---- */

static okra_status take(const chosen *c, okra_data **out);

/* The objects c->index of the components. */
static okra_status take_components(okra_data *to, const chosen *c)
{
    const okra_data *first = c->part[0];
    OWNED const okra_data **inner = NULL;
    MAKE(inner, c->parts);
    ZMAKE(to->components, first->component_count);
    for (int k = 0; k < first->component_count; k++) {
        for (okra_int p = 0; p < c->parts; p++) {
            REFUSE_IF(first->component_count != c->part[p]->component_count, OKRA_ESHAPE,
                      "tuples of %s have %d parts, those of %s have %d", first->source,
                      first->component_count, c->part[p]->source,
                      c->part[p]->component_count);
            inner[p] = c->part[p]->components[k];
        }
        const chosen some = {inner, c->parts, c->count, c->index};
        CHK(c->index ? take(&some, &to->components[k])
                     : okra_data_join_(inner, c->parts, &to->components[k]));
        to->component_count = k + 1;
    }
    return OKRA_OK;
}

/* The members of the chosen bags. */
static okra_status take_bags(okra_data *to, const chosen *c)
{
    OWNED okra_int *members = NULL;
    const okra_int *offsets = c->part[0]->groups[0].offsets;
    chosen inner = *c;
    CHK(take_groups(to, c));
    inner.count = 0;
    MAKE(members, to->groups[0].offsets[c->count]);
    for (okra_int i = 0; c->index && i < c->count; i++) {
        for (okra_int k = offsets[c->index[i]]; k < offsets[c->index[i] + 1]; k++) {
            members[inner.count++] = k;
        }
    }
    inner.index = c->index ? members : NULL;
    return take_components(to, &inner);
}

/* ---- collections ---- */

/* Fills the shell `to` with the chosen objects. */
static okra_status take_objects(okra_data *to, const chosen *c)
{
    switch (to->kind) {
    case OKRA_GRAM:
    case OKRA_DENSE:
        return c->part[0]->pieces ? take_pieces(to, c) : take_values(to, c);
    case OKRA_SPARSE:
        return take_sparse(to, c);
    case OKRA_BITS:
        to->words = c->part[0]->words;
        GOT(to->bits = take_rows(to, c, to->words, bit_row));
        return OKRA_OK;
    case OKRA_LABELS:
        return take_labels(to, c);
    case OKRA_NODES:
        return take_nodes(to, c);
    case OKRA_STRINGS:
    case OKRA_SEQUENCES:
    case OKRA_GRAPHS:
    case OKRA_SPECTRA:
        return take_groups(to, c);
    case OKRA_TUPLE:
        return take_components(to, c);
    case OKRA_BAGS:
        return take_bags(to, c);
    }
    return okra_fail_(OKRA_EINTERNAL, "data of an unknown kind");
}

static okra_status take(const chosen *c, okra_data **out)
{
    const okra_data *first = c->part[0];
    FREED_BY(okra_data_drop_) okra_data *to = NULL;
    CHK(okra_data_new_(first->kind, c->count, first->d, first->source, &to));
    for (okra_int p = 0; p < c->parts; p++) {
        to->missing = to->missing || c->part[p]->missing;
    }
    CHK(take_objects(to, c));
    CHK(okra_weights_take_(c->part, c->parts, c->index, c->count, to));
    okra_columns_pass_(first, to);
    *out = TAKE(to);
    return OKRA_OK;
}

okra_status okra_data_copy(const okra_data *data, okra_data **out)
{
    NOT_NULL(out);
    REFUSE_IF(!data, OKRA_EARG, "the data to copy is NULL");
    /* Collections do not change: one that owns its memory is its own copy. */
    if (!data->borrowed) {
        *out = okra_data_retain(data);
        return OKRA_OK;
    }
    return take(&(chosen){&data, 1, data->n, NULL}, out);
}

okra_status okra_data_take(const okra_data *data, const okra_int *index, okra_int count,
                           okra_data **out)
{
    NOT_NULL(out);
    REFUSE_IF(!data || count < 0 || (!index && count > 0), OKRA_EARG, "%s",
              !data       ? "the data to choose from is NULL"
              : count < 0 ? "the number of objects to choose is negative"
                          : "the indices of the objects to choose are NULL");
    for (okra_int k = 0; k < count; k++) {
        REFUSE_IF(index[k] < 0 || index[k] >= data->n, OKRA_EARG,
                  "index %" PRId64 " is %" PRId64 "; there are %" PRId64
                  " objects (counted from 0)",
                  k, index[k], data->n);
    }
    return take(&(chosen){&data, 1, count, index ? index : &count}, out);
}

okra_status okra_data_some_(const okra_data *data, okra_int first, okra_int of,
                            okra_int count, okra_data **out)
{
    OWNED okra_int *index = NULL;
    MAKE(index, count);
    for (okra_int i = 0; i < count; i++) {
        index[i] = first + i * of / count;
    }
    return okra_data_take(data, index, count, out);
}

/* Collections that are freed together. */
typedef struct list {
    okra_data **of;
    okra_int count;
} list;

static void free_list(list *l)
{
    while (l->count > 0) {
        okra_data_free(l->of[--l->count]);
    }
    okra_free_(l->of);
}

okra_status okra_data_join_(const okra_data *const *part, okra_int parts, okra_data **out)
{
    FREED_BY(free_list) list like = {0};
    const okra_data *a = part[0];
    bool any_width = a->kind == OKRA_SPARSE || a->kind == OKRA_LABELS;
    char first[96], second[96];
    okra_int total = 0;
    ZMAKE(like.of, parts);
    for (; like.count < parts; like.count++) { /* with columns in the order of a */
        const okra_data *b = part[like.count];
        REFUSE_IF(a->kind != b->kind || (a->d != b->d && !any_width), OKRA_ESHAPE,
                  "%s holds %s and %s %s; expected one kind and width", a->source,
                  okra_data_describe_(a, first, sizeof first), b->source,
                  okra_data_describe_(b, second, sizeof second));
        CHK(okra_columns_align_(NULL, b, a, true, &like.of[like.count]));
        total += b->n;
    }
    return take(&(chosen){(const okra_data *const *)like.of, parts, total, NULL}, out);
}

okra_status okra_data_concat(const okra_data *a, const okra_data *b, okra_data **out)
{
    NOT_NULL(out);
    REFUSE_IF(!a || !b, OKRA_EARG, "the data to put together are NULL");
    return okra_data_join_((const okra_data *const[]){a, b}, 2, out);
}
