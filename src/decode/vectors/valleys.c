/*
 * valleys.c: the lowest valley of a criterion J of one test point, in the coordinates z
 * of y_j = m_j + s_j z_j.
 *
 * J has one valley about every mode of the weights, and of kl one on either side of a
 * training output, where log v is a wall; an output that stands alone has a ring of them.
 * So J is compared at many places (places.c), all at once. Searches begin
 * from the lowest ones that do not lie in the same valley, then from the other sides of
 * the outputs nearest to the lowest end.
 */
#include "decode/vectors/criterion.h"

/* ---- descent ---- */

/* Searches for valleys of J side by side, each by L-BFGS (Nocedal and Wright
 * 2006, algorithm 7.4) with steps that are shortened until J falls (their eq. 3.4). All
 * of them are evaluated at once, so that the factor of L + lambda I is read once a round
 * and not once a search.
 *
 * A search ends where its slope is small, when it cannot get below the lowest point of
 * all, and when it comes close to one that is lower.
 *
 * Cost of a round: 2 n^2 + n d operations a search (kl). Memory: a search 16 d + 3 n.
 */
static const double FALL = 1e-4;   /* share of the fall that a slope promises       */
static const double FIRST = 0.2;   /* of its reach: the first step of a search      */
static const double UNKNOWN = 0.5; /* in z: the same where its reach is not known  */
static const double MEET = 0.02;   /* of its reach: searches this near are one      */
static const double HOPE = 4;      /* times the last gain: what may yet be gained   */
enum { TRIED_MOST = 25, SETTLED = 2, SETTLED_HSIC = 6 }; /* iterations */

/* ---- values ---- */

/* Notes a point with a slope if it is the lowest. */
static void note(okra_valleys_ *s, const okra_search_ *q, double J, const double *g)
{
    double square = 0, size = 0;
    for (okra_int j = 0; j < s->d; j++) {
        square += g[j] * g[j];
        size += q->next[j] * q->next[j];
    }
    if (isfinite(square) && J < s->lowest) {
        s->lowest = J;
        s->slope = sqrt(square) / fmax(1, sqrt(size)) / fmax(1, fabs(J));
        for (okra_int j = 0; j < s->d; j++) {
            s->best[j] = s->mean[j] + s->scale[j] * q->next[j];
        }
    }
}

/* J and dJ/dz (a row of G) at `next` of the searches which[0..count-1]. */
static okra_status evaluate(okra_valleys_ *s, const okra_int *which, okra_int count,
                            double *J, okra_mat_ G)
{
    okra_int n = s->problem.count, width = okra_smooth_kept_(s->smooth);
    double by_self[OKRA_VALLEYS_MOST_];
    for (okra_int a = 0; a < count; a++) {
        const double *z = s->search[which[a]].next;
        for (okra_int j = 0; j < s->d; j++) {
            s->y[j] = s->mean[j] + s->scale[j] * z[j];
        }
        okra_smooth_values_(s->smooth, s->y, s->l + a * n, &s->self[a]);
        okra_smooth_keep_(s->smooth, s->kept + a * width);
    }
    CHK(okra_case_values_(&s->problem, okra_mat_of_(s->l, count, n), s->self, J,
                          by_self));
    s->evaluations += (double)count;
    for (okra_int a = 0; a < count; a++) {
        double *g = G.p + a * G.ld;
        if (isfinite(J[a])) {
            okra_smooth_recall_(s->smooth, s->kept + a * width);
            okra_smooth_gradient_(s->smooth, s->l + a * n, by_self[a], g);
            for (okra_int j = 0; j < s->d; j++) {
                g[j] *= s->scale[j];
            }
            note(s, &s->search[which[a]], J[a], g);
        }
    }
    return OKRA_OK;
}

/* ---- steps ---- */

