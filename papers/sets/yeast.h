/*
 * yeast.h: the network of yeast proteins and the kernels of their descriptions.
 */
#ifndef OKRA_PAPER_YEAST_H
#define OKRA_PAPER_YEAST_H

#include "network.h"

/* Gaussian kernels of the terms of three aspects, their mean, that of expression, and the
 * mean of all four. */
enum {
    YEAST_BP,
    YEAST_CC,
    YEAST_MF,
    YEAST_INT,
    YEAST_EXPRESSION,
    YEAST_MEAN,
    YEAST_KERNELS
};

#define YEAST_FILES                                                  \
    "yeast_ppi/go.npy yeast_ppi/edges.tsv yeast_ppi/expression.npy " \
    "yeast_ppi/go_terms.tsv"
#define YEAST_ORIGINAL \
    "DIP core interactions and Gene Ontology annotations of Saccharomyces cerevisiae"

typedef struct yeast {
    network net;
    okra_data *go, *expression, *edges, *aspect;
    okra_int *protein;           /* by node */
    double *gram[YEAST_KERNELS]; /* nodes x nodes */
} yeast;

/* The proteins with at least three interactions in the core, and the interactions among
 * them. net.x is left to the caller: a kernel is chosen by okra_data_gram. */
okra_status yeast_load(paper_run *run, yeast *y) OKRA_CHECK;
void yeast_clear(yeast *y);

#endif
