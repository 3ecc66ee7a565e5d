/*
 * gram.c: Gram matrices by tiles.
 *
 * The expression tree is evaluated a tile of TILE x TILE pairs at a time, leaf to root,
 * in memory that stays in a core's cache; then the tile is checked for values that are
 * not finite and written out. Of a symmetric matrix only tiles on and below the diagonal
 * are computed and mirrored; on the diagonal itself every node's value is the object's
 * self-similarity, so that the transforms meet exact zeros of d^2 and exact ones.
 *
 * Tiles are the same whatever the number of threads and write apart: same bits. Scratch:
 * one tile a worker, and one more for each pending operand of a sum or product.
 */
#include "core/simd.h"
#include "kernel/gram/trained_kernel.h"

/* 192 * 192 * 8 bytes = 288 KiB: one tile and the operands of its product fit the second
 * cache (512 KiB to 2 MiB) of current processors. */
enum { TILE = 192 };

/* Matrices of more values (64 MiB) are written past the caches. */
enum { STREAM = 1 << 23 };

/* ---- far from the origin: see trained_kernel.h ---- */

#define FAR_TOLERANCE 2e-11
/* The error of inner products in units of eps |a||b|: sums in eight or more parts. */
#define FAR_ROUNDING 32

/* f of a squared distance. */
static double value_at(const okra_node_ *node, double d2)
{
    double zero = 0, k = -d2 / 2;
    node->transform->apply(node->params, &zero, &zero, 1, 1, &k, 1);
    return k;
}

/* By how much f may be off where k(a,a) + k(b,b) is `both`. */
static double doubt(const okra_node_ *node, double both)
{
    return fabs(value_at(node, 0) - value_at(node, FAR_ROUNDING * DBL_EPSILON * both));
}

static bool rough(const okra_node_ *node, double both)
{
    return !(doubt(node, both) <= FAR_TOLERANCE);
}

/* Is the squared distance of this node that of leaves which tell theirs by differences,
 * centred or not, times numbers and added up? */
static bool has_distance(const okra_kernel *kernel, int place)
{
    const okra_node_ *node = &kernel->nodes[place];
    return node->kind == OKRA_NODE_LEAF_ ? node->leaf->distance2 != NULL
           : node->kind == OKRA_NODE_SCALE_ || node->transform == &okra_center_
               ? has_distance(kernel, node->a)
           : node->kind == OKRA_NODE_SUM_
               ? has_distance(kernel, node->a) && has_distance(kernel, node->b)
               : false;
}

/* Of a node that has_distance: is `center` in it? Then its values do not show how large
 * the numbers were whose difference they are. */
static bool centred(const okra_kernel *kernel, int place)
{
    const okra_node_ *node = &kernel->nodes[place];
    return node->transform ||
           (node->kind != OKRA_NODE_LEAF_ && centred(kernel, node->a)) ||
           (node->kind == OKRA_NODE_SUM_ && centred(kernel, node->b));
}

static double distance2(const okra_kernel *kernel, int place, const okra_slot_ *a,
                        okra_int i, const okra_slot_ *b, okra_int j)
{
    const okra_node_ *node = &kernel->nodes[place];
    if (node->kind == OKRA_NODE_LEAF_) {
        return node->leaf->distance2(a[place].side, i, b[place].side, j);
    }
    double first = distance2(kernel, node->a, a, i, b, j);
    return node->kind == OKRA_NODE_SCALE_ ? node->scale * first
           : node->kind == OKRA_NODE_SUM_ ? first + distance2(kernel, node->b, a, i, b, j)
                                          : first;
}

bool okra_far_(const okra_kernel *kernel, const okra_node_ *node, double a, double b)
{
    return node->transform->distances && has_distance(kernel, node->a) &&
           (centred(kernel, node->a) || rough(node, a + b));
}

/* Puts right what the transform has made of rows i.. of a and rows j.. of b; da, db: the
 * leaf's self-similarities of these rows. */
