/*
 * Kernel expressions: canonical text, messages that point at the character.
 */
#include "harness.h"
#include "kernel/kernel.h"
#include "okra/more/traits.h"

static void check_text(const char *text, const char *canonical)
{
    okra_kernel *kernel = NULL, *again = NULL;
    CHECK_OK(okra_kernel_parse(text, &kernel));
    if (kernel) {
        CHECK_TEXT(okra_kernel_text(kernel), canonical);
        CHECK_OK(okra_kernel_parse(okra_kernel_text(kernel), &again));
        if (again) {
            CHECK_TEXT(okra_kernel_text(again), canonical);
        }
    }
    okra_kernel_free(kernel);
    okra_kernel_free(again);
}

TEST(canonical_text)
{
    check_text("position( poly(degree=3) | normalize )",
               "position(poly(degree=3,gamma=1,coef0=1) | normalize,map=no)");
    check_text("patches(linear,width=16,patch=4)",
               "patches(linear,width=16,patch=4,overlap=5)");
    check_text("2*position(linear,map=1)@2 | normalize",
               "2*position(linear,map=yes)@2 | normalize");
    check_text("rbf(sigma=1)@1 + linear@2", "rbf(sigma=1)@1 + linear@2");
    check_text("(linear | normalize)@2", "cosine@2");
    check_text("mean(linear@1, 3*zero-one@2)", "0.5*(linear@1 + 3*zero-one@2)");
    check_text("mean(linear)", "linear");
    check_text("position(position(linear))", "position(position(linear,map=no),map=no)");

    check_text("linear", "linear");
    check_text(" linear ( ) ", "linear");
    check_text("rbf(sigma=4)", "rbf(sigma=4)");
    check_text("linear | rbf ( gamma = 1e-1 )", "rbf(gamma=0.1)");
    check_text("poly", "poly(degree=3,gamma=1,coef0=1)");
    check_text("poly(coef0=0)", "poly(degree=3,gamma=1,coef0=0)");
    check_text("linear|normalize", "cosine");
    check_text("linear|tanimoto|center", "tanimoto | center");
    check_text("laplacian(gamma=0.30000000000000004)",
               "laplacian(gamma=0.30000000000000004)");
    check_text("linear | poly-series(0,.1,0.3,0)", "linear | poly-series(0,0.1,0.3)");
    check_text("linear | poly-series(c2=1)", "linear | poly-series(0,0,1)");
    check_text("linear | poly-series", "linear | poly-series(0)");
    check_text("zero-one | exp", "zero-one | exp(scale=1)");
    check_text("0.5*linear+0.5*cosine", "0.5*linear + 0.5*cosine");
    check_text("2*linear*3*zero-one", "6*linear*zero-one");
    check_text("2*(3*(linear))", "6*linear");
    check_text("(2)*linear*(0.5)", "linear");
    check_text("2*3", "6");
    check_text("linear + 1", "linear + 1");
    check_text("0.5+linear", "0.5 + linear");
    check_text("linear + (linear + linear)", "linear + (linear + linear)");
    check_text("(linear + linear) + linear", "linear + linear + linear");
    check_text("linear * (linear * linear)", "linear*(linear*linear)");
    check_text("(linear + 1) * cosine", "(linear + 1)*cosine");
    check_text("(zero-one | center) * cosine", "(zero-one | center)*cosine");
    check_text("2*(zero-one | center)", "2*(zero-one | center)");
    check_text("linear + cosine | normalize", "linear + cosine | normalize");
    check_text("linear + (zero-one | normalize)", "linear + (zero-one | normalize)");
    check_text("2*linear | rbf(sigma=1) | power(p=3)",
               "2*linear | rbf(sigma=1) | power(p=3)");
}

static void check_error(const char *text, const char *message)
{
    okra_kernel *kernel = NULL;
    okra_status st = okra_kernel_parse(text, &kernel);
    CHECK(st == OKRA_EARG || st == OKRA_EUNSUPPORTED);
    CHECK(kernel == NULL);
    CHECK_TEXT(okra_message(), message);
    okra_kernel_free(kernel);
}

