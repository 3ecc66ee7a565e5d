/*
 * leave.c: labelled pairs scored by models that have not seen the nodes.
 *
 * With the left-out weights W (row i: the prediction at node i of the model fitted
 * without it, method.h) the scores of labelled pairs are W L W'. The known network, and
 * so L, stays whole: as in Brouard et al. 2016 sec. 4, it is the mapping from
 * descriptions that is judged. Cost: 4 n^3 a lambda beside that of the weights.
 *
 * Those are pairs of nodes each of which the model of the other has seen, closer to
 * labelled x new than to new x new. With both ends left out at once, settings->together,
 * node i is predicted without i and j by the row
 *     a_i = (w_i + W_ij w_j) / (1 - W_ij W_ji) off i and j, 0 at i and j,
 * since the outputs of j that w_i asks for are themselves predicted by a_j: two equations
 * in a_i and a_j. The score a_i L a_j' then takes O(1) a pair from L, W L and W L W'.
 */
#include "link/link.h"

/* Scores S of all pairs of labelled nodes against the known edges. */
static okra_status rank_labelled(const okra_network_ *network, okra_mat_ S,
                                 okra_ranking **out)
{
    okra_int n = S.rows, count = 0;
    OWNED double *score = NULL;
    OWNED unsigned char *positive = NULL;
    const okra_csr_ *w = &network->adjacency;
    MAKE(score, n * (n - 1) / 2);
    ZMAKE(positive, n * (n - 1) / 2);
    for (okra_int i = 0; i < n; i++) {
        okra_int begin = count - (i + 1); /* of row i: pair (i, j) is at begin + j */
        for (okra_int k = w->indptr[i]; k < w->indptr[i + 1]; k++) {
            if (w->indices[k] > i) {
                positive[begin + w->indices[k]] = 1;
            }
        }
        for (okra_int j = i + 1; j < n; j++) {
            score[count++] = S.p[i * S.ld + j];
        }
    }
    return okra_ranking_create(count, score, positive, out);
}

#define AT(M, r, c) (M).p[(r) * (M).ld + (c)]

/* a_i L a_i' of node i, left out with j, from S as it was: its lower triangle. */
static double left_square(okra_mat_ W, okra_mat_ L, okra_mat_ WL, okra_mat_ S, okra_int i,
                          okra_int j)
{
    double u = AT(W, i, j), v = AT(W, j, i), c = 1 - u * v;
    double ij = i > j ? AT(S, i, j) : AT(S, j, i);
    double both = AT(S, j, j) + AT(L, j, j) + v * v * AT(L, i, i) - 2 * AT(WL, j, j);
    double ends = u * (AT(L, i, j) - AT(WL, j, i)) - AT(WL, i, i);
    return (AT(S, i, i) + u * u * both + 2 * u * (ij - AT(WL, i, j)) + 2 * u * v * ends) /
           (c * c);
}

/* score / (|h(u)| |h(v)|)^norm, of squares of these. */
static double over_sizes(double score, double u, double v, double norm)
{
    return u > 0 && v > 0 ? score / pow(u * v, norm / 2) : 0;
}

/* W L W' in S, with W L in WL, becomes a_i L a_j' above the diagonal, over their sizes.
 */
static void leave_both(okra_mat_ W, okra_mat_ L, okra_mat_ WL, double norm, okra_mat_ S)
{
    for (okra_int i = 0; i < W.rows; i++) {
        for (okra_int j = i + 1; j < W.rows; j++) {
            double u = AT(W, i, j), v = AT(W, j, i), c = 1 - u * v;
            double wi_wj = AT(S, i, j) * (1 + u * v), wi_wi = v * AT(S, i, i),
                   wj_wj = u * AT(S, j, j);
            /* less what w_i and w_j have at j and i, and u w_j and v w_i at j and i */
            double ij = 2 * u * v * (AT(WL, i, j) + AT(WL, j, i)),
                   ii = v * (1 + u * v) * AT(WL, i, i),
                   jj = u * (1 + u * v) * AT(WL, j, j);
            double ends =
                u * v * (AT(L, i, j) * (1 + u * v) + v * AT(L, i, i) + u * AT(L, j, j));
            double score = (wi_wj + wi_wi + wj_wj - ij - ii - jj + ends) / (c * c);
            AT(S, i, j) = norm > 0 ? over_sizes(score, left_square(W, L, WL, S, i, j),
                                                left_square(W, L, WL, S, j, i), norm)
                                   : score;
        }
    }
}

