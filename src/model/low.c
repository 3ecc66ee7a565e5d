/*
 * low.c: --low-rank-x and --low-rank-y: features of a few basis objects.
 *
 * Methods with a factored form take maps in place of Gram matrices: the model keeps of
 * the inputs the basis alone, and test inputs meet it through the same kernel, or, with
 * random Fourier features, the frequencies through `linear`. For all others, and for
 * what has no factored form, the kernels become EXPR | SPEC, which every method takes.
 */
#include "model/model.h"
#include "okra/more/objects.h"
#include "okra/more/update.h"

okra_status okra_low_read_(const char *name, const char *text, okra_low_ *out)
{
    return okra_at_(okra_low_parse_(text, out), "%s", name);
}

/* *kernel becomes EXPR | SPEC. */
static okra_status follow(const char *name, const char *text, okra_kernel **kernel)
{
    okra_low_ low;
    okra_kernel *followed = NULL;
    OWNED char *both = NULL;
    CHK(okra_low_read_(name, text, &low));
    GOT(both = okra_format_("%s | %s", okra_kernel_text(*kernel), text));
    CHK(okra_at_(okra_kernel_parse(both, &followed), "%s", name));
    okra_kernel_free(*kernel);
    *kernel = followed;
    return OKRA_OK;
}

static okra_status blank(void *arg, okra_int begin, okra_int end, int worker)
{
    okra_mat_ F = *(const okra_mat_ *)arg;
    for (okra_int i = begin; i < end; i++) {
        okra_mat_fill_(okra_mat_part_(F, i, 1, i + 1, F.cols - i - 1), 0);
    }
    return OKRA_OK;
}

/* The factor of a basis, made by the engine. */
static okra_status factor_basis(okra_context *ctx, const okra_trained_kernel_ *bound,
                                okra_mat_ F)
{
    FREED_BY(okra_entries_drop_) okra_entries_ *entries = NULL;
    FREED_BY(okra_matrix_drop_) okra_matrix_ *K = NULL;
    OWNED double *d = NULL;
    double shift = 0;
    MAKE(d, F.rows);
    CHK(okra_entries_create_(ctx, bound, NULL, &entries));
    CHK(okra_matrix_create_(ctx, F.rows, F.rows, "the Gram matrix of the basis", &K));
    CHK(okra_matrix_gram_(ctx, entries, 0, K));
    CHK(okra_matrix_diagonal_(ctx, K, d));
    CHK(okra_low_shift_(bound->kernel, F.rows, d, &shift));
    CHK(okra_matrix_add_diagonal_(ctx, shift, K));
    CHK(okra_matrix_cholesky_(ctx, K, NULL));
    CHK(okra_matrix_get_(ctx, K, 0, 0, F));
    return okra_parallel_least_(ctx, (double)F.rows * (double)F.rows, F.rows, 256, NULL,
                                blank, &F);
}

static okra_status make_map(okra_context *ctx, const char *name, const char *text,
                            const okra_kernel *kernel, const okra_data *data,
                            uint64_t stream, okra_map_ **out)
{
    okra_low_ low;
    CHK(okra_low_read_(name, text, &low));
    return okra_map_create_(ctx, kernel, data, &low, stream,
                            okra_engine_is_host_(ctx) ? NULL : factor_basis, out);
}

static bool has_features(const okra_data *y, const okra_kernel *ky, double *scale)
{
    return y->kind == OKRA_DENSE && okra_kernel_is_linear_(ky, scale);
}

bool okra_fit_factored_(const okra_fit_fields_ *f, const okra_method_ *method,
                        const okra_options *options, const okra_data *x,
                        const okra_data *y, const okra_kernel *ky)
{
    double scale = 1;
    bool features = has_features(y, ky, &scale);
    okra_problem_ problem = {.n = y->n,
                             .unlabelled = x->n - y->n,
                             .x = x,
                             .y = y,
                             .features = features ? y->values : NULL,
                             .d = features ? y->d : 0,
                             .features_ld = features ? y->ld : 0,
                             .feature_scale = features ? scale : 1};
    return *okra_fit_low_x_(f) && !y->missing &&
           okra_method_factored_(method, &problem, options);
}

