/*
 * program.cu: from the values of the leaves to the entries of the Gram matrix in one pass.
 *
 * The postfix program of engine/engine.h is run by every thread for four entries of one
 * column at once, so that reading a step is paid for once. The values on top of the stack
 * stay in registers; what lies below is only touched by sums and products. In a symmetric
 * matrix the lower triangle is computed and each square written twice, as it is and
 * mirrored through shared memory.
 */
#include "kernels.h"

#define SIDE 32
#define EACH 4
#define ROWS (SIDE / EACH)

static __device__ double power(double x, int64_t degree)
{
    double y = 1;
    for (; degree > 0; degree /= 2, x *= x) {
        y = degree % 2 ? y * x : y;
    }
    return y;
}

static __device__ double series(const gpu_step_ &s, double k)
{
    double y = 0;
    for (int64_t t = s.count - 1; t >= 0; t--) {
        y = y * k + s.list[t];
    }
    return y;
}

/* One step of one entry that is no leaf, sum or product; u, v: of its row and column. */
static __device__ double transform(const gpu_step_ &s, double k, double u, double v)
{
    switch (s.code) {
    case GPU_SCALE_:
        return s.p * k;
    case GPU_RBF_:
        return exp(-s.p * fmax(0.0, u + v - 2 * k));
    case GPU_EXP_:
        return exp(s.p * k);
    case GPU_POLY_:
        return power(s.p * k + s.q, s.degree);
    case GPU_POWER_:
        return power(k, s.degree);
    case GPU_NORMALIZE_:
        return u > 0 && v > 0 ? k / sqrt(u * v) : 0;
    case GPU_TANIMOTO_: {
        double d = u + v - k;
        return d > 0 ? k / d : 1;
    }
    case GPU_CENTER_:
        return k - u - v;
    default:
        return series(s, k);
    }
}

struct stack {
    double top[EACH], below[GPU_DEPTH_ - 1][EACH];
    int size;
};

static __device__ void push(stack &z)
{
    if (z.size > 0) {
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            z.below[z.size - 1][e] = z.top[e];
        }
    }
    z.size++;
}

/* Rows r0 + e * ROWS of the panel, column j. */
static __device__ void step(const gpu_step_ &s, const gpu_panel_ &panel, int64_t r0,
                            int64_t j, stack &z)
{
    bool leaf = s.code <= GPU_CONSTANT_, join = s.code == GPU_SUM_ || s.code == GPU_PRODUCT_;
    double v = s.v ? s.v[j] : 0;
    if (leaf) {
        push(z);
    } else if (join) {
        z.size--;
    }
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        int64_t r = r0 + e * ROWS;
        if (r >= panel.rows) {
            continue;
        }
        if (s.code == GPU_CONSTANT_) {
            z.top[e] = s.p;
        } else if (leaf) {
            z.top[e] = s.leaf ? s.leaf[r * panel.leaf_ld + j] : panel.p[r * panel.ld + j];
        } else if (s.code == GPU_SUM_) {
            z.top[e] += z.below[z.size - 1][e];
        } else if (s.code == GPU_PRODUCT_) {
            z.top[e] *= z.below[z.size - 1][e];
        } else {
            z.top[e] = transform(s, z.top[e], s.u ? s.u[r] : 0, v);
        }
        if (panel.diagonal && s.self && panel.first + r == j) {
            z.top[e] = s.self[r];
        }
    }
}

__global__ void program(const __grid_constant__ gpu_program_ P,
                        const __grid_constant__ gpu_panel_ panel)
{
    __shared__ double across[SIDE][SIDE + 1];
    int64_t i0 = (int64_t)blockIdx.y * SIDE, j0 = (int64_t)blockIdx.x * SIDE;
    int64_t r0 = i0 + threadIdx.y, j = j0 + threadIdx.x;
    stack z;
    z.size = 0;
    if (panel.mirror && j0 > panel.first + i0 + SIDE - 1) {
        return;
    }
    if (j < panel.cols) {
        for (int t = 0; t < P.count; t++) {
            step(P.steps[t], panel, r0, j, z);
        }
    }
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        int64_t r = r0 + e * ROWS;
        if (r < panel.rows && j < panel.cols) {
            if (!panel.mirror || j <= panel.first + r) {
                panel.p[r * panel.ld + j] = z.top[e];
            }
            across[threadIdx.y + e * ROWS][threadIdx.x] = z.top[e];
        }
    }
    if (!panel.mirror) {
        return;
    }
    __syncthreads();
    /* Row j0 + y of the matrix, column first + i0 + x. */
    double *matrix = panel.p - panel.first * panel.ld;
    for (int y = threadIdx.y; y < SIDE; y += ROWS) {
        int64_t row = j0 + y, r = i0 + threadIdx.x;
        if (r < panel.rows && row < panel.cols && row < panel.first + r) {
            matrix[row * panel.ld + panel.first + r] = across[threadIdx.x][y];
        }
    }
}

extern "C" cudaError_t gpu_run_program_(cudaStream_t s, const gpu_program_ *P,
                                        const gpu_panel_ *panel)
{
    dim3 grid((unsigned)((panel->cols + SIDE - 1) / SIDE),
              (unsigned)((panel->rows + SIDE - 1) / SIDE));
    program<<<grid, dim3(SIDE, ROWS), 0, s>>>(*P, *panel);
    return cudaGetLastError();
}
