/*
 * yeast.c: the network of yeast proteins and the kernels of their descriptions.
 */
#include "yeast.h"
#include "okra/more/link.h"

#include <math.h>
#include <stdlib.h>

enum { ASPECTS = 3 };

static const char aspects[ASPECTS] = {'P', 'C', 'F'};

void yeast_clear(yeast *y)
{
    network_clear(&y->net);
    okra_data_free(y->go);
    okra_data_free(y->expression);
    okra_data_free(y->edges);
    okra_data_free(y->aspect);
    free(y->protein);
    for (int k = 0; k < YEAST_KERNELS; k++) {
        free(y->gram[k]);
    }
}

static okra_status read_files(paper_run *run, yeast *y)
{
    char path[4096], spec[4200];
    okra_status st = paper_read(run, "yeast_ppi/go.npy", &y->go);
    if (st == OKRA_OK) {
        st = paper_read(run, "yeast_ppi/edges.tsv", &y->edges);
    }
    if (st == OKRA_OK) {
        snprintf(spec, sizeof spec, "missing:%s",
                 paper_path(run, "yeast_ppi/expression.npy", path, sizeof path));
        st = okra_data_read(paper_context(run), spec, &y->expression);
    }
    if (st == OKRA_OK) {
        snprintf(spec, sizeof spec, "labels:%s:aspect",
                 paper_path(run, "yeast_ppi/go_terms.tsv", path, sizeof path));
        st = okra_data_read(paper_context(run), spec, &y->aspect);
    }
    return st;
}

/* Nodes with fewer than three interactions go, and the interactions that they had. */
static okra_status keep_core(yeast *y)
{
    enum { LEAST = 3 };
    network *net = &y->net;
    okra_int *degree = calloc((size_t)net->nodes + 1, sizeof *degree);
    okra_int nodes = 0, edges = 0;
    if (!degree) {
        return okra_fail(OKRA_EMEM, "no memory for a network");
    }
    for (okra_int k = 0; k < net->edge_count; k++) {
        degree[net->edges[k].a]++;
        degree[net->edges[k].b]++;
    }
    for (okra_int i = 0; i < net->nodes; i++) { /* degree becomes the new number, or -1 */
        bool stays = degree[i] >= LEAST;
        degree[i] = stays ? nodes : -1;
        y->protein[nodes] = y->protein[i];
        nodes += stays;
    }
    for (okra_int k = 0; k < net->edge_count; k++) {
        okra_link e = net->edges[k];
        if (degree[e.a] >= 0 && degree[e.b] >= 0) {
            net->edges[edges++] = (okra_link){degree[e.a], degree[e.b], e.value};
        }
    }
    net->nodes = nodes;
    net->edge_count = edges;
    free(degree);
    return OKRA_OK;
}

/* Core interactions (two publications) between proteins with annotations and expression;
 * nodes are the proteins that have one. */
static okra_status make_network(yeast *y)
{
    okra_int go_ld, ex_ld, edge_ld, n = okra_data_count(y->go);
    okra_int count = okra_data_count(y->edges);
    const double *go = okra_data_values(y->go, &go_ld);
    const double *ex = okra_data_values(y->expression, &ex_ld);
    const double *edge = okra_data_values(y->edges, &edge_ld);
    okra_int *node = malloc((size_t)n * sizeof *node);
    y->protein = malloc((size_t)n * sizeof *y->protein);
    y->net.edges = malloc((size_t)count * sizeof *y->net.edges);
    if (!node || !y->protein || !y->net.edges) {
        free(node);
        return okra_fail(OKRA_EMEM, "no memory for a network");
    }
    for (okra_int i = 0; i < n; i++) { /* -2: not described; -1: no edge so far */
        double terms = 0;
        for (okra_int j = 0; j < okra_data_width(y->go); j++) {
            terms += go[i * go_ld + j];
        }
        node[i] = terms > 0 && !isnan(ex[i * ex_ld]) ? -1 : -2;
    }
    for (okra_int e = 0; e < count; e++) {
        okra_int a = (okra_int)edge[e * edge_ld], b = (okra_int)edge[e * edge_ld + 1];
        if (edge[e * edge_ld + 2] >= 2 && node[a] > -2 && node[b] > -2) {
            okra_int ends[] = {a, b};
            for (int k = 0; k < 2; k++) {
                if (node[ends[k]] < 0) {
                    y->protein[y->net.nodes] = ends[k];
                    node[ends[k]] = y->net.nodes++;
                }
            }
            y->net.edges[y->net.edge_count++] = (okra_link){node[a], node[b], 1};
        }
    }
    free(node);
    return OKRA_OK;
}

