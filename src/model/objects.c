/*
 * objects.c: collections of objects as arrays of a model file.
 *
 * Each kind has a pair of functions in one table: save puts arrays into a folder of the
 * archive, load makes the collection from them. Loading goes through the constructors of
 * the library, which check what they are given; dense vectors and Gram matrices stay in
 * the mapped file, other kinds are copied out of it.
 */
#include "model/model.h"

#include "data/files/formats.h"
#include "data/graphs.h"

typedef struct kind_io {
    okra_status (*save)(okra_saver_ *saver, const char *folder, const okra_data *data);
    okra_status (*load)(const okra_stored_ *s, okra_data **out);
    bool mapped; /* it stays in the file, or its parts are asked for one by one */
} kind_io;

okra_status okra_fetch_(const okra_stored_ *s, const char *name, const char *dtype,
                        okra_int rows, okra_int cols, const void **values,
                        okra_int *rows_found)
{
    okra_int r = 0, c = 0;
    CHK(okra_archive_get_(s->archive, s->folder, name, dtype, &r, &c, values));
    REFUSE_IF((rows >= 0 && r != rows) || c != cols, OKRA_EFORMAT,
              "%s: the array %s/%s has a shape that does not fit", s->archive->path,
              s->folder, name);
    GIVE(rows_found, r);
    return OKRA_OK;
}

static void release(void *archive)
{
    okra_archive_free_(archive);
}

/* Data that lies in the mapped file keeps it mapped, and owns its memory by that. */
static void hold(okra_data *data, okra_archive_ *archive)
{
    atomic_fetch_add(&archive->references, 1);
    data->borrowed = false;
    data->release = release;
    data->release_arg = archive;
}

/* ---- dense vectors and Gram matrices ---- */

static okra_status save_dense(okra_saver_ *saver, const char *folder,
                              const okra_data *data)
{
    return okra_saver_put_(saver, folder, "values", "<f8", data->n, data->d, data->values,
                           data->ld * 8);
}

static okra_status load_dense(const okra_stored_ *s, okra_data **out)
{
    const void *values = NULL;
    bool missing = json_is_true(json_object_get(s->about, "missing"));
    CHK(okra_fetch_(s, "values", "<f8", s->n, s->d, &values, NULL));
    CHK((missing ? okra_data_missing : okra_data_dense)(values, s->n, s->d, s->d, out));
    hold(*out, s->archive);
    return OKRA_OK;
}

static okra_status save_gram(okra_saver_ *saver, const char *folder,
                             const okra_data *data)
{
    CHK(save_dense(saver, folder, data));
    return data->diagonal ? okra_saver_put_(saver, folder, "diagonal", "<f8", data->n, -1,
                                            data->diagonal, 8)
                          : OKRA_OK;
}

static okra_status load_gram(const okra_stored_ *s, okra_data **out)
{
    const void *values = NULL, *diagonal = NULL;
    CHK(okra_fetch_(s, "values", "<f8", s->n, s->d, &values, NULL));
    if (okra_archive_has_(s->archive, s->folder, "diagonal")) {
        CHK(okra_fetch_(s, "diagonal", "<f8", s->n, -1, &diagonal, NULL));
    }
    CHK(okra_data_gram(values, s->n, s->d, s->d, diagonal, out));
    hold(*out, s->archive);
    return OKRA_OK;
}

/* ---- sparse vectors ---- */

static okra_status save_sparse(okra_saver_ *saver, const char *folder,
                               const okra_data *data)
{
    const okra_csr_ *csr = &data->csr;
    okra_int count = csr->indptr[data->n];
    CHK(okra_saver_put_(saver, folder, "indptr", "<i8", data->n + 1, -1, csr->indptr, 8));
    CHK(okra_saver_put_(saver, folder, "indices", "<i8", count, -1, csr->indices, 8));
    return okra_saver_put_(saver, folder, "values", "<f8", count, -1, csr->values, 8);
}

