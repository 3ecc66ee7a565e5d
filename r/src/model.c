/* model.c: fit, predict, left-out predictions, files of models. */
#include "bridge.h"

#include <string.h>

/* ---- fit ---- */

typedef struct fitting {
    const okra_data *x, *y;
    okra_options *given; /* of selection where something is open, else of fit */
    bool open;
    okra_options *chosen;
    okra_selection *selection;
    okra_model *model;
} fitting;

static okra_status fit(okra_context *context, void *job)
{
    fitting *j = job;
    okra_status st = OKRA_OK;
    if (j->open) {
        st = okra_choose(context, j->x, j->y, j->given, &j->chosen, &j->selection);
    }
    return st ? st
              : okra_fit(context, j->x, j->y, j->open ? j->chosen : j->given, &j->model);
}

/* open: some of kx, ky and lambda are to be chosen. */
SEXP C_fit(SEXP context, SEXP x, SEXP y, SEXP names, SEXP values, SEXP open)
{
    static const char *const parts[] = {"model", "selection"};
    fitting j = {.x = handle_get(x, A_DATA),
                 .y = handle_get(y, A_DATA),
                 .open = Rf_asLogical(open) == TRUE};
    SEXP out = PROTECT(named_list(parts, 2));
    SEXP given = PROTECT(options_handle()), chosen = PROTECT(options_handle());
    SEXP model = PROTECT(model_handle()), selection = PROTECT(selection_handle());
    okra_status st = j.open ? okra_select_options(&j.given) : okra_fit_options(&j.given);
    if (st == OKRA_OK) {
        handle_hold(given, j.given);
        st = set_options(j.given, names, values);
    }
    if (st == OKRA_OK) {
        st = run_job(context, fit, &j);
        handle_hold(chosen, j.chosen);
        handle_hold(selection, j.selection);
        handle_hold(model, j.model);
    }
    if (st == OKRA_OK) {
        SET_VECTOR_ELT(out, 0, model);
        SET_VECTOR_ELT(out, 1, j.selection ? selection : R_NilValue);
    }
    UNPROTECT(5);
    return st == OKRA_OK ? out : failure(st);
}

/* ---- predict ---- */

typedef struct predicting {
    const okra_model *model;
    const okra_data *x;
    okra_options *options;
    okra_predict_request request;
    okra_prediction *out;
} predicting;

static okra_status predict(okra_context *context, void *job)
{
    predicting *j = job;
    return okra_predict(context, j->model, j->x, j->options, &j->request, &j->out);
}

static SEXP maybe_rows(const double *rows, okra_int n, okra_int d)
{
    return rows ? matrix_of_rows(rows, n, d, d) : R_NilValue;
}

/* Numbers of candidates from 1, NA where there are fewer. */
static SEXP index_of(const okra_prediction *p)
{
    okra_int top = 0, n = okra_prediction_count(p);
    const okra_int *index = okra_prediction_index(p, &top);
    if (!index) {
        return R_NilValue;
    }
    SEXP out = PROTECT(Rf_allocMatrix(INTSXP, (int)n, (int)top));
    for (okra_int i = 0; i < n; i++) {
        for (okra_int k = 0; k < top; k++) {
            okra_int one = index[i * top + k];
            INTEGER(out)[k * n + i] = one < 0 ? NA_INTEGER : (int)one + 1;
        }
    }
    UNPROTECT(1);
    return out;
}

/* The decoded objects as data of R's own. */
static SEXP retained(const okra_data *data)
{
    if (!data) {
        return R_NilValue;
    }
    SEXP handle = PROTECT(data_handle(R_NilValue));
    handle_hold(handle, okra_data_retain(data));
    UNPROTECT(1);
    return handle;
}

