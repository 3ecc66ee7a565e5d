/*
 * rewrite.c: strings made from the input by the edits of similar training pairs.
 *
 * The training pairs are aligned, and what changes in each is its edit (rulebook.c). For
 * a prediction h = sum_i w_i phi(y_i) the weights w vote for edits; those with most votes
 * are applied to the test input, which gives proposals. They are ranked by
 * the criterion of the method, the distance to the prediction
 *     |phi(y) - h|^2 = l(y,y) - 2 sum_i w_i l(y_i,y) + w'Lw
 * in the feature space that --rank names:
 *     outputs   that of the output kernel: exactly the order of candidates
 *     edits     that of edits, l(e, e') of rulebook.c, with the same weights
 *     both      that of the sum l / mean l(y_i,y_i) + l(e, e')
 * Only the `proposals` nearest among edits are compared with the training outputs. The
 * input itself is always proposed, so that there is always an answer. Of several inputs
 * the strings are rewritten that cost least to turn into the outputs, of up to LOOKED_AT
 * pairs spread evenly.
 *
 * Cost a prediction: 8 n for the votes, some 100 alignments, and `proposals` n values of
 * the output kernel (none with --rank edits).
 */
#include "decode/rewriting/edits.h"
#include "okra/more/prediction.h"

enum { MADE = 128, GROUP = 64, LOOKED_AT = 200 };
enum { BOTH, OUTPUTS, EDITS }; /* the option rank */

typedef struct rewrite_options {
    okra_int input, proposals, rules;
    int rank;
} rewrite_options;

static const okra_option option_rows[] = {
    {"input", OKRA_OPTION_INT, offsetof(rewrite_options, input), "0", 0, 1e6, NULL, "N",
     "which input is rewritten, from 1; 0: the strings most like the outputs"},
    {"rank", OKRA_OPTION_CHOICE, offsetof(rewrite_options, rank), "both", 0, 0,
     "both|outputs|edits", "SPACE",
     "where distances to the prediction are taken: of outputs (the output kernel), of "
     "edits, or of both"},
    {"proposals", OKRA_OPTION_INT, offsetof(rewrite_options, proposals), "8", 1, MADE,
     NULL, "N",
     "strings that are ranked at most, the best by their edits; at least as many as "
     "--top"},
    {"rules", OKRA_OPTION_INT, offsetof(rewrite_options, rules), "48", 1, 1024, NULL, "N",
     "edits that are applied at most, those with most votes"},
    {0},
};

typedef struct worker {
    okra_votes_ votes;
    okra_shortlist_ list;
} worker;

typedef struct state {
    okra_results_ results;
    const okra_output_ *output;
    rewrite_options o;
    okra_int part;
    const okra_data *inputs; /* those of the test points that are rewritten */
    okra_rulebook_ *book;
    okra_panels_ *training; /* not with --rank edits; then */
    double constant, scale; /* of l(y,y): as for candidates; the mean */
    int workers;
    worker *worker;
    double *runner_up, *report;
} state;

static void clear(void *arg)
{
    state *s = arg;
    okra_rulebook_free_(s->book);
    okra_panels_free_(s->training);
    for (int w = 0; s->worker && w < s->workers; w++) {
        okra_votes_clear_(&s->worker[w].votes);
        okra_shortlist_clear_(&s->worker[w].list);
    }
    okra_results_clear_(&s->results);
    FREE(s->worker, s->runner_up, s->report);
}

/* ---- the inputs ---- */

static okra_int part_count(const okra_data *x)
{
    return x->kind == OKRA_TUPLE ? x->component_count : 1;
}

/* Part p, from 1, or NULL where it holds no strings. */
static const okra_data *part_of(const okra_data *x, okra_int p)
{
    const okra_data *part = x->kind == OKRA_TUPLE ? x->components[p - 1] : x;
    return part->kind == OKRA_STRINGS ? part : NULL;
}

