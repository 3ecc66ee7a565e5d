/*
 * none.c: predictions stay points of the feature space (weights or embeddings).
 */
#include "decode/decode.h"

static okra_status open(okra_context *ctx, void *state, const okra_output_ *output,
                        const void *options, const okra_decode_request_ *request)
{
    (void)ctx, (void)state, (void)output, (void)options;
    return okra_decode_check_plain_("none", request);
}

static okra_status block_in(okra_context *ctx, void *state, const okra_block_ *block)
{
    (void)ctx, (void)state, (void)block;
    return OKRA_OK;
}

static okra_status finish(okra_context *ctx, void *state, okra_decoded_ *out)
{
    (void)ctx, (void)state;
    *out = (okra_decoded_){0};
    return OKRA_OK;
}

const okra_decoder_ okra_decoder_none_ = {
    .name = "none",
    .nothing = true,
    .maps = true,
    .help = "no decoding: weights and embeddings only",
    .options = {"decoder none", NULL, 0},
    .criterion = true,
    .open = open,
    .block = block_in,
    .finish = finish,
};