static void mend(const okra_kernel *kernel, const okra_node_ *node,
                 const okra_slot_ *a_slots, okra_int i, okra_int ni, const double *da,
                 const okra_slot_ *b_slots, okra_int j, okra_int nj, const double *db,
                 double *tile, okra_int ld)
{
    double most = node->transform->distances ? okra_most_(nj, db) : 0;
    if (!node->transform->distances ||
        !okra_far_(kernel, node, okra_most_(ni, da), most)) {
        return;
    }
    bool all = centred(kernel, node->a);
    for (okra_int r = 0; r < ni; r++) {
        if (!all && !rough(node, da[r] + most)) {
            continue;
        }
        for (okra_int c = 0; c < nj; c++) {
            double a = sqrt(da[r]), b = sqrt(db[c]), *k = &tile[r * ld + c];
            /* The distance is at least this, so that f is at most `bound`. */
            double least = fabs(a - b) - FAR_ROUNDING * DBL_EPSILON * (a + b);
            double bound = value_at(node, least > 0 ? least * least : 0);
            *k = !all && !rough(node, da[r] + db[c]) ? *k
                 : !all && bound <= FAR_TOLERANCE
                     ? fmin(*k, bound)
                     : value_at(node, distance2(kernel, node->a, a_slots, i + r, b_slots,
                                                j + c));
        }
    }
}

/* An object by its row in the file, from 0, and its name. */
static const char *describe(const okra_data *data, okra_int i, char *text, size_t size)
{
    okra_int length = 0, row = okra_data_row(data, i);
    const char *name = okra_data_text(data, i, &length);
    char known[64], shown[72];
    snprintf(known, sizeof known, "%.*s", name ? (int)(length < 60 ? length : 60) : 0,
             name ? name : "");
    snprintf(text, size, "row %lld%s%s", (long long)(row < 0 ? i : row),
             *known ? ", " : "", okra_printable_(known, false, shown, sizeof shown));
    return text;
}

okra_status okra_check_self_(okra_context *ctx, const okra_kernel *kernel,
                             const okra_node_ *node, const okra_slots_ *view,
                             const double *self)
{
    const okra_transform_class_ *t = node->transform;
    okra_int count = 0, first = 0;
    char text[160];
    REFUSE_IF(!self, OKRA_EARG,
              "%s: `%s` needs the self-similarities of its objects, which "
              "rows of a Gram matrix do not tell: give the diagonal too",
              view->data->source, t->name);
    for (okra_int i = 0; t->degenerate && i < view->n; i++) {
        REFUSE_IF(isinf(self[i]), OKRA_ENUMERIC,
                  "%s: the self-similarity of %s, from 0, is inf before `%s`: scale the "
                  "data or the parameters down",
                  view->data->source, describe(view->data, i, text, sizeof text),
                  t->name);
        if (!(self[i] > 0)) {
            first = count++ == 0 ? i : first;
        }
    }
    if (count > 0) {
        okra_warn_(ctx,
                   "%s: in %lld of %lld objects (the first: %s, from 0) the kernel finds "
                   "nothing to compare: self-similarity 0 before `%s`; %s",
                   view->data->source, (long long)count, (long long)view->n,
                   describe(view->data, first, text, sizeof text), t->name,
                   t->degenerate);
    }
    double most = okra_most_(view->n, self),
           lost = node->transform->distances && !has_distance(kernel, node->a)
                      ? doubt(node, 2 * most)
                      : 0;
    if (lost > 1e-6) {
        okra_warn_(
            ctx,
            "%s: values up to %g before `%s` leave few digits of distances: kernel "
            "values may be off by %.1g; move the data nearer to 0, or compare them "
            "with `linear` or `standardize`",
            view->data->source, most, t->name, lost);
    }
    return OKRA_OK;
}

/* ---- tiles ---- */

