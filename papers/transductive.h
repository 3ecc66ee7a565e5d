/*
 * transductive.h: the protocol of Brouard et al. 2016 for links of nodes whose
 * descriptions are known while learning: completion of the output kernel (EM, PKMR), and
 * IOKR with unlabelled nodes.
 */
#ifndef OKRA_PAPER_TRANSDUCTIVE_H
#define OKRA_PAPER_TRANSDUCTIVE_H

#include "sets/network.h"

enum { REPEATS = 10, SHARES = 3, FOLDS = 5, WIDTHS = 3, LAMBDAS = 3, SMOOTH = 6 };
/* UNSEEN: IOKR, test nodes; NAIVE: the kernel of the inputs itself; OWN: no options */
enum { EM, PKMR, IOKR, METHODS, UNSEEN = METHODS, NAIVE, OWN, ROWS };
enum { RIDGE, MARGIN, LOSSES };
enum { ROC, PR, AREAS };

typedef struct study {
    network net;
    okra_int test;         /* nodes that take no part in learning           */
    double distance;       /* mean squared one; 0: x is the kernel          */
    double widths[WIDTHS]; /* gamma times the distance                      */
    int width_count, repeats;
    bool margin;                            /* its curve too */
    double printed[ROWS][AREAS][SHARES][2]; /* mean, sd                     */
    const char *why;
} study;

/* What one choice of labelled nodes gives. */
typedef struct result {
    double area[ROWS][AREAS]; /* each with the parameters chosen for it */
    double seconds[METHODS];
    double curve[LOSSES][SMOOTH][AREAS]; /* IOKR along lambda2 */
} result;

/* Runs every share and repeat of labelled nodes and puts the tables of areas. */
okra_status transductive_measure(paper_run *run, study *s,
                                 result results[][REPEATS]) OKRA_CHECK;
/* The table of times. */
okra_status transductive_seconds(paper_run *run, const study *s,
                                 result results[][REPEATS],
                                 const double printed[METHODS][SHARES][2]) OKRA_CHECK;
/* An area of IOKR with a loss against lambda2, a curve a share. */
okra_status transductive_curves(paper_run *run, const study *s, result results[][REPEATS],
                                int loss, int area) OKRA_CHECK;

#endif
