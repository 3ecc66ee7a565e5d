/*
 * svr.c: the dual of epsilon-insensitive regression without a bias,
 *
 *     min_b  1/2 b'Kb - y'b + tube |b|_1,   |b_i| <= box,
 *
 * by coordinate descent (Ho and Lin, JMLR 13, 2012, sec. 3.2): with g = Kb - y the best
 * b_i is b_i - g_i/K_ii moved towards 0 by tube/K_ii and cut at the box; then g changes
 * by a row of K. Passes go in a shuffled order of a fixed seed. At the optimum
 *     b_i = 0: |g_i| <= tube;   0 < |b_i| < box: g_i + tube sign(b_i) = 0;
 *     b_i = box: g_i + tube <= 0;   b_i = -box: g_i - tube >= 0,
 * and the largest violation is the stopping rule.
 *
 * Cost of a pass: n for every coordinate that moves. Memory: 2 n.
 */
#include "method/svr.h"

#include <math.h>
#include <string.h>

static double violation_of(const okra_svr_ *s, double b, double g)
{
    double up = g + s->tube, down = g - s->tube; /* slopes to the right and to the left */
    if (b > 0) {
        return b >= s->box ? fmax(0, up) : fabs(up);
    }
    if (b < 0) {
        return b <= -s->box ? fmax(0, -down) : fabs(down);
    }
    return fmax(0, fmax(-up, down));
}

/* The best value of a coordinate, the others held. */
static double best(const okra_svr_ *s, double b, double g, double k)
{
    double free = b - g / k, shrunk = fmax(0, fabs(free) - s->tube / k);
    return fmin(s->box, shrunk) * (free < 0 ? -1 : 1);
}

okra_status okra_svr_solve_(okra_context *ctx, const okra_svr_ *s, okra_mat_ K,
                            const double *y, double *b, double *violation)
{
    okra_status st = OKRA_OK;
    okra_int n = K.rows, *order = NULL;
    double *g = NULL, worst = 0;
    okra_random_ r = okra_random_create_(0, 0);
    ALLOC(order, n);
    ALLOC(g, n);
    for (okra_int i = 0; i < n; i++) {
        order[i] = i;
        b[i] = 0;
        g[i] = -y[i];
    }
    for (okra_int pass = 0; pass < s->passes; pass++) {
        TRY(okra_cancelled_(ctx));
        okra_random_shuffle_(&r, n, order);
        worst = 0;
        for (okra_int k = 0; k < n; k++) {
            okra_int i = order[k];
            const double *row = K.p + i * K.ld;
            double off = violation_of(s, b[i], g[i]);
            worst = fmax(worst, off);
            if (off == 0 || !(row[i] > 0)) {
                continue;
            }
            double step = best(s, b[i], g[i], row[i]) - b[i];
            b[i] += step;
            for (okra_int j = 0; j < n; j++) {
                g[j] += step * row[j];
            }
        }
        if (worst <= s->tolerance) {
            break;
        }
    }
    *violation = worst;
done:
    okra_free_(order);
    okra_free_(g);
    return st;
}
