/*
 * candidates.c: the objects of a finite set nearest to the prediction.
 *
 *     |phi(y) - h|^2 = l(y,y) - 2 sum_i w_i l(y_i,y) + w'Lw             (implicit)
 *                    = scale (|y-s|^2 - 2 <h-s, y-s> + |h-s|^2)         (linear kernel)
 *                    = |a(y)-s|^2 - 2 <a-s, a(y)-s> + |a-s|^2           (components)
 * s, the mean training output, takes away the part of the cancellation that a common
 * offset would bring. Values that rounding made negative become 0; ties go to the lower
 * index. The set is walked in panels of OKRA_PANEL_ candidates, so memory is bounded by
 * the block of predictions; where the candidates are the training outputs W L is formed
 * once and serves both terms. Components are the p coordinates a(y) of kernel PCA; under
 * a map of low rank its m features take the place of n weights (space.c). Cost:
 * m n c for m predictions and c candidates (implicit), m d c (linear), and m n^2 for
 * w'Lw.
 *
 * For a method with a criterion of its own (method.h) the criterion takes the place of
 * the distance.
 *
 * An object with l(y,y) = 0 has no features that the kernel can see: it lies near every
 * small prediction and would win for no reason. Such objects are left out unless
 * allow-empty-candidates says otherwise. Under a linear kernel with explicit features the
 * origin is a point like any other and stays.
 */
#include "decode/candidates.h"

#include "decode/criterion.h"

#include <math.h>

typedef struct candidates_options {
    bool allow_empty;
} candidates_options;

static const okra_option rows[] = {
    {"allow-empty-candidates", OKRA_OPTION_BOOL,
     offsetof(candidates_options, allow_empty), "no", 1, 0, NULL, "",
     "keep candidates whose self-similarity is zero"},
    {0},
};

typedef struct state {
    okra_output_ output;  /* with components: their scores are the features */
    const okra_data *set; /* the candidates */
    const okra_range_ *ranges;
    okra_int tests, top, count;
    bool own;               /* the candidates are the training outputs           */
    okra_panels_ *panels;   /* implicit: of the candidates                        */
    okra_panels_ *training; /* implicit: of the training outputs, may be `panels` */
    bool flat;              /* explicit features or components are compared      */
    double *axes;           /* those of components, as panels of a map meet them  */
    double *shift;          /* explicit: s                                        */
    const double *self;     /* implicit: l(y,y) of the candidates                 */
    bool *skip;             /* candidates left out, or NULL                       */
    okra_int *index;        /* tests x top                                        */
    double *distance;       /* tests x top                                        */
    double *runner_up;      /* tests, where wanted                                */
    okra_judge_ *judge;     /* of the method's own criterion, or NULL             */
} state;

extern const okra_decoder_ okra_decoder_candidates_;

static void release(void *arg)
{
    state *s = arg;
    if (s) {
        if (s->training != s->panels) {
            okra_panels_free_(s->training);
        }
        okra_panels_free_(s->panels);
        okra_free_(s->axes);
        okra_free_(s->shift);
        okra_free_(s->skip);
        okra_free_(s->index);
        okra_free_(s->distance);
        okra_free_(s->runner_up);
        okra_judge_free_(s->judge);
        okra_free_(s);
    }
}

/* ---- what may be chosen --------------------------------------------------------------
 */

static okra_status check_ranges(const state *s)
{
    for (okra_int i = 0; s->ranges && i < s->tests; i++) {
        okra_range_ r = s->ranges[i];
        if (r.begin < 0 || r.end > s->count || r.begin >= r.end) {
            return okra_fail_(OKRA_EARG,
                              "candidates: the range of test point %lld is %lld to %lld, "
                              "expected begin < end within 0 to %lld",
                              (long long)i, (long long)r.begin, (long long)r.end,
                              (long long)s->count);
        }
    }
    return OKRA_OK;
}

