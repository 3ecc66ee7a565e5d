/*
 * The candidate or label set of the least expected loss against losses of all pairs
 * written out, over all objects there are.
 */
#include "loss.h"

enum { N = 15, C = 18, D = 6, MANY = 14 };

static int wide = D; /* labels of the sets that are compared */

typedef double (*pair_loss)(const double *y, const double *z);

static double hamming(const double *y, const double *z)
{
    double sum = 0;
    for (int j = 0; j < wide; j++) {
        sum += (y[j] != z[j]) / (double)wide;
    }
    return sum;
}
static double zero_one(const double *y, const double *z)
{
    return hamming(y, z) > 0;
}
static double right(const double *y, const double *z)
{
    return -(hamming(y, z) == 0);
}
static double f1(const double *y, const double *z)
{
    double both = 0, all = 0;
    for (int j = 0; j < wide; j++) {
        both += y[j] * z[j];
        all += y[j] + z[j];
    }
    return all > 0 ? -2 * both / all : 0;
}
static double f1_of_nothing(const double *y, const double *z)
{
    double all = 0;
    for (int j = 0; j < wide; j++) {
        all += y[j] + z[j];
    }
    return all > 0 ? f1(y, z) : -1;
}
static double mse(const double *y, const double *z)
{
    return hamming(y, z); /* of 0 and 1 */
}
static double squared(const double *y, const double *z)
{
    return wide * hamming(y, z);
}
static double tanimoto(const double *y, const double *z)
{
    double both = 0, a = 0, b = 0;
    for (int j = 0; j < wide; j++) {
        both += y[j] * z[j];
        a += y[j];
        b += z[j];
    }
    return 2 - 2 * (a + b > 0 ? both / (a + b - both) : 1); /* l(0, 0) = 1 */
}

static const struct {
    const char *spec;
    pair_loss f;
} losses[] = {
    {"hamming", hamming},
    {"zero-one", zero_one},
    {"accuracy", right},
    {"exact-match", right},
    {"subset-accuracy", right},
    {"f1", f1},
    {"f1:empty=1", f1_of_nothing},
    {"f1:average=example", f1},
    {"mse", mse},
    {"mae", mse},
    {"kernel-loss:kernel=linear", squared},
    {"kernel-loss:kernel=tanimoto", tanimoto},
};
enum { LOSSES = sizeof losses / sizeof *losses };

static void random_sets(okra_random_ *r, okra_int n, double *values)
{
    for (okra_int i = 0; i < n * D; i++) {
        values[i] = i / D != 3 && okra_random_uniform_(r) < 0.4; /* 3: the empty set */
    }
}

TEST(losses_of_label_sets_equal_brute_force)
{
    for (int k = 0; k < LOSSES; k++) {
        for (uint64_t seed = 0; seed < SOME(8); seed++) {
            okra_random_ r = okra_random_create_(seed, 8);
            double Y[N * D] = {0}, Z[C * D] = {0}, W[TESTS * N];
            bool own = seed % 2;
            okra_int count = own ? N : C;
            okra_data *z = NULL;
            okra_decoded_ d = {0};
            outputs o;
            random_sets(&r, N, Y);
            random_sets(&r, C, Z);
            random_weights(&r, TESTS, N, W);
            CHECK_OK(okra_data_dense(Z, C, D, D, &z));
            outputs_open(&o, seed % 3 ? "rbf(sigma=1)" : "linear", dense_copy(Y, N, D));
            run(&o, losses[k].spec, own ? NULL : z, W, N, count, seed % 4 ? 5 : TESTS,
                &d);
            for (int t = 0; t < TESTS && d.index; t++) {
                for (okra_int c = 0; c < count; c++) {
                    okra_int at = d.index[t * count + c];
                    double risk = 0;
                    for (int i = 0; i < N; i++) {
                        risk +=
                            W[t * N + i] * losses[k].f(Y + i * D, (own ? Y : Z) + at * D);
                    }
                    CHECK_NEAR(d.distance[t * count + c], risk, 1e-12);
                    CHECK(c == 0 ||
                          d.distance[t * count + c] >= d.distance[t * count + c - 1]);
                }
            }
            okra_decoded_clear_(&d);
            outputs_close(&o);
            okra_data_free(z);
        }
    }
}

