/*
 * What a model tells of its solution (solve/solution.h), against systems written out and
 * eliminated, whether the model holds the factor or not.
 */
#include "eliminate.h"
#include "harness.h"
#include "pairs.h"

#include "solve/solution.h"

#include <math.h>
#include <string.h>

/* Ten times 1e-14, which none of 200 seeds reached. */
static const double SAME = 1e-13;

static double rbf(const double *a, const double *b)
{
    double d = 0;
    for (int j = 0; j < P; j++) {
        d += (a[j] - b[j]) * (a[j] - b[j]);
    }
    return exp(-d / 2);
}

/* B = (K + noise_i)^-1 */
static void naive(const pairs *p, const double *weights, double noise, double *B)
{
    double A[N * N];
    memset(B, 0, N * N * sizeof *B);
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            A[i * N + j] = rbf(p->x + i * LDX, p->x + j * LDX);
        }
        A[i * N + i] += noise / (weights ? weights[i] : 1);
        B[i * N + i] = 1;
    }
    eliminate(N, A, N, B);
}

static void check_rows(const pairs *p, okra_solution_ *s, const okra_trained_kernel_ *kx,
                       const double *B)
{
    double K[M * N], U[M * N], want[M * N] = {0}, got[M], v[M], self[M];
    okra_test_side_ *other = NULL;
    okra_entries_ *entries = NULL;
    for (int t = 0; t < M; t++) {
        self[t] = 1;
        for (int i = 0; i < N; i++) {
            double k = rbf(p->t + t * P, p->x + i * LDX);
            for (int j = 0; j < N; j++) {
                want[t * N + j] += k * B[i * N + j];
            }
        }
        v[t] = self[t];
        for (int i = 0; i < N; i++) {
            v[t] -= rbf(p->t + t * P, p->x + i * LDX) * want[t * N + i];
        }
    }
    CHECK_OK(okra_test_side_create_(NULL, kx, p->test_x, &other));
    CHECK_OK(okra_entries_create_(NULL, kx, other, &entries));
    CHECK_OK(okra_solution_border_(NULL, s, kx, entries, 0, okra_mat_of_(K, M, N),
                                   okra_mat_of_(U, M, N)));
    CHECK_NEAR(harness_relative(M * N, U, want), 0, SAME);
    CHECK_NEAR(K[0], rbf(p->t, p->x), SAME);
    CHECK_OK(okra_solution_variances_(NULL, s, kx, p->test_x, 1, got));
    CHECK_NEAR(harness_relative(M, got, v), 0, SAME);
    okra_entries_free_(entries);
    okra_test_side_free_(other);
}

static void check_one(const pairs *p, const char *settings, const double *weights,
                      double noise, bool held)
{
    double B[N * N], got[N * N], q[N], want[N];
    okra_solution_ s;
    okra_data *y = weights ? pairs_weigh(p->train_y, weights) : NULL;
    okra_model *m = pairs_fit(p->train_x, y ? y : p->train_y, settings);
    const okra_trained_kernel_ *kx = m->training->bound_x;
    CHECK(m->method->solution != NULL);
    m->method->solution(m->store, N, &s);
    CHECK(s.n == N && s.has_factor == held && (s.weights != NULL) == (weights != NULL));
    CHECK_NEAR(s.noise, noise, 1e-14 * noise);
    naive(p, weights, noise, B);
    CHECK_OK(okra_solution_inverse_(NULL, &s, kx, okra_mat_of_(got, N, N)));
    CHECK_NEAR(harness_relative(N * N, got, B), 0, SAME);
    for (int i = 0; i < N; i++) {
        want[i] = B[i * N + i];
    }
    CHECK_OK(okra_solution_diagonal_(NULL, &s, kx, q));
    CHECK_NEAR(harness_relative(N, q, want), 0, SAME);
    const okra_matrix_ *before = s.G;
    CHECK_OK(okra_solution_diagonal_(NULL, &s, kx, q));
    CHECK(s.G == before); /* factored once */
    check_rows(p, &s, kx, B);
    okra_solution_clear_(&s);
    okra_model_free(m);
    okra_data_free(y);
}

