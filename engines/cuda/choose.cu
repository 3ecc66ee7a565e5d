/*
 * choose.cu: which of many scores may be among the best, and their exact values (top.c).
 *
 * Of each query a list of what may still be among the k best: entries come from `filter`
 * in any order, `prune` keeps those within the margin of the k-th best so far. What is
 * kept is a set that does not depend on the order.
 */
#include "kernels.h"

#define THREADS 256
#define EACH 4 /* times four scores of a thread */

/* Rows that are not comparable are named; of the others the largest square counts. */
__global__ void collect(int64_t n, const int *square, const uint8_t *flag, int64_t first,
                        int room, int64_t *odd, gpu_choice_ *state)
{
    int most = 0;
    for (int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x; i < n;
         i += (int64_t)gridDim.x * THREADS) {
        if (flag[i] == 0) {
            most = square[i] > most ? square[i] : most;
        } else if (flag[i] == 1) {
            int at = atomicAdd(&state->odd, 1);
            if (at < room) {
                odd[at] = first + i;
            }
        }
    }
    for (int d = 16; d > 0; d /= 2) {
        int other = __shfl_xor_sync(0xffffffffu, most, d);
        most = other > most ? other : most;
    }
    if (threadIdx.x % 32 == 0 && most > 0) {
        atomicMax(&state->most, most);
    }
}

__global__ void filter(int64_t n, const int *S, int64_t ld, const int *low,
                       const uint8_t *flag, const int64_t *limit, int64_t first, int room,
                       int *count, gpu_found_ *list)
{
    int q = blockIdx.y;
    int64_t least = limit[q], begin = (int64_t)blockIdx.x * THREADS * 4 * EACH;
    const int *high = S + q * ld, *rest = low[q] >= 0 ? S + low[q] * ld : NULL;
    for (int e = 0; e < EACH; e++) {
        int64_t j = begin + (e * THREADS + (int64_t)threadIdx.x) * 4;
        if (j >= n) {
            return;
        }
        int4 x = *reinterpret_cast<const int4 *>(high + j), y = make_int4(0, 0, 0, 0);
        int64_t scale = 1;
        if (rest) {
            y = *reinterpret_cast<const int4 *>(rest + j);
            scale = GPU_LOW_;
        }
        int64_t four[4] = {x.x * scale + y.x, x.y * scale + y.y, x.z * scale + y.z,
                           x.w * scale + y.w};
#pragma unroll
        for (int k = 0; k < 4; k++) {
            if (four[k] >= least && j + k < n && flag[j + k] == 0) {
                int at = atomicAdd(&count[q], 1);
                if (at < room) {
                    list[(int64_t)q * room + at] = {four[k], first + j + k};
                }
            }
        }
    }
}

static __device__ int at_least(const gpu_found_ *list, int n, int64_t least)
{
    int all = 0;
    for (int i0 = 0; i0 < n; i0 += THREADS) {
        int i = i0 + threadIdx.x;
        all += __syncthreads_count(i < n && list[i].value >= least);
    }
    return all;
}

