/*
 * ragged.c: strings, sequences, graphs and tuples as arrays of a model file.
 *
 * A ragged group is a folder of its own: its offsets and one array a field. A tuple has a
 * folder for each of its parts.
 */
#include "model/model.h"

#include "data/graphs.h"
#include "data/spectra/spectra.h"
#include "data/strings.h"

/* Every group and field that a kind may have, and how many values an element (-1: as many
 * as the collection is wide); see data/strings.h, data/graphs.h and spectra.h. A group
 * that is absent was not there. Names are literals, which the data keep. */
typedef struct layout {
    okra_kind kind;
    const char *group, *field;
    okra_field_type_ type;
    okra_int width;
    bool needed;
} layout;

static const layout layouts[] = {
    {OKRA_STRINGS, "characters", "code", OKRA_FIELD_INT32, 1, true},
    {OKRA_STRINGS, "names", "text", OKRA_FIELD_BYTE, 1, false},
    {OKRA_SEQUENCES, "positions", "vector", OKRA_FIELD_DOUBLE, -1, true},
    {OKRA_SEQUENCES, "positions", "label", OKRA_FIELD_INT32, 1, true},
    {OKRA_GRAPHS, "nodes", "label", OKRA_FIELD_INT32, 1, true},
    {OKRA_GRAPHS, "nodes", "atom", OKRA_FIELD_INT32, 4, false},
    {OKRA_GRAPHS, "edges", "ends", OKRA_FIELD_INT32, 2, true},
    {OKRA_GRAPHS, "edges", "label", OKRA_FIELD_INT32, 1, true},
    {OKRA_GRAPHS, "texts", "text", OKRA_FIELD_BYTE, 1, true},
    {OKRA_GRAPHS, "names", "text", OKRA_FIELD_BYTE, 1, true},
    {OKRA_SPECTRA, "peaks", "mz", OKRA_FIELD_DOUBLE, 1, true},
    {OKRA_SPECTRA, "peaks", "intensity", OKRA_FIELD_DOUBLE, 1, true},
    {OKRA_SPECTRA, "ion", "precursor", OKRA_FIELD_DOUBLE, 1, true},
    {OKRA_SPECTRA, "ion", "mass", OKRA_FIELD_DOUBLE, 1, true},
    {OKRA_SPECTRA, "names", "text", OKRA_FIELD_BYTE, 1, true},
    {OKRA_SPECTRA, "texts", "text", OKRA_FIELD_BYTE, 1, true},
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };
static const char *const dtypes[] = {
    [OKRA_FIELD_DOUBLE] = "<f8", [OKRA_FIELD_INT32] = "<i4", [OKRA_FIELD_BYTE] = "|u1"};

okra_status okra_ragged_save_(okra_saver_ *saver, const char *folder,
                              const okra_data *data)
{
    char path[256];
    for (int k = 0; k < data->group_count; k++) {
        const okra_ragged_ *g = &data->groups[k];
        snprintf(path, sizeof path, "%s/%s", folder, g->name);
        CHK(okra_saver_put_(saver, path, "offsets", "<i8", data->n + 1, -1, g->offsets,
                            8));
        for (int f = 0; f < g->field_count; f++) {
            const okra_field_ *field = &g->fields[f];
            CHK(okra_saver_put_(saver, path, field->name, dtypes[field->type],
                                g->offsets[data->n], field->width, field->values,
                                field->width * (okra_int)okra_field_size_(field->type)));
        }
    }
    return OKRA_OK;
}

