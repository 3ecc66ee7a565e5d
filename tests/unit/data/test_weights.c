/* Weights of objects: kept, chosen, put together, balanced, refused. */
#include "data/data.h"
#include "harness.h"
#include "okra/more/objects.h"

#include <math.h>

static okra_data *dense(const double *values, okra_int n)
{
    okra_data *out = NULL;
    CHECK_OK(okra_data_dense(values, n, 1, 1, &out));
    return out;
}

TEST(weights_go_along)
{
    double values[4] = {1, 2, 3, 4}, weights[4] = {0.5, 0, 2, 1e300};
    okra_int index[3] = {3, 0, 3};
    okra_data *plain = dense(values, 4), *with = NULL, *some = NULL, *both = NULL,
              *copy = NULL, *none = NULL;
    CHECK(!okra_data_weights(plain) && !okra_data_weights(NULL));
    CHECK_OK(okra_data_weigh(plain, weights, 4, &with));
    okra_data_free(plain); /* it lives on within */
    weights[0] = 7;        /* copied */
    CHECK(okra_data_weights(with)[0] == 0.5 && okra_data_count(with) == 4);
    CHECK(okra_data_values(with, NULL)[2] == 3);
    CHECK_OK(okra_data_take(with, index, 3, &some));
    CHECK(okra_data_weights(some)[0] == 1e300 && okra_data_weights(some)[1] == 0.5);
    CHECK_OK(okra_data_copy(with, &copy));
    CHECK(okra_data_weights(copy)[2] == 2);
    CHECK_OK(okra_data_weigh(with, NULL, 0, &none));
    CHECK(!okra_data_weights(none));
    CHECK_OK(okra_data_concat(none, with, &both));
    CHECK(okra_data_weights(both)[3] == 1 && okra_data_weights(both)[4] == 0.5);
    CHECK(okra_data_mix_(OKRA_MIX_START_, with) != okra_data_mix_(OKRA_MIX_START_, none));
    okra_data *all[] = {with, some, copy, none, both};
    for (int i = 0; i < 5; i++) {
        okra_data_free(all[i]);
    }
}

TEST(bad_weights_are_refused)
{
    double values[3] = {1, 2, 3}, zeros[3] = {0, 0, 0};
    static const double bad[] = {-1e-300, NAN, INFINITY, -INFINITY};
    okra_data *plain = dense(values, 3), *with = NULL;
    CHECK_FAILS(okra_data_weigh(plain, zeros, 2, &with), OKRA_ESHAPE,
                "there are 2 weights and 3 objects in memory");
    CHECK_FAILS(okra_data_weigh(plain, zeros, 3, &with), OKRA_EARG,
                "the weights of memory sum to 0, expected more than 0");
    for (int i = 0; i < 4; i++) {
        double weights[3] = {1, 1, bad[i]};
        CHECK_FAILS(okra_data_weigh(plain, weights, 3, &with), OKRA_EARG,
                    "weight 2 (counted from 0) is");
    }
    double huge[3] = {1e308, 1e308, 1e308};
    CHECK_FAILS(okra_data_weigh(plain, huge, 3, &with), OKRA_EARG, "sum to inf");
    okra_data_free(plain);
}

TEST(classes_are_balanced)
{
    okra_int codes[5] = {0, 2, 2, 2, 0};
    double weights[5] = {0}, values[1] = {1};
    okra_data *labels = NULL, *heavy = NULL, *numbers = dense(values, 1);
    CHECK_OK(okra_data_labels(codes, 5, NULL, 4, &labels));
    CHECK_OK(okra_data_balanced(labels, weights)); /* classes 1 and 3 do not occur */
    CHECK_NEAR(weights[0], 5.0 / 4, 1e-15);
    CHECK_NEAR(weights[1], 5.0 / 6, 1e-15);
    const double some[5] = {2, 0, 0, 3, 0}; /* as the same five with copies */
    CHECK_OK(okra_data_weigh(labels, some, 5, &heavy));
    CHECK_OK(okra_data_balanced(heavy, weights));
    CHECK_NEAR(weights[0], 5.0 / 4, 1e-15);
    CHECK_NEAR(weights[3], 5.0 / 6, 1e-15);
    const double first[5] = {1, 0, 0, 0, 1}; /* class 2 does not occur any more */
    okra_data_free(heavy);
    CHECK_OK(okra_data_weigh(labels, first, 5, &heavy));
    CHECK_OK(okra_data_balanced(heavy, weights));
    CHECK_NEAR(weights[0], 1, 0);
    CHECK_NEAR(weights[2], 0, 0);
    okra_data_free(heavy);
    CHECK_FAILS(okra_data_balanced(numbers, weights), OKRA_EUNSUPPORTED,
                "classes are balanced where the outputs are labels; memory has 1 dense "
                "vector of length 1");
    okra_data_free(labels);
    okra_data_free(numbers);
}

static okra_status drop(const okra_data *x, const okra_data *y)
{
    okra_data *a = NULL, *b = NULL;
    okra_status st = okra_weights_drop_(x, y, &a, &b);
    okra_data_free(a);
    okra_data_free(b);
    return st;
}

TEST(weightless_pairs_are_dropped)
{
    double x_values[5] = {1, 2, 3, 4, 5}, y_values[3] = {6, 7, 8};
    double weights[3] = {1, 0, 1}, ones[3] = {1, 1, 1};
    okra_data *x = dense(x_values, 5), *y = dense(y_values, 3), *with = NULL, *a = NULL,
              *b = NULL;
    CHECK_OK(okra_data_weigh(y, weights, 3, &with));
    CHECK_OK(okra_weights_drop_(x, with, &a, &b));
    CHECK(a->n == 4 && b->n == 2); /* the inputs without outputs stay */
    CHECK(a->values[1] == 3 && a->values[3] == 5 && b->values[1] == 8);
    CHECK(!b->weights); /* all 1: none */
    okra_data_free(a);
    okra_data_free(b);
    CHECK_ALLOCATIONS(drop(x, with), (void)0);
    okra_data_free(with);
    CHECK_OK(okra_data_weigh(y, ones, 3, &with));
    CHECK_OK(okra_weights_drop_(x, with, &a, &b));
    CHECK(a == x && !b->weights && okra_weights_plain_(with));
    okra_data *all[] = {x, y, with, a, b};
    for (int i = 0; i < 5; i++) {
        okra_data_free(all[i]);
    }
}

MAIN(RUN(weights_go_along), RUN(bad_weights_are_refused), RUN(classes_are_balanced),
     RUN(weightless_pairs_are_dropped))
