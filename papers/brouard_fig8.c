/*
 * brouard_fig8.c: Brouard et al. 2016, Figure 8: a mixture of random networks and the
 * network that IOKR-ridge predicts.
 */
#include "sets/random_network.h"
#include "okra/more/link.h"
#include "okra/more/ranking.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = RANDOM_NETWORK_NODES, CLASSES = 3 };

static const random_law law = {CLASSES, 0.02, 5e-4, 1.72}; /* as in brouard-t9 */
static const double inertia = 0.95, share = 0.2;

/* The model of one cell of the grid, the threshold that makes F1 of left-out labelled
 * pairs largest, and that F1. */
static okra_status fit(paper_run *run, const random_network *r,
                       const okra_link_task *task, const random_choice *c,
                       okra_links **links, double *threshold, double *f1)
{
    okra_context *ctx = paper_context(run);
    okra_options *options = NULL;
    okra_ranking *training = NULL;
    bool left_out = false;
    const char *const texts[] = {c->kx, r->ky, c->lambda, NULL};
    okra_status st = okra_fit_options(&options);
    if (st == OKRA_OK) {
        st = paper_set_options(options, texts);
    }
    if (st == OKRA_OK) {
        st = okra_link_fit(ctx, task, options, NULL, links);
    }
    if (st == OKRA_OK) {
        st = okra_link_training(ctx, *links, &training, &left_out);
    }
    if (st == OKRA_OK) {
        *threshold = okra_ranking_threshold(training, f1);
    }
    okra_ranking_free(training);
    okra_options_free(options);
    return st;
}

/* The pairs that reach the threshold, of the cell with the largest F1. */
static okra_status predict(paper_run *run, const random_network *r,
                           const okra_link_task *task, okra_link **list, okra_int *count)
{
    okra_links *best = NULL;
    double most = -1, at_best = 0;
    random_choice c;
    okra_status st = OKRA_OK;
    for (int k = 0; st == OKRA_OK && random_network_cell(r, k, &c); k++) {
        okra_links *links = NULL;
        double threshold = 0, f1 = 0;
        st = fit(run, r, task, &c, &links, &threshold, &f1);
        if (st == OKRA_OK && f1 > most) {
            okra_links *worse = best;
            best = links;
            links = worse;
            most = f1;
            at_best = threshold;
        }
        okra_links_free(links);
    }
    if (st == OKRA_OK) {
        st = okra_link_rank(paper_context(run), best, OKRA_LINK_ALL, 0, at_best, list,
                            count);
    }
    okra_links_free(best);
    return st;
}

/* ---- what is told ---- */

static json_t *edge_list(const okra_link *edges, okra_int count)
{
    json_t *list = json_array();
    for (okra_int k = 0; k < count; k++) {
        json_array_append_new(
            list, json_pack("[I, I]", (json_int_t)edges[k].a, (json_int_t)edges[k].b));
    }
    return list;
}

/* The share of edges within a class, per cent; classes are runs of equal length. */
static double within(const okra_link *edges, okra_int count)
{
    okra_int same = 0;
    for (okra_int k = 0; k < count; k++) {
        same += edges[k].a * CLASSES / NODES == edges[k].b * CLASSES / NODES;
    }
    return count ? 100 * (double)same / (double)count : 0;
}

static okra_status tell(paper_run *run, const network *net, const okra_link *predicted,
                        okra_int predicted_count)
{
    double values[2][2] = {
        {(double)net->edge_count, (double)predicted_count},
        {within(net->edges, net->edge_count), within(predicted, predicted_count)}};
    static const char *const rows[] = {"true", "predicted"};
    static const char *const columns[] = {"edges", "within a class, per cent"};
    okra_status st = OKRA_OK;
    int table = paper_table(run, "networks", "The two networks", "edges", PAPER_NEITHER,
                            "edges|within a class, per cent");
    for (int k = 0; st == OKRA_OK && k < 4; k++) {
        paper_cell cell = {(double)NAN, (double)NAN, &values[k % 2][k / 2],
                           1,           NULL,        PAPER_TOGETHER};
        st = paper_put(run, table, rows[k / 2], columns[k % 2], cell);
    }
    if (st == OKRA_OK) {
        st = paper_figure(run, "networks", "network", "Figure 8: true and predicted",
                          json_pack("{s:i, s:[{s:s, s:o}, {s:s, s:o}]}", "nodes", NODES,
                                    "panels", "name", "true", "edges",
                                    edge_list(net->edges, net->edge_count), "name",
                                    "predicted", "edges",
                                    edge_list(predicted, predicted_count)));
    }
    return st;
}

static okra_status run_entry(paper_run *run)
{
    random_network r = {.order = NULL};
    okra_int count = 0, known_count = 0, labelled = (okra_int)(share * NODES + 0.5);
    okra_link *list = NULL, *known = NULL, *all = NULL;
    uint64_t seed = paper_seed(run) + 1;
    paper_reading(run, "20 %% of the nodes are labelled; network, inputs of 95 %% of the "
                       "inertia, output kernel and grid as in brouard-t9");
    paper_reading(run, "sigma, lambda and the threshold together make F1 of left-out "
                       "labelled pairs largest, as printed; edges between labelled nodes "
                       "are as known");
    paper_remark(run, "a figure has no printed numbers, so no cell has a verdict");
    okra_status st = random_network_make(run, &law, seed, seed, labelled, &r);
    if (st == OKRA_OK) {
        st = random_network_truncate(&r, inertia);
    }
    if (st == OKRA_OK) {
        st = network_known(&r.net, r.order, labelled, &known, &known_count);
    }
    okra_link_task task = {r.net.x, r.order, labelled, known, known_count, NULL};
    if (st == OKRA_OK) {
        st = predict(run, &r, &task, &list, &count);
    }
    if (st == OKRA_OK) {
        all = malloc((size_t)(count + known_count + 1) * sizeof *all);
        st = all ? OKRA_OK : okra_fail(OKRA_EMEM, "no memory for edges");
    }
    if (st == OKRA_OK) {
        memcpy(all, known, (size_t)known_count * sizeof *all);
        memcpy(all + known_count, list, (size_t)count * sizeof *all);
        st = tell(run, &r.net, all, count + known_count);
    }
    okra_link_list_free(list);
    free(all);
    free(known);
    random_network_clear(&r);
    return st;
}

extern const paper_entry paper_brouard_fig8;

const paper_entry paper_brouard_fig8 = {
    .name = "brouard-fig8",
    .paper = "Brouard et al. 2016",
    .title = "Figure 8: a mixture of random networks, true and predicted",
    .quick = PAPER_SECONDS,
    .full = PAPER_SECONDS,
    .run = run_entry,
};
