/*
 * linker.c: what the methods that score links share.
 */
#include "method/links/linker.h"

/* mean_i - grand/2 for every i: subtracting means_i + means_j centres G. */
static void half_means(okra_mat_ G, double *means)
{
    double grand = 0, n = (double)G.rows;
    for (okra_int i = 0; i < G.rows; i++) {
        double sum = okra_total_(G.cols, G.p + i * G.ld);
        means[i] = sum / n;
        grand += sum / (n * n);
    }
    for (okra_int i = 0; i < G.rows; i++) {
        means[i] -= grand / 2;
    }
}

void okra_linker_center_(okra_mat_ G, double *means)
{
    half_means(G, means);
    for (okra_int i = 0; i < G.rows; i++) {
        for (okra_int j = 0; j < G.cols; j++) {
            G.p[i * G.ld + j] -= means[i] + means[j];
        }
    }
}

void okra_linker_units_(okra_mat_ A, okra_int first)
{
    okra_mat_fill_(A, 0);
    for (okra_int i = 0; i < A.rows; i++) {
        A.p[i * A.ld + first + i] = 1;
    }
}

okra_status okra_linker_network_(const char *who, const okra_problem_ *p,
                                 const okra_network_ **out)
{
    REFUSE_IF(p->y->kind != OKRA_NODES, OKRA_EUNSUPPORTED,
              "%s learns from the edges of a network, the outputs are %s", who,
              okra_kind_name(p->y->kind));
    *out = p->y->network;
    return OKRA_OK;
}
