/*
 * Pairs: against the matrix of pairs by pairs written out and solved by elimination, with
 * gaps, weights, several products, one row, one column; left-out predictions against
 * refits; scores against double loops.
 */
#include "harness.h"
#include "eliminate.h"
#include "solve/pairs.h"

enum { ROWS = 6, COLUMNS = 5, PAIRS = ROWS * COLUMNS, TERMS = 2, SEEDS = 6 };

typedef struct toy {
    okra_int n, m;
    int terms;
    double A[TERMS][ROWS * ROWS], B[TERMS][COLUMNS * COLUMNS];
    double Y[PAIRS], W[PAIRS];
    bool weighted, center;
} toy;

static void gram(okra_random_ *r, okra_int n, double *A)
{
    double X[ROWS * 3];
    harness_normals(r, n * 3, X);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < n; j++) {
            A[i * n + j] = 0.3 * (i == j) + okra_dot_(3, X + 3 * i, X + 3 * j);
        }
    }
}

static toy make(okra_int n, okra_int m, int terms, bool gaps, bool weighted, bool center,
                uint64_t seed)
{
    toy t = {.n = n, .m = m, .terms = terms, .weighted = weighted, .center = center};
    okra_random_ r = okra_random_create_(seed, 7);
    for (int k = 0; k < terms; k++) {
        gram(&r, n, t.A[k]);
        gram(&r, m, t.B[k]);
    }
    for (okra_int p = 0; p < n * m; p++) {
        bool gap = gaps && p > 0 && okra_random_below_(&r, 3) == 0;
        t.Y[p] = gap ? (double)NAN : 2 + okra_random_normal_(&r);
        t.W[p] = p == 1 && n * m > 2 ? 0 : 0.5 + okra_random_uniform_(&r);
    }
    return t;
}

static okra_pair_solver_ solver_of(toy *t)
{
    okra_pair_solver_ s = {0};
    double *A[] = {t->A[0], t->A[1]}, *B[] = {t->B[0], t->B[1]};
    CHECK_OK(okra_pair_solver_create_(NULL, t->n, t->m, t->terms, A, B, t->Y,
                                      t->weighted ? t->W : NULL, t->center, &s));
    return s;
}

static bool counts(const toy *t, okra_int p)
{
    return !isnan(t->Y[p]) && !(t->weighted && t->W[p] == 0);
}

static double product_kernel(const toy *t, okra_int p, okra_int q)
{
    double sum = 0;
    for (int k = 0; k < t->terms; k++) {
        sum += t->A[k][p / t->m * t->n + q / t->m] * t->B[k][p % t->m * t->m + q % t->m];
    }
    return sum;
}

/* F: predictions of all pairs by the dense system of those that count and stay; how many.
 */
static okra_int naive(const toy *t, double lambda, const bool *left, double *F)
{
    okra_int list[PAIRS], N = 0;
    double K[PAIRS * PAIRS], c[PAIRS], mean = 0, total = 0;
    for (okra_int p = 0; p < t->n * t->m; p++) {
        if (counts(t, p) && !(left && left[p])) {
            double w = t->weighted ? t->W[p] : 1;
            list[N++] = p;
            mean += w * t->Y[p];
            total += w;
        }
    }
    mean = t->center && N > 0 ? mean / total : 0;
    for (okra_int k = 0; k < N; k++) {
        for (okra_int l = 0; l < N; l++) {
            K[k * N + l] = product_kernel(t, list[k], list[l]);
        }
        K[k * N + k] += lambda / (t->weighted ? t->W[list[k]] : 1);
        c[k] = t->Y[list[k]] - mean;
    }
    eliminate(N, K, 1, c);
    for (okra_int p = 0; p < t->n * t->m; p++) {
        F[p] = mean;
        for (okra_int k = 0; k < N; k++) {
            F[p] += product_kernel(t, p, list[k]) * c[k];
        }
    }
    return N;
}

