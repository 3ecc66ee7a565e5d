/*
 * labels.c: sets of labels, outputs y in {0,1}^d (dense, sparse or bits).
 *
 * Linear kernel: |y - h|^2 = sum_j (y_j - h_j)^2 is least at y_j = [h_j > 1/2], exactly;
 * of sparse outputs and bits h_j = sum_i w_i [j in y_i] goes over the members alone.
 * Kernels of counts (tanimoto, dice, cosine, rbf, polynomials ...): counts.c, exactly or
 * by exchanges. Any other kernel: a beam search (beam.c) from the nearest training
 * outputs, the empty and the full set, whose moves add or remove a label, or exchange a
 * member for another label: greedy moves and swaps. The result is at most as far as the
 * nearest training output. Sets without features (the empty one, often) are left out as
 * among candidates. Cost: a round proposes d + |y| (d - |y|) sets for each of the beam's.
 */
#include "decode/beam.h"
#include "decode/sets/counts.h"
#include "decode/candidates/thin.h"

#include <string.h>

typedef struct labels_options {
    okra_int beam, rounds;
    bool empty;
} labels_options;

static const okra_option rows[] = {
    {"beam", OKRA_OPTION_INT, offsetof(labels_options, beam), "16", 1, 1e6, NULL, "N",
     "nearest sets that are kept and changed further; under kernels of counts a quarter "
     "as "
     "many training outputs are improved"},
    {"rounds", OKRA_OPTION_INT, offsetof(labels_options, rounds), "1000", 1, 1e6, NULL,
     "N", "rounds of changes at most"},
    {"allow-empty-candidates", OKRA_OPTION_BOOL, offsetof(labels_options, empty), "no", 1,
     0, NULL, "", "keep sets whose self-similarity is zero"},
    {0},
};

typedef struct state {
    const okra_output_ *output;
    okra_int tests, d, top; /* top: training outputs that are improved */
    okra_beam_ *beam;       /* kernels that see more than counts   */
    okra_counts_ *counts;   /* those of counts, with               */
    okra_starts_ *starts;   /* the training outputs to begin from  */
    double scale;           /* neither: of the linear kernel       */
    int32_t *set;           /* d                                   */
    okra_set_ *result;      /* tests                               */
    double *distance;       /* tests                               */
} state;

extern const okra_decoder_ okra_decoder_labels_;

static void release(void *arg)
{
    state *s = arg;
    if (s) {
        okra_beam_free_(s->beam);
        okra_counts_free_(s->counts);
        okra_starts_free_(s->starts);
        okra_free_(s->set);
        for (okra_int i = 0; s->result && i < s->tests; i++) {
            okra_free_(s->result[i].members);
        }
        okra_free_(s->result);
        okra_free_(s->distance);
        okra_free_(s);
    }
}

/* ---- sets as objects ---- */

static bool member(const okra_data *y, okra_int i, okra_int j)
{
    if (y->kind == OKRA_SPARSE) {
        bool in = false;
        for (okra_int k = y->csr.indptr[i]; k < y->csr.indptr[i + 1]; k++) {
            in = in || (y->csr.indices[k] == j && y->csr.values[k] != 0);
        }
        return in;
    }
    return y->kind == OKRA_BITS ? y->bits[i * y->words + j / 64] >> (j % 64) & 1
                                : y->values[i * y->ld + j] != 0;
}

static okra_status as_sparse(const okra_set_ *sets, okra_int n, okra_int d,
                             okra_data **out)
{
    okra_int count = 0, at = 0;
    FREED_BY(okra_csr_free_) okra_csr_ csr = {NULL, NULL, NULL};
    for (okra_int i = 0; i < n; i++) {
        count += sets[i].size;
    }
    ZMAKE(csr.indptr, n + 1);
    MAKE(csr.indices, count);
    MAKE(csr.values, count);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int k = 0; k < sets[i].size; k++) {
            csr.indices[at] = sets[i].members[k];
            csr.values[at++] = 1;
        }
        csr.indptr[i + 1] = at;
    }
    return okra_data_adopt_sparse_(&csr, n, d, "decoded label sets", out);
}

static okra_status as_bits(const okra_set_ *sets, okra_int n, okra_int d, okra_data **out)
{
    OWNED unsigned char *packed = NULL;
    okra_int bytes = (d + 7) / 8;
    ZMAKE(packed, n * bytes);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int k = 0; k < sets[i].size; k++) {
            int32_t j = sets[i].members[k];
            packed[i * bytes + j / 8] |= (unsigned char)(1 << (j % 8));
        }
    }
    return okra_data_bits(packed, n, d, bytes, out);
}