/* Copies one field out of the file. */
static okra_status load_field(const okra_stored_ *s, const char *name,
                              okra_field_type_ type, okra_int elements, okra_ragged_ *g)
{
    okra_int rows = 0, width = 0;
    const void *values = NULL;
    CHK(okra_archive_get_(s->archive, s->folder, name, dtypes[type], &rows, &width,
                          &values));
    REFUSE_IF(rows != elements || width < 0, OKRA_EFORMAT,
              "%s: the array %s/%s has a shape that does not fit", s->archive->path,
              s->folder, name);
    okra_field_ *field = &g->fields[g->field_count++];
    *field = (okra_field_){name, type, width, NULL};
    size_t size = (size_t)width * okra_field_size_(type);
    GOT(field->values = okra_alloc_(elements, size));
    if (elements > 0 && size > 0) {
        memcpy(field->values, values, (size_t)elements * size);
    }
    return OKRA_OK;
}

static okra_status load_group(const okra_stored_ *s, const layout *l, okra_ragged_ *g)
{
    const void *values = NULL;
    CHK(okra_fetch_(s, "offsets", "<i8", s->n + 1, -1, &values, NULL));
    g->name = l->group;
    MAKE(g->offsets, s->n + 1);
    memcpy(g->offsets, values, (size_t)(s->n + 1) * sizeof *g->offsets);
    for (okra_int i = 0; i <= s->n; i++) {
        REFUSE_IF(i == 0 ? g->offsets[0] != 0 : g->offsets[i] < g->offsets[i - 1],
                  OKRA_EFORMAT, "%s: %s/offsets must begin at 0 and never fall",
                  s->archive->path, s->folder);
    }
    for (const layout *f = l; f < layouts + LAYOUTS; f++) {
        if (f->kind == l->kind && strcmp(f->group, l->group) == 0 &&
            okra_archive_has_(s->archive, s->folder, f->field)) {
            CHK(load_field(s, f->field, f->type, g->offsets[s->n], g));
        }
    }
    return OKRA_OK;
}

static bool check_fields(const okra_data *data)
{
    bool whole = data->kind == OKRA_SEQUENCES || data->d == 0;
    for (const layout *l = layouts; l < layouts + LAYOUTS; l++) {
        const okra_ragged_ *g = okra_data_group_(data, l->group);
        const okra_field_ *f = g ? okra_ragged_field_(g, l->field) : NULL;
        okra_int width = l->width < 0 ? data->d : l->width;
        whole = whole && (l->kind != data->kind || (f ? f->width == width : !l->needed));
    }
    const okra_ragged_ *names = okra_data_group_(data, "names");
    for (int f = 0; names && f < names->field_count; f++) {
        whole = whole && names->fields[f].width == 1;
    }
    return whole && !(names && names->field_count != 1);
}

/* Is every value of a field between low and high? */
static bool inside(const okra_ragged_ *g, okra_int n, const char *name, int32_t low,
                   int32_t high)
{
    const int32_t *values = okra_ragged_field_(g, name)->values;
    bool good = true;
    for (okra_int k = 0; k < g->offsets[n]; k++) {
        good = good && values[k] >= low && values[k] <= high;
    }
    return good;
}

static bool check_lengths(const okra_ragged_ *g, okra_int n, okra_int most)
{
    bool good = true;
    for (okra_int i = 0; i < n; i++) {
        good = good && g->offsets[i + 1] - g->offsets[i] <= most;
    }
    return good;
}

/* A label below 0 is a text of the object that begins there and ends in a zero byte. */
static bool check_labels(const okra_ragged_ *g, const okra_ragged_ *names, okra_int i)
{
    const int32_t *label = okra_ragged_field_(g, "label")->values;
    okra_int length = names->offsets[i + 1] - names->offsets[i];
    const char *text = (const char *)names->fields[0].values + names->offsets[i];
    bool good = length == 0 || text[length - 1] == '\0', used = false;
    for (okra_int k = g->offsets[i]; k < g->offsets[i + 1]; k++) {
        used = used || label[k] < 0;
        good = good && (label[k] >= 0 || -1 - (okra_int)label[k] < length);
    }
    return good || !used;
}

