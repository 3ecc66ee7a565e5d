/*
 * brouard_fig8.c: Brouard et al. 2016, Figure 8: a mixture of random networks and the
 * network that IOKR-ridge predicts.
 */
#include "sets/random_network.h"
#include "okra/more/link.h"
#include "okra/more/ranking.h"
#include "okra/more/select.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = RANDOM_NETWORK_NODES, CLASSES = 3 };

static const random_law law = {CLASSES, 0.02, 5e-4, 1.72}; /* as in brouard-t9 */
static const double inertia = 0.95, share = 0.2;

/* The model of some options (which it frees), the threshold that makes F1 of left-out
 * labelled pairs largest, and that F1. */
static okra_status fit(paper_run *run, const okra_link_task *task, okra_options *options,
                       okra_links **links, double *threshold, double *f1)
{
    okra_context *ctx = paper_context(run);
    okra_ranking *training = NULL;
    bool left_out = false;
    okra_status st = okra_link_fit(ctx, task, options, NULL, links);
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

static okra_status cell_options(const random_network *r, const random_choice *c,
                                okra_options **options)
{
    const char *const texts[] = {c->kx, r->ky, c->lambda, NULL};
    okra_status st = okra_fit_options(options);
    return st == OKRA_OK ? paper_set_options(*options, texts) : st;
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
        okra_options *options = NULL;
        double threshold = 0, f1 = 0;
        st = cell_options(r, &c, &options);
        if (st == OKRA_OK) {
            st = fit(run, task, options, &links, &threshold, &f1);
        } else {
            okra_options_free(options);
        }
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

/* The same of what okra chooses. */
static okra_status own(paper_run *run, const okra_link_task *task, okra_link **list,
                       okra_int *count)
{
    okra_context *ctx = paper_context(run);
    okra_options *options = NULL;
    okra_links *links = NULL;
    double threshold = 0, f1 = 0;
    okra_status st = okra_choose_links(ctx, task, NULL, NULL, &options, NULL);
    if (st == OKRA_OK) {
        st = fit(run, task, options, &links, &threshold, &f1);
    }
    if (st == OKRA_OK) {
        st = okra_link_rank(ctx, links, OKRA_LINK_ALL, 0, threshold, list, count);
    }
    okra_links_free(links);
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

/* A network: known edges, then those that were found. */
typedef struct drawn {
    okra_link *edges;
    okra_int count;
} drawn;

/* Takes `found`. */
static okra_status join(const okra_link *known, okra_int known_count, okra_link *found,
                        okra_int count, drawn *out)
{
    out->edges = malloc((size_t)(known_count + count + 1) * sizeof *out->edges);
    if (out->edges) {
        memcpy(out->edges, known, (size_t)known_count * sizeof *known);
        memcpy(out->edges + known_count, found, (size_t)count * sizeof *found);
        out->count = known_count + count;
    }
    okra_link_list_free(found);
    return out->edges ? OKRA_OK : okra_fail(OKRA_EMEM, "no memory for edges");
}

/* The true network, the predicted one, and that of no options. */
static okra_status tell(paper_run *run, const drawn networks[3])
{
    static const char *const rows[] = {"true", "predicted", NETWORK_OWN};
    static const char *const columns[] = {"edges", "within a class, per cent"};
    okra_status st = OKRA_OK;
    int table = paper_table(run, "networks", "True and predicted", "edges", PAPER_NEITHER,
                            "edges|within a class, per cent");
    for (int k = 0; st == OKRA_OK && k < 6; k++) {
        const drawn *d = &networks[k / 2];
        double value = k % 2 ? within(d->edges, d->count) : (double)d->count;
        paper_cell cell = {(double)NAN, (double)NAN, &value, 1, NULL, PAPER_TOGETHER};
        st = paper_put(run, table, rows[k / 2], columns[k % 2], cell);
    }
    if (st == OKRA_OK) {
        st = paper_figure(run, "networks", "network", "Figure 8: true and predicted",
                          json_pack("{s:i, s:[{s:s, s:o}, {s:s, s:o}]}", "nodes", NODES,
                                    "panels", "name", rows[0], "edges",
                                    edge_list(networks[0].edges, networks[0].count),
                                    "name", rows[1], "edges",
                                    edge_list(networks[1].edges, networks[1].count)));
    }
    return st;
}

static okra_status run_entry(paper_run *run)
{
    random_network r = {.order = NULL};
    okra_int count = 0, known_count = 0, labelled = (okra_int)(share * NODES + 0.5);
    okra_link *list = NULL, *known = NULL;
    drawn networks[3] = {{NULL, 0}};
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
        st = join(known, known_count, list, count, &networks[1]);
    }
    if (st == OKRA_OK) {
        st = own(run, &task, &list, &count);
    }
    if (st == OKRA_OK) {
        st = join(known, known_count, list, count, &networks[2]);
    }
    if (st == OKRA_OK) {
        networks[0] = (drawn){r.net.edges, r.net.edge_count};
        st = tell(run, networks);
    }
    free(networks[1].edges);
    free(networks[2].edges);
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
