/*
 * Choice of the backend, and the checks that every operation shares.
 */
#include "linalg/backend.h"
#include "core/threads.h"

#include <cblas.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* The number of BLAS threads belongs to the process: what was found is put back. */
static atomic_int holders, found;

static void set_threads(int threads)
{
    if (openblas_get_num_threads() != threads) {
        openblas_set_num_threads(threads);
    }
}

void okra_blas_hold_(int threads)
{
    if (okra_inside_worker_()) {
        return; /* the loop holds it */
    }
    if (atomic_fetch_add(&holders, 1) == 0) {
        atomic_store(&found, openblas_get_num_threads());
    }
    set_threads(threads);
}

void okra_blas_release_(void)
{
    if (!okra_inside_worker_() && atomic_fetch_sub(&holders, 1) == 1) {
        set_threads(atomic_load(&found));
    }
}

static okra_status check_view(const okra_backend_ *backend, const char *op, char name,
                              okra_mat_ A)
{
    REFUSE_IF(A.rows < 0 || A.cols < 0 || A.ld < A.cols, OKRA_ESHAPE,
              "%s: %c is %lld x %lld with row stride %lld; a matrix has 0 <= rows and 0 "
              "<= columns <= stride",
              op, name, (long long)A.rows, (long long)A.cols, (long long)A.ld);
    REFUSE_IF(
        A.rows > backend->limit || A.ld > backend->limit, OKRA_EUNSUPPORTED,
        "%s: %c is %lld x %lld with row stride %lld; the %s backend takes at most %lld",
        op, name, (long long)A.rows, (long long)A.cols, (long long)A.ld, backend->name,
        (long long)backend->limit);
    return OKRA_OK;
}

okra_status okra_backend_enter_(okra_context *ctx, const char *op, const char *names,
                                const okra_mat_ *views, int count,
                                const okra_backend_ **out)
{
    bool ref = strcmp(okra_context_backend_(ctx), okra_backend_ref_.name) == 0;
    const okra_backend_ *backend = ref ? &okra_backend_ref_ : &okra_backend_blas_;

    for (int i = 0; i < count; i++) {
        CHK(check_view(backend, op, names[i], views[i]));
    }
    CHK(okra_cancelled_(ctx));
    if (!ref) {
        okra_blas_core_warn_(ctx);
    }
    okra_doing_(ctx, op, count > 0 ? views[0].rows : 0);
    *out = backend;
    return OKRA_OK;
}

okra_status okra_check_square_(const char *op, char name, okra_mat_ A)
{
    REFUSE_IF(A.rows != A.cols, OKRA_ESHAPE, "%s: %c is %lld x %lld, not square", op,
              name, (long long)A.rows, (long long)A.cols);
    return OKRA_OK;
}

okra_status okra_check_finite_(const char *op, char name, bool lower, okra_mat_ A)
{
    for (okra_int i = 0; i < A.rows; i++) {
        okra_int cols = lower ? OKRA_MIN_(i + 1, A.cols) : A.cols;
        for (okra_int j = 0; j < cols; j++) {
            double a = A.p[i * A.ld + j];
            REFUSE_IF(!isfinite(a), OKRA_ENUMERIC, "%s: element (%lld, %lld) of %c is %g",
                      op, (long long)i, (long long)j, name, a);
        }
    }
    return OKRA_OK;
}
