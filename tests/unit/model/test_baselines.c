/*
 * Support vector machines by their optimality conditions, and the Hopfield network by its
 * own recursion, both through models.
 */
#include "pairs.h"

TEST(svm_separates_and_obeys_its_conditions)
{
    enum { n = 30 };
    for (uint64_t seed = 0; seed < 10; seed++) {
        okra_random_ r = okra_random_create_(seed, 4);
        double x[n * 2];
        okra_int codes[n], rows, cols;
        okra_data *X = NULL, *y = NULL;
        for (int i = 0; i < n; i++) {
            codes[i] = i % 3;
            x[2 * i] = 3 * (i % 3) + okra_random_normal_(&r);
            x[2 * i + 1] = okra_random_normal_(&r);
        }
        CHECK_OK(okra_data_dense(x, n, 2, 2, &X));
        CHECK_OK(okra_data_labels(codes, n, NULL, 3, &y));
        okra_model *model =
            pairs_fit(X, y,
                      "method=svm cost=2 svm-tolerance=1e-6 kx=rbf(sigma=1) "
                      "ky=zero-one");
        const double *C = okra_store_get_(model->store, "coefficients", &rows, &cols);
        CHECK(rows == 3 && cols == n);
        okra_prediction *p = pairs_predict(model, X, "", true, false);
        const double *W = okra_prediction_weights(p, &rows, &cols);
        for (int m = 0; m < 3; m++) {
            double sum = 0;
            for (int i = 0; i < n; i++) {
                double sign = codes[i] == m ? 1 : -1, a = sign * C[m * n + i];
                /* the first pairs are 0, 1, 2: class m's weight is that of pair m */
                double margin = sign * W[i * n + m];
                sum += C[m * n + i];
                CHECK(a >= -1e-12 && a <= 2 + 1e-12);
                CHECK(a > 1e-8 || margin >= 1 - 1e-4);
                CHECK(a < 2 - 1e-8 || margin <= 1 + 1e-4);
                CHECK(!(a > 1e-8 && a < 2 - 1e-8) || fabs(margin - 1) < 1e-4);
            }
            CHECK_NEAR(sum, 0, 1e-9);
        }
        okra_prediction_free(p);
        okra_model_free(model);
        okra_data_free(X);
        okra_data_free(y);
    }
}

TEST(svr_obeys_its_conditions)
{
    pairs p;
    okra_int n, d;
    pairs_make(2, &p);
    okra_model *model = pairs_fit(p.train_x, p.train_y,
                                  "method=svr cost=1.5 tube=0.2 svm-tolerance=1e-7 "
                                  "kx=rbf(sigma=1) ky=linear");
    const double *C = okra_store_get_(model->store, "coefficients", &n, &d);
    okra_prediction *f = pairs_predict(model, p.train_x, "decode=explicit", false, true);
    const double *H = okra_prediction_embedding(f, &n, &d);
    CHECK(n == N && d == D);
    for (int i = 0; i < N * D; i++) {
        double residual = p.y[i] - H[i], a = C[i % D * N + i / D];
        CHECK(fabs(a) <= 1.5 + 1e-12);
        CHECK(fabs(a) > 1e-8 || fabs(residual) <= 0.2 + 1e-4);
        CHECK(!(fabs(a) > 1e-8) || residual * a > 0);
        CHECK(!(fabs(a) > 1e-8 && fabs(a) < 1.5 - 1e-8) ||
              fabs(fabs(residual) - 0.2) < 1e-4);
    }
    okra_prediction_free(f);
    okra_model_free(model);
    pairs_free(&p);
}

TEST(svm_of_one_class_and_bad_outputs)
{
    pairs p;
    okra_int codes[N] = {0};
    okra_data *y = NULL;
    okra_model *model = NULL;
    pairs_make(3, &p);
    CHECK_OK(okra_data_labels(codes, N, NULL, 2, &y));
    model = pairs_fit(p.train_x, y, "method=svm kx=rbf(sigma=1) ky=zero-one");
    okra_prediction *f = pairs_predict(model, p.test_x, "", false, false);
    CHECK(okra_data_codes(okra_prediction_objects(f))[0] == 0);
    okra_prediction_free(f);
    okra_model_free(model);
    okra_options *o = settings_of(okra_fit_options, "method=svm ky=rbf(sigma=1)");
    CHECK_FAILS(okra_fit(NULL, p.train_x, p.train_y, o, &model), OKRA_EUNSUPPORTED,
                "svm needs class labels");
    okra_options_free(o);
    o = settings_of(okra_fit_options, "method=svr ky=zero-one");
    CHECK_FAILS(okra_fit(NULL, p.train_x, y, o, &model), OKRA_EUNSUPPORTED,
                "svr needs dense vectors");
    okra_options_free(o);
    o = settings_of(okra_fit_options, "method=svm ky=zero-one");
    CHECK_ALLOCATIONS(okra_fit(NULL, p.train_x, y, o, &model), okra_model_free(model));
    okra_options_free(o);
    o = settings_of(okra_fit_options, "method=svr");
    CHECK_ALLOCATIONS(okra_fit(NULL, p.train_x, p.train_y, o, &model),
                      okra_model_free(model));
    okra_options_free(o);
    okra_data_free(y);
    pairs_free(&p);
}

/* ---- hopfield ---- */

/* One step v <- sat(T v + b) with T and b written out from the projector, which is found
 * by Gram-Schmidt. */
