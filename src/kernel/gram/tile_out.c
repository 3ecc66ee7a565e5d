/*
 * tile_out.c: finished tiles to the Gram matrix.
 *
 * A plain store reads the cache line it is about to overwrite; for a matrix that leaves
 * the caches anyway that doubles the traffic, and with cheap kernels (short vectors,
 * packed bits) traffic is most of the time. So large matrices are written with streaming
 * stores, row after row, so that each line is completed at once.
 */
#include "kernel/gram/trained_kernel.h"

/* A strip of BLOCK columns is turned in the first cache, RUN values per row. */
enum { BLOCK = 8, RUN = 256 };

#if defined(__SSE2__) && defined(__x86_64__)
#include <emmintrin.h>

static void stream_one(const double *from, double *to)
{
    long long bits;
    memcpy(&bits, from, sizeof bits);
    _mm_stream_si64((long long *)(void *)to, bits);
}

/* Two numbers at a time, where `to` is at a multiple of their size. */
static void stream_row(const double *from, okra_int count, double *to)
{
    okra_int k = 0;
    if (count > 0 && (uintptr_t)to % sizeof(__m128d) != 0) {
        stream_one(from, to);
        k = 1;
    }
    for (; k + 2 <= count; k += 2) {
        _mm_stream_pd(to + k, _mm_loadu_pd(from + k));
    }
    if (k < count) {
        stream_one(from + k, to + k);
    }
}

/* Two rows of BLOCK numbers become BLOCK rows of two. */
static void turn_pair(const double *upper, const double *lower, double *to)
{
    for (int c = 0; c < BLOCK; c += 2) {
        __m128d a = _mm_loadu_pd(upper + c), b = _mm_loadu_pd(lower + c);
        _mm_storeu_pd(to + c * RUN, _mm_unpacklo_pd(a, b));
        _mm_storeu_pd(to + (c + 1) * RUN, _mm_unpackhi_pd(a, b));
    }
}
#else
static void stream_row(const double *from, okra_int count, double *to)
{
    memcpy(to, from, (size_t)count * sizeof *to);
}

static void turn_pair(const double *upper, const double *lower, double *to)
{
    for (int c = 0; c < BLOCK; c++) {
        to[c * RUN] = upper[c];
        to[c * RUN + 1] = lower[c];
    }
}
#endif

void okra_tile_out_end_(bool stream)
{
#if defined(__SSE2__) && defined(__x86_64__)
    if (stream) {
        _mm_sfence();
    }
#endif
}

okra_status okra_tile_out_(okra_mat_ from, okra_mat_ to, bool stream)
{
    if (!stream) {
        return okra_mat_copy_(from, to);
    }
    for (okra_int r = 0; r < from.rows; r++) {
        stream_row(from.p + r * from.ld, from.cols, to.p + r * to.ld);
    }
    return OKRA_OK;
}

/* strip <- from', at most BLOCK columns and RUN rows */
static void turn(okra_mat_ from, double (*strip)[RUN])
{
    okra_int k = 0;
    for (; from.cols == BLOCK && k + 2 <= from.rows; k += 2) {
        turn_pair(from.p + k * from.ld, from.p + (k + 1) * from.ld, &strip[0][k]);
    }
    for (; k < from.rows; k++) {
        for (okra_int l = 0; l < from.cols; l++) {
            strip[l][k] = from.p[k * from.ld + l];
        }
    }
}

okra_status okra_tile_out_transposed_(okra_mat_ from, okra_mat_ to, bool stream)
{
    double strip[BLOCK][RUN];
    if (!stream) {
        return okra_mat_transpose_(from, to);
    }
    for (okra_int r = 0; r < from.rows; r += RUN) {
        okra_int run = OKRA_MIN_(RUN, from.rows - r);
        for (okra_int c = 0; c < from.cols; c += BLOCK) {
            okra_int width = OKRA_MIN_(BLOCK, from.cols - c);
            turn(okra_mat_part_(from, r, run, c, width), strip);
            for (okra_int l = 0; l < width; l++) {
                stream_row(strip[l], run, to.p + (c + l) * to.ld + r);
            }
        }
    }
    return OKRA_OK;
}
