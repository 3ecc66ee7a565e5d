/*
 * labels.c: sets of labels, outputs y in {0,1}^d (dense, sparse or bits).
 *
 * Linear kernel: |y - h|^2 = sum_j (y_j - h_j)^2 is least at y_j = [h_j > 1/2], exactly;
 * of sparse outputs and bits h_j = sum_i w_i [j in y_i] goes over the members alone.
 * Kernels of counts (tanimoto, dice, cosine, rbf, polynomials ...): counts.c, exactly or
 * by exchanges. Any other kernel: a beam search (beam.c) from the nearest training
 * outputs, the empty and the full set, whose moves add or remove a label, or exchange a
 * member for another label: greedy moves and swaps; of up to EVERY labels all sets. The
 * result is at most as far as the nearest training output. Sets without features (the
 * empty one, often) are left out as among candidates. Cost: a round proposes d + |y| (d -
 * |y|) sets for each of the beam's.
 *
 * The K best sets: of the linear kernel the K least sums of what single labels cost that
 * differ from the best, exactly; else those that the search keeps, exactly where it is.
 */
#include "decode/beam.h"
#include "decode/sets/counts.h"
#include "decode/sets/members.h"
#include "candidates/sparse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EVERY = 12 };

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
    okra_context *ctx; /* whose budget the decoded sets are of */
    const okra_output_ *output;
    okra_int d, top;      /* top: training outputs that are improved */
    okra_beam_ *beam;     /* kernels that see more than counts   */
    okra_counts_ *counts; /* those of counts, with               */
    okra_starts_ *starts; /* the training outputs to begin from  */
    double scale;         /* neither: of the linear kernel       */
    bool *in;             /* d: a set ...                        */
    int32_t *members;     /* d: ... and its members              */
    okra_results_ finds;
} state;

extern const okra_decoder_ okra_decoder_labels_;

static void release(void *arg)
{
    state *s = arg;
    if (s) {
        okra_beam_free_(s->beam);
        okra_counts_free_(s->counts);
        okra_starts_free_(s->starts);
        FREE(s->in, s->members);
        okra_results_clear_(&s->finds);
        okra_free_(s);
    }
}

OKRA_DROPS_(drop, state, release)

/* ---- sets as objects: the codes of a set are its members, ascending ---- */

static okra_status objects(const void *user, const int32_t *codes,
                           const okra_int *offsets, okra_int n, okra_data **out)
{
    const state *s = user;
    return okra_sets_make_(s->ctx, s->output->y->kind, s->d, codes, offsets, n, out);
}

/* ---- moves ---- */

/* s->in, its members in s->members. */
static okra_int listed(const state *s)
{
    okra_int size = 0;
    for (okra_int j = 0; j < s->d; j++) {
        s->members[size] = (int32_t)j;
        size += s->in[j];
    }
    return size;
}

static void mark(const state *s, const int32_t *members, okra_int size)
{
    memset(s->in, 0, (size_t)s->d * sizeof *s->in);
    for (okra_int k = 0; k < size; k++) {
        s->in[members[k]] = true;
    }
}

static okra_status put(const state *s, okra_offer_ *offer)
{
    return okra_offer_put_(offer, s->members, listed(s));
}

static okra_status neighbours(const void *user, const int32_t *codes, okra_int length,
                              okra_offer_ *offer)
{
    const state *s = user;
    bool *in = s->in;
    mark(s, codes, length);
    for (okra_int i = 0; i < s->d; i++) {
        in[i] = !in[i];
        CHK(put(s, offer));
        for (okra_int j = i + 1; j < s->d; j++) {
            if (in[j] == in[i]) { /* one goes, the other comes */
                in[j] = !in[j];
                CHK(put(s, offer));
                in[j] = !in[j];
            }
        }
        in[i] = !in[i];
    }
    return OKRA_OK;
}

static okra_status start(void *user, okra_int index, okra_offer_ *offer)
{
    const state *s = user;
    okra_int size = okra_sets_members_(s->output->y, index, s->members);
    mark(s, s->members, size);
    return put(s, offer);
}

/* The empty and the full set; every set of few labels. */
static okra_status begin(void *user, const double *w, okra_offer_ *offer)
{
    const state *s = user;
    unsigned all = s->d <= EVERY ? 1u << s->d : 2;
    (void)w;
    for (unsigned k = 0; k < all; k++) {
        for (okra_int j = 0; j < s->d; j++) {
            s->in[j] = s->d <= EVERY ? k >> j & 1 : k;
        }
        CHK(put(s, offer));
    }
    return OKRA_OK;
}

