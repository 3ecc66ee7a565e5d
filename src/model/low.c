/*
 * low.c: --low-rank-x and --low-rank-y: features of a few basis objects.
 *
 * Methods with a factored form take maps in place of Gram matrices: the model keeps of
 * the inputs the basis alone, and test inputs meet it through the same kernel, or, with
 * random Fourier features, the frequencies through `linear`. For all others, and for
 * what has no factored form, the kernels become EXPR | SPEC, which every method takes.
 */
#include "model/model.h"

#include "engine/engine.h"
#include "model/options.h"

#include <stdio.h>

static const char *text_x(const okra_fit_fields_ *f)
{
    return *f->low_rank ? f->low_rank : f->low_rank_x;
}

static const char *text_y(const okra_fit_fields_ *f)
{
    return *f->low_rank ? f->low_rank : f->low_rank_y;
}

okra_status okra_low_read_(const char *name, const char *text, okra_low_ *out)
{
    okra_status st = okra_low_parse_(text, out);
    if (st != OKRA_OK) {
        okra_message_prefix_("%s", name);
    }
    return st;
}

/* *kernel becomes EXPR | SPEC. */
static okra_status follow(const char *name, const char *text, okra_kernel **kernel)
{
    okra_low_ low;
    okra_kernel *followed = NULL;
    OWNED char *both = NULL;
    CHK(okra_low_read_(name, text, &low));
    both = okra_format_("%s | %s", okra_kernel_text(*kernel), text);
    GOT(both);
    okra_status st = okra_kernel_parse(both, &followed);
    if (st != OKRA_OK) {
        okra_message_prefix_("%s", name);
        return st;
    }
    okra_kernel_free(*kernel);
    *kernel = followed;
    return st;
}

typedef struct blanking {
    okra_mat_ F;
} blanking;

static okra_status blank(void *arg, okra_int begin, okra_int end, int worker)
{
    const blanking *b = arg;
    okra_mat_ F = b->F;
    (void)worker;
    for (okra_int i = begin; i < end; i++) {
        okra_mat_fill_(okra_mat_part_(F, i, 1, i + 1, F.cols - i - 1), 0);
    }
    return OKRA_OK;
}

/* The factor of a basis, made by the engine. */
static okra_status factor_basis(okra_context *ctx, const okra_bound_ *bound, okra_mat_ F)
{
    FREED_BY(okra_entries_drop_) okra_entries_ *entries = NULL;
    FREED_BY(okra_large_drop_) okra_large_ *K = NULL;
    OWNED double *d = NULL;
    double shift = 0;
    MAKE(d, F.rows);
    CHK(okra_entries_create_(ctx, bound, NULL, &entries));
    CHK(okra_large_create_(ctx, F.rows, F.rows, "the Gram matrix of the basis", &K));
    CHK(okra_large_gram_(ctx, entries, 0, K));
    CHK(okra_large_diagonal_(ctx, K, d));
    CHK(okra_low_shift_(okra_bound_kernel_(bound), F.rows, d, &shift));
    CHK(okra_large_add_diagonal_(ctx, shift, K));
    CHK(okra_large_cholesky_(ctx, K, NULL));
    CHK(okra_large_get_(ctx, K, 0, 0, F));
    blanking b = {F};
    return okra_parallel_least_(ctx, (double)F.rows * (double)F.rows, F.rows, 256, NULL,
                                blank, &b);
}

static okra_status make_map(okra_context *ctx, const char *name, const char *text,
                            const okra_kernel *kernel, const okra_data *data,
                            uint64_t stream, okra_map_ **out)
{
    okra_low_ low;
    CHK(okra_low_read_(name, text, &low));
    return okra_map_create_by_(ctx, kernel, data, &low, stream,
                               okra_engine_is_host_(ctx) ? NULL : factor_basis, out);
}

