/*
 * Missing outputs: ridge against one full system a task (identity) and against the system
 * of all known values written out (matrix operators), with and without a graph; the task
 * graph estimated from outputs; the route of NaN through data, fit, model and decoders.
 */
#include "data/data.h"
#include "solve/graph.h"
#include "solve/solution.h"
#include "ridge.h"
#include "okra/model.h"
#include "okra/more/features.h"
#include "okra/more/leave.h"

enum { LABELLED = 6, SEEDS = 12 };
static char operator_file[64], operator_text[80];

static void predict(const toy *t, okra_int n, const okra_store_ *store, double *H)
{
    double Kx[M * N];
    memcpy(Kx, t->Kx, sizeof Kx);
    okra_query_ q = {.m = t->m, .n = n, .Kx = okra_mat_of_(Kx, t->m, t->n)};
    CHECK_OK(ridge()->predict(NULL, store, &q, okra_mat_of_(H, t->m, D)));
}

/* About a third of the values is lost; two coordinates lose the same rows when `alike`.
 */
static void lose(toy *t, uint64_t seed, bool alike)
{
    okra_random_ r = okra_random_create_(seed, 31);
    for (okra_int i = 0; i < t->n; i++) {
        for (okra_int j = 0; j < D; j++) {
            bool gone = okra_random_below_(&r, 3) == 0 && i != j;
            if (gone) {
                t->Y[i * LD + j] = NAN;
            }
        }
        if (alike) {
            t->Y[i * LD + 1] = t->Y[i * LD] * (double)(i + 1);
        }
    }
}

/* H from the system over the known (i, j), C in coordinates of all N inputs: minimise
 * sum_known (y_ij - (K C A)_ij)^2 + lambda tr(C' K C A) + 2 lambda2 tr((KCA)' M KCA A^+),
 * whose stationary point solves, with P_j = diag(known rows of j): for A of full rank
 *     (P (K C A) + 2 lambda2 M K C A + lambda C)_kj = (P y)_kj. */
static void naive_missing(const toy *t, okra_int n, const char *graph, double lambda,
                          double lambda2, const double *A, double *H)
{
    static double S[N * D * N * D];
    double MK[N * N] = {0}, eye[N * N], P[N * N], c[N * D];
    okra_int all = t->n, size = all * D;
    if (graph) {
        okra_graph_ *g = NULL;
        identity(all, eye);
        CHECK_OK(okra_graph_create_(
            NULL, graph, &(okra_graph_kernel_){.K = okra_mat_view_(t->K, all, all, all)},
            &g));
        CHECK_OK(okra_graph_apply_(NULL, g, okra_mat_of_(eye, all, all),
                                   okra_mat_of_(P, all, all)));
        okra_graph_free_(g);
        times(all, all, all, P, t->K, MK);
    }
    for (okra_int r = 0; r < size; r++) {
        okra_int i = r / D, j = r % D;
        bool known = i < n && !isnan(t->Y[i * LD + j]);
        for (okra_int q = 0; q < size; q++) {
            double a = A[j * D + q % D];
            S[r * size + q] = (known ? t->K[i * all + q / D] * a : 0) +
                              2 * lambda2 * MK[i * all + q / D] * a + (r == q) * lambda;
        }
        c[r] = known ? t->Y[i * LD + j] : 0;
    }
    eliminate(size, S, 1, c);
    for (okra_int i = 0; i < t->m * D; i++) {
        H[i] = 0;
        for (okra_int k = 0; k < all; k++) {
            H[i] += t->Kx[i / D * all + k] * inner(D, A + i % D * D, c + k * D);
        }
    }
}

static void write_operator(const double *A)
{
    FILE *f = fopen(operator_file, "w");
    for (okra_int i = 0; f && i < D * D; i++) {
        fprintf(f, "%.17g%c", A[i], i % D == D - 1 ? '\n' : ',');
    }
    CHECK(f && fclose(f) == 0);
}

