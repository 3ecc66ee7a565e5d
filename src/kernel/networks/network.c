/*
 * network.c: kernels between the nodes of a network, k(i, j) = f(L)_ij.
 *
 *   diffusion             exp(-beta x)         R. Kondor and J. Lafferty, ICML 2002
 *   regularized-laplacian 1/(1 + sigma2 x)     A. Smola and R. Kondor, COLT 2003
 *   p-step                (a - x)^p, a >= every eigenvalue: the same reference
 *   commute-time          1/x, 0 for x = 0     F. Fouss et al., IEEE TKDE 19, 2007
 *
 * x are the eigenvalues of L = D - W, or with normalized=1 of I - D^-1/2 W D^-1/2. Nodes
 * of different components have similarity 0. A node without edges has L_ii = 0 in both
 * forms, so f(0) with itself: 1 for diffusion and regularized-laplacian, a^p, and 0 for
 * commute-time.
 *
 * f(L) is computed whole by eigendecomposition, or (large networks, except commute-time)
 * only its columns at the training nodes, by a Chebyshev expansion acting on them. The
 * second is taken where it is cheaper.
 */
#include "kernel/networks/network.h"

/* ---- functions of the Laplacian ---- */

/* Dense: L = U' diag(x) U, f(L) = U' diag(f(x)) U; O(nodes^3), error a few eps ||f||.
 *
 * Acting on a block X: with b >= the largest eigenvalue (Gershgorin: twice the largest
 * degree; 2 for the normalised Laplacian) and z = 2x/b - 1 in [-1, 1],
 *     f(x) = c_0/2 + sum_k c_k T_k(z),   T_k+1(z) = 2 z T_k(z) - T_k-1(z),
 * the c_k from the values of f at Chebyshev points. The error is at most the sum of the
 * |c_k| left out, for every vector of norm 1 (L. N. Trefethen, Approximation Theory and
 * Approximation Practice, 2013, theorems 3.1 and 4.2). exp(-beta x) takes about
 * 6 sqrt(beta b) terms. Columns go in groups, each on its own: same bits for any number
 * of threads. */

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

/* How many terms the expansion takes; *terms = -1: too many. */
static okra_status count_terms(const okra_network_ *network, bool normalized,
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
            okra_axpy_(GROUP, v, other, row);
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
    const action *a = arg;
    okra_int n = a->network->nodes, m = end - begin;
    OWNED double *all = NULL;
    ZMAKE(all, 3 * n * GROUP);
    double *t[3] = {all, all + n * GROUP, all + 2 * n * GROUP};
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
    return OKRA_OK;
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
        okra_scale_(n, root, L + i * n);
    }
    return okra_syrk_(ctx, true, 1, M, 0, F);
}

/* ---- kernels ---- */

enum { DENSE_NODES = 1000, CHUNK = 64 };

typedef struct network_params {
    bool normalized;
    double value; /* beta, sigma2 or a */
    okra_int p;
} network_params;

static double diffusion(const void *arg, double x)
{
    return exp(-((const network_params *)arg)->value * x);
}

static double regularized(const void *arg, double x)
{
    return 1 / (1 + ((const network_params *)arg)->value * x);
}

static double p_step(const void *arg, double x)
{
    const network_params *p = arg;
    double base = fmax(p->value - x, 0), product = 1;
    for (okra_int k = 0; k < p->p; k++) {
        product *= base;
    }
    return product;
}

static double commute(const void *arg, double x)
{
    return x > 0 ? 1 / x : 0;
}

typedef struct shared {
    const okra_data *train;
    okra_spectral_ f;
    double *F;        /* nodes x columns */
    okra_int columns; /* nodes, or training nodes without repeats */
    okra_int *column; /* by node: its column of F, or -1 */
} shared;

OKRA_FREES_(unbind, shared, it->F, it->column)
OKRA_DROPS_(drop_shared, shared, unbind)

