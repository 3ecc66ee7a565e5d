/*
 * tiles.c: entries that only the host can compute, to the device.
 *
 * The threads of the run fill one of two pinned slabs of whole rows while the device
 * takes the other. Of a whole symmetric matrix only the lower triangle is computed and
 * copied; the device mirrors it.
 */
#include "gpu.h"

enum { TILE_ROWS = 64, TILE_COLS = 256 };

typedef struct slab_ {
    okra_context *ctx;
    const okra_entries_ *entries;
    double *p;
    okra_int first, rows, cols; /* of the matrix: rows first.., columns 0..cols-1 */
    okra_int across;            /* tiles in a row of tiles                        */
} slab_;

static okra_status fill(void *arg, okra_int begin, okra_int end, int worker)
{
    okra_status st = OKRA_OK;
    const slab_ *s = arg;
    (void)worker;
    for (okra_int q = begin; q < end; q++) {
        okra_int i = q / s->across * TILE_ROWS, j = q % s->across * TILE_COLS;
        TRY(s->entries->tile(
            s->ctx, s->entries->self, s->first + i, OKRA_MIN_(TILE_ROWS, s->rows - i), j,
            OKRA_MIN_(TILE_COLS, s->cols - j), s->p + i * s->cols + j, s->cols));
    }
done:
    return st;
}

okra_status gpu_tiles_(gpu_ *g, okra_context *ctx, const okra_entries_ *entries,
                       okra_int first, okra_int rows, gpu_body_ *A)
{
    okra_status st = OKRA_OK;
    bool half = entries->symmetric && first == 0 && rows == entries->cols;
    okra_int room = (okra_int)(GPU_STAGE_BYTES_ / sizeof(double));
    okra_int height = room / entries->cols;

    if (height < 1) {
        st = g->host->fail(OKRA_EUNSUPPORTED,
                           "engine cuda: rows of %lld entries that the host computes are "
                           "too long, %lld at most",
                           (long long)entries->cols, (long long)room);
        goto done;
    }
    TRY(gpu_stages_(g));
    for (okra_int r = 0, turn = 0; r < rows; turn++) {
        int k = (int)(turn % 2);
        okra_int now = OKRA_MIN_(height, rows - r);
        okra_int cols = half ? r + now : entries->cols;
        slab_ s = {ctx,
                   entries,
                   g->stage[k],
                   first + r,
                   now,
                   cols,
                   (cols + TILE_COLS - 1) / TILE_COLS};
        okra_int tiles = (now + TILE_ROWS - 1) / TILE_ROWS * s.across;
        TRY(gpu_stage_wait_(g, k));
        TRY(g->host->parallel(ctx, tiles, 1, NULL, fill, &s));
        GPU_TRY(cudaMemcpy2DAsync(A->p + r * A->ld, (size_t)A->ld * sizeof(double),
                                  g->stage[k], (size_t)cols * sizeof(double),
                                  (size_t)cols * sizeof(double), (size_t)now,
                                  cudaMemcpyHostToDevice, g->stream),
                "copying a slab of the Gram matrix");
        GPU_TRY(cudaEventRecord(g->freed[k], g->stream), "copying a slab");
        r += now;
    }
    if (half) {
        GPU_TRY(gpu_run_mirror_(g->stream, rows, 1, A->p, A->ld), "a mirror image");
    }
done:
    return st;
}
