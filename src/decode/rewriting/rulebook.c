/*
 * rulebook.c: the edits of all training pairs.
 *
 * A change goes by that of its forms (edits.h) which most changes of the training pairs
 * share: okra_counted_ once over all forms, then over the forms chosen. An edit has one
 * feature an aspect (edits.h), the hash of what the aspect says, so that the kernel of
 * edits l(e, e') = sum_a share_a [aspect a of e is that of e'],   sum_a share_a = 1 has
 * l(e, e) = 1 and is positive semidefinite. The votes of a prediction for a feature are
 * sum_i w_i [pair i has it], from which <h, psi(e)> = sum_a share_a votes_a(e).
 *
 * For an input the edits that have most votes are applied whole, in order; then the
 * changes at the start, within and at the end that have most votes each, put together
 * anew, so that edits which no training pair has can come of it; then the input as it is.
 * Equal votes go to what more pairs have, then to the earlier pair.
 *
 * Cost: an alignment and a few hashes a training pair; OKRA_ASPECTS_ n a prediction.
 */
#include "decode/rewriting/edits.h"

#include "kernel/gram/trained_kernel.h"

enum { STARTS = 3, INNERS = 3, ENDS = 4, BEST_MOST = 1024 };
static const double share[OKRA_ASPECTS_] = {0.5, 0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.05};

void okra_rulebook_free_(okra_rulebook_ *book)
{
    if (book) {
        okra_prices_clear_(&book->prices);
        FREE(book->scripts, book->forms, book->changes, book->features, book->of);
        for (int a = 0; a < OKRA_ASPECTS_; a++) {
            okra_free_(book->by[a]);
        }
        okra_free_(book);
    }
}

/* ---- counting hashes ---- */

OKRA_ORDER_(by_hash, okra_counted_, OKRA_UP_(hash), OKRA_UP_(place))

/* Sorts; equal hashes become one with their number and the lowest place. */
static okra_int merge(okra_counted_ *items, okra_int count)
{
    okra_int kept = 0;
    OKRA_SORT_(items, count, by_hash);
    for (okra_int k = 0; k < count; k++) {
        if (kept > 0 && items[kept - 1].hash == items[k].hash) {
            items[kept - 1].count += items[k].count;
        } else {
            items[kept++] = items[k];
        }
    }
    return kept;
}

OKRA_ORDER_(hash_alone, okra_counted_, OKRA_UP_(hash))

static okra_counted_ *find(okra_counted_ *items, okra_int count, uint64_t hash)
{
    const okra_counted_ key = {.hash = hash};
    return bsearch(&key, items, (size_t)count, sizeof *items, hash_alone);
}

/* ---- forms ---- */

/* The form of a change that most have, and its hash. */
static int choose_form(const okra_rulebook_ *book, okra_word_ x, okra_word_ y,
                       const okra_alter_ *change, uint64_t *hash)
{
    okra_tokens_ tokens;
    int best = 0;
    okra_int most = -1;
    for (int f = 0; f < OKRA_FORMS_; f++) {
        if (f > 0 && !okra_change_form_(x, y, change, f, &tokens)) {
            continue;
        }
        uint64_t h = okra_change_hash_(x, y, change, f);
        const okra_counted_ *known = find(book->changes, book->change_count, h);
        okra_int count = known ? known->count : 0;
        if (count > most) {
            most = count;
            best = f;
            *hash = h;
        }
    }
    return best;
}

/* All forms of the changes of scripts, `per` a pair. */
static okra_status count_changes(okra_rulebook_ *b, const okra_script_ *scripts,
                                 okra_int per)
{
    okra_tokens_ tokens;
    okra_int changes = 0;
    for (okra_int k = 0; k < per * b->n; k++) {
        changes += scripts[k].count;
    }
    okra_free_(b->changes);
    b->changes = NULL;
    b->change_count = 0;
    MAKE(b->changes, changes * OKRA_FORMS_);
    for (okra_int k = 0; k < per * b->n; k++) {
        okra_int i = k / per;
        okra_word_ x = okra_word_of_(b->x, i), y = okra_word_of_(b->y, i);
        for (int c = 0; c < scripts[k].count; c++) {
            const okra_alter_ *change = &scripts[k].changes[c];
            for (int f = 0; f < OKRA_FORMS_; f++) {
                if (f == 0 || okra_change_form_(x, y, change, f, &tokens)) {
                    b->changes[b->change_count++] =
                        (okra_counted_){okra_change_hash_(x, y, change, f), 1, i};
                }
            }
        }
    }
    b->change_count = merge(b->changes, b->change_count);
    return OKRA_OK;
}

