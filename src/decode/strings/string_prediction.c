/*
 * string_prediction.c: strings against a prediction, through the features of their
 * kernel.
 *
 * Sums, multiples and normalizations of ssk, spectrum, mismatch and position(zero-one)
 * are inner products of counts of subsequences, substrings and placed letters, in a space
 * that has one dimension for each word over the alphabet. The prediction h = sum_i w_i
 * phi(y_i) is tabulated there once; a string then costs its own features, whatever the
 * number n of training outputs: <h, phi(y)> = sum over features f of y of h_f and a
 * letter more costs the features that end in it, so that strings with the same beginning
 * are compared from where they part. With `normalize` on nodes of the expression, h_f =
 * sum_i w_i f(y_i) / prod sqrt(self_i),  and <h, phi(y)> has the same factor of y, self
 * being the self-similarities of the nodes that are normalized.
 *
 * An admissible bound: a string of m letters has at least the self-similarity that it
 * would have if all its features were different, which depends on m alone. So self - 2
 * inner (or, normalized as a whole, 1 - 2 inner/sqrt(self)) is bounded from below before
 * self is computed, and most strings are dropped there.
 *
 * Cost: n times the features of an output a prediction; C(m-1, length-1) a letter of ssk.
 * Accuracy: a few roundings for each feature.
 */
#include "decode/strings/string_prediction.h"

#include "kernel/positions/position.h"

/* ---- which kernels ---- */

static bool add_leaf(okra_string_kernel_ *w, int at, okra_leaf_sort_ sort, okra_int low,
                     okra_int high, double decay)
{
    okra_leaf_ *l = &w->leaf[w->leaves];
    if (high > OKRA_FEATURES_LENGTH_) {
        return false;
    }
    *l = (okra_leaf_){.sort = sort, .node = at, .low = (int)low, .high = (int)high};
    l->decay = decay;
    for (int p = (int)low; p <= (int)high; p++) {
        double size = sort == OKRA_LEAF_POSITION_   ? (double)(w->letters * w->longest)
                      : sort == OKRA_LEAF_MISMATCH_ ? pow((double)w->letters + 1, p)
                                                    : pow((double)w->letters, p);
        if (size + (double)w->cells > OKRA_FEATURES_MOST_) {
            return false;
        }
        l->offset[p] = w->cells;
        w->cells += (okra_int)size;
        l->size = (okra_int)size;
    }
    w->leaf_of[at] = w->leaves++;
    return true;
}

static bool known_leaf(okra_string_kernel_ *w, int at)
{
    const okra_node_ *node = &w->kernel->nodes[at];
    if (node->component != 0) {
        return false;
    }
    if (node->leaf == &okra_ssk_) {
        const okra_ssk_params_ *p = node->params;
        return add_leaf(w, at, OKRA_LEAF_SSK_, p->upto ? 1 : p->length, p->length,
                        p->decay);
    }
    if (node->leaf == &okra_spectrum_) {
        const okra_spectrum_params_ *p = node->params;
        return add_leaf(w, at, OKRA_LEAF_SPECTRUM_, p->k, p->k, 1);
    }
    if (node->leaf == &okra_mismatch_) {
        const okra_mismatch_params_ *p = node->params;
        return add_leaf(w, at, OKRA_LEAF_MISMATCH_, p->k, p->k, 1);
    }
    if (node->leaf == &okra_position_) {
        const okra_position_params_ *p = node->params;
        const okra_node_ *inner = &p->inner->nodes[p->inner->count - 1];
        return !p->map && p->inner->count == 1 && inner->kind == OKRA_NODE_LEAF_ &&
               inner->leaf == &okra_zero_one_ &&
               add_leaf(w, at, OKRA_LEAF_POSITION_, 1, 1, 1);
    }
    return false;
}

static bool known(okra_string_kernel_ *w)
{
    const okra_kernel *k = w->kernel;
    int normalized = 0;
    if (k->count > OKRA_FEATURES_NODES_) {
        return false;
    }
    for (int at = 0; at < k->count; at++) {
        const okra_node_ *node = &k->nodes[at];
        bool ok = true;
        switch (node->kind) {
        case OKRA_NODE_LEAF_:
            ok = known_leaf(w, at);
            break;
        case OKRA_NODE_TRANSFORM_:
            ok = node->transform == &okra_normalize_;
            normalized++;
            break;
        case OKRA_NODE_PRODUCT_:
            ok = false;
            break;
        case OKRA_NODE_SCALE_:
        case OKRA_NODE_CONSTANT_:
        case OKRA_NODE_SUM_:
            break;
        }
        if (!ok) {
            return false;
        }
    }
    w->whole = normalized == 0 ||
               (normalized == 1 && k->nodes[k->count - 1].kind == OKRA_NODE_TRANSFORM_);
    return w->leaves > 0;
}

