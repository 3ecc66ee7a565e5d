/*
 * links.c: the areas under the curves of links, for nodes that were left out.
 * A pair of the selection is a labelled node: its description and its place in the known
 * network. Of the nodes S of a fold nothing is known but their descriptions: the method
 * is fitted on the network among the others, and the pairs with one end or both in S are
 * ranked by their scores (Brouard et al. 2016 sec. 6.1: both kinds together).
 *
 * Leave-one-out ranks all labelled pairs at once, W L W' with the weights W of left-out
 * nodes (link/leave.c), for all lambdas from one decomposition. Cost of a fold: a fit,
 * and a score for each pair with an end in it.
 */
#include "select/select.h"

/* ---- a part of the network ---- */

/* The network among some labelled nodes. */
typedef struct part {
    okra_link_task task;
    okra_int *labelled;
    okra_link *edges;
    okra_data *gram;
} part;

static void clear(part *p)
{
    FREE(p->labelled, p->edges);
    okra_data_free(p->gram);
}

/* places: of the `count` nodes among the labelled ones of the whole task. */
static okra_status take(okra_context *ctx, const okra_link_task *whole,
                        const okra_int *places, okra_int count, part *out)
{
    FREED_BY(clear) part p = {.task = *whole};
    OWNED bool *in = NULL;
    ZMAKE(in, whole->x->n);
    MAKE(p.labelled, count);
    MAKE(p.edges, whole->edge_count);
    for (okra_int i = 0; i < count; i++) {
        p.labelled[i] = whole->labelled[places[i]];
        in[p.labelled[i]] = true;
    }
    p.task.edge_count = 0;
    for (okra_int k = 0; k < whole->edge_count; k++) {
        if (in[whole->edges[k].a] && in[whole->edges[k].b]) {
            p.edges[p.task.edge_count++] = whole->edges[k];
        }
    }
    if (whole->gram) {
        CHK(okra_link_take_(ctx, whole->gram, places, count, places, count, &p.gram));
    }
    p.task.labelled = p.labelled;
    p.task.labelled_count = count;
    p.task.edges = p.edges;
    p.task.gram = p.gram;
    *out = p;
    p = (part){.gram = NULL};
    return OKRA_OK;
}

/* ---- what can be judged ---- */

enum { OUT, TRAINED, TESTED };

/* Edges between trained nodes, and between a tested one and any that takes part. */
static void count_edges(const okra_link_task *task, const char *role, okra_int *within,
                        okra_int *across)
{
    *within = *across = 0;
    for (okra_int k = 0; k < task->edge_count; k++) {
        char a = role[task->edges[k].a], b = role[task->edges[k].b];
        *within += a == TRAINED && b == TRAINED;
        *across += a != OUT && b != OUT && (a == TESTED || b == TESTED);
    }
}

okra_status okra_links_check_(const okra_pairs_ *source, const okra_folds_ *folds,
                              const okra_int *index)
{
    const okra_link_task *task = source->links->task;
    OWNED okra_int *train = NULL, *test = NULL;
    okra_int n, m, within, across;
    okra_int count = folds->part ? okra_folds_count_(folds) : 1;
    OWNED char *role = NULL;
    MAKE(train, folds->n);
    MAKE(test, folds->n);
    MAKE(role, task->x->n);
    for (okra_int f = 0; f < count; f++) {
        memset(role, OUT, (size_t)task->x->n);
        okra_folds_get_(folds, f, train, &n, test, &m);
        if (!folds->part) { /* leave-one-out ranks all pairs at once */
            for (n = 0, m = 0; m < folds->n; m++) {
                test[m] = m;
            }
        }
        for (okra_int i = 0; i < n + m; i++) {
            okra_int at = i < n ? train[i] : test[i - n];
            role[task->labelled[index ? index[at] : at]] = i < n ? TRAINED : TESTED;
        }
        count_edges(task, role, &within, &across);
        REFUSE_IF(folds->part && within == 0, OKRA_EARG,
                  "fold %lld trains on %lld nodes without an edge between them: take "
                  "more folds, or give them",
                  (long long)f, (long long)n);
        REFUSE_IF(across == 0 || across == m * n + m * (m - 1) / 2, OKRA_EARG,
                  "fold %lld tests %lld nodes with %s: there is nothing to rank; take "
                  "fewer folds, or give them",
                  (long long)f, (long long)m,
                  across == 0 ? "no edge, so that no pair is positive"
                              : "all edges there can be, so that no pair is negative");
    }
    return OKRA_OK;
}

/* ---- folds ---- */

/* The pairs that a fold ranks, and which of them are edges. */
typedef struct trial {
    part known;
    okra_link *pairs;
    double *score;
    unsigned char *positive;
    okra_int count;
} trial;

static void close_trial(trial *t)
{
    clear(&t->known);
    FREE(t->pairs, t->score, t->positive);
}

static okra_status mark(const okra_link_task *task, trial *t)
{
    OWNED okra_link *edges = NULL;
    CHK(okra_links_sorted_(task->edges, task->edge_count, &edges));
    for (okra_int k = 0; k < t->count; k++) {
        okra_int a = t->pairs[k].a, b = t->pairs[k].b;
        okra_link pair = {OKRA_MIN_(a, b), OKRA_MAX_(a, b), 0};
        t->positive[k] = okra_links_among_(edges, task->edge_count, pair);
    }
    return OKRA_OK;
}

