/*
 * stkl.h: what the entries of Tonde and Elgammal share: one run of a twin Gaussian
 * process or of a method beside it, scored by the mean absolute error.
 */
#ifndef OKRA_PAPER_STKL_H
#define OKRA_PAPER_STKL_H

#include "protocol.h"

typedef struct stkl_setting {
    bool kl;
    double gamma_x, gamma_y, lambda_x, lambda_y; /* lambdas: kl only            */
    int d1, d2;                                  /* degrees; 1, 1: no mapping   */
    okra_int neighbours;                         /* 0: all                      */
} stkl_setting;

/* Test points are also scored in blocks, every STKL_BLOCKS-th of them: the deviation of
 * their errors over the root of their number is the standard error over test points. */
enum { STKL_BLOCKS = 10 };

typedef struct stkl_score {
    double mae, block[STKL_BLOCKS];
} stkl_score;

/* The degrees of the mapping: as printed, and KL the other way round. */
typedef struct stkl_map {
    bool kl;
    int d1, d2;
} stkl_map;
enum { STKL_MAPS = 3 };
extern const stkl_map stkl_maps[STKL_MAPS];

/* Mean absolute error of a twin Gaussian process. `prediction` (may be NULL): what it
 * said, to be freed by the caller; then nothing is taken from an earlier run. `data`
 * names the data in the key under which the result is kept. */
okra_status stkl_error(paper_run *run, const char *data, const paper_pairs *train,
                       const paper_pairs *test, const stkl_setting *setting,
                       stkl_score *score, okra_prediction **prediction) OKRA_CHECK;
/* The setting with the lowest error on `test` of those given; *best is its place. */
okra_status stkl_choose(paper_run *run, const char *data, const paper_pairs *train,
                        const paper_pairs *test, const stkl_setting *settings,
                        size_t count, size_t *best) OKRA_CHECK;
/* The same of any method: options of fit, options of predict. box: what is predicted is
 * clipped to [-box, box]; 0: not. */
okra_status stkl_other(paper_run *run, const char *data, const paper_pairs *train,
                       const paper_pairs *test, paper_options fit, paper_options decode,
                       double box, stkl_score *score) OKRA_CHECK;
/* One row of what okra chooses without options. */
okra_status stkl_own(paper_run *run, const paper_pairs *train, const paper_pairs *test,
                     int table) OKRA_CHECK;
/* 100 (1 - with / without) */
double stkl_gain(double with, double without);
/* "gamma_x 0.2, gamma_y 20, ..." in `buffer`. */
const char *stkl_text(const stkl_setting *setting, char *buffer, size_t size);

#endif
