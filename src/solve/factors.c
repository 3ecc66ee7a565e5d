/*
 * factors.c: rows of features for methods that come back to single training pairs.
 *
 * n (m + d) doubles are kept where they fit the budget beside what the method needs. Else
 * every call makes its rows again: m kernel values of an input and m^2
 * operations (and as much for outputs under a map), which doubles the cost of a step of
 * 4 m d operations a row, or thereabouts, and needs one block of rows.
 *
 * Passes over rows that are kept are cut into parts that run side by side: products of a
 * few hundred rows alone are too small for several threads, and a block of rows that was
 * read for one product is still in cache for the next. Sums are taken by part, then over
 * the parts in order; the parts depend on n and the number of threads alone.
 */
#include "solve/moments.h"

#include "kernel/lowrank/lowrank.h"

enum { STEP = 256 };             /* rows of a block: 256 (m + d) doubles stay in cache */
static const double LARGE = 4e5; /* m d: a product of a block keeps all threads busy   */

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
    FREE(f->Phi, f->Psi, f->square, f->T, f->sums);
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

/* The same for rows that are kept, beside others: through row `at` of the buffers. */
static void kept_rows(const okra_factors_ *f, const okra_int *index, okra_int first,
                      okra_int count, okra_int at, okra_mat_ *Phi, okra_mat_ *Psi)
{
    *Phi = okra_mat_of_(index ? f->X + at * f->m : f->Phi + first * f->m, count, f->m);
    *Psi = okra_mat_of_(index ? f->R + at * f->d : f->Psi + first * f->d, count, f->d);
    if (index) {
        gather(f->Phi, index + first, *Phi);
        gather(f->Psi, index + first, *Psi);
    }
}

okra_status okra_factors_rows_(okra_factors_ *f, const okra_int *index, okra_int first,
                               okra_int count, okra_mat_ *Phi, okra_mat_ *Psi)
{
    if (!f->Phi) {
        return make(f, index, first, count, Phi, Psi, NULL);
    }
    kept_rows(f, index, first, count, 0, Phi, Psi);
    return OKRA_OK;
}

/* ---- passes over the rows ---- */

typedef struct visit {
    okra_factors_ *f;
    const okra_int *index;
    okra_int count, each, step; /* rows: in all, of a part, of a block */
    okra_factors_body_ body;
    void *arg;
    double scale, *to;
} visit;

static okra_status some_parts(void *arg, okra_int begin, okra_int end, int worker)
{
    const visit *v = arg;
    okra_factors_ *f = v->f;
    (void)worker;
    for (okra_int part = begin; part < end; part++) {
        okra_int first = part * v->each, last = OKRA_MIN_(first + v->each, v->count);
        double *to = part == 0 || !v->to ? v->to : f->sums + (part - 1) * f->m * f->d;
        for (okra_int i = first; i < last; i += v->step) {
            okra_int rows = OKRA_MIN_(v->step, last - i), at = part * f->step;
            okra_factors_some_ z = {.part = part, .place = i};
            z.T = okra_mat_of_(f->T + at * f->d, rows, f->d);
            CHK(okra_cancelled_(f->ctx));
            if (f->Phi) {
                kept_rows(f, v->index, i, rows, at, &z.Phi, &z.Psi);
            } else {
                CHK(make(f, v->index, i, rows, &z.Phi, &z.Psi, NULL));
            }
            CHK(v->body(v->arg, &z));
            if (to) {
                CHK(okra_gemm_(f->ctx, true, false, v->scale, z.Phi, z.T, i > first,
                               okra_mat_of_(to, f->m, f->d)));
            }
        }
    }
    return OKRA_OK;
}

okra_status okra_factors_each_(okra_factors_ *f, const okra_int *index, okra_int count,
                               okra_factors_body_ body, void *arg, double scale,
                               double *to)
{
    okra_int blocks = (count + f->step - 1) / f->step, area = f->m * f->d;
    okra_int parts = OKRA_MIN_(f->parts, blocks);
    visit v = {f, index, count, 0, 0, body, arg, scale, to};
    if (count == 0) {
        if (to) {
            okra_mat_fill_(okra_mat_of_(to, f->m, f->d), 0);
        }
        return OKRA_OK;
    }
    v.each = (count + parts - 1) / parts;
    blocks = (v.each + f->step - 1) / f->step;
    v.step = (v.each + blocks - 1) / blocks;
    parts = (count + v.each - 1) / v.each;
    if (parts == 1) {
        return some_parts(&v, 0, 1, 0);
    }
    CHK(okra_parallel_least_(f->ctx, 2 * (double)count * (double)area, parts, 1, NULL,
                             some_parts, &v));
    for (okra_int part = 1; to && part < parts; part++) {
        okra_axpy_(area, 1, f->sums + (part - 1) * area, to);
    }
    return OKRA_OK;
}

