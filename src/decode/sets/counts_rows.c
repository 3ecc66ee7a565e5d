/*
 * counts_rows.c: the searches of counts.c for all rows of weights, each thread some.
 */
#include "decode/sets/counts_inside.h"

typedef struct work {
    okra_mat_ W;
    const okra_int *index;
    okra_int top, wanted;
    const double *norm;
    okra_result_ *found;        /* rows x wanted */
    okra_counts_work_ **spaces; /* one per worker */
} work;

static okra_status some_rows(void *arg, okra_int begin, okra_int end, int worker)
{
    const work *w = arg;
    for (okra_int r = begin; r < end; r++) {
        CHK(okra_counts_work_search_(w->spaces[worker], w->W.p + r * w->W.ld,
                                     w->index ? w->index + r * w->top : NULL, w->top,
                                     w->norm[r], w->found + r * w->wanted));
    }
    return OKRA_OK;
}

okra_status okra_counts_search_(okra_context *ctx, const okra_counts_ *s, okra_mat_ W,
                                const okra_int *index, okra_int top, const double *norm,
                                okra_int wanted, okra_result_ *found)
{
    okra_status st = OKRA_OK;
    int workers = okra_workers_(ctx);
    work w = {W, index, top, wanted, norm, found, NULL};
    CHK(okra_budget_ask_(ctx, (double)workers * (double)wanted * (double)s->d,
                         "the best sets of a search"));
    ZALLOC(w.spaces, workers);
    for (int k = 0; k < workers; k++) {
        TRY(okra_counts_work_create_(s, wanted, &w.spaces[k]));
    }
    TRY(okra_parallel_(ctx, W.rows, 4, "decode", some_rows, &w));
    okra_int full = 0;
    for (okra_int r = 0; s->most < s->d && r < W.rows; r++) {
        full += found[r * wanted].length == s->most;
    }
    if (full > 0) {
        okra_warn_(ctx,
                   "labels: sets of more than %lld labels are not looked at; %lld of "
                   "%lld results have as many, and a larger one may be better",
                   (long long)s->most, (long long)full, (long long)W.rows);
    }
done:
    for (int k = 0; w.spaces && k < workers; k++) {
        okra_counts_work_free_(w.spaces[k]);
    }
    okra_free_(w.spaces);
    return st;
}
