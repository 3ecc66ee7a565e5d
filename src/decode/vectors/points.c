/*
 * points.c: vectors nearest to a prediction in the output feature space, anywhere or in a
 * box, not only among given ones:
 *
 *     min_y  D(y) = l(y,y) - 2 sum_i w_i l(y_i,y) + w'Lw,   lo <= y <= hi
 *
 * with derivatives by kernel/vectors/smooth.c. What is minimised is D without w'Lw, less
 * l(y,y) of the training outputs and in units of the largest weight where they all have
 * the same, so that weak predictions are decoded as strong ones are. D has many local
 * minima: the search begins from the nearest training outputs and from their weighted
 * mean, and the best point tried wins. Its distance is then computed again as for
 * candidates, and the nearest training output is returned instead where it is not farther
 * (and lies in the box), so that the result is never worse than decoding to training
 * outputs. Under a linear kernel the minimum is the prediction itself, clipped to the
 * box. Cost: n d a step.
 */
#include "decode/decode.h"
#include "kernel/expression/expr.h"
#include "kernel/vectors/smooth.h"

#include <lbfgs.h>

/* libLBFGS rounds d up to 16. */
#define PAD(d) (((d) + 15) / 16 * 16)

/* One prediction seen from one thread. */
typedef struct point {
    okra_smooth_work_ *smooth;
    const okra_data *y;
    const double *w;       /* n weights                                   */
    double constant, unit; /* of the value, below                         */
    const double *lo, *hi; /* d bounds each, or NULL                      */
    double *values;        /* n: l(y_i, y) at the last point              */
    double *slopes;        /* n: -2 w / unit                              */
    double *best;          /* d: the best point so far                    */
    double lowest;         /* its value; infinite at first                */
    double *scratch;       /* 3 vectors of PAD(d) for the improver */
    okra_int steps;        /* at most this many                           */
} point;

/* Improves y (d, in the box) and reports every point it tries by value_at. */
typedef void (*improver)(point *p, double *y);

typedef struct points_options {
    okra_int starts, steps;
    const char *box;
} points_options;

/* What decoders of points keep. */
typedef struct state {
    const char *who;
    const okra_output_ *output;
    okra_int tests, d, steps, top;
    improver improve;
    okra_starts_ *starts; /* NULL under a linear kernel */
    okra_smooth_ *smooth;
    okra_smooth_work_ **works; /* one a worker */
    int workers;
    double *lo, *hi;  /* d each, or NULL            */
    double *result;   /* tests x d                  */
    double *distance; /* tests                      */
} state;

static const okra_option rows[] = {
    {"starts", OKRA_OPTION_INT, offsetof(points_options, starts), "3", 1, 1e6, NULL, "N",
     "nearest training outputs from which the search begins"},
    {"steps", OKRA_OPTION_INT, offsetof(points_options, steps), "100", 1, 1e6, NULL, "N",
     "steps of a search at most"},
    {"box", OKRA_OPTION_TEXT, offsetof(points_options, box), "", 1, 0, NULL, "LO,HI",
     "bounds of every coordinate of the result"},
    {0},
};

static void clear(void *arg)
{
    state *s = arg;
    okra_starts_free_(s->starts);
    for (int k = 0; s->works && k < s->workers; k++) {
        okra_smooth_work_free_(s->works[k]);
    }
    okra_free_(s->works);
    okra_smooth_free_(s->smooth);
    FREE(s->lo, s->hi, s->result, s->distance);
}

static okra_status read_box(state *s, const char *text)
{
    char *comma = NULL, *end = NULL;
    if (!*text) {
        return OKRA_OK;
    }
    double lo = strtod(text, &comma), hi = NAN;
    if (*comma == ',') {
        hi = strtod(comma + 1, &end);
    }
    REFUSE_IF(comma == text || *comma != ',' || end == comma + 1 || *end || !(lo < hi),
              OKRA_EARG, "decoder %s: box is '%s', expected LO,HI with LO < HI", s->who,
              text);
    MAKE(s->lo, s->d);
    MAKE(s->hi, s->d);
    for (okra_int j = 0; j < s->d; j++) {
        s->lo[j] = lo;
        s->hi[j] = hi;
    }
    return OKRA_OK;
}

static okra_status prepare_slopes(okra_context *ctx, state *s)
{
    const okra_data *y = s->output->y;
    CHK(okra_smooth_create_(ctx, s->output->kernel, y, s->output->ky, &s->smooth));
    s->workers = okra_workers_(ctx);
    ZMAKE(s->works, s->workers);
    for (int k = 0; k < s->workers; k++) {
        CHK(okra_smooth_work_create_(ctx, s->smooth, y->n, &s->works[k]));
        okra_smooth_select_(s->works[k], NULL, y->n);
    }
    return OKRA_OK;
}

