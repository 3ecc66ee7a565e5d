/*
 * sum.c: ridge of low rank whose pairs come and go, or come from several models.
 *
 * What the solution needs of the pairs are sums over them (moments.c):
 *     C = Phi'Phi (m x m),  R = Phi'Psi (m x d),  D = Psi'Psi (d x d; cov and ccov),
 *     sums of phi and of psi.
 * A model that keeps them, and the basis that phi is made from, needs no training input
 * again: moments of more pairs are added, those of pairs that go subtracted, m^2 + m d a
 * pair, and the solution is that of low.c, m^3/3. Models with one basis add up in
 * the order given, one after the other: the same models in the same order give the same
 * bits, and ((a + b) + c) is a + b + c to the bit; another grouping moves the last bits.
 *
 * Rounding: moments of pairs come with eps tr(C), eps sqrt(tr(C) tr(D)_j) in column j of
 * R, and eps tr(D); an addition leaves eps of what stands there after. The sums of these
 * over all steps are kept (rounding, in units of C, of the columns of R, of D). Over what
 * the pairs that are left would have by themselves they are the drift, the largest of
 * them; psi' psi of the pairs that are left is summed anew, for what is subtracted may be
 * larger by far. The drift grows by one eps with each addition, and beyond that where
 * most of what was added is subtracted again: from 1e-12 on there is a warning, again
 * where it has doubled; from 1e-3 on there is no model.
 */
#include "solve/moments.h"
#include "solve/ridge.h"
#include "kernel/lowrank/lowrank.h"

/* Moments, and their report. */
typedef struct total {
    okra_moments_ t;         /* sums in phi and psi, where stores add up */
    double trace_x, trace_y; /* tr(K), tr(L); < 0: not told            */
    double rounding;         /* of C                                   */
    double *of_R, of_D;      /* d: of the columns of R; of D           */
    double *keys;            /* n: of the inputs, or NULL: not told    */
} total;

/* Names of the sums, as okra_moments_list_ orders them, and of numbers that add up. */
enum { D = 2, SUMS = 5, NUMBERS = 4 };
static const char *const sums[SUMS] = {"moments.C", "moments.R", "moments.D",
                                       "moments.phi", "moments.psi"};
static const struct {
    const char *name;
    size_t at;
} numbers[NUMBERS] = {{"moments.total", offsetof(total, t.total)},
                      {"moments.kept-y", offsetof(total, t.kept_y)},
                      {"moments.rounding", offsetof(total, rounding)},
                      {"moments.rounding-D", offsetof(total, of_D)}};

static okra_int rows_of(const okra_moments_ *t, int sum)
{
    return sum < D ? t->m : sum == D ? t->d : 1;
}

/* ---- what a model keeps of them ---- */

okra_status okra_moments_put_(const okra_moments_ *t, const okra_problem_ *p,
                              okra_store_ *store)
{
    CHK(okra_store_put_number_(store, "x.rank", (double)t->m));
    if (t->error_x >= 0) {
        CHK(okra_store_put_number_(store, "x.trace-error", t->error_x));
    }
    if (p->map_y) {
        CHK(okra_store_put_number_(store, "y.rank", (double)t->d));
    }
    return p->map_y && t->error_y >= 0
               ? okra_store_put_number_(store, "y.trace-error", t->error_y)
               : OKRA_OK;
}

/* A copy times `scale`. */
static okra_status put(okra_store_ *store, const char *name, const double *values,
                       okra_int rows, okra_int cols, double scale)
{
    OWNED double *copy = NULL;
    MAKE(copy, rows * cols);
    for (okra_int i = 0; i < rows * cols; i++) {
        copy[i] = scale * values[i];
    }
    return okra_store_put_(store, name, &copy, rows, cols);
}

/* Copies of the n pairs' moments, sums `times` those in phi and psi; of A (NULL: none);
 * of what the map is beside its objects. */
