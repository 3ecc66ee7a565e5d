/*
 * Grids of kernel expressions: their cells, narrower grids, messages.
 */
#include "harness.h"
#include "kernel/kernel.h"

static void check_grid(const char *text, okra_int count, const char *const *cells)
{
    okra_grid_ *grid = NULL;
    CHECK_OK(okra_grid_parse_(text, &grid));
    if (!grid) {
        return;
    }
    CHECK(okra_grid_count_(grid) == count);
    for (okra_int k = 0; k < count; k++) {
        char *cell = NULL;
        CHECK_OK(okra_grid_text_(grid, k, &cell));
        CHECK_TEXT(cell, cells[k]);
        okra_free_(cell);
    }
    char *none = NULL;
    CHECK_FAILS(okra_grid_text_(grid, count, &none), OKRA_EARG, "is asked of a grid of");
    CHECK_FAILS(okra_grid_text_(grid, -1, &none), OKRA_EARG, "is asked of a grid of");
    okra_grid_free_(grid);
}

TEST(grids)
{
    okra_grid_ *grid = NULL;
    check_grid("rbf(sigma=4)", 1, (const char *const[]){"rbf(sigma=4)"});
    check_grid("rbf(sigma={1, 2,4e0})", 3,
               (const char *const[]){"rbf(sigma=1)", "rbf(sigma=2)", "rbf(sigma=4e0)"});
    check_grid("{1,2}*linear+poly(degree=2..3)", 4,
               (const char *const[]){"1*linear+poly(degree=2)", "1*linear+poly(degree=3)",
                                     "2*linear+poly(degree=2)",
                                     "2*linear+poly(degree=3)"});
    check_grid("1e-4..1e1:6", 6,
               (const char *const[]){"0.0001", "0.001", "0.01", "0.1", "1", "10"});
    check_grid("rbf(gamma=auto)", 1, (const char *const[]){"rbf(gamma=auto)"});
    check_grid(
        "poly(degree=1..100:3)", 3,
        (const char *const[]){"poly(degree=1)", "poly(degree=10)", "poly(degree=100)"});
    check_grid("{linear,rbf(sigma={1,2})}", 3,
               (const char *const[]){"linear", "rbf(sigma=1)", "rbf(sigma=2)"});
    check_grid("{ linear | normalize , 2*linear } | rbf(sigma={1,2})", 4,
               (const char *const[]){"(linear | normalize) | rbf(sigma=1)",
                                     "(linear | normalize) | rbf(sigma=2)",
                                     "(2*linear) | rbf(sigma=1)",
                                     "(2*linear) | rbf(sigma=2)"});
    check_grid("{linear,{cosine,{1,2}*dice}}@2", 4,
               (const char *const[]){"linear@2", "cosine@2", "(1*dice)@2", "(2*dice)@2"});
    check_grid("{{1,2}*linear,1 + cosine}", 3,
               (const char *const[]){"1*linear", "2*linear", "1 + cosine"});
    check_grid("{1,2*linear}", 2, (const char *const[]){"1", "2*linear"});
    CHECK_OK(okra_grid_parse_("1..10", &grid));
    CHECK(okra_grid_count_(grid) == 10);
    okra_grid_free_(grid);
    CHECK_OK(okra_grid_parse_("1..2:10000 * 1..2:10000 * 1..2:10000 * 1..2:10000 * "
                              "1..2:10000",
                              &grid));
    CHECK(okra_grid_count_(grid) == -1);
    okra_grid_free_(grid);
}

/* The alternatives of a cell, and the cell within them. */
static void check_narrow(const char *text, okra_int cell, const char *narrow)
{
    okra_grid_ *grid = NULL, *inner = NULL;
    char *got = NULL, *wide = NULL, *same = NULL;
    okra_int within = -1;
    CHECK_OK(okra_grid_parse_(text, &grid));
    CHECK(okra_grid_branched_(grid));
    CHECK_OK(okra_grid_narrow_(grid, cell, &got, &within));
    CHECK_TEXT(got, narrow);
    CHECK_OK(okra_grid_parse_(got, &inner));
    CHECK(!okra_grid_branched_(inner));
    CHECK_OK(okra_grid_text_(grid, cell, &wide));
    CHECK_OK(okra_grid_text_(inner, within, &same));
    CHECK_TEXT(same, wide);
    okra_free_(got);
    okra_free_(wide);
    okra_free_(same);
    okra_grid_free_(inner);
    okra_grid_free_(grid);
}

