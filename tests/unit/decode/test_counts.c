/*
 * Sets of labels under kernels of counts against all 2^d sets, with the kernels written
 * out from counts of bits.
 */
#include "decoding.h"

typedef double (*formula)(double c, double a, double b);

static double tanimoto(double c, double a, double b)
{
    return a + b - c > 0 ? c / (a + b - c) : 0;
}
static double dice(double c, double a, double b)
{
    return a + b > 0 ? 2 * c / (a + b) : 0;
}
static double cosine(double c, double a, double b)
{
    return a > 0 && b > 0 ? c / sqrt(a * b) : 0;
}
static double rbf(double c, double a, double b)
{
    return exp(-(a + b - 2 * c) / (2 * 1.5 * 1.5));
}
static double poly(double c, double a, double b)
{
    (void)a;
    (void)b;
    return (1 + c) * (1 + c) * (1 + c);
}
static double mixed(double c, double a, double b)
{
    return 0.5 * tanimoto(c, a, b) + dice(c, a, b) * rbf(c, a, b);
}

typedef struct kernel_case {
    const char *text;
    formula f;
    bool sorted; /* exact for any number of labels */
} kernel_case;
static const kernel_case kernels[] = {
    {"tanimoto", tanimoto, false},
    {"dice", dice, true},
    {"cosine", cosine, true},
    {"rbf(sigma=1.5)", rbf, false},
    {"poly(degree=3,gamma=1,coef0=1)", poly, false},
    {"0.5*tanimoto+dice*rbf(sigma=1.5)", mixed, false},
};
enum { KERNELS = sizeof kernels / sizeof *kernels, TESTS = 50, N = 20, MOST = 14 };

/* Bits of `members` as data of a kind. */
static okra_data *sets(okra_kind kind, const unsigned *members, okra_int n, okra_int d)
{
    okra_data *data = NULL;
    unsigned char packed[N][2] = {{0}};
    double values[N * MOST] = {0};
    for (okra_int i = 0; i < n; i++) {
        packed[i][0] = (unsigned char)(members[i] & 255);
        packed[i][1] = (unsigned char)(members[i] >> 8);
        for (okra_int j = 0; j < d; j++) {
            values[i * d + j] = members[i] >> j & 1;
        }
    }
    if (kind == OKRA_BITS) {
        CHECK_OK(okra_data_bits(&packed[0][0], n, d, (d + 7) / 8, &data));
        return data;
    }
    return dense_copy(values, n, d);
}

static double bits(unsigned set)
{
    return __builtin_popcount(set);
}

static double distance_to(const kernel_case *k, const unsigned *y, const double *w,
                          double norm, unsigned set)
{
    double sum = 0, b = bits(set), self = k->f(b, b, b);
    for (int i = 0; i < N; i++) {
        sum += w[i] * k->f(bits(set & y[i]), bits(y[i]), b);
    }
    return self > 0 ? self - 2 * sum + norm : (double)INFINITY;
}

static void random_outputs(okra_random_ *r, okra_int d, bool copies, unsigned y[N])
{
    for (int i = 0; i < N; i++) {
        y[i] = 1 + (unsigned)okra_random_below_(r, (1 << d) - 1);
        y[i] = copies && i % 5 == 4 ? y[i - 1] : y[i];
    }
}

