/*
 * svm.c: support vector machines on the input kernel, one an output, by LIBSVM (Chang and
 * Lin 2011) with a precomputed Gram matrix.
 *
 *   class labels   one machine a class against the rest (C-SVC), decision f_c(x)
 *   dense vectors  one epsilon-SVR an output coordinate (linear output kernel)
 *
 *     f(x) = sum_i a_i k(x_i, x) - rho      a = coefficients of LIBSVM, 0 off the support
 *
 * The prediction of classes is h(x) = sum_c f_c(x) phi(c) with phi(c) the label's own
 * direction, written as weights: f_c(x) on the first training pair of class c, 0 on all
 * others. Under a zero-one output kernel the nearest candidate is then the class with the
 * largest f_c. Vectors are predicted as embeddings. Cost: LIBSVM's, roughly n^2 to n^3 a
 * machine; machines are trained in parallel; a query takes n a machine. LIBSVM copies the
 * Gram matrix with 16 bytes an entry.
 */
#include "method/method.h"

#include <libsvm/svm.h>
#include <string.h>

typedef struct svm_options {
    double cost, tube, tolerance;
} svm_options;

static const okra_option rows[] = {
    {"cost", OKRA_OPTION_NUMBER, offsetof(svm_options, cost), "1", 1e-300, 1e300, NULL,
     "V", "price of errors, the C of a support vector machine"},
    {"tube", OKRA_OPTION_NUMBER, offsetof(svm_options, tube), "0.1", 0, 1e300, NULL, "V",
     "half width of the tube within which a regression counts no error"},
    {"svm-tolerance", OKRA_OPTION_NUMBER, offsetof(svm_options, tolerance), "0.001",
     1e-12, 1, NULL, "V", "optimality at which LIBSVM stops"},
    {0},
};

extern const okra_method_ okra_method_svm_;

typedef struct job {
    const okra_problem_ *p;
    const svm_options *o;
    struct svm_node *nodes, **x; /* n rows of n + 2 nodes: number, values, end */
    double *target;              /* machines x n */
    double *C, *bias;            /* n x machines, machines */
    okra_int machines;
    bool classes;
} job;

static void be_quiet(const char *text)
{
    (void)text;
}

static okra_status fill_nodes(okra_context *ctx, job *j)
{
    okra_status st = OKRA_OK;
    okra_int n = j->p->n;
    double *K = NULL;
    TRY(okra_problem_K_(ctx, j->p, &K));
    TRY(okra_budget_ask_(ctx, (double)n * (double)(n + 2) * sizeof *j->nodes,
                         "LIBSVM's copy of the Gram matrix"));
    ALLOC(j->nodes, n * (n + 2));
    ALLOC(j->x, n);
    for (okra_int i = 0; i < n; i++) {
        struct svm_node *row = j->nodes + i * (n + 2);
        j->x[i] = row;
        row[0] = (struct svm_node){0, (double)(i + 1)};
        for (okra_int k = 0; k < n; k++) {
            row[k + 1] = (struct svm_node){(int)(k + 1), K[i * n + k]};
        }
        row[n + 1] = (struct svm_node){-1, 0};
    }
done:
    okra_free_(K);
    return st;
}

/* The +1/-1 of every class, or the columns of the outputs. */
static okra_status fill_targets(job *j)
{
    okra_status st = OKRA_OK;
    const okra_problem_ *p = j->p;
    okra_int n = p->n;
    j->classes = p->y && p->y->kind == OKRA_LABELS;
    if (!j->classes && !p->features) {
        FAIL(OKRA_EUNSUPPORTED,
             "svm needs class labels, or dense vectors under a linear output kernel, as "
             "outputs");
    }
    j->machines = j->classes ? p->y->d : p->d;
    ALLOC(j->target, j->machines * n);
    for (okra_int m = 0; m < j->machines; m++) {
        for (okra_int i = 0; i < n; i++) {
            j->target[m * n + i] = j->classes ? (p->y->codes[i] == m ? 1 : -1)
                                              : p->features[i * p->features_ld + m];
        }
    }
done:
    return st;
}

/* Are all targets of a machine the same? Then it is that constant. */
static bool constant(const double *target, okra_int n)
{
    for (okra_int i = 1; i < n; i++) {
        if (target[i] != target[0]) {
            return false;
        }
    }
    return true;
}

static okra_status train(job *j, okra_int m)
{
    okra_status st = OKRA_OK;
    okra_int n = j->p->n;
    struct svm_problem problem = {(int)n, j->target + m * n, j->x};
    struct svm_parameter parameter = {.svm_type = j->classes ? C_SVC : EPSILON_SVR,
                                      .kernel_type = PRECOMPUTED,
                                      .cache_size = 100,
                                      .eps = j->o->tolerance,
                                      .C = j->o->cost,
                                      .p = j->o->tube,
                                      .shrinking = 1};
    for (okra_int i = 0; i < n; i++) {
        j->C[i * j->machines + m] = 0;
    }
    if (constant(problem.y, n)) {
        j->bias[m] = problem.y[0];
        return OKRA_OK;
    }
    struct svm_model *model = svm_train(&problem, &parameter);
    if (!model) {
        FAIL(OKRA_ENUMERIC, "svm: LIBSVM did not train machine %lld", (long long)m);
    }
    /* decisions are in favour of the class that LIBSVM met first */
    double sign = j->classes && model->label[0] < 0 ? -1 : 1;
    for (int s = 0; s < model->l; s++) {
        okra_int i = (okra_int)model->SV[s][0].value - 1;
        j->C[i * j->machines + m] = sign * model->sv_coef[0][s];
    }
    j->bias[m] = -sign * model->rho[0];
    svm_free_and_destroy_model(&model);
done:
    return st;
}

