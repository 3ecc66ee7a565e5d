/* Option tables: defaults, ranges, set-by-name, what a method does not use. */
#include "harness.h"
#include "okra/program.h"

#include <float.h>

typedef struct fields {
    double number;
    okra_int integer;
    bool flag;
    const char *text;
    int choice;
    double free_number;
    const char *needed;
} fields;

static const okra_option rows[] = {
    {"lambda", OKRA_OPTION_NUMBER, offsetof(fields, number), "0.5", 0, 10, NULL, "V",
     "h"},
    {"rank", OKRA_OPTION_INT, offsetof(fields, integer), "7", 1, 1e18, NULL, "N", "h"},
    {"center", OKRA_OPTION_BOOL, offsetof(fields, flag), "yes", 1, 0, NULL, NULL, "h"},
    {"kernel", OKRA_OPTION_TEXT, offsetof(fields, text), "linear", 1, 0, NULL, "E", "h"},
    {"operator", OKRA_OPTION_CHOICE, offsetof(fields, choice), "cov", 1, 0,
     "identity|cov|ccov", NULL, "h"},
    {"shift", OKRA_OPTION_NUMBER, offsetof(fields, free_number), "-1e3", 1, 0, NULL, "V",
     "h"},
    {"input", OKRA_OPTION_TEXT, offsetof(fields, needed), NULL, 1, 0, NULL, "FILE", "h"},
    {0}};
static const okra_option_table table = {"ridge", rows, sizeof(fields)};

typedef struct other_fields {
    okra_int k;
} other_fields;
static const okra_option other_rows[] = {{"neighbours", OKRA_OPTION_INT,
                                          offsetof(other_fields, k), "5", 1, 100, NULL,
                                          "N", "h"},
                                         {0}};
static const okra_option_table other = {"knn", other_rows, sizeof(other_fields)};
static const okra_option_table *const both[] = {&table, &other};

static okra_options *make(void)
{
    okra_options *o = NULL;
    CHECK_OK(okra_options_create(both, 2, &o));
    return o;
}

TEST(defaults_come_from_the_table)
{
    fields f;
    memset(&f, 0xff, sizeof f);
    CHECK_OK(okra_option_defaults_(&table, &f));
    CHECK(f.number == 0.5 && f.integer == 7 && f.flag && f.choice == 1);
    CHECK(f.free_number == -1000 && f.needed == NULL);
    CHECK_TEXT(f.text, "linear");
    okra_options *o = make();
    memset(&f, 0xff, sizeof f);
    CHECK_OK(okra_options_read(o, &table, &f));
    CHECK(f.number == 0.5 && f.integer == 7 && f.flag && f.choice == 1 && !f.needed);
    memset(&f, 0xff, sizeof f);
    CHECK_OK(okra_options_read(NULL, &table, &f)); /* no options: the defaults */
    CHECK(f.number == 0.5);
    CHECK_TEXT(okra_options_get(o, "lambda"), "0.5");
    CHECK(okra_options_get(o, "input") == NULL);
    CHECK(okra_options_get(o, "no such") == NULL);
    CHECK(!okra_options_is_set(o, "lambda"));
    CHECK(!okra_options_is_set(NULL, "lambda"));
    okra_options_free(o);
    okra_options_free(NULL);
}

TEST(a_default_that_breaks_its_own_range_is_found)
{
    static const okra_option wrong[] = {
        {"x", OKRA_OPTION_NUMBER, 0, "3", 0, 1, NULL, NULL, "h"}, {0}};
    static const okra_option_table t = {"bad", wrong, sizeof(double)};
    double field;
    CHECK_FAILS(okra_option_defaults_(&t, &field), OKRA_EARG,
                "bad: x is 3, expected 0 to 1");
}

