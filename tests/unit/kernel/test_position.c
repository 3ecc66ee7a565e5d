/* Kernels of sequences, images, annotations, label sets, costs and several descriptions,
 * against their definitions written out. */
#include "grams.h"

#include <unistd.h>

enum { N = 13, M = 4, D = 3, MOST = 6 };

typedef struct words {
    okra_int offsets[N + 1];
    double x[N * MOST * D];
    int32_t label[N * MOST];
    okra_data *data;
} words;

static void make_words(uint64_t seed, okra_int n, words *w)
{
    okra_random_ r = okra_random_create_(seed, 1);
    w->offsets[0] = 0;
    for (okra_int i = 0; i < n; i++) {
        w->offsets[i + 1] = w->offsets[i] + okra_random_below_(&r, MOST + 1);
    }
    harness_normals(&r, N * MOST * D, w->x);
    for (okra_int k = 0; k < N * MOST; k++) {
        w->label[k] = (int32_t)('a' + okra_random_below_(&r, 3));
    }
    CHECK_OK(okra_data_sequences(w->offsets, w->x, w->label, n, D, &w->data));
}

static okra_int length(const words *w, okra_int i)
{
    return w->offsets[i + 1] - w->offsets[i];
}

static double cube(const words *a, okra_int i, okra_int p, const words *b, okra_int j,
                   okra_int q)
{
    double k =
        okra_dot_(D, a->x + (a->offsets[i] + p) * D, b->x + (b->offsets[j] + q) * D);
    return (k + 1) * (k + 1) * (k + 1);
}

/* poly(degree=3) | normalize */
static double cosine3(const words *a, okra_int i, okra_int p, const words *b, okra_int j,
                      okra_int q)
{
    return cube(a, i, p, b, j, q) / sqrt(cube(a, i, p, a, i, p) * cube(b, j, q, b, j, q));
}

static double sum_of(const words *a, okra_int i, const words *b, okra_int j, int what)
{
    double sum = 0;
    for (okra_int p = 0; p < OKRA_MIN_(length(a, i), length(b, j)); p++) {
        sum += what == 0 ? cosine3(a, i, p, b, j, p)
                         : a->label[a->offsets[i] + p] == b->label[b->offsets[j] + p];
    }
    return sum;
}

/* The features of the paper one by one: every training element at its position. */
static double mapped(const words *a, okra_int i, const words *b, okra_int j,
                     const words *train)
{
    double sum = 0;
    for (okra_int t = 0; t < N; t++) {
        for (okra_int p = 0; p < length(train, t); p++) {
            if (p < length(a, i) && p < length(b, j)) {
                sum += cosine3(train, t, p, a, i, p) * cosine3(train, t, p, b, j, p);
            }
        }
    }
    return sum;
}

/* Worst error over the largest value, 40 seeds: 7.1e-16. */
TEST(positions)
{
    static const char *const texts[] = {"position(poly(degree=3) | normalize)",
                                        "position(zero-one)",
                                        "position(poly(degree=3) | normalize,map=1)"};
    for (uint64_t seed = 0; seed < 5; seed++) {
        words a, b;
        double K[N * N], C[M * N], expected[N * N];
        make_words(seed, N, &a);
        make_words(seed + 50, M, &b);
        for (int k = 0; k < 3; k++) {
            CHECK_OK(try_gram(NULL, texts[k], a.data, NULL, K));
            for (okra_int i = 0; i < N * N; i++) {
                expected[i] = k == 2 ? mapped(&a, i / N, &a, i % N, &a)
                                     : sum_of(&a, i / N, &a, i % N, k);
            }
            CHECK_NEAR(harness_relative(N * N, K, expected), 0, 7e-15);
            CHECK_OK(try_gram(NULL, texts[k], b.data, a.data, C));
            for (okra_int i = 0; i < M * N; i++) {
                expected[i] = k == 2 ? mapped(&b, i / N, &a, i % N, &a)
                                     : sum_of(&b, i / N, &a, i % N, k);
            }
            CHECK_NEAR(harness_relative(M * N, C, expected), 0, 7e-15);
        }
        okra_data_free(a.data);
        okra_data_free(b.data);
    }
}