static bool has_features(const okra_data *y, const okra_kernel *ky, double *scale)
{
    return y->kind == OKRA_DENSE && okra_kernel_is_linear_(ky, scale);
}

bool okra_fit_factored_(const okra_fit_fields_ *f, const okra_method_ *method,
                        const okra_options *options, const okra_data *x,
                        const okra_data *y, const okra_kernel *ky)
{
    double scale = 1;
    bool features = has_features(y, ky, &scale);
    okra_problem_ problem = {.n = y->n,
                             .unlabelled = x->n - y->n,
                             .x = x,
                             .y = y,
                             .features = features ? y->values : NULL,
                             .d = features ? y->d : 0,
                             .features_ld = features ? y->ld : 0,
                             .feature_scale = features ? scale : 1};
    return *text_x(f) && !y->missing && okra_method_factored_(method, &problem, options);
}

/* What does not go with low rank. */
static okra_status check(const okra_fit_fields_ *f, const okra_data *y, bool features)
{
    REFUSE_IF(*f->low_rank && (*f->low_rank_x || *f->low_rank_y), OKRA_EARG,
              "low-rank stands for low-rank-x and low-rank-y: give either it or these");
    REFUSE_IF(*f->low_rank_y && features, OKRA_EARG,
              "low-rank-y: under a linear kernel the %lld coordinates of the outputs are "
              "their features: leave it out",
              (long long)y->d);
    return OKRA_OK;
}

okra_status okra_fit_low_(okra_context *ctx, const okra_fit_fields_ *f,
                          const okra_method_ *method, const okra_options *options,
                          const okra_data *x, const okra_data *y, okra_kernel **kx,
                          okra_kernel **ky, okra_map_ **map_x, okra_map_ **map_y)
{
    okra_status st = OKRA_OK;
    double scale;
    bool features = has_features(y, *ky, &scale);
    bool on_x = *text_x(f), on_y = *text_y(f) && !features;
    okra_low_ low;
    *map_x = *map_y = NULL;
    TRY(check(f, y, features));
    if (okra_fit_factored_(f, method, options, x, y, *ky)) {
        if (on_y) { /* a mistake in it is told before the work on x */
            TRY(okra_low_read_("low-rank-y", text_y(f), &low));
        }
        TRY(make_map(ctx, "low-rank-x", text_x(f), *kx, x, 1, map_x));
        if (on_y) {
            TRY(make_map(ctx, "low-rank-y", text_y(f), *ky, y, 2, map_y));
        }
        goto done;
    }
    if (on_x) {
        TRY(follow("low-rank-x", text_x(f), kx));
    }
    if (on_y) {
        TRY(follow("low-rank-y", text_y(f), ky));
    }
done:
    if (st != OKRA_OK) {
        okra_map_free_(*map_x);
        *map_x = NULL;
    }
    return st;
}

okra_status okra_low_put_(okra_context *ctx, const okra_bound_ *bound, const char *side,
                          size_t count, okra_bag_ *const *bags)
{
    okra_int rank = 0;
    double error = -1;
    char name[32];
    if (bound) {
        CHK(okra_bound_low_(ctx, bound, &rank, &error));
    }
    for (size_t i = 0; rank > 0 && i < count; i++) {
        snprintf(name, sizeof name, "%s.rank", side);
        CHK(okra_bag_put_number_(bags[i], name, (double)rank));
        snprintf(name, sizeof name, "%s.trace-error", side);
        if (error >= 0) {
            CHK(okra_bag_put_number_(bags[i], name, error));
        }
    }
    return OKRA_OK;
}

okra_status okra_low_waves_(const okra_fit_fields_ *f, okra_kernel **kx, char **text)
{
    CHK(follow("low-rank-x", text_x(f), kx));
    *text = okra_strdup_(okra_kernel_text(*kx));
    okra_kernel_free(*kx);
    *kx = NULL;
    return *text ? okra_kernel_parse("linear", kx) : OKRA_EMEM;
}