static double risk_of(pair_loss f, const double *Y, const double *w, const double *z)
{
    double risk = 0;
    for (int i = 0; i < N; i++) {
        risk += w[i] * f(Y + i * wide, z);
    }
    return risk;
}

/* What weights count after sharpen=2 and votes=1.5, written out: the sum of the votes of
 * all objects is 1, and copies of an output vote together. */
static void counted(const double *Y, const double *w, double *out)
{
    double all = 0;
    for (int i = 0; i < N; i++) {
        bool first = true;
        out[i] = 0;
        for (int k = 0; k < N; k++) {
            bool same = memcmp(Y + i * D, Y + k * D, sizeof(double) * D) == 0;
            first = first && !(same && k < i);
            out[i] += same ? w[k] * fabs(w[k]) : 0;
        }
        out[i] = first && out[i] > 0 ? pow(out[i], 1.5) : 0;
        all += out[i];
    }
    for (int i = 0; i < N && all > 0; i++) {
        out[i] /= all;
    }
}

TEST(votes_are_sharpened_sums_of_equal_outputs)
{
    const okra_option_table *table = &okra_decoder_find_("loss:")->options;
    for (uint64_t seed = 0; seed < SOME(20); seed++) {
        okra_random_ r = okra_random_create_(seed, 4);
        double Y[N * D] = {0}, W[TESTS * N], v[N];
        okra_options *options = NULL;
        okra_decoded_ d = {0};
        outputs o;
        random_sets(&r, N, Y);
        memcpy(Y + 5 * D, Y, sizeof(double) * D); /* copies */
        memcpy(Y + 9 * D, Y, sizeof(double) * D);
        random_weights(&r, TESTS, N, W);
        outputs_open(&o, "linear", dense_copy(Y, N, D));
        CHECK_OK(okra_options_create(&table, 1, &options));
        CHECK_OK(okra_options_set(options, "sharpen", "2"));
        CHECK_OK(okra_options_set(options, "votes", "1.5"));
        run_with(&o, "f1", NULL, options, W, N, 1, 5, &d);
        for (int t = 0; t < TESTS && d.index; t++) {
            double least = (double)INFINITY;
            counted(Y, W + t * N, v);
            for (int c = 0; c < N; c++) {
                least = fmin(least, risk_of(f1, Y, v, Y + c * D));
            }
            CHECK_NEAR(d.distance[t], least, 1e-13); /* worst seen: 3e-16 */
        }
        okra_options_free(options);
        okra_decoded_clear_(&d);
        outputs_close(&o);
    }
}

/* The least expected loss of all sets of `wide` labels. */
static double least_of_sets(pair_loss f, const double *Y, const double *w)
{
    double least = (double)INFINITY, z[MANY];
    for (unsigned set = 0; set < 1u << wide; set++) {
        double risk = 0;
        for (int j = 0; j < wide; j++) {
            z[j] = set >> j & 1;
        }
        for (int i = 0; i < N; i++) {
            risk += w[i] * f(Y + i * wide, z);
        }
        least = fmin(least, risk);
    }
    return least;
}

