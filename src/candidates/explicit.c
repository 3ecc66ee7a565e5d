/*
 * explicit.c: candidates that are compared by explicit coordinates.
 *
 *     |phi(y) - h|^2 = scale (|y-s|^2 - 2 <h-s, y-s> + |h-s|^2)         (linear kernel)
 *                    = scale (|y|^2 - 2 <h, y-s> + |h|^2 - 2 <h, s>)    (weak prediction)
 * and with the coordinates a(y) of kernel PCA in the place of y (components).
 *
 * s, the mean training output, takes away the part of the cancellation that a common
 * offset would bring. h - s would lose a prediction that is weak beside s: the second
 * form keeps it, and serves where h is nearer to the origin than to s, and wherever all
 * candidates have the same norm, whose order is that of <h, y> alone. Cost: m d c for m
 * predictions, c candidates and d coordinates.
 */
#include "candidates/set.h"

static okra_status mean_feature(okra_explicit_ *s)
{
    okra_int n = okra_data_count(s->output.y), d = s->output.d;
    ZMAKE(s->shift, d);
    for (okra_int i = 0; s->output.features && i < n; i++) {
        const double *row = s->output.features + i * s->output.features_ld;
        okra_axpy_(d, 1, row, s->shift);
    }
    okra_scale_down_(d, (double)n, s->shift);
    return OKRA_OK;
}

/* Axes over the features of a map become axes over what its panels hold. */
static okra_status take_components(okra_context *ctx, okra_explicit_ *s)
{
    const okra_components_ *c = s->output.components;
    okra_int width = s->output.map ? s->output.map->rank : s->output.y->d;
    REFUSE_IF(c->axes && c->width != width, OKRA_EFORMAT,
              "the model's components are of %lld features, its outputs have %lld",
              (long long)c->width, (long long)width);
    if (c->axes) {
        CHK(okra_doubles_(ctx, c->p, c->width, "the output components", &s->axes));
        okra_mat_ A = okra_mat_of_(s->axes, c->p, c->width);
        CHK(okra_mat_copy_(okra_mat_view_(c->axes, c->p, c->width, c->width), A));
        CHK(s->output.map ? okra_map_meet_(ctx, s->output.map, A) : OKRA_OK);
    }
    return OKRA_OK;
}

/* The level of candidates that are compared as they are. */
static okra_status find_level(const okra_data *list, okra_explicit_ *s)
{
    okra_int n = okra_data_count(list), d = s->output.d, ld = 0;
    const double *y = okra_data_values(list, &ld);
    OWNED double *norm = NULL;
    MAKE(norm, n);
    for (okra_int i = 0; i < n; i++) {
        norm[i] = okra_dot_(d, y + i * ld, y + i * ld);
    }
    s->level = okra_self_constant_(norm, n, false);
    return OKRA_OK;
}

okra_status okra_explicit_open_(okra_context *ctx, const okra_output_ *output,
                                const okra_data *list, double level, okra_explicit_ *out)
{
    FREED_BY(okra_explicit_clear_)
    okra_explicit_ s = {.output = *output,
                        .own = list == output->y,
                        .level = level,
                        .raw = output->features != NULL};
    if (output->components) {
        s.output.features = output->components->scores;
        s.output.features_ld = s.output.d = output->components->p;
        s.output.feature_scale = 1;
        CHK(take_components(ctx, &s));
    }
    CHK(mean_feature(&s));
    if (list && !output->components) {
        CHK(find_level(list, &s));
    }
    *out = s;
    s = (okra_explicit_){.set = NULL};
    return OKRA_OK;
}

bool okra_explicit_kernel_(const okra_explicit_ *e)
{
    const okra_components_ *c = e->output.components;
    return c && !(e->raw && e->axes);
}

OKRA_SHARED_CLEARS_(okra_explicit_clear_, okra_explicit_, it->axes, it->shift)

/* A_i <- B_i - s, A may be B; |A_i|^2 and |B_i|^2. */
static void subtract(const double *shift, okra_mat_ B, okra_mat_ A, double *norm,
                     double *before)
{
    for (okra_int i = 0; i < B.rows; i++) {
        double *a = A.p + i * A.ld;
        const double *b = B.p + i * B.ld;
        before[i] = okra_dot_(B.cols, b, b);
        for (okra_int j = 0; j < B.cols; j++) {
            a[j] = b[j] - shift[j];
        }
        norm[i] = okra_dot_(B.cols, a, a);
    }
}

/* A row that is nearer to s than to the origin becomes h_r - s if `far` says so, norm_r
 * <- |h_r - s|^2 and which_r <- 0; the others stay, norm_r <- |h_r|^2 - 2 <h_r, s>,
 * which_r <- 1. */
