/*
 * apply.c: rules of training pairs, made to another string.
 *
 * A rule at the start or end needs its letters there. An inner rule fits wherever its
 * letters stand with a letter before and one behind, the rules in their order; one that
 * only inserts is tried near both ends of the word, and where it was in its own pair. At
 * most PLACES strings come of one set of rules.
 */
#include "decode/rewriting/edits.h"

#include <string.h>

enum { PLACES = 24, NEAR = 4 };

OKRA_SHARED_CLEARS_(okra_maker_clear_, okra_maker_, it->code)

static okra_status put(okra_maker_ *m, const int32_t *code, okra_int count)
{
    okra_status st = OKRA_OK;
    if (m->count + count > m->room) {
        okra_int room = 2 * (m->count + count) + 64;
        RESIZE(m->code, room);
        m->room = room;
    }
    if (count > 0) {
        memcpy(m->code + m->count, code, (size_t)count * sizeof *code);
    }
    m->count += count;
    return st;
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

/* Does the rule fit at letter p? */
static bool fits_at(const job *j, const okra_rule_ *rule, okra_int p)
{
    okra_int count = taken(rule), behind = j->x.length - p;
    if (count > 0) {
        return memcmp(j->x.code + p, rule->x.code + rule->change.x0,
                      (size_t)count * sizeof *j->x.code) == 0;
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

/* Do the letters of a rule stand at x_at..? */
static bool stands(okra_word_ x, okra_int at, const okra_rule_ *rule)
{
    okra_int count = taken(rule);
    return at >= 0 && at + count <= x.length &&
           (count == 0 || memcmp(x.code + at, rule->x.code + rule->change.x0,
                                 (size_t)count * sizeof *x.code) == 0);
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
