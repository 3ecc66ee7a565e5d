/*
 * host.c: the engine of this machine's memory: the verbs over src/linalg and the tiled
 * Gram matrices of src/kernel.
 */
#include "engine/open.h"

#include "kernel/gram/trained_kernel.h"

typedef struct body {
    okra_mat_ A;
    bool owned;
} body;

static okra_mat_ of(const void *A)
{
    return ((const body *)A)->A;
}

static okra_status create(void *e, okra_context *ctx, okra_int rows, okra_int cols,
                          const char *what, void **out)
{
    OWNED body *b = NULL;
    (void)e;
    MAKE(b, 1);
    *b = (body){{NULL, rows, cols, cols}, true};
    CHK(okra_doubles_(ctx, rows, cols, what, &b->A.p));
    *out = TAKE(b);
    return OKRA_OK;
}

static void destroy(void *e, void *A)
{
    body *b = A;
    (void)e;
    if (b->owned) {
        okra_free_(b->A.p);
    }
    okra_free_(b);
}

static okra_status borrow(void *e, okra_context *ctx, okra_mat_ block, void **out)
{
    body *b = NULL;
    (void)e, (void)ctx;
    MAKE(b, 1);
    *b = (body){block, false};
    *out = b;
    return OKRA_OK;
}

static double *release(void *e, void *A)
{
    body *b = A;
    double *p = b->A.p;
    (void)e;
    okra_free_(b);
    return p;
}

/* ---- Gram matrices ---- */

typedef struct foreign {
    okra_context *ctx;
    const okra_entries_ *entries;
    okra_int first;
    okra_mat_ A;
} foreign;

static okra_status foreign_rows(void *arg, okra_int begin, okra_int end, int worker)
{
    foreign *f = arg;
    (void)worker;
    return f->entries->tile(f->ctx, f->entries->self, f->first + begin, end - begin, 0,
                            f->A.cols, f->A.p + begin * f->A.ld, f->A.ld);
}

static okra_status gram(void *e, okra_context *ctx, const okra_entries_ *entries,
                        okra_int first, okra_int rows, void *A)
{
    const okra_test_side_ *other = NULL;
    const okra_trained_kernel_ *bound = okra_entries_bound_(entries, &other);
    (void)e;
    if (!bound) {
        foreign f = {ctx, entries, first, of(A)};
        return okra_parallel_(ctx, rows, 64, "gram", foreign_rows, &f);
    }
    if (other) {
        return okra_test_side_cross_(ctx, bound, other, first, of(A));
    }
    if (rows == entries->rows) {
        return okra_trained_kernel_gram_(ctx, bound, of(A));
    }
    return okra_tiles_(ctx, bound, bound->kernel->count - 1, &bound->train, first, rows,
                       OKRA_TARGET_FULL_, "gram", of(A));
}

/* ---- to and fro ---- */

static okra_status put(void *e, okra_context *ctx, okra_mat_ block, okra_int i,
                       okra_int j, void *A)
{
    (void)e, (void)ctx;
    return okra_mat_copy_(block, okra_mat_part_(of(A), i, block.rows, j, block.cols));
}

static okra_status get(void *e, okra_context *ctx, const void *A, okra_int i, okra_int j,
                       okra_mat_ block)
{
    (void)e, (void)ctx;
    return okra_mat_copy_(okra_mat_part_(of(A), i, block.rows, j, block.cols), block);
}

static okra_status copy(void *e, okra_context *ctx, bool trans, const void *A, void *B)
{
    (void)e, (void)ctx;
    return (trans ? okra_mat_transpose_ : okra_mat_copy_)(of(A), of(B));
}

/* ---- elementwise ---- */

static okra_status fill(void *e, okra_context *ctx, double value, void *A)
{
    (void)e, (void)ctx;
    okra_mat_fill_(of(A), value);
    return OKRA_OK;
}

static okra_status add_diagonal(void *e, okra_context *ctx, double value, void *A)
{
    (void)e, (void)ctx;
    okra_mat_add_diagonal_(of(A), value);
    return OKRA_OK;
}

static okra_status diagonal(void *e, okra_context *ctx, const void *A, double *out)
{
    okra_mat_ M = of(A);
    (void)e, (void)ctx;
    for (okra_int i = 0; i < OKRA_MIN_(M.rows, M.cols); i++) {
        out[i] = M.p[i * M.ld + i];
    }
    return OKRA_OK;
}

static okra_status scale(void *e, okra_context *ctx, const double *r, const double *c,
                         void *A)
{
    okra_mat_ M = of(A);
    (void)e, (void)ctx;
    for (okra_int i = 0; i < M.rows; i++) {
        double *row = M.p + i * M.ld;
        for (okra_int j = 0; r && j < M.cols; j++) {
            row[j] *= r[i];
        }
        for (okra_int j = 0; c && j < M.cols; j++) {
            row[j] *= c[j];
        }
    }
    return OKRA_OK;
}

static okra_status center(void *e, okra_context *ctx, double *mean, void *A)
{
    okra_mat_ M = of(A);
    okra_int n = M.rows;
    OWNED double *own = NULL;
    double all = 0;
    (void)e, (void)ctx;
    if (!mean) {
        MAKE(own, n);
        mean = own;
    }
    for (okra_int i = 0; i < n; i++) {
        mean[i] = 0;
        for (okra_int j = 0; j < n; j++) {
            mean[i] += M.p[i * M.ld + j] / (double)n;
        }
        all += mean[i] / (double)n;
    }
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            M.p[i * M.ld + j] += all - mean[i] - mean[j];
        }
    }
    return OKRA_OK;
}

