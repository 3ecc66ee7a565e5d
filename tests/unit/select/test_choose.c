/*
 * Whole kernels as alternatives, values at the ends of their lists, and the choice of
 * what is left open, against selections and fits done one by one.
 */
#include "toy.h"
#include "okra/more/leave.h"

static char warnings[2048];

static void keep_warning(void *user, const char *text)
{
    (void)user;
    size_t used = strlen(warnings);
    snprintf(warnings + used, sizeof warnings - used, "%s\n", text);
}

static okra_context *context(void)
{
    okra_context *c = NULL;
    CHECK_OK(okra_context_create(&c));
    okra_context_set_warning(c, keep_warning, NULL);
    warnings[0] = '\0';
    return c;
}

static okra_selection *select_with(okra_context *c, const toy *t, const char *kx,
                                   const char *lambda, const char *refine)
{
    okra_selection *s = NULL;
    okra_options *o = select_options(
        (const char *const[]){"kx", kx, "lambda", lambda, "refine", refine, NULL});
    CHECK_OK(okra_select(c, t->inputs, t->outputs, o, NULL, &s));
    okra_options_free(o);
    return s;
}

/* {A,B} has the cells of A, then those of B, with the same bits. */
TEST(alternatives_are_selections_one_after_the_other)
{
    static const char *const parts[] = {"linear", "standardize | rbf(sigma={1,2})",
                                        "0.5*cosine + (rbf(sigma=3) | normalize)"};
    okra_context *c = context();
    toy *t = make_toy(PAIRS, 0, false, false, 1);
    char all[256];
    snprintf(all, sizeof all, "{%s, %s, %s}", parts[0], parts[1], parts[2]);
    okra_selection *both = select_with(c, t, all, "{0.01,0.1}", "0");
    okra_int at = 0;
    for (int p = 0; p < 3; p++) {
        okra_selection *one = select_with(c, t, parts[p], "{0.01,0.1}", "0");
        for (okra_int k = 0; k < okra_selection_count(one); k++, at++) {
            double a, b, e, f;
            CHECK_OK(okra_selection_cell(one, k, &a, &e));
            CHECK_OK(okra_selection_cell(both, at, &b, &f));
            CHECK(a == b && e == f);
            CHECK_TEXT(okra_selection_value(both, at, "kx"),
                       okra_selection_value(one, k, "kx"));
        }
        okra_selection_free(one);
    }
    CHECK(at == 8 && okra_selection_count(both) == 8);
    okra_selection_free(both);
    free_toy(t);
    okra_context_free(c);
}

/* Refinement stays within the best alternative and loses nothing. */
TEST(refinement_within_an_alternative)
{
    okra_context *c = context();
    toy *t = make_toy(PAIRS, 0, false, false, 2);
    const char *kx = "{linear, standardize | rbf(sigma={0.1,1,10})}";
    okra_selection *plain = select_with(c, t, kx, "1e-4..1:5", "0");
    okra_selection *refined = select_with(c, t, kx, "1e-4..1:5", "12");
    double before, after, error;
    CHECK_OK(okra_selection_cell(plain, okra_selection_best(plain), &before, &error));
    CHECK_OK(okra_selection_cell(refined, okra_selection_best(refined), &after, &error));
    CHECK(after < before);
    CHECK(okra_selection_best(refined) >= 20); /* off the grid */
    for (okra_int k = 20; k < okra_selection_count(refined); k++) {
        const char *text = okra_selection_value(refined, k, "kx");
        CHECK(strncmp(text, "standardize | rbf(sigma=", 24) == 0);
    }
    okra_selection_free(plain);
    okra_selection_free(refined);
    free_toy(t);
    okra_context_free(c);
}

