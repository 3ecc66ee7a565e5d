/*
 * moments_engine.c: one pass over the training set for C = Phi'Phi, R = Phi'Psi, D =
 * Psi'Psi and the mean of Phi, on the engine (moments.c has the same for the host).
 *
 * Rows come in blocks. The engine makes the kernel's values U of a block against the
 * basis, divides them by F where that is wanted, and adds to sums that stay there until
 * the pass is over; what goes to it are the objects and Psi of the block, nothing comes
 * back. A block is small, since the host makes a copy of its vectors, and takes a quarter
 * of the budget at most.
 */
#include "solve/moments.h"

#include "engine/open.h"
#include "kernel/lowrank/lowrank.h"

#include <math.h>

typedef struct sums {
    okra_large_ *C, *R, *D, *phi; /* what is added up; R, D may be NULL    */
    okra_large_ *F;               /* of the map, or NULL: U is not divided */
    okra_large_ *U, *ones;        /* of a block                            */
    okra_large_ *Psi;
    double *Y, *YS; /* features of outputs of low rank */
} sums;

/* An engine of many processes leaves rows to the host of each, also where it is alone. */
bool okra_moments_on_engine_(const okra_context *ctx, const okra_problem_ *p)
{
    const okra_map_ *map = p->map_x;
    return !okra_engine_is_host_(ctx) && !okra_engine_of_(ctx)->verbs->sum &&
           map->factor && !map->sketch && !map->kernel && map->scale == 1;
}

static void clear(sums *z)
{
    okra_large_free_(z->C);
    okra_large_free_(z->R);
    okra_large_free_(z->D);
    okra_large_free_(z->phi);
    okra_large_free_(z->F);
    okra_large_free_(z->U);
    okra_large_free_(z->ones);
    okra_large_free_(z->Psi);
    FREE(z->Y, z->YS);
}

static okra_status open_pass(okra_context *ctx, const okra_problem_ *p, bool solved,
                             const okra_moments_ *t, okra_int rows, sums *z)
{
    const okra_map_ *y = p->map_y;
    const char *what = "the moments of the inputs";
    CHK(okra_large_create_(ctx, t->m, t->m, what, &z->C));
    CHK(okra_large_create_(ctx, t->m, 1, what, &z->phi));
    if (t->d > 0) {
        CHK(okra_large_create_(ctx, t->m, t->d, "the moments of inputs and outputs",
                               &z->R));
    }
    if (t->D) {
        CHK(okra_large_create_(ctx, t->d, t->d, "the moments of the outputs", &z->D));
    }
    if (solved) {
        CHK(okra_large_borrow_(ctx, okra_mat_of_(p->map_x->factor, t->m, t->m), &z->F));
    }
    if (y) {
        CHK(okra_doubles_(ctx, rows, y->columns, "a block of output features", &z->Y));
    }
    if (!y && p->weights && p->features) {
        CHK(okra_doubles_(ctx, rows, p->d, "a block of outputs", &z->Y));
    }
    if (y && y->sketch) {
        CHK(okra_doubles_(ctx, rows, y->rank, "a block of output features", &z->YS));
    }
    return OKRA_OK;
}

/* U, Psi and ones of the right height. */
static okra_status resize(okra_context *ctx, const okra_moments_ *t, okra_int rows,
                          sums *z)
{
    if (z->U && okra_large_rows_(z->U) == rows) {
        return OKRA_OK;
    }
    okra_large_free_(z->U);
    okra_large_free_(z->ones);
    okra_large_free_(z->Psi);
    z->U = z->ones = z->Psi = NULL;
    if (t->d > 0) {
        CHK(okra_large_create_(ctx, rows, t->d, "a block of output features", &z->Psi));
    }
    CHK(okra_large_create_(ctx, rows, t->m, "a block of input features", &z->U));
    CHK(okra_large_create_(ctx, rows, 1, "a block of input features", &z->ones));
    return okra_large_fill_(ctx, 1 / t->total, z->ones);
}

static okra_status inputs(okra_context *ctx, const okra_problem_ *p, double total,
                          okra_int first, okra_int rows, sums *z)
{
    FREED_BY(okra_data_drop_) okra_data *some = NULL;
    FREED_BY(okra_other_drop_) okra_other_ *other = NULL;
    FREED_BY(okra_entries_drop_) okra_entries_ *entries = NULL;
    OWNED double *s = NULL;
    CHK(okra_map_other_(ctx, p->map_x, p->x, first, rows, &some, &other));
    CHK(okra_entries_create_(ctx, p->map_x->bound, other, &entries));
    CHK(okra_large_gram_(ctx, entries, 0, z->U));
    if (z->F) {
        CHK(okra_large_trsm_(ctx, false, true, z->F, z->U));
    }
    if (p->weights) {
        MAKE(s, rows);
        for (okra_int i = 0; i < rows; i++) {
            s[i] = sqrt(p->weights[first + i]);
        }
        CHK(okra_large_scale_(ctx, s, NULL, z->U));
        for (okra_int i = 0; i < rows; i++) {
            s[i] /= total;
        }
        CHK(okra_large_put_(ctx, okra_mat_of_(s, rows, 1), 0, 0, z->ones));
    }
    return OKRA_OK;
}

