/*
 * groups.c: ridge with an operator that is diagonal in the coordinates of the output,
 * each group of coordinates with a kernel of its own (groups.h for the symbols).
 *
 *     min_h  sum_i |y_i - h(x_i)|^2 + lambda |h|^2
 *
 * falls apart: group g has the Gram matrix K_g = sum_p S_gp K_p = V' diag(v) V, and
 *     C_g = V' diag(1 / (v + lambda)) V Y_g,    h_g(x)' = k_g(x)' C_g.
 * Left out one by one (leave.c), B = V' diag(1 / (v + lambda)) V,
 *     r_i = ((B Y)_i - (B 1)_i m_i) / B_ii,  m_i = -y_i / (n - 1) the mean of the centred
 * outputs that stay, 0 if outputs are not centred.
 *
 * Cost: an eigendecomposition a group, which all lambdas share; 4 n^2 d a lambda for all
 * groups. Memory: positions n^2. Error about eps (1 + max(v) / lambda) relative.
 */
#include "solve/groups.h"

#include "kernel/lowrank/lowrank.h"
#include "solve/ridge.h"

#include <string.h>

okra_status okra_groups_create_(okra_context *ctx, const okra_pieces_ *pieces, okra_int n,
                                okra_int d, okra_int count, okra_groups_ *out)
{
    FREED_BY(okra_groups_clear_) okra_groups_ g = {.n = n, .d = d, .count = count};
    g.positions = okra_pieces_count_(pieces);
    MAKE(g.of, d);
    CHK(okra_doubles_(ctx, count, g.positions, "shares of positions", &g.S));
    CHK(okra_doubles_(ctx, g.positions * n, n, "the Gram matrices of all positions",
                      &g.K));
    for (okra_int p = 0; p < g.positions; p++) {
        CHK(okra_cancelled_(ctx));
        CHK(okra_pieces_gram_(ctx, pieces, p, okra_mat_of_(g.K + p * n * n, n, n)));
    }
    *out = g;
    g = (okra_groups_){0};
    return OKRA_OK;
}

OKRA_SHARED_CLEARS_(okra_groups_clear_, okra_groups_, it->S, it->of, it->K)

/* out <- sum_p S_p K_p, K_p of `size` numbers */
static void mix(const double *S, okra_int positions, const double *K, okra_int size,
                double *out)
{
    memset(out, 0, (size_t)size * sizeof *out);
    for (okra_int p = 0; p < positions; p++) {
        for (okra_int i = 0; S[p] != 0 && i < size; i++) {
            out[i] += S[p] * K[p * size + i];
        }
    }
}

void okra_groups_gram_(const okra_groups_ *g, okra_int k, double *K)
{
    mix(g->S + k * g->positions, g->positions, g->K, g->n * g->n, K);
}

/* The coordinates of group k: their number. */
static okra_int members(okra_int d, const okra_int *of, okra_int k, okra_int *out)
{
    okra_int count = 0;
    for (okra_int j = 0; j < d; j++) {
        if (of[j] == k) {
            out[count++] = j;
        }
    }
    return count;
}

/* Columns `in` of A (n x d) into P (n x width), or back. */
static void gather(const double *A, okra_int n, okra_int d, const okra_int *in,
                   okra_int width, double *P)
{
    for (okra_int i = 0; i < n; i++) {
        for (okra_int k = 0; k < width; k++) {
            P[i * width + k] = A[i * d + in[k]];
        }
    }
}

/* ---- one group at a time ---- */

typedef struct work {
    okra_int *in, width;  /* coordinates of the group           */
    double *V, *v;        /* n x n, n                           */
    double *P, *F, *S;    /* n x d: outputs, rotated, scaled    */
    double *ones, *u, *q; /* n: V 1, B 1, diagonal of B         */
} work;

static okra_status open_work(const okra_grouped_ *r, work *w)
{
    okra_int n = r->groups->n, d = r->groups->d;
    *w = (work){0};
    MAKE(w->in, d);
    MAKE(w->v, n);
    MAKE(w->ones, n);
    MAKE(w->u, n);
    MAKE(w->q, n);
    CHK(okra_doubles_(r->ctx, n, n, "the Gram matrix of a group", &w->V));
    CHK(okra_doubles_(r->ctx, n, d, "the outputs of a group", &w->P));
    CHK(okra_doubles_(r->ctx, n, d, "the outputs of a group", &w->F));
    return okra_doubles_(r->ctx, n, d, "the outputs of a group", &w->S);
}

static void close_work(work *w)
{
    FREE(w->V, w->v, w->P, w->F, w->S, w->ones, w->u, w->q);
    okra_free_(w->in);
}