TEST(ends_of_lists_are_told)
{
    okra_context *c = context();
    toy *t = make_toy(PAIRS, 0, false, false, 3);
    okra_selection *s =
        select_with(c, t, "{1e-9*linear, rbf(sigma={0.1,0.2,0.3})}", "{10,20,30}", "0");
    CHECK(strstr(warnings,
                 "select: the best sigma of kx, 0.3, is the largest value of its "
                 "list: better ones may lie beyond it\n"));
    CHECK(strstr(warnings, "select: the best lambda, 10, is the least value of its "));
    okra_selection_free(s);
    warnings[0] =
        '\0'; /* whole numbers from 1 on, and lists of two, have no end to tell */
    s = select_with(c, t, "poly(degree={1,2,3}) | normalize", "{0.1,1}", "0");
    CHECK(!strstr(warnings, "is the least"));
    okra_selection_free(s);
    free_toy(t);
    okra_context_free(c);
}

/* Mean loss of models fitted without each pair. */
static double by_fitting(const toy *t, okra_int n, const okra_options *fit)
{
    double sum = 0, loss = 0;
    okra_int keep[PAIRS];
    for (okra_int i = 0; i < n; i++) {
        okra_data *x = NULL, *y = NULL, *xi = NULL, *yi = NULL;
        okra_model *model = NULL;
        for (okra_int k = 0; k < n - 1; k++) {
            keep[k] = k + (k >= i);
        }
        CHECK_OK(okra_data_take(t->inputs, keep, n - 1, &x));
        CHECK_OK(okra_data_take(t->outputs, keep, n - 1, &y));
        CHECK_OK(okra_data_take(t->inputs, &i, 1, &xi));
        CHECK_OK(okra_data_take(t->outputs, &i, 1, &yi));
        CHECK_OK(okra_fit(NULL, x, y, fit, &model));
        CHECK_OK(okra_model_loss(NULL, model, xi, yi, &loss, NULL));
        sum += loss / (double)n;
        okra_model_free(model);
        okra_data_free(x);
        okra_data_free(y);
        okra_data_free(xi);
        okra_data_free(yi);
    }
    return sum;
}

/* Outputs in the units in which relative-loss is feature-loss. */
static void scale_outputs(toy *t)
{
    for (int j = 0; j < OUTPUTS; j++) {
        double mean = 0, square = 0;
        for (int i = 0; i < PAIRS; i++) {
            mean += t->y[i * OUTPUTS + j] / PAIRS;
        }
        for (int i = 0; i < PAIRS; i++) {
            double z = t->y[i * OUTPUTS + j] - mean;
            square += z * z / PAIRS;
        }
        for (int i = 0; i < PAIRS; i++) {
            t->y[i * OUTPUTS + j] /= sqrt(OUTPUTS * square);
        }
    }
}

/* What is chosen, fitted without each pair: near the value told (standardize and centring
 * see the pair left out in the closed form, its inputs alone), and no worse than plain
 * settings. */
TEST(the_choice_holds_when_fitted)
{
    static const char *const plain[] = {"kx=linear", "kx=rbf(sigma=1)",
                                        "kx=standardize | rbf(sigma=2)"};
    for (int form = 0; form < 3; form++) {
        okra_context *c = context();
        toy *t = make_toy(PAIRS, 0, form == 1, form == 2, 4);
        okra_options *fit = NULL;
        okra_selection *s = NULL;
        double mean, error;
        scale_outputs(t);
        CHECK_OK(okra_choose(c, t->inputs, t->outputs, NULL, &fit, &s));
        CHECK_OK(okra_selection_cell(s, okra_selection_best(s), &mean, &error));
        double value = by_fitting(t, PAIRS, fit);
        CHECK(value < 1.15 * mean + 1e-12 &&
              value > 0.85 * mean - 1e-12); /* worst 11 % */
        for (int p = 0; p < 3 && form == 0; p++) {
            okra_options *o = NULL;
            CHECK_OK(okra_fit_options(&o));
            CHECK_OK(okra_options_set(o, "kx", strchr(plain[p], '=') + 1));
            CHECK(value < by_fitting(t, PAIRS, o));
            okra_options_free(o);
        }
        CHECK_TEXT(okra_options_get(fit, "center-output"), "yes");
        CHECK_TEXT(okra_options_get(fit, "decode"), "");
        okra_options_free(fit);
        okra_selection_free(s);
        free_toy(t);
        okra_context_free(c);
    }
}

