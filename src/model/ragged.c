/*
 * ragged.c: strings, sequences, graphs and tuples as arrays of a model file.
 *
 * A ragged group is a folder of its own: its offsets and one array a field. A tuple has a
 * folder for each of its parts.
 */
#include "model/objects.h"

#include <stdio.h>
#include <string.h>

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

okra_status okra_ragged_save_(okra_saver_ *saver, const char *folder,
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
static okra_status load_field(const okra_shelf_ *s, const char *name,
                              okra_field_type_ type, okra_int elements, okra_ragged_ *g)
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

static okra_status load_group(const okra_shelf_ *s, const layout *l, okra_ragged_ *g)
{
    okra_status st = OKRA_OK;
    const void *values = NULL;
    TRY(okra_fetch_(s, "offsets", "<i8", s->n + 1, -1, &values, NULL));
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
static okra_status check_groups(const okra_shelf_ *s, const okra_data *data)
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

okra_status okra_ragged_load_(const okra_shelf_ *s, okra_data **out)
{
    okra_status st = OKRA_OK;
    okra_data *data = NULL;
    const char *kind = json_string_value(json_object_get(s->about, "kind"));
    char path[256];
    for (size_t k = 0; k < LAYOUTS; k++) {
        const layout *l = &layouts[k];
        okra_shelf_ inner = *s;
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

okra_status okra_tuple_save_(okra_saver_ *saver, const char *folder,
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

okra_status okra_tuple_load_(const okra_shelf_ *s, okra_data **out)
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
