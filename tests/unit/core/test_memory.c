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

/* Large ones are zeros that the system has not handed out yet. */
TEST(large_zeros)
{
    okra_int before = okra_alloc_live_bytes_(), size = ((okra_int)64 << 20) + 8;
    char *p = okra_zalloc_(size, 1);
    CHECK(p && (uintptr_t)p % 64 == 0 && okra_alloc_live_bytes_() == before + size);
    CHECK(p && p[0] == 0 && p[size / 2] == 0 && p[size - 1] == 0);
    p[0] = p[size - 1] = 1;
    p = okra_realloc_(p, size + 1, 1);
    CHECK(p && p[0] == 1 && p[size - 1] == 1);
    okra_free_(p);
    CHECK(okra_alloc_live_bytes_() == before);
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
    CHECK_OK(okra_context_set_memory(c, okra_account_bytes_(c) + (3 << 20)));
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
    CHECK_OK(okra_context_set_memory(c, okra_account_bytes_(c) + 8 * 12));
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

/* ---- budgets are of contexts ---- */

static okra_status take_in_loop(void *arg, okra_int begin, okra_int end, int worker)
{
    (void)worker;
    void **blocks = arg;
    for (okra_int i = begin; i < end; i++) {
        if (!(blocks[i] = okra_alloc_(1000, 1))) {
            return OKRA_EMEM;
        }
    }
    return OKRA_OK;
}

TEST(a_budget_counts_what_its_own_context_took)
{
    okra_context *a = NULL, *b = NULL;
    CHECK_OK(okra_context_create(&a));
    CHECK_OK(okra_context_create(&b));
    CHECK_OK(okra_context_set_memory(a, 1 << 20));
    CHECK_OK(okra_context_set_memory(b, 1 << 20));
    double *mine = NULL, *other = NULL, *more = NULL;
    CHECK_OK(okra_doubles_(a, 100, 1000, "mine", &mine));
    CHECK_OK(okra_doubles_(b, 100, 1000, "other", &other));
    CHECK(okra_memory_used_(a) == 800000 && okra_memory_used_(b) == 800000);
    CHECK_FAILS(okra_doubles_(a, 100, 1000, "more", &more), OKRA_EBUDGET,
                "of which 781.25 KiB are in use");
    /* What a frees, though b asked last, is a's. */
    okra_free_(mine);
    CHECK(okra_memory_used_(a) == 0 && okra_memory_left_(b) == (1 << 20) - 800000);
    CHECK_OK(okra_doubles_(a, 100, 1000, "more", &more));
    okra_free_(more);
    okra_free_(other);
    okra_context_free(a);
    okra_context_free(b);
}

TEST(helpers_take_memory_for_the_context_of_their_loop)
{
    enum { COUNT = 500 };
    okra_context *a = NULL, *b = NULL;
    CHECK_OK(okra_context_create(&a));
    CHECK_OK(okra_context_create(&b));
    CHECK_OK(okra_context_set_memory(a, 1 << 20));
    CHECK_OK(okra_context_set_memory(b, 1 << 20));
    CHECK_OK(okra_context_set_threads(a, 4));
    CHECK_OK(okra_budget_ask_(b, 1, "b works here before"));
    void *blocks[COUNT] = {NULL};
    CHECK_OK(okra_parallel_(a, COUNT, 1, NULL, take_in_loop, blocks));
    CHECK(okra_memory_used_(a) == 1000 * COUNT && okra_memory_used_(b) == 0);
    for (int i = 0; i < COUNT; i++) {
        okra_free_(blocks[i]);
    }
    okra_context_free(a);
    okra_context_free(b);
}

/* Blocks outlive their context; their account is not given to another before they die. */
TEST(accounts_are_reused_when_they_are_empty)
{
    okra_context *first = NULL, *next = NULL;
    double *left = NULL;
    CHECK_OK(okra_context_create(&first));
    CHECK_OK(okra_doubles_(first, 10, 10, "left", &left));
    okra_context_free(first);
    for (int i = 0; i < 3000; i++) {
        CHECK_OK(okra_context_create(&next));
        CHECK_OK(okra_context_set_memory(next, 1000));
        CHECK(okra_memory_used_(next) == 0);
        okra_context_free(next);
    }
    okra_free_(left);
}

/* More contexts than accounts: the rest count the process's memory. */
TEST(contexts_beyond_the_accounts_count_the_whole_process)
{
    enum { MANY = 1500 };
    okra_context *all[MANY];
    for (int i = 0; i < MANY; i++) {
        CHECK_OK(okra_context_create(&all[i]));
        CHECK_OK(okra_context_set_memory(all[i], (okra_int)1 << 40));
    }
    double *block = NULL;
    CHECK_OK(okra_doubles_(all[0], 10, 10, "a block", &block));
    CHECK(okra_memory_used_(all[0]) == 800);
    CHECK(okra_memory_used_(all[MANY - 1]) == okra_alloc_live_bytes_());
    okra_free_(block);
    for (int i = 0; i < MANY; i++) {
        okra_context_free(all[i]);
    }
}

MAIN(RUN(blocks_are_aligned_and_counted), RUN(peak_is_the_largest_since_reset),
     RUN(zero_bytes_give_a_valid_pointer), RUN(sizes_that_overflow_are_refused),
     RUN(zalloc_zeroes), RUN(large_zeros), RUN(realloc_keeps_the_content),
     RUN(texts_are_copied), RUN(the_kth_allocation_fails_once),
     RUN(budget_says_what_is_needed), RUN(doubles_ask_the_budget_first),
     RUN(a_budget_counts_what_its_own_context_took),
     RUN(helpers_take_memory_for_the_context_of_their_loop),
     RUN(accounts_are_reused_when_they_are_empty),
     RUN(contexts_beyond_the_accounts_count_the_whole_process))