/* What is given is kept; a guess where nothing can be left out. */
TEST(given_options_are_kept)
{
    okra_context *c = context();
    toy *t = make_toy(PAIRS, 0, false, false, 5);
    okra_options *fit = NULL, *o = select_options((const char *const[]){
                                  "kx", "rbf(sigma=2)", "lambda", "0.5", NULL});
    okra_selection *s = NULL;
    CHECK_OK(okra_choose(c, t->inputs, t->outputs, o, &fit, &s));
    CHECK(!s);
    CHECK_TEXT(okra_options_get(fit, "kx"), "rbf(sigma=2)");
    CHECK_TEXT(okra_options_get(fit, "lambda"), "0.5");
    CHECK_TEXT(okra_options_get(fit, "ky"), "linear");
    CHECK(!okra_options_is_set(fit, "center-output"));
    okra_options_free(fit);
    okra_options_free(o);
    o = select_options((const char *const[]){"lambda", "auto", "kx", "linear", NULL});
    CHECK_OK(okra_choose(c, t->inputs, t->outputs, o, &fit, &s));
    CHECK(s && okra_selection_count(s) > 17);
    CHECK_TEXT(okra_options_get(fit, "kx"), "linear");
    okra_options_free(fit);
    okra_selection_free(s);
    okra_options_free(o);
    okra_data *x = NULL, *y = NULL;
    okra_int first = 0;
    CHECK_OK(okra_data_take(t->inputs, &first, 1, &x));
    CHECK_OK(okra_data_take(t->outputs, &first, 1, &y));
    CHECK_OK(okra_choose(c, x, y, NULL, &fit, &s));
    CHECK(!s && strstr(warnings, "fit: nothing can be left out of 1 pair,"));
    okra_model *model = NULL;
    CHECK_OK(okra_fit(c, x, y, fit, &model));
    okra_model_free(model);
    okra_options_free(fit);
    CHECK_FAILS(okra_choose(c, NULL, y, NULL, &fit, &s), OKRA_EARG, "x is NULL");
    CHECK_FAILS(okra_choose(c, x, t->outputs, NULL, &fit, &s), OKRA_ESHAPE,
                "expected as many of each");
    okra_data_free(x);
    okra_data_free(y);
    free_toy(t);
    okra_context_free(c);
}

/* `auto` in a selection is what okra_choose does, and warns of no list. */
TEST(automatic_selections_are_the_choice)
{
    okra_context *c = context();
    toy *t = make_toy(PAIRS, 0, false, false, 7);
    okra_options *o = select_options(
        (const char *const[]){"kx", "auto", "ky", "auto", "lambda", "auto", NULL});
    okra_options *fit = NULL, *chosen = NULL;
    okra_selection *s = NULL;
    CHECK_OK(okra_select(c, t->inputs, t->outputs, o, NULL, &s));
    CHECK_OK(okra_selection_options(s, okra_selection_best(s), &fit, NULL));
    CHECK_OK(okra_choose(c, t->inputs, t->outputs, NULL, &chosen, NULL));
    static const char *const names[] = {"kx", "ky", "lambda", "center-output"};
    for (int k = 0; k < 4; k++) {
        CHECK_TEXT(okra_options_get(fit, names[k]), okra_options_get(chosen, names[k]));
    }
    CHECK_TEXT(warnings, "");
    okra_selection_free(s);
    okra_options_free(fit);
    okra_options_free(chosen);
    okra_options_free(o);
    free_toy(t);
    okra_context_free(c);
}

/* A refinement that nobody asked for leaves lists that somebody wrote alone, and does not
 * run away beyond automatic ones. */
TEST(own_refinement_has_limits)
{
    okra_context *c = context();
    toy *t = make_toy(PAIRS, 0, false, false, 8);
    okra_options *o = select_options(
        (const char *const[]){"kx", "rbf(sigma={0.5,1,2})", "lambda", "auto", NULL});
    okra_selection *s = NULL;
    CHECK_OK(okra_select(c, t->inputs, t->outputs, o, NULL, &s));
    CHECK(okra_selection_count(s) > 51);
    for (okra_int k = 0; k < okra_selection_count(s); k++) {
        const char *kx = okra_selection_value(s, k, "kx");
        double lambda = strtod(okra_selection_value(s, k, "lambda"), NULL);
        CHECK(strcmp(kx, "rbf(sigma=0.5)") == 0 || strcmp(kx, "rbf(sigma=1)") == 0 ||
              strcmp(kx, "rbf(sigma=2)") == 0);
        CHECK(lambda > 3e-11 && lambda < 320); /* at most a step beyond */
    }
    okra_selection_free(s);
    okra_options_free(o);
    free_toy(t);
    okra_context_free(c);
}