static SEXP prediction_parts(const okra_prediction *p)
{
    static const char *const parts[] = {"objects",    "weights", "embedding",
                                        "confidence", "index",   "distance"};
    okra_int rows = 0, cols = 0, top = 0;
    SEXP out = PROTECT(named_list(parts, 6));
    SET_VECTOR_ELT(out, 0, retained(okra_prediction_objects(p)));
    const double *values = okra_prediction_weights(p, &rows, &cols);
    SET_VECTOR_ELT(out, 1, maybe_rows(values, rows, cols));
    values = okra_prediction_embedding(p, &rows, &cols);
    SET_VECTOR_ELT(out, 2, maybe_rows(values, rows, cols));
    values = okra_prediction_confidence(p, &rows);
    SET_VECTOR_ELT(out, 3, maybe_rows(values, rows, OKRA_CONFIDENCE_COLUMNS));
    SET_VECTOR_ELT(out, 4, index_of(p));
    values = okra_prediction_distance(p, &top);
    SET_VECTOR_ELT(out, 5, maybe_rows(values, okra_prediction_count(p), top));
    UNPROTECT(1);
    return out;
}

/* options: names and values; wanted: weights, embedding, confidence. */
SEXP C_predict(SEXP context, SEXP model, SEXP x, SEXP options, SEXP candidates,
               SEXP wanted)
{
    const int *want = LOGICAL(wanted);
    predicting j = {.model = handle_get(model, A_MODEL),
                    .x = handle_get(x, A_DATA),
                    .request = {OKRA_SIZED(okra_predict_request),
                                .candidates = handle_maybe(candidates, A_DATA),
                                .weights = want[0] == TRUE, .embedding = want[1] == TRUE,
                                .confidence = want[2] == TRUE}};
    SEXP given = PROTECT(options_handle()), made = PROTECT(prediction_handle());
    okra_status st = okra_predict_options(&j.options);
    if (st == OKRA_OK) {
        handle_hold(given, j.options);
        st = set_options(j.options, VECTOR_ELT(options, 0), VECTOR_ELT(options, 1));
    }
    st = st ? st : run_job(context, predict, &j);
    handle_hold(made, j.out);
    SEXP out = st == OKRA_OK ? prediction_parts(j.out) : failure(st);
    UNPROTECT(2);
    return out;
}

typedef struct classing {
    const okra_model *model;
    const okra_data *x;
    double *scores, *probabilities;
} classing;

static okra_status predict_classes(okra_context *context, void *job)
{
    const classing *j = job;
    return okra_predict_classes(context, j->model, j->x, j->scores, j->probabilities);
}

SEXP C_classes(SEXP context, SEXP model, SEXP x, SEXP probabilities)
{
    classing j = {.model = handle_get(model, A_MODEL), .x = handle_get(x, A_DATA)};
    okra_int m = okra_data_count(j.x), d = okra_data_width(okra_model_outputs(j.model));
    double *values = (double *)R_alloc((size_t)(m * d) + 1, sizeof *values);
    *(Rf_asLogical(probabilities) ? &j.probabilities : &j.scores) = values;
    okra_status st = run_job(context, predict_classes, &j);
    return st == OKRA_OK ? matrix_of_rows(values, m, d, d) : failure(st);
}

/* ---- left-out predictions ---- */

typedef struct leaving {
    const okra_model *model;
    double *losses;
    okra_prediction *out;
} leaving;

static okra_status leave(okra_context *context, void *job)
{
    leaving *j = job;
    return okra_model_leave(context, j->model, NULL, j->losses, &j->out);
}

SEXP C_leave(SEXP context, SEXP model)
{
    static const char *const parts[] = {"prediction", "losses"};
    leaving j = {.model = handle_get(model, A_MODEL)};
    SEXP out = PROTECT(named_list(parts, 2)), made = PROTECT(prediction_handle());
    SEXP losses = Rf_allocVector(REALSXP, (R_xlen_t)okra_model_count(j.model));
    SET_VECTOR_ELT(out, 1, losses);
    j.losses = REAL(losses);
    okra_status st = run_job(context, leave, &j);
    handle_hold(made, j.out);
    if (st == OKRA_OK) {
        SET_VECTOR_ELT(out, 0, prediction_parts(j.out));
    }
    UNPROTECT(2);
    return st == OKRA_OK ? out : failure(st);
}

