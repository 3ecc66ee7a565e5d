/*
 * Symmetric eigendecomposition A = V' diag(w) V, row i of V the eigenvector of w_i. About
 * 9 n^3 operations. Eigenvalues to a few eps ||A|| absolutely, V orthogonal to a few n
 * eps; an eigenvector is only as good as the gap of its eigenvalue.
 */
#include "linalg/backend.h"

#include <math.h>

typedef struct decomposition {
    okra_context *ctx;
    const okra_backend_ *backend;
    okra_mat_ A;
    double *w;
} decomposition;

static okra_status decompose(void *arg)
{
    decomposition *d = arg;
    return d->backend->eigh(d->ctx, d->A, d->w);
}

okra_status okra_eigh_(okra_context *ctx, okra_mat_ A, double *w)
{
    const okra_backend_ *backend;

    CHK(okra_backend_enter_(ctx, "eigh", "A", &A, 1, &backend));
    CHK(okra_check_square_("eigh", 'A', A));
    CHK(okra_check_finite_("eigh", 'A', true, A));
    if (A.rows > 0) {
        decomposition d = {ctx, backend, A, w};
        CHK(okra_linalg_watched_(ctx, backend, OKRA_WORK_EIGEN_,
                                 9 * pow((double)A.rows, 3), decompose, &d));
    }
    return OKRA_OK;
}