static void place(const double *shift, bool far, okra_mat_ H, double *norm,
                  okra_int *which)
{
    for (okra_int r = 0; r < H.rows; r++) {
        double *h = H.p + r * H.ld, own = okra_dot_(H.cols, h, h);
        norm[r] = 0;
        for (okra_int j = 0; j < H.cols; j++) {
            norm[r] += (h[j] - shift[j]) * (h[j] - shift[j]);
        }
        which[r] = !(far && norm[r] < own);
        for (okra_int j = 0; !which[r] && j < H.cols; j++) {
            h[j] -= shift[j];
        }
        norm[r] = which[r] ? own - 2 * okra_dot_(H.cols, h, shift) : norm[r];
    }
}

/* A <- A / variances - offset */
static void settle(const okra_components_ *c, okra_mat_ A)
{
    for (okra_int i = 0; i < A.rows; i++) {
        for (okra_int j = 0; j < c->p; j++) {
            double *a = A.p + i * A.ld + j;
            *a = (c->variances ? *a / c->variances[j] : *a) - c->offset[j];
        }
    }
}

/* The coordinates a(y) of the candidates of a part under kernel PCA. */
static okra_status part_components(okra_context *ctx, const okra_explicit_ *s,
                                   const okra_part_ *part, okra_mat_ A)
{
    const okra_components_ *c = s->output.components;
    okra_mat_ axes = okra_mat_view_(s->axes, c->p, c->width, c->width), L = part->C;
    if (!L.p) {
        okra_mat_ Y = okra_mat_part_(part->Y, 0, A.rows, 0, c->width);
        CHK(okra_gemm_(ctx, false, true, 1, Y, axes, 0, A));
    } else if (s->axes) {
        CHK(okra_gemm_(ctx, true, true, 1, L, axes, 0, A));
    } else {
        const double *duals = c->duals ? c->duals : c->scores;
        CHK(okra_gemm_(ctx, true, false, 1, L, okra_mat_view_(duals, L.rows, c->p, c->p),
                       0, A));
    }
    settle(c, A);
    return OKRA_OK;
}

/* H <- the prediction in the coordinates that are compared. */
static okra_status predicted(okra_context *ctx, const okra_explicit_ *s,
                             const okra_block_ *block, okra_mat_ H)
{
    const okra_components_ *c = s->output.components;
    if (!s->axes) {
        return okra_block_explicit_(ctx, &s->output, block, H);
    }
    CHK(okra_gemm_(ctx, false, true, 1, block->H,
                   okra_mat_view_(c->axes, c->p, c->width, c->width), 0, H));
    settle(c, H);
    return OKRA_OK;
}

/* A <- the scores of training outputs begin.. as the fit found them. Those of copies,
 * which rounding made different, are the scores of the first: else rounding would order
 * copies. */
static void known_scores(const okra_components_ *c, const okra_int *first, okra_int begin,
                         okra_mat_ A)
{
    for (okra_int i = 0; i < A.rows; i++) {
        memcpy(A.p + i * A.ld, c->scores + first[begin + i] * c->p,
               (size_t)c->p * sizeof *A.p);
    }
}

okra_status okra_explicit_search_(okra_context *ctx, const okra_explicit_ *s,
                                  const okra_block_ *block, okra_nearest_ *nearest)
{
    OWNED okra_int *which = NULL, *own = NULL;
    const okra_int *copies = NULL;
    okra_int d = s->output.d, m = block->m;
    OWNED double *H = NULL, *G = NULL, *Y = NULL, *norm = NULL, *copy = NULL;
    double self[2 * OKRA_PANEL_];
    const okra_components_ *c = s->output.components;
    /* Those of the training outputs are known from the fit, unless pairs had weights. */
    bool known = c && c->scores && !c->duals && s->own;
    CHK(okra_doubles_(ctx, m, d, "explicit predictions", &H));
    CHK(okra_doubles_(ctx, m, OKRA_PANEL_, "inner products with candidates", &G));
    CHK(okra_doubles_(ctx, OKRA_PANEL_, d, "a panel of candidates", &Y));
    MAKE(norm, m);
    MAKE(which, m);
    if (known) {
        CHK(okra_symmetric_copies_(&s->output, &own, &copies));
    }
    CHK(predicted(ctx, s, block, okra_mat_of_(H, m, d)));
    place(s->shift, isnan(s->level), okra_mat_of_(H, m, d), norm, which);
    for (okra_int p = 0; p < okra_set_panels_(s->set); p++) {
        okra_part_ part;
        okra_mat_ rows;
        CHK(okra_set_part_(ctx, s->set, p, block, nearest, &part));
        if (part.count == 0) {
            continue;
        }
        okra_mat_ Yc = okra_mat_of_(Y, part.count, d), from = Yc;
        if (known) {
            known_scores(c, copies, part.first, Yc);
        } else {
            CHK(okra_set_values_(ctx, s->set, m < nearest->tests, &part));
            CHK(c ? part_components(ctx, s, &part, Yc) : OKRA_OK);
            from = c ? Yc : part.Y;
        }
        subtract(s->shift, from, Yc, self, self + part.count);
        CHK(okra_part_rows_(ctx, &part, okra_mat_of_(H, m, d), &copy, &rows));
        CHK(okra_gemm_(ctx, false, true, 1, rows, Yc, 0,
                       okra_mat_of_(G, part.m, part.count)));
        okra_measured_ all = {block,    &part, self, G, norm, s->output.feature_scale,
                              s->level, which};
        part.featured = false;
        CHK(okra_nearest_put_(ctx, nearest, &all));
    }
    return OKRA_OK;
}

