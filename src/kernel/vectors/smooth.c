/*
 * smooth.c: derivatives of kernel expressions on dense vectors.
 *
 * Every such kernel is a function f(s, t; t_i) of s = <y, y_i>, t = <y, y> and of the
 * training vector's t_i = <y_i, y_i>: its leaves are linear, all else are sums, products
 * and transforms of Gram values. Through the tree go, a node, the value and its
 * derivatives by s and by t (chain rule; a transform of k(a,b), k(a,a) and k(b,b) tells
 * its own two), and for the pair (y, y) the value and its derivative by t alone:
 *     dk(y, y_i)/dy = f_s y_i + 2 f_t y,      dk(y, y)/dy = 2 F'(t) y,
 *     F' = (f_k + 2 f_self) child'  for a transform, by its symmetry in a and b.
 * Where every leaf stands under a transform of distances the origin is the mean of the
 * training vectors, which saves the digits that t + t_i - 2s would cancel. Where every
 * leaf is `standardize`, y is (y - mean) / deviation, coordinate by coordinate.
 *
 * Cost: d operations a training vector and a few tens a node. Memory of a thread: five
 * values per node and the copy of the selected vectors.
 */
#include "kernel/vectors/smooth.h"

#include "kernel/expression/expr.h"

struct okra_smooth_work_ {
    const okra_smooth_ *smooth;
    okra_int most, count;
    double *Y;              /* count x d: selected vectors about the origin      */
    double *y;              /* d: the vector about the origin                    */
    double *v, *vs, *vt;    /* nodes x most: values, derivatives by s and by t   */
    double *db;             /* nodes x most: self-similarities of the selection  */
    double *by_k, *by_self; /* most                                            */
    double *self, *slope;   /* nodes: F and F' of the pair (y, y)                */
};

OKRA_SHARED_FREES_(okra_smooth_free_, okra_smooth_, it->shift, it->spread, it->self)

/* ---- the pair (y, y) ---- */

/* Of constants, multiples, sums and products: n values from those of the children, */
static void value_of(const okra_node_ *node, okra_int n, const double *a, const double *b,
                     double *v)
{
    for (okra_int i = 0; i < n; i++) {
        v[i] = node->kind == OKRA_NODE_CONSTANT_ ? node->scale
               : node->kind == OKRA_NODE_SCALE_  ? node->scale * a[i]
               : node->kind == OKRA_NODE_SUM_    ? a[i] + b[i]
                                                 : a[i] * b[i];
    }
}

/* and n derivatives from these, da and db. */
static void slope_of(const okra_node_ *node, okra_int n, const double *a,
                     const double *da, const double *b, const double *db, double *d)
{
    for (okra_int i = 0; i < n; i++) {
        d[i] = node->kind == OKRA_NODE_CONSTANT_ ? 0
               : node->kind == OKRA_NODE_SCALE_  ? node->scale * da[i]
               : node->kind == OKRA_NODE_SUM_    ? da[i] + db[i]
                                                 : a[i] * db[i] + b[i] * da[i];
    }
}

/* F and F' of all nodes at t = <y, y>. */
static void self_pair(const okra_kernel *kernel, double t, double *F, double *slope)
{
    for (int k = 0; k < kernel->count; k++) {
        const okra_node_ *node = &kernel->nodes[k];
        int a = node->a, b = node->b;
        if (node->kind == OKRA_NODE_LEAF_) {
            F[k] = t;
            slope[k] = 1;
        } else if (node->kind == OKRA_NODE_TRANSFORM_) {
            double by_k = 0, by_self = 0;
            F[k] = F[a];
            node->transform->derive(node->params, F[a], &F[a], 1, &F[k], &by_k, &by_self);
            slope[k] = (by_k + 2 * by_self) * slope[a];
        } else {
            value_of(node, 1, F + a, F + b, F + k);
            slope_of(node, 1, F + a, slope + a, F + b, slope + b, slope + k);
        }
    }
}

/* ---- create ---- */

/* Fails where a node has no derivative; says whether values are bounded, whether the
 * origin may move and whether vectors are standardized. */
