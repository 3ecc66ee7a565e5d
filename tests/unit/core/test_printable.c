/* Texts from files, made safe to show. */
#include "core/core.h"
#include "harness.h"
#include "okra/program.h"

static void check(const char *text, const char *want)
{
    char buffer[200];
    CHECK_TEXT(okra_text_printable(text, buffer, sizeof buffer), want);
}

TEST(what_a_terminal_obeys)
{
    check("plain text, \303\251\342\202\254\360\237\230\200",
          "plain text, \303\251\342\202\254\360\237\230\200");
    check("a\tb", "a\tb");
    check("\033[31m\a", "\\x1b[31m\\x07");
    check("one\ntwo\r", "one\\x0atwo\\x0d");
    check("\177", "\\x7f");
    check("\302\233", "\\xc2\\x9b");          /* CSI as one character */
    check("\342\200\256", "\\xe2\\x80\\xae"); /* right to left from here */
    check("\342\201\246", "\\xe2\\x81\\xa6");
    check("\300\200 \355\240\200",
          "\\xc0\\x80 \\xed\\xa0\\x80"); /* too long, a surrogate */
    check("\342\202", "\\xe2\\x82");     /* cut short */
    check("\377", "\\xff");
    check(NULL, "");
}

TEST(short_buffers)
{
    char buffer[8];
    CHECK_TEXT(okra_text_printable("abcdefghij", buffer, sizeof buffer), "abcdefg");
    CHECK_TEXT(okra_text_printable("abcde\033", buffer, sizeof buffer), "abcde");
    CHECK_TEXT(
        okra_text_printable("\303\251\303\251\303\251\303\251", buffer, sizeof buffer),
        "\303\251\303\251\303\251");
    CHECK_TEXT(okra_text_printable("abc", buffer, 1), "");
}

TEST(messages)
{
    okra_fail_(OKRA_EARG, "no '%s'", "\033[2J\nforged");
    CHECK_TEXT(okra_message(), "no '\\x1b[2J\\x0aforged'");
    okra_message_prefix_("%s", "a\033b");
    CHECK_TEXT(okra_message(), "a\\x1bb: no '\\x1b[2J\\x0aforged'");
    okra_fail_(OKRA_EARG, "two\nlines");
    CHECK_TEXT(okra_message(), "two\nlines");
}

MAIN(RUN(what_a_terminal_obeys), RUN(short_buffers), RUN(messages))
