/*
 * leave.c: what ridge predicts at each training input when the part S of the
 * training set that holds it is left out, for every lambda, from one decomposition.
 *
 * With M = I - G, G the smoother of all inputs (smoother.h), leaving S out leaves
 *
 *     R_S = Y_S - H_S = (M_SS)^-1 ( (M Y)_S - (M 1)_S m_S' )           for any linear G
 *
 * (Allen's PRESS residual r_i / (1 - G_ii) where S = {i}), m_S the mean of the outputs
 * that stay, 0 where outputs are not centred. Weights over outputs without features are
 * the same with Y = I: W_S = I_S - R_S, which is 0 at S.
 *
 * Matrix operator A = E' diag(g) E: the columns of Y E' are ridges with lambda / g_j.
 * Diagonal operator (Kadri et al. 2013 sec. 5.2): coordinate j has the Gram matrix
 * (1 - t) K + t x_j x_j'. With M at lambda / (1 - t), e_j = M x_j, D_j = lambda + t
 * x_j'e_j
 *
 *     M_j u = M u - t e_j (x_j' M u) / D_j,      (M_j)_ii = M_ii - t e_ij^2 / D_j.
 *
 * Semi-supervised: the output of a pair is left out, its input stays in the graph
 * (Brouard et al. 2016 sec. 4). cov and ccov have no such form: their operator holds the
 * left-out output itself.
 *
 * Weights of pairs: rows are times s_i = sqrt(u_i), 1 becomes s, n becomes sum u.
 *
 * Cost: what M takes for the columns of Y (and 1, and X), and a factor per part.
 * Accuracy: that of M, see the smoothers.
 */
#include "solve/ridge.h"

#include "solve/moments.h"

enum { COLUMNS = 512 }; /* of one product */

/* Inputs by part. */
typedef struct sorted {
    okra_int *members; /* n: part after part, each in order */
    okra_int *begin;   /* parts + 1: where each begins      */
    okra_int largest;  /* members of the largest part       */
} sorted;

OKRA_CLEARS_(sorted_clear, sorted, it->members, it->begin)

/* Counting sort. */
static okra_status sort_parts(const okra_parts_ *parts, okra_int n, sorted *out)
{
    FREED_BY(sorted_clear) sorted z = {0};
    ZMAKE(z.begin, parts->count + 1);
    MAKE(z.members, n);
    for (okra_int i = 0; i < n; i++) {
        z.begin[(parts->part ? parts->part[i] : i) + 1]++;
    }
    for (okra_int s = 0; s < parts->count; s++) {
        z.largest = OKRA_MAX_(z.largest, z.begin[s + 1]);
        z.begin[s + 1] += z.begin[s];
    }
    for (okra_int i = n - 1; i >= 0; i--) {
        okra_int s = parts->part ? parts->part[i] : i;
        z.members[--z.begin[s + 1]] = i;
    }
    for (okra_int s = 0; s < parts->count; s++) { /* begin[s + 1] is now that of s */
        z.begin[s] = z.begin[s + 1];
    }
    z.begin[parts->count] = n;
    *out = TAKE(z);
    return OKRA_OK;
}

typedef struct leaving {
    okra_ridge_ *r;
    const okra_leave_ *leave;
    const okra_operator_ *op;
    okra_smoother_ M;
    sorted parts;
    okra_int n, d;      /* d: columns of Y; n where Y is the identity               */
    okra_int ones, k;   /* columns of M 1, diagonals of M: 1, or one per coordinate  */
    double *g;          /* d: eigenvalues of a matrix operator, or NULL              */
    double *U, *MU;     /* n x c: Y E', 1, X; and M times it                         */
    double *lambda, *q; /* c; k x n                                                  */
    double *mean;       /* d: m_S                                                    */
    double *roots;      /* weights: n, the roots s                                   */
    double *R, *H;      /* a part, largest x d; n x d, for weights in the place of MU */
    double *block;      /* weights: M_SS of a part                                   */
    okra_int c;         /* columns of U                                              */
    okra_int some, now; /* lambdas that go through M together; this one of them      */
} leaving;

static void leaving_clear(leaving *z)
{
    if (z->M.free) {
        z->M.free(z->M.self);
    }
    sorted_clear(&z->parts);
    FREE(z->g, z->U, z->MU, z->lambda, z->q, z->roots, z->mean, z->R, z->block);
    okra_free_(z->H == z->MU ? NULL : z->H);
}

/* Row i of M U, and the diagonals of M, of this lambda. */
static double *left_of(const leaving *z, okra_int i)
{
    return z->MU + (i * z->some + z->now) * z->c;
}

