/*
 * lowrank_file.c: a map as arrays of a model: PREFIX.basis (1 x basis, places in the
 * training set), PREFIX.centres (vectors) or PREFIX.waves (frequencies), PREFIX.factor,
 * PREFIX.sketch (basis x rank), or of a sparse one PREFIX.start (1 x basis + 1),
 * PREFIX.column and PREFIX.value (1 x entries); PREFIX.inner.* is what the kernel itself
 * keeps.
 */
#include "kernel/lowrank/lowrank.h"

static okra_status put(okra_store_ *store, const char *prefix, const char *name,
                       const double *values, okra_int rows, okra_int cols, okra_int ld)
{
    char key[128];
    OWNED double *copy = NULL;
    snprintf(key, sizeof key, "%s.%s", prefix, name);
    MAKE(copy, rows * cols);
    CHK(okra_mat_copy_(okra_mat_view_(values, rows, cols, ld),
                       okra_mat_of_(copy, rows, cols)));
    return okra_store_put_(store, key, &copy, rows, cols);
}

static okra_status put_integers(okra_store_ *store, const char *prefix, const char *name,
                                const okra_int *values, okra_int count)
{
    OWNED double *numbers = NULL;
    MAKE(numbers, count);
    for (okra_int i = 0; i < count; i++) {
        numbers[i] = (double)values[i];
    }
    return put(store, prefix, name, numbers, 1, count, count);
}

static okra_status put_sketch(okra_store_ *store, const char *prefix,
                              const okra_sketch_ *S)
{
    if (!S->start) {
        return put(store, prefix, "sketch", S->value, S->rows, S->cols, S->cols);
    }
    CHK(put_integers(store, prefix, "start", S->start, S->rows + 1));
    CHK(put_integers(store, prefix, "column", S->column, S->entries));
    return put(store, prefix, "value", S->value, 1, S->entries, S->entries);
}

okra_status okra_map_save_(const okra_map_ *map, okra_store_ *store, const char *prefix)
{
    char key[128];
    if (map->kernel) {
        CHK(put(store, prefix, "waves", map->objects->values, map->basis, map->objects->d,
                map->objects->ld));
        snprintf(key, sizeof key, "%s.scale", prefix);
        CHK(okra_store_put_number_(store, key, map->scale));
        return OKRA_OK;
    }
    CHK(map->index ? put_integers(store, prefix, "basis", map->index, map->basis)
                   : put(store, prefix, "centres", map->objects->values, map->basis,
                         map->objects->d, map->objects->ld));
    CHK(put(store, prefix, "factor", map->factor, map->rank, map->rank, map->rank));
    if (map->sketch) {
        CHK(put_sketch(store, prefix, map->sketch));
    }
    snprintf(key, sizeof key, "%s.inner", prefix);
    return okra_trained_kernel_save_(map->bound, store, key);
}

static const double *get(const okra_store_ *store, const char *prefix, const char *name,
                         okra_int *rows, okra_int *cols)
{
    char key[128];
    snprintf(key, sizeof key, "%s.%s", prefix, name);
    return okra_store_get_(store, key, rows, cols);
}

bool okra_map_saved_(const okra_store_ *store, const char *prefix)
{
    okra_int rows, cols;
    return get(store, prefix, "waves", &rows, &cols) ||
           get(store, prefix, "centres", &rows, &cols) ||
           get(store, prefix, "basis", &rows, &cols);
}

/* clang-format off */
#define FACTOR                                                                           \
    OKRA_KEEPS_MATRIX_("factor", OKRA_KEPT_FACTOR_, "r", "r"),              \
    OKRA_KEEPS_MATRIX_("sketch", OKRA_KEPT_OPTIONAL_, "b", "r"),            \
    OKRA_KEEPS_MATRIX_("value", OKRA_KEPT_OPTIONAL_, "1", "e"),             \
    OKRA_KEEPS_VALUES_("column", OKRA_KEPT_OPTIONAL_ | OKRA_KEPT_WHOLE_, "1", "e", "0", "r-1"),                                                                             \
    OKRA_KEEPS_VALUES_("start", OKRA_KEPT_OPTIONAL_ | OKRA_KEPT_WHOLE_, "1", "b+1", "0", "e")
