/*
 * bits.cu: |a_i and b_j| for rows of bits, or their Tanimoto coefficient, by the tensor
 * cores: one instruction counts the common bits of 16 x 8 pairs over 256 bits. A block of
 * eight warps makes 128 x 128 values, a warp 64 x 32 of them. Counts are exact.
 */
#include "kernels.h"

#define SIDE 128
#define WORDS 16             /* 64-bit words of a row in shared memory: four instructions */
#define STRIDE (2 * WORDS + 4) /* in halves of words: no two threads share a bank          */
#define THREADS 256
#define DOWN 4 /* 16 rows each, of a warp    */
#define OVER 4 /* 8 columns each, of a warp  */

/* Words t0.. of SIDE rows from i0 on; beyond the edges 0. */
static __device__ void load(int64_t i0, int64_t n, int64_t t0, int64_t width,
                            const uint64_t *from, int64_t ld, uint32_t to[SIDE][STRIDE])
{
    for (int q = threadIdx.x; q < SIDE * WORDS; q += THREADS) {
        int64_t i = i0 + q / WORDS, t = t0 + q % WORDS;
        uint64_t x = i < n && t < width ? from[i * ld + t] : 0;
        *reinterpret_cast<uint64_t *>(&to[q / WORDS][q % WORDS * 2]) = x;
    }
}

static __device__ void count(int c[4], const uint32_t a[4], const uint32_t b[2])
{
    asm("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

static __device__ double value(int count, bool tanimoto, double u, double v)
{
    double x = (double)count, d = u + v - x;
    return !tanimoto ? x : d > 0 ? x / d : 1;
}

/* Two neighbours of one row. */
static __device__ void put(double *row, int64_t j, int64_t nj, double x, double y)
{
    if (j + 1 < nj && (reinterpret_cast<uintptr_t>(row + j) & 15) == 0) {
        *reinterpret_cast<double2 *>(row + j) = make_double2(x, y);
    } else {
        if (j < nj) {
            row[j] = x;
        }
        if (j + 1 < nj) {
            row[j + 1] = y;
        }
    }
}

__global__ void __launch_bounds__(THREADS, 2)
    bits(int64_t ni, int64_t nj, int64_t width, const uint64_t *a, int64_t lda,
         const uint64_t *b, int64_t ldb, const double *u, const double *v, double *out,
         int64_t ld)
{
    __shared__ uint32_t ta[SIDE][STRIDE], tb[SIDE][STRIDE];
    int64_t i0 = (int64_t)blockIdx.y * SIDE, j0 = (int64_t)blockIdx.x * SIDE;
    int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    int row = warp / 4 * (16 * DOWN), column = warp % 4 * (8 * OVER);
    int c[DOWN][OVER][4] = {};

    for (int64_t t0 = 0; t0 < width; t0 += WORDS) {
        load(i0, ni, t0, width, a, lda, ta);
        load(j0, nj, t0, width, b, ldb, tb);
        __syncthreads();
#pragma unroll
        for (int k = t; k < 2 * WORDS; k += 8) {
            uint32_t fa[DOWN][4], fb[OVER][2];
#pragma unroll
            for (int d = 0; d < DOWN; d++) {
                const uint32_t *p = ta[row + d * 16 + g], *q = ta[row + d * 16 + g + 8];
                fa[d][0] = p[k], fa[d][1] = q[k];
                fa[d][2] = p[k + 4], fa[d][3] = q[k + 4];
            }
#pragma unroll
            for (int o = 0; o < OVER; o++) {
                const uint32_t *p = tb[column + o * 8 + g];
                fb[o][0] = p[k], fb[o][1] = p[k + 4];
            }
#pragma unroll
            for (int d = 0; d < DOWN; d++) {
#pragma unroll
                for (int o = 0; o < OVER; o++) {
                    count(c[d][o], fa[d], fb[o]);
                }
            }
        }
        __syncthreads();
    }
    /* Of 16 x 8 values a thread holds rows g and g + 8, columns 2 t and 2 t + 1. */
    double cv[2 * OVER];
    int64_t i = i0 + row + g, j = j0 + column + 2 * t;
#pragma unroll
    for (int o = 0; o < 2 * OVER; o++) {
        int64_t at = j + o / 2 * 8 + o % 2;
        cv[o] = u && at < nj ? v[at] : 0;
    }
#pragma unroll
    for (int d = 0; d < 2 * DOWN; d++) {
        int64_t r = i + d / 2 * 16 + d % 2 * 8;
        if (r < ni) {
            double ru = u ? u[r] : 0;
#pragma unroll
            for (int o = 0; o < OVER; o++) {
                const int *two = &c[d / 2][o][d % 2 * 2];
                put(out + r * ld, j + o * 8, nj, value(two[0], u, ru, cv[2 * o]),
                    value(two[1], u, ru, cv[2 * o + 1]));
            }
        }
    }
}

extern "C" cudaError_t gpu_run_bits_(cudaStream_t s, int64_t ni, int64_t nj,
                                     int64_t width, const uint64_t *a, int64_t lda,
                                     const uint64_t *b, int64_t ldb, const double *u,
                                     const double *v, double *out, int64_t ld)
{
    dim3 grid((unsigned)((nj + SIDE - 1) / SIDE), (unsigned)((ni + SIDE - 1) / SIDE));
    bits<<<grid, THREADS, 0, s>>>(ni, nj, width, a, lda, b, ldb, u, v, out, ld);
    return cudaGetLastError();
}
