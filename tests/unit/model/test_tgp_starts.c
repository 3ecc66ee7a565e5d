/*
 * The criterion of tgp-kl has several valleys where one input has several outputs: the
 * search must end in the lowest. In one to three dimensions a fine grid, made finer about
 * its lowest valleys, tells which it is.
 */
#include "pairs.h"

#include "okra/okra.h"
#include "okra/more/prediction.h"

/* A sanitizer looks at the code, and has no need of the whole count. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { SHARE = 15 };
#else
enum { SHARE = 1 };
#endif
enum {
    MOST_N = 200,
    MOST_T = 15,
    MOST_D = 3,
    MOST_POINTS = 20 * 20 * 20,
    DEEPEST = 4,  /* valleys of the grid that are looked at more closely */
    CLOSER = 125, /* points about each */
    MOST_CLOSER = MOST_T * DEEPEST * CLOSER
};
static const int sides[MOST_D] = {1201, 49, 20}, problems[MOST_D] = {60, 30, 3};

typedef struct curves {
    int n, tests, d;
    double x[MOST_N], y[MOST_D * MOST_N], t[MOST_T];
    char fit[200];
} curves;

static double between(okra_random_ *r, double lo, double hi) /* on a log scale */
{
    return lo * pow(hi / lo, okra_random_uniform_(r));
}

/* Outputs of one input: on a curve that turns back, on levels, anywhere, or on one of two
 * to five branches. */
enum { BENT, CIRCLE, LEVELS, ANYWHERE, BRANCHES, SHAPES };

static void draw_pair(okra_random_ *r, int shape, int levels, const double *wave, int d,
                      double *x, double *y)
{
    double u = okra_random_uniform_(r), noise = 0.05 * okra_random_normal_(r);
    int branch = (int)okra_random_below_(r, levels);
    *x = shape == BENT       ? u + 0.3 * sin(6.283185307179586 * u) + noise
         : shape == CIRCLE   ? 0.5 + 0.5 * cos(6.283185307179586 * u) + noise
         : shape == ANYWHERE ? 0.5 + 0.5 * sin(12 * u) + noise
                             : u;
    for (int j = 0; j < d; j++) {
        const double *v = wave + 3 * (branch * MOST_D + j);
        y[j] = shape == BRANCHES
                   ? v[0] + 0.3 * v[1] * sin(6 * v[2] * u) + 0.03 * okra_random_normal_(r)
               : j > 0 && shape == ANYWHERE ? okra_random_uniform_(r)
               : shape == LEVELS ? (double)okra_random_below_(r, j > 0 ? 2 : levels) /
                                           (j > 0 ? 1 : levels - 1) +
                                       noise / (j > 0 ? 1 : 2)
               : j > 0           ? 0.5 + 0.5 * sin(12.566370614359172 * u + j - 1)
               : shape == CIRCLE ? 0.5 + 0.5 * sin(6.283185307179586 * u)
                                 : u;
    }
}

static void draw(uint64_t seed, int d, bool few, curves *c)
{
    okra_random_ r = okra_random_create_(seed, 6);
    double wave[5 * MOST_D * 3];
    *c = (curves){.tests = MOST_T, .d = d};
    c->n = (int)(few ? between(&r, 5, 40) : between(&r, 20, MOST_N));
    int shape = few ? (int)(ANYWHERE + seed % 2) : (int)(seed % SHAPES),
        levels = 2 + (int)okra_random_below_(&r, shape == BRANCHES ? 4 : 6);
    for (size_t k = 0; k < sizeof wave / sizeof *wave; k++) {
        wave[k] = okra_random_uniform_(&r);
    }
    for (int i = 0; i < c->n; i++) {
        draw_pair(&r, shape, levels, wave, d, &c->x[i], c->y + i * d);
    }
    for (int t = 0; t < c->tests; t++) {
        c->t[t] = okra_random_uniform_(&r);
    }
    /* the grid in three dimensions is coarser, and so are the kernels */
    snprintf(c->fit, sizeof c->fit,
             "kx=rbf(gamma=%.17g) ky=rbf(gamma=%.17g) method=tgp-kl lambda=%.17g "
             "lambda-y=%.17g",
             between(&r, 3, 300), between(&r, 3, d == 3 ? 60 : 300),
             between(&r, 1e-4, 1e-1), between(&r, 1e-4, 1e-1));
}

