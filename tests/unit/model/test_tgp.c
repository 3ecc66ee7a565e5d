/*
 * test_tgp.c: twin Gaussian processes against the bordered matrices of their definition,
 * written out, and against a search over a fine grid.
 */
#include "scene.h"

#include "decode/vectors/criterion.h"
#include "kernel/vectors/smooth.h"
#include "okra/more/prediction.h"

enum { B = N + 1 };

/* The Gram matrix of the training objects and one more, plus lambda on the diagonal. */
static void bordered(const char *text, const okra_data *train, const double *z,
                     okra_int d, double lambda, double *K)
{
    okra_kernel *kernel = NULL;
    okra_data *one = NULL, *all = NULL;
    CHECK_OK(okra_kernel_parse(text, &kernel));
    CHECK_OK(okra_data_dense(z, 1, d, d, &one));
    CHECK_OK(okra_data_concat(train, one, &all));
    CHECK_OK(okra_gram(NULL, kernel, all, NULL, K, B));
    for (int i = 0; i < B; i++) {
        K[i * B + i] += lambda;
    }
    okra_data_free(all);
    okra_data_free(one);
    okra_kernel_free(kernel);
}

/* Gauss-Jordan with partial pivoting in long double: the inverse, and log |det|. */
static void invert(const double *A, double *inverse, double *log_det)
{
    long double a[B][2 * B], sum = 0;
    for (int i = 0; i < B; i++) {
        for (int j = 0; j < B; j++) {
            a[i][j] = A[i * B + j];
            a[i][B + j] = i == j;
        }
    }
    for (int c = 0; c < B; c++) {
        int pivot = c;
        for (int i = c; i < B; i++) {
            pivot = fabsl(a[i][c]) > fabsl(a[pivot][c]) ? i : pivot;
        }
        for (int j = 0; j < 2 * B; j++) {
            long double t = a[c][j];
            a[c][j] = a[pivot][j];
            a[pivot][j] = t;
        }
        sum += logl(fabsl(a[c][c]));
        for (int i = 0; i < B; i++) {
            long double f = a[i][c] / a[c][c];
            for (int j = 0; i != c && j < 2 * B; j++) {
                a[i][j] -= f * a[c][j];
            }
        }
    }
    for (int i = 0; i < B; i++) {
        for (int j = 0; j < B; j++) {
            inverse[i * B + j] = (double)(a[i][B + j] / a[i][i]);
        }
    }
    *log_det = (double)sum;
}

/* The criterion from the definition: 2 eta KL(N(0,G) || N(0,K)) less what does not depend
 * on y, or -tr(K H G H). */
static double dense_criterion(const scene *s, bool kl, const double *x, const double *y)
{
    double K[B * B], G[B * B], Q[B * B], unused[B * B], log_K, log_G, trace = 0;
    bordered(s->kx, s->p.train_x, x, P, kl ? s->lambda : 0, K);
    bordered(s->ky, s->p.train_y, y, D, kl ? s->lambda_y : 0, G);
    if (kl) {
        invert(K, Q, &log_K);
        invert(G, unused, &log_G);
        for (int i = 0; i < B * B; i++) {
            trace += Q[i] * G[i];
        }
        return (trace - log_G) / Q[B * B - 1]; /* eta = 1 / its last diagonal entry */
    }
    for (int i = 0; i < B; i++) {
        for (int j = 0; j < B; j++) {
            double row = 0, col = 0, all = 0;
            for (int k = 0; k < B; k++) {
                row += K[i * B + k] / B;
                col += K[k * B + j] / B;
                for (int l = 0; l < B; l++) {
                    all += K[k * B + l] / B / B;
                }
            }
            trace += (K[i * B + j] - row - col + all) * G[i * B + j];
        }
    }
    return -trace;
}

static const char *const output_kernels[] = {
    "rbf(gamma=0.4)",
    "rbf(gamma=0.1)|poly-series(0,0.3,0.2,0.5)",
    "linear",
    "cosine",
};

/* The ranking of all candidates gives J of each: its differences are those of the
 * definition. */
