/*
 * Metrics against values worked out by hand, by their definitions, and at their edges.
 */
#include "harness.h"
#include "okra/kernel.h"
#include "okra/metric.h"
#include "okra/more/traits.h"

static double score(const char *spec, const okra_data *truth, const okra_data *predicted)
{
    double value = (double)NAN;
    CHECK_OK(okra_score(NULL, spec, truth, predicted, &value, NULL, NULL));
    return value;
}

static okra_data *dense(const double *values, okra_int n, okra_int d)
{
    okra_data *data = NULL;
    CHECK_OK(okra_data_dense(values, n, d, d, &data));
    return data;
}

static okra_data *labels(const okra_int *codes, okra_int n, const char *const *names,
                         okra_int classes)
{
    okra_data *data = NULL;
    CHECK_OK(okra_data_labels(codes, n, names, classes, &data));
    return data;
}

static void free_two(okra_data *a, okra_data *b)
{
    okra_data_free(a);
    okra_data_free(b);
}

/* ---- vectors ---- */

/* Differences (1, -2), (0, 0), (3, 4): squares 5, 0, 25, sizes 3, 0, 7. Exact sums. */
TEST(errors_of_vectors_by_hand)
{
    const double y[] = {1, 2, 5, 5, 3, 4}, z[] = {0, 4, 5, 5, 0, 0};
    double each[3], value;
    bool has = false;
    okra_data *a = dense(y, 3, 2), *b = dense(z, 3, 2);
    CHECK(score("mse", a, b) == 5);
    CHECK(score("mae", a, b) == 10.0 / 6);
    CHECK(score("rmse", a, b) == sqrt(5));
    CHECK(score("zero-one", a, b) == 2.0 / 3);
    CHECK(score("hamming", a, b) == 2.0 / 3);
    /* exp and expm1 are good to an ulp */
    double rbf = (2 - 2 * exp(-5.0 / 8) + 2 - 2 * exp(-25.0 / 8)) / 3;
    CHECK_NEAR(score("rbf-loss:sigma=2", a, b), rbf, 1e-15);
    CHECK_NEAR(score("rbf-loss:gamma=0.125", a, b), rbf, 1e-15);
    CHECK(score("rbf-loss:sigma=2", a, a) == 0);
    CHECK_OK(okra_score(NULL, "mse", a, b, &value, each, &has));
    CHECK(has && each[0] == 2.5 && each[1] == 0 && each[2] == 12.5);
    CHECK_OK(okra_score(NULL, "rmse", a, b, &value, NULL, &has));
    CHECK(!has);
    free_two(a, b);
}

/* The loss of near-equal vectors keeps its digits: 2 gamma d^2 for small d. */
TEST(small_rbf_losses_keep_their_digits)
{
    const double y[] = {1}, z[] = {1 + 0x1p-40};
    okra_data *a = dense(y, 1, 1), *b = dense(z, 1, 1);
    CHECK_NEAR(score("rbf-loss:gamma=1", a, b) / 0x1p-79, 1, 1e-15);
    free_two(a, b);
}

/* The same vectors, dense, sparse and as bits, in any combination. */
TEST(kinds_of_vectors_may_be_mixed)
{
    const double y[] = {1, 0, 1, 0, 0, 0}, z[] = {1, 1, 0, 0, 0, 1};
    const okra_int ptr_y[] = {0, 2, 2}, at_y[] = {0, 2};
    const okra_int ptr_z[] = {0, 2, 3}, at_z[] = {0, 1, 2};
    const double ones[] = {1, 1, 1};
    const unsigned char bits_y[] = {5, 0}, bits_z[] = {3, 4};
    okra_data *a[3], *b[3];
    a[0] = dense(y, 2, 3);
    b[0] = dense(z, 2, 3);
    CHECK_OK(okra_data_sparse(ptr_y, at_y, ones, 2, 3, &a[1]));
    CHECK_OK(okra_data_sparse(ptr_z, at_z, ones, 2, 3, &b[1]));
    CHECK_OK(okra_data_bits(bits_y, 2, 3, 1, &a[2]));
    CHECK_OK(okra_data_bits(bits_z, 2, 3, 1, &b[2]));
    for (int i = 0; i < 9; i++) {
        const okra_data *truth = a[i / 3], *predicted = b[i % 3];
        CHECK(score("mse", truth, predicted) == 0.5);
        CHECK(score("mae", truth, predicted) == 0.5);
        CHECK(score("hamming", truth, predicted) == 0.5);
        CHECK(score("zero-one", truth, predicted) == 1);
        CHECK(score("f1", truth, predicted) == 0.4); /* tp 1, fp 2, fn 1 */
    }
    for (int i = 0; i < 3; i++) {
        free_two(a[i], b[i]);
    }
}

