/*
 * counts_search.c: the searches of counts.c for rows of weights, each thread some.
 */
#include "decode/sets/counts.h"

typedef struct label {
    double score;
    int32_t j;
} label;

/* A set that changes, room for what its changes are worth, and the best that it has been:
 * what a thread needs. */
typedef struct work {
    const okra_counts_ *s;
    double *u;            /* groups: weights of equal outputs, added up */
    int32_t *c;           /* groups: |y & y_g| */
    bool *in;             /* d */
    okra_int b;           /* |y| */
    double *change;       /* d: of the sum, by label */
    double *sums;         /* sizes x (d + 1), where f is linear */
    label *sorted;        /* d */
    int32_t *members;     /* d + 1 */
    okra_shortlist_ best; /* by J */
} work;

static void work_clear(void *arg)
{
    work *x = arg;
    FREE(x->u, x->c, x->in, x->change, x->sums, x->sorted, x->members);
    okra_shortlist_clear_(&x->best);
}

typedef struct rows {
    const okra_counts_ *s;
    const okra_block_ *block;
    const okra_starts_ *starts; /* NULL: none */
    const double *norm;
    const okra_results_ *results;
} rows;

static okra_status work_open(const void *arg, void *room)
{
    const rows *all = arg;
    const okra_counts_ *s = all->s;
    okra_int wanted = all->results->top;
    work *x = room;
    x->s = s;
    MAKE(x->u, s->groups);
    MAKE(x->c, s->groups);
    MAKE(x->in, s->d);
    MAKE(x->change, s->d);
    MAKE(x->members, s->d + 1);
    CHK(okra_shortlist_open_(wanted, wanted == 1, &x->best));
    if (s->linear) {
        MAKE(x->sums, s->sizes * (s->d + 1));
        ZMAKE(x->sorted, s->d);
    }
    return OKRA_OK;
}

static bool allowed(const okra_counts_ *s, okra_int b)
{
    return b >= 0 && b <= s->most && (s->empty || s->self[b] > 0);
}

/* sum_g u_g f(min(c_g, b), a_g, b): the cut matters for sets of more than b. */
static double total(const work *x, okra_int b)
{
    const okra_counts_ *s = x->s;
    double sum = 0;
    for (okra_int g = 0; g < s->groups; g++) {
        sum += x->u[g] * okra_counts_row_(s, s->which[g], b)[OKRA_MIN_(x->c[g], b)];
    }
    return sum;
}

static double value(const work *x)
{
    return allowed(x->s, x->b) ? x->s->excess[x->b] - 2 * total(x, x->b)
                               : (double)INFINITY;
}

static void flip(work *x, okra_int j)
{
    const okra_counts_ *s = x->s;
    int32_t step = x->in[j] ? -1 : 1;
    for (okra_int k = s->holders_at[j]; k < s->holders_at[j + 1]; k++) {
        x->c[s->holders[k]] += step;
    }
    x->in[j] = !x->in[j];
    x->b += step;
}

static void start(work *x, okra_int group)
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

/* Notes the set of x if it is among the best. */
static okra_status note(work *x, double J)
{
    okra_int size = 0;
    if (!(J < okra_shortlist_worst_(&x->best))) {
        return OKRA_OK;
    }
    for (okra_int j = 0; j < x->s->d; j++) {
        x->members[size] = (int32_t)j;
        size += x->in[j];
    }
    return okra_shortlist_put_(&x->best, x->members, size, (okra_key_){J, 0}, J);
}

/* Becomes one of the best. */
static void take(work *x, const okra_item_ *set)
{
    start(x, -1);
    for (okra_int k = 0; k < set->length; k++) {
        flip(x, set->codes[k]);
    }
}

/* ---- moves ---- */

typedef struct move {
    okra_int in, out; /* labels that come and go, or -1 */
    double J;
} move;

