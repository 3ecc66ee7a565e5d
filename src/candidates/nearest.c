/*
 * nearest.c: the best of many candidates, a list a test point, filled panel by panel.
 *
 * Candidates are ordered by l(y,y) - 2 <h, phi(y)> and not by the distance, which rounds
 * to l(y,y) + |h|^2 where the prediction is weak. Where l(y,y) is the same for all of
 * them the order is that of <h, phi(y)> alone; elsewhere the difference is kept exactly,
 * as the sum of two numbers (Knuth's two-sum). Distances that rounding made negative
 * become 0; of equal candidates the one of the lower number is the better. Which may be
 * chosen: those in the range or window of the test point, less those without features.
 */
#include "candidates/outputs.h"

/* ---- the order ---- */

okra_key_ okra_key_of_(double self, double inner)
{
    double b = -2 * inner, high = self + b, of_b = high - self;
    return (okra_key_){high, (self - (high - of_b)) + (b - of_b)};
}

double okra_self_constant_(const double *self, okra_int n, bool positive)
{
    double low = (double)INFINITY, high = -low;
    for (okra_int i = 0; i < n; i++) {
        if (!positive || self[i] > 0) { /* a NaN is neither less nor more */
            low = self[i] < low ? self[i] : low;
            high = self[i] > high ? self[i] : high;
        }
    }
    bool same = low <= high && high - low <= 4 * DBL_EPSILON * fabs(high);
    return same ? low : (double)NAN;
}

double okra_self_settle_(double self, double constant)
{
    return fabs(self - constant) <= 4 * DBL_EPSILON * fabs(constant) ? constant : self;
}

/* ---- what may be chosen ---- */

static okra_status check_ranges(const okra_nearest_ *s)
{
    for (okra_int i = 0; s->ranges && i < s->tests; i++) {
        okra_range_ r = s->ranges[i];
        REFUSE_IF(r.begin < 0 || r.end > s->count || r.begin >= r.end, OKRA_EARG,
                  "candidates: the range of test point %lld is %lld to %lld, expected "
                  "begin < end within 0 to %lld",
                  (long long)i, (long long)r.begin, (long long)r.end,
                  (long long)s->count);
    }
    return OKRA_OK;
}

/* After leaving objects out every test point must still have a candidate. */
static okra_status check_left(const okra_nearest_ *s)
{
    OWNED okra_int *before = NULL; /* usable candidates below an index */
    MAKE(before, s->count + 1);
    before[0] = 0;
    for (okra_int c = 0; c < s->count; c++) {
        before[c + 1] = before[c] + !s->skip[c];
    }
    REFUSE_IF(before[s->count] == 0, OKRA_EARG,
              "candidates: all %lld have zero self-similarity; allow-empty-candidates "
              "keeps them",
              (long long)s->count);
    for (okra_int i = 0; s->ranges && i < s->tests; i++) {
        REFUSE_IF(before[s->ranges[i].end] == before[s->ranges[i].begin], OKRA_EARG,
                  "candidates: all in the range of test point %lld, %lld to %lld, have "
                  "zero self-similarity; allow-empty-candidates keeps them",
                  (long long)i, (long long)s->ranges[i].begin,
                  (long long)s->ranges[i].end);
    }
    return OKRA_OK;
}

okra_status okra_nearest_leave_out_empty_(okra_context *ctx, okra_nearest_ *s,
                                          const double *self)
{
    okra_int empty = 0;
    MAKE(s->skip, s->count);
    for (okra_int c = 0; c < s->count; c++) {
        s->skip[c] = self[c] <= 0;
        empty += s->skip[c];
    }
    if (empty > 0) {
        CHK(check_left(s));
        okra_warn_(ctx,
                   "candidates: %lld of %lld have zero self-similarity and are left out; "
                   "allow-empty-candidates keeps them",
                   (long long)empty, (long long)s->count);
    }
    return OKRA_OK;
}

bool okra_nearest_wanted_(const okra_nearest_ *s, const okra_block_ *block,
                          okra_int first, okra_int columns)
{
    for (okra_int i = block->first; s->ranges && i < block->first + block->m; i++) {
        if (s->ranges[i].begin < first + columns && s->ranges[i].end > first) {
            return true;
        }
    }
    return !s->ranges;
}

/* ---- lists ---- */

okra_status okra_nearest_open_(okra_context *ctx, const okra_nearest_ *request,
                               bool runner_up, okra_nearest_ *out)
{
    FREED_BY(okra_nearest_clear_)
    okra_nearest_ s = {.tests = request->tests,
                       .top = OKRA_MAX_(request->top, 1),
                       .count = request->count,
                       .ranges = request->ranges,
                       .negative = request->negative,
                       .may_be_empty = request->may_be_empty};
    CHK(check_ranges(&s));
    CHK(okra_budget_ask_(ctx, (double)(s.tests * s.top) * sizeof *s.list,
                         "the best candidates of all test points"));
    MAKE(s.list, s.tests * s.top);
    ZMAKE(s.used, s.tests);
    if (s.may_be_empty) {
        ZMAKE(s.compared, s.tests);
    }
    if (runner_up) {
        MAKE(s.runner_up, s.tests);
        okra_fill_(s.tests, INFINITY, s.runner_up);
    }
    *out = TAKE(s);
    return OKRA_OK;
}

