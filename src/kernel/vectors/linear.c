/*
 * linear.c: inner products <x, y> of vectors, dense, sparse or packed bits.
 *
 * Dense with dense: matrix product by tiles. Packed with packed: population counts; dense
 * vectors of 0 and 1 are packed when they are seen. Any other pair: the nonzeros of one
 * against the other spread wide (trained_kernel.h); nothing is made dense.
 *
 * The second class computes <x - m, y - m>, m the training mean of dense vectors, which
 * has the same distances: d^2 = |x|^2 + |y|^2 - 2<x,y> then loses no more digits than
 * the spread of the data about its mean asks for. Where a few rows are far out they
 * pull the mean away from all others: m is then the median of each column. Pairs of rows
 * that are both far from m are compared by their differences (distance2, gram/far.h).
 * Against a dense training set with m, a sparse or packed x is met as <x, y - m> - <m, y
 * - m>. Sparse training sets keep m = 0.
 *
 * Cost: 2 d operations a pair, d/64 words packed, the nonzeros of one row sparse. Memory:
 * n d doubles for the moved copy, n d/8 bytes for packed rows. Componentwise error d eps
 * |x||y| (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., eq. 3.5).
 */
#include "core/simd.h"
#include "kernel/gram/trained_kernel.h"

/* What both sides must know of the training set. */
typedef struct shared {
    const okra_data *train;
    double *mean;     /* d, or NULL: the origin stays */
    uint64_t *packed; /* dense training rows of 0 and 1 as bits, or NULL */
} shared;

typedef struct side {
    const okra_data *data;
    const shared *shared;
    const double *x; /* dense rows, moved by the mean if there is one; or NULL */
    okra_int ld;
    double *moved;        /* owner of x, or NULL */
    const uint64_t *bits; /* packed rows, or NULL */
    okra_int words;
    uint64_t *packed; /* owner of bits, or NULL */
    double *offset;   /* <m, x_i - m> of training rows with a mean, or NULL */
} side;

/* ---- packing dense vectors of 0 and 1 ---- */

typedef struct packing {
    const okra_data *data;
    uint64_t *bits;
    okra_int words;
    atomic_bool refused; /* something else than 0 and 1 was met */
} packing;

/* 64 values to a word; *other is not 0 if one is neither 0 nor 1. */
static uint64_t pack_word(const double *x, okra_int count, uint64_t *other)
{
    uint64_t word = 0, bad = 0;
    for (okra_int k = 0; k < count; k++) {
        word |= (uint64_t)(x[k] == 1) << k;
        bad |= (uint64_t)((x[k] != 0) & (x[k] != 1));
    }
    *other |= bad;
    return word;
}

static okra_status pack_rows(void *arg, okra_int begin, okra_int end, int worker)
{
    packing *p = arg;
    uint64_t other = 0;
    for (okra_int i = begin; i < end && !other && !atomic_load(&p->refused); i++) {
        const double *x = p->data->values + i * p->data->ld;
        for (okra_int w = 0; w < p->words; w++) {
            okra_int count = OKRA_MIN_(64, p->data->d - 64 * w);
            p->bits[i * p->words + w] = pack_word(x + 64 * w, count, &other);
        }
    }
    if (other) {
        atomic_store(&p->refused, true);
    }
    return OKRA_OK;
}

/* *out: the packed rows, or NULL when the values are not all 0 or 1. */
static okra_status pack(okra_context *ctx, const okra_data *data, uint64_t **out)
{
    packing p = {.data = data, .words = (data->d + 63) / 64};
    OWNS(&p.bits);
    *out = NULL;
    CHK(okra_budget_ask_(ctx, (double)data->n * (double)p.words * 8, "packed bits"));
    MAKE(p.bits, data->n * p.words);
    CHK(okra_parallel_least_(ctx, (double)data->n * (double)data->d, data->n, 64, NULL,
                             pack_rows, &p));
    if (!atomic_load(&p.refused)) {
        *out = TAKE(p.bits);
    }
    return OKRA_OK;
}

/* ---- the training set ---- */

enum { SAMPLE = 255 /* rows that medians are of */, FAR = 50 };

