/*
 * single.cu: between double precision, row by row, and single precision, column by
 * column: by squares of 32 x 32 through shared memory.
 */
#include "kernels.h"

#define SIDE 32
#define THREADS_Y 8

/* From A to B, or from B to A: B_(j, i) is A_(i, j). */
template <bool narrow>
__global__ void turn(int64_t rows, int64_t cols, int64_t diagonal, double shift, double *A,
                     int64_t ld, float *B, int64_t ldb, int64_t squares_x,
                     int64_t squares)
{
    __shared__ double t[SIDE][SIDE + 1];
    for (int64_t q = blockIdx.x; q < squares; q += gridDim.x) {
        int64_t i0 = q / squares_x * SIDE, j0 = q % squares_x * SIDE;
        for (int y = threadIdx.y; y < SIDE; y += THREADS_Y) {
            int64_t i = i0 + (narrow ? y : threadIdx.x);
            int64_t j = j0 + (narrow ? threadIdx.x : y);
            if (i < rows && j < cols) {
                t[i - i0][j - j0] = narrow ? A[i * ld + j] + (j == diagonal + i ? shift : 0)
                                           : (double)B[j * ldb + i];
            }
        }
        __syncthreads();
        for (int y = threadIdx.y; y < SIDE; y += THREADS_Y) {
            int64_t i = i0 + (narrow ? threadIdx.x : y);
            int64_t j = j0 + (narrow ? y : threadIdx.x);
            if (i < rows && j < cols) {
                if (narrow) {
                    B[j * ldb + i] = (float)t[i - i0][j - j0];
                } else {
                    A[i * ld + j] = t[i - i0][j - j0];
                }
            }
        }
        __syncthreads();
    }
}

static int64_t squares_of(int64_t n)
{
    return (n + SIDE - 1) / SIDE;
}

static unsigned blocks_of(int64_t squares)
{
    return (unsigned)(squares < 1 << 20 ? squares : 1 << 20);
}

cudaError_t gpu_run_narrow_(cudaStream_t s, int64_t rows, int64_t cols, int64_t diagonal,
                            double shift, const double *A, int64_t ld, float *B,
                            int64_t ldb)
{
    int64_t across = squares_of(cols), all = across * squares_of(rows);
    turn<true><<<blocks_of(all), dim3(SIDE, THREADS_Y), 0, s>>>(
        rows, cols, diagonal, shift, (double *)A, ld, B, ldb, across, all);
    return cudaGetLastError();
}

cudaError_t gpu_run_widen_(cudaStream_t s, int64_t rows, int64_t cols, const float *B,
                           int64_t ldb, double *A, int64_t ld)
{
    int64_t across = squares_of(cols), all = across * squares_of(rows);
    turn<false><<<blocks_of(all), dim3(SIDE, THREADS_Y), 0, s>>>(
        rows, cols, 0, 0, A, ld, (float *)B, ldb, across, all);
    return cudaGetLastError();
}
