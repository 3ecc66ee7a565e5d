/*
 * score.c: the best pairs, given pairs, and all pairs against the truth.
 *
 * Pairs are walked in panels of rows (new nodes) by all columns, two new nodes only above
 * the diagonal. Those that may be among the best are kept, and sorted and cut when they
 * are twice as many: a panel costs its product and one comparison a pair.
 */
#include "link/link.h"

/* ---- scores as products of thin factors.
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

enum { PANEL_DOUBLES = 1 << 23, PANEL_ROWS = 512 };

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
        okra_mat_units_(okra_mat_of_(W, group->count, l->width), 0);
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
    FREED_BY(okra_mat_drop_) okra_mat_ K = {0};
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
    CHK(okra_mat_room_(ctx, S.rows, c->count, "a panel of the kernel", &K));
    CHK(okra_test_side_cross_(ctx, c->bound, other, 0, K));
    for (okra_int i = 0; i < S.rows; i++) {
        okra_axpy_(S.cols, 1, K.p + i * c->count + j0, S.p + i * S.ld);
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

/* ---- every pair of a kind, in panels ---- */

typedef okra_status (*visit_fn)(void *arg, okra_int a, okra_int b, double score);

/* Rows i0.. of the panel: `a` is the labelled node of a pair of both kinds, the smaller
 * number otherwise. */
static okra_status visit_panel(const okra_links *l, int rows, okra_int i0, int cols,
                               okra_int j0, okra_mat_ S, visit_fn visit, void *arg)
{
    const okra_int *row_node = l->group[rows].node, *col_node = l->group[cols].node;
    for (okra_int i = 0; i < S.rows; i++) {
        okra_int u = row_node[i0 + i];
        for (okra_int j = rows == cols ? i0 + i + 1 - j0 : 0; j < S.cols; j++) {
            okra_int v = col_node[j0 + j];
            bool swap = rows != cols || v < u;
            CHK(visit(arg, swap ? v : u, swap ? u : v, S.p[i * S.ld + j]));
        }
    }
    return OKRA_OK;
}

static okra_status visit_groups(okra_context *ctx, okra_links *l, int rows, int cols,
                                visit_fn visit, void *arg)
{
    okra_int m = l->group[rows].count, columns = l->group[cols].count;
    okra_int rows_most = PANEL_DOUBLES / OKRA_MAX_(columns, 1);
    okra_int step = OKRA_MAX_(OKRA_MIN_(rows_most, PANEL_ROWS), 1);
    OWNED double *S = NULL;
    if (m == 0 || columns == 0) {
        return OKRA_OK;
    }
    CHK(okra_doubles_(ctx, OKRA_MIN_(step, m), columns, "a panel of scores", &S));
    for (okra_int i = 0; i < m; i += step) {
        okra_int j0 = rows == cols ? i : 0;
        okra_mat_ panel = okra_mat_of_(S, OKRA_MIN_(step, m - i), columns - j0);
        CHK(okra_cancelled_(ctx));
        CHK(okra_link_panel_(ctx, l, rows, i, cols, j0, panel));
        CHK(visit_panel(l, rows, i, cols, j0, panel, visit, arg));
        okra_progress_(ctx, "score links", i + panel.rows, m);
    }
    return OKRA_OK;
}

static okra_status visit_pairs(okra_context *ctx, okra_links *l, okra_link_pairs which,
                               visit_fn visit, void *arg)
{
    if (which & OKRA_LINK_LABELLED_NEW) {
        CHK(visit_groups(ctx, l, OKRA_NEW_, OKRA_LABELLED_, visit, arg));
    }
    return which & OKRA_LINK_NEW_NEW
               ? visit_groups(ctx, l, OKRA_NEW_, OKRA_NEW_, visit, arg)
               : OKRA_OK;
}

okra_int okra_link_count(const okra_links *l, okra_link_pairs which)
{
    if (!l) {
        return 0;
    }
    okra_int n = l->group[OKRA_LABELLED_].count, m = l->group[OKRA_NEW_].count;
    return (which & OKRA_LINK_LABELLED_NEW ? n * m : 0) +
           (which & OKRA_LINK_NEW_NEW ? m * (m - 1) / 2 : 0);
}

/* ---- the best ---- */

typedef struct best {
    okra_link *items;
    okra_int count, room, most;
    double least; /* no lower one is among them */
} best;

OKRA_ORDER_(by_rank, okra_link, OKRA_DOWN_(value), OKRA_UP_(a), OKRA_UP_(b))

