/*
 * semi.c: X = R (lambda I + g K P)^-1 by symmetric decompositions, for P = J'J + 2
 * lambda_2 M (ridge, Brouard et al. 2016 Prop. 9) or P = 2 lambda_2 M (margin, Prop. 10).
 *
 * K: N x N Gram matrix of all inputs, J = (I 0): n x N, M: penalty of graph.c. K P is not
 * symmetric, but with K = F F' (Cholesky factor, or, where K is singular to rounding,
 * eigenvectors times roots of eigenvalues; rank r)
 *     T = F' P F = U diag(t) U',   E3 = F U,   E2 = P F U          (both N x r)
 *     (lambda I + g K P)^-1 = (I - g E3 diag(1 / (lambda + g t)) E2') / lambda
 *     J K (lambda I + g P K)^-1 J' = (J E3) diag(1 / (lambda + g t)) (J E3)'
 * so one factor of K and one eigendecomposition of T serve every lambda and every
 * eigenvalue g of a matrix operator. The first line subtracts close numbers when lambda
 * is small; one step of iterative refinement,
 *
 *     X += (R - X (lambda I + g K P)) (lambda I + g K P)^-1,   K P = E3 E2'
 *
 * brings the error back to what elimination with pivoting has (measured: lambda = 1e-6,
 * lambda_2 = 10: 2e-7 before, 2e-11 after).
 *
 * Where one lambda is wanted, and g = 1, the Cholesky factor of lambda I + T = G G' takes
 * the place of the eigendecomposition: U = G'^-1, and 1 for lambda + t; in the step of
 * refinement K P = E3 G' G E2'.
 *
 * Eigenvalues of K below N eps times the largest are rounding and are dropped. Cost: one
 * eigendecomposition, or two, or none, O(N^3), once; 4 products with E2, E3 a solve.
 * Memory: 4 N^2.
 */
#include "solve/graph.h"

/* The lower triangle of A becomes the upper one of its transpose, the other is 0. */
static void turn(okra_mat_ A)
{
    for (okra_int i = 0; i < A.rows; i++) {
        for (okra_int j = 0; j < i; j++) {
            A.p[j * A.ld + i] = A.p[i * A.ld + j];
            A.p[i * A.ld + j] = 0;
        }
    }
}

/* Rows of Ft (rank x N) are the columns of F, K = F F'; in the place of K. */
static okra_status factor(okra_context *ctx, okra_mat_ K, okra_int *rank)
{
    okra_int N = K.rows;
    bool done = false;
    OWNED double *v = NULL;
    CHK(okra_engine_cholesky_try_(ctx, K, &done));
    if (done) {
        turn(K);
        *rank = N;
        return OKRA_OK;
    }
    MAKE(v, N);
    CHK(okra_engine_eigh_(ctx, K, v));
    double top = N ? fmax(fabs(v[0]), fabs(v[N - 1])) : 0;
    okra_solution_clamp_(ctx, "the input", N, v);
    *rank = 0;
    for (okra_int i = 0; i < N; i++) {
        if (v[i] > (double)N * DBL_EPSILON * top) {
            double *to = K.p + (*rank)++ * K.ld;
            const double *from = K.p + i * K.ld, root = sqrt(v[i]);
            for (okra_int j = 0; j < N; j++) {
                to[j] = root * from[j];
            }
        }
    }
    return OKRA_OK;
}

/* PF <- F M, where columns of F and of what comes are divided by s (first n; NULL: 1). */
static okra_status penalise(okra_context *ctx, const okra_graph_ *M, okra_mat_ F,
                            okra_int n, const double *s, okra_mat_ PF)
{
    FREED_BY(okra_mat_drop_) okra_mat_ plain = {0};
    if (!s) {
        return okra_graph_apply_(ctx, M, F, PF);
    }
    CHK(okra_mat_room_(ctx, F.rows, F.cols, "the penalty of the graph", &plain));
    CHK(okra_mat_copy_(F, plain));
    for (okra_int i = 0; i < plain.rows; i++) {
        for (okra_int j = 0; j < n; j++) {
            plain.p[i * plain.ld + j] /= s[j];
        }
    }
    CHK(okra_graph_apply_(ctx, M, plain, PF));
    for (okra_int i = 0; i < PF.rows; i++) {
        for (okra_int j = 0; j < n; j++) {
            PF.p[i * PF.ld + j] /= s[j];
        }
    }
    return OKRA_OK;
}

