/*
 * counts_search.c: the searches of counts.c, for one row of weights.
 */
#include "decode/sets/counts_inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct label {
    double score;
    int32_t j;
} label;

/* One of the best sets. */
typedef struct kept {
    double J;
    bool *in; /* d */
    bool expanded;
} kept;

/* A set that changes, and room for what its changes are worth. */
struct okra_counts_work_ {
    const okra_counts_ *s;
    double *u;      /* groups: weights of equal outputs, added up */
    int32_t *c;     /* groups: |y & y_g| */
    bool *in;       /* d */
    okra_int b;     /* |y| */
    double *change; /* d: of the sum, by label */
    double *sums;   /* sizes x (d + 1), where f is linear */
    label *sorted;  /* d */
    kept *best;     /* wanted: the best so far, the very best first */
    okra_int count, wanted;
};

void okra_counts_work_free_(okra_counts_work_ *x)
{
    if (x) {
        FREE(x->u, x->c, x->in, x->change, x->sums, x->sorted);
        for (okra_int k = 0; x->best && k < x->wanted; k++) {
            okra_free_(x->best[k].in);
        }
        FREE(x->best, x);
    }
}

okra_status okra_counts_work_create_(const okra_counts_ *s, okra_int wanted,
                                     okra_counts_work_ **out)
{
    okra_status st = OKRA_OK;
    okra_counts_work_ *x = NULL;
    ZALLOC(x, 1);
    x->s = s;
    x->wanted = wanted;
    ALLOC(x->u, s->groups);
    ALLOC(x->c, s->groups);
    ALLOC(x->in, s->d);
    ALLOC(x->change, s->d);
    ZALLOC(x->best, wanted);
    for (okra_int k = 0; k < wanted; k++) {
        ALLOC(x->best[k].in, s->d);
    }
    if (s->linear) {
        ALLOC(x->sums, s->sizes * (s->d + 1));
        ZALLOC(x->sorted, s->d);
    }
    *out = TAKE(x);
done:
    okra_counts_work_free_(x);
    return st;
}

static bool allowed(const okra_counts_ *s, okra_int b)
{
    return b >= 0 && b <= s->most && (s->empty || s->self[b] > 0);
}

/* sum_g u_g f(min(c_g, b), a_g, b): the cut matters for sets of more than b. */
static double total(const okra_counts_work_ *x, okra_int b)
{
    const okra_counts_ *s = x->s;
    double sum = 0;
    for (okra_int g = 0; g < s->groups; g++) {
        sum += x->u[g] * okra_counts_row_(s, s->which[g], b)[OKRA_MIN_(x->c[g], b)];
    }
    return sum;
}

static double value(const okra_counts_work_ *x)
{
    return allowed(x->s, x->b) ? x->s->excess[x->b] - 2 * total(x, x->b)
                               : (double)INFINITY;
}

static void flip(okra_counts_work_ *x, okra_int j)
{
    const okra_counts_ *s = x->s;
    int32_t step = x->in[j] ? -1 : 1;
    for (okra_int k = s->holders_at[j]; k < s->holders_at[j + 1]; k++) {
        x->c[s->holders[k]] += step;
    }
    x->in[j] = !x->in[j];
    x->b += step;
}

static void start(okra_counts_work_ *x, okra_int group)
{
    const okra_counts_ *s = x->s;
    memset(x->in, 0, (size_t)s->d * sizeof *x->in);
    memset(x->c, 0, (size_t)s->groups * sizeof *x->c);
    x->b = 0;
    for (okra_int k = group < 0 ? 0 : s->offsets[group];
         k < (group < 0 ? 0 : s->offsets[group + 1]); k++) {
        flip(x, s->members[k]);
    }
}

/* What a set must be better than. */
static double worst(const okra_counts_work_ *x)
{
    return x->count < x->wanted ? (double)INFINITY : x->best[x->count - 1].J;
}

/* Notes the set of x if it is among the best; it is there once. */
static void note(okra_counts_work_ *x, double J)
{
    size_t size = (size_t)x->s->d * sizeof *x->in;
    if (!(J < worst(x))) {
        return;
    }
    for (okra_int k = 0; x->wanted > 1 && k < x->count; k++) {
        if (memcmp(x->best[k].in, x->in, size) == 0) {
            return;
        }
    }
    okra_int at = OKRA_MIN_(x->count, x->wanted - 1);
    kept fresh = {J, x->best[at].in, false};
    for (; at > 0 && J < x->best[at - 1].J; at--) {
        x->best[at] = x->best[at - 1];
    }
    memcpy(fresh.in, x->in, size);
    x->best[at] = fresh;
    x->count = OKRA_MIN_(x->count + 1, x->wanted);
}

