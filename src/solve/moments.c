/*
 * moments.c: one pass over the training set for C = Phi'Phi, R = Phi'Psi and D = Psi'Psi.
 * Rows come in blocks that fit the memory budget; nothing of size n is kept. Cost: 2 n
 * m^2 (m the rank: features by a triangular solve, C by its lower half), 2 n m d for R,
 * n d^2 for D, and the kernel's values. Sums run over blocks in order, so that the block
 * size, which follows the budget, changes the last bits only. Rounding: C is good to
 * n eps max(k(x,x)) absolutely, which lambda then dominates.
 *
 * Half of that is the solve of every row, Phi = U F^-T (kernel/lowrank/lowrank.h). Where
 * the basis is well conditioned the sums are taken of U, the kernel's values, and solved
 * after, C = F^-1 U'U F^-T: n m^2 + 2 m^3, a gain from n = 4 m. Rounding of U'U is
 * multiplied by s = |F^-1|^2, |dC| ~ eps sqrt(m) max_j (U'U)_jj s (measured: 1/5 to 2 of
 * that), so this is done where it is below 1e-8 of what the method adds to C, guessed
 * from a few rows before the pass and checked after it.
 */
#include "solve/moments.h"

#include "engine/engine.h"
#include "kernel/lowrank/lowrank.h"
#include "okra/more/group.h"

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

/* For the features of outputs. */
static okra_status open_outputs(okra_context *ctx, const okra_problem_ *p, okra_int rows,
                                buffers *b)
{
    const okra_map_ *y = p->map_y;
    if (y) {
        CHK(okra_doubles_(ctx, rows, y->columns, "a block of output features", &b->Y));
    }
    if (y && y->sketch) {
        CHK(okra_doubles_(ctx, rows, y->rank, "a block of output features", &b->YS));
    }
    return copies_outputs(p) ? okra_doubles_(ctx, rows, p->d, "a block of outputs", &b->E)
                             : OKRA_OK;
}