/* What it costs to turn the inputs into the outputs, of some pairs. */
static okra_status cost_of(const okra_data *x, const okra_data *y, double *cost)
{
    FREED_BY(okra_aligner_clear_) okra_aligner_ aligner = {0};
    okra_script_ script;
    okra_int m = OKRA_MIN_(y->n, LOOKED_AT);
    *cost = 0;
    for (okra_int k = 0; k < m; k++) {
        okra_int i = k * y->n / m;
        CHK(okra_align_(&aligner, NULL, okra_word_of_(x, i), okra_word_of_(y, i),
                        &script));
        *cost += (double)script.cost;
    }
    return OKRA_OK;
}

/* *strings: how many there were to choose from. */
static okra_status choose_part(const okra_output_ *output, okra_int given, okra_int *out,
                               okra_int *strings)
{
    okra_int parts = part_count(output->x);
    double least = 0, cost = 0;
    REFUSE_IF(given > parts || (given > 0 && !part_of(output->x, given)), OKRA_EARG,
              "decoder rewrite: input is %lld, which %s", (long long)given,
              given > parts ? "is more than there are" : "does not hold strings");
    *out = given;
    for (okra_int p = 1; p <= parts && given == 0; p++) {
        const okra_data *part = part_of(output->x, p);
        if (part) {
            CHK(cost_of(part, output->y, &cost));
            if ((*strings)++ == 0 || cost < least) {
                least = cost;
                *out = p;
            }
        }
    }
    REFUSE_IF(*out == 0, OKRA_EUNSUPPORTED,
              "decoder rewrite needs an input of strings; there is none");
    return OKRA_OK;
}

/* The part that is rewritten, and the test inputs of it, at whose kind nobody has looked
 * yet. */
static okra_status choose_inputs(okra_context *ctx, state *s, const okra_data *inputs)
{
    const okra_output_ *output = s->output;
    okra_int strings = 0;
    CHK(choose_part(output, s->o.input, &s->part, &strings));
    REFUSE_IF(part_count(inputs) != part_count(output->x), OKRA_ESHAPE,
              "%s: %lld inputs a test point, expected %lld", inputs->source,
              (long long)part_count(inputs), (long long)part_count(output->x));
    s->inputs = part_of(inputs, s->part);
    REFUSE_IF(!s->inputs, OKRA_ESHAPE,
              "%s: test input %lld must be strings, as in training", inputs->source,
              (long long)s->part);
    if (strings > 1) {
        okra_warn_(ctx,
                   "rewrite: of %lld inputs that are strings, input %lld (%s) is "
                   "rewritten; --input chooses another",
                   (long long)strings, (long long)s->part, s->inputs->source);
    }
    return OKRA_OK;
}

/* ---- proposals ---- */

/* Those of one prediction. */
typedef struct proposed {
    okra_shortlist_ list; /* by their edits, later by what --rank says */
    okra_int total;       /* that there were */
    double norm;          /* of the prediction among edits */
} proposed;

typedef struct proposing {
    const state *s;
    const okra_block_ *block;
    proposed *rows;
} proposing;

static void clear_rows(proposing *p)
{
    for (okra_int r = 0; p->rows && r < p->block->m; r++) {
        okra_shortlist_clear_(&p->rows[r].list);
    }
    okra_free_(p->rows);
}

static okra_status propose(void *arg, okra_int begin, okra_int end, int number)
{
    const proposing *p = arg;
    const state *s = p->s;
    worker *w = &s->worker[number];
    okra_mat_ W = p->block->W;
    for (okra_int r = begin; r < end; r++) {
        proposed *row = &p->rows[r];
        okra_votes_count_(s->book, W.p + r * W.ld, &w->votes);
        CHK(okra_rulebook_propose_(s->book, &w->votes,
                                   okra_word_of_(s->inputs, p->block->first + r),
                                   s->o.rules, &w->list));
        row->norm = w->votes.norm;
        row->total = w->list.count;
        CHK(okra_shortlist_open_(s->o.proposals, true, &row->list));
        for (okra_int k = 0; k < OKRA_MIN_(row->total, s->o.proposals); k++) {
            const okra_item_ *it = &w->list.items[k];
            double far = 1 + it->rank.key.high + row->norm;
            CHK(okra_shortlist_put_(&row->list, it->codes, it->length, it->rank.key,
                                    far < 0 ? 0 : far));
        }
    }
    return OKRA_OK;
}

