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
 * Prediction: a vector. Cost of a fit: n^3/3 an output (ridge), of a query: 2 n d a sweep
 * and output. Memory: two n x n matrices in a fit; the model holds 3 n d numbers.
 */
#include "method/libsvm.h"
#include "method/method.h"

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
    {"sweeps", OKRA_OPTION_INT, offsetof(soar_options, sweeps), "20", 0, 1e6, NULL, "N",
     "most iterations over the outputs in a prediction"},
    {"settle", OKRA_OPTION_NUMBER, offsetof(soar_options, settle), "1e-3", 1e-300, 1,
     NULL, "V", "share of its standard deviation by which a settled output may move"},
    {0},
};

extern const okra_method_ okra_method_soar_;

/* ---- the other outputs ---------------------------------------------------------------
 */

/* Y (m x d) without column j. */
static okra_status others(okra_mat_ Y, okra_int j, okra_data **out)
{
    okra_status st = OKRA_OK;
    double *rest = NULL;
    okra_int d = Y.cols - 1;
    ALLOC(rest, Y.rows * d);
    for (okra_int i = 0; i < Y.rows; i++) {
        const double *row = Y.p + i * Y.ld;
        memcpy(rest + i * d, row, (size_t)j * sizeof *rest);
        memcpy(rest + i * d + j, row + j + 1, (size_t)(d - j) * sizeof *rest);
    }
    TRY(okra_data_adopt_dense_(rest, Y.rows, d, "the other outputs", out));
    rest = NULL;
done:
    okra_free_(rest);
    return st;
}

/* A <- k + a or k a, element by element. */
static void join(int combine, okra_mat_ K, okra_mat_ A)
{
    for (okra_int i = 0; i < A.rows; i++) {
        const double *k = K.p + i * K.ld;
        double *a = A.p + i * A.ld;
        for (okra_int j = 0; j < A.cols; j++) {
            a[j] = combine == SUM ? k[j] + a[j] : k[j] * a[j];
        }
    }
}

/* ---- fit -----------------------------------------------------------------------------
 */

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
    okra_status st = OKRA_OK;
    const machines *m = arg;
    const fitter *f = m->f;
    (void)worker;
    for (okra_int j = m->first + begin; j < m->first + end; j++) {
        okra_svm_ svm = {.regression = true,
                         .cost = f->o->cost,
                         .tube = f->o->tube,
                         .tolerance = 1e-3 * f->sd[j]};
        double bias = 0;
        TRY(okra_svm_train_(&m->gram, &svm, NULL, f->n, f->T + j * f->n, m->C + j * f->n,
                            &bias));
        m->offset[j] = f->mean[j] + bias;
    }
done:
    return st;
}

/* Rows j..j+count-1 of C (d x n) and their offsets, from those of T; K is destroyed. */
static okra_status regress(const fitter *f, okra_mat_ K, okra_int j, okra_int count,
                           double *C, double *offset)
{
    okra_status st = OKRA_OK;
    okra_int n = f->n;
    machines m = {.f = f, .first = j, .C = C, .offset = offset};
    if (f->o->learner == SVR) {
        TRY(okra_svm_gram_create_(f->ctx, "soar", K, &m.gram));
        TRY(okra_parallel_(f->ctx, count, 1, NULL, machines_body, &m));
    } else {
        okra_mat_ to = okra_mat_of_(C + j * n, count, n);
        okra_mat_copy_(okra_mat_of_(f->T + j * n, count, n), to);
        memcpy(offset + j, f->mean + j, (size_t)count * sizeof *offset);
        okra_mat_add_diagonal_(K, f->o->lambda);
        TRY(okra_cholesky_(f->ctx, K, NULL));
        TRY(okra_cholesky_solve_rows_(f->ctx, K, to));
    }
done:
    okra_svm_gram_clear_(&m.gram);
    return st;
}