/* Ties at the end of a list: outputs that are all alike. */
TEST(ties_are_no_ends)
{
    okra_context *c = context();
    toy *t = make_toy(PAIRS, 0, false, false, 9);
    double rows[PAIRS] = {0};
    okra_data *y = NULL;
    okra_selection *s = NULL;
    okra_options *o = select_options((const char *const[]){
        "kx", "rbf(sigma={0.5,1,2})", "lambda", "{0.1,1,10}", "refine", "0", NULL});
    CHECK_OK(okra_data_dense(rows, PAIRS, 1, 1, &y));
    CHECK_OK(okra_select(c, t->inputs, y, o, NULL, &s));
    CHECK_TEXT(warnings, "");
    okra_selection_free(s);
    okra_data_free(y);
    okra_options_free(o);
    free_toy(t);
    okra_context_free(c);
}

/* Every setting is compared on a third of the pairs, as a selection on these would; those
 * that stay have the values of a search that drops none, and the best of it is found. */
TEST(losers_on_a_part_are_dropped)
{
    enum { N = 450, PART = 150, MORE = 3 };
    static double x[N * MORE], y[N], px[PART * MORE], py[PART];
    okra_context *c = context();
    okra_random_ r = okra_random_create_(5, 9);
    okra_data *data[4];
    okra_selection *found[3];
    okra_options *o = select_options((const char *const[]){
        "kx", "{linear, rbf(sigma={0.1,0.3,1,3,9})}", "lambda", "1e-4..1e1:11", NULL});
    harness_normals(&r, N * MORE, x);
    harness_normals(&r, N, y);
    for (int i = 0; i < N; i++) {
        y[i] = sin(2 * x[i * MORE]) + x[i * MORE + 1] * x[i * MORE + 2] + 0.2 * y[i];
    }
    for (int k = 0; k < PART; k++) {
        memcpy(px + k * MORE, x + k * N / PART * MORE, MORE * sizeof *px);
        py[k] = y[k * N / PART];
    }
    CHECK_OK(okra_data_dense(x, N, MORE, MORE, &data[0]));
    CHECK_OK(okra_data_dense(y, N, 1, 1, &data[1]));
    CHECK_OK(okra_data_dense(px, PART, MORE, MORE, &data[2]));
    CHECK_OK(okra_data_dense(py, PART, 1, 1, &data[3]));
    CHECK_OK(okra_options_set(o, "refine", "0"));
    CHECK_OK(okra_select_pairs_(c, data[0], data[1], o, NULL, false, &found[0]));
    CHECK_OK(okra_select(c, data[0], data[1], o, NULL, &found[1]));
    CHECK_OK(okra_select(c, data[2], data[3], o, NULL, &found[2]));
    okra_int dropped = 0, best = found[0]->found.best;
    for (okra_int k = 0; k < 66; k++) {
        const okra_cell_ *cell = &found[0]->found.cells[k];
        CHECK(cell->part == found[2]->found.cells[k].mean);
        double all = found[1]->found.cells[k].mean;
        /* 2e-16 on the host; the sums of a GPU differ with their shape, and small lambdas
         * magnify that */
        CHECK(cell->dropped ||
              fabs(cell->mean - all) < (okra_engine_is_host_(c) ? 1e-13 : 1e-6) * all);
        CHECK(!cell->dropped || isnan(cell->mean));
        dropped += cell->dropped;
    }
    CHECK(dropped >= 33 && best == found[1]->found.best);
    for (int k = 0; k < 3; k++) {
        okra_selection_free(found[k]);
    }
    CHECK_OK(okra_options_set(o, "effort", "thorough"));
    CHECK_OK(okra_select_pairs_(c, data[0], data[1], o, NULL, false, &found[0]));
    CHECK(isnan(found[0]->found.cells[0].part) && !isnan(found[0]->found.cells[0].mean));
    okra_selection_free(found[0]);
    for (int k = 0; k < 4; k++) {
        okra_data_free(data[k]);
    }
    okra_options_free(o);
    okra_context_free(c);
}

