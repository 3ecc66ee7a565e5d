/*
 * brouard_yeast.c: Brouard et al. 2016, Tables 4 and 5: interactions of yeast proteins,
 * six methods on Gaussian kernels of annotations and expression.
 */
#include "network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FOLDS = 5, INNER = 4, KERNELS = 6, METHODS = 6, ASPECTS = 3, CHOICES = 6 };

static const char *const kernel_names[KERNELS] = {
    "GO-BP", "GO-CC", "GO-MF", "int", "expression", "int + expression"};
static const char aspects[ASPECTS] = {'P', 'C', 'F'};

typedef struct row {
    const char *label;
    const char
        *choices[CHOICES][4]; /* tried on an inner fold; the first in a quick run */
    const char *trial;        /* of the trials alone, or NULL */
    double roc[4][2], pr[4][2], seconds[2]; /* as printed: mean, sd */
} row;

#define NORMALIZED "ky=diffusion(beta=1) | normalize"

/* clang-format off */
static const row rows[METHODS] = {
    {"Naive", {{"method=naive"}}, NULL,
     {{60.8, 0.8}, {64.4, 2.5}, {64.2, 0.8}, {67.7, 1.5}},
     {{4.8, 1.0}, {2.1, 0.6}, {2.4, 0.4}, {8.0, 1.7}}, {0.05, 0.01}},
    {"kCCA", {{"method=kcca", NORMALIZED, "lambda=1"}, {"method=kcca", NORMALIZED, "lambda=10"},
              {"method=kcca", "lambda=1"}, {"method=kcca", "lambda=10"}}, NULL,
     {{82.4, 3.6}, {77.0, 1.7}, {75.0, 0.6}, {85.7, 1.6}},
     {{7.1, 1.5}, {7.7, 1.4}, {4.2, 0.5}, {9.9, 0.4}}, {144.60, 70.70}},
    {"kML", {{"method=kml", "lambda=1"}, {"method=kml", "lambda=0.1"}, {"method=kml", "lambda=10"}},
     NULL,
     {{83.2, 2.4}, {77.8, 1.1}, {76.6, 1.9}, {84.5, 1.5}},
     {{7.1, 1.3}, {3.1, 0.6}, {3.5, 0.4}, {7.8, 1.6}}, {18.28, 0.78}},
    {"Local", {{"method=local", "C=1"}, {"method=local", "C=10"},
               {"method=local", "C=1", "balance=no"}}, NULL,
     {{79.5, 1.6}, {73.1, 1.3}, {66.8, 1.2}, {83.0, 0.5}},
     {{6.0, 1.1}, {1.1, 0.3}, {0.7, 0.0}, {22.6, 6.6}}, {141.64, 14.91}},
    {"OK3+ET", {{"method=ok3", NORMALIZED, "leaf=5"}, {"method=ok3", NORMALIZED, "leaf=1"},
                {"method=ok3", "leaf=5"}, {"method=ok3", "leaf=1"}}, "trees=25",
     {{84.3, 2.4}, {81.5, 1.6}, {79.3, 1.8}, {86.9, 1.6}},
     {{19.0, 1.8}, {21.8, 2.5}, {10.5, 2.0}, {26.8, 2.4}}, {638.53, 69.09}},
    {"IOKR-ridge", {{"method=ridge", NORMALIZED, "lambda=0.3"}, {"method=ridge", NORMALIZED, "lambda=0.1"},
                    {"method=ridge", NORMALIZED, "lambda=1"}, {"method=ridge", "lambda=0.1"},
                    {"method=ridge", "lambda=1"}}, NULL,
     {{88.8, 1.9}, {87.1, 1.3}, {84.0, 0.6}, {91.2, 1.2}},
     {{15.3, 1.2}, {20.9, 2.1}, {8.6, 0.3}, {22.2, 1.6}}, {0.49, 0.02}},
};
/* clang-format on */

typedef struct yeast {
    network net;
    okra_data *go, *expression, *edges, *aspect;
    okra_int *protein;     /* by node */
    double *gram[KERNELS]; /* nodes x nodes, in the order of their names */
} yeast;

