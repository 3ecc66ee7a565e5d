/*
 * unlearn.c: what a training output owes to the pairs that it was learned from.
 *
 * Without the pairs G that have the output y, ridge predicts at x
 *     h_G(x) = h(x) - sum_{i in G} w_i(x) E_i,   E = (B_GG)^-1 (B Phi)_G,   B = (K +
 * lambda I)^-1, E_i being the residuals of these pairs where they were left out. So y,
 * had it not been learned, would have the inner product <h_G(x), phi(y)> = <h(x), phi(y)>
 * - sum_{i in G} w_i(x) g_i,   g_i = <E_i, phi(y)> with the prediction, as candidates
 * that the model never saw have <h(x), phi(y)>. Exact without centring; with it E is that
 * of the mean of all outputs, which is off by 1/n.
 *
 * Outputs are equal where |phi(y_i) - phi(y_j)|^2 is 0 to rounding. Cost: n^3, 2 n^2
 * doubles.
 */
#include "model/model.h"

static okra_status check(const okra_model *model, const okra_solution_ *fitted)
{
    const okra_training_ *t = model->training;
    const char *why = fitted->no_closed_form;
    if (!why && (!t->bound_x || !t->bound_y || t->waves || t->x->n != t->y->n)) {
        why = "the model is of low rank, or has inputs without outputs";
    } else if (!why && (okra_kernel_centers_(t->kx) || okra_kernel_centers_(t->ky))) {
        why = "a kernel depends on the whole training set";
    }
    REFUSE_IF(why, OKRA_EUNSUPPORTED,
              "as-new needs predictions without some pairs, which have no closed form: "
              "%s",
              why);
    return OKRA_OK;
}

/* g of the `size` pairs of `group`, which have one output. */
static okra_status leave(okra_context *ctx, okra_mat_ B, okra_mat_ L, bool center,
                         const okra_int *group, okra_int size, double *g)
{
    okra_int n = B.rows, y = group[0];
    OWNED double *part = NULL, *right = NULL;
    double jitter = 0, mean = 0;
    MAKE(right, size);
    CHK(okra_doubles_(ctx, size, size, "pairs of one output", &part));
    for (okra_int j = 0; center && j < n; j++) {
        mean += L.p[j * n + y] / (double)n;
    }
    for (okra_int a = 0; a < size; a++) {
        const double *row = B.p + group[a] * n;
        right[a] = 0;
        for (okra_int j = 0; j < n; j++) {
            right[a] += row[j] * (L.p[j * n + y] - mean);
        }
        for (okra_int b = 0; b < size; b++) {
            part[a * size + b] = row[group[b]];
        }
    }
    CHK(okra_cholesky_(ctx, okra_mat_of_(part, size, size), &jitter));
    CHK(okra_cholesky_solve_(ctx, okra_mat_of_(part, size, size),
                             okra_mat_of_(right, size, 1)));
    for (okra_int a = 0; a < size; a++) {
        g[group[a]] = right[a];
    }
    return OKRA_OK;
}

okra_status okra_unlearn_(okra_context *ctx, const okra_model *model, double **out)
{
    const okra_training_ *t = model->training;
    okra_int n = t->y->n;
    FREED_BY(okra_solution_clear_) okra_solution_ fitted;
    OWNED double *B = NULL, *L = NULL, *g = NULL;
    OWNED okra_int *group = NULL;
    OWNED bool *done = NULL;
    okra_model_solution_(model, &fitted);
    CHK(check(model, &fitted));
    CHK(okra_doubles_(ctx, n, n, "the inverse of the Gram matrix", &B));
    CHK(okra_doubles_(ctx, n, n, "the Gram matrix of the outputs", &L));
    CHK(okra_solution_inverse_(ctx, &fitted, t->bound_x, okra_mat_of_(B, n, n)));
    CHK(okra_trained_kernel_gram_(ctx, t->bound_y, okra_mat_of_(L, n, n)));
    MAKE(g, n);
    MAKE(group, n);
    ZMAKE(done, n);
    for (okra_int i = 0; i < n; i++) {
        okra_int size = 0;
        for (okra_int j = i; !done[i] && j < n; j++) {
            if (j == i || okra_same_point_(L[i * n + i], L[j * n + j], L[i * n + j])) {
                group[size++] = j;
            }
        }
        if (size > 0) {
            CHK(leave(ctx, okra_mat_of_(B, n, n), okra_mat_of_(L, n, n), fitted.center,
                      group, size, g));
        }
        for (okra_int k = 0; k < size; k++) {
            done[group[k]] = true;
        }
    }
    *out = TAKE(g);
    return OKRA_OK;
}
