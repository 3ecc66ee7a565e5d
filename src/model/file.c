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
#include "okra/more/update.h"

/* models that keep less of a factor.
 *
 * The Cholesky factor of K + lambda I (n x n) is most of a model of ridge. Where there
 * are coefficients, predictions need no factor: a compact model keeps the coefficients
 * alone, and gives embeddings in place of weights. Elsewhere it keeps the lower triangle,
 * row after row, under the name factor.half: n (n + 1) / 2 numbers, which loading spreads
 * out again, so that predictions have the same bits. Or it keeps nothing of it, and
 * loading computes it again from the training inputs, their kernel and lambda. */

static bool whole_factor(const char *name)
{
    return strcmp(name, "factor") == 0;
}

/* Is "factor" that of K + lambda I? */
static bool has_own_factor(const okra_method_ *method)
{
    bool found = false;
    for (size_t k = 0; method->solution && method->kept[k]; k++) {
        found = found || strcmp(method->kept[k][0].name, "factor") == 0;
    }
    return found;
}

/* Is the factor made again at load? */
static bool recomputes(const okra_model *model, okra_compact how)
{
    okra_solution_ fitted;
    if (how != OKRA_COMPACT_RECOMPUTE) {
        return false;
    }
    okra_model_solution_(model, &fitted);
    return fitted.has_factor && fitted.lambda >= 0 &&
           !fitted.weights; /* else its factor is that of weighted pairs */
}

/* What a file leaves out by default (OKRA_COMPACT_AUTO), and getting it back.
 *
 * A file has what prediction needs. Where there are coefficients, predictions need no
 * factor of K + lambda I: a model above SMALL bytes is kept without it, and whoever asks
 * for weights has it computed again. Where there are none, one above LARGE bytes is kept
 * without it, and loading computes it again.
 */

static const double SMALL = 1 << 20, LARGE = 64 << 20;

/* Another value than OKRA_COMPACT_AUTO, but where it drops the factor. */
static okra_compact choose(const okra_model *model, okra_compact how)
{
    if (how != OKRA_COMPACT_AUTO) {
        return how;
    }
    double bytes = okra_model_bytes(model, OKRA_COMPACT_NO);
    if (bytes <= SMALL) {
        return OKRA_COMPACT_NO;
    }
    const char *keep = okra_model_option(model, "keep");
    if ((keep && strcmp(keep, "weights") == 0) ||
        !recomputes(model, OKRA_COMPACT_RECOMPUTE)) {
        return OKRA_COMPACT_NO;
    }
    return okra_store_has_(model->store, "coefficients") ? OKRA_COMPACT_AUTO
           : bytes > LARGE                               ? OKRA_COMPACT_RECOMPUTE
                                                         : OKRA_COMPACT_NO;
}

okra_status okra_compact_whole_(okra_context *ctx, const okra_model *model,
                                okra_model *out)
{
    OWNED double *factor = NULL;
    okra_model whole = *model;
    okra_int n = model->training->y->n;
    CHK(okra_store_create_(&whole.store));
    *out = whole; /* which the caller frees from now on */
    for (okra_int i = 0; i < model->store->count; i++) {
        const okra_store_item_ *item = &model->store->items[i];
        CHK(okra_store_add_(whole.store, item->name,
                            (okra_store_item_){.sort = item->sort,
                                               .A = item->A,
                                               .number = item->number,
                                               .text = item->text}));
    }
    CHK(okra_doubles_(ctx, n, n, "the factor that the model left out", &factor));
    CHK(okra_compact_recompute_(ctx, model, factor));
    return okra_store_put_(whole.store, "factor", &factor, n, n);
}

void okra_compact_forget_(okra_model *whole)
{
    okra_store_free_(whole->store);
}

/* Does a compact model do without this matrix of the store? */
static bool compact_drops(const okra_model *model, const char *name, okra_compact how)
{
    if (how == OKRA_COMPACT_AUTO) {
        return whole_factor(name);
    }
    return how != OKRA_COMPACT_NO &&
           ((whole_factor(name) && recomputes(model, how)) ||
            ((whole_factor(name) || strncmp(name, "factor.", 7) == 0 ||
              strcmp(name, "B") == 0) &&
             okra_store_has_(model->store, "coefficients")));
}

