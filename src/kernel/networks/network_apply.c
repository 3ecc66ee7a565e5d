/*
 * network_apply.c: a function of the Laplacian of a network, dense or acting on vectors.
 *
 * Dense: L = U' diag(x) U, f(L) = U' diag(f(x)) U; O(nodes^3), error a few eps ||f||.
 *
 * Acting on a block X: with b >= the largest eigenvalue (Gershgorin: twice the largest
 * degree; 2 for the normalised Laplacian) and z = 2x/b - 1 in [-1, 1],
 *     f(x) = c_0/2 + sum_k c_k T_k(z),   T_k+1(z) = 2 z T_k(z) - T_k-1(z),
 * the c_k from the values of f at Chebyshev points. The error is at most the sum of the
 * |c_k| left out, for every vector of norm 1 (L. N. Trefethen, Approximation Theory and
 * Approximation Practice, 2013, theorems 3.1 and 4.2). exp(-beta x) takes about
 * 6 sqrt(beta b) terms. Columns go in groups, each on its own: same bits for any number
 * of threads.
 */
#include "kernel/networks/network.h"

#include <math.h>

enum { TERMS_MOST = 4096, GROUP = 16 };

static const double pi = 3.14159265358979323846;

/* Degrees, or what scales the normalised form: 1/sqrt(degree), 0 without edges. */
static okra_status degrees(const okra_network_ *n, bool normalized, double **out,
                           double *bound)
{
    const okra_csr_ *w = &n->adjacency;
    double *d = NULL;
    ZMAKE(d, n->nodes);
    *bound = normalized ? 2 : 0;
    for (okra_int i = 0; i < n->nodes; i++) {
        for (okra_int k = w->indptr[i]; k < w->indptr[i + 1]; k++) {
            d[i] += w->values[k];
        }
        if (normalized) {
            d[i] = d[i] > 0 ? 1 / sqrt(d[i]) : 0;
        } else {
            *bound = fmax(*bound, 2 * d[i]);
        }
    }
    *out = d;
    return OKRA_OK;
}

/* The n coefficients from the values at n Chebyshev points; the largest |value|. */
static double interpolate(okra_spectral_ f, const void *params, double bound, okra_int n,
                          double *value, double *c)
{
    double largest = fabs(f(params, 0));
    for (okra_int j = 0; j < n; j++) {
        double z = cos(pi * ((double)j + 0.5) / (double)n);
        value[j] = f(params, 0.5 * bound * (z + 1));
        largest = fmax(largest, fabs(value[j]));
    }
    for (okra_int k = 0; k < n; k++) {
        double sum = 0;
        for (okra_int j = 0; j < n; j++) {
            /* cos is periodic: k (2j + 1) modulo 4n keeps the argument small */
            double angle = (double)(k * (2 * j + 1) % (4 * n));
            sum += value[j] * cos(pi * angle / (2 * (double)n));
        }
        c[k] = 2 * sum / (double)n;
    }
    return largest;
}

/* Coefficients for at most TERMS_MOST terms; *count = -1: they do not suffice. They do
 * when the last quarter is rounding and the sum gives f(0), where f varies most. */
static okra_status expand(okra_spectral_ f, const void *params, double bound,
                          double **out, okra_int *count)
{
    OWNED double *c = NULL, *value = NULL;
    MAKE(c, TERMS_MOST);
    MAKE(value, TERMS_MOST);
    *count = -1;
    for (okra_int n = 16; n <= TERMS_MOST && *count < 0; n *= 2) {
        double largest = interpolate(f, params, bound, n, value, c), origin = -0.5 * c[0];
        okra_int last = n;
        while (last > 1 && fabs(c[last - 1]) <= 4e-16 * largest) {
            last--;
        }
        for (okra_int k = 0; k < last; k++) {
            origin += k % 2 ? -c[k] : c[k];
        }
        if (last <= 3 * n / 4 && fabs(origin - f(params, 0)) <= 1e-13 * largest) {
            *count = last;
        }
    }
    *out = TAKE(c);
    return OKRA_OK;
}

okra_status okra_network_terms_(const okra_network_ *network, bool normalized,
                                okra_spectral_ f, const void *params, okra_int *terms)
{
    OWNED double *d = NULL, *c = NULL;
    double bound;
    CHK(degrees(network, normalized, &d, &bound));
    return expand(f, params, bound, &c, terms);
}

typedef struct action {
    const okra_network_ *network;
    bool normalized;
    const double *d, *c;
    okra_int terms;
    double bound;
    okra_mat_ X, Y;
} action;

/* out <- s z(L) in - old, z(L) = 2 L / bound - 1, on `m` columns. */
static void recur(const action *a, okra_int m, double s, const double *in,
                  const double *old, double *out)
{
    const okra_csr_ *w = &a->network->adjacency;
    double scale = a->bound > 0 ? 2 * s / a->bound : 0;
    for (okra_int i = 0; i < a->network->nodes; i++) {
        double row[GROUP] = {0};
        double own = a->normalized ? (a->d[i] > 0) : a->d[i];
        for (okra_int k = w->indptr[i]; k < w->indptr[i + 1]; k++) {
            const double *other = in + w->indices[k] * GROUP;
            double v = a->normalized ? w->values[k] * a->d[i] * a->d[w->indices[k]]
                                     : w->values[k];
            for (okra_int j = 0; j < GROUP; j++) {
                row[j] += v * other[j];
            }
        }
        for (okra_int j = 0; j < m; j++) {
            double x = in[i * GROUP + j];
            double before = old ? old[i * GROUP + j] : 0;
            out[i * GROUP + j] = scale * (own * x - row[j]) - s * x - before;
        }
    }
}

