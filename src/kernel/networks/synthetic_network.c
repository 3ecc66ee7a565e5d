/*
 * synthetic_network.c: random networks, and inputs that know them to a given degree.
 *
 * Networks (Brouard et al. 2016 sec. 6.1.2 and C.2): an edge i < j is there with
 * probability p_intra if both nodes are of one class, else p_inter; node i is of class
 * floor(i classes / n). One class: the Erdos-Renyi law.
 *
 * Inputs: kernel PCA of the diffusion kernel K = exp(-beta L) of the whole network, L = D
 * - W. With H = I - 11'/n and H K H = V' diag(w) V, w descending, node i has the scores
 * sqrt(w_k) V_ki of the first components that hold the share `inertia` of sum(w).
 *
 * The paper takes the beta that "maximizes an information criterion" and does not name
 * it. Here: the Shannon entropy of the off-diagonal values of K in 100 equal bins between
 * the least and the largest, largest over beta = 2^(k/4) / (mean degree), k = -8..20. On
 * networks of 700 nodes this gives about 2.1, 0.87 and 0.19 at densities 0.007, 0.01 and
 * 0.02; the paper's numbers of components (159, 227 and 411 for 95 %) are met by 1.68,
 * 0.86 and 0.30, and by 2.37, 1.11 and 0.36 where K is centred and then normalised.
 *
 * Nodes without an edge have one eigenvalue, and other symmetries do the same: their
 * eigenvectors are any basis of a space. The inputs take one that does not depend on
 * rounding: the projections of the first nodes that are not small there, made orthogonal
 * in turn.
 *
 * Cost: two eigendecompositions, and n^3 for each of the 29 betas tried.
 */
#include "kernel/networks/network.h"
#include "okra/more/features.h"
#include "okra/program.h"

/* Of eigenvalues; see settle; of eigenvectors: 0 in another component of the network,
 * where a scaling of the columns would make much of the rounding. */
static const double EQUAL = 1e-11, NEARLY = 0.43, NONE = 1e-10;
enum { STREAM_NETWORK = 111, BINS = 100, BETA_FROM = -8, BETA_TO = 20 };

okra_status okra_synthetic_network(uint64_t seed, okra_int n, okra_int classes,
                                   double p_intra, double p_inter, okra_data **out)
{
    NOT_NULL(out);
    OWNED okra_link_ *edges = NULL;
    FREED_BY(okra_network_drop_) okra_network_ *network = NULL;
    okra_int count = 0, room = 0;
    okra_random_ r = okra_random_create_(seed, STREAM_NETWORK);
    REFUSE_IF(n < 1 || classes < 1 || !(p_intra >= 0 && p_intra <= 1) ||
                  !(p_inter >= 0 && p_inter <= 1),
              OKRA_EARG,
              "a network of %lld nodes in %lld classes with probabilities %g and %g, "
              "expected at least one of each and probabilities from 0 to 1",
              (long long)n, (long long)classes, p_intra, p_inter);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = i + 1; j < n; j++) {
            bool same = i * classes / n == j * classes / n;
            if (okra_random_uniform_(&r) < (same ? p_intra : p_inter)) {
                EXTEND(edges, count, room, 1024);
                edges[count++] = (okra_link_){i, j, 1};
            }
        }
    }
    CHK(okra_network_create_(n, edges, count, NULL, NULL, &network));
    return okra_nodes_create_(network, NULL, n, "synthetic network", out);
}

/* ---- inputs ---- */

typedef struct spectrum {
    okra_context *ctx;
    okra_int n;
    double *V, *w; /* L = V' diag(w) V */
    double *R, *K; /* work, and the kernel of the last beta */
} spectrum;

/* K = R'R, R = exp(-beta w / 2) V */
static okra_status diffuse(spectrum *s, double beta)
{
    okra_int n = s->n;
    for (okra_int i = 0; i < n * n; i++) {
        s->R[i] = exp(-beta * s->w[i / n] / 2) * s->V[i];
    }
    return okra_syrk_(s->ctx, true, 1, okra_mat_of_(s->R, n, n), 0,
                      okra_mat_of_(s->K, n, n));
}

/* Entropy of the values below the diagonal, in nats; R is overwritten. */
static double information(const spectrum *s)
{
    double low = (double)INFINITY, high = -(double)INFINITY;
    okra_int count = 0;
    for (okra_int i = 0; i < s->n; i++) {
        for (okra_int j = 0; j < i; j++) {
            s->R[count++] = s->K[i * s->n + j];
            low = fmin(low, s->K[i * s->n + j]);
            high = fmax(high, s->K[i * s->n + j]);
        }
    }
    return high > low ? okra_entropy_(BINS, count, s->R, NULL, low, high) : 0;
}

static okra_status choose_beta(spectrum *s, double degree, double *beta)
{
    double most = -1;
    for (int k = BETA_FROM; k <= BETA_TO; k++) {
        double trial = pow(2, k / 4.0) / degree;
        CHK(okra_cancelled_(s->ctx));
        CHK(diffuse(s, trial));
        double found = information(s);
        if (found > most) {
            most = found;
            *beta = trial;
        }
    }
    return OKRA_OK;
}

/* The rows of U, an orthonormal basis of an eigenspace, become the one that the nodes
 * give, the first node's last. Some node has a square of at least (m - k) / n in what k
 * of the m vectors leave: the first that has nearly so much is next. */
