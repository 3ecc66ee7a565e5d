/*
 * file.c: the model file (docs/model-file.md).
 *
 * A zip archive of stored entries: the arrays of the training inputs (x/), the training
 * outputs (y/), the method (bag/) and pairs to calibrate with, then model.json, which
 * describes them. Written under a temporary name and renamed when whole; the directory of
 * a zip archive comes last, so that a part of a file is no model. A seal over all bytes
 * and a CRC an entry are checked on loading, then arrays are used where they lie in the
 * mapped file.
 */
#include "model/model.h"

#include "decode/pair_loss.h"
#include "okra/more/update.h"

#include <stdlib.h>
#include <string.h>

static const okra_archive_sort_ model_file = {"model", "model.json", OKRA_MODEL_FORMAT_,
                                              OKRA_MODEL_VERSION_, 16 << 20};

/* ---- saving ---- */

static okra_status save_bag(okra_context *ctx, okra_saver_ *saver,
                            const okra_model *model, okra_compact how)
{
    okra_status st = OKRA_OK;
    const char *name;
    okra_mat_ A = {0};
    for (size_t i = 0; (name = okra_bag_each_(model->bag, i, &A)); i++) {
        const okra_rows_ *source = okra_bag_rows_(model->bag, name);
        bool half = okra_compact_halves_(name, A, how);
        if (okra_compact_drops_(model, name, how)) {
            continue;
        }
        st = source || half
                 ? okra_saver_put_rows_(ctx, saver, "bag", half ? "factor.half" : name,
                                        source, A, half)
                 : okra_finite_(A.p, A.rows, A.cols, A.ld);
        if (st == OKRA_OK && !source && !half) {
            st =
                okra_saver_put_(saver, "bag", name, "<f8", A.rows, A.cols, A.p, A.ld * 8);
        } else if (st != OKRA_OK) {
            okra_message_prefix_("'%s' of the model", name);
        }
        CHK(st);
    }
    return OKRA_OK;
}

/* The model's own description. */
static okra_status describe(const okra_model *model, okra_compact how, json_t **out)
{
    FREED_BY(okra_json_drop_)
    json_t *about = json_loadb(model->json, strlen(model->json), 0, NULL);
    json_t *numbers = json_object_get(about, "numbers");
    json_object_del(numbers, OKRA_RECOMPUTED_);
    if (okra_compact_recomputes_(model, how)) {
        CHK(okra_json_set_(numbers, OKRA_RECOMPUTED_, json_real(1)));
    }
    *out = TAKE(about);
    return OKRA_OK;
}

static okra_status save(okra_context *context, const okra_model *model, const char *path,
                        okra_compact how)
{
    FREED_BY(okra_saver_clear_) okra_saver_ saver = {0};
    FREED_BY(okra_json_drop_) json_t *about = NULL;
    const okra_training_ *t = model->training;
    CHK(describe(model, how, &about));
    CHK(okra_saver_begin_(context, path, &saver));
    CHK(okra_objects_save_(&saver, "x", t->x));
    CHK(okra_cancelled_(context));
    CHK(okra_objects_save_(&saver, "y", t->y));
    CHK(okra_cancelled_(context));
    CHK(save_bag(context, &saver, model, how));
    CHK(okra_model_save_calibration_(&saver, model));
    CHK(okra_cancelled_(context));
    return okra_saver_end_(&saver, "model.json", about);
}

typedef struct saving {
    okra_context *ctx;
    const okra_model *model;
    const char *path;
    okra_compact how;
} saving;

static okra_status run_save(void *arg)
{
    saving *s = arg;
    return save(s->ctx, s->model, s->path, s->how);
}

/* A large file is watched; a disk of 200 MB per second is expected. */
static okra_status save_watched(okra_context *ctx, const okra_model *model,
                                const char *path, okra_compact how)
{
    saving s = {ctx, model, path, how};
    double bytes = okra_model_bytes(model, how);
    return okra_watched_(ctx, "write", bytes, bytes / 2e8, run_save, &s);
}

okra_status okra_model_save(okra_context *context, const okra_model *model,
                            const okra_save_request *request, const char *path)
{
    okra_save_request r = {OKRA_SIZED(okra_save_request)};
    NOT_NULL(model);
    NOT_NULL(path);
    if (request) {
        SIZED(request, &r);
    }
    okra_compact how = r.compact;
    REFUSE_IF(how != OKRA_COMPACT_NO && how != OKRA_COMPACT_YES &&
                  how != OKRA_COMPACT_RECOMPUTE,
              OKRA_EARG, "compact is %d, which is no okra_compact", (int)how);
    return save_watched(context, model, path, how);
}

/* ---- loading ---- */

