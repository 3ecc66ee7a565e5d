/* Long verbs of an engine report progress (host, and the engine that OKRA_TEST_ENGINE
 * names), and give the bits that they give unheard; a failure keeps its message. */
#include "heard.h"

#include "engine/engine.h"

enum { N = 40 };

static okra_context *on_engine(heard *h)
{
    const char *name = getenv("OKRA_TEST_ENGINE");
    okra_context *ctx = NULL;
    CHECK_OK(okra_context_create(&ctx));
    CHECK_OK(okra_context_set_engine(ctx, name ? name : "host"));
    if (h) {
        okra_context_set_progress(ctx, hear, h);
    }
    return ctx;
}

/* A symmetric matrix with `diagonal` added, factored or decomposed in place of values. */
static okra_status run(okra_context *ctx, bool vectors, double diagonal, double *values,
                       double *w)
{
    okra_status st = OKRA_OK;
    okra_matrix_ *A = NULL;
    okra_mat_ M = okra_mat_of_(values, N, N);
    TRY(okra_matrix_create_(ctx, N, N, "a test", &A));
    for (okra_int i = 0; i < N; i++) {
        for (okra_int j = 0; j <= i; j++) {
            values[i * N + j] = values[j * N + i] = 1.0 / (double)(i + j + 1);
        }
        values[i * N + i] += diagonal;
    }
    TRY(okra_matrix_put_(ctx, M, 0, 0, A));
    TRY(vectors ? okra_matrix_eigh_(ctx, A, w) : okra_matrix_cholesky_(ctx, A, NULL));
    TRY(okra_matrix_get_(ctx, A, 0, 0, M));
done:
    okra_matrix_free_(A);
    return st;
}

TEST(verbs_are_watched_and_keep_their_bits)
{
    static const char *const names[] = {"factor", "eigenvectors"};
    static double a[N * N], b[N * N];
    double v[N] = {0}, w[N] = {0};
    okra_watch_least_ = 0;
    for (int vectors = 0; vectors < 2; vectors++) {
        heard h = {.count = 0};
        okra_context *told = on_engine(&h), *mute = on_engine(NULL);
        CHECK_OK(run(told, vectors, 2, a, v));
        CHECK_OK(run(mute, vectors, 2, b, w));
        CHECK_TEXT(h.what, names[vectors]);
        CHECK(h.count >= 2 && h.last == h.total && h.total > 0);
        CHECK(memcmp(a, b, sizeof a) == 0 && memcmp(v, w, sizeof v) == 0);
        okra_context_free(told);
        okra_context_free(mute);
    }
}

TEST(a_failure_keeps_its_message)
{
    static double a[N * N];
    heard h = {.count = 0};
    okra_context *told = on_engine(&h);
    okra_watch_least_ = 0;
    CHECK_FAILS(run(told, false, -100, a, NULL), OKRA_ENUMERIC, "not positive definite");
    CHECK_FAILS(run(told, true, NAN, a, a), OKRA_ENUMERIC, "nan");
    okra_context_free(told);
}

MAIN(RUN(verbs_are_watched_and_keep_their_bits), RUN(a_failure_keeps_its_message))
