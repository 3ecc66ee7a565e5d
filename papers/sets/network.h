/*
 * network.h: steps that the protocols on networks share: random choices of nodes, scores
 * of a split, selection on the labelled nodes.
 */
#ifndef OKRA_PAPER_NETWORK_H
#define OKRA_PAPER_NETWORK_H

#include "../paper.h"
#include "okra/more/link.h"

/* A network whose nodes have descriptions. Owned. */
typedef struct network {
    okra_data *x; /* one object a node; a Gram matrix: nodes x nodes */
    okra_link *edges;
    okra_int nodes, edge_count;
    double *kernel; /* nodes x nodes, of the whole network, for the labelled nodes to take
                       their part of; NULL: the diffusion kernel of the known edges */
} network;
void network_clear(network *net);

/* Nodes in a random order that depends on the seed alone; to be freed with free. */
okra_status network_shuffle(uint64_t seed, okra_int nodes, okra_int **order) OKRA_CHECK;

/* The edges between the nodes order[0..labelled-1]; to be freed with free. */
okra_status network_known(const network *net, const okra_int *order, okra_int labelled,
                          okra_link **edges, okra_int *count) OKRA_CHECK;

/* The network of the nodes order[0..count-1] alone, which become 0..count-1. *gram:
 * values that out->x borrows, or NULL; to be freed after it. */
okra_status network_part(const network *net, const okra_int *order, okra_int count,
                         network *out, double **gram) OKRA_CHECK;

/* AUC-ROC and AUC-PR in per cent over pairs of the kind. Options as "name=value" texts
 * ended by NULL. *seconds (may be NULL): training and scores of all pairs. */
okra_status network_score(paper_run *run, const network *net, const okra_int *order,
                          okra_int labelled, const char *const *options,
                          okra_link_pairs which, double auc[2],
                          double *seconds) OKRA_CHECK;

/* The same where okra chooses everything from the labelled nodes. */
#define NETWORK_OWN "okra, no options"
okra_status network_own(paper_run *run, const network *net, const okra_int *order,
                        okra_int labelled, okra_link_pairs which,
                        double auc[2]) OKRA_CHECK;

/* Areas over pairs of an unseen node, order[training] or later, with a labelled node or
 * another unseen one, where order[labelled..training-1] help as inputs without outputs.
 */
okra_status network_unseen(paper_run *run, const network *net, const okra_int *order,
                           okra_int labelled, okra_int training,
                           const char *const *options, double auc[2]) OKRA_CHECK;

/* Mean areas over `folds` parts of the labelled nodes, each left out in turn: the pairs
 * of a left-out and a remaining node. */
okra_status network_folds(paper_run *run, const network *net, const okra_int *order,
                          okra_int labelled, const char *const *options, okra_int folds,
                          double auc[2]) OKRA_CHECK;

/* The same for `count` lists of options; of the `folds` parts, those numbered first to
 * first + used - 1 (modulo folds) are left out in turn. */
okra_status network_try(paper_run *run, const network *net, const okra_int *order,
                        okra_int labelled, const char *const *const *options,
                        size_t count, okra_int folds, okra_int first, okra_int used,
                        double (*auc)[2]) OKRA_CHECK;

/* Leave-one-out areas for every lambda in closed form. */
okra_status network_leave(paper_run *run, const network *net, const okra_int *order,
                          okra_int labelled, const char *const *options,
                          const double *lambda, size_t count, double *roc,
                          double *pr) OKRA_CHECK;

#endif
