/*
 * weighted_degree.c: the weighted-degree kernel (Raetsch and Sonnenburg 2004) of strings
 * of one length L.
 *
 *   k(s,t) = sum_{d=1..k} b_d sum_i [s_i..s_(i+d-1) = t_i..t_(i+d-1)],
 *   b_d = 2 (k-d+1)/(k (k+1))
 *
 * A run of equal characters that has reached length g at place i ends one match of each
 * degree up to min(g,k) there, which weigh B(g) = sum_{d<=g} b_d = g (2k+1-g)/(k (k+1))
 * together. Cost: L steps a pair, eight pairs at a time. The numerators are whole
 * numbers: one rounding in all.
 */
#include "data/strings.h"
#include "kernel/strings/string_kernels.h"

static inline OKRA_INLINE_ void body(OKRA_BATCH_PARAMETERS_)
{
    double k = (double)((const okra_degree_params_ *)arg)->k;
    const okra_lane_ top = (okra_lane_){0} + k;
    okra_lane_ run = {0}, sum = {0};
    for (okra_int i = 0; i < n; i++) {
        run = OKRA_WHERE_(s[i] == t[i], run + 1);
        okra_mask_ less = run < top;
        okra_lane_ g = OKRA_WHERE_(less, run) + OKRA_WHERE_(~less, top);
        sum += g * (2 * k + 1 - g);
    }
    for (int l = 0; l < OKRA_LANES_; l++) {
        value[l] = sum[l] / (k * (k + 1));
    }
}
OKRA_BATCH_(degree_batch, body)

static okra_status make_side(okra_context *ctx, const void *params, const void *shared,
                             const okra_data *data, void **side)
{
    const okra_data *train = shared;
    okra_int length = 0, own;
    if (train->n > 0) {
        okra_characters_(train, 0, &length);
    }
    for (okra_int i = 0; train->n > 0 && i < data->n; i++) {
        okra_characters_(data, i, &own);
        REFUSE_IF(
            own != length, OKRA_ESHAPE,
            "kernel weighted-degree: string %lld (from 0) of %s has %lld characters, "
            "expected %lld as in the first training string: all must be of one length",
            (long long)i, data->source, (long long)own, (long long)length);
    }
    return okra_lanes_create_(data, degree_batch, params, 0, side);
}

static const okra_option rows[] = {{"k", OKRA_OPTION_INT,
                                    offsetof(okra_degree_params_, k), "3", 1, 1000000,
                                    NULL, "N", "longest substring that counts"},
                                   {.name = NULL}};

const okra_kernel_class_ okra_weighted_degree_ = {
    .name = "weighted-degree",
    .help = "strings of one length: equal substrings at equal places, up to k characters",
    .params = {"weighted-degree", rows, sizeof(okra_degree_params_)},
    .kinds = 1u << OKRA_STRINGS,
    .side = make_side,
    OKRA_LANES_HOOKS_};
