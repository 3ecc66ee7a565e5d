/*
 * soar.c: structured output-associative regression (Bo and Sminchisescu, CVPR 2009):
 * each output is regressed on the inputs and on the other outputs.
 *
 * The variant here, d outputs:
 *     start      y_j = s_j + sum_i b_ij k(x_i, x)
 *     iterate    y_j = o_j + sum_i c_ij K_j((x, y), (x_i, y_i)),  j = 1..d in turn, each
 *                with the newest values of the others (Gauss-Seidel), until no output
 *                moves by more than `settle` times its standard deviation
 *     K_j = k(x, x') + a(y_-j, y'_-j)  or their product, y_-j the outputs without the
 * j-th. Both are fitted on the true outputs of the training set, by kernel ridge
 * regression, (K + lambda I)^-1 (Y - m) with s = o = m, the means, or by support vector
 * regression (libsvm.c).
 *
 * Prediction (soar_predict.c): a vector. Cost of a fit: n^3/3 an output (ridge). Memory:
 * two n x n matrices of the engine in a fit; the model holds 3 n d numbers.
 */
#include "method/structured/libsvm.h"
#include "method/forms.h"
#include "method/twin/soar.h"

#include <math.h>
#include <string.h>

typedef struct soar_options {
    double lambda, cost, tube, settle;
    const char *associate;
    int learner, combine;
    okra_int sweeps;
} soar_options;

enum { RIDGE, SVR };
enum { SUM, PRODUCT };

static const okra_option rows[] = {
    {"lambda", OKRA_OPTION_NUMBER, offsetof(soar_options, lambda), "0.1", 1e-300, 1e300,
     NULL, "V", "regularisation of the ridge learner: K + lambda I"},
    {"learner", OKRA_OPTION_CHOICE, offsetof(soar_options, learner), "ridge", 1, 0,
     "ridge|svr", "NAME", "ridge or svr"},
    {"associate", OKRA_OPTION_TEXT, offsetof(soar_options, associate), "linear", 1, 0,
     NULL, "EXPR", "kernel of the other outputs"},
    {"combine", OKRA_OPTION_CHOICE, offsetof(soar_options, combine), "product", 1, 0,
     "sum|product", "NAME", "how the kernels of inputs and of other outputs meet"},
    {"cost", OKRA_OPTION_NUMBER, offsetof(soar_options, cost), "1", 1e-300, 1e300, NULL,
     "V", "price of errors, the C of the svr learner"},
    {"tube", OKRA_OPTION_NUMBER, offsetof(soar_options, tube), "0.1", 0, 1e300, NULL, "V",
     "half width of the tube within which the svr learner counts no error"},
    {"sweeps", OKRA_OPTION_INT, offsetof(soar_options, sweeps), "20", 0, 1e4, NULL, "N",
     "most iterations over the outputs in a prediction"},
    {"settle", OKRA_OPTION_NUMBER, offsetof(soar_options, settle), "1e-3", 1e-300, 1,
     NULL, "V", "share of its standard deviation by which a settled output may move"},
    {0},
};

extern const okra_method_ okra_method_soar_;

/* ---- fit ---- */

typedef struct fitter {
    okra_context *ctx;
    const soar_options *o;
    okra_int n, d;
    double *T;         /* d x n: the outputs, transposed and centred */
    double *mean, *sd; /* d */
} fitter;

typedef struct machines {
    const fitter *f;
    okra_svm_gram_ gram;
    okra_int first;
    double *C, *offset;
} machines;

static okra_status machines_body(void *arg, okra_int begin, okra_int end, int worker)
{
    const machines *m = arg;
    const fitter *f = m->f;
    (void)worker;
    for (okra_int j = m->first + begin; j < m->first + end; j++) {
        okra_svm_ svm = {.regression = true,
                         .cost = f->o->cost,
                         .tube = f->o->tube,
                         .tolerance = 1e-3 * f->sd[j]};
        double bias = 0;
        CHK(okra_svm_train_(&m->gram, &svm, NULL, f->n, f->T + j * f->n, m->C + j * f->n,
                            &bias));
        m->offset[j] = f->mean[j] + bias;
    }
    return OKRA_OK;
}

/* By support vectors, which look at single entries of K: on the host. */
static okra_status regress_svr(const fitter *f, okra_large_ **K, okra_int count,
                               machines *m)
{
    OWNED double *host = NULL;
    CHK(okra_large_take_(f->ctx, K, "the Gram matrix of a regression", &host));
    CHK(okra_svm_gram_create_(f->ctx, "soar", okra_mat_of_(host, f->n, f->n), &m->gram));
    return okra_parallel_(f->ctx, count, 1, NULL, machines_body, m);
}

