/*
 * merge.c: several models of low rank with one basis become one: their moments add up
 * (sum.c), their training outputs follow one another.
 */
#include "model/model.h"
#include "okra/more/conformal.h"
#include "okra/more/update.h"

typedef struct merging {
    okra_context *ctx;
    const okra_model *const *models;
    size_t count;
    okra_data *y;
    okra_options *options;
    okra_training_ *training;
    okra_map_ *map;
    okra_store_ *store;
} merging;

/* ---- do they go together? ---- */

static okra_status apart(size_t first, size_t k, const char *what)
{
    return okra_fail_(
        OKRA_EARG,
        "merge: models %zu and %zu differ in %s; expected fits with one basis "
        "and the same options",
        first + 1, k + 1, what);
}

/* What belongs to the basis and to the kernels: the same bytes in both. */
static bool shared(const char *name)
{
    return strncmp(name, "basis.", 6) == 0 || strncmp(name, "kx.", 3) == 0 ||
           strncmp(name, "ky.", 3) == 0 || strncmp(name, "y.", 2) == 0 ||
           strcmp(name, "moments.A") == 0;
}

static okra_status same_arrays(const okra_store_ *a, const okra_store_ *b, size_t k)
{
    for (okra_int i = 0; i < a->count; i++) {
        const char *name = a->items[i].name;
        okra_mat_ A = a->items[i].A, B = okra_store_mat_(b, name);
        if (a->items[i].sort != OKRA_KEPT_MATRIX_ || !shared(name)) {
            continue;
        }
        if (!B.p || B.rows != A.rows || B.cols != A.cols ||
            memcmp(A.p, B.p, (size_t)(A.rows * A.cols) * sizeof *A.p) != 0) {
            char what[160];
            snprintf(what, sizeof what, "the basis ('%s')", name);
            return apart(0, k, what);
        }
    }
    return okra_store_number_(a, "basis.scale", 0) ==
                   okra_store_number_(b, "basis.scale", 0)
               ? OKRA_OK
               : apart(0, k, "the basis ('basis.scale')");
}

static okra_status same_settings(const okra_model *a, const okra_model *b, size_t k)
{
    const json_t *options = json_object_get(b->about, "options");
    const char *name;
    json_t *value;
    if (!json_equal(json_object_get(a->about, "kernels"),
                    json_object_get(b->about, "kernels"))) {
        CHK(apart(0, k, "their kernels"));
    }
    json_object_foreach(json_object_get(a->about, "options"), name, value)
    {
        bool kernel = strcmp(name, "kx") == 0 || strcmp(name, "ky") == 0;
        const json_t *also = json_object_get(options, name);
        if (!kernel && !json_equal(value, also)) {
            char what[160];
            snprintf(what, sizeof what, "option %s", name);
            CHK(apart(0, k, what));
        }
    }
    return OKRA_OK;
}

static const okra_data *side(const merging *z, size_t k, bool inputs)
{
    return inputs ? z->models[k]->training->x : z->models[k]->training->y;
}

/* The first of `count` models whose columns have names, or the first of all. */
static size_t first_named(const merging *z, size_t count, bool inputs)
{
    size_t k = 0;
    while (k < count && !okra_data_column(side(z, k, inputs), 0)) {
        k++;
    }
    return k < count ? k : 0;
}

/* Sums cannot be put into another order. */
static bool same_columns(const okra_data *a, const okra_data *b)
{
    bool named = okra_data_column(a, 0) && okra_data_column(b, 0), same = true;
    for (okra_int j = 0; named && same && j < a->d && j < b->d; j++) {
        same = strcmp(okra_data_column(a, j), okra_data_column(b, j)) == 0;
    }
    return same;
}

static okra_status check_columns(const merging *z, size_t k)
{
    for (int inputs = 0; inputs < 2; inputs++) {
        size_t named = first_named(z, k, inputs);
        if (!same_columns(side(z, named, inputs), side(z, k, inputs))) {
            return apart(named, k, "the names of their columns, or the order of these");
        }
    }
    return OKRA_OK;
}

static okra_status check_one(const merging *z, size_t k)
{
    const okra_model *a = z->models[0], *m = z->models[k];
    okra_solution_ fitted;
    NOT_NULL(m);
    okra_model_solution_(m, &fitted);
    REFUSE_IF(!fitted.has_moments, OKRA_EARG,
              "merge: model %zu keeps no moments: fit it with --keep-moments", k + 1);
    REFUSE_IF(m->training->map_y && m->training->map_y->index, OKRA_EUNSUPPORTED,
              "merge: the basis of the outputs of model %zu is among its own pairs; rff "
              "and pivots=centres have one that can be shared",
              k + 1);
    if (k == 0) {
        return OKRA_OK;
    }
    const okra_data *x = a->training->x, *also = m->training->x;
    if (m->method != a->method) {
        CHK(apart(0, k, "their method"));
    }
    if (x->kind != also->kind || x->n != also->n || x->d != also->d ||
        okra_data_mix_(OKRA_MIX_START_, x) != okra_data_mix_(OKRA_MIX_START_, also)) {
        CHK(apart(0, k, "the objects of the basis"));
    }
    CHK(check_columns(z, k));
    CHK(same_settings(a, m, k));
    CHK(same_arrays(a->store, m->store, k));
    return same_arrays(m->store, a->store, k);
}

