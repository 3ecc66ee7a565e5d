/*
 * json.c: model.json, what a model is in words and numbers.
 */
#include "model/model.h"
#include "okra/version.h"

/* A text of the user's that must be valid UTF-8 to stand in JSON. */
static okra_status set_text(json_t *object, const char *key, const char *text)
{
    json_t *value = json_string(text);
    REFUSE_IF(!value, OKRA_EARG, "the text of '%s' is not UTF-8: %s", key, text);
    return okra_json_set_(object, key, value);
}

/* Every option of fit and of the method: what was set, else the default. A file that a
 * fit keeps itself in is not a part of the model. */
static okra_status set_options(json_t *object, const okra_option_table *table,
                               const okra_options *options, const double *lambda)
{
    for (const okra_option *row = table->rows; row && row->name; row++) {
        const char *text = options && row->type != OKRA_OPTION_WRITTEN
                               ? okra_options_get(options, row->name)
                               : row->preset;
        char number[40];
        if (lambda && okra_option_find_(table, "lambda", 6) == row) {
            okra_number_format_(number, sizeof number, 17, *lambda);
            text = number;
        }
        CHK(text ? set_text(object, row->name, text) : OKRA_OK);
    }
    return OKRA_OK;
}

static okra_status set_kept(json_t *object, const okra_store_ *store)
{
    FREED_BY(okra_json_drop_) json_t *numbers = json_object(), *texts = json_object();
    for (okra_int i = 0; i < store->count; i++) {
        const okra_store_item_ *item = &store->items[i];
        if (item->sort == OKRA_KEPT_NUMBER_) {
            CHK(okra_json_set_(numbers, item->name, json_real(item->number)));
        } else if (item->sort == OKRA_KEPT_TEXT_) {
            CHK(set_text(texts, item->name, item->text));
        }
    }
    CHK(okra_json_set_(object, "numbers", json_incref(numbers)));
    return okra_json_set_(object, "texts", json_incref(texts));
}

static json_t *column_names(const okra_data *data)
{
    json_t *names = json_array();
    for (okra_int j = 0; names && j < data->d; j++) {
        if (json_array_append_new(names, json_string(okra_data_column(data, j))) != 0) {
            json_decref(names);
            return NULL;
        }
    }
    return names;
}

json_t *okra_model_about_data_(const okra_data *data)
{
    json_t *about = json_pack("{s:s, s:I, s:I}", "kind", okra_kind_name(data->kind),
                              "count", (json_int_t)data->n, "width", (json_int_t)data->d);
    if (about &&
        ((data->missing && json_object_set_new(about, "missing", json_true()) != 0) ||
         (okra_data_column(data, 0) &&
          json_object_set_new(about, "columns", column_names(data)) != 0))) {
        json_decref(about);
        return NULL;
    }
    for (int k = 0; about && k < data->component_count; k++) {
        json_t *parts = k == 0 ? json_array() : json_object_get(about, "parts");
        if ((k == 0 && json_object_set_new(about, "parts", parts) != 0) ||
            json_array_append_new(parts, okra_model_about_data_(data->components[k])) !=
                0) {
            json_decref(about);
            return NULL;
        }
    }
    return about;
}

/* The same text, or the same number. Files may have moved since the fit: of one that the
 * model keeps, "matrix:FILE,...", what stands before and after the name counts. */
static bool same_value(bool kept, const char *a, const char *b)
{
    const char *kind = kept ? strchr(a, ':') : NULL;
    if (kind) {
        const char *rest_a = strrchr(a, ','), *rest_b = strrchr(b, ',');
        return strncmp(a, b, (size_t)(kind + 1 - a)) == 0 &&
               strcmp(rest_a ? rest_a : "", rest_b ? rest_b : "") == 0;
    }
    char *end_a, *end_b;
    double x = strtod(a, &end_a), y = strtod(b, &end_b);
    bool numbers = end_a != a && !*end_a && end_b != b && !*end_b;
    return strcmp(a, b) == 0 || (numbers && x == y);
}

