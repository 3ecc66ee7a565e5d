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
 * and matrix: Phi'P Phi in the place of C (below).
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
#include "solve/graph.h"

/* ---- the smoothness penalty of semi-supervised ridge in factored form:
 *     Phi'P Phi = C + 2 lambda_2 Phi'M Phi,   P = J'J + 2 lambda_2 M (semi.c),
 * C over the labelled inputs, M of graph.c over all N inputs.
 *
 * gram: W = Phi Phi', s = Phi'1, G = Phi'Phi; M = diag(W 1) - W gives
 *     Phi'M Phi = Phi' diag(Phi s) Phi - G G.
 * gram | normalized: d_i = phi_i's, loops included, and with e_i = d_i^-1/2 (0 where d_i
 * is 0)
 *     Phi'M Phi = Phi' diag(d_i > 0) Phi - G G,   G = Phi' diag(e) Phi.
 * W must be >= 0, as in graph.c; what is seen of it are its row sums, which are checked.
 *
 * knn, file: a sparse Laplacian Lap, M = Lap^p. T = Lap^a Phi, a = p / 2 rounded down,
 * by a products of rows; then Phi'M Phi is T'T, or T'(Lap T) where p is odd.
 *
 * Cost: gram two passes over the inputs, 3 N m^2 and 2 m^3, memory 2 m^2 and a block. The
 * others: one pass, the neighbours (graph_knn.c: N^2 m), 2 p m a weight, 2 N m^2; Phi
 * (N x m; from p = 2 on two of that size) is kept, in a file where it is large.
 */

typedef struct penalty {
    bool normalized;
    okra_mat_ G, Q; /* m x m: as above, and the first term */
    double *s;      /* m */
    double total;   /* 1'W 1 = |s|^2 */
    double *scaled; /* ROWS x m */
} penalty;

enum { ROWS = 1024 };

/* ---- gram ---- */

static okra_status first(okra_context *ctx, void *user, okra_int at, okra_mat_ Phi,
                         okra_mat_ Psi)
{
    penalty *z = user;
    if (!z->normalized) {
        CHK(okra_syrk_(ctx, true, 1, Phi, at > 0, z->G));
    }
    for (okra_int i = 0; i < Phi.rows; i++) {
        okra_axpy_(Phi.cols, 1, Phi.p + i * Phi.ld, z->s);
    }
    return OKRA_OK;
}

/* The weight of input i in the first term, and in G. */
static okra_status moments_graph_weigh(const penalty *z, okra_int i, okra_int m,
                                       const double *phi, double weight[2])
{
    double sum = okra_dot_(m, phi, z->s);
    REFUSE_IF(sum < -1e-8 * z->total, OKRA_EARG,
              "graph gram: the kernel of input %lld with all others sums to %g, expected "
              "a kernel whose values are not below 0",
              (long long)i, sum);
    weight[0] = sum;
    weight[1] = 1;
    if (z->normalized) {
        weight[0] = sum > 0;
        weight[1] = sum > 0 ? 1 / sqrt(sum) : 0;
    }
    return OKRA_OK;
}

static okra_status second(okra_context *ctx, void *user, okra_int at, okra_mat_ Phi,
                          okra_mat_ Psi)
{
    penalty *z = user;
    okra_int m = Phi.cols;
    for (okra_int i0 = 0; i0 < Phi.rows; i0 += ROWS) {
        okra_int some = OKRA_MIN_(ROWS, Phi.rows - i0);
        okra_mat_ P = okra_mat_part_(Phi, i0, some, 0, m);
        okra_mat_ S = okra_mat_of_(z->scaled, some, m);
        for (int term = 0; term < 1 + z->normalized; term++) {
            for (okra_int i = 0; i < some; i++) {
                const double *phi = P.p + i * P.ld;
                double weight[2];
                CHK(moments_graph_weigh(z, at + i0 + i, m, phi, weight));
                for (okra_int j = 0; j < m; j++) {
                    S.p[i * m + j] = weight[term] * phi[j];
                }
            }
            CHK(okra_gemm_(ctx, true, false, 1, P, S, at + i0 > 0, term ? z->G : z->Q));
        }
    }
    return OKRA_OK;
}

static okra_status by_gram(okra_context *ctx, const okra_problem_ *all, penalty *z)
{
    OWNS(&z->s, &z->scaled);
    okra_int m = z->Q.rows;
    OWNED double *G = NULL;
    CHK(okra_doubles_(ctx, m, m, "the moments of all inputs", &G));
    CHK(okra_doubles_(ctx, OKRA_MIN_(ROWS, all->n), m, "a block of features",
                      &z->scaled));
    ZMAKE(z->s, m);
    z->G = okra_mat_of_(G, m, m);
    CHK(okra_moments_pass_(ctx, all, "moments of all inputs", true, first, z));
    z->total = okra_dot_(m, z->s, z->s);
    CHK(okra_moments_pass_(ctx, all, "smoothness", true, second, z));
    return okra_gemm_(ctx, false, true, -1, z->G, z->G, 1, z->Q);
}

