/*
 * Conjugate gradients: the solution of the direct solver, and a state that can be kept.
 */
#include "pairs.h"
#include "okra/more/leave.h"
#include "okra/program.h"

#include <fcntl.h>
#include <sys/stat.h>

static const char *const base =
    "kx=rbf(sigma=1) low-rank-x=nystrom(rank=9) lambda=0.05 solver=cg";

static void losses(const okra_model *model, const pairs *p, double *each)
{
    double mean;
    CHECK_OK(okra_model_loss(NULL, model, p->test_x, p->test_y, &mean, each));
}

/* Ten times the worst over 100 seeds, which was 7.0e-14 at a residual of 1e-12; and
 * below, of one problem, 3.3e-14. The preconditioner of so few rows is the matrix itself
 * (of 8 in 12 with rank 2), so that two or three steps are enough where rank 12 would
 * take about ten. */
TEST(equals_direct)
{
    static const char *const settings[] = {
        "kx=rbf(sigma=1) low-rank-x=nystrom(rank=2) lambda=0.05",
        "kx=rbf(sigma=1) low-rank-x=chol(rank=12) lambda=0.05 center-output=yes",
        "kx=rbf(sigma=1) ky=rbf(sigma=1) low-rank=nystrom(rank=12) lambda=0.05",
        ("kx=rbf(sigma=1) ky=rbf(sigma=1) low-rank-x=nystrom(rank=8) "
         "low-rank-y=rff(rank=20) center-output=yes")};
    for (int c = 0; c < 4 * 10; c++) {
        pairs p;
        char text[300];
        double one[M], two[M];
        pairs_make((uint64_t)c, &p);
        snprintf(text, sizeof text, "%s solver=cg cg-tolerance=1e-12", settings[c % 4]);
        okra_model *direct = pairs_fit(p.train_x, p.train_y, settings[c % 4]);
        okra_model *cg = pairs_fit(p.train_x, p.train_y, text);
        double steps = 0;
        CHECK(okra_store_get_number_(cg->store, "cg.steps", &steps) && steps <= 3);
        losses(direct, &p, one);
        losses(cg, &p, two);
        CHECK_NEAR(harness_relative(M, two, one), 0, 7e-13);
        okra_model_free(direct);
        okra_model_free(cg);
        pairs_free(&p);
    }
}

enum { PATTERNS = 90, RANK = 10, WIDTH = 128 };

static void copy_of(const okra_model *model, double *out)
{
    okra_int rows, cols;
    const double *C = okra_store_get_(model->store, "coefficients", &rows, &cols);
    CHECK(C && rows == RANK && cols == WIDTH);
    memcpy(out, C, RANK * WIDTH * sizeof *out);
}

/* Stopped after two steps and taken up again: the bits of a fit in one go, which takes
 * more steps, and agrees with the direct solver. */
