/*
 * sparse.c: candidates among sparse or bit outputs under a linear kernel c <y,y'>.
 *
 * The d coefficients h = sum_i w_i y_i take the place of the n weights:
 *     sum_i w_i l(y_i, y) = c <h, y>,    w'Lw = c |h|^2,
 * so that a test point costs the members of the training outputs and of the candidates,
 * not n^2. Nothing is made dense but one h per thread.
 */
#include "candidates/sparse.h"

bool okra_sparse_outputs_wanted_(const okra_output_ *output, double *scale)
{
    okra_kind kind = okra_data_kind(output->y);
    bool plain = !output->map && !output->components && !output->criterion;
    return plain && (kind == OKRA_SPARSE || kind == OKRA_BITS) && output->kernel &&
           okra_kernel_is_linear_(output->kernel, scale);
}

void okra_sparse_outputs_combine_(const okra_data *y, const double *w, double *h)
{
    for (okra_int j = 0; j < y->d; j++) {
        h[j] = 0;
    }
    for (okra_int i = 0; i < y->n; i++) {
        if (y->kind == OKRA_SPARSE) {
            for (okra_int k = y->csr.indptr[i]; k < y->csr.indptr[i + 1]; k++) {
                h[y->csr.indices[k]] += w[i] * y->csr.values[k];
            }
            continue;
        }
        for (okra_int word = 0; word < y->words; word++) {
            for (uint64_t b = y->bits[i * y->words + word]; b != 0; b &= b - 1) {
                h[word * 64 + __builtin_ctzll(b)] += w[i];
            }
        }
    }
}

/* <h, y_i> */
static double inner(const okra_data *y, okra_int i, const double *h)
{
    double sum = 0;
    if (y->kind == OKRA_SPARSE) {
        for (okra_int k = y->csr.indptr[i]; k < y->csr.indptr[i + 1]; k++) {
            sum += y->csr.values[k] * h[y->csr.indices[k]];
        }
        return sum;
    }
    for (okra_int word = 0; word < y->words; word++) {
        for (uint64_t b = y->bits[i * y->words + word]; b != 0; b &= b - 1) {
            sum += h[word * 64 + __builtin_ctzll(b)];
        }
    }
    return sum;
}

typedef struct work {
    const okra_data *y, *set;
    double scale;
    okra_mat_ W;
    double *h;        /* d for each worker */
    double *G, *norm; /* rows x count, rows */
} work;

static okra_status some_rows(void *arg, okra_int begin, okra_int end, int worker)
{
    const work *w = arg;
    okra_int d = w->y->d, count = w->set->n;
    double *h = w->h + (okra_int)worker * d;
    for (okra_int r = begin; r < end; r++) {
        okra_sparse_outputs_combine_(w->y, w->W.p + r * w->W.ld, h);
        w->norm[r] = w->scale * okra_dot_(d, h, h);
        for (okra_int c = 0; c < count; c++) {
            w->G[r * count + c] = w->scale * inner(w->set, c, h);
        }
    }
    return OKRA_OK;
}

okra_status okra_sparse_outputs_search_(okra_context *ctx, const okra_output_ *output,
                                        double scale, const okra_data *set,
                                        const double *self, double constant,
                                        const okra_block_ *block, okra_nearest_ *nearest)
{
    const okra_int together = (okra_int)1 << 20; /* inner products at a time */
    okra_int rows = OKRA_MIN_(block->m, OKRA_MAX_(together / set->n, 1));
    work w = {.y = output->y, .set = set, .scale = scale};
    OWNS(&w.h, &w.G, &w.norm);
    CHK(okra_doubles_(ctx, okra_workers_(ctx), w.y->d, "predicted vectors", &w.h));
    CHK(okra_doubles_(ctx, rows, set->n, "inner products with candidates", &w.G));
    MAKE(w.norm, rows);
    for (okra_int first = 0; first < block->m; first += rows) {
        okra_int m = OKRA_MIN_(rows, block->m - first);
        w.W = okra_mat_part_(block->W, first, m, 0, block->W.cols);
        CHK(okra_parallel_least_(ctx, (double)m * (double)(w.y->n + set->n), m, 1, NULL,
                                 some_rows, &w));
        okra_block_ some = {.first = block->first + first, .m = m, .W = w.W};
        okra_part_ part = {.m = m, .count = set->n};
        okra_measured_ all = {&some, &part, self, w.G, w.norm, 1, constant, NULL};
        CHK(okra_nearest_put_(ctx, nearest, &all));
    }
    return OKRA_OK;
}
