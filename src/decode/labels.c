/*
 * labels.c: sets of labels, outputs y in {0,1}^d (dense, sparse or bits).
 *
 * Linear kernel: |y - h|^2 = sum_j (y_j - h_j)^2 is least at y_j = [h_j > 1/2], exactly;
 * of sparse outputs and bits h_j = sum_i w_i [j in y_i] goes over the members alone.
 * Any other kernel: a beam search (beam.c) from the nearest training outputs, the empty
 * and the full set, whose moves add or remove a label, or exchange a member for another
 * label: greedy moves and swaps. The result is at most as far as the nearest training
 * output. Sets without features (the empty one, often) are left out as among candidates.
 * Cost: a round proposes d + |y| (d - |y|) sets for each of the beam's.
 */
#include "decode/beam.h"
#include "decode/thin.h"

#include <string.h>

typedef struct labels_options {
    okra_int beam, rounds;
    bool empty;
} labels_options;

static const okra_option rows[] = {
    {"beam", OKRA_OPTION_INT, offsetof(labels_options, beam), "16", 1, 1e6, NULL, "N",
     "nearest sets that are kept and changed further"},
    {"rounds", OKRA_OPTION_INT, offsetof(labels_options, rounds), "1000", 1, 1e6, NULL,
     "N", "rounds of changes at most"},
    {"allow-empty-candidates", OKRA_OPTION_BOOL, offsetof(labels_options, empty), "no", 1,
     0, NULL, "", "keep sets whose self-similarity is zero"},
    {0},
};

typedef struct state {
    const okra_output_ *output;
    okra_int tests, d;
    okra_beam_ *beam; /* NULL under a linear kernel  */
    double scale;     /* of that kernel              */
    int32_t *set;     /* d                           */
    double *result;   /* tests x d                   */
    double *distance; /* tests                       */
} state;

extern const okra_decoder_ okra_decoder_labels_;

static void release(void *arg)
{
    state *s = arg;
    if (s) {
        okra_beam_free_(s->beam);
        okra_free_(s->set);
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

static okra_status as_sparse(const double *values, okra_int n, okra_int d,
                             okra_data **out)
{
    okra_status st = OKRA_OK;
    okra_int count = 0, at = 0;
    okra_csr_ csr = {NULL, NULL, NULL};
    for (okra_int i = 0; i < n * d; i++) {
        count += values[i] != 0;
    }
    ZALLOC(csr.indptr, n + 1);
    ALLOC(csr.indices, count);
    ALLOC(csr.values, count);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < d; j++) {
            if (values[i * d + j] != 0) {
                csr.indices[at] = j;
                csr.values[at++] = 1;
            }
        }
        csr.indptr[i + 1] = at;
    }
    TRY(okra_data_adopt_sparse_(&csr, n, d, "decoded label sets", out));
done:
    okra_csr_free_(&csr);
    return st;
}

/* Rows of 0 and 1 as data of the outputs' kind. */
static okra_status as_data(okra_kind kind, const double *values, okra_int n, okra_int d,
                           okra_data **out)
{
    okra_status st = OKRA_OK;
    okra_data *view = NULL;
    unsigned char *packed = NULL;
    okra_int bytes = (d + 7) / 8;
    if (kind == OKRA_SPARSE) {
        TRY(as_sparse(values, n, d, out));
    } else if (kind == OKRA_BITS) {
        ZALLOC(packed, n * bytes);
        for (okra_int i = 0; i < n * d; i++) {
            packed[i / d * bytes + i % d / 8] |=
                (unsigned char)((values[i] != 0) << (i % d % 8));
        }
        TRY(okra_data_bits(packed, n, d, bytes, out));
    } else {
        TRY(okra_data_dense(values, n, d, d, &view));
        TRY(okra_data_copy(view, out));
    }
done:
    okra_data_free(view);
    okra_free_(packed);
    return st;
}

static okra_status objects(const void *user, const int32_t *codes,
                           const okra_int *offsets, okra_int count, okra_data **out)
{
    okra_status st = OKRA_OK;
    const state *s = user;
    double *values = NULL;
    (void)offsets; /* every set has d codes */
    ALLOC(values, count * s->d);
    for (okra_int i = 0; i < count * s->d; i++) {
        values[i] = codes[i];
    }
    TRY(as_data(s->output->y->kind, values, count, s->d, out));
done:
    okra_free_(values);
    return st;
}

