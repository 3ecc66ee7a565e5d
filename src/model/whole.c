/*
 * whole.c: what a model file leaves out by default (OKRA_COMPACT_AUTO), and getting it
 * back.
 *
 * A file has what prediction needs. Where there are coefficients, predictions need no
 * factor of K + lambda I: a model above SMALL bytes is kept without it, and whoever asks
 * for weights has it computed again. Where there are none, one above LARGE bytes is kept
 * without it, and loading computes it again.
 */
#include "model/model.h"
#include "okra/more/update.h"

static const double SMALL = 1 << 20, LARGE = 64 << 20;

okra_compact okra_compact_choose_(const okra_model *model, okra_compact how)
{
    if (how != OKRA_COMPACT_AUTO) {
        return how;
    }
    double bytes = okra_model_bytes(model, OKRA_COMPACT_NO);
    if (bytes <= SMALL) {
        return OKRA_COMPACT_NO;
    }
    const char *keep = okra_model_option(model, "keep");
    if ((keep && strcmp(keep, "weights") == 0) ||
        !okra_compact_recomputes_(model, OKRA_COMPACT_RECOMPUTE)) {
        return OKRA_COMPACT_NO;
    }
    return okra_store_has_(model->store, "coefficients") ? OKRA_COMPACT_AUTO
           : bytes > LARGE                               ? OKRA_COMPACT_RECOMPUTE
                                                         : OKRA_COMPACT_NO;
}

okra_status okra_compact_whole_(okra_context *ctx, const okra_model *model,
                                okra_model *out)
{
    OWNED double *factor = NULL;
    okra_model whole = *model;
    okra_int n = model->training->y->n;
    CHK(okra_store_create_(&whole.store));
    *out = whole; /* which the caller frees from now on */
    for (okra_int i = 0; i < model->store->count; i++) {
        const okra_store_item_ *item = &model->store->items[i];
        CHK(okra_store_add_(whole.store, item->name,
                            (okra_store_item_){.sort = item->sort,
                                               .A = item->A,
                                               .number = item->number,
                                               .text = item->text}));
    }
    CHK(okra_doubles_(ctx, n, n, "the factor that the model left out", &factor));
    CHK(okra_compact_recompute_(ctx, model, factor));
    return okra_store_put_(whole.store, "factor", &factor, n, n);
}

void okra_compact_forget_(okra_model *whole)
{
    okra_store_free_(whole->store);
}
