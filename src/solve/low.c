/*
 * low.c: ridge.c in factored form, K = Phi Phi' (n x m), output features Psi
 * (n x d): explicit ones, or those of a low-rank output kernel, L = Psi Psi'.
 *
 *     h(x)' = phi(x)' A,   A: m x d,   C = Phi'Phi,  R = Phi'Psi,  D = Psi'Psi
 *
 *   identity   A = (C + lambda I)^-1 R
 *   matrix     M = E' diag(g) E (d x d), C = V' diag(v) V:
 *              A = V' [ (V R E')_ij g_j / (lambda + g_j v_i) ] E
 *   cov, ccov  T a K + n lambda a = I, T = S L, h(x) = Psi' T a k_x (linalg/kron.c).
 *              Psi' from the left and Phi from the right give for X = Psi' a Phi
 *                  M X C + n lambda X = R',   A' = M X,   M = Psi' S Psi:
 *              the matrix operator with M and n lambda. M = D for cov; for ccov, by
 *              Woodbury, M = D - R' (C + n epsilon I)^-1 R.
 *   identity, outputs without features: w(x) = Phi (C + lambda I)^-1 phi(x), n x columns
 *
 * Centred outputs: Psi less its mean, which is restored after. Semi-supervised, identity
 * and matrix: Phi'P Phi in the place of C (moments_graph.c).
 *
 * phi(x)' = v(x)' T (kernel/lowrank/lowrank.h): the model keeps T A, columns x d, and the
 * basis of the inputs, so that a query costs columns * d. Cost: one pass of n m^2 to 2 n
 * m^2, 2 n m d
 * (+ n d^2), then m^3/3 (identity, one lambda) or eigendecompositions of m^3 and d^3; the
 * paper's form takes m^3 d^3 (Kadri et al. 2013, sec. 4). Memory m^2 + 2 m d (+ d^2)
 * doubles beside a block of rows. Accuracy: that of the dense form with K moved by
 * n eps max k(x,x); M loses eps |D| to cancellation, so that ccov has a relative error of
 * about eps (1 + |D| |C| / (n lambda)).
 */
#include "kernel/lowrank/lowrank.h"
#include "solve/ridge.h"
#include "solve/moments.h"

typedef struct low {
    okra_ridge_ *r;
    const okra_map_ *map;
    okra_moments_ t;
    okra_matrix_ *C; /* m x m: of t, then its factor or V, C = V' diag(v) V */
    double *v;       /* m */
} low;

static okra_mat_ moments_R(const low *z)
{
    return okra_mat_of_(z->t.R, z->t.m, z->t.d);
}

okra_status okra_ridge_put_folded_(okra_context *ctx, const okra_map_ *fold, okra_int m,
                                   okra_int d, okra_store_ *store, double **A)
{
    okra_int columns = fold ? fold->columns : m;
    OWNED double *X = NULL, *plain = TAKE(*A);
    if (fold && fold->sketch) {
        CHK(okra_doubles_(ctx, columns, d, "the ridge coefficients", &X));
    }
    if (fold) {
        CHK(okra_map_fold_(ctx, fold, okra_mat_of_(plain, m, d),
                           okra_mat_of_(X ? X : plain, columns, d)));
    }
    return okra_store_put_(store, "coefficients", X ? &X : &plain, columns, d);
}

/* The mean, ranks and trace errors. */
okra_status okra_ridge_put_moments_(const okra_ridge_ *r, const okra_moments_ *t,
                                    okra_store_ *store)
{
    if (r->center && t->d > 0) {
        CHK(okra_ridge_put_mean_(store, t->psi, t->d));
    }
    return okra_moments_put_(t, r->p, store);
}

static okra_status decompose(low *z)
{
    MAKE(z->v, z->t.m);
    CHK(okra_ridge_decompose_(z->r->ctx, z->C, z->v));
    okra_ridge_minimum_(z->r, z->t.m, z->v);
    return OKRA_OK;
}

/* E == NULL: identity; else d x d with eigenvalues g. lambda times `times`. */
static okra_status spectral(low *z, const double *E, const double *g, double times)
{
    okra_spectral_ s = {z->C, z->v, moments_R(z), E, g, times, z->map};
    return okra_ridge_spectral_(z->r, &s);
}

/* ---- identity ---- */

static okra_status identity_once(low *z)
{
    double jitter = 0;
    CHK(okra_matrix_add_diagonal_(z->r->ctx, z->r->lambda[0], z->C));
    CHK(okra_matrix_cholesky_(z->r->ctx, z->C, &jitter));
    CHK(okra_matrix_solve_host_(z->r->ctx, true, z->C, moments_R(z)));
    CHK(okra_ridge_put_folded_(z->r->ctx, z->map, z->t.m, z->t.d, z->r->stores[0],
                               &z->t.R));
    return okra_store_put_number_(z->r->stores[0], "jitter", jitter);
}