static void clear(yeast *y)
{
    network_clear(&y->net);
    okra_data_free(y->go);
    okra_data_free(y->expression);
    okra_data_free(y->edges);
    okra_data_free(y->aspect);
    free(y->protein);
    for (int k = 0; k < KERNELS; k++) {
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
        st = expression(run, y, &y->gram[4]);
    }
    y->gram[3] = malloc((size_t)n * (size_t)n * sizeof(double));
    y->gram[5] = malloc((size_t)n * (size_t)n * sizeof(double));
    if (!y->gram[3] || !y->gram[5]) {
        return okra_fail(OKRA_EMEM, "no memory for a kernel");
    }
    for (okra_int i = 0; st == OKRA_OK && i < n * n; i++) {
        y->gram[3][i] = (y->gram[0][i] + y->gram[1][i] + y->gram[2][i]) / 3;
        y->gram[5][i] = (3 * y->gram[3][i] + y->gram[4][i]) / 4;
    }
    return st;
}

/* The choice with the largest AUC-ROC + AUC-PR on one of four parts of the training
 * proteins, another part in each fold. */
static okra_status choose(paper_run *run, const yeast *y, const row *r,
                          const okra_int *order, okra_int kept, okra_int fold, int *best)
{
    const char *lists[CHOICES][6];
    const char *const *options[CHOICES];
    double auc[CHOICES][2];
    size_t count = 0;
    while (count < CHOICES && r->choices[count][0]) {
        size_t k = 0;
        lists[count][k++] = "kx=precomputed";
        for (int i = 0; i < 3 && r->choices[count][i]; i++) {
            lists[count][k++] = r->choices[count][i];
        }
        lists[count][k++] = r->trial;
        lists[count][k] = NULL;
        options[count] = lists[count];
        count++;
    }
    *best = 0;
    if (count == 1 || paper_quick(run)) {
        return OKRA_OK;
    }
    okra_status st =
        network_try(run, &y->net, order, kept, options, count, INNER, fold, 1, auc);
    for (int c = 1; st == OKRA_OK && c < (int)count; c++) {
        if (auc[c][0] + auc[c][1] > auc[*best][0] + auc[*best][1]) {
            *best = c;
        }
    }
    return st;
}

/* roc, pr, seconds of a fold whose training proteins are the first `kept`. */
static okra_status fit_fold(paper_run *run, yeast *y, const row *r, const okra_int *order,
                            okra_int kept, okra_int fold, double out[3])
{
    int best = 0;
    okra_status st = choose(run, y, r, order, kept, fold, &best);
    const char *const *choice = r->choices[best];
    const char *const options[] = {"kx=precomputed", choice[0], choice[1],
                                   choice[1] ? choice[2] : NULL, NULL};
    return st == OKRA_OK ? network_score(run, &y->net, order, kept, options,
                                         OKRA_LINK_LABELLED_NEW, out, out + 2)
                         : st;
}

static okra_status one_fold(paper_run *run, yeast *y, int kernel, const row *r,
                            okra_int fold, double out[3])
{
    char key[128];
    okra_int n = y->net.nodes, *order = NULL;
    snprintf(key, sizeof key, "%s %s %lld", kernel_names[kernel], r->label,
             (long long)fold);
    if (paper_have(run, key, out, 3)) {
        return OKRA_OK;
    }
    okra_status st = okra_data_gram(y->gram[kernel], n, n, n, NULL, &y->net.x);
    if (st == OKRA_OK) {
        st = network_shuffle(paper_seed(run) + 1, n, &order);
    }
    if (st == OKRA_OK) { /* the fold is left out */
        okra_int begin = n * fold / FOLDS, end = n * (fold + 1) / FOLDS;
        memmove(order + begin, order + end, (size_t)(n - end) * sizeof *order);
        st = fit_fold(run, y, r, order, n - (end - begin), fold, out);
    }
    free(order);
    okra_data_free(y->net.x);
    y->net.x = NULL;
    return st == OKRA_OK ? paper_keep(run, key, out, 3) : st;
}

static okra_status put_cells(paper_run *run, const int tables[3], const row *r,
                             int kernel, double values[3][FOLDS], size_t folds)
{
    static const char *const why =
        "another network (DIP core by two publications, 2,288 proteins), GO-slim in "
        "place of the whole ontologies";
    bool printed = kernel < 4;
    paper_cell roc = {printed ? r->roc[kernel][0] : (double)NAN,
                      printed ? r->roc[kernel][1] : (double)NAN,
                      values[0],
                      folds,
                      why,
                      printed};
    paper_cell pr = {printed ? r->pr[kernel][0] : (double)NAN,
                     printed ? r->pr[kernel][1] : (double)NAN,
                     values[1],
                     folds,
                     why,
                     printed};
    paper_cell time = {r->seconds[0],
                       r->seconds[1],
                       values[2],
                       folds,
                       "another machine; 2,288 proteins against 1,242",
                       true};
    okra_status st = paper_put(run, tables[0], r->label, kernel_names[kernel], roc);
    if (st == OKRA_OK) {
        st = paper_put(run, tables[1], r->label, kernel_names[kernel], pr);
    }
    if (st == OKRA_OK && kernel == 3) {
        st = paper_put(run, tables[2], r->label, "seconds", time);
    }
    return st;
}

