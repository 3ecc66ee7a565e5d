/*
 * test_smooth.c: values and gradients of kernels on dense vectors against the Gram engine
 * and against central differences.
 */
#include "harness.h"

#include "kernel/vectors/smooth.h"

enum { N = 9, D = 4 };

static const char *const kernels[] = {
    "rbf(gamma=0.3)",
    "rbf(sigma=2) | poly-series(0,0.1,0.5,0.2,0,0.7)",
    "linear",
    "2.5*linear",
    "linear + 0.5",
    "poly(degree=3,gamma=0.2,coef0=1)",
    "poly(degree=1)",
    "cosine",
    "cosine | rbf(gamma=1)",
    "rbf(gamma=0.2) | power(p=3)",
    "rbf(gamma=0.2)*linear + 0.3*cosine",
    "linear | exp(scale=0.1) | normalize",
    "(rbf(gamma=0.2) + 2*(linear | poly(degree=2))) | rbf(gamma=0.05)",
};

typedef struct setup {
    double Y[N * (D + 1)];
    okra_data *y;
    okra_kernel *kernel;
    okra_smooth_ *smooth;
    okra_smooth_work_ *work;
} setup;

static void open_setup(setup *s, const char *text, uint64_t seed)
{
    okra_random_ r = okra_random_create_(seed, 0);
    harness_normals(&r, N * (D + 1), s->Y);
    CHECK_OK(okra_kernel_parse(text, &s->kernel));
    CHECK_OK(okra_data_dense(s->Y, N, D, D + 1, &s->y));
    CHECK_OK(okra_smooth_create_(NULL, s->kernel, s->y, NULL, &s->smooth));
    CHECK_OK(okra_smooth_work_create_(NULL, s->smooth, N, &s->work));
}

static void close_setup(setup *s)
{
    okra_smooth_work_free_(s->work);
    okra_smooth_free_(s->smooth);
    okra_data_free(s->y);
    okra_kernel_free(s->kernel);
}

TEST(values)
{
    static const okra_int index[] = {7, 2, 2, 0};
    double worst = 0;
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        for (uint64_t seed = 0; seed < 5; seed++) {
            setup s;
            double y[D], got[N], want[N], self, own, some[4];
            open_setup(&s, kernels[k], seed);
            okra_random_ r = okra_random_create_(seed, 1);
            harness_normals(&r, D, y);
            okra_data *one = NULL;
            CHECK_OK(okra_data_dense(y, 1, D, D, &one));
            CHECK_OK(okra_gram(NULL, s.kernel, one, s.y, want, N));
            CHECK_OK(okra_gram(NULL, s.kernel, one, NULL, &own, 1));
            okra_smooth_select_(s.work, NULL, N);
            okra_smooth_values_(s.work, y, got, &self);
            worst = fmax(worst, harness_relative(N, got, want));
            worst = fmax(worst, fabs(self - own) / fabs(own));
            okra_smooth_select_(s.work, index, 4);
            okra_smooth_values_(s.work, y, some, &self);
            for (int i = 0; i < 4; i++) {
                CHECK(some[i] == got[index[i]]);
            }
            okra_data_free(one);
            close_setup(&s);
        }
    }
    /* worst over 40 seeds: 3.6e-15 */
    CHECK_NEAR(worst, 0, 4e-14);
}

/* sum_i c_i k(y, y_i) + c_self k(y, y) */
static double combined(setup *s, const double *y, const double *c, double c_self)
{
    double values[N], self;
    okra_smooth_values_(s->work, y, values, &self);
    return okra_dot_(N, c, values) + c_self * self;
}

TEST(gradients)
{
    double worst = 0;
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        for (uint64_t seed = 0; seed < 5; seed++) {
            setup s;
            double y[D], c[N], g[D], differences[D], h = 1e-5;
            open_setup(&s, kernels[k], seed);
            okra_random_ r = okra_random_create_(seed, 2);
            harness_normals(&r, D, y);
            harness_normals(&r, N, c);
            okra_smooth_select_(s.work, NULL, N);
            for (int j = 0; j < D; j++) {
                double keep = y[j];
                y[j] = keep + h;
                double up = combined(&s, y, c, 0.7);
                y[j] = keep - h;
                differences[j] = (up - combined(&s, y, c, 0.7)) / (2 * h);
                y[j] = keep;
            }
            combined(&s, y, c, 0.7);
            okra_smooth_gradient_(s.work, c, 0.7, g);
            worst = fmax(worst, harness_relative(D, g, differences));
            close_setup(&s);
        }
    }
    /* worst over 40 seeds: 1.7e-7, of the differences */
    CHECK_NEAR(worst, 0, 1e-6);
}

TEST(bounded)
{
    static const bool want[] = {true, true, false, false, false, false, false,
                                true, true, true,  false, true,  true};
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        setup s;
        open_setup(&s, kernels[k], 0);
        CHECK(s.smooth->bounded == want[k]);
        close_setup(&s);
    }
}

TEST(refused)
{
    static const double values[] = {1, 2, 3, 4};
    static const okra_int codes[] = {0, 1};
    okra_data *dense = NULL, *labels = NULL;
    okra_kernel *laplacian = NULL, *centred = NULL, *zero = NULL;
    okra_smooth_ *smooth = NULL;
    CHECK_OK(okra_data_dense(values, 2, 2, 2, &dense));
    CHECK_OK(okra_data_labels(codes, 2, NULL, 2, &labels));
    CHECK_OK(okra_kernel_parse("laplacian(gamma=1)", &laplacian));
    CHECK_OK(okra_kernel_parse("linear | center", &centred));
    CHECK_OK(okra_kernel_parse("zero-one", &zero));
    CHECK_FAILS(okra_smooth_create_(NULL, laplacian, dense, NULL, &smooth),
                OKRA_EUNSUPPORTED, "no derivative of 'laplacian'");
    CHECK_FAILS(okra_smooth_create_(NULL, centred, dense, NULL, &smooth),
                OKRA_EUNSUPPORTED,
                "no derivative of 'center' in the kernel linear | center");
    CHECK_FAILS(okra_smooth_create_(NULL, zero, labels, NULL, &smooth), OKRA_EUNSUPPORTED,
                "only dense vectors");
    okra_data_free(dense);
    okra_data_free(labels);
    okra_kernel_free(laplacian);
    okra_kernel_free(centred);
    okra_kernel_free(zero);
}

static okra_status whole(const setup *s)
{
    okra_status st = OKRA_OK;
    okra_smooth_ *smooth = NULL;
    okra_smooth_work_ *work = NULL;
    TRY(okra_smooth_create_(NULL, s->kernel, s->y, NULL, &smooth));
    TRY(okra_smooth_work_create_(NULL, smooth, N, &work));
done:
    okra_smooth_work_free_(work);
    okra_smooth_free_(smooth);
    return st;
}

TEST(allocations)
{
    setup s;
    open_setup(&s, kernels[1], 0);
    CHECK_ALLOCATIONS(whole(&s), (void)0);
    close_setup(&s);
}

MAIN(RUN(values), RUN(gradients), RUN(bounded), RUN(refused), RUN(allocations))