TEST(definition)
{
    double worst = 0;
    for (uint64_t seed = 0; seed < 4; seed++) {
        for (int k = 0; k < 4; k++) {
            for (int kl = 0; kl < 2; kl++) {
                scene s = {.kx = "rbf(gamma=0.3)",
                           .ky = output_kernels[k],
                           .lambda = 0.05,
                           .lambda_y = 0.02};
                char top[20];
                pairs_make(seed, &s.p);
                okra_model *model = fit_scene(&s, kl ? "tgp-kl" : "tgp-hsic",
                                              kl ? "lambda=0.05 lambda-y=0.02" : "");
                okra_predict_request request = {OKRA_SIZED(okra_predict_request),
                                                .candidates = s.p.test_y};
                snprintf(top, sizeof top, "top=%d", M);
                okra_options *o = settings_of(okra_predict_options, top);
                okra_prediction *p = NULL;
                CHECK_OK(okra_predict(NULL, model, s.p.test_x, o, &request, &p));
                okra_int tops;
                const okra_int *index = okra_prediction_index(p, &tops);
                const double *J = okra_prediction_distance(p, &tops);
                CHECK(tops == M);
                for (int t = 0; t < M; t++) {
                    double first = 0;
                    for (int c = 0; c < M; c++) {
                        double want = dense_criterion(&s, kl, s.p.t + t * P,
                                                      s.p.u + index[t * M + c] * D);
                        first = c == 0 ? want : first;
                        double got = J[t * M + c] - J[t * M];
                        worst = fmax(worst, fabs(got - (want - first)));
                        CHECK(c == 0 || J[t * M + c] >= J[t * M + c - 1]);
                    }
                }
                okra_prediction_free(p);
                okra_options_free(o);
                okra_model_free(model);
                pairs_free(&s.p);
            }
        }
    }
    CHECK_NEAR(worst, 0, 1.5e-12); /* worst over 40 seeds: 1.4e-13 */
}

/* The reported J is that of the reported y, no candidate is lower, and it converged. */
TEST(optimum)
{
    for (uint64_t seed = 0; seed < 4; seed++) {
        for (int k = 0; k < 4; k++) {
            for (int kl = 0; kl < 2; kl++) {
                if (!kl && k == 2) {
                    continue;
                }
                scene s = {.kx = "rbf(gamma=0.3)", .ky = output_kernels[k]};
                pairs_make(seed, &s.p);
                okra_model *model = fit_scene(&s, kl ? "tgp-kl" : "tgp-hsic", "");
                okra_prediction *p =
                    pairs_predict(model, s.p.test_x, "starts=4", false, false);
                okra_int rows = 0, top;
                const double *report = okra_prediction_report(p, &rows);
                CHECK(rows == M);
                okra_int ranges[2 * M];
                for (int t = 0; t < M; t++) {
                    ranges[2 * t] = t;
                    ranges[2 * t + 1] = t + 1;
                }
                okra_predict_request again = {OKRA_SIZED(okra_predict_request),
                                              .candidates = okra_prediction_objects(p),
                                              .ranges = ranges};
                okra_prediction *q = NULL,
                                *r = pairs_predict(model, s.p.test_x, "decode=candidates",
                                                   false, false);
                CHECK_OK(okra_predict(NULL, model, s.p.test_x, NULL, &again, &q));
                const double *J = okra_prediction_distance(q, &top);
                const double *best = okra_prediction_distance(r, &top);
                for (int t = 0; t < M; t++) {
                    const double *row = report + t * OKRA_REPORT_COLUMNS;
                    CHECK_NEAR(J[t], row[0], 1e-11); /* measured: 1.2e-12, on a GPU */
                    CHECK(row[0] <= best[t] + 1e-12);
                    CHECK(row[3] == 1 && row[2] <= 1e-5 && row[1] > 1);
                }
                okra_prediction_free(p);
                okra_prediction_free(q);
                okra_prediction_free(r);
                okra_model_free(model);
                pairs_free(&s.p);
            }
        }
    }
}

