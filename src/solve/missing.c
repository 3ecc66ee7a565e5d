/*
 * missing.c: ridge on outputs of which some values are not known,
 *
 *     min_h  sum_(i,j) known (y_ij - h_j(x_i))^2 + lambda |h|^2 (+ smoothness of ridge.c)
 *
 * exactly, from the known values alone: nothing is filled in. With S the Gram matrix of
 * the labelled inputs in units of the penalty (K / lambda, or J K (lambda I + 2 lambda_2
 * M K)^-1 J' with a graph), b = 0 where the value is missing and o_j the rows known of
 * coordinate j:
 *
 *     identity  (I + S)_(o_j, o_j) b_j = y_j
 *     matrix    (I + sum_j g_j S(g_j) (x) e_j e_j')_(known, known) b = y
 *
 * and C = (lambda I + 2 lambda_2 M K)^-1 J' b (with g_j for each coordinate), then A.
 *
 * Identity: one Cholesky factor, n^3/3 at most, for each distinct set o_j, shared by the
 * coordinates that have it. Matrix: symmetric positive definite, by conjugate gradients,
 * each step 2 n^2 d (or 4 n N d with a graph), until the residual is TOLERANCE of y,
 * which bounds the error of h by as much.
 */
#include "solve/ridge.h"
#include "solve/graph.h"

static const double TOLERANCE = 1e-14, ACCEPTED = 1e-10;

typedef struct missing {
    okra_ridge_ *r;
    okra_int n, N, d;
    okra_semi_ s;
    double *K;     /* n x n; NULL: there is a graph            */
    okra_mat_ E;   /* matrix operator: rows e_j; p == NULL: no  */
    double *g;     /* its eigenvalues, 1 / m_j of lambda m_j, or NULL: 1 */
    double *S;     /* identity: n x n of this lambda           */
    double *b;     /* n x d                                    */
    double *T, *Z; /* n x d, rank x d: work of products         */
} missing;

/* ---- identity: one factor a set of known rows ---- */

static bool same_rows(const missing *m, okra_int i, okra_int j)
{
    for (okra_int k = 0; k < m->n; k++) {
        if (isnan(m->r->Y[k * m->d + i]) != isnan(m->r->Y[k * m->d + j])) {
            return false;
        }
    }
    return true;
}

/* Solves coordinate `first` and all later ones with the same known rows and g. */
static okra_status solve_alike(missing *m, okra_int first, bool *done_with)
{
    OWNED okra_int *known = NULL, *alike = NULL;
    okra_int n = m->n, d = m->d, f = 0, count = 0;
    FREED_BY(okra_mat_drop_) okra_mat_ F = {0}, y = {0};
    MAKE(known, n);
    MAKE(alike, d);
    for (okra_int k = 0; k < n; k++) {
        known[f] = k;
        f += !isnan(m->r->Y[k * d + first]);
    }
    for (okra_int j = first; j < d; j++) {
        bool same = !m->g || m->g[j] == m->g[first];
        if (!done_with[j] && same && same_rows(m, first, j)) {
            alike[count++] = j;
            done_with[j] = true;
        }
    }
    CHK(okra_mat_room_(m->r->ctx, f, f, "the known part of the Gram matrix", &F));
    CHK(okra_mat_room_(m->r->ctx, f, count, "the known outputs", &y));
    for (okra_int a = 0; a < f; a++) {
        for (okra_int c = 0; c < f; c++) {
            F.p[a * f + c] = m->S[known[a] * n + known[c]] + (a == c);
        }
        for (okra_int c = 0; c < count; c++) {
            y.p[a * count + c] = m->r->Y[known[a] * d + alike[c]];
        }
    }
    CHK(okra_engine_cholesky_(m->r->ctx, F, NULL));
    CHK(okra_engine_cholesky_solve_(m->r->ctx, F, y));
    for (okra_int a = 0; a < f; a++) {
        for (okra_int c = 0; c < count; c++) {
            m->b[known[a] * d + alike[c]] = y.p[a * count + c];
        }
    }
    return OKRA_OK;
}

/* S <- J K (lambda I + 2 lambda_2 M K)^-1 J', or K / lambda. */
static okra_status form(missing *m, double lambda)
{
    for (okra_int i = 0; m->K && i < m->n * m->n; i++) {
        m->S[i] = m->K[i] / lambda;
    }
    return m->K ? OKRA_OK
                : okra_semi_gram_(m->r->ctx, &m->s, lambda, 1,
                                  okra_mat_of_(m->S, m->n, m->n));
}

static okra_status solve_identity(missing *m, double lambda)
{
    OWNED bool *done_with = NULL;
    double before = -1;
    ZMAKE(done_with, m->d);
    okra_mat_fill_(okra_mat_of_(m->b, m->n, m->d), 0);
    for (okra_int j = 0; j < m->d; j++) {
        double own = okra_ridge_lambda_(m->r, lambda, j);
        if (done_with[j]) {
            continue;
        }
        if (own != before) {
            CHK(form(m, own));
        }
        before = own;
        CHK(solve_alike(m, j, done_with));
    }
    return OKRA_OK;
}

/* ---- matrix operators: conjugate gradients ---- */

