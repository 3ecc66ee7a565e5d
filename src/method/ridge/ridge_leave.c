/*
 * ridge_leave.c: what ridge predicts at each training input when the part S of the
 * training set that holds it is left out, for every lambda, from one decomposition of K.
 *
 * Identity, B = (K + lambda I)^-1 = V' diag(1/(v + lambda)) V. The model without S has,
 * at the inputs of S, by the inverse of a partitioned matrix the weights A_S, and so with
 * explicit features Y the residuals R_S
 *
 *     A_S = -(B_SS)^-1 B_S,(not S)               for S = {i}:  a_j = -B_ij / B_ii
 *     R_S = Y_S - H_S = (B_SS)^-1 (B Y)_S        for S = {i}:  (B Y)_i / B_ii
 *
 * the last being Allen's PRESS residuals, r_i / (1 - (K B)_ii) with 1 - (K B)_ii = lambda
 * B_ii. These weights depend on the inputs alone, so any loss of the left-out predictions
 * is exact.
 *
 * Centred outputs: the mean m_S is that of the outputs that stay,
 *     w_j = a_j + (1 - sum a) / (n - |S|),   R_S = (B_SS)^-1 ((B Y)_S - (B 1)_S m_S').
 *
 * Matrix operator A = E' diag(g) E (Brouard et al. 2016 sec. 4, block diagonal in the
 * rotated outputs Y E'): column j is a ridge with B_j = (g_j K + lambda I)^-1,
 *     R_ij = ((B_j (Y E')_j)_i - (B_j 1)_i m_ij) / (B_j)_ii,     H = Y - R E;
 * for parts of one input only: larger ones need a factorization a column of E.
 *
 * Semi-supervised: with S = J K (lambda I + P K)^-1 J' (semi.c), I - S stands for lambda
 * B in all of this, and I - g_j S(g_j) for lambda B_j: the output of a pair is left out,
 * its input stays in the graph (Brouard et al. 2016 sec. 4).
 *
 * cov and ccov have no such form: their operator T holds the left-out output itself. With
 * T kept, the formulas above would be exact for a ridge whose operator was known before
 * the data, not for a fit without the part.
 *
 * Cost: one eigendecomposition; then for each lambda 2 n^2 d (explicit; with parts of
 * size s also 2 n^2 s) or n^3 (weights, + n^2 s). Accuracy: that of B, about
 * eps (1 + max(v) / lambda) relative.
 */
#include "method/ridge/ridge_leave.h"

/* Counting sort. */
okra_status okra_parts_sort_(const okra_parts_ *parts, okra_int n, okra_sorted_ *out)
{
    FREED_BY(okra_sorted_clear_) okra_sorted_ z = {0};
    ZMAKE(z.begin, parts->count + 1);
    MAKE(z.members, n);
    for (okra_int i = 0; i < n; i++) {
        z.begin[(parts->part ? parts->part[i] : i) + 1]++;
    }
    for (okra_int s = 0; s < parts->count; s++) {
        z.largest = OKRA_MAX_(z.largest, z.begin[s + 1]);
        z.begin[s + 1] += z.begin[s];
    }
    for (okra_int i = n - 1; i >= 0; i--) {
        okra_int s = parts->part ? parts->part[i] : i;
        z.members[--z.begin[s + 1]] = i;
    }
    for (okra_int s = 0; s < parts->count; s++) { /* begin[s + 1] is now that of s */
        z.begin[s] = z.begin[s + 1];
    }
    z.begin[parts->count] = n;
    *out = TAKE(z);
    return OKRA_OK;
}

OKRA_SHARED_CLEARS_(okra_sorted_clear_, okra_sorted_, it->members, it->begin)

double okra_leave_stay_(const okra_leaving_ *z, okra_int s)
{
    double stay = z->r->total;
    for (okra_int k = z->parts.begin[s]; k < z->parts.begin[s + 1]; k++) {
        stay -= okra_ridge_weight_(z->r, z->parts.members[k]);
    }
    return stay;
}

