/*
 * sequences.c: sequences of vectors with labels, and tuples of collections, from memory.
 */
#include "data/strings.h"

#include <inttypes.h>
#include <string.h>

static okra_status check_offsets(const okra_int *offsets, okra_int n)
{
    REFUSE_IF(!offsets, OKRA_EARG, "sequences data: offsets are NULL");
    for (okra_int i = 0; i <= n; i++) {
        REFUSE_IF(i == 0 ? offsets[0] != 0 : offsets[i] < offsets[i - 1], OKRA_EARG,
                  "sequences data: offsets[%" PRId64 "] is %" PRId64
                  "; they must begin at 0 and never fall",
                  i, offsets[i]);
    }
    return OKRA_OK;
}

/* Fills the group of `data` with copies of the arrays. */
static okra_status fill_positions(okra_data *data, const okra_int *offsets,
                                  const double *vectors, const int32_t *labels)
{
    okra_int n = data->n, d = data->d, total = offsets[n], area = 0;
    okra_ragged_ *group = &data->groups[0];
    double *vector = NULL;
    int32_t *label = NULL;
    group->name = "positions";
    group->field_count = 2;
    group->fields[0] = (okra_field_){"vector", OKRA_FIELD_DOUBLE, d, NULL};
    group->fields[1] = (okra_field_){"label", OKRA_FIELD_INT32, 1, NULL};
    data->group_count = 1;
    CHK(okra_area_(total, d, sizeof *vectors, &area));
    MAKE(group->offsets, n + 1);
    memcpy(group->offsets, offsets, (size_t)(n + 1) * sizeof *offsets);
    MAKE(vector, area);
    group->fields[0].values = vector;
    MAKE(label, total);
    group->fields[1].values = label;
    if (area > 0) {
        memcpy(vector, vectors, (size_t)area * sizeof *vectors);
    }
    for (okra_int k = 0; k < total; k++) {
        label[k] = labels ? labels[k] : OKRA_NO_LABEL_;
    }
    return OKRA_OK;
}

okra_status okra_data_sequences(const okra_int *offsets, const double *vectors,
                                const int32_t *labels, okra_int n, okra_int d,
                                okra_data **out)
{
    NOT_NULL(out);
    FREED_BY(okra_data_drop_) okra_data *data = NULL;
    REFUSE_IF(n < 0 || d < 0, OKRA_ESHAPE,
              "sequences data: %" PRId64 " sequences of vectors of length %" PRId64, n,
              d);
    CHK(check_offsets(offsets, n));
    REFUSE_IF(!vectors && d > 0 && offsets[n] > 0, OKRA_EARG,
              "sequences data: vectors are NULL");
    okra_status st = okra_finite_(vectors, d > 0 ? offsets[n] : 0, d, d);
    if (st != OKRA_OK) {
        okra_message_prefix_("sequences data");
        return st;
    }
    CHK(okra_data_new_(OKRA_SEQUENCES, n, d, "memory", &data));
    CHK(fill_positions(data, offsets, vectors, labels));
    *out = TAKE(data);
    return OKRA_OK;
}

okra_status okra_data_tuple(okra_data *const *parts, int count, okra_data **out)
{
    FREED_BY(okra_data_drop_) okra_data *data = NULL;
    NOT_NULL(out);
    REFUSE_IF(!parts || count < 1, OKRA_EARG, "tuple data: no parts");
    for (int k = 0; k < count; k++) {
        REFUSE_IF(!parts[k] || parts[k]->kind == OKRA_TUPLE, OKRA_EARG,
                  "tuple data: part %d %s", k + 1,
                  parts[k] ? "is a tuple itself" : "is NULL");
        REFUSE_IF(parts[k]->n != parts[0]->n, OKRA_ESHAPE,
                  "%s has %" PRId64 " objects and %s %" PRId64
                  ": several descriptions must be of the same objects",
                  parts[0]->source, parts[0]->n, parts[k]->source, parts[k]->n);
    }
    CHK(okra_data_new_(OKRA_TUPLE, parts[0]->n, count, "tuple", &data));
    ZMAKE(data->components, count);
    for (int k = 0; k < count; k++) {
        /* What only borrows its memory is copied: a tuple owns what it holds. */
        CHK(okra_data_copy(parts[k], &data->components[k]));
        data->component_count = k + 1;
    }
    *out = TAKE(data);
    return OKRA_OK;
}
