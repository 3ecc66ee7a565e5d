/*
 * blend.c: ridge and trees on columns, weighed by what they predict at pairs that they
 * have not seen.
 *
 *     w(x) = (1 - a) w_ridge(x) + a w_trees(x),
 *
 * both over the same training outputs. r_i is the prediction of ridge at x_i without the
 * pair (closed form, solve/leave.c), t_i the mean of the trees that have not seen it
 * (out-of-bag, columns.c). In the feature space of the outputs f_i, in which the trees'
 * splits are judged (columns.c), a minimises
 *
 *     sum_i |f_i - (1 - a) r_i - a t_i|^2 - a^2 sum_i v_i (1/m_i - 1/T)
 *     a = sum_i <f_i - r_i, u_i> / sum_i (|u_i|^2 - v_i (1/m_i - 1/T)),  u_i = t_i - r_i,
 *
 * between 0 and 1. The second sum is what t_i, the mean of m_i trees, varies more than
 * that of all T (v_i: the variance of a tree at x_i): the test point will have all of
 * them. Pairs that no tree has left out do not count; where none is left, or a is no
 * number, a is 1/2.
 *
 * Cost: that of ridge, of the trees, and of leaving out: n^3/3 + n^2 r once more.
 */
#include "method/neighbours/trees.h"

typedef struct blend_options {
    double lambda;
    bool center;
    okra_columns_options_ of;
} blend_options;

static const okra_option rows[] = {
    {"lambda", OKRA_OPTION_NUMBER, offsetof(blend_options, lambda), "0.1", 0, 1e300, NULL,
     "V", "of ridge: (K + lambda I)"},
    {"center-output", OKRA_OPTION_BOOL, offsetof(blend_options, center), "no", 1, 0, NULL,
     "", "of ridge: subtract the mean output in feature space, and restore it after"},
    {"trees", OKRA_OPTION_INT, offsetof(blend_options, of.trees), "100", 1, 1e6, NULL,
     "T", "trees that are averaged"},
    {"features", OKRA_OPTION_INT, offsetof(blend_options, of.features), "0", 0, 1e9, NULL,
     "F", "random columns tried at a node; 0: all, 100 at most"},
    {"leaf", OKRA_OPTION_INT, offsetof(blend_options, of.leaf), "1", 1, 1e9, NULL, "N",
     "least number of training pairs in a leaf"},
    {"parts", OKRA_OPTION_INT, offsetof(blend_options, of.parts), "0", 0, 1e6, NULL, "N",
     "each tree leaves out one of N random parts of the pairs; 0: of 5"},
    {0},
};

extern const okra_method_ okra_method_blend_, okra_method_ridge_;

typedef struct blending {
    const okra_problem_ *p;
    okra_judged_ judged;
    okra_unseen_ trees;
    okra_int count; /* T */
    okra_store_ *const *stores;
    bool weights; /* what is left out comes and goes as weights */
    double *R;    /* n x r: predictions of ridge, where they come as weights */
    okra_left_fn_ sink;
    void *user;
} blending;

static void blending_clear(blending *z)
{
    okra_judged_clear_(&z->judged);
    FREE(z->trees.W.p, z->trees.E.p, z->trees.count, z->trees.noise, z->R);
}

/* R: what ridge predicts at pairs left out, in the coordinates F. */
static double weight_of(const blending *z, okra_mat_ R)
{
    double up = 0, down = 0;
    for (okra_int i = 0; i < R.rows; i++) {
        const double *f = z->judged.F.p + i * R.cols, *r = R.p + i * R.ld,
                     *e = z->trees.E.p + i * R.cols;
        double m = z->trees.count[i];
        for (okra_int k = 0; k < R.cols && m > 0; k++) {
            double error = f[k] - r[k], u = e[k] + error; /* e = t - f */
            up += error * u;
            down += u * u;
        }
        down -= m > 0 ? z->trees.noise[i] * (1 / m - 1 / (double)z->count) : 0;
    }
    double a = down > 0 ? up / down : up > 0 ? 1 : up < 0 ? 0 : 0.5;
    return isfinite(a) ? fmin(fmax(a, 0), 1) : 0.5;
}