/* ---- sparse or bit outputs ---- */

/* Under a linear kernel c <y,y'> the d coefficients h = sum_i w_i y_i take the place of
 * the n weights: sum_i w_i l(y_i, y) = c <h, y>,    w'Lw = c |h|^2, so that a test point
 * costs the members of the training outputs and of the candidates, not n^2. Nothing is
 * made dense but one h per thread.
 */
bool okra_sparse_outputs_wanted_(const okra_output_ *output, double *scale)
{
    okra_kind kind = okra_data_kind(output->y);
    bool plain = !output->map && !output->components && !output->criterion;
    return plain && (kind == OKRA_SPARSE || kind == OKRA_BITS) && output->kernel &&
           okra_kernel_is_linear_(output->kernel, scale);
}

void okra_sparse_outputs_combine_(const okra_data *y, const double *w, double *h)
{
    okra_fill_(y->d, 0, h);
    for (okra_int i = 0; i < y->n; i++) {
        if (y->kind == OKRA_SPARSE) {
            for (okra_int k = y->csr.indptr[i]; k < y->csr.indptr[i + 1]; k++) {
                h[y->csr.indices[k]] += w[i] * y->csr.values[k];
            }
            continue;
        }
        for (okra_int word = 0; word < y->words; word++) {
            for (uint64_t b = y->bits[i * y->words + word]; b != 0; b &= b - 1) {
                h[word * 64 + __builtin_ctzll(b)] += w[i];
            }
        }
    }
}

/* <h, y_i> */
static double inner(const okra_data *y, okra_int i, const double *h)
{
    double sum = 0;
    if (y->kind == OKRA_SPARSE) {
        for (okra_int k = y->csr.indptr[i]; k < y->csr.indptr[i + 1]; k++) {
            sum += y->csr.values[k] * h[y->csr.indices[k]];
        }
        return sum;
    }
    for (okra_int word = 0; word < y->words; word++) {
        for (uint64_t b = y->bits[i * y->words + word]; b != 0; b &= b - 1) {
            sum += h[word * 64 + __builtin_ctzll(b)];
        }
    }
    return sum;
}

typedef struct work {
    const okra_data *y, *set;
    double scale;
    okra_mat_ W;
    double *h;        /* d for each worker */
    double *G, *norm; /* rows x count, rows */
} work;

static okra_status some_rows(void *arg, okra_int begin, okra_int end, int worker)
{
    const work *w = arg;
    okra_int d = w->y->d, count = w->set->n;
    double *h = w->h + (okra_int)worker * d;
    for (okra_int r = begin; r < end; r++) {
        okra_sparse_outputs_combine_(w->y, w->W.p + r * w->W.ld, h);
        w->norm[r] = w->scale * okra_dot_(d, h, h);
        for (okra_int c = 0; c < count; c++) {
            w->G[r * count + c] = w->scale * inner(w->set, c, h);
        }
    }
    return OKRA_OK;
}

okra_status okra_sparse_outputs_search_(okra_context *ctx, const okra_output_ *output,
                                        double scale, const okra_data *set,
                                        const double *self, double constant,
                                        const okra_block_ *block, okra_nearest_ *nearest)
{
    const okra_int together = (okra_int)1 << 20; /* inner products at a time */
    okra_int rows = OKRA_MIN_(block->m, OKRA_MAX_(together / set->n, 1));
    work w = {.y = output->y, .set = set, .scale = scale};
    OWNS(&w.h, &w.G, &w.norm);
    CHK(okra_doubles_(ctx, okra_workers_(ctx), w.y->d, "predicted vectors", &w.h));
    CHK(okra_doubles_(ctx, rows, set->n, "inner products with candidates", &w.G));
    MAKE(w.norm, rows);
    for (okra_int first = 0; first < block->m; first += rows) {
        okra_int m = OKRA_MIN_(rows, block->m - first);
        w.W = okra_mat_part_(block->W, first, m, 0, block->W.cols);
        CHK(okra_parallel_least_(ctx, (double)m * (double)(w.y->n + set->n), m, 1, NULL,
                                 some_rows, &w));
        okra_block_ some = {.first = block->first + first, .m = m, .W = w.W};
        okra_part_ part = {.m = m, .count = set->n};
        okra_measured_ all = {&some, &part, self, w.G, w.norm, 1, constant, NULL};
        CHK(okra_nearest_put_(ctx, nearest, &all));
    }
    return OKRA_OK;
}
