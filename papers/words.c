/*
 * words.c: words as images of their letters, and parameters that the training fold
 * chooses: lambda by letters over five parts of it, then the chain over two.
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

static const double lambdas[] = {1, 10, 30, 100, 300, 1000, 3000};
static const double weights[] = {0.01, 0.02, 0.05, 0.1, 0.2};
enum { LAMBDAS = sizeof lambdas / sizeof *lambdas, PARTS = 5, CHAIN_PARTS = 2 };
enum { CHAINS = 2 * sizeof weights / sizeof *weights };

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

static okra_status choose(paper_run *run, const paper_pairs *train, paper_options fit,
                          double chosen[3])
{
    static const char *const letters[] = {"decode=position", NULL};
    double by_lambda[LAMBDAS] = {0}, by_chain[CHAINS] = {0};
    okra_status st = OKRA_OK;
    for (okra_int part = 0; st == OKRA_OK && part < PARTS; part++) {
        paper_pairs out = {NULL, NULL}, in = {NULL, NULL};
        double value[LAMBDAS];
        st = paper_fold(train, PARTS, part, &out, &in);
        if (st == OKRA_OK) {
            st = paper_fit_score(run, &in, &out, fit, letters, "characters", lambdas,
                                 LAMBDAS, value);
        }
        for (int k = 0; st == OKRA_OK && k < LAMBDAS; k++) {
            by_lambda[k] += value[k];
        }
        paper_pairs_clear(&out);
        paper_pairs_clear(&in);
    }
    chosen[0] = lambdas[best_of(by_lambda, LAMBDAS)];
    for (okra_int part = 0; st == OKRA_OK && part < CHAIN_PARTS; part++) {
        paper_pairs out = {NULL, NULL}, in = {NULL, NULL};
        st = paper_fold(train, PARTS, part, &out, &in);
        for (int k = 0; st == OKRA_OK && k < CHAINS; k++) {
            chain c;
            double value;
            say_chain(1 + k % 2, weights[k / 2], &c);
            st = paper_fit_score(run, &in, &out, fit, c.decode, "characters", chosen, 1,
                                 &value);
            by_chain[k] += st == OKRA_OK ? value : 0;
        }
        paper_pairs_clear(&out);
        paper_pairs_clear(&in);
    }
    size_t best = best_of(by_chain, CHAINS);
    chosen[1] = (double)(1 + best % 2);
    chosen[2] = weights[best / 2];
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
            st = paper_fit_score(run, &train, &test, fit, letters, "characters", all + 2,
                                 1, &all[0]);
        }
        chain c;
        say_chain(all[3], all[4], &c);
        if (st == OKRA_OK) {
            st = paper_fit_score(run, &train, &test, fit, c.decode, "characters", all + 2,
                                 1, &all[1]);
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
