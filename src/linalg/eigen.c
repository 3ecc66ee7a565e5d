/*
 * Symmetric eigendecomposition A = V' diag(w) V, row i of V the eigenvector of w_i. About
 * 9 n^3 operations. Eigenvalues to a few eps ||A|| absolutely, V orthogonal to a few n
 * eps; an eigenvector is only as good as the gap of its eigenvalue.
 */
#include "linalg/backend.h"

okra_status okra_eigh_(okra_context *ctx, okra_mat_ A, double *w)
{
    okra_status st = OKRA_OK;
    const okra_backend_ *backend;

    TRY(okra_backend_enter_(ctx, "eigh", "A", &A, 1, &backend));
    TRY(okra_check_square_("eigh", 'A', A));
    TRY(okra_check_finite_("eigh", 'A', true, A));
    if (A.rows > 0) {
        bool long_work = A.rows >= OKRA_TOLD_ROWS_;
        if (long_work) { /* one call, which tells nothing itself */
            okra_progress_(ctx, "eigenvectors", 0, 1);
        }
        TRY(backend->eigh(ctx, A, w));
        if (long_work) {
            okra_progress_(ctx, "eigenvectors", 1, 1);
        }
    }
done:
    return st;
}
