/*
 * tgp.c: twin Gaussian processes (Bo and Sminchisescu 2010): the output y of x is the one
 * that makes the Gram matrices of inputs and outputs, both bordered by the new pair, most
 * similar. Which y that is, decoders find (method.h: okra_criterion_); what they need of
 * x is computed here.
 *
 * tgp-kl, the Kullback-Leibler divergence of the two processes (Tonde and Elgammal, eq.
 * 13):
 *     u = (K + lambda I)^-1 k_x,  eta = k(x,x) + lambda - k_x'u,
 *     v(y) = l(y,y) + lambda_y - l_y'(L + lambda_y I)^-1 l_y,
 *     J(y) = l(y,y) - 2 u'l_y - eta log v(y)
 *
 * tgp-hsic, tr(K' H L'(y) H) of the bordered matrices K', L' (eq. 14). With A = H K' H
 * only its border meets y, a_i = A_i,n+1 and a_0 its corner:
 *     A_ij = K'_ij - R_i/N - R_j/N + T/N^2,  R row sums, T their sum, N = n + 1,
 *     J(y) = -a_0 l(y,y) - 2 a'l_y
 *
 * The weights of a prediction are u, or a. With neighbours M each query has a training
 * set of its own, the M nearest inputs in feature space, and K is kept whole so that its
 * blocks only have to be gathered.
 *
 * Cost of a query: 2 n^2 (kl), 5 n (hsic); with neighbours M^3/3 + 2 M^2 (kl), M^2 (hsic)
 * and the search. A fit: n^3/3 (kl), n^2 (hsic), nothing but K with neighbours. The model
 * holds an n x n matrix; hsic without neighbours n numbers.
 */
#include "method/method.h"

typedef struct kl_options {
    double lambda, lambda_y;
    okra_int neighbours;
} kl_options;

typedef struct hsic_options {
    okra_int neighbours;
} hsic_options;

#define NEIGHBOURS(fields)                                                               \
    {                                                                                    \
        "neighbours", OKRA_OPTION_INT, offsetof(fields, neighbours), "0", 0, 9e15, NULL, \
            "M", "nearest training inputs that a prediction is made from; 0: all"        \
    }

static const okra_option kl_rows[] = {
    {"lambda", OKRA_OPTION_NUMBER, offsetof(kl_options, lambda), "0.1", 1e-300, 1e300,
     NULL, "V", "noise of the input process: K + lambda I"},
    {"lambda-y", OKRA_OPTION_NUMBER, offsetof(kl_options, lambda_y), "0.001", 1e-300,
     1e300, NULL, "V", "noise of the output process: L + lambda-y I"},
    NEIGHBOURS(kl_options),
    {0},
};

static const okra_option hsic_rows[] = {NEIGHBOURS(hsic_options), {0}};

extern const okra_method_ okra_method_tgp_kl_, okra_method_tgp_hsic_;

/* ---- fit ---- */

static okra_status check(const okra_problem_ *p, okra_int neighbours)
{
    REFUSE_IF(
        neighbours > p->n, OKRA_EARG,
        "tgp: neighbours is %lld, expected at most %lld, the number of training pairs",
        (long long)neighbours, (long long)p->n);
    return OKRA_OK;
}

static okra_status fit_kl(okra_context *ctx, const okra_problem_ *problem,
                          const kl_options *o, double lambda, okra_store_ *store)
{
    okra_int n = problem->n;
    FREED_BY(okra_matrix_drop_) okra_matrix_ *G = NULL;
    OWNED double *K = NULL;
    double jitter = 0;
    CHK(check(problem, o->neighbours));
    CHK(okra_store_put_number_(store, "lambda", lambda));
    CHK(okra_store_put_number_(store, "lambda-y", o->lambda_y));
    CHK(okra_store_put_number_(store, "neighbours", (double)o->neighbours));
    CHK(okra_problem_K_(ctx, problem, &G));
    if (o->neighbours == 0) {
        CHK(okra_matrix_add_diagonal_(ctx, lambda, G));
        CHK(okra_matrix_cholesky_(ctx, G, &jitter));
        CHK(okra_store_put_number_(store, "jitter", jitter));
    }
    CHK(okra_matrix_take_(ctx, &G, "the matrix of the model", &K));
    return okra_store_put_(store, o->neighbours > 0 ? "K" : "factor", &K, n, n);
}

