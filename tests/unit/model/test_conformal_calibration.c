/* Pairs that are held back and kept in a model. */
#include "conformal_naive.h"
#include "okra/more/conformal.h"

#include <unistd.h>

static okra_data *dense(const double *values, int n, int d)
{
    okra_data *data = NULL;
    CHECK_OK(okra_data_dense(values, n, d, d, &data));
    return data;
}

TEST(held_pairs_and_the_rest_are_all_pairs)
{
    okra_context *ctx = NULL;
    CHECK_OK(okra_context_create(&ctx));
    for (uint64_t seed = 0; seed < 40; seed++) {
        okra_random_ r = okra_random_create_(seed, 1);
        okra_data *parts[4] = {NULL}, *again[4] = {NULL};
        double x[40] = {0}, y[40] = {0};
        int n = 2 + (int)okra_random_below_(&r, 20), more = (int)(seed % 3);
        double share = 0.3 + 0.4 * okra_random_uniform_(&r);
        okra_int held = (okra_int)floor(share * n + 0.5), ld;
        bool seen[40] = {false};
        for (int i = 0; i < 40; i++) {
            x[i] = i;
            y[i] = 10 * i;
        }
        okra_data *X = dense(x, n + more, 1), *Y = dense(y, n, 1);
        okra_context_set_seed(ctx, seed);
        CHECK_OK(okra_pairs_split(ctx, X, Y, share, parts));
        CHECK_OK(okra_pairs_split(ctx, X, Y, share, again));
        CHECK(okra_data_count(parts[0]) == n + more - held);
        CHECK(okra_data_count(parts[1]) == n - held);
        CHECK(okra_data_count(parts[2]) == held && okra_data_count(parts[3]) == held);
        for (int k = 0; k < 4; k += 2) {
            const double *a = okra_data_values(parts[k], &ld);
            const double *b = okra_data_values(parts[k + 1], &ld);
            const double *c = okra_data_values(again[k], &ld);
            for (okra_int i = 0; i < okra_data_count(parts[k]); i++) {
                CHECK(!seen[(int)a[i]]);
                seen[(int)a[i]] = true;
                CHECK_NEAR(a[i], c[i], 0);
                if (i < okra_data_count(parts[k + 1])) {
                    CHECK_NEAR(b[i], 10 * a[i], 0);
                } else {
                    CHECK(a[i] >= n); /* without an output */
                }
            }
        }
        for (int k = 0; k < 4; k++) {
            okra_data_free(parts[k]);
            okra_data_free(again[k]);
        }
        okra_data_free(X);
        okra_data_free(Y);
    }
    okra_context_free(ctx);
}

/* Settings of an older caller end before the groups, those of a newer one go on. */
static void check_sizes(const okra_model *model, const okra_data *t, const okra_data *c,
                        const okra_conformal_settings *s, const double *want)
{
    struct {
        okra_conformal_settings known;
        int64_t later;
    } other = {*s, 0};
    double p[MOST * MOST];
    size_t bytes = (size_t)(okra_data_count(t) * okra_data_count(c)) * sizeof *p;
    other.known.size = offsetof(okra_conformal_settings, groups);
    other.known.groups = other.known.test_groups = c; /* is not read */
    other.known.by_class = true;
    CHECK_OK(okra_conformal_p_values(NULL, model, t, c, &other.known, p));
    CHECK(memcmp(p, want, bytes) == 0);
    other.known = *s;
    other.known.size = sizeof other;
    CHECK_OK(okra_conformal_p_values(NULL, model, t, c, &other.known, p));
    CHECK(memcmp(p, want, bytes) == 0);
    other.later = 1;
    CHECK_FAILS(okra_conformal_p_values(NULL, model, t, c, &other.known, p),
                OKRA_EUNSUPPORTED, "does not know");
    other.known.size = 0;
    CHECK_FAILS(okra_conformal_p_values(NULL, model, t, c, &other.known, p), OKRA_EARG,
                "OKRA_SIZED");
}

