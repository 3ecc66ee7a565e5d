/*
 * auto.c: numbers of a kernel expression chosen from the data, where `auto` stands.
 *
 *   rbf sigma, gamma   median heuristic: sigma is the median distance of two objects in
 *                      the feature space of the kernel before rbf, gamma = 1/(2 sigma^2)
 *   the same with      kernel alignment (Weston et al. 2003 sec. 4.3): k-means in that
 *   auto-align[/K]     feature space gives K clusters (30), T_ij = 1 within one; sigma is
 *                      where A(K_sigma, T) = <K_sigma,T>/sqrt(<K_sigma,K_sigma><T,T>) is
 *                      largest, among 10^(-2..1) times the median, then by golden section
 *   laplacian gamma    one over the median of the distances |x-y|_1
 *   diffusion beta,    information: of 41 values from 0.1 to 1000, log-spaced, over the
 *   regularized-       mean degree (1 if normalized) the one whose similarities have the
 *   laplacian sigma2   largest entropy (information.c); as okra_link_beta
 *
 * Distances of 0 (repeated objects) are left out of the medians. At most SAMPLE objects,
 * evenly spaced in the collection, are looked at: O(SAMPLE^2) memory. k-means starts from
 * the context's seed.
 */
#include "kernel/expression/expr.h"
#include "kernel/networks/information.h"
#include "kernel/expression/parse.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE = 1000, CLUSTERS = 30, ROUNDS = 100 };

typedef struct choice {
    okra_context *ctx;
    const okra_data *data;
    const char *owner, *param, *value; /* of the place: "rbf", "sigma", "auto" */
} choice;

/* Gram matrix of a sample under the nodes up to `root`. */
static okra_status sample_gram(const choice *c, const okra_kernel *kernel, int root,
                               double **K, okra_int *n)
{
    OWNED okra_int *index = NULL;
    okra_int all = okra_data_count(c->data);
    okra_kernel part = *kernel;
    FREED_BY(okra_data_drop_) okra_data *some = NULL;
    FREED_BY(okra_bound_drop_) okra_bound_ *bound = NULL;
    part.count = root + 1; /* children come before parents */
    *n = OKRA_MIN_(all, SAMPLE);
    MAKE(index, *n);
    for (okra_int i = 0; i < *n; i++) {
        index[i] = i * all / *n;
    }
    if (*n < all && okra_data_kind(c->data) != OKRA_GRAM) {
        CHK(okra_data_take(c->data, index, *n, &some));
    } else {
        *n = all;
    }
    CHK(okra_bound_create_(c->ctx, &part, some ? some : c->data, &bound));
    CHK(okra_doubles_(c->ctx, *n, *n, "a sample of the Gram matrix", K));
    return okra_bound_gram_(c->ctx, bound, okra_mat_of_(*K, *n, *n));
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Median of the positive values above the diagonal. */
static okra_status median(okra_int n, const double *D, double *out)
{
    OWNED double *values = NULL;
    okra_int count = 0;
    MAKE(values, n * (n - 1) / 2);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = i + 1; j < n; j++) {
            if (D[i * n + j] > 0) {
                values[count++] = D[i * n + j];
            }
        }
    }
    if (count == 0) {
        return okra_fail_(OKRA_EARG,
                          "auto: all objects are alike, so that no width fits them");
    }
    qsort(values, (size_t)count, sizeof *values, ascending);
    *out = (values[(count - 1) / 2] + values[count / 2]) / 2;
    return OKRA_OK;
}

/* ---- kernel alignment ---- */

/* Lloyd's k-means in feature space from squared distances D: |x - m_c|^2 is the mean of
 * D over the cluster less half the mean of D within it. */
static okra_status cluster(okra_context *ctx, okra_int n, const double *D, okra_int k,
                           okra_int *label)
{
    okra_random_ random = okra_random_create_(okra_context_seed(ctx), 0xc105);
    OWNED double *to = NULL, *within = NULL;
    OWNED okra_int *order = NULL, *size = NULL;
    MAKE(order, n);
    MAKE(size, k);
    MAKE(within, k);
    CHK(okra_doubles_(ctx, n, k, "distances to clusters", &to));
    for (okra_int i = 0; i < n; i++) {
        order[i] = i;
    }
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
            size[label[i]]++;
            for (okra_int j = 0; j < n; j++) {
                to[i * k + label[j]] += D[i * n + j];
            }
            within[label[i]] += to[i * k + label[i]];
        }
        for (okra_int i = 0; i < n; i++) {
            okra_int best = label[i];
            double least = (double)INFINITY;
            for (okra_int c = 0; c < k; c++) {
                double m = (double)size[c];
                double d = size[c] ? to[i * k + c] / m - within[c] / (2 * m * m)
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

static double alignment(okra_int n, const double *D, const okra_int *label, double sigma)
{
    double both = 0, own = 0, target = 0;
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            double k = exp(-D[i * n + j] / (2 * sigma * sigma));
            bool same = label[i] == label[j];
            both += same ? k : 0;
            own += k * k;
            target += same;
        }
    }
    return both / sqrt(own * target);
}

