/*
 * bits.c: output kernels all of whose features are hashed to bits or counts.
 *
 * ecfp(bits=2048) | tanimoto of molecules is linear | tanimoto of the bits; so the
 * features of a candidate are computed once and kept, and kernel values need no molecule.
 * Of counts a candidate keeps places and numbers, and the kernel sees sparse vectors.
 */
#include "candidates/index.h"

#include "kernel/graphs/graph_features.h"

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
        if (how->bits == 0) {
            return "its features are not hashed: give them bits=2048, say";
        }
        if (k->leaves == OKRA_LEAVES_MOST_) {
            return "it is made of more than 8 kernels";
        }
        k->bits[k->leaves] = how->bits;
        k->counts[k->leaves] = how->count;
        k->class[k->leaves] = node->leaf;
        k->params[k->leaves++] = node->params;
    }
    return okra_kernel_centers_(k->kernel) ? "it depends on the training set" : NULL;
}

/* The same tree over linear@1, linear@2, ... (linear, if there is one leaf). */
static okra_status translate(const char *text, int leaves, okra_kernel **out)
{
    OWNED char *translated = NULL;
    FREED_BY(okra_kernel_drop_) okra_kernel *copy = NULL;
    int leaf = 0;
    CHK(okra_kernel_parse(text, &copy));
    for (int i = 0; i < copy->count; i++) {
        okra_node_ *node = &copy->nodes[i];
        if (node->kind == OKRA_NODE_LEAF_) {
            RENEW(node->params, okra_zalloc_(1, OKRA_MAX_(okra_linear_.params.size, 1)));
            node->leaf = &okra_linear_;
            node->component = leaves > 1 ? ++leaf : 0;
        }
    }
    CHK(okra_expr_text_(copy, &translated));
    return okra_kernel_parse(translated, out);
}

okra_status okra_bit_kernel_open_(const char *text, okra_bit_kernel_ *out, bool *yes,
                                  const char **why)
{
    FREED_BY(okra_bit_kernel_close_) okra_bit_kernel_ k = {0};
    *yes = false;
    CHK(okra_kernel_parse(text, &k.kernel));
    *why = leaves_of(&k);
    if (!*why && k.leaves > 0) {
        CHK(translate(text, k.leaves, &k.of_bits));
        *yes = true;
    }
    *out = TAKE(k);
    return OKRA_OK;
}

static okra_status leaf_data(okra_int bits, const uint64_t *rows, okra_int n,
                             okra_data **out)
{
    okra_data *data = NULL;
    CHK(okra_data_new_(OKRA_BITS, n, bits, "index", &data));
    data->bits = rows;
    data->words = (bits + 63) / 64;
    data->borrowed = true;
    *out = data;
    return OKRA_OK;
}

/* The same of rows that the collection takes over. */
static okra_status own_data(okra_int bits, uint64_t **rows, okra_int n, okra_data **out)
{
    CHK(leaf_data(bits, *rows, n, out));
    okra_data_own_(*out, *rows);
    (*out)->borrowed = false;
    *rows = NULL;
    return OKRA_OK;
}

/* One collection of the leaves. */
static okra_status join(okra_data **parts, int leaves, okra_data **out)
{
    if (leaves > 1) {
        return okra_data_tuple(parts, leaves, out);
    }
    *out = TAKE(parts[0]);
    return OKRA_OK;
}

static void clear_parts(okra_data *(*parts)[OKRA_LEAVES_MOST_])
{
    for (int leaf = 0; leaf < OKRA_LEAVES_MOST_; leaf++) {
        okra_data_free((*parts)[leaf]);
    }
}

static okra_status take_bits(const okra_bit_kernel_ *k, int leaf, const okra_shard_ *s,
                             const okra_int *rows, okra_int first, okra_int count,
                             okra_data **out)
{
    okra_int words = okra_bit_words_(k, leaf);
    OWNED uint64_t *chosen = NULL;
    if (!rows) {
        return leaf_data(k->bits[leaf], s->bits[leaf] + first * words, count, out);
    }
    MAKE(chosen, count * words);
    for (okra_int i = 0; i < count; i++) {
        memcpy(chosen + i * words, s->bits[leaf] + rows[i] * words,
               (size_t)words * sizeof *chosen);
    }
    return own_data(k->bits[leaf], &chosen, count, out);
}