static double *diagonals_of(const leaving *z)
{
    return z->q + z->now * z->k * z->n;
}

static bool is_diagonal(const leaving *z)
{
    return z->op->kind == OKRA_OPERATOR_DIAGONAL;
}

/* U = [Y E', 1 for each of `ones` columns, X]. */
static okra_status fill(leaving *z)
{
    okra_int n = z->n, d = z->d, c = z->c;
    CHK(okra_doubles_(z->r->ctx, n, c, "the outputs", &z->U));
    okra_mat_ U = okra_mat_of_(z->U, n, c), Y = okra_mat_of_(z->r->Y, n, d);
    CHK(z->g ? okra_gemm_(z->r->ctx, false, true, 1, Y, okra_mat_of_(z->op->A, d, d), 0,
                          okra_mat_part_(U, 0, n, 0, d))
             : okra_mat_copy_(Y, okra_mat_part_(U, 0, n, 0, d)));
    const okra_data *x = z->r->p->x;
    for (okra_int i = 0; i < n; i++) {
        double s = okra_ridge_root_(z->r, i);
        for (okra_int j = d; j < c; j++) {
            okra_int at = j - d - z->ones;
            U.p[i * c + j] = at < 0 ? s : s * x->values[i * x->ld + at];
        }
    }
    return OKRA_OK;
}

static okra_status open_leaving(leaving *z, bool weights)
{
    okra_ridge_ *r = z->r;
    bool matrix = z->op->A != NULL, diagonal = is_diagonal(z), low = r->p->map_x;
    CHK(sort_parts(z->leave->parts, z->n, &z->parts));
    REFUSE_IF((matrix || diagonal) && z->parts.largest > 1, OKRA_EUNSUPPORTED,
              "ridge: parts of %s have no closed form",
              matrix ? "a matrix operator" : "operator diagonal");
    if (diagonal) {
        CHK(okra_ridge_diagonal_check_(r));
    }
    REFUSE_IF(low && (okra_problem_features_(r->p) == 0 ||
                      (!diagonal && !z->leave->explicitly && !r->p->map_y)),
              OKRA_EUNSUPPORTED,
              "ridge: low rank has a closed form of leaving out with explicit outputs or "
              "outputs of low rank alone");
    bool made = false;
    REFUSE_IF(weights && r->times, OKRA_EUNSUPPORTED,
              "ridge: output-lambda leaves out explicit outputs alone");
    if (!low && !matrix && !diagonal && !r->graph && !weights) {
        CHK(okra_smoother_factor_(r, z->parts.largest, &made, &z->M));
    }
    z->d = weights ? z->n : r->p->d;
    if (!made) {
        CHK(low ? okra_smoother_low_(r, z->parts.largest > 1, &z->d, &z->M)
                : okra_smoother_dense_(r, &z->M));
    }
    if (matrix) {
        MAKE(z->g, z->d);
        CHK(okra_operator_decompose_(r->ctx, okra_mat_of_(z->op->A, z->d, z->d), z->g));
    }
    z->k = matrix || diagonal || r->times ? z->d : 1;
    z->ones = weights || !r->center ? 0 : z->k;
    z->c = z->d + z->ones + (diagonal ? z->d : 0);
    if (!weights) {
        CHK(fill(z));
        okra_free_(r->Y); /* U has it */
        r->Y = NULL;
    }
    /* Several lambdas in one product, where they take a quarter of the budget at most. */
    okra_int room = okra_memory_left_(r->ctx) / 32 / OKRA_MAX_(z->n * z->c, 1);
    okra_int most =
        OKRA_MIN_(OKRA_MIN_(COLUMNS / OKRA_MAX_(z->c, 1), room), (okra_int)r->count);
    z->some = weights || made ? 1 : OKRA_MAX_(1, most);
    CHK(okra_doubles_(r->ctx, z->n, z->c * z->some, "the residuals", &z->MU));
    CHK(okra_doubles_(r->ctx, z->k * z->some, z->n, "the diagonals", &z->q));
    okra_int rows = z->parts.largest;
    CHK(okra_doubles_(r->ctx, weights && rows == 1 ? 0 : rows, z->d, "a part", &z->R));
    MAKE(z->lambda, z->c * z->some);
    if (weights) {
        CHK(okra_doubles_(r->ctx, rows, rows, "the block of a part", &z->block));
        MAKE(z->roots, z->n);
        for (okra_int i = 0; i < z->n; i++) {
            z->roots[i] = okra_ridge_root_(r, i);
        }
        z->H = z->MU;
    } else {
        CHK(okra_doubles_(r->ctx, z->n, z->d, "the left-out predictions", &z->H));
        MAKE(z->mean, z->d);
    }
    return z->M.begin(z->M.self, okra_mat_of_(z->U, z->n, z->c));
}

