/*
 * Selection with weights of pairs: what it measures of left-out pairs, by its closed
 * forms, against fits and losses one by one.
 */
#include "../model/pairs.h"
#include "harness.h"
#include "select/select.h"
#include "okra/more/leave.h"

#include <math.h>

typedef struct weighted {
    pairs p;
    double weights[N];
    okra_data *y;
} weighted;

static void make(uint64_t seed, weighted *w)
{
    okra_random_ r = okra_random_create_(seed, 11);
    pairs_make(seed, &w->p);
    for (int i = 0; i < N; i++) {
        w->weights[i] = 0.2 + 3 * okra_random_uniform_(&r);
    }
    CHECK_OK(okra_data_weigh(w->p.train_y, w->weights, N, &w->y));
}

static void clear(weighted *w)
{
    okra_data_free(w->y);
    pairs_free(&w->p);
}

/* The weighted mean loss at the pairs of a part, of a fit on the others; `inputs`: those
 * left out stay as inputs without outputs. Each loss times its weight goes to *sum. */
static double one_part(const weighted *w, const char *settings, const okra_int *part,
                       okra_int k, bool inputs, double *sum)
{
    okra_int train[N], test[N], n = 0, m = 0;
    double mean = NAN;
    okra_data *x = NULL, *y = NULL, *more = NULL, *left_x = NULL, *left_y = NULL;
    for (okra_int i = 0; i < N; i++) {
        if (part[i] == k) {
            test[m++] = i;
        } else {
            train[n++] = i;
        }
    }
    CHECK_OK(okra_data_take(w->p.train_x, train, n, &x));
    CHECK_OK(okra_data_take(w->y, train, n, &y));
    CHECK_OK(okra_data_take(w->p.train_x, test, m, &left_x));
    CHECK_OK(okra_data_take(w->y, test, m, &left_y));
    if (inputs) {
        CHECK_OK(okra_data_concat(x, left_x, &more));
    }
    okra_model *model = pairs_fit(inputs ? more : x, y, settings);
    CHECK_OK(okra_model_loss(NULL, model, left_x, left_y, &mean, NULL));
    for (okra_int i = 0; i < m; i++) {
        *sum += w->weights[test[i]];
    }
    okra_model_free(model);
    okra_data_free(x);
    okra_data_free(y);
    okra_data_free(more);
    okra_data_free(left_x);
    okra_data_free(left_y);
    return mean;
}

/* parts == N: leave-one-out, one value of all; else the mean over folds. */
static void check(const weighted *w, const char *settings, okra_int parts, bool inputs,
                  double tolerance)
{
    okra_int part[N];
    double want = 0, total = 0, got = NAN, error = NAN;
    char text[300];
    okra_data *folds = NULL;
    okra_selection *s = NULL;
    for (okra_int i = 0; i < N; i++) {
        part[i] = i % parts;
    }
    for (okra_int k = 0; k < parts; k++) {
        double sum = 0, mean = one_part(w, settings, part, k, inputs, &sum);
        want += parts == N ? sum * mean : mean / (double)parts;
        total += sum;
    }
    want /= parts == N ? total : 1;
    snprintf(text, sizeof text, "%s cv=%s", settings, parts == N ? "loo" : "kfold:3");
    okra_options *o = settings_of(okra_select_options, text);
    CHECK_OK(okra_data_labels(part, N, NULL, parts, &folds));
    okra_select_request request = {OKRA_SIZED(okra_select_request),
                                   .folds = parts == N ? NULL : folds};
    CHECK_OK(okra_select(NULL, w->p.train_x, w->y, o, &request, &s));
    CHECK_OK(okra_selection_cell(s, 0, &got, &error));
    if (!(fabs(got - want) <= tolerance * (1 + want))) {
        printf("%s: %.17g, expected %.17g\n", text, got, want);
    }
    CHECK_NEAR(got, want, tolerance * (1 + want));
    okra_selection_free(s);
    okra_options_free(o);
    okra_data_free(folds);
}

TEST(closed_forms_equal_refits)
{
    static const char *const settings[] = {
        "kx=rbf(sigma=1) ky=linear lambda=0.1",
        "kx=rbf(sigma=1) ky=linear lambda=0.1 center-output=yes",
        "kx=rbf(sigma=1) ky=rbf(sigma=2) lambda=0.1",
        "kx=rbf(sigma=1) ky=rbf(sigma=2) lambda=0.1 center-output=yes",
        "method=kpca kx=rbf(sigma=1) ky=rbf(sigma=2) lambda=0.1 components=2",
        "method=knn kx=rbf(sigma=1) ky=rbf(sigma=2) k=2",
        "kx=rbf(sigma=1) ky=rbf(sigma=2) lambda=0.1 operator=cov center-output=yes",
    };
    for (size_t s = 0; s < sizeof settings / sizeof *settings; s++) {
        for (uint64_t seed = 0; seed < 3; seed++) {
            weighted w;
            make(seed, &w);
            check(&w, settings[s], N, false, 1e-12);
            check(&w, settings[s], 3, false, 1e-12);
            clear(&w);
        }
    }
}