static bool check_graphs(const okra_data *data)
{
    const okra_ragged_ *nodes = okra_data_group_(data, "nodes");
    const okra_ragged_ *edges = okra_data_group_(data, "edges");
    const okra_ragged_ *names = okra_data_group_(data, "names");
    const int32_t *ends = okra_ragged_field_(edges, "ends")->values;
    bool whole = check_lengths(nodes, data->n, OKRA_GRAPH_NODES_MOST_) &&
                 check_lengths(edges, data->n, OKRA_GRAPH_EDGES_MOST_);
    for (okra_int i = 0; whole && i < data->n; i++) {
        okra_int count = nodes->offsets[i + 1] - nodes->offsets[i];
        whole = check_labels(nodes, names, i) && check_labels(edges, names, i);
        for (okra_int k = 2 * edges->offsets[i]; k < 2 * edges->offsets[i + 1]; k++) {
            whole = whole && ends[k] >= 0 && ends[k] < count;
        }
    }
    return whole;
}

/* Peaks ascend and are above 0, as the reader leaves them; each has one ion. */
static bool check_spectra(const okra_data *data)
{
    const okra_ragged_ *peaks = okra_data_group_(data, "peaks");
    const okra_ragged_ *ion = okra_data_group_(data, "ion");
    const double *precursor = okra_ragged_field_(ion, "precursor")->values;
    const double *mass = okra_ragged_field_(ion, "mass")->values;
    bool whole = check_lengths(peaks, data->n, OKRA_PEAKS_MOST_) &&
                 data->groups[0].fields[0].name == okra_ragged_field_(peaks, "mz")->name;
    for (okra_int i = 0; whole && i < data->n; i++) {
        whole = ion->offsets[i + 1] - ion->offsets[i] == 1;
        whole = whole && precursor[i] >= 0 && precursor[i] <= OKRA_MZ_MOST_ &&
                mass[i] >= 0 && mass[i] < 1e12;
    }
    for (okra_int i = 0; whole && i < data->n; i++) {
        okra_spectrum_view_ v = okra_spectrum_view_of_(data, i);
        double before = 0, sum = 0;
        whole = v.count > 0;
        for (okra_int k = 0; whole && k < v.count; k++) {
            whole = v.mz[k] > before && v.mz[k] <= OKRA_MZ_MOST_ && v.intensity[k] > 0;
            before = v.mz[k];
            sum += v.intensity[k];
        }
        whole = whole && isfinite(sum);
    }
    return whole;
}

/* What kernels rely on without looking. */
static okra_status check_groups(const okra_stored_ *s, const okra_data *data)
{
    enum { CODE_MOST = 0x10ffff };
    const okra_ragged_ *g = &data->groups[0];
    bool whole = check_fields(data);
    if (whole && data->kind == OKRA_SEQUENCES) {
        CHK(okra_finite_(okra_ragged_field_(g, "vector")->values, g->offsets[data->n],
                         data->d, data->d));
        whole = inside(g, data->n, "label", OKRA_NO_LABEL_, CODE_MOST) &&
                check_lengths(g, data->n, OKRA_STRING_MOST_);
    } else if (whole && data->kind == OKRA_STRINGS) {
        whole = inside(g, data->n, "code", 0, CODE_MOST) &&
                check_lengths(g, data->n, OKRA_STRING_MOST_);
    } else if (whole && data->kind == OKRA_SPECTRA) {
        whole = check_spectra(data);
    } else if (whole) {
        whole = check_graphs(data);
    }
    REFUSE_IF(!whole, OKRA_EFORMAT, "%s: the arrays of %s do not make %s",
              s->archive->path, s->folder, okra_kind_name(data->kind));
    return OKRA_OK;
}

