/* Gram matrices through an engine against the tiles of the kernel, and the program of an
 * expression, run by a naive interpreter, against them. */
#include "harness.h"

#include "engine/engine.h"

enum { N = 37, M = 9, D = 5, DEPTH = 8 };

static okra_data *vectors(okra_int n, uint64_t seed, bool binary)
{
    static double x[N * D];
    okra_random_ r = okra_random_create_(seed, 1);
    okra_data *out = NULL;
    harness_normals(&r, n * D, x);
    for (okra_int k = 0; k < n * D; k++) {
        x[k] = binary ? x[k] > 0 : x[k] + 2;
    }
    if (!binary) { /* equal objects, and one that is zero */
        memcpy(x + D, x, D * sizeof *x);
        memset(x + 2 * D, 0, D * sizeof *x);
    }
    CHECK_OK(okra_data_dense(x, n, D, D, &out));
    return out;
}

static double raise(double k, okra_int degree)
{
    double out = 1;
    for (okra_int t = 0; t < degree; t++) {
        out *= k;
    }
    return out;
}

static double leaf(const okra_step_ *s, okra_int i, okra_int j)
{
    double sum = 0;
    for (okra_int t = 0; t < s->width; t++) {
        if (s->code == OKRA_CODE_BITS_) {
            const uint64_t *a = s->a, *b = s->b;
            sum += __builtin_popcountll(a[i * s->a_ld + t] & b[j * s->b_ld + t]);
        } else {
            double a = ((const double *)s->a)[i * s->a_ld + t];
            double b = ((const double *)s->b)[j * s->b_ld + t];
            sum += s->code == OKRA_CODE_DOT_ ? a * b : fabs(a - b);
        }
    }
    return sum;
}

static double apply(const okra_step_ *s, okra_int i, okra_int j, double k)
{
    double u = s->u ? s->u[i] : 0, v = s->v ? s->v[j] : 0, sum = 0;
    switch (s->code) {
    case OKRA_CODE_SCALE_:
        return s->p * k;
    case OKRA_CODE_RBF_:
        return exp(-s->p * fmax(0, u + v - 2 * k));
    case OKRA_CODE_EXP_:
        return exp(s->p * k);
    case OKRA_CODE_POLY_:
        return raise(s->p * k + s->q, s->degree);
    case OKRA_CODE_POWER_:
        return raise(k, s->degree);
    case OKRA_CODE_NORMALIZE_:
        return u > 0 && v > 0 ? k / sqrt(u * v) : 0;
    case OKRA_CODE_TANIMOTO_:
        return u + v - k > 0 ? k / (u + v - k) : 1;
    case OKRA_CODE_CENTER_:
        return k - u - v;
    case OKRA_CODE_SERIES_:
        for (okra_int t = 0; t < s->count; t++) {
            sum += s->list[t] * raise(k, t);
        }
        return sum;
    case OKRA_CODE_DOT_:
    case OKRA_CODE_BITS_:
    case OKRA_CODE_DISTANCE1_:
    case OKRA_CODE_CONSTANT_:
    case OKRA_CODE_SUM_:
    case OKRA_CODE_PRODUCT_:
        break;
    }
    return NAN;
}

static double run(const okra_entries_ *e, okra_int i, okra_int j)
{
    double stack[DEPTH];
    int height = 0;
    CHECK(e->depth <= DEPTH);
    for (int k = 0; k < e->count; k++) {
        const okra_step_ *s = &e->steps[k];
        bool pair = s->code == OKRA_CODE_SUM_ || s->code == OKRA_CODE_PRODUCT_;
        if (s->code <= OKRA_CODE_DISTANCE1_) {
            stack[height++] = leaf(s, i, j);
        } else if (s->code == OKRA_CODE_CONSTANT_) {
            stack[height++] = s->p;
        } else if (pair) {
            double b = stack[--height], a = stack[height - 1];
            stack[height - 1] = s->code == OKRA_CODE_SUM_ ? a + b : a * b;
        } else {
            stack[height - 1] = apply(s, i, j, stack[height - 1]);
        }
        CHECK(height > 0 && height <= e->depth);
        if (e->symmetric && i == j && s->self) {
            stack[height - 1] = s->self[i];
        }
    }
    CHECK(height == 1);
    return stack[0];
}