okra_status okra_compact_promise_(okra_context *ctx, const okra_method_ *method,
                                  okra_int n, okra_store_ *store, double **out)
{
    OWNED double *factor = NULL;
    REFUSE_IF(
        !has_own_factor(method) || n < 1 || n > INT32_MAX ||
            okra_store_has_(store, "factor"),
        OKRA_EFORMAT,
        "a factor is to be computed again for %lld training pairs of method %s, which %s",
        (long long)n, method->name,
        has_own_factor(method) ? "has none or has it already" : "has no such factor");
    CHK(okra_doubles_(ctx, n, n, "the factor of a compact model", &factor));
    okra_mat_units_(okra_mat_of_(factor, n, n), 0);
    double *kept = factor;
    CHK(okra_store_put_(store, "factor", &factor, n, n));
    *out = kept;
    return OKRA_OK;
}

/* K + lambda I = G G', as the methods do it (with jitter where they added some), in the
 * place of the factor that was promised. */
okra_status okra_compact_recompute_(okra_context *ctx, const okra_model *model,
                                    double *factor)
{
    okra_int n = model->training->y->n;
    okra_mat_ G = okra_mat_of_(factor, n, n);
    double jitter = 0;
    FREED_BY(okra_entries_drop_) okra_entries_ *entries = NULL;
    FREED_BY(okra_matrix_drop_) okra_matrix_ *K = NULL;
    okra_solution_ fitted;
    okra_model_solution_(model, &fitted);
    REFUSE_IF(fitted.lambda < 0 || fitted.weights, OKRA_EFORMAT,
              "the factor of this model cannot be computed again: it has no lambda, or "
              "weights of its pairs");
    CHK(okra_entries_create_(ctx, model->training->bound_x, NULL, &entries));
    CHK(okra_matrix_begin_(ctx, false, G, &K));
    CHK(okra_matrix_gram_(ctx, entries, 0, K));
    CHK(okra_matrix_add_diagonal_(ctx, fitted.lambda, K));
    CHK(okra_matrix_cholesky_(ctx, K, &jitter));
    CHK(okra_matrix_end_(ctx, K, G));
    for (okra_int i = 0; i < n; i++) {
        okra_mat_fill_(okra_mat_part_(G, i, 1, i + 1, n - i - 1), 0);
    }
    return OKRA_OK;
}

bool okra_compact_halves_(const char *name, okra_mat_ A, okra_compact how)
{
    return (how == OKRA_COMPACT_YES || how == OKRA_COMPACT_RECOMPUTE) &&
           whole_factor(name) && A.rows == A.cols && A.rows > 1;
}

okra_int okra_compact_count_(okra_int n)
{
    return n % 2 ? n * ((n + 1) / 2) : n / 2 * (n + 1);
}

okra_status okra_compact_spread_(okra_context *ctx, const double *half, okra_int count,
                                 okra_int n, okra_store_ *store)
{
    OWNED double *whole = NULL;
    REFUSE_IF(n < 1 || n > INT32_MAX || count != okra_compact_count_(n), OKRA_EFORMAT,
              "half of a factor has %lld numbers, which is not n (n + 1) / 2 of n = %lld "
              "training pairs",
              (long long)count, (long long)n);
    CHK(okra_doubles_(ctx, n, n, "the factor of a compact model", &whole));
    for (okra_int i = 0; i < n; i++) {
        memcpy(whole + i * n, half, (size_t)(i + 1) * sizeof *half);
        memset(whole + i * n + i + 1, 0, (size_t)(n - i - 1) * sizeof *half);
        half += i + 1;
    }
    return okra_store_put_(store, "factor", &whole, n, n);
}

/* ---- sizes ---- */

