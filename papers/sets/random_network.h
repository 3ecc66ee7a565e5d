/*
 * random_network.h: random networks of Brouard et al. 2016, sec. 6.1.2 and appendix C:
 * 700 nodes whose inputs are components of the network's own kernel.
 */
#ifndef OKRA_PAPER_RANDOM_NETWORK_H
#define OKRA_PAPER_RANDOM_NETWORK_H

#include "network.h"
#include "../protocol.h"

enum { RANDOM_NETWORK_NODES = 700 };

/* Probability of an edge within and between classes; time of the diffusion. */
typedef struct random_law {
    okra_int classes;
    double intra, inter, beta;
} random_law;

typedef struct random_network {
    network net;
    okra_data *scores;   /* of all nodes on all components */
    char ky[64];         /* "ky=...", of the edges between labelled nodes */
    double beta, *whole; /* the time of diffusion; its kernel of the whole network */
    okra_int *order;     /* of nodes; the first are labelled */
} random_network;

/* The network depends on the seed, the order of its nodes on the choice; the first
 * `labelled` nodes have an edge. net.x is not there before random_network_truncate. */
okra_status random_network_make(paper_run *run, const random_law *law, uint64_t seed,
                                uint64_t choice, okra_int labelled,
                                random_network *out) OKRA_CHECK;
/* The same network with another order of its nodes. */
okra_status random_network_again(random_network *r, uint64_t choice,
                                 okra_int labelled) OKRA_CHECK;
void random_network_clear(random_network *r);
/* Outputs: the labelled nodes in the kernel of the whole network, in which the edges to
 * be predicted are known; or in that of their own edges alone, as at first. */
void random_network_outputs(random_network *r, bool whole);
/* Inputs: the leading components that hold the inertia. */
okra_status random_network_truncate(random_network *r, double inertia) OKRA_CHECK;
/* The root of the mean squared distance of the inputs: sigmas are multiples of it. */
double random_network_scale(const random_network *r);

/* Texts of options. */
typedef struct random_choice {
    char kx[64], lambda[64], lambda2[64];
} random_choice;
void random_network_say(random_choice *c, double sigma, double lambda, double lambda2);
/* Cell k of the grid of sigma and lambda; false past the last. */
bool random_network_cell(const random_network *r, int k, random_choice *c);
/* sigma and lambda of ridge by leave-one-out AUC-ROC of the labelled pairs. */
okra_status random_network_choose(paper_run *run, const random_network *r,
                                  okra_int labelled, random_choice *c) OKRA_CHECK;

#define RANDOM_NETWORK_MARGIN "method=margin", "graph=gram | diffusion(beta=1)"

#endif
