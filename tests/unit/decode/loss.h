/*
 * loss.h: the decoder of least expected loss on TESTS predictions.
 */
#ifndef OKRA_TEST_LOSS_H
#define OKRA_TEST_LOSS_H

#include "decoding.h"

enum { TESTS = 12 };

/* options: NULL, or "over-all" and what goes with it */
static inline void run_with(const outputs *o, const char *spec, const okra_data *set,
                            const okra_options *options, double *W, okra_int n,
                            okra_int top, okra_int rows, okra_decoded_ *out)
{
    const okra_decoder_ *decoder = okra_decoder_find_("loss:any");
    okra_decode_request_ q = {
        .candidates = set, .tests = TESTS, .top = top, .argument = spec};
    void *state = NULL;
    CHECK(decoder && strcmp(decoder->name, "loss") == 0);
    CHECK_OK(okra_decoder_open_(NULL, decoder, &o->output, options, &q, &state));
    for (okra_int first = 0; first < TESTS && state; first += rows) {
        okra_int m = OKRA_MIN_(rows, TESTS - first);
        okra_block_ b = {.first = first, .m = m, .W = okra_mat_of_(W + first * n, m, n)};
        CHECK_OK(decoder->block(NULL, state, &b));
    }
    CHECK_OK(decoder->finish(NULL, state, out));
    okra_decoder_close_(decoder, state);
}

static inline void run(const outputs *o, const char *spec, const okra_data *set,
                       double *W, okra_int n, okra_int top, okra_int rows,
                       okra_decoded_ *out)
{
    run_with(o, spec, set, NULL, W, n, top, rows, out);
}

static inline void over_all(const outputs *o, const char *spec, const char *longest,
                            double *W, okra_int n, okra_decoded_ *out)
{
    const okra_option_table *table = &okra_decoder_find_("loss:")->options;
    okra_options *options = NULL;
    CHECK_OK(okra_options_create(&table, 1, &options));
    CHECK_OK(okra_options_set(options, "over-all", "yes"));
    if (longest) {
        CHECK_OK(okra_options_set(options, "longest", longest));
    }
    run_with(o, spec, NULL, options, W, n, 1, 5, out);
    okra_options_free(options);
}

#endif
