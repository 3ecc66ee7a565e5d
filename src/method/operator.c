/*
 * operator.c: the operator of a decomposable kernel k(x,x') A from its text.
 *
 * A task graph with adjacency matrix M (d x d, symmetric, >= 0) gives
 *     A = (mu Lap + (1 - mu) I)^-1,  Lap = D - M,  D_ii = sum_j M_ij,  0 <= mu < 1
 * (Brouard, Szafranski, d'Alche-Buc 2016, sec. 5.2, A_2; Evgeniou et al. 2005): its
 * penalty is mu/2 sum_ij M_ij |h_i - h_j|^2 + (1 - mu) sum_i |h_i|^2. Lap is positive
 * semi-definite, so the inverse is taken by a Cholesky factor, O(d^3); its condition is
 * at most 1 + 2 mu max_i D_ii / (1 - mu).
 */
#include "method/operator.h"

#include "data/data.h"
#include "linalg/linalg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Entries may differ across the diagonal by what a file's last digits lose. */
static const double SYMMETRY = 1e-9;

static okra_status check_symmetric(const char *file, okra_mat_ A)
{
    double scale = 0;
    for (okra_int i = 0; i < A.rows; i++) {
        for (okra_int j = 0; j < A.cols; j++) {
            scale = fmax(scale, fabs(A.p[i * A.ld + j]));
        }
    }
    for (okra_int i = 0; i < A.rows; i++) {
        for (okra_int j = 0; j < i; j++) {
            double lower = A.p[i * A.ld + j], upper = A.p[j * A.ld + i];
            if (fabs(lower - upper) > SYMMETRY * scale) {
                return okra_fail_(
                    OKRA_EARG,
                    "operator: %s: element (%lld, %lld) is %.10g but (%lld, "
                    "%lld) is %.10g, expected a symmetric matrix",
                    file, (long long)i, (long long)j, lower, (long long)j, (long long)i,
                    upper);
            }
        }
    }
    return OKRA_OK;
}

static okra_status read_matrix(okra_context *ctx, const char *file, okra_int d,
                               double **out)
{
    okra_status st = OKRA_OK;
    okra_data *data = NULL;
    double *A = NULL;
    char found[120];
    okra_int ld = 0;
    TRY(okra_data_read(ctx, file, &data));
    const double *values = okra_data_values(data, &ld);
    if (!values || okra_data_count(data) != d || okra_data_width(data) != d) {
        FAIL(OKRA_ESHAPE,
             "operator: %s holds %s, expected a matrix of %lld x %lld, one row an output "
             "coordinate",
             file, okra_data_describe_(data, found, sizeof found), (long long)d,
             (long long)d);
    }
    TRY(okra_doubles_(ctx, d, d, "the operator matrix", &A));
    okra_mat_copy_(okra_mat_view_(values, d, d, ld), okra_mat_of_(A, d, d));
    TRY(check_symmetric(file, okra_mat_of_(A, d, d)));
    *out = A;
    A = NULL;
done:
    okra_free_(A);
    okra_data_free(data);
    return st;
}

/* M becomes mu (D - M) + (1 - mu) I; a loop M_ii adds nothing to D - M. */
static okra_status regularised_laplacian(const char *file, okra_int d, double mu,
                                         double *M)
{
    for (okra_int i = 0; i < d; i++) {
        double degree = 0;
        for (okra_int j = 0; j < d; j++) {
            double m = M[i * d + j];
            if (m < 0) {
                return okra_fail_(OKRA_EARG,
                                  "operator: %s: element (%lld, %lld) is %.10g, expected "
                                  "the weights of a graph, 0 or more",
                                  file, (long long)i, (long long)j, m);
            }
            degree += i == j ? 0 : m;
            M[i * d + j] = -mu * m;
        }
        M[i * d + i] = mu * degree + (1 - mu);
    }
    return OKRA_OK;
}

/* M_ij = exp(-gamma |Y^i - Y^j|^2); over the rows in which both are known, scaled to all
 * n rows, where values are missing. */
