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
    for (okra_int i = 0; i < n; i++) {
        index[i] = i;
    }
    return okra_data_take(x, index, n, out);
}

okra_status okra_fit_twin_(okra_context *ctx, const okra_data *x, const okra_data *y,
                           const okra_fit_fields_ *fields, okra_kernel **kx,
                           okra_kernel **ky, double hsic[2])
{
    okra_status st = OKRA_OK;
    int degree[2];
    bool unbiased;
    okra_data *inputs = NULL;
    okra_twin *twin = NULL;
    okra_kernel *x_learned = NULL, *y_learned = NULL;
    TRY(parse(fields->twin, degree, &unbiased));
    if (y->missing) {
        FAIL(OKRA_EARG, "twin: y has missing values, of which no kernel can be learned");
    }
    TRY(labelled(x, y->n, &inputs));
    const char *low_x = *fields->low_rank ? fields->low_rank : fields->low_rank_x;
    const char *low_y = *fields->low_rank ? fields->low_rank : fields->low_rank_y;
    okra_twin_base base_x = {(const okra_kernel *const *)kx, 1, degree[0],
                             *low_x ? low_x : NULL};
    okra_twin_base base_y = {(const okra_kernel *const *)ky, 1, degree[1],
                             *low_y ? low_y : NULL};
    TRY(okra_twin_learn(ctx, inputs, y, &base_x, &base_y, unbiased, &twin));
    TRY(okra_kernel_parse(okra_twin_kernel(twin, OKRA_SIDE_X), &x_learned));
    TRY(okra_kernel_parse(okra_twin_kernel(twin, OKRA_SIDE_Y), &y_learned));
    okra_kernel_free(*kx);
    okra_kernel_free(*ky);
    *kx = x_learned;
    *ky = y_learned;
    x_learned = NULL;
    hsic[0] = okra_twin_before(twin);
    hsic[1] = okra_twin_after(twin);
done:
    okra_kernel_free(x_learned);
    okra_twin_free(twin);
    okra_data_free(inputs);
    return st;
}
