/*
 * training.c: the training set seen through its kernels.
 */
#include "model/model.h"

static okra_status bind_training(okra_context *ctx, const okra_kernel *kernel,
                                 const okra_data *data, const okra_store_ *store,
                                 const char *prefix, okra_trained_kernel_ **out)
{
    okra_status st =
        store ? okra_trained_kernel_load_(ctx, kernel, data, store, prefix, out)
              : okra_trained_kernel_create_(ctx, kernel, data, out);
    if (st == OKRA_EARG || st == OKRA_EUNSUPPORTED) {
        okra_message_prefix_("%s", prefix);
    }
    return st;
}

/* Outputs as the output kernel sees them: missing values are 0. Only explicit features
 * are used of such outputs, and those keep their NaN. */
static okra_status fill(const okra_data *y, okra_data **out)
{
    okra_int area = 0;
    OWNED double *values = NULL;
    CHK(okra_area_(y->n, y->d, sizeof *values, &area));
    MAKE(values, area);
    for (okra_int i = 0; i < area; i++) {
        double value = y->values[i / y->d * y->ld + i % y->d];
        values[i] = isnan(value) ? 0 : value;
    }
    return okra_data_adopt_dense_(&values, y->n, y->d, y->source, out);
}

okra_status okra_training_low_(okra_context *ctx, const okra_data *x, const okra_data *y,
                               okra_kernel *kx, okra_kernel *ky,
                               const okra_store_ *store_x, const okra_store_ *store_y,
                               okra_map_ *map_y, okra_training_ **out)
{
    FREED_BY(okra_training_drop_) okra_training_ *t = NULL;
    FREED_BY(okra_map_drop_) okra_map_ *loaded = NULL;
    ZMAKE(t, 1);
    atomic_init(&t->references, 1);
    CHK(okra_data_copy(x, &t->x));
    CHK(okra_data_copy(y, &t->y));
    CHK(bind_training(ctx, kx, t->x, store_x, "kx", &t->bound_x));
    if (t->y->missing) {
        CHK(fill(t->y, &t->filled));
    } else {
        t->filled = okra_data_retain(t->y);
    }
    okra_kernel_stream_(ky, 2); /* random choices apart from those of kx */
    if (store_y && okra_map_saved_(store_y, "y")) {
        CHK(okra_map_load_(ctx, ky, t->filled, store_y, "y", &loaded));
        map_y = loaded;
    }
    if (!map_y) {
        CHK(bind_training(ctx, ky, t->filled, store_y, "ky", &t->bound_y));
    }
    t->output = (okra_output_){.y = t->y,
                               .x = t->x,
                               .ky = t->bound_y,
                               .kernel = ky,
                               .map = map_y,
                               .cache = &t->cache,
                               .feature_scale = 1};
    double scale;
    if (t->y->kind == OKRA_DENSE && okra_kernel_is_linear_(ky, &scale)) {
        t->output.features = t->y->values;
        t->output.features_ld = t->y->ld;
        t->output.d = t->y->d;
        t->output.feature_scale = scale;
    } else if (t->y->kind == OKRA_DENSE && okra_kernel_is_metric_(ky)) {
        t->output.vectors = t->y->values;
        t->output.vectors_ld = t->y->ld;
        t->output.d = t->y->d;
    }
    REFUSE_IF(t->y->missing && !t->output.features, OKRA_EUNSUPPORTED,
              "y has missing values, for which ky must be linear; it is %s",
              okra_kernel_text(ky));
    t->waves = store_x && okra_store_number_(store_x, "x.waves", 0) != 0;
    t->kx = kx;
    t->ky = ky;
    t->map_y = map_y;
    *out = TAKE(t);
    loaded = NULL;
    return OKRA_OK;
}

okra_status okra_training_create_(okra_context *ctx, const okra_data *x,
                                  const okra_data *y, okra_kernel *kx, okra_kernel *ky,
                                  const okra_store_ *store, okra_training_ **out)
{
    return okra_training_low_(ctx, x, y, kx, ky, store, store, NULL, out);
}

okra_status okra_training_again_(okra_context *ctx, const okra_model *model,
                                 const okra_data *x, const okra_data *y, bool anew,
                                 okra_training_ **out)
{
    const okra_training_ *t = model->training;
    FREED_BY(okra_kernel_drop_) okra_kernel *kx = NULL, *ky = NULL;
    CHK(okra_kernel_parse_kept_(okra_kernel_text(t->kx), &kx));
    CHK(okra_kernel_parse_kept_(okra_kernel_text(t->ky), &ky));
    CHK(okra_training_create_(ctx, x, y, kx, ky, anew ? NULL : model->store, out));
    kx = ky = NULL;
    if ((*out)->waves) {
        GOT((*out)->waves_text = okra_strdup_(okra_model_option(model, "kx")));
    }
    return OKRA_OK;
}

okra_problem_ okra_training_problem_(const okra_training_ *t, const okra_data *x,
                                     const okra_map_ *map_x)
{
    return (okra_problem_){.n = t->y->n,
                           .unlabelled = x->n - t->y->n,
                           .x = x,
                           .y = t->y,
                           .kx = t->bound_x,
                           .ky = t->bound_y,
                           .features = t->output.features,
                           .d = t->output.features ? t->output.d : 0,
                           .features_ld = t->output.features_ld,
                           .feature_scale = t->output.feature_scale,
                           .map_x = map_x,
                           .map_y = t->map_y,
                           .weights = t->y->weights};
}

void okra_training_free_(okra_training_ *t)
{
    if (t && atomic_fetch_sub(&t->references, 1) == 1) {
        okra_trained_kernel_free_(t->bound_x);
        okra_trained_kernel_free_(t->bound_y);
        if (t->map_y) {
            okra_map_free_(t->map_y);
        }
        if (atomic_load(&t->cache)) {
            okra_cache_free_(atomic_load(&t->cache));
        }
        okra_kernel_free(t->kx);
        okra_kernel_free(t->ky);
        okra_data_free(t->x);
        okra_data_free(t->y);
        okra_data_free(t->filled);
        FREE(t->waves_text, t);
    }
}