/* After leaving objects out every test point must still have a candidate. */
static okra_status check_left(const state *s)
{
    okra_status st = OKRA_OK;
    okra_int *before = NULL; /* usable candidates below an index */
    ALLOC(before, s->count + 1);
    before[0] = 0;
    for (okra_int c = 0; c < s->count; c++) {
        before[c + 1] = before[c] + !s->skip[c];
    }
    if (before[s->count] == 0) {
        FAIL(OKRA_EARG,
             "candidates: all %lld have zero self-similarity; "
             "allow-empty-candidates keeps them",
             (long long)s->count);
    }
    for (okra_int i = 0; s->ranges && i < s->tests; i++) {
        if (before[s->ranges[i].end] == before[s->ranges[i].begin]) {
            FAIL(OKRA_EARG,
                 "candidates: all in the range of test point %lld, %lld to %lld, have "
                 "zero self-similarity; allow-empty-candidates keeps them",
                 (long long)i, (long long)s->ranges[i].begin,
                 (long long)s->ranges[i].end);
        }
    }
done:
    okra_free_(before);
    return st;
}

static okra_status leave_out_empty(okra_context *ctx, state *s)
{
    okra_status st = OKRA_OK;
    okra_int empty = 0;
    ALLOC(s->skip, s->count);
    for (okra_int c = 0; c < s->count; c++) {
        s->skip[c] = s->self[c] <= 0;
        empty += s->skip[c];
    }
    if (empty > 0) {
        TRY(check_left(s));
        okra_warn_(ctx,
                   "candidates: %lld of %lld have zero self-similarity and are left out; "
                   "allow-empty-candidates keeps them",
                   (long long)empty, (long long)s->count);
    }
done:
    return st;
}

/* ---- create --------------------------------------------------------------------------
 */

static okra_status mean_feature(state *s)
{
    okra_status st = OKRA_OK;
    okra_int n = okra_data_count(s->output.y), d = s->output.d;
    ZALLOC(s->shift, d);
    for (okra_int i = 0; s->output.features && i < n; i++) {
        for (okra_int j = 0; j < d; j++) {
            s->shift[j] += s->output.features[i * s->output.features_ld + j] / (double)n;
        }
    }
done:
    return st;
}

/* Axes over the features of a map become axes over what its panels hold. */
static okra_status take_components(okra_context *ctx, state *s)
{
    okra_status st = OKRA_OK;
    const okra_components_ *c = s->output.components;
    okra_int width = s->output.map ? s->output.map->rank : s->output.y->d;
    if (c->axes && c->width != width) {
        FAIL(OKRA_EFORMAT,
             "the model's components are of %lld features, its outputs have %lld",
             (long long)c->width, (long long)width);
    }
    if (c->axes) {
        TRY(okra_doubles_(ctx, c->p, c->width, "the output components", &s->axes));
        okra_mat_ A = okra_mat_of_(s->axes, c->p, c->width);
        okra_mat_copy_(okra_mat_view_(c->axes, c->p, c->width, c->width), A);
        TRY(s->output.map ? okra_map_meet_(ctx, s->output.map, A) : OKRA_OK);
    }
done:
    return st;
}

