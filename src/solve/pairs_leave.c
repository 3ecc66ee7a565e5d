/*
 * pairs_leave.c: predictions of pairs by models that have not seen them.
 *
 * Leaving out a set S of pairs (the formula of Pahikkala et al. 2012 and Stock et al.
 * 2018, "A comparative study of pairwise learning methods"): with G = (K + lambda I)^-1,
 * y_S less its prediction is G_SS^-1 (G y)_S. Of the product:
 *     a pair     G_SS is a number: ((U o U)' D (V o V))_ij
 *     row i      G_SS = V' diag(g) V, g_l = sum_k U_ki^2 D_kl
 *     both       row i is taken away from A (one decomposition each); in the basis of the
 *                rest the problem falls apart into ridges over columns, each of which
 *                leaves out column j in closed form. n m (n + m) operations a row.
 * The mean of those that are left is exact too: predictions are linear in y, so those of
 * y and of ones tell the rest. Accuracy: about eps (1 + max a max b / lambda).
 */
#include "solve/pairs.h"

enum { FOLDS = 5, BLOCKS = 3 };

static okra_mat_ mat(const double *p, okra_int rows, okra_int cols)
{
    return okra_mat_view_(p, rows, cols, cols);
}

/* ---- leaving out, one product ---- */

/* What a setting leaves out when it comes to pair p, in pairs and in their values. */
typedef struct totals {
    double *row, *column, *row_count, *column_count, all, count;
} totals;

OKRA_CLEARS_(totals_clear, totals, it->row, it->column, it->row_count, it->column_count)

static okra_status sum_up(const okra_pair_solver_ *s, totals *t)
{
    ZMAKE(t->row, s->n);
    ZMAKE(t->column, s->m);
    ZMAKE(t->row_count, s->n);
    ZMAKE(t->column_count, s->m);
    for (okra_int p = 0; p < s->n * s->m; p++) {
        if (okra_pair_known_(s, p)) {
            double w = okra_pair_weight_(s, p), y = w * s->Y[p];
            t->all += y;
            t->count += w;
            t->row[p / s->m] += y;
            t->row_count[p / s->m] += w;
            t->column[p % s->m] += y;
            t->column_count[p % s->m] += w;
        }
    }
    return OKRA_OK;
}

/* F <- the prediction of y and (where there is a mean) of ones, F1, put together: the
 * mean of what is left m, F + m (1 - F1). NaN where nothing is left. */
static okra_status put_together(const okra_pair_solver_ *s, okra_pair_setting setting,
                                const double *F1, double *F)
{
    FREED_BY(totals_clear) totals t = {0};
    CHK(sum_up(s, &t));
    for (okra_int p = 0; p < s->n * s->m; p++) {
        okra_int i = p / s->m, j = p % s->m;
        if (!okra_pair_known_(s, p)) {
            F[p] = NAN;
            continue;
        }
        double w = okra_pair_weight_(s, p), y = w * s->Y[p], sum = t.all, count = t.count;
        bool row = setting == OKRA_PAIR_ROW || setting == OKRA_PAIR_BOTH;
        bool column = setting == OKRA_PAIR_COLUMN || setting == OKRA_PAIR_BOTH;
        sum -= (row ? t.row[i] : 0) + (column ? t.column[j] : 0);
        count -= (row ? t.row_count[i] : 0) + (column ? t.column_count[j] : 0);
        sum += row && column ? y : !row && !column ? -y : 0;
        count += row && column ? w : !row && !column ? -w : 0;
        double mean = sum / count;
        bool some = count > 1e-9 * t.count;
        F[p] = !some ? (double)NAN : s->center ? F[p] + mean * (1 - F1[p]) : F[p];
    }
    return OKRA_OK;
}

static okra_status squares(okra_int n, const double *U, double **out)
{
    MAKE(*out, n * n);
    for (okra_int p = 0; p < n * n; p++) {
        (*out)[p] = U[p] * U[p];
    }
    return OKRA_OK;
}

