/*
 * rewrite.c: strings made from the input by the edits of similar training pairs.
 *
 * The training pairs are aligned, and what changes in each is its edit (rulebook.c). For
 * a prediction h = sum_i w_i phi(y_i) the weights w vote for edits; those with most votes
 * are applied to the test input, which gives proposals (proposals.c). They are ranked by
 * the criterion of the method, the distance to the prediction
 *     |phi(y) - h|^2 = l(y,y) - 2 sum_i w_i l(y_i,y) + w'Lw
 * in the feature space that --rank names:
 *     outputs   that of the output kernel: exactly the order of candidates
 *     edits     that of edits, l(e, e') of rulebook.c, with the same weights
 *     both      that of the sum l / mean l(y_i,y_i) + l(e, e')
 * Only the `proposals` nearest among edits are compared with the training outputs. The
 * input itself is always proposed, so that there is always an answer.
 *
 * Cost a prediction: 8 n for the votes, some 100 alignments, and `proposals` n values of
 * the output kernel (none with --rank edits).
 */
#include "data/strings.h"
#include "decode/rewriting/ranker.h"
#include "decode/rewriting/rewritten.h"
#include "decode/rewriting/rulebook.h"
#include "okra/more/prediction.h"

#include <math.h>
#include <string.h>

enum { MADE = 128 };

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
    okra_proposals_ list;
} worker;

typedef struct state {
    const okra_output_ *output;
    rewrite_options o;
    okra_int tests, top, part;
    const okra_data *inputs; /* those of the test points that are rewritten */
    okra_rulebook_ *book;
    okra_ranker_ ranker; /* not with --rank edits */
    int workers;
    worker *worker;
    okra_ragged_builder_ result;
    okra_int kept; /* strings in it */
    okra_int *index;
    double *distance, *runner_up, *report;
} state;

extern const okra_decoder_ okra_decoder_rewrite_;

static void release(void *arg)
{
    state *s = arg;
    if (s) {
        okra_rulebook_free_(s->book);
        okra_ranker_clear_(&s->ranker);
        for (int w = 0; s->worker && w < s->workers; w++) {
            okra_votes_clear_(&s->worker[w].votes);
            okra_proposals_clear_(&s->worker[w].list);
        }
        okra_free_(s->worker);
        okra_ragged_abandon_(&s->result);
        FREE(s->index, s->distance, s->runner_up, s->report, s);
    }
}

OKRA_DROPS_(drop, state, release)

/* ---- proposals ---- */

typedef struct proposing {
    const state *s;
    const okra_block_ *block;
    okra_made_up_ *rows;
} proposing;

static okra_status copy_best(const state *s, const okra_proposals_ *list,
                             okra_made_up_ *m)
{
    m->count = OKRA_MIN_(list->count, s->o.proposals);
    m->total = list->count;
    MAKE(m->offsets, m->count + 1);
    MAKE(m->score, m->count);
    MAKE(m->value, m->count);
    MAKE(m->far, m->count);
    m->offsets[0] = 0;
    for (okra_int k = 0; k < m->count; k++) {
        m->offsets[k + 1] = m->offsets[k] + okra_proposals_get_(list, k).length;
        m->score[k] = list->score[list->order[k]];
        m->value[k] = -2 * m->score[k];
        double far = 1 - 2 * m->score[k] + m->norm;
        m->far[k] = far < 0 ? 0 : far;
    }
    MAKE(m->codes, m->offsets[m->count]);
    for (okra_int k = 0; k < m->count; k++) {
        okra_word_ w = okra_proposals_get_(list, k);
        if (w.length > 0) {
            memcpy(m->codes + m->offsets[k], w.code, (size_t)w.length * sizeof *w.code);
        }
    }
    return OKRA_OK;
}

static okra_status propose(void *arg, okra_int begin, okra_int end, int number)
{
    const proposing *p = arg;
    const state *s = p->s;
    worker *w = &s->worker[number];
    okra_mat_ W = p->block->W;
    for (okra_int r = begin; r < end; r++) {
        okra_votes_count_(s->book, W.p + r * W.ld, &w->votes);
        CHK(okra_rulebook_propose_(s->book, &w->votes,
                                   okra_word_of_(s->inputs, p->block->first + r),
                                   s->o.rules, &w->list));
        p->rows[r].norm = w->votes.norm;
        CHK(copy_best(s, &w->list, &p->rows[r]));
    }
    return OKRA_OK;
}

/* ---- the best ---- */

/* The best proposal that is not taken yet; of equal ones the first. */
static okra_int best_left(const okra_made_up_ *m, const bool *taken)
{
    okra_int best = -1;
    for (okra_int k = 0; k < m->count; k++) {
        if (!taken[k] && (best < 0 || m->value[k] < m->value[best])) {
            best = k;
        }
    }
    return best;
}

static okra_status keep(state *s, okra_int i, const okra_made_up_ *m)
{
    bool taken[MADE] = {false};
    double nearest = 0;
    okra_int wanted = OKRA_MAX_(s->top, s->runner_up ? m->count : 0);
    for (okra_int t = 0; t < wanted; t++) {
        okra_int k = best_left(m, taken);
        if (k >= 0 && t < s->top) {
            const void *const array[] = {m->codes + m->offsets[k]};
            CHK(okra_ragged_push_many_(&s->result, m->offsets[k + 1] - m->offsets[k],
                                       array));
            CHK(okra_ragged_close_(&s->result));
        }
        if (t == 0) {
            double report[OKRA_REPORT_COLUMNS] = {m->far[k], (double)m->total,
                                                  (double)(k + 1), (double)s->part};
            memcpy(s->report + i * OKRA_REPORT_COLUMNS, report, sizeof report);
            nearest = m->far[k];
        }
        if (t < s->top) {
            s->index[i * s->top + t] = k < 0 ? -1 : s->kept++;
            s->distance[i * s->top + t] = k < 0 ? (double)INFINITY : m->far[k];
        }
        if (k >= 0) {
            taken[k] = true;
            if (s->runner_up && isinf(s->runner_up[i]) && m->far[k] > nearest) {
                s->runner_up[i] = m->far[k];
            }
        }
    }
    return OKRA_OK;
}

