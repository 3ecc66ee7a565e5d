/* select.c: selection, Gram matrices, scores. */
#include "bridge.h"

#include <math.h>
#include <string.h>

/* ---- selection ---- */

typedef struct selecting {
    const okra_data *x, *y;
    okra_options *options;
    okra_select_request request;
    okra_selection *out;
} selecting;

static okra_status choose(okra_context *context, void *job)
{
    selecting *j = job;
    return okra_select(context, j->x, j->y, j->options, &j->request, &j->out);
}

/* options: names and values; groups: folds, groups and strata, labels or NULL each. */
SEXP C_select(SEXP context, SEXP x, SEXP y, SEXP options, SEXP candidates, SEXP groups)
{
    selecting j = {.x = handle_get(x, A_DATA),
                   .y = handle_get(y, A_DATA),
                   .request = {OKRA_SIZED(okra_select_request),
                               .candidates = handle_maybe(candidates, A_DATA),
                               .folds = handle_maybe(VECTOR_ELT(groups, 0), A_DATA),
                               .groups = handle_maybe(VECTOR_ELT(groups, 1), A_DATA),
                               .strata = handle_maybe(VECTOR_ELT(groups, 2), A_DATA)}};
    SEXP given = PROTECT(options_handle()), made = PROTECT(selection_handle());
    okra_status st = okra_select_options(&j.options);
    if (st == OKRA_OK) {
        handle_hold(given, j.options);
        st = set_options(j.options, VECTOR_ELT(options, 0), VECTOR_ELT(options, 1));
    }
    st = st ? st : run_job(context, choose, &j);
    handle_hold(made, j.out);
    UNPROTECT(2);
    return st == OKRA_OK ? made : failure(st);
}

/* The values of one option in all cells; NA where a cell does not set it. */
static SEXP values_of(const okra_selection *selection, const char *option)
{
    okra_int n = okra_selection_count(selection);
    SEXP out = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t)n));
    for (okra_int i = 0; i < n; i++) {
        const char *value = okra_selection_value(selection, i, option);
        SET_STRING_ELT(out, (R_xlen_t)i, value ? Rf_mkCharCE(value, CE_UTF8) : NA_STRING);
    }
    UNPROTECT(1);
    return out;
}

/* Every option of selection with its values, once. */
static SEXP all_values(const okra_selection *selection)
{
    size_t tables, most = 0, count = 0;
    const okra_option_table *const *table = okra_option_tables("select", &tables);
    for (size_t t = 0; t < tables; t++) {
        for (const okra_option *row = table[t]->rows; row && row->name; row++) {
            most++;
        }
    }
    const char **name = (const char **)R_alloc(most + 1, sizeof *name);
    for (size_t t = 0; t < tables; t++) {
        for (const okra_option *row = table[t]->rows; row && row->name; row++) {
            bool known = okra_selection_count(selection) == 0 ||
                         !okra_selection_value(selection, 0, row->name);
            for (size_t k = 0; k < count && !known; k++) {
                known = strcmp(name[k], row->name) == 0;
            }
            if (!known) {
                name[count++] = row->name;
            }
        }
    }
    SEXP out = PROTECT(named_list(name, (int)count));
    for (size_t k = 0; k < count; k++) {
        SET_VECTOR_ELT(out, (R_xlen_t)k, values_of(selection, name[k]));
    }
    UNPROTECT(1);
    return out;
}

SEXP C_selection_about(SEXP handle)
{
    static const char *const parts[] = {"mean", "error", "best", "values", "json"};
    const okra_selection *selection = handle_get(handle, A_SELECTION);
    okra_int n = okra_selection_count(selection);
    SEXP out = PROTECT(named_list(parts, 5));
    for (int k = 0; k < 2; k++) {
        SET_VECTOR_ELT(out, k, Rf_allocVector(REALSXP, (R_xlen_t)n));
    }
    okra_status st = OKRA_OK;
    for (okra_int i = 0; i < n && st == OKRA_OK; i++) {
        double mean = NAN, error = NAN;
        st = okra_selection_cell(selection, i, &mean, &error);
        REAL(VECTOR_ELT(out, 0))[i] = mean;
        REAL(VECTOR_ELT(out, 1))[i] = error;
    }
    SET_VECTOR_ELT(out, 2, Rf_ScalarReal((double)okra_selection_best(selection) + 1));
    SET_VECTOR_ELT(out, 3, all_values(selection));
    SET_VECTOR_ELT(out, 4,
                   Rf_ScalarString(Rf_mkCharCE(okra_selection_json(selection), CE_UTF8)));
    UNPROTECT(1);
    return st == OKRA_OK ? out : failure(st);
}

