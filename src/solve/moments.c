/*
 * moments.c: one pass over the training set for C = Phi'Phi, R = Phi'Psi and D = Psi'Psi.
 *
 * Rows come in blocks that fit the memory budget; nothing of size n is kept. Cost: 2 n
 * m^2 (m the rank: features by a triangular solve, C by its lower half), 2 n m d for R,
 * n d^2 for D, and the kernel's values. Sums run over blocks in order, so that the block
 * size, which follows the budget, changes the last bits only. Rounding: C is good to
 * n eps max(k(x,x)) absolutely, which lambda then dominates.
 *
 * Half of that is the solve of every row, Phi = U F^-T (kernel/lowrank/lowrank.h). Where
 * the basis is well conditioned the sums are taken of U, the kernel's values, and solved
 * after, C = F^-1 U'U F^-T: n m^2 + 2 m^3, a gain from n = 4 m. Rounding of U'U is
 * multiplied by s = |F^-1|^2, |dC| ~ eps sqrt(m) max_j (U'U)_jj s, which was within a
 * factor of 1/5 to 2 of what was measured (six problems, s from 17 to 8e9), so this is
 * done where it is below 1e-8 of what the method adds to C, guessed from a few rows
 * before the pass and checked after it; predictions then moved by a fiftieth of that and
 * less.
 */
#include "solve/moments.h"

#include "kernel/lowrank/lowrank.h"

#include <float.h>
#include <math.h>

okra_int okra_problem_features_(const okra_problem_ *p)
{
    return p->map_y ? p->map_y->rank : p->features ? p->d : 0;
}

typedef struct buffers {
    double *X, *XS, *Y, *YS; /* values, and features where a sketch is between */
    double *E;               /* explicit features of outputs, where pairs have weights */
} buffers;

static bool copies_outputs(const okra_problem_ *p)
{
    return !p->map_y && p->features && (p->weights || (p->y && p->y->pieces));
}

static okra_status open_buffers(okra_context *ctx, const okra_problem_ *p, okra_int rows,
                                buffers *b)
{
    const okra_map_ *x = p->map_x, *y = p->map_y;
    CHK(okra_doubles_(ctx, rows, x->columns, "a block of input features", &b->X));
    if (x->sketch) {
        CHK(okra_doubles_(ctx, rows, x->rank, "a block of input features", &b->XS));
    }
    if (y) {
        CHK(okra_doubles_(ctx, rows, y->columns, "a block of output features", &b->Y));
    }
    if (y && y->sketch) {
        CHK(okra_doubles_(ctx, rows, y->rank, "a block of output features", &b->YS));
    }
    if (copies_outputs(p)) {
        CHK(okra_doubles_(ctx, rows, p->d, "a block of outputs", &b->E));
    }
    return OKRA_OK;
}

void okra_moments_weigh_(const okra_problem_ *p, okra_int first, okra_mat_ A)
{
    for (okra_int i = 0; p->weights && i < A.rows; i++) {
        double s = sqrt(p->weights[first + i]);
        for (okra_int j = 0; j < A.cols; j++) {
            A.p[i * A.ld + j] *= s;
        }
    }
}

/* Rows of Phi; `solved` false: of U, Phi = U F^-T. */
static okra_status features(okra_context *ctx, const okra_map_ *map,
                            const okra_data *data, okra_int first, okra_int rows,
                            bool solved, double *V, double *S, okra_mat_ *out)
{
    okra_mat_ Vm = okra_mat_of_(V, rows, map->columns);
    *out = S ? okra_mat_of_(S, rows, map->rank) : Vm;
    CHK(okra_map_values_(ctx, map, data, first, Vm));
    return solved ? okra_map_features_(ctx, map, Vm, *out)
                  : okra_map_sketched_(ctx, map, Vm, *out);
}

