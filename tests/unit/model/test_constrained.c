/*
 * Constrained regression against its primal form: with a linear kernel every row of W is
 * solved for by itself, min |Y_a - W_a Phi|^2 + lambda sum_b R_ab W_ab^2, features that
 * the constraint forbids left out.
 */
#include "harness.h"
#include "okra/okra.h"
#include "okra/more/leave.h"
#include "okra/more/objects.h"

#include <unistd.h>

enum { N = 8, M = 4, P = 2, LONGEST = 5, LETTERS = 3, F = LONGEST * P };
enum { WIDTH = LONGEST * LETTERS, ROOM = N * (LONGEST + 1) };
static const double LAMBDA = 0.3;
/* Ten times the worst relative error over 1,200 seeds, which was 4.3e-14. */
static const double SAME = 4e-13;

typedef struct task {
    okra_int n, offsets[N + 1], test_offsets[M + 1];
    double X[ROOM * P], Q[ROOM * P];
    char letters[N][LONGEST + 1];
    okra_data *x, *y, *q;
} task;

static void make(task *t, okra_int n, bool doubled, uint64_t seed)
{
    okra_random_ r = okra_random_create_(seed, 9);
    const char *texts[N];
    *t = (task){.n = n};
    harness_normals(&r, ROOM * P, t->X);
    harness_normals(&r, ROOM * P, t->Q);
    for (okra_int i = 0; i < n; i++) { /* one is of length 0, one the longest */
        okra_int length = i == 0   ? LONGEST
                          : i == 1 ? 0
                                   : 1 + okra_random_below_(&r, LONGEST);
        for (okra_int p = 0; p < length; p++) {
            t->letters[i][p] =
                (char)('a' + (i == 0 ? p % LETTERS : okra_random_below_(&r, LETTERS)));
        }
        t->offsets[i + 1] = t->offsets[i] + length;
        texts[i] = t->letters[i];
    }
    for (int k = 1; doubled && k < ROOM; k++) {
        memcpy(t->X + k * P, t->X, sizeof(double) * P);
    }
    for (int i = 0; i < M; i++) { /* one is longer than all training inputs */
        t->test_offsets[i + 1] = t->test_offsets[i] + (i == 2 ? LONGEST + 1 : i + 1);
    }
    CHECK_OK(okra_data_sequences(t->offsets, t->X, NULL, n, P, &t->x));
    CHECK_OK(okra_data_strings(texts, n, &t->y));
    CHECK_OK(okra_data_sequences(t->test_offsets, t->Q, NULL, M, P, &t->q));
}

static void clear(task *t)
{
    okra_data_free(t->x);
    okra_data_free(t->y);
    okra_data_free(t->q);
}

/* Phi: the vectors of the first LONGEST positions side by side, 0 beyond the end. */
static void features(const okra_int *offsets, const double *X, okra_int i, double *phi)
{
    for (okra_int b = 0; b < F; b++) {
        okra_int at = offsets[i] + b / P;
        phi[b] = at < offsets[i + 1] ? X[at * P + b % P] : 0;
    }
}

static void naive(const task *t, okra_int reach, double leak, double *H)
{
    for (okra_int a = 0; a < WIDTH; a++) {
        double S[F * F], w[F];
        okra_int used[F], count = 0, position = a / LETTERS;
        for (okra_int b = 0; b < F; b++) {
            if (leak > 0 || labs((long)(b / P - position)) <= reach) {
                used[count++] = b;
            }
        }
        for (okra_int b = 0; b < count; b++) {
            w[b] = 0;
            for (okra_int c = 0; c < count; c++) {
                bool near = labs((long)(used[b] / P - position)) <= reach;
                S[b * count + c] = b == c ? LAMBDA * (near ? 1 : 1 / leak) : 0;
            }
        }
        for (okra_int i = 0; i < t->n; i++) {
            double phi[F];
            features(t->offsets, t->X, i, phi);
            bool is = position < t->offsets[i + 1] - t->offsets[i] &&
                      t->letters[i][position] == 'a' + a % LETTERS;
            for (okra_int b = 0; b < count; b++) {
                w[b] += is ? phi[used[b]] : 0;
                for (okra_int c = 0; c < count; c++) {
                    S[b * count + c] += phi[used[b]] * phi[used[c]];
                }
            }
        }
        for (okra_int k = 0; k < count; k++) { /* positive definite: no pivots */
            for (okra_int i = 0; i < count; i++) {
                double f = i == k ? 0 : S[i * count + k] / S[k * count + k];
                for (okra_int j = 0; j < count; j++) {
                    S[i * count + j] -= f * S[k * count + j];
                }
                w[i] -= f * w[k];
            }
        }
        for (okra_int q = 0; q < M; q++) {
            double phi[F];
            features(t->test_offsets, t->Q, q, phi);
            H[q * WIDTH + a] = 0;
            for (okra_int b = 0; b < count; b++) {
                H[q * WIDTH + a] += phi[used[b]] * w[b] / S[b * count + b];
            }
        }
    }
}