static okra_status open_parts(okra_factors_ *f)
{
    CHK(okra_doubles_(f->ctx, f->parts * f->step, f->d, "a block of the margin", &f->T));
    return okra_doubles_(f->ctx, (f->parts - 1) * f->m, f->d, "sums of the features",
                         &f->sums);
}

/* ---- all rows, and some ---- */

/* Rows i..i+rows-1, and their report. */
static okra_status first_time(okra_factors_ *f, okra_int i, okra_int rows)
{
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
    okra_progress_(f->ctx, "features", i + rows, f->n);
    return OKRA_OK;
}

/* Phi, Psi: where the rows stay, in the place of the buffers in which make() ends; or
 * NULL. */
static okra_status pass(okra_factors_ *f, double *Phi, double *Psi)
{
    okra_status st = OKRA_OK;
    double **x = f->XS ? &f->XS : &f->X, *own_x = *x;
    double **y = !f->p->map_y ? &f->R : f->YS ? &f->YS : &f->Y, *own_y = *y;
    for (okra_int i = 0; st == OKRA_OK && i < f->n; i += f->block) {
        *x = Phi ? Phi + i * f->m : own_x;
        *y = Psi ? Psi + i * f->d : own_y;
        st = first_time(f, i, OKRA_MIN_(f->block, f->n - i));
    }
    *x = own_x;
    *y = own_y;
    return st;
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
                       .parts = 1,
                       .as = *as};
    okra_int rows = OKRA_MIN_(f.n, OKRA_FACTORS_BLOCK_);
    bool large = (double)f.m * (double)f.d >= LARGE;
    okra_int step = large ? rows : OKRA_MIN_(f.n, STEP);
    okra_int parts = OKRA_MIN_(2 * okra_workers_(ctx), OKRA_FACTORS_PARTS_);
    parts =
        large || okra_workers_(ctx) == 1 ? 1 : OKRA_MIN_(parts, (f.n + step - 1) / step);
    double besides = as->besides + (double)(f.n + (parts - 1) * f.m * f.d + x->columns) +
                     (double)(OKRA_MAX_(rows, parts * step) * (f.m + 2 * f.d));
    if (fits(&f, f.n, besides)) {
        CHK(okra_doubles_(ctx, f.n, f.m, "the features of the inputs", &Phi));
        CHK(okra_doubles_(ctx, f.n, f.d, "the features of the outputs", &Psi));
    }
    f.block =
        okra_block_rows_(ctx, rows, 2 * x->columns + (y ? 2 * y->columns : 2 * f.d));
    MAKE(f.square, f.n);
    CHK(open_buffers(&f, false));
    CHK(pass(&f, Phi, Psi));
    f.step = f.block;
    if (Phi) {
        close_buffers(&f);
        f.Phi = TAKE(Phi);
        f.Psi = TAKE(Psi);
        f.parts = parts;
        f.step = step;
        f.block = parts * step;
        CHK(open_buffers(&f, true));
    }
    CHK(open_parts(&f));
    *out = TAKE(f);
    return OKRA_OK;
}

okra_status okra_factors_take_(okra_factors_ *f, const okra_int *index, okra_int count,
                               okra_factors_ *out)
{
    FREED_BY(okra_factors_clear_)
    okra_factors_ t = {.ctx = f->ctx, .n = count, .m = f->m, .d = f->d};
    t.step = OKRA_MIN_(count, f->step);
    t.parts = OKRA_MIN_(f->parts, (count + t.step - 1) / t.step);
    t.block = t.step;
    if (fits(f, count, (double)(t.parts * (t.m + t.step) * t.d))) {
        CHK(okra_doubles_(f->ctx, count, f->m, "the features of the inputs", &t.Phi));
        CHK(okra_doubles_(f->ctx, count, f->d, "the features of the outputs", &t.Psi));
        CHK(open_parts(&t));
    }
    for (okra_int i = 0; t.Phi && i < count; i += f->block) {
        okra_int rows = OKRA_MIN_(f->block, count - i);
        okra_mat_ Phi, Psi;
        CHK(okra_factors_rows_(f, index, i, rows, &Phi, &Psi));
        CHK(okra_mat_copy_(Phi, okra_mat_of_(t.Phi + i * t.m, rows, t.m)));
        CHK(okra_mat_copy_(Psi, okra_mat_of_(t.Psi + i * t.d, rows, t.d)));
    }
    *out = TAKE(t);
    return OKRA_OK;
}