static void naive_network(const double *V, int n, int size, const double *x, int given,
                          int steps, double *v)
{
    double U[8][8], T[8][8], b[8];
    int r = 0;
    for (int i = 0; i < n - 1; i++) {
        double u[8], norm = 0;
        for (int j = 0; j < size; j++) {
            u[j] = V[i * size + j] - V[(n - 1) * size + j];
        }
        for (int pass = 0; pass < 2; pass++) {
            for (int k = 0; k < r; k++) {
                double a = okra_dot_(size, u, U[k]);
                for (int j = 0; j < size; j++) {
                    u[j] -= a * U[k][j];
                }
            }
        }
        norm = sqrt(okra_dot_(size, u, u));
        for (int j = 0; norm > 1e-9 && j < size; j++) {
            U[r][j] = u[j] / norm;
        }
        r += norm > 1e-9;
    }
    double in = exp(0.15), out = exp(-1.5);
    for (int i = 0; i < size; i++) {
        b[i] = 0;
        for (int j = 0; j < size; j++) {
            double projected = 0;
            for (int k = 0; k < r; k++) {
                projected += U[k][i] * U[k][j];
            }
            T[i][j] = in * projected + out * ((i == j) - projected);
            b[i] += (1 - out) / 10 * 11 * ((i == j) - projected) * V[(n - 1) * size + j];
        }
    }
    for (int j = 0; j < size; j++) {
        v[j] = j < given ? x[j] : 0;
    }
    for (int s = 0; s < steps; s++) {
        double next[8];
        for (int i = 0; i < size; i++) {
            next[i] = fmin(1, fmax(-1, okra_dot_(size, T[i], v) + b[i]));
        }
        memcpy(v, next, sizeof(double) * (size_t)size);
    }
}

TEST(hopfield_equals_its_recursion)
{
    enum { size = P + D };
    for (uint64_t seed = 0; seed < 20; seed++) {
        pairs p;
        double V[3 * size], v[8];
        okra_int m, d;
        const int n = 3;
        pairs_make(seed, &p);
        for (int i = 0; i < N * LDX; i++) {
            p.x[i] = tanh(p.x[i]);
        }
        for (int i = 0; i < N * D; i++) {
            p.y[i] = tanh(p.y[i]);
        }
        okra_data *x = NULL, *y = NULL;
        CHECK_OK(okra_data_dense(p.x, n, P, LDX, &x));
        CHECK_OK(okra_data_dense(p.y, n, D, D, &y));
        for (int i = 0; i < n; i++) {
            memcpy(V + i * size, p.x + i * LDX, sizeof(double) * P);
            memcpy(V + i * size + P, p.y + i * D, sizeof(double) * D);
        }
        okra_model *model = pairs_fit(x, y, "method=hopfield steps=7");
        okra_prediction *f = pairs_predict(model, p.test_x, "decode=none", false, true);
        const double *H = okra_prediction_embedding(f, &m, &d);
        for (int t = 0; t < M; t++) {
            naive_network(V, n, size, p.t + t * P, P, 7, v);
            for (int j = 0; j < D; j++) {
                CHECK_NEAR(H[t * D + j], v[P + j], 1e-12); /* 9e-16 at worst */
            }
        }
        okra_prediction_free(f);
        okra_model_free(model);
        /* the pair nearest to the whole state */
        model = pairs_fit(x, y, "method=hopfield steps=7 recall=pair");
        f = pairs_predict(model, p.test_x, "", true, false);
        const double *W = okra_prediction_weights(f, &m, &d);
        CHECK(m == M && d == n);
        for (int t = 0; t < M; t++) {
            double least = (double)INFINITY;
            int best = 0;
            naive_network(V, n, size, p.t + t * P, P, 7, v);
            for (int i = 0; i < n; i++) {
                double sum = 0;
                for (int j = 0; j < size; j++) {
                    sum += (v[j] - V[i * size + j]) * (v[j] - V[i * size + j]);
                }
                best = sum < least ? i : best;
                least = fmin(least, sum);
            }
            for (int i = 0; i < n; i++) {
                CHECK(W[t * n + i] == (i == best));
            }
        }
        okra_prediction_free(f);
        okra_model_free(model);
        okra_data_free(x);
        okra_data_free(y);
        pairs_free(&p);
    }
}

TEST(hopfield_failures)
{
    pairs p;
    okra_model *model = NULL;
    pairs_make(1, &p);
    memset(p.y, 0, sizeof p.y);
    p.y[3] = 1.5;
    okra_options *o = settings_of(okra_fit_options, "method=hopfield");
    for (int i = 0; i < N * LDX; i++) {
        p.x[i] = tanh(p.x[i]);
    }
    CHECK_FAILS(okra_fit(NULL, p.train_x, p.train_y, o, &model), OKRA_EARG,
                "of the outputs is 1.5, expected values from -1 to 1");
    for (int i = 0; i < N * D; i++) {
        p.y[i] = tanh(p.y[i]);
    }
    CHECK_ALLOCATIONS(okra_fit(NULL, p.train_x, p.train_y, o, &model),
                      okra_model_free(model));
    okra_options_free(o);
    o = settings_of(okra_fit_options, "method=hopfield ky=rbf(sigma=1)");
    CHECK_FAILS(okra_fit(NULL, p.train_x, p.train_y, o, &model), OKRA_EUNSUPPORTED,
                "hopfield needs dense outputs under a linear kernel");
    okra_options_free(o);
    o = settings_of(okra_fit_options, "method=hopfield low-rank-x=nystrom(rank=2)");
    CHECK_FAILS(okra_fit(NULL, p.train_x, p.train_y, o, &model), OKRA_EUNSUPPORTED,
                "hopfield has no kernel of the inputs");
    okra_options_free(o);
    pairs_free(&p);
}

MAIN(RUN(svm_separates_and_obeys_its_conditions), RUN(svr_obeys_its_conditions),
     RUN(svm_of_one_class_and_bad_outputs), RUN(hopfield_equals_its_recursion),
     RUN(hopfield_failures))
