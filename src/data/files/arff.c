/*
 * arff.c: the attribute-relation files of WEKA, with dense or sparse rows.
 *
 * Numeric attributes, and nominal ones whose values are all numbers ({0,1}), are
 * features. A last attribute with text values is the class: it is left out of the
 * features and read by labels:FILE; labels:FILE:NAME reads another attribute.
 */
#include "data/files/arff.h"

#include <inttypes.h>
#include <string.h>

/* ---- features ---- */

typedef struct fill {
    double *values; /* dense: the current row      */
    okra_csr_ csr;  /* sparse: rows, and their end */
    okra_int used, width;
} fill;

static okra_status take_feature(void *arg, const okra_arff_ *r, okra_int k,
                                okra_span_ value)
{
    fill *f = arg;
    double number;
    if (k >= f->width) {
        return OKRA_OK; /* the class */
    }
    okra_token_ token = okra_number_(value.begin, value.close, &number);
    if (token != OKRA_TOKEN_NUMBER_) {
        return okra_bad_field_(token, r->lines.number, k + 1, value.begin, value.close);
    }
    if (!r->sparse) {
        f->values[k] = number;
    } else if (number != 0) {
        f->csr.indices[f->used] = k;
        f->csr.values[f->used++] = number;
    }
    return OKRA_OK;
}

/* How many attributes are features; all of them must be numbers. */
static okra_status feature_count(const okra_arff_ *r, okra_int *width)
{
    *width = r->count - (r->attributes[r->count - 1].sort == OKRA_ARFF_NOMINAL_TEXTS_);
    for (okra_int k = 0; k < *width; k++) {
        REFUSE_IF(r->attributes[k].sort != OKRA_ARFF_NUMERIC_ &&
                      r->attributes[k].sort != OKRA_ARFF_NOMINAL_NUMBERS_,
                  OKRA_EUNSUPPORTED,
                  "attribute %" PRId64 " ('%s') is text; features must be "
                  "numbers (labels:FILE:NAME reads one attribute as labels)",
                  k + 1, okra_arff_name_(r, k));
    }
    return *width > 0 ? OKRA_OK
                      : okra_fail_(OKRA_EFORMAT, "there are no features, only the class");
}

static okra_status read_features(okra_source_ *source, okra_arff_ *r, okra_data **out)
{
    okra_status st = OKRA_OK;
    fill f = {0};
    double *values = NULL;
    const char **names = NULL;
    okra_data *data = NULL;
    okra_int entries = okra_arff_measure_(r) + r->rows, rest = r->lines.end - r->lines.p;
    TRY(feature_count(r, &f.width));
    if (r->sparse) {
        TRY(okra_budget_ask_(source->ctx, 16.0 * (double)entries, "the sparse rows"));
        ALLOC(f.csr.indptr, r->rows + 1);
        ALLOC(f.csr.indices, entries);
        ALLOC(f.csr.values, entries);
        f.csr.indptr[0] = 0;
    } else {
        FAIL_IF((double)r->rows * (double)r->count > (double)rest, OKRA_EFORMAT,
                "%" PRId64 " rows of %" PRId64 " attributes are more than the %" PRId64
                " bytes after @data can hold",
                r->rows, r->count, rest);
        TRY(okra_doubles_(source->ctx, r->rows, f.width, "a table", &values));
        f.values = values;
    }
    for (okra_int i = 0; i < r->rows && okra_arff_line_(&r->lines); i++) {
        TRY(okra_arff_row_(r, take_feature, &f));
        if (r->sparse) {
            f.csr.indptr[i + 1] = f.used;
        } else {
            f.values += f.width;
        }
    }
    TRY(r->sparse
            ? okra_data_adopt_sparse_(&f.csr, r->rows, f.width, source->name, &data)
            : okra_data_adopt_dense_(&values, r->rows, f.width, source->name, &data));
    ALLOC(names, f.width);
    for (okra_int k = 0; k < f.width; k++) {
        names[k] = okra_arff_name_(r, k);
    }
    TRY(okra_columns_read_(data, names));
    *out = TAKE(data);
done:
    okra_data_free(data);
    FREE(names, values);
    okra_csr_free_(&f.csr);
    return st;
}

/* ---- labels ---- */