/* What does not go with low rank. */
static okra_status check(const okra_fit_fields_ *f, const okra_data *y, bool features)
{
    REFUSE_IF(*f->low_rank && (*f->low_rank_x || *f->low_rank_y), OKRA_EARG,
              "low-rank stands for low-rank-x and low-rank-y: give either it or these");
    REFUSE_IF(*f->low_rank_y && features, OKRA_EARG,
              "low-rank-y: under a linear kernel the %lld coordinates of the outputs are "
              "their features: leave it out",
              (long long)y->d);
    return OKRA_OK;
}

okra_status okra_fit_low_(okra_context *ctx, const okra_fit_fields_ *f,
                          const okra_method_ *method, const okra_options *options,
                          const okra_data *x, const okra_data *y, okra_kernel **kx,
                          okra_kernel **ky, okra_map_ **map_x, okra_map_ **map_y)
{
    double scale;
    bool features = has_features(y, *ky, &scale);
    const char *on_x = okra_fit_low_x_(f), *on_y = features ? "" : okra_fit_low_y_(f);
    FREED_BY(okra_map_drop_) okra_map_ *inputs = NULL;
    okra_low_ low;
    CHK(check(f, y, features));
    if (!okra_fit_factored_(f, method, options, x, y, *ky)) {
        CHK(*on_x ? follow("low-rank-x", on_x, kx) : OKRA_OK);
        return *on_y ? follow("low-rank-y", on_y, ky) : OKRA_OK;
    }
    if (*on_y) { /* refuse a mistake in it before the work on x */
        CHK(okra_low_read_("low-rank-y", on_y, &low));
    }
    CHK(make_map(ctx, "low-rank-x", on_x, *kx, x, 1, &inputs));
    if (*on_y) {
        CHK(make_map(ctx, "low-rank-y", on_y, *ky, y, 2, map_y));
    }
    *map_x = TAKE(inputs);
    return OKRA_OK;
}

okra_status okra_low_put_(okra_context *ctx, const okra_trained_kernel_ *bound,
                          const char *side, size_t count, okra_store_ *const *stores)
{
    okra_int rank = 0;
    double error = -1;
    char name[32];
    if (bound) {
        CHK(okra_trained_kernel_low_(ctx, bound, &rank, &error));
    }
    for (size_t i = 0; rank > 0 && i < count; i++) {
        snprintf(name, sizeof name, "%s.rank", side);
        CHK(okra_store_put_number_(stores[i], name, (double)rank));
        snprintf(name, sizeof name, "%s.trace-error", side);
        if (error >= 0) {
            CHK(okra_store_put_number_(stores[i], name, error));
        }
    }
    return OKRA_OK;
}

okra_status okra_low_waves_(const okra_fit_fields_ *f, okra_kernel **kx, char **text)
{
    CHK(follow("low-rank-x", okra_fit_low_x_(f), kx));
    *text = okra_strdup_(okra_kernel_text(*kx));
    okra_kernel_drop_(&*kx);
    return *text ? okra_kernel_parse("linear", kx) : OKRA_EMEM;
}

/* ---- a basis that several fits of low rank share
 *
 * A basis is a model of ridge from inputs to their features, h(x) = phi(x), whose
 * training outputs are the features of the first objects of the sample that it was made
 * from. It keeps the objects of the basis, what the kernel knows of them, and the factor
 * (kernel/lowrank/lowrank.h), so that a fit anywhere gives features with the same
 * meaning, and moments of such fits add up. A model that keeps its moments is a basis as
 * well.
 * ---- */

/* ---- making one ---- */

/* The method whose model a basis is. */
static const okra_method_ *of_basis(void)
{
    size_t k = 0;
    while (okra_methods_[k]->solution != okra_solution_open_) {
        k++;
    }
    return okra_methods_[k];
}

