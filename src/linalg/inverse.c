/*
 * inverse.c: one right-hand side after the other by the inverse of a factor.
 *
 *     (L L')^-1 b = T'(T b),   T = L^-1:   z_i = <T_i, b>,  w += z_i T_i
 *
 * A row of T that was read for z_i is still in cache for w, so that a solve reads half of
 * a matrix once, where substitution with L and then L' reads it twice. T is made of
 * solves, n^3 / 3 operations. The error is that of the condition of L L', as with
 * substitution; the residual may be larger than there.
 *
 * T lies in groups of 8 rows, each as long as its last row and filled up with 0. Sums run
 * over parts of equal work, the same for any number of threads.
 */
#include "core/simd.h"
#include "linalg/linalg.h"

enum { GROUP = OKRA_LANES_, PARTS = 16, MADE = 256 };

static okra_int groups_of(okra_int n)
{
    return (n + GROUP - 1) / GROUP;
}

/* Numbers before group g. */
static okra_int place(okra_int g)
{
    return GROUP * GROUP / 2 * g * (g + 1);
}

okra_int okra_inverse_count_(okra_int n)
{
    return place(groups_of(n));
}

okra_status okra_inverse_(okra_context *ctx, okra_mat_ L, double *T)
{
    OWNED double *rows = NULL;
    okra_int n = L.rows;
    CHK(okra_doubles_(ctx, MADE, n, "rows of an inverse", &rows));
    memset(T, 0, (size_t)okra_inverse_count_(n) * sizeof *T);
    for (okra_int first = 0; first < n; first += MADE) {
        okra_int count = OKRA_MIN_(MADE, n - first), end = first + count;
        okra_mat_ B = okra_mat_of_(rows, count, end);
        okra_mat_fill_(B, 0);
        for (okra_int i = 0; i < count; i++) {
            rows[i * end + first + i] = 1;
        }
        CHK(okra_trsm_(ctx, false, false, okra_mat_part_(L, 0, end, 0, end), B));
        for (okra_int i = first; i < end; i++) {
            okra_int g = i / GROUP, width = GROUP * (g + 1);
            memcpy(T + place(g) + i % GROUP * width, rows + (i - first) * end,
                   (size_t)(i + 1) * sizeof *T);
        }
    }
    return OKRA_OK;
}

/* w += G'(G b) of a group G of rows. */
static inline OKRA_INLINE_ void group_body(okra_int width, const double *G,
                                           const double *b, double *restrict w,
                                           bool fused)
{
    okra_lane_ sums[GROUP] = {{0}}, z;
    for (okra_int j = 0; j < width; j += GROUP) {
        okra_lane_ at, row;
        memcpy(&at, b + j, sizeof at);
        for (int r = 0; r < GROUP; r++) {
            memcpy(&row, G + r * width + j, sizeof row);
            sums[r] += row * at;
        }
    }
    for (int r = 0; r < GROUP; r++) {
        okra_lane_ t = sums[r];
        z[r] = ((t[0] + t[1]) + (t[2] + t[3])) + ((t[4] + t[5]) + (t[6] + t[7]));
    }
    for (okra_int j = 0; j < width; j += GROUP) {
        okra_lane_ sum, row;
        memcpy(&sum, w + j, sizeof sum);
        for (int r = 0; r < GROUP; r++) {
            memcpy(&row, G + r * width + j, sizeof row);
            sum += z[r] * row;
        }
        memcpy(w + j, &sum, sizeof sum);
    }
}
OKRA_VARIANTS_(one_group, group_body,
               (okra_int width, const double *G, const double *b, double *restrict w),
               (width, G, b, w))

typedef struct task {
    okra_int groups;
    const double *T, *b;
    double *parts; /* PARTS x (8 groups) */
} task;

static okra_status some_parts(void *arg, okra_int begin, okra_int end, int worker)
{
    const task *t = arg;
    for (okra_int p = begin; p < end; p++) {
        okra_int from = (okra_int)((double)t->groups * sqrt((double)p / PARTS));
        okra_int to = (okra_int)((double)t->groups * sqrt((double)(p + 1) / PARTS));
        for (okra_int g = from; g < to; g++) {
            one_group(GROUP * (g + 1), t->T + place(g), t->b,
                      t->parts + p * GROUP * t->groups);
        }
    }
    return OKRA_OK;
}

okra_status okra_inverse_row_(okra_context *ctx, okra_int n, const double *T, double *b)
{
    OWNED double *room = NULL;
    okra_int groups = groups_of(n), width = GROUP * groups;
    ZMAKE(room, (PARTS + 1) * width);
    task t = {groups, T, room, room + width};
    memcpy(room, b, (size_t)n * sizeof *b);
    CHK(okra_parallel_least_(ctx, 10 * (double)n * (double)n, PARTS, 1, NULL, some_parts,
                             &t));
    for (okra_int j = 0; j < n; j++) {
        b[j] = 0;
        for (okra_int p = 0; p < PARTS; p++) {
            b[j] += t.parts[p * width + j];
        }
    }
    return OKRA_OK;
}
