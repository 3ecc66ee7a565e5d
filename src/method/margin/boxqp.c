/*
 * boxqp.c: min f(a) = a'Qa/2 - 1'a over 0 <= a <= 1, the dual of maximum margin
 * regression (Brouard et al. 2016 eq. 5 and Prop. 10), Q = (L o K) / (2 lambda_1).
 *
 * Coordinate descent. With g = Qa, the best step of coordinate i alone is
 *     t_i = clip(a_i - (g_i - 1)/Q_ii, 0, 1) - a_i,
 * which lowers f by -(g_i - 1) t_i - Q_ii t_i^2 / 2; the largest such drop is taken, then
 * g <- g + t_i Q_i. Choosing and updating are one pass over the active variables.
 * Shrinking: a variable at a bound whose gradient presses it there by more than the
 * worst violation leaves the active set; before stopping, g is recomputed for all.
 *
 * Coordinate descent slows down when Q is ill-conditioned, as smooth kernels make it. So
 * when a round has not brought the gap down enough, an active-set method takes over:
 * Newton steps Q_FF d = 1 - g_F on the variables F strictly inside the box, up to the
 * first bound met; at the minimum over F the variable that presses most against its bound
 * from the wrong side is released.
 *
 * Stop: the true duality gap. The primal of h = (1/2 lambda_1) sum a_j k(.,x_j) y_j is
 *     P = sum max(0, 1 - g_i) + a'g/2,   D = sum(a) - a'g/2,   gap = P - D,
 * with g recomputed from Q, so rounding in the updates cannot flatter it.
 *
 * Cost: n a step, f^3/3 a Newton step with f free variables; memory 5n, and f^2 doubles.
 */
#include "method/margin/margin.h"

enum { ROUNDS_MOST = 40, STEPS_A_ROUND = 4 /* times n */ };

typedef struct solver {
    okra_context *ctx;
    okra_mat_ Q;
    okra_int n;
    double *a, *g;
    const double *most; /* upper bounds, or NULL: 1 */
    double tolerance;
    okra_int *active, count; /* indices in play */
    okra_boxqp_report_ report;
} solver;

static double most_of(const solver *s, okra_int i)
{
    return s->most ? s->most[i] : 1;
}

static double clip(const solver *s, okra_int i, double x)
{
    double most = most_of(s, i);
    return x < 0 ? 0 : x > most ? most : x;
}

static double *row(const solver *s, okra_int i)
{
    return s->Q.p + i * s->Q.ld;
}

static double best_step(const solver *s, okra_int i)
{
    double q = row(s, i)[i], slope = s->g[i] - 1;
    if (q > 0) {
        return clip(s, i, s->a[i] - slope / q) - s->a[i];
    }
    /* A zero diagonal of a semi-definite Q means a zero row: f is linear in a_i. */
    return slope < 0 ? most_of(s, i) - s->a[i] : slope > 0 ? -s->a[i] : 0;
}

/* g = Qa for all variables, in the order of the rows: the same bits on any load. */
static void recompute(solver *s)
{
    for (okra_int i = 0; i < s->n; i++) {
        s->g[i] = okra_dot_(s->n, row(s, i), s->a);
    }
    s->count = s->n;
    for (okra_int i = 0; i < s->n; i++) {
        s->active[i] = i;
    }
}

static void measure(solver *s)
{
    double hinge = 0, quadratic = 0, sum = 0, scale = 0;
    for (okra_int i = 0; i < s->n; i++) {
        hinge += most_of(s, i) * fmax(0, 1 - s->g[i]);
        scale += most_of(s, i) * (1 + fabs(1 - s->g[i]));
        quadratic += s->a[i] * s->g[i];
        sum += s->a[i];
    }
    s->report.dual = sum - quadratic / 2;
    s->report.gap = hinge + quadratic - sum;
    s->report.goal = okra_gap_goal_(s->tolerance, s->report.dual, scale);
    s->report.converged = s->report.gap <= s->report.goal;
}

