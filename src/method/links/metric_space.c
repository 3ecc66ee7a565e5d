/*
 * metric_space.c: nodes are mapped to a few coordinates f(u) = C' k_u in which linked
 * nodes lie together. Links only. Gram matrices are centred in feature space.
 *
 * kcca (Y. Yamanishi, J.-P. Vert, M. Kanehisa, Bioinformatics 20, 2004): kernel canonical
 * correlation analysis of the inputs (K) with the output kernel of the known network (L):
 *     max a'K L b  over  |(K + lambda I) a| = |(L + mu I) b| = 1, in d directions.
 * With p = (K + lambda I) a these are the leading left singular vectors of A B,
 * A = (K + lambda I)^-1 K, B = (L + mu I)^-1 L: eigenvectors of A B^2 A. C = (K + lambda
 * I)^-1 P. Score: the cosine of f(u) and f(v).
 *
 * kml (J.-P. Vert and Y. Yamanishi, NIPS 17, 2005, supervised graph inference): f one
 * coordinate after another with
 *     min sum_{i~j} w_ij (f(u_i) - f(u_j))^2 + lambda |f|^2,  sum_i f(u_i)^2 = 1, sum_i
 *     f(u_i) = 0, orthogonal to those before,
 * that is (K G K + lambda K) a = mu K^2 a, G the Laplacian of the known network. With
 * K = Q diag(x) Q' on its range and f = Q z at the labelled nodes this is the symmetric
 * problem (Q'G Q + lambda diag(1/x)) z = mu z, smallest mu first; C = Q diag(1/x) z.
 * Score: -|f(u) - f(v)|^2.
 *
 * Cost: kcca two Cholesky inverses and one eigendecomposition, kml two
 * eigendecompositions (n^3 each); 2 n d a node. Squares of singular values are computed
 * in kcca: those below 1e-8 of the largest are noise, and the largest are wanted.
 */
#include "method/method.h"

typedef struct space_options {
    double lambda, mu;
    okra_int dimensions;
} space_options;

/* clang-format off */
#define LAMBDA(help) {"lambda", OKRA_OPTION_NUMBER, offsetof(space_options, lambda), "0.1", \
     1e-300, 1e300, NULL, "V", help}
#define DIMENSIONS {"dimensions", OKRA_OPTION_INT, offsetof(space_options, dimensions), "50", \
     1, 1e9, NULL, "D", "coordinates that nodes are mapped to; more than there are: all"}
static const okra_option kcca_rows[] = {
    LAMBDA("regularisation of the inputs"),
    {"lambda-output", OKRA_OPTION_NUMBER, offsetof(space_options, mu), "0.1", 1e-300, 1e300,
     NULL, "V", "regularisation of the outputs"},
    DIMENSIONS, {0}};
static const okra_option kml_rows[] = {
    LAMBDA("weight of the norm of the map against the lengths of edges"), DIMENSIONS, {0}};
/* clang-format on */

extern const okra_method_ okra_method_kcca_, okra_method_kml_;

/* G <- H G H, H = I - 11'/n; means (n) gets (G 1)/n - (1'G 1)/(2 n^2) of G as it was,
 * which is what centred rows of other inputs need. */
static void center_gram(okra_mat_ G, double *means)
{
    double grand = 0, n = (double)G.rows;
    for (okra_int i = 0; i < G.rows; i++) {
        means[i] = okra_total_(G.cols, G.p + i * G.ld) / n;
        grand += means[i] / n;
    }
    for (okra_int i = 0; i < G.rows; i++) {
        means[i] -= grand / 2;
    }
    for (okra_int k = 0; k < G.rows * G.cols; k++) {
        okra_int i = k / G.cols, j = k % G.cols;
        G.p[i * G.ld + j] -= means[i] + means[j];
    }
}

/* The centred Gram matrix of the inputs, and the means that queries need in the store. */
static okra_status inputs(okra_context *ctx, const okra_problem_ *p, okra_store_ *store,
                          double **K)
{
    OWNED double *means = NULL;
    CHK(okra_problem_host_K_(ctx, p, K));
    MAKE(means, p->n);
    center_gram(okra_mat_of_(*K, p->n, p->n), means);
    return okra_store_put_(store, "means", &means, 1, p->n);
}

/* R <- (G + lambda I)^-1, G <- R G = I - lambda R. */
static okra_status shrink(okra_context *ctx, double lambda, okra_mat_ G, okra_mat_ R)
{
    okra_mat_add_diagonal_(G, lambda);
    CHK(okra_engine_cholesky_(ctx, G, NULL));
    okra_mat_units_(R, 0);
    CHK(okra_engine_cholesky_solve_rows_(ctx, G, R));
    for (okra_int i = 0; i < G.rows; i++) {
        for (okra_int j = 0; j < G.cols; j++) { /* R is symmetric: so shall G be */
            G.p[i * G.ld + j] =
                (i == j) - lambda * (R.p[i * R.ld + j] + R.p[j * R.ld + i]) / 2;
        }
    }
    return OKRA_OK;
}