static const okra_schema_ kept_waves[] = {
    OKRA_KEEPS_MATRIX_("waves", 0, "r", "d"),
    OKRA_KEEPS_NUMBER_("scale", OKRA_KEPT_POSITIVE_, NULL, NULL),
    OKRA_KEPT_END_};
static const okra_schema_ kept_centres[] = {
    OKRA_KEEPS_MATRIX_("centres", 0, "b", "d"), FACTOR, OKRA_KEPT_END_};
static const okra_schema_ kept_basis[] = {
    OKRA_KEEPS_VALUES_("basis", OKRA_KEPT_WHOLE_, "1", "b", "0", "n-1"), FACTOR,
    OKRA_KEPT_END_};
static const okra_schema_ *const kept[] = {kept_waves, kept_centres, kept_basis, NULL};
/* clang-format on */

okra_status okra_map_check_kept_(const okra_kernel *kernel, const okra_data *train,
                                 okra_int n, okra_store_ *store, const char *prefix,
                                 okra_int *rank)
{
    okra_int rows, cols;
    char key[128];
    okra_sizes_ sizes = {0};
    okra_sizes_set_(&sizes, "n", n);
    okra_sizes_set_(&sizes, "d", train->d);
    CHK(okra_schema_check_forms_(kept, prefix, store, &sizes));
    *rank = okra_sizes_get_(&sizes, "r");
    if (get(store, prefix, "waves", &rows, &cols)) {
        *rank *= 2;
    } else {
        snprintf(key, sizeof key, "%s.inner", prefix);
        CHK(okra_trained_kernel_check_kept_(kernel, train, okra_sizes_get_(&sizes, "b"),
                                            key, store));
    }
    REFUSE_IF(*rank < 1, OKRA_EFORMAT, "the map '%s' has no features", prefix);
    return OKRA_OK;
}

/* ---- back: shapes and values were checked with the model's tables ---- */

static okra_status copy(const double *values, okra_int count, double **out)
{
    MAKE(*out, count);
    OKRA_COPY_(*out, values, count);
    return OKRA_OK;
}

static okra_status integers(const double *values, okra_int count, okra_int **out)
{
    MAKE(*out, count);
    for (okra_int i = 0; i < count; i++) {
        (*out)[i] = (okra_int)values[i];
    }
    return OKRA_OK;
}

static okra_status load_waves(const okra_store_ *store, const char *prefix,
                              const double *waves, okra_int rows, okra_int cols,
                              okra_map_ *map)
{
    OWNED double *w = NULL;
    char key[128];
    snprintf(key, sizeof key, "%s.scale", prefix);
    okra_store_get_number_(store, key, &map->scale);
    CHK(copy(waves, rows * cols, &w));
    CHK(okra_data_adopt_dense_(&w, rows, cols, "random frequencies", &map->objects));
    CHK(okra_kernel_parse("linear", &map->kernel));
    map->basis = rows;
    map->columns = map->rank = 2 * rows;
    return OKRA_OK;
}

/* F, and S where the basis is seen through fewer combinations. */
static okra_status load_factor(const okra_store_ *store, const char *prefix,
                               okra_map_ *map)
{
    okra_int one = 0, starts = 0, count = 0;
    FREED_BY(okra_sketch_drop_) okra_sketch_ *S = NULL;
    const double *F = get(store, prefix, "factor", &map->rank, &map->rank);
    const double *start = get(store, prefix, "start", &one, &starts);
    const double *column = get(store, prefix, "column", &one, &count);
    const double *value = get(store, prefix, start ? "value" : "sketch", &one, &count);
    REFUSE_IF(start && (!column || !value), OKRA_EFORMAT,
              "the sketch of the map '%s' is not whole", prefix);
    REFUSE_IF(!value && map->rank != map->basis, OKRA_EFORMAT,
              "the map '%s' has a basis of %lld for %lld features", prefix,
              (long long)map->basis, (long long)map->rank);
    map->columns = map->basis;
    map->scale = 1;
    CHK(copy(F, map->rank * map->rank, &map->factor));
    if (!value) {
        return OKRA_OK;
    }
    ZMAKE(S, 1);
    S->rows = map->basis;
    S->cols = map->rank;
    S->entries = start ? count : S->rows * S->cols;
    CHK(copy(value, S->entries, &S->value));
    if (start) {
        CHK(integers(start, starts, &S->start));
        CHK(integers(column, count, &S->column));
    }
    for (okra_int k = 0; start && k < S->rows; k++) {
        REFUSE_IF(S->start[0] != 0 || S->start[k] > S->start[k + 1] ||
                      S->start[S->rows] != count,
                  OKRA_EFORMAT, "the sketch of the map '%s' has rows out of order",
                  prefix);
    }
    map->sketch = TAKE(S);
    return OKRA_OK;
}