static okra_status act(void *arg, okra_int begin, okra_int end, int worker)
{
    okra_status st = OKRA_OK;
    const action *a = arg;
    okra_int n = a->network->nodes, m = end - begin;
    double *t[3] = {NULL, NULL, NULL};
    (void)worker;
    for (int k = 0; k < 3; k++) {
        ZALLOC(t[k], n * GROUP);
    }
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < m; j++) {
            t[0][i * GROUP + j] = a->X.p[i * a->X.ld + begin + j];
            a->Y.p[i * a->Y.ld + begin + j] = 0.5 * a->c[0] * t[0][i * GROUP + j];
        }
    }
    for (okra_int k = 1; k < a->terms; k++) {
        recur(a, m, k == 1 ? 1 : 2, t[(k - 1) % 3], k == 1 ? NULL : t[(k - 2) % 3],
              t[k % 3]);
        for (okra_int i = 0; i < n; i++) {
            for (okra_int j = 0; j < m; j++) {
                a->Y.p[i * a->Y.ld + begin + j] += a->c[k] * t[k % 3][i * GROUP + j];
            }
        }
    }
done:
    for (int k = 0; k < 3; k++) {
        okra_free_(t[k]);
    }
    return st;
}

okra_status okra_network_apply_(okra_context *ctx, const okra_network_ *network,
                                bool normalized, okra_spectral_ f, const void *params,
                                okra_mat_ X, okra_mat_ Y, okra_int *terms)
{
    OWNED double *d = NULL, *c = NULL;
    action a = {.network = network, .normalized = normalized, .X = X, .Y = Y};
    CHK(degrees(network, normalized, &d, &a.bound));
    CHK(expand(f, params, a.bound, &c, &a.terms));
    REFUSE_IF(a.terms < 0, OKRA_EUNSUPPORTED,
              "the function of the Laplacian varies too fast for %d terms (eigenvalues "
              "up to %g)",
              TERMS_MOST, a.bound);
    a.d = d;
    a.c = c;
    GIVE(terms, a.terms);
    CHK(okra_budget_ask_(ctx, 24.0 * GROUP * (double)network->nodes * okra_workers_(ctx),
                         "the action of a network kernel"));
    return okra_parallel_(ctx, X.cols, GROUP, "network kernel", act, &a);
}

static okra_status count_components(const okra_network_ *n, okra_int *out)
{
    const okra_csr_ *w = &n->adjacency;
    OWNED okra_int *queue = NULL;
    okra_int count = 0;
    OWNED bool *seen = NULL;
    MAKE(queue, n->nodes);
    ZMAKE(seen, n->nodes);
    for (okra_int root = 0; root < n->nodes; root++) {
        okra_int head = 0, tail = 0;
        if (seen[root]) {
            continue;
        }
        count++;
        seen[root] = true;
        queue[tail++] = root;
        while (head < tail) {
            okra_int u = queue[head++];
            for (okra_int k = w->indptr[u]; k < w->indptr[u + 1]; k++) {
                if (!seen[w->indices[k]]) {
                    seen[w->indices[k]] = true;
                    queue[tail++] = w->indices[k];
                }
            }
        }
    }
    *out = count;
    return OKRA_OK;
}

okra_status okra_network_dense_(okra_context *ctx, const okra_network_ *network,
                                bool normalized, okra_spectral_ f, const void *params,
                                okra_mat_ F)
{
    okra_int n = network->nodes, zeros = 0;
    const okra_csr_ *w = &network->adjacency;
    OWNED double *d = NULL, *L = NULL, *x = NULL;
    double bound;
    CHK(degrees(network, normalized, &d, &bound));
    CHK(count_components(network, &zeros));
    CHK(okra_doubles_(ctx, n, n, "the Laplacian of a network", &L));
    MAKE(x, n);
    okra_mat_ M = okra_mat_of_(L, n, n);
    okra_mat_fill_(M, 0);
    for (okra_int i = 0; i < n; i++) {
        L[i * n + i] = normalized ? (d[i] > 0) : d[i];
        for (okra_int k = w->indptr[i]; k < w->indptr[i + 1]; k++) {
            okra_int j = w->indices[k];
            L[i * n + j] = -w->values[k] * (normalized ? d[i] * d[j] : 1);
        }
    }
    CHK(okra_eigh_(ctx, M, x));
    for (okra_int i = 0; i < n; i++) {
        double root = sqrt(f(params, i < zeros ? 0 : fmax(x[i], 0)));
        for (okra_int j = 0; j < n; j++) {
            L[i * n + j] *= root;
        }
    }
    return okra_syrk_(ctx, true, 1, M, 0, F);
}
