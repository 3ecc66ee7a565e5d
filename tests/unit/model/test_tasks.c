/*
 * Outputs that are related tasks: the kernels metric and tasks against y'A y' written
 * out, the choice of gamma against its definition, and models under them: vectors in the
 * units of y, losses in the metric, and files that are no longer needed.
 */
#include "kernel/networks/network.h"
#include "pairs.h"
#include "okra/more/leave.h"

#include <unistd.h>

static char matrix_file[64];

static void write_matrix(okra_int d, const double *A)
{
    FILE *f = fopen(matrix_file, "w");
    for (okra_int i = 0; f && i < d * d; i++) {
        fprintf(f, "%.17g%c", A[i], i % d == d - 1 ? '\n' : ',');
    }
    CHECK(f && fclose(f) == 0);
}

static double form(okra_int d, const double *A, const double *a, const double *b)
{
    double sum = 0;
    for (okra_int i = 0; i < d * d; i++) {
        sum += a[i / d] * A[i] * b[i % d];
    }
    return sum;
}

enum { ROWS = 9, TESTS = 4, TASKS = 5 };

/* exp(-gamma |Y^i - Y^j|^2) */
static void similarities(const double *Y, double gamma, double *out)
{
    for (int i = 0; i < TASKS * TASKS; i++) {
        double sum = 0;
        for (int k = 0; k < ROWS; k++) {
            double e = Y[k * TASKS + i / TASKS] - Y[k * TASKS + i % TASKS];
            sum += e * e;
        }
        out[i] = exp(-gamma * sum);
    }
}

/* The gamma of greatest entropy, by counting. */
static double naive_gamma(const double *Y)
{
    double S[TASKS * TASKS], mean = 0, best = -1, chosen = 0;
    similarities(Y, 0.01, S);
    for (int i = 0; i < TASKS * TASKS; i++) {
        mean -= log(S[i]) / 0.01 / (TASKS * (TASKS - 1));
    }
    for (int c = 0; c <= 40; c++) {
        double gamma = 0.01 * pow(10, c / 10.0) / mean, entropy = 0;
        similarities(Y, gamma, S);
        for (int b = 0; b < 50; b++) {
            int inside = 0;
            for (int i = 0; i < TASKS; i++) {
                for (int j = 0; j < i; j++) {
                    double s = S[i * TASKS + j] * 50;
                    inside += s >= b && (s < b + 1 || b == 49);
                }
            }
            double p = inside / (TASKS * (TASKS - 1) / 2.0);
            entropy -= p > 0 ? p * log(p) : 0;
        }
        if (entropy > best + 1e-12) {
            best = entropy;
            chosen = gamma;
        }
    }
    return chosen;
}

static void check_gram(const char *text, const okra_data *train, const okra_data *test,
                       const double *A, const double *Y, const double *U)
{
    okra_kernel *kernel = NULL;
    double K[ROWS * ROWS], X[TESTS * ROWS];
    CHECK_OK(okra_kernel_parse(text, &kernel));
    CHECK_OK(okra_gram(NULL, kernel, train, NULL, K, ROWS));
    CHECK_OK(okra_gram(NULL, kernel, test, train, X, ROWS));
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < ROWS; j++) {
            CHECK_NEAR(K[i * ROWS + j], form(TASKS, A, Y + i * TASKS, Y + j * TASKS),
                       2e-13); /* worst 1.6e-14 */
        }
    }
    for (int i = 0; i < TESTS * ROWS; i++) {
        CHECK_NEAR(X[i], form(TASKS, A, U + i / ROWS * TASKS, Y + i % ROWS * TASKS),
                   2e-13);
    }
    okra_kernel_free(kernel);
}

TEST(kernels_are_their_definitions)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        okra_random_ r = okra_random_create_(seed, 1);
        double Y[ROWS * TASKS], U[TESTS * TASKS], G[TASKS * TASKS], A[TASKS * TASKS];
        double similar[TASKS * TASKS], gammas[] = {0.02, 0};
        char text[160];
        okra_data *train = NULL, *test = NULL;
        harness_normals(&r, ROWS * TASKS, Y);
        harness_normals(&r, TESTS * TASKS, U);
        harness_normals(&r, TASKS * TASKS, G);
        gammas[1] = naive_gamma(Y);
        CHECK_OK(okra_data_dense(Y, ROWS, TASKS, TASKS, &train));
        CHECK_OK(okra_data_dense(U, TESTS, TASKS, TASKS, &test));
        for (int i = 0; i < TASKS * TASKS; i++) {
            A[i] = 0;
            for (int k = seed % 2 ? 3 : 0; k < TASKS; k++) { /* odd: of rank 2 */
                A[i] += G[k * TASKS + i / TASKS] * G[k * TASKS + i % TASKS];
            }
        }
        write_matrix(TASKS, A);
        snprintf(text, sizeof text, "metric(file=%s)", matrix_file);
        check_gram(text, train, test, A, Y, U);
        snprintf(text, sizeof text, "tasks(mu=0.3,file=%s)", matrix_file);
        for (int i = 0; i < TASKS * TASKS; i++) {
            A[i] = 0.3 * A[i] + (i % (TASKS + 1) == 0 ? 0.7 : 0);
        }
        check_gram(text, train, test, A, Y, U);
        for (int k = 0; k < 2; k++) {
            similarities(Y, gammas[k], similar);
            for (int i = 0; i < TASKS * TASKS; i++) {
                A[i] = 0.8 * similar[i] + (i % (TASKS + 1) == 0 ? 0.2 : 0);
            }
            snprintf(text, sizeof text, k ? "tasks(mu=0.8)" : "tasks(mu=0.8,gamma=0.02)");
            check_gram(text, train, test, A, Y, U);
        }
        okra_data_free(train);
        okra_data_free(test);
    }
}