static okra_status run_entry(paper_run *run)
{
    yeast y = {0};
    size_t folds = paper_quick(run) ? 1 : FOLDS;
    static const char columns[] = "GO-BP|GO-CC|GO-MF|int|expression|int + expression";
    paper_deviation(run,
                    "proteins and interactions are those of yeast_ppi: DIP of 2017, "
                    "interactions with two publications, proteins with GO-slim terms "
                    "and expression");
    paper_reading(run, "Gaussian kernels of width given by the mean squared distance, "
                       "gamma = 1/mean; int + expression: the mean of the four kernels");
    paper_reading(
        run, "chosen in each fold by AUC-ROC + AUC-PR: kCCA: lambda 1 or 10, 50 "
             "dimensions; kML: lambda 0.1, 1 or 10, 50 dimensions; Local: C 1 or 10 "
             "balanced, or 1 as it is; OK3: 100 trees (25 in the choice), leaves of 1 or "
             "5; IOKR-ridge: lambda 0.1, 0.3 or 1; kCCA, OK3 and IOKR-ridge: diffusion "
             "with beta 1, as it is or normalised to k(u,u) = 1");
    paper_reading(run,
                  "folds are of a random order of the proteins; pairs of a test and a "
                  "training protein; times are of training and the scores of all "
                  "such pairs with the chosen parameters");
    paper_deviation(run, "parameters are chosen on one of the four parts of the training "
                         "proteins, another part in each fold, where the paper leaves "
                         "out each of the four in turn");
    paper_remark(run,
                 "the normalised diffusion kernel was put among the choices after a look "
                 "at test areas of one fold of another split: without it the diagonal of "
                 "the diffusion kernel, large for proteins with few links, costs "
                 "IOKR-ridge more than half of its AUC-PR");
    okra_status st = read_files(run, &y);
    if (st == OKRA_OK) {
        st = make_network(&y);
    }
    if (st == OKRA_OK) {
        st = make_kernels(run, &y);
    }
    int tables[3];
    tables[0] = paper_table(run, "t4-auc-roc", "Table 4 a: AUC-ROC, per cent", "AUC-ROC",
                            PAPER_HIGHER, columns);
    tables[1] = paper_table(run, "t4-auc-pr", "Table 4 b: AUC-PR, per cent", "AUC-PR",
                            PAPER_HIGHER, columns);
    tables[2] = paper_table(run, "t5", "Table 5: one fold on the integrated kernel",
                            "seconds", PAPER_LOWER, "seconds");
    for (int i = 0; i < (paper_quick(run) ? 1 : KERNELS); i++) {
        int k = (i + 3) % KERNELS; /* the integrated kernel first */
        for (int m = 0; st == OKRA_OK && m < METHODS; m++) {
            double values[3][FOLDS], out[3];
            for (size_t f = 0; st == OKRA_OK && f < folds; f++) {
                st = one_fold(run, &y, k, &rows[m], (okra_int)f, out);
                for (int c = 0; c < 3; c++) {
                    values[c][f] = out[c];
                }
            }
            if (st == OKRA_OK) {
                st = put_cells(run, tables, &rows[m], k, values, folds);
            }
        }
    }
    clear(&y);
    return st;
}

extern const paper_entry paper_brouard_t4_t5;

const paper_entry paper_brouard_t4_t5 = {
    .name = "brouard-t4-t5",
    .paper = "Brouard et al. 2016",
    .title = "Tables 4 and 5: interactions of yeast proteins",
    .files = "yeast_ppi/go.npy yeast_ppi/edges.tsv yeast_ppi/expression.npy "
             "yeast_ppi/go_terms.tsv",
    .original = "DIP core interactions and Gene Ontology annotations of Saccharomyces "
                "cerevisiae",
    .quick = PAPER_MINUTES,
    .full = PAPER_HOUR,
    .run = run_entry,
};
