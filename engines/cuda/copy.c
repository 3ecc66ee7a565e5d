/*
 * copy.c: blocks to the device and back.
 *
 * Ordinary memory is copied by the threads of the run into one of two pinned buffers
 * while the device copies the other: faster than a plain cudaMemcpy, and the device need
 * not wait. Small blocks go the plain way.
 */
#include "gpu.h"

#include <string.h>

#define PLAIN ((size_t)1 << 20)

okra_status gpu_stages_(gpu_ *g)
{
    okra_status st = OKRA_OK;
    for (int k = 0; k < 2; k++) {
        if (!g->stage[k]) {
            GPU_TRY(cudaHostAlloc((void **)&g->stage[k], GPU_STAGE_BYTES_,
                                  cudaHostAllocDefault),
                    "pinned host memory");
        }
    }
done:
    return st;
}

okra_status gpu_stage_wait_(gpu_ *g, int k)
{
    okra_status st = OKRA_OK;
    GPU_TRY(cudaEventSynchronize(g->freed[k]), "copying");
done:
    return st;
}

typedef struct rows_ {
    const char *src;
    char *dst;
    size_t from, to, bytes;
} rows_;

static okra_status copy_rows(void *arg, okra_int begin, okra_int end, int worker)
{
    const rows_ *c = arg;
    (void)worker;
    if (c->from == c->bytes && c->to == c->bytes) {
        memcpy(c->dst + (size_t)begin * c->to, c->src + (size_t)begin * c->from,
               (size_t)(end - begin) * c->bytes);
        return OKRA_OK;
    }
    for (okra_int r = begin; r < end; r++) {
        memcpy(c->dst + (size_t)r * c->to, c->src + (size_t)r * c->from, c->bytes);
    }
    return OKRA_OK;
}

static okra_status spread(gpu_ *g, okra_context *ctx, rows_ copy, okra_int rows)
{
    okra_int grain = (okra_int)(((size_t)1 << 18) / (copy.bytes ? copy.bytes : 1)) + 1;
    return g->host->parallel(ctx, rows, grain, NULL, copy_rows, &copy);
}

okra_status gpu_fill_stage_(gpu_ *g, okra_context *ctx, const void *src, size_t from,
                            size_t row_bytes, okra_int rows, int k)
{
    rows_ copy = {src, (char *)g->stage[k], from, row_bytes, row_bytes};
    return spread(g, ctx, copy, rows);
}

/* What lies without gaps on both sides is one row. */
static cudaError_t transfer(gpu_ *g, void *dst, size_t to, const void *src, size_t from,
                            size_t row_bytes, okra_int rows, enum cudaMemcpyKind kind)
{
    if (to == row_bytes && from == row_bytes) {
        return cudaMemcpyAsync(dst, src, row_bytes * (size_t)rows, kind, g->stream);
    }
    return cudaMemcpy2DAsync(dst, to, src, from, row_bytes, (size_t)rows, kind,
                             g->stream);
}

static okra_int chunk_of(size_t row_bytes)
{
    return (okra_int)(GPU_STAGE_BYTES_ / row_bytes);
}

static bool plain(size_t row_bytes, okra_int rows)
{
    return (double)row_bytes * (double)rows <= (double)PLAIN ||
           row_bytes > GPU_STAGE_BYTES_;
}

okra_status gpu_upload_(gpu_ *g, okra_context *ctx, const void *src, size_t from,
                        size_t row_bytes, okra_int rows, void *dst, size_t to)
{
    okra_status st = OKRA_OK;

    if (plain(row_bytes, rows)) {
        GPU_TRY(transfer(g, dst, to, src, from, row_bytes, rows, cudaMemcpyHostToDevice),
                "copying to the GPU");
        return OKRA_OK;
    }
    TRY(gpu_stages_(g));
    okra_int chunk = chunk_of(row_bytes);
    for (okra_int r = 0, turn = 0; r < rows; r += chunk, turn++) {
        int k = (int)(turn % 2);
        okra_int now = OKRA_MIN_(chunk, rows - r);
        TRY(gpu_stage_wait_(g, k));
        TRY(gpu_fill_stage_(g, ctx, (const char *)src + (size_t)r * from, from, row_bytes,
                            now, k));
        GPU_TRY(transfer(g, (char *)dst + (size_t)r * to, to, g->stage[k], row_bytes,
                         row_bytes, now, cudaMemcpyHostToDevice),
                "copying to the GPU");
        GPU_TRY(cudaEventRecord(g->freed[k], g->stream), "copying to the GPU");
    }
done:
    return st;
}

