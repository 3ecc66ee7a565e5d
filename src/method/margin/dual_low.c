/*
 * dual_low.c: the losses of dual.c on thin factors, K = Phi Phi' (n x m), outputs Y
 * (n x d) in coordinates in which the operator is diag(g):
 *
 *     min_X  sum_i L(|y_i - h_i|) + lambda |X|^2,   h_i = diag(g)^1/2 X' phi_i,  X: m x d
 *     max_alpha  sum_i [<alpha_i, y_i> - L*(alpha_i)] - |Phi'alpha diag(g)^1/2|^2 /
 *                (4 lambda)
 *
 * Proximal point method on the dual: -tau/2 |alpha - alpha_k|^2 is added, which makes the
 * loss of the primal differentiable. With r_i = y_i - h_i and v_i = r_i + tau alpha_k,i
 *     alpha_i = c_i v_i:  huber    |alpha_i| = min(|v_i| / (tau + 1/2), 2 delta)
 *                         epsilon  |alpha_i| = min((|v_i| - epsilon)+ / tau, 1)
 *     gradient  2 lambda X - Phi'alpha diag(g)^1/2
 *     Hessian   V -> 2 lambda V + Phi'(J_i (Phi V diag(g)^1/2)_i)_i diag(g)^1/2,
 *               J_i = c_i (I - u_i u_i') + e_i u_i u_i',  u_i = v_i / |v_i|
 * e_i the derivative of |alpha_i| in |v_i|, 0 where it is bounded. Newton's method with a
 * line search; its systems by conjugate gradients, preconditioned with J_i replaced by
 * (tr J_i / d) I, which a Cholesky factor of m x m inverts, or with an operator an
 * eigendecomposition. Huber needs no tau.
 *
 * Stop: the gap between the primal value of X and the dual value of alpha, both of the
 * problem itself; X is the solution. Measured (n = 2,000, m = 200, d = 16, gap 1e-8 of
 * the dual): huber 4 Newton steps and 11 of conjugate gradients, epsilon 25 to 55 and 240
 * to 900. Cost: n m^2 + 2 n m d + m^3 / 3 (or 9 m^3) a Newton step, 4 n m d one of
 * conjugate gradients; memory 2 n d + 3 n + m^2 + 6 m d doubles beside the factors. Li,
 * Sun, Toh 2018 (semismooth Newton within proximal point).
 */
#include "method/margin/margin.h"

enum {
    STEPS_MOST = 80,   /* of the proximal point method */
    NEWTONS_MOST = 40, /* within a step                */
    CG_MOST = 200,
    HALVINGS = 30,
    STALLED = 4,    /* steps that rounding has ended                               */
    EIGEN_MOST = 64 /* rank below which eigenvectors cost nothing beside the rest */
};

/* A step is solved to this share of the gap: more is lost on the next change of tau. */
static const double SHARE = 0.01;
static const double RESIDUAL = 0.01;  /* of a Newton system */
static const double SINGULAR = 1e-11; /* 2 lambda over the trace of the moments */

typedef struct solver {
    okra_context *ctx;
    okra_factors_ *f;
    const okra_dual_low_ *o;
    okra_int n, m, d, rows; /* rows: of wide */
    double tau;
    double *center;            /* n x d: alpha_k                           */
    double *R, *S, *to;        /* n x d: residuals, how h moves, one of them */
    double *c, *e, *size;      /* n: of J_i; |v_i|                         */
    double *X;                 /* m x d                                    */
    double *G;                 /* m x d: gradient                          */
    double *C, *value;         /* m x m, m: preconditioner                 */
    double *P, *Q, *D, *B, *W; /* m x d                                    */
    bool factored;             /* C holds a Cholesky factor                */
    double *wide;              /* rows x m                                 */
    double moved;              /* S times this is still to be taken from R */
    double now;                /* the value of the step's primal           */
    double inner;              /* its gap                                  */
    int stalled;               /* Newton steps that found nothing lower    */
    okra_dual_report_ report;
} solver;