static okra_status load_sparse(const okra_stored_ *s, okra_data **out)
{
    const void *indptr = NULL, *indices = NULL, *values = NULL;
    okra_int count = 0;
    CHK(okra_fetch_(s, "indptr", "<i8", s->n + 1, -1, &indptr, NULL));
    CHK(okra_fetch_(s, "indices", "<i8", -1, -1, &indices, &count));
    CHK(okra_fetch_(s, "values", "<f8", count, -1, &values, NULL));
    const okra_int *ends = indptr;
    REFUSE_IF(ends[0] != 0 || ends[s->n] != count, OKRA_EFORMAT,
              "%s: %s/indptr does not end at the %lld values there are", s->archive->path,
              s->folder, (long long)count);
    return okra_data_sparse(indptr, indices, values, s->n, s->d, out);
}

/* ---- packed bits ---- */

static okra_status save_bits(okra_saver_ *saver, const char *folder,
                             const okra_data *data)
{
    return okra_saver_put_(saver, folder, "bits", "<u8", data->n, data->words, data->bits,
                           data->words * 8);
}

static okra_status load_bits(const okra_stored_ *s, okra_data **out)
{
    const void *bits = NULL;
    okra_int words = (s->d + 63) / 64;
    CHK(okra_fetch_(s, "bits", "<u8", s->n, words, &bits, NULL));
    return okra_data_bits(bits, s->n, s->d, words * 8, out);
}

/* ---- labels ---- */

/* The names of the classes, each ended by a zero byte, in one array. */
static okra_status save_names(okra_saver_ *saver, const char *folder, char **names,
                              okra_int count)
{
    size_t length = 0, at = 0;
    OWNED char *bytes = NULL;
    for (okra_int c = 0; c < count; c++) {
        length += strlen(names[c]) + 1;
    }
    MAKE(bytes, (okra_int)length);
    for (okra_int c = 0; c < count; c++) {
        size_t size = strlen(names[c]) + 1;
        memcpy(bytes + at, names[c], size);
        at += size;
    }
    return okra_saver_put_(saver, folder, "names", "|u1", (okra_int)length, -1, bytes, 1);
}

static okra_status save_labels(okra_saver_ *saver, const char *folder,
                               const okra_data *data)
{
    CHK(okra_saver_put_(saver, folder, "codes", "<i8", data->n, -1, data->codes, 8));
    return data->class_names ? save_names(saver, folder, data->class_names, data->d)
                             : OKRA_OK;
}

/* Pointers to `count` names in an array of bytes. */
static okra_status load_names(const okra_stored_ *s, okra_int count, const char ***out)
{
    const void *bytes = NULL;
    OWNED const char **names = NULL;
    okra_int length = 0, found = 0;
    CHK(okra_fetch_(s, "names", "|u1", -1, -1, &bytes, &length));
    const char *text = bytes;
    REFUSE_IF(count > length, OKRA_EFORMAT, "%s: %s/names is too short for %lld names",
              s->archive->path, s->folder, (long long)count);
    MAKE(names, count);
    for (okra_int at = 0, begin = 0; at < length; at++) {
        if (text[at] == '\0') {
            if (found < count) {
                names[found] = text + begin;
            }
            found++;
            begin = at + 1;
        }
    }
    REFUSE_IF(found != count || (length > 0 && text[length - 1] != '\0'), OKRA_EFORMAT,
              "%s: %s/names holds %lld names, expected %lld", s->archive->path, s->folder,
              (long long)found, (long long)count);
    *out = TAKE(names);
    return OKRA_OK;
}

static okra_status load_labels(const okra_stored_ *s, okra_data **out)
{
    const void *codes = NULL;
    OWNED const char **names = NULL;
    CHK(okra_fetch_(s, "codes", "<i8", s->n, -1, &codes, NULL));
    if (okra_archive_has_(s->archive, s->folder, "names")) {
        CHK(load_names(s, s->d, &names));
    } else {
        REFUSE_IF(
            s->d > OKRA_MAX_(s->n, OKRA_CODES_MOST_ + 1), OKRA_EFORMAT,
            "%lld labels of %lld classes without names, expected at most %lld classes",
            (long long)s->n, (long long)s->d,
            (long long)OKRA_MAX_(s->n, OKRA_CODES_MOST_ + 1));
    }
    return okra_data_labels(codes, s->n, names, s->d, out);
}

