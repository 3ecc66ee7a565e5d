/*
 * labels.c: sets of labels, outputs y in {0,1}^d (dense, sparse or bits).
 *
 * Linear kernel: |y - h|^2 = sum_j (y_j - h_j)^2 is least at y_j = [h_j > 1/2], exactly;
 * of sparse outputs and bits h_j = sum_i w_i [j in y_i] goes over the members alone. A
 * threshold t in the place of 1/2 is the same for h_j + 1/2 - t: scores shrink towards
 * the mean, and the t that is best for a metric (select/score.c) is often lower.
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
#include "decode/sets/counts.h"
#include "metric/metric.h"

enum { EVERY = 12 };

typedef struct labels_options {
    okra_int beam, rounds;
    bool empty, nonempty;
    double threshold;
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
    {"threshold", OKRA_OPTION_NUMBER, offsetof(labels_options, threshold), "0.5", -1e6,
     1e6, NULL, "T", "linear kernel: a label is in the set where its score is above T"},
    {"nonempty", OKRA_OPTION_BOOL, offsetof(labels_options, nonempty), "no", 1, 0, NULL,
     "", "linear kernel: a set has at least one label, that of the highest score"},
    {0},
};

typedef struct state {
    okra_results_ results;
    const okra_output_ *output;
    okra_int d;
    okra_beam_ *beam;     /* kernels that see more than counts   */
    okra_counts_ *counts; /* those of counts, with               */
    okra_starts_ *starts; /* the training outputs to begin from  */
    double scale;         /* neither: of the linear kernel, with */
    double shift;         /* 1/2 - the threshold, and            */
    bool nonempty;        /* the empty set left out              */
    bool *in;             /* d: a set ...                        */
    int32_t *members;     /* d: ... and its members              */
} state;

extern const okra_decoder_ okra_decoder_labels_;

static void clear(void *arg)
{
    state *s = arg;
    okra_beam_free_(s->beam);
    okra_counts_free_(s->counts);
    okra_starts_free_(s->starts);
    FREE(s->in, s->members);
    okra_results_clear_(&s->results);
}

/* ---- sets by their members ---- */

static okra_status refuse(const char *who, okra_int i, okra_int j, double value)
{
    return okra_fail_(OKRA_EARG,
                      "%s needs vectors of 0 and 1 as outputs; training output %lld has "
                      "%g in column %lld",
                      who, (long long)i, value, (long long)j);
}

okra_status okra_sets_check_(const okra_data *y, const char *who)
{
    REFUSE_IF(y->kind != OKRA_BITS && y->kind != OKRA_SPARSE && y->kind != OKRA_DENSE,
              OKRA_EUNSUPPORTED, "%s needs vectors of 0 and 1 as outputs; these are %s",
              who, okra_kind_name(y->kind));
    for (okra_int i = 0; y->kind == OKRA_SPARSE && i < y->n; i++) {
        for (okra_int k = y->csr.indptr[i]; k < y->csr.indptr[i + 1]; k++) {
            if (y->csr.values[k] != 0 && y->csr.values[k] != 1) {
                return refuse(who, i, y->csr.indices[k], y->csr.values[k]);
            }
        }
    }
    for (okra_int i = 0; y->kind == OKRA_DENSE && i < y->n; i++) {
        const double *row = y->values + i * y->ld;
        for (okra_int j = 0; j < y->d; j++) {
            if (row[j] != 0 && row[j] != 1) {
                return refuse(who, i, j, row[j]);
            }
        }
    }
    return OKRA_OK;
}

/* Is label j in set i, not of sparse ones? */
static bool is_member(const okra_data *y, okra_int i, okra_int j)
{
    return y->kind == OKRA_BITS ? y->bits[i * y->words + j / 64] >> (j % 64) & 1
                                : y->values[i * y->ld + j] != 0;
}

okra_int okra_sets_members_(const okra_data *y, okra_int i, int32_t *out)
{
    bool sparse = y->kind == OKRA_SPARSE;
    okra_int count = 0, begin = sparse ? y->csr.indptr[i] : 0;
    for (okra_int k = begin; k < (sparse ? y->csr.indptr[i + 1] : y->d); k++) {
        if (sparse ? y->csr.values[k] != 0 : is_member(y, i, k)) {
            if (out) {
                out[count] = (int32_t)(sparse ? y->csr.indices[k] : k);
            }
            count++;
        }
    }
    return count;
}