/* Is the farthest row more than FAR times as far from m (squared) as the median row? */
static bool has_far_rows(const okra_data *train, const double *m)
{
    double norms[SAMPLE], most = 0;
    okra_int some = OKRA_MIN_(train->n, SAMPLE), at = 0;
    for (okra_int i = 0; i < train->n; i++) {
        const double *x = train->values + i * train->ld;
        double sum = 0;
        for (okra_int j = 0; j < train->d; j++) {
            sum += (x[j] - m[j]) * (x[j] - m[j]);
        }
        most = fmax(most, sum);
        if (at < some && i == at * train->n / some) {
            norms[at++] = sum;
        }
    }
    qsort(norms, (size_t)some, sizeof *norms, okra_by_double_);
    return some > 0 && most > FAR * norms[some / 2];
}

static void column_medians(const okra_data *train, double *out)
{
    double column[SAMPLE];
    okra_int some = OKRA_MIN_(train->n, SAMPLE);
    for (okra_int j = 0; j < train->d; j++) {
        for (okra_int k = 0; k < some; k++) {
            column[k] = train->values[k * train->n / some * train->ld + j];
        }
        qsort(column, (size_t)some, sizeof *column, okra_by_double_);
        out[j] = column[some / 2];
    }
}

void okra_origin_(const okra_data *train, double *mean)
{
    for (okra_int i = 0; i < train->n; i++) {
        const double *x = train->values + i * train->ld;
        for (okra_int j = 0; j < train->d; j++) {
            mean[j] += x[j] / (double)train->n;
        }
    }
    if (has_far_rows(train, mean)) {
        column_medians(train, mean);
    }
}

OKRA_FREES_(unbind, shared, it->packed, it->mean)
OKRA_DROPS_(drop_shared, shared, unbind)

static okra_status bind_with(okra_context *ctx, bool move, const okra_data *train,
                             void **out)
{
    FREED_BY(drop_shared) shared *s = NULL;
    ZMAKE(s, 1);
    s->train = train;
    if (train->kind == OKRA_DENSE) {
        CHK(pack(ctx, train, &s->packed));
    }
    if (move && train->kind == OKRA_DENSE && !s->packed) {
        ZMAKE(s->mean, train->d);
        okra_origin_(train, s->mean);
    }
    *out = TAKE(s);
    return OKRA_OK;
}

static okra_status bind_training(okra_context *ctx, const void *params,
                                 const okra_data *train, void **out)
{
    return bind_with(ctx, false, train, out);
}

static okra_status bind_distances(okra_context *ctx, const void *params,
                                  const okra_data *train, void **out)
{
    return bind_with(ctx, true, train, out);
}

OKRA_FREES_(free_side, side, it->offset, it->packed, it->moved)
OKRA_DROPS_(drop_side, side, free_side)

static okra_status move_rows(void *arg, okra_int begin, okra_int end, int worker)
{
    const side *s = arg;
    const okra_data *data = s->data;
    const double *mean = s->shared->mean;
    for (okra_int i = begin; i < end; i++) {
        const double *x = data->values + i * data->ld;
        double *row = s->moved + i * data->d;
        for (okra_int j = 0; j < data->d; j++) {
            row[j] = x[j] - mean[j];
        }
    }
    return OKRA_OK;
}

static okra_status move(okra_context *ctx, side *s)
{
    const okra_data *data = s->data;
    const double *mean = s->shared->mean;
    CHK(okra_doubles_(ctx, data->n, data->d, "vectors about the training mean",
                      &s->moved));
    CHK(okra_parallel_least_(ctx, (double)data->n * (double)data->d, data->n, 512, NULL,
                             move_rows, s));
    s->x = s->moved;
    s->ld = data->d;
    if (data == s->shared->train) {
        MAKE(s->offset, data->n);
        for (okra_int i = 0; i < data->n; i++) {
            s->offset[i] = okra_dot_(data->d, mean, s->x + i * s->ld);
        }
    }
    return OKRA_OK;
}