static okra_status combine(void *e, okra_context *ctx, okra_combine_ how, double s,
                           double t, const double *r, const double *c, const void *B,
                           void *A)
{
    okra_mat_ M = of(A), N = B ? of(B) : M;
    (void)e, (void)ctx;
    for (okra_int i = 0; i < M.rows; i++) {
        double *a = M.p + i * M.ld;
        const double *b = N.p + i * N.ld;
        for (okra_int j = 0; j < M.cols; j++) {
            switch (how) {
            case OKRA_COMBINE_SUM_:
                a[j] = s * a[j] + t * b[j];
                break;
            case OKRA_COMBINE_PRODUCT_:
                a[j] *= b[j];
                break;
            case OKRA_COMBINE_POWER_:
                a[j] = pow(a[j], s);
                break;
            case OKRA_COMBINE_DIVIDE_:
                a[j] = b[j] / (r[i] * c[j] + s);
                break;
            }
        }
    }
    return OKRA_OK;
}

/* ---- reductions ---- */

static okra_status row_sums(void *e, okra_context *ctx, const void *A, double *out)
{
    okra_mat_ M = of(A);
    (void)e, (void)ctx;
    for (okra_int i = 0; i < M.rows; i++) {
        out[i] = 0;
        for (okra_int j = 0; j < M.cols; j++) {
            out[i] += M.p[i * M.ld + j];
        }
    }
    return OKRA_OK;
}

static okra_status dot(void *e, okra_context *ctx, const void *A, const void *B,
                       double *out)
{
    okra_mat_ M = of(A), N = of(B);
    double sum = 0;
    (void)e, (void)ctx;
    for (okra_int i = 0; i < M.rows; i++) {
        sum += okra_dot_(M.cols, M.p + i * M.ld, N.p + i * N.ld);
    }
    *out = sum;
    return OKRA_OK;
}

/* Insertion into the k best so far, which are in order. */
static void best_of_row(okra_int cols, const double *a, const double *offset, okra_int k,
                        okra_int *index, double *value)
{
    okra_int kept = 0;
    for (okra_int j = 0; j < cols; j++) {
        double v = a[j] + (offset ? offset[j] : 0);
        if (kept == k && !(v > value[k - 1])) {
            continue;
        }
        okra_int at = kept < k ? kept++ : k - 1;
        for (; at > 0 && v > value[at - 1]; at--) {
            value[at] = value[at - 1];
            index[at] = index[at - 1];
        }
        value[at] = v;
        index[at] = j;
    }
}

static okra_status best(void *e, okra_context *ctx, const void *A, const double *offset,
                        okra_int k, okra_int *index, double *value)
{
    okra_mat_ M = of(A);
    (void)e, (void)ctx;
    for (okra_int i = 0; i < M.rows; i++) {
        best_of_row(M.cols, M.p + i * M.ld, offset, k, index + i * k, value + i * k);
    }
    return OKRA_OK;
}

/* ---- linear algebra ---- */

static okra_status gemm(void *e, okra_context *ctx, bool ta, bool tb, double alpha,
                        const void *A, const void *B, double beta, void *C)
{
    (void)e;
    return okra_gemm_(ctx, ta, tb, alpha, of(A), of(B), beta, of(C));
}

static okra_status syrk(void *e, okra_context *ctx, bool trans, double alpha,
                        const void *A, double beta, void *C)
{
    (void)e;
    return okra_syrk_(ctx, trans, alpha, of(A), beta, of(C));
}

static okra_status cholesky(void *e, okra_context *ctx, void *A, bool *done)
{
    (void)e;
    return okra_factor_(ctx, of(A), done);
}

static okra_status restore(void *e, okra_context *ctx, const double *d, void *A)
{
    (void)e, (void)ctx;
    okra_mat_restore_(of(A), d);
    return OKRA_OK;
}

static okra_status trsm(void *e, okra_context *ctx, bool left, bool trans, const void *L,
                        void *B)
{
    (void)e;
    return okra_trsm_(ctx, left, trans, of(L), of(B));
}

static okra_status eigh(void *e, okra_context *ctx, void *A, double *w)
{
    (void)e;
    return okra_eigh_(ctx, of(A), w);
}

const okra_engine_class_ okra_engine_host_class_ = {
    .interface = OKRA_ENGINE_INTERFACE_,
    .name = "host",
    .help = "the memory and the processors of this machine",
    .create = create,
    .destroy = destroy,
    .borrow = borrow,
    .gram = gram,
    .put = put,
    .get = get,
    .release = release,
    .copy = copy,
    .fill = fill,
    .add_diagonal = add_diagonal,
    .diagonal = diagonal,
    .scale = scale,
    .center = center,
    .combine = combine,
    .row_sums = row_sums,
    .dot = dot,
    .best = best,
    .gemm = gemm,
    .syrk = syrk,
    .cholesky = cholesky,
    .restore = restore,
    .trsm = trsm,
    .eigh = eigh,
    .single = okra_single_host_,
    .single_destroy = okra_single_host_destroy_,
    .single_solve = okra_single_host_solve_,
    .product = okra_product_host_,
};
