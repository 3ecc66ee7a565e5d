/*
 * elementwise.c: the verbs that change entries one by one. Vectors of the host go into
 * the arena first.
 */
#include "gpu.h"

#define NO_ROOM "a smaller n or a low rank (--low-rank-x) needs less"

static size_t bytes_of(okra_int count)
{
    return gpu_round_((size_t)count * sizeof(double));
}

/* r (rows) and c (cols), or NULL, on the device. */
static okra_status vectors(gpu_ *g, okra_context *ctx, const gpu_body_ *a,
                           const double *r, const double *c, const double **out_r,
                           const double **out_c)
{
    okra_status st = OKRA_OK;
    void *arena = NULL;

    TRY(gpu_arena_(g, ctx, bytes_of(a->rows) + bytes_of(a->cols), "two vectors", NO_ROOM,
                   &arena));
    char *at = arena;
    TRY(gpu_vector_(g, ctx, r, a->rows, &at, out_r));
    TRY(gpu_vector_(g, ctx, c, a->cols, &at, out_c));
done:
    return st;
}

okra_status gpu_copy_(void *e, okra_context *ctx, bool trans, const void *A, void *B)
{
    okra_status st = OKRA_OK;
    gpu_ *g = e;
    const gpu_body_ *a = A;
    gpu_body_ *b = B;

    (void)ctx;
    TRY(gpu_use_(g));
    if (trans) {
        GPU_TRY(gpu_run_transpose_(g->stream, a->rows, a->cols, a->p, a->ld, b->p, b->ld),
                "a transpose");
    } else {
        GPU_TRY(cudaMemcpy2DAsync(b->p, (size_t)b->ld * sizeof(double), a->p,
                                  (size_t)a->ld * sizeof(double),
                                  (size_t)a->cols * sizeof(double), (size_t)a->rows,
                                  cudaMemcpyDeviceToDevice, g->stream),
                "a copy");
    }
done:
    return st;
}

okra_status gpu_fill_(void *e, okra_context *ctx, double value, void *A)
{
    okra_status st = OKRA_OK;
    gpu_ *g = e;
    gpu_body_ *a = A;

    (void)ctx;
    TRY(gpu_use_(g));
    GPU_TRY(gpu_run_fill_(g->stream, a->rows, a->cols, value, a->p, a->ld), "filling");
done:
    return st;
}

okra_status gpu_add_diagonal_(void *e, okra_context *ctx, double value, void *A)
{
    okra_status st = OKRA_OK;
    gpu_ *g = e;
    gpu_body_ *a = A;

    (void)ctx;
    TRY(gpu_use_(g));
    GPU_TRY(
        gpu_run_diagonal_(g->stream, OKRA_MIN_(a->rows, a->cols), 1, value, a->p, a->ld),
        "adding to the diagonal");
done:
    return st;
}

okra_status gpu_diagonal_(void *e, okra_context *ctx, const void *A, double *out)
{
    okra_status st = OKRA_OK;
    gpu_ *g = e;
    const gpu_body_ *a = A;
    void *d = NULL;

    TRY(gpu_use_(g));
    okra_int n = OKRA_MIN_(a->rows, a->cols);
    TRY(gpu_arena_(g, ctx, bytes_of(n), "a diagonal", NO_ROOM, &d));
    GPU_TRY(gpu_run_diagonal_copy_(g->stream, n, 0, a->p, a->ld, d), "a diagonal");
    size_t one = sizeof(double);
    TRY(gpu_download_(g, ctx, d, one, one, n, out, one));
done:
    return st;
}

okra_status gpu_scale_(void *e, okra_context *ctx, const double *r, const double *c,
                       void *A)
{
    okra_status st = OKRA_OK;
    gpu_ *g = e;
    gpu_body_ *a = A;

    TRY(gpu_use_(g));
    TRY(vectors(g, ctx, a, r, c, &r, &c));
    GPU_TRY(gpu_run_scale_(g->stream, a->rows, a->cols, r, c, a->p, a->ld), "scaling");
done:
    return st;
}

okra_status gpu_center_(void *e, okra_context *ctx, double *mean, void *A)
{
    okra_status st = OKRA_OK;
    gpu_ *g = e;
    gpu_body_ *a = A;
    void *arena = NULL;
    size_t one = sizeof *mean;

    TRY(gpu_use_(g));
    okra_int n = a->rows;
    double part = 1 / (double)n;
    TRY(gpu_arena_(g, ctx, bytes_of(n) + bytes_of(1), "the means of rows", NO_ROOM,
                   &arena));
    double *means = arena, *whole = means + bytes_of(n) / one;
    GPU_TRY(gpu_run_row_sums_(g->stream, n, n, part, a->p, a->ld, means),
            "means of rows");
    GPU_TRY(gpu_run_row_sums_(g->stream, 1, n, part, means, n, whole), "the mean");
    GPU_TRY(gpu_run_subtract_(g->stream, n, means, whole, a->p, a->ld), "centring");
    if (mean) {
        TRY(gpu_download_(g, ctx, means, one, one, n, mean, one));
    }
done:
    return st;
}

okra_status gpu_combine_(void *e, okra_context *ctx, okra_combine_ how, double s,
                         double t, const double *r, const double *c, const void *B,
                         void *A)
{
    okra_status st = OKRA_OK;
    gpu_ *g = e;
    gpu_body_ *a = A;
    const gpu_body_ *b = B;

    TRY(gpu_use_(g));
    switch (how) {
    case OKRA_COMBINE_SUM_:
        GPU_TRY(gpu_run_sum_(g->stream, a->rows, a->cols, s, t, b->p, b->ld, a->p, a->ld),
                "a sum");
        break;
    case OKRA_COMBINE_PRODUCT_:
        GPU_TRY(gpu_run_product_(g->stream, a->rows, a->cols, b->p, b->ld, a->p, a->ld),
                "an elementwise product");
        break;
    case OKRA_COMBINE_POWER_:
        GPU_TRY(gpu_run_power_(g->stream, a->rows, a->cols, s, a->p, a->ld), "a power");
        break;
    case OKRA_COMBINE_DIVIDE_:
        TRY(vectors(g, ctx, a, r, c, &r, &c));
        GPU_TRY(gpu_run_divide_(g->stream, a->rows, a->cols, r, c, s, b->p, b->ld, a->p,
                                a->ld),
                "an elementwise division");
        break;
    }
done:
    return st;
}
