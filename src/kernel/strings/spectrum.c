/*
 * spectrum.c: the k-spectrum kernel (Leslie, Eskin and Noble 2002): the inner product of
 * the counts of all substrings of k characters.
 *
 * Substrings are hashed to 64 bits and become the columns of sparse vectors (through.h).
 * Values are whole numbers, exact below 2^53. Cost: |s| k to hash, then a pair costs the
 * distinct substrings of one of the two. Strings shorter than k have no features: 0.
 */
#include "data/strings.h"
#include "kernel/gram/bound.h"
#include "kernel/kernels.h"
#include "kernel/strings/string_kernels.h"
#include "kernel/gram/through.h"

static okra_status emit(const void *params, const okra_data *data, okra_int i,
                        okra_codes_ *codes)
{
    okra_int length, k = ((const okra_spectrum_params_ *)params)->k;
    const int32_t *s = okra_characters_(data, i, &length);
    for (okra_int begin = 0; begin + k <= length; begin++) {
        uint64_t hash = 0;
        for (okra_int j = begin; j < begin + k; j++) {
            hash = okra_hash_(hash, (uint64_t)s[j]);
        }
        CHK(okra_codes_add_(codes, hash));
    }
    return OKRA_OK;
}

static okra_status fit(okra_context *ctx, const void *params, const okra_data *train,
                       void **state)
{
    (void)ctx;
    return okra_bags_fit_(emit, params, train, state);
}

static okra_status map(okra_context *ctx, const void *params, const void *state,
                       const okra_data *data, okra_data **out)
{
    (void)ctx;
    return okra_bags_map_(emit, params, state, data, false, out);
}

static const okra_through_ how = {&okra_linear_, fit, okra_bags_forget_, map};

static okra_status bind_training(okra_context *ctx, const void *params,
                                 const okra_data *train, void **shared)
{
    return okra_through_bind_(ctx, &how, params, train, shared);
}

static const okra_option rows[] = {{"k", OKRA_OPTION_INT,
                                    offsetof(okra_spectrum_params_, k), "3", 1, 1000000,
                                    NULL, "N", "characters of a substring"},
                                   {.name = NULL}};

const okra_kernel_class_ okra_spectrum_ = {
    .name = "spectrum",
    .help = "strings: common substrings of k characters, counted",
    .params = {"spectrum", rows, sizeof(okra_spectrum_params_)},
    .kinds = 1u << OKRA_STRINGS,
    .bind = bind_training,
    .unbind = okra_through_unbind_,
    .side = okra_through_side_,
    .free_side = okra_through_free_side_,
    .block = okra_through_block_,
    .diagonal = okra_through_diagonal_};

bool okra_bound_is_spectrum_(const okra_bound_ *bound, okra_int *k)
{
    const okra_kernel *kernel = bound->kernel;
    int root = kernel->count - 1;
    while (kernel->nodes[root].kind == OKRA_NODE_SCALE_) {
        root = kernel->nodes[root].a;
    }
    const okra_node_ *node = &kernel->nodes[root];
    bool is = node->kind == OKRA_NODE_LEAF_ && node->leaf == &okra_spectrum_;
    if (is) {
        *k = ((const okra_spectrum_params_ *)node->params)->k;
    }
    return is;
}
