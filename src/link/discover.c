/*
 * discover.c: lists of links with a controlled share of false ones.
 *
 * Some labelled nodes H are held back: the model is fitted on the others R, for which
 * those of H are as new as the truly new nodes F. If the nodes of H and F are
 * exchangeable, so are the scores of unlinked pairs R x H and R x F, and those of H x H,
 * H x F and F x F. The former of each kind are known, so that
 *
 *     p(u, v) = (1 + #{unlinked (i, j) of the kind: score(i, j) >= score(u, v)}) / (1 +
 * N)
 *
 * is a p-value of "u and v are not linked". The procedure of Benjamini and Hochberg
 * (1995) keeps the k smallest of M, k the largest with p_(k) <= k fdr / M. Pairs that
 * share a node are dependent, so that the bound is no theorem here; docs/links.md has the
 * share that was measured.
 *
 * Cost: one fit, and the scores of all pairs; memory: the scores of the known pairs and
 * the pairs with p <= fdr.
 */
#include "link/link.h"

typedef struct found {
    okra_link link;
    double p;
} found;

typedef struct search {
    okra_context *ctx;
    const okra_link_task *task;
    okra_link_task rest; /* the task of the nodes that stay labelled      */
    okra_int nodes;
    unsigned char *role; /* by node: STAYS, HELD or 0                     */
    okra_link *edges;    /* of the nodes that stay                        */
    okra_int *stays, *held;
    okra_int held_count;
    okra_links *links;
    found *list;
    okra_int count, room;
} search;

enum { STAYS = 1, HELD = 2 };

static void release(search *z)
{
    FREE(z->role, z->edges, z->stays, z->held, z->list);
    okra_links_free(z->links);
}

/* ---- the split ---- */

static okra_status split(search *z, double hold_back)
{
    const okra_link_task *task = z->task;
    okra_int n = task->labelled_count, held = (okra_int)(hold_back * (double)n + 0.5);
    REFUSE_IF(held < 2 || n - held < 2, OKRA_ESHAPE,
              "links: %lld of %lld labelled nodes would be held back: expected at least "
              "2, and 2 that stay",
              (long long)held, (long long)n);
    ZMAKE(z->role, z->nodes);
    MAKE(z->stays, n);
    MAKE(z->held, held);
    MAKE(z->edges, task->edge_count);
    memcpy(z->stays, task->labelled, (size_t)n * sizeof *z->stays);
    okra_random_ r = okra_random_create_(okra_context_seed(z->ctx), 12);
    okra_random_shuffle_(&r, n, z->stays);
    memcpy(z->held, z->stays + n - held, (size_t)held * sizeof *z->held);
    z->held_count = held;
    for (okra_int k = 0; k < n; k++) {
        okra_int node = z->stays[k];
        REFUSE_IF(node < 0 || node >= z->nodes, OKRA_EARG,
                  "links: labelled node %lld of %lld nodes", (long long)node,
                  (long long)z->nodes);
        z->role[node] = k < n - held ? STAYS : HELD;
    }
    z->rest = *task;
    z->rest.labelled = z->stays;
    z->rest.labelled_count = n - held;
    z->rest.edges = z->edges;
    z->rest.edge_count = 0;
    for (okra_int k = 0; k < task->edge_count; k++) {
        const okra_link *e = &task->edges[k];
        bool inside = e->a >= 0 && e->a < z->nodes && e->b >= 0 && e->b < z->nodes;
        if (inside && z->role[e->a] == STAYS && z->role[e->b] == STAYS) {
            z->edges[z->rest.edge_count++] = *e;
        }
    }
    REFUSE_IF(z->rest.edge_count == 0, OKRA_ESHAPE,
              "links: no known edge is left between the %lld labelled nodes that stay: "
              "hold back less",
              (long long)(n - held));
    return OKRA_OK;
}

/* ---- scores of unlinked pairs ---- */

/* The scores of unlinked pairs of the held nodes with those that stay, or (inside) with
 * each other, ascending. */
static okra_status null_scores(search *z, bool inside, double **out, okra_int *count)
{
    OWNED okra_link *edges = NULL, *pairs = NULL;
    double *score = NULL;
    okra_int others = inside ? z->held_count : z->rest.labelled_count, m = 0;
    const okra_int *other = inside ? z->held : z->stays;
    CHK(okra_links_sorted_(z->task->edges, z->task->edge_count, &edges));
    MAKE(pairs, z->held_count * others);
    for (okra_int i = 0; i < z->held_count; i++) {
        for (okra_int j = inside ? i + 1 : 0; j < others; j++) {
            okra_int a = OKRA_MIN_(z->held[i], other[j]);
            okra_link pair = {a, OKRA_MAX_(z->held[i], other[j]), 0};
            if (!okra_links_among_(edges, z->task->edge_count, pair)) {
                pairs[m++] = pair;
            }
        }
    }
    CHK(okra_link_score(z->ctx, z->links, pairs, m));
    MAKE(score, m);
    for (okra_int k = 0; k < m; k++) {
        score[k] = pairs[k].value;
    }
    OKRA_SORT_(score, m, okra_by_double_);
    *out = score;
    *count = m;
    return OKRA_OK;
}

/* ---- candidates ---- */

/* The kind of a pair in the user's terms; 0: known. */
static okra_link_pairs kind_of(const search *z, const okra_link *pair)
{
    bool a = z->role[pair->a] != 0, b = z->role[pair->b] != 0;
    return a && b   ? (okra_link_pairs)0
           : a || b ? OKRA_LINK_LABELLED_NEW
                    : OKRA_LINK_NEW_NEW;
}