static okra_status make_side(okra_context *ctx, const void *params, const void *arg,
                             const okra_data *data, void **out)
{
    const shared *sh = arg;
    FREED_BY(drop_side) side *s = NULL;
    CHK(okra_widths_(ctx, "linear", data, sh->train));
    ZMAKE(s, 1);
    s->data = data;
    s->shared = sh;
    if (data->kind == OKRA_BITS) {
        s->bits = data->bits;
        s->words = data->words;
    } else if (data->kind == OKRA_DENSE && sh->mean) {
        CHK(move(ctx, s));
    } else if (data->kind == OKRA_DENSE) {
        s->x = data->values;
        s->ld = data->ld;
        s->words = (data->d + 63) / 64;
        if (data == sh->train) {
            s->bits = sh->packed;
        } else if (sh->packed || sh->train->kind == OKRA_BITS) {
            CHK(pack(ctx, data, &s->packed));
            s->bits = s->packed;
        }
    }
    *out = TAKE(s);
    return OKRA_OK;
}

static double dot_wide_thin(const okra_wide_ *wide, const okra_thin_ *thin)
{
    double sum = 0;
    for (okra_int k = 0; k < thin->count; k++) {
        sum += wide->values[thin->indices[k]] * okra_thin_value_(thin, k);
    }
    return sum;
}

static okra_status block(okra_context *ctx, const void *params, const void *pa,
                         okra_int i0, okra_int ni, const void *pb, okra_int j0,
                         okra_int nj, double *out, okra_int ld)
{
    const side *a = pa, *b = pb;
    if (a->bits && b->bits) {
        CHK(okra_popcount_and_(a->bits + i0 * a->words, ni, b->bits + j0 * b->words, nj,
                               a->words, out, ld));
    } else if (a->x && b->x) {
        okra_mat_ C = {out, ni, nj, ld};
        CHK(okra_gemm_(ctx, false, true, 1,
                       okra_mat_view_(a->x + i0 * a->ld, ni, a->data->d, a->ld),
                       okra_mat_view_(b->x + j0 * b->ld, nj, b->data->d, b->ld), 0, C));
    } else {
        okra_data dense = *b->data; /* the training rows about their mean */
        dense.values = b->x;
        dense.ld = b->ld;
        CHK(okra_rows_meet_(a->data, i0, ni, b->x ? &dense : b->data, j0, nj,
                            dot_wide_thin, out, ld));
        for (okra_int r = 0; b->offset && r < ni; r++) {
            okra_axpy_(nj, -1, b->offset + j0, out + r * ld);
        }
    }
    return OKRA_OK;
}

/* |x - m|^2 from the nonzeros of x: their sum of (x_j - m_j)^2 - m_j^2, plus |m|^2. */
static double thin_square(const okra_thin_ *thin, const double *mean, double mean_square)
{
    double sum = 0;
    for (okra_int k = 0; k < thin->count; k++) {
        double v = okra_thin_value_(thin, k), m = mean ? mean[thin->indices[k]] : 0;
        sum += v * (v - 2 * m);
    }
    return sum + mean_square;
}

/* out_r = bits set in row r of n */
static inline OKRA_INLINE_ void count(const uint64_t *rows, okra_int n, okra_int words,
                                      double *out, bool fused)
{
    for (okra_int i = 0; i < n; i++) {
        uint64_t sum = 0;
        for (okra_int w = 0; w < words; w++) {
            sum += (uint64_t)__builtin_popcountll(rows[i * words + w]);
        }
        out[i] = (double)(int64_t)sum;
    }
}

OKRA_VARIANTS_(count_rows, count,
               (const uint64_t *rows, okra_int n, okra_int words, double *out),
               (rows, n, words, out))

typedef struct squares {
    const side *a;
    double *out;
} squares;

static okra_status square_rows(void *arg, okra_int begin, okra_int end, int worker)
{
    const squares *s = arg;
    const side *a = s->a;
    if (a->bits) {
        count_rows(a->bits + begin * a->words, end - begin, a->words, s->out + begin);
        return OKRA_OK;
    }
    for (okra_int i = begin; i < end; i++) {
        s->out[i] = okra_dot_(a->data->d, a->x + i * a->ld, a->x + i * a->ld);
    }
    return OKRA_OK;
}

