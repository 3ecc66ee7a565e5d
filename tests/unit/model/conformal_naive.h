/* conformal_naive.h: conformal prediction by refitting, straight from its definition. */
#ifndef OKRA_TEST_CONFORMAL_NAIVE_H
#define OKRA_TEST_CONFORMAL_NAIVE_H

#include "harness.h"
#include "okra/okra.h"

enum { MOST = 16, P = 2, D = 2 };

/* Training pairs, test inputs and candidates; gamma_x and gamma_y of rbf kernels, gamma_y
 * 0: linear outputs; center: of outputs. */
typedef struct task {
    int n, tests, count;
    double x[MOST * P], y[MOST * D], t[MOST * P], c[MOST * D];
    double gamma_x, gamma_y, lambda;
    bool center;
} task;

static inline void task_make(uint64_t seed, bool repeated, task *k)
{
    okra_random_ r = okra_random_create_(seed, 3);
    k->n = 2 + (int)okra_random_below_(&r, 8);
    k->tests = 3;
    k->count = 4;
    harness_normals(&r, MOST * P, k->x);
    harness_normals(&r, MOST * D, k->y);
    harness_normals(&r, MOST * P, k->t);
    harness_normals(&r, MOST * D, k->c);
    if (repeated) { /* equal pairs, a test input that is a training input, a known output
                     */
        memcpy(k->x + P, k->x, P * sizeof *k->x);
        memcpy(k->y + D, k->y, D * sizeof *k->y);
        memcpy(k->t, k->x, P * sizeof *k->x);
        memcpy(k->c, k->y, D * sizeof *k->y);
    }
    k->gamma_x = 0.3 + okra_random_uniform_(&r);
    k->gamma_y = okra_random_below_(&r, 2) ? 0.5 : 0;
    k->lambda = pow(10, -2 + 3 * okra_random_uniform_(&r));
    k->center = okra_random_below_(&r, 2) == 1;
    if (k->center && okra_random_below_(&r, 3) == 0) { /* outputs far from 0 */
        for (int i = 0; i < MOST * D; i++) {
            k->y[i] += 20;
            k->c[i] += 20;
        }
    }
}

static inline double naive_k(double gamma, int width, const double *a, const double *b)
{
    double dot = 0, d2 = 0;
    for (int j = 0; j < width; j++) {
        dot += a[j] * b[j];
        d2 += (a[j] - b[j]) * (a[j] - b[j]);
    }
    return gamma > 0 ? exp(-gamma * d2) : dot;
}

/* Solves A w = b of size n by elimination with pivots, in long double. */
static inline void naive_solve(int n, const double *A, const double *b, double *w)
{
    static long double M[MOST * (MOST + 1)];
    int W = n + 1;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            M[i * W + j] = A[i * n + j];
        }
        M[i * W + n] = b[i];
    }
    for (int c = 0; c < n; c++) {
        int p = c;
        for (int i = c; i < n; i++) {
            p = fabsl(M[i * W + c]) > fabsl(M[p * W + c]) ? i : p;
        }
        for (int j = 0; j <= n; j++) {
            long double v = M[c * W + j];
            M[c * W + j] = M[p * W + j];
            M[p * W + j] = v;
        }
        for (int i = 0; i < n; i++) {
            long double f = i == c ? 0 : M[i * W + c] / M[c * W + c];
            for (int j = c; j <= n; j++) {
                M[i * W + j] -= f * M[c * W + j];
            }
        }
    }
    for (int i = 0; i < n; i++) {
        w[i] = (double)(M[i * W + n] / M[i * W + i]);
    }
}

/* Weights of the outputs; centred, what they lack of 1 goes to the mean. */
static inline void naive_weights(const task *k, int n, const double *K, const double *kx,
                                 double *w)
{
    double sum = 0;
    naive_solve(n, K, kx, w);
    for (int i = 0; i < n; i++) {
        sum += w[i];
    }
    for (int i = 0; k->center && i < n; i++) {
        w[i] += (1 - sum) / n;
    }
}

/* The output kernel. Centred, weights sum to 1, and vectors may be counted from any
 * origin: from one of them, so that little is lost to rounding. */