static void cut(best *b)
{
    OKRA_SORT_(b->items, b->count, by_rank);
    if (b->count >= b->most && b->most > 0) {
        b->count = b->most;
        b->least = fmax(b->least, b->items[b->most - 1].value);
    }
}

static okra_status keep(void *arg, okra_int a, okra_int b, double score)
{
    best *z = arg;
    if (!(score >= z->least)) {
        return OKRA_OK;
    }
    EXTEND(z->items, z->count, z->room, 1024);
    z->items[z->count++] = (okra_link){a, b, score};
    if (z->count / 2 >= z->most) {
        cut(z);
    }
    return OKRA_OK;
}

okra_status okra_link_rank(okra_context *context, okra_links *links,
                           okra_link_pairs which, okra_int top, double least,
                           okra_link **list, okra_int *count)
{
    NOT_NULL(links, list, count);
    okra_int all = okra_link_count(links, which);
    best h = {.most = top > 0 ? OKRA_MIN_(top, all) : all, .least = least};
    OWNS(&h.items);
    REFUSE_IF(top < 0, OKRA_EARG, "top is %lld, expected a number that is not negative",
              (long long)top);
    if (h.most == all && least == -(double)INFINITY) {
        CHK(okra_budget_ask_(context, (double)all * sizeof(okra_link),
                             "the list of %lld pairs", (long long)all));
        MAKE(h.items, all);
        h.room = all;
    }
    CHK(visit_pairs(context, links, which, keep, &h));
    cut(&h);
    *list = h.items;
    *count = h.count;
    h.items = NULL;
    return OKRA_OK;
}

void okra_link_list_free(okra_link *list)
{
    okra_free_(list);
}

/* ---- given pairs ---- */

/* Group and place of a node. */
static okra_int locate(const okra_links *l, okra_int node, int *group)
{
    okra_int place = l->place[node];
    *group = place >= 0 ? OKRA_LABELLED_ : OKRA_NEW_;
    return place >= 0 ? place : -1 - place;
}

okra_status okra_link_score(okra_context *context, okra_links *links, okra_link *pairs,
                            okra_int count)
{
    NOT_NULL(links);
    if (count > 0) {
        NOT_NULL(pairs);
    }
    for (okra_int k = 0; k < count; k++) {
        okra_link *pair = &pairs[k];
        REFUSE_IF(pair->a < 0 || pair->a >= links->nodes || pair->b < 0 ||
                      pair->b >= links->nodes || pair->a == pair->b,
                  OKRA_EARG,
                  "pair %lld: nodes %lld and %lld; expected two different ones of the "
                  "%lld nodes",
                  (long long)k, (long long)pair->a, (long long)pair->b,
                  (long long)links->nodes);
        int row_group, col_group;
        okra_int i = locate(links, pair->a, &row_group);
        okra_int j = locate(links, pair->b, &col_group);
        if (row_group < col_group) { /* the row is the new one */
            OKRA_SWAP_(i, j);
            row_group = OKRA_NEW_;
            col_group = OKRA_LABELLED_;
        }
        CHK(okra_link_panel_(context, links, row_group, i, col_group, j,
                             okra_mat_of_(&pair->value, 1, 1)));
    }
    return OKRA_OK;
}

/* ---- against the truth ---- */

typedef struct collection {
    double *score;
    okra_link *ends; /* value: where its score is */
    okra_int count;
} collection;

static okra_status collect(void *arg, okra_int a, okra_int b, double score)
{
    collection *c = arg;
    c->score[c->count] = score;
    c->ends[c->count] = (okra_link){OKRA_MIN_(a, b), OKRA_MAX_(a, b), 0};
    c->count++;
    return OKRA_OK;
}

int okra_links_by_ends_(const void *p, const void *q)
{
    const okra_link *x = p, *y = q;
    ORDER_BY(x->a, y->a);
    return (x->b > y->b) - (x->b < y->b);
}

okra_status okra_links_sorted_(const okra_link *links, okra_int count, okra_link **out)
{
    MAKE(*out, count);
    for (okra_int k = 0; k < count; k++) {
        okra_link e = links[k];
        (*out)[k] = (okra_link){OKRA_MIN_(e.a, e.b), OKRA_MAX_(e.a, e.b), e.value};
    }
    OKRA_SORT_(*out, count, okra_links_by_ends_);
    return OKRA_OK;
}

