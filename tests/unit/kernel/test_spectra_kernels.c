/*
 * test_spectra_kernels.c: kernels of spectra against plain double loops over all peaks.
 */
#include "grams.h"

#include "data/spectra/spectra.h"

#include <math.h>

enum { SPECTRA = 40, OTHERS = 23, PEAKS = 12 };

typedef struct peaks {
    int count;
    double mz[PEAKS], height[PEAKS], precursor;
} peaks;

static peaks all[SPECTRA + OTHERS];

/* A few places that many peaks are near, so that pairs meet; the same m/z never twice. */
static void make_peaks(okra_random_ *r, peaks *s)
{
    s->count = 1 + (int)okra_random_below_(r, PEAKS);
    s->precursor = 200 + 10 * (double)okra_random_below_(r, 4);
    for (int k = 0; k < s->count; k++) {
        double base = 50 + 12 * (double)k + (double)okra_random_below_(r, 2);
        s->mz[k] = base + 0.003 * okra_random_normal_(r);
        s->height[k] = 1 + 99 * okra_random_uniform_(r);
    }
}

static okra_data *make_data(const peaks *s, int n)
{
    okra_spectra_builder_ b = {0};
    okra_data *data = NULL;
    CHECK_OK(okra_spectra_begin_(&b));
    for (int i = 0; i < n; i++) {
        char text[32];
        snprintf(text, sizeof text, "%.17g", s[i].precursor);
        for (int k = s[i].count - 1; k >= 0; k--) {
            CHECK_OK(okra_spectra_peak_(&b, s[i].mz[k], s[i].height[k]));
        }
        CHECK_OK(okra_spectra_about_(&b, "PEPMASS", 7, text, strlen(text)));
        CHECK_OK(okra_spectra_close_(&b));
    }
    CHECK_OK(okra_spectra_finish_(&b, "test", &data));
    return data;
}

static double weight(const peaks *s, int k, double power)
{
    double most = 0;
    for (int i = 0; i < s->count; i++) {
        most = fmax(most, s->height[i]);
    }
    return pow(s->height[k] / most, power);
}

/* Two normal densities, each of norm 1, as an integral by the rule of Simpson. */
static double overlap(double a, double s, double b, double t)
{
    enum { STEPS = 4000 };
    double low = fmin(a, b) - 12 * fmax(s, t), high = fmax(a, b) + 12 * fmax(s, t);
    double h = (high - low) / STEPS, sum = 0;
    const double pi = acos(-1.0);
    for (int k = 0; k <= STEPS; k++) {
        double x = low + k * h, u = (x - a) / s, v = (x - b) / t;
        double f = exp(-u * u / 2 - v * v / 2) / (sqrt(pi) * sqrt(s * t));
        sum += f * (k == 0 || k == STEPS ? 1 : k % 2 ? 4 : 2);
    }
    return sum * h / 3;
}

static double lost(const peaks *s, int k)
{
    double loss = s->precursor - s->mz[k];
    return loss > -0.5 && loss < 0.5 ? 0 : loss;
}

typedef struct ppk {
    double ppm, da, power, intensity;
    bool losses;
} ppk;

static double naive_ppk(const ppk *p, const peaks *a, const peaks *b, bool integrate)
{
    double sum = 0;
    for (int i = 0; i < a->count; i++) {
        for (int j = 0; j < b->count; j++) {
            double s = fmax(1e-6 * p->ppm * a->mz[i], p->da);
            double t = fmax(1e-6 * p->ppm * b->mz[j], p->da);
            double u = p->losses ? lost(a, i) : a->mz[i];
            double v = p->losses ? lost(b, j) : b->mz[j];
            double w = weight(a, i, p->power), x = weight(b, j, p->power), d = u - v;
            double g = integrate ? overlap(u, s, v, t)
                                 : sqrt(2 * s * t / (s * s + t * t)) *
                                       exp(-d * d / (2 * (s * s + t * t)));
            bool out = p->losses && (u < 0 || v < 0);
            double e = (w - x) / (2 * fmax(p->intensity, 1e-300));
            sum += out ? 0 : p->intensity > 0 ? g * exp(-e * e) : w * x * g;
        }
    }
    return sum;
}

