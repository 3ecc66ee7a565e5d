/*
 * Margin on thin factors with more rows than a block: passes over rows that are cut into
 * parts, tiles of a block and a face, a Cholesky factor in the place of eigenvectors.
 * Every value is compared with sums written out; threads and budgets with one another.
 */
#include "method/margin/margin.h"
#include "thin.h"

#include <math.h>

enum { N = 700, P = 6, D = 48, RANK = 100, RUNS = 4 };

static const double LAMBDA = 0.05, TOLERANCE = 1e-9;

typedef struct task {
    double *x, *y, *Phi; /* Phi: of the run that keeps its rows */
    thin in;
    okra_problem_ p;
} task;

/* flat: all features are the same, but for rounding */
static void make(uint64_t seed, bool flat, task *t)
{
    okra_random_ random = okra_random_create_(seed, 4);
    *t = (task){.x = okra_alloc_(N * P, sizeof *t->x),
                .y = okra_alloc_(N * D, sizeof *t->y),
                .Phi = okra_zalloc_(N * RANK, sizeof *t->Phi)};
    harness_normals(&random, N * P, t->x);
    harness_normals(&random, N * D, t->y);
    for (okra_int i = 0; i < N * D; i++) {
        t->y[i] = sin((double)(i % D + 1) * t->x[i / D * P]) + 0.3 * t->y[i];
    }
    t->in = thin_open(t->x, N, P, P, flat ? "rbf(sigma=1e7)" : "rbf(sigma=2)",
                      flat ? "rff(rank=100)" : "nystrom(rank=100)", 1);
    CHECK(t->in.map->rank == RANK);
    t->p = thin_problem(&t->in, N, t->y, D, D);
}

static void clear(task *t)
{
    thin_close(&t->in);
    FREE(t->x, t->y, t->Phi);
}

/* Run 0: one thread, 1: three, 2: three again, 3: three and no room for the rows but in a
 * file. */
static okra_context *open_factors(task *t, int run, okra_factors_ *f)
{
    okra_context *ctx = NULL;
    okra_factors_as_ as = {.unit = 1};
    CHECK_OK(okra_context_create(&ctx));
    CHECK_OK(okra_context_set_threads(ctx, run == 0 ? 1 : 3));
    as.besides = run == 3 ? 1e15 : 0;
    CHECK_OK(okra_context_set_memory(ctx, run == 3 ? okra_account_bytes_(ctx) + (1 << 21)
                                                   : (okra_int)1 << 30));
    CHECK_OK(okra_factors_create_(ctx, &t->p, &as, f));
    CHECK((f->Phi.memory == NULL) == (run == 3));
    CHECK_OK(okra_context_set_memory(ctx, (okra_int)1 << 30));
    CHECK(f->parts == (run == 1 || run == 2 ? 3 : 1));
    for (okra_int i = 0; f->Phi.memory && i < N * RANK; i++) {
        CHECK(run == 0 || t->Phi[i] == f->Phi.p[i]);
        t->Phi[i] = f->Phi.p[i];
    }
    return ctx;
}

/* to (RANK x D) <- Phi'T, or (N x D) <- Phi A */
static void gather(const task *t, const double *T, double *to)
{
    for (okra_int k = 0; k < RANK * D; k++) {
        to[k] = 0;
    }
    for (okra_int i = 0; i < N * RANK; i++) {
        for (okra_int j = 0; j < D; j++) {
            to[i % RANK * D + j] += t->Phi[i] * T[i / RANK * D + j];
        }
    }
}

static void spread(const task *t, const double *A, double *to)
{
    for (okra_int i = 0; i < N * D; i++) {
        to[i] = 0;
        for (okra_int k = 0; k < RANK; k++) {
            to[i] += t->Phi[i / D * RANK + k] * A[k * D + i % D];
        }
    }
}

/* Solutions within their gaps of one another; those of the same threads to the bit. */
static void check_run(int run, const double *X, double gap, double lambda, double *first,
                      double *third)
{
    double far = 0;
    for (okra_int k = 0; k < RANK * D; k++) {
        first[k] = run == 0 ? X[k] : first[k];
        third[k] = run == 1 ? X[k] : third[k];
        far += (X[k] - first[k]) * (X[k] - first[k]);
        CHECK(run != 2 || X[k] == third[k]);
    }
    CHECK(lambda * far <= 4 * gap);
}