/* ---- the decoder ---- */

/* How sets are searched for where the kernel is not linear. */
static okra_status open_search(okra_context *ctx, state *s, struct okra_pair_loss_ *loss,
                               const labels_options *o)
{
    okra_moves_ moves = {.decoder = "decoder labels",
                         .what = "set",
                         .user = s,
                         .start = start,
                         .begin = begin,
                         .neighbours = neighbours,
                         .objects = objects,
                         .kind = s,
                         .finds = &s->finds,
                         .width = o->beam,
                         .rounds = s->d <= EVERY ? 0 : o->rounds,
                         .empty = o->empty,
                         .loss = loss};
    CHK(okra_counts_create_(ctx, s->output, loss, o->empty, o->rounds, &s->counts));
    if (!s->counts) {
        return okra_beam_create_(ctx, s->output, &moves, &s->beam);
    }
    if (loss && okra_counts_exact_(s->counts)) {
        return OKRA_OK; /* begins from nothing */
    }
    s->top = OKRA_MIN_(OKRA_MAX_(o->beam / 4, 1), s->output->y->n);
    return okra_starts_create_(ctx, s->output, loss, s->finds.tests, s->top, o->empty,
                               &s->starts);
}

static okra_status create(okra_context *ctx, const okra_output_ *output,
                          const okra_options *options,
                          const okra_decode_request_ *request, void **out)
{
    FREED_BY(drop) state *s = NULL;
    labels_options o;
    CHK(okra_options_read(options, &okra_decoder_labels_.options, &o));
    ZMAKE(s, 1);
    CHK(okra_results_open_(ctx, "labels", pow(2, (double)output->y->d), request,
                           &s->finds));
    CHK(okra_sets_check_(output->y, "decoder labels"));
    s->output = output;
    s->d = okra_data_width(output->y);
    s->scale = output->feature_scale;
    MAKE(s->in, s->d);
    MAKE(s->members, s->d + 1);
    if (request->loss ||
        (!output->features && !okra_sparse_outputs_wanted_(output, &s->scale))) {
        CHK(open_search(ctx, s, request->loss, &o));
    }
    *out = TAKE(s);
    return OKRA_OK;
}

/* ---- the linear kernel ---- */

/* A label that is otherwise than in the best set costs |1 - 2 h_j|. */
typedef struct change {
    double cost;
    int32_t j;
} change;

static int by_cost(const void *pa, const void *pb)
{
    const change *a = pa, *b = pb;
    return a->cost != b->cost ? (a->cost < b->cost ? -1 : 1) : a->j - b->j;
}

/* Some changes, the dearest of which is number `last`, besides those of `rest`; -1:
 * none. */
typedef struct sum {
    double cost;
    okra_int last, rest;
} sum;

/* Puts a sum where it belongs among those at first..*count-1, of which `most` count. */
static void queue(sum *sums, okra_int first, okra_int most, okra_int *count, sum fresh)
{
    okra_int at = OKRA_MIN_(*count, most - 1);
    if (*count == most && !(fresh.cost < sums[most - 1].cost)) {
        return;
    }
    for (; at > first && fresh.cost < sums[at - 1].cost; at--) {
        sums[at] = sums[at - 1];
    }
    sums[at] = fresh;
    *count = OKRA_MIN_(*count + 1, most);
}

/* The sets of the `top` least sums of d sorted changes: after the sum of changes up to
 * number i come those in which i + 1 comes besides i, or in its place. Those before
 * `done` stay where they are, so that `rest` finds them. */
static okra_int least_sums(const change *sorted, okra_int d, okra_int top, sum *sums)
{
    okra_int count = 1;
    sums[0] = (sum){0, -1, -1};
    for (okra_int done = 0; done < count; done++) {
        sum s = sums[done];
        if (s.last + 1 < d) {
            double next = sorted[s.last + 1].cost;
            queue(sums, done + 1, top, &count, (sum){s.cost + next, s.last + 1, done});
            if (s.last >= 0) {
                double rest = sums[s.rest].cost;
                queue(sums, done + 1, top, &count,
                      (sum){rest + next, s.last + 1, s.rest});
            }
        }
    }
    return count;
}

