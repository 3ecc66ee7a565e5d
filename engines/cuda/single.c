/*
 * single.c: factors in single precision of K + lambda I, and products K X in double
 * precision with K made in panels: K itself is never kept.
 *
 * The factor lies column by column, L below the diagonal, as cuBLAS has it. Block
 * columns of WIDTH, from the left: A_j <- A_j - L_<j L_<j' by one product, the factor of
 * the diagonal block by cuSOLVER, the rest by a triangular solve. `rough`: products
 * multiply numbers of 11 bits (TF32) and add in single precision, eight times as fast.
 */
#include "gpu.h"

enum { WIDTH = 1024, STEP = 2048, PANEL = 4096 };

typedef struct factor_ {
    gpu_ *g;
    okra_context *ctx;
    gpu_body_ *body; /* n x ld / 2 doubles: n columns of ld floats */
    float *L;
    okra_int n, ld;
    double lambda;
} factor_;

static okra_status panel_of(gpu_ *g, okra_context *ctx, okra_int n, gpu_body_ **out)
{
    void *body = NULL;
    okra_status st =
        gpu_create_(g, ctx, OKRA_MIN_(PANEL, n), n, "a panel of the Gram matrix", &body);
    *out = body;
    return st;
}

/* ---- factors ---- */

static okra_status narrow(void *arg, const gpu_body_ *P, okra_int first, okra_int rows,
                          okra_int cols, bool half)
{
    okra_status st = OKRA_OK;
    const factor_ *f = arg;
    const gpu_ *g = f->g;
    (void)half;
    GPU_TRY(gpu_run_narrow_(g->stream, rows, cols, first, f->lambda, P->p, P->ld,
                            f->L + first, f->ld),
            "the Gram matrix in single precision");
done:
    return st;
}

static okra_status block(const factor_ *f, okra_int j, okra_int width, bool rough,
                         void *work, size_t device_bytes, void *host, size_t host_bytes,
                         int *info)
{
    okra_status st = OKRA_OK;
    gpu_ *g = f->g;
    float one = 1, minus = -1;
    float *row = f->L + j, *own = row + j * f->ld;
    okra_int below = f->n - j - width;
    if (j > 0) {
        BLAS_TRY(cublasGemmEx_64(
                     g->blas, CUBLAS_OP_N, CUBLAS_OP_T, f->n - j, width, j, &minus, row,
                     CUDA_R_32F, f->ld, row, CUDA_R_32F, f->ld, &one, own, CUDA_R_32F,
                     f->ld, rough ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F,
                     CUBLAS_GEMM_DEFAULT),
                 "a product in single precision");
    }
    SOLVER_TRY(cusolverDnXpotrf(g->solver, g->params, CUBLAS_FILL_MODE_LOWER, width,
                                CUDA_R_32F, own, f->ld, CUDA_R_32F, work, device_bytes,
                                host, host_bytes, g->info),
               "Cholesky in single precision");
    GPU_TRY(
        cudaMemcpyAsync(info, g->info, sizeof *info, cudaMemcpyDeviceToHost, g->stream),
        "Cholesky in single precision");
    GPU_TRY(cudaStreamSynchronize(g->stream), "Cholesky in single precision");
    if (below > 0 && *info == 0) {
        BLAS_TRY(cublasStrsm_64(g->blas, CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_LOWER,
                                CUBLAS_OP_T, CUBLAS_DIAG_NON_UNIT, below, width, &one,
                                own, f->ld, own + width, f->ld),
                 "a triangular solve in single precision");
    }
done:
    return st;
}