/* Rows r.. of the block into buffer k, without waiting. */
static okra_status fetch(gpu_ *g, const void *src, size_t from, size_t row_bytes,
                         okra_int r, okra_int now, int k)
{
    okra_status st = OKRA_OK;
    GPU_TRY(transfer(g, g->stage[k], row_bytes, (const char *)src + (size_t)r * from,
                     from, row_bytes, now, cudaMemcpyDeviceToHost),
            "copying from the GPU");
    GPU_TRY(cudaEventRecord(g->freed[k], g->stream), "copying from the GPU");
done:
    return st;
}

okra_status gpu_download_(gpu_ *g, okra_context *ctx, const void *src, size_t from,
                          size_t row_bytes, okra_int rows, void *dst, size_t to)
{
    okra_status st = OKRA_OK;

    if (plain(row_bytes, rows)) {
        GPU_TRY(transfer(g, dst, to, src, from, row_bytes, rows, cudaMemcpyDeviceToHost),
                "copying from the GPU");
        GPU_TRY(cudaStreamSynchronize(g->stream), "copying from the GPU");
        return OKRA_OK;
    }
    TRY(gpu_stages_(g));
    okra_int chunk = chunk_of(row_bytes);
    TRY(gpu_stage_wait_(g, 0));
    TRY(fetch(g, src, from, row_bytes, 0, OKRA_MIN_(chunk, rows), 0));
    for (okra_int r = 0, turn = 0; r < rows; r += chunk, turn++) {
        int k = (int)(turn % 2);
        okra_int next = r + chunk;
        TRY(gpu_stage_wait_(g, k));
        if (next < rows) {
            TRY(fetch(g, src, from, row_bytes, next, OKRA_MIN_(chunk, rows - next),
                      1 - k));
        }
        rows_ copy = {(const char *)g->stage[k], (char *)dst + (size_t)r * to, row_bytes,
                      to, row_bytes};
        TRY(spread(g, ctx, copy, OKRA_MIN_(chunk, rows - r)));
    }
done:
    return st;
}

okra_status gpu_vector_(gpu_ *g, okra_context *ctx, const double *src, okra_int count,
                        char **at, const double **out)
{
    okra_status st = OKRA_OK;
    size_t bytes = (size_t)count * sizeof *src;

    *out = NULL;
    if (src) {
        TRY(gpu_upload_(g, ctx, src, sizeof *src, sizeof *src, count, *at, sizeof *src));
        *out = (const double *)(void *)*at;
        *at += gpu_round_(bytes);
    }
done:
    return st;
}

okra_status gpu_put_(void *e, okra_context *ctx, okra_mat_ block, okra_int i, okra_int j,
                     void *A)
{
    okra_status st = OKRA_OK;
    gpu_ *g = e;
    gpu_body_ *a = A;

    TRY(gpu_use_(g));
    TRY(gpu_upload_(g, ctx, block.p, (size_t)block.ld * sizeof(double),
                    (size_t)block.cols * sizeof(double), block.rows, a->p + i * a->ld + j,
                    (size_t)a->ld * sizeof(double)));
done:
    return st;
}

okra_status gpu_get_(void *e, okra_context *ctx, const void *A, okra_int i, okra_int j,
                     okra_mat_ block)
{
    okra_status st = OKRA_OK;
    gpu_ *g = e;
    const gpu_body_ *a = A;

    TRY(gpu_use_(g));
    TRY(gpu_download_(g, ctx, a->p + i * a->ld + j, (size_t)a->ld * sizeof(double),
                      (size_t)block.cols * sizeof(double), block.rows, block.p,
                      (size_t)block.ld * sizeof(double)));
done:
    return st;
}
