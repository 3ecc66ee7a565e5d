/*
 * host.c: the engine of this machine's memory: the verbs over src/linalg and the tiled
 * Gram matrices of src/kernel.
 */
#include "engine/engine.h"

#include "kernel/gram/trained_kernel.h"

typedef struct body {
    okra_mat_ A;
    bool owned;
} body;

static okra_mat_ of(const void *A)
{
    return ((const body *)A)->A;
}

static okra_status create(void *e, okra_context *ctx, okra_int rows, okra_int cols,
                          const char *what, void **out)
{
    OWNED body *b = NULL;
    MAKE(b, 1);
    *b = (body){{NULL, rows, cols, cols}, true};
    CHK(okra_doubles_(ctx, rows, cols, what, &b->A.p));
    *out = TAKE(b);
    return OKRA_OK;
}

static void destroy(void *e, void *A)
{
    body *b = A;
    if (b->owned) {
        okra_free_(b->A.p);
    }
    okra_free_(b);
}

static okra_status borrow(void *e, okra_context *ctx, okra_mat_ block, void **out)
{
    body *b = NULL;
    MAKE(b, 1);
    *b = (body){block, false};
    *out = b;
    return OKRA_OK;
}

static double *release(void *e, void *A)
{
    body *b = A;
    double *p = b->A.p;
    okra_free_(b);
    return p;
}

/* ---- Gram matrices ---- */

typedef struct foreign {
    okra_context *ctx;
    const okra_entries_ *entries;
    okra_int first;
    okra_mat_ A;
} foreign;

static okra_status foreign_rows(void *arg, okra_int begin, okra_int end, int worker)
{
    foreign *f = arg;
    return f->entries->tile(f->ctx, f->entries->self, f->first + begin, end - begin, 0,
                            f->A.cols, f->A.p + begin * f->A.ld, f->A.ld);
}

static okra_status gram(void *e, okra_context *ctx, const okra_entries_ *entries,
                        okra_int first, okra_int rows, void *A)
{
    const okra_test_side_ *other = NULL;
    const okra_trained_kernel_ *bound = okra_entries_bound_(entries, &other);
    if (!bound) {
        foreign f = {ctx, entries, first, of(A)};
        return okra_parallel_(ctx, rows, 64, "gram", foreign_rows, &f);
    }
    if (other) {
        return okra_test_side_cross_(ctx, bound, other, first, of(A));
    }
    if (rows == entries->rows) {
        return okra_trained_kernel_gram_(ctx, bound, of(A));
    }
    return okra_tiles_(ctx, bound, bound->kernel->count - 1, &bound->train, first, rows,
                       OKRA_TARGET_FULL_, "gram", of(A));
}

/* ---- to and fro ---- */

static okra_status put(void *e, okra_context *ctx, okra_mat_ block, okra_int i,
                       okra_int j, void *A)
{
    return okra_mat_copy_(block, okra_mat_part_(of(A), i, block.rows, j, block.cols));
}

static okra_status get(void *e, okra_context *ctx, const void *A, okra_int i, okra_int j,
                       okra_mat_ block)
{
    return okra_mat_copy_(okra_mat_part_(of(A), i, block.rows, j, block.cols), block);
}

static okra_status copy(void *e, okra_context *ctx, bool trans, const void *A, void *B)
{
    return (trans ? okra_mat_transpose_ : okra_mat_copy_)(of(A), of(B));
}

/* ---- elementwise ---- */

static okra_status fill(void *e, okra_context *ctx, double value, void *A)
{
    okra_mat_fill_(of(A), value);
    return OKRA_OK;
}

static okra_status add_diagonal(void *e, okra_context *ctx, double value, void *A)
{
    okra_mat_add_diagonal_(of(A), value);
    return OKRA_OK;
}

static okra_status diagonal(void *e, okra_context *ctx, const void *A, double *out)
{
    okra_mat_ M = of(A);
    for (okra_int i = 0; i < OKRA_MIN_(M.rows, M.cols); i++) {
        out[i] = M.p[i * M.ld + i];
    }
    return OKRA_OK;
}

