/*
 * The cheapest assignment of items to places, against all permutations.
 */
#include "decode/rankings/orders.h"
#include "harness.h"
#include "permutations.h"

TEST(assignment_equals_all_permutations)
{
    for (uint64_t seed = 0; seed < SOME(200); seed++) {
        okra_random_ r = okra_random_create_(seed, 5);
        double cost[MOST * MOST], least = (double)INFINITY, found = 0;
        okra_int place[MOST] = {0};
        list_all(1 + (int)(seed % 6));
        harness_normals(&r, items * items, cost);
        for (int i = 0; seed % 3 == 0 && i < items * items; i++) {
            cost[i] = (double)okra_random_below_(&r, 3); /* ties */
        }
        CHECK_OK(okra_assignment_(items, cost, place));
        for (int k = 0; k < rankings; k++) {
            double sum = 0;
            for (int j = 0; j < items; j++) {
                sum += cost[j * items + (int)every[k * items + j] - 1];
            }
            least = fmin(least, sum);
        }
        for (int j = 0; j < items; j++) {
            found += cost[j * items + place[j]];
        }
        CHECK_NEAR(found, least, 1e-12);
    }
}

MAIN(RUN(assignment_equals_all_permutations))
