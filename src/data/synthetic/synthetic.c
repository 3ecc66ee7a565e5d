/*
 * synthetic.c: two small tasks that need no files.
 *
 * Patterns: a wave sin(2 pi (f (u cos a + v sin a + c (u cos a + v sin a)^2) + p)) on the
 * square [-1/2, 1/2]^2, of random direction a, frequency f, curvature c and phase p,
 * under a soft window of random centre, plus a little noise; cut to [-1, 1]. Its upper
 * half tells direction, frequency and phase, and so the lower half, up to the noise.
 *
 * S-shape (Tonde and Elgammal sec. 6.1): t ~ U(0,1), r = t + 0.3 sin(2 pi t) + N(0,
 * 0.05^2); t is to be found from r.
 */
#include "data/data.h"
#include "okra/program.h"

enum { SIDE = 16, HALF = SIDE * SIDE / 2 };
static const double PI = 3.14159265358979323846;

/* Streams of the seed, one a task. */
enum { STREAM_PATTERNS = 101, STREAM_S_SHAPE = 102 };

static double between(okra_random_ *r, double low, double high)
{
    return low + (high - low) * okra_random_uniform_(r);
}

static void pattern(okra_random_ *r, double *upper, double *lower)
{
    double a = between(r, 0, 2 * PI), f = between(r, 0.7, 1.6), p = between(r, 0, 1);
    double c = between(r, -0.4, 0.4), cu = between(r, -0.15, 0.15);
    double cv = between(r, -0.15, 0.15);
    for (int i = 0; i < SIDE * SIDE; i++) {
        int row = i / SIDE, col = i % SIDE;
        double u = (col + 0.5) / SIDE - 0.5, v = (double)row / SIDE - 0.5;
        double t = u * cos(a) + v * sin(a);
        double wave = sin(2 * PI * (f * (t + c * t * t) + p));
        double window = exp(-2 * ((u - cu) * (u - cu) + (v - cv) * (v - cv)));
        double value = window * wave + 0.03 * okra_random_normal_(r);
        double *half = i < HALF ? upper + i : lower + i - HALF;
        *half = fmax(-1, fmin(1, value));
    }
}

/* Two owning collections of n rows from two blocks, which are taken over in any case. */
static okra_status wrap(double *a, double *b, okra_int n, okra_int d, const char *source,
                        okra_data **x, okra_data **y)
{
    OWNED double *left_a = a, *left_b = b;
    FREED_BY(okra_data_drop_) okra_data *first = NULL;
    CHK(okra_data_adopt_dense_(&left_a, n, d, source, &first));
    CHK(okra_data_adopt_dense_(&left_b, n, d, source, y));
    *x = TAKE(first);
    return OKRA_OK;
}

static okra_status blocks(okra_int n, okra_int d, double **a, double **b)
{
    okra_int area = 0;
    OWNED double *first = NULL;
    CHK(okra_area_(n, d, sizeof **a, &area));
    MAKE(first, area);
    MAKE(*b, area);
    *a = TAKE(first);
    return OKRA_OK;
}

okra_status okra_synthetic_patterns(uint64_t seed, okra_int n, okra_data **x,
                                    okra_data **y)
{
    NOT_NULL(x, y);
    double *upper, *lower;
    CHK(blocks(n, HALF, &upper, &lower));
    okra_random_ r = okra_random_create_(seed, STREAM_PATTERNS);
    for (okra_int i = 0; i < n; i++) {
        pattern(&r, upper + i * HALF, lower + i * HALF);
    }
    return wrap(upper, lower, n, HALF, "synthetic patterns", x, y);
}

okra_status okra_synthetic_s_shape(uint64_t seed, okra_int n, okra_data **x,
                                   okra_data **y)
{
    NOT_NULL(x, y);
    double *observed, *hidden;
    CHK(blocks(n, 1, &observed, &hidden));
    okra_random_ r = okra_random_create_(seed, STREAM_S_SHAPE);
    for (okra_int i = 0; i < n; i++) {
        hidden[i] = okra_random_uniform_(&r);
        observed[i] =
            hidden[i] + 0.3 * sin(2 * PI * hidden[i]) + 0.05 * okra_random_normal_(&r);
    }
    return wrap(observed, hidden, n, 1, "synthetic S-shape", x, y);
}
