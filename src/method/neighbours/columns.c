/*
 * columns.c: extremely randomised trees on the columns of dense inputs (P. Geurts, D.
 * Ernst, L. Wehenkel, Machine Learning 63, 2006), for outputs in any feature space.
 *
 * At a node S of s pairs, of `features` random columns that are not constant there, each
 * with a cut drawn evenly between its least and its largest value, the split into S_1 and
 * S_2 is taken that reduces most the variance of the outputs f_i (rows of F, n x r),
 *
 *     reduction = |sum_1 f|^2 / s_1 + |sum_2 f|^2 / s_2 - |sum_S f|^2 / s.
 *
 * F holds explicit outputs in units of their deviations (trees do not change with the
 * units of an output) unless all are 0 or 1; of other outputs a pivoted
 * factor of their Gram matrix, RANK columns at most: exact up to that rank, and beyond it
 * the splits alone look at fewer directions, the weights are those of the leaves. A node
 * whose outputs are all the same is a leaf.
 *
 * Cost: s features (r/2 + 5) operations a node, so about n log n features r a tree; n
 * (p + r) doubles, and for the Gram matrix n^2. Trees in parallel, the same on any number
 * of threads.
 */
#include "core/simd.h"
#include "method/neighbours/trees.h"

enum { RANK = 64, FEATURES = 100 };

/* The unit of a coordinate: its deviation, from a mean that is exact near the values. */
static double deviation(okra_mat_ F, okra_int j)
{
    double mean = 0, square = 0, n = (double)F.rows, origin = F.p[j];
    for (okra_int i = 0; i < F.rows; i++) {
        mean += (F.p[i * F.ld + j] - origin) / n;
    }
    for (okra_int i = 0; i < F.rows; i++) {
        double e = F.p[i * F.ld + j] - origin - mean;
        square += e * e / n;
    }
    return square > 0 ? sqrt(square) : 1;
}

static okra_status explicit_outputs(okra_context *ctx, const okra_problem_ *p,
                                    okra_judged_ *out)
{
    okra_mat_ Y = okra_mat_view_(p->features, p->n, p->d, p->features_ld);
    bool zero_one = true;
    CHK(okra_doubles_(ctx, p->n, p->d, "the outputs", &out->F.p));
    MAKE(out->unit, p->d);
    out->F = okra_mat_of_(out->F.p, p->n, p->d);
    for (okra_int i = 0; i < p->n * p->d && zero_one; i++) {
        double y = Y.p[i / p->d * Y.ld + i % p->d];
        zero_one = y == 0 || y == 1;
    }
    for (okra_int j = 0; j < p->d; j++) {
        out->unit[j] = zero_one ? 1 : deviation(Y, j);
        for (okra_int i = 0; i < p->n; i++) {
            out->F.p[i * p->d + j] = Y.p[i * Y.ld + j] / out->unit[j];
        }
    }
    return OKRA_OK;
}

/* L = F F' by pivots, the largest that is left first, down to rounding. */
static okra_status factor(okra_context *ctx, okra_mat_ L, okra_mat_ *out)
{
    okra_int n = L.rows, most = OKRA_MIN_(n, RANK), r = 0;
    OWNED double *F = NULL, *left = NULL;
    CHK(okra_doubles_(ctx, n, most, "a factor of the outputs", &F));
    MAKE(left, n);
    double largest = 0;
    for (okra_int i = 0; i < n; i++) {
        left[i] = L.p[i * L.ld + i];
        largest = fmax(largest, left[i]);
    }
    for (; r < most; r++) {
        okra_int at = 0;
        for (okra_int i = 1; i < n; i++) {
            at = left[i] > left[at] ? i : at;
        }
        if (!(left[at] > 1e-12 * largest)) {
            break;
        }
        double root = sqrt(left[at]);
        const double *pivot = F + at * most;
        for (okra_int i = 0; i < n; i++) {
            double *f = F + i * most;
            f[r] = (L.p[at * L.ld + i] - okra_dot_(r, f, pivot)) / root;
        }
        for (okra_int i = 0; i < n; i++) {
            left[i] -= F[i * most + r] * F[i * most + r];
        }
        left[at] = 0;
    }
    r = OKRA_MAX_(r, 1);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int k = 0; k < r; k++) {
            F[i * r + k] = largest > 0 ? F[i * most + k] : 0;
        }
    }
    *out = okra_mat_of_(F, n, r);
    F = NULL;
    return OKRA_OK;
}

