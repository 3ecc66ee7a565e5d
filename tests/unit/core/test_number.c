/*
 * test_number.c: numbers as text do not depend on the program's locale.
 */
#include "harness.h"

#include <locale.h>

/* Any installed locale whose decimal point is a comma. */
static bool comma_locale(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8",
                                        "fr_FR.utf8", "nl_NL.UTF-8"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (setlocale(LC_NUMERIC, names[i])) {
            return true;
        }
    }
    return false;
}

TEST(round_trip)
{
    static const double values[] = {0, -1.5, 1e-300, 0.1, 12345678.25, 1e300, -0.0625};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char text[40], *end = NULL;
        okra_number_format_(text, sizeof text, 17, values[i]);
        CHECK(okra_strtod_(text, &end) == values[i]);
        CHECK(*end == '\0');
        CHECK(strchr(text, ',') == NULL);
    }
    char text[40];
    okra_number_format_(text, sizeof text, 17, INFINITY);
    CHECK_TEXT(text, "inf");
}

TEST(comma_as_decimal_point)
{
    char before[64], text[40];
    snprintf(before, sizeof before, "%s", setlocale(LC_NUMERIC, NULL));
    if (!comma_locale()) {
        SKIP("no locale with a decimal comma is installed");
    }
    snprintf(text, sizeof text, "%.1f", 1.5);
    CHECK_TEXT(text, "1,5"); /* the locale is in force */
    CHECK(okra_strtod_("1.5", NULL) == 1.5);
    okra_number_format_(text, sizeof text, 17, 1.5);
    CHECK_TEXT(text, "1.5");
    setlocale(LC_NUMERIC, before);
}

MAIN(RUN(round_trip), RUN(comma_as_decimal_point))
