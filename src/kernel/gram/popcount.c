/*
 * popcount.c: shared bits of packed rows, |a and b|.
 *
 * The block of b is laid out by groups of LANES rows, word by word, so that one word of a
 * meets the same word of LANES rows of b in a few vector instructions and the counts stay
 * in registers: no sum across a vector is ever needed. ni*nj*words word operations,
 * exact.
 */
#include "kernel/gram/trained_kernel.h"
#include "core/simd.h"
#if defined(__aarch64__)
#include <arm_neon.h>
#endif

enum { LANES = 32 };

/* One row of a against the LANES rows of a group. */
static inline OKRA_INLINE_ void row(const uint64_t *restrict a,
                                    const uint64_t *restrict group, okra_int words,
                                    double *restrict counts)
{
    uint64_t sum[LANES] = {0};
    for (okra_int w = 0; w < words; w++) {
        for (int k = 0; k < LANES; k++) {
#if defined(__aarch64__) /* two words at a time */
            uint64x2_t b = vld1q_u64(group + w * LANES + k);
            uint8x16_t bits =
                vcntq_u8(vreinterpretq_u8_u64(vandq_u64(vdupq_n_u64(a[w]), b)));
            uint32x4_t parts = vpaddlq_u16(vpaddlq_u8(bits));
            vst1q_u64(sum + k, vpadalq_u32(vld1q_u64(sum + k), parts));
            k++;
#else
            sum[k] += (uint64_t)__builtin_popcountll(a[w] & group[w * LANES + k]);
#endif
        }
    }
    for (int k = 0; k < LANES; k++) {
        counts[k] = (double)(int64_t)sum[k];
    }
}

static inline OKRA_INLINE_ void body(const uint64_t *a, okra_int ni,
                                     const uint64_t *group, okra_int words, double *out,
                                     okra_int ld, okra_int width, bool fused)
{
    for (okra_int i = 0; i < ni; i++) {
        double counts[LANES];
        row(a + i * words, group, words, counts);
        for (okra_int k = 0; k < width; k++) {
            out[i * ld + k] = counts[k];
        }
    }
}

OKRA_VARIANTS_(group_block, body,
               (const uint64_t *a, okra_int ni, const uint64_t *group, okra_int words,
                double *out, okra_int ld, okra_int width),
               (a, ni, group, words, out, ld, width))

okra_status okra_popcount_and_(const uint64_t *a, okra_int ni, const uint64_t *b,
                               okra_int nj, okra_int words, double *out, okra_int ld)
{
    OWNED uint64_t *group = NULL;
    ZMAKE(group, OKRA_MAX_(words, 1) * LANES);
    for (okra_int j = 0; j < nj; j += LANES) {
        okra_int width = OKRA_MIN_(LANES, nj - j);
        for (okra_int k = 0; k < width; k++) {
            for (okra_int w = 0; w < words; w++) {
                group[w * LANES + k] = b[(j + k) * words + w];
            }
        }
        group_block(a, ni, group, words, out + j, ld, width);
    }
    return OKRA_OK;
}
