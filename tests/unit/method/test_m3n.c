/*
 * test_m3n.c: chains with a margin against every labelling written out.
 */
#include "harness.h"

#include "method/structured/m3n.h"
#include "okra/okra.h"
#include "okra/more/objects.h"

#include <string.h>

enum { WORDS = 5, SYMBOLS = 3, LONGEST = 4, WIDTH = 2, MOST = WORDS * LONGEST };

typedef struct task {
    okra_int offsets[WORDS + 1], symbol[MOST], N;
    double x[MOST * WIDTH], K[MOST * MOST], C[MOST * SYMBOLS], A[SYMBOLS * SYMBOLS];
} task;

/* Words of 0 to 4 elements under a linear kernel, so that f_c(x) = <u_c, x>. */
static okra_m3n_ make(uint64_t seed, double lambda, task *t)
{
    okra_random_ r = okra_random_create_(seed, 1);
    t->offsets[0] = 0;
    for (int i = 0; i < WORDS; i++) {
        t->offsets[i + 1] = t->offsets[i] + okra_random_below_(&r, LONGEST + 1);
    }
    t->N = t->offsets[WORDS];
    for (okra_int e = 0; e < t->N; e++) {
        t->symbol[e] = okra_random_below_(&r, SYMBOLS);
    }
    harness_normals(&r, t->N * WIDTH, t->x);
    for (okra_int e = 0; e < t->N; e++) {
        for (okra_int f = 0; f < t->N; f++) {
            t->K[e * t->N + f] = okra_dot_(WIDTH, t->x + e * WIDTH, t->x + f * WIDTH);
        }
    }
    return (okra_m3n_){WORDS,  t->N, SYMBOLS, t->offsets, t->symbol, t->K,
                       lambda, 1e-3, 20000,   seed,       t->C,      t->A,
                       0,      0,    0,       0,          false};
}

/* u_c as columns and the transitions: the weights written out. */
typedef struct weights {
    double u[SYMBOLS * WIDTH], A[SYMBOLS * SYMBOLS];
} weights;

static weights explicit_weights(const task *t)
{
    weights w = {{0}, {0}};
    memcpy(w.A, t->A, sizeof w.A);
    for (okra_int k = 0; k < t->N * SYMBOLS * WIDTH; k++) {
        okra_int e = k / (SYMBOLS * WIDTH), c = k / WIDTH % SYMBOLS, j = k % WIDTH;
        w.u[c * WIDTH + j] += t->C[e * SYMBOLS + c] * t->x[e * WIDTH + j];
    }
    return w;
}

static double score_of(const weights *w, const double *x, const okra_int *y, okra_int T)
{
    double sum = 0;
    for (okra_int s = 0; s < T; s++) {
        sum += okra_dot_(WIDTH, w->u + y[s] * WIDTH, x + s * WIDTH);
        sum += s > 0 ? w->A[y[s - 1] * SYMBOLS + y[s]] : 0;
    }
    return sum;
}

/* The largest of score + loss * (symbols that differ from y) over all labellings. */
static double largest(const weights *w, const double *x, const okra_int *y, okra_int T,
                      double loss, okra_int *best)
{
    double most = -(double)INFINITY;
    okra_int count = 1, z[LONGEST];
    for (okra_int s = 0; s < T; s++) {
        count *= SYMBOLS;
    }
    for (okra_int code = 0; code < count; code++) {
        double errors = 0;
        for (okra_int s = 0, rest = code; s < T; s++, rest /= SYMBOLS) {
            z[s] = rest % SYMBOLS;
            errors += z[s] != y[s];
        }
        double value = score_of(w, x, z, T) + loss * errors;
        if (value > most) {
            most = value;
            memcpy(best, z, sizeof z);
        }
    }
    return most;
}

static double primal_of(const task *t, const weights *w, double lambda)
{
    double hinge = 0, norm = 0;
    okra_int best[LONGEST];
    for (int i = 0; i < WORDS; i++) {
        okra_int e = t->offsets[i], T = t->offsets[i + 1] - e;
        hinge += largest(w, t->x + e * WIDTH, t->symbol + e, T, 1, best) -
                 score_of(w, t->x + e * WIDTH, t->symbol + e, T);
    }
    norm =
        okra_dot_(SYMBOLS * WIDTH, w->u, w->u) + okra_dot_(SYMBOLS * SYMBOLS, w->A, w->A);
    return lambda / 2 * norm + hinge / WORDS;
}