/* W L W' over the sizes of both ends, above the diagonal. */
static void divide(double norm, okra_mat_ S)
{
    for (okra_int i = 0; norm > 0 && i < S.rows; i++) {
        for (okra_int j = i + 1; j < S.rows; j++) {
            AT(S, i, j) = over_sizes(AT(S, j, i), AT(S, i, i), AT(S, j, j), norm);
        }
    }
}
#undef AT

typedef struct sink {
    const okra_network_ *network;
    bool together;
    double norm;
    okra_mat_ L, WL, S;
    const okra_measure_ *area; /* two, or NULL */
    okra_ranking **ranking;    /* or NULL      */
    double *norms;             /* AUC-PR of each of okra_link_norm, or NULL */
} sink;

static const double tried[] = {0.75, 0.5, 1}; /* the first where nothing tells */
enum { TRIED = sizeof tried / sizeof *tried };

OKRA_DROPS_(drop_ranking, okra_ranking, okra_ranking_free)

static okra_status judge(okra_context *ctx, void *user, const okra_left_ *left)
{
    sink *s = user;
    FREED_BY(drop_ranking) okra_ranking *r = NULL;
    CHK(okra_engine_gemm_(ctx, false, false, 1, left->W, s->L, 0, s->WL));
    CHK(okra_engine_gemm_(ctx, false, true, 1, s->WL, left->W, 0, s->S));
    for (int k = 0; s->norms && k < TRIED; k++) {
        FREED_BY(drop_ranking) okra_ranking *one = NULL;
        divide(tried[k], s->S);
        CHK(rank_labelled(s->network, s->S, &one));
        s->norms[k] = okra_ranking_auc_pr(one);
    }
    if (s->together) {
        leave_both(left->W, s->L, s->WL, s->norm, s->S);
    } else {
        divide(s->norm, s->S);
    }
    CHK(rank_labelled(s->network, s->S, &r));
    for (int k = 0; s->area && k < 2; k++) {
        if (s->area[k].out) {
            s->area[k].out[left->lambda] = s->area[k].of(r);
        }
    }
    if (s->ranking) {
        *s->ranking = TAKE(r);
    }
    return OKRA_OK;
}

/* The method's own left-out predictions for every lambda, judged. */
static okra_status leave(okra_context *ctx, const okra_training_ *t,
                         const okra_method_ *method, const okra_options *options,
                         const double *lambda, size_t count, sink *s)
{
    OWNS(&s->L.p, &s->WL.p, &s->S.p);
    okra_int n = t->y->n;
    okra_problem_ problem = okra_training_problem_(t, t->x, NULL);
    okra_parts_ parts = {n, NULL};
    REFUSE_IF(!method->leave, OKRA_EUNSUPPORTED,
              "method %s has no closed form of leave-one-out", method->name);
    s->L = s->WL = s->S = (okra_mat_){NULL, n, n, n};
    CHK(okra_doubles_(ctx, n, n, "the Gram matrix of the outputs", &s->L.p));
    CHK(okra_doubles_(ctx, n, n, "scores of labelled pairs", &s->WL.p));
    CHK(okra_doubles_(ctx, n, n, "scores of labelled pairs", &s->S.p));
    CHK(okra_trained_kernel_gram_(ctx, t->bound_y, s->L));
    return method->leave(ctx, &problem, options, lambda, count, &parts, false, judge, s);
}

/* As the sink wants them, for every lambda; its network is filled in. */
static okra_status leave_task(okra_context *context, const okra_link_task *task,
                              const okra_options *options,
                              const okra_link_settings *settings, const double *lambda,
                              size_t count, sink *s)
{
    FREED_BY(okra_link_parts_clear_) okra_link_parts_ p = {0};
    FREED_BY(okra_data_drop_) okra_data *x = NULL;
    FREED_BY(okra_kernel_drop_) okra_kernel *ky = NULL, *kx = NULL;
    FREED_BY(okra_training_drop_) okra_training_ *t = NULL;
    okra_link_settings known = {OKRA_SIZED(okra_link_settings), .beta = 1};
    NOT_NULL(task, lambda);
    SIZED(settings, &known);
    CHK(okra_link_parts_create_(context, task, options, &known, &p));
    const char *name = okra_options_get(p.fit, "method");
    const okra_method_ *method = okra_method_find_(name);
    REFUSE_IF(!method, OKRA_EARG, "there is no method '%s'", name);
    s->network = p.network;
    s->together = known.together && !s->norms;
    s->norm = known.norm;
    REFUSE_IF(s->together && method->leave &&
                  strcmp(okra_options_get(p.fit, "center-output"), "no") != 0,
              OKRA_EUNSUPPORTED,
              "both ends of a pair at once are not left out with center-output");
    CHK(okra_link_take_(context, task->x, p.inputs, p.input_count, p.inputs,
                        p.input_count, &x));
    CHK(okra_kernel_choose(context, okra_options_get(p.fit, "kx"), x, &kx));
    CHK(okra_kernel_choose(context, okra_options_get(p.fit, "ky"), p.y, &ky));
    CHK(okra_training_create_(context, x, p.y, kx, ky, NULL, &t));
    kx = ky = NULL;
    return leave(context, t, method, p.fit, lambda, count, s);
}