void okra_boxqp_sweep_(okra_mat_ Q, int passes, double *a, double *g)
{
    solver s = {.Q = Q, .n = Q.rows, .a = a, .g = g};
    for (int pass = 0; pass < passes; pass++) {
        for (okra_int i = 0; i < s.n; i++) {
            double move = best_step(&s, i);
            const double *q = row(&s, i);
            a[i] = clip(&s, i, a[i] + move);
            for (okra_int k = 0; move != 0 && k < s.n; k++) {
                g[k] += move * q[k];
            }
        }
    }
}

/* Takes the steepest coordinate step among the active; false when none lowers f. */
static bool step(solver *s, double least_drop)
{
    okra_int best = -1;
    double most = least_drop, move = 0;
    for (okra_int k = 0; k < s->count; k++) {
        okra_int i = s->active[k];
        double t = best_step(s, i);
        double drop = -(s->g[i] - 1) * t - row(s, i)[i] * t * t / 2;
        if (drop > most) {
            most = drop;
            best = i;
            move = t;
        }
    }
    if (best < 0) {
        return false;
    }
    const double *q = row(s, best);
    s->a[best] = clip(s, best, s->a[best] + move);
    for (okra_int k = 0; k < s->count; k++) {
        s->g[s->active[k]] += move * q[s->active[k]];
    }
    s->report.steps++;
    return true;
}

static double violation(const solver *s, okra_int i)
{
    return okra_boxqp_violation_(s->a[i], s->g[i], most_of(s, i));
}

static void shrink(solver *s)
{
    double worst = 0;
    for (okra_int k = 0; k < s->count; k++) {
        worst = fmax(worst, violation(s, s->active[k]));
    }
    okra_int kept = 0;
    for (okra_int k = 0; k < s->count; k++) {
        okra_int i = s->active[k];
        double slope = s->g[i] - 1;
        bool settled = (s->a[i] <= 0 && slope > worst) ||
                       (s->a[i] >= most_of(s, i) && slope < -worst);
        if (!settled) {
            s->active[kept++] = i;
        }
    }
    s->count = kept;
}

/* ---- the end game: an active-set method ---- */

/* The Newton direction of the free variables: Q_FF d = 1 - g_F. *found is false where the
 * block cannot be factored even with jitter. */
static okra_status direction(solver *s, const okra_int *free, okra_int f, double *d,
                             bool *found)
{
    OWNED double *H = NULL;
    *found = false;
    CHK(okra_doubles_(s->ctx, f, f, "the margin solver's free block", &H));
    for (okra_int r = 0; r < f; r++) {
        d[r] = 1 - s->g[free[r]];
        for (okra_int c = 0; c < f; c++) {
            H[r * f + c] = row(s, free[r])[free[c]];
        }
    }
    /* jitter on a semi-definite block is expected here, not news */
    okra_status st = okra_cholesky_quiet_(s->ctx, okra_mat_of_(H, f, f), NULL);
    if (st == OKRA_ENUMERIC) {
        return OKRA_OK;
    }
    CHK(st);
    CHK(okra_cholesky_solve_(s->ctx, okra_mat_of_(H, f, f), okra_mat_of_(d, f, 1)));
    *found = true;
    return OKRA_OK;
}

/* Moves along d up to the first bound; a variable that meets its bound is put exactly
 * there. Returns the share of d that was taken. */
static double advance(solver *s, const okra_int *free, okra_int f, const double *d)
{
    double t = 1;
    okra_int blocked = -1;
    for (okra_int k = 0; k < f; k++) {
        double a = s->a[free[k]];
        double top = most_of(s, free[k]);
        double most = d[k] > 0 ? (top - a) / d[k] : d[k] < 0 ? -a / d[k] : 1;
        if (most < t) {
            t = most;
            blocked = k;
        }
    }
    for (okra_int k = 0; k < f; k++) {
        s->a[free[k]] = clip(s, free[k], s->a[free[k]] + t * d[k]);
    }
    if (blocked >= 0) {
        s->a[free[blocked]] = d[blocked] > 0 ? most_of(s, free[blocked]) : 0;
    }
    return t;
}