/* F <- predictions of R (n x m), a pair, row or column left out. */
static okra_status leave_product(const okra_pair_solver_ *s, double lambda,
                                 okra_pair_setting setting, const double *R, double *F)
{
    okra_int n = s->n, m = s->m, size = n * m;
    OWNED double *D = NULL, *G = NULL, *T = NULL, *C = NULL, *U2 = NULL, *V2 = NULL;
    double **blocks[] = {&D, &G, &T, &C};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) {
        CHK(okra_doubles_(s->ctx, n, m, "left-out predictions", blocks[k]));
    }
    CHK(squares(n, s->of->U, &U2));
    CHK(squares(m, s->of->V, &V2));
    CHK(okra_pair_invert_(s, lambda, R, T, C));
    for (okra_int p = 0; p < size; p++) {
        D[p] = 1 / (s->of->a[p / m] * s->of->b[p % m] + lambda);
    }
    bool row = setting == OKRA_PAIR_ROW, column = setting == OKRA_PAIR_COLUMN;
    if (!column) { /* T <- (U o U)' D */
        CHK(okra_gemm_(s->ctx, true, false, 1, mat(U2, n, n), mat(D, n, m), 0,
                       mat(T, n, m)));
    }
    if (!row) {
        CHK(okra_gemm_(s->ctx, false, false, 1, column ? mat(D, n, m) : mat(T, n, m),
                       mat(V2, m, m), 0, mat(G, n, m)));
    }
    if (row) {
        CHK(okra_gemm_(s->ctx, false, true, 1, mat(C, n, m), mat(s->of->V, m, m), 0,
                       mat(G, n, m)));
        for (okra_int p = 0; p < size; p++) {
            G[p] /= T[p];
        }
        CHK(okra_gemm_(s->ctx, false, false, 1, mat(G, n, m), mat(s->of->V, m, m), 0,
                       mat(C, n, m)));
    } else if (column) {
        CHK(okra_gemm_(s->ctx, false, false, 1, mat(s->of->U, n, n), mat(C, n, m), 0,
                       mat(T, n, m)));
        for (okra_int p = 0; p < size; p++) {
            T[p] /= G[p];
        }
        CHK(okra_gemm_(s->ctx, true, false, 1, mat(s->of->U, n, n), mat(T, n, m), 0,
                       mat(C, n, m)));
    }
    for (okra_int p = 0; p < size; p++) {
        F[p] = R[p] - (row || column ? C[p] : C[p] / G[p]);
    }
    return OKRA_OK;
}

/* A problem with row i taken away; see leave_row_and_columns. */
typedef struct rest {
    okra_int n, m; /* all rows */
    const double *A, *b, *V;
    double *V2, *P, *a, *z, *Y, *X, *H, *G, *h, *g; /* P: n-1 square; Y..: n-1 x m */
} rest;

static void rest_clear(rest *it)
{
    FREE(it->V2, it->P, it->a, it->z, it->Y, it->X, it->H, it->G, it->h, it->g);
}

static okra_status rest_create(okra_context *ctx, rest *r)
{
    okra_int n = r->n - 1;
    double **blocks[] = {&r->Y, &r->X, &r->H, &r->G, &r->h, &r->g};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) {
        CHK(okra_doubles_(ctx, r->n, r->m, "left-out predictions", blocks[k]));
    }
    CHK(squares(r->m, r->V, &r->V2));
    MAKE(r->P, n * n);
    MAKE(r->a, n);
    MAKE(r->z, n);
    return OKRA_OK;
}

/* P, a <- the decomposition of A without row i; z <- P A_i; G, g <- sums over l of V_lj^2
 * times b_l D_kl and D_kl. */
static okra_status take_away(okra_context *ctx, rest *r, okra_int i, double lambda)
{
    okra_int n = r->n - 1, m = r->m;
    for (okra_int k = 0; k < n; k++) {
        for (okra_int l = 0; l < n; l++) {
            r->P[k * n + l] = r->A[(k + (k >= i)) * r->n + l + (l >= i)];
        }
    }
    CHK(okra_eigh_(ctx, okra_mat_of_(r->P, n, n), r->a));
    for (okra_int k = 0; k < n; k++) {
        r->a[k] = fmax(r->a[k], 0);
        r->z[k] = 0;
        for (okra_int l = 0; l < n; l++) {
            r->z[k] += r->P[k * n + l] * r->A[i * r->n + l + (l >= i)];
        }
    }
    for (okra_int p = 0; p < n * m; p++) {
        r->G[p] = 1 / (r->a[p / m] * r->b[p % m] + lambda);
        r->H[p] = r->b[p % m] * r->G[p];
    }
    CHK(okra_gemm_(ctx, false, false, 1, mat(r->G, n, m), mat(r->V2, m, m), 0,
                   mat(r->g, n, m)));
    return okra_gemm_(ctx, false, false, 1, mat(r->H, n, m), mat(r->V2, m, m), 0,
                      mat(r->h, n, m));
}

