/*
 * writing.c: the search for the string nearest to a prediction, by single edits.
 *
 * The search of beam.c: the `width` nearest strings found so far are kept, and the edits
 * of those not yet expanded are tried until every kept one has been expanded. Here a
 * string costs its features from the first edited letter on, and most are dropped by the
 * bound of string_prediction.c before l(y,y) is known. It also begins from strings
 * written letter by letter: of all strings of m letters that extend the nearest of m - 1
 * letters the `width` nearest are extended (more of them, up to FRONT, while they have no
 * features, or where all are to be looked at). Predictions are independent and run on all
 * cores. Ties go to the string met first.
 *
 * A string that was dropped is never kept later, as what is kept only comes nearer; so
 * that a string that is met again needs to be looked for among the kept ones alone.
 */
#include "decode/strings/string_prediction.h"

enum { FRONT = OKRA_FRONT_ };

typedef struct worker {
    okra_string_prediction_ *pen;
    okra_shortlist_ kept, front, next, turn; /* turn: what is to be expanded */
    int32_t *edited;
} worker;

typedef struct job {
    const okra_string_search_ *how;
    const okra_word_ *more;
    const okra_block_ *block;
    const double *norm;
    double constant;
    const okra_results_ *results;
} job;

static void worker_clear(void *arg)
{
    worker *w = arg;
    okra_string_prediction_free_(w->pen);
    okra_shortlist_clear_(&w->kept);
    okra_shortlist_clear_(&w->front);
    okra_shortlist_clear_(&w->next);
    okra_shortlist_clear_(&w->turn);
    okra_free_(w->edited);
}

static okra_status worker_open(const void *arg, void *room)
{
    const okra_string_search_ *how = ((const job *)arg)->how;
    okra_int wide = OKRA_MAX_(FRONT, how->width);
    worker *w = room;
    CHK(okra_string_prediction_create_(how->written, &w->pen));
    CHK(okra_shortlist_open_(how->width, false, &w->kept));
    CHK(okra_shortlist_open_(how->width, true, &w->turn));
    CHK(okra_shortlist_open_(wide, true, &w->front));
    CHK(okra_shortlist_open_(wide, true, &w->next));
    MAKE(w->edited, how->written->longest + 2);
    return OKRA_OK;
}

okra_status okra_edits_of_(okra_word_ y, bool one_length, okra_int longest, int32_t *e,
                           const okra_edited_ *to)
{
    okra_int n = y.length;
    OKRA_COPY_(e, y.code, n);
    for (okra_int i = 0; i < n; i++) {
        CHK(to->replace(to->user, (okra_word_){e, n}, i));
        if (i + 1 < n && e[i] != e[i + 1]) {
            OKRA_SWAP_(e[i], e[i + 1]);
            CHK(to->offer(to->user, (okra_word_){e, n}, i));
            OKRA_SWAP_(e[i], e[i + 1]);
        }
    }
    for (okra_int i = n - 1; !one_length && i >= 0; i--) {
        int32_t out = e[i];
        memmove(e + i, e + i + 1, (size_t)(n - 1 - i) * sizeof *e);
        CHK(to->offer(to->user, (okra_word_){e, n - 1}, i));
        memmove(e + i + 1, e + i, (size_t)(n - 1 - i) * sizeof *e);
        e[i] = out;
    }
    for (okra_int i = n; !one_length && n < longest && i >= 0; i--) {
        memmove(e + i + 1, e + i, (size_t)(n - i) * sizeof *e);
        e[i] = -1;
        CHK(to->replace(to->user, (okra_word_){e, n + 1}, i));
        memmove(e + i, e + i + 1, (size_t)(n - i) * sizeof *e);
    }
    return OKRA_OK;
}

/* ---- strings against the prediction ---- */

/* A string with its values: kept, and by `front` (may be NULL) too. */
static okra_status hand_in(const job *j, worker *w, okra_word_ y, double inner,
                           double self, okra_shortlist_ *front)
{
    self = okra_self_settle_(self, j->constant);
    okra_key_ key = okra_key_of_(isnan(j->constant) ? self : self - j->constant, inner);
    if (front) {
        CHK(okra_shortlist_put_(front, y.code, y.length, key, self - 2 * inner));
    }
    return self > 0 || j->how->empty
               ? okra_shortlist_put_(&w->kept, y.code, y.length, key, self - 2 * inner)
               : OKRA_OK;
}

/* What a string must be below to be wanted. */
static double worst(const worker *w, const okra_shortlist_ *front)
{
    return fmax(okra_shortlist_worst_(&w->kept),
                front ? okra_shortlist_worst_(front) : -(double)INFINITY);
}

/* Looks at a string that begins like the one the pen has seen. */
static okra_status offer(const job *j, worker *w, okra_word_ y, okra_int kept,
                         okra_shortlist_ *front)
{
    double inner = 0, self = 0;
    return okra_string_prediction_edited_(w->pen, y, kept, j->constant, worst(w, front),
                                          &inner, &self)
               ? hand_in(j, w, y, inner, self, front)
               : OKRA_OK;
}

/* Every letter at one place but the one that is there; `front` may be NULL. */
static okra_status replace(const job *j, worker *w, okra_word_ y, okra_int at,
                           okra_shortlist_ *front)
{
    int32_t before = w->edited[at];
    double inner = 0, self = 0;
    w->edited[at] = INT32_MIN; /* equals no letter */
    okra_string_prediction_open_(w->pen, y, at);
    for (okra_int c = 0; c < j->how->letters; c++) {
        w->edited[at] = (int32_t)c;
        if (c != before &&
            okra_string_prediction_filled_(w->pen, y, at, j->constant, worst(w, front),
                                           &inner, &self)) {
            CHK(hand_in(j, w, y, inner, self, front));
        }
    }
    w->edited[at] = before;
    return OKRA_OK;
}

