/*
 * network.c: steps that the protocols on networks share.
 */
#include "network.h"
#include "../protocol.h"
#include "okra/more/link.h"
#include "okra/more/ranking.h"
#include "okra/more/select.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

void network_clear(network *net)
{
    okra_data_free(net->x);
    free(net->edges);
    free(net->kernel);
    *net = (network){0};
}

static okra_status no_memory(void)
{
    return okra_fail(OKRA_EMEM, "no memory for a network");
}

/* splitmix64 (G. Steele, D. Lea, C. Flood 2014) */
static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

okra_status network_shuffle(uint64_t seed, okra_int nodes, okra_int **order)
{
    okra_int *list = malloc((size_t)(nodes + 1) * sizeof *list);
    uint64_t state = seed * 0x2545f4914f6cdd1du + 1;
    if (!list) {
        return no_memory();
    }
    for (okra_int i = 0; i < nodes; i++) {
        okra_int j = (okra_int)(next(&state) % (uint64_t)(i + 1));
        list[i] = list[j];
        list[j] = i;
    }
    *order = list;
    return OKRA_OK;
}

/* The labelled nodes order[0..labelled-1]: edges among them, and their part of the
 * kernel. */
typedef struct known {
    okra_link *edges;
    double *values;
    okra_data *gram;
    okra_link_task task;
} known;

static void known_clear(known *k)
{
    okra_data_free(k->gram);
    free(k->values);
    free(k->edges);
    *k = (known){0};
}

/* Rows and columns of a square matrix; to be freed. */
static double *square(const double *from, okra_int ld, const okra_int *order, okra_int n)
{
    double *to = malloc((size_t)n * (size_t)n * sizeof *to + 1);
    for (okra_int i = 0; to && i < n * n; i++) {
        to[i] = from[order[i / n] * ld + order[i % n]];
    }
    return to;
}

okra_status network_known(const network *net, const okra_int *order, okra_int labelled,
                          okra_link **edges, okra_int *count)
{
    bool *member = calloc((size_t)net->nodes + 1, sizeof *member);
    okra_link *list = malloc((size_t)(net->edge_count + 1) * sizeof *list);
    okra_status st = member && list ? OKRA_OK : no_memory();
    okra_int found = 0;
    for (okra_int i = 0; st == OKRA_OK && i < labelled; i++) {
        member[order[i]] = true;
    }
    for (okra_int k = 0; st == OKRA_OK && k < net->edge_count; k++) {
        if (member[net->edges[k].a] && member[net->edges[k].b]) {
            list[found++] = net->edges[k];
        }
    }
    free(member);
    if (st == OKRA_OK) {
        *edges = list;
        *count = found;
    } else {
        free(list);
    }
    return st;
}

static okra_status known_make(const network *net, const okra_int *order,
                              okra_int labelled, known *out)
{
    okra_int count = 0;
    *out = (known){.edges = NULL};
    okra_status st = network_known(net, order, labelled, &out->edges, &count);
    if (st == OKRA_OK && net->kernel) {
        out->values = square(net->kernel, net->nodes, order, labelled);
        st = out->values ? okra_data_gram(out->values, labelled, labelled, labelled, NULL,
                                          &out->gram)
                         : no_memory();
    }
    out->task = (okra_link_task){net->x, order, labelled, out->edges, count, out->gram};
    return st;
}