/* p <- -H g, H the inverse of the curvature that the last steps tell. */
static void direction(okra_search_ *q, okra_int d)
{
    double a[OKRA_PAIRS_] = {0};
    for (okra_int j = 0; j < d; j++) {
        q->p[j] = -q->g[j];
    }
    okra_int first = q->pairs > OKRA_PAIRS_ ? q->pairs - OKRA_PAIRS_ : 0;
    for (okra_int k = q->pairs - 1; k >= first; k--) {
        okra_int m = k % OKRA_PAIRS_;
        const double *S = q->S + m * d, *T = q->T + m * d;
        a[m] = q->rho[m] * okra_dot_(d, S, q->p);
        okra_axpy_(d, -a[m], T, q->p);
    }
    if (q->pairs > 0) {
        okra_int m = (q->pairs - 1) % OKRA_PAIRS_;
        const double *T = q->T + m * d;
        double size = 1 / (q->rho[m] * okra_dot_(d, T, T));
        okra_scale_(d, size, q->p);
    }
    for (okra_int k = first; k < q->pairs; k++) {
        okra_int m = k % OKRA_PAIRS_;
        const double *S = q->S + m * d;
        double b = a[m] - q->rho[m] * okra_dot_(d, q->T + m * d, q->p);
        okra_axpy_(d, b, S, q->p);
    }
}

static void look_ahead(okra_search_ *q, okra_int d)
{
    for (okra_int j = 0; j < d; j++) {
        q->next[j] = q->z[j] + q->step * q->p[j];
    }
}

/* A new direction, and the point to look at. `last`: how long the last step was. */
static void set_out(okra_search_ *q, okra_int d, double last)
{
    direction(q, d);
    if (q->pairs > 0 && !(okra_dot_(d, q->g, q->p) < 0)) {
        q->pairs = 0;
        direction(q, d);
    }
    double length = sqrt(okra_dot_(d, q->p, q->p));
    q->step = 1;
    if (q->pairs == 0) { /* the slope alone: further than before, where J is concave */
        double first = q->reach > 0 ? FIRST * q->reach : UNKNOWN;
        q->step = fmax(2 * last, first) / length;
    }
    if (q->reach > 0 && q->step * length > q->reach) {
        q->step = q->reach / length;
    }
    q->tried = 0;
    look_ahead(q, d);
}

/* Moves to `next`, where J and g are these. Returns how long the step was. */
static double move(okra_search_ *q, okra_int d, double J, const double *g)
{
    okra_int m = q->pairs % OKRA_PAIRS_;
    double *S = q->S + m * d, *T = q->T + m * d;
    for (okra_int j = 0; j < d; j++) {
        S[j] = q->next[j] - q->z[j];
        T[j] = g[j] - q->g[j];
    }
    double product = okra_dot_(d, S, T), length = sqrt(okra_dot_(d, S, S));
    bool convex = product > 1e-10 * length * sqrt(okra_dot_(d, T, T));
    q->rho[m] = 1 / product;
    q->pairs = convex ? q->pairs + 1 : 0;
    q->gained = q->J - J;
    q->J = J;
    memcpy(q->z, q->next, (size_t)d * sizeof *q->z);
    memcpy(q->g, g, (size_t)d * sizeof *q->g);
    q->iteration++;
    return length;
}

/* J did not fall as it should: a shorter step, by the parabola through what is known. */
static void shorten(okra_search_ *q, okra_int d, double J)
{
    double slope = q->step * okra_dot_(d, q->g, q->p), rise = J - q->J - slope;
    double share = isfinite(J) ? -0.5 * slope / rise : 0.25;
    q->step *= fmin(0.5, fmax(0.1, share));
    q->going = ++q->tried < TRIED_MOST;
    look_ahead(q, d);
}

/* A search has seen J and g at `next`. */
static void go_on(okra_search_ *q, okra_int d, double J, const double *g,
                  const okra_valleys_options_ *o)
{
    double last = 0;
    if (q->iteration < 0) { /* where it begins */
        q->going = isfinite(J);
        q->J = J;
        q->iteration = 0;
        memcpy(q->g, g, (size_t)d * sizeof *q->g);
    } else if (!(J <= q->J + FALL * q->step * okra_dot_(d, q->g, q->p))) {
        shorten(q, d, J);
        return;
    } else {
        last = move(q, d, J, g);
        q->going = q->iteration < o->iterations && q->gained > 1e-14 * fmax(1, fabs(J));
    }
    double size = sqrt(okra_dot_(d, q->z, q->z));
    if (!(sqrt(okra_dot_(d, q->g, q->g)) > o->tolerance * fmax(1, size))) {
        q->going = false;
    }
    if (q->going) {
        set_out(q, d, last);
    }
}