TEST(values_are_those_of_all_labellings_and_the_gap_closes)
{
    static const double lambdas[] = {0.03, 0.3, 3};
    task t;
    for (uint64_t seed = 0; seed < 30; seed++) {
        double lambda = lambdas[seed % 3];
        okra_m3n_ m = make(seed, lambda, &t);
        CHECK_OK(okra_m3n_solve_(NULL, &m));
        weights w = explicit_weights(&t);
        /* worst 3e-15 over 200 seeds */
        CHECK_NEAR(m.primal, primal_of(&t, &w, lambda), 1e-13);
        CHECK(m.converged && m.primal - m.dual <= 1e-3 * fmax(1, m.dual));
        CHECK(m.primal - m.dual >= -1e-13);
        /* The dual is below the primal everywhere, so the optimum lies between. */
        okra_random_ r = okra_random_create_(seed, 2);
        for (int k = 0; k < 200; k++) {
            weights other = w;
            double size = pow(10, -4 + 5 * okra_random_uniform_(&r));
            for (int j = 0; j < SYMBOLS * WIDTH; j++) {
                other.u[j] += size * okra_random_normal_(&r);
            }
            for (int j = 0; j < SYMBOLS * SYMBOLS; j++) {
                other.A[j] += size * okra_random_normal_(&r);
            }
            CHECK(primal_of(&t, &other, lambda) >= m.dual - 1e-13);
        }
    }
}

TEST(the_best_chain_is_that_of_all)
{
    okra_random_ r = okra_random_create_(3, 0);
    for (int k = 0; k < 200; k++) {
        weights w;
        double x[LONGEST * WIDTH], score[LONGEST * SYMBOLS], scratch[64];
        okra_int best[LONGEST], found[LONGEST], zero[LONGEST] = {0};
        okra_int T = okra_random_below_(&r, LONGEST + 1);
        harness_normals(&r, SYMBOLS * WIDTH, w.u);
        harness_normals(&r, SYMBOLS * SYMBOLS, w.A);
        harness_normals(&r, LONGEST * WIDTH, x);
        for (okra_int s = 0; s < T * SYMBOLS; s++) {
            score[s] =
                okra_dot_(WIDTH, w.u + s % SYMBOLS * WIDTH, x + s / SYMBOLS * WIDTH);
        }
        double value = okra_m3n_best_(score, T, SYMBOLS, w.A, scratch, found);
        CHECK_NEAR(value, largest(&w, x, zero, T, 0, best), 1e-13);
        CHECK(memcmp(best, found, (size_t)T * sizeof *best) == 0);
    }
    CHECK(okra_m3n_scratch_(LONGEST, SYMBOLS) <= 64);
}

TEST(the_same_seed_gives_the_same_bits_and_few_passes_are_told)
{
    task a, b;
    okra_m3n_ m = make(5, 0.01, &a), n = make(5, 0.01, &b);
    m.passes = n.passes = 7;
    CHECK_OK(okra_m3n_solve_(NULL, &m));
    CHECK_OK(okra_m3n_solve_(NULL, &n));
    CHECK(!m.converged && m.done == 7 && m.primal > m.dual);
    CHECK(memcmp(a.C, b.C, (size_t)(a.N * SYMBOLS) * sizeof *a.C) == 0);
    CHECK_ALLOCATIONS(okra_m3n_solve_(NULL, &m), (void)0);
}

/* ---- through models ---- */

static okra_options *options_of(const char *lambda, const char *kx)
{
    okra_options *o = NULL;
    CHECK_OK(okra_fit_options(&o));
    CHECK_OK(okra_options_set(o, "method", "m3n"));
    CHECK_OK(okra_options_set(o, "lambda", lambda));
    CHECK_OK(okra_options_set(o, "kx", kx));
    CHECK_OK(okra_options_set(o, "ky", "position(zero-one)"));
    return o;
}

static void collections(const task *t, okra_data **x, okra_data **y)
{
    int32_t codes[MOST];
    for (okra_int e = 0; e < t->N; e++) {
        codes[e] = (int32_t)('p' + t->symbol[e]);
    }
    CHECK_OK(okra_data_sequences(t->offsets, t->x, NULL, WORDS, WIDTH, x));
    CHECK_OK(okra_data_sequences(t->offsets, NULL, codes, WORDS, 0, y));
}