static okra_status open_points(okra_context *ctx, state *s, const char *who,
                               const okra_output_ *output, const points_options *options,
                               const okra_decode_request_ *request, improver improve)
{
    CHK(okra_decode_check_plain_(who, request));
    s->who = who;
    s->output = output;
    s->tests = request->tests;
    s->d = okra_data_width(output->y);
    s->steps = options->steps;
    s->top = OKRA_MIN_(options->starts, okra_data_count(output->y));
    s->improve = improve;
    CHK(read_box(s, options->box));
    if (!output->features) {
        CHK(okra_starts_create_(ctx, output, NULL, s->tests, s->top, false, &s->starts));
        CHK(prepare_slopes(ctx, s));
    }
    CHK(okra_doubles_(ctx, s->tests, s->d, "the decoded vectors", &s->result));
    MAKE(s->distance, s->tests);
    return OKRA_OK;
}

/* ---- one point ---- */

/* What is minimised at y, (l(y,y) - constant - 2 sum_i w_i l(y_i,y)) / unit; y becomes
 * the best point if it is. */
static double value_at(point *p, const double *y)
{
    double self = 0;
    okra_smooth_values_(p->smooth, y, p->values, &self);
    double inner = okra_dot_(p->y->n, p->w, p->values);
    double value =
        (okra_self_settle_(self, p->constant) - p->constant - 2 * inner) / p->unit;
    if (value < p->lowest) {
        p->lowest = value;
        memcpy(p->best, y, (size_t)p->y->d * sizeof *y);
    }
    return value;
}

/* Its gradient (d) at the y of the last value_at. */
static void slope_at(point *p, double *gradient)
{
    okra_smooth_gradient_(p->smooth, p->slopes, 1 / p->unit, gradient);
}

static void clip(const point *p, double *y)
{
    for (okra_int j = 0; p->lo && j < p->y->d; j++) {
        y[j] = fmin(fmax(y[j], p->lo[j]), p->hi[j]);
    }
}

/* ---- blocks ---- */

typedef struct work {
    state *s;
    const okra_block_ *block;
    double *space; /* space_size(s) a worker */
} work;

static okra_int space_size(const state *s)
{
    return 2 * PAD(s->output->y->n) + 4 * PAD(s->d);
}

/* The weighted mean of the training outputs; false where the weights sum to nothing. */
static bool mean_start(const point *p, double *y)
{
    double sum = 0, size = 0;
    memset(y, 0, (size_t)p->y->d * sizeof *y);
    for (okra_int i = 0; i < p->y->n; i++) {
        sum += p->w[i];
        size += fabs(p->w[i]);
        okra_axpy_(p->y->d, p->w[i], p->y->values + i * p->y->ld, y);
    }
    okra_scale_down_(p->y->d, sum, y);
    return fabs(sum) > 1e-6 * size;
}

/* The largest |w_i|, 1 where all are 0. */
static double largest(okra_int n, const double *w)
{
    double most = okra_most_abs_(n, w);
    return most > 0 ? most : 1;
}

static void decode_one(const work *k, okra_int r, int worker)
{
    const state *s = k->s;
    okra_int n = s->output->y->n, d = s->d, i = k->block->first + r;
    double *space = k->space + worker * space_size(s);
    double constant = s->starts->constant;
    point p = {.smooth = s->works[worker],
               .y = s->output->y,
               .w = k->block->W.p + r * k->block->W.ld,
               .constant = isnan(constant) ? 0 : constant,
               .unit = 1,
               .lo = s->lo,
               .hi = s->hi,
               .values = space,
               .slopes = space + PAD(n),
               .scratch = space + 2 * PAD(n),
               .best = s->result + i * d,
               .lowest = INFINITY,
               .steps = s->steps};
    double *y = p.scratch + 3 * PAD(d);
    if (!isnan(constant)) {
        p.unit = largest(n, p.w);
    }
    for (okra_int t = 0; t < n; t++) {
        p.slopes[t] = -2 * p.w[t] / p.unit;
    }
    okra_int count = 0;
    const okra_near_ *near = okra_starts_get_(s->starts, i, &count);
    for (okra_int t = 0; t < OKRA_MIN_(s->top, count); t++) {
        memcpy(y, p.y->values + near[t].rank.id * p.y->ld, (size_t)d * sizeof *y);
        clip(&p, y);
        s->improve(&p, y);
    }
    if (mean_start(&p, y)) {
        clip(&p, y);
        s->improve(&p, y);
    }
}

static okra_status body(void *arg, okra_int begin, okra_int end, int worker)
{
    for (okra_int r = begin; r < end; r++) {
        decode_one(arg, r, worker);
    }
    return OKRA_OK;
}

