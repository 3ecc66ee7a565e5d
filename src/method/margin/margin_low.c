/*
 * margin_low.c: margin.c in factored form, K = Phi Phi' (n x m), output features Psi
 * (n x d): explicit ones, or those of a low-rank output kernel, L = Psi Psi'.
 *
 * All losses without lambda_2, h(x) = E' diag(g)^1/2 Z' phi(x), A = E' diag(g) E the
 * operator. The hinge loss: with Psi rotated and scaled, psi <- diag(g)^1/2 E psi, the
 * dual of margin.c has
 *     Q = (Phi Phi') o (Psi Psi') / (2 lambda)                        (boxqp_low.c)
 *     Z = Phi' diag(a) Psi / (2 lambda)                               (m x d).
 * Losses of the distance: Psi rotated, psi <- E psi, and dual_low.c. phi(x)' = v(x)' T
 * (kernel/lowrank/lowrank.h): the model keeps T Z diag(g)^1/2 E, columns x d, and the
 * basis of the inputs. No n x n matrix is formed; n (m + d) doubles are kept where they
 * fit the budget, else in a file (factors.c), and 3 n d more for losses of the distance.
 *
 * Why it stands beside margin.c, boxqp.c and dual.c: their steps take one row of Q or S
 * at a time, n numbers that are there. A row of Phi Phi' costs n m, so the thin solvers
 * work by blocks of rows and by Newton steps in m x d unknowns: other algorithms with the
 * same duals and the same gap.
 */
#include "method/margin/margin.h"

#include "kernel/lowrank/lowrank.h"
#include "solve/ridge.h"

/* Waves may be more than the pairs, which makes the n x n form the smaller one; other
 * ranks are cut to n. */
static bool more_than_pairs(const char *text, okra_int n)
{
    okra_low_ low;
    bool read = text && *text && okra_low_parse_(text, &low) == OKRA_OK;
    return read && low.kind == OKRA_LOW_RFF_ && low.rank > n;
}

bool okra_margin_factored_(const okra_problem_ *p, const okra_options *options)
{
    const char *both = okra_options_get(options, "low-rank");
    const char *on_y = okra_options_get(options, "low-rank-y");
    const char *on_x = both && *both ? both : okra_options_get(options, "low-rank-x");
    bool identity = strcmp(okra_options_get(options, "operator"), "identity") == 0;
    bool smooth = okra_options_is_set(options, "lambda2");
    bool weighted = p->y && !okra_weights_plain_(p->y); /* the dense form has them */
    return !weighted && !more_than_pairs(on_x, p->n) &&
           (p->features || (both && *both) || (on_y && *on_y)) &&
           (!smooth || (identity && okra_graph_low_check_(
                                        okra_options_get(options, "graph")) == OKRA_OK));
}

typedef struct low {
    okra_margin_ *m;
    okra_factors_ f;
    double *R;     /* d x d: E', with its columns scaled for the hinge loss */
    double *X;     /* rank x d: the solution so far of a loss of the distance */
    double *Z;     /* rank x d                                                */
    double *B, *F; /* rank x rank, with lambda_2: its part of P; the factor of P */
    double later;  /* doubles that the solver takes */
} low;

static void clear(low *z)
{
    okra_factors_clear_(&z->f);
    FREE(z->R, z->X, z->Z, z->B, z->F);
}

static okra_status rotation(low *z)
{
    const okra_margin_ *m = z->m;
    okra_int d = m->d;
    bool hinge = m->o.loss == OKRA_LOSS_HINGE_;
    CHK(okra_doubles_(m->ctx, d, d, "the rotation of the outputs", &z->R));
    for (okra_int i = 0; i < d * d; i++) {
        z->R[i] = m->A[i % d * d + i / d] * (hinge ? sqrt(m->g[i % d]) : 1);
    }
    return OKRA_OK;
}

/* B = 2 lambda_2 Phi'M Phi */
static okra_status penalty(low *z)
{
    const okra_margin_ *m = z->m;
    okra_moments_ t = {.m = m->p->map_x->rank};
    CHK(okra_doubles_(m->ctx, t.m, t.m, "the smoothness penalty", &z->F));
    CHK(okra_doubles_(m->ctx, t.m, t.m, "the smoothness penalty", &z->B));
    okra_mat_fill_(okra_mat_of_(z->B, t.m, t.m), 0);
    t.C = z->B;
    return okra_moments_smooth_(m->ctx, m->p, m->o.graph, m->o.lambda2, &t);
}

static okra_status prepare(low *z)
{
    okra_margin_ *m = z->m;
    const okra_problem_ *p = m->p;
    okra_int rank = p->map_x->rank, d = okra_problem_features_(p);
    bool hinge = m->o.loss == OKRA_LOSS_HINGE_;
    if (m->A) {
        CHK(rotation(z));
    }
    if (m->semi) {
        CHK(penalty(z));
    }
    CHK(okra_doubles_(m->ctx, rank, d, "the margin coefficients", &z->Z));
    if (hinge) {
        ZMAKE(m->alpha, m->n);
    } else {
        CHK(okra_doubles_(m->ctx, rank, d, "the margin coefficients", &z->X));
        okra_mat_fill_(okra_mat_of_(z->X, rank, d), 0);
        CHK(okra_doubles_(m->ctx, m->n, d, "the dual variables", &m->alpha));
        okra_mat_fill_(okra_mat_of_(m->alpha, m->n, d), 0);
    }
    z->later = (double)(p->map_x->columns * d + rank * d) +
               (hinge ? okra_boxqp_low_doubles_(m->ctx, m->n, rank, d)
                      : okra_dual_low_doubles_(m->n, rank, d));
    return okra_budget_ask_(m->ctx, 8 * z->later, "the margin of %lld pairs at rank %lld",
                            (long long)m->n, (long long)rank);
}

