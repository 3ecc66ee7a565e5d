/*
 * ridge_sum.c: ridge of low rank whose pairs come and go, or come from several models.
 *
 * What the solution needs of the pairs are sums over them (moments.c):
 *     C = Phi'Phi (m x m),  R = Phi'Psi (m x d),  D = Psi'Psi (d x d; cov and ccov),
 *     sums of phi and of psi.
 * A model that keeps them, and the basis that phi is made from, needs no training input
 * again: moments of more pairs are added, those of pairs that go subtracted, m^2 + m d a
 * pair, and the solution is that of ridge_low.c, m^3/3. Models with one basis add up in
 * the order given, one after the other: the same models in the same order give the same
 * bits, and ((a + b) + c) is a + b + c to the bit; another grouping moves the last bits.
 *
 * Rounding: an addition leaves eps |C| at most. The sum of these over all additions is
 * kept (rounding, in units of C); over tr(C) it is the drift. It grows by one eps with
 * each addition, and beyond that only where most of what was added is subtracted again:
 * beyond 1e-12 there is a warning.
 */
#include "method/ridge/ridge_sum.h"

#include "kernel/lowrank/lowrank.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double drift_most = 1e-12;

/* Moments, and what is told of them. */
typedef struct total {
    okra_moments_ t;         /* sums in phi and psi, where bags add up */
    double trace_x, trace_y; /* tr(K), tr(L); < 0: not told */
    double rounding;
} total;

/* ---- in a bag ---- */

/* A copy times `scale`. */
static okra_status put(okra_bag_ *bag, const char *name, const double *values,
                       okra_int rows, okra_int cols, double scale)
{
    OWNED double *copy = NULL;
    MAKE(copy, rows * cols);
    for (okra_int i = 0; i < rows * cols; i++) {
        copy[i] = scale * values[i];
    }
    return okra_ridge_put_(bag, name, &copy, rows, cols);
}

static okra_status keep(const total *z, double times, const double *A,
                        const okra_map_ *map, okra_bag_ *bag)
{
    const okra_moments_ *t = &z->t;
    CHK(okra_map_save_over_(map, bag, "basis"));
    CHK(put(bag, "moments.C", t->C, t->m, t->m, 1));
    CHK(put(bag, "moments.R", t->R, t->m, t->d, 1));
    if (t->D) {
        CHK(put(bag, "moments.D", t->D, t->d, t->d, 1));
    }
    if (A) {
        CHK(put(bag, "moments.A", A, t->d, t->d, 1));
    }
    CHK(put(bag, "moments.phi", t->phi, 1, t->m, times));
    CHK(put(bag, "moments.psi", t->psi, 1, t->d, times));
    CHK(okra_bag_put_number_(bag, "moments.total", t->total));
    CHK(okra_bag_put_number_(bag, "moments.kept-y", t->kept_y));
    CHK(okra_bag_put_number_(bag, "moments.rounding", z->rounding));
    CHK(z->trace_x < 0 ? OKRA_OK
                       : okra_bag_put_number_(bag, "moments.trace-x", z->trace_x));
    return z->trace_y < 0 ? OKRA_OK
                          : okra_bag_put_number_(bag, "moments.trace-y", z->trace_y);
}

/* tr(K) of what features keep of it and the share that they miss; < 0: not told. */
static double whole_trace(double kept, double error)
{
    return error >= 0 && error < 1 ? kept / (1 - error) : -1;
}

okra_status okra_ridge_keep_moments_(const okra_moments_ *t, const double *A,
                                     const okra_map_ *map, okra_bag_ *bag)
{
    total z = {*t, whole_trace(t->kept_x, t->error_x), whole_trace(t->kept_y, t->error_y),
               DBL_EPSILON * t->kept_x};
    return keep(&z, t->total, A, map, bag);
}

static bool has(const okra_bag_ *bag, const char *name)
{
    okra_int rows, cols;
    return okra_bag_get_(bag, name, &rows, &cols) != NULL;
}

/* What tables cannot say: all of them or none, and a basis under them. */
okra_status okra_ridge_check_(const okra_bag_ *bag, const okra_facts_ *facts)
{
    static const char *const whole[] = {"moments.C", "moments.R", "moments.phi",
                                        "moments.psi"};
    double number = 0;
    okra_int columns = okra_sizes_get_(facts->sizes, "c"),
             m = okra_sizes_get_(facts->sizes, "m");
    bool any = has(bag, "moments.D") || has(bag, "moments.A") ||
               okra_bag_get_number_(bag, "moments.kept-y", &number) ||
               okra_bag_get_number_(bag, "moments.rounding", &number);
    bool all = okra_bag_get_number_(bag, "moments.kept-y", &number) &&
               okra_bag_get_number_(bag, "moments.total", &number) &&
               okra_bag_get_number_(bag, "moments.rounding", &number);
    for (int k = 0; k < 4; k++) {
        any = any || has(bag, whole[k]);
        all = all && has(bag, whole[k]);
    }
    bool waves = okra_bag_get_number_(bag, "basis.scale", &number);
    bool factor = has(bag, "basis.factor");
    bool sketch = has(bag, "basis.sketch") || has(bag, "basis.start") ||
                  has(bag, "basis.value") || has(bag, "basis.column");
    bool basis = waves || factor;
    if (any && (!all || !basis)) {
        return okra_fail_(OKRA_EFORMAT, "the moments that the model keeps are not whole");
    }
    double rank = 0, are_waves = 0;
    okra_bag_get_number_(bag, "x.rank", &rank);
    okra_bag_get_number_(bag, "x.waves", &are_waves);
    bool right = !sketch || factor;
    if (waves) {
        right = !factor && are_waves != 0 && (!any || m == columns) &&
                rank == (double)columns;
    } else if (factor) {
        right = are_waves == 0 && (sketch || m == columns) && rank == (double)m;
    }
    if (!right) {
        return okra_fail_(OKRA_EFORMAT,
                          "the basis that the model keeps does not fit its inputs");
    }
    return OKRA_OK;
}

