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
#include "solve/solution.h"

#include "kernel/networks/network.h"

/* M becomes mu (D - M) + (1 - mu) I; a loop M_ii adds nothing to D - M. */
static okra_status regularised_laplacian(const char *file, okra_int d, double mu,
                                         double *M)
{
    for (okra_int i = 0; i < d; i++) {
        double degree = 0;
        for (okra_int j = 0; j < d; j++) {
            double m = M[i * d + j];
            REFUSE_IF(m < 0, OKRA_EARG,
                      "operator: %s: element (%lld, %lld) is %.10g, expected "
                      "the weights of a graph, 0 or more",
                      file, (long long)i, (long long)j, m);
            degree += i == j ? 0 : m;
            M[i * d + j] = -mu * m;
        }
        M[i * d + i] = mu * degree + (1 - mu);
    }
    return OKRA_OK;
}

/* (gamma=V) or (gamma=auto) */
static okra_status estimate(okra_context *ctx, const char *text, const okra_problem_ *p,
                            double **out)
{
    char *end = NULL;
    const char *begin = strncmp(text, "(gamma=", 7) == 0 ? text + 7 : NULL;
    bool chosen = begin && strcmp(begin, "auto)") == 0;
    double gamma = begin && !chosen ? okra_strtod_(begin, &end) : 0;
    REFUSE_IF(!chosen && (!(gamma > 0 && isfinite(gamma)) || end == begin ||
                          strcmp(end, ")") != 0),
              OKRA_EARG,
              "operator: 'graph:estimate%s', expected estimate(gamma=V) with "
              "V > 0, or estimate(gamma=auto)",
              text);
    return okra_tasks_estimate_(ctx,
                                okra_mat_view_(p->features, p->n, p->d, p->features_ld),
                                p->weights, gamma, out);
}

static okra_status read_graph(okra_context *ctx, const char *text, const okra_problem_ *p,
                              double **out)
{
    okra_int d = p->d;
    OWNED char *file = NULL;
    char *end = NULL;
    OWNED double *M = NULL, *A = NULL;
    const char *comma = strrchr(text, ',');
    double mu =
        comma && strncmp(comma, ",mu=", 4) == 0 ? okra_strtod_(comma + 4, &end) : -1;
    REFUSE_IF(!(mu >= 0 && mu < 1) || end == comma + 4 || *end, OKRA_EARG,
              "operator: 'graph:%s', expected graph:FILE,mu=V with 0 <= V < 1", text);
    file = okra_strndup_(text, (size_t)(comma - text));
    GOT(file);
    bool guess = strncmp(file, "estimate", 8) == 0 && (file[8] == '(' || !file[8]);
    CHK(guess ? estimate(ctx, file + 8, p, &M)
              : okra_tasks_read_(ctx, "operator", file, d, &M));
    CHK(regularised_laplacian(file, d, mu, M));
    CHK(okra_doubles_(ctx, d, d, "the operator matrix", &A));
    okra_mat_fill_(okra_mat_of_(A, d, d), 0);
    okra_mat_add_diagonal_(okra_mat_of_(A, d, d), 1);
    CHK(okra_cholesky_(ctx, okra_mat_of_(M, d, d), NULL));
    CHK(okra_cholesky_solve_(ctx, okra_mat_of_(M, d, d), okra_mat_of_(A, d, d)));
    *out = TAKE(A);
    return OKRA_OK;
}

static okra_status read_diagonal(const char *text, okra_operator_ *out)
{
    char *end = NULL;
    const char *begin = strncmp(text, "diagonal(t=", 11) == 0 ? text + 11 : NULL;
    double t = begin ? okra_strtod_(begin, &end) : -1;
    REFUSE_IF(!(t >= 0 && t <= 1) || end == begin || strcmp(end, ")") != 0, OKRA_EARG,
              "operator: '%s', expected diagonal(t=V) with 0 <= V <= 1", text);
    *out = (okra_operator_){.kind = OKRA_OPERATOR_DIAGONAL, .t = t};
    return OKRA_OK;
}

okra_operator_kind_ okra_operator_kind_of_(const char *text)
{
    static const struct {
        const char *name;
        okra_operator_kind_ kind;
    } plain[] = {{"identity", OKRA_OPERATOR_IDENTITY},
                 {"tensor", OKRA_OPERATOR_IDENTITY},
                 {"cov", OKRA_OPERATOR_COV},
                 {"ccov", OKRA_OPERATOR_CCOV}};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        if (!text || strcmp(text, plain[i].name) == 0) {
            return plain[i].kind;
        }
    }
    return strncmp(text, "diagonal", 8) == 0 ? OKRA_OPERATOR_DIAGONAL
                                             : OKRA_OPERATOR_MATRIX;
}

okra_status okra_operator_read_(okra_context *ctx, const char *text,
                                const okra_problem_ *problem, okra_operator_ *out)
{
    okra_operator_kind_ kind = okra_operator_kind_of_(text);
    if (kind != OKRA_OPERATOR_MATRIX) {
        *out = (okra_operator_){.kind = kind};
        return kind == OKRA_OPERATOR_DIAGONAL ? read_diagonal(text, out) : OKRA_OK;
    }
    bool matrix = strncmp(text, "matrix:", 7) == 0;
    REFUSE_IF(!matrix && strncmp(text, "graph:", 6) != 0, OKRA_EARG,
              "operator: '%s' is unknown, expected identity, tensor, cov, "
              "ccov, diagonal(t=V), matrix:FILE, graph:FILE,mu=V or "
              "graph:estimate(gamma=G),mu=V",
              text);
    okra_operator_ op = {.kind = OKRA_OPERATOR_MATRIX};
    if (problem->A) {
        okra_int d = problem->d;
        okra_status st = okra_doubles_(ctx, d, d, "the operator matrix", &op.A);
        if (st == OKRA_OK) {
            memcpy(op.A, problem->A, (size_t)(d * d) * sizeof *op.A);
            *out = op;
        }
        return st;
    }
    okra_status st = matrix
                         ? okra_tasks_read_(ctx, "operator", text + 7, problem->d, &op.A)
                         : read_graph(ctx, text + 6, problem, &op.A);
    if (st == OKRA_OK) {
        *out = op;
    }
    return st;
}

okra_status okra_operator_decompose_(okra_context *ctx, okra_mat_ A, double *g)
{
    CHK(okra_eigh_(ctx, A, g));
    double top = fmax(fabs(g[0]), fabs(g[A.rows - 1]));
    REFUSE_IF(
        g[0] < -1e-8 * top, OKRA_EARG,
        "operator: the smallest eigenvalue of the matrix is %.6g, the largest %.6g, "
        "expected a positive semi-definite matrix",
        g[0], g[A.rows - 1]);
    for (okra_int i = 0; i < A.rows; i++) {
        g[i] = fmax(g[i], 0);
    }
    return OKRA_OK;
}