typedef struct chosen {
    okra_int attribute;
    okra_span_ value;
    okra_texts_ texts; /* the labels row by row */
    okra_int *codes;   /* of nominal texts      */
} chosen;

static okra_status take_chosen(void *arg, const okra_arff_ *r, okra_int k,
                               okra_span_ value)
{
    (void)r;
    chosen *c = arg;
    if (k == c->attribute) {
        c->value = value;
    }
    return OKRA_OK;
}

static bool same(const char *text, okra_span_ value)
{
    size_t length = (size_t)(value.close - value.begin);
    return strlen(text) == length && memcmp(text, value.begin, length) == 0;
}

static okra_status add_label(const okra_arff_ *r, chosen *c, okra_int i)
{
    const okra_arff_attribute_ *a = &r->attributes[c->attribute];
    double number;
    if (!c->value.begin) { /* left out of a sparse row: 0, or the first value */
        static const char zero[] = "0";
        const char *text =
            a->first < a->last ? r->texts.block + r->texts.offsets[a->first] : zero;
        c->value = (okra_span_){text, text + strlen(text)};
    }
    if (okra_number_(c->value.begin, c->value.close, &number) == OKRA_TOKEN_MISSING_) {
        return okra_bad_field_(OKRA_TOKEN_MISSING_, r->lines.number, c->attribute + 1,
                               c->value.begin, c->value.close);
    }
    for (okra_int k = a->first; k < a->last; k++) {
        if (same(r->texts.block + r->texts.offsets[k], c->value)) {
            c->codes[i] = k - a->first;
            return okra_texts_add_(&c->texts, c->value.begin, c->value.close);
        }
    }
    REFUSE_IF(a->first < a->last, OKRA_EFORMAT,
              "line %" PRId64 ", column %" PRId64
              ": '%.*s' is not among the values of attribute '%s'",
              r->lines.number, c->attribute + 1,
              (int)OKRA_MIN_(c->value.close - c->value.begin, 40), c->value.begin,
              okra_arff_name_(r, c->attribute));
    return okra_texts_add_(&c->texts, c->value.begin, c->value.close);
}

static okra_status choose(const okra_arff_ *r, const char *part, okra_int *out)
{
    for (okra_int k = 0; k < r->count; k++) {
        if (part ? strcmp(okra_arff_name_(r, k), part) == 0 : k == r->count - 1) {
            *out = k;
            return OKRA_OK;
        }
    }
    return okra_fail_(OKRA_EARG, "there is no attribute '%s'", part);
}

static okra_status read_labels(okra_source_ *source, okra_arff_ *r, okra_data **out)
{
    okra_status st = OKRA_OK;
    chosen c = {0};
    TRY(choose(r, source->part, &c.attribute));
    okra_arff_measure_(r);
    ALLOC(c.codes, r->rows);
    for (okra_int i = 0; i < r->rows && okra_arff_line_(&r->lines); i++) {
        c.value = (okra_span_){NULL, NULL};
        TRY(okra_arff_row_(r, take_chosen, &c));
        TRY(add_label(r, &c, i));
    }
    const okra_arff_attribute_ *a = &r->attributes[c.attribute];
    if (a->sort == OKRA_ARFF_NOMINAL_TEXTS_) {
        TRY(okra_texts_done_(&r->texts));
        TRY(okra_data_labels(c.codes, r->rows,
                             (const char *const *)r->texts.pointers + a->first,
                             a->last - a->first, out));
    } else {
        TRY(okra_texts_done_(&c.texts));
        TRY(okra_labels_from_texts_(c.texts.pointers, c.texts.count, source->name, out));
    }
done:
    okra_free_(c.codes);
    okra_texts_free_(&c.texts);
    return st;
}

okra_status okra_read_arff_(okra_source_ *source, okra_data **out)
{
    okra_status st = OKRA_OK;
    okra_arff_ r = {.lines = okra_lines_begin_(&source->bytes)};
    TRY(okra_arff_head_(&r));
    if (source->how == OKRA_HOW_LABELS_) {
        TRY(read_labels(source, &r, out));
    } else if (source->part) {
        FAIL(OKRA_EARG, "only labels: can choose an attribute ('%s')", source->part);
    } else {
        TRY(read_features(source, &r, out));
    }
done:
    okra_free_(r.attributes);
    okra_texts_free_(&r.texts);
    return st;
}
