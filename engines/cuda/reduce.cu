/*
 * reduce.cu: sums in an order that depends on the sizes alone, so that they have the same
 * bits every time: each thread adds up its own entries, then a tree over the block.
 */
#include "kernels.h"

#define THREADS 256

static __device__ double tree(double x)
{
    __shared__ double t[THREADS];
    t[threadIdx.x] = x;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            t[threadIdx.x] += t[threadIdx.x + half];
        }
        __syncthreads();
    }
    x = t[0];
    __syncthreads();
    return x;
}

__global__ void row_sums(int64_t rows, int64_t cols, double scale, const double *A,
                         int64_t ld, double *out)
{
    for (int64_t i = blockIdx.x; i < rows; i += gridDim.x) {
        double x = 0;
        for (int64_t j = threadIdx.x; j < cols; j += THREADS) {
            x += A[i * ld + j];
        }
        x = tree(x);
        if (threadIdx.x == 0) {
            out[i] = scale * x;
        }
    }
}

__global__ void dot_parts(int64_t rows, int64_t cols, const double *A, int64_t lda,
                          const double *B, int64_t ldb, double *partial)
{
    double x = 0;
    for (int64_t i = blockIdx.x; i < rows; i += gridDim.x) {
        for (int64_t j = threadIdx.x; j < cols; j += THREADS) {
            x += A[i * lda + j] * B[i * ldb + j];
        }
    }
    x = tree(x);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = x;
    }
}

__global__ void positive(int64_t n, const double *A, int64_t ld, int *out)
{
    int bad = 0;
    for (int64_t i = threadIdx.x; i < n; i += THREADS) {
        double x = A[i * ld + i];
        bad |= !(x > 0 && x <= 1.7976931348623157e308);
    }
    bad = __syncthreads_or(bad);
    if (threadIdx.x == 0) {
        *out = !bad;
    }
}

extern "C" cudaError_t gpu_run_row_sums_(cudaStream_t s, int64_t rows, int64_t cols,
                                         double scale, const double *A, int64_t ld,
                                         double *out)
{
    int64_t blocks = rows < 1 << 20 ? rows : 1 << 20;
    row_sums<<<(unsigned)blocks, THREADS, 0, s>>>(rows, cols, scale, A, ld, out);
    return cudaGetLastError();
}

extern "C" cudaError_t gpu_run_dot_(cudaStream_t s, int64_t rows, int64_t cols,
                                    const double *A, int64_t lda, const double *B,
                                    int64_t ldb, double *partial, double *out)
{
    int64_t parts = rows < GPU_PARTS_ ? rows : GPU_PARTS_;
    dot_parts<<<(unsigned)parts, THREADS, 0, s>>>(rows, cols, A, lda, B, ldb, partial);
    row_sums<<<1, THREADS, 0, s>>>(1, parts, 1.0, partial, parts, out);
    return cudaGetLastError();
}

extern "C" cudaError_t gpu_run_positive_(cudaStream_t s, int64_t n, const double *A,
                                         int64_t ld, int *out)
{
    positive<<<1, THREADS, 0, s>>>(n, A, ld, out);
    return cudaGetLastError();
}