/* How many of TESTS predictions a set beats. */
static int beaten(const kernel_case *k, okra_kind kind, okra_int d, uint64_t seed)
{
    okra_random_ r = okra_random_create_(seed, (uint64_t)d);
    unsigned y[N] = {0};
    double W[TESTS * N];
    int count = 0;
    okra_decoded_ found = {0};
    outputs o;
    random_outputs(&r, d, true, y);
    random_weights(&r, TESTS, N, W);
    if (kind == OKRA_BITS && d <= 8) {
        kind = OKRA_DENSE; /* one byte a row: not laid out as above */
    }
    outputs_open(&o, k->text, sets(kind, y, N, d));
    CHECK_OK(decode(NULL, &o, "labels", "", W, TESTS, NULL, 19, &found));
    for (int t = 0; t < TESTS && found.objects; t++) {
        const double *w = W + t * N;
        double norm = 0, best = (double)INFINITY;
        unsigned got = 0;
        for (int i = 0; i < N * N; i++) {
            unsigned a = y[i / N], b = y[i % N];
            norm += w[i / N] * w[i % N] * k->f(bits(a & b), bits(a), bits(b));
        }
        for (unsigned set = 0; set < 1u << d; set++) {
            best = fmin(best, distance_to(k, y, w, norm, set));
        }
        for (okra_int j = 0; j < d; j++) {
            bool in = kind == OKRA_BITS
                          ? found.objects->bits[t * found.objects->words] >> j & 1
                          : found.objects->values[t * found.objects->ld + j] != 0;
            got |= (unsigned)in << j;
        }
        double own = distance_to(k, y, w, norm, got);
        CHECK_NEAR(found.distance[t], fmax(own, 0), 1e-11 * (1 + norm));
        count += own > best + 1e-10 * (1 + norm);
    }
    okra_decoded_clear_(&found);
    outputs_close(&o);
    return count;
}

/* 5,000 predictions per kernel. */
TEST(up_to_twelve_labels_are_exact)
{
    for (int k = 0; k < KERNELS; k++) {
        for (uint64_t seed = 0; seed < SOME(100); seed++) {
            okra_kind kind = seed % 2 ? OKRA_BITS : OKRA_DENSE;
            CHECK(beaten(&kernels[k], kind, 1 + (okra_int)seed % 12, seed) == 0);
        }
    }
}

TEST(more_labels)
{
    for (int k = 0; k < KERNELS; k++) {
        int worse = 0, runs = 0;
        for (uint64_t seed = 0; seed < SOME(6); seed++) {
            worse += beaten(&kernels[k], OKRA_BITS, 13 + (okra_int)seed % 2, seed);
            runs += TESTS;
        }
        printf("  %s: %d of %d beaten\n", kernels[k].text, worse, runs);
        CHECK(worse * 100 <= (kernels[k].sorted ? 0 : runs));
    }
}

/* The ten best of 8,192 or 16,384 sets: exact where the best of every size are. How many
 * of the ten are beaten elsewhere. */
static int ten_best(const kernel_case *k, okra_int d, uint64_t seed)
{
    enum { TOP = 10, FEW = 4 };
    static double all[1 << MOST];
    okra_random_ r = okra_random_create_(seed, (uint64_t)d);
    unsigned y[N] = {0};
    double W[FEW * N];
    int count = 0;
    okra_decoded_ found = {0};
    outputs o;
    random_outputs(&r, d, false, y);
    random_weights(&r, FEW, N, W);
    outputs_open(&o, k->text, sets(OKRA_BITS, y, N, d));
    CHECK_OK(decode(NULL, &o, "labels", "top=10", W, FEW, NULL, 3, &found));
    for (int t = 0; t < FEW && found.objects; t++) {
        double norm = 0;
        for (int i = 0; i < N * N; i++) {
            unsigned a = y[i / N], b = y[i % N];
            norm +=
                W[t * N + i / N] * W[t * N + i % N] * k->f(bits(a & b), bits(a), bits(b));
        }
        for (unsigned set = 0; set < 1u << d; set++) {
            all[set] = distance_to(k, y, W + t * N, norm, set);
        }
        if (k->sorted) {
            check_best(&found, t, all, 1 << d, 0, 1e-11 * (1 + norm));
            continue;
        }
        qsort(all, (size_t)1 << d, sizeof *all, ascending);
        for (int c = 0; c < TOP; c++) {
            count += found.distance[t * TOP + c] > fmax(all[c], 0) + 1e-10 * (1 + norm);
        }
    }
    okra_decoded_clear_(&found);
    outputs_close(&o);
    return count;
}

TEST(the_ten_best_of_more_labels)
{
    for (int k = 0; k < KERNELS; k++) {
        int worse = 0, runs = 0;
        for (uint64_t seed = 0; seed < SOME(10); seed++) {
            worse += ten_best(&kernels[k], 13 + (okra_int)seed % 2, seed);
            runs += 40;
        }
        printf("  %s: %d of %d beaten\n", kernels[k].text, worse, runs);
        CHECK(worse * 100 <= runs);
    }
}

