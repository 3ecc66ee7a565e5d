/*
 * libsvm.h: support vector machines on a Gram matrix, by LIBSVM.
 */
#ifndef OKRA_LIBSVM_H_
#define OKRA_LIBSVM_H_

#include "linalg/linalg.h"

/* A Gram matrix in LIBSVM's form, shared by all machines that are trained on it. */
typedef struct okra_svm_gram_ {
    okra_int n;
    struct svm_node *nodes; /* n rows of n + 2: number, values, end */
} okra_svm_gram_;

/* K: n x n; it is copied, at 16 bytes a value. `who` begins the messages. */
okra_status okra_svm_gram_create_(okra_context *ctx, const char *who, okra_mat_ K,
                                  okra_svm_gram_ *out);
void okra_svm_gram_clear_(okra_svm_gram_ *gram);

typedef struct okra_svm_ {
    bool regression;  /* epsilon-SVR of numbers; else C-SVC of targets +1 and -1      */
    double cost;      /* C > 0                                                        */
    double positive;  /* C-SVC: an error on a target +1 costs as many times more      */
    double tube;      /* regression: residuals within it cost nothing                 */
    double tolerance; /* violation of the optimality conditions at which LIBSVM stops */
} okra_svm_;

bool okra_svm_constant_(okra_int count, const double *target); /* all equal? */
/* One machine f(x) = sum_i c_i k(x_i, x) + *bias on rows index[0..count-1] of the matrix
 * (NULL: the first `count`), with a target each. c: n, 0 off the support. Equal targets:
 * c = 0, and the bias is the target; no target: 0. Serves several threads at a time. */
okra_status okra_svm_train_(const okra_svm_gram_ *gram, const okra_svm_ *svm,
                            const okra_int *index, okra_int count, double *target,
                            double *c, double *bias);

#endif
