/*
 * The rank of the truth among candidates, against fits and sorting by hand.
 */
#include "toy.h"

#include "okra/more/index.h"

enum { FOLDS = 4 };

static double rbf(const double *a, const double *b, int d)
{
    double square = 0;
    for (int j = 0; j < d; j++) {
        square += (a[j] - b[j]) * (a[j] - b[j]);
    }
    return exp(-square / 2);
}

/* w = (K + lambda I)^-1 k by elimination, of the pairs `train`. */
static void weights(const toy *t, const int *train, int n, const double *x, double lambda,
                    double *w)
{
    double A[PAIRS][PAIRS + 1];
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            A[i][j] = rbf(t->x + train[i] * WIDTH, t->x + train[j] * WIDTH, WIDTH) +
                      (i == j ? lambda : 0);
        }
        A[i][n] = rbf(t->x + train[i] * WIDTH, x, WIDTH);
    }
    for (int p = 0; p < n; p++) {
        for (int i = 0; i < n; i++) {
            double f = i == p ? 0 : A[i][p] / A[p][p];
            for (int j = p; j <= n && i != p; j++) {
                A[i][j] -= f * A[p][j];
            }
        }
    }
    for (int i = 0; i < n; i++) {
        w[i] = A[i][n] / A[i][i];
    }
}

/* One over the rank of pair i among the outputs `among` (different ones), by the distance
 * to the prediction of a fit on `train`. */
static double reciprocal(const toy *t, const int *train, int n, int i, const int *among,
                         int count, double lambda)
{
    double w[PAIRS], own = 0;
    int before = 0;
    weights(t, train, n, t->x + i * WIDTH, lambda, w);
    for (int pass = 0; pass < 2; pass++) {
        for (int c = 0; c < count; c++) {
            const double *y = t->y + among[c] * OUTPUTS;
            bool same = memcmp(y, t->y + i * OUTPUTS, OUTPUTS * sizeof *y) == 0;
            bool again = false;
            double inner = 0;
            for (int k = 0; k < c; k++) {
                again |= memcmp(y, t->y + among[k] * OUTPUTS, OUTPUTS * sizeof *y) == 0;
            }
            for (int k = 0; k < n; k++) {
                inner += w[k] * rbf(t->y + train[k] * OUTPUTS, y, OUTPUTS);
            }
            own = same ? inner : own;
            before += pass && !same && !again && inner > own;
        }
    }
    return 1.0 / (before + 1);
}

/* By folds i % FOLDS; loo: each by itself, among all. given: among these. */
static double naive(const toy *t, bool loo, const int *given, int given_count,
                    double lambda)
{
    double sum = 0;
    for (int i = 0; i < PAIRS; i++) {
        int train[PAIRS], out[PAIRS], n = 0, m = 0;
        for (int k = 0; k < PAIRS; k++) {
            bool left = loo ? k == i : k % FOLDS == i % FOLDS;
            *(left ? &out[m++] : &train[n++]) = k;
        }
        for (int k = 0; loo && k < PAIRS; k++) {
            out[k] = k;
        }
        sum += given ? reciprocal(t, train, n, i, given, given_count, lambda)
                     : reciprocal(t, train, n, i, out, loo ? PAIRS : m, lambda);
    }
    return sum / PAIRS;
}

static double chosen(const toy *t, bool loo, const okra_data *given, const char *lambda,
                     const char *method)
{
    okra_int fold[PAIRS];
    okra_data *folds = NULL;
    okra_selection *s = NULL;
    double mean = 0, error = 0;
    const char *pairs[] = {"kx",
                           "rbf(sigma=1)",
                           "ky",
                           "rbf(sigma=1)",
                           "lambda",
                           lambda,
                           "cv",
                           loo ? "loo" : "kfold:4",
                           "metric",
                           "mrr",
                           method ? "low-rank-x" : NULL,
                           method,
                           NULL};
    okra_options *o = select_options(pairs);
    for (int i = 0; i < PAIRS; i++) {
        fold[i] = i % FOLDS;
    }
    CHECK_OK(okra_data_labels(fold, PAIRS, NULL, FOLDS, &folds));
    okra_select_request r = {OKRA_SIZED(okra_select_request), .candidates = given,
                             .folds = loo ? NULL : folds};
    CHECK_OK(okra_select(NULL, t->inputs, t->outputs, o, &r, &s));
    CHECK_OK(okra_selection_cell(s, 0, &mean, &error));
    okra_selection_free(s);
    okra_data_free(folds);
    okra_options_free(o);
    return mean;
}

TEST(ranks_equal_sorting_by_hand)
{
    for (int c = 0; c < SOME(8); c++) {
        toy *t = make_toy(PAIRS, 0, false, false, (uint64_t)c);
        /* an output that comes again: one candidate */
        memcpy(t->y + 9 * OUTPUTS, t->y + 5 * OUTPUTS, OUTPUTS * sizeof *t->y);
        int all[PAIRS];
        okra_data *given = NULL;
        for (int i = 0; i < PAIRS; i++) {
            all[i] = PAIRS - 1 - i;
        }
        double reversed[PAIRS * OUTPUTS];
        for (int i = 0; i < PAIRS; i++) {
            memcpy(reversed + i * OUTPUTS, t->y + all[i] * OUTPUTS,
                   OUTPUTS * sizeof *t->y);
        }
        CHECK_OK(okra_data_dense(reversed, PAIRS, OUTPUTS, OUTPUTS, &given));
        static const double lambda[] = {0.01, 1};
        static const char *const text[] = {"0.01", "1"};
        for (int l = 0; l < 2; l++) {
            double folds = naive(t, false, NULL, 0, lambda[l]);
            CHECK_NEAR(chosen(t, false, NULL, text[l], NULL), folds, 1e-12);
            CHECK_NEAR(chosen(t, true, NULL, text[l], NULL),
                       naive(t, true, NULL, 0, lambda[l]), 1e-12);
            CHECK_NEAR(chosen(t, false, given, text[l], NULL),
                       naive(t, false, all, PAIRS, lambda[l]), 1e-12);
            /* models that are fitted anew: of full rank */
            CHECK_NEAR(chosen(t, false, NULL, text[l], "nystrom(rank=15)"), folds, 1e-12);
        }
        okra_data_free(given);
        free_toy(t);
    }
}

TEST(a_window_needs_candidates_in_order)
{
    toy *t = make_toy(PAIRS, 0, false, false, 1);
    okra_selection *s = NULL;
    okra_window window = {OKRA_SIZED(okra_window), .within = "mass=10ppm"};
    okra_select_request r = {OKRA_SIZED(okra_select_request), .window = &window};
    okra_options *o = select_options((const char *[]){
        "kx", "linear", "ky", "linear", "lambda", "1", "metric", "mse", NULL});
    CHECK_FAILS(okra_select(NULL, t->inputs, t->outputs, o, &r, &s), OKRA_EARG,
                "metric mse puts none: expected mrr or hit-rate");
    CHECK_OK(okra_options_set(o, "metric", "mrr"));
    r.window = NULL;
    CHECK_FAILS(okra_select(NULL, t->inputs, t->outputs, o, &r, &s), OKRA_EARG,
                "metric mrr puts candidates in order, but decode is explicit");
    okra_options_free(o);
    free_toy(t);
}

MAIN(RUN(ranks_equal_sorting_by_hand), RUN(a_window_needs_candidates_in_order))
