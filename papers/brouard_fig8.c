/*
 * brouard_fig8.c: Brouard et al. 2016, Figure 8: a mixture of random networks and the
 * network that IOKR-ridge predicts.
 */
#include "network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 700, CLASSES = 3, LAMBDAS = 5 };

static const double intra = 0.02, inter = 5e-4, inertia = 0.95, share = 0.2;
static const double lambdas[LAMBDAS] = {1e-5, 1e-4, 1e-3, 1e-2, 1e-1};
static okra_status make_network(uint64_t seed, network *net)
{
    okra_data *nodes = NULL;
    okra_link *edges = NULL;
    double beta = 0;
    okra_status st = okra_synthetic_network(seed, NODES, CLASSES, intra, inter, &nodes);
    if (st == OKRA_OK) {
        st = okra_link_edges(nodes, &edges, &net->edge_count);
    }
    if (st == OKRA_OK) {
        st = okra_network_inputs(NULL, nodes, &beta, inertia, &net->x);
    }
    if (st == OKRA_OK) {
        net->nodes = NODES;
        net->edges = malloc((size_t)(net->edge_count + 1) * sizeof *net->edges);
        st = net->edges ? OKRA_OK : okra_fail(OKRA_EMEM, "no memory for a network");
    }
    if (st == OKRA_OK) {
        memcpy(net->edges, edges, (size_t)net->edge_count * sizeof *edges);
    }
    okra_link_list_free(edges);
    okra_data_free(nodes);
    return st;
}

/* A Gaussian kernel as wide as the root mean squared distance of the inputs, which are
 * centred. */
static void kernel_text(const okra_data *x, char *text, size_t size)
{
    okra_int ld, n = okra_data_count(x), d = okra_data_width(x);
    const double *v = okra_data_values(x, &ld);
    double sum = 0;
    for (okra_int k = 0; k < n * d; k++) {
        double value = v[k / d * ld + k % d];
        sum += 2 * value * value / (double)n;
    }
    snprintf(text, size, "rbf(sigma=%.10g)", sqrt(sum));
}

/* The known edges: between nodes of which both are among the first of the order. */
static okra_int known_edges(const network *net, const okra_int *order, okra_int labelled,
                            okra_link *out)
{
    bool in[NODES] = {false};
    okra_int count = 0;
    for (okra_int i = 0; i < labelled; i++) {
        in[order[i]] = true;
    }
    for (okra_int k = 0; k < net->edge_count; k++) {
        if (in[net->edges[k].a] && in[net->edges[k].b]) {
            out[count++] = net->edges[k];
        }
    }
    return count;
}

/* Lambda by leave-one-out AUC-ROC + AUC-PR; the pairs whose score is at least that which
 * makes F1 of left-out labelled pairs largest. */
static okra_status predict(paper_run *run, const network *net, const okra_link_task *task,
                           const okra_int *order, okra_link **list, okra_int *count)
{
    okra_context *ctx = paper_context(run);
    okra_options *options = NULL;
    okra_links *links = NULL;
    okra_ranking *training = NULL;
    double roc[LAMBDAS], pr[LAMBDAS];
    int best = 0;
    bool left_out = false;
    char option[72] = "kx=", *kx = option + 3;
    kernel_text(net->x, kx, sizeof option - 3);
    const char *const texts[] = {option, NULL};
    okra_status st = network_leave(run, net, order, task->labelled_count, texts, lambdas,
                                   LAMBDAS, roc, pr);
    for (int l = 1; st == OKRA_OK && l < LAMBDAS; l++) {
        best = roc[l] + pr[l] > roc[best] + pr[best] ? l : best;
    }
    if (st == OKRA_OK) {
        st = okra_fit_options(&options);
    }
    if (st == OKRA_OK) {
        st = okra_options_set(options, "kx", kx);
    }
    if (st == OKRA_OK) {
        st = okra_options_set_number(options, "lambda", lambdas[best]);
    }
    if (st == OKRA_OK) {
        st = okra_link_fit(ctx, task, options, NULL, &links);
    }
    if (st == OKRA_OK) {
        st = okra_link_training(ctx, links, &training, &left_out);
    }
    if (st == OKRA_OK) {
        st = okra_link_rank(ctx, links, OKRA_LINK_ALL, 0,
                            okra_ranking_threshold(training, NULL), list, count);
    }
    okra_ranking_free(training);
    okra_links_free(links);
    okra_options_free(options);
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
                           1,           NULL,        false};
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
    network net = {0};
    okra_int *order = NULL, count = 0, labelled = (okra_int)(share * NODES + 0.5);
    okra_link *list = NULL, *all = NULL;
    uint64_t seed = paper_seed(run) + 1;
    paper_reading(
        run,
        "20 %% of the nodes are labelled; inputs hold 95 %% of the inertia of "
        "the diffusion kernel, whose time carries most information; sigma: "
        "their root mean squared distance; lambda by leave-one-out AUC-ROC + AUC-PR");
    paper_reading(run,
                  "the output kernel is that of the known edges; a pair is an edge "
                  "where its score is at least that which makes F1 of left-out "
                  "labelled pairs largest; edges between labelled nodes are as known");
    paper_remark(run, "a figure has no printed numbers, so no cell has a verdict");
    okra_status st = make_network(seed, &net);
    if (st == OKRA_OK) {
        st = network_shuffle(seed, NODES, &order);
    }
    okra_link *known = malloc((size_t)(net.edge_count + 1) * sizeof *known);
    if (st == OKRA_OK && !known) {
        st = okra_fail(OKRA_EMEM, "no memory for edges");
    }
    okra_int known_count = st == OKRA_OK ? known_edges(&net, order, labelled, known) : 0;
    okra_link_task task = {net.x, order, labelled, known, known_count, NULL};
    if (st == OKRA_OK) {
        st = predict(run, &net, &task, order, &list, &count);
    }
    if (st == OKRA_OK) {
        all = malloc((size_t)(count + known_count + 1) * sizeof *all);
        st = all ? OKRA_OK : okra_fail(OKRA_EMEM, "no memory for edges");
    }
    if (st == OKRA_OK) {
        memcpy(all, known, (size_t)known_count * sizeof *all);
        memcpy(all + known_count, list, (size_t)count * sizeof *all);
        st = tell(run, &net, all, count + known_count);
    }
    okra_link_list_free(list);
    free(all);
    free(known);
    free(order);
    network_clear(&net);
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
