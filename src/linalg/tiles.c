/*
 * tiles.c: products and triangular solves on several threads. 2mnk operations and n^2 m;
 * componentwise error k eps |op(A)||op(B)| of a product.
 *
 * BLAS itself runs on one thread: its own threads wait by spinning, which costs a shared
 * machine more than they bring. What is large is cut into tiles of the result, which
 * okra_parallel_ hands out; what is small stays one call. Tiles depend on the shape and
 * the number of threads alone, so that the same call has the same bits.
 *
 *   gemm       tiles of C, all of the inner dimension
 *   syrk       tiles of the lower triangle of C
 *   trsm       strips of right-hand sides; where these are few, halves of L, so that each
 *              part of it is read by one thread
 */
#include "linalg/blas.h"

#include <cblas.h>
#include <math.h>

/* Multiplications and additions that are worth a thread more: half a millisecond, long
 * beside what it costs to wake one. */
static const double thread_work = 2e7;
static const double lower_work = 5e6; /* its inner dimension is short: bound by memory */
enum {
    edge = 64, /* tiles are not narrower: packing costs 1/edge of the work */
    unit = 16, /* and end where vectors of every width do */
    low = 4 * edge,
    leaf = 192, /* a quarter of the least triangle that is cut in halves */
};

static CBLAS_TRANSPOSE op(bool trans)
{
    return trans ? CblasTrans : CblasNoTrans;
}

static void one_gemm(bool ta, bool tb, double alpha, okra_mat_ A, okra_mat_ B,
                     double beta, okra_mat_ C)
{
    cblas_dgemm(CblasRowMajor, op(ta), op(tb), (int)C.rows, (int)C.cols,
                (int)(ta ? A.rows : A.cols), alpha, A.p, okra_blas_stride_(A), B.p,
                okra_blas_stride_(B), beta, C.p, okra_blas_stride_(C));
}

static void one_syrk(bool trans, double alpha, okra_mat_ A, double beta, okra_mat_ C)
{
    cblas_dsyrk(CblasRowMajor, CblasLower, op(trans), (int)C.rows,
                (int)(trans ? A.rows : A.cols), alpha, A.p, okra_blas_stride_(A), beta,
                C.p, okra_blas_stride_(C));
}

static void one_trsm(bool left, bool trans, okra_mat_ L, okra_mat_ B)
{
    cblas_dtrsm(CblasRowMajor, left ? CblasLeft : CblasRight, CblasLower, op(trans),
                CblasNonUnit, (int)B.rows, (int)B.cols, 1, L.p, okra_blas_stride_(L), B.p,
                okra_blas_stride_(B));
}

/* The side of tiles that cut `length` into `parts`. */
static okra_int side(okra_int length, okra_int parts)
{
    okra_int each = (length + parts - 1) / parts;
    return OKRA_MAX_((each + unit - 1) / unit * unit, edge);
}

static okra_int pieces(okra_int length, okra_int each)
{
    return (length + each - 1) / each;
}

/* A piece of op(A): rows r..r+nr-1 of it, all columns. */
static okra_mat_ strip(bool trans, okra_mat_ A, okra_int r, okra_int nr)
{
    return trans ? okra_mat_part_(A, 0, A.rows, r, nr)
                 : okra_mat_part_(A, r, nr, 0, A.cols);
}

typedef struct product {
    okra_context *ctx;
    bool ta, tb;
    double alpha, beta;
    okra_mat_ A, B, C;
    okra_int height, width, across; /* of a tile; tiles in a row of them */
} product;

static okra_status gemm_tiles(void *arg, okra_int begin, okra_int end, int worker)
{
    const product *p = arg;
    (void)worker;
    for (okra_int k = begin; k < end; k++) {
        okra_int i = k / p->across * p->height, j = k % p->across * p->width;
        okra_int ni = OKRA_MIN_(p->height, p->C.rows - i);
        okra_int nj = OKRA_MIN_(p->width, p->C.cols - j);
        one_gemm(p->ta, p->tb, p->alpha, strip(p->ta, p->A, i, ni),
                 strip(!p->tb, p->B, j, nj), p->beta, okra_mat_part_(p->C, i, ni, j, nj));
        okra_worked_(p->ctx, 2 * (double)ni * (double)nj *
                                 (double)(p->ta ? p->A.rows : p->A.cols));
    }
    return OKRA_OK;
}

/* Each tile packs its part of A, 1/width of its work, and its part of B, 1/height of it;
 * the first takes five times as long, so that tiles are five times as wide as high. Four
 * tiles a thread, or two where four would be low. */
