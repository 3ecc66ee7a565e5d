/*
 * kernels.h: what runs on the device, as C sees it. Each function starts kernels on the
 * stream and returns what cudaGetLastError says of the start. Matrices are row-major, ld
 * is the row stride; sizes are not 0.
 */
#ifndef OKRA_KERNELS_CUDA_H_
#define OKRA_KERNELS_CUDA_H_

#include <cuda_runtime_api.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- elementwise.cu ---- */

cudaError_t gpu_run_fill_(cudaStream_t s, int64_t rows, int64_t cols, double value,
                          double *A, int64_t ld);
/* A_ii <- scale A_ii + value */
cudaError_t gpu_run_diagonal_(cudaStream_t s, int64_t n, double scale, double value,
                              double *A, int64_t ld);
/* to: A_ii <- d_i; else d_i <- A_ii */
cudaError_t gpu_run_diagonal_copy_(cudaStream_t s, int64_t n, int to, double *A,
                                   int64_t ld, double *d);
/* A_ij <- A_ij r_i c_j; NULL: 1 */
cudaError_t gpu_run_scale_(cudaStream_t s, int64_t rows, int64_t cols, const double *r,
                           const double *c, double *A, int64_t ld);
/* A_ij <- A_ij - r_i - r_j + g[0], n x n */
cudaError_t gpu_run_subtract_(cudaStream_t s, int64_t n, const double *r, const double *g,
                              double *A, int64_t ld);
cudaError_t gpu_run_sum_(cudaStream_t s, int64_t rows, int64_t cols, double a, double b,
                         const double *B, int64_t ldb, double *A, int64_t ld);
cudaError_t gpu_run_product_(cudaStream_t s, int64_t rows, int64_t cols, const double *B,
                             int64_t ldb, double *A, int64_t ld);
cudaError_t gpu_run_power_(cudaStream_t s, int64_t rows, int64_t cols, double power,
                           double *A, int64_t ld);
/* A_ij <- B_ij / (r_i c_j + shift) */
cudaError_t gpu_run_divide_(cudaStream_t s, int64_t rows, int64_t cols, const double *r,
                            const double *c, double shift, const double *B, int64_t ldb,
                            double *A, int64_t ld);

/* ---- transpose.cu ---- */

/* B <- A', A rows x cols */
cudaError_t gpu_run_transpose_(cudaStream_t s, int64_t rows, int64_t cols,
                               const double *A, int64_t ld, double *B, int64_t ldb);
/* One triangle of A, without the diagonal, becomes the mirror image of the other. */
cudaError_t gpu_run_mirror_(cudaStream_t s, int64_t n, int lower_to_upper, double *A,
                            int64_t ld);
/* A <- A', n x n, in place */
cudaError_t gpu_run_exchange_(cudaStream_t s, int64_t n, double *A, int64_t ld);

/* ---- single.cu ---- */

/* B, cols x rows <- A' in single precision, shift added where j = diagonal + i */
cudaError_t gpu_run_narrow_(cudaStream_t s, int64_t rows, int64_t cols, int64_t diagonal,
                            double shift, const double *A, int64_t ld, float *B,
                            int64_t ldb);
/* A, rows x cols <- B' */
cudaError_t gpu_run_widen_(cudaStream_t s, int64_t rows, int64_t cols, const float *B,
                           int64_t ldb, double *A, int64_t ld);

/* ---- reduce.cu: sums in a fixed order ---- */

/* out_i <- scale sum_j A_ij */
cudaError_t gpu_run_row_sums_(cudaStream_t s, int64_t rows, int64_t cols, double scale,
                              const double *A, int64_t ld, double *out);
/* *out <- sum_ij A_ij B_ij; partial: GPU_PARTS_ doubles */
cudaError_t gpu_run_dot_(cudaStream_t s, int64_t rows, int64_t cols, const double *A,
                         int64_t lda, const double *B, int64_t ldb, double *partial,
                         double *out);
/* out_st <- sum_ij X[s]_ij Y[t]_ij, p x q of them, X and Y arrays of the device; partial:
 * p q parts doubles, parts at most 65535 */
cudaError_t gpu_run_dots_(cudaStream_t s, int64_t rows, int64_t cols, int64_t ld,
                          int64_t p, const double *const *X, int64_t q,
                          const double *const *Y, int64_t parts, double *partial,
                          double *out);
/* *out <- 1 where every A_ii is a finite number above 0, else 0 */
cudaError_t gpu_run_positive_(cudaStream_t s, int64_t n, const double *A, int64_t ld,
                              int *out);
enum { GPU_PARTS_ = 2048 };

/* ---- best.cu ---- */

/* For each row the `count` (at most GPU_BEST_) best after the place that `after` names
 * (NULL: from the best on), by value + offset, largest first, ties to the lower column.
 * Row i of index and value begins at i * k + skip; after: skip - 1. Columns of the row
 * are cut into `parts` and their bests merged through scratch, rows * parts * count of
 * both kinds, where parts > 1. */
enum { GPU_BEST_ = 1024 };
cudaError_t gpu_run_best_(cudaStream_t s, int64_t rows, int64_t cols, const double *A,
                          int64_t ld, const double *offset, int count, int64_t k,
                          int64_t skip, int parts, double *part_value,
                          int64_t *part_index, int64_t *index, double *value);

/* ---- bits.cu ---- */

/* out_ij <- |a_i and b_j|, a of ni rows, b of nj; or, given u and v, the numbers of bits,
 * |a_i and b_j| / (u_i + v_j - |a_i and b_j|), 1 where the divisor is not above 0. */
