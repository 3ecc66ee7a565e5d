/*
 * jkm.c: joint kernel maps from images to images, patch by patch (Weston, Bakir,
 * Bousquet, Schoelkopf, Mann and Noble 2007; Kadri et al. 2013 sec. 6.3).
 *
 *     J((x,y),(x',y')) = sum_p k(x_p, x'_p) <y_p, y'_p>,   x_p the patch p of the image x
 *
 * A function f(x,y) = <w, J-features of (x,y)> that is linear in y is f(x,y) = <h(x), y>,
 * h in the space of the operator-valued kernel (Kadri et al. sec. 5.2)
 *     K(x,x') = sum_p k(x_p, x'_p) diag(the pixels of patch p),
 * which is diagonal: a pixel has the sum of k over the patches that hold it, and pixels
 * in the same patches make a group (groups.c). The pre-image is in closed form, h(x)
 * itself: the y nearest to it among all images; or the nearest of a set of candidates.
 *
 * Training: Weston et al. ask that |h(x_i) - y|^2 >= |h(x_i) - y_i|^2 + e^2 / 2 for all y
 * at a distance of e or more from y_i. The worst such y lies e away along the residual,
 * so that this is e^2 - 2 e |y_i - h(x_i)| >= e^2 / 2, or |y_i - h(x_i)| <= e / 4: a tube
 * around every output. With `tube` that is the loss, soft. Without it the
 * loss is the square of the distance, in closed form.
 *
 * The loss with a tube, and a diagonal operator in groups (ridge.h):
 *
 *     min_h  sum_i max(0, |y_i - h(x_i)| - tube) + lambda |h|^2,   |.| over all
 * coordinates
 *
 * Dual, n vectors a_i of length <= 1:  h = K a / (2 lambda),
 *     max  sum_i <a_i, y_i> - tube |a_i| - <a, K a> / (4 lambda)
 * by blocks: with q the residual of pair i without a_i, and E the diagonal K(x_i, x_i) /
 * (2 lambda), the best a_i is 0 where |q| <= tube, else (E + mu I)^-1 q, mu >= 0 the
 * larger of the roots of mu f(mu) = tube and f(mu) = 1 (0 where f(0) <= 1), f(mu) =
 * |(E + mu I)^-1 q|, which falls with mu: bisection on the groups' sums of q^2.
 *
 * A sweep costs n^2 d. Stops when the gap between primal and dual is as small as method.h
 * asks. Memory: groups n^2.
 */
#include "solve/ridge.h"
#include "method/method.h"

enum { SWEEPS = 20000, HALVINGS = 200 };

typedef struct tube_solver {
    const okra_grouped_ *r;
    okra_int n, d, groups;
    double tube, lambda;
    double *K;       /* groups x n x n                        */
    double *a, *U;   /* n x d: dual, K a                      */
    double *q;       /* d                                     */
    double *E, *sum; /* groups: E, and the sum of q^2          */
} tube_solver;

/* f(mu); infinite where E + mu = 0 meets a q that is not 0. */
static double length_at(const tube_solver *z, double mu)
{
    double f = 0;
    for (okra_int g = 0; g < z->groups; g++) {
        double e = z->E[g] + mu;
        f += z->sum[g] > 0 ? z->sum[g] / (e * e) : 0;
    }
    return sqrt(f);
}

/* The root of a function that grows with mu: mu f(mu) - tube, or 1 - f(mu). */
static double root(const tube_solver *z, bool of_tube, double high)
{
    double low = 0;
    for (int k = 0; k < HALVINGS && high - low > 1e-16 * high; k++) {
        double mu = (low + high) / 2, f = length_at(z, mu);
        if (of_tube ? mu * f > z->tube : f < 1) {
            high = mu;
        } else {
            low = mu;
        }
    }
    return high;
}

/* mu of the block whose E and sum are filled; norm = |q| > tube. */
static double multiplier(const tube_solver *z, double norm)
{
    double most = okra_most_(z->groups, z->E), mu = 0;
    if (z->tube > 0) {
        mu = root(z, true, z->tube * most / (norm - z->tube));
    }
    return length_at(z, mu) > 1 ? fmax(mu, root(z, false, norm)) : mu;
}

