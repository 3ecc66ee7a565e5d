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
 * Prediction: a vector. Cost of a fit: n^3/3 an output (ridge). Memory:
 * two n x n matrices of the engine in a fit; the model holds 3 n d numbers.
 *
 * Each test input is iterated on its own: it leaves when no output of it moves any more,
 * so that its prediction does not depend on the others it came with. The iteration need
 * not have a fixed point that it reaches. What has not settled after the last sweep is
 * given as it stands; what moves by more than FAR standard deviations at once runs away,
 * and is given by the inputs alone, as it started. Both are counted in a warning.
 *
 * Cost: 2 n d operations a test input, sweep and output, and the kernel. Memory: an
 * m x n matrix beside the query's, which is overwritten.
 */
#include "method/structured/libsvm.h"
#include "method/method.h"

static const double FAR = 1e6; /* no use in such outputs; kernels of them are finite */

/* Y (m x d) without column j. */
static okra_status others(okra_mat_ Y, okra_int j, okra_data **out)
{
    OWNED double *rest = NULL;
    okra_int d = Y.cols - 1;
    MAKE(rest, Y.rows * d);
    for (okra_int i = 0; i < Y.rows; i++) {
        const double *row = Y.p + i * Y.ld;
        memcpy(rest + i * d, row, (size_t)j * sizeof *rest);
        memcpy(rest + i * d + j, row + j + 1, (size_t)(d - j) * sizeof *rest);
    }
    return okra_data_adopt_dense_(&rest, Y.rows, d, "the other outputs", out);
}

/* A <- K + A or K A, element by element. */
static void join(bool product, okra_mat_ K, okra_mat_ A)
{
    for (okra_int i = 0; i < A.rows; i++) {
        const double *k = K.p + i * K.ld;
        double *a = A.p + i * A.ld;
        for (okra_int j = 0; j < A.cols; j++) {
            a[j] = product ? k[j] * a[j] : k[j] + a[j];
        }
    }
}

typedef struct stored {
    okra_int d;
    okra_mat_ Y, start, C;
    const double *first, *offset, *sd; /* d: added to start, to C; spread of outputs */
    double product, sweeps, settle;
    okra_kernel *kernel;
    okra_data **rest; /* d: training outputs without the j-th, and their kernels */
    okra_trained_kernel_ **bound;
} stored;

static void stored_clear(stored *s)
{
    for (okra_int j = 0; s->rest && j < s->d; j++) {
        if (s->bound) {
            okra_trained_kernel_free_(s->bound[j]);
        }
        okra_data_free(s->rest[j]);
    }
    FREE(s->bound, s->rest);
    okra_kernel_free(s->kernel);
}

static okra_status unpack(okra_context *ctx, const okra_store_ *store, stored *s)
{
    okra_int d = s->d;
    s->Y = okra_store_mat_(store, "outputs");
    s->start = okra_store_mat_(store, "start");
    s->C = okra_store_mat_(store, "coefficients");
    s->first = okra_store_mat_(store, "moments").p;
    s->offset = s->first + d;
    s->sd = s->first + 2 * d;
    okra_store_get_number_(store, "product", &s->product);
    okra_store_get_number_(store, "sweeps", &s->sweeps);
    okra_store_get_number_(store, "settle", &s->settle);
    CHK(okra_kernel_parse_kept_(okra_store_get_text_(store, "associate"), &s->kernel));
    ZMAKE(s->rest, d);
    ZMAKE(s->bound, d);
    for (okra_int j = 0; j < d; j++) {
        CHK(others(s->Y, j, &s->rest[j]));
        CHK(okra_trained_kernel_create_(ctx, s->kernel, s->rest[j], &s->bound[j]));
    }
    return OKRA_OK;
}

