/*
 * decoder.c: the decoder `whole` as an example: the explicit prediction, rounded to whole
 * numbers.
 */
#include "decode/decode.h"

#include <math.h>

typedef struct state {
    const okra_output_ *output;
    okra_int tests;
    double *H; /* tests x d */
} state;

static void clear(void *arg)
{
    okra_free_(((state *)arg)->H);
}

static okra_status open(okra_context *ctx, void *arg, const okra_output_ *output,
                        const void *options, const okra_decode_request_ *request)
{
    state *s = arg;
    (void)options;
    CHK(okra_decode_check_plain_("whole", request));
    CHK(okra_decode_check_features_(output, "decoder whole"));
    s->output = output;
    s->tests = request->tests;
    return okra_doubles_(ctx, s->tests, output->d, "the predictions", &s->H);
}

static okra_status block_in(okra_context *ctx, void *arg, const okra_block_ *block)
{
    state *s = arg;
    okra_int d = s->output->d;
    double *H = s->H + block->first * d;
    okra_status st =
        okra_block_explicit_(ctx, s->output, block, okra_mat_of_(H, block->m, d));
    for (okra_int i = 0; st == OKRA_OK && i < block->m * d; i++) {
        H[i] = round(H[i]);
    }
    return st;
}

static okra_status finish(okra_context *ctx, void *arg, okra_decoded_ *out)
{
    okra_status st = OKRA_OK;
    state *s = arg;
    okra_decoded_ decoded = {0};
    (void)ctx;
    TRY(okra_data_adopt_dense_(&s->H, s->tests, s->output->d, "whole numbers",
                               &decoded.objects));
    *out = decoded;
done:
    return st;
}

const okra_decoder_ okra_decoder_whole_ = {
    .name = "whole",
    .help = "the predicted vector, rounded to whole numbers",
    .automatic = "3*linear",
    .suits = OKRA_SUITS_ZERO_ONE_,
    .options = {"decoder whole", NULL, 0},
    .pointwise = true,
    .reports = true,
    .state = sizeof(state),
    .open = open,
    .block = block_in,
    .finish = finish,
    .clear = clear,
};
