/*
 * space.h: a small output space for the tests of decoders and losses, and its squared
 * distances written out one by one.
 */
#ifndef OKRA_TEST_SPACE_H
#define OKRA_TEST_SPACE_H

#include "decode/decode.h"
#include "harness.h"

enum { WIDTH = 3, MOST = 1200, TESTS = 11 };

/* n training outputs, c candidates, TESTS predictions by weights */
typedef struct space {
    const char *text;
    okra_int n, c;
    double Y[MOST * WIDTH], C[MOST * WIDTH], W[TESTS * MOST];
    okra_kernel *kernel;
    okra_data *y, *candidates;
    okra_trained_kernel_ *bound;
    okra_output_ output;
} space;

static inline void space_open(space *s, const char *text, okra_int n, okra_int c,
                              uint64_t seed)
{
    okra_random_ r = okra_random_create_(seed, 0);
    *s = (space){.text = text, .n = n, .c = c};
    harness_normals(&r, n * WIDTH, s->Y);
    harness_normals(&r, c * WIDTH, s->C);
    harness_normals(&r, TESTS * n, s->W);
    for (okra_int i = 0; i < TESTS * n; i++) {
        s->W[i] /= (double)n;
    }
    CHECK_OK(okra_kernel_parse(text, &s->kernel));
    CHECK_OK(okra_data_dense(s->Y, n, WIDTH, WIDTH, &s->y));
    CHECK_OK(okra_data_dense(s->C, c, WIDTH, WIDTH, &s->candidates));
    CHECK_OK(okra_trained_kernel_create_(NULL, s->kernel, s->y, &s->bound));
    s->output = (okra_output_){.y = s->y, .ky = s->bound, .feature_scale = 1};
    if (okra_kernel_is_linear_(s->kernel, &s->output.feature_scale)) {
        s->output.features = s->Y;
        s->output.d = s->output.features_ld = WIDTH;
    }
}

/* All objects become one, weights sum to 1: every prediction is that object, and every
 * distance 0 up to rounding. */
static inline void space_collapse(space *s)
{
    for (okra_int i = 0; i < s->n; i++) {
        memcpy(s->Y + i * WIDTH, s->Y, sizeof(double) * WIDTH);
    }
    for (okra_int i = 0; i < s->c; i++) {
        memcpy(s->C + i * WIDTH, s->Y, sizeof(double) * WIDTH);
    }
    for (okra_int t = 0; t < TESTS; t++) {
        double sum = 0, *w = s->W + t * s->n;
        for (okra_int i = 0; i < s->n; i++) {
            w[i] = fabs(w[i]);
            sum += w[i];
        }
        for (okra_int i = 0; i < s->n; i++) {
            w[i] /= sum;
        }
    }
    okra_trained_kernel_free_(
        s->bound); /* it may hold statistics of the former outputs */
    CHECK_OK(okra_trained_kernel_create_(NULL, s->kernel, s->y, &s->bound));
    s->output.ky = s->bound;
}

static inline void space_close(space *s)
{
    okra_trained_kernel_free_(s->bound);
    okra_data_free(s->y);
    okra_data_free(s->candidates);
    okra_kernel_free(s->kernel);
}

/* The kernels of these tests, by their definitions. */
static inline double value_of(const space *s, const double *a, const double *b)
{
    double dot = 0, d2 = 0;
    for (int j = 0; j < WIDTH; j++) {
        dot += a[j] * b[j];
        d2 += (a[j] - b[j]) * (a[j] - b[j]);
    }
    return strstr(s->text, "rbf")    ? exp(-0.3 * d2)
           : strstr(s->text, "0.5")  ? 0.5 * dot
           : strstr(s->text, "poly") ? dot * dot
                                     : dot;
}

/* |phi(y) - sum_i w_i phi(y_i)|^2 of test point t, term by term; the sum of n^2 terms is
 * taken in long double, so that it is the reference and not the error. */
static inline double distance_of(const space *s, okra_int t, const double *y)
{
    const double *w = s->W + t * s->n;
    long double sum = value_of(s, y, y);
    for (okra_int i = 0; i < s->n; i++) {
        sum -= 2 * (long double)w[i] * value_of(s, s->Y + i * WIDTH, y);
        for (okra_int j = 0; j < s->n; j++) {
            sum += (long double)w[i] * w[j] *
                   value_of(s, s->Y + i * WIDTH, s->Y + j * WIDTH);
        }
    }
    return (double)sum;
}

/* Test points first..first+m-1 as weights, or explicitly (h = Y'w) in `H`. */
static inline okra_block_ block_of(space *s, okra_int first, okra_int m, double *H)
{
    okra_block_ b = {.first = first, .m = m};
    if (!H) {
        b.W = okra_mat_of_(s->W + first * s->n, m, s->n);
        return b;
    }
    for (okra_int r = 0; r < m; r++) {
        for (int j = 0; j < WIDTH; j++) {
            H[r * WIDTH + j] = 0;
            for (okra_int i = 0; i < s->n; i++) {
                H[r * WIDTH + j] += s->W[(first + r) * s->n + i] * s->Y[i * WIDTH + j];
            }
        }
    }
    b.H = okra_mat_of_(H, m, WIDTH);
    return b;
}

#endif
