/*
 * Weak predictions: whatever the size of the weights, candidates stand in the order of
 * l(y,y) - 2 <h, phi(y)>, and where l(y,y) is constant in that of the inner products. The
 * weights of every problem are made smaller by 2^-100, about 1e-30.
 */
#include "decoding.h"
#include "okra/more/objects.h"

enum { N = 40, TESTS = 12, D = 3, TOP = 9 };
static const double WEAK = 0x1p-100;

static void shrink(const double *W, okra_int count, double *out)
{
    for (okra_int i = 0; i < count; i++) {
        out[i] = W[i] * WEAK;
    }
}

/* Dense vectors: 0 and 1 with repeated norms, of norm 1, or any. */
static okra_data *vectors(okra_random_ *r, const char *kind)
{
    static double values[2 * N * D * 4];
    okra_int d = strcmp(kind, "sets") == 0 ? 2 * D : D;
    for (okra_int i = 0; i < N; i++) {
        double *y = values + i * d, norm = 0;
        for (okra_int j = 0; j < d; j++) {
            y[j] = d > D ? (double)okra_random_below_(r, 2) : okra_random_normal_(r);
            norm += y[j] * y[j];
        }
        for (okra_int j = 0; strcmp(kind, "unit") == 0 && j < d; j++) {
            y[j] /= sqrt(norm);
        }
        y[0] += strcmp(kind, "shifted") == 0 ? 1e3 : 0;
        y[0] = d > D ? 1 : y[0];
    }
    return dense_copy(values, N, d);
}

static void search(const outputs *o, const okra_data *set, double *W, const double *extra,
                   okra_decoded_ *out)
{
    const okra_decoder_ *d = okra_decoder_find_("candidates");
    const okra_option_table *table = &d->options;
    okra_options *options = NULL;
    void *state = NULL;
    double e[TESTS];
    okra_decode_request_ q = {.candidates = set, .tests = TESTS, .top = TOP};
    CHECK_OK(okra_options_create(&table, 1, &options));
    CHECK_OK(okra_decoder_open_(NULL, d, &o->output, options, &q, &state));
    for (okra_int first = 0; first < TESTS; first += 5) {
        okra_int m = OKRA_MIN_(5, TESTS - first);
        okra_block_ b = {.first = first, .m = m, .W = okra_mat_of_(W + first * N, m, N)};
        if (extra) {
            memcpy(e, extra + first, (size_t)m * sizeof *e);
            b.extra = okra_mat_of_(e, m, 1);
        }
        CHECK_OK(d->block(NULL, state, &b));
    }
    CHECK_OK(d->finish(NULL, state, out));
    okra_decoder_close_(d, state);
    okra_options_free(options);
}

/* Which of two candidates stands first: by self where it differs by more than rounding,
 * else by the inner product; `doubt` where neither tells. */
static bool stands_first(double self_a, double inner_a, double self_b, double inner_b,
                         bool *doubt)
{
    if (fabs(self_a - self_b) > 1e-13 * fabs(self_a)) {
        return self_a < self_b;
    }
    *doubt = fabs(inner_a - inner_b) <= 1e-13 * (fabs(inner_a) + fabs(inner_b));
    return inner_a > inner_b;
}

/* Every candidate that was left out stands behind the last one chosen. */
static void check_order(const outputs *o, const okra_data *set, const double *W,
                        const okra_decoded_ *d)
{
    double C[N * N], self[N];
    okra_test_side_ *other = NULL;
    CHECK_OK(okra_test_side_create_(NULL, o->bound, set, &other));
    CHECK_OK(okra_test_side_cross_(NULL, o->bound, other, 0, okra_mat_of_(C, N, N)));
    CHECK_OK(okra_test_side_diagonal_(NULL, o->bound, other, self));
    for (okra_int t = 0; t < TESTS; t++) {
        const okra_int *index = d->index + t * TOP;
        double inner[N];
        bool chosen[N] = {false}, doubt = false;
        for (okra_int c = 0; c < N; c++) {
            inner[c] = okra_dot_(N, W + t * N, C + c * N);
        }
        for (okra_int k = 0; k < TOP; k++) {
            chosen[index[k]] = true;
            if (k > 0) {
                okra_int a = index[k - 1], b = index[k];
                CHECK(stands_first(self[a], inner[a], self[b], inner[b], &doubt) ||
                      doubt);
            }
        }
        for (okra_int c = 0; c < N; c++) {
            okra_int a = index[TOP - 1];
            CHECK(chosen[c] ||
                  stands_first(self[a], inner[a], self[c], inner[c], &doubt) || doubt);
            doubt = false;
        }
    }
    okra_test_side_free_(other);
}