OKRA_CLEARS_(clear, solver, it->R, it->S, it->c, it->e, it->size, it->G, it->C, it->value,
             it->P, it->Q, it->D, it->B, it->W, it->wide)

double okra_dual_low_doubles_(okra_int n, okra_int m, okra_int d)
{
    double N = (double)n, M = (double)m, q = (double)d;
    return N * (2 * q + 3) + M * M + 6 * M * q + fmin(N, OKRA_FACTORS_BLOCK_) * M;
}

static okra_status prepare(solver *s)
{
    okra_int n = s->n, m = s->m, d = s->d;
    double **const thin[] = {&s->G, &s->P, &s->Q, &s->D, &s->B, &s->W};
    CHK(okra_doubles_(s->ctx, n, d, "the residuals of the outputs", &s->R));
    CHK(okra_doubles_(s->ctx, n, d, "the residuals of the outputs", &s->S));
    MAKE(s->c, n);
    MAKE(s->e, n);
    MAKE(s->size, n);
    for (size_t k = 0; k < sizeof thin / sizeof *thin; k++) {
        CHK(okra_doubles_(s->ctx, m, d, "the margin's directions", thin[k]));
    }
    CHK(okra_doubles_(s->ctx, m, m, "the moments of the inputs", &s->C));
    MAKE(s->value, m);
    s->rows = OKRA_MIN_(s->f->block, OKRA_FACTORS_BLOCK_);
    CHK(okra_doubles_(s->ctx, s->rows, m, "a block of the margin", &s->wide));
    double mean = s->f->trace / (2 * s->o->lambda) / (double)n;
    s->tau = s->o->loss == OKRA_LOSS_HUBER_ ? 0 : mean > 0 ? mean : 1;
    return OKRA_OK;
}

static double root(const solver *s, okra_int j)
{
    return s->o->g ? sqrt(s->o->g[j]) : 1;
}

/* to <- from diag(g)^1/2 */
static void scale(const solver *s, const double *from, double *to)
{
    for (okra_int i = 0; i < s->m * s->d; i++) {
        to[i] = from[i] * root(s, i % s->d);
    }
}

static double inner(const solver *s, const double *a, const double *b)
{
    return okra_dot_(s->m * s->d, a, b);
}

/* ---- one row ---- */

/* |alpha_i| of |v_i|, and its derivative. */
static double shrink(const solver *s, double v, double *slope)
{
    bool huber = s->o->loss == OKRA_LOSS_HUBER_;
    double most = huber ? 2 * s->o->width : 1;
    double steep = 1 / (huber ? s->tau + 0.5 : s->tau);
    double size = (huber ? v : fmax(v - s->o->width, 0)) * steep;
    *slope = size < most && (huber || size > 0) ? steep : 0;
    return fmin(size, most);
}

/* sup_a <a, r> - L*(a) - tau/2 |a - alpha_k|^2 of row i, at r = R_i - t S_i; out (d, may
 * be NULL): v_i. */
static double row_value(const solver *s, okra_int i, double t, double *out)
{
    const double *r = s->R + i * s->d, *h = s->S + i * s->d, *k = s->center + i * s->d;
    double vv = 0, kk = 0, slope;
    for (okra_int j = 0; j < s->d; j++) {
        double v = r[j] - (t != 0 ? t * h[j] : 0) + s->tau * k[j];
        vv += v * v;
        kk += k[j] * k[j];
        if (out) {
            out[j] = v;
        }
    }
    double v = sqrt(vv), a = shrink(s, v, &slope);
    double conjugate = s->o->loss == OKRA_LOSS_HUBER_ ? a * a / 4 : s->o->width * a;
    return a * v - conjugate - s->tau / 2 * (a * a + kk);
}

/* J_i times x, in its place. */
static void curve(const solver *s, okra_int i, double *x)
{
    const double *r = s->R + i * s->d, *k = s->center + i * s->d;
    double along = 0;
    for (okra_int j = 0; j < s->d; j++) {
        along += (r[j] + s->tau * k[j]) * x[j];
    }
    along *= s->size[i] > 0 ? (s->e[i] - s->c[i]) / (s->size[i] * s->size[i]) : 0;
    for (okra_int j = 0; j < s->d; j++) {
        x[j] = s->c[i] * x[j] + along * (r[j] + s->tau * k[j]);
    }
}