/* Options of fit that are set, as names and values. */
static SEXP set_ones(const okra_options *options, const char *topic)
{
    size_t tables;
    const okra_option_table *const *table = okra_option_tables(topic, &tables);
    SEXP list = PROTECT(Rf_allocVector(VECSXP, 2));
    for (int pass = 0, count = 0; pass < 2; pass++, count = 0) {
        for (size_t t = 0; t < tables; t++) {
            for (const okra_option *row = table[t]->rows; row && row->name; row++) {
                if (!okra_options_is_set(options, row->name)) {
                    continue;
                }
                if (pass == 1) {
                    const char *value = okra_options_get(options, row->name);
                    SET_STRING_ELT(VECTOR_ELT(list, 0), count, Rf_mkChar(row->name));
                    SET_STRING_ELT(VECTOR_ELT(list, 1), count,
                                   Rf_mkCharCE(value ? value : "", CE_UTF8));
                }
                count++;
            }
        }
        if (pass == 0) {
            SET_VECTOR_ELT(list, 0, Rf_allocVector(STRSXP, count));
            SET_VECTOR_ELT(list, 1, Rf_allocVector(STRSXP, count));
        }
    }
    UNPROTECT(1);
    return list;
}

SEXP C_selection_options(SEXP handle, SEXP cell)
{
    const okra_selection *selection = handle_get(handle, A_SELECTION);
    okra_options *fit = NULL, *predict = NULL;
    SEXP out = PROTECT(Rf_allocVector(VECSXP, 2));
    SEXP one = PROTECT(options_handle()), two = PROTECT(options_handle());
    okra_status st =
        okra_selection_options(selection, (okra_int)Rf_asReal(cell) - 1, &fit, &predict);
    if (st == OKRA_OK) {
        handle_hold(one, fit);
        handle_hold(two, predict);
        SET_VECTOR_ELT(out, 0, set_ones(fit, "fit"));
        SET_VECTOR_ELT(out, 1, set_ones(predict, "predict"));
    }
    UNPROTECT(3);
    return st == OKRA_OK ? out : failure(st);
}

/* ---- Gram matrices and scores ---- */

typedef struct gramming {
    const char *text;
    const okra_data *x, *y;
    okra_kernel *kernel;
    double *out;
} gramming;

static okra_status gram(okra_context *context, void *job)
{
    gramming *j = job;
    okra_status st = okra_kernel_choose(context, j->text, j->y ? j->y : j->x, &j->kernel);
    return st ? st
              : okra_gram(context, j->kernel, j->x, j->y, j->out,
                          okra_data_count(j->y ? j->y : j->x));
}

SEXP C_gram(SEXP context, SEXP kernel, SEXP x, SEXP y)
{
    gramming j = {.text = utf8_texts(kernel)[0],
                  .x = handle_get(x, A_DATA),
                  .y = handle_maybe(y, A_DATA)};
    okra_int n = okra_data_count(j.x), m = okra_data_count(j.y ? j.y : j.x);
    SEXP rows = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)(n * m)));
    SEXP held = PROTECT(kernel_handle());
    j.out = REAL(rows);
    okra_status st = run_job(context, gram, &j);
    handle_hold(held, j.kernel);
    SEXP out = PROTECT(st == OKRA_OK ? matrix_of_rows(j.out, n, m, m) : failure(st));
    if (st == OKRA_OK) {
        SEXP text = PROTECT(Rf_mkString(okra_kernel_text(j.kernel)));
        Rf_setAttrib(out, Rf_install("kernel"), text);
        UNPROTECT(1);
    }
    UNPROTECT(3);
    return out;
}

typedef struct scoring {
    const char *spec;
    const okra_data *truth, *predicted;
    double value, *each;
    bool has;
} scoring;

static okra_status score(okra_context *context, void *job)
{
    scoring *j = job;
    return okra_score(context, j->spec, j->truth, j->predicted, &j->value, j->each,
                      &j->has);
}

SEXP C_score(SEXP context, SEXP metric, SEXP truth, SEXP predicted)
{
    static const char *const parts[] = {"value", "each"};
    scoring j = {.spec = utf8_texts(metric)[0],
                 .truth = handle_get(truth, A_DATA),
                 .predicted = handle_get(predicted, A_DATA)};
    SEXP out = PROTECT(named_list(parts, 2));
    SEXP each = PROTECT(Rf_allocVector(REALSXP, (R_xlen_t)okra_data_count(j.truth)));
    j.each = REAL(each);
    okra_status st = run_job(context, score, &j);
    if (st == OKRA_OK) {
        SET_VECTOR_ELT(out, 0, Rf_ScalarReal(j.value));
        SET_VECTOR_ELT(out, 1, j.has ? each : R_NilValue);
    }
    UNPROTECT(2);
    return st == OKRA_OK ? out : failure(st);
}
