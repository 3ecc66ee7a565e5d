/*
 * mismatch.c: the (k,m)-mismatch kernel (Leslie et al. 2004).
 *
 *   k(s,t) = sum over all words u of k letters of n_u(s) n_u(t),
 *   n_u(s) = how many substrings of s of k letters differ from u in at most m places
 *
 * The words need not be listed: two substrings that differ in d places share
 *   I(d) = sum over i, j, c of C(d,i) C(d-i,j) (A-2)^(d-i-j) C(k-d,c) (A-1)^c,
 *          d-i+c <= m,  d-j+c <= m
 * words u, A the size of the alphabet: i of the d places as in the first, j as in the
 * second, the others as in neither, and c of the k-d places where they agree changed. So
 *   k(s,t) = sum_d I(d) H(d),  H(d) = pairs of substrings that differ in d places,
 * and I(d) = 0 for d > 2m. H comes from sliding a window along the diagonals.
 *
 * A is the number of distinct characters of the training set unless given; characters of
 * other strings that are new count as letters too. Cost: (2m+4) |s||t| steps whatever k,
 * eight pairs at a time. H is exact; the value has one rounding a term.
 */
#include "kernel/strings/string_kernels.h"

enum { K_MOST = 64, M_MOST = OKRA_MISMATCH_TOP_ / 2 };

/* Shared by both sides. */
typedef struct weights {
    okra_int k, top;          /* top: largest d with I(d) > 0 */
    double I[2 * M_MOST + 1]; /*                              */
} weights;

static double choose(okra_int n, okra_int k)
{
    double c = 1;
    for (okra_int i = 1; i <= k; i++) {
        c = c * (double)(n - k + i) / (double)i;
    }
    return k < 0 || k > n ? 0 : c;
}

static double power(double x, okra_int p)
{
    double result = 1;
    while (p-- > 0) {
        result *= x;
    }
    return result;
}

static double shared_words(okra_int k, okra_int m, double letters, okra_int d)
{
    double sum = 0;
    for (okra_int i = 0; i <= d; i++) {
        for (okra_int j = 0; i + j <= d; j++) {
            okra_int changes = m - d + OKRA_MIN_(i, j);
            for (okra_int c = 0; c <= OKRA_MIN_(changes, k - d); c++) {
                sum += choose(d, i) * choose(d - i, j) *
                       power(OKRA_MAX_(letters - 2, 0), d - i - j) * choose(k - d, c) *
                       power(OKRA_MAX_(letters - 1, 0), c);
            }
        }
    }
    return sum;
}

okra_status okra_mismatch_shared_(const okra_mismatch_params_ *p, const okra_data *train,
                                  okra_int *top, double shared[OKRA_MISMATCH_TOP_ + 1])
{
    OWNED int32_t *letters = NULL;
    okra_int count = 0;
    REFUSE_IF(p->m > p->k, OKRA_EARG, "kernel mismatch: m=%lld is more than k=%lld",
              (long long)p->m, (long long)p->k);
    CHK(okra_alphabet_(train, &letters, &count));
    if (p->alphabet > 0 && p->alphabet < count) { /* I(d) would not be a kernel */
        return okra_fail_(
            OKRA_EARG,
            "kernel mismatch: alphabet=%lld is less than the %lld letters of %s",
            (long long)p->alphabet, (long long)count, train->source);
    }
    count = OKRA_MAX_(count, p->alphabet);
    *top = OKRA_MIN_(2 * p->m, p->k);
    for (okra_int d = 0; d <= *top; d++) {
        shared[d] = shared_words(p->k, p->m, (double)count, d);
    }
    return OKRA_OK;
}

static okra_status bind_training(okra_context *ctx, const void *params,
                                 const okra_data *train, void **shared)
{
    const okra_mismatch_params_ *p = params;
    OWNED weights *w = NULL;
    ZMAKE(w, 1);
    w->k = p->k;
    CHK(okra_mismatch_shared_(p, train, &w->top, w->I));
    *shared = TAKE(w);
    return OKRA_OK;
}

/* c(i,j): differences within the windows of k that end at i and j, so
 * c(i,j) = c(i-1,j-1) + [s_i != t_j] - [s_(i-k) != t_(j-k)]. Row i overwrites row i-1. */
static inline OKRA_INLINE_ void body(OKRA_BATCH_PARAMETERS_)
{
    const weights *w = arg;
    const okra_lane_ one = (okra_lane_){0} + 1;
    okra_int k = w->k;
    okra_lane_ H[2 * M_MOST + 1], sum = {0};
    memset(H, 0, sizeof H);
    memset(work, 0, (size_t)n * sizeof *work);
    for (okra_int i = 0; i < m; i++) {
        okra_lane_ before = {0};
        for (okra_int j = 0; j < n; j++) {
            okra_lane_ c = before + OKRA_WHERE_(s[i] != t[j], one);
            before = work[j];
            if (i >= k && j >= k) {
                c -= OKRA_WHERE_(s[i - k] != t[j - k], one);
            }
            work[j] = c;
            if (i < k - 1 || j < k - 1) {
                continue;
            }
            okra_mask_ inside = (s[i] >= 0) & (t[j] >= 0);
            for (okra_int d = 0; d <= w->top; d++) {
                H[d] += OKRA_WHERE_((c == (double)d) & inside, one);
            }
        }
    }
    for (okra_int d = 0; d <= w->top; d++) {
        sum += w->I[d] * H[d];
    }
    for (int l = 0; l < OKRA_LANES_; l++) {
        value[l] = sum[l];
    }
}
OKRA_BATCH_(mismatch_batch, body)

static okra_status make_side(okra_context *ctx, const void *params, const void *shared,
                             const okra_data *data, void **side)
{
    return okra_lanes_create_(data, mismatch_batch, shared, 1, side);
}

static const okra_option rows[] = {
    {"k", OKRA_OPTION_INT, offsetof(okra_mismatch_params_, k), "3", 1, K_MOST, NULL, "N",
     "characters of a substring"},
    {"m", OKRA_OPTION_INT, offsetof(okra_mismatch_params_, m), "1", 0, M_MOST, NULL, "N",
     "characters that may differ"},
    {"alphabet", OKRA_OPTION_INT, offsetof(okra_mismatch_params_, alphabet), "0", 0,
     1114112, NULL, "N", "size of the alphabet; 0: the characters of the training set"},
    {.name = NULL}};

const okra_kernel_class_ okra_mismatch_ = {
    .name = "mismatch",
    .help = "strings: substrings of k characters that agree but for m of them",
    .params = {"mismatch", rows, sizeof(okra_mismatch_params_)},
    .kinds = 1u << OKRA_STRINGS,
    .bind = bind_training,
    .unbind = okra_free_,
    .side = make_side,
    OKRA_LANES_HOOKS_};
