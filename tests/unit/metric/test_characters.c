/*
 * Metrics of strings against values by hand and a recursive edit distance.
 */
#include "harness.h"
#include "okra/metric.h"

static double score(const char *spec, const char *const *truth, const char *const *found,
                    okra_int n)
{
    okra_data *y = NULL, *z = NULL;
    double value = NAN;
    CHECK_OK(okra_data_strings(truth, n, &y));
    CHECK_OK(okra_data_strings(found, n, &z));
    CHECK_OK(okra_score(NULL, spec, y, z, &value, NULL, NULL));
    okra_data_free(y);
    okra_data_free(z);
    return value;
}

TEST(characters_by_hand)
{
    static const char *const y[] = {"abc", "zebra", "", "q"};
    static const char *const z[] = {"abd", "zeb", "x", "qq"};
    CHECK_NEAR(score("characters", y, z, 4), 6.0 / 9, 1e-15);
    CHECK(score("characters", y + 2, z + 2, 1) == 1);
    CHECK_NEAR(score("edit", y, z, 4), (1 + 2 + 1 + 1) / 4.0, 1e-15);
}

static int slow(const char *a, const char *b)
{
    if (!*a || !*b) {
        return (int)(strlen(a) + strlen(b));
    }
    int best = slow(a + 1, b + 1) + (*a != *b), drop = 1 + slow(a + 1, b),
        add = 1 + slow(a, b + 1);
    best = best < drop ? best : drop;
    return best < add ? best : add;
}

TEST(edit_equals_recursion)
{
    okra_random_ r = okra_random_create_(1, 1);
    for (int c = 0; c < 200; c++) {
        char a[8], b[8];
        int n = (int)okra_random_below_(&r, 7), m = (int)okra_random_below_(&r, 7);
        for (int i = 0; i < 7; i++) {
            a[i] = (char)('a' + okra_random_below_(&r, 3));
            b[i] = (char)('a' + okra_random_below_(&r, 3));
        }
        a[n] = b[m] = '\0';
        const char *const y[] = {a}, *const z[] = {b};
        CHECK(score("edit", y, z, 1) == slow(a, b));
    }
}

TEST(only_strings)
{
    double x[] = {1, 2}, value = 0;
    okra_data *a = NULL;
    CHECK_OK(okra_data_dense(x, 2, 1, 1, &a));
    CHECK_FAILS(okra_score(NULL, "edit", a, a, &value, NULL, NULL), OKRA_EUNSUPPORTED,
                "metric edit: the truth is 2 dense vectors");
    okra_data_free(a);
}

MAIN(RUN(characters_by_hand), RUN(edit_equals_recursion), RUN(only_strings))
