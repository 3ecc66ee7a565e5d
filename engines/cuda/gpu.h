/*
 * gpu.h: the engine `cuda`, one GPU, as its own files see it.
 *
 * libokra-cuda.so holds one table of verbs (engine/engine.h) and asks the library for
 * messages, threads and the budget through the table `host`; it links cuBLAS and cuSOLVER
 * and no symbol of libokra. A matrix is row-major on the device as it is on the host. To
 * cuBLAS and cuSOLVER, which are column-major, it is its own transpose: each call says
 * which identity it uses.
 *
 * All work goes to one stream in the order of the verbs, so a verb may return before the
 * device has done it; whatever hands numbers to the host waits. cuBLAS has one workspace
 * of its own and no reduction uses atomics: the same bits every time on one GPU.
 */
#ifndef OKRA_GPU_H_
#define OKRA_GPU_H_

#include "engine/engine.h"
#include "kernels.h"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cusolverDn.h>

#define GPU_STAGE_BYTES_ ((size_t)32 << 20) /* one of two pinned buffers              */
#define GPU_WORKSPACE_ ((size_t)64 << 20)   /* of cuBLAS                              */
#define GPU_NOTES_ ((size_t)4096)
#define GPU_RESERVE_ ((size_t)512 << 20) /* left alone: code that is loaded later  */

typedef struct gpu_ {
    const okra_engine_host_ *host;
    int device;
    struct cudaDeviceProp about;
    cudaStream_t stream;
    cublasHandle_t blas;
    cusolverDnHandle_t solver;
    cusolverDnParams_t params;
    void *workspace;
    int *info;        /* of cuSOLVER, on the device                                  */
    double *stage[2]; /* pinned host memory, NULL until it is needed                 */
    cudaEvent_t freed[2];
    cudaStream_t copies; /* of what comes while the device works (top.c)              */
    cudaEvent_t worked[2];
    void *notes; /* pinned host memory, GPU_NOTES_ bytes                               */
    void *arena; /* device memory of the verb that runs, kept for the next one         */
    size_t arena_bytes;
    size_t used; /* bytes taken: matrices and arena                                    */
} gpu_;

typedef struct gpu_body_ {
    double *p;
    okra_int rows, cols, ld;
} gpu_body_;

/* ---- failing: `st`, `done:` and a local `g` ---- */

okra_status gpu_failed_(const gpu_ *g, cudaError_t error, const char *what);
okra_status gpu_blas_failed_(const gpu_ *g, cublasStatus_t error, const char *what);
okra_status gpu_solver_failed_(const gpu_ *g, cusolverStatus_t error, const char *what);

#define GPU_TRY(call, what)                          \
    do {                                             \
        cudaError_t gpu_error_ = (call);             \
        if (gpu_error_ != cudaSuccess) {             \
            st = gpu_failed_(g, gpu_error_, (what)); \
            goto done;                               \
        }                                            \
    } while (0)
#define BLAS_TRY(call, what)                              \
    do {                                                  \
        cublasStatus_t gpu_error_ = (call);               \
        if (gpu_error_ != CUBLAS_STATUS_SUCCESS) {        \
            st = gpu_blas_failed_(g, gpu_error_, (what)); \
            goto done;                                    \
        }                                                 \
    } while (0)
#define SOLVER_TRY(call, what)                              \
    do {                                                    \
        cusolverStatus_t gpu_error_ = (call);               \
        if (gpu_error_ != CUSOLVER_STATUS_SUCCESS) {        \
            st = gpu_solver_failed_(g, gpu_error_, (what)); \
            goto done;                                      \
        }                                                   \
    } while (0)

/* ---- device.c ---- */

okra_status gpu_open_(const okra_engine_host_ *host, const char *device, void **e);
void gpu_close_(void *e);
void gpu_describe_(void *e, char *text, size_t size);
/* Makes the engine's device that of the calling thread; first in every verb. */
okra_status gpu_use_(const gpu_ *g);

/* ---- memory.c ---- */

/* Bytes that may still be taken: what is free (the idle arena counts as free), and under
 * the budget. */
okra_status gpu_room_(gpu_ *g, okra_context *ctx, size_t *bytes);
/* Device memory of at least that size until the next call; `what` and `instead` are for
 * the message where it does not fit. */
okra_status gpu_arena_(gpu_ *g, okra_context *ctx, size_t bytes, const char *what,
                       const char *instead, void **p);
okra_status gpu_create_(void *e, okra_context *ctx, okra_int rows, okra_int cols,
                        const char *what, void **body);
