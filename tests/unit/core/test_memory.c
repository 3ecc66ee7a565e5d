/* The allocator (alignment, counting, overflow, failing on request) and the budget. */
#include "harness.h"

TEST(blocks_are_aligned_and_counted)
{
    okra_int blocks = okra_alloc_live_blocks_(), bytes = okra_alloc_live_bytes_();
    char *p[40];
    okra_int total = 0;
    for (okra_int i = 0; i < 40; i++) {
        p[i] = okra_alloc_(i * 3, 7);
        CHECK(p[i] && (uintptr_t)p[i] % 64 == 0);
        memset(p[i], 1, (size_t)(i * 21));
        total += i * 21;
    }
    CHECK(okra_alloc_live_blocks_() == blocks + 40);
    CHECK(okra_alloc_live_bytes_() == bytes + total);
    for (int i = 0; i < 40; i++) {
        okra_free_(p[i]);
    }
    CHECK(okra_alloc_live_blocks_() == blocks);
    CHECK(okra_alloc_live_bytes_() == bytes);
    okra_free_(NULL);
    CHECK(okra_alloc_live_blocks_() == blocks);
}

TEST(peak_is_the_largest_since_reset)
{
    okra_alloc_reset_peak_();
    okra_int base = okra_alloc_live_bytes_();
    CHECK(okra_alloc_peak_bytes_() == base);
    void *a = okra_alloc_(1000, 1), *b = okra_alloc_(500, 1);
    okra_free_(a);
    void *c = okra_alloc_(100, 1);
    CHECK(okra_alloc_peak_bytes_() == base + 1500);
    okra_alloc_reset_peak_();
    CHECK(okra_alloc_peak_bytes_() == base + 600);
    okra_free_(b);
    okra_free_(c);
}

TEST(zero_bytes_give_a_valid_pointer)
{
    void *p = okra_alloc_(0, 8), *q = okra_zalloc_(5, 0);
    CHECK(p && q && p != q);
    okra_free_(p);
    okra_free_(q);
}

TEST(sizes_that_overflow_are_refused)
{
    okra_int live = okra_alloc_live_blocks_();
    CHECK(okra_alloc_(-1, 8) == NULL);
    CHECK(strstr(okra_message(), "-1 elements of 8 bytes") != NULL);
    CHECK(okra_alloc_(INT64_MAX, 8) == NULL);
    CHECK(okra_alloc_(INT64_MAX / 2, 3) == NULL);
    CHECK(okra_alloc_(1, SIZE_MAX) == NULL);
    CHECK(okra_alloc_(((okra_int)1 << 32) + 1, (size_t)1 << 32) == NULL);
    CHECK(okra_zalloc_(INT64_MAX, 8) == NULL);
    CHECK(okra_alloc_live_blocks_() == live);
}

TEST(zalloc_zeroes)
{
    for (int round = 0; round < 3; round++) {
        unsigned char *dirty = okra_alloc_(1000, 1);
        memset(dirty, 0xff, 1000);
        okra_free_(dirty);
        unsigned char *p = okra_zalloc_(250, 4);
        int sum = 0;
        for (int i = 0; i < 1000; i++) {
            sum += p[i];
        }
        CHECK(sum == 0);
        okra_free_(p);
    }
}

TEST(realloc_keeps_the_content)
{
    okra_int live = okra_alloc_live_blocks_(), bytes = okra_alloc_live_bytes_();
    okra_int *p = okra_realloc_(NULL, 10, sizeof *p);
    for (okra_int i = 0; i < 10; i++) {
        p[i] = i * i;
    }
    p = okra_realloc_(p, 1000, sizeof *p);
    CHECK((uintptr_t)p % 64 == 0);
    CHECK(okra_alloc_live_bytes_() == bytes + 8000);
    for (okra_int i = 0; i < 10; i++) {
        CHECK(p[i] == i * i);
    }
    p = okra_realloc_(p, 3, sizeof *p);
    CHECK(p[0] == 0 && p[1] == 1 && p[2] == 4);
    okra_alloc_fail_at_(0);
    CHECK(okra_realloc_(p, 100, sizeof *p) == NULL);
    CHECK(p[2] == 4); /* still there */
    CHECK(okra_realloc_(p, -1, sizeof *p) == NULL);
    okra_free_(p);
    CHECK(okra_alloc_live_blocks_() == live);
}

