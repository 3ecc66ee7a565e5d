/*
 * twin_engine.c: the sums of twin kernel learning (twin.c) by the verbs of an engine.
 *
 * Two passes over blocks of rows of the Gram matrices. The first makes every term of a
 * block, an elementwise product of its parent and a base kernel, and takes its row sums.
 * The second makes the terms again, centres each by a product of rank 2,
 *     A~ = A + [S - r_a, 1] [1, -r_b]',
 * and adds the inner products of all pairs. The unbiased estimator leaves the diagonal
 * out: a matrix of ones with zeros there takes it away from the kernels before the first
 * pass and from the centred terms of x.
 *
 * Where the engine makes kernel values by itself no n x n matrix exists anywhere. Memory:
 * (d1 + d2) blocks, 8 GiB together, a quarter of the budget, or what the engine has, and
 * (d1 + d2) x 3 n numbers. Work: 3 n^2 (d1 + d2) for the terms, 2 n^2 d1 d2 for the
 * products.
 */
#include "method/twin/twin.h"

static const okra_int MOST = (okra_int)1 << 30; /* doubles */

typedef struct side {
    const okra_twin_side_ *given;
    okra_int terms;
    okra_twin_recipe_ *recipes;
    double *sums, *whole; /* terms x n, terms: see okra_twin_means_                  */
    okra_matrix_ **term;  /* terms: rows x n                                         */
    okra_matrix_ **means; /* terms: n x 2, [1, -r_b]                                 */
    okra_matrix_ *factor[OKRA_TWIN_KERNELS_MOST]; /* n x m, where there are factors   */
} side;

typedef struct job {
    okra_context *ctx;
    okra_int n, rows; /* rows of a block */
    bool unbiased;
    side side[2];
    okra_matrix_ *mask; /* rows x n: 0 on the diagonal of the matrix, 1 elsewhere */
    okra_matrix_ *left; /* rows x 2: [S - r_a, 1]                                */
} job;

static void free_all(okra_int count, okra_matrix_ **A)
{
    for (okra_int t = 0; A && t < count; t++) {
        okra_matrix_drop_(&A[t]);
    }
}

static void close_block(job *j)
{
    for (int s = 0; s < 2; s++) {
        free_all(j->side[s].terms, j->side[s].term);
    }
    okra_matrix_free_(j->mask);
    okra_matrix_free_(j->left);
    j->mask = j->left = NULL;
}

static void job_clear(job *j)
{
    close_block(j);
    for (int s = 0; s < 2; s++) {
        side *z = &j->side[s];
        free_all(z->terms, z->means);
        free_all(OKRA_TWIN_KERNELS_MOST, z->factor);
        FREE(z->recipes, z->sums, z->whole, z->term, z->means);
    }
}

static okra_status side_open(job *j, const okra_twin_side_ *given, side *s)
{
    s->given = given;
    okra_int terms = okra_twin_terms_(given);
    MAKE(s->recipes, terms);
    MAKE(s->whole, terms);
    ZMAKE(s->term, terms);
    ZMAKE(s->means, terms);
    s->terms = terms;
    CHK(okra_doubles_(j->ctx, terms, j->n, "the means of rows", &s->sums));
    okra_twin_recipes_(given, s->recipes);
    for (int k = 0; given->factored && k < given->kernels; k++) {
        CHK(okra_matrix_borrow_(j->ctx, given->gram[k], &s->factor[k]));
    }
    return OKRA_OK;
}

/* ---- blocks ---- */

/* Squares of ones with zeros in the diagonal go where that of the matrix is. */
static okra_status set_mask(const job *j, okra_int first, okra_int rows)
{
    enum { SIDE = 256 };
    OWNED double *ones = NULL;
    MAKE(ones, SIDE * SIDE);
    for (okra_int i = 0; i < SIDE * SIDE; i++) {
        ones[i] = i % SIDE != i / SIDE;
    }
    CHK(okra_matrix_fill_(j->ctx, 1, j->mask));
    for (okra_int i = 0; i < rows; i += SIDE) {
        okra_int some = OKRA_MIN_(SIDE, rows - i);
        CHK(okra_matrix_put_(j->ctx, okra_mat_view_(ones, some, some, SIDE), i, first + i,
                             j->mask));
    }
    return OKRA_OK;
}