static okra_status scale(void *e, okra_context *ctx, const double *r, const double *c,
                         void *A)
{
    okra_mat_ M = of(A);
    for (okra_int i = 0; i < M.rows; i++) {
        double *row = M.p + i * M.ld;
        for (okra_int j = 0; r && j < M.cols; j++) {
            row[j] *= r[i];
        }
        for (okra_int j = 0; c && j < M.cols; j++) {
            row[j] *= c[j];
        }
    }
    return OKRA_OK;
}

static okra_status center(void *e, okra_context *ctx, double *mean, void *A)
{
    OWNED double *own = NULL;
    if (!mean) {
        MAKE(own, of(A).rows);
    }
    okra_mat_center_(of(A), mean ? mean : own);
    return OKRA_OK;
}

static okra_status combine(void *e, okra_context *ctx, okra_combine_ how, double s,
                           double t, const double *r, const double *c, const void *B,
                           void *A)
{
    okra_mat_ M = of(A), N = B ? of(B) : M;
    for (okra_int i = 0; i < M.rows; i++) {
        double *a = M.p + i * M.ld;
        const double *b = N.p + i * N.ld;
        for (okra_int j = 0; j < M.cols; j++) {
            switch (how) {
            case OKRA_COMBINE_SUM_:
                a[j] = s * a[j] + t * b[j];
                break;
            case OKRA_COMBINE_PRODUCT_:
                a[j] *= b[j];
                break;
            case OKRA_COMBINE_POWER_:
                a[j] = pow(a[j], s);
                break;
            case OKRA_COMBINE_DIVIDE_:
                a[j] = b[j] / (r[i] * c[j] + s);
                break;
            }
        }
    }
    return OKRA_OK;
}

/* ---- reductions ---- */

static okra_status row_sums(void *e, okra_context *ctx, const void *A, double *out)
{
    okra_mat_ M = of(A);
    for (okra_int i = 0; i < M.rows; i++) {
        out[i] = 0;
        for (okra_int j = 0; j < M.cols; j++) {
            out[i] += M.p[i * M.ld + j];
        }
    }
    return OKRA_OK;
}

static okra_status dot(void *e, okra_context *ctx, const void *A, const void *B,
                       double *out)
{
    okra_mat_ M = of(A), N = of(B);
    double sum = 0;
    for (okra_int i = 0; i < M.rows; i++) {
        sum += okra_dot_(M.cols, M.p + i * M.ld, N.p + i * N.ld);
    }
    *out = sum;
    return OKRA_OK;
}

/* Insertion into the k best so far, which are in order. */
static void best_of_row(okra_int cols, const double *a, const double *offset, okra_int k,
                        okra_int *index, double *value)
{
    okra_int kept = 0;
    for (okra_int j = 0; j < cols; j++) {
        double v = a[j] + (offset ? offset[j] : 0);
        if (kept == k && !(v > value[k - 1])) {
            continue;
        }
        okra_int at = kept < k ? kept++ : k - 1;
        for (; at > 0 && v > value[at - 1]; at--) {
            value[at] = value[at - 1];
            index[at] = index[at - 1];
        }
        value[at] = v;
        index[at] = j;
    }
}

static okra_status best(void *e, okra_context *ctx, const void *A, const double *offset,
                        okra_int k, okra_int *index, double *value)
{
    okra_mat_ M = of(A);
    for (okra_int i = 0; i < M.rows; i++) {
        best_of_row(M.cols, M.p + i * M.ld, offset, k, index + i * k, value + i * k);
    }
    return OKRA_OK;
}

/* ---- linear algebra ---- */

static okra_status gemm(void *e, okra_context *ctx, bool ta, bool tb, double alpha,
                        const void *A, const void *B, double beta, void *C)
{
    return okra_gemm_(ctx, ta, tb, alpha, of(A), of(B), beta, of(C));
}

static okra_status syrk(void *e, okra_context *ctx, bool trans, double alpha,
                        const void *A, double beta, void *C)
{
    return okra_syrk_(ctx, trans, alpha, of(A), beta, of(C));
}

static okra_status cholesky(void *e, okra_context *ctx, void *A, bool *done)
{
    return okra_factor_(ctx, of(A), done);
}

