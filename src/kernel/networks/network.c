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
 * only its columns at the training nodes, by a Chebyshev expansion acting on them; see
 * network_apply.c for cost and accuracy. The second is taken where it is cheaper.
 */
#include "kernel/networks/network.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

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
    (void)arg;
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
    double largest = 0;
    const okra_csr_ *w = &network->adjacency;
    for (okra_int i = 0; i < network->nodes && !p->normalized; i++) {
        double degree = 0;
        for (okra_int k = w->indptr[i]; k < w->indptr[i + 1]; k++) {
            degree += w->values[k];
        }
        largest = fmax(largest, 2 * degree);
    }
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
        CHK(okra_network_terms_(network, p->normalized, s->f, p, &terms));
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
    double *self; /* n */
} side;

OKRA_FREES_(free_side, side, it->self)
OKRA_DROPS_(drop_side, side, free_side)

/* f(L)_ii of nodes whose column is not kept, a chunk of columns at a time. */
static okra_status missing_self(okra_context *ctx, const network_params *p, const side *s)
{
    const okra_network_ *network = s->data->network;
    okra_int list[CHUNK], place[CHUNK], count = 0;
    OWNED double *Y = NULL;
    CHK(okra_doubles_(ctx, network->nodes, CHUNK, "columns of a network kernel", &Y));
    for (okra_int i = 0; i <= s->data->n; i++) {
        if (count == CHUNK || (i == s->data->n && count > 0)) {
            okra_mat_ block = okra_mat_of_(Y, network->nodes, count);
            CHK(columns_at(ctx, p, s->shared->f, network, list, block));
            for (okra_int k = 0; k < count; k++) {
                s->self[place[k]] = Y[list[k] * count + k];
            }
            count = 0;
        }
        if (i < s->data->n && s->shared->column[s->data->codes[i]] < 0) {
            list[count] = s->data->codes[i];
            place[count++] = i;
        }
    }
    return OKRA_OK;
}

static okra_status make_side(okra_context *ctx, const void *params, const void *arg,
                             const okra_data *data, void **out)
{
    const shared *sh = arg;
    FREED_BY(drop_side) side *s = NULL;
    REFUSE_IF(!okra_network_equal_(data->network, sh->train->network), OKRA_EARG,
              "%s holds nodes of another network than %s", data->source,
              sh->train->source);
    ZMAKE(s, 1);
    s->data = data;
    s->shared = sh;
    MAKE(s->self, data->n);
    for (okra_int i = 0; i < data->n; i++) {
        okra_int column = sh->column[data->codes[i]];
        s->self[i] = column < 0 ? 0 : sh->F[data->codes[i] * sh->columns + column];
    }
    CHK(missing_self(ctx, params, s));
    *out = TAKE(s);
    return OKRA_OK;
}

static okra_status block(okra_context *ctx, const void *params, const void *pa,
                         okra_int i0, okra_int ni, const void *pb, okra_int j0,
                         okra_int nj, double *out, okra_int ld)
{
    const side *a = pa, *b = pb;
    const shared *s = b->shared;
    (void)ctx, (void)params;
    for (okra_int r = 0; r < ni; r++) {
        const double *row = s->F + a->data->codes[i0 + r] * s->columns;
        for (okra_int c = 0; c < nj; c++) {
            out[r * ld + c] = row[s->column[b->data->codes[j0 + c]]];
        }
    }
    return OKRA_OK;
}

static okra_status diagonal(okra_context *ctx, const void *params, const void *pa,
                            okra_int n, double *out)
{
    const side *s = pa;
    (void)ctx, (void)params;
    for (okra_int i = 0; i < n; i++) {
        out[i] = s->self[i];
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
        .free_side = free_side, .block = block, .diagonal = diagonal}
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