/* Matrices for the rows first..first+rows-1. */
static okra_status open_block(job *j, okra_int first, okra_int rows)
{
    if (!j->left || j->left->rows != rows) {
        close_block(j);
        for (int s = 0; s < 2; s++) {
            for (okra_int t = 0; t < j->side[s].terms; t++) {
                CHK(okra_matrix_create_(j->ctx, rows, j->n, "a power of a kernel",
                                        &j->side[s].term[t]));
            }
        }
        CHK(okra_matrix_create_(j->ctx, rows, 2, "the means of rows", &j->left));
        if (j->unbiased) {
            CHK(okra_matrix_create_(j->ctx, rows, j->n, "all but the diagonal",
                                    &j->mask));
        }
    }
    return j->unbiased ? set_mask(j, first, rows) : OKRA_OK;
}

/* Blocks as tall as they may be, and the engine has room for. */
static okra_status find_rows(job *j)
{
    okra_int blocks = j->side[0].terms + j->side[1].terms + j->unbiased;
    okra_int room = OKRA_MIN_(MOST, okra_context_memory(j->ctx) / 4 / 8);
    j->rows = OKRA_MAX_(1, OKRA_MIN_(j->n, room / (blocks * j->n)));
    okra_status st = open_block(j, 0, j->rows);
    while (st == OKRA_EBUDGET && j->rows > 1) {
        close_block(j);
        j->rows /= 2;
        st = open_block(j, 0, j->rows);
    }
    return st;
}

/* A <- rows first.. of the Gram matrix of kernel k. */
static okra_status kernel_rows(const job *j, const side *s, int k, okra_int first,
                               okra_matrix_ *A)
{
    FREED_BY(okra_matrix_drop_) okra_matrix_ *part = NULL;
    okra_mat_ given = s->given->gram[k];
    if (s->given->entries[k]) {
        return okra_matrix_gram_(j->ctx, s->given->entries[k], first, A);
    }
    okra_mat_ rows = okra_mat_part_(given, first, A->rows, 0, given.cols);
    if (!s->given->factored) {
        return okra_matrix_put_(j->ctx, rows, 0, 0, A);
    }
    CHK(okra_matrix_borrow_(j->ctx, rows, &part));
    return okra_matrix_gemm_(j->ctx, false, true, 1, part, s->factor[k], 0, A);
}

static okra_status multiply(const job *j, const okra_matrix_ *B, okra_matrix_ *A)
{
    return okra_matrix_combine_(j->ctx, OKRA_COMBINE_PRODUCT_, 0, 0, NULL, NULL, B, A);
}

static okra_status make_terms(const job *j, const side *s, okra_int first)
{
    for (okra_int t = 0; t < s->terms; t++) {
        const okra_twin_recipe_ *r = &s->recipes[t];
        if (r->parent >= 0) {
            CHK(okra_matrix_copy_(j->ctx, false, s->term[r->parent], s->term[t]));
            CHK(multiply(j, s->term[r->kernel], s->term[t]));
            continue;
        }
        CHK(kernel_rows(j, s, r->kernel, first, s->term[t]));
        if (j->unbiased) {
            CHK(multiply(j, j->mask, s->term[t]));
        }
    }
    return OKRA_OK;
}

/* ---- the two passes ---- */

static okra_status add_sums(job *j, okra_int first, okra_int rows, double *unused)
{
    for (int k = 0; k < 2; k++) {
        side *s = &j->side[k];
        CHK(make_terms(j, s, first));
        for (okra_int t = 0; t < s->terms; t++) {
            CHK(okra_matrix_row_sums_(j->ctx, s->term[t], s->sums + t * j->n + first));
        }
    }
    return OKRA_OK;
}

