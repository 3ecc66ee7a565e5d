/*
 * spectrum.c: the k-spectrum kernel (Leslie, Eskin and Noble 2002): the inner product of
 * the counts of all substrings of k characters.
 *
 * A substring is a feature (graph_features.h), known by a hash of 64 bits: different ones
 * with one hash would be taken for one, for v distinct substrings with a chance of about
 * v^2/2^65, 3e-8 for a million. Values are whole numbers, exact below 2^53. Cost: |s| k
 * to hash, then a pair costs the distinct substrings of one of the two. Strings shorter
 * than k have no features: 0.
 */
#include "kernel/gram/trained_kernel.h"
#include "kernel/strings/string_kernels.h"

static okra_status extract(const void *params, const okra_graph_view_ *s,
                           okra_collector_ *c)
{
    okra_int k = ((const okra_spectrum_params_ *)params)->k;
    for (okra_int begin = 0; begin + k <= s->nodes; begin++) {
        uint64_t code = 0;
        for (okra_int j = begin; j < begin + k; j++) {
            code = okra_hash_(code, (uint64_t)s->letters[j]);
        }
        CHK(okra_fold_(c, OKRA_CODE_ROOT_, 8, code, &code));
        CHK(okra_collect_(c, code));
    }
    return OKRA_OK;
}

static const okra_option rows[] = {{"k", OKRA_OPTION_INT,
                                    offsetof(okra_spectrum_params_, k), "3", 1, 1000000,
                                    NULL, "N", "characters of a substring"},
                                   {.name = NULL}};

const okra_kernel_class_ okra_spectrum_ = {
    .name = "spectrum",
    .help = "strings: common substrings of k characters, counted",
    .params = {"spectrum", rows, sizeof(okra_spectrum_params_)},
    .extract = extract,
    .counted = true,
    OKRA_FEATURE_CLASS_(OKRA_STRINGS)};