/* What tables cannot say of a model (okra_method_). */
static okra_status check_store(const okra_store_ *store, const okra_facts_ *facts)
{
    FREED_BY(okra_kernel_drop_) okra_kernel *kernel = NULL;
    okra_int rows = 0, d = 0;
    const double *moments = okra_store_get_(store, "moments", &rows, &d);
    CHK(okra_kernel_parse_kept_(okra_store_get_text_(store, "associate"), &kernel));
    REFUSE_IF(d < 1 || okra_kernel_files_(kernel) || okra_kernel_low_(kernel) ||
                  !(okra_kernel_kinds_(kernel) >> OKRA_DENSE & 1),
              OKRA_EFORMAT,
              "soar: associate is %s, expected a kernel of vectors without files or low "
              "rank, and outputs of at least one coordinate",
              okra_kernel_text(kernel));
    for (okra_int j = 0; j < d; j++) {
        REFUSE_IF(moments[2 * d + j] < 0, OKRA_EFORMAT,
                  "soar: the spread of output %lld is %g", (long long)j,
                  moments[2 * d + j]);
    }
    return OKRA_OK;
}

/* The test inputs whose outputs still move: rows 0..count-1 of what follows. */
typedef struct going {
    okra_int count, lost; /* lost: how many have run away                           */
    okra_int *which;      /* rows of the query                                      */
    double *moved;        /* largest step of a sweep, in standard deviations        */
    okra_mat_ K, H;       /* kernels of the inputs; outputs                         */
    double *A;            /* room for kernels of the others                         */
} going;

/* A new column j of H. */
static okra_status renew(okra_context *ctx, const stored *s, okra_int j, going *g)
{
    FREED_BY(okra_data_drop_) okra_data *rest = NULL;
    FREED_BY(okra_test_side_drop_) okra_test_side_ *other = NULL;
    okra_mat_ H = okra_mat_part_(g->H, 0, g->count, 0, g->H.cols);
    okra_mat_ K = okra_mat_part_(g->K, 0, g->count, 0, g->K.cols);
    okra_mat_ A = okra_mat_of_(g->A, g->count, K.cols);
    CHK(others(H, j, &rest));
    CHK(okra_test_side_create_(ctx, s->bound[j], rest, &other));
    CHK(okra_test_side_cross_(ctx, s->bound[j], other, 0, A));
    join(s->product != 0, K, A);
    for (okra_int i = 0; i < g->count; i++) {
        double *h = &H.p[i * H.ld + j];
        double value =
            s->offset[j] + okra_dot_(A.cols, A.p + i * A.ld, s->C.p + j * s->C.ld);
        double step = fabs(value - *h) / fmax(s->sd[j], 1e-300);
        if (step <= FAR) {
            *h = value;
            g->moved[i] = fmax(g->moved[i], step);
        } else { /* not finite, too */
            g->moved[i] = INFINITY;
        }
    }
    return OKRA_OK;
}

/* After a sweep: what has settled, or on the last one is near, goes to out; what still
 * moves closes up. */
static void sort_out(const stored *s, bool last, going *g, okra_mat_ out)
{
    okra_int kept = 0;
    size_t d = (size_t)out.cols, n = (size_t)g->K.cols;
    for (okra_int i = 0; i < g->count; i++) {
        double *h = g->H.p + i * g->H.ld, moved = g->moved[i];
        if (moved <= s->settle || (last && moved <= FAR)) {
            memcpy(out.p + g->which[i] * out.ld, h, d * sizeof *h);
        }
        if (moved <= s->settle) {
            continue;
        }
        if (!(moved <= FAR)) {
            g->lost++;
            continue;
        }
        g->which[kept] = g->which[i];
        memmove(g->H.p + kept * g->H.ld, h, d * sizeof *h);
        memmove(g->K.p + kept * g->K.ld, g->K.p + i * g->K.ld, n * sizeof *h);
        kept++;
    }
    g->count = kept;
}

static okra_status sweeps(okra_context *ctx, const stored *s, going *g, okra_mat_ out)
{
    for (double sweep = 1; sweep <= s->sweeps && g->count > 0; sweep++) {
        memset(g->moved, 0, (size_t)g->count * sizeof *g->moved);
        for (okra_int j = 0; j < out.cols; j++) {
            CHK(okra_cancelled_(ctx));
            CHK(renew(ctx, s, j, g));
        }
        sort_out(s, sweep == s->sweeps, g, out);
    }
    return OKRA_OK;
}

/* What predictions that still move take. */
OKRA_CLEARS_(going_clear, going, it->A, it->which, it->moved, it->H.p)