TEST(systems_equal_elimination)
{
    for (uint64_t seed = 0; seed < SOME(20); seed++) {
        pairs p;
        double weights[N];
        okra_random_ r = okra_random_create_(seed, 3);
        pairs_make(seed, &p);
        for (int i = 0; i < N; i++) {
            weights[i] = 0.1 + okra_random_uniform_(&r);
        }
        check_one(&p, "kx=rbf(sigma=1) lambda=0.1", NULL, 0.1, true);
        check_one(&p, "kx=rbf(sigma=1) lambda=0.1 keep=coefficients", NULL, 0.1, false);
        check_one(&p, "kx=rbf(sigma=1) lambda=0.1", weights, 0.1, true);
        check_one(&p, "kx=rbf(sigma=1) lambda=0.1 keep=coefficients", weights, 0.1,
                  false);
        check_one(&p, "kx=rbf(sigma=1) lambda=0.1 operator=cov", NULL, 0.1 * N, false);
        check_one(&p, "kx=rbf(sigma=1) lambda=0.1 method=kpca", NULL, 0.1, false);
        pairs_free(&p);
    }
}

static okra_solution_ solution_of(const pairs *p, const char *settings, okra_model **m)
{
    okra_solution_ s = {.kind = OKRA_SOLUTION_NONE_};
    *m = pairs_fit(p->train_x, p->train_y, settings);
    if ((*m)->method->solution) {
        (*m)->method->solution((*m)->store, N, &s);
    }
    return s;
}

TEST(what_a_model_tells)
{
    static const struct {
        const char *settings;
        okra_solution_kind_ kind;
        bool closed, process, center, moments;
    } all[] = {
        {"kx=rbf(sigma=1) lambda=0.1", OKRA_SOLUTION_DENSE_, true, true, false, false},
        {"kx=rbf(sigma=1) lambda=0.1 center-output=yes", OKRA_SOLUTION_DENSE_, true, true,
         true, false},
        {"kx=rbf(sigma=1) operator=cov", OKRA_SOLUTION_DENSE_, false, true, false, false},
        {"kx=rbf(sigma=1) lambda2=0.1", OKRA_SOLUTION_GRAPH_, false, true, false, false},
        {"kx=rbf(sigma=1) output-lambda=1,2", OKRA_SOLUTION_DENSE_, true, false, false,
         false},
        {"kx=rbf(sigma=1) low-rank-x=nystrom(rank=4) keep-moments=yes",
         OKRA_SOLUTION_LOW_, true, true, false, true},
        {"kx=rbf(sigma=1) low-rank-x=nystrom(rank=4) solver=cg", OKRA_SOLUTION_CG_, true,
         true, false, false},
        {"kx=rbf(sigma=1) method=kpca", OKRA_SOLUTION_DENSE_, false, true, false, false},
        {"kx=rbf(sigma=1) method=knn", OKRA_SOLUTION_NONE_, true, true, false, false},
    };
    pairs p;
    pairs_make(1, &p);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        okra_model *m = NULL;
        okra_solution_ s = solution_of(&p, all[i].settings, &m);
        CHECK(s.kind == all[i].kind && s.center == all[i].center);
        CHECK((s.no_closed_form == NULL) == all[i].closed);
        CHECK((s.noise >= 0) == all[i].process && s.has_moments == all[i].moments);
        okra_solution_clear_(&s);
        okra_model_free(m);
    }
    pairs_free(&p);
}

static okra_status ask(const okra_model *m, const pairs *p, double *out)
{
    okra_solution_ s;
    m->method->solution(m->store, N, &s);
    okra_status st =
        okra_solution_variances_(NULL, &s, m->training->bound_x, p->test_x, 1, out);
    okra_solution_clear_(&s);
    return st;
}

TEST(failing_allocations)
{
    pairs p;
    double v[M];
    pairs_make(3, &p);
    okra_model *m = pairs_fit(p.train_x, p.train_y, "kx=rbf(sigma=1) keep=coefficients");
    CHECK_ALLOCATIONS(ask(m, &p, v), (void)0);
    okra_model_free(m);
    pairs_free(&p);
}

MAIN(RUN(systems_equal_elimination), RUN(what_a_model_tells), RUN(failing_allocations))