/* The nearest training output, if it is in the box and as near as what was found. */
static void prefer_training(const state *s, okra_int i, okra_key_ found)
{
    const okra_data *y = s->output->y;
    okra_int count = 0;
    const okra_near_ *near = okra_starts_get_(s->starts, i, &count);
    const double *row = count == 0 ? NULL : y->values + near->rank.id * y->ld;
    bool inside = row != NULL;
    for (okra_int j = 0; inside && s->lo && j < s->d; j++) {
        inside = row[j] >= s->lo[j] && row[j] <= s->hi[j];
    }
    if (inside && !okra_key_less_(found, near->rank.key)) {
        s->distance[i] = near->distance;
        memcpy(s->result + i * s->d, row, (size_t)s->d * sizeof *row);
    }
}

static okra_status search(okra_context *ctx, state *s, const okra_block_ *block)
{
    okra_int m = block->m;
    OWNED double *norm = NULL;
    OWNED okra_int *owner = NULL;
    FREED_BY(okra_data_drop_) okra_data *found = NULL;
    OWNED okra_key_ *key = NULL;
    work k = {s, block, NULL};
    OWNS(&k.space);
    CHK(okra_block_weights_(block, s->who));
    MAKE(norm, m);
    MAKE(owner, m);
    MAKE(key, m);
    CHK(okra_doubles_(ctx, s->workers, space_size(s), "the search of vectors", &k.space));
    okra_mat_fill_(okra_mat_of_(k.space, s->workers, space_size(s)), 0);
    CHK(okra_starts_block_(ctx, s->starts, block, norm));
    CHK(okra_parallel_(ctx, m, 1, "decode", body, &k));
    okra_iota_(m, owner);
    CHK(okra_data_dense(s->result + block->first * s->d, m, s->d, s->d, &found));
    CHK(okra_propose_(ctx, s->output, found, owner, true, block->W, norm,
                      s->starts->constant, key, s->distance + block->first));
    for (okra_int r = 0; r < m; r++) {
        prefer_training(s, block->first + r, key[r]);
    }
    return OKRA_OK;
}

/* y = h clipped, D = scale |y - h|^2 */
static okra_status clip_explicit(okra_context *ctx, state *s, const okra_block_ *block)
{
    double *y = s->result + block->first * s->d;
    CHK(okra_block_explicit_(ctx, s->output, block, okra_mat_of_(y, block->m, s->d)));
    for (okra_int r = 0; r < block->m; r++) {
        double sum = 0;
        for (okra_int j = 0; s->lo && j < s->d; j++) {
            double h = y[r * s->d + j], clipped = fmin(fmax(h, s->lo[j]), s->hi[j]);
            sum += (h - clipped) * (h - clipped);
            y[r * s->d + j] = clipped;
        }
        s->distance[block->first + r] = s->output->feature_scale * sum;
    }
    return OKRA_OK;
}

static okra_status block_in(okra_context *ctx, void *arg, const okra_block_ *block)
{
    state *s = arg;
    return s->output->features ? clip_explicit(ctx, s, block) : search(ctx, s, block);
}

static okra_status finish(okra_context *ctx, void *arg, okra_decoded_ *out)
{
    state *s = arg;
    FREED_BY(okra_data_drop_) okra_data *objects = NULL;
    CHK(okra_data_adopt_dense_(&s->result, s->tests, s->d, "decoded vectors", &objects));
    return okra_decoded_single_(&objects, s->tests, &s->distance, out);
}

/* ---- the decoder gradient ---- */

/* Pre-images under any smooth kernel of dense vectors, by L-BFGS (Nocedal
 * 1980; libLBFGS) on the exact distance in feature space.
 *
 * A box is kept by the projection c(z): L-BFGS sees z -> D(c(z)) with the gradient of D
 * where z is inside and 0 where it is outside and would go farther out. That function has
 * kinks, at which L-BFGS may stop early; projected gradient steps with halving then go on
 * until none lowers D. The best point tried is kept in either case.
 */
static double evaluate(void *arg, const double *z, double *gradient, int d, double step)
{
    point *p = arg;
    double *y = p->scratch;
    memcpy(y, z, (size_t)d * sizeof *y);
    clip(p, y);
    double value = value_at(p, y);
    slope_at(p, gradient);
    for (okra_int j = 0; p->lo && j < d; j++) {
        if ((z[j] <= p->lo[j] && gradient[j] > 0) ||
            (z[j] >= p->hi[j] && gradient[j] < 0)) {
            gradient[j] = 0;
        }
    }
    return value;
}