TEST(positions_of_strings)
{
    const char *texts[] = {"abc", "abd", "b", "xbcd"};
    const double expected[] = {3, 2, 0, 2, 2, 3, 0, 1, 0, 0, 1, 0, 2, 1, 0, 4};
    double K[16];
    okra_data *a = NULL;
    CHECK_OK(okra_data_strings(texts, 4, &a));
    CHECK_OK(try_gram(NULL, "position(zero-one)", a, NULL, K));
    CHECK(memcmp(K, expected, sizeof K) == 0);
    CHECK_FAILS(try_gram(NULL, "position(linear)", a, NULL, K), OKRA_EARG,
                "linear is no kernel of the labels");
    okra_data_free(a);
}

static void patch_sum(const double *x, const double *z, double *value)
{
    /* 5 x 4 images, patches of 3 with overlap 1: rows from 0 and 2, columns 0 and 1. */
    const int rows[] = {0, 2}, columns[] = {0, 1};
    *value = 0;
    for (int k = 0; k < 4; k++) {
        double d2 = 0;
        for (int y = 0; y < 3; y++) {
            for (int c = 0; c < 3; c++) {
                int at = (rows[k / 2] + y) * 4 + columns[k % 2] + c;
                d2 += (x[at] - z[at]) * (x[at] - z[at]);
            }
        }
        *value += exp(-d2 / 8);
    }
}

static double shifted_distance(const double *x, const double *z, int dy, int dx)
{
    double d2 = 0;
    for (int y = 0; y < 5; y++) {
        for (int c = 0; c < 4; c++) {
            int from = OKRA_MIN_(OKRA_MAX_(y + dy, 0), 4) * 4 +
                       OKRA_MIN_(OKRA_MAX_(c + dx, 0), 3);
            d2 += (x[from] - z[y * 4 + c]) * (x[from] - z[y * 4 + c]);
        }
    }
    return d2;
}

static double jittered(const double *x, const double *z)
{
    double least = 1e300;
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            least = OKRA_MIN_(least, shifted_distance(x, z, dy, dx));
            least = OKRA_MIN_(least, shifted_distance(z, x, dy, dx));
        }
    }
    return exp(-0.1 * least);
}

TEST(images)
{
    double x[N * 20], K[N * N], expected[N * N];
    okra_random_ r = okra_random_create_(4, 0);
    okra_data *a = NULL;
    harness_normals(&r, N * 20, x);
    for (int k = 0; k < 20; k++) { /* the second is the first, shifted down */
        x[20 + k] = x[OKRA_MAX_(k - 4, k % 4)];
    }
    CHECK_OK(okra_data_dense(x, N, 20, 20, &a));
    CHECK_OK(
        try_gram(NULL, "patches(rbf(sigma=2),width=4,patch=3,overlap=1)", a, NULL, K));
    for (int i = 0; i < N * N; i++) {
        patch_sum(x + i / N * 20, x + i % N * 20, &expected[i]);
    }
    CHECK_NEAR(harness_relative(N * N, K, expected), 0, 7e-15);
    CHECK_OK(try_gram(NULL, "jitter(gamma=0.1,width=4)", a, NULL, K));
    for (int i = 0; i < N * N; i++) {
        expected[i] = jittered(x + i / N * 20, x + i % N * 20);
    }
    CHECK_NEAR(harness_relative(N * N, K, expected), 0, 7e-15);
    CHECK(K[1] > 1 - 1e-14); /* a shift is no distance */
    CHECK_FAILS(try_gram(NULL, "patches(linear,width=3)", a, NULL, K), OKRA_ESHAPE,
                "no rows of 3");
    CHECK_FAILS(try_gram(NULL, "patches(linear,width=4,patch=6)", a, NULL, K),
                OKRA_ESHAPE, "does not fit");
    CHECK_FAILS(try_gram(NULL, "patches(linear,width=4,patch=3,overlap=3)", a, NULL, K),
                OKRA_EARG, "overlap=3");
    CHECK_FAILS(try_gram(NULL, "jitter(width=4)", a, NULL, K), OKRA_EARG,
                "exactly one of sigma and gamma");
    CHECK_FAILS(try_gram(NULL, "jitter(gamma=1,width=3)", a, NULL, K), OKRA_ESHAPE,
                "rows of 3");
    okra_data_free(a);
}

