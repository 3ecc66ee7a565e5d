/*
 * metric.c: inner products of dense vectors in another metric, <y, y'> = y'A y'.
 *
 *     metric(file=A)           A given, d x d, symmetric, positive semi-definite
 *     tasks(file=M,mu=V)       A_1 = mu M + (1 - mu) I of a task graph M (Brouard et al.
 *                              2016, sec. 5.2, model 1)
 *     tasks(gamma=G,mu=V)      M_ij = exp(-G |Y^i - Y^j|^2) of the training outputs (sec.
 *                              6.2.2); without gamma: chosen by information, tasks.c
 *
 * Features are R y, A = R'R by the eigenvectors of A; R'R = sqrt(A) sqrt(A), so these are
 * the paper's up to a rotation. Eigenvalues that rounding made negative become 0; beyond
 * -1e-8 of the largest A is refused. A model keeps R: it does not need the file. Cost:
 * d^3 once, n d^2 a collection, 2 d a pair.
 */
#include "kernel/positions/position.h"
#include "kernel/gram/trained_kernel.h"
#include "kernel/networks/network.h"

typedef struct metric_params {
    const char *file;
} metric_params;

typedef struct tasks_params {
    const char *file;
    double gamma, mu;
} tasks_params;

/* Keeps R, A = R'R. Takes A (d x d) over, also on failure. */
static okra_status root(okra_context *ctx, const char *who, okra_int d, double *A,
                        void **out)
{
    OWNED double *R = A, *w = NULL;
    MAKE(w, d);
    CHK(okra_eigh_(ctx, okra_mat_of_(R, d, d), w));
    double top = d ? fmax(fabs(w[0]), fabs(w[d - 1])) : 0;
    REFUSE_IF(d && w[0] < -1e-8 * top, OKRA_EARG,
              "kernel %s: the smallest eigenvalue of the matrix is %.6g, the largest "
              "%.6g, expected a positive semi-definite matrix",
              who, w[0], w[d - 1]);
    for (okra_int i = 0; i < d * d; i++) {
        R[i] *= sqrt(fmax(w[i / d], 0));
    }
    return okra_square_create_(d, TAKE(R), out);
}

static okra_status fit_metric(okra_context *ctx, const void *params,
                              const okra_data *train, const okra_store_ *store,
                              const char *name, void **R, okra_data **mapped)
{
    double *A = NULL;
    if (store) {
        return okra_square_load_(ctx, params, train, store, name, R);
    }
    CHK(okra_tasks_read_(ctx, "kernel metric", ((const metric_params *)params)->file,
                         train->d, &A));
    return root(ctx, "metric", train->d, A, R);
}

static okra_status fit_tasks(okra_context *ctx, const void *params,
                             const okra_data *train, const okra_store_ *store,
                             const char *name, void **R, okra_data **mapped)
{
    const tasks_params *p = params;
    okra_int d = train->d;
    double *M = NULL;
    if (store) {
        return okra_square_load_(ctx, params, train, store, name, R);
    }
    REFUSE_IF(*p->file && p->gamma > 0, OKRA_EARG,
              "kernel tasks: both file and gamma are given, expected one");
    CHK(*p->file ? okra_tasks_read_(ctx, "kernel tasks", p->file, d, &M)
                 : okra_tasks_estimate_(
                       ctx, okra_mat_view_(train->values, train->n, d, train->ld),
                       train->weights, p->gamma, &M));
    for (okra_int i = 0; i < d * d; i++) {
        M[i] = p->mu * M[i] + (i / d == i % d ? 1 - p->mu : 0);
    }
    return root(ctx, "tasks", d, M, R);
}

/* R y_i */
static okra_status map(okra_context *ctx, const void *params, const void *state,
                       const okra_data *data, okra_data **out)
{
    const okra_square_ *R = state;
    OWNED double *Z = NULL;
    REFUSE_IF(data->d != R->n, OKRA_ESHAPE,
              "%s has %" PRId64 " columns, the metric of the kernel is of %" PRId64,
              data->source, data->d, R->n);
    CHK(okra_doubles_(ctx, data->n, R->n, "vectors in another metric", &Z));
    CHK(okra_gemm_(ctx, false, true, 1,
                   okra_mat_view_(data->values, data->n, data->d, data->ld),
                   okra_mat_of_(R->A, R->n, R->n), 0, okra_mat_of_(Z, data->n, R->n)));
    return okra_data_adopt_dense_(&Z, data->n, R->n, data->source, out);
}

static const okra_through_ metric = {&okra_linear_, fit_metric, okra_square_free_, map,
                                     okra_square_save_},
                           tasks = {&okra_linear_, fit_tasks, okra_square_free_, map,
                                    okra_square_save_};

#define METRIC_HOOKS                                                                  \
    .kinds = 1u << OKRA_DENSE, .save = okra_through_save_, .kept = okra_square_kept_, \
    .share = okra_through_share_, OKRA_THROUGH_HOOKS_

static const okra_option metric_rows[] = {
    {"file", OKRA_OPTION_READ, offsetof(metric_params, file), NULL, 1, 0, NULL, "FILE",
     "the matrix A, d x d, symmetric and positive semi-definite"},
    {.name = NULL}};

const okra_kernel_class_ okra_metric_ = {
    .name = "metric",
    .help = "inner product x'A y of dense vectors",
    .params = {"metric", metric_rows, sizeof(metric_params)},
    .through = &metric,
    METRIC_HOOKS};

static const okra_option tasks_rows[] = {
    {"mu", OKRA_OPTION_NUMBER, offsetof(tasks_params, mu), NULL, 0, 1, NULL, "V",
     "weight of the graph: A = mu M + (1 - mu) I"},
    {"file", OKRA_OPTION_READ, offsetof(tasks_params, file), "", 1, 0, NULL, "FILE",
     "the weights M of the graph, d x d"},
    {"gamma", OKRA_OPTION_NUMBER, offsetof(tasks_params, gamma), "0", 0, 1e300, NULL, "V",
     "M_ij = exp(-gamma |Y^i - Y^j|^2) of the training columns; 0: by information"},
    {.name = NULL}};

const okra_kernel_class_ okra_tasks_ = {
    .name = "tasks",
    .help = "dense vectors whose coordinates are related tasks: x'A y from a task graph",
    .params = {"tasks", tasks_rows, sizeof(tasks_params)},
    .through = &tasks,
    METRIC_HOOKS};