/* ---- sums ---- */

static double trace(okra_int m, const double *C)
{
    double sum = 0;
    for (okra_int i = 0; i < m; i++) {
        sum += C[i * m + i];
    }
    return sum;
}

/* to += sign * from */
static void add_all(okra_int count, double sign, const double *from, double *to)
{
    for (okra_int i = 0; from && i < count; i++) {
        to[i] += sign * from[i];
    }
}

static void add_trace(double sign, double part, double *sum)
{
    *sum = *sum < 0 || part < 0 ? -1 : *sum + sign * part;
}

/* One matrix of a bag onto the sum, which has its shape: rows x cols. */
static okra_status add_kept(const okra_bag_ *bag, const char *name, okra_int rows,
                            okra_int cols, double *to)
{
    okra_int r = 0, c = 0;
    const double *values = okra_bag_get_(bag, name, &r, &c);
    if (!values || r != rows || c != cols) {
        return okra_fail_(
            OKRA_EARG,
            "the models do not keep the same moments: '%s' is %lld x %lld in "
            "one and %lld x %lld in another",
            name, (long long)rows, (long long)cols, (long long)r, (long long)c);
    }
    add_all(rows * cols, 1, values, to);
    return OKRA_OK;
}

static okra_status begin(okra_context *ctx, const okra_bag_ *bag, total *z)
{
    okra_moments_ *t = &z->t;
    okra_int rows;
    okra_bag_get_(bag, "moments.R", &t->m, &t->d);
    CHK(okra_doubles_(ctx, t->m, t->m, "the moments of the inputs", &t->C));
    CHK(okra_doubles_(ctx, t->m, t->d, "the moments of inputs and outputs", &t->R));
    okra_mat_fill_(okra_mat_of_(t->C, t->m, t->m), 0);
    okra_mat_fill_(okra_mat_of_(t->R, t->m, t->d), 0);
    if (okra_bag_get_(bag, "moments.D", &rows, &rows)) {
        CHK(okra_doubles_(ctx, t->d, t->d, "the moments of the outputs", &t->D));
        okra_mat_fill_(okra_mat_of_(t->D, t->d, t->d), 0);
    }
    ZMAKE(t->phi, t->m);
    ZMAKE(t->psi, t->d);
    return OKRA_OK;
}

static okra_status add_bag(const okra_bag_ *bag, bool first, total *z)
{
    okra_moments_ *t = &z->t;
    double rounding = 0, kept_y = 0, weight = 0, x = -1, y = -1;
    CHK(add_kept(bag, "moments.C", t->m, t->m, t->C));
    CHK(add_kept(bag, "moments.R", t->m, t->d, t->R));
    if (t->D) {
        CHK(add_kept(bag, "moments.D", t->d, t->d, t->D));
    }
    CHK(add_kept(bag, "moments.phi", 1, t->m, t->phi));
    CHK(add_kept(bag, "moments.psi", 1, t->d, t->psi));
    okra_bag_get_number_(bag, "moments.rounding", &rounding);
    okra_bag_get_number_(bag, "moments.kept-y", &kept_y);
    okra_bag_get_number_(bag, "moments.total", &weight);
    t->total += weight;
    okra_bag_get_number_(bag, "moments.trace-x", &x);
    okra_bag_get_number_(bag, "moments.trace-y", &y);
    add_trace(1, x, &z->trace_x);
    add_trace(1, y, &z->trace_y);
    t->kept_y += kept_y;
    z->rounding += first ? rounding : rounding + DBL_EPSILON * trace(t->m, t->C);
    return OKRA_OK;
}

