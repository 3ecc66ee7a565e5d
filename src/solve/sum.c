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
 * Rounding: moments of pairs come with eps tr(C), eps sqrt(tr(C) tr(D)_j) in column j of
 * R, and eps tr(D); an addition leaves eps of what stands there after. The sums of these
 * over all steps are kept (rounding, in units of C, of the columns of R, of D). Over what
 * the pairs that are left would have by themselves they are the drift, the largest of
 * them; psi' psi of the pairs that are left is summed anew, for what is subtracted may be
 * larger by far. The drift grows by one eps with each addition, and beyond that where
 * most of what was added is subtracted again: from 1e-12 on there is a warning, again
 * where it has doubled; from 1e-3 on there is no model.
 */
#include "solve/sum.h"

#include <float.h>
#include <math.h>
#include <string.h>

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
    REFUSE_IF(!values || r != rows || c != cols, OKRA_EARG,
              "the models do not keep the same moments: '%s' is %lld x %lld in one and "
              "%lld x %lld in another",
              name, (long long)rows, (long long)cols, (long long)r, (long long)c);
    add_all(rows * cols, 1, values, to);
    return OKRA_OK;
}

static okra_status begin(okra_context *ctx, const okra_bag_ *bag, okra_total_ *z)
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
    ZMAKE(z->of_R, t->d);
    return OKRA_OK;
}

/* What an addition leaves. */
static void round_sums(okra_total_ *z)
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

static okra_status add_bag(const okra_bag_ *bag, bool first, okra_total_ *z)
{
    okra_moments_ *t = &z->t;
    double rounding = 0, of_D = 0, kept_y = 0, weight = 0, x = -1, y = -1;
    okra_int one;
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
    z->rounding += rounding;
    okra_bag_get_number_(bag, "moments.rounding-D", &of_D);
    z->of_D += of_D;
    if (okra_bag_get_(bag, "moments.rounding-R", &one, &one)) {
        CHK(add_kept(bag, "moments.rounding-R", 1, t->d, z->of_R));
    }
    if (!first) {
        round_sums(z);
    }
    return OKRA_OK;
}

static okra_status add_pairs(okra_context *ctx, const okra_problem_ *p, double sign,
                             okra_total_ *z)
{
    FREED_BY(okra_moments_clear_) okra_moments_ more = {0};
    okra_moments_ *t = &z->t;
    if (!p) {
        return OKRA_OK;
    }
    CHK(okra_moments_create_(ctx, p, t->D != NULL, 0, &more));
    t->total += sign * more.total;
    add_all(t->m * t->m, sign, more.C, t->C);
    add_all(t->m * t->d, sign, more.R, t->R);
    add_all(t->d * t->d, sign, more.D, t->D);
    add_all(t->m, sign * more.total, more.phi, t->phi);
    add_all(t->d, sign * more.total, more.psi, t->psi);
    t->kept_y += sign * more.kept_y;
    add_trace(sign, okra_total_trace_(more.kept_x, more.error_x), &z->trace_x);
    add_trace(sign, okra_total_trace_(more.kept_y, more.error_y), &z->trace_y);
    CHK(okra_total_round_(p, &more, z));
    round_sums(z);
    return OKRA_OK;
}

static double share_missing(double all, double kept)
{
    return all < 0 ? -1 : all > 0 ? fmax(all - kept, 0) / all : 0;
}

/* Sums become means, and what is told of the whole. */
static void finish(const okra_sum_ *s, okra_total_ *z)
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

/* Those of the bags, less those that go, then those that come. */
static okra_status gather_keys(const okra_sum_ *s, okra_total_ *z)
{
    okra_int n = s->whole->n, come = s->more ? s->more->n : 0, at = 0, gone = 0;
    for (size_t k = 0; k < s->count; k++) {
        if (!okra_bag_mat_(s->bags[k], "moments.keys")
                 .p) { /* an older okra wrote the model */
            return OKRA_OK;
        }
    }
    ZMAKE(z->keys, n);
    for (size_t k = 0; k < s->count; k++) {
        okra_mat_ keys = okra_bag_mat_(s->bags[k], "moments.keys");
        for (okra_int i = 0; i < keys.cols && at < n - come; i++) {
            bool goes = gone < s->removed_count && s->removed[gone] == i;
            gone += goes;
            z->keys[at] = keys.p[i];
            at += !goes;
        }
    }
    if (come > 0) {
        okra_total_keys_(s->more, z->keys + n - come);
    }
    return OKRA_OK;
}

static okra_status sum_up(okra_context *ctx, const okra_sum_ *s, okra_total_ *z)
{
    CHK(begin(ctx, s->bags[0], z));
    for (size_t k = 0; k < s->count; k++) {
        CHK(add_bag(s->bags[k], k == 0, z));
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
static void forget_output(okra_int j, okra_total_ *z)
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

static okra_status find_drift(okra_sum_ *s, okra_total_ *z)
{
    OWNED double *squares = NULL;
    okra_moments_ *t = &z->t;
    double all = 0, kept_x = trace(t->m, t->C);
    ZMAKE(squares, t->d);
    okra_total_squares_(s->whole, t->d, t->kept_y, squares);
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
        double told = 0;
        okra_bag_get_number_(s->bags[k], "drift", &told);
        before = fmax(before, told);
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
    REFUSE_IF(covariances && !okra_bag_get_(s->bags[0], "moments.D", &rows, &cols),
              OKRA_EFORMAT, "the model does not keep the moments of its outputs");
    return OKRA_OK;
}

okra_status okra_solution_sum_(okra_context *ctx, okra_sum_ *s,
                               const okra_options *options, okra_bag_ *bag)
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
    okra_total_ z = {.rounding = 0};
    TRY(read_operator(ctx, s, &op));
    TRY(sum_up(ctx, s, &z));
    okra_bag_get_number_(s->bags[0], "center", &center);
    r.center = center != 0;
    TRY(find_drift(s, &z));
    TRY(judge_drift(ctx, s));
    TRY(okra_total_keep_(&z, 1, op.A, s->whole->n, s->whole->map_x, bag));
    finish(s, &z);
    TRY(okra_ridge_of_moments_(&r, &op, epsilon, &z.t));
    TRY(okra_bag_put_text_(bag, "operator", okra_bag_get_text_(s->bags[0], "operator")));
    TRY(okra_bag_put_number_(bag, "lambda", lambda));
    TRY(okra_bag_put_number_(bag, "center", center));
    TRY(okra_bag_put_number_(bag, "drift", s->drift));
    TRY(okra_problem_put_weights_(s->whole, bag));
done:
    FREE(op.A, z.of_R, z.keys);
    okra_moments_clear_(&z.t);
    return st;
}