static okra_status body(void *arg, okra_int begin, okra_int end, int worker)
{
    okra_status st = OKRA_OK;
    (void)worker;
    for (okra_int m = begin; m < end; m++) {
        TRY(train(arg, m));
    }
done:
    return st;
}

/* The first training pair of every class; -1: none. */
static okra_status put_representatives(const job *j, okra_bag_ *bag)
{
    okra_status st = OKRA_OK;
    double *first = NULL;
    ALLOC(first, j->machines);
    for (okra_int m = 0; m < j->machines; m++) {
        first[m] = -1;
        for (okra_int i = j->p->n; i-- > 0;) {
            first[m] = j->p->y->codes[i] == m ? (double)i : first[m];
        }
    }
    TRY(okra_bag_put_(bag, "representatives", first, 1, j->machines));
    first = NULL;
done:
    okra_free_(first);
    return st;
}

static okra_status fit(okra_context *ctx, const okra_problem_ *problem,
                       const okra_options *options, okra_bag_ *bag)
{
    okra_status st = OKRA_OK;
    svm_options o;
    job j = {.p = problem, .o = &o};
    TRY(okra_options_read(options, &okra_method_svm_.options, &o));
    if (problem->n > INT32_MAX - 2) {
        FAIL(OKRA_EUNSUPPORTED, "svm: %lld training pairs are more than LIBSVM can count",
             (long long)problem->n);
    }
    TRY(fill_targets(&j));
    TRY(fill_nodes(ctx, &j));
    TRY(okra_doubles_(ctx, problem->n, j.machines, "the coefficients of machines", &j.C));
    ALLOC(j.bias, j.machines);
    svm_set_print_string_function(be_quiet);
    TRY(okra_parallel_(ctx, j.machines, 1, "machines", body, &j));
    if (j.classes) {
        TRY(put_representatives(&j, bag));
    }
    TRY(okra_bag_put_(bag, "coefficients", j.C, problem->n, j.machines));
    j.C = NULL;
    TRY(okra_bag_put_(bag, "bias", j.bias, 1, j.machines));
    j.bias = NULL;
done:
    okra_free_(j.nodes);
    okra_free_(j.x);
    okra_free_(j.target);
    okra_free_(j.C);
    okra_free_(j.bias);
    return st;
}

/* ---- prediction ----------------------------------------------------------------------
 */

static okra_form_ form(const okra_bag_ *bag)
{
    okra_int r, c;
    return okra_bag_get_(bag, "representatives", &r, &c) ? OKRA_FORM_WEIGHTS
                                                         : OKRA_FORM_EMBEDDING;
}

static okra_int width(const okra_bag_ *bag)
{
    okra_int n = 0, machines = 0;
    okra_bag_get_(bag, "coefficients", &n, &machines);
    return machines;
}

static okra_status decide(okra_context *ctx, const okra_bag_ *bag, okra_query_ *query,
                          okra_mat_ F)
{
    okra_status st = OKRA_OK;
    okra_int n = 0, machines = 0, one = 0, again = 0;
    const double *C = okra_bag_get_(bag, "coefficients", &n, &machines);
    const double *bias = okra_bag_get_(bag, "bias", &one, &again);
    if (!C || !bias || n != query->n || machines != F.cols || again != machines) {
        FAIL(OKRA_EFORMAT, "svm: the model's machines do not fit %lld training pairs",
             (long long)query->n);
    }
    TRY(okra_gemm_(ctx, false, false, 1, query->Kx,
                   okra_mat_view_(C, n, machines, machines), 0, F));
    for (okra_int r = 0; r < F.rows; r++) {
        for (okra_int m = 0; m < machines; m++) {
            F.p[r * F.ld + m] += bias[m];
        }
    }
done:
    return st;
}

static okra_status predict(okra_context *ctx, const okra_bag_ *bag, okra_query_ *query,
                           okra_mat_ out)
{
    okra_status st = OKRA_OK;
    okra_int one = 0, machines = 0;
    double *F = NULL;
    const double *first = okra_bag_get_(bag, "representatives", &one, &machines);
    if (!first) {
        return decide(ctx, bag, query, out);
    }
    TRY(okra_doubles_(ctx, query->m, machines, "the decisions of machines", &F));
    TRY(decide(ctx, bag, query, okra_mat_of_(F, query->m, machines)));
    okra_mat_fill_(out, 0);
    for (okra_int m = 0; m < machines; m++) {
        okra_int i = (okra_int)first[m];
        if (i >= query->n) {
            FAIL(OKRA_EFORMAT, "svm: the model names training pair %lld of %lld",
                 (long long)i, (long long)query->n);
        }
        for (okra_int r = 0; i >= 0 && r < query->m; r++) {
            out.p[r * out.ld + i] = F[r * machines + m];
        }
    }
done:
    okra_free_(F);
    return st;
}

const okra_method_ okra_method_svm_ = {
    .name = "svm",
    .help = "support vector machines: one class against the rest, or a regression an "
            "output (LIBSVM)",
    .options = {"svm", rows, sizeof(svm_options)},
    .fit = fit,
    .form = form,
    .width = width,
    .predict = predict,
};