static okra_status kl_path(okra_context *ctx, const okra_problem_ *problem,
                           const okra_options *options, const double *lambda,
                           size_t count, okra_store_ *const *stores)
{
    kl_options o;
    CHK(okra_options_read(options, &okra_method_tgp_kl_.options, &o));
    for (size_t i = 0; i < count; i++) {
        CHK(fit_kl(ctx, problem, &o, lambda[i], stores[i]));
    }
    return OKRA_OK;
}

static okra_status hsic_fit(okra_context *ctx, const okra_problem_ *problem,
                            const okra_options *options, okra_store_ *store)
{
    hsic_options o;
    okra_int n = problem->n;
    FREED_BY(okra_matrix_drop_) okra_matrix_ *G = NULL;
    OWNED double *K = NULL, *sums = NULL;
    CHK(okra_options_read(options, &okra_method_tgp_hsic_.options, &o));
    CHK(check(problem, o.neighbours));
    CHK(okra_store_put_number_(store, "neighbours", (double)o.neighbours));
    CHK(okra_problem_K_(ctx, problem, &G));
    if (o.neighbours > 0) {
        CHK(okra_matrix_take_(ctx, &G, "the matrix of the model", &K));
        return okra_store_put_(store, "K", &K, n, n);
    }
    MAKE(sums, n);
    CHK(okra_matrix_row_sums_(ctx, G, sums));
    return okra_store_put_(store, "sums", &sums, n, 1);
}

/* ---- prediction ---- */

static okra_status criterion(const okra_store_ *store, okra_int n, okra_criterion_ *out)
{
    okra_criterion_ c = {.kl = okra_store_get_number_(store, "lambda-y", &c.lambda)};
    c.neighbours = (okra_int)okra_store_number_(store, "neighbours", 0);
    *out = c;
    return OKRA_OK;
}

/* k(x,x) + lambda - k_x'u: the conditional variance, at least lambda but for rounding and
 * kernels that are not positive semi-definite. */
static double variance(double self, double lambda, okra_int n, const double *k,
                       const double *u)
{
    return fmax(0, self + lambda - okra_dot_(n, k, u));
}

/* a_i (in a, which may be k) and a_0 from k_x, k(x,x) and the row sums of K. */
static double border(okra_int n, const double *k, double self, const double *sums,
                     double *a)
{
    double N = (double)n + 1, row = self, total = self;
    for (okra_int i = 0; i < n; i++) {
        row += k[i];
        total += sums[i] + 2 * k[i];
    }
    for (okra_int i = 0; i < n; i++) {
        a[i] = k[i] - (sums[i] + k[i]) / N - row / N + total / N / N;
    }
    return self - 2 * row / N + total / N / N;
}

static okra_status predict_all(okra_context *ctx, const okra_store_ *store,
                               okra_query_ *q, double lambda, bool kl, okra_mat_ out)
{
    const double *sums = okra_store_mat_(store, "sums").p;
    if (kl) {
        CHK(okra_query_solve_(ctx, q, okra_store_mat_(store, "factor"), out));
    }
    for (okra_int r = 0; r < q->m; r++) {
        const double *k = q->Kx.p + r * q->Kx.ld;
        double *w = out.p + r * out.ld, e;
        e = kl ? variance(q->self[r], lambda, q->n, k, w)
               : border(q->n, k, q->self[r], sums, w);
        if (q->extra.p) {
            q->extra.p[r * q->extra.ld] = e;
        }
    }
    return OKRA_OK;
}

