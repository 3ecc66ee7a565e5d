/*
 * codes.cu: Tanimoto coefficients as whole numbers of 8 bits, for products on the tensor
 * cores (top.c says what they are good for).
 *
 *     code_ij = floor((t_ij - centre) / step + r_j),   r_j in [0, 1) random, one a column
 *
 * Common bits are counted as in bits.cu. A block keeps 128 rows in shared memory and goes
 * over several tiles of 128 columns. A count is added to the bits of 2^23 as a float, so
 * that it is read as a float without a conversion; the code is the low byte of the float
 * 1.5 2^23 + code.
 *
 * A thread holds 2 neighbours of each group of 8 columns. Its 8 codes of 32 columns are
 * stored side by side: place 8 t + 2 o + e of a group of 32 holds column 8 o + 2 t + e
 * (gpu_place_). The other factor of the product is laid out alike.
 */
#include "kernels.h"

#include <math_constants.h>

#define SIDE 128
#define WORDS 16               /* 64-bit words of a row in shared memory                  */
#define STRIDE (2 * WORDS + 4) /* in halves of words: no two threads share a bank          */
#define THREADS 256
#define DOWN 4   /* 16 rows each, of a warp               */
#define OVER 4   /* 8 columns each, of a warp             */
#define ACROSS 8 /* tiles of columns that a block goes over */
#define MAGIC 0x4B000000
#define TWO23 8388608.f

