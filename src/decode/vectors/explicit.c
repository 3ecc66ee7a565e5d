/*
 * explicit.c: under a linear output kernel the prediction h(x) = Y'w(x) is itself a dense
 * vector, in the units of the training outputs; no candidate is searched.
 */
#include "decode/decode.h"

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
    CHK(okra_decode_check_plain_("explicit", request));
    CHK(okra_decode_check_features_(output, "decoder explicit"));
    s->output = output;
    s->tests = request->tests;
    return okra_doubles_(ctx, s->tests, output->d, "the explicit predictions", &s->H);
}

static okra_status block_in(okra_context *ctx, void *arg, const okra_block_ *block)
{
    state *s = arg;
    okra_int d = s->output->d;
    return okra_block_explicit_(ctx, s->output, block,
                                okra_mat_of_(s->H + block->first * d, block->m, d));
}

static okra_status finish(okra_context *ctx, void *arg, okra_decoded_ *out)
{
    state *s = arg;
    return okra_data_adopt_dense_(&s->H, s->tests, s->output->d, "explicit predictions",
                                  &out->objects);
}

const okra_decoder_ okra_decoder_explicit_ = {
    .name = "explicit",
    .help = "the predicted vector itself (linear output kernel)",
    .options = {"decoder explicit", NULL, 0},
    .pointwise = true,
    .state = sizeof(state),
    .open = open,
    .block = block_in,
    .finish = finish,
    .clear = clear,
};