TEST(what_is_set_is_read)
{
    okra_options *o = make();
    fields f;
    other_fields g;
    CHECK_OK(okra_options_set(o, "lambda", "1e-3"));
    CHECK_OK(okra_options_set(o, "rank", "1000000000000"));
    CHECK_OK(okra_options_set(o, "center", "off"));
    CHECK_OK(okra_options_set(o, "kernel", "rbf(sigma=4)"));
    CHECK_OK(okra_options_set(o, "operator", "ccov"));
    CHECK_OK(okra_options_set(o, "neighbours", "9"));
    CHECK_OK(okra_options_set(o, "lambda", "2")); /* again: replaces */
    CHECK_OK(okra_options_read(o, &table, &f));
    CHECK(f.number == 2 && f.integer == 1000000000000 && !f.flag && f.choice == 2);
    CHECK_TEXT(f.text, "rbf(sigma=4)");
    CHECK_OK(okra_options_read(o, &other, &g));
    CHECK(g.k == 9);
    CHECK(okra_options_is_set(o, "lambda") && !okra_options_is_set(o, "shift"));
    CHECK_TEXT(okra_options_get(o, "lambda"), "2");
    okra_options_free(o);
}

TEST(numbers_survive_being_texts)
{
    static const double values[] = {0.1, 1.0 / 3, 1e-300, DBL_MIN, DBL_TRUE_MIN, 10};
    okra_options *o = make();
    fields f;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        CHECK_OK(okra_options_set_number(o, "lambda", values[i]));
        CHECK_OK(okra_options_read(o, &table, &f));
        CHECK(f.number == values[i]);
    }
    CHECK_OK(okra_options_set_number(o, "shift", -DBL_MAX));
    CHECK_OK(okra_options_set_number(o, "rank", 12));
    CHECK_OK(okra_options_read(o, &table, &f));
    CHECK(f.free_number == -DBL_MAX && f.integer == 12);
    CHECK_FAILS(okra_options_set_number(o, "rank", 2.5), OKRA_EARG, "'2.5'");
    CHECK_FAILS(okra_options_set_number(o, "lambda", NAN), OKRA_EARG, "lambda is '");
    okra_options_free(o);
}

/* Each wrong value with its whole message; the old value stays. */
TEST(wrong_values_are_refused)
{
    static const struct {
        const char *name, *value, *message;
    } wrong[] = {
        {"lambda", "-0.1", "ridge: lambda is -0.1, expected 0 to 10"},
        {"lambda", "10.01", "ridge: lambda is 10.01, expected 0 to 10"},
        {"lambda", "inf", "ridge: lambda is inf, expected 0 to 10"},
        {"lambda", "1e400", "ridge: lambda is 1e400, expected 0 to 10"},
        {"lambda", "nan", "ridge: lambda is 'nan', expected a number"},
        {"lambda", "", "ridge: lambda is '', expected a number"},
        {"lambda", "1,5", "ridge: lambda is '1,5', expected a number"},
        {"lambda", "1 ", "ridge: lambda is '1 ', expected a number"},
        {"lambda", "x1", "ridge: lambda is 'x1', expected a number"},
        {"rank", "0", "ridge: rank is 0, expected 1 to 1e+18"},
        {"rank", "1.5", "ridge: rank is '1.5', expected a whole number"},
        {"rank", "1e3", "ridge: rank is '1e3', expected a whole number"},
        {"rank", "", "ridge: rank is '', expected a whole number"},
        {"rank", "99999999999999999999",
         "ridge: rank is '99999999999999999999', expected a whole number"},
        {"rank", "-99999999999999999999",
         "ridge: rank is '-99999999999999999999', expected a whole number"},
        {"rank", "9223372036854775807",
         "ridge: rank is 9223372036854775807, expected 1 to 1e+18"},
        {"center", "maybe", "ridge: center is 'maybe', expected yes or no"},
        {"center", "", "ridge: center is '', expected yes or no"},
        {"center", "YES", "ridge: center is 'YES', expected yes or no"},
        {"operator", "co", "ridge: operator is 'co', expected one of identity|cov|ccov"},
        {"operator", "covv",
         "ridge: operator is 'covv', expected one of identity|cov|ccov"},
        {"operator", "", "ridge: operator is '', expected one of identity|cov|ccov"},
        {"operator", "cov|ccov",
         "ridge: operator is 'cov|ccov', expected one of identity|cov|ccov"},
    };
    okra_options *o = make();
    CHECK_OK(okra_options_set(o, "lambda", "4"));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK_FAILS(okra_options_set(o, wrong[i].name, wrong[i].value), OKRA_EARG, NULL);
        CHECK_TEXT(okra_message(), wrong[i].message);
    }
    CHECK_TEXT(okra_options_get(o, "lambda"), "4");
    CHECK(!okra_options_is_set(o, "rank") && !okra_options_is_set(o, "operator"));
    okra_options_free(o);
}

