/*
 * cost.c: a kernel of class labels from a matrix of costs (Weston et al. 2003, eq. 5 with
 * its sign put right).
 *
 *   G = -1/2 H D^2 H,  D_ab the cost of taking class a for b, H = I - 11'/C
 *
 * so that |phi(a) - phi(b)| = D_ab where the costs are distances in some Euclidean space
 * (all costs 1: zero-one/2, centred). Where they are not, the negative eigenvalues of G
 * are set to 0, the nearest G that is a kernel, and a warning tells their share. The
 * matrix must be square, one row per class, symmetric, not negative, 0 on the diagonal.
 * Cost: O(C^3) once, then a look-up a pair. A model keeps G: it does not need the file.
 */
#include "kernel/gram/trained_kernel.h"

typedef struct cost_params {
    const char *file;
} cost_params;

typedef struct side {
    const okra_square_ *G;
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
    return okra_square_create_(D->n, TAKE(G), out);
}

static okra_status make_side(okra_context *ctx, const void *params, const void *arg,
                             const okra_data *data, void **out)
{
    const okra_square_ *G = arg;
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
    OKRA_SQUARE_HOOKS_,
    .side = make_side,
    .free_side = okra_free_,
    .pair = pair};
