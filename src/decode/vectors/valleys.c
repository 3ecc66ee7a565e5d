/*
 * valleys.c: the lowest valley of a criterion J of one test point, in the coordinates z
 * of y_j = m_j + s_j z_j, by L-BFGS (libLBFGS) from several places.
 *
 * J has one valley about every mode of the weights, and of kl one on either side of a
 * training output, where log v is a wall. So J is compared at the explicit weighted
 * output (kl: Y'w, the ridge prediction; hsic: with the positive weights made to sum to
 * 1), at outputs spread over the modes, and at two places about each of these; the search
 * begins from the lowest of them, once more from outside the cloud of outputs, and from
 * the other sides of the outputs nearest to the best end; the lowest end is kept. A
 * search that cannot get below an earlier one is left.
 *
 * Cost: up to OKRA_PLACES_ values of J without gradients beside the searches.
 */
#include "decode/vectors/valleys.h"

#include <float.h>
#include <lbfgs.h>
#include <math.h>
#include <string.h>

static const double CLOSE = 0.5; /* of l(y,y): outputs this similar share a mode */

void okra_valleys_clear_(okra_valleys_ *s)
{
    okra_case_clear_(&s->problem);
    okra_smooth_work_free_(s->smooth);
    okra_free_(s->z);
    okra_free_(s->l);
    okra_free_(s->places);
}

okra_status okra_valleys_create_(okra_context *ctx, const okra_output_ *output,
                                 const okra_judge_ *judge, const okra_smooth_ *smooth,
                                 okra_valleys_ *w)
{
    const okra_criterion_ *criterion = output->criterion;
    okra_int n = okra_data_count(output->y), d = okra_data_width(output->y);
    okra_int count = criterion->neighbours > 0 ? criterion->neighbours : n;
    okra_int padded = (d + 15) / 16 * 16;
    CHK(okra_case_create_(ctx, judge, &w->problem));
    CHK(okra_smooth_work_create_(ctx, smooth, count, &w->smooth));
    if (criterion->neighbours == 0) {
        okra_smooth_select_(w->smooth, NULL, n);
    }
    ZMAKE(w->z, padded + 3 * d);
    MAKE(w->l, 4 * count);
    MAKE(w->places, OKRA_PLACES_ * d);
    w->y = w->z + padded;
    w->g = w->y + d;
    w->best = w->g + d;
    w->work = w->l + count;
    w->by_l = w->work + count;
    w->f = w->by_l + count;
    w->y_train = output->y;
    w->d = d;
    return OKRA_OK;
}

/* J at z, and dJ/dz if g is given; keeps the lowest point. */
static double evaluate(okra_valleys_ *s, const double *z, double *g)
{
    double self, by_self = 0, square = 0, size = 0;
    for (okra_int j = 0; j < s->d; j++) {
        s->y[j] = s->mean[j] + s->scale[j] * z[j];
    }
    okra_smooth_values_(s->smooth, s->y, s->l, &self);
    double J =
        okra_case_value_(&s->problem, s->l, self, s->work, g ? s->by_l : NULL, &by_self);
    s->evaluations++;
    if (g && isfinite(J)) {
        okra_smooth_gradient_(s->smooth, s->by_l, by_self, g);
        for (okra_int j = 0; j < s->d; j++) {
            g[j] *= s->scale[j];
            square += g[j] * g[j];
            size += z[j] * z[j];
        }
    } else if (g) { /* nowhere to go: the line search steps back */
        memset(g, 0, (size_t)s->d * sizeof *g);
    }
    if (g && isfinite(square) && J < s->lowest) {
        s->lowest = J;
        s->slope = sqrt(square) / fmax(1, sqrt(size)) / fmax(1, fabs(J));
        memcpy(s->best, s->y, (size_t)s->d * sizeof *s->best);
    }
    return isfinite(J) ? J : DBL_MAX;
}

