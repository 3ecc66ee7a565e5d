/*
 * writing.c: the search for the string nearest to a prediction, by single edits.
 *
 * The search of beam.c: the `width` nearest strings found so far are kept, and the edits
 * of those not yet expanded are tried until every kept one has been expanded. Here a
 * string costs its features from the first edited letter on, and most are dropped by the
 * bound of written.c before l(y,y) is known. It also begins from strings written letter
 * by letter: of all strings of m letters that extend the nearest of m - 1 letters the
 * `width` nearest are extended (more of them, up to FRONT, while they have no features,
 * or where all are to be looked at). Predictions are independent and run on all cores.
 * Ties go to the string met first.
 *
 * A string that was dropped is never kept later, as what is kept only comes nearer; so
 * that a string that is met again needs to be looked for among the kept ones alone.
 */
#include "decode/strings/writing.h"

#include "data/strings.h"
#include "kernel/strings/string_kernels.h"

#include <math.h>
#include <string.h>

enum { FRONT = OKRA_FRONT_ };

typedef struct item {
    okra_int length;
    int32_t *letters; /* room for the longest */
    double distance;  /* but for the norm of the prediction */
    okra_key_ key;
    bool expanded;
} item;

/* The nearest strings, best first. */
typedef struct list {
    item *items;
    int32_t *letters;
    okra_int count, most;
    bool distinct; /* no string comes twice */
} list;

typedef struct worker {
    okra_pen_ *pen;
    list kept, front, next;
    int32_t *edited;
} worker;

typedef struct job {
    const okra_writing_ *how;
    const okra_block_ *block;
    const double *norm;
    double constant;
    okra_int room; /* letters of the longest string there may be */
    worker *workers;
    okra_int top;
    okra_result_ *found; /* rows x top */
} job;

OKRA_CLEARS_(list_clear, list, it->items, it->letters)

static okra_status list_create(okra_int most, okra_int room, list *out)
{
    FREED_BY(list_clear) list l = {.most = most};
    ZMAKE(l.items, most);
    MAKE(l.letters, most * room);
    for (okra_int k = 0; k < most; k++) {
        l.items[k].letters = l.letters + k * room;
    }
    *out = l;
    l = (list){0};
    return OKRA_OK;
}

/* What a string must be better than. */
static double worst(const list *l)
{
    return l->count < l->most ? (double)INFINITY : l->items[l->most - 1].key.high;
}

static bool has(const list *l, okra_word_ y)
{
    for (okra_int k = 0; k < l->count; k++) {
        const item *it = &l->items[k];
        if (it->length == y.length &&
            memcmp(it->letters, y.code, (size_t)y.length * sizeof *y.code) == 0) {
            return true;
        }
    }
    return false;
}

static void keep(list *l, okra_word_ y, okra_key_ key, double distance)
{
    if ((l->count == l->most && !okra_key_less_(key, l->items[l->most - 1].key)) ||
        (!l->distinct && has(l, y))) {
        return;
    }
    okra_int at = OKRA_MIN_(l->count, l->most - 1);
    int32_t *letters = l->items[at].letters; /* of a free place, or of what drops out */
    for (; at > 0 && okra_key_less_(key, l->items[at - 1].key); at--) {
        l->items[at] = l->items[at - 1];
    }
    if (y.length > 0) {
        memcpy(letters, y.code, (size_t)y.length * sizeof *y.code);
    }
    l->items[at] = (item){y.length, letters, distance, key, false};
    l->count = OKRA_MIN_(l->count + 1, l->most);
}

/* ---- strings against the prediction ---- */

/* A string with its values: kept, and by `front` (may be NULL) too. */
static void hand_in(const job *j, worker *w, okra_word_ y, double inner, double self,
                    list *front)
{
    self = okra_self_settle_(self, j->constant);
    okra_key_ key = okra_key_of_(isnan(j->constant) ? self : self - j->constant, inner);
    if (front) {
        keep(front, y, key, self - 2 * inner);
    }
    if (self > 0 || j->how->empty) {
        keep(&w->kept, y, key, self - 2 * inner);
    }
}

/* Looks at a string that begins like the one the pen has seen. */
static void offer(const job *j, worker *w, okra_word_ y, okra_int kept, list *front)
{
    double inner = 0, self = 0;
    double least = fmax(worst(&w->kept), front ? worst(front) : -(double)INFINITY);
    if (okra_pen_edited_(w->pen, y, kept, j->constant, least, &inner, &self)) {
        hand_in(j, w, y, inner, self, front);
    }
}

