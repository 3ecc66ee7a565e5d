/*
 * cg.c: ridge of large rank by preconditioned conjugate gradients, without the
 * m x m moments of low.c (Rudi, Carratino and Rosasco 2017, "Falkon", alg. 1).
 *
 *     (Phi'Phi + lambda I) X = Phi'Psi,  Phi = V F^-T,  V = K_nP,  K_PP = F F'
 *
 * Phi'Phi is applied block by block from the data, W = sum V_b'(V_b F^-T P), Q = F^-1 W +
 * lambda P, so that a step costs n m kernel values and 4 n m d operations, against n m^2
 * of the moments: it pays where m is well above the steps times (4 d + a kernel
 * value). The preconditioner is the same matrix of a sample of q = min(n, 4 m) rows,
 *     Phi'Phi + lambda I ~ n/q Phi_q'Phi_q + lambda I = G G',      8 m^3 operations;
 * Falkon's takes the basis for the sample (its eq. 13), and needed three times as many
 * steps in trials with n = 20,000, m = 500.
 *
 * All d columns share the passes, each with its own step lengths; a column whose residual
 * is below the tolerance rests. Memory: F, G (m^2 each), 5 m d, a block of rows. The
 * state is saved after every step; a fit that goes on from it does the same arithmetic,
 * so that the model has the same bits.
 */
#include "solve/ridge.h"

#include "kernel/lowrank/lowrank.h"
#include "solve/moments.h"
#include "okra/more/group.h"

enum { SAMPLE = 4 }; /* rows of the preconditioner a feature */

typedef struct solver {
    okra_ridge_ *r;
    const okra_map_ *map;
    okra_int n, m, d;
    double *G;     /* m x m: preconditioner */
    double *T, *W; /* m x d                 */
    okra_cg_state_ s;
} solver;

static okra_mat_ mat(const solver *z, double *p)
{
    return okra_mat_of_(p, z->m, z->d);
}

static okra_mat_ factor(const solver *z)
{
    return okra_mat_of_(z->map->factor, z->m, z->m);
}

/* ---- the state ---- */

OKRA_CLEARS_(state_clear, okra_cg_state_, it->X, it->R, it->P, it->rho, it->norm,
             it->mean)

static okra_status state_create(okra_context *ctx, okra_int m, okra_int d,
                                okra_cg_state_ *out)
{
    FREED_BY(state_clear) okra_cg_state_ s = {.m = m, .d = d};
    double **blocks[] = {&s.X, &s.R, &s.P};
    for (int i = 0; i < 3; i++) {
        CHK(okra_doubles_(ctx, m, d, "conjugate gradients", blocks[i]));
    }
    ZMAKE(s.rho, d);
    ZMAKE(s.norm, d);
    ZMAKE(s.mean, d);
    *out = TAKE(s);
    return OKRA_OK;
}

static void clear(solver *z)
{
    FREE(z->G, z->T, z->W);
    state_clear(&z->s);
}

typedef struct sums {
    solver *z;
    double *T, *v; /* m x d; m: V'1 */
} sums;

/* W += V'U, U = Psi (T == NULL; then also its mean and v = V'1) or U = V T. */
static okra_status add_rows(okra_context *ctx, void *user, okra_int first, okra_mat_ V,
                            okra_mat_ U)
{
    const sums *a = user;
    solver *z = a->z;
    OWNED double *own = NULL;
    for (okra_int i = 0; !a->T && i < V.rows; i++) {
        double s = okra_ridge_root_(z->r, first + i);
        for (okra_int j = 0; j < z->d; j++) {
            z->s.mean[j] += s * U.p[i * U.ld + j] / z->r->total;
        }
        okra_axpy_(z->m, s, V.p + i * V.ld, a->v);
    }
    if (a->T) {
        CHK(okra_doubles_(ctx, V.rows, z->d, "a block of predictions", &own));
        U = okra_mat_of_(own, V.rows, z->d);
        CHK(okra_gemm_(ctx, false, false, 1, V, mat(z, a->T), 0, U));
    }
    return okra_gemm_(ctx, true, false, 1, V, U, first > 0, mat(z, z->W));
}

/* One pass over the data: W <- V'U. */
static okra_status pass(solver *z, double *T, double *v)
{
    return okra_moments_pass_(z->r->ctx, z->r->p, NULL, false, add_rows,
                              &(sums){z, T, v});
}

/* T <- (G G')^-1 R */
static okra_status precondition(solver *z)
{
    memcpy(z->T, z->s.R, (size_t)(z->m * z->d) * sizeof *z->T);
    return okra_cholesky_solve_(z->r->ctx, okra_mat_of_(z->G, z->m, z->m), mat(z, z->T));
}