static void update(tube_solver *z, okra_int i)
{
    const okra_int *of = z->r->groups.of;
    okra_int n = z->n, d = z->d;
    double norm = 0, mu = 0, *a = z->a + i * d;
    memset(z->sum, 0, (size_t)z->groups * sizeof *z->sum);
    for (okra_int g = 0; g < z->groups; g++) {
        z->E[g] = z->K[(g * n + i) * n + i] / (2 * z->lambda);
    }
    for (okra_int j = 0; j < d; j++) {
        okra_int at = i * d + j;
        z->q[j] = z->r->Y[at] - z->U[at] / (2 * z->lambda) + z->E[of[j]] * a[j];
        z->sum[of[j]] += z->q[j] * z->q[j];
        norm += z->q[j] * z->q[j];
    }
    norm = sqrt(norm);
    bool outside = norm > z->tube;
    mu = outside ? multiplier(z, norm) : 0;
    for (okra_int j = 0; j < d; j++) { /* q becomes the change of a */
        double e = z->E[of[j]] + mu;
        double best = outside && z->q[j] != 0 ? z->q[j] / e : 0;
        z->q[j] = best - a[j];
        a[j] = best;
    }
    for (okra_int k = 0; k < n; k++) {
        for (okra_int j = 0; j < d; j++) {
            z->U[k * d + j] += z->K[(of[j] * n + k) * n + i] * z->q[j];
        }
    }
}

/* Primal less dual; *value is the dual, *goal what is small enough. */
static double gap(const tube_solver *z, double tolerance, double *value, double *goal)
{
    double primal = 0, dual = 0, scale = 0;
    for (okra_int i = 0; i < z->n; i++) {
        const double *a = z->a + i * z->d, *U = z->U + i * z->d;
        const double *y = z->r->Y + i * z->d;
        double rr = 0, norm = okra_dot_(z->d, a, U) / (4 * z->lambda);
        for (okra_int j = 0; j < z->d; j++) {
            double r = y[j] - U[j] / (2 * z->lambda);
            rr += r * r;
        }
        primal += fmax(0, sqrt(rr) - z->tube) + norm;
        scale += sqrt(okra_dot_(z->d, y, y)) + sqrt(rr);
        dual += okra_dot_(z->d, a, y) - z->tube * sqrt(okra_dot_(z->d, a, a)) - norm;
    }
    *value = dual;
    *goal = okra_gap_goal_(tolerance, dual, scale);
    return primal - dual;
}

static okra_status solve(tube_solver *z, double tolerance, okra_store_ *store)
{
    OWNED double *C = NULL;
    double dual = 0, goal, left = gap(z, tolerance, &dual, &goal);
    okra_int sweep = 0;
    for (; sweep < SWEEPS && left > goal; sweep++) {
        CHK(okra_cancelled_(z->r->ctx));
        for (okra_int i = 0; i < z->n; i++) {
            update(z, i);
        }
        left = gap(z, tolerance, &dual, &goal);
    }
    if (!(left <= goal)) {
        okra_warn_(z->r->ctx,
                   "jkm: lambda = %g: the duality gap is %.3g after %lld sweeps, above "
                   "%.3g of %.6g",
                   z->lambda, left, (long long)sweep, tolerance, dual);
    }
    CHK(okra_doubles_(z->r->ctx, z->n, z->d, "the coefficients", &C));
    for (okra_int i = 0; i < z->n * z->d; i++) {
        C[i] = z->a[i] / (2 * z->lambda);
    }
    CHK(okra_grouped_put_(z->r, z->lambda, &C, store));
    CHK(okra_store_put_number_(store, "gap", left));
    return okra_store_put_number_(store, "tube", z->tube);
}

/* The loss max(0, |y_i - h(x_i)| - tube), every lambda of r into its store. */
static okra_status fit_tube(const okra_grouped_ *r, double tube, double tolerance,
                            okra_store_ *const *stores)
{
    const okra_groups_ *g = &r->groups;
    tube_solver z = {.r = r, .n = g->n, .d = g->d, .groups = g->count, .tube = tube};
    OWNS(&z.K, &z.a, &z.U, &z.q, &z.E, &z.sum);
    CHK(okra_doubles_(r->ctx, g->count * g->n, g->n, "the Gram matrices of all groups",
                      &z.K));
    CHK(okra_doubles_(r->ctx, g->n, g->d, "the dual variables", &z.a));
    CHK(okra_doubles_(r->ctx, g->n, g->d, "the dual variables", &z.U));
    MAKE(z.q, g->d);
    MAKE(z.E, g->count);
    MAKE(z.sum, g->count);
    for (okra_int k = 0; k < g->count; k++) {
        okra_groups_gram_(g, k, z.K + k * g->n * g->n);
    }
    okra_mat_fill_(okra_mat_of_(z.a, g->n, g->d), 0);
    okra_mat_fill_(okra_mat_of_(z.U, g->n, g->d), 0);
    for (size_t l = 0; l < r->count; l++) { /* each starts from the one before */
        z.lambda = r->lambda[l];
        CHK(solve(&z, tolerance, stores[l]));
    }
    return OKRA_OK;
}