static double data_bytes(const okra_data *data)
{
    double n = (double)data->n, sum = data->codes ? 8 * n : 0;
    if (data->kind == OKRA_DENSE || data->kind == OKRA_GRAM) {
        sum += 8 * n * (double)data->d;
    } else if (data->kind == OKRA_SPARSE) {
        sum += 8 * n + 16 * (double)data->csr.indptr[data->n];
    } else if (data->kind == OKRA_BITS) {
        sum += 8 * n * (double)data->words;
    }
    if (data->network) {
        sum += 16 * (double)data->network->adjacency.indptr[data->network->nodes];
    }
    for (int g = 0; g < data->group_count; g++) {
        const okra_ragged_ *group = &data->groups[g];
        for (int f = 0; f < group->field_count; f++) {
            sum += (double)group->offsets[data->n] * (double)group->fields[f].width *
                   (double)okra_field_size_(group->fields[f].type);
        }
        sum += 8 * n;
    }
    for (int k = 0; k < data->component_count; k++) {
        sum += data_bytes(data->components[k]);
    }
    return sum;
}

double okra_model_bytes(const okra_model *model, okra_compact how)
{
    if (!model) {
        return 0;
    }
    how = choose(model, how);
    double sum = data_bytes(model->training->x) + data_bytes(model->training->y);
    sum += model->calibration_x ? data_bytes(model->calibration_x) : 0;
    sum += model->calibration_y ? data_bytes(model->calibration_y) : 0;
    for (okra_int i = 0; i < model->store->count; i++) {
        const okra_store_item_ *item = &model->store->items[i]; /* A is empty of others */
        double bytes = 8 * (double)item->A.rows * (double)item->A.cols;
        bool drops = compact_drops(model, item->name, how);
        bool half = okra_compact_halves_(item->name, item->A, how);
        sum += drops ? 0 : half ? bytes / 2 : bytes;
    }
    return sum;
}

static const okra_archive_sort_ model_file = {"model", "model.json", OKRA_MODEL_FORMAT_,
                                              OKRA_MODEL_VERSION_, 16 << 20};

/* ---- saving ---- */