/* What a leaf has of m letters that are all different: decay^(2 span) of every choice. */
static double leaf_least(const okra_leaf_ *l, okra_int m)
{
    double sum = 0;
    if (l->sort == OKRA_LEAF_POSITION_) {
        return (double)m;
    }
    if (l->sort == OKRA_LEAF_SPECTRUM_ || l->sort == OKRA_LEAF_MISMATCH_) {
        double words = (double)OKRA_MAX_(m - l->high + 1, 0);
        double other = l->top >= l->high ? l->shared[l->high] : 0;
        return l->sort == OKRA_LEAF_SPECTRUM_
                   ? words
                   : words * l->shared[0] + words * (words - 1) * other;
    }
    for (int p = l->low; p <= l->high; p++) {
        double ways = 1; /* C(span - 2, p - 2) */
        for (okra_int span = p; span <= m; span++) {
            if (p > 2 && span > p) {
                ways *= (double)(span - 2) / (double)(span - p);
            }
            if (p == 1 && span > 1) {
                break;
            }
            sum += (double)(m - span + 1) * ways * pow(l->decay, 2.0 * (double)span);
        }
    }
    return sum;
}

/* ---- the expression ---- */

/* S of every node from those of the leaves; V too where it is not NULL. */
static void climb(const okra_string_kernel_ *w, double constants, double *S, double *V)
{
    for (int at = 0; at < w->kernel->count; at++) {
        const okra_node_ *node = &w->kernel->nodes[at];
        double v = 0, *out = V ? &V[at] : &v;
        double a = V && node->kind != OKRA_NODE_LEAF_ ? V[node->a] : 0;
        switch (node->kind) {
        case OKRA_NODE_SCALE_:
            S[at] = node->scale * S[node->a];
            *out = node->scale * a;
            break;
        case OKRA_NODE_CONSTANT_:
            S[at] = node->scale;
            *out = node->scale * constants;
            break;
        case OKRA_NODE_SUM_:
            S[at] = S[node->a] + S[node->b];
            *out = a + (V ? V[node->b] : 0);
            break;
        case OKRA_NODE_TRANSFORM_:
            *out = S[node->a] > 0 ? a / sqrt(S[node->a]) : 0;
            S[at] = S[node->a] > 0;
            break;
        case OKRA_NODE_LEAF_:
        case OKRA_NODE_PRODUCT_:
            break;
        }
    }
}

/* The factors of output i: of every leaf, the nodes above it that normalize. */
static void factors(okra_string_kernel_ *w, okra_int i, okra_word_ y, double *B)
{
    double S[OKRA_FEATURES_NODES_], F[OKRA_FEATURES_NODES_];
    const okra_kernel *k = w->kernel;
    for (int l = 0; l < w->leaves; l++) {
        S[w->leaf[l].node] = okra_leaf_self_(&w->leaf[l], y, B);
    }
    climb(w, 0, S, NULL);
    F[k->count - 1] = 1;
    for (int at = k->count - 1; at >= 0; at--) { /* parents before children */
        const okra_node_ *node = &k->nodes[at];
        if (node->kind == OKRA_NODE_LEAF_) {
            w->factor[w->leaf_of[at]][i] = F[at];
        } else if (node->kind == OKRA_NODE_TRANSFORM_) {
            F[node->a] = S[node->a] > 0 ? F[at] / sqrt(S[node->a]) : 0;
        } else if (node->kind == OKRA_NODE_SUM_) {
            F[node->a] = F[node->b] = F[at];
        } else if (node->kind == OKRA_NODE_SCALE_) {
            F[node->a] = F[at];
        }
    }
}

static bool constant_below(const okra_kernel *k)
{
    bool normalizes = false, constant = false;
    for (int at = 0; at < k->count; at++) {
        normalizes |= k->nodes[at].kind == OKRA_NODE_TRANSFORM_;
        constant |= k->nodes[at].kind == OKRA_NODE_CONSTANT_;
    }
    return normalizes && constant; /* whose factor would depend on the output */
}