TEST(narrow_grids)
{
    for (okra_int cell = 0; cell < 8; cell++) {
        check_narrow("{linear,rbf(sigma={1,2,4})} | poly(degree={1,2})", cell,
                     cell < 2 ? "linear | poly(degree={1,2})"
                              : "rbf(sigma={1,2,4}) | poly(degree={1,2})");
    }
    okra_grid_ *grid = NULL;
    CHECK_OK(okra_grid_parse_("{1,2}*linear", &grid));
    CHECK(!okra_grid_branched_(grid));
    okra_grid_free_(grid);
}

TEST(bad_grids)
{
    okra_grid_ *grid = NULL;
    CHECK_FAILS(okra_grid_parse_("{linear,}", &grid), OKRA_EARG, "expected a kernel");
    CHECK_FAILS(okra_grid_parse_("{linear cosine}", &grid), OKRA_EARG,
                "expected ',' or '}'");
    CHECK_FAILS(okra_grid_parse_("{linear,rfb}", &grid), OKRA_EARG,
                "did you mean 'rbf'?");
    CHECK_FAILS(
        okra_grid_parse_("{linear,rbf(sigma=1..2:9999),rbf(sigma=1..2:99)}", &grid),
        OKRA_EARG, "the alternatives have more than 10000 values");
    char deep[400] = {0};
    memset(deep, '{', 300);
    CHECK_FAILS(okra_grid_parse_(strcat(deep, "linear"), &grid), OKRA_EARG,
                "more than 100 parentheses within one another");
    const char *const ranges[] = {"10..1",  "0..1",  "-1..1",      "1..",
                                  "1..2:1", "1..2:", "1..2:99999", "1..1e999"};
    for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++) {
        CHECK_FAILS(okra_grid_parse_(ranges[k], &grid), OKRA_EARG,
                    "a range is lo..hi or lo..hi:steps with 0 < lo < hi and 2 to 10000 "
                    "steps");
    }
    CHECK_FAILS(okra_grid_parse_("{1,}", &grid), OKRA_EARG, "expected a value");
    CHECK_FAILS(okra_grid_parse_("{1 2}", &grid), OKRA_EARG, "expected ',' or '}'");
    CHECK_FAILS(okra_grid_parse_("rbf(sigma={1,x})", &grid), OKRA_EARG,
                "sigma is 'x', expected a number");
    CHECK_FAILS(okra_grid_parse_("poly(degree={2,2.5})", &grid), OKRA_EARG,
                "degree is '2.5', expected a whole number");
}

TEST(failing_allocations)
{
    okra_grid_ *grid = NULL;
    char *cell = NULL;
    CHECK_ALLOCATIONS(okra_grid_parse_("{1,2}*rbf(sigma=1..10:3) + linear", &grid),
                      okra_grid_free_(grid));
    CHECK_ALLOCATIONS(okra_grid_parse_("{linear,rbf(sigma={1,2})} + cosine", &grid),
                      okra_grid_free_(grid));
    CHECK_OK(okra_grid_parse_("{linear,rbf(sigma={1,2})} + cosine", &grid));
    okra_int within;
    CHECK_ALLOCATIONS(okra_grid_narrow_(grid, 2, &cell, &within), okra_free_(cell));
    okra_grid_free_(grid);
    CHECK_OK(okra_grid_parse_("{1,2}*rbf(sigma=1..10:3) + linear", &grid));
    CHECK_ALLOCATIONS(okra_grid_text_(grid, 3, &cell), okra_free_(cell));
    okra_grid_free_(grid);
}

MAIN(RUN(grids), RUN(narrow_grids), RUN(bad_grids), RUN(failing_allocations))