/* f (m) <- the predictions of row i of R, each with its column left out too:
 * sum_k z_k (q - h y)_kj / (lambda g)_kj, y = P R, q = (H o y V') V. */
static okra_status predict_row(okra_context *ctx, rest *r, okra_int i, double lambda,
                               const double *R, double *f)
{
    okra_int n = r->n - 1, m = r->m;
    for (okra_int k = 0; k < n; k++) {
        memcpy(r->X + k * m, R + (k + (k >= i)) * m, (size_t)m * sizeof *f);
    }
    CHK(okra_gemm_(ctx, false, false, 1, mat(r->P, n, n), mat(r->X, n, m), 0,
                   mat(r->Y, n, m)));
    CHK(okra_gemm_(ctx, false, true, 1, mat(r->Y, n, m), mat(r->V, m, m), 0,
                   mat(r->G, n, m)));
    for (okra_int p = 0; p < n * m; p++) {
        r->G[p] *= r->H[p];
    }
    CHK(okra_gemm_(ctx, false, false, 1, mat(r->G, n, m), mat(r->V, m, m), 0,
                   mat(r->X, n, m)));
    okra_fill_(m, 0, f);
    for (okra_int p = 0; p < n * m; p++) {
        f[p % m] += r->z[p / m] * (r->X[p] - r->h[p] * r->Y[p]) / (lambda * r->g[p]);
    }
    return OKRA_OK;
}

static okra_status leave_both(const okra_pair_solver_ *s, double lambda, double *F,
                              double *F1)
{
    bool turned = s->n > s->m;
    okra_int n = turned ? s->m : s->n, m = turned ? s->n : s->m;
    OWNED double *Y = NULL, *ones = NULL, *f = NULL;
    FREED_BY(rest_clear)
    rest r = {.n = n, .m = m, .A = turned ? s->of->B : s->of->A};
    r.b = turned ? s->of->a : s->of->b;
    r.V = turned ? s->of->U : s->of->V;
    if (n < 2 || m < 2) {
        okra_fill_(n * m, 0, F);
        okra_fill_(n * m, 0, F1);
        return OKRA_OK;
    }
    CHK(rest_create(s->ctx, &r));
    MAKE(f, m);
    CHK(okra_doubles_(s->ctx, n, m, "values", &Y));
    CHK(okra_doubles_(s->ctx, n, m, "values", &ones));
    okra_fill_(n * m, 1, ones);
    CHK(turned ? okra_mat_transpose_(mat(s->Y, m, n), mat(Y, n, m))
               : okra_mat_copy_(mat(s->Y, n, m), mat(Y, n, m)));
    for (okra_int i = 0; i < n; i++) {
        CHK(take_away(s->ctx, &r, i, lambda));
        for (int of = 0; of < (s->center ? 2 : 1); of++) {
            double *out = of ? F1 : F;
            CHK(predict_row(s->ctx, &r, i, lambda, of ? ones : Y, f));
            for (okra_int j = 0; j < m; j++) {
                out[turned ? j * n + i : i * m + j] = f[j];
            }
        }
        okra_progress_(s->ctx, "leave out rows and columns", i + 1, n);
        CHK(okra_cancelled_(s->ctx));
    }
    return OKRA_OK;
}

/* ---- leaving out, few pairs ---- */

static double entry(const okra_pair_solver_ *s, okra_int p, okra_int q)
{
    double sum = 0;
    for (int t = 0; t < s->terms; t++) {
        sum += s->of[t].A[p / s->m * s->n + q / s->m] *
               s->of[t].B[p % s->m * s->m + q % s->m];
    }
    return sum;
}

static bool goes(okra_pair_setting setting, okra_int m, okra_int p, okra_int q)
{
    bool row = p / m == q / m, column = p % m == q % m;
    return setting == OKRA_PAIR_PAIR     ? p == q
           : setting == OKRA_PAIR_ROW    ? row
           : setting == OKRA_PAIR_COLUMN ? column
                                         : row || column;
}