/* Becomes one of the best. */
static void take(okra_counts_work_ *x, const bool *in)
{
    start(x, -1);
    for (okra_int j = 0; j < x->s->d; j++) {
        if (in[j]) {
            flip(x, j);
        }
    }
}

/* ---- moves ---- */

typedef struct move {
    okra_int in, out; /* labels that come and go, or -1 */
    double J;
} move;

/* A move: the best so far, or where all are wanted (best == NULL) what it makes of x. */
static void consider(okra_counts_work_ *x, okra_int in, okra_int out, double J,
                     move *best)
{
    bool *changed = &x->in[in >= 0 ? in : out];
    if (best && J < best->J) {
        *best = (move){in, out, J};
    } else if (!best && J < worst(x)) {
        *changed = !*changed;
        note(x, J);
        *changed = !*changed;
    }
}

/* What every label is worth that comes (step 1; `but` does not) or goes (step -1). Sums
 * of groups are shared by all labels. */
static void try_changes(okra_counts_work_ *x, int step, okra_int but, move *best)
{
    const okra_counts_ *s = x->s;
    okra_int b = x->b + step;
    double base = 0;
    if (!allowed(s, b)) {
        return;
    }
    memset(x->change, 0, (size_t)s->d * sizeof *x->change);
    for (okra_int g = 0; g < s->groups; g++) {
        const double *f = okra_counts_row_(s, s->which[g], b);
        okra_int c = x->c[g], cut = OKRA_MIN_(c, b);
        base += x->u[g] * f[cut];
        if (step > 0 ? c < s->offsets[g + 1] - s->offsets[g] : c > 0) {
            double gain = x->u[g] * (f[c + step] - f[cut]);
            for (okra_int k = s->offsets[g]; k < s->offsets[g + 1]; k++) {
                x->change[s->members[k]] += gain;
            }
        }
    }
    for (okra_int j = 0; j < s->d; j++) {
        double J = s->excess[b] - 2 * (base + x->change[j]);
        if (x->in[j] == (step < 0) && j != but) {
            consider(x, step > 0 ? j : -1, step > 0 ? but : j, J, best);
        }
    }
}

static void try_exchanges(okra_counts_work_ *x, move *best)
{
    for (okra_int j = 0; j < x->s->d; j++) {
        if (x->in[j]) {
            flip(x, j);
            try_changes(x, 1, j, best);
            flip(x, j);
        }
    }
}

/* Steps that are worth more than rounding, until there is none. */
static void descend(okra_counts_work_ *x)
{
    double J = value(x);
    for (okra_int round = 0; round < x->s->rounds; round++) {
        double least = isfinite(J) ? J - 1e-13 * ((x->s->constant == 0) + fabs(J)) : J;
        move best = {-1, -1, least};
        try_changes(x, 1, -1, &best);
        try_changes(x, -1, -1, &best);
        if (best.in < 0 && best.out < 0) {
            try_exchanges(x, &best);
        }
        if (best.in < 0 && best.out < 0) {
            break;
        }
        if (best.out >= 0) {
            flip(x, best.out);
        }
        if (best.in >= 0) {
            flip(x, best.in);
        }
        J = best.J;
    }
    note(x, value(x));
}

/* From the empty set by the best label each time; the best of the sets on the way is
 * improved. It ends when three labels more have not helped. */
static void grow(okra_counts_work_ *x)
{
    const okra_counts_ *s = x->s;
    double best = (double)INFINITY;
    okra_int at = 0;
    start(x, -1);
    note(x, value(x));
    while (x->b < s->most && x->b <= at + 3) {
        move next = {-1, -1, (double)INFINITY};
        try_changes(x, 1, -1, &next);
        if (next.in < 0) {
            break;
        }
        flip(x, next.in);
        if (next.J < best) {
            best = next.J;
            at = x->b;
            note(x, next.J);
        }
    }
    if (at > 0 && x->count > 0) {
        take(x, x->best[0].in);
        descend(x);
    }
}

/* All moves of every set that is among the best, until none of them brings another: where
 * f is linear the best sets of every size are there, and each other set has a better one
 * an exchange away, so that nothing is missed. */
static void widen(okra_counts_work_ *x)
{
    okra_int k = 0;
    for (okra_int round = 0; k < x->count && round < x->s->rounds * x->wanted; round++) {
        if (!x->best[k].expanded) {
            x->best[k].expanded = true;
            take(x, x->best[k].in);
            try_changes(x, 1, -1, NULL);
            try_changes(x, -1, -1, NULL);
            try_exchanges(x, NULL);
        }
        for (k = 0; k < x->count && x->best[k].expanded;) {
            k++;
        }
    }
}

/* ---- exact ---- */

