/*
 * The decoder rewrite: its order and distances against sums written out, several inputs,
 * odd words, and what it refuses.
 */
#include "decoding.h"

#include "data/strings.h"
#include "edits_kernel.h"

enum { N = 16, TESTS = 6, TOP = 8 };

static const char *const verbs[N] = {"walk", "stop",    "beg",   "try",  "sing", "ring",
                                     "hope", "like",    "fit",   "plan", "cry",  "play",
                                     "go",   "undergo", "drink", "pat"};
static const char *const pasts[N] = {
    "walked", "stopped", "begged", "tried",  "sang", "rang",      "hoped", "liked",
    "fitted", "planned", "cried",  "played", "went", "underwent", "drank", "patted"};
static const char *const fresh[TESTS] = {"talk", "hop", "fry", "spring", "ΩΩ", ""};

static okra_data *words(const char *const *texts, okra_int n)
{
    okra_data *data = NULL;
    CHECK_OK(okra_data_strings(texts, n, &data));
    return data;
}

/* Runs the decoder on all tests at once or in blocks. */
static okra_status rewrite(okra_context *ctx, const outputs *o, const okra_data *inputs,
                           const char *const *settings, double *W, okra_int rows,
                           okra_int top, okra_decoded_ *out)
{
    okra_status st = OKRA_OK;
    const okra_decoder_ *d = okra_decoder_find_("rewrite");
    const okra_option_table *table = &d->options;
    okra_options *options = NULL;
    okra_decode_request_ q = {
        .tests = inputs->n, .top = top, .inputs = inputs, .runner_up = top > 1};
    TRY(okra_options_create(&table, 1, &options));
    for (; *settings; settings += 2) {
        TRY(okra_options_set(options, settings[0], settings[1]));
    }
    TRY(decode_blocks(ctx, d, o, options, &q, W, rows, out));
done:
    okra_options_free(options);
    return st;
}

/* Squared distance among edits: the votes, and the kernel summed over all pairs. */
static double among_edits(const okra_data *x, const okra_data *y, okra_word_ input,
                          okra_word_ output, const double *w)
{
    okra_rulebook_ *book = NULL;
    okra_votes_ votes = {0};
    double score = 0, far;
    CHECK_OK(okra_rulebook_create_(x, y, &book));
    CHECK_OK(okra_votes_create_(book, &votes));
    okra_votes_count_(book, w, &votes);
    CHECK_OK(okra_votes_score_(book, &votes, input, output, &score));
    far = 1 - 2 * score;
    for (okra_int i = 0; i < N; i++) {
        for (okra_int j = 0; j < N; j++) {
            far += w[i] * w[j] * edits_kernel(book, i, j);
        }
    }
    okra_votes_clear_(&votes);
    okra_rulebook_free_(book);
    return far;
}

static okra_word_ word_of(const okra_data *data, okra_int i)
{
    okra_word_ w;
    w.code = okra_characters_(data, i, &w.length);
    return w;
}

TEST(distances_and_order)
{
    static const char *const ranks[] = {"outputs", "edits", "both"};
    static const char *const kernels[] = {"ends", "spectrum(k=1)",
                                          "ssk(length=2,decay=0.5) | normalize"};
    okra_random_ r = okra_random_create_(3, 3);
    double W[TESTS * N];
    random_weights(&r, TESTS, N, W);
    for (int c = 0; c < 9; c++) {
        int rest = c, which = pick(&rest, 3), k = pick(&rest, 3);
        const char *settings[] = {"rank", ranks[which], NULL};
        okra_data *x = words(verbs, N), *test = words(fresh, TESTS);
        outputs o;
        okra_decoded_ d = {0};
        outputs_open(&o, kernels[k], words(pasts, N));
        o.output.x = x;
        double scale = 0, self[N], *far = NULL;
        CHECK_OK(okra_trained_kernel_diagonal_(NULL, o.bound, self));
        for (int i = 0; i < N; i++) {
            scale += self[i] / N;
        }
        CHECK_OK(rewrite(NULL, &o, test, settings, W, TESTS, TOP, &d));
        CHECK(d.proposals && d.objects && d.top == TOP);
        far = okra_alloc_(d.proposals ? d.proposals->n : 0, sizeof *far);
        for (int t = 0; t < TESTS && d.proposals; t++) {
            double before = -1;
            all_distances(&o, d.proposals, W + t * N, far);
            for (int p = 0; p < TOP && d.index[t * TOP + p] >= 0; p++) {
                okra_int at = d.index[t * TOP + p];
                double edits = among_edits(x, o.y, word_of(test, t),
                                           word_of(d.proposals, at), W + t * N);
                double want = which == 0   ? far[at]
                              : which == 1 ? edits
                                           : edits + far[at] / scale;
                if (isinf(far[at]) && which != 1) {
                    continue; /* no features: behind all others */
                }
                CHECK_NEAR(d.distance[t * TOP + p], fmax(want, 0), 1e-12);
                CHECK(d.distance[t * TOP + p] >= before - 1e-12);
                before = d.distance[t * TOP + p];
            }
            okra_word_ best = word_of(d.objects, t),
                       first = word_of(d.proposals, d.index[t * TOP]);
            CHECK(best.length == first.length &&
                  memcmp(best.code, first.code, (size_t)best.length * 4) == 0);
            CHECK(d.report[4 * t] == d.distance[t * TOP]);
            CHECK(d.report[4 * t + 1] >= 1 && d.report[4 * t + 3] == 1);
            CHECK(d.runner_up[t] > d.distance[t * TOP]);
        }
        okra_free_(far);
        okra_decoded_clear_(&d);
        outputs_close(&o);
        okra_data_free(x);
        okra_data_free(test);
    }
}