/* From M to the M_j of the diagonal operator: opening comment. */
static void add_rank(leaving *z, double lambda)
{
    okra_int n = z->n, d = z->d, c = z->c;
    double *q = diagonals_of(z);
    for (okra_int j = 0; j < d; j++) {
        okra_int x = d + z->ones + j;
        double D = okra_ridge_lambda_(z->r, lambda, j), y = 0, one = 0;
        for (okra_int i = 0; i < n; i++) {
            const double *m = left_of(z, i);
            double t = z->op->t * z->U[i * c + x];
            D += t * m[x];
            y += t * m[j];
            one += z->ones ? t * m[d + j] : 0;
        }
        for (okra_int i = 0; i < n; i++) {
            double *m = left_of(z, i);
            m[j] -= m[x] * y / D;
            if (z->ones) {
                m[d + j] -= m[x] * one / D;
            }
            q[j * n + i] -= z->op->t * m[x] * m[x] / D;
        }
    }
}

/* `count` lambdas. */
static okra_status apply(leaving *z, const double *lambda, okra_int count)
{
    z->some = count;
    for (okra_int k = 0; k < count * z->c; k++) {
        okra_int j = k % z->c % z->d; /* the output */
        double g = z->g ? z->g[j] : is_diagonal(z) ? 1 - z->op->t : 1;
        double own = okra_ridge_lambda_(z->r, lambda[k / z->c], j);
        z->lambda[k] = g > 0 ? own / g : (double)INFINITY;
    }
    return z->M.apply(z->M.self, z->lambda, okra_mat_of_(z->MU, z->n, z->c * count),
                      okra_mat_of_(z->q, z->k * count, z->n));
}

/* What weighs part s of the pairs stays out of: sum of the weights of the others. */
static double weight_without(const leaving *z, okra_int s)
{
    double stay = z->r->total;
    for (okra_int k = z->parts.begin[s]; k < z->parts.begin[s + 1]; k++) {
        stay -= okra_ridge_weight_(z->r, z->parts.members[k]);
    }
    return stay;
}

/* Y = I: rows S of MU, which are M_S, become W_S. Columns S of it are 0 to the bit. */
static okra_status leave_weights(leaving *z, okra_int s)
{
    const okra_int *in = z->parts.members + z->parts.begin[s];
    okra_int size = z->parts.begin[s + 1] - z->parts.begin[s], n = z->n;
    double stay = weight_without(z, s);
    const double *roots = z->roots;
    okra_mat_ R =
        size == 1 ? okra_mat_of_(left_of(z, in[0]), 1, n) : okra_mat_of_(z->R, size, n);
    okra_mat_ MSS = okra_mat_of_(z->block, size, size);
    for (okra_int k = 0; size > 1 && k < size; k++) {
        memcpy(R.p + k * n, left_of(z, in[k]), (size_t)n * sizeof *R.p);
        for (okra_int j = 0; j < size; j++) {
            MSS.p[k * size + j] = R.p[k * n + in[j]];
        }
    }
    for (okra_int k = 0; z->r->center && k < size; k++) {
        double one = okra_dot_(n, R.p + k * n, roots) / stay;
        okra_axpy_(n, -one, roots, R.p + k * n);
    }
    if (size > 1) {
        CHK(okra_cholesky_(z->r->ctx, MSS, NULL));
        CHK(okra_cholesky_solve_(z->r->ctx, MSS, R));
    }
    double scale = size > 1 ? -1 : -1 / diagonals_of(z)[in[0]];
    for (okra_int k = 0; k < size; k++) {
        double *w = left_of(z, in[k]);
        for (okra_int j = 0; j < n; j++) {
            w[j] = scale * R.p[k * n + j];
        }
        for (okra_int j = 0; j < size; j++) {
            w[in[j]] = 0;
        }
    }
    return OKRA_OK;
}

/* R <- M_SS^-1 R; outputs that share a lambda go together. */
static okra_status solve_part(leaving *z, double lambda, const okra_int *in, okra_mat_ R)
{
    const double *times = z->r->times;
    OWNED double *some = NULL;
    OWNED okra_int *which = NULL;
    if (!times) {
        return z->M.solve(z->M.self, lambda, in, R);
    }
    MAKE(some, R.rows * R.cols);
    MAKE(which, R.cols);
    for (okra_int first = 0; first < R.cols; first++) {
        okra_int count = 0, before = 0;
        for (okra_int j = 0; j < R.cols; j++) {
            which[count] = j;
            count += times[j] == times[first];
            before += j < first && times[j] == times[first];
        }
        if (before > 0) {
            continue;
        }
        for (okra_int i = 0; i < R.rows * count; i++) {
            some[i] = R.p[i / count * R.ld + which[i % count]];
        }
        CHK(z->M.solve(z->M.self, lambda * times[first], in,
                       okra_mat_of_(some, R.rows, count)));
        for (okra_int i = 0; i < R.rows * count; i++) {
            R.p[i / count * R.ld + which[i % count]] = some[i];
        }
    }
    return OKRA_OK;
}

