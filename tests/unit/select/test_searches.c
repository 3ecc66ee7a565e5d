/*
 * Which cells a selection looks at: random draws from ranges, and refinement about the
 * best.
 */
#include "toy.h"

#include <unistd.h>

static okra_status run(const toy *t, const char *const *pairs, okra_selection **out)
{
    okra_options *o = select_options(pairs);
    okra_status st = okra_select(NULL, t->inputs, t->outputs, o, NULL, out);
    okra_options_free(o);
    return st;
}

TEST(random_and_refined_searches)
{
    toy *t = make_toy(PAIRS, 0, false, false, 2);
    okra_selection *all = NULL, *some = NULL;
    const char *grid[] = {"kx", "rbf(sigma={0.5,1,2})", "lambda", "1e-4..1:5", NULL};
    const char *drawn[] = {"kx",     "rbf(sigma={0.5,1,2})",
                           "lambda", "1e-4..1:5",
                           "budget", "6",
                           "refine", "12",
                           NULL};
    CHECK_OK(run(t, grid, &all));
    CHECK_OK(run(t, drawn, &some));
    CHECK(okra_selection_count(all) == 15);
    CHECK(okra_selection_count(some) > 6 && okra_selection_count(some) <= 18);
    double best, mean, error;
    CHECK_OK(okra_selection_cell(some, okra_selection_best(some), &best, &error));
    for (okra_int i = 0; i < okra_selection_count(some); i++) {
        CHECK_OK(okra_selection_cell(some, i, &mean, &error));
        CHECK(mean >= best && error > 0);
    }
    for (okra_int i = 0; i < 6; i++) { /* the cells drawn are cells of the grid */
        bool found = false;
        CHECK_OK(okra_selection_cell(some, i, &mean, &error));
        for (okra_int j = 0; j < 15; j++) {
            double other;
            CHECK_OK(okra_selection_cell(all, j, &other, &error));
            found = found || fabs(other - mean) <= 1e-12 * mean;
        }
        CHECK(found);
    }
    okra_options *fit = NULL, *predict = NULL;
    CHECK_OK(okra_selection_options(some, okra_selection_best(some), &fit, &predict));
    CHECK_TEXT(okra_options_get(fit, "kx"),
               okra_selection_value(some, okra_selection_best(some), "kx"));
    CHECK_FAILS(okra_selection_cell(all, 15, &mean, &error), OKRA_EARG, "cell 15");
    okra_options_free(fit);
    okra_options_free(predict);
    okra_selection_free(all);
    okra_selection_free(some);
    free_toy(t);
}

/* The number after `before` in the text. */
static double number_in(const char *text, const char *before)
{
    const char *at = strstr(text, before);
    CHECK(at != NULL);
    return at ? strtod(at + strlen(before), NULL) : 0;
}

TEST(budgets_draw_real_numbers_from_ranges)
{
    enum { DRAWS = 200 };
    toy *t = make_toy(8, 0, false, false, 2);
    okra_selection *s = NULL, *again = NULL, *other = NULL;
    const char *drawn[] = {
        "kx", "rbf(sigma=0.1..10)", "ky", "linear", "lambda", "1e-4..1", "budget", "200",
        NULL};
    okra_options *o = select_options(drawn);
    okra_context *three = context_of(1), *four = context_of(1);
    okra_context_set_seed(four, 4);
    CHECK_OK(okra_select(three, t->inputs, t->outputs, o, NULL, &s));
    CHECK_OK(okra_select(three, t->inputs, t->outputs, o, NULL, &again));
    CHECK_OK(okra_select(four, t->inputs, t->outputs, o, NULL, &other));
    CHECK(okra_selection_count(s) == DRAWS); /* more than the 100 cells of the grid */
    char *first = untimed(s), *second = untimed(again), *third = untimed(other);
    CHECK_TEXT(second, first); /* same seed, same draws */
    CHECK(strcmp(third, first) != 0);
    /* log-uniform: mean 0, variance 4/12 of log10 sigma and -2, 16/12 of log10 lambda;
     * four standard errors of the mean of 200 */
    double sums[2] = {0, 0};
    for (okra_int c = 0; c < DRAWS; c++) {
        double sigma = number_in(okra_selection_value(s, c, "kx"), "sigma=");
        double lambda = strtod(okra_selection_value(s, c, "lambda"), NULL);
        CHECK(sigma >= 0.1 && sigma <= 10 && lambda >= 1e-4 && lambda <= 1);
        sums[0] += log10(sigma) / DRAWS;
        sums[1] += log10(lambda) / DRAWS;
        for (okra_int d = 0; d < c; d++) {
            CHECK(strcmp(okra_selection_value(s, c, "kx"),
                         okra_selection_value(s, d, "kx")) != 0);
        }
    }
    CHECK_NEAR(sums[0], 0, 4 * sqrt(4.0 / 12 / DRAWS));
    CHECK_NEAR(sums[1], -2, 4 * sqrt(16.0 / 12 / DRAWS));
    free(first);
    free(second);
    free(third);
    okra_options_free(o);
    okra_selection_free(s);
    okra_selection_free(again);
    okra_selection_free(other);
    okra_context_free(three);
    okra_context_free(four);
    free_toy(t);
}