static okra_status settle(okra_context *ctx, okra_int m, okra_int n, double *U)
{
    OWNED double *left = NULL, *q = NULL;
    CHK(okra_doubles_(ctx, m, n, "an eigenspace", &left));
    MAKE(q, m);
    memcpy(left, U, (size_t)(m * n) * sizeof *left);
    for (okra_int k = 0; k < m; k++) {
        double *to = U + (m - 1 - k) * n, square = 0;
        okra_int i = -1;
        while (i < n - 1 && !(square >= NEARLY * (double)(m - k) / (double)n)) {
            i++;
            square = 0;
            for (okra_int r = 0; r < m; r++) {
                square += left[r * n + i] * left[r * n + i];
            }
        }
        for (okra_int r = 0; r < m; r++) {
            q[r] = left[r * n + i] / sqrt(square);
        }
        for (okra_int j = 0; j < n; j++) {
            double dot = 0;
            for (okra_int r = 0; r < m; r++) {
                dot += q[r] * left[r * n + j];
            }
            for (okra_int r = 0; r < m; r++) {
                left[r * n + j] -= q[r] * dot;
            }
            to[j] = dot;
        }
    }
    return OKRA_OK;
}

/* Scores of the leading components of K, n x n, which is lost. */
static okra_status components(okra_context *ctx, okra_int n, double *K, double inertia,
                              okra_data **out)
{
    okra_int p = 0;
    OWNED double *w = NULL, *x = NULL;
    double total = 0, held = 0;
    MAKE(w, n);
    CHK(okra_eigh_(ctx, okra_mat_of_(K, n, n), w));
    for (okra_int from = 0, i = 1; i <= n; i++) { /* ascending; rows are vectors */
        if (i == n || w[i] - w[i - 1] > EQUAL * w[n - 1]) {
            CHK(settle(ctx, i - from, n, K + from * n));
            from = i;
        }
    }
    for (okra_int i = 0; i < n; i++) {
        w[i] = fmax(w[i], 0);
        total += w[i];
    }
    /* 1e-12: the sum of all is not beyond reach by rounding */
    while (p < n && (p == 0 || held < inertia * total * (1 - 1e-12))) {
        held += w[n - 1 - p++];
    }
    CHK(okra_doubles_(ctx, n, p, "the inputs", &x));
    for (okra_int i = 0; i < n; i++) {
        for (okra_int k = 0; k < p; k++) {
            double v = K[(n - 1 - k) * n + i];
            x[i * p + k] = fabs(v) > NONE ? sqrt(w[n - 1 - k]) * v : 0;
        }
    }
    return okra_data_adopt_dense_(&x, n, p, "kernel PCA", out);
}

okra_status okra_kernel_inputs(okra_context *context, const okra_kernel *kernel,
                               const okra_data *objects, double inertia, okra_data **out)
{
    NOT_NULL(out);
    OWNED double *K = NULL;
    REFUSE_IF(
        !kernel || !objects || !(inertia > 0 && inertia <= 1), OKRA_EARG,
        "inputs by kernel PCA: expected a kernel, objects, and inertia above 0 up to 1");
    okra_int n = objects->n;
    REFUSE_IF(n < 1, OKRA_EARG, "inputs by kernel PCA: there is no object");
    CHK(okra_doubles_(context, n, n, "the Gram matrix", &K));
    CHK(okra_gram(context, kernel, objects, NULL, K, n));
    return components(context, n, K, inertia, out);
}

okra_status okra_network_inputs(okra_context *context, const okra_data *nodes,
                                double *beta, double inertia, okra_data **out)
{
    spectrum s = {.ctx = context};
    OWNS(&s.V, &s.R, &s.K, &s.w);
    double links = 0;
    NOT_NULL(beta, out);
    REFUSE_IF(!nodes || nodes->kind != OKRA_NODES || !(inertia > 0 && inertia <= 1),
              OKRA_EARG,
              "inputs of a network: expected nodes, and inertia above 0 up to 1");
    const okra_csr_ *W = &nodes->network->adjacency;
    okra_int n = s.n = nodes->network->nodes;
    CHK(okra_doubles_(context, n, n, "the network's Laplacian", &s.V));
    CHK(okra_doubles_(context, n, n, "the diffusion kernel", &s.R));
    CHK(okra_doubles_(context, n, n, "the diffusion kernel", &s.K));
    MAKE(s.w, n);
    okra_mat_fill_(okra_mat_of_(s.V, n, n), 0);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int e = W->indptr[i]; e < W->indptr[i + 1]; e++) {
            s.V[i * n + W->indices[e]] -= W->values[e];
            s.V[i * n + i] += W->values[e];
            links += W->values[e];
        }
    }
    REFUSE_IF(!(*beta > 0) && links == 0, OKRA_EARG,
              "inputs of a network: it has no edge, so that beta must be given");
    CHK(okra_eigh_(context, okra_mat_of_(s.V, n, n), s.w));
    if (!(*beta > 0)) {
        CHK(choose_beta(&s, links / (double)n, beta));
    }
    CHK(diffuse(&s, *beta));
    okra_mat_center_(okra_mat_of_(s.K, n, n), s.w);
    return components(context, n, s.K, inertia, out);
}