/* Sets as data of the outputs' kind. */
static okra_status as_data(okra_context *ctx, okra_kind kind, const okra_set_ *sets,
                           okra_int n, okra_int d, okra_data **out)
{
    OWNED double *values = NULL;
    if (kind != OKRA_DENSE) {
        return (kind == OKRA_SPARSE ? as_sparse : as_bits)(sets, n, d, out);
    }
    CHK(okra_doubles_(ctx, n, d, "the decoded sets", &values));
    memset(values, 0, (size_t)(n * d) * sizeof *values);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int k = 0; k < sets[i].size; k++) {
            values[i * d + sets[i].members[k]] = 1;
        }
    }
    CHK(okra_data_adopt_dense_(values, n, d, "decoded label sets", out));
    values = NULL;
    return OKRA_OK;
}

/* The members of d codes of 0 and 1. */
static okra_status members_of(const int32_t *codes, okra_int d, okra_set_ *out)
{
    okra_int size = 0;
    for (okra_int j = 0; j < d; j++) {
        size += codes[j] != 0;
    }
    MAKE(out->members, size);
    out->size = 0;
    for (okra_int j = 0; j < d; j++) {
        if (codes[j] != 0) {
            out->members[out->size++] = (int32_t)j;
        }
    }
    return OKRA_OK;
}

static okra_status objects(const void *user, const int32_t *codes,
                           const okra_int *offsets, okra_int count, okra_data **out)
{
    okra_status st = OKRA_OK;
    const state *s = user;
    okra_set_ *sets = NULL;
    (void)offsets; /* every set has d codes */
    ZALLOC(sets, count);
    for (okra_int i = 0; i < count; i++) {
        TRY(members_of(codes + i * s->d, s->d, &sets[i]));
    }
    TRY(as_data(NULL, s->output->y->kind, sets, count, s->d, out));
done:
    for (okra_int i = 0; sets && i < count; i++) {
        okra_free_(sets[i].members);
    }
    okra_free_(sets);
    return st;
}

static okra_status neighbours(const void *user, const int32_t *codes, okra_int length,
                              okra_offer_ *offer)
{
    const state *s = user;
    int32_t *set = s->set;
    memcpy(set, codes, (size_t)length * sizeof *set);
    for (okra_int i = 0; i < length; i++) {
        set[i] = !set[i];
        CHK(okra_offer_put_(offer, set, length));
        for (okra_int j = i + 1; j < length; j++) {
            if (set[j] == set[i]) { /* one goes, the other comes */
                set[j] = !set[j];
                CHK(okra_offer_put_(offer, set, length));
                set[j] = !set[j];
            }
        }
        set[i] = !set[i];
    }
    return OKRA_OK;
}

static okra_status start(void *user, okra_int index, okra_offer_ *offer)
{
    const state *s = user;
    for (okra_int j = 0; j < s->d; j++) {
        s->set[j] = member(s->output->y, index, j);
    }
    return okra_offer_put_(offer, s->set, s->d);
}

/* The empty and the full set. */
static okra_status begin(void *user, const double *w, okra_offer_ *offer)
{
    const state *s = user;
    (void)w;
    for (int32_t all = 0; all < 2; all++) {
        for (okra_int j = 0; j < s->d; j++) {
            s->set[j] = all;
        }
        CHK(okra_offer_put_(offer, s->set, s->d));
    }
    return OKRA_OK;
}

static okra_status found(void *user, okra_int i, const int32_t *codes, okra_int length,
                         double distance)
{
    state *s = user;
    s->distance[i] = distance;
    return members_of(codes, length, &s->result[i]);
}

/* ---- the decoder ---- */

static okra_status check_sets(const okra_data *y)
{
    if (y->kind == OKRA_BITS) {
        return OKRA_OK;
    }
    for (okra_int i = 0; y->kind == OKRA_SPARSE && i < y->n; i++) {
        for (okra_int k = y->csr.indptr[i]; k < y->csr.indptr[i + 1]; k++) {
            if (y->csr.values[k] != 0 && y->csr.values[k] != 1) {
                return okra_fail_(OKRA_EARG,
                                  "decoder labels needs vectors of 0 and 1 as outputs; "
                                  "training output %lld has %g in column %lld",
                                  (long long)i, y->csr.values[k],
                                  (long long)y->csr.indices[k]);
            }
        }
    }
    if (y->kind == OKRA_SPARSE) {
        return OKRA_OK;
    }
    if (y->kind != OKRA_DENSE) {
        return okra_fail_(OKRA_EUNSUPPORTED,
                          "decoder labels needs vectors of 0 and 1 as outputs; these are "
                          "%s",
                          okra_kind_name(y->kind));
    }
    for (okra_int i = 0; i < y->n * y->d; i++) {
        double v = y->values[i / y->d * y->ld + i % y->d];
        if (v != 0 && v != 1) {
            return okra_fail_(OKRA_EARG,
                              "decoder labels needs vectors of 0 and 1 as outputs; "
                              "training output %lld has %g in column %lld",
                              (long long)(i / y->d), v, (long long)(i % y->d));
        }
    }
    return OKRA_OK;
}

