/*
 * low.c: candidates as a few numbers.
 *
 * L = V diag(lambda) V' is the output kernel of the n training outputs. A candidate y has
 * the features f(y) = B' l(y), l(y)_i = l(y_i, y), B = V_r diag(1/sqrt(lambda_r)): its
 * coordinates along the r leading principal axes (not centred) of the training outputs.
 * A prediction sum_i w_i phi(y_i) has the coordinates u = B' L w, and
 *     sum_i w_i l(y_i, y)  ~  <u, f(y)>,
 * exactly but for the part of the prediction outside those axes. Behind f(y) stands
 * -l(y,y)/2, so that <u, f(y)> - l(y,y)/2 orders candidates by their distance.
 */
#include "index/index.h"

#include "model/model.h"

#include <math.h>
#include <string.h>

uint64_t okra_index_outputs_(const okra_model *model)
{
    const char *text = model->training->ky->text;
    uint64_t h = okra_mix_(OKRA_MIX_START_, text, strlen(text));
    return okra_data_mix_(h, model->training->y);
}

okra_status okra_index_basis_(okra_context *ctx, const okra_model *model, okra_int *rank,
                              double **out)
{
    const okra_bound_ *bound = model->training->output.ky;
    OWNED double *L = NULL, *w = NULL, *B = NULL;
    okra_int kept = 0;
    REFUSE_IF(!bound, OKRA_EUNSUPPORTED,
              "the model's output kernel is of low rank already");
    okra_int n = okra_bound_count_(bound);
    CHK(okra_doubles_(ctx, n, n, "the output Gram matrix", &L));
    MAKE(w, n);
    CHK(okra_bound_gram_(ctx, bound, okra_mat_of_(L, n, n)));
    CHK(okra_eigh_(ctx, okra_mat_of_(L, n, n), w));
    while (kept < OKRA_MIN_(*rank, n) && w[n - 1 - kept] > 1e-10 * w[n - 1]) {
        kept++;
    }
    REFUSE_IF(kept == 0, OKRA_ENUMERIC,
              "the output Gram matrix has no eigenvalue above 0");
    MAKE(B, n * kept);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int k = 0; k < kept; k++) {
            /* row n - 1 - k holds the eigenvector */
            B[i * kept + k] = L[(n - 1 - k) * n + i] / sqrt(w[n - 1 - k]);
        }
    }
    *rank = kept;
    *out = TAKE(B);
    return OKRA_OK;
}

okra_status okra_index_low_(okra_context *ctx, const okra_bound_ *bound,
                            const okra_data *candidates, const double *B, okra_int rank,
                            float *out)
{
    enum { PANEL = 2048 };
    FREED_BY(okra_other_drop_) okra_other_ *other = NULL;
    okra_int n = okra_bound_count_(bound);
    OWNED double *L = NULL, *F = NULL, *self = NULL;
    CHK(okra_other_create_(ctx, bound, candidates, &other));
    MAKE(self, candidates->n);
    CHK(okra_other_diagonal_(ctx, bound, other, self));
    CHK(okra_doubles_(ctx, PANEL, n, "kernel values of candidates", &L));
    MAKE(F, PANEL * rank);
    okra_mat_ basis = okra_mat_of_((double *)(uintptr_t)B, n, rank);
    for (okra_int first = 0; first < candidates->n; first += PANEL) {
        okra_int rows = OKRA_MIN_(PANEL, candidates->n - first);
        CHK(okra_other_cross_(ctx, bound, other, first, okra_mat_of_(L, rows, n)));
        CHK(okra_gemm_(ctx, false, false, 1, okra_mat_of_(L, rows, n), basis, 0,
                       okra_mat_of_(F, rows, rank)));
        for (okra_int k = 0; k < rows; k++) {
            float *row = out + (first + k) * okra_low_width_(rank);
            for (okra_int c = 0; c < rank; c++) {
                row[c] = (float)F[k * rank + c];
            }
            row[rank] = (float)(-self[first + k] / 2);
        }
    }
    return OKRA_OK;
}