static okra_status as_sparse(const int32_t *codes, const okra_int *offsets, okra_int n,
                             okra_int d, okra_data **out)
{
    okra_int begin = offsets[0], count = offsets[n] - begin;
    FREED_BY(okra_csr_free_) okra_csr_ csr = {NULL, NULL, NULL};
    MAKE(csr.indptr, n + 1);
    MAKE(csr.indices, count);
    MAKE(csr.values, count);
    for (okra_int i = 0; i <= n; i++) {
        csr.indptr[i] = offsets[i] - begin;
    }
    for (okra_int k = 0; k < count; k++) {
        csr.indices[k] = codes[begin + k];
        csr.values[k] = 1;
    }
    return okra_data_adopt_sparse_(&csr, n, d, "decoded label sets", out);
}

static okra_status as_bits(const int32_t *codes, const okra_int *offsets, okra_int n,
                           okra_int d, okra_data **out)
{
    OWNED unsigned char *packed = NULL;
    okra_int bytes = (d + 7) / 8;
    ZMAKE(packed, n * bytes);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int k = offsets[i]; k < offsets[i + 1]; k++) {
            packed[i * bytes + codes[k] / 8] |= (unsigned char)(1 << (codes[k] % 8));
        }
    }
    return okra_data_bits(packed, n, d, bytes, out);
}

okra_status okra_sets_make_(okra_context *ctx, okra_kind kind, okra_int d,
                            const int32_t *codes, const okra_int *offsets, okra_int n,
                            okra_data **out)
{
    OWNED double *values = NULL;
    if (kind != OKRA_DENSE) {
        return (kind == OKRA_SPARSE ? as_sparse : as_bits)(codes, offsets, n, d, out);
    }
    CHK(okra_doubles_(ctx, n, d, "the decoded sets", &values));
    memset(values, 0, (size_t)(n * d) * sizeof *values);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int k = offsets[i]; k < offsets[i + 1]; k++) {
            values[i * d + codes[k]] = 1;
        }
    }
    return okra_data_adopt_dense_(&values, n, d, "decoded label sets", out);
}

/* ---- sets as objects: the codes of a set are its members, ascending ---- */

static okra_status objects(okra_context *ctx, const void *user, const int32_t *codes,
                           const okra_int *offsets, okra_int n, okra_data **out)
{
    const okra_data *y = user;
    return okra_sets_make_(ctx, y->kind, okra_data_width(y), codes, offsets, n, out);
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
                         .results = &s->results,
                         .width = o->beam,
                         .rounds = s->d <= EVERY ? 0 : o->rounds,
                         .empty = o->empty,
                         .loss = loss};
    CHK(okra_counts_create_(ctx, s->output, loss, o->empty, o->rounds, &s->counts));
    if (!s->counts) {
        return okra_beam_create_(ctx, s->output, &moves, &s->beam);
    }
    if (loss && (s->counts->every || s->counts->linear)) {
        return OKRA_OK; /* begins from nothing */
    }
    okra_int top = OKRA_MIN_(OKRA_MAX_(o->beam / 4, 1), s->output->y->n);
    return okra_starts_create_(ctx, s->output, loss, s->results.tests, top, o->empty,
                               &s->starts);
}

/* The options, and where they are not set what follows the name: labels:threshold=0.3. */
static okra_status read_options(const okra_options *options, const char *argument,
                                labels_options *out)
{
    const okra_option_table *table = &okra_decoder_labels_.options;
    FREED_BY(okra_options_drop_) okra_options *both = NULL;
    OWNED char *spec =
        okra_format_("labels%s%s", argument ? ":" : "", argument ? argument : "");
    GOT(spec);
    CHK(okra_options_create(&table, 1, &both));
    CHK(okra_spec_set_("decoder", spec, both));
    for (const okra_option *row = rows; options && row->name; row++) {
        if (okra_options_is_set(options, row->name)) {
            CHK(okra_options_set(both, row->name, okra_options_get(options, row->name)));
        }
    }
    return okra_options_read(both, table, out);
}

static okra_status check(okra_context *ctx, const okra_output_ *output, const char *text)
{
    labels_options o;
    return read_options(NULL, text, &o);
}

static okra_status open(okra_context *ctx, void *arg, const okra_output_ *output,
                        const void *options, const okra_decode_request_ *request)
{
    state *s = arg;
    labels_options own, *o = &own;
    CHK(read_options(request->options, request->argument, o));
    s->shift = 0.5 - o->threshold;
    s->nonempty = o->nonempty;
    CHK(okra_results_open_(ctx, "labels", pow(2, (double)output->y->d) - o->nonempty,
                           output, request, objects, output->y, &s->results));
    CHK(okra_sets_check_(output->y, "decoder labels"));
    s->output = output;
    s->d = okra_data_width(output->y);
    s->scale = output->feature_scale;
    MAKE(s->in, s->d);
    MAKE(s->members, s->d + 1);
    if (request->loss ||
        (!output->features && !okra_sparse_outputs_wanted_(output, &s->scale))) {
        REFUSE_IF(
            s->shift != 0 || s->nonempty, OKRA_EARG,
            "decoder labels: threshold and nonempty are of scores, which the linear "
            "kernel alone has");
        CHK(open_search(ctx, s, request->loss, o));
    }
    return OKRA_OK;
}