static okra_status neighbours(const void *user, const int32_t *codes, okra_int length,
                              okra_offer_ *offer)
{
    okra_status st = OKRA_OK;
    const state *s = user;
    int32_t *set = s->set;
    memcpy(set, codes, (size_t)length * sizeof *set);
    for (okra_int i = 0; i < length; i++) {
        set[i] = !set[i];
        TRY(okra_offer_put_(offer, set, length));
        for (okra_int j = i + 1; j < length; j++) {
            if (set[j] == set[i]) { /* one goes, the other comes */
                set[j] = !set[j];
                TRY(okra_offer_put_(offer, set, length));
                set[j] = !set[j];
            }
        }
        set[i] = !set[i];
    }
done:
    return st;
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
    okra_status st = OKRA_OK;
    const state *s = user;
    (void)w;
    for (int32_t all = 0; all < 2; all++) {
        for (okra_int j = 0; j < s->d; j++) {
            s->set[j] = all;
        }
        TRY(okra_offer_put_(offer, s->set, s->d));
    }
done:
    return st;
}

static okra_status found(void *user, okra_int i, const int32_t *codes, okra_int length,
                         double distance)
{
    state *s = user;
    for (okra_int j = 0; j < length; j++) {
        s->result[i * s->d + j] = codes[j];
    }
    s->distance[i] = distance;
    return OKRA_OK;
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
    bool thin = okra_thin_wanted_(output, &s->scale);
    if (!output->features && !thin) {
        okra_moves_ moves = {.decoder = "decoder labels",
                             .what = "set",
                             .user = s,
                             .start = start,
                             .begin = begin,
                             .neighbours = neighbours,
                             .objects = objects,
                             .found = found,
                             .width = o.beam,
                             .rounds = o.rounds,
                             .empty = o.empty};
        TRY(okra_beam_create_(ctx, output, &moves, s->tests, &s->beam));
    }
    ALLOC(s->set, s->d);
    TRY(okra_doubles_(ctx, s->tests, s->d, "the decoded sets", &s->result));
    ALLOC(s->distance, s->tests);
    *out = s;
    s = NULL;
done:
    release(s);
    return st;
}

static okra_status threshold(okra_context *ctx, state *s, const okra_block_ *block)
{
    okra_status st = OKRA_OK;
    double *y = s->result + block->first * s->d;
    if (s->output->y->kind == OKRA_DENSE) {
        TRY(okra_block_explicit_(ctx, s->output, block, okra_mat_of_(y, block->m, s->d)));
    } else {
        for (okra_int r = 0; r < block->m; r++) {
            okra_thin_combine_(s->output->y, block->W.p + r * block->W.ld, y + r * s->d);
        }
    }
    for (okra_int r = 0; r < block->m; r++) {
        double sum = 0;
        for (okra_int j = 0; j < s->d; j++) {
            double h = y[r * s->d + j], set = h > 0.5;
            sum += (h - set) * (h - set);
            y[r * s->d + j] = set;
        }
        s->distance[block->first + r] = s->scale * sum;
    }
done:
    return st;
}

static okra_status block_in(okra_context *ctx, void *arg, const okra_block_ *block)
{
    state *s = arg;
    return s->beam ? okra_beam_block_(ctx, s->beam, block) : threshold(ctx, s, block);
}

static okra_status finish(okra_context *ctx, void *arg, okra_decoded_ *out)
{
    (void)ctx;
    okra_status st = OKRA_OK;
    state *s = arg;
    okra_data *sets = NULL;
    TRY(as_data(s->output->y->kind, s->result, s->tests, s->d, &sets));
    TRY(okra_decoded_single_(sets, s->tests, s->distance, out));
    s->distance = NULL;
    sets = NULL;
done:
    okra_data_free(sets);
    return st;
}

const okra_decoder_ okra_decoder_labels_ = {
    .name = "labels",
    .help =
        "sets of labels (vectors of 0 and 1): exact for linear outputs, else a search",
    .options = {"decoder labels", rows, sizeof(labels_options)},
    .create = create,
    .block = block_in,
    .finish = finish,
    .free = release,
};
