/*
 * auto.c: numbers of a kernel expression chosen from the data, where `auto` stands.
 *
 *   rbf sigma, gamma   median heuristic: sigma is the median distance of two objects in
 *                      the feature space of the kernel before rbf, gamma = 1/(2 sigma^2)
 *   the same with      kernel alignment, below
 *   auto-align[/K]
 *   laplacian gamma    one over the median of the distances |x-y|_1
 *   diffusion beta,    information: of 41 values from 0.1 to 1000, log-spaced, over the
 *   regularized-       mean degree (1 if normalized) the one whose similarities have the
 *   laplacian sigma2   largest entropy (information.c); as okra_link_beta
 *
 * Distances of 0 (repeated objects) are left out of the medians. At most SAMPLE objects,
 * evenly spaced in the collection, are looked at: O(SAMPLE^2) memory. An object of weight
 * u counts as u objects at one place.
 */
#include "kernel/expression/expr.h"
#include "kernel/networks/network.h"
#include "kernel/positions/position.h"

/* ---- alignment ---- */

/* A width of rbf by kernel alignment (Weston et al. 2003 sec. 4.3), where
 * auto-align or auto-align/K stands.
 *
 * k-means in the feature space before rbf gives K clusters (30), T_ij = 1 within one;
 * sigma is where A(K_sigma, T) = <K_sigma,T>/sqrt(<K_sigma,K_sigma><T,T>) is largest,
 * among 10^(-2..1) times the median distance, then by golden section. k-means starts from
 * the context's seed. An object of weight u counts as u objects at one place. Cost: n^2
 * exponentials for each sigma. */

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

/* sigma of auto-align or auto-align/K (`value`) from the squared distances D of `some`
 * objects, around their median `middle`. */
static okra_status align_sigma(okra_context *ctx, const char *value,
                               const okra_data *some, const double *D, double middle,
                               double *sigma)
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

enum { SAMPLE = 1000 };

/* Of k(a,a) + k(b,b) - 2 k(a,b) this much of the first two says nothing: sums of
 * thousands of products in another order differ by less. */
static const double ROUNDING = 100 * DBL_EPSILON;

typedef struct choice {
    okra_context *ctx;
    const okra_data *data;
    const char *owner, *param, *value; /* of the place: "rbf", "sigma", "auto" */
} choice;

/* The objects that are looked at. Those with weights are met where their copies would
 * lie, and weigh as many as are met. */
static okra_status sample(const okra_data *all, okra_data **out)
{
    OWNED okra_int *index = NULL;
    OWNED double *times = NULL;
    FREED_BY(okra_data_drop_) okra_data *some = NULL;
    double total = okra_weights_total_(all), reached = 0;
    okra_int row = -1, n = 0;
    if (all->kind == OKRA_GRAM || (all->n <= SAMPLE && total <= SAMPLE)) {
        *out = okra_data_retain(all);
        return OKRA_OK;
    }
    MAKE(index, SAMPLE);
    ZMAKE(times, SAMPLE);
    for (okra_int i = 0; i < SAMPLE; i++) {
        while (row < 0 || (reached <= (double)i * total / SAMPLE && row + 1 < all->n)) {
            reached += okra_weight_(all, ++row);
        }
        n += n == 0 || index[n - 1] != row;
        index[n - 1] = row;
        times[n - 1]++;
    }
    CHK(okra_data_take(all, index, n, &some));
    return okra_data_weigh(some, all->weights ? times : NULL, n, out);
}

/* Gram matrix of a sample under the nodes up to `root`, and the sample. */
static okra_status sample_gram(const choice *c, const okra_kernel *kernel, int root,
                               double **K, okra_data **some)
{
    okra_kernel part = *kernel;
    FREED_BY(okra_trained_kernel_drop_) okra_trained_kernel_ *bound = NULL;
    part.count = root + 1; /* children come before parents */
    okra_data_free(*some);
    *some = NULL;
    CHK(sample(c->data, some));
    okra_int n = (*some)->n;
    CHK(okra_trained_kernel_create_(c->ctx, &part, *some, &bound));
    CHK(okra_doubles_(c->ctx, n, n, "a sample of the Gram matrix", K));
    return okra_trained_kernel_gram_(c->ctx, bound, okra_mat_of_(*K, n, n));
}

typedef struct distance {
    double value, times;
} distance;

OKRA_ORDER_(ascending, distance, OKRA_UP_(value))

/* The least value that at least (`strictly`: more than) half of all do not exceed. */
static double half_way(const distance *sorted, okra_int count, double half, bool strictly)
{
    double below = sorted[0].times;
    okra_int k = 0;
    while (k + 1 < count && (strictly ? below <= half : below < half)) {
        below += sorted[++k].times;
    }
    return sorted[k].value;
}

/* A power of 2 that brings the largest weight to 1..2: nothing is rounded by it, and no
 * product overflows, or vanishes beside another. */
