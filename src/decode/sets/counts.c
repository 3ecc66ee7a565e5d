/*
 * counts.c: the best set of labels y under kernels l(y_i, y) = f(|y_i & y|, |y_i|, |y|):
 * linear, tanimoto, dice, cosine, rbf, polynomials and what is made of them.
 *
 *     J(y) = l(y,y) - 2 sum_i w_i f(c_i, a_i, b),   c_i = |y_i & y|, a_i = |y_i|, b = |y|
 *
 * f comes from a table, equal training outputs are one with their weights added up, so
 * that a set costs a look at every distinct output, not n kernel values.
 *
 *   at most 12 labels      every set, in the order of a Gray code: exact
 *   f linear in c          (linear, dice, cosine) the best set of size b holds the b
 * labels of the largest sum_i w_i slope(a_i, b) [j in y_i]: exact else from the empty
 * set, growing by the best label, and from the nearest training outputs: the best label
 * is added or removed, or a member exchanged, until nothing improves
 *
 * All d additions together cost the members of the training outputs once: the gain of
 * label j is the sum of w_i (f(c_i + 1, a_i, b + 1) - f(c_i, a_i, b + 1)) over those that
 * hold it. Sets have at most `most` labels: all d where there are up to 256 and the table
 * is small enough, else twice the largest training output, or 64.
 *
 * A loss D in the place of the kernel (risk.c): f = -D / 2 and l(y,y) = 0, so that J is
 * the expected loss. hamming and f1 are linear in c, and exact.
 */
#include "decode/sets/counts.h"

enum { EVERY = 12, SMALL = 64, WIDE = 256 };
static const double TABLE_MOST = 1 << 23; /* numbers */

/* ---- the training outputs as distinct sets ---- */

typedef struct whole {
    okra_int size, index;
} whole;

OKRA_ORDER_(by_size, whole, OKRA_UP_(size), OKRA_UP_(index))

/* Distinct sets by size: offsets and members of each, and whose is which. */
static okra_status find_groups(const okra_data *y, okra_counts_ *s)
{
    okra_int total = 0;
    OWNED okra_int *first = NULL;
    OWNED whole *sets = NULL;
    MAKE(first, y->n);
    MAKE(sets, y->n);
    CHK(okra_data_same_(&y, 1, first));
    for (okra_int i = 0; i < y->n; i++) {
        if (first[i] == i) {
            sets[s->groups] = (whole){okra_sets_members_(y, i, NULL), i};
            total += sets[s->groups++].size;
        }
    }
    OKRA_SORT_(sets, s->groups, by_size);
    MAKE(s->members, total);
    MAKE(s->offsets, s->groups + 1);
    MAKE(s->group, y->n);
    s->offsets[0] = 0;
    for (okra_int g = 0; g < s->groups; g++) {
        okra_int begin = s->offsets[g], size = sets[g].size;
        okra_sets_members_(y, sets[g].index, s->members + begin);
        OKRA_SORT_(s->members + begin, size, okra_by_int32_);
        s->offsets[g + 1] = begin + size;
        s->group[sets[g].index] = g;
    }
    for (okra_int i = 0; i < y->n; i++) {
        s->group[i] = s->group[first[i]];
    }
    return OKRA_OK;
}

/* The sizes that occur, which is whose, and for each label the sets that hold it. */
static okra_status find_sizes(okra_counts_ *s)
{
    OWNED okra_int *at = NULL;
    okra_int total = s->offsets[s->groups];
    MAKE(s->size, s->groups);
    MAKE(s->which, s->groups);
    for (okra_int g = 0; g < s->groups; g++) {
        okra_int size = s->offsets[g + 1] - s->offsets[g];
        if (g == 0 || s->size[s->which[g - 1]] != size) {
            s->size[s->sizes++] = size;
        }
        s->which[g] = (int32_t)(s->sizes - 1);
    }
    s->largest = s->size[s->sizes - 1];
    ZMAKE(s->holders_at, s->d + 1);
    MAKE(s->holders, total);
    ZMAKE(at, s->d + 1);
    for (okra_int k = 0; k < total; k++) {
        s->holders_at[s->members[k] + 1]++;
    }
    for (okra_int j = 0; j < s->d; j++) {
        s->holders_at[j + 1] += s->holders_at[j];
        at[j] = s->holders_at[j];
    }
    for (okra_int g = 0; g < s->groups; g++) {
        for (okra_int k = s->offsets[g]; k < s->offsets[g + 1]; k++) {
            s->holders[at[s->members[k]]++] = (int32_t)g;
        }
    }
    return OKRA_OK;
}

/* ---- the table of kernel values ---- */

/* Sets of neighbouring labels begin..begin+size-1 as sparse vectors. */
static okra_status intervals(const okra_int *begin, const okra_int *size, okra_int n,
                             okra_int d, okra_data **out)
{
    OWNED okra_int *offsets = NULL;
    OWNED int32_t *members = NULL;
    MAKE(offsets, n + 1);
    offsets[0] = 0;
    for (okra_int i = 0; i < n; i++) {
        offsets[i + 1] = offsets[i] + size[i];
    }
    MAKE(members, offsets[n]);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int k = 0; k < size[i]; k++) {
            members[offsets[i] + k] = (int32_t)(begin[i] + k);
        }
    }
    return okra_sets_make_(NULL, OKRA_SPARSE, d, members, offsets, n, out);
}