/* F and F1 at pair `of`, from G = (K + lambda / w)^-1 over the pairs `list`. */
static okra_status leave_one(const okra_pair_solver_ *s, okra_pair_setting setting,
                             const okra_int *list, const double *G, const double *C,
                             okra_int of, double *F, double *F1)
{
    okra_int N = s->known, count = 0, at = 0, p = list[of];
    OWNED okra_int *out = NULL;
    OWNED double *part = NULL, *right = NULL;
    MAKE(out, N);
    for (okra_int k = 0; k < N; k++) {
        at = k == of ? count : at;
        if (goes(setting, s->m, p, list[k])) {
            out[count++] = k;
        }
    }
    MAKE(part, count * count);
    MAKE(right, 2 * count);
    for (okra_int k = 0; k < count; k++) {
        for (okra_int l = 0; l < count; l++) {
            part[k * count + l] = G[out[k] * N + out[l]];
        }
        right[2 * k] = C[2 * out[k]];
        right[2 * k + 1] = C[2 * out[k] + 1];
    }
    CHK(okra_cholesky_quiet_(s->ctx, mat(part, count, count), NULL));
    CHK(okra_cholesky_solve_(s->ctx, mat(part, count, count), mat(right, count, 2)));
    F[p] = s->Y[p] - right[2 * at];
    F1[p] = 1 - right[2 * at + 1];
    return OKRA_OK;
}

static okra_status leave_dense(const okra_pair_solver_ *s, double lambda,
                               okra_pair_setting setting, double *F, double *F1)
{
    okra_int N = s->known, count = 0;
    OWNED okra_int *list = NULL;
    OWNED double *K = NULL, *G = NULL, *C = NULL;
    MAKE(list, N);
    CHK(okra_doubles_(s->ctx, N, N, "the matrix of pairs", &K));
    CHK(okra_doubles_(s->ctx, N, N, "its inverse", &G));
    MAKE(C, 2 * N);
    for (okra_int p = 0; p < s->n * s->m; p++) {
        if (okra_pair_known_(s, p)) {
            C[2 * count] = s->Y[p];
            C[2 * count + 1] = 1;
            list[count++] = p;
        }
    }
    okra_mat_units_(mat(G, N, N), 0);
    for (okra_int k = 0; k < N; k++) {
        for (okra_int l = 0; l < N; l++) {
            K[k * N + l] = entry(s, list[k], list[l]);
        }
        K[k * N + k] += lambda / okra_pair_weight_(s, list[k]);
    }
    CHK(okra_cholesky_(s->ctx, mat(K, N, N), NULL));
    CHK(okra_cholesky_solve_(s->ctx, mat(K, N, N), mat(G, N, N)));
    CHK(okra_cholesky_solve_(s->ctx, mat(K, N, N), mat(C, N, 2)));
    for (okra_int k = 0; k < N; k++) {
        CHK(leave_one(s, setting, list, G, C, k, F, F1));
    }
    return OKRA_OK;
}

/* ---- leaving out groups ---- */

okra_int okra_pair_folds_(const okra_pair_solver_ *s, okra_pair_setting setting)
{
    okra_int rows = OKRA_MIN_(s->n, FOLDS), columns = OKRA_MIN_(s->m, FOLDS);
    return setting == OKRA_PAIR_PAIR  ? OKRA_MIN_(s->known, FOLDS)
           : setting == OKRA_PAIR_ROW ? rows
           : setting == OKRA_PAIR_COLUMN
               ? columns
               : OKRA_MIN_(s->n, BLOCKS) * OKRA_MIN_(s->m, BLOCKS);
}

/* Groups 0..parts-1 of equal size by chance, always the same. */
static okra_status draw(okra_int count, okra_int parts, uint64_t stream, okra_int **out)
{
    OWNED okra_int *order = NULL;
    okra_random_ random = okra_random_create_(0, stream);
    MAKE(order, count);
    MAKE(*out, count);
    okra_iota_(count, order);
    okra_random_shuffle_(&random, count, order);
    for (okra_int k = 0; k < count; k++) {
        (*out)[order[k]] = k % parts;
    }
    return OKRA_OK;
}

