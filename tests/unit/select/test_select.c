/*
 * Selection as a whole: nested cross-validation on strings, resuming, folds, refusals.
 */
#include "toy.h"
#include "okra/more/select.h"
#include "okra/program.h"

#include <unistd.h>

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

/* ---- refusals ---- */

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
     RUN(folds_keep_groups_and_strata), RUN(what_is_refused),
     RUN(folds_of_one_class_are_refused), RUN(failing_allocations))