/* ---- local training sets ---- */

typedef struct local {
    okra_context *ctx;
    const okra_query_ *query;
    const double *K;
    double lambda;
    bool kl;
    okra_int M;
    okra_int *nearest; /* M a worker                        */
    double *scratch;   /* M^2 + 2 M a worker                */
    double *jitter;    /* a query: what its K needed beside lambda */
    okra_mat_ out;
} local;

static okra_status one_query(const local *l, okra_int r, okra_int *S, double *block)
{
    const okra_query_ *q = l->query;
    okra_int M = l->M, n = q->n;
    double *k = block + M * M, *u = k + M, self = q->self[r], e;
    const double *k_x = q->Kx.p + r * q->Kx.ld;
    okra_nearest_inputs_(n, k_x, q->train_self, M, S, u);
    qsort(S, (size_t)M, sizeof *S, okra_by_int_);
    for (okra_int i = 0; i < M; i++) {
        double sum = 0;
        k[i] = k_x[S[i]];
        for (okra_int j = 0; j < M; j++) {
            block[i * M + j] = l->K[S[i] * n + S[j]];
            sum += block[i * M + j];
        }
        u[i] = l->kl ? k[i] : sum;
    }
    if (l->kl) {
        okra_mat_ G = okra_mat_of_(block, M, M);
        okra_mat_add_diagonal_(G, l->lambda);
        /* quiet: what must be said is said once, for all queries */
        CHK(okra_cholesky_quiet_(l->ctx, G, &l->jitter[r]));
        CHK(okra_cholesky_solve_rows_(l->ctx, G, okra_mat_of_(u, 1, M)));
        e = variance(self, l->lambda, M, k, u);
    } else {
        e = border(M, k, self, u, u);
    }
    double *w = l->out.p + r * l->out.ld;
    okra_fill_(n, 0, w);
    for (okra_int i = 0; i < M; i++) {
        w[S[i]] = u[i];
        if (q->extra.p) {
            q->extra.p[r * q->extra.ld + 1 + i] = (double)S[i];
        }
    }
    if (q->extra.p) {
        q->extra.p[r * q->extra.ld] = e;
    }
    return OKRA_OK;
}

static okra_status local_body(void *arg, okra_int begin, okra_int end, int worker)
{
    const local *l = arg;
    for (okra_int r = begin; r < end; r++) {
        CHK(one_query(l, r, l->nearest + worker * l->M,
                      l->scratch + worker * l->M * (l->M + 2)));
    }
    return OKRA_OK;
}

static void tell_jitter(const okra_context *ctx, okra_int m, const double *jitter)
{
    okra_int count = 0;
    double most = 0;
    for (okra_int r = 0; r < m; r++) {
        count += jitter[r] > 0;
        most = fmax(most, jitter[r]);
    }
    if (count > 0) {
        okra_warn_(ctx,
                   "tgp: the local Gram matrices of %lld of %lld inputs are not positive "
                   "definite; up to %.3g was added to their diagonals",
                   (long long)count, (long long)m, most);
    }
}

static okra_status predict(okra_context *ctx, const okra_store_ *store,
                           okra_query_ *query, okra_mat_ out)
{
    okra_criterion_ c;
    double lambda = okra_store_number_(store, "lambda", 0);
    local l = {.ctx = ctx, .query = query, .out = out};
    OWNS(&l.nearest, &l.scratch, &l.jitter);
    CHK(criterion(store, query->n, &c));
    if (c.neighbours == 0) {
        return predict_all(ctx, store, query, lambda, c.kl, out);
    }
    l.M = c.neighbours;
    l.kl = c.kl;
    l.lambda = lambda;
    l.K = okra_store_mat_(store, "K").p;
    MAKE(l.nearest, okra_workers_(ctx) * l.M);
    CHK(okra_doubles_(ctx, okra_workers_(ctx) * l.M, l.M + 2, "local Gram matrices",
                      &l.scratch));
    ZMAKE(l.jitter, query->m);
    CHK(okra_parallel_(ctx, query->m, 4, "neighbours", local_body, &l));
    tell_jitter(ctx, query->m, l.jitter);
    return OKRA_OK;
}