void okra_judged_clear_(okra_judged_ *judged)
{
    FREE(judged->F.p, judged->unit);
    *judged = (okra_judged_){0};
}

okra_status okra_judged_create_(okra_context *ctx, const okra_problem_ *p,
                                okra_judged_ *out)
{
    OWNED double *L = NULL;
    FREED_BY(okra_judged_clear_) okra_judged_ judged = {0};
    if (p->features) {
        CHK(explicit_outputs(ctx, p, &judged));
    } else {
        CHK(okra_problem_host_L_(ctx, p, &L));
        CHK(factor(ctx, okra_mat_of_(L, p->n, p->n), &judged.F));
    }
    *out = TAKE(judged);
    return OKRA_OK;
}

typedef struct scratch {
    okra_int *at;       /* n: members of the node                         */
    int32_t *list;      /* n: those on the smaller side of a cut          */
    double *value;      /* n: of one column                               */
    double *F;          /* n x r: outputs of the members                  */
    double *sum, *side; /* r: of the node; of the smaller side            */
    okra_int *column;   /* d                                              */
} scratch;

typedef struct forest {
    okra_int n, d, features, leaf;
    okra_mat_ F;
    double *X; /* d x n: columns of the inputs */
    scratch *work;
    int workers;
} forest;

/* The values of a column at the members, and their least and largest. */
static void take(const double *column, const okra_int *at, okra_int s, double *value,
                 double range[2])
{
    double low = column[at[0]], high = low;
    for (okra_int i = 0; i < s; i++) {
        double v = column[at[i]];
        value[i] = v;
        low = v < low ? v : low;
        high = v > high ? v : high;
    }
    range[0] = low;
    range[1] = high;
}

/* The sum of the rows of F in the list. */
static inline OKRA_INLINE_ void add_body(const double *F, okra_int r, const int32_t *list,
                                         okra_int count, double *sum, bool fused)
{
    okra_fill_(r, 0, sum);
    for (okra_int i = 0; i < count; i++) {
        const double *f = F + list[i] * r;
        okra_axpy_(r, 1, f, sum);
    }
}
OKRA_VARIANTS_(add, add_body,
               (const double *F, okra_int r, const int32_t *list, okra_int count,
                double *sum),
               (F, r, list, count, sum))

/* The members on the smaller side of the cut; *left: how many are below it. */
static okra_int smaller_side(const double *value, okra_int s, double cut, int32_t *list,
                             okra_int *left)
{
    okra_int below = 0, count = 0;
    for (okra_int i = 0; i < s; i++) {
        below += value[i] < cut;
    }
    bool lower = 2 * below <= s;
    for (okra_int i = 0; i < s; i++) {
        list[count] = (int32_t)i;
        count += (value[i] < cut) == lower;
    }
    *left = below;
    return count;
}

/* |sum_1 f|^2 / s_1 + |sum_2 f|^2 / s_2 - |sum_S f|^2 / s, `side` the sum of `count` */
static double reduction_of(const scratch *w, okra_int r, okra_int s, okra_int count)
{
    double a = 0, b = 0, all = 0;
    for (okra_int k = 0; k < r; k++) {
        double one = w->side[k], two = w->sum[k] - one;
        a += one * one;
        b += two * two;
        all += w->sum[k] * w->sum[k];
    }
    return a / (double)count + b / (double)(s - count) - all / (double)s;
}

/* The outputs of the members less that of the first, which changes no reduction, and
 * their sum; are they all the same? */
static bool gather(const forest *f, scratch *w, const double *item, okra_int s)
{
    okra_int r = f->F.cols;
    const double *origin = f->F.p + (okra_int)item[0] * r;
    bool same = true;
    memset(w->sum, 0, (size_t)r * sizeof *w->sum);
    for (okra_int i = 0; i < s; i++) {
        w->at[i] = (okra_int)item[i];
        const double *from = f->F.p + w->at[i] * r;
        double *to = w->F + i * r;
        for (okra_int k = 0; k < r; k++) {
            to[k] = from[k] - origin[k];
            w->sum[k] += to[k];
            same = same && to[k] == 0;
        }
    }
    return same;
}