static okra_status total_keep(const total *z, double times, const double *A, okra_int n,
                              const okra_map_ *map, okra_store_ *store)
{
    okra_moments_ t = z->t;
    okra_moments_sums_ all = okra_moments_list_(&t);
    REFUSE_IF(!isfinite(t.kept_y), OKRA_ENUMERIC,
              "ridge: the sum of the squares of the outputs overflows: keep-moments "
              "needs smaller ones, below 1e150");
    CHK(okra_map_save_over_(map, store, "basis"));
    for (int k = 0; k < SUMS; k++) {
        okra_int rows = rows_of(&t, k);
        CHK(all.p[k] ? put(store, sums[k], all.p[k], rows, all.size[k] / rows,
                           k > D ? times : 1)
                     : OKRA_OK);
    }
    for (int k = 0; k < NUMBERS; k++) {
        double value;
        memcpy(&value, (const char *)z + numbers[k].at, sizeof value);
        CHK(okra_store_put_number_(store, numbers[k].name, value));
    }
    CHK(A ? put(store, "moments.A", A, t.d, t.d, 1) : OKRA_OK);
    CHK(put(store, "moments.rounding-R", z->of_R, 1, t.d, 1));
    if (z->keys) {
        CHK(put(store, "moments.keys", z->keys, 1, n, 1));
    }
    CHK(z->trace_x < 0 ? OKRA_OK
                       : okra_store_put_number_(store, "moments.trace-x", z->trace_x));
    return z->trace_y < 0 ? OKRA_OK
                          : okra_store_put_number_(store, "moments.trace-y", z->trace_y);
}

/* tr(K) of what features keep of it and the share that they miss; < 0: not told. */
static double total_trace(double kept, double error)
{
    return error >= 0 && error < 1 ? kept / (1 - error) : -1;
}

/* Keys of the inputs of pairs, by which they are known when they go. */
static void total_keys(const okra_problem_ *p, double *keys)
{
    for (okra_int i = 0; i < p->n; i++) {
        keys[i] = okra_data_key_(p->x, i);
    }
}

/* squares (d) += sums of squares of the output features: of each, or of all where they
 * are of a map, whose features have one size. */
static void total_squares(const okra_problem_ *p, okra_int d, double kept,
                          double *squares)
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

/* What moments of pairs come with, added to what is there. */
static okra_status total_round(const okra_problem_ *p, const okra_moments_ *t, total *z)
{
    OWNED double *squares = NULL;
    ZMAKE(squares, t->d);
    total_squares(p, t->d, t->kept_y, squares);
    z->rounding += DBL_EPSILON * t->kept_x;
    z->of_D += DBL_EPSILON * t->kept_y;
    for (okra_int j = 0; j < t->d; j++) {
        z->of_R[j] += DBL_EPSILON * sqrt(t->kept_x) * sqrt(squares[j]);
    }
    return OKRA_OK;
}

okra_status okra_ridge_keep_moments_(const okra_problem_ *p, const okra_moments_ *t,
                                     const double *A, okra_store_ *store)
{
    OWNED double *keys = NULL, *of_R = NULL;
    MAKE(keys, p->n);
    ZMAKE(of_R, t->d);
    total_keys(p, keys);
    total z = {.t = *t,
               .trace_x = total_trace(t->kept_x, t->error_x),
               .trace_y = total_trace(t->kept_y, t->error_y),
               .of_R = of_R,
               .keys = keys};
    CHK(total_round(p, t, &z));
    return total_keep(&z, t->total, A, p->n, p->map_x, store);
}

static const double drift_told = 1e-12, drift_most = 1e-3;

/* ---- sums ---- */

static double trace(okra_int m, const double *C)
{
    double sum = 0;
    for (okra_int i = 0; i < m; i++) {
        sum += C[i * m + i];
    }
    return sum;
}

static void add_trace(double sign, double part, double *sum)
{
    *sum = *sum < 0 || part < 0 ? -1 : *sum + sign * part;
}

/* One matrix of a store onto the sum, which has its shape: rows x cols. */
static okra_status add_kept(const okra_store_ *store, const char *name, okra_int rows,
                            okra_int cols, double *to)
{
    okra_int r = 0, c = 0;
    const double *values = okra_store_get_(store, name, &r, &c);
    REFUSE_IF(!values || r != rows || c != cols, OKRA_EARG,
              "the models do not keep the same moments: '%s' is %lld x %lld in one and "
              "%lld x %lld in another",
              name, (long long)rows, (long long)cols, (long long)r, (long long)c);
    okra_axpy_(rows * cols, 1, values, to);
    return OKRA_OK;
}