/* The variables inside the box and, if `release`, the worst one of those at a bound. */
static okra_int free_set(const solver *s, bool release, okra_int *free)
{
    okra_int f = 0, worst = -1;
    double most = 0;
    for (okra_int i = 0; i < s->n; i++) {
        if (s->a[i] > 0 && s->a[i] < most_of(s, i)) {
            free[f++] = i;
        } else if (violation(s, i) > most) {
            most = violation(s, i);
            worst = i;
        }
    }
    if (release && worst >= 0) {
        free[f++] = worst;
    }
    return f;
}

/* Minimises over the free variables, releases the bound variable that wants to leave
 * most, and so on until the gap is down. Each round costs one small Cholesky and one Qa.
 */
static okra_status finish(solver *s)
{
    OWNED okra_int *free = NULL;
    okra_int limit = 3 * s->n + 200;
    OWNED double *d = NULL, *start = NULL;
    bool release = true;
    MAKE(free, s->n);
    MAKE(d, s->n);
    MAKE(start, s->n);
    for (okra_int k = 0; k < limit; k++) {
        double value = -s->report.dual;
        if (s->report.converged) {
            break;
        }
        okra_int f = free_set(s, release, free);
        bool found = f > 0;
        if (found) {
            CHK(direction(s, free, f, d, &found));
        }
        if (!found) {
            break;
        }
        memcpy(start, s->a, (size_t)s->n * sizeof *start);
        release = advance(s, free, f, d) == 1;
        recompute(s);
        measure(s);
        s->report.newtons++;
        /* Rounding made it worse: nothing more to gain on this path. */
        if (-s->report.dual > value + 1e-12 * fabs(value)) {
            memcpy(s->a, start, (size_t)s->n * sizeof *start);
            recompute(s);
            measure(s);
            break;
        }
    }
    return OKRA_OK;
}

/* One round: coordinate steps on a shrinking active set, then the exact gap. */
static void round_of_steps(solver *s, double least_drop)
{
    okra_int limit = STEPS_A_ROUND * s->n;
    for (okra_int k = 0; k < limit && step(s, least_drop); k++) {
        if ((k + 1) % OKRA_MAX_(s->n, 1000) == 0) {
            shrink(s);
        }
    }
    recompute(s);
    measure(s);
}

okra_status okra_boxqp_bounded_(okra_context *ctx, okra_mat_ Q, const double *most,
                                double tolerance, double *a, okra_boxqp_report_ *report)
{
    solver s = {
        .ctx = ctx, .Q = Q, .n = Q.rows, .a = a, .most = most, .tolerance = tolerance};
    OWNED double *g = NULL;
    OWNED okra_int *active = NULL;
    MAKE(g, s.n);
    MAKE(active, s.n);
    s.g = g;
    s.active = active;
    for (okra_int i = 0; i < s.n; i++) {
        a[i] = clip(&s, i, a[i]);
    }
    recompute(&s);
    measure(&s);
    for (int r = 0; r < ROUNDS_MOST && !s.report.converged; r++) {
        CHK(okra_cancelled_(ctx));
        double before = s.report.gap;
        double aim = okra_gap_aim_(tolerance, before, s.report.dual, s.report.goal);
        /* A step that lowers f by less than this cannot matter to the gap aimed at. */
        round_of_steps(&s, aim / (double)(1 + s.n) * 1e-3);
        if (s.report.gap > aim && s.report.gap > 0.1 * before) {
            CHK(finish(&s));
        }
    }
    *report = s.report;
    return OKRA_OK;
}