OKRA_DROPS_(drop_link, okra_link, okra_link_list_free)

/* Pairs of one kind of the fit whose p-value is at most fdr. */
static okra_status gather(search *z, bool inside, okra_link_pairs which, double fdr)
{
    OWNED double *null = NULL;
    FREED_BY(drop_link) okra_link *list = NULL;
    okra_int count = 0, pairs = 0;
    CHK(null_scores(z, inside, &null, &count));
    okra_int most = (okra_int)floor(fdr * (double)(count + 1)) - 1;
    if (most < 0) {
        return OKRA_OK; /* too few pairs for a p-value this small */
    }
    double least =
        most < count ? nextafter(null[count - 1 - most], INFINITY) : -(double)INFINITY;
    CHK(okra_link_rank(z->ctx, z->links,
                       inside ? OKRA_LINK_NEW_NEW : OKRA_LINK_LABELLED_NEW, 0, least,
                       &list, &pairs));
    RESIZE(z->list, z->count + pairs);
    for (okra_int k = 0; k < pairs; k++) {
        if (kind_of(z, &list[k]) & which) {
            okra_int more = count - okra_below_(null, sizeof *null, count, list[k].value);
            double p = (double)(1 + more) / (double)(count + 1);
            z->list[z->count++] = (found){list[k], p};
        }
    }
    return OKRA_OK;
}

static int by_p(const void *p, const void *q)
{
    const found *x = p, *y = q;
    ORDER_BY(x->p, y->p);
    if (x->link.value != y->link.value) {
        return x->link.value > y->link.value ? -1 : 1;
    }
    return okra_links_by_ends_(&x->link, &y->link);
}

static okra_int total(const search *z, okra_link_pairs which)
{
    okra_int n = z->task->labelled_count, m = z->nodes - n;
    return (which & OKRA_LINK_LABELLED_NEW ? n * m : 0) +
           (which & OKRA_LINK_NEW_NEW ? m * (m - 1) / 2 : 0);
}

/* The k smallest p-values, k the largest with p_(k) <= k fdr / M. */
static okra_int step_up(const search *z, okra_link_pairs which, double fdr)
{
    double pairs = (double)total(z, which);
    for (okra_int k = z->count; k > 0; k--) {
        if (z->list[k - 1].p <= (double)k * fdr / pairs) {
            return k;
        }
    }
    return 0;
}

/* Nothing was found: the least share of false links that a list could have been promised,
 * min over k of M p_(k) / k, from all p-values up to MOST. */
static okra_status tell_least(search *z, okra_link_pairs which)
{
    static const double MOST = 0.9;
    double pairs = (double)total(z, which), least = INFINITY;
    okra_int links = 0;
    z->count = 0;
    CHK(gather(z, true, which, MOST));
    if (which & OKRA_LINK_LABELLED_NEW) {
        CHK(gather(z, false, which, MOST));
    }
    OKRA_SORT_(z->list, z->count, by_p);
    for (okra_int k = 1; k <= z->count; k++) {
        double share = z->list[k - 1].p * pairs / (double)k;
        if (share <= least) {
            least = share;
            links = k;
        }
    }
    if (least <= MOST) {
        okra_warn_(z->ctx,
                   "links: no list of so few false links could be found; the least share "
                   "that can be promised here is %.2g, of %lld links",
                   least, (long long)links);
    } else {
        okra_warn_(z->ctx,
                   "links: no list of so few false links could be found, and none "
                   "of a larger share up to 0.9: the scores do not tell links apart");
    }
    return OKRA_OK;
}

okra_status okra_link_discover(okra_context *context, const okra_link_task *task,
                               const okra_options *options,
                               const okra_link_settings *settings, okra_link_pairs which,
                               double fdr, double hold_back, okra_link **list,
                               double **p_values, okra_int *count)
{
    FREED_BY(release) search z = {.ctx = context, .task = task};
    OWNED okra_link *links = NULL;
    OWNED double *p = NULL;
    NOT_NULL(task, list, count);
    NOT_NULL(task->x);
    REFUSE_IF(!(fdr > 0 && fdr < 1) || !(hold_back > 0 && hold_back < 1), OKRA_EARG,
              "links: fdr is %g and the share to hold back %g, expected numbers between "
              "0 and 1",
              fdr, hold_back);
    REFUSE_IF(task->gram, OKRA_EUNSUPPORTED,
              "links: fdr holds nodes back, for which a given Gram matrix of the "
              "labelled nodes has no use");
    z.nodes = okra_data_count(task->x);
    CHK(split(&z, hold_back));
    CHK(okra_link_fit(context, &z.rest, options, settings, &z.links));
    CHK(gather(&z, true, which, fdr));
    if (which & OKRA_LINK_LABELLED_NEW) {
        CHK(gather(&z, false, which, fdr));
    }
    OKRA_SORT_(z.list, z.count, by_p);
    okra_int kept = step_up(&z, which, fdr);
    if (kept == 0) {
        CHK(tell_least(&z, which));
    }
    MAKE(links, kept);
    MAKE(p, kept);
    for (okra_int k = 0; k < kept; k++) {
        links[k] = z.list[k].link;
        p[k] = z.list[k].p;
    }
    *list = TAKE(links);
    *count = kept;
    GIVE(p_values, TAKE(p));
    return OKRA_OK;
}

void okra_link_p_values_free(double *p_values)
{
    okra_free_(p_values);
}
