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
 * With rank-output the directions are those of the fitted outputs: reduced-rank
 * regression in feature space (Brogat-Motte et al. 2022),
 *
 *     A = (K + lambda I)^-1 K,  A L A = U diag(nu) U'   L centred, the p largest nu
 *     e_j = sum_i D_ij phi(y_i) / nu_j,  D = A U diag(nu)^1/2    directions of the space
 *     S = L D diag(nu)^-1     (n x p)                   coordinates of training outputs
 *
 * so that h(x) of ridge is projected on span(e_1 ... e_p), where the fitted h(x_i) vary
 * most. D are the duals of the model. Decoders compare in the whole space: the directions
 * are those of predictions, not those in which outputs differ. auto: p with the least sum
 * of squared leave-one-out errors. With t_ij = (A S)_ij the error of coordinate j is
 * r_ij = (S_ij - t_ij) / (1 - A_ii), and the sum is that of |phi(y_i)|^2 + sum_{j <= p}
 * r_ij^2 - S_ij^2. The directions and the mean are those of all pairs. 8 n^3 and an
 * eigendecomposition a lambda.
 *
 * Directions with mu <= 8 n eps max(mu_1, max_i L_ii) are rounding (centring leaves up to
 * 1.5 n eps max_i L_ii where the mean is far from 0): the others count as the rank, and
 * no more than that are used. Rounding also turns them towards 1, so that the mean would
 * be counted again: this part is taken out. Cost: an eigendecomposition of L (n^3), a
 * Cholesky factor of K a lambda (n^3/3), then 4 n p a query. The model holds 2 n p
 * doubles, on the engine where several processes share large matrices. Low rank:
 * kpca_low.c.
 */
#include "method/kpca/kpca.h"

#include "solve/ridge.h"

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
    total = okra_total_(rank, mu);
    for (*p = 0; *p < rank && sum < asked * total; (*p)++) {
        sum += mu[*p];
    }
    return OKRA_OK;
}

/* Directions of the outputs, and what they come from. */
typedef struct axes {
    okra_int n, p;
    okra_matrix_ *L; /* n x n: the centred Gram matrix of outputs, while it is needed */
    double *mean, scale; /* n: its row means before; the largest l(y_i, y_i) */
    okra_matrix_ *S, *D; /* n x p: scores; duals where these are not S, or NULL */
    double *mu, *offset; /* p */
    double *s, total;    /* n: roots of the weights of pairs, or NULL; their sum */
} axes;

/* The directions alone. */
static void drop(axes *a)
{
    okra_matrix_free_(a->S);
    okra_matrix_free_(a->D);
    FREE(a->mu, a->offset);
    a->S = a->D = NULL;
    a->mu = a->offset = NULL;
}

static void clear(axes *a)
{
    drop(a);
    okra_matrix_free_(a->L);
    FREE(a->mean, a->s);
}

