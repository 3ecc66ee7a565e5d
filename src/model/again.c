/*
 * again.c: the options that a model was fitted with, read from its description, so that
 * it can be fitted again on other pairs.
 */
#include "model/model.h"
#include "model/options.h"

#include <string.h>

bool okra_model_keeps_(const okra_method_ *method, const char *name)
{
    return method->matrix && strcmp(method->matrix, name) == 0;
}

/* A text that may make a fit open a file; spaces may stand around names in it. */
static bool names_file(const okra_method_ *method, const okra_option *row,
                       const char *text)
{
    bool file = row->type == OKRA_OPTION_READ || row->type == OKRA_OPTION_WRITTEN;
    return (file && *text) || strstr(text, "file") ||
           (okra_model_keeps_(method, row->name) && strchr(text, ':'));
}

/* The input kernel of a model: of waves the one that they are for. */
static okra_status set_kernels(const okra_model *model, okra_options *o)
{
    OWNED char *kx = NULL;
    CHK(okra_model_kernel_text_(model, &kx));
    if (model->training->waves) { /* EXPR | rff(...) */
        char *last = NULL;
        for (char *at = kx; (at = strstr(at, " | rff")); at++) {
            last = at;
        }
        if (last) {
            *last = '\0';
        }
    }
    CHK(okra_options_set(o, "kx", kx));
    return okra_options_set(o, "ky", okra_kernel_text(model->training->ky));
}

okra_status okra_model_check_values_(const okra_method_ *method, const json_t *fitted)
{
    const okra_option_table *tables[] = {&okra_fit_table_, &method->options};
    const char *said = json_string_value(json_object_get(fitted, "method"));
    for (int t = 0; t < 2; t++) {
        for (const okra_option *row = tables[t]->rows; row && row->name; row++) {
            const char *had = json_string_value(json_object_get(fitted, row->name));
            union {
                double number;
                okra_int integer;
                const char *text;
            } parsed;
            if (had && !(row->preset && strcmp(row->preset, had) == 0)) {
                CHK(okra_option_parse_(tables[t]->owner, row, had, &parsed));
            }
        }
    }
    REFUSE_IF(said && strcmp(said, method->name) != 0, OKRA_EARG,
              "its options name the method '%s', it is of %s", said, method->name);
    return OKRA_OK;
}

okra_status okra_model_options_(const okra_model *model, okra_options **out,
                                const char **file)
{
    const okra_option_table *tables[] = {&okra_fit_table_, &model->method->options};
    FREED_BY(okra_json_drop_)
    json_t *about = okra_json_parse_(model->json, strlen(model->json), 0, NULL);
    const json_t *fitted = json_object_get(about, "options");
    FREED_BY(okra_options_drop_) okra_options *o = NULL;
    *file = NULL;
    REFUSE_IF(!about, OKRA_EMEM, "there is no memory for the options of the model");
    CHK(okra_fit_options(&o));
    for (int t = 0; t < 2; t++) {
        for (const okra_option *row = tables[t]->rows; row && row->name; row++) {
            const char *had = json_string_value(json_object_get(fitted, row->name));
            bool kernel = strcmp(row->name, "kx") == 0 || strcmp(row->name, "ky") == 0;
            if (kernel || strcmp(row->name, "twin") == 0 || !had ||
                (row->preset && strcmp(row->preset, had) == 0)) {
                continue;
            }
            bool kept = *file && okra_model_keeps_(model->method, row->name);
            if (names_file(model->method, row, had) && !kept) {
                *file = row->name;
            }
            CHK(okra_options_set(o, row->name, had));
        }
    }
    CHK(set_kernels(model, o));
    *out = TAKE(o);
    return OKRA_OK;
}
