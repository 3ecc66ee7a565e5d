/*
 * leaves.c: the features of ssk, spectrum, mismatch and position(zero-one), as cells of
 * tables; string_prediction.c tells what for.
 *
 * A word u_1..u_p over the alphabet has the cell (..(u_p L + u_(p-1)) L + ..) + u_1 of
 * L^p, so that the words that end in one letter are neighbours. A word of ssk that spans
 * s letters of a string counts decay^s.
 *
 * mismatch of two substrings depends on the number of places where they differ. With c_v
 * the counts of substrings v of the prediction, F_e(u) = sum of c_v over the v that
 * differ from u in e places comes from all letters of one place after another,
 *     F_e(u) <- F_e(u) + sum over the other letters there of F_(e-1),
 * and the cell of u holds sum_e I(e) F_e(u): k (top + 1) operations a cell.
 */
#include "decode/strings/string_prediction.h"

/* The sum of ssk over words of `left` more letters before place `before`. */
static double earlier(const okra_string_kernel_ *w, const double *h, const int32_t *y,
                      int left, okra_int before, okra_int index, const double *power)
{
    double sum = 0;
    for (okra_int j = before - 1; j >= left - 1; j--) {
        if (y[j] >= 0) {
            okra_int cell = index * w->letters + y[j];
            sum += left > 1 ? earlier(w, h, y, left - 1, j, cell, power)
                            : power[-j] * h[cell];
        }
    }
    return sum;
}

/* The same words get `add` each. */
static void add_earlier(const okra_string_kernel_ *w, double *h, const int32_t *y,
                        int left, okra_int before, okra_int index, const double *power,
                        double add)
{
    for (okra_int j = before - 1; j >= left - 1; j--) {
        if (y[j] >= 0) {
            okra_int cell = index * w->letters + y[j];
            if (left > 1) {
                add_earlier(w, h, y, left - 1, j, cell, power, add);
            } else {
                h[cell] += add * power[-j];
            }
        }
    }
}

/* The one cell of spectrum, mismatch, position or a single letter of ssk that ends in
 * letter m - 1; -1: there is none. A letter that is not in the alphabet makes none, but
 * for mismatch; INT32_MIN stands for a letter that is still open. */
static okra_int single(const okra_string_kernel_ *w, const okra_leaf_ *l, int p,
                       const int32_t *y, okra_int m)
{
    okra_int cell = 0;
    bool loose = l->sort == OKRA_LEAF_MISMATCH_;
    okra_int letters = w->letters + loose;
    if (m < p || (l->sort == OKRA_LEAF_POSITION_ && m > w->longest)) {
        return -1;
    }
    for (int k = 0; k < p; k++) {
        int32_t c = y[m - 1 - k];
        if (c < 0 && (!loose || c == INT32_MIN)) {
            return -1;
        }
        cell = cell * letters + (c < 0 ? w->letters : c);
    }
    return l->sort == OKRA_LEAF_POSITION_ ? cell + (m - 1) * w->letters : cell;
}

double okra_leaf_last_(const okra_string_kernel_ *w, int number, const double *table,
                       const int32_t *y, okra_int m)
{
    const okra_leaf_ *l = &w->leaf[number];
    double sum = 0;
    for (int p = l->low; p <= l->high; p++) {
        const double *h = table + l->offset[p];
        if (l->sort == OKRA_LEAF_SSK_ && p > 1) {
            sum += y[m - 1] < 0
                       ? 0
                       : earlier(w, h, y, p - 1, m - 1, y[m - 1], w->power[number] + m);
        } else {
            okra_int cell = single(w, l, p, y, m);
            sum += cell < 0 ? 0 : w->power[number][1] * h[cell];
        }
    }
    return sum;
}

void okra_leaf_add_(const okra_string_kernel_ *w, int number, double *table,
                    const int32_t *y, okra_int m, double add)
{
    const okra_leaf_ *l = &w->leaf[number];
    for (int p = l->low; p <= l->high; p++) {
        double *h = table + l->offset[p];
        okra_int cell = -1;
        if (l->sort != OKRA_LEAF_SSK_ || p == 1) {
            cell = single(w, l, p, y, m);
        } else if (y[m - 1] >= 0) {
            add_earlier(w, h, y, p - 1, m - 1, y[m - 1], w->power[number] + m, add);
        }
        if (cell >= 0) {
            h[cell] += add * w->power[number][1];
        }
    }
}

/* The same with letter `at` among the words, which is before `before`. */
static double through(const okra_string_kernel_ *w, const double *h, const int32_t *y,
                      int left, okra_int before, okra_int at, okra_int index,
                      const double *power)
{
    double sum = 0;
    okra_int cell = index * w->letters + y[at];
    if (left == 1) {
        return power[-at] * h[cell];
    }
    for (okra_int j = before - 1; j > at; j--) {
        if (y[j] >= 0) {
            sum += through(w, h, y, left - 1, j, at, index * w->letters + y[j], power);
        }
    }
    return sum + earlier(w, h, y, left - 1, at, cell, power);
}