/* Terms of 4 objects: all carry the first, two the second, none the last. */
TEST(information_content)
{
    const double x[] = {1, 1, 0, 0, 1, 0, 1, 0, 1, 1, 0, 0, 1, 0, 0, 0},
                 t[] = {1, 1, 0, 1};
    const double w1 = log(2), w2 = log(4);
    const okra_int indptr[] = {0, 2, 4, 6, 7}, indices[] = {0, 1, 0, 2, 0, 1, 0};
    const double ones[] = {1, 1, 1, 1, 1, 1, 1};
    const unsigned char packed[] = {3, 5, 3, 1};
    const double expected[] = {w1 * w1, 0, w1 * w1, 0, 0, w2 * w2, 0, 0,
                               w1 * w1, 0, w1 * w1, 0, 0, 0,       0, 0};
    double K[16];
    okra_data *a[3] = {NULL}, *b = NULL;
    CHECK_OK(okra_data_dense(x, 4, 4, 4, &a[0]));
    CHECK_OK(okra_data_sparse(indptr, indices, ones, 4, 4, &a[1]));
    CHECK_OK(okra_data_bits(packed, 4, 4, 1, &a[2]));
    for (int k = 0; k < 3; k++) {
        CHECK_OK(try_gram(NULL, "ic", a[k], NULL, K));
        CHECK_NEAR(harness_relative(16, K, expected), 0, 1e-15);
        CHECK_OK(try_gram(NULL, "ic | rbf(sigma=1)", a[k], NULL, K));
        CHECK_NEAR(K[1], exp(-(w1 * w1 + w2 * w2) / 2), 1e-15);
    }
    CHECK_OK(okra_data_dense(t, 1, 4, 4, &b));
    CHECK_OK(try_gram(NULL, "ic", b, a[0], K));
    CHECK_NEAR(K[0], w1 * w1, 1e-15);
    CHECK(K[1] == 0);
    CHECK_OK(try_gram(NULL, "dice", a[2], NULL, K));
    CHECK(K[0] == 1 && K[1] == 0.5 && K[3] == 2.0 / 3);
    okra_data_free(b);
    for (int k = 0; k < 3; k++) {
        okra_data_free(a[k]);
    }
}

static void note(void *user, const char *text)
{
    snprintf(user, 512, "%s", text);
}

static const char *write_costs(const double *costs, okra_int n)
{
    static char path[64];
    okra_data *d = NULL;
    snprintf(path, sizeof path, "/tmp/okra-test-costs-%d.csv", (int)getpid());
    CHECK_OK(okra_data_dense(costs, n, n, n, &d));
    CHECK_OK(okra_data_write(NULL, d, path));
    okra_data_free(d);
    return path;
}

TEST(costs_of_classes)
{
    /* Distances on a line at 0, 1, 3; then no distances at all. */
    const double costs[] = {0, 1, 3, 1, 0, 2, 3, 2, 0},
                 bad[] = {0, 1, 9, 1, 0, 1, 9, 1, 0}, skew[] = {0, 1, 2, 0};
    const okra_int codes[] = {0, 2, 1, 2}, far[] = {3};
    char text[128], warning[512] = "";
    double K[16], G[9], w[3];
    okra_data *y = NULL, *z = NULL;
    okra_context *ctx = NULL;
    CHECK_OK(okra_context_create(&ctx));
    okra_context_set_warning(ctx, note, warning);
    CHECK_OK(okra_data_labels(codes, 4, NULL, 3, &y));
    snprintf(text, sizeof text, "cost(file=%s)", write_costs(costs, 3));
    CHECK_OK(try_gram(ctx, text, y, NULL, K));
    for (int i = 0; i < 16; i++) {
        double d2 = K[i / 4 * 5] + K[i % 4 * 5] - 2 * K[i],
               c = costs[codes[i / 4] * 3 + codes[i % 4]];
        CHECK_NEAR(d2, c * c, 1e-14);
    }
    CHECK(!*warning);
    okra_kernel *kernel = NULL;
    okra_trained_kernel_ *bound = NULL, *again = NULL;
    okra_store_ *store = NULL;
    CHECK_OK(okra_kernel_parse(text, &kernel));
    CHECK_OK(okra_trained_kernel_create_(ctx, kernel, y, &bound));
    CHECK_OK(okra_store_create_(&store));
    CHECK_OK(okra_trained_kernel_save_(bound, store, "ky"));
    write_costs(bad, 3); /* the file changes: a model does not */
    CHECK_OK(okra_trained_kernel_load_(ctx, kernel, y, store, "ky", &again));
    double L[16];
    CHECK_OK(okra_trained_kernel_gram_(ctx, again, okra_mat_of_(L, 4, 4)));
    CHECK(memcmp(K, L, sizeof K) == 0);
    okra_trained_kernel_free_(bound);
    okra_trained_kernel_free_(again);
    okra_store_free_(store);
    okra_kernel_free(kernel);
    okra_data_free(y);
    const okra_int each[] = {0, 1, 2};
    CHECK_OK(okra_data_labels(each, 3, NULL, 3, &y));
    CHECK_OK(try_gram(ctx, text, y, NULL, G));
    CHECK(strstr(warning, "is no matrix of distances"));
    CHECK_OK(okra_eigh_(NULL, okra_mat_of_(G, 3, 3), w));
    CHECK(w[0] > -1e-14 * w[2]);
    CHECK_OK(okra_data_labels(far, 1, NULL, 4, &z));
    CHECK_FAILS(try_gram(ctx, text, z, y, K), OKRA_EARG, "is class 3");
    CHECK_FAILS(try_gram(ctx, text, z, NULL, K), OKRA_ESHAPE, "costs of 3 classes");
    write_costs(skew, 2);
    CHECK_FAILS(try_gram(ctx, text, y, NULL, K), OKRA_EARG,
                "row 0, column 1 (from 0) is 1");
    remove(write_costs(skew, 2));
    CHECK_FAILS(try_gram(ctx, text, y, NULL, K), OKRA_EIO, "okra-test-costs");
    okra_data_free(y);
    okra_data_free(z);
    okra_context_free(ctx);
}