static void all_pairs(const char *text, const ppk *p)
{
    static double K[SPECTRA * SPECTRA], C[OTHERS * SPECTRA];
    okra_data *train = make_data(all, SPECTRA), *other = make_data(all + SPECTRA, OTHERS);
    gram(text, train, NULL, K);
    gram(text, other, train, C);
    double worst = 0;
    for (int j = 0; j < SPECTRA; j++) {
        for (int i = 0; i < SPECTRA; i++) {
            double want = naive_ppk(p, &all[i], &all[j], false);
            worst = fmax(worst, fabs(K[i * SPECTRA + j] - want) / fmax(want, 1));
        }
        for (int i = 0; i < OTHERS; i++) {
            double want = naive_ppk(p, &all[SPECTRA + i], &all[j], false);
            worst = fmax(worst, fabs(C[i * SPECTRA + j] - want) / fmax(want, 1));
        }
    }
    CHECK_NEAR(worst, 0, 1e-14); /* worst seen: 9e-16 */
    okra_data_free(train);
    okra_data_free(other);
}

static void make_all(uint64_t seed)
{
    okra_random_ r = okra_random_create_(seed, 0);
    for (int i = 0; i < SPECTRA + OTHERS; i++) {
        make_peaks(&r, &all[i]);
    }
}

TEST(ppk_is_the_sum_over_all_pairs_of_peaks)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        make_all(seed);
        all_pairs("ppk", &(ppk){10, 0.001, 0.5, 0, false});
        all_pairs("ppk(ppm=50,da=0,power=1)", &(ppk){50, 0, 1, 0, false});
        all_pairs("ppk(ppm=0,da=0.5,power=0)", &(ppk){0, 0.5, 0, 0, false});
        all_pairs("ppk(ppm=30,intensity=0.2)", &(ppk){30, 0.001, 0.5, 0.2, false});
        all_pairs("ppk(ppm=30,of=losses)", &(ppk){30, 0.001, 0.5, 0, true});
        all_pairs("ppk(of=losses,da=2)", &(ppk){10, 2, 0.5, 0, true});
    }
}

TEST(ppk_is_the_integral_of_a_product)
{
    ppk p = {40, 0.002, 0.5, 0, false};
    make_all(7);
    for (int i = 0; i < 10; i++) {
        double exact = naive_ppk(&p, &all[i], &all[i + 1], false);
        double integral = naive_ppk(&p, &all[i], &all[i + 1], true);
        CHECK_NEAR(exact, integral, 1e-9); /* worst seen: 3e-12 */
    }
}

static double naive_bins(const peaks *a, const peaks *b, double width, bool losses)
{
    double sum = 0;
    for (int i = 0; i < a->count; i++) {
        for (int j = 0; j < b->count; j++) {
            double u = losses ? lost(a, i) : a->mz[i];
            double v = losses ? lost(b, j) : b->mz[j];
            bool out = losses && (u < 0 || v < 0);
            sum += !out && floor(u / width) == floor(v / width)
                       ? weight(a, i, 0.5) * weight(b, j, 0.5)
                       : 0;
        }
    }
    return sum;
}

TEST(bins_add_up_the_weights_in_them)
{
    static double K[SPECTRA * SPECTRA];
    static const char *const texts[] = {"mz-bins", "mz-bins(width=20)",
                                        "mz-bins(width=20,of=losses)"};
    make_all(3);
    okra_data *train = make_data(all, SPECTRA);
    for (int t = 0; t < 3; t++) {
        gram(texts[t], train, NULL, K);
        for (int i = 0; i < SPECTRA; i++) {
            for (int j = 0; j < SPECTRA; j++) {
                double want = naive_bins(&all[i], &all[j], t ? 20 : 0.01, t == 2);
                CHECK_NEAR(K[i * SPECTRA + j], want, 1e-13); /* seen: 7e-15 */
            }
        }
    }
    okra_data_free(train);
}

