/*
 * matrix.c: matrices in blocks over the ranks, to them and back.
 */
#include "ranks.h"

#include <limits.h>
#include <string.h>
#include <sys/mman.h>

okra_int ranks_count_(const ranks_ *g, okra_int n, int me, int procs)
{
    okra_int blocks = n / g->block, mine = blocks / procs;
    okra_int more = blocks % procs;
    return mine * g->block + (me < more ? g->block : me == more ? n % g->block : 0);
}

bool ranks_span_(const ranks_ *g, okra_int g0, okra_int end, int me, int procs,
                 okra_int *first, okra_int *local, okra_int *count)
{
    okra_int b = g0 / g->block, skip = ((okra_int)me - b % procs + procs) % procs;
    *first = skip == 0 ? g0 : (b + skip) * g->block;
    okra_int block = *first / g->block;
    *local = block / procs * g->block + *first % g->block;
    *count = OKRA_MIN_(end, (block + 1) * g->block) - *first;
    return *first < end;
}

/* 2^31 is the most that ScaLAPACK can count, of entries on a rank as well. */
static okra_status check_size(const ranks_ *g, okra_context *ctx, okra_int rows,
                              okra_int cols, const char *what, double bytes)
{
    double left = (double)g->host->left(ctx) - g->used;
    if (rows >= INT_MAX || cols >= INT_MAX || bytes / 8 >= INT_MAX) {
        return g->host->fail(OKRA_EUNSUPPORTED,
                             "engine mpi: %s of %lld x %lld doubles is %.3g entries on "
                             "each of %d processes, %d at most: start more of them",
                             what, (long long)rows, (long long)cols, bytes / 8, g->ranks,
                             INT_MAX);
    }
    if (bytes > left) {
        return g->host->fail(OKRA_EBUDGET,
                             "engine mpi: %s of %lld x %lld doubles needs %.0f bytes in "
                             "each of %d processes, %.0f are left (--memory); more "
                             "machines, or a low rank (--low-rank-x), need less",
                             what, (long long)rows, (long long)cols, bytes, g->ranks,
                             left > 0 ? left : 0);
    }
    return g->host->cancelled(ctx);
}

/* Memory of its own, which goes back to the system when it is freed, on huge pages where
 * it is large. Not the host's: ranks have different shares, and their budgets stay alike.
 */
static bool take_memory(okra_int count, ranks_body_ *b)
{
    const size_t page = (size_t)2 << 20;
    size_t bytes = (size_t)(count + 1) * sizeof(double) + page;
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) {
        return false;
    }
    b->base = base;
    b->mapped = bytes;
    uintptr_t begin = ((uintptr_t)base + page - 1) / page * page;
    b->p = (double *)begin;
#ifdef MADV_HUGEPAGE
    if (bytes >= 4 * page) { /* slower pages will do */
        (void)madvise((void *)begin, bytes - (begin - (uintptr_t)base), MADV_HUGEPAGE);
    }
#endif
    return true;
}

static void give_memory(const ranks_body_ *b)
{
    if (b->base) {
        munmap(b->base, b->mapped);
    }
}

void ranks_swap_(ranks_body_ *a, ranks_body_ *b)
{
    ranks_body_ old = *a;
    a->p = b->p;
    a->base = b->base;
    a->mapped = b->mapped;
    b->p = old.p;
    b->base = old.base;
    b->mapped = old.mapped;
}

okra_status ranks_create_(void *e, okra_context *ctx, okra_int rows, okra_int cols,
                          const char *what, void **body)
{
    ranks_ *g = e;
    double bytes = 8 * (double)ranks_count_(g, cols, 0, g->pr) *
                   (double)ranks_count_(g, rows, 0, g->pc);
    okra_status st = check_size(g, ctx, rows, cols, what, bytes);
    ranks_body_ *b = st == OKRA_OK ? g->host->alloc(1, sizeof *b) : NULL;
    if (b) {
        okra_int lm = ranks_count_(g, cols, g->row, g->pr);
        okra_int ln = ranks_count_(g, rows, g->col, g->pc);
        int desc[9] = {1,        g->grid, (int)cols, (int)rows,           g->block,
                       g->block, 0,       0,         lm > 1 ? (int)lm : 1};
        *b =
            (ranks_body_){.rows = rows, .cols = cols, .lm = lm, .ln = ln, .bytes = bytes};
        memcpy(b->desc, desc, sizeof desc);
        st = take_memory(lm * ln, b)
                 ? OKRA_OK
                 : g->host->fail(OKRA_EMEM,
                                 "engine mpi: no memory for %s of %lld x %lld doubles",
                                 what, (long long)rows, (long long)cols);
    } else if (st == OKRA_OK) {
        st = OKRA_EMEM;
    }
    st = ranks_agree_(g, st, "create", (uint64_t)rows, (uint64_t)cols);
    if (st == OKRA_OK) {
        g->used += bytes;
        *body = b;
    } else if (b) {
        give_memory(b);
        g->host->free(b);
    }
    return st;
}