/* One output dimension: the optimum is that of a fine grid. */
TEST(grid)
{
    enum { GRID = 4001 };
    static double line[GRID], x[N], y[N];
    double tests[3] = {-0.4, 0.1, 0.9};
    okra_random_ r = okra_random_create_(11, 0);
    for (int i = 0; i < N; i++) {
        x[i] = 2 * okra_random_uniform_(&r) - 1;
        y[i] = x[i] * x[i] + 0.1 * okra_random_normal_(&r);
    }
    for (int i = 0; i < GRID; i++) {
        line[i] = -1 + 3.0 * i / (GRID - 1);
    }
    okra_data *dx = NULL, *dy = NULL, *dt = NULL, *dg = NULL;
    CHECK_OK(okra_data_dense(x, N, 1, 1, &dx));
    CHECK_OK(okra_data_dense(y, N, 1, 1, &dy));
    CHECK_OK(okra_data_dense(tests, 3, 1, 1, &dt));
    CHECK_OK(okra_data_dense(line, GRID, 1, 1, &dg));
    for (int kl = 0; kl < 2; kl++) {
        okra_model *model =
            pairs_fit(dx, dy,
                      kl ? "kx=rbf(gamma=3) ky=rbf(gamma=5) method=tgp-kl lambda=0.01"
                         : "kx=rbf(gamma=3) ky=rbf(gamma=5) method=tgp-hsic");
        okra_predict_request request = {OKRA_SIZED(okra_predict_request),
                                        .candidates = dg};
        okra_prediction *best = NULL, *p = pairs_predict(model, dt, "", false, false);
        CHECK_OK(okra_predict(NULL, model, dt, NULL, &request, &best));
        okra_int ld;
        const double *got = okra_data_values(okra_prediction_objects(p), &ld);
        const double *want = okra_data_values(okra_prediction_objects(best), &ld);
        for (int t = 0; t < 3; t++) {
            CHECK_NEAR(got[t], want[t], 1.0 / (GRID - 1) * 3); /* a step of the grid */
        }
        okra_prediction_free(p);
        okra_prediction_free(best);
        okra_model_free(model);
    }
    okra_data_free(dx);
    okra_data_free(dy);
    okra_data_free(dt);
    okra_data_free(dg);
}

/* All training inputs as neighbours: the same as without; fewer: the model of these. */
TEST(neighbours)
{
    for (int kl = 0; kl < 2; kl++) {
        scene s = {.kx = "rbf(gamma=0.3)", .ky = "rbf(gamma=0.4)"};
        pairs_make(5, &s.p);
        const char *method = kl ? "tgp-kl" : "tgp-hsic";
        okra_model *whole = fit_scene(&s, method, "");
        okra_model *all = fit_scene(&s, method, "neighbours=12");
        okra_model *few = fit_scene(&s, method, "neighbours=5");
        okra_prediction *a = pairs_predict(whole, s.p.test_x, "", true, false);
        okra_prediction *b = pairs_predict(all, s.p.test_x, "", true, false);
        okra_prediction *c = pairs_predict(few, s.p.test_x, "", true, false);
        okra_int m, n, ld;
        CHECK_NEAR(harness_relative(M * N, okra_prediction_weights(b, &m, &n),
                                    okra_prediction_weights(a, &m, &n)),
                   0, 1e-14);
        CHECK_NEAR(harness_relative(M * D,
                                    okra_data_values(okra_prediction_objects(b), &ld),
                                    okra_data_values(okra_prediction_objects(a), &ld)),
                   0, 1e-6); /* both stop at a gradient of 1e-5 */
        const double *W = okra_prediction_weights(c, &m, &n);
        const double *report = okra_prediction_report(c, &m);
        for (int t = 0; t < M; t++) {
            okra_int members[5], found = 0;
            for (int i = 0; i < N; i++) {
                if (W[t * N + i] != 0 && found < 5) {
                    members[found++] = i;
                }
            }
            CHECK(found == 5);
            scene alone = {.kx = s.kx, .ky = s.ky};
            okra_data *one = NULL;
            okra_int row = t;
            CHECK_OK(okra_data_take(s.p.train_x, members, found, &alone.p.train_x));
            CHECK_OK(okra_data_take(s.p.train_y, members, found, &alone.p.train_y));
            CHECK_OK(okra_data_take(s.p.test_x, &row, 1, &one));
            okra_model *model = fit_scene(&alone, method, "");
            /* J of the same y, by the model of the members alone */
            okra_int range[] = {t, t + 1};
            okra_predict_request same = {OKRA_SIZED(okra_predict_request),
                                         .candidates = okra_prediction_objects(c),
                                         .ranges = range, .weights = true};
            okra_prediction *p = NULL;
            CHECK_OK(okra_predict(NULL, model, one, NULL, &same, &p));
            const double *w = okra_prediction_weights(p, &m, &n);
            const double *own = okra_prediction_distance(p, &m);
            for (okra_int i = 0; i < found; i++) {
                CHECK_NEAR(w[i], W[t * N + members[i]], 1e-14);
            }
            CHECK_NEAR(own[0], report[t * OKRA_REPORT_COLUMNS], 1e-12);
            okra_prediction_free(p);
            okra_model_free(model);
            okra_data_free(one);
            okra_data_free(alone.p.train_x);
            okra_data_free(alone.p.train_y);
        }
        okra_prediction_free(a);
        okra_prediction_free(b);
        okra_prediction_free(c);
        okra_model_free(whole);
        okra_model_free(all);
        okra_model_free(few);
        pairs_free(&s.p);
    }
}