static okra_status set_options(paper_options texts, okra_options **out)
{
    okra_options *o = NULL;
    okra_status st = okra_fit_options(&o);
    if (st == OKRA_OK) {
        st = paper_set_options(o, texts);
    }
    if (st == OKRA_OK) {
        *out = o;
    } else {
        okra_options_free(o);
    }
    return st;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

okra_status network_score(paper_run *run, const network *net, const okra_int *order,
                          okra_int labelled, const char *const *options,
                          okra_link_pairs which, double auc[2], double *seconds)
{
    okra_context *ctx = paper_context(run);
    okra_options *o = NULL;
    okra_link *best = NULL;
    okra_links *links = NULL;
    okra_ranking *ranking = NULL;
    known k = {0};
    okra_int count = 0;
    double begin = now();
    okra_status st = set_options(options, &o);
    if (st == OKRA_OK) {
        st = known_make(net, order, labelled, &k);
    }
    if (st == OKRA_OK) {
        st = okra_link_fit(ctx, &k.task, o, NULL, &links);
    }
    if (st == OKRA_OK && seconds) { /* every score is computed, one is kept */
        st = okra_link_rank(ctx, links, which, 1, -1e300, &best, &count);
        *seconds = now() - begin;
    }
    if (st == OKRA_OK) {
        st = okra_link_evaluate(ctx, links, which, net->edges, net->edge_count, &ranking);
    }
    if (st == OKRA_OK) {
        auc[0] = 100 * okra_ranking_auc_roc(ranking);
        auc[1] = 100 * okra_ranking_auc_pr(ranking);
    }
    okra_ranking_free(ranking);
    okra_link_list_free(best);
    okra_links_free(links);
    okra_options_free(o);
    known_clear(&k);
    return st;
}

okra_status network_own(paper_run *run, const network *net, const okra_int *order,
                        okra_int labelled, okra_link_pairs which, double auc[2])
{
    okra_context *ctx = paper_context(run);
    okra_options *o = NULL;
    okra_links *links = NULL;
    okra_ranking *ranking = NULL;
    known k = {0};
    okra_status st = known_make(net, order, labelled, &k);
    if (st == OKRA_OK) {
        st = okra_choose_links(ctx, &k.task, NULL, NULL, &o, NULL);
    }
    if (st == OKRA_OK) {
        st = okra_link_fit(ctx, &k.task, o, NULL, &links);
    }
    if (st == OKRA_OK) {
        st = okra_link_evaluate(ctx, links, which, net->edges, net->edge_count, &ranking);
    }
    if (st == OKRA_OK) {
        auc[0] = 100 * okra_ranking_auc_roc(ranking);
        auc[1] = 100 * okra_ranking_auc_pr(ranking);
    }
    okra_ranking_free(ranking);
    okra_links_free(links);
    okra_options_free(o);
    known_clear(&k);
    return st;
}

static int by_ends(const void *p, const void *q)
{
    const okra_link *x = p, *y = q;
    return x->a != y->a ? (x->a < y->a ? -1 : 1) : (x->b > y->b) - (x->b < y->b);
}

static okra_link ordered(okra_int a, okra_int b)
{
    return (okra_link){a < b ? a : b, a < b ? b : a, 0};
}

/* Areas of the scored pairs against the edges of the network. */
static okra_status rank_pairs(const network *net, const okra_link *pairs, okra_int count,
                              double auc[2])
{
    okra_link *edges = malloc((size_t)(net->edge_count + 1) * sizeof *edges);
    double *score = malloc((size_t)(count + 1) * sizeof *score);
    unsigned char *positive = malloc((size_t)count + 1);
    okra_ranking *ranking = NULL;
    okra_status st = edges && score && positive ? OKRA_OK : no_memory();
    for (okra_int e = 0; st == OKRA_OK && e < net->edge_count; e++) {
        edges[e] = ordered(net->edges[e].a, net->edges[e].b);
    }
    if (st == OKRA_OK) {
        qsort(edges, (size_t)net->edge_count, sizeof *edges, by_ends);
    }
    for (okra_int k = 0; st == OKRA_OK && k < count; k++) {
        okra_link pair = ordered(pairs[k].a, pairs[k].b);
        score[k] = pairs[k].value;
        positive[k] = bsearch(&pair, edges, (size_t)net->edge_count, sizeof *edges,
                              by_ends) != NULL;
    }
    if (st == OKRA_OK) {
        st = okra_ranking_create(count, score, positive, &ranking);
    }
    if (st == OKRA_OK) {
        auc[0] = 100 * okra_ranking_auc_roc(ranking);
        auc[1] = 100 * okra_ranking_auc_pr(ranking);
    }
    okra_ranking_free(ranking);
    free(edges);
    free(score);
    free(positive);
    return st;
}

okra_status network_unseen(paper_run *run, const network *net, const okra_int *order,
                           okra_int labelled, okra_int training,
                           const char *const *options, double auc[2])
{
    okra_context *ctx = paper_context(run);
    okra_int unseen = net->nodes - training, count = 0;
    okra_link *pairs = malloc((size_t)(unseen * (labelled + unseen) + 1) * sizeof *pairs);
    okra_link_settings settings = {OKRA_SIZED(okra_link_settings), .beta = 1,
                                   .unlabelled = order + labelled,
                                   .unlabelled_count = training - labelled};
    okra_options *o = NULL;
    okra_links *links = NULL;
    known k = {0};
    okra_status st = pairs ? set_options(options, &o) : no_memory();
    if (st == OKRA_OK) {
        st = known_make(net, order, labelled, &k);
    }
    if (st == OKRA_OK) {
        st = okra_link_fit(ctx, &k.task, o, &settings, &links);
    }
    for (okra_int i = training; st == OKRA_OK && i < net->nodes; i++) {
        for (okra_int j = 0; j < i; j++) {
            if (j < labelled || j >= training) {
                pairs[count++] = (okra_link){order[i], order[j], 0};
            }
        }
    }
    if (st == OKRA_OK) {
        st = okra_link_score(ctx, links, pairs, count);
    }
    if (st == OKRA_OK) {
        st = rank_pairs(net, pairs, count, auc);
    }
    free(pairs);
    okra_links_free(links);
    okra_options_free(o);
    known_clear(&k);
    return st;
}

okra_status network_part(const network *net, const okra_int *order, okra_int labelled,
                         network *out, double **gram)
{
    known k = {0};
    okra_int ld, *place = malloc((size_t)(net->nodes + 1) * sizeof *place);
    okra_status st = place ? known_make(net, order, labelled, &k) : no_memory();
    if (st == OKRA_OK && okra_data_kind(net->x) == OKRA_GRAM) {
        const double *K = okra_data_values(net->x, &ld);
        *gram = square(K, ld, order, labelled);
        st = *gram ? okra_data_gram(*gram, labelled, labelled, labelled, NULL, &out->x)
                   : no_memory();
    } else if (st == OKRA_OK) {
        st = okra_data_take(net->x, order, labelled, &out->x);
    }
    if (st == OKRA_OK) {
        for (okra_int i = 0; i < labelled; i++) {
            place[order[i]] = i;
        }
        for (okra_int e = 0; e < k.task.edge_count; e++) {
            k.edges[e].a = place[k.edges[e].a];
            k.edges[e].b = place[k.edges[e].b];
        }
        out->edges = k.edges;
        out->edge_count = k.task.edge_count;
        out->nodes = labelled;
        out->kernel = k.values;
        k.edges = NULL;
        k.values = NULL;
    }
    free(place);
    known_clear(&k);
    return st;
}

okra_status network_try(paper_run *run, const network *net, const okra_int *order,
                        okra_int labelled, const char *const *const *options,
                        size_t count, okra_int folds, okra_int first, okra_int used,
                        double (*auc)[2])
{
    network inner = {0};
    double *gram = NULL;
    okra_int *turn = malloc((size_t)(labelled + 1) * sizeof *turn);
    okra_status st =
        turn ? network_part(net, order, labelled, &inner, &gram) : no_memory();
    for (size_t c = 0; st == OKRA_OK && c < count; c++) {
        double judged = 0;
        auc[c][0] = auc[c][1] = 0;
        for (okra_int f = first; st == OKRA_OK && f < first + used; f++) {
            okra_int kept = 0, last = labelled;
            double value[2] = {0, 0};
            for (okra_int i = 0; i < labelled; i++) {
                bool out = i % folds == f % folds;
                turn[out ? --last : kept++] = i;
            }
            st = network_score(run, &inner, turn, kept, options[c],
                               OKRA_LINK_LABELLED_NEW, value, NULL);
            if (st == OKRA_EARG) { /* a fold without an edge on one of its sides */
                st = OKRA_OK;
                continue;
            }
            auc[c][0] += st == OKRA_OK ? value[0] : 0;
            auc[c][1] += st == OKRA_OK ? value[1] : 0;
            judged++;
        }
        auc[c][0] /= judged > 0 ? judged : 1;
        auc[c][1] /= judged > 0 ? judged : 1;
    }
    network_clear(&inner);
    free(gram);
    free(turn);
    return st;
}

okra_status network_folds(paper_run *run, const network *net, const okra_int *order,
                          okra_int labelled, const char *const *options, okra_int folds,
                          double auc[2])
{
    double areas[1][2];
    okra_status st =
        network_try(run, net, order, labelled, &options, 1, folds, 0, folds, areas);
    memcpy(auc, areas[0], sizeof areas[0]);
    return st;
}

okra_status network_leave(paper_run *run, const network *net, const okra_int *order,
                          okra_int labelled, const char *const *options,
                          const double *lambda, size_t count, double *roc, double *pr)
{
    okra_options *o = NULL;
    known k = {0};
    okra_status st = set_options(options, &o);
    if (st == OKRA_OK) {
        st = known_make(net, order, labelled, &k);
    }
    if (st == OKRA_OK) {
        st =
            okra_link_leave(paper_context(run), &k.task, o, NULL, lambda, count, roc, pr);
    }
    okra_options_free(o);
    known_clear(&k);
    return st;
}
