/*
 * vote_weights.c: weights of training outputs as votes for outputs.
 *
 * An expected loss sum_i w_i D(y, y_i) takes the weights of a method for the distribution
 * of the output. Those of ridge spread more than outputs do: large weights of both signs
 * that cancel, and small ones of pairs that are not alike. Where a loss rewards hedges
 * (F1: larger sets) the expectation then hedges too much. Two powers make up for that,
 * and are chosen as any option is, on training pairs:
 *
 *     sharpen P   w_i <- sign(w_i) |w_i|^P: pairs that are most alike count more; scaled
 *                 to the sum of magnitudes that there was
 *     votes A     v_g = sum of the weights of training outputs that are the same object
 *                 g, a regression on [y = g]; votes below 0 are none, and the others
 *                 count v_g^A / sum_h v_h^A, which is a distribution
 *
 * P = 1 and A = 0 leave the weights alone. Where no object has a vote above 0, A does
 * too. The votes of g stand at the first training output that is g, 0 at the others.
 */
#include "decode/vote_weights.h"

#include <math.h>

struct okra_vote_weights_ {
    double sharpen, votes;
    okra_int *first; /* of each training output: the first that is the same */
};

OKRA_SHARED_FREES_(okra_vote_weights_free_, okra_vote_weights_, it->first)

OKRA_DROPS_(drop, okra_vote_weights_, okra_vote_weights_free_)

okra_status okra_vote_weights_create_(const okra_data *y, double sharpen, double votes,
                                      okra_vote_weights_ **out)
{
    FREED_BY(drop) okra_vote_weights_ *v = NULL;
    if (sharpen == 1 && votes <= 0) {
        return OKRA_OK;
    }
    ZMAKE(v, 1);
    v->sharpen = sharpen;
    v->votes = votes;
    if (votes > 0) {
        MAKE(v->first, y->n);
        CHK(okra_data_same_(&y, 1, v->first));
    }
    *out = TAKE(v);
    return OKRA_OK;
}

/* Scaled to a sum of magnitudes; all 0 stay so. */
static void scale_to(double sum, okra_int n, double *w)
{
    double now = 0;
    for (okra_int i = 0; i < n; i++) {
        now += fabs(w[i]);
    }
    for (okra_int i = 0; i < n && now > 0; i++) {
        w[i] *= sum / now;
    }
}

/* Relative to the largest, lest powers overflow. */
static void raise_to(double power, okra_int n, double *w)
{
    double largest = 0;
    for (okra_int i = 0; i < n; i++) {
        largest = fmax(largest, fabs(w[i]));
    }
    for (okra_int i = 0; i < n && largest > 0; i++) {
        w[i] = copysign(pow(fabs(w[i]) / largest, power), w[i]);
    }
}

static void count_row(const okra_vote_weights_ *v, okra_int n, const double *w,
                      double *out)
{
    double all = 0, most = 0;
    for (okra_int i = 0; i < n; i++) {
        out[i] = w[i];
        all += fabs(w[i]);
    }
    if (v->sharpen != 1) {
        raise_to(v->sharpen, n, out);
        scale_to(all, n, out);
    }
    if (!v->first) {
        return;
    }
    for (okra_int i = 0; i < n; i++) { /* the first comes before the others */
        if (v->first[i] != i) {
            out[v->first[i]] += out[i];
            out[i] = 0;
        }
    }
    for (okra_int i = 0; i < n; i++) {
        most = fmax(most, out[i]);
    }
    for (okra_int i = 0; i < n && most > 0; i++) {
        out[i] = fmax(out[i], 0);
    }
    if (most > 0) {
        raise_to(v->votes, n, out);
        scale_to(1, n, out);
    }
}

okra_status okra_vote_weights_count_(okra_context *ctx, const okra_vote_weights_ *v,
                                     okra_mat_ W, double **out)
{
    OWNED double *counted = NULL;
    CHK(okra_doubles_(ctx, W.rows, W.cols, "votes", &counted));
    for (okra_int r = 0; r < W.rows; r++) {
        count_row(v, W.cols, W.p + r * W.ld, counted + r * W.cols);
    }
    *out = TAKE(counted);
    return OKRA_OK;
}