/* With and without a file, p-values are those of pairs that are given. */
TEST(a_model_keeps_them)
{
    for (uint64_t seed = 0; seed < 10; seed++) {
        task k, other;
        double given[MOST * MOST], kept[MOST * MOST], loaded[MOST * MOST];
        char path[] = "/tmp/okra-calibration-XXXXXX";
        okra_conformal_settings s;
        okra_model *again = NULL;
        const okra_data *got = NULL;
        task_make(seed, false, &k);
        task_make(seed + 500, false, &other);
        okra_model *model = task_fit(&k);
        okra_data *t = dense(k.t, k.tests, P), *c = dense(k.c, k.count, D);
        okra_data *cx = dense(other.x, other.n, P), *cy = dense(other.y, other.n, D);
        s = (okra_conformal_settings){OKRA_SIZED(okra_conformal_settings)};
        s.calibration_x = cx;
        s.calibration_y = cy;
        CHECK_OK(okra_conformal_p_values(NULL, model, t, c, &s, given));
        check_sizes(model, t, c, &s, given);
        CHECK(okra_model_calibration(model, NULL, NULL) == 0);
        CHECK_OK(okra_model_set_calibration(model, cx, cy));
        CHECK_OK(okra_model_set_calibration(model, cx, cy)); /* takes the place */
        CHECK(okra_model_calibration(model, &got, NULL) == other.n);
        CHECK(okra_data_count(got) == other.n);
        CHECK_OK(okra_conformal_p_values(NULL, model, t, c, NULL, kept));
        int file = mkstemp(path);
        CHECK(file >= 0);
        close(file);
        CHECK_OK(seed % 2 ? okra_model_save(NULL, model, NULL, path)
                          : okra_model_save(
                                NULL, model,
                                (&(okra_save_request){OKRA_SIZED(okra_save_request),
                                                      .compact = OKRA_COMPACT_YES}),
                                path));
        CHECK_OK(okra_model_load(NULL, path, &again));
        CHECK_OK(okra_conformal_p_values(NULL, again, t, c, NULL, loaded));
        for (int e = 0; e < k.tests * k.count; e++) {
            CHECK_NEAR(kept[e], given[e], 0);
            CHECK_NEAR(loaded[e], given[e], 1e-12);
        }
        CHECK(strstr(okra_model_json(again), "\"calibration\""));
        CHECK_OK(okra_model_set_calibration(again, NULL, NULL));
        CHECK(!strstr(okra_model_json(again), "\"calibration\""));
        CHECK(okra_model_calibration(again, &got, NULL) == 0 && !got);
        okra_model_free(again);
        okra_model_free(model);
        unlink(path);
        okra_data_free(t);
        okra_data_free(c);
        okra_data_free(cx);
        okra_data_free(cy);
    }
}

/* Of distances alone: by kept pairs as split has it, by training pairs as refits have it.
 */
TEST(distances_have_the_same_p_values)
{
    for (uint64_t seed = 0; seed < 30; seed++) {
        task k, other;
        double want[MOST * MOST] = {0}, distance[MOST * MOST] = {0}, p[MOST * MOST];
        okra_int pairs = 0;
        task_make(seed, seed % 3 == 0, &k);
        task_make(seed + 500, false, &other);
        okra_model *model = task_fit(&k);
        okra_data *t = dense(k.t, k.tests, P), *c = dense(k.c, k.count, D);
        okra_data *cx = dense(other.x, other.n, P), *cy = dense(other.y, other.n, D);
        int all = k.tests * k.count;
        for (int e = 0; e < all; e++) {
            double variance;
            distance[e] = naive_distance(&k, k.n, k.x, k.y, k.t + e / k.count * P,
                                         k.c + e % k.count * D, &variance);
        }
        CHECK_FAILS(okra_conformal_distances(NULL, model, false, distance, all, p, NULL),
                    OKRA_EARG, "the model keeps no pairs to calibrate with");
        CHECK_OK(okra_model_set_calibration(model, cx, cy));
        okra_conformal_settings plain = {OKRA_SIZED(okra_conformal_settings),
                                         .score = "distance"};
        CHECK_OK(okra_conformal_p_values(NULL, model, t, c, &plain, want));
        CHECK_OK(okra_conformal_distances(NULL, model, false, distance, all, p, &pairs));
        CHECK(pairs == other.n);
        for (int e = 0; e < all; e++) {
            CHECK_NEAR(p[e], want[e], 1e-12);
        }
        CHECK_OK(okra_conformal_distances(NULL, model, true, distance, all, p, &pairs));
        CHECK(pairs == k.n);
        for (int e = 0; e < all; e++) {
            int more = 1;
            for (int i = 0; i < k.n; i++) {
                more += naive_least(naive_score(&k, k.n, k.x, k.y, i, "distance"),
                                    distance[e]);
            }
            CHECK_NEAR(p[e], (double)more / (k.n + 1), 1e-12);
        }
        okra_model_free(model);
        okra_data_free(t);
        okra_data_free(c);
        okra_data_free(cx);
        okra_data_free(cy);
    }
}

