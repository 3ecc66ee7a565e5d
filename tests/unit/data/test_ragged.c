/* Runs of elements: building, choosing, failing allocations. */
#include "data/data.h"
#include "harness.h"

static const okra_field_ fields[] = {{"place", OKRA_FIELD_DOUBLE, 2, NULL},
                                     {"code", OKRA_FIELD_INT32, 1, NULL},
                                     {"mark", OKRA_FIELD_BYTE, 1, NULL}};

/* Object i has i % 4 elements, numbered through in every field. */
static okra_status build(okra_int n, okra_ragged_ *out)
{
    okra_status st = OKRA_OK;
    okra_ragged_builder_ b = {0};
    int32_t next = 0;
    TRY(okra_ragged_begin_(&b, "things", 3, fields));
    for (okra_int i = 0; i < n; i++) {
        for (okra_int k = 0; k < i % 4; k++, next++) {
            double place[] = {next, -next};
            unsigned char mark = (unsigned char)next;
            TRY(okra_ragged_push_(&b, (const void *const[]){place, &next, &mark}));
            CHECK(okra_ragged_open_count_(&b) == k + 1);
        }
        TRY(okra_ragged_close_(&b));
        CHECK(okra_ragged_open_count_(&b) == 0);
    }
    *out = TAKE(b).group;
    CHECK(b.group.offsets == NULL && b.objects == 0);
done:
    okra_ragged_abandon_(&b);
    return st;
}

static int32_t code_at(const okra_ragged_ *g, okra_int element)
{
    const double *place = okra_ragged_field_(g, "place")->values;
    const int32_t *code = okra_ragged_field_(g, "code")->values;
    const unsigned char *mark = okra_ragged_field_(g, "mark")->values;
    CHECK(place[2 * element] == code[element] &&
          place[2 * element + 1] == -code[element]);
    CHECK(mark[element] == (unsigned char)code[element]);
    return code[element];
}

TEST(built_objects_have_their_elements)
{
    for (okra_int n = 0; n < 200; n = 3 * n + 1) {
        okra_ragged_ g = {0};
        CHECK_OK(build(n, &g));
        CHECK(strcmp(g.name, "things") == 0 && g.field_count == 3 && g.offsets[0] == 0);
        for (okra_int i = 0; i < n; i++) {
            CHECK(g.offsets[i + 1] - g.offsets[i] == i % 4);
        }
        for (okra_int k = 0; k < g.offsets[n]; k++) {
            CHECK(code_at(&g, k) == k);
        }
        CHECK(okra_ragged_field_(&g, "none") == NULL);
        okra_ragged_clear_(&g);
        CHECK(g.offsets == NULL && g.field_count == 0);
    }
}

TEST(many_elements_at_once)
{
    okra_ragged_builder_ b = {0};
    okra_ragged_ g = {0};
    double place[400];
    int32_t code[200];
    unsigned char mark[200];
    for (int k = 0; k < 200; k++) {
        place[2 * k] = code[k] = k;
        place[2 * k + 1] = -k;
        mark[k] = (unsigned char)k;
    }
    CHECK_OK(okra_ragged_begin_(&b, "things", 3, fields));
    CHECK_OK(okra_ragged_push_many_(&b, 0, (const void *const[]){NULL, NULL, NULL}));
    CHECK_OK(okra_ragged_push_many_(&b, 200, (const void *const[]){place, code, mark}));
    CHECK(okra_ragged_open_count_(&b) == 200);
    CHECK_OK(okra_ragged_close_(&b));
    g = TAKE(b).group;
    for (okra_int k = 0; k < 200; k++) {
        CHECK(code_at(&g, k) == k);
    }
    okra_ragged_clear_(&g);
}

TEST(chosen_objects_in_the_order_given)
{
    okra_ragged_ g = {0}, chosen = {0}, all = {0};
    const okra_int index[] = {7, 0, 3, 3, 10};
    CHECK_OK(build(11, &g));
    CHECK_OK(okra_ragged_take_(&g, 1, index, (okra_int[]){5}, &chosen));
    for (okra_int i = 0; i < 5; i++) {
        okra_int length = index[i] % 4;
        CHECK(chosen.offsets[i + 1] - chosen.offsets[i] == length);
        for (okra_int k = 0; k < length; k++) {
            CHECK(code_at(&chosen, chosen.offsets[i] + k) ==
                  code_at(&g, g.offsets[index[i]] + k));
        }
    }
    CHECK_OK(okra_ragged_take_(&g, 1, NULL, (okra_int[]){11}, &all));
    CHECK(all.offsets[11] == g.offsets[11] && code_at(&all, 5) == 5);
    okra_ragged_clear_(&chosen);
    CHECK_OK(okra_ragged_take_(&g, 1, index, (okra_int[]){0}, &chosen));
    CHECK(chosen.offsets[0] == 0);
    okra_ragged_clear_(&chosen);
    okra_ragged_clear_(&all);
    okra_ragged_clear_(&g);
}

TEST(allocations)
{
    okra_ragged_ g = {0}, chosen = {0};
    const okra_int index[] = {3, 1}, two = 2;
    CHECK_ALLOCATIONS(build(100, &g), okra_ragged_clear_(&g));
    CHECK_OK(build(5, &g));
    CHECK_ALLOCATIONS(okra_ragged_take_(&g, 1, index, &two, &chosen),
                      okra_ragged_clear_(&chosen));
    okra_ragged_clear_(&g);
}

MAIN(RUN(built_objects_have_their_elements), RUN(many_elements_at_once),
     RUN(chosen_objects_in_the_order_given), RUN(allocations))
