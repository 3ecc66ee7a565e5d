/*
 * The decoders that search nothing, and the loss of undecoded predictions.
 */
#include "space.h"

static space s;

static okra_status decode(const char *name, okra_decode_request_ request, bool embedded,
                          okra_decoded_ *out)
{
    okra_status st = OKRA_OK;
    const okra_decoder_ *decoder = okra_decoder_find_(name);
    void *state = NULL;
    double H[TESTS * WIDTH];
    request.tests = TESTS;
    TRY(okra_decoder_open_(NULL, decoder, &s.output, NULL, &request, &state));
    for (okra_int first = 0; first < TESTS; first += 4) {
        okra_int m = OKRA_MIN_(4, TESTS - first);
        okra_block_ b = block_of(&s, first, m, embedded ? H : NULL);
        TRY(decoder->block(NULL, state, &b));
    }
    TRY(decoder->finish(NULL, state, out));
done:
    okra_decoder_close_(decoder, state);
    return st;
}

/* In the units of y, whatever the scale of the kernel. */
TEST(explicit_equals_weights_times_outputs)
{
    static const char *const kernels[] = {"linear", "0.5*linear"};
    double H[TESTS * WIDTH];
    for (int k = 0; k < 4; k++) {
        okra_decoded_ d = {0};
        okra_decode_request_ q = {.tests = TESTS, .top = 1};
        okra_int ld = 0;
        space_open(&s, kernels[k % 2], k < 2 ? 1 : 50, 1, (uint64_t)k);
        CHECK_OK(decode("explicit", q, k % 2, &d));
        block_of(&s, 0, TESTS, H);
        const double *got = d.objects ? okra_data_values(d.objects, &ld) : H;
        CHECK(d.objects && ld == WIDTH && okra_data_count(d.objects) == TESTS);
        /* ten times the worst over 100 seeds, 5.5e-16 */
        CHECK_NEAR(harness_relative(TESTS * WIDTH, got, H), 0, 5.5e-15);
        CHECK(d.top == 0 && !d.index && !d.distance);
        okra_decoded_clear_(&d);
        space_close(&s);
    }
}

TEST(none_delivers_nothing)
{
    okra_decoded_ d = {0};
    okra_decode_request_ q = {.tests = TESTS, .top = 0};
    space_open(&s, "rbf(gamma=0.3)", 5, 1, 1);
    CHECK_OK(decode("none", q, false, &d));
    CHECK(!d.objects && d.top == 0 && !d.index && !d.distance);
    space_close(&s);
}

TEST(requests_that_make_no_sense_are_refused)
{
    okra_decoded_ d = {0};
    okra_range_ ranges[TESTS] = {{0, 1}};
    okra_decode_request_ plain = {.tests = TESTS, .top = 1};
    space_open(&s, "rbf(gamma=0.3)", 5, 2, 1);
    CHECK_FAILS(decode("explicit", plain, false, &d), OKRA_EUNSUPPORTED,
                "decoder explicit needs outputs with explicit features");
    static const char *const names[] = {"explicit", "none"};
    for (int i = 0; i < 2; i++) {
        okra_decode_request_ set = {.candidates = s.candidates, .tests = TESTS, .top = 1};
        okra_decode_request_ range = {.ranges = ranges, .tests = TESTS, .top = 1};
        okra_decode_request_ top = {.tests = TESTS, .top = 2};
        CHECK_FAILS(decode(names[i], set, false, &d), OKRA_EARG, "takes no candidates");
        CHECK_FAILS(decode(names[i], range, false, &d), OKRA_EARG, "takes no candidates");
        CHECK_FAILS(decode(names[i], top, false, &d), OKRA_EARG,
                    "ranks nothing: top is 2");
    }
    space_close(&s);
}

TEST(decoders_are_found_by_name)
{
    CHECK(okra_decoder_find_("no such decoder") == NULL);
    for (size_t i = 0; okra_decoders_[i]; i++) {
        CHECK(okra_decoder_find_(okra_decoders_[i]->name) == okra_decoders_[i]);
    }
}

