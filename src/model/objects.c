/*
 * objects.c: collections of objects as arrays of a model file.
 *
 * Each kind has a pair of functions in one table: save puts arrays into a folder of the
 * archive, load makes the collection from them. Loading goes through the constructors of
 * the library, which check what they are given; dense vectors and Gram matrices stay in
 * the mapped file, other kinds are copied out of it.
 */
#include "model/model.h"

#include "data/network.h"

#include <stdio.h>
#include <string.h>

typedef struct shelf {
    okra_archive_ *archive;
    const char *folder;
    const json_t *about; /* kind, count, width */
    okra_int n, d;
} shelf;

typedef struct kind_io {
    okra_status (*save)(okra_saver_ *saver, const char *folder, const okra_data *data);
    okra_status (*load)(const shelf *s, okra_data **out);
} kind_io;

/* An array whose shape must be rows x cols (cols < 0: a vector; rows < 0: any number). */
static okra_status fetch(const shelf *s, const char *name, const char *dtype,
                         okra_int rows, okra_int cols, const void **values,
                         okra_int *rows_found)
{
    okra_int r = 0, c = 0;
    okra_status st =
        okra_archive_get_(s->archive, s->folder, name, dtype, &r, &c, values);
    if (st == OKRA_OK && ((rows >= 0 && r != rows) || c != cols)) {
        st = okra_fail_(OKRA_EFORMAT, "%s: the array %s/%s has a shape that does not fit",
                        s->archive->path, s->folder, name);
    }
    if (rows_found) {
        *rows_found = r;
    }
    return st;
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

/* ---- dense vectors and Gram matrices
 * ---------------------------------------------------- */

static okra_status save_dense(okra_saver_ *saver, const char *folder,
                              const okra_data *data)
{
    return okra_saver_put_(saver, folder, "values", "<f8", data->n, data->d, data->values,
                           data->ld * 8);
}

static okra_status load_dense(const shelf *s, okra_data **out)
{
    const void *values = NULL;
    okra_status st = fetch(s, "values", "<f8", s->n, s->d, &values, NULL);
    if (st == OKRA_OK) {
        bool missing = json_is_true(json_object_get(s->about, "missing"));
        st = (missing ? okra_data_missing : okra_data_dense)(values, s->n, s->d, s->d,
                                                             out);
    }
    if (st == OKRA_OK) {
        hold(*out, s->archive);
    }
    return st;
}

static okra_status save_gram(okra_saver_ *saver, const char *folder,
                             const okra_data *data)
{
    okra_status st = save_dense(saver, folder, data);
    if (st == OKRA_OK && data->diagonal) {
        st = okra_saver_put_(saver, folder, "diagonal", "<f8", data->n, -1,
                             data->diagonal, 8);
    }
    return st;
}

static okra_status load_gram(const shelf *s, okra_data **out)
{
    okra_status st = OKRA_OK;
    const void *values = NULL, *diagonal = NULL;
    TRY(fetch(s, "values", "<f8", s->n, s->d, &values, NULL));
    if (okra_archive_has_(s->archive, s->folder, "diagonal")) {
        TRY(fetch(s, "diagonal", "<f8", s->n, -1, &diagonal, NULL));
    }
    TRY(okra_data_gram(values, s->n, s->d, s->d, diagonal, out));
    hold(*out, s->archive);
done:
    return st;
}

/* ---- sparse vectors
 * --------------------------------------------------------------------- */

static okra_status save_sparse(okra_saver_ *saver, const char *folder,
                               const okra_data *data)
{
    okra_status st = OKRA_OK;
    const okra_csr_ *csr = &data->csr;
    okra_int count = csr->indptr[data->n];
    TRY(okra_saver_put_(saver, folder, "indptr", "<i8", data->n + 1, -1, csr->indptr, 8));
    TRY(okra_saver_put_(saver, folder, "indices", "<i8", count, -1, csr->indices, 8));
    TRY(okra_saver_put_(saver, folder, "values", "<f8", count, -1, csr->values, 8));
done:
    return st;
}

static okra_status load_sparse(const shelf *s, okra_data **out)
{
    okra_status st = OKRA_OK;
    const void *indptr = NULL, *indices = NULL, *values = NULL;
    okra_int count = 0;
    TRY(fetch(s, "indptr", "<i8", s->n + 1, -1, &indptr, NULL));
    TRY(fetch(s, "indices", "<i8", -1, -1, &indices, &count));
    TRY(fetch(s, "values", "<f8", count, -1, &values, NULL));
    const okra_int *ends = indptr;
    if (ends[0] != 0 || ends[s->n] != count) {
        FAIL(OKRA_EFORMAT, "%s: %s/indptr does not end at the %lld values there are",
             s->archive->path, s->folder, (long long)count);
    }
    TRY(okra_data_sparse(indptr, indices, values, s->n, s->d, out));
done:
    return st;
}

/* ---- packed bits
 * ------------------------------------------------------------------------ */

static okra_status save_bits(okra_saver_ *saver, const char *folder,
                             const okra_data *data)
{
    return okra_saver_put_(saver, folder, "bits", "<u8", data->n, data->words, data->bits,
                           data->words * 8);
}

static okra_status load_bits(const shelf *s, okra_data **out)
{
    const void *bits = NULL;
    okra_int words = (s->d + 63) / 64;
    okra_status st = fetch(s, "bits", "<u8", s->n, words, &bits, NULL);
    return st == OKRA_OK ? okra_data_bits(bits, s->n, s->d, words * 8, out) : st;
}

/* ---- labels
 * ----------------------------------------------------------------------------- */

/* The names of the classes, each ended by a zero byte, in one array. */
static okra_status save_names(okra_saver_ *saver, const char *folder, char **names,
                              okra_int count)
{
    okra_status st = OKRA_OK;
    size_t length = 0, at = 0;
    char *bytes = NULL;
    for (okra_int c = 0; c < count; c++) {
        length += strlen(names[c]) + 1;
    }
    ALLOC(bytes, (okra_int)length);
    for (okra_int c = 0; c < count; c++) {
        size_t size = strlen(names[c]) + 1;
        memcpy(bytes + at, names[c], size);
        at += size;
    }
    TRY(okra_saver_put_(saver, folder, "names", "|u1", (okra_int)length, -1, bytes, 1));
done:
    okra_free_(bytes);
    return st;
}

static okra_status save_labels(okra_saver_ *saver, const char *folder,
                               const okra_data *data)
{
    okra_status st =
        okra_saver_put_(saver, folder, "codes", "<i8", data->n, -1, data->codes, 8);
    return st == OKRA_OK && data->class_names
               ? save_names(saver, folder, data->class_names, data->d)
               : st;
}

/* Pointers to `count` names in an array of bytes. */
static okra_status load_names(const shelf *s, okra_int count, const char ***out)
{
    okra_status st = OKRA_OK;
    const void *bytes = NULL;
    const char **names = NULL;
    okra_int length = 0, found = 0;
    TRY(fetch(s, "names", "|u1", -1, -1, &bytes, &length));
    const char *text = bytes;
    ALLOC(names, count);
    for (okra_int at = 0, begin = 0; at < length; at++) {
        if (text[at] == '\0') {
            if (found < count) {
                names[found] = text + begin;
            }
            found++;
            begin = at + 1;
        }
    }
    if (found != count || (length > 0 && text[length - 1] != '\0')) {
        FAIL(OKRA_EFORMAT, "%s: %s/names holds %lld names, expected %lld",
             s->archive->path, s->folder, (long long)found, (long long)count);
    }
    *out = names;
    names = NULL;
done:
    okra_free_(names);
    return st;
}

static okra_status load_labels(const shelf *s, okra_data **out)
{
    okra_status st = OKRA_OK;
    const void *codes = NULL;
    const char **names = NULL;
    TRY(fetch(s, "codes", "<i8", s->n, -1, &codes, NULL));
    if (okra_archive_has_(s->archive, s->folder, "names")) {
        TRY(load_names(s, s->d, &names));
    }
    TRY(okra_data_labels(codes, s->n, names, s->d, out));
done:
    okra_free_(names);
    return st;
}

/* ---- nodes of a network ---------------------------------------------------------------
 */

static okra_status save_nodes(okra_saver_ *saver, const char *folder,
                              const okra_data *data)
{
    okra_status st = OKRA_OK;
    const okra_network_ *w = data->network;
    okra_int count = w->adjacency.indptr[w->nodes];
    TRY(okra_saver_put_(saver, folder, "codes", "<i8", data->n, -1, data->codes, 8));
    TRY(okra_saver_put_(saver, folder, "indptr", "<i8", w->nodes + 1, -1,
                        w->adjacency.indptr, 8));
    TRY(okra_saver_put_(saver, folder, "indices", "<i8", count, -1, w->adjacency.indices,
                        8));
    TRY(okra_saver_put_(saver, folder, "values", "<f8", count, -1, w->adjacency.values,
                        8));
    if (w->names) {
        TRY(save_names(saver, folder, w->names, w->nodes));
    }
done:
    return st;
}

/* The edges of the lower triangle; the constructor makes the other half again. */
static okra_status load_nodes(const shelf *s, okra_data **out)
{
    okra_status st = OKRA_OK;
    const void *codes = NULL, *indptr = NULL, *indices = NULL, *values = NULL;
    const char **names = NULL;
    okra_network_ *network = NULL;
    okra_link_ *edges = NULL;
    okra_int count = 0, kept = 0;
    TRY(fetch(s, "codes", "<i8", s->n, -1, &codes, NULL));
    TRY(fetch(s, "indptr", "<i8", s->d + 1, -1, &indptr, NULL));
    TRY(fetch(s, "indices", "<i8", -1, -1, &indices, &count));
    TRY(fetch(s, "values", "<f8", count, -1, &values, NULL));
    if (okra_archive_has_(s->archive, s->folder, "names")) {
        TRY(load_names(s, s->d, &names));
    }
    const okra_int *ends = indptr, *other = indices;
    ALLOC(edges, count);
    for (okra_int i = 0; i < s->d; i++) {
        if (ends[i] < 0 || ends[i + 1] < ends[i] || ends[i + 1] > count) {
            FAIL(OKRA_EFORMAT, "%s: %s/indptr does not fit", s->archive->path, s->folder);
        }
        for (okra_int k = ends[i]; k < ends[i + 1]; k++) {
            if (other[k] <= i) {
                edges[kept++] = (okra_link_){i, other[k], ((const double *)values)[k]};
            }
        }
    }
    TRY(okra_network_create_(s->d, edges, kept, (char *const *)(uintptr_t)names, NULL,
                             &network));
    TRY(okra_nodes_create_(network, codes, s->n, s->archive->path, out));
done:
    okra_free_(names);
    okra_free_(edges);
    okra_network_free_(network);
    return st;
}

/* ---- the table
 * -------------------------------------------------------------------------- */

/* ---- ragged groups and tuples --------------------------------------------------------
 */

/* The groups and fields that a kind may have; a group that is absent was not there. Names
 * are literals, which the data keep. */
typedef struct layout {
    okra_kind kind;
    const char *group;
    const char *fields[OKRA_FIELDS_MOST];
    okra_field_type_ types[OKRA_FIELDS_MOST];
} layout;

static const layout layouts[] = {
    {OKRA_STRINGS, "characters", {"code"}, {OKRA_FIELD_INT32}},
    {OKRA_STRINGS, "names", {"text"}, {OKRA_FIELD_BYTE}},
    {OKRA_SEQUENCES,
     "positions",
     {"vector", "label"},
     {OKRA_FIELD_DOUBLE, OKRA_FIELD_INT32}},
    {OKRA_GRAPHS, "nodes", {"label", "atom"}, {OKRA_FIELD_INT32, OKRA_FIELD_INT32}},
    {OKRA_GRAPHS, "edges", {"ends", "label"}, {OKRA_FIELD_INT32, OKRA_FIELD_INT32}},
    {OKRA_GRAPHS, "texts", {"text"}, {OKRA_FIELD_BYTE}},
    {OKRA_GRAPHS, "names", {"text"}, {OKRA_FIELD_BYTE}},
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };
static const char *const dtypes[] = {
    [OKRA_FIELD_DOUBLE] = "<f8", [OKRA_FIELD_INT32] = "<i4", [OKRA_FIELD_BYTE] = "|u1"};

static okra_status save_ragged(okra_saver_ *saver, const char *folder,
                               const okra_data *data)
{
    okra_status st = OKRA_OK;
    char path[256];
    for (int k = 0; k < data->group_count; k++) {
        const okra_ragged_ *g = &data->groups[k];
        snprintf(path, sizeof path, "%s/%s", folder, g->name);
        TRY(okra_saver_put_(saver, path, "offsets", "<i8", data->n + 1, -1, g->offsets,
                            8));
        for (int f = 0; f < g->field_count; f++) {
            const okra_field_ *field = &g->fields[f];
            TRY(okra_saver_put_(saver, path, field->name, dtypes[field->type],
                                g->offsets[data->n], field->width, field->values,
                                field->width * (okra_int)okra_field_size_(field->type)));
        }
    }
done:
    return st;
}

/* Copies one field out of the file. */
static okra_status load_field(const shelf *s, const char *name, okra_field_type_ type,
                              okra_int elements, okra_ragged_ *g)
{
    okra_status st = OKRA_OK;
    okra_int rows = 0, width = 0;
    const void *values = NULL;
    TRY(okra_archive_get_(s->archive, s->folder, name, dtypes[type], &rows, &width,
                          &values));
    if (rows != elements || width < 0) {
        FAIL(OKRA_EFORMAT, "%s: the array %s/%s has a shape that does not fit",
             s->archive->path, s->folder, name);
    }
    okra_field_ *field = &g->fields[g->field_count++];
    *field = (okra_field_){name, type, width, NULL};
    size_t size = (size_t)width * okra_field_size_(type);
    field->values = okra_alloc_(elements, size);
    if (!field->values) {
        return OKRA_EMEM;
    }
    if (elements > 0 && size > 0) {
        memcpy(field->values, values, (size_t)elements * size);
    }
done:
    return st;
}

static okra_status load_group(const shelf *s, const layout *l, okra_ragged_ *g)
{
    okra_status st = OKRA_OK;
    const void *values = NULL;
    TRY(fetch(s, "offsets", "<i8", s->n + 1, -1, &values, NULL));
    g->name = l->group;
    ALLOC(g->offsets, s->n + 1);
    memcpy(g->offsets, values, (size_t)(s->n + 1) * sizeof *g->offsets);
    for (okra_int i = 0; i <= s->n; i++) {
        if (i == 0 ? g->offsets[0] != 0 : g->offsets[i] < g->offsets[i - 1]) {
            FAIL(OKRA_EFORMAT, "%s: %s/offsets must begin at 0 and never fall",
                 s->archive->path, s->folder);
        }
    }
    for (int f = 0; f < OKRA_FIELDS_MOST && l->fields[f]; f++) {
        if (okra_archive_has_(s->archive, s->folder, l->fields[f])) {
            TRY(load_field(s, l->fields[f], l->types[f], g->offsets[s->n], g));
        }
    }
done:
    return st;
}

/* The groups and widths that readers of graphs make; see data/graphs.h. */
static bool check_graph_fields(const okra_data *data)
{
    static const struct {
        const char *group, *field;
        okra_int width;
        bool needed;
    } all[] = {{"nodes", "label", 1, true}, {"nodes", "atom", 4, false},
               {"edges", "ends", 2, true},  {"edges", "label", 1, true},
               {"texts", "text", 1, true},  {"names", "text", 1, true}};
    bool whole = true;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        const okra_ragged_ *g = okra_data_group_(data, all[k].group);
        const okra_field_ *f = g ? okra_ragged_field_(g, all[k].field) : NULL;
        whole = whole && (f ? f->width == all[k].width : !all[k].needed);
    }
    return whole;
}