static okra_status restore(void *e, okra_context *ctx, const double *d, void *A)
{
    okra_mat_restore_(of(A), d);
    return OKRA_OK;
}

static okra_status trsm(void *e, okra_context *ctx, bool left, bool trans, const void *L,
                        void *B)
{
    return okra_trsm_(ctx, left, trans, of(L), of(B));
}

static okra_status eigh(void *e, okra_context *ctx, void *A, double *w)
{
    return okra_eigh_(ctx, of(A), w);
}

/* ---- factors in single precision (linalg/single.c) of Gram matrices that are made tile
 * by tile, and products with these.
 *
 * Y = K X in double precision reads each tile of one triangle of K once: round r has the
 * pairs of blocks (i, j), i + j = r modulo their number, in which every block comes once,
 * so that threads write apart and sums have one order.
 */

enum { SIDE = OKRA_SINGLE_ };

typedef struct tiles {
    okra_context *ctx;
    const okra_entries_ *entries;
    okra_int n, blocks, round;
    double lambda;
    float *L;
    okra_mat_ X, Y;
    double *scratch; /* SIDE^2 for each worker */
} tiles;

static okra_int rows_of(const tiles *t, okra_int block)
{
    return OKRA_MIN_(SIDE, t->n - block * SIDE);
}

static okra_status make(const tiles *t, okra_int i, okra_int j, double *K)
{
    return t->entries->tile(t->ctx, t->entries->self, i * SIDE, rows_of(t, i), j * SIDE,
                            rows_of(t, j), K, SIDE);
}

/* Blocks (i, j), j <= i, of A = K + lambda I, the identity beyond n. */
static okra_status fill_single(void *arg, okra_int begin, okra_int end, int worker)
{
    const tiles *t = arg;
    double *K = t->scratch + (okra_int)worker * SIDE * SIDE;
    okra_int ld, i = 0;
    for (okra_int at = begin; at < end; at++) {
        while ((i + 1) * (i + 2) / 2 <= at) {
            i++;
        }
        okra_int j = at - i * (i + 1) / 2, rows = rows_of(t, i), cols = rows_of(t, j);
        float *A = okra_single_block_(t->L, i, j, &ld);
        CHK(make(t, i, j, K));
        for (okra_int r = 0; r < SIDE; r++) {
            for (okra_int c = 0; c < SIDE; c++) {
                bool in = r < rows && c < cols, own = i == j && r == c;
                A[r * ld + c] = (float)((in    ? K[r * SIDE + c]
                                         : own ? 1
                                               : 0) +
                                        (in && own ? t->lambda : 0));
            }
        }
    }
    return OKRA_OK;
}

static okra_status open_tiles(okra_context *ctx, const okra_entries_ *entries, tiles *t)
{
    *t = (tiles){.ctx = ctx,
                 .entries = entries,
                 .n = entries->rows,
                 .blocks = (entries->rows + SIDE - 1) / SIDE};
    MAKE(t->scratch, (okra_int)okra_workers_(ctx) * SIDE * SIDE);
    return OKRA_OK;
}

static void close_tiles(tiles *t)
{
    FREE(t->L, t->scratch);
}

static okra_status single(void *e, okra_context *ctx, const okra_entries_ *entries,
                          double lambda, bool rough, void **L, bool *done)
{
    FREED_BY(close_tiles) tiles t = {0};
    double *room = NULL;
    CHK(open_tiles(ctx, entries, &t));
    CHK(okra_doubles_(ctx, okra_single_count_(t.n) / 2, 1,
                      "the factor in single precision", &room));
    t.L = (float *)room;
    t.lambda = lambda;
    CHK(okra_parallel_(ctx, t.blocks * (t.blocks + 1) / 2, 1, "gram", fill_single, &t));
    CHK(okra_single_factor_(ctx, t.n, t.L, done));
    if (*done) {
        *L = TAKE(t.L);
    }
    return OKRA_OK;
}

static void single_destroy(void *e, void *L)
{
    okra_free_(L);
}

static okra_status single_solve(void *e, okra_context *ctx, const void *L, okra_mat_ B)
{
    return okra_single_solve_(ctx, B.rows, L, B);
}

