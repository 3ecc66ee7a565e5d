/*
 * fit.c: from pairs of objects and options to a model.
 */
#include "model/model.h"
#include "okra/more/twin.h"

/* ---- --twin: learned transformations take the place of both kernels ---- */

static okra_status parse(const char *text, int degree[2], bool *unbiased)
{
    int used = 0;
    if (sscanf(text, "%9d,%9d%n", &degree[0], &degree[1], &used) == 2) {
        *unbiased = strcmp(text + used, ",unbiased") == 0;
        if (!text[used] || *unbiased) {
            return OKRA_OK;
        }
    }
    return okra_fail_(
        OKRA_EARG, "twin is '%s', expected two degrees, D1,D2 or D1,D2,unbiased", text);
}

/* The inputs that have an output. */
static okra_status labelled(const okra_data *x, okra_int n, okra_data **out)
{
    if (x->n == n) {
        *out = okra_data_retain(x);
        return OKRA_OK;
    }
    return okra_data_some_(x, 0, n, n, out);
}

OKRA_DROPS_(drop_twin, okra_twin, okra_twin_free)

static okra_status learn_twin(okra_context *ctx, const okra_data *x, const okra_data *y,
                              const okra_fit_fields_ *fields, okra_kernel **kx,
                              okra_kernel **ky, double hsic[2])
{
    int degree[2];
    bool unbiased;
    FREED_BY(okra_data_drop_) okra_data *inputs = NULL;
    FREED_BY(drop_twin) okra_twin *twin = NULL;
    FREED_BY(okra_kernel_drop_) okra_kernel *x_learned = NULL;
    okra_kernel *y_learned = NULL;
    CHK(parse(fields->twin, degree, &unbiased));
    REFUSE_IF(y->missing, OKRA_EARG,
              "twin: y has missing values, of which no kernel can be learned");
    CHK(labelled(x, y->n, &inputs));
    const char *low_x = okra_fit_low_x_(fields);
    const char *low_y = okra_fit_low_y_(fields);
    okra_twin_base base_x = {(const okra_kernel *const *)kx, 1, degree[0],
                             *low_x ? low_x : NULL};
    okra_twin_base base_y = {(const okra_kernel *const *)ky, 1, degree[1],
                             *low_y ? low_y : NULL};
    CHK(okra_twin_learn(ctx, inputs, y, &base_x, &base_y, unbiased, &twin));
    CHK(okra_kernel_parse(okra_twin_kernel(twin, OKRA_SIDE_X), &x_learned));
    CHK(okra_kernel_parse(okra_twin_kernel(twin, OKRA_SIDE_Y), &y_learned));
    okra_kernel_free(*kx);
    okra_kernel_free(*ky);
    *kx = x_learned;
    *ky = y_learned;
    x_learned = NULL;
    hsic[0] = okra_twin_before(twin);
    hsic[1] = okra_twin_after(twin);
    return OKRA_OK;
}

/* ---- rows that lie in several files
 *
 * A fit of low rank goes over its rows once and keeps sums. Where inputs and outputs are
 * arrays of NumPy they then stay in their files: each process reads the rows of its share
 * and those of the basis, and checks them as they come. Every other fit brings the rows
 * together in memory first; so do a few of them, up to FEW, of which a model keeps all
 * outputs. Of more it keeps the first FEW, for decoders that choose among them.
 * ---- */

enum { FEW = 16384 };

/* Is the basis drawn without a look at all rows? */
static bool draws(const okra_low_ *low)
{
    return low->kind == OKRA_LOW_RFF_ || (low->kind == OKRA_LOW_SKETCH_ && low->sparse) ||
           (low->kind == OKRA_LOW_NYSTROM_ &&
            (low->pivots == OKRA_PIVOTS_UNIFORM_ || low->pivots == OKRA_PIVOTS_CENTRES_));
}

static okra_status may_stay(okra_context *ctx, const okra_options *options,
                            const okra_data *x, const okra_data *y, bool *out)
{
    FREED_BY(okra_kernel_drop_) okra_kernel *ky = NULL;
    okra_fit_fields_ f;
    okra_low_ low;
    double scale;
    *out = false;
    CHK(okra_options_read(options, &okra_fit_table_, &f));
    const char *text = okra_fit_low_x_(&f);
    const okra_method_ *method = okra_method_find_(f.method);
    okra_fit_plan_ plan = {0};
    CHK(method && method->plan ? method->plan(options, &plan) : OKRA_OK);
    bool here = okra_engine_is_host_(ctx) || okra_context_processes_(ctx);
    if (!here || !*text || x->kind != OKRA_DENSE || y->kind != OKRA_DENSE ||
        y->n <= FEW || x->n != y->n || !plan.rows_alone || okra_align_asked_(f.kx)) {
        return OKRA_OK;
    }
    CHK(okra_low_read_("low-rank-x", text, &low));
    CHK(okra_kernel_choose(ctx, f.ky, y, &ky));
    *out = draws(&low) && okra_kernel_is_linear_(ky, &scale);
    return OKRA_OK;
}

