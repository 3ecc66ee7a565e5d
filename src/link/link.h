/*
 * link.h: the inside of fitted links.
 */
#ifndef OKRA_LINK_H_
#define OKRA_LINK_H_

#include "data/graphs.h"
#include "model/model.h"
#include "okra/more/link.h"

/* Labelled and new nodes. */
enum { OKRA_LABELLED_, OKRA_NEW_, OKRA_GROUPS_ };

typedef struct okra_group_ {
    okra_int count;
    okra_int *node; /* numbers in the caller's x                                      */
    okra_data *x;   /* their descriptions; rows of a Gram matrix: against the inputs  */
    double *P, *Q;  /* count x width, made when first asked for                       */
    double *size;   /* count: |h(u)|^norm, the same                                   */
    okra_data *columns; /* and, where k(u, v) is added to the scores, the same nodes  */
    okra_trained_kernel_ *bound; /* with the kernel bound to them */
} okra_group_;

struct okra_links {
    okra_model *model;
    okra_options *options; /* that it was fitted with */
    okra_data *all; /* x of the caller, where the method adds k(u, v) to its scores */
    okra_network_ *network; /* of the labelled nodes, by their places among them */
    okra_group_ group[OKRA_GROUPS_];
    okra_int *place; /* by node: labelled place p, or -1 - (place among the new) */
    okra_int nodes, width;
    bool known;
    double norm; /* of the score; 0 for methods of links alone */
};

/* The parts of a task that fit and leave-one-out share. */
typedef struct okra_link_parts_ {
    okra_int *place, *labelled, *fresh; /* fresh: the new nodes, ascending */
    okra_int *inputs; /* labelled nodes, then new ones where the method uses them */
    okra_int fresh_count, input_count;
    okra_network_ *network;
    okra_data *y;      /* nodes of the network, or the given Gram matrix */
    okra_options *fit; /* the caller's, with ky filled in */
} okra_link_parts_;
okra_status okra_link_parts_create_(okra_context *ctx, const okra_link_task *task,
                                    const okra_options *options,
                                    const okra_link_settings *settings,
                                    okra_link_parts_ *out);
void okra_link_parts_clear_(okra_link_parts_ *parts);

/* A measure of rankings, and where its values go, one a lambda; out NULL: not wanted. */
typedef struct okra_measure_ {
    double (*of)(const okra_ranking *ranking);
    double *out;
} okra_measure_;
/* As okra_link_leave, with two measures. */
okra_status okra_link_leave_(okra_context *context, const okra_link_task *task,
                             const okra_options *options,
                             const okra_link_settings *settings, const double *lambda,
                             size_t count, const okra_measure_ area[2]);

/* The chosen objects; of a Gram matrix of all nodes, the rows against the columns. */
okra_status okra_link_take_(okra_context *ctx, const okra_data *x, const okra_int *rows,
                            okra_int row_count, const okra_int *cols, okra_int col_count,
                            okra_data **out);

/* S (rows x cols) <- scores of rows i0.. of a group against columns j0.. of another; the
 * pairs are new-labelled, new-new or labelled-labelled. */
okra_status okra_link_panel_(okra_context *ctx, okra_links *links, int row_group,
                             okra_int i0, int col_group, okra_int j0, okra_mat_ S);

/* Links in the order of their ends, for qsort. */
int okra_links_by_ends_(const void *p, const void *q);
/* Copies with a <= b, in that order, to be freed; is a pair with a <= b among them? */
okra_status okra_links_sorted_(const okra_link *links, okra_int count, okra_link **out);
bool okra_links_among_(const okra_link *sorted, okra_int count, okra_link pair);

#endif
