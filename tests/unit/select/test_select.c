/*
 * Selection as a whole: nested cross-validation on strings, resuming, folds, refusals.
 */
#include "toy.h"

#include <unistd.h>

static okra_context *context_of(int threads)
{
    okra_context *c = NULL;
    CHECK_OK(okra_context_create(&c));
    CHECK_OK(okra_context_set_threads(c, threads));
    okra_context_set_seed(c, 3);
    return c;
}

/* ---- nested cross-validation of the string task ---- */

static const char *const strings[] = {
    "kx",     "ssk(length=3,decay=0.5) | normalize | rbf(sigma={0.3,1})",
    "ky",     "ssk(length=2,decay=0.5) | normalize",
    "lambda", "1e-2,1",
    "metric", "edit",
    NULL};

static okra_options *string_options(const char *metric)
{
    const char *pairs[16];
    memcpy(pairs, strings, sizeof strings);
    pairs[7] = metric;
    pairs[8] = "cv";
    pairs[9] = "nested:3,3";
    pairs[10] = NULL;
    return select_options(pairs);
}

static okra_int stop_at;
static okra_context *stopped;
static void stop(void *user, const char *what, okra_int done, okra_int total)
{
    (void)user, (void)total;
    if (stopped && strcmp(what, "select") == 0 && done >= stop_at) {
        okra_context_cancel(stopped);
    }
}

/* The result without its time. */
static char *untimed(const okra_selection *s)
{
    char *text = strdup(okra_selection_json(s));
    char *seconds = strstr(text, "\"seconds\"");
    if (seconds) {
        *seconds = '\0';
    }
    return text;
}

/* Every line is checked before it is believed; only the last one may be torn. */
static void check_altered(okra_context *ctx, const okra_data *x, const okra_data *y,
                          const okra_options *o, const char *path, const char *want)
{
    okra_select_request request = {OKRA_SIZED(okra_select_request), .resume = path};
    okra_selection *s = NULL;
    okra_bytes_ whole = {0};
    CHECK_OK(okra_bytes_open_(NULL, path, &whole));
    char *copy = malloc((size_t)whole.size);
    memcpy(copy, whole.p, (size_t)whole.size);
    okra_int size = whole.size, second = (char *)memchr(copy, '\n', 100) + 1 - copy;
    okra_bytes_close_(&whole);
    const struct {
        okra_int at, cut;
        const char *text; /* NULL: taken */
    } cases[] = {
        {12, 0, "not the finished work of a selection"},
        {second - 3, 0, "not the finished work of a selection"},
        {second + 12, 0, "line 2 was altered: its CRC-32 is another"},
        {second + 60, 0, "line 2 was altered: its CRC-32 is another"},
        {size - 5, 0, NULL},
        {-1, 1, NULL},
        {-1, 30, NULL},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        FILE *f = fopen(path, "wb");
        okra_int length = size - cases[k].cut;
        if (cases[k].at >= 0) {
            copy[cases[k].at] ^= 1;
        }
        CHECK(f && fwrite(copy, 1, (size_t)length, f) == (size_t)length);
        fclose(f);
        if (cases[k].at >= 0) {
            copy[cases[k].at] ^= 1;
        }
        if (cases[k].text) {
            CHECK_FAILS(okra_select(ctx, x, y, o, &request, &s), OKRA_EFORMAT,
                        cases[k].text);
        } else {
            CHECK_OK(okra_select(ctx, x, y, o, &request, &s));
            char *got = untimed(s);
            CHECK_TEXT(got, want);
            free(got);
            okra_selection_free(s);
            s = NULL;
        }
    }
    free(copy);
}

