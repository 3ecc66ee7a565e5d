/*
 * bags_read.c: rows of a file as bags: those that have the same text in one field.
 *
 * Spectra have fields (INCHIKEY, TITLE, ...), tables have columns, which are cut out
 * before the others are read. Bags come in the order of their first rows, the members of
 * a bag in that of the file.
 */
#include "data/files/formats.h"
#include "okra/more/objects.h"
#include "okra/more/tables.h"

/* The bag of each spectrum, numbered by first appearance. */
static okra_status by_field(const okra_data *members, const char *field,
                            okra_names_ *names, okra_int *bag)
{
    okra_int length = 0;
    for (okra_int i = 0; i < members->n; i++) {
        const char *text = okra_data_about(members, i, field, &length);
        REFUSE_IF(!text, OKRA_EFORMAT,
                  "spectrum %" PRId64 " (counted from 0) has no field '%s', which is to "
                  "tell its bag",
                  i, field);
        CHK(okra_names_add_(names, text, text + length, &bag[i]));
    }
    return OKRA_OK;
}

/* Members in order of their bags, as bags; data->rows: the first row of each. */
static okra_status group(const okra_data *members, const okra_int *bag, okra_int count,
                         okra_data **out)
{
    FREED_BY(okra_data_drop_) okra_data *sorted = NULL, *data = NULL;
    OWNED okra_int *offsets = NULL, *order = NULL, *rows = NULL;
    ZMAKE(offsets, count + 2);
    MAKE(order, members->n);
    MAKE(rows, members->n + count);
    for (okra_int i = 0; i < members->n; i++) {
        offsets[bag[i] + 2]++;
    }
    for (okra_int b = 0; b < count; b++) {
        offsets[b + 2] += offsets[b + 1];
    }
    for (okra_int i = 0; i < members->n; i++) {
        order[offsets[bag[i] + 1]++] = i;
    }
    CHK(okra_data_take(members, order, members->n, &sorted));
    CHK(okra_data_bags(sorted, offsets, count, &data));
    for (okra_int b = 0; b < count; b++) {
        rows[b] = order[offsets[b]];
    }
    memcpy(rows + count, order, (size_t)members->n * sizeof *order);
    data->rows = TAKE(rows);
    *out = TAKE(data);
    return OKRA_OK;
}

okra_status okra_read_bags_(const okra_file_format_ *format, okra_source_ *source,
                            okra_data **out)
{
    FREED_BY(okra_data_drop_) okra_data *members = NULL;
    FREED_BY(okra_names_free_) okra_names_ names = {0};
    FREED_BY(okra_texts_free_) okra_texts_ texts = {0};
    FREED_BY(okra_bytes_close_) okra_bytes_ rest = {0};
    OWNED okra_int *bag = NULL;
    okra_source_ plain = *source;
    bool header = false;
    bool tabs = format->read == okra_read_tsv_;
    bool table = tabs || format->read == okra_read_csv_;
    plain.bag = NULL;
    plain.like = okra_data_part(source->like, 0);
    if (table) {
        CHK(okra_table_cut_(source, tabs, source->bag, &texts, &rest, &header));
        plain.bytes = rest;
    }
    /* The rest is read as the whole was: fewer columns may tell less. */
    int before = okra_context_header_(source->ctx);
    if (table && source->ctx) {
        CHK(okra_context_set_header(source->ctx, header ? 1 : -1));
    }
    okra_status st = okra_format_read_(format, &plain, &members);
    CHK(table && source->ctx ? okra_context_set_header(source->ctx, before) : OKRA_OK);
    CHK(st);
    REFUSE_IF(
        !table && members->kind != OKRA_SPECTRA, OKRA_EUNSUPPORTED,
        "bags are made of spectra by a field, or of the rows of a table by a column; "
        "the file is neither");
    REFUSE_IF(table && members->n != texts.count, OKRA_EFORMAT,
              "%" PRId64 " rows, but %" PRId64 " texts in '%s' tell their bags",
              members->n, texts.count, source->bag);
    MAKE(bag, members->n);
    for (okra_int i = 0; i < texts.count; i++) {
        const char *text = texts.pointers[i];
        CHK(okra_names_add_(&names, text, text + strlen(text), &bag[i]));
    }
    CHK(!table ? by_field(members, source->bag, &names, bag) : OKRA_OK);
    return group(members, bag, names.texts.count, out);
}

okra_status okra_data_outputs(okra_context *context, const okra_data *x,
                              const okra_data *y, okra_data **out)
{
    OWNED okra_int *same = NULL;
    okra_int differ = 0;
    NOT_NULL(x, y, out);
    bool each = x->kind == OKRA_BAGS && x->rows && y->n == x->components[0]->n;
    if (!each || y->n == x->n) {
        *out = okra_data_retain(y);
        return OKRA_OK;
    }
    MAKE(same, y->n);
    CHK(okra_data_same_(&y, 1, same));
    for (okra_int b = 0; b < x->n; b++) {
        bool other = false;
        for (okra_int k = x->groups[0].offsets[b]; k < x->groups[0].offsets[b + 1]; k++) {
            other = other || same[x->rows[x->n + k]] != same[x->rows[b]];
        }
        differ += other;
    }
    if (differ > 0) {
        okra_warn_(
            context,
            "%s: the outputs of %lld of %lld bags differ within the bag; the first "
            "of each is taken",
            y->source, (long long)differ, (long long)x->n);
    }
    return okra_data_take(y, x->rows, x->n, out);
}