/* E3 and E2 by the factor of only I + T, which s->G becomes; nothing where that is not
 * positive definite to rounding. */
static okra_status by_factor(okra_context *ctx, okra_mat_ F, okra_mat_ PF, double only,
                             okra_semi_ *s)
{
    okra_int r = s->rank, N = s->N;
    bool done = false;
    OWNED double *G = NULL;
    CHK(okra_doubles_(ctx, r, r, "the penalty of the graph", &G));
    okra_mat_ T = okra_mat_of_(G, r, r);
    CHK(okra_engine_gemm_(ctx, false, true, 1, F, PF, 0, T)); /* F' P F */
    okra_mat_add_diagonal_(T, only);
    CHK(okra_engine_cholesky_try_(ctx, T, &done));
    if (!done) {
        return OKRA_OK;
    }
    for (okra_int i = 0; i < r; i++) {
        memset(G + i * r + i + 1, 0, (size_t)(r - i - 1) * sizeof *G);
    }
    okra_mat_ E3 = okra_mat_of_(s->E3, r, N), E2 = okra_mat_of_(s->E2, r, N);
    CHK(okra_mat_copy_(F, E3));
    CHK(okra_mat_copy_(PF, E2));
    CHK(okra_engine_trsm_(ctx, true, false, T, E3));
    CHK(okra_engine_trsm_(ctx, true, false, T, E2));
    s->G = TAKE(G);
    return OKRA_OK;
}

static okra_status by_spectrum(okra_context *ctx, okra_mat_ F, okra_mat_ PF,
                               okra_semi_ *s)
{
    okra_int r = s->rank, N = s->N;
    OWNED double *values = NULL;
    CHK(okra_doubles_(ctx, r, r, "the penalty of the graph", &values));
    okra_mat_ T = okra_mat_of_(values, r, r);
    CHK(okra_engine_gemm_(ctx, false, true, 1, F, PF, 0, T)); /* F' P F */
    CHK(okra_engine_eigh_(ctx, T, s->t));
    okra_clamp_(r, s->t);
    CHK(okra_engine_gemm_(ctx, false, false, 1, T, F, 0, okra_mat_of_(s->E3, r, N)));
    return okra_engine_gemm_(ctx, false, false, 1, T, PF, 0, okra_mat_of_(s->E2, r, N));
}

/* K (N x N) is destroyed. scale (n, or NULL): all of it in units of scale_i h(x_i) at the
 * labelled inputs, that is rows and columns of K times scale and those of M divided by
 * it. */
static okra_status create(okra_context *ctx, okra_mat_ K, okra_int n, const double *scale,
                          const okra_graph_ *M, double lambda2, bool labelled,
                          double only, okra_semi_ *out)
{
    okra_int N = K.rows, r = 0;
    FREED_BY(okra_semi_clear_) okra_semi_ s = {.n = n, .N = N};
    OWNED double *PF = NULL;
    for (okra_int i = 0; scale && i < N * N; i++) {
        okra_int a = i / N, b = i % N;
        K.p[a * K.ld + b] *= (a < n ? scale[a] : 1) * (b < n ? scale[b] : 1);
    }
    CHK(factor(ctx, K, &r));
    s.rank = r;
    okra_mat_ F = okra_mat_part_(K, 0, r, 0, N);
    CHK(okra_doubles_(ctx, r, N, "the penalty of the graph", &PF));
    CHK(penalise(ctx, M, F, n, scale, okra_mat_of_(PF, r, N)));
    for (okra_int i = 0; i < r; i++) {
        for (okra_int j = 0; j < N; j++) {
            PF[i * N + j] *= 2 * lambda2;
            PF[i * N + j] += labelled && j < n ? F.p[i * F.ld + j] : 0;
        }
    }
    MAKE(s.t, r);
    CHK(okra_doubles_(ctx, r, N, "the rotated inputs", &s.E3));
    CHK(okra_doubles_(ctx, r, N, "the rotated penalty", &s.E2));
    if (only > 0) {
        CHK(by_factor(ctx, F, okra_mat_of_(PF, r, N), only, &s));
    }
    if (!s.G) {
        CHK(by_spectrum(ctx, F, okra_mat_of_(PF, r, N), &s));
    }
    *out = TAKE(s);
    return OKRA_OK;
}

