/*
 * best.cu: the k best of each row, in the order "larger value first, then lower column",
 * which is total: whatever the order of reading, the answer is the same.
 *
 * One block keeps the best 1024 so far, sorted, in shared memory, and gathers behind them
 * whatever beats the last that counts. When 1024 are gathered, both are sorted again by a
 * bitonic network and the better half stays. On random rows few entries after the first
 * ones get that far, and the row is read at the speed of memory.
 */
#include "kernels.h"

#include <math_constants.h>

#define THREADS 256
#define KEPT GPU_BEST_
#define PLACES (2 * KEPT)
#define NONE INT64_MAX

struct pair {
    double value;
    int64_t column;
};

static __device__ bool before(pair a, pair b)
{
    return a.value > b.value || (a.value == b.value && a.column < b.column);
}

/* A NaN counts as the least of all. */
static __device__ double key(double x)
{
    return isnan(x) ? -CUDART_INF : x;
}

/* Entries of a matrix, columns from..to-1 of one row. */
struct of_matrix {
    const double *A, *offset;
    int64_t ld, cols, each;
    int parts;
    __device__ int64_t begin(int64_t q) const
    {
        return q % parts * each;
    }
    __device__ int64_t end(int64_t q) const
    {
        int64_t stop = (q % parts + 1) * each;
        return stop < cols ? stop : cols;
    }
    __device__ pair at(int64_t q, int64_t j) const
    {
        double x = A[q / parts * ld + j];
        return {key(offset ? x + offset[j] : x), j};
    }
};

/* The bests of the parts of one row. */
struct of_parts {
    const double *value;
    const int64_t *column;
    int64_t count;
    __device__ int64_t begin(int64_t) const
    {
        return 0;
    }
    __device__ int64_t end(int64_t) const
    {
        return count;
    }
    __device__ pair at(int64_t q, int64_t j) const
    {
        return {value[q * count + j], column[q * count + j]};
    }
};

static __device__ void sort(double *value, int64_t *column)
{
    for (int size = 2; size <= PLACES; size *= 2) {
        for (int stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            for (int t = threadIdx.x; t < PLACES / 2; t += THREADS) {
                int i = 2 * t - (t & (stride - 1)), j = i + stride;
                pair a = {value[i], column[i]}, b = {value[j], column[j]};
                if (before(b, a) == ((i & size) == 0) && (before(b, a) || before(a, b))) {
                    value[i] = b.value, column[i] = b.column;
                    value[j] = a.value, column[j] = a.column;
                }
            }
        }
    }
    __syncthreads();
}

/* List q of `lists`: its `count` best after `after` go to out + q * stride. */
template <class Source>
__global__ void best(Source from, int64_t lists, int count, int64_t after_stride,
                     const double *after_value, const int64_t *after_column, int parts,
                     int64_t stride, double *out_value, int64_t *out_column)
{
    __shared__ double value[PLACES];
    __shared__ int64_t column[PLACES];
    __shared__ int gathered;
    for (int64_t q = blockIdx.x; q < lists; q += gridDim.x) {
        pair limit = {CUDART_INF, -1};
        if (after_value) {
            limit = {after_value[q / parts * after_stride],
                     after_column[q / parts * after_stride]};
        }
        for (int t = threadIdx.x; t < PLACES; t += THREADS) {
            value[t] = -CUDART_INF, column[t] = NONE;
        }
        if (threadIdx.x == 0) {
            gathered = 0;
        }
        __syncthreads();
        for (int64_t j0 = from.begin(q); j0 < from.end(q); j0 += THREADS) {
            int64_t j = j0 + threadIdx.x;
            if (j < from.end(q)) {
                pair x = from.at(q, j), last = {value[count - 1], column[count - 1]};
                if (before(x, last) && before(limit, x)) {
                    int t = KEPT + atomicAdd(&gathered, 1);
                    value[t] = x.value, column[t] = x.column;
                }
            }
            __syncthreads();
            bool full = gathered > KEPT - THREADS;
            __syncthreads();
            if (full) {
                sort(value, column);
                for (int t = KEPT + threadIdx.x; t < PLACES; t += THREADS) {
                    value[t] = -CUDART_INF, column[t] = NONE;
                }
                if (threadIdx.x == 0) {
                    gathered = 0;
                }
                __syncthreads();
            }
        }
        sort(value, column);
        for (int t = threadIdx.x; t < count; t += THREADS) {
            out_value[q * stride + t] = value[t];
            out_column[q * stride + t] = column[t];
        }
        __syncthreads();
    }
}

extern "C" cudaError_t gpu_run_best_(cudaStream_t s, int64_t rows, int64_t cols,
                                     const double *A, int64_t ld, const double *offset,
                                     int count, int64_t k, int64_t skip, int parts,
                                     double *part_value, int64_t *part_index,
                                     int64_t *index, double *value)
{
    of_matrix matrix = {A, offset, ld, cols, (cols + parts - 1) / parts, parts};
    of_parts joined = {part_value, part_index, (int64_t)parts * count};
    const double *after = skip ? value + skip - 1 : NULL;
    const int64_t *after_index = skip ? index + skip - 1 : NULL;
    int64_t lists = rows * parts, most = 1 << 20;
    bool cut = parts > 1;

    best<<<(unsigned)(lists < most ? lists : most), THREADS, 0, s>>>(
        matrix, lists, count, k, after, after_index, parts, cut ? count : k,
        cut ? part_value : value + skip, cut ? part_index : index + skip);
    if (cut) {
        best<<<(unsigned)(rows < most ? rows : most), THREADS, 0, s>>>(
            joined, rows, count, k, NULL, NULL, 1, k, value + skip, index + skip);
    }
    return cudaGetLastError();
}
