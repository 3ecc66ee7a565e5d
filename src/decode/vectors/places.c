/*
 * places.c: where searches for the lowest valley of a criterion J (valleys.c) may begin.
 *
 * Places are the explicit weighted output (kl: Y'w, the ridge prediction; hsic: with the
 * positive weights made to sum to 1) and, about outputs spread over the modes, a step of
 * the mean shift and its mirror image; of kl also the middles between an output and those
 * nearest to it, and places round it where J would be lowest if it were alone.
 *
 * Cost: up to OKRA_PLACES_ values of J without slopes.
 */
#include "decode/vectors/criterion.h"

static const double CLOSE = 0.5; /* of l(y,y): outputs this similar share a mode        */
static const double LEAST =
    0.25;                        /* of the largest <h, phi(y_i)>: of a mode to be tried */
static const double SHARE = 0.6; /* of l(y,y): where the reach of hsic ends             */
static const double OUTER = 1.8; /* of its radius: a second ring                        */
enum { NEAR = 4 };

/* z of the explicit weighted output. */
static void weighted_output(const okra_valleys_ *s, double *z)
{
    const okra_case_ *c = &s->problem;
    okra_int ld = 0;
    const double *Y = okra_data_values(s->y_train, &ld);
    double sum = 0;
    memset(z, 0, (size_t)s->d * sizeof *z);
    for (okra_int i = 0; i < c->count; i++) {
        double w = c->kl ? c->weights[i] : fmax(0, c->weights[i]);
        const double *y = Y + (c->index ? c->index[i] : i) * ld;
        sum += w;
        okra_axpy_(s->d, w, y, z);
    }
    for (okra_int j = 0; j < s->d; j++) {
        double mean = (s->centred && c->kl ? sum : 1) * s->mean[j];
        z[j] = (z[j] / (c->kl || sum == 0 ? 1 : sum) - mean) / s->scale[j];
    }
}

const double *okra_valleys_output_(const okra_valleys_ *s, okra_int i)
{
    okra_int ld = 0, row = s->problem.index ? s->problem.index[i] : i;
    return okra_data_values(s->y_train, &ld) + row * ld;
}

void okra_valleys_member_(const okra_valleys_ *s, okra_int i, double *z)
{
    const double *y = okra_valleys_output_(s, i);
    for (okra_int j = 0; j < s->d; j++) {
        z[j] = (y[j] - s->mean[j]) / s->scale[j];
    }
}

/* z of the mean of the outputs near the place of l, weighted by w_i l_i: a step of the
 * mean shift. False where those weights do not make a mean. */
static bool shifted(const okra_valleys_ *s, const double *l, double *z)
{
    double sum = 0;
    memset(z, 0, (size_t)s->d * sizeof *z);
    for (okra_int i = 0; i < s->problem.count; i++) {
        double v = fmax(0, s->problem.weights[i]) * fmax(0, l[i]);
        if (v > 0) {
            const double *y = okra_valleys_output_(s, i);
            sum += v;
            for (okra_int j = 0; j < s->d; j++) {
                z[j] += v * (y[j] - s->mean[j]) / s->scale[j];
            }
        }
    }
    okra_scale_down_(s->d, sum, z);
    return sum > 0;
}

okra_int okra_most_of_(const double *f, okra_int count)
{
    okra_int best = -1;
    for (okra_int i = 0; i < count; i++) {
        best = f[i] > -DBL_MAX && (best < 0 || f[i] > f[best]) ? i : best;
    }
    return best;
}

void okra_valleys_look_(okra_valleys_ *s, const double *z, double *l, double *self)
{
    for (okra_int j = 0; j < s->d; j++) {
        s->y[j] = s->mean[j] + s->scale[j] * z[j];
    }
    okra_smooth_values_(s->smooth, s->y, l, self);
}

/* s->z + way u joins the places, where there is room. */
static void add(okra_valleys_ *s, okra_int anchor, double way, const double *u)
{
    okra_int k = s->held;
    if (k == OKRA_PLACES_) {
        return;
    }
    double *z = s->places + k * s->d;
    for (okra_int j = 0; j < s->d; j++) {
        z[j] = s->z[j] + (way != 0 ? way * u[j] : 0);
    }
    okra_valleys_look_(s, z, s->l + k * s->problem.count, &s->self[k]);
    s->anchor[k] = anchor;
    s->reach[k] = 0;
    s->held++;
}

/* l(y_i, y) where J is lowest if member i is alone: -2 w l - e log v with v = S - l^2/S,
 * S = l(y_i,y_i) + lambda. */
static double alone(const okra_case_ *c, double w, double own)
{
    double S = own + c->lambda;
    return 2 * w * S * S / (c->e + sqrt(c->e * c->e + 4 * w * w * S * S));
}

/* How far from s->z, which is member i, along u l(y_i, y) falls from `own` to `wanted`;
 * 0: not found. log l is taken as a multiple of the square of the way, as that of a
 * Gaussian kernel is, from the guess `far`. */
static double way_to(okra_valleys_ *s, okra_int i, const double *u, double own,
                     double wanted, double far)
{
    double self;
    for (int probe = 0; probe < 12; probe++) {
        for (okra_int j = 0; j < s->d; j++) {
            s->u[j] = s->z[j] + far * u[j];
        }
        okra_valleys_look_(s, s->u, s->by_l, &self);
        double l = s->by_l[i];
        if (l > 0 && l < own) {
            double next = far * sqrt(log(wanted / own) / log(l / own));
            if (fabs(next - far) < 0.1 * far) {
                return next;
            }
            far = fmin(fmax(next, far / 8), far * 8);
        } else {
            far *= l > 0 ? 4 : 0.25;
        }
    }
    return 0;
}

