/*
 * A context whose backend is "ref" never enters BLAS or LAPACK, whatever the method: this
 * program puts functions of its own in the place of theirs, which count.
 *
 * trapped[] must name every function that src/linalg calls (the last test reads the
 * source), and every method must be fitted and asked.
 */
#include "linalg/linalg.h"
#include "okra/okra.h"
#include "toy.h"
#include "settings.h"

#include <glob.h>

static int entered;
static const char *last = "";

static void enter(const char *name)
{
    entered++;
    last = name;
}

#define TRAP(name)    \
    int name(void);   \
    int name(void)    \
    {                 \
        enter(#name); \
        return 0;     \
    }
#define EACH_TRAP(X)       \
    X(cblas_dasum)         \
    X(cblas_daxpy)         \
    X(cblas_dcopy)         \
    X(cblas_ddot)          \
    X(cblas_dgemm)         \
    X(cblas_dgemv)         \
    X(cblas_dnrm2)         \
    X(cblas_dscal)         \
    X(cblas_dswap)         \
    X(cblas_dsyrk)         \
    X(cblas_dtrsm)         \
    X(LAPACKE_dgecon_work) \
    X(LAPACKE_dgesdd_work) \
    X(LAPACKE_dgetrf_work) \
    X(LAPACKE_dlarfb_work) \
    X(LAPACKE_dlarfg_work) \
    X(LAPACKE_dlarft_work) \
    X(LAPACKE_dlaswp_work) \
    X(LAPACKE_dpotrf_work) \
    X(LAPACKE_dstedc_work) \
    X(LAPACKE_dsyevd_work) \
    X(LAPACKE_dsyevr_work) \
    X(dlaed2_)             \
    X(dlaed4_)             \
    X(dlamrg_)
#define NAME(name) #name,

EACH_TRAP(TRAP)
static const char *const trapped[] = {EACH_TRAP(NAME)};
enum { TRAPPED = sizeof trapped / sizeof *trapped };

enum { N = 8, M = 3, P = 3, D = 2 };

typedef enum kind { VECTORS, LABELS, WORDS, IMAGES } kind;

typedef struct request {
    kind kind;
    const char *fit, *predict; /* "name=value ..." */
} request;

static const request requests[] = {
    {VECTORS, "method=ridge kx=rbf(sigma=1)", ""},
    {VECTORS, "method=ridge kx=rbf(sigma=1) ky=rbf(sigma=1) operator=cov", ""},
    {VECTORS, "method=ridge kx=rbf(sigma=1) ky=rbf(sigma=1) operator=ccov", ""},
    {VECTORS, "method=ridge kx=rbf(sigma=1) operator=tensor", "decode=explicit"},
    {IMAGES, "method=ridge kx=rbf(sigma=1) operator=diagonal(t=0.5)", ""},
    {VECTORS, "method=ridge kx=rbf(sigma=1) center-output=yes lambda2=0.1", ""},
    {VECTORS, "method=ridge kx=rbf(sigma=1) ky=rbf(sigma=1) low-rank=chol(rank=4)", ""},
    {VECTORS, "method=ridge kx=rbf(sigma=1) low-rank-x=nystrom(rank=4) solver=cg", ""},
    {VECTORS, "method=ridge kx=rbf(sigma=1) low-rank-x=rff(rank=4)", "decode=explicit"},
    {VECTORS, "method=ridge kx=rbf(sigma=1) ky=rbf(sigma=1)", "decode=fixed-point"},
    {VECTORS, "method=margin kx=rbf(sigma=1) ky=rbf(sigma=1)", ""},
    {VECTORS, "method=margin kx=rbf(sigma=1) loss=epsilon", ""},
    {VECTORS, "method=margin kx=rbf(sigma=1) loss=huber ky=rbf(sigma=1)", ""},
    {VECTORS, "method=margin kx=rbf(sigma=1) ky=rbf(sigma=1) low-rank=chol(rank=4)", ""},
    {VECTORS, "method=margin kx=rbf(sigma=1) loss=huber low-rank-x=chol(rank=4)", ""},
    {VECTORS, "method=knn k=2", ""},
    {VECTORS, "method=kpca kx=rbf(sigma=1) ky=rbf(sigma=1)", ""},
    {VECTORS, "method=kpca kx=rbf(sigma=1) low-rank-x=chol(rank=4)", ""},
    {VECTORS, "method=tgp-kl kx=rbf(sigma=1) ky=rbf(sigma=1)", ""},
    {VECTORS, "method=tgp-kl kx=rbf(sigma=1) ky=rbf(sigma=1) neighbours=4", ""},
    {VECTORS, "method=tgp-kl kx=rbf(sigma=1) ky=rbf(sigma=1) neighbours=4",
     "decode=optimum"},
    {VECTORS, "method=tgp-hsic kx=rbf(sigma=1) ky=rbf(sigma=1)", "decode=optimum"},
    {VECTORS, "method=soar kx=rbf(sigma=1)", ""},
    {VECTORS, "method=svr kx=rbf(sigma=1)", ""},
    {VECTORS, "method=ok3 trees=3 kx=rbf(sigma=1)", ""},
    {VECTORS, "method=hopfield", ""},
    {LABELS, "method=svm kx=rbf(sigma=1) ky=zero-one", ""},
    {WORDS, "method=m3n kx=position(linear) ky=position(zero-one)", ""},
    {WORDS, "method=constrained kx=position(linear) ky=position(zero-one)",
     "decode=none"},
    {IMAGES, "method=jkm kx=patches(rbf(gamma=0.1),width=2,patch=1,overlap=0)", ""},
};
enum { REQUESTS = sizeof requests / sizeof *requests };

/* Methods of links alone. */
static const char *const linkers[] = {"naive", "kcca", "kml", "local", "em", "pkmr"};
enum { LINKERS = sizeof linkers / sizeof *linkers };

static okra_context *ref_context(void)
{
    okra_context *ctx = NULL;
    CHECK_OK(okra_context_create(&ctx));
    CHECK_OK(okra_context_set_backend(ctx, "ref"));
    return ctx;
}

static void make(kind what, okra_data **x, okra_data **y, okra_data **q)
{
    static const char *const words[N] = {"ab", "b", "aba", "bb", "ba", "a", "aab", "bab"};
    static const okra_int offsets[N + 1] = {0, 2, 3, 6, 8, 10, 11, 14, 17};
    okra_random_ r = okra_random_create_(1, 0);
    static double values[64]; /* borrowed by the data */
    okra_int codes[N];
    harness_normals(&r, 64, values);
    for (int i = 0; i < 64; i++) {
        values[i] = tanh(values[i]); /* hopfield wants -1 to 1 */
    }
    for (int i = 0; i < N; i++) {
        codes[i] = i % 2;
    }
    if (what == WORDS) {
        CHECK_OK(okra_data_sequences(offsets, values, NULL, N, 2, x));
        CHECK_OK(okra_data_sequences(offsets, values + 1, NULL, M, 2, q));
        CHECK_OK(okra_data_strings(words, N, y));
        return;
    }
    int p = what == IMAGES ? 4 : P;
    CHECK_OK(okra_data_dense(values, N, p, p, x));
    CHECK_OK(okra_data_dense(values + 1, M, p, p, q));
    if (what == LABELS) {
        CHECK_OK(okra_data_labels(codes, N, NULL, 2, y));
    } else {
        int d = what == IMAGES ? 4 : D;
        CHECK_OK(okra_data_dense(values + 20, N, d, d, y));
    }
}

/* Fits and predicts, counting; the status of the fit or of the prediction. */
static okra_status run(okra_context *ctx, const request *r)
{
    okra_data *x = NULL, *y = NULL, *q = NULL;
    okra_model *model = NULL;
    okra_prediction *prediction = NULL;
    okra_options *fit = settings_of(okra_fit_options, r->fit);
    okra_options *predict = settings_of(okra_predict_options, r->predict);
    okra_predict_request want = {OKRA_SIZED(okra_predict_request), .confidence = false};
    make(r->kind, &x, &y, &q);
    entered = 0;
    okra_status st = okra_fit(ctx, x, y, fit, &model);
    st = st ? st : okra_predict(ctx, model, q, predict, &want, &prediction);
    okra_prediction_free(prediction);
    okra_model_free(model);
    okra_options_free(predict);
    okra_options_free(fit);
    okra_data_free(q);
    okra_data_free(y);
    okra_data_free(x);
    return st;
}

TEST(models_stay_outside)
{
    okra_context *ctx = ref_context();
    for (int i = 0; i < REQUESTS; i++) {
        okra_status st = run(ctx, &requests[i]);
        CHECK_OK(st);
        CHECK(entered == 0);
        if (st != OKRA_OK || entered > 0) {
            printf("    %s %s: %d calls, %s\n", requests[i].fit, requests[i].predict,
                   entered, last);
        }
    }
    okra_context_free(ctx);
}

TEST(links_stay_outside)
{
    okra_context *ctx = ref_context();
    for (int i = 0; i < LINKERS; i++) {
        toy t;
        okra_links *links = NULL;
        okra_link *list = NULL;
        okra_int count = 0;
        char text[64];
        toy_make(&t, 3, 8, 0.4);
        snprintf(text, sizeof text, "kx=%s method=%s", TOY_KX, linkers[i]);
        okra_options *o = settings_of(okra_fit_options, text);
        entered = 0;
        CHECK_OK(okra_link_fit(ctx, &t.task, o, NULL, &links));
        CHECK_OK(okra_link_rank(ctx, links, OKRA_LINK_LABELLED_NEW, 0, -(double)INFINITY,
                                &list, &count));
        CHECK(entered == 0);
        if (entered > 0) {
            printf("    %s: %d calls, %s\n", linkers[i], entered, last);
        }
        okra_link_list_free(list);
        okra_links_free(links);
        okra_options_free(o);
        toy_free(&t);
    }
    okra_context_free(ctx);
}

TEST(every_method_is_among_them)
{
    for (size_t k = 0; okra_method_name(k, NULL, NULL); k++) {
        const char *name = okra_method_name(k, NULL, NULL);
        size_t length = strlen(name);
        bool found = false;
        for (int i = 0; i < REQUESTS; i++) {
            const char *fit = requests[i].fit + strlen("method=");
            found |= strcspn(fit, " ") == length && strncmp(fit, name, length) == 0;
        }
        for (int i = 0; i < LINKERS; i++) {
            found |= strcmp(linkers[i], name) == 0;
        }
        CHECK(found);
        if (!found) {
            printf("    method %s is not tried\n", name);
        }
    }
}

/* The traps work: the other backend falls into them. */
TEST(blas_is_noticed)
{
    double a[] = {4}, b[] = {1}, c[] = {0};
    okra_mat_ A = okra_mat_of_(a, 1, 1), B = okra_mat_of_(b, 1, 1);
    entered = 0;
    CHECK_OK(okra_gemm_(NULL, false, false, 1, A, B, 0, okra_mat_of_(c, 1, 1)));
    CHECK_OK(okra_cholesky_(NULL, A, NULL));
    CHECK_OK(okra_trsm_(NULL, true, false, A, B));
    CHECK(entered == 3);
    CHECK_TEXT(last, "cblas_dtrsm");
}

/* The word that `text` begins with, with the end that Fortran's names have. */
static void count_call(const char *path, const char *text, const char *end,
                       int calls[TRAPPED])
{
    char name[64];
    int i = 0;
    snprintf(name, sizeof name, "%.*s%s", (int)strcspn(text, "(, "), text, end);
    while (i < TRAPPED && strcmp(trapped[i], name) != 0) {
        i++;
    }
    CHECK(i < TRAPPED);
    if (i < TRAPPED) {
        calls[i]++;
    } else {
        printf("    %s in %s has no trap\n", name, path);
    }
}

/* Counts the calls of BLAS and LAPACK in one file; each must have a trap. */
static void check_file(const char *path, int calls[TRAPPED])
{
    static const char *const begins[] = {"cblas_d", "LAPACKE_d", "LAPACK_GLOBAL("};
    FILE *file = fopen(path, "r");
    char line[400];
    CHECK(file != NULL);
    while (file && fgets(line, sizeof line, file)) {
        for (int b = 0; b < 3; b++) {
            for (char *at = line; (at = strstr(at, begins[b])); at++) {
                const char *word = at + (b == 2 ? strlen(begins[b]) : 0);
                count_call(path, word, b == 2 ? "_" : "", calls);
            }
        }
    }
    if (file) {
        fclose(file);
    }
}

/* No function of BLAS or LAPACK that the source calls has no trap, and the reverse. */
TEST(all_calls_are_trapped)
{
    static const char *const folders[] = {"../src/linalg/*.c",
                                          "../src/linalg/backend/*.c"};
    int calls[TRAPPED] = {0};
    for (int f = 0; f < 2; f++) {
        glob_t found = {0};
        CHECK(glob(folders[f], 0, NULL, &found) == 0);
        for (size_t k = 0; k < found.gl_pathc; k++) {
            check_file(found.gl_pathv[k], calls);
        }
        globfree(&found);
    }
    for (int i = 0; i < TRAPPED; i++) {
        CHECK(calls[i] > 0);
    }
}

MAIN(RUN(models_stay_outside), RUN(links_stay_outside), RUN(every_method_is_among_them),
     RUN(blas_is_noticed), RUN(all_calls_are_trapped))
