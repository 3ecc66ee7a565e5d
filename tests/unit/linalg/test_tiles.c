/*
 * Products, solves and factors on several threads against the same on one: large enough
 * that they are cut into tiles, of shapes that no tile divides, with strides above the
 * width. Tolerances are ten times the worst relative difference over 4 seeds.
 */
#include "matrices.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SEEDS
#define SEEDS 1
#endif

static okra_context *with_threads(int threads)
{
    okra_context *ctx = new_context();
    CHECK_OK(okra_context_set_threads(ctx, threads));
    return ctx;
}

static const int teams[] = {2, 3, 8};
enum { TEAMS = sizeof teams / sizeof *teams };

/* Largest difference of two matrices of one shape, over the largest entry of B. */
static double difference(okra_mat_ A, okra_mat_ B)
{
    double worst = 0, scale = 0;
    for (okra_int i = 0; i < A.rows; i++) {
        for (okra_int j = 0; j < A.cols; j++) {
            double a = A.p[i * A.ld + j], b = B.p[i * B.ld + j];
            worst = fabs(a - b) <= worst ? worst : fabs(a - b);
            scale = fmax(scale, fabs(b));
        }
    }
    return worst / scale;
}

static bool same_bits(okra_mat_ A, okra_mat_ B)
{
    bool same = true;
    for (okra_int i = 0; i < A.rows; i++) {
        same &=
            memcmp(A.p + i * A.ld, B.p + i * B.ld, (size_t)A.cols * sizeof(double)) == 0;
    }
    return same;
}

/* An operation on copies of C with each team; the first copy is of one thread. */
typedef okra_status (*operation)(okra_context *ctx, const void *arg, okra_mat_ C);

static double compare(operation run, const void *arg, okra_mat_ C)
{
    double worst = 0;
    okra_context *one = with_threads(1);
    okra_mat_ want = mat_clone(C);
    CHECK_OK(run(one, arg, want));
    for (int t = 0; t < TEAMS; t++) {
        okra_context *ctx = with_threads(teams[t]);
        okra_mat_ first = mat_clone(C), second = mat_clone(C);
        CHECK_OK(run(ctx, arg, first));
        CHECK_OK(run(ctx, arg, second));
        CHECK(same_bits(first, second));
        worst = fmax(worst, difference(first, want));
        mat_free(first);
        mat_free(second);
        okra_context_free(ctx);
    }
    mat_free(want);
    okra_context_free(one);
    return worst;
}

typedef struct factors {
    bool ta, tb;
    double beta;
    okra_mat_ A, B;
} factors;

static okra_status gemm_of(okra_context *ctx, const void *arg, okra_mat_ C)
{
    const factors *f = arg;
    return okra_gemm_(ctx, f->ta, f->tb, -0.5, f->A, f->B, f->beta, C);
}

static okra_status syrk_of(okra_context *ctx, const void *arg, okra_mat_ C)
{
    const factors *f = arg;
    return okra_syrk_(ctx, f->ta, -0.5, f->A, f->beta, C);
}

/* Wide, tall, thin, with a long inner dimension. */
static const okra_int shapes[][3] = {
    {301, 517, 203}, {1201, 7, 1500}, {5, 1203, 1700}, {67, 70, 9001}, {641, 640, 65}};

static void one_gemm(okra_random_ *r, const okra_int *s, bool ta, bool tb, double *worst)
{
    factors f = {ta, tb, 0, mat_random(r, ta ? s[2] : s[0], ta ? s[0] : s[2]),
                 mat_random(r, tb ? s[1] : s[2], tb ? s[2] : s[1])};
    okra_mat_ C = mat_random(r, s[0], s[1]);
    f.beta = 0.25;
    *worst = fmax(*worst, compare(gemm_of, &f, C));
    f.beta = 0; /* never reads C */
    okra_mat_fill_(C, NAN);
    *worst = fmax(*worst, compare(gemm_of, &f, C));
    mat_free(f.A);
    mat_free(f.B);
    mat_free(C);
}

TEST(products)
{
    double worst = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        okra_random_ r = okra_random_create_(seed, 2);
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            one_gemm(&r, shapes[s], false, false, &worst);
            one_gemm(&r, shapes[s], true, false, &worst);
            one_gemm(&r, shapes[s], false, true, &worst);
            one_gemm(&r, shapes[s], true, true, &worst);
        }
    }
    printf("  products: %.2g\n", worst);
    CHECK(worst <= 5e-14);
}

TEST(symmetric_products)
{
    double worst = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        okra_random_ r = okra_random_create_(seed, 3);
        for (int trans = 0; trans < 2; trans++) {
            factors f = {.ta = trans,
                         .A = mat_random(&r, trans ? 203 : 517, trans ? 517 : 203)};
            okra_mat_ C = mat_random(&r, 517, 517);
            okra_mat_mirror_(C);
            f.beta = 0.25;
            worst = fmax(worst, compare(syrk_of, &f, C));
            f.beta = 0;
            okra_mat_fill_(C, NAN);
            worst = fmax(worst, compare(syrk_of, &f, C));
            mat_free(f.A);
            mat_free(C);
        }
    }
    printf("  symmetric products: %.2g\n", worst);
    CHECK(worst <= 5e-14);
}