/* clang-format off */
static const okra_schema_ kept_kl_local[] = {
    OKRA_KEEPS_MATRIX_("K", 0, "n", "n"),
    OKRA_KEEPS_NUMBER_("neighbours", OKRA_KEPT_WHOLE_, "1", "n"),
    OKRA_KEEPS_NUMBER_("lambda", 0, "1e-300", "1e300"),
    OKRA_KEEPS_NUMBER_("lambda-y", 0, "1e-300", "1e300"),
    OKRA_KEEPS_SAME_("inputs", "c", "n"),
    OKRA_KEPT_END_};
static const okra_schema_ kept_kl[] = {
    OKRA_KEEPS_MATRIX_("factor", OKRA_KEPT_FACTOR_, "n", "n"),
    OKRA_KEEPS_NUMBER_("neighbours", OKRA_KEPT_WHOLE_, "0", "0"),
    OKRA_KEEPS_NUMBER_("lambda", 0, "1e-300", "1e300"),
    OKRA_KEEPS_NUMBER_("lambda-y", 0, "1e-300", "1e300"),
    OKRA_KEEPS_SAME_("inputs", "c", "n"),
    OKRA_KEEPS_TOLD_("jitter"),
    OKRA_KEPT_END_};
static const okra_schema_ kept_hsic_local[] = {
    OKRA_KEEPS_MATRIX_("K", 0, "n", "n"),
    OKRA_KEEPS_NUMBER_("neighbours", OKRA_KEPT_WHOLE_, "1", "n"),
    OKRA_KEEPS_SAME_("inputs", "c", "n"),
    OKRA_KEPT_END_};
static const okra_schema_ kept_hsic[] = {
    OKRA_KEEPS_MATRIX_("sums", 0, "n", "1"),
    OKRA_KEEPS_NUMBER_("neighbours", OKRA_KEPT_WHOLE_, "0", "0"),
    OKRA_KEEPS_SAME_("inputs", "c", "n"),
    OKRA_KEPT_END_};
/* clang-format on */

/* kl bends little, hsic is pulled to the mean */
static const okra_auto_ kl_auto = {.width = 2}, hsic_auto = {.width = 0.5};

const okra_method_ okra_method_tgp_kl_ = {
    .name = "tgp-kl",
    .automatic = &kl_auto,
    .unweighted =
        "compares two Gaussian processes of the same pairs: it does not use weights",
    .help = "twin Gaussian processes, Kullback-Leibler divergence",
    .options = {"tgp-kl", kl_rows, sizeof(kl_options)},
    .takes = OKRA_TAKES_SELF_,
    .solution = okra_solution_plain_,
    .path = kl_path,
    .predict = predict,
    .compares = &(const okra_compares_){.criterion = criterion},
    .kept = (const okra_schema_ *const[]){kept_kl_local, kept_kl, NULL},
};

const okra_method_ okra_method_tgp_hsic_ = {
    .name = "tgp-hsic",
    .automatic = &hsic_auto,
    .unweighted =
        "measures the dependence of pairs of equal weight: it does not use weights",
    .help = "twin Gaussian processes, Hilbert-Schmidt independence criterion",
    .options = {"tgp-hsic", hsic_rows, sizeof(hsic_options)},
    .takes = OKRA_TAKES_SELF_,
    .fit = hsic_fit,
    .predict = predict,
    .compares = &(const okra_compares_){.criterion = criterion},
    .kept = (const okra_schema_ *const[]){kept_hsic_local, kept_hsic, NULL},
};
