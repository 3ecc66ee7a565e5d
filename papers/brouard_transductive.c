/*
 * brouard_transductive.c: Brouard et al. 2016, Table 3 and Figure 5 (authors of NIPS) and
 * Tables 6 and 7 (yeast proteins).
 */
#include "sets/nips.h"
#include "transductive.h"
#include "sets/yeast.h"

#include <stdlib.h>
#include <string.h>

/* clang-format off */
static const double nips_printed[ROWS][AREAS][SHARES][2] = {
    {{{87.3, 2.4}, {92.9, 1.7}, {96.4, 0.8}}, {{13.8, 4.5}, {22.5, 6.6}, {41.1, 2.5}}},
    {{{85.7, 4.1}, {92.4, 1.6}, {96.4, 0.4}}, {{9.7, 2.8}, {20.0, 4.8}, {38.8, 2.0}}},
    {{{83.6, 5.9}, {93.6, 1.0}, {96.5, 0.4}}, {{12.0, 3.0}, {24.5, 2.9}, {43.7, 1.9}}},
    {{{86.0, 2.7}, {93.3, 0.7}, {95.7, 1.4}}, {{7.6, 2.3}, {13.8, 1.7}, {25.3, 3.0}}},
};
static const double yeast_printed[ROWS][AREAS][SHARES][2] = {
    {{{82.2, 0.6}, {82.9, 0.6}, {84.6, 0.6}}, {{15.7, 1.4}, {16.5, 2.7}, {19.7, 0.7}}},
    {{{77.5, 2.3}, {80.8, 1.1}, {83.9, 1.2}}, {{6.1, 1.5}, {9.8, 1.8}, {13.8, 1.2}}},
    {{{80.6, 0.7}, {83.1, 0.5}, {83.9, 0.5}}, {{7.1, 1.1}, {11.7, 1.1}, {17.8, 1.5}}},
    {{{81.0, 1.1}, {82.9, 1.2}, {83.8, 1.0}}, {{6.6, 1.6}, {10.5, 1.3}, {16.0, 2.3}}},
};
static const double yeast_seconds[METHODS][SHARES][2] = {
    {{0.19, 0.01}, {0.19, 0.00}, {0.22, 0.04}},
    {{0.16, 0.01}, {0.18, 0.00}, {0.19, 0.01}},
    {{1.61, 0.01}, {1.63, 0.01}, {1.76, 0.22}},
};
/* clang-format on */

static okra_status run_t3(paper_run *run)
{
    result results[SHARES][REPEATS];
    enum { PAPER_WORDS = 14036 }; /* those of the volumes 0 to 16 */
    study s = {.widths = {0.1, 0.5, 2}, .width_count = WIDTHS, .margin = true};
    double *values = NULL;
    okra_int words = 0;
    okra_status st = nips_load(run, &s.net, &values, &s.distance, &words);
    s.test = s.net.nodes * 500 / 2026;
    memcpy(s.printed, nips_printed, sizeof s.printed);
    if (words != PAPER_WORDS) {
        s.why = "volumes 0 to 12 of the conference, of the paper's 0 to 16";
        paper_deviation(run,
                        "authors of the volumes 0 to 12 of the conference (1987 to 1999) "
                        "with at least two co-authors: %lld, of the paper's 2026, with "
                        "%lld links; %lld words of its 14036",
                        (long long)s.net.nodes, (long long)s.net.edge_count,
                        (long long)words);
    }
    paper_reading(run,
                  "Gaussian kernels of the frequencies of words, gamma 0.1, 0.5 or 2 "
                  "over the mean squared distance");
    paper_reading(run,
                  "IOKR-margin in Figure 5: width and lambda_1 (0.001, 0.01, 0.1) by "
                  "five folds of the labelled nodes, AUC-ROC + AUC-PR");
    paper_deviation(run, "Figure 5 without its curve at 2.5 %% of labelled nodes: so few "
                         "nodes at hand may have no link to learn from");
    paper_remark(
        run,
        "co-authors share papers, and so words: EM, which completes pairs of two "
        "new nodes from their own similarity, finds them far better here than "
        "is printed (the naive row, which does nothing else, shows how far that goes); "
        "IOKR and PKMR see new nodes through the labelled ones "
        "alone, and are near what is printed. Why EM is not as good in the paper "
        "is not known");
    if (st == OKRA_OK) {
        st = transductive_measure(run, &s, results);
    }
    for (int k = 0; st == OKRA_OK && k < LOSSES * AREAS; k++) {
        st = transductive_curves(run, &s, results, k / AREAS, k % AREAS);
    }
    network_clear(&s.net);
    free(values);
    return st;
}

static okra_status run_t6(paper_run *run)
{
    result results[SHARES][REPEATS];
    study s = {.width_count = 1,
               .why =
                   "another network (DIP core by two publications, proteins with three "
                   "interactions), GO-slim in place of the whole ontologies"};
    double *values = NULL;
    yeast y = {0};
    okra_status st = yeast_load(run, &y);
    if (st == OKRA_OK) {
        okra_int n = y.net.nodes;
        values = y.gram[YEAST_INT];
        y.gram[YEAST_INT] = NULL;
        s.net = y.net;
        y.net = (network){0};
        st = okra_data_gram(values, n, n, n, NULL, &s.net.x);
    }
    yeast_clear(&y);
    s.test = s.net.nodes * 300 / 1242;
    memcpy(s.printed, yeast_printed, sizeof s.printed);
    paper_deviation(run,
                    "the %lld proteins with at least three interactions in the core of "
                    "yeast_ppi, with %lld interactions among them, of the paper's 1242",
                    (long long)s.net.nodes, (long long)s.net.edge_count);
    paper_reading(run, "the integrated kernel of brouard-t4-t5 as it is there");
    if (st == OKRA_OK) {
        st = transductive_measure(run, &s, results);
    }
    if (st == OKRA_OK) {
        st = transductive_seconds(run, &s, results, yeast_seconds);
    }
    network_clear(&s.net);
    free(values);
    return st;
}

extern const paper_entry paper_brouard_t3, paper_brouard_t6;

const paper_entry paper_brouard_t3 = {
    .name = "brouard-t3",
    .paper = "Brouard et al. 2016",
    .title = "Table 3 and Figure 5: co-authors of NIPS, transductive and semi-supervised",
    .files = NIPS_FILES,
    .original = "nips_1-17.mat",
    .quick = PAPER_SECONDS,
    .full = PAPER_MINUTES,
    .run = run_t3,
};

const paper_entry paper_brouard_t6 = {
    .name = "brouard-t6",
    .paper = "Brouard et al. 2016",
    .title = "Tables 6 and 7: interactions of yeast proteins, transductive "
             "and semi-supervised",
    .files = YEAST_FILES,
    .original = YEAST_ORIGINAL,
    .quick = PAPER_SECONDS,
    .full = PAPER_MINUTES,
    .run = run_t6,
};