static lbfgsfloatval_t objective(void *arg, const lbfgsfloatval_t *z, lbfgsfloatval_t *g,
                                 int d, lbfgsfloatval_t step)
{
    (void)d;
    (void)step;
    return evaluate(arg, z, g);
}

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
        for (okra_int j = 0; j < s->d; j++) {
            z[j] += w * y[j];
        }
    }
    for (okra_int j = 0; j < s->d; j++) {
        double mean = (s->centred && c->kl ? sum : 1) * s->mean[j];
        z[j] = (z[j] / (c->kl || sum == 0 ? 1 : sum) - mean) / s->scale[j];
    }
}

/* The output of member i of the training set. */
static const double *output_of(const okra_valleys_ *s, okra_int i)
{
    okra_int ld = 0, row = s->problem.index ? s->problem.index[i] : i;
    return okra_data_values(s->y_train, &ld) + row * ld;
}

/* z of member i. */
static void member(const okra_valleys_ *s, okra_int i, double *z)
{
    const double *y = output_of(s, i);
    for (okra_int j = 0; j < s->d; j++) {
        z[j] = (y[j] - s->mean[j]) / s->scale[j];
    }
}

/* z of the mean of the outputs near the last y evaluated, weighted by w_i l(y_i, y): a
 * step of the mean shift. False where those weights do not make a mean. */
static bool shifted(const okra_valleys_ *s, double *z)
{
    double sum = 0;
    memset(z, 0, (size_t)s->d * sizeof *z);
    for (okra_int i = 0; i < s->problem.count; i++) {
        double v = fmax(0, s->problem.weights[i]) * fmax(0, s->l[i]);
        const double *y = output_of(s, i);
        sum += v;
        for (okra_int j = 0; j < s->d; j++) {
            z[j] += v * (y[j] - s->mean[j]) / s->scale[j];
        }
    }
    for (okra_int j = 0; j < s->d; j++) {
        z[j] /= sum;
    }
    return sum > 0;
}

/* The member that stands out most, -1: none is left. */
static okra_int most_of(const double *f, okra_int count)
{
    okra_int best = -1;
    for (okra_int i = 0; i < count; i++) {
        best = f[i] > -DBL_MAX && (best < 0 || f[i] > f[best]) ? i : best;
    }
    return best;
}

/* s->z joins the places to begin from, which stay sorted by J, the lowest first. */
static void offer(okra_valleys_ *s)
{
    okra_int d = s->d, at = s->held++;
    double value = evaluate(s, s->z, NULL);
    for (; at > 0 && value < s->heights[at - 1]; at--) {
        memcpy(s->places + at * d, s->places + (at - 1) * d, (size_t)d * sizeof *s->z);
        s->heights[at] = s->heights[at - 1];
    }
    memcpy(s->places + at * d, s->z, (size_t)d * sizeof *s->z);
    s->heights[at] = value;
}

/* Places about the weighted output and about OKRA_TRIED_ members, each of which stands
 * out most of those that none before it is close to. log v is a wall round every training
 * output, so that there is a valley on either side of it: a step of the mean shift leads
 * to one, its mirror image to the other. */
static void find_places(okra_valleys_ *s)
{
    okra_int count = s->problem.count;
    s->held = 0;
    weighted_output(s, s->z);
    offer(s);
    okra_case_inner_(&s->problem, s->f);
    for (okra_int t = 0; t < OKRA_TRIED_; t++) {
        okra_int i = most_of(s->f, count);
        if (i < 0) {
            break;
        }
        member(s, i, s->z);
        offer(s);
        double own = s->l[i];
        for (okra_int k = 0; k < count; k++) {
            s->f[k] = s->l[k] > CLOSE * own || k == i ? -DBL_MAX : s->f[k];
        }
        if (shifted(s, s->g)) {
            memcpy(s->z, s->g, (size_t)s->d * sizeof *s->g);
            offer(s);
            member(s, i, s->z);
            for (okra_int j = 0; j < s->d; j++) {
                s->z[j] = 2 * s->z[j] - s->g[j];
            }
            offer(s);
        }
    }
}

