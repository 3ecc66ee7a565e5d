/*
 * lowrank_pivots.c: which training objects make the basis of a low-rank kernel.
 *
 *   greedy     pivoted incomplete Cholesky: the object with the largest residual
 *              d_i = k_ii - |phi(x_i)|^2, one column of K at a time, until sum(d) <= tol
 *              tr(K) or no residual is above rounding (Fine and Scheinberg 2001). Keeps
 *              Phi' (m x n); O(n m^2) operations, bound by memory speed.
 *   uniform    m objects without replacement
 *   kmeans     the seeds of k-means++ in feature space (Arthur and Vassilvitskii 2007):
 *              the next is i with probability ~ min over the chosen of |phi_i - phi_j|^2
 *   leverage   without replacement ~ approximate ridge leverage scores
 *              l_i = phi_i'(Phi'Phi + c I)^-1 phi_i + (k_ii - |phi_i|^2) / c
 *              of a uniform pilot of m objects, c = tr(K - Phi Phi') / m, at least
 *              1e-10 tr(K) / m (Musco and Musco 2017, sec. 3)
 *
 * Objects of weight u count u times in traces and in the chances of kmeans; uniform and
 * leverage draw from the objects as they are.
 */
#include "kernel/lowrank/lowrank.h"

#include "kernel/gram/trained_kernel.h"

/* ---- columns of K on demand ---- */

static okra_status column(okra_context *ctx, const okra_trained_kernel_ *bound,
                          okra_int i, double *out)
{
    return okra_tiles_(ctx, bound, bound->kernel->count - 1, &bound->train, i, 1,
                       OKRA_TARGET_FULL_, NULL, okra_mat_of_(out, 1, bound->train.n));
}

typedef struct step {
    const double *done; /* columns so far, each n long */
    okra_int n, count, pivot;
    double root; /* of the pivot's residual */
    double *fresh, *residual;
} step;

/* fresh <- (k_p - sum_j phi_pj phi_j) / root; residual -= fresh^2, where they are chunks
 * that stay in the first cache while the earlier columns stream by. */
static okra_status eliminate(void *arg, okra_int begin, okra_int end, int worker)
{
    const step *s = arg;
    for (okra_int j = 0; j < s->count; j++) {
        const double *phi = s->done + j * s->n;
        double weight = phi[s->pivot];
        for (okra_int i = begin; i < end; i++) {
            s->fresh[i] -= weight * phi[i];
        }
    }
    for (okra_int i = begin; i < end; i++) {
        s->fresh[i] /= s->root;
        s->residual[i] -= s->fresh[i] * s->fresh[i];
        s->residual[i] = fmax(s->residual[i], 0);
    }
    return OKRA_OK;
}

static okra_int largest(const okra_data *train, const double *d, double *sum)
{
    okra_int at = 0, n = train->n;
    *sum = 0;
    for (okra_int i = 0; i < n; i++) {
        *sum += okra_weight_(train, i) * d[i];
        at = d[i] > d[at] ? i : at;
    }
    return at;
}

okra_status okra_pivots_greedy_(okra_context *ctx, const okra_kernel *kernel,
                                const okra_data *train, double tol, okra_int *index,
                                okra_int *count, double *error)
{
    enum { CHUNK = 2048 };
    FREED_BY(okra_trained_kernel_drop_) okra_trained_kernel_ *bound = NULL;
    okra_int n = train->n, most = *count, m = 0;
    OWNED double *phi = NULL, *d = NULL;
    double trace = 0, left = 0, highest = 0;
    CHK(okra_trained_kernel_create_(ctx, kernel, train, &bound));
    CHK(okra_doubles_(ctx, most, n, "the columns of an incomplete Cholesky factor",
                      &phi));
    CHK(okra_doubles_(ctx, n, 1, "residuals", &d));
    CHK(okra_trained_kernel_diagonal_(ctx, bound, d));
    okra_int at = largest(train, d, &trace);
    CHK(okra_low_mean_(kernel, n ? trace / okra_weights_total_(train) : 0));
    highest = d[at];
    left = trace;
    while (m < most && (m == 0 || left > tol * trace) &&
           d[at] > (double)n * DBL_EPSILON * highest) {
        step s = {phi, n, m, at, sqrt(d[at]), phi + m * n, d};
        CHK(column(ctx, bound, at, s.fresh));
        CHK(okra_parallel_(ctx, n, CHUNK, NULL, eliminate, &s));
        d[at] = 0; /* exactly: it cannot be chosen again */
        index[m++] = at;
        at = largest(train, d, &left);
        okra_progress_(ctx, "incomplete Cholesky", m, most);
    }
    okra_progress_end_(ctx, "incomplete Cholesky");
    *count = m;
    GIVE(error, left);
    return OKRA_OK;
}

