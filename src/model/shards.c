/*
 * shards.c: fits on rows that lie in several files.
 *
 * A fit of low rank goes over its rows once and keeps sums. Where inputs and outputs are
 * arrays of NumPy they then stay in their files: each process reads the rows of its share
 * and those of the basis, and checks them as they come. Every other fit brings the rows
 * together in memory first; so do a few of them, up to FEW, of which a model keeps all
 * outputs. Of more it keeps the first FEW, for decoders that choose among them.
 */
#include "model/model.h"

#include "engine/engine.h"
#include "model/align.h"
#include "model/options.h"

enum { FEW = 16384 };

okra_status okra_shards_kept_(const okra_data *y, okra_data **out)
{
    if (y->pieces) {
        FREED_BY(okra_data_drop_) okra_data *some = NULL;
        CHK(okra_stack_slice_(y, 0, OKRA_MIN_(y->n, FEW), &some));
        return okra_data_copy(some, out);
    }
    *out = okra_data_retain(y);
    return OKRA_OK;
}

/* Is the basis drawn without a look at all rows? */
static bool draws(const okra_low_ *low)
{
    return low->kind == OKRA_LOW_RFF_ || (low->kind == OKRA_LOW_SKETCH_ && low->sparse) ||
           (low->kind == OKRA_LOW_NYSTROM_ &&
            (low->pivots == OKRA_PIVOTS_UNIFORM_ || low->pivots == OKRA_PIVOTS_CENTRES_));
}

static okra_status may_stay(okra_context *ctx, const okra_options *options,
                            const okra_data *x, const okra_data *y, bool *out)
{
    FREED_BY(okra_kernel_drop_) okra_kernel *ky = NULL;
    okra_fit_fields_ f;
    okra_low_ low;
    double scale;
    *out = false;
    CHK(okra_options_read(options, &okra_fit_table_, &f));
    const char *text = *f.low_rank ? f.low_rank : f.low_rank_x;
    const okra_method_ *method = okra_method_find_(f.method);
    bool passes = method && method->passes && method->passes(options);
    bool here = okra_engine_is_host_(ctx) || okra_context_crew_(ctx);
    if (!here || !*text || x->kind != OKRA_DENSE || y->kind != OKRA_DENSE ||
        y->n <= FEW || x->n != y->n || !passes || okra_align_asked_(f.kx)) {
        return OKRA_OK;
    }
    CHK(okra_low_read_("low-rank-x", text, &low));
    CHK(okra_kernel_choose(ctx, f.ky, y, &ky));
    *out = draws(&low) && okra_kernel_is_linear_(ky, &scale);
    return OKRA_OK;
}

static okra_status open_rows(okra_context *ctx, const char *text, okra_data **out)
{
    return okra_shards_named_(text) ? okra_shards_open_(ctx, text, out)
                                    : okra_data_read(ctx, text, out);
}

okra_status okra_fit_shards(okra_context *context, const char *x, const char *y,
                            const okra_options *options, okra_model **out)
{
    NOT_NULL(x);
    NOT_NULL(y);
    NOT_NULL(out);
    FREED_BY(okra_data_drop_) okra_data *inputs = NULL, *outputs = NULL;
    bool stay = false;
    CHK(open_rows(context, x, &inputs));
    CHK(open_rows(context, y, &outputs));
    CHK(may_stay(context, options, inputs, outputs, &stay));
    if (!stay) {
        CHK(okra_stack_join_(context, &inputs));
        CHK(okra_stack_join_(context, &outputs));
    }
    return okra_fit(context, inputs, outputs, options, out);
}
