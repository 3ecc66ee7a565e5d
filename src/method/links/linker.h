/*
 * linker.h: what the methods that score links share.
 */
#ifndef OKRA_LINKER_H_
#define OKRA_LINKER_H_

#include "method/method.h"

/* G <- H G H, H = I - 11'/n; means (n) gets (G 1)/n - (1'G 1)/(2 n^2) of G as
 * it was, which is what centred rows of other inputs need. */
void okra_linker_center_(okra_mat_ G, double *means);
/* A <- rows first.. of the identity. */
void okra_linker_units_(okra_mat_ A, okra_int first);
/* The network whose nodes are the outputs; fails if they are none. */
okra_status okra_linker_network_(const char *who, const okra_problem_ *p,
                                 const okra_network_ **out);

#endif
