/*
 * groups.c: ridge with an operator that is diagonal in the coordinates of the output,
 * each group of coordinates with a kernel of its own (ridge.h for the symbols).
 *
 *     min_h  sum_i |y_i - h(x_i)|^2 + lambda |h|^2
 *
 * falls apart: group g is a ridge with the Gram matrix K_g = sum_p S_gp K_p,
 *     C_g = (K_g + lambda I)^-1 Y_g,    h_g(x)' = k_g(x)' C_g,
 * by the smoothers, which leaving out needs as well (smoother.h, leave.c).
 *
 * Cost: an eigendecomposition a group, which all lambdas share; 4 n^2 d a lambda for all
 * groups. Memory: positions n^2. Error about eps (1 + max(v) / lambda) relative.
 */
#include "solve/ridge.h"

#include "kernel/lowrank/lowrank.h"

okra_status okra_groups_create_(okra_context *ctx, const okra_pieces_ *pieces, okra_int n,
                                okra_int d, okra_int count, okra_groups_ *out)
{
    FREED_BY(okra_groups_clear_) okra_groups_ g = {.n = n, .d = d, .count = count};
    g.positions = pieces->count;
    MAKE(g.of, d);
    CHK(okra_doubles_(ctx, count, g.positions, "shares of positions", &g.S));
    CHK(okra_doubles_(ctx, g.positions * n, n, "the Gram matrices of all positions",
                      &g.K));
    for (okra_int p = 0; p < g.positions; p++) {
        CHK(okra_cancelled_(ctx));
        CHK(okra_pieces_gram_(ctx, pieces, p, okra_mat_of_(g.K + p * n * n, n, n)));
    }
    *out = TAKE(g);
    return OKRA_OK;
}

OKRA_SHARED_CLEARS_(okra_groups_clear_, okra_groups_, it->S, it->of, it->K)

void okra_grouped_clear_(okra_grouped_ *r)
{
    okra_groups_clear_(&r->groups);
    FREE(r->Y, r->mean);
}

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

/* ---- one group at a time, a ridge of its own ---- */

typedef struct group {
    const okra_grouped_ *r;
    okra_int *in, width; /* coordinates of the group                             */
    double **A;          /* a lambda: n x d, coefficients or left-out predictions */
} group;

static okra_status put_columns(okra_context *ctx, void *user, const okra_left_ *left)
{
    const group *g = user;
    for (okra_int i = 0; i < left->H.rows * g->width; i++) {
        okra_int row = i / g->width, k = i % g->width;
        g->A[left->lambda][row * g->r->groups.d + g->in[k]] =
            left->H.p[row * left->H.ld + k];
    }
    return OKRA_OK;
}

/* C_g = M Y_g / lambda, M of the smoother. */
static okra_status coefficients(okra_ridge_ *r, const okra_smoother_ *M, group *g)
{
    okra_int n = r->p->n, width = g->width;
    OWNED double *C = NULL, *lambda = NULL, *q = NULL;
    MAKE(lambda, width);
    MAKE(q, n);
    CHK(okra_doubles_(r->ctx, n, width, "the coefficients of a group", &C));
    okra_left_ found = {.H = okra_mat_of_(C, n, width)};
    CHK(M->begin(M->self, okra_mat_of_(r->Y, n, width)));
    for (; found.lambda < r->count; found.lambda++) {
        okra_fill_(width, r->lambda[found.lambda], lambda);
        CHK(M->apply(M->self, lambda, found.H, okra_mat_of_(q, 1, n)));
        okra_scale_down_(n * width, lambda[0], C);
        CHK(put_columns(r->ctx, g, &found));
    }
    return OKRA_OK;
}

static okra_status one_group(const okra_grouped_ *r, okra_int k, bool left, group *g)
{
    okra_int n = r->groups.n, d = r->groups.d;
    OWNED double *K = NULL;
    okra_problem_ p = {.n = n, .d = g->width, .features = r->Y, .given_K_ld = n};
    okra_ridge_ one = {.ctx = r->ctx,
                       .p = &p,
                       .lambda = r->lambda,
                       .count = r->count,
                       .center = r->mean != NULL,
                       .total = (double)n};
    OWNS(&one.Y, &one.mean);
    CHK(okra_cancelled_(r->ctx));
    CHK(okra_doubles_(r->ctx, n, n, "the Gram matrix of a group", &K));
    CHK(okra_doubles_(r->ctx, n, g->width, "the outputs of a group", &one.Y));
    okra_groups_gram_(&r->groups, k, K);
    p.given_K = K;
    gather(r->Y, n, d, g->in, g->width, one.Y);
    if (left) {
        const okra_operator_ identity = {.kind = OKRA_OPERATOR_IDENTITY};
        const okra_parts_ parts = {.count = n};
        MAKE(one.mean, g->width);
        for (okra_int c = 0; c < g->width; c++) {
            one.mean[c] = r->mean ? r->mean[g->in[c]] : 0;
        }
        return okra_ridge_leave_(&one, &identity,
                                 &(const okra_leave_){&parts, true, put_columns, g});
    }
    okra_smoother_ M = {0};
    okra_status st = okra_smoother_dense_(&one, &M);
    st = st ? st : coefficients(&one, &M, g);
    if (M.free) {
        M.free(M.self);
    }
    return st;
}

