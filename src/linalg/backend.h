/*
 * backend.h: what a linear-algebra backend must offer.
 *
 * The wrappers (product.c, cholesky.c, eigen.c, ...) check shapes and sizes and handle
 * empty matrices, so that a backend sees agreeing, non-empty row-major views whose sizes
 * are at most `limit`. Every operation can fail, with a message. A further backend is one
 * more table of these functions; it must pass tests/unit/linalg/test_conformance.c.
 */
#ifndef OKRA_LINALG_BACKEND_H_
#define OKRA_LINALG_BACKEND_H_

#include "linalg/linalg.h"

/* A backend runs small work at once. What may take over a second it hands to
 * okra_linalg_watched_, which reports progress. */
typedef enum okra_work_ {
    OKRA_WORK_PRODUCT_,
    OKRA_WORK_FACTOR_,
    OKRA_WORK_SOLVE_,
    OKRA_WORK_EIGEN_,
    OKRA_WORK_SINGULAR_,
} okra_work_;

typedef struct okra_backend_ {
    const char *name;
    okra_int limit; /* the largest row count, column count or row stride it can take */
    /* as okra_gemm_; the inner dimension may be 0 */
    okra_status (*gemm)(okra_context *ctx, bool ta, bool tb, double alpha, okra_mat_ A,
                        okra_mat_ B, double beta, okra_mat_ C);
    /* as okra_syrk_, the lower triangle of C alone */
    okra_status (*syrk)(okra_context *ctx, bool trans, double alpha, okra_mat_ A,
                        double beta, okra_mat_ C);
    /* lower triangle <- L; *done is false when a pivot is not positive, A then half done,
     * which is no failure */
    okra_status (*cholesky)(okra_context *ctx, okra_mat_ A, bool *done);
    /* as okra_trsm_ */
    okra_status (*trsm)(okra_context *ctx, bool left, bool trans, okra_mat_ L,
                        okra_mat_ B);
    /* as okra_eigh_ */
    okra_status (*eigh)(okra_context *ctx, okra_mat_ A, double *w);
    /* as okra_svd_ */
    okra_status (*svd)(okra_context *ctx, okra_mat_ A, okra_mat_ U, double *s,
                       okra_mat_ Vt);
    /* as okra_solve_general_, rcond never NULL; B may have no columns */
    okra_status (*solve)(okra_context *ctx, okra_mat_ A, okra_mat_ B, double *rcond);
} okra_backend_;

extern const okra_backend_ okra_backend_blas_;
extern const okra_backend_ okra_backend_ref_;

/* The longer parts of the ref backend: ref_jacobi.c and ref_factor.c. */
okra_status okra_ref_eigh_(okra_context *ctx, okra_mat_ A, double *w) OKRA_CHECK;
okra_status okra_ref_svd_(okra_context *ctx, okra_mat_ A, okra_mat_ U, double *s,
                          okra_mat_ Vt) OKRA_CHECK;
/* A becomes the Q of A = Q R, rows >= cols. */
okra_status okra_ref_orthonormal_(okra_mat_ A) OKRA_CHECK;
okra_status okra_ref_solve_(okra_context *ctx, okra_mat_ A, okra_mat_ B,
                            double *rcond) OKRA_CHECK;

/* Those of the blas backend in tiles: blas_tiles.c. */
okra_status okra_blas_gemm_(okra_context *ctx, bool ta, bool tb, double alpha,
                            okra_mat_ A, okra_mat_ B, double beta,
                            okra_mat_ C) OKRA_CHECK;
okra_status okra_blas_syrk_(okra_context *ctx, bool trans, double alpha, okra_mat_ A,
                            double beta, okra_mat_ C) OKRA_CHECK;
/* The lower triangle of C <- alpha A'B + beta C, where that is symmetric; some entries
 * above the diagonal change too. */
okra_status okra_blas_lower_(okra_context *ctx, double alpha, okra_mat_ A, okra_mat_ B,
                             double beta, okra_mat_ C) OKRA_CHECK;
okra_status okra_blas_cholesky_(okra_context *ctx, okra_mat_ A, bool *done) OKRA_CHECK;
okra_status okra_blas_trsm_(okra_context *ctx, bool left, bool trans, okra_mat_ L,
                            okra_mat_ B) OKRA_CHECK;
/* One row or column against a matrix: blas_vector.c. False: it is none, or small. */
enum { OKRA_VECTOR_LEAST_ = 1 << 16 };
bool okra_blas_vector_gemm_(okra_context *ctx, bool ta, bool tb, double alpha,
                            okra_mat_ A, okra_mat_ B, double beta, okra_mat_ C,
                            okra_status *status);
bool okra_blas_vector_trsm_(okra_context *ctx, bool left, bool trans, okra_mat_ L,
                            okra_mat_ B, okra_status *status);
/* How many threads `work` operations deserve where each thread should have `each`. */
int okra_blas_team_(okra_context *ctx, double work, double each);

/* As okra_solve_general_: blas_lu.c. */
okra_status okra_blas_solve_(okra_context *ctx, okra_mat_ A, okra_mat_ B,
                             double *rcond) OKRA_CHECK;
/* The eigh of the blas backend on several threads: blas_eigh.c. */
okra_status okra_blas_eigh_team_(okra_context *ctx, int team, okra_mat_ A,
                                 double *w) OKRA_CHECK;
/* The eigh of the blas backend for sizes too large for its first choice (a test calls it
 * at a small one). */
okra_status okra_blas_eigh_large_(okra_context *ctx, okra_mat_ A, double *w) OKRA_CHECK;

/* The entry of every operation: picks the context's backend, and checks each of the
 * `count` views (0 <= rows, 0 <= cols <= ld, none above the backend's limit: the one
 * place where sizes are narrowed) and for cancellation. Views are called names[0],
 * names[1], ... in messages. */
okra_status okra_backend_enter_(okra_context *ctx, const char *op, const char *names,
                                const okra_mat_ *views, int count,
                                const okra_backend_ **out) OKRA_CHECK;

/* Calls `call`, of `work` operations, and reports progress where it is long. */
okra_status okra_linalg_watched_(okra_context *ctx, const okra_backend_ *backend,
                                 okra_work_ kind, double work, okra_call_ call,
                                 void *arg) OKRA_CHECK;

/* The backend's cholesky, watched. */
okra_status okra_factor_watched_(okra_context *ctx, const okra_backend_ *backend,
                                 okra_mat_ A, bool *done) OKRA_CHECK;

/* Warns once in the life of the process where BLAS runs code for an old processor. */
void okra_blas_core_warn_(const okra_context *ctx);

/* Fails with OKRA_ESHAPE unless A is square. */
okra_status okra_check_square_(const char *op, char name, okra_mat_ A) OKRA_CHECK;
/* Fails with OKRA_ENUMERIC at the first NaN or infinity of A (lower: of its lower
 * triangle), which iterative LAPACK routines do not survive. */
okra_status okra_check_finite_(const char *op, char name, bool lower,
                               okra_mat_ A) OKRA_CHECK;

#endif