/* v (n, ascending) becomes descending; the number of those above rounding. */
static okra_int rank_of(okra_context *ctx, okra_int n, double scale, double *v)
{
    okra_int rank = 0;
    for (okra_int i = 0; i < n / 2; i++) {
        OKRA_SWAP_(v[i], v[n - 1 - i]);
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

/* sum_i s_i row_i = 0, as centred outputs have it but for rounding. */
static void center_row(const axes *a, double *row)
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

/* S' <- the eigenvectors in the last p rows of V times the roots of v, and the offset. */
static okra_status scores(okra_context *ctx, const okra_matrix_ *V, const double *v,
                          axes *a, okra_matrix_ *St)
{
    enum { ROWS = 64 };
    okra_int n = a->n, height = OKRA_MIN_(ROWS, a->p);
    OWNED double *block = NULL;
    CHK(okra_doubles_(ctx, height, n, "some output components", &block));
    for (okra_int j = 0; j < a->p; j += height) {
        okra_int some = OKRA_MIN_(height, a->p - j);
        for (okra_int r = 0; r < some; r++) { /* the last one comes first */
            double *s = block + r * n, mu = v[j + r];
            CHK(okra_matrix_get_(ctx, V, n - 1 - j - r, 0, okra_mat_of_(s, 1, n)));
            center_row(a, s);
            a->mu[j + r] = mu;
            for (okra_int i = 0; i < n; i++) {
                s[i] *= sqrt(mu);
                a->offset[j + r] += s[i] * a->mean[i] / mu;
            }
        }
        CHK(okra_matrix_put_(ctx, okra_mat_of_(block, some, n), j, 0, St));
    }
    return OKRA_OK;
}

/* *out <- A, or A' */
static okra_status copy(okra_context *ctx, bool turned, const okra_matrix_ *A,
                        okra_matrix_ **out)
{
    okra_int m = A->rows, n = A->cols;
    CHK(okra_matrix_create_(ctx, turned ? n : m, turned ? m : n, "the output components",
                            out));
    return okra_matrix_copy_(ctx, turned, A, *out);
}

static okra_status find_axes(okra_context *ctx, const char *components, axes *a)
{
    OWNED double *v = NULL;
    FREED_BY(okra_matrix_drop_) okra_matrix_ *St = NULL;
    MAKE(v, a->n);
    CHK(okra_matrix_eigh_(ctx, a->L, v));
    okra_int rank = rank_of(ctx, a->n, a->scale, v);
    CHK(okra_kpca_choose_(ctx, "components", components, v, rank, &a->p));
    MAKE(a->mu, a->p);
    ZMAKE(a->offset, a->p);
    CHK(okra_matrix_create_(ctx, a->p, a->n, "the output components", &St));
    CHK(scores(ctx, a->L, v, a, St));
    okra_matrix_drop_(&a->L);
    return copy(ctx, true, St, &a->S);
}

/* The centred Gram matrix of the outputs, with weights of s_i times their features. */
static okra_status center(okra_context *ctx, const okra_problem_ *problem, axes *a)
{
    OWNED double *v = NULL;
    a->n = problem->n;
    MAKE(v, a->n);
    MAKE(a->mean, a->n);
    CHK(okra_problem_L_(ctx, problem, &a->L));
    CHK(okra_matrix_diagonal_(ctx, a->L, v));
    for (okra_int i = 0; i < a->n; i++) {
        a->scale = fmax(a->scale, a->s ? problem->weights[i] * v[i] : v[i]);
    }
    if (a->s) {
        CHK(okra_matrix_scale_(ctx, a->s, a->s, a->L));
        CHK(okra_center_weighted_(ctx, a->s, a->total, a->mean, a->L));
    } else {
        CHK(okra_matrix_center_(ctx, a->mean, a->L));
    }
    return OKRA_OK;
}

/* ---- with rank-output ---- */

/* A = (K + lambda I)^-1 K, and M = A L A. */
static okra_status smooth(okra_context *ctx, const okra_matrix_ *K, const okra_matrix_ *G,
                          const axes *a, okra_matrix_ **A, okra_matrix_ **M)
{
    FREED_BY(okra_matrix_drop_) okra_matrix_ *T = NULL;
    okra_int n = a->n;
    CHK(okra_matrix_create_(ctx, n, n, "the smoother", A));
    CHK(okra_matrix_copy_(ctx, false, K, *A));
    CHK(okra_matrix_solve_(ctx, true, G, *A));
    CHK(okra_matrix_create_(ctx, n, n, "the fitted outputs", &T));
    CHK(okra_matrix_gemm_(ctx, false, false, 1, *A, a->L, 0, T));
    CHK(okra_matrix_create_(ctx, n, n, "the Gram matrix of fitted outputs", M));
    return okra_matrix_gemm_(ctx, false, true, 1, T, *A, 0, *M);
}

/* The largest A_ii: what A makes of rounding in L. */
static okra_status largest(okra_context *ctx, const okra_matrix_ *A, okra_int n,
                           double *out)
{
    OWNED double *v = NULL;
    MAKE(v, n);
    CHK(okra_matrix_diagonal_(ctx, A, v));
    *out = fmax(*out, okra_most_(n, v));
    return OKRA_OK;
}

/* Rows of D' and S' (p x n) from the eigenvectors in the last p rows of V. */
static okra_status directions(okra_context *ctx, const okra_matrix_ *V,
                              const okra_matrix_ *A, const axes *a, const double *nu,
                              okra_int p, double *D, double *S)
{
    okra_int n = a->n;
    OWNED double *U = NULL;
    okra_mat_ Dm = okra_mat_of_(D, p, n);
    CHK(okra_doubles_(ctx, p, n, "the directions of fitted outputs", &U));
    for (okra_int j = 0; j < p; j++) {
        CHK(okra_matrix_get_(ctx, V, n - 1 - j, 0, okra_mat_of_(U + j * n, 1, n)));
    }
    CHK(okra_matrix_right_(ctx, false, true, 1, okra_mat_of_(U, p, n), A, Dm));
    for (okra_int j = 0; j < p; j++) { /* about the mean: sum_i s_i D_ij = 0 */
        center_row(a, D + j * n);
        okra_scale_(n, sqrt(nu[j]), D + j * n);
    }
    CHK(okra_matrix_right_(ctx, false, false, 1, Dm, a->L, okra_mat_of_(S, p, n)));
    for (okra_int i = 0; i < p * n; i++) {
        S[i] /= nu[i / n];
    }
    return OKRA_OK;
}

/* The number of directions, rows of S (p x n), of the least leave-one-out error. */
static okra_status leave_one_out(okra_context *ctx, const okra_matrix_ *A,
                                 const double *S, okra_int n, okra_int p, okra_int *best)
{
    OWNED double *T = NULL, *slack = NULL;
    double sum = 0, least = 0;
    MAKE(slack, n);
    CHK(okra_doubles_(ctx, p, n, "the fitted components", &T));
    CHK(okra_matrix_diagonal_(ctx, A, slack));
    CHK(okra_matrix_right_(ctx, false, true, 1, okra_mat_view_(S, p, n, n), A,
                           okra_mat_of_(T, p, n)));
    for (okra_int i = 0; i < n; i++) {
        slack[i] = fmax(1 - slack[i], DBL_EPSILON);
    }
    *best = 0;
    for (okra_int j = 0; j < p; j++) {
        for (okra_int i = 0; i < n; i++) {
            double s = S[j * n + i], r = (s - T[j * n + i]) / slack[i];
            sum += r * r - s * s;
        }
        if (j == 0 || sum < least) {
            least = sum;
            *best = j + 1;
        }
    }
    return OKRA_OK;
}

/* The first p rows of D' and S' as the columns of the model. */
static okra_status take(okra_context *ctx, double *D, double *S, const double *nu,
                        okra_int p, axes *a)
{
    okra_int n = a->n;
    FREED_BY(okra_matrix_drop_) okra_matrix_ *Dt = NULL, *St = NULL;
    drop(a);
    a->p = p;
    CHK(okra_matrix_borrow_(ctx, okra_mat_of_(D, p, n), &Dt));
    CHK(okra_matrix_borrow_(ctx, okra_mat_of_(S, p, n), &St));
    CHK(copy(ctx, true, Dt, &a->D));
    CHK(copy(ctx, true, St, &a->S));
    MAKE(a->mu, p);
    MAKE(a->offset, p);
    for (okra_int j = 0; j < p; j++) {
        a->mu[j] = nu[j];
        a->offset[j] = okra_dot_(n, D + j * n, a->mean) / nu[j];
    }
    return OKRA_OK;
}

/* The directions of the fitted outputs that `text` asks for; G: the factor of K + lambda
 * I. */
static okra_status fitted_axes(okra_context *ctx, const char *text, const okra_matrix_ *K,
                               const okra_matrix_ *G, axes *a)
{
    FREED_BY(okra_matrix_drop_) okra_matrix_ *A = NULL, *M = NULL;
    OWNED double *nu = NULL, *D = NULL, *S = NULL;
    double most = 0;
    bool automatic = strcmp(text, "auto") == 0;
    okra_int p = 0;
    MAKE(nu, a->n);
    CHK(smooth(ctx, K, G, a, &A, &M));
    CHK(okra_matrix_eigh_(ctx, M, nu));
    CHK(largest(ctx, A, a->n, &most));
    okra_int rank = rank_of(ctx, a->n, a->scale * most * most, nu);
    CHK(okra_kpca_choose_(ctx, "rank-output", automatic ? "all" : text, nu, rank, &p));
    CHK(okra_doubles_(ctx, p, a->n, "the directions of fitted outputs", &D));
    CHK(okra_doubles_(ctx, p, a->n, "the output components", &S));
    CHK(directions(ctx, M, A, a, nu, p, D, S));
    if (automatic) {
        CHK(leave_one_out(ctx, A, S, a->n, p, &p));
    }
    return take(ctx, D, S, nu, p, a);
}

/* ---- what is kept ---- */

/* A, rows divided by s_i or times it where pairs have weights; consumed. */
static okra_status keep(okra_context *ctx, const axes *a, const char *name, bool divide,
                        okra_matrix_ **A, okra_store_ *store)
{
    OWNED double *by = NULL;
    if (a->s) {
        MAKE(by, a->n);
        for (okra_int i = 0; i < a->n; i++) {
            by[i] = divide ? 1 / a->s[i] : a->s[i];
        }
        CHK(okra_matrix_scale_(ctx, by, NULL, *A));
    }
    return okra_matrix_keep_(ctx, A, false, "the output components", name, store);
}

/* C, scores of the outputs themselves, and duals where these are others. */
static okra_status put_scores(okra_context *ctx, okra_store_ *store, const axes *a,
                              const okra_matrix_ *G)
{
    FREED_BY(okra_matrix_drop_) okra_matrix_ *C = NULL, *S = NULL, *D = NULL;
    CHK(copy(ctx, false, a->S, &C));
    CHK(okra_matrix_solve_(ctx, true, G, C));
    CHK(keep(ctx, a, "coefficients", false, &C, store));
    CHK(copy(ctx, false, a->S, &S));
    CHK(keep(ctx, a, "scores", true, &S, store));
    if (!a->s && !a->D) {
        return OKRA_OK;
    }
    CHK(copy(ctx, false, a->D ? a->D : a->S, &D));
    return keep(ctx, a, "duals", false, &D, store);
}

/* One lambda: C, and what is shared. With a rank the directions are of this lambda. */
static okra_status fill(okra_context *ctx, axes *a, const okra_matrix_ *K, double lambda,
                        const char *rank, okra_store_ *store)
{
    okra_int n = a->n;
    FREED_BY(okra_matrix_drop_) okra_matrix_ *G = NULL;
    double jitter = 0;
    CHK(okra_matrix_create_(ctx, n, n, "the factor of the input Gram matrix", &G));
    CHK(okra_matrix_copy_(ctx, false, K, G)); /* K of s_i times the features */
    CHK(okra_matrix_add_diagonal_(ctx, lambda, G));
    CHK(okra_matrix_cholesky_(ctx, G, &jitter));
    if (*rank) {
        CHK(fitted_axes(ctx, rank, K, G, a));
        CHK(okra_store_put_number_(store, "rank-output", (double)a->p));
    }
    okra_int p = a->p;
    CHK(put_scores(ctx, store, a, G));
    CHK(okra_store_put_copy_(store, "variances", a->mu, 1, p));
    CHK(okra_store_put_copy_(store, "offset", a->offset, 1, p));
    CHK(okra_store_put_number_(store, "components", (double)p));
    CHK(okra_store_put_number_(store, "lambda", lambda));
    return okra_store_put_number_(store, "jitter", jitter);
}

static okra_status path(okra_context *ctx, const okra_problem_ *problem,
                        const okra_options *options, const double *lambda, size_t count,
                        okra_store_ *const *stores)
{
    kpca_options o;
    FREED_BY(clear) axes a = {0};
    FREED_BY(okra_matrix_drop_) okra_matrix_ *K = NULL;
    CHK(okra_options_read(options, &okra_method_kpca_.options, &o));
    REFUSE_IF(
        *o.rank && strcmp(o.components, "all") != 0, OKRA_EARG,
        "kpca: components is '%s' and rank-output '%s': the directions are those of "
        "the outputs or those of the fitted outputs, give one of the two",
        o.components, o.rank);
    if (problem->map_x) {
        return okra_kpca_low_(ctx, problem, o.components, o.rank, lambda, count, stores);
    }
    CHK(okra_problem_roots_(problem, &a.s, &a.total));
    CHK(center(ctx, problem, &a));
    if (!*o.rank) {
        CHK(find_axes(ctx, o.components, &a));
    }
    CHK(okra_problem_scaled_K_(ctx, problem, a.s, &K));
    for (size_t l = 0; l < count; l++) {
        CHK(okra_cancelled_(ctx));
        CHK(fill(ctx, &a, K, lambda[l], o.rank, stores[l]));
        CHK(okra_problem_put_weights_(problem, stores[l]));
    }
    return OKRA_OK;
}

/* ---- prediction ---- */

/* Of low rank: the axes of components, and predictions as those of ridge. */
static okra_form_ form(const okra_store_ *store)
{
    return okra_store_has_(store, "axes") ? OKRA_FORM_EMBEDDING : OKRA_FORM_WEIGHTS;
}

/* The shapes are those of `kept` below. */
static okra_status components(const okra_store_ *store, okra_int n, okra_components_ *out)
{
    okra_components_ c = {.offset = okra_store_mat_(store, "offset").p};
    double rank;
    c.whole = okra_store_get_number_(store, "rank-output", &rank);
    c.axes = okra_store_get_(store, "axes", &c.p, &c.width);
    if (!c.axes) {
        okra_mat_ S = okra_store_mat_(store, "scores");
        c.scores = S.p;
        c.p = S.cols;
        c.duals = okra_store_mat_(store, "duals").p;
        c.variances = okra_store_mat_(store, "variances").p;
    }
    *out = c;
    return OKRA_OK;
}

static okra_status predict(okra_context *ctx, const okra_store_ *store,
                           okra_query_ *query, okra_mat_ out)
{
    okra_components_ c;
    okra_mat_ C = okra_store_mat_(store, "coefficients");
    okra_int p = C.cols;
    FREED_BY(okra_mat_drop_) okra_mat_ T = {0};
    if (form(store) == OKRA_FORM_EMBEDDING) {
        return okra_ridge_embed_(ctx, store, query, out);
    }
    CHK(components(store, query->n, &c));
    okra_mat_fill_(out, 0);
    okra_mean_restore_(store, out); /* all of it */
    if (p == 0) {
        return OKRA_OK;
    }
    CHK(okra_mat_room_(ctx, query->m, p, "the predicted components", &T));
    CHK(okra_query_times_(ctx, query, false, C, T));
    for (okra_int r = 0; r < query->m; r++) {
        for (okra_int j = 0; j < p; j++) {
            T.p[r * p + j] /= c.variances[j];
        }
    }
    const double *duals = c.duals ? c.duals : c.scores;
    return okra_gemm_(ctx, false, true, 1, T, okra_mat_view_(duals, C.rows, p, p), 1,
                      out);
}

/* clang-format off */
static const okra_schema_ kept_low[] = {
    OKRA_KEEPS_MATRIX_("axes", 0, "p", "d"),
    OKRA_KEEPS_MATRIX_("coefficients", 0, "c", "d"),
    OKRA_KEEPS_MATRIX_("mean", OKRA_KEPT_OPTIONAL_, "1", "d"),
    OKRA_KEEPS_MATRIX_("offset", 0, "1", "p"),
    OKRA_KEEPS_NUMBER_("lambda", 0, "0", "1e300"),
    OKRA_KEEPS_TOLD_("components"),
    OKRA_KEEPS_TOLD_("rank-output"),
    OKRA_KEEPS_TOLD_("jitter"),
    OKRA_KEPT_END_};
static const okra_schema_ kept_scores[] = {
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
    .kept = (const okra_schema_ *const[]){kept_low, kept_scores, NULL},
    .solution = okra_solution_plain_,
};