typedef struct expansion {
    const job *j;
    worker *w;
} expansion;

static okra_status replace_one(void *user, okra_word_ y, okra_int at)
{
    const expansion *x = user;
    return replace(x->j, x->w, y, at, NULL);
}

static okra_status offer_one(void *user, okra_word_ y, okra_int kept)
{
    const expansion *x = user;
    return offer(x->j, x->w, y, kept, NULL);
}

/* ---- one prediction ---- */

/* Letters into places of the alphabet; see string_prediction.h. */
static okra_word_ places(const job *j, okra_word_ y, int32_t *out)
{
    for (okra_int k = 0; k < y.length; k++) {
        okra_int place = okra_letter_(j->how->alphabet, j->how->letters, y.code[k]);
        out[k] = place < j->how->letters ? (int32_t)place : -1 - y.code[k];
    }
    return (okra_word_){out, y.length};
}

static okra_status begin(const job *j, worker *w, okra_int r)
{
    okra_int count = 0;
    const okra_data *y = j->how->y;
    okra_string_prediction_begin_(w->pen, (okra_word_){w->edited, 0});
    const okra_near_ *near =
        okra_starts_get_(j->how->starts, j->block->first + r, &count);
    for (okra_int t = 0; t < OKRA_MIN_(j->how->width, count); t++) {
        okra_word_ word;
        word.code = okra_characters_(y, near[t].rank.id, &word.length);
        CHK(offer(j, w, places(j, word, w->edited), 0, NULL));
    }
    return j->more[r].length > 0 ? offer(j, w, places(j, j->more[r], w->edited), 0, NULL)
                                 : OKRA_OK;
}

/* Letter by letter. A front of strings that all lack features is as wide as it may be. */
static okra_status write_out(const job *j, worker *w)
{
    okra_shortlist_ *front = &w->front, *next = &w->next;
    front->most = FRONT;
    okra_shortlist_empty_(front);
    okra_string_prediction_begin_(w->pen, (okra_word_){w->edited, 0});
    CHK(offer(j, w, (okra_word_){w->edited, 0}, 0, front));
    for (okra_int m = 0; m < j->how->longest && front->count > 0; m++) {
        bool brief = m + 1 < okra_string_kernel_shortest_(j->how->written);
        okra_shortlist_empty_(next);
        next->most = brief || j->how->every ? FRONT : j->how->width;
        for (okra_int k = 0; k < front->count; k++) {
            okra_word_ y = {front->items[k].codes, m};
            okra_string_prediction_begin_(w->pen, y);
            OKRA_COPY_(w->edited, y.code, m);
            w->edited[m] = -1;
            CHK(replace(j, w, (okra_word_){w->edited, m + 1}, m, next));
        }
        OKRA_SWAP_(front, next);
    }
    return OKRA_OK;
}

/* Expands every kept string that has not been. They are copied first: what comes of one
 * must not push out another before its turn. */
static okra_status expand_all(const job *j, worker *w)
{
    expansion x = {j, w};
    const okra_edited_ to = {&x, replace_one, offer_one};
    const okra_item_ *it = NULL;
    okra_shortlist_empty_(&w->turn);
    while ((it = okra_shortlist_next_(&w->kept))) {
        CHK(okra_shortlist_put_(&w->turn, it->codes, it->length, it->rank.key, 0));
    }
    for (okra_int k = 0; k < w->turn.count; k++) {
        okra_word_ y = {w->turn.items[k].codes, w->turn.items[k].length};
        okra_string_prediction_begin_(w->pen, y);
        CHK(okra_edits_of_(y, false, j->how->longest, w->edited, &to));
    }
    return OKRA_OK;
}

static okra_status one(const void *arg, void *room, okra_int r)
{
    const job *j = arg;
    worker *w = room;
    okra_mat_ W = j->block->W;
    okra_int test = j->block->first + r;
    okra_shortlist_empty_(&w->kept);
    okra_string_prediction_set_(w->pen, W.p + r * W.ld);
    CHK(begin(j, w, r));
    CHK(write_out(j, w));
    for (okra_int round = 0; round < j->how->rounds; round++) {
        CHK(expand_all(j, w));
        if (w->turn.count == 0) {
            break;
        }
    }
    REFUSE_IF(w->kept.count == 0, OKRA_ENUMERIC,
              "decoder string: test point %lld has no finite distance to any string",
              (long long)test);
    for (okra_int t = 0; t < w->kept.count; t++) {
        okra_item_ *it = &w->kept.items[t];
        it->distance = fmax(it->distance + j->norm[r], 0);
        for (okra_int k = 0; k < it->length; k++) {
            int32_t place = it->codes[k];
            it->codes[k] = place < 0 ? -1 - place : j->how->alphabet[place];
        }
    }
    return okra_results_list_(j->results, test, &w->kept);
}

okra_status okra_write_(okra_context *ctx, const okra_string_search_ *how,
                        const okra_word_ *more, const okra_block_ *block,
                        const double *norm, const okra_results_ *results)
{
    static const okra_each_ each = {sizeof(worker), worker_open, one, worker_clear};
    okra_int room = how->written->longest + 1;
    const job j = {.how = how,
                   .more = more,
                   .block = block,
                   .norm = norm,
                   .constant = how->starts->constant,
                   .results = results};
    CHK(okra_budget_ask_(
        ctx, okra_workers_(ctx) * (double)(room * how->width) * sizeof(int32_t),
        "the best strings of a search"));
    return okra_parallel_each_(ctx, block->m, 1, "decode", &each, &j);
}