/* ---- passes over the rows ---- */

static okra_status predict_rows(void *arg, const okra_factors_some_ *z)
{
    const solver *s = arg;
    bool residual = s->to == s->R;
    okra_mat_ out = okra_mat_of_(s->to + z->place * s->d, z->Phi.rows, s->d);
    if (residual) {
        CHK(okra_mat_copy_(z->Psi, out));
    }
    return okra_gemm_(s->ctx, false, false, residual ? -1 : 1, z->Phi,
                      okra_mat_of_(s->W, s->m, s->d), residual, out);
}

/* R <- Y - Phi A diag(g)^1/2, or S <- Phi A diag(g)^1/2 */
static okra_status predict(solver *s, const double *A, double *to)
{
    s->to = to;
    scale(s, A, s->W);
    return okra_factors_each_(s->f, NULL, s->n, predict_rows, s, 1, NULL);
}

static okra_status bend_rows(void *arg, const okra_factors_some_ *z)
{
    const solver *s = arg;
    okra_mat_ W = okra_mat_of_(s->W, s->m, s->d);
    CHK(okra_gemm_(s->ctx, false, false, 1, z->Phi, W, 0, z->T));
    for (okra_int r = 0; r < z->T.rows; r++) {
        curve(s, z->place + r, z->T.p + r * s->d);
    }
    return OKRA_OK;
}

/* Q <- Hessian times P */
static okra_status bend(solver *s)
{
    scale(s, s->P, s->W);
    CHK(okra_factors_each_(s->f, NULL, s->n, bend_rows, s, 1, s->Q));
    for (okra_int k = 0; k < s->m * s->d; k++) {
        s->Q[k] = 2 * s->o->lambda * s->P[k] + root(s, k % s->d) * s->Q[k];
    }
    return OKRA_OK;
}

/* Sums over rows: L(r), of the step, <alpha, r> - L*, |alpha - alpha_k|^2, scale of
 * method.h
 */
enum { PRIMAL, SMOOTH, LINEAR, FAR, SCALE, SUMS };

typedef struct measured {
    solver *s;
    double sum[OKRA_FACTORS_PARTS_][SUMS];
} measured;

/* c, e, size and alpha of row i, whose output is y; alpha into out. */
static void one_row(solver *s, okra_int i, const double *y, double *out, double *sum)
{
    const double *k = s->center + i * s->d;
    double *r = s->R + i * s->d, w = s->o->width, slope;
    bool huber = s->o->loss == OKRA_LOSS_HUBER_;
    for (okra_int j = 0; s->moved != 0 && j < s->d; j++) {
        r[j] -= s->moved * s->S[i * s->d + j];
    }
    double rr = okra_dot_(s->d, r, r), far = sqrt(rr);
    sum[SMOOTH] += row_value(s, i, 0, out);
    double v = sqrt(okra_dot_(s->d, out, out)), a = shrink(s, v, &slope);
    s->size[i] = v;
    s->e[i] = slope;
    s->c[i] = v > 0 ? a / v : slope;
    for (okra_int j = 0; j < s->d; j++) {
        out[j] *= s->c[i];
        sum[FAR] += (out[j] - k[j]) * (out[j] - k[j]);
    }
    sum[LINEAR] += okra_dot_(s->d, out, r) - (huber ? a * a / 4 : w * a);
    sum[PRIMAL] += !huber ? fmax(far - w, 0) : far <= w ? rr : 2 * w * far - w * w;
    sum[SCALE] += (huber ? 2 * fmin(far, w) : 1) * (sqrt(okra_dot_(s->d, y, y)) + far);
}

static okra_status measure_rows(void *arg, const okra_factors_some_ *z)
{
    measured *w = arg;
    for (okra_int r = 0; r < z->Phi.rows; r++) {
        one_row(w->s, z->place + r, z->Psi.p + r * z->Psi.ld, z->T.p + r * z->T.ld,
                w->sum[z->part]);
    }
    return OKRA_OK;
}

