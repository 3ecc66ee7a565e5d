/*
 * beam.c: a search among sequences for the one nearest to a prediction.
 *
 * Each prediction keeps the `width` nearest sequences found so far. A round proposes the
 * neighbours of those not yet expanded; distances of all proposals are computed together
 * (propose.c), the nearest are kept. It ends when every kept sequence has been expanded:
 * then none of their neighbours is nearer than the last one kept. Nothing is evaluated
 * twice for a prediction. Cost: proposals times n kernel values.
 *
 * Rows are taken GROUP at a time, and a round ends at some BATCH proposals, so that
 * memory is bounded and the kernel is evaluated in large panels. Ties go to the sequence
 * proposed first.
 */
#include "decode/decode.h"

#include "kernel/gram/trained_kernel.h"

enum { GROUP = 64, BATCH = 1 << 16 }; /* predictions, proposals at a time */

struct okra_offer_ {
    okra_int row; /* of the group: who is being proposed to */
    int32_t *codes;
    okra_int *offsets, *owner;
    okra_int count, room, codes_room;
    okra_hashed_ seen; /* those proposed so far */
};

struct okra_beam_ {
    const okra_output_ *output;
    okra_moves_ moves;
    okra_int top; /* training outputs to begin from */
    okra_starts_ *starts;
};

/* Of a group of predictions. */
typedef struct search {
    const okra_moves_ *moves;
    okra_offer_ offer;
    okra_int rows;
    okra_shortlist_ *lists; /* rows */
} search;

okra_status okra_offer_put_(okra_offer_ *o, const int32_t *codes, okra_int length)
{
    uint64_t hash = okra_hash_(0, (uint64_t)o->row + 1);
    okra_int at = 0;
    for (okra_int i = 0; i < length; i++) {
        hash = okra_hash_(hash, (uint64_t)codes[i] + 1);
    }
    if (okra_hashed_next_(&o->seen, hash, &at) >= 0) {
        return OKRA_OK;
    }
    CHK(okra_hashed_put_(&o->seen, hash, 0));
    okra_int room = o->room, begin = o->count > 0 ? o->offsets[o->count] : 0;
    CHK(okra_reserve_(&o->offsets, o->count + 2, &room, sizeof *o->offsets));
    CHK(okra_reserve_(&o->owner, o->count + 2, &o->room, sizeof *o->owner));
    CHK(okra_reserve_(&o->codes, begin + length, &o->codes_room, sizeof *o->codes));
    OKRA_COPY_(o->codes + begin, codes, length);
    o->offsets[o->count] = begin;
    o->offsets[o->count + 1] = begin + length;
    o->owner[o->count++] = o->row;
    return OKRA_OK;
}

static okra_status evaluate(okra_context *ctx, const okra_beam_ *beam, search *s,
                            okra_mat_ W, const double *norm)
{
    okra_offer_ *o = &s->offer;
    FREED_BY(okra_data_drop_) okra_data *objects = NULL;
    OWNED okra_key_ *key = NULL;
    OWNED double *distance = NULL;
    if (o->count == 0) {
        return OKRA_OK;
    }
    MAKE(distance, o->count);
    MAKE(key, o->count);
    const okra_results_ *r = s->moves->results;
    CHK(r->objects(ctx, r->user, o->codes, o->offsets, o->count, &objects));
    CHK(s->moves->loss
            ? okra_risk_propose_(ctx, s->moves->loss, objects, o->owner, W, key, distance)
            : okra_propose_(ctx, beam->output, objects, o->owner, s->moves->empty, W,
                            norm, beam->starts->constant, key, distance));
    for (okra_int c = 0; c < o->count; c++) {
        if (distance[c] < (double)INFINITY) {
            CHK(okra_shortlist_put_(&s->lists[o->owner[c]], o->codes + o->offsets[c],
                                    o->offsets[c + 1] - o->offsets[c], key[c],
                                    distance[c]));
        }
    }
    o->count = 0;
    return OKRA_OK;
}

static okra_status expand(search *s)
{
    const okra_moves_ *moves = s->moves;
    for (okra_int r = 0; r < s->rows; r++) {
        okra_item_ *it = NULL;
        s->offer.row = r;
        while (s->offer.count < BATCH && (it = okra_shortlist_next_(&s->lists[r]))) {
            CHK(moves->neighbours(moves->user, it->codes, it->length, &s->offer));
        }
    }
    return OKRA_OK;
}