/* Steps y <- c(y - t gradient), t halved until D falls. */
static void project(point *p, double *y)
{
    okra_int d = p->y->d;
    double *next = p->scratch, *gradient = next + PAD(d), t = 1;
    double value = value_at(p, y);
    for (okra_int step = 0; step < p->steps && t > 1e-12; step++) {
        slope_at(p, gradient);
        double tried = value; /* y is the last point accepted, and was evaluated last */
        for (t *= 4; t > 1e-12; t /= 2) {
            for (okra_int j = 0; j < d; j++) {
                next[j] = y[j] - t * gradient[j];
            }
            clip(p, next);
            tried = value_at(p, next);
            if (tried < value - 1e-14 * fabs(value)) {
                break;
            }
        }
        if (!(tried < value)) {
            return;
        }
        memcpy(y, next, (size_t)d * sizeof *y);
        value = tried;
    }
}

static void descend(point *p, double *y)
{
    lbfgs_parameter_t parameters;
    okra_int d = p->y->d, padded = PAD(d);
    double value, *z = p->scratch + 2 * padded;
    lbfgs_parameter_init(&parameters);
    parameters.max_iterations = (int)p->steps;
    parameters.epsilon = 1e-9;
    value_at(p, y); /* the start counts even if the first step fails */
    memcpy(z, y, (size_t)d * sizeof *z);
    (void)lbfgs((int)d, z, &value, evaluate, NULL, p, &parameters);
    if (p->lo) {
        memcpy(y, p->best, (size_t)d * sizeof *y);
        project(p, y);
    }
}

static okra_status open_gradient(okra_context *ctx, void *arg, const okra_output_ *output,
                                 const void *options, const okra_decode_request_ *request)
{
    return open_points(ctx, arg, "gradient", output, options, request, descend);
}

const okra_decoder_ okra_decoder_gradient_ = {
    .name = "gradient",
    .help = "new vectors under any smooth output kernel, by L-BFGS",
    .options = {"decoder gradient", rows, sizeof(points_options)},
    .state = sizeof(state),
    .open = open_gradient,
    .block = block_in,
    .finish = finish,
    .clear = clear,
};

/* ---- the decoder fixed-point ---- */

/* Pre-images under an RBF output kernel by fixed-point iteration (Mika et
 * al. 1999; Schoelkopf et al. 1999, eq. 10):
 *
 *     y <- sum_i w_i l(y_i,y) y_i / sum_i w_i l(y_i,y)
 *
 * A stationary point of the distance is a fixed point. With negative weights the step may
 * leave for nowhere: it stops when the distance no longer falls, and the best point tried
 * is kept. No step size, a linear rate.
 */
static void iterate(point *p, double *y)
{
    okra_int n = p->y->n, d = p->y->d;
    double value = value_at(p, y);
    for (okra_int step = 0; step < p->steps; step++) {
        double sum = 0, size = 0;
        okra_fill_(d, 0, y);
        for (okra_int i = 0; i < n; i++) {
            double v = p->w[i] * p->values[i];
            const double *row = p->y->values + i * p->y->ld;
            sum += v;
            size += fabs(v);
            okra_axpy_(d, v, row, y);
        }
        if (!(fabs(sum) > 1e-12 * size)) {
            return;
        }
        okra_scale_down_(d, sum, y);
        clip(p, y);
        double next = value_at(p, y);
        if (!(next < value - 1e-14 * fabs(value))) {
            return;
        }
        value = next;
    }
}

/* An RBF of dense vectors, times a constant or not. */
static bool is_rbf(const okra_output_ *output)
{
    double scale;
    const okra_node_ *node = okra_kernel_core_(output->kernel, &scale, NULL);
    const okra_node_ *leaf =
        node->kind == OKRA_NODE_TRANSFORM_ ? &output->kernel->nodes[node->a] : NULL;
    return okra_data_kind(output->y) == OKRA_DENSE && leaf &&
           node->transform == &okra_rbf_ && leaf->kind == OKRA_NODE_LEAF_ &&
           (leaf->leaf == &okra_linear_ || leaf->leaf == okra_linear_.distances);
}

static okra_status open_fixed_point(okra_context *ctx, void *arg,
                                    const okra_output_ *output, const void *options,
                                    const okra_decode_request_ *request)
{
    REFUSE_IF(!is_rbf(output), OKRA_EUNSUPPORTED,
              "decoder fixed-point needs an RBF output kernel on dense vectors; decoder "
              "gradient takes other smooth kernels");
    return open_points(ctx, arg, "fixed-point", output, options, request, iterate);
}

const okra_decoder_ okra_decoder_fixed_point_ = {
    .name = "fixed-point",
    .help = "new vectors under an RBF output kernel, by fixed-point iteration",
    .options = {"decoder fixed-point", rows, sizeof(points_options)},
    .state = sizeof(state),
    .open = open_fixed_point,
    .block = block_in,
    .finish = finish,
    .clear = clear,
};