/* The report and the gradient G, at X and R, which follows the last step. */
static okra_status measure(solver *s)
{
    double lambda = s->o->lambda, *sum;
    measured z = {.s = s};
    CHK(okra_factors_each_(s->f, NULL, s->n, measure_rows, &z, 1, s->G));
    s->moved = 0;
    sum = z.sum[0];
    for (okra_int k = SUMS; k < s->f->parts * SUMS; k++) {
        sum[k % SUMS] += z.sum[k / SUMS][k % SUMS];
    }
    scale(s, s->G, s->G);
    double ridge = lambda * inner(s, s->X, s->X);
    double quadratic = inner(s, s->G, s->G) / (4 * lambda);
    /* <alpha, y> = <alpha, r> + <alpha, h>, and the last is <G, X>. */
    double dual = sum[LINEAR] + inner(s, s->G, s->X) - quadratic;
    for (okra_int k = 0; k < s->m * s->d; k++) {
        s->G[k] = 2 * lambda * s->X[k] - s->G[k];
    }
    s->now = sum[SMOOTH] + ridge;
    s->inner = s->now - (dual - s->tau / 2 * sum[FAR]);
    s->report.primal = sum[PRIMAL] + ridge;
    s->report.dual = dual;
    s->report.gap = s->report.primal - dual;
    s->report.goal = okra_gap_goal_(s->o->tolerance, dual, sum[SCALE]);
    s->report.converged = s->report.gap <= s->report.goal;
    return OKRA_OK;
}

/* ---- Newton's method ---- */

/* C <- Phi' diag(tr J_i / d) Phi */
static okra_status moments(solver *s)
{
    okra_mat_ C = okra_mat_of_(s->C, s->m, s->m);
    for (okra_int i = 0; i < s->n; i += s->rows) {
        okra_mat_ Phi, Psi;
        okra_int rows = OKRA_MIN_(s->rows, s->n - i);
        okra_mat_ F = okra_mat_of_(s->wide, rows, s->m);
        CHK(okra_cancelled_(s->ctx));
        okra_factors_rows_(s->f, NULL, i, rows, 0, &Phi, &Psi);
        for (okra_int r = 0; r < rows; r++) {
            double trace = s->c[i + r] * (double)(s->d - 1) + s->e[i + r];
            double w = sqrt(trace / (double)s->d);
            for (okra_int j = 0; j < s->m; j++) {
                F.p[r * s->m + j] = w * Phi.p[r * Phi.ld + j];
            }
        }
        CHK(okra_syrk_(s->ctx, true, 1, F, i > 0, C));
    }
    return OKRA_OK;
}

/* C <- what precondition() needs: where all coordinates share 2 lambda I + C, far from
 * singular, its Cholesky factor, a small part of what eigenvectors cost; else those. */
static okra_status invert(solver *s)
{
    okra_mat_ C = okra_mat_of_(s->C, s->m, s->m);
    double trace = 0;
    CHK(moments(s));
    for (okra_int k = 0; k < s->m; k++) {
        trace += C.p[k * s->m + k];
    }
    s->factored = !s->o->g && s->m > EIGEN_MOST && 2 * s->o->lambda > SINGULAR * trace;
    if (s->factored) {
        okra_mat_add_diagonal_(C, 2 * s->o->lambda);
        return okra_cholesky_quiet_(s->ctx, C, NULL);
    }
    return okra_eigh_(s->ctx, C, s->value);
}

