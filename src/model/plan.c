/*
 * plan.c: what a fit of low rank is going to do, before it does it: ranks, blocks, passes
 * over the data, memory, and a guess at the time.
 *
 * Operations are counted as in method/ridge/ridge_low.c, ridge_cg.c and boxqp_low.c,
 * kernel values as 2 d + 20 each, and divided by the rate of a small matrix product
 * measured on the spot: good to a factor of two on a quiet machine.
 */
#include "model/model.h"

#include "method/smoothness/graph.h"
#include "model/options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

/* What a smoothness penalty adds (method/ridge/moments_graph.c). */
typedef struct smoothing {
    double passes, row, kept; /* over the data; operations a row; doubles that are kept */
} smoothing;

static okra_status read_graph(const char *text, const side *s, double n, smoothing *out)
{
    okra_status st = OKRA_OK;
    okra_graph_text_ graph = {0};
    double m = s->rank;
    TRY(okra_graph_low_check_(text));
    TRY(okra_graph_parse_(text, &graph));
    if (graph.source == OKRA_GRAPH_GRAM_) {
        *out = (smoothing){2, 2 * mapping(s) + 3 * m * m, 0};
    } else {
        bool search = graph.source == OKRA_GRAPH_KNN_;
        *out = (smoothing){1, mapping(s) + 2 * m * m + (search ? n * m : 0),
                           (graph.stages > 0 ? 2 : 1) * n * m};
    }
done:
    okra_free_(graph.file);
    return st;
}

/* The margin on thin factors (method/margin/boxqp_low.c, dual_low.c): how often it comes
 * back to the features, which is known by experience alone. */
typedef struct margin_work {
    const char *what;         /* NULL: not this method   */
    double times, row, extra; /* operations, doubles a row */
} margin_work;

static margin_work read_margin(const char *method, const okra_options *options, double m,
                               double d)
{
    const char *loss = okra_options_get(options, "loss");
    if (strcmp(method, "margin") != 0) {
        return (margin_work){0};
    }
    return strcmp(loss, "hinge") == 0 ? (margin_work){"rounds", 15, 15 * 4 * m * d, 0}
           : strcmp(loss, "huber") == 0
               ? (margin_work){"Newton steps", 5, 5 * m * m + 15 * 4 * m * d, 3 * d}
               : (margin_work){"Newton steps", 40, 40 * m * m + 400 * 4 * m * d, 3 * d};
}

/* Operations a second of a matrix product. */
static okra_status measure(okra_context *ctx, double *rate)
{
    enum { SIZE = 512 };
    okra_status st = OKRA_OK;
    double *A = NULL, *B = NULL, best = INFINITY;
    ZALLOC(A, SIZE * SIZE);
    ALLOC(B, SIZE * SIZE);
    for (int i = 0; i < 3; i++) {
        struct timespec begin, end;
        okra_mat_ Am = okra_mat_of_(A, SIZE, SIZE);
        clock_gettime(CLOCK_MONOTONIC, &begin);
        TRY(okra_gemm_(ctx, false, false, 1, Am, Am, 0, okra_mat_of_(B, SIZE, SIZE)));
        clock_gettime(CLOCK_MONOTONIC, &end);
        best = fmin(best, (double)(end.tv_sec - begin.tv_sec) +
                              1e-9 * (double)(end.tv_nsec - begin.tv_nsec));
    }
    *rate = 2.0 * SIZE * SIZE * SIZE / fmax(best, 1e-9);
done:
    okra_free_(A);
    okra_free_(B);
    return st;
}

