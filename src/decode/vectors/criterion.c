/*
 * criterion.c: the criteria of twin Gaussian processes.
 *
 *     kl    J = s - 2 w'l - e log v,   v = s + lambda - l'(L + lambda I)^-1 l
 *     hsic  J = -e s - 2 w'l
 * l = (l(y_i, y))_i, s = l(y,y). With L + lambda I = G G', g = G^-1 l, z = G'^-1 g:
 *     v = s + lambda - g'g,   dJ/dl = -2 w + 2 (e/v) z,   dJ/ds = 1 - e/v.
 * v >= lambda where the output kernel is positive semi-definite; where it is not, and v
 * <= 0, J counts as +infinity. Through g the error of v is about eps |L| |z|^2, and z is
 * near a unit vector when y is near a training output.
 *
 * Cost of a value: a triangular solve, n^2 (kl), 2 n (hsic), and as much for its slopes;
 * values are taken many at once. Of a local training set: M^3/3 for its factor. Memory:
 * L, n^2, for kl; M^2 a worker. The engine makes the factor and solves for candidates;
 * places of a search are judged on the host.
 */
#include "decode/vectors/criterion.h"

struct okra_criterion_eval_ {
    okra_criterion_ criterion;
    okra_int n;
    double *L;            /* kl: L, or the factor of L + lambda I without neighbours */
    okra_matrix_ *factor; /* that factor on the engine, or NULL */
};

static okra_status make_L(okra_context *ctx, const okra_output_ *output,
                          okra_criterion_eval_ *j)
{
    FREED_BY(okra_entries_drop_) okra_entries_ *entries = NULL;
    FREED_BY(okra_matrix_drop_) okra_matrix_ *L = NULL;
    CHK(okra_matrix_create_(ctx, j->n, j->n, "the Gram matrix of the outputs", &L));
    CHK(okra_entries_create_(ctx, output->ky, NULL, &entries));
    CHK(okra_matrix_gram_(ctx, entries, 0, L));
    if (j->criterion.neighbours == 0) {
        CHK(okra_matrix_add_diagonal_(ctx, j->criterion.lambda, L));
        CHK(okra_matrix_cholesky_(ctx, L, NULL));
    }
    CHK(okra_matrix_take_(ctx, &L, "the Gram matrix of the outputs", &j->L));
    return j->criterion.neighbours == 0
               ? okra_matrix_borrow_(ctx, okra_mat_of_(j->L, j->n, j->n), &j->factor)
               : OKRA_OK;
}

okra_status okra_criterion_eval_create_(okra_context *ctx, const okra_output_ *output,
                                        okra_criterion_eval_ **out)
{
    FREED_BY(okra_criterion_eval_drop_) okra_criterion_eval_ *j = NULL;
    ZMAKE(j, 1);
    j->criterion = *output->criterion;
    j->n = okra_data_count(output->y);
    if (j->criterion.kl) {
        CHK(make_L(ctx, output, j));
    }
    *out = TAKE(j);
    return OKRA_OK;
}

void okra_criterion_eval_free_(okra_criterion_eval_ *judge)
{
    if (judge) {
        okra_matrix_free_(judge->factor);
        FREE(judge->L, judge);
    }
}

/* J + 2 <w, l>, of which a constant l(y,y) may have been taken away. */
static double base_of(bool kl, double e, double self, double variance)
{
    if (!kl) {
        return -e * self;
    }
    return variance > 0 ? self - e * log(variance) : (double)INFINITY;
}

/* ---- one test point ---- */

okra_status okra_case_create_(okra_context *ctx, const okra_criterion_eval_ *judge,
                              okra_case_ *c)
{
    okra_int M = judge->criterion.neighbours;
    *c = (okra_case_){
        .ctx = ctx, .kl = judge->criterion.kl, .lambda = judge->criterion.lambda};
    if (M > 0) {
        MAKE(c->own_index, M);
        MAKE(c->own_weights, M);
        CHK(c->kl ? okra_doubles_(ctx, M, M, "a local Gram matrix", &c->own) : OKRA_OK);
    }
    return OKRA_OK;
}

OKRA_SHARED_CLEARS_(okra_case_clear_, okra_case_, it->own_index, it->own_weights, it->own)

okra_status okra_case_set_(const okra_criterion_eval_ *judge, const okra_block_ *block,
                           okra_int r, okra_case_ *c)
{
    const double *extra = block->extra.p + r * block->extra.ld;
    const double *w = block->W.p + r * block->W.ld;
    okra_int M = judge->criterion.neighbours, n = judge->n;
    c->e = extra[0];
    if (M == 0) {
        c->count = n;
        c->weights = w;
        c->factor = okra_mat_of_(judge->L, n, n);
        return OKRA_OK;
    }
    for (okra_int i = 0; i < M; i++) {
        c->own_index[i] = (okra_int)extra[1 + i];
        c->own_weights[i] = w[c->own_index[i]];
    }
    c->count = M;
    c->index = c->own_index;
    c->weights = c->own_weights;
    if (c->kl) {
        c->factor = okra_mat_of_(c->own, M, M);
        for (okra_int i = 0; i < M; i++) {
            const double *row = judge->L + c->index[i] * n;
            for (okra_int j = 0; j < M; j++) {
                c->own[i * M + j] = row[c->index[j]];
            }
            c->own[i * M + i] += c->lambda;
        }
        CHK(okra_cholesky_quiet_(c->ctx, c->factor, &c->jitter));
    }
    return OKRA_OK;
}

