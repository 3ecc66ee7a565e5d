/*
 * keep_moments.c: the moments that a model of ridge of low rank keeps (ridge_sum.c adds
 * them up), and whether those of a file are whole.
 */
#include "kernel/lowrank/lowrank.h"
#include "solve/sum.h"

#include <float.h>
#include <math.h>

okra_status okra_moments_put_(const okra_moments_ *t, const okra_problem_ *p,
                              okra_bag_ *bag)
{
    CHK(okra_bag_put_number_(bag, "x.rank", (double)t->m));
    if (t->error_x >= 0) {
        CHK(okra_bag_put_number_(bag, "x.trace-error", t->error_x));
    }
    if (p->map_y) {
        CHK(okra_bag_put_number_(bag, "y.rank", (double)t->d));
    }
    if (p->map_y && t->error_y >= 0) {
        CHK(okra_bag_put_number_(bag, "y.trace-error", t->error_y));
    }
    return OKRA_OK;
}

/* A copy times `scale`. */
static okra_status put(okra_bag_ *bag, const char *name, const double *values,
                       okra_int rows, okra_int cols, double scale)
{
    OWNED double *copy = NULL;
    MAKE(copy, rows * cols);
    for (okra_int i = 0; i < rows * cols; i++) {
        copy[i] = scale * values[i];
    }
    return okra_bag_put_(bag, name, &copy, rows, cols);
}

okra_status okra_total_keep_(const okra_total_ *z, double times, const double *A,
                             okra_int n, const okra_map_ *map, okra_bag_ *bag)
{
    const okra_moments_ *t = &z->t;
    REFUSE_IF(!isfinite(t->kept_y), OKRA_ENUMERIC,
              "ridge: the sum of the squares of the outputs overflows: keep-moments "
              "needs smaller ones, below 1e150");
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
    CHK(okra_bag_put_number_(bag, "moments.rounding-D", z->of_D));
    CHK(put(bag, "moments.rounding-R", z->of_R, 1, t->d, 1));
    if (z->keys) {
        CHK(put(bag, "moments.keys", z->keys, 1, n, 1));
    }
    CHK(z->trace_x < 0 ? OKRA_OK
                       : okra_bag_put_number_(bag, "moments.trace-x", z->trace_x));
    return z->trace_y < 0 ? OKRA_OK
                          : okra_bag_put_number_(bag, "moments.trace-y", z->trace_y);
}

double okra_total_trace_(double kept, double error)
{
    return error >= 0 && error < 1 ? kept / (1 - error) : -1;
}

void okra_total_keys_(const okra_problem_ *p, double *keys)
{
    for (okra_int i = 0; i < p->n; i++) {
        keys[i] = okra_data_key_(p->x, i);
    }
}

void okra_total_squares_(const okra_problem_ *p, okra_int d, double kept, double *squares)
{
    /* outputs of low rank have other coordinates, and another number of them */
    bool own = p->features && !p->map_y && d == p->d;
    for (okra_int j = 0; j < d && !own; j++) {
        squares[j] += kept;
    }
    for (okra_int i = 0; own && i < p->n; i++) {
        double weight = p->weights ? p->weights[i] : 1;
        for (okra_int j = 0; j < d; j++) {
            double y = p->features[i * p->features_ld + j];
            squares[j] += weight * y * y;
        }
    }
}

okra_status okra_total_round_(const okra_problem_ *p, const okra_moments_ *t,
                              okra_total_ *z)
{
    OWNED double *squares = NULL;
    ZMAKE(squares, t->d);
    okra_total_squares_(p, t->d, t->kept_y, squares);
    z->rounding += DBL_EPSILON * t->kept_x;
    z->of_D += DBL_EPSILON * t->kept_y;
    for (okra_int j = 0; j < t->d; j++) {
        z->of_R[j] += DBL_EPSILON * sqrt(t->kept_x) * sqrt(squares[j]);
    }
    return OKRA_OK;
}

