/*
 * proposals.c: the strings that the edits of a rulebook make of an input.
 *
 * The edits that have most votes are applied whole, in order; then the changes at the
 * start, within and at the end that have most votes each, put together anew, so that
 * edits which no training pair has can come of it; then the input as it is. Equal votes
 * go to what more pairs have, then to the earlier pair.
 */
#include "decode/rewriting/rulebook_inside.h"

#include <string.h>

enum { STARTS = 3, INNERS = 3, ENDS = 4, BEST_MOST = 1024 };

okra_status okra_proposals_create_(okra_int most, okra_proposals_ *out)
{
    FREED_BY(okra_proposals_clear_) okra_proposals_ list = {.most = most};
    ZMAKE(list.offsets, most + 1);
    MAKE(list.score, most);
    MAKE(list.order, most);
    *out = list;
    list = (okra_proposals_){0};
    return OKRA_OK;
}

OKRA_SHARED_CLEARS_(okra_proposals_clear_, okra_proposals_, it->codes, it->offsets,
                    it->score, it->order)

static okra_word_ word_at(const okra_proposals_ *list, okra_int k)
{
    return (okra_word_){list->codes + list->offsets[k],
                        list->offsets[k + 1] - list->offsets[k]};
}

okra_word_ okra_proposals_get_(const okra_proposals_ *list, okra_int rank)
{
    return word_at(list, list->order[rank]);
}

static bool same(okra_word_ a, okra_word_ b)
{
    return a.length == b.length &&
           (a.length == 0 ||
            memcmp(a.code, b.code, (size_t)a.length * sizeof *a.code) == 0);
}

/* ---- the features that have most votes ---- */

static bool before(const okra_rulebook_ *b, const okra_votes_ *v, int32_t f, int32_t g)
{
    if (v->of[f] != v->of[g]) {
        return v->of[f] > v->of[g];
    }
    const okra_counted_ *x = &b->features[f], *y = &b->features[g];
    return x->count != y->count ? x->count > y->count : x->place < y->place;
}

/* The `most` best features of an aspect; returns how many there are. */
static okra_int best_features(const okra_rulebook_ *b, const okra_votes_ *v, int aspect,
                              okra_int most, int32_t *best)
{
    okra_int count = 0;
    for (okra_int k = 0; k < b->by_count[aspect]; k++) {
        int32_t f = b->by[aspect][k];
        if (count == most && !before(b, v, f, best[most - 1])) {
            continue;
        }
        okra_int at = OKRA_MIN_(count, most - 1);
        for (; at > 0 && before(b, v, f, best[at - 1]); at--) {
            best[at] = best[at - 1];
        }
        best[at] = f;
        count = OKRA_MIN_(count + 1, most);
    }
    return count;
}

/* ---- applying them ---- */

typedef struct job {
    const okra_rulebook_ *book;
    okra_votes_ *votes;
    okra_word_ x;
    okra_proposals_ *list;
} job;

static okra_status take(void *user, okra_word_ y, bool *enough)
{
    job *j = user;
    okra_proposals_ *list = j->list;
    okra_int k = list->count, end = list->offsets[k];
    for (okra_int i = 0; i < k; i++) {
        if (same(word_at(list, i), y)) {
            return OKRA_OK;
        }
    }
    if (k == list->most) {
        *enough = true;
        return OKRA_OK;
    }
    if (end + y.length > list->codes_room) {
        okra_int room = 2 * (end + y.length) + 64;
        RESIZE(list->codes, room);
        list->codes_room = room;
    }
    CHK(okra_votes_score_(j->book, j->votes, j->x, y, &list->score[k]));
    if (y.length > 0) {
        memcpy(list->codes + end, y.code, (size_t)y.length * sizeof *y.code);
    }
    list->offsets[k + 1] = end + y.length;
    list->count++;
    *enough = list->count == list->most;
    return OKRA_OK;
}

/* Adds the changes of pair i that are of one kind (-1: all). */
static int collect(const okra_rulebook_ *b, okra_int i, int kind, okra_rule_ *rules,
                   int count)
{
    const okra_script_ *s = &b->scripts[i];
    for (int c = 0; c < s->count && count < OKRA_CHANGES_MOST_; c++) {
        if (kind < 0 || (int)s->changes[c].where == kind) {
            rules[count++] =
                (okra_rule_){okra_rulebook_word_(b->x, i), okra_rulebook_word_(b->y, i),
                             s->changes[c], b->forms[i][c]};
        }
    }
    return count;
}

static okra_status apply_whole(job *j, okra_int most, const okra_made_ *made)
{
    int32_t best[BEST_MOST];
    okra_rule_ rules[OKRA_CHANGES_MOST_];
    okra_int count = best_features(j->book, j->votes, OKRA_ASPECT_WHOLE_,
                                   OKRA_MIN_(most, BEST_MOST), best);
    for (okra_int k = 0; k < count && j->list->count < j->list->most; k++) {
        int used = collect(j->book, j->book->features[best[k]].place, -1, rules, 0);
        CHK(okra_rules_apply_(&j->votes->maker, j->x, rules, used, made));
    }
    return OKRA_OK;
}

static okra_status apply_parts(job *j, const okra_made_ *made)
{
    const okra_rulebook_ *b = j->book;
    int32_t starts[STARTS], inners[INNERS], ends[ENDS];
    okra_rule_ rules[OKRA_CHANGES_MOST_];
    okra_int n1 = best_features(b, j->votes, OKRA_ASPECT_START_, STARTS, starts);
    okra_int n2 = best_features(b, j->votes, OKRA_ASPECT_INNER_, INNERS, inners);
    okra_int n3 = best_features(b, j->votes, OKRA_ASPECT_END_, ENDS, ends);
    for (okra_int k = 0; k < n1 * n2 * n3 && j->list->count < j->list->most; k++) {
        okra_int s = b->features[starts[k / n3 / n2]].place;
        okra_int i = b->features[inners[k / n3 % n2]].place;
        okra_int e = b->features[ends[k % n3]].place;
        int used = collect(b, s, OKRA_WHERE_START_, rules, 0);
        used = collect(b, i, OKRA_WHERE_INNER_, rules, used);
        used = collect(b, e, OKRA_WHERE_END_, rules, used);
        CHK(okra_rules_apply_(&j->votes->maker, j->x, rules, used, made));
    }
    return OKRA_OK;
}

static void sort(okra_proposals_ *list)
{
    for (okra_int k = 0; k < list->count; k++) {
        okra_int at = k;
        for (; at > 0 && list->score[list->order[at - 1]] < list->score[k]; at--) {
            list->order[at] = list->order[at - 1];
        }
        list->order[at] = k;
    }
}

okra_status okra_rulebook_propose_(const okra_rulebook_ *book, okra_votes_ *votes,
                                   okra_word_ x, okra_int rules, okra_proposals_ *list)
{
    job j = {book, votes, x, list};
    okra_made_ made = {&j, take};
    bool enough = false;
    list->count = 0;
    list->most--; /* a place for the input */
    okra_status st = apply_whole(&j, rules, &made);
    st = st == OKRA_OK ? apply_parts(&j, &made) : st;
    list->most++;
    CHK(st);
    CHK(take(&j, x, &enough));
    sort(list);
    return OKRA_OK;
}