TEST(lists_and_steps_stay_as_given_in_draws)
{
    toy *t = make_toy(8, 0, false, false, 2);
    okra_selection *s = NULL;
    const char *drawn[] = {"kx", "rbf(sigma={1,2})", "lambda", "1e-4..1", "budget",
                           "20", "refine",           "6",      NULL};
    CHECK_OK(run(t, drawn, &s));
    CHECK(okra_selection_count(s) > 20 && okra_selection_count(s) <= 26);
    for (okra_int c = 0; c < 20; c++) {
        const char *kx = okra_selection_value(s, c, "kx");
        CHECK(strcmp(kx, "rbf(sigma=1)") == 0 || strcmp(kx, "rbf(sigma=2)") == 0);
        /* the value of a draw is that of a selection of its settings alone */
        const char *one[] = {"kx", kx, "lambda", okra_selection_value(s, c, "lambda"),
                             NULL};
        okra_selection *alone = NULL;
        double got, want, error;
        CHECK_OK(run(t, one, &alone));
        CHECK_OK(okra_selection_cell(s, c, &got, &error));
        CHECK_OK(okra_selection_cell(alone, 0, &want, &error));
        CHECK_NEAR(got, want, 1e-12 * want);
        okra_selection_free(alone);
    }
    okra_selection_free(s);
    const char *steps[] = {"lambda", "1e-4..1:3", "budget", "20", NULL};
    CHECK_OK(run(t, steps, &s));
    CHECK(okra_selection_count(s) == 3);
    okra_selection_free(s);
    const char *whole[] = {"method", "knn",    "k",  "1..3", "metric",
                           "mse",    "budget", "20", NULL};
    CHECK_OK(run(t, whole, &s));
    CHECK(okra_selection_count(s) == 3);
    okra_selection_free(s);
    free_toy(t);
}

/* Whole numbers of kernels are not refined; points out of range count as worst. */
TEST(refinement_keeps_to_what_options_take)
{
    toy *t = make_toy(PAIRS, 0, false, false, 2);
    okra_selection *s = NULL;
    const char *whole[] = {
        "kx", "poly(degree={2,3},coef0=1)", "lambda", "0.1,1", "refine", "6", NULL};
    CHECK_OK(run(t, whole, &s));
    for (okra_int c = 0; c < okra_selection_count(s); c++) {
        double degree = number_in(okra_selection_value(s, c, "kx"), "degree=");
        CHECK(degree == 2 || degree == 3);
    }
    okra_selection_free(s);
    char path[] = "/tmp/okra-graph-XXXXXX.csv", operator[128];
    FILE *file = fdopen(mkstemps(path, 4), "w");
    fputs("0,1\n1,0\n", file);
    fclose(file);
    snprintf(operator, sizeof operator, "graph:%s,mu={0.5,0.99}", path);
    const char *shares[] = {"kx",       "rbf(sigma=1)",     "lambda", "0.1",
                            "operator", operator, "refine", "8",      NULL};
    CHECK_OK(run(t, shares, &s));
    CHECK(okra_selection_count(s) > 2);
    okra_selection_free(s);
    remove(path);
    free_toy(t);
}

MAIN(RUN(random_and_refined_searches), RUN(budgets_draw_real_numbers_from_ranges),
     RUN(lists_and_steps_stay_as_given_in_draws),
     RUN(refinement_keeps_to_what_options_take))
