/* Cells of tables: moments, the rule of verdicts at and beside its bounds, reasons, and
 * what people read. */
#include "../../../papers/table.c"

#include "harness.h"

static paper_run run;
static bool other_data; /* does the entry tell a deviation? */

static int begin(paper_better better)
{
    json_decref(run.result);
    run.result = json_pack("{s:s,s:s,s:s,s:s,s:f,s:[],s:[],s:[s]}", "name", "n", "paper",
                           "p", "title", "t", "mode", "quick", "seconds", 1.5, "tables",
                           "figures", "remarks", "a remark");
    if (other_data) {
        json_object_set_new(run.result, "deviations", json_pack("[s]", "other data"));
    }
    return paper_table(&run, "id", "Title", "loss", better, "one|two words");
}

/* The cell of these values in a table of its own. */
static const json_t *cell_of(paper_better better, paper_cell cell)
{
    int table = begin(better);
    CHECK_OK(paper_put(&run, table, "row", "two words", cell));
    const json_t *t = json_array_get(json_object_get(run.result, "tables"), 0);
    const json_t *row = json_array_get(json_object_get(t, "rows"), 0);
    return json_object_get(json_object_get(row, "cells"), "two words");
}

static const char *text(const json_t *cell, const char *key)
{
    const char *value = json_string_value(json_object_get(cell, key));
    return value ? value : "";
}

static bool judged(paper_better better, double printed, double printed_sd, double low,
                   double high, const char *want)
{
    const double values[] = {low, high};
    paper_cell cell = {printed, printed_sd, values, 2, NULL, PAPER_TOGETHER};
    return strcmp(text(cell_of(better, cell), "verdict"), want) == 0;
}

TEST(moments)
{
    const double values[] = {1, 2, 6};
    double mean, sd;
    paper_moments(values, 3, &mean, &sd);
    CHECK_NEAR(mean, 3, 0);
    CHECK_NEAR(sd, sqrt(7), 1e-15); /* (4 + 1 + 9) / 2 */
    paper_moments(values, 1, &mean, &sd);
    CHECK(mean == 1 && sd == 0);
    paper_moments(values, 0, &mean, &sd);
    CHECK(isnan(mean) && sd == 0);
}

/* Values 3 and 5 have mean 4 and a standard error of 1; with a printed error of sqrt(3)
 * the root of the sum of squares is 2, and the bound of two of them 4. */
TEST(verdicts)
{
    double root = sqrt(3);
    const char *const met = "reproduced as printed";
    CHECK(judged(PAPER_LOWER, 0.001, root, 3, 5, met));
    CHECK(judged(PAPER_LOWER, -0.001, root, 3, 5, "differs"));
    CHECK(judged(PAPER_LOWER, 7.999, root, 3, 5, met));
    CHECK(judged(PAPER_LOWER, 8.001, root, 3, 5, "differs"));
    CHECK(judged(PAPER_HIGHER, 8.001, root, 3, 5, "differs"));
    CHECK(judged(PAPER_NEITHER, -0.001, root, 3, 5, "differs"));
    CHECK(judged(PAPER_LOWER, 4, NAN, 4, 4, met)); /* equal, no deviation */
    CHECK(judged(PAPER_LOWER, 4.1, NAN, 4, 4, "not comparable"));
    CHECK(judged(PAPER_LOWER, NAN, NAN, 3, 5, "not comparable"));
    const double values[] = {3, 5};
    paper_cell cell = {8, root, values, 2, NULL, PAPER_TOGETHER};
    const json_t *c = cell_of(PAPER_LOWER, cell);
    CHECK_NEAR(json_number_value(json_object_get(c, "z")), -2, 1e-15);
    CHECK_NEAR(json_number_value(json_object_get(c, "okra")), 4, 0);
    CHECK_NEAR(json_number_value(json_object_get(c, "okra_sd")), sqrt(2), 1e-15);
    CHECK_NEAR(json_number_value(json_object_get(c, "okra_error")), 1, 1e-15);
    CHECK(json_array_size(json_object_get(c, "values")) == 2);
    const struct {
        paper_apart apart;
        const char *verdict, *mark;
        bool seen;
    } kinds[] = {
        {PAPER_CONSTANT, "reproduced after one constant", "one constant", false},
        {PAPER_FOUND, "reproduced under a found reading", "found reading", false},
        {PAPER_APART, "not comparable", "", false},
        {PAPER_FITTED, "not comparable", "fitted", false},
        {PAPER_SEEN, "not comparable", "", true},
        {PAPER_BOUND, "not comparable", "bound", true},
        {PAPER_LEAK, "not comparable", "test edges leak", true}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        cell.apart = kinds[i].apart;
        c = cell_of(PAPER_LOWER, cell);
        CHECK(strcmp(text(c, "verdict"), kinds[i].verdict) == 0);
        CHECK(strcmp(text(c, "mark"), kinds[i].mark) == 0);
        CHECK(json_is_true(json_object_get(c, "seen")) == kinds[i].seen);
        CHECK_NEAR(json_number_value(json_object_get(c, "z")), -2, 1e-15);
    }
    other_data = true; /* other data: neither better nor worse nor equal counts */
    CHECK(judged(PAPER_LOWER, 8.001, root, 3, 5, "not comparable"));
    CHECK(judged(PAPER_LOWER, 7.999, root, 3, 5, "not comparable"));
    CHECK(judged(PAPER_LOWER, -0.001, root, 3, 5, "not comparable"));
    cell.apart = PAPER_TOGETHER;
    CHECK(strstr(text(cell_of(PAPER_LOWER, cell), "why"), "not the paper's") != NULL);
    other_data = false;
    CHECK_FAILS(paper_put(&run, 1, "row", "one", (paper_cell){.count = 0}),
                OKRA_EINTERNAL, "there is no table 1");
}