/* dJ/dl and dJ/ds, and through the kernel dJ/dy, against central differences. */
TEST(gradients)
{
    double worst = 0;
    for (uint64_t seed = 0; seed < 5; seed++) {
        for (int k = 0; k < 16; k++) {
            pairs p;
            okra_kernel *kernel = NULL;
            okra_trained_kernel_ *bound = NULL;
            okra_smooth_ *smooth = NULL;
            okra_smooth_work_ *work = NULL;
            okra_criterion_eval_ *judge = NULL;
            okra_case_ c;
            double W[N], extra[1 + 5] = {0.3, 1, 2, 5, 7, 10};
            okra_random_ r = okra_random_create_(seed, 9);
            okra_criterion_ criterion = {k & 1, 0.02, k & 2 ? 5 : 0};
            pairs_make(seed, &p);
            harness_normals(&r, N, W);
            CHECK_OK(okra_kernel_parse(output_kernels[k / 4], &kernel));
            CHECK_OK(okra_trained_kernel_create_(NULL, kernel, p.train_y, &bound));
            okra_output_ output = {.y = p.train_y,
                                   .ky = bound,
                                   .kernel = kernel,
                                   .feature_scale = 1,
                                   .criterion = &criterion};
            okra_block_ block = {.m = 1,
                                 .W = okra_mat_of_(W, 1, N),
                                 .extra = okra_mat_of_(extra, 1, k & 2 ? 6 : 1)};
            CHECK_OK(okra_criterion_eval_create_(NULL, &output, &judge));
            CHECK_OK(okra_case_create_(NULL, judge, &c));
            CHECK_OK(okra_case_set_(judge, &block, 0, &c));
            CHECK_OK(okra_smooth_create_(NULL, kernel, p.train_y, NULL, &smooth));
            CHECK_OK(okra_smooth_work_create_(NULL, smooth, N, &work));
            okra_smooth_select_(work, c.index, c.count);
            double y[D] = {0.3, -0.8}, l[N], by_self, self, value, g[D];
            double differences[D], h = 1e-5;
            for (int j = 0; j < D; j++) {
                double keep = y[j], J[2];
                for (int sign = 0; sign < 2; sign++) {
                    y[j] = keep + (sign ? h : -h);
                    okra_smooth_values_(work, y, l, &self);
                    CHECK_OK(okra_case_values_(&c, okra_mat_of_(l, 1, c.count), &self,
                                               &J[sign], NULL));
                }
                differences[j] = (J[1] - J[0]) / (2 * h);
                y[j] = keep;
            }
            okra_smooth_values_(work, y, l, &self);
            CHECK_OK(okra_case_values_(&c, okra_mat_of_(l, 1, c.count), &self, &value,
                                       &by_self));
            okra_smooth_gradient_(work, l, by_self, g);
            worst = fmax(worst, harness_relative(D, g, differences));
            okra_case_clear_(&c);
            okra_criterion_eval_free_(judge);
            okra_smooth_work_free_(work);
            okra_smooth_free_(smooth);
            okra_trained_kernel_free_(bound);
            okra_kernel_free(kernel);
            pairs_free(&p);
        }
    }
    CHECK_NEAR(worst, 0, 1e-8); /* worst over 40 seeds: 7e-10, of the differences */
}

MAIN(RUN(definition), RUN(optimum), RUN(grid), RUN(neighbours), RUN(gradients))