TEST(what_does_not_fit_is_refused)
{
    task k;
    okra_data *parts[4] = {NULL}, *gram = NULL;
    task_make(1, false, &k);
    okra_model *model = task_fit(&k);
    okra_data *x = dense(k.x, 3, P), *y = dense(k.y, 3, D), *few = dense(k.y, 2, D);
    okra_data *narrow = dense(k.y, 3, 1);
    CHECK_OK(okra_data_gram(k.x, 3, 3, 3, NULL, &gram));
    CHECK_FAILS(okra_model_set_calibration(model, x, NULL), OKRA_EARG, "go together");
    CHECK_FAILS(okra_model_set_calibration(model, x, few), OKRA_ESHAPE, "3 inputs and 2");
    CHECK_FAILS(okra_model_set_calibration(model, x, narrow), OKRA_ESHAPE,
                "outputs are dense of width 1");
    CHECK_FAILS(okra_model_set_calibration(model, gram, y), OKRA_EUNSUPPORTED,
                "precomputed");
    CHECK_FAILS(okra_model_set_calibration(NULL, x, y), OKRA_EARG, "NULL");
    CHECK_FAILS(okra_pairs_split(NULL, x, y, 0, parts), OKRA_EARG, "share is 0");
    CHECK_FAILS(okra_pairs_split(NULL, x, y, (double)NAN, parts), OKRA_EARG, "share is");
    CHECK_FAILS(okra_pairs_split(NULL, x, y, 0.01, parts), OKRA_ESHAPE,
                "leaves 3 to learn from and 0");
    CHECK_FAILS(okra_pairs_split(NULL, gram, y, 0.5, parts), OKRA_EUNSUPPORTED,
                "cannot be parted");
    CHECK_FAILS(okra_pairs_split(NULL, few, y, 0.5, parts), OKRA_ESHAPE, "2 inputs");
    CHECK(!parts[0] && okra_model_calibration(NULL, NULL, NULL) == 0);
    CHECK_ALLOCATIONS(
        okra_pairs_split(NULL, x, y, 0.5, parts),
        for (int i = 0; i < 4; i++) { okra_data_free(parts[i]); });
    CHECK_ALLOCATIONS(okra_model_set_calibration(model, x, y),
                      (void)(okra_model_set_calibration(model, NULL, NULL) == OKRA_OK));
    okra_model_free(model);
    okra_data_free(x);
    okra_data_free(y);
    okra_data_free(few);
    okra_data_free(narrow);
    okra_data_free(gram);
}

TEST(numbers_are_cut_into_groups)
{
    const double values[] = {-1, 0, 0.5, 1, 7, (double)NAN}, cuts[] = {0, 1};
    const okra_int want[] = {0, 1, 1, 2, 2};
    okra_data *numbers = dense(values, 5, 1), *pair = dense(values, 2, 2), *out = NULL;
    okra_int length = 0;
    CHECK_OK(okra_groups_cut(numbers, cuts, 2, &out));
    CHECK(okra_data_count(out) == 5 && okra_data_width(out) == 3);
    for (int i = 0; i < 5; i++) {
        CHECK(okra_data_codes(out)[i] == want[i]);
    }
    CHECK(strncmp(okra_data_text(out, 1, &length), "0 to 1", 6) == 0 && length == 6);
    okra_data_free(out);
    out = NULL;
    CHECK_FAILS(okra_groups_cut(numbers, cuts, 0, &out), OKRA_EARG, "no cut");
    CHECK_FAILS(okra_groups_cut(pair, cuts, 2, &out), OKRA_ESHAPE, "width 2");
    CHECK_FAILS(okra_groups_cut(numbers, values + 4, 2, &out), OKRA_EARG, "growing");
    CHECK_ALLOCATIONS(okra_groups_cut(numbers, cuts, 2, &out), okra_data_free(out));
    okra_data_free(numbers);
    okra_data_free(pair);
}

MAIN(RUN(held_pairs_and_the_rest_are_all_pairs), RUN(a_model_keeps_them),
     RUN(distances_have_the_same_p_values), RUN(what_does_not_fit_is_refused),
     RUN(numbers_are_cut_into_groups))
