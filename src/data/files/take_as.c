/*
 * take_as.c: makes of the dense or sparse data of a file what the user asked for.
 */
#include "data/files/formats.h"

/* Calls visit(arg, row, column, value) for every non-zero, row by row. */
typedef okra_status (*visitor)(void *arg, okra_int i, okra_int j, double value);

static okra_status visit(const okra_data *data, visitor each, void *arg)
{
    for (okra_int i = 0; i < data->n; i++) {
        if (data->kind == OKRA_SPARSE) {
            for (okra_int k = data->csr.indptr[i]; k < data->csr.indptr[i + 1]; k++) {
                CHK(each(arg, i, data->csr.indices[k], data->csr.values[k]));
            }
            continue;
        }
        for (okra_int j = 0; j < data->d; j++) {
            double value = data->kind == OKRA_BITS ? okra_bit_(data, i, j)
                                                   : data->values[i * data->ld + j];
            if (value != 0) {
                CHK(each(arg, i, j, value));
            }
        }
    }
    return OKRA_OK;
}

static okra_status bad_value(okra_int i, okra_int j, double value, const char *expected)
{
    char text[OKRA_NUMBER_TEXT_];
    return okra_fail_(OKRA_EFORMAT,
                      "row %" PRId64 ", column %" PRId64
                      " (counted from 0) is %s; expected %s",
                      i, j, okra_double_text_(value, text), expected);
}

/* What is made. */
typedef struct target {
    const okra_int *place; /* where column j goes; NULL: it stays */
    double *values;        /* dense */
    okra_csr_ csr;         /* sparse */
    unsigned char *bytes;  /* bits */
    okra_int stride;       /* of a row of values or bytes */
} target;

static okra_int place_of(const target *to, okra_int j)
{
    return to->place ? to->place[j] : j;
}

static void free_target(target *to)
{
    FREE(to->values, to->bytes);
    okra_csr_free_(&to->csr);
}

/* ---- dense, gram ---- */

static okra_status put_dense(void *arg, okra_int i, okra_int j, double value)
{
    const target *to = arg;
    to->values[i * to->stride + place_of(to, j)] = value;
    return OKRA_OK;
}

static okra_status to_dense(const okra_context *ctx, const okra_data *from,
                            const okra_int *place, okra_data **out)
{
    FREED_BY(free_target) target to = {.place = place, .stride = from->d};
    CHK(okra_doubles_(ctx, from->n, from->d, "the dense form", &to.values));
    okra_fill_(from->n * from->d, 0, to.values);
    CHK(visit(from, put_dense, &to));
    return okra_data_adopt_dense_(&to.values, from->n, from->d, from->source, out);
}

/* ---- sparse ---- */

static okra_status count_entry(void *arg, okra_int i, okra_int j, double value)
{
    ((okra_int *)arg)[i + 1]++;
    return OKRA_OK;
}

static okra_status put_sparse(void *arg, okra_int i, okra_int j, double value)
{
    const target *to = arg;
    okra_int k = to->csr.indptr[i + 1]++;
    to->csr.indices[k] = place_of(to, j);
    to->csr.values[k] = value;
    return OKRA_OK;
}

static okra_status to_sparse(const okra_context *ctx, const okra_data *from,
                             const okra_int *place, okra_data **out)
{
    FREED_BY(free_target) target to = {.place = place};
    ZMAKE(to.csr.indptr, from->n + 2);
    CHK(visit(from, count_entry, to.csr.indptr + 1));
    for (okra_int i = 2; i <= from->n + 1; i++) {
        to.csr.indptr[i] += to.csr.indptr[i - 1];
    }
    okra_int count = to.csr.indptr[from->n + 1];
    CHK(okra_budget_ask_(ctx, 16.0 * (double)count, "the sparse form"));
    MAKE(to.csr.indices, count);
    MAKE(to.csr.values, count);
    /* indptr[i+1] holds where row i begins and moves to where it ends. */
    CHK(visit(from, put_sparse, &to));
    return okra_data_adopt_sparse_(&to.csr, from->n, from->d, from->source, out);
}

/* ---- bits ---- */

static okra_status put_bit(void *arg, okra_int i, okra_int j, double value)
{
    const target *to = arg;
    if (value != 1) {
        return bad_value(i, j, value, "0 or 1");
    }
    okra_int at = place_of(to, j);
    to->bytes[i * to->stride + at / 8] |= (unsigned char)(1 << (at % 8));
    return OKRA_OK;
}

static okra_status put_byte(void *arg, okra_int i, okra_int j, double value)
{
    const target *to = arg;
    if (!(value >= 0 && value <= 255 && value == (double)(unsigned char)value)) {
        return bad_value(i, j, value, "a byte, 0 to 255");
    }
    to->bytes[i * to->stride + j] = (unsigned char)value;
    return OKRA_OK;
}

