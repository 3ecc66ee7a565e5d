/*
 * method.c: the method `share` as an example: the mean of all training outputs, each by
 * its similarity, w_i(x) = k(x, x_i)^power / sum_j k(x, x_j)^power (Nadaraya, Watson).
 */
#include "method/method.h"

#include <math.h>

typedef struct share_options {
    double power;
} share_options;

static const okra_option rows[] = {{"power", OKRA_OPTION_NUMBER,
                                    offsetof(share_options, power), "1", 1e-3, 1e3, NULL,
                                    "V", "of the similarities"},
                                   {0}};

extern const okra_method_ okra_method_share_;

static okra_status fit(okra_context *ctx, const okra_problem_ *problem,
                       const okra_options *options, okra_store_ *store)
{
    share_options o;
    (void)ctx;
    (void)problem;
    okra_status st = okra_options_read(options, &okra_method_share_.options, &o);
    return st == OKRA_OK ? okra_store_put_number_(store, "power", o.power) : st;
}

static okra_form_ form(const okra_store_ *store)
{
    (void)store;
    return OKRA_FORM_WEIGHTS;
}

static okra_status predict(okra_context *ctx, const okra_store_ *store,
                           okra_query_ *query, okra_mat_ out)
{
    double power = 0;
    (void)ctx;
    if (!okra_store_get_number_(store, "power", &power) || !(power > 0)) {
        return okra_fail_(OKRA_EFORMAT, "share: the model's power is %g", power);
    }
    for (okra_int r = 0; r < query->m; r++) {
        double *w = out.p + r * out.ld, sum = 0;
        for (okra_int c = 0; c < query->n; c++) {
            w[c] = pow(fabs(query->Kx.p[r * query->Kx.ld + c]), power);
            sum += w[c];
        }
        for (okra_int c = 0; c < query->n; c++) {
            w[c] /= sum > 0 ? sum : 1;
        }
    }
    return OKRA_OK;
}

/* What a model keeps, which a model file is checked against: see data/store.h. */
/* clang-format off */
static const okra_schema_ kept_power[] = {
    OKRA_KEEPS_NUMBER_("power", OKRA_KEPT_POSITIVE_, "1e-3", "1e3"),
    OKRA_KEEPS_SAME_("inputs", "c", "n"),
    OKRA_KEPT_END_};
static const okra_schema_ *const kept[] = {kept_power, NULL};
/* clang-format on */

const okra_method_ okra_method_share_ = {
    .name = "share",
    .help = "the mean of the outputs, each by the similarity of its input",
    .options = {"share", rows, sizeof(share_options)},
    .fit = fit,
    .form = form,
    .predict = predict,
    .kept = kept,
};
