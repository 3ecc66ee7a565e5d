/*
 * decoders.c: the table of decoders, and the one that does nothing.
 */
#include "decode/decode.h"

#include "kernel/expression/expr.h"

/* A decoder more is one line here: X(name) for okra_decoder_<name>_. */
/* clang-format off */
#define DECODERS(X) \
    X(candidates) \
    X(explicit) \
    X(fixed_point) \
    X(gradient) \
    X(labels) \
    X(loss) \
    X(position) \
    X(string) \
    X(rewrite) \
    X(transcribe) \
    X(rankings) \
    X(optimum) \
    X(none)
/* clang-format on */
#define DECLARE(name) extern const okra_decoder_ okra_decoder_##name##_;
#define PLACE(name) &okra_decoder_##name##_,

DECODERS(DECLARE)
const okra_decoder_ *const okra_decoders_[] = {DECODERS(PLACE) NULL};

okra_status okra_decoder_open_(okra_context *ctx, const okra_decoder_ *decoder,
                               const okra_output_ *output, const okra_options *options,
                               const okra_decode_request_ *request, void **out)
{
    OWNED char *fields = NULL;
    okra_decode_request_ full = *request;
    char *state = NULL;
    full.options = options;
    REFUSE_IF(decoder->kinds && !(decoder->kinds >> output->y->kind & 1),
              OKRA_EUNSUPPORTED, "decoder %s needs %s as outputs; these are %s",
              decoder->name, decoder->needs, okra_kind_name(output->y->kind));
    REFUSE_IF(decoder->inputs &&
                  (!output->x || output->x->n < output->y->n || !request->inputs),
              OKRA_EUNSUPPORTED,
              "decoder %s needs all training inputs, which a model of low rank does not "
              "keep",
              decoder->name);
    MAKE(fields, (okra_int)OKRA_MAX_(decoder->options.size, 1));
    CHK(okra_options_read(options, &decoder->options, fields));
    ZMAKE(state, (okra_int)OKRA_MAX_(decoder->state, 1));
    okra_status st = decoder->open(ctx, state, output, fields, &full);
    if (st != OKRA_OK) {
        okra_decoder_close_(decoder, state);
        return st;
    }
    *out = state;
    return OKRA_OK;
}

void okra_decoder_close_(const okra_decoder_ *decoder, void *state)
{
    if (state && decoder->clear) {
        decoder->clear(state);
    }
    okra_free_(state);
}

okra_status okra_decode_block_(okra_context *ctx, const okra_decoder_ *decoder,
                               const okra_output_ *output, const okra_options *options,
                               const okra_decode_request_ *request,
                               const okra_block_ *block, okra_decoded_ *out)
{
    void *state = NULL;
    CHK(okra_decoder_open_(ctx, decoder, output, options, request, &state));
    okra_status st = decoder->block(ctx, state, block);
    st = st == OKRA_OK ? decoder->finish(ctx, state, out) : st;
    okra_decoder_close_(decoder, state);
    return st;
}

const okra_decoder_ *okra_decoder_find_(const char *name)
{
    size_t length = strcspn(name, ":");
    for (size_t i = 0; okra_decoders_[i]; i++) {
        const okra_decoder_ *d = okra_decoders_[i];
        if (strlen(d->name) == length && memcmp(d->name, name, length) == 0 &&
            (d->argument || !name[length])) {
            return d;
        }
    }
    return NULL;
}

const okra_decoder_ *okra_decoder_default_(bool explicitly, bool smooth)
{
    return smooth       ? &okra_decoder_optimum_
           : explicitly ? &okra_decoder_explicit_
                        : &okra_decoder_candidates_;
}

const char *okra_decoder_argument_(const char *name)
{
    const char *colon = name ? strchr(name, ':') : NULL;
    return colon ? colon + 1 : NULL;
}

bool okra_decoder_chooses_(const okra_decoder_ *decoder, const okra_options *options)
{
    bool all = decoder->argument && options && okra_options_is_set(options, "over-all") &&
               strcmp(okra_options_get(options, "over-all"), "yes") == 0;
    return decoder->chooses && !all;
}

void okra_decoded_clear_(okra_decoded_ *decoded)
{
    okra_data_free(decoded->objects);
    FREE(decoded->index, decoded->distance, decoded->runner_up, decoded->report,
         decoded->compared);
    okra_data_free(decoded->proposals);
    *decoded = (okra_decoded_){0};
}