static void cut(int team, product *p)
{
    double ratio = (double)p->C.cols / (5 * (double)p->C.rows);
    okra_int tiles = (okra_int)4 * team, half = tiles / 2;
    double across = fmin(sqrt((double)tiles * ratio), (double)tiles);
    p->width = side(p->C.cols, (okra_int)fmax(across, 1));
    p->across = pieces(p->C.cols, p->width);
    p->height = side(p->C.rows, pieces(tiles, p->across));
    if (p->height < low) {
        p->height = side(p->C.rows, pieces(half, p->across));
    }
}

static double inner(const product *p)
{
    return (double)(p->ta ? p->A.rows : p->A.cols);
}

static okra_status run_gemm(void *arg)
{
    product *p = arg;
    okra_status st = OKRA_OK;
    if (okra_blas_vector_gemm_(p->ctx, p->ta, p->tb, p->alpha, p->A, p->B, p->beta, p->C,
                               &st)) {
        return st;
    }
    double work = 2 * (double)p->C.rows * (double)p->C.cols * inner(p);
    int team = okra_blas_team_(p->ctx, work, thread_work);
    if (team == 1) {
        okra_blas_hold_(1);
        one_gemm(p->ta, p->tb, p->alpha, p->A, p->B, p->beta, p->C);
        okra_blas_release_();
        return OKRA_OK;
    }
    cut(team, p);
    return okra_parallel_(p->ctx, p->across * pieces(p->C.rows, p->height), 1, NULL,
                          gemm_tiles, p);
}

okra_status okra_blas_gemm_(okra_context *ctx, bool ta, bool tb, double alpha,
                            okra_mat_ A, okra_mat_ B, double beta, okra_mat_ C)
{
    product p = {ctx, ta, tb, alpha, beta, A, B, C, 0, 0, 0};
    return run_gemm(&p);
}

okra_status okra_gemm_(okra_context *ctx, bool ta, bool tb, double alpha, okra_mat_ A,
                       okra_mat_ B, double beta, okra_mat_ C)
{
    product p = {ctx, ta, tb, alpha, beta, A, B, C, 0, 0, 0};
    CHK(okra_blas_enter_(ctx, "gemm", 3, (okra_mat_[]){A, B, C}));
    double work = 2 * (double)C.rows * (double)C.cols * inner(&p);
    return C.rows == 0 || C.cols == 0
               ? OKRA_OK
               : okra_blas_watched_(ctx, OKRA_WORK_PRODUCT_, work, run_gemm, &p);
}

/* Tile k of the lower triangle: 0: (0, 0), 1: (1, 0), 2: (1, 1), ... */
static okra_status syrk_tiles(void *arg, okra_int begin, okra_int end, int worker)
{
    const product *p = arg;
    (void)worker;
    for (okra_int k = begin, row = 0; k < end; k++) {
        while ((row + 1) * (row + 2) / 2 <= k) {
            row++;
        }
        okra_int i = row * p->height, j = (k - row * (row + 1) / 2) * p->height;
        okra_int ni = OKRA_MIN_(p->height, p->C.rows - i);
        okra_int nj = OKRA_MIN_(p->height, p->C.rows - j);
        okra_mat_ Ai = strip(p->ta, p->A, i, ni), C = okra_mat_part_(p->C, i, ni, j, nj);
        if (i == j && p->B.p == p->A.p) {
            one_syrk(p->ta, p->alpha, Ai, p->beta, C);
        } else {
            one_gemm(p->ta, !p->ta, p->alpha, Ai, strip(p->ta, p->B, j, nj), p->beta, C);
        }
        okra_worked_(p->ctx, (i == j ? 1 : 2) * (double)ni * (double)nj *
                                 (double)(p->ta ? p->A.rows : p->A.cols));
    }
    return OKRA_OK;
}

static okra_status lower_tiles(product *p, int team)
{
    p->height = side(p->C.rows, (okra_int)ceil(sqrt(8.0 * team)));
    okra_int count = pieces(p->C.rows, p->height);
    count = count * (count + 1) / 2;
    if (team > 1) {
        return okra_parallel_(p->ctx, count, 1, NULL, syrk_tiles, p);
    }
    okra_blas_hold_(1);
    okra_status st = syrk_tiles(p, 0, count, 0);
    okra_blas_release_();
    return st;
}

static okra_status run_syrk(void *arg)
{
    product *p = arg;
    double n = (double)p->C.rows;
    int team = okra_blas_team_(p->ctx, n * n * inner(p), thread_work);
    if (team == 1) {
        okra_blas_hold_(1);
        one_syrk(p->ta, p->alpha, p->A, p->beta, p->C);
        okra_blas_release_();
        return OKRA_OK;
    }
    return lower_tiles(p, team);
}

okra_status okra_blas_syrk_(okra_context *ctx, bool trans, double alpha, okra_mat_ A,
                            double beta, okra_mat_ C)
{
    product p = {ctx, trans, !trans, alpha, beta, A, A, C, 0, 0, 0};
    return run_syrk(&p);
}