/* How sets are searched for where the kernel is not linear. */
static okra_status open_search(okra_context *ctx, state *s, struct okra_delta_ *loss,
                               const labels_options *o)
{
    okra_moves_ moves = {.decoder = "decoder labels",
                         .what = "set",
                         .user = s,
                         .start = start,
                         .begin = begin,
                         .neighbours = neighbours,
                         .objects = objects,
                         .found = found,
                         .width = o->beam,
                         .rounds = o->rounds,
                         .empty = o->empty,
                         .loss = loss};
    CHK(okra_counts_create_(ctx, s->output, loss, o->empty, o->rounds, &s->counts));
    if (!s->counts) {
        CHK(okra_beam_create_(ctx, s->output, &moves, s->tests, &s->beam));
        return OKRA_OK;
    }
    if (loss && okra_counts_exact_(s->counts)) {
        return OKRA_OK; /* begins from nothing */
    }
    s->top = OKRA_MIN_(OKRA_MAX_(o->beam / 4, 1), s->output->y->n);
    return okra_starts_create_(ctx, s->output, loss, s->tests, s->top, o->empty,
                               &s->starts);
}

static okra_status create(okra_context *ctx, const okra_output_ *output,
                          const okra_options *options,
                          const okra_decode_request_ *request, void **out)
{
    okra_status st = OKRA_OK;
    state *s = NULL;
    labels_options o;
    TRY(okra_options_read(options, &okra_decoder_labels_.options, &o));
    TRY(okra_decode_check_plain_("labels", request));
    TRY(check_sets(output->y));
    ZALLOC(s, 1);
    s->output = output;
    s->tests = request->tests;
    s->d = okra_data_width(output->y);
    s->scale = output->feature_scale;
    ALLOC(s->set, s->d);
    ZALLOC(s->result, s->tests);
    ALLOC(s->distance, s->tests);
    if (request->loss || (!output->features && !okra_thin_wanted_(output, &s->scale))) {
        TRY(open_search(ctx, s, request->loss, &o));
    }
    *out = s;
    s = NULL;
done:
    release(s);
    return st;
}

static okra_status threshold(okra_context *ctx, state *s, const okra_block_ *block)
{
    OWNED double *H = NULL;
    bool dense = s->output->y->kind == OKRA_DENSE;
    CHK(okra_doubles_(ctx, dense ? block->m : 1, s->d, "explicit predictions", &H));
    if (dense) {
        CHK(okra_block_explicit_(ctx, s->output, block, okra_mat_of_(H, block->m, s->d)));
    }
    for (okra_int r = 0; r < block->m; r++) {
        double sum = 0, *h = dense ? H + r * s->d : H;
        if (!dense) {
            okra_thin_combine_(s->output->y, block->W.p + r * block->W.ld, h);
        }
        for (okra_int j = 0; j < s->d; j++) {
            s->set[j] = h[j] > 0.5;
            sum += (h[j] - s->set[j]) * (h[j] - s->set[j]);
        }
        CHK(found(s, block->first + r, s->set, s->d, s->scale * sum));
    }
    return OKRA_OK;
}

static okra_status count_block(okra_context *ctx, state *s, const okra_block_ *block)
{
    OWNED double *norm = NULL;
    OWNED okra_int *index = NULL;
    const okra_int *best;
    const double *distance;
    const okra_key_ *key;
    CHK(okra_block_weights_(block, "decoder labels"));
    ZMAKE(norm, block->m);
    MAKE(index, block->m * s->top);
    if (s->starts) {
        CHK(okra_starts_block_(ctx, s->starts, block, norm));
    }
    for (okra_int r = 0; s->starts && r < block->m; r++) {
        okra_starts_get_(s->starts, block->first + r, &best, &distance, &key);
        memcpy(index + r * s->top, best, (size_t)s->top * sizeof *index);
    }
    return okra_counts_search_(ctx, s->counts, block->W, index, s->top, norm,
                               s->distance + block->first, s->result + block->first);
}

static okra_status block_in(okra_context *ctx, void *arg, const okra_block_ *block)
{
    state *s = arg;
    return s->counts ? count_block(ctx, s, block)
           : s->beam ? okra_beam_block_(ctx, s->beam, block)
                     : threshold(ctx, s, block);
}

static okra_status finish(okra_context *ctx, void *arg, okra_decoded_ *out)
{
    state *s = arg;
    FREED_BY(okra_data_drop_) okra_data *sets = NULL;
    CHK(as_data(ctx, s->output->y->kind, s->result, s->tests, s->d, &sets));
    CHK(okra_decoded_single_(sets, s->tests, s->distance, out));
    s->distance = NULL;
    sets = NULL;
    return OKRA_OK;
}

const okra_decoder_ okra_decoder_labels_ = {
    .name = "labels",
    .help =
        "sets of labels (vectors of 0 and 1): exact where the kernel is linear in the "
        "labels that two sets share, or of up to 12 labels; else a search",
    .options = {"decoder labels", rows, sizeof(labels_options)},
    .create = create,
    .block = block_in,
    .finish = finish,
    .free = release,
};
