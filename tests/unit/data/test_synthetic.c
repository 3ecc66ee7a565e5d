/*
 * The synthetic tasks: what they promise of ranges and noise, and that a seed fixes them.
 */
#include "data/data.h"
#include "harness.h"
#include "okra/program.h"

typedef okra_status (*maker)(uint64_t seed, okra_int n, okra_data **x, okra_data **y);
static const maker makers[] = {okra_synthetic_patterns, okra_synthetic_s_shape};
enum { MAKERS = sizeof makers / sizeof *makers };

TEST(a_seed_fixes_the_numbers)
{
    for (int k = 0; k < MAKERS; k++) {
        okra_data *x = NULL, *y = NULL, *x2 = NULL, *y2 = NULL, *x3 = NULL, *y3 = NULL;
        CHECK_OK(makers[k](5, 20, &x, &y));
        CHECK_OK(makers[k](5, 10, &x2, &y2));
        CHECK_OK(makers[k](6, 20, &x3, &y3));
        size_t half = (size_t)(10 * x->d) * sizeof(double);
        CHECK(x->n == 20 && y->n == 20 && x->d == y->d && x2->n == 10);
        CHECK(memcmp(x->values, x2->values, half) == 0);
        CHECK(memcmp(y->values, y2->values, half) == 0);
        CHECK(memcmp(x->values, x3->values, half) != 0);
        CHECK(!x->borrowed && !y->borrowed);
        okra_data_free(x);
        okra_data_free(y);
        okra_data_free(x2);
        okra_data_free(y2);
        okra_data_free(x3);
        okra_data_free(y3);
    }
}

/* Neighbouring pixels differ little, across the cut too; values fill [-1, 1]. */
TEST(patterns_are_smooth)
{
    enum { COUNT = 200, SIDE = 16, HALF = 128 };
    okra_data *x = NULL, *y = NULL;
    CHECK_OK(okra_synthetic_patterns(1, COUNT, &x, &y));
    CHECK(x->d == HALF && y->d == HALF);
    double inside = 0, across = 0, low = 0, high = 0;
    for (int i = 0; i < COUNT; i++) {
        const double *u = x->values + i * HALF, *l = y->values + i * HALF;
        for (int j = 0; j < HALF; j++) {
            low = fmin(low, fmin(u[j], l[j]));
            high = fmax(high, fmax(u[j], l[j]));
            if (j >= SIDE) {
                inside += fabs(u[j] - u[j - SIDE]) / (COUNT * (HALF - SIDE));
            } else {
                across += fabs(l[j] - u[HALF - SIDE + j]) / (COUNT * SIDE);
            }
        }
    }
    CHECK(low >= -1 && high <= 1 && low < -0.9 && high > 0.9);
    CHECK(inside < 0.2 && across < 0.2); /* found: 0.14 and 0.16 */
    okra_data_free(x);
    okra_data_free(y);
}

/* The noise r - t - 0.3 sin(2 pi t) has mean 0 and deviation 0.05; t fills (0, 1). */
TEST(s_shape_is_a_curve_with_noise)
{
    enum { COUNT = 20000 };
    okra_data *x = NULL, *y = NULL;
    CHECK_OK(okra_synthetic_s_shape(2, COUNT, &x, &y));
    double sum = 0, squares = 0, mean_t = 0;
    for (int i = 0; i < COUNT; i++) {
        double t = y->values[i], e = x->values[i] - t - 0.3 * sin(2 * acos(-1.0) * t);
        CHECK(t >= 0 && t < 1);
        sum += e;
        squares += e * e;
        mean_t += t / COUNT;
    }
    /* five standard errors: 0.05/sqrt(n), 0.05/sqrt(2n), sqrt(1/12n) */
    CHECK_NEAR(sum / COUNT, 0, 5 * 0.05 / sqrt(COUNT));
    CHECK_NEAR(sqrt(squares / COUNT), 0.05, 5 * 0.05 / sqrt(2.0 * COUNT));
    CHECK_NEAR(mean_t, 0.5, 5 * sqrt(1 / (12.0 * COUNT)));
    okra_data_free(x);
    okra_data_free(y);
}

TEST(sizes_and_allocations)
{
    for (int k = 0; k < MAKERS; k++) {
        okra_data *x = NULL, *y = NULL;
        CHECK_OK(makers[k](1, 0, &x, &y));
        CHECK(x->n == 0 && y->n == 0);
        okra_data_free(x);
        okra_data_free(y);
        x = y = NULL;
        CHECK_FAILS(makers[k](1, -1, &x, &y), OKRA_ESHAPE, "negative");
        CHECK_FAILS(makers[k](1, INT64_MAX, &x, &y), OKRA_ESHAPE, "more than memory");
        CHECK(!x && !y);
        CHECK_ALLOCATIONS(makers[k](1, 3, &x, &y),
                          (okra_data_free(x), okra_data_free(y)));
    }
}

MAIN(RUN(a_seed_fixes_the_numbers), RUN(patterns_are_smooth),
     RUN(s_shape_is_a_curve_with_noise), RUN(sizes_and_allocations))