/* ---- sparse graphs ---- */

static okra_status keep(okra_context *ctx, void *user, okra_int at, okra_mat_ Phi,
                        okra_mat_ Psi)
{
    if (Phi.ld == Phi.cols) {
        return okra_scratch_write_(user, at, Phi.rows, Phi.p);
    }
    for (okra_int i = 0; i < Phi.rows; i++) {
        CHK(okra_scratch_write_(user, at + i, 1, Phi.p + i * Phi.ld));
    }
    return OKRA_OK;
}

static okra_mat_ matrix_of(const okra_scratch_ *s)
{
    return okra_mat_view_(s->p, s->rows, s->cols, s->cols);
}

/* T <- Lap T */
static okra_status advance(okra_context *ctx, const okra_graph_ *graph, okra_scratch_ *T,
                           okra_mat_ block)
{
    FREED_BY(okra_scratch_clear_) okra_scratch_ next = {0};
    CHK(okra_scratch_create_(ctx, T->rows, T->cols, "a product with the graph", &next));
    for (okra_int i = 0; i < T->rows; i += block.rows) {
        okra_mat_ some =
            okra_mat_part_(block, 0, OKRA_MIN_(block.rows, T->rows - i), 0, block.cols);
        CHK(okra_graph_rows_(ctx, graph, matrix_of(T), i, some));
        CHK(okra_scratch_write_(&next, i, some.rows, some.p));
    }
    okra_scratch_clear_(T);
    *T = TAKE(next);
    return OKRA_OK;
}

static okra_status apply(okra_context *ctx, const okra_graph_ *graph, okra_scratch_ *T,
                         okra_mat_ Q)
{
    okra_int N = T->rows, m = T->cols, power = okra_graph_power_(graph);
    okra_int rows = okra_block_rows_(ctx, N, m);
    OWNED double *block = NULL;
    CHK(okra_doubles_(ctx, rows, m, "a block of features", &block));
    for (okra_int k = 0; k < power / 2; k++) {
        CHK(advance(ctx, graph, T, okra_mat_of_(block, rows, m)));
    }
    for (okra_int i = 0; i < N; i += rows) {
        okra_int some = OKRA_MIN_(rows, N - i);
        okra_mat_ A = okra_mat_part_(matrix_of(T), i, some, 0, m), B = A;
        CHK(okra_cancelled_(ctx));
        if (power % 2) {
            B = okra_mat_of_(block, some, m);
            CHK(okra_graph_rows_(ctx, graph, matrix_of(T), i, B));
        }
        CHK(okra_gemm_(ctx, true, false, 1, A, B, i > 0, Q));
    }
    return OKRA_OK;
}

static okra_status by_weights(okra_context *ctx, const okra_problem_ *all,
                              const char *text, okra_mat_ Q)
{
    OWNED double *self = NULL;
    FREED_BY(okra_scratch_clear_) okra_scratch_ Phi = {0};
    FREED_BY(okra_graph_drop_) okra_graph_ *graph = NULL;
    CHK(okra_scratch_create_(ctx, all->n, Q.rows, "the features of the inputs", &Phi));
    CHK(okra_moments_pass_(ctx, all, "features", true, keep, &Phi));
    if (!all->map_x->kernel) { /* waves are no projection: no bound */
        MAKE(self, all->x->n);
        CHK(okra_map_self_(ctx, all->map_x, all->x, self));
    }
    okra_graph_kernel_ kernel = {.Phi = matrix_of(&Phi), .self = self};
    CHK(okra_graph_create_(ctx, text, &kernel, &graph));
    return apply(ctx, graph, &Phi, Q);
}

/* ---- both ---- */

okra_status okra_moments_smooth_(okra_context *ctx, const okra_problem_ *p,
                                 const char *graph, double lambda2, okra_moments_ *t)
{
    okra_int m = t->m;
    OWNED double *Q = NULL;
    okra_graph_text_ text = {0};
    OWNS(&text.file);
    okra_problem_ all = *p; /* every input, and no outputs */
    all.n += all.unlabelled;
    all.map_y = NULL;
    all.features = NULL;
    all.weights = NULL; /* the graph holds each input once */
    CHK(okra_graph_low_check_(graph));
    CHK(okra_graph_parse_(graph, &text));
    CHK(okra_doubles_(ctx, m, m, "the smoothness penalty", &Q));
    penalty z = {.normalized = text.normalized, .Q = okra_mat_of_(Q, m, m)};
    CHK(text.source == OKRA_GRAPH_GRAM_ ? by_gram(ctx, &all, &z)
                                        : by_weights(ctx, &all, graph, z.Q));
    for (okra_int i = 0; i < m; i++) {
        for (okra_int j = 0; j <= i; j++) { /* symmetric to the last bit */
            double q = lambda2 * (Q[i * m + j] + Q[j * m + i]);
            t->C[i * m + j] += q;
            t->C[j * m + i] = t->C[i * m + j];
        }
    }
    return OKRA_OK;
}

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

