/*
 * splits.c: which of many splits of a node can be the best one, in single precision.
 *
 * With the outputs L of a node centred, M = H L H, H = I - 11'/s, a split of s items into
 * t on its smaller side I and s - t others reduces the variance by
 *
 *     q s / (t (s - t)),   q = sum_{i,j in I} M_ij
 *
 * the same for both sides, so that the smaller one is summed. M is kept in tiles of 64 x
 * 64 floats of its lower triangle, off the diagonal twice, which stay in the nearest
 * cache while the rows in I of all splits are added up; I is one bit per item. About
 * t s / 2 additions a split, where a product with the 0/1 matrix of all splits takes s^2
 * multiplications and additions in double precision.
 *
 * Error: with u = 2^-24 a float sum is off by (64 + s/64 + 2) u times the sum of |M_ij|
 * over I, which is at most t |M| (Frobenius). The reduction in double precision, by which
 * the best is chosen, is off by at most 8 s^3 eps max |l|. A split that is below the best
 * by more than twice both cannot be chosen.
 */
#include "method/neighbours/splits.h"
#include "core/simd.h"

/* A tile, how many floats are added and how many rows of K are read at once. */
enum { SIDE = 64, WIDE = 16, ROWS = 4 };
typedef float lane __attribute__((vector_size(WIDE * sizeof(float))));

static okra_int blocks_of(okra_int items)
{
    return (items + SIDE - 1) / SIDE;
}

okra_status okra_splits_create_(okra_context *ctx, okra_int features, okra_int items,
                                okra_int splits, okra_splits_ *w)
{
    okra_int blocks = blocks_of(items), tiles = blocks * (blocks + 1) / 2;
    double bytes = (double)tiles * SIDE * SIDE * sizeof *w->tiles +
                   (double)splits * SIDE * sizeof *w->sums +
                   (double)splits * (double)blocks * sizeof *w->side;
    CHK(okra_budget_ask_(ctx, bytes, "splits of a tree"));
    w->splits = splits;
    MAKE(w->tiles, tiles * SIDE * SIDE);
    MAKE(w->sums, splits * SIDE);
    MAKE(w->side, splits * blocks);
    MAKE(w->begin, features + 1);
    MAKE(w->place, splits);
    MAKE(w->feature, splits);
    MAKE(w->cut, splits);
    MAKE(w->words, splits);
    MAKE(w->mean, items);
    MAKE(w->gain, splits);
    MAKE(w->size, splits);
    return OKRA_OK;
}

OKRA_SHARED_CLEARS_(okra_splits_free_, okra_splits_, it->tiles, it->sums, it->side,
                    it->begin, it->place, it->feature, it->cut, it->words, it->mean,
                    it->gain, it->size)

/* ---- the smaller sides ---- */

/* Without a branch, which no processor could foresee. */
static inline OKRA_INLINE_ void left_body(const double *row, double cut, okra_int s,
                                          const okra_int *at, double *restrict z,
                                          bool fused)
{
    for (okra_int i = 0; i < s; i++) {
        z[i] = row[at[i]] < cut ? 1 : 0;
    }
}
OKRA_VARIANTS_(left, left_body,
               (const double *row, double cut, okra_int s, const okra_int *at, double *z),
               (row, cut, s, at, z))

void okra_splits_left_(const double *row, double cut, okra_int s, const okra_int *at,
                       double *z)
{
    left(row, cut, s, at, z);
}

/* Bit place + k of words[i]: the item whose row of K is row[k] goes left in split i. The
 * rows share the loads of what the split is. */
static inline OKRA_INLINE_ void mark_body(const double *const row[ROWS], okra_int count,
                                          const okra_int *feature, const double *cut,
                                          int place, uint64_t *restrict words, bool fused)
{
    const double *a = row[0], *b = row[1], *c = row[2], *d = row[3];
    for (okra_int i = 0; i < count; i++) {
        okra_int f = feature[i];
        uint64_t bits = (uint64_t)(a[f] < cut[i]) | (uint64_t)(b[f] < cut[i]) << 1 |
                        (uint64_t)(c[f] < cut[i]) << 2 | (uint64_t)(d[f] < cut[i]) << 3;
        words[i] |= bits << place;
    }
}
OKRA_VARIANTS_(mark, mark_body,
               (const double *const row[ROWS], okra_int count, const okra_int *feature,
                const double *cut, int place, uint64_t *words),
               (row, count, feature, cut, place, words))