static okra_status look_at(const okra_kernel *kernel, bool *bounded, bool *movable,
                           bool *standard)
{
    OWNED bool *holds = NULL;
    int leaves = 0, standards = 0;
    MAKE(holds, kernel->count);
    *movable = true;
    for (int k = 0; k < kernel->count; k++) {
        const okra_node_ *node = &kernel->nodes[k];
        bool leaf = node->kind == OKRA_NODE_LEAF_;
        bool distances = leaf && node->leaf == okra_linear_.distances;
        bool own = leaf && node->leaf == &okra_standardize_;
        leaves += leaf;
        standards += own;
        if ((leaf && !distances && !own && node->leaf != &okra_linear_) ||
            (standards > 0 && standards < leaves) || /* y itself, and in its units */
            (node->transform && !node->transform->derive)) {
            return okra_fail_(
                OKRA_EUNSUPPORTED, "no derivative of '%s' in the kernel %s is known",
                leaf ? node->leaf->name : node->transform->name, kernel->text);
        }
        *movable = *movable && (!leaf || distances);
        holds[k] = node->kind == OKRA_NODE_CONSTANT_ ||
                   (node->transform && node->transform->bounds) ||
                   (!leaf && holds[node->a] &&
                    ((node->kind != OKRA_NODE_SUM_ && node->kind != OKRA_NODE_PRODUCT_) ||
                     holds[node->b]));
    }
    *bounded = holds[kernel->count - 1];
    *standard = standards > 0;
    return OKRA_OK;
}

/* to = from about the origin, in units of the spread; returns its square. */
static double move(const okra_smooth_ *s, const double *from, double *to)
{
    okra_int d = s->train->d;
    for (okra_int j = 0; j < d; j++) {
        to[j] = from[j] - s->shift[j];
        to[j] = s->spread ? to[j] / s->spread[j] : to[j];
    }
    return okra_dot_(d, to, to);
}

OKRA_DROPS_(drop_smooth, okra_smooth_, okra_smooth_free_)

okra_status okra_smooth_create_(okra_context *ctx, const okra_kernel *kernel,
                                const okra_data *train, const okra_trained_kernel_ *bound,
                                okra_smooth_ **out)
{
    FREED_BY(drop_smooth) okra_smooth_ *s = NULL;
    OWNED double *y = NULL, *F = NULL;
    bool movable, standard = false;
    int nodes = kernel->count;
    if (train->kind != OKRA_DENSE) {
        char text[96];
        return okra_fail_(OKRA_EUNSUPPORTED,
                          "only dense vectors can be moved smoothly, these are %s",
                          okra_data_describe_(train, text, sizeof text));
    }
    ZMAKE(s, 1);
    s->kernel = kernel;
    s->train = train;
    CHK(look_at(kernel, &s->bounded, &movable, &standard));
    ZMAKE(s->shift, train->d);
    if (standard) {
        ZMAKE(s->spread, train->d);
        if (!okra_standardize_stats_(bound, s->shift, s->spread)) {
            CHK(okra_standardize_measure_(train, s->shift, s->spread));
        }
    } else if (movable) {
        okra_origin_(train, s->shift);
    }
    CHK(okra_doubles_(ctx, nodes, train->n, "self-similarities of the outputs",
                      &s->self));
    MAKE(y, train->d);
    MAKE(F, 2 * nodes);
    for (okra_int i = 0; i < train->n; i++) {
        self_pair(kernel, move(s, train->values + i * train->ld, y), F, F + nodes);
        for (int k = 0; k < nodes; k++) {
            s->self[k * train->n + i] = F[k];
        }
    }
    *out = TAKE(s);
    return OKRA_OK;
}

/* ---- one thread's work ---- */

OKRA_SHARED_FREES_(okra_smooth_work_free_, okra_smooth_work_, it->Y, it->v, it->y)

OKRA_DROPS_(drop_smooth_work, okra_smooth_work_, okra_smooth_work_free_)

okra_status okra_smooth_work_create_(okra_context *ctx, const okra_smooth_ *smooth,
                                     okra_int most, okra_smooth_work_ **out)
{
    FREED_BY(drop_smooth_work) okra_smooth_work_ *w = NULL;
    okra_int nodes = smooth->kernel->count, d = smooth->train->d;
    ZMAKE(w, 1);
    w->smooth = smooth;
    w->most = most;
    CHK(okra_doubles_(ctx, most, d, "the outputs of a local training set", &w->Y));
    CHK(okra_doubles_(ctx, 4 * nodes + 2, most, "derivatives of the output kernel",
                      &w->v));
    w->vs = w->v + nodes * most;
    w->vt = w->vs + nodes * most;
    w->db = w->vt + nodes * most;
    w->by_k = w->db + nodes * most;
    w->by_self = w->by_k + most;
    MAKE(w->y, d + 2 * nodes);
    w->self = w->y + d;
    w->slope = w->self + nodes;
    *out = TAKE(w);
    return OKRA_OK;
}