okra_status okra_model_check_options_(const okra_model *model,
                                      const okra_options *options)
{
    const okra_option_table *tables[] = {&okra_fit_table_, &model->method->options};
    const json_t *fitted = json_object_get(model->about, "options");
    for (int t = 0; t < 2; t++) {
        for (const okra_option *row = tables[t]->rows; row && row->name; row++) {
            const char *had = json_string_value(json_object_get(fitted, row->name));
            const char *has =
                options ? okra_options_get(options, row->name) : row->preset;
            bool free = row->type == OKRA_OPTION_WRITTEN ||
                        (strcmp(row->name, "lambda") == 0 && /* a path has its own */
                         !(options && okra_options_is_set(options, "lambda")));
            bool kept = okra_model_keeps_(model->method, row->name);
            REFUSE_IF(had && has && !free && !same_value(kept, had, has), OKRA_EARG,
                      "%s is '%s', expected the options of the fit, which had '%s'",
                      row->name, has, had);
        }
    }
    return OKRA_OK;
}

okra_status okra_model_about_(const okra_training_ *training, const okra_method_ *method,
                              const okra_options *options, const double *lambda,
                              const okra_store_ *store, json_t **out)
{
    FREED_BY(okra_json_drop_)
    json_t *about = NULL, *set = json_object(), *kernels = json_object();
    CHK(set_options(set, &okra_fit_table_, options, NULL));
    CHK(set_options(set, &method->options, options, lambda));
    const char *kx = training->waves_text;
    CHK(set_text(kernels, "x", kx ? kx : okra_kernel_text(training->kx)));
    CHK(set_text(kernels, "y", okra_kernel_text(training->ky)));
    GOT(about = json_pack("{s:s, s:i, s:s, s:s, s:O, s:O, s:o, s:o}", "format",
                          OKRA_MODEL_FORMAT_, "version", OKRA_MODEL_VERSION_, "okra",
                          OKRA_VERSION, "method", method->name, "options", set, "kernels",
                          kernels, "x", okra_model_about_data_(training->x), "y",
                          okra_model_about_data_(training->y)));
    CHK(set_kept(about, store));
    *out = TAKE(about);
    return OKRA_OK;
}

/* ---- a whole model against what its method, kernels and maps declare, once, before
 * anything of a file is used. Nothing after this trusts the file again.
 */

/* What any model may keep beside what its method declares. */
static const okra_schema_ common[] = {
    OKRA_KEEPS_NUMBER_("x.rank", OKRA_KEPT_OPTIONAL_ | OKRA_KEPT_WHOLE_, "1", "1e15"),
    OKRA_KEEPS_TOLD_("y.rank"),
    OKRA_KEEPS_TOLD_("x.trace-error"),
    OKRA_KEEPS_TOLD_("y.trace-error"),
    OKRA_KEEPS_NUMBER_("x.waves", OKRA_KEPT_OPTIONAL_ | OKRA_KEPT_WHOLE_, "0", "1"),
    OKRA_KEEPS_TOLD_("twin.hsic-before"),
    OKRA_KEEPS_TOLD_("twin.hsic-after"),
    OKRA_KEEPS_TEXT_("decode", OKRA_KEPT_OPTIONAL_),
    OKRA_KEEPS_TEXT_("align.kernels", OKRA_KEPT_OPTIONAL_),
    OKRA_KEEPS_TEXT_("align.weights", OKRA_KEPT_OPTIONAL_),
    OKRA_KEEPS_TOLD_("align.value"),
    OKRA_KEEPS_NUMBER_("weights.seen", OKRA_KEPT_OPTIONAL_ | OKRA_KEPT_WHOLE_, "1", "1"),
    OKRA_KEPT_END_};
static const okra_schema_ weights[] = {
    OKRA_KEEPS_VALUES_("sample-weight", OKRA_KEPT_OPTIONAL_ | OKRA_KEPT_POSITIVE_, "1",
                       "n", "0", "1e300"),
    OKRA_KEPT_END_};

