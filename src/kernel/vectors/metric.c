/*
 * metric.c: kernels by a square matrix, read from a file or learned. A model keeps what
 * they need of it, and does not need the file.
 *
 * Inner products of dense vectors in another metric, <y, y'> = y'A y':
 *
 *     metric(file=A)           A given, d x d, symmetric, positive semi-definite
 *     tasks(file=M,mu=V)       A_1 = mu M + (1 - mu) I of a task graph M (Brouard et al.
 *                              2016, sec. 5.2, model 1)
 *     tasks(gamma=G,mu=V)      M_ij = exp(-G |Y^i - Y^j|^2) of the training outputs (sec.
 *                              6.2.2); without gamma: chosen by information, tasks.c
 *
 * Features are R y, A = R'R by the eigenvectors of A; R'R = sqrt(A) sqrt(A), so these are
 * the paper's up to a rotation. Eigenvalues that rounding made negative become 0; beyond
 * -1e-8 of the largest A is refused. A model keeps R. Cost: d^3 once, n d^2 a collection,
 * 2 d a pair.
 *
 * cost(file=D): a kernel of class labels from a matrix of costs (Weston et al. 2003, eq.
 * 5 with its sign put right).
 *
 *   G = -1/2 H D^2 H,  D_ab the cost of taking class a for b, H = I - 11'/C
 *
 * so that |phi(a) - phi(b)| = D_ab where the costs are distances in some Euclidean space
 * (all costs 1: zero-one/2, centred). Where they are not, the negative eigenvalues of G
 * are set to 0, the nearest G that is a kernel, and a warning tells their share. The
 * matrix must be square, one row per class, symmetric, not negative, 0 on the diagonal.
 * Cost: O(C^3) once, then a look-up a pair. A model keeps G.
 */
#include "kernel/positions/position.h"
#include "kernel/gram/trained_kernel.h"
#include "kernel/networks/network.h"

/* ---- the square matrix ---- */

typedef struct square {
    okra_int n;
    double *A; /* n x n */
    atomic_int owners;
} square;

static void square_free(void *arg)
{
    square *s = arg;
    if (s && atomic_fetch_sub(&s->owners, 1) == 1) {
        FREE(s->A, s);
    }
}

static void *square_share(void *arg)
{
    square *s = arg;
    atomic_fetch_add(&s->owners, 1);
    return s;
}

static okra_status square_create(okra_int n, double *A, void **out)
{
    OWNED double *owned = A;
    square *s = NULL;
    MAKE(s, 1);
    *s = (square){.n = n, .A = TAKE(owned)};
    atomic_init(&s->owners, 1);
    *out = s;
    return OKRA_OK;
}

static const okra_schema_ square_kept[] = {OKRA_KEEPS_MATRIX_("", 0, "s", "s"),
                                           OKRA_KEPT_END_};

static okra_status square_save(const void *arg, okra_store_ *store, const char *name)
{
    const square *s = arg;
    return okra_store_put_copy_(store, name, s->A, s->n, s->n);
}

static okra_status square_load(okra_context *ctx, const void *params,
                               const okra_data *train, const okra_store_ *store,
                               const char *name, void **out)
{
    okra_int rows = 0, cols = 0;
    const double *A = okra_store_get_(store, name, &rows, &cols);
    double *copy = NULL;
    CHK(okra_doubles_(ctx, rows, rows, "the matrix of a kernel", &copy));
    memcpy(copy, A, (size_t)(rows * rows) * sizeof *A);
    return square_create(rows, copy, out);
}

/* ---- metric and tasks ---- */

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
    return square_create(d, TAKE(R), out);
}

