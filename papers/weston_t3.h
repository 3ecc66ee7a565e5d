/*
 * weston_t3.h: what the two readings of the pixels of Table 3 share.
 */
#ifndef OKRA_PAPER_WESTON_T3_H
#define OKRA_PAPER_WESTON_T3_H

#include "nested.h"

enum { WESTON_T3_METHODS = 3, WESTON_T3_PARTS = 4 };
extern const char *const weston_t3_names[WESTON_T3_METHODS];
/* Printed losses and class errors of pre-images, each with its standard error. */
extern const double weston_t3_losses[WESTON_T3_METHODS][2],
    weston_t3_errors[WESTON_T3_METHODS][2];

/* The three methods at one width of the loss. */
typedef struct weston_t3_texts {
    char kx[7][64], ky[64], loss[64];
    const char *kde[7 * WESTON_T3_PARTS][5], *knn[5][4], *net[4];
    paper_options kde_list[7 * WESTON_T3_PARTS], knn_list[5], net_list[1];
    paper_family family[WESTON_T3_METHODS];
} weston_t3_texts;

/* steps: "steps=200" of the Hopfield net, NULL: its default. */
void weston_t3_say(double sigma, const char *steps, weston_t3_texts *t);
/* The inner folds also choose how many components KDE learns: all, 150, 100 or 75. */
void weston_t3_components(weston_t3_texts *t);

/* Halves of unit length with background 0: its tables and figure. */
okra_status weston_t3_unit(paper_run *run) OKRA_CHECK;

#endif