static okra_status begin(okra_context *ctx, const okra_store_ *store, total *z)
{
    okra_moments_ *t = &z->t;
    okra_store_get_(store, "moments.R", &t->m, &t->d);
    CHK(okra_moments_room_(ctx, okra_store_has_(store, "moments.D"), t));
    ZMAKE(z->of_R, t->d);
    return OKRA_OK;
}

/* What an addition leaves. */
static void round_sums(total *z)
{
    const okra_moments_ *t = &z->t;
    z->rounding += DBL_EPSILON * fabs(trace(t->m, t->C));
    z->of_D += t->D ? DBL_EPSILON * fabs(trace(t->d, t->D)) : 0;
    for (okra_int j = 0; j < t->d; j++) {
        double squares = 0;
        for (okra_int i = 0; i < t->m; i++) {
            squares += t->R[i * t->d + j] * t->R[i * t->d + j];
        }
        z->of_R[j] += DBL_EPSILON * sqrt(squares);
    }
}

static okra_status add_store(const okra_store_ *store, bool first, total *z)
{
    okra_moments_sums_ all = okra_moments_list_(&z->t);
    okra_int one;
    for (int k = 0; k < SUMS; k++) {
        okra_int rows = rows_of(&z->t, k);
        CHK(all.p[k] ? add_kept(store, sums[k], rows, all.size[k] / rows, all.p[k])
                     : OKRA_OK);
    }
    for (int k = 0; k < NUMBERS; k++) {
        *(double *)((char *)z + numbers[k].at) +=
            okra_store_number_(store, numbers[k].name, 0);
    }
    add_trace(1, okra_store_number_(store, "moments.trace-x", -1), &z->trace_x);
    add_trace(1, okra_store_number_(store, "moments.trace-y", -1), &z->trace_y);
    if (okra_store_get_(store, "moments.rounding-R", &one, &one)) {
        CHK(add_kept(store, "moments.rounding-R", 1, z->t.d, z->of_R));
    }
    if (!first) {
        round_sums(z);
    }
    return OKRA_OK;
}

static okra_status add_pairs(okra_context *ctx, const okra_problem_ *p, double sign,
                             total *z)
{
    FREED_BY(okra_moments_clear_) okra_moments_ more = {0};
    okra_moments_ *t = &z->t;
    if (!p) {
        return OKRA_OK;
    }
    CHK(okra_moments_create_(ctx, p, t->D != NULL, 0, NULL, &more));
    for (okra_int i = 0; i < t->m; i++) { /* sums, not means */
        more.phi[i] *= more.total;
    }
    okra_scale_(t->d, more.total, more.psi);
    t->total += sign * more.total;
    okra_moments_add_(sign, &more, t);
    add_trace(sign, total_trace(more.kept_x, more.error_x), &z->trace_x);
    add_trace(sign, total_trace(more.kept_y, more.error_y), &z->trace_y);
    CHK(total_round(p, &more, z));
    round_sums(z);
    return OKRA_OK;
}

static double share_missing(double all, double kept)
{
    return all < 0 ? -1 : all > 0 ? fmax(all - kept, 0) / all : 0;
}

/* Sums become means, and the report of the whole. */
static void finish(const okra_sum_ *s, total *z)
{
    okra_moments_ *t = &z->t;
    t->n = s->whole->n;
    okra_scale_down_(t->m, t->total, t->phi);
    okra_scale_down_(t->d, t->total, t->psi);
    t->kept_x = trace(t->m, t->C);
    t->error_x = share_missing(z->trace_x, t->kept_x);
    t->error_y = share_missing(z->trace_y, t->kept_y);
    t->solved = true;
}

/* Those of the stores, less those that go, then those that come. */
static okra_status gather_keys(const okra_sum_ *s, total *z)
{
    okra_int n = s->whole->n, come = s->more ? s->more->n : 0, at = 0, gone = 0;
    for (size_t k = 0; k < s->count; k++) {
        if (!okra_store_mat_(s->stores[k], "moments.keys")
                 .p) { /* an older okra wrote the model */
            return OKRA_OK;
        }
    }
    ZMAKE(z->keys, n);
    for (size_t k = 0; k < s->count; k++) {
        okra_mat_ keys = okra_store_mat_(s->stores[k], "moments.keys");
        for (okra_int i = 0; i < keys.cols && at < n - come; i++) {
            bool goes = gone < s->removed_count && s->removed[gone] == i;
            gone += goes;
            z->keys[at] = keys.p[i];
            at += !goes;
        }
    }
    if (come > 0) {
        total_keys(s->more, z->keys + n - come);
    }
    return OKRA_OK;
}

