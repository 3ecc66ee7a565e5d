/*
 * soar_predict.c: predictions of structured output-associative regression (soar.c).
 *
 * Each test input is iterated on its own: it leaves when no output of it moves any more,
 * so that its prediction does not depend on the others it came with. The iteration need
 * not have a fixed point that it reaches. What has not settled after the last sweep is
 * given as it stands; what moves by more than FAR standard deviations at once runs away,
 * and is given by the inputs alone, as it started. Both are counted in a warning.
 *
 * Cost: 2 n d operations a test input, sweep and output, and the kernel. Memory: an
 * m x n matrix beside the query's, which is overwritten.
 */
#include "method/twin/soar.h"

#include <math.h>
#include <string.h>

static const double FAR = 1e6; /* no use in such outputs; kernels of them are finite */

okra_status okra_soar_others_(okra_mat_ Y, okra_int j, okra_data **out)
{
    OWNED double *rest = NULL;
    okra_int d = Y.cols - 1;
    MAKE(rest, Y.rows * d);
    for (okra_int i = 0; i < Y.rows; i++) {
        const double *row = Y.p + i * Y.ld;
        memcpy(rest + i * d, row, (size_t)j * sizeof *rest);
        memcpy(rest + i * d + j, row + j + 1, (size_t)(d - j) * sizeof *rest);
    }
    return okra_data_adopt_dense_(&rest, Y.rows, d, "the other outputs", out);
}

/* A <- K + A or K A, element by element. */
static void join(bool product, okra_mat_ K, okra_mat_ A)
{
    for (okra_int i = 0; i < A.rows; i++) {
        const double *k = K.p + i * K.ld;
        double *a = A.p + i * A.ld;
        for (okra_int j = 0; j < A.cols; j++) {
            a[j] = product ? k[j] * a[j] : k[j] + a[j];
        }
    }
}

typedef struct stored {
    okra_mat_ Y, start, C;
    const double *first, *offset, *sd; /* d: added to start, to C; spread of outputs */
    double product, sweeps, settle;
    okra_kernel *kernel;
    okra_data **rest; /* d: training outputs without the j-th, and their kernels */
    okra_bound_ **bound;
} stored;

static void stored_clear(stored *s, okra_int d)
{
    for (okra_int j = 0; j < d; j++) {
        if (s->bound) {
            okra_bound_free_(s->bound[j]);
        }
        if (s->rest) {
            okra_data_free(s->rest[j]);
        }
    }
    FREE(s->bound, s->rest);
    okra_kernel_free(s->kernel);
}

static okra_status matrix(const okra_bag_ *bag, const char *name, okra_int m, okra_int d,
                          okra_mat_ *out)
{
    okra_int r = 0, c = 0;
    const double *p = okra_bag_get_(bag, name, &r, &c);
    *out = okra_mat_view_(p, r, c, c);
    return p && r == m && c == d
               ? OKRA_OK
               : okra_fail_(OKRA_EFORMAT,
                            "soar: the model's '%s' is %lld x %lld, expected %lld x %lld",
                            name, (long long)r, (long long)c, (long long)m, (long long)d);
}

static okra_status unpack(okra_context *ctx, const okra_bag_ *bag, okra_int n, okra_int d,
                          stored *s)
{
    okra_mat_ moments;
    const char *text = okra_bag_get_text_(bag, "associate");
    CHK(matrix(bag, "outputs", n, d, &s->Y));
    CHK(matrix(bag, "start", d, n, &s->start));
    CHK(matrix(bag, "coefficients", d, n, &s->C));
    CHK(matrix(bag, "moments", 3, d, &moments));
    s->first = moments.p;
    s->offset = moments.p + d;
    s->sd = moments.p + 2 * d;
    REFUSE_IF(!text || !okra_bag_get_number_(bag, "product", &s->product) ||
                  !okra_bag_get_number_(bag, "sweeps", &s->sweeps) ||
                  !okra_bag_get_number_(bag, "settle", &s->settle),
              OKRA_EFORMAT, "soar: the model lacks a setting");
    CHK(okra_kernel_parse_kept_(text, &s->kernel));
    ZMAKE(s->rest, d);
    ZMAKE(s->bound, d);
    for (okra_int j = 0; j < d; j++) {
        CHK(okra_soar_others_(s->Y, j, &s->rest[j]));
        CHK(okra_bound_create_(ctx, s->kernel, s->rest[j], &s->bound[j]));
    }
    return OKRA_OK;
}

okra_status okra_soar_check_(const okra_bag_ *bag, const okra_facts_ *facts)
{
    FREED_BY(okra_kernel_drop_) okra_kernel *kernel = NULL;
    okra_int rows = 0, d = 0;
    const double *moments = okra_bag_get_(bag, "moments", &rows, &d);
    (void)facts;
    CHK(okra_kernel_parse_kept_(okra_bag_get_text_(bag, "associate"), &kernel));
    REFUSE_IF(d < 1 || okra_kernel_files_(kernel) || okra_kernel_low_(kernel) ||
                  !(okra_kernel_kinds_(kernel) >> OKRA_DENSE & 1),
              OKRA_EFORMAT,
              "soar: associate is %s, expected a kernel of vectors without files or low "
              "rank, and outputs of at least one coordinate",
              okra_kernel_text(kernel));
    for (okra_int j = 0; j < d; j++) {
        REFUSE_IF(moments[2 * d + j] < 0, OKRA_EFORMAT,
                  "soar: the spread of output %lld is %g", (long long)j,
                  moments[2 * d + j]);
    }
    return OKRA_OK;
}