/* Y <- the columns of f(L) at nodes list[0..m-1]. */
static okra_status columns_at(okra_context *ctx, const network_params *p,
                              okra_spectral_ f, const okra_network_ *network,
                              const okra_int *list, okra_mat_ Y)
{
    OWNED double *X = NULL;
    CHK(okra_doubles_(ctx, network->nodes, Y.cols, "unit vectors", &X));
    okra_mat_fill_(okra_mat_of_(X, network->nodes, Y.cols), 0);
    for (okra_int k = 0; k < Y.cols; k++) {
        X[list[k] * Y.cols + k] = 1;
    }
    return okra_network_apply_(ctx, network, p->normalized, f, p,
                               okra_mat_of_(X, network->nodes, Y.cols), Y, NULL);
}

/* The eigenvalues of p-step must not exceed a, or the kernel is not PSD for odd p. */
static okra_status check_p_step(const network_params *p, const okra_network_ *network)
{
    OWNED double *d = NULL;
    double largest = 0;
    CHK(degrees(network, p->normalized, &d, &largest));
    REFUSE_IF(!p->normalized && p->value < largest, OKRA_EARG,
              "kernel p-step: a = %g is less than %g, twice the largest degree; give a "
              "larger a, or normalized=1",
              p->value, largest);
    return OKRA_OK;
}

static okra_status make_columns(okra_context *ctx, const network_params *p, shared *s)
{
    const okra_network_ *network = s->train->network;
    OWNED okra_int *list = NULL;
    okra_int n = network->nodes, different = 0;
    double edges = (double)network->adjacency.indptr[n];
    MAKE(s->column, n);
    MAKE(list, s->train->n);
    for (okra_int i = 0; i < n; i++) {
        s->column[i] = -1;
    }
    for (okra_int i = 0; i < s->train->n; i++) {
        if (s->column[s->train->codes[i]] < 0) {
            s->column[s->train->codes[i]] = different;
            list[different++] = s->train->codes[i];
        }
    }
    okra_int terms = -1;
    if (n > DENSE_NODES && s->f != commute) {
        CHK(count_terms(network, p->normalized, s->f, p, &terms));
    }
    /* An eigendecomposition with its product takes some 6 n^3 operations. */
    bool sparse =
        terms > 0 && (double)terms * (edges + 4 * (double)n) * (double)different <
                         6 * (double)n * (double)n * (double)n;
    s->columns = sparse ? different : n;
    CHK(okra_doubles_(ctx, n, s->columns, "the kernel of a network", &s->F));
    okra_mat_ F = okra_mat_of_(s->F, n, s->columns);
    if (sparse) {
        CHK(columns_at(ctx, p, s->f, network, list, F));
    } else {
        okra_iota_(n, s->column);
        CHK(okra_network_dense_(ctx, network, p->normalized, s->f, p, F));
    }
    return OKRA_OK;
}

static okra_status bind_with(okra_context *ctx, const void *params, okra_spectral_ f,
                             const okra_data *train, void **out)
{
    FREED_BY(drop_shared) shared *s = NULL;
    ZMAKE(s, 1);
    s->train = train;
    s->f = f;
    if (f == p_step) {
        CHK(check_p_step(params, train->network));
    }
    CHK(make_columns(ctx, params, s));
    *out = TAKE(s);
    return OKRA_OK;
}

typedef struct side {
    const okra_data *data;
    const shared *shared;
} side;

static okra_status make_side(okra_context *ctx, const void *params, const void *arg,
                             const okra_data *data, void **out)
{
    const shared *sh = arg;
    side *s = NULL;
    REFUSE_IF(!okra_network_equal_(data->network, sh->train->network), OKRA_EARG,
              "%s holds nodes of another network than %s", data->source,
              sh->train->source);
    MAKE(s, 1);
    *s = (side){data, sh};
    *out = s;
    return OKRA_OK;
}

static double pair(const void *params, const void *pa, okra_int i, const void *pb,
                   okra_int j)
{
    const side *a = pa, *b = pb;
    const shared *s = b->shared;
    return s->F[a->data->codes[i] * s->columns + s->column[b->data->codes[j]]];
}