okra_status okra_link_leave_(okra_context *context, const okra_link_task *task,
                             const okra_options *options,
                             const okra_link_settings *settings, const double *lambda,
                             size_t count, const okra_measure_ area[2])
{
    sink s = {.area = area};
    return leave_task(context, task, options, settings, lambda, count, &s);
}

okra_status okra_link_leave(okra_context *context, const okra_link_task *task,
                            const okra_options *options,
                            const okra_link_settings *settings, const double *lambda,
                            size_t count, double *auc_roc, double *auc_pr)
{
    okra_measure_ area[] = {{okra_ranking_auc_roc, auc_roc},
                            {okra_ranking_auc_pr, auc_pr}};
    return okra_link_leave_(context, task, options, settings, lambda, count, area);
}

/* As fitted. */
static okra_status rank_fitted(okra_context *ctx, okra_links *l, okra_ranking **out)
{
    okra_int n = l->group[OKRA_LABELLED_].count;
    FREED_BY(okra_mat_drop_) okra_mat_ S = {0};
    CHK(okra_mat_room_(ctx, n, n, "scores of labelled pairs", &S));
    CHK(okra_link_panel_(ctx, l, OKRA_LABELLED_, 0, OKRA_LABELLED_, 0, S));
    return rank_labelled(l->network, S, out);
}

/* The lambda that options of fit stand for; 0: the method has none. */
static double fitted_lambda(const okra_method_ *method, const okra_options *o)
{
    const okra_option *row = okra_option_find_(&method->options, "lambda", 6);
    const char *text = !row                               ? NULL
                       : okra_options_is_set(o, "lambda") ? okra_options_get(o, "lambda")
                                                          : row->preset;
    return text ? okra_strtod_(text, NULL) : 0;
}

okra_status okra_link_norm(okra_context *context, const okra_link_task *task,
                           const okra_options *options,
                           const okra_link_settings *settings, double *norm)
{
    double areas[TRIED] = {0}, lambda = 0;
    okra_link_settings how = {OKRA_SIZED(okra_link_settings), .beta = 1};
    sink s = {.norms = areas};
    int best = 0;
    NOT_NULL(options, norm);
    SIZED(settings, &how);
    how.norm = tried[0]; /* ky is normalised */
    const okra_method_ *method = okra_method_find_(okra_options_get(options, "method"));
    if (method && method->linker) {
        *norm = 0;
        return OKRA_OK;
    }
    lambda = method ? fitted_lambda(method, options) : 0;
    bool learned = okra_align_asked_(okra_options_get(options, "kx"));
    if (method && method->leave && lambda > 0 && !how.known && !learned) {
        okra_status st = leave_task(context, task, options, &how, &lambda, 1, &s);
        CHK(st == OKRA_EUNSUPPORTED ? OKRA_OK : st);
    }
    for (int k = 1; k < TRIED; k++) {
        best = areas[k] > areas[best] ? k : best;
    }
    *norm = tried[best];
    return OKRA_OK;
}

okra_status okra_link_training(okra_context *context, okra_links *links,
                               okra_ranking **out, bool *left_out)
{
    NOT_NULL(links);
    okra_status st = OKRA_EUNSUPPORTED;
    double lambda = fitted_lambda(links->model->method, links->options);
    sink s = {.network = links->network, .norm = links->norm, .ranking = out};
    if (lambda > 0 && !links->known) {
        st = leave(context, links->model->training, links->model->method, links->options,
                   &lambda, 1, &s);
    }
    GIVE(left_out, st == OKRA_OK);
    return st == OKRA_EUNSUPPORTED ? rank_fitted(context, links, out) : st;
}