/* K (intervals x sizes): l of the first a labels with s..s+b-1 for all s and b with s + b
 * <= d; they share a - s where s + b > a. */
static okra_status values(okra_context *ctx, const okra_kernel *kernel, okra_counts_ *s,
                          const okra_int *begin, const okra_int *length, okra_int count,
                          double *K)
{
    OWNED okra_int *zero = NULL;
    FREED_BY(okra_data_drop_) okra_data *heads = NULL, *sets = NULL;
    FREED_BY(okra_trained_kernel_drop_) okra_trained_kernel_ *bound = NULL;
    FREED_BY(okra_test_side_drop_) okra_test_side_ *other = NULL;
    OWNED double *self = NULL;
    ZMAKE(zero, s->sizes);
    MAKE(self, count);
    CHK(intervals(zero, s->size, s->sizes, s->d, &heads));
    CHK(intervals(begin, length, count, s->d, &sets));
    okra_mute_(ctx, true); /* what these sets are like concerns nobody */
    okra_status st = okra_trained_kernel_create_(ctx, kernel, heads, &bound);
    st = st == OKRA_OK ? okra_test_side_create_(ctx, bound, sets, &other) : st;
    okra_mute_(ctx, false);
    CHK(st);
    CHK(okra_test_side_cross_(ctx, bound, other, 0, okra_mat_of_(K, count, s->sizes)));
    CHK(okra_test_side_diagonal_(ctx, bound, other, self));
    for (okra_int i = 0; i < count; i++) {
        s->self[length[i]] = self[i];
    }
    return OKRA_OK;
}

/* Is f linear in the count for all sizes? */
static bool is_linear(const okra_counts_ *s)
{
    for (okra_int k = 0; k < s->sizes; k++) {
        for (okra_int b = 0; b <= s->most; b++) {
            const double *f = okra_counts_row_(s, k, b);
            okra_int first = OKRA_MAX_(0, s->size[k] + b - s->d);
            okra_int last = OKRA_MIN_(s->size[k], b);
            for (okra_int c = first + 2; c <= last; c++) {
                double bend = f[c] - 2 * f[c - 1] + f[c - 2];
                if (fabs(bend) > 1e-13 * (fabs(f[c]) + fabs(f[c - 1]) + fabs(f[c - 2]))) {
                    return false;
                }
            }
        }
    }
    return true;
}

/* l(y,y) of the sets that may be chosen, as their constant and what exceeds it. */
static okra_status part_self(okra_counts_ *s)
{
    MAKE(s->excess, s->most + 1);
    s->constant = okra_self_constant_(s->self, s->most + 1, !s->empty);
    bool same = !isnan(s->constant);
    s->constant = same ? s->constant : 0;
    for (okra_int b = 0; b <= s->most; b++) {
        s->excess[b] = same ? 0 : s->self[b];
    }
    return OKRA_OK;
}

/* K of a loss D in the place of a kernel: -D / 2 of intervals where the heads are right,
 * so that J = l(y,y) - 2 sum_i w_i f is the expected loss, with l(y,y) = 0. */
static okra_status losses(const okra_pair_loss_ *loss, okra_counts_ *s,
                          const okra_int *begin, const okra_int *length, okra_int count,
                          double *K)
{
    OWNED okra_int *zero = NULL, *size = NULL;
    FREED_BY(okra_data_drop_) okra_data *sets = NULL;
    OWNED double *each = NULL;
    ZMAKE(zero, count);
    MAKE(size, count);
    MAKE(each, count);
    CHK(intervals(begin, length, count, s->d, &sets));
    for (okra_int k = 0; k < s->sizes; k++) {
        FREED_BY(okra_data_drop_) okra_data *heads = NULL;
        for (okra_int i = 0; i < count; i++) {
            size[i] = s->size[k];
        }
        CHK(intervals(zero, size, count, s->d, &heads));
        CHK(okra_pair_loss_each_(loss, heads, sets, each));
        for (okra_int i = 0; i < count; i++) {
            K[i * s->sizes + k] = -each[i] / 2;
        }
    }
    return OKRA_OK;
}

/* Values of a kernel as those of its squared distance. */
static void distances(okra_counts_ *s, const okra_int *length, okra_int count, double *K)
{
    for (okra_int i = 0; i < count; i++) {
        for (okra_int k = 0; k < s->sizes; k++) {
            double *f = &K[i * s->sizes + k];
            *f -= (s->self[length[i]] + s->self[s->size[k]]) / 2;
        }
    }
    memset(s->self, 0, (size_t)(s->most + 1) * sizeof *s->self);
}