/* f(L)_ii; of nodes whose column is not kept a chunk of columns at a time. */
static okra_status diagonal(okra_context *ctx, const void *params, const void *pa,
                            okra_int n, double *out)
{
    const side *s = pa;
    const okra_network_ *network = s->data->network;
    okra_int list[CHUNK], place[CHUNK], count = 0;
    OWNED double *Y = NULL;
    CHK(okra_doubles_(ctx, network->nodes, CHUNK, "columns of a network kernel", &Y));
    for (okra_int i = 0; i <= n; i++) {
        if (count == CHUNK || (i == n && count > 0)) {
            okra_mat_ block = okra_mat_of_(Y, network->nodes, count);
            CHK(columns_at(ctx, params, s->shared->f, network, list, block));
            for (okra_int k = 0; k < count; k++) {
                out[place[k]] = Y[list[k] * count + k];
            }
            count = 0;
        }
        if (i == n) {
            break;
        }
        okra_int node = s->data->codes[i], column = s->shared->column[node];
        if (column < 0) {
            list[count] = node;
            place[count++] = i;
        } else {
            out[i] = s->shared->F[node * s->shared->columns + column];
        }
    }
    return OKRA_OK;
}

/* ---- the classes ---- */

#define BIND(f)                                                        \
    static okra_status bind_##f(okra_context *ctx, const void *params, \
                                const okra_data *train, void **out)    \
    {                                                                  \
        return bind_with(ctx, params, f, train, out);                  \
    }
BIND(diffusion)
BIND(regularized)
BIND(p_step)
BIND(commute)

/* clang-format off */
#define NORMALIZED(preset)                                                             \
    {"normalized", OKRA_OPTION_BOOL, offsetof(network_params, normalized), preset, 0, 1, \
     NULL, "0|1", "use the normalised Laplacian"}
#define VALUE(name, preset, low, help)                                                 \
    {name, OKRA_OPTION_NUMBER, offsetof(network_params, value), preset, low, DBL_MAX,    \
     NULL, "V", help}
#define NETWORK_CLASS(symbol, title, about, rows, f, rule)                             \
    const okra_kernel_class_ symbol = {.name = title, .help = about,                   \
        .params = {title, rows, sizeof(network_params)}, .kinds = 1u << OKRA_NODES,    \
        .automatic = OKRA_RULE_##rule,                                                 \
        .bind = bind_##f, .unbind = unbind, .side = make_side,                         \
        .free_side = okra_free_, .pair = pair, .diagonal = diagonal}
/* clang-format on */

static const okra_option diffusion_rows[] = {
    VALUE("beta", "1", 0, "time of the diffusion"), NORMALIZED("0"), {.name = NULL}};
static const okra_option regularized_rows[] = {
    VALUE("sigma2", "1", 0, "weight of the Laplacian"), NORMALIZED("0"), {.name = NULL}};
static const okra_option p_step_rows[] = {
    VALUE("a", "2", 2, "at least every eigenvalue of the Laplacian"),
    {"p", OKRA_OPTION_INT, offsetof(network_params, p), "1", 1, 1000, NULL, "N", "steps"},
    NORMALIZED("1"),
    {.name = NULL}};
static const okra_option commute_rows[] = {NORMALIZED("0"), {.name = NULL}};

NETWORK_CLASS(okra_diffusion_, "diffusion", "exp(-beta L) between nodes of a network",
              diffusion_rows, diffusion, INFORMATION_);
NETWORK_CLASS(okra_regularized_laplacian_, "regularized-laplacian",
              "inverse of 1 + sigma2 L, of nodes", regularized_rows, regularized,
              INFORMATION_);
NETWORK_CLASS(okra_p_step_, "p-step", "(a - L)^p, random walks of p steps, of nodes",
              p_step_rows, p_step, NONE_);
NETWORK_CLASS(okra_commute_time_, "commute-time",
              "pseudo-inverse of L, whose distances are commute times, of nodes",
              commute_rows, commute, NONE_);