/* ---- the linear kernel ---- */

/* A label that is otherwise than in the best set costs |1 - 2 h_j|. */
typedef struct change {
    double cost;
    int32_t j;
} change;

OKRA_ORDER_(by_cost, change, OKRA_UP_(cost), OKRA_UP_(j))

/* Some changes, the dearest of which is number `last`, besides those of `rest`; -1: none.
 * The rank is what they cost, and which came first. */
typedef struct sum {
    okra_rank_ rank;
    okra_int last, rest;
} sum;

/* The sets of the `top` least sums of d sorted changes: after the sum of changes up to
 * number i come those in which i + 1 comes besides i, or in its place. Those that were
 * looked at stay where they are, so that `rest` finds them. */
static okra_int least_sums(const change *sorted, okra_int d, okra_int top, sum *sums)
{
    okra_int count = 1, came = 0;
    for (okra_int done = 0; done < count && done + 1 < top; done++) {
        sum s = sums[done], *later = sums + done + 1;
        okra_int left = count - done - 1, rests[] = {done, s.rest};
        for (int k = 0; s.last + 1 < d && k < (s.last < 0 ? 1 : 2); k++) {
            double cost = sums[rests[k]].rank.key.high + sorted[s.last + 1].cost;
            sum *fresh = okra_best_put_(later, sizeof *later, &left, top - done - 1,
                                        (okra_rank_){{cost, 0}, came++});
            if (fresh) {
                fresh->last = s.last + 1;
                fresh->rest = rests[k];
            }
        }
        count = done + 1 + left;
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

/* The best sets of one prediction h; without the empty one the best of one more. */
static okra_status threshold_row(state *s, okra_int i, const double *h, change *sorted,
                                 sum *sums)
{
    double least = 0;
    okra_int count = 1, put = 0, top = s->results.top + s->nonempty;
    for (okra_int j = 0; j < s->d; j++) {
        double z = h[j] + s->shift;
        s->in[j] = z > 0.5;
        least += (z - s->in[j]) * (z - s->in[j]);
        sorted[j] = (change){fabs(1 - 2 * z), (int32_t)j};
    }
    sums[0] = (sum){.last = -1, .rest = -1};
    if (top > 1) {
        qsort(sorted, (size_t)s->d, sizeof *sorted, by_cost);
        count = least_sums(sorted, s->d, top, sums);
    }
    for (okra_int t = 0; t < count && put < s->results.top; t++) {
        apply(s, sorted, sums, t);
        okra_int size = listed(s);
        if (size > 0 || !s->nonempty) {
            CHK(okra_results_put_(&s->results, i, put++, s->members, size,
                                  s->scale * (least + sums[t].rank.key.high)));
        }
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
    CHK(okra_budget_ask_(ctx, (double)s->results.top * (double)sizeof *sums,
                         "the least sums of changes"));
    MAKE(sums, s->results.top + 1);
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
    OWNED double *norm = NULL;
    CHK(okra_block_weights_(block, "decoder labels"));
    ZMAKE(norm, block->m);
    if (s->starts) {
        CHK(okra_starts_block_(ctx, s->starts, block, norm));
    }
    return okra_counts_search_(ctx, s->counts, block, s->starts, norm, &s->results);
}

static okra_status block_in(okra_context *ctx, void *arg, const okra_block_ *block)
{
    state *s = arg;
    return s->counts ? count_block(ctx, s, block)
           : s->beam ? okra_beam_block_(ctx, s->beam, block)
                     : threshold(ctx, s, block);
}

const okra_decoder_ okra_decoder_labels_ = {
    .name = "labels",
    .automatic = "linear",
    .suits = OKRA_SUITS_ZERO_ONE_,
    .argument = check,
    .makes_up = true,
    .all = 1u << OKRA_DENSE | 1u << OKRA_SPARSE | 1u << OKRA_BITS,
    .help =
        "sets of labels (vectors of 0 and 1): exact where the kernel is linear in the "
        "labels that two sets share, or of up to 12 labels; else a search. "
        "labels:threshold=T,nonempty=yes is kept in a model that is fitted with it",
    .options = {"decoder labels", rows, sizeof(labels_options)},
    .state = sizeof(state),
    .open = open,
    .block = block_in,
    .finish = okra_results_give_,
    .clear = clear,
};
