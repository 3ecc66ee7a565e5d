/*
 * choose.c: a fit that needs no options. What they leave open is set by the rules of
 * rules.c, and searched for by leave-one-out in closed form, on at most SEARCH pairs,
 * evenly spaced in the training set; of operators and kernels without a closed form by
 * five folds, on at most REFITTED. Methods that have no such form at all (margin, twin
 * Gaussian processes, ...) take the likeliest kernel of the kind; their lambda, or the
 * parameter that stands for it (k, cost), is compared by five folds of at most REFITTED
 * pairs and a loss of what is predicted. Learned kernels (twin) keep the default.
 *
 *     kx, ky, lambda, decode   not set, or `auto`
 *     center-output            of ridge with the operator identity, where kx is open
 *     low-rank-x               of more than DENSE pairs, where the method has such a form
 *
 * Cost: about 15 decompositions of SEARCH x SEARCH matrices, whatever the training set.
 */
#include "model/align.h"
#include "select/select.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    SEARCH = 1000,
    REFITTED = 300,
    ENOUGH = 50,
    DENSE = 20000,
    RANK = 2000,
    REFINE = 15
};

/* ---- what is set before the search ---- */

static bool is_open(const okra_options *o, const char *name)
{
    return !okra_options_is_set(o, name) ||
           strcmp(okra_options_get(o, name), "auto") == 0;
}

/* Are left-out predictions known in closed form? */
static bool closed(const okra_method_ *method, const okra_options *o, const okra_data *y)
{
    const char *op = okra_options_get(o, "operator");
    bool shared = okra_options_is_set(o, "operator") &&
                  (strcmp(op, "cov") == 0 || strcmp(op, "ccov") == 0);
    return method->leave && !shared && !y->missing &&
           !okra_align_asked_(okra_options_get(o, "kx")) &&
           !strstr(okra_options_get(o, "kx"), "center") &&
           !strstr(okra_options_get(o, "ky"), "center") &&
           !okra_options_is_set(o, "twin") && !okra_options_is_set(o, "low-rank") &&
           !okra_options_is_set(o, "low-rank-x") && !okra_options_is_set(o, "low-rank-y");
}

/* Can settings be compared by feature-loss, without a fit for each of many folds? */
static bool searched(const okra_method_ *method, const okra_options *o)
{
    return method->leave && !okra_options_is_set(o, "twin");
}

/* lambda of a method that is fitted anew for every fold: six values, 1e-4 to 10 times
 * the mean of k(x,x). */
static okra_status set_lambdas(okra_context *ctx, const okra_data *x, okra_options *o)
{
    okra_status st = OKRA_OK;
    char list[160];
    double scale = 1;
    size_t used = 0;
    TRY(okra_rule_scale_(ctx, okra_options_get(o, "kx"), x, &scale));
    for (int k = -4; k <= 1; k++) {
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.3g",
                                 k > -4 ? "," : "", scale * pow(10, k));
    }
    TRY(okra_options_set(o, "lambda", list));
done:
    return st;
}

/* The parameter that stands for lambda: the values that a fold of n pairs has room for,
 * where it counts pairs. */
static okra_status set_tries(const okra_method_ *method, okra_int n, okra_options *o)
{
    char name[32], list[160] = "";
    const char *at = strchr(method->tries, '=') + 1;
    size_t length = (size_t)(at - method->tries - 1), used = 0;
    snprintf(name, sizeof name, "%.*s", (int)length, method->tries);
    const okra_option *row = okra_option_find_(&method->options, name, length);
    bool counts = row && row->type == OKRA_OPTION_INT;
    for (; *at; at += strcspn(at, ","), at += *at == ',') {
        if (used == 0 || !counts || okra_strtod_(at, NULL) <= 0.8 * (double)n - 1) {
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%.*s",
                                     used ? "," : "", (int)strcspn(at, ","), at);
        }
    }
    return is_open(o, name) ? okra_options_set(o, name, list) : OKRA_OK;
}

