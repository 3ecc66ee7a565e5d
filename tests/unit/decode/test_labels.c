/*
 * Sets of labels found by the decoder against all 1,024 sets of 10 labels.
 */
#include "decoding.h"

enum { D = 10, ALL = 1 << D, N = 20, TESTS = 50 };

static okra_data *sets(okra_kind kind, const int *members, int count)
{
    okra_data *data = NULL;
    if (kind == OKRA_BITS) {
        unsigned char packed[ALL][2];
        for (int i = 0; i < count; i++) {
            packed[i][0] = (unsigned char)(members[i] & 255);
            packed[i][1] = (unsigned char)(members[i] >> 8);
        }
        CHECK_OK(okra_data_bits(&packed[0][0], count, D, 2, &data));
        return data;
    }
    double *values = okra_alloc_(count * D, sizeof *values);
    for (int i = 0; i < count * D; i++) {
        values[i] = members[i / D] >> (i % D) & 1;
    }
    if (kind == OKRA_SPARSE) {
        okra_int indptr[ALL + 1] = {0}, used = 0;
        okra_int *indices = okra_alloc_(count * D, sizeof *indices);
        for (int i = 0; i < count * D; i++) {
            if (values[i] != 0) {
                values[used] = 1;
                indices[used++] = i % D;
            }
            indptr[i / D + 1] = used;
        }
        CHECK_OK(okra_data_sparse(indptr, indices, values, count, D, &data));
        okra_free_(indices);
    } else {
        data = dense_copy(values, count, D);
    }
    okra_free_(values);
    return data;
}

static okra_data *random_sets(okra_kind kind, okra_random_ *r)
{
    int members[N];
    for (int i = 0; i < N; i++) {
        members[i] = 1 + (int)okra_random_below_(r, ALL - 1);
    }
    return sets(kind, members, N);
}

/* Random sets as training outputs and random weights over them; every set there is. */
static okra_data *open_random(okra_kind kind, const char *kernel, okra_random_ *r,
                              outputs *o, double *W)
{
    int members[ALL];
    outputs_open(o, kernel, random_sets(kind, r));
    random_weights(r, TESTS, N, W);
    for (int i = 0; i < ALL; i++) {
        members[i] = i;
    }
    return sets(kind, members, ALL);
}

static int beaten(okra_kind kind, const char *kernel, uint64_t seed)
{
    int count = 0;
    double distance[ALL], W[TESTS * N];
    okra_random_ r = okra_random_create_(seed, 3);
    okra_decoded_ d = {0};
    outputs o;
    okra_data *all = open_random(kind, kernel, &r, &o, W);
    CHECK_OK(decode(NULL, &o, "labels", "", W, TESTS, NULL, 19, &d));
    for (int t = 0; t < TESTS && d.objects; t++) {
        double best = INFINITY, own;
        okra_int index[] = {t};
        okra_data *found = NULL;
        all_distances(&o, all, W + t * N, distance);
        for (int c = strcmp(kernel, "linear") == 0 ? 0 : 1; c < ALL; c++) {
            best = fmin(best, distance[c]);
        }
        CHECK_OK(okra_data_take(d.objects, index, 1, &found));
        CHECK(found->kind == kind && found->d == D);
        all_distances(&o, found, W + t * N, &own);
        if (strcmp(kernel, "linear") != 0) {
            CHECK_NEAR(d.distance[t], fmax(own, 0), 1e-12); /* 2e-15 at worst */
            count += d.distance[t] > best + 1e-9;
        } else if (own < (double)INFINITY) { /* the empty set is a point like any other */
            CHECK_NEAR(d.distance[t], own, 1e-12);
            CHECK(own <= best + 1e-9);
        }
        all_distances(&o, o.y, W + t * N, distance);
        for (int i = 0; i < N; i++) {
            CHECK(d.distance[t] <= distance[i] + 1e-12);
        }
        okra_data_free(found);
    }
    okra_decoded_clear_(&d);
    okra_data_free(all);
    outputs_close(&o);
    return count;
}

TEST(brute_force_finds_nothing_better)
{
    int worse = 0, runs = 0;
    for (uint64_t seed = 0; seed < SOME(4); seed++) {
        worse += beaten(OKRA_BITS, "tanimoto", seed);
        worse += beaten(OKRA_DENSE, "rbf(sigma=1.5)", seed);
        worse += beaten(OKRA_DENSE, "poly(degree=3,coef0=1)", seed);
        worse += beaten(OKRA_BITS, "cosine", seed);
        runs += 4 * TESTS;
        worse += beaten(OKRA_SPARSE, "rbf(sigma=1.5)", seed);
        runs += TESTS;
        CHECK(beaten(OKRA_DENSE, "linear", seed) == 0); /* exact */
        CHECK(beaten(OKRA_SPARSE, "linear", seed) == 0);
        CHECK(beaten(OKRA_BITS, "linear", seed) == 0);
    }
    printf("  %d of %d beaten\n", worse, runs);
    CHECK(worse * 100 <= runs); /* none at the time of writing */
}