static okra_status open_rows(okra_context *ctx, const char *text, okra_data **out)
{
    return okra_shards_named_(text) ? okra_shards_open_(ctx, text, out)
                                    : okra_data_read(ctx, text, out);
}

static okra_status fit_shards(okra_context *context, const char *x, const char *y,
                              const okra_options *options, okra_model **out)
{
    NOT_NULL(x, y, out);
    FREED_BY(okra_data_drop_) okra_data *inputs = NULL, *outputs = NULL;
    bool stay = false;
    CHK(open_rows(context, x, &inputs));
    CHK(open_rows(context, y, &outputs));
    CHK(may_stay(context, options, inputs, outputs, &stay));
    if (!stay) {
        CHK(okra_stack_join_(context, &inputs));
        CHK(okra_stack_join_(context, &outputs));
    }
    return okra_fit(context, inputs, outputs, options, out);
}

/* ---- the fit ---- */

/* One class more than inputs, and the first of them comes once: a heading, likely. */
static const char *heading(const okra_data *x, const okra_data *y)
{
    bool likely = y->kind == OKRA_LABELS && y->n == x->n + 1 && y->n > 2;
    for (okra_int i = 1; i < y->n && likely; i++) {
        likely = y->codes[i] != y->codes[0];
    }
    return likely
               ? "; if the first line of y is a heading, labels:FILE:HEADING reads what "
                 "is below it"
               : "";
}

okra_status okra_method_check_pairs_(const okra_method_ *method, const okra_data *x,
                                     const okra_data *y)
{
    char a[96], b[96];
    okra_data_describe_(x, a, sizeof a);
    okra_data_describe_(y, b, sizeof b);
    bool files = strcmp(x->source, "memory") != 0 && strcmp(y->source, "memory") != 0;
    REFUSE_IF(x->n < y->n, OKRA_ESHAPE,
              "%s has %s, %s has %s; expected as many of each%s", files ? x->source : "x",
              a, files ? y->source : "y", b, heading(x, y));
    REFUSE_IF(x->n > y->n && !okra_method_takes_(method, OKRA_TAKES_UNLABELLED_),
              OKRA_ESHAPE,
              "x has %s, y has %s; expected as many of each: method %s does "
              "not use inputs without outputs",
              a, b, method->name);
    REFUSE_IF(x->missing ||
                  (y->missing && !okra_method_takes_(method, OKRA_TAKES_MISSING_)),
              OKRA_EUNSUPPORTED, "%s has missing values, which method %s does not use",
              x->missing ? "x" : "y", method->name);
    REFUSE_IF(y->n == 0, OKRA_ESHAPE, "there are no training pairs");
    REFUSE_IF(!okra_weights_plain_(y) && !okra_method_takes_(method, OKRA_TAKES_WEIGHTS_),
              OKRA_EUNSUPPORTED, "method %s %s", method->name,
              method->unweighted ? method->unweighted : "does not use weights of pairs");
    return OKRA_OK;
}

okra_status okra_outputs_known_(const okra_data *y)
{
    for (okra_int j = 0; y->missing && y->n > 0 && j < y->d; j++) {
        okra_int i = 0;
        while (i < y->n && isnan(y->values[i * y->ld + j])) {
            i++;
        }
        REFUSE_IF(i == y->n, OKRA_EARG,
                  "y: column %lld (counted from 0) has no known value, so "
                  "that nothing can be learned of it; leave it out",
                  (long long)j);
    }
    return OKRA_OK;
}

/* The lambdas of a path obey the range of the option. */
static okra_status check_lambda(const okra_method_ *method, const double *lambda,
                                size_t count)
{
    const okra_option *row = okra_option_find_(&method->options, "lambda", 6);
    REFUSE_IF(!row || !method->path, OKRA_EARG,
              "method %s has no lambda to follow a path of", method->name);
    okra_status st = OKRA_OK;
    for (size_t i = 0; i < count && st == OKRA_OK; i++) {
        char text[40];
        double value;
        okra_number_format_(text, sizeof text, 17, lambda[i]);
        st = okra_option_parse_(method->name, row, text, &value);
    }
    return st;
}

