/*
 * leaves.cu: the leaves that are no matrix product: bits in common, and sums of absolute
 * differences. A block of 16 x 16 threads makes a square of 64 x 64 values; each thread
 * has 4 x 4 of them, 16 apart, so that shared memory is read without conflicts.
 */
#include "kernels.h"

#define SIDE 64
#define DEEP 16
#define THREADS 16
#define EACH 4

struct common_bits {
    typedef uint64_t item;
    typedef int sum;
    static __device__ void add(sum &x, item a, item b)
    {
        x += __popcll(a & b);
    }
};

struct differences {
    typedef double item;
    typedef double sum;
    static __device__ void add(sum &x, item a, item b)
    {
        x += fabs(a - b);
    }
};

/* DEEP columns of SIDE rows; beyond the edges 0. */
template <class T>
static __device__ void load(int64_t i0, int64_t n, int64_t t0, int64_t width,
                            const T *from, int64_t ld, T to[DEEP][SIDE + 1])
{
    for (int q = threadIdx.y * THREADS + threadIdx.x; q < SIDE * DEEP;
         q += THREADS * THREADS) {
        int64_t i = i0 + q / DEEP, t = t0 + q % DEEP;
        to[q % DEEP][q / DEEP] = i < n && t < width ? from[i * ld + t] : T(0);
    }
}

template <class Leaf>
__global__ void leaf(int64_t ni, int64_t nj, int64_t width,
                     const typename Leaf::item *a, int64_t lda,
                     const typename Leaf::item *b, int64_t ldb, double *out, int64_t ld)
{
    __shared__ typename Leaf::item ta[DEEP][SIDE + 1], tb[DEEP][SIDE + 1];
    int64_t i0 = (int64_t)blockIdx.y * SIDE, j0 = (int64_t)blockIdx.x * SIDE;
    typename Leaf::sum x[EACH][EACH] = {};

    for (int64_t t0 = 0; t0 < width; t0 += DEEP) {
        load(i0, ni, t0, width, a, lda, ta);
        load(j0, nj, t0, width, b, ldb, tb);
        __syncthreads();
#pragma unroll
        for (int t = 0; t < DEEP; t++) {
            typename Leaf::item p[EACH], q[EACH];
#pragma unroll
            for (int e = 0; e < EACH; e++) {
                p[e] = ta[t][threadIdx.y + e * THREADS];
                q[e] = tb[t][threadIdx.x + e * THREADS];
            }
#pragma unroll
            for (int e = 0; e < EACH; e++) {
#pragma unroll
                for (int f = 0; f < EACH; f++) {
                    Leaf::add(x[e][f], p[e], q[f]);
                }
            }
        }
        __syncthreads();
    }
    for (int e = 0; e < EACH; e++) {
        for (int f = 0; f < EACH; f++) {
            int64_t i = i0 + threadIdx.y + e * THREADS, j = j0 + threadIdx.x + f * THREADS;
            if (i < ni && j < nj) {
                out[i * ld + j] = (double)x[e][f];
            }
        }
    }
}

template <class Leaf>
static cudaError_t run(cudaStream_t s, int64_t ni, int64_t nj, int64_t width,
                       const typename Leaf::item *a, int64_t lda,
                       const typename Leaf::item *b, int64_t ldb, double *out, int64_t ld)
{
    dim3 grid((unsigned)((nj + SIDE - 1) / SIDE), (unsigned)((ni + SIDE - 1) / SIDE));
    leaf<Leaf><<<grid, dim3(THREADS, THREADS), 0, s>>>(ni, nj, width, a, lda, b, ldb, out,
                                                       ld);
    return cudaGetLastError();
}

extern "C" cudaError_t gpu_run_bits_(cudaStream_t s, int64_t ni, int64_t nj,
                                     int64_t width, const uint64_t *a, int64_t lda,
                                     const uint64_t *b, int64_t ldb, double *out,
                                     int64_t ld)
{
    return run<common_bits>(s, ni, nj, width, a, lda, b, ldb, out, ld);
}

extern "C" cudaError_t gpu_run_distance1_(cudaStream_t s, int64_t ni, int64_t nj,
                                          int64_t width, const double *a, int64_t lda,
                                          const double *b, int64_t ldb, double *out,
                                          int64_t ld)
{
    return run<differences>(s, ni, nj, width, a, lda, b, ldb, out, ld);
}