static okra_status fit_metric(okra_context *ctx, const void *params,
                              const okra_data *train, const okra_store_ *store,
                              const char *name, void **R, okra_data **mapped)
{
    double *A = NULL;
    if (store) {
        return square_load(ctx, params, train, store, name, R);
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
        return square_load(ctx, params, train, store, name, R);
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
    const square *R = state;
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

static const okra_through_ metric = {&okra_linear_, fit_metric, square_free, map,
                                     square_save},
                           tasks = {&okra_linear_, fit_tasks, square_free, map,
                                    square_save};

#define METRIC_HOOKS                                                            \
    .kinds = 1u << OKRA_DENSE, .save = okra_through_save_, .kept = square_kept, \
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

/* ---- cost ---- */

typedef struct cost_params {
    const char *file;
} cost_params;

typedef struct side {
    const square *G;
    const okra_int *codes;
} side;

static okra_status check_costs(const okra_data *D)
{
    REFUSE_IF(D->kind != OKRA_DENSE || D->n != D->d, OKRA_ESHAPE,
              "kernel cost: %s is %" PRId64 " x %" PRId64 ", expected a square matrix",
              D->source, D->n, D->d);
    for (okra_int i = 0; i < D->n; i++) {
        for (okra_int j = 0; j < D->n; j++) {
            double x = D->values[i * D->ld + j];
            REFUSE_IF(x < 0 || x != D->values[j * D->ld + i] || (i == j && x != 0),
                      OKRA_EARG,
                      "kernel cost: %s, row %" PRId64 ", column %" PRId64
                      " (from 0) is %g: costs must be symmetric, at least 0, and 0 on "
                      "the diagonal",
                      D->source, i, j, x);
        }
    }
    return OKRA_OK;
}

/* G <- -1/2 H D^2 H */
static void scaling(const okra_data *D, double *G, double *mean)
{
    okra_int C = D->n;
    for (okra_int i = 0; i < C * C; i++) {
        double x = D->values[i / C * D->ld + i % C];
        G[i] = -0.5 * (x * x);
    }
    okra_mat_center_(okra_mat_of_(G, C, C), mean);
}

/* G <- sum of its positive eigenpairs, if it has negative ones beyond rounding. */
static okra_status clip(okra_context *ctx, okra_int C, const char *source, double *G)
{
    OWNED double *V = NULL, *w = NULL;
    double negative = 0, all = 0;
    CHK(okra_doubles_(ctx, C, C, "the eigenvectors of costs", &V));
    MAKE(w, C);
    memcpy(V, G, (size_t)(C * C) * sizeof *V);
    CHK(okra_eigh_(ctx, okra_mat_of_(V, C, C), w));
    for (okra_int k = 0; k < C; k++) {
        negative += w[k] < 0 ? -w[k] : 0;
        all += fabs(w[k]);
    }
    if (negative > 1e-12 * all) {
        okra_warn_(ctx,
                   "kernel cost: %s is no matrix of distances: %.2g of the spectrum "
                   "is negative and was set to 0",
                   source, negative / all);
        for (okra_int k = 0; k < C; k++) {
            okra_scale_(C, w[k] > 0 ? sqrt(w[k]) : 0, V + k * C);
        }
        CHK(okra_syrk_(ctx, true, 1, okra_mat_of_(V, C, C), 0, okra_mat_of_(G, C, C)));
    }
    return OKRA_OK;
}

static okra_status bind_training(okra_context *ctx, const void *params,
                                 const okra_data *train, void **out)
{
    FREED_BY(okra_data_drop_) okra_data *D = NULL;
    OWNED double *G = NULL, *mean = NULL;
    CHK(okra_data_read(ctx, ((const cost_params *)params)->file, &D));
    CHK(check_costs(D));
    REFUSE_IF(D->n < train->d, OKRA_ESHAPE,
              "kernel cost: %s has costs of %" PRId64 " classes, %s has %" PRId64,
              D->source, D->n, train->source, train->d);
    CHK(okra_doubles_(ctx, D->n, D->n, "the kernel of classes", &G));
    MAKE(mean, D->n);
    scaling(D, G, mean);
    CHK(clip(ctx, D->n, D->source, G));
    return square_create(D->n, TAKE(G), out);
}

static okra_status make_side(okra_context *ctx, const void *params, const void *arg,
                             const okra_data *data, void **out)
{
    const square *G = arg;
    side *s = NULL;
    for (okra_int i = 0; i < data->n; i++) {
        REFUSE_IF(data->codes[i] >= G->n, OKRA_EARG,
                  "kernel cost: label %" PRId64 " of %s is class %" PRId64
                  ", the costs are of %" PRId64 " classes",
                  i, data->source, data->codes[i], G->n);
    }
    MAKE(s, 1);
    *s = (side){G, data->codes};
    *out = s;
    return OKRA_OK;
}

static double pair(const void *params, const void *pa, okra_int i, const void *pb,
                   okra_int j)
{
    const side *a = pa, *b = pb;
    return a->G->A[a->codes[i] * a->G->n + b->codes[j]];
}

static const okra_option rows[] = {{"file", OKRA_OPTION_READ, offsetof(cost_params, file),
                                    NULL, 1, 0, NULL, "FILE",
                                    "the matrix of costs between classes"},
                                   {.name = NULL}};

const okra_kernel_class_ okra_cost_ = {
    .name = "cost",
    .help = "labels: the kernel whose distances are the costs of confusing two classes",
    .params = {"cost", rows, sizeof(cost_params)},
    .kinds = 1u << OKRA_LABELS,
    .bind = bind_training,
    .unbind = square_free,
    .share = square_share,
    .save = square_save,
    .load = square_load,
    .kept = square_kept,
    .side = make_side,
    .free_side = okra_free_,
    .pair = pair};