/* X = 0, R = Phi'Psi (less the mean output), P = Z. */
static okra_status begin(solver *z)
{
    okra_cg_state_ *s = &z->s;
    OWNED double *v = NULL;
    okra_int m = z->m, d = z->d;
    ZMAKE(v, m);
    CHK(pass(z, NULL, v));
    for (okra_int i = 0; z->r->center && i < m; i++) {
        okra_axpy_(d, -v[i], s->mean, z->W + i * d);
    }
    CHK(okra_trsm_(z->r->ctx, true, false, factor(z), mat(z, z->W)));
    okra_mat_fill_(mat(z, s->X), 0);
    CHK(okra_mat_copy_(mat(z, z->W), mat(z, s->R)));
    okra_column_dots_(z->m, z->d, s->R, s->R, s->norm);
    CHK(precondition(z));
    CHK(okra_mat_copy_(mat(z, z->T), mat(z, s->P)));
    okra_column_dots_(z->m, z->d, s->R, z->T, s->rho);
    return OKRA_OK;
}

/* The largest |residual| / |right-hand side| of a column. */
static okra_status residual(const solver *z, double *worst)
{
    OWNED double *now = NULL;
    MAKE(now, z->d);
    okra_column_dots_(z->m, z->d, z->s.R, z->s.R, now);
    *worst = 0;
    for (okra_int j = 0; j < z->d; j++) {
        *worst = fmax(*worst, z->s.norm[j] > 0 ? sqrt(now[j] / z->s.norm[j]) : 0);
    }
    return OKRA_OK;
}

static okra_status step(solver *z, double lambda, double tolerance)
{
    okra_cg_state_ *s = &z->s;
    okra_int m = z->m, d = z->d;
    OWNED double *length = NULL, *now = NULL;
    MAKE(length, d);
    MAKE(now, d);
    CHK(okra_mat_copy_(mat(z, s->P), mat(z, z->T)));
    CHK(okra_trsm_(z->r->ctx, true, true, factor(z), mat(z, z->T)));
    CHK(pass(z, z->T, NULL));
    CHK(okra_trsm_(z->r->ctx, true, false, factor(z), mat(z, z->W)));
    for (okra_int i = 0; i < m * d; i++) {
        z->W[i] += lambda * s->P[i]; /* Q */
    }
    okra_column_dots_(z->m, z->d, s->P, z->W, length);
    okra_column_dots_(z->m, z->d, s->R, s->R, now);
    for (okra_int j = 0; j < d; j++) {
        bool rests = now[j] <= tolerance * tolerance * s->norm[j];
        length[j] = rests || !(length[j] > 0) ? 0 : s->rho[j] / length[j];
    }
    for (okra_int i = 0; i < m * d; i++) {
        s->X[i] += length[i % d] * s->P[i];
        s->R[i] -= length[i % d] * z->W[i];
    }
    CHK(precondition(z));
    okra_column_dots_(z->m, z->d, s->R, z->T, now);
    for (okra_int i = 0; i < m * d; i++) {
        double before = s->rho[i % d];
        s->P[i] = z->T[i] + (before > 0 ? now[i % d] / before : 0) * s->P[i];
    }
    memcpy(s->rho, now, (size_t)d * sizeof *now);
    s->steps++;
    return OKRA_OK;
}

static okra_status iterate(solver *z, double lambda, const okra_cg_options_ *o,
                           double *worst)
{
    bool found = false;
    uint64_t problem = 0;
    z->s.steps = 0;
    if (*o->checkpoint) {
        CHK(okra_ridge_name_(z->r, &problem)); /* and the bits of the factor */
        problem =
            okra_mix_(problem, z->map->factor, (size_t)(z->m * z->m) * sizeof(double));
        CHK(okra_cg_state_load_(z->r->ctx, o->checkpoint, problem, &z->s, &found));
        CHK(okra_context_finish_together(z->r->ctx, OKRA_OK,
                                         NULL)); /* all have read it */
    }
    if (!found) {
        memset(z->s.mean, 0, (size_t)z->d * sizeof *z->s.mean);
        CHK(begin(z));
    }
    CHK(residual(z, worst));
    while (*worst > o->tolerance && z->s.steps < o->iterations) {
        CHK(step(z, lambda, o->tolerance));
        if (*o->checkpoint) {
            CHK(okra_cg_state_save_(z->r->ctx, &z->s, o->checkpoint, problem));
        }
        CHK(residual(z, worst));
        okra_progress_(z->r->ctx, "conjugate gradients", z->s.steps, o->iterations);
    }
    okra_progress_end_(z->r->ctx, "conjugate gradients");
    if (!(*worst <= o->tolerance)) {
        okra_warn_(z->r->ctx,
                   "ridge: conjugate gradients stopped after %lld steps with a residual "
                   "of %.3g, above %.3g",
                   (long long)z->s.steps, *worst, o->tolerance);
    }
    return OKRA_OK;
}