okra_status okra_semi_open_(okra_context *ctx, const okra_problem_ *p,
                            const double *scale, const char *graph, double lambda2,
                            bool labelled, double only, okra_semi_ *out)
{
    okra_int N = p->n + p->unlabelled;
    FREED_BY(okra_graph_drop_) okra_graph_ *M = NULL;
    OWNED double *K = NULL;
    CHK(okra_problem_host_K_(ctx, p, &K));
    CHK(okra_graph_create_(ctx, graph, &(okra_graph_kernel_){.K = okra_mat_of_(K, N, N)},
                           &M));
    return create(ctx, okra_mat_of_(K, N, N), p->n, scale, M, lambda2, labelled, only,
                  out);
}

OKRA_SHARED_CLEARS_(okra_semi_clear_, okra_semi_, it->t, it->G, it->E3, it->E2)

double okra_semi_condition_(const okra_semi_ *s, double lambda)
{
    double most = lambda, least = s->rank < s->N ? lambda : (double)INFINITY;
    for (okra_int k = 0; k < s->rank; k++) {
        double value =
            s->G ? s->G[k * s->rank + k] * s->G[k * s->rank + k] : lambda + s->t[k];
        most = fmax(most, value);
        least = fmin(least, value);
    }
    return most / fmin(least, most);
}

/* 1 / (lambda + g t_k), or what a factor has in its place */
static double weight(const okra_semi_ *s, double lambda, double g, okra_int k)
{
    return s->G ? 1 : 1 / (lambda + g * s->t[k]);
}

/* R_i <- (R_i - g_i R_i E3 diag(1 / (lambda + g_i t)) E2') / lambda; work: r x rank. */
static okra_status apply(okra_context *ctx, const okra_semi_ *s, double lambda,
                         const double *g, okra_mat_ R, okra_mat_ work)
{
    CHK(okra_engine_gemm_(ctx, false, true, 1, R, okra_mat_of_(s->E3, s->rank, s->N), 0,
                          work));
    for (okra_int i = 0; i < work.rows; i++) {
        double scale = g ? g[i] : 1;
        for (okra_int k = 0; k < s->rank; k++) {
            work.p[i * work.ld + k] *= scale * weight(s, lambda, scale, k);
        }
    }
    return okra_engine_gemm_(ctx, false, false, -1 / lambda, work,
                             okra_mat_of_(s->E2, s->rank, s->N), 1 / lambda, R);
}

/* Z <- Z G' G */
static okra_status between(okra_context *ctx, const okra_semi_ *s, okra_mat_ Z)
{
    FREED_BY(okra_mat_drop_) okra_mat_ work = {0};
    okra_mat_ G = okra_mat_of_(s->G, s->rank, s->rank);
    CHK(okra_mat_room_(ctx, Z.rows, Z.cols, "a semi-supervised solve", &work));
    CHK(okra_engine_gemm_(ctx, false, true, 1, Z, G, 0, work));
    return okra_engine_gemm_(ctx, false, false, 1, work, G, 0, Z);
}

okra_status okra_semi_solve_rows_(okra_context *ctx, const okra_semi_ *s, double lambda,
                                  const double *g, okra_mat_ R, okra_mat_ X)
{
    FREED_BY(okra_mat_drop_) okra_mat_ work = {0};
    CHK(okra_mat_room_(ctx, R.rows, s->rank, "a semi-supervised solve", &work));
    CHK(okra_mat_copy_(R, X));
    CHK(apply(ctx, s, lambda, g, X, work));
    /* R_i - lambda X_i - g_i X_i E3 E2' */
    CHK(okra_engine_gemm_(ctx, false, true, 1, X, okra_mat_of_(s->E3, s->rank, s->N), 0,
                          work));
    if (s->G) {
        CHK(between(ctx, s, work));
    }
    for (okra_int i = 0; i < R.rows; i++) {
        for (okra_int k = 0; g && k < s->rank; k++) {
            work.p[i * work.ld + k] *= g[i];
        }
        okra_axpy_(s->N, -lambda, X.p + i * X.ld, R.p + i * R.ld);
    }
    CHK(okra_engine_gemm_(ctx, false, false, -1, work, okra_mat_of_(s->E2, s->rank, s->N),
                          1, R));
    CHK(apply(ctx, s, lambda, g, R, work));
    for (okra_int i = 0; i < R.rows; i++) {
        okra_axpy_(s->N, 1, R.p + i * R.ld, X.p + i * X.ld);
    }
    return OKRA_OK;
}