static okra_status diagonal(okra_context *ctx, const void *params, const void *pa,
                            okra_int n, double *out)
{
    const side *a = pa;
    const double *mean = a->shared->mean;
    OWNED okra_int *indices = NULL;
    okra_int d = a->data->d;
    if (a->bits ? !mean : a->x != NULL) {
        squares s = {a, out};
        CHK(okra_parallel_(ctx, n, 16384, NULL, square_rows, &s));
    } else {
        double mean_square = mean ? okra_dot_(d, mean, mean) : 0;
        MAKE(indices, d);
        for (okra_int i = 0; i < n; i++) {
            okra_thin_ thin = okra_row_thin_(a->data, i, indices);
            out[i] = thin_square(&thin, mean, mean_square);
        }
    }
    return OKRA_OK;
}

/* Values of a row by okra_by_double_ columns. */
typedef struct cursor {
    const okra_data *data;
    okra_int row, at, end; /* at, end: nonzeros of a sparse row */
} cursor;

static cursor cursor_at(const okra_data *data, okra_int row)
{
    bool sparse = data->kind == OKRA_SPARSE;
    return (cursor){data, row, sparse ? data->csr.indptr[row] : 0,
                    sparse ? data->csr.indptr[row + 1] : 0};
}

/* The first column from j on that may not be 0, or d. */
static okra_int next_column(cursor *c, okra_int j)
{
    if (c->data->kind != OKRA_SPARSE) {
        return j;
    }
    while (c->at < c->end && c->data->csr.indices[c->at] < j) {
        c->at++;
    }
    return c->at < c->end ? c->data->csr.indices[c->at] : INT64_MAX;
}

static double value_at(const cursor *c, okra_int j)
{
    const okra_data *d = c->data;
    if (d->kind == OKRA_SPARSE) {
        return c->at < c->end && d->csr.indices[c->at] == j ? d->csr.values[c->at] : 0;
    }
    return d->kind == OKRA_BITS
               ? (double)(d->bits[c->row * d->words + j / 64] >> (j % 64) & 1)
               : d->values[c->row * d->ld + j];
}

/* Of the rows as they were given: moved ones are rounded at the size of m. */
static double distance2(const void *pa, okra_int i, const void *pb, okra_int j)
{
    const side *a = pa, *b = pb;
    cursor x = cursor_at(a->data, i), y = cursor_at(b->data, j);
    okra_int d = OKRA_MAX_(a->data->d, b->data->d);
    double sum = 0;
    for (okra_int t = 0;; t++) {
        okra_int next_x = next_column(&x, t), next_y = next_column(&y, t);
        t = OKRA_MIN_(next_x, next_y);
        if (t >= d) {
            return sum;
        }
        double z = value_at(&x, t) - value_at(&y, t);
        sum += z * z;
    }
}

static int steps(const void *params, const void *pa, const void *pb, okra_step_ out[2])
{
    const side *a = pa, *b = pb;
    bool bits = a->bits && b->bits;
    if (!bits && !(a->x && b->x)) {
        return 0;
    }
    out[0] = (okra_step_){.code = bits ? OKRA_CODE_BITS_ : OKRA_CODE_DOT_,
                          .a = bits ? (const void *)a->bits : a->x,
                          .b = bits ? (const void *)b->bits : b->x,
                          .width = bits ? a->words : a->data->d,
                          .a_ld = bits ? a->words : a->ld,
                          .b_ld = bits ? b->words : b->ld};
    return 1;
}

#define LINEAR(binds, about)                                                    \
    .name = "linear", .help = about, .params = {"linear", okra_no_params_, 0},  \
    .kinds = OKRA_VECTORS_, .bind = binds, .unbind = unbind, .side = make_side, \
    .free_side = free_side, .block = block, .diagonal = diagonal,               \
    .distance2 = distance2, .steps = steps

static const okra_kernel_class_ about_mean = {
    LINEAR(bind_distances, "inner product about the mean")};

const okra_kernel_class_ okra_linear_ = {LINEAR(bind_training, "inner product <x,y>"),
                                         .shape = OKRA_SHAPE_INNER_,
                                         .distances = &about_mean};