/* ---- orders ---- */

/* Relevances 3 0 2 at discounts 1, 1/log2(3), 1/2. */
TEST(ndcg_by_hand)
{
    const double y[] = {3, 0, 2}, z[] = {0.1, 0.5, 0.3}, tied[] = {1, 1, 0}, no[3] = {0};
    const double ranks[] = {1, 3, 2}, other[] = {3, 1, 2}, wrong[] = {1, -1, 2},
                 beyond[] = {4, 1, 2}, much[] = {2000, 0, 1};
    okra_data *a = dense(y, 1, 3), *b = dense(z, 1, 3), *c = dense(tied, 1, 3),
              *none = dense(no, 1, 3), *r = dense(ranks, 1, 3), *s = dense(other, 1, 3),
              *bad = dense(wrong, 1, 3), *high = dense(beyond, 1, 3),
              *huge = dense(much, 1, 3);
    double c2 = 1 / log2(3), best = 3 + 2 * c2, value;
    CHECK_NEAR(score("ndcg", a, b), (0 + 2 * c2 + 1.5) / best, 1e-15);
    CHECK_NEAR(score("ndcg:k=2", a, b), 2 * c2 / best, 1e-15);
    CHECK_NEAR(score("ndcg:k=9", a, b), score("ndcg", a, b), 1e-15);
    CHECK_NEAR(score("ndcg:gain=exponential", a, b), (3 * c2 + 3.5) / (7 + 3 * c2),
               1e-15);
    CHECK_NEAR(score("ndcg", a, c), (1.5 * (1 + c2) + 1) / best, 1e-15);
    CHECK_NEAR(score("ndcg", a, a), 1, 1e-15);
    CHECK(score("ndcg", none, a) == 0);
    CHECK_NEAR(score("ndcg:order=ranks", r, s), (c2 + 1) / (2 + c2), 1e-15);
    CHECK_NEAR(score("ndcg:order=relevance", r, r), 1, 1e-15);
    CHECK_FAILS(okra_score(NULL, "ndcg", r, s, &value, NULL, NULL), OKRA_EARG,
                "each of 1 to 3 once: say order=ranks");
    CHECK_FAILS(okra_score(NULL, "ndcg", bad, a, &value, NULL, NULL), OKRA_EARG,
                "object 0 of the truth has -1 in column 1, expected relevances of 0");
    CHECK_FAILS(okra_score(NULL, "ndcg:order=ranks", high, a, &value, NULL, NULL),
                OKRA_EARG, "has 4 in column 0, expected ranks up to the number of items");
    CHECK_FAILS(okra_score(NULL, "ndcg:gain=exponential", huge, a, &value, NULL, NULL),
                OKRA_EARG, "expected a relevance whose gain is finite");
    okra_data_free(none);
    okra_data_free(bad);
    free_two(a, b);
    free_two(c, r);
    free_two(high, huge);
    okra_data_free(s);
}

/* ---- labels and sets ---- */

/* Classes: a right 1 missed 1; b right 1 extra 1; c missed 1, d extra 1 of names that the
 * other side does not know; the order of the names differs. */