static inline double naive_l(const task *k, const double *origin, const double *a,
                             const double *b)
{
    double u[D], v[D];
    bool move = k->center && k->gamma_y == 0;
    for (int j = 0; j < D; j++) {
        u[j] = a[j] - (move ? origin[j] : 0);
        v[j] = b[j] - (move ? origin[j] : 0);
    }
    return naive_k(k->gamma_y, D, u, v);
}

/* Ridge on n pairs, predicted at `at`: the squared distance of `truth` to the prediction
 * in feature space, and the predictive variance with noise. */
static inline double naive_distance(const task *k, int n, const double *x,
                                    const double *y, const double *at,
                                    const double *truth, double *variance)
{
    double K[MOST * MOST] = {0}, kx[MOST] = {0}, w[MOST] = {0};
    *variance = naive_k(k->gamma_x, P, at, at) + k->lambda;
    double d = naive_l(k, y, truth, truth);
    for (int i = 0; i < n; i++) {
        kx[i] = naive_k(k->gamma_x, P, x + i * P, at);
        for (int j = 0; j < n; j++) {
            K[i * n + j] =
                naive_k(k->gamma_x, P, x + i * P, x + j * P) + (i == j) * k->lambda;
        }
    }
    naive_solve(n, K, kx, w);
    for (int i = 0; i < n; i++) {
        *variance -= w[i] * kx[i];
    }
    naive_weights(k, n, K, kx, w);
    for (int i = 0; i < n; i++) {
        d -= 2 * w[i] * naive_l(k, y, y + i * D, truth);
        for (int j = 0; j < n; j++) {
            d += w[i] * w[j] * naive_l(k, y, y + i * D, y + j * D);
        }
    }
    return d;
}

/* Pairs without those that `drop` marks. */
static inline int naive_without(int n, const double *x, const double *y, const bool *drop,
                                double *ax, double *ay)
{
    int m = 0;
    for (int i = 0; i < n; i++) {
        if (!drop[i]) {
            memcpy(ax + m * P, x + i * P, P * sizeof *x);
            memcpy(ay + m++ * D, y + i * D, D * sizeof *y);
        }
    }
    return m;
}

static inline double naive_out(const task *k, int n, const double *x, const double *y,
                               const bool *drop, const double *at, const double *truth,
                               bool normalized)
{
    double ax[MOST * P], ay[MOST * D], variance;
    int m = naive_without(n, x, y, drop, ax, ay);
    double d = naive_distance(k, m, ax, ay, at, truth, &variance);
    return normalized ? d / variance : d;
}

/* The score of pair i among n pairs, as full conformal prediction has it. */
static inline double naive_score(const task *k, int n, const double *x, const double *y,
                                 int i, const char *score)
{
    double variance;
    bool drop[MOST] = {false};
    if (strcmp(score, "residual") == 0) {
        return naive_distance(k, n, x, y, x + i * P, y + i * D, &variance);
    }
    drop[i] = true;
    return naive_out(k, n, x, y, drop, x + i * P, y + i * D,
                     strcmp(score, "normalized") == 0);
}

/* Distances are differences of numbers up to 1000: equal ones may differ by 1e-12. */
static double naive_slack = 1e-11;

static inline bool naive_least(double a, double b)
{
    return a >= b - 1e-9 * fabs(b) - naive_slack;
}

static inline okra_model *task_fit(const task *k)
{
    okra_data *x = NULL, *y = NULL;
    okra_model *model = NULL;
    okra_options *o = NULL;
    char text[64];
    CHECK_OK(okra_data_dense(k->x, k->n, P, P, &x));
    CHECK_OK(okra_data_dense(k->y, k->n, D, D, &y));
    CHECK_OK(okra_fit_options(&o));
    snprintf(text, sizeof text, "rbf(gamma=%.17g)", k->gamma_x);
    CHECK_OK(okra_options_set(o, "kx", text));
    snprintf(text, sizeof text, "rbf(gamma=%.17g)", k->gamma_y);
    CHECK_OK(okra_options_set(o, "ky", k->gamma_y > 0 ? text : "linear"));
    snprintf(text, sizeof text, "%.17g", k->lambda);
    CHECK_OK(okra_options_set(o, "lambda", text));
    CHECK_OK(okra_options_set(o, "center-output", k->center ? "yes" : "no"));
    CHECK_OK(okra_fit(NULL, x, y, o, &model));
    okra_options_free(o);
    okra_data_free(x);
    okra_data_free(y);
    return model;
}

#endif