/* The best of random columns and cuts. */
static okra_status best_split(void *arg, int worker, okra_random_ *random,
                              const double *item, okra_int s, okra_split_ *best)
{
    const forest *f = arg;
    scratch *w = &f->work[worker];
    okra_int tried = 0, r = f->F.cols;
    bool same = gather(f, w, item, s);
    best->reduction = -(double)INFINITY;
    for (okra_int k = 0; !same && k < f->d && tried < f->features; k++) {
        okra_int other = k + okra_random_below_(random, f->d - k), left = 0;
        okra_int j = w->column[other];
        const double *row = f->X + j * f->n;
        double range[2];
        w->column[other] = w->column[k];
        w->column[k] = j;
        take(row, w->at, s, w->value, range);
        if (!(range[1] > range[0])) {
            continue;
        }
        tried++;
        double cut = range[0] + (range[1] - range[0]) * okra_random_uniform_(random);
        cut = cut > range[0] ? cut : range[1]; /* left: below the cut */
        okra_int count = smaller_side(w->value, s, cut, w->list, &left);
        if (left < f->leaf || s - left < f->leaf) {
            continue;
        }
        add(w->F, r, w->list, count, w->side);
        double reduction = reduction_of(w, r, s, count);
        if (reduction > best->reduction) {
            *best = (okra_split_){j, row, cut, reduction};
        }
    }
    return OKRA_OK;
}

static void begin_tree(void *arg, int worker)
{
    const forest *f = arg;
    okra_iota_(f->d, f->work[worker].column);
}

static okra_status make_scratch(okra_context *ctx, const forest *f, scratch *w)
{
    okra_int n = f->n, r = f->F.cols;
    MAKE(w->at, n);
    MAKE(w->list, n);
    MAKE(w->value, n);
    CHK(okra_doubles_(ctx, n, r, "outputs of a node of a tree", &w->F));
    MAKE(w->sum, r);
    MAKE(w->side, r);
    MAKE(w->column, f->d);
    return OKRA_OK;
}

static void forest_clear(forest *f)
{
    for (int i = 0; f->work && i < f->workers; i++) {
        scratch *w = &f->work[i];
        FREE(w->at, w->list, w->value, w->F, w->sum, w->side, w->column);
    }
    FREE(f->X, f->work);
}

okra_status okra_columns_grow_(okra_context *ctx, const okra_problem_ *p, okra_mat_ F,
                               const okra_columns_options_ *o, const okra_parts_ *units,
                               okra_store_ *store)
{
    const okra_data *x = p->x;
    REFUSE_IF(x->kind != OKRA_DENSE, OKRA_EARG,
              "trees split on columns of dense inputs, and these are %s: expected splits "
              "kernel",
              okra_kind_name(x->kind));
    REFUSE_IF(p->n > INT32_MAX / 2, OKRA_ESHAPE, "trees: there are %lld pairs, too many",
              (long long)p->n);
    FREED_BY(forest_clear)
    forest f = {.n = p->n,
                .d = x->d,
                .features = o->features > 0 ? o->features : FEATURES,
                .leaf = o->leaf,
                .F = F,
                .workers = okra_workers_(ctx)};
    FREED_BY(okra_trees_clear_) okra_trees_ grown = {0};
    okra_int count = units ? units->count : p->n;
    okra_growing_trees_ how = {.count = o->trees,
                               .n = p->n,
                               .leaf = o->leaf,
                               .stream = 0xc0105,
                               .hands = count > 1 ? OKRA_MIN_(o->parts, count) : 0,
                               .units = units,
                               .split = best_split,
                               .begin = begin_tree,
                               .forest = &f};
    REFUSE_IF(how.hands == 1, OKRA_EARG,
              "trees: parts is 1, so that each would leave out all pairs; expected 0 or "
              "2 and more");
    CHK(okra_doubles_(ctx, f.d, f.n, "the columns of the inputs", &f.X));
    CHK(okra_mat_transpose_(okra_mat_view_(x->values, f.n, f.d, x->ld),
                            okra_mat_of_(f.X, f.d, f.n)));
    ZMAKE(f.work, f.workers);
    for (int i = 0; i < f.workers; i++) {
        CHK(make_scratch(ctx, &f, &f.work[i]));
    }
    CHK(okra_trees_grow_(ctx, &how, &grown));
    return okra_trees_keep_(ctx, &grown, store);
}

okra_status okra_columns_query_(const okra_query_ *query, okra_mat_ *out)
{
    const okra_data *x = query->x;
    REFUSE_IF(!x || x->kind != OKRA_DENSE, OKRA_EUNSUPPORTED,
              "trees on columns need the test inputs as dense vectors");
    *out = okra_mat_view_(x->values + query->first * x->ld, query->m, x->d, x->ld);
    return OKRA_OK;
}

