/*
 * rewritten.c: which of several inputs the decoder rewrite rewrites: the strings that
 * cost least to turn into the outputs, of up to LOOKED_AT pairs spread evenly.
 */
#include "decode/rewriting/rewritten.h"

enum { LOOKED_AT = 200 };

static okra_int part_count(const okra_data *x)
{
    return x->kind == OKRA_TUPLE ? x->component_count : 1;
}

/* Part p, from 1, or NULL where it holds no strings. */
const okra_data *okra_rewritten_part_(const okra_data *x, okra_int p)
{
    const okra_data *part = x->kind == OKRA_TUPLE ? x->components[p - 1] : x;
    return part->kind == OKRA_STRINGS ? part : NULL;
}

/* What it costs to turn the inputs into the outputs, of some pairs. */
static okra_status cost_of(const okra_data *x, const okra_data *y, double *cost)
{
    FREED_BY(okra_aligner_clear_) okra_aligner_ aligner = {0};
    okra_script_ script;
    okra_int m = OKRA_MIN_(y->n, LOOKED_AT);
    *cost = 0;
    for (okra_int k = 0; k < m; k++) {
        okra_int i = k * y->n / m;
        CHK(okra_align_(&aligner, NULL, okra_word_of_(x, i), okra_word_of_(y, i),
                        &script));
        *cost += (double)script.cost;
    }
    return OKRA_OK;
}

/* *strings: how many there were to choose from. */
static okra_status choose_part(const okra_output_ *output, okra_int given, okra_int *out,
                               okra_int *strings)
{
    okra_int parts = part_count(output->x);
    double least = 0, cost = 0;
    REFUSE_IF(given > parts || (given > 0 && !okra_rewritten_part_(output->x, given)),
              OKRA_EARG, "decoder rewrite: input is %lld, which %s", (long long)given,
              given > parts ? "is more than there are" : "does not hold strings");
    *out = given;
    for (okra_int p = 1; p <= parts && given == 0; p++) {
        const okra_data *part = okra_rewritten_part_(output->x, p);
        if (part) {
            CHK(cost_of(part, output->y, &cost));
            if ((*strings)++ == 0 || cost < least) {
                least = cost;
                *out = p;
            }
        }
    }
    REFUSE_IF(*out == 0, OKRA_EUNSUPPORTED,
              "decoder rewrite needs an input of strings; there is none");
    return OKRA_OK;
}

/* The kind of the test inputs has been looked at by nobody yet. */
okra_status okra_rewritten_choose_(okra_context *ctx, const okra_output_ *output,
                                   const okra_data *inputs, okra_int given,
                                   okra_int *part, const okra_data **chosen)
{
    okra_int strings = 0;
    CHK(choose_part(output, given, part, &strings));
    REFUSE_IF(part_count(inputs) != part_count(output->x), OKRA_ESHAPE,
              "%s: %lld inputs a test point, expected %lld", inputs->source,
              (long long)part_count(inputs), (long long)part_count(output->x));
    *chosen = okra_rewritten_part_(inputs, *part);
    REFUSE_IF(!*chosen, OKRA_ESHAPE,
              "%s: test input %lld must be strings, as in training", inputs->source,
              (long long)*part);
    if (strings > 1) {
        okra_warn_(ctx,
                   "rewrite: of %lld inputs that are strings, input %lld (%s) is "
                   "rewritten; --input chooses another",
                   (long long)strings, (long long)*part, (*chosen)->source);
    }
    return OKRA_OK;
}