TEST(known_values_decide)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        okra_random_ r = okra_random_create_(seed, 8);
        double root[D * D], A[D * D], I[D * D], got[M * D], want[M * D];
        harness_normals(&r, D * D, root);
        identity(D, I);
        for (okra_int i = 0; i < D * D; i++) {
            A[i] = inner(D, root + i / D * D, root + i % D * D) + 0.1 * I[i];
        }
        write_operator(A);
        for (int k = 0; k < 4; k++) {
            bool matrix = k & 1, semi = k & 2;
            okra_int n = semi ? LABELLED : N;
            toy t = make_toy(seed % 2 ? DUPLICATED : RANDOM, N, seed, true);
            lose(&t, seed, seed % 3 == 0);
            const char *pairs[9] = {"lambda", "0.2"};
            int at = 2;
            if (matrix) {
                pairs[at++] = "operator";
                pairs[at++] = operator_text;
            }
            if (semi) {
                pairs[at++] = "lambda2";
                pairs[at++] = "0.5";
                pairs[at++] = "graph";
                pairs[at++] = "knn(k=3)";
            }
            okra_store_ *store = NULL;
            CHECK_OK(fit_part(&t, n, true, pairs, &store));
            CHECK(ridge()->form(store) == OKRA_FORM_EMBEDDING);
            predict(&t, n, store, got);
            naive_missing(&t, n, semi ? "knn(k=3)" : NULL, 0.2, semi ? 0.5 : 0,
                          matrix ? A : I, want);
            double error = harness_relative(M * D, got, want);
            CHECK_NEAR(error, 0, 3e-13); /* worst 2.6e-14 */
            okra_store_free_(store);
        }
    }
    unlink(operator_file);
}

/* Per task: the rows known of it alone, and its own mean. */
TEST(each_task_by_itself)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        toy t = make_toy(RANDOM, N, seed, true);
        lose(&t, seed, false);
        const char *pairs[] = {"lambda", "0.3", "center-output", "yes", NULL};
        okra_store_ *store = NULL;
        double got[M * D];
        CHECK_OK(fit_part(&t, N, true, pairs, &store));
        predict(&t, N, store, got);
        for (okra_int j = 0; j < D; j++) {
            double K[N * N], y[N], mean = 0;
            okra_int rows[N], f = 0;
            for (okra_int i = 0; i < N; i++) {
                if (!isnan(t.Y[i * LD + j])) {
                    rows[f++] = i;
                    mean += t.Y[i * LD + j];
                }
            }
            mean /= (double)f;
            for (okra_int i = 0; i < f * f; i++) {
                K[i] = t.K[rows[i / f] * N + rows[i % f]] + (i % (f + 1) == 0) * 0.3;
                y[i / f] = t.Y[rows[i / f] * LD + j] - mean;
            }
            eliminate(f, K, 1, y);
            for (okra_int q = 0; q < M; q++) {
                double want = mean;
                for (okra_int i = 0; i < f; i++) {
                    want += t.Kx[q * N + rows[i]] * y[i];
                }
                CHECK_NEAR(got[q * D + j], want, 2e-14); /* worst 1.8e-15 */
            }
        }
        okra_store_free_(store);
    }
}

TEST(estimated_task_graph)
{
    toy t = make_toy(RANDOM, N, 2, true);
    for (int gaps = 0; gaps < 2; gaps++) {
        okra_problem_ p = problem_of(&t, true);
        okra_operator_ op = {.kind = OKRA_OPERATOR_IDENTITY};
        double inverse[D * D], eye[D * D];
        CHECK_OK(okra_operator_read_(NULL, "graph:estimate(gamma=0.05),mu=0.4", &p, &op));
        for (okra_int i = 0; i < D; i++) {
            double degree = 0;
            for (okra_int j = 0; j < D; j++) {
                double sum = 0, both = 0;
                for (okra_int k = 0; k < N; k++) {
                    double e = t.Y[k * LD + i] - t.Y[k * LD + j];
                    both += !isnan(e);
                    sum += isnan(e) ? 0 : e * e;
                }
                double w = i == j ? 0 : exp(-0.05 * sum * N / both);
                degree += w;
                inverse[i * D + j] = -0.4 * w;
            }
            inverse[i * D + i] = 0.4 * degree + 0.6;
        }
        identity(D, eye);
        eliminate(D, inverse, D, eye);
        CHECK_NEAR(harness_relative(D * D, op.A, eye), 0, 1e-14);
        okra_free_(op.A);
        lose(&t, 2, false);
    }
    okra_problem_ p = problem_of(&t, true);
    okra_operator_ op;
    CHECK_OK(okra_operator_read_(NULL, "graph:estimate(gamma=auto),mu=0.4", &p, &op));
    /* the graph itself: A (0.4 Lap + 0.6 I) = I */
    okra_data *y = NULL, *labels = NULL;
    double graph[D * D], product[D * D];
    CHECK_OK(okra_data_missing(t.Y, N, D, LD, &y));
    CHECK_OK(okra_task_graph(NULL, y, 0, graph));
    for (okra_int i = 0; i < D * D; i++) {
        product[i] = i % (D + 1) == 0 ? -1 : 0;
        for (okra_int k = 0; k < D; k++) {
            double lap = -graph[k * D + i % D];
            for (okra_int j = 0; k == i % D && j < D; j++) {
                lap += graph[k * D + j];
            }
            product[i] += op.A[i / D * D + k] * (0.4 * lap + (k == i % D ? 0.6 : 0));
        }
        CHECK_NEAR(product[i], 0, 1e-13);
    }
    CHECK_FAILS(okra_task_graph(NULL, y, -1, graph), OKRA_EARG, "gamma is -1");
    CHECK_OK(okra_data_labels((okra_int[]){0, 1}, 2, NULL, 2, &labels));
    CHECK_FAILS(okra_task_graph(NULL, labels, 0, graph), OKRA_EARG,
                "expected dense outputs");
    okra_data_free(labels);
    okra_data_free(y);
    okra_free_(op.A);
    static const char *const bad[] = {
        "graph:estimate,mu=0.4", "graph:estimate(gamma=0),mu=0.4",
        "graph:estimate(gamma=x),mu=0.4", "graph:estimate(gamma=1,mu=0.4"};
    for (int k = 0; k < 4; k++) {
        CHECK_FAILS(okra_operator_read_(NULL, bad[k], &p, &op), OKRA_EARG,
                    "expected estimate(gamma=V) with V > 0");
    }
}