/* ---- the reference ---- */

static double step_of(int d)
{
    return (d == 1 ? 2.0 : 1.6) / (sides[d - 1] - 1);
}

/* Points of the grid on which J is wanted. */
static okra_int grid_of(int d, double *points)
{
    okra_int count = 1, side = sides[d - 1];
    for (int j = 0; j < d; j++) {
        count *= side;
    }
    for (okra_int i = 0; i < count; i++) {
        okra_int rest = i;
        for (int j = d - 1; j >= 0; j--) {
            points[i * d + j] =
                (d == 1 ? -0.5 : -0.3) + step_of(d) * (double)(rest % side);
            rest /= side;
        }
    }
    return count;
}

/* A point at the border of the grid is no valley of it. */
static bool lower_than_neighbours(const double *J, okra_int i, int d)
{
    okra_int side = sides[d - 1], turn[MOST_D], stride = 1, strides[MOST_D], all = 1;
    for (int j = 0; j < d; j++, stride *= side) {
        strides[j] = stride;
        okra_int at = i / stride % side;
        if (at == 0 || at == side - 1) {
            return false;
        }
        all *= 3;
    }
    for (okra_int k = 0; k < all; k++) {
        okra_int other = i, rest = k;
        for (int j = 0; j < d; j++, rest /= 3) {
            turn[j] = rest % 3 - 1;
            other += turn[j] * strides[j];
        }
        if (other != i && !(J[i] < J[other])) {
            return false;
        }
    }
    return true;
}

/* Points about `centre`, up to a step away. */
static okra_int about(const double *centre, int d, double step, double *points)
{
    okra_int count = 1;
    for (int j = 0; j < d; j++) {
        count *= 5;
    }
    for (okra_int i = 0; i < count; i++) {
        okra_int rest = i;
        for (int j = 0; j < d; j++, rest /= 5) {
            points[i * d + j] = centre[j] + 0.5 * step * (double)(rest % 5 - 2);
        }
    }
    return count;
}

/* J (tests x count) of all test points at all points. */
static void values_of(const okra_model *model, const okra_data *t, int tests,
                      const double *points, okra_int count, int d, double *J)
{
    okra_data *g = NULL;
    char text[40];
    CHECK_OK(okra_data_dense(points, count, d, d, &g));
    snprintf(text, sizeof text, "decode=candidates top=%lld", (long long)count);
    okra_options *ranked = settings_of(okra_predict_options, text);
    okra_predict_request request = {OKRA_SIZED(okra_predict_request), .candidates = g};
    okra_prediction *p = NULL;
    CHECK_OK(okra_predict(NULL, model, t, ranked, &request, &p));
    okra_int top;
    const double *value = okra_prediction_distance(p, &top);
    const okra_int *index = okra_prediction_index(p, &top);
    for (okra_int k = 0; k < tests * count; k++) {
        J[k / count * count + index[k]] = value[k];
    }
    okra_prediction_free(p);
    okra_options_free(ranked);
    okra_data_free(g);
}

typedef struct reference {
    double lowest[MOST_T];
    int valleys[MOST_T];
} reference;

/* The valleys of the grid, and how deep the deepest of them are: points about them are
 * looked at, and points about the lowest of those. */
