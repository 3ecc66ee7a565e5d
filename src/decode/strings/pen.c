/*
 * pen.c: one prediction, and strings against it; written.c tells how.
 */
#include "candidates/nearest.h"
#include "decode/strings/written_inside.h"

#include <math.h>
#include <string.h>

struct okra_pen_ {
    const okra_written_ *w;
    double *table;
    double *prefix; /* a leaf: longest + 1 sums of the string that was looked at */
    double *row;    /* ssk of a string with itself */
    double *room;   /* to spread the tables of mismatch */
    double open[OKRA_WRITTEN_NODES_];      /* sums but for one letter */
    double open_self[OKRA_WRITTEN_NODES_]; /* with one that nothing equals */
    double constants;                      /* sum_i w_i, for constant kernels */
};

okra_int okra_written_longest_(const okra_written_ *written)
{
    return written->longest;
}

okra_int okra_written_shortest_(const okra_written_ *written)
{
    okra_int shortest = written->leaf[0].low;
    for (int l = 1; l < written->leaves; l++) {
        shortest = OKRA_MIN_(shortest, written->leaf[l].low);
    }
    return shortest;
}

OKRA_SHARED_FREES_(okra_pen_free_, okra_pen_, it->table, it->prefix, it->row, it->room)

okra_status okra_pen_create_(const okra_written_ *written, okra_pen_ **out)
{
    FREED_BY(okra_pen_drop_) okra_pen_ *pen = NULL;
    okra_int room = 0;
    ZMAKE(pen, 1);
    pen->w = written;
    ZMAKE(pen->table, written->cells);
    MAKE(pen->prefix, written->leaves * (written->longest + 1));
    MAKE(pen->row, OKRA_WRITTEN_LENGTH_ * written->longest);
    for (int l = 0; l < written->leaves; l++) {
        const okra_leaf_ *leaf = &written->leaf[l];
        bool spreads = leaf->sort == OKRA_LEAF_MISMATCH_;
        room = spreads ? OKRA_MAX_(room, leaf->size * (leaf->top + 1)) : room;
    }
    MAKE(pen->room, room);
    *out = TAKE(pen);
    return OKRA_OK;
}

void okra_pen_set_(okra_pen_ *pen, const double *weights)
{
    const okra_written_ *w = pen->w;
    const okra_int *offsets = w->y->groups[0].offsets;
    double largest = 0;
    for (okra_int i = 0; i < w->y->n; i++) {
        largest = fmax(largest, fabs(weights[i]));
    }
    memset(pen->table, 0, (size_t)w->cells * sizeof *pen->table);
    pen->constants = 0;
    for (okra_int i = 0; i < w->y->n; i++) {
        pen->constants += weights[i];
        if (fabs(weights[i]) <= OKRA_WEIGHT_LEAST_ * largest) {
            continue;
        }
        for (int l = 0; l < w->leaves; l++) {
            double add = weights[i] * w->factor[l][i];
            for (okra_int m = 1; add != 0 && m <= offsets[i + 1] - offsets[i]; m++) {
                okra_leaf_add_(w, l, pen->table, w->places + offsets[i], m, add);
            }
        }
    }
    for (int l = 0; l < w->leaves; l++) {
        if (w->leaf[l].sort == OKRA_LEAF_MISMATCH_) {
            okra_leaf_spread_(w, &w->leaf[l], pen->table, pen->room);
        }
    }
}

/* self: of the leaves; NULL: they are computed. */
static void value_of(const okra_pen_ *pen, const double *sums, const double *known,
                     okra_word_ y, double *inner, double *self)
{
    const okra_written_ *w = pen->w;
    double S[OKRA_WRITTEN_NODES_], V[OKRA_WRITTEN_NODES_];
    for (int l = 0; l < w->leaves; l++) {
        int node = w->leaf[l].node;
        S[node] = known ? known[l] : okra_leaf_self_(&w->leaf[l], y, pen->row);
        V[node] = sums[l];
    }
    okra_written_climb_(w, pen->constants, S, V);
    *inner = V[w->kernel->count - 1];
    *self = S[w->kernel->count - 1];
}