TEST(several_descriptions)
{
    const double x[] = {1, 0, 2, 1, 1, 3};
    const char *texts[] = {"abc", "abd", "b"};
    okra_data *v = NULL, *s = NULL, *t = NULL;
    double A[9], B[9], K[9];
    CHECK_OK(okra_data_dense(x, 3, 2, 2, &v));
    CHECK_OK(okra_data_strings(texts, 3, &s));
    okra_data *parts[] = {v, s};
    CHECK_OK(okra_data_tuple(parts, 2, &t));
    CHECK_OK(try_gram(NULL, "rbf(sigma=1)", v, NULL, A));
    CHECK_OK(try_gram(NULL, "ssk(length=1,decay=1)", s, NULL, B));
    CHECK_OK(try_gram(NULL, "mean(rbf(sigma=1)@1, ssk(length=1,decay=1)@2)", t, NULL, K));
    for (int i = 0; i < 9; i++) {
        CHECK_NEAR(K[i], (A[i] + B[i]) / 2, 1e-15);
    }
    CHECK_FAILS(try_gram(NULL, "linear", t, NULL, K), OKRA_EARG,
                "expected linear@1 to linear@2");
    CHECK_FAILS(try_gram(NULL, "linear@3", t, NULL, K), OKRA_EARG, "2 descriptions");
    CHECK_FAILS(try_gram(NULL, "linear@2", v, NULL, K), OKRA_EARG,
                "1 description of each object, there is no part 2");
    CHECK_FAILS(try_gram(NULL, "linear@2", t, NULL, K), OKRA_EARG, "holds 3 strings");
    CHECK_OK(try_gram(NULL, "linear@1", v, NULL, K));
    okra_data_free(v);
    okra_data_free(s);
    okra_data_free(t);
}

TEST(allocations)
{
    static const char *const of_words[] = {
        "position(poly | normalize)", "position(linear,map=1)", "position(zero-one)"};
    static const char *const of_images[] = {"patches(linear,width=4,patch=3,overlap=1)",
                                            "jitter(gamma=1,width=4)", "ic"};
    words a, b;
    double K[N * N], x[40];
    okra_random_ r = okra_random_create_(4, 0);
    okra_data *v = NULL, *u = NULL;
    okra_context *ctx = NULL;
    CHECK_OK(okra_context_create(&ctx));
    CHECK_OK(okra_context_set_threads(ctx, 1));
    harness_normals(&r, 40, x);
    make_words(1, 3, &a);
    make_words(2, 2, &b);
    CHECK_OK(okra_data_dense(x, 2, 20, 20, &v));
    CHECK_OK(okra_data_dense(x, 1, 20, 20, &u));
    for (int k = 0; k < 3; k++) {
        CHECK_ALLOCATIONS(try_gram(ctx, of_words[k], b.data, a.data, K), (void)0);
        CHECK_ALLOCATIONS(try_gram(ctx, of_images[k], u, v, K), (void)0);
    }
    okra_data_free(a.data);
    okra_data_free(b.data);
    okra_data_free(v);
    okra_data_free(u);
    okra_context_free(ctx);
}

MAIN(RUN(positions), RUN(positions_of_strings), RUN(images), RUN(information_content),
     RUN(costs_of_classes), RUN(several_descriptions), RUN(allocations))