/* The largest product again and again, over a matrix of all pairs. */
static double naive_match(const peaks *a, const peaks *b, double da, bool modified)
{
    bool used_a[PEAKS] = {false}, used_b[PEAKS] = {false};
    double sum = 0, na = 0, nb = 0, shift = a->precursor - b->precursor;
    for (int i = 0; i < a->count; i++) {
        na += weight(a, i, 0.5) * weight(a, i, 0.5);
    }
    for (int j = 0; j < b->count; j++) {
        nb += weight(b, j, 0.5) * weight(b, j, 0.5);
    }
    for (;;) {
        double best = 0;
        int bi = 0, bj = 0;
        for (int i = 0; i < a->count; i++) {
            for (int j = 0; j < b->count; j++) {
                double d = a->mz[i] - b->mz[j];
                bool near = fabs(d) <= da || (modified && fabs(d - shift) <= da);
                double product = weight(a, i, 0.5) * weight(b, j, 0.5);
                if (near && !used_a[i] && !used_b[j] && product > best) {
                    best = product;
                    bi = i;
                    bj = j;
                }
            }
        }
        if (best == 0) {
            return sum / sqrt(na * nb);
        }
        sum += best;
        used_a[bi] = used_b[bj] = true;
    }
}

TEST(matched_cosines_take_the_largest_products_first)
{
    static double K[SPECTRA * SPECTRA];
    for (int modified = 0; modified < 2; modified++) {
        make_all(11 + (uint64_t)modified);
        okra_data *train = make_data(all, SPECTRA);
        gram(modified ? "mz-match(ppm=0,da=1.2)" : "mz-match(ppm=0,da=1.2,modified=0)",
             train, NULL, K);
        for (int i = 0; i < SPECTRA; i++) {
            for (int j = 0; j < SPECTRA; j++) {
                double want = naive_match(&all[i], &all[j], 1.2, modified);
                CHECK_NEAR(K[i * SPECTRA + j], i == j ? 1 : want, 1e-13);
            }
        }
        okra_data_free(train);
    }
}

/* w / sum w, of few peaks to the power (1 + S) / 4 and again w / sum w. */
static void shares(const peaks *a, double *w)
{
    double entropy = 0, sum = 0, total = 0;
    for (int i = 0; i < a->count; i++) {
        sum += a->height[i];
    }
    for (int i = 0; i < a->count; i++) {
        entropy -= a->height[i] / sum * log(a->height[i] / sum);
    }
    for (int i = 0; i < a->count; i++) {
        w[i] = pow(a->height[i] / sum, entropy < 3 ? (1 + entropy) / 4 : 1);
        total += w[i];
    }
    for (int i = 0; i < a->count; i++) {
        w[i] /= total;
    }
}

static double entropy(const double *w, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++) {
        sum -= w[i] > 0 ? w[i] * log(w[i]) : 0;
    }
    return sum;
}

/* The entropies of both and of what they are together, peaks at the same place as one. */
static double naive_entropy(const peaks *a, const peaks *b)
{
    double u[PEAKS], v[PEAKS], both[2 * PEAKS];
    int count = a->count;
    shares(a, u);
    shares(b, v);
    for (int i = 0; i < a->count; i++) {
        both[i] = u[i] / 2;
    }
    for (int j = 0; j < b->count; j++) {
        int i = 0;
        while (i < a->count && a->mz[i] != b->mz[j]) {
            i++;
        }
        if (i < a->count) {
            both[i] += v[j] / 2;
        } else {
            both[count++] = v[j] / 2;
        }
    }
    return 1 - (2 * entropy(both, count) - entropy(u, a->count) - entropy(v, b->count)) /
                   log(4);
}

