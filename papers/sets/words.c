/*
 * words.c: words as images of their letters, and parameters that the training fold
 * chooses: lambda by letters over five parts of it, then the chain.
 */
#include "words.h"

#include <stdio.h>
#include <stdlib.h>

okra_status words_load(paper_run *run, words *w)
{
    char folder[4096], spec[4300];
    paper_path(run, "ocr_letters", folder, sizeof folder);
    snprintf(spec, sizeof spec, "sequences:%s/pixels.npy:letters.tsv", folder);
    okra_status st = okra_data_read(paper_context(run), spec, &w->all.x);
    if (st == OKRA_OK) {
        snprintf(spec, sizeof spec, "strings:%s/words.tsv:word", folder);
        st = okra_data_read(paper_context(run), spec, &w->all.y);
    }
    if (st == OKRA_OK) {
        snprintf(spec, sizeof spec, "labels:%s/words.tsv:fold", folder);
        st = okra_data_read(paper_context(run), spec, &w->fold);
    }
    return st;
}

okra_status words_split(const words *w, okra_int f, paper_pairs *train, paper_pairs *test)
{
    okra_int n = okra_data_count(w->fold), in = 0, out = 0;
    const okra_int *codes = okra_data_codes(w->fold);
    okra_int *index = malloc((size_t)(2 * n) * sizeof *index);
    if (!index) {
        return okra_fail(OKRA_EMEM, "no memory for a fold");
    }
    for (okra_int i = 0; i < n; i++) {
        if (codes[i] == f) {
            index[in++] = i;
        } else {
            index[n + out++] = i;
        }
    }
    okra_status st = paper_pairs_take(&w->all, index, in, train);
    if (st == OKRA_OK) {
        st = paper_pairs_take(&w->all, index + n, out, test);
    }
    free(index);
    return st;
}

static const double lambdas[] = {30, 100, 300, 1000};
static const double orders[] = {2, 4, 8}, weights[] = {0.02, 0.05, 0.1, 0.2, 0.4};
enum { LAMBDAS = sizeof lambdas / sizeof *lambdas, PARTS = 5 };
enum { ORDERS = 3, WEIGHTS = 5, CHAINS = ORDERS * WEIGHTS };

typedef struct chain {
    char order[16], weight[32];
    const char *decode[4];
} chain;

static void say_chain(double order, double weight, chain *c)
{
    snprintf(c->order, sizeof c->order, "chain=%d", (int)order);
    snprintf(c->weight, sizeof c->weight, "chain-weight=%g", weight);
    c->decode[0] = "decode=position";
    c->decode[1] = c->order;
    c->decode[2] = c->weight;
    c->decode[3] = NULL;
}

static size_t best_of(const double *sum, size_t count)
{
    size_t best = 0;
    for (size_t k = 1; k < count; k++) {
        best = sum[k] > sum[best] ? k : best;
    }
    return best;
}

/* The words in the order in which PARTS hands would be dealt them: equal words stand
 * together in the file, and a part of neighbours would hold words that the others have
 * not. */
static okra_status deal(const paper_pairs *train, paper_pairs *out)
{
    okra_int n = okra_data_count(train->x), *index = malloc((size_t)n * sizeof *index);
    okra_int at = 0;
    if (!index) {
        return okra_fail(OKRA_EMEM, "no memory for an order");
    }
    for (okra_int part = 0; part < PARTS; part++) {
        for (okra_int i = part; i < n; i += PARTS) {
            index[at++] = i;
        }
    }
    okra_status st = paper_pairs_take(train, index, n, out);
    free(index);
    return st;
}

/* Adds the values of one part: of the lambdas, or where one is given of the chains. */
static okra_status try_part(paper_run *run, const paper_pairs *dealt, okra_int part,
                            paper_options fit, const double *lambda, double *sum)
{
    static const char *const letters[] = {"decode=position", NULL};
    paper_pairs out = {NULL, NULL}, in = {NULL, NULL};
    chain chains[CHAINS];
    paper_options ways[CHAINS];
    double value[CHAINS] = {0};
    for (int k = 0; k < CHAINS; k++) {
        say_chain(orders[k / WEIGHTS], weights[k % WEIGHTS], &chains[k]);
        ways[k] = chains[k].decode;
    }
    okra_status st = paper_fold(dealt, PARTS, part, &out, &in);
    if (st == OKRA_OK) {
        st = lambda ? paper_fit_ways(run, &in, &out, fit, *lambda, ways, CHAINS,
                                     "characters", value)
                    : paper_fit_score(run, &in, &out, fit, letters, "characters", lambdas,
                                      LAMBDAS, value);
    }
    for (int k = 0; st == OKRA_OK && k < (lambda ? CHAINS : LAMBDAS); k++) {
        sum[k] += value[k];
    }
    paper_pairs_clear(&out);
    paper_pairs_clear(&in);
    return st;
}

