/*
 * Vectors found by fixed-point iteration and by gradients: distances are true, never
 * worse than the nearest training output, stationary, and within the box.
 */
#include "decoding.h"

enum { D = 3, N = 15, TESTS = 25 };

static okra_data *random_vectors(okra_random_ *r)
{
    double Y[N * (D + 1)];
    okra_data *view = NULL, *data = NULL;
    harness_normals(r, N * (D + 1), Y);
    CHECK_OK(okra_data_dense(Y, N, D, D + 1, &view));
    CHECK_OK(okra_data_copy(view, &data));
    okra_data_free(view);
    return data;
}

static double distance_at(const outputs *o, const double *w, const double *y)
{
    okra_data *data = NULL;
    double distance = NAN;
    CHECK_OK(okra_data_dense(y, 1, D, D, &data));
    all_distances(o, data, w, &distance);
    okra_data_free(data);
    return distance;
}

typedef struct found {
    double distance[TESTS], y[TESTS][D];
} found;

static void run(const char *decoder, const char *kernel, const char *settings,
                uint64_t seed, found *f, double *nearest, double *slope)
{
    okra_random_ r = okra_random_create_(seed, 11);
    outputs o;
    double W[TESTS * N], distance[N];
    okra_decoded_ d = {0};
    okra_int ld;
    outputs_open(&o, kernel, random_vectors(&r));
    random_weights(&r, TESTS, N, W);
    CHECK_OK(decode(NULL, &o, decoder, settings, W, TESTS, NULL, 10, &d));
    const double *y = d.objects ? okra_data_values(d.objects, &ld) : NULL;
    for (int t = 0; t < TESTS && y; t++) {
        const double *w = W + t * N;
        f->distance[t] = d.distance[t];
        memcpy(f->y[t], y + t * ld, sizeof f->y[t]);
        CHECK_NEAR(d.distance[t], fmax(distance_at(&o, w, f->y[t]), 0), 1e-11);
        all_distances(&o, o.y, w, distance);
        nearest[t] = INFINITY;
        for (int i = 0; i < N; i++) {
            nearest[t] = fmin(nearest[t], distance[i]);
        }
        slope[t] = 0;
        for (int j = 0; j < D; j++) {
            double a[D], b[D], h = 1e-5;
            memcpy(a, f->y[t], sizeof a);
            memcpy(b, f->y[t], sizeof b);
            a[j] += h;
            b[j] -= h;
            double g = (distance_at(&o, w, a) - distance_at(&o, w, b)) / (2 * h);
            slope[t] = fmax(slope[t], fabs(g));
        }
    }
    okra_decoded_clear_(&d);
    outputs_close(&o);
}

TEST(results_are_stationary_and_no_worse_than_training_outputs)
{
    static const char *const ways[][2] = {
        {"fixed-point", "rbf(sigma=1.2)"},
        {"gradient", "rbf(sigma=1.2)"},
        {"gradient", "poly(degree=3,coef0=1)"},
        {"gradient", "cosine"},
        {"gradient", "0.5*rbf(gamma=0.3) + 0.1*linear*linear"},
        {"gradient", "linear | power(p=2) | exp(scale=0.05)"},
    };
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        for (uint64_t seed = 0; seed < 4; seed++) {
            found f;
            double nearest[TESTS], slope[TESTS];
            int better = 0, steep = 0;
            run(ways[k][0], ways[k][1], "steps=1000", seed, &f, nearest, slope);
            for (int t = 0; t < TESTS; t++) {
                CHECK(f.distance[t] <= nearest[t] + 1e-11);
                better += f.distance[t] < nearest[t] - 1e-6;
                steep += slope[t] > 1e-3;
            }
            CHECK(better > TESTS / 3);
            CHECK(steep <= 1); /* 1 where a start diverges and a training output stays */
        }
    }
}

TEST(both_find_the_same_under_an_rbf)
{
    found a, b;
    double nearest[TESTS], slope[TESTS];
    int apart = 0;
    run("fixed-point", "rbf(sigma=1.5)", "steps=5000", 2, &a, nearest, slope);
    run("gradient", "rbf(sigma=1.5)", "", 2, &b, nearest, slope);
    for (int t = 0; t < TESTS; t++) {
        apart += fabs(a.distance[t] - b.distance[t]) > 1e-7;
    }
    CHECK(apart <= 2); /* 0 at the time of writing */
}