static double unit_of(const okra_data *some)
{
    double most = 0;
    for (okra_int i = 0; i < some->n; i++) {
        most = fmax(most, okra_weight_(some, i));
    }
    return ldexp(1, -OKRA_MIN_(OKRA_MAX_(ilogb(most), -1000), 1000));
}

/* Median of the positive values above the diagonal, of i and j taken u_i u_j times. */
static okra_status median(const okra_data *some, const double *D, double *out)
{
    OWNED distance *all = NULL;
    okra_int count = 0, n = some->n;
    double total = 0, unit = unit_of(some);
    MAKE(all, n * (n - 1) / 2);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = i + 1; j < n; j++) {
            double times = unit * okra_weight_(some, i) * (unit * okra_weight_(some, j));
            if (D[i * n + j] > 0 && times > 0) {
                all[count++] = (distance){D[i * n + j], times};
            }
        }
    }
    REFUSE_IF(count == 0, OKRA_EARG,
              "auto: all objects are equal, so that no width fits them");
    qsort(all, (size_t)count, sizeof *all, ascending);
    for (okra_int k = 0; k < count; k++) {
        total += all[k].times;
    }
    *out =
        (half_way(all, count, total / 2, false) + half_way(all, count, total / 2, true)) /
        2;
    return OKRA_OK;
}

/* ---- the rules ---- */

static okra_status rbf_width(const choice *c, const okra_kernel *kernel, int node,
                             double *out)
{
    OWNED double *D = NULL, *self = NULL;
    FREED_BY(okra_data_drop_) okra_data *some = NULL;
    double middle, sigma;
    CHK(sample_gram(c, kernel, kernel->nodes[node].a, &D, &some));
    okra_int n = some->n;
    MAKE(self, n);
    for (okra_int i = 0; i < n; i++) {
        self[i] = D[i * (n + 1)];
    }
    for (okra_int i = 0; i < n * n; i++) {
        double both = self[i / n] + self[i % n], d2 = both - 2 * D[i];
        D[i] = d2 > ROUNDING * both ? d2 : 0; /* repeated objects are at 0, not near it */
    }
    CHK(median(some, D, &middle));
    sigma = sqrt(middle);
    if (strncmp(c->value, "auto-align", 10) == 0) {
        CHK(align_sigma(c->ctx, c->value, some, D, sigma, &sigma));
    }
    *out = *c->param == 's' ? sigma : 0.5 / sigma / sigma;
    return OKRA_OK;
}

/* k = exp(-g d): d from a g small enough that nothing vanishes. */
static okra_status laplacian_width(const choice *c, okra_kernel *kernel, int node,
                                   double *out)
{
    OWNED double *K = NULL;
    FREED_BY(okra_data_drop_) okra_data *some = NULL;
    double middle = 0;
    double *gamma = (double *)kernel->nodes[node].params; /* its only parameter */
    for (*gamma = 1; *gamma > 1e-30; *gamma /= 1000) {
        okra_free_(K);
        K = NULL;
        CHK(sample_gram(c, kernel, node, &K, &some));
        double least = 1;
        for (okra_int i = 0; i < some->n * some->n; i++) {
            least = fmin(least, K[i]);
            K[i] = -log(K[i]);
        }
        if (least > 1e-100) {
            break;
        }
    }
    CHK(median(some, K, &middle));
    *out = *gamma / middle;
    return OKRA_OK;
}

/* The mean degree of the network, 1 if its Laplacian is normalized: 1/d is the scale of
 * times of diffusion, as in link/fit.c. */
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
    sum = okra_total_(w->indptr[data->network->nodes], w->values);
    return sum > 0 ? sum / (double)data->network->nodes : 1;
}

/* As okra_similarity_entropy_; objects with weights make u_i u_j pairs, and the copies of
 * i u_i (u_i - 1) / 2 of similarity 1. */
static okra_status entropy(const okra_data *some, const double *K, double *out)
{
    okra_int n = some->n, count = 0;
    OWNED double *value = NULL, *times = NULL;
    double low = (double)INFINITY, high = -(double)INFINITY;
    MAKE(value, n * (n + 1) / 2);
    MAKE(times, n * (n + 1) / 2);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = i; j < n; j++) {
            double u = fmin(okra_weight_(some, i), 1e100),
                   v = fmin(okra_weight_(some, j), 1e100);
            value[count] = i == j ? 1 : K[i * n + j] / sqrt(K[i * n + i] * K[j * n + j]);
            times[count] = i == j ? fmax(u * (u - 1) / 2, 0) : u * v;
            low = times[count] > 0 ? fmin(low, value[count]) : low;
            high = times[count] > 0 ? fmax(high, value[count]) : high;
            count += times[count] > 0;
        }
    }
    *out = high > low ? okra_entropy_(OKRA_BINS_, count, value, times, low, high) : 0;
    return OKRA_OK;
}

