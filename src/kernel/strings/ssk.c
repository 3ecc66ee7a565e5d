/*
 * ssk.c: the gap-weighted subsequence kernel (Weston et al. 2003 eq. 4; Lodhi et al.
 * 2002).
 *
 *   k_r(s, t) = sum over u of length r, over the places i of u in s and j of u in t, of
 *               decay^(l(i) + l(j)),   l(i) = last - first + 1, gaps included
 *   upto=1: k_1 + ... + k_r
 *
 * Every matched character brings decay^2, every gap character decay, so with
 *   A_p(i,j)  = [s_i = t_j] B_(p-1)(i-1, j-1),  B_0 = 1
 *   B_p(i,j)  = decay B_p(i-1,j) + C_p(i,j),  C_p(i,j) = decay C_p(i,j-1) + A_p(i,j)
 *   k_p       = decay^(2p) sum_ij A_p(i,j)
 * B_p(i,j) sums the ways to match p characters within the first i and j, each decayed by
 * what lies between its last characters and (i,j). Row i of B_p overwrites row i-1.
 *
 * Cost: r |s| |t| steps, eight pairs at a time (string_kernels.h); memory (r-1) |t|
 * numbers a pair. Accuracy: all terms are positive; relative error at most about
 * 2(|s|+|t|+r) eps, measured below 8e-16 for strings of up to 9. Strings shorter than
 * `length` have no features: 0.
 */
#include "kernel/strings/string_kernels.h"

/* One row of all levels. r is a constant in the calls for short lengths, so that the
 * carried values stay in registers. Level p of `rows` holds B_p. */
static inline OKRA_INLINE_ void one_row(int r, double decay, const okra_lane_ *s,
                                        okra_int n, const okra_lane_ *t, okra_lane_ *rows,
                                        okra_lane_ *carry, okra_lane_ *before,
                                        okra_lane_ *sums)
{
    before[0] = (okra_lane_){0} + 1;
    for (int p = 1; p < r; p++) {
        carry[p] = before[p] = (okra_lane_){0};
    }
    for (okra_int j = 0; j < n; j++) {
        okra_mask_ equal = *s == t[j];
        /* From the top level down: level p reads what level p-1 had at j-1. */
        sums[r] += OKRA_WHERE_(equal, before[r - 1]);
        for (int p = r - 1; p >= 1; p--) {
            okra_lane_ a = OKRA_WHERE_(equal, before[p - 1]);
            okra_lane_ *b = &rows[(okra_int)(p - 1) * n + j];
            sums[p] += a;
            carry[p] = decay * carry[p] + a;
            before[p] = *b;
            *b = decay * *b + carry[p];
        }
    }
}

enum { LENGTH_MOST = 64 };

static inline OKRA_INLINE_ void all_rows(int r, double decay, okra_int m,
                                         const okra_lane_ *s, okra_int n,
                                         const okra_lane_ *t, okra_lane_ *rows,
                                         okra_lane_ *total)
{
    okra_lane_ carry[LENGTH_MOST + 1], before[LENGTH_MOST + 1], sums[LENGTH_MOST + 1];
    for (int p = 0; p <= r; p++) {
        sums[p] = (okra_lane_){0};
    }
    for (okra_int k = 0; k < (okra_int)(r - 1) * n; k++) {
        rows[k] = (okra_lane_){0};
    }
    for (okra_int i = 0; i < m; i++) {
        one_row(r, decay, &s[i], n, t, rows, carry, before, sums);
    }
    for (int p = 1; p <= r; p++) {
        total[p] = sums[p];
    }
}

static inline OKRA_INLINE_ void body(OKRA_BATCH_PARAMETERS_)
{
    const okra_ssk_params_ *p = arg;
    okra_lane_ total[LENGTH_MOST + 1], sum = {0};
    int r = (int)p->length;
    switch (r) {
    case 1:
        all_rows(1, p->decay, m, s, n, t, work, total);
        break;
    case 2:
        all_rows(2, p->decay, m, s, n, t, work, total);
        break;
    case 3:
        all_rows(3, p->decay, m, s, n, t, work, total);
        break;
    case 4:
        all_rows(4, p->decay, m, s, n, t, work, total);
        break;
    default:
        all_rows(r, p->decay, m, s, n, t, work, total);
        break;
    }
    double factor = 1;
    for (int q = 1; q <= r; q++) {
        factor *= p->decay * p->decay;
        if (p->upto || q == r) {
            sum += factor * total[q];
        }
    }
    for (int l = 0; l < OKRA_LANES_; l++) {
        value[l] = sum[l];
    }
}
OKRA_BATCH_(ssk_batch, body)

static okra_status make_side(okra_context *ctx, const void *params, const void *shared,
                             const okra_data *data, void **side)
{
    const okra_ssk_params_ *p = params;
    return okra_lanes_create_(data, ssk_batch, p, p->length - 1, side);
}

static const okra_option rows[] = {
    {"length", OKRA_OPTION_INT, offsetof(okra_ssk_params_, length), "3", 1, LENGTH_MOST,
     NULL, "N", "characters of a subsequence"},
    {"decay", OKRA_OPTION_NUMBER, offsetof(okra_ssk_params_, decay), "0.5", 1e-6, 1, NULL,
     "V", "weight of each character that a subsequence spans"},
    {"upto", OKRA_OPTION_BOOL, offsetof(okra_ssk_params_, upto), "0", 0, 1, NULL, "0|1",
     "sum the lengths 1 to `length`"},
    {.name = NULL}};

const okra_kernel_class_ okra_ssk_ = {
    .name = "ssk",
    .help = "strings: common subsequences of a length, gaps decayed",
    .params = {"ssk", rows, sizeof(okra_ssk_params_)},
    .kinds = 1u << OKRA_STRINGS,
    .side = make_side,
    OKRA_LANES_HOOKS_};