static okra_status align(const choice *c, okra_int n, const double *D, double middle,
                         double *sigma)
{
    enum { STEPS = 31, GOLDEN = 20 };
    OWNED okra_int *label = NULL;
    const char *slash = strchr(c->value, '/');
    okra_int k = slash ? atoll(slash + 1) : CLUSTERS;
    double best = -1, at = 0;
    if (k < 1 || k > n) {
        return okra_fail_(OKRA_EARG, "%s: %lld clusters are asked of %lld objects",
                          c->value, (long long)k, (long long)n);
    }
    MAKE(label, n);
    CHK(cluster(c->ctx, n, D, k, label));
    for (int s = 0; s < STEPS; s++) {
        double log10_share = -2 + 3.0 * s / (STEPS - 1);
        double a = alignment(n, D, label, middle * pow(10, log10_share));
        if (a > best) {
            best = a;
            at = log10_share;
        }
    }
    double low = at - 0.1, high = at + 0.1, ratio = (sqrt(5) - 1) / 2;
    for (int g = 0; g < GOLDEN; g++) {
        double p = high - ratio * (high - low), q = low + ratio * (high - low);
        if (alignment(n, D, label, middle * pow(10, p)) >
            alignment(n, D, label, middle * pow(10, q))) {
            high = q;
        } else {
            low = p;
        }
    }
    *sigma = middle * pow(10, (low + high) / 2);
    return OKRA_OK;
}

/* ---- the rules ---- */

static okra_status rbf_width(const choice *c, const okra_kernel *kernel, int node,
                             double *out)
{
    OWNED double *D = NULL, *self = NULL;
    double middle, sigma;
    okra_int n;
    CHK(sample_gram(c, kernel, kernel->nodes[node].a, &D, &n));
    MAKE(self, n);
    for (okra_int i = 0; i < n; i++) {
        self[i] = D[i * (n + 1)];
    }
    for (okra_int i = 0; i < n * n; i++) {
        D[i] = fmax(0, self[i / n] + self[i % n] - 2 * D[i]);
    }
    CHK(median(n, D, &middle));
    sigma = sqrt(middle);
    if (strncmp(c->value, "auto-align", 10) == 0) {
        CHK(align(c, n, D, sigma, &sigma));
    }
    *out = *c->param == 's' ? sigma : 0.5 / sigma / sigma;
    return OKRA_OK;
}

/* k = exp(-g d): d from a g small enough that nothing vanishes. */
static okra_status laplacian_width(const choice *c, okra_kernel *kernel, int node,
                                   double *out)
{
    OWNED double *K = NULL;
    double middle = 0;
    okra_int n;
    double *gamma = (double *)kernel->nodes[node].params; /* its only parameter */
    for (*gamma = 1; *gamma > 1e-30; *gamma /= 1000) {
        okra_free_(K);
        K = NULL;
        CHK(sample_gram(c, kernel, node, &K, &n));
        double least = 1;
        for (okra_int i = 0; i < n * n; i++) {
            least = fmin(least, K[i]);
            K[i] = -log(K[i]);
        }
        if (least > 1e-100) {
            break;
        }
    }
    CHK(median(n, K, &middle));
    *out = *gamma / middle;
    return OKRA_OK;
}

/* The mean degree of the network, 1 if its Laplacian is normalized: 1/d is the scale of
 * times of diffusion, as in link/beta.c. */
static double mean_degree(const okra_data *data, const okra_kernel *kernel, int node)
{
    const okra_option_table *table = &kernel->nodes[node].leaf->params;
    const okra_option *row = okra_option_find_(table, "normalized", 10);
    const char *fields = kernel->nodes[node].params;
    double sum = 0;
    if (!data->network || (row && *(const bool *)(fields + row->offset))) {
        return 1;
    }
    const okra_csr_ *w = &data->network->adjacency;
    for (okra_int k = 0; k < w->indptr[data->network->nodes]; k++) {
        sum += w->values[k];
    }
    return sum > 0 ? sum / (double)data->network->nodes : 1;
}

static okra_status information(const choice *c, okra_kernel *kernel, int node,
                               double *out)
{
    enum { STEPS = 41 };
    const okra_option_table *table = &kernel->nodes[node].leaf->params;
    const okra_option *row = okra_option_find_(table, c->param, strlen(c->param));
    double *field = (double *)(void *)((char *)kernel->nodes[node].params + row->offset);
    OWNED double *K = NULL, *self = NULL;
    double best = -1, degree = mean_degree(c->data, kernel, node);
    okra_int n;
    MAKE(self, okra_data_count(c->data));
    for (int s = 0; s < STEPS; s++) {
        *field = pow(10, -1 + 0.1 * s) / degree;
        CHK(sample_gram(c, kernel, node, &K, &n));
        for (okra_int i = 0; i < n; i++) {
            self[i] = K[i * (n + 1)];
        }
        double e = okra_similarity_entropy_(okra_mat_of_(K, n, n), self);
        if (e > best) {
            best = e;
            *out = *field;
        }
        okra_free_(K);
        K = NULL;
    }
    return OKRA_OK;
}

