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

OKRA_FREES_(release, state, it->H)
OKRA_DROPS_(drop, state, release)

static okra_status create(okra_context *ctx, const okra_output_ *output,
                          const okra_options *options,
                          const okra_decode_request_ *request, void **out)
{
    (void)options;
    FREED_BY(drop) state *s = NULL;
    CHK(okra_decode_check_plain_("explicit", request));
    CHK(okra_decode_check_features_(output, "decoder explicit"));
    ZMAKE(s, 1);
    s->output = output;
    s->tests = request->tests;
    CHK(okra_doubles_(ctx, s->tests, output->d, "the explicit predictions", &s->H));
    *out = TAKE(s);
    return OKRA_OK;
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
    (void)ctx;
    state *s = arg;
    okra_decoded_ decoded = {0};
    CHK(okra_data_adopt_dense_(&s->H, s->tests, s->output->d, "explicit predictions",
                               &decoded.objects));
    *out = decoded;
    return OKRA_OK;
}

extern const okra_decoder_ okra_decoder_explicit_;
const okra_decoder_ okra_decoder_explicit_ = {
    .name = "explicit",
    .help = "the predicted vector itself (linear output kernel)",
    .options = {"decoder explicit", NULL, 0},
    .pointwise = true,
    .create = create,
    .block = block_in,
    .finish = finish,
    .free = release,
};
