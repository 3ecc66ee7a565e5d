/*
 * Symmetric eigendecomposition A = V' diag(w) V, row i of V the eigenvector of w_i. About
 * 9 n^3 operations. Eigenvalues to a few eps ||A|| absolutely, V orthogonal to a few n
 * eps; an eigenvector is only as good as the gap of its eigenvalue.
 */
#include "linalg/backend.h"

#include <math.h>

okra_status okra_eigh_(okra_context *ctx, okra_mat_ A, double *w)
{
    okra_status st = OKRA_OK;
    const okra_backend_ *backend;

    TRY(okra_backend_enter_(ctx, "eigh", "A", &A, 1, &backend));
    if (A.rows != A.cols) {
        FAIL(OKRA_ESHAPE, "eigh: A is %lld x %lld, not square", (long long)A.rows,
             (long long)A.cols);
    }
    for (okra_int i = 0; i < A.rows; i++) {
        for (okra_int j = 0; j <= i; j++) {
            if (!isfinite(A.p[i * A.ld + j])) {
                FAIL(OKRA_ENUMERIC, "eigh: element (%lld, %lld) is %g", (long long)i,
                     (long long)j, A.p[i * A.ld + j]);
            }
        }
    }
    if (A.rows > 0) {
        TRY(backend->eigh(ctx, A, w));
    }
done:
    return st;
}
