/*
 * transpose.cu: transposes and mirror images, by squares of 32 x 32 through shared memory
 * so that both sides are read and written by whole rows.
 */
#include "kernels.h"

#define SIDE 32
#define THREADS_Y 8

__global__ void transpose(int64_t rows, int64_t cols, const double *A, int64_t ld,
                          double *B, int64_t ldb, int64_t squares_x, int64_t squares)
{
    __shared__ double t[SIDE][SIDE + 1];
    for (int64_t q = blockIdx.x; q < squares; q += gridDim.x) {
        int64_t i0 = q / squares_x * SIDE, j0 = q % squares_x * SIDE;
        for (int y = threadIdx.y; y < SIDE; y += THREADS_Y) {
            int64_t i = i0 + y, j = j0 + threadIdx.x;
            if (i < rows && j < cols) {
                t[y][threadIdx.x] = A[i * ld + j];
            }
        }
        __syncthreads();
        for (int y = threadIdx.y; y < SIDE; y += THREADS_Y) {
            int64_t i = i0 + threadIdx.x, j = j0 + y;
            if (i < rows && j < cols) {
                B[j * ldb + i] = t[threadIdx.x][y];
            }
        }
        __syncthreads();
    }
}

/* Square (bi, bj), bj <= bi, of the lower triangle: it, or its image, is the source. */
__global__ void mirror(int64_t n, int lower_to_upper, double *A, int64_t ld)
{
    __shared__ double t[SIDE][SIDE + 1];
    int64_t bi = blockIdx.y, bj = blockIdx.x;
    if (bj > bi) {
        return;
    }
    int64_t i0 = (lower_to_upper ? bi : bj) * SIDE, j0 = (lower_to_upper ? bj : bi) * SIDE;
    for (int y = threadIdx.y; y < SIDE; y += THREADS_Y) {
        int64_t i = i0 + y, j = j0 + threadIdx.x;
        if (i < n && j < n) {
            t[y][threadIdx.x] = A[i * ld + j];
        }
    }
    __syncthreads();
    for (int y = threadIdx.y; y < SIDE; y += THREADS_Y) {
        int64_t i = i0 + threadIdx.x, j = j0 + y; /* of the source */
        if (i < n && j < n && (lower_to_upper ? i > j : i < j)) {
            A[j * ld + i] = t[threadIdx.x][y];
        }
    }
}

/* Square (bi, bj), bj <= bi, and its image change places, both transposed. */
__global__ void exchange(int64_t n, double *A, int64_t ld)
{
    __shared__ double low[SIDE][SIDE + 1], high[SIDE][SIDE + 1];
    int64_t i0 = (int64_t)blockIdx.y * SIDE, j0 = (int64_t)blockIdx.x * SIDE;
    if (j0 > i0) {
        return;
    }
    for (int y = threadIdx.y; y < SIDE; y += THREADS_Y) {
        int x = threadIdx.x;
        if (i0 + y < n && j0 + x < n) {
            low[y][x] = A[(i0 + y) * ld + j0 + x];
        }
        if (j0 + y < n && i0 + x < n) {
            high[y][x] = A[(j0 + y) * ld + i0 + x];
        }
    }
    __syncthreads();
    for (int y = threadIdx.y; y < SIDE; y += THREADS_Y) {
        int x = threadIdx.x;
        if (i0 + y < n && j0 + x < n) {
            A[(i0 + y) * ld + j0 + x] = high[x][y];
        }
        if (i0 > j0 && j0 + y < n && i0 + x < n) {
            A[(j0 + y) * ld + i0 + x] = low[x][y];
        }
    }
}

extern "C" cudaError_t gpu_run_transpose_(cudaStream_t s, int64_t rows, int64_t cols,
                                          const double *A, int64_t ld, double *B,
                                          int64_t ldb)
{
    int64_t x = (cols + SIDE - 1) / SIDE, squares = x * ((rows + SIDE - 1) / SIDE);
    int64_t blocks = squares < 1 << 20 ? squares : 1 << 20;
    transpose<<<(unsigned)blocks, dim3(SIDE, THREADS_Y), 0, s>>>(rows, cols, A, ld, B,
                                                                 ldb, x, squares);
    return cudaGetLastError();
}

extern "C" cudaError_t gpu_run_mirror_(cudaStream_t s, int64_t n, int lower_to_upper,
                                       double *A, int64_t ld)
{
    unsigned side = (unsigned)((n + SIDE - 1) / SIDE);
    mirror<<<dim3(side, side), dim3(SIDE, THREADS_Y), 0, s>>>(n, lower_to_upper, A, ld);
    return cudaGetLastError();
}

extern "C" cudaError_t gpu_run_exchange_(cudaStream_t s, int64_t n, double *A, int64_t ld)
{
    unsigned side = (unsigned)((n + SIDE - 1) / SIDE);
    exchange<<<dim3(side, side), dim3(SIDE, THREADS_Y), 0, s>>>(n, A, ld);
    return cudaGetLastError();
}