/* Of block b of s items: one bit for each of its items. */
static uint64_t items_of(okra_int b, okra_int s)
{
    okra_int rest = s - b * SIDE;
    return rest < SIDE ? ((uint64_t)1 << rest) - 1 : ~(uint64_t)0;
}

/* The splits by ascending features, so that rows of K are read from left to right. */
static void sort_splits(okra_splits_ *w, okra_int features, okra_int count,
                        const okra_int *feature, const double *cut)
{
    memset(w->begin, 0, (size_t)(features + 1) * sizeof *w->begin);
    for (okra_int c = 0; c < count; c++) {
        w->begin[feature[c] + 1]++;
    }
    for (okra_int f = 0; f < features; f++) {
        w->begin[f + 1] += w->begin[f];
    }
    for (okra_int c = 0; c < count; c++) {
        okra_int k = w->begin[feature[c]]++;
        w->place[k] = c;
        w->feature[k] = feature[c];
        w->cut[k] = cut[c];
    }
}

static void find_sides(okra_splits_ *w, const okra_node_items_ *node, okra_int count,
                       const okra_int *feature, const double *cut)
{
    okra_int blocks = blocks_of(node->s);
    sort_splits(w, node->K.cols, count, feature, cut);
    memset(w->size, 0, (size_t)count * sizeof *w->size);
    for (okra_int b = 0; b < blocks; b++) {
        memset(w->words, 0, (size_t)count * sizeof *w->words);
        for (okra_int i = b * SIDE; i < OKRA_MIN_((b + 1) * SIDE, node->s); i += ROWS) {
            const double *row[ROWS];
            for (okra_int k = 0; k < ROWS; k++) { /* the last item again behind the end */
                row[k] = node->K.p + node->at[OKRA_MIN_(i + k, node->s - 1)] * node->K.ld;
            }
            mark(row, count, w->feature, w->cut, (int)(i - b * SIDE), w->words);
        }
        for (okra_int k = 0; k < count; k++) {
            uint64_t word = w->words[k] & items_of(b, node->s);
            w->side[b * w->splits + w->place[k]] = word;
            w->size[w->place[k]] += __builtin_popcountll(word);
        }
    }
    for (okra_int b = 0; b < blocks; b++) {
        uint64_t all = items_of(b, node->s);
        for (okra_int c = 0; c < count; c++) {
            w->side[b * w->splits + c] ^= 2 * w->size[c] > node->s ? all : 0;
        }
    }
    for (okra_int c = 0; c < count; c++) {
        w->size[c] = OKRA_MIN_(w->size[c], node->s - w->size[c]);
    }
}

/* ---- the centred outputs ---- */

static inline OKRA_INLINE_ void sum_body(const double *l, okra_int count, double *sum,
                                         double *most, bool fused)
{
    okra_axpy_(count, 1, l, sum);
    for (okra_int j = 0; j + WIDE <= count; j += WIDE) {
        for (int k = 0; k < WIDE; k++) {
            most[k] = fabs(l[j + k]) > most[k] ? fabs(l[j + k]) : most[k];
        }
    }
    for (okra_int j = count / WIDE * WIDE; j < count; j++) {
        most[0] = fabs(l[j]) > most[0] ? fabs(l[j]) : most[0];
    }
}
OKRA_VARIANTS_(sum_row, sum_body,
               (const double *l, okra_int count, double *sum, double *most),
               (l, count, sum, most))

/* The means of the columns, and the mean of those. Returns max |l|. */
static double find_means(okra_splits_ *w, const okra_node_items_ *node, double *mean)
{
    double most[WIDE] = {0}, total = 0;
    memset(w->mean, 0, (size_t)node->s * sizeof *w->mean);
    for (okra_int i = 0; i < node->s; i++) {
        sum_row(node->L.p + i * node->L.ld, node->s, w->mean, most);
    }
    for (okra_int i = 0; i < node->s; i++) {
        w->mean[i] /= (double)node->s;
        total += w->mean[i];
    }
    *mean = total / (double)node->s;
    for (int k = 1; k < WIDE; k++) {
        most[0] = fmax(most[0], most[k]);
    }
    return most[0];
}

/* out[j] <- 2 scale (l[j] - row - mean[j]); squares[j] gets its square. */
static inline OKRA_INLINE_ void centre_body(const double *l, double row,
                                            const double *mean, double scale,
                                            okra_int count, float *out, double *squares,
                                            bool fused)
{
    for (okra_int j = 0; j < count; j++) {
        double m = 2 * scale * (l[j] - row - mean[j]);
        out[j] = (float)m;
        squares[j] += m * m;
    }
}
OKRA_VARIANTS_(centre, centre_body,
               (const double *l, double row, const double *mean, double scale,
                okra_int count, float *out, double *squares),
               (l, row, mean, scale, count, out, squares))

