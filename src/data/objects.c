/*
 * objects.c: collections of objects: made, named, counted, freed, and what a program may
 * see of them.
 */
#include "data/graphs.h"
#include "data/spectra/spectra.h"
#include "okra/more/objects.h"

static const char *const kind_names[] = {"dense", "sparse",  "bits",      "labels",
                                         "gram",  "strings", "sequences", "graphs",
                                         "nodes", "tuple",   "spectra",   "bags"};

const char *okra_kind_name(okra_kind kind)
{
    return (unsigned)kind < sizeof kind_names / sizeof *kind_names ? kind_names[kind]
                                                                   : "unknown";
}

okra_status okra_area_(okra_int rows, okra_int cols, size_t size, okra_int *out)
{
    okra_int area, bytes;
    REFUSE_IF(rows < 0 || cols < 0, OKRA_ESHAPE,
              "%" PRId64 " rows of %" PRId64 ": negative", rows, cols);
    REFUSE_IF(__builtin_mul_overflow(rows, cols, &area) ||
                  __builtin_mul_overflow(area, (okra_int)size, &bytes),
              OKRA_ESHAPE,
              "%" PRId64 " rows of %" PRId64 " are more than memory can hold", rows,
              cols);
    *out = area;
    return OKRA_OK;
}

/* ---- creation ---- */

okra_status okra_data_new_(okra_kind kind, okra_int n, okra_int d, const char *source,
                           okra_data **out)
{
    OWNED okra_data *data = NULL;
    ZMAKE(data, 1);
    data->kind = kind;
    data->n = n;
    data->d = d;
    data->ld = d;
    data->references = 1;
    GOT(data->source = okra_strdup_(source));
    *out = TAKE(data);
    return OKRA_OK;
}

okra_status okra_data_rename_(okra_data **data, const char *source)
{
    okra_status st = okra_data_name(*data, source);
    if (st != OKRA_OK) {
        okra_data_drop_(data);
    }
    return st;
}

okra_status okra_data_name(okra_data *data, const char *name)
{
    NOT_NULL(data, name);
    RENEW(data->source, okra_strdup_(name));
    return OKRA_OK;
}

void okra_data_own_(okra_data *data, void *block)
{
    size_t k = 0;
    while (data->owned[k]) {
        k++;
    }
    data->owned[k] = block;
}

const okra_ragged_ *okra_data_group_(const okra_data *data, const char *name)
{
    for (int k = 0; k < data->group_count; k++) {
        if (strcmp(data->groups[k].name, name) == 0) {
            return &data->groups[k];
        }
    }
    return NULL;
}

/* ---- counting ---- */

okra_data *okra_data_retain(const okra_data *data)
{
    okra_data *own = (okra_data *)(uintptr_t)data;
    if (own) {
        __atomic_add_fetch(&own->references, 1, __ATOMIC_RELAXED);
    }
    return own;
}

void okra_data_free(okra_data *data)
{
    if (!data || __atomic_sub_fetch(&data->references, 1, __ATOMIC_ACQ_REL) > 0) {
        return;
    }
    FREE(data->weights, data->rows);
    if (data->of) { /* all else is its, but for parts that have weights of their own */
        for (int k = 0; data->components && k < data->component_count; k++) {
            okra_data_free(data->components[k]);
        }
        okra_free_(data->components);
        okra_data_free(data->of);
        FREE(data->source, data);
        return;
    }
    for (size_t k = 0; k < sizeof data->owned / sizeof *data->owned; k++) {
        okra_free_(data->owned[k]);
    }
    for (int k = 0; k < data->group_count; k++) {
        okra_ragged_clear_(&data->groups[k]);
    }
    if (data->network) {
        okra_network_free_(data->network);
    }
    if (data->columns) {
        okra_columns_free_(data->columns);
    }
    for (int k = 0; k < data->component_count; k++) {
        okra_data_free(data->components[k]);
    }
    okra_free_(data->components);
    if (data->release) {
        data->release(data->release_arg);
    }
    FREE(data->source, data);
}

/* ---- questions ---- */

okra_kind okra_data_kind(const okra_data *data)
{
    return data ? data->kind : OKRA_DENSE;
}

okra_int okra_data_count(const okra_data *data)
{
    return data ? data->n : 0;
}

okra_int okra_data_width(const okra_data *data)
{
    return data ? data->d : 0;
}

const double *okra_data_values(const okra_data *data, okra_int *ld)
{
    if (!data || (data->kind != OKRA_DENSE && data->kind != OKRA_GRAM)) {
        return NULL;
    }
    GIVE(ld, data->ld);
    return data->values;
}

