/*
 * algebra.c: products, factorisations and solves, by cuBLAS and cuSOLVER.
 *
 * Both are column-major: they see A' where A lies row by row. So
 *     C = op(A) op(B)      is   C' = op(B)' op(A)': the operands change places
 *     A = L L'             is   A' = L L' as well; their lower triangle is our upper one
 *     A = V' diag(w) V     is   what syevd gives: the columns it writes are rows of V
 * cuSOLVER's Cholesky is much faster in its lower triangle than in its upper one. So it
 * works there, in place, and the triangles then change places: L lies below the diagonal,
 * and above it A is kept, from which a factor that failed is undone.
 */
#include "gpu.h"

okra_status gpu_gemm_(void *e, okra_context *ctx, bool ta, bool tb, double alpha,
                      const void *A, const void *B, double beta, void *C)
{
    okra_status st = OKRA_OK;
    gpu_ *g = e;
    const gpu_body_ *a = A, *b = B;
    gpu_body_ *c = C;

    (void)ctx;
    TRY(gpu_use_(g));
    BLAS_TRY(cublasDgemm_64(g->blas, tb ? CUBLAS_OP_T : CUBLAS_OP_N,
                            ta ? CUBLAS_OP_T : CUBLAS_OP_N, c->cols, c->rows,
                            ta ? a->rows : a->cols, &alpha, b->p, b->ld, a->p, a->ld,
                            &beta, c->p, c->ld),
             "a product");
done:
    return st;
}

okra_status gpu_syrk_(void *e, okra_context *ctx, bool trans, double alpha, const void *A,
                      double beta, void *C)
{
    okra_status st = OKRA_OK;
    gpu_ *g = e;
    const gpu_body_ *a = A;
    gpu_body_ *c = C;

    (void)ctx;
    TRY(gpu_use_(g));
    /* Their upper triangle is the lower one of C. */
    BLAS_TRY(cublasDsyrk_64(g->blas, CUBLAS_FILL_MODE_UPPER,
                            trans ? CUBLAS_OP_N : CUBLAS_OP_T, c->rows,
                            trans ? a->rows : a->cols, &alpha, a->p, a->ld, &beta, c->p,
                            c->ld),
             "a product with its transpose");
    GPU_TRY(gpu_run_mirror_(g->stream, c->rows, 1, c->p, c->ld), "a mirror image");
done:
    return st;
}

okra_status gpu_cholesky_(void *e, okra_context *ctx, void *A, bool *done)
{
    okra_status st = OKRA_OK;
    gpu_ *g = e;
    gpu_body_ *a = A;
    size_t device_bytes = 0, host_bytes = 0;
    void *device = NULL, *host = NULL;
    int info = 0, positive = 0;

    TRY(gpu_use_(g));
    SOLVER_TRY(cusolverDnXpotrf_bufferSize(g->solver, g->params, CUBLAS_FILL_MODE_LOWER,
                                           a->rows, CUDA_R_64F, a->p, a->ld, CUDA_R_64F,
                                           &device_bytes, &host_bytes),
               "Cholesky");
    TRY(gpu_arena_(g, ctx, device_bytes, "Cholesky, beside the matrix,",
                   "a low rank (--low-rank-x) needs less", &device));
    host = g->host->alloc((okra_int)host_bytes, 1);
    if (!host) {
        st = OKRA_EMEM;
        goto done;
    }
    SOLVER_TRY(cusolverDnXpotrf(g->solver, g->params, CUBLAS_FILL_MODE_LOWER, a->rows,
                                CUDA_R_64F, a->p, a->ld, CUDA_R_64F, device, device_bytes,
                                host, host_bytes, g->info),
               "Cholesky");
    GPU_TRY(
        cudaMemcpyAsync(&info, g->info, sizeof info, cudaMemcpyDeviceToHost, g->stream),
        "Cholesky");
    GPU_TRY(gpu_run_exchange_(g->stream, a->rows, a->p, a->ld), "Cholesky");
    /* A NaN passes the test of the pivots, but not this one. */
    GPU_TRY(gpu_run_positive_(g->stream, a->rows, a->p, a->ld, g->info), "Cholesky");
    GPU_TRY(cudaMemcpyAsync(&positive, g->info, sizeof positive, cudaMemcpyDeviceToHost,
                            g->stream),
            "Cholesky");
    GPU_TRY(cudaStreamSynchronize(g->stream), "Cholesky");
    if (info < 0) {
        st = g->host->fail(OKRA_EINTERNAL,
                           "engine cuda: Cholesky: cuSOLVER refuses argument %d", -info);
        goto done;
    }
    *done = info == 0 && positive;
done:
    g->host->free(host);
    return st;
}