/* ---- random choices ---- */

/* What a shuffle has moved: the places of 0..n-1 that hold another number, by hashing, so
 * that a draw from very many takes memory for those drawn alone. */
typedef struct moved {
    okra_int place, holds; /* place -1: free */
} moved;

static moved *find_moved(moved *table, okra_int mask, okra_int place)
{
    okra_int at = (okra_int)((uint64_t)place * UINT64_C(0x9e3779b97f4a7c15) >> 20) & mask;
    while (table[at].place >= 0 && table[at].place != place) {
        at = (at + 1) & mask;
    }
    return &table[at];
}

okra_status okra_pivots_uniform_(okra_random_ *random, okra_int n, okra_int m,
                                 okra_int *index)
{
    OWNED moved *table = NULL;
    okra_int size = 4;
    while (size < 2 * m) {
        size *= 2;
    }
    MAKE(table, size);
    for (okra_int i = 0; i < size; i++) {
        table[i] = (moved){-1, -1};
    }
    for (okra_int k = 0; k < m; k++) {
        okra_int at = k + okra_random_below_(random, n - k);
        const moved *first = find_moved(table, size - 1, k);
        okra_int held = first->place < 0 ? k : first->holds;
        moved *drawn = find_moved(table, size - 1, at);
        index[k] = drawn->place < 0 ? at : drawn->holds;
        *drawn = (moved){at, held};
    }
    return OKRA_OK;
}

/* One of n with probability ~ w; -1 where all are 0. */
static okra_int draw(okra_random_ *random, okra_int n, const double *w)
{
    double sum = okra_total_(n, w), below = 0;
    okra_int at = -1;
    double u = okra_random_uniform_(random) * sum;
    for (okra_int i = 0; i < n; i++) {
        below += w[i];
        if (w[i] > 0) {
            at = i; /* the last with weight, should rounding leave u above */
            if (u < below) {
                break;
            }
        }
    }
    return at;
}

static okra_status kmeans(okra_context *ctx, const okra_kernel *kernel,
                          const okra_data *train, okra_random_ *random, okra_int *index,
                          okra_int *count)
{
    FREED_BY(okra_trained_kernel_drop_) okra_trained_kernel_ *bound = NULL;
    okra_int n = train->n, m = 0;
    OWNED double *self = NULL, *nearest = NULL, *k = NULL;
    CHK(okra_trained_kernel_create_(ctx, kernel, train, &bound));
    CHK(okra_doubles_(ctx, n, 1, "self-similarities", &self));
    CHK(okra_doubles_(ctx, n, 1, "distances to the chosen", &nearest));
    CHK(okra_doubles_(ctx, n, 1, "a column of the Gram matrix", &k));
    CHK(okra_trained_kernel_diagonal_(ctx, bound, self));
    for (okra_int i = 0; i < n; i++) {
        nearest[i] = okra_weight_(train, i); /* the first is any object */
    }
    while (m < *count) {
        okra_int at = draw(random, n, nearest);
        if (at < 0) {
            break; /* the others repeat what is chosen */
        }
        CHK(column(ctx, bound, at, k));
        for (okra_int i = 0; i < n; i++) {
            double d2 = fmax(self[i] + self[at] - 2 * k[i], 0);
            d2 *= okra_weight_(train, i);
            nearest[i] = m == 0 ? d2 : fmin(nearest[i], d2);
        }
        nearest[at] = 0;
        index[m++] = at;
        okra_progress_(ctx, "k-means++", m, *count);
    }
    okra_progress_end_(ctx, "k-means++");
    *count = m;
    return OKRA_OK;
}

/* One pass over the features of all objects; `C` != NULL: C += Phi'Phi, else scores by
 * the factor G of Phi'Phi + c I. */