void okra_smooth_select_(okra_smooth_work_ *w, const okra_int *index, okra_int count)
{
    const okra_smooth_ *s = w->smooth;
    okra_int d = s->train->d, n = s->train->n;
    w->count = count;
    for (okra_int i = 0; i < count; i++) {
        okra_int row = index ? index[i] : i;
        move(s, s->train->values + row * s->train->ld, w->Y + i * d);
        for (int k = 0; k < s->kernel->count; k++) {
            w->db[k * w->most + i] = s->self[k * n + row];
        }
    }
}

/* Value and derivatives of node k from those of its children. */
static void node_values(okra_smooth_work_ *w, int k)
{
    const okra_node_ *node = &w->smooth->kernel->nodes[k];
    okra_int n = w->count, m = w->most;
    double *v = w->v + k * m, *vs = w->vs + k * m, *vt = w->vt + k * m;
    const double *a = w->v + node->a * m, *as = w->vs + node->a * m;
    const double *at = w->vt + node->a * m, *b = w->v + node->b * m;
    const double *bs = w->vs + node->b * m, *bt = w->vt + node->b * m;
    size_t bytes = (size_t)n * sizeof *v;
    if (node->kind == OKRA_NODE_LEAF_) {
        for (okra_int i = 0; i < n; i++) {
            v[i] = okra_dot_(w->smooth->train->d, w->Y + i * w->smooth->train->d, w->y);
            vs[i] = 1;
            vt[i] = 0;
        }
    } else if (node->kind == OKRA_NODE_TRANSFORM_) {
        memcpy(v, a, bytes);
        memset(w->by_k, 0, bytes);
        memset(w->by_self, 0, bytes);
        node->transform->derive(node->params, w->self[node->a], w->db + node->a * m, n, v,
                                w->by_k, w->by_self);
        for (okra_int i = 0; i < n; i++) {
            vs[i] = w->by_k[i] * as[i];
            vt[i] = w->by_k[i] * at[i] + w->by_self[i] * w->slope[node->a];
        }
    } else {
        value_of(node, n, a, b, v);
        slope_of(node, n, a, as, b, bs, vs);
        slope_of(node, n, a, at, b, bt, vt);
    }
}

void okra_smooth_values_(okra_smooth_work_ *w, const double *y, double *values,
                         double *self)
{
    const okra_smooth_ *s = w->smooth;
    int root = s->kernel->count - 1;
    double t = move(s, y, w->y);
    self_pair(s->kernel, t, w->self, w->slope);
    for (int k = 0; k <= root; k++) {
        node_values(w, k);
    }
    memcpy(values, w->v + root * w->most, (size_t)w->count * sizeof *values);
    *self = w->self[root];
}

void okra_smooth_gradient_(okra_smooth_work_ *w, const double *c, double c_self,
                           double *gradient)
{
    const okra_smooth_ *s = w->smooth;
    okra_int d = s->train->d;
    int root = s->kernel->count - 1;
    const double *vs = w->vs + root * w->most, *vt = w->vt + root * w->most;
    double own = 2 * c_self * w->slope[root];
    memset(gradient, 0, (size_t)d * sizeof *gradient);
    for (okra_int i = 0; i < w->count; i++) {
        double q = c[i] * vs[i];
        const double *Y = w->Y + i * d;
        own += 2 * c[i] * vt[i];
        okra_axpy_(d, q, Y, gradient);
    }
    for (okra_int j = 0; j < d; j++) {
        gradient[j] += own * w->y[j];
        gradient[j] /= s->spread ? s->spread[j] : 1;
    }
}

/* Of the whole kernel the derivatives by s and by t, y and F' of the pair (y, y). */
okra_int okra_smooth_kept_(const okra_smooth_work_ *w)
{
    return 2 * w->most + w->smooth->train->d + 1;
}

void okra_smooth_keep_(const okra_smooth_work_ *w, double *kept)
{
    okra_int d = w->smooth->train->d, root = w->smooth->kernel->count - 1;
    size_t bytes = (size_t)w->count * sizeof *kept;
    memcpy(kept, w->vs + root * w->most, bytes);
    memcpy(kept + w->most, w->vt + root * w->most, bytes);
    memcpy(kept + 2 * w->most, w->y, (size_t)d * sizeof *kept);
    kept[2 * w->most + d] = w->slope[root];
}

void okra_smooth_recall_(okra_smooth_work_ *w, const double *kept)
{
    okra_int d = w->smooth->train->d, root = w->smooth->kernel->count - 1;
    size_t bytes = (size_t)w->count * sizeof *kept;
    memcpy(w->vs + root * w->most, kept, bytes);
    memcpy(w->vt + root * w->most, kept + w->most, bytes);
    memcpy(w->y, kept + 2 * w->most, (size_t)d * sizeof *kept);
    w->slope[root] = kept[2 * w->most + d];
}
