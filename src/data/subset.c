/*
 * subset.c: chosen objects of a collection, copies and several joined, as collections of
 * their own.
 */
#include "data/graphs.h"

/* index == NULL stands for 0, 1, 2, ... */
static okra_int at(const okra_int *index, okra_int k)
{
    return index ? index[k] : k;
}

/* Rows of `size` bytes, `stride` bytes apart, into a fresh block that `to` owns. */
static void *take_rows(okra_data *to, const void *from, okra_int size, okra_int stride,
                       const okra_int *index, okra_int count)
{
    unsigned char *block = okra_alloc_(count, (size_t)size);
    if (!block) {
        return NULL;
    }
    okra_data_own_(to, block);
    for (okra_int k = 0; size > 0 && k < count; k++) {
        memcpy(block + k * size, (const unsigned char *)from + at(index, k) * stride,
               (size_t)size);
    }
    return block;
}

static okra_status take_pieces(okra_data *to, const okra_data *from,
                               const okra_int *index, okra_int count)
{
    double *values = NULL;
    MAKE(values, count * from->d);
    okra_data_own_(to, values);
    to->values = values;
    for (okra_int k = 0; k < count; k++) {
        CHK(okra_stack_copy_(from, at(index, k), 1, values + k * from->d));
    }
    return OKRA_OK;
}

static okra_status take_sparse(okra_data *to, const okra_csr_ *from,
                               const okra_int *index, okra_int count)
{
    okra_csr_ *csr = &to->csr;
    MAKE(csr->indptr, count + 1);
    okra_data_own_(to, csr->indptr);
    csr->indptr[0] = 0;
    for (okra_int k = 0; k < count; k++) {
        okra_int i = at(index, k);
        csr->indptr[k + 1] = csr->indptr[k] + from->indptr[i + 1] - from->indptr[i];
    }
    MAKE(csr->indices, csr->indptr[count]);
    okra_data_own_(to, csr->indices);
    MAKE(csr->values, csr->indptr[count]);
    okra_data_own_(to, csr->values);
    for (okra_int k = 0; k < count; k++) {
        okra_int begin = from->indptr[at(index, k)], to_begin = csr->indptr[k];
        size_t length = (size_t)(csr->indptr[k + 1] - to_begin);
        memcpy(csr->indices + to_begin, from->indices + begin,
               length * sizeof *csr->indices);
        memcpy(csr->values + to_begin, from->values + begin,
               length * sizeof *csr->values);
    }
    return OKRA_OK;
}

static okra_status take_groups(okra_data *to, const okra_data *from,
                               const okra_int *index, okra_int count)
{
    for (int k = 0; k < from->group_count; k++) {
        CHK(okra_ragged_take_(&from->groups[k], index, count, &to->groups[k]));
        to->group_count = k + 1;
    }
    return OKRA_OK;
}

static okra_status take(const okra_data *from, const okra_int *index, okra_int count,
                        okra_data **out);

static okra_status take_components(okra_data *to, const okra_data *from,
                                   const okra_int *index, okra_int count)
{
    ZMAKE(to->components, from->component_count);
    for (int k = 0; k < from->component_count; k++) {
        CHK(take(from->components[k], index, count, &to->components[k]));
        to->component_count = k + 1;
    }
    return OKRA_OK;
}

/* The members of the chosen bags. */
static okra_status take_bags(okra_data *to, const okra_data *from, const okra_int *index,
                             okra_int count)
{
    OWNED okra_int *members = NULL;
    const okra_int *offsets = from->groups[0].offsets;
    okra_int at = 0;
    CHK(take_groups(to, from, index, count));
    MAKE(members, to->groups[0].offsets[count]);
    for (okra_int i = 0; i < count; i++) {
        okra_int bag = index ? index[i] : i;
        for (okra_int k = offsets[bag]; k < offsets[bag + 1]; k++) {
            members[at++] = k;
        }
    }
    return take_components(to, from, members, at);
}

