/* Engines by name: found in OKRA_ENGINE_PATH alone, checked, and never from a relative
 * path. */
#include "harness.h"

#include "engine/engine.h"
#include "okra/more/group.h"

#include <unistd.h>

static const char *plugins;

static bool have_plugins(void)
{
    plugins = getenv("OKRA_TEST_PLUGINS");
    return plugins != NULL;
}

TEST(host_is_always_there)
{
    okra_context *ctx = NULL;
    CHECK_OK(okra_context_create(&ctx));
    CHECK_OK(okra_context_set_engine(ctx, "host"));
    CHECK_FAILS(okra_context_set_engine(ctx, "host:1"), OKRA_EARG, "no devices");
    CHECK_FAILS(okra_context_set_engine(NULL, "host"), OKRA_EARG, "context is NULL");
    CHECK_FAILS(okra_context_set_engine(ctx, NULL), OKRA_EARG, "text is NULL");
    okra_context_free(ctx);
}

TEST(names_are_checked)
{
    static const char *const bad[] = {"",     ":",     "../test", "a/b",
                                      "Test", "te st", "/tmp/x"};
    okra_context *ctx = NULL;
    CHECK_OK(okra_context_create(&ctx));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_FAILS(okra_context_set_engine(ctx, bad[i]), OKRA_EARG, "engine is '");
    }
    CHECK_FAILS(okra_context_set_engine(ctx, "absent"), OKRA_EUNSUPPORTED,
                "there is no libokra-absent.so in /");
    okra_context_free(ctx);
}

TEST(a_plugin_is_opened_and_closed)
{
    okra_context *ctx = NULL;
    okra_matrix_ *A = NULL;
    if (!have_plugins()) {
        SKIP("no OKRA_TEST_PLUGINS");
    }
    setenv("OKRA_ENGINE_PATH", plugins, 1);
    CHECK_OK(okra_context_create(&ctx));
    CHECK_OK(okra_context_set_engine(ctx, "test"));
    CHECK_OK(okra_matrix_create_(ctx, 3, 3, "a test", &A));
    CHECK_OK(okra_matrix_fill_(ctx, 2, A));
    okra_matrix_free_(A);
    CHECK_FAILS(okra_context_set_engine(ctx, "test:fail"), OKRA_EUNSUPPORTED,
                "there is no device 'fail'");
    CHECK_FAILS(okra_context_set_engine(ctx, "later"), OKRA_EVERSION, "interface 6");
    CHECK_OK(okra_context_set_engine(ctx, "test:0"));
    CHECK_OK(okra_context_set_engine(ctx, "host"));
    okra_context_free(ctx);
    CHECK_ALLOCATIONS(okra_context_create(&ctx) != OKRA_OK
                          ? OKRA_EMEM
                          : (okra_context_set_engine(ctx, "test") != OKRA_OK
                                 ? (okra_context_free(ctx), OKRA_EMEM)
                                 : OKRA_OK),
                      okra_context_free(ctx));
    unsetenv("OKRA_ENGINE_PATH");
}

TEST(relative_paths_are_refused)
{
    okra_context *ctx = NULL;
    char here[4096];
    if (!have_plugins()) {
        SKIP("no OKRA_TEST_PLUGINS");
    }
    CHECK(getcwd(here, sizeof here) != NULL);
    CHECK(chdir(plugins) == 0);
    CHECK_OK(okra_context_create(&ctx));
    setenv("OKRA_ENGINE_PATH", ".", 1);
    CHECK_FAILS(okra_context_set_engine(ctx, "test"), OKRA_EARG, "not an absolute path");
    unsetenv("OKRA_ENGINE_PATH");
    CHECK_FAILS(okra_context_set_engine(ctx, "test"), OKRA_EUNSUPPORTED, "there is no");
    CHECK(chdir(here) == 0);
    okra_context_free(ctx);
}

typedef struct seen {
    int all, running;
    bool host, cuda, test, later;
} seen;

static void look(void *user, const char *name, bool runs, const char *text)
{
    seen *s = user;
    s->all++;
    s->running += runs;
    s->host = s->host || (strcmp(name, "host") == 0 && runs);
    s->cuda = s->cuda || strcmp(name, "cuda") == 0;
    s->test = s->test || (strcmp(name, "test") == 0 && runs);
    s->later =
        s->later || (strcmp(name, "later") == 0 && !runs && strstr(text, "interface"));
}

TEST(engines_are_listed_with_the_reason_for_absence)
{
    seen s = {0};
    okra_engine_each(look, &s);
    CHECK(s.host && s.cuda && s.all >= 3);
    okra_engine_each(NULL, NULL);
    if (have_plugins()) {
        setenv("OKRA_ENGINE_PATH", plugins, 1);
        s = (seen){0};
        okra_engine_each(look, &s);
        CHECK(s.host && s.test && s.later);
        unsetenv("OKRA_ENGINE_PATH");
    }
}

MAIN(RUN(host_is_always_there), RUN(names_are_checked),
     RUN(a_plugin_is_opened_and_closed), RUN(relative_paths_are_refused),
     RUN(engines_are_listed_with_the_reason_for_absence))