okra_status okra_syrk_(okra_context *ctx, bool trans, double alpha, okra_mat_ A,
                       double beta, okra_mat_ C)
{
    product p = {ctx, trans, !trans, alpha, beta, A, A, C, 0, 0, 0};
    CHK(okra_blas_enter_(ctx, "syrk", 2, (okra_mat_[]){A, C}));
    double work = (double)C.rows * (double)C.rows * inner(&p);
    if (C.rows > 0) {
        CHK(okra_blas_watched_(ctx, OKRA_WORK_PRODUCT_, work, run_syrk, &p));
        okra_mat_mirror_(C);
    }
    return OKRA_OK;
}

okra_status okra_blas_lower_(okra_context *ctx, double alpha, okra_mat_ A, okra_mat_ B,
                             double beta, okra_mat_ C)
{
    double n = (double)C.rows;
    product p = {ctx, true, false, alpha, beta, A, B, C, 0, 0, 0};
    return lower_tiles(&p, okra_blas_team_(ctx, n * n * (double)A.rows, lower_work));
}

typedef struct solving {
    okra_context *ctx;
    bool left, trans;
    okra_mat_ L, B;
} solving;

static okra_status trsm_strip(void *arg, okra_int begin, okra_int end, int worker)
{
    const solving *s = arg;
    (void)worker;
    one_trsm(s->left, s->trans, s->L, strip(s->left, s->B, begin, end - begin));
    okra_worked_(s->ctx, (double)s->L.rows * (double)s->L.rows * (double)(end - begin));
    return OKRA_OK;
}

/* With L21 the block below the diagonal: the half of B that depends on no other, what it
 * adds to the other, then that one. */
static okra_status trsm_halves(okra_context *ctx, bool left, bool trans, okra_mat_ L,
                               okra_mat_ B)
{
    okra_int half = (L.rows / 2 + unit - 1) / unit * unit, rest = L.rows - half;
    okra_mat_ L21 = okra_mat_part_(L, half, rest, 0, half),
              part[2] = {left ? okra_mat_part_(B, 0, half, 0, B.cols)
                              : okra_mat_part_(B, 0, B.rows, 0, half),
                         left ? okra_mat_part_(B, half, rest, 0, B.cols)
                              : okra_mat_part_(B, 0, B.rows, half, rest)};
    okra_mat_ own[2] = {okra_mat_part_(L, 0, half, 0, half),
                        okra_mat_part_(L, half, rest, half, rest)};
    int first = left == trans; /* op(L) is upper triangular from where B stands */
    CHK(okra_blas_trsm_(ctx, left, trans, own[first], part[first]));
    CHK(left ? okra_blas_gemm_(ctx, trans, false, -1, L21, part[first], 1, part[!first])
             : okra_blas_gemm_(ctx, false, trans, -1, part[first], L21, 1, part[!first]));
    return okra_blas_trsm_(ctx, left, trans, own[!first], part[!first]);
}

static okra_status run_trsm(void *arg)
{
    solving *s = arg;
    okra_status st = OKRA_OK;
    if (okra_blas_vector_trsm_(s->ctx, s->left, s->trans, s->L, s->B, &st)) {
        return st;
    }
    okra_int count = s->left ? s->B.cols : s->B.rows;
    double n = (double)s->L.rows;
    int team = okra_blas_team_(s->ctx, n * n * (double)count, thread_work);
    okra_int each = side(count, 2 * team);
    each = each < low ? side(count, team) : each; /* each strip packs L */
    if (team > 1 && count < 2 * team * edge && s->L.rows > 4 * leaf) {
        return trsm_halves(s->ctx, s->left, s->trans, s->L, s->B);
    }
    if (team == 1 || each >= count) {
        okra_blas_hold_(1);
        one_trsm(s->left, s->trans, s->L, s->B);
        okra_blas_release_();
        return OKRA_OK;
    }
    return okra_parallel_(s->ctx, count, each, NULL, trsm_strip, s);
}

okra_status okra_blas_trsm_(okra_context *ctx, bool left, bool trans, okra_mat_ L,
                            okra_mat_ B)
{
    solving s = {ctx, left, trans, L, B};
    return run_trsm(&s);
}

okra_status okra_trsm_(okra_context *ctx, bool left, bool trans, okra_mat_ L, okra_mat_ B)
{
    solving s = {ctx, left, trans, L, B};
    CHK(okra_blas_enter_(ctx, "trsm", 2, (okra_mat_[]){L, B}));
    double work = (double)L.rows * (double)B.rows * (double)B.cols;
    return B.rows == 0 || B.cols == 0
               ? OKRA_OK
               : okra_blas_watched_(ctx, OKRA_WORK_SOLVE_, work, run_trsm, &s);
}