/* out <- the known part of V + sum_j g_j S(g_j) V e_j e_j'; V: n x d, 0 where missing. */
static okra_status multiply(missing *m, double lambda, const double *V, double *out)
{
    okra_int n = m->n, d = m->d, rank = m->s.rank;
    okra_context *ctx = m->r->ctx;
    okra_mat_ T = okra_mat_of_(m->T, n, d), O = okra_mat_of_(out, n, d);
    CHK(okra_engine_gemm_(ctx, false, true, 1, okra_mat_view_(V, n, d, d), m->E, 0, T));
    if (!m->K) {
        okra_mat_ E1 = {m->s.E3, rank, n, m->s.N}, Z = okra_mat_of_(m->Z, rank, d);
        CHK(okra_engine_gemm_(ctx, false, false, 1, E1, T, 0, Z));
        for (okra_int i = 0; i < rank * d; i++) {
            double g = m->g[i % d];
            Z.p[i] *= g / (lambda + g * m->s.t[i / d]);
        }
        CHK(okra_engine_gemm_(ctx, true, false, 1, E1, Z, 0, O));
    } else {
        for (okra_int i = 0; i < n * d; i++) {
            T.p[i] *= m->g[i % d] / lambda;
        }
        CHK(okra_engine_gemm_(ctx, false, false, 1, okra_mat_of_(m->K, n, n), T, 0, O));
    }
    CHK(okra_mat_copy_(O, T));
    CHK(okra_engine_gemm_(ctx, false, false, 1, T, m->E, 0, O));
    for (okra_int i = 0; i < n * d; i++) {
        out[i] = isnan(m->r->Y[i]) ? 0 : out[i] + V[i];
    }
    return OKRA_OK;
}

static okra_status solve_matrix(missing *m, double lambda)
{
    okra_int size = m->n * m->d, known = 0, step = 0;
    OWNED double *R = NULL;
    double *P = NULL, *Q = NULL;
    CHK(okra_doubles_(m->r->ctx, 3 * m->n, m->d, "conjugate gradients", &R));
    P = R + size;
    Q = P + size;
    for (okra_int i = 0; i < size; i++) {
        known += !isnan(m->r->Y[i]);
        m->b[i] = 0;
        R[i] = P[i] = isnan(m->r->Y[i]) ? 0 : m->r->Y[i];
    }
    double rr = okra_dot_(size, R, R), whole = rr;
    for (; step < 10 * known + 100 && rr > TOLERANCE * TOLERANCE * whole; step++) {
        CHK(okra_cancelled_(m->r->ctx));
        CHK(multiply(m, lambda, P, Q));
        double a = rr / okra_dot_(size, P, Q), before = rr;
        for (okra_int i = 0; i < size; i++) {
            m->b[i] += a * P[i];
            R[i] -= a * Q[i];
        }
        rr = okra_dot_(size, R, R);
        for (okra_int i = 0; i < size; i++) {
            P[i] = R[i] + rr / before * P[i];
        }
    }
    if (!(rr <= ACCEPTED * ACCEPTED * whole)) {
        okra_warn_(
            m->r->ctx,
            "ridge: missing values, lambda = %g: conjugate gradients stopped after "
            "%lld steps with a residual of %.3g of the outputs, expected %.3g",
            lambda, (long long)step, sqrt(rr / whole), ACCEPTED);
    }
    return OKRA_OK;
}

/* ---- both ---- */

static okra_status prepare(missing *m, double *A)
{
    okra_ridge_ *r = m->r;
    okra_int d = m->d;
    FREED_BY(okra_matrix_drop_) okra_matrix_ *K = NULL;
    if (A || r->times) {
        MAKE(m->g, d);
    }
    for (okra_int j = 0; r->times && j < d; j++) {
        m->g[j] = 1 / r->times[j];
    }
    if (A) {
        m->E = okra_mat_of_(A, d, d);
        CHK(okra_operator_decompose_(r->ctx, m->E, m->g));
    }
    if (r->graph) {
        CHK(okra_semi_open_(r->ctx, r->p, r->s, r->graph, r->lambda2, false, 0, &m->s));
    } else {
        CHK(okra_ridge_K_(r, &K));
        CHK(okra_matrix_take_(r->ctx, &K, "the Gram matrix of the inputs", &m->K));
    }
    CHK(okra_doubles_(r->ctx, m->n, d, "the known outputs", &m->b));
    if (A) {
        CHK(okra_doubles_(r->ctx, m->n, d, "conjugate gradients", &m->T));
        return okra_doubles_(r->ctx, m->s.rank, d, "conjugate gradients", &m->Z);
    }
    return okra_doubles_(r->ctx, m->n, m->n, "the Gram matrix of the inputs", &m->S);
}

static void missing_clear(missing *m)
{
    okra_semi_clear_(&m->s);
    FREE(m->K, m->g, m->S, m->b, m->T, m->Z);
}

okra_status okra_ridge_missing_(okra_ridge_ *r, double *A)
{
    FREED_BY(missing_clear)
    missing m = {.r = r, .n = r->p->n, .N = r->p->n + r->p->unlabelled, .d = r->p->d};
    CHK(prepare(&m, A));
    for (size_t l = 0; l < r->count; l++) {
        CHK(A ? solve_matrix(&m, r->lambda[l]) : solve_identity(&m, r->lambda[l]));
        CHK(okra_semi_put_(r->ctx, m.K ? NULL : &m.s, m.N, r->lambda[l], m.g, m.E,
                           okra_mat_of_(m.b, m.n, m.d), false, r->stores[l]));
    }
    return OKRA_OK;
}