static okra_status choose(const choice *c, okra_kernel *kernel, int node, double *out)
{
    bool plain = strcmp(c->value, "auto") == 0;
    bool leaf = kernel->nodes[node].kind == OKRA_NODE_LEAF_;
    if (!leaf && strcmp(c->owner, "rbf") == 0) {
        return rbf_width(c, kernel, node, out);
    }
    if (leaf && plain && strcmp(c->owner, "laplacian") == 0) {
        return laplacian_width(c, kernel, node, out);
    }
    if (leaf && plain &&
        (strcmp(c->param, "beta") == 0 || strcmp(c->param, "sigma2") == 0)) {
        return information(c, kernel, node, out);
    }
    return okra_fail_(OKRA_EARG,
                      "%s: there is no rule for %s=%s; auto chooses sigma and gamma of "
                      "rbf (also auto-align, auto-align/K), gamma of laplacian, beta of "
                      "diffusion, sigma2 of regularized-laplacian",
                      c->owner, c->param, c->value);
}

/* ---- the text ---- */

static bool is_auto(const char *value)
{
    return strncmp(value, "auto", 4) == 0;
}

/* The kernel that holds the node of that serial number, itself or the expression before a
 * factor of low rank, and the data that it sees; NULL: there is none. */
static okra_kernel *find(okra_kernel *kernel, int serial, int *node,
                         const okra_data **data)
{
    okra_kernel *found = NULL;
    for (int k = 0; k < kernel->count && !found; k++) {
        const okra_node_ *at = &kernel->nodes[k];
        if (at->serial == serial) {
            *node = k;
            found = kernel;
        } else if (at->leaf && at->leaf->whole) {
            const okra_data *part = *data;
            part = at->component && part->kind == OKRA_TUPLE &&
                           at->component <= part->component_count
                       ? part->components[at->component - 1]
                       : part;
            found = find(*(okra_kernel **)at->params, serial, node, &part);
            *data = found ? part : *data;
        }
    }
    return found;
}

/* The first auto of the text becomes a number; later ones stand for 1 meanwhile. */
static okra_status choose_first(okra_context *ctx, const okra_data *data,
                                okra_grid_ *grid, char **out, bool *found)
{
    okra_status st = OKRA_OK;
    okra_int places = okra_grid_places_(grid), first = -1;
    const char **chosen = NULL, *const * values;
    char *trial = NULL, number[32];
    okra_kernel *kernel = NULL;
    ALLOC(chosen, places);
    for (okra_int p = 0; p < places; p++) {
        if (okra_grid_place_(grid, p, &values) > 1) {
            FAIL(OKRA_EARG, "a kernel with auto holds a grid of values too");
        }
        chosen[p] = is_auto(values[0]) ? "1" : values[0];
        first = first < 0 && is_auto(values[0]) ? p : first;
    }
    *found = first >= 0;
    if (!*found) {
        goto done;
    }
    TRY(okra_grid_build_(grid, chosen, &trial));
    TRY(okra_kernel_parse(trial, &kernel));
    okra_grid_place_(grid, first, &values);
    choice c = {.ctx = ctx, .data = data, .value = values[0]};
    int node, serial = okra_grid_owner_(grid, first, &c.owner, &c.param);
    okra_kernel *holder = find(kernel, serial, &node, &c.data);
    if (!holder || !holder->nodes[node].params) {
        FAIL(OKRA_EARG, "auto stands for a factor; it chooses parameters of kernels");
    }
    double value = 0;
    TRY(choose(&c, holder, node, &value));
    snprintf(number, sizeof number, "%.6g", value);
    for (okra_int p = 0; p < places; p++) {
        okra_grid_place_(grid, p, &values);
        chosen[p] = p == first ? number : values[0];
    }
    TRY(okra_grid_build_(grid, chosen, out));
done:
    okra_kernel_free(kernel);
    okra_free_(trial);
    okra_free_(chosen);
    return st;
}

okra_status okra_kernel_auto_(okra_context *ctx, const char *text, const okra_data *data,
                              char **out)
{
    okra_status st = OKRA_OK;
    okra_grid_ *grid = NULL;
    char *now = okra_strdup_(text), *next = NULL;
    bool found = now && strstr(text, "auto");
    if (!now) {
        return OKRA_EMEM;
    }
    while (found) {
        TRY(okra_grid_parse_(now, &grid));
        TRY(choose_first(ctx, data, grid, &next, &found));
        okra_grid_free_(grid);
        grid = NULL;
        if (found) {
            okra_free_(now);
            now = next;
            next = NULL;
        }
    }
    *out = now;
    now = NULL;
done:
    okra_grid_free_(grid);
    okra_free_(now);
    return st;
}

okra_status okra_kernel_choose(okra_context *context, const char *text,
                               const okra_data *data, okra_kernel **out)
{
    NOT_NULL(text);
    char *numbers = NULL;
    okra_status st = okra_kernel_auto_(context, text, data, &numbers);
    st = st == OKRA_OK ? okra_kernel_parse(numbers, out) : st;
    okra_free_(numbers);
    return st;
}