void okra_pair_fold_clear_(okra_pair_fold_ *f)
{
    okra_pair_solver_clear_(&f->rest);
    FREE(f->grams, f->values, f->C, f->rows, f->columns);
    *f = (okra_pair_fold_){0};
}

/* The part of A (n wide) of these rows and columns. */
static void take_part(const double *A, okra_int n, const okra_int *rows, okra_int p,
                      const okra_int *columns, okra_int q, double *out)
{
    for (okra_int k = 0; k < p * q; k++) {
        out[k] = A[rows[k / q] * n + columns[k % q]];
    }
}

/* What is left where rows and columns of a group go; whole: none do. */
static okra_status open_fold(const okra_pair_solver_ *s, const bool *row,
                             const bool *column, okra_pair_fold_ *f)
{
    OWNED double **A = NULL, **B = NULL;
    okra_int p = 0, q = 0;
    MAKE(f->rows, s->n);
    MAKE(f->columns, s->m);
    for (okra_int i = 0; i < s->n; i++) {
        f->rows[p] = i;
        p += !row[i];
    }
    for (okra_int j = 0; j < s->m; j++) {
        f->columns[q] = j;
        q += !column[j];
    }
    MAKE(A, s->terms);
    MAKE(B, s->terms);
    CHK(okra_doubles_(s->ctx, s->terms, p * p + q * q, "Gram matrices", &f->grams));
    CHK(okra_doubles_(s->ctx, 2 * p, q, "values", &f->values));
    CHK(okra_doubles_(s->ctx, p, q, "coefficients", &f->C));
    okra_fill_(p * q, 0, f->C);
    for (int t = 0; t < s->terms; t++) {
        A[t] = f->grams + t * (p * p + q * q);
        B[t] = A[t] + p * p;
        take_part(s->of[t].A, s->n, f->rows, p, f->rows, p, A[t]);
        take_part(s->of[t].B, s->m, f->columns, q, f->columns, q, B[t]);
    }
    take_part(s->Y, s->m, f->rows, p, f->columns, q, f->values);
    if (s->W) {
        take_part(s->W, s->m, f->rows, p, f->columns, q, f->values + p * q);
    }
    return okra_pair_solver_create_(s->ctx, p, q, s->terms, A, B, f->values,
                                    s->W ? f->values + p * q : NULL, s->center, &f->rest);
}

/* C (n x m) <- coefficients without the pairs `left`, of rows and columns that stay. */
static okra_status solve_fold(const okra_pair_solver_ *s, double lambda, const bool *left,
                              const bool *row, const bool *column, double tolerance,
                              okra_pair_fold_ *f, double *C, double *mean)
{
    okra_int steps = 0;
    if (!row) {
        if (!f->C) {
            CHK(okra_doubles_(s->ctx, s->n, s->m, "coefficients", &f->C));
            okra_fill_(s->n * s->m, 0, f->C);
        }
        CHK(okra_pair_solve_(s, lambda, left, tolerance, f->C, mean, &steps));
        memcpy(C, f->C, (size_t)(s->n * s->m) * sizeof *C);
        return OKRA_OK;
    }
    if (!f->rest.of) {
        okra_pair_fold_clear_(f);
        CHK(open_fold(s, row, column, f));
    }
    CHK(okra_pair_solve_(&f->rest, lambda, NULL, tolerance, f->C, mean, &steps));
    okra_fill_(s->n * s->m, 0, C);
    for (okra_int k = 0; k < f->rest.n * f->rest.m; k++) {
        C[f->rows[k / f->rest.m] * s->m + f->columns[k % f->rest.m]] = f->C[k];
    }
    return OKRA_OK;
}

/* Groups of a setting, and which of them goes. */
typedef struct groups {
    okra_int count, across; /* across: groups of columns, of both */
    okra_int *of_pair, *of_row, *of_column;
    bool *left, *row, *column; /* that go now */
} groups;

OKRA_CLEARS_(groups_clear, groups, it->of_pair, it->of_row, it->of_column, it->left,
             it->row, it->column)