static okra_options *options_of(const char *kx, const char *reach, const char *leak)
{
    okra_options *o = NULL;
    CHECK_OK(okra_fit_options(&o));
    CHECK_OK(okra_options_set(o, "method", "constrained"));
    CHECK_OK(okra_options_set(o, "kx", kx));
    CHECK_OK(okra_options_set(o, "ky", "position(zero-one)"));
    CHECK_OK(okra_options_set(o, "reach", reach));
    CHECK_OK(okra_options_set(o, "leak", leak));
    CHECK_OK(okra_options_set_number(o, "lambda", LAMBDA));
    return o;
}

static okra_options *decoding(const char *decoder)
{
    okra_options *o = NULL;
    CHECK_OK(okra_predict_options(&o));
    CHECK_OK(okra_options_set(o, "decode", decoder));
    return o;
}

/* The letters are the largest scores, and the distance is |phi(y) - h|^2. */
static void check_decoded(const task *t, const okra_prediction *p, const double *H)
{
    okra_int top = 0, length = 0;
    const double *distance = okra_prediction_distance(p, &top);
    for (okra_int q = 0; q < M; q++) {
        const int32_t *codes =
            okra_data_characters(okra_prediction_objects(p), q, &length);
        CHECK(length == t->test_offsets[q + 1] - t->test_offsets[q]);
        double want = 0;
        for (okra_int a = 0; a < WIDTH; a++) {
            okra_int at = a / LETTERS;
            double h = H[q * WIDTH + a];
            bool is = at < length && codes[at] == 'a' + a % LETTERS;
            want += (h - is) * (h - is);
            for (okra_int c = 0; is && c < LETTERS; c++) {
                CHECK(H[q * WIDTH + at * LETTERS + c] <= h);
            }
        }
        want += length > LONGEST ? (double)(length - LONGEST) : 0;
        CHECK_NEAR(distance[q], want, 1e-12);
    }
}

static const char *const leaks[] = {"0", "0.25", "1"};
static const double leak_values[] = {0, 0.25, 1};

TEST(scores_equal_the_primal_form)
{
    static const okra_int sizes[] = {1, 2, N};
    for (int c = 0; c < 36; c++) {
        task t;
        double want[M * WIDTH];
        char reach[8];
        snprintf(reach, sizeof reach, "%d", c % 4);
        make(&t, sizes[c % 3], c % 5 == 4, (uint64_t)c);
        naive(&t, c % 4, leak_values[c / 12], want);
        okra_options *o = options_of("position(linear)", reach, leaks[c / 12]);
        okra_options *decode = decoding("position");
        okra_model *model = NULL, *again = NULL;
        okra_prediction *p = NULL;
        okra_predict_request request = {OKRA_SIZED(okra_predict_request),
                                        .embedding = true};
        char path[] = "/tmp/okra-constrained-XXXXXX";
        int fd = mkstemp(path);
        okra_int rows = 0, cols = 0;
        CHECK_OK(okra_fit(NULL, t.x, t.y, o, &model));
        CHECK_OK(okra_model_save(NULL, model, NULL, path));
        CHECK_OK(okra_model_load(NULL, path, &again));
        CHECK_OK(okra_predict(NULL, again, t.q, decode, &request, &p));
        const double *got = okra_prediction_embedding(p, &rows, &cols);
        CHECK(rows == M && cols == WIDTH);
        CHECK_NEAR(harness_relative(M * WIDTH, got, want), 0, SAME);
        check_decoded(&t, p, got);
        okra_prediction_free(p);
        okra_model_free(model);
        okra_model_free(again);
        okra_options_free(o);
        okra_options_free(decode);
        close(fd);
        unlink(path);
        clear(&t);
    }
}