TEST(every_spelling_of_yes_and_no)
{
    static const char *const yes[] = {"1", "true", "yes", "on"};
    static const char *const no[] = {"0", "false", "no", "off"};
    for (int i = 0; i < 4; i++) {
        bool flag = false;
        CHECK_OK(okra_option_parse_("x", &rows[2], yes[i], &flag));
        CHECK(flag);
        CHECK_OK(okra_option_parse_("x", &rows[2], no[i], &flag));
        CHECK(!flag);
    }
}

TEST(every_choice_has_its_index)
{
    int choice = -1;
    CHECK_OK(okra_option_parse_("x", &rows[4], "identity", &choice));
    CHECK(choice == 0);
    CHECK_OK(okra_option_parse_("x", &rows[4], "cov", &choice));
    CHECK(choice == 1);
    CHECK_OK(okra_option_parse_("x", &rows[4], "ccov", &choice));
    CHECK(choice == 2);
}

TEST(an_unknown_type_is_an_internal_error)
{
    okra_option strange = rows[0];
    strange.type = (okra_option_type)99;
    double field;
    CHECK_FAILS(okra_option_parse_("x", &strange, "1", &field), OKRA_EINTERNAL,
                "x: lambda has an unknown type");
}

TEST(unknown_names_get_the_nearest)
{
    okra_options *o = make();
    CHECK_FAILS(okra_options_set(o, "lamda", "1"), OKRA_EARG,
                "there is no option 'lamda'; did you mean 'lambda'?");
    CHECK_FAILS(okra_options_set(o, "neighbors", "1"), OKRA_EARG,
                "did you mean 'neighbours'?");
    CHECK_FAILS(okra_options_set(o, "zzzzzzzzzz", "1"), OKRA_EARG, NULL);
    CHECK_TEXT(okra_message(), "there is no option 'zzzzzzzzzz'");
    CHECK_FAILS(okra_options_set(o, "", "1"), OKRA_EARG, "there is no option ''");
    okra_options_free(o);
}