/* ---- cov and ccov ---- */

/* D becomes M = Psi' S Psi in the units of the output kernel. */
static okra_status conditional(low *z, double epsilon)
{
    okra_context *ctx = z->r->ctx;
    okra_int m = z->t.m, d = z->t.d;
    OWNED double *F = NULL;
    okra_mat_ D = okra_mat_of_(z->t.D, d, d);
    if (epsilon > 0) {
        CHK(okra_doubles_(ctx, m, d, "the rotated outputs", &F));
        okra_mat_ Fm = okra_mat_of_(F, m, d);
        CHK(okra_matrix_left_(ctx, false, false, 1, z->C, moments_R(z), Fm));
        for (okra_int i = 0; i < m; i++) {
            double s = 1 / sqrt(z->v[i] + z->t.total * epsilon);
            for (okra_int j = 0; j < d; j++) {
                F[i * d + j] *= s;
            }
        }
        CHK(okra_syrk_(ctx, true, -1, Fm, 1, D));
    }
    for (okra_int i = 0; !z->r->p->map_y && i < d * d; i++) {
        D.p[i] *= z->r->p->feature_scale;
    }
    return OKRA_OK;
}

static okra_status covariance(low *z, double epsilon)
{
    okra_int d = z->t.d;
    OWNED double *g = NULL;
    CHK(conditional(z, epsilon));
    MAKE(g, d);
    CHK(okra_eigh_(z->r->ctx, okra_mat_of_(z->t.D, d, d), g));
    for (okra_int j = 0; j < d; j++) {
        g[j] = fmax(g[j], 0); /* M is positive semi-definite but for rounding */
    }
    return spectral(z, z->t.D, g, z->t.total);
}

static okra_status matrix(low *z, double *A)
{
    OWNED double *g = NULL;
    MAKE(g, z->t.d);
    CHK(okra_operator_decompose_(z->r->ctx, okra_mat_of_(A, z->t.d, z->t.d), g));
    return spectral(z, A, g, 1);
}

/* ---- weights: outputs without features ---- */

typedef struct weighing {
    okra_mat_ X, B; /* columns x m, n x columns */
} weighing;

static okra_status weigh(okra_context *ctx, void *user, okra_int first, okra_mat_ Phi,
                         okra_mat_ Psi)
{
    weighing *w = user;
    (void)Psi;
    return okra_gemm_(ctx, false, true, 1, Phi, w->X, 0,
                      okra_mat_part_(w->B, first, Phi.rows, 0, w->B.cols));
}

static okra_status weights(low *z)
{
    okra_context *ctx = z->r->ctx;
    okra_int m = z->t.m, n = z->t.n, columns = z->map->columns;
    FREED_BY(okra_matrix_drop_) okra_matrix_ *S = NULL, *inverse = NULL;
    OWNED double *G = NULL, *X = NULL, *B = NULL;
    CHK(decompose(z));
    CHK(okra_doubles_(ctx, m, m, "the inverse of the moments", &G));
    CHK(okra_matrix_begin_(ctx, false, okra_mat_of_(G, m, m), &inverse));
    CHK(okra_matrix_create_(ctx, m, m, "the scaled eigenvectors", &S));
    CHK(okra_doubles_(ctx, columns, m, "the folded inverse", &X));
    for (size_t l = 0; l < z->r->count; l++) {
        CHK(okra_ridge_inverse_(ctx, z->C, z->v, z->r->lambda[l], 1, S, inverse));
        CHK(okra_matrix_end_(ctx, inverse, okra_mat_of_(G, m, m)));
        CHK(okra_map_fold_(ctx, z->map, okra_mat_of_(G, m, m),
                           okra_mat_of_(X, columns, m)));
        CHK(okra_doubles_(ctx, n, columns, "the ridge weights", &B));
        weighing w = {okra_mat_of_(X, columns, m), okra_mat_of_(B, n, columns)};
        CHK(okra_moments_pass_(ctx, z->r->p, "weights", true, weigh, &w));
        CHK(okra_store_put_(z->r->stores[l], "B", &B, n, columns));
    }
    return OKRA_OK;
}

/* ---- the features themselves as outputs, of a basis ---- */

