/*
 * faulty.c: a decoder that is wrong, `nowhere`: it chooses a candidate that there is not.
 */
#include "decode/decode.h"

static okra_status open(okra_context *ctx, void *state, const okra_output_ *output,
                        const void *options, const okra_decode_request_ *request)
{
    okra_decoded_ *made = state;
    (void)ctx, (void)options;
    made->top = 1;
    ZMAKE(made->index, request->tests);
    ZMAKE(made->distance, request->tests);
    for (okra_int i = 0; i < request->tests; i++) {
        made->index[i] = output->y->n + i;
    }
    return OKRA_OK;
}

static okra_status block_in(okra_context *ctx, void *arg, const okra_block_ *block)
{
    (void)ctx, (void)arg, (void)block;
    return OKRA_OK;
}

static okra_status finish(okra_context *ctx, void *arg, okra_decoded_ *out)
{
    okra_decoded_ *made = arg;
    (void)ctx;
    *out = *made;
    *made = (okra_decoded_){0};
    return OKRA_OK;
}

static void clear(void *state)
{
    okra_decoded_clear_(state);
}

const okra_decoder_ okra_decoder_nowhere_ = {
    .name = "nowhere",
    .help = "a candidate that there is not",
    .options = {"decoder nowhere", NULL, 0},
    .chooses = true,
    .state = sizeof(okra_decoded_),
    .open = open,
    .block = block_in,
    .finish = finish,
    .clear = clear,
};