/* A <- (1 - a) A + a B */
static void mix(double a, okra_mat_ A, okra_mat_ B)
{
    for (okra_int i = 0; i < A.rows; i++) {
        for (okra_int j = 0; j < A.cols; j++) {
            double *at = A.p + i * A.ld + j;
            *at = (1 - a) * *at + a * B.p[i * B.ld + j];
        }
    }
}

/* What ridge leaves out of one lambda: a for the store, or the mixture for the sink. */
static okra_status on_left(okra_context *ctx, void *user, const okra_left_ *left)
{
    blending *z = user;
    okra_mat_ F = z->judged.F, R = left->H;
    if (z->weights) {
        R = okra_mat_of_(z->R, F.rows, F.cols);
        CHK(okra_gemm_(ctx, false, false, 1, left->W, F, 0, R));
    }
    double a = weight_of(z, R);
    if (!z->sink) {
        return okra_store_put_number_(z->stores[left->lambda], "blend", a);
    }
    okra_left_ mixed = {.lambda = left->lambda, .W = left->W, .H = left->H};
    if (z->weights) {
        mix(a, mixed.W, z->trees.W);
        return z->sink(ctx, z->user, &mixed);
    }
    for (okra_int i = 0; i < F.rows; i++) { /* in the units of the outputs */
        for (okra_int k = 0; k < F.cols; k++) {
            double t = F.p[i * F.cols + k] + z->trees.E.p[i * F.cols + k];
            double *h = R.p + i * R.ld + k;
            *h = ((1 - a) * *h + a * t) * z->judged.unit[k];
        }
    }
    return z->sink(ctx, z->user, &mixed);
}

/* Grows the trees into `store`, and leaves out of ridge what they have not seen. */
static okra_status leave_out(okra_context *ctx, blending *z, const okra_options *options,
                             const double *lambda, size_t count, const okra_parts_ *units,
                             okra_store_ *store)
{
    blend_options o;
    okra_int n = z->p->n;
    CHK(okra_options_read(options, &okra_method_blend_.options, &o));
    o.of.parts = o.of.parts > 0 ? o.of.parts : 5;
    CHK(okra_judged_create_(ctx, z->p, &z->judged));
    okra_int r = z->judged.F.cols;
    CHK(okra_columns_grow_(ctx, z->p, z->judged.F, &o.of, units, store));
    z->count = o.of.trees;
    okra_unseen_ *t = &z->trees;
    if (z->weights) {
        CHK(okra_doubles_(ctx, n, n, "weights of pairs left out", &t->W.p));
        CHK(okra_doubles_(ctx, n, r, "predictions of pairs left out", &z->R));
        t->W = okra_mat_of_(t->W.p, n, n);
    }
    CHK(okra_doubles_(ctx, n, r, "predictions of pairs left out", &t->E.p));
    t->E = okra_mat_of_(t->E.p, n, r);
    MAKE(t->count, n);
    MAKE(t->noise, n);
    CHK(okra_columns_unseen_(ctx, store, z->p->x, z->judged.F, units, t));
    okra_problem_ p = *z->p;
    if (!z->weights) { /* ridge of the coordinates F */
        p.features = z->judged.F.p;
        p.d = p.features_ld = r;
        p.feature_scale = 1;
    }
    okra_parts_ single = {n, NULL};
    return okra_method_ridge_.leave(ctx, &p, options, lambda, count,
                                    units ? units : &single, !z->weights, on_left, z);
}

static okra_status path(okra_context *ctx, const okra_problem_ *p,
                        const okra_options *options, const double *lambda, size_t count,
                        okra_store_ *const *stores)
{
    static const char *const names[] = {"nodes", "roots", "items"};
    FREED_BY(blending_clear) blending z = {.p = p, .stores = stores};
    okra_problem_ weights =
        *p; /* with features it would keep coefficients in their place */
    weights.features = NULL;
    weights.d = 0;
    CHK(okra_method_ridge_.path(ctx, &weights, options, lambda, count, stores));
    CHK(leave_out(ctx, &z, options, lambda, count, NULL, stores[0]));
    for (size_t l = 1; l < count; l++) {
        for (int k = 0; k < 3; k++) {
            okra_mat_ A = okra_store_mat_(stores[0], names[k]);
            CHK(okra_store_put_copy_(stores[l], names[k], A.p, A.rows, A.cols));
        }
    }
    return OKRA_OK;
}