typedef struct job {
    okra_context *ctx;
    const okra_kernel *kernel;
    const okra_slots_ *a, *b;
    int node;
    okra_int i0, ni, columns; /* columns: tiles across */
    double total;             /* weights of the training set, of means */
    okra_target_ target;
    okra_mat_ out;
    double *scratch; /* TILE*TILE*tiles a worker */
    okra_int tiles;
    bool stream; /* the matrix is too large for the caches */
} job;

typedef struct tile {
    okra_int i, ni, j, nj; /* rows of a, rows of b */
} tile;

static const double *part(const double *all, okra_int first)
{
    return all ? all + first : NULL;
}

static okra_status evaluate(const job *w, int place, const tile *t, double *out,
                            double *scratch);

static okra_status combine(const job *w, const okra_node_ *node, const tile *t,
                           double *out, double *scratch)
{
    /* The operand that needs more scratch goes first: it may use all of it. */
    bool swap = w->kernel->nodes[node->b].scratch > w->kernel->nodes[node->a].scratch;
    CHK(evaluate(w, swap ? node->b : node->a, t, out, scratch));
    CHK(evaluate(w, swap ? node->a : node->b, t, scratch, scratch + TILE * TILE));
    for (okra_int r = 0; r < t->ni; r++) {
        double *x = out + r * TILE;
        const double *y = scratch + r * TILE;
        for (okra_int c = 0; c < t->nj; c++) {
            x[c] = node->kind == OKRA_NODE_SUM_ ? x[c] + y[c] : x[c] * y[c];
        }
    }
    return OKRA_OK;
}

static okra_status transform(const job *w, int place, const tile *t, double *out,
                             double *scratch)
{
    const okra_node_ *node = &w->kernel->nodes[place];
    const okra_slot_ *a = w->a->slots, *b = w->b->slots;
    const double *da = NULL, *db = NULL;
    CHK(evaluate(w, node->a, t, out, scratch));
    if (node->transform->uses == OKRA_USES_SELF_) {
        da = part(a[node->a].self, t->i);
        db = part(b[node->a].self, t->j);
    } else if (node->transform->uses == OKRA_USES_MEANS_) {
        da = part(a[place].mean, t->i);
        db = part(b[place].mean, t->j);
    }
    node->transform->apply(node->params, da, db, t->ni, t->nj, out, TILE);
    mend(w->kernel, node, a, t->i, t->ni, da, b, t->j, t->nj, db, out, TILE);
    return OKRA_OK;
}

/* out (stride TILE) <- the values of one node on one tile */
static okra_status evaluate(const job *w, int place, const tile *t, double *out,
                            double *scratch)
{
    const okra_node_ *node = &w->kernel->nodes[place];
    const okra_slot_ *a = &w->a->slots[place], *b = &w->b->slots[place];
    switch (node->kind) {
    case OKRA_NODE_LEAF_:
        for (okra_int k = 0; node->leaf->pair && k < t->ni * t->nj; k++) {
            okra_int r = k / t->nj, c = k % t->nj;
            out[r * TILE + c] =
                node->leaf->pair(node->params, a->side, t->i + r, b->side, t->j + c);
        }
        CHK(node->leaf->pair ? OKRA_OK
                             : node->leaf->block(w->ctx, node->params, a->side, t->i,
                                                 t->ni, b->side, t->j, t->nj, out, TILE));
        break;
    case OKRA_NODE_TRANSFORM_:
        CHK(transform(w, place, t, out, scratch));
        break;
    case OKRA_NODE_SCALE_:
        CHK(evaluate(w, node->a, t, out, scratch));
        for (okra_int r = 0; r < t->ni; r++) {
            okra_scale_(t->nj, node->scale, out + r * TILE);
        }
        break;
    case OKRA_NODE_CONSTANT_:
        okra_mat_fill_((okra_mat_){out, t->ni, t->nj, TILE}, node->scale);
        break;
    case OKRA_NODE_SUM_:
    case OKRA_NODE_PRODUCT_:
        CHK(combine(w, node, t, out, scratch));
        break;
    }
    okra_int begin = OKRA_MAX_(t->i, t->j);
    okra_int end = OKRA_MIN_(t->i + t->ni, t->j + t->nj);
    for (okra_int i = begin; w->a == w->b && a->self && i < end; i++) {
        out[(i - t->i) * TILE + i - t->j] = a->self[i];
    }
    return OKRA_OK;
}