okra_status okra_solution_basis_(okra_context *ctx, const okra_map_ *map,
                                 okra_store_ *store)
{
    okra_int m = map->rank;
    OWNED double *I = NULL, *X = NULL;
    CHK(okra_doubles_(ctx, m, m, "the features of a basis", &I));
    CHK(okra_doubles_(ctx, map->columns, m, "the features of a basis", &X));
    okra_mat_fill_(okra_mat_of_(I, m, m), 0);
    okra_mat_add_diagonal_(okra_mat_of_(I, m, m), 1);
    CHK(okra_map_fold_(ctx, map, okra_mat_of_(I, m, m),
                       okra_mat_of_(X, map->columns, m)));
    CHK(okra_store_put_(store, "coefficients", &X, map->columns, m));
    CHK(okra_store_put_text_(store, "operator", "identity"));
    CHK(okra_store_put_number_(store, "lambda", 0));
    return okra_store_put_number_(store, "center", 0);
}

/* ---- all together ---- */

okra_status okra_ridge_put_mean_(okra_store_ *store, const double *mean, okra_int d)
{
    OWNED double *copy = NULL;
    MAKE(copy, d);
    CHK(okra_mat_copy_(okra_mat_view_(mean, 1, d, d), okra_mat_of_(copy, 1, d)));
    return okra_store_put_(store, "mean", &copy, 1, d);
}

/* The least that is added to C; 0 where that is not told before the pass. With a matrix
 * operator lambda / g_j, g_j at most its largest sum of a row. */
static double least_ridge(const okra_ridge_ *r, const okra_operator_ *op, okra_int d)
{
    double least = okra_ridge_least_lambda_(r), most = op->A ? 0 : 1;
    for (okra_int i = 0; op->A && i < d; i++) {
        double sum = 0;
        for (okra_int j = 0; j < d; j++) {
            sum += fabs(op->A[i * d + j]);
        }
        most = fmax(most, sum);
    }
    bool told = op->kind == OKRA_OPERATOR_IDENTITY || op->A;
    return told && most > 0 && r->lambda2 == 0 ? least / most : 0;
}

static void low_clear(low *z)
{
    okra_matrix_free_(z->C);
    okra_moments_clear_(&z->t);
    okra_free_(z->v);
}

okra_status okra_ridge_of_moments_(okra_ridge_ *r, const okra_operator_ *op,
                                   double epsilon, okra_moments_ *t)
{
    bool covariances = op->kind == OKRA_OPERATOR_COV || op->kind == OKRA_OPERATOR_CCOV;
    FREED_BY(low_clear) low z = {.r = r, .map = r->p->map_x, .t = TAKE(*t)};
    if (r->center) {
        okra_moments_center_(&z.t);
    }
    if (r->lambda2 > 0) {
        CHK(okra_moments_smooth_(r->ctx, r->p, r->graph, r->lambda2, &z.t));
    }
    CHK(okra_matrix_begin_(r->ctx, true, okra_mat_of_(z.t.C, z.t.m, z.t.m), &z.C));
    for (size_t l = 0; l < r->count; l++) {
        CHK(okra_ridge_put_moments_(r, &z.t, r->stores[l]));
    }
    if (z.t.d == 0) {
        return weights(&z);
    }
    if (op->kind == OKRA_OPERATOR_IDENTITY && !r->times && r->count == 1 &&
        r->lambda[0] > 0) {
        return identity_once(&z);
    }
    CHK(decompose(&z));
    return covariances ? covariance(&z, op->kind == OKRA_OPERATOR_COV ? -1 : epsilon)
           : op->A     ? matrix(&z, op->A)
                       : spectral(&z, NULL, NULL, 1);
}

okra_status okra_ridge_low_(okra_ridge_ *r, const okra_operator_ *op, double epsilon)
{
    bool covariances = op->kind == OKRA_OPERATOR_COV || op->kind == OKRA_OPERATOR_CCOV;
    FREED_BY(okra_moments_clear_) okra_moments_ t = {0};
    REFUSE_IF(okra_problem_features_(r->p) == 0 && op->kind != OKRA_OPERATOR_IDENTITY,
              OKRA_EARG, "ridge: the operator is %s, so that low-rank-x needs low-rank-y",
              op->kind == OKRA_OPERATOR_COV ? "cov" : "ccov");
    /* Moments that are kept are good to rounding, whatever lambda is now. */
    double ridge = r->keep_moments ? 0 : least_ridge(r, op, okra_problem_features_(r->p));
    okra_keep_ keep = {.path = r->checkpoint};
    bool kept = r->checkpoint && *r->checkpoint;
    if (kept) {
        CHK(okra_ridge_name_(r, &keep.problem));
    }
    CHK(okra_moments_create_by_(r->ctx, r->p, covariances, ridge, kept ? &keep : NULL,
                                &t));
    for (size_t l = 0; r->keep_moments && l < r->count; l++) {
        CHK(okra_ridge_keep_moments_(r->p, &t, op->A, r->stores[l]));
    }
    return okra_ridge_of_moments_(r, op, epsilon, &t);
}
