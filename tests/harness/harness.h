/*
 * harness.h: a small test harness. A test file is
 *
 *     #include "harness.h"
 *     TEST(name) { CHECK(cond); CHECK_NEAR(got, want, tol); ... }
 *     ... more ...
 *     MAIN(RUN(name), RUN(other))
 *
 * All tests run after a failure; each CHECK says file, line, values. NaN fails
 * CHECK_NEAR. Random problems come from the library's own seeded generator.
 */
#ifndef OKRA_HARNESS_H
#define OKRA_HARNESS_H

#include "core/core.h"
#include "engine/engine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int harness_checks, harness_failures, harness_skips;

typedef struct harness_test {
    const char *name;
    void (*run)(void);
} harness_test;

#define TEST(name) static void name(void)
#define RUN(name)   \
    {               \
#name, name \
    }

static inline void harness_fail(const char *file, int line, const char *what)
{
    harness_failures++;
    printf("  %s:%d: %s\n", file, line, what);
}

#define CHECK(condition)                                  \
    do {                                                  \
        harness_checks++;                                 \
        if (!(condition)) {                               \
            harness_fail(__FILE__, __LINE__, #condition); \
        }                                                 \
    } while (0)

/* A call that must succeed; on failure the message is shown. */
#define CHECK_OK(call)                                                            \
    do {                                                                          \
        okra_status harness_st = (call);                                          \
        harness_checks++;                                                         \
        if (harness_st != OKRA_OK) {                                              \
            harness_fail(__FILE__, __LINE__, #call);                              \
            printf("    %s: %s\n", okra_status_name(harness_st), okra_message()); \
        }                                                                         \
    } while (0)

/* A call that must fail with this status; `text` (may be NULL) must be in the message. */
#define CHECK_FAILS(call, status, text)                                               \
    do {                                                                              \
        okra_status harness_st = (call);                                              \
        const char *harness_text = (text);                                            \
        harness_checks++;                                                             \
        if (harness_st != (status)) {                                                 \
            harness_fail(__FILE__, __LINE__, #call " should fail with " #status);     \
            printf("    got %s: %s\n", okra_status_name(harness_st), okra_message()); \
        } else if (harness_text && !strstr(okra_message(), harness_text)) {           \
            harness_fail(__FILE__, __LINE__, #call ": other message");                \
            printf("    got:  %s\n    want: %s\n", okra_message(), harness_text);     \
        }                                                                             \
    } while (0)

#define CHECK_NEAR(got, want, tolerance)                                          \
    do {                                                                          \
        double harness_a = (got), harness_b = (want), harness_t = (tolerance);    \
        harness_checks++;                                                         \
        if (!(fabs(harness_a - harness_b) <= harness_t)) {                        \
            harness_fail(__FILE__, __LINE__, #got " near " #want);                \
            printf("    got %.17g, want %.17g, difference %.3g, allowed %.3g\n",  \
                   harness_a, harness_b, fabs(harness_a - harness_b), harness_t); \
        }                                                                         \
    } while (0)

#define CHECK_TEXT(got, want)                                                        \
    do {                                                                             \
        const char *harness_a = (got), *harness_b = (want);                          \
        harness_checks++;                                                            \
        if (!harness_a || strcmp(harness_a, harness_b) != 0) {                       \
            harness_fail(__FILE__, __LINE__, #got " equals " #want);                 \
            printf("    got:  %s\n    want: %s\n", harness_a ? harness_a : "(null)", \
                   harness_b);                                                       \
        }                                                                            \
    } while (0)

#define SKIP(reason)                       \
    do {                                   \
        printf("  skipped: %s\n", reason); \
        harness_skips++;                   \
        return;                            \
    } while (0)

/* One number 0..count-1 after another out of a case number, so that a loop over cases
 * runs through every combination: shape = pick(&rest, SHAPES), size = pick(&rest, SIZES),
 * ... */
static inline int pick(int *rest, int count)
{
    int picked = *rest % count;
    *rest /= count;
    return picked;
}

/* Largest |a-b| over the entries, divided by the largest |b| (1 if b is 0); NaN stays. */
static inline double harness_relative(okra_int count, const double *a, const double *b)
{
    double worst = 0, scale = 0;
    for (okra_int i = 0; i < count; i++) {
        double e = fabs(a[i] - b[i]);
        if (!(e <= worst)) {
            worst = e;
        }
        if (fabs(b[i]) > scale) {
            scale = fabs(b[i]);
        }
    }
    return scale > 0 ? worst / scale : worst;
}

static inline void harness_normals(okra_random_ *r, okra_int count, double *x)
{
    for (okra_int i = 0; i < count; i++) {
        x[i] = okra_random_normal_(r);
    }
}

/* Where threads are watched or a processor is emulated, every seventh allocation fails in
 * its turn. */
#if defined __SANITIZE_THREAD__ || defined OKRA_EMULATED
#define HARNESS_STEP 7
#else
#define HARNESS_STEP 1
#endif

/* Sweeps failing allocations through `call` (an expression of type okra_status): the k-th
 * allocation fails, k = 0, 1, ... until the call succeeds. Each failure must be
 * OKRA_EMEM and leak nothing; `cleanup` runs after a success. */
#define CHECK_ALLOCATIONS(call, cleanup)                                         \
    do {                                                                         \
        for (okra_int harness_k = 0;; harness_k += HARNESS_STEP) {               \
            okra_int harness_live = okra_alloc_live_blocks_();                   \
            okra_alloc_fail_at_(harness_k);                                      \
            okra_status harness_st = (call);                                     \
            okra_alloc_fail_at_(-1);                                             \
            harness_checks++;                                                    \
            if (harness_st == OKRA_OK) {                                         \
                cleanup;                                                         \
                if (okra_alloc_live_blocks_() != harness_live) {                 \
                    harness_fail(__FILE__, __LINE__, #call " leaks on success"); \
                }                                                                \
                break;                                                           \
            }                                                                    \
            if (harness_st != OKRA_EMEM) {                                       \
                harness_fail(__FILE__, __LINE__, #call ": not OKRA_EMEM");       \
                printf("    allocation %lld: %s: %s\n", (long long)harness_k,    \
                       okra_status_name(harness_st), okra_message());            \
                break;                                                           \
            }                                                                    \
            if (okra_alloc_live_blocks_() != harness_live) {                     \
                harness_fail(__FILE__, __LINE__, #call " leaks on failure");     \
                printf("    allocation %lld\n", (long long)harness_k);           \
                break;                                                           \
            }                                                                    \
        }                                                                        \
    } while (0)

/* A sanitizer looks at the code, and has no need of all problems: SOME(100) is 100, or 10
 * of them, or 4 where threads are watched or a processor is emulated, which takes
 * longest. */
#if defined __SANITIZE_THREAD__ || defined OKRA_EMULATED
#define SOME(count) (((count) + 29) / 30)
#elif defined __SANITIZE_ADDRESS__
#define SOME(count) (((count) + 9) / 10)
#else
#define SOME(count) (count)
#endif

/* Tests of methods run on other engines too: OKRA_TEST_ENGINE names one, which then
 * serves every context that has none. */
static inline okra_context *harness_engine(void)
{
    okra_context *ctx = NULL;
    const char *name = getenv("OKRA_TEST_ENGINE");
    if (name) {
        CHECK_OK(okra_context_create(&ctx));
        CHECK_OK(okra_context_set_engine(ctx, name));
        okra_engine_assume_(ctx);
    }
    return ctx;
}

static inline int harness_main(const harness_test *tests, size_t count)
{
    okra_context *engine = harness_engine();
    for (size_t i = 0; i < count; i++) {
        int before = harness_failures, skipped = harness_skips;
        okra_int live = okra_alloc_live_blocks_();
        tests[i].run();
        if (okra_alloc_live_blocks_() != live) {
            harness_failures++;
            printf("  leak: %lld blocks\n",
                   (long long)(okra_alloc_live_blocks_() - live));
        }
        printf("%s %s\n",
               harness_failures > before ? "FAIL"
               : harness_skips > skipped ? "skip"
                                         : "ok  ",
               tests[i].name);
    }
    okra_engine_assume_(NULL);
    okra_context_free(engine);
    printf("%d checks, %d failures, %d tests skipped\n", harness_checks, harness_failures,
           harness_skips);
    return harness_failures ? 1 : harness_checks == 0 || harness_skips ? 77 : 0;
}

#define MAIN(...)                                                 \
    int main(void)                                                \
    {                                                             \
        const harness_test tests[] = {__VA_ARGS__};               \
        return harness_main(tests, sizeof tests / sizeof *tests); \
    }

#endif
