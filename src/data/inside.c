/*
 * inside.c: what a program may see of objects that are not dense vectors.
 */
#include "data/graphs.h"
#include "data/spectra/spectra.h"
#include "okra/more/objects.h"

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