/* ---- nodes of a network ---- */

static okra_status save_nodes(okra_saver_ *saver, const char *folder,
                              const okra_data *data)
{
    const okra_network_ *w = data->network;
    okra_int count = w->adjacency.indptr[w->nodes];
    CHK(okra_saver_put_(saver, folder, "codes", "<i8", data->n, -1, data->codes, 8));
    CHK(okra_saver_put_(saver, folder, "indptr", "<i8", w->nodes + 1, -1,
                        w->adjacency.indptr, 8));
    CHK(okra_saver_put_(saver, folder, "indices", "<i8", count, -1, w->adjacency.indices,
                        8));
    CHK(okra_saver_put_(saver, folder, "values", "<f8", count, -1, w->adjacency.values,
                        8));
    return w->names ? save_names(saver, folder, w->names, w->nodes) : OKRA_OK;
}

/* The edges of the lower triangle; the constructor makes the other half again. */
static okra_status load_nodes(const okra_stored_ *s, okra_data **out)
{
    const void *codes = NULL, *indptr = NULL, *indices = NULL, *values = NULL;
    OWNED const char **names = NULL;
    FREED_BY(okra_network_drop_) okra_network_ *network = NULL;
    OWNED okra_link_ *edges = NULL;
    okra_int count = 0, kept = 0;
    CHK(okra_fetch_(s, "codes", "<i8", s->n, -1, &codes, NULL));
    CHK(okra_fetch_(s, "indptr", "<i8", s->d + 1, -1, &indptr, NULL));
    CHK(okra_fetch_(s, "indices", "<i8", -1, -1, &indices, &count));
    CHK(okra_fetch_(s, "values", "<f8", count, -1, &values, NULL));
    if (okra_archive_has_(s->archive, s->folder, "names")) {
        CHK(load_names(s, s->d, &names));
    }
    const okra_int *ends = indptr, *other = indices;
    MAKE(edges, count);
    for (okra_int i = 0; i < s->d; i++) {
        REFUSE_IF(ends[i] < 0 || ends[i + 1] < ends[i] || ends[i + 1] > count,
                  OKRA_EFORMAT, "%s: %s/indptr does not fit", s->archive->path,
                  s->folder);
        for (okra_int k = ends[i]; k < ends[i + 1]; k++) {
            if (other[k] <= i) {
                edges[kept++] = (okra_link_){i, other[k], ((const double *)values)[k]};
            }
        }
    }
    CHK(okra_network_create_(s->d, edges, kept, names, NULL, &network));
    return okra_nodes_create_(network, codes, s->n, s->archive->path, out);
}

/* ---- the table ---- */