okra_status okra_candidates_open_(okra_context *ctx, const okra_output_ *output,
                                  const okra_decode_request_ *request, bool empty,
                                  void **out)
{
    okra_status st = OKRA_OK;
    state *s = NULL;
    ZALLOC(s, 1);
    s->output = *output;
    if (output->components) {
        s->output.features = output->components->scores;
        s->output.features_ld = s->output.d = output->components->p;
        s->output.feature_scale = 1;
        TRY(take_components(ctx, s));
    }
    if (output->criterion) {
        s->output.features = NULL; /* what counts is l(y_i, y) */
        TRY(okra_judge_create_(ctx, output, &s->judge));
    }
    s->flat = s->output.features || output->components;
    s->own = !request->candidates;
    s->set = s->own ? output->y : request->candidates;
    s->count = okra_data_count(s->set);
    s->tests = request->tests;
    s->top = OKRA_MAX_(request->top, 1);
    s->ranges = request->ranges;
    if (s->count == 0) {
        FAIL(OKRA_EARG, "candidates: the set is empty");
    }
    TRY(okra_decode_check_kind_(output, s->set, "the candidates are"));
    TRY(check_ranges(s));
    if (s->flat) {
        TRY(mean_feature(s));
    }
    if (!s->flat || (output->components && !(output->features && s->axes))) {
        TRY(okra_panels_create_(ctx, output, s->set, &s->panels));
        s->self = okra_panels_self_(s->panels);
        s->training = s->panels;
        if (!s->own && !output->components && !output->map && !s->judge) {
            s->training = NULL;
            TRY(okra_panels_create_(ctx, output, NULL, &s->training));
        }
        if (!empty) {
            TRY(leave_out_empty(ctx, s));
        }
    }
    TRY(okra_doubles_(ctx, s->tests, s->top, "the distances of candidates",
                      &s->distance));
    ALLOC(s->index, s->tests * s->top);
    if (request->runner_up) {
        ALLOC(s->runner_up, s->tests);
        for (okra_int i = 0; i < s->tests; i++) {
            s->runner_up[i] = INFINITY;
        }
    }
    for (okra_int i = 0; i < s->tests * s->top; i++) {
        s->index[i] = -1;
        s->distance[i] = (double)INFINITY;
    }
    *out = s;
    s = NULL;
done:
    release(s);
    return st;
}

static okra_status create(okra_context *ctx, const okra_output_ *output,
                          const okra_options *options,
                          const okra_decode_request_ *request, void **out)
{
    candidates_options o;
    okra_status st = okra_options_read(options, &okra_decoder_candidates_.options, &o);
    return st == OKRA_OK ? okra_candidates_open_(ctx, output, request, o.allow_empty, out)
                         : st;
}

void okra_candidates_best_(const void *arg, okra_int i, const okra_int **index,
                           const double **distance)
{
    const state *s = arg;
    *index = s->index + i * s->top;
    *distance = s->distance + i * s->top;
}

/* ---- search --------------------------------------------------------------------------
 */

/* Equal objects have equal distances up to rounding, some eps times the terms of which
 * they are made: those within 1e-10 of the best are taken for it. */
static void note_runner_up(double best, double d, double norm, double *runner_up)
{
    double close = 1e-10 * (1 + fabs(norm));
    if (d > best + close) {
        *runner_up = fmin(*runner_up, d);
    } else if (d < best - close) {
        *runner_up = best;
    }
}

/* Candidates that are looked at together first: most runs hold none of the best. */
enum { RUN = 32 };
static bool some_below(const double *self, const double *inner, double norm, double scale,
                       double limit)
{
    int below = 0;
    for (int k = 0; k < RUN; k++) {
        below |= scale * (self[k] - 2 * inner[k] + norm) < limit;
    }
    return below;
}

/* Candidates first..first+columns-1 of test point i: self_c - 2 inner_c + norm, times
 * scale. The list of the best stays sorted; candidates come by ascending index, so a tie
 * goes behind. */
static void choose(state *s, okra_int i, okra_int first, okra_int columns,
                   const double *self, const double *inner, double norm, double scale)
{
    okra_int begin = first, end = first + columns, top = s->top;
    if (s->ranges) {
        begin = OKRA_MAX_(begin, s->ranges[i].begin);
        end = OKRA_MIN_(end, s->ranges[i].end);
    }
    okra_int *index = s->index + i * top;
    double *distance = s->distance + i * top;
    for (okra_int c = begin; c < end; c++) {
        if (!s->runner_up && c % RUN == 0 && end - c >= RUN &&
            !some_below(self + (c - first), inner + (c - first), norm, scale,
                        distance[top - 1])) {
            c += RUN - 1;
            continue;
        }
        double d = scale * (self[c - first] - 2 * inner[c - first] + norm);
        d = d < 0 && !s->judge ? 0 : d; /* a criterion may be negative */
        if (s->skip && s->skip[c]) {
            continue;
        }
        if (s->runner_up) {
            note_runner_up(distance[0], d, norm, &s->runner_up[i]);
        }
        if (!(d < distance[top - 1])) {
            continue;
        }
        okra_int at = top - 1;
        for (; at > 0 && d < distance[at - 1]; at--) {
            distance[at] = distance[at - 1];
            index[at] = index[at - 1];
        }
        distance[at] = d;
        index[at] = c;
    }
}

