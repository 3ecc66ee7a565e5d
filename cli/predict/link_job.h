/*
 * link_job.h: one run of okra link, shared by the work (link.c) and what comes out of it
 * (link_out.c).
 */
#ifndef OKRA_LINK_JOB_H
#define OKRA_LINK_JOB_H

#include "predict/nodes.h"

typedef struct link_fields {
    const char *x, *nodes, *edges, *labelled, *unlabelled, *y, *output, *pairs, *truth,
        *at, *network, *plot, *beta, *norm, *kx, *lambda;
    okra_int top;
    bool known;
    double fdr, hold_back;
} link_fields;

enum { LINK_BASELINES = 2 };

typedef struct link_job {
    link_fields f;
    okra_data *x, *gram;
    cli_nodes nodes;
    cli_known known;
    okra_link *truth, *pairs, *network;
    okra_int truth_count, pair_count, network_count;
    okra_int *unlabelled, unlabelled_count;
    okra_link_pairs which; /* 0: the pairs of a file */
    okra_links *links;
    okra_ranking *ranking;
    okra_ranking *baseline[LINK_BASELINES]; /* what it must beat, or NULL */
    double *p_values;                       /* with --fdr, of the pairs */
    double norm, precision, seconds; /* of the score; expected of predicted links */
    okra_selection *selection;       /* NULL: nothing was searched */
    char *command;    /* that chooses nothing, or NULL: nothing was chosen */
    char chosen[200]; /* how, or "" */
    bool left_out;
} link_job;

/* The files of -o, --network and --plot. */
int link_write(const cli_run *run, const link_job *j);
void link_print(const link_job *j);
json_t *link_json(const cli_run *run, const link_job *j);
extern const char *const link_baselines[LINK_BASELINES]; /* what they are called */
int link_by_value(const void *a, const void *b); /* the strongest first, for qsort */
bool link_is_true(const link_job *j, const okra_link *link); /* is it of --truth? */
/* The next k of --at; false at the end. */
bool link_next_k(const char **at, okra_int *k);

#endif
