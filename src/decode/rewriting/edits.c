/*
 * edits.c: what changes from one string to another.
 *
 * The alignment of x (m letters) and y (n letters) keeps letters or changes runs of them.
 * A changed run costs LETTER for each letter inserted, deleted or replaced, and INSIDE
 * for being there, less at the beginning and at the end of the strings, where inflection
 * happens most:
 *     K(i,j) = min(K, R)(i-1,j-1) if x_i = y_j           the last letters are kept
 *     R(i,j) = LETTER + min over (i-1,j-1), (i-1,j), (i,j-1) of R and of K + open
 * Of equal costs the one that keeps letters towards the end is taken, so that runs lie as
 * far to the left as they can. Cost: m n steps. Pairs of more than MOST_CELLS are cut at
 * their common beginning and end instead.
 *
 * Letters of equal cost make for alignments that keep a common letter by chance and put a
 * rare one there (jahaza -> majhuz: an a is kept, and each word has to put its own j).
 * With prices a letter costs its information, LETTER on average, so that rare letters are
 * kept. Which of the two alignments is meant is for whoever has all pairs to say.
 *
 * A change is named by where it is, what it takes away and what it puts there: letters as
 * they are, or references to letters of x beside it (a doubled letter, a repeated
 * syllable, the whole word again), so that stop -> stopped and beg -> begged are one
 * change. Which of these forms a change goes by is chosen by whoever has all pairs.
 *
 * Changes of training pairs are rules for another string. A rule at the start or end
 * needs its letters there. An inner rule fits wherever its letters stand with a letter
 * before and one behind, the rules in their order; one that only inserts is tried near
 * both ends of the word, and where it was in its own pair. At most PLACES strings come of
 * one set of rules.
 */
#include "decode/rewriting/edits.h"

#include "kernel/gram/trained_kernel.h"
#include "kernel/strings/string_kernels.h"

/* In eighths, so that prices are whole numbers. */
enum { LETTER = 16, INSIDE = 16, OUTSIDE = 8, NONE = 1 << 28, MOST_CELLS = 1 << 18 };

void okra_prices_clear_(okra_prices_ *prices)
{
    for (int k = 0; k < 2; k++) {
        FREE(prices->letters[k], prices->seen[k]);
    }
    *prices = (okra_prices_){0};
}

/* How often a letter was seen, once at least. */
static double seen(const okra_prices_ *p, int32_t letter)
{
    double sum = 0;
    for (int k = 0; k < 2; k++) {
        okra_int at = okra_letter_(p->letters[k], p->count[k], letter);
        sum += at < p->count[k] ? p->seen[k][at] : 0;
    }
    return OKRA_MAX_(sum, 1);
}

okra_status okra_prices_open_(const okra_data *x, const okra_data *y, okra_prices_ *out)
{
    FREED_BY(okra_prices_clear_) okra_prices_ p = {0};
    const okra_data *const sides[] = {x, y};
    for (int k = 0; k < 2; k++) {
        CHK(okra_alphabet_(sides[k], &p.letters[k], &p.count[k]));
        ZMAKE(p.seen[k], p.count[k]);
        for (okra_int i = 0; i < sides[k]->n; i++) {
            okra_int length;
            const int32_t *code = okra_characters_(sides[k], i, &length);
            for (okra_int j = 0; j < length; j++) {
                p.seen[k][okra_letter_(p.letters[k], p.count[k], code[j])] += 1;
            }
            p.total += (double)length;
        }
    }
    for (int k = 0; k < 2; k++) {
        for (okra_int c = 0; c < p.count[k]; c++) {
            p.mean += p.seen[k][c] / p.total * log(p.total / seen(&p, p.letters[k][c]));
        }
    }
    *out = TAKE(p);
    return OKRA_OK;
}

static void find_prices(const okra_prices_ *p, okra_word_ w, int32_t *out)
{
    for (okra_int i = 0; i < w.length; i++) {
        out[i] = LETTER;
        if (p && p->mean > 0) {
            double of_mean = log((p->total + 1) / seen(p, w.code[i])) / p->mean;
            out[i] = (int32_t)(LETTER * fmin(of_mean, 8)) + 1;
        }
    }
}

