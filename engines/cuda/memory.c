/*
 * memory.c: device memory, asked for before it is taken.
 *
 * What a verb needs beside its operands lies in one arena, which grows and is given back
 * when a matrix needs its room.
 */
#include "gpu.h"

#include <stdio.h>

#define GIB 0x1p30
#define SMALL 0x1p20

okra_status gpu_room_(gpu_ *g, okra_context *ctx, size_t *bytes)
{
    okra_status st = OKRA_OK;
    size_t free_now = 0, total = 0;
    okra_int budget = g->host->budget(ctx);

    GPU_TRY(cudaMemGetInfo(&free_now, &total), "asking for free memory");
    free_now += g->arena_bytes;
    free_now = free_now > GPU_RESERVE_ ? free_now - GPU_RESERVE_ : 0;
    if (budget > 0) {
        size_t taken = g->used - g->arena_bytes, most = (size_t)budget;
        size_t left = most > taken ? most - taken : 0;
        free_now = left < free_now ? left : free_now;
    }
    *bytes = free_now;
done:
    return st;
}

/* Room for `bytes` more; what is small is not worth a question. */
static okra_status ask(gpu_ *g, okra_context *ctx, double bytes, const char *what,
                       const char *instead)
{
    okra_status st = OKRA_OK;
    size_t room = 0;

    TRY(gpu_room_(g, ctx, &room));
    if (bytes > (double)room && bytes > SMALL) {
        bool told = g->host->budget(ctx) > 0;
        st = g->host->fail(
            OKRA_EBUDGET, "%s needs %.2f GiB on GPU %d (%s), where %.2f GiB %s; %s", what,
            bytes / GIB, g->device, g->about.name, (double)room / GIB,
            told ? "may be used (--memory)" : "are free", instead);
    }
done:
    return st;
}

static void drop_arena(gpu_ *g)
{
    if (g->arena) {
        (void)cudaFree(g->arena); /* waits for the device */
        g->used -= g->arena_bytes;
        g->arena = NULL;
        g->arena_bytes = 0;
    }
}

okra_status gpu_arena_(gpu_ *g, okra_context *ctx, size_t bytes, const char *what,
                       const char *instead, void **p)
{
    okra_status st = OKRA_OK;

    if (bytes > g->arena_bytes) {
        TRY(ask(g, ctx, (double)bytes, what, instead));
        drop_arena(g);
        GPU_TRY(cudaMalloc(&g->arena, bytes), what);
        g->arena_bytes = bytes;
        g->used += bytes;
    }
    *p = g->arena;
done:
    return st;
}

/* Rows of wide matrices begin at multiples of 128 bytes, for the products. */
static okra_int stride(okra_int cols)
{
    return cols < 64 ? cols : (cols + 15) / 16 * 16;
}

static const char *const low_rank = "a low rank (--low-rank-x) keeps n x rank numbers, "
                                    "--engine host uses the host's memory";

okra_status gpu_create_(void *e, okra_context *ctx, okra_int rows, okra_int cols,
                        const char *what, void **body)
{
    okra_status st = OKRA_OK;
    gpu_ *g = e;
    gpu_body_ *A = NULL;
    size_t room = 0, total = 0;
    char text[256];

    TRY(gpu_use_(g));
    snprintf(text, sizeof text, "%s of %lld x %lld doubles", what, (long long)rows,
             (long long)cols);
    double size = (double)rows * (double)stride(cols) * sizeof(double);
    TRY(ask(g, ctx, size, text, low_rank));
    size_t bytes = (size_t)rows * (size_t)stride(cols) * sizeof(double);
    GPU_TRY(cudaMemGetInfo(&room, &total), "asking for free memory");
    okra_int budget = g->host->budget(ctx);
    if (bytes + GPU_RESERVE_ > room || (budget > 0 && g->used + bytes > (size_t)budget)) {
        drop_arena(g);
    }
    A = g->host->alloc(1, sizeof *A);
    if (!A) {
        return OKRA_EMEM;
    }
    *A = (gpu_body_){NULL, rows, cols, stride(cols)};
    GPU_TRY(cudaMalloc((void **)&A->p, bytes), text);
    g->used += bytes;
    *body = A;
    A = NULL;
done:
    g->host->free(A);
    return st;
}

void gpu_destroy_(void *e, void *body)
{
    gpu_ *g = e;
    gpu_body_ *A = body;
    if (!A) {
        return;
    }
    (void)cudaSetDevice(g->device);
    (void)cudaFree(A->p); /* waits for the device */
    g->used -= (size_t)A->rows * (size_t)A->ld * sizeof(double);
    g->host->free(A);
}
