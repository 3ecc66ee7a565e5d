/*
 * vectors.c: candidates that are vectors: rows of a file of numbers.
 *
 * A shard holds them as they are, so that every kernel of vectors can rank them. A table
 * with a header may tell about them, line by line: what they are called, and numbers for
 * windows. Equal vectors stay: they may stand for different things.
 */
#include "candidates/build.h"
#include "candidates/nearest.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <strings.h>

enum { WIDTH_MOST = 1 << 18, SHARD_BYTES = 1 << 28 };
static const char prefix[] = "dense:";
enum { PREFIX = sizeof prefix - 1 };

bool okra_build_of_vectors_(const char *source)
{
    size_t length = strlen(source);
    return strncasecmp(source, prefix, PREFIX) == 0 ||
           (length > 4 && strcasecmp(source + length - 4, ".npy") == 0);
}

/* Is the kernel one of such vectors? That of a model is there already: a file that it
 * names is not read. */
static okra_status check_kernel(const okra_build_ *b)
{
    FREED_BY(okra_data_drop_) okra_data *zero = NULL;
    FREED_BY(okra_other_drop_) okra_other_ *other = NULL;
    const okra_output_ *o = b->output;
    okra_bound_ *bound = NULL;
    OWNED double *values = NULL;
    ZMAKE(values, b->vectors->d);
    CHK(okra_data_dense(values, 1, b->vectors->d, b->vectors->d, &zero));
    CHK(okra_data_name(zero, b->request->source));
    if (o) { /* another length is told by who needs it to be the same */
        bool other_length = o->y->kind == OKRA_DENSE && o->y->d != b->vectors->d;
        return o->ky && !other_length ? okra_other_create_(b->ctx, o->ky, zero, &other)
                                      : OKRA_OK;
    }
    CHK(okra_bound_create_(b->ctx, b->kernel.kernel, zero, &bound));
    okra_bound_free_(bound);
    return OKRA_OK;
}

static okra_status check_table(const okra_build_ *b)
{
    okra_lines_ lines = okra_lines_begin_(&b->source);
    okra_int count = -1; /* the header */
    while (okra_lines_next_(&lines)) {
        count += lines.begin < lines.close;
    }
    return count == b->vectors->n
               ? OKRA_OK
               : okra_fail_(OKRA_EFORMAT,
                            "%s: %" PRId64 " lines below the header, expected %" PRId64
                            ", one for each vector of %s",
                            b->request->table, OKRA_MAX_(count, 0), b->vectors->n,
                            b->request->source);
}

/* The |y|^2 that all vectors have which stay, as the search among a list looks for it. */
static okra_status find_level(okra_build_ *b)
{
    const okra_data *v = b->vectors;
    OWNED double *norm = NULL;
    OWNED bool *skip = NULL;
    MAKE(norm, v->n);
    MAKE(skip, v->n);
    for (okra_int i = 0; i < v->n; i++) {
        const double *row = v->values + i * v->ld;
        norm[i] = okra_dot_(v->d, row, row);
        skip[i] = !isfinite(norm[i]);
    }
    return okra_self_constant_(b->ctx, norm, v->n, skip, &b->level);
}

okra_status okra_build_vectors_(okra_build_ *b)
{
    const char *source = b->request->source, *table = b->request->table;
    okra_int skip = strncasecmp(source, prefix, PREFIX) == 0 ? PREFIX : 0;
    OWNED char *spec = okra_format_("missing:%s", source + skip);
    GOT(spec);
    CHK(okra_data_read(b->ctx, spec, &b->vectors));
    okra_int width = b->vectors->d;
    REFUSE_IF(width < 1 || width > WIDTH_MOST, OKRA_EFORMAT,
              "%s: vectors of %" PRId64 " numbers, expected 1 to %d", source, width,
              WIDTH_MOST);
    CHK(check_kernel(b));
    CHK(find_level(b));
    okra_int most = OKRA_MAX_(1, SHARD_BYTES / (8 * width));
    b->shard = OKRA_MIN_(b->shard, most);
    if (table && *table) {
        CHK(okra_bytes_open_(b->ctx, table, &b->source));
        CHK(check_table(b));
    }
    return OKRA_OK;
}