/* Over all sets; returns how many results are not the best. */
static int all_sets(int k, uint64_t seed)
{
    okra_random_ r = okra_random_create_(seed, 11);
    double Y[N * MANY], W[TESTS * N];
    okra_decoded_ d = {0};
    outputs o;
    int beaten = 0;
    for (int i = 0; i < N * wide; i++) {
        Y[i] = i / wide != 3 && okra_random_uniform_(&r) < 0.3;
    }
    random_weights(&r, TESTS, N, W);
    for (int i = 0; seed % 5 == 4 && i < TESTS * N; i++) {
        W[i] = -fabs(W[i]); /* all votes are against */
    }
    outputs_open(&o, seed % 2 ? "tanimoto" : "linear", dense_copy(Y, N, wide));
    over_all(&o, losses[k].spec, NULL, W, N, &d);
    for (int t = 0; t < TESTS && d.objects; t++) {
        const double *w = W + t * N, *z = d.objects->values + t * d.objects->ld;
        CHECK_NEAR(d.distance[t], risk_of(losses[k].f, Y, w, z), 1e-12);
        beaten += d.distance[t] > least_of_sets(losses[k].f, Y, w) + 1e-12;
    }
    okra_decoded_clear_(&d);
    outputs_close(&o);
    return beaten;
}

TEST(losses_over_all_label_sets_equal_brute_force)
{
    for (int k = 0; k < LOSSES; k++) {
        int beaten = 0;
        for (uint64_t seed = 0; seed < SOME(10); seed++) {
            beaten += all_sets(k, seed);
        }
        CHECK(beaten == 0);
    }
}

/* More than 12 labels: exact where the loss is linear in the labels that are shared. */
TEST(losses_over_more_labels)
{
    for (int k = 0; k < LOSSES; k++) {
        int beaten = 0;
        for (uint64_t seed = 3; seed < 5; seed++) {
            wide = MANY - (int)(seed % 2);
            beaten += all_sets(k, seed);
        }
        wide = D;
        bool searched = strstr(losses[k].spec, "tanimoto") != NULL;
        CHECK(beaten <= (searched ? 1 : 0)); /* of 24; 0 found */
    }
}

/* No training output is missing among the K best of more than 12 labels. */
TEST(the_best_sets_hold_training_outputs)
{
    enum { K = 8 };
    const okra_option_table *table = &okra_decoder_find_("loss:")->options;
    wide = MANY;
    for (uint64_t seed = 0; seed < (uint64_t)LOSSES * SOME(4); seed++) {
        const int k = (int)(seed % LOSSES);
        okra_random_ r = okra_random_create_(seed, 12);
        double Y[N * MANY], W[TESTS * N];
        okra_options *options = NULL;
        okra_decoded_ d = {0};
        outputs o;
        for (int i = 0; i < N * wide; i++) {
            Y[i] = okra_random_uniform_(&r) < 0.3;
        }
        random_weights(&r, TESTS, N, W);
        outputs_open(&o, "linear", dense_copy(Y, N, wide));
        CHECK_OK(okra_options_create(&table, 1, &options));
        CHECK_OK(okra_options_set(options, "over-all", "yes"));
        run_with(&o, losses[k].spec, NULL, options, W, N, K, 5, &d);
        for (int t = 0; t < TESTS && d.objects; t++) {
            double last = d.distance[t * K + K - 1];
            for (int i = 0; i < N; i++) {
                double risk = risk_of(losses[k].f, Y, W + t * N, Y + i * wide);
                bool there = false;
                for (int c = 0; c < K; c++) {
                    const double *z =
                        d.proposals->values + d.index[t * K + c] * d.proposals->ld;
                    there |= memcmp(z, Y + i * wide, sizeof(double) * MANY) == 0;
                }
                CHECK(there || risk >= last - 1e-12);
            }
        }
        okra_options_free(options);
        okra_decoded_clear_(&d);
        outputs_close(&o);
    }
    wide = D;
}