okra_status okra_fit_plan(okra_context *context, const okra_data *x, const okra_data *y,
                          const okra_options *options, char *text, size_t size,
                          double *seconds)
{
    NOT_NULL(x);
    NOT_NULL(y);
    NOT_NULL(text);
    NOT_NULL(seconds);
    okra_status st = OKRA_OK;
    okra_fit_fields_ f;
    const okra_method_ *method = NULL;
    okra_kernel *ky = NULL;
    side sx = {0}, sy = {0};
    double rate = 1, scale, n = (double)x->n;
    if (size > 0) {
        text[0] = '\0';
    }
    *seconds = 0;
    TRY(okra_options_read(options, &okra_fit_table_, &f));
    const char *low_x = *f.low_rank ? f.low_rank : f.low_rank_x;
    const char *low_y = *f.low_rank ? f.low_rank : f.low_rank_y;
    if (!*low_x) {
        goto done;
    }
    TRY(read_side("low-rank-x", low_x, x, &sx));
    TRY(okra_method_choose_(f.method, &method));
    TRY(okra_kernel_choose(context, f.ky, y, &ky));
    if (!okra_fit_factored_(&f, method, options, x, y, ky)) {
        goto done;
    }
    bool features = y->kind == OKRA_DENSE && okra_kernel_is_linear_(ky, &scale);
    bool mapped = *low_y && !features;
    if (mapped) {
        TRY(read_side("low-rank-y", low_y, y, &sy));
    }
    TRY(measure(context, &rate));
    const char *solver = okra_options_get(options, "solver");
    bool cg = solver && strcmp(solver, "cg") == 0;
    double m = sx.rank, d = mapped ? sy.rank : features ? (double)y->d : 0;
    double steps = cg ? atof(okra_options_get(options, "cg-iterations")) : 0;
    margin_work margin = read_margin(f.method, options, m, d);
    bool semi = !cg && okra_options_is_set(options, "lambda2");
    const char *operator_text = okra_options_get(options, "operator");
    bool diagonal = operator_text && strncmp(operator_text, "diagonal", 8) == 0;
    smoothing smooth = {0};
    if (semi) {
        TRY(read_graph(okra_options_get(options, "graph"), &sx, n, &smooth));
    }
    double row = cg ? m * sx.value + 2 * m * d : mapping(&sx) + m * m + 2 * m * d;
    row += smooth.row + (diagonal ? mapping(&sx) + 2 * m * d : 0);
    row += mapped ? mapping(&sy) + d * d : 0;
    row += margin.row;
    double work = choosing(&sx, n) + (mapped ? choosing(&sy, n) : 0) + n * row +
                  steps * n * (m * sx.value + 4 * m * d) + (cg ? 8 : 1) * m * m * m;
    double memory = 8 * ((semi ? 4 : 2) * m * m + (cg || diagonal ? 5 : 2) * m * d +
                         (mapped ? 2 * d * d : 0));
    okra_int width = (okra_int)(sx.columns + (mapped ? sy.columns : 0) + (cg ? d : 0));
    okra_int rows = okra_block_rows_(context, x->n, width);
    *seconds = work / rate;
    double passes = cg ? steps + 1 : (d > 0 ? 1 : 2) + smooth.passes + diagonal;
    char kept[80] = "", rounds[80] = "";
    if (margin.what) {
        double left = (double)(okra_context_memory(context) - okra_alloc_live_bytes_());
        bool stay = 8 * n * (m + d + margin.extra) < left;
        snprintf(rounds, sizeof rounds, ", then about %.0f %s on features %s",
                 margin.times, margin.what, stay ? "that are kept" : "made anew");
        memory += 8 * n * (margin.extra + (stay ? m + d : 0));
    }
    if (smooth.kept > 0) {
        snprintf(kept, sizeof kept, ", %.2f GiB of features in memory or TMPDIR",
                 8 * smooth.kept / 1073741824.0);
    }
    snprintf(
        text, size,
        "rank %.0f of %lld inputs, %.0f output features; %s%.0f pass%s over the data "
        "in blocks of %lld rows%s; %.2f GiB and a block of %.2f GiB%s; about %.0f s at "
        "%.0f Gflop/s",
        m, (long long)x->n, d, cg ? "at most " : "", passes, passes > 1 ? "es" : "",
        (long long)rows, rounds, memory / 1073741824.0,
        8.0 * (double)rows * (double)width / 1073741824.0, kept, *seconds, rate / 1e9);
done:
    okra_kernel_free(ky);
    return st;
}