uint64_t okra_vector_key_(const double *row, okra_int width)
{
    uint64_t h = OKRA_MIX_START_;
    for (okra_int j = 0; j < width; j++) {
        double value = row[j] + 0.0;
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        h = (h ^ bits) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29;
    }
    return h;
}

/* The first value that is no number or too large to compute with; width: none is. */
static okra_int first_gap(const double *row, okra_int width)
{
    double sum = 0;
    for (okra_int j = 0; j < width; j++) {
        sum += row[j] * row[j];
        if (!isfinite(sum)) {
            return j;
        }
    }
    return width;
}

/* Is what the table calls it a text? */
static okra_status check_name(const okra_build_ *b, const okra_entry_ *e)
{
    const char *text = (const char *)b->source.p + e->name;
    okra_lines_ part = {.begin = text, .close = text + e->named, .number = e->line};
    return e->named > 0 ? okra_line_check_(&part) : OKRA_OK;
}

okra_status okra_build_rows_(void *build, okra_int begin, okra_int end, int worker)
{
    okra_build_ *b = build;
    const okra_data *v = b->vectors;
    (void)worker;
    for (okra_int k = begin; k < end; k++) {
        okra_entry_ *e = &b->entry[k];
        const double *row = v->values + (okra_int)e->place * v->ld;
        double mass = b->mass < 0 ? 0 : b->values[k * b->columns + b->mass];
        e->broken = e->wrong || first_gap(row, v->d) < v->d || check_name(b, e);
        e->key = okra_vector_key_(row, v->d);
        e->mass = mass > 0 ? mass : 0;
    }
    return OKRA_OK;
}

okra_status okra_build_row_fault_(const okra_build_ *b, const okra_entry_ *e)
{
    const okra_data *v = b->vectors;
    const double *row = v->values + (okra_int)e->place * v->ld;
    okra_int gap = first_gap(row, v->d);
    okra_status st = check_name(b, e);
    REFUSE_IF(gap < v->d, OKRA_EFORMAT,
              "row %" PRIu64 ", column %" PRId64
              " (counted from 0) is %g, expected a number whose square is one",
              e->place, gap, row[gap]);
    if (st == OKRA_OK) {
        st = okra_fail_(OKRA_EFORMAT, "line %" PRId64 ": column %s holds no number",
                        e->line, b->names[e->wrong - 1]);
    }
    okra_message_prefix_("row %" PRIu64 " (counted from 0), %s", e->place,
                         b->request->table);
    return st;
}

okra_status okra_shard_vectors_(const okra_shard_ *s, const okra_int *rows,
                                okra_int first, okra_int count, okra_data **out)
{
    okra_int width = (okra_int)s->head.words[0];
    const double *all = (const double *)(const void *)s->bits[0];
    OWNED double *chosen = NULL;
    okra_data *data = NULL;
    if (rows) {
        MAKE(chosen, count * width);
        for (okra_int i = 0; i < count; i++) {
            memcpy(chosen + i * width, all + rows[i] * width,
                   (size_t)width * sizeof *chosen);
        }
    }
    const double *values = rows ? chosen : all + first * width;
    REFUSE_IF(okra_finite_(values, count, width, width) != OKRA_OK, OKRA_EFORMAT,
              "the index is broken: a candidate has a value that is no finite number");
    CHK(okra_data_new_(OKRA_DENSE, count, width, "index", &data));
    data->values = values;
    data->ld = width;
    data->borrowed = !rows;
    if (rows) {
        okra_data_own_(data, chosen);
        chosen = NULL;
    }
    *out = data;
    return OKRA_OK;
}
