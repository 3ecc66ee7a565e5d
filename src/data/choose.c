/*
 * choose.c: chosen objects of a collection, and copies, as collections of their own.
 */
#include "data/data.h"

#include <inttypes.h>
#include <string.h>

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