/* The first iterations tell how low a search may end: it is left when what it gained
 * last, several times over, would not bring it below the lowest point known. */
static int leave(void *arg, const lbfgsfloatval_t *z, const lbfgsfloatval_t *g,
                 const lbfgsfloatval_t J, const lbfgsfloatval_t size,
                 const lbfgsfloatval_t slope, const lbfgsfloatval_t step, int d,
                 int iteration, int tried)
{
    okra_valleys_ *s = arg;
    (void)z, (void)g, (void)size, (void)slope, (void)step, (void)d, (void)tried;
    double gained = s->before - J;
    s->before = J;
    return iteration > 2 && J - 4 * gained > s->known;
}

static void descend(okra_valleys_ *s, const okra_valleys_options_ *o)
{
    lbfgs_parameter_t parameters;
    lbfgs_parameter_init(&parameters);
    parameters.max_iterations = (int)o->iterations;
    parameters.epsilon = o->tolerance;
    s->known = s->lowest;
    s->before = DBL_MAX;
    lbfgs((int)s->d, s->z, NULL, objective, leave, s, &parameters);
}

/* z <- the mirror image of the mean of the outputs about the lowest point: out of the
 * cloud of outputs, where another valley may lie beyond the wall. */
static bool outside(okra_valleys_ *s)
{
    double sum = 0, self;
    okra_smooth_values_(s->smooth, s->best, s->l, &self);
    memset(s->z, 0, (size_t)s->d * sizeof *s->z);
    for (okra_int i = 0; i < s->problem.count; i++) {
        double v = fmax(0, s->l[i]);
        const double *y = output_of(s, i);
        sum += v;
        for (okra_int j = 0; j < s->d; j++) {
            s->z[j] += v * (y[j] - s->mean[j]) / s->scale[j];
        }
    }
    for (okra_int j = 0; j < s->d; j++) {
        s->z[j] = 2 * (s->best[j] - s->mean[j]) / s->scale[j] - s->z[j] / sum;
    }
    return sum > 0;
}

/* Searches from the mirror images of the lowest point in the outputs nearest to it: the
 * valleys on the other sides of their walls. */
static void across(okra_valleys_ *s, const okra_valleys_options_ *o)
{
    okra_int members[OKRA_MIRRORS_], count = 0, i = 0;
    double self;
    okra_smooth_values_(s->smooth, s->best, s->l, &self);
    while (count < OKRA_MIRRORS_ && (i = most_of(s->l, s->problem.count)) >= 0) {
        members[count++] = i;
        s->l[i] = -DBL_MAX;
    }
    for (okra_int k = 0; k < count; k++) {
        const double *y = output_of(s, members[k]);
        for (okra_int j = 0; j < s->d; j++) {
            s->z[j] = (2 * y[j] - s->best[j] - s->mean[j]) / s->scale[j];
        }
        descend(s, o);
    }
}

bool okra_valleys_find_(okra_valleys_ *s, const okra_valleys_options_ *o)
{
    find_places(s);
    s->lowest = DBL_MAX;
    s->slope = DBL_MAX;
    for (okra_int k = 0; k < s->held && k < o->starts; k++) {
        memcpy(s->z, s->places + k * s->d, (size_t)s->d * sizeof *s->z);
        descend(s, o);
    }
    if (s->lowest < DBL_MAX && s->problem.kl && o->starts > 1) {
        if (outside(s)) {
            descend(s, o);
        }
        across(s, o);
    }
    if (s->lowest == DBL_MAX) { /* J is defined nowhere: the output with most weight */
        memcpy(s->best, output_of(s, most_of(s->problem.weights, s->problem.count)),
               (size_t)s->d * sizeof *s->best);
    }
    return s->slope <= o->tolerance;
}