/* exp(-d^2 / mean d^2) of n vectors; to be freed. */
static okra_status gaussian(paper_run *run, const double *v, okra_int n, okra_int d,
                            double **out)
{
    okra_data *x = NULL;
    okra_kernel *kernel = NULL;
    double mean = 0;
    char text[64];
    for (okra_int j = 0; j < d; j++) {
        double m = 0, s = 0;
        for (okra_int i = 0; i < n; i++) {
            m += v[i * d + j] / (double)n;
            s += v[i * d + j] * v[i * d + j] / (double)n;
        }
        mean += 2 * (s - m * m);
    }
    snprintf(text, sizeof text, "rbf(gamma=%.17g)", 1 / mean);
    *out = malloc((size_t)n * (size_t)n * sizeof **out);
    okra_status st = *out ? okra_data_dense(v, n, d, d, &x)
                          : okra_fail(OKRA_EMEM, "no memory for a kernel");
    if (st == OKRA_OK) {
        st = okra_kernel_parse(text, &kernel);
    }
    if (st == OKRA_OK) {
        st = okra_gram(paper_context(run), kernel, x, NULL, *out, n);
    }
    okra_kernel_free(kernel);
    okra_data_free(x);
    return st;
}

/* Terms of one aspect, each -ln of its frequency where the protein has it (sec. 6.1.4).
 */
static okra_status annotations(paper_run *run, yeast *y, char aspect, double **out)
{
    okra_int ld, n = y->net.nodes, all = okra_data_width(y->go), d = 0;
    const double *go = okra_data_values(y->go, &ld);
    const okra_int *code = okra_data_codes(y->aspect);
    double *v = calloc((size_t)(n * all), sizeof *v);
    if (!v) {
        return okra_fail(OKRA_EMEM, "no memory for annotations");
    }
    okra_int wanted = aspect == 'C' ? 0 : aspect == 'F' ? 1 : 2; /* in order of names */
    for (int pass = 0; pass < 2; pass++) {
        okra_int at = 0;
        for (okra_int j = 0; j < all; j++) {
            double having = 0;
            for (okra_int i = 0; i < n; i++) {
                having += go[y->protein[i] * ld + j];
            }
            if (code[j] != wanted || having == 0) {
                continue;
            }
            for (okra_int i = 0; pass == 1 && i < n; i++) {
                v[i * d + at] = -go[y->protein[i] * ld + j] * log(having / (double)n);
            }
            at++;
        }
        d = at;
    }
    okra_status st = gaussian(run, v, n, d, out);
    free(v);
    return st;
}

/* Time courses with mean 0 and variance 1. */
static okra_status expression(paper_run *run, yeast *y, double **out)
{
    okra_int ld, n = y->net.nodes, d = okra_data_width(y->expression);
    const double *ex = okra_data_values(y->expression, &ld);
    double *v = malloc((size_t)(n * d) * sizeof *v);
    if (!v) {
        return okra_fail(OKRA_EMEM, "no memory for expression");
    }
    for (okra_int i = 0; i < n; i++) {
        double m = 0, s = 0;
        const double *from = ex + y->protein[i] * ld;
        for (okra_int j = 0; j < d; j++) {
            m += from[j] / (double)d;
            s += from[j] * from[j] / (double)d;
        }
        for (okra_int j = 0; j < d; j++) {
            v[i * d + j] = (from[j] - m) / sqrt(fmax(s - m * m, 1e-12));
        }
    }
    okra_status st = gaussian(run, v, n, d, out);
    free(v);
    return st;
}

static okra_status make_kernels(paper_run *run, yeast *y)
{
    okra_int n = y->net.nodes;
    okra_status st = OKRA_OK;
    for (int k = 0; st == OKRA_OK && k < ASPECTS; k++) {
        st = annotations(run, y, aspects[k], &y->gram[k]);
    }
    if (st == OKRA_OK) {
        st = expression(run, y, &y->gram[YEAST_EXPRESSION]);
    }
    y->gram[YEAST_INT] = malloc((size_t)n * (size_t)n * sizeof(double));
    y->gram[YEAST_MEAN] = malloc((size_t)n * (size_t)n * sizeof(double));
    if (!y->gram[YEAST_INT] || !y->gram[YEAST_MEAN]) {
        return okra_fail(OKRA_EMEM, "no memory for a kernel");
    }
    for (okra_int i = 0; st == OKRA_OK && i < n * n; i++) {
        y->gram[YEAST_INT][i] =
            (y->gram[YEAST_BP][i] + y->gram[YEAST_CC][i] + y->gram[YEAST_MF][i]) / 3;
        y->gram[YEAST_MEAN][i] =
            (3 * y->gram[YEAST_INT][i] + y->gram[YEAST_EXPRESSION][i]) / 4;
    }
    return st;
}

okra_status yeast_load(paper_run *run, yeast *y)
{
    okra_status st = read_files(run, y);
    if (st == OKRA_OK) {
        st = make_network(y);
    }
    if (st == OKRA_OK) {
        st = keep_core(y);
    }
    return st == OKRA_OK ? make_kernels(run, y) : st;
}