/* Rows of the pairs first.. times the roots of their weights. */
static void weigh(const okra_problem_ *p, okra_int first, okra_mat_ A)
{
    for (okra_int i = 0; p->weights && i < A.rows; i++) {
        double s = sqrt(p->weights[first + i]);
        okra_scale_(A.cols, s, A.p + i * A.ld);
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

/* Rows of Psi, times the roots of their weights; none where outputs have no features. */
static okra_status output_rows(okra_context *ctx, const okra_problem_ *p, okra_int first,
                               okra_int rows, const buffers *b, okra_mat_ *Psi)
{
    if (p->map_y) {
        CHK(features(ctx, p->map_y, p->y, first, rows, true, b->Y, b->YS, Psi));
    } else if (p->features) {
        CHK(explicit_rows(p, first, rows, b->E, Psi));
    }
    weigh(p, first, *Psi);
    return OKRA_OK;
}

/* The rows begin..end-1. */
static okra_status pass(okra_context *ctx, const okra_problem_ *p, okra_int begin,
                        okra_int end, const char *what, bool solved, okra_rows_fn_ each,
                        void *user)
{
    const okra_map_ *x = p->map_x, *y = p->map_y;
    buffers b = {0};
    OWNS(&b.X, &b.XS, &b.Y, &b.YS, &b.E);
    okra_int width = x->columns + (x->sketch ? x->rank : 0);
    width += copies_outputs(p) ? p->d : 0;
    width += y ? y->columns + (y->sketch ? y->rank : 0) : 0;
    okra_int rows = okra_block_rows_(ctx, p->n, width);
    CHK(okra_doubles_(ctx, rows, x->columns, "a block of input features", &b.X));
    if (x->sketch) {
        CHK(okra_doubles_(ctx, rows, x->rank, "a block of input features", &b.XS));
    }
    CHK(open_outputs(ctx, p, rows, &b));
    for (okra_int i = begin; i < end; i += rows) {
        okra_int some = OKRA_MIN_(rows, end - i);
        okra_mat_ Phi, Psi = {0};
        CHK(okra_cancelled_(ctx));
        CHK(features(ctx, x, p->x, i, some, solved, b.X, b.XS, &Phi));
        CHK(output_rows(ctx, p, i, some, &b, &Psi));
        weigh(p, i, Phi);
        CHK(each(ctx, user, i, Phi, Psi));
        if (what) {
            okra_progress_(ctx, what, i + some - begin, end - begin);
        }
    }
    return OKRA_OK;
}

okra_status okra_moments_pass_(okra_context *ctx, const okra_problem_ *p,
                               const char *what, bool solved, okra_rows_fn_ each,
                               void *user)
{
    return pass(ctx, p, 0, p->n, what, solved, each, user);
}

/* mean += sums of the columns of A / total, of the features themselves where
 * rows are times roots of weights; squares += those of A. */
static void add_means(okra_mat_ A, const double *weights, double total, double *mean,
                      double *squares)
{
    for (okra_int i = 0; i < A.rows; i++) {
        const double *a = A.p + i * A.ld;
        double share = (weights ? sqrt(weights[i]) : 1) / total;
        *squares += okra_dot_(A.cols, a, a);
        okra_axpy_(A.cols, share, a, mean);
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
    add_means(Phi, weights, t->total, t->phi, &squares);
    if (t->d > 0) {
        CHK(okra_gemm_(ctx, true, false, 1, Phi, Psi, begun,
                       okra_mat_of_(t->R, t->m, t->d)));
        add_means(Psi, weights, t->total, t->psi, &t->kept_y);
    }
    return t->D ? okra_syrk_(ctx, true, 1, Psi, begun, okra_mat_of_(t->D, t->d, t->d))
                : OKRA_OK;
}

/* Where many processes work together, each goes over its share of the rows. */
okra_status okra_moments_rows_(okra_context *ctx, const okra_problem_ *p, okra_int begin,
                               okra_int end, bool solved, okra_moments_ *t)
{
    okra_int count = 0;
    okra_engine_share_(ctx, end - begin, &t->first, &count);
    t->first += begin;
    CHK(pass(ctx, p, t->first, t->first + count, "moments", solved, gather, t));
    okra_moments_sums_ all = okra_moments_list_(t);
    for (int k = 0; k < OKRA_MOMENTS_SUMS_; k++) {
        CHK(okra_engine_sum_(ctx, all.size[k], all.p[k]));
    }
    return OKRA_OK;
}

/* ---- the same on another engine than the host ----
 *
 * The engine makes the kernel's values U of a block against the basis, divides them by F
 * where that is wanted, and adds to sums that stay there until the pass is over; what
 * goes to it are the objects and Psi of the block, nothing comes back. Features must be
 * kernel values of a basis: no sketch and no waves. */

typedef struct running {
    okra_matrix_ *C, *R, *D, *phi; /* what is added up; R, D may be NULL    */
    okra_matrix_ *F;               /* of the map, or NULL: U is not divided */
    okra_matrix_ *U, *ones;        /* of a block                            */
    okra_matrix_ *Psi;
    buffers b; /* features of outputs */
} running;

/* An engine of many processes leaves rows to the host of each, also where it is alone. */
bool okra_moments_on_engine_(const okra_context *ctx, const okra_problem_ *p)
{
    const okra_map_ *map = p->map_x;
    return !okra_engine_is_host_(ctx) && !okra_engine_of_(ctx)->verbs->sum &&
           map->factor && !map->sketch && !map->kernel && map->scale == 1;
}

static void running_clear(running *z)
{
    okra_matrix_ *all[] = {z->C, z->R, z->D, z->phi, z->F, z->U, z->ones, z->Psi};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        okra_matrix_free_(all[i]);
    }
    FREE(z->b.Y, z->b.YS, z->b.E);
}

static okra_status open_pass(okra_context *ctx, const okra_problem_ *p, bool solved,
                             const okra_moments_ *t, okra_int rows, running *z)
{
    const char *what = "the moments of the inputs";
    CHK(okra_matrix_create_(ctx, t->m, t->m, what, &z->C));
    CHK(okra_matrix_create_(ctx, t->m, 1, what, &z->phi));
    if (t->d > 0) {
        CHK(okra_matrix_create_(ctx, t->m, t->d, "the moments of inputs and outputs",
                                &z->R));
    }
    if (t->D) {
        CHK(okra_matrix_create_(ctx, t->d, t->d, "the moments of the outputs", &z->D));
    }
    if (solved) {
        CHK(okra_matrix_borrow_(ctx, okra_mat_of_(p->map_x->factor, t->m, t->m), &z->F));
    }
    return open_outputs(ctx, p, rows, &z->b);
}

/* U, Psi and ones of the right height. */
static okra_status resize(okra_context *ctx, const okra_moments_ *t, okra_int rows,
                          running *z)
{
    if (z->U && z->U->rows == rows) {
        return OKRA_OK;
    }
    okra_matrix_free_(z->U);
    okra_matrix_free_(z->ones);
    okra_matrix_free_(z->Psi);
    z->U = z->ones = z->Psi = NULL;
    if (t->d > 0) {
        CHK(okra_matrix_create_(ctx, rows, t->d, "a block of output features", &z->Psi));
    }
    CHK(okra_matrix_create_(ctx, rows, t->m, "a block of input features", &z->U));
    CHK(okra_matrix_create_(ctx, rows, 1, "a block of input features", &z->ones));
    return okra_matrix_fill_(ctx, 1 / t->total, z->ones);
}

static okra_status inputs(okra_context *ctx, const okra_problem_ *p, double total,
                          okra_int first, okra_int rows, running *z)
{
    FREED_BY(okra_data_drop_) okra_data *some = NULL;
    FREED_BY(okra_test_side_drop_) okra_test_side_ *other = NULL;
    FREED_BY(okra_entries_drop_) okra_entries_ *entries = NULL;
    OWNED double *s = NULL;
    CHK(okra_map_other_(ctx, p->map_x, p->x, first, rows, &some, &other));
    CHK(okra_entries_create_(ctx, p->map_x->bound, other, &entries));
    CHK(okra_matrix_gram_(ctx, entries, 0, z->U));
    if (z->F) {
        CHK(okra_matrix_trsm_(ctx, false, true, z->F, z->U));
    }
    if (p->weights) {
        MAKE(s, rows);
        for (okra_int i = 0; i < rows; i++) {
            s[i] = sqrt(p->weights[first + i]);
        }
        CHK(okra_matrix_scale_(ctx, s, NULL, z->U));
        okra_scale_down_(rows, total, s);
        CHK(okra_matrix_put_(ctx, okra_mat_of_(s, rows, 1), 0, 0, z->ones));
    }
    return OKRA_OK;
}

static okra_status add(okra_context *ctx, const okra_problem_ *p, okra_int first,
                       okra_int rows, running *z, okra_moments_ *t)
{
    okra_mat_ Psi = {0};
    double begun = first > 0;
    CHK(resize(ctx, t, rows, z));
    CHK(inputs(ctx, p, t->total, first, rows, z));
    CHK(okra_matrix_syrk_(ctx, true, 1, z->U, begun, z->C));
    CHK(okra_matrix_gemm_(ctx, true, false, 1, z->U, z->ones, begun, z->phi));
    if (t->d > 0) {
        CHK(output_rows(ctx, p, first, rows, &z->b, &Psi));
        add_means(Psi, t->weights ? t->weights + first : NULL, t->total, t->psi,
                  &t->kept_y);
        CHK(okra_matrix_put_(ctx, Psi, 0, 0, z->Psi));
        CHK(okra_matrix_gemm_(ctx, true, false, 1, z->U, z->Psi, begun, z->R));
    }
    return t->D ? okra_matrix_syrk_(ctx, true, 1, z->Psi, begun, z->D) : OKRA_OK;
}

okra_status okra_moments_engine_(okra_context *ctx, const okra_problem_ *p, bool solved,
                                 okra_moments_ *t)
{
    enum { MOST = 1 << 27, VECTORS = 1 << 21, LEAST = 4096 }; /* doubles, rows */
    FREED_BY(running_clear) running z = {0};
    okra_int width = t->m + t->d + okra_data_width(p->x);
    okra_int room = OKRA_MIN_(MOST, okra_context_memory(ctx) / 4 / 8);
    okra_int rows = OKRA_MAX_(VECTORS / OKRA_MAX_(okra_data_width(p->x), 1), LEAST);
    rows = OKRA_MIN_(p->n, OKRA_MIN_(rows, OKRA_MAX_(room / width, 1)));
    CHK(open_pass(ctx, p, solved, t, rows, &z));
    for (okra_int i = 0; i < p->n; i += rows) {
        CHK(okra_cancelled_(ctx));
        CHK(add(ctx, p, i, OKRA_MIN_(rows, p->n - i), &z, t));
        okra_progress_(ctx, "moments", OKRA_MIN_(i + rows, p->n), p->n);
    }
    CHK(okra_matrix_get_(ctx, z.C, 0, 0, okra_mat_of_(t->C, t->m, t->m)));
    CHK(okra_matrix_get_(ctx, z.phi, 0, 0, okra_mat_of_(t->phi, t->m, 1)));
    if (z.R) {
        CHK(okra_matrix_get_(ctx, z.R, 0, 0, okra_mat_of_(t->R, t->m, t->d)));
    }
    return z.D ? okra_matrix_get_(ctx, z.D, 0, 0, okra_mat_of_(t->D, t->d, t->d))
               : OKRA_OK;
}

/* A <- F^-1 A, and (both) A F^-T, which is then made symmetric. */
static okra_status divide(okra_context *ctx, const okra_matrix_ *F, bool both,
                          okra_mat_ A)
{
    FREED_BY(okra_matrix_drop_) okra_matrix_ *there = NULL, *turned = NULL;
    CHK(okra_matrix_create_(ctx, A.rows, A.cols, "the moments", &there));
    CHK(okra_matrix_put_(ctx, A, 0, 0, there));
    CHK(okra_matrix_trsm_(ctx, true, false, F, there));
    if (both) {
        CHK(okra_matrix_trsm_(ctx, false, true, F, there));
        CHK(okra_matrix_create_(ctx, A.cols, A.rows, "the moments", &turned));
        CHK(okra_matrix_copy_(ctx, true, there, turned));
        CHK(okra_matrix_combine_(ctx, OKRA_COMBINE_SUM_, 0.5, 0.5, NULL, NULL, turned,
                                 there));
    }
    return okra_matrix_get_(ctx, there, 0, 0, A);
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
               : pass(ctx, p, 0, p->n, "moments", solved, gather, t);
}

/* ---- sums of the kernel's values, solved after ---- */

/* |F^-1|^2 by the power method, from below, by little after these steps; none is taken
 * beyond `enough`. */
static okra_status inverse_norm(okra_context *ctx, okra_mat_ F, double enough,
                                double *norm)
{
    enum { STEPS = 20 };
    okra_random_ random = okra_random_create_(1, 1);
    FREED_BY(okra_matrix_drop_) okra_matrix_ *on = NULL, *V = NULL;
    OWNED double *v = NULL;
    double length;
    MAKE(v, F.rows);
    okra_mat_ column = okra_mat_of_(v, F.rows, 1);
    for (okra_int i = 0; i < F.rows; i++) {
        v[i] = okra_random_normal_(&random);
    }
    CHK(okra_matrix_borrow_(ctx, F, &on));
    CHK(okra_matrix_create_(ctx, F.rows, 1, "a vector", &V));
    length = sqrt(okra_dot_(F.rows, v, v));
    *norm = 0;
    for (int k = 0; k < STEPS && *norm <= enough; k++) {
        okra_scale_down_(F.rows, length, v);
        CHK(okra_matrix_put_(ctx, column, 0, 0, V));
        CHK(okra_matrix_solve_(ctx, true, on, V));
        CHK(okra_matrix_get_(ctx, V, 0, 0, column));
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
        weigh(p, first, okra_mat_of_(V, some, m));
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
    FREED_BY(okra_matrix_drop_) okra_matrix_ *F = NULL;
    CHK(okra_matrix_borrow_(ctx, okra_mat_of_(map->factor, t->m, t->m), &F));
    CHK(divide(ctx, F, true, okra_mat_of_(t->C, t->m, t->m)));
    CHK(divide(ctx, F, false, okra_mat_of_(t->R, t->m, t->d)));
    return divide(ctx, F, false, okra_mat_of_(t->phi, t->m, 1));
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

okra_status okra_moments_create_(okra_context *ctx, const okra_problem_ *p, bool outputs,
                                 double ridge, const okra_keep_ *keep, okra_moments_ *out)
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
    CHK(okra_moments_room_(ctx, outputs, &t));
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
        okra_moments_add_(0, NULL, &t); /* passes add */
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

/* ---- moments as a list of sums ---- */

okra_moments_sums_ okra_moments_list_(okra_moments_ *t)
{
    okra_int m = t->m, d = t->d;
    return (okra_moments_sums_){{t->C, t->R, t->D, t->phi, t->psi, &t->kept_y},
                                {m * m, m * d, t->D ? d * d : 0, m, d, 1}};
}

okra_status okra_moments_room_(okra_context *ctx, bool outputs, okra_moments_ *t)
{
    CHK(okra_doubles_(ctx, t->m, t->m, "the moments of the inputs", &t->C));
    CHK(okra_doubles_(ctx, t->m, t->d, "the moments of inputs and outputs", &t->R));
    if (outputs) {
        CHK(okra_doubles_(ctx, t->d, t->d, "the moments of the outputs", &t->D));
    }
    MAKE(t->phi, t->m);
    MAKE(t->psi, t->d);
    okra_moments_add_(0, NULL, t);
    return OKRA_OK;
}

void okra_moments_add_(double sign, okra_moments_ *from, okra_moments_ *to)
{
    okra_moments_sums_ a = from ? okra_moments_list_(from) : (okra_moments_sums_){0};
    okra_moments_sums_ b = okra_moments_list_(to);
    for (int k = 0; k < OKRA_MOMENTS_SUMS_; k++) {
        for (okra_int i = 0; i < b.size[k]; i++) {
            b.p[k][i] = from ? b.p[k][i] + sign * a.p[k][i] : 0;
        }
    }
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