/* Explicit outputs: as they lie, or a copy in E where that is not NULL. */
static okra_status explicit_rows(const okra_problem_ *p, okra_int first, okra_int rows,
                                 double *E, okra_mat_ *Psi)
{
    if (p->y && p->y->pieces) {
        CHK(okra_stack_copy_(p->y, first, rows, E));
    } else {
        *Psi = okra_mat_view_(p->features + first * p->features_ld, rows, p->d,
                              p->features_ld);
        CHK(E ? okra_mat_copy_(*Psi, okra_mat_of_(E, rows, p->d)) : OKRA_OK);
    }
    *Psi = E ? okra_mat_of_(E, rows, p->d) : *Psi;
    return OKRA_OK;
}

/* The rows begin..end-1. */
static okra_status pass(okra_context *ctx, const okra_problem_ *p, okra_int begin,
                        okra_int end, const char *what, okra_int extra, bool solved,
                        okra_rows_fn_ each, void *user)
{
    const okra_map_ *x = p->map_x, *y = p->map_y;
    buffers b = {0};
    OWNS(&b.X, &b.XS, &b.Y, &b.YS, &b.E);
    okra_int width = x->columns + (x->sketch ? x->rank : 0) + extra;
    width += copies_outputs(p) ? p->d : 0;
    width += y ? y->columns + (y->sketch ? y->rank : 0) : 0;
    okra_int rows = okra_block_rows_(ctx, p->n, width);
    CHK(open_buffers(ctx, p, rows, &b));
    for (okra_int i = begin; i < end; i += rows) {
        okra_int some = OKRA_MIN_(rows, end - i);
        okra_mat_ Phi, Psi = {0};
        CHK(okra_cancelled_(ctx));
        CHK(features(ctx, x, p->x, i, some, solved, b.X, b.XS, &Phi));
        if (y) {
            CHK(features(ctx, y, p->y, i, some, true, b.Y, b.YS, &Psi));
        } else if (p->features) {
            CHK(explicit_rows(p, i, some, b.E, &Psi));
        }
        okra_moments_weigh_(p, i, Phi);
        okra_moments_weigh_(p, i, Psi);
        CHK(each(ctx, user, i, Phi, Psi));
        okra_progress_(ctx, what, i + some - begin, end - begin);
    }
    return OKRA_OK;
}

okra_status okra_moments_pass_(okra_context *ctx, const okra_problem_ *p,
                               const char *what, okra_int extra, okra_rows_fn_ each,
                               void *user)
{
    return pass(ctx, p, 0, p->n, what, extra, true, each, user);
}

okra_status okra_moments_pieces_(okra_context *ctx, okra_int most, okra_int first,
                                 okra_mat_ Phi, okra_mat_ Psi, okra_rows_fn_ each,
                                 void *user)
{
    for (okra_int at = 0; at < Phi.rows; at += most) {
        okra_int some = OKRA_MIN_(most, Phi.rows - at);
        CHK(each(ctx, user, first + at, okra_mat_part_(Phi, at, some, 0, Phi.cols),
                 okra_mat_part_(Psi, at, some, 0, Psi.cols)));
    }
    return OKRA_OK;
}

void okra_moments_add_means_(okra_mat_ A, const double *weights, double total,
                             double *mean, double *squares)
{
    for (okra_int i = 0; i < A.rows; i++) {
        const double *a = A.p + i * A.ld;
        double share = (weights ? sqrt(weights[i]) : 1) / total;
        *squares += okra_dot_(A.cols, a, a);
        for (okra_int j = 0; j < A.cols; j++) {
            mean[j] += share * a[j];
        }
    }
}