/* s->in with the changes of a sum, or without them again. */
static void apply(const state *s, const change *sorted, const sum *sums, okra_int t)
{
    for (; sums[t].last >= 0; t = sums[t].rest) {
        bool *in = &s->in[sorted[sums[t].last].j];
        *in = !*in;
    }
}

/* The best sets of one prediction h. */
static okra_status threshold_row(state *s, okra_int i, const double *h, change *sorted,
                                 sum *sums)
{
    double least = 0;
    okra_int count = 1;
    for (okra_int j = 0; j < s->d; j++) {
        s->in[j] = h[j] > 0.5;
        least += (h[j] - s->in[j]) * (h[j] - s->in[j]);
        sorted[j] = (change){fabs(1 - 2 * h[j]), (int32_t)j};
    }
    sums[0] = (sum){0, -1, -1};
    if (s->finds.top > 1) {
        qsort(sorted, (size_t)s->d, sizeof *sorted, by_cost);
        count = least_sums(sorted, s->d, s->finds.top, sums);
    }
    for (okra_int t = 0; t < count; t++) {
        apply(s, sorted, sums, t);
        CHK(okra_results_put_(&s->finds, i, t, s->members, listed(s),
                              s->scale * (least + sums[t].cost)));
        apply(s, sorted, sums, t);
    }
    return OKRA_OK;
}

static okra_status threshold(okra_context *ctx, state *s, const okra_block_ *block)
{
    OWNED double *H = NULL;
    OWNED change *sorted = NULL;
    OWNED sum *sums = NULL;
    bool dense = s->output->y->kind == OKRA_DENSE;
    CHK(okra_doubles_(ctx, dense ? block->m : 1, s->d, "explicit predictions", &H));
    MAKE(sorted, s->d);
    CHK(okra_budget_ask_(ctx, (double)s->finds.top * (double)sizeof *sums,
                         "the least sums of changes"));
    MAKE(sums, s->finds.top);
    if (dense) {
        CHK(okra_block_explicit_(ctx, s->output, block, okra_mat_of_(H, block->m, s->d)));
    }
    for (okra_int r = 0; r < block->m; r++) {
        double *h = dense ? H + r * s->d : H;
        if (!dense) {
            okra_sparse_outputs_combine_(s->output->y, block->W.p + r * block->W.ld, h);
        }
        CHK(threshold_row(s, block->first + r, h, sorted, sums));
    }
    return OKRA_OK;
}

/* ---- blocks ---- */

static okra_status count_block(okra_context *ctx, state *s, const okra_block_ *block)
{
    okra_status st = OKRA_OK;
    okra_int m = block->m, wanted = m * s->finds.top, *index = NULL, count = 0;
    double *norm = NULL;
    okra_result_ *found = NULL;
    TRY(okra_block_weights_(block, "decoder labels"));
    ZALLOC(norm, m);
    ALLOC(index, m * s->top);
    ZALLOC(found, wanted);
    if (s->starts) {
        TRY(okra_starts_block_(ctx, s->starts, block, norm));
    }
    for (okra_int r = 0; s->starts && r < m; r++) {
        const okra_near_ *near = okra_starts_get_(s->starts, block->first + r, &count);
        for (okra_int k = 0; k < s->top; k++) {
            index[r * s->top + k] = k < count ? near[k].rank.id : -1;
        }
    }
    TRY(okra_counts_search_(ctx, s->counts, block->W, index, s->top, norm, s->finds.top,
                            found));
    TRY(okra_results_put_all_(&s->finds, block->first, m, found));
done:
    okra_result_free_(found, wanted);
    FREE(index, norm);
    return st;
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
    s->ctx = ctx;
    return okra_results_give_(&s->finds, objects, s, out);
}

const okra_decoder_ okra_decoder_labels_ = {
    .name = "labels",
    .automatic = "linear",
    .suits = OKRA_SUITS_ZERO_ONE_,
    .makes_up = true,
    .all = 1u << OKRA_DENSE | 1u << OKRA_SPARSE | 1u << OKRA_BITS,
    .help =
        "sets of labels (vectors of 0 and 1): exact where the kernel is linear in the "
        "labels that two sets share, or of up to 12 labels; else a search",
    .options = {"decoder labels", rows, sizeof(labels_options)},
    .create = create,
    .block = block_in,
    .finish = finish,
    .free = release,
};