static okra_status fit_kcca(okra_context *ctx, const okra_problem_ *p,
                            const okra_options *options, okra_store_ *store)
{
    space_options o;
    okra_int n = p->n;
    OWNED double *K = NULL, *L = NULL, *x = NULL;
    FREED_BY(okra_mat_drop_) okra_mat_ R = {0}, T = {0}, C = {0};
    CHK(okra_options_read(options, &okra_method_kcca_.options, &o));
    okra_int d = OKRA_MIN_(o.dimensions, n);
    CHK(inputs(ctx, p, store, &K));
    CHK(okra_problem_host_L_(ctx, p, &L));
    CHK(okra_mat_room_(ctx, n, n, "a work matrix", &R));
    CHK(okra_mat_room_(ctx, n, n, "a work matrix", &T));
    CHK(okra_mat_room_(ctx, n, d, "coordinates", &C));
    MAKE(x, n);
    okra_mat_ a = okra_mat_of_(K, n, n), b = okra_mat_of_(L, n, n);
    center_gram(b, x);
    CHK(shrink(ctx, o.mu, b, R));
    CHK(shrink(ctx, o.lambda, a, R));
    CHK(okra_engine_gemm_(ctx, false, false, 1, a, b, 0, T));
    CHK(okra_engine_syrk_(ctx, false, 1, T, 0, a)); /* A B^2 A */
    CHK(okra_engine_eigh_(ctx, a, x));
    for (okra_int l = 0; l < d; l++) { /* the largest come last */
        CHK(okra_mat_copy_(okra_mat_part_(a, n - 1 - l, 1, 0, n),
                           okra_mat_part_(T, l, 1, 0, n)));
    }
    CHK(okra_engine_gemm_(ctx, false, true, 1, R, okra_mat_part_(T, 0, d, 0, n), 0, C));
    return okra_store_put_(store, "coordinates", &C.p, n, d);
}

/* out <- V G of a network's Laplacian G, V: r x n. */
static void times_laplacian(const okra_network_ *network, okra_mat_ V, okra_mat_ out)
{
    const okra_csr_ *w = &network->adjacency;
    for (okra_int r = 0; r < V.rows; r++) {
        const double *v = V.p + r * V.ld;
        for (okra_int i = 0; i < V.cols; i++) {
            double sum = 0;
            for (okra_int k = w->indptr[i]; k < w->indptr[i + 1]; k++) {
                sum += w->values[k] * (v[i] - v[w->indices[k]]);
            }
            out.p[r * out.ld + i] = sum;
        }
    }
}

static okra_status fit_kml(okra_context *ctx, const okra_problem_ *p,
                           const okra_options *options, okra_store_ *store)
{
    space_options o;
    okra_int n = p->n, first = 0;
    const okra_network_ *network = NULL;
    OWNED double *K = NULL, *x = NULL, *mu = NULL;
    FREED_BY(okra_mat_drop_) okra_mat_ T = {0}, S = {0}, C = {0};
    CHK(okra_options_read(options, &okra_method_kml_.options, &o));
    CHK(okra_linker_network_("kml", p, &network));
    CHK(inputs(ctx, p, store, &K));
    MAKE(x, n);
    MAKE(mu, n);
    CHK(okra_engine_eigh_(ctx, okra_mat_of_(K, n, n), x));
    while (first < n && x[first] <= (double)n * DBL_EPSILON * x[n - 1]) {
        first++;
    }
    okra_int r = n - first, d = OKRA_MIN_(o.dimensions, r);
    REFUSE_IF(r == 0, OKRA_ENUMERIC,
              "kml: all labelled nodes look the same to the input kernel");
    okra_mat_ Q = okra_mat_of_(K + first * n, r, n); /* rows: eigenvectors */
    CHK(okra_mat_room_(ctx, r, n, "a work matrix", &T));
    CHK(okra_mat_room_(ctx, r, r, "the metric", &S));
    CHK(okra_mat_room_(ctx, n, d, "coordinates", &C));
    times_laplacian(network, Q, T);
    CHK(okra_engine_gemm_(ctx, false, true, 1, Q, T, 0, S));
    for (okra_int i = 0; i < r; i++) {
        S.p[i * r + i] += o.lambda / x[first + i];
    }
    CHK(okra_engine_eigh_(ctx, S, mu)); /* the smallest come first */
    for (okra_int i = 0; i < r; i++) {
        okra_scale_down_(n, x[first + i], Q.p + i * n);
    }
    CHK(okra_engine_gemm_(ctx, true, true, 1, Q, okra_mat_of_(S.p, d, r), 0, C));
    return okra_store_put_(store, "coordinates", &C.p, n, d);
}