static okra_status gather(okra_context *ctx, void *user, okra_int first, okra_mat_ Phi,
                          okra_mat_ Psi)
{
    okra_moments_ *t = user;
    const double *weights = t->weights ? t->weights + first : NULL;
    double begun = first > t->first;
    double squares = 0; /* tr(C) tells those of Phi */
    CHK(okra_syrk_(ctx, true, 1, Phi, begun, okra_mat_of_(t->C, t->m, t->m)));
    okra_moments_add_means_(Phi, weights, t->total, t->phi, &squares);
    if (t->d > 0) {
        CHK(okra_gemm_(ctx, true, false, 1, Phi, Psi, begun,
                       okra_mat_of_(t->R, t->m, t->d)));
        okra_moments_add_means_(Psi, weights, t->total, t->psi, &t->kept_y);
    }
    if (t->D) {
        CHK(okra_syrk_(ctx, true, 1, Psi, begun, okra_mat_of_(t->D, t->d, t->d)));
    }
    return OKRA_OK;
}

/* Where many processes work together, each goes over its share of the rows. */
okra_status okra_moments_rows_(okra_context *ctx, const okra_problem_ *p, okra_int begin,
                               okra_int end, bool solved, okra_moments_ *t)
{
    okra_int count = 0;
    okra_engine_share_(ctx, end - begin, &t->first, &count);
    t->first += begin;
    okra_mat_fill_(okra_mat_of_(t->C, t->m, t->m), 0);
    okra_mat_fill_(okra_mat_of_(t->R, t->m, t->d), 0);
    okra_mat_fill_(okra_mat_of_(t->D, t->D ? t->d : 0, t->d), 0);
    CHK(pass(ctx, p, t->first, t->first + count, "moments", 0, solved, gather, t));
    CHK(okra_engine_sum_(ctx, t->m * t->m, t->C));
    CHK(okra_engine_sum_(ctx, t->m * t->d, t->R));
    CHK(okra_engine_sum_(ctx, t->D ? t->d * t->d : 0, t->D));
    CHK(okra_engine_sum_(ctx, t->m, t->phi));
    CHK(okra_engine_sum_(ctx, t->d, t->psi));
    return okra_engine_sum_(ctx, 1, &t->kept_y);
}

/* All of them in one pass; `solved` false: of U in the place of Phi. */
static okra_status collect(okra_context *ctx, const okra_problem_ *p,
                           const okra_keep_ *keep, bool solved, okra_moments_ *t)
{
    if (keep) {
        return okra_moments_rounds_(ctx, p, keep, solved, t);
    }
    if (okra_context_processes(ctx) > 1) {
        return okra_moments_rows_(ctx, p, 0, p->n, solved, t);
    }
    return okra_moments_on_engine_(ctx, p)
               ? okra_moments_engine_(ctx, p, solved, t)
               : pass(ctx, p, 0, p->n, "moments", 0, solved, gather, t);
}

/* ---- sums of the kernel's values, solved after ---- */

/* |F^-1|^2 by the power method, from below, by little after these steps; none is taken
 * beyond `enough`. */
static okra_status inverse_norm(okra_context *ctx, okra_mat_ F, double enough,
                                double *norm)
{
    enum { STEPS = 20 };
    okra_random_ random = okra_random_create_(1, 1);
    FREED_BY(okra_large_drop_) okra_large_ *on = NULL, *V = NULL;
    OWNED double *v = NULL;
    double length;
    MAKE(v, F.rows);
    okra_mat_ column = okra_mat_of_(v, F.rows, 1);
    for (okra_int i = 0; i < F.rows; i++) {
        v[i] = okra_random_normal_(&random);
    }
    CHK(okra_large_borrow_(ctx, F, &on));
    CHK(okra_large_create_(ctx, F.rows, 1, "a vector", &V));
    length = sqrt(okra_dot_(F.rows, v, v));
    *norm = 0;
    for (int k = 0; k < STEPS && *norm <= enough; k++) {
        for (okra_int i = 0; i < F.rows; i++) {
            v[i] /= length;
        }
        CHK(okra_large_put_(ctx, column, 0, 0, V));
        CHK(okra_large_solve_(ctx, true, on, V));
        CHK(okra_large_get_(ctx, V, 0, 0, column));
        *norm = length = sqrt(okra_dot_(F.rows, v, v));
    }
    return OKRA_OK;
}

