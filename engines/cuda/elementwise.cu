/*
 * elementwise.cu: one thread per entry; a block works on 256 columns of several rows.
 */
#include "kernels.h"

#define COLUMNS 256
#define MOST_Y 65535

static dim3 grid_of(int64_t rows, int64_t cols)
{
    int64_t y = rows < MOST_Y ? rows : MOST_Y;
    return dim3((unsigned)((cols + COLUMNS - 1) / COLUMNS), (unsigned)y);
}

template <class Body>
__global__ void each(int64_t rows, int64_t cols, Body body)
{
    int64_t j = (int64_t)blockIdx.x * COLUMNS + threadIdx.x;
    if (j < cols) {
        for (int64_t i = blockIdx.y; i < rows; i += gridDim.y) {
            body(i, j);
        }
    }
}

template <class Body>
static cudaError_t run(cudaStream_t s, int64_t rows, int64_t cols, Body body)
{
    each<<<grid_of(rows, cols), COLUMNS, 0, s>>>(rows, cols, body);
    return cudaGetLastError();
}

extern "C" cudaError_t gpu_run_fill_(cudaStream_t s, int64_t rows, int64_t cols,
                                     double value, double *A, int64_t ld)
{
    return run(s, rows, cols,
               [=] __device__(int64_t i, int64_t j) { A[i * ld + j] = value; });
}

extern "C" cudaError_t gpu_run_diagonal_(cudaStream_t s, int64_t n, double scale,
                                         double value, double *A, int64_t ld)
{
    return run(s, 1, n, [=] __device__(int64_t, int64_t j) {
        A[j * ld + j] = scale * A[j * ld + j] + value;
    });
}

extern "C" cudaError_t gpu_run_diagonal_copy_(cudaStream_t s, int64_t n, int to,
                                              double *A, int64_t ld, double *d)
{
    return run(s, 1, n, [=] __device__(int64_t, int64_t j) {
        if (to) {
            A[j * ld + j] = d[j];
        } else {
            d[j] = A[j * ld + j];
        }
    });
}

extern "C" cudaError_t gpu_run_scale_(cudaStream_t s, int64_t rows, int64_t cols,
                                      const double *r, const double *c, double *A,
                                      int64_t ld)
{
    return run(s, rows, cols, [=] __device__(int64_t i, int64_t j) {
        double x = A[i * ld + j];
        x = r ? x * r[i] : x;
        A[i * ld + j] = c ? x * c[j] : x;
    });
}

extern "C" cudaError_t gpu_run_subtract_(cudaStream_t s, int64_t n, const double *r,
                                         const double *g, double *A, int64_t ld)
{
    /* r_i + r_j first: a symmetric matrix stays so to the bit. */
    return run(s, n, n, [=] __device__(int64_t i, int64_t j) {
        A[i * ld + j] = A[i * ld + j] - (r[i] + r[j]) + *g;
    });
}

extern "C" cudaError_t gpu_run_sum_(cudaStream_t s, int64_t rows, int64_t cols, double a,
                                    double b, const double *B, int64_t ldb, double *A,
                                    int64_t ld)
{
    return run(s, rows, cols, [=] __device__(int64_t i, int64_t j) {
        A[i * ld + j] = a * A[i * ld + j] + b * B[i * ldb + j];
    });
}

extern "C" cudaError_t gpu_run_product_(cudaStream_t s, int64_t rows, int64_t cols,
                                        const double *B, int64_t ldb, double *A,
                                        int64_t ld)
{
    return run(s, rows, cols, [=] __device__(int64_t i, int64_t j) {
        A[i * ld + j] *= B[i * ldb + j];
    });
}

extern "C" cudaError_t gpu_run_power_(cudaStream_t s, int64_t rows, int64_t cols,
                                      double power, double *A, int64_t ld)
{
    return run(s, rows, cols, [=] __device__(int64_t i, int64_t j) {
        A[i * ld + j] = pow(A[i * ld + j], power);
    });
}

extern "C" cudaError_t gpu_run_divide_(cudaStream_t s, int64_t rows, int64_t cols,
                                       const double *r, const double *c, double shift,
                                       const double *B, int64_t ldb, double *A,
                                       int64_t ld)
{
    return run(s, rows, cols, [=] __device__(int64_t i, int64_t j) {
        A[i * ld + j] = B[i * ldb + j] / (r[i] * c[j] + shift);
    });
}