/* *done false: a pivot was not above 0. */
static okra_status factorise(const factor_ *f, bool rough, bool *done)
{
    okra_status st = OKRA_OK;
    gpu_ *g = f->g;
    okra_int width = OKRA_MIN_(WIDTH, f->n);
    size_t device_bytes = 0, host_bytes = 0;
    void *work = NULL, *host = NULL;
    int info = 0;
    SOLVER_TRY(cusolverDnXpotrf_bufferSize(g->solver, g->params, CUBLAS_FILL_MODE_LOWER,
                                           width, CUDA_R_32F, f->L, f->ld, CUDA_R_32F,
                                           &device_bytes, &host_bytes),
               "Cholesky in single precision");
    TRY(gpu_arena_(g, f->ctx, device_bytes, "Cholesky in single precision",
                   "a smaller n needs less", &work));
    host = g->host->alloc((okra_int)host_bytes + 1, 1);
    if (!host) {
        st = OKRA_EMEM;
        goto done;
    }
    if (rough) {
        BLAS_TRY(cublasSetMathMode(g->blas, CUBLAS_TF32_TENSOR_OP_MATH), "TF32");
    }
    for (okra_int j = 0; j < f->n && info == 0; j += width) {
        TRY(block(f, j, OKRA_MIN_(width, f->n - j), rough, work, device_bytes, host,
                  host_bytes, &info));
        TRY(g->host->cancelled(f->ctx));
    }
    *done = info == 0;
done:
    (void)cublasSetMathMode(g->blas, CUBLAS_DEFAULT_MATH);
    g->host->free(host);
    return st;
}

void gpu_single_destroy_(void *e, void *L)
{
    gpu_ *g = e;
    factor_ *f = L;
    if (f) {
        gpu_destroy_(g, f->body);
        g->host->free(f);
    }
}

okra_status gpu_single_(void *e, okra_context *ctx, const okra_entries_ *entries,
                        double lambda, bool rough, void **L, bool *done)
{
    okra_status st = OKRA_OK;
    gpu_ *g = e;
    gpu_body_ *panel = NULL;
    void *body = NULL;
    okra_int n = entries->rows;
    factor_ *f = g->host->alloc(1, sizeof *f);
    if (!f) {
        return OKRA_EMEM;
    }
    *f = (factor_){.g = g, .ctx = ctx, .n = n, .lambda = lambda};
    TRY(gpu_create_(g, ctx, n, (n + 1) / 2, "a factor in single precision", &body));
    f->body = body;
    f->L = (float *)(void *)f->body->p;
    f->ld = 2 * f->body->ld;
    TRY(panel_of(g, ctx, n, &panel));
    TRY(gpu_panels_(g, ctx, entries, panel, narrow, f));
    gpu_destroy_(g, panel);
    panel = NULL;
    TRY(factorise(f, rough, done));
    if (*done) {
        *L = f;
        f = NULL;
    }
done:
    gpu_destroy_(g, panel);
    gpu_single_destroy_(g, f);
    return st;
}

/* B <- L^-1 B (trans: L'^-1 B), n x c, column by column. */
static okra_status solve(const factor_ *f, bool trans, okra_int c, float *B)
{
    okra_status st = OKRA_OK;
    const gpu_ *g = f->g;
    float one = 1, minus = -1;
    okra_int blocks = (f->n + STEP - 1) / STEP;
    for (okra_int k = 0; k < blocks; k++) {
        okra_int j = (trans ? blocks - 1 - k : k) * STEP,
                 width = OKRA_MIN_(STEP, f->n - j);
        okra_int below = f->n - j - width;
        float *own = f->L + j + j * f->ld;
        if (trans && below > 0) {
            BLAS_TRY(cublasSgemm_64(g->blas, CUBLAS_OP_T, CUBLAS_OP_N, width, c, below,
                                    &minus, own + width, f->ld, B + j + width, f->n, &one,
                                    B + j, f->n),
                     "a product in single precision");
        }
        BLAS_TRY(cublasStrsm_64(g->blas, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER,
                                trans ? CUBLAS_OP_T : CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT,
                                width, c, &one, own, f->ld, B + j, f->n),
                 "a triangular solve in single precision");
        if (!trans && below > 0) {
            BLAS_TRY(cublasSgemm_64(g->blas, CUBLAS_OP_N, CUBLAS_OP_N, below, c, width,
                                    &minus, own + width, f->ld, B + j, f->n, &one,
                                    B + j + width, f->n),
                     "a product in single precision");
        }
    }
done:
    return st;
}