static okra_status tabulate(okra_string_kernel_ *w, const int32_t *alphabet)
{
    okra_int length, total = w->y->groups[0].offsets[w->y->n];
    OWNED double *B = NULL;
    MAKE(B, OKRA_FEATURES_LENGTH_ * w->longest);
    MAKE(w->places, total);
    for (int l = 0; l < w->leaves; l++) {
        okra_leaf_ *leaf = &w->leaf[l];
        if (leaf->sort == OKRA_LEAF_MISMATCH_) {
            CHK(okra_mismatch_shared_(w->kernel->nodes[leaf->node].params, w->y,
                                      &leaf->top, leaf->shared));
        }
        MAKE(w->factor[l], w->y->n);
        MAKE(w->power[l], w->longest + 2);
        w->power[l][0] = 1;
        for (okra_int k = 1; k < w->longest + 2; k++) {
            w->power[l][k] = w->leaf[l].decay * w->power[l][k - 1];
        }
    }
    for (int l = 0; l < w->leaves; l++) {
        MAKE(w->least[l], w->longest + 1);
        for (okra_int m = 0; m <= w->longest; m++) {
            w->least[l][m] = leaf_least(&w->leaf[l], m);
        }
    }
    for (okra_int i = 0; i < w->y->n; i++) {
        const int32_t *code = okra_characters_(w->y, i, &length);
        int32_t *own = w->places + w->y->groups[0].offsets[i];
        for (okra_int k = 0; k < length; k++) {
            okra_int place = okra_letter_(alphabet, w->letters, code[k]);
            w->strange |= place >= w->letters;
            own[k] = place < w->letters ? (int32_t)place : -1 - code[k];
        }
        factors(w, i, (okra_word_){code, length}, B);
    }
    return OKRA_OK;
}

/* Is there room to spread the tables of mismatch, and does the alphabet have all letters
 * of the outputs, without which they would not be all that is shared? */
static bool spreads(const okra_string_kernel_ *w)
{
    bool yes = true;
    for (int l = 0; l < w->leaves; l++) {
        const okra_leaf_ *leaf = &w->leaf[l];
        yes =
            yes && (leaf->sort != OKRA_LEAF_MISMATCH_ ||
                    (!w->strange && leaf->size * (leaf->top + 1) <= OKRA_FEATURES_MOST_));
    }
    return yes;
}

void okra_string_kernel_free_(okra_string_kernel_ *w)
{
    if (w) {
        for (int k = 0; k < OKRA_FEATURES_NODES_; k++) {
            FREE(w->power[k], w->least[k], w->factor[k]);
        }
        FREE(w->places, w);
    }
}

okra_status okra_string_kernel_create_(const okra_output_ *output,
                                       const int32_t *alphabet, okra_int letters,
                                       okra_int longest, okra_string_kernel_ **out)
{
    FREED_BY(okra_string_kernel_drop_) okra_string_kernel_ *w = NULL;
    ZMAKE(w, 1);
    w->kernel = output->kernel;
    w->y = output->y;
    w->letters = letters;
    w->longest = OKRA_MAX_(longest, okra_longest_(w->y));
    if (output->kernel && w->longest <= OKRA_FEATURES_LONGEST_ && known(w) &&
        !constant_below(w->kernel)) {
        CHK(tabulate(w, alphabet));
        *out = spreads(w) ? w : NULL;
        w = *out ? NULL : w;
    }
    return OKRA_OK;
}

/* ---- one prediction ---- */

struct okra_string_prediction_ {
    const okra_string_kernel_ *w;
    double *table;
    double *prefix; /* a leaf: longest + 1 sums of the string that was looked at */
    double *row;    /* ssk of a string with itself */
    double *room;   /* to spread the tables of mismatch */
    double open[OKRA_FEATURES_NODES_];      /* sums but for one letter */
    double open_self[OKRA_FEATURES_NODES_]; /* with one that nothing equals */
    double constants;                       /* sum_i w_i, for constant kernels */
};

okra_int okra_string_kernel_shortest_(const okra_string_kernel_ *written)
{
    okra_int shortest = written->leaf[0].low;
    for (int l = 1; l < written->leaves; l++) {
        shortest = OKRA_MIN_(shortest, written->leaf[l].low);
    }
    return shortest;
}

OKRA_SHARED_FREES_(okra_string_prediction_free_, okra_string_prediction_, it->table,
                   it->prefix, it->row, it->room)