/* leak = 1 lifts the constraint: the letters are those of ridge on the same kernel. */
TEST(without_the_constraint_it_is_ridge)
{
    for (int c = 0; c < 5; c++) {
        task t;
        okra_data *objects[2];
        okra_model *model = NULL;
        okra_prediction *p[2];
        make(&t, N, false, (uint64_t)c + 50);
        okra_options *decode = decoding("position");
        for (int k = 0; k < 2; k++) {
            okra_options *o = options_of("position(rbf(sigma=2))", "0", "1");
            if (k == 1) {
                okra_options_free(o);
                CHECK_OK(okra_fit_options(&o));
                CHECK_OK(okra_options_set(o, "kx", "position(rbf(sigma=2))"));
                CHECK_OK(okra_options_set(o, "ky", "position(zero-one)"));
                CHECK_OK(okra_options_set_number(o, "lambda", LAMBDA));
            }
            CHECK_OK(okra_fit(NULL, t.x, t.y, o, &model));
            CHECK_OK(okra_predict(NULL, model, t.q, decode, NULL, &p[k]));
            objects[k] = okra_data_retain(okra_prediction_objects(p[k]));
            okra_model_free(model);
            okra_options_free(o);
        }
        okra_int top;
        for (okra_int q = 0; q < M; q++) {
            okra_int a, b;
            const int32_t *u = okra_data_characters(objects[0], q, &a);
            const int32_t *v = okra_data_characters(objects[1], q, &b);
            okra_int shared = a < LONGEST ? a : LONGEST; /* ties are beyond */
            CHECK(a == b && memcmp(u, v, (size_t)shared * sizeof *u) == 0);
            CHECK_NEAR(okra_prediction_distance(p[0], &top)[q],
                       okra_prediction_distance(p[1], &top)[q], 1e-12);
        }
        for (int k = 0; k < 2; k++) {
            okra_prediction_free(p[k]);
            okra_data_free(objects[k]);
        }
        okra_options_free(decode);
        clear(&t);
    }
}

TEST(what_it_cannot_do_is_refused)
{
    task t;
    okra_data *other = NULL;
    okra_model *model = NULL;
    okra_prediction *p = NULL;
    const char *texts[N] = {"a", "b", "a", "b", "a", "b", "a", "b"};
    make(&t, N, false, 3);
    CHECK_OK(okra_data_strings(texts, N, &other));
    okra_options *o = options_of("position(linear)", "1", "0");
    CHECK_FAILS(okra_fit(NULL, t.x, other, o, &model), OKRA_ESHAPE,
                "input 0 has 5 elements, its output 1");
    CHECK_OK(okra_options_set(o, "ky", "2*position(zero-one)"));
    CHECK_FAILS(okra_fit(NULL, t.x, t.y, o, &model), OKRA_EUNSUPPORTED,
                "the output kernel position(zero-one)");
    okra_options_free(o);
    o = options_of("position(linear) | normalize", "1", "0");
    CHECK_FAILS(okra_fit(NULL, t.x, t.y, o, &model), OKRA_EUNSUPPORTED,
                "constrained needs an input kernel that is a sum over positions");
    okra_options_free(o);
    o = options_of("position(linear)", "1", "0");
    CHECK_OK(okra_fit(NULL, t.x, t.y, o, &model));
    okra_options *decode = decoding("candidates");
    CHECK_FAILS(okra_predict(NULL, model, t.q, decode, NULL, &p), OKRA_EUNSUPPORTED,
                "predicts embeddings that its output kernel does not measure");
    double loss;
    CHECK_FAILS(okra_model_loss(NULL, model, t.x, t.y, &loss, NULL), OKRA_EUNSUPPORTED,
                "predicts embeddings that its output kernel does not measure");
    okra_options_free(decode);
    okra_options_free(o);
    okra_model_free(model);
    okra_data_free(other);
    clear(&t);
}

TEST(failing_allocations)
{
    task t;
    make(&t, 3, false, 3);
    okra_options *o = options_of("position(linear)", "1", "0.5");
    okra_options *decode = decoding("position");
    okra_model *model = NULL;
    okra_prediction *p = NULL;
    CHECK_ALLOCATIONS(okra_fit(NULL, t.x, t.y, o, &model), okra_model_free(model));
    CHECK_OK(okra_fit(NULL, t.x, t.y, o, &model));
    /* The first prediction leaves what later ones use in the model. */
    CHECK_OK(okra_predict(NULL, model, t.q, decode, NULL, &p));
    okra_prediction_free(p);
    CHECK_ALLOCATIONS(okra_predict(NULL, model, t.q, decode, NULL, &p),
                      okra_prediction_free(p));
    okra_model_free(model);
    okra_options_free(o);
    okra_options_free(decode);
    clear(&t);
}

MAIN(RUN(scores_equal_the_primal_form), RUN(without_the_constraint_it_is_ridge),
     RUN(what_it_cannot_do_is_refused), RUN(failing_allocations))
