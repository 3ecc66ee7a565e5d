/*
 * Symmetric eigendecomposition A = V' diag(w) V, row i of V the eigenvector of w_i. About
 * 9 n^3 operations. Residual ||A - V' diag(w) V|| of a few eps ||A||; V orthogonal to
 * some 50 eps (1e-12 above n = 32766, where another routine is used). An eigenvector
 * alone is only as good as the gap of its eigenvalue.
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
        TRY(backend->eigh(ctx, A, w));
    }
done:
    return st;
}