TEST(hinge)
{
    static double T[N * D], H[N * D], A[RANK * D], want[RANK * D], one[RANK * D],
        three[RANK * D];
    task t;
    make(1, false, &t);
    for (int run = 0; run < RUNS; run++) {
        okra_factors_ f = {0};
        double a[N] = {0}, primal = 0, dual = 0;
        okra_boxqp_report_ r;
        okra_context *ctx = open_factors(&t, run, &f);
        CHECK_OK(okra_boxqp_low_(&f, LAMBDA, TOLERANCE, a, A, &r));
        for (okra_int i = 0; i < N * D; i++) {
            T[i] = a[i / D] * t.y[i] / (2 * LAMBDA);
        }
        gather(&t, T, want);
        spread(&t, want, H);
        double half = LAMBDA * okra_dot_(RANK * D, want, want);
        for (okra_int i = 0; i < N; i++) {
            double g = okra_dot_(D, H + i * D, t.y + i * D);
            CHECK(a[i] >= 0 && a[i] <= 1);
            primal += fmax(0, 1 - g);
            dual += a[i];
        }
        CHECK(r.converged && r.newtons + r.steps > 0);
        CHECK_NEAR(r.dual, dual - half, 1e-12 * N);
        CHECK_NEAR(r.gap, primal + 2 * half - dual, 1e-12 * N);
        CHECK_NEAR(harness_relative(RANK * D, A, want), 0, 1e-12);
        check_run(run, A, TOLERANCE * fabs(r.dual) + 1e-12 * N, LAMBDA, one, three);
        okra_factors_clear_(&f);
        okra_context_free(ctx);
    }
    clear(&t);
}

static void distance(const okra_dual_low_ *o, int seed)
{
    static double alpha[N * D], H[N * D], X[RANK * D], G[RANK * D], one[RANK * D],
        three[RANK * D];
    task t;
    bool huber = o->loss == OKRA_LOSS_HUBER_;
    make((uint64_t)seed, o->lambda < 1e-9, &t);
    for (int run = 0; run < RUNS; run++) {
        okra_factors_ f = {0};
        okra_dual_report_ r;
        okra_context *ctx = open_factors(&t, run, &f);
        for (okra_int i = 0; i < N * D; i++) {
            alpha[i] = X[i % (RANK * D)] = 0;
        }
        CHECK_OK(okra_dual_low_solve_(&f, o, alpha, X, &r));
        spread(&t, X, H);
        gather(&t, alpha, G);
        double primal = o->lambda * okra_dot_(RANK * D, X, X);
        double dual = -okra_dot_(RANK * D, G, G) / (4 * o->lambda);
        for (okra_int i = 0; i < N; i++) {
            const double *a = alpha + i * D, *y = t.y + i * D;
            double rr = 0, aa = okra_dot_(D, a, a), w = o->width;
            for (okra_int j = 0; j < D; j++) {
                rr += (y[j] - H[i * D + j]) * (y[j] - H[i * D + j]);
            }
            double far = sqrt(rr);
            primal += !huber ? fmax(0, far - w) : far <= w ? rr : 2 * w * far - w * w;
            dual += okra_dot_(D, a, y) - (huber ? aa / 4 : w * sqrt(aa));
        }
        CHECK(r.converged && r.newtons > 0);
        CHECK_NEAR(r.primal, primal, 1e-12 * fabs(primal));
        CHECK_NEAR(r.dual, dual, 1e-12 * fabs(primal));
        check_run(run, X, TOLERANCE * fabs(r.dual) + 1e-12 * primal, o->lambda, one,
                  three);
        okra_factors_clear_(&f);
        okra_context_free(ctx);
    }
    clear(&t);
}

/* The last lambda is lost in rounding beside the moments: they have no Cholesky factor.
 */
TEST(distances)
{
    distance(&(okra_dual_low_){NULL, OKRA_LOSS_HUBER_, 3, LAMBDA, TOLERANCE}, 2);
    distance(&(okra_dual_low_){NULL, OKRA_LOSS_TUBE_, 3, LAMBDA, TOLERANCE}, 3);
    distance(&(okra_dual_low_){NULL, OKRA_LOSS_HUBER_, 3, 1e-13, TOLERANCE}, 4);
}

MAIN(RUN(hinge), RUN(distances))
