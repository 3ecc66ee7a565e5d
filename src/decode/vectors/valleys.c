/*
 * valleys.c: the lowest valley of a criterion J of one test point, in the coordinates z
 * of y_j = m_j + s_j z_j.
 *
 * J has one valley about every mode of the weights, and of kl one on either side of a
 * training output, where log v is a wall; an output that stands alone has a ring of them.
 * So J is compared at many places (places.c), all at once. Searches (descent.c) begin
 * from the lowest ones that do not lie in the same valley, then from the other sides of
 * the outputs nearest to the lowest end.
 */
#include "decode/vectors/valleys.h"

#include <float.h>
#include <math.h>
#include <string.h>

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
                                 const okra_judge_ *judge, const okra_smooth_ *smooth,
                                 okra_valleys_ *w)
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

static double distance(const okra_valleys_ *s, const double *a, const double *b)
{
    double square = 0;
    for (okra_int j = 0; j < s->d; j++) {
        square += (a[j] - b[j]) * (a[j] - b[j]);
    }
    return sqrt(square);
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
            apart = distance(s, z, s->places + k * s->d) >= share * s->reach[k];
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
        for (okra_int j = 0; j < s->d; j++) {
            s->u[j] += v * s->frame[j];
        }
    }
    for (okra_int j = 0; j < s->d; j++) {
        s->u[j] /= sum;
    }
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
    CHK(okra_descend_(s, choose(s, o->starts), o));
    if (s->lowest < DBL_MAX && s->problem.kl && o->starts > 1) {
        CHK(okra_descend_(s, mirrors(s), o));
    }
    if (s->lowest == DBL_MAX) { /* J is defined nowhere: the output with most weight */
        memcpy(
            s->best,
            okra_valleys_output_(s, okra_most_of_(s->problem.weights, s->problem.count)),
            (size_t)s->d * sizeof *s->best);
    }
    return OKRA_OK;
}
