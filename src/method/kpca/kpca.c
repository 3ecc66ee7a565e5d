/*
 * kpca.c: kernel dependency estimation by kernel PCA of the outputs (Weston et al. 2003,
 * sec. 3): p leading directions of the centred outputs, kernel ridge on each.
 *
 *     H L H = V diag(mu) V',  H = I - 11'/n     eigenvectors with the p largest mu
 *     S = V diag(mu)^1/2      (n x p)           coordinates of the training outputs
 *     C = (K + lambda I)^-1 S (n x p)           ridge on every coordinate
 *     t(x) = C' k_x           (p)               predicted coordinates
 *     w(x) = S diag(mu)^-1 t(x) + 1/n           the same point as weights, mean restored
 *
 * The coordinates of any object y are diag(mu)^-1 S' l_y - offset, l_y = (l(y_i,y))_i,
 * offset = diag(mu)^-1 S' L 1/n; decoders compare objects in these p coordinates. With
 * every direction of positive mu, w(x) is the point of ridge with centred outputs.
 *
 * Weights of pairs, u_i: all of it with s_i times both features of pair i, s = u^1/2, so
 * that P S L S P, P = I - s s'/sum(u), is decomposed and S K S + lambda I solved. The
 * scores of the model are those of the outputs themselves, V diag(mu)^1/2 / s, and its
 * duals, u_i times these, take the place of S in w(x) and in the coordinates of y.
 *
 * With rank-output the directions are those of the fitted outputs: kpca_rank.c.
 *
 * Directions with mu <= 8 n eps max(mu_1, max_i L_ii) are rounding (centring leaves up to
 * 1.5 n eps max_i L_ii where the mean is far from 0): the others count as the rank, and
 * no more than that are used. Rounding also turns them towards 1, so that the mean would
 * be counted again: this part is taken out. Cost: an eigendecomposition of L (n^3), a
 * Cholesky factor of K a lambda (n^3/3), then 4 n p a query. The model holds 2 n p
 * doubles. Low rank: kpca_low.c.
 */
#include "method/kpca/kpca.h"

#include "solve/ridge.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct kpca_options {
    double lambda;
    const char *components, *rank;
} kpca_options;

static const okra_option rows[] = {
    {"lambda", OKRA_OPTION_NUMBER, offsetof(kpca_options, lambda), "0.1", 1e-300, 1e300,
     NULL, "V", "regularisation of the ridge on each component: (K + lambda I)"},
    {"components", OKRA_OPTION_TEXT, offsetof(kpca_options, components), "all", 1, 0,
     NULL, "P", "output directions: a number, a share of the variance (0.95) or all"},
    {"rank-output", OKRA_OPTION_TEXT, offsetof(kpca_options, rank), "", 1, 0, NULL, "R",
     "instead: leading directions of the fitted outputs, a number, a share of their "
     "variance, all, or auto: the number that leave-one-out finds best"},
    {0},
};

extern const okra_method_ okra_method_kpca_;

okra_status okra_kpca_choose_(okra_context *ctx, const char *what, const char *text,
                              const double *mu, okra_int rank, okra_int *p)
{
    char *end = NULL;
    double asked = okra_strtod_(text, &end), total = 0, sum = 0;
    *p = rank;
    if (strcmp(text, "all") == 0) {
        return OKRA_OK;
    }
    REFUSE_IF(end == text || *end || !(asked > 0) ||
                  (asked >= 1 && asked != floor(asked)) || asked > 9e15,
              OKRA_EARG,
              "kpca: %s is '%s', expected a whole number, a share of the variance "
              "between 0 and 1, or all%s",
              what, text, strcmp(what, "components") == 0 ? "" : ", or auto");
    if (asked >= 1) {
        if (asked > (double)rank) {
            okra_warn_(ctx,
                       "kpca: %s %s are asked for, but the centred %soutput Gram "
                       "matrix has rank %lld: all of these are used",
                       text, what, strcmp(what, "components") == 0 ? "" : "fitted ",
                       (long long)rank);
        }
        *p = OKRA_MIN_(rank, (okra_int)asked);
        return OKRA_OK;
    }
    for (okra_int j = 0; j < rank; j++) {
        total += mu[j];
    }
    for (*p = 0; *p < rank && sum < asked * total; (*p)++) {
        sum += mu[*p];
    }
    return OKRA_OK;
}

static void clear(okra_axes_ *a)
{
    okra_axes_drop_(a);
    okra_large_free_(a->L);
    FREE(a->mean, a->s);
}

void okra_axes_drop_(okra_axes_ *a)
{
    FREE(a->S, a->D, a->mu, a->offset);
    okra_large_free_(a->T);
    a->T = NULL;
    a->S = a->D = a->mu = a->offset = NULL;
}