static okra_status open_trial(okra_context *ctx, const okra_task_ *task, okra_int fold,
                              trial *t)
{
    const okra_link_task *whole = task->source->links->task;
    OWNED okra_int *train = NULL, *test = NULL;
    okra_int all = task->folds.n, n, m;
    MAKE(train, all);
    MAKE(test, all);
    okra_folds_get_(&task->folds, fold, train, &n, test, &m);
    for (okra_int i = 0; task->index && i < all; i++) {
        okra_int *at = i < n ? &train[i] : &test[i - n];
        *at = task->index[*at];
    }
    CHK(take(ctx, whole, train, n, &t->known));
    okra_int most = m * n + m * (m - 1) / 2;
    MAKE(t->pairs, most);
    MAKE(t->score, most);
    MAKE(t->positive, most);
    for (okra_int i = 0; i < m; i++) {
        for (okra_int j = 0; j < n + i; j++) {
            okra_int other = j < n ? train[j] : test[j - n];
            t->pairs[t->count++] =
                (okra_link){whole->labelled[other], whole->labelled[test[i]], 0};
        }
    }
    return mark(whole, t);
}

OKRA_DROPS_(drop_ranking, okra_ranking, okra_ranking_free)

OKRA_DROPS_(drop_links, okra_links, okra_links_free)

static okra_status rank(okra_context *ctx, const okra_task_ *task, trial *t,
                        const okra_options *fit, double *value)
{
    FREED_BY(drop_links) okra_links *links = NULL;
    FREED_BY(drop_ranking) okra_ranking *ranking = NULL;
    CHK(okra_link_fit(ctx, &t->known.task, fit, task->source->links->settings, &links));
    CHK(okra_link_score(ctx, links, t->pairs, t->count));
    for (okra_int k = 0; k < t->count; k++) {
        t->score[k] = t->pairs[k].value;
    }
    CHK(okra_ranking_create(t->count, t->score, t->positive, &ranking));
    *value = okra_metric_find_(task->metric)->links(ranking);
    return OKRA_OK;
}

okra_status okra_links_fold_(okra_context *ctx, const okra_task_ *task,
                             okra_cell_ *const *cells, size_t count, okra_int fold)
{
    FREED_BY(close_trial) trial t = {.count = 0};
    FREED_BY(okra_options_drop_) okra_options *fit = NULL;
    CHK(open_trial(ctx, task, fold, &t));
    for (size_t l = 0; l < count; l++) {
        CHK(okra_cancelled_(ctx));
        CHK(okra_space_options_(task->space, &cells[l]->setting, &fit, NULL));
        CHK(rank(ctx, task, &t, fit, &cells[l]->values[fold]));
        okra_options_drop_(&fit);
    }
    return OKRA_OK;
}

/* ---- leave-one-out ---- */

static okra_status leave(okra_context *ctx, const okra_task_ *task,
                         okra_cell_ *const *cells, size_t count)
{
    const okra_link_source_ *links = task->source->links;
    const okra_space_ *space = task->space;
    FREED_BY(clear) part some = {.gram = NULL};
    OWNED double *lambda = NULL, *area = NULL;
    FREED_BY(okra_options_drop_) okra_options *fit = NULL;
    REFUSE_IF(!space->method->leave || !space->path || links->settings->known,
              OKRA_EUNSUPPORTED,
              "method %s has no closed form of leave-one-out over links%s: expected cv "
              "kfold:K or nested:K,K2",
              space->method->name, links->settings->known ? " with known nodes" : "");
    MAKE(lambda, (okra_int)count);
    MAKE(area, (okra_int)count);
    for (size_t l = 0; l < count; l++) {
        CHK(okra_cell_lambda_(space, cells[l], &lambda[l]));
    }
    CHK(okra_space_options_(space, &cells[0]->setting, &fit, NULL));
    if (task->index) {
        CHK(take(ctx, links->task, task->index, task->folds.n, &some));
    }
    okra_measure_ wanted[] = {{okra_metric_find_(task->metric)->links, area},
                              {NULL, NULL}};
    CHK(okra_link_leave_(ctx, task->index ? &some.task : links->task, fit,
                         links->settings, lambda, count, wanted));
    for (size_t l = 0; l < count; l++) {
        cells[l]->values[0] = area[l];
    }
    return OKRA_OK;
}

okra_status okra_links_run_(okra_context *ctx, okra_task_ *task, okra_cell_ *const *cells,
                            size_t count)
{
    task->closed = !task->folds.part;
    if (task->closed) {
        return leave(ctx, task, cells, count);
    }
    for (okra_int f = 0; f < okra_folds_count_(&task->folds); f++) {
        okra_progress_(ctx, "folds", f, okra_folds_count_(&task->folds));
        CHK(okra_links_fold_(ctx, task, cells, count, f));
    }
    okra_progress_end_(ctx, "folds");
    return OKRA_OK;
}