static okra_status make_groups(const okra_pair_solver_ *s, okra_pair_setting setting,
                               groups *g)
{
    bool both = setting == OKRA_PAIR_BOTH;
    g->count = okra_pair_folds_(s, setting);
    g->across = both ? OKRA_MIN_(s->m, BLOCKS) : 1;
    MAKE(g->left, s->n * s->m);
    MAKE(g->row, s->n);
    MAKE(g->column, s->m);
    CHK(draw(s->n * s->m, g->count, 41, &g->of_pair));
    CHK(draw(s->n, g->count / g->across, 42, &g->of_row));
    return draw(s->m, both ? g->across : g->count, 43, &g->of_column);
}

/* Marks what goes with group k; how many pairs stay. */
static okra_int mark(const okra_pair_solver_ *s, okra_pair_setting setting, okra_int k,
                     groups *g)
{
    okra_int in = 0;
    bool rows = setting == OKRA_PAIR_ROW || setting == OKRA_PAIR_BOTH;
    bool columns = setting == OKRA_PAIR_COLUMN || setting == OKRA_PAIR_BOTH;
    for (okra_int i = 0; i < s->n; i++) {
        g->row[i] = rows && g->of_row[i] == k / g->across;
    }
    for (okra_int j = 0; j < s->m; j++) {
        g->column[j] = columns && g->of_column[j] == (rows ? k % g->across : k);
    }
    for (okra_int p = 0; p < s->n * s->m; p++) {
        g->left[p] = rows || columns ? g->row[p / s->m] || g->column[p % s->m]
                                     : g->of_pair[p] == k;
        in += !g->left[p] && okra_pair_known_(s, p);
    }
    return in;
}

okra_status okra_pair_leave_folds_(const okra_pair_solver_ *s, double lambda,
                                   okra_pair_setting setting, bool some, double tolerance,
                                   okra_pair_fold_ *folds, double *F)
{
    FREED_BY(groups_clear) groups g = {0};
    FREED_BY(okra_pair_fold_clear_) okra_pair_fold_ one = {0};
    OWNED double *C = NULL, *fitted = NULL;
    bool whole = setting == OKRA_PAIR_PAIR, both = setting == OKRA_PAIR_BOTH;
    CHK(make_groups(s, setting, &g));
    CHK(okra_doubles_(s->ctx, s->n, s->m, "left-out predictions", &fitted));
    CHK(okra_doubles_(s->ctx, s->n, s->m, "coefficients", &C));
    okra_fill_(s->n * s->m, NAN, F);
    for (okra_int k = 0; k < g.count; k += some ? OKRA_MAX_(g.count - 1, 1) : 1) {
        double mean = 0;
        if (mark(s, setting, k, &g) == 0) {
            continue;
        }
        CHK(solve_fold(s, lambda, g.left, whole ? NULL : g.row, g.column, tolerance,
                       folds ? &folds[k] : &one, C, &mean));
        okra_pair_fold_clear_(&one);
        CHK(okra_pair_fitted_(s, C, mean, fitted));
        for (okra_int p = 0; p < s->n * s->m; p++) {
            bool own = both ? g.row[p / s->m] && g.column[p % s->m] : g.left[p];
            F[p] = own && okra_pair_known_(s, p) ? fitted[p] : F[p];
        }
        okra_progress_(s->ctx, "leave out groups", k + 1, g.count);
    }
    okra_progress_end_(s->ctx, "leave out groups");
    return OKRA_OK;
}

okra_status okra_pair_leave_(const okra_pair_solver_ *s, double lambda,
                             okra_pair_setting setting, double *F, okra_pair_how_ *how)
{
    okra_int size = s->n * s->m;
    OWNED double *F1 = NULL, *ones = NULL;
    CHK(okra_doubles_(s->ctx, s->n, s->m, "left-out predictions", &F1));
    okra_fill_(size, 0, F1);
    *how = s->product ? OKRA_PAIR_CLOSED_ : OKRA_PAIR_DENSE_;
    if (!s->product) {
        CHK(leave_dense(s, lambda, setting, F, F1));
    } else if (setting == OKRA_PAIR_BOTH) {
        CHK(leave_both(s, lambda, F, F1));
    } else {
        CHK(leave_product(s, lambda, setting, s->Y, F));
        CHK(okra_doubles_(s->ctx, s->n, s->m, "ones", &ones));
        okra_fill_(size, 1, ones);
        CHK(s->center ? leave_product(s, lambda, setting, ones, F1) : OKRA_OK);
    }
    return put_together(s, setting, F1, F);
}
