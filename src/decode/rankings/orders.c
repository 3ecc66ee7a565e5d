/*
 * orders.c: the best ranking of d items for a row of weights, exactly.
 */
#include "decode/rankings/orders.h"

/* ---- the assignment problem, a row at a time along a shortest path ---- */

typedef struct paths {
    okra_int d;
    const double *cost;
    double *u, *v;       /* d, d: potentials, cost - u - v >= 0                     */
    double *distance;    /* d: of a column from the row that is put in              */
    okra_int *row, *via; /* d: who has a column, -1: nobody; the column before it   */
    bool *done;          /* d */
} paths;

/* The free column that is nearest to row i; *total: how far. */
static okra_int nearest_free(paths *p, okra_int i, double *total)
{
    okra_int d = p->d, column = -1;
    *total = 0;
    for (okra_int j = 0; j < d; j++) {
        p->distance[j] = (double)INFINITY;
        p->done[j] = false;
    }
    while (true) {
        okra_int next = -1;
        for (okra_int j = 0; j < d; j++) {
            if (p->done[j]) {
                continue;
            }
            double through = *total + p->cost[i * d + j] - p->u[i] - p->v[j];
            if (through < p->distance[j]) {
                p->distance[j] = through;
                p->via[j] = column;
            }
            if (next < 0 || p->distance[j] < p->distance[next]) {
                next = j;
            }
        }
        column = next;
        *total = p->distance[column];
        p->done[column] = true;
        if (p->row[column] < 0) {
            return column;
        }
        i = p->row[column];
    }
}

/* Row i gets a column, those on the path to it move on. */
static void put_in(paths *p, okra_int i)
{
    double total;
    okra_int column = nearest_free(p, i, &total);
    p->u[i] += total;
    for (okra_int j = 0; j < p->d; j++) {
        if (p->done[j] && j != column) {
            p->u[p->row[j]] += total - p->distance[j];
            p->v[j] -= total - p->distance[j];
        }
    }
    while (p->via[column] >= 0) {
        p->row[column] = p->row[p->via[column]];
        column = p->via[column];
    }
    p->row[column] = i;
}

okra_status okra_assignment_(okra_int d, const double *cost, okra_int *place)
{
    paths p = {.d = d, .cost = cost};
    OWNS(&p.u, &p.v, &p.distance, &p.row, &p.via, &p.done);
    ZMAKE(p.u, d);
    ZMAKE(p.v, d);
    MAKE(p.distance, d);
    MAKE(p.row, d);
    MAKE(p.via, d);
    MAKE(p.done, d);
    for (okra_int i = 0; i < d; i++) {
        p.row[i] = -1;
    }
    for (okra_int i = 0; i < d; i++) {
        put_in(&p, i);
    }
    for (okra_int j = 0; j < d; j++) {
        place[p.row[j]] = j;
    }
    return OKRA_OK;
}

/* ---- orders ---- */

typedef struct scored {
    double score;
    okra_int item;
} scored;

OKRA_ORDER_(by_score, scored, OKRA_UP_(score), OKRA_UP_(item))

okra_status okra_order_ascending_(const double *score, okra_int d, int32_t *code)
{
    OWNED scored *items = NULL;
    MAKE(items, d);
    for (okra_int j = 0; j < d; j++) {
        items[j] = (scored){score[j], j};
    }
    qsort(items, (size_t)d, sizeof *items, by_score);
    for (okra_int j = 0; j < d; j++) {
        code[items[j].item] = (int32_t)(j + 1);
    }
    return OKRA_OK;
}

okra_status okra_order_sorted_(const okra_data *y, const double *w, int32_t *code)
{
    OWNED double *score = NULL;
    ZMAKE(score, y->d);
    for (okra_int i = 0; i < y->n; i++) {
        okra_axpy_(y->d, w[i], y->values + i * y->ld, score);
    }
    return okra_order_ascending_(score, y->d, code);
}

/* gain[a d + b] = sum_i w_i sign(y_ib - y_ia): what item a before item b is worth. */
static void pair_gains(const okra_data *y, const double *w, double *gain)
{
    memset(gain, 0, (size_t)(y->d * y->d) * sizeof *gain);
    for (okra_int i = 0; i < y->n; i++) {
        const double *row = y->values + i * y->ld;
        for (okra_int a = 0; a < y->d; a++) {
            for (okra_int b = 0; b < y->d; b++) {
                gain[a * y->d + b] += row[a] < row[b]   ? w[i]
                                      : row[a] > row[b] ? -w[i]
                                                        : 0;
            }
        }
    }
}

/* Of what all items of a set before item b are worth: one sum for the items below `half`
 * and one for the others, of every set of either. */
typedef struct pairs {
    okra_int d, half;
    double *low, *high; /* d x 2^half, d x 2^(d - half) */
} pairs;