/* Parts are left out of trees as a whole, which tree leaves which out is drawn. So this
 * is what trees like those of a fit predict; a fit without the part draws others. */
static okra_status leave(okra_context *ctx, const okra_problem_ *p,
                         const okra_options *options, const double *lambda, size_t count,
                         const okra_parts_ *parts, bool explicitly, okra_left_fn_ sink,
                         void *user)
{
    FREED_BY(okra_store_drop_) okra_store_ *store = NULL;
    FREED_BY(blending_clear)
    blending z = {
        .p = p, .weights = !explicitly || !p->features, .sink = sink, .user = user};
    CHK(okra_store_create_(&store));
    return leave_out(ctx, &z, options, lambda, count, parts, store);
}

static okra_status predict(okra_context *ctx, const okra_store_ *store,
                           okra_query_ *query, okra_mat_ out)
{
    OWNED double *W = NULL;
    okra_mat_ X = {0};
    double a = okra_store_number_(store, "blend", 0);
    CHK(okra_columns_query_(query, &X));
    CHK(okra_trees_check_(store, query->n, X.cols));
    if (a >= 1) {
        return okra_trees_weights_(ctx, store, X, out);
    }
    CHK(okra_method_ridge_.predict(ctx, store, query, out));
    if (a > 0) {
        CHK(okra_doubles_(ctx, out.rows, out.cols, "weights of trees", &W));
        CHK(okra_trees_weights_(ctx, store, X, okra_mat_of_(W, out.rows, out.cols)));
        mix(a, out, okra_mat_of_(W, out.rows, out.cols));
    }
    return OKRA_OK;
}

static okra_status check(const okra_store_ *store, const okra_facts_ *facts)
{
    REFUSE_IF(facts->x->kind != OKRA_DENSE, OKRA_EFORMAT,
              "blend: the trees split on columns, which the inputs have none of");
    return okra_trees_check_(store, facts->y->n, facts->x->d);
}

/* Kernels and lambda are those of ridge. */
static okra_likeness_ likeness(const okra_open_ *open, const okra_options *options)
{
    return open->kx || open->lambda ? OKRA_LIKE_WHOLE_ : OKRA_LIKE_NOTHING_;
}

static okra_status fill(const okra_open_ *open, okra_options *o)
{
    return open->kx && !okra_options_is_set(o, "center-output")
               ? okra_options_set(o, "center-output", "yes")
               : OKRA_OK;
}

static okra_coupling_ coupling(const okra_options *options)
{
    return OKRA_OUTPUTS_ALIKE_;
}

/* clang-format off */
#define COMMON \
    OKRA_KEEPS_TEXT_("operator", 0), \
    OKRA_KEEPS_NUMBER_("lambda", 0, "0", "1e300"), \
    OKRA_KEEPS_NUMBER_("center", OKRA_KEPT_WHOLE_, "0", "1"), \
    OKRA_KEEPS_TOLD_("jitter"), \
    OKRA_KEEPS_NUMBER_("blend", 0, "0", "1"), \
    OKRA_TREES_KEPT_
static const okra_schema_ kept_factor[] = {
    OKRA_KEEPS_MATRIX_("factor", OKRA_KEPT_FACTOR_, "n", "n"),
    COMMON,
    OKRA_KEPT_END_};
static const okra_schema_ kept_weights[] = {
    OKRA_KEEPS_MATRIX_("B", 0, "n", "n"),
    COMMON,
    OKRA_KEPT_END_};
/* clang-format on */

const okra_method_ okra_method_blend_ = {
    .name = "blend",
    .help = "ridge and trees on columns, weighed by pairs that they have not seen",
    .options = {"blend", rows, sizeof(blend_options)},
    .unweighted = "grows trees from pairs that are drawn alike: it does not use weights",
    .automatic =
        &(const okra_auto_){
            .fill = fill, .coupling = coupling, .like = "ridge", .likeness = likeness},
    .path = path,
    .predict = predict,
    .leave = leave,
    .kept = (const okra_schema_ *const[]){kept_factor, kept_weights, NULL},
    .check = check,
};