/* Classes by leave-one-out, and by folds in an automatic fit, are rows e_c: the losses of
 * folds of one pair, which are not. */
TEST(classes_are_compared_as_rows)
{
    okra_context *c = context();
    toy *t = make_toy(PAIRS, 0, false, false, 4);
    okra_int codes[PAIRS], each[PAIRS];
    okra_data *y = NULL, *folds = NULL;
    okra_selection *rows = NULL, *implicit = NULL, *made = NULL;
    for (int i = 0; i < PAIRS; i++) {
        codes[i] = (t->x[i * WIDTH] > 0) + (t->x[i * WIDTH + 1] > 0.5);
        each[i] = i;
    }
    CHECK_OK(okra_data_labels(codes, PAIRS, NULL, 3, &y));
    CHECK_OK(okra_data_labels(each, PAIRS, NULL, PAIRS, &folds));
    okra_options *o = select_options((const char *const[]){
        "kx", "rbf(sigma=2)", "ky", "zero-one", "lambda", "{0.01,0.1,1}", NULL});
    CHECK_OK(okra_select(c, t->inputs, y, o, NULL, &rows));
    CHECK_OK(okra_options_set(o, "cv", "kfold:20"));
    okra_select_request r = {OKRA_SIZED(okra_select_request), .folds = folds};
    CHECK_OK(okra_select(c, t->inputs, y, o, &r, &implicit));
    CHECK_OK(okra_select_pairs_(c, t->inputs, y, o, &r, false, &made));
    for (okra_int k = 0; k < 3; k++) {
        double a, b, error;
        CHECK_OK(okra_selection_cell(made, k, &b, &error));
        CHECK_OK(okra_selection_cell(rows, k, &a, &error));
        CHECK_NEAR(a, b, 1e-12); /* 1e-15 */
        CHECK_OK(okra_selection_cell(implicit, k, &b, &error));
        CHECK_NEAR(a, b, 1e-12); /* 6e-16 */
        CHECK_TEXT(okra_selection_value(rows, k, "ky"), "zero-one");
    }
    okra_selection_free(rows);
    okra_selection_free(implicit);
    okra_selection_free(made);
    okra_options_free(o);
    okra_data_free(y);
    okra_data_free(folds);
    free_toy(t);
    okra_context_free(c);
}

TEST(the_deviation_of_rows)
{
    double rows[] = {1e9 + 1, 5, 1e9 - 1, 5, 1e9 + 3, (double)NAN};
    okra_data *y = NULL;
    CHECK_OK(okra_data_missing(rows, 3, 2, 2, &y));
    CHECK_NEAR(okra_inspect_deviation_(y), sqrt(8.0 / 3), 1e-6);
    okra_data_free(y);
}

/* Copies are found as a comparison of all pairs finds them, and only where inputs are not
 * few. */
TEST(copies_of_pairs)
{
    enum { N = 60 };
    static const int every[] = {1000, 100, 3, 2};
    for (int k = 0; k < 4; k++) {
        double x[2 * N], y[N];
        okra_random_ r = okra_random_create_((uint64_t)k, 3);
        harness_normals(&r, 2 * N, x);
        harness_normals(&r, N, y);
        okra_int different = 0, units = -1;
        for (int i = 0; i < N; i++) {
            bool copy = i > 0 && i % every[k] == 0;
            if (copy) {
                memcpy(x + 2 * i, x + 2 * (i - 1), 2 * sizeof *x);
                y[i] = y[i - 1];
            }
            different += !copy;
        }
        okra_data *inputs = NULL, *outputs = NULL, *groups = NULL;
        CHECK_OK(okra_data_dense(x, N, 2, 2, &inputs));
        CHECK_OK(okra_data_dense(y, N, 1, 1, &outputs));
        CHECK_OK(okra_prepare_copies_(inputs, outputs, &groups, &units));
        CHECK(units == (k >= 2 ? different : 0) && !groups == (k < 2));
        for (int i = 0; groups && i < N; i++) {
            for (int j = 0; j < N; j++) {
                bool same = x[2 * i] == x[2 * j] && x[2 * i + 1] == x[2 * j + 1];
                CHECK((groups->codes[i] == groups->codes[j]) == same);
            }
        }
        okra_data_free(groups);
        groups = NULL;
        okra_data_free(inputs);
        for (int i = 0; i < N; i++) { /* categories */
            x[2 * i] = i % 4;
            x[2 * i + 1] = 1;
            y[i] = i % 2;
        }
        CHECK_OK(okra_data_dense(x, N, 2, 2, &inputs));
        CHECK_OK(okra_prepare_copies_(inputs, outputs, &groups, &units));
        CHECK(units == 0 && !groups);
        okra_data_free(inputs);
        okra_data_free(outputs);
    }
}