/* How many changes of all pairs are like the rarest of a script. */
static okra_int shared_by(const okra_rulebook_ *b, okra_word_ x, okra_word_ y,
                          const okra_script_ *s)
{
    okra_int least = INT64_MAX;
    uint64_t hash = 0;
    for (int c = 0; c < s->count; c++) {
        choose_form(b, x, y, &s->changes[c], &hash);
        const okra_counted_ *known = find(b->changes, b->change_count, hash);
        least = OKRA_MIN_(least, known ? known->count : 0);
    }
    return least;
}

/* Of the two alignments of a pair, by letters and by their information, the second where
 * its rarest change is shared by more. */
static okra_status align_all(okra_rulebook_ *b)
{
    FREED_BY(okra_aligner_clear_) okra_aligner_ aligner = {0};
    OWNED okra_script_ *both = NULL;
    MAKE(both, 2 * b->n);
    CHK(okra_prices_open_(b->x, b->y, &b->prices));
    for (okra_int k = 0; k < 2 * b->n; k++) {
        CHK(okra_align_(&aligner, k % 2 ? &b->prices : NULL, okra_word_of_(b->x, k / 2),
                        okra_word_of_(b->y, k / 2), &both[k]));
    }
    CHK(count_changes(b, both, 2));
    for (okra_int i = 0; i < b->n; i++) {
        okra_word_ x = okra_word_of_(b->x, i), y = okra_word_of_(b->y, i);
        okra_int first = shared_by(b, x, y, &both[2 * i]);
        okra_int second = shared_by(b, x, y, &both[2 * i + 1]);
        b->scripts[i] = both[2 * i + (second > first)];
    }
    return count_changes(b, b->scripts, 1);
}

/* The counts of the forms that are chosen take the place of those of all forms. */
static okra_status choose_forms(okra_rulebook_ *b)
{
    OWNED okra_int *chosen = NULL;
    uint64_t hash = 0;
    ZMAKE(chosen, b->change_count);
    for (int round = 0; round < 2; round++) {
        for (okra_int i = 0; i < b->n; i++) {
            okra_word_ x = okra_word_of_(b->x, i), y = okra_word_of_(b->y, i);
            for (int c = 0; c < b->scripts[i].count; c++) {
                int form = choose_form(b, x, y, &b->scripts[i].changes[c], &hash);
                b->forms[i][c] = (uint8_t)form;
                chosen[find(b->changes, b->change_count, hash) - b->changes] += 1;
            }
        }
        for (okra_int k = 0; k < b->change_count && round == 0; k++) {
            b->changes[k].count = chosen[k];
        }
    }
    return OKRA_OK;
}

/* ---- features ---- */

/* The changes of one kind as a hash, with something about each. */
static uint64_t aspect_hash(okra_word_ x, const okra_script_ *s, const uint64_t *names,
                            int aspect)
{
    static const int kind[OKRA_ASPECTS_] = {
        -1,
        OKRA_WHERE_START_,
        OKRA_WHERE_INNER_,
        OKRA_WHERE_END_,
        OKRA_WHERE_INNER_,
        OKRA_WHERE_INNER_,
        OKRA_WHERE_INNER_,
        OKRA_WHERE_INNER_,
    };
    uint64_t hash = okra_hash_(7, (uint64_t)aspect);
    for (int c = 0; c < s->count; c++) {
        const okra_alter_ *e = &s->changes[c];
        uint64_t about = 0;
        if (kind[aspect] >= 0 && (int)e->where != kind[aspect]) {
            continue;
        }
        switch (aspect) {
        case OKRA_ASPECT_BEFORE_:
            about = (uint64_t)x.code[e->x0 - 1];
            break;
        case OKRA_ASPECT_BEHIND_:
            about = (uint64_t)x.code[e->x1];
            break;
        case OKRA_ASPECT_FROM_START_:
            about = (uint64_t)e->x0;
            break;
        case OKRA_ASPECT_FROM_END_:
            about = (uint64_t)(x.length - e->x1);
            break;
        default:
            break;
        }
        hash = okra_hash_(okra_hash_(hash, names[c]), about);
    }
    return hash;
}

/* The features of x -> y, whose script is given. */
static void features_of(const okra_rulebook_ *b, okra_word_ x, okra_word_ y,
                        const okra_script_ *s, uint64_t out[OKRA_ASPECTS_])
{
    uint64_t names[OKRA_CHANGES_MOST_];
    for (int c = 0; c < s->count; c++) {
        choose_form(b, x, y, &s->changes[c], &names[c]);
    }
    for (int a = 0; a < OKRA_ASPECTS_; a++) {
        out[a] = aspect_hash(x, s, names, a);
    }
}