OKRA_SHARED_CLEARS_(okra_aligner_clear_, okra_aligner_, it->cost, it->from, it->price)

static okra_status reserve(okra_aligner_ *a, okra_int cells, okra_int letters)
{
    cells = OKRA_MAX_(cells, letters);
    if (cells > a->room) {
        okra_int room = 2 * cells;
        okra_aligner_clear_(a);
        MAKE(a->cost, 2 * room);
        MAKE(a->from, 2 * room);
        MAKE(a->price, room);
        a->room = room;
    }
    return OKRA_OK;
}

/* The part between the common beginning and the common end, as one change. */
static void cut(okra_word_ x, okra_word_ y, okra_script_ *out)
{
    okra_int m = x.length, n = y.length, begin = 0, end = 0, least = OKRA_MIN_(m, n);
    while (begin < least && x.code[begin] == y.code[begin]) {
        begin++;
    }
    while (end < least - begin && x.code[m - 1 - end] == y.code[n - 1 - end]) {
        end++;
    }
    out->changes[0] = (okra_alter_){begin, m - end, begin, n - end, OKRA_WHERE_INNER_};
    out->count = m == n && begin == m ? 0 : 1;
    out->cost = LETTER * OKRA_MAX_(m - end - begin, n - end - begin);
}

/* from of a state: bits 0..1 the step (0: none, 1: both, 2: x alone, 3: y alone), bit 2:
 * the state before was R. State 2 c is K of cell c, 2 c + 1 its R. */
static void step(const okra_aligner_ *a, okra_int to, okra_int from, int move,
                 okra_int open, int32_t price)
{
    int32_t *cost = a->cost;
    int32_t kept = (int32_t)(cost[2 * from] + price + open);
    int32_t changed = cost[2 * from + 1] + price;
    if (kept < cost[2 * to + 1]) {
        cost[2 * to + 1] = kept;
        a->from[2 * to + 1] = (uint8_t)move;
    }
    if (changed < cost[2 * to + 1]) {
        cost[2 * to + 1] = changed;
        a->from[2 * to + 1] = (uint8_t)(move | 4);
    }
}

static void fill(const okra_aligner_ *a, okra_word_ x, okra_word_ y)
{
    okra_int wide = y.length + 1;
    const int32_t *of_x = a->price - 1, *of_y = a->price + x.length - 1;
    for (okra_int i = 0; i <= x.length; i++) {
        for (okra_int j = 0; j <= y.length; j++) {
            okra_int at = i * wide + j;
            a->cost[2 * at] = at == 0 ? 0 : NONE;
            a->cost[2 * at + 1] = NONE;
            a->from[2 * at] = a->from[2 * at + 1] = 0;
            if (i > 0 && j > 0) {
                okra_int before = at - wide - 1;
                bool changed = a->cost[2 * before + 1] < a->cost[2 * before];
                if (x.code[i - 1] == y.code[j - 1]) {
                    a->cost[2 * at] = a->cost[2 * before + changed];
                    a->from[2 * at] = changed ? 5 : 1;
                }
                step(a, at, before, 1, before == 0 ? OUTSIDE : INSIDE,
                     OKRA_MAX_(of_x[i], of_y[j]));
            }
            if (i > 0) {
                step(a, at, at - wide, 2, at - wide == 0 ? OUTSIDE : INSIDE, of_x[i]);
            }
            if (j > 0) {
                step(a, at, at - 1, 3, at - 1 == 0 ? OUTSIDE : INSIDE, of_y[j]);
            }
        }
    }
}