/* Weights on like verbs make the right forms, by every way to rank. */
TEST(inflects)
{
    static const char *const ranks[] = {"outputs", "edits", "both"};
    static const char *const want[] = {"talked", "hopped", "fried", "sprang"};
    static const int like[4][2] = {{0, 0}, {1, 15}, {3, 10}, {4, 5}};
    double W[4 * N] = {0};
    for (int t = 0; t < 4; t++) {
        W[t * N + like[t][0]] += 0.6;
        W[t * N + like[t][1]] += 0.3;
    }
    for (int k = 0; k < 3; k++) {
        const char *settings[] = {"rank", ranks[k], NULL};
        okra_data *x = words(verbs, N), *test = words(fresh, 4);
        outputs o;
        okra_decoded_ d = {0};
        outputs_open(&o, "ends", words(pasts, N));
        o.output.x = x;
        CHECK_OK(rewrite(NULL, &o, test, settings, W, 4, 1, &d));
        for (int t = 0; t < 4 && d.objects; t++) {
            char *text = NULL;
            CHECK_OK(okra_string_text_(d.objects, t, &text));
            CHECK_TEXT(text, want[t]);
            okra_free_(text);
        }
        okra_decoded_clear_(&d);
        outputs_close(&o);
        okra_data_free(x);
        okra_data_free(test);
    }
}

TEST(blocks_and_threads_change_nothing)
{
    static const char *const none[] = {NULL};
    okra_random_ r = okra_random_create_(5, 3);
    double W[TESTS * N];
    okra_context *ctx = NULL;
    okra_data *x = words(verbs, N), *test = words(fresh, TESTS);
    outputs o;
    okra_decoded_ a = {0}, b = {0};
    random_weights(&r, TESTS, N, W);
    CHECK_OK(okra_context_create(&ctx));
    CHECK_OK(okra_context_set_threads(ctx, 1));
    outputs_open(&o, "ends", words(pasts, N));
    o.output.x = x;
    CHECK_OK(rewrite(NULL, &o, test, none, W, TESTS, 3, &a));
    CHECK_OK(rewrite(ctx, &o, test, none, W, 1, 3, &b));
    for (int t = 0; t < TESTS * 3 && a.index && b.index; t++) {
        CHECK(a.index[t] == b.index[t]);
        CHECK_NEAR(a.distance[t], b.distance[t], 1e-13);
    }
    okra_decoded_clear_(&a);
    okra_decoded_clear_(&b);
    outputs_close(&o);
    okra_context_free(ctx);
    okra_data_free(x);
    okra_data_free(test);
}

/* One training pair, no weight at all: the one rule where it fits, else the input. */
TEST(one_pair)
{
    static const char *const none[] = {NULL};
    double W[TESTS] = {1, 1, 1, 0, 0, 0};
    okra_data *x = words(verbs + 3, 1), *test = words(fresh, TESTS);
    outputs o;
    okra_decoded_ d = {0};
    outputs_open(&o, "ends", words(pasts + 3, 1));
    o.output.x = x;
    CHECK_OK(rewrite(NULL, &o, test, none, W, TESTS, 2, &d));
    for (int t = 0; t < TESTS && d.objects; t++) {
        char *text = NULL;
        CHECK_OK(okra_string_text_(d.objects, t, &text));
        CHECK_TEXT(text, t == 2 ? "fried" : fresh[t]);
        CHECK((d.index[2 * t + 1] < 0) == (t != 2));
        okra_free_(text);
    }
    okra_decoded_clear_(&d);
    outputs_close(&o);
    okra_data_free(x);
    okra_data_free(test);
}

