/*
 * factors.c: scores as products of thin factors.
 *
 *     score(u, v) = w_u' L w_v = <P_u, Q_v>,   P = W L,  Q = W     (Brouard eq. 13)
 *
 * W (nodes x n) are the weights of a group of nodes, L the output Gram matrix. So a panel
 * of scores is one product, and the matrix of all scores is never needed. A labelled node
 * that stands for itself has the unit vector as its weights: P = L, Q = I. Methods
 * without weights give P and Q themselves. With a norm the score is divided by
 * (|h(u)| |h(v)|)^norm, |h(u)|^2 = <P_u, Q_u>.
 *
 * Cost: 2 n^2 per node for P beside its weights; 2 n per score. Memory: 2 n doubles per
 * node.
 */
#include "link/link.h"

enum { PANEL_DOUBLES = 1 << 23, PANEL_ROWS = 512 };

okra_int okra_link_panel_rows_(okra_int cols)
{
    okra_int rows = PANEL_DOUBLES / OKRA_MAX_(cols, 1);
    return OKRA_MAX_(OKRA_MIN_(rows, PANEL_ROWS), 1);
}

static void unit_rows(okra_mat_ A)
{
    okra_mat_fill_(A, 0);
    for (okra_int i = 0; i < A.rows; i++) {
        A.p[i * A.ld + i] = 1;
    }
}

/* One of the two factors of a group, or both at once where a linker makes them. */
static okra_status by_linker(okra_context *ctx, okra_links *l, int g, double *P,
                             double *Q)
{
    FREED_BY(okra_batches_close_) okra_batches_ walk = {0};
    okra_group_ *group = &l->group[g];
    CHK(okra_batches_open_(ctx, l->model, group->x, 2 * l->width, &walk));
    for (okra_int i = 0; i < group->count; i += walk.rows) {
        okra_int m = OKRA_MIN_(walk.rows, group->count - i);
        okra_mat_ p = okra_mat_of_(P ? P + i * l->width : NULL, m, l->width);
        okra_mat_ q = okra_mat_of_(Q ? Q + i * l->width : NULL, m, l->width);
        CHK(okra_cancelled_(ctx));
        CHK(okra_batches_link_(ctx, &walk, i, g == OKRA_LABELLED_, p, q));
    }
    return OKRA_OK;
}

static okra_status weights(okra_context *ctx, okra_links *l, int g)
{
    okra_group_ *group = &l->group[g];
    FREED_BY(okra_batches_close_) okra_batches_ walk = {0};
    OWNED double *W = NULL;
    if (group->Q) {
        return OKRA_OK;
    }
    CHK(okra_doubles_(ctx, group->count, l->width, "the weights of the nodes", &W));
    if (l->known && g == OKRA_LABELLED_) {
        unit_rows(okra_mat_of_(W, group->count, l->width));
    } else {
        CHK(okra_batches_open_(ctx, l->model, group->x, 0, &walk));
        for (okra_int i = 0; i < group->count; i += walk.rows) {
            okra_int m = OKRA_MIN_(walk.rows, group->count - i);
            CHK(okra_cancelled_(ctx));
            CHK(okra_batches_predict_(ctx, &walk, i,
                                      okra_mat_of_(W + i * l->width, m, l->width)));
            okra_progress_(ctx, "predict nodes", i + m, group->count);
        }
    }
    group->Q = TAKE(W);
    return OKRA_OK;
}

static okra_status times_gram(okra_context *ctx, okra_links *l, int g)
{
    okra_group_ *group = &l->group[g];
    OWNED double *L = NULL, *P = NULL;
    okra_int n = l->width;
    CHK(weights(ctx, l, g));
    CHK(okra_doubles_(ctx, n, n, "the Gram matrix of the outputs", &L));
    CHK(okra_doubles_(ctx, group->count, n, "the factor of the scores", &P));
    CHK(okra_trained_kernel_gram_(ctx, l->model->training->bound_y,
                                  okra_mat_of_(L, n, n)));
    CHK(okra_engine_gemm_(ctx, false, false, 1, okra_mat_of_(group->Q, group->count, n),
                          okra_mat_of_(L, n, n), 0, okra_mat_of_(P, group->count, n)));
    group->P = TAKE(P);
    return OKRA_OK;
}