okra_status okra_model_assemble_(okra_training_ *training, const okra_method_ *method,
                                 const okra_options *options, const double *lambda,
                                 okra_store_ *store, okra_model **out)
{
    FREED_BY(okra_json_drop_) json_t *about = NULL;
    FREED_BY(okra_model_drop_) okra_model *m = NULL;
    CHK(okra_trained_kernel_save_(training->bound_x, store, "kx"));
    CHK(training->map_y ? okra_map_save_(training->map_y, store, "y")
                        : okra_trained_kernel_save_(training->bound_y, store, "ky"));
    if (training->waves) {
        CHK(okra_store_put_number_(store, "x.waves", 1));
    }
    if (training->y->weights) { /* by the kernels as well: file.c */
        CHK(okra_store_put_number_(store, "weights.seen", 1));
    }
    ZMAKE(m, 1);
    CHK(okra_model_about_(training, method, options, lambda, store, &about));
    CHK(okra_json_text_(about, &m->json));
    m->about = json_incref(about);
    m->method = method;
    m->store = store;
    m->training = training;
    atomic_fetch_add(&training->references, 1);
    *out = TAKE(m);
    return OKRA_OK;
}

/* x: all inputs; of low rank the training set holds the basis of map_x alone. y: all
 * outputs, of which the training set holds the first alone where they are in pieces. */
static okra_status run(okra_context *ctx, const okra_training_ *t, const okra_data *x,
                       const okra_data *y, const okra_map_ *map_x,
                       const okra_method_ *method, const okra_options *options,
                       const double *lambda, size_t count, okra_store_ *const *stores)
{
    okra_problem_ problem = okra_training_problem_(t, x, map_x);
    if (y->pieces) {
        problem.n = y->n;
        problem.unlabelled = 0;
        problem.y = y;
    }
    for (size_t i = 0; y->n > t->y->n && i < count; i++) {
        CHK(okra_store_put_number_(stores[i], "pairs", (double)y->n));
    }
    return lambda ? method->path(ctx, &problem, options, lambda, count, stores)
                  : okra_method_fit_(ctx, method, &problem, options, stores[0]);
}

/* Weights of kernels: align.c. */
static okra_status learn_align(okra_context *ctx, const okra_method_ *method,
                               const okra_data *x, const okra_data *y, const char *kx,
                               const okra_kernel *ky, const okra_options *options,
                               const double *lambda, okra_align_ *out)
{
    okra_align_options_ o = {.lambda = 0.1};
    const okra_option *row = okra_option_find_(&method->options, "lambda", 6);
    const char *center = okra_options_get(options, "center-output");
    REFUSE_IF(x->kind == OKRA_GRAM, OKRA_EARG,
              "align: x is one Gram matrix; give several, --x for each, and "
              "align(precomputed@1, precomputed@2)");
    if (lambda) {
        o.lambda = lambda[0];
    } else if (row) {
        CHK(okra_option_parse_(method->name, row, okra_options_get(options, "lambda"),
                               &o.lambda));
    }
    o.lambda = o.lambda > 0 ? o.lambda : 1e-8;
    o.center = center && strcmp(center, "yes") == 0;
    okra_status st = okra_align_learn_(ctx, x, y, kx, ky, &o, out);
    if (st == OKRA_EARG || st == OKRA_EUNSUPPORTED) {
        okra_message_prefix_("kx");
    }
    return st;
}

/* Both kernels; numbers in the place of `auto` and align, polynomials of --twin. What was
 * learned goes into the stores, for whoever reads the model. */