typedef struct jkm_options {
    double lambda, tube, tolerance;
    bool center;
} jkm_options;

static const okra_option rows[] = {
    {"lambda", OKRA_OPTION_NUMBER, offsetof(jkm_options, lambda), "0.1", 1e-300, 1e300,
     NULL, "V", "regularisation: weight of |h|^2 beside the sum of losses"},
    {"tube", OKRA_OPTION_NUMBER, offsetof(jkm_options, tube), "0.1", 0, 1e300, NULL, "V",
     "distance that costs nothing; set: the loss is the distance beyond it"},
    {"tolerance", OKRA_OPTION_NUMBER, offsetof(jkm_options, tolerance), "1e-8", 0, 1,
     NULL, "V", "duality gap to reach, with tube"},
    {"center-output", OKRA_OPTION_BOOL, offsetof(jkm_options, center), "no", 1, 0, NULL,
     "", "subtract the mean output, and restore it after"},
    {0},
};

extern const okra_method_ okra_method_jkm_;

/* ---- pixels in the same patches ---- */

/* Along one side: pixels covered by the same patches low..high make a stretch. */
typedef struct stretches {
    okra_int count, *of, *low, *high;
} stretches;

OKRA_CLEARS_(stretches_clear, stretches, it->of, it->low, it->high)

static okra_status stretch(okra_int length, okra_int patch, const okra_int *start,
                           okra_int patches, stretches *s)
{
    okra_int low = 0, high = 0;
    MAKE(s->of, length);
    MAKE(s->low, length);
    MAKE(s->high, length);
    for (okra_int r = 0; r < length; r++) {
        while (start[low] + patch <= r) {
            low++;
        }
        while (high + 1 < patches && start[high + 1] <= r) {
            high++;
        }
        okra_int last = s->count - 1;
        if (last < 0 || s->low[last] != low || s->high[last] != high) {
            s->low[s->count] = low;
            s->high[s->count++] = high;
        }
        s->of[r] = s->count - 1;
    }
    return OKRA_OK;
}

static okra_status make_groups(okra_context *ctx, const okra_pieces_ *pieces, okra_int n,
                               okra_groups_ *out)
{
    const okra_layout_ *l = &pieces->layout;
    FREED_BY(stretches_clear) stretches cols_of = {0}, rows_of = {0};
    CHK(stretch(l->height, l->patch, l->row, l->down, &rows_of));
    CHK(stretch(l->width, l->patch, l->col, l->across, &cols_of));
    okra_int across = cols_of.count, count = rows_of.count * across;
    CHK(okra_groups_create_(ctx, pieces, n, l->width * l->height, count, out));
    for (okra_int j = 0; j < out->d; j++) {
        out->of[j] = rows_of.of[j / l->width] * across + cols_of.of[j % l->width];
    }
    memset(out->S, 0, (size_t)(count * out->positions) * sizeof *out->S);
    for (okra_int g = 0; g < count; g++) {
        okra_int a = g / across, b = g % across;
        for (okra_int r = rows_of.low[a]; r <= rows_of.high[a]; r++) {
            for (okra_int c = cols_of.low[b]; c <= cols_of.high[b]; c++) {
                out->S[g * out->positions + r * l->across + c] = 1;
            }
        }
    }
    return OKRA_OK;
}

/* ---- the method ---- */

