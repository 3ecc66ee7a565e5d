/* Kernels of bags against the double loop over their members; bags chosen and joined. */
#include "grams.h"
#include "okra/more/objects.h"

enum { N = 9, M = 5, D = 3, MOST = 5 };

typedef struct bags {
    okra_int n, offsets[N + 1];
    double x[N * MOST * D];
    okra_data *members, *data;
} bags;

/* sparse: about half of the values are 0. */
static void make_bags(uint64_t seed, okra_int n, bool sparse, bags *b)
{
    okra_random_ r = okra_random_create_(seed, 1);
    okra_int indptr[N * MOST + 1] = {0}, indices[N * MOST * D], stored = 0;
    double values[N * MOST * D];
    b->n = n;
    b->offsets[0] = 0;
    for (okra_int i = 0; i < n; i++) {
        b->offsets[i + 1] = b->offsets[i] + 1 + okra_random_below_(&r, MOST);
    }
    harness_normals(&r, N * MOST * D, b->x);
    for (okra_int k = 0; k < b->offsets[n]; k++) {
        for (okra_int j = 0; j < D; j++) {
            double *x = &b->x[k * D + j];
            *x = sparse && okra_random_below_(&r, 2) ? 0 : *x;
            if (*x != 0) {
                indices[stored] = j;
                values[stored++] = *x;
            }
        }
        indptr[k + 1] = stored;
    }
    CHECK_OK(
        sparse ? okra_data_sparse(indptr, indices, values, b->offsets[n], D, &b->members)
               : okra_data_dense(b->x, b->offsets[n], D, D, &b->members));
    CHECK_OK(okra_data_bags(b->members, b->offsets, n, &b->data));
}

static void free_bags(bags *b)
{
    okra_data_free(b->members);
    okra_data_free(b->data);
}

static double value(const bags *a, okra_int p, const bags *b, okra_int q, bool linear)
{
    double dot = 0, d2 = 0;
    for (okra_int j = 0; j < D; j++) {
        double x = a->x[p * D + j], z = b->x[q * D + j];
        dot += x * z;
        d2 += (x - z) * (x - z);
    }
    return linear ? 2 * dot : exp(-d2 / 2);
}

enum { MEAN, MAX, MATCH };

static double naive(const bags *a, okra_int i, const bags *b, okra_int j, bool linear,
                    int how)
{
    double sum = 0, most = -INFINITY, rows = 0, cols = 0;
    double m = (double)(a->offsets[i + 1] - a->offsets[i]);
    double n = (double)(b->offsets[j + 1] - b->offsets[j]);
    for (okra_int p = a->offsets[i]; p < a->offsets[i + 1]; p++) {
        double best = -INFINITY;
        for (okra_int q = b->offsets[j]; q < b->offsets[j + 1]; q++) {
            double k = value(a, p, b, q, linear);
            sum += k;
            best = fmax(best, k);
        }
        most = fmax(most, best);
        rows += best;
    }
    for (okra_int q = b->offsets[j]; q < b->offsets[j + 1]; q++) {
        double best = -INFINITY;
        for (okra_int p = a->offsets[i]; p < a->offsets[i + 1]; p++) {
            best = fmax(best, value(a, p, b, q, linear));
        }
        cols += best;
    }
    return how == MEAN ? sum / m / n : how == MAX ? most : (rows / m + cols / n) / 2;
}