cudaError_t gpu_run_bits_(cudaStream_t s, int64_t ni, int64_t nj, int64_t width,
                          const uint64_t *a, int64_t lda, const uint64_t *b, int64_t ldb,
                          const double *u, const double *v, double *out, int64_t ld);

/* ---- codes.cu: rows of bits without gaps; top.c says what codes are ---- */

enum { GPU_RANGE_ = 128, GPU_TILE_ = 128, GPU_LOW_ = 128 };
/* Where column j of a group of 32 is stored. */
static inline int gpu_place_(int j)
{
    return j % 8 / 2 * 8 + j / 8 * 2 + j % 2;
}
/* v and offset have ld entries, ld a multiple of GPU_TILE_ above nj; square_i <- square_i
 * + sum_j code_ij^2; flag_i <- 1 where a code does not fit 8 bits, if it was 0. */
cudaError_t gpu_run_codes_(cudaStream_t s, int64_t ni, int64_t nj, int64_t width,
                           const uint64_t *a, const uint64_t *b, const float *u,
                           const float *v, const float *offset, float inverse,
                           int8_t *out, int64_t ld, int *square, uint8_t *flag);
/* u_i <- the number of bits of row i; where it is 0 and flag_i is 0, flag_i <- 1 */
cudaError_t gpu_run_counts_(cudaStream_t s, int64_t n, int64_t width, const uint64_t *a,
                            float *u, uint8_t *flag);
/* least, largest, sum and sum of squares, of GPU_RANGE_ parts */
cudaError_t gpu_run_range_(cudaStream_t s, int64_t rows, int64_t cols, const double *A,
                           int64_t ld, double *out);

/* ---- choose.cu ---- */

typedef struct gpu_found_ {
    int64_t value, index;
} gpu_found_;
typedef struct gpu_choice_ {
    int most; /* the largest sum of squares of the codes of a row */
    int odd;  /* rows whose codes do not fit                       */
    int full; /* a list was too short                              */
} gpu_choice_;
cudaError_t gpu_run_collect_(cudaStream_t s, int64_t n, const int *square,
                             const uint8_t *flag, int64_t first, int room, int64_t *odd,
                             gpu_choice_ *state);
/* Of row q of S (with low_q >= 0: GPU_LOW_ times row q plus row low_q), n columns, those
 * that reach limit_q go to list q, as first + column. */
cudaError_t gpu_run_filter_(cudaStream_t s, int64_t m, int64_t n, const int *S,
                            int64_t ld, const int *low, const uint8_t *flag,
                            const int64_t *limit, int64_t first, int room, int *count,
                            gpu_found_ *list);
/* Lists keep what is within twice the margin, bound (norm_q + sqrt(most) + root) + bias
 * one_q, of their k-th largest. */
cudaError_t gpu_run_prune_(cudaStream_t s, int64_t m, int k, int room, double bound,
                           double root, double bias, const double *norm,
                           const double *one, int64_t *limit, int *count, int *kept,
                           gpu_found_ *list, gpu_choice_ *state);
/* out_p <- sum_i W_qi t(z_p, y_i), q = query_p: Tanimoto coefficients of bits, y by
 * words: word t of row i at t n + i; v: bits of y. */
cudaError_t gpu_run_exact_(cudaStream_t s, int64_t pairs, const int *query, int64_t width,
                           const uint64_t *z, int64_t n, const uint64_t *y,
                           const double *v, const double *W, double *out);

/* ---- distance1.cu ---- */

/* out_ij <- sum_t |a_it - b_jt| */
cudaError_t gpu_run_distance1_(cudaStream_t s, int64_t ni, int64_t nj, int64_t width,
                               const double *a, int64_t lda, const double *b, int64_t ldb,
                               double *out, int64_t ld);

/* ---- program.cu ---- */

/* The codes of engine/engine.h, in its order (gram.c checks that). */
enum {
    GPU_DOT_,
    GPU_BITS_,
    GPU_DISTANCE1_,
    GPU_CONSTANT_,
    GPU_SUM_,
    GPU_PRODUCT_,
    GPU_SCALE_,
    GPU_RBF_,
    GPU_EXP_,
    GPU_POLY_,
    GPU_POWER_,
    GPU_NORMALIZE_,
    GPU_TANIMOTO_,
    GPU_CENTER_,
    GPU_SERIES_,
};
enum { GPU_DEPTH_ = 16, GPU_STEPS_ = 48 };

/* Device pointers; u and self belong to the rows of the panel, v to its columns. */
typedef struct gpu_step_ {
    int code;
    double p, q;
    int64_t degree, count;
    const double *u, *v, *self, *list;
    const double *leaf; /* values of the leaf; NULL: they are in the panel itself */
} gpu_step_;

/* `rows` x `cols` of the matrix from row `first` on. */
typedef struct gpu_panel_ {
    int64_t rows, cols, first;
    int diagonal; /* symmetric: row r meets itself in column first + r               */
    int mirror;   /* only columns up to the row's are computed, and written across too */
    double *p;    /* row `first` of the matrix                                       */
    int64_t ld;
    int64_t leaf_ld;
} gpu_panel_;

typedef struct gpu_program_ {
    int count;
    gpu_step_ steps[GPU_STEPS_];
} gpu_program_;
cudaError_t gpu_run_program_(cudaStream_t s, const gpu_program_ *program,
                             const gpu_panel_ *panel);

#ifdef __cplusplus
}
#endif
#endif