/* Makes P or Q of a group if it is not there yet. */
static okra_status factors_of(okra_context *ctx, okra_links *l, int g, bool P, bool Q)
{
    okra_group_ *group = &l->group[g];
    OWNED double *p = NULL, *q = NULL;
    P = P && !group->P;
    Q = Q && !group->Q;
    if (!l->model->method->linker) {
        return P ? times_gram(ctx, l, g) : Q ? weights(ctx, l, g) : OKRA_OK;
    }
    if (P || Q) {
        if (P) {
            CHK(okra_doubles_(ctx, group->count, l->width, "a factor of the scores", &p));
        }
        if (Q) {
            CHK(okra_doubles_(ctx, group->count, l->width, "a factor of the scores", &q));
        }
        CHK(by_linker(ctx, l, g, p, q));
        group->P = p ? p : group->P;
        group->Q = q ? q : group->Q;
        p = q = NULL;
    }
    return OKRA_OK;
}

/* S <- S + k(u, v). The kernel is bound to the nodes of the columns, so that `center`
 * takes its means from them; features of low rank stay those of the model. */
static okra_status add_kernel(okra_context *ctx, okra_links *l, int rows, okra_int i0,
                              int cols, okra_int j0, okra_mat_ S)
{
    const okra_group_ *r = &l->group[rows];
    okra_group_ *c = &l->group[cols];
    FREED_BY(okra_data_drop_) okra_data *these = NULL;
    FREED_BY(okra_test_side_drop_) okra_test_side_ *other = NULL;
    OWNED double *K = NULL;
    if (!c->columns) {
        CHK(okra_link_take_(ctx, l->all, c->node, c->count, c->node, c->count,
                            &c->columns));
    }
    if (!c->bound) {
        CHK(okra_trained_kernel_again_(ctx, l->model->training->bound_x, c->columns,
                                       &c->bound));
    }
    CHK(okra_link_take_(ctx, l->all, r->node + i0, S.rows, c->node, c->count, &these));
    CHK(okra_test_side_create_(ctx, c->bound, these, &other));
    CHK(okra_doubles_(ctx, S.rows, c->count, "a panel of the kernel", &K));
    CHK(okra_test_side_cross_(ctx, c->bound, other, 0,
                              okra_mat_of_(K, S.rows, c->count)));
    for (okra_int i = 0; i < S.rows; i++) {
        for (okra_int j = 0; j < S.cols; j++) {
            S.p[i * S.ld + j] += K[i * c->count + j0 + j];
        }
    }
    return OKRA_OK;
}

/* |h(u)|^norm of a group; 1 where h(u) is 0, whose scores are 0. */
static okra_status sizes_of(okra_context *ctx, okra_links *l, int g)
{
    okra_group_ *group = &l->group[g];
    OWNED double *size = NULL;
    if (group->size) {
        return OKRA_OK;
    }
    CHK(factors_of(ctx, l, g, true, true));
    MAKE(size, group->count);
    for (okra_int i = 0; i < group->count; i++) {
        double square =
            okra_dot_(l->width, group->P + i * l->width, group->Q + i * l->width);
        size[i] = square > 0 ? pow(square, l->norm / 2) : 1;
    }
    group->size = TAKE(size);
    return OKRA_OK;
}

static okra_status divide(okra_context *ctx, okra_links *l, int rows, okra_int i0,
                          int cols, okra_int j0, okra_mat_ S)
{
    CHK(sizes_of(ctx, l, rows));
    CHK(sizes_of(ctx, l, cols));
    const double *of_row = l->group[rows].size + i0, *of_col = l->group[cols].size + j0;
    for (okra_int i = 0; i < S.rows; i++) {
        for (okra_int j = 0; j < S.cols; j++) {
            S.p[i * S.ld + j] /= of_row[i] * of_col[j];
        }
    }
    return OKRA_OK;
}

okra_status okra_link_panel_(okra_context *ctx, okra_links *l, int rows, okra_int i0,
                             int cols, okra_int j0, okra_mat_ S)
{
    const okra_linker_ *linker = l->model->method->linker;
    REFUSE_IF(
        linker && linker->labelled_only && cols == OKRA_NEW_, OKRA_EUNSUPPORTED,
        "method %s has a model of each labelled node and cannot score two new nodes",
        l->model->method->name);
    CHK(factors_of(ctx, l, rows, true, false));
    CHK(factors_of(ctx, l, cols, false, true));
    CHK(okra_engine_gemm_(
        ctx, false, true, 1,
        okra_mat_of_(l->group[rows].P + i0 * l->width, S.rows, l->width),
        okra_mat_of_(l->group[cols].Q + j0 * l->width, S.cols, l->width), 0, S));
    if (linker && (linker->kernel == OKRA_LINKER_ALWAYS_ ||
                   (linker->kernel == OKRA_LINKER_NEW_ && rows == OKRA_NEW_ &&
                    cols == OKRA_NEW_))) {
        CHK(add_kernel(ctx, l, rows, i0, cols, j0, S));
    }
    return l->norm > 0 ? divide(ctx, l, rows, i0, cols, j0, S) : OKRA_OK;
}
