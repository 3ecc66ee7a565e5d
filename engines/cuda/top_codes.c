/*
 * top_codes.c: the codes of weights, and what codes of candidates mean (top.c).
 */
#include "top.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* h of top.c: 2 exp(-2 h^2) = 1e-20 */
double top_bound_(void)
{
    return sqrt(log(2e20) / 2);
}

/* |t - centre| / step is at most |code| + 1. */
double top_root_(const top_ *t)
{
    return sqrt((double)t->n);
}

/* Floats on the way to a code: t from a reciprocal within 2^-22 of it, scaled by at most
 * 1 / step; the offset and the result are rounded to 2^-24 of at most 1 / step + 128. */
double top_bias_(const top_ *t)
{
    return (2 / t->step + 256) * 0x1p-22;
}

/* A random number in [0, 1) that belongs to a place (splitmix64). */
static double random_at(uint64_t place)
{
    uint64_t x = (place + 1) * UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    x ^= x >> 31;
    return (double)(x >> 11) * 0x1p-53;
}

/* ---- candidates ---- */

/* Sampled rows, without gaps, over the set. */
static okra_status sample(top_ *t, okra_int rows)
{
    okra_status st = OKRA_OK;
    gpu_ *g = t->g;
    size_t row = (size_t)t->width * sizeof(uint64_t);
    uint64_t *some = g->host->alloc(rows * t->width, sizeof *some);
    double *bits = g->host->alloc(rows, sizeof *bits);
    if (!some || !bits) {
        st = OKRA_EMEM;
        goto done;
    }
    for (okra_int i = 0; i < rows; i++) {
        const uint64_t *from = t->a + (i * (t->count / rows)) * t->a_ld;
        memcpy(some + i * t->width, from, row);
        bits[i] = 0;
        for (okra_int w = 0; w < t->width; w++) {
            bits[i] += __builtin_popcountll(from[w]);
        }
    }
    double *u = (double *)(void *)t->S;
    TRY(gpu_upload_(g, t->ctx, some, row, row, rows, t->bits[0], row));
    TRY(gpu_upload_(g, t->ctx, bits, sizeof *bits, sizeof *bits, rows, u, sizeof *bits));
    GPU_TRY(gpu_run_bits_(g->stream, rows, t->n, t->width, t->bits[0], t->width, t->yb,
                          t->width, u, t->v_all, (double *)(void *)t->X, t->n),
            "a sample of candidates");
    GPU_TRY(gpu_run_range_(g->stream, rows, t->n, (double *)(void *)t->X, t->n, t->parts),
            "a sample of candidates");
    GPU_TRY(cudaStreamSynchronize(g->stream), "a sample of candidates");
done:
    g->host->free(some);
    g->host->free(bits);
    return st;
}

okra_status top_range_(top_ *t, bool wide)
{
    okra_status st = OKRA_OK;
    okra_int fit = t->chunk * t->ld / (t->n * (okra_int)sizeof(double));
    okra_int rows = OKRA_MIN_(OKRA_MIN_(1024, fit), t->count);
    double part[4 * GPU_RANGE_], least = 1, most = 0, sum = 0, square = 0;

    TRY(sample(t, rows));
    TRY(gpu_download_(t->g, t->ctx, t->parts, sizeof part, sizeof part, 1, part,
                      sizeof part));
    for (int p = 0; p < GPU_RANGE_; p++) {
        least = fmin(least, part[4 * p]);
        most = fmax(most, part[4 * p + 1]);
        sum += part[4 * p + 2];
        square += part[4 * p + 3];
    }
    double all = (double)rows * (double)t->n;
    t->centre = sum / all;
    double full = fmax(t->centre, 1 - t->centre);
    double half = 1.7 * fmax(most - t->centre, t->centre - least);
    half = wide ? full : fmin(full, fmax(half, 0.01));
    t->step = half / 126.5;
    double spread = fmax(0, square / all - t->centre * t->centre);
    t->typical = sqrt((double)t->n * spread) / t->step;
done:
    return st;
}

/* ---- weights ---- */

static void put(int8_t *row, okra_int i, int code)
{
    row[i / 32 * 32 + gpu_place_((int)(i % 32))] = (int8_t)code;
}