/* The rows of l become dJ/dl. */
static okra_status slopes(const okra_case_ *c, okra_mat_ l, double *by_self)
{
    if (c->kl) { /* rows G^-1 l, |.|^2 = s + lambda - v */
        CHK(okra_trsm_(c->ctx, false, false, c->factor, l));
    }
    for (okra_int k = 0; k < l.rows; k++) {
        double *row = l.p + k * l.ld, ratio = by_self[k];
        for (okra_int i = 0; i < c->count; i++) {
            row[i] = -2 * c->weights[i] + (c->kl ? 2 * ratio * row[i] : 0);
        }
        by_self[k] = c->kl ? 1 - ratio : -c->e;
    }
    return OKRA_OK;
}

okra_status okra_case_values_(const okra_case_ *c, okra_mat_ l, const double *self,
                              double *J, double *by_self)
{
    for (okra_int k = 0; k < l.rows; k++) {
        J[k] = -2 * okra_dot_(c->count, c->weights, l.p + k * l.ld);
    }
    if (c->kl) {
        CHK(okra_trsm_(c->ctx, false, true, c->factor, l));
    }
    for (okra_int k = 0; k < l.rows; k++) {
        const double *g = l.p + k * l.ld;
        double v = c->kl ? self[k] + c->lambda - okra_dot_(c->count, g, g) : 0;
        J[k] += base_of(c->kl, c->e, self[k], v);
        if (by_self) {
            by_self[k] = c->e / v;
        }
    }
    return by_self ? slopes(c, l, by_self) : OKRA_OK;
}

/* L w = G (G'w) - lambda w, by rows of G; G'w first, in place, from the front. */
void okra_case_inner_(const okra_case_ *c, double *f)
{
    okra_mat_ G = c->factor;
    memcpy(f, c->weights, (size_t)c->count * sizeof *f);
    if (!c->kl) {
        return;
    }
    for (okra_int i = 0; i < G.rows; i++) { /* f_i is read before it is written */
        const double *row = G.p + i * G.ld;
        double w = f[i];
        f[i] = w * row[i];
        okra_axpy_(i, w, row, f);
    }
    for (okra_int i = G.rows - 1; i >= 0; i--) {
        f[i] =
            okra_dot_(i + 1, G.p + i * G.ld, f) - (c->lambda + c->jitter) * c->weights[i];
    }
}

/* ---- candidates ---- */

/* v of the columns of B (count x c), which holds l of the members and is destroyed. */
static okra_status variances(okra_context *ctx, const okra_criterion_eval_ *judge,
                             const okra_case_ *c, okra_mat_ B, const double *self,
                             double *v)
{
    FREED_BY(okra_matrix_drop_) okra_matrix_ *on = NULL;
    if (judge->factor) {
        CHK(okra_matrix_begin_(ctx, true, B, &on));
        CHK(okra_matrix_trsm_(ctx, true, false, judge->factor, on));
        CHK(okra_matrix_end_(ctx, on, B));
    } else {
        CHK(okra_trsm_(ctx, true, false, c->factor, B));
    }
    for (okra_int j = 0; j < B.cols; j++) {
        v[j] = self[j] + c->lambda;
    }
    for (okra_int i = 0; i < B.rows; i++) {
        for (okra_int j = 0; j < B.cols; j++) {
            v[j] -= B.p[i * B.ld + j] * B.p[i * B.ld + j];
        }
    }
    return OKRA_OK;
}

void okra_criterion_eval_levels_(const okra_criterion_eval_ *judge,
                                 const okra_block_ *block, double constant, double *level)
{
    for (okra_int r = 0; r < block->m; r++) {
        double e = block->extra.p[r * block->extra.ld];
        level[r] = isnan(constant) ? 0 : judge->criterion.kl ? constant : -e * constant;
    }
}

okra_status okra_criterion_eval_panel_(okra_context *ctx,
                                       const okra_criterion_eval_ *judge,
                                       const okra_block_ *block, okra_mat_ C,
                                       const double *self, double constant,
                                       okra_mat_ base, okra_mat_ inner)
{
    const okra_criterion_ *criterion = &judge->criterion;
    bool kl = criterion->kl, local = criterion->neighbours > 0;
    okra_int members = local ? criterion->neighbours : judge->n;
    OWNED double *B = NULL;
    double v[OKRA_PANEL_] = {0};
    FREED_BY(okra_case_clear_) okra_case_ c = {0};
    CHK(okra_case_create_(ctx, judge, &c));
    if (kl) {
        CHK(okra_doubles_(ctx, members, C.cols, "variances of candidates", &B));
    }
    CHK(okra_gemm_(ctx, false, false, 1, block->W, C, 0, inner));
    for (okra_int r = 0; r < block->m; r++) {
        double *row = base.p + r * base.ld, e = block->extra.p[r * block->extra.ld];
        if (kl && (local || r == 0)) {
            okra_mat_ Bm = okra_mat_of_(B, members, C.cols);
            CHK(okra_cancelled_(ctx));
            CHK(okra_case_set_(judge, block, r, &c));
            for (okra_int i = 0; i < members; i++) {
                memcpy(B + i * C.cols, C.p + (c.index ? c.index[i] : i) * C.ld,
                       (size_t)C.cols * sizeof *B);
            }
            CHK(variances(ctx, judge, &c, Bm, self, v));
        }
        for (okra_int j = 0; j < C.cols; j++) {
            row[j] = base_of(kl, e, isnan(constant) ? self[j] : 0, v[j]);
        }
    }
    return OKRA_OK;
}