okra_status okra_ridge_keep_moments_(const okra_problem_ *p, const okra_moments_ *t,
                                     const double *A, okra_bag_ *bag)
{
    OWNED double *keys = NULL, *of_R = NULL;
    MAKE(keys, p->n);
    ZMAKE(of_R, t->d);
    okra_total_keys_(p, keys);
    okra_total_ z = {.t = *t,
                     .trace_x = okra_total_trace_(t->kept_x, t->error_x),
                     .trace_y = okra_total_trace_(t->kept_y, t->error_y),
                     .of_R = of_R,
                     .keys = keys};
    CHK(okra_total_round_(p, t, &z));
    return okra_total_keep_(&z, t->total, A, p->n, p->map_x, bag);
}

/* ---- what a model keeps, and what is checked of a file ---- */

/* Rows of the table of what is kept: m features of the inputs, d of the outputs. */
/* clang-format off */
#define RIDGE_MOMENTS \
    OKRA_KEEPS_MATRIX_("basis.factor", OKRA_KEPT_OPTIONAL_ | OKRA_KEPT_FACTOR_, "m", "m"), \
    OKRA_KEEPS_MATRIX_("basis.sketch", OKRA_KEPT_OPTIONAL_, "c", "m"), \
    OKRA_KEEPS_MATRIX_("basis.value", OKRA_KEPT_OPTIONAL_, "1", "e"), \
    OKRA_KEEPS_VALUES_("basis.column", OKRA_KEPT_OPTIONAL_ | OKRA_KEPT_WHOLE_, "1", "e", "0", "m-1"), \
    OKRA_KEEPS_VALUES_("basis.start", OKRA_KEPT_OPTIONAL_ | OKRA_KEPT_WHOLE_, "1", "c+1", "0", "e"), \
    OKRA_KEEPS_NUMBER_("basis.scale", OKRA_KEPT_OPTIONAL_ | OKRA_KEPT_POSITIVE_, NULL, NULL), \
    OKRA_KEEPS_MATRIX_("moments.C", OKRA_KEPT_OPTIONAL_, "m", "m"), \
    OKRA_KEEPS_MATRIX_("moments.R", OKRA_KEPT_OPTIONAL_, "m", "d"), \
    OKRA_KEEPS_MATRIX_("moments.D", OKRA_KEPT_OPTIONAL_, "d", "d"), \
    OKRA_KEEPS_MATRIX_("moments.A", OKRA_KEPT_OPTIONAL_, "d", "d"), \
    OKRA_KEEPS_MATRIX_("moments.phi", OKRA_KEPT_OPTIONAL_, "1", "m"), \
    OKRA_KEEPS_MATRIX_("moments.psi", OKRA_KEPT_OPTIONAL_, "1", "d"), \
    OKRA_KEEPS_NUMBER_("moments.total", OKRA_KEPT_OPTIONAL_ | OKRA_KEPT_POSITIVE_, NULL, NULL), \
    OKRA_KEEPS_NUMBER_("moments.kept-y", OKRA_KEPT_OPTIONAL_, NULL, NULL), \
    OKRA_KEEPS_NUMBER_("moments.trace-x", OKRA_KEPT_OPTIONAL_, NULL, NULL), \
    OKRA_KEEPS_NUMBER_("moments.trace-y", OKRA_KEPT_OPTIONAL_, NULL, NULL), \
    OKRA_KEEPS_NUMBER_("moments.rounding", OKRA_KEPT_OPTIONAL_, "0", NULL), \
    OKRA_KEEPS_NUMBER_("moments.rounding-D", OKRA_KEPT_OPTIONAL_, "0", NULL), \
    OKRA_KEEPS_VALUES_("moments.rounding-R", OKRA_KEPT_OPTIONAL_, "1", "d", "0", NULL), \
    OKRA_KEEPS_VALUES_("moments.keys", OKRA_KEPT_OPTIONAL_ | OKRA_KEPT_WHOLE_, "1", "n", \
                       "0", "9007199254740991")