TEST(labels_are_matched_by_name)
{
    const char *const names[] = {"a", "b", "c"}, *const other[] = {"d", "b", "a"};
    const okra_int y[] = {0, 0, 1, 2}, z[] = {2, 1, 1, 0};
    okra_data *a = labels(y, 4, names, 3), *b = labels(z, 4, other, 3);
    CHECK(score("zero-one", a, b) == 0.5);
    CHECK(score("hamming", a, b) == 0.5);
    CHECK(score("f1:average=micro", a, b) == 0.5);
    CHECK(score("f1:average=example", a, b) == 0.5);
    CHECK_NEAR(score("f1:average=macro", a, b), (2.0 / 3 + 2.0 / 3) / 4, 1e-16);
    okra_data_free(b);
    b = labels(z, 4, NULL, 4); /* numbers only: 0 0 1 2 against 2 1 1 0 */
    CHECK(score("zero-one", a, b) == 0.75);
    free_two(a, b);
}

/* 0/0: an empty set predicted for an empty set, a class that never occurs. */
TEST(f1_of_nothing_is_a_parameter)
{
    const double y[] = {1, 0, 0, 0, 0, 0}, z[] = {1, 0, 0, 0, 0, 0};
    const double nothing[] = {0, 0, 0, 0, 0, 0};
    okra_data *a = dense(y, 2, 3), *b = dense(z, 2, 3), *none = dense(nothing, 2, 3);
    CHECK(score("f1:average=example", a, b) == 0.5);
    CHECK(score("f1:average=example,empty=1", a, b) == 1);
    CHECK(score("f1:average=macro", a, b) == 1.0 / 3);
    CHECK(score("f1:empty=1,average=macro", a, b) == 1);
    CHECK(score("f1", a, b) == 1);
    CHECK(score("f1", none, none) == 0);
    CHECK(score("f1:empty=1", none, none) == 1);
    CHECK(score("f1:empty=1", a, none) == 0);
    okra_data_free(none);
    free_two(a, b);
}

TEST(f1_takes_sets_only)
{
    const double y[] = {1, 0, 0, 2}, z[] = {1, 0, 0.5, 0}, fine[] = {1, 0, 0, 1};
    okra_data *a = dense(y, 2, 2), *b = dense(z, 2, 2), *c = dense(fine, 2, 2);
    double value;
    CHECK_FAILS(okra_score(NULL, "f1", a, c, &value, NULL, NULL), OKRA_EARG,
                "element (1, 1) of the truth is 2, expected 0 or 1");
    CHECK_FAILS(okra_score(NULL, "f1", c, b, &value, NULL, NULL), OKRA_EARG,
                "element (1, 0) of the prediction is 0.5, expected 0 or 1");
    okra_data_free(c);
    free_two(a, b);
}

/* ---- kernels ---- */

/* More pairs than a strip of the Gram matrix; an expression with commas inside.
 * Tolerances are ten times the worst over 100 seeds: 4.4e-16, 8.0e-15, 8.8e-16. */
TEST(kernel_loss_is_the_distance_of_pairs)
{
    enum { PAIRS = 150, WIDE = 3 };
    double y[PAIRS * WIDE], z[PAIRS * WIDE], each[PAIRS], value;
    bool has = false;
    okra_random_ r = okra_random_create_(1, 0);
    harness_normals(&r, PAIRS * WIDE, y);
    harness_normals(&r, PAIRS * WIDE, z);
    memcpy(z, y, sizeof(double) * WIDE); /* one right prediction */
    okra_data *a = dense(y, PAIRS, WIDE), *b = dense(z, PAIRS, WIDE);
    CHECK_NEAR(score("kernel-loss:kernel=rbf(sigma=1.5)", a, b),
               score("rbf-loss:sigma=1.5", a, b), 4.4e-15);
    CHECK_NEAR(score("kernel-loss:kernel=linear", a, b), WIDE * score("mse", a, b),
               8e-14);
    CHECK_NEAR(score("kernel-loss:kernel=linear | center", a, b),
               WIDE * score("mse", a, b), 8e-14);
    CHECK_OK(okra_score(NULL, "kernel-loss:kernel=poly(degree=2,gamma=1,coef0=1)", a, b,
                        &value, each, &has));
    CHECK(has && each[0] >= 0 && each[0] < 8e-14);
    for (int i = 1; i < PAIRS; i++) {
        double yy = 1, yz = 1, zz = 1;
        for (int j = 0; j < WIDE; j++) {
            yy += y[i * WIDE + j] * y[i * WIDE + j];
            yz += y[i * WIDE + j] * z[i * WIDE + j];
            zz += z[i * WIDE + j] * z[i * WIDE + j];
        }
        CHECK_NEAR(each[i], yy * yy - 2 * yz * yz + zz * zz, 9e-15 * (yy * yy + zz * zz));
    }
    free_two(a, b);
}