/* Worst error over the largest value, 40 seeds: 6e-16. */
TEST(naive_forms)
{
    static const struct {
        const char *text;
        bool linear, normalized;
        int how;
    } cases[] = {{"bag(2*linear)", true, false, MEAN},
                 {"bag(rbf(sigma=1))", false, false, MEAN},
                 {"bag(rbf(sigma=1)) | normalize", false, true, MEAN},
                 {"bag(2*linear, mean) | normalize", true, true, MEAN},
                 {"bag(rbf(sigma=1),max)", false, false, MAX},
                 {"bag(2*linear,how=max) | normalize", true, true, MAX},
                 {"bag(rbf(sigma=1),how=match) | normalize", false, true, MATCH}};
    for (uint64_t seed = 0; seed < SOME(40); seed++) {
        bags a, b;
        double K[N * N], C[M * N];
        make_bags(seed, N, seed % 2, &a);
        make_bags(seed + 1000, M, seed % 2, &b);
        for (size_t t = 0; t < sizeof cases / sizeof *cases; t++) {
            gram(cases[t].text, a.data, NULL, K);
            gram(cases[t].text, b.data, a.data, C);
            for (okra_int i = 0; i < N + M; i++) {
                const bags *left = i < N ? &a : &b;
                okra_int r = i < N ? i : i - N;
                for (okra_int j = 0; j < N; j++) {
                    bool linear = cases[t].linear;
                    int how = cases[t].how;
                    double want = naive(left, r, &a, j, linear, how), scale = 20;
                    double ll = naive(left, r, left, r, linear, how);
                    double rr = naive(&a, j, &a, j, linear, how);
                    if (cases[t].normalized) {
                        want = ll > 0 && rr > 0 ? want / sqrt(ll * rr) : 0;
                        scale = 1;
                    }
                    /* cosines of means near 0 lose what the means lost */
                    double weak = cases[t].normalized ? fmin(1, fmin(ll, rr)) : 1;
                    double got = i < N ? K[r * N + j] : C[r * N + j];
                    if (weak > 1e-6) {
                        CHECK_NEAR(got, want, 1e-14 * scale / weak);
                    }
                }
            }
        }
        free_bags(&a);
        free_bags(&b);
    }
}

/* A bag of one object is the object; a bag twice is the bag. */
TEST(simple)
{
    bags a;
    double K[N * N], L[N * N];
    okra_int one[N * MOST + 1], twice[] = {3, 0, 3};
    okra_data *singles = NULL, *some = NULL, *both = NULL;
    make_bags(7, N, false, &a);
    for (okra_int k = 0; k <= N; k++) {
        one[k] = k;
    }
    okra_data *few = NULL;
    okra_int first[N];
    memcpy(first, one, sizeof first);
    CHECK_OK(okra_data_take(a.members, first, N, &few));
    CHECK_OK(okra_data_bags(few, one, N, &singles));
    gram("bag(rbf(sigma=1),match)", singles, NULL, K);
    gram("rbf(sigma=1)", few, NULL, L);
    for (okra_int k = 0; k < N * N; k++) {
        CHECK_NEAR(K[k], L[k], 1e-15);
    }
    CHECK_OK(okra_data_take(a.data, twice, 3, &some));
    gram("bag(rbf(sigma=1))", some, NULL, K);
    CHECK(K[0] == K[2] && K[0] == K[8] && K[1] == K[7]);
    okra_int place[3];
    CHECK_OK(okra_data_match(some, a.data, place));
    CHECK(place[0] == 3 && place[1] == 0 && place[2] == 3);
    CHECK_OK(okra_data_concat(some, a.data, &both));
    CHECK(okra_data_count(both) == N + 3);
    double all[(N + 3) * (N + 3)], whole[N * N];
    gram("bag(rbf(sigma=1))", both, NULL, all);
    gram("bag(rbf(sigma=1))", a.data, NULL, whole);
    for (okra_int i = 0; i < N; i++) {
        CHECK_NEAR(all[(i + 3) * (N + 3) + 3], whole[i * N], 1e-15);
    }
    okra_data_free(few);
    okra_data_free(singles);
    okra_data_free(some);
    okra_data_free(both);
    free_bags(&a);
}

/* All peaks of a bag in one spectrum, the largest of each as 1; the first tells the rest.
 */