okra_int okra_axes_rank_(okra_context *ctx, okra_int n, double scale, double *v)
{
    okra_int rank = 0;
    for (okra_int i = 0; i < n / 2; i++) {
        double swap = v[i];
        v[i] = v[n - 1 - i];
        v[n - 1 - i] = swap;
    }
    if (v[n - 1] < -1e-8 * fmax(v[0], scale)) {
        okra_warn_(ctx,
                   "kpca: the centred output Gram matrix is not positive semi-definite: "
                   "its smallest eigenvalue is %.3g, its largest %.3g; negative ones are "
                   "left out",
                   v[n - 1], v[0]);
    }
    while (rank < n && v[rank] > 8 * (double)n * DBL_EPSILON * fmax(v[0], scale)) {
        rank++;
    }
    return rank;
}

void okra_kpca_center_(const okra_axes_ *a, double *row)
{
    double sum = 0;
    for (okra_int i = 0; i < a->n; i++) {
        sum += (a->s ? a->s[i] : 1) * row[i];
    }
    sum /= a->s ? a->total : (double)a->n;
    for (okra_int i = 0; i < a->n; i++) {
        row[i] -= (a->s ? a->s[i] : 1) * sum;
    }
}

/* Ascending eigenvalues v and eigenvectors in the rows of V become S, mu and offset. */
static okra_status take_axes(okra_context *ctx, const char *components,
                             const okra_large_ *V, double *v, okra_axes_ *a)
{
    okra_int n = a->n;
    OWNED double *row = NULL;
    okra_int rank = okra_axes_rank_(ctx, n, a->scale, v);
    CHK(okra_kpca_choose_(ctx, "components", components, v, rank, &a->p));
    MAKE(a->mu, a->p);
    ZMAKE(a->offset, a->p);
    if (okra_context_apart_(ctx)) {
        return okra_kpca_take_apart_(ctx, V, v, a);
    }
    CHK(okra_doubles_(ctx, n, a->p, "the output components", &a->S));
    MAKE(row, n);
    for (okra_int j = 0; j < a->p; j++) {
        a->mu[j] = v[j];
        CHK(okra_large_get_(ctx, V, n - 1 - j, 0, okra_mat_of_(row, 1, n)));
        okra_kpca_center_(a, row);
        for (okra_int i = 0; i < n; i++) {
            double s = sqrt(v[j]) * row[i];
            a->S[i * a->p + j] = s;
            a->offset[j] += s * a->mean[i] / v[j];
        }
    }
    return OKRA_OK;
}

/* The centred Gram matrix of the outputs, with weights of s_i times their features. */
static okra_status center(okra_context *ctx, const okra_problem_ *problem, okra_axes_ *a)
{
    OWNED double *v = NULL;
    a->n = problem->n;
    MAKE(v, a->n);
    MAKE(a->mean, a->n);
    CHK(okra_problem_L_(ctx, problem, &a->L));
    CHK(okra_large_diagonal_(ctx, a->L, v));
    for (okra_int i = 0; i < a->n; i++) {
        a->scale = fmax(a->scale, a->s ? problem->weights[i] * v[i] : v[i]);
    }
    if (a->s) {
        CHK(okra_large_scale_(ctx, a->s, a->s, a->L));
        CHK(okra_center_weighted_(ctx, a->s, a->total, a->mean, a->L));
    } else {
        CHK(okra_large_center_(ctx, a->mean, a->L));
    }
    return OKRA_OK;
}

static okra_status find_axes(okra_context *ctx, const char *components, okra_axes_ *a)
{
    OWNED double *v = NULL;
    MAKE(v, a->n);
    CHK(okra_large_eigh_(ctx, a->L, v));
    CHK(take_axes(ctx, components, a->L, v, a));
    okra_large_free_(a->L);
    a->L = NULL;
    return OKRA_OK;
}

static okra_status put_copy(okra_context *ctx, okra_bag_ *bag, const char *name,
                            const double *values, okra_int m, okra_int cols)
{
    OWNED double *copy = NULL;
    CHK(okra_doubles_(ctx, m, cols, "the output components", &copy));
    CHK(okra_mat_copy_(okra_mat_view_(values, m, cols, cols),
                       okra_mat_of_(copy, m, cols)));
    return okra_bag_put_(bag, name, &copy, m, cols);
}

