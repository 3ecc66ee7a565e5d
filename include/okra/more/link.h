/*
 * okra/more/link.h: unknown links of a network from the known ones and from descriptions
 * of its nodes.
 *
 * Nodes are the objects of a collection x. The edges among some of them, the labelled
 * nodes, are known; the other nodes are new. A method learns h from nodes to the feature
 * space of a kernel of the known network, and the score of a pair is
 *     <h(u), h(u')> / (|h(u)| |h(u')|)^norm,
 * norm 0: Brouard et al. 2016 eq. 13, norm 1: the cosine; or what a method for links
 * alone puts in its place. A score ranks pairs; it is no probability.
 */
#ifndef OKRA_MORE_LINK_H
#define OKRA_MORE_LINK_H

#include "okra/data.h"
#include "okra/more/ranking.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A pair of nodes with the weight of an edge or the score of a link. */
typedef struct okra_link {
    okra_int a, b;
    double value;
} okra_link;

typedef struct okra_link_task {
    const okra_data *x;       /* one object a node; a Gram matrix: nodes x nodes        */
    const okra_int *labelled; /* nodes whose edges with one another are all known       */
    okra_int labelled_count;
    const okra_link *edges; /* between labelled nodes, each once, value: weight > 0     */
    okra_int edge_count;
    const okra_data *gram; /* the Gram matrix of the labelled nodes in place of a kernel
                              of the known network, or NULL                             */
} okra_link_task;

/* Beside the options of fit (okra_fit_options; ky: a kernel of nodes, or `precomputed`
 * with task->gram). */
typedef struct okra_link_settings {
    size_t size; /* OKRA_SIZED(okra_link_settings) */
    double beta; /* of diffusion(beta), where ky is not set; 0: by okra_link_beta       */
    bool known;  /* a labelled node u stands for itself, phi(u), and not for h(u)       */
    bool together; /* okra_link_leave: both ends of a pair are left out at once, as for
                      two new nodes, and not each by itself */
    const okra_int *unlabelled; /* the new nodes that help where lambda2 of the method is
                                   more than 0; NULL: all. The others are unseen        */
    okra_int unlabelled_count;
    double norm; /* of the score, 0 to 1. Where it is more than 0 and ky is not set, the
                    diffusion kernel is normalised too: nodes of many links then count no
                    more than others */
} okra_link_settings;

typedef struct okra_links okra_links;

/* Which pairs: a labelled node and a new one, two new ones, or both kinds. */
typedef enum okra_link_pairs {
    OKRA_LINK_LABELLED_NEW = 1,
    OKRA_LINK_NEW_NEW = 2,
    OKRA_LINK_ALL = 3,
} okra_link_pairs;

/* settings == NULL: beta 1, not known. Where lambda2 of the method is more than 0, the
 * new nodes (settings->unlabelled) are its inputs without outputs. The known network may
 * have several components and nodes without edges; it must have an edge. */
OKRA_EXPERIMENTAL okra_status okra_link_fit(okra_context *context,
                                            const okra_link_task *task,
                                            const okra_options *options,
                                            const okra_link_settings *settings,
                                            okra_links **out) OKRA_CHECK;
OKRA_EXPERIMENTAL void okra_links_free(okra_links *links);
/* What was fitted as JSON, like okra_model_json. */
OKRA_EXPERIMENTAL const char *okra_links_json(const okra_links *links);

/* How many pairs there are. */
OKRA_EXPERIMENTAL okra_int okra_link_count(const okra_links *links,
                                           okra_link_pairs which);
/* The `top` best pairs (0, or more than there are: all) with a score of at least `least`,
 * best first, equal scores by node numbers; a is the labelled one. The list is freed with
 * okra_link_list_free. Memory: thin factors of the scores, a panel, and the list. */
OKRA_EXPERIMENTAL okra_status okra_link_rank(okra_context *context, okra_links *links,
                                             okra_link_pairs which, okra_int top,
                                             double least, okra_link **list,
                                             okra_int *count) OKRA_CHECK;
OKRA_EXPERIMENTAL void okra_link_list_free(okra_link *list);
/* Fills in the scores of the given pairs, of any kind. */
OKRA_EXPERIMENTAL okra_status okra_link_score(okra_context *context, okra_links *links,
                                              okra_link *pairs,
                                              okra_int count) OKRA_CHECK;