const okra_int *okra_data_codes(const okra_data *data)
{
    bool coded = data && (data->kind == OKRA_LABELS || data->kind == OKRA_NODES);
    return coded ? data->codes : NULL;
}

const char *okra_data_describe_(const okra_data *data, char *buffer, size_t size)
{
    static const char *const forms[] = {
        "%" PRId64 " dense vector%s of length %" PRId64,
        "%" PRId64 " sparse vector%s of length %" PRId64,
        "%" PRId64 " bit vector%s of length %" PRId64,
        "%" PRId64 " label%s of %" PRId64 " classes",
        "%" PRId64 " row%s of a Gram matrix with %" PRId64 " columns",
        "%" PRId64 " string%s",
        "%" PRId64 " sequence%s of vectors of length %" PRId64,
        "%" PRId64 " graph%s",
        "%" PRId64 " node%s of a network of %" PRId64,
        "%" PRId64 " tuple%s of %" PRId64 " descriptions",
        "%" PRId64 " spectr%s",
        "%" PRId64 " bag%s of %" PRId64 " objects",
    };
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(buffer, size, forms[data->kind], data->n,
             data->kind == OKRA_SPECTRA ? data->n == 1 ? "um" : "a"
             : data->n == 1             ? ""
                                        : "s",
             data->kind == OKRA_BAGS ? data->components[0]->n : data->d);
#pragma GCC diagnostic pop
    return buffer;
}

const double *okra_data_vectors(const okra_data *data, okra_int i, okra_int *length)
{
    if (!data || data->kind != OKRA_SEQUENCES || i < 0 || i >= data->n) {
        return NULL;
    }
    const okra_ragged_ *group = &data->groups[0];
    GIVE(length, group->offsets[i + 1] - group->offsets[i]);
    return (const double *)okra_ragged_field_(group, "vector")->values +
           group->offsets[i] * data->d;
}

const okra_int *okra_data_compressed(const okra_data *data, const okra_int **indices,
                                     const double **values)
{
    if (!data || data->kind != OKRA_SPARSE) {
        return NULL;
    }
    GIVE(indices, data->csr.indices);
    GIVE(values, data->csr.values);
    return data->csr.indptr;
}

const uint64_t *okra_data_words(const okra_data *data, okra_int *words)
{
    if (!data || data->kind != OKRA_BITS) {
        return NULL;
    }
    GIVE(words, data->words);
    return data->bits;
}

const char *okra_data_text(const okra_data *data, okra_int i, okra_int *length)
{
    const char *text = NULL;
    okra_int unasked;
    length = length ? length : &unasked;
    if (!data || i < 0 || i >= data->n) {
        return NULL;
    }
    data = okra_bag_first_(data, &i);
    if (data->kind == OKRA_GRAPHS) {
        return okra_graphs_text_(data, i, length);
    }
    if (data->kind == OKRA_SPECTRA) {
        return okra_data_about(data, i, "TITLE", length);
    }
    if (data->kind == OKRA_LABELS && data->class_names) {
        text = data->class_names[data->codes[i]];
    } else if (data->kind == OKRA_NODES && data->network->names) {
        text = data->network->names[data->codes[i]];
    }
    if (text) {
        *length = (okra_int)strlen(text);
    }
    return text;
}

okra_int okra_data_row(const okra_data *data, okra_int i)
{
    bool there = data && i >= 0 && i < data->n;
    return !there ? -1 : data->rows ? data->rows[i] : i;
}

double okra_data_mass(const okra_data *data, okra_int i)
{
    okra_atom_counts_ composition;
    if (!data || i < 0 || i >= data->n) {
        return 0;
    }
    data = okra_bag_first_(data, &i);
    if (data->kind == OKRA_SPECTRA) {
        return okra_spectrum_view_of_(data, i).mass;
    }
    okra_atoms_(data, i, &composition);
    return composition.mass;
}

const char *okra_data_formula(const okra_data *data, okra_int i, char *buffer,
                              size_t size)
{
    okra_atom_counts_ composition;
    if (!buffer || size == 0) {
        return "";
    }
    buffer[0] = '\0';
    if (data && i >= 0 && i < data->n) {
        okra_atoms_(data, i, &composition);
        okra_formula_(&composition, buffer, size);
    }
    return buffer;
}

const okra_data *okra_data_part(const okra_data *data, int k)
{
    return data && k >= 0 && k < data->component_count ? data->components[k] : NULL;
}

const okra_int *okra_data_offsets(const okra_data *data)
{
    return data && data->kind == OKRA_BAGS ? data->groups[0].offsets : NULL;
}