static okra_status pilot_pass(okra_context *ctx, const okra_map_ *map,
                              const okra_data *train, okra_mat_ *C, okra_mat_ G, double c,
                              double *residual, double *score)
{
    okra_int n = train->n, m = map->rank, rows = okra_block_rows_(ctx, n, m);
    OWNED double *V = NULL;
    CHK(okra_doubles_(ctx, rows, m, "features of the pilot", &V));
    CHK(okra_map_self_(ctx, map, train, residual));
    for (okra_int i0 = 0; i0 < n; i0 += rows) {
        okra_int some = OKRA_MIN_(rows, n - i0);
        okra_mat_ P = okra_mat_of_(V, some, m);
        CHK(okra_cancelled_(ctx));
        CHK(okra_map_values_(ctx, map, train, i0, P));
        CHK(okra_map_features_(ctx, map, P, P));
        for (okra_int i = 0; i < some; i++) {
            double square = okra_dot_(m, P.p + i * m, P.p + i * m);
            residual[i0 + i] = fmax(residual[i0 + i] - square, 0);
        }
        if (C) {
            CHK(okra_syrk_(ctx, true, 1, P, i0 > 0, *C));
            continue;
        }
        CHK(okra_trsm_(ctx, false, true, G, P));
        for (okra_int i = 0; i < some; i++) {
            double s = okra_dot_(m, P.p + i * m, P.p + i * m) + residual[i0 + i] / c;
            score[i0 + i] = fmin(s, 1);
        }
    }
    return OKRA_OK;
}

static okra_status leverage_scores(okra_context *ctx, const okra_kernel *kernel,
                                   const okra_data *train, const okra_int *pilot,
                                   okra_int m, double *score)
{
    FREED_BY(okra_map_drop_) okra_map_ *map = NULL;
    OWNED double *C = NULL, *residual = NULL;
    double left = 0, kept = 0;
    CHK(okra_map_of_(ctx, kernel, train, pilot, m, NULL, m, NULL, &map));
    CHK(okra_doubles_(ctx, m, m, "the moments of the pilot", &C));
    CHK(okra_doubles_(ctx, train->n, 1, "residuals", &residual));
    okra_mat_ Cm = okra_mat_of_(C, m, m);
    CHK(pilot_pass(ctx, map, train, &Cm, Cm, 0, residual, score));
    left = okra_total_(train->n, residual);
    for (okra_int i = 0; i < m; i++) {
        kept += C[i * m + i];
    }
    double c = fmax(left, 1e-10 * (left + kept)) / (double)m;
    okra_mat_add_diagonal_(Cm, c);
    CHK(okra_cholesky_(ctx, Cm, NULL));
    return pilot_pass(ctx, map, train, NULL, Cm, c, residual, score);
}

static okra_status leverage(okra_context *ctx, const okra_kernel *kernel,
                            const okra_data *train, okra_random_ *random, okra_int *index,
                            okra_int *count)
{
    OWNED double *score = NULL;
    okra_int m = 0;
    CHK(okra_pivots_uniform_(random, train->n, *count, index));
    CHK(okra_doubles_(ctx, train->n, 1, "leverage scores", &score));
    CHK(leverage_scores(ctx, kernel, train, index, *count, score));
    while (m < *count) {
        okra_int at = draw(random, train->n, score);
        if (at < 0) {
            break;
        }
        score[at] = 0;
        index[m++] = at;
    }
    *count = m;
    return OKRA_OK;
}

okra_status okra_pivots_choose_(okra_context *ctx, const okra_kernel *kernel,
                                const okra_data *train, const okra_low_ *low,
                                okra_random_ *random, okra_int *index, okra_int *count)
{
    if (low->kind == OKRA_LOW_CHOL_) {
        return okra_pivots_greedy_(ctx, kernel, train, low->tol, index, count, NULL);
    }
    switch ((okra_pivots_)low->pivots) {
    case OKRA_PIVOTS_UNIFORM_:
        return okra_pivots_uniform_(random, train->n, *count, index);
    case OKRA_PIVOTS_LEVERAGE_:
        return leverage(ctx, kernel, train, random, index, count);
    case OKRA_PIVOTS_KMEANS_:
        return kmeans(ctx, kernel, train, random, index, count);
    case OKRA_PIVOTS_GREEDY_:
    case OKRA_PIVOTS_CENTRES_: /* not of the training set: okra_centres_ */
        break;
    }
    return okra_pivots_greedy_(ctx, kernel, train, 0, index, count, NULL);
}