/* A move: the best so far, or where all are wanted (best == NULL) what it makes of x. */
static okra_status consider(work *x, okra_int in, okra_int out, double J, move *best)
{
    okra_status st = OKRA_OK;
    bool *changed = &x->in[in >= 0 ? in : out];
    if (best && J < best->J) {
        *best = (move){in, out, J};
    } else if (!best) {
        *changed = !*changed;
        st = note(x, J);
        *changed = !*changed;
    }
    return st;
}

/* What every label is worth that comes (step 1; `but` does not) or goes (step -1). Sums
 * of groups are shared by all labels. */
static okra_status try_changes(work *x, int step, okra_int but, move *best)
{
    const okra_counts_ *s = x->s;
    okra_int b = x->b + step;
    double base = 0;
    if (!allowed(s, b)) {
        return OKRA_OK;
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
            CHK(consider(x, step > 0 ? j : -1, step > 0 ? but : j, J, best));
        }
    }
    return OKRA_OK;
}

static okra_status try_exchanges(work *x, move *best)
{
    for (okra_int j = 0; j < x->s->d; j++) {
        if (x->in[j]) {
            flip(x, j);
            CHK(try_changes(x, 1, j, best));
            flip(x, j);
        }
    }
    return OKRA_OK;
}

/* Steps that are worth more than rounding, until there is none. */
static okra_status descend(work *x)
{
    double J = value(x);
    for (okra_int round = 0; round < x->s->rounds; round++) {
        double least = isfinite(J) ? J - 1e-13 * ((x->s->constant == 0) + fabs(J)) : J;
        move best = {-1, -1, least};
        CHK(try_changes(x, 1, -1, &best));
        CHK(try_changes(x, -1, -1, &best));
        if (best.in < 0 && best.out < 0) {
            CHK(try_exchanges(x, &best));
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
    return note(x, value(x));
}

/* From the empty set by the best label each time; the best of the sets on the way is
 * improved. It ends when three labels more have not helped. */
static okra_status grow(work *x)
{
    const okra_counts_ *s = x->s;
    double best = (double)INFINITY;
    okra_int at = 0;
    start(x, -1);
    CHK(note(x, value(x)));
    while (x->b < s->most && x->b <= at + 3) {
        move next = {-1, -1, (double)INFINITY};
        CHK(try_changes(x, 1, -1, &next));
        if (next.in < 0) {
            break;
        }
        flip(x, next.in);
        if (next.J < best) {
            best = next.J;
            at = x->b;
            CHK(note(x, next.J));
        }
    }
    if (at > 0 && x->best.count > 0) {
        take(x, &x->best.items[0]);
        return descend(x);
    }
    return OKRA_OK;
}

/* All moves of every set that is among the best, until none of them brings another: where
 * f is linear the best sets of every size are there, and each other set has a better one
 * an exchange away, so that nothing is missed. */
static okra_status widen(work *x)
{
    const okra_item_ *set = NULL;
    okra_int rounds = x->s->rounds * x->best.most;
    while (rounds-- > 0 && (set = okra_shortlist_next_(&x->best))) {
        take(x, set);
        CHK(try_changes(x, 1, -1, NULL));
        CHK(try_changes(x, -1, -1, NULL));
        CHK(try_exchanges(x, NULL));
    }
    return OKRA_OK;
}

/* ---- exact ---- */

/* In the order of a Gray code one label changes at a time. */
static okra_status try_every(work *x)
{
    start(x, -1);
    CHK(note(x, value(x)));
    for (unsigned k = 1; k < 1u << x->s->d; k++) {
        flip(x, __builtin_ctz(k));
        CHK(note(x, value(x)));
    }
    return OKRA_OK;
}

OKRA_ORDER_(by_score, label, OKRA_DOWN_(score), OKRA_UP_(j))

/* f(c, a, b) = f0 + c slope, from two counts that can be. */
static void line(const okra_counts_ *s, okra_int k, okra_int b, double *f0, double *slope)
{
    const double *f = okra_counts_row_(s, k, b);
    okra_int first = OKRA_MAX_(0, s->size[k] + b - s->d);
    *slope = first < OKRA_MIN_(s->size[k], b) ? f[first + 1] - f[first] : 0;
    *f0 = f[first] - (double)first * *slope;
}

/* Scores of labels in sets of b, the largest first; what such a set has besides. */
static double sort_labels(work *x, okra_int b)
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
static okra_status try_sizes(work *x)
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
        if (J < okra_shortlist_worst_(&x->best)) {
            memset(x->in, 0, (size_t)s->d * sizeof *x->in);
            for (okra_int k = 0; k < b; k++) {
                x->in[x->sorted[k].j] = true;
            }
            CHK(note(x, J));
        }
    }
    return OKRA_OK;
}