static okra_status make_features(okra_rulebook_ *b)
{
    uint64_t names[OKRA_ASPECTS_];
    MAKE(b->features, b->n * OKRA_ASPECTS_);
    for (okra_int i = 0; i < b->n; i++) {
        features_of(b, okra_word_of_(b->x, i), okra_word_of_(b->y, i), &b->scripts[i],
                    names);
        for (int a = 0; a < OKRA_ASPECTS_; a++) {
            b->features[b->feature_count++] = (okra_counted_){names[a], 1, i};
        }
    }
    b->feature_count = merge(b->features, b->feature_count);
    for (int a = 0; a < OKRA_ASPECTS_; a++) {
        MAKE(b->by[a], b->n);
    }
    for (okra_int i = 0; i < b->n; i++) {
        features_of(b, okra_word_of_(b->x, i), okra_word_of_(b->y, i), &b->scripts[i],
                    names);
        for (int a = 0; a < OKRA_ASPECTS_; a++) {
            const okra_counted_ *known = find(b->features, b->feature_count, names[a]);
            b->of[i][a] = (int32_t)(known - b->features);
            if (known->place == i) {
                b->by[a][b->by_count[a]++] = b->of[i][a];
            }
        }
    }
    return OKRA_OK;
}

okra_status okra_rulebook_create_(const okra_data *x, const okra_data *y,
                                  okra_rulebook_ **out)
{
    FREED_BY(okra_rulebook_drop_) okra_rulebook_ *b = NULL;
    ZMAKE(b, 1);
    b->x = x;
    b->y = y;
    b->n = y->n;
    REFUSE_IF(b->n > INT32_MAX / OKRA_ASPECTS_, OKRA_EUNSUPPORTED,
              "decoder rewrite: %lld training pairs are too many", (long long)b->n);
    MAKE(b->scripts, b->n);
    ZMAKE(b->forms, b->n);
    MAKE(b->of, b->n);
    CHK(align_all(b));
    CHK(choose_forms(b));
    CHK(make_features(b));
    *out = TAKE(b);
    return OKRA_OK;
}

/* ---- votes ---- */

okra_status okra_votes_create_(const okra_rulebook_ *book, okra_votes_ *out)
{
    okra_votes_ v = {0};
    MAKE(v.of, book->feature_count);
    *out = v;
    return OKRA_OK;
}

void okra_votes_clear_(okra_votes_ *votes)
{
    okra_free_(votes->of);
    okra_aligner_clear_(&votes->aligner);
    okra_maker_clear_(&votes->maker);
    *votes = (okra_votes_){0};
}

void okra_votes_count_(const okra_rulebook_ *book, const double *w, okra_votes_ *votes)
{
    memset(votes->of, 0, (size_t)book->feature_count * sizeof *votes->of);
    for (okra_int i = 0; i < book->n; i++) {
        if (w[i] != 0) {
            for (int a = 0; a < OKRA_ASPECTS_; a++) {
                votes->of[book->of[i][a]] += w[i];
            }
        }
    }
    votes->norm = 0;
    for (int a = 0; a < OKRA_ASPECTS_; a++) {
        double square = 0;
        for (okra_int k = 0; k < book->by_count[a]; k++) {
            double v = votes->of[book->by[a][k]];
            square += v * v;
        }
        votes->norm += share[a] * square;
    }
}

okra_status okra_votes_score_(const okra_rulebook_ *book, okra_votes_ *votes,
                              okra_word_ x, okra_word_ y, double *score)
{
    okra_script_ script;
    uint64_t names[OKRA_ASPECTS_];
    *score = -(double)INFINITY;
    for (int k = 0; k < 2; k++) { /* by the alignment that has more votes */
        double sum = 0;
        CHK(okra_align_(&votes->aligner, k ? &book->prices : NULL, x, y, &script));
        features_of(book, x, y, &script, names);
        for (int a = 0; a < OKRA_ASPECTS_; a++) {
            const okra_counted_ *known =
                find(book->features, book->feature_count, names[a]);
            sum += known ? share[a] * votes->of[known - book->features] : 0;
        }
        *score = fmax(*score, sum);
    }
    return OKRA_OK;
}

/* ---- proposals ---- */

/* The `most` features of an aspect that have most votes, as the pairs that have them
 * first (id); how many. */
static okra_int best_features(const okra_rulebook_ *b, const okra_votes_ *v, int aspect,
                              okra_int most, okra_rank_ *best)
{
    okra_int count = 0;
    for (okra_int k = 0; k < b->by_count[aspect]; k++) {
        int32_t f = b->by[aspect][k];
        okra_rank_ rank = {{-v->of[f], -(double)b->features[f].count},
                           b->features[f].place};
        (void)okra_best_put_(best, sizeof *best, &count, most, rank);
    }
    return count;
}