/* The features as they serve this lambda: all the same without lambda_2. */
static okra_status features(low *z, double lambda)
{
    const okra_problem_ *p = z->m->p;
    okra_int rank = p->map_x->rank;
    if (z->f.n > 0 && !z->F) {
        return OKRA_OK;
    }
    if (z->F) {
        okra_mat_ F = okra_mat_of_(z->F, rank, rank);
        CHK(okra_mat_copy_(okra_mat_of_(z->B, rank, rank), F));
        okra_mat_add_diagonal_(F, lambda);
        CHK(okra_cholesky_(z->m->ctx, F, NULL));
        if (z->X) { /* of another F */
            okra_mat_fill_(okra_mat_of_(z->X, rank, okra_problem_features_(p)), 0);
        }
    }
    okra_factors_as_ as = {z->F, z->R, p->map_y ? 1 : sqrt(p->feature_scale), z->later};
    okra_factors_clear_(&z->f);
    return okra_factors_create_(z->m->ctx, p, &as, &z->f);
}

/* Z, and the report, of one lambda. */
static okra_status solve(low *z, double lambda, okra_store_ *store)
{
    okra_margin_ *m = z->m;
    double own = z->F ? 1 : lambda;
    CHK(features(z, lambda));
    if (m->o.loss == OKRA_LOSS_HINGE_) {
        okra_boxqp_report_ r;
        CHK(okra_boxqp_low_(&z->f, own, m->o.tolerance, m->alpha, z->Z, &r));
        CHK(okra_margin_report_(m, lambda, r.dual, r.gap, r.goal, store));
    } else {
        okra_dual_report_ r;
        okra_dual_low_ dual = {m->g, (okra_loss_)m->o.loss,
                               m->o.loss == OKRA_LOSS_HUBER_ ? m->o.delta : m->o.tube,
                               own, m->o.tolerance};
        CHK(okra_dual_low_solve_(&z->f, &dual, m->alpha, z->X, &r));
        CHK(okra_margin_report_(m, lambda, r.dual, r.gap, r.goal, store));
        for (okra_int i = 0; i < z->f.m * z->f.d; i++) {
            z->Z[i] = z->X[i] * (m->g ? sqrt(m->g[i % z->f.d]) : 1);
        }
    }
    return OKRA_OK;
}

/* Z, destroyed, as coefficients of the values, in the units of the outputs. */
static okra_status put_coefficients(low *z, okra_store_ *store)
{
    okra_context *ctx = z->m->ctx;
    const okra_map_ *map = z->m->p->map_x;
    okra_int rank = z->f.m, d = z->f.d;
    FREED_BY(okra_mat_drop_) okra_mat_ C = {0}, X = {0};
    okra_mat_ Z = okra_mat_of_(z->Z, rank, d);
    CHK(okra_mat_room_(ctx, map->columns, d, "the margin coefficients", &X));
    if (z->F) {
        CHK(okra_trsm_(ctx, true, true, okra_mat_of_(z->F, rank, rank), Z));
    }
    if (z->R) {
        CHK(okra_mat_room_(ctx, rank, d, "the margin coefficients", &C));
        CHK(okra_gemm_(ctx, false, true, 1, Z, okra_mat_of_(z->R, d, d), 0, C));
        Z.p = C.p;
    }
    CHK(okra_map_fold_(ctx, map, Z, X));
    okra_scale_down_(map->columns * d, z->f.unit, X.p);
    return okra_store_put_(store, "coefficients", &X.p, map->columns, d);
}

/* Ranks and trace errors. */
static okra_status tell(const low *z, okra_store_ *store)
{
    const okra_problem_ *p = z->m->p;
    okra_moments_ t = {.n = p->n, .m = z->f.m, .d = z->f.d};
    CHK(okra_moments_trace_error_(z->m->ctx, p->map_x, p->x, p->n, NULL, z->f.kept_x,
                                  &t.error_x));
    CHK(okra_moments_trace_error_(z->m->ctx, p->map_y, p->y, p->n, NULL, z->f.kept_y,
                                  &t.error_y));
    return okra_moments_put_(&t, p, store);
}

okra_status okra_margin_low_(okra_margin_ *m, const double *lambda, size_t count,
                             okra_store_ *const *stores)
{
    FREED_BY(clear) low z = {.m = m};
    CHK(prepare(&z));
    for (size_t l = 0; l < count; l++) {
        CHK(solve(&z, lambda[l], stores[l]));
        CHK(put_coefficients(&z, stores[l]));
        CHK(tell(&z, stores[l]));
        CHK(okra_store_put_number_(stores[l], "lambda", lambda[l]));
    }
    return OKRA_OK;
}

/* How often the duals come back to the features is known by experience alone. */
okra_status okra_margin_plan_(const okra_options *options, okra_fit_plan_ *p)
{
    double m = p->m, d = p->d, times = 40, row = 40 * m * m + 400 * 4 * m * d;
    const char *loss = okra_options_get(options, "loss");
    bool hinge = strcmp(loss, "hinge") == 0;
    if (hinge) {
        times = 15;
        row = 15 * 4 * m * d;
    } else if (strcmp(loss, "huber") == 0) {
        times = 5;
        row = 5 * m * m + 15 * 4 * m * d;
    }
    double extra = hinge ? 0 : 3 * d;
    bool stay = 8 * p->n * (m + d + extra) < p->left;
    p->row += row;
    p->doubles += p->n * (extra + (stay ? m + d : 0));
    snprintf(p->rounds, sizeof p->rounds, ", then about %.0f %s on features in %s", times,
             hinge ? "rounds" : "Newton steps", stay ? "memory" : "TMPDIR");
    return OKRA_OK;
}
