/*
 * The nearest candidates against distances written out one by one.
 */
#include "space.h"

#include "engine/engine.h"

/* Ten times the worst difference over 100 seeds, 1.3e-14, in units of 1 + l(y,y). */
static const double CLOSE = 1.3e-13;

static okra_status decode(okra_context *ctx, space *s, const okra_options *options,
                          okra_decode_request_ request, okra_int rows, bool embedded,
                          okra_decoded_ *out)
{
    okra_status st = OKRA_OK;
    const okra_decoder_ *decoder = okra_decoder_find_("candidates");
    void *state = NULL;
    double H[TESTS * WIDTH];
    request.tests = TESTS;
    TRY(okra_decoder_open_(ctx, decoder, &s->output, options, &request, &state));
    for (okra_int first = 0; first < TESTS; first += rows) {
        okra_int m = OKRA_MIN_(rows, TESTS - first);
        okra_block_ b = block_of(s, first, m, embedded ? H : NULL);
        TRY(decoder->block(ctx, state, &b));
    }
    TRY(decoder->finish(ctx, state, out));
done:
    okra_decoder_close_(decoder, state);
    return st;
}

/* Sorted, without repeats, within the range, with true distances, nothing nearer left
 * out; the decoded object is the first. */
static void check_decoded(const space *s, const okra_decode_request_ *q,
                          const okra_decoded_ *d)
{
    okra_int ld = 0, count = q->candidates ? s->c : s->n;
    const double *set = q->candidates ? s->C : s->Y;
    const double *objects = okra_data_values(d->objects, &ld);
    CHECK(d->top == OKRA_MAX_(q->top, 1));
    CHECK(okra_data_count(d->objects) == TESTS);
    for (okra_int t = 0; t < TESTS; t++) {
        const okra_int *index = d->index + t * d->top;
        const double *distance = d->distance + t * d->top;
        okra_int begin = q->ranges ? q->ranges[t].begin : 0;
        okra_int end = q->ranges ? q->ranges[t].end : count;
        okra_int kept = OKRA_MIN_(d->top, end - begin);
        bool chosen[MOST] = {false};
        for (okra_int k = 0; k < d->top; k++) {
            if (k >= kept) {
                CHECK(index[k] == -1 && isinf(distance[k]));
                continue;
            }
            CHECK(index[k] >= begin && index[k] < end && !chosen[index[k]]);
            CHECK(k == 0 || distance[k] >= distance[k - 1]);
            CHECK(distance[k] >= 0);
            const double *y = set + index[k] * WIDTH;
            CHECK_NEAR(distance[k], distance_of(s, t, y),
                       CLOSE * (1 + value_of(s, y, y)));
            chosen[index[k]] = true;
        }
        for (okra_int c = begin; kept == d->top && c < end; c++) {
            double slack = CLOSE * (1 + value_of(s, set + c * WIDTH, set + c * WIDTH));
            CHECK(chosen[c] ||
                  distance_of(s, t, set + c * WIDTH) >= distance[kept - 1] - slack);
        }
        CHECK(memcmp(objects + t * ld, set + index[0] * WIDTH, sizeof(double) * WIDTH) ==
              0);
    }
}

static space s; /* too large for the stack */

static void check_case(const char *kernel, okra_int n, okra_int c, bool own, okra_int top,
                       const okra_range_ *ranges, okra_int rows, bool embedded)
{
    space_open(&s, kernel, n, c, (uint64_t)(n + c + top));
    okra_decode_request_ q = {.candidates = own ? NULL : s.candidates,
                              .ranges = ranges,
                              .tests = TESTS,
                              .top = top};
    okra_decoded_ d = {0};
    CHECK_OK(decode(NULL, &s, NULL, q, rows, embedded, &d));
    if (d.objects) {
        check_decoded(&s, &q, &d);
    }
    okra_decoded_clear_(&d);
    space_close(&s);
}

TEST(nearest_equal_brute_force)
{
    static const char *const kernels[] = {"rbf(gamma=0.3)", "linear", "0.5*linear"};
    for (int k = 0; k < 3; k++) {
        for (int own = 0; own < 2; own++) {
            check_case(kernels[k], 1, 1, own, 1, NULL, TESTS, false);
            check_case(kernels[k], 2, 5, own, 4, NULL, 1, false);
            check_case(kernels[k], 20, 30, own, 3, NULL, 4, false);
            check_case(kernels[k], 20, 30, own, 0, NULL, TESTS, k > 0);
        }
    }
}