static okra_status information(const choice *c, okra_kernel *kernel, int node,
                               double *out)
{
    enum { STEPS = 41 };
    const okra_option_table *table = &kernel->nodes[node].leaf->params;
    const okra_option *row = okra_option_find_(table, c->param, strlen(c->param));
    double *field = (double *)(void *)((char *)kernel->nodes[node].params + row->offset);
    OWNED double *K = NULL;
    FREED_BY(okra_data_drop_) okra_data *some = NULL;
    double best = -1, degree = mean_degree(c->data, kernel, node);
    for (int s = 0; s < STEPS; s++) {
        *field = pow(10, -1 + 0.1 * s) / degree;
        CHK(sample_gram(c, kernel, node, &K, &some));
        double e = 0;
        CHK(entropy(some, K, &e));
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
    const okra_node_ *at = &kernel->nodes[node];
    bool plain = strcmp(c->value, "auto") == 0, leaf = at->kind == OKRA_NODE_LEAF_;
    const okra_option *row = okra_option_find_(
        leaf ? &at->leaf->params : &at->transform->params, c->param, strlen(c->param));
    okra_number_rule_ rule = leaf ? at->leaf->automatic : at->transform->automatic;
    switch (row && row->type == OKRA_OPTION_NUMBER ? rule : OKRA_RULE_NONE_) {
    case OKRA_RULE_DISTANCE_:
        return rbf_width(c, kernel, node, out);
    case OKRA_RULE_EXPONENT_:
        if (plain) {
            return laplacian_width(c, kernel, node, out);
        }
        break;
    case OKRA_RULE_INFORMATION_:
        if (plain) {
            return information(c, kernel, node, out);
        }
        break;
    case OKRA_RULE_NONE_:
        break;
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
        } else if (at->leaf == &okra_bag_ && (*data)->kind == OKRA_BAGS) {
            const okra_data *members = (*data)->components[0];
            found = find(*(okra_kernel **)at->params, serial, node, &members);
            *data = found ? members : *data;
        }
    }
    return found;
}

/* The first auto of the text becomes a number; later ones stand for 1 meanwhile. */
static okra_status choose_first(okra_context *ctx, const okra_data *data,
                                okra_grid_ *grid, char **out, bool *found)
{
    okra_int places = grid->count, first = -1;
    OWNED const char **chosen = NULL;
    OWNED char *trial = NULL;
    char number[32];
    FREED_BY(okra_kernel_drop_) okra_kernel *kernel = NULL;
    MAKE(chosen, places);
    for (okra_int p = 0; p < places; p++) {
        const okra_grid_axis_ *axis = &grid->axes[p];
        REFUSE_IF(axis->count > 1, OKRA_EARG,
                  "a kernel with auto holds a grid of values too");
        chosen[p] = is_auto(axis->values[0]) ? "1" : axis->values[0];
        first = first < 0 && is_auto(axis->values[0]) ? p : first;
    }
    *found = first >= 0;
    if (!*found) {
        return OKRA_OK;
    }
    CHK(okra_grid_build_(grid, chosen, &trial));
    CHK(okra_kernel_parse(trial, &kernel));
    const okra_grid_axis_ *at = &grid->axes[first];
    choice c = {ctx, data, at->owner, at->param, at->values[0]};
    int node;
    okra_kernel *holder = find(kernel, at->node, &node, &c.data);
    REFUSE_IF(!holder || !holder->nodes[node].params, OKRA_EARG,
              "auto stands for a factor; it chooses parameters of kernels");
    double value = 0;
    CHK(choose(&c, holder, node, &value));
    snprintf(number, sizeof number, "%.6g", value);
    for (okra_int p = 0; p < places; p++) {
        chosen[p] = p == first ? number : grid->axes[p].values[0];
    }
    return okra_grid_build_(grid, chosen, out);
}

okra_status okra_kernel_auto_(okra_context *ctx, const char *text, const okra_data *data,
                              char **out)
{
    FREED_BY(okra_grid_drop_) okra_grid_ *grid = NULL;
    OWNED char *now = okra_strdup_(text);
    char *next = NULL;
    bool found = now && strstr(text, "auto");
    GOT(now);
    while (found) {
        CHK(okra_grid_parse_(now, &grid));
        CHK(choose_first(ctx, data, grid, &next, &found));
        okra_grid_free_(grid);
        grid = NULL;
        if (found) {
            okra_free_(now);
            now = TAKE(next);
        }
    }
    *out = TAKE(now);
    return OKRA_OK;
}

okra_status okra_kernel_choose(okra_context *context, const char *text,
                               const okra_data *data, okra_kernel **out)
{
    NOT_NULL(text, data, out);
    OWNED char *numbers = NULL;
    CHK(okra_kernel_auto_(context, text, data, &numbers));
    return okra_kernel_parse(numbers, out);
}
