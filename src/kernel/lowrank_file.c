/*
 * lowrank_file.c: a map as arrays of a model: PREFIX.basis (1 x basis, places in the
 * training set), PREFIX.centres (vectors) or PREFIX.waves (frequencies), PREFIX.factor,
 * PREFIX.sketch; PREFIX.inner.* is what the kernel itself keeps.
 */
#include "kernel/lowrank.h"

#include <math.h>
#include <stdio.h>

static okra_status put(okra_bag_ *bag, const char *prefix, const char *name,
                       const double *values, okra_int rows, okra_int cols, okra_int ld)
{
    okra_status st = OKRA_OK;
    char key[128];
    double *copy = NULL;
    snprintf(key, sizeof key, "%s.%s", prefix, name);
    ALLOC(copy, rows * cols);
    okra_mat_copy_(okra_mat_view_(values, rows, cols, ld),
                   okra_mat_of_(copy, rows, cols));
    TRY(okra_bag_put_(bag, key, copy, rows, cols));
    copy = NULL;
done:
    okra_free_(copy);
    return st;
}

okra_status okra_map_save_(const okra_map_ *map, okra_bag_ *bag, const char *prefix)
{
    okra_status st = OKRA_OK;
    char key[128];
    double *places = NULL;
    if (map->kernel) {
        TRY(put(bag, prefix, "waves", map->objects->values, map->basis, map->objects->d,
                map->objects->ld));
        snprintf(key, sizeof key, "%s.scale", prefix);
        TRY(okra_bag_put_number_(bag, key, map->scale));
        goto done;
    }
    if (map->index) {
        ALLOC(places, map->basis);
        for (okra_int i = 0; i < map->basis; i++) {
            places[i] = (double)map->index[i];
        }
        TRY(put(bag, prefix, "basis", places, 1, map->basis, map->basis));
    } else {
        TRY(put(bag, prefix, "centres", map->objects->values, map->basis, map->objects->d,
                map->objects->ld));
    }
    TRY(put(bag, prefix, "factor", map->factor, map->rank, map->rank, map->rank));
    if (map->sketch) {
        TRY(put(bag, prefix, "sketch", map->sketch, map->basis, map->rank, map->rank));
    }
    snprintf(key, sizeof key, "%s.inner", prefix);
    TRY(okra_bound_save_(map->bound, bag, key));
done:
    okra_free_(places);
    return st;
}

static const double *get(const okra_bag_ *bag, const char *prefix, const char *name,
                         okra_int *rows, okra_int *cols)
{
    char key[128];
    snprintf(key, sizeof key, "%s.%s", prefix, name);
    return okra_bag_get_(bag, key, rows, cols);
}

bool okra_map_saved_(const okra_bag_ *bag, const char *prefix)
{
    okra_int rows, cols;
    return get(bag, prefix, "waves", &rows, &cols) ||
           get(bag, prefix, "centres", &rows, &cols) ||
           get(bag, prefix, "basis", &rows, &cols);
}

static okra_status copy(const double *values, okra_int count, double **out)
{
    okra_status st = OKRA_OK;
    ALLOC(*out, count);
    okra_mat_copy_(okra_mat_view_(values, 1, count, count), okra_mat_of_(*out, 1, count));
done:
    return st;
}

static okra_status load_waves(const okra_bag_ *bag, const char *prefix,
                              const double *waves, okra_int rows, okra_int cols,
                              okra_map_ *map)
{
    okra_status st = OKRA_OK;
    double *w = NULL;
    char key[128];
    snprintf(key, sizeof key, "%s.scale", prefix);
    if (!okra_bag_get_number_(bag, key, &map->scale) || !(map->scale > 0)) {
        FAIL(OKRA_EFORMAT, "the map '%s' has no scale", prefix);
    }
    TRY(copy(waves, rows * cols, &w));
    TRY(okra_data_adopt_dense_(w, rows, cols, "random frequencies", &map->objects));
    w = NULL;
    TRY(okra_kernel_parse("linear", &map->kernel));
    map->basis = rows;
    map->columns = map->rank = 2 * rows;
done:
    okra_free_(w);
    return st;
}

static okra_status load_basis(const okra_data *train, const okra_bag_ *bag,
                              const char *prefix, okra_map_ *map)
{
    okra_status st = OKRA_OK;
    okra_int one = 1, rank = 0, also = 0, rows = 0, width = 0;
    const double *centres = get(bag, prefix, "centres", &map->basis, &width);
    const double *places = centres ? NULL : get(bag, prefix, "basis", &one, &map->basis);
    const double *F = get(bag, prefix, "factor", &rank, &also);
    double *values = NULL;
    if ((!places && !centres) || !F || one != 1 || rank != also ||
        (centres && width != train->d)) {
        FAIL(OKRA_EFORMAT, "the map '%s' is not whole", prefix);
    }
    const double *S = get(bag, prefix, "sketch", &rows, &also);
    if (S ? rows != map->basis || also != rank : rank != map->basis) {
        FAIL(OKRA_EFORMAT, "the map '%s' has a basis of %lld for %lld features", prefix,
             (long long)map->basis, (long long)rank);
    }
    if (centres) {
        TRY(copy(centres, map->basis * width, &values));
        TRY(okra_data_adopt_dense_(values, map->basis, width, "centres", &map->objects));
        values = NULL;
    } else {
        ALLOC(map->index, map->basis);
    }
    for (okra_int i = 0; places && i < map->basis; i++) {
        if (!(places[i] >= 0 && places[i] < (double)train->n)) {
            FAIL(OKRA_EFORMAT, "the map '%s' names object %g of %lld", prefix, places[i],
                 (long long)train->n);
        }
        map->index[i] = (okra_int)places[i];
    }
    TRY(copy(F, rank * rank, &map->factor));
    if (S) {
        TRY(copy(S, rows * rank, &map->sketch));
    }
    map->rank = rank;
    map->columns = map->basis;
    map->scale = 1;
    if (places) {
        TRY(okra_data_take(train, map->index, map->basis, &map->objects));
    }
done:
    okra_free_(values);
    return st;
}

okra_status okra_map_load_(okra_context *ctx, const okra_kernel *kernel,
                           const okra_data *train, const okra_bag_ *bag,
                           const char *prefix, okra_map_ **out)
{
    okra_status st = OKRA_OK;
    okra_int rows = 0, cols = 0;
    okra_map_ *map = NULL;
    char key[128];
    const double *waves = get(bag, prefix, "waves", &rows, &cols);
    ZALLOC(map, 1);
    if (waves) {
        TRY(load_waves(bag, prefix, waves, rows, cols, map));
    } else {
        TRY(load_basis(train, bag, prefix, map));
    }
    if (map->rank < 1) {
        FAIL(OKRA_EFORMAT, "the map '%s' has no features", prefix);
    }
    snprintf(key, sizeof key, "%s.inner", prefix);
    TRY(okra_bound_load_(ctx, map->kernel ? map->kernel : kernel, map->objects, bag, key,
                         &map->bound));
    *out = map;
    map = NULL;
done:
    okra_map_free_(map);
    return st;
}
