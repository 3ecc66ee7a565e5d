/*
 * regression.c: errors of vectors, one output at a time.
 *
 *   r2      1 - sum_i (y_ij - z_ij)^2 / sum_i (y_ij - mean_j)^2 of output j, the mean
 * over outputs (uniform), or one quotient of the sums over all (weighted: by their
 *           variances). An output that does not vary counts 1 where it is predicted
 *           exactly, else 0, as in scikit-learn
 *   rmse    of one output, sqrt(mean_i (y_ij - z_ij)^2); their mean (outputs); or the
 * root of the mean over all (all) arrmse  mean over outputs of sqrt(sum_i (y_ij - z_ij)^2
 * / sum_i (y_ij - mean_j)^2), the average relative root mean squared error of
 * multi-target regression; means are those of the truth. Outputs that do not vary are
 * refused
 *
 * Values of the truth that are missing are left out, and outputs without a known one.
 */
#include "metric/metric.h"

typedef struct sums {
    double *error, *spread; /* d: squared errors, and squares about the mean */
    double *weight;         /* d: of the known values                         */
    double outputs;         /* those with a known value                       */
} sums;

OKRA_CLEARS_(clear, sums, it->error, it->spread, it->weight)

/* The means of the known values, and their weights. */
static okra_status find_means(const okra_scores_ *s, double *mean, sums *z)
{
    OWNED double *a = NULL, *first = NULL;
    MAKE(a, s->d);
    ZMAKE(first, s->d);
    for (okra_int i = 0; i < s->n; i++) {
        const double *y = okra_metric_row_(s->truth, i, a);
        for (okra_int j = 0; j < s->d; j++) {
            bool known = !isnan(y[j]);
            first[j] = known && z->weight[j] == 0 ? y[j] : first[j];
            z->weight[j] += known ? okra_metric_weight_(s, i) : 0;
        }
    }
    for (okra_int i = 0; i < s->n; i++) { /* about the first: exact where none varies */
        const double *y = okra_metric_row_(s->truth, i, a);
        double w = okra_metric_weight_(s, i);
        for (okra_int j = 0; j < s->d; j++) {
            bool counts = !isnan(y[j]) && z->weight[j] > 0;
            mean[j] += counts ? w * (y[j] - first[j]) / z->weight[j] : 0;
        }
    }
    for (okra_int j = 0; j < s->d; j++) {
        mean[j] += first[j];
        z->outputs += z->weight[j] > 0;
    }
    return OKRA_OK;
}

static okra_status add_up(const okra_scores_ *s, sums *z)
{
    OWNED double *a = NULL, *b = NULL, *mean = NULL;
    MAKE(a, s->d);
    MAKE(b, s->d);
    ZMAKE(mean, s->d);
    ZMAKE(z->error, s->d);
    ZMAKE(z->spread, s->d);
    ZMAKE(z->weight, s->d);
    CHK(find_means(s, mean, z));
    for (okra_int i = 0; i < s->n; i++) {
        const double *y = okra_metric_row_(s->truth, i, a);
        const double *p = okra_metric_row_(s->predicted, i, b);
        double w = okra_metric_weight_(s, i);
        for (okra_int j = 0; j < s->d; j++) {
            bool known = !isnan(y[j]);
            z->error[j] += known ? w * (y[j] - p[j]) * (y[j] - p[j]) : 0;
            z->spread[j] += known ? w * (y[j] - mean[j]) * (y[j] - mean[j]) : 0;
        }
    }
    return OKRA_OK;
}

/* ---- r2 ---- */

enum { UNIFORM, WEIGHTED };

typedef struct r2_params {
    int average;
} r2_params;

static const okra_option r2_rows[] = {
    {"average", OKRA_OPTION_CHOICE, offsetof(r2_params, average), "uniform", 1, 0,
     "uniform|weighted", "HOW", "all outputs count the same, or by their variances"},
    {0},
};

static double determination(double error, double spread)
{
    return spread > 0 ? 1 - error / spread : error == 0 ? 1 : 0;
}