okra_status okra_bad_value_(const okra_kernel *kernel, okra_int i, okra_int j,
                            double value)
{
    return okra_fail_(
        OKRA_ENUMERIC,
        "kernel %s: the value of object %lld and training object %lld (from "
        "0) is %g: scale the data or the parameters down",
        kernel->text, (long long)i, (long long)j, value);
}

static okra_status not_finite(const job *w, const tile *t, const double *values)
{
    for (okra_int r = 0; r < t->ni; r++) {
        for (okra_int c = 0; c < t->nj; c++) {
            if (!isfinite(values[r * TILE + c])) {
                return okra_bad_value_(w->kernel, t->i + r, t->j + c,
                                       values[r * TILE + c]);
            }
        }
    }
    return OKRA_OK;
}

/* Infinities and NaN are the numbers whose exponent bits are all 1. */
static inline OKRA_INLINE_ void count_body(const tile *t, const double *values,
                                           uint64_t *bad, bool fused)
{
    const uint64_t exponent = UINT64_C(0x7ff) << 52;
    uint64_t count = 0;
    for (okra_int r = 0; r < t->ni; r++) {
        for (okra_int c = 0; c < t->nj; c++) {
            uint64_t bits;
            memcpy(&bits, values + r * TILE + c, sizeof bits);
            count += (bits & exponent) == exponent;
        }
    }
    *bad = count;
}

OKRA_VARIANTS_(count_not_finite, count_body,
               (const tile *t, const double *values, uint64_t *bad), (t, values, bad))

static okra_status write_tile(const job *w, const tile *t, double *values)
{
    okra_mat_ from = {values, t->ni, t->nj, TILE};
    okra_int row = t->i - w->i0;
    switch (w->target) {
    case OKRA_TARGET_SYMMETRIC_:
        if (t->i == t->j) {
            okra_mat_mirror_(from);
        } else {
            CHK(okra_tile_out_transposed_(
                from, okra_mat_part_(w->out, t->j, t->nj, row, t->ni), w->stream));
        }
        CHK(okra_tile_out_(from, okra_mat_part_(w->out, row, t->ni, t->j, t->nj),
                           w->stream));
        break;
    case OKRA_TARGET_FULL_:
        CHK(okra_tile_out_(from, okra_mat_part_(w->out, row, t->ni, t->j, t->nj),
                           w->stream));
        break;
    case OKRA_TARGET_TRANSPOSED_:
        CHK(okra_tile_out_transposed_(
            from, okra_mat_part_(w->out, t->j, t->nj, row, t->ni), w->stream));
        break;
    case OKRA_TARGET_MEANS_:
        for (okra_int r = 0; r < t->ni; r++) {
            double sum = 0, *mean = w->out.p + (row + r) * w->out.ld;
            const double *u = part(w->b->data->weights, t->j);
            for (okra_int c = 0; c < t->nj; c++) {
                sum += (u ? u[c] : 1) * values[r * TILE + c];
            }
            *mean = (t->j == 0 ? 0 : *mean) + sum / w->total;
        }
        break;
    }
    return OKRA_OK;
}

static okra_status one_tile(const job *w, okra_int I, okra_int J, int worker)
{
    uint64_t bad;
    double *values = w->scratch + worker * w->tiles * TILE * TILE;
    tile t = {w->i0 + I * TILE, 0, J * TILE, 0};
    t.ni = OKRA_MIN_(TILE, w->ni - I * TILE);
    t.nj = OKRA_MIN_(TILE, w->b->n - t.j);
    CHK(evaluate(w, w->node, &t, values, values + TILE * TILE));
    count_not_finite(&t, values, &bad);
    if (bad) {
        CHK(not_finite(w, &t, values));
    }
    return write_tile(w, &t, values);
}