OKRA_SHARED_CLEARS_(okra_nearest_clear_, okra_nearest_, it->skip, it->list, it->used,
                    it->runner_up, it->compared)

/* Equal objects have equal distances up to rounding, some eps times the terms of which
 * they are made: those within 1e-10 of the best are taken for it. */
static void note_runner_up(double best, double d, double norm, double *runner_up)
{
    double close = 1e-10 * (1 + fabs(norm));
    if (d > best + close) {
        *runner_up = fmin(*runner_up, d);
    } else if (d < best - close) {
        *runner_up = best;
    }
}

/* Candidates that are looked at together first: most runs hold none of the best. */
enum { RUN = 32 };
static bool some_below(const double *self, const double *inner, double limit)
{
    int below = 0;
    for (int k = 0; k < RUN; k++) {
        below |= self[k] - 2 * inner[k] <= limit;
    }
    return below;
}

/* One row of what was measured. */
typedef struct row {
    okra_int first, count;
    const okra_int *number;
    const bool *fits;
    bool featured;
    const double *self, *inner;
    double norm, scale, constant;
} row;

static double distance_of(const okra_nearest_ *s, const row *m, okra_int k)
{
    double self = isnan(m->constant) ? m->self[k] : m->constant;
    double d = m->scale * (self - 2 * m->inner[k] + m->norm);
    return d < 0 && !s->negative ? 0 : d;
}

static void choose(okra_nearest_ *s, okra_int i, const row *m)
{
    okra_int begin = 0, end = m->count, top = s->top;
    if (s->ranges) {
        begin = OKRA_MAX_(begin, s->ranges[i].begin - m->first);
        end = OKRA_MIN_(end, s->ranges[i].end - m->first);
    }
    static const double nothing[RUN] = {0};
    bool same = !isnan(m->constant);
    okra_near_ *list = s->list + i * top;
    okra_int *used = &s->used[i];
    for (okra_int k = begin; k < end; k++) {
        if (!s->runner_up && *used == top && k % RUN == 0 && end - k >= RUN &&
            !some_below(same ? nothing : m->self + k, m->inner + k,
                        list[top - 1].rank.key.high)) {
            k += RUN - 1;
            continue;
        }
        okra_int c = m->number ? m->number[k] : m->first + k;
        if ((s->skip && s->skip[c]) || (m->fits && !m->fits[k]) ||
            (m->featured && !(m->self[k] > 0))) {
            continue;
        }
        okra_key_ here = okra_key_of_(same ? 0 : m->self[k], m->inner[k]);
        if (s->runner_up) {
            note_runner_up(*used > 0 ? list->distance : (double)INFINITY,
                           distance_of(s, m, k), m->norm, &s->runner_up[i]);
        }
        okra_near_ *near =
            here.high < (double)INFINITY
                ? okra_best_put_(list, sizeof *list, used, top, (okra_rank_){here, c})
                : NULL;
        if (near) {
            near->distance = distance_of(s, m, k);
        }
    }
}

void okra_nearest_offer_(okra_nearest_ *nearest, okra_int i, okra_int candidate,
                         double self, double inner, double norm, double constant)
{
    row one = {candidate, 1, NULL, NULL, false, &self, &inner, norm, 1, constant};
    choose(nearest, i, &one);
}

typedef struct choices {
    okra_nearest_ *s;
    const okra_measured_ *m;
} choices;

static okra_status choose_rows(void *arg, okra_int begin, okra_int end, int worker)
{
    const choices *c = arg;
    const okra_measured_ *m = c->m;
    const okra_part_ *part = m->part;
    for (okra_int k = begin; k < end; k++) {
        okra_int r = part->row ? part->row[k] : k;
        row one = {part->first,
                   part->count,
                   part->number,
                   part->fits ? part->fits + k * part->count : NULL,
                   part->featured,
                   m->self + (m->which ? m->which[r] * part->count : 0),
                   m->G + k * part->count,
                   m->norm ? m->norm[r] : 0,
                   m->scale,
                   m->constant};
        choose(c->s, m->block->first + r, &one);
    }
    return OKRA_OK;
}

okra_status okra_nearest_put_(okra_context *ctx, okra_nearest_ *nearest,
                              const okra_measured_ *measured)
{
    choices k = {nearest, measured};
    double least = (double)measured->part->m * (double)measured->part->count;
    return okra_parallel_least_(ctx, least, measured->part->m, 64, "candidates",
                                choose_rows, &k);
}

okra_status okra_nearest_give_(okra_context *ctx, const okra_nearest_ *s,
                               const char *whose, const char *what, okra_int **index,
                               double **distance)
{
    OWNED okra_int *numbers = NULL;
    OWNED double *values = NULL;
    MAKE(numbers, s->tests * s->top);
    CHK(okra_doubles_(ctx, s->tests, s->top, "the distances of candidates", &values));
    for (okra_int i = 0; i < s->tests; i++) {
        REFUSE_IF(s->used[i] == 0 && !s->may_be_empty, OKRA_ENUMERIC,
                  "%s: test point %lld has no %s", whose, (long long)i, what);
        for (okra_int k = i * s->top; k < (i + 1) * s->top; k++) {
            bool there = k - i * s->top < s->used[i];
            numbers[k] = there ? s->list[k].rank.id : -1;
            values[k] = there ? s->list[k].distance : (double)INFINITY;
        }
    }
    *index = TAKE(numbers);
    *distance = TAKE(values);
    return OKRA_OK;
}
