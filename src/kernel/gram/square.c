/*
 * square.c: a square matrix that is all a kernel keeps of a file it read.
 */
#include "kernel/gram/trained_kernel.h"

void okra_square_free_(void *arg)
{
    okra_square_ *square = arg;
    if (square && atomic_fetch_sub(&square->owners, 1) == 1) {
        FREE(square->A, square);
    }
}

void *okra_square_share_(void *arg)
{
    okra_square_ *square = arg;
    atomic_fetch_add(&square->owners, 1);
    return square;
}

okra_status okra_square_create_(okra_int n, double *A, void **out)
{
    OWNED double *owned = A;
    okra_square_ *square = NULL;
    MAKE(square, 1);
    *square = (okra_square_){.n = n, .A = TAKE(owned)};
    atomic_init(&square->owners, 1);
    *out = square;
    return OKRA_OK;
}

const okra_schema_ okra_square_kept_[] = {OKRA_KEEPS_MATRIX_("", 0, "s", "s"),
                                          OKRA_KEPT_END_};

okra_status okra_square_save_(const void *arg, okra_store_ *store, const char *name)
{
    const okra_square_ *square = arg;
    return okra_store_put_copy_(store, name, square->A, square->n, square->n);
}

okra_status okra_square_load_(okra_context *ctx, const void *params,
                              const okra_data *train, const okra_store_ *store,
                              const char *name, void **out)
{
    okra_int rows = 0, cols = 0;
    const double *A = okra_store_get_(store, name, &rows, &cols);
    double *copy = NULL;
    CHK(okra_doubles_(ctx, rows, rows, "the matrix of a kernel", &copy));
    memcpy(copy, A, (size_t)(rows * rows) * sizeof *A);
    return okra_square_create_(rows, copy, out);
}