/* ---- weights ---- */

/* Where outputs are centred, what the rows of W lack goes to the inputs that stay. */
static void spread(const okra_leaving_ *z, okra_mat_ W, okra_int s)
{
    const okra_int *in = z->parts.members + z->parts.begin[s];
    okra_int size = z->parts.begin[s + 1] - z->parts.begin[s];
    double stay = okra_leave_stay_(z, s);
    for (okra_int k = 0; k < size; k++) {
        double *w = W.p + in[k] * W.ld, sum = okra_ridge_root_(z->r, in[k]);
        for (okra_int j = 0; j < W.cols; j++) {
            sum -= w[j] * okra_ridge_root_(z->r, j);
        }
        for (okra_int j = 0; z->r->center && j < W.cols; j++) {
            w[j] += sum * okra_ridge_root_(z->r, j) / stay;
        }
        for (okra_int j = 0; j < size; j++) {
            w[in[j]] = 0;
        }
    }
}

/* Rows of part s of W from those of B, which are in the same place. */
static okra_status leave_rows(const okra_leaving_ *z, okra_mat_ W, okra_int s)
{
    const okra_int *in = z->parts.members + z->parts.begin[s];
    okra_int size = z->parts.begin[s + 1] - z->parts.begin[s], n = z->n;
    okra_mat_ BSS = okra_mat_of_(z->BSS, size, size);
    okra_mat_ X = okra_mat_of_(z->panel, size, n);
    for (okra_int k = 0; k < size; k++) {
        CHK(okra_mat_copy_(okra_mat_part_(W, in[k], 1, 0, n),
                           okra_mat_part_(X, k, 1, 0, n)));
        for (okra_int j = 0; j < size; j++) {
            BSS.p[k * size + j] = W.p[in[k] * W.ld + in[j]];
        }
    }
    if (size == 1) {
        for (okra_int j = 0; j < n; j++) {
            X.p[j] /= BSS.p[0];
        }
    } else {
        CHK(okra_cholesky_(z->r->ctx, BSS, NULL));
        CHK(okra_cholesky_solve_(z->r->ctx, BSS, X));
    }
    for (okra_int k = 0; k < size; k++) {
        for (okra_int j = 0; j < n; j++) {
            W.p[in[k] * W.ld + j] = -X.p[k * n + j];
        }
        for (okra_int j = 0; j < size; j++) {
            W.p[in[k] * W.ld + in[j]] = 0;
        }
    }
    spread(z, W, s);
    return OKRA_OK;
}

/* W <- I - G: lambda B, or I - S with a graph; R: work. */
static okra_status fill(const okra_leaving_ *z, double lambda, okra_large_ *R,
                        okra_mat_ W)
{
    okra_int n = z->n;
    FREED_BY(okra_large_drop_) okra_large_ *B = NULL;
    if (!z->graph) {
        CHK(okra_large_begin_(z->r->ctx, false, W, &B));
        double scale = lambda > 0 ? lambda : 1;
        CHK(okra_ridge_inverse_(z->r->ctx, z->V, z->v, lambda, scale, R, B));
        CHK(okra_large_end_(z->r->ctx, B, W));
        return OKRA_OK;
    }
    CHK(okra_semi_gram_(z->r->ctx, &z->semi, lambda, 1, W));
    for (okra_int i = 0; i < n * n; i++) {
        W.p[i] = (i % (n + 1) == 0) - W.p[i];
    }
    return OKRA_OK;
}