/* Every letter at one place but the one that is there; `front` may be NULL. */
static void replace(const job *j, worker *w, okra_word_ y, okra_int at, list *front)
{
    int32_t before = w->edited[at];
    double inner = 0, self = 0;
    w->edited[at] = INT32_MIN; /* equals no letter */
    okra_pen_open_(w->pen, y, at);
    for (okra_int c = 0; c < j->how->letters; c++) {
        double least = fmax(worst(&w->kept), front ? worst(front) : -(double)INFINITY);
        w->edited[at] = (int32_t)c;
        if (c != before &&
            okra_pen_filled_(w->pen, y, at, j->constant, least, &inner, &self)) {
            hand_in(j, w, y, inner, self, front);
        }
    }
    w->edited[at] = before;
}

/* Every edit of a string: letters replaced, neighbours exchanged, letters taken out and
 * put in. */
static void expand(const job *j, worker *w, okra_word_ y)
{
    int32_t *e = w->edited;
    okra_int n = y.length;
    okra_pen_begin_(w->pen, y);
    memcpy(e, y.code, (size_t)n * sizeof *e);
    for (okra_int i = 0; i < n; i++) {
        replace(j, w, (okra_word_){e, n}, i, NULL);
        if (i + 1 < n && e[i] != e[i + 1]) {
            int32_t a = e[i];
            e[i] = e[i + 1];
            e[i + 1] = a;
            offer(j, w, (okra_word_){e, n}, i, NULL);
            e[i + 1] = e[i];
            e[i] = a;
        }
    }
    for (okra_int i = n - 1; i >= 0; i--) {
        int32_t out = e[i];
        memmove(e + i, e + i + 1, (size_t)(n - 1 - i) * sizeof *e);
        offer(j, w, (okra_word_){e, n - 1}, i, NULL);
        memmove(e + i + 1, e + i, (size_t)(n - 1 - i) * sizeof *e);
        e[i] = out;
    }
    for (okra_int i = n; n < j->how->longest && i >= 0; i--) {
        memmove(e + i + 1, e + i, (size_t)(n - i) * sizeof *e);
        e[i] = -1;
        replace(j, w, (okra_word_){e, n + 1}, i, NULL);
        memmove(e + i, e + i + 1, (size_t)(n - i) * sizeof *e);
    }
}

/* ---- one prediction ---- */

/* Letters into places of the alphabet; see written.h. */
static okra_word_ places(const job *j, okra_word_ y, int32_t *out)
{
    for (okra_int k = 0; k < y.length; k++) {
        okra_int place = okra_letter_(j->how->alphabet, j->how->letters, y.code[k]);
        out[k] = place < j->how->letters ? (int32_t)place : -1 - y.code[k];
    }
    return (okra_word_){out, y.length};
}

static void begin(const job *j, worker *w, okra_int r)
{
    okra_int count = 0;
    const okra_data *y = j->how->output->y;
    okra_pen_begin_(w->pen, (okra_word_){w->edited, 0});
    const okra_near_ *near =
        okra_starts_get_(j->how->starts, j->block->first + r, &count);
    for (okra_int t = 0; t < OKRA_MIN_(j->how->width, count); t++) {
        okra_word_ word;
        word.code = okra_characters_(y, near[t].rank.id, &word.length);
        offer(j, w, places(j, word, w->edited), 0, NULL);
    }
    if (j->how->more && j->how->more[r].length > 0) {
        offer(j, w, places(j, j->how->more[r], w->edited), 0, NULL);
    }
}

/* Letter by letter. A front of strings that all lack features is as wide as it may be. */
static void write_out(const job *j, worker *w)
{
    list *front = &w->front, *next = &w->next;
    front->most = FRONT;
    front->count = 0;
    okra_pen_begin_(w->pen, (okra_word_){w->edited, 0});
    offer(j, w, (okra_word_){w->edited, 0}, 0, front);
    for (okra_int m = 0; m < j->how->longest && front->count > 0; m++) {
        next->count = 0;
        bool brief = m + 1 < okra_written_shortest_(j->how->written);
        next->most = brief || j->how->all ? FRONT : j->how->width;
        for (okra_int k = 0; k < front->count; k++) {
            okra_word_ y = {front->items[k].letters, m};
            okra_pen_begin_(w->pen, y);
            memcpy(w->edited, y.code, (size_t)m * sizeof *w->edited);
            w->edited[m] = -1;
            replace(j, w, (okra_word_){w->edited, m + 1}, m, next);
        }
        list *swap = front;
        front = next;
        next = swap;
    }
}