/* Features of the first objects, as outputs. */
static okra_status first_features(okra_context *ctx, const okra_map_ *map,
                                  const okra_data *x, okra_data **out)
{
    okra_int n = OKRA_MIN_(x->n, map->rank);
    FREED_BY(okra_mat_drop_) okra_mat_ V = {0}, Phi = {0};
    CHK(okra_mat_room_(ctx, n, map->columns, "values of a basis", &V));
    CHK(okra_mat_room_(ctx, n, map->rank, "features of a basis", &Phi));
    CHK(okra_map_values_(ctx, map, x, 0, V));
    if (map->sketch) {
        CHK(okra_map_features_(ctx, map, V, Phi));
    } else {
        CHK(okra_map_features_(ctx, map, V, V));
        CHK(okra_mat_copy_(V, Phi));
    }
    return okra_data_adopt_dense_(&Phi.p, n, map->rank, "features of a basis", out);
}

static okra_status check_options(const okra_options *options,
                                 const okra_fit_fields_ *fields)
{
    const char *name, *value;
    for (size_t i = 0; options && (name = okra_options_each_(options, i, &value)); i++) {
        REFUSE_IF(strcmp(name, "kx") != 0 && strcmp(name, "low-rank-x") != 0, OKRA_EARG,
                  "a basis has no use for option %s: give kx and "
                  "low-rank-x",
                  name);
    }
    return *fields->low_rank_x ? OKRA_OK
                               : okra_fail_(OKRA_EARG, "a basis needs low-rank-x, for "
                                                       "example nystrom(rank=500)");
}

okra_status okra_basis_create(okra_context *context, const okra_data *x,
                              const okra_options *options, okra_model **out)
{
    NOT_NULL(x, out);
    okra_fit_fields_ fields;
    okra_low_ low;
    FREED_BY(okra_kernel_drop_) okra_kernel *kx = NULL, *ky = NULL;
    FREED_BY(okra_map_drop_) okra_map_ *map = NULL;
    FREED_BY(okra_data_drop_) okra_data *y = NULL;
    FREED_BY(okra_store_drop_) okra_store_ *store = NULL;
    FREED_BY(okra_training_drop_) okra_training_ *training = NULL;
    OWNED char *waves = NULL;
    CHK(okra_options_read(options, &okra_fit_table_, &fields));
    CHK(check_options(options, &fields));
    CHK(okra_low_read_("low-rank-x", fields.low_rank_x, &low));
    REFUSE_IF(x->n == 0 || x->missing, OKRA_ESHAPE,
              x->missing ? "x has missing values" : "there are no objects");
    CHK(okra_kernel_choose(context, fields.kx, x, &kx));
    CHK(okra_map_create_(context, kx, x, &low, 1, NULL, &map));
    CHK(first_features(context, map, x, &y));
    CHK(okra_store_create_(&store));
    CHK(okra_solution_basis_(context, map, store));
    CHK(okra_store_put_number_(store, "x.rank", (double)map->rank));
    CHK(okra_map_save_over_(map, store, "basis"));
    CHK(okra_kernel_parse("linear", &ky));
    if (map->kernel) {
        CHK(okra_low_waves_(&fields, &kx, &waves));
    }
    CHK(okra_training_low_(context, map->objects, y, kx, ky, NULL, NULL, NULL,
                           &training));
    kx = ky = NULL;
    training->waves = map->kernel != NULL;
    training->waves_text = TAKE(waves);
    CHK(okra_model_assemble_(training, of_basis(), options, NULL, store, out));
    store = NULL;
    return OKRA_OK;
}

/* ---- using one ---- */

