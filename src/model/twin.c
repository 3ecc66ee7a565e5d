/*
 * twin.c: --twin: learned transformations take the place of both kernels before a fit, so
 * that every method has them.
 */
#include "model/model.h"
#include "model/options.h"

#include "okra/twin.h"

#include <stdio.h>
#include <string.h>

static okra_status parse(const char *text, int degree[2], bool *unbiased)
{
    int used = 0;
    if (sscanf(text, "%9d,%9d%n", &degree[0], &degree[1], &used) == 2) {
        *unbiased = strcmp(text + used, ",unbiased") == 0;
        if (!text[used] || *unbiased) {
            return OKRA_OK;
        }
    }
    return okra_fail_(
        OKRA_EARG, "twin is '%s', expected two degrees, D1,D2 or D1,D2,unbiased", text);
}

/* The inputs that have an output. */
static okra_status labelled(const okra_data *x, okra_int n, okra_data **out)
{
    OWNED okra_int *index = NULL;
    if (x->n == n) {
        *out = okra_data_retain(x);
        return OKRA_OK;
    }
    MAKE(index, n);
    okra_iota_(n, index);
    return okra_data_take(x, index, n, out);
}

OKRA_DROPS_(drop_twin, okra_twin, okra_twin_free)

okra_status okra_fit_twin_(okra_context *ctx, const okra_data *x, const okra_data *y,
                           const okra_fit_fields_ *fields, okra_kernel **kx,
                           okra_kernel **ky, double hsic[2])
{
    int degree[2];
    bool unbiased;
    FREED_BY(okra_data_drop_) okra_data *inputs = NULL;
    FREED_BY(drop_twin) okra_twin *twin = NULL;
    FREED_BY(okra_kernel_drop_) okra_kernel *x_learned = NULL;
    okra_kernel *y_learned = NULL;
    CHK(parse(fields->twin, degree, &unbiased));
    REFUSE_IF(y->missing, OKRA_EARG,
              "twin: y has missing values, of which no kernel can be learned");
    CHK(labelled(x, y->n, &inputs));
    const char *low_x = *fields->low_rank ? fields->low_rank : fields->low_rank_x;
    const char *low_y = *fields->low_rank ? fields->low_rank : fields->low_rank_y;
    okra_twin_base base_x = {(const okra_kernel *const *)kx, 1, degree[0],
                             *low_x ? low_x : NULL};
    okra_twin_base base_y = {(const okra_kernel *const *)ky, 1, degree[1],
                             *low_y ? low_y : NULL};
    CHK(okra_twin_learn(ctx, inputs, y, &base_x, &base_y, unbiased, &twin));
    CHK(okra_kernel_parse(okra_twin_kernel(twin, OKRA_SIDE_X), &x_learned));
    CHK(okra_kernel_parse(okra_twin_kernel(twin, OKRA_SIDE_Y), &y_learned));
    okra_kernel_free(*kx);
    okra_kernel_free(*ky);
    *kx = x_learned;
    *ky = y_learned;
    x_learned = NULL;
    hsic[0] = okra_twin_before(twin);
    hsic[1] = okra_twin_after(twin);
    return OKRA_OK;
}