/* R_S, and from it H_S in rotated coordinates. */
static okra_status leave_part(leaving *z, double lambda, okra_int s)
{
    const okra_int *in = z->parts.members + z->parts.begin[s];
    okra_int size = z->parts.begin[s + 1] - z->parts.begin[s], d = z->d, n = z->n;
    double stay = weight_without(z, s);
    for (okra_int j = 0; j < d; j++) {
        z->mean[j] = 0; /* centred outputs have sum 0 */
    }
    for (okra_int k = 0; z->ones && k < size; k++) {
        double share = okra_ridge_root_(z->r, in[k]) / stay;
        for (okra_int j = 0; j < d; j++) {
            z->mean[j] -= share * z->U[in[k] * z->c + j];
        }
    }
    for (okra_int k = 0; k < size; k++) {
        const double *left = left_of(z, in[k]), *q = diagonals_of(z) + in[k];
        const double *one = left + d;
        for (okra_int j = 0; j < d; j++) {
            double mean = z->ones ? one[z->ones > 1 ? j : 0] * z->mean[j] : 0;
            double below = size == 1 ? q[(z->k > 1 ? j : 0) * n] : 1;
            z->R[k * d + j] = (left[j] - mean) / below;
        }
    }
    if (size > 1) {
        CHK(solve_part(z, lambda, in, okra_mat_of_(z->R, size, d)));
    }
    for (okra_int k = 0; k < size; k++) {
        for (okra_int j = 0; j < d; j++) {
            z->H[in[k] * d + j] = z->U[in[k] * z->c + j] - z->R[k * d + j];
        }
    }
    return OKRA_OK;
}

/* H in the coordinates of the outputs, the mean restored. */
static okra_status finish(leaving *z)
{
    okra_int n = z->n, d = z->d;
    if (z->g) {
        OWNED double *work = NULL;
        CHK(okra_doubles_(z->r->ctx, n, d, "the rotated predictions", &work));
        okra_mat_ W = okra_mat_of_(work, n, d), H = okra_mat_of_(z->H, n, d);
        CHK(okra_mat_copy_(H, W));
        CHK(okra_gemm_(z->r->ctx, false, false, 1, W, okra_mat_of_(z->op->A, d, d), 0,
                       H));
    }
    for (okra_int i = 0; z->U && z->r->center && i < n * d; i++) {
        z->H[i] += okra_ridge_root_(z->r, i / d) * z->r->mean[i % d];
    }
    return OKRA_OK;
}

okra_status okra_ridge_leave_(okra_ridge_ *r, const okra_operator_ *op,
                              const okra_leave_ *leave)
{
    FREED_BY(leaving_clear)
    leaving z = {.r = r, .leave = leave, .op = op, .n = r->p->n};
    bool low = r->p->map_x, alone = !op->A && !is_diagonal(&z);
    bool weights = alone && !low && (!leave->explicitly || !r->p->features || r->graph);
    CHK(open_leaving(&z, weights));
    okra_int together = z.some;
    for (size_t l = 0; l < r->count; l++) {
        z.now = (okra_int)l % together;
        CHK(okra_cancelled_(r->ctx));
        if (z.now == 0) {
            CHK(apply(&z, r->lambda + l, OKRA_MIN_(together, (okra_int)(r->count - l))));
        }
        if (is_diagonal(&z)) {
            add_rank(&z, r->lambda[l]);
        }
        for (okra_int s = 0; s < leave->parts->count; s++) {
            CHK(weights ? leave_weights(&z, s) : leave_part(&z, r->lambda[l], s));
        }
        CHK(finish(&z));
        okra_mat_ H = okra_mat_of_(z.H, z.n, z.d);
        bool told = low ? z.parts.largest == 1 : !r->center && r->lambda[l] > 0;
        told = told && alone && !r->times;
        okra_left_ left = {.lambda = l, .slack = told ? diagonals_of(&z) : NULL};
        *(weights ? &left.W : &left.H) = H;
        CHK(leave->sink(r->ctx, leave->user, &left));
    }
    return OKRA_OK;
}