okra_status okra_string_prediction_create_(const okra_string_kernel_ *written,
                                           okra_string_prediction_ **out)
{
    FREED_BY(okra_string_prediction_drop_) okra_string_prediction_ *pen = NULL;
    okra_int room = 0;
    ZMAKE(pen, 1);
    pen->w = written;
    ZMAKE(pen->table, written->cells);
    MAKE(pen->prefix, written->leaves * (written->longest + 1));
    MAKE(pen->row, OKRA_FEATURES_LENGTH_ * written->longest);
    for (int l = 0; l < written->leaves; l++) {
        const okra_leaf_ *leaf = &written->leaf[l];
        bool spreads = leaf->sort == OKRA_LEAF_MISMATCH_;
        room = spreads ? OKRA_MAX_(room, leaf->size * (leaf->top + 1)) : room;
    }
    MAKE(pen->room, room);
    *out = TAKE(pen);
    return OKRA_OK;
}

void okra_string_prediction_set_(okra_string_prediction_ *pen, const double *weights)
{
    const okra_string_kernel_ *w = pen->w;
    const okra_int *offsets = w->y->groups[0].offsets;
    double largest = okra_most_abs_(w->y->n, weights);
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
static void value_of(const okra_string_prediction_ *pen, const double *sums,
                     const double *known, okra_word_ y, double *inner, double *self)
{
    const okra_string_kernel_ *w = pen->w;
    double S[OKRA_FEATURES_NODES_], V[OKRA_FEATURES_NODES_];
    for (int l = 0; l < w->leaves; l++) {
        int node = w->leaf[l].node;
        S[node] = known ? known[l] : okra_leaf_self_(&w->leaf[l], y, pen->row);
        V[node] = sums[l];
    }
    climb(w, pen->constants, S, V);
    *inner = V[w->kernel->count - 1];
    *self = S[w->kernel->count - 1];
}

void okra_string_prediction_begin_(okra_string_prediction_ *pen, okra_word_ y)
{
    const okra_string_kernel_ *w = pen->w;
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
static double bound(const okra_string_prediction_ *pen, const double *sums,
                    const double *least, double constant)
{
    const okra_string_kernel_ *w = pen->w;
    int root = w->kernel->count - 1;
    double S[OKRA_FEATURES_NODES_], V[OKRA_FEATURES_NODES_];
    if (!w->whole) {
        return -(double)INFINITY;
    }
    for (int l = 0; l < w->leaves; l++) {
        S[w->leaf[l].node] = least[l] * (1 - 1e-9); /* rounding */
        V[w->leaf[l].node] = sums[l];
    }
    climb(w, pen->constants, S, V);
    double self =
        isnan(constant) ? S[root] : okra_self_settle_(S[root], constant) - constant;
    if (w->kernel->nodes[root].kind != OKRA_NODE_TRANSFORM_) {
        return self - 2 * V[root];
    }
    /* The sum over a root that is at least this one; of a negative sum it is above 0. */
    return V[root] > 0 ? self - 2 * V[root] : self;
}

/* Does the bound tell that a string is not wanted? */
static bool dropped(const okra_string_prediction_ *pen, const double *sums,
                    const double *leaves, double constant, double worst)
{
    double least = bound(pen, sums, leaves, constant);
    return least - 1e-9 * (fabs(least) + fabs(worst)) > worst;
}

static void sum_from(const okra_string_prediction_ *pen, okra_word_ y, okra_int kept,
                     double *sums)
{
    const okra_string_kernel_ *w = pen->w;
    for (int l = 0; l < w->leaves; l++) {
        sums[l] = pen->prefix[l * (w->longest + 1) + kept];
        for (okra_int m = kept + 1; m <= y.length; m++) {
            sums[l] += okra_leaf_last_(w, l, pen->table, y.code, m);
        }
    }
}

bool okra_string_prediction_edited_(okra_string_prediction_ *pen, okra_word_ y,
                                    okra_int kept, double constant, double worst,
                                    double *inner, double *self)
{
    double sums[OKRA_FEATURES_NODES_], least[OKRA_FEATURES_NODES_];
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

void okra_string_prediction_open_(okra_string_prediction_ *pen, okra_word_ y, okra_int at)
{
    sum_from(pen, y, at, pen->open);
    for (int l = 0; l < pen->w->leaves; l++) {
        pen->open_self[l] = okra_leaf_self_(&pen->w->leaf[l], y, pen->row);
    }
}

/* A letter that the string does not have elsewhere leaves l(y,y) as it was, any other
 * makes it larger. */
bool okra_string_prediction_filled_(okra_string_prediction_ *pen, okra_word_ y,
                                    okra_int at, double constant, double worst,
                                    double *inner, double *self)
{
    double sums[OKRA_FEATURES_NODES_];
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