/* max_j (U'U)_jj, guessed from a few rows here and there. */
static okra_status guess_largest(okra_context *ctx, const okra_problem_ *p, double *most)
{
    enum { PIECES = 8, ROWS = 32 };
    okra_int m = p->map_x->columns, apart = OKRA_MAX_(1, p->n / PIECES), seen = 0;
    OWNED double *V = NULL, *squares = NULL;
    CHK(okra_doubles_(ctx, ROWS, m, "rows of kernel values", &V));
    ZMAKE(squares, m);
    for (okra_int first = 0; first < p->n; first += apart) {
        okra_int some = OKRA_MIN_(ROWS, p->n - first);
        CHK(okra_map_values_(ctx, p->map_x, p->x, first, okra_mat_of_(V, some, m)));
        okra_moments_weigh_(p, first, okra_mat_of_(V, some, m));
        for (okra_int k = 0; k < some * m; k++) {
            squares[k % m] += V[k] * V[k];
        }
        seen += some;
    }
    *most = 0;
    for (okra_int j = 0; j < m; j++) {
        *most = fmax(*most, squares[j] * (double)p->n / (double)seen);
    }
    return OKRA_OK;
}

/* The |F^-1|^2 up to which sums will do; `ridge`: the least that is added to C. */
static double bearable(okra_int m, double most, double ridge)
{
    return 1e-8 * ridge / (DBL_EPSILON * sqrt((double)m) * most);
}

static okra_status may_sum(okra_context *ctx, const okra_problem_ *p, double ridge,
                           double *inverse, bool *may)
{
    const okra_map_ *map = p->map_x;
    double most = 0;
    *may = map->factor && !map->sketch && ridge > 0 && p->n / 4 > map->rank;
    if (*may) {
        CHK(guess_largest(ctx, p, &most));
        double most_inverse = bearable(map->rank, most, ridge);
        CHK(inverse_norm(ctx, okra_mat_of_(map->factor, map->rank, map->rank),
                         most_inverse, inverse));
        *may = *inverse <= most_inverse;
    }
    return OKRA_OK;
}

/* From moments of U to those of Phi = U F^-T. */
static okra_status solve(okra_context *ctx, const okra_map_ *map, okra_moments_ *t)
{
    okra_mat_ F = okra_mat_of_(map->factor, t->m, t->m);
    okra_mat_ C = okra_mat_of_(t->C, t->m, t->m), R = okra_mat_of_(t->R, t->m, t->d),
              phi = okra_mat_of_(t->phi, t->m, 1);
    if (okra_engine_is_host_(ctx)) {
        CHK(okra_trsm_(ctx, true, false, F, C));
        CHK(okra_trsm_(ctx, false, true, F, C));
        CHK(okra_trsm_(ctx, true, false, F, R));
        CHK(okra_trsm_(ctx, true, false, F, phi));
        okra_mat_mirror_(C);
    } else {
        CHK(okra_moments_divide_(ctx, F, C, R, phi));
    }
    return OKRA_OK;
}

/* ---- all together ---- */

/* tr(K - Phi Phi') / tr(K); waves keep the trace by themselves. */
okra_status okra_moments_trace_error_(okra_context *ctx, const okra_map_ *map,
                                      const okra_data *data, okra_int n,
                                      const double *weights, double kept, double *error)
{
    enum { ROWS = 4096 };
    double self[ROWS], trace = 0;
    okra_int first = 0, count = 0;
    *error = -1;
    if (!map || map->kernel) {
        return OKRA_OK;
    }
    okra_engine_share_(ctx, n, &first, &count); /* without inputs that have no output */
    for (okra_int at = first; at < first + count; at += ROWS) {
        okra_int some = OKRA_MIN_(ROWS, first + count - at);
        CHK(okra_map_self_rows_(ctx, map, data, at, some, self));
        for (okra_int i = 0; i < some; i++) {
            trace += (weights ? weights[at + i] : 1) * self[i];
        }
    }
    CHK(okra_engine_sum_(ctx, 1, &trace));
    *error = trace > 0 ? fmax(trace - kept, 0) / trace : 0;
    return OKRA_OK;
}