okra_status okra_decoded_nearest_(okra_context *ctx, okra_nearest_ *nearest,
                                  const okra_data *set, const char *whose,
                                  const char *what, okra_decoded_ *out)
{
    OWNED okra_int *best = NULL, *index = NULL;
    OWNED double *distance = NULL;
    CHK(okra_nearest_give_(ctx, nearest, whose, what, &index, &distance));
    if (!nearest->may_be_empty) {
        MAKE(best, nearest->tests);
        for (okra_int i = 0; i < nearest->tests; i++) {
            best[i] = index[i * nearest->top];
        }
        CHK(okra_data_take(set, best, nearest->tests, &out->objects));
    }
    out->top = nearest->top;
    out->index = TAKE(index);
    out->distance = TAKE(distance);
    out->runner_up = TAKE(nearest->runner_up);
    return OKRA_OK;
}

const okra_node_ *okra_kernel_core_(const okra_kernel *kernel, double *scale,
                                    bool *normalized)
{
    const okra_node_ *node = &kernel->nodes[kernel->count - 1];
    bool through = false;
    *scale = 1;
    while (node->kind == OKRA_NODE_SCALE_ ||
           (normalized && node->kind == OKRA_NODE_TRANSFORM_ &&
            node->transform == &okra_normalize_)) {
        *scale *= node->kind == OKRA_NODE_SCALE_ ? node->scale : 1;
        through |= node->kind == OKRA_NODE_TRANSFORM_;
        node = &kernel->nodes[node->a];
    }
    GIVE(normalized, through);
    return node;
}

const void *okra_kernel_core_leaf_(const okra_kernel *kernel,
                                   const okra_kernel_class_ *leaf, double *scale,
                                   bool *normalized)
{
    const okra_node_ *node = okra_kernel_core_(kernel, scale, normalized);
    bool is = node->kind == OKRA_NODE_LEAF_ && node->leaf == leaf &&
              node->component == 0 && *scale > 0;
    return is ? node->params : NULL;
}

okra_status okra_decode_check_plain_(const char *who, const okra_decode_request_ *request)
{
    REFUSE_IF(request->candidates || request->ranges, OKRA_EARG,
              "decoder %s takes no candidates", who);
    REFUSE_IF(request->top > 1, OKRA_EARG,
              "decoder %s ranks nothing: top is %lld, expected 1", who,
              (long long)request->top);
    return OKRA_OK;
}

okra_status okra_decode_check_kind_(const okra_output_ *output, const okra_data *data,
                                    const char *what)
{
    okra_kind kind = okra_data_kind(output->y);
    bool vectors = kind == OKRA_DENSE || kind == OKRA_SPARSE || kind == OKRA_BITS ||
                   kind == OKRA_GRAM;
    REFUSE_IF(data->missing || output->y->missing, OKRA_EUNSUPPORTED,
              "%s has missing values: distances to whole outputs are not known; --decode "
              "explicit predicts every coordinate",
              data->missing ? data->source : output->y->source);
    if (okra_data_kind(data) == kind &&
        (!vectors || okra_data_width(data) == okra_data_width(output->y))) {
        return OKRA_OK;
    }
    char found[120], expected[120];
    return okra_fail_(OKRA_ESHAPE,
                      "%s %s, expected the kind and width of the training outputs, %s",
                      what, okra_data_describe_(data, found, sizeof found),
                      okra_data_describe_(output->y, expected, sizeof expected));
}

okra_status okra_decode_check_features_(const okra_output_ *output, const char *who)
{
    REFUSE_IF(
        !output->features && !output->vectors, OKRA_EUNSUPPORTED,
        "%s needs outputs with explicit features: dense vectors under a linear output "
        "kernel, metric or tasks",
        who);
    return OKRA_OK;
}

/* ---- none: predictions stay points of the feature space ---- */

static okra_status open_none(okra_context *ctx, void *state, const okra_output_ *output,
                             const void *options, const okra_decode_request_ *request)
{
    return okra_decode_check_plain_("none", request);
}

static okra_status no_block(okra_context *ctx, void *state, const okra_block_ *block)
{
    return OKRA_OK;
}

static okra_status finish_none(okra_context *ctx, void *state, okra_decoded_ *out)
{
    return OKRA_OK;
}

const okra_decoder_ okra_decoder_none_ = {
    .name = "none",
    .nothing = true,
    .maps = true,
    .help = "no decoding: weights and embeddings only",
    .options = {"decoder none", NULL, 0},
    .criterion = true,
    .open = open_none,
    .block = no_block,
    .finish = finish_none,
};