void ranks_destroy_(void *e, void *body)
{
    ranks_ *g = e;
    ranks_body_ *b = body;
    g->used -= b->bytes;
    give_memory(b);
    g->host->free(b);
}

/* ---- the host's blocks ---- */

/* The bits of a block: those of all ranks must be alike. */
static uint64_t hash_of(okra_mat_ block)
{
    uint64_t hash = 0;
    for (okra_int i = 0; i < block.rows; i++) {
        for (okra_int j = 0; j < block.cols; j++) {
            uint64_t bits;
            memcpy(&bits, block.p + i * block.ld + j, sizeof bits);
            hash = (hash ^ bits) * 0x9e3779b97f4a7c15u;
            hash ^= hash >> 31;
        }
    }
    return hash;
}

typedef enum way { PUT, PACK, UNPACK } way;

/* Copies what the rank at (row, col) of the grid has of the block at (i, j): from the
 * block to the matrix of this rank, from that to `buffer`, or from `buffer` to the block.
 */
static okra_int carry(const ranks_ *g, way how, const ranks_body_ *A, int row, int col,
                      okra_int i, okra_int j, okra_mat_ block, double *buffer)
{
    okra_int used = 0, gi, li, ci, gj, lj, cj;
    for (okra_int a = i; ranks_span_(g, a, i + block.rows, col, g->pc, &gi, &li, &ci);
         a = gi + ci) {
        for (okra_int r = 0; r < ci; r++) {
            for (okra_int b = j;
                 ranks_span_(g, b, j + block.cols, row, g->pr, &gj, &lj, &cj);
                 b = gj + cj) {
                double *mine = A->p + (li + r) * A->lm + lj;
                double *theirs = block.p + (gi + r - i) * block.ld + gj - j;
                memcpy(how == PUT    ? mine
                       : how == PACK ? buffer + used
                                     : theirs,
                       how == PUT    ? theirs
                       : how == PACK ? mine
                                     : buffer + used,
                       (size_t)cj * sizeof(double));
                used += cj;
            }
        }
    }
    return used;
}

okra_status ranks_put_(void *e, okra_context *ctx, okra_mat_ block, okra_int i,
                       okra_int j, void *A)
{
    ranks_ *g = e;
    uint64_t shape = (uint64_t)(block.rows * 31 + block.cols);
    okra_status st = ranks_agree_(g, g->host->cancelled(ctx), "a block of the host",
                                  shape, g->ranks > 1 ? hash_of(block) : 0);
    if (st == OKRA_OK) {
        carry(g, PUT, A, g->row, g->col, i, j, block, NULL);
    }
    return st;
}

static okra_int held(const ranks_ *g, int rank, okra_int i, okra_int rows, okra_int j,
                     okra_int cols)
{
    int row = rank / g->pc, col = rank % g->pc;
    return (ranks_count_(g, i + rows, col, g->pc) - ranks_count_(g, i, col, g->pc)) *
           (ranks_count_(g, j + cols, row, g->pr) - ranks_count_(g, j, row, g->pr));
}

/* Some rows: every rank packs what it has, and all get all of it. */
static void gather(const ranks_ *g, const ranks_body_ *A, okra_int i, okra_int j,
                   okra_mat_ block, int *counts, double *mine, double *all)
{
    int *places = counts + g->ranks;
    for (int r = 0, used = 0; r < g->ranks; r++) {
        counts[r] = (int)held(g, r, i, block.rows, j, block.cols);
        places[r] = used;
        used += counts[r];
    }
    carry(g, PACK, A, g->row, g->col, i, j, block, mine);
    MPI_Allgatherv(mine, counts[g->rank], MPI_DOUBLE, all, counts, places, MPI_DOUBLE,
                   g->comm);
    for (int r = 0; r < g->ranks; r++) {
        carry(g, UNPACK, A, r / g->pc, r % g->pc, i, j, block, all + places[r]);
    }
}

okra_status ranks_get_(void *e, okra_context *ctx, const void *A, okra_int i, okra_int j,
                       okra_mat_ block)
{
    enum { CHUNK = 1 << 18 };
    okra_status st = OKRA_OK;
    ranks_ *g = e;
    okra_int height = OKRA_MIN_(OKRA_MAX_(1, CHUNK / block.cols), block.rows);
    okra_int room = height * block.cols;
    double *mine = g->host->alloc(room, sizeof *mine);
    double *all = g->host->alloc(room, sizeof *all);
    int *counts = g->host->alloc(2 * g->ranks, sizeof *counts);
    st = mine && all && counts ? g->host->cancelled(ctx) : OKRA_EMEM;
    st = ranks_agree_(g, st, "get", (uint64_t)(i * 31 + j),
                      (uint64_t)(block.rows * 31 + block.cols));
    for (okra_int r = 0; st == OKRA_OK && r < block.rows; r += height) {
        okra_mat_ some =
            okra_mat_view_(block.p + r * block.ld, OKRA_MIN_(height, block.rows - r),
                           block.cols, block.ld);
        gather(g, A, i + r, j, some, counts, mine, all);
    }
    g->host->free(mine);
    g->host->free(all);
    g->host->free(counts);
    return st;
}