/* More candidates than a panel holds; ranges within, across and beyond panels. */
TEST(panels_and_ranges_equal_brute_force)
{
    okra_range_ ranges[TESTS];
    for (okra_int t = 0; t < TESTS; t++) {
        ranges[t] = (okra_range_){t * 50, t % 3 ? t * 50 + 1 + 60 * t : t * 50 + 3};
    }
    ranges[1] = (okra_range_){OKRA_PANEL_ - 2, OKRA_PANEL_ + 1};
    ranges[2] = (okra_range_){2 * OKRA_PANEL_, 2 * OKRA_PANEL_ + 1};
    static const char *const kernels[] = {"rbf(gamma=0.3)", "linear",
                                          "poly(degree=2,gamma=1,coef0=0)"};
    for (int k = 0; k < 3; k++) {
        check_case(kernels[k], 7, MOST, false, 5, NULL, 4, false);
        check_case(kernels[k], 7, MOST, false, 5, ranges, 4, k == 1);
        check_case(kernels[k], 5, MOST, false, 1, ranges, TESTS, false);
    }
    for (okra_int t = 0; t < TESTS; t++) {
        ranges[t] = (okra_range_){t, 40 + t};
    }
    check_case("rbf(gamma=0.3)", 60, 1, true, 2, ranges, 3, false);
}

/* Labels under a kernel of 0 and 1, weights in halves: distances are exact, ties real. */
TEST(ties_go_to_the_lower_index)
{
    enum { LABELS = 6 };
    const okra_int codes[LABELS] = {1, 0, 1, 2, 0, 1};
    double W[2 * LABELS] = {0, 0.5, 0, 0, 0, 0, 0, 0, 0, 0.5, 0, 0.5};
    const okra_int want[2][LABELS] = {{1, 4, 0, 2, 3, 5}, {0, 2, 3, 5, 1, 4}};
    const okra_decoder_ *decoder = okra_decoder_find_("candidates");
    okra_kernel *kernel = NULL;
    okra_data *y = NULL;
    okra_trained_kernel_ *bound = NULL;
    CHECK_OK(okra_kernel_parse("zero-one", &kernel));
    CHECK_OK(okra_data_labels(codes, LABELS, NULL, 3, &y));
    CHECK_OK(okra_trained_kernel_create_(NULL, kernel, y, &bound));
    okra_output_ output = {.y = y, .ky = bound, .feature_scale = 1};
    for (okra_int top = 1; top <= LABELS; top++) {
        okra_decoded_ d = {0};
        void *state = NULL;
        okra_decode_request_ q = {.tests = 2, .top = top};
        okra_block_ b = {.m = 2, .W = okra_mat_of_(W, 2, LABELS)};
        CHECK_OK(okra_decoder_open_(NULL, decoder, &output, NULL, &q, &state));
        CHECK_OK(decoder->block(NULL, state, &b));
        CHECK_OK(decoder->finish(NULL, state, &d));
        for (okra_int i = 0; i < 2 * top && d.index; i++) {
            CHECK(d.index[i] == want[i / top][i % top]);
        }
        okra_decoded_clear_(&d);
        okra_decoder_close_(decoder, state);
    }
    okra_trained_kernel_free_(bound);
    okra_data_free(y);
    okra_kernel_free(kernel);
}

/* Predictions that are a candidate up to rounding, which goes either way. */
TEST(distances_are_never_negative)
{
    okra_decoded_ d = {0};
    for (int c = 0; c < 20; c++) {
        space_open(&s, "rbf(gamma=0.3)", 5, 3, (uint64_t)c);
        space_collapse(&s);
        okra_decode_request_ q = {
            .candidates = c % 2 ? NULL : s.candidates, .tests = TESTS, .top = 3};
        CHECK_OK(decode(NULL, &s, NULL, q, TESTS, false, &d));
        for (int i = 0; d.distance && i < TESTS * 3; i++) {
            CHECK(d.distance[i] >= 0 && d.distance[i] < 1e-14);
        }
        okra_decoded_clear_(&d);
        space_close(&s);
    }
}

/* ---- objects without features ---- */

static void count_warning(void *user, const char *text)
{
    CHECK(strstr(text, "2 of 9 have zero self-similarity and are left out"));
    ++*(int *)user;
}