/* What kernels rely on without looking. */
static okra_status check_groups(const shelf *s, const okra_data *data)
{
    okra_status st = OKRA_OK;
    const okra_ragged_ *nodes = okra_data_group_(data, "nodes");
    const okra_ragged_ *edges = okra_data_group_(data, "edges");
    const okra_ragged_ *positions = okra_data_group_(data, "positions");
    const okra_field_ *ends = edges ? okra_ragged_field_(edges, "ends") : NULL;
    bool whole = data->kind == OKRA_STRINGS ? okra_data_group_(data, "characters") != NULL
                 : data->kind == OKRA_SEQUENCES
                     ? positions && positions->field_count == 2 &&
                           positions->fields[0].width == data->d
                     : check_graph_fields(data);
    for (okra_int i = 0; whole && ends && i < data->n; i++) {
        okra_int count = nodes->offsets[i + 1] - nodes->offsets[i];
        for (okra_int k = 2 * edges->offsets[i]; k < 2 * edges->offsets[i + 1]; k++) {
            int32_t end = ((const int32_t *)ends->values)[k];
            whole = whole && end >= 0 && end < count;
        }
    }
    if (!whole) {
        FAIL(OKRA_EFORMAT, "%s: the arrays of %s do not make %s", s->archive->path,
             s->folder, okra_kind_name(data->kind));
    }
done:
    return st;
}

