/*
 * bits.c: output kernels all of whose features are hashed to bits.
 *
 * ecfp(bits=2048) | tanimoto of molecules is linear | tanimoto of the bits; so the
 * features of a candidate are computed once and kept, and kernel values need no molecule.
 */
#include "index/index.h"

#include "kernel/graphs/graph_features.h"
#include "kernel/kernels.h"

#include <string.h>

void okra_bit_kernel_close_(okra_bit_kernel_ *k)
{
    okra_kernel_free(k->kernel);
    okra_kernel_free(k->of_bits);
    *k = (okra_bit_kernel_){0};
}

/* Collects the leaves; a reason where the kernel is none of bits. */
static const char *leaves_of(okra_bit_kernel_ *k)
{
    for (int i = 0; i < k->kernel->count; i++) {
        const okra_node_ *node = &k->kernel->nodes[i];
        if (node->kind != OKRA_NODE_LEAF_) {
            continue;
        }
        const okra_feature_params_ *how = node->params;
        if (!node->leaf->extract || node->component) {
            return "a kernel in it does not count features of molecules";
        }
        if (how->bits == 0 || how->count) {
            return "its features are not hashed to bits: give them bits=2048, say, and "
                   "count=0";
        }
        if (k->leaves == OKRA_LEAVES_MOST_) {
            return "it is made of more than 8 kernels";
        }
        k->bits[k->leaves] = how->bits;
        k->class[k->leaves] = node->leaf;
        k->params[k->leaves++] = node->params;
    }
    return okra_kernel_centers_(k->kernel) ? "it depends on the training set" : NULL;
}

/* The same tree over linear@1, linear@2, ... (linear, if there is one leaf). */
static okra_status translate(const char *text, int leaves, okra_kernel **out)
{
    okra_status st = OKRA_OK;
    okra_kernel *copy = NULL;
    char *translated = NULL;
    int leaf = 0;
    TRY(okra_kernel_parse(text, &copy));
    for (int i = 0; i < copy->count; i++) {
        okra_node_ *node = &copy->nodes[i];
        if (node->kind == OKRA_NODE_LEAF_) {
            void *params = okra_zalloc_(1, OKRA_MAX_(okra_linear_.params.size, 1));
            if (!params) {
                st = OKRA_EMEM;
                goto done;
            }
            okra_free_(node->params);
            node->params = params;
            node->leaf = &okra_linear_;
            node->component = leaves > 1 ? ++leaf : 0;
        }
    }
    TRY(okra_expr_text_(copy, &translated));
    TRY(okra_kernel_parse(translated, out));
done:
    okra_kernel_free(copy);
    okra_free_(translated);
    return st;
}

okra_status okra_bit_kernel_open_(const char *text, okra_bit_kernel_ *out, bool *yes,
                                  const char **why)
{
    okra_status st = OKRA_OK;
    okra_bit_kernel_ k = {0};
    *yes = false;
    TRY(okra_kernel_parse(text, &k.kernel));
    *why = leaves_of(&k);
    if (!*why && k.leaves > 0) {
        TRY(translate(text, k.leaves, &k.of_bits));
        *yes = true;
    }
    *out = k;
    k = (okra_bit_kernel_){0};
done:
    okra_bit_kernel_close_(&k);
    return st;
}

static okra_status leaf_data(okra_int bits, const uint64_t *rows, okra_int n,
                             okra_data **out)
{
    okra_status st = OKRA_OK;
    okra_data *data = NULL;
    TRY(okra_data_new_(OKRA_BITS, n, bits, "index", &data));
    data->bits = rows;
    data->words = (bits + 63) / 64;
    data->borrowed = true;
    *out = data;
done:
    return st;
}

okra_status okra_bit_data_(const okra_bit_kernel_ *k, const uint64_t *const *rows,
                           okra_int n, okra_data **out)
{
    okra_status st = OKRA_OK;
    okra_data *parts[OKRA_LEAVES_MOST_] = {NULL};
    for (int leaf = 0; leaf < k->leaves; leaf++) {
        TRY(leaf_data(k->bits[leaf], rows[leaf], n, &parts[leaf]));
    }
    if (k->leaves == 1) {
        *out = parts[0];
        parts[0] = NULL;
    } else {
        TRY(okra_data_tuple(parts, k->leaves, out));
    }
done:
    for (int leaf = 0; leaf < OKRA_LEAVES_MOST_; leaf++) {
        okra_data_free(parts[leaf]);
    }
    return st;
}

okra_status okra_bit_molecules_(okra_context *ctx, const okra_bit_kernel_ *k,
                                const okra_data *molecules, okra_data **out)
{
    okra_status st = OKRA_OK;
    uint64_t *rows[OKRA_LEAVES_MOST_] = {NULL};
    okra_data *parts[OKRA_LEAVES_MOST_] = {NULL};
    for (int leaf = 0; leaf < k->leaves; leaf++) {
        ALLOC(rows[leaf], molecules->n * okra_bit_words_(k, leaf));
        TRY(okra_features_bits_(ctx, k->class[leaf], k -> params[leaf], molecules,
                                rows[leaf]));
        TRY(leaf_data(k->bits[leaf], rows[leaf], molecules->n, &parts[leaf]));
        okra_data_own_(parts[leaf], rows[leaf]);
        parts[leaf]->borrowed = false;
        rows[leaf] = NULL;
    }
    if (k->leaves == 1) {
        *out = parts[0];
        parts[0] = NULL;
    } else {
        TRY(okra_data_tuple(parts, k->leaves, out));
    }
done:
    for (int leaf = 0; leaf < OKRA_LEAVES_MOST_; leaf++) {
        okra_free_(rows[leaf]);
        okra_data_free(parts[leaf]);
    }
    return st;
}