/* Tile numbers run along rows: of the lower triangle, of the rectangle, or over whole
 * strips where sums run along them. */
static okra_status body(void *arg, okra_int begin, okra_int end, int worker)
{
    okra_status st = OKRA_OK;
    const job *w = arg;
    for (okra_int k = begin; k < end && st == OKRA_OK; k++) {
        if (w->target == OKRA_TARGET_MEANS_) {
            for (okra_int J = 0; J < w->columns && st == OKRA_OK; J++) {
                st = one_tile(w, k, J, worker);
            }
        } else if (w->target == OKRA_TARGET_SYMMETRIC_) {
            okra_int I = (okra_int)((sqrt(8.0 * (double)k + 1) - 1) / 2);
            I += (I + 1) * (I + 2) / 2 <= k; /* should the root have been rounded */
            I -= I * (I + 1) / 2 > k;
            st = one_tile(w, I, k - I * (I + 1) / 2, worker);
        } else {
            st = one_tile(w, k / w->columns, k % w->columns, worker);
        }
    }
    okra_tile_out_end_(w->stream);
    return st;
}

okra_status okra_tiles_(okra_context *ctx, const okra_trained_kernel_ *bound, int node,
                        const okra_slots_ *a, okra_int i0, okra_int ni,
                        okra_target_ target, const char *what, okra_mat_ out)
{
    OWNED double *scratch = NULL;
    okra_int rows = (ni + TILE - 1) / TILE;
    job w = {.ctx = ctx,
             .kernel = bound->kernel,
             .a = a,
             .b = &bound->train,
             .node = node,
             .i0 = i0,
             .ni = ni,
             .columns = (bound->train.n + TILE - 1) / TILE,
             .total = target == OKRA_TARGET_MEANS_
                          ? okra_weights_total_(bound->train.data)
                          : 0,
             .target = target,
             .out = out,
             .tiles = 1 + bound->kernel->nodes[node].scratch,
             .stream = (double)out.rows * (double)out.cols > STREAM};
    okra_int count = target == OKRA_TARGET_MEANS_       ? rows
                     : target == OKRA_TARGET_SYMMETRIC_ ? rows * (rows + 1) / 2
                                                        : rows * w.columns;
    MAKE(scratch, okra_workers_(ctx) * w.tiles * TILE * TILE);
    w.scratch = scratch;
    double least =
        10.0 * (double)ni * (double)bound->train.n; /* of the cheapest kernel */
    return okra_parallel_least_(ctx, least, count, 1, what, body, &w);
}

okra_status okra_trained_kernel_block_(okra_context *ctx,
                                       const okra_trained_kernel_ *bound,
                                       const okra_test_side_ *other, okra_int i0,
                                       okra_int ni, okra_int j0, okra_int nj, double *out,
                                       okra_int ld)
{
    int root = bound->kernel->count - 1;
    job w = {.ctx = ctx,
             .kernel = bound->kernel,
             .a = other ? &other->view : &bound->train,
             .b = &bound->train,
             .node = root};
    OWNED double *values = NULL;
    MAKE(values, (1 + bound->kernel->nodes[root].scratch) * TILE * TILE);
    for (okra_int i = 0; i < ni; i += TILE) {
        for (okra_int j = 0; j < nj; j += TILE) {
            tile t = {i0 + i, OKRA_MIN_(TILE, ni - i), j0 + j, OKRA_MIN_(TILE, nj - j)};
            CHK(evaluate(&w, root, &t, values, values + TILE * TILE));
            CHK(okra_mat_copy_((okra_mat_){values, t.ni, t.nj, TILE},
                               (okra_mat_){out + i * ld + j, t.ni, t.nj, ld}));
        }
    }
    return OKRA_OK;
}