/* The groups, and the outputs less their mean; the caller clears them. */
static okra_status open_training(okra_context *ctx, const okra_problem_ *p, bool center,
                                 okra_grouped_ *r)
{
    FREED_BY(okra_pieces_drop_) okra_pieces_ *pieces = NULL;
    okra_int n = p->n, d = p->d;
    char text[96];
    REFUSE_IF(!p->features || !p->kx || !p->x || p->x->kind != OKRA_DENSE ||
                  p->x->d != p->d,
              OKRA_ESHAPE,
              "jkm maps images to images of the same size: expected dense outputs under "
              "a linear kernel, as long as the inputs, which are %s",
              p->x ? okra_data_describe_(p->x, text, sizeof text) : "not there");
    CHK(okra_pieces_create_(ctx, "jkm", p->kx->kernel, p->x, &pieces));
    REFUSE_IF(!pieces->layout.width, OKRA_EUNSUPPORTED,
              "jkm needs the input kernel patches(k,width=W)");
    CHK(make_groups(ctx, pieces, n, &r->groups));
    CHK(okra_doubles_(ctx, n, d, "the output images", &r->Y));
    CHK(okra_mat_copy_(okra_mat_view_(p->features, n, d, p->features_ld),
                       okra_mat_of_(r->Y, n, d)));
    if (center) {
        ZMAKE(r->mean, d);
        for (okra_int i = 0; i < n * d; i++) {
            r->mean[i % d] += r->Y[i] / (double)n;
        }
        for (okra_int i = 0; i < n * d; i++) {
            r->Y[i] -= r->mean[i % d];
        }
    }
    return OKRA_OK;
}

static okra_status path(okra_context *ctx, const okra_problem_ *problem,
                        const okra_options *options, const double *lambda, size_t count,
                        okra_store_ *const *stores)
{
    jkm_options o;
    FREED_BY(okra_grouped_clear_) okra_grouped_ r = {ctx, lambda, count, {0}, NULL, NULL};
    CHK(okra_options_read(options, &okra_method_jkm_.options, &o));
    bool tube = okra_options_is_set(options, "tube");
    REFUSE_IF(!tube && okra_options_is_set(options, "tolerance"), OKRA_EARG,
              "jkm: tolerance is for the loss with tube, which is not set");
    CHK(open_training(ctx, problem, o.center, &r));
    return tube ? fit_tube(&r, o.tube, o.tolerance, stores)
                : okra_grouped_ridge_(&r, stores);
}

static okra_status leave(okra_context *ctx, const okra_problem_ *problem,
                         const okra_options *options, const double *lambda, size_t count,
                         const okra_parts_ *parts, bool explicitly, okra_left_fn_ sink,
                         void *user)
{
    jkm_options o;
    FREED_BY(okra_grouped_clear_) okra_grouped_ r = {ctx, lambda, count, {0}, NULL, NULL};
    CHK(okra_options_read(options, &okra_method_jkm_.options, &o));
    REFUSE_IF(okra_options_is_set(options, "tube") || parts->part, OKRA_EUNSUPPORTED,
              "jkm: %s has no closed form of leaving out",
              parts->part ? "a part" : "the loss with tube");
    CHK(open_training(ctx, problem, o.center, &r));
    return okra_grouped_leave_(&r, sink, user);
}

static const okra_schema_ kept_groups[] = {
    OKRA_KEEPS_MATRIX_("coefficients", 0, "n", "d"),
    OKRA_KEEPS_MATRIX_("shares", 0, "g", "q"),
    OKRA_KEEPS_VALUES_("groups", OKRA_KEPT_WHOLE_, "1", "d", "0", "g-1"),
    OKRA_KEEPS_MATRIX_("mean", OKRA_KEPT_OPTIONAL_, "1", "d"),
    OKRA_KEEPS_NUMBER_("lambda", 0, "0", "1e300"),
    OKRA_KEEPS_SAME_("inputs", "c", "n"),
    OKRA_KEEPS_TOLD_("gap"),
    OKRA_KEEPS_TOLD_("tube"),
    OKRA_KEPT_END_,
};

const okra_method_ okra_method_jkm_ = {
    .name = "jkm",
    .unweighted =
        "has one quadratic programme for pairs of equal weight: it does not use weights",
    .help = "images to images by a joint kernel of their patches (joint kernel maps)",
    .options = {"jkm", rows, sizeof(jkm_options)},
    .path = path,
    .width = okra_ridge_width_,
    .predict = okra_grouped_predict_,
    .leave = leave,
    .kept = (const okra_schema_ *const[]){kept_groups, NULL},
};