/* Pair `at` of the round: (i, r - i), the lesser first. */
static okra_status pair(void *arg, okra_int begin, okra_int end, int worker)
{
    const tiles *t = arg;
    double *scratch = t->scratch + (okra_int)worker * SIDE * SIDE;
    okra_int c = t->X.cols;
    for (okra_int j = begin; j < end; j++) {
        okra_int i = (t->round + t->blocks - j) % t->blocks;
        if (i < j) {
            continue;
        }
        okra_int rows = rows_of(t, i), cols = rows_of(t, j);
        okra_mat_ K = {scratch, rows, cols, SIDE};
        okra_mat_ Xi = okra_mat_part_(t->X, i * SIDE, rows, 0, c);
        okra_mat_ Xj = okra_mat_part_(t->X, j * SIDE, cols, 0, c);
        CHK(make(t, i, j, scratch));
        CHK(okra_gemm_(t->ctx, false, false, 1, K, Xj, 1,
                       okra_mat_part_(t->Y, i * SIDE, rows, 0, c)));
        CHK(i == j ? OKRA_OK
                   : okra_gemm_(t->ctx, true, false, 1, K, Xi, 1,
                                okra_mat_part_(t->Y, j * SIDE, cols, 0, c)));
    }
    return OKRA_OK;
}

static okra_status product(void *e, okra_context *ctx, const okra_entries_ *entries,
                           okra_mat_ X, okra_mat_ Y)
{
    FREED_BY(close_tiles) tiles t = {0};
    CHK(open_tiles(ctx, entries, &t));
    t.X = X;
    t.Y = Y;
    okra_mat_fill_(Y, 0);
    for (t.round = 0; t.round < t.blocks; t.round++) {
        CHK(okra_parallel_(ctx, t.blocks, 1, NULL, pair, &t));
    }
    return OKRA_OK;
}

const okra_engine_class_ okra_engine_host_class_ = {
    .interface = OKRA_ENGINE_INTERFACE_,
    .name = "host",
    .help = "the memory and the processors of this machine",
    .create = create,
    .destroy = destroy,
    .borrow = borrow,
    .gram = gram,
    .put = put,
    .get = get,
    .release = release,
    .copy = copy,
    .fill = fill,
    .add_diagonal = add_diagonal,
    .diagonal = diagonal,
    .scale = scale,
    .center = center,
    .combine = combine,
    .row_sums = row_sums,
    .dot = dot,
    .best = best,
    .gemm = gemm,
    .syrk = syrk,
    .cholesky = cholesky,
    .restore = restore,
    .trsm = trsm,
    .eigh = eigh,
    .single = single,
    .single_destroy = single_destroy,
    .single_solve = single_solve,
    .product = product,
};

/* ---- the verbs of these, of any engine ---- */

okra_status okra_single_create_(okra_context *ctx, const okra_entries_ *entries,
                                double lambda, bool rough, okra_single_ *out, bool *done)
{
    const okra_engine_ *engine = okra_engine_of_(ctx);
    okra_single_ L = {engine, NULL, entries->rows};
    *done = false;
    if (engine->verbs->single && L.n > 0) {
        CHK(engine->verbs->single(engine->state, ctx, entries, lambda, rough, &L.body,
                                  done));
    }
    *out = L;
    return OKRA_OK;
}

bool okra_single_there_(const okra_context *ctx, int *bits)
{
    *bits = okra_engine_is_host_(ctx) ? 24 : 11; /* 11: of TF32 */
    return okra_engine_of_(ctx)->verbs->single != NULL;
}

void okra_single_clear_(okra_single_ *L)
{
    if (L->body) {
        L->engine->verbs->single_destroy(L->engine->state, L->body);
    }
    L->body = NULL;
}

okra_status okra_single_apply_(okra_context *ctx, const okra_single_ *L, okra_mat_ B)
{
    return L->engine->verbs->single_solve(L->engine->state, ctx, L->body, B);
}

okra_status okra_engine_product_(okra_context *ctx, const okra_entries_ *entries,
                                 okra_mat_ X, okra_mat_ Y)
{
    const okra_engine_ *engine = okra_engine_of_(ctx);
    return engine->verbs->product(engine->state, ctx, entries, X, Y);
}