/* ---- which go on ---- */

/* Is there a search that is lower and close by? */
static bool met(const okra_valleys_ *s, okra_int k, okra_int count)
{
    const okra_search_ *q = &s->search[k];
    for (okra_int i = 0; i < count; i++) {
        const okra_search_ *other = &s->search[i];
        double square = 0, near = MEET * q->reach;
        if (i == k || other->J > q->J || (other->J >= q->J && i > k)) {
            continue;
        }
        for (okra_int j = 0; j < s->d && square <= near * near; j++) {
            square += (q->z[j] - other->z[j]) * (q->z[j] - other->z[j]);
        }
        if (square <= near * near) {
            return true;
        }
    }
    return false;
}

/* Runs searches 0..count-1 side by side from their z; the lowest point ever
 * seen is in best, lowest and slope. */
static okra_status descend(okra_valleys_ *s, okra_int count,
                           const okra_valleys_options_ *o)
{
    okra_int which[OKRA_VALLEYS_MOST_], active = count, d = s->d;
    double J[OKRA_VALLEYS_MOST_];
    okra_mat_ G = okra_mat_of_(s->vectors, OKRA_VALLEYS_MOST_, d);
    okra_int settled =
        s->problem.kl ? SETTLED : SETTLED_HSIC; /* whose values are cheap */
    for (okra_int k = 0; k < count; k++) {
        okra_search_ *q = &s->search[k];
        memcpy(q->next, q->z, (size_t)d * sizeof *q->z);
        q->going = true;
        q->iteration = -1;
        q->tried = q->pairs = 0;
        q->J = DBL_MAX;
        which[k] = k;
    }
    while (active > 0) {
        CHK(evaluate(s, which, active, J, G));
        for (okra_int a = 0; a < active; a++) {
            go_on(&s->search[which[a]], d, J[a], G.p + a * G.ld, o);
        }
        active = 0;
        for (okra_int k = 0; k < count; k++) {
            okra_search_ *q = &s->search[k];
            bool idle = q->iteration > settled && q->tried == 0 &&
                        (q->J - HOPE * q->gained > s->lowest || met(s, k, count));
            q->going = q->going && !idle;
            if (q->going) {
                which[active++] = k;
            }
        }
    }
    return OKRA_OK;
}

/* ---- valleys ---- */

static const double APART = 0.6; /* of its reach: places that are nearer share a valley */
static const double BESIDE = 1.4; /* the same of two places about one output */
enum { MIRRORS = 4 };

void okra_valleys_clear_(okra_valleys_ *s)
{
    okra_case_clear_(&s->problem);
    okra_smooth_work_free_(s->smooth);
    FREE(s->y, s->f, s->l, s->places, s->kept, s->vectors);
}

okra_status okra_valleys_create_(okra_context *ctx, const okra_output_ *output,
                                 const okra_criterion_eval_ *judge,
                                 const okra_smooth_ *smooth, okra_valleys_ *w)
{
    const okra_criterion_ *criterion = output->criterion;
    okra_int n = okra_data_count(output->y), d = okra_data_width(output->y);
    okra_int count = criterion->neighbours > 0 ? criterion->neighbours : n;
    CHK(okra_case_create_(ctx, judge, &w->problem));
    CHK(okra_smooth_work_create_(ctx, smooth, count, &w->smooth));
    if (criterion->neighbours == 0) {
        okra_smooth_select_(w->smooth, NULL, n);
    }
    ZMAKE(w->y, 7 * d);
    w->z = w->y + d;
    w->u = w->z + d;
    w->best = w->u + d;
    w->frame = w->best + d;
    MAKE(w->f, 2 * count);
    w->by_l = w->f + count;
    CHK(okra_doubles_(ctx, OKRA_PLACES_, count, "places of a search", &w->l));
    CHK(okra_doubles_(ctx, OKRA_PLACES_, d, "places of a search", &w->places));
    CHK(okra_doubles_(ctx, OKRA_VALLEYS_MOST_, okra_smooth_kept_(w->smooth),
                      "slopes of a search", &w->kept));
    okra_int each = 4 + 2 * OKRA_PAIRS_;
    CHK(okra_doubles_(ctx, OKRA_VALLEYS_MOST_ * (each + 1), d, "searches", &w->vectors));
    for (okra_int k = 0; k < OKRA_VALLEYS_MOST_; k++) {
        double *p = w->vectors + (OKRA_VALLEYS_MOST_ + k * each) * d;
        w->search[k] = (okra_search_){.z = p,
                                      .g = p + d,
                                      .p = p + 2 * d,
                                      .next = p + 3 * d,
                                      .S = p + 4 * d,
                                      .T = p + (4 + OKRA_PAIRS_) * d};
    }
    w->y_train = output->y;
    w->d = d;
    return OKRA_OK;
}