/* K_g = V' diag(v) V, F = V Y_g */
static okra_status decompose(const okra_grouped_ *r, okra_int k, work *w)
{
    okra_int n = r->groups->n;
    CHK(okra_cancelled_(r->ctx));
    w->width = members(r->groups->d, r->groups->of, k, w->in);
    if (w->width == 0) {
        return OKRA_OK;
    }
    okra_mat_ V = okra_mat_of_(w->V, n, n);
    okra_groups_gram_(r->groups, k, w->V);
    CHK(okra_ridge_decompose_host_(r->ctx, V, w->v));
    gather(r->Y, n, r->groups->d, w->in, w->width, w->P);
    CHK(okra_engine_gemm_(r->ctx, false, false, 1, V, okra_mat_of_(w->P, n, w->width), 0,
                          okra_mat_of_(w->F, n, w->width)));
    memset(w->ones, 0, (size_t)n * sizeof *w->ones);
    for (okra_int i = 0; i < n * n; i++) {
        w->ones[i / n] += w->V[i];
    }
    return OKRA_OK;
}

/* P <- B Y_g */
static okra_status solve(const okra_grouped_ *r, double lambda, work *w)
{
    okra_int n = r->groups->n;
    for (okra_int i = 0; i < n * w->width; i++) {
        w->S[i] = w->F[i] / (w->v[i / w->width] + lambda);
    }
    return okra_engine_gemm_(r->ctx, true, false, 1, okra_mat_of_(w->V, n, n),
                             okra_mat_of_(w->S, n, w->width), 0,
                             okra_mat_of_(w->P, n, w->width));
}

/* u = B 1, q = the diagonal of B */
static void sums(const okra_grouped_ *r, double lambda, work *w)
{
    okra_int n = r->groups->n;
    for (okra_int i = 0; i < n; i++) {
        w->u[i] = w->q[i] = 0;
    }
    for (okra_int k = 0; k < n; k++) {
        for (okra_int i = 0; i < n; i++) {
            double e = w->V[k * n + i];
            w->u[i] += e * w->ones[k] / (w->v[k] + lambda);
            w->q[i] += e * e / (w->v[k] + lambda);
        }
    }
}

/* Column in[k] of A (n x d) <- B Y_g, or the left-out predictions. */
static void put_columns(const okra_grouped_ *r, const work *w, bool left, double *A)
{
    okra_int n = r->groups->n, d = r->groups->d;
    for (okra_int i = 0; i < n; i++) {
        for (okra_int k = 0; k < w->width; k++) {
            okra_int j = w->in[k];
            double value = w->P[i * w->width + k], y = r->Y[i * d + j];
            if (left) {
                double mean = r->mean ? -y / (double)(n - 1) : 0;
                value = y - (value - w->u[i] * mean) / w->q[i];
                value += r->mean ? r->mean[j] : 0;
            }
            A[i * d + j] = value;
        }
    }
}

/* One matrix of n x d a lambda: coefficients, or left-out predictions. */
static okra_status all_groups(const okra_grouped_ *r, bool left, double **A)
{
    FREED_BY(close_work) work w;
    CHK(open_work(r, &w));
    for (size_t l = 0; l < r->count; l++) {
        CHK(okra_doubles_(r->ctx, r->groups->n, r->groups->d, "the ridge coefficients",
                          &A[l]));
    }
    for (okra_int k = 0; k < r->groups->count; k++) {
        CHK(decompose(r, k, &w));
        for (size_t l = 0; w.width > 0 && l < r->count; l++) {
            CHK(solve(r, r->lambda[l], &w));
            if (left) {
                sums(r, r->lambda[l], &w);
            }
            put_columns(r, &w, left, A[l]);
        }
    }
    return OKRA_OK;
}

okra_status okra_grouped_ridge_(const okra_grouped_ *r, okra_bag_ *const *bags)
{
    okra_status st = OKRA_OK;
    double **C = NULL;
    ZALLOC(C, (okra_int)r->count);
    TRY(all_groups(r, false, C));
    for (size_t l = 0; l < r->count; l++) {
        TRY(okra_grouped_put_(r, r->lambda[l], &C[l], bags[l]));
    }
done:
    for (size_t l = 0; C && l < r->count; l++) {
        okra_free_(C[l]);
    }
    okra_free_(C);
    return st;
}

okra_status okra_grouped_leave_(const okra_grouped_ *r, okra_left_fn_ sink, void *user)
{
    okra_status st = OKRA_OK;
    double **H = NULL;
    ZALLOC(H, (okra_int)r->count);
    TRY(all_groups(r, true, H));
    for (size_t l = 0; l < r->count; l++) {
        okra_left_ left = {.lambda = l,
                           .H = okra_mat_of_(H[l], r->groups->n, r->groups->d)};
        TRY(sink(r->ctx, user, &left));
    }
done:
    for (size_t l = 0; H && l < r->count; l++) {
        okra_free_(H[l]);
    }
    okra_free_(H);
    return st;
}

/* ---- models ---- */