void okra_pen_begin_(okra_pen_ *pen, okra_word_ y)
{
    const okra_written_ *w = pen->w;
    for (int l = 0; l < w->leaves; l++) {
        double *prefix = pen->prefix + l * (w->longest + 1);
        prefix[0] = 0;
        for (okra_int m = 1; m <= y.length; m++) {
            prefix[m] = prefix[m - 1] + okra_leaf_last_(w, l, pen->table, y.code, m);
        }
    }
}

/* Less than any self - constant - 2 inner with these sums and at least these
 * self-similarities of the leaves; -infinity: not known. The constant (NAN: none) goes
 * from self at once, lest a weak prediction is lost beside it. */
static double bound(const okra_pen_ *pen, const double *sums, const double *least,
                    double constant)
{
    const okra_written_ *w = pen->w;
    int root = w->kernel->count - 1;
    double S[OKRA_WRITTEN_NODES_], V[OKRA_WRITTEN_NODES_];
    if (!w->whole) {
        return -(double)INFINITY;
    }
    for (int l = 0; l < w->leaves; l++) {
        S[w->leaf[l].node] = least[l] * (1 - 1e-9); /* rounding */
        V[w->leaf[l].node] = sums[l];
    }
    okra_written_climb_(w, pen->constants, S, V);
    double self =
        isnan(constant) ? S[root] : okra_self_settle_(S[root], constant) - constant;
    if (w->kernel->nodes[root].kind != OKRA_NODE_TRANSFORM_) {
        return self - 2 * V[root];
    }
    /* The sum over a root that is at least this one; of a negative sum it is above 0. */
    return V[root] > 0 ? self - 2 * V[root] : self;
}

/* Does the bound tell that a string is not wanted? */
static bool dropped(const okra_pen_ *pen, const double *sums, const double *leaves,
                    double constant, double worst)
{
    double least = bound(pen, sums, leaves, constant);
    return least - 1e-9 * (fabs(least) + fabs(worst)) > worst;
}

static void sum_from(const okra_pen_ *pen, okra_word_ y, okra_int kept, double *sums)
{
    const okra_written_ *w = pen->w;
    for (int l = 0; l < w->leaves; l++) {
        sums[l] = pen->prefix[l * (w->longest + 1) + kept];
        for (okra_int m = kept + 1; m <= y.length; m++) {
            sums[l] += okra_leaf_last_(w, l, pen->table, y.code, m);
        }
    }
}

bool okra_pen_edited_(okra_pen_ *pen, okra_word_ y, okra_int kept, double constant,
                      double worst, double *inner, double *self)
{
    double sums[OKRA_WRITTEN_NODES_], least[OKRA_WRITTEN_NODES_];
    sum_from(pen, y, kept, sums);
    for (int l = 0; l < pen->w->leaves; l++) {
        least[l] = pen->w->least[l][y.length];
    }
    if (dropped(pen, sums, least, constant, worst)) {
        return false;
    }
    value_of(pen, sums, NULL, y, inner, self);
    return true;
}

void okra_pen_open_(okra_pen_ *pen, okra_word_ y, okra_int at)
{
    sum_from(pen, y, at, pen->open);
    for (int l = 0; l < pen->w->leaves; l++) {
        pen->open_self[l] = okra_leaf_self_(&pen->w->leaf[l], y, pen->row);
    }
}

/* A letter that the string does not have elsewhere leaves l(y,y) as it was, any other
 * makes it larger. */
bool okra_pen_filled_(okra_pen_ *pen, okra_word_ y, okra_int at, double constant,
                      double worst, double *inner, double *self)
{
    double sums[OKRA_WRITTEN_NODES_];
    bool again = false;
    for (int l = 0; l < pen->w->leaves; l++) {
        sums[l] = pen->open[l] + okra_leaf_through_(pen->w, l, pen->table, y, at);
    }
    if (dropped(pen, sums, pen->open_self, constant, worst)) {
        return false;
    }
    for (okra_int k = 0; k < y.length && !again; k++) {
        again = k != at && y.code[k] == y.code[at];
    }
    value_of(pen, sums, again ? NULL : pen->open_self, y, inner, self);
    return true;
}