#define RIDGE_COMMON \
    OKRA_KEEPS_MATRIX_("mean", OKRA_KEPT_OPTIONAL_, "1", "d"), \
    OKRA_KEEPS_MATRIX_("operator.A", OKRA_KEPT_OPTIONAL_, "d", "d"), \
    OKRA_KEEPS_TEXT_("operator", 0), \
    OKRA_KEEPS_NUMBER_("lambda", 0, "0", "1e300"), \
    OKRA_KEEPS_NUMBER_("center", OKRA_KEPT_WHOLE_, "0", "1"), \
    OKRA_KEEPS_TEXT_("graph", OKRA_KEPT_OPTIONAL_), \
    OKRA_KEEPS_TOLD_("jitter"), \
    OKRA_KEEPS_TOLD_("pairs"), \
    OKRA_KEEPS_TOLD_("drift"), \
    OKRA_KEEPS_TOLD_("lambda2")
#define RIDGE_FACTOR(k) OKRA_KEEPS_MATRIX_("factor." #k, OKRA_KEPT_FACTOR_ | \
                                           OKRA_KEPT_OPTIONAL_, "n", "n")
static const okra_kept_ kept_factor[] = {
    OKRA_KEEPS_MATRIX_("factor", OKRA_KEPT_FACTOR_, "n", "n"),
    OKRA_KEEPS_SAME_("inputs", "c", "n"),
    OKRA_KEEPS_MATRIX_("coefficients", OKRA_KEPT_OPTIONAL_, "c", "d"),
    RIDGE_COMMON,
    OKRA_KEPT_END_};
static const okra_kept_ kept_weights[] = {
    OKRA_KEEPS_MATRIX_("B", 0, "n", "c"),
    OKRA_KEEPS_MATRIX_("coefficients", OKRA_KEPT_OPTIONAL_, "c", "d"),
    RIDGE_COMMON,
    OKRA_KEPT_END_};
static const okra_kept_ kept_embedding[] = {
    OKRA_KEEPS_MATRIX_("coefficients", 0, "c", "d"),
    RIDGE_COMMON,
    RIDGE_FACTOR(0), RIDGE_FACTOR(1), RIDGE_FACTOR(2), RIDGE_FACTOR(3),
    RIDGE_FACTOR(4), RIDGE_FACTOR(5), RIDGE_FACTOR(6), RIDGE_FACTOR(7),
    RIDGE_FACTOR(8), RIDGE_FACTOR(9), RIDGE_FACTOR(10), RIDGE_FACTOR(11),
    RIDGE_FACTOR(12), RIDGE_FACTOR(13), RIDGE_FACTOR(14), RIDGE_FACTOR(15),
    OKRA_KEEPS_MATRIX_("slope", OKRA_KEPT_OPTIONAL_, "1", "d"),
    OKRA_KEEPS_VALUES_("output-lambda", OKRA_KEPT_OPTIONAL_, "1", "d", "0", "1e300"),
    OKRA_KEEPS_TOLD_("cg.steps"),
    OKRA_KEEPS_TOLD_("cg.residual"),
    RIDGE_MOMENTS,
    OKRA_KEPT_END_};
const okra_kept_ *const okra_solution_kept_[] = {kept_factor, kept_weights, kept_embedding, NULL};
/* clang-format on */

static bool has(const okra_bag_ *bag, const char *name)
{
    okra_int rows, cols;
    return okra_bag_get_(bag, name, &rows, &cols) != NULL;
}

/* What tables cannot say: all of them or none, and a basis under them. */
okra_status okra_solution_check_(const okra_bag_ *bag, const okra_facts_ *facts)
{
    static const char *const whole[] = {"moments.C", "moments.R", "moments.phi",
                                        "moments.psi"};
    double number = 0;
    okra_int columns = okra_sizes_get_(facts->sizes, "c"),
             m = okra_sizes_get_(facts->sizes, "m");
    bool any = has(bag, "moments.D") || has(bag, "moments.A") ||
               has(bag, "moments.keys") || has(bag, "moments.rounding-R") ||
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
    REFUSE_IF(any && (!all || !basis), OKRA_EFORMAT,
              "the moments that the model keeps are not whole");
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
    REFUSE_IF(!right, OKRA_EFORMAT,
              "the basis that the model keeps does not fit its inputs");
    return OKRA_OK;
}
