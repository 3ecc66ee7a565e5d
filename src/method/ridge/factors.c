/*
 * factors.c: rows of features for methods that come back to single training pairs.
 *
 * n (m + d) doubles are kept where they fit the budget beside what the method needs. Else
 * every call makes its rows again: m kernel values of an input and m^2
 * operations (and as much for outputs under a map), which doubles the cost of a step of
 * 4 m d operations a row, or thereabouts, and needs one block of rows.
 */
#include "method/ridge/factors.h"

#include "kernel/lowrank/lowrank.h"

#include <string.h>

static bool fits(const okra_factors_ *f, okra_int rows, double besides)
{
    double left = (double)okra_memory_left_(f->ctx);
    return 8 * ((double)rows * (double)(f->m + f->d) + besides) <= left;
}

static void close_buffers(okra_factors_ *f)
{
    double **const all[] = {&f->X, &f->XS, &f->Y, &f->YS, &f->R};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        okra_free_(*all[k]);
        *all[k] = NULL;
    }
}

void okra_factors_clear_(okra_factors_ *f)
{
    close_buffers(f);
    FREE(f->Phi, f->Psi, f->square);
    *f = (okra_factors_){0};
}

/* For rows out of the objects; `kept`: for rows out of Phi and Psi. */
static okra_status open_buffers(okra_factors_ *f, bool kept)
{
    const okra_map_ *x = f->p->map_x, *y = f->p->map_y;
    okra_int rows = f->block;
    CHK(okra_doubles_(f->ctx, rows, kept ? f->m : x->columns, "a block of input features",
                      &f->X));
    if (!kept && x->sketch) {
        CHK(okra_doubles_(f->ctx, rows, f->m, "a block of input features", &f->XS));
    }
    if (!kept && (y || f->as.T)) {
        CHK(okra_doubles_(f->ctx, rows, y ? y->columns : f->d,
                          "a block of output features", &f->Y));
    }
    if (!kept && y && y->sketch) {
        CHK(okra_doubles_(f->ctx, rows, f->d, "a block of output features", &f->YS));
    }
    return okra_doubles_(f->ctx, rows, f->d, "a block of output features", &f->R);
}

static okra_status features(okra_factors_ *f, const okra_map_ *map, const okra_data *data,
                            const okra_int *index, okra_int first, okra_mat_ V,
                            okra_mat_ out)
{
    FREED_BY(okra_data_drop_) okra_data *some = NULL;
    if (index) {
        CHK(okra_data_take(data, index + first, V.rows, &some));
    }
    CHK(okra_map_values_(f->ctx, map, some ? some : data, some ? 0 : first, V));
    return okra_map_features_(f->ctx, map, V, out);
}

/* R <- rows of the explicit outputs, times unit */
static void explicit_rows(const okra_factors_ *f, const okra_int *index, okra_int first,
                          okra_mat_ R)
{
    for (okra_int r = 0; r < R.rows; r++) {
        okra_int i = index ? index[first + r] : first + r;
        const double *y = f->p->features + i * f->p->features_ld;
        for (okra_int j = 0; j < R.cols; j++) {
            R.p[r * R.ld + j] = f->as.unit * y[j];
        }
    }
}

/* *kept (may be NULL): tr(Phi Phi') before F is added to it. */
static okra_status make(okra_factors_ *f, const okra_int *index, okra_int first,
                        okra_int count, okra_mat_ *Phi, okra_mat_ *Psi, double *kept)
{
    const okra_map_ *x = f->p->map_x, *y = f->p->map_y;
    *Phi = okra_mat_of_(f->XS ? f->XS : f->X, count, f->m);
    CHK(features(f, x, f->p->x, index, first, okra_mat_of_(f->X, count, x->columns),
                 *Phi));
    if (kept) {
        *kept += okra_dot_(count * f->m, Phi->p, Phi->p);
    }
    if (f->as.F) {
        CHK(okra_trsm_(f->ctx, false, true, okra_mat_view_(f->as.F, f->m, f->m, f->m),
                       *Phi));
    }
    *Psi = okra_mat_of_(f->R, count, f->d);
    if (y) {
        *Psi = okra_mat_of_(f->YS ? f->YS : f->Y, count, f->d);
        CHK(features(f, y, f->p->y, index, first, okra_mat_of_(f->Y, count, y->columns),
                     *Psi));
    } else if (f->as.T) {
        okra_mat_ raw = okra_mat_of_(f->Y, count, f->d);
        explicit_rows(f, index, first, raw);
        CHK(okra_gemm_(f->ctx, false, false, 1, raw,
                       okra_mat_view_(f->as.T, f->d, f->d, f->d), 0, *Psi));
    } else {
        explicit_rows(f, index, first, *Psi);
    }
    return OKRA_OK;
}

