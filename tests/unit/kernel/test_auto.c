/*
 * Numbers in place of auto, against computations of their own: medians by counting, the
 * alignment with known clusters on a fine grid, entropies from matrix exponentials.
 */
#include "harness.h"
#include "kernel/kernel.h"
#include "okra/more/link.h"
#include "data/graphs.h"

#include <math.h>
#include <stdlib.h>

enum { COUNT = 40, WIDTH = 2 };

static double chosen(const char *text, const okra_data *data, const char *before)
{
    char *found = NULL;
    CHECK_OK(okra_kernel_auto_(NULL, text, data, &found));
    const char *at = found ? strstr(found, before) : NULL;
    CHECK(at != NULL);
    double value = at ? strtod(at + strlen(before), NULL) : (double)NAN;
    okra_free_(found);
    return value;
}

static double distance(const double *x, okra_int i, okra_int j)
{
    return hypot(x[i * WIDTH] - x[j * WIDTH], x[i * WIDTH + 1] - x[j * WIDTH + 1]);
}

TEST(median_has_half_the_distances_on_either_side)
{
    for (uint64_t seed = 0; seed < 10; seed++) {
        double x[COUNT * WIDTH];
        okra_random_ r = okra_random_create_(seed, 0);
        okra_data *data = NULL;
        harness_normals(&r, COUNT * WIDTH, x);
        x[2] = x[0], x[3] = x[1]; /* a repeated object: its distance of 0 is left out */
        CHECK_OK(okra_data_dense(x, COUNT, WIDTH, WIDTH, &data));
        double sigma = chosen("rbf(sigma=auto)", data, "sigma=");
        double gamma = chosen("rbf(gamma=auto)", data, "gamma=");
        CHECK_NEAR(2 * gamma * sigma * sigma, 1, 1e-5); /* six digits each */
        okra_int below = 0, all = 0;
        for (okra_int i = 0; i < COUNT; i++) {
            for (okra_int j = 0; j < i; j++) {
                double d = distance(x, i, j);
                all += d > 0;
                below += d > 0 && d < sigma * (1 + 1e-5);
            }
        }
        CHECK(all == COUNT * (COUNT - 1) / 2 - 1);
        CHECK(2 * below >= all - 2 && 2 * below <= all + 4);
        okra_data_free(data);
    }
}

static double alignment(const double *x, double sigma)
{
    double both = 0, own = 0, target = 0;
    for (okra_int i = 0; i < COUNT; i++) {
        for (okra_int j = 0; j < COUNT; j++) {
            double k = exp(-pow(distance(x, i, j) / sigma, 2) / 2);
            double t = i % 2 == j % 2;
            both += k * t;
            own += k * k;
            target += t * t;
        }
    }
    return both / sqrt(own * target);
}

TEST(alignment_with_two_clusters_is_greatest)
{
    for (uint64_t seed = 0; seed < 10; seed++) {
        double x[COUNT * WIDTH], best = 0, at = 0;
        okra_random_ r = okra_random_create_(seed, 1);
        okra_data *data = NULL;
        harness_normals(&r, COUNT * WIDTH, x);
        for (okra_int i = 0; i < COUNT; i++) { /* two clusters, however k-means starts */
            x[i * WIDTH] += i % 2 ? 12 : 0;
        }
        CHECK_OK(okra_data_dense(x, COUNT, WIDTH, WIDTH, &data));
        double sigma = chosen("rbf(sigma=auto-align/2)", data, "sigma=");
        for (double s = 0.05; s < 100; s *= 1.002) {
            double a = alignment(x, s);
            if (a > best) {
                best = a;
                at = s;
            }
        }
        CHECK_NEAR(sigma / at, 1, 3e-3); /* a step of the search here */
        CHECK(alignment(x, sigma) >= best * (1 - 1e-9));
        okra_data_free(data);
    }
}

/* ---- entropy ---- */

enum { NODES = 24, SQUARE = NODES * NODES };

typedef struct web {
    okra_link edges[SQUARE];
    okra_link_ list[SQUARE];
    okra_int count;
    double L[SQUARE], degree;
    okra_data *nodes;
} web;

static void make_web(web *w, uint64_t seed)
{
    okra_random_ r = okra_random_create_(seed, 2);
    okra_network_ *network = NULL;
    *w = (web){.count = 0};
    for (okra_int i = 0; i < NODES; i++) {
        for (okra_int j = 0; j < i; j++) {
            if (j == i - 1 || okra_random_uniform_(&r) < 0.05) {
                w->edges[w->count] = (okra_link){i, j, 1};
                w->list[w->count++] = (okra_link_){i, j, 1};
                w->L[i * NODES + j] = w->L[j * NODES + i] = -1;
                w->L[i * (NODES + 1)]++;
                w->L[j * (NODES + 1)]++;
            }
        }
    }
    w->degree = 2.0 * (double)w->count / NODES;
    CHECK_OK(okra_network_create_(NODES, w->list, w->count, NULL, NULL, &network));
    CHECK_OK(okra_nodes_create_(network, NULL, NODES, "a web", &w->nodes));
    okra_network_free_(network);
}

