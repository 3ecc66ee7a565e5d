/*
 * group.c: the processes of a job: who they are, whether all of them do the same, and
 * what becomes of a failure.
 */
#include "ranks.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int Csys2blacs_handle(MPI_Comm comm);
void Cfree_blacs_system_handle(int handle);
void Cblacs_gridinit(int *context, const char *order, int rows, int cols);
void Cblacs_gridexit(int context);

enum { BLOCK = 128, BLOCK_MOST = 4096 };

/* device: "", or the size of blocks, or that and ",scalapack". */
static okra_status read_device(ranks_ *g, const char *device)
{
    char *end = NULL;
    long block = *device ? strtol(device, &end, 10) : BLOCK;
    if (*device) {
        g->scalapack = strcmp(end, ",scalapack") == 0;
        if (end == device || (*end && !g->scalapack) || block < 1 || block > BLOCK_MOST) {
            return g->host->fail(OKRA_EARG,
                                 "engine mpi:%s: expected the size of blocks after the "
                                 "colon, 1 to %d, such as mpi:64 or mpi:64,scalapack",
                                 device, BLOCK_MOST);
        }
    }
    g->block = (int)block;
    return OKRA_OK;
}

okra_status ranks_open_(const okra_engine_host_ *host, const char *device, void **e)
{
    ranks_ *g = host->alloc(1, sizeof *g);
    if (!g) {
        return OKRA_EMEM;
    }
    *g = (ranks_){.host = host, .comm = MPI_COMM_NULL, .failed = -1};
    okra_status st = read_device(g, device);
    if (st != OKRA_OK) {
        host->free(g);
        return st;
    }
    *e = g;
    return OKRA_OK;
}

void ranks_close_(void *e)
{
    ranks_ *g = e;
    int over = 0;
    MPI_Finalized(&over);
    /* Where one has failed the others may not come here. */
    if (g->comm != MPI_COMM_NULL && g->failed < 0 && !over) {
        Cblacs_gridexit(g->grid);
        Cfree_blacs_system_handle(g->handle);
        MPI_Comm_free(&g->comm);
    }
    g->host->free(g);
}

void ranks_describe_(void *e, char *text, size_t size)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING], eigen[64];
    int length = 0;
    (void)e;
    MPI_Get_library_version(version, &length);
    version[strcspn(version, ",\n")] = '\0';
    ranks_eigen_version_(eigen, sizeof eigen);
    snprintf(text, size, "many processes, started by mpirun: %s, ScaLAPACK, %s", version,
             eigen);
}

/* ---- the beginning ---- */

static atomic_int busy;

void ranks_busy_(bool begins)
{
    atomic_fetch_add(&busy, begins ? 1 : -1);
}

/* A library that ends the process in the middle of a verb leaves others who wait: they
 * end too. */
static void end_mpi(void)
{
    int over = 0, rank = 0;
    MPI_Finalized(&over);
    if (!over && atomic_load(&busy)) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        fprintf(stderr,
                "okra: engine mpi: rank %d was ended by a library that it used; is its "
                "memory too small?\n",
                rank);
        MPI_Abort(MPI_COMM_WORLD, 1);
    } else if (!over) {
        MPI_Finalize();
    }
}

static okra_status begin_mpi(const ranks_ *g)
{
    int begun = 0, over = 0, level = MPI_THREAD_SINGLE;
    MPI_Initialized(&begun);
    MPI_Finalized(&over);
    if (over) {
        return g->host->fail(OKRA_EUNSUPPORTED,
                             "engine mpi: MPI has ended in this process already");
    }
    if (!begun) { /* a long call runs in a thread of its own, one at a time */
        if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS) {
            return g->host->fail(OKRA_EUNSUPPORTED, "engine mpi: MPI does not start");
        }
        atexit(end_mpi);
    } else {
        MPI_Query_thread(&level);
    }
    return level >= MPI_THREAD_SERIALIZED
               ? OKRA_OK
               : g->host->fail(OKRA_EUNSUPPORTED,
                               "engine mpi: MPI was started for one thread alone, "
                               "expected MPI_THREAD_SERIALIZED or more");
}

/* The grid nearest to a square, not wider than it is high: two ranks then take a third of
 * the time for the upper triangle of a Cholesky factor. */