/* Options that the method has and the user left open. */
static okra_status set_open(okra_context *ctx, const okra_method_ *method,
                            const okra_data *x, const okra_data *y, okra_options *o,
                            okra_options **out)
{
    okra_status st = OKRA_OK;
    okra_options *filled = NULL;
    char *middle = NULL;
    bool search = searched(method, o), open_kx = is_open(o, "kx");
    if (open_kx && !search) {
        TRY(okra_rule_middle_(ctx, x, &middle));
    }
    if (open_kx) {
        TRY(okra_options_set(o, "kx", middle ? middle : "auto"));
    }
    if (is_open(o, "ky")) {
        TRY(okra_options_set(o, "ky", "auto"));
    }
    bool refits = !search && !method->linker && !okra_options_is_set(o, "twin");
    const okra_option *row = okra_option_find_(&method->options, "lambda", 6);
    if ((row || method->path) && is_open(o, "lambda")) {
        TRY(refits && row
                ? set_lambdas(ctx, x, o)
                : okra_options_set(o, "lambda", search || !row ? "auto" : row->preset));
    }
    if (refits && method->tries) {
        TRY(set_tries(method, y->n, o));
    }
    const char *op = okra_options_get(o, "operator");
    bool plain = !okra_options_is_set(o, "operator") || strcmp(op, "identity") == 0 ||
                 strcmp(op, "tensor") == 0;
    if (strcmp(method->name, "ridge") == 0 && plain && open_kx &&
        !okra_options_is_set(o, "center-output")) {
        TRY(okra_options_set(o, "center-output", "yes"));
    }
    TRY(okra_rules_fill_(ctx, x, y, o, &filled));
    const char *decoder = okra_rule_decoder_(x, y, okra_options_get(filled, "ky"));
    if (is_open(o, "decode") && decoder && !method->decoder && !method->criterion) {
        TRY(okra_options_set(filled, "decode", decoder));
    }
    *out = filled;
    filled = NULL;
done:
    okra_free_(middle);
    okra_options_free(filled);
    return st;
}

/* ---- fewer pairs ---- */

/* m evenly spaced pairs, and as large a share of the inputs without outputs. */
static okra_status thin(const okra_data *x, const okra_data *y, okra_int m,
                        okra_data **some_x, okra_data **some_y)
{
    okra_status st = OKRA_OK;
    okra_int n = y->n;
    okra_int more = (x->n - n) * m / n, *index = NULL;
    ALLOC(index, m + more);
    for (okra_int i = 0; i < m; i++) {
        index[i] = i * n / m;
    }
    for (okra_int i = 0; i < more; i++) {
        index[m + i] = n + i * (x->n - n) / more;
    }
    TRY(okra_data_take(x, index, m + more, some_x));
    TRY(okra_data_take(y, index, m, some_y));
done:
    okra_free_(index);
    return st;
}

/* Outputs with missing values, which are not compared: the pairs whose outputs are all
 * known where there are ENOUGH of them, else all pairs, means of the columns in place of
 * what is missing. */
static okra_status complete(const okra_data *x, const okra_data *y, okra_data **some_x,
                            okra_data **some_y)
{
    okra_status st = OKRA_OK;
    okra_int n = y->n, d = y->d, whole = 0, *index = NULL, area = 0;
    double *values = NULL;
    ALLOC(index, n);
    TRY(okra_area_(n, d, sizeof *values, &area));
    ALLOC(values, area);
    for (okra_int i = 0; i < n; i++) {
        bool known = true;
        for (okra_int j = 0; j < d; j++) {
            known = known && !isnan(y->values[i * y->ld + j]);
        }
        index[whole] = i;
        whole += known;
    }
    bool enough = whole >= ENOUGH;
    okra_int rows = enough ? whole : n;
    for (okra_int j = 0; j < d; j++) {
        double sum = 0, count = 0;
        for (okra_int i = 0; i < n; i++) {
            double v = y->values[i * y->ld + j];
            sum += isnan(v) ? 0 : v;
            count += !isnan(v);
        }
        for (okra_int i = 0; i < rows; i++) {
            double v = y->values[(enough ? index[i] : i) * y->ld + j];
            values[i * d + j] = !isnan(v) ? v : count > 0 ? sum / count : 0;
        }
    }
    TRY(okra_data_adopt_dense_(values, rows, d, y->source, some_y));
    values = NULL;
    if (enough) {
        TRY(okra_data_take(x, index, rows, some_x));
    } else {
        *some_x = okra_data_retain(x);
    }
done:
    okra_free_(index);
    okra_free_(values);
    return st;
}

/* ---- the search ---- */

/* The first cell of every grid: where nothing can be left out, or nothing varies. */
static okra_status first_cell(const okra_options *o, okra_options **fit)
{
    okra_status st = OKRA_OK;
    okra_space_ *space = NULL;
    okra_setting_ setting = {NULL, 0};
    TRY(okra_space_create_(o, &space));
    /* of 17 lambdas from 1e-6 to 100 times the mean of k(x,x): it; of six from 1e-4 to 10
     * times: a tenth of it */
    okra_int middle = space->lambdas > 6 ? space->lambdas * 3 / 4 : space->lambdas / 2;
    TRY(okra_space_setting_(space, space->path ? middle : 0, &setting));
    TRY(okra_space_options_(space, &setting, fit, NULL));
done:
    okra_setting_free_(&setting);
    okra_space_free_(space);
    return st;
}