TEST(left_out_inputs_stay_in_the_graph)
{
    static const char *const settings[] = {
        "kx=rbf(sigma=1) ky=linear lambda=0.1 lambda2=0.05",
        "kx=rbf(sigma=1) ky=linear lambda=0.1 lambda2=0.05 center-output=yes",
        "kx=rbf(sigma=1) ky=rbf(sigma=2) lambda=0.1 lambda2=0.05 graph=knn(k=3)",
    };
    for (size_t s = 0; s < sizeof settings / sizeof *settings; s++) {
        for (uint64_t seed = 0; seed < 3; seed++) {
            weighted w;
            make(seed, &w);
            check(&w, settings[s], N, true, 1e-10);
            clear(&w);
        }
    }
}

/* Features of low rank are those of all inputs, in the closed form alone: with every
 * input in the basis there is no difference. */
TEST(low_rank_leaves_out_as_well)
{
    static const char *const settings[] = {
        "kx=rbf(sigma=1) ky=linear lambda=0.1 low-rank-x=chol(rank=12,tol=0)",
        "kx=rbf(sigma=1) ky=linear lambda=0.1 low-rank-x=chol(rank=12,tol=0) "
        "center-output=yes",
    };
    for (size_t s = 0; s < sizeof settings / sizeof *settings; s++) {
        for (uint64_t seed = 0; seed < 3; seed++) {
            weighted w;
            make(seed, &w);
            check(&w, settings[s], N, false, 1e-6);
            clear(&w);
        }
    }
}

/* Pairs of weight 0 are no pairs, whatever folds and groups say of them. */
TEST(pairs_of_weight_0_leave)
{
    weighted w;
    okra_int index[N], part[N], count = 0;
    double a = NAN, b = NAN, error = NAN;
    okra_data *x = NULL, *y = NULL, *z = NULL, *folds = NULL, *fewer = NULL;
    okra_selection *s = NULL, *t = NULL;
    make(5, &w);
    w.weights[3] = w.weights[7] = 0;
    for (okra_int i = 0; i < N; i++) {
        part[i] = i % 3;
        index[count] = i;
        count += w.weights[i] > 0;
    }
    CHECK_OK(okra_data_weigh(w.p.train_y, w.weights, N, &z));
    CHECK_OK(okra_data_labels(part, N, NULL, 3, &folds));
    CHECK_OK(okra_data_take(w.p.train_x, index, count, &x));
    CHECK_OK(okra_data_take(z, index, count, &y));
    CHECK_OK(okra_data_take(folds, index, count, &fewer));
    okra_options *o = settings_of(okra_select_options,
                                  "kx=rbf(sigma=1) ky=linear lambda=0.1 cv=kfold:3");
    okra_select_request all = {OKRA_SIZED(okra_select_request), .folds = folds};
    okra_select_request some = {OKRA_SIZED(okra_select_request), .folds = fewer};
    CHECK_OK(okra_select(NULL, w.p.train_x, z, o, &all, &s));
    CHECK_OK(okra_select(NULL, x, y, o, &some, &t));
    CHECK_OK(okra_selection_cell(s, 0, &a, &error));
    CHECK_OK(okra_selection_cell(t, 0, &b, &error));
    CHECK(a == b);
    okra_selection_free(s);
    okra_selection_free(t);
    okra_options_free(o);
    okra_data *all_data[] = {x, y, z, folds, fewer};
    for (int i = 0; i < 5; i++) {
        okra_data_free(all_data[i]);
    }
    clear(&w);
}

/* gcv of weights 1 and 2 is that of the pairs repeated. */
TEST(gcv_counts_pairs)
{
    weighted w;
    okra_int index[2 * N], count = 0;
    double a = NAN, b = NAN, error = NAN;
    okra_data *x = NULL, *y = NULL, *z = NULL;
    okra_selection *s = NULL, *t = NULL;
    make(6, &w);
    for (okra_int i = 0; i < N; i++) {
        w.weights[i] = 1 + (double)(i % 2);
        for (int k = 0; k < (int)w.weights[i]; k++) {
            index[count++] = i;
        }
    }
    CHECK_OK(okra_data_weigh(w.p.train_y, w.weights, N, &z));
    CHECK_OK(okra_data_take(w.p.train_x, index, count, &x));
    CHECK_OK(okra_data_take(w.p.train_y, index, count, &y));
    okra_options *o =
        settings_of(okra_select_options, "kx=rbf(sigma=1) ky=linear lambda=0.1 cv=gcv");
    CHECK_OK(okra_select(NULL, w.p.train_x, z, o, NULL, &s));
    CHECK_OK(okra_select(NULL, x, y, o, NULL, &t));
    CHECK_OK(okra_selection_cell(s, 0, &a, &error));
    CHECK_OK(okra_selection_cell(t, 0, &b, &error));
    CHECK_NEAR(a, b, 1e-12 * b);
    okra_selection_free(s);
    okra_selection_free(t);
    okra_options_free(o);
    okra_data_free(x);
    okra_data_free(y);
    okra_data_free(z);
    clear(&w);
}

MAIN(RUN(closed_forms_equal_refits), RUN(left_out_inputs_stay_in_the_graph),
     RUN(low_rank_leaves_out_as_well), RUN(pairs_of_weight_0_leave),
     RUN(gcv_counts_pairs))