typedef struct job {
    const okra_rulebook_ *book;
    okra_votes_ *votes;
    okra_word_ x;
    okra_shortlist_ *list;
} job;

static okra_status take(void *user, okra_word_ y, bool *enough)
{
    const job *j = user;
    double score = 0;
    *enough = j->list->count == j->list->most;
    if (*enough || okra_shortlist_has_(j->list, y.code, y.length)) {
        return OKRA_OK;
    }
    CHK(okra_votes_score_(j->book, j->votes, j->x, y, &score));
    CHK(okra_shortlist_put_(j->list, y.code, y.length, (okra_key_){-2 * score, 0}, 0));
    *enough = j->list->count == j->list->most;
    return OKRA_OK;
}

/* Adds the changes of pair i that are of one kind (-1: all). */
static int collect(const okra_rulebook_ *b, okra_int i, int kind, okra_rule_ *rules,
                   int count)
{
    const okra_script_ *s = &b->scripts[i];
    for (int c = 0; c < s->count && count < OKRA_CHANGES_MOST_; c++) {
        if (kind < 0 || (int)s->changes[c].where == kind) {
            rules[count++] = (okra_rule_){okra_word_of_(b->x, i), okra_word_of_(b->y, i),
                                          s->changes[c], b->forms[i][c]};
        }
    }
    return count;
}

static okra_status apply_whole(job *j, okra_int most, const okra_made_ *made)
{
    okra_rank_ best[BEST_MOST];
    okra_rule_ rules[OKRA_CHANGES_MOST_];
    okra_int count = best_features(j->book, j->votes, OKRA_ASPECT_WHOLE_,
                                   OKRA_MIN_(most, BEST_MOST), best);
    for (okra_int k = 0; k < count && j->list->count < j->list->most; k++) {
        int used = collect(j->book, best[k].id, -1, rules, 0);
        CHK(okra_rules_apply_(&j->votes->maker, j->x, rules, used, made));
    }
    return OKRA_OK;
}

static okra_status apply_parts(job *j, const okra_made_ *made)
{
    const okra_rulebook_ *b = j->book;
    okra_rank_ starts[STARTS], inners[INNERS], ends[ENDS];
    okra_rule_ rules[OKRA_CHANGES_MOST_];
    okra_int n1 = best_features(b, j->votes, OKRA_ASPECT_START_, STARTS, starts);
    okra_int n2 = best_features(b, j->votes, OKRA_ASPECT_INNER_, INNERS, inners);
    okra_int n3 = best_features(b, j->votes, OKRA_ASPECT_END_, ENDS, ends);
    for (okra_int k = 0; k < n1 * n2 * n3 && j->list->count < j->list->most; k++) {
        int used = collect(b, starts[k / n3 / n2].id, OKRA_WHERE_START_, rules, 0);
        used = collect(b, inners[k / n3 % n2].id, OKRA_WHERE_INNER_, rules, used);
        used = collect(b, ends[k % n3].id, OKRA_WHERE_END_, rules, used);
        CHK(okra_rules_apply_(&j->votes->maker, j->x, rules, used, made));
    }
    return OKRA_OK;
}

okra_status okra_rulebook_propose_(const okra_rulebook_ *book, okra_votes_ *votes,
                                   okra_word_ x, okra_int rules, okra_shortlist_ *list)
{
    job j = {book, votes, x, list};
    okra_made_ made = {&j, take};
    bool enough = false;
    okra_shortlist_empty_(list);
    list->most--; /* a place for the input */
    okra_status st = apply_whole(&j, rules, &made);
    st = st == OKRA_OK ? apply_parts(&j, &made) : st;
    list->most++;
    CHK(st);
    return take(&j, x, &enough);
}

bool okra_edits_within_(const okra_data *x, const okra_data *y)
{
    enum { LOOKED_AT = 200 };
    FREED_BY(okra_aligner_clear_) okra_aligner_ aligner = {0};
    okra_int count = OKRA_MIN_(LOOKED_AT, y->n), changed = 0, within = 0;
    for (okra_int s = 0; s < count; s++) {
        okra_int i = s * y->n / count;
        okra_script_ script;
        okra_word_ word = okra_word_of_(x, i);
        if (okra_align_(&aligner, NULL, word, okra_word_of_(y, i), &script) != OKRA_OK) {
            return false;
        }
        bool inner = script.count > 1;
        for (int k = 0; k < script.count; k++) {
            const okra_alter_ *c = &script.changes[k];
            inner = inner || c->where == OKRA_WHERE_INNER_ ||
                    (c->x0 == 0 && c->x1 == word.length); /* nothing is kept */
        }
        changed += script.count > 0;
        within += inner;
    }
    return 2 * within > changed;
}
