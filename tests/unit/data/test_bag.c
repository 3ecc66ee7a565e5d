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
    TRY(okra_bag_put_(bag, "x", &x, 1, 2));
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
    okra_mat_ A = {0};
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
    CHECK_TEXT(okra_bag_each_(bag, 1, &A), "view");
    CHECK(A.p[0] == 9 && A.rows == 1 && A.cols == 1 && A.ld == 1);
    CHECK(okra_bag_each_(bag, 2, &A) == NULL);
    CHECK(okra_bag_mat_(bag, "x").cols == 2 && okra_bag_mat_(bag, "none").p == NULL);
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

/* Whoever sees all rows in use may append; what is given up can be had again. */
TEST(rooms)
{
    okra_bag_ *small = NULL, *large = NULL;
    okra_room_ *room = NULL;
    CHECK_OK(okra_bag_create_(&small));
    CHECK_OK(okra_bag_create_(&large));
    CHECK_OK(okra_room_create_(NULL, 3, "a room", &room));
    okra_mat_ A = okra_room_mat_(room, 3);
    CHECK(A.rows == 3 && A.ld > 3 && A.p[2 * A.ld + 5] == 0);
    CHECK_OK(okra_bag_put_room_(small, "L", room, 3, 3));
    CHECK(okra_bag_mat_(small, "L").ld == A.ld);
    CHECK(!okra_bag_enter_(small, "none", 4) && !okra_bag_enter_(small, "L", A.ld + 1));
    room = okra_bag_enter_(small, "L", 5);
    CHECK(room && !okra_bag_enter_(small, "L", 4)); /* somebody is in it */
    CHECK_OK(okra_bag_put_room_(large, "L", room, 5, 3));
    okra_room_leave_(okra_bag_enter_(large, "L", 6), 6, 5); /* tried and given up */
    CHECK(!okra_bag_enter_(small, "L", 5));
    okra_bag_free_(large);
    room = okra_bag_enter_(small, "L", 4);
    CHECK(room && okra_room_mat_(room, 4).p == A.p);
    okra_bag_free_(small); /* the memory lives as long as somebody has it */
    A.p[3 * A.ld] = 1;
    okra_room_leave_(room, 4, 3);
    okra_context *tight = NULL;
    CHECK_OK(okra_context_create(&tight));
    CHECK_OK(okra_context_set_memory(tight, 100 * 100 * 8));
    CHECK_OK(okra_room_create_(tight, 100, "a room", &room));
    CHECK(okra_room_mat_(room, 100).ld == 100); /* no more than must be */
    okra_room_free_(room);
    CHECK_FAILS(okra_room_create_(tight, 101, "a room", &room), OKRA_EBUDGET, "a room");
    okra_context_free(tight);
    okra_room_free_(NULL);
}

TEST(allocations)
{
    okra_bag_ *bag = NULL;
    CHECK_ALLOCATIONS(fill(&bag), okra_bag_free_(bag));
}

MAIN(RUN(put_and_get), RUN(rooms), RUN(allocations))