static const struct shape {
    okra_int n, m;
    int terms;
    bool gaps, weighted, center;
} shapes[] = {{6, 5, 1, false, false, true}, {6, 5, 1, false, false, false},
              {3, 5, 1, false, false, true}, {6, 5, 1, true, false, true},
              {5, 4, 1, false, true, true},  {5, 5, 2, false, false, true},
              {6, 4, 2, true, true, true},   {4, 5, 2, true, false, false},
              {1, 5, 1, false, false, true}, {6, 1, 1, false, false, true},
              {1, 5, 1, true, true, false},  {6, 1, 2, true, false, true},
              {1, 1, 1, false, false, false}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static toy toy_of(int k, uint64_t seed)
{
    const struct shape *s = &shapes[k];
    return make(s->n, s->m, s->terms, s->gaps, s->weighted, s->center,
                seed + 100 * (uint64_t)k);
}

/* The worst seen: 2.1e-11. */
TEST(equals_the_dense_matrix_of_pairs)
{
    for (int k = 0; k < SHAPES; k++) {
        for (uint64_t seed = 0; seed < SOME(SEEDS); seed++) {
            toy t = toy_of(k, seed);
            okra_pair_solver_ s = solver_of(&t);
            for (int e = -2; e <= 1; e++) {
                double C[PAIRS] = {0}, F[PAIRS], want[PAIRS], mean = 0;
                okra_int steps = 0;
                CHECK_OK(okra_pair_solve_(&s, pow(10, e), NULL, 1e-15, C, &mean, &steps));
                CHECK_OK(okra_pair_fitted_(&s, C, mean, F));
                naive(&t, pow(10, e), NULL, want);
                CHECK(steps == 0 || !s.product);
                for (okra_int p = 0; p < t.n * t.m; p++) {
                    CHECK_NEAR(F[p], want[p], 2e-10);
                }
            }
            okra_pair_solver_clear_(&s);
        }
    }
}

static bool goes(int setting, okra_int m, okra_int p, okra_int q)
{
    bool row = p / m == q / m, column = p % m == q % m;
    return setting == 0   ? p == q
           : setting == 1 ? row
           : setting == 2 ? column
                          : row || column;
}

/* The worst seen: 2.6e-13. */
TEST(left_out_equals_refits)
{
    for (int k = 0; k < SHAPES; k++) {
        for (uint64_t seed = 0; seed < SOME(SEEDS); seed++) {
            toy t = toy_of(k, seed);
            okra_pair_solver_ s = solver_of(&t);
            for (int setting = 0; setting < OKRA_PAIR_SETTINGS; setting++) {
                double F[PAIRS], want[PAIRS];
                okra_pair_how_ how;
                CHECK_OK(okra_pair_leave_(&s, 0.2, (okra_pair_setting)setting, F, &how));
                CHECK(how == (s.product ? OKRA_PAIR_CLOSED_ : OKRA_PAIR_DENSE_));
                for (okra_int p = 0; p < t.n * t.m; p++) {
                    bool left[PAIRS];
                    for (okra_int q = 0; q < t.n * t.m; q++) {
                        left[q] = goes(setting, t.m, p, q);
                    }
                    okra_int rest = naive(&t, 0.2, left, want);
                    if (rest > 0 && counts(&t, p)) {
                        CHECK_NEAR(F[p], want[p], 3e-12);
                    } else {
                        CHECK(isnan(F[p]));
                    }
                }
            }
            okra_pair_solver_clear_(&s);
        }
    }
}

static void forget(okra_int folds, okra_pair_fold_ *C)
{
    for (okra_int k = 0; k < folds; k++) {
        okra_pair_fold_clear_(&C[k]);
    }
}

/* A value has no say in the predictions of groups that go with it: which these are is
 * found by moving it. Each prediction is then the refit without them. The worst seen:
 * 2.6e-13. */
static void check_groups(toy *t, okra_pair_setting setting)
{
    enum { MOST = 9 };
    okra_pair_solver_ s = solver_of(t);
    okra_int folds = okra_pair_folds_(&s, setting), size = t->n * t->m, gone = 0;
    double F[PAIRS], moved[PAIRS], want[PAIRS];
    bool left[PAIRS][PAIRS] = {{false}};
    okra_pair_fold_ groups[MOST];
    memset(groups, 0, sizeof groups);
    CHECK_OK(okra_pair_leave_folds_(&s, 0.2, setting, false, 1e-15, groups, F));
    for (okra_int p = 0; p < size; p++) {
        double kept = t->Y[p];
        t->Y[p] += 5;
        forget(folds, groups);
        CHECK_OK(okra_pair_leave_folds_(&s, 0.2, setting, false, 1e-15, groups, moved));
        t->Y[p] = kept;
        for (okra_int q = 0; q < size; q++) {
            left[q][p] = fabs(moved[q] - F[q]) < 1e-10;
            CHECK(!counts(t, p) || !counts(t, q) || left[q][p] ||
                  !goes((int)setting, t->m, p, q));
        }
    }
    for (okra_int q = 0; q < size; q++) {
        CHECK(isnan(F[q]) == !counts(t, q));
        if (counts(t, q)) {
            naive(t, 0.2, left[q], want);
            CHECK_NEAR(F[q], want[q], 3e-12);
        }
    }
    forget(folds, groups);
    CHECK_OK(okra_pair_leave_folds_(&s, 0.2, setting, true, 1e-15, groups, moved));
    for (okra_int q = 0; q < size; q++) { /* two groups alone */
        gone += isnan(moved[q]) && counts(t, q);
        CHECK(isnan(moved[q]) || fabs(moved[q] - F[q]) < 1e-9);
    }
    CHECK(gone > 0 && gone < s.known);
    forget(folds, groups);
    okra_pair_solver_clear_(&s);
}

TEST(groups_equal_refits)
{
    for (int setting = 0; setting < OKRA_PAIR_SETTINGS; setting++) {
        toy one = make(6, 5, 1, true, false, true, 3),
            two = make(6, 5, 2, true, true, true, 4);
        check_groups(&one, (okra_pair_setting)setting);
        check_groups(&two, (okra_pair_setting)setting);
    }
}

TEST(scores_equal_double_loops)
{
    enum { MANY = 60 };
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        okra_random_ r = okra_random_create_(seed, 9);
        double y[MANY], f[MANY], w[MANY], good = 0, all = 0, sum = 0, total = 0;
        for (okra_int k = 0; k < MANY; k++) {
            y[k] = k == 4 ? (double)NAN : (double)okra_random_below_(&r, 9);
            f[k] = k == 7 ? (double)NAN : (double)okra_random_below_(&r, 12) + y[k];
            w[k] = okra_random_uniform_(&r);
        }
        for (okra_int k = 0; k < MANY; k++) {
            bool in = !isnan(y[k]) && !isnan(f[k]);
            sum += in ? w[k] * (y[k] - f[k]) * (y[k] - f[k]) : 0;
            total += in ? w[k] : 0;
            for (okra_int l = 0; l < MANY; l++) {
                if (in && !isnan(f[l]) && y[l] < y[k]) {
                    all++;
                    good += f[l] < f[k] ? 1 : f[l] == f[k] ? 0.5 : 0;
                }
            }
        }
        double error = 0, order = 0;
        CHECK_OK(okra_pair_score_(MANY, y, f, w, &error, &order));
        CHECK_NEAR(error, sum / total, 1e-12);
        CHECK_NEAR(order, good / all, 1e-14);
    }
}

MAIN(RUN(equals_the_dense_matrix_of_pairs), RUN(left_out_equals_refits),
     RUN(groups_equal_refits), RUN(scores_equal_double_loops))