/* G G' = n/q Phi_q'Phi_q + lambda I, the q rows of the sample evenly spaced. */
static okra_status prepare(solver *z, double lambda)
{
    okra_context *ctx = z->r->ctx;
    OWNED okra_int *index = NULL;
    okra_int q = OKRA_MIN_(z->n, SAMPLE * z->m);
    FREED_BY(okra_data_drop_) okra_data *rows = NULL;
    okra_mat_ G = okra_mat_of_(z->G, z->m, z->m);
    okra_int height = okra_block_rows_(ctx, q, z->m);
    OWNED double *block = NULL;
    MAKE(index, height);
    CHK(okra_doubles_(ctx, height, z->m, "a block of kernel values", &block));
    for (okra_int first = 0; first < q; first += height) {
        okra_int some = OKRA_MIN_(height, q - first);
        okra_mat_ V = okra_mat_of_(block, some, z->m);
        for (okra_int i = 0; i < some; i++) {
            index[i] = (okra_int)((double)(first + i) * ((double)z->n / (double)q));
        }
        CHK(okra_cancelled_(ctx));
        CHK(okra_data_take(z->r->p->x, index, some, &rows));
        CHK(okra_map_values_(ctx, z->map, rows, 0, V));
        CHK(okra_map_features_(ctx, z->map, V, V));
        CHK(okra_syrk_(ctx, true, (double)z->n / (double)q, V, first > 0, G));
        okra_data_drop_(&rows);
    }
    okra_mat_add_diagonal_(G, lambda);
    return okra_cholesky_(ctx, G, NULL);
}

static okra_status open_solver(okra_ridge_ *r, solver *z)
{
    okra_context *ctx = r->ctx;
    *z = (solver){.r = r, .map = r->p->map_x, .n = r->p->n, .m = r->p->map_x->rank};
    z->d = okra_problem_features_(r->p);
    CHK(okra_doubles_(ctx, z->m, z->m, "the preconditioner", &z->G));
    CHK(state_create(ctx, z->m, z->d, &z->s));
    CHK(okra_doubles_(ctx, z->m, z->d, "conjugate gradients", &z->T));
    return okra_doubles_(ctx, z->m, z->d, "conjugate gradients", &z->W);
}

static okra_status check(const okra_ridge_ *r)
{
    const okra_map_ *map = r->p->map_x;
    REFUSE_IF(!map || !map->factor || map->sketch, OKRA_EARG,
              "ridge: solver cg needs low-rank-x by chol or "
              "nystrom");
    REFUSE_IF(okra_problem_features_(r->p) == 0, OKRA_EARG,
              "ridge: solver cg needs low-rank-y too, or outputs "
              "under a linear kernel");
    return OKRA_OK;
}

/* A <- the solution; outputs with a lambda of their own take one after the other, all
 * columns each time. */
static okra_status columns(solver *z, double lambda, const okra_cg_options_ *o, double *A,
                           double *worst)
{
    double before = -1;
    for (okra_int j = 0; j < z->d; j++) {
        double own = okra_ridge_lambda_(z->r, lambda, j);
        if (own != before) {
            CHK(prepare(z, own));
            CHK(iterate(z, own, o, worst));
        }
        before = own;
        CHK(okra_mat_copy_(okra_mat_part_(mat(z, z->s.X), 0, z->m, j, 1),
                           okra_mat_part_(mat(z, A), 0, z->m, j, 1)));
    }
    return OKRA_OK;
}

okra_status okra_ridge_cg_(okra_ridge_ *r, const okra_cg_options_ *o)
{
    FREED_BY(clear) solver z = {0};
    OWNED double *A = NULL;
    double worst = 0;
    CHK(check(r));
    CHK(open_solver(r, &z));
    for (size_t l = 0; l < r->count; l++) {
        CHK(okra_doubles_(r->ctx, z.m, z.d, "the ridge coefficients", &A));
        CHK(columns(&z, r->lambda[l], o, A, &worst));
        CHK(okra_map_fold_(r->ctx, z.map, mat(&z, A), mat(&z, A)));
        CHK(okra_store_put_(r->stores[l], "coefficients", &A, z.m, z.d));
        if (r->center) {
            CHK(okra_store_put_copy_(r->stores[l], "mean", z.s.mean, 1, z.d));
        }
        CHK(okra_store_put_number_(r->stores[l], "x.rank", (double)z.m));
        CHK(okra_store_put_number_(r->stores[l], "cg.steps", (double)z.s.steps));
        CHK(okra_store_put_number_(r->stores[l], "cg.residual", worst));
    }
    return OKRA_OK;
}