/* All pairs of the kind against the true edges (edges of other kinds are passed over). */
OKRA_EXPERIMENTAL okra_status okra_link_evaluate(okra_context *context, okra_links *links,
                                                 okra_link_pairs which,
                                                 const okra_link *truth,
                                                 okra_int truth_count,
                                                 okra_ranking **out) OKRA_CHECK;
/* The labelled pairs against the known edges, each node predicted by a model that has not
 * seen it where the method can tell (*left_out), else as fitted. Its
 * okra_ranking_threshold makes a network of scores. */
OKRA_EXPERIMENTAL okra_status okra_link_training(okra_context *context, okra_links *links,
                                                 okra_ranking **out,
                                                 bool *left_out) OKRA_CHECK;

/* Leave-one-out areas over the labelled pairs for every lambda, from one decomposition:
 * AUC-ROC and AUC-PR, `count` values each (either may be NULL). OKRA_EUNSUPPORTED where
 * the method has no closed form, or none with settings->together (center-output). */
OKRA_EXPERIMENTAL okra_status okra_link_leave(okra_context *context,
                                              const okra_link_task *task,
                                              const okra_options *options,
                                              const okra_link_settings *settings,
                                              const double *lambda, size_t count,
                                              double *auc_roc, double *auc_pr) OKRA_CHECK;

/* The norm (0.5, 0.75 or 1) whose left-out ranking of labelled pairs has the largest
 * AUC-PR, each end left out by itself; 0.75 where the method has no closed form, 0 where
 * it scores links alone. Options: of fit, all of them values. */
OKRA_EXPERIMENTAL okra_status okra_link_norm(okra_context *context,
                                             const okra_link_task *task,
                                             const okra_options *options,
                                             const okra_link_settings *settings,
                                             double *norm) OKRA_CHECK;

/* What a ranking must beat: the pairs of okra_link_evaluate in the order of the number of
 * known links of their ends, or of what is known without any description: the mean of the
 * known network stands for a new node. */
typedef enum okra_link_baseline {
    OKRA_LINK_DEGREE,
    OKRA_LINK_NO_INPUTS,
} okra_link_baseline;
OKRA_EXPERIMENTAL okra_status okra_link_evaluate_baseline(
    okra_context *context, okra_links *links, okra_link_pairs which,
    okra_link_baseline baseline, const okra_link *truth, okra_int truth_count,
    okra_ranking **out) OKRA_CHECK;

/* A list of new links of which a share of about `fdr` at most is false, on average
 * (Benjamini and Hochberg 1995 with conformal p-values). A share `hold_back` of the
 * labelled nodes, drawn with the context's seed, is treated as new; their pairs that are
 * no edges tell how large scores of unlinked pairs get. The p-value of a pair is one more
 * than the number of such pairs with a score at least as large, over one more than their
 * number. `list` is ordered by p-value, its values are scores; `p_values` (may be NULL)
 * has one number per link. They are freed with okra_link_list_free and
 * okra_link_p_values_free. */
OKRA_EXPERIMENTAL okra_status okra_link_discover(
    okra_context *context, const okra_link_task *task, const okra_options *options,
    const okra_link_settings *settings, okra_link_pairs which, double fdr,
    double hold_back, okra_link **list, double **p_values, okra_int *count) OKRA_CHECK;
OKRA_EXPERIMENTAL void okra_link_p_values_free(double *p_values);

/* The edges of the network that nodes belong to, a < b, with their weights; freed with
 * okra_link_list_free. */
OKRA_EXPERIMENTAL okra_status okra_link_edges(const okra_data *nodes, okra_link **edges,
                                              okra_int *count) OKRA_CHECK;
/* The time of diffusion on the network whose kernel carries most information: it
 * maximises the entropy of k(i,j) / sqrt(k(i,i) k(j,j)), i < j, in 50 equal bins between
 * their extremes; see link/fit.c. */
OKRA_EXPERIMENTAL okra_status okra_link_beta(okra_context *context, okra_int nodes,
                                             const okra_link *edges, okra_int edge_count,
                                             double *beta) OKRA_CHECK;

#ifdef __cplusplus
}
#endif
#endif
