/*
 * laplacian.c: exp(-gamma |x - y|_1), the sum of absolute differences.
 *
 * Dense: d operations a pair. Packed: the bits set in one of two rows, exact. Otherwise
 *     |x - y|_1 = (|x|_1 - sum_j |x_j|) + sum_j |x_j - y_j|,   j over the nonzeros of y,
 * where both sums run in the same order, so that equal rows have distance exactly 0.
 * Relative error of the distance: d eps dense; d eps (|x|_1 + |y|_1) absolute sparse.
 */
#include "core/simd.h"
#include "kernel/gram/trained_kernel.h"

typedef struct params {
    double gamma;
} params;

static okra_status make_side(okra_context *ctx, const void *p, const void *shared,
                             const okra_data *data, void **out)
{
    CHK(okra_widths_(ctx, "laplacian", data, shared));
    *out = (okra_data *)(uintptr_t)data;
    return OKRA_OK;
}

/* Partial sums by place modulo LANES keep the additions independent and vectorised. */
enum { LANES = 16 };

static inline OKRA_INLINE_ void body(const double *restrict x, const double *restrict y,
                                     okra_int d, double *restrict out, bool fused)
{
    double sum[LANES] = {0}, total = 0;
    okra_int whole = d - d % LANES;
    for (okra_int j = 0; j < whole; j += LANES) {
        for (int k = 0; k < LANES; k++) {
            sum[k] += fabs(x[j + k] - y[j + k]);
        }
    }
    for (okra_int j = whole; j < d; j++) {
        total += fabs(x[j] - y[j]);
    }
    for (int k = 0; k < LANES; k++) {
        total += sum[k];
    }
    *out = total;
}

OKRA_VARIANTS_(distance, body,
               (const double *x, const double *y, okra_int d, double *out),
               (x, y, d, out))

static double distance_wide_thin(const okra_wide_ *wide, const okra_thin_ *thin)
{
    double covered = 0, difference = 0;
    for (okra_int k = 0; k < thin->count; k++) {
        double x = wide->values[thin->indices[k]];
        covered += fabs(x);
        difference += fabs(x - okra_thin_value_(thin, k));
    }
    double rest = wide->magnitude - covered;
    return (rest < 0 ? 0 : rest) + difference;
}

static void bits_block(const okra_data *a, okra_int i0, okra_int ni, const okra_data *b,
                       okra_int j0, okra_int nj, double *out, okra_int ld)
{
    for (okra_int r = 0; r < ni; r++) {
        const uint64_t *x = a->bits + (i0 + r) * a->words;
        for (okra_int c = 0; c < nj; c++) {
            const uint64_t *y = b->bits + (j0 + c) * b->words;
            okra_int count = 0;
            for (okra_int w = 0; w < a->words; w++) {
                count += __builtin_popcountll(x[w] ^ y[w]);
            }
            out[r * ld + c] = (double)count;
        }
    }
}

static okra_status block(okra_context *ctx, const void *p, const void *pa, okra_int i0,
                         okra_int ni, const void *pb, okra_int j0, okra_int nj,
                         double *out, okra_int ld)
{
    const okra_data *a = pa, *b = pb;
    double gamma = ((const params *)p)->gamma;
    if (a->kind == OKRA_DENSE && b->kind == OKRA_DENSE) {
        for (okra_int r = 0; r < ni; r++) {
            for (okra_int c = 0; c < nj; c++) {
                distance(a->values + (i0 + r) * a->ld, b->values + (j0 + c) * b->ld, a->d,
                         out + r * ld + c);
            }
        }
    } else if (a->kind == OKRA_BITS && b->kind == OKRA_BITS) {
        bits_block(a, i0, ni, b, j0, nj, out, ld);
    } else {
        CHK(okra_rows_meet_(a, i0, ni, b, j0, nj, distance_wide_thin, out, ld));
    }
    for (okra_int r = 0; r < ni; r++) {
        okra_scale_(nj, -gamma, out + r * ld);
        okra_vexp_(nj, out + r * ld);
    }
    return OKRA_OK;
}

static int steps(const void *p, const void *pa, const void *pb, okra_step_ out[2])
{
    const okra_data *a = pa, *b = pb;
    if (a->kind != OKRA_DENSE || b->kind != OKRA_DENSE) {
        return 0;
    }
    out[0] = (okra_step_){.code = OKRA_CODE_DISTANCE1_,
                          .a = a->values,
                          .b = b->values,
                          .width = a->d,
                          .a_ld = a->ld,
                          .b_ld = b->ld};
    out[1] = (okra_step_){.code = OKRA_CODE_EXP_, .p = -((const params *)p)->gamma};
    return 2;
}

static const okra_option rows[] = {{"gamma", OKRA_OPTION_NUMBER, offsetof(params, gamma),
                                    NULL, 0, DBL_MAX, NULL, "V", "inverse width"},
                                   {.name = NULL}};

const okra_kernel_class_ okra_laplacian_ = {.name = "laplacian",
                                            .help = "exp(-gamma |x-y|_1)",
                                            .params = {"laplacian", rows, sizeof(params)},
                                            .kinds = OKRA_VECTORS_,
                                            .automatic = OKRA_RULE_EXPONENT_,
                                            .side = make_side,
                                            .block = block,
                                            .steps = steps};