/* The five best of all sets, 5,000 predictions per kernel: linear, of counts, and one
 * that sees which label is which. */
static void check_five(okra_kind kind, const char *kernel, bool empty, uint64_t seed)
{
    enum { TOP = 5 };
    double distance[ALL], W[TESTS * N], own[TOP];
    okra_random_ r = okra_random_create_(seed, 5);
    okra_decoded_ d = {0};
    outputs o;
    okra_data *all = open_random(kind, kernel, &r, &o, W);
    CHECK_OK(decode(NULL, &o, "labels", "top=5", W, TESTS, NULL, 19, &d));
    for (int t = 0; t < TESTS && d.objects; t++) {
        double norm = 0, L[N * N];
        okra_data *rows = NULL;
        CHECK_OK(okra_data_take(d.proposals, d.index + t * TOP, TOP, &rows));
        all_distances(&o, all, W + t * N, distance);
        all_distances(&o, rows, W + t * N, own);
        CHECK_OK(okra_trained_kernel_gram_(NULL, o.bound, okra_mat_of_(L, N, N)));
        for (int i = 0; empty && i < N * N; i++) {
            norm += W[t * N + i / N] * W[t * N + i % N] * L[i];
        }
        distance[0] = empty ? norm : distance[0]; /* a point like any other */
        for (int k = 0; k < TOP; k++) {
            if (own[k] < (double)INFINITY) {
                CHECK_NEAR(d.distance[t * TOP + k], fmax(own[k], 0), 1e-12);
            }
        }
        check_best(&d, t, distance, ALL, 0, 1e-12); /* 6e-15 at worst */
        okra_data_free(rows);
    }
    okra_decoded_clear_(&d);
    okra_data_free(all);
    outputs_close(&o);
}

TEST(the_five_best)
{
    for (uint64_t seed = 0; seed < SOME(100); seed++) {
        okra_kind kind = seed % 3 == 0   ? OKRA_DENSE
                         : seed % 3 == 1 ? OKRA_SPARSE
                                         : OKRA_BITS;
        check_five(kind, "linear", true, seed);
        check_five(kind, "tanimoto", false, seed);
        check_five(OKRA_DENSE, "laplacian(gamma=0.3)", false, seed);
    }
}

/* With a threshold, and without the empty set: the five best for h + 1/2 - threshold, of
 * all sets but the empty one; the best is what is above the threshold, or the label of
 * the highest score. */
TEST(thresholds_and_sets_that_are_not_empty)
{
    enum { TOP = 5 };
    static const double cuts[] = {0.2, 0.5, 0.9};
    okra_random_ r = okra_random_create_(3, 6);
    for (int k = 0; k < 3; k++) {
        double W[TESTS * N], distance[ALL];
        char options[64];
        okra_decoded_ d = {0};
        outputs o;
        okra_data *all = open_random(OKRA_DENSE, "linear", &r, &o, W);
        snprintf(options, sizeof options, "top=5 threshold=%g nonempty=yes", cuts[k]);
        CHECK_OK(decode(NULL, &o, "labels", options, W, TESTS, NULL, 19, &d));
        for (int t = 0; t < TESTS; t++) {
            double h[D] = {0};
            for (int i = 0; i < N * D; i++) {
                h[i % D] += W[t * N + i / D] * o.y->values[i / D * o.y->ld + i % D];
            }
            const double *found = d.objects->values + t * d.objects->ld;
            int top = 0, above = 0;
            for (int j = 0; j < D; j++) {
                top = h[j] > h[top] ? j : top;
                above += h[j] > cuts[k];
            }
            for (int j = 0; j < D; j++) {
                CHECK(found[j] == (above ? h[j] > cuts[k] : j == top));
            }
            for (int c = 0; c < ALL; c++) {
                distance[c] = 0;
                for (int j = 0; j < D; j++) {
                    double z = h[j] + 0.5 - cuts[k] - (c >> j & 1);
                    distance[c] += z * z;
                }
            }
            distance[0] = (double)INFINITY;
            check_best(&d, t, distance, ALL, 0, 1e-12);
        }
        okra_decoded_clear_(&d);
        okra_data_free(all);
        outputs_close(&o);
    }
}

/* More sets are asked for than there are: those that there are. */
TEST(fewer_sets_than_asked_for)
{
    double y[] = {1, 0, 0, 1, 1, 1}, W[] = {0.5, 0.3, 0.2};
    static const char *const kernels[] = {"linear", "poly(degree=2,coef0=0)"};
    for (int k = 0; k < 2; k++) {
        okra_decoded_ d = {0};
        outputs o;
        outputs_open(&o, kernels[k], dense_copy(y, 3, 2));
        CHECK_OK(decode(NULL, &o, "labels", "top=9", W, 1, NULL, 1, &d));
        CHECK(d.top == 4); /* there are no more; the second leaves the empty set out */
        for (int c = 0; c < 4; c++) {
            CHECK((d.index[c] < 0) == (c >= 4 - k));
            CHECK(isinf(d.distance[c]) == (c >= 4 - k));
        }
        okra_decoded_clear_(&d);
        outputs_close(&o);
    }
}