/* Thousands of labels, sparse: a prediction that is one output, or that and its subset
 * with one label less, comes back. */
TEST(thousands_of_labels)
{
    enum { LABELS = 5000, OUTPUTS = 60, SIZE = 6 };
    okra_int indptr[OUTPUTS + 1] = {0}, indices[OUTPUTS * SIZE];
    double ones[OUTPUTS * SIZE], W[OUTPUTS * OUTPUTS] = {0};
    okra_random_ r = okra_random_create_(4, 4);
    for (int i = 0; i < OUTPUTS; i++) {
        for (int k = 0; k < SIZE; k++) { /* apart, ascending */
            okra_int j = k * (LABELS / SIZE) + okra_random_below_(&r, LABELS / SIZE);
            indices[i * SIZE + k] = j;
            ones[i * SIZE + k] = 1;
        }
        indptr[i + 1] = (okra_int)(i + 1) * SIZE;
        W[i * OUTPUTS + i] = 1;
    }
    for (int k = 0; k < KERNELS; k++) {
        okra_data *y = NULL;
        okra_decoded_ d = {0};
        outputs o;
        CHECK_OK(okra_data_sparse(indptr, indices, ones, OUTPUTS, LABELS, &y));
        outputs_open(&o, kernels[k].text, y);
        CHECK_OK(decode(NULL, &o, "labels", "", W, OUTPUTS, NULL, 7, &d));
        CHECK(d.objects && d.objects->kind == OKRA_SPARSE && d.objects->d == LABELS);
        for (int i = 0; d.objects && i < OUTPUTS; i++) {
            okra_int at = d.objects->csr.indptr[i];
            CHECK(d.objects->csr.indptr[i + 1] - at == SIZE);
            CHECK(memcmp(d.objects->csr.indices + at, indices + i * SIZE,
                         SIZE * sizeof *indices) == 0);
            CHECK_NEAR(d.distance[i], 0, 1e-10);
        }
        okra_decoded_clear_(&d);
        outputs_close(&o);
    }
}

/* Outputs of one label each, all of one weight: under cosine all labels together are the
 * best set, however many there are. */
TEST(many_labels_at_once)
{
    enum { LABELS = 100 };
    static double Y[LABELS * LABELS], W[LABELS];
    okra_decoded_ d = {0};
    outputs o;
    for (int i = 0; i < LABELS; i++) {
        Y[i * LABELS + i] = 1;
        W[i] = 1 / 1.1;
    }
    outputs_open(&o, "cosine", dense_copy(Y, LABELS, LABELS));
    CHECK_OK(decode(NULL, &o, "labels", "", W, 1, NULL, 1, &d));
    double sum = 0;
    for (int j = 0; d.objects && j < LABELS; j++) {
        sum += d.objects->values[j];
    }
    CHECK(sum == LABELS);
    CHECK_NEAR(d.distance[0], 1 - 2 * 10 / 1.1 + LABELS / 1.21, 1e-10); /* 2e-13 */
    okra_decoded_clear_(&d);
    outputs_close(&o);
}

TEST(failing_allocations_are_survived)
{
    unsigned y[N] = {0};
    double W[2 * N];
    okra_decoded_ d = {0};
    outputs o;
    okra_random_ r = okra_random_create_(9, 9);
    for (unsigned i = 0; i < N; i++) {
        y[i] = 1 + 37 * i;
    }
    random_weights(&r, 2, N, W);
    for (int k = 0; k < 2; k++) {
        outputs_open(&o, kernels[k].text, sets(OKRA_DENSE, y, N, 13));
        CHECK_ALLOCATIONS(decode(NULL, &o, "labels", k ? "top=3" : "", W, 2, NULL, 2, &d),
                          okra_decoded_clear_(&d));
        outputs_close(&o);
    }
}

MAIN(RUN(up_to_twelve_labels_are_exact), RUN(more_labels),
     RUN(the_ten_best_of_more_labels), RUN(thousands_of_labels), RUN(many_labels_at_once),
     RUN(failing_allocations_are_survived))