/* ---- factors ---- */

/* Rows k_u of other inputs, centred in the same feature space:
 * k_ui - mean_j(k_uj) - means_i + ..., so that rows of G itself become those of H G H. */
static void center_rows(okra_mat_ K, const double *means)
{
    double half = 0; /* sum(means)/n = grand/2 */
    for (okra_int j = 0; j < K.cols; j++) {
        half += means[j] / (double)K.cols;
    }
    for (okra_int i = 0; i < K.rows; i++) {
        double *row = K.p + i * K.ld, mean = 0;
        for (okra_int j = 0; j < K.cols; j++) {
            mean += row[j] / (double)K.cols;
        }
        for (okra_int j = 0; j < K.cols; j++) {
            row[j] -= mean - half + means[j];
        }
    }
}

static okra_status coordinates(okra_context *ctx, const okra_store_ *store,
                               okra_query_ *q, okra_mat_ F)
{
    okra_mat_ K = okra_mat_part_(q->Kx, 0, q->m, 0, q->n);
    center_rows(K, okra_store_mat_(store, "means").p);
    return okra_engine_gemm_(ctx, false, false, 1, K,
                             okra_store_mat_(store, "coordinates"), 0, F);
}

static okra_int width_kcca(const okra_store_ *store)
{
    return okra_store_mat_(store, "coordinates").cols;
}

/* |f| = 1, or 0 where f is. */
static okra_status factors_kcca(okra_context *ctx, const okra_store_ *store,
                                okra_query_ *q, okra_int labelled, okra_mat_ P,
                                okra_mat_ Q)
{
    okra_mat_ F = P.p ? P : Q;
    CHK(coordinates(ctx, store, q, F));
    for (okra_int i = 0; i < F.rows; i++) {
        double *f = F.p + i * F.ld, norm = sqrt(okra_dot_(F.cols, f, f));
        for (okra_int j = 0; j < F.cols && norm > 0; j++) {
            f[j] /= norm;
        }
    }
    return P.p && Q.p ? okra_mat_copy_(P, Q) : OKRA_OK;
}

static okra_int width_kml(const okra_store_ *store)
{
    return width_kcca(store) + 2;
}

/* -|f - g|^2 = <[2f, -|f|^2, -1], [g, 1, |g|^2]> */
static okra_status factors_kml(okra_context *ctx, const okra_store_ *store,
                               okra_query_ *q, okra_int labelled, okra_mat_ P,
                               okra_mat_ Q)
{
    okra_int d = width_kcca(store);
    OWNED double *F = NULL;
    CHK(okra_doubles_(ctx, q->m, d, "coordinates", &F));
    CHK(coordinates(ctx, store, q, okra_mat_of_(F, q->m, d)));
    for (okra_int i = 0; i < q->m; i++) {
        const double *f = F + i * d;
        double square = okra_dot_(d, f, f);
        double *p = P.p ? P.p + i * P.ld : NULL, *r = Q.p ? Q.p + i * Q.ld : NULL;
        for (okra_int j = 0; j < d + 2; j++) {
            if (p) {
                p[j] = j < d ? 2 * f[j] : j == d ? -square : -1;
            }
            if (r) {
                r[j] = j < d ? f[j] : j == d ? 1 : square;
            }
        }
    }
    return OKRA_OK;
}

static const okra_linker_ kcca_linker = {.width = width_kcca, .factors = factors_kcca};
/* clang-format off */
static const okra_schema_ kept_space[] = {
    OKRA_KEEPS_MATRIX_("means", 0, "1", "n"),
    OKRA_KEEPS_MATRIX_("coordinates", 0, "n", "p"),
    OKRA_KEEPS_SAME_("inputs", "c", "n"),
    OKRA_KEPT_END_};
static const okra_schema_ *const kept[] = {kept_space, NULL};
/* clang-format on */

const okra_method_ okra_method_kcca_ = {
    .name = "kcca",
    .unweighted = "scores links of a network: weights of pairs have no meaning",
    .help = "links only: canonical correlation of inputs with the known network",
    .options = {"kcca", kcca_rows, sizeof(space_options)},
    .fit = fit_kcca,
    .linker = &kcca_linker,
    .kept = kept,
};

const okra_method_ okra_method_kml_ = {
    .name = "kml",
    .unweighted = "scores links of a network: weights of pairs have no meaning",
    .help = "links only: a metric of the inputs in which linked nodes are close",
    .options = {"kml", kml_rows, sizeof(space_options)},
    .fit = fit_kml,
    .linker = &(const okra_linker_){.width = width_kml, .factors = factors_kml},
    .kept = kept,
};
