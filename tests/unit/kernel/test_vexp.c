/*
 * The vectorised exponential against long double expl, in units of the last place.
 */
#include "harness.h"
#include "kernel/kernel.h"

#include <float.h>

/* |got - exp(x)| in ulp of the true value (of DBL_MIN's place below it). */
static double ulps(double x, double got)
{
    long double want = expl((long double)x);
    int exponent;
    (void)frexpl(want, &exponent);
    exponent = OKRA_MAX_(exponent, DBL_MIN_EXP);
    return (double)(fabsl((long double)got - want) / ldexpl(1, exponent - DBL_MANT_DIG));
}

/* Worst measured over 10^7 arguments: see vexp.c; the promise is 2. */
TEST(accuracy)
{
    enum { N = 1000 };
    okra_random_ r = okra_random_create_(1, 0);
    double x[N], y[N], worst = 0;
    for (int round = 0; round < 200; round++) {
        double width = round % 2 ? 745 : 1;
        for (int i = 0; i < N; i++) {
            x[i] = width * (2 * okra_random_uniform_(&r) - 1);
            x[i] = x[i] > 709 ? 709 : x[i];
        }
        memcpy(y, x, sizeof y);
        okra_vexp_(N, y);
        for (int i = 0; i < N; i++) {
            worst = fmax(worst, ulps(x[i], y[i]));
        }
    }
    CHECK_NEAR(worst, 0, 1.5);
}

TEST(special_values)
{
    double x[] = {0,     -0.0, -INFINITY, INFINITY, NAN, -1e300,
                  1e300, -746, -745,      709.78,   710};
    okra_vexp_(sizeof x / sizeof *x, x);
    CHECK(x[0] == 1 && x[1] == 1);
    CHECK(x[2] == 0 && !signbit(x[2]));
    CHECK(isinf(x[3]) && x[3] > 0);
    CHECK(isnan(x[4]));
    CHECK(x[5] == 0);
    CHECK(isinf(x[6]));
    CHECK(x[7] == 0);
    CHECK(x[8] == exp(-745.0)); /* subnormal: the smallest double */
    CHECK(isfinite(x[9]));
    CHECK(isinf(x[10]));
    okra_vexp_(0, NULL);
}

/* A value does not depend on its place in the row. */
TEST(same_in_every_lane)
{
    double x[67];
    for (int i = 0; i < 67; i++) {
        x[i] = -1.2345;
    }
    okra_vexp_(67, x);
    for (int i = 1; i < 67; i++) {
        CHECK(x[i] == x[0]);
    }
}

MAIN(RUN(accuracy), RUN(special_values), RUN(same_in_every_lane))