static okra_status learn_kernels(okra_context *ctx, const okra_method_ *method,
                                 const okra_data *x, const okra_data *y,
                                 const okra_fit_fields_ *fields,
                                 const okra_options *options, const double *lambda,
                                 size_t count, okra_store_ *const *stores,
                                 okra_kernel **kx, okra_kernel **ky)
{
    double hsic[2] = {0, 0};
    FREED_BY(okra_align_clear_) okra_align_ align = {0};
    CHK(okra_at_(okra_kernel_choose(ctx, fields->ky, y, ky), "ky"));
    if (okra_align_asked_(fields->kx)) {
        CHK(learn_align(ctx, method, x, y, fields->kx, *ky, options, lambda, &align));
    }
    const char *text = align.text ? align.text : fields->kx;
    CHK(okra_at_(okra_kernel_choose(ctx, text, x, kx), "kx"));
    REFUSE_IF(*fields->twin && y->weights, OKRA_EUNSUPPORTED,
              "twin learns kernels from pairs of equal weight: it does not use weights");
    if (*fields->twin) {
        CHK(learn_twin(ctx, x, y, fields, kx, ky, hsic));
    }
    for (size_t i = 0; i < count; i++) {
        if (*fields->twin) {
            CHK(okra_store_put_number_(stores[i], "twin.hsic-before", hsic[0]));
            CHK(okra_store_put_number_(stores[i], "twin.hsic-after", hsic[1]));
        }
        if (align.text) {
            CHK(okra_store_put_text_(stores[i], "align.kernels", align.kernels));
            CHK(okra_store_put_text_(stores[i], "align.weights", align.weights));
            CHK(okra_store_put_number_(stores[i], "align.value", align.value));
        }
    }
    return OKRA_OK;
}

/* stores: count empty places, used up here; models: count empty places. */
static okra_status fit_all(okra_context *ctx, const okra_model *basis, const okra_data *x,
                           const okra_data *y, const okra_options *options,
                           const double *lambda, size_t count, okra_store_ **stores,
                           okra_model **models)
{
    okra_fit_fields_ fields;
    const okra_method_ *method = NULL;
    const okra_decoder_ *decoder = NULL;
    FREED_BY(okra_kernel_drop_) okra_kernel *kx = NULL, *ky = NULL;
    FREED_BY(okra_training_drop_) okra_training_ *training = NULL;
    FREED_BY(okra_map_drop_) okra_map_ *map_x = NULL, *map_y = NULL;
    FREED_BY(okra_data_drop_) okra_data *kept = NULL, *first = NULL;
    OWNED char *waves = NULL;
    CHK(okra_options_read(options, &okra_fit_table_, &fields));
    CHK(okra_method_choose_(fields.method, &method));
    CHK(okra_method_check_(options, method));
    CHK(okra_method_check_pairs_(method, x, y));
    if (*fields.decode) {
        CHK(okra_decoder_choose_(fields.decode, &decoder));
    }
    if (lambda) {
        CHK(check_lambda(method, lambda, count));
    }
    for (size_t i = 0; i < count; i++) {
        CHK(okra_store_create_(&stores[i]));
        CHK(decoder ? okra_store_put_text_(stores[i], "decode", fields.decode) : OKRA_OK);
    }
    CHK(learn_kernels(ctx, method, x, y, &fields, options, lambda, count, stores, &kx,
                      &ky));
    if (basis) {
        CHK(okra_fit_basis_low_(ctx, basis, &fields, method, options, x, y, kx, ky,
                                &map_x, &map_y));
    } else if (*okra_fit_low_x_(&fields) || *okra_fit_low_y_(&fields)) {
        CHK(okra_fit_low_(ctx, &fields, method, options, x, y, &kx, &ky, &map_x, &map_y));
    }
    if (map_x && map_x->kernel) {
        CHK(okra_low_waves_(&fields, &kx, &waves));
    }
    if (y->pieces) {
        CHK(okra_stack_slice_(y, 0, OKRA_MIN_(y->n, FEW), &first));
        CHK(okra_data_copy(first, &kept));
    }
    CHK(okra_training_low_(ctx, map_x ? map_x->objects : x, kept ? kept : y, kx, ky,
                           basis ? basis->store : NULL, NULL, map_y, &training));
    kx = ky = NULL;
    map_y = NULL;
    training->waves = map_x && map_x->kernel;
    training->waves_text = TAKE(waves);
    if (okra_kernel_low_(training->kx)) {
        CHK(okra_low_put_(ctx, training->bound_x, "x", count, stores));
    }
    if (okra_kernel_low_(training->ky)) {
        CHK(okra_low_put_(ctx, training->bound_y, "y", count, stores));
    }
    CHK(run(ctx, training, map_x ? x : training->x, y, map_x, method, options, lambda,
            count, stores));
    for (size_t i = 0; i < count; i++) {
        CHK(okra_model_assemble_(training, method, options, lambda ? &lambda[i] : NULL,
                                 stores[i], &models[i]));
        stores[i] = NULL;
    }
    return OKRA_OK;
}