okra_status okra_grouped_put_(const okra_grouped_ *r, double lambda, double **C,
                              okra_bag_ *bag)
{
    const okra_groups_ *g = r->groups;
    OWNED double *of = NULL;
    MAKE(of, g->d);
    for (okra_int j = 0; j < g->d; j++) {
        of[j] = (double)g->of[j];
    }
    CHK(okra_bag_put_(bag, "coefficients", C, g->n, g->d));
    CHK(okra_bag_put_(bag, "groups", &of, 1, g->d));
    CHK(okra_bag_put_copy_(bag, "shares", g->S, g->count, g->positions));
    if (r->mean) {
        CHK(okra_bag_put_copy_(bag, "mean", r->mean, 1, g->d));
    }
    return okra_bag_put_number_(bag, "lambda", lambda);
}

typedef struct stored {
    const double *C, *S, *mean;
    okra_int n, d, count, positions, *of;
} stored;

/* What the bag holds, checked; `of` is to be freed. */
static okra_status load(const okra_bag_ *bag, const okra_query_ *query, stored *s)
{
    okra_int rows = 0, cols = 0, one = 0, again = 0;
    *s = (stored){0};
    s->C = okra_bag_get_(bag, "coefficients", &s->n, &s->d);
    s->S = okra_bag_get_(bag, "shares", &s->count, &s->positions);
    s->mean = okra_bag_get_(bag, "mean", &one, &again);
    const double *of = okra_bag_get_(bag, "groups", &rows, &cols);
    REFUSE_IF(!s->C || !s->S || !of || !query->kx || !query->x || s->n != query->n ||
                  cols != s->d || (s->mean && again != s->d),
              OKRA_EFORMAT,
              "the model's coefficients and groups do not fit %lld training pairs",
              (long long)query->n);
    MAKE(s->of, s->d);
    for (okra_int j = 0; j < s->d; j++) {
        REFUSE_IF(!(of[j] >= 0 && of[j] < (double)s->count), OKRA_EFORMAT,
                  "the model's coordinate %lld is in group %g of %lld", (long long)j,
                  of[j], (long long)s->count);
        s->of[j] = (okra_int)of[j];
    }
    return OKRA_OK;
}

/* Rows first.. of the queries; K: positions x m x n of them, the others work. */
static okra_status predict_rows(okra_context *ctx, const stored *s, const double *K,
                                double *Kg, double *P, okra_int *in, double *T,
                                okra_mat_ out)
{
    okra_int m = out.rows, n = s->n;
    for (okra_int k = 0; k < s->count; k++) {
        okra_int width = members(s->d, s->of, k, in);
        if (width == 0) {
            continue;
        }
        mix(s->S + k * s->positions, s->positions, K, m * n, Kg);
        gather(s->C, n, s->d, in, width, P);
        CHK(okra_engine_gemm_(ctx, false, false, 1, okra_mat_of_(Kg, m, n),
                              okra_mat_of_(P, n, width), 0, okra_mat_of_(T, m, width)));
        for (okra_int i = 0; i < m; i++) {
            for (okra_int c = 0; c < width; c++) {
                out.p[i * out.ld + in[c]] =
                    T[i * width + c] + (s->mean ? s->mean[in[c]] : 0);
            }
        }
    }
    return OKRA_OK;
}

okra_status okra_grouped_predict_(okra_context *ctx, const okra_bag_ *bag,
                                  okra_query_ *query, okra_mat_ out)
{
    stored s = {0};
    OWNS(&s.of);
    FREED_BY(okra_pieces_drop_) okra_pieces_ *pieces = NULL;
    OWNED double *K = NULL, *Kg = NULL, *P = NULL, *T = NULL;
    OWNED okra_int *in = NULL;
    CHK(load(bag, query, &s));
    CHK(okra_pieces_create_(ctx, "this model", okra_bound_kernel_(query->kx),
                            okra_bound_data_(query->kx), &pieces));
    REFUSE_IF(okra_pieces_count_(pieces) != s.positions || out.cols != s.d, OKRA_EFORMAT,
              "the model has %lld positions, its training inputs have %lld",
              (long long)s.positions, (long long)okra_pieces_count_(pieces));
    okra_int rows = okra_block_rows_(ctx, query->m, (s.positions + 1) * s.n + s.d);
    CHK(okra_doubles_(ctx, s.positions * rows, s.n, "queries at all positions", &K));
    CHK(okra_doubles_(ctx, rows, s.n, "queries of a group", &Kg));
    CHK(okra_doubles_(ctx, s.n, s.d, "the coefficients of a group", &P));
    CHK(okra_doubles_(ctx, rows, s.d, "the predictions of a group", &T));
    MAKE(in, s.d);
    for (okra_int first = 0; first < query->m; first += rows) {
        okra_int m = OKRA_MIN_(rows, query->m - first);
        for (okra_int p = 0; p < s.positions; p++) {
            CHK(okra_cancelled_(ctx));
            CHK(okra_pieces_cross_(ctx, pieces, query->x, query->first + first, p,
                                   okra_mat_of_(K + p * m * s.n, m, s.n)));
        }
        CHK(predict_rows(ctx, &s, K, Kg, P, in, T,
                         okra_mat_part_(out, first, m, 0, out.cols)));
    }
    return OKRA_OK;
}