/* The k-th largest of n >= k: the largest number that k of them reach. */
static __device__ int64_t kth(const gpu_found_ *list, int n, int k, int64_t *ends)
{
    if (threadIdx.x == 0) {
        ends[0] = INT64_MAX, ends[1] = INT64_MIN;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += THREADS) {
        atomicMin(reinterpret_cast<long long *>(&ends[0]), (long long)list[i].value);
        atomicMax(reinterpret_cast<long long *>(&ends[1]), (long long)list[i].value);
    }
    __syncthreads();
    int64_t low = ends[0], high = ends[1];
    __syncthreads();
    while (low < high) {
        int64_t middle = low + (high - low + 1) / 2;
        if (at_least(list, n, middle) >= k) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

__global__ void prune(int k, int room, double bound, double root, double bias,
                      const double *norm, const double *one, int64_t *limit, int *count,
                      int *kept, gpu_found_ *lists, gpu_choice_ *state)
{
    __shared__ int64_t ends[2];
    __shared__ int stay;
    int q = blockIdx.x, n = count[q];
    gpu_found_ *list = lists + (int64_t)q * room;
    if (n == kept[q] || n < k) {
        return; /* nothing new, or too few to tell */
    }
    if (n > room) {
        if (threadIdx.x == 0) {
            state->full = 1;
            count[q] = kept[q] = 0;
        }
        return;
    }
    double margin = bound * (norm[q] + sqrt((double)state->most) + root) + bias * one[q];
    int64_t least = kth(list, n, k, ends) - (int64_t)(2 * margin) - 2;
    if (threadIdx.x == 0) {
        stay = 0;
    }
    for (int i0 = 0; i0 < n; i0 += THREADS) {
        int i = i0 + threadIdx.x;
        gpu_found_ x = {0, 0};
        bool good = false;
        if (i < n) {
            x = list[i];
            good = x.value >= least;
        }
        __syncthreads();
        if (good) {
            list[atomicAdd(&stay, 1)] = x;
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        count[q] = kept[q] = stay;
        limit[q] = least > limit[q] ? least : limit[q];
    }
}

/* out_p <- sum_i W_qi t(z_p, y_i), a warp a pair; bits of y word by word. */
__global__ void exact(int64_t pairs, const int *query, int64_t width, const uint64_t *z,
                      int64_t n, const uint64_t *y, const double *v, const double *W,
                      double *out)
{
    int64_t p = ((int64_t)blockIdx.x * THREADS + threadIdx.x) / 32;
    int lane = threadIdx.x % 32, u = 0;
    if (p >= pairs) {
        return;
    }
    const uint64_t *row = z + p * width;
    const double *w = W + query[p] * n;
    for (int64_t t = 0; t < width; t++) {
        u += __popcll(row[t]);
    }
    double sum = 0;
    for (int64_t i = lane; i < n; i += 32) {
        int common = 0;
        for (int64_t t = 0; t < width; t++) {
            common += __popcll(row[t] & y[t * n + i]);
        }
        double d = (double)u + v[i] - (double)common;
        sum += w[i] * (d > 0 ? (double)common / d : 1);
    }
    for (int d = 16; d > 0; d /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, d);
    }
    if (lane == 0) {
        out[p] = sum;
    }
}

extern "C" cudaError_t gpu_run_collect_(cudaStream_t s, int64_t n, const int *square,
                                        const uint8_t *flag, int64_t first, int room,
                                        int64_t *odd, gpu_choice_ *state)
{
    int64_t blocks = (n + THREADS - 1) / THREADS;
    collect<<<(unsigned)(blocks < 256 ? blocks : 256), THREADS, 0, s>>>(
        n, square, flag, first, room, odd, state);
    return cudaGetLastError();
}

extern "C" cudaError_t gpu_run_filter_(cudaStream_t s, int64_t m, int64_t n, const int *S,
                                       int64_t ld, const int *low, const uint8_t *flag,
                                       const int64_t *limit, int64_t first, int room,
                                       int *count, gpu_found_ *list)
{
    int64_t each = THREADS * 4 * EACH;
    dim3 grid((unsigned)((n + each - 1) / each), (unsigned)m);
    filter<<<grid, THREADS, 0, s>>>(n, S, ld, low, flag, limit, first, room, count, list);
    return cudaGetLastError();
}

extern "C" cudaError_t gpu_run_prune_(cudaStream_t s, int64_t m, int k, int room,
                                      double bound, double root, double bias,
                                      const double *norm, const double *one,
                                      int64_t *limit, int *count, int *kept,
                                      gpu_found_ *list, gpu_choice_ *state)
{
    prune<<<(unsigned)m, THREADS, 0, s>>>(k, room, bound, root, bias, norm, one, limit,
                                          count, kept, list, state);
    return cudaGetLastError();
}

extern "C" cudaError_t gpu_run_exact_(cudaStream_t s, int64_t pairs, const int *query,
                                      int64_t width, const uint64_t *z, int64_t n,
                                      const uint64_t *y, const double *v, const double *W,
                                      double *out)
{
    int64_t blocks = (pairs * 32 + THREADS - 1) / THREADS;
    exact<<<(unsigned)blocks, THREADS, 0, s>>>(pairs, query, width, z, n, y, v, W, out);
    return cudaGetLastError();
}
