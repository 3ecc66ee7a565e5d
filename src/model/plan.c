/*
 * plan.c: what a fit of low rank is going to do, before it does it: ranks, blocks, passes
 * over the data, memory, and a guess at the time.
 *
 * Operations are counted as the methods say (okra_fit_plan_ of method.h), kernel values
 * as 2 d + 20 each, and divided by the rate of a small matrix product measured on the
 * spot: good to a factor of two on a quiet machine.
 */
#include "model/model.h"

#include "okra/more/update.h"

typedef struct side {
    okra_low_ low;
    double rank, columns, value; /* features, kernel values, operations a value */
} side;

static okra_status read_side(const char *name, const char *text, const okra_data *data,
                             side *s)
{
    okra_status st = okra_low_read_(name, text, &s->low);
    double n = (double)data->n, m = (double)s->low.rank;
    if (st != OKRA_OK) {
        return st;
    }
    bool waves = s->low.kind == OKRA_LOW_RFF_;
    s->rank = waves ? m : fmin(m, n);
    s->columns = s->rank;
    if (s->low.kind == OKRA_LOW_SKETCH_) {
        double p = s->low.p > 0 ? s->low.p : 20 / n;
        s->columns = s->low.sparse ? n * (1 - pow(1 - fmin(p, 1), s->rank)) : n;
    }
    s->value = 2 * (double)OKRA_MAX_(data->d, 1) + 20;
    return OKRA_OK;
}

/* Operations of choosing the basis and of its Gram matrix. */
static double choosing(const side *s, double n)
{
    double m = s->rank, c = s->columns, values = n * m * s->value;
    switch (s->low.kind) {
    case OKRA_LOW_CHOL_:
        return values + 4 * n * m * m; /* bound by memory: a quarter of the rate */
    case OKRA_LOW_NYSTROM_:
        return (s->low.pivots == OKRA_PIVOTS_GREEDY_     ? values + 4 * n * m * m
                : s->low.pivots == OKRA_PIVOTS_LEVERAGE_ ? 2 * values + 4 * n * m * m
                : s->low.pivots == OKRA_PIVOTS_KMEANS_   ? values
                                                         : 0) +
               m * m * s->value + m * m * m / 3;
    case OKRA_LOW_SKETCH_:
        return c * c * s->value + 2 * c * c * m + m * m * m / 3;
    case OKRA_LOW_RFF_:
        break;
    }
    return 0;
}

/* Operations a row of making features. */
static double mapping(const side *s)
{
    return s->columns * s->value + (s->columns > s->rank ? 2 * s->columns * s->rank : 0) +
           s->rank * s->rank;
}

/* Operations a second of a matrix product. */
static okra_status measure(okra_context *ctx, double *rate)
{
    enum { SIZE = 512 };
    OWNED double *A = NULL, *B = NULL;
    double best = INFINITY;
    ZMAKE(A, SIZE * SIZE);
    MAKE(B, SIZE * SIZE);
    for (int i = 0; i < 3; i++) {
        okra_mat_ Am = okra_mat_of_(A, SIZE, SIZE);
        double begin = okra_now_();
        CHK(okra_gemm_(ctx, false, false, 1, Am, Am, 0, okra_mat_of_(B, SIZE, SIZE)));
        best = fmin(best, okra_now_() - begin);
    }
    *rate = 2.0 * SIZE * SIZE * SIZE / fmax(best, 1e-9);
    return OKRA_OK;
}

okra_status okra_fit_plan(okra_context *context, const okra_data *x, const okra_data *y,
                          const okra_options *options, char *text, size_t size,
                          double *seconds)
{
    NOT_NULL(x, y, text, seconds);
    okra_fit_fields_ f;
    const okra_method_ *method = NULL;
    FREED_BY(okra_kernel_drop_) okra_kernel *ky = NULL;
    side sx = {0}, sy = {0};
    double rate = 1, scale, n = (double)x->n;
    if (size > 0) {
        text[0] = '\0';
    }
    *seconds = 0;
    CHK(okra_options_read(options, &okra_fit_table_, &f));
    const char *low_x = okra_fit_low_x_(&f);
    const char *low_y = okra_fit_low_y_(&f);
    if (!*low_x) {
        return OKRA_OK;
    }
    CHK(read_side("low-rank-x", low_x, x, &sx));
    CHK(okra_method_choose_(f.method, &method));
    CHK(okra_kernel_choose(context, f.ky, y, &ky));
    if (!okra_fit_factored_(&f, method, options, x, y, ky)) {
        return OKRA_OK;
    }
    bool features = y->kind == OKRA_DENSE && okra_kernel_is_linear_(ky, &scale);
    bool mapped = *low_y && !features;
    if (mapped) {
        CHK(read_side("low-rank-y", low_y, y, &sy));
    }
    CHK(measure(context, &rate));
    double m = sx.rank, d = mapped ? sy.rank : features ? (double)y->d : 0;
    okra_fit_plan_ plan = {.n = n,
                           .m = m,
                           .d = d,
                           .value = sx.value,
                           .map = mapping(&sx),
                           .left = (double)okra_memory_left_(context),
                           .passes = d > 0 ? 1 : 2,
                           .row = mapping(&sx) + m * m + 2 * m * d,
                           .once = m * m * m,
                           .doubles = 2 * m * m + 2 * m * d + (mapped ? 2 * d * d : 0)};
    if (method->plan) {
        CHK(method->plan(options, &plan));
    }
    plan.row += mapped ? mapping(&sy) + d * d : 0;
    double work =
        choosing(&sx, n) + (mapped ? choosing(&sy, n) : 0) + n * plan.row + plan.once;
    okra_int width = (okra_int)(sx.columns + (mapped ? sy.columns : 0) + plan.width);
    okra_int rows = okra_block_rows_(context, x->n, width);
    *seconds = work / rate;
    snprintf(
        text, size,
        "rank %.0f of %lld inputs, %.0f output features; %s%.0f pass%s over the data "
        "in blocks of %lld rows%s; %.2f GiB and a block of %.2f GiB%s; about %.0f s at "
        "%.0f Gflop/s",
        m, (long long)x->n, d, plan.most ? "at most " : "", plan.passes,
        plan.passes > 1 ? "es" : "", (long long)rows, plan.rounds,
        8 * plan.doubles / 1073741824.0,
        8.0 * (double)rows * (double)width / 1073741824.0, plan.kept, *seconds,
        rate / 1e9);
    return OKRA_OK;
}