static okra_status save_store(okra_context *ctx, okra_saver_ *saver,
                              const okra_model *model, okra_compact how)
{
    okra_status st = OKRA_OK;
    for (okra_int i = 0; i < model->store->count; i++) {
        const okra_store_item_ *item = &model->store->items[i];
        const char *name = item->name;
        okra_mat_ A = item->A;
        const okra_rows_ *source = item->source.get ? &item->source : NULL;
        bool half = okra_compact_halves_(name, A, how);
        if (item->sort != OKRA_KEPT_MATRIX_ || compact_drops(model, name, how)) {
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
static okra_status describe(const okra_model *model, okra_compact how, const char *note,
                            json_t **out)
{
    FREED_BY(okra_json_drop_)
    json_t *about = json_deep_copy(model->about);
    json_t *numbers = json_object_get(about, "numbers");
    GOT(about);
    json_object_del(numbers, OKRA_RECOMPUTED_);
    if (recomputes(model, how)) {
        CHK(okra_json_set_(numbers, OKRA_RECOMPUTED_, json_real(1)));
    } else if (how == OKRA_COMPACT_AUTO || model->dropped) {
        CHK(okra_json_set_(numbers, OKRA_RECOMPUTED_, json_real(OKRA_DROPPED_)));
    }
    if (note) {
        CHK(okra_json_set_(about, "note", json_string(note)));
    }
    *out = TAKE(about);
    return OKRA_OK;
}

typedef struct saving {
    okra_context *ctx;
    const okra_model *model;
    const char *path;
    okra_compact how;
    const char *note;
} saving;

static okra_status save(void *arg)
{
    const saving *s = arg;
    const okra_model *m = s->model;
    FREED_BY(okra_saver_clear_) okra_saver_ saver = {0};
    FREED_BY(okra_json_drop_) json_t *about = NULL;
    CHK(describe(m, s->how, s->note, &about));
    CHK(okra_saver_begin_(s->ctx, s->path, &saver));
    CHK(okra_objects_save_(&saver, "x", m->training->x));
    CHK(okra_cancelled_(s->ctx));
    CHK(okra_objects_save_(&saver, "y", m->training->y));
    CHK(okra_cancelled_(s->ctx));
    CHK(save_store(s->ctx, &saver, m, s->how));
    if (m->calibration_x) {
        CHK(okra_objects_save_(&saver, "calibration-x", m->calibration_x));
        CHK(okra_objects_save_(&saver, "calibration-y", m->calibration_y));
    }
    CHK(okra_cancelled_(s->ctx));
    return okra_saver_end_(&saver, "model.json", about);
}

okra_status okra_model_save(okra_context *context, const okra_model *model,
                            const okra_save_request *request, const char *path)
{
    okra_save_request r = {OKRA_SIZED(okra_save_request)};
    NOT_NULL(model, path);
    SIZED(request, &r);
    okra_compact how = r.compact;
    REFUSE_IF(how != OKRA_COMPACT_NO && how != OKRA_COMPACT_YES &&
                  how != OKRA_COMPACT_RECOMPUTE && how != OKRA_COMPACT_AUTO,
              OKRA_EARG, "compact is %d, which is no okra_compact", (int)how);
    saving s = {context, model, path, choose(model, how), r.note};
    double bytes = okra_model_bytes(model, s.how);
    /* a large file is watched; a disk of 200 MB per second is expected */
    return okra_watched_(context, "write", bytes, bytes / 2e8, save, &s);
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

/* *promised: a factor that is to be computed when the rest is checked, NULL: none. */
static okra_status load_store(okra_context *ctx, const okra_archive_ *a, json_t *about,
                              const okra_method_ *method, okra_store_ **out,
                              double **promised)
{
    FREED_BY(okra_store_drop_) okra_store_ *store = NULL;
    const char *name;
    json_t *value;
    okra_int n =
        json_integer_value(json_object_get(json_object_get(about, "y"), "count"));
    CHK(okra_store_create_(&store));
    json_object_foreach(json_object_get(about, "arrays"), name, value)
    {
        if (strncmp(name, "bag/", 4) == 0) {
            okra_int rows, cols;
            const void *values = NULL;
            CHK(okra_archive_get_(a, "bag", name + 4, "<f8", &rows, &cols, &values));
            REFUSE_IF(cols < 0, OKRA_EFORMAT, "%s: the array %s is no matrix", a->path,
                      name);
            if (strcmp(name, "bag/factor.half") == 0) {
                CHK(okra_at_(okra_compact_spread_(ctx, values, rows * cols, n, store),
                             "%s", a->path));
                continue;
            }
            okra_store_item_ item = {.A = okra_mat_view_(values, rows, cols, cols)};
            CHK(okra_store_add_(store, name + 4, item));
        }
    }
    json_object_foreach(json_object_get(about, "numbers"), name, value)
    {
        if (strcmp(name, OKRA_RECOMPUTED_) == 0 &&
            json_number_value(value) == OKRA_DROPPED_) {
            continue;
        }
        if (strcmp(name, OKRA_RECOMPUTED_) == 0) {
            CHK(okra_at_(okra_compact_promise_(ctx, method, n, store, promised), "%s",
                         a->path));
            continue;
        }
        CHK(okra_store_put_number_(store, name, json_number_value(value)));
    }
    json_object_foreach(json_object_get(about, "texts"), name, value)
    {
        const char *text = json_string_value(value);
        CHK(okra_store_put_text_(store, name, text ? text : ""));
    }
    *out = TAKE(store);
    return OKRA_OK;
}

/* What a constructor refuses is a fault of the file here. */
static okra_status fault(okra_status st, const char *path)
{
    if (st != OKRA_OK && st != OKRA_EMEM && st != OKRA_ECANCELLED) {
        okra_message_prefix_("%s", path);
    }
    return st == OKRA_EARG || st == OKRA_ESHAPE || st == OKRA_EUNSUPPORTED ? OKRA_EFORMAT
                                                                           : st;
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
static okra_status weigh(const okra_store_ *store, const okra_kernel *kx,
                         const okra_kernel *ky, okra_data **x, okra_data **y)
{
    okra_int one = 0, n = 0;
    double rank = 0, seen = 0;
    const double *weights = okra_store_get_(store, "sample-weight", &one, &n);
    okra_data *with = NULL;
    if (!weights) {
        return OKRA_OK;
    }
    REFUSE_IF(!okra_store_get_number_(store, "weights.seen", &seen) &&
                  (okra_kernel_follows_(kx) || okra_kernel_follows_(ky)),
              OKRA_EFORMAT,
              "the model has weights of pairs, and its kernels learned from the pairs "
              "without them, as they did before: fit it again");
    CHK(okra_data_weigh(*y, weights, n, &with));
    okra_data_free(*y);
    *y = with;
    return okra_store_get_number_(store, "x.rank", &rank) && !okra_kernel_low_(kx)
               ? OKRA_OK
               : okra_weights_pass_(*y, x);
}

static okra_status load_training(okra_context *ctx, okra_archive_ *a, const json_t *about,
                                 const okra_method_ *method, okra_store_ *store,
                                 okra_training_ **out)
{
    FREED_BY(okra_data_drop_) okra_data *x = NULL, *y = NULL;
    FREED_BY(okra_kernel_drop_) okra_kernel *kx = NULL, *ky = NULL;
    CHK(okra_objects_load_(a, "x", json_object_get(about, "x"), &x));
    CHK(okra_objects_load_(a, "y", json_object_get(about, "y"), &y));
    CHK(okra_data_rename_(&x, a->path));
    CHK(okra_data_rename_(&y, a->path));
    CHK(load_kernel(a, about, "x", &kx));
    CHK(load_kernel(a, about, "y", &ky));
    if (okra_store_number_(store, "x.waves", 0) != 0) { /* in place of the inputs */
        okra_kernel_drop_(&kx);
        CHK(okra_kernel_parse("linear", &kx));
        okra_kernel_close_(kx);
    }
    okra_status st = okra_model_check_(method, x, y, kx, ky, store);
    st = st == OKRA_OK ? weigh(store, kx, ky, &x, &y) : st;
    st = st == OKRA_OK ? okra_training_create_(ctx, x, y, kx, ky, store, out) : st;
    CHK(fault(st, a->path));
    kx = ky = NULL;
    return OKRA_OK;
}

/* What follows the name of the decoder that the model keeps: a loss, and its kernel. */
static okra_status check_argument(okra_context *ctx, const okra_model *m,
                                  const char *path)
{
    const char *decode = okra_store_get_text_(m->store, "decode");
    const okra_decoder_ *decoder = decode ? okra_decoder_find_(decode) : NULL;
    if (!decoder || !decoder->argument) {
        return OKRA_OK;
    }
    return fault(
        decoder->argument(ctx, &m->training->output, okra_decoder_argument_(decode)),
        path);
}

okra_status okra_model_load(okra_context *context, const char *path, okra_model **out)
{
    NOT_NULL(path, out);
    FREED_BY(okra_json_drop_) json_t *about = NULL;
    FREED_BY(okra_model_drop_) okra_model *m = NULL;
    ZMAKE(m, 1);
    CHK(okra_archive_open_(context, path, &model_file, &m->archive, &about, &m->json));
    m->archive->arrays = json_object_get(about, "arrays");
    const char *method = json_string_value(json_object_get(about, "method"));
    m->method = method ? okra_method_find_(method) : NULL;
    REFUSE_IF(!m->method, OKRA_EFORMAT, "%s: there is no method '%s'", path,
              method ? method : "");
    CHK(check_json(path, about));
    m->about = json_incref(about);
    CHK(fault(okra_model_check_values_(m->method, json_object_get(about, "options")),
              path));
    m->archive->context = context;
    m->dropped = json_number_value(json_object_get(json_object_get(about, "numbers"),
                                                   OKRA_RECOMPUTED_)) == OKRA_DROPPED_;
    CHK(okra_archive_check_count_(m->archive));
    double *promised = NULL;
    okra_status st =
        load_store(context, m->archive, about, m->method, &m->store, &promised);
    if (st != OKRA_OK && strncmp(okra_message(), path, strlen(path)) != 0) {
        okra_message_prefix_("%s", path);
    }
    CHK(st == OKRA_EINTERNAL ? OKRA_EFORMAT : st); /* one name twice: the file's fault */
    CHK(load_training(context, m->archive, about, m->method, m->store, &m->training));
    CHK(check_argument(context, m, path));
    CHK(okra_model_load_calibration_(about, m));
    CHK(promised ? fault(okra_compact_recompute_(context, m, promised), path) : OKRA_OK);
    CHK(okra_archive_check_used_(m->archive));
    m->archive->arrays = NULL;
    m->archive->context = NULL;
    *out = TAKE(m);
    return OKRA_OK;
}