TEST(goes_on_from_its_checkpoint)
{
    static const char *const direct =
        "kx=rbf(sigma=5) low-rank-x=nystrom(rank=10) lambda=0.05";
    static const struct timespec long_ago[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    char text[700];
    double one[RANK * WIDTH], two[RANK * WIDTH], steps = 0;
    okra_data *x = NULL, *y = NULL;
    CHECK_OK(okra_synthetic_patterns(1, PATTERNS, &x, &y));
    okra_model *exact = pairs_fit(x, y, direct);
    snprintf(text, sizeof text, "%s solver=cg cg-tolerance=1e-12", direct);
    okra_model *whole = pairs_fit(x, y, text);
    CHECK(okra_store_get_number_(whole->store, "cg.steps", &steps) && steps > 3);
    copy_of(exact, one);
    copy_of(whole, two);
    CHECK_NEAR(harness_relative(RANK * WIDTH, two, one), 0, 4e-13);
    snprintf(text, sizeof text,
             "%s solver=cg cg-tolerance=1e-12 cg-iterations=2 checkpoint=%s", direct,
             files_path("cg"));
    okra_model *part = pairs_fit(x, y, text);
    CHECK(okra_store_get_number_(part->store, "cg.steps", &steps) && steps == 2);
    for (int again = 0; again < 2; again++) { /* the second time nothing is left to do */
        snprintf(text, sizeof text, "%s solver=cg cg-tolerance=1e-12 checkpoint=%s",
                 direct, files_path("cg"));
        okra_model *rest = pairs_fit(x, y, text);
        copy_of(whole, one);
        copy_of(rest, two);
        CHECK(memcmp(one, two, sizeof one) == 0);
        okra_model_free(rest);
        struct stat now;
        CHECK(stat(files_path("cg"), &now) == 0);
        CHECK((now.st_mtime == 1) == again); /* no step was taken then */
        CHECK(utimensat(AT_FDCWD, files_path("cg"), long_ago, 0) == 0);
    }
    okra_model_free(exact);
    okra_model_free(whole);
    okra_model_free(part);
    okra_data_free(x);
    okra_data_free(y);
}

static okra_status fit_with(const pairs *p, const char *text, okra_model **model)
{
    okra_options *o = settings_of(okra_fit_options, text);
    okra_status st = okra_fit(NULL, p->train_x, p->train_y, o, model);
    okra_options_free(o);
    return st;
}

TEST(other_checkpoints_are_refused)
{
    pairs p, q;
    char text[700];
    okra_model *model = NULL;
    pairs_make(3, &p);
    pairs_make(4, &q);
    snprintf(text, sizeof text, "%s checkpoint=%s", base, files_path("other"));
    CHECK_OK(fit_with(&p, text, &model));
    okra_model_free(model);
    model = NULL;
    CHECK_FAILS(fit_with(&q, text, &model), OKRA_EARG, "another fit");
    for (okra_int i = 0; i < 2 * N; i++) { /* a number of a pair, in the basis or not */
        double *at = i < N ? p.x + i * LDX : p.y + (i - N) * D, kept = *at;
        *at += 1;
        CHECK_FAILS(fit_with(&p, text, &model), OKRA_EARG, "another fit");
        *at = kept;
    }
    CHECK_OK(fit_with(&p, text, &model));
    okra_model_free(model);
    model = NULL;
    files_make("text", "no archive at all, but long enough to look into", 47);
    snprintf(text, sizeof text, "%s checkpoint=%s", base, files_path("text"));
    CHECK_FAILS(fit_with(&p, text, &model), OKRA_EFORMAT, "checkpoint ");
    snprintf(text, sizeof text, "%s checkpoint=/no/such/folder/file", base);
    CHECK_FAILS(fit_with(&p, text, &model), OKRA_EIO, "/no/such/folder");
    pairs_free(&p);
    pairs_free(&q);
}

/* Both kernels and the waves of the outputs belong to the problem, though a factor of
 * rank 1 tells nothing of them. */
TEST(checkpoints_know_the_kernels)
{
    static const char *const settings[] = {
        "kx=rbf(sigma=1) ky=rbf(sigma=1) low-rank-x=chol(rank=1) low-rank-y=rff(rank=2)",
        "kx=rbf(sigma=2) ky=rbf(sigma=1) low-rank-x=chol(rank=1) low-rank-y=rff(rank=2)",
        "kx=rbf(sigma=1) ky=rbf(sigma=2) low-rank-x=chol(rank=1) low-rank-y=rff(rank=2)"};
    pairs p;
    pairs_make(3, &p);
    for (int k = 0; k < 3; k++) {
        char text[700];
        okra_model *model = NULL;
        snprintf(text, sizeof text, "%s solver=cg checkpoint=%s", settings[k],
                 files_path("kernels"));
        okra_status st = fit_with(&p, text, &model);
        CHECK(st == (k == 0 ? OKRA_OK : OKRA_EARG));
        okra_model_free(model);
    }
    pairs_free(&p);
}

TEST(what_does_not_go_together)
{
    static const struct {
        const char *settings, *message;
    } bad[] = {
        {"solver=cg", "needs low-rank-x"},
        {"solver=cg low-rank-x=rff(rank=4) kx=rbf(sigma=1)", "by chol or nystrom"},
        {"solver=cg low-rank-x=sketch(rank=4)", "by chol or nystrom"},
        {"solver=cg low-rank-x=chol(rank=4) ky=rbf(sigma=1)", "needs low-rank-y"},
        {"solver=cg low-rank-x=chol(rank=2) operator=cov", "operator identity"},
        {"cg-tolerance=1", "is for solver cg"},
        {"cg-iterations=3 low-rank-x=chol(rank=2)", "is for solver cg"},
    };
    pairs p;
    okra_model *models[2] = {NULL};
    const double lambda[] = {1, 2};
    pairs_make(8, &p);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_FAILS(fit_with(&p, bad[i].settings, models), OKRA_EARG, bad[i].message);
    }
    okra_options *o = settings_of(okra_fit_options, base);
    CHECK_FAILS(okra_options_set(o, "solver", "qr"), OKRA_EARG, "direct|cg");
    CHECK_OK(okra_options_set(o, "checkpoint", files_path("path")));
    CHECK_FAILS(okra_fit_as(NULL, p.train_x, p.train_y, o,
                            (&(okra_fit_request){OKRA_SIZED(okra_fit_request),
                                                 .lambda = lambda, .count = 2}),
                            models),
                OKRA_EARG, "one lambda");
    okra_options_free(o);
    pairs_free(&p);
}

static okra_status try_fit(const pairs *p, const char *text)
{
    okra_model *model = NULL;
    okra_options *o = NULL;
    okra_status st = okra_fit_options(&o);
    for (int i = 0; st == OKRA_OK && i < 4; i++) {
        static const char *const names[] = {"kx", "low-rank-x", "solver", "checkpoint"};
        const char *const values[] = {"rbf(sigma=1)", "nystrom(rank=4)", "cg", text};
        st = okra_options_set(o, names[i], values[i]);
    }
    st = st ? st : okra_fit(NULL, p->train_x, p->train_y, o, &model);
    okra_model_free(model);
    okra_options_free(o);
    unlink(text);
    return st;
}

TEST(allocations)
{
    pairs p;
    pairs_make(9, &p);
    CHECK_ALLOCATIONS(try_fit(&p, files_path("alloc")), (void)0);
    pairs_free(&p);
}

MAIN(RUN(equals_direct), RUN(goes_on_from_its_checkpoint),
     RUN(other_checkpoints_are_refused), RUN(checkpoints_know_the_kernels),
     RUN(what_does_not_go_together), RUN(allocations))