/* Fills the shell `to` with the chosen objects. */
static okra_status take_objects(okra_data *to, const okra_data *from,
                                const okra_int *index, okra_int count)
{
    const okra_int number = sizeof(double), word = sizeof(uint64_t);
    switch (from->kind) {
    case OKRA_GRAM:
        if (from->diagonal) {
            to->diagonal = take_rows(to, from->diagonal, number, number, index, count);
            GOT(to->diagonal);
        }
        /* fall through */
    case OKRA_DENSE:
        if (from->pieces) {
            return take_pieces(to, from, index, count);
        }
        to->values = take_rows(to, from->values, from->d * number, from->ld * number,
                               index, count);
        return to->values ? OKRA_OK : OKRA_EMEM;
    case OKRA_SPARSE:
        return take_sparse(to, &from->csr, index, count);
    case OKRA_BITS:
        to->words = from->words;
        to->bits = take_rows(to, from->bits, from->words * word, from->words * word,
                             index, count);
        return to->bits ? OKRA_OK : OKRA_EMEM;
    case OKRA_LABELS:
        to->codes = take_rows(to, from->codes, word, word, index, count);
        return !to->codes ? OKRA_EMEM
               : from->class_names
                   ? okra_data_names_(to, (const char *const *)from->class_names)
                   : OKRA_OK;
    case OKRA_NODES:
        to->network = okra_network_retain_(from->network);
        to->codes = take_rows(to, from->codes, word, word, index, count);
        return to->codes ? OKRA_OK : OKRA_EMEM;
    case OKRA_STRINGS:
    case OKRA_SEQUENCES:
    case OKRA_GRAPHS:
    case OKRA_SPECTRA:
        return take_groups(to, from, index, count);
    case OKRA_TUPLE:
        return take_components(to, from, index, count);
    case OKRA_BAGS:
        return take_bags(to, from, index, count);
    }
    return okra_fail_(OKRA_EINTERNAL, "data of an unknown kind");
}

