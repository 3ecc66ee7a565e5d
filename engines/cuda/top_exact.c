/*
 * top_exact.c: from the lists of what may be among the best to the best (top.c).
 */
#include "top.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One candidate of one query; exact: NaN until it is known. */
typedef struct pair_ {
    int64_t code, index;
    double exact;
} pair_;

typedef struct answer_ {
    top_ *t;
    okra_int *start; /* m + 1: pairs of the queries */
    okra_int *want;  /* pairs whose exact scores are wanted */
    okra_int wanted;
    pair_ *pairs;
    gpu_found_ *lists; /* m x widest, as downloaded */
    int *count;        /* m */
    int64_t *odd;
    okra_int widest, odds;
    int *query; /* of a batch */
    double *found;
    double most; /* the largest sum of squares of codes */
} answer_;

static int by_code(const void *a, const void *b)
{
    const pair_ *x = a, *y = b;
    if (x->code != y->code) {
        return x->code > y->code ? -1 : 1;
    }
    return (x->index > y->index) - (x->index < y->index);
}

static int by_exact(const void *a, const void *b)
{
    const pair_ *x = a, *y = b;
    if (isnan(x->exact) || isnan(y->exact)) {
        return isnan(x->exact) - isnan(y->exact);
    }
    if (x->exact != y->exact) {
        return x->exact > y->exact ? -1 : 1;
    }
    return (x->index > y->index) - (x->index < y->index);
}

/* ---- exact scores ---- */

typedef struct gather_ {
    const answer_ *a;
    const okra_int *which;
    uint64_t *to;
} gather_;

static okra_status gather(void *arg, okra_int begin, okra_int end, int worker)
{
    const gather_ *job = arg;
    const top_ *t = job->a->t;
    (void)worker;
    for (okra_int i = begin; i < end; i++) {
        const pair_ *p = &job->a->pairs[job->which[i]];
        memcpy(job->to + i * t->width, t->a + p->index * t->a_ld,
               (size_t)t->width * sizeof *job->to);
    }
    return OKRA_OK;
}

/* Exact scores of the pairs which[0..now-1], by ascending query. */
static okra_status batch(answer_ *a, const okra_int *which, okra_int now)
{
    okra_status st = OKRA_OK;
    top_ *t = a->t;
    gpu_ *g = t->g;
    size_t row = (size_t)t->width * sizeof(uint64_t), d = sizeof(double);
    double *out = (double *)(void *)t->X;

    TRY(gpu_stage_wait_(g, 0));
    gather_ job = {a, which, (uint64_t *)(void *)g->stage[0]};
    TRY(g->host->parallel(t->ctx, now, 256, NULL, gather, &job));
    for (okra_int i = 0, q = 0; i < now; i++) {
        while (which[i] >= a->start[q + 1]) {
            q++;
        }
        a->query[i] = (int)q;
    }
    GPU_TRY(cudaMemcpyAsync(t->bits[0], g->stage[0], row * (size_t)now,
                            cudaMemcpyHostToDevice, g->stream),
            "copying candidates");
    GPU_TRY(cudaEventRecord(g->freed[0], g->stream), "copying candidates");
    GPU_TRY(cudaMemcpyAsync(t->S, a->query, (size_t)now * sizeof(int),
                            cudaMemcpyHostToDevice, g->stream),
            "copying candidates");
    GPU_TRY(gpu_run_exact_(g->stream, now, t->S, t->width, t->bits[0], t->n, t->yt,
                           t->v_all, t->W_all, out),
            "exact scores");
    TRY(gpu_download_(g, t->ctx, out, d, d, now, a->found, d));
    for (okra_int i = 0; i < now; i++) {
        a->pairs[which[i]].exact = a->found[i];
    }
done:
    return st;
}

static okra_int batch_rows(const top_ *t)
{
    okra_int most = OKRA_MIN_(t->unit, t->chunk * t->ld / (okra_int)sizeof(double));
    return OKRA_MIN_(most, t->height * t->chunk);
}

static okra_status score_wanted(answer_ *a)
{
    okra_status st = OKRA_OK;
    okra_int most = batch_rows(a->t);
    for (okra_int i = 0; i < a->wanted; i += most) {
        TRY(a->t->g->host->cancelled(a->t->ctx));
        TRY(batch(a, a->want + i, OKRA_MIN_(most, a->wanted - i)));
    }
done:
    return st;
}

/* ---- lists ---- */

static okra_status download(answer_ *a)
{
    okra_status st = OKRA_OK;
    top_ *t = a->t;
    gpu_ *g = t->g;
    size_t i = sizeof(int);

    TRY(gpu_download_(g, t->ctx, t->listed, i, i, t->m, a->count, i));
    for (okra_int q = 0; q < t->m; q++) {
        a->widest = OKRA_MAX_(a->widest, a->count[q]);
        a->start[q + 1] = a->start[q] + a->count[q] + a->odds;
    }
    a->lists = g->host->alloc(OKRA_MAX_(1, t->m * a->widest), sizeof *a->lists);
    a->odd = g->host->alloc(a->odds + 1, sizeof *a->odd);
    a->pairs = g->host->alloc(a->start[t->m] + 1, sizeof *a->pairs);
    a->want = g->host->alloc(a->start[t->m] + 1, sizeof *a->want);
    okra_int most = OKRA_MIN_(batch_rows(t), a->start[t->m] + 1);
    a->query = g->host->alloc(most, sizeof *a->query);
    a->found = g->host->alloc(most, sizeof *a->found);
    if (!a->lists || !a->odd || !a->pairs || !a->want || !a->query || !a->found) {
        st = OKRA_EMEM;
        goto done;
    }
    size_t row = (size_t)a->widest * sizeof *a->lists;
    if (a->widest > 0) {
        TRY(gpu_download_(g, t->ctx, t->list, (size_t)t->room * sizeof *t->list, row,
                          t->m, a->lists, row));
    }
    if (a->odds > 0) {
        TRY(gpu_download_(g, t->ctx, t->odd, sizeof *a->odd, sizeof *a->odd, a->odds,
                          a->odd, sizeof *a->odd));
    }
done:
    return st;
}

