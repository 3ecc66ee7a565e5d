/*
 * distance1.cu: sums of absolute differences of rows. A block of 16 x 16 threads makes a
 * square of 64 x 64 values; each thread has 4 x 4 of them, 16 apart, so that shared memory
 * is read without conflicts.
 */
#include "kernels.h"

#define SIDE 64
#define DEEP 16
#define THREADS 16
#define EACH 4

/* DEEP columns of SIDE rows; beyond the edges 0. */
static __device__ void load(int64_t i0, int64_t n, int64_t t0, int64_t width,
                            const double *from, int64_t ld, double to[DEEP][SIDE + 1])
{
    for (int q = threadIdx.y * THREADS + threadIdx.x; q < SIDE * DEEP;
         q += THREADS * THREADS) {
        int64_t i = i0 + q / DEEP, t = t0 + q % DEEP;
        to[q % DEEP][q / DEEP] = i < n && t < width ? from[i * ld + t] : 0;
    }
}

__global__ void distance1(int64_t ni, int64_t nj, int64_t width, const double *a,
                          int64_t lda, const double *b, int64_t ldb, double *out,
                          int64_t ld)
{
    __shared__ double ta[DEEP][SIDE + 1], tb[DEEP][SIDE + 1];
    int64_t i0 = (int64_t)blockIdx.y * SIDE, j0 = (int64_t)blockIdx.x * SIDE;
    double x[EACH][EACH] = {};

    for (int64_t t0 = 0; t0 < width; t0 += DEEP) {
        load(i0, ni, t0, width, a, lda, ta);
        load(j0, nj, t0, width, b, ldb, tb);
        __syncthreads();
#pragma unroll
        for (int t = 0; t < DEEP; t++) {
            double p[EACH], q[EACH];
#pragma unroll
            for (int e = 0; e < EACH; e++) {
                p[e] = ta[t][threadIdx.y + e * THREADS];
                q[e] = tb[t][threadIdx.x + e * THREADS];
            }
#pragma unroll
            for (int e = 0; e < EACH; e++) {
#pragma unroll
                for (int f = 0; f < EACH; f++) {
                    x[e][f] += fabs(p[e] - q[f]);
                }
            }
        }
        __syncthreads();
    }
    for (int e = 0; e < EACH; e++) {
        for (int f = 0; f < EACH; f++) {
            int64_t i = i0 + threadIdx.y + e * THREADS, j = j0 + threadIdx.x + f * THREADS;
            if (i < ni && j < nj) {
                out[i * ld + j] = x[e][f];
            }
        }
    }
}

extern "C" cudaError_t gpu_run_distance1_(cudaStream_t s, int64_t ni, int64_t nj,
                                          int64_t width, const double *a, int64_t lda,
                                          const double *b, int64_t ldb, double *out,
                                          int64_t ld)
{
    dim3 grid((unsigned)((nj + SIDE - 1) / SIDE), (unsigned)((ni + SIDE - 1) / SIDE));
    distance1<<<grid, dim3(THREADS, THREADS), 0, s>>>(ni, nj, width, a, lda, b, ldb, out,
                                                      ld);
    return cudaGetLastError();
}
