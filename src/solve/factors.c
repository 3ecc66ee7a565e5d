/*
 * factors.c: rows of features for methods that come back to single training pairs.
 *
 * n (m + d) doubles are kept, made in one pass: in memory where they fit the budget
 * beside what the method needs, else in a file (core/scratch.c).
 *
 * Passes over rows are cut into parts that run side by side: products of a
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

void okra_factors_clear_(okra_factors_ *f)
{
    okra_scratch_clear_(&f->Phi);
    okra_scratch_clear_(&f->Psi);
    FREE(f->square, f->X, f->R, f->T, f->sums);
    *f = (okra_factors_){0};
}

static void gather(const double *from, const okra_int *index, okra_mat_ to)
{
    for (okra_int r = 0; r < to.rows; r++) {
        memcpy(to.p + r * to.ld, from + index[r] * to.cols,
               (size_t)to.cols * sizeof *from);
    }
}

void okra_factors_rows_(const okra_factors_ *f, const okra_int *index, okra_int first,
                        okra_int count, okra_int at, okra_mat_ *Phi, okra_mat_ *Psi)
{
    *Phi = okra_mat_view_(f->Phi.p + first * f->m, count, f->m, f->m);
    *Psi = okra_mat_view_(f->Psi.p + first * f->d, count, f->d, f->d);
    if (index) {
        *Phi = okra_mat_of_(f->X + at * f->m, count, f->m);
        *Psi = okra_mat_of_(f->R + at * f->d, count, f->d);
        gather(f->Phi.p, index + first, *Phi);
        gather(f->Psi.p, index + first, *Psi);
    }
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
    for (okra_int part = begin; part < end; part++) {
        okra_int first = part * v->each, last = OKRA_MIN_(first + v->each, v->count);
        double *to = part == 0 || !v->to ? v->to : f->sums + (part - 1) * f->m * f->d;
        for (okra_int i = first; i < last; i += v->step) {
            okra_int rows = OKRA_MIN_(v->step, last - i), at = part * f->step;
            okra_factors_some_ z = {.part = part, .place = i};
            z.T = okra_mat_of_(f->T + at * f->d, rows, f->d);
            CHK(okra_cancelled_(f->ctx));
            okra_factors_rows_(f, v->index, i, rows, at, &z.Phi, &z.Psi);
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

/* Buffers of f->block rows, of every part, and of the parts' sums. */
static okra_status open_buffers(okra_factors_ *f)
{
    CHK(okra_doubles_(f->ctx, f->block, f->m, "a block of input features", &f->X));
    CHK(okra_doubles_(f->ctx, f->block, f->d, "a block of output features", &f->R));
    CHK(okra_doubles_(f->ctx, f->parts * f->step, f->d, "a block of the margin", &f->T));
    return okra_doubles_(f->ctx, (f->parts - 1) * f->m, f->d, "sums of the features",
                         &f->sums);
}

/* ---- all rows, and some ---- */

typedef struct making {
    okra_factors_ *f;
    const okra_factors_as_ *as;
    bool mapped; /* outputs by a map */
} making;

/* Outputs as they are seen, into f->R; F^-1 meets the inputs where they lie. */
static okra_status look(const making *z, okra_mat_ Phi, okra_mat_ *Psi)
{
    const okra_factors_ *f = z->f;
    okra_mat_ F = okra_mat_view_(z->as->F, f->m, f->m, f->m);
    okra_mat_ T = okra_mat_view_(z->as->T, f->d, f->d, f->d);
    okra_mat_ seen = okra_mat_of_(f->R, Psi->rows, f->d);
    CHK(F.p ? okra_trsm_(f->ctx, false, true, F, Phi) : OKRA_OK);
    if (T.p) {
        CHK(okra_gemm_(f->ctx, false, false, z->as->unit, *Psi, T, 0, seen));
    } else {
        CHK(okra_mat_copy_(*Psi, seen));
        okra_scale_(seen.rows * f->d, z->mapped ? 1 : z->as->unit, f->R);
    }
    *Psi = seen;
    return OKRA_OK;
}