typedef struct columns {
    double **A;
    size_t count;
    okra_int *in;
} columns;

static void columns_clear(columns *z)
{
    for (size_t l = 0; z->A && l < z->count; l++) {
        okra_free_(z->A[l]);
    }
    FREE(z->A, z->in);
}

/* One matrix of n x d a lambda: coefficients, or left-out predictions. */
static okra_status all_groups(const okra_grouped_ *r, bool left, columns *out)
{
    const okra_groups_ *all = &r->groups;
    ZMAKE(out->A, (okra_int)r->count);
    MAKE(out->in, all->d);
    for (size_t l = 0; l < r->count; l++) {
        CHK(okra_doubles_(r->ctx, all->n, all->d, "the ridge coefficients", &out->A[l]));
    }
    for (okra_int k = 0; k < all->count; k++) {
        group g = {r, out->in, members(all->d, all->of, k, out->in), out->A};
        CHK(g.width > 0 ? one_group(r, k, left, &g) : OKRA_OK);
    }
    return OKRA_OK;
}

okra_status okra_grouped_ridge_(const okra_grouped_ *r, okra_store_ *const *stores)
{
    FREED_BY(columns_clear) columns C = {.count = r->count};
    CHK(all_groups(r, false, &C));
    for (size_t l = 0; l < r->count; l++) {
        CHK(okra_grouped_put_(r, r->lambda[l], &C.A[l], stores[l]));
    }
    return OKRA_OK;
}

okra_status okra_grouped_leave_(const okra_grouped_ *r, okra_left_fn_ sink, void *user)
{
    FREED_BY(columns_clear) columns H = {.count = r->count};
    CHK(all_groups(r, true, &H));
    for (size_t l = 0; l < r->count; l++) {
        okra_left_ left = {.lambda = l,
                           .H = okra_mat_of_(H.A[l], r->groups.n, r->groups.d)};
        CHK(sink(r->ctx, user, &left));
    }
    return OKRA_OK;
}

/* ---- models ---- */

okra_status okra_grouped_put_(const okra_grouped_ *r, double lambda, double **C,
                              okra_store_ *store)
{
    const okra_groups_ *g = &r->groups;
    OWNED double *of = NULL;
    MAKE(of, g->d);
    for (okra_int j = 0; j < g->d; j++) {
        of[j] = (double)g->of[j];
    }
    CHK(okra_store_put_(store, "coefficients", C, g->n, g->d));
    CHK(okra_store_put_(store, "groups", &of, 1, g->d));
    CHK(okra_store_put_copy_(store, "shares", g->S, g->count, g->positions));
    if (r->mean) {
        CHK(okra_store_put_copy_(store, "mean", r->mean, 1, g->d));
    }
    return okra_store_put_number_(store, "lambda", lambda);
}

typedef struct stored {
    const double *C, *S, *mean;
    okra_int n, d, count, positions, *of;
} stored;

/* `of` is to be freed. */
static okra_status load(const okra_store_ *store, stored *s)
{
    const double *of = okra_store_mat_(store, "groups").p;
    *s = (stored){.mean = okra_store_mat_(store, "mean").p};
    s->C = okra_store_get_(store, "coefficients", &s->n, &s->d);
    s->S = okra_store_get_(store, "shares", &s->count, &s->positions);
    MAKE(s->of, s->d);
    for (okra_int j = 0; j < s->d; j++) {
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

okra_status okra_grouped_predict_(okra_context *ctx, const okra_store_ *store,
                                  okra_query_ *query, okra_mat_ out)
{
    stored s = {0};
    OWNS(&s.of);
    FREED_BY(okra_pieces_drop_) okra_pieces_ *pieces = NULL;
    OWNED double *K = NULL, *Kg = NULL, *P = NULL, *T = NULL;
    OWNED okra_int *in = NULL;
    CHK(load(store, &s));
    CHK(okra_pieces_create_(ctx, "this model", query->kx->kernel, query->kx->train.data,
                            &pieces));
    REFUSE_IF(pieces->count != s.positions || out.cols != s.d, OKRA_EFORMAT,
              "the model has %lld positions, its training inputs have %lld",
              (long long)s.positions, (long long)pieces->count);
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
