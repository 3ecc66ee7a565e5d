/*
 * information.c: the entropy of similarities.
 *
 * A width that is too small makes all objects strangers, one that is too large makes them
 * all the same; neither tells anything. Between them the similarities take many different
 * values, and the entropy of their histogram,
 *     -sum_b p_b log p_b,  p_b the share of bin b of 50,
 * is greatest. Brouard et al. 2016 choose widths of diffusion kernels and of graphs of
 * tasks by "an information criterion" without its formula; this is the one used here.
 */
#include "kernel/networks/network.h"

double okra_entropy_(int parts, okra_int count, const double *values,
                     const double *weights, double low, double high)
{
    double bins[OKRA_BINS_MOST_] = {0}, sum = 0, total = 0;
    for (okra_int i = 0; i < count; i++) {
        double c = (values[i] - low) / (high - low) * parts;
        double times = weights ? weights[i] : 1;
        bins[OKRA_MIN_((okra_int)c, parts - 1)] += times;
        total += times;
    }
    for (int b = 0; b < parts; b++) {
        double p = total > 0 ? bins[b] / total : 0;
        sum -= p > 0 ? p * log(p) : 0;
    }
    return sum;
}

double okra_similarity_entropy_(okra_mat_ K, const double *self)
{
    double low = (double)INFINITY, high = -(double)INFINITY;
    okra_int count = 0;
    for (okra_int i = 0; i < K.rows; i++) {
        for (okra_int j = i + 1; j < K.cols; j++) {
            double c = K.p[i * K.ld + j] / sqrt(self[i] * self[j]);
            K.p[count++] = c; /* read already: count <= i * ld + j */
            low = fmin(low, c);
            high = fmax(high, c);
        }
    }
    return high > low ? okra_entropy_(OKRA_BINS_, count, K.p, NULL, low, high) : 0;
}
