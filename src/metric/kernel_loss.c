/*
 * kernel_loss.c: the squared distance of y (truth) and z (prediction) in the feature
 * space of a kernel l,
 *     |phi(y) - phi(z)|^2 = l(y,y) - 2 l(y,z) + l(z,z),
 * clamped at 0. Statistics of the expression (`center`) are those of the truth. Only the
 * n pairs are wanted but the Gram engine gives whole rows: n^2 evaluations, STRIP rows of
 * the Gram matrix in memory at a time.
 */
#include "metric/metric.h"

enum { STRIP = 64 };

typedef struct kernel_params {
    const char *kernel;
} kernel_params;

static const okra_option rows[] = {
    {"kernel", OKRA_OPTION_TEXT, offsetof(kernel_params, kernel), NULL, 1, 0, NULL,
     "EXPR", "the kernel of the feature space"},
    {0},
};

static okra_status check(const void *params)
{
    const kernel_params *p = params;
    return p->kernel ? OKRA_OK
                     : okra_fail_(OKRA_EARG,
                                  "metric kernel-loss: expected kernel-loss:kernel=EXPR");
}

static okra_status kernel_loss(okra_context *ctx, const void *params, okra_scores_ *s)
{
    const kernel_params *p = params;
    FREED_BY(okra_kernel_drop_) okra_kernel *kernel = NULL;
    FREED_BY(okra_trained_kernel_drop_) okra_trained_kernel_ *bound = NULL;
    FREED_BY(okra_test_side_drop_) okra_test_side_ *other = NULL;
    OWNED double *K = NULL, *yy = NULL, *zz = NULL;
    CHK(okra_kernel_parse(p->kernel, &kernel));
    REFUSE_IF(okra_kernel_low_(kernel), OKRA_EARG,
              "metric kernel-loss: kernel %s is of low rank, in which pairs that differ "
              "may have distance 0; expected the whole kernel",
              okra_kernel_text(kernel));
    CHK(okra_trained_kernel_create_(ctx, kernel, s->truth, &bound));
    CHK(okra_test_side_create_(ctx, bound, s->predicted, &other));
    MAKE(yy, s->n);
    MAKE(zz, s->n);
    CHK(okra_trained_kernel_diagonal_(ctx, bound, yy));
    CHK(okra_test_side_diagonal_(ctx, bound, other, zz));
    CHK(okra_doubles_(ctx, STRIP, s->n, "a strip of the Gram matrix", &K));
    for (okra_int first = 0; first < s->n; first += STRIP) {
        okra_int m = OKRA_MIN_(STRIP, s->n - first);
        CHK(okra_test_side_cross_(ctx, bound, other, first, okra_mat_of_(K, m, s->n)));
        for (okra_int r = 0; r < m; r++) {
            okra_int i = first + r;
            double squared = yy[i] - 2 * K[r * s->n + i] + zz[i];
            s->each[i] = squared < 0 ? 0 : squared;
        }
    }
    return OKRA_OK;
}

static const char *kernel_of(const void *params)
{
    return ((const kernel_params *)params)->kernel;
}

const okra_metric_ okra_metric_kernel_loss_ = {
    .name = "kernel-loss",
    .help = "squared distance in the feature space of a kernel",
    .params = {"metric kernel-loss", rows, sizeof(kernel_params)},
    .kinds = ~0u, /* whatever the kernel takes */
    .loss = true,
    .check = check,
    .score = kernel_loss,
    .kernel = kernel_of,
};