/* Runs of changed letters from the back to the front, then turned round. */
static void trace(const okra_aligner_ *a, okra_word_ x, okra_word_ y, okra_script_ *out)
{
    okra_int wide = y.length + 1, i = x.length, j = y.length, last = i * wide + j;
    okra_int kept = a->cost[2 * last], changed = a->cost[2 * last + 1] - OUTSIDE;
    okra_alter_ all[2] = {0}; /* the first and the last run, where there are too many */
    int count = 0;
    bool run = false, in = changed < kept;
    out->cost = OKRA_MIN_(kept, changed);
    while (i > 0 || j > 0) {
        int from = a->from[2 * (i * wide + j) + in], move = from & 3;
        if (in && !run) {
            all[1] = (okra_alter_){.x1 = i, .y1 = j};
            all[0] = count == 0 ? all[1] : all[0];
        }
        run = in;
        i -= move != 3;
        j -= move != 2;
        in = from & 4;
        if (run && !in) {
            all[1].x0 = i;
            all[1].y0 = j;
            if (count < OKRA_CHANGES_MOST_) {
                out->changes[count] = all[1];
            }
            count++;
            run = false;
        }
    }
    out->count = count;
    if (count > OKRA_CHANGES_MOST_) {
        out->count = 1;
        out->changes[0] = (okra_alter_){all[1].x0, all[0].x1, all[1].y0, all[0].y1, 0};
    }
    for (int c = 0; c < out->count / 2; c++) {
        OKRA_SWAP_(out->changes[c], out->changes[out->count - 1 - c]);
    }
}

okra_status okra_align_(okra_aligner_ *aligner, const okra_prices_ *prices, okra_word_ x,
                        okra_word_ y, okra_script_ *out)
{
    if ((double)(x.length + 1) * (double)(y.length + 1) > MOST_CELLS) {
        cut(x, y, out);
    } else {
        CHK(reserve(aligner, (x.length + 1) * (y.length + 1), x.length + y.length));
        find_prices(prices, x, aligner->price);
        find_prices(prices, y, aligner->price + x.length);
        fill(aligner, x, y);
        trace(aligner, x, y, out);
    }
    for (int c = 0; c < out->count; c++) {
        okra_alter_ *e = &out->changes[c];
        bool end = e->x1 == x.length && e->y1 == y.length;
        bool start = e->x0 == 0 && e->y0 == 0;
        e->where = end ? OKRA_WHERE_END_ : start ? OKRA_WHERE_START_ : OKRA_WHERE_INNER_;
    }
    return OKRA_OK;
}

/* ---- forms of a change ---- */

/* The letters of the change before and behind it, and what it puts there. */
typedef struct view {
    const int32_t *left, *right, *put; /* left points behind its last letter */
    okra_int lefts, rights, puts;
} view;

/* How many letters are put there that stand beside it on that side. */
static okra_int copied(const view *v, bool left)
{
    okra_int k = OKRA_MIN_(OKRA_MIN_(v->puts, left ? v->lefts : v->rights), OKRA_REACH_);
    while (k > 0 &&
           memcmp(left ? v->put : v->put + v->puts - k, left ? v->left - k : v->right,
                  (size_t)k * sizeof *v->put) != 0) {
        k--;
    }
    return k;
}

/* The first k letters copied from the left, or the last k from the right. */
static bool copy_run(const view *v, okra_int k, bool left, okra_tokens_ *out)
{
    for (okra_int i = 0; i < v->puts; i++) {
        okra_int from = v->puts - k;
        out->item[i] = left && i < k        ? (int32_t)(OKRA_LEFT_ - (k - 1 - i))
                       : !left && i >= from ? (int32_t)(OKRA_RIGHT_ - (i - from))
                                            : v->put[i];
    }
    return k > 0;
}

/* Every letter is one of the six nearest on a side. */
static bool refer(const view *v, bool left, okra_tokens_ *out)
{
    okra_int reach = OKRA_MIN_(6, left ? v->lefts : v->rights);
    for (okra_int i = 0; i < v->puts; i++) {
        okra_int k = 0;
        while (k < reach && (left ? v->left[-1 - k] : v->right[k]) != v->put[i]) {
            k++;
        }
        if (k == reach) {
            return false;
        }
        out->item[i] = (int32_t)((left ? OKRA_LEFT_ : OKRA_RIGHT_) - k);
    }
    return v->puts >= 2;
}

