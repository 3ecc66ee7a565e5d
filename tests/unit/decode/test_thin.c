/*
 * Sparse and bit outputs under a linear kernel, compared by d coefficients, against the
 * same outputs by kernel values: all distances written out. And panels of the training
 * outputs that stay from one prediction to the next.
 */
#include "decoding.h"

enum { N = 37, D = 70, C = 45, TESTS = 9 };

/* Rows of 0 and 1, or of numbers where `numbers` says so; row 5 is empty, 7 equals 3. */
static void fill(okra_random_ *r, okra_int n, bool numbers, double *values)
{
    for (okra_int i = 0; i < n * D; i++) {
        bool in = (okra_random_uniform_(r) < 0.1 || i % D == i / D) && i / D != 5;
        values[i] = in ? (numbers ? okra_random_normal_(r) : 1) : 0;
        values[i] = i / D == 7 ? values[3 * D + i % D] : values[i];
    }
}

static okra_data *as(okra_kind kind, const double *values, okra_int n)
{
    okra_data *data = NULL;
    okra_int indptr[C + 1] = {0}, indices[C * D] = {0}, used = 0;
    double members[C * D] = {0};
    unsigned char packed[C][(D + 7) / 8] = {{0}};
    for (okra_int i = 0; i < n * D; i++) {
        if (values[i] != 0) {
            packed[i / D][i % D / 8] |= (unsigned char)(1 << (i % D % 8));
            members[used] = values[i];
            indices[used++] = i % D;
        }
        indptr[i / D + 1] = used;
    }
    if (kind == OKRA_BITS) {
        CHECK_OK(okra_data_bits(&packed[0][0], n, D, (D + 7) / 8, &data));
    } else {
        CHECK_OK(okra_data_sparse(indptr, indices, members, n, D, &data));
    }
    return data;
}

static void check(okra_kind kind, const char *kernel, bool own, okra_int rows)
{
    okra_random_ r = okra_random_create_(17, (uint64_t)rows);
    double Y[C * D] = {0}, Z[C * D] = {0}, W[TESTS * N], distance[C] = {0};
    const okra_decoder_ *decoder = okra_decoder_find_("candidates");
    fill(&r, N, kind == OKRA_SPARSE, Y);
    fill(&r, C, kind == OKRA_SPARSE, Z);
    random_weights(&r, TESTS, N, W);
    outputs o;
    outputs_open(&o, kernel, as(kind, Y, N));
    okra_data *set = own ? okra_data_retain(o.y) : as(kind, Z, C);
    okra_decode_request_ q = {
        .candidates = own ? NULL : set, .tests = TESTS, .top = set->n};
    void *state = NULL;
    okra_decoded_ d = {0};
    CHECK_OK(okra_decoder_open_(NULL, decoder, &o.output, NULL, &q, &state));
    for (okra_int first = 0; first < TESTS; first += rows) {
        okra_int m = OKRA_MIN_(rows, TESTS - first);
        okra_block_ b = {.first = first, .m = m, .W = okra_mat_of_(W + first * N, m, N)};
        CHECK_OK(decoder->block(NULL, state, &b));
    }
    CHECK_OK(decoder->finish(NULL, state, &d));
    for (okra_int t = 0; t < TESTS && d.index; t++) {
        all_distances(&o, set, W + t * N, distance);
        const okra_int *index = d.index + t * set->n;
        double norm = 0; /* the distance of the origin, a point like any other */
        for (okra_int j = 0; j < D; j++) {
            double h = 0;
            for (okra_int i = 0; i < N; i++) {
                h += W[t * N + i] * Y[i * D + j];
            }
            norm += (kernel[0] == '3' ? 3 : 1) * h * h;
        }
        for (okra_int k = 0; k < set->n; k++) {
            distance[k] = isinf(distance[k]) ? norm : distance[k];
        }
        for (okra_int k = 0; k < set->n; k++) {
            CHECK_NEAR(d.distance[t * set->n + k], distance[index[k]], 1e-12);
            CHECK(k == 0 || distance[index[k]] >= distance[index[k - 1]] - 1e-13);
            CHECK(index[k] != 7 || index[k - 1] == 3); /* equal: the lower index first */
        }
    }
    okra_decoded_clear_(&d);
    okra_decoder_close_(decoder, state);
    okra_data_free(set);
    outputs_close(&o);
}

TEST(coefficients_give_the_distances_of_kernel_values)
{
    for (okra_int rows = 1; rows <= TESTS; rows += 4) {
        for (int own = 0; own < 2; own++) {
            check(OKRA_SPARSE, "linear", own, rows);
            check(OKRA_BITS, "linear", own, rows);
            check(OKRA_SPARSE, "3*linear", own, rows);
        }
    }
}

/* What stays on the cache is what would be computed: the same bits with it, and when
 * nothing fits in the budget. An engine keeps no panels on the host; under a budget it
 * takes fewer candidates at a time, which changes the last bits. */
TEST(panels_that_stay_change_nothing)
{
    enum { MANY = 1100 };
    const bool host = !getenv("OKRA_TEST_ENGINE");
    static double values[MANY * 3], W[4 * MANY];
    okra_random_ r = okra_random_create_(5, 5);
    okra_cache_slot_ slot = NULL;
    outputs o;
    harness_normals(&r, MANY * 3, values);
    random_weights(&r, 4, MANY, W);
    outputs_open(&o, "rbf(sigma=1)", dense_copy(values, MANY, 3));
    double want[4] = {0};
    for (int pass = 0; pass < 4; pass++) { /* no cache, filling, filled, many tests */
        o.output.cache = pass ? &slot : NULL;
        o.output.few = pass == 1 || pass == 2;
        for (int t = 0; t < 4; t++) {
            okra_decoded_ d = {0};
            okra_panels_ *panels = NULL;
            CHECK_OK(decode(NULL, &o, "candidates", "", W + t * MANY, 1, NULL, 1, &d));
            if (pass == 0) {
                want[t] = d.distance[0];
            }
            CHECK(d.distance && d.distance[0] == want[t]);
            CHECK_OK(okra_panels_create_(NULL, &o.output, NULL, &panels));
            CHECK(okra_panels_kept_(panels) == (host && pass > 0));
            okra_panels_free_(panels);
            okra_decoded_clear_(&d);
        }
    }
    okra_cache_free_(atomic_load(&slot));
    atomic_store(&slot, NULL);
    okra_context *ctx = NULL;
    CHECK_OK(okra_context_create(&ctx));
    CHECK_OK(okra_context_set_memory(ctx, okra_memory_used_(NULL) + (6 << 20)));
    o.output.cache = &slot;
    o.output.few = true;
    for (int t = 0; t < 4; t++) {
        okra_decoded_ d = {0};
        okra_panels_ *panels = NULL;
        CHECK_OK(decode(ctx, &o, "candidates", "", W + t * MANY, 1, NULL, 1, &d));
        CHECK(d.distance && (!host || d.distance[0] == want[t]));
        CHECK_NEAR(d.distance[0], want[t], 1e-12);
        CHECK_OK(okra_panels_create_(ctx, &o.output, NULL, &panels));
        CHECK(!okra_panels_kept_(panels));
        okra_panels_free_(panels);
        okra_decoded_clear_(&d);
    }
    okra_cache_free_(atomic_load(&slot));
    okra_context_free(ctx);
    outputs_close(&o);
}

MAIN(RUN(coefficients_give_the_distances_of_kernel_values),
     RUN(panels_that_stay_change_nothing))