/* Rows of one centre are one group where they lie much closer than centres do, whatever
 * the units of the columns; scattered rows, few centres and few rows are none. */
TEST(near_copies)
{
    enum { EACH = 4, CENTRES = 30, N = EACH * CENTRES, D = 4 };
    static const double off[] = {0.02, 1, 0.02, 0.02};
    static const int centres[] = {CENTRES, CENTRES, 5, CENTRES}, rows[] = {N, N, N, 36};
    for (int k = 0; k < 4; k++) {
        double c[D * CENTRES], x[D * N];
        okra_random_ r = okra_random_create_((uint64_t)k, 7);
        okra_data *inputs = NULL, *groups = NULL;
        okra_int units = -1;
        harness_normals(&r, D * CENTRES, c);
        harness_normals(&r, D * N, x);
        for (int i = 0; i < N; i++) {
            for (int j = 0; j < D; j++) {
                double unit = j == 1 ? 1000 : 1;
                x[D * i + j] =
                    unit * (c[D * (i % centres[k]) + j] + off[k] * x[D * i + j]);
            }
        }
        CHECK_OK(okra_data_dense(x, rows[k], D, D, &inputs));
        CHECK_OK(okra_inspect_near_(inputs, &groups, &units));
        CHECK(units == (k == 0 ? CENTRES : 0) && !groups == (k > 0));
        for (int i = 0; groups && i < N; i++) {
            for (int j = 0; j < N; j++) {
                CHECK((groups->codes[i] == groups->codes[j]) ==
                      (i % CENTRES == j % CENTRES));
            }
        }
        okra_data_free(groups);
        okra_data_free(inputs);
    }
}

/* Deviation 1 / sqrt(d) of what is known; a constant column becomes 0, a gap stays one.
 */
TEST(outputs_in_units_of_their_deviation)
{
    enum { N = 9, D = 4 };
    double y[N * D];
    okra_prepared_ p = {0};
    okra_options *o = select_options((const char *const[]){
        "kx", "linear", "ky", "linear", "metric", "relative-loss", NULL});
    const okra_method_ *ridge = NULL;
    CHECK_OK(okra_method_choose_("ridge", &ridge));
    for (int i = 0; i < N; i++) {
        y[i * D] = 1e6 + i;
        y[i * D + 1] = 1e-9 * sin(i);
        y[i * D + 2] = 7.1;
        y[i * D + 3] = i % 3 ? i * i : (double)NAN;
    }
    CHECK_OK(okra_data_missing(y, N, D, D, &p.y));
    CHECK_OK(okra_prepare_relative_(ridge, o, &p));
    CHECK(p.y->missing && p.y->n == N && p.y->d == D);
    for (int j = 0; j < D; j++) {
        double sum = 0, square = 0, count = 0;
        for (int i = 0; i < N; i++) {
            double v = p.y->values[i * p.y->ld + j];
            CHECK(isnan(v) == isnan(y[i * D + j]));
            count += !isnan(v);
            sum += isnan(v) ? 0 : v;
        }
        for (int i = 0; i < N; i++) {
            double v = p.y->values[i * p.y->ld + j] - sum / count;
            square += isnan(v) ? 0 : v * v / count;
        }
        CHECK_NEAR(square, j == 2 ? 0 : 0.25, 1e-9);
    }
    okra_prepared_clear_(&p);
    p = (okra_prepared_){0};
    CHECK_OK(okra_options_set(o, "operator", "cov"));
    CHECK_OK(okra_data_dense(y, N, 2, D, &p.y));
    CHECK_FAILS(okra_prepare_relative_(ridge, o, &p), OKRA_EARG, "metric relative-loss");
    okra_prepared_clear_(&p);
    okra_options_free(o);
}