okra_status okra_semi_put_(okra_context *ctx, const okra_semi_ *s, okra_int N,
                           double lambda, const double *g, okra_mat_ E, okra_mat_ B,
                           bool turned, okra_store_ *store)
{
    okra_int n = B.rows, d = B.cols;
    OWNED double *right = NULL, *X = NULL, *C = NULL;
    CHK(okra_doubles_(ctx, d, N, "the rotated outputs", &right));
    CHK(okra_doubles_(ctx, N, d, "the coefficients", &C));
    okra_mat_ R = okra_mat_of_(right, d, N), to = okra_mat_part_(R, 0, d, 0, n);
    okra_mat_fill_(R, 0);
    CHK(E.p && !turned ? okra_engine_gemm_(ctx, false, true, 1, E, B, 0, to)
                       : okra_mat_transpose_(B, to));
    for (okra_int j = 0; j < d * N; j++) {
        R.p[j] *= (g ? g[j / N] : 1) / (s ? 1 : lambda);
    }
    if (s) {
        CHK(okra_doubles_(ctx, d, N, "the coefficients", &X));
        CHK(okra_semi_solve_rows_(ctx, s, lambda, g, R, okra_mat_of_(X, d, N)));
        R = okra_mat_of_(X, d, N);
    }
    CHK(E.p ? okra_engine_gemm_(ctx, true, false, 1, R, E, 0, okra_mat_of_(C, N, d))
            : okra_mat_transpose_(R, okra_mat_of_(C, N, d)));
    return okra_store_put_(store, "coefficients", &C, N, d);
}

okra_status okra_semi_put_weights_(okra_context *ctx, const okra_semi_ *s, double lambda,
                                   okra_mat_ R, okra_mat_ Y, bool slim,
                                   okra_store_ *store)
{
    FREED_BY(okra_mat_drop_) okra_mat_ B = {0}, C = {0};
    CHK(okra_mat_room_(ctx, R.rows, R.cols, "the weights", &B));
    for (okra_int i = 0; !s && i < R.rows * R.cols; i++) {
        B.p[i] = R.p[i] / lambda;
    }
    CHK(s ? okra_semi_solve_rows_(ctx, s, lambda, NULL, R, B) : OKRA_OK);
    if (Y.p) {
        CHK(okra_mat_room_(ctx, R.cols, Y.cols, "the coefficients", &C));
        CHK(okra_engine_gemm_(ctx, true, false, 1, B, Y, 0, C));
        CHK(okra_store_put_(store, "coefficients", &C.p, R.cols, Y.cols));
    }
    return slim ? OKRA_OK : okra_store_put_(store, "B", &B.p, R.rows, R.cols);
}

okra_status okra_semi_gram_(okra_context *ctx, const okra_semi_ *s, double lambda,
                            double g, okra_mat_ S)
{
    OWNED double *half = NULL;
    CHK(okra_doubles_(ctx, s->rank, s->n, "the deformed Gram matrix", &half));
    for (okra_int k = 0; k < s->rank; k++) {
        double root = sqrt(weight(s, lambda, g, k));
        for (okra_int i = 0; i < s->n; i++) {
            half[k * s->n + i] = root * s->E3[k * s->N + i];
        }
    }
    return okra_engine_syrk_(ctx, true, 1, okra_mat_of_(half, s->rank, s->n), 0, S);
}

okra_status okra_semi_check_(const char *who, const okra_problem_ *p,
                             const okra_options *options)
{
    bool set = okra_options_is_set(options, "lambda2");
    REFUSE_IF(p->unlabelled > 0 && !set, OKRA_ESHAPE,
              "%s: there are %lld inputs and %lld outputs; expected as many of each, or "
              "lambda2 to use the inputs without outputs",
              who, (long long)(p->n + p->unlabelled), (long long)p->n);
    REFUSE_IF(!set && okra_options_is_set(options, "graph"), OKRA_EARG,
              "%s: graph is set but lambda2, its weight, is not", who);
    return OKRA_OK;
}