static void sum_sets(const double *gain, okra_int d, okra_int first, okra_int count,
                     double *sums)
{
    okra_int sets = (okra_int)1 << count;
    for (okra_int b = 0; b < d; b++) {
        double *of = sums + b * sets;
        of[0] = 0;
        for (okra_int S = 1; S < sets; S++) {
            okra_int a = __builtin_ctzll((unsigned long long)S);
            of[S] = of[S & (S - 1)] + gain[(first + a) * d + b];
        }
    }
}

/* All of S, of which b is none, before b. */
static inline double before(const pairs *p, okra_int S, okra_int b)
{
    okra_int rest = p->d - p->half;
    return p->low[(b << p->half) + (S & (((okra_int)1 << p->half) - 1))] +
           p->high[(b << rest) + (S >> p->half)];
}

/* best[S]: the items of S in their best order. */
static void order_sets(const pairs *p, double *best)
{
    best[0] = 0;
    for (okra_int S = 1; S < (okra_int)1 << p->d; S++) {
        best[S] = -(double)INFINITY;
        for (okra_int left = S; left; left &= left - 1) {
            okra_int b = __builtin_ctzll((unsigned long long)left);
            okra_int rest = S ^ ((okra_int)1 << b);
            best[S] = fmax(best[S], best[rest] + before(p, rest, b));
        }
    }
}

/* A ranking whose last items are known. */
typedef struct partial {
    double bound, value; /* at best, and of the items that are known */
    uint32_t left;       /* the others */
    unsigned char rank[OKRA_PAIRED_MOST_];
} partial;

OKRA_ORDER_(by_bound, partial, OKRA_DOWN_(bound),
            memcmp(x_->rank, y_->rank, sizeof x_->rank))

/* From the last rank to the first. Each partial ranking has a completion of the value
 * `bound`, so that the `top` best of each step lead to the `top` best rankings. */
static okra_int complete(const pairs *p, const double *best, okra_int top, partial *now,
                         partial *next)
{
    okra_int count = 1;
    now[0] = (partial){.left = (uint32_t)(((okra_int)1 << p->d) - 1)};
    for (okra_int rank = p->d; rank > 0; rank--) {
        okra_int made = 0;
        for (okra_int k = 0; k < count; k++) {
            for (uint32_t left = now[k].left; left; left &= left - 1) {
                int b = __builtin_ctz(left);
                partial *child = &next[made++];
                *child = now[k];
                child->left ^= 1u << b;
                child->value += before(p, child->left, b);
                child->bound = child->value + best[child->left];
                child->rank[b] = (unsigned char)rank;
            }
        }
        qsort(next, (size_t)made, sizeof *next, by_bound);
        count = OKRA_MIN_(made, top);
        memcpy(now, next, (size_t)count * sizeof *now);
    }
    return count;
}

okra_int okra_order_paired_bytes_(okra_int d)
{
    return (d + 1) * (okra_int)sizeof(partial);
}

okra_status okra_order_paired_(const okra_data *y, const double *w, okra_int top,
                               int32_t *codes, okra_int *count)
{
    okra_int d = y->d, half = d / 2;
    OWNED double *gain = NULL, *best = NULL, *low = NULL, *high = NULL;
    OWNED partial *now = NULL, *next = NULL;
    MAKE(gain, d * d);
    MAKE(best, (okra_int)1 << d);
    MAKE(low, d << half);
    MAKE(high, d << (d - half));
    MAKE(now, top);
    MAKE(next, top * d);
    pairs p = {d, half, low, high};
    pair_gains(y, w, gain);
    sum_sets(gain, d, 0, half, low);
    sum_sets(gain, d, half, d - half, high);
    order_sets(&p, best);
    *count = complete(&p, best, top, now, next);
    for (okra_int k = 0; k < *count * d; k++) {
        codes[k] = now[k / d].rank[k % d];
    }
    return OKRA_OK;
}

/* cost[j d + r] = sum_i w_i |r + 1 - y_ij|^power. */
okra_status okra_order_assigned_(const okra_context *ctx, const okra_data *y,
                                 const double *w, double power, int32_t *code)
{
    OWNED okra_int *rank = NULL;
    okra_int d = y->d;
    OWNED double *cost = NULL;
    CHK(okra_doubles_(ctx, d, d, "the costs of items and places", &cost));
    MAKE(rank, d);
    memset(cost, 0, (size_t)(d * d) * sizeof *cost);
    for (okra_int i = 0; i < y->n; i++) {
        for (okra_int j = 0; j < d; j++) {
            for (okra_int r = 0; r < d; r++) {
                double apart = fabs((double)(r + 1) - y->values[i * y->ld + j]);
                cost[j * d + r] += w[i] * (power > 0 ? pow(apart, power) : apart > 0);
            }
        }
    }
    CHK(okra_assignment_(d, cost, rank));
    for (okra_int j = 0; j < d; j++) {
        code[j] = (int32_t)(rank[j] + 1);
    }
    return OKRA_OK;
}