/* Where the counts of a row are; an empty row where the file's numbers do not fit. */
static uint64_t row_begin(const okra_shard_ *s, int leaf, okra_int row, uint64_t *end)
{
    /* Read once: another process may change them. */
    const volatile uint64_t *ends = s->bits[leaf];
    uint64_t begin = row > 0 ? ends[row - 1] : 0;
    *end = ends[row];
    if (begin > *end || *end > s->head.pairs[leaf]) {
        begin = *end = 0;
    }
    return begin;
}

static okra_status take_counts(const okra_context *ctx, const okra_bit_kernel_ *k,
                               int leaf, const okra_shard_ *s, const okra_int *rows,
                               okra_int first, okra_int count, okra_data **out)
{
    FREED_BY(okra_csr_free_) okra_csr_ csr = {NULL, NULL, NULL};
    okra_int used = 0;
    MAKE(csr.indptr, count + 1);
    csr.indptr[0] = 0;
    for (okra_int i = 0; i < count; i++) {
        uint64_t end, begin = row_begin(s, leaf, rows ? rows[i] : first + i, &end);
        csr.indptr[i + 1] = csr.indptr[i] + (okra_int)(end - begin);
    }
    CHK(okra_budget_ask_(ctx, 16.0 * (double)csr.indptr[count],
                         "features of %lld candidates", (long long)count));
    MAKE(csr.indices, csr.indptr[count]);
    MAKE(csr.values, csr.indptr[count]);
    for (okra_int i = 0; i < count; i++) {
        uint64_t end, begin = row_begin(s, leaf, rows ? rows[i] : first + i, &end);
        REFUSE_IF(end - begin != (uint64_t)(csr.indptr[i + 1] - csr.indptr[i]), OKRA_EIO,
                  "the index changed while it was read");
        for (uint64_t at = begin; at < end; at++, used++) {
            csr.indices[used] = s->counts[leaf][at].place;
            csr.values[used] = s->counts[leaf][at].count;
        }
    }
    return okra_data_adopt_sparse_(&csr, count, k->bits[leaf], "index", out);
}

okra_status okra_shard_features_(const okra_context *ctx, const okra_bit_kernel_ *k,
                                 const okra_shard_ *s, const okra_int *rows,
                                 okra_int first, okra_int count, okra_data **out)
{
    FREED_BY(clear_parts) okra_data *parts[OKRA_LEAVES_MOST_] = {NULL};
    for (int leaf = 0; leaf < k->leaves; leaf++) {
        CHK(k->counts[leaf]
                ? take_counts(ctx, k, leaf, s, rows, first, count, &parts[leaf])
                : take_bits(k, leaf, s, rows, first, count, &parts[leaf]));
    }
    return join(parts, k->leaves, out);
}

okra_status okra_bit_molecules_(okra_context *ctx, const okra_bit_kernel_ *k,
                                const okra_data *molecules, okra_data **out)
{
    OWNED uint64_t *rows = NULL;
    FREED_BY(okra_csr_free_) okra_csr_ csr = {NULL, NULL, NULL};
    FREED_BY(clear_parts) okra_data *parts[OKRA_LEAVES_MOST_] = {NULL};
    for (int leaf = 0; leaf < k->leaves; leaf++) {
        if (k->counts[leaf]) {
            CHK(okra_features_counts_(ctx, k->class[leaf], k -> params[leaf], molecules,
                                      &csr));
            CHK(okra_data_adopt_sparse_(&csr, molecules->n, k->bits[leaf], "index",
                                        &parts[leaf]));
            continue;
        }
        MAKE(rows, molecules->n * okra_bit_words_(k, leaf));
        CHK(okra_features_bits_(ctx, k->class[leaf], k -> params[leaf], molecules, rows));
        CHK(own_data(k->bits[leaf], &rows, molecules->n, &parts[leaf]));
    }
    return join(parts, k->leaves, out);
}