/* Search `k` from place i. */
static void begin(okra_valleys_ *s, okra_int k, okra_int i)
{
    memcpy(s->search[k].z, s->places + i * s->d, (size_t)s->d * sizeof *s->z);
    s->search[k].reach = s->reach[i];
}

/* The lowest places, those that share a valley with a lower one left out. */
static okra_int choose(okra_valleys_ *s, okra_int most)
{
    okra_int chosen[OKRA_VALLEYS_MOST_], count = 0;
    for (okra_int k = 0; k < s->held; k++) {
        s->heights[k] = isfinite(s->heights[k]) ? -s->heights[k] : -DBL_MAX;
    }
    while (count < most) {
        okra_int i = okra_most_of_(s->heights, s->held);
        if (i < 0) {
            break;
        }
        s->heights[i] = -DBL_MAX;
        const double *z = s->places + i * s->d;
        bool apart = true;
        for (okra_int b = 0; b < count && apart; b++) {
            okra_int k = chosen[b];
            double share = s->anchor[k] == s->anchor[i] ? BESIDE : APART;
            apart = sqrt(okra_distance2_(s->d, z, s->places + k * s->d)) >=
                    share * s->reach[k];
        }
        if (apart) {
            begin(s, count, i);
            chosen[count++] = i;
        }
    }
    return count;
}

/* Search k from the mirror image of s->z in s->u. */
static void mirror(okra_valleys_ *s, okra_int k)
{
    for (okra_int j = 0; j < s->d; j++) {
        s->search[k].z[j] = 2 * s->u[j] - s->z[j];
    }
    s->search[k].reach = s->search[0].reach;
}

/* Searches from the mirror images of the lowest point in the mean of the outputs about
 * it, which is outside their cloud, and in those nearest to it: the other sides of their
 * walls. */
static okra_int mirrors(okra_valleys_ *s)
{
    okra_int count = 0, n = s->problem.count;
    double self, sum = 0;
    for (okra_int j = 0; j < s->d; j++) {
        s->z[j] = (s->best[j] - s->mean[j]) / s->scale[j];
    }
    okra_valleys_look_(s, s->z, s->l, &self);
    memset(s->u, 0, (size_t)s->d * sizeof *s->u);
    for (okra_int i = 0; i < n; i++) {
        double v = fmax(0, s->l[i]);
        okra_valleys_member_(s, i, s->frame);
        sum += v;
        okra_axpy_(s->d, v, s->frame, s->u);
    }
    okra_scale_down_(s->d, sum, s->u);
    if (sum > 0) {
        mirror(s, count++);
    }
    for (okra_int i = 0; count < MIRRORS && (i = okra_most_of_(s->l, n)) >= 0; count++) {
        s->l[i] = -DBL_MAX;
        okra_valleys_member_(s, i, s->u);
        mirror(s, count);
    }
    return count;
}

okra_status okra_valleys_find_(okra_valleys_ *s, const okra_valleys_options_ *o)
{
    CHK(okra_places_find_(s));
    s->lowest = DBL_MAX;
    s->slope = DBL_MAX;
    CHK(descend(s, choose(s, o->starts), o));
    if (s->lowest < DBL_MAX && s->problem.kl && o->starts > 1) {
        CHK(descend(s, mirrors(s), o));
    }
    if (s->lowest == DBL_MAX) { /* J is defined nowhere: the output with most weight */
        memcpy(
            s->best,
            okra_valleys_output_(s, okra_most_of_(s->problem.weights, s->problem.count)),
            (size_t)s->d * sizeof *s->best);
    }
    return OKRA_OK;
}