static void multiply(const double *a, const double *b, double *c)
{
    for (int i = 0; i < SQUARE; i++) {
        c[i] = 0;
        for (int k = 0; k < NODES; k++) {
            c[i] += a[i / NODES * NODES + k] * b[k * NODES + i % NODES];
        }
    }
}

/* exp(-beta L): Taylor for beta / 2^16, squared 16 times. */
static void diffuse(const double *L, double beta, double *K)
{
    double X[SQUARE], T[SQUARE], N[SQUARE];
    for (int i = 0; i < SQUARE; i++) {
        X[i] = -beta / 65536 * L[i];
        K[i] = T[i] = i / NODES == i % NODES;
    }
    for (int k = 1; k <= 8; k++) {
        multiply(T, X, N);
        for (int i = 0; i < SQUARE; i++) {
            T[i] = N[i] / k;
            K[i] += T[i];
        }
    }
    for (int k = 0; k < 16; k++) {
        multiply(K, K, N);
        memcpy(K, N, sizeof N);
    }
}

/* Counted bin by bin. */
static double entropy(const double *K)
{
    double c[SQUARE], low = 2, high = -2, sum = 0;
    int count = 0;
    for (int i = 0; i < NODES; i++) {
        for (int j = 0; j < i; j++) {
            c[count] = K[i * NODES + j] / sqrt(K[i * (NODES + 1)] * K[j * (NODES + 1)]);
            low = fmin(low, c[count]);
            high = fmax(high, c[count++]);
        }
    }
    for (int b = 0; b < 50; b++) {
        int in = 0;
        for (int k = 0; k < count; k++) {
            double place = (c[k] - low) / (high - low) * 50;
            in += (place >= b && place < b + 1) || (b == 49 && place >= 50);
        }
        double p = (double)in / count;
        sum -= in ? p * log(p) : 0;
    }
    return sum;
}

TEST(diffusion_has_the_largest_entropy_and_is_that_of_links)
{
    for (uint64_t seed = 0; seed < 5; seed++) {
        web w;
        double K[SQUARE], most = 0, link = 0;
        make_web(&w, seed);
        double beta = chosen("diffusion(beta=auto)", w.nodes, "beta=");
        for (int s = 0; s < 41; s++) {
            diffuse(w.L, pow(10, -1 + 0.1 * s) / w.degree, K);
            most = fmax(most, entropy(K));
        }
        diffuse(w.L, beta, K);
        /* six digits of beta and rounding may move values over the edges of bins: 2 of
         * 276 pairs change the entropy by 0.05 at most */
        CHECK_NEAR(entropy(K), most, 0.05);
        CHECK_OK(okra_link_beta(NULL, NODES, w.edges, w.count, &link));
        CHECK_NEAR(beta / link, 1, 1e-5);
        double sigma2 = chosen("regularized-laplacian(sigma2=auto)", w.nodes, "sigma2=");
        CHECK(sigma2 >= 0.0999 / w.degree && sigma2 <= 1001 / w.degree);
        okra_data_free(w.nodes);
    }
}

TEST(what_auto_refuses)
{
    double x[4] = {1, 1, 1, 1};
    okra_data *data = NULL;
    char *found = NULL;
    CHECK_OK(okra_data_dense(x, 2, 2, 2, &data));
    CHECK_FAILS(okra_kernel_auto_(NULL, "rbf(sigma=auto)", data, &found), OKRA_EARG,
                "all objects are equal");
    x[0] = 2;
    CHECK_FAILS(okra_kernel_auto_(NULL, "rbf(sigma=auto-align)", data, &found), OKRA_EARG,
                "30 clusters are asked of 2 objects");
    CHECK_FAILS(okra_kernel_auto_(NULL, "poly(degree=2,coef0=auto)", data, &found),
                OKRA_EARG, "there is no rule");
    CHECK_FAILS(okra_kernel_auto_(NULL, "rbf(sigma={auto,1})", data, &found), OKRA_EARG,
                "a grid of values too");
    okra_data_free(data);
}

MAIN(RUN(median_has_half_the_distances_on_either_side),
     RUN(alignment_with_two_clusters_is_greatest),
     RUN(diffusion_has_the_largest_entropy_and_is_that_of_links), RUN(what_auto_refuses))