static okra_status add_pairs(okra_context *ctx, const okra_problem_ *p, double sign,
                             total *z)
{
    okra_status st = OKRA_OK;
    okra_moments_ *t = &z->t, more = {0};
    if (!p) {
        return OKRA_OK;
    }
    TRY(okra_moments_create_(ctx, p, t->D != NULL, 0, &more));
    t->total += sign * more.total;
    add_all(t->m * t->m, sign, more.C, t->C);
    add_all(t->m * t->d, sign, more.R, t->R);
    add_all(t->d * t->d, sign, more.D, t->D);
    add_all(t->m, sign * more.total, more.phi, t->phi);
    add_all(t->d, sign * more.total, more.psi, t->psi);
    t->kept_y += sign * more.kept_y;
    add_trace(sign, whole_trace(more.kept_x, more.error_x), &z->trace_x);
    add_trace(sign, whole_trace(more.kept_y, more.error_y), &z->trace_y);
    /* The larger of both sums is what was rounded. */
    z->rounding += DBL_EPSILON * (more.kept_x + fmax(trace(t->m, t->C), more.kept_x));
done:
    okra_moments_clear_(&more);
    return st;
}

static double share_missing(double all, double kept)
{
    return all < 0 ? -1 : all > 0 ? fmax(all - kept, 0) / all : 0;
}

/* Sums become means, and what is told of the whole. */
static void finish(const okra_sum_ *s, total *z)
{
    okra_moments_ *t = &z->t;
    t->n = s->whole->n;
    for (okra_int i = 0; i < t->m; i++) {
        t->phi[i] /= t->total;
    }
    for (okra_int j = 0; j < t->d; j++) {
        t->psi[j] /= t->total;
    }
    t->kept_x = trace(t->m, t->C);
    t->error_x = share_missing(z->trace_x, t->kept_x);
    t->error_y = share_missing(z->trace_y, t->kept_y);
    t->solved = true;
}

static okra_status sum_up(okra_context *ctx, const okra_sum_ *s, total *z)
{
    CHK(begin(ctx, s->bags[0], z));
    for (size_t k = 0; k < s->count; k++) {
        CHK(add_bag(s->bags[k], k == 0, z));
    }
    CHK(add_pairs(ctx, s->less, -1, z));
    return add_pairs(ctx, s->more, 1, z);
}

/* ---- the model of the sum ---- */

/* The operator as its text says, A from the bag: no file is opened. */
static okra_status read_operator(okra_context *ctx, const okra_sum_ *s,
                                 okra_operator_ *op)
{
    okra_int rows = 0, cols = 0;
    const char *text = okra_bag_get_text_(s->bags[0], "operator");
    const double *A = okra_bag_get_(s->bags[0], "moments.A", &rows, &cols);
    if (A) {
        op->kind = OKRA_OPERATOR_MATRIX;
        MAKE(op->A, rows * cols);
        memcpy(op->A, A, (size_t)(rows * cols) * sizeof *A);
    } else if (strncmp(text, "matrix:", 7) == 0 || strncmp(text, "graph:", 6) == 0) {
        return okra_fail_(OKRA_EFORMAT,
                          "the model does not keep the matrix of its operator");
    } else {
        CHK(okra_operator_read_(ctx, text, s->whole, op));
    }
    bool covariances = op->kind == OKRA_OPERATOR_COV || op->kind == OKRA_OPERATOR_CCOV;
    if (covariances && !okra_bag_get_(s->bags[0], "moments.D", &rows, &cols)) {
        return okra_fail_(OKRA_EFORMAT,
                          "the model does not keep the moments of its outputs");
    }
    return OKRA_OK;
}

okra_status okra_ridge_sum_(okra_context *ctx, okra_sum_ *s, const okra_options *options,
                            okra_bag_ *bag)
{
    okra_status st = OKRA_OK;
    okra_operator_ op = {.kind = OKRA_OPERATOR_IDENTITY};
    okra_bag_ *const bags[] = {bag};
    double lambda = okra_strtod_(okra_options_get(options, "lambda"), NULL),
           epsilon = okra_strtod_(okra_options_get(options, "epsilon"), NULL), center = 0;
    okra_ridge_ r = {.ctx = ctx,
                     .p = s->whole,
                     .lambda = &lambda,
                     .count = 1,
                     .bags = bags,
                     .keep_moments = true};
    total z = {.rounding = 0};
    TRY(read_operator(ctx, s, &op));
    TRY(sum_up(ctx, s, &z));
    okra_bag_get_number_(s->bags[0], "center", &center);
    r.center = center != 0;
    TRY(keep(&z, 1, op.A, s->whole->map_x, bag));
    finish(s, &z);
    s->drift = z.t.kept_x > 0 ? z.rounding / z.t.kept_x : 0;
    if (!(s->drift <= drift_most)) {
        okra_warn_(ctx,
                   "ridge: so much was subtracted from the moments that what is left is "
                   "good to %.1e of itself: a fit on the pairs that are left is better",
                   s->drift);
    }
    TRY(okra_ridge_of_moments_(&r, &op, epsilon, &z.t));
    TRY(okra_bag_put_text_(bag, "operator", okra_bag_get_text_(s->bags[0], "operator")));
    TRY(okra_bag_put_number_(bag, "lambda", lambda));
    TRY(okra_bag_put_number_(bag, "center", center));
    TRY(okra_bag_put_number_(bag, "drift", s->drift));
    TRY(okra_problem_put_weights_(s->whole, bag));
done:
    okra_free_(op.A);
    okra_moments_clear_(&z.t);
    return st;
}