static okra_status predict(okra_context *ctx, const okra_store_ *store,
                           okra_query_ *query, okra_mat_ out)
{
    okra_int m = query->m, d = out.cols;
    FREED_BY(stored_clear) stored s = {.d = d};
    FREED_BY(going_clear) going g = {.count = m, .K = query->Kx};
    CHK(unpack(ctx, store, &s));
    CHK(okra_doubles_(ctx, m, query->n, "kernels of the other outputs", &g.A));
    CHK(okra_doubles_(ctx, m, d, "outputs that move", &g.H.p));
    MAKE(g.which, m);
    MAKE(g.moved, m);
    g.H = okra_mat_of_(g.H.p, m, d);
    for (okra_int i = 0; i < m; i++) {
        memcpy(out.p + i * out.ld, s.first, (size_t)d * sizeof *out.p);
        g.which[i] = i;
    }
    CHK(okra_gemm_(ctx, false, true, 1, query->Kx, s.start, 1, out));
    CHK(okra_mat_copy_(out, g.H));
    CHK(sweeps(ctx, &s, &g, out));
    if (s.sweeps > 0 && g.count > 0) {
        okra_warn_(
            ctx,
            "soar: %lld of %lld predictions had not settled after %.0f sweeps; the "
            "first is that of input %lld (from 0)",
            (long long)g.count, (long long)m, s.sweeps,
            (long long)(query->first + g.which[0]));
    }
    if (g.lost > 0) {
        okra_warn_(ctx,
                   "soar: the outputs of %lld of %lld inputs ran away from one another; "
                   "they are predicted from the inputs alone",
                   (long long)g.lost, (long long)m);
    }
    return OKRA_OK;
}

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
static okra_status regress_svr(const fitter *f, okra_matrix_ **K, okra_int count,
                               machines *m)
{
    OWNED double *host = NULL;
    CHK(okra_matrix_take_(f->ctx, K, "the Gram matrix of a regression", &host));
    CHK(okra_svm_gram_create_(f->ctx, "soar", okra_mat_of_(host, f->n, f->n), &m->gram));
    return okra_parallel_(f->ctx, count, 1, NULL, machines_body, m);
}

/* Rows j..j+count-1 of C (d x n) and their offsets, from those of T; K is used up. */
static okra_status regress(const fitter *f, okra_matrix_ **K, okra_int j, okra_int count,
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
    CHK(okra_matrix_add_diagonal_(f->ctx, f->o->lambda, *K));
    CHK(okra_matrix_cholesky_(f->ctx, *K, NULL));
    return okra_matrix_solve_host_(f->ctx, false, *K, to);
}

