/* Named matrices, numbers and texts. */
#include "data/data.h"
#include "harness.h"

static okra_status fill(okra_bag_ **out)
{
    static const double view[] = {9};
    okra_status st = OKRA_OK;
    okra_bag_ *bag = NULL;
    double *x = NULL;
    TRY(okra_bag_create_(&bag));
    ALLOC(x, 2);
    x[0] = 1, x[1] = 2;
    TRY(okra_bag_put_(bag, "x", x, 1, 2));
    x = NULL;
    TRY(okra_bag_put_number_(bag, "x", 0.5));
    TRY(okra_bag_put_view_(bag, "view", view, 1, 1));
    TRY(okra_bag_put_text_(bag, "note", "hello"));
    TRY(okra_bag_put_number_(bag, "lambda", 3));
    *out = bag;
    bag = NULL;
done:
    okra_free_(x);
    okra_bag_free_(bag);
    return st;
}

TEST(put_and_get)
{
    okra_bag_ *bag = NULL;
    okra_int rows = -1, cols = -1;
    double number = 0;
    const double *values;
    const char *text;
    CHECK_OK(fill(&bag));
    const double *x = okra_bag_get_(bag, "x", &rows, &cols);
    CHECK(x && rows == 1 && cols == 2 && x[1] == 2);
    CHECK(okra_bag_get_(bag, "none", &rows, &cols) == NULL && rows == 0 && cols == 0);
    CHECK(okra_bag_get_(bag, "view", NULL, NULL)[0] == 9);
    CHECK(okra_bag_get_number_(bag, "lambda", &number) && number == 3);
    CHECK(!okra_bag_get_number_(bag, "view", &number) && number == 3);
    CHECK_TEXT(okra_bag_get_text_(bag, "note"), "hello");
    CHECK(okra_bag_get_text_(bag, "x") == NULL);
    CHECK_TEXT(okra_bag_each_(bag, 1, &values, &rows, &cols), "view");
    CHECK(values[0] == 9 && rows == 1 && cols == 1);
    CHECK(okra_bag_each_(bag, 2, &values, &rows, &cols) == NULL);
    CHECK_TEXT(okra_bag_each_number_(bag, 0, &number), "x");
    CHECK_TEXT(okra_bag_each_number_(bag, 1, &number), "lambda");
    CHECK(number == 3 && okra_bag_each_number_(bag, 2, &number) == NULL);
    CHECK_TEXT(okra_bag_each_text_(bag, 0, &text), "note");
    CHECK_TEXT(text, "hello");
    CHECK(okra_bag_each_text_(bag, 1, &text) == NULL);
    CHECK_FAILS(okra_bag_put_text_(bag, "note", "again"), OKRA_EINTERNAL,
                "'note' is stored twice");
    okra_bag_free_(bag);
    okra_bag_free_(NULL);
}

TEST(allocations)
{
    okra_bag_ *bag = NULL;
    CHECK_ALLOCATIONS(fill(&bag), okra_bag_free_(bag));
}

MAIN(RUN(put_and_get), RUN(allocations))