/* Positive definite with a condition of about 1e3. */
static okra_mat_ definite(okra_random_ *r, okra_int n)
{
    okra_mat_ G = mat_random(r, n, n), A = mat_random(r, n, n);
    CHECK_OK(okra_syrk_(NULL, false, 1 / (double)n, G, 0, A));
    okra_mat_add_diagonal_(A, 4e-3);
    mat_free(G);
    return A;
}

static okra_status cholesky_of(okra_context *ctx, const void *arg, okra_mat_ A)
{
    (void)arg;
    return okra_cholesky_(ctx, A, NULL);
}

typedef struct triangle {
    bool left, trans;
    okra_mat_ L;
} triangle;

static okra_status trsm_of(okra_context *ctx, const void *arg, okra_mat_ B)
{
    const triangle *t = arg;
    return okra_trsm_(ctx, t->left, t->trans, t->L, B);
}

TEST(factors_and_solves)
{
    double factor = 0, solve = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        okra_random_ r = okra_random_create_(seed, 4);
        okra_mat_ A = definite(&r, 777), L = mat_clone(A);
        factor = fmax(factor, compare(cholesky_of, NULL, A));
        CHECK_OK(okra_cholesky_(NULL, L, NULL));
        for (int side = 0; side < 4; side++) {
            triangle t = {side < 2, side % 2 == 1, L};
            okra_mat_ B = mat_random(&r, t.left ? 777 : 205, t.left ? 205 : 777);
            solve = fmax(solve, compare(trsm_of, &t, B));
            mat_free(B);
        }
        mat_free(L);
        mat_free(A);
    }
    printf("  factors %.2g, solves %.2g\n", factor, solve);
    CHECK(factor <= 1.5e-14);
    CHECK(solve <= 1.5e-14);
}

/* A pivot that is not positive in the last block; the matrix stays as it was. */
TEST(not_definite)
{
    okra_random_ r = okra_random_create_(5, 5);
    okra_context *ctx = with_threads(2);
    okra_mat_ A = definite(&r, 777);
    bool done = true;
    A.p[770 * A.ld + 770] = -1;
    okra_mat_ before = mat_clone(A);
    CHECK_OK(okra_cholesky_try_(ctx, A, &done));
    CHECK(!done);
    CHECK(same_bits(A, before));
    CHECK_FAILS(okra_cholesky_(ctx, A, NULL), OKRA_ENUMERIC, "not positive definite");
    okra_context_cancel(ctx);
    CHECK_FAILS(okra_gemm_(ctx, false, false, 1, before, before, 0, A), OKRA_ECANCELLED,
                "stopped");
    mat_free(before);
    mat_free(A);
    okra_context_free(ctx);
}

/* What one thread of the program computes again and again, with loops of its own. */
typedef struct caller {
    okra_context *ctx;
    okra_mat_ A, B, C, first;
    int wrong;
} caller;

static caller caller_make(void)
{
    okra_random_ r = okra_random_create_(6, 6);
    caller c = {with_threads(3),          mat_random(&r, 301, 302),
                mat_random(&r, 302, 303), mat_random(&r, 301, 303),
                mat_random(&r, 301, 303), 0};
    return c;
}

static void caller_free(caller *c)
{
    CHECK(c->wrong == 0);
    mat_free(c->A);
    mat_free(c->B);
    mat_free(c->C);
    mat_free(c->first);
    okra_context_free(c->ctx);
}

static void *many_products(void *arg)
{
    caller *c = arg;
    for (int k = 0; k < 40; k++) {
        okra_mat_ out = k == 0 ? c->first : c->C;
        c->wrong += okra_gemm_(c->ctx, false, false, 1, c->A, c->B, 0, out) != OKRA_OK;
        c->wrong += k > 0 && !same_bits(c->C, c->first);
    }
    return NULL;
}

TEST(callers_do_not_meet)
{
    enum { CALLERS = 4 };
    pthread_t threads[CALLERS];
    caller callers[CALLERS];
    for (int i = 0; i < CALLERS; i++) {
        callers[i] = caller_make();
        CHECK(pthread_create(&threads[i], NULL, many_products, &callers[i]) == 0);
    }
    for (int i = 0; i < CALLERS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        CHECK(same_bits(callers[i].first, callers[0].first));
    }
    for (int i = 0; i < CALLERS; i++) {
        caller_free(&callers[i]);
    }
}

/* A child has none of the helpers and starts its own. */
TEST(after_a_fork)
{
    caller c = caller_make();
    many_products(&c);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        many_products(&c);
        _exit(c.wrong == 0 ? 0 : 1);
    }
    int status = 1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    many_products(&c);
    caller_free(&c);
}

MAIN(RUN(products), RUN(symmetric_products), RUN(factors_and_solves), RUN(not_definite),
     RUN(callers_do_not_meet), RUN(after_a_fork))
