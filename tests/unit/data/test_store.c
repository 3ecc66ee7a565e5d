/* Named matrices, numbers and texts. */
#include "data/data.h"
#include "harness.h"

static okra_status fill(okra_store_ **out)
{
    static const double view[] = {9};
    okra_status st = OKRA_OK;
    okra_store_ *store = NULL;
    double *x = NULL;
    TRY(okra_store_create_(&store));
    TRY((x = okra_alloc_(2, sizeof *x)) ? OKRA_OK : OKRA_EMEM);
    x[0] = 1, x[1] = 2;
    TRY(okra_store_put_(store, "x", &x, 1, 2));
    TRY(okra_store_put_number_(store, "x", 0.5));
    TRY(okra_store_add_(store, "view",
                        (okra_store_item_){.A = okra_mat_view_(view, 1, 1, 1)}));
    TRY(okra_store_put_text_(store, "note", "hello"));
    TRY(okra_store_put_number_(store, "lambda", 3));
    *out = store;
    store = NULL;
done:
    okra_free_(x);
    okra_store_free_(store);
    return st;
}

TEST(put_and_get)
{
    okra_store_ *store = NULL;
    okra_int rows = -1, cols = -1;
    double number = 0;
    CHECK_OK(fill(&store));
    const double *x = okra_store_get_(store, "x", &rows, &cols);
    CHECK(x && rows == 1 && cols == 2 && x[1] == 2);
    CHECK(okra_store_get_(store, "none", &rows, &cols) == NULL && rows == 0 && cols == 0);
    CHECK(okra_store_get_(store, "view", NULL, NULL)[0] == 9);
    CHECK(okra_store_get_number_(store, "lambda", &number) && number == 3);
    CHECK(!okra_store_get_number_(store, "view", &number) && number == 3);
    CHECK_TEXT(okra_store_get_text_(store, "note"), "hello");
    CHECK(okra_store_get_text_(store, "x") == NULL);
    CHECK(okra_store_mat_(store, "x").cols == 2 &&
          okra_store_mat_(store, "none").p == NULL);
    static const char *const names[] = {"x", "x", "view", "note", "lambda"};
    CHECK(store->count == 5);
    for (okra_int i = 0; i < store->count; i++) { /* in the order put */
        CHECK_TEXT(store->items[i].name, names[i]);
        CHECK(okra_store_find_(store, store->items[i].sort, names[i]) ==
              &store->items[i]);
    }
    CHECK(store->items[2].A.p[0] == 9 && store->items[2].A.ld == 1);
    CHECK(store->items[4].number == 3);
    CHECK_FAILS(okra_store_put_text_(store, "note", "again"), OKRA_EINTERNAL,
                "'note' is stored twice");
    okra_store_free_(store);
    okra_store_free_(NULL);
}

/* Whoever sees all rows in use may append; what is given up can be had again. */
TEST(rooms)
{
    okra_store_ *small = NULL, *large = NULL;
    okra_growing_ *room = NULL;
    CHECK_OK(okra_store_create_(&small));
    CHECK_OK(okra_store_create_(&large));
    CHECK_OK(okra_growing_create_(NULL, 3, "a room", &room));
    okra_mat_ A = okra_growing_mat_(room, 3);
    CHECK(A.rows == 3 && A.ld > 3 && A.p[2 * A.ld + 5] == 0);
    CHECK_OK(okra_store_add_(small, "L",
                             (okra_store_item_){.A = A, .room = room, .before = 3}));
    CHECK(okra_store_mat_(small, "L").ld == A.ld);
    CHECK(!okra_store_enter_(small, "none", 4) &&
          !okra_store_enter_(small, "L", A.ld + 1));
    room = okra_store_enter_(small, "L", 5);
    CHECK(room && !okra_store_enter_(small, "L", 4)); /* somebody is in it */
    CHECK_OK(okra_store_add_(
        large, "L",
        (okra_store_item_){.A = okra_growing_mat_(room, 5), .room = room, .before = 3}));
    okra_growing_leave_(okra_store_enter_(large, "L", 6), 6, 5); /* tried and given up */
    CHECK(!okra_store_enter_(small, "L", 5));
    okra_store_free_(large);
    room = okra_store_enter_(small, "L", 4);
    CHECK(room && okra_growing_mat_(room, 4).p == A.p);
    okra_store_free_(small); /* the memory lives as long as somebody has it */
    A.p[3 * A.ld] = 1;
    okra_growing_leave_(room, 4, 3);
    okra_context *tight = NULL;
    CHECK_OK(okra_context_create(&tight));
    CHECK_OK(okra_context_set_memory(tight, 100 * 100 * 8));
    CHECK_OK(okra_growing_create_(tight, 100, "a room", &room));
    CHECK(okra_growing_mat_(room, 100).ld == 100); /* no more than must be */
    okra_growing_leave_(room, 100, 0);
    CHECK_FAILS(okra_growing_create_(tight, 101, "a room", &room), OKRA_EBUDGET,
                "a room");
    okra_context_free(tight);
    okra_growing_leave_(NULL, 0, 0);
}

TEST(allocations)
{
    okra_store_ *store = NULL;
    CHECK_ALLOCATIONS(fill(&store), okra_store_free_(store));
}

MAIN(RUN(put_and_get), RUN(rooms), RUN(allocations))
