/*
 * calibration.c: pairs that a fit has not seen, kept beside a model so that split
 * conformal prediction needs no other file. In a model file they lie in the folders
 * calibration-x and calibration-y, and `calibration` of model.json describes them.
 */
#include "model/model.h"

#include "okra/more/conformal.h"
#include "okra/more/objects.h"

/* Are they what the model takes and predicts? */
static okra_status check(const okra_training_ *t, const okra_data *x, const okra_data *y)
{
    const okra_data *given[] = {x, y}, *trained[] = {t->x, t->y};
    static const char *const names[] = {"inputs", "outputs"};
    REFUSE_IF(x->n != y->n || x->n == 0, OKRA_ESHAPE,
              "calibration: there are %lld inputs and %lld outputs", (long long)x->n,
              (long long)y->n);
    for (int k = 0; k < 2; k++) {
        bool waves = k == 0 && t->waves; /* the model keeps frequencies, not inputs */
        REFUSE_IF(given[k]->kind == OKRA_GRAM, OKRA_EUNSUPPORTED,
                  "calibration: a model keeps no values of a precomputed "
                  "kernel: give them when predicting");
        REFUSE_IF(
            given[k]->kind != trained[k]->kind ||
                (given[k]->kind == OKRA_DENSE && !waves && given[k]->d != trained[k]->d),
            OKRA_ESHAPE,
            "calibration: the %s are %s of width %lld, the model's %s "
            "of width %lld",
            names[k], okra_kind_name(given[k]->kind), (long long)given[k]->d,
            okra_kind_name(trained[k]->kind), (long long)trained[k]->d);
    }
    REFUSE_IF(x->missing || (y->missing && !t->output.features), OKRA_EUNSUPPORTED,
              "calibration: the %s have missing values",
              x->missing ? "inputs" : "outputs");
    return OKRA_OK;
}

okra_status okra_model_set_calibration(okra_model *model, const okra_data *x,
                                       const okra_data *y)
{
    FREED_BY(okra_data_drop_) okra_data *own_x = NULL, *own_y = NULL;
    FREED_BY(okra_data_drop_) okra_data *like_x = NULL, *like_y = NULL;
    FREED_BY(okra_json_drop_) json_t *about = json_deep_copy(model ? model->about : NULL);
    FREED_BY(okra_json_drop_) json_t *part = NULL;
    OWNED char *text = NULL;
    NOT_NULL(model);
    REFUSE_IF(!x != !y, OKRA_EARG, "calibration: inputs and outputs go together");
    if (x) {
        CHK(okra_data_align(NULL, x, model->training->x, &like_x));
        CHK(okra_data_align(NULL, y, model->training->y, &like_y));
        CHK(check(model->training, like_x, like_y));
        CHK(okra_data_copy(like_x, &own_x));
        CHK(okra_data_copy(like_y, &own_y));
    }
    GOT(about);
    (void)json_object_del(about, "calibration");
    if (x) {
        part = json_object();
        CHK(okra_json_set_(part, "x", okra_model_about_data_(own_x)));
        CHK(okra_json_set_(part, "y", okra_model_about_data_(own_y)));
        CHK(okra_json_set_(about, "calibration", json_incref(part)));
    }
    CHK(okra_json_text_(about, &text));
    okra_data_free(model->calibration_x);
    okra_data_free(model->calibration_y);
    okra_free_(model->json);
    json_decref(model->about);
    model->json = TAKE(text);
    model->about = TAKE(about);
    model->calibration_x = TAKE(own_x);
    model->calibration_y = TAKE(own_y);
    return OKRA_OK;
}

okra_status okra_model_meets_calibration_(okra_context *ctx, const okra_model *model,
                                          const okra_data *x, const okra_data *y)
{
    const okra_data *inputs[] = {model->calibration_x, x};
    const okra_data *outputs[] = {model->calibration_y, y};
    OWNED okra_int *fx = NULL, *fy = NULL;
    okra_int held = okra_model_calibration(model, NULL, NULL);
    okra_int met = 0;
    if (held == 0) {
        return OKRA_OK;
    }
    MAKE(fx, held + x->n);
    MAKE(fy, held + x->n);
    CHK(okra_data_same_(inputs, 2, fx));
    CHK(okra_data_same_(outputs, 2, fy));
    for (okra_int j = held; j < held + x->n; j++) {
        okra_int i = fx[j] < held && fy[j] < held ? 0 : held;
        while (i < held && (fx[i] != fx[j] || fy[i] != fy[j])) {
            i++;
        }
        met += i < held;
    }
    if (met > 0) {
        okra_warn_(ctx,
                   "%lld of the %lld new pairs equal pairs that were held back to "
                   "calibrate with: where they are the same observations, prediction "
                   "sets and intervals (split) lose their guarantee",
                   (long long)met, (long long)x->n);
    }
    return OKRA_OK;
}

okra_int okra_model_calibration(const okra_model *model, const okra_data **x,
                                const okra_data **y)
{
    if (x) {
        *x = model ? model->calibration_x : NULL;
    }
    if (y) {
        *y = model ? model->calibration_y : NULL;
    }
    return model && model->calibration_y ? model->calibration_y->n : 0;
}

okra_status okra_model_load_calibration_(const json_t *about, okra_model *model)
{
    okra_archive_ *a = model->archive;
    const json_t *part = json_object_get(about, "calibration");
    FREED_BY(okra_data_drop_) okra_data *x = NULL, *y = NULL;
    if (!part) {
        return OKRA_OK;
    }
    CHK(okra_objects_load_(a, "calibration-x", json_object_get(part, "x"), &x));
    CHK(okra_objects_load_(a, "calibration-y", json_object_get(part, "y"), &y));
    CHK(okra_data_rename_(&x, a->path));
    CHK(okra_data_rename_(&y, a->path));
    if (check(model->training, x, y) != OKRA_OK) {
        okra_message_prefix_("%s", a->path);
        return OKRA_EFORMAT;
    }
    model->calibration_x = TAKE(x);
    model->calibration_y = TAKE(y);
    return OKRA_OK;
}