/* The same for every test point of a block: row r of G holds the inner products. */
typedef struct choices {
    state *s;
    const okra_block_ *block;
    okra_int first, columns;
    const double *self, *G, *norm;
    double scale;
} choices;

static okra_status choose_rows(void *arg, okra_int begin, okra_int end, int worker)
{
    const choices *k = arg;
    (void)worker;
    for (okra_int r = begin; r < end; r++) {
        choose(k->s, k->block->first + r, k->first, k->columns, k->self,
               k->G + r * k->columns, k->norm ? k->norm[r] : 0, k->scale);
    }
    return OKRA_OK;
}

static okra_status choose_all(okra_context *ctx, choices k)
{
    return okra_parallel_(ctx, k.block->m, 64, NULL, choose_rows, &k);
}

/* Whether a test point of the block may choose from this panel. */
static bool wanted(const state *s, const okra_block_ *block, okra_int first,
                   okra_int columns)
{
    for (okra_int i = block->first; s->ranges && i < block->first + block->m; i++) {
        if (s->ranges[i].begin < first + columns && s->ranges[i].end > first) {
            return true;
        }
    }
    return !s->ranges;
}

static okra_int panel_width(const state *s, okra_int first)
{
    return OKRA_MIN_(OKRA_PANEL_, s->count - first);
}

/* The training outputs: G = W L serves the inner products and the norms w'Lw. */
static okra_status search_own(okra_context *ctx, state *s, const okra_block_ *block)
{
    okra_status st = OKRA_OK;
    double *G = NULL, *norm = NULL;
    okra_mat_ W = block->W;
    ALLOC(norm, block->m);
    TRY(okra_doubles_(ctx, W.rows, W.cols, "predictions times the output Gram matrix",
                      &G));
    okra_mat_ WL = okra_mat_of_(G, W.rows, W.cols);
    for (okra_int p = 0; p < okra_panels_count_(s->panels); p++) {
        okra_mat_ L;
        TRY(okra_panels_get_(ctx, s->panels, p, block->m < s->tests, &L));
        TRY(okra_gemm_(ctx, false, false, 1, W, L, 0,
                       okra_mat_part_(WL, 0, W.rows, p * OKRA_PANEL_, L.cols)));
    }
    for (okra_int r = 0; r < block->m; r++) {
        norm[r] = okra_dot_(W.cols, G + r * W.cols, W.p + r * W.ld);
    }
    TRY(choose_all(ctx, (choices){s, block, 0, s->count, s->self, G, norm, 1}));
done:
    okra_free_(norm);
    okra_free_(G);
    return st;
}

static okra_status search_set(okra_context *ctx, state *s, const okra_block_ *block)
{
    okra_status st = OKRA_OK;
    bool again = block->m < s->tests;
    double *G = NULL, *norm = NULL, *points = NULL;
    okra_mat_ W = block->W;
    ALLOC(norm, block->m);
    if (s->output.map) {
        TRY(okra_panels_points_(ctx, s->panels, block->H, norm, &points));
        W = okra_mat_of_(points, block->m, block->H.cols);
    } else {
        TRY(okra_panels_norms_(ctx, s->training, again, W, norm));
    }
    TRY(okra_doubles_(ctx, block->m, OKRA_PANEL_, "inner products with candidates", &G));
    for (okra_int p = 0; p < okra_panels_count_(s->panels); p++) {
        okra_int first = p * OKRA_PANEL_;
        if (!wanted(s, block, first, panel_width(s, first))) {
            continue;
        }
        okra_mat_ C;
        TRY(okra_panels_get_(ctx, s->panels, p, again, &C));
        TRY(okra_gemm_(ctx, false, false, 1, W, C, 0, okra_mat_of_(G, block->m, C.cols)));
        TRY(choose_all(ctx,
                       (choices){s, block, first, C.cols, s->self + first, G, norm, 1}));
    }
done:
    okra_free_(G);
    okra_free_(norm);
    okra_free_(points);
    return st;
}

