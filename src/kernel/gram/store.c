/*
 * store.c: finished tiles to the Gram matrix.
 *
 * A plain store reads the cache line it is about to overwrite; for a matrix that leaves
 * the caches anyway that doubles the traffic, and with cheap kernels (short vectors,
 * packed bits) traffic is most of the time. So large matrices are written with streaming
 * stores, row after row, so that each line is completed at once.
 */
#include "kernel/gram/store.h"

#include <string.h>

/* A strip of BLOCK columns is turned in the first cache, RUN values per row. */
enum { BLOCK = 8, RUN = 256 };

#if defined(__SSE2__) && defined(__x86_64__)
#include <emmintrin.h>

static inline void put_streaming(double *to, const double *from)
{
    long long bits;
    memcpy(&bits, from, sizeof bits);
    _mm_stream_si64((long long *)(void *)to, bits);
}

void okra_store_end_(bool stream)
{
    if (stream) {
        _mm_sfence();
    }
}
#else
static inline void put_streaming(double *to, const double *from)
{
    *to = *from;
}

void okra_store_end_(bool stream)
{
    (void)stream;
}
#endif

static void stream_row(const double *from, okra_int count, double *to)
{
    for (okra_int k = 0; k < count; k++) {
        put_streaming(to + k, from + k);
    }
}

okra_status okra_store_(okra_mat_ from, okra_mat_ to, bool stream)
{
    if (!stream) {
        return okra_mat_copy_(from, to);
    }
    for (okra_int r = 0; r < from.rows; r++) {
        stream_row(from.p + r * from.ld, from.cols, to.p + r * to.ld);
    }
    return OKRA_OK;
}

okra_status okra_store_transposed_(okra_mat_ from, okra_mat_ to, bool stream)
{
    double strip[BLOCK][RUN];
    if (!stream) {
        return okra_mat_transpose_(from, to);
    }
    for (okra_int r = 0; r < from.rows; r += RUN) {
        okra_int run = OKRA_MIN_(RUN, from.rows - r);
        for (okra_int c = 0; c < from.cols; c += BLOCK) {
            okra_int width = OKRA_MIN_(BLOCK, from.cols - c);
            for (okra_int k = 0; k < run; k++) {
                const double *x = from.p + (r + k) * from.ld + c;
                for (okra_int l = 0; l < width; l++) {
                    strip[l][k] = x[l];
                }
            }
            for (okra_int l = 0; l < width; l++) {
                stream_row(strip[l], run, to.p + (c + l) * to.ld + r);
            }
        }
    }
    return OKRA_OK;
}