static okra_status load_basis(const okra_data *train, const okra_store_ *store,
                              const char *prefix, okra_map_ *map)
{
    okra_int one = 0, width = 0;
    const double *centres = get(store, prefix, "centres", &map->basis, &width);
    OWNED double *values = NULL;
    if (centres) {
        CHK(copy(centres, map->basis * width, &values));
        CHK(okra_data_adopt_dense_(&values, map->basis, width, "centres", &map->objects));
    } else {
        const double *places = get(store, prefix, "basis", &one, &map->basis);
        CHK(integers(places, map->basis, &map->index));
        CHK(okra_data_take(train, map->index, map->basis, &map->objects));
        okra_weights_forget_(map->objects);
    }
    return load_factor(store, prefix, map);
}

okra_status okra_map_load_(okra_context *ctx, const okra_kernel *kernel,
                           const okra_data *train, const okra_store_ *store,
                           const char *prefix, okra_map_ **out)
{
    okra_int rows = 0, cols = 0;
    FREED_BY(okra_map_drop_) okra_map_ *map = NULL;
    char key[128];
    const double *waves = get(store, prefix, "waves", &rows, &cols);
    ZMAKE(map, 1);
    CHK(waves ? load_waves(store, prefix, waves, rows, cols, map)
              : load_basis(train, store, prefix, map));
    snprintf(key, sizeof key, "%s.inner", prefix);
    CHK(okra_trained_kernel_load_(ctx, map->kernel ? map->kernel : kernel, map->objects,
                                  store, key, &map->bound));
    *out = TAKE(map);
    return OKRA_OK;
}

/* ---- over objects that are kept elsewhere ---- */

okra_status okra_map_save_over_(const okra_map_ *map, okra_store_ *store,
                                const char *prefix)
{
    char key[128];
    if (map->kernel) {
        snprintf(key, sizeof key, "%s.scale", prefix);
        return okra_store_put_number_(store, key, map->scale);
    }
    CHK(put(store, prefix, "factor", map->factor, map->rank, map->rank, map->rank));
    return map->sketch ? put_sketch(store, prefix, map->sketch) : OKRA_OK;
}

bool okra_map_saved_over_(const okra_store_ *store, const char *prefix)
{
    char key[128];
    okra_int rows, cols;
    double scale;
    snprintf(key, sizeof key, "%s.scale", prefix);
    return okra_store_get_number_(store, key, &scale) ||
           get(store, prefix, "factor", &rows, &cols);
}

okra_status okra_map_load_over_(okra_context *ctx, const okra_kernel *kernel,
                                const okra_data *objects, const okra_store_ *store,
                                const char *prefix, const char *statistics,
                                okra_map_ **out)
{
    FREED_BY(okra_map_drop_) okra_map_ *map = NULL;
    char key[128];
    ZMAKE(map, 1);
    map->objects = okra_data_retain(objects);
    map->basis = objects->n;
    snprintf(key, sizeof key, "%s.scale", prefix);
    if (okra_store_get_number_(store, key, &map->scale)) {
        map->columns = map->rank = 2 * map->basis;
        CHK(okra_kernel_parse("linear", &map->kernel));
    } else {
        CHK(load_factor(store, prefix, map));
    }
    CHK(okra_trained_kernel_load_(ctx, map->kernel ? map->kernel : kernel, objects, store,
                                  statistics, &map->bound));
    *out = TAKE(map);
    return OKRA_OK;
}