TEST(candidates)
{
    static const struct {
        const char *kernel, *kind;
    } cases[] = {{"rbf(sigma=1)", "any"},
                 {"rbf(sigma=0.2)", "any"},
                 {"linear", "unit"},
                 {"linear", "sets"},
                 {"linear", "any"},
                 {"linear", "shifted"},
                 {"3*linear", "sets"},
                 {"poly(degree=2)", "any"},
                 {"poly(degree=2)", "unit"},
                 {"poly(degree=2)", "sets"},
                 {"linear | normalize", "any"},
                 {"linear | tanimoto", "sets"},
                 {"laplacian(gamma=1)", "shifted"}};
    for (int c = 0; c < (int)(sizeof cases / sizeof *cases) * 10; c++) {
        okra_random_ r = okra_random_create_((uint64_t)c, 1);
        const char *kernel = cases[c / 10].kernel, *kind = cases[c / 10].kind;
        double W[TESTS * N], weak[TESTS * N];
        outputs o;
        outputs_open(&o, kernel, vectors(&r, kind));
        okra_data *set = vectors(&r, kind);
        random_weights(&r, TESTS, N, W);
        shrink(W, TESTS * N, weak);
        for (int own = 0; own < 2; own++) {
            okra_decoded_ d = {0};
            search(&o, own ? NULL : set, weak, NULL, &d);
            check_order(&o, own ? o.y : set, W, &d);
            okra_decoded_clear_(&d);
        }
        okra_data_free(set);
        outputs_close(&o);
    }
}

/* J = -e s - 2 w'l with s = 1: the order is that of the inner products too. */
TEST(criterion)
{
    for (uint64_t seed = 0; seed < 10; seed++) {
        okra_random_ r = okra_random_create_(seed, 2);
        okra_criterion_ criterion = {.kl = false};
        double W[TESTS * N], weak[TESTS * N], e[TESTS];
        outputs o;
        okra_decoded_ d = {0};
        outputs_open(&o, "rbf(sigma=0.5)", vectors(&r, "any"));
        o.output.criterion = &criterion;
        random_weights(&r, TESTS, N, W);
        shrink(W, TESTS * N, weak);
        for (int t = 0; t < TESTS; t++) {
            e[t] = okra_random_uniform_(&r);
        }
        search(&o, NULL, weak, e, &d);
        check_order(&o, o.y, W, &d);
        okra_decoded_clear_(&d);
        outputs_close(&o);
    }
}

/* Two outputs far apart, and a prediction between them that is near neither. */
TEST(two_far_points)
{
    double y[] = {0, 0, 5, 5}, W[] = {5e-27, 2.6e-18};
    okra_data *data = NULL;
    okra_decoded_ d = {0};
    outputs o;
    CHECK_OK(okra_data_dense(y, 2, 2, 2, &data));
    outputs_open(&o, "rbf(sigma=1)", data);
    CHECK_OK(decode(NULL, &o, "candidates", "", W, 1, NULL, 1, &d));
    CHECK(d.index && d.index[0] == 1);
    okra_decoded_clear_(&d);
    outputs_close(&o);
}

/* Do weak weights decode to the same objects, up to `tolerance` where they are vectors?
 */
static void check_same(const outputs *o, const char *decoder, const char *settings,
                       double *W, const okra_int *lengths, double tolerance)
{
    static double weak[TESTS * N];
    okra_decoded_ a = {0}, b = {0};
    shrink(W, TESTS * N, weak);
    CHECK_OK(decode(NULL, o, decoder, settings, W, TESTS, lengths, 5, &a));
    CHECK_OK(decode(NULL, o, decoder, settings, weak, TESTS, lengths, 5, &b));
    for (okra_int t = 0; t < TESTS && a.objects && b.objects; t++) {
        if (a.objects->kind == OKRA_STRINGS) {
            okra_int m, n;
            const int32_t *s = okra_data_characters(a.objects, t, &m);
            const int32_t *u = okra_data_characters(b.objects, t, &n);
            CHECK(m == n && memcmp(s, u, (size_t)m * sizeof *s) == 0);
            continue;
        }
        const double *s = a.objects->values + t * a.objects->ld;
        const double *u = b.objects->values + t * b.objects->ld;
        for (okra_int j = 0; j < a.objects->d; j++) {
            CHECK_NEAR(u[j], s[j], tolerance);
        }
    }
    okra_decoded_clear_(&a);
    okra_decoded_clear_(&b);
}

