/*
 * loss_width.c: the width of an RBF loss.
 */
#include "loss_width.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { INNER = 5 };

okra_status loss_width_align(paper_run *run, const okra_data *y, const char *text,
                             double *width)
{
    okra_kernel *kernel = NULL;
    okra_status st = okra_kernel_choose(paper_context(run), text, y, &kernel);
    const char *sigma = st == OKRA_OK ? strstr(okra_kernel_text(kernel), "sigma=") : NULL;
    if (st == OKRA_OK) {
        *width = sigma ? strtod(sigma + strlen("sigma="), NULL) : 0;
        st = *width > 0 ? OKRA_OK : okra_fail(OKRA_EINTERNAL, "no width was chosen");
    }
    okra_kernel_free(kernel);
    return st;
}

/* The least loss of k-NN, k of 1 to 5, over five folds of the training digits. */
static okra_status inner_loss(paper_run *run, const paper_pairs *train, double sigma,
                              double *out)
{
    static const char *const near[] = {"k=1", "k=2", "k=3", "k=4", "k=5"};
    char ky[64], loss[64];
    double sum[5] = {0};
    okra_status st = OKRA_OK;
    snprintf(ky, sizeof ky, "ky=rbf(sigma=%.10g)", sigma);
    snprintf(loss, sizeof loss, "rbf-loss:sigma=%.10g", sigma);
    for (okra_int f = 0; st == OKRA_OK && f < INNER; f++) {
        paper_pairs in = {NULL, NULL}, rest = {NULL, NULL};
        st = paper_fold(train, INNER, f, &in, &rest);
        for (int k = 0; st == OKRA_OK && k < 5; k++) {
            const char *const fit[] = {"method=knn", near[k], ky, NULL};
            double value = 0;
            st = paper_fit_one(run, &rest, &in, fit, NULL, loss, &value);
            sum[k] += value / INNER;
        }
        paper_pairs_clear(&in);
        paper_pairs_clear(&rest);
    }
    *out = sum[0];
    for (int k = 1; k < 5; k++) {
        *out = fmin(*out, sum[k]);
    }
    return st;
}

okra_status loss_width_calibrate(paper_run *run, const paper_pairs *pairs, double loss,
                                 double low, double high, double *width)
{
    enum { STEPS = 8 }; /* to a hundredth */
    okra_status st = OKRA_OK;
    double found = 0;
    for (int k = 0; st == OKRA_OK && k < STEPS; k++) {
        *width = sqrt(low * high); /* the loss falls as the width grows */
        st = inner_loss(run, pairs, *width, &found);
        *(found > loss ? &low : &high) = *width;
    }
    return st;
}