static okra_status choose(paper_run *run, const paper_pairs *train, paper_options fit,
                          double chosen[3])
{
    double by_lambda[LAMBDAS] = {0}, by_chain[CHAINS] = {0};
    paper_pairs dealt = {NULL, NULL};
    okra_status st = deal(train, &dealt);
    for (okra_int part = 0; st == OKRA_OK && part < PARTS; part++) {
        st = try_part(run, &dealt, part, fit, NULL, by_lambda);
    }
    chosen[0] = lambdas[best_of(by_lambda, LAMBDAS)];
    for (okra_int part = 0; st == OKRA_OK && part < PARTS; part++) {
        st = try_part(run, &dealt, part, fit, chosen, by_chain);
    }
    size_t best = best_of(by_chain, CHAINS);
    chosen[1] = orders[best / WEIGHTS];
    chosen[2] = weights[best % WEIGHTS];
    paper_pairs_clear(&dealt);
    return st;
}

okra_status words_chosen(paper_run *run, const words *w, okra_int f, const char *kernel,
                         double right[2], double chosen[3])
{
    static const char *const letters[] = {"decode=position", NULL};
    char kx[80], key[160];
    double all[5];
    paper_pairs train = {NULL, NULL}, test = {NULL, NULL};
    snprintf(kx, sizeof kx, "kx=%s", kernel);
    snprintf(key, sizeof key, "chosen %s %d", kernel, (int)f);
    const char *const fit[] = {kx, "ky=position(zero-one)", NULL};
    okra_status st = OKRA_OK;
    if (!paper_have(run, key, all, 5)) {
        st = words_split(w, f, &train, &test);
        if (st == OKRA_OK) {
            st = choose(run, &train, fit, all + 2);
        }
        if (st == OKRA_OK) {
            chain c;
            say_chain(all[3], all[4], &c);
            const paper_options ways[] = {letters, c.decode};
            st = paper_fit_ways(run, &train, &test, fit, all[2], ways, 2, "characters",
                                all);
        }
        if (st == OKRA_OK) {
            st = paper_keep(run, key, all, 5);
        }
        paper_pairs_clear(&train);
        paper_pairs_clear(&test);
    }
    for (int k = 0; st == OKRA_OK && k < 5; k++) {
        *(k < 2 ? &right[k] : &chosen[k - 2]) = k < 2 ? 100 * all[k] : all[k];
    }
    return st;
}

okra_status words_lambda(paper_run *run, const words *w, okra_int f, paper_options fit,
                         const double *lambda, size_t count, double *right,
                         double *chosen)
{
    paper_pairs train = {NULL, NULL}, test = {NULL, NULL}, dealt = {NULL, NULL},
                in = {NULL, NULL}, out = {NULL, NULL};
    double value = 0, most = -1;
    char text[40];
    const char *list[16] = {text};
    for (int k = 0; k < 14 && fit[k]; k++) {
        list[k + 1] = fit[k];
    }
    okra_status st = words_split(w, f, &train, &test);
    if (st == OKRA_OK) {
        st = deal(&train, &dealt);
    }
    if (st == OKRA_OK) {
        st = paper_fold(&dealt, PARTS, 0, &out, &in);
    }
    for (size_t k = 0; st == OKRA_OK && k <= count; k++) { /* the last: the best again */
        bool last = k == count;
        snprintf(text, sizeof text, "lambda=%g", last ? *chosen : lambda[k]);
        st = paper_fit_one(run, last ? &train : &in, last ? &test : &out, list, NULL,
                           "characters", &value);
        if (!last && value > most) {
            most = value;
            *chosen = lambda[k];
        }
    }
    *right = 100 * value;
    paper_pairs_clear(&train);
    paper_pairs_clear(&test);
    paper_pairs_clear(&dealt);
    paper_pairs_clear(&in);
    paper_pairs_clear(&out);
    return st;
}
