/*
 * linker.h: what the methods that score links share.
 */
#ifndef OKRA_LINKER_H_
#define OKRA_LINKER_H_

#include "method/method.h"

/* G <- H G H, H = I - 11'/n; means (n) gets (G 1)/n - (1'G 1)/(2 n^2) of G as
 * it was, which is what centred rows of other inputs need. */
void okra_linker_center_(okra_mat_ G, double *means);
/* Rows k_u of other inputs, centred in the same feature space:
 * k_ui - mean_j(k_uj) - means_i + ..., so that rows of G itself become those of H G H. */
void okra_linker_center_rows_(okra_mat_ K, const double *means);
/* A <- rows first.. of the identity. */
void okra_linker_units_(okra_mat_ A, okra_int first);
/* *A <- a symmetric matrix factored as F F' and its inverse, both n x n; A is destroyed.
 */
okra_status okra_linker_inverse_(okra_context *ctx, okra_mat_ A, okra_mat_ inverse);
/* The network whose nodes are the outputs; fails if they are none. */
okra_status okra_linker_network_(const char *who, const okra_problem_ *p,
                                 const okra_network_ **out);
okra_form_ okra_linker_form_(const okra_store_ *store);

#endif