TEST(reasons)
{
    const double values[] = {3, 5};
    const struct {
        double printed, printed_sd;
        size_t count;
        const char *given, *want;
    } cases[] = {{1, 0.1, 2, "other data", "other data"},
                 {1, 0.1, 2, NULL, "the reason is not known"},
                 {1, NAN, 1, NULL, "neither has a standard deviation"},
                 {4, 0.1, 2, NULL, ""},   /* reproduced */
                 {NAN, NAN, 2, NULL, ""}, /* not in the paper */
                 {1, 0.1, 0, NULL, ""}};  /* not in ours */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        paper_cell cell = {cases[i].printed, cases[i].printed_sd, values,
                           cases[i].count,   cases[i].given,      PAPER_TOGETHER};
        const char *why = text(cell_of(PAPER_LOWER, cell), "why");
        CHECK(*cases[i].want ? strstr(why, cases[i].want) != NULL : !*why);
    }
}

/* What is printed, whole. */
static char *printed_page(void)
{
    char *page = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&page, &size);
    paper_print(run.result, out);
    fclose(out);
    return page;
}

TEST(pages_of_people)
{
    const double values[] = {3, 5};
    const char *label = "a label that is longer than every column head";
    int table = begin(PAPER_LOWER);
    CHECK_OK(paper_put(&run, table, label, "one",
                       (paper_cell){1, 0.5, values, 2, "other data", PAPER_TOGETHER}));
    CHECK_OK(paper_put(&run, table, label, "two words",
                       (paper_cell){4, 1, values, 2, "other data", PAPER_TOGETHER}));
    CHECK_OK(paper_put(&run, table, "b", "one",
                       (paper_cell){NAN, NAN, values, 2, "other data", PAPER_TOGETHER}));
    char *page = printed_page();
    CHECK(strstr(page, "Title  [loss, lower is better]"));
    CHECK(strstr(page,
                 "1.0000 ± 0.5000     4.0000 ± 1.4142     +2.7  differs: other data"));
    CHECK(strstr(
        page, "+0.0  reproduced as printed\n")); /* no reason where none is asked for */
    CHECK(strstr(page, "-  -\n"));               /* no verdict where nothing is printed */
    CHECK(strstr(page, "remark: a remark\n"));
    free(page);
    begin(PAPER_NEITHER);
    page = printed_page();
    CHECK(strstr(page, "Title  [loss]\n"));
    free(page);
    json_decref(run.result);
}

/* z of values 3, 5, 4 (mean 4, sd 1, se 1/sqrt 3) against 1 printed with 0.6. */
static double z_by(paper_yardstick by, double *shown)
{
    const double values[] = {3, 5, 4};
    int table = begin(PAPER_LOWER);
    paper_yardstick_of(&run, table, by);
    CHECK_OK(paper_put(&run, table, "row", "one",
                       (paper_cell){1, 0.6, values, 3, NULL, PAPER_TOGETHER}));
    const json_t *t = json_array_get(json_object_get(run.result, "tables"), 0);
    const json_t *row = json_array_get(json_object_get(t, "rows"), 0);
    const json_t *c = json_object_get(json_object_get(row, "cells"), "one");
    *shown = json_number_value(json_object_get(c, "okra_sd"));
    CHECK(strstr(text(t, "yardstick"), by.over));
    return json_number_value(json_object_get(c, "z"));
}

TEST(yardsticks)
{
    double shown;
    CHECK_NEAR(z_by((paper_yardstick){.errors = true, .over = "folds"}, &shown),
               3 / sqrt(0.36 + 1.0 / 3), 1e-12);
    CHECK_NEAR(shown, 1 / sqrt(3), 1e-12); /* ± as the paper's: a standard error */
    CHECK_NEAR(z_by((paper_yardstick){.count = 4, .over = "folds"}, &shown),
               3 / sqrt(0.09 + 1.0 / 3), 1e-12);
    CHECK_NEAR(shown, 1, 1e-12);
    CHECK_NEAR(
        z_by((paper_yardstick){.count = 4, .one_draw = true, .over = "networks"}, &shown),
        3 / sqrt(1 + 1.0 / 3), 1e-12); /* our deviation 1 is more than 0.3 */
    CHECK_NEAR(
        z_by((paper_yardstick){.errors = true, .one_draw = true, .over = "sets"}, &shown),
        3 / sqrt(1 + 1.0 / 3), 1e-12);
    json_decref(run.result);
    run.result = NULL;
}

MAIN(RUN(moments), RUN(verdicts), RUN(reasons), RUN(yardsticks), RUN(pages_of_people))
