/*
 * The criterion of tgp-kl has several valleys where one input has several outputs: the
 * search must end in the lowest. In one and two dimensions a fine grid tells which it is.
 */
#include "pairs.h"

#include "okra/okra.h"

/* A sanitizer looks at the code, and has no need of the whole count. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { SEEDS = 12 };
#else
enum { SEEDS = 200 };
#endif
enum { LINE = 1201, SIDE = 61, POINTS = SIDE * SIDE, MOST_N = 200, MOST_T = 15 };

typedef struct curves {
    int n, tests, d;
    double x[MOST_N], y[2 * MOST_N], t[MOST_T];
    char fit[200];
} curves;

static double between(okra_random_ *r, double lo, double hi) /* on a log scale */
{
    return lo * pow(hi / lo, okra_random_uniform_(r));
}

/* Inputs of which each has one to seven outputs; or few of them (as few as 8), whose
 * outputs lie anywhere. */
static void draw(uint64_t seed, int d, bool few, curves *c)
{
    okra_random_ r = okra_random_create_(seed, 6);
    *c = (curves){.n = few ? 8 + (int)okra_random_below_(&r, 32)
                           : 20 + (int)okra_random_below_(&r, MOST_N - 20),
                  .tests = MOST_T};
    int shape = few ? 3 : (int)okra_random_below_(&r, 3),
        levels = 2 + (int)okra_random_below_(&r, 6);
    c->d = d;
    for (int i = 0; i < c->n; i++) {
        double u = okra_random_uniform_(&r), noise = 0.05 * okra_random_normal_(&r);
        double *y = c->y + i * d;
        if (shape == 0) { /* the S shape */
            c->x[i] = u + 0.3 * sin(6.283185307179586 * u) + noise;
            y[0] = u;
        } else if (shape == 1) { /* a circle seen from the side */
            c->x[i] = 0.5 + 0.5 * cos(6.283185307179586 * u) + noise;
            y[0] = 0.5 + 0.5 * sin(6.283185307179586 * u);
        } else if (shape == 3) {
            y[0] = u;
            c->x[i] = 0.5 + 0.5 * sin(12 * u) + noise;
        } else { /* levels */
            c->x[i] = u;
            y[0] = (double)okra_random_below_(&r, levels) / (levels - 1) + noise / 2;
        }
        if (d == 2) {
            y[1] = shape == 3   ? okra_random_uniform_(&r)
                   : shape == 2 ? (double)okra_random_below_(&r, 2) + noise
                                : 0.5 + 0.5 * sin(12.566370614359172 * u);
        }
    }
    for (int t = 0; t < c->tests; t++) {
        c->t[t] = okra_random_uniform_(&r);
    }
    snprintf(c->fit, sizeof c->fit,
             "kx=rbf(gamma=%.17g) ky=rbf(gamma=%.17g) method=tgp-kl lambda=%.17g "
             "lambda-y=%.17g",
             between(&r, 3, 300), between(&r, 3, 300), between(&r, 1e-4, 1e-1),
             between(&r, 1e-4, 1e-1));
}

/* Points of the grid on which J is wanted. */
static okra_int grid_of(int d, double *points)
{
    for (int i = 0; i < (d == 1 ? LINE : POINTS); i++) {
        if (d == 1) {
            points[i] = -0.5 + 2.0 * i / (LINE - 1);
        } else {
            points[2 * i] = -0.3 + 1.6 * (double)(i / SIDE) / (SIDE - 1);
            points[2 * i + 1] = -0.3 + 1.6 * (double)(i % SIDE) / (SIDE - 1);
        }
    }
    return d == 1 ? LINE : POINTS;
}

static bool lower_than_neighbours(const double *J, int i, int d)
{
    if (d == 1) {
        return i > 0 && i < LINE - 1 && J[i] < J[i - 1] && J[i] < J[i + 1];
    }
    int a = i / SIDE, b = i % SIDE;
    if (a == 0 || b == 0 || a == SIDE - 1 || b == SIDE - 1) {
        return false;
    }
    for (int k = 0; k < 9; k++) {
        int other = (a + k / 3 - 1) * SIDE + b + k % 3 - 1;
        if (other != i && !(J[i] < J[other])) {
            return false;
        }
    }
    return true;
}

typedef struct tally {
    int problems, multimodal, missed;
    double evaluations;
} tally;

static void judge(const curves *c, const double *points, okra_int count, tally *all)
{
    static double J[POINTS];
    okra_data *x = NULL, *y = NULL, *t = NULL, *g = NULL;
    CHECK_OK(okra_data_dense(c->x, c->n, 1, 1, &x));
    CHECK_OK(okra_data_dense(c->y, c->n, c->d, c->d, &y));
    CHECK_OK(okra_data_dense(c->t, c->tests, 1, 1, &t));
    CHECK_OK(okra_data_dense(points, count, c->d, c->d, &g));
    okra_model *model = pairs_fit(x, y, c->fit);
    char top_text[40];
    snprintf(top_text, sizeof top_text, "decode=candidates top=%lld", (long long)count);
    okra_options *ranked = pairs_options(okra_predict_options, top_text);
    okra_predict_request request = {OKRA_SIZED(okra_predict_request), .candidates = g};
    okra_prediction *p = pairs_predict(model, t, "", false, false), *q = NULL;
    CHECK_OK(okra_predict(NULL, model, t, ranked, &request, &q));
    okra_int rows, top;
    const double *report = okra_prediction_report(p, &rows);
    const double *value = okra_prediction_distance(q, &top);
    const okra_int *index = okra_prediction_index(q, &top);
    for (int k = 0; k < c->tests; k++) {
        int valleys = 0;
        for (okra_int i = 0; i < count; i++) {
            J[index[k * top + i]] = value[k * top + i];
        }
        for (int i = 0; i < count; i++) {
            valleys += lower_than_neighbours(J, i, c->d);
        }
        double got = report[k * OKRA_REPORT_COLUMNS];
        bool missed = got > value[k * top] + 1e-9 &&
                      lower_than_neighbours(J, (int)index[k * top], c->d);
        all->problems++;
        all->evaluations += report[k * OKRA_REPORT_COLUMNS + 1];
        all->multimodal += valleys > 1;
        all->missed += missed;
    }
    okra_prediction_free(p);
    okra_prediction_free(q);
    okra_model_free(model);
    okra_options_free(ranked);
    okra_data_free(x);
    okra_data_free(y);
    okra_data_free(t);
    okra_data_free(g);
}

/* 10 of 2,796 problems with several valleys are missed, and 27 of 2,585 with few outputs,
 * where the criterion is nearly flat; a valley at the border of the grid is none. */
static void search(bool few, int share)
{
    static double points[2 * POINTS];
    tally all = {0};
    for (int d = 1; d <= 2; d++) {
        curves c;
        okra_int count = grid_of(d, points);
        for (uint64_t seed = 0; seed < (d == 1 ? SEEDS : SEEDS * 3 / 10); seed++) {
            draw(seed, d, few, &c);
            judge(&c, points, count, &all);
        }
    }
    printf("  %d of %d problems have several valleys, in %d the lowest was missed; %.1f "
           "evaluations each\n",
           all.multimodal, all.problems, all.missed, all.evaluations / all.problems);
    CHECK(all.multimodal > all.problems / 4);
    CHECK(all.missed * share < all.multimodal);
}

TEST(the_lowest_valley_is_found)
{
    search(false, 200);
}

TEST(the_lowest_valley_of_few_outputs_is_found)
{
    search(true, 30);
}

MAIN(RUN(the_lowest_valley_is_found), RUN(the_lowest_valley_of_few_outputs_is_found))