TEST(messages_of_syntax)
{
    check_error("", "kernel expression: expected a kernel, a number or '('\n"
                    "    \n"
                    "    ^");
    check_error("linear +", "kernel expression: expected a kernel, a number or '('\n"
                            "    linear +\n"
                            "            ^");
    check_error("linear linear", "kernel expression: expected '+', '*', '|' or the end\n"
                                 "    linear linear\n"
                                 "           ^");
    check_error("(linear", "kernel expression: expected '+', '*', '|' or ')'\n"
                           "    (linear\n"
                           "           ^");
    check_error("linear)", "kernel expression: expected '+', '*', '|' or the end\n"
                           "    linear)\n"
                           "          ^");
    check_error("linear | ", "kernel expression: expected a transform\n"
                             "    linear | \n"
                             "             ^");
    check_error("rbf(sigma=4", "kernel expression: expected ',' or ')'\n"
                               "    rbf(sigma=4\n"
                               "               ^");
    check_error("rbf(sigma=4x)", "kernel expression: expected ',' or ')'\n"
                                 "    rbf(sigma=4x)\n"
                                 "               ^");
    check_error("rbf(sigma=)", "kernel expression: expected a value\n"
                               "    rbf(sigma=)\n"
                               "              ^");
    check_error("rbf(4)", "kernel expression: expected name=value, as in rbf(sigma=...)\n"
                          "    rbf(4)\n"
                          "        ^");
    check_error("linear(3)", "kernel expression: linear has no parameters\n"
                             "    linear(3)\n"
                             "           ^");
    check_error("linear@0",
                "kernel expression: expected the number of a part after '@', 1 to 64\n"
                "    linear@0\n"
                "          ^");
    check_error("(linear@1 + linear)@2", "kernel expression: a part is chosen twice\n"
                                         "    (linear@1 + linear)@2\n"
                                         "                       ^");
    check_error("position", "kernel expression: position takes a kernel first, as in "
                            "position(linear)\n"
                            "    position\n"
                            "            ^");
    check_error("position(linear map=1)", "kernel expression: expected ',' or ')'\n"
                                          "    position(linear map=1)\n"
                                          "                    ^");
    check_error("position(linear,)", "kernel expression: expected name=value, as in "
                                     "position(map=...)\n"
                                     "    position(linear,)\n"
                                     "                    ^");
    check_error("mean(linear", "kernel expression: expected ',' or ')'\n"
                               "    mean(linear\n"
                               "               ^");
    check_error("mean", "kernel expression: expected mean(kernel, kernel, ...)\n"
                        "    mean\n"
                        "        ^");
    check_error("1e300*1e300*linear",
                "kernel expression: the product of the numbers overflows\n"
                "    1e300*1e300*linear\n"
                "    ^");
}

TEST(messages_of_names_and_values)
{
    check_error("rbg(sigma=4)",
                "kernel expression: unknown kernel 'rbg', did you mean 'rbf'?\n"
                "    rbg(sigma=4)\n"
                "    ^");
    check_error("RBF", "kernel expression: unknown kernel 'RBF', did you mean 'rbf'?\n"
                       "    RBF\n"
                       "    ^");
    check_error("quadrangular", "kernel expression: unknown kernel 'quadrangular'\n"
                                "    quadrangular\n"
                                "    ^");
    check_error("linear | normalise",
                "kernel expression: unknown transform 'normalise', did you mean "
                "'normalize'?\n"
                "    linear | normalise\n"
                "             ^");
    check_error("center", "kernel expression: 'center' is a transform: it follows a "
                          "kernel and a pipe, as in linear | center\n"
                          "    center\n"
                          "    ^");
    check_error("linear | laplacian(gamma=1)",
                "kernel expression: 'laplacian' is a kernel, expected a transform\n"
                "    linear | laplacian(gamma=1)\n"
                "             ^");
    check_error("rbf(sgma=4)",
                "kernel expression: rbf has no parameter 'sgma', did you mean 'sigma'?\n"
                "    rbf(sgma=4)\n"
                "        ^");
    check_error("rbf(sigma=4,sigma=5)", "kernel expression: sigma is given twice\n"
                                        "    rbf(sigma=4,sigma=5)\n"
                                        "                ^");
    check_error("2*laplacian", "kernel expression: laplacian needs gamma\n"
                               "    2*laplacian\n"
                               "               ^");
    check_error("rbf(sigma=four)", "rbf: sigma is 'four', expected a number\n"
                                   "    rbf(sigma=four)\n"
                                   "              ^");
    check_error("poly(degree=2.5)", "poly: degree is '2.5', expected a whole number\n"
                                    "    poly(degree=2.5)\n"
                                    "                ^");
    check_error("poly(degree=0)", "poly: degree is 0, expected 1 to 1000\n"
                                  "    poly(degree=0)\n"
                                  "                ^");
    check_error("linear + rbf",
                "rbf needs exactly one of sigma and gamma, a number above 0\n"
                "    linear + rbf\n"
                "             ^");
    check_error("rbf(sigma=1,gamma=1)",
                "rbf needs exactly one of sigma and gamma, a number above 0\n"
                "    rbf(sigma=1,gamma=1)\n"
                "    ^");
    check_error("linear | poly-series(0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1)",
                "kernel expression: poly-series takes 17 values at most\n"
                "    ...r | poly-series(0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1)\n"
                "                                                         ^");
}

