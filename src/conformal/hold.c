/*
 * hold.c: a part of the pairs, drawn at random, is held back for calibration.
 */
#include "conformal/conformal.h"

#include <math.h>
#include <stdlib.h>

okra_status okra_pairs_hold(okra_context *context, const okra_data *x, const okra_data *y,
                            double share, okra_data **parts)
{
    okra_status st = OKRA_OK;
    okra_int *index = NULL;
    okra_data *made[4] = {NULL};
    NEED(x);
    NEED(y);
    NOT_NULL(parts);
    okra_int n = y->n, N = x->n;
    FAIL_IF(!(share > 0 && share < 1), OKRA_EARG,
            "calibration: the share is %g, expected a number between 0 and 1", share);
    FAIL_IF(x->kind == OKRA_GRAM || y->kind == OKRA_GRAM, OKRA_EUNSUPPORTED,
            "calibration: a precomputed kernel cannot be parted: give pairs to calibrate "
            "with when predicting");
    FAIL_IF(N < n, OKRA_ESHAPE, "calibration: there are %lld inputs and %lld outputs",
            (long long)N, (long long)n);
    okra_int held = (okra_int)floor(share * (double)n + 0.5), kept = n - held;
    FAIL_IF(held < 1 || kept < 1, OKRA_ESHAPE,
            "calibration: a share of %g of %lld pairs leaves %lld to learn from and %lld "
            "to calibrate with",
            share, (long long)n, (long long)kept, (long long)held);
    ALLOC(index, N);
    okra_iota_(n, index);
    okra_random_ r = okra_random_create_(okra_context_seed(context), 13);
    okra_random_shuffle_(&r, n, index);
    qsort(index, (size_t)held, sizeof *index, okra_by_int_);
    TRY(okra_data_take(x, index, held, &made[2]));
    TRY(okra_data_take(y, index, held, &made[3]));
    okra_int *rest = index + held;
    qsort(rest, (size_t)kept, sizeof *rest, okra_by_int_);
    TRY(okra_data_take(y, rest, kept, &made[1]));
    for (okra_int i = n; i < N; i++) { /* inputs without outputs stay */
        index[i] = i;
    }
    TRY(okra_data_take(x, rest, N - held, &made[0]));
    for (int k = 0; k < 4; k++) {
        parts[k] = TAKE(made[k]);
    }
done:
    okra_free_(index);
    for (int k = 0; k < 4; k++) {
        okra_data_free(made[k]);
    }
    return st;
}