/* The tiles of `scale` M; returns a bound on its Frobenius norm. */
static double make_tiles(okra_splits_ *w, const okra_node_items_ *node, double mean,
                         double scale)
{
    double squares[SIDE] = {0}, total = 0;
    for (okra_int i = 0; i < node->s; i++) {
        okra_int a = i / SIDE;
        for (okra_int b = 0; b <= a; b++) {
            okra_int count = OKRA_MIN_(SIDE, i - b * SIDE + 1);
            float *out = w->tiles + ((a * (a + 1) / 2 + b) * SIDE + i % SIDE) * SIDE;
            centre(node->L.p + i * node->L.ld + b * SIDE, w->mean[i] - mean,
                   w->mean + b * SIDE, scale, count, out, squares);
            if (a == b) {
                out[count - 1] /= 2;
                memset(out + count, 0, (size_t)(SIDE - count) * sizeof *out);
            }
        }
    }
    for (int k = 0; k < SIDE; k++) {
        total += squares[k];
    }
    return sqrt(total / 2);
}

/* ---- the sums ---- */

/* sums[c] += the rows of the tile whose bit is set in rows[c] */
static inline OKRA_INLINE_ void add_body(const float *tile, okra_int count,
                                         const uint64_t *rows, float *sums, bool fused)
{
    for (okra_int c = 0; c < count; c++) {
        lane sum[SIDE / WIDE] = {{0}}, value;
        for (uint64_t left = rows[c]; left; left &= left - 1) {
            const float *row = tile + __builtin_ctzll(left) * SIDE;
            for (int k = 0; k < SIDE / WIDE; k++) {
                memcpy(&value, row + k * WIDE, sizeof value);
                sum[k] += value;
            }
        }
        for (int k = 0; k < SIDE / WIDE; k++) {
            memcpy(&value, sums + c * SIDE + k * WIDE, sizeof value);
            value += sum[k];
            memcpy(sums + c * SIDE + k * WIDE, &value, sizeof value);
        }
    }
}
OKRA_VARIANTS_(add_rows, add_body,
               (const float *tile, okra_int count, const uint64_t *rows, float *sums),
               (tile, count, rows, sums))

/* gain[c] <- the sum of M over the smaller side of split c */
static void sum_sides(okra_splits_ *w, okra_int s, okra_int count)
{
    memset(w->gain, 0, (size_t)count * sizeof *w->gain);
    for (okra_int b = 0; b < blocks_of(s); b++) {
        memset(w->sums, 0, (size_t)(count * SIDE) * sizeof *w->sums);
        for (okra_int a = b; a < blocks_of(s); a++) {
            add_rows(w->tiles + (a * (a + 1) / 2 + b) * SIDE * SIDE, count,
                     w->side + a * w->splits, w->sums);
        }
        for (okra_int c = 0; c < count; c++) {
            uint64_t left = w->side[b * w->splits + c];
            for (; left; left &= left - 1) {
                w->gain[c] += (double)w->sums[c * SIDE + __builtin_ctzll(left)];
            }
        }
    }
}

okra_int okra_splits_keep_(okra_splits_ *w, const okra_node_items_ *node, okra_int count,
                           okra_int least, okra_int *feature, double *cut)
{
    double s = (double)node->s, mean = 0, best = -(double)INFINITY;
    double most = find_means(w, node, &mean);
    double norm = make_tiles(w, node, mean, most > 0 ? 1 / most : 0);
    double slack = 2 * ((SIDE + s / SIDE + 3) * (double)FLT_EPSILON * norm +
                        8 * s * s * s * DBL_EPSILON);
    okra_int kept = 0;
    find_sides(w, node, count, feature, cut);
    sum_sides(w, node->s, count);
    for (okra_int c = 0; c < count; c++) {
        double t = (double)w->size[c];
        w->gain[c] *= s / (t * (s - t));
        if (w->size[c] >= node->leaf && w->gain[c] > best) {
            best = w->gain[c];
        }
    }
    for (okra_int c = 0; c < count; c++) {
        bool may = w->size[c] >= node->leaf && !(w->gain[c] < best - slack);
        if (may || kept + count - c <= least) {
            feature[kept] = feature[c];
            cut[kept++] = cut[c];
        }
    }
    return kept;
}