/* Row q as one row of codes, or as GPU_LOW_ times one plus another (low). */
static void encode(const top_ *t, okra_int q, int8_t *high, int8_t *low)
{
    const double *w = t->W.p + q * t->W.ld;
    double most = 0, square = 0, one = 0;
    for (okra_int i = 0; i < t->n; i++) {
        most = fmax(most, fabs(w[i]));
    }
    double unit = most > 0 ? most / (low ? 127 * GPU_LOW_ : 127) : 1;
    for (okra_int i = 0; i < t->n; i++) {
        uint64_t place = (uint64_t)(q + 1) * (uint64_t)TOP_TRAINING + (uint64_t)i;
        int code = (int)floor(w[i] / unit + random_at(place));
        int top = low ? (int)floor(0.5 + code / (double)GPU_LOW_) : code;
        put(high, i, top);
        if (low) {
            put(low, i, code - GPU_LOW_ * top);
        }
        square += (double)code * code;
        one += abs(code);
    }
    t->unit_of[q] = unit;
    t->norm[q] = sqrt(square);
    t->one[q] = one;
}

static okra_status encode_rows(void *arg, okra_int begin, okra_int end, int worker)
{
    const top_ *t = arg;
    (void)worker;
    for (okra_int q = begin; q < end; q++) {
        encode(t, q, t->codes + q * t->ld, NULL);
    }
    return OKRA_OK;
}

static okra_status encode_twice(void *arg, okra_int begin, okra_int end, int worker)
{
    const top_ *t = arg;
    (void)worker;
    for (okra_int q = begin; q < end; q++) {
        if (t->low[q] >= 0) {
            encode(t, q, t->codes + q * t->ld, t->codes + t->low[q] * t->ld);
        }
    }
    return OKRA_OK;
}

static bool all_finite(const top_ *t)
{
    double sum = 0;
    for (okra_int q = 0; q < t->m; q++) {
        for (okra_int i = 0; i < t->n; i++) {
            sum += fabs(t->W.p[q * t->W.ld + i]);
        }
    }
    return sum <= DBL_MAX;
}

static okra_status upload_codes(top_ *t)
{
    okra_status st = OKRA_OK;
    gpu_ *g = t->g;
    size_t row = (size_t)t->ld, d = sizeof(double);
    TRY(gpu_upload_(g, t->ctx, t->codes, row, row, t->rows, t->W_codes, row));
    TRY(gpu_upload_(g, t->ctx, t->offset, sizeof(float), sizeof(float), t->ld,
                    t->offset_all, sizeof(float)));
    TRY(gpu_upload_(g, t->ctx, t->low, sizeof(int), sizeof(int), t->m, t->low_all,
                    sizeof(int)));
    TRY(gpu_upload_(g, t->ctx, t->norm, d, d, t->m, t->norm_all, d));
    TRY(gpu_upload_(g, t->ctx, t->one, d, d, t->m, t->one_all, d));
    GPU_TRY(cudaStreamSynchronize(g->stream), "copying codes");
done:
    return st;
}

okra_status top_weights_(top_ *t, bool *fine)
{
    okra_status st = OKRA_OK;
    okra_int rows = t->m;

    *fine = all_finite(t);
    if (!*fine) {
        goto done;
    }
    memset(t->codes, 0, (size_t)t->height * (size_t)t->ld);
    TRY(t->g->host->parallel(t->ctx, t->m, 8, NULL, encode_rows, t));
    /* A row of a few large weights would lose the others: their error is that of the
     * candidates' codes, which no margin should be made of. */
    for (okra_int q = 0; q < t->m; q++) {
        t->low[q] = t->norm[q] < t->typical ? (int)rows++ : -1;
    }
    TRY(t->g->host->parallel(t->ctx, t->m, 8, NULL, encode_twice, t));
    t->rows = (rows + 15) / 16 * 16;
    for (okra_int i = 0; i < t->ld; i++) {
        double shift = random_at((uint64_t)i) - 0.5 - t->centre / t->step;
        t->offset[i] = i < t->n ? (float)shift : 0;
    }
    TRY(upload_codes(t));
done:
    return st;
}