okra_status okra_ragged_load_(const okra_stored_ *s, okra_data **out)
{
    FREED_BY(okra_data_drop_) okra_data *data = NULL;
    const char *kind = json_string_value(json_object_get(s->about, "kind"));
    char path[256];
    for (size_t k = 0; k < LAYOUTS; k++) {
        const layout *l = &layouts[k];
        okra_stored_ inner = *s;
        snprintf(path, sizeof path, "%s/%s", s->folder, l->group);
        inner.folder = path;
        bool again = k > 0 && l[-1].kind == l->kind && strcmp(l[-1].group, l->group) == 0;
        if (again || strcmp(okra_kind_name(l->kind), kind) != 0 ||
            !okra_archive_has_(s->archive, path, "offsets")) {
            continue;
        }
        if (!data) {
            CHK(okra_data_new_(l->kind, s->n, s->d, s->archive->path, &data));
        }
        CHK(load_group(&inner, l, &data->groups[data->group_count++]));
    }
    REFUSE_IF(!data, OKRA_EFORMAT, "%s: there are no arrays of %s", s->archive->path,
              s->folder);
    CHK(check_groups(s, data));
    *out = TAKE(data);
    return OKRA_OK;
}

okra_status okra_tuple_save_(okra_saver_ *saver, const char *folder,
                             const okra_data *data)
{
    char path[256];
    for (int k = 0; k < data->component_count; k++) {
        snprintf(path, sizeof path, "%s/%d", folder, k + 1);
        CHK(okra_objects_save_(saver, path, data->components[k]));
    }
    return OKRA_OK;
}

enum { PARTS_MOST = 64 };

static void free_parts(okra_data *(*parts)[PARTS_MOST])
{
    for (size_t k = 0; k < PARTS_MOST; k++) {
        okra_data_free((*parts)[k]);
    }
}

okra_status okra_tuple_load_(const okra_stored_ *s, okra_data **out)
{
    FREED_BY(free_parts) okra_data *parts[PARTS_MOST] = {NULL};
    const json_t *list = json_object_get(s->about, "parts");
    size_t count = json_array_size(list);
    char path[256];
    REFUSE_IF(count < 1 || count > PARTS_MOST, OKRA_EFORMAT,
              "%s: the parts of '%s' are missing", s->archive->path, s->folder);
    for (size_t k = 0; k < count; k++) {
        snprintf(path, sizeof path, "%s/%d", s->folder, (int)k + 1);
        const json_t *about = json_array_get(list, k);
        const char *kind = json_string_value(json_object_get(about, "kind"));
        REFUSE_IF(kind && strcmp(kind, okra_kind_name(OKRA_TUPLE)) == 0, OKRA_EFORMAT,
                  "%s: '%s' is a tuple inside a tuple", s->archive->path, path);
        CHK(okra_objects_load_(s->archive, path, about, &parts[k]));
    }
    return okra_data_tuple(parts, (int)count, out);
}

okra_status okra_bags_save_(okra_saver_ *saver, const char *folder, const okra_data *data)
{
    CHK(okra_ragged_save_(saver, folder, data));
    return okra_tuple_save_(saver, folder, data);
}

okra_status okra_bags_load_(const okra_stored_ *s, okra_data **out)
{
    FREED_BY(okra_data_drop_) okra_data *members = NULL;
    const json_t *about = json_array_get(json_object_get(s->about, "parts"), 0);
    const char *kind = json_string_value(json_object_get(about, "kind"));
    okra_stored_ inner = *s;
    const void *offsets = NULL;
    char path[256];
    bool plain = kind && strcmp(kind, okra_kind_name(OKRA_BAGS)) != 0 &&
                 strcmp(kind, okra_kind_name(OKRA_TUPLE)) != 0;
    REFUSE_IF(!plain, OKRA_EFORMAT, "%s: '%s' are bags of nothing, bags or tuples",
              s->archive->path, s->folder);
    snprintf(path, sizeof path, "%s/1", s->folder);
    CHK(okra_objects_load_(s->archive, path, about, &members));
    snprintf(path, sizeof path, "%s/members", s->folder);
    inner.folder = path;
    CHK(okra_fetch_(&inner, "offsets", "<i8", s->n + 1, -1, &offsets, NULL));
    return okra_data_bags(members, offsets, s->n, out);
}