/* In the box the result is a minimum of the box: no coordinate step inside it helps. */
TEST(box)
{
    static const char *const ways[][2] = {{"fixed-point", "rbf(sigma=1.2)"},
                                          {"gradient", "rbf(sigma=1.2)"},
                                          {"gradient", "poly(degree=2,coef0=1)"}};
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        okra_random_ r = okra_random_create_(6, 11);
        outputs o;
        double W[TESTS * N];
        okra_decoded_ d = {0};
        okra_int ld;
        int helped = 0;
        outputs_open(&o, ways[k][1], random_vectors(&r));
        random_weights(&r, TESTS, N, W);
        CHECK_OK(decode(NULL, &o, ways[k][0], "box=-0.5,0.25", W, TESTS, NULL, 9, &d));
        const double *y = d.objects ? okra_data_values(d.objects, &ld) : NULL;
        for (int t = 0; t < TESTS && y; t++) {
            for (int j = 0; j < D; j++) {
                double at = y[t * ld + j];
                CHECK(at >= -0.5 && at <= 0.25);
                for (int side = -1; side <= 1; side += 2) {
                    double moved[D];
                    memcpy(moved, y + t * ld, sizeof moved);
                    moved[j] = fmin(fmax(at + side * 1e-3, -0.5), 0.25);
                    helped += distance_at(&o, W + t * N, moved) < d.distance[t] - 1e-6;
                }
            }
        }
        CHECK(k == 0 || helped == 0); /* a clipped fixed point need not be a minimum */
        okra_decoded_clear_(&d);
        outputs_close(&o);
    }
}

TEST(linear_kernel_clips_the_prediction)
{
    okra_random_ r = okra_random_create_(8, 11);
    outputs o;
    double W[TESTS * N];
    okra_decoded_ d = {0};
    okra_int ld;
    outputs_open(&o, "2*linear", random_vectors(&r));
    random_weights(&r, TESTS, N, W);
    CHECK_OK(decode(NULL, &o, "gradient", "box=-0.1,0.2", W, TESTS, NULL, 9, &d));
    const double *y = d.objects ? okra_data_values(d.objects, &ld) : NULL;
    for (int t = 0; t < TESTS && y; t++) {
        double sum = 0;
        for (int j = 0; j < D; j++) {
            double h = 0;
            for (int i = 0; i < N; i++) {
                h += W[t * N + i] * o.y->values[i * o.y->ld + j];
            }
            double want = fmin(fmax(h, -0.1), 0.2);
            CHECK_NEAR(y[t * ld + j], want, 1e-14);
            sum += 2 * (h - want) * (h - want);
        }
        CHECK_NEAR(d.distance[t], sum, 1e-13);
    }
    okra_decoded_clear_(&d);
    outputs_close(&o);
}

TEST(failures)
{
    okra_random_ r = okra_random_create_(1, 1);
    outputs o;
    okra_decoded_ d = {0};
    double W[2 * N];
    static const char *const boxes[] = {"box=1", "box=a,b", "box=2,1", "box=1,2x",
                                        "box=,1"};
    random_weights(&r, 2, N, W);
    outputs_open(&o, "rbf(sigma=1)", random_vectors(&r));
    for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++) {
        CHECK_FAILS(decode(NULL, &o, "gradient", boxes[i], W, 2, NULL, 2, &d), OKRA_EARG,
                    "expected LO,HI with LO < HI");
    }
    CHECK_ALLOCATIONS(decode(NULL, &o, "fixed-point", "box=-1,1", W, 2, NULL, 2, &d),
                      okra_decoded_clear_(&d));
    outputs_close(&o);
    outputs_open(&o, "poly(degree=2)", random_vectors(&r));
    CHECK_FAILS(decode(NULL, &o, "fixed-point", "", W, 2, NULL, 2, &d), OKRA_EUNSUPPORTED,
                "needs an RBF output kernel");
    outputs_close(&o);
    outputs_open(&o, "laplacian(gamma=1)", random_vectors(&r));
    CHECK_FAILS(decode(NULL, &o, "gradient", "", W, 2, NULL, 2, &d), OKRA_EUNSUPPORTED,
                "no derivative of 'laplacian'");
    outputs_close(&o);
    outputs_open(&o, "rbf(sigma=1) | center", random_vectors(&r));
    CHECK_FAILS(decode(NULL, &o, "gradient", "", W, 2, NULL, 2, &d), OKRA_EUNSUPPORTED,
                "no derivative of 'center'");
    outputs_close(&o);
}

MAIN(RUN(results_are_stationary_and_no_worse_than_training_outputs),
     RUN(both_find_the_same_under_an_rbf), RUN(box),
     RUN(linear_kernel_clips_the_prediction), RUN(failures))
