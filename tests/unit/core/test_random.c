/* The random generator: known answers, bounds, moments, independence of streams. */
#include "harness.h"

/* The published outputs of xoshiro256** from the state {1, 2, 3, 4}. */
TEST(xoshiro_known_answers)
{
    static const uint64_t want[] = {11520u,
                                    0u,
                                    1509978240u,
                                    1215971899390074240u,
                                    1216172134540287360u,
                                    607988272756665600u,
                                    16172922978634559625u,
                                    8476171486693032832u,
                                    10595114339597558777u,
                                    2904607092377533576u};
    okra_random_ r = {.s = {1, 2, 3, 4}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        CHECK(okra_random_bits_(&r) == want[i]);
    }
}

/* The published outputs of splitmix64 from 1234567 and from 0 fill the state. */
TEST(splitmix_known_answers)
{
    okra_random_ r = okra_random_create_(1234567, 0);
    CHECK(r.s[0] == 6457827717110365317u);
    CHECK(r.s[1] == 3203168211198807973u);
    CHECK(r.s[2] == 9817491932198370423u);
    CHECK(r.s[3] == 4593380528125082431u);
    r = okra_random_create_(0, 0);
    CHECK(r.s[0] == 0xe220a8397b1dcdafu);
    CHECK(r.s[1] == 0x6e789e6aa1b965f4u);
    CHECK(r.s[2] == 0x06c45d188009454fu);
    CHECK(r.s[3] == 0xf88bb8a8724c81ecu);
}

TEST(same_seed_same_numbers_other_stream_others)
{
    okra_random_ a = okra_random_create_(5, 9), b = okra_random_create_(5, 9);
    okra_random_ c = okra_random_create_(5, 10), d = okra_random_create_(6, 9);
    int equal_c = 0, equal_d = 0;
    for (int i = 0; i < 1000; i++) {
        uint64_t x = okra_random_bits_(&a);
        CHECK(x == okra_random_bits_(&b));
        equal_c += x == okra_random_bits_(&c);
        equal_d += x == okra_random_bits_(&d);
    }
    CHECK(equal_c == 0 && equal_d == 0);
}

/* Neighbouring streams are uncorrelated: of 1e5 pairs, |r| < 4/sqrt(1e5). */
TEST(streams_are_uncorrelated)
{
    enum { N = 100000 };
    for (uint64_t stream = 0; stream < 4; stream++) {
        okra_random_ a = okra_random_create_(1, stream);
        okra_random_ b = okra_random_create_(1, stream + 1);
        double sum = 0;
        for (int i = 0; i < N; i++) {
            sum += (okra_random_uniform_(&a) - 0.5) * (okra_random_uniform_(&b) - 0.5);
        }
        CHECK_NEAR(12 * sum / N, 0, 4 / sqrt(N));
    }
}

TEST(uniform_is_in_range_with_the_right_moments)
{
    enum { N = 200000 };
    okra_random_ r = okra_random_create_(11, 0);
    double low = 1, high = 0, mean = 0, square = 0;
    for (int i = 0; i < N; i++) {
        double u = okra_random_uniform_(&r);
        low = fmin(low, u);
        high = fmax(high, u);
        mean += u / N;
        square += u * u / N;
    }
    CHECK(low >= 0 && high < 1 && low < 1e-4 && high > 1 - 1e-4);
    /* Four standard errors: sd(u) = 1/sqrt(12), sd(u^2) = sqrt(4/45). */
    CHECK_NEAR(mean, 0.5, 4 / sqrt(12.0 * N));
    CHECK_NEAR(square, 1.0 / 3, 4 * sqrt(4.0 / 45 / N));
}

TEST(below_is_unbiased_and_bounded)
{
    enum { N = 70000 };
    okra_random_ r = okra_random_create_(3, 0);
    CHECK(okra_random_below_(&r, 0) == 0);
    CHECK(okra_random_below_(&r, 1) == 0);
    double count[7] = {0};
    for (int i = 0; i < N; i++) {
        okra_int k = okra_random_below_(&r, 7);
        CHECK(k >= 0 && k < 7);
        count[k]++;
    }
    double chi = 0;
    for (int k = 0; k < 7; k++) {
        chi += pow(count[k] - N / 7.0, 2) / (N / 7.0);
    }
    CHECK(chi < 22.5); /* the 0.999 quantile of chi-square with 6 degrees */
    /* Of n = 3 * 2^61 a biased remainder would give the lower third twice as often. */
    okra_int n = (okra_int)3 << 61, low = 0;
    for (int i = 0; i < N; i++) {
        okra_int k = okra_random_below_(&r, n);
        CHECK(k >= 0 && k < n);
        low += k < n / 3;
    }
    CHECK_NEAR((double)low / N, 1.0 / 3, 4 * sqrt(2.0 / 9 / N));
    CHECK(okra_random_below_(&r, INT64_MAX) >= 0);
}

TEST(normal_has_the_right_moments)
{
    enum { N = 200000 };
    okra_random_ r = okra_random_create_(17, 0);
    double m[5] = {0}, lag = 0, last = 0;
    for (int i = 0; i < N; i++) {
        double x = okra_random_normal_(&r);
        CHECK(isfinite(x));
        for (int k = 1; k <= 4; k++) {
            m[k] += pow(x, k) / N;
        }
        lag += x * last / N;
        last = x;
    }
    /* Four standard errors; the variances of x^k are 1, 2, 15, 96. */
    CHECK_NEAR(m[1], 0, 4 / sqrt(N));
    CHECK_NEAR(m[2], 1, 4 * sqrt(2.0 / N));
    CHECK_NEAR(m[3], 0, 4 * sqrt(15.0 / N));
    CHECK_NEAR(m[4], 3, 4 * sqrt(96.0 / N));
    CHECK_NEAR(lag, 0, 4 / sqrt(N));
}

TEST(shuffle_gives_each_order_equally_often)
{
    enum { N = 60000 };
    okra_random_ r = okra_random_create_(23, 0);
    double count[27] = {0};
    for (int i = 0; i < N; i++) {
        okra_int items[3] = {0, 1, 2};
        okra_random_shuffle_(&r, 3, items);
        CHECK(items[0] + items[1] + items[2] == 3 && items[0] != items[1]);
        count[9 * items[0] + 3 * items[1] + items[2]]++;
    }
    double chi = 0;
    int orders = 0;
    for (int k = 0; k < 27; k++) {
        if (count[k] > 0) {
            orders++;
            chi += pow(count[k] - N / 6.0, 2) / (N / 6.0);
        }
    }
    CHECK(orders == 6);
    CHECK(chi < 20.6); /* the 0.999 quantile of chi-square with 5 degrees */
    okra_int one[1] = {9};
    okra_random_shuffle_(&r, 0, NULL);
    okra_random_shuffle_(&r, 1, one);
    CHECK(one[0] == 9);
}

MAIN(RUN(xoshiro_known_answers), RUN(splitmix_known_answers),
     RUN(same_seed_same_numbers_other_stream_others), RUN(streams_are_uncorrelated),
     RUN(uniform_is_in_range_with_the_right_moments), RUN(below_is_unbiased_and_bounded),
     RUN(normal_has_the_right_moments), RUN(shuffle_gives_each_order_equally_often))