/* The rows first.. and their report. */
static okra_status keep(okra_context *ctx, void *user, okra_int first, okra_mat_ all,
                        okra_mat_ outputs)
{
    const making *z = user;
    okra_factors_ *f = z->f;
    for (okra_int i = 0; i < all.rows; i += f->block) {
        okra_int rows = OKRA_MIN_(f->block, all.rows - i);
        okra_mat_ A = okra_mat_part_(all, i, rows, 0, f->m);
        okra_mat_ B = okra_mat_part_(outputs, i, rows, 0, f->d);
        f->kept_x += okra_dot_(rows * f->m, A.p, A.p);
        CHK(look(z, A, &B));
        for (okra_int r = 0; r < rows; r++) {
            const double *a = A.p + r * A.ld, *b = B.p + r * B.ld;
            double x = okra_dot_(f->m, a, a), y = okra_dot_(f->d, b, b);
            f->square[first + i + r] = x * y;
            f->trace += x;
            f->kept_y += y;
        }
        CHK(okra_scratch_write_(&f->Phi, first + i, rows, A.p));
        CHK(okra_scratch_write_(&f->Psi, first + i, rows, B.p));
    }
    return OKRA_OK;
}

/* In memory, or where that is short in a file. */
static okra_status make_room(okra_factors_ *f, bool fit)
{
    static const char *const what[] = {"the features of the inputs",
                                       "the features of the outputs"};
    okra_scratch_ *to[] = {&f->Phi, &f->Psi};
    for (int k = 0; k < 2; k++) {
        okra_int cols = k ? f->d : f->m;
        if (!fit) {
            CHK(okra_scratch_create_(f->ctx, f->n, cols, what[k], to[k]));
            continue;
        }
        *to[k] = (okra_scratch_){.rows = f->n, .cols = cols};
        CHK(okra_doubles_(f->ctx, f->n, cols, what[k], &to[k]->memory));
        to[k]->p = to[k]->memory;
    }
    return OKRA_OK;
}

okra_status okra_factors_create_(okra_context *ctx, const okra_problem_ *p,
                                 const okra_factors_as_ *as, okra_factors_ *out)
{
    FREED_BY(okra_factors_clear_)
    okra_factors_ f = {.ctx = ctx,
                       .n = p->n,
                       .m = p->map_x->rank,
                       .d = okra_problem_features_(p),
                       .unit = as->unit};
    okra_int most = OKRA_MIN_(f.n, OKRA_FACTORS_BLOCK_);
    bool together = (double)f.m * (double)f.d >= LARGE || okra_workers_(ctx) == 1;
    f.step = (double)f.m * (double)f.d >= LARGE ? most : OKRA_MIN_(f.n, STEP);
    f.parts = OKRA_MIN_(2 * okra_workers_(ctx), OKRA_FACTORS_PARTS_);
    f.parts = together ? 1 : OKRA_MIN_(f.parts, (f.n + f.step - 1) / f.step);
    f.block = f.parts * f.step;
    double besides = as->besides + (double)(f.n + (f.parts - 1) * f.m * f.d) +
                     (double)(f.block * (f.m + 2 * f.d));
    bool fit = fits(&f, f.n, besides);
    if (!fit) {
        f.parts = 1;
        f.step = f.block = okra_block_rows_(ctx, most, 2 * (f.m + 2 * f.d));
    }
    CHK(make_room(&f, fit));
    MAKE(f.square, f.n);
    CHK(open_buffers(&f));
    making z = {&f, as, p->map_y != NULL};
    CHK(okra_moments_pass_(ctx, p, "features", true, keep, &z));
    *out = TAKE(f);
    return OKRA_OK;
}

okra_status okra_factors_take_(const okra_factors_ *f, const okra_int *index,
                               okra_int count, okra_factors_ *out)
{
    FREED_BY(okra_factors_clear_)
    okra_factors_ t = {.ctx = f->ctx, .n = count, .m = f->m, .d = f->d};
    t.step = OKRA_MIN_(count, f->step);
    t.parts = OKRA_MIN_(f->parts, (count + t.step - 1) / t.step);
    if (fits(f, count, (double)(t.parts * (t.m + t.step) * t.d))) {
        CHK(make_room(&t, true));
        CHK(open_buffers(&t)); /* no block: rows lie side by side */
        gather(f->Phi.p, index, okra_mat_of_(t.Phi.memory, count, t.m));
        gather(f->Psi.p, index, okra_mat_of_(t.Psi.memory, count, t.d));
    }
    *out = TAKE(t);
    return OKRA_OK;
}
