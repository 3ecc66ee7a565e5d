/*
 * reduce.c: the verbs that make less of a matrix: sums, and the k best of each row.
 */
#include "gpu.h"

#define NO_ROOM "fewer rows at a time need less"

static size_t bytes_of(okra_int count)
{
    return gpu_round_((size_t)count * sizeof(double));
}

okra_status gpu_row_sums_(void *e, okra_context *ctx, const void *A, double *out)
{
    okra_status st = OKRA_OK;
    gpu_ *g = e;
    const gpu_body_ *a = A;
    void *sums = NULL;
    size_t one = sizeof *out;

    TRY(gpu_use_(g));
    TRY(gpu_arena_(g, ctx, bytes_of(a->rows), "the sums of rows", NO_ROOM, &sums));
    GPU_TRY(gpu_run_row_sums_(g->stream, a->rows, a->cols, 1, a->p, a->ld, sums),
            "sums of rows");
    TRY(gpu_download_(g, ctx, sums, one, one, a->rows, out, one));
done:
    return st;
}

okra_status gpu_dot_(void *e, okra_context *ctx, const void *A, const void *B,
                     double *out)
{
    okra_status st = OKRA_OK;
    gpu_ *g = e;
    const gpu_body_ *a = A, *b = B;
    void *partial = NULL;

    TRY(gpu_use_(g));
    TRY(gpu_arena_(g, ctx, bytes_of(GPU_PARTS_ + 1), "a sum", NO_ROOM, &partial));
    double *whole = (double *)partial + GPU_PARTS_;
    GPU_TRY(gpu_run_dot_(g->stream, a->rows, a->cols, a->p, a->ld, b->p, b->ld, partial,
                         whole),
            "an inner product");
    TRY(gpu_download_(g, ctx, whole, sizeof *out, sizeof *out, 1, out, sizeof *out));
done:
    return st;
}

/* How many parts the rows of p q products are cut into: enough for the multiprocessors,
 * and their sums not too many. */
static okra_int parts_of_dots(const gpu_ *g, okra_int rows, okra_int p, okra_int q)
{
    okra_int tiles = (p + 7) / 8 * ((q + 3) / 4);
    okra_int wanted = 16 * (okra_int)g->about.multiProcessorCount / tiles;
    okra_int most = ((okra_int)1 << 22) / (p * q);
    return OKRA_MAX_(1, OKRA_MIN_(rows, OKRA_MIN_(wanted, most)));
}

okra_status gpu_dots_(void *e, okra_context *ctx, okra_int p, const void *const *X,
                      okra_int q, const void *const *Y, double *out)
{
    okra_status st = OKRA_OK;
    gpu_ *g = e;
    const gpu_body_ *a = X[0];
    const double **list = NULL;
    void *arena = NULL;
    size_t one = sizeof *out;

    TRY(gpu_use_(g));
    okra_int parts = parts_of_dots(g, a->rows, p, q);
    size_t names = gpu_round_((size_t)(p + q) * sizeof *list);
    size_t sums = bytes_of(p * q * parts);
    TRY(gpu_arena_(g, ctx, names + sums + bytes_of(p * q), "inner products", NO_ROOM,
                   &arena));
    list = g->host->alloc(p + q, sizeof *list);
    if (!list) {
        st = OKRA_EMEM;
        goto done;
    }
    for (okra_int k = 0; k < p + q; k++) {
        list[k] = ((const gpu_body_ *)(k < p ? X[k] : Y[k - p]))->p;
    }
    TRY(gpu_upload_(g, ctx, list, sizeof *list, sizeof *list, p + q, arena,
                    sizeof *list));
    const double *const *x = arena;
    double *partial = (double *)(void *)((char *)arena + names);
    double *whole = (double *)(void *)((char *)arena + names + sums);
    GPU_TRY(gpu_run_dots_(g->stream, a->rows, a->cols, a->ld, p, x, q, x + p, parts,
                          partial, whole),
            "inner products");
    TRY(gpu_download_(g, ctx, whole, one, one, p * q, out, one));
done:
    g->host->free((void *)list);
    return st;
}

/* Long rows that are few are cut, so that every multiprocessor has some of them. */
static int parts_of(const gpu_ *g, const gpu_body_ *a, okra_int count)
{
    okra_int wanted = 4 * (okra_int)g->about.multiProcessorCount / a->rows;
    okra_int most = a->cols / (16 * count);
    okra_int parts = OKRA_MIN_(wanted, most);
    return (int)OKRA_MAX_(1, OKRA_MIN_(parts, 1024));
}

okra_status gpu_best_(void *e, okra_context *ctx, const void *A, const double *offset,
                      okra_int k, okra_int *index, double *value)
{
    okra_status st = OKRA_OK;
    gpu_ *g = e;
    const gpu_body_ *a = A;
    void *arena = NULL;

    TRY(gpu_use_(g));
    okra_int count = OKRA_MIN_(k, GPU_BEST_);
    int parts = parts_of(g, a, count);
    size_t answer = bytes_of(a->rows * k);
    size_t cut = parts > 1 ? bytes_of(a->rows * parts * count) : 0;
    TRY(gpu_arena_(g, ctx, 2 * answer + 2 * cut + bytes_of(a->cols),
                   "the best of each row", NO_ROOM, &arena));
    char *at = arena;
    double *values = (double *)(void *)at;
    okra_int *indices = (okra_int *)(void *)(at + answer);
    double *part_values = (double *)(void *)(at + 2 * answer);
    okra_int *part_indices = (okra_int *)(void *)(at + 2 * answer + cut);
    at += 2 * answer + 2 * cut;
    TRY(gpu_vector_(g, ctx, offset, a->cols, &at, &offset));
    for (okra_int skip = 0; skip < k; skip += GPU_BEST_) {
        GPU_TRY(gpu_run_best_(g->stream, a->rows, a->cols, a->p, a->ld, offset,
                              (int)OKRA_MIN_(k - skip, GPU_BEST_), k, skip, parts,
                              part_values, part_indices, indices, values),
                "the best of each row");
    }
    size_t row = (size_t)k * sizeof *value;
    TRY(gpu_download_(g, ctx, values, row, row, a->rows, value, row));
    TRY(gpu_download_(g, ctx, indices, row, row, a->rows, index, row));
done:
    return st;
}