/* ---- together ---- */

/* a <- a, then b; NULL: nothing yet. */
static okra_status append(okra_data **a, const okra_data *b)
{
    okra_data *joined = NULL;
    if (!*a) {
        *a = okra_data_retain(b);
        return OKRA_OK;
    }
    CHK(okra_data_concat(*a, b, &joined));
    okra_data_free(*a);
    *a = joined;
    return OKRA_OK;
}

static okra_status join_outputs(merging *z)
{
    for (size_t k = 0; k < z->count; k++) {
        CHK(append(&z->y, side(z, k, false)));
    }
    if (!okra_data_column(z->y, 0)) { /* names that a later one has */
        const okra_data *named = side(z, first_named(z, z->count, false), false);
        okra_columns_free_(z->y->columns);
        z->y->columns = okra_columns_retain_(named->columns);
    }
    return OKRA_OK;
}

static okra_status make_training(merging *z)
{
    const okra_model *a = z->models[0];
    const okra_data *x = side(z, first_named(z, z->count, true), true);
    CHK(okra_training_again_(z->ctx, a, x, z->y, false, &z->training));
    return okra_map_load_over_(z->ctx, z->training->kx, z->training->x, a->store, "basis",
                               "kx", &z->map);
}

static okra_status add_up(merging *z, double lambda)
{
    OWNED const okra_store_ **stores = NULL;
    const char *file = NULL;
    char number[40];
    MAKE(stores, (okra_int)z->count);
    for (size_t k = 0; k < z->count; k++) {
        stores[k] = z->models[k]->store;
    }
    CHK(okra_model_options_(z->models[0], &z->options, &file));
    if (lambda > 0) {
        okra_number_format_(number, sizeof number, 17, lambda);
        CHK(okra_options_set(z->options, "lambda", number));
    }
    okra_problem_ whole = okra_training_problem_(z->training, z->training->x, z->map);
    whole.unlabelled = 0; /* x is the basis */
    okra_sum_ sum = {.stores = stores, .count = z->count, .whole = &whole};
    CHK(okra_store_create_(&z->store));
    CHK(okra_solution_sum_(z->ctx, &sum, z->options, z->store));
    return okra_update_common_(z->models[0]->store, z->store);
}

/* Pairs that none of the fits has seen. */
static okra_status join_calibration(const merging *z, okra_model *made)
{
    FREED_BY(okra_data_drop_) okra_data *x = NULL, *y = NULL;
    for (size_t k = 0; k < z->count; k++) {
        const okra_model *m = z->models[k];
        CHK(m->calibration_x ? append(&x, m->calibration_x) : OKRA_OK);
        CHK(m->calibration_x ? append(&y, m->calibration_y) : OKRA_OK);
    }
    return x ? okra_model_set_calibration(made, x, y) : OKRA_OK;
}

static void clear(merging *z)
{
    okra_data_free(z->y);
    okra_options_free(z->options);
    okra_map_free_(z->map);
    okra_training_free_(z->training);
    okra_store_free_(z->store);
}

okra_status okra_model_merge(okra_context *context, const okra_model *const *models,
                             size_t count, double lambda, okra_model **out)
{
    FREED_BY(clear) merging z = {.ctx = context, .models = models, .count = count};
    FREED_BY(okra_model_drop_) okra_model *made = NULL;
    NOT_NULL(out, models);
    REFUSE_IF(count == 0, OKRA_EARG, "merge: there are no models");
    REFUSE_IF(!(lambda >= 0 && lambda <= 1e300), OKRA_EARG,
              "merge: lambda is %g, expected a positive number, or 0: that of "
              "the models",
              lambda);
    for (size_t k = 0; k < count; k++) {
        CHK(check_one(&z, k));
    }
    CHK(join_outputs(&z));
    CHK(make_training(&z));
    CHK(add_up(&z, lambda));
    CHK(okra_model_assemble_(z.training, models[0]->method, z.options, NULL, z.store,
                             &made));
    z.store = NULL;
    CHK(join_calibration(&z, made));
    *out = TAKE(made);
    return OKRA_OK;
}