/* `program`: whether there should be one. */
static void compare(const char *text, bool binary, bool program)
{
    okra_kernel *kernel = NULL;
    okra_data *x = vectors(N, 1, binary), *t = vectors(M, 2, binary);
    okra_trained_kernel_ *bound = NULL;
    okra_test_side_ *other = NULL;
    okra_context *ctx = NULL;
    static double want[N * N], got[N * N];
    CHECK_OK(okra_context_create(&ctx));
    if (getenv("OKRA_TEST_ENGINE")) {
        CHECK_OK(okra_context_set_engine(ctx, getenv("OKRA_TEST_ENGINE")));
    }
    CHECK_OK(okra_kernel_parse(text, &kernel));
    CHECK_OK(okra_trained_kernel_create_(ctx, kernel, x, &bound));
    CHECK_OK(okra_test_side_create_(ctx, bound, t, &other));
    for (int form = 0; form < 2; form++) { /* training set, others */
        okra_int rows = form ? M : N, part = rows / 2;
        okra_entries_ *e = NULL;
        okra_matrix_ *A = NULL, *B = NULL;
        CHECK_OK(okra_entries_create_(ctx, bound, form ? other : NULL, &e));
        CHECK(e->rows == rows && e->cols == N && e->symmetric == !form);
        CHECK((e->steps != NULL) == program);
        okra_mat_ K = okra_mat_of_(want, rows, N), G = okra_mat_of_(got, rows, N);
        CHECK_OK(form ? okra_test_side_cross_(ctx, bound, other, 0, K)
                      : okra_trained_kernel_gram_(ctx, bound, K));
        CHECK_OK(e->tile(ctx, e->self, 0, rows, 0, N, got, N));
        CHECK_NEAR(harness_relative(rows * N, got, want), 0, 1e-15);
        if (e->steps) { /* measured: 3e-15 */
            for (okra_int k = 0; k < rows * N; k++) {
                got[k] = run(e, k / N, k % N);
            }
            CHECK_NEAR(harness_relative(rows * N, got, want), 0, 3e-14);
        }
        CHECK_OK(okra_matrix_create_(ctx, rows, N, "a test", &A));
        CHECK_OK(okra_matrix_gram_(ctx, e, 0, A));
        CHECK_OK(okra_matrix_get_(ctx, A, 0, 0, G));
        CHECK_NEAR(harness_relative(rows * N, got, want), 0, 3e-14);
        CHECK_OK(okra_matrix_create_(ctx, part, N, "a test", &B));
        CHECK_OK(okra_matrix_gram_(ctx, e, rows - part, B)); /* some of the rows */
        CHECK_OK(okra_matrix_get_(ctx, B, 0, 0, okra_mat_of_(got, part, N)));
        CHECK_NEAR(harness_relative(part * N, got, want + (rows - part) * N), 0, 3e-14);
        for (okra_int i = 0; !form && i < N;
             i++) { /* the diagonal is exact on each engine */
            double one = 0;
            CHECK_OK(okra_matrix_get_(ctx, A, i, i, okra_mat_of_(&one, 1, 1)));
            CHECK(one == want[i * N + i]);
        }
        okra_matrix_free_(A);
        okra_matrix_free_(B);
        okra_entries_free_(e);
    }
    okra_test_side_free_(other);
    okra_trained_kernel_free_(bound);
    okra_kernel_free(kernel);
    okra_data_free(x);
    okra_data_free(t);
    okra_context_free(ctx);
}

TEST(programs_of_vectors)
{
    static const char *const texts[] = {
        "linear",
        "rbf(sigma=2)",
        "laplacian(gamma=0.3)",
        "poly(degree=3)",
        "cosine",
        "tanimoto",
        "linear | center",
        "linear | center | normalize",
        "linear | power(p=2)",
        "linear | exp(scale=0.01)",
        "rbf(gamma=0.1) | poly-series(0.5,0.25,0,0.25)",
        "0.5*rbf(sigma=1) + 2*linear",
        "rbf(sigma=1)*(linear + 1) + laplacian(gamma=1)",
        "rbf(sigma=1) + rbf(sigma=2)*(rbf(sigma=3) + cosine*(linear + 0.5))"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        compare(texts[i], false, true);
    }
}

TEST(programs_of_bits)
{
    compare("linear", true, true);
    compare("tanimoto", true, true);
    compare("rbf(sigma=2)", true, true);
}

TEST(other_kernels_have_tiles_alone)
{
    compare("zero-one", false, false);
    compare("dice", false, false);
    compare("rbf(sigma=1) + zero-one", false, false);
}

/* Whose distances rounding has lost: an engine gets the library's tiles. */
TEST(far_rows_have_tiles_alone)
{
    compare("rbf(sigma=1e-9)", false, false);
    compare("2*linear | rbf(sigma=1e-9)", false, false);
    compare("linear + linear | rbf(sigma=1e-9)", false, false);
}

TEST(a_value_that_is_not_finite_is_told)
{
    double x[2] = {1e200, -1e200};
    okra_data *data = NULL;
    okra_kernel *kernel = NULL;
    okra_trained_kernel_ *bound = NULL;
    okra_entries_ *e = NULL;
    okra_matrix_ *A = NULL;
    CHECK_OK(okra_data_dense(x, 2, 1, 1, &data));
    CHECK_OK(okra_kernel_parse("linear | power(p=2)", &kernel));
    CHECK_OK(okra_trained_kernel_create_(NULL, kernel, data, &bound));
    CHECK_OK(okra_entries_create_(NULL, bound, NULL, &e));
    CHECK_OK(okra_matrix_create_(NULL, 2, 2, "a test", &A));
    CHECK_FAILS(okra_matrix_gram_(NULL, e, 0, A), OKRA_ENUMERIC, "is inf");
    okra_matrix_free_(A);
    okra_entries_free_(e);
    okra_trained_kernel_free_(bound);
    okra_kernel_free(kernel);
    okra_data_free(data);
}

MAIN(RUN(programs_of_vectors), RUN(programs_of_bits), RUN(other_kernels_have_tiles_alone),
     RUN(far_rows_have_tiles_alone), RUN(a_value_that_is_not_finite_is_told))