static okra_status leave_weights(okra_leaving_ *z)
{
    okra_context *ctx = z->r->ctx;
    okra_int n = z->n;
    FREED_BY(okra_large_drop_) okra_large_ *R = NULL;
    OWNED double *W = NULL;
    if (!z->graph) {
        CHK(okra_large_create_(ctx, n, n, "the scaled eigenvectors", &R));
    }
    CHK(okra_doubles_(ctx, n, n, "the left-out weights", &W));
    CHK(okra_doubles_(ctx, z->parts.largest, n, "the weights of a part", &z->panel));
    for (size_t l = 0; l < z->r->count; l++) {
        CHK(okra_cancelled_(ctx));
        okra_mat_ Wm = okra_mat_of_(W, n, n);
        CHK(fill(z, z->r->lambda[l], R, Wm));
        for (okra_int i = 0; i < n; i++) {
            z->slack[i] = W[i * n + i];
        }
        for (okra_int s = 0; s < z->leave->parts->count; s++) {
            CHK(leave_rows(z, Wm, s));
        }
        bool told = !z->r->center && z->r->lambda[l] > 0;
        okra_left_ left = {.lambda = l, .W = Wm, .slack = told ? z->slack : NULL};
        CHK(z->leave->sink(ctx, z->leave->user, &left));
    }
    return OKRA_OK;
}

/* K = V' diag(v) V, or the decomposition of semi.c. */
static okra_status decompose(okra_leaving_ *z, const char *graph, double lambda2)
{
    okra_context *ctx = z->r->ctx;
    okra_int n = z->n, N = n + z->r->p->unlabelled;
    OWNED double *K = NULL;
    FREED_BY(okra_graph_drop_) okra_graph_ *M = NULL;
    if (graph) {
        CHK(okra_problem_host_K_(ctx, z->r->p, &K));
        CHK(okra_graph_create_(ctx, graph, okra_mat_of_(K, N, N), &M));
        CHK(okra_semi_create_(ctx, okra_mat_of_(K, N, N), n, z->r->s, M, lambda2, true, 0,
                              &z->semi));
        z->graph = true;
        okra_mat_ E3 = {z->semi.E3, z->semi.rank, n, N};
        CHK(okra_large_borrow_(ctx, E3, &z->V));
        z->v = z->semi.t;
    } else {
        MAKE(z->v, n);
        CHK(okra_ridge_K_(z->r, &z->V));
        CHK(okra_ridge_decompose_(ctx, z->V, z->v));
        CHK(okra_ridge_leaves_(z->r, n, z->v));
    }
    return OKRA_OK;
}

okra_status okra_ridge_leave_(okra_ridge_ *r, double *A, const char *graph,
                              double lambda2, const okra_leave_ *leave)
{
    okra_status st = OKRA_OK;
    okra_leaving_ z = {.r = r, .leave = leave, .n = r->p->n, .d = r->p->d};
    TRY(okra_parts_sort_(leave->parts, z.n, &z.parts));
    FAIL_IF(A && z.parts.largest > 1, OKRA_EUNSUPPORTED,
            "ridge: parts of a matrix operator have no closed form");
    ALLOC(z.slack, z.n);
    TRY(okra_doubles_(r->ctx, z.parts.largest, z.parts.largest, "the block of a part",
                      &z.BSS));
    bool explicitly = leave->explicitly && r->p->features && !graph;
    if (explicitly && !A && okra_leave_by_cholesky_(&z)) {
        bool done = false;
        TRY(okra_leave_cholesky_(&z, &done));
        if (done) {
            goto done;
        }
    }
    TRY(decompose(&z, graph, lambda2));
    if (r->center) {
        ALLOC(z.ones, okra_large_rows_(z.V));
        TRY(okra_ridge_ones_(r, z.V, z.ones));
    }
    TRY(A            ? okra_leave_matrix_(&z, A)
        : explicitly ? okra_leave_features_(&z)
                     : leave_weights(&z));
done:
    okra_large_free_(z.V);
    if (!z.graph) {
        okra_free_(z.v);
    }
    okra_semi_clear_(&z.semi);
    okra_free_(z.ones);
    okra_sorted_clear_(&z.parts);
    FREE(z.slack, z.BSS, z.panel);
    return st;
}