static okra_status sort_rows(void *arg, okra_int begin, okra_int end, int worker)
{
    answer_ *a = arg;
    (void)worker;
    for (okra_int q = begin; q < end; q++) {
        pair_ *p = a->pairs + a->start[q];
        for (int i = 0; i < a->count[q]; i++) {
            gpu_found_ x = a->lists[q * a->widest + i];
            p[i] = (pair_){x.value, x.index, (double)NAN};
        }
        qsort(p, (size_t)a->count[q], sizeof *p, by_code);
        for (okra_int i = 0; i < a->odds; i++) {
            p[a->count[q] + i] = (pair_){INT64_MIN, a->odd[i], (double)NAN};
        }
    }
    return OKRA_OK;
}

/* The first of each list, and what has no code. */
static void want_first(answer_ *a)
{
    const top_ *t = a->t;
    okra_int some = OKRA_MAX_(32, 2 * t->k);
    for (okra_int q = 0; q < t->m; q++) {
        okra_int begin = a->start[q], end = a->start[q + 1];
        for (okra_int i = begin; i < end; i++) {
            if (i - begin < some || i - begin >= a->count[q]) {
                a->want[a->wanted++] = i;
            }
        }
    }
}

/* The k-th best exact score of query q so far; -inf: there are fewer. */
static double kth(const answer_ *a, okra_int q, double *scratch)
{
    okra_int n = 0, k = a->t->k;
    for (okra_int i = a->start[q]; i < a->start[q + 1]; i++) {
        double x = a->pairs[i].exact;
        if (isnan(x) || (n == k && x <= scratch[k - 1])) {
            continue;
        }
        okra_int at = n < k ? n++ : k - 1;
        for (; at > 0 && scratch[at - 1] < x; at--) {
            scratch[at] = scratch[at - 1];
        }
        scratch[at] = x;
    }
    return n == k ? scratch[k - 1] : -(double)INFINITY;
}

/* What may be better than the k-th best that is known. */
static void want_rest(answer_ *a)
{
    const top_ *t = a->t;
    double scratch[TOP_MOST];
    a->wanted = 0;
    for (okra_int q = 0; q < t->m; q++) {
        const double *w = t->W.p + q * t->W.ld;
        double sum = 0, size = 0, least = kth(a, q, scratch);
        for (okra_int i = 0; i < t->n; i++) {
            sum += w[i];
            size += fabs(w[i]);
        }
        double margin = top_bound_() * (t->norm[q] + sqrt(a->most) + top_root_(t)) +
                        top_bias_(t) * t->one[q] + 2;
        /* This arithmetic, and that of exact scores, in double precision. */
        double slack = 1e-12 * (double)t->n * size;
        for (okra_int i = a->start[q]; i < a->start[q] + a->count[q]; i++) {
            double most = t->centre * sum +
                          t->step * t->unit_of[q] * ((double)a->pairs[i].code + margin);
            if (isnan(a->pairs[i].exact) && most + slack >= least) {
                a->want[a->wanted++] = i;
            }
        }
    }
}

static void put_answer(const answer_ *a, okra_int *index, double *value)
{
    okra_int k = a->t->k;
    for (okra_int q = 0; q < a->t->m; q++) {
        pair_ *p = a->pairs + a->start[q];
        okra_int n = a->start[q + 1] - a->start[q];
        qsort(p, (size_t)n, sizeof *p, by_exact);
        for (okra_int i = 0; i < k; i++) {
            bool here = i < n && !isnan(p[i].exact);
            index[q * k + i] = here ? p[i].index : -1;
            value[q * k + i] = here ? p[i].exact : -(double)INFINITY;
        }
    }
}

okra_status top_answer_(top_ *t, gpu_choice_ found, okra_int *index, double *value)
{
    okra_status st = OKRA_OK;
    const okra_engine_host_ *host = t->g->host;
    answer_ a = {.t = t, .odds = found.odd, .most = found.most};

    a.start = host->alloc(t->m + 1, sizeof *a.start);
    a.count = host->alloc(t->m, sizeof *a.count);
    if (!a.start || !a.count) {
        st = OKRA_EMEM;
        goto done;
    }
    a.start[0] = 0;
    TRY(download(&a));
    TRY(host->parallel(t->ctx, t->m, 8, NULL, sort_rows, &a));
    want_first(&a);
    TRY(score_wanted(&a));
    want_rest(&a);
    TRY(score_wanted(&a));
    put_answer(&a, index, value);
done:
    host->free(a.start);
    host->free(a.count);
    host->free(a.lists);
    host->free(a.odd);
    host->free(a.pairs);
    host->free(a.want);
    host->free(a.query);
    host->free(a.found);
    return st;
}