/* W <- the preconditioner's inverse times B: V' [(V B)_ij / (2 lambda + g_j v_i)] */
static okra_status precondition(solver *s)
{
    okra_mat_ V = okra_mat_of_(s->C, s->m, s->m), T = okra_mat_of_(s->Q, s->m, s->d);
    okra_mat_ B = okra_mat_of_(s->B, s->m, s->d), W = okra_mat_of_(s->W, s->m, s->d);
    if (s->factored) {
        CHK(okra_mat_copy_(B, W));
        return okra_cholesky_solve_(s->ctx, V, W);
    }
    CHK(okra_gemm_(s->ctx, false, false, 1, V, B, 0, T));
    for (okra_int k = 0; k < s->m * s->d; k++) {
        double g = s->o->g ? s->o->g[k % s->d] : 1;
        T.p[k] /= 2 * s->o->lambda + g * fmax(s->value[k / s->d], 0);
    }
    return okra_gemm_(s->ctx, true, false, 1, V, T, 0, W);
}

/* D <- - Hessian^-1 G */
static okra_status direction(solver *s)
{
    okra_int area = s->m * s->d;
    CHK(invert(s));
    for (okra_int k = 0; k < area; k++) {
        s->B[k] = -s->G[k];
        s->D[k] = 0;
    }
    CHK(precondition(s));
    CHK(okra_mat_copy_(okra_mat_of_(s->W, area, 1), okra_mat_of_(s->P, area, 1)));
    double bz = inner(s, s->B, s->P), first = bz;
    for (int k = 0; k < CG_MOST && bz > RESIDUAL * RESIDUAL * first; k++) {
        CHK(bend(s));
        double t = bz / inner(s, s->P, s->Q);
        for (okra_int i = 0; i < area; i++) {
            s->D[i] += t * s->P[i];
            s->B[i] -= t * s->Q[i];
        }
        CHK(precondition(s));
        double fresh = inner(s, s->B, s->W);
        for (okra_int i = 0; i < area; i++) {
            s->P[i] = s->W[i] + fresh / bz * s->P[i];
        }
        bz = fresh;
    }
    return OKRA_OK;
}

/* The value of the step's primal at X + t D. */
static double value_at(const solver *s, double t)
{
    double value = 0;
    for (okra_int i = 0; i < s->m * s->d; i++) {
        double x = s->X[i] + t * s->D[i];
        value += s->o->lambda * x * x;
    }
    for (okra_int i = 0; i < s->n; i++) {
        value += row_value(s, i, t, NULL);
    }
    return value;
}

static okra_status newton(solver *s)
{
    double t = 1;
    CHK(direction(s));
    CHK(predict(s, s->D, s->S));
    double slope = inner(s, s->G, s->D);
    int k = 0;
    for (; k < HALVINGS && value_at(s, t) > s->now + 1e-4 * t * slope; k++, t /= 2) {
    }
    okra_axpy_(s->m * s->d, t, s->D, s->X);
    s->moved = t;
    s->stalled += k == HALVINGS;
    s->report.newtons++;
    return OKRA_OK;
}

okra_status okra_dual_low_solve_(okra_factors_ *f, const okra_dual_low_ *dual,
                                 double *alpha, double *X, okra_dual_report_ *report)
{
    FREED_BY(clear)
    solver s = {.ctx = f->ctx,
                .f = f,
                .o = dual,
                .n = f->n,
                .m = f->m,
                .d = f->d,
                .center = alpha,
                .X = X};
    CHK(prepare(&s));
    for (int k = 0; k < STEPS_MOST && !s.report.converged && s.stalled < STALLED; k++) {
        int tries = 0, stalled = s.stalled;
        CHK(predict(&s, s.X, s.R));
        CHK(measure(&s));
        for (; tries < NEWTONS_MOST && !s.report.converged && s.stalled == stalled &&
               (s.tau == 0 || s.inner > SHARE * s.report.gap);
             tries++) {
            CHK(newton(&s));
            CHK(measure(&s));
            okra_progress_(s.ctx, "margin", tries, NEWTONS_MOST);
        }
        for (okra_int i = 0; i < s.n * s.d; i++) { /* alpha_k <- alpha */
            s.center[i] = s.c[i / s.d] * (s.R[i] + s.tau * s.center[i]);
        }
        s.report.sweeps++;
        s.tau *= tries < 6 ? 0.1 : tries < 12 ? 0.3 : 1;
    }
    okra_progress_end_(s.ctx, "margin");
    *report = s.report;
    return OKRA_OK;
}
