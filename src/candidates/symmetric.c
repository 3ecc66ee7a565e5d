/*
 * symmetric.c: one prediction times the Gram matrix of the training outputs.
 *
 * It is bound by memory: the matrix is symmetric, so that half of its panels is read,
 * and an entry serves both triangles. Where all panels are there each thread takes one at
 * a time, and the parts are added up in order. The sums of equal columns then differ in
 * their last digits by their place; equal outputs get that of the first, lest the order
 * of copies be decided by rounding.
 */
#include "candidates/symmetric.h"

#include "core/simd.h"

#include <string.h>

typedef struct halves {
    okra_context *ctx;
    okra_panels_ *panels;
    bool again;
    okra_int n;
    const double *w;
    double *parts; /* panels x n */
} halves;

/* own += w row, *sum = <row, v>: an entry, read once, serves both triangles of L. */
static inline OKRA_INLINE_ void body(okra_int n, double w, const double *row,
                                     const double *v, double *restrict own,
                                     double *restrict sum, bool fused)
{
    okra_lane_ sums = {0};
    okra_int j = 0;
    (void)fused;
    for (; j + OKRA_LANES_ <= n; j += OKRA_LANES_) {
        okra_lane_ entries, mine, theirs;
        memcpy(&entries, row + j, sizeof entries);
        memcpy(&mine, own + j, sizeof mine);
        memcpy(&theirs, v + j, sizeof theirs);
        mine += w * entries;
        sums += entries * theirs;
        memcpy(own + j, &mine, sizeof mine);
    }
    for (; j < n; j++) {
        own[j] += w * row[j];
        sums[0] += row[j] * v[j];
    }
    *sum = ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
           ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}
OKRA_VARIANTS_(both_ways, body,
               (okra_int n, double w, const double *row, const double *v,
                double *restrict own, double *restrict sum),
               (n, w, row, v, own, sum))

/* One prediction against rows of the panel at and below the diagonal: part p of w L. */
static okra_status some_halves(void *arg, okra_int begin, okra_int end, int worker)
{
    const halves *work = arg;
    const double *w = work->w;
    okra_int n = work->n;
    (void)worker;
    for (okra_int p = begin; p < end; p++) {
        okra_mat_ L;
        okra_int first = p * OKRA_PANEL_;
        double *part = work->parts + p * n, *own = part + first, sum = 0;
        CHK(okra_panels_get_(work->ctx, work->panels, p, work->again, &L));
        memset(own, 0, (size_t)(n - first) * sizeof *own);
        for (okra_int i = first; i < n; i++) {
            both_ways(L.cols, w[i], L.p + i * L.ld, w + first, own, &sum);
            part[i] += i < first + L.cols ? 0 : sum;
        }
    }
    return OKRA_OK;
}

okra_status okra_symmetric_copies_(const okra_output_ *output, okra_int **own,
                                   const okra_int **out)
{
    OWNED okra_int *fresh = NULL;
    const okra_int *first = okra_cache_find_(okra_cache_of_(output), "copies");
    if (!first) {
        MAKE(fresh, output->y->n);
        CHK(okra_data_same_(&output->y, 1, fresh));
        first = fresh;
        if (output->few &&
            okra_cache_leave_(okra_cache_of_(output), "copies", fresh, okra_free_)) {
            fresh = NULL;
        }
    }
    *out = first;
    *own = TAKE(fresh);
    return OKRA_OK;
}

/* G_i of every copy becomes that of the first. */
static okra_status level_copies(const okra_output_ *output, double *G)
{
    OWNED okra_int *own = NULL;
    const okra_int *first;
    CHK(okra_symmetric_copies_(output, &own, &first));
    for (okra_int i = 0; i < output->y->n; i++) {
        G[i] = G[first[i]];
    }
    return OKRA_OK;
}

okra_status okra_symmetric_times_(okra_context *ctx, const okra_output_ *output,
                                  okra_panels_ *panels, bool again, const double *w,
                                  double *out)
{
    OWNED double *parts = NULL;
    okra_int n = output->y->n, count = okra_panels_count_(panels);
    CHK(okra_doubles_(ctx, count, n, "parts of a prediction", &parts));
    halves half = {ctx, panels, again, n, w, parts};
    CHK(okra_panels_kept_(panels)
            ? okra_parallel_least_(ctx, 10 * (double)n * (double)n, count, 1, NULL,
                                   some_halves, &half)
            : some_halves(&half, 0, count, 0));
    memset(out, 0, (size_t)n * sizeof *out);
    for (okra_int p = 0; p < count; p++) {
        for (okra_int j = p * OKRA_PANEL_; j < n; j++) {
            out[j] += parts[p * n + j];
        }
    }
    return level_copies(output, out);
}