/* Members of model.json, of the types that they must have. */
static okra_status check_json(const char *path, const json_t *about)
{
    static const struct {
        const char *name;
        json_type type; /* of its values, where it is an object */
    } members[] = {{"options", JSON_STRING},
                   {"kernels", JSON_STRING},
                   {"numbers", JSON_REAL},
                   {"texts", JSON_STRING},
                   {"arrays", JSON_OBJECT}};
    const char *key;
    json_t *value;
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        json_t *member = json_object_get(about, members[i].name);
        bool good =
            json_is_object(member) && json_object_size(member) <= OKRA_ARRAYS_MOST_;
        json_object_foreach(member, key, value)
        {
            good = good && (json_typeof(value) == members[i].type ||
                            (members[i].type == JSON_REAL && json_is_number(value)));
        }
        REFUSE_IF(!good, OKRA_EFORMAT,
                  "%s: '%s' of model.json is missing or not what it must be", path,
                  members[i].name);
    }
    return OKRA_OK;
}

OKRA_DROPS_(drop_bag, okra_bag_, okra_bag_free_)

/* *promised: a factor that is to be computed when the rest is checked, NULL: none. */
static okra_status load_bag(okra_context *ctx, const okra_archive_ *a, json_t *about,
                            const okra_method_ *method, okra_bag_ **out,
                            double **promised)
{
    okra_status st = OKRA_OK;
    FREED_BY(drop_bag) okra_bag_ *bag = NULL;
    const char *name;
    json_t *value;
    okra_int n =
        json_integer_value(json_object_get(json_object_get(about, "y"), "count"));
    CHK(okra_bag_create_(&bag));
    json_object_foreach(json_object_get(about, "arrays"), name, value)
    {
        if (strncmp(name, "bag/", 4) == 0) {
            okra_int rows, cols;
            const void *values = NULL;
            CHK(okra_archive_get_(a, "bag", name + 4, "<f8", &rows, &cols, &values));
            REFUSE_IF(cols < 0, OKRA_EFORMAT, "%s: the array %s is no matrix", a->path,
                      name);
            if (strcmp(name, "bag/factor.half") == 0) {
                st = okra_compact_spread_(ctx, values, rows * cols, n, bag);
                if (st != OKRA_OK) {
                    okra_message_prefix_("%s", a->path);
                    return st;
                }
                continue;
            }
            CHK(okra_bag_put_view_(bag, name + 4, values, rows, cols));
        }
    }
    json_object_foreach(json_object_get(about, "numbers"), name, value)
    {
        if (strcmp(name, OKRA_RECOMPUTED_) == 0) {
            st = okra_compact_promise_(ctx, method, n, bag, promised);
            if (st == OKRA_EFORMAT) {
                okra_message_prefix_("%s", a->path);
            }
            CHK(st);
            continue;
        }
        CHK(okra_bag_put_number_(bag, name, json_number_value(value)));
    }
    json_object_foreach(json_object_get(about, "texts"), name, value)
    {
        const char *text = json_string_value(value);
        CHK(okra_bag_put_text_(bag, name, text ? text : ""));
    }
    *out = TAKE(bag);
    return OKRA_OK;
}

static okra_status load_kernel(const okra_archive_ *a, const json_t *about,
                               const char *side, okra_kernel **out)
{
    const json_t *kernels = json_object_get(about, "kernels");
    const char *text = json_string_value(json_object_get(kernels, side));
    okra_status st = text ? okra_kernel_parse_kept_(text, out)
                          : okra_fail_(OKRA_EFORMAT, "there is no kernel '%s'", side);
    if (st == OKRA_EARG || st == OKRA_EFORMAT) {
        okra_message_prefix_("%s: model.json", a->path);
        st = OKRA_EFORMAT;
    }
    return st;
}

/* The outputs get the weights that the model keeps, and so do inputs that are not a
 * basis. Kernels that are bound anew must see what they saw at the fit. */
static okra_status weigh(const okra_bag_ *bag, const okra_kernel *kx,
                         const okra_kernel *ky, okra_data **x, okra_data **y)
{
    okra_int one = 0, n = 0;
    double rank = 0, seen = 0;
    const double *weights = okra_bag_get_(bag, "sample-weight", &one, &n);
    okra_data *with = NULL;
    if (!weights) {
        return OKRA_OK;
    }
    REFUSE_IF(!okra_bag_get_number_(bag, "weights.seen", &seen) &&
                  (okra_kernel_follows_(kx) || okra_kernel_follows_(ky)),
              OKRA_EFORMAT,
              "the model has weights of pairs, and its kernels learned from the pairs "
              "without them, as they did before: fit it again");
    CHK(okra_data_weigh(*y, weights, n, &with));
    okra_data_free(*y);
    *y = with;
    return okra_bag_get_number_(bag, "x.rank", &rank) && !okra_kernel_low_(kx)
               ? OKRA_OK
               : okra_weights_pass_(*y, x);
}