TEST(nearest_by_edit_distance)
{
    static const char *const names[] = {"rbf", "linear", "laplacian", "poly"};
    CHECK_TEXT(okra_nearest("rfb", names, 4), "rbf");
    CHECK_TEXT(okra_nearest("liner", names, 4), "linear");
    CHECK_TEXT(okra_nearest("laplacain", names, 4), "laplacian");
    CHECK_TEXT(okra_nearest("polynom", names, 4), "poly");
    CHECK(okra_nearest("tanimoto", names, 4) == NULL);
    CHECK(okra_nearest("xyz", names, 4) == NULL); /* all letters differ: not near */
    CHECK(okra_nearest("rbf", names, 0) == NULL);
    char longest[300];
    memset(longest, 'r', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    CHECK(okra_nearest(longest, names, 4) == NULL);
}

TEST(find_compares_whole_names)
{
    CHECK(okra_option_find_(&table, "lambda=3", 6) == &rows[0]);
    CHECK(okra_option_find_(&table, "lam", 3) == NULL);
    CHECK(okra_option_find_(&table, "lambdas", 7) == NULL);
    CHECK(okra_option_find_(&table, "", 0) == NULL);
}

TEST(options_that_nobody_uses_are_refused)
{
    okra_options *o = make();
    const okra_option_table *const mine[] = {&table};
    CHECK_OK(okra_options_check_used_(o, mine, 1, "method ridge"));
    CHECK_OK(okra_options_check_used_(NULL, mine, 1, "method ridge"));
    CHECK_OK(okra_options_set(o, "lambda", "1"));
    CHECK_OK(okra_options_check_used_(o, mine, 1, "method ridge"));
    CHECK_OK(okra_options_set(o, "neighbours", "3"));
    CHECK_OK(okra_options_check_used_(o, both, 2, "all"));
    CHECK_FAILS(okra_options_check_used_(o, mine, 1, "method ridge"), OKRA_EARG, NULL);
    CHECK_TEXT(okra_message(), "method ridge does not use the option 'neighbours'");
    CHECK_FAILS(okra_options_check_used_(o, NULL, 0, "nobody"), OKRA_EARG, "'lambda'");
    okra_options_free(o);
}

TEST(each_goes_through_what_was_set_in_order)
{
    okra_options *o = make(), *copy = NULL;
    const char *value = NULL;
    CHECK(okra_options_each_(o, 0, &value) == NULL);
    CHECK(okra_options_each_(NULL, 0, &value) == NULL);
    CHECK_OK(okra_options_set(o, "rank", "3"));
    CHECK_OK(okra_options_set(o, "lambda", "1"));
    CHECK_OK(okra_options_set(o, "rank", "4"));
    CHECK_OK(okra_options_copy(o, &copy));
    okra_options_free(o); /* a copy stands alone */
    CHECK_TEXT(okra_options_each_(copy, 0, &value), "rank");
    CHECK_TEXT(value, "4");
    CHECK_TEXT(okra_options_each_(copy, 1, &value), "lambda");
    CHECK_TEXT(value, "1");
    CHECK(okra_options_each_(copy, 2, &value) == NULL);
    okra_options_free(copy);
}

static okra_status set_many(okra_options **out)
{
    static const char *const names[] = {"lambda", "rank",  "center", "kernel",
                                        "shift",  "input", "lambda", "neighbours"};
    okra_options *o = NULL;
    okra_status st = OKRA_OK;
    TRY(okra_options_create(both, 2, &o));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        TRY(okra_options_set(o, names[i], "1"));
    }
    TRY(okra_options_copy(o, out));
done:
    okra_options_free(o);
    return st;
}

TEST(allocation_may_fail_anywhere)
{
    okra_options *o = NULL;
    CHECK_ALLOCATIONS(set_many(&o), okra_options_free(o));
}

/* More settings than the first capacity. */
TEST(many_options_fit)
{
    enum { MANY = 50 };
    char names[MANY][8];
    okra_option many[MANY + 1] = {{0}};
    for (size_t i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof names[i], "x%zu", i);
        many[i] = (okra_option){.name = names[i],
                                .type = OKRA_OPTION_INT,
                                .offset = i * sizeof(okra_int),
                                .preset = "-1",
                                .low = 1};
    }
    okra_option_table t = {"many", many, MANY * sizeof(okra_int)};
    const okra_option_table *const tables[] = {&t};
    okra_options *o = NULL;
    okra_int got[MANY];
    CHECK_OK(okra_options_create(tables, 1, &o));
    for (int i = 0; i < MANY; i += 2) {
        CHECK_OK(okra_options_set_number(o, names[i], i));
    }
    CHECK_OK(okra_options_read(o, &t, got));
    for (int i = 0; i < MANY; i++) {
        CHECK(got[i] == (i % 2 ? -1 : i));
    }
    okra_options_free(o);
}

MAIN(RUN(defaults_come_from_the_table), RUN(a_default_that_breaks_its_own_range_is_found),
     RUN(what_is_set_is_read), RUN(numbers_survive_being_texts),
     RUN(wrong_values_are_refused), RUN(every_spelling_of_yes_and_no),
     RUN(every_choice_has_its_index), RUN(an_unknown_type_is_an_internal_error),
     RUN(unknown_names_get_the_nearest), RUN(nearest_by_edit_distance),
     RUN(find_compares_whole_names), RUN(options_that_nobody_uses_are_refused),
     RUN(each_goes_through_what_was_set_in_order), RUN(allocation_may_fail_anywhere),
     RUN(many_options_fit))
