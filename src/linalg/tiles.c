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
#include "core/simd.h"
#include "linalg/blas.h"

#include <cblas.h>

/* ---- one row or column against a matrix ---- */

/* These read a matrix once and are bound by memory. BLAS would copy the matrix into its
 * own order first.
 *
 *   y = x'B    rows of B are added up, four at a time, in strips of columns
 *   y = B x    inner products of the rows of B, four at a time
 *   L z = b    blocks of rows: what is known is taken off (inner products), then the
 *              block on the diagonal is solved, in smaller blocks
 *   L'z = b    from the last block: it is solved, then taken off the others (rows added)
 *
 * Every element is summed in one order, whatever its place and the number of threads:
 * equal columns give equal sums. */

enum {
    wide = 1024, /* columns of a task */
    lines = 64,  /* rows of a task */
    block = 512, /* rows of a triangular block */
    small = 64,  /* rows of a block within it */
};

/* ---- the two inner loops ---- */

/* y[0..n-1] += sum_i x_i B_i, rows of `count` */
static inline OKRA_INLINE_ void add_body(okra_int count, okra_int n, const double *x,
                                         const double *B, okra_int ld, double *restrict y,
                                         bool fused)
{
    okra_int i = 0;
    for (; i + 4 <= count; i += 4) {
        const double *b0 = B + i * ld, *b1 = b0 + ld, *b2 = b1 + ld, *b3 = b2 + ld;
        double x0 = x[i], x1 = x[i + 1], x2 = x[i + 2], x3 = x[i + 3];
        for (okra_int j = 0; j < n; j++) {
            y[j] += (x0 * b0[j] + x1 * b1[j]) + (x2 * b2[j] + x3 * b3[j]);
        }
    }
    for (; i < count; i++) {
        for (okra_int j = 0; j < n; j++) {
            y[j] += x[i] * B[i * ld + j];
        }
    }
}
OKRA_VARIANTS_(add_rows, add_body,
               (okra_int count, okra_int n, const double *x, const double *B, okra_int ld,
                double *restrict y),
               (count, n, x, B, ld, y))

/* out_r = <B_r, x> of `rows` rows, 1 or 4, in one order */
static inline OKRA_INLINE_ void dots_of(int rows, okra_int n, const double *B,
                                        okra_int ld, const double *x, double *out)
{
    okra_lane_ s[4] = {{0}};
    okra_int j = 0;
    for (; j + OKRA_LANES_ <= n; j += OKRA_LANES_) {
        okra_lane_ b, at;
        memcpy(&at, x + j, sizeof at);
        for (int r = 0; r < rows; r++) {
            memcpy(&b, B + r * ld + j, sizeof b);
            s[r] += b * at;
        }
    }
    for (int r = 0; r < rows; r++) {
        okra_lane_ t = s[r];
        double rest = 0;
        for (okra_int k = j; k < n; k++) {
            rest += B[r * ld + k] * x[k];
        }
        out[r] = ((t[0] + t[1]) + (t[2] + t[3])) + ((t[4] + t[5]) + (t[6] + t[7])) + rest;
    }
}
static inline OKRA_INLINE_ void dots_body(int rows, okra_int n, const double *B,
                                          okra_int ld, const double *x, double *out,
                                          bool fused)
{
    if (rows == 4) {
        dots_of(4, n, B, ld, x, out);
        return;
    }
    for (int r = 0; r < rows; r++) {
        dots_of(1, n, B + r * ld, ld, x, out + r);
    }
}
OKRA_VARIANTS_(dots, dots_body,
               (int rows, okra_int n, const double *B, okra_int ld, const double *x,
                double *out),
               (rows, n, B, ld, x, out))

/* ---- products ---- */

typedef struct task {
    double alpha, beta;
    const double *x;
    okra_mat_ B;
    double *y;
} task;

static okra_status columns_part(void *arg, okra_int begin, okra_int end, int worker)
{
    const task *t = arg;
    for (okra_int first = begin; first < end; first += wide) {
        okra_int n = OKRA_MIN_(wide, end - first);
        double sum[wide] = {0};
        add_rows(t->B.rows, n, t->x, t->B.p + first, t->B.ld, sum);
        for (okra_int j = 0; j < n; j++) {
            double *y = t->y + first + j;
            *y = t->alpha * sum[j] + (t->beta == 0 ? 0 : t->beta * *y);
        }
    }
    return OKRA_OK;
}