TEST(spectral_entropy_is_that_of_both_together)
{
    static double K[SPECTRA * SPECTRA];
    double worst = 0;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        make_all(seed);
        for (int i = 0; i < SPECTRA; i++) { /* places that are equal or far apart */
            for (int k = 0; k < all[i].count; k++) {
                all[i].mz[k] = round(all[i].mz[k]);
            }
        }
        okra_data *train = make_data(all, SPECTRA);
        gram("mz-match(score=entropy,power=1,modified=0)", train, NULL, K);
        for (int i = 0; i < SPECTRA * SPECTRA; i++) {
            double want = naive_entropy(&all[i / SPECTRA], &all[i % SPECTRA]);
            worst = fmax(worst, fabs(K[i] - want));
        }
        okra_data_free(train);
    }
    CHECK_NEAR(worst, 0, 1e-14); /* worst seen: 1e-15 */
}

static okra_data *some_spectra(const double *mz, const char *const *about, okra_int n)
{
    static const okra_int offsets[] = {0, 1, 2, 3, 4};
    static const double height[] = {1, 1, 1, 1};
    okra_data *data = NULL;
    CHECK_OK(okra_data_spectra(offsets, mz, height, about, n, &data));
    return data;
}

/* The width in ppm is that of the larger m/z, whichever spectrum comes first, and a
 * difference that is the width in decimals is within it. */
TEST(matches_do_not_depend_on_which_comes_first)
{
    static const struct {
        const char *text;
        double mz[2];
        const char *about[2];
        double want;
    } pairs[] = {
        {"mz-match", {300, 1400.0125}, {"PEPMASS=400\n", "PEPMASS=1500\n"}, 1},
        {"mz-match", {300, 1400.0145}, {"PEPMASS=400\n", "PEPMASS=1500\n"}, 0},
        {"mz-match", {100.03, 100.04}, {"PEPMASS=400\n", "PEPMASS=400\n"}, 1},
        {"mz-match", {100.03, 100.0401}, {"PEPMASS=400\n", "PEPMASS=400\n"}, 0},
        {"mz-match(da=0.3)", {100.1, 250.5}, {"PEPMASS=400.2\n", "PEPMASS=550.3\n"}, 1},
        {"mz-match(da=0.3)", {100.1, 250.7}, {"PEPMASS=400.2\n", "PEPMASS=550.3\n"}, 0},
        {"mz-match(ppm=100,da=0)", {200, 200.02}, {"PEPMASS=400\n", "PEPMASS=400\n"}, 1},
        {"mz-match(da=0.3)", {100.1, 100.5}, {"PEPMASS=400.1\n", "PEPMASS=400.3\n"}, 1},
    };
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        const double turned[] = {pairs[k].mz[1], pairs[k].mz[0]};
        const char *const about[] = {pairs[k].about[1], pairs[k].about[0]};
        double K[4];
        okra_data *one = some_spectra(pairs[k].mz, pairs[k].about, 2);
        okra_data *two = some_spectra(turned, about, 2);
        gram(pairs[k].text, one, two, K); /* both orders of the pair: K[0] and K[3] */
        CHECK_NEAR(K[0], pairs[k].want, 1e-15);
        CHECK_NEAR(K[3], pairs[k].want, 1e-15);
        okra_data_free(one);
        okra_data_free(two);
    }
    make_all(5);
    static double K[SPECTRA * SPECTRA];
    okra_data *train = make_data(all, SPECTRA), *same = make_data(all, SPECTRA);
    gram("mz-match(ppm=20000,da=0.002)", train, same, K);
    for (int i = 0; i < SPECTRA; i++) {
        for (int j = 0; j < i; j++) {
            CHECK(K[i * SPECTRA + j] == K[j * SPECTRA + i]);
        }
    }
    okra_data_free(train);
    okra_data_free(same);
}