TEST(alike_and_unknown_tasks)
{
    const double same[] = {1, 1, 2, 2}, apart[] = {1, NAN, NAN, 2};
    double *found = NULL;
    CHECK_OK(okra_tasks_estimate_(NULL, okra_mat_view_(same, 2, 2, 2), NULL, 0, &found));
    CHECK(found && found[0] == 1 && found[1] == 1 && found[2] == 1 && found[3] == 1);
    okra_free_(found);
    CHECK_OK(okra_tasks_estimate_(NULL, okra_mat_view_(apart, 2, 2, 2), NULL, 0, &found));
    CHECK(found && found[0] == 1 && found[1] == 0 && found[2] == 0 && found[3] == 1);
    okra_free_(found);
    CHECK_ALLOCATIONS(
        okra_tasks_estimate_(NULL, okra_mat_view_(same, 2, 2, 2), NULL, 0, &found),
        okra_free_(found));
}

/* h = sum w_i y_i in the units of y, |.|^2 in those of the metric; the model does not
 * need the file of the matrix, and says the same when it was saved and loaded. */
TEST(models_speak_in_the_units_of_y)
{
    pairs p;
    const double A[] = {2, 1, 1, 3};
    char settings[160], model_file[80];
    okra_model *model[2] = {NULL, NULL};
    okra_int rows, cols;
    pairs_make(5, &p);
    write_matrix(D, A);
    snprintf(settings, sizeof settings,
             "kx=rbf(sigma=1.5) ky=metric(file=%s) operator=cov lambda=0.1", matrix_file);
    snprintf(model_file, sizeof model_file, "%s.okra", matrix_file);
    model[0] = pairs_fit(p.train_x, p.train_y, settings);
    CHECK_OK(okra_model_save(NULL, model[0], NULL, model_file));
    unlink(matrix_file);
    CHECK_OK(okra_model_load(NULL, model_file, &model[1]));
    for (int k = 0; k < 2; k++) {
        okra_prediction *o =
            pairs_predict(model[k], p.test_x, "decode=explicit", true, true);
        const double *W = okra_prediction_weights(o, &rows, &cols);
        const double *H = okra_prediction_embedding(o, &rows, &cols), *z;
        okra_int ld;
        double mean = 0, want = 0;
        CHECK(rows == M && cols == D);
        z = okra_data_values(okra_prediction_objects(o), &ld);
        for (int i = 0; i < M * D; i++) {
            double sum = 0;
            for (int j = 0; j < N; j++) {
                sum += W[i / D * N + j] * p.y[j * D + i % D];
            }
            CHECK_NEAR(H[i], sum, 1e-14);
            CHECK(z[i / D * ld + i % D] == H[i]);
        }
        CHECK_OK(okra_model_loss(NULL, model[k], p.test_x, p.test_y, &mean, NULL));
        for (int t = 0; t < M; t++) {
            double e[D];
            for (int j = 0; j < D; j++) {
                e[j] = H[t * D + j] - p.u[t * D + j];
            }
            want += form(D, A, e, e) / M;
        }
        CHECK_NEAR(mean, want, 1e-13 * want);
        okra_prediction_free(o);
    }
    okra_model_free(model[0]);
    okra_model_free(model[1]);
    unlink(model_file);
    pairs_free(&p);
}

static okra_status fit(const pairs *p, const char *ky, const char *method,
                       okra_model **model)
{
    okra_options *o = settings_of(okra_fit_options, method);
    CHECK_OK(okra_options_set(o, "ky", ky));
    okra_status st = okra_fit(NULL, p->train_x, p->train_y, o, model);
    okra_options_free(o);
    return st;
}

TEST(refusals_and_allocations)
{
    pairs p;
    const double indefinite[] = {0, 1, 1, 0}, skew[] = {1, 2, 3, 4};
    char text[2][96];
    okra_model *m = NULL;
    pairs_make(6, &p);
    snprintf(text[0], sizeof text[0], "metric(file=%s)", matrix_file);
    snprintf(text[1], sizeof text[1], "tasks(mu=0.9,file=%s)", matrix_file);
    write_matrix(D, indefinite);
    for (int k = 0; k < 2; k++) {
        CHECK_FAILS(fit(&p, text[k], "", &m), OKRA_EARG, "positive semi-definite");
    }
    write_matrix(D, skew);
    CHECK_FAILS(fit(&p, text[0], "", &m), OKRA_EARG, "expected a symmetric matrix");
    write_matrix(1, skew);
    CHECK_FAILS(fit(&p, text[1], "", &m), OKRA_ESHAPE, "expected a matrix of 2 x 2");
    snprintf(text[1], sizeof text[1], "tasks(mu=0.9,gamma=1,file=%s)", matrix_file);
    CHECK_FAILS(fit(&p, text[1], "", &m), OKRA_EARG, "both file and gamma");
    CHECK_FAILS(fit(&p, "tasks(mu=0.5)", "operator=graph:x.npy,mu=0.5", &m),
                OKRA_EUNSUPPORTED, "linear output kernel");
    okra_options *o = settings_of(okra_fit_options, "ky=tasks(mu=0.5)");
    CHECK_ALLOCATIONS(okra_fit(NULL, p.train_x, p.train_y, o, &m), okra_model_free(m));
    okra_options_free(o);
    unlink(matrix_file);
    pairs_free(&p);
}

int main(void)
{
    snprintf(matrix_file, sizeof matrix_file, "tasks-%d.csv", (int)getpid());
    const harness_test tests[] = {
        RUN(kernels_are_their_definitions), RUN(alike_and_unknown_tasks),
        RUN(models_speak_in_the_units_of_y), RUN(refusals_and_allocations)};
    return harness_main(tests, sizeof tests / sizeof *tests);
}