static okra_status estimate(okra_context *ctx, const char *text, const okra_problem_ *p,
                            double **out)
{
    okra_status st = OKRA_OK;
    okra_int n = p->n, d = p->d;
    double *M = NULL;
    char *end = NULL;
    const char *begin = strncmp(text, "(gamma=", 7) == 0 ? text + 7 : NULL;
    double gamma = begin ? strtod(begin, &end) : -1;
    if (!(gamma > 0 && isfinite(gamma)) || end == begin || strcmp(end, ")") != 0) {
        FAIL(OKRA_EARG,
             "operator: 'graph:estimate%s', expected estimate(gamma=V) with V > 0", text);
    }
    TRY(okra_doubles_(ctx, d, d, "the graph of tasks", &M));
    for (okra_int i = 0; i < d; i++) {
        for (okra_int j = 0; j < d; j++) {
            double sum = 0;
            okra_int both = 0;
            for (okra_int k = 0; k < n; k++) {
                const double *y = p->features + k * p->features_ld;
                double e = y[i] - y[j];
                both += !isnan(e);
                sum += isnan(e) ? 0 : e * e;
            }
            /* Nothing in common: no edge. */
            M[i * d + j] = both ? exp(-gamma * sum * (double)n / (double)both) : 0;
        }
    }
    *out = M;
    M = NULL;
done:
    okra_free_(M);
    return st;
}

static okra_status read_graph(okra_context *ctx, const char *text, const okra_problem_ *p,
                              double **out)
{
    okra_status st = OKRA_OK;
    okra_int d = p->d;
    char *file = NULL, *end = NULL;
    double *M = NULL, *A = NULL;
    const char *comma = strrchr(text, ',');
    double mu =
        comma && strncmp(comma, ",mu=", 4) == 0 ? okra_strtod_(comma + 4, &end) : -1;
    if (!(mu >= 0 && mu < 1) || end == comma + 4 || *end) {
        FAIL(OKRA_EARG, "operator: 'graph:%s', expected graph:FILE,mu=V with 0 <= V < 1",
             text);
    }
    file = okra_strndup_(text, (size_t)(comma - text));
    if (!file) {
        st = OKRA_EMEM;
        goto done;
    }
    bool guess = strncmp(file, "estimate", 8) == 0 && (file[8] == '(' || !file[8]);
    TRY(guess ? estimate(ctx, file + 8, p, &M) : read_matrix(ctx, file, d, &M));
    TRY(regularised_laplacian(file, d, mu, M));
    TRY(okra_doubles_(ctx, d, d, "the operator matrix", &A));
    okra_mat_fill_(okra_mat_of_(A, d, d), 0);
    okra_mat_add_diagonal_(okra_mat_of_(A, d, d), 1);
    TRY(okra_cholesky_(ctx, okra_mat_of_(M, d, d), NULL));
    TRY(okra_cholesky_solve_(ctx, okra_mat_of_(M, d, d), okra_mat_of_(A, d, d)));
    *out = A;
    A = NULL;
done:
    okra_free_(A);
    okra_free_(M);
    okra_free_(file);
    return st;
}

okra_status okra_operator_read_(okra_context *ctx, const char *text,
                                const okra_problem_ *problem, okra_operator_ *out)
{
    static const struct {
        const char *name;
        okra_operator_kind_ kind;
    } plain[] = {{"identity", OKRA_OPERATOR_IDENTITY},
                 {"cov", OKRA_OPERATOR_COV},
                 {"ccov", OKRA_OPERATOR_CCOV}};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        if (strcmp(text, plain[i].name) == 0) {
            *out = (okra_operator_){plain[i].kind, NULL};
            return OKRA_OK;
        }
    }
    bool matrix = strncmp(text, "matrix:", 7) == 0;
    if (!matrix && strncmp(text, "graph:", 6) != 0) {
        return okra_fail_(OKRA_EARG,
                          "operator: '%s' is unknown, expected identity, cov, ccov, "
                          "matrix:FILE, graph:FILE,mu=V or graph:estimate(gamma=G),mu=V",
                          text);
    }
    okra_operator_ op = {OKRA_OPERATOR_MATRIX, NULL};
    okra_status st = matrix ? read_matrix(ctx, text + 7, problem->d, &op.A)
                            : read_graph(ctx, text + 6, problem, &op.A);
    if (st == OKRA_OK) {
        *out = op;
    }
    return st;
}

okra_status okra_operator_decompose_(okra_context *ctx, okra_mat_ A, double *g)
{
    okra_status st = OKRA_OK;
    TRY(okra_eigh_(ctx, A, g));
    double top = fmax(fabs(g[0]), fabs(g[A.rows - 1]));
    if (g[0] < -1e-8 * top) {
        FAIL(OKRA_EARG,
             "operator: the smallest eigenvalue of the matrix is %.6g, the largest %.6g, "
             "expected a positive semi-definite matrix",
             g[0], g[A.rows - 1]);
    }
    for (okra_int i = 0; i < A.rows; i++) {
        g[i] = fmax(g[i], 0);
    }
done:
    return st;
}