/* From sums to means, and these to the engine. */
static okra_status send_means(const job *j, side *s)
{
    OWNED double *pairs = NULL;
    MAKE(pairs, 2 * j->n);
    okra_twin_means_(j->n, j->unbiased, s->terms, s->sums, s->whole);
    for (okra_int t = 0; t < s->terms; t++) {
        okra_mat_ V = okra_mat_of_(pairs, j->n, 2);
        for (okra_int b = 0; b < j->n; b++) {
            pairs[2 * b] = 1;
            pairs[2 * b + 1] = -s->sums[t * j->n + b];
        }
        CHK(okra_matrix_create_(j->ctx, j->n, 2, "the means of rows", &s->means[t]));
        CHK(okra_matrix_put_(j->ctx, V, 0, 0, s->means[t]));
    }
    return OKRA_OK;
}

static okra_status centre_terms(const job *j, const side *s, okra_int first,
                                okra_int rows, bool masked)
{
    OWNED double *U = NULL;
    MAKE(U, 2 * rows);
    for (okra_int t = 0; t < s->terms; t++) {
        for (okra_int a = 0; a < rows; a++) {
            U[2 * a] = s->whole[t] - s->sums[t * j->n + first + a];
            U[2 * a + 1] = 1;
        }
        CHK(okra_matrix_put_(j->ctx, okra_mat_of_(U, rows, 2), 0, 0, j->left));
        CHK(okra_matrix_gemm_(j->ctx, false, true, 1, j->left, s->means[t], 1,
                              s->term[t]));
        if (masked) {
            CHK(multiply(j, j->mask, s->term[t]));
        }
    }
    return OKRA_OK;
}

static okra_status add_products(job *j, okra_int first, okra_int rows, double *out)
{
    const side *x = &j->side[0], *y = &j->side[1];
    CHK(make_terms(j, x, first));
    CHK(make_terms(j, y, first));
    CHK(centre_terms(j, x, first, rows, j->unbiased));
    CHK(centre_terms(j, y, first, rows, false));
    return okra_matrix_dots_(j->ctx, x->terms, x->term, y->terms, y->term, out);
}

static okra_status pass(job *j, const char *what,
                        okra_status (*each)(job *, okra_int, okra_int, double *),
                        double *part, okra_mat_ C)
{
    for (okra_int first = 0; first < j->n; first += j->rows) {
        okra_int rows = OKRA_MIN_(j->rows, j->n - first);
        CHK(okra_cancelled_(j->ctx));
        CHK(open_block(j, first, rows));
        CHK(each(j, first, rows, part));
        for (okra_int i = 0; part && i < C.rows * C.cols; i++) {
            C.p[i / C.cols * C.ld + i % C.cols] += part[i];
        }
        okra_progress_(j->ctx, what, first + rows, j->n);
    }
    return OKRA_OK;
}

okra_status okra_twin_engine_(okra_context *ctx, const okra_twin_side_ *x,
                              const okra_twin_side_ *y, bool unbiased, okra_mat_ C)
{
    FREED_BY(job_clear)
    job j = {.ctx = ctx, .n = x->gram[0].rows, .unbiased = unbiased};
    OWNED double *part = NULL;
    CHK(side_open(&j, x, &j.side[0]));
    CHK(side_open(&j, y, &j.side[1]));
    CHK(okra_doubles_(ctx, C.rows, C.cols, "partial sums of HSIC", &part));
    CHK(find_rows(&j));
    okra_mat_fill_(C, 0);
    CHK(pass(&j, "twin sums", add_sums, NULL, C));
    CHK(send_means(&j, &j.side[0]));
    CHK(send_means(&j, &j.side[1]));
    return pass(&j, "twin kernels", add_products, part, C);
}
