/*
 * given.c: the kernel `table` as an example of a shape: k(x_i, x_j) is entry (i, j) of a
 * matrix that the user has, whose rows are the objects. Links, the program and Python
 * then read matrices where they would else read vectors.
 */
#include "kernel/kernel.h"

static okra_status make_side(okra_context *ctx, const void *params, const void *shared,
                             const okra_data *data, void **side)
{
    (void)ctx, (void)params, (void)shared;
    *side = okra_data_retain(data);
    return OKRA_OK;
}

static void free_side(void *side)
{
    okra_data_free(side);
}

static okra_status block(okra_context *ctx, const void *params, const void *pa,
                         okra_int i0, okra_int ni, const void *pb, okra_int j0,
                         okra_int nj, double *out, okra_int ld)
{
    const okra_data *a = pa;
    (void)ctx, (void)params, (void)pb;
    for (okra_int r = 0; r < ni; r++) {
        for (okra_int c = 0; c < nj; c++) {
            out[r * ld + c] = a->values[(i0 + r) * a->ld + j0 + c];
        }
    }
    return OKRA_OK;
}

static okra_status diagonal(okra_context *ctx, const void *params, const void *pa,
                            okra_int n, double *out)
{
    const okra_data *a = pa;
    (void)ctx, (void)params;
    REFUSE_IF(a->n != a->d, OKRA_EUNSUPPORTED, "kernel table: %s has no diagonal",
              a->source);
    for (okra_int i = 0; i < n; i++) {
        out[i] = a->values[i * a->ld + i];
    }
    return OKRA_OK;
}

static const okra_option none[] = {{.name = NULL}};

const okra_kernel_class_ okra_table_ = {
    .name = "table",
    .help = "entries of a matrix that the user has",
    .params = {"table", none, 0},
    .kinds = 1u << OKRA_GRAM,
    .shape = OKRA_SHAPE_GIVEN_,
    .side = make_side,
    .free_side = free_side,
    .block = block,
    .diagonal = diagonal,
};