/* The caret counts characters, not bytes; long texts are cut around it. */
TEST(caret_in_long_and_foreign_texts)
{
    check_error("\xc3\xa9 linear", "kernel expression: expected a kernel, a number or "
                                   "'('\n"
                                   "    \xc3\xa9 linear\n"
                                   "    ^");
    check_error("\xc3\xa9", "kernel expression: expected a kernel, a number or '('\n"
                            "    \xc3\xa9\n"
                            "    ^");
    check_error("linear\n+\n?", "kernel expression: expected a kernel, a number or '('\n"
                                "    linear + ?\n"
                                "             ^");
    check_error(
        "linear + linear + linear + linear + linear + linear + linear + what + "
        "linear + linear + linear + linear + linear",
        "kernel expression: unknown kernel 'what'\n"
        "    ...ar + linear + linear + linear + linear + linear + what + linear + "
        "linear + linea...\n"
        "                                                         ^");
}

TEST(limits)
{
    char text[8000];
    okra_kernel *kernel = NULL;
    memset(text, '(', 101);
    strcpy(text + 101, "linear");
    CHECK_FAILS(okra_kernel_parse(text, &kernel), OKRA_EARG,
                "more than 100 parentheses within one another");
    strcpy(text, "linear");
    for (int i = 0; i < 600; i++) {
        strcat(text, "+linear");
    }
    CHECK_FAILS(okra_kernel_parse(text, &kernel), OKRA_EARG, "more than 1000 parts");
    strcpy(text, "linear");
    for (int i = 0; i < 1000; i++) {
        strcat(text, "|exp");
    }
    CHECK_FAILS(okra_kernel_parse(text, &kernel), OKRA_EARG, "more than 1000 parts");
    CHECK_FAILS(okra_kernel_parse(NULL, &kernel), OKRA_EARG, "text is NULL");
}

TEST(grids_are_refused_by_kernels)
{
    check_error("rbf(sigma={1,2})",
                "kernel expression: '{1,2}' is a grid of values for selection: a kernel "
                "needs one value here\n"
                "    rbf(sigma={1,2})\n"
                "              ^");
    check_error("rbf(gamma=1e-3..10:5)",
                "kernel expression: '1e-3..10:5' is a grid of values for selection: a "
                "kernel needs one value here\n"
                "    rbf(gamma=1e-3..10:5)\n"
                "              ^");
    check_error(
        "{linear,cosine} | normalize",
        "kernel expression: '{linear,cosine}' are alternatives for selection: one "
        "kernel is needed here\n"
        "    {linear,cosine} | normalize\n"
        "    ^");
    check_error("auto*linear", "kernel expression: 'auto' is a grid of values for "
                               "selection: a kernel needs one value here\n"
                               "    auto*linear\n"
                               "    ^");
}