/* The proposals of some rows as strings, and whose they are. */
static okra_status as_objects(const proposed *rows, okra_int count, okra_int *owner,
                              okra_data **out)
{
    FREED_BY(okra_ragged_abandon_) okra_ragged_builder_ b = {0};
    okra_int total = 0;
    CHK(okra_characters_begin_(&b));
    for (okra_int r = 0; r < count; r++) {
        for (okra_int k = 0; k < rows[r].list.count; k++) {
            const void *const array[] = {rows[r].list.items[k].codes};
            CHK(okra_ragged_push_many_(&b, rows[r].list.items[k].length, array));
            CHK(okra_ragged_close_(&b));
            owner[total++] = r;
        }
    }
    return okra_strings_adopt_(&b, NULL, "proposed strings", out);
}

/* Adds the distances among outputs, or puts them in place of those among edits. A
 * proposal without features there comes after all others. */
static okra_status measure(okra_context *ctx, const state *s, okra_mat_ W,
                           const double *norm, proposed *rows)
{
    OWNED okra_int *owner = NULL;
    okra_int most = 0, c = 0;
    FREED_BY(okra_data_drop_) okra_data *objects = NULL;
    OWNED okra_key_ *key = NULL;
    OWNED double *far = NULL;
    double add = s->o.rank == BOTH, scale = s->o.rank == BOTH ? s->scale : 1;
    for (okra_int r = 0; r < W.rows; r++) {
        most += rows[r].list.count;
    }
    MAKE(owner, most);
    MAKE(key, most);
    MAKE(far, most);
    CHK(as_objects(rows, W.rows, owner, &objects));
    CHK(okra_propose_(ctx, s->output, objects, owner, false, W, norm, s->constant, key,
                      far));
    for (okra_int r = 0; r < W.rows; r++) {
        for (okra_int k = 0; k < rows[r].list.count; k++, c++) {
            okra_item_ *it = &rows[r].list.items[k];
            bool none = isinf(far[c]) != 0;
            double value = none ? (double)INFINITY : (key[c].high + key[c].low) / scale;
            double distance = none ? norm[r] / scale : far[c] / scale;
            it->rank.key.high = add * it->rank.key.high + value;
            it->distance = add * it->distance + distance;
        }
    }
    return OKRA_OK;
}

static okra_status measure_all(okra_context *ctx, const state *s,
                               const okra_block_ *block, proposed *rows)
{
    OWNED double *norm = NULL;
    okra_mat_ W = block->W;
    MAKE(norm, block->m);
    CHK(okra_panels_norms_(ctx, s->training, block->m < s->results.tests, W, norm));
    for (okra_int first = 0; first < W.rows; first += GROUP) {
        okra_int count = OKRA_MIN_(GROUP, W.rows - first);
        CHK(okra_cancelled_(ctx));
        CHK(measure(ctx, s, okra_mat_part_(W, first, count, 0, W.cols), norm + first,
                    rows + first));
        okra_progress_(ctx, "decode", first + count, W.rows);
    }
    return OKRA_OK;
}

/* The best of test point i; ranks among edits are ids. */
static okra_status keep(state *s, okra_int i, const proposed *row, okra_shortlist_ *best)
{
    okra_shortlist_empty_(best);
    for (okra_int k = 0; k < row->list.count; k++) {
        const okra_item_ *it = &row->list.items[k];
        CHK(okra_shortlist_put_(best, it->codes, it->length, it->rank.key, it->distance));
    }
    const okra_item_ *first = &best->items[0];
    double report[OKRA_REPORT_COLUMNS] = {first->distance, (double)row->total,
                                          (double)(first->rank.id + 1), (double)s->part};
    memcpy(s->report + i * OKRA_REPORT_COLUMNS, report, sizeof report);
    for (okra_int k = 0; s->runner_up && k < best->count; k++) {
        if (isinf(s->runner_up[i]) && best->items[k].distance > first->distance) {
            s->runner_up[i] = best->items[k].distance;
        }
    }
    return okra_results_list_(&s->results, i, best);
}