okra_status gpu_restore_(void *e, okra_context *ctx, const double *d, void *A)
{
    okra_status st = OKRA_OK;
    gpu_ *g = e;
    gpu_body_ *a = A;
    void *arena = NULL;
    const double *values = NULL;

    TRY(gpu_use_(g));
    TRY(gpu_arena_(g, ctx, gpu_round_((size_t)a->rows * sizeof *d), "a diagonal",
                   "a smaller n needs less", &arena));
    char *at = arena;
    TRY(gpu_vector_(g, ctx, d, a->rows, &at, &values));
    GPU_TRY(gpu_run_mirror_(g->stream, a->rows, 0, a->p, a->ld), "a mirror image");
    GPU_TRY(gpu_run_diagonal_copy_(g->stream, a->rows, 1, a->p, a->ld, arena),
            "a diagonal");
done:
    return st;
}

/* B' <- B' op(L)'^-1 (left) or op(L)'^-1 B', and L' is upper. */
okra_status gpu_trsm_(void *e, okra_context *ctx, bool left, bool trans, const void *L,
                      void *B)
{
    okra_status st = OKRA_OK;
    gpu_ *g = e;
    const gpu_body_ *l = L;
    gpu_body_ *b = B;
    double one = 1;

    (void)ctx;
    TRY(gpu_use_(g));
    BLAS_TRY(cublasDtrsm_64(g->blas, left ? CUBLAS_SIDE_RIGHT : CUBLAS_SIDE_LEFT,
                            CUBLAS_FILL_MODE_UPPER, trans ? CUBLAS_OP_T : CUBLAS_OP_N,
                            CUBLAS_DIAG_NON_UNIT, b->cols, b->rows, &one, l->p, l->ld,
                            b->p, b->ld),
             "a triangular solve");
done:
    return st;
}

okra_status gpu_eigh_(void *e, okra_context *ctx, void *A, double *w)
{
    okra_status st = OKRA_OK;
    gpu_ *g = e;
    gpu_body_ *a = A;
    size_t device_bytes = 0, host_bytes = 0, one = sizeof *w;
    void *device = NULL, *host = NULL;
    int info = 0;

    TRY(gpu_use_(g));
    SOLVER_TRY(cusolverDnXsyevd_bufferSize(g->solver, g->params, CUSOLVER_EIG_MODE_VECTOR,
                                           CUBLAS_FILL_MODE_UPPER, a->rows, CUDA_R_64F,
                                           a->p, a->ld, CUDA_R_64F, a->p, CUDA_R_64F,
                                           &device_bytes, &host_bytes),
               "an eigendecomposition");
    size_t values = gpu_round_((size_t)a->rows * one);
    TRY(gpu_arena_(
        g, ctx, values + device_bytes, "an eigendecomposition, beside the matrix,",
        "one value of lambda with the operator identity needs none, a low rank "
        "(--low-rank-x) a smaller one",
        &device));
    host = g->host->alloc((okra_int)host_bytes, 1);
    if (!host) {
        st = OKRA_EMEM;
        goto done;
    }
    SOLVER_TRY(cusolverDnXsyevd(g->solver, g->params, CUSOLVER_EIG_MODE_VECTOR,
                                CUBLAS_FILL_MODE_UPPER, a->rows, CUDA_R_64F, a->p, a->ld,
                                CUDA_R_64F, device, CUDA_R_64F, (char *)device + values,
                                device_bytes, host, host_bytes, g->info),
               "an eigendecomposition");
    GPU_TRY(
        cudaMemcpyAsync(&info, g->info, sizeof info, cudaMemcpyDeviceToHost, g->stream),
        "an eigendecomposition");
    TRY(gpu_download_(g, ctx, device, one, one, a->rows, w, one));
    GPU_TRY(cudaStreamSynchronize(g->stream), "an eigendecomposition");
    if (info != 0) {
        st = g->host->fail(
            OKRA_ENUMERIC,
            "engine cuda: the eigendecomposition of a %lld x %lld matrix did "
            "not converge (cuSOLVER: %d); does it hold a NaN?",
            (long long)a->rows, (long long)a->cols, info);
    }
done:
    g->host->free(host);
    return st;
}