static void clear(search *s)
{
    FREE(s->offer.codes, s->offer.offsets, s->offer.owner, s->offer.seen.slots);
    for (okra_int r = 0; s->lists && r < s->rows; r++) {
        okra_shortlist_clear_(&s->lists[r]);
    }
    okra_free_(s->lists);
}

/* w: the weights of test point i. */
static okra_status begin(const okra_beam_ *beam, okra_int i, const double *w,
                         okra_offer_ *offer)
{
    const okra_moves_ *moves = &beam->moves;
    okra_int count = 0;
    const okra_near_ *near = okra_starts_get_(beam->starts, i, &count);
    for (okra_int t = 0; t < OKRA_MIN_(beam->top, count); t++) {
        CHK(moves->start(moves->user, near[t].rank.id, offer));
    }
    return moves->begin ? moves->begin(moves->user, w, offer) : OKRA_OK;
}

/* W and norm: those of test points first, first + 1, ... */
static okra_status run_group(okra_context *ctx, const okra_beam_ *beam, okra_int first,
                             okra_mat_ W, const double *norm)
{
    const okra_moves_ *moves = &beam->moves;
    FREED_BY(clear) search s = {.moves = moves, .rows = W.rows};
    CHK(okra_budget_ask_(
        ctx, (double)W.rows * (double)moves->width * (double)sizeof(okra_item_),
        "the best objects of a search"));
    ZMAKE(s.lists, W.rows);
    for (okra_int r = 0; r < W.rows; r++) {
        CHK(okra_shortlist_open_(moves->width, true, &s.lists[r]));
        s.offer.row = r;
        CHK(begin(beam, first + r, W.p + r * W.ld, &s.offer));
    }
    CHK(evaluate(ctx, beam, &s, W, norm));
    for (okra_int round = 0; round < moves->rounds; round++) {
        CHK(okra_cancelled_(ctx));
        CHK(expand(&s));
        if (s.offer.count == 0) {
            break;
        }
        CHK(evaluate(ctx, beam, &s, W, norm));
    }
    for (okra_int r = 0; r < W.rows; r++) {
        REFUSE_IF(s.lists[r].count == 0, OKRA_ENUMERIC,
                  "%s: test point %lld has no finite distance to any %s", moves->decoder,
                  (long long)(first + r), moves->what);
        CHK(okra_results_list_(moves->results, first + r, &s.lists[r]));
    }
    return OKRA_OK;
}

okra_status okra_beam_create_(okra_context *ctx, const okra_output_ *output,
                              const okra_moves_ *moves, okra_beam_ **out)
{
    FREED_BY(okra_beam_drop_) okra_beam_ *beam = NULL;
    okra_int width = OKRA_MAX_(moves->width, moves->results->top);
    okra_int top = OKRA_MIN_(width, output->y->n);
    ZMAKE(beam, 1);
    *beam = (okra_beam_){output, *moves, top, NULL};
    beam->moves.width = width;
    CHK(okra_starts_create_(ctx, output, moves->loss, moves->results->tests, top,
                            moves->empty, &beam->starts));
    *out = TAKE(beam);
    return OKRA_OK;
}

void okra_beam_free_(okra_beam_ *beam)
{
    if (beam) {
        okra_starts_free_(beam->starts);
        okra_free_(beam);
    }
}

okra_status okra_beam_block_(okra_context *ctx, okra_beam_ *beam,
                             const okra_block_ *block)
{
    okra_mat_ W = block->W;
    OWNED double *norm = NULL;
    CHK(okra_block_weights_(block, beam->moves.decoder));
    MAKE(norm, block->m);
    CHK(okra_starts_block_(ctx, beam->starts, block, norm));
    for (okra_int first = 0; first < W.rows; first += GROUP) {
        okra_int rows = OKRA_MIN_(GROUP, W.rows - first);
        CHK(run_group(ctx, beam, block->first + first,
                      okra_mat_part_(W, first, rows, 0, W.cols), norm + first));
        okra_progress_(ctx, "decode", first + rows, W.rows);
    }
    return OKRA_OK;
}
