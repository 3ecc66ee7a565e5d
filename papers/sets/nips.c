/*
 * nips.c: the network of authors of the NIPS conferences, described by their words.
 */
#include "nips.h"
#include "okra/more/link.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST_LINKS = 2 };

/* Authors of whom papers tell, numbered by the files. */
typedef struct people {
    okra_int count;
    okra_int *node; /* number in the network, or -1 */
} people;

/* One more than the largest number of the first columns. */
static okra_int bound(const okra_data *data, okra_int columns)
{
    okra_int ld, most = -1;
    const double *v = okra_data_values(data, &ld);
    for (okra_int k = 0; k < okra_data_count(data); k++) {
        for (okra_int j = 0; j < columns; j++) {
            most = v[k * ld + j] > (double)most ? (okra_int)v[k * ld + j] : most;
        }
    }
    return most + 1;
}

static okra_status read_edges(paper_run *run, network *net, people *p)
{
    okra_data *edges = NULL;
    okra_int ld = 0;
    okra_status st = paper_read(run, "nips12/edges.tsv", &edges);
    okra_int count = st == OKRA_OK ? okra_data_count(edges) : 0;
    const double *e = st == OKRA_OK ? okra_data_values(edges, &ld) : NULL;
    p->count = st == OKRA_OK ? bound(edges, 2) : 0;
    p->node = calloc((size_t)p->count + 1, sizeof *p->node); /* degrees first */
    net->edges = malloc((size_t)(count + 1) * sizeof *net->edges);
    if (st == OKRA_OK && !(net->edges && p->node)) {
        st = okra_fail(OKRA_EMEM, "no memory for a network");
    }
    for (okra_int k = 0; st == OKRA_OK && k < count; k++) {
        p->node[(okra_int)e[k * ld]]++;
        p->node[(okra_int)e[k * ld + 1]]++;
    }
    for (okra_int i = 0; st == OKRA_OK && i < p->count; i++) {
        p->node[i] = p->node[i] >= LEAST_LINKS ? net->nodes++ : -1;
    }
    for (okra_int k = 0; st == OKRA_OK && k < count; k++) {
        okra_int a = p->node[(okra_int)e[k * ld]], b = p->node[(okra_int)e[k * ld + 1]];
        if (a >= 0 && b >= 0) {
            net->edges[net->edge_count++] = (okra_link){a, b, 1};
        }
    }
    okra_data_free(edges);
    return st;
}

typedef struct documents {
    okra_data *begin, *word, *count;
    okra_int words;
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

static okra_status read_documents(paper_run *run, documents *d)
{
    okra_status st = paper_read(run, "nips12/doc_indptr.npy", &d->begin);
    if (st == OKRA_OK) {
        st = paper_read(run, "nips12/doc_words.npy", &d->word);
    }
    if (st == OKRA_OK) {
        st = paper_read(run, "nips12/doc_counts.npy", &d->count);
    }
    d->words = st == OKRA_OK ? bound(d->word, 1) : 0;
    return st;
}

/* Lines: paper, year, authors between blanks. */
static okra_status read_words(paper_run *run, const people *p, const documents *d,
                              double *x)
{
    char path[1024], line[4096];
    okra_status st = OKRA_OK;
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
            if (who >= 0 && who < p->count && p->node[who] >= 0) {
                add_paper(d, paper, x + p->node[who] * d->words);
            }
        }
    }
    if (f) {
        fclose(f);
    }
    return st;
}

/* Counts become frequencies, and these their inner products. */
static okra_status products(paper_run *run, double *x, okra_int n, okra_int words,
                            double *G, double *distance)
{
    okra_data *vectors = NULL;
    okra_kernel *linear = NULL;
    for (okra_int i = 0; i < n; i++) {
        double all = 0;
        for (okra_int j = 0; j < words; j++) {
            all += x[i * words + j];
        }
        for (okra_int j = 0; j < words; j++) {
            x[i * words + j] /= all > 0 ? all : 1;
        }
    }
    okra_status st = okra_data_dense(x, n, words, words, &vectors);
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

okra_status nips_load(paper_run *run, network *net, double **values, double *distance,
                      okra_int *words)
{
    people p = {0};
    documents d = {0};
    double *x = NULL;
    okra_status st = read_edges(run, net, &p);
    if (st == OKRA_OK) {
        st = read_documents(run, &d);
    }
    size_t n = (size_t)net->nodes;
    *words = d.words;
    *values = malloc((n * n + 1) * sizeof **values);
    if (st == OKRA_OK) {
        x = calloc(n * (size_t)d.words + 1, sizeof *x);
        st = x && *values
                 ? OKRA_OK
                 : okra_fail(OKRA_EMEM, "no memory for the words of %zu authors", n);
    }
    if (st == OKRA_OK) {
        st = read_words(run, &p, &d, x);
    }
    if (st == OKRA_OK) {
        st = products(run, x, net->nodes, d.words, *values, distance);
    }
    if (st == OKRA_OK) {
        st = okra_data_gram(*values, net->nodes, net->nodes, net->nodes, NULL, &net->x);
    }
    okra_data_free(d.begin);
    okra_data_free(d.word);
    okra_data_free(d.count);
    free(p.node);
    free(x);
    return st;
}
