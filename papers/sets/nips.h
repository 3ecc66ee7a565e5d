/*
 * nips.h: the network of authors of the NIPS conferences, described by their words.
 */
#ifndef OKRA_PAPER_NIPS_H
#define OKRA_PAPER_NIPS_H

#include "network.h"

#define NIPS_FILES                                                                   \
    "nips12/edges.tsv nips12/papers.tsv nips12/doc_indptr.npy nips12/doc_words.npy " \
    "nips12/doc_counts.npy"

/* Authors with at least two co-authors. net->x: inner products of their frequencies of
 * words, of which *values are the memory; *distance: the mean squared distance; *words:
 * how many words there are. */
okra_status nips_load(paper_run *run, network *net, double **values, double *distance,
                      okra_int *words) OKRA_CHECK;

#endif