static okra_status fit_pairs(okra_context *ctx, const okra_model *basis,
                             const okra_data *x, const okra_data *y,
                             const okra_options *options, const double *lambda,
                             size_t count, okra_model **models)
{
    OWNED okra_store_ **stores = NULL;
    OWNED okra_model **made = NULL;
    ZMAKE(stores, (okra_int)count);
    ZMAKE(made, (okra_int)count);
    okra_status st = fit_all(ctx, basis, x, y, options, lambda, count, stores, made);
    for (size_t i = 0; i < count; i++) {
        if (st == OKRA_OK) {
            models[i] = TAKE(made[i]);
        }
        okra_store_free_(stores[i]);
        okra_model_free(made[i]);
    }
    return st;
}

/* Do all of several processes fit the same? */
static okra_status same_fit(const okra_context *ctx, const okra_data *x,
                            const okra_data *y, const okra_options *options,
                            const double *lambda, size_t count)
{
    uint64_t h = okra_data_mix_(okra_data_mix_(OKRA_MIX_START_, x), y);
    h = okra_options_mix_(h, options);
    h = lambda ? okra_mix_(h, lambda, count * sizeof *lambda) : h;
    return okra_context_same_(ctx, "data and options of a fit", h);
}

okra_status okra_fit_with_(okra_context *ctx, const okra_model *basis, const okra_data *x,
                           const okra_data *y, const okra_options *options,
                           const double *lambda, size_t count, okra_model **models)
{
    FREED_BY(okra_data_drop_) okra_data *some_x = NULL, *some_y = NULL;
    if (okra_context_processes_(ctx)) {
        CHK(same_fit(ctx, x, y, options, lambda, count));
    }
    CHK(okra_weights_drop_(x, y, &some_x, &some_y));
    return fit_pairs(ctx, basis, some_x, some_y, options, lambda, count, models);
}

okra_status okra_fit(okra_context *context, const okra_data *x, const okra_data *y,
                     const okra_options *options, okra_model **out)
{
    NOT_NULL(out, x, y);
    CHK(okra_outputs_known_(y));
    return okra_fit_with_(context, NULL, x, y, options, NULL, 1, out);
}

okra_status okra_fit_as(okra_context *context, const okra_data *x, const okra_data *y,
                        const okra_options *options, const okra_fit_request *request,
                        okra_model **models)
{
    okra_fit_request r = {OKRA_SIZED(okra_fit_request)};
    NOT_NULL(models);
    SIZED(request, &r);
    bool files = r.x_files || r.y_files, path = r.lambda || r.count > 0;
    REFUSE_IF(files + path + (r.basis != NULL) > 1, OKRA_EUNSUPPORTED,
              "a fit takes one of these: rows in files, a basis, several lambdas");
    if (files) {
        REFUSE_IF(x || y, OKRA_EARG,
                  "rows come from memory or from files, not from both");
        return fit_shards(context, r.x_files, r.y_files, options, models);
    }
    if (r.basis) {
        return okra_fit_basis_(context, r.basis, x, y, options, models);
    }
    NOT_NULL(x, y);
    REFUSE_IF(path && (!r.lambda || r.count == 0), OKRA_EARG, "the path has no lambda");
    CHK(okra_outputs_known_(y));
    return okra_fit_with_(context, NULL, x, y, options, r.lambda, path ? r.count : 1,
                          models);
}

void okra_model_free(okra_model *model)
{
    if (model) {
        okra_store_free_(model->store);
        okra_data_free(model->calibration_x);
        okra_data_free(model->calibration_y);
        okra_training_free_(model->training);
        if (model->archive) {
            okra_archive_free_(model->archive);
        }
        json_decref(model->about);
        FREE(model->json, model);
    }
}

okra_int okra_model_count(const okra_model *model)
{
    return model ? model->training->y->n : 0;
}

const okra_data *okra_model_outputs(const okra_model *model)
{
    return model ? model->training->y : NULL;
}

const okra_data *okra_model_inputs(const okra_model *model)
{
    return model ? model->training->x : NULL;
}

const char *okra_model_json(const okra_model *model)
{
    return model ? model->json : NULL;
}

/* Prints kernels as they were chosen, not as they were asked for. */
const char *okra_model_option(const okra_model *model, const char *name)
{
    if (!model || !name) {
        return NULL;
    }
    bool x = strcmp(name, "kx") == 0, y = strcmp(name, "ky") == 0;
    const json_t *from = json_object_get(model->about, x || y ? "kernels" : "options");
    return json_string_value(json_object_get(from, x ? "x" : y ? "y" : name));
}