/* Of several inputs the one most like the outputs; or the one that is asked for. */
TEST(several_inputs)
{
    static const char *const none[] = {NULL}, *second[] = {"input", "2", NULL},
                             *third[] = {"input", "3", NULL},
                             *fourth[] = {"input", "4", NULL};
    static const okra_int codes[N] = {0};
    okra_data *parts[3] = {words(pasts + 1, N - 1), words(verbs, N), NULL}, *x = NULL,
              *test = NULL, *wrong = NULL;
    const char *noise[N];
    double W[N] = {1};
    outputs o;
    okra_decoded_ d = {0};
    for (int i = 0; i < N; i++) {
        noise[i] = "zzzzzzzzzzz";
    }
    okra_data_free(parts[0]);
    parts[0] = words(noise, N);
    CHECK_OK(okra_data_labels(codes, N, NULL, 1, &parts[2]));
    CHECK_OK(okra_data_tuple(parts, 3, &x));
    okra_int first = 0;
    CHECK_OK(okra_data_take(x, &first, 1, &test));
    outputs_open(&o, "ends", words(pasts, N));
    o.output.x = x;
    CHECK_OK(rewrite(NULL, &o, test, none, W, 1, 1, &d));
    CHECK(d.report && d.report[3] == 2);
    okra_decoded_clear_(&d);
    CHECK_OK(rewrite(NULL, &o, test, second, W, 1, 1, &d));
    okra_decoded_clear_(&d);
    CHECK_FAILS(rewrite(NULL, &o, test, third, W, 1, 1, &d), OKRA_EARG,
                "input is 3, which does not hold strings");
    CHECK_FAILS(rewrite(NULL, &o, test, fourth, W, 1, 1, &d), OKRA_EARG,
                "input is 4, which is more than there are");
    wrong = words(verbs, 1);
    CHECK_FAILS(rewrite(NULL, &o, wrong, none, W, 1, 1, &d), OKRA_ESHAPE,
                "1 inputs a test point, expected 3");
    o.output.x = parts[2];
    CHECK_FAILS(rewrite(NULL, &o, parts[2], none, W, 1, 1, &d), OKRA_EUNSUPPORTED,
                "needs an input of strings");
    o.output.x = parts[1];
    CHECK_FAILS(rewrite(NULL, &o, parts[2], none, W, 1, 1, &d), OKRA_ESHAPE,
                "must be strings");
    outputs_close(&o);
    okra_data_free(wrong);
    okra_data_free(test);
    okra_data_free(x);
    for (int p = 0; p < 3; p++) {
        okra_data_free(parts[p]);
    }
}

TEST(refusals)
{
    static const char *const none[] = {NULL};
    okra_data *x = words(verbs, N), *test = words(fresh, 2), *few = words(verbs, 3),
              *dense = NULL;
    double W[2 * N] = {0.5}, point[2] = {1, 2};
    outputs o;
    okra_decoded_ d = {0};
    outputs_open(&o, "ends", words(pasts, N));
    CHECK_FAILS(rewrite(NULL, &o, test, none, W, 2, 1, &d), OKRA_EUNSUPPORTED,
                "needs all training inputs");
    o.output.x = few;
    CHECK_FAILS(rewrite(NULL, &o, test, none, W, 2, 1, &d), OKRA_EUNSUPPORTED,
                "needs all training inputs");
    o.output.x = x;
    okra_criterion_ criterion = {0};
    o.output.criterion = &criterion;
    CHECK_FAILS(rewrite(NULL, &o, test, none, W, 2, 1, &d), OKRA_EUNSUPPORTED,
                "a criterion of its own");
    o.output.criterion = NULL;
    CHECK_ALLOCATIONS(rewrite(NULL, &o, test, none, W, 2, 2, &d),
                      okra_decoded_clear_(&d));
    outputs_close(&o);
    CHECK_OK(okra_data_dense(point, 2, 1, 1, &dense));
    outputs_open(&o, "rbf(sigma=1)", dense);
    o.output.x = x;
    CHECK_FAILS(rewrite(NULL, &o, test, none, W, 2, 1, &d), OKRA_EUNSUPPORTED,
                "needs strings as outputs; these are dense");
    outputs_close(&o);
    okra_data_free(x);
    okra_data_free(few);
    okra_data_free(test);
}

MAIN(RUN(distances_and_order), RUN(inflects), RUN(blocks_and_threads_change_nothing),
     RUN(one_pair), RUN(several_inputs), RUN(refusals))