void gpu_destroy_(void *e, void *body);
/* bytes, rounded up so that what follows in the arena is aligned */
static inline size_t gpu_round_(size_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

/* ---- copy.c ---- */

/* rows x row_bytes from the host (row stride `from` bytes) to the device (`to` bytes),
 * through the pinned buffers where it is large; the host's block is free on return. */
okra_status gpu_upload_(gpu_ *g, okra_context *ctx, const void *src, size_t from,
                        size_t row_bytes, okra_int rows, void *dst, size_t to);
/* The same back; waits for everything before it. */
okra_status gpu_download_(gpu_ *g, okra_context *ctx, const void *src, size_t from,
                          size_t row_bytes, okra_int rows, void *dst, size_t to);
/* `count` doubles from the host into the arena at *at, which moves on. */
okra_status gpu_vector_(gpu_ *g, okra_context *ctx, const double *src, okra_int count,
                        char **at, const double **out);
/* The pinned buffers, and waiting until buffer k may be written again. */
okra_status gpu_stages_(gpu_ *g);
okra_status gpu_stage_wait_(gpu_ *g, int k);
/* Rows of the host, without gaps, into buffer k, which must be free and large enough. */
okra_status gpu_fill_stage_(gpu_ *g, okra_context *ctx, const void *src, size_t from,
                            size_t row_bytes, okra_int rows, int k);
okra_status gpu_put_(void *e, okra_context *ctx, okra_mat_ block, okra_int i, okra_int j,
                     void *A);
okra_status gpu_get_(void *e, okra_context *ctx, const void *A, okra_int i, okra_int j,
                     okra_mat_ block);

/* ---- gram.c, tiles.c ---- */

okra_status gpu_gram_(void *e, okra_context *ctx, const okra_entries_ *entries,
                      okra_int first, okra_int rows, void *A);
/* Entries that the host computes, in pinned slabs, copied while the next is computed. */
okra_status gpu_tiles_(gpu_ *g, okra_context *ctx, const okra_entries_ *entries,
                       okra_int first, okra_int rows, gpu_body_ *A);

/* The rows of a square, symmetric Gram matrix, panel after panel in P: columns
 * 0..first+rows-1 of each where `half`, else all. */
typedef okra_status gpu_each_(void *arg, const gpu_body_ *P, okra_int first,
                              okra_int rows, okra_int cols, bool half);
okra_status gpu_panels_(gpu_ *g, okra_context *ctx, const okra_entries_ *entries,
                        gpu_body_ *P, gpu_each_ *each, void *arg);

/* ---- single.c ---- */

okra_status gpu_single_(void *e, okra_context *ctx, const okra_entries_ *entries,
                        double lambda, bool rough, void **L, bool *done);
void gpu_single_destroy_(void *e, void *L);
okra_status gpu_single_solve_(void *e, okra_context *ctx, const void *L, okra_mat_ B);
okra_status gpu_product_(void *e, okra_context *ctx, const okra_entries_ *entries,
                         okra_mat_ X, okra_mat_ Y);

/* ---- algebra.c ---- */

okra_status gpu_gemm_(void *e, okra_context *ctx, bool ta, bool tb, double alpha,
                      const void *A, const void *B, double beta, void *C);
okra_status gpu_syrk_(void *e, okra_context *ctx, bool trans, double alpha, const void *A,
                      double beta, void *C);
okra_status gpu_cholesky_(void *e, okra_context *ctx, void *A, bool *done);
okra_status gpu_restore_(void *e, okra_context *ctx, const double *d, void *A);
okra_status gpu_trsm_(void *e, okra_context *ctx, bool left, bool trans, const void *L,
                      void *B);
okra_status gpu_eigh_(void *e, okra_context *ctx, void *A, double *w);

/* ---- elementwise.c ---- */

okra_status gpu_copy_(void *e, okra_context *ctx, bool trans, const void *A, void *B);
okra_status gpu_fill_(void *e, okra_context *ctx, double value, void *A);
okra_status gpu_add_diagonal_(void *e, okra_context *ctx, double value, void *A);
okra_status gpu_diagonal_(void *e, okra_context *ctx, const void *A, double *out);
okra_status gpu_scale_(void *e, okra_context *ctx, const double *r, const double *c,
                       void *A);
okra_status gpu_center_(void *e, okra_context *ctx, double *mean, void *A);
okra_status gpu_combine_(void *e, okra_context *ctx, okra_combine_ how, double s,
                         double t, const double *r, const double *c, const void *B,
                         void *A);

/* ---- reduce.c ---- */

okra_status gpu_row_sums_(void *e, okra_context *ctx, const void *A, double *out);
okra_status gpu_dot_(void *e, okra_context *ctx, const void *A, const void *B,
                     double *out);
okra_status gpu_dots_(void *e, okra_context *ctx, okra_int p, const void *const *X,
                      okra_int q, const void *const *Y, double *out);
okra_status gpu_best_(void *e, okra_context *ctx, const void *A, const double *offset,
                      okra_int k, okra_int *index, double *value);

/* ---- top.c ---- */

okra_status gpu_top_(void *e, okra_context *ctx, const okra_entries_ *entries,
                     okra_mat_ W, const bool *skip, okra_int k, okra_int *index,
                     double *value, bool *done);

#endif