/* Row k of the frame made one long and across the rows before it; false: nothing is left
 * of it. */
static bool unit(okra_valleys_ *s, int k)
{
    okra_int d = s->d;
    double *u = s->frame + k * d;
    for (int b = 0; b < k; b++) {
        const double *v = s->frame + b * d;
        double along = okra_dot_(d, u, v);
        okra_axpy_(d, -along, v, u);
    }
    double length = sqrt(okra_dot_(d, u, u));
    okra_scale_down_(d, length, u);
    return length > 1e-6 && isfinite(length);
}

/* The axis that is farthest from the first row of the frame as its row k. */
static void axis(okra_valleys_ *s, int k)
{
    okra_int least = 0;
    for (okra_int j = 1; j < s->d && k > 0; j++) {
        double a = 0, b = 0;
        for (int r = 0; r < k; r++) {
            a += s->frame[r * s->d + j] * s->frame[r * s->d + j];
            b += s->frame[r * s->d + least] * s->frame[r * s->d + least];
        }
        least = a < b ? j : least;
    }
    memset(s->frame + k * s->d, 0, (size_t)s->d * sizeof *s->frame);
    s->frame[k * s->d + least] = 1;
    (void)unit(s, k);
}

/* Places round s->z, member i, `way` off it: in the plane and in space along and between
 * the axes of the frame, else along its first alone. */
static void round_about(okra_valleys_ *s, okra_int i, double way)
{
    static const double half = 0.70710678118654752, third = 0.57735026918962576;
    int dims = s->d <= 3 ? (int)s->d : 1, all = dims == 3 ? 27 : dims == 2 ? 9 : 3;
    for (int k = 0; k < all; k++) {
        int at[3] = {k % 3 - 1, k / 3 % 3 - (dims > 1), k / 9 - (dims > 2)};
        int size = at[0] * at[0] + at[1] * at[1] + at[2] * at[2];
        if (size == 0 || (dims == 3 && size == 2)) {
            continue;
        }
        double length = size == 1 ? 1 : size == 2 ? half : third;
        for (okra_int j = 0; j < s->d; j++) {
            s->u[j] = 0;
            for (int r = 0; r < dims; r++) {
                s->u[j] += length * at[r] * s->frame[r * s->d + j];
            }
        }
        add(s, i, way, s->u);
        if (dims < 3) {
            add(s, i, OUTER * way, s->u);
        }
    }
}

/* Places about member i, s->z, of kl: its l is row `row` of the places. */
static void ring(okra_valleys_ *s, okra_int i, okra_int row, double weight)
{
    okra_int count = s->problem.count, near[NEAR], found = 0, k = 0;
    const double *l = s->l + row * count;
    double own = l[i], *u = s->frame;
    memcpy(s->by_l, l, (size_t)count * sizeof *l);
    s->by_l[i] = -DBL_MAX;
    while (found < NEAR && (k = okra_most_of_(s->by_l, count)) >= 0) {
        near[found++] = k;
        s->by_l[k] = -DBL_MAX;
    }
    bool first = false;
    for (okra_int q = found - 1; q >= 0; q--) { /* the nearest last */
        okra_valleys_member_(s, near[q], u);
        okra_axpy_(s->d, -1, s->z, u);
        add(s, i, 0.5, u);
        first = unit(s, 0);
    }
    if (!first) {
        axis(s, 0);
    }
    for (int r = 1; r < s->d && s->d <= 3; r++) {
        axis(s, r);
    }
    double way = way_to(s, i, s->frame, own, alone(&s->problem, weight, own), 0.3);
    if (way > 0) {
        round_about(s, i, way);
    }
    for (k = row; k < s->held; k++) {
        s->reach[k] = way;
    }
}

/* Places about member i. */
static void look_about(okra_valleys_ *s, okra_int i)
{
    const okra_case_ *c = &s->problem;
    double weight = fmax(s->f[i], c->weights[i]);
    okra_int row = s->held;
    if (row == OKRA_PLACES_) {
        s->f[i] = -DBL_MAX;
        return;
    }
    okra_valleys_member_(s, i, s->z);
    add(s, i, 0, NULL);
    const double *l = s->l + row * c->count;
    for (okra_int k = 0; k < c->count; k++) {
        s->f[k] = l[k] > CLOSE * l[i] || k == i ? -DBL_MAX : s->f[k];
    }
    if (shifted(s, l, s->u)) {
        okra_axpy_(s->d, -1, s->z, s->u);
        add(s, i, 1, s->u);
        add(s, i, -1, s->u);
    }
    if (c->kl && weight > 0) {
        ring(s, i, row, weight);
    } else if (!c->kl) { /* so that no step leaves a valley */
        axis(s, 0);
        double way = way_to(s, i, s->frame, l[i], SHARE * l[i], 0.3);
        for (okra_int k = row; k < s->held; k++) {
            s->reach[k] = way;
        }
    }
}

okra_status okra_places_find_(okra_valleys_ *s)
{
    const okra_case_ *c = &s->problem;
    double most = -DBL_MAX;
    s->held = 0;
    weighted_output(s, s->z);
    add(s, -1, 0, NULL);
    okra_case_inner_(c, s->f);
    okra_int anchors = c->kl ? OKRA_ANCHORS_ : 2 * OKRA_ANCHORS_; /* hsic is cheap */
    for (okra_int t = 0; t < anchors; t++) {
        okra_int i = okra_most_of_(s->f, c->count);
        if (i < 0 || (c->kl && s->f[i] < LEAST * most)) {
            break;
        }
        most = fmax(most, s->f[i]);
        look_about(s, i);
    }
    s->evaluations += (double)s->held;
    return okra_case_values_(c, okra_mat_of_(s->l, s->held, c->count), s->self,
                             s->heights, NULL);
}
