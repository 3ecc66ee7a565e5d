/*
 * eigen.c: eigenvectors, by ELPA where the engine was built with it, else by pdsyevd of
 * ScaLAPACK. The columns of M that they write are rows of V.
 */
#include "ranks.h"

#include <stdio.h>
#include <string.h>

#ifdef OKRA_ELPA
#include <elpa/elpa.h>
#endif

void pdsyevd_(const char *job, const char *uplo, const int *n, double *A, const int *ia,
              const int *ja, const int *da, double *w, double *Z, const int *iz,
              const int *jz, const int *dz, double *work, const int *lwork, int *iwork,
              const int *liwork, int *info);

void ranks_eigen_version_(char *text, size_t size)
{
#ifdef OKRA_ELPA
    snprintf(text, size, "ELPA %d", ELPA_API_VERSION);
#else
    snprintf(text, size, "no ELPA");
#endif
}

#ifdef OKRA_ELPA

static int set_up(elpa_t handle, const ranks_ *g, const ranks_body_ *A)
{
    const struct {
        const char *name;
        int value;
    } settings[] = {
        {"na", (int)A->rows},        {"nev", (int)A->rows},
        {"local_nrows", A->desc[8]}, {"local_ncols", (int)A->ln},
        {"nblk", g->block},          {"mpi_comm_parent", MPI_Comm_c2f(g->comm)},
        {"process_row", g->row},     {"process_col", g->col},
        {"blacs_context", g->grid}};
    int error = ELPA_OK;
    for (size_t i = 0; i < sizeof settings / sizeof *settings && error == ELPA_OK; i++) {
        elpa_set(handle, settings[i].name, settings[i].value, &error);
    }
    return error == ELPA_OK ? elpa_setup(handle) : error;
}

static int by_elpa(const ranks_ *g, ranks_body_ *A, double *w, double *Z)
{
    int error = elpa_init(ELPA_API_VERSION), ignored;
    elpa_t handle = error == ELPA_OK ? elpa_allocate(&error) : NULL;
    bool made = error == ELPA_OK;
    error = made ? set_up(handle, g, A) : error;
    int bad = error != ELPA_OK; /* on one rank: the others do not wait for it */
    MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_MAX, g->comm);
    if (!bad) {
        elpa_eigenvectors(handle, A->p, w, Z, &error);
    }
    if (made) {
        elpa_deallocate(handle, &ignored);
    }
    return bad && error == ELPA_OK ? ELPA_ERROR : error;
}

#endif

static okra_status by_scalapack(ranks_ *g, ranks_body_ *A, double *w, double *Z,
                                int *info)
{
    const int one = 1, n = (int)A->rows;
    okra_status st = OKRA_OK;
    double need = 0, *work = NULL;
    int ineed = 0, lwork = -1, liwork = -1, *iwork = NULL;
    pdsyevd_("V", "U", &n, A->p, &one, &one, A->desc, w, Z, &one, &one, A->desc, &need,
             &lwork, &ineed, &liwork, info);
    /* What it asks for is too little for some grids: the documented bound beside it. */
    double bound =
        3.0 * n +
        OKRA_MAX_(2.0 * (double)(A->lm + g->block) * (double)(A->ln + g->block), 6.0 * n);
    lwork = (int)OKRA_MIN_(OKRA_MAX_(need, bound), 2147483647.0);
    liwork = OKRA_MAX_(ineed, 7 * n + 8 * g->pc + 2);
    work = g->host->alloc(lwork, sizeof *work);
    iwork = g->host->alloc(liwork, sizeof *iwork);
    st = work && iwork ? OKRA_OK : OKRA_EMEM;
    TRY(ranks_agree_(g, st, "room for eigenvectors", (uint64_t)n, 0));
    pdsyevd_("V", "U", &n, A->p, &one, &one, A->desc, w, Z, &one, &one, A->desc, work,
             &lwork, iwork, &liwork, info);
done:
    g->host->free(work);
    g->host->free(iwork);
    return st;
}

okra_status ranks_eigh_(void *e, okra_context *ctx, void *A, double *w)
{
    okra_status st = OKRA_OK;
    ranks_ *g = e;
    ranks_body_ *a = A;
    void *fresh = NULL;
    int info = 0;
    TRY(ranks_create_(e, ctx, a->rows, a->cols, "the eigenvectors", &fresh));
    ranks_body_ *z = fresh;
    TRY(ranks_mirror_(g, &(ranks_half_){.up = false}, a)); /* ELPA reads all of it */
    int before = ranks_threads_(g, ctx);
#ifdef OKRA_ELPA
    /* ELPA wants every rank to have a part. */
    if (!g->scalapack && a->rows >= (okra_int)g->block * g->pr) {
        info = by_elpa(g, a, w, z->p);
    } else
#endif
    {
        st = by_scalapack(g, a, w, z->p, &info);
    }
    ranks_threads_back_(before);
    if (st == OKRA_OK && info != 0) {
        st = g->host->fail(OKRA_ENUMERIC,
                           "engine mpi: the eigendecomposition of a %lld x %lld matrix "
                           "failed (%d)",
                           (long long)a->rows, (long long)a->cols, info);
    }
    TRY(ranks_agree_(g, st, "eigenvectors", (uint64_t)a->rows, 0));
    MPI_Bcast(w, (int)a->rows, MPI_DOUBLE, 0, g->comm);
    ranks_swap_(a, z);
done:
    if (fresh) {
        ranks_destroy_(e, fresh);
    }
    return st;
}