/* The test inputs whose outputs still move: rows 0..count-1 of what follows. */
typedef struct going {
    okra_int count, lost; /* lost: how many have run away                           */
    okra_int *which;      /* rows of the query                                      */
    double *moved;        /* largest step of a sweep, in standard deviations        */
    okra_mat_ K, H;       /* kernels of the inputs; outputs                         */
    double *A;            /* room for kernels of the others                         */
} going;

/* A new column j of H. */
static okra_status renew(okra_context *ctx, const stored *s, okra_int j, going *g)
{
    FREED_BY(okra_data_drop_) okra_data *rest = NULL;
    FREED_BY(okra_other_drop_) okra_other_ *other = NULL;
    okra_mat_ H = okra_mat_part_(g->H, 0, g->count, 0, g->H.cols);
    okra_mat_ K = okra_mat_part_(g->K, 0, g->count, 0, g->K.cols);
    okra_mat_ A = okra_mat_of_(g->A, g->count, K.cols);
    CHK(okra_soar_others_(H, j, &rest));
    CHK(okra_other_create_(ctx, s->bound[j], rest, &other));
    CHK(okra_other_cross_(ctx, s->bound[j], other, 0, A));
    join(s->product != 0, K, A);
    for (okra_int i = 0; i < g->count; i++) {
        double *h = &H.p[i * H.ld + j];
        double value =
            s->offset[j] + okra_dot_(A.cols, A.p + i * A.ld, s->C.p + j * s->C.ld);
        double step = fabs(value - *h) / fmax(s->sd[j], 1e-300);
        if (step <= FAR) {
            *h = value;
            g->moved[i] = fmax(g->moved[i], step);
        } else { /* not finite, too */
            g->moved[i] = INFINITY;
        }
    }
    return OKRA_OK;
}

/* After a sweep: what has settled, or on the last one is near, goes to out; what still
 * moves closes up. */
static void sort_out(const stored *s, bool last, going *g, okra_mat_ out)
{
    okra_int kept = 0;
    size_t d = (size_t)out.cols, n = (size_t)g->K.cols;
    for (okra_int i = 0; i < g->count; i++) {
        double *h = g->H.p + i * g->H.ld, moved = g->moved[i];
        if (moved <= s->settle || (last && moved <= FAR)) {
            memcpy(out.p + g->which[i] * out.ld, h, d * sizeof *h);
        }
        if (moved <= s->settle) {
            continue;
        }
        if (!(moved <= FAR)) {
            g->lost++;
            continue;
        }
        g->which[kept] = g->which[i];
        memmove(g->H.p + kept * g->H.ld, h, d * sizeof *h);
        memmove(g->K.p + kept * g->K.ld, g->K.p + i * g->K.ld, n * sizeof *h);
        kept++;
    }
    g->count = kept;
}

static okra_status sweeps(okra_context *ctx, const stored *s, going *g, okra_mat_ out)
{
    for (double sweep = 1; sweep <= s->sweeps && g->count > 0; sweep++) {
        memset(g->moved, 0, (size_t)g->count * sizeof *g->moved);
        for (okra_int j = 0; j < out.cols; j++) {
            CHK(okra_cancelled_(ctx));
            CHK(renew(ctx, s, j, g));
        }
        sort_out(s, sweep == s->sweeps, g, out);
    }
    return OKRA_OK;
}

okra_status okra_soar_predict_(okra_context *ctx, const okra_bag_ *bag,
                               okra_query_ *query, okra_mat_ out)
{
    okra_status st = OKRA_OK;
    okra_int m = query->m, d = out.cols;
    stored s = {0};
    going g = {.count = m, .K = query->Kx};
    double *H = NULL;
    TRY(unpack(ctx, bag, query->n, d, &s));
    TRY(okra_doubles_(ctx, m, query->n, "kernels of the other outputs", &g.A));
    TRY(okra_doubles_(ctx, m, d, "outputs that move", &H));
    ALLOC(g.which, m);
    ALLOC(g.moved, m);
    g.H = okra_mat_of_(H, m, d);
    for (okra_int i = 0; i < m; i++) {
        memcpy(out.p + i * out.ld, s.first, (size_t)d * sizeof *out.p);
        g.which[i] = i;
    }
    TRY(okra_gemm_(ctx, false, true, 1, query->Kx, s.start, 1, out));
    TRY(okra_mat_copy_(out, g.H));
    TRY(sweeps(ctx, &s, &g, out));
    if (s.sweeps > 0 && g.count > 0) {
        okra_warn_(
            ctx,
            "soar: %lld of %lld predictions had not settled after %.0f sweeps; the "
            "first is that of input %lld (from 0)",
            (long long)g.count, (long long)m, s.sweeps,
            (long long)(query->first + g.which[0]));
    }
    if (g.lost > 0) {
        okra_warn_(ctx,
                   "soar: the outputs of %lld of %lld inputs ran away from one another; "
                   "they are predicted from the inputs alone",
                   (long long)g.lost, (long long)m);
    }
done:
    stored_clear(&s, s.rest ? d : 0);
    FREE(g.A, g.which, g.moved, H);
    return st;
}
