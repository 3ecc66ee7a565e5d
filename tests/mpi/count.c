/*
 * count.c: put before MPI by LD_PRELOAD, it counts what processes send each other:
 * messages and bytes. A broadcast to g processes counts as g - 1 messages, a reduction
 * likewise, one with its result everywhere as both, a gathering to all as g - 1 of each
 * part. At the end each process adds a line to the file that OKRA_COUNT_FILE names.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

static long long messages, bytes;

static void count(int times, int items, MPI_Datatype type)
{
    int size = 0;
    PMPI_Type_size(type, &size);
    messages += times;
    bytes += (long long)times * items * size;
}

static int others(MPI_Comm comm)
{
    int size = 1;
    PMPI_Comm_size(comm, &size);
    return size - 1;
}

static int is(int root, MPI_Comm comm)
{
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    return rank == root;
}

int MPI_Send(const void *p, int n, MPI_Datatype t, int to, int tag, MPI_Comm c)
{
    count(1, n, t);
    return PMPI_Send(p, n, t, to, tag, c);
}

int MPI_Isend(const void *p, int n, MPI_Datatype t, int to, int tag, MPI_Comm c,
              MPI_Request *r)
{
    count(1, n, t);
    return PMPI_Isend(p, n, t, to, tag, c, r);
}

int MPI_Sendrecv(const void *p, int n, MPI_Datatype t, int to, int tag, void *q, int m,
                 MPI_Datatype u, int from, int tag2, MPI_Comm c, MPI_Status *s)
{
    count(1, n, t);
    return PMPI_Sendrecv(p, n, t, to, tag, q, m, u, from, tag2, c, s);
}

int MPI_Bcast(void *p, int n, MPI_Datatype t, int root, MPI_Comm c)
{
    count(is(root, c) ? others(c) : 0, n, t);
    return PMPI_Bcast(p, n, t, root, c);
}

int MPI_Ibcast(void *p, int n, MPI_Datatype t, int root, MPI_Comm c, MPI_Request *r)
{
    count(is(root, c) ? others(c) : 0, n, t);
    return PMPI_Ibcast(p, n, t, root, c, r);
}

int MPI_Reduce(const void *p, void *q, int n, MPI_Datatype t, MPI_Op op, int root,
               MPI_Comm c)
{
    count(is(root, c) ? 0 : 1, n, t);
    return PMPI_Reduce(p, q, n, t, op, root, c);
}

int MPI_Allreduce(const void *p, void *q, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c)
{
    count(is(0, c) ? others(c) : 1, n, t);
    return PMPI_Allreduce(p, q, n, t, op, c);
}

int MPI_Allgatherv(const void *p, int n, MPI_Datatype t, void *q, const int *counts,
                   const int *places, MPI_Datatype u, MPI_Comm c)
{
    count(others(c), n, t);
    return PMPI_Allgatherv(p, n, t, q, counts, places, u, c);
}

int MPI_Alltoallv(const void *p, const int *counts, const int *places, MPI_Datatype t,
                  void *q, const int *from, const int *into, MPI_Datatype u, MPI_Comm c)
{
    for (int r = 0; r <= others(c); r++) {
        count(counts[r] > 0, counts[r], t);
    }
    return PMPI_Alltoallv(p, counts, places, t, q, from, into, u, c);
}

int MPI_Finalize(void)
{
    const char *path = getenv("OKRA_COUNT_FILE");
    FILE *out = path ? fopen(path, "a") : NULL;
    if (out) {
        fprintf(out, "%lld %lld\n", messages, bytes);
        fclose(out);
    }
    return PMPI_Finalize();
}
