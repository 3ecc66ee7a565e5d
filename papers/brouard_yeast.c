/*
 * brouard_yeast.c: Brouard et al. 2016, Tables 4 and 5: interactions of yeast proteins,
 * six methods on Gaussian kernels of annotations and expression.
 */
#include "sets/yeast.h"
#include "okra/more/link.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FOLDS = 5, INNER = 4, KERNELS = 4, METHODS = 6, CHOICES = 3 };

static const char *const kernel_names[KERNELS] = {"GO-BP", "GO-CC", "GO-MF", "int"};

typedef struct row {
    const char *label;
    const char
        *choices[CHOICES][5]; /* tried on an inner fold; the first in a quick run */
    const char *trial;        /* of the trials alone, or NULL */
    double roc[4][2], pr[4][2], seconds[2]; /* as printed: mean, sd */
} row;

/* clang-format off */
static const row rows[METHODS + 1] = {
    {"Naive", {{"method=naive"}}, NULL,
     {{60.8, 0.8}, {64.4, 2.5}, {64.2, 0.8}, {67.7, 1.5}},
     {{4.8, 1.0}, {2.1, 0.6}, {2.4, 0.4}, {8.0, 1.7}}, {0.05, 0.01}},
    {"kCCA", {{"method=kcca", "lambda=1"}, {"method=kcca", "lambda=10"}}, NULL,
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
    {"OK3+ET", {{"method=ok3", "leaf=5"}, {"method=ok3", "leaf=1"}}, "trees=10",
     {{84.3, 2.4}, {81.5, 1.6}, {79.3, 1.8}, {86.9, 1.6}},
     {{19.0, 1.8}, {21.8, 2.5}, {10.5, 2.0}, {26.8, 2.4}}, {638.53, 69.09}},
    {"IOKR-ridge", {{"method=ridge", "lambda=0.3"}, {"method=ridge", "lambda=0.1"},
                    {"method=ridge", "lambda=1"}}, NULL,
     {{88.8, 1.9}, {87.1, 1.3}, {84.0, 0.6}, {91.2, 1.2}},
     {{15.3, 1.2}, {20.9, 2.1}, {8.6, 0.3}, {22.2, 1.6}}, {0.49, 0.02}},
    {NETWORK_OWN, {{NULL}}, NULL,
     {{NAN, NAN}, {NAN, NAN}, {NAN, NAN}, {NAN, NAN}},
     {{NAN, NAN}, {NAN, NAN}, {NAN, NAN}, {NAN, NAN}}, {NAN, NAN}},
};
/* clang-format on */

/* The choice with the largest AUC-ROC + AUC-PR: of IOKR-ridge on four parts of the
 * training proteins in turn, of the others on one, another in each fold. */
static okra_status choose(paper_run *run, const yeast *y, const row *r,
                          const okra_int *order, okra_int kept, okra_int fold, int *best)
{
    const char *lists[CHOICES][7];
    const char *const *options[CHOICES];
    double auc[CHOICES][2];
    size_t count = 0;
    while (count < CHOICES && r->choices[count][0]) {
        size_t k = 0;
        lists[count][k++] = "kx=precomputed";
        for (int i = 0; i < 4 && r->choices[count][i]; i++) {
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
    okra_int used = r == &rows[METHODS - 1] ? INNER : 1;
    okra_status st =
        network_try(run, &y->net, order, kept, options, count, INNER, fold, used, auc);
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
    if (!r->choices[0][0]) {
        out[2] = (double)NAN;
        return network_own(run, &y->net, order, kept, OKRA_LINK_LABELLED_NEW, out);
    }
    okra_status st = choose(run, y, r, order, kept, fold, &best);
    const char *const *choice = r->choices[best];
    const char *options[6] = {"kx=precomputed"};
    for (int i = 0; i < 4 && choice[i]; i++) {
        options[i + 1] = choice[i];
    }
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
    static const char why[] = "GO-slim terms in place of the whole ontologies";
    paper_cell roc = {r->roc[kernel][0], r->roc[kernel][1], values[0], folds, why,
                      PAPER_TOGETHER};
    paper_cell pr = {r->pr[kernel][0], r->pr[kernel][1], values[1], folds, why,
                     PAPER_TOGETHER};
    paper_cell time = {r->seconds[0], r->seconds[1],     values[2],
                       folds,         "another machine", PAPER_APART};
    okra_status st = paper_put(run, tables[0], r->label, kernel_names[kernel], roc);
    if (st == OKRA_OK) {
        st = paper_put(run, tables[1], r->label, kernel_names[kernel], pr);
    }
    if (st == OKRA_OK && kernel == 3 && r->choices[0][0]) {
        st = paper_put(run, tables[2], r->label, "seconds", time);
    }
    return st;
}

/* The integrated kernel with the times of Table 5, or the three ontologies. */
static okra_status run_kernels(paper_run *run, bool integrated)
{
    yeast y = {0};
    size_t folds = paper_quick(run) ? 1 : FOLDS;
    const char *columns = integrated ? "int" : "GO-BP|GO-CC|GO-MF";
    paper_deviation(run,
                    "proteins and interactions are those of yeast_ppi: DIP of 2017, "
                    "interactions with two publications, proteins with GO-slim terms, "
                    "expression and at least three interactions: 1,241, in the paper "
                    "1,242");
    paper_reading(run, "Gaussian kernels of width given by the mean squared distance, "
                       "gamma = 1/mean; int: the mean of the three");
    paper_reading(
        run, "chosen in each fold by AUC-ROC + AUC-PR: kCCA: lambda 1 or 10, 50 "
             "dimensions; kML: lambda 0.1, 1 or 10, 50 dimensions; Local: C 1 or 10 "
             "balanced, or 1 as it is; OK3: 100 trees (10 in the choice), a split tried "
             "on every training protein, leaves of 1 or 5; IOKR-ridge: lambda 0.1, 0.3 "
             "or 1; kCCA, OK3 and "
             "IOKR-ridge: the diffusion kernel with beta 1, as printed");
    paper_reading(run,
                  "folds are of a random order of the proteins; pairs of a test and a "
                  "training protein; times are of training and the scores of all "
                  "such pairs with the chosen parameters");
    paper_deviation(run, "parameters of all methods but IOKR-ridge are chosen on one of "
                         "the four parts of the training proteins, another part in each "
                         "fold, where the paper leaves out each of the four in turn");
    okra_status st = yeast_load(run, &y);
    int tables[3];
    tables[0] = paper_table(run, "t4-auc-roc", "Table 4 a: AUC-ROC, per cent", "AUC-ROC",
                            PAPER_HIGHER, columns);
    tables[1] = paper_table(run, "t4-auc-pr", "Table 4 b: AUC-PR, per cent", "AUC-PR",
                            PAPER_HIGHER, columns);
    for (int k = 0; k < 2; k++) {
        paper_yardstick_of(run, tables[k],
                           (paper_yardstick){.count = 5, .over = "folds"});
    }
    tables[2] = integrated
                    ? paper_table(run, "t5", "Table 5: one fold on the integrated kernel",
                                  "seconds", PAPER_LOWER, "seconds")
                    : 0;
    int first = integrated ? KERNELS - 1 : 0, last = integrated ? KERNELS : KERNELS - 1;
    for (int k = first; k < (paper_quick(run) ? first + 1 : last); k++) {
        for (int m = 0; st == OKRA_OK && m <= METHODS; m++) {
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
    yeast_clear(&y);
    return st;
}

static okra_status run_int(paper_run *run)
{
    return run_kernels(run, true);
}

static okra_status run_go(paper_run *run)
{
    return run_kernels(run, false);
}

extern const paper_entry paper_brouard_t4_t5, paper_brouard_t4_go;

const paper_entry paper_brouard_t4_t5 = {
    .name = "brouard-t4-t5",
    .paper = "Brouard et al. 2016",
    .title = "Tables 4 and 5: interactions of yeast proteins, integrated kernel",
    .files = YEAST_FILES,
    .original = YEAST_ORIGINAL,
    .quick = PAPER_MINUTES,
    .full = PAPER_HOUR,
    .run = run_int,
};

const paper_entry paper_brouard_t4_go = {
    .name = "brouard-t4-go",
    .paper = "Brouard et al. 2016",
    .title = "Table 4: interactions of yeast proteins, kernels of the three ontologies",
    .files = YEAST_FILES,
    .original = YEAST_ORIGINAL,
    .quick = PAPER_MINUTES,
    .full = PAPER_HOUR,
    .run = run_go,
};