/* The whole of x within what is put there. */
static bool whole(const view *v, okra_word_ x, okra_tokens_ *out)
{
    for (okra_int at = 0; x.length >= 2 && at + x.length <= v->puts; at++) {
        if (memcmp(v->put + at, x.code, (size_t)x.length * sizeof *v->put) == 0) {
            okra_int behind = v->puts - at - x.length;
            memcpy(out->item, v->put, (size_t)at * sizeof *v->put);
            out->item[at] = OKRA_WHOLE_;
            memcpy(out->item + at + 1, v->put + at + x.length,
                   (size_t)behind * sizeof *v->put);
            out->count = at + 1 + behind;
            return true;
        }
    }
    return false;
}

bool okra_change_form_(okra_word_ x, okra_word_ y, const okra_alter_ *change, int form,
                       okra_tokens_ *out)
{
    view v = {x.code + change->x0, x.code + change->x1,   y.code + change->y0,
              change->x0,          x.length - change->x1, change->y1 - change->y0};
    if (v.puts > OKRA_TOKENS_MOST_ || (v.puts == 0 && form > 0)) {
        return false;
    }
    out->count = v.puts;
    switch (form) {
    case 0:
        OKRA_COPY_(out->item, v.put, v.puts);
        return true;
    case 1: /* the letter before is doubled */
        return v.lefts > 0 && v.put[0] == v.left[-1] && copy_run(&v, 1, true, out);
    case 2: /* the letter behind is doubled */
        return v.rights > 0 && v.put[v.puts - 1] == v.right[0] &&
               copy_run(&v, 1, false, out);
    case 3: /* two letters or more are repeated */
        return copied(&v, true) > 1 && copy_run(&v, copied(&v, true), true, out);
    case 4:
        return copied(&v, false) > 1 && copy_run(&v, copied(&v, false), false, out);
    case 5: /* letters near by, in any order */
        return refer(&v, change->where == OKRA_WHERE_END_, out);
    default:
        return whole(&v, x, out);
    }
}

uint64_t okra_change_hash_(okra_word_ x, okra_word_ y, const okra_alter_ *change,
                           int form)
{
    okra_tokens_ tokens;
    uint64_t hash = okra_hash_(1, (uint64_t)change->where);
    hash = okra_hash_(hash, (uint64_t)(change->x1 - change->x0));
    for (okra_int i = change->x0; i < change->x1; i++) {
        hash = okra_hash_(hash, (uint64_t)x.code[i]);
    }
    if (okra_change_form_(x, y, change, form, &tokens)) {
        for (okra_int i = 0; i < tokens.count; i++) {
            hash = okra_hash_(hash, (uint64_t)(int64_t)tokens.item[i]);
        }
        return okra_hash_(hash, (uint64_t)tokens.count);
    }
    for (okra_int j = change->y0; j < change->y1; j++) {
        hash = okra_hash_(hash, (uint64_t)y.code[j]);
    }
    return okra_hash_(hash, (uint64_t)(change->y1 - change->y0));
}

/* ---- rules applied to another string ---- */

enum { PLACES = 24, NEAR = 4 };

OKRA_SHARED_CLEARS_(okra_maker_clear_, okra_maker_, it->code)

static okra_status put(okra_maker_ *m, const int32_t *code, okra_int count)
{
    CHK(okra_reserve_(&m->code, m->count + count, &m->room, sizeof *code));
    OKRA_COPY_(m->code + m->count, code, count);
    m->count += count;
    return OKRA_OK;
}