/* ---- files ---- */

typedef struct filing {
    const okra_model *model;
    const char *path;
    okra_save_request request;
    okra_model *out;
} filing;

static okra_status save(okra_context *context, void *job)
{
    const filing *j = job;
    return okra_model_save(context, j->model, &j->request, j->path);
}

static okra_status load(okra_context *context, void *job)
{
    filing *j = job;
    return okra_model_load(context, j->path, &j->out);
}

SEXP C_save(SEXP context, SEXP model, SEXP path, SEXP compact, SEXP note)
{
    filing j = {.model = handle_get(model, A_MODEL),
                .path = utf8_texts(path)[0],
                .request = {OKRA_SIZED(okra_save_request),
                            .compact = (okra_compact)Rf_asInteger(compact),
                            .note = note == R_NilValue ? NULL : utf8_texts(note)[0]}};
    okra_status st = run_job(context, save, &j);
    return st == OKRA_OK ? R_NilValue : failure(st);
}

SEXP C_load(SEXP context, SEXP path)
{
    filing j = {.path = utf8_texts(path)[0]};
    SEXP model = PROTECT(model_handle());
    okra_status st = run_job(context, load, &j);
    handle_hold(model, j.out);
    UNPROTECT(1);
    return st == OKRA_OK ? model : failure(st);
}

/* ---- what a model is ---- */

SEXP C_model_data(SEXP model, SEXP outputs)
{
    const okra_model *m = handle_get(model, A_MODEL);
    return retained(Rf_asLogical(outputs) ? okra_model_outputs(m) : okra_model_inputs(m));
}

/* Options that the model has, by name, its count, and all of it as JSON. */
SEXP C_model_about(SEXP handle)
{
    static const char *const parts[] = {"count", "options", "json"};
    const okra_model *model = handle_get(handle, A_MODEL);
    size_t tables;
    const okra_option_table *const *table = okra_option_tables("fit", &tables);
    size_t most = 0, count = 0;
    for (size_t t = 0; t < tables; t++) {
        for (const okra_option *row = table[t]->rows; row && row->name; row++) {
            most++;
        }
    }
    const char **pair = (const char **)R_alloc(2 * most + 1, sizeof *pair);
    for (size_t t = 0; t < tables; t++) {
        for (const okra_option *row = table[t]->rows; row && row->name; row++) {
            const char *value = okra_model_option(model, row->name);
            bool known = !value;
            for (size_t k = 0; k < count && !known; k++) {
                known = strcmp(pair[2 * k], row->name) == 0;
            }
            if (!known) {
                pair[2 * count] = row->name;
                pair[2 * count++ + 1] = value;
            }
        }
    }
    SEXP out = PROTECT(named_list(parts, 3));
    SET_VECTOR_ELT(out, 0, Rf_ScalarReal((double)okra_model_count(model)));
    SEXP options = Rf_allocVector(STRSXP, (R_xlen_t)count);
    SET_VECTOR_ELT(out, 1, options);
    SEXP names = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)count));
    for (size_t k = 0; k < count; k++) {
        SET_STRING_ELT(names, (R_xlen_t)k, Rf_mkChar(pair[2 * k]));
        SET_STRING_ELT(options, (R_xlen_t)k, Rf_mkCharCE(pair[2 * k + 1], CE_UTF8));
    }
    Rf_setAttrib(options, R_NamesSymbol, names);
    SET_VECTOR_ELT(out, 2, Rf_ScalarString(Rf_mkCharCE(okra_model_json(model), CE_UTF8)));
    UNPROTECT(2);
    return out;
}
