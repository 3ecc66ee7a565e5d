/*
 * faulty.c: a decoder that is wrong, `nowhere`: it chooses a candidate that there is not.
 */
#include "decode/decode.h"

static okra_status create(okra_context *ctx, const okra_output_ *output,
                          const okra_options *options,
                          const okra_decode_request_ *request, void **out)
{
    okra_decoded_ *made = NULL;
    (void)ctx, (void)options;
    ZMAKE(made, 1);
    *out = made;
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

static void release(void *arg)
{
    if (arg) {
        okra_decoded_clear_(arg);
        okra_free_(arg);
    }
}

const okra_decoder_ okra_decoder_nowhere_ = {
    .name = "nowhere",
    .help = "a candidate that there is not",
    .options = {"decoder nowhere", NULL, 0},
    .chooses = true,
    .create = create,
    .block = block_in,
    .finish = finish,
    .free = release,
};