/* Spectra of a bag are merged, too; merged they are no mean. */
TEST(bags_are_means_and_of_spectra_merged)
{
    const okra_int peaks[] = {0, 1, 2, 3}, offsets[] = {0, 2, 3};
    const double mz[] = {50, 60, 70}, height[] = {1, 2, 3};
    const char *const words[] = {"abc", "abd", "xyz"};
    okra_data *members[2] = {NULL}, *bags = NULL;
    CHECK_OK(okra_data_spectra(peaks, mz, height, NULL, 3, &members[0]));
    CHECK_OK(okra_data_strings(words, 3, &members[1]));
    for (int k = 0; k < 2; k++) {
        char *text = NULL;
        okra_grid_ *grid = NULL;
        CHECK_OK(okra_data_bags(members[k], offsets, 2, &bags));
        CHECK_OK(okra_rule_kx_(NULL, bags, &text));
        CHECK((strstr(text, ",how={mean,merge}) | normalize") != NULL) == (k == 0));
        CHECK_OK(okra_grid_parse_(text, &grid));
        okra_free_(text);
        CHECK_OK(okra_grid_text_(grid, okra_grid_count_(grid) - 1, &text));
        CHECK((strstr(text, "merge") != NULL) == (k == 0));
        okra_free_(text);
        okra_grid_free_(grid);
        okra_data_free(bags);
        okra_data_free(members[k]);
    }
}

TEST(failing_allocations)
{
    toy *t = make_toy(6, 0, false, false, 6);
    char *text = NULL;
    okra_options *filled = NULL, *o = select_options((const char *const[]){
                                     "kx", "auto", "ky", "auto", "lambda", "auto", NULL});
    CHECK_ALLOCATIONS(okra_rule_kx_(NULL, t->inputs, &text), okra_free_(text));
    CHECK_ALLOCATIONS(okra_rule_middle_(NULL, t->inputs, &text), okra_free_(text));
    CHECK_ALLOCATIONS(okra_rule_few_(NULL, t->inputs, &text), okra_free_(text));
    CHECK_ALLOCATIONS(okra_rules_fill_(NULL, t->inputs, t->outputs, o, false, &filled),
                      okra_options_free(filled));
    okra_options_free(o);
    o = select_options((const char *const[]){"kx", "{linear, {cosine, rbf(sigma={1,2})}}",
                                             "lambda", "{0.1,1}", NULL});
    okra_space_ *space = NULL, *narrow = NULL;
    okra_int within;
    CHECK_OK(okra_space_create_(o, &space));
    CHECK(space->cells == 8);
    CHECK_ALLOCATIONS(okra_space_narrow_(space, 7, &narrow, &within),
                      okra_space_free_(narrow));
    CHECK_OK(okra_space_narrow_(space, 7, &narrow, &within));
    CHECK(narrow->cells == 4 && within == 3);
    okra_space_free_(narrow);
    okra_space_free_(space);
    okra_options_free(o);
    free_toy(t);
}

MAIN(RUN(alternatives_are_selections_one_after_the_other),
     RUN(refinement_within_an_alternative), RUN(ends_of_lists_are_told),
     RUN(the_choice_holds_when_fitted), RUN(given_options_are_kept),
     RUN(automatic_selections_are_the_choice), RUN(own_refinement_has_limits),
     RUN(ties_are_no_ends), RUN(losers_on_a_part_are_dropped),
     RUN(classes_are_compared_as_rows), RUN(the_deviation_of_rows), RUN(copies_of_pairs),
     RUN(near_copies), RUN(outputs_in_units_of_their_deviation),
     RUN(bags_are_means_and_of_spectra_merged), RUN(failing_allocations))
