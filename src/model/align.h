/*
 * align.h: kernel expressions whose weights are learned: align.c.
 */
#ifndef OKRA_ALIGN_H_
#define OKRA_ALIGN_H_

#include "model/model.h"

typedef enum okra_align_how_ {
    OKRA_ALIGN_,
    OKRA_ALIGN_EACH_,
    OKRA_ALIGN_LOO_
} okra_align_how_;

/* What align-loo needs of the options. */
typedef struct okra_align_options_ {
    double lambda;
    bool center; /* outputs are */
} okra_align_options_;

typedef struct okra_align_ {
    char *text;    /* the expression with numbers in the place of align(...) */
    char *kernels; /* one per line            */
    char *weights; /* "V,V,...": all of them */
    double value;  /* the alignment of the combination with the outputs */
} okra_align_;
void okra_align_clear_(okra_align_ *align);

/* align.c: w (p) of the kernels, and the alignment of the combination. */
typedef struct okra_learner_ {
    okra_context *ctx;
    const okra_data *x, *y; /* n pairs */
    okra_int n, p;
    double *K;        /* p x n^2, its own          */
    double *L;        /* n x n, its own            */
    double *scale;    /* p: powers of 2 that the matrices were multiplied by */
    double *s, total; /* roots of the weights of pairs, or NULL */
} okra_learner_;
/* align_loo.c: w (p), where the search begins and what is found, for the scaled matrices
 * K and L = F F' (F: n x r, or NULL); mean: the weights of the mean of the kernels. */
okra_status okra_align_loo_(const okra_learner_ *z, double lambda, const double *F,
                            okra_int r, const double *mean, double *w);

/* Does the expression hold align(, align-each( or align-loo(? */
bool okra_align_asked_(const char *text);
/* The same with mean in its place, to be freed: for what needs no outputs. */
okra_status okra_align_mean_(const char *text, char **out);
okra_status okra_align_learn_(okra_context *ctx, const okra_data *x, const okra_data *y,
                              const char *text, const okra_kernel *ky,
                              const okra_align_options_ *o, okra_align_ *out);
/* w (p, sum 1) from M_kl = <K_k, K_l> (p x p) and a_k = <K_k, L>, matrices centred; each:
 * ALIGN, else ALIGNF. */
okra_status okra_align_weights_(okra_context *ctx, okra_int p, const double *M,
                                const double *a, bool each, double *w);

#endif
