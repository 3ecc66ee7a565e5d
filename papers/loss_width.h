/*
 * loss_width.h: the width of an RBF loss, by the rule of Weston et al. 2003, sec. 4.3, or
 * so that k-NN has a given loss.
 */
#ifndef OKRA_PAPER_LOSS_WIDTH_H
#define OKRA_PAPER_LOSS_WIDTH_H

#include "protocol.h"

/* The width whose kernel of the outputs has the largest alignment with 30 clusters;
 * `text`: an expression that ends in such a width. */
okra_status loss_width_align(paper_run *run, const okra_data *y, const char *text,
                             double *width) OKRA_CHECK;
/* The width, from low to high, at which the best of k-NN (k of 1 to 5) has that loss over
 * five folds of the pairs. */
okra_status loss_width_calibrate(paper_run *run, const paper_pairs *pairs, double loss,
                                 double low, double high, double *width) OKRA_CHECK;

#endif