okra_status gpu_single_solve_(void *e, okra_context *ctx, const void *L, okra_mat_ B)
{
    okra_status st = OKRA_OK;
    gpu_ *g = e;
    const factor_ *f = L;
    void *arena = NULL;
    size_t row = (size_t)B.cols * sizeof(double), all = gpu_round_((size_t)B.rows * row);
    TRY(gpu_use_(g));
    TRY(gpu_arena_(g, ctx, all + all, "right-hand sides", "fewer outputs need less",
                   &arena));
    double *wide = arena;
    float *thin = (float *)(void *)((char *)arena + all);
    TRY(gpu_upload_(g, ctx, B.p, (size_t)B.ld * sizeof(double), row, B.rows, wide, row));
    GPU_TRY(
        gpu_run_narrow_(g->stream, B.rows, B.cols, B.cols, 0, wide, B.cols, thin, f->n),
        "right-hand sides");
    TRY(solve(f, false, B.cols, thin));
    TRY(solve(f, true, B.cols, thin));
    GPU_TRY(gpu_run_widen_(g->stream, B.rows, B.cols, thin, f->n, wide, B.cols),
            "right-hand sides");
    TRY(gpu_download_(g, ctx, wide, row, row, B.rows, B.p,
                      (size_t)B.ld * sizeof(double)));
done:
    return st;
}

/* ---- products ---- */

typedef struct product_ {
    const gpu_ *g;
    okra_int d;
    gpu_body_ *X, *Y;
} product_;

/* Rows first.. of K meet X and, where only columns up to them are there, its transpose
 * meets their rows of X. To cuBLAS X and Y are d x n. */
static okra_status meet(void *arg, const gpu_body_ *P, okra_int first, okra_int rows,
                        okra_int cols, bool half)
{
    okra_status st = OKRA_OK;
    const product_ *z = arg;
    const gpu_ *g = z->g;
    const gpu_body_ *X = z->X;
    gpu_body_ *Y = z->Y;
    double one = 1;
    BLAS_TRY(cublasDgemm_64(g->blas, CUBLAS_OP_N, CUBLAS_OP_N, z->d, rows, cols, &one,
                            X->p, X->ld, P->p, P->ld, &one, Y->p + first * Y->ld, Y->ld),
             "a product");
    if (half && first > 0) {
        BLAS_TRY(cublasDgemm_64(g->blas, CUBLAS_OP_N, CUBLAS_OP_T, z->d, first, rows,
                                &one, X->p + first * X->ld, X->ld, P->p, P->ld, &one,
                                Y->p, Y->ld),
                 "a product");
    }
done:
    return st;
}

okra_status gpu_product_(void *e, okra_context *ctx, const okra_entries_ *entries,
                         okra_mat_ X, okra_mat_ Y)
{
    okra_status st = OKRA_OK;
    gpu_ *g = e;
    gpu_body_ *panel = NULL;
    void *x = NULL, *y = NULL;
    product_ z = {.g = g, .d = X.cols};
    TRY(gpu_create_(g, ctx, X.rows, X.cols, "what a Gram matrix is applied to", &x));
    TRY(gpu_create_(g, ctx, X.rows, X.cols, "a product with a Gram matrix", &y));
    z.X = x;
    z.Y = y;
    TRY(gpu_put_(g, ctx, X, 0, 0, x));
    TRY(gpu_fill_(g, ctx, 0, y));
    TRY(panel_of(g, ctx, X.rows, &panel));
    TRY(gpu_panels_(g, ctx, entries, panel, meet, &z));
    TRY(gpu_get_(g, ctx, y, 0, 0, Y));
done:
    gpu_destroy_(g, panel);
    gpu_destroy_(g, x);
    gpu_destroy_(g, y);
    return st;
}
