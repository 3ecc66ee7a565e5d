/*
 * poly.c: polynomials of a Gram value. All keep a positive semidefinite matrix so, since
 * elementwise products do (Schur), and so do sums with coefficients that are not
 * negative.
 *
 *   poly          (gamma k + coef0)^degree
 *   power         k^p
 *   poly-series   c0 + c1 k + c2 k^2 + ..., as learned by spectral twin kernel learning
 *
 * Powers by repeated squaring, relative error about degree * eps; the series by Horner's
 * rule. Overflow is reported by the Gram engine.
 */
#include "kernel/kernel.h"

static void raise(okra_int degree, okra_int n, double *x)
{
    for (okra_int i = 0; i < n; i++) {
        double base = x[i], result = 1;
        for (okra_int e = degree; e > 0; e >>= 1) {
            result = e & 1 ? result * base : result;
            base *= base;
        }
        x[i] = result;
    }
}

typedef struct poly_params {
    okra_int degree;
    double gamma, coef0;
} poly_params;

static void poly(const void *params, const double *da, const double *db, okra_int ni,
                 okra_int nj, double *tile, okra_int ld)
{
    const poly_params *p = params;
    for (okra_int i = 0; i < ni; i++) {
        double *row = tile + i * ld;
        for (okra_int j = 0; j < nj; j++) {
            row[j] = p->gamma * row[j] + p->coef0;
        }
        raise(p->degree, nj, row);
    }
}

typedef struct power_params {
    okra_int p;
} power_params;

static void power(const void *params, const double *da, const double *db, okra_int ni,
                  okra_int nj, double *tile, okra_int ld)
{
    const power_params *p = params;
    for (okra_int i = 0; i < ni; i++) {
        raise(p->p, nj, tile + i * ld);
    }
}

enum { SERIES = 17 };

typedef struct series_params {
    double c[SERIES];
} series_params;

static void series(const void *params, const double *da, const double *db, okra_int ni,
                   okra_int nj, double *tile, okra_int ld)
{
    const series_params *p = params;
    int top = SERIES - 1;
    while (top > 0 && p->c[top] == 0) {
        top--;
    }
    for (okra_int i = 0; i < ni; i++) {
        double *row = tile + i * ld;
        for (okra_int j = 0; j < nj; j++) {
            double value = p->c[top];
            for (int t = top - 1; t >= 0; t--) {
                value = value * row[j] + p->c[t];
            }
            row[j] = value;
        }
    }
}

/* ---- derivatives ---- */

static void poly_derive(const void *params, double self, const double *db, okra_int n,
                        double *k, double *by_k, double *by_self)
{
    const poly_params *p = params;
    for (okra_int j = 0; j < n; j++) {
        double base = p->gamma * k[j] + p->coef0;
        by_k[j] = base;
        k[j] = base;
    }
    raise(p->degree - 1, n, by_k);
    for (okra_int j = 0; j < n; j++) {
        k[j] *= by_k[j];
        by_k[j] *= (double)p->degree * p->gamma;
    }
}

static void power_derive(const void *params, double self, const double *db, okra_int n,
                         double *k, double *by_k, double *by_self)
{
    const power_params *p = params;
    poly_params same = {p->p, 1, 0};
    poly_derive(&same, self, db, n, k, by_k, by_self);
}

static void series_derive(const void *params, double self, const double *db, okra_int n,
                          double *k, double *by_k, double *by_self)
{
    const series_params *p = params;
    int top = SERIES - 1;
    while (top > 0 && p->c[top] == 0) {
        top--;
    }
    for (okra_int j = 0; j < n; j++) {
        double value = p->c[top], slope = 0;
        for (int t = top - 1; t >= 0; t--) {
            slope = slope * k[j] + value;
            value = value * k[j] + p->c[t];
        }
        k[j] = value;
        by_k[j] = slope;
    }
}

/* ---- steps of a program ---- */

static void poly_step(const void *params, okra_step_ *step)
{
    const poly_params *p = params;
    step->p = p->gamma;
    step->q = p->coef0;
    step->degree = p->degree;
}

static void power_step(const void *params, okra_step_ *step)
{
    step->degree = ((const power_params *)params)->p;
}

static void series_step(const void *params, okra_step_ *step)
{
    step->list = ((const series_params *)params)->c;
    step->count = SERIES;
}

static const okra_option poly_rows[] = {
    {"degree", OKRA_OPTION_INT, offsetof(poly_params, degree), "3", 1, 1000, NULL, "N",
     "the power"},
    {"gamma", OKRA_OPTION_NUMBER, offsetof(poly_params, gamma), "1", 0, DBL_MAX, NULL,
     "V", "factor of the value"},
    {"coef0", OKRA_OPTION_NUMBER, offsetof(poly_params, coef0), "1", 0, DBL_MAX, NULL,
     "V", "constant added before the power"},
    {.name = NULL}};

static const okra_option power_rows[] = {{"p", OKRA_OPTION_INT, offsetof(power_params, p),
                                          "2", 1, 1000, NULL, "N", "the power"},
                                         {.name = NULL}};

#define COEFFICIENT(i)                                                                 \
    {                                                                                  \
        "c" #i, OKRA_OPTION_NUMBER, offsetof(series_params, c) + (i) * sizeof(double), \
            "0", 0, DBL_MAX, NULL, "V", "coefficient of k^" #i                         \
    }
static const okra_option series_rows[] = {
    COEFFICIENT(0),  COEFFICIENT(1),  COEFFICIENT(2),  COEFFICIENT(3),  COEFFICIENT(4),
    COEFFICIENT(5),  COEFFICIENT(6),  COEFFICIENT(7),  COEFFICIENT(8),  COEFFICIENT(9),
    COEFFICIENT(10), COEFFICIENT(11), COEFFICIENT(12), COEFFICIENT(13), COEFFICIENT(14),
    COEFFICIENT(15), COEFFICIENT(16), {.name = NULL}};

const okra_transform_class_ okra_poly_ = {
    .name = "poly",
    .help = "(gamma k + coef0)^degree",
    .params = {"poly", poly_rows, sizeof(poly_params)},
    .apply = poly,
    .derive = poly_derive,
    .code = OKRA_CODE_POLY_,
    .step = poly_step};

const okra_transform_class_ okra_power_ = {
    .name = "power",
    .help = "k^p",
    .params = {"power", power_rows, sizeof(power_params)},
    .apply = power,
    .derive = power_derive,
    .code = OKRA_CODE_POWER_,
    .step = power_step};

const okra_transform_class_ okra_poly_series_ = {
    .name = "poly-series",
    .help = "c0 + c1 k + c2 k^2 + ..., coefficients in order",
    .params = {"poly-series", series_rows, sizeof(series_params)},
    .positional = true,
    .apply = series,
    .derive = series_derive,
    .code = OKRA_CODE_SERIES_,
    .step = series_step};