/* A kernel with l(y,y) = 1: the same candidate as by distance. */
TEST(kernel_losses_are_candidates)
{
    for (uint64_t seed = 0; seed < SOME(20); seed++) {
        okra_random_ r = okra_random_create_(seed, 9);
        double Y[N * D], W[TESTS * N];
        okra_decoded_ d = {0}, near = {0};
        outputs o;
        harness_normals(&r, N * D, Y);
        random_weights(&r, TESTS, N, W);
        outputs_open(&o, "rbf(sigma=2)", dense_copy(Y, N, D));
        run(&o, "kernel-loss:kernel=rbf(sigma=2)", NULL, W, N, 1, 5, &d);
        CHECK_OK(decode(NULL, &o, "candidates", "", W, TESTS, NULL, 5, &near));
        for (int t = 0; t < TESTS && d.index && near.index; t++) {
            CHECK(d.index[t] == near.index[t]);
        }
        okra_decoded_clear_(&d);
        okra_decoded_clear_(&near);
        outputs_close(&o);
    }
}

static okra_status try_spec(const outputs *o, const char *spec, double *W, bool all)
{
    okra_status st = OKRA_OK;
    const okra_decoder_ *decoder = okra_decoder_find_("loss");
    const okra_option_table *table = &decoder->options;
    okra_options *options = NULL;
    okra_decode_request_ q = {.tests = 1, .top = 1, .argument = spec};
    okra_block_ b = {.m = 1, .W = okra_mat_of_(W, 1, o->y->n)};
    okra_decoded_ d = {0};
    void *state = NULL;
    TRY(okra_options_create(&table, 1, &options));
    TRY(okra_options_set(options, "over-all", all ? "yes" : "no"));
    TRY(okra_decoder_open_(NULL, decoder, &o->output, options, &q, &state));
    TRY(decoder->block(NULL, state, &b));
    TRY(decoder->finish(NULL, state, &d));
done:
    okra_options_free(options);
    okra_decoder_close_(decoder, state);
    okra_decoded_clear_(&d);
    return st;
}

TEST(failures)
{
    double Y[3 * D] = {0, 1, 1, 0, 0, 1, 1}, W[3] = {1, 0, 0.5};
    outputs o;
    outputs_open(&o, "rbf(sigma=1)", dense_copy(Y, 3, D));
    CHECK_FAILS(try_spec(&o, NULL, W, false), OKRA_EARG, "expected loss:METRIC");
    CHECK_FAILS(try_spec(&o, "", W, false), OKRA_EARG, "expected loss:METRIC");
    CHECK_FAILS(try_spec(&o, "hamning", W, false), OKRA_EARG, "did you mean 'hamming'");
    CHECK_FAILS(try_spec(&o, "f1:average=micro", W, false), OKRA_EUNSUPPORTED,
                "one number for many objects");
    CHECK_FAILS(try_spec(&o, "edit", W, false), OKRA_EUNSUPPORTED, "does not compare");
    CHECK_FAILS(try_spec(&o, "kernel-loss:kernel=linear|center", W, false), OKRA_EARG,
                "more than two objects");
    CHECK(okra_decoder_find_("candidates:f1") == NULL);
    CHECK_ALLOCATIONS(try_spec(&o, "f1", W, false), (void)0);
    CHECK_ALLOCATIONS(try_spec(&o, "f1", W, true), (void)0);
    outputs_close(&o);
    static const char *const words[] = {"cat", "cart", ""};
    okra_data *y = NULL;
    CHECK_OK(okra_data_strings(words, 3, &y));
    outputs_open(&o, "ssk(length=1)", y);
    CHECK_ALLOCATIONS(try_spec(&o, "edit", W, true), (void)0);
    CHECK_ALLOCATIONS(try_spec(&o, "hamming", W, true), (void)0);
    CHECK_ALLOCATIONS(try_spec(&o, "kernel-loss:kernel=ssk(length=1)", W, true), (void)0);
    outputs_close(&o);
}

MAIN(RUN(losses_of_label_sets_equal_brute_force),
     RUN(votes_are_sharpened_sums_of_equal_outputs), RUN(kernel_losses_are_candidates),
     RUN(losses_over_all_label_sets_equal_brute_force), RUN(losses_over_more_labels),
     RUN(the_best_sets_hold_training_outputs), RUN(failures))