/* A_i <- B_i - s, norm_i <- |A_i|^2; A may be B. */
static void subtract(const double *shift, okra_mat_ B, okra_mat_ A, double *norm)
{
    for (okra_int i = 0; i < B.rows; i++) {
        double *a = A.p + i * A.ld;
        for (okra_int j = 0; j < B.cols; j++) {
            a[j] = B.p[i * B.ld + j] - shift[j];
        }
        norm[i] = okra_dot_(B.cols, a, a);
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

/* The coordinates a(y) of candidates first.. under kernel PCA. */
static okra_status panel_components(okra_context *ctx, state *s, const okra_block_ *block,
                                    okra_int first, okra_mat_ A)
{
    okra_status st = OKRA_OK;
    const okra_components_ *c = s->output.components;
    okra_mat_ L, axes = okra_mat_view_(s->axes, c->p, c->width, c->width);
    if (s->panels) {
        TRY(okra_panels_get_(ctx, s->panels, first / OKRA_PANEL_, block->m < s->tests,
                             &L));
        TRY(s->axes ? okra_gemm_(ctx, true, true, 1, L, axes, 0, A)
                    : okra_gemm_(ctx, true, false, 1, L,
                                 okra_mat_view_(c->scores, L.rows, c->p, c->p), 0, A));
    } else {
        okra_int ld = 0;
        const double *y = okra_data_values(s->set, &ld);
        TRY(okra_gemm_(ctx, false, true, 1,
                       okra_mat_view_(y + first * ld, A.rows, c->width, ld), axes, 0, A));
    }
    settle(c, A);
done:
    return st;
}

/* H <- the prediction in the coordinates that are compared. */
static okra_status predicted(okra_context *ctx, const state *s, const okra_block_ *block,
                             okra_mat_ H)
{
    okra_status st = OKRA_OK;
    const okra_components_ *c = s->output.components;
    if (!s->axes) {
        return okra_block_explicit_(ctx, &s->output, block, H);
    }
    TRY(okra_gemm_(ctx, false, true, 1, block->H,
                   okra_mat_view_(c->axes, c->p, c->width, c->width), 0, H));
    settle(c, H);
done:
    return st;
}

static okra_status search_explicit(okra_context *ctx, state *s, const okra_block_ *block)
{
    okra_status st = OKRA_OK;
    okra_int d = s->output.d, m = block->m, ld = 0;
    double *H = NULL, *G = NULL, *Y = NULL, *norm = NULL, self[OKRA_PANEL_];
    bool coordinates = s->output.components != NULL;
    const double *y = coordinates ? NULL : okra_data_values(s->set, &ld);
    TRY(okra_doubles_(ctx, m, d, "explicit predictions", &H));
    TRY(okra_doubles_(ctx, m, OKRA_PANEL_, "inner products with candidates", &G));
    TRY(okra_doubles_(ctx, OKRA_PANEL_, d, "a panel of candidates", &Y));
    ALLOC(norm, m);
    TRY(predicted(ctx, s, block, okra_mat_of_(H, m, d)));
    subtract(s->shift, okra_mat_of_(H, m, d), okra_mat_of_(H, m, d), norm);
    for (okra_int first = 0; first < s->count; first += OKRA_PANEL_) {
        okra_int columns = panel_width(s, first);
        if (!wanted(s, block, first, columns)) {
            continue;
        }
        TRY(okra_cancelled_(ctx));
        okra_mat_ Yc = okra_mat_of_(Y, columns, d);
        if (coordinates) {
            TRY(panel_components(ctx, s, block, first, Yc));
        }
        subtract(s->shift, y ? okra_mat_view_(y + first * ld, columns, d, ld) : Yc, Yc,
                 self);
        TRY(okra_gemm_(ctx, false, true, 1, okra_mat_of_(H, m, d), Yc, 0,
                       okra_mat_of_(G, m, columns)));
        TRY(choose_all(ctx, (choices){s, block, first, columns, self, G, norm,
                                      s->output.feature_scale}));
    }
done:
    okra_free_(H);
    okra_free_(G);
    okra_free_(Y);
    okra_free_(norm);
    return st;
}

/* J of the method's own criterion takes the place of the distance. */
static okra_status search_criterion(okra_context *ctx, state *s, const okra_block_ *block)
{
    okra_status st = OKRA_OK;
    double *J = NULL, *nothing = NULL;
    TRY(okra_doubles_(ctx, block->m, OKRA_PANEL_, "the criterion of candidates", &J));
    ZALLOC(nothing, OKRA_PANEL_);
    for (okra_int p = 0; p < okra_panels_count_(s->panels); p++) {
        okra_int first = p * OKRA_PANEL_, columns = panel_width(s, first);
        okra_mat_ C, Jp = okra_mat_of_(J, block->m, columns);
        if (!wanted(s, block, first, columns)) {
            continue;
        }
        TRY(okra_panels_get_(ctx, s->panels, p, block->m < s->tests, &C));
        TRY(okra_judge_panel_(ctx, s->judge, block, C, s->self + first, Jp));
        /* inner products -J/2 of objects at the origin: J itself, exactly */
        for (okra_int k = 0; k < block->m * columns; k++) {
            J[k] /= -2;
        }
        TRY(choose_all(ctx, (choices){s, block, first, columns, nothing, J, NULL, 1}));
    }
done:
    okra_free_(nothing);
    okra_free_(J);
    return st;
}

static okra_status search(okra_context *ctx, void *arg, const okra_block_ *block)
{
    state *s = arg;
    if (s->judge) {
        return search_criterion(ctx, s, block);
    }
    if (s->flat) {
        return search_explicit(ctx, s, block);
    }
    if (!(s->output.map ? block->H.p : block->W.p)) {
        return okra_fail_(OKRA_EUNSUPPORTED,
                          "decoder candidates: this model predicts embeddings that its "
                          "output kernel does not measure");
    }
    return s->own && !s->output.map ? search_own(ctx, s, block)
                                    : search_set(ctx, s, block);
}

static okra_status finish(okra_context *ctx, void *arg, okra_decoded_ *out)
{
    (void)ctx;
    okra_status st = OKRA_OK;
    state *s = arg;
    okra_int *best = NULL;
    okra_data *objects = NULL;
    ALLOC(best, s->tests);
    for (okra_int i = 0; i < s->tests; i++) {
        best[i] = s->index[i * s->top];
        if (best[i] < 0) {
            FAIL(OKRA_ENUMERIC,
                 "candidates: test point %lld has no finite distance to any candidate",
                 (long long)i);
        }
    }
    TRY(okra_data_take(s->set, best, s->tests, &objects));
    *out = (okra_decoded_){.objects = objects,
                           .top = s->top,
                           .index = s->index,
                           .distance = s->distance,
                           .runner_up = s->runner_up};
    s->runner_up = NULL;
    s->index = NULL;
    s->distance = NULL;
done:
    okra_free_(best);
    return st;
}

const okra_decoder_ okra_decoder_candidates_ = {
    .name = "candidates",
    .maps = true,
    .help = "the nearest objects of a set: the training outputs, or those given",
    .options = {"decoder candidates", rows, sizeof(candidates_options)},
    .create = create,
    .block = search,
    .finish = finish,
    .free = release,
};