/* Under the kernel (1 + <y, y'>)^2 let weights v_j be on the sets of one label and none
 * on others: a set y of s labels is at (1 + s)^2 - 6 sum_{j in y} v_j, up to a constant.
 * With v_j = (1 + SIZE) / 3 + j / 100 a set of SIZE labels comes 1 -+ 6 j / 100 > 0
 * nearer than those with one more or less, whichever labels it has, and of these sets the
 * one of the last labels is nearest. Training outputs of that size fill the beam, so that
 * adding and removing alone ends where it began. */
TEST(labels_are_exchanged)
{
    enum { SIZE = 4, BEAM = 16 };
    const char *beams[] = {"beam=1", "beam=16"};
    int members[D + BEAM], count = 0;
    double W[D + BEAM] = {0};
    outputs o;
    for (int j = 0; j < D; j++) {
        W[count] = (1 + SIZE) / 3.0 + j / 100.0;
        members[count++] = 1 << j;
    }
    for (int set = 0; count < D + BEAM; set++) {
        int size = 0;
        for (int j = 0; j < D; j++) {
            size += set >> j & 1;
        }
        if (size == SIZE) {
            members[count++] = set;
        }
    }
    outputs_open(&o, "poly(degree=2,coef0=1)", sets(OKRA_DENSE, members, count));
    for (int b = 0; b < 2; b++) {
        okra_decoded_ d = {0};
        CHECK_OK(decode(NULL, &o, "labels", beams[b], W, 1, NULL, 1, &d));
        for (int j = 0; j < D && d.objects; j++) {
            CHECK(d.objects->values[j] == (j >= D - SIZE));
        }
        okra_decoded_clear_(&d);
    }
    outputs_close(&o);
}

/* {9}, {0} and {0, 9} are at one distance: the first training output, as among
 * candidates. */
TEST(of_ties_the_first_training_output)
{
    const int members[] = {1 << 9, 1, 1 << 4};
    double W[] = {0.5, 0.5, 0};
    outputs o;
    okra_decoded_ d = {0}, near = {0};
    outputs_open(&o, "tanimoto", sets(OKRA_DENSE, members, 3));
    CHECK_OK(decode(NULL, &o, "labels", "", W, 1, NULL, 1, &d));
    CHECK_OK(decode(NULL, &o, "candidates", "", W, 1, NULL, 1, &near));
    for (int j = 0; j < D && d.objects; j++) {
        CHECK(d.objects->values[j] == (j == 9));
    }
    CHECK(near.index && near.index[0] == 0);
    CHECK_NEAR(d.distance[0], near.distance[0], 0);
    okra_decoded_clear_(&d);
    okra_decoded_clear_(&near);
    outputs_close(&o);
}

TEST(failures)
{
    okra_random_ r = okra_random_create_(1, 1);
    okra_decoded_ d = {0};
    outputs o;
    double W[2 * N], y[2] = {0, 0.5};
    okra_int codes[] = {0, 1};
    okra_data *data = NULL;
    random_weights(&r, 2, N, W);
    CHECK_OK(okra_data_dense(y, 1, 2, 2, &data));
    outputs_open(&o, "rbf(sigma=1)", data);
    CHECK_FAILS(decode(NULL, &o, "labels", "", W, 1, NULL, 1, &d), OKRA_EARG,
                "training output 0 has 0.5 in column 1");
    outputs_close(&o);
    CHECK_OK(okra_data_labels(codes, 2, NULL, 2, &data));
    outputs_open(&o, "zero-one", data);
    CHECK_FAILS(decode(NULL, &o, "labels", "", W, 1, NULL, 1, &d), OKRA_EUNSUPPORTED,
                "needs vectors of 0 and 1 as outputs; these are labels");
    outputs_close(&o);
    outputs_open(&o, "tanimoto", random_sets(OKRA_BITS, &r));
    CHECK_ALLOCATIONS(
        decode(NULL, &o, "labels", "beam=2 rounds=2 top=2", W, 2, NULL, 2, &d),
        okra_decoded_clear_(&d));
    outputs_close(&o);
    outputs_open(&o, "linear", random_sets(OKRA_DENSE, &r));
    CHECK_ALLOCATIONS(decode(NULL, &o, "labels", "top=3", W, 2, NULL, 2, &d),
                      okra_decoded_clear_(&d));
    outputs_close(&o);
}

MAIN(RUN(brute_force_finds_nothing_better), RUN(the_five_best),
     RUN(thresholds_and_sets_that_are_not_empty), RUN(fewer_sets_than_asked_for),
     RUN(labels_are_exchanged), RUN(of_ties_the_first_training_output), RUN(failures))