/* C, scores of the outputs themselves, and duals where these are others. */
static okra_status put_scores(okra_context *ctx, okra_bag_ *bag, const okra_axes_ *a,
                              const okra_large_ *G)
{
    okra_int n = a->n, p = a->p, rows_found = 0, cols_found = 0;
    OWNED double *C = NULL;
    CHK(okra_doubles_(ctx, n, p, "the coefficients of the components", &C));
    CHK(okra_mat_copy_(okra_mat_of_(a->S, n, p), okra_mat_of_(C, n, p)));
    CHK(okra_large_solve_host_(ctx, true, G, okra_mat_of_(C, n, p)));
    for (okra_int i = 0; a->s && i < n * p; i++) {
        C[i] *= a->s[i / p];
    }
    CHK(okra_bag_put_(bag, "coefficients", &C, n, p));
    CHK(put_copy(ctx, bag, "scores", a->S, n, p));
    if (a->s || a->D) {
        CHK(put_copy(ctx, bag, "duals", a->D ? a->D : a->S, n, p));
        double *scores = okra_bag_edit_(bag, "scores", &rows_found, &cols_found);
        double *duals = okra_bag_edit_(bag, "duals", &rows_found, &cols_found);
        for (okra_int i = 0; a->s && i < n * p; i++) {
            scores[i] /= a->s[i / p];
            duals[i] *= a->s[i / p];
        }
    }
    return OKRA_OK;
}

/* One lambda: C, and what is shared. With a rank the directions are of this lambda. */
static okra_status fill(okra_context *ctx, okra_axes_ *a, const okra_large_ *K,
                        double lambda, const char *rank, okra_bag_ *bag)
{
    okra_int n = a->n;
    FREED_BY(okra_large_drop_) okra_large_ *G = NULL;
    double jitter = 0;
    CHK(okra_large_create_(ctx, n, n, "the factor of the input Gram matrix", &G));
    CHK(okra_large_copy_(ctx, false, K, G)); /* K of s_i times the features */
    CHK(okra_large_add_diagonal_(ctx, lambda, G));
    CHK(okra_large_cholesky_(ctx, G, &jitter));
    if (*rank) {
        CHK(okra_kpca_rank_(ctx, rank, K, G, a));
        CHK(okra_bag_put_number_(bag, "rank-output", (double)a->p));
    }
    okra_int p = a->p;
    CHK(a->T ? okra_kpca_put_apart_(ctx, a, G, bag) : put_scores(ctx, bag, a, G));
    CHK(put_copy(ctx, bag, "variances", a->mu, 1, p));
    CHK(put_copy(ctx, bag, "offset", a->offset, 1, p));
    CHK(okra_bag_put_number_(bag, "components", (double)p));
    CHK(okra_bag_put_number_(bag, "lambda", lambda));
    return okra_bag_put_number_(bag, "jitter", jitter);
}

static okra_status path(okra_context *ctx, const okra_problem_ *problem,
                        const okra_options *options, const double *lambda, size_t count,
                        okra_bag_ *const *bags)
{
    kpca_options o;
    FREED_BY(clear) okra_axes_ a = {0};
    FREED_BY(okra_large_drop_) okra_large_ *K = NULL;
    CHK(okra_options_read(options, &okra_method_kpca_.options, &o));
    REFUSE_IF(
        *o.rank && strcmp(o.components, "all") != 0, OKRA_EARG,
        "kpca: components is '%s' and rank-output '%s': the directions are those of "
        "the outputs or those of the fitted outputs, give one of the two",
        o.components, o.rank);
    if (problem->map_x) {
        return okra_kpca_low_(ctx, problem, o.components, o.rank, lambda, count, bags);
    }
    CHK(okra_problem_roots_(problem, &a.s, &a.total));
    CHK(center(ctx, problem, &a));
    if (!*o.rank) {
        CHK(find_axes(ctx, o.components, &a));
    }
    CHK(okra_problem_scaled_K_(ctx, problem, a.s, &K));
    for (size_t l = 0; l < count; l++) {
        CHK(okra_cancelled_(ctx));
        CHK(fill(ctx, &a, K, lambda[l], o.rank, bags[l]));
        CHK(okra_problem_put_weights_(problem, bags[l]));
    }
    return OKRA_OK;
}

/* ---- prediction ---- */

/* Of low rank: the axes of components, and predictions as those of ridge. */
static const double *axes_of(const okra_bag_ *bag, okra_int *p, okra_int *width)
{
    return okra_bag_get_(bag, "axes", p, width);
}

static okra_form_ form(const okra_bag_ *bag)
{
    okra_int p, width;
    return axes_of(bag, &p, &width) ? OKRA_FORM_EMBEDDING : OKRA_FORM_WEIGHTS;
}

/* The shapes are those of `kept` below. */
static okra_status components(const okra_bag_ *bag, okra_int n, okra_components_ *out)
{
    okra_components_ c = {.offset = okra_bag_mat_(bag, "offset").p};
    double rank;
    c.whole = okra_bag_get_number_(bag, "rank-output", &rank);
    c.axes = axes_of(bag, &c.p, &c.width);
    if (!c.axes) {
        okra_int pairs = 0;
        c.scores = okra_bag_get_(bag, "scores", &pairs, &c.p);
        REFUSE_IF(pairs != n, OKRA_EFORMAT,
                  "kpca: the model's output components do not fit %lld training pairs",
                  (long long)n);
        c.duals = okra_bag_mat_(bag, "duals").p;
        c.variances = okra_bag_mat_(bag, "variances").p;
    }
    *out = c;
    return OKRA_OK;
}