TEST(empty_candidates_are_left_out_unless_allowed)
{
    int warnings = 0;
    const okra_option_table *table = &okra_decoder_find_("candidates")->options;
    okra_context *ctx = NULL;
    okra_options *allow = NULL;
    okra_decoded_ d = {0};
    okra_range_ ranges[TESTS];
    space_open(&s, "poly(degree=2,gamma=1,coef0=0)", 4, 9, 1);
    memset(s.C + 3 * WIDTH, 0, sizeof(double) * WIDTH * 2); /* candidates 3 and 4 */
    memset(s.W, 0, sizeof s.W); /* h = 0: both at distance 0 */
    CHECK_OK(okra_context_create(&ctx));
    okra_context_set_warning(ctx, count_warning, &warnings);
    CHECK_OK(okra_options_create(&table, 1, &allow));
    CHECK_OK(okra_options_set(allow, "allow-empty-candidates", "yes"));

    okra_decode_request_ q = {.candidates = s.candidates, .tests = TESTS, .top = 9};
    CHECK_OK(decode(ctx, &s, NULL, q, 2, false, &d));
    CHECK(warnings == 1);
    CHECK(d.index[0] != 3 && d.index[0] != 4 && d.index[7] == -1);
    okra_decoded_clear_(&d);

    CHECK_OK(decode(ctx, &s, allow, q, 2, false, &d));
    CHECK(warnings == 1);
    CHECK(d.index[0] == 3 && d.index[1] == 4 && d.distance[1] == 0 && d.index[8] >= 0);
    okra_decoded_clear_(&d);

    for (int t = 0; t < TESTS; t++) {
        ranges[t] = (okra_range_){t == 6 ? 3 : 2, 5};
    }
    q.ranges = ranges;
    CHECK_FAILS(decode(ctx, &s, NULL, q, 2, false, &d), OKRA_EARG,
                "all in the range of test point 6, 3 to 5, have zero self-similarity");
    memset(s.C, 0, sizeof s.C);
    q.ranges = NULL;
    CHECK_FAILS(decode(ctx, &s, NULL, q, 2, false, &d), OKRA_EARG,
                "all 9 have zero self-similarity");
    okra_options_free(allow);
    okra_context_free(ctx);
    space_close(&s);
}

/* Under a linear kernel the origin is a value like any other. */
TEST(zero_vectors_stay_under_a_linear_kernel)
{
    okra_decoded_ d = {0};
    space_open(&s, "linear", 4, 9, 1);
    memset(s.C + 3 * WIDTH, 0, sizeof(double) * WIDTH);
    memset(s.W, 0, sizeof s.W);
    okra_decode_request_ q = {.candidates = s.candidates, .tests = TESTS, .top = 1};
    CHECK_OK(decode(NULL, &s, NULL, q, TESTS, false, &d));
    CHECK(d.index[0] == 3);
    okra_decoded_clear_(&d);
    space_close(&s);
}

/* ---- what is refused ---- */

TEST(wrong_candidates_are_refused)
{
    const double wide[] = {1, 2, 3, 4};
    const okra_int codes[] = {0, 1};
    okra_data *other = NULL;
    okra_decoded_ d = {0};
    okra_range_ ranges[TESTS];
    for (int t = 0; t < TESTS; t++) {
        ranges[t] = (okra_range_){0, 5};
    }
    static const char *const kernels[] = {"rbf(gamma=0.3)", "linear"};
    for (int k = 0; k < 2; k++) {
        space_open(&s, kernels[k], 4, 5, 1);
        CHECK_OK(okra_data_dense(wide, 1, 4, 4, &other));
        okra_decode_request_ q = {.candidates = other, .tests = TESTS, .top = 1};
        CHECK_FAILS(decode(NULL, &s, NULL, q, 1, false, &d), OKRA_ESHAPE,
                    "the candidates are 1 dense vector");
        okra_data_free(other);
        CHECK_OK(okra_data_labels(codes, 2, NULL, 2, &other));
        q.candidates = other;
        CHECK_FAILS(decode(NULL, &s, NULL, q, 1, false, &d), OKRA_ESHAPE,
                    "expected the kind and width of the training outputs, 4 dense");
        okra_data_free(other);
        CHECK_OK(okra_data_dense(wide, 0, WIDTH, WIDTH, &other));
        q.candidates = other;
        CHECK_FAILS(decode(NULL, &s, NULL, q, 1, false, &d), OKRA_EARG,
                    "the set is empty");
        okra_data_free(other);
        q = (okra_decode_request_){
            .candidates = s.candidates, .ranges = ranges, .tests = TESTS, .top = 1};
        static const okra_range_ bad[] = {{2, 2}, {3, 2}, {-1, 2}, {0, 6}};
        for (int i = 0; i < 4; i++) {
            ranges[7] = bad[i];
            CHECK_FAILS(decode(NULL, &s, NULL, q, 1, false, &d), OKRA_EARG,
                        "the range of test point 7 is");
        }
        ranges[7] = (okra_range_){0, 5};
        space_close(&s);
    }
}