/* In the order of a Gray code one label changes at a time. */
static void try_every(okra_counts_work_ *x)
{
    start(x, -1);
    note(x, value(x));
    for (unsigned k = 1; k < 1u << x->s->d; k++) {
        flip(x, __builtin_ctz(k));
        note(x, value(x));
    }
}

static int by_score(const void *pa, const void *pb)
{
    const label *a = pa, *b = pb;
    return a->score != b->score ? (a->score > b->score ? -1 : 1) : a->j - b->j;
}

/* f(c, a, b) = f0 + c slope, from two counts that can be. */
static void line(const okra_counts_ *s, okra_int k, okra_int b, double *f0, double *slope)
{
    const double *f = okra_counts_row_(s, k, b);
    okra_int first = OKRA_MAX_(0, s->size[k] + b - s->d);
    *slope = first < OKRA_MIN_(s->size[k], b) ? f[first + 1] - f[first] : 0;
    *f0 = f[first] - (double)first * *slope;
}

/* Scores of labels in sets of b, the largest first; what such a set has besides. */
static double sort_labels(okra_counts_work_ *x, okra_int b)
{
    const okra_counts_ *s = x->s;
    double f0, slope, base = 0;
    for (okra_int j = 0; j < s->d; j++) {
        x->sorted[j] = (label){0, (int32_t)j};
    }
    for (okra_int k = 0; k < s->sizes; k++) {
        const double *sums = x->sums + k * (s->d + 1);
        line(s, k, b, &f0, &slope);
        base += f0 * sums[s->d];
        for (okra_int j = 0; j < s->d; j++) {
            x->sorted[j].score += slope * sums[j];
        }
    }
    qsort(x->sorted, (size_t)s->d, sizeof *x->sorted, by_score);
    return base;
}

/* The best set of every size: its labels have the largest scores. */
static void try_sizes(okra_counts_work_ *x)
{
    const okra_counts_ *s = x->s;
    okra_int wide = s->d + 1; /* weights of all outputs of a size come last */
    memset(x->sums, 0, (size_t)(s->sizes * wide) * sizeof *x->sums);
    for (okra_int g = 0; g < s->groups; g++) {
        double *sums = x->sums + s->which[g] * wide;
        sums[s->d] += x->u[g];
        for (okra_int k = s->offsets[g]; k < s->offsets[g + 1]; k++) {
            sums[s->members[k]] += x->u[g];
        }
    }
    for (okra_int b = 0; b <= s->most; b++) {
        double sum = allowed(s, b) ? sort_labels(x, b) : 0;
        for (okra_int k = 0; k < b; k++) {
            sum += x->sorted[k].score;
        }
        double J = allowed(s, b) ? s->excess[b] - 2 * sum : (double)INFINITY;
        if (J < worst(x)) {
            memset(x->in, 0, (size_t)s->d * sizeof *x->in);
            for (okra_int k = 0; k < b; k++) {
                x->in[x->sorted[k].j] = true;
            }
            note(x, J);
        }
    }
}

/* ---- one row ---- */

/* From the nearest training outputs where nothing is exact. */
static void search(okra_counts_work_ *x, const double *weights, const okra_int *index,
                   okra_int top)
{
    const okra_counts_ *s = x->s;
    okra_int last = -1;
    x->count = 0;
    memset(x->u, 0, (size_t)s->groups * sizeof *x->u);
    for (okra_int i = 0; i < s->n; i++) {
        x->u[s->group[i]] += weights[i];
    }
    if (s->every) {
        try_every(x);
        return;
    }
    (s->linear ? try_sizes : grow)(x);
    for (okra_int t = 0; !s->linear && t < top && index[t] >= 0; t++) {
        okra_int group = s->group[index[t]];
        if (group != last) {
            start(x, group);
            descend(x);
        }
        last = group;
    }
    if (x->wanted > 1) {
        widen(x);
    }
}

okra_status okra_counts_work_search_(okra_counts_work_ *x, const double *weights,
                                     const okra_int *index, okra_int top, double norm,
                                     okra_result_ *found)
{
    OWNED int32_t *members = NULL;
    MAKE(members, x->s->d + 1);
    search(x, weights, index, top);
    REFUSE_IF(x->count == 0, OKRA_ENUMERIC,
              "decoder labels: no set has a finite distance");
    for (okra_int k = 0; k < x->count; k++) {
        okra_int size = 0;
        double J = x->best[k].J + x->s->constant + norm;
        for (okra_int j = 0; j < x->s->d; j++) {
            members[size] = (int32_t)j;
            size += x->best[k].in[j];
        }
        CHK(okra_result_make_(members, size, x->s->loss ? J : fmax(J, 0), &found[k]));
    }
    return OKRA_OK;
}