TEST(nested_is_the_same_for_any_threads_and_after_an_interrupt)
{
    okra_data *x = NULL, *y = NULL, *classes = NULL;
    char path[] = "/tmp/okra-resume-XXXXXX";
    int fd = mkstemp(path);
    close(fd);
    remove(path);
    CHECK_OK(okra_synthetic_strings(1, 45, &x, &y, &classes));
    okra_options *o = string_options("edit");
    okra_selection *first = NULL, *other = NULL;
    okra_context *one = context_of(1), *two = context_of(2);
    CHECK_OK(okra_select(one, x, y, o, NULL, &first));
    char *want = untimed(first);
    CHECK(okra_selection_outer_count(first) == 3 && okra_selection_count(first) == 4);

    CHECK_OK(okra_select(two, x, y, o, NULL, &other));
    char *got = untimed(other);
    CHECK_TEXT(got, want);
    free(got);
    okra_selection_free(other);
    other = NULL;

    okra_select_request request = {OKRA_SIZED(okra_select_request), .resume = path};
    stopped = one;
    okra_context_set_progress(one, stop, NULL);
    for (stop_at = 2; stop_at <= 14; stop_at += 6) { /* further every time */
        CHECK_FAILS(okra_select(one, x, y, o, &request, &other), OKRA_ECANCELLED, NULL);
        okra_context_resume(one);
    }
    stopped = NULL;
    CHECK_OK(okra_select(one, x, y, o, &request, &other));
    got = untimed(other);
    CHECK_TEXT(got, want);
    free(got);
    okra_selection_free(other);

    check_altered(one, x, y, o, path, want);
    okra_options *changed = string_options("zero-one");
    CHECK_FAILS(okra_select(one, x, y, changed, &request, &other), OKRA_EARG,
                "other options");
    okra_options_free(changed);
    remove(path);
    free(want);
    okra_selection_free(first);
    okra_options_free(o);
    okra_context_free(one);
    okra_context_free(two);
    okra_data_free(x);
    okra_data_free(y);
    okra_data_free(classes);
}

/* ---- folds ---- */

TEST(folds_keep_groups_and_strata)
{
    enum { COUNT = 60, PARTS = 4 };
    okra_int groups[COUNT], strata[COUNT];
    for (okra_int i = 0; i < COUNT; i++) {
        groups[i] = i / 3;
        strata[i] = i % 5 == 0;
    }
    okra_keys_ by_group = {.groups = groups}, by_stratum = {.strata = strata},
               given = {.folds = strata};
    okra_folds_ f;
    CHECK_OK(okra_folds_create_(&by_group, NULL, COUNT, PARTS, 2, 1, &f));
    bool differ = false;
    for (okra_int i = 0; i < 2 * COUNT; i++) {
        okra_int at = i % COUNT;
        CHECK(f.part[i] == f.part[i - at % 3]);
        CHECK(f.part[i] >= 0 && f.part[i] < PARTS);
        differ = differ || f.part[at] != f.part[COUNT + at];
    }
    CHECK(differ);
    okra_folds_free_(&f);
    CHECK_OK(okra_folds_create_(&by_stratum, NULL, COUNT, PARTS, 1, 1, &f));
    for (okra_int p = 0; p < PARTS; p++) {
        okra_int size = 0, rare = 0;
        for (okra_int i = 0; i < COUNT; i++) {
            size += f.part[i] == p;
            rare += f.part[i] == p && strata[i];
        }
        CHECK(size == COUNT / PARTS && rare == COUNT / 5 / PARTS);
    }
    okra_folds_free_(&f);
    CHECK_OK(okra_folds_create_(&given, NULL, COUNT, 7, 1, 1, &f));
    CHECK(f.parts == 2 && f.part[0] == 1 && f.part[1] == 0);
    okra_int train[COUNT], test[COUNT], n, m;
    f.train_on_one = true;
    okra_folds_get_(&f, 1, train, &n, test, &m);
    CHECK(n == COUNT / 5 && m == COUNT - n && train[0] == 0);
    okra_folds_free_(&f);
    CHECK_FAILS(okra_folds_create_(&by_group, NULL, COUNT, 21, 1, 1, &f), OKRA_EARG,
                "21 folds are asked of 20 groups");
    CHECK_FAILS(okra_folds_create_(&by_group, NULL, 1, 2, 1, 1, &f), OKRA_EARG,
                "expected two or more");
}

/* ---- searches ---- */

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