TEST(a_prediction_that_is_no_number_is_reported)
{
    okra_decoded_ d = {0};
    space_open(&s, "rbf(gamma=0.3)", 4, 5, 1);
    s.W[2 * 4] = (double)NAN;
    okra_decode_request_ q = {.tests = TESTS, .top = 1};
    CHECK_FAILS(decode(NULL, &s, NULL, q, 3, false, &d), OKRA_ENUMERIC,
                "test point 2 has no finite distance");
    CHECK_FAILS(decode(NULL, &s, NULL, q, 3, true, &d), OKRA_EUNSUPPORTED,
                "predicts embeddings");
    space_close(&s);
}

/* ---- memory and bits ---- */

/* Panels that the budget has no room to keep are computed anew, to the same bits. */
TEST(a_small_budget_gives_the_same_bits)
{
    okra_context *ctx = NULL;
    okra_decoded_ a = {0}, b = {0};
    if (!okra_engine_is_host_(NULL)) { /* another engine keeps no panels */
        return;
    }
    space_open(&s, "rbf(gamma=0.3)", 30, MOST, 1);
    okra_decode_request_ q = {.candidates = s.candidates, .tests = TESTS, .top = 6};
    CHECK_OK(okra_context_create(&ctx));
    okra_alloc_reset_peak_();
    CHECK_OK(decode(ctx, &s, NULL, q, 3, false, &a));
    okra_int ample = okra_alloc_peak_bytes_();
    /* Half of this holds one panel beside the rest, not all three. */
    okra_int panel = 30 * OKRA_PANEL_ * 8;
    CHECK_OK(okra_context_set_memory(ctx, okra_account_bytes_(ctx) + 5 * panel));
    okra_alloc_reset_peak_();
    CHECK_OK(decode(ctx, &s, NULL, q, 3, false, &b));
    CHECK(okra_alloc_peak_bytes_() < ample);
    CHECK(a.index && b.index &&
          memcmp(a.index, b.index, sizeof *a.index * TESTS * 6) == 0 &&
          memcmp(a.distance, b.distance, sizeof *a.distance * TESTS * 6) == 0);
    okra_decoded_clear_(&a);
    okra_decoded_clear_(&b);
    okra_context_free(ctx);
    space_close(&s);
}

TEST(same_bits_in_every_run)
{
    okra_decoded_ d[2] = {{0}, {0}};
    space_open(&s, "rbf(gamma=0.3)", 40, 700, 1);
    okra_decode_request_ q = {.candidates = s.candidates, .tests = TESTS, .top = 6};
    for (int i = 0; i < 2; i++) {
        okra_context *ctx = NULL;
        CHECK_OK(okra_context_create(&ctx));
        CHECK_OK(okra_context_set_threads(ctx, 2));
        CHECK_OK(decode(ctx, &s, NULL, q, TESTS, false, &d[i]));
        okra_context_free(ctx);
    }
    CHECK(d[0].distance && d[1].distance &&
          memcmp(d[0].distance, d[1].distance, sizeof(double) * TESTS * 6) == 0);
    okra_decoded_clear_(&d[0]);
    okra_decoded_clear_(&d[1]);
    space_close(&s);
}

TEST(failing_allocations_are_survived)
{
    static const char *const kernels[] = {"rbf(gamma=0.3)", "linear"};
    okra_decoded_ d = {0};
    for (int k = 0; k < 4; k++) {
        space_open(&s, kernels[k % 2], 4, 5, 1);
        okra_decode_request_ q = {
            .candidates = k < 2 ? NULL : s.candidates, .tests = TESTS, .top = 2};
        CHECK_ALLOCATIONS(decode(NULL, &s, NULL, q, 6, false, &d),
                          okra_decoded_clear_(&d));
        space_close(&s);
    }
    space_open(&s, "poly(degree=2,gamma=1,coef0=0)", 4, 5, 1);
    memset(s.C, 0, sizeof(double) * WIDTH);
    okra_decode_request_ q = {.candidates = s.candidates, .tests = TESTS, .top = 2};
    CHECK_ALLOCATIONS(decode(NULL, &s, NULL, q, 6, false, &d), okra_decoded_clear_(&d));
    space_close(&s);
}

MAIN(RUN(nearest_equal_brute_force), RUN(panels_and_ranges_equal_brute_force),
     RUN(ties_go_to_the_lower_index), RUN(distances_are_never_negative),
     RUN(empty_candidates_are_left_out_unless_allowed),
     RUN(zero_vectors_stay_under_a_linear_kernel), RUN(wrong_candidates_are_refused),
     RUN(a_prediction_that_is_no_number_is_reported),
     RUN(a_small_budget_gives_the_same_bits), RUN(same_bits_in_every_run),
     RUN(failing_allocations_are_survived))