static __device__ void load(int i0, int n, int t0, int width,
                            const uint64_t *from, uint32_t to[SIDE][STRIDE])
{
    for (int q = threadIdx.x; q < SIDE * WORDS; q += THREADS) {
        int i = i0 + q / WORDS, t = t0 + q % WORDS;
        uint64_t x = i < n && t < width ? from[(int64_t)i * width + t] : 0;
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

static __device__ void multiply(int c[DOWN][OVER][4], uint32_t ta[SIDE][STRIDE],
                                uint32_t tb[SIDE][STRIDE], int row, int column)
{
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
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
}

/* The code of a count in the low byte; *most: the largest |code| before rounding. */
static __device__ uint32_t code(int c, float u, float v, float inverse, float offset,
                                float *most)
{
    float common = __int_as_float(c) - TWO23, ratio;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(ratio) : "f"((u + v) - common));
    float y = fmaf(common * ratio, inverse, offset);
    *most = fmaxf(*most, fabsf(y));
    return (uint32_t)__float_as_int(y + 1.5f * TWO23);
}

/* Four low bytes. */
static __device__ uint32_t pack(const uint32_t x[4])
{
    return __byte_perm(__byte_perm(x[0], x[1], 0x0040), __byte_perm(x[2], x[3], 0x0040),
                       0x5410);
}

__global__ void __launch_bounds__(THREADS, 2)
    codes(int ni, int nj, int width, const uint64_t *a, const uint64_t *b,
          const float *u, const float *v, const float *offset, float inverse, int8_t *out,
          int ld, int *square, uint8_t *flag)
{
    __shared__ uint32_t ta[SIDE][STRIDE], tb[SIDE][STRIDE];
    int i0 = (int)blockIdx.y * SIDE, tiles = ld / SIDE;
    int begin = (int)blockIdx.x * ACROSS;
    int end = begin + ACROSS < tiles ? begin + ACROSS : tiles;
    int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    int row = warp / 4 * (16 * DOWN), column = warp % 4 * (8 * OVER);
    int sum[2 * DOWN] = {};

    for (int tile = begin; tile < end; tile++) {
        int j0 = tile * SIDE;
        int c[DOWN][OVER][4];
#pragma unroll
        for (int q = 0; q < DOWN * OVER * 4; q++) {
            c[q / (4 * OVER)][q / 4 % OVER][q % 4] = MAGIC;
        }
        for (int t0 = 0; t0 < width; t0 += WORDS) {
            if (tile == begin || width > WORDS) {
                load(i0, ni, t0, width, a, ta);
            }
            load(j0, nj, t0, width, b, tb);
            __syncthreads();
            multiply(c, ta, tb, row, column);
            __syncthreads();
        }
        float cv[2 * OVER], co[2 * OVER];
#pragma unroll
        for (int o = 0; o < 2 * OVER; o++) {
            int j = j0 + column + o / 2 * 8 + 2 * t + o % 2;
            cv[o] = v[j], co[o] = offset[j];
        }
#pragma unroll
        for (int d = 0; d < 2 * DOWN; d++) {
            int i = i0 + row + g + d / 2 * 16 + d % 2 * 8;
            float ru = i < ni ? u[i] : 1, most = 0;
            uint32_t x[2 * OVER];
#pragma unroll
            for (int o = 0; o < 2 * OVER; o++) {
                x[o] = code(c[d / 2][o / 2][d % 2 * 2 + o % 2], ru, cv[o], inverse, co[o],
                            &most);
            }
            uint2 two = make_uint2(pack(x), pack(x + 4));
            sum[d] = __dp4a((int)two.x, (int)two.x, sum[d]);
            sum[d] = __dp4a((int)two.y, (int)two.y, sum[d]);
            if (i < ni) {
                *reinterpret_cast<uint2 *>(out + (int64_t)i * ld + j0 + column + 8 * t) = two;
                if (!(most <= 127.4f) && flag[i] == 0) {
                    flag[i] = 1;
                }
            }
        }
    }
#pragma unroll
    for (int d = 0; d < 2 * DOWN; d++) {
        int i = i0 + row + g + d / 2 * 16 + d % 2 * 8;
        sum[d] += __shfl_xor_sync(0xffffffffu, sum[d], 1);
        sum[d] += __shfl_xor_sync(0xffffffffu, sum[d], 2);
        if (t == 0 && i < ni) {
            atomicAdd(&square[i], sum[d]);
        }
    }
}

/* The numbers of bits; a row without any is no matter for codes. */
__global__ void counts(int64_t n, int64_t width, const uint64_t *a, float *u, uint8_t *flag)
{
    int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    int x = 0;
    for (int64_t t = 0; i < n && t < width; t++) {
        x += __popcll(a[i * width + t]);
    }
    if (i < n) {
        u[i] = (float)x;
        if (x == 0 && flag[i] == 0) {
            flag[i] = 1;
        }
    }
}

/* least, largest, sum and sum of squares of the part of a block */
__global__ void range(int64_t rows, int64_t cols, const double *A, int64_t ld, double *out)
{
    __shared__ double part[4][THREADS];
    double x[4] = {CUDART_INF, -CUDART_INF, 0, 0};
    for (int64_t i = blockIdx.x; i < rows; i += gridDim.x) {
        for (int64_t j = threadIdx.x; j < cols; j += THREADS) {
            double y = A[i * ld + j];
            x[0] = fmin(x[0], y), x[1] = fmax(x[1], y);
            x[2] += y, x[3] += y * y;
        }
    }
    for (int k = 0; k < 4; k++) {
        part[k][threadIdx.x] = x[k];
    }
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) {
            int o = threadIdx.x + half;
            part[0][threadIdx.x] = fmin(part[0][threadIdx.x], part[0][o]);
            part[1][threadIdx.x] = fmax(part[1][threadIdx.x], part[1][o]);
            part[2][threadIdx.x] += part[2][o];
            part[3][threadIdx.x] += part[3][o];
        }
    }
    if (threadIdx.x < 4) {
        out[4 * blockIdx.x + threadIdx.x] = part[threadIdx.x][0];
    }
}

extern "C" cudaError_t gpu_run_codes_(cudaStream_t s, int64_t ni, int64_t nj, int64_t width,
                                      const uint64_t *a, const uint64_t *b, const float *u,
                                      const float *v, const float *offset, float inverse,
                                      int8_t *out, int64_t ld, int *square, uint8_t *flag)
{
    int64_t tiles = ld / SIDE;
    dim3 grid((unsigned)((tiles + ACROSS - 1) / ACROSS), (unsigned)((ni + SIDE - 1) / SIDE));
    codes<<<grid, THREADS, 0, s>>>((int)ni, (int)nj, (int)width, a, b, u, v, offset, inverse, out, (int)ld,
                                   square, flag);
    return cudaGetLastError();
}

extern "C" cudaError_t gpu_run_counts_(cudaStream_t s, int64_t n, int64_t width,
                                       const uint64_t *a, float *u, uint8_t *flag)
{
    counts<<<(unsigned)((n + THREADS - 1) / THREADS), THREADS, 0, s>>>(n, width, a, u, flag);
    return cudaGetLastError();
}

extern "C" cudaError_t gpu_run_range_(cudaStream_t s, int64_t rows, int64_t cols,
                                      const double *A, int64_t ld, double *out)
{
    range<<<GPU_RANGE_, THREADS, 0, s>>>(rows, cols, A, ld, out);
    return cudaGetLastError();
}