TEST(linear_or_not)
{
    static const struct {
        const char *text;
        bool linear;
        double scale;
    } cases[] = {{"linear", true, 1},       {"2*linear", true, 2},
                 {"2*(3*linear)", true, 6}, {"linear+1", false, 0},
                 {"cosine", false, 0},      {"rbf(sigma=1)", false, 0},
                 {"2*zero-one", false, 0}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        okra_kernel *kernel = NULL;
        double scale = 0;
        CHECK_OK(okra_kernel_parse(cases[k].text, &kernel));
        CHECK(okra_kernel_is_linear_(kernel, &scale) == cases[k].linear);
        CHECK(!cases[k].linear || scale == cases[k].scale);
        okra_kernel_free(kernel);
    }
}

/* Every listed kernel can be parsed under its name, every transform after a pipe. */
TEST(lists)
{
    const char *help = NULL, *name;
    const okra_option_table *table = NULL;
    char text[64];
    for (size_t k = 0; k < 100; k++) {
        okra_kernel *kernel = NULL;
        bool is_kernel = k < 50;
        name = is_kernel ? okra_kernel_name(k, &help, &table)
                         : okra_transform_name(k - 50, &help, &table);
        if (name) {
            bool width = okra_option_find_(table, "gamma", 5) && strcmp(name, "poly");
            CHECK(help && *help && table->rows);
            snprintf(text, sizeof text, "%s%s%s", is_kernel ? "" : "linear | ", name,
                     strcmp(name, "position") == 0         ? "(linear)"
                     : strcmp(name, "bag") == 0            ? "(linear)"
                     : strcmp(name, "patches") == 0        ? "(linear,width=4)"
                     : strcmp(name, "jitter") == 0         ? "(gamma=1,width=4)"
                     : strcmp(name, "cost") == 0           ? "(file=c.npy)"
                     : strcmp(name, "metric") == 0         ? "(file=a.npy)"
                     : strcmp(name, "tasks") == 0          ? "(mu=1)"
                     : okra_option_find_(table, "rank", 4) ? "(rank=3)"
                     : width                               ? "(gamma=1)"
                                                           : "");
            CHECK_OK(okra_kernel_parse(text, &kernel));
            okra_kernel_free(kernel);
        }
    }
    CHECK_TEXT(okra_kernel_name(0, NULL, NULL), "linear");
    CHECK(okra_kernel_name(1000, NULL, NULL) == NULL);
    CHECK(okra_transform_name(1000, NULL, NULL) == NULL);
}

TEST(failing_allocations)
{
    const char *text = "0.5*rbf(sigma=2) + (linear | poly-series(0,1) | center)*cosine + "
                       "position(rbf(sigma=1),map=1)*mean(linear@1,linear@2) + "
                       "(linear + cosine | chol(rank=3))@2";
    okra_kernel *kernel = NULL;
    CHECK_ALLOCATIONS(okra_kernel_parse(text, &kernel), okra_kernel_free(kernel));
}

TEST(traits_are_told_by_the_table)
{
    const char *const given[] = {"precomputed", " precomputed ", "precomputed()"};
    for (int k = 0; k < 3; k++) {
        CHECK(okra_kernel_has(given[k], OKRA_KERNEL_GIVEN));
        CHECK(!okra_kernel_has(given[k], OKRA_KERNEL_LINEAR));
    }
    CHECK(okra_kernel_has("linear", OKRA_KERNEL_LINEAR));
    CHECK(okra_kernel_has("zero-one", OKRA_KERNEL_EQUALITY));
    CHECK(!okra_kernel_has("from-distance(repair=none)", OKRA_KERNEL_GIVEN));
    const char *const none[] = {"precomputed | center",
                                "precomputed() + precomputed()",
                                "precomputed +",
                                "precomputed + linear",
                                "precomputed(",
                                "2*precomputed",
                                "auto",
                                "",
                                "("};
    for (int k = 0; k < 9; k++) {
        CHECK(!okra_kernel_has(none[k], OKRA_KERNEL_GIVEN));
    }
    CHECK(!okra_kernel_has(NULL, OKRA_KERNEL_GIVEN));
    CHECK(!okra_kernel_has("linear", (okra_kernel_trait)99));
}

MAIN(RUN(canonical_text), RUN(messages_of_syntax), RUN(messages_of_names_and_values),
     RUN(caret_in_long_and_foreign_texts), RUN(limits), RUN(grids_are_refused_by_kernels),
     RUN(linear_or_not), RUN(lists), RUN(failing_allocations),
     RUN(traits_are_told_by_the_table))