static void gather(const double *from, const okra_int *index, okra_mat_ to)
{
    for (okra_int r = 0; r < to.rows; r++) {
        memcpy(to.p + r * to.ld, from + index[r] * to.cols,
               (size_t)to.cols * sizeof *from);
    }
}

okra_status okra_factors_rows_(okra_factors_ *f, const okra_int *index, okra_int first,
                               okra_int count, okra_mat_ *Phi, okra_mat_ *Psi)
{
    if (!f->Phi) {
        return make(f, index, first, count, Phi, Psi, NULL);
    }
    if (!index) {
        *Phi = okra_mat_of_(f->Phi + first * f->m, count, f->m);
        *Psi = okra_mat_of_(f->Psi + first * f->d, count, f->d);
        return OKRA_OK;
    }
    *Phi = okra_mat_of_(f->X, count, f->m);
    *Psi = okra_mat_of_(f->R, count, f->d);
    gather(f->Phi, index + first, *Phi);
    gather(f->Psi, index + first, *Psi);
    return OKRA_OK;
}

static okra_status pass(okra_factors_ *f, double *Phi, double *Psi)
{
    for (okra_int i = 0; i < f->n; i += f->block) {
        okra_int rows = OKRA_MIN_(f->block, f->n - i);
        okra_mat_ A, B;
        CHK(okra_cancelled_(f->ctx));
        CHK(make(f, NULL, i, rows, &A, &B, &f->kept_x));
        for (okra_int r = 0; r < rows; r++) {
            const double *a = A.p + r * A.ld, *b = B.p + r * B.ld;
            double x = okra_dot_(f->m, a, a), y = okra_dot_(f->d, b, b);
            f->square[i + r] = x * y;
            f->trace += x;
            f->kept_y += y;
        }
        if (Phi) {
            CHK(okra_mat_copy_(A, okra_mat_of_(Phi + i * f->m, rows, f->m)));
            CHK(okra_mat_copy_(B, okra_mat_of_(Psi + i * f->d, rows, f->d)));
        }
        okra_progress_(f->ctx, "features", i + rows, f->n);
    }
    return OKRA_OK;
}

okra_status okra_factors_create_(okra_context *ctx, const okra_problem_ *p,
                                 const okra_factors_as_ *as, okra_factors_ *out)
{
    const okra_map_ *x = p->map_x, *y = p->map_y;
    OWNED double *Phi = NULL, *Psi = NULL;
    FREED_BY(okra_factors_clear_)
    okra_factors_ f = {.ctx = ctx,
                       .p = p,
                       .n = p->n,
                       .m = x->rank,
                       .d = okra_problem_features_(p),
                       .as = *as};
    okra_int rows = OKRA_MIN_(f.n, OKRA_FACTORS_BLOCK_);
    double besides = as->besides + (double)(f.n + rows * (f.m + f.d) + x->columns);
    if (fits(&f, f.n, besides)) {
        CHK(okra_doubles_(ctx, f.n, f.m, "the features of the inputs", &Phi));
        CHK(okra_doubles_(ctx, f.n, f.d, "the features of the outputs", &Psi));
    }
    f.block =
        okra_block_rows_(ctx, rows, 2 * x->columns + (y ? 2 * y->columns : 2 * f.d));
    MAKE(f.square, f.n);
    CHK(open_buffers(&f, false));
    CHK(pass(&f, Phi, Psi));
    if (Phi) {
        close_buffers(&f);
        f.Phi = Phi;
        f.Psi = Psi;
        Phi = Psi = NULL;
        f.block = rows;
        CHK(open_buffers(&f, true));
    }
    *out = f;
    f = (okra_factors_){0};
    return OKRA_OK;
}

okra_status okra_factors_take_(okra_factors_ *f, const okra_int *index, okra_int count,
                               okra_factors_ *out)
{
    FREED_BY(okra_factors_clear_)
    okra_factors_ t = {.ctx = f->ctx, .n = count, .m = f->m, .d = f->d};
    t.block = f->block;
    if (fits(f, count, 0)) {
        CHK(okra_doubles_(f->ctx, count, f->m, "the features of the inputs", &t.Phi));
        CHK(okra_doubles_(f->ctx, count, f->d, "the features of the outputs", &t.Psi));
    }
    for (okra_int i = 0; t.Phi && i < count; i += f->block) {
        okra_int rows = OKRA_MIN_(f->block, count - i);
        okra_mat_ Phi, Psi;
        CHK(okra_factors_rows_(f, index, i, rows, &Phi, &Psi));
        CHK(okra_mat_copy_(Phi, okra_mat_of_(t.Phi + i * t.m, rows, t.m)));
        CHK(okra_mat_copy_(Psi, okra_mat_of_(t.Psi + i * t.d, rows, t.d)));
    }
    *out = t;
    t = (okra_factors_){0};
    return OKRA_OK;
}