static const kind_io kinds[] = {
    [OKRA_DENSE] = {save_dense, load_dense, true},
    [OKRA_SPARSE] = {save_sparse, load_sparse, false},
    [OKRA_BITS] = {save_bits, load_bits, false},
    [OKRA_LABELS] = {save_labels, load_labels, false},
    [OKRA_GRAM] = {save_gram, load_gram, true},
    [OKRA_STRINGS] = {okra_ragged_save_, okra_ragged_load_, false},
    [OKRA_SEQUENCES] = {okra_ragged_save_, okra_ragged_load_, false},
    [OKRA_GRAPHS] = {okra_ragged_save_, okra_ragged_load_, false},
    [OKRA_NODES] = {save_nodes, load_nodes, false},
    [OKRA_SPECTRA] = {okra_ragged_save_, okra_ragged_load_, false},
    [OKRA_TUPLE] = {okra_tuple_save_, okra_tuple_load_, true},
    [OKRA_BAGS] = {okra_bags_save_, okra_bags_load_, true},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

okra_status okra_objects_save_(okra_saver_ *saver, const char *folder,
                               const okra_data *data)
{
    REFUSE_IF((unsigned)data->kind >= KINDS || !kinds[data->kind].save, OKRA_EUNSUPPORTED,
              "a model file cannot hold %s", okra_kind_name(data->kind));
    return kinds[data->kind].save(saver, folder, data);
}

/* Room for copies of the arrays of a folder: constructors need at most three. */
static okra_status ask(const okra_archive_ *archive, const char *folder)
{
    const char *key;
    json_t *about;
    double bytes = 0;
    size_t length = strlen(folder);
    json_object_foreach(archive->arrays, key, about)
    {
        if (strncmp(key, folder, length) == 0 && key[length] == '/') {
            const json_t *shape = json_object_get(about, "shape");
            double area = 8;
            for (size_t i = 0; i < json_array_size(shape); i++) {
                area *= (double)json_integer_value(json_array_get(shape, i));
            }
            bytes += 3 * area;
        }
    }
    return okra_budget_ask_(archive->context, bytes, "%s: the training objects '%s'",
                            archive->path, folder);
}

/* Names of columns, where the model tells them. */
static okra_status load_columns(const okra_stored_ *s, okra_data *data)
{
    OWNED const char **names = NULL;
    const json_t *list = json_object_get(s->about, "columns");
    if (!list) {
        return OKRA_OK;
    }
    REFUSE_IF(!json_is_array(list) || (okra_int)json_array_size(list) != data->d,
              OKRA_EFORMAT, "'columns' of model.json, expected %lld names",
              (long long)data->d);
    MAKE(names, data->d);
    for (okra_int j = 0; j < data->d; j++) {
        names[j] = json_string_value(json_array_get(list, (size_t)j));
    }
    return okra_data_set_columns(data, names);
}

okra_status okra_objects_load_(okra_archive_ *archive, const char *folder,
                               const json_t *about, okra_data **out)
{
    const char *kind = json_string_value(json_object_get(about, "kind"));
    /* No file holds more objects than bytes: an empty array would let it claim so. */
    const okra_int most_width = (okra_int)1 << 48;
    okra_stored_ s = {archive, folder, about,
                      json_integer_value(json_object_get(about, "count")),
                      json_integer_value(json_object_get(about, "width"))};
    okra_int most = okra_zip_bytes_(archive->zip)->size;
    REFUSE_IF(s.n < 0 || s.n > most || s.d < 0 || s.d > most_width, OKRA_EFORMAT,
              "%s: '%s' has %lld objects of width %lld, which a file of %lld "
              "bytes cannot hold",
              archive->path, folder, (long long)s.n, (long long)s.d, (long long)most);
    for (size_t k = 0; kind && k < KINDS; k++) {
        if (kinds[k].load && strcmp(okra_kind_name((okra_kind)k), kind) == 0) {
            FREED_BY(okra_data_drop_) okra_data *data = NULL;
            okra_status st = kinds[k].mapped ? OKRA_OK : ask(archive, folder);
            st = st == OKRA_OK ? kinds[k].load(&s, &data) : st;
            st = st == OKRA_OK ? load_columns(&s, data) : st;
            size_t length = strlen(archive->path);
            bool named = strncmp(okra_message(), archive->path, length) == 0;
            if (st == OKRA_EARG || st == OKRA_ESHAPE || (st == OKRA_EFORMAT && !named)) {
                /* What a constructor refuses is a fault of the file here. */
                okra_message_prefix_("%s: %s", archive->path, folder);
                st = OKRA_EFORMAT;
            }
            if (st == OKRA_OK) {
                *out = TAKE(data);
            }
            return st;
        }
    }
    return okra_fail_(OKRA_EFORMAT, "%s: model.json does not describe the objects '%s'",
                      archive->path, folder);
}