static okra_status to_bits(const okra_context *ctx, const okra_data *from, bool packed,
                           const okra_int *place, okra_data **out)
{
    okra_int least = from->d / 8 + (from->d % 8 != 0);
    FREED_BY(free_target)
    target to = {.place = place, .stride = packed ? from->d : least};
    okra_int area = 0, width = from->d;
    REFUSE_IF(packed && __builtin_mul_overflow(width, 8, &width), OKRA_ESHAPE,
              "rows of %" PRId64 " bytes are too long", from->d);
    CHK(okra_area_(from->n, to.stride, 1, &area));
    CHK(okra_budget_ask_(ctx, 2.0 * (double)area, "the packed bits"));
    ZMAKE(to.bytes, area);
    CHK(visit(from, packed ? put_byte : put_bit, &to));
    return okra_data_bits(to.bytes, from->n, width, to.stride, out);
}

/* ---- labels ---- */

static okra_status to_labels(const okra_context *ctx, const okra_data *from,
                             okra_data **out)
{
    FREED_BY(okra_texts_free_) okra_texts_ texts = {0};
    FREED_BY(okra_data_drop_) okra_data *dense = NULL;
    REFUSE_IF(from->d != 1 && from->n != 1, OKRA_ESHAPE,
              "labels must be one column; found %" PRId64 " rows of %" PRId64 " values",
              from->n, from->d);
    CHK(to_dense(ctx, from, NULL, &dense));
    for (okra_int k = 0; k < dense->n * dense->d; k++) {
        char text[OKRA_NUMBER_TEXT_];
        okra_double_text_(dense->values[k], text);
        CHK(okra_texts_add_(&texts, text, text + strlen(text)));
    }
    CHK(okra_texts_done_(&texts));
    return okra_labels_from_texts_(texts.pointers, texts.count, from->source, out);
}

okra_status okra_move_columns_(const okra_context *ctx, const okra_data *from,
                               const okra_int *place, okra_data **out)
{
    FREED_BY(okra_data_drop_) okra_data *moved = NULL;
    CHK(from->kind == OKRA_SPARSE ? to_sparse(ctx, from, place, &moved)
        : from->kind == OKRA_BITS ? to_bits(ctx, from, false, place, &moved)
                                  : to_dense(ctx, from, place, &moved));
    CHK(okra_data_name(moved, from->source));
    if (from->diagonal) {
        double *diagonal = NULL;
        MAKE(diagonal, from->n);
        okra_data_own_(moved, diagonal);
        OKRA_COPY_(diagonal, from->diagonal, from->n);
        moved->diagonal = diagonal;
    }
    moved->kind = from->kind;
    moved->missing = from->missing;
    *out = TAKE(moved);
    return OKRA_OK;
}

/* ---- the choice ---- */

okra_status okra_take_as_(const okra_context *ctx, okra_how_ how, okra_data **data)
{
    okra_data *from = *data, *made = NULL;
    bool dense = from->kind == OKRA_DENSE;
    bool asked = (how == OKRA_HOW_STRINGS_ && from->kind == OKRA_STRINGS) ||
                 (how == OKRA_HOW_SEQUENCES_ && from->kind == OKRA_SEQUENCES) ||
                 (how == OKRA_HOW_NODES_ && from->kind == OKRA_NODES);
    bool values = dense || from->kind == OKRA_SPARSE || from->kind == OKRA_LABELS;
    REFUSE_IF(how != OKRA_HOW_FOUND_ && !asked &&
                  (!values || how == OKRA_HOW_STRINGS_ || how == OKRA_HOW_SEQUENCES_),
              OKRA_EARG, "'%s:' does not go with %s", okra_how_name_(how),
              okra_kind_name(from->kind));
    switch (how) {
    case OKRA_HOW_FOUND_:
    case OKRA_HOW_TARGETS_:
    case OKRA_HOW_STRINGS_:
    case OKRA_HOW_SEQUENCES_:
    case OKRA_HOW_NODES_:
        break;
    case OKRA_HOW_DENSE_:
    case OKRA_HOW_MISSING_:
    case OKRA_HOW_GRAM_:
    case OKRA_HOW_DISTANCES_:
    case OKRA_HOW_PERMUTATIONS_:
        if (!dense) {
            CHK(to_dense(ctx, from, NULL, &made));
        }
        break;
    case OKRA_HOW_SPARSE_:
        if (dense) {
            CHK(to_sparse(ctx, from, NULL, &made));
        }
        break;
    case OKRA_HOW_BITS_:
    case OKRA_HOW_PACKED_:
        CHK(to_bits(ctx, from, how == OKRA_HOW_PACKED_, NULL, &made));
        break;
    case OKRA_HOW_LABELS_:
        if (from->kind != OKRA_LABELS) {
            CHK(to_labels(ctx, from, &made));
        }
        break;
    }
    if (made) {
        okra_columns_pass_(from, made);
        okra_data_free(from);
        *data = made;
    }
    if (how == OKRA_HOW_MISSING_) {
        CHK(okra_no_infinity_((*data)->values, (*data)->n, (*data)->d, (*data)->ld,
                              &(*data)->missing));
    }
    if (how == OKRA_HOW_PERMUTATIONS_) {
        CHK(okra_data_check_rankings_(*data));
    }
    if (how == OKRA_HOW_GRAM_ || how == OKRA_HOW_DISTANCES_) {
        (*data)->kind = OKRA_GRAM;
    }
    return OKRA_OK;
}
