/* Which objects are the same, against a comparison of all pairs. */
#include "harness.h"
#include "okra/okra.h"
#include "okra/more/objects.h"

TEST(vectors_as_all_pairs_say)
{
    okra_random_ r = okra_random_create_(1, 0);
    for (int round = 0; round < 50; round++) {
        double y[30 * 2];
        okra_int index[30], count = -1, want = 0, n = okra_random_below_(&r, 31);
        okra_data *data = NULL;
        for (okra_int i = 0; i < 2 * n; i++) {
            y[i] = okra_random_below_(&r, 3) ? (double)okra_random_below_(&r, 2) : -0.0;
        }
        CHECK_OK(okra_data_dense(y, n, 2, 2, &data));
        CHECK_OK(okra_data_distinct(data, index, &count));
        for (okra_int i = 0; i < n; i++) {
            bool seen = false;
            for (okra_int j = 0; j < i; j++) {
                seen = seen || (y[2 * i] == y[2 * j] && y[2 * i + 1] == y[2 * j + 1]);
            }
            if (!seen) {
                CHECK(want < count && index[want] == i);
                want++;
            }
        }
        CHECK(count == want);
        okra_data_free(data);
    }
}

TEST(strings_and_names)
{
    const char *texts[] = {"ab", "a", "ab", "", "b", ""};
    const char *one[] = {"no", "yes", "no"}; /* two codes, one name */
    const okra_int codes[] = {2, 0, 1, 0};
    okra_int index[6], count = 0;
    okra_data *data = NULL;
    CHECK_OK(okra_data_strings(texts, 6, &data));
    CHECK_OK(okra_data_distinct(data, index, &count));
    CHECK(count == 4 && index[0] == 0 && index[1] == 1 && index[2] == 3 && index[3] == 4);
    okra_data_free(data);
    CHECK_OK(okra_data_labels(codes, 4, one, 3, &data));
    CHECK_OK(okra_data_distinct(data, index, &count));
    CHECK(count == 2 && index[0] == 0 && index[1] == 2);
    CHECK_FAILS(okra_data_distinct(NULL, index, &count), OKRA_EARG, "NULL");
    CHECK_ALLOCATIONS(okra_data_distinct(data, index, &count), (void)0);
    okra_data_free(data);
}

TEST(matches_are_the_first_that_are_the_same)
{
    const char *a[] = {"x", "y", "x", "z"}, *b[] = {"z", "w", "x"};
    okra_int index[3];
    okra_data *p = NULL, *q = NULL;
    CHECK_OK(okra_data_strings(a, 4, &p));
    CHECK_OK(okra_data_strings(b, 3, &q));
    CHECK_OK(okra_data_match(q, p, index));
    CHECK(index[0] == 3 && index[1] == -1 && index[2] == 0);
    CHECK_FAILS(okra_data_match(q, NULL, index), OKRA_EARG, "NULL");
    CHECK_ALLOCATIONS(okra_data_match(q, p, index), (void)0);
    okra_data_free(p);
    okra_data_free(q);
}

MAIN(RUN(matches_are_the_first_that_are_the_same), RUN(vectors_as_all_pairs_say),
     RUN(strings_and_names))
