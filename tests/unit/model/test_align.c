/*
 * Learned weights of kernels: the programme by its conditions of optimality and against
 * a search over supports, its text in a model, refusals.
 */
#include "harness.h"
#include "model/model.h"
#include "pairs.h"
#include "okra/more/leave.h"

#include <math.h>

enum { KERNELS = 5 };

/* G of random non-negative matrices K_k >= 0 (as those of centred Gram matrices are), a =
 * their products with another. */
static void draw(uint64_t seed, okra_int p, double *G, double *a)
{
    enum { AREA = 12 };
    okra_random_ r = okra_random_create_(seed, 1);
    double K[KERNELS * AREA] = {0}, L[AREA] = {0};
    for (int i = 0; i < AREA; i++) {
        L[i] = okra_random_uniform_(&r);
    }
    for (okra_int i = 0; i < p * AREA; i++) {
        K[i] = okra_random_uniform_(&r);
    }
    for (okra_int k = 0; k < p; k++) {
        a[k] = okra_dot_(AREA, K + k * AREA, L);
        for (okra_int l = 0; l < p; l++) {
            G[k * p + l] = okra_dot_(AREA, K + k * AREA, K + l * AREA);
        }
    }
}

/* w of sum 1 back to the scale of the programme: least w'Mw - 2a'w along its ray. */
static void rescale(okra_int p, const double *G, const double *a, double *w)
{
    double square = 0, linear = 0;
    for (okra_int k = 0; k < p; k++) {
        linear += a[k] * w[k];
        for (okra_int l = 0; l < p; l++) {
            square += w[k] * G[k * p + l] * w[l];
        }
    }
    for (okra_int k = 0; k < p; k++) {
        w[k] *= linear / square;
    }
}

TEST(weights_are_optimal)
{
    for (uint64_t seed = 0; seed < 200; seed++) {
        okra_int p = 1 + (okra_int)seed % KERNELS;
        double G[KERNELS * KERNELS] = {0}, a[KERNELS] = {0}, w[KERNELS] = {0}, sum = 0;
        draw(seed, p, G, a);
        CHECK_OK(okra_align_weights_(NULL, p, G, a, false, w));
        for (okra_int k = 0; k < p; k++) {
            CHECK(w[k] >= 0);
            sum += w[k];
        }
        CHECK_NEAR(sum, 1, 1e-14);
        rescale(p, G, a, w);
        for (okra_int k = 0; k < p; k++) { /* Karush, Kuhn, Tucker */
            double slope = okra_dot_(p, G + k * p, w) - a[k];
            CHECK(w[k] > 0 ? fabs(slope) < 1e-10 * a[k] : slope > -1e-10 * a[k]);
        }
    }
}

TEST(kernels_alone_are_weighed_by_themselves)
{
    double G[4] = {4, 1, 1, 9}, a[2] = {2, 6}, w[2] = {0};
    CHECK_OK(okra_align_weights_(NULL, 2, G, a, true, w));
    CHECK_NEAR(w[0], 1.0 / 3, 1e-15); /* 2/2 and 6/3 */
    CHECK_NEAR(w[1], 2.0 / 3, 1e-15);
}

TEST(kernels_that_say_nothing_get_nothing)
{
    double G[4] = {4, 0, 0, 0}, a[2] = {2, 0}, w[2] = {0}, none[2] = {0, 0};
    CHECK_OK(okra_align_weights_(NULL, 2, G, a, false, w));
    CHECK(w[0] == 1 && w[1] == 0);
    CHECK_FAILS(okra_align_weights_(NULL, 2, G, none, false, w), OKRA_EARG,
                "align: no kernel is aligned with the outputs");
    double twice[4] = {4, 4, 4, 4}, b[2] = {2, 2}; /* one kernel twice */
    CHECK_OK(okra_align_weights_(NULL, 2, twice, b, false, w));
    CHECK_NEAR(w[0] + w[1], 1, 1e-14);
}

static void fails(const pairs *p, const char *kx, okra_status status, const char *text)
{
    okra_options *o = NULL;
    okra_model *model = NULL;
    CHECK_OK(okra_fit_options(&o));
    CHECK_OK(okra_options_set(o, "kx", kx));
    CHECK_FAILS(okra_fit(NULL, p->train_x, p->train_y, o, &model), status, text);
    okra_options_free(o);
}

TEST(models_keep_what_was_learned)
{
    static const char *const kx[] = {
        "align(rbf(sigma=1),linear,rbf(sigma=auto))",
        "align-each(rbf(sigma=1),linear,rbf(sigma=auto))",
        "align-loo(rbf(sigma=1),linear,rbf(sigma=auto))",
        "2*align(rbf(sigma=1),linear)|normalize",
    };
    pairs p;
    pairs_make(2, &p);
    for (int i = 0; i < 4; i++) {
        double before[M] = {0}, after[M] = {0}, mean = 0;
        okra_options *o = NULL;
        okra_model *model = NULL, *loaded = NULL;
        CHECK_OK(okra_fit_options(&o));
        CHECK_OK(okra_options_set(o, "kx", kx[i]));
        CHECK_OK(okra_fit(NULL, p.train_x, p.train_y, o, &model));
        CHECK(strstr(okra_model_json(model), "align.weights") != NULL);
        CHECK_OK(okra_model_save(NULL, model, NULL, files_path("aligned.okra")));
        CHECK_OK(okra_model_load(NULL, files_path("aligned.okra"), &loaded));
        CHECK_OK(okra_model_loss(NULL, model, p.test_x, p.test_y, &mean, before));
        CHECK_OK(okra_model_loss(NULL, loaded, p.test_x, p.test_y, &mean, after));
        CHECK(memcmp(before, after, sizeof before) == 0);
        okra_model_free(model);
        okra_model_free(loaded);
        okra_options_free(o);
    }
    fails(&p, "align(rbf(sigma=1),foo)", OKRA_EARG,
          "kx: kernel 2 of align: kernel expression: unknown kernel 'foo'");
    fails(&p, "align(rbf(sigma=1)", OKRA_EARG, "kx: align( has no end");
    fails(&p, "align()", OKRA_EARG, "kernel 1 of align");
    fails(&p, "align(linear)+align(rbf(sigma=1))", OKRA_EARG,
          "align stands once in a kernel expression");
    fails(&p, "align(align(linear),linear)", OKRA_EARG, "align learns weights from");
    files_clean();
    pairs_free(&p);
}

static okra_status fit_aligned(const pairs *p, const okra_options *o)
{
    okra_model *model = NULL;
    okra_status st = okra_fit(NULL, p->train_x, p->train_y, o, &model);
    okra_model_free(model);
    return st;
}

TEST(allocations_may_fail)
{
    pairs p;
    pairs_make(3, &p);
    okra_options *o = settings_of(okra_fit_options, "kx=align(rbf(sigma=1),linear)");
    CHECK_ALLOCATIONS(fit_aligned(&p, o), (void)0);
    okra_options_free(o);
    pairs_free(&p);
}

MAIN(RUN(weights_are_optimal), RUN(kernels_alone_are_weighed_by_themselves),
     RUN(kernels_that_say_nothing_get_nothing), RUN(models_keep_what_was_learned),
     RUN(allocations_may_fail))
