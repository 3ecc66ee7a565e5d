/*
 * Weights of pairs that are no whole numbers, against the systems written out.
 */
#include "eliminate.h"
#include "harness.h"
#include "pairs.h"

#include <math.h>

/* ---- fractions: (K + lambda W^-1) C = Y by elimination ---- */

static double rbf(const double *a, const double *b)
{
    double d = 0;
    for (int j = 0; j < P; j++) {
        d += (a[j] - b[j]) * (a[j] - b[j]);
    }
    return exp(-d / 2);
}

static void naive(const pairs *p, const double *weights, double lambda, double *h)
{
    double A[N * (N + D)];
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            A[i * (N + D) + j] =
                rbf(p->x + i * LDX, p->x + j * LDX) + (i == j ? lambda / weights[i] : 0);
        }
        for (int j = 0; j < D; j++) {
            A[i * (N + D) + N + j] = p->y[i * D + j];
        }
    }
    for (int k = 0; k < N; k++) { /* positive definite: no pivots */
        for (int i = 0; i < N; i++) {
            double f = i == k ? 0 : A[i * (N + D) + k] / A[k * (N + D) + k];
            for (int j = k; j < N + D; j++) {
                A[i * (N + D) + j] -= f * A[k * (N + D) + j];
            }
        }
    }
    for (int t = 0; t < M; t++) {
        for (int j = 0; j < D; j++) {
            h[t * D + j] = 0;
            for (int i = 0; i < N; i++) {
                h[t * D + j] += rbf(p->t + t * P, p->x + i * LDX) *
                                A[i * (N + D) + N + j] / A[i * (N + D) + i];
            }
        }
    }
}

static void check_fractions(const pairs *p, const double *weights, double tolerance)
{
    double want[M * D] = {0};
    okra_int rows = 0, cols = 0;
    naive(p, weights, 0.1, want);
    okra_data *y = pairs_weigh(p->train_y, weights);
    okra_model *model = pairs_fit(p->train_x, y, "kx=rbf(sigma=1) lambda=0.1");
    okra_prediction *q = pairs_predict(model, p->test_x, "decode=none", false, true);
    const double *got = okra_prediction_embedding(q, &rows, &cols);
    CHECK(rows == M && cols == D);
    CHECK_NEAR(harness_relative(M * D, got, want), 0, tolerance);
    okra_prediction_free(q);
    okra_model_free(model);
    okra_data_free(y);
}

TEST(fractions_equal_the_system)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        double weights[N] = {0};
        pairs p;
        okra_random_ r = okra_random_create_(seed, 3);
        pairs_make(seed, &p);
        for (int i = 0; i < N; i++) {
            weights[i] = 0.01 + okra_random_uniform_(&r);
        }
        check_fractions(&p, weights, 1e-12); /* worst 6e-14 */
        for (int i = 0; i < N; i++) {        /* all weight on one pair, nearly */
            weights[i] = i == 4 ? 1e6 : 1e-6;
        }
        check_fractions(&p, weights, 1e-9); /* worst 8e-11: K + lambda W^-1 itself */
        pairs_free(&p);
    }
}

/* ---- unlabelled inputs: (lambda I + P K) C = J'W Y, P = J'WJ + 2 lambda_2 M ---- */

enum { ALL = N + M };

static const double *input(const pairs *p, int i)
{
    return i < N ? p->x + i * LDX : p->t + (i - N) * P;
}

static void naive_semi(const pairs *p, const double *weights, double lambda,
                       double lambda2, double *h)
{
    static double K[ALL * ALL], A[ALL * ALL], C[ALL * D];
    memset(C, 0, sizeof C);
    for (int i = 0; i < ALL * ALL; i++) {
        K[i] = rbf(input(p, i / ALL), input(p, i % ALL));
    }
    for (int i = 0; i < ALL; i++) {
        double degree = 0;
        for (int j = 0; j < ALL; j++) {
            degree += K[i * ALL + j];
        }
        for (int j = 0; j < ALL; j++) { /* row i of lambda I + P K */
            double sum = i < N ? weights[i] * K[i * ALL + j] : 0;
            for (int k = 0; k < ALL; k++) {
                double m = (i == k ? degree : 0) - K[i * ALL + k];
                sum += 2 * lambda2 * m * K[k * ALL + j];
            }
            A[i * ALL + j] = sum + (i == j ? lambda : 0);
        }
        for (int j = 0; i < N && j < D; j++) {
            C[i * D + j] = weights[i] * p->y[i * D + j];
        }
    }
    eliminate(ALL, A, D, C);
    for (int t = 0; t < M * D; t++) {
        h[t] = 0;
        for (int i = 0; i < ALL; i++) {
            h[t] += K[(N + t / D) * ALL + i] * C[i * D + t % D];
        }
    }
}

TEST(the_graph_holds_each_input_once)
{
    for (uint64_t seed = 0; seed < 10; seed++) {
        double weights[N] = {0}, want[M * D] = {0};
        okra_int rows = 0, cols = 0;
        pairs p;
        okra_data *x = NULL;
        okra_random_ r = okra_random_create_(seed, 13);
        pairs_make(seed, &p);
        for (int i = 0; i < N; i++) {
            weights[i] = 0.1 + 3 * okra_random_uniform_(&r);
        }
        naive_semi(&p, weights, 0.1, 0.05, want);
        okra_data *y = pairs_weigh(p.train_y, weights);
        CHECK_OK(okra_data_concat(p.train_x, p.test_x, &x));
        okra_model *model = pairs_fit(x, y, "kx=rbf(sigma=1) lambda=0.1 lambda2=0.05");
        okra_prediction *q = pairs_predict(model, p.test_x, "decode=none", false, true);
        const double *got = okra_prediction_embedding(q, &rows, &cols);
        CHECK_NEAR(harness_relative(M * D, got, want), 0, 1e-10);
        okra_prediction_free(q);
        okra_model_free(model);
        okra_data_free(x);
        okra_data_free(y);
        pairs_free(&p);
    }
}

MAIN(RUN(fractions_equal_the_system), RUN(the_graph_holds_each_input_once))