/* Row j of C: on the inputs and the true values of the other outputs. */
static okra_status fit_output(const fitter *f, const okra_kernel *kernel,
                              const okra_problem_ *problem, okra_int j, double *C,
                              double *offset)
{
    okra_status st = OKRA_OK;
    okra_data *rest = NULL;
    okra_bound_ *bound = NULL;
    double *K = NULL, *A = NULL;
    okra_int n = f->n;
    okra_mat_ Y = okra_mat_view_(problem->features, n, f->d, problem->features_ld);
    TRY(okra_doubles_(f->ctx, n, n, "the Gram matrix of the other outputs", &A));
    TRY(others(Y, j, &rest));
    TRY(okra_bound_create_(f->ctx, kernel, rest, &bound));
    TRY(okra_bound_gram_(f->ctx, bound, okra_mat_of_(A, n, n)));
    TRY(okra_problem_K_(f->ctx, problem, &K));
    join(f->o->combine, okra_mat_of_(K, n, n), okra_mat_of_(A, n, n));
    okra_free_(K);
    K = NULL;
    TRY(regress(f, okra_mat_of_(A, n, n), j, 1, C, offset));
done:
    okra_bound_free_(bound);
    okra_data_free(rest);
    okra_free_(K);
    okra_free_(A);
    return st;
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

/* *values becomes the bag's. */
static okra_status put(okra_bag_ *bag, const char *name, double **values, okra_int m,
                       okra_int cols)
{
    okra_status st = okra_bag_put_(bag, name, *values, m, cols);
    if (st == OKRA_OK) {
        *values = NULL;
    }
    return st;
}

static okra_status check(const okra_problem_ *p, const okra_options *options,
                         const soar_options *o)
{
    if (!p->features || p->d < 2) {
        return okra_fail_(OKRA_EUNSUPPORTED,
                          "soar: regresses outputs on one another: it needs dense "
                          "vectors of at least 2 numbers under a linear output kernel");
    }
    static const char *const of_svr[] = {"cost", "tube"};
    for (int k = 0; k < 2 && o->learner == RIDGE; k++) {
        if (okra_options_is_set(options, of_svr[k])) {
            return okra_fail_(OKRA_EARG, "soar: %s is for learner svr", of_svr[k]);
        }
    }
    if (o->learner == SVR && okra_options_is_set(options, "lambda")) {
        return okra_fail_(OKRA_EARG, "soar: lambda is for learner ridge");
    }
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
    double *K = NULL, *start = NULL, *C = NULL, *moments = NULL, *Y = NULL;
    TRY(okra_options_read(options, &okra_method_soar_.options, &o));
    TRY(check(problem, options, &o));
    st = okra_kernel_parse(o.associate, &kernel);
    if (st != OKRA_OK) {
        okra_message_prefix_("associate");
        goto done;
    }
    TRY(okra_doubles_(ctx, d, n, "the outputs", &f.T));
    TRY(okra_doubles_(ctx, n, d, "the outputs", &Y));
    TRY(okra_doubles_(ctx, d, n, "the coefficients", &start));
    TRY(okra_doubles_(ctx, d, n, "the coefficients", &C));
    ZALLOC(moments, 3 * d);
    ALLOC(f.mean, d);
    f.sd = moments + 2 * d;
    okra_mat_copy_(okra_mat_view_(problem->features, n, d, problem->features_ld),
                   okra_mat_of_(Y, n, d));
    centre(okra_mat_of_(Y, n, d), &f);
    TRY(okra_problem_K_(ctx, problem, &K));
    TRY(regress(&f, okra_mat_of_(K, n, n), 0, d, start, moments));
    okra_free_(K);
    K = NULL;
    okra_mat_fill_(okra_mat_of_(C, d, n), 0);
    for (okra_int j = 0; j < d && o.sweeps > 0; j++) {
        okra_progress_(ctx, "outputs", j, d);
        TRY(fit_output(&f, kernel, problem, j, C, moments + d));
    }
    TRY(put(bag, "outputs", &Y, n, d));
    TRY(put(bag, "start", &start, d, n));
    TRY(put(bag, "coefficients", &C, d, n));
    TRY(put(bag, "moments", &moments, 3, d));
    TRY(okra_bag_put_text_(bag, "associate", okra_kernel_text(kernel)));
    TRY(okra_bag_put_number_(bag, "product", o.combine == PRODUCT));
    TRY(okra_bag_put_number_(bag, "sweeps", (double)o.sweeps));
    TRY(okra_bag_put_number_(bag, "settle", o.settle));
done:
    okra_kernel_free(kernel);
    okra_free_(f.T);
    okra_free_(f.mean);
    okra_free_(Y);
    okra_free_(K);
    okra_free_(start);
    okra_free_(C);
    okra_free_(moments);
    return st;
}

/* ---- prediction ----------------------------------------------------------------------
 */

static okra_form_ form(const okra_bag_ *bag)
{
    (void)bag;
    return OKRA_FORM_EMBEDDING;
}

static okra_int width(const okra_bag_ *bag)
{
    okra_int n = 0, d = 0;
    okra_bag_get_(bag, "outputs", &n, &d);
    return d;
}

typedef struct stored {
    okra_mat_ Y, start, C;
    const double *first, *offset, *sd; /* d: added to start, to C; spread of outputs */
    double product, sweeps, settle;
    okra_kernel *kernel;
    okra_data **rest; /* d: training outputs without the j-th, and their kernels */
    okra_bound_ **bound;
} stored;

static void stored_clear(stored *s, okra_int d)
{
    for (okra_int j = 0; j < d; j++) {
        if (s->bound) {
            okra_bound_free_(s->bound[j]);
        }
        if (s->rest) {
            okra_data_free(s->rest[j]);
        }
    }
    okra_free_(s->bound);
    okra_free_(s->rest);
    okra_kernel_free(s->kernel);
}

static okra_status matrix(const okra_bag_ *bag, const char *name, okra_int m, okra_int d,
                          okra_mat_ *out)
{
    okra_int r = 0, c = 0;
    const double *p = okra_bag_get_(bag, name, &r, &c);
    *out = okra_mat_view_(p, r, c, c);
    return p && r == m && c == d
               ? OKRA_OK
               : okra_fail_(OKRA_EFORMAT,
                            "soar: the model's '%s' is %lld x %lld, expected %lld x %lld",
                            name, (long long)r, (long long)c, (long long)m, (long long)d);
}

static okra_status unpack(okra_context *ctx, const okra_bag_ *bag, okra_int n, okra_int d,
                          stored *s)
{
    okra_status st = OKRA_OK;
    okra_mat_ moments;
    const char *text = okra_bag_get_text_(bag, "associate");
    TRY(matrix(bag, "outputs", n, d, &s->Y));
    TRY(matrix(bag, "start", d, n, &s->start));
    TRY(matrix(bag, "coefficients", d, n, &s->C));
    TRY(matrix(bag, "moments", 3, d, &moments));
    s->first = moments.p;
    s->offset = moments.p + d;
    s->sd = moments.p + 2 * d;
    if (!text || !okra_bag_get_number_(bag, "product", &s->product) ||
        !okra_bag_get_number_(bag, "sweeps", &s->sweeps) ||
        !okra_bag_get_number_(bag, "settle", &s->settle)) {
        FAIL(OKRA_EFORMAT, "soar: the model lacks a setting");
    }
    TRY(okra_kernel_parse(text, &s->kernel));
    ZALLOC(s->rest, d);
    ZALLOC(s->bound, d);
    for (okra_int j = 0; j < d; j++) {
        TRY(others(s->Y, j, &s->rest[j]));
        TRY(okra_bound_create_(ctx, s->kernel, s->rest[j], &s->bound[j]));
    }
done:
    return st;
}

/* A new column j of H; *moved: the largest step in standard deviations. A is m x n. */
static okra_status renew(okra_context *ctx, const stored *s, okra_mat_ K, okra_int j,
                         okra_mat_ A, okra_mat_ H, double *moved)
{
    okra_status st = OKRA_OK;
    okra_data *rest = NULL;
    okra_other_ *other = NULL;
    TRY(others(H, j, &rest));
    TRY(okra_other_create_(ctx, s->bound[j], rest, &other));
    TRY(okra_other_cross_(ctx, s->bound[j], other, 0, A));
    join(s->product != 0 ? PRODUCT : SUM, K, A);
    for (okra_int i = 0; i < H.rows; i++) {
        double *h = &H.p[i * H.ld + j];
        double value =
            s->offset[j] + okra_dot_(A.cols, A.p + i * A.ld, s->C.p + j * s->C.ld);
        *moved = fmax(*moved, fabs(value - *h) / fmax(s->sd[j], 1e-300));
        *h = value;
    }
done:
    okra_other_free_(other);
    okra_data_free(rest);
    return st;
}

static okra_status predict(okra_context *ctx, const okra_bag_ *bag, okra_query_ *query,
                           okra_mat_ out)
{
    okra_status st = OKRA_OK;
    okra_int d = out.cols;
    stored s = {0};
    double *A = NULL, moved = 0;
    TRY(unpack(ctx, bag, query->n, d, &s));
    TRY(okra_doubles_(ctx, query->m, query->n, "kernels of the other outputs", &A));
    for (okra_int i = 0; i < out.rows; i++) {
        memcpy(out.p + i * out.ld, s.first, (size_t)d * sizeof *out.p);
    }
    TRY(okra_gemm_(ctx, false, true, 1, query->Kx, s.start, 1, out));
    for (double sweep = 0; sweep < s.sweeps; sweep++) {
        moved = 0;
        for (okra_int j = 0; j < d; j++) {
            TRY(okra_cancelled_(ctx));
            TRY(renew(ctx, &s, query->Kx, j, okra_mat_of_(A, query->m, query->n), out,
                      &moved));
        }
        if (moved <= s.settle) {
            break;
        }
    }
    if (moved > s.settle) {
        okra_warn_(
            ctx,
            "soar: after %.0f sweeps an output still moves by %.2g of its standard "
            "deviation",
            s.sweeps, moved);
    }
done:
    stored_clear(&s, s.rest ? d : 0);
    okra_free_(A);
    return st;
}

const okra_method_ okra_method_soar_ = {
    .name = "soar",
    .help = "structured output-associative regression: outputs regressed on one another",
    .options = {"soar", rows, sizeof(soar_options)},
    .fit = fit,
    .form = form,
    .width = width,
    .predict = predict,
};