TEST(merged_spectra)
{
    static const double mz[] = {50, 61, 72, 61, 90, 50, 83, 94, 61};
    static const double height[] = {2, 10, 5, 3, 1, 4, 4, 2, 7};
    static const okra_int peaks[] = {0, 3, 5, 8, 9}, of_bags[] = {0, 2, 4};
    static const char *const about[] = {"PEPMASS=120\nTITLE=a\n", "PEPMASS=130\n",
                                        "PEPMASS=140\n", "TITLE=b\n"};
    static const double joined_mz[] = {50, 61, 72, 90, 50, 83, 94, 61};
    static const double joined[] = {0.2, 2, 0.5, 1.0 / 3, 1, 1, 0.5, 1};
    static const okra_int joined_at[] = {0, 4, 8};
    static const char *const kept[] = {"PEPMASS=120\n", "PEPMASS=140\n"};
    okra_data *members = NULL, *data = NULL, *merged = NULL, *vectors = NULL, *odd = NULL;
    double K[4], L[4], x[4] = {1, 2, 3, 4};
    CHECK_OK(okra_data_spectra(peaks, mz, height, about, 4, &members));
    CHECK_OK(okra_data_bags(members, of_bags, 2, &data));
    CHECK_OK(okra_data_spectra(joined_at, joined_mz, joined, kept, 2, &merged));
    static const char *const inner[] = {"ppk(power=0.25)", "ppk(of=losses)", "precursor",
                                        "mz-match"};
    for (size_t t = 0; t < sizeof inner / sizeof *inner; t++) {
        char text[60];
        snprintf(text, sizeof text, "bag(%s,merge)", inner[t]);
        gram(text, data, NULL, K);
        gram(inner[t], merged, NULL, L);
        for (int k = 0; k < 4; k++) {
            CHECK_NEAR(K[k], L[k], 1e-14);
        }
        gram(text, data, data, L);
        CHECK(L[1] == K[1] && L[2] == K[2]);
    }
    CHECK_ALLOCATIONS(try_gram(NULL, "bag(ppk,merge)", data, NULL, K), (void)0);
    CHECK_OK(okra_data_dense(x, 4, 1, 1, &vectors));
    CHECK_OK(okra_data_bags(vectors, of_bags, 2, &odd));
    CHECK(try_gram(NULL, "bag(linear,merge)", odd, NULL, K) == OKRA_EARG);
    okra_data_free(members);
    okra_data_free(data);
    okra_data_free(merged);
    okra_data_free(vectors);
    okra_data_free(odd);
}

TEST(refusals)
{
    static const okra_int falls[] = {0, 2, 1}, empty[] = {0, 2, 2}, few[] = {0, 1, 2};
    double x[6] = {1, 2, 3, 4, 5, 6}, K[9];
    okra_data *members = NULL, *data = NULL, *again = NULL;
    const okra_int whole[] = {0, 1, 3};
    CHECK_OK(okra_data_dense(x, 3, 2, 2, &members));
    CHECK(okra_data_bags(members, falls, 2, &data) == OKRA_EARG);
    CHECK(okra_data_bags(members, empty, 2, &data) == OKRA_EARG);
    CHECK(okra_data_bags(members, few, 2, &data) == OKRA_ESHAPE);
    CHECK(okra_data_bags(members, NULL, 2, &data) == OKRA_EARG);
    CHECK(okra_data_bags(members, whole, -1, &data) == OKRA_EARG);
    CHECK_OK(okra_data_bags(members, whole, 2, &data));
    CHECK(okra_data_bags(data, few, 2, &again) == OKRA_EARG);
    CHECK(try_gram(NULL, "bag(linear | center)", data, NULL, K) == OKRA_EARG);
    CHECK(try_gram(NULL, "linear", data, NULL, K) == OKRA_EARG);
    CHECK(try_gram(NULL, "bag(linear)", members, NULL, K) == OKRA_EARG);
    CHECK(try_gram(NULL, "bag(linear,least)", data, NULL, K) == OKRA_EARG);
    CHECK(okra_data_offsets(members) == NULL && okra_data_offsets(data)[2] == 3);
    okra_data_free(members);
    okra_data_free(data);
}

MAIN(RUN(naive_forms), RUN(simple), RUN(merged_spectra), RUN(refusals))