static okra_status sum_up(okra_context *ctx, const okra_sum_ *s, total *z)
{
    CHK(begin(ctx, s->stores[0], z));
    for (size_t k = 0; k < s->count; k++) {
        CHK(add_store(s->stores[k], k == 0, z));
    }
    CHK(add_pairs(ctx, s->less, -1, z));
    CHK(add_pairs(ctx, s->more, 1, z));
    return gather_keys(s, z);
}

/* ---- what rounding has left ---- */

static double share(double off, double whole)
{
    return off <= 0 ? 0 : whole > off ? off / whole : 1;
}

/* An output that is 0 in all pairs that are left has no moments. */
static void forget_output(okra_int j, total *z)
{
    okra_moments_ *t = &z->t;
    for (okra_int i = 0; i < t->m; i++) {
        t->R[i * t->d + j] = 0;
    }
    for (okra_int i = 0; t->D && i < t->d; i++) {
        t->D[i * t->d + j] = t->D[j * t->d + i] = 0;
    }
    t->psi[j] = z->of_R[j] = 0;
}

static okra_status find_drift(okra_sum_ *s, total *z)
{
    OWNED double *squares = NULL;
    okra_moments_ *t = &z->t;
    double all = 0, kept_x = trace(t->m, t->C);
    ZMAKE(squares, t->d);
    total_squares(s->whole, t->d, t->kept_y, squares);
    s->drift = share(z->rounding, kept_x);
    for (okra_int j = 0; j < t->d; j++) {
        all += squares[j];
        if (s->whole->features && squares[j] == 0) {
            forget_output(j, z);
        }
        s->drift =
            fmax(s->drift, share(z->of_R[j], sqrt(fmax(kept_x, 0)) * sqrt(squares[j])));
    }
    t->kept_y = s->whole->features ? all : t->kept_y;
    s->drift = t->D ? fmax(s->drift, share(z->of_D, t->kept_y)) : s->drift;
    return OKRA_OK;
}

/* How often it has doubled since it was told first; 0: it was not. */
static int doublings(double drift)
{
    return drift > drift_told ? ilogb(drift / drift_told) + 1 : 0;
}

static okra_status judge_drift(okra_context *ctx, const okra_sum_ *s)
{
    double before = 0;
    for (size_t k = 0; k < s->count; k++) {
        before = fmax(before, okra_store_number_(s->stores[k], "drift", 0));
    }
    REFUSE_IF(!(s->drift < drift_most), OKRA_ENUMERIC,
              "ridge: the moments of the pairs that go are so much larger than those of "
              "the pairs that stay that what is left is wrong by up to %.0e of itself: "
              "fit the pairs that stay anew, with keep-moments",
              s->drift);
    if (doublings(s->drift) > doublings(before)) {
        okra_warn_(ctx,
                   "ridge: rounding in the moments has added up to %.1e of those of the "
                   "pairs that are left: a fit on these, with keep-moments, begins anew",
                   s->drift);
    }
    return OKRA_OK;
}

/* ---- the model of the sum ---- */

/* The operator as its text says, A from the store: no file is opened. */
static okra_status read_operator(okra_context *ctx, const okra_sum_ *s,
                                 okra_operator_ *op)
{
    okra_int rows = 0, cols = 0;
    const char *text = okra_store_get_text_(s->stores[0], "operator");
    const double *A = okra_store_get_(s->stores[0], "moments.A", &rows, &cols);
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
    REFUSE_IF(covariances && !okra_store_get_(s->stores[0], "moments.D", &rows, &cols),
              OKRA_EFORMAT, "the model does not keep the moments of its outputs");
    return OKRA_OK;
}

static void total_clear(total *z)
{
    FREE(z->of_R, z->keys);
    okra_moments_clear_(&z->t);
}