static okra_status block_in(okra_context *ctx, void *arg, const okra_block_ *block)
{
    okra_status st = OKRA_OK;
    state *s = arg;
    okra_made_up_ *made_rows = NULL;
    TRY(okra_block_weights_(block, "decoder rewrite"));
    ZALLOC(made_rows, block->m);
    proposing p = {s, block, made_rows};
    TRY(okra_parallel_(ctx, block->m, 4, NULL, propose, &p));
    if (s->o.rank != OKRA_RANK_EDITS_) {
        TRY(okra_ranker_measure_(ctx, &s->ranker, block, made_rows));
    }
    for (okra_int r = 0; r < block->m; r++) {
        TRY(keep(s, block->first + r, &made_rows[r]));
    }
done:
    for (okra_int r = 0; made_rows && r < block->m; r++) {
        okra_made_up_clear_(&made_rows[r]);
    }
    okra_free_(made_rows);
    return st;
}

/* ---- the decoder ---- */

static okra_status check(const okra_output_ *output, const okra_decode_request_ *request)
{
    REFUSE_IF(request->candidates || request->ranges, OKRA_EARG,
              "decoder rewrite takes no candidates");
    REFUSE_IF(output->y->kind != OKRA_STRINGS, OKRA_EUNSUPPORTED,
              "decoder rewrite needs strings as outputs; these are %s",
              okra_kind_name(output->y->kind));
    REFUSE_IF(output->criterion, OKRA_EUNSUPPORTED,
              "decoder rewrite needs weights over the training outputs; this method has "
              "a criterion of its own");
    REFUSE_IF(!output->x || output->x->n < output->y->n || !request->inputs,
              OKRA_EUNSUPPORTED,
              "decoder rewrite needs all training inputs, which a model of low rank does "
              "not keep");
    return OKRA_OK;
}

static okra_status create(okra_context *ctx, const okra_output_ *output,
                          const okra_options *options,
                          const okra_decode_request_ *request, void **out)
{
    FREED_BY(drop) state *s = NULL;
    ZMAKE(s, 1);
    CHK(okra_options_read(options, &okra_decoder_rewrite_.options, &s->o));
    CHK(check(output, request));
    s->output = output;
    s->tests = request->tests;
    s->o.proposals = OKRA_MAX_(s->o.proposals, OKRA_MIN_(request->top, MADE));
    s->top = OKRA_MIN_(request->top, s->o.proposals);
    CHK(okra_rewritten_choose_(ctx, output, request->inputs, s->o.input, &s->part,
                               &s->inputs));
    CHK(okra_rulebook_create_(okra_rewritten_part_(output->x, s->part), output->y,
                              &s->book));
    if (s->o.rank != OKRA_RANK_EDITS_) {
        bool both = s->o.rank == OKRA_RANK_BOTH_;
        CHK(okra_ranker_create_(ctx, output, both, s->tests, &s->ranker));
    }
    s->workers = okra_workers_(ctx);
    ZMAKE(s->worker, s->workers);
    for (int w = 0; w < s->workers; w++) {
        CHK(okra_votes_create_(s->book, &s->worker[w].votes));
        CHK(okra_proposals_create_(MADE, &s->worker[w].list));
    }
    CHK(okra_characters_begin_(&s->result));
    MAKE(s->index, s->tests * s->top);
    MAKE(s->distance, s->tests * s->top);
    MAKE(s->report, s->tests * OKRA_REPORT_COLUMNS);
    if (request->runner_up) {
        MAKE(s->runner_up, s->tests);
        for (okra_int i = 0; i < s->tests; i++) {
            s->runner_up[i] = (double)INFINITY;
        }
    }
    *out = TAKE(s);
    return OKRA_OK;
}

static okra_status finish(okra_context *ctx, void *arg, okra_decoded_ *out)
{
    (void)ctx;
    state *s = arg;
    static const char *const names[OKRA_REPORT_COLUMNS] = {"distance", "proposals",
                                                           "rank", "input"};
    FREED_BY(okra_data_drop_) okra_data *all = NULL;
    okra_data *best = NULL;
    OWNED okra_int *first = NULL;
    CHK(okra_strings_adopt_(&s->result, NULL, "rewritten strings", &all));
    MAKE(first, s->tests);
    for (okra_int i = 0; i < s->tests; i++) {
        first[i] = s->index[i * s->top];
    }
    CHK(okra_data_take(all, first, s->tests, &best));
    *out = (okra_decoded_){.objects = best,
                           .proposals = all,
                           .top = s->top,
                           .index = s->index,
                           .distance = s->distance,
                           .runner_up = s->runner_up,
                           .report = s->report,
                           .report_names = names};
    all = NULL;
    s->index = NULL;
    s->distance = s->runner_up = s->report = NULL;
    return OKRA_OK;
}

const okra_decoder_ okra_decoder_rewrite_ = {
    .name = "rewrite",
    .automatic = "ends",
    .suits = OKRA_SUITS_REWRITTEN_,
    .makes_up = true,
    .reports = true,
    .inputs = true,
    .help = "strings made from the input by the edits of similar training pairs",
    .options = {"decoder rewrite", option_rows, sizeof(rewrite_options)},
    .create = create,
    .block = block_in,
    .finish = finish,
    .free = release,
};