/* ---- rows ---- */

/* From the nearest training outputs where nothing is exact. */
static okra_status search(work *x, const double *weights, const okra_near_ *near,
                          okra_int count)
{
    const okra_counts_ *s = x->s;
    okra_int last = -1;
    okra_shortlist_empty_(&x->best);
    memset(x->u, 0, (size_t)s->groups * sizeof *x->u);
    for (okra_int i = 0; i < s->n; i++) {
        x->u[s->group[i]] += weights[i];
    }
    for (okra_int t = 0; t < count; t++) { /* they come first of ties */
        start(x, s->group[near[t].rank.id]);
        CHK(note(x, value(x)));
    }
    if (s->every) {
        return try_every(x);
    }
    CHK((s->linear ? try_sizes : grow)(x));
    for (okra_int t = 0; !s->linear && t < count; t++) {
        okra_int group = s->group[near[t].rank.id];
        if (group != last) {
            start(x, group);
            CHK(descend(x));
        }
        last = group;
    }
    for (okra_int g = 0; !s->linear && x->best.most > 1 && g < s->groups; g++) {
        start(x, g); /* of the best, no training output is missing */
        CHK(note(x, value(x)));
    }
    return x->best.most > 1 ? widen(x) : OKRA_OK;
}

static okra_status one_row(const void *arg, void *room, okra_int r)
{
    const rows *all = arg;
    work *x = room;
    okra_mat_ W = all->block->W;
    okra_int i = all->block->first + r, count = 0;
    const okra_near_ *near =
        all->starts ? okra_starts_get_(all->starts, i, &count) : NULL;
    CHK(search(x, W.p + r * W.ld, near, count));
    REFUSE_IF(x->best.count == 0, OKRA_ENUMERIC,
              "decoder labels: no set has a finite distance");
    for (okra_int k = 0; k < x->best.count; k++) {
        okra_item_ *set = &x->best.items[k];
        set->distance += x->s->constant + all->norm[r];
        set->distance = x->s->loss ? set->distance : fmax(set->distance, 0);
    }
    return okra_results_list_(all->results, i, &x->best);
}

okra_status okra_counts_search_(okra_context *ctx, const okra_counts_ *s,
                                const okra_block_ *block, const okra_starts_ *starts,
                                const double *norm, const okra_results_ *results)
{
    okra_int top = results->top, full = 0;
    static const okra_each_ each = {sizeof(work), work_open, one_row, work_clear};
    const rows all = {s, block, starts, norm, results};
    CHK(okra_budget_ask_(ctx, okra_workers_(ctx) * (double)top * (double)s->d,
                         "the best sets of a search"));
    CHK(okra_parallel_each_(ctx, block->m, 4, "decode", &each, &all));
    for (okra_int r = block->first; s->most < s->d && r < block->first + block->m; r++) {
        full += results->cells[r * top].length == s->most;
    }
    if (full > 0) {
        okra_warn_(ctx,
                   "labels: sets of more than %lld labels are not looked at; %lld of "
                   "%lld results have as many, and a larger one may be better",
                   (long long)s->most, (long long)full, (long long)block->m);
    }
    return OKRA_OK;
}