static okra_status block_in(okra_context *ctx, void *arg, const okra_block_ *block)
{
    state *s = arg;
    FREED_BY(clear_rows) proposing p = {s, block, NULL};
    FREED_BY(okra_shortlist_clear_) okra_shortlist_ best = {0};
    CHK(okra_block_weights_(block, "decoder rewrite"));
    ZMAKE(p.rows, block->m);
    CHK(okra_shortlist_open_(s->o.proposals, true, &best));
    CHK(okra_parallel_(ctx, block->m, 4, NULL, propose, &p));
    CHK(s->o.rank == EDITS ? OKRA_OK : measure_all(ctx, s, block, p.rows));
    for (okra_int r = 0; r < block->m; r++) {
        CHK(keep(s, block->first + r, &p.rows[r], &best));
    }
    return OKRA_OK;
}

/* ---- the decoder ---- */

/* What l(y,y) is like. */
static okra_status open_outputs(okra_context *ctx, state *s)
{
    okra_int n = s->output->y->n, used = 0;
    CHK(okra_panels_create_(ctx, s->output, NULL, &s->training));
    const double *self = okra_panels_self_(s->training);
    for (okra_int i = 0; i < n; i++) {
        s->scale += self[i] > 0 ? self[i] : 0;
        used += self[i] > 0;
    }
    s->scale = used > 0 ? s->scale / (double)used : 1;
    s->constant = okra_self_constant_(self, n, true);
    return OKRA_OK;
}

static okra_status open(okra_context *ctx, void *arg, const okra_output_ *output,
                        const void *options, const okra_decode_request_ *request)
{
    state *s = arg;
    s->o = *(const rewrite_options *)options;
    s->o.proposals = OKRA_MAX_(s->o.proposals, OKRA_MIN_(request->top, MADE));
    CHK(okra_results_open_(ctx, "rewrite", (double)s->o.proposals, output, request,
                           okra_objects_letters_, output->y, &s->results));
    REFUSE_IF(output->criterion, OKRA_EUNSUPPORTED,
              "decoder rewrite needs weights over the training outputs; this method has "
              "a criterion of its own");
    s->output = output;
    CHK(choose_inputs(ctx, s, request->inputs));
    CHK(okra_rulebook_create_(part_of(output->x, s->part), output->y, &s->book));
    CHK(s->o.rank == EDITS ? OKRA_OK : open_outputs(ctx, s));
    s->workers = okra_workers_(ctx);
    ZMAKE(s->worker, s->workers);
    for (int w = 0; w < s->workers; w++) {
        CHK(okra_votes_create_(s->book, &s->worker[w].votes));
        CHK(okra_shortlist_open_(MADE, true, &s->worker[w].list));
    }
    MAKE(s->report, request->tests * OKRA_REPORT_COLUMNS);
    if (request->runner_up) {
        MAKE(s->runner_up, request->tests);
        okra_fill_(request->tests, (double)INFINITY, s->runner_up);
    }
    return OKRA_OK;
}

static okra_status finish(okra_context *ctx, void *arg, okra_decoded_ *out)
{
    state *s = arg;
    static const char *const names[OKRA_REPORT_COLUMNS] = {"distance", "proposals",
                                                           "rank", "input"};
    CHK(okra_results_give_(ctx, &s->results, out));
    out->runner_up = TAKE(s->runner_up);
    out->report = TAKE(s->report);
    out->report_names = names;
    return OKRA_OK;
}

const okra_decoder_ okra_decoder_rewrite_ = {
    .name = "rewrite",
    .automatic = "ends",
    .suits = OKRA_SUITS_REWRITTEN_,
    .makes_up = true,
    .reports = true,
    .inputs = true,
    .kinds = 1u << OKRA_STRINGS,
    .needs = "strings",
    .help = "strings made from the input by the edits of similar training pairs",
    .options = {"decoder rewrite", option_rows, sizeof(rewrite_options)},
    .state = sizeof(state),
    .open = open,
    .block = block_in,
    .finish = finish,
    .clear = clear,
};