static double largest_diagonal(const okra_moments_ *t)
{
    double most = 0;
    for (okra_int i = 0; i < t->m; i++) {
        double value = t->C[i * t->m + i];
        most = value <= most ? most : value; /* NaN too */
    }
    return most;
}

/* What passes add to; C, R and D begin anew with each. */
static void forget_means(okra_moments_ *t)
{
    okra_mat_fill_(okra_mat_of_(t->phi, 1, t->m), 0);
    okra_mat_fill_(okra_mat_of_(t->psi, 1, t->d), 0);
    t->kept_y = 0;
}

okra_status okra_moments_create_(okra_context *ctx, const okra_problem_ *p, bool outputs,
                                 double ridge, okra_moments_ *out)
{
    return okra_moments_create_by_(ctx, p, outputs, ridge, NULL, out);
}

okra_status okra_moments_create_by_(okra_context *ctx, const okra_problem_ *p,
                                    bool outputs, double ridge, const okra_keep_ *keep,
                                    okra_moments_ *out)
{
    FREED_BY(okra_moments_clear_)
    okra_moments_ t = {.n = p->n,
                       .m = p->map_x->rank,
                       .d = okra_problem_features_(p),
                       .weights = p->weights,
                       .total = p->weights ? 0 : (double)p->n};
    bool sums = false, solved = false;
    double inverse = 0;
    for (okra_int i = 0; p->weights && i < p->n; i++) {
        t.total += p->weights[i]; /* tiny ones too */
    }
    CHK(okra_doubles_(ctx, t.m, t.m, "the moments of the inputs", &t.C));
    CHK(okra_doubles_(ctx, t.m, t.d, "the moments of inputs and outputs", &t.R));
    if (outputs) {
        CHK(okra_doubles_(ctx, t.d, t.d, "the moments of the outputs", &t.D));
    }
    ZMAKE(t.phi, t.m);
    ZMAKE(t.psi, t.d);
    CHK(may_sum(ctx, p, ridge, &inverse, &sums));
    if (keep && sums) {
        CHK(okra_moments_solved_(ctx, keep, &solved));
    }
    sums = sums && !solved;
    if (sums) { /* the guess may have missed where the large values are */
        CHK(collect(ctx, p, keep, false, &t));
        sums = inverse <= bearable(t.m, largest_diagonal(&t), ridge);
    }
    if (sums) {
        CHK(solve(ctx, p->map_x, &t));
    } else {
        forget_means(&t);
        CHK(collect(ctx, p, keep, true, &t));
    }
    t.solved = !sums;
    for (okra_int i = 0; i < t.m; i++) {
        t.kept_x += t.C[i * t.m + i];
    }
    CHK(okra_moments_trace_error_(ctx, p->map_x, p->x, t.n, p->weights, t.kept_x,
                                  &t.error_x));
    CHK(okra_moments_trace_error_(ctx, p->map_y, p->y, t.n, p->weights, t.kept_y,
                                  &t.error_y));
    *out = TAKE(t);
    return OKRA_OK;
}

void okra_moments_center_(okra_moments_ *t)
{
    double n = t->total;
    for (okra_int i = 0; i < t->m; i++) {
        for (okra_int j = 0; j < t->d; j++) {
            t->R[i * t->d + j] -= n * t->phi[i] * t->psi[j];
        }
    }
    for (okra_int i = 0; t->D && i < t->d; i++) {
        for (okra_int j = 0; j < t->d; j++) {
            t->D[i * t->d + j] -= n * t->psi[i] * t->psi[j];
        }
    }
}

OKRA_SHARED_CLEARS_(okra_moments_clear_, okra_moments_, it->C, it->R, it->D, it->phi,
                    it->psi)