TEST(texts_are_copied)
{
    char *a = okra_strdup_("abc"), *b = okra_strndup_("abcdef", 2);
    char *c = okra_format_("%d-%s", 5, "x"), *d = okra_strdup_("");
    CHECK_TEXT(a, "abc");
    CHECK_TEXT(b, "ab");
    CHECK_TEXT(c, "5-x");
    CHECK_TEXT(d, "");
    okra_free_(a);
    okra_free_(b);
    okra_free_(c);
    okra_free_(d);
    for (int i = 0; i < 3; i++) {
        okra_alloc_fail_at_(0);
        CHECK((i == 0   ? okra_strdup_("abc")
               : i == 1 ? okra_strndup_("abc", 1)
                        : okra_format_("%d", 1)) == NULL);
    }
}

TEST(the_kth_allocation_fails_once)
{
    for (int k = 0; k < 4; k++) {
        void *p[6];
        okra_alloc_fail_at_(k);
        for (int i = 0; i < 6; i++) {
            p[i] = okra_alloc_(1, 16);
            CHECK((p[i] == NULL) == (i == k));
            if (i == k) {
                CHECK_TEXT(okra_message(), "could not allocate 16 bytes");
            }
        }
        for (int i = 0; i < 6; i++) {
            okra_free_(p[i]);
        }
    }
    okra_alloc_fail_at_(0);
    okra_alloc_fail_at_(-1);
    void *p = okra_alloc_(1, 1);
    CHECK(p != NULL);
    okra_free_(p);
}

TEST(budget_says_what_is_needed)
{
    okra_context *c;
    CHECK_OK(okra_context_create(&c));
    okra_int used = okra_alloc_live_bytes_();
    CHECK_OK(okra_context_set_memory(c, used + (3 << 20)));
    CHECK_OK(okra_budget_ask_(c, 3 << 20, "all of it"));
    CHECK_FAILS(okra_budget_ask_(c, (3 << 20) + 1, "a bit more"), OKRA_EBUDGET,
                "a bit more needs 3.00 MiB (3145729 bytes); the memory budget is ");
    CHECK_FAILS(okra_budget_ask_(c, 28.8e9, "the Gram matrix of %d objects", 60000),
                OKRA_EBUDGET,
                "the Gram matrix of 60000 objects needs 26.82 GiB (28800000000 bytes)");
    CHECK_FAILS(okra_budget_ask_(c, 1e21, "far too much"), OKRA_EBUDGET,
                "far too much needs 867.36 EiB");
    /* What is alive counts. */
    void *half = okra_alloc_(2 << 20, 1);
    CHECK_FAILS(okra_budget_ask_(c, 2 << 20, "twice"), OKRA_EBUDGET,
                "2.00 MiB are in use");
    okra_free_(half);
    CHECK_OK(okra_budget_ask_(c, 2 << 20, "once"));
    okra_context_free(c);
}

TEST(doubles_ask_the_budget_first)
{
    okra_context *c;
    double *p = NULL;
    CHECK_OK(okra_context_create(&c));
    CHECK_OK(okra_context_set_memory(c, okra_alloc_live_bytes_() + 8 * 12));
    CHECK_OK(okra_doubles_(c, 3, 4, "K", &p));
    CHECK((uintptr_t)p % 64 == 0);
    p[11] = 1;
    double *q = p;
    CHECK_FAILS(okra_doubles_(c, 1, 1, "L", &q), OKRA_EBUDGET,
                "L of 1 x 1 doubles needs 8 bytes (8 bytes)");
    CHECK(q == p); /* untouched on failure */
    okra_free_(p);
    CHECK_FAILS(okra_doubles_(c, 60000, 60000, "K", &p), OKRA_EBUDGET,
                "K of 60000 x 60000 doubles needs 26.82 GiB (28800000000 bytes)");
    CHECK_FAILS(okra_doubles_(NULL, (okra_int)1 << 40, (okra_int)1 << 40, "K", &p),
                OKRA_EBUDGET, "more than can be addressed");
    CHECK_FAILS(okra_doubles_(NULL, -1, 2, "K", &p), OKRA_EBUDGET, "-1 x 2");
    CHECK_OK(okra_doubles_(NULL, 0, INT64_MAX, "none", &p));
    okra_free_(p);
    CHECK_OK(okra_doubles_(NULL, INT64_MAX, 0, "none", &p));
    okra_free_(p);
    CHECK_ALLOCATIONS(okra_doubles_(NULL, 2, 2, "K", &p), okra_free_(p));
    okra_context_free(c);
}

MAIN(RUN(blocks_are_aligned_and_counted), RUN(peak_is_the_largest_since_reset),
     RUN(zero_bytes_give_a_valid_pointer), RUN(sizes_that_overflow_are_refused),
     RUN(zalloc_zeroes), RUN(realloc_keeps_the_content), RUN(texts_are_copied),
     RUN(the_kth_allocation_fails_once), RUN(budget_says_what_is_needed),
     RUN(doubles_ask_the_budget_first))