/* ---- predictions of trees that have not seen the pair ---- */

typedef struct unseen {
    const okra_data *x;
    okra_mat_ F, nodes, roots, items;
    const okra_int *part; /* n, or NULL: each pair is its own */
    bool *out;            /* n x T: was pair i left out of tree t? */
    double *mean;         /* r a worker */
    okra_unseen_ to;
} unseen;

/* Pair j has a share in what is said of pair i: m += share (f_j - f_i). */
static void add_pair(const unseen *u, okra_int i, okra_int j, double share, double *m)
{
    okra_int r = u->F.cols;
    if (u->to.W.p) {
        u->to.W.p[i * u->to.W.ld + j] += share;
    }
    for (okra_int k = 0; k < r; k++) {
        m[k] += share * (u->F.p[j * r + k] - u->F.p[i * r + k]);
    }
}

/* The mean of the leaf of tree t, less f_i; returns its square. */
static double add_leaf(const unseen *u, okra_int i, okra_int t, double *m)
{
    const double *leaf =
        okra_tree_leaf_(u->nodes.p, u->roots.p[t], u->x->values + i * u->x->ld);
    okra_int begin = (okra_int)leaf[OKRA_NODE_BEGIN_],
             end = (okra_int)leaf[OKRA_NODE_END_], r = u->F.cols;
    double *e = u->to.E.p + i * r;
    memset(m, 0, (size_t)r * sizeof *m);
    for (okra_int a = begin; a < end; a++) {
        add_pair(u, i, (okra_int)u->items.p[t * u->items.ld + a],
                 1 / (double)(end - begin), m);
    }
    okra_axpy_(r, 1, m, e);
    return okra_dot_(r, m, m);
}

static okra_status unseen_body(void *arg, okra_int begin, okra_int end, int worker)
{
    const unseen *u = arg;
    okra_int T = u->items.rows, r = u->F.cols;
    for (okra_int i = begin; i < end; i++) {
        double *e = u->to.E.p + i * r, count = 0, squares = 0, total = 0;
        for (okra_int t = 0; t < T; t++) {
            if (u->out[i * T + t]) {
                squares += add_leaf(u, i, t, u->mean + worker * r);
                count++;
            }
        }
        for (okra_int j = 0; count == 0 && j < u->F.rows; j++) {
            if (u->part ? u->part[j] != u->part[i] : j != i) {
                add_pair(u, i, j, 1, e);
                total++;
            }
        }
        total = fmax(count + total, 1);
        okra_scale_down_(r, total, e);
        for (okra_int j = 0; u->to.W.p && j < u->to.W.cols; j++) {
            u->to.W.p[i * u->to.W.ld + j] /= total;
        }
        u->to.count[i] = count;
        u->to.noise[i] =
            count > 1 ? fmax(squares - count * okra_dot_(r, e, e), 0) / (count - 1) : 0;
    }
    return OKRA_OK;
}

okra_status okra_columns_unseen_(okra_context *ctx, const okra_store_ *store,
                                 const okra_data *x, okra_mat_ F,
                                 const okra_parts_ *units, const okra_unseen_ *to)
{
    unseen u = {.x = x,
                .F = F,
                .nodes = okra_store_mat_(store, "nodes"),
                .roots = okra_store_mat_(store, "roots"),
                .items = okra_store_mat_(store, "items"),
                .part = units ? units->part : NULL,
                .to = *to};
    OWNS(&u.out, &u.mean);
    okra_int n = F.rows, T = u.items.rows;
    ZMAKE(u.out, n * T);
    MAKE(u.mean, F.cols * okra_workers_(ctx));
    for (okra_int t = 0; t < T; t++) {
        const double *root = u.nodes.p + (okra_int)u.roots.p[t] * OKRA_NODE_FIELDS_;
        for (okra_int a = (okra_int)root[OKRA_NODE_END_]; a < n; a++) {
            u.out[(okra_int)u.items.p[t * u.items.ld + a] * T + t] = true;
        }
    }
    okra_mat_fill_(to->E, 0);
    if (to->W.p) {
        okra_mat_fill_(to->W, 0);
    }
    return okra_parallel_(ctx, n, 16, "unseen pairs", unseen_body, &u);
}