/* What is left of the precursor has lost nothing, wherever the last digits put it. */
TEST(the_precursor_itself_has_lost_nothing)
{
    static const char *const about[] = {"PEPMASS=180.0634\n", "PEPMASS=180.0634\n",
                                        "PEPMASS=180.0634\n", "PEPMASS=180.0634\n"};
    static const double mz[] = {180.0634, 180.06339, 180.06341, 162.0528};
    static const char *const texts[] = {"ppk(of=losses)", "mz-bins(of=losses)"};
    double K[16];
    okra_data *data = some_spectra(mz, about, 4);
    for (int t = 0; t < 2; t++) {
        gram(texts[t], data, NULL, K);
        for (int i = 0; i < 16; i++) {
            CHECK_NEAR(K[i], (i % 4 < 3) == (i < 12), 1e-13); /* widths differ: 3e-15 */
        }
    }
    okra_data_free(data);
}

TEST(precursors_and_what_is_not_told)
{
    static double K[SPECTRA * SPECTRA];
    make_all(2);
    okra_data *train = make_data(all, SPECTRA), *bare = NULL;
    gram("precursor(sigma=7)", train, NULL, K);
    for (int i = 0; i < SPECTRA; i++) {
        double d = (all[i].precursor - all[0].precursor) / 7;
        CHECK_NEAR(K[i], exp(-d * d / 2), 1e-15);
    }
    const okra_int offsets[] = {0, 1, 2};
    const double mz[] = {50, 60}, height[] = {1, 2};
    CHECK_OK(okra_data_spectra(offsets, mz, height, NULL, 2, &bare));
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"precursor", "memory: spectrum 0 (counted from 0) does not tell the precursor "
                      "m/z"},
        {"ppk(of=losses)", "memory: spectrum 0 (counted from 0) does not tell the "
                           "precursor m/z"},
        {"ppk(ppm=0,da=0)", "kernel ppk: ppm and da are both 0: peaks have no width"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        okra_kernel *kernel = parse(bad[k].text);
        CHECK_FAILS(okra_gram(NULL, kernel, bare, NULL, K, 2), OKRA_EARG, bad[k].message);
        okra_kernel_free(kernel);
    }
    okra_kernel *kernel = parse("mz-match");
    CHECK_FAILS(okra_gram(NULL, kernel, bare, NULL, K, 2), OKRA_EARG, bad[1].message);
    okra_kernel_free(kernel);
    gram("mz-match(modified=0)", bare, NULL, K);
    CHECK_NEAR(K[1], 0, 0);
    okra_data_free(train);
    okra_data_free(bare);
}

/* Of three spectra one tells no precursor: it has no losses and no shift, and is 0
 * against all in kernels of precursors; only a strict context stops at it. */
TEST(a_spectrum_without_a_precursor)
{
    static const char *const about[] = {"PEPMASS=100\n", "TITLE=bare\n", "PEPMASS=114\n"};
    const okra_int offsets[] = {0, 1, 2, 3};
    const double mz[] = {50, 64, 64}, height[] = {1, 2, 3};
    double K[9];
    okra_data *data = NULL;
    okra_context *strict = NULL;
    CHECK_OK(okra_context_create(&strict));
    CHECK_OK(okra_context_set_strict(strict, 1));
    CHECK_OK(okra_data_spectra(offsets, mz, height, about, 3, &data));
    static const struct {
        const char *text;
        double want[9];
    } kernels[] = {{"ppk(of=losses)", {1, 0, 1, 0, 0, 0, 1, 0, 1}},
                   {"mz-match", {1, 0, 1, 0, 1, 1, 1, 1, 1}},
                   {"precursor(sigma=1e6)", {1, 0, 1, 0, 0, 0, 1, 0, 1}}};
    for (int k = 0; k < 3; k++) {
        gram(kernels[k].text, data, NULL, K);
        for (int i = 0; i < 9; i++) {
            CHECK_NEAR(K[i], kernels[k].want[i], 1e-9);
        }
        okra_kernel *kernel = parse(kernels[k].text);
        CHECK_FAILS(okra_gram(strict, kernel, data, NULL, K, 3), OKRA_EARG,
                    "memory: spectrum 1 (counted from 0) does not tell the precursor");
        okra_kernel_free(kernel);
    }
    okra_data_free(data);
    okra_context_free(strict);
}