/* ---- specifications and shapes ---- */

TEST(bad_specifications_are_refused)
{
    const double y[] = {1, 2};
    okra_data *a = dense(y, 2, 1);
    static const struct {
        const char *spec, *text;
    } bad[] = {
        {"mze", "there is no metric 'mze'; did you mean 'mse'?"},
        {"", "there is no metric ''"},
        {"wholly unknown", "there is no metric 'wholly unknown'"},
        {"mse:a=1", "there is no option 'a'"},
        {"mse:", "found '', expected key=value"},
        {"f1:macro", "found 'macro', expected key=value"},
        {"f1:=macro", "found '=macro', expected key=value"},
        {"f1:average=none", "average is 'none', expected one of micro|macro|example"},
        {"f1:empty=1,empty=0", "empty is given twice"},
        {"f1:empty=2", "empty is 2"},
        {"rbf-loss", "expected one of sigma and gamma, found neither"},
        {"rbf-loss:sigma=1,gamma=1", "expected one of sigma and gamma, found both"},
        {"rbf-loss:sigma=0", "sigma is 0"},
        {"kernel-loss", "expected kernel-loss:kernel=EXPR"},
        {"kernel-loss:kernel=nokernel", "nokernel"},
        {"kernel-loss:kernel=rbf(sigma=1) | nystrom(rank=2)",
         "expected the whole kernel"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        double value = 7;
        CHECK_FAILS(okra_score(NULL, bad[i].spec, a, a, &value, NULL, NULL), OKRA_EARG,
                    bad[i].text);
        CHECK(value == 7);
    }
    bool loss = false;
    CHECK_FAILS(okra_metric_is_loss("nothing", &loss), OKRA_EARG, "no metric");
    okra_data_free(a);
}

TEST(shapes_and_kinds_must_agree)
{
    const double y[] = {1, 2, 3, 4};
    const okra_int codes[] = {0, 1};
    okra_data *a = dense(y, 2, 2), *b = dense(y, 2, 1), *c = dense(y, 1, 2);
    okra_data *l = labels(codes, 2, NULL, 2), *none = dense(y, 0, 2);
    double value;
    CHECK_FAILS(okra_score(NULL, "mse", a, b, &value, NULL, NULL), OKRA_ESHAPE,
                "metric mse: the truth is 2 dense");
    CHECK_FAILS(okra_score(NULL, "mse", a, c, &value, NULL, NULL), OKRA_ESHAPE, NULL);
    CHECK_FAILS(okra_score(NULL, "zero-one", a, l, &value, NULL, NULL), OKRA_ESHAPE,
                NULL);
    CHECK_FAILS(okra_score(NULL, "mse", l, l, &value, NULL, NULL), OKRA_EUNSUPPORTED,
                "the truth is 2 ");
    CHECK_FAILS(okra_score(NULL, "mse", a, l, &value, NULL, NULL), OKRA_EUNSUPPORTED,
                "the prediction is 2 ");
    CHECK_FAILS(okra_score(NULL, "mse", none, none, &value, NULL, NULL), OKRA_ESHAPE,
                "nothing to compare");
    okra_data_free(none);
    okra_data_free(l);
    okra_data_free(c);
    free_two(a, b);
}

TEST(metrics_are_listed)
{
    size_t count = 0;
    const char *help;
    const okra_option_table *parameters;
    for (const char *name; (name = okra_metric_name(count, &help, &parameters));
         count++) {
        CHECK(*name && *help && parameters->owner);
    }
    CHECK(count >= 21); /* a new one is one file and one line, not a line here */
    CHECK_TEXT(okra_metric_name(0, NULL, NULL), "mse");
    bool loss = false;
    CHECK_OK(okra_metric_is_loss("mse", &loss));
    CHECK(loss);
    CHECK_OK(okra_metric_is_loss("f1:average=macro", &loss));
    CHECK(!loss);
}

TEST(failing_allocations_are_survived)
{
    static const char *const specs[] = {"mse", "f1:average=macro", "rbf-loss:sigma=1",
                                        "kernel-loss:kernel=rbf(sigma=1)"};
    const double y[] = {1, 0, 0, 1};
    const char *const names[] = {"a", "b"};
    const okra_int codes[] = {0, 1};
    okra_data *a = dense(y, 2, 2), *l = labels(codes, 2, names, 2);
    double value;
    bool loss;
    for (int i = 0; i < 4; i++) {
        CHECK_ALLOCATIONS(okra_score(NULL, specs[i], a, a, &value, NULL, NULL), (void)0);
    }
    CHECK_ALLOCATIONS(okra_score(NULL, "f1", l, l, &value, NULL, NULL), (void)0);
    CHECK_ALLOCATIONS(okra_metric_is_loss("f1:empty=1", &loss), (void)0);
    free_two(a, l);
}

TEST(traits_are_told_by_the_table)
{
    bool loss;
    CHECK(okra_metric_has("feature-loss", OKRA_METRIC_UNDECODED));
    CHECK(!okra_metric_has("feature-loss", OKRA_METRIC_RELATIVE));
    CHECK(okra_metric_has("relative-loss", OKRA_METRIC_RELATIVE));
    CHECK(okra_metric_has("auc-pr", OKRA_METRIC_LINKS));
    CHECK(okra_metric_has("hit-rate:k=3", OKRA_METRIC_LISTS));
    CHECK(!okra_metric_has("hit-rate:k=3", OKRA_METRIC_INTERVALS));
    CHECK(okra_metric_has("coverage", OKRA_METRIC_INTERVALS));
    CHECK(!okra_metric_has("mse", OKRA_METRIC_UNDECODED));
    CHECK(!okra_metric_has("nothing", OKRA_METRIC_LISTS));
    CHECK(!okra_metric_has(NULL, OKRA_METRIC_LISTS));
    CHECK(!okra_metric_has("mse", (okra_metric_trait)99));
    /* They are of selection alone. */
    CHECK_FAILS(okra_metric_is_loss("feature-loss", &loss), OKRA_EARG,
                "there is no metric 'feature-loss'");
    for (size_t k = 0; okra_metric_name(k, NULL, NULL); k++) {
        CHECK(!okra_metric_has(okra_metric_name(k, NULL, NULL), OKRA_METRIC_UNDECODED));
    }
}

MAIN(RUN(errors_of_vectors_by_hand), RUN(small_rbf_losses_keep_their_digits),
     RUN(kinds_of_vectors_may_be_mixed), RUN(ndcg_by_hand),
     RUN(labels_are_matched_by_name), RUN(f1_of_nothing_is_a_parameter),
     RUN(f1_takes_sets_only), RUN(kernel_loss_is_the_distance_of_pairs),
     RUN(bad_specifications_are_refused), RUN(shapes_and_kinds_must_agree),
     RUN(metrics_are_listed), RUN(failing_allocations_are_survived),
     RUN(traits_are_told_by_the_table))
