/*
 * pairs_file.c: the file of a model of pairs, an archive like that of any model: rows/
 * and columns/ hold the objects, bag/ the coefficients and statistics of kernels,
 * pairs.json the rest.
 */
#include "select/pairs.h"

static const okra_archive_sort_ pairs_file = {"model of pairs", "pairs.json",
                                              "okra-pairs", 1, 16 << 20};
static const char *const folders[] = {"rows", "columns"};
static const char *const settings[] = {"pair", "row", "column", "both"};
static const char *const hows[] = {OKRA_PAIR_HOWS_};
enum { HOWS = sizeof hows / sizeof *hows };

/* The place of a text in a list; count: it is not there. */
static int find(const char *const *list, int count, const json_t *text)
{
    int k = 0;
    while (k < count &&
           (!json_is_string(text) || strcmp(list[k], json_string_value(text)) != 0)) {
        k++;
    }
    return k;
}

static okra_status about(const okra_pairs *pairs, json_t **out)
{
    FREED_BY(okra_json_drop_) json_t *object = NULL;
    GOT(object = json_pack(
            "{s:s, s:i, s:s, s:f, s:f, s:[f, f], s:I, s:o, s:o, s:O, s:[]}", "format",
            pairs_file.format, "version", pairs_file.version, "setting",
            settings[pairs->setting], "lambda", pairs->lambda, "mean", pairs->mean, "own",
            pairs->own[0], pairs->own[1], "units", (json_int_t)pairs->units, "rows",
            okra_model_about_data_(pairs->side[0]), "columns",
            okra_model_about_data_(pairs->side[1]), "scores", pairs->scores, "kernels"));
    for (int t = 0; t < pairs->terms; t++) {
        json_t *term = json_pack("[f, s, s]", pairs->scale[t],
                                 okra_kernel_text(pairs->of[0][t].kernel),
                                 okra_kernel_text(pairs->of[1][t].kernel));
        GOT(term && json_array_append_new(json_object_get(object, "kernels"), term) == 0
                ? object
                : NULL);
    }
    *out = TAKE(object);
    return OKRA_OK;
}

okra_status okra_pairs_describe_(okra_pairs *pairs)
{
    FREED_BY(okra_json_drop_) json_t *object = NULL;
    CHK(about(pairs, &object));
    return okra_json_text_(object, &pairs->json);
}

okra_status okra_pairs_save(okra_context *context, const okra_pairs *pairs,
                            const char *path)
{
    FREED_BY(okra_saver_clear_) okra_saver_ saver = {0};
    FREED_BY(okra_json_drop_) json_t *object = NULL;
    NOT_NULL(pairs, path);
    CHK(about(pairs, &object));
    CHK(okra_saver_begin_(context, path, &saver));
    CHK(okra_objects_save_(&saver, folders[0], pairs->side[0]));
    CHK(okra_objects_save_(&saver, folders[1], pairs->side[1]));
    for (okra_int i = 0; i < pairs->store->count; i++) {
        const okra_store_item_ *item = &pairs->store->items[i];
        okra_mat_ A = item->A;
        if (item->sort == OKRA_KEPT_MATRIX_) {
            CHK(okra_saver_put_(&saver, "bag", item->name, "<f8", A.rows, A.cols, A.p,
                                A.ld * 8));
        } else {
            json_t *value = item->sort == OKRA_KEPT_NUMBER_ ? json_real(item->number)
                                                            : json_string(item->text);
            if (!json_object_get(object, "kept")) {
                CHK(okra_json_set_(object, "kept", json_object()));
            }
            CHK(okra_json_set_(json_object_get(object, "kept"), item->name, value));
        }
    }
    return okra_saver_end_(&saver, pairs_file.entry, object);
}

bool okra_pairs_is(okra_context *context, const char *path)
{
    okra_zip_ *zip = NULL;
    bool found = path && okra_zip_open_(context, path, &zip) == OKRA_OK &&
                 okra_zip_find_(zip, pairs_file.entry) >= 0;
    okra_zip_close_(zip);
    return found;
}

/* ---- loading ---- */

static okra_status load_store(okra_pairs *pairs, const json_t *object)
{
    const char *name;
    json_t *value;
    CHK(okra_store_create_(&pairs->store));
    json_object_foreach(json_object_get(object, "arrays"), name, value)
    {
        if (strncmp(name, "bag/", 4) == 0) {
            okra_int rows, cols;
            const void *values = NULL;
            CHK(okra_archive_get_(pairs->archive, "bag", name + 4, "<f8", &rows, &cols,
                                  &values));
            REFUSE_IF(cols < 0, OKRA_EFORMAT, "the array %s is no matrix", name);
            okra_store_item_ item = {.A = okra_mat_view_(values, rows, cols, cols)};
            CHK(okra_store_add_(pairs->store, name + 4, item));
        }
    }
    json_object_foreach(json_object_get(object, "kept"), name, value)
    {
        CHK(json_is_string(value)
                ? okra_store_put_text_(pairs->store, name, json_string_value(value))
                : okra_store_put_number_(pairs->store, name, json_number_value(value)));
    }
    return OKRA_OK;
}