/* What a rule puts in place of letters x0..x1-1 of x; *fits: its references are there. */
static okra_status put_rule(okra_maker_ *m, okra_word_ x, okra_int x0, okra_int x1,
                            const okra_rule_ *rule, bool *fits)
{
    const okra_alter_ *c = &rule->change;
    okra_tokens_ tokens;
    if (!okra_change_form_(rule->x, rule->y, c, rule->form, &tokens)) {
        return put(m, rule->y.code + c->y0, c->y1 - c->y0);
    }
    for (okra_int i = 0; i < tokens.count && *fits; i++) {
        int32_t t = tokens.item[i];
        okra_int left = x0 - 1 - (OKRA_LEFT_ - t), right = x1 + (OKRA_RIGHT_ - t);
        if (t >= 0) {
            CHK(put(m, &t, 1));
        } else if (t == OKRA_WHOLE_) {
            CHK(put(m, x.code, x.length));
        } else if (t > OKRA_RIGHT_) {
            *fits = left >= 0;
            CHK(put(m, x.code + left, *fits ? 1 : 0));
        } else {
            *fits = right < x.length;
            CHK(put(m, x.code + right, *fits ? 1 : 0));
        }
    }
    return OKRA_OK;
}

typedef struct job {
    okra_maker_ *maker;
    okra_word_ x;
    const okra_rule_ *rules;
    int count, first, last; /* inner rules are first..last-1 */
    okra_int begin, end;    /* letters that are left to inner rules */
    okra_int at[OKRA_CHANGES_MOST_];
    int made; /* strings so far */
    bool enough;
    const okra_made_ *give;
} job;

static okra_int taken(const okra_rule_ *rule)
{
    return rule->change.x1 - rule->change.x0;
}

static okra_status make(job *j)
{
    bool fits = true;
    okra_int done = 0;
    j->maker->count = 0;
    for (int k = 0; k < j->count && fits; k++) {
        okra_int x0 = j->at[k], x1 = x0 + taken(&j->rules[k]);
        CHK(put(j->maker, j->x.code + done, x0 - done));
        CHK(put_rule(j->maker, j->x, x0, x1, &j->rules[k], &fits));
        done = x1;
    }
    if (fits) {
        CHK(put(j->maker, j->x.code + done, j->x.length - done));
        j->made++;
        CHK(j->give->take(j->give->user, (okra_word_){j->maker->code, j->maker->count},
                          &j->enough));
    }
    return OKRA_OK;
}

/* Do the letters of a rule stand there? */
static bool stands(okra_word_ x, okra_int at, const okra_rule_ *rule)
{
    okra_int count = taken(rule);
    return at >= 0 && at + count <= x.length &&
           (count == 0 || memcmp(x.code + at, rule->x.code + rule->change.x0,
                                 (size_t)count * sizeof *x.code) == 0);
}

/* Does the rule fit at letter p? */
static bool fits_at(const job *j, const okra_rule_ *rule, okra_int p)
{
    okra_int behind = j->x.length - p;
    if (taken(rule) > 0) {
        return stands(j->x, p, rule);
    }
    return p <= NEAR || behind <= NEAR || p == rule->change.x0 ||
           behind == rule->x.length - rule->change.x0;
}

static okra_status place(job *j, int k, okra_int from)
{
    if (k == j->last) {
        return make(j);
    }
    const okra_rule_ *rule = &j->rules[k];
    for (okra_int p = from; p + taken(rule) < j->end; p++) {
        if (j->enough || j->made >= PLACES) {
            break;
        }
        if (fits_at(j, rule, p)) {
            j->at[k] = p;
            CHK(place(j, k + 1, p + taken(rule) + 1));
        }
    }
    return OKRA_OK;
}

okra_status okra_rules_apply_(okra_maker_ *maker, okra_word_ x, const okra_rule_ *rules,
                              int count, const okra_made_ *made)
{
    job j = {.maker = maker, .x = x, .rules = rules, .count = count, .give = made};
    j.last = count;
    j.end = x.length;
    if (count > 0 && rules[0].change.where == OKRA_WHERE_START_) {
        if (!stands(x, 0, &rules[0])) {
            return OKRA_OK;
        }
        j.first = 1;
        j.begin = taken(&rules[0]);
    }
    if (count > j.first && rules[count - 1].change.where == OKRA_WHERE_END_) {
        j.last = count - 1;
        j.end = x.length - taken(&rules[count - 1]);
        j.at[j.last] = j.end;
        if (j.end < j.begin || !stands(x, j.end, &rules[count - 1])) {
            return OKRA_OK;
        }
    }
    return place(&j, j.first, j.begin + 1);
}
