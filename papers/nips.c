/*
 * nips.c: the network of authors of the NIPS conferences, described by their words.
 */
#include "nips.h"

#include <stdlib.h>
#include <string.h>

enum { AUTHORS = 2037, WORDS = 13649, LEAST_LINKS = 2 };

/* node[author]: his number, or -1. */
static okra_status read_edges(paper_run *run, network *net, okra_int *node)
{
    okra_data *edges = NULL;
    okra_int ld = 0, degree[AUTHORS] = {0};
    okra_status st = paper_read(run, "nips12/edges.tsv", &edges);
    okra_int count = st == OKRA_OK ? okra_data_count(edges) : 0;
    const double *e = st == OKRA_OK ? okra_data_values(edges, &ld) : NULL;
    for (okra_int k = 0; k < count; k++) {
        degree[(okra_int)e[k * ld]]++;
        degree[(okra_int)e[k * ld + 1]]++;
    }
    for (okra_int i = 0; i < AUTHORS; i++) {
        node[i] = degree[i] >= LEAST_LINKS ? net->nodes++ : -1;
    }
    net->edges = malloc((size_t)(count + 1) * sizeof *net->edges);
    if (st == OKRA_OK && !net->edges) {
        st = okra_fail(OKRA_EMEM, "no memory for a network");
    }
    for (okra_int k = 0; st == OKRA_OK && k < count; k++) {
        okra_int a = node[(okra_int)e[k * ld]], b = node[(okra_int)e[k * ld + 1]];
        if (a >= 0 && b >= 0) {
            net->edges[net->edge_count++] = (okra_link){a, b, 1};
        }
    }
    okra_data_free(edges);
    return st;
}

typedef struct documents {
    okra_data *begin, *word, *count;
} documents;

/* Adds the words of a paper to an author's. */
static void add_paper(const documents *d, okra_int paper, double *author)
{
    okra_int ld;
    const double *begin = okra_data_values(d->begin, &ld);
    const double *word = okra_data_values(d->word, &ld);
    const double *count = okra_data_values(d->count, &ld);
    for (okra_int k = (okra_int)begin[paper]; k < (okra_int)begin[paper + 1]; k++) {
        author[(okra_int)word[k]] += count[k];
    }
}

/* Lines: paper, year, authors between blanks. */
static okra_status read_words(paper_run *run, const okra_int *node, double *x)
{
    char path[1024], line[4096];
    documents d = {0};
    okra_status st = paper_read(run, "nips12/doc_indptr.npy", &d.begin);
    if (st == OKRA_OK) {
        st = paper_read(run, "nips12/doc_words.npy", &d.word);
    }
    if (st == OKRA_OK) {
        st = paper_read(run, "nips12/doc_counts.npy", &d.count);
    }
    FILE *f = fopen(paper_path(run, "nips12/papers.tsv", path, sizeof path), "r");
    if (st == OKRA_OK && !f) {
        st = okra_fail(OKRA_EIO, "%s cannot be opened", path);
    }
    while (st == OKRA_OK && fgets(line, sizeof line, f)) {
        char *at = strchr(line, '\t'), *end;
        at = at ? strchr(at + 1, '\t') : NULL;
        if (!at || line[0] < '0' || line[0] > '9') {
            continue;
        }
        okra_int paper = strtoll(line, NULL, 10), who;
        for (at++; who = strtoll(at, &end, 10), end != at; at = end) {
            if (who >= 0 && who < AUTHORS && node[who] >= 0) {
                add_paper(&d, paper, x + node[who] * WORDS);
            }
        }
    }
    if (f) {
        fclose(f);
    }
    okra_data_free(d.begin);
    okra_data_free(d.word);
    okra_data_free(d.count);
    return st;
}

/* Counts become frequencies, and these their inner products. */
static okra_status products(paper_run *run, double *x, okra_int n, double *G,
                            double *distance)
{
    okra_data *vectors = NULL;
    okra_kernel *linear = NULL;
    for (okra_int i = 0; i < n; i++) {
        double all = 0;
        for (okra_int j = 0; j < WORDS; j++) {
            all += x[i * WORDS + j];
        }
        for (okra_int j = 0; j < WORDS; j++) {
            x[i * WORDS + j] /= all > 0 ? all : 1;
        }
    }
    okra_status st = okra_data_dense(x, n, WORDS, WORDS, &vectors);
    if (st == OKRA_OK) {
        st = okra_kernel_parse("linear", &linear);
    }
    if (st == OKRA_OK) {
        st = okra_gram(paper_context(run), linear, vectors, NULL, G, n);
    }
    *distance = 0;
    for (okra_int i = 0; st == OKRA_OK && i < n * n; i++) {
        *distance += 2 * ((i % (n + 1) ? 0 : G[i] * (double)n) - G[i]) / (double)(n * n);
    }
    okra_kernel_free(linear);
    okra_data_free(vectors);
    return st;
}

okra_status nips_load(paper_run *run, network *net, double **values, double *distance)
{
    okra_int node[AUTHORS];
    okra_status st = read_edges(run, net, node);
    size_t n = (size_t)net->nodes;
    double *x = calloc(n * WORDS + 1, sizeof *x);
    *values = malloc((n * n + 1) * sizeof **values);
    if (st == OKRA_OK && !(x && *values)) {
        st = okra_fail(OKRA_EMEM, "no memory for the words of %zu authors", n);
    }
    if (st == OKRA_OK) {
        st = read_words(run, node, x);
    }
    if (st == OKRA_OK) {
        st = products(run, x, net->nodes, *values, distance);
    }
    if (st == OKRA_OK) {
        st = okra_data_gram(*values, net->nodes, net->nodes, net->nodes, NULL, &net->x);
    }
    free(x);
    return st;
}