static okra_status load_training(okra_context *ctx, okra_archive_ *a, const json_t *about,
                                 const okra_method_ *method, okra_bag_ *bag,
                                 okra_training_ **out)
{
    double waves = 0; /* in place of the inputs */
    FREED_BY(okra_data_drop_) okra_data *x = NULL, *y = NULL;
    FREED_BY(okra_kernel_drop_) okra_kernel *kx = NULL, *ky = NULL;
    CHK(okra_objects_load_(a, "x", json_object_get(about, "x"), &x));
    CHK(okra_objects_load_(a, "y", json_object_get(about, "y"), &y));
    CHK(okra_data_rename_(&x, a->path));
    CHK(okra_data_rename_(&y, a->path));
    CHK(load_kernel(a, about, "x", &kx));
    CHK(load_kernel(a, about, "y", &ky));
    if (okra_bag_get_number_(bag, "x.waves", &waves) && waves != 0) {
        okra_kernel_free(kx);
        kx = NULL;
        CHK(okra_kernel_parse("linear", &kx));
        okra_kernel_close_(kx);
    }
    okra_status st = okra_model_check_(method, x, y, kx, ky, bag);
    st = st == OKRA_OK ? weigh(bag, kx, ky, &x, &y) : st;
    st = st == OKRA_OK ? okra_training_create_(ctx, x, y, kx, ky, bag, out) : st;
    if (st != OKRA_OK && st != OKRA_EMEM && st != OKRA_ECANCELLED) {
        okra_message_prefix_("%s", a->path);
    }
    if (st == OKRA_EARG || st == OKRA_ESHAPE || st == OKRA_EUNSUPPORTED) {
        /* Kernels and data that do not fit together are a fault of the file here. */
        st = OKRA_EFORMAT;
    }
    CHK(st);
    kx = ky = NULL;
    return OKRA_OK;
}

/* What follows the name of the decoder that the model keeps: a loss, and its kernel. */
static okra_status check_loss(okra_context *ctx, const okra_model *m, const char *path)
{
    FREED_BY(okra_pair_loss_drop_) okra_pair_loss_ *loss = NULL;
    const char *decode = okra_bag_get_text_(m->bag, "decode");
    const okra_decoder_ *decoder = decode ? okra_decoder_find_(decode) : NULL;
    if (!decoder || !decoder->argument) {
        return OKRA_OK;
    }
    okra_status st = okra_pair_loss_create_(ctx, &m->training->output,
                                            okra_decoder_argument_(decode), &loss);
    if (st == OKRA_EARG || st == OKRA_ESHAPE || st == OKRA_EUNSUPPORTED ||
        st == OKRA_EFORMAT) {
        okra_message_prefix_("%s", path);
        return OKRA_EFORMAT;
    }
    return st;
}

okra_status okra_model_load(okra_context *context, const char *path, okra_model **out)
{
    NOT_NULL(out);
    FREED_BY(okra_json_drop_) json_t *about = NULL;
    FREED_BY(okra_model_drop_) okra_model *m = NULL;
    NOT_NULL(path);
    ZMAKE(m, 1);
    CHK(okra_archive_open_(context, path, &model_file, &m->archive, &about, &m->json));
    m->archive->arrays = json_object_get(about, "arrays");
    const char *method = json_string_value(json_object_get(about, "method"));
    m->method = method ? okra_method_find_(method) : NULL;
    REFUSE_IF(!m->method, OKRA_EFORMAT, "%s: there is no method '%s'", path,
              method ? method : "");
    CHK(check_json(path, about));
    m->about = json_incref(about);
    okra_status st =
        okra_model_check_values_(m->method, json_object_get(about, "options"));
    if (st != OKRA_OK) {
        okra_message_prefix_("%s", path);
        return st == OKRA_EMEM ? st : OKRA_EFORMAT;
    }
    m->archive->context = context;
    CHK(okra_archive_check_count_(m->archive));
    double *promised = NULL;
    st = load_bag(context, m->archive, about, m->method, &m->bag, &promised);
    if (st != OKRA_OK && strncmp(okra_message(), path, strlen(path)) != 0) {
        okra_message_prefix_("%s", path);
    }
    CHK(st == OKRA_EINTERNAL ? OKRA_EFORMAT : st); /* one name twice: the file's fault */
    CHK(load_training(context, m->archive, about, m->method, m->bag, &m->training));
    CHK(check_loss(context, m, path));
    CHK(okra_model_load_calibration_(about, m));
    st = promised ? okra_compact_recompute_(context, m, promised) : OKRA_OK;
    if (st != OKRA_OK && st != OKRA_EMEM && st != OKRA_ECANCELLED) {
        okra_message_prefix_("%s", path);
    }
    CHK(st);
    CHK(okra_archive_check_used_(m->archive));
    m->archive->arrays = NULL;
    m->archive->context = NULL;
    *out = TAKE(m);
    return OKRA_OK;
}