/* Expands every kept string that has not been; false: there was none. They are copied
 * first: what comes of one must not push out another before its turn. */
static bool expand_all(const job *j, worker *w, okra_int *lengths, int32_t *copies)
{
    okra_int count = 0;
    for (okra_int k = 0; k < w->kept.count; k++) {
        item *it = &w->kept.items[k];
        if (!it->expanded) {
            it->expanded = true;
            memcpy(copies + count * j->room, it->letters,
                   (size_t)it->length * sizeof *copies);
            lengths[count++] = it->length;
        }
    }
    for (okra_int k = 0; k < count; k++) {
        expand(j, w, (okra_word_){copies + k * j->room, lengths[k]});
    }
    return count > 0;
}

static okra_status one(const job *j, worker *w, okra_int r, okra_int *lengths,
                       int32_t *copies)
{
    okra_mat_ W = j->block->W;
    okra_int rounds = j->how->rounds;
    w->kept.count = 0;
    okra_pen_set_(w->pen, W.p + r * W.ld);
    begin(j, w, r);
    write_out(j, w);
    while (rounds-- > 0 && expand_all(j, w, lengths, copies)) {
    }
    REFUSE_IF(w->kept.count == 0, OKRA_ENUMERIC,
              "decoder string: test point %lld has no finite distance to any string",
              (long long)(j->block->first + r));
    for (okra_int t = 0; t < OKRA_MIN_(j->top, w->kept.count); t++) {
        const item *it = &w->kept.items[t];
        okra_result_ *f = &j->found[r * j->top + t];
        CHK(okra_result_make_(it->letters, it->length, fmax(it->distance + j->norm[r], 0),
                              f));
        for (okra_int k = 0; k < it->length; k++) {
            int32_t place = it->letters[k];
            f->codes[k] = place < 0 ? -1 - place : j->how->alphabet[place];
        }
    }
    return OKRA_OK;
}

static okra_status some(void *arg, okra_int first, okra_int end, int number)
{
    const job *j = arg;
    OWNED okra_int *lengths = NULL;
    OWNED int32_t *copies = NULL;
    MAKE(lengths, j->how->width);
    MAKE(copies, j->how->width * j->room);
    for (okra_int r = first; r < end; r++) {
        CHK(one(j, &j->workers[number], r, lengths, copies));
    }
    return OKRA_OK;
}

static okra_status workers_create(const job *j, int count, worker *w)
{
    okra_int wide = OKRA_MAX_(FRONT, j->how->width);
    for (int k = 0; k < count; k++) {
        CHK(okra_pen_create_(j->how->written, &w[k].pen));
        CHK(list_create(j->how->width, j->room, &w[k].kept));
        CHK(list_create(wide, j->room, &w[k].front));
        CHK(list_create(wide, j->room, &w[k].next));
        w[k].front.distinct = w[k].next.distinct = true;
        MAKE(w[k].edited, j->room + 1);
    }
    return OKRA_OK;
}

okra_status okra_write_(okra_context *ctx, const okra_writing_ *how,
                        const okra_block_ *block, const double *norm, okra_int top,
                        okra_result_ *found)
{
    okra_status st = OKRA_OK;
    int count = okra_workers_(ctx);
    worker *workers = NULL;
    job j = {.how = how, .block = block, .norm = norm, .top = top, .found = found};
    j.constant = okra_starts_constant_(how->starts);
    j.room = okra_written_longest_(how->written) + 1;
    TRY(okra_budget_ask_(ctx,
                         (double)count * (double)(j.room * how->width) * sizeof(int32_t),
                         "the best strings of a search"));
    ZALLOC(workers, count);
    j.workers = workers;
    TRY(workers_create(&j, count, workers));
    TRY(okra_parallel_(ctx, block->m, 1, "decode", some, &j));
done:
    for (int k = 0; workers && k < count; k++) {
        okra_pen_free_(workers[k].pen);
        list_clear(&workers[k].kept);
        list_clear(&workers[k].front);
        list_clear(&workers[k].next);
        okra_free_(workers[k].edited);
    }
    okra_free_(workers);
    return st;
}