/* Rows j..j+count-1 of C (d x n) and their offsets, from those of T; K is used up. */
static okra_status regress(const fitter *f, okra_large_ **K, okra_int j, okra_int count,
                           double *C, double *offset)
{
    okra_int n = f->n;
    if (f->o->learner == SVR) {
        machines m = {.f = f, .first = j, .C = C, .offset = offset};
        okra_status st = regress_svr(f, K, count, &m);
        okra_svm_gram_clear_(&m.gram);
        return st;
    }
    okra_mat_ to = okra_mat_of_(C + j * n, count, n);
    CHK(okra_mat_copy_(okra_mat_of_(f->T + j * n, count, n), to));
    memcpy(offset + j, f->mean + j, (size_t)count * sizeof *offset);
    CHK(okra_large_add_diagonal_(f->ctx, f->o->lambda, *K));
    CHK(okra_large_cholesky_(f->ctx, *K, NULL));
    return okra_large_solve_host_(f->ctx, false, *K, to);
}

/* Row j of C: on the inputs and the true values of the other outputs. */
static okra_status fit_output(const fitter *f, const okra_kernel *kernel,
                              const okra_problem_ *problem, okra_int j, double *C,
                              double *offset)
{
    FREED_BY(okra_data_drop_) okra_data *rest = NULL;
    FREED_BY(okra_bound_drop_) okra_bound_ *bound = NULL;
    FREED_BY(okra_entries_drop_) okra_entries_ *entries = NULL;
    FREED_BY(okra_large_drop_) okra_large_ *K = NULL, *A = NULL;
    okra_int n = f->n;
    bool product = f->o->combine == PRODUCT;
    okra_mat_ Y = okra_mat_view_(problem->features, n, f->d, problem->features_ld);
    CHK(okra_large_create_(f->ctx, n, n, "the Gram matrix of the other outputs", &A));
    CHK(okra_soar_others_(Y, j, &rest));
    CHK(okra_bound_create_(f->ctx, kernel, rest, &bound));
    CHK(okra_entries_create_(f->ctx, bound, NULL, &entries));
    CHK(okra_large_gram_(f->ctx, entries, 0, A));
    CHK(okra_problem_K_(f->ctx, problem, &K));
    CHK(okra_large_combine_(f->ctx, product ? OKRA_COMBINE_PRODUCT_ : OKRA_COMBINE_SUM_,
                            1, 1, NULL, NULL, K, A));
    okra_large_free_(K);
    K = NULL;
    return regress(f, &A, j, 1, C, offset);
}

/* T, mean and sd of the outputs Y. */
static void centre(okra_mat_ Y, const fitter *f)
{
    for (okra_int j = 0; j < f->d; j++) {
        double sum = 0, square = 0;
        for (okra_int i = 0; i < f->n; i++) {
            sum += Y.p[i * Y.ld + j];
        }
        f->mean[j] = sum / (double)f->n;
        for (okra_int i = 0; i < f->n; i++) {
            double t = Y.p[i * Y.ld + j] - f->mean[j];
            f->T[j * f->n + i] = t;
            square += t * t;
        }
        f->sd[j] = sqrt(square / (double)f->n);
    }
}

static okra_status check(const okra_problem_ *p, const okra_options *options,
                         const soar_options *o)
{
    REFUSE_IF(!p->features || p->d < 2, OKRA_EUNSUPPORTED,
              "soar: regresses outputs on one another: it needs dense vectors of at "
              "least 2 numbers under a linear output kernel");
    static const char *const of_svr[] = {"cost", "tube"};
    for (int k = 0; k < 2 && o->learner == RIDGE; k++) {
        REFUSE_IF(okra_options_is_set(options, of_svr[k]), OKRA_EARG,
                  "soar: %s is for learner svr", of_svr[k]);
    }
    REFUSE_IF(o->learner == SVR && okra_options_is_set(options, "lambda"), OKRA_EARG,
              "soar: lambda is for learner ridge");
    return OKRA_OK;
}