/* Inputs and outputs go together: pairs, pairs and inputs without outputs, or a basis in
 * place of the inputs. */
static okra_status check_pairs(const okra_method_ *method, const okra_facts_ *f,
                               const okra_store_ *store, bool waves)
{
    double rank = 0;
    okra_int n = f->y->n, N = f->x->n;
    bool low = okra_store_get_number_(store, "x.rank", &rank) && !okra_kernel_low_(f->kx);
    REFUSE_IF(n == 0 || (low && N == 0) || (!low && N < n) ||
                  (!low && N > n && !okra_method_takes_(method, OKRA_TAKES_UNLABELLED_)),
              OKRA_EFORMAT, "there are %lld training inputs and %lld outputs",
              (long long)N, (long long)n);
    REFUSE_IF((low || waves) && !method->low_rank, OKRA_EFORMAT,
              "the model keeps a basis of low rank, which method %s does not use",
              method->name);
    REFUSE_IF(waves && (!low || f->x->kind != OKRA_DENSE), OKRA_EFORMAT,
              "the model says that it keeps waves, which it does not");
    REFUSE_IF(f->x->missing ||
                  (f->y->missing && !okra_method_takes_(method, OKRA_TAKES_MISSING_)),
              OKRA_EFORMAT, "%s has missing values, which method %s does not use",
              f->x->missing ? "x" : "y", method->name);
    return OKRA_OK;
}

/* What both kernels keep; *d: the width of explicit features of the outputs, or -1. */
static okra_status check_kernels(const okra_facts_ *f, okra_store_ *store, okra_int *d)
{
    double scale;
    *d = f->y->kind == OKRA_DENSE && okra_kernel_is_linear_(f->ky, &scale) ? f->y->d : -1;
    CHK(okra_trained_kernel_check_kept_(f->kx, f->x, f->x->n, "kx", store));
    CHK(okra_map_saved_(store, "y")
            ? okra_map_check_kept_(f->ky, f->y, f->y->n, store, "y", d)
            : okra_trained_kernel_check_kept_(f->ky, f->y, f->y->n, "ky", store));
    return OKRA_OK;
}

okra_status okra_model_check_(const okra_method_ *method, const okra_data *x,
                              const okra_data *y, const okra_kernel *kx,
                              const okra_kernel *ky, okra_store_ *store)
{
    okra_sizes_ sizes = {0};
    okra_facts_ facts = {x, y, kx, ky, &sizes};
    double waves = 0;
    okra_int d = -1;
    REFUSE_IF(!method->kept, OKRA_EINTERNAL, "method %s does not declare what it keeps",
              method->name);
    CHK(okra_schema_check_(common, NULL, store, &sizes));
    okra_store_get_number_(store, "x.waves", &waves);
    const char *decode = okra_store_get_text_(store, "decode");
    REFUSE_IF(decode && !okra_decoder_find_(decode), OKRA_EFORMAT,
              "there is no decoder '%s'", decode);
    CHK(check_pairs(method, &facts, store, waves != 0));
    CHK(check_kernels(&facts, store, &d));
    okra_sizes_set_(&sizes, "n", y->n);
    okra_sizes_set_(&sizes, "N", x->n);
    okra_sizes_set_(&sizes, "c", waves != 0 ? 2 * x->n : x->n);
    okra_sizes_set_(&sizes, "x", x->d);
    okra_sizes_set_(&sizes, "y", y->d);
    okra_sizes_set_(&sizes, "d", d);
    CHK(okra_schema_check_(weights, NULL, store, &sizes));
    CHK(okra_schema_check_forms_(method->kept, NULL, store, &sizes));
    CHK(okra_schema_check_all_(store));
    REFUSE_IF(okra_map_saved_(store, "y") &&
                  okra_method_form_(method, store) != OKRA_FORM_EMBEDDING,
              OKRA_EFORMAT,
              "the model has outputs of low rank and weights over all of them, expected "
              "coefficients");
    return method->check ? method->check(store, &facts) : OKRA_OK;
}