static okra_status load_kernels(okra_context *ctx, const json_t *object,
                                okra_pairs *pairs)
{
    const json_t *list = json_object_get(object, "kernels");
    pairs->terms = (int)OKRA_MIN_(json_array_size(list), OKRA_PAIR_TERMS_ + 1);
    REFUSE_IF(pairs->terms < 1 || pairs->terms > OKRA_PAIR_TERMS_, OKRA_EFORMAT,
              "'kernels' of pairs.json has %zu terms, expected 1 to %d",
              json_array_size(list), OKRA_PAIR_TERMS_);
    for (int t = 0; t < pairs->terms; t++) {
        const json_t *term = json_array_get(list, (size_t)t);
        pairs->scale[t] = json_number_value(json_array_get(term, 0));
        for (int side = 0; side < 2; side++) {
            const char *text = json_string_value(json_array_get(term, (size_t)side + 1));
            okra_pair_side_ *of = &pairs->of[side][t];
            const okra_data *data = pairs->side[side];
            char prefix[24];
            snprintf(prefix, sizeof prefix, "k%d.%d", side + 1, t + 1);
            REFUSE_IF(!text, OKRA_EFORMAT, "'kernels' of pairs.json lacks a text");
            CHK(okra_kernel_parse_kept_(text, &of->kernel));
            CHK(okra_trained_kernel_check_kept_(of->kernel, data, data->n, prefix,
                                                pairs->store));
            CHK(okra_trained_kernel_load_(ctx, of->kernel, data, pairs->store, prefix,
                                          &of->bound));
        }
    }
    return OKRA_OK;
}

static okra_status load_numbers(const json_t *object, okra_pairs *pairs)
{
    static const okra_schema_ kept[] = {
        OKRA_KEEPS_MATRIX_("C", 0, "n", "m"),
        OKRA_KEEPS_VALUES_("left", OKRA_KEPT_OPTIONAL_, "count", "2", "0", NULL),
        OKRA_KEPT_END_};
    const json_t *own = json_object_get(object, "own"), *line;
    int found = find(settings, OKRA_PAIR_SETTINGS, json_object_get(object, "setting"));
    size_t k;
    okra_sizes_ sizes = {.count = 0};
    okra_sizes_set_(&sizes, "n", pairs->side[0]->n);
    okra_sizes_set_(&sizes, "m", pairs->side[1]->n);
    CHK(okra_schema_check_(kept, NULL, pairs->store, &sizes));
    pairs->lambda = json_number_value(json_object_get(object, "lambda"));
    pairs->mean = json_number_value(json_object_get(object, "mean"));
    pairs->units = json_integer_value(json_object_get(object, "units"));
    pairs->own[0] = json_number_value(json_array_get(own, 0));
    pairs->own[1] = json_number_value(json_array_get(own, 1));
    REFUSE_IF(found == OKRA_PAIR_SETTINGS ||
                  !(pairs->own[0] >= 0 && pairs->own[1] >= 0) || pairs->units < 0,
              OKRA_EFORMAT,
              "'setting', 'own' or 'units' of pairs.json is not what it must be");
    pairs->setting = (okra_pair_setting)found;
    pairs->scores = json_incref(json_object_get(object, "scores"));
    REFUSE_IF(!json_is_array(pairs->scores), OKRA_EFORMAT, "pairs.json has no 'scores'");
    json_array_foreach(pairs->scores, k, line)
    {
        REFUSE_IF(find(settings, OKRA_PAIR_SETTINGS, json_object_get(line, "setting")) ==
                          OKRA_PAIR_SETTINGS ||
                      find(hows, HOWS, json_object_get(line, "how")) == HOWS,
                  OKRA_EFORMAT, "'scores' of pairs.json are not what they must be");
    }
    return OKRA_OK;
}

static okra_status load(okra_context *ctx, okra_pairs *pairs, json_t *object)
{
    for (int side = 0; side < 2; side++) {
        CHK(okra_objects_load_(pairs->archive, folders[side],
                               json_object_get(object, folders[side]),
                               &pairs->side[side]));
        CHK(okra_data_rename_(&pairs->side[side], pairs->archive->path));
    }
    CHK(load_store(pairs, object));
    CHK(load_numbers(object, pairs));
    CHK(load_kernels(ctx, object, pairs));
    CHK(okra_schema_check_all_(pairs->store));
    CHK(okra_archive_check_used_(pairs->archive));
    return okra_pairs_describe_(pairs);
}

okra_status okra_pairs_load(okra_context *context, const char *path, okra_pairs **out)
{
    FREED_BY(okra_pairs_drop_) okra_pairs *pairs = NULL;
    FREED_BY(okra_json_drop_) json_t *object = NULL;
    NOT_NULL(path, out);
    ZMAKE(pairs, 1);
    CHK(okra_archive_open_(context, path, &pairs_file, &pairs->archive, &object, NULL));
    pairs->archive->arrays = json_object_get(object, "arrays");
    pairs->archive->context = context;
    CHK(okra_archive_check_count_(pairs->archive));
    okra_status st = load(context, pairs, object);
    if (st != OKRA_OK && st != OKRA_EMEM && st != OKRA_ECANCELLED) {
        okra_message_prefix_("%s", path);
        return OKRA_EFORMAT;
    }
    CHK(st);
    pairs->archive->arrays = NULL;
    pairs->archive->context = NULL;
    *out = TAKE(pairs);
    return OKRA_OK;
}