/* Row j of C: on the inputs and the true values of the other outputs. */
static okra_status fit_output(const fitter *f, const okra_kernel *kernel,
                              const okra_problem_ *problem, okra_int j, double *C,
                              double *offset)
{
    FREED_BY(okra_data_drop_) okra_data *rest = NULL;
    FREED_BY(okra_trained_kernel_drop_) okra_trained_kernel_ *bound = NULL;
    FREED_BY(okra_entries_drop_) okra_entries_ *entries = NULL;
    FREED_BY(okra_matrix_drop_) okra_matrix_ *K = NULL, *A = NULL;
    okra_int n = f->n;
    bool product = f->o->combine == PRODUCT;
    okra_mat_ Y = okra_mat_view_(problem->features, n, f->d, problem->features_ld);
    CHK(okra_matrix_create_(f->ctx, n, n, "the Gram matrix of the other outputs", &A));
    CHK(others(Y, j, &rest));
    CHK(okra_trained_kernel_create_(f->ctx, kernel, rest, &bound));
    CHK(okra_entries_create_(f->ctx, bound, NULL, &entries));
    CHK(okra_matrix_gram_(f->ctx, entries, 0, A));
    CHK(okra_problem_K_(f->ctx, problem, &K));
    CHK(okra_matrix_combine_(f->ctx, product ? OKRA_COMBINE_PRODUCT_ : OKRA_COMBINE_SUM_,
                             1, 1, NULL, NULL, K, A));
    okra_matrix_drop_(&K);
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

OKRA_CLEARS_(fitter_clear, fitter, it->T, it->mean)

static okra_status fit(okra_context *ctx, const okra_problem_ *problem,
                       const okra_options *options, okra_store_ *store)
{
    soar_options o;
    FREED_BY(okra_kernel_drop_) okra_kernel *kernel = NULL;
    okra_int n = problem->n, d = problem->d;
    FREED_BY(fitter_clear) fitter f = {.ctx = ctx, .o = &o, .n = n, .d = d};
    FREED_BY(okra_matrix_drop_) okra_matrix_ *K = NULL;
    OWNED double *start = NULL, *C = NULL, *moments = NULL, *Y = NULL;
    CHK(okra_options_read(options, &okra_method_soar_.options, &o));
    CHK(check(problem, options, &o));
    CHK(okra_at_(okra_kernel_parse(o.associate, &kernel), "associate"));
    REFUSE_IF(
        okra_kernel_files_(kernel), OKRA_EUNSUPPORTED,
        "soar: associate is %s, expected a kernel that reads no file: a model could "
        "not keep it",
        okra_kernel_text(kernel));
    REFUSE_IF(okra_kernel_low_(kernel), OKRA_EUNSUPPORTED,
              "soar: associate is %s, expected a kernel without low rank",
              okra_kernel_text(kernel));
    CHK(okra_doubles_(ctx, d, n, "the outputs", &f.T));
    CHK(okra_doubles_(ctx, n, d, "the outputs", &Y));
    CHK(okra_doubles_(ctx, d, n, "the coefficients", &start));
    CHK(okra_doubles_(ctx, d, n, "the coefficients", &C));
    ZMAKE(moments, 3 * d);
    MAKE(f.mean, d);
    f.sd = moments + 2 * d;
    CHK(okra_mat_copy_(okra_mat_view_(problem->features, n, d, problem->features_ld),
                       okra_mat_of_(Y, n, d)));
    centre(okra_mat_of_(Y, n, d), &f);
    CHK(okra_problem_K_(ctx, problem, &K));
    CHK(regress(&f, &K, 0, d, start, moments));
    okra_matrix_drop_(&K);
    okra_mat_fill_(okra_mat_of_(C, d, n), 0);
    for (okra_int j = 0; j < d && o.sweeps > 0; j++) {
        okra_progress_(ctx, "outputs", j, d);
        CHK(fit_output(&f, kernel, problem, j, C, moments + d));
    }
    okra_progress_end_(ctx, "outputs");
    CHK(okra_store_put_(store, "outputs", &Y, n, d));
    CHK(okra_store_put_(store, "start", &start, d, n));
    CHK(okra_store_put_(store, "coefficients", &C, d, n));
    CHK(okra_store_put_(store, "moments", &moments, 3, d));
    CHK(okra_store_put_text_(store, "associate", okra_kernel_text(kernel)));
    CHK(okra_store_put_number_(store, "product", o.combine == PRODUCT));
    CHK(okra_store_put_number_(store, "sweeps", (double)o.sweeps));
    return okra_store_put_number_(store, "settle", o.settle);
}

static okra_int width(const okra_store_ *store)
{
    return okra_store_mat_(store, "outputs").cols;
}

static const okra_schema_ kept_all[] = {
    OKRA_KEEPS_MATRIX_("outputs", 0, "n", "d"),
    OKRA_KEEPS_MATRIX_("start", 0, "d", "n"),
    OKRA_KEEPS_MATRIX_("coefficients", 0, "d", "n"),
    OKRA_KEEPS_MATRIX_("moments", 0, "3", "d"),
    OKRA_KEEPS_TEXT_("associate", 0),
    OKRA_KEEPS_NUMBER_("product", OKRA_KEPT_WHOLE_, "0", "1"),
    OKRA_KEEPS_NUMBER_("sweeps", OKRA_KEPT_WHOLE_, "0", "10000"),
    OKRA_KEEPS_NUMBER_("settle", 0, "0", "1e300"),
    OKRA_KEEPS_SAME_("inputs", "c", "n"),
    OKRA_KEPT_END_,
};

/* What goes between outputs has no unit. */
static const okra_auto_ automatic = {.between = "associate"};

const okra_method_ okra_method_soar_ = {
    .name = "soar",
    .automatic = &automatic,
    .unweighted = "learns how to correct its own predictions from pairs of equal "
                  "weight: it does not use weights",
    .help = "structured output-associative regression: outputs regressed on one another",
    .options = {"soar", rows, sizeof(soar_options)},
    .fit = fit,
    .width = width,
    .predict = predict,
    .kept = (const okra_schema_ *const[]){kept_all, NULL},
    .check = check_store,
};