/* The mean output as weights. */
static void mean_weights(const okra_bag_ *bag, okra_mat_ out)
{
    okra_int one = 0, n = 0;
    const double *weights = okra_bag_get_(bag, "sample-weight", &one, &n);
    double total = 0;
    okra_mat_fill_(out, 1 / (double)out.cols);
    for (okra_int j = 0; weights && j < out.cols; j++) {
        total += weights[j];
    }
    for (okra_int i = 0; weights && i < out.rows * out.cols; i++) {
        out.p[i / out.cols * out.ld + i % out.cols] = weights[i % out.cols] / total;
    }
}

static okra_status predict(okra_context *ctx, const okra_bag_ *bag, okra_query_ *query,
                           okra_mat_ out)
{
    okra_components_ c;
    okra_int n = 0, p = 0;
    OWNED double *T = NULL;
    if (form(bag) == OKRA_FORM_EMBEDDING) {
        return okra_ridge_embed_(ctx, bag, query, out);
    }
    CHK(components(bag, query->n, &c));
    const double *C = okra_bag_get_(bag, "coefficients", &n, &p);
    REFUSE_IF(!C || n != query->n || p != c.p, OKRA_EFORMAT,
              "kpca: the model's 'coefficients' do not fit %lld training pairs",
              (long long)query->n);
    mean_weights(bag, out);
    if (p == 0) {
        return OKRA_OK;
    }
    CHK(okra_doubles_(ctx, query->m, p, "the predicted components", &T));
    okra_mat_ Tm = okra_mat_of_(T, query->m, p);
    CHK(okra_query_times_(ctx, query, false, okra_mat_view_(C, n, p, p), Tm));
    for (okra_int r = 0; r < query->m; r++) {
        for (okra_int j = 0; j < p; j++) {
            T[r * p + j] /= c.variances[j];
        }
    }
    const double *duals = c.duals ? c.duals : c.scores;
    return okra_gemm_(ctx, false, true, 1, Tm, okra_mat_view_(duals, n, p, p), 1, out);
}

/* clang-format off */
static const okra_kept_ kept_low[] = {
    OKRA_KEEPS_MATRIX_("axes", 0, "p", "d"),
    OKRA_KEEPS_MATRIX_("coefficients", 0, "c", "d"),
    OKRA_KEEPS_MATRIX_("mean", OKRA_KEPT_OPTIONAL_, "1", "d"),
    OKRA_KEEPS_MATRIX_("offset", 0, "1", "p"),
    OKRA_KEEPS_NUMBER_("lambda", 0, "0", "1e300"),
    OKRA_KEEPS_TOLD_("components"),
    OKRA_KEEPS_TOLD_("rank-output"),
    OKRA_KEEPS_TOLD_("jitter"),
    OKRA_KEPT_END_};
static const okra_kept_ kept_scores[] = {
    OKRA_KEEPS_MATRIX_("scores", 0, "n", "p"),
    OKRA_KEEPS_MATRIX_("coefficients", 0, "n", "p"),
    OKRA_KEEPS_MATRIX_("duals", OKRA_KEPT_OPTIONAL_, "n", "p"),
    OKRA_KEEPS_MATRIX_("variances", OKRA_KEPT_POSITIVE_, "1", "p"),
    OKRA_KEEPS_MATRIX_("offset", 0, "1", "p"),
    OKRA_KEEPS_SAME_("inputs", "c", "n"),
    OKRA_KEEPS_NUMBER_("lambda", 0, "0", "1e300"),
    OKRA_KEEPS_TOLD_("components"),
    OKRA_KEEPS_TOLD_("rank-output"),
    OKRA_KEEPS_TOLD_("jitter"),
    OKRA_KEPT_END_};
static const okra_kept_ *const kept[] = {kept_low, kept_scores, NULL};
/* clang-format on */

const okra_method_ okra_method_kpca_ = {
    .name = "kpca",
    .help = "ridge on the leading kernel principal components of the outputs",
    .options = {"kpca", rows, sizeof(kpca_options)},
    .takes = OKRA_TAKES_WEIGHTS_ | OKRA_TAKES_LARGE_,
    .path = path,
    .low_rank = okra_method_always_,
    .form = form,
    .width = okra_ridge_width_,
    .predict = predict,
    .compares = &(const okra_compares_){.components = components},
    .kept = kept,
    .solution = okra_solution_plain_,
};