okra_status okra_solution_sum_(okra_context *ctx, okra_sum_ *s,
                               const okra_options *options, okra_store_ *store)
{
    okra_operator_ op = {.kind = OKRA_OPERATOR_IDENTITY};
    okra_store_ *const stores[] = {store};
    double lambda = okra_strtod_(okra_options_get(options, "lambda"), NULL),
           epsilon = okra_strtod_(okra_options_get(options, "epsilon"), NULL),
           center = okra_store_number_(s->stores[0], "center", 0);
    okra_ridge_ r = {.ctx = ctx,
                     .p = s->whole,
                     .lambda = &lambda,
                     .count = 1,
                     .stores = stores,
                     .keep_moments = true};
    FREED_BY(total_clear) total z = {.rounding = 0};
    OWNS(&op.A);
    CHK(read_operator(ctx, s, &op));
    CHK(sum_up(ctx, s, &z));
    r.center = center != 0;
    CHK(find_drift(s, &z));
    CHK(judge_drift(ctx, s));
    CHK(total_keep(&z, 1, op.A, s->whole->n, s->whole->map_x, store));
    finish(s, &z);
    CHK(okra_ridge_of_moments_(&r, &op, epsilon, &z.t));
    CHK(okra_store_put_text_(store, "operator",
                             okra_store_get_text_(s->stores[0], "operator")));
    CHK(okra_store_put_number_(store, "lambda", lambda));
    CHK(okra_store_put_number_(store, "center", center));
    CHK(okra_store_put_number_(store, "drift", s->drift));
    return okra_problem_put_weights_(s->whole, store);
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
static const okra_schema_ kept_factor[] = {
    OKRA_KEEPS_MATRIX_("factor", OKRA_KEPT_FACTOR_, "n", "n"),
    OKRA_KEEPS_SAME_("inputs", "c", "n"),
    OKRA_KEEPS_MATRIX_("coefficients", OKRA_KEPT_OPTIONAL_, "c", "d"),
    RIDGE_COMMON,
    OKRA_KEPT_END_};
static const okra_schema_ kept_weights[] = {
    OKRA_KEEPS_MATRIX_("B", 0, "n", "c"),
    OKRA_KEEPS_MATRIX_("coefficients", OKRA_KEPT_OPTIONAL_, "c", "d"),
    RIDGE_COMMON,
    OKRA_KEPT_END_};
static const okra_schema_ kept_embedding[] = {
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
    OKRA_KEEPS_TOLD_("mixed.steps"),
    OKRA_KEEPS_TOLD_("mixed.residual"),
    RIDGE_MOMENTS,
    OKRA_KEPT_END_};
const okra_schema_ *const okra_solution_kept_[] = {kept_factor, kept_weights, kept_embedding, NULL};
/* clang-format on */

/* What tables cannot say: all of them or none, and a basis under them. */
okra_status okra_solution_check_(const okra_store_ *store, const okra_facts_ *facts)
{
    static const char *const more[] = {"moments.A", "moments.keys", "moments.rounding-R"};
    double number = 0;
    okra_int columns = okra_sizes_get_(facts->sizes, "c"),
             m = okra_sizes_get_(facts->sizes, "m");
    bool any = false, all = true;
    for (int k = 0; k < SUMS; k++) {
        bool has = okra_store_has_(store, sums[k]);
        any = any || has || (k < 3 && okra_store_has_(store, more[k]));
        all = all && (has || k == D);
    }
    for (int k = 0; k < 3; k++) { /* total, kept-y, rounding */
        bool has = okra_store_get_number_(store, numbers[k].name, &number);
        any = any || has;
        all = all && has;
    }
    bool waves = okra_store_get_number_(store, "basis.scale", &number);
    bool factor = okra_store_has_(store, "basis.factor");
    bool sketch =
        okra_store_has_(store, "basis.sketch") || okra_store_has_(store, "basis.start") ||
        okra_store_has_(store, "basis.value") || okra_store_has_(store, "basis.column");
    bool basis = waves || factor;
    REFUSE_IF(any && (!all || !basis), OKRA_EFORMAT,
              "the moments that the model keeps are not whole");
    double rank = okra_store_number_(store, "x.rank", 0);
    double are_waves = okra_store_number_(store, "x.waves", 0);
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