static okra_status make_table(okra_context *ctx, const okra_kernel *kernel,
                              const okra_pair_loss_ *loss, okra_counts_ *s)
{
    OWNED okra_int *begin = NULL, *length = NULL, *place = NULL;
    okra_int count = 0;
    okra_int across = s->most + 1, rows = (s->largest + 1) * across;
    OWNED double *K = NULL;
    MAKE(begin, rows);
    MAKE(length, rows);
    MAKE(place, rows);
    ZMAKE(s->self, across);
    ZMAKE(s->table, s->sizes * across * (s->largest + 1));
    for (okra_int i = 0; i < rows; i++) {
        place[i] = count;
        begin[count] = i / across;
        length[count] = i % across;
        count += begin[count] + length[count] <= s->d;
    }
    CHK(okra_doubles_(ctx, count, s->sizes, "kernel values of label sets", &K));
    CHK(kernel ? values(ctx, kernel, s, begin, length, count, K)
               : losses(loss, s, begin, length, count, K));
    if (kernel && loss) {
        distances(s, length, count, K);
    }
    CHK(part_self(s));
    for (okra_int k = 0; k < s->sizes; k++) {
        for (okra_int b = 0; b <= s->most; b++) {
            double *f = s->table + (k * across + b) * (s->largest + 1);
            for (okra_int c = OKRA_MAX_(0, s->size[k] + b - s->d);
                 c <= OKRA_MIN_(s->size[k], b); c++) {
                f[c] = K[place[(s->size[k] - c) * across + b] * s->sizes + k];
            }
        }
    }
    s->linear = is_linear(s);
    return OKRA_OK;
}

/* f = -D / 2 */
void okra_counts_losses_(const okra_counts_ *s, const int32_t *members, okra_int size,
                         int32_t *c, double *each)
{
    memset(c, 0, (size_t)s->groups * sizeof *c);
    for (okra_int k = 0; k < size; k++) {
        okra_int j = members[k];
        for (okra_int h = s->holders_at[j]; h < s->holders_at[j + 1]; h++) {
            c[s->holders[h]]++;
        }
    }
    for (okra_int i = 0; i < s->n; i++) {
        okra_int g = s->group[i];
        each[i] = -2 * okra_counts_row_(s, s->which[g], size)[c[g]];
    }
}

/* Is a table for sets of up to `most` labels small enough? */
static bool fits(const okra_counts_ *s, okra_int most)
{
    double numbers = (double)(s->largest + 1) * (double)(most + 1);
    return numbers * (double)s->sizes <= TABLE_MOST &&
           numbers * (double)(s->largest + most) <= TABLE_MOST;
}

static void release(void *arg)
{
    okra_counts_ *s = arg;
    FREE(s->offsets, s->members, s->group, s->size, s->which, s->holders_at, s->holders,
         s->self, s->excess, s->table, s);
}

void okra_counts_free_(okra_counts_ *s)
{
    if (s && !s->shelved) {
        release(s);
    }
}

OKRA_DROPS_(drop, okra_counts_, okra_counts_free_)

/* Few test points: the next ones find it. */
static void shelve(const okra_context *ctx, const okra_output_ *output, const char *name,
                   okra_counts_ *s)
{
    double numbers = (double)(s->sizes * (s->most + 1) * (s->largest + 1));
    double places = (double)(s->offsets[s->groups] + 2 * s->n + s->d);
    s->shelved = output->few && output->cache &&
                 okra_stays_(ctx, 8 * (numbers + 2 * places)); /* before others see it */
    if (s->shelved && !okra_cache_leave_(okra_cache_of_(output), name, s, release)) {
        s->shelved = false;
    }
}

okra_status okra_counts_create_(okra_context *ctx, const okra_output_ *output,
                                const okra_pair_loss_ *loss, bool empty, okra_int rounds,
                                okra_counts_ **out)
{
    FREED_BY(drop) okra_counts_ *s = NULL;
    bool plain = loss || (!output->map && !output->components && !output->criterion);
    /* Metrics of vectors do not ask which coordinate is which, but some kernels do. */
    const okra_kernel *kernel = loss ? loss->kernel : output->kernel;
    bool counts = kernel ? okra_kernel_by_counts_(kernel) : loss != NULL;
    char name[640];
    if (!plain || !counts || output->y->d < 1 || output->y->d > INT32_MAX) {
        return OKRA_OK;
    }
    snprintf(name, sizeof name, "counts %d %lld %s", empty, (long long)rounds,
             loss ? loss->spec : "");
    *out = okra_cache_find_(okra_cache_of_(output), name);
    if (*out) {
        return OKRA_OK;
    }
    ZMAKE(s, 1);
    s->n = output->y->n;
    s->d = output->y->d;
    s->empty = empty || loss;
    s->loss = loss != NULL;
    s->rounds = rounds;
    CHK(find_groups(output->y, s));
    CHK(find_sizes(s));
    s->most = OKRA_MIN_(s->d, OKRA_MAX_((okra_int)SMALL, 2 * s->largest));
    s->most = s->d <= WIDE && fits(s, s->d) ? s->d : s->most;
    s->every = s->d <= EVERY;
    if (!fits(s, s->most)) {
        return OKRA_OK;
    }
    CHK(make_table(ctx, kernel, loss, s));
    shelve(ctx, output, name, s);
    *out = TAKE(s);
    return OKRA_OK;
}