TEST(fields_are_numbers_or_texts)
{
    static const char *const about[] = {"COLLISION_ENERGY=Ramp 20-35 eV\nINSTRUMENT=A\n",
                                        "COLLISION_ENERGY=35.5V\nINSTRUMENT=B\n",
                                        "COLLISION_ENERGY=none\nINSTRUMENT=A\n",
                                        "TITLE=x\nINSTRUMENT=\n"};
    static const double mz[] = {50, 60, 70, 80}, numbers[] = {20, 35.5};
    double K[16], C[16];
    okra_data *data = some_spectra(mz, about, 4), *other = some_spectra(mz, about, 2);
    gram("field(sigma=10,floor=0.25)", data, NULL, K);
    gram("field(sigma=10,floor=0.25)", other, data, C);
    for (int i = 0; i < 4; i++) { /* what tells no number is like itself alone */
        for (int j = 0; j < 4; j++) {
            double d = i < 2 && j < 2 ? (numbers[i] - numbers[j]) / 10 : 0;
            double want = (i < 2) == (j < 2) ? exp(-d * d / 2) : 0;
            CHECK_NEAR(K[i * 4 + j], 0.25 + 0.75 * want, 1e-15);
            CHECK_NEAR(i < 2 ? C[i * 4 + j] : K[i * 4 + j], K[i * 4 + j], 0);
        }
    }
    gram("field(name=INSTRUMENT)", data, NULL, K);
    for (int i = 0; i < 16; i++) {
        CHECK_NEAR(K[i], (i / 4 == i % 4) || (i / 4 + i % 4 == 2 && i % 2 == 0), 0);
    }
    okra_kernel *kernel = parse("field(name=INSTRUMNT)");
    CHECK_FAILS(okra_gram(NULL, kernel, data, NULL, K, 4), OKRA_EARG,
                "memory: spectrum 0 (counted from 0) does not tell INSTRUMNT");
    okra_kernel_free(kernel);
    okra_data_free(data);
    okra_data_free(other);
}

static okra_status one_gram(const okra_data *data, const char *text, double *K)
{
    okra_kernel *kernel = NULL;
    okra_status st = okra_kernel_parse(text, &kernel);
    st = st == OKRA_OK ? okra_gram(NULL, kernel, data, NULL, K, okra_data_count(data))
                       : st;
    okra_kernel_free(kernel);
    return st;
}

TEST(lack_of_memory_is_told)
{
    static double K[SPECTRA * SPECTRA];
    make_all(1);
    okra_data *train = make_data(all, SPECTRA);
    static const char *const texts[] = {"ppk | normalize", "mz-bins", "mz-match",
                                        "precursor", "field(name=PEPMASS,sigma=5)"};
    for (int t = 0; t < 5; t++) {
        CHECK_ALLOCATIONS(one_gram(train, texts[t], K), (void)0);
    }
    okra_data_free(train);
}

MAIN(RUN(ppk_is_the_sum_over_all_pairs_of_peaks), RUN(ppk_is_the_integral_of_a_product),
     RUN(bins_add_up_the_weights_in_them),
     RUN(matched_cosines_take_the_largest_products_first),
     RUN(spectral_entropy_is_that_of_both_together),
     RUN(matches_do_not_depend_on_which_comes_first),
     RUN(the_precursor_itself_has_lost_nothing), RUN(precursors_and_what_is_not_told),
     RUN(a_spectrum_without_a_precursor), RUN(fields_are_numbers_or_texts),
     RUN(lack_of_memory_is_told))
