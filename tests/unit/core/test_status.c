/* Status codes, and the message of each thread. */
#include "harness.h"
#include "okra/version.h"

#include <pthread.h>

TEST(every_code_has_name_and_text)
{
    const char *seen[32];
    size_t count = 0;
#define ONE(code, words)                       \
    CHECK((size_t)code == count);              \
    CHECK_TEXT(okra_status_name(code), #code); \
    CHECK_TEXT(okra_status_text(code), words); \
    seen[count++] = okra_status_text(code);
    OKRA_STATUS_LIST(ONE)
#undef ONE
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            CHECK(strcmp(seen[i], seen[j]) != 0);
        }
    }
    CHECK(OKRA_OK == 0);
}

TEST(unknown_codes_are_survived)
{
    CHECK_TEXT(okra_status_text((okra_status)999), "unknown status");
    CHECK_TEXT(okra_status_text((okra_status)-1), "unknown status");
    CHECK_TEXT(okra_status_name((okra_status)999), "OKRA_?");
    CHECK_TEXT(okra_status_name((okra_status)-1), "OKRA_?");
}

TEST(message_is_formatted_and_prefixed)
{
    CHECK(okra_fail_(OKRA_EIO, "line %d: '%s'", 7, "x") == OKRA_EIO);
    CHECK_TEXT(okra_message(), "line 7: 'x'");
    okra_message_prefix_("file %s", "a.csv");
    CHECK_TEXT(okra_message(), "file a.csv: line 7: 'x'");
    /* The old message may be an argument of the new one. */
    CHECK(okra_fail_(OKRA_EARG, "[%s]", okra_message()) == OKRA_EARG);
    CHECK_TEXT(okra_message(), "[file a.csv: line 7: 'x']");
}

TEST(overlong_messages_are_cut_at_the_end)
{
    char text[5000];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    CHECK(okra_fail_(OKRA_EIO, "begin %s end", text) == OKRA_EIO);
    size_t length = strlen(okra_message());
    CHECK(length > 1000 && length < sizeof text);
    CHECK(strncmp(okra_message(), "begin aaa", 9) == 0);
    okra_message_prefix_("file");
    CHECK(strncmp(okra_message(), "file: begin aaa", 15) == 0);
    CHECK(strlen(okra_message()) == length);
    okra_message_prefix_("%s", text);
    CHECK(strncmp(okra_message(), text, length) == 0);
}

static void *other_thread(void *arg)
{
    bool *fine = arg;
    *fine = strcmp(okra_message(), "") == 0;
    okra_fail_(OKRA_EIO, "other");
    *fine = *fine && strcmp(okra_message(), "other") == 0;
    return NULL;
}

TEST(each_thread_has_its_own_message)
{
    pthread_t thread;
    bool fine = false;
    okra_fail_(OKRA_EARG, "mine");
    CHECK(pthread_create(&thread, NULL, other_thread, &fine) == 0);
    pthread_join(thread, NULL);
    CHECK(fine);
    CHECK_TEXT(okra_message(), "mine");
}

TEST(version_is_told)
{
    char text[64];
    snprintf(text, sizeof text, "%d.%d.%d", OKRA_VERSION_MAJOR, OKRA_VERSION_MINOR,
             OKRA_VERSION_PATCH);
    CHECK_TEXT(okra_version(), text);
    CHECK_TEXT(okra_version(), OKRA_VERSION);
}

/* One "name: value" a line, each name once, no empty value. */
TEST(build_info_is_lines_of_name_and_value)
{
    static const char *const wanted[] = {"version", "compiler", "openblas", "flags",
                                         "sanitizers"};
    bool found[sizeof wanted / sizeof *wanted] = {false};
    for (const char *line = okra_build_info(); *line;) {
        size_t length = strcspn(line, "\n"), name = strcspn(line, ":");
        CHECK(line[length] == '\n');
        CHECK(name > 0 && name + 2 < length && line[name + 1] == ' ');
        for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
            if (strlen(wanted[i]) == name && strncmp(line, wanted[i], name) == 0) {
                CHECK(!found[i]);
                found[i] = true;
            }
        }
        line += length + (line[length] == '\n');
    }
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        CHECK(found[i]);
    }
}

MAIN(RUN(every_code_has_name_and_text), RUN(unknown_codes_are_survived),
     RUN(message_is_formatted_and_prefixed), RUN(overlong_messages_are_cut_at_the_end),
     RUN(each_thread_has_its_own_message), RUN(version_is_told),
     RUN(build_info_is_lines_of_name_and_value))