okra_status okra_ridge_put_moments_(const okra_ridge_ *r, const okra_moments_ *t,
                                    okra_store_ *store)
{
    if (r->center && t->d > 0) {
        CHK(okra_store_put_copy_(store, "mean", t->psi, 1, t->d));
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
    FREED_BY(okra_mat_drop_) okra_mat_ F = {0};
    okra_mat_ D = okra_mat_of_(z->t.D, d, d);
    if (epsilon > 0) {
        CHK(okra_mat_room_(ctx, m, d, "the rotated outputs", &F));
        CHK(okra_matrix_left_(ctx, false, false, 1, z->C, moments_R(z), F));
        for (okra_int i = 0; i < m; i++) {
            double s = 1 / sqrt(z->v[i] + z->t.total * epsilon);
            okra_scale_(d, s, F.p + i * d);
        }
        CHK(okra_syrk_(ctx, true, -1, F, 1, D));
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
    return okra_gemm_(ctx, false, true, 1, Phi, w->X, 0,
                      okra_mat_part_(w->B, first, Phi.rows, 0, w->B.cols));
}

static okra_status weights(low *z)
{
    okra_context *ctx = z->r->ctx;
    okra_int m = z->t.m, n = z->t.n, columns = z->map->columns;
    FREED_BY(okra_matrix_drop_) okra_matrix_ *S = NULL, *inverse = NULL;
    FREED_BY(okra_mat_drop_) okra_mat_ G = {0}, X = {0}, B = {0};
    CHK(decompose(z));
    CHK(okra_mat_room_(ctx, m, m, "the inverse of the moments", &G));
    CHK(okra_matrix_begin_(ctx, false, G, &inverse));
    CHK(okra_matrix_create_(ctx, m, m, "the scaled eigenvectors", &S));
    CHK(okra_mat_room_(ctx, columns, m, "the folded inverse", &X));
    for (size_t l = 0; l < z->r->count; l++) {
        CHK(okra_ridge_inverse_(ctx, z->C, z->v, z->r->lambda[l], 1, S, inverse));
        CHK(okra_matrix_end_(ctx, inverse, G));
        CHK(okra_map_fold_(ctx, z->map, G, X));
        CHK(okra_mat_room_(ctx, n, columns, "the ridge weights", &B));
        weighing w = {X, B};
        CHK(okra_moments_pass_(ctx, z->r->p, "weights", true, weigh, &w));
        CHK(okra_store_put_(z->r->stores[l], "B", &B.p, n, columns));
    }
    return OKRA_OK;
}

/* ---- the features themselves as outputs, of a basis ---- */

okra_status okra_solution_basis_(okra_context *ctx, const okra_map_ *map,
                                 okra_store_ *store)
{
    okra_int m = map->rank;
    FREED_BY(okra_mat_drop_) okra_mat_ I = {0}, X = {0};
    CHK(okra_mat_room_(ctx, m, m, "the features of a basis", &I));
    CHK(okra_mat_room_(ctx, map->columns, m, "the features of a basis", &X));
    okra_mat_units_(I, 0);
    CHK(okra_map_fold_(ctx, map, I, X));
    CHK(okra_store_put_(store, "coefficients", &X.p, map->columns, m));
    CHK(okra_store_put_text_(store, "operator", "identity"));
    CHK(okra_store_put_number_(store, "lambda", 0));
    return okra_store_put_number_(store, "center", 0);
}

/* ---- all together ---- */

/* The least that is added to C; 0 where that is not told before the pass. With a matrix
 * operator lambda / g_j, g_j at most its largest sum of a row. */
static double least_ridge(const okra_ridge_ *r, const okra_operator_ *op, okra_int d)
{
    double least = okra_ridge_least_lambda_(r), most = op->A ? 0 : 1;
    for (okra_int i = 0; op->A && i < d; i++) {
        double sum = okra_total_abs_(d, op->A + i * d);
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
    CHK(okra_moments_create_(r->ctx, r->p, covariances, ridge, kept ? &keep : NULL, &t));
    for (size_t l = 0; r->keep_moments && l < r->count; l++) {
        CHK(okra_ridge_keep_moments_(r->p, &t, op->A, r->stores[l]));
    }
    return okra_ridge_of_moments_(r, op, epsilon, &t);
}