static okra_status load_ragged(const shelf *s, okra_data **out)
{
    okra_status st = OKRA_OK;
    okra_data *data = NULL;
    const char *kind = json_string_value(json_object_get(s->about, "kind"));
    char path[256];
    for (size_t k = 0; k < LAYOUTS; k++) {
        const layout *l = &layouts[k];
        shelf inner = *s;
        snprintf(path, sizeof path, "%s/%s", s->folder, l->group);
        inner.folder = path;
        if (strcmp(okra_kind_name(l->kind), kind) != 0 ||
            !okra_archive_has_(s->archive, path, "offsets")) {
            continue;
        }
        if (!data) {
            TRY(okra_data_new_(l->kind, s->n, s->d, s->archive->path, &data));
        }
        TRY(load_group(&inner, l, &data->groups[data->group_count++]));
    }
    if (!data) {
        FAIL(OKRA_EFORMAT, "%s: there are no arrays of %s", s->archive->path, s->folder);
    }
    TRY(check_groups(s, data));
    *out = data;
    data = NULL;
done:
    okra_data_free(data);
    return st;
}

static okra_status save_tuple(okra_saver_ *saver, const char *folder,
                              const okra_data *data)
{
    okra_status st = OKRA_OK;
    char path[256];
    for (int k = 0; k < data->component_count; k++) {
        snprintf(path, sizeof path, "%s/%d", folder, k + 1);
        TRY(okra_objects_save_(saver, path, data->components[k]));
    }
done:
    return st;
}