static okra_status rows_part(void *arg, okra_int begin, okra_int end, int worker)
{
    const task *t = arg;
    for (okra_int i = begin; i < end; i += 4) {
        int rows = (int)OKRA_MIN_(4, end - i);
        double sum[4] = {0};
        dots(rows, t->B.cols, t->B.p + i * t->B.ld, t->B.ld, t->x, sum);
        for (int r = 0; r < rows; r++) {
            double *y = t->y + i + r;
            *y = t->alpha * sum[r] + (t->beta == 0 ? 0 : t->beta * *y);
        }
    }
    return OKRA_OK;
}

/* Numbers that are worth a thread more: some tenths of a millisecond to read. */
static const double worth = 5e5;

/* y <- alpha op(B) x + beta y */
static okra_status multiply(okra_context *ctx, bool trans, double alpha, okra_mat_ B,
                            const double *x, double beta, double *y)
{
    task t = {alpha, beta, x, B, y};
    okra_int count = trans ? B.cols : B.rows;
    if (okra_blas_team_(ctx, (double)B.rows * (double)B.cols, worth) == 1) {
        return (trans ? columns_part : rows_part)(&t, 0, count, 0);
    }
    return okra_parallel_(ctx, count, trans ? wide : lines, NULL,
                          trans ? columns_part : rows_part, &t);
}

static bool vector_gemm(okra_context *ctx, bool ta, bool tb, double alpha, okra_mat_ A,
                        okra_mat_ B, double beta, okra_mat_ C, okra_status *status)
{
    if (C.rows != 1 || ta || (double)B.rows * (double)B.cols < OKRA_VECTOR_LEAST_) {
        return false;
    }
    *status = multiply(ctx, !tb, alpha, B, A.p, beta, C.p);
    return true;
}

/* ---- triangular solves ---- */

/* L z = b, or L'z = b of one small block, in place. */
static void solve_block(bool trans, okra_mat_ L, double *z)
{
    for (okra_int k = 0; k < L.rows; k++) {
        okra_int i = trans ? L.rows - 1 - k : k;
        const double *row = L.p + i * L.ld;
        if (!trans) {
            z[i] = (z[i] - okra_dot_(i, row, z)) / row[i];
            continue;
        }
        double x = z[i] / row[i];
        z[i] = x;
        for (okra_int j = 0; j < i; j++) {
            z[j] -= x * row[j];
        }
    }
}

/* In blocks, and each of those in small ones. */
static okra_status solve(okra_context *ctx, bool trans, okra_mat_ L, double *z)
{
    okra_int side = L.rows > block ? block : small;
    okra_int blocks = (L.rows + side - 1) / side;
    if (L.rows <= small) {
        solve_block(trans, L, z);
        return OKRA_OK;
    }
    for (okra_int k = 0; k < blocks; k++) {
        okra_int first = (trans ? blocks - 1 - k : k) * side;
        okra_int rows = OKRA_MIN_(side, L.rows - first);
        okra_mat_ before = okra_mat_part_(L, first, rows, 0, first);
        okra_mat_ own = okra_mat_part_(L, first, rows, first, rows);
        if (!trans && first > 0) {
            CHK(multiply(ctx, false, -1, before, z, 1, z + first));
        }
        CHK(solve(ctx, trans, own, z + first));
        if (trans && first > 0) {
            CHK(multiply(ctx, true, -1, before, z + first, 1, z));
        }
    }
    return OKRA_OK;
}

static bool vector_trsm(okra_context *ctx, bool left, bool trans, okra_mat_ L,
                        okra_mat_ B, okra_status *status)
{
    bool row = !left && B.rows == 1, column = left && B.cols == 1 && B.ld == 1;
    if (!(row || column) || (double)L.rows * (double)L.rows < OKRA_VECTOR_LEAST_) {
        return false;
    }
    /* B L^-1 is L'z = b */
    *status = solve(ctx, left ? trans : !trans, L, B.p);
    return true;
}

/* ---- tiles ---- */

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
    if (vector_gemm(p->ctx, p->ta, p->tb, p->alpha, p->A, p->B, p->beta, p->C, &st)) {
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
    if (vector_trsm(s->ctx, s->left, s->trans, s->L, s->B, &st)) {
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