static okra_status r2(okra_context *ctx, const void *params, okra_scores_ *s)
{
    FREED_BY(clear) sums z = {0};
    double error = 0, spread = 0, mean = 0;
    CHK(add_up(s, &z));
    for (okra_int j = 0; j < s->d; j++) {
        error += z.error[j];
        spread += z.spread[j];
        mean += z.weight[j] > 0 ? determination(z.error[j], z.spread[j]) / z.outputs : 0;
    }
    bool weighted = ((const r2_params *)params)->average == WEIGHTED;
    s->value = weighted ? determination(error, spread) : mean;
    s->has_each = false;
    return OKRA_OK;
}

/* ---- rmse ---- */

enum { ALL, OUTPUTS };

typedef struct rmse_params {
    int average;
    okra_int output;
} rmse_params;

static const okra_option rmse_rows[] = {
    {"average", OKRA_OPTION_CHOICE, offsetof(rmse_params, average), "all", 1, 0,
     "all|outputs", "HOW", "one root of all, or the mean of the roots of the outputs"},
    {"output", OKRA_OPTION_INT, offsetof(rmse_params, output), "-1", -1, 1e15, NULL, "J",
     "one output alone, counted from 0; -1: all of them"},
    {0},
};

static okra_status rmse(okra_context *ctx, const void *params, okra_scores_ *s)
{
    const rmse_params *p = params;
    FREED_BY(clear) sums z = {0};
    double total = 0, roots = 0, weight = 0;
    REFUSE_IF(p->output >= s->d, OKRA_EARG,
              "metric rmse: output %lld is asked of %lld, counted from 0",
              (long long)p->output, (long long)s->d);
    CHK(add_up(s, &z));
    for (okra_int j = 0; j < s->d; j++) {
        total += z.error[j];
        weight += z.weight[j];
        roots += z.weight[j] > 0 ? sqrt(z.error[j] / z.weight[j]) / z.outputs : 0;
    }
    REFUSE_IF(p->output >= 0 && !(z.weight[p->output] > 0), OKRA_EARG,
              "metric rmse: output %lld has no known value", (long long)p->output);
    s->value = p->output >= 0          ? sqrt(z.error[p->output] / z.weight[p->output])
               : p->average == OUTPUTS ? roots
                                       : sqrt(total / weight);
    s->has_each = false;
    return OKRA_OK;
}

/* ---- arrmse ---- */

static okra_status arrmse(okra_context *ctx, const void *params, okra_scores_ *s)
{
    FREED_BY(clear) sums z = {0};
    double sum = 0;
    CHK(add_up(s, &z));
    for (okra_int j = 0; j < s->d; j++) {
        if (!(z.weight[j] > 0)) {
            continue;
        }
        REFUSE_IF(!(z.spread[j] > 0), OKRA_EARG,
                  "metric arrmse: output %lld of the truth does not vary, so that no "
                  "error is relative to its spread",
                  (long long)j);
        sum += sqrt(z.error[j] / z.spread[j]) / z.outputs;
    }
    s->value = sum;
    s->has_each = false;
    return OKRA_OK;
}

const okra_metric_ okra_metric_r2_ = {
    .name = "r2",
    .help = "coefficient of determination, 1 at best",
    .params = {"metric r2", r2_rows, sizeof(r2_params)},
    .kinds = OKRA_METRIC_VECTORS_,
    .gaps = true,
    .score = r2,
};

const okra_metric_ okra_metric_rmse_ = {
    .name = "rmse",
    .help = "square root of the mean squared error",
    .params = {"metric rmse", rmse_rows, sizeof(rmse_params)},
    .kinds = OKRA_METRIC_VECTORS_,
    .gaps = true,
    .loss = true,
    .score = rmse,
};

const okra_metric_ okra_metric_arrmse_ = {
    .name = "arrmse",
    .help = "mean over outputs of the root mean squared error relative to the spread",
    .params = {"metric arrmse", NULL, 0},
    .kinds = OKRA_METRIC_VECTORS_,
    .gaps = true,
    .loss = true,
    .score = arrmse,
};