TEST(what_is_refused)
{
    static const struct refusal {
        const char *pairs[10], *text;
    } refusals[] = {
        {{"ky", "rbf(sigma={1,2})", NULL}, "cannot be compared"},
        {{"kx", "rbf(sigma={})", NULL}, "expected a value"},
        {{"kx", "rbf(sigma={1,-2})", NULL}, "sigma"},
        {{"lambda", "{1,nan}", NULL}, "nan"},
        {{"lambda", "", NULL}, "empty"},
        {{"lambda", "0.1,-1", NULL}, "-1"},
        {{"lambda", "1..2x", NULL}, "expected a number"},
        {{"kx", "rbf(sigma=1..2:10000)", "lambda", "1e-9..1:10000", NULL},
         "100000000 cells"},
        {{"cv", "kfold:1", NULL}, "kfold:K"},
        {{"cv", "kfold:21", NULL}, "21 folds are asked of 20 pairs"},
        {{"cv", "loo", "repeats", "2", NULL}, "leaves out every pair"},
        {{"cv", "gcv", "metric", "mse", NULL}, "feature-loss, not mse"},
        {{"cv", "gcv", "operator", "cov", NULL}, "generalised"},
        {{"metric", "mse", "decode", "none", NULL}, "decode is none"},
        {{"method", "knn", "lambda", "1,2", NULL}, "does not use the option 'lambda'"},
        {{"refine", "5", NULL}, "no list holds two positive numbers"},
        {{"top", "3", NULL}, "top has no use"},
    };
    toy *t = make_toy(PAIRS, 0, false, false, 2);
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        okra_selection *s = NULL;
        okra_options *o = select_options(refusals[i].pairs);
        okra_status st = okra_select(NULL, t->inputs, t->outputs, o, NULL, &s);
        CHECK(st == OKRA_EARG || st == OKRA_EUNSUPPORTED);
        if (!strstr(okra_message(), refusals[i].text)) {
            CHECK_TEXT(okra_message(), refusals[i].text);
        }
        okra_options_free(o);
    }
    free_toy(t);
}

TEST(folds_of_one_class_are_refused)
{
    okra_int codes[PAIRS], folds[PAIRS];
    toy *t = make_toy(PAIRS, 0, false, false, 2);
    okra_data *labels = NULL, *parts = NULL;
    okra_selection *s = NULL;
    for (okra_int i = 0; i < PAIRS; i++) {
        codes[i] = folds[i] = i >= PAIRS / 2;
    }
    CHECK_OK(okra_data_labels(codes, PAIRS, NULL, 2, &labels));
    CHECK_OK(okra_data_labels(folds, PAIRS, NULL, 2, &parts));
    const char *pairs[] = {"cv", "kfold:2", "ky", "zero-one", NULL};
    okra_options *o = select_options(pairs);
    okra_select_request request = {OKRA_SIZED(okra_select_request), .folds = parts};
    CHECK_FAILS(okra_select(NULL, t->inputs, labels, o, &request, &s), OKRA_EARG,
                "one class alone");
    okra_options_free(o);
    okra_data_free(labels);
    okra_data_free(parts);
    free_toy(t);
}

TEST(failing_allocations)
{
    static const char *const settings[][12] = {
        {"kx", "rbf(sigma={1,auto})", "lambda", "1,2", "cv", "nested:2,2", NULL},
        {"kx", "rbf(sigma=1)", "lambda", "1,2", "cv", "loo", "low-rank-x",
         "nystrom(rank=3)", NULL},
        {"kx", "rbf(sigma=1)", "ky", "rbf(sigma=1)", "lambda", "1,2", "cv", "kfold:2",
         "low-rank", "chol(rank=2)", NULL}};
    toy *t = make_toy(6, 0, false, false, 2);
    for (int k = 0; k < 3; k++) {
        okra_options *o = select_options(settings[k]);
        okra_selection *s = NULL;
        CHECK_ALLOCATIONS(okra_select(NULL, t->inputs, t->outputs, o, NULL, &s),
                          okra_selection_free(s));
        okra_options_free(o);
    }
    free_toy(t);
}

MAIN(RUN(nested_is_the_same_for_any_threads_and_after_an_interrupt),
     RUN(folds_keep_groups_and_strata), RUN(random_and_refined_searches),
     RUN(budgets_draw_real_numbers_from_ranges),
     RUN(lists_and_steps_stay_as_given_in_draws),
     RUN(refinement_keeps_to_what_options_take), RUN(what_is_refused),
     RUN(folds_of_one_class_are_refused), RUN(failing_allocations))