static okra_status search(okra_context *ctx, const okra_method_ *method,
                          const okra_data *x, const okra_data *y, okra_int lambdas,
                          okra_options *o, okra_options **fit, okra_selection **out)
{
    okra_status st = OKRA_OK;
    okra_data *some_x = NULL, *some_y = NULL, *all_x = NULL, *all_y = NULL;
    okra_selection *s = NULL;
    char folds[32];
    if (y->missing) {
        TRY(complete(x, y, &all_x, &all_y));
        x = all_x;
        y = all_y;
    }
    bool grams = x->kind == OKRA_GRAM || y->kind == OKRA_GRAM;
    okra_int most = closed(method, o, y) ? SEARCH : REFITTED;
    if (y->n > most && !grams) {
        TRY(thin(x, y, most, &some_x, &some_y));
    }
    okra_int n = some_y ? some_y->n : y->n;
    if (!okra_options_is_set(o, "cv")) {
        snprintf(folds, sizeof folds, "kfold:%lld", (long long)OKRA_MIN_(n, 5));
        TRY(okra_options_set(o, "cv", closed(method, o, y) ? "loo" : folds));
    }
    const char *metric = method->leave ? NULL : okra_rule_metric_(y);
    if (metric && !okra_options_is_set(o, "metric")) {
        TRY(okra_options_set(o, "metric", metric));
    }
    if (!okra_options_is_set(o, "refine") && lambdas > 1 && method->leave) {
        snprintf(folds, sizeof folds, "%d", REFINE);
        TRY(okra_options_set(o, "refine", folds));
    }
    TRY(okra_select_pairs_(ctx, some_x ? some_x : x, some_y ? some_y : y, o, NULL, false,
                           &s));
    TRY(okra_selection_options(s, okra_selection_best(s), fit, NULL));
    *out = s;
    s = NULL;
done:
    okra_data_free(some_x);
    okra_data_free(some_y);
    okra_data_free(all_x);
    okra_data_free(all_y);
    okra_selection_free(s);
    return st;
}

/* ---- the whole ---- */

/* Beyond DENSE pairs an n x n matrix is no longer a matter of course. */
static okra_status lower(const okra_method_ *method, const okra_data *x,
                         const okra_data *y, okra_options *fit)
{
    okra_status st = OKRA_OK;
    char text[40];
    bool open = !okra_options_is_set(fit, "low-rank") &&
                !okra_options_is_set(fit, "low-rank-x") && method->low_rank &&
                x->kind != OKRA_GRAM;
    double scale;
    okra_kernel *ky = NULL;
    TRY(okra_kernel_parse(okra_options_get(fit, "ky"), &ky));
    bool explicitly = y->kind == OKRA_DENSE && okra_kernel_is_linear_(ky, &scale);
    if (y->n > DENSE && open && explicitly) {
        snprintf(text, sizeof text, "nystrom(rank=%d)", RANK);
        TRY(okra_options_set(fit, "low-rank-x", text));
    }
done:
    okra_kernel_free(ky);
    return st;
}

okra_status okra_choose(okra_context *context, const okra_data *x, const okra_data *y,
                        const okra_options *options, okra_options **fit,
                        okra_selection **selection)
{
    okra_status st = OKRA_OK;
    const okra_method_ *method = NULL;
    okra_options *copy = NULL, *filled = NULL, *chosen = NULL;
    okra_selection *s = NULL;
    okra_space_ *space = NULL;
    okra_data *some_x = NULL, *some_y = NULL;
    NEED(x);
    NEED(y);
    TRY(okra_weights_drop_(x, y, &some_x, &some_y));
    x = some_x;
    y = some_y;
    TRY(options ? okra_options_copy(options, &copy) : okra_select_options(&copy));
    TRY(okra_method_choose_(okra_options_get(copy, "method"), &method));
    TRY(okra_method_check_pairs_(method, x, y));
    TRY(set_open(context, method, x, y, copy, &filled));
    TRY(okra_space_create_(filled, &space));
    if (y->n < 3 || space->cells < 2) {
        if (space->cells > 1) {
            okra_warn_(context,
                       "fit: nothing can be left out of %lld pair%s, so that "
                       "kernel and lambda are a guess",
                       (long long)y->n, y->n > 1 ? "s" : "");
        }
        TRY(first_cell(filled, &chosen));
    } else {
        st = search(context, method, x, y, space->lambdas, filled, &chosen, &s);
        if (!method->leave && (st == OKRA_EARG || st == OKRA_EUNSUPPORTED)) {
            /* A fold is too small for the method, or it cannot be compared: what the
             * whole training set has to say to it, the fit will tell. */
            st = first_cell(filled, &chosen);
        }
        TRY(st);
    }
    TRY(lower(method, x, y, chosen));
    *fit = chosen;
    chosen = NULL;
    if (selection) {
        *selection = s;
        s = NULL;
    }
done:
    okra_data_free(some_x);
    okra_data_free(some_y);
    okra_selection_free(s);
    okra_space_free_(space);
    okra_options_free(chosen);
    okra_options_free(filled);
    okra_options_free(copy);
    return st;
}