static okra_status load_tuple(const shelf *s, okra_data **out)
{
    enum { MOST = 64 };
    okra_status st = OKRA_OK;
    okra_data *parts[MOST] = {NULL};
    const json_t *list = json_object_get(s->about, "parts");
    size_t count = json_array_size(list);
    char path[256];
    if (count < 1 || count > MOST) {
        FAIL(OKRA_EFORMAT, "%s: the parts of '%s' are missing", s->archive->path,
             s->folder);
    }
    for (size_t k = 0; k < count; k++) {
        snprintf(path, sizeof path, "%s/%d", s->folder, (int)k + 1);
        TRY(okra_objects_load_(s->archive, path, json_array_get(list, k), &parts[k]));
    }
    TRY(okra_data_tuple(parts, (int)count, out));
done:
    for (size_t k = 0; k < MOST; k++) {
        okra_data_free(parts[k]);
    }
    return st;
}

static const kind_io kinds[] = {
    [OKRA_DENSE] = {save_dense, load_dense},
    [OKRA_SPARSE] = {save_sparse, load_sparse},
    [OKRA_BITS] = {save_bits, load_bits},
    [OKRA_LABELS] = {save_labels, load_labels},
    [OKRA_GRAM] = {save_gram, load_gram},
    [OKRA_STRINGS] = {save_ragged, load_ragged},
    [OKRA_SEQUENCES] = {save_ragged, load_ragged},
    [OKRA_GRAPHS] = {save_ragged, load_ragged},
    [OKRA_NODES] = {save_nodes, load_nodes},
    [OKRA_TUPLE] = {save_tuple, load_tuple},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

okra_status okra_objects_save_(okra_saver_ *saver, const char *folder,
                               const okra_data *data)
{
    if ((unsigned)data->kind >= KINDS || !kinds[data->kind].save) {
        return okra_fail_(OKRA_EUNSUPPORTED, "a model file cannot hold %s",
                          okra_kind_name(data->kind));
    }
    return kinds[data->kind].save(saver, folder, data);
}

okra_status okra_objects_load_(okra_archive_ *archive, const char *folder,
                               const json_t *about, okra_data **out)
{
    const char *kind = json_string_value(json_object_get(about, "kind"));
    shelf s = {archive, folder, about,
               json_integer_value(json_object_get(about, "count")),
               json_integer_value(json_object_get(about, "width"))};
    for (size_t k = 0; kind && s.n >= 0 && s.d >= 0 && k < KINDS; k++) {
        if (kinds[k].load && strcmp(okra_kind_name((okra_kind)k), kind) == 0) {
            okra_status st = kinds[k].load(&s, out);
            if (st == OKRA_EARG || st == OKRA_ESHAPE) {
                /* What a constructor refuses is a fault of the file here. */
                okra_message_prefix_("%s: %s", archive->path, folder);
                st = OKRA_EFORMAT;
            }
            return st;
        }
    }
    return okra_fail_(OKRA_EFORMAT, "%s: model.json does not describe the objects '%s'",
                      archive->path, folder);
}