static okra_data *words(okra_random_ *r, int shortest, int longest)
{
    static char text[N][8];
    const char *texts[N];
    okra_data *data = NULL;
    for (int i = 0; i < N; i++) {
        int length = shortest + (int)okra_random_below_(r, longest - shortest + 1);
        for (int j = 0; j < length; j++) {
            text[i][j] = (char)('a' + okra_random_below_(r, 3));
        }
        text[i][length] = '\0';
        texts[i] = text[i];
    }
    CHECK_OK(okra_data_strings(texts, N, &data));
    return data;
}

TEST(objects_that_are_made_up)
{
    static const struct {
        const char *decoder, *kernel, *settings;
        double tolerance;
    } cases[] = {{"gradient", "rbf(sigma=1)", "", 1e-9},
                 {"gradient", "rbf(sigma=1)", "box=-0.5,0.5", 1e-9},
                 {"fixed-point", "rbf(sigma=1)", "", 1e-9},
                 {"labels", "rbf(sigma=1)", "", 0},
                 {"labels", "linear | tanimoto", "", 0},
                 {"string", "spectrum(k=2) | normalize", "", 0},
                 {"string", "ssk(length=2,decay=0.5) | normalize", "", 0},
                 {"position", "position(zero-one)", "", 0}};
    for (int c = 0; c < (int)(sizeof cases / sizeof *cases) * 5; c++) {
        okra_random_ r = okra_random_create_((uint64_t)c, 3);
        const char *decoder = cases[c / 5].decoder;
        bool text = strcmp(decoder, "string") == 0 || strcmp(decoder, "position") == 0;
        okra_int lengths[TESTS];
        double W[TESTS * N];
        outputs o;
        outputs_open(&o, cases[c / 5].kernel,
                     text ? words(&r, 2, 5)
                          : vectors(&r, strcmp(decoder, "labels") == 0 ? "sets" : "any"));
        random_weights(&r, TESTS, N, W);
        for (int t = 0; t < TESTS; t++) {
            lengths[t] = 1 + t % 5;
        }
        check_same(&o, decoder, cases[c / 5].settings, W,
                   strcmp(decoder, "position") == 0 ? lengths : NULL,
                   cases[c / 5].tolerance);
        outputs_close(&o);
    }
}

/* Under the plain spectrum kernel the nearest string to a weak prediction has the fewest
 * substrings, one, and of all such strings it is the one with most weight. */
TEST(weak_spectrum)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        okra_random_ r = okra_random_create_(seed, 4);
        double W[TESTS * N], weak[TESTS * N];
        outputs o;
        okra_decoded_ d = {0};
        outputs_open(&o, "spectrum(k=2)", words(&r, 2, 5));
        random_weights(&r, TESTS, N, W);
        shrink(W, TESTS * N, weak);
        CHECK_OK(decode(NULL, &o, "string", "", weak, TESTS, NULL, 5, &d));
        for (okra_int t = 0; t < TESTS && d.objects; t++) {
            double g[9] = {0}, most = -INFINITY;
            okra_int length;
            for (okra_int i = 0; i < N; i++) {
                const int32_t *s = okra_data_characters(o.y, i, &length);
                for (okra_int j = 0; j + 1 < length; j++) {
                    g[(s[j] - 'a') * 3 + s[j + 1] - 'a'] += W[t * N + i];
                }
            }
            for (int u = 0; u < 9; u++) {
                most = fmax(most, g[u]);
            }
            const int32_t *s = okra_data_characters(d.objects, t, &length);
            CHECK(length == 2);
            CHECK_NEAR(g[(s[0] - 'a') * 3 + s[1] - 'a'], most, 1e-13);
        }
        okra_decoded_clear_(&d);
        outputs_close(&o);
    }
}

MAIN(RUN(candidates), RUN(criterion), RUN(two_far_points), RUN(objects_that_are_made_up),
     RUN(weak_spectrum))
