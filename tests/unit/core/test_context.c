/* The context of a run, its callbacks, and sizes written as text. */
#include "harness.h"
#include "okra/more/group.h"
#include "okra/program.h"

TEST(defaults)
{
    okra_context *c;
    CHECK_OK(okra_context_create(&c));
    CHECK(okra_context_threads(c) >= 1);
    CHECK(okra_context_threads(c) == okra_context_threads(NULL));
    CHECK(okra_context_memory(c) > 1 << 20);
    CHECK(okra_context_memory(c) == okra_context_memory(NULL));
    CHECK(okra_context_seed(c) == 0 && okra_context_seed(NULL) == 0);
    CHECK_OK(okra_cancelled_(c));
    CHECK_OK(okra_cancelled_(NULL));
    okra_progress_(NULL, "x", 0, 1);
    okra_warn_(NULL, "x");
    okra_progress_(c, "x", 0, 1);
    okra_warn_(c, "x");
    okra_context_free(c);
    okra_context_free(NULL);
    CHECK_ALLOCATIONS(okra_context_create(&c), okra_context_free(c));
}

TEST(settings_are_kept_and_checked)
{
    okra_context *c;
    CHECK_OK(okra_context_create(&c));
    CHECK_OK(okra_context_set_threads(c, 3));
    CHECK(okra_context_threads(c) == 3);
    CHECK_FAILS(okra_context_set_threads(c, -1), OKRA_EARG,
                "threads is -1, expected 0 (all cores) to 1024");
    CHECK_FAILS(okra_context_set_threads(c, 1025), OKRA_EARG, "threads is 1025");
    CHECK(okra_context_threads(c) == 3);
    CHECK_OK(okra_context_set_threads(c, 0));
    CHECK(okra_context_threads(c) == okra_context_threads(NULL));
    CHECK_OK(okra_context_set_memory(c, 12345));
    CHECK(okra_context_memory(c) == 12345);
    CHECK_FAILS(okra_context_set_memory(c, -5), OKRA_EARG, "memory is -5 bytes");
    CHECK(okra_context_memory(c) == 12345);
    okra_context_set_seed(c, UINT64_MAX);
    CHECK(okra_context_seed(c) == UINT64_MAX);
    okra_context_free(c);
}

TEST(what_was_begun_last)
{
    okra_context *c;
    okra_int size = 7;
    CHECK_OK(okra_context_create(&c));
    CHECK_TEXT(okra_context_doing(c, &size), "");
    CHECK(size == 0);
    c->doing = "eigh";
    c->doing_size = 12;
    CHECK_TEXT(okra_context_doing(c, &size), "eigh");
    CHECK(size == 12);
    CHECK_TEXT(okra_context_doing(NULL, NULL), "");
    okra_context_free(c);
}

TEST(cancellation_stands_until_resumed)
{
    okra_context *c;
    CHECK_OK(okra_context_create(&c));
    okra_context_cancel(c);
    CHECK_FAILS(okra_cancelled_(c), OKRA_ECANCELLED, "stopped on request");
    CHECK_FAILS(okra_cancelled_(c), OKRA_ECANCELLED, NULL);
    okra_context_resume(c);
    CHECK_OK(okra_cancelled_(c));
    okra_context_free(c);
}

typedef struct heard {
    char text[128];
    okra_int done, total;
} heard;

static void hear_progress(void *user, const char *what, okra_int done, okra_int total)
{
    heard *h = user;
    snprintf(h->text, sizeof h->text, "%s", what);
    h->done = done;
    h->total = total;
}

static void hear_warning(void *user, const char *text)
{
    heard *h = user;
    snprintf(h->text, sizeof h->text, "%s", text);
}

TEST(callbacks_hear)
{
    okra_context *c;
    heard p = {0}, w = {0};
    CHECK_OK(okra_context_create(&c));
    okra_context_set_progress(c, hear_progress, &p);
    okra_context_set_warning(c, hear_warning, &w);
    okra_progress_(c, "Gram", 3, 10);
    okra_warn_(c, "jitter %g", 0.5);
    CHECK_TEXT(p.text, "Gram");
    CHECK(p.done == 3 && p.total == 10);
    CHECK_TEXT(w.text, "jitter 0.5");
    okra_context_set_warning(c, NULL, NULL);
    okra_warn_(c, "unheard");
    CHECK_TEXT(w.text, "jitter 0.5");
    okra_context_free(c);
}

TEST(bytes_are_parsed)
{
    static const struct {
        const char *text;
        okra_int bytes;
    } good[] = {{"0", 0},
                {"1", 1},
                {"1.5e9", 1500000000},
                {"64k", 65536},
                {"64K", 65536},
                {"512M", 536870912},
                {"8G", 8589934592},
                {"8g", 8589934592},
                {"8GiB", 8589934592},
                {"8GB", 8589934592},
                {"2T", 2199023255552},
                {"0.5k", 512},
                {"100B", 100}};
    static const char *const bad[] = {"",     "G",     "-1",   "8X",   "8Gx",
                                      "nan",  "inf",   "1e30", "8 G",  "8GG",
                                      "-0.5", "eight", "8iB8", "9e9T", "1e400"};
    okra_int bytes;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        bytes = -1;
        CHECK_OK(okra_parse_bytes(good[i].text, &bytes));
        if (bytes != good[i].bytes) {
            printf("    %s: %lld\n", good[i].text, (long long)bytes);
        }
        CHECK(bytes == good[i].bytes);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[128];
        bytes = 77;
        snprintf(text, sizeof text,
                 "memory size is '%s', expected bytes such as 8G, 512M or 1.5e9", bad[i]);
        CHECK_FAILS(okra_parse_bytes(bad[i], &bytes), OKRA_EARG, text);
        CHECK(bytes == 77);
    }
}

MAIN(RUN(defaults), RUN(settings_are_kept_and_checked), RUN(what_was_begun_last),
     RUN(cancellation_stands_until_resumed), RUN(callbacks_hear), RUN(bytes_are_parsed))
