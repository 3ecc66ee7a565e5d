/*
 * count.c: put before MPI and BLAS by LD_PRELOAD, it counts what processes send each
 * other, messages and bytes, and the operations of products, triangular solves and
 * Cholesky factors. A broadcast to g processes counts as g - 1 messages, a reduction
 * likewise, one with its result everywhere as both, a gathering to all as g - 1 of each
 * part. At the end each process adds a line to the file that OKRA_COUNT_FILE names. The
 * rank that OKRA_COUNT_EXIT names leaves at its first Cholesky factor.
 */
#include <dlfcn.h>
#include <mpi.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long long messages, bytes;
static atomic_llong operations;

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

int MPI_Allgather(const void *p, int n, MPI_Datatype t, void *q, int m, MPI_Datatype u,
                  MPI_Comm c)
{
    count(others(c), n, t);
    return PMPI_Allgather(p, n, t, q, m, u, c);
}

int MPI_Gatherv(const void *p, int n, MPI_Datatype t, void *q, const int *counts,
                const int *places, MPI_Datatype u, int root, MPI_Comm c)
{
    count(is(root, c) ? 0 : 1, n, t);
    return PMPI_Gatherv(p, n, t, q, counts, places, u, root, c);
}

/* ---- operations ---- */

static void work(double count)
{
    operations += (long long)count;
}

/* The function of that name behind this one. */
#define NEXT(name, ...)                       \
    static void (*next)(__VA_ARGS__);         \
    if (!next) {                              \
        void *found = dlsym(RTLD_NEXT, name); \
        memcpy(&next, &found, sizeof next);   \
    }

typedef const char *text;
typedef const int *whole;
typedef const double *number;

void dgemm_(text ta, text tb, whole m, whole n, whole k, number a, number A, whole lda,
            number B, whole ldb, number b, double *C, whole ldc);
void dgemm_(text ta, text tb, whole m, whole n, whole k, number a, number A, whole lda,
            number B, whole ldb, number b, double *C, whole ldc)
{
    NEXT("dgemm_", text, text, whole, whole, whole, number, number, whole, number, whole,
         number, double *, whole)
    work(2.0 * *m * *n * *k);
    next(ta, tb, m, n, k, a, A, lda, B, ldb, b, C, ldc);
}

void dsyrk_(text u, text t, whole n, whole k, number a, number A, whole lda, number b,
            double *C, whole ldc);
void dsyrk_(text u, text t, whole n, whole k, number a, number A, whole lda, number b,
            double *C, whole ldc)
{
    NEXT("dsyrk_", text, text, whole, whole, number, number, whole, number, double *,
         whole)
    work((double)*n * *n * *k);
    next(u, t, n, k, a, A, lda, b, C, ldc);
}

void dtrsm_(text s, text u, text t, text d, whole m, whole n, number a, number A,
            whole lda, double *B, whole ldb);
void dtrsm_(text s, text u, text t, text d, whole m, whole n, number a, number A,
            whole lda, double *B, whole ldb)
{
    NEXT("dtrsm_", text, text, text, text, whole, whole, number, number, whole, double *,
         whole)
    work((double)*m * *n * (*s == 'L' || *s == 'l' ? *m : *n));
    next(s, u, t, d, m, n, a, A, lda, B, ldb);
}

void dpotrf_(text u, whole n, double *A, whole lda, int *info);
void dpotrf_(text u, whole n, double *A, whole lda, int *info)
{
    NEXT("dpotrf_", text, whole, double *, whole, int *)
    work((double)*n * *n * *n / 3);
    const char *leaves = getenv("OKRA_COUNT_EXIT");
    if (leaves && is(atoi(leaves), MPI_COMM_WORLD)) {
        exit(1); /* as libraries do that find no memory */
    }
    next(u, n, A, lda, info);
}

void cblas_dgemm(int o, int ta, int tb, int m, int n, int k, double a, number A, int lda,
                 number B, int ldb, double b, double *C, int ldc);
void cblas_dgemm(int o, int ta, int tb, int m, int n, int k, double a, number A, int lda,
                 number B, int ldb, double b, double *C, int ldc)
{
    NEXT("cblas_dgemm", int, int, int, int, int, int, double, number, int, number, int,
         double, double *, int)
    work(2.0 * m * n * k);
    next(o, ta, tb, m, n, k, a, A, lda, B, ldb, b, C, ldc);
}

void cblas_dsyrk(int o, int u, int t, int n, int k, double a, number A, int lda, double b,
                 double *C, int ldc);
void cblas_dsyrk(int o, int u, int t, int n, int k, double a, number A, int lda, double b,
                 double *C, int ldc)
{
    NEXT("cblas_dsyrk", int, int, int, int, int, double, number, int, double, double *,
         int)
    work((double)n * n * k);
    next(o, u, t, n, k, a, A, lda, b, C, ldc);
}

void cblas_dtrsm(int o, int s, int u, int t, int d, int m, int n, double a, number A,
                 int lda, double *B, int ldb);
void cblas_dtrsm(int o, int s, int u, int t, int d, int m, int n, double a, number A,
                 int lda, double *B, int ldb)
{
    enum { LEFT = 141 };
    NEXT("cblas_dtrsm", int, int, int, int, int, int, int, double, number, int, double *,
         int)
    work((double)m * n * (s == LEFT ? m : n));
    next(o, s, u, t, d, m, n, a, A, lda, B, ldb);
}

int MPI_Finalize(void)
{
    const char *path = getenv("OKRA_COUNT_FILE");
    FILE *out = path ? fopen(path, "a") : NULL;
    if (out) {
        fprintf(out, "%lld %lld %lld\n", messages, bytes, operations);
        fclose(out);
    }
    return PMPI_Finalize();
}
