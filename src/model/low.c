/*
 * low.c: --low-rank-x and --low-rank-y: features of a few basis objects take the place of
 * the Gram matrices.
 *
 * The model then keeps of the inputs the basis alone: test inputs meet it through the
 * same kernel, or, with random Fourier features, the frequencies through `linear`.
 */
#include "model/model.h"
#include "model/options.h"

#include <stdio.h>
#include <string.h>

okra_status okra_low_read_(const char *name, const char *text, okra_low_ *out)
{
    okra_status st = okra_low_parse_(text, out);
    if (st != OKRA_OK) {
        okra_message_prefix_("%s", name);
    }
    return st;
}

static okra_status make_map(okra_context *ctx, const char *name, const char *text,
                            const okra_kernel *kernel, const okra_data *data,
                            uint64_t stream, okra_map_ **out)
{
    okra_status st = OKRA_OK;
    okra_low_ low;
    TRY(okra_low_read_(name, text, &low));
    TRY(okra_map_create_(ctx, kernel, data, &low, stream, out));
done:
    return st;
}

static okra_status fail_method(const okra_method_ *method)
{
    char able[80] = "";
    for (int k = 0; okra_methods_[k]; k++) {
        size_t used = strlen(able);
        if (okra_methods_[k]->low_rank) {
            snprintf(able + used, sizeof able - used, "%s%s", used ? " or " : "",
                     okra_methods_[k]->name);
        }
    }
    return okra_fail_(OKRA_EARG, "method %s does not use low rank, expected %s",
                      method->name, able);
}

/* What does not go with low rank. */
static okra_status check(const okra_fit_fields_ *f, const okra_method_ *method,
                         const okra_options *options, const okra_problem_ *p)
{
    bool both = *f->low_rank, on_x = *f->low_rank_x, on_y = *f->low_rank_y;
    if (both && (on_x || on_y)) {
        return okra_fail_(OKRA_EARG,
                          "low-rank stands for low-rank-x and low-rank-y: give "
                          "either it or these");
    }
    if (!okra_method_factored_(method, p, options)) {
        return fail_method(method);
    }
    if (on_y && !on_x) {
        return okra_fail_(OKRA_EARG, "low-rank-y needs low-rank-x");
    }
    if (on_y && p->features) {
        return okra_fail_(OKRA_EARG,
                          "low-rank-y: under a linear kernel the %lld coordinates of the "
                          "outputs are their features: leave it out",
                          (long long)p->d);
    }
    if (p->y->missing) {
        return okra_fail_(OKRA_EUNSUPPORTED,
                          "low-rank-x: missing outputs need the whole Gram matrix");
    }
    return OKRA_OK;
}

okra_status okra_fit_low_(okra_context *ctx, const okra_fit_fields_ *f,
                          const okra_method_ *method, const okra_options *options,
                          const okra_data *x, const okra_data *y, const okra_kernel *kx,
                          const okra_kernel *ky, okra_map_ **map_x, okra_map_ **map_y)
{
    okra_status st = OKRA_OK;
    double scale;
    bool features = y->kind == OKRA_DENSE && okra_kernel_is_linear_(ky, &scale);
    const char *text_x = *f->low_rank ? f->low_rank : f->low_rank_x;
    const char *text_y = *f->low_rank ? f->low_rank : f->low_rank_y;
    okra_low_ low;
    *map_x = *map_y = NULL;
    if (!*text_x && !*text_y) {
        return OKRA_OK;
    }
    okra_problem_ problem = {.n = y->n,
                             .unlabelled = x->n - y->n,
                             .x = x,
                             .y = y,
                             .features = features ? y->values : NULL,
                             .d = features ? y->d : 0,
                             .features_ld = features ? y->ld : 0,
                             .feature_scale = features ? scale : 1};
    TRY(check(f, method, options, &problem));
    if (*text_y) { /* a mistake in it is told before the work on x */
        TRY(okra_low_read_("low-rank-y", text_y, &low));
    }
    TRY(make_map(ctx, "low-rank-x", text_x, kx, x, 1, map_x));
    if (*text_y && !features) {
        TRY(make_map(ctx, "low-rank-y", text_y, ky, y, 2, map_y));
    }
done:
    if (st != OKRA_OK) {
        okra_map_free_(*map_x);
        *map_x = NULL;
    }
    return st;
}