static okra_status same_kind(const okra_model *basis, const okra_data *x)
{
    const okra_data *objects = basis->training->x;
    char a[96], b[96];
    bool waves = basis->training->waves;
    bool fits = waves ? x->kind == OKRA_DENSE || x->kind == OKRA_SPARSE
                      : x->kind == objects->kind;
    bool width = x->kind != OKRA_DENSE || x->d == objects->d;
    return fits && width ? OKRA_OK
                         : okra_fail_(OKRA_ESHAPE, "x has %s, the basis was made of %s",
                                      okra_data_describe_(x, a, sizeof a),
                                      okra_data_describe_(objects, b, sizeof b));
}

okra_status okra_fit_basis_low_(okra_context *ctx, const okra_model *basis,
                                const okra_fit_fields_ *f, const okra_method_ *method,
                                const okra_options *options, const okra_data *x,
                                const okra_data *y, const okra_kernel *kx,
                                const okra_kernel *ky, okra_map_ **map_x,
                                okra_map_ **map_y)
{
    okra_low_ low;
    double scale;
    bool features = y->kind == OKRA_DENSE && okra_kernel_is_linear_(ky, &scale);
    CHK(same_kind(basis, x));
    REFUSE_IF(!okra_fit_factored_(f, method, options, x, y, ky), OKRA_EUNSUPPORTED,
              "method %s has no factored form for this: a basis is of no use to it",
              method->name);
    REFUSE_IF(*f->low_rank_y && features, OKRA_EARG,
              "low-rank-y: outputs under a linear kernel are their own "
              "features: leave it out");
    CHK(okra_map_load_over_(ctx, kx, basis->training->x, basis->store, "basis", "kx",
                            map_x));
    if (*f->low_rank_y) {
        CHK(okra_low_read_("low-rank-y", f->low_rank_y, &low));
        CHK(okra_map_create_(ctx, ky, y, &low, 2, NULL, map_y));
    }
    return OKRA_OK;
}

/* The options of the fit with the kernel and the low rank of the basis. */
static okra_status complete(const okra_model *basis, const okra_options *given,
                            okra_options **out)
{
    FREED_BY(okra_options_drop_) okra_options *o = NULL, *kept = NULL;
    const char *name, *value, *file = NULL;
    CHK(okra_fit_options(&o));
    CHK(okra_model_options_(basis, &kept, &file));
    const char *kx = okra_options_get(kept, "kx"),
               *low = okra_options_get(kept, "low-rank-x"),
               *both = okra_options_get(kept, "low-rank");
    for (size_t i = 0; given && (name = okra_options_each_(given, i, &value)); i++) {
        bool own = strcmp(name, "kx") == 0;
        if ((own && strcmp(value, kx) != 0) || strncmp(name, "low-rank", 8) == 0) {
            REFUSE_IF(strcmp(name, "low-rank-y") != 0, OKRA_EARG,
                      "%s is '%s', but the basis says it: leave it out", name, value);
        }
        if (!own) {
            CHK(okra_options_set(o, name, value));
        }
    }
    CHK(okra_options_set(o, "kx", kx));
    CHK(okra_options_set(o, "low-rank-x", *low ? low : both));
    *out = TAKE(o);
    return OKRA_OK;
}

okra_status okra_fit_basis_(okra_context *context, const okra_model *basis,
                            const okra_data *x, const okra_data *y,
                            const okra_options *options, okra_model **out)
{
    NOT_NULL(basis, x, y, out);
    FREED_BY(okra_options_drop_) okra_options *all = NULL;
    FREED_BY(okra_data_drop_) okra_data *aligned = NULL;
    REFUSE_IF(!okra_map_saved_over_(basis->store, "basis"), OKRA_EARG,
              "the model keeps no basis: make one with okra basis, or fit with "
              "keep-moments");
    REFUSE_IF(okra_kernel_files_(basis->training->kx), OKRA_EUNSUPPORTED,
              "the kernel of the basis names a file, %s; no file is opened "
              "because a model names it",
              okra_kernel_text(basis->training->kx));
    CHK(complete(basis, options, &all));
    CHK(okra_data_align(context, x, basis->training->x, &aligned));
    return okra_fit_with_(context, basis, aligned, y, all, NULL, 1, out);
}