TEST(models_predict_the_best_chain_and_survive_a_file)
{
    task t;
    okra_m3n_ m = make(11, 0.05, &t);
    m.tolerance = 0.01;
    m.seed = 0;
    CHECK_OK(okra_m3n_solve_(NULL, &m));
    weights w = explicit_weights(&t);
    okra_data *x = NULL, *y = NULL;
    okra_model *model = NULL;
    okra_prediction *p = NULL;
    collections(&t, &x, &y);
    okra_options *o = options_of("0.05", "position(linear)");
    CHECK_OK(okra_fit(NULL, x, y, o, &model));
    CHECK_OK(okra_predict(NULL, model, x, NULL, NULL, &p));
    for (int i = 0; i < WORDS; i++) {
        okra_int e = t.offsets[i], T = t.offsets[i + 1] - e, length, best[LONGEST], top;
        const int32_t *codes =
            okra_data_characters(okra_prediction_objects(p), i, &length);
        largest(&w, t.x + e * WIDTH, t.symbol + e, T, 0, best);
        CHECK(length == T);
        for (okra_int s = 0; s < T; s++) {
            CHECK(codes[s] == 'p' + best[s]);
        }
        CHECK(okra_prediction_distance(p, &top)[i] == 0);
    }
    okra_prediction_free(p);
    CHECK_ALLOCATIONS(okra_predict(NULL, model, x, NULL, NULL, &p),
                      okra_prediction_free(p));
    okra_model_free(model);
    CHECK_ALLOCATIONS(okra_fit(NULL, x, y, o, &model), okra_model_free(model));
    okra_options_free(o);
    okra_data_free(x);
    okra_data_free(y);
}

TEST(what_it_does_not_take)
{
    task t;
    make(11, 0.05, &t);
    okra_int shorter[WORDS + 1] = {0}, lengthy[2] = {0, LONGEST + 1};
    double flat[(LONGEST + 1) * WIDTH] = {0};
    okra_data *x = NULL, *y = NULL, *none = NULL, *dense = NULL, *test = NULL;
    okra_model *model = NULL;
    okra_prediction *p = NULL;
    collections(&t, &x, &y);
    okra_options *o = options_of("0.05", "position(linear)"), *how = NULL;
    CHECK_OK(okra_data_sequences(shorter, NULL, NULL, WORDS, 0, &none));
    CHECK_OK(okra_data_dense(flat, LONGEST + 1, WIDTH, WIDTH, &dense));
    CHECK_OK(okra_data_sequences(lengthy, flat, NULL, 1, WIDTH, &test));
    CHECK_FAILS(okra_fit(NULL, x, none, o, &model), OKRA_ESHAPE,
                "elements and its output");
    CHECK_OK(okra_fit(NULL, x, y, o, &model));
    CHECK_FAILS(okra_predict(NULL, model, test, NULL, NULL, &p), OKRA_ESHAPE,
                "fit with longest=5");
    CHECK_OK(okra_predict_options(&how));
    CHECK_OK(okra_options_set(how, "decode", "candidates"));
    CHECK_FAILS(okra_predict(NULL, model, x, how, NULL, &p), OKRA_EUNSUPPORTED,
                "predicts embeddings");
    okra_model_free(model);
    CHECK_OK(okra_options_set(o, "longest", "5"));
    CHECK_OK(okra_fit(NULL, x, y, o, &model));
    CHECK_OK(okra_predict(NULL, model, test, NULL, NULL, &p));
    okra_prediction_free(p);
    okra_model_free(model);
    okra_options_free(o);
    o = options_of("0.05", "position(linear) | normalize");
    CHECK_FAILS(okra_fit(NULL, x, y, o, &model), OKRA_EUNSUPPORTED, "kx = position(k)");
    okra_options_free(o);
    o = options_of("0.05", "linear");
    CHECK_OK(okra_options_set(o, "ky", "linear"));
    CHECK_FAILS(okra_fit(NULL, dense, dense, o, &model), OKRA_EUNSUPPORTED,
                "needs sequences of vectors");
    okra_options_free(o);
    okra_options_free(how);
    okra_data_free(x);
    okra_data_free(y);
    okra_data_free(none);
    okra_data_free(dense);
    okra_data_free(test);
}

MAIN(RUN(values_are_those_of_all_labellings_and_the_gap_closes),
     RUN(the_best_chain_is_that_of_all),
     RUN(the_same_seed_gives_the_same_bits_and_few_passes_are_told),
     RUN(models_predict_the_best_chain_and_survive_a_file), RUN(what_it_does_not_take))