static void look(const okra_model *model, const okra_data *t, const curves *c,
                 reference *out)
{
    static double points[MOST_D * MOST_POINTS], J[MOST_T * MOST_POINTS];
    static double centres[MOST_T * DEEPEST][MOST_D], fine[MOST_D * MOST_CLOSER],
        K[MOST_T * MOST_CLOSER];
    okra_int count = grid_of(c->d, points), held = 0, each = 0, owner[MOST_T * DEEPEST];
    values_of(model, t, c->tests, points, count, c->d, J);
    for (int k = 0; k < c->tests; k++) {
        double *row = J + k * count, depth[DEEPEST];
        okra_int first = held;
        out->lowest[k] = (double)INFINITY;
        out->valleys[k] = 0;
        for (okra_int i = 0; i < count; i++) {
            if (!lower_than_neighbours(row, i, c->d)) {
                continue;
            }
            out->valleys[k]++;
            okra_int at = held - first;
            if (at < DEEPEST) {
                held++;
            } else if (row[i] >= depth[--at]) {
                continue;
            }
            for (; at > 0 && row[i] < depth[at - 1]; at--) {
                depth[at] = depth[at - 1];
                memcpy(centres[first + at], centres[first + at - 1], sizeof *centres);
            }
            depth[at] = row[i];
            memcpy(centres[first + at], points + i * c->d, (size_t)c->d * sizeof *points);
        }
        for (okra_int v = first; v < held; v++) {
            owner[v] = k;
        }
    }
    double step = step_of(c->d);
    for (int level = 0; held > 0 && level < 2; level++, step /= 3) {
        for (okra_int v = 0; v < held; v++) {
            each = about(centres[v], c->d, step, fine + v * each * c->d);
        }
        values_of(model, t, c->tests, fine, held * each, c->d, K);
        for (okra_int v = 0; v < held; v++) {
            const double *row = K + owner[v] * held * each + v * each;
            okra_int best = 0;
            for (okra_int i = 1; i < each; i++) {
                best = row[i] < row[best] ? i : best;
            }
            memcpy(centres[v], fine + (v * each + best) * c->d,
                   (size_t)c->d * sizeof *fine);
            out->lowest[owner[v]] = fmin(out->lowest[owner[v]], row[best]);
        }
    }
}

/* ---- the search ---- */

typedef struct tally {
    int problems, multimodal, missed;
    double evaluations;
} tally;

static void judge(const curves *c, tally *all)
{
    reference wanted;
    okra_data *x = NULL, *y = NULL, *t = NULL;
    CHECK_OK(okra_data_dense(c->x, c->n, 1, 1, &x));
    CHECK_OK(okra_data_dense(c->y, c->n, c->d, c->d, &y));
    CHECK_OK(okra_data_dense(c->t, c->tests, 1, 1, &t));
    okra_model *model = pairs_fit(x, y, c->fit);
    look(model, t, c, &wanted);
    okra_prediction *p = pairs_predict(model, t, "", false, false);
    okra_int rows;
    const double *report = okra_prediction_report(p, &rows);
    for (int k = 0; k < c->tests; k++) {
        all->problems++;
        all->evaluations += report[k * OKRA_REPORT_COLUMNS + 1];
        all->multimodal += wanted.valleys[k] > 1;
        all->missed += report[k * OKRA_REPORT_COLUMNS] > wanted.lowest[k] + 1e-5;
    }
    okra_prediction_free(p);
    okra_model_free(model);
    okra_data_free(x);
    okra_data_free(y);
    okra_data_free(t);
}

/* The lowest valley is missed in 6 of 2,050 problems that have several. With other seeds
 * it is 13 of 6,731. */
static void search(bool few, tally *sum)
{
    for (int d = 1; d <= MOST_D; d++) {
        tally all = {0};
        for (int seed = 0; seed < problems[d - 1] / SHARE; seed++) {
            curves c;
            draw(1000 + (uint64_t)seed, d, few, &c);
            judge(&c, &all);
        }
        printf("  %d-D%s: %d of %d problems have several valleys, in %d the lowest was "
               "missed; %.1f evaluations each\n",
               d, few ? ", few outputs" : "", all.multimodal, all.problems, all.missed,
               all.evaluations / (all.problems + 1e-9));
        sum->problems += all.problems;
        sum->multimodal += all.multimodal;
        sum->missed += all.missed;
        sum->evaluations += all.evaluations;
    }
}

TEST(the_lowest_valley_is_found)
{
    tally sum = {0};
    search(false, &sum);
    search(true, &sum);
    CHECK(sum.multimodal > sum.problems / 4);
    CHECK(sum.missed * 200 < sum.multimodal + 200); /* a sanitizer's run has few */
    CHECK(sum.evaluations < 130 * sum.problems);    /* 100 measured */
}

MAIN(RUN(the_lowest_valley_is_found))
