/*
 * reduce.cu: sums in an order that depends on the sizes alone, so that they have the same
 * bits every time: each thread adds up its own entries, then a tree over the block.
 */
#include "kernels.h"

#define THREADS 256

inline __device__ double tree(double x)
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

/* A block works on MANY by FEW pairs and every gridDim.y-th row, so that an entry that is
 * read serves several pairs. Beyond the last matrix it takes the last one again. */
#define MANY 8
#define FEW 4

__global__ void __launch_bounds__(THREADS)
    dots_parts(int64_t rows, int64_t cols, int64_t ld, int64_t p, const double *const *X,
               int64_t q, const double *const *Y, double *partial)
{
    int64_t across = (q + FEW - 1) / FEW;
    int64_t s0 = blockIdx.x / across * MANY, t0 = blockIdx.x % across * FEW;
    const double *x[MANY], *y[FEW];
    double sum[MANY][FEW] = {};
#pragma unroll
    for (int s = 0; s < MANY; s++) {
        x[s] = X[s0 + s < p ? s0 + s : p - 1];
    }
#pragma unroll
    for (int t = 0; t < FEW; t++) {
        y[t] = Y[t0 + t < q ? t0 + t : q - 1];
    }
    for (int64_t i = blockIdx.y; i < rows; i += gridDim.y) {
        for (int64_t j = threadIdx.x; j < cols; j += THREADS) {
            double b[FEW];
#pragma unroll
            for (int t = 0; t < FEW; t++) {
                b[t] = y[t][i * ld + j];
            }
#pragma unroll
            for (int s = 0; s < MANY; s++) {
                double a = x[s][i * ld + j];
#pragma unroll
                for (int t = 0; t < FEW; t++) {
                    sum[s][t] += a * b[t];
                }
            }
        }
    }
#pragma unroll
    for (int s = 0; s < MANY; s++) {
#pragma unroll
        for (int t = 0; t < FEW; t++) {
            double all = tree(sum[s][t]);
            if (threadIdx.x == 0 && s0 + s < p && t0 + t < q) {
                partial[((s0 + s) * q + t0 + t) * gridDim.y + blockIdx.y] = all;
            }
        }
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

extern "C" cudaError_t gpu_run_dots_(cudaStream_t s, int64_t rows, int64_t cols,
                                     int64_t ld, int64_t p, const double *const *X,
                                     int64_t q, const double *const *Y, int64_t parts,
                                     double *partial, double *out)
{
    int64_t tiles = (p + MANY - 1) / MANY * ((q + FEW - 1) / FEW);
    dots_parts<<<dim3((unsigned)tiles, (unsigned)parts), THREADS, 0, s>>>(
        rows, cols, ld, p, X, q, Y, partial);
    return gpu_run_row_sums_(s, p * q, parts, 1.0, partial, parts, out);
}

extern "C" cudaError_t gpu_run_positive_(cudaStream_t s, int64_t n, const double *A,
                                         int64_t ld, int *out)
{
    positive<<<1, THREADS, 0, s>>>(n, A, ld, out);
    return cudaGetLastError();
}