static void make_grid(ranks_ *g)
{
    g->pc = 1;
    for (int c = 1; c <= g->ranks / c; c++) {
        g->pc = g->ranks % c == 0 ? c : g->pc;
    }
    g->pr = g->ranks / g->pc;
    g->row = g->rank / g->pc;
    g->col = g->rank % g->pc;
    g->handle = g->grid = Csys2blacs_handle(g->comm);
    Cblacs_gridinit(&g->grid, "Row", g->pr, g->pc);
}

okra_status ranks_join_(void *e, okra_context *ctx, okra_processes_ *group)
{
    okra_status st = OKRA_OK;
    ranks_ *g = e;
    MPI_Comm here;
    (void)ctx;
    TRY(begin_mpi(g));
    MPI_Comm_dup(MPI_COMM_WORLD, &g->comm);
    MPI_Comm_set_errhandler(g->comm, MPI_ERRORS_ARE_FATAL); /* mpi4py has others */
    MPI_Comm_rank(g->comm, &g->rank);
    MPI_Comm_size(g->comm, &g->ranks);
    MPI_Comm_split_type(g->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    MPI_Comm_size(here, &g->here);
    MPI_Comm_free(&here);
    make_grid(g);
    /* Threads and memory decide how work is cut, so they are the same everywhere. */
    long long least[2] = {group->threads,
                          group->memory_given ? group->memory : group->memory / g->here};
    MPI_Allreduce(MPI_IN_PLACE, least, 2, MPI_LONG_LONG, MPI_MIN, g->comm);
    group->rank = g->rank;
    group->ranks = g->ranks;
    group->threads = (int)least[0];
    group->memory = least[1];
done:
    return st;
}

/* ---- agreement ---- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

static okra_status lost(const ranks_ *g)
{
    return g->host->fail(OKRA_ECANCELLED, "engine mpi: rank %d of %d failed", g->failed,
                         g->ranks);
}

okra_status ranks_agree_(ranks_ *g, okra_status status, const char *what, uint64_t a,
                         uint64_t b)
{
    if (g->failed >= 0) {
        return status != OKRA_OK ? status : lost(g);
    }
    uint64_t hash = mix(mix(1, a), b);
    for (const char *c = what; *c; c++) {
        hash = mix(hash, (unsigned char)*c);
    }
    long long code = (long long)(hash >> 2);
    bool good = status == OKRA_OK;
    long long most[4] = {code, -code, good ? 0 : g->ranks - g->rank, good};
    MPI_Allreduce(MPI_IN_PLACE, most, 4, MPI_LONG_LONG, MPI_MAX, g->comm);
    if (most[3] == 0 && most[0] == -most[1]) {
        return status; /* all failed at one place, and may go on together */
    }
    if (most[2] > 0) {
        g->failed = g->ranks - (int)most[2];
        return status != OKRA_OK ? status : lost(g);
    }
    if (most[0] != -most[1]) {
        g->failed = 0;
        return g->host->fail(OKRA_EINTERNAL,
                             "engine mpi: the %d processes do not do the same (this one: "
                             "%s): do they read the same files, on machines of one kind?",
                             g->ranks, what);
    }
    return OKRA_OK;
}

okra_status ranks_end_(void *e, okra_status status, const char *what, bool *talks)
{
    ranks_ *g = e;
    okra_status st = ranks_agree_(g, status, what, 0, 0);
    *talks = g->rank == (g->failed < 0 ? 0 : g->failed);
    return st;
}

/* ---- rows that each rank streams ---- */

void ranks_share_(void *e, okra_int n, okra_int *first, okra_int *count)
{
    const ranks_ *g = e;
    okra_int each = n / g->ranks, more = n % g->ranks;
    *first = each * g->rank + OKRA_MIN_(more, g->rank);
    *count = each + (g->rank < more);
}

/* MPI promises the same bits on all ranks. */
okra_status ranks_sum_(void *e, okra_context *ctx, okra_int count, double *values)
{
    enum { CHUNK = 1 << 20 };
    ranks_ *g = e;
    okra_status st = ranks_agree_(g, g->host->cancelled(ctx), "sum", (uint64_t)count, 0);
    for (okra_int k = 0; st == OKRA_OK && g->ranks > 1 && k < count; k += CHUNK) {
        int now = (int)OKRA_MIN_(CHUNK, count - k);
        MPI_Allreduce(MPI_IN_PLACE, values + k, now, MPI_DOUBLE, MPI_SUM, g->comm);
    }
    return st;
}