TEST(nan_through_the_library)
{
    double x[] = {0, 1, 2, 3}, y[] = {0, NAN, 1, 1, NAN, 2, 3, 3}, bad[] = {0, INFINITY};
    okra_data *dx = NULL, *dy = NULL, *loss_y = NULL, *both = NULL;
    okra_model *model = NULL, *loaded = NULL;
    okra_prediction *p = NULL;
    okra_options *fits = NULL, *predicts = NULL;
    char name[64];
    double value;
    okra_int ld;
    CHECK_FAILS(okra_data_missing(bad, 1, 2, 2, &dx), OKRA_EFORMAT, "is infinite");
    CHECK_FAILS(okra_data_dense(y, 4, 2, 2, &dy), OKRA_EFORMAT, "must be finite");
    CHECK_OK(okra_data_dense(x, 4, 1, 1, &dx));
    CHECK_OK(okra_data_missing(y, 4, 2, 2, &dy));
    CHECK(dy->missing && !dx->missing);
    CHECK_OK(okra_data_concat(dy, dy, &both));
    CHECK(both->missing && isnan(both->values[9]));
    CHECK_OK(okra_fit_options(&fits));
    CHECK_OK(okra_options_set(fits, "kx", "rbf(sigma=1)"));
    CHECK_OK(okra_predict_options(&predicts));
    CHECK_OK(okra_options_set(predicts, "decode", "explicit"));
    CHECK_FAILS(okra_fit(NULL, dy, dy, fits, &model), OKRA_EUNSUPPORTED, "x has missing");
    CHECK_OK(okra_fit(NULL, dx, dy, fits, &model));
    snprintf(name, sizeof name, "missing-%d.okra", (int)getpid());
    CHECK_OK(okra_model_save(NULL, model, NULL, name));
    CHECK_OK(okra_model_load(NULL, name, &loaded));
    CHECK_OK(okra_predict(NULL, loaded, dx, predicts, NULL, &p));
    const double *h = okra_data_values(okra_prediction_objects(p), &ld);
    CHECK(isfinite(h[0]) && isfinite(h[7]));
    double known = 0; /* the loss is of what is known */
    for (int i = 0; i < 8; i++) {
        double e = h[i / 2 * ld + i % 2] - y[i];
        known += isnan(e) ? 0 : e * e / 4;
    }
    CHECK_OK(okra_model_loss(NULL, loaded, dx, dy, &value, NULL));
    CHECK_NEAR(value, known, 1e-12);
    okra_prediction_free(p);
    CHECK_OK(okra_predict(NULL, loaded, dx, NULL, NULL, &p)); /* explicit by itself */
    okra_prediction_free(p);
    CHECK_OK(okra_options_set(predicts, "decode", "candidates"));
    CHECK_FAILS(okra_predict(NULL, loaded, dx, predicts, NULL, &p), OKRA_EUNSUPPORTED,
                "has missing values");
    CHECK_OK(okra_data_dense(x, 4, 1, 1, &loss_y));
    CHECK_FAILS(okra_model_loss(NULL, loaded, dx, loss_y, &value, NULL),
                OKRA_EUNSUPPORTED, "has missing values");
    okra_model_free(loaded);
    okra_model_free(model);
    unlink(name);
    CHECK_OK(okra_options_set(fits, "operator", "cov"));
    CHECK_FAILS(okra_fit(NULL, dx, dy, fits, &model), OKRA_EUNSUPPORTED,
                "operator cov needs outputs without missing values");
    CHECK_OK(okra_options_set(fits, "operator", "identity"));
    CHECK_OK(okra_options_set(fits, "ky", "rbf(sigma=1)"));
    CHECK_FAILS(okra_fit(NULL, dx, dy, fits, &model), OKRA_EUNSUPPORTED,
                "ky must be linear");
    CHECK_OK(okra_options_set(fits, "ky", "linear"));
    CHECK_OK(okra_options_set(fits, "method", "margin"));
    CHECK_FAILS(okra_fit(NULL, dx, dy, fits, &model), OKRA_EUNSUPPORTED,
                "y has missing values, which method margin does not use");
    okra_options_free(fits);
    okra_options_free(predicts);
    okra_data_free(dx);
    okra_data_free(dy);
    okra_data_free(loss_y);
    okra_data_free(both);
}