static okra_status take(const okra_data *from, const okra_int *index, okra_int count,
                        okra_data **out)
{
    FREED_BY(okra_data_drop_) okra_data *to = NULL;
    CHK(okra_data_new_(from->kind, count, from->d, from->source, &to));
    to->missing = from->missing;
    CHK(take_objects(to, from, index, count));
    CHK(okra_weights_take_(from, index, count, to));
    okra_columns_pass_(from, to);
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
    return take(data, NULL, data->n, out);
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
    return take(data, index, count, out);
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

/* ---- two collections of one kind, one after the other ---- */

/* Rows of `size` bytes of a then b, a's and b's that many bytes apart, in a block that
 * `to` owns. */
static void *join_rows(okra_data *to, okra_int size, okra_int na, const void *a,
                       okra_int a_stride, okra_int nb, const void *b, okra_int b_stride)
{
    unsigned char *block = okra_alloc_(na + nb, (size_t)size);
    if (!block) {
        return NULL;
    }
    okra_data_own_(to, block);
    for (okra_int i = 0; size > 0 && i < na + nb; i++) {
        const unsigned char *row = i < na
                                       ? (const unsigned char *)a + i * a_stride
                                       : (const unsigned char *)b + (i - na) * b_stride;
        memcpy(block + i * size, row, (size_t)size);
    }
    return block;
}

static okra_status join_values(okra_data *to, const okra_data *a, const okra_data *b)
{
    const okra_int number = sizeof(double);
    to->values = join_rows(to, a->d * number, a->n, a->values, a->ld * number, b->n,
                           b->values, b->ld * number);
    if (to->values && a->diagonal && b->diagonal) {
        to->diagonal =
            join_rows(to, number, a->n, a->diagonal, number, b->n, b->diagonal, number);
        return to->diagonal ? OKRA_OK : OKRA_EMEM;
    }
    return to->values ? OKRA_OK : OKRA_EMEM;
}

static okra_status join_sparse(okra_data *to, const okra_data *a, const okra_data *b)
{
    okra_csr_ *csr = &to->csr;
    okra_int in_a = a->csr.indptr[a->n], in_b = b->csr.indptr[b->n];
    to->d = OKRA_MAX_(a->d, b->d);
    MAKE(csr->indptr, a->n + b->n + 1);
    okra_data_own_(to, csr->indptr);
    memcpy(csr->indptr, a->csr.indptr, (size_t)(a->n + 1) * sizeof *csr->indptr);
    for (okra_int i = 0; i <= b->n; i++) {
        csr->indptr[a->n + i] = in_a + b->csr.indptr[i];
    }
    MAKE(csr->indices, in_a + in_b);
    okra_data_own_(to, csr->indices);
    MAKE(csr->values, in_a + in_b);
    okra_data_own_(to, csr->values);
    if (in_a > 0) {
        memcpy(csr->indices, a->csr.indices, (size_t)in_a * sizeof *csr->indices);
        memcpy(csr->values, a->csr.values, (size_t)in_a * sizeof *csr->values);
    }
    if (in_b > 0) {
        memcpy(csr->indices + in_a, b->csr.indices, (size_t)in_b * sizeof *csr->indices);
        memcpy(csr->values + in_a, b->csr.values, (size_t)in_b * sizeof *csr->values);
    }
    return OKRA_OK;
}

/* Classes with names are those of a, then the new ones of b; without, the codes stay. */
static okra_status join_labels(okra_data *to, const okra_data *a, const okra_data *b)
{
    const okra_int code = sizeof(okra_int);
    OWNED const char **names = NULL;
    OWNED okra_int *place = NULL;
    okra_int *codes = NULL;
    REFUSE_IF(!a->class_names != !b->class_names, OKRA_EARG,
              "labels of %s have names and those of %s are numbers; expected one sort",
              a->class_names ? a->source : b->source,
              a->class_names ? b->source : a->source);
    to->codes = codes = join_rows(to, code, a->n, a->codes, code, b->n, b->codes, code);
    GOT(codes);
    to->d = OKRA_MAX_(a->d, b->d);
    if (a->class_names) {
        MAKE(names, a->d + b->d);
        MAKE(place, b->d);
        to->d = a->d;
        for (okra_int c = 0; c < a->d; c++) {
            names[c] = a->class_names[c];
        }
        for (okra_int c = 0; c < b->d; c++) {
            okra_int at = 0;
            while (at < to->d && strcmp(names[at], b->class_names[c]) != 0) {
                at++;
            }
            names[at] = b->class_names[c];
            place[c] = at;
            to->d = OKRA_MAX_(to->d, at + 1);
        }
        for (okra_int i = 0; i < b->n; i++) {
            codes[a->n + i] = place[b->codes[i]];
        }
        CHK(okra_data_names_(to, names));
    }
    return OKRA_OK;
}

static okra_status join_groups(okra_data *to, const okra_data *a, const okra_data *b)
{
    REFUSE_IF(a->group_count != b->group_count, OKRA_EARG,
              "%s of %s and %s are described in different ways", okra_kind_name(a->kind),
              a->source, b->source);
    for (int k = 0; k < a->group_count; k++) {
        CHK(okra_ragged_concat_(&a->groups[k], a->n, &b->groups[k], b->n,
                                &to->groups[k]));
        to->group_count = k + 1;
    }
    return OKRA_OK;
}

static okra_status join_components(okra_data *to, const okra_data *a, const okra_data *b)
{
    REFUSE_IF(a->component_count != b->component_count, OKRA_ESHAPE,
              "tuples of %s have %d parts, those of %s have %d", a->source,
              a->component_count, b->source, b->component_count);
    ZMAKE(to->components, a->component_count);
    for (int k = 0; k < a->component_count; k++) {
        CHK(okra_data_concat(a->components[k], b->components[k], &to->components[k]));
        to->component_count = k + 1;
    }
    return OKRA_OK;
}

static okra_status join(okra_data *to, const okra_data *a, const okra_data *b)
{
    const okra_int word = sizeof(uint64_t);
    switch (a->kind) {
    case OKRA_GRAM:
    case OKRA_DENSE:
        return join_values(to, a, b);
    case OKRA_SPARSE:
        return join_sparse(to, a, b);
    case OKRA_BITS:
        to->words = a->words;
        to->bits = join_rows(to, a->words * word, a->n, a->bits, a->words * word, b->n,
                             b->bits, a->words * word);
        return to->bits ? OKRA_OK : OKRA_EMEM;
    case OKRA_LABELS:
        return join_labels(to, a, b);
    case OKRA_NODES:
        REFUSE_IF(!okra_network_equal_(a->network, b->network), OKRA_EARG,
                  "the nodes of %s and %s are of two networks", a->source, b->source);
        to->network = okra_network_retain_(a->network);
        to->codes = join_rows(to, word, a->n, a->codes, word, b->n, b->codes, word);
        return to->codes ? OKRA_OK : OKRA_EMEM;
    case OKRA_STRINGS:
    case OKRA_SEQUENCES:
    case OKRA_GRAPHS:
    case OKRA_SPECTRA:
        return join_groups(to, a, b);
    case OKRA_BAGS:
        CHK(join_groups(to, a, b));
        /* fall through */
    case OKRA_TUPLE:
        return join_components(to, a, b);
    }
    return okra_fail_(OKRA_EINTERNAL, "data of an unknown kind");
}

okra_status okra_data_concat(const okra_data *a, const okra_data *b, okra_data **out)
{
    NOT_NULL(out);
    FREED_BY(okra_data_drop_) okra_data *to = NULL, *like_a = NULL;
    char first[96], second[96];
    REFUSE_IF(!a || !b, OKRA_EARG, "the data to put together are NULL");
    bool any_width = a->kind == OKRA_SPARSE || a->kind == OKRA_LABELS;
    REFUSE_IF(a->kind != b->kind || (a->d != b->d && !any_width), OKRA_ESHAPE,
              "%s holds %s and %s %s; expected one kind and width", a->source,
              okra_data_describe_(a, first, sizeof first), b->source,
              okra_data_describe_(b, second, sizeof second));
    CHK(okra_columns_align_(NULL, b, a, true, &like_a));
    b = like_a;
    CHK(okra_data_new_(a->kind, a->n + b->n, a->d, a->source, &to));
    to->missing = a->missing || b->missing;
    CHK(join(to, a, b));
    CHK(okra_weights_join_(a, b, to));
    okra_columns_pass_(a, to);
    *out = TAKE(to);
    return OKRA_OK;
}