double okra_leaf_through_(const okra_string_kernel_ *w, int number, const double *table,
                          okra_word_ y, okra_int at)
{
    const okra_leaf_ *l = &w->leaf[number];
    double sum = okra_leaf_last_(w, number, table, y.code, at + 1);
    for (okra_int m = at + 2; m <= y.length; m++) {
        bool known = y.code[m - 1] >= 0;
        for (int p = l->low; p <= l->high; p++) {
            if (known && l->sort == OKRA_LEAF_SSK_ && p > 1) {
                sum += through(w, table + l->offset[p], y.code, p - 1, m - 1, at,
                               y.code[m - 1], w->power[number] + m);
            }
        }
        bool substrings =
            l->sort == OKRA_LEAF_SPECTRUM_ || l->sort == OKRA_LEAF_MISMATCH_;
        if (substrings && m - at <= l->high) {
            sum += okra_leaf_last_(w, number, table, y.code, m);
        }
    }
    return sum;
}

/* ssk of a string with itself, as in the kernel (ssk.c); all that is summed is symmetric,
 * so that half of it is enough. `high` is a constant in the calls for short lengths. */
static inline OKRA_INLINE_ void self_sums(int high, double decay, okra_word_ y, double *B,
                                          double *total)
{
    okra_int n = y.length;
    for (okra_int k = 0; k < (high - 1) * n; k++) {
        B[k] = 0;
    }
    for (okra_int i = 0; i < n; i++) {
        double carry[OKRA_FEATURES_LENGTH_ + 1] = {0},
                                             before[OKRA_FEATURES_LENGTH_ + 1] = {1};
        for (okra_int j = 0; j <= i; j++) {
            bool equal = y.code[i] == y.code[j];
            double twice = i == j ? 1 : 2;
            total[high] += equal ? twice * before[high - 1] : 0;
            for (int p = high - 1; p >= 1; p--) {
                double a = equal ? before[p - 1] : 0, *b = &B[(p - 1) * n + j];
                total[p] += twice * a;
                carry[p] = decay * carry[p] + a;
                before[p] = *b;
                /* Above the diagonal is what lies left of it: B(i-1,i) = B(i,i-1). */
                *b = decay * (i == j && i > 0 ? b[-1] : *b) + carry[p];
            }
        }
    }
}

static double ssk_self(const okra_leaf_ *l, okra_word_ y, double *B)
{
    double total[OKRA_FEATURES_LENGTH_ + 1] = {0}, factor = 1, sum = 0;
    switch (l->high) {
    case 2:
        self_sums(2, l->decay, y, B, total);
        break;
    case 3:
        self_sums(3, l->decay, y, B, total);
        break;
    case 4:
        self_sums(4, l->decay, y, B, total);
        break;
    default:
        self_sums(l->high, l->decay, y, B, total);
        break;
    }
    for (int p = 1; p <= l->high; p++) {
        factor *= l->decay * l->decay;
        sum += p >= l->low ? factor * total[p] : 0;
    }
    return sum;
}

static double spectrum_self(const okra_leaf_ *l, okra_word_ y)
{
    double sum = 0;
    for (okra_int i = 0; i + l->high <= y.length; i++) {
        sum += 1;
        for (okra_int j = 0; j < i; j++) {
            bool equal = true;
            for (int k = 0; k < l->high && equal; k++) {
                equal = y.code[i + k] == y.code[j + k];
            }
            sum += equal ? 2 : 0;
        }
    }
    return sum;
}

/* Pairs of substrings `apart` letters apart, a window of k places along the string. */
static double mismatch_self(const okra_leaf_ *l, okra_word_ y)
{
    double sum = 0;
    for (okra_int apart = 0; apart + l->high <= y.length; apart++) {
        okra_int differ = 0;
        for (okra_int end = apart; end < y.length; end++) {
            okra_int gone = end - l->high;
            differ += y.code[end] != y.code[end - apart];
            differ -= gone >= apart && y.code[gone] != y.code[gone - apart];
            if (end - apart + 1 >= l->high && differ <= l->top) {
                sum += (apart > 0 ? 2 : 1) * l->shared[differ];
            }
        }
    }
    return sum;
}

void okra_leaf_spread_(const okra_string_kernel_ *w, const okra_leaf_ *l, double *table,
                       double *room)
{
    double *own = table + l->offset[l->high];
    okra_int letters = w->letters + 1, size = l->size;
    memcpy(room, own, (size_t)size * sizeof *own);
    memset(room + size, 0, (size_t)(l->top * size) * sizeof *own);
    for (okra_int stride = 1; stride < size; stride *= letters) {
        for (okra_int e = l->top; e > 0; e--) {
            const double *less = room + (e - 1) * size;
            double *more = room + e * size;
            for (okra_int at = 0; at < size; at++) {
                if (at / stride % letters != 0) {
                    continue;
                }
                double all = 0;
                for (okra_int c = 0; c < letters; c++) {
                    all += less[at + c * stride];
                }
                for (okra_int c = 0; c < letters; c++) {
                    more[at + c * stride] += all - less[at + c * stride];
                }
            }
        }
    }
    for (okra_int u = 0; u < size; u++) {
        own[u] = 0;
        for (okra_int e = 0; e <= l->top; e++) {
            own[u] += l->shared[e] * room[e * size + u];
        }
    }
}

double okra_leaf_self_(const okra_leaf_ *l, okra_word_ y, double *B)
{
    return l->sort == OKRA_LEAF_SSK_        ? ssk_self(l, y, B)
           : l->sort == OKRA_LEAF_SPECTRUM_ ? spectrum_self(l, y)
           : l->sort == OKRA_LEAF_MISMATCH_ ? mismatch_self(l, y)
                                            : (double)y.length;
}