TEST(nan_in_files)
{
    double y[] = {0, NAN, 1, 1, NAN, 2, 3, 3};
    okra_data *dy = NULL, *read = NULL;
    char name[64];
    CHECK_OK(okra_data_missing(y, 4, 2, 2, &dy));
    char spec[80];
    snprintf(name, sizeof name, "missing-%d.csv", (int)getpid());
    snprintf(spec, sizeof spec, "missing:%s", name);
    FILE *f = fopen(name, "w");
    CHECK(f && fputs("1,nan\n,2\nNA,3\n", f) >= 0 && fclose(f) == 0);
    CHECK_FAILS(okra_data_read(NULL, name, &read), OKRA_EFORMAT, "line 1");
    CHECK_OK(okra_data_read(NULL, spec, &read));
    CHECK(read->missing && read->n == 3 && isnan(read->values[1]) &&
          isnan(read->values[2]) && isnan(read->values[4]) && read->values[5] == 3);
    okra_data_free(read);
    f = fopen(name, "w");
    CHECK(f && fputs("1,inf\n2,2\n", f) >= 0 && fclose(f) == 0);
    CHECK_FAILS(okra_data_read(NULL, spec, &read), OKRA_EFORMAT, "must be finite");
    unlink(name);
    snprintf(name, sizeof name, "missing-%d.npy", (int)getpid());
    snprintf(spec, sizeof spec, "missing:%s", name);
    CHECK_OK(okra_data_write(NULL, dy, name));
    CHECK_FAILS(okra_data_read(NULL, name, &read), OKRA_EFORMAT, "must be finite");
    CHECK_OK(okra_data_read(NULL, spec, &read));
    CHECK(read->missing && isnan(read->values[1]) && read->values[7] == 3);
    okra_data_free(read);
    unlink(name);
    okra_data_free(dy);
}

TEST(failing_allocations)
{
    toy t = make_toy(RANDOM, N, 1, true);
    lose(&t, 1, false);
    double A[D * D];
    identity(D, A);
    write_operator(A);
    const char *plain[] = {"center-output", "yes", NULL};
    const char *both[] = {"operator", operator_text, "lambda2", "0.1", NULL};
    const char *const *cases[] = {plain, both};
    for (int k = 0; k < 2; k++) {
        okra_options *o = options_of(cases[k]);
        okra_store_ *store = NULL;
        CHECK_ALLOCATIONS(fit_with(&t, k ? LABELLED : N, true, o, &store),
                          okra_store_free_(store));
        okra_options_free(o);
    }
    unlink(operator_file);
}

int main(void)
{
    snprintf(operator_file, sizeof operator_file, "missing-%d-A.csv", (int)getpid());
    snprintf(operator_text, sizeof operator_text, "matrix:%s", operator_file);
    const harness_test tests[] = {RUN(known_values_decide),  RUN(each_task_by_itself),
                                  RUN(estimated_task_graph), RUN(nan_through_the_library),
                                  RUN(nan_in_files),         RUN(failing_allocations)};
    return harness_main(tests, sizeof tests / sizeof *tests);
}