static okra_status fit(okra_context *ctx, const okra_problem_ *problem,
                       const okra_options *options, okra_bag_ *bag)
{
    okra_status st = OKRA_OK;
    soar_options o;
    okra_kernel *kernel = NULL;
    okra_int n = problem->n, d = problem->d;
    fitter f = {.ctx = ctx, .o = &o, .n = n, .d = d};
    okra_large_ *K = NULL;
    double *start = NULL, *C = NULL, *moments = NULL, *Y = NULL;
    TRY(okra_options_read(options, &okra_method_soar_.options, &o));
    TRY(check(problem, options, &o));
    st = okra_kernel_parse(o.associate, &kernel);
    if (st != OKRA_OK) {
        okra_message_prefix_("associate");
        goto done;
    }
    FAIL_IF(okra_kernel_files_(kernel), OKRA_EUNSUPPORTED,
            "soar: associate is %s, expected a kernel that reads no file: a model could "
            "not keep it",
            okra_kernel_text(kernel));
    FAIL_IF(okra_kernel_low_(kernel), OKRA_EUNSUPPORTED,
            "soar: associate is %s, expected a kernel without low rank",
            okra_kernel_text(kernel));
    TRY(okra_doubles_(ctx, d, n, "the outputs", &f.T));
    TRY(okra_doubles_(ctx, n, d, "the outputs", &Y));
    TRY(okra_doubles_(ctx, d, n, "the coefficients", &start));
    TRY(okra_doubles_(ctx, d, n, "the coefficients", &C));
    ZALLOC(moments, 3 * d);
    ALLOC(f.mean, d);
    f.sd = moments + 2 * d;
    TRY(okra_mat_copy_(okra_mat_view_(problem->features, n, d, problem->features_ld),
                       okra_mat_of_(Y, n, d)));
    centre(okra_mat_of_(Y, n, d), &f);
    TRY(okra_problem_K_(ctx, problem, &K));
    TRY(regress(&f, &K, 0, d, start, moments));
    okra_large_free_(K);
    K = NULL;
    okra_mat_fill_(okra_mat_of_(C, d, n), 0);
    for (okra_int j = 0; j < d && o.sweeps > 0; j++) {
        okra_progress_(ctx, "outputs", j, d);
        TRY(fit_output(&f, kernel, problem, j, C, moments + d));
    }
    okra_progress_end_(ctx, "outputs");
    TRY(okra_bag_put_(bag, "outputs", &Y, n, d));
    TRY(okra_bag_put_(bag, "start", &start, d, n));
    TRY(okra_bag_put_(bag, "coefficients", &C, d, n));
    TRY(okra_bag_put_(bag, "moments", &moments, 3, d));
    TRY(okra_bag_put_text_(bag, "associate", okra_kernel_text(kernel)));
    TRY(okra_bag_put_number_(bag, "product", o.combine == PRODUCT));
    TRY(okra_bag_put_number_(bag, "sweeps", (double)o.sweeps));
    TRY(okra_bag_put_number_(bag, "settle", o.settle));
done:
    okra_kernel_free(kernel);
    FREE(f.T, f.mean, Y);
    okra_large_free_(K);
    FREE(start, C, moments);
    return st;
}

static okra_int width(const okra_bag_ *bag)
{
    okra_int n = 0, d = 0;
    okra_bag_get_(bag, "outputs", &n, &d);
    return d;
}

/* clang-format off */
static const okra_kept_ kept_all[] = {
    OKRA_KEEPS_MATRIX_("outputs", 0, "n", "d"),
    OKRA_KEEPS_MATRIX_("start", 0, "d", "n"),
    OKRA_KEEPS_MATRIX_("coefficients", 0, "d", "n"),
    OKRA_KEEPS_MATRIX_("moments", 0, "3", "d"),
    OKRA_KEEPS_TEXT_("associate", 0),
    OKRA_KEEPS_NUMBER_("product", OKRA_KEPT_WHOLE_, "0", "1"),
    OKRA_KEEPS_NUMBER_("sweeps", OKRA_KEPT_WHOLE_, "0", "10000"),
    OKRA_KEEPS_NUMBER_("settle", 0, "0", "1e300"),
    OKRA_KEEPS_SAME_("inputs", "c", "n"),
    OKRA_KEPT_END_};
static const okra_kept_ *const kept[] = {kept_all, NULL};
/* clang-format on */

/* What goes between outputs has no unit. */
static const okra_auto_ automatic = {.between = "associate"};

const okra_method_ okra_method_soar_ = {
    .name = "soar",
    .automatic = &automatic,
    .unweighted = "learns how to correct its own predictions from pairs that count "
                  "alike: it does not use weights",
    .help = "structured output-associative regression: outputs regressed on one another",
    .options = {"soar", rows, sizeof(soar_options)},
    .fit = fit,
    .form = okra_form_embedding_,
    .width = width,
    .predict = okra_soar_predict_,
    .kept = kept,
    .check = okra_soar_check_,
};