/* Psi of a block: explicit features, or those of a map, by the host. */
static okra_status outputs(okra_context *ctx, const okra_problem_ *p, okra_int first,
                           okra_int rows, const sums *z, okra_mat_ *Psi)
{
    const okra_map_ *y = p->map_y;
    if (!y) {
        *Psi = okra_mat_view_(p->features + first * p->features_ld, rows, p->d,
                              p->features_ld);
        if (p->weights) {
            CHK(okra_mat_copy_(*Psi, okra_mat_of_(z->Y, rows, p->d)));
            *Psi = okra_mat_of_(z->Y, rows, p->d);
            okra_moments_weigh_(p, first, *Psi);
        }
        return OKRA_OK;
    }
    okra_mat_ V = okra_mat_of_(z->Y, rows, y->columns);
    *Psi = y->sketch ? okra_mat_of_(z->YS, rows, y->rank) : V;
    CHK(okra_map_values_(ctx, y, p->y, first, V));
    CHK(okra_map_features_(ctx, y, V, *Psi));
    okra_moments_weigh_(p, first, *Psi);
    return OKRA_OK;
}

static okra_status add(okra_context *ctx, const okra_problem_ *p, okra_int first,
                       okra_int rows, sums *z, okra_moments_ *t)
{
    okra_mat_ Psi;
    double begun = first > 0;
    CHK(resize(ctx, t, rows, z));
    CHK(inputs(ctx, p, t->total, first, rows, z));
    CHK(okra_large_syrk_(ctx, true, 1, z->U, begun, z->C));
    CHK(okra_large_gemm_(ctx, true, false, 1, z->U, z->ones, begun, z->phi));
    if (t->d > 0) {
        CHK(outputs(ctx, p, first, rows, z, &Psi));
        okra_moments_add_means_(Psi, t->weights ? t->weights + first : NULL, t->total,
                                t->psi, &t->kept_y);
        CHK(okra_large_put_(ctx, Psi, 0, 0, z->Psi));
        CHK(okra_large_gemm_(ctx, true, false, 1, z->U, z->Psi, begun, z->R));
    }
    if (t->D) {
        CHK(okra_large_syrk_(ctx, true, 1, z->Psi, begun, z->D));
    }
    return OKRA_OK;
}

okra_status okra_moments_engine_(okra_context *ctx, const okra_problem_ *p, bool solved,
                                 okra_moments_ *t)
{
    enum { MOST = 1 << 27, VECTORS = 1 << 21, LEAST = 4096 }; /* doubles, rows */
    FREED_BY(clear) sums z = {0};
    okra_int width = t->m + t->d + okra_data_width(p->x);
    okra_int room = OKRA_MIN_(MOST, okra_context_memory(ctx) / 4 / 8);
    okra_int rows = OKRA_MAX_(VECTORS / OKRA_MAX_(okra_data_width(p->x), 1), LEAST);
    rows = OKRA_MIN_(p->n, OKRA_MIN_(rows, OKRA_MAX_(room / width, 1)));
    CHK(open_pass(ctx, p, solved, t, rows, &z));
    for (okra_int i = 0; i < p->n; i += rows) {
        CHK(okra_cancelled_(ctx));
        CHK(add(ctx, p, i, OKRA_MIN_(rows, p->n - i), &z, t));
        okra_progress_(ctx, "moments", OKRA_MIN_(i + rows, p->n), p->n);
    }
    CHK(okra_large_get_(ctx, z.C, 0, 0, okra_mat_of_(t->C, t->m, t->m)));
    CHK(okra_large_get_(ctx, z.phi, 0, 0, okra_mat_of_(t->phi, t->m, 1)));
    if (z.R) {
        CHK(okra_large_get_(ctx, z.R, 0, 0, okra_mat_of_(t->R, t->m, t->d)));
    }
    if (z.D) {
        CHK(okra_large_get_(ctx, z.D, 0, 0, okra_mat_of_(t->D, t->d, t->d)));
    }
    return OKRA_OK;
}

/* ---- after the pass ---- */

static okra_status send_rows(okra_context *ctx, okra_mat_ A, okra_large_ **out)
{
    FREED_BY(okra_large_drop_) okra_large_ *there = NULL;
    CHK(okra_large_create_(ctx, A.rows, A.cols, "the moments", &there));
    CHK(okra_large_put_(ctx, A, 0, 0, there));
    *out = TAKE(there);
    return OKRA_OK;
}

/* A <- F^-1 A, and (both) A F^-T, which is then made symmetric. */
static okra_status divide(okra_context *ctx, const okra_large_ *F, bool both, okra_mat_ A)
{
    FREED_BY(okra_large_drop_) okra_large_ *there = NULL, *turned = NULL;
    CHK(send_rows(ctx, A, &there));
    CHK(okra_large_trsm_(ctx, true, false, F, there));
    if (both) {
        CHK(okra_large_trsm_(ctx, false, true, F, there));
        CHK(okra_large_create_(ctx, A.cols, A.rows, "the moments", &turned));
        CHK(okra_large_copy_(ctx, true, there, turned));
        CHK(okra_large_combine_(ctx, OKRA_COMBINE_SUM_, 0.5, 0.5, NULL, NULL, turned,
                                there));
    }
    return okra_large_get_(ctx, there, 0, 0, A);
}

okra_status okra_moments_divide_(okra_context *ctx, okra_mat_ F, okra_mat_ C, okra_mat_ R,
                                 okra_mat_ phi)
{
    FREED_BY(okra_large_drop_) okra_large_ *there = NULL;
    CHK(okra_large_borrow_(ctx, F, &there));
    CHK(divide(ctx, there, true, C));
    CHK(divide(ctx, there, false, R));
    return divide(ctx, there, false, phi);
}
