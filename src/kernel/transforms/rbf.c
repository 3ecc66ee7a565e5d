/*
 * rbf.c: exponentials of a Gram value.
 *
 *   rbf   exp(-gamma d^2), d^2 = k(a,a) + k(b,b) - 2k, gamma = 1/(2 sigma^2)
 *   exp   exp(scale k)
 *
 * Accuracy: d^2 comes from a difference, with an absolute error of a few eps times
 * k(a,a) + k(b,b), and is clamped at 0. On dense vectors the leaf moves the origin to the
 * training mean, which keeps that sum near the distances themselves; sparse vectors stay
 * where they are, and their d^2 loses log2((k(a,a) + k(b,b))/d^2) bits. The diagonal is
 * exactly 1. `exp` may overflow, and so may the values that d^2 is made of: the Gram
 * engine reports both.
 */
#include "core/simd.h"
#include "kernel/kernel.h"

typedef struct rbf_params {
    double sigma, gamma;
} rbf_params;

static okra_status rbf_check(const void *params)
{
    const rbf_params *p = params;
    return (p->sigma > 0) != (p->gamma > 0)
               ? OKRA_OK
               : okra_fail_(OKRA_EARG, "rbf needs exactly one of sigma and gamma, a "
                                       "number above 0");
}

static inline OKRA_INLINE_ void body(double gamma, double a, const double *restrict db,
                                     okra_int nj, double *restrict row, bool fused)
{
    for (okra_int j = 0; j < nj; j++) {
        double d2 = a + db[j] - 2 * row[j];
        row[j] = -gamma * (d2 < 0 ? 0 : d2); /* a NaN stays one, to be reported */
    }
}

OKRA_VARIANTS_(exponents, body,
               (double gamma, double a, const double *db, okra_int nj, double *row),
               (gamma, a, db, nj, row))

double okra_rbf_gamma_(const void *params)
{
    const rbf_params *p = params;
    return p->gamma > 0 ? p->gamma : 0.5 / p->sigma / p->sigma;
}

static void rbf(const void *params, const double *da, const double *db, okra_int ni,
                okra_int nj, double *tile, okra_int ld)
{
    double gamma = okra_rbf_gamma_(params);
    for (okra_int i = 0; i < ni; i++) {
        exponents(gamma, da[i], db, nj, tile + i * ld);
        okra_vexp_(nj, tile + i * ld);
    }
}

/* d(exp(-gamma d^2)) = -gamma exp(-gamma d^2) (d self - 2 dk) */
static void rbf_derive(const void *params, double self, const double *db, okra_int n,
                       double *k, double *by_k, double *by_self)
{
    double gamma = okra_rbf_gamma_(params);
    rbf(params, &self, db, 1, n, k, n);
    for (okra_int j = 0; j < n; j++) {
        by_k[j] = 2 * gamma * k[j];
        by_self[j] = -gamma * k[j];
    }
}

typedef struct exp_params {
    double scale;
} exp_params;

static void exponential(const void *params, const double *da, const double *db,
                        okra_int ni, okra_int nj, double *tile, okra_int ld)
{
    const exp_params *p = params;
    for (okra_int i = 0; i < ni; i++) {
        double *row = tile + i * ld;
        okra_scale_(nj, p->scale, row);
        okra_vexp_(nj, row);
    }
}

static void exponential_derive(const void *params, double self, const double *db,
                               okra_int n, double *k, double *by_k, double *by_self)
{
    const exp_params *p = params;
    exponential(params, NULL, NULL, 1, n, k, n);
    for (okra_int j = 0; j < n; j++) {
        by_k[j] = p->scale * k[j];
    }
}

static void rbf_step(const void *params, okra_step_ *step)
{
    step->p = okra_rbf_gamma_(params);
}

static void exponential_step(const void *params, okra_step_ *step)
{
    step->p = ((const exp_params *)params)->scale;
}

static const okra_option rbf_rows[] = {
    {"sigma", OKRA_OPTION_NUMBER, offsetof(rbf_params, sigma), "0", 0, DBL_MAX, NULL, "V",
     "width: exp(-d^2/(2 sigma^2)); give sigma or gamma"},
    {"gamma", OKRA_OPTION_NUMBER, offsetof(rbf_params, gamma), "0", 0, DBL_MAX, NULL, "V",
     "inverse width: exp(-gamma d^2); give sigma or gamma"},
    {.name = NULL}};

static const okra_option exp_rows[] = {
    {"scale", OKRA_OPTION_NUMBER, offsetof(exp_params, scale), "1", 0, DBL_MAX, NULL, "V",
     "factor of the value before the exponential"},
    {.name = NULL}};

const okra_transform_class_ okra_rbf_ = {
    .name = "rbf",
    .help = "exp(-gamma d^2) of the distance d in the feature space of the kernel",
    .params = {"rbf", rbf_rows, sizeof(rbf_params)},
    .uses = OKRA_USES_SELF_,
    .automatic = OKRA_RULE_DISTANCE_,
    .distances = true,
    .check = rbf_check,
    .apply = rbf,
    .derive = rbf_derive,
    .bounds = true,
    .code = OKRA_CODE_RBF_,
    .step = rbf_step};

const okra_transform_class_ okra_exp_ = {.name = "exp",
                                         .help = "exp(scale k)",
                                         .params = {"exp", exp_rows, sizeof(exp_params)},
                                         .apply = exponential,
                                         .derive = exponential_derive,
                                         .code = OKRA_CODE_EXP_,
                                         .step = exponential_step};
