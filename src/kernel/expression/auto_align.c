/*
 * auto_align.c: a width of rbf by kernel alignment (Weston et al. 2003 sec. 4.3), where
 * auto-align or auto-align/K stands.
 *
 * k-means in the feature space before rbf gives K clusters (30), T_ij = 1 within one;
 * sigma is where A(K_sigma, T) = <K_sigma,T>/sqrt(<K_sigma,K_sigma><T,T>) is largest,
 * among 10^(-2..1) times the median distance, then by golden section. k-means starts from
 * the context's seed. An object of weight u counts as u objects at one place. Cost: n^2
 * exponentials for each sigma.
 */
#include "kernel/expression/expr.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CLUSTERS = 30, ROUNDS = 100 };

/* Lloyd's k-means in feature space from squared distances D: |x - m_c|^2 is the mean of
 * D over the cluster less half the mean of D within it. */
static okra_status cluster(okra_context *ctx, const okra_data *some, const double *D,
                           okra_int k, okra_int *label)
{
    okra_random_ random = okra_random_create_(okra_context_seed(ctx), 0xc105);
    okra_int n = some->n;
    OWNED double *to = NULL, *within = NULL, *size = NULL;
    OWNED okra_int *order = NULL;
    MAKE(order, n);
    MAKE(size, k);
    MAKE(within, k);
    CHK(okra_doubles_(ctx, n, k, "distances to clusters", &to));
    okra_iota_(n, order);
    okra_random_shuffle_(&random, n, order); /* k objects start the clusters */
    for (okra_int i = 0; i < n; i++) {
        label[i] = 0;
        for (okra_int c = 1; c < k; c++) {
            bool nearer = D[i * n + order[c]] < D[i * n + order[label[i]]];
            label[i] = nearer ? c : label[i];
        }
    }
    for (int round = 0, moved = 1; moved && round < ROUNDS; round++) {
        moved = 0;
        for (okra_int c = 0; c < k; c++) {
            size[c] = 0;
            within[c] = 0;
        }
        okra_mat_fill_(okra_mat_of_(to, n, k), 0);
        for (okra_int i = 0; i < n; i++) {
            size[label[i]] += okra_weight_(some, i);
            for (okra_int j = 0; j < n; j++) {
                to[i * k + label[j]] += okra_weight_(some, j) * D[i * n + j];
            }
            within[label[i]] += okra_weight_(some, i) * to[i * k + label[i]];
        }
        for (okra_int i = 0; i < n; i++) {
            okra_int best = label[i];
            double least = (double)INFINITY;
            for (okra_int c = 0; c < k; c++) {
                double m = size[c];
                double d = m > 0 ? to[i * k + c] / m - within[c] / (2 * m * m)
                                 : (double)INFINITY;
                if (d < least) {
                    least = d;
                    best = c;
                }
            }
            moved += best != label[i];
            label[i] = best;
        }
    }
    return OKRA_OK;
}

static double alignment(const okra_data *some, const double *D, const okra_int *label,
                        double sigma)
{
    double both = 0, own = 0, target = 0;
    okra_int n = some->n;
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            double k = exp(-D[i * n + j] / (2 * sigma * sigma));
            double times = okra_weight_(some, i) * okra_weight_(some, j);
            bool same = label[i] == label[j];
            both += same ? times * k : 0;
            own += times * (k * k);
            target += same ? times : 0;
        }
    }
    return both / sqrt(own * target);
}

okra_status okra_auto_align_(okra_context *ctx, const char *value, const okra_data *some,
                             const double *D, double middle, double *sigma)
{
    enum { STEPS = 31, GOLDEN = 20 };
    OWNED okra_int *label = NULL;
    const char *slash = strchr(value, '/');
    okra_int k = slash ? atoll(slash + 1) : CLUSTERS, n = some->n;
    double best = -1, at = 0;
    REFUSE_IF(k < 1 || k > n, OKRA_EARG, "%s: %lld clusters are asked of %lld objects",
              value, (long long)k, (long long)n);
    MAKE(label, n);
    CHK(cluster(ctx, some, D, k, label));
    for (int s = 0; s < STEPS; s++) {
        double log10_share = -2 + 3.0 * s / (STEPS - 1);
        double a = alignment(some, D, label, middle * pow(10, log10_share));
        if (a > best) {
            best = a;
            at = log10_share;
        }
    }
    double low = at - 0.1, high = at + 0.1, ratio = (sqrt(5) - 1) / 2;
    for (int g = 0; g < GOLDEN; g++) {
        double p = high - ratio * (high - low), q = low + ratio * (high - low);
        if (alignment(some, D, label, middle * pow(10, p)) >
            alignment(some, D, label, middle * pow(10, q))) {
            high = q;
        } else {
            low = p;
        }
    }
    *sigma = middle * pow(10, (low + high) / 2);
    return OKRA_OK;
}