/* ---- the loss ---- */

static okra_status losses(okra_int rows, bool embedded, double *each)
{
    okra_status st = OKRA_OK;
    okra_feature_loss_ *loss = NULL;
    double H[TESTS * WIDTH];
    TRY(okra_feature_loss_create_(NULL, &s.output, s.candidates, &loss));
    for (okra_int first = 0; first < TESTS; first += rows) {
        okra_block_ b =
            block_of(&s, first, OKRA_MIN_(rows, TESTS - first), embedded ? H : NULL);
        TRY(okra_feature_loss_block_(NULL, loss, &b, each + first));
    }
done:
    okra_feature_loss_free_(loss);
    return st;
}

/* The candidates of the space are the truth here: one per test point. */
TEST(loss_equals_its_definition)
{
    static const char *const kernels[] = {"rbf(gamma=0.3)", "linear", "0.5*linear"};
    static const okra_int sizes[] = {1, 2, 40, 600};
    double each[TESTS];
    for (int c = 0; c < 3 * 4; c++) {
        space_open(&s, kernels[c % 3], sizes[c / 3], TESTS, (uint64_t)c);
        CHECK_OK(losses(c % 2 ? 4 : TESTS, c % 3 && c % 2, each));
        for (okra_int t = 0; t < TESTS; t++) {
            const double *y = s.C + t * WIDTH;
            /* ten times the worst over 30 seeds, 5.5e-15, in units of 1 + l(y,y) */
            CHECK_NEAR(each[t], distance_of(&s, t, y),
                       5.5e-14 * (1 + value_of(&s, y, y)));
        }
        space_close(&s);
    }
}

/* A prediction that is the truth: rounding may not make the loss negative. */
TEST(loss_is_never_negative)
{
    double each[TESTS];
    space_open(&s, "rbf(gamma=0.3)", 5, TESTS, 1);
    space_collapse(&s);
    CHECK_OK(losses(TESTS, false, each));
    for (int t = 0; t < TESTS; t++) {
        CHECK(each[t] >= 0 && each[t] < 1e-14);
    }
    space_close(&s);
}

TEST(loss_refuses_other_outputs)
{
    const double wide[] = {1, 2, 3, 4};
    okra_data *other = NULL;
    okra_feature_loss_ *loss = NULL;
    double each[TESTS];
    space_open(&s, "rbf(gamma=0.3)", 4, TESTS, 1);
    CHECK_OK(okra_data_dense(wide, 1, 4, 4, &other));
    CHECK_FAILS(okra_feature_loss_create_(NULL, &s.output, other, &loss), OKRA_ESHAPE,
                "the true outputs are 1 dense");
    CHECK_FAILS(losses(4, true, each), OKRA_EUNSUPPORTED, "predicts embeddings");
    okra_data_free(other);
    space_close(&s);
}

TEST(failing_allocations_are_survived)
{
    static const char *const kernels[] = {"rbf(gamma=0.3)", "linear"};
    double each[TESTS];
    for (int k = 0; k < 2; k++) {
        okra_decoded_ d = {0};
        okra_decode_request_ q = {.tests = TESTS, .top = 1};
        space_open(&s, kernels[k], 4, TESTS, 1);
        CHECK_ALLOCATIONS(losses(5, false, each), (void)0);
        if (k == 1) {
            CHECK_ALLOCATIONS(decode("explicit", q, false, &d), okra_decoded_clear_(&d));
        }
        space_close(&s);
    }
}

MAIN(RUN(explicit_equals_weights_times_outputs), RUN(none_delivers_nothing),
     RUN(requests_that_make_no_sense_are_refused), RUN(decoders_are_found_by_name),
     RUN(loss_equals_its_definition), RUN(loss_is_never_negative),
     RUN(loss_refuses_other_outputs), RUN(failing_allocations_are_survived))