bool okra_links_among_(const okra_link *sorted, okra_int count, okra_link pair)
{
    return count > 0 && bsearch(&pair, sorted, (size_t)count, sizeof pair,
                                okra_links_by_ends_) != NULL;
}

static okra_status check_truth(const okra_links *l, const okra_link *truth,
                               okra_int count)
{
    for (okra_int k = 0; k < count; k++) {
        const okra_link *e = &truth[k];
        REFUSE_IF(e->a < 0 || e->a >= l->nodes || e->b < 0 || e->b >= l->nodes, OKRA_EARG,
                  "true edge %lld: nodes %lld and %lld, there are %lld nodes",
                  (long long)k, (long long)e->a, (long long)e->b, (long long)l->nodes);
    }
    return OKRA_OK;
}

/* The order of a baseline: what is known of the labelled ends alone. */
static okra_status known_values(okra_context *ctx, const okra_links *l,
                                okra_link_baseline baseline, double **out)
{
    okra_int n = l->group[OKRA_LABELLED_].count;
    const okra_csr_ *w = &l->network->adjacency;
    OWNED double *value = NULL, *L = NULL;
    double mean = 0;
    ZMAKE(value, l->nodes);
    if (baseline == OKRA_LINK_NO_INPUTS) {
        CHK(okra_doubles_(ctx, n, n, "the Gram matrix of the outputs", &L));
        CHK(okra_trained_kernel_gram_(ctx, l->model->training->bound_y,
                                      okra_mat_of_(L, n, n)));
    }
    for (okra_int i = 0; i < n; i++) {
        double sum = L ? 0 : (double)(w->indptr[i + 1] - w->indptr[i]);
        for (okra_int j = 0; L && j < n; j++) {
            sum += L[i * n + j] / (double)n;
        }
        /* rows of a diffusion kernel sum to 1, up to rounding, which tells nothing */
        sum = round(sum * 1e9) / 1e9;
        value[l->group[OKRA_LABELLED_].node[i]] = sum;
        mean += sum / (double)n;
    }
    for (okra_int k = 0; k < l->group[OKRA_NEW_].count; k++) {
        value[l->group[OKRA_NEW_].node[k]] = mean;
    }
    *out = TAKE(value);
    return OKRA_OK;
}

/* All pairs, by their scores or by `value`: the sum of those of their ends. */
static okra_status evaluate(okra_context *context, okra_links *links,
                            okra_link_pairs which, const double *value,
                            const okra_link *truth, okra_int truth_count,
                            okra_ranking **out)
{
    okra_int all = okra_link_count(links, which);
    collection c = {0};
    OWNS(&c.score, &c.ends);
    OWNED okra_link *edges = NULL;
    OWNED unsigned char *positive = NULL;
    CHK(check_truth(links, truth, truth_count));
    CHK(okra_links_sorted_(truth, truth_count, &edges));
    CHK(okra_budget_ask_(context, (double)all * (sizeof(okra_link) + 40),
                         "the scores of all %lld pairs", (long long)all));
    MAKE(c.score, all);
    MAKE(c.ends, all);
    MAKE(positive, all);
    CHK(visit_pairs(context, links, which, collect, &c));
    for (okra_int k = 0; k < all; k++) {
        positive[k] = okra_links_among_(edges, truth_count, c.ends[k]);
        if (value) {
            c.score[k] = value[c.ends[k].a] + value[c.ends[k].b];
        }
    }
    return okra_ranking_create(all, c.score, positive, out);
}

okra_status okra_link_evaluate(okra_context *context, okra_links *links,
                               okra_link_pairs which, const okra_link *truth,
                               okra_int truth_count, okra_ranking **out)
{
    NOT_NULL(links);
    if (truth_count > 0) {
        NOT_NULL(truth);
    }
    NOT_NULL(out);
    return evaluate(context, links, which, NULL, truth, truth_count, out);
}

okra_status okra_link_evaluate_baseline(okra_context *context, okra_links *links,
                                        okra_link_pairs which,
                                        okra_link_baseline baseline,
                                        const okra_link *truth, okra_int truth_count,
                                        okra_ranking **out)
{
    OWNED double *value = NULL;
    NOT_NULL(links);
    if (truth_count > 0) {
        NOT_NULL(truth);
    }
    NOT_NULL(out);
    CHK(known_values(context, links, baseline, &value));
    return evaluate(context, links, which, value, truth, truth_count, out);
}
