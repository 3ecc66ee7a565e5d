/*
 * candidates.c: the objects of a finite set nearest to the prediction.
 *
 *     |phi(y) - h|^2 = l(y,y) - 2 sum_i w_i l(y_i,y) + w'Lw
 *
 * or, where there are explicit coordinates, by those (explicit.c). The set is walked in
 * panels of OKRA_PANEL_ candidates, of which the best are kept (nearest.c), so memory is
 * bounded by the block of predictions; where the candidates are the training outputs W L
 * is formed once and serves both terms. Sparse vectors and bits under a linear kernel are
 * compared by their d coefficients (explicit.c). Under a map of low rank its m features
 * take the place of n weights (panels.c). Cost: m n c for m predictions and c candidates,
 * and m n^2 for w'Lw.
 *
 * For a method with a criterion of its own (method.h) the criterion takes the place of
 * the distance.
 *
 * An object with l(y,y) = 0 has no features that the kernel can see: it lies near every
 * small prediction and would win for no reason. Such objects are left out unless
 * allow-empty-candidates says otherwise. Of vectors under a linear kernel the origin is a
 * point like any other and stays.
 */
#include "candidates/set.h"
#include "decode/vectors/criterion.h"
#include "okra/more/group.h"

typedef struct candidates_options {
    bool allow_empty, as_new;
} candidates_options;

static const okra_option rows[] = {
    {"allow-empty-candidates", OKRA_OPTION_BOOL,
     offsetof(candidates_options, allow_empty), "no", 1, 0, NULL, "",
     "keep candidates whose self-similarity is zero"},
    {"as-new", OKRA_OPTION_BOOL, offsetof(candidates_options, as_new), "no", 1, 0, NULL,
     "", "compare candidates that are training outputs as if they had not been learned"},
    {0},
};

typedef struct state {
    okra_output_ output;
    const okra_data *list; /* the candidates; NULL: an index */
    okra_set_ *set;        /* the same, panel by panel */
    okra_nearest_ nearest;
    bool own;                    /* the candidates are the training outputs          */
    bool flat;                   /* explicit features or components are compared     */
    okra_explicit_ features;     /* these                                            */
    okra_panels_ *training;      /* implicit: of the training outputs                */
    okra_panels_ *made;          /* it, where it is not that of the candidates       */
    const double *self;          /* implicit: l(y,y) of a list                       */
    double constant;             /* implicit: what all of these are, or NaN          */
    okra_criterion_eval_ *judge; /* of the method's own criterion, or NULL           */
    bool thin;                   /* sparse or bits under a linear kernel ...         */
    double scale;                /* ... c <y,y'>                                     */
    double *norm;                /* where the norms of a block are wanted, until known */
    double error;                /* of distances by low rank */
    const double *unlearn;       /* of the request */
    bool told;                   /* how many candidates are training outputs */
    okra_int learned;            /* as many */
} state;

static void clear(void *arg)
{
    state *s = arg;
    okra_panels_free_(s->made);
    okra_set_free_(s->set);
    okra_explicit_clear_(&s->features);
    okra_nearest_clear_(&s->nearest);
    okra_criterion_eval_free_(s->judge);
}

/* ---- create ---- */

/* The candidates, and panels of the training outputs where w'Lw needs them. */
static okra_status open_set(okra_context *ctx, state *s,
                            const okra_decode_request_ *request, bool empty)
{
    const okra_output_ *o = &s->output;
    bool kernel = !s->flat || okra_explicit_kernel_(&s->features);
    okra_set_request_ how = {.list = s->list,
                             .index = request->index,
                             .window = request->window,
                             .x = request->inputs,
                             .vectors = !kernel,
                             .empty = empty};
    CHK(okra_set_open_(ctx, o, &how, &s->set));
    s->features.set = s->set;
    s->constant = (double)NAN;
    s->training = s->set->panels;
    if (kernel && !s->own && !o->components && !o->map && !s->judge && !s->thin) {
        CHK(okra_panels_create_(ctx, o, NULL, &s->made));
        s->training = s->made;
    }
    if (!kernel || !s->list) {
        return OKRA_OK;
    }
    s->self = okra_panels_self_(s->set->panels);
    if (!empty && !s->thin) {
        CHK(okra_nearest_leave_out_empty_(ctx, &s->nearest, s->self));
    }
    s->constant = okra_self_constant_(s->self, s->nearest.count, s->nearest.skip != NULL);
    return OKRA_OK;
}

static okra_status check_window(const okra_decode_request_ *request,
                                const okra_output_ *output)
{
    bool windowed = request->window && request->window->within;
    REFUSE_IF(windowed && output->criterion, OKRA_EUNSUPPORTED,
              "a method with a criterion of its own takes no window");
    REFUSE_IF((windowed || request->index) && (request->ranges || request->runner_up),
              OKRA_EARG, "a window or an index goes with neither ranges nor confidence");
    return OKRA_OK;
}

okra_status okra_candidates_open_(okra_context *ctx, void *arg,
                                  const okra_output_ *output,
                                  const okra_decode_request_ *request, bool empty)
{
    state *s = arg;
    const okra_index *index = request->index;
    s->output = *output;
    s->own = !request->candidates && !index;
    s->list = s->own ? output->y : request->candidates;
    s->unlearn = request->unlearn;
    /* Where all are wanted, or each has its own, nobody chooses. */
    s->told = s->own || request->ranges || (s->list && request->top >= s->list->n);
    CHK(check_window(request, output));
    if (output->criterion) { /* what counts is l(y_i, y) */
        CHK(okra_criterion_eval_create_(ctx, output, &s->judge));
    }
    s->thin = s->list && okra_sparse_outputs_wanted_(output, &s->scale);
    s->flat = output->components || (output->features && !output->criterion);
    if (s->list) {
        REFUSE_IF(s->list->n == 0, OKRA_EARG, "candidates: the set is empty");
        CHK(okra_decode_check_kind_(output, s->list, "the candidates are"));
    }
    if (s->flat) {
        double level = index ? index->level : (double)NAN;
        CHK(okra_explicit_open_(ctx, output, s->list, level, &s->features));
    }
    bool few = index || (request->window && request->window->within);
    okra_nearest_ lists = {.tests = request->tests,
                           .top = request->top,
                           .count = index ? okra_index_count(index) : s->list->n,
                           .ranges = request->ranges,
                           .negative = s->judge != NULL,
                           .may_be_empty = few};
    CHK(okra_nearest_open_(ctx, &lists, request->runner_up, &s->nearest));
    return open_set(ctx, s, request, empty);
}

static okra_status open(okra_context *ctx, void *arg, const okra_output_ *output,
                        const void *options, const okra_decode_request_ *request)
{
    const candidates_options *o = options;
    double scale;
    REFUSE_IF(o->as_new && (output->features || output->components || output->criterion ||
                            output->map || okra_sparse_outputs_wanted_(output, &scale)),
              OKRA_EUNSUPPORTED,
              "as-new compares by values of the output kernel: it goes neither with "
              "vectors under a linear kernel nor with low rank, components or a "
              "criterion of the method");
    return okra_candidates_open_(ctx, arg, output, request, o->allow_empty);
}

okra_status okra_candidates_as_new_(const okra_options *options, bool *out)
{
    candidates_options o;
    CHK(okra_options_read(options, &okra_decoder_candidates_.options, &o));
    *out = o.as_new;
    return OKRA_OK;
}

const okra_nearest_ *okra_candidates_nearest_(const void *arg)
{
    return &((const state *)arg)->nearest;
}

/* ---- search ---- */

/* G = W L, panel by panel. */
static okra_status times_panels(okra_context *ctx, okra_panels_ *panels, bool again,
                                okra_mat_ W, okra_mat_ G)
{
    for (okra_int p = 0; p < okra_panels_count_(panels); p++) {
        okra_mat_ L;
        CHK(okra_panels_get_(ctx, panels, p, again, &L));
        CHK(okra_gemm_(ctx, false, false, 1, W, L, 0,
                       okra_mat_part_(G, 0, W.rows, p * OKRA_PANEL_, L.cols)));
    }
    return OKRA_OK;
}

/* The training outputs: G = W L serves the inner products and the norms w'Lw. */
static okra_status search_own(okra_context *ctx, state *s, const okra_block_ *block)
{
    OWNED double *G = NULL, *norm = NULL;
    okra_mat_ W = block->W;
    MAKE(norm, block->m);
    CHK(okra_doubles_(ctx, W.rows, W.cols, "predictions times the output Gram matrix",
                      &G));
    bool again = block->m < s->nearest.tests;
    okra_panels_ *L = s->training;
    CHK(W.rows == 1 ? okra_symmetric_times_(ctx, &s->output, L, again, W.p, G)
                    : times_panels(ctx, L, again, W, okra_mat_of_(G, W.rows, W.cols)));
    for (okra_int r = 0; r < block->m; r++) {
        norm[r] = okra_dot_(W.cols, G + r * W.cols, W.p + r * W.ld);
    }
    if (s->norm) {
        memcpy(s->norm, norm, (size_t)block->m * sizeof *norm);
        s->norm = NULL;
    }
    okra_part_ part = {.m = block->m, .count = s->nearest.count};
    okra_measured_ all = {block, &part, s->self, G, norm, 1, s->constant, NULL};
    return okra_nearest_put_(ctx, &s->nearest, &all);
}

/* Candidates that are training outputs: they are counted, or what they owe to having been
 * learned (model/unlearn.c) is taken from the inner products G with the rows of W. */
static void unlearn(state *s, const okra_part_ *part, okra_mat_ W, double *G)
{
    const double *self = okra_panels_self_(s->training);
    for (okra_int c = 0; c < part->count; c++) {
        bool learned = false;
        for (okra_int i = 0; i < part->C.rows; i++) {
            double inner = part->C.p[i * part->C.ld + c];
            if (!okra_same_point_(self[i], part->self[c], inner)) {
                continue;
            }
            learned = true;
            for (okra_int r = 0; s->unlearn && r < part->m; r++) {
                G[r * part->count + c] -= s->unlearn[i] * W.p[r * W.ld + i];
            }
        }
        s->learned += learned && part->self[c] > 0;
    }
}

static void tell_learned(okra_context *ctx, state *s)
{
    okra_int count = s->nearest.count;
    if (!s->unlearn && s->learned > 0 && s->learned < count) {
        okra_warn_(ctx,
                   "candidates: %lld of %lld are training outputs, which the model "
                   "favours; option as-new compares them as if they had not been learned",
                   (long long)s->learned, (long long)count);
    }
    s->told = true;
}

static okra_status search_set(okra_context *ctx, state *s, const okra_block_ *block)
{
    bool again = block->m < s->nearest.tests;
    OWNED double *G = NULL, *norm = NULL, *points = NULL, *copy = NULL;
    okra_mat_ W = block->W;
    MAKE(norm, block->m);
    if (s->output.map) {
        CHK(okra_panels_points_(ctx, s->training, block->H, norm, &points));
        W = okra_mat_of_(points, block->m, block->H.cols);
    } else {
        CHK(okra_panels_norms_(ctx, s->training, again, W, norm));
    }
    if (okra_set_scans_(s->set) && !s->unlearn) {
        return okra_set_scan_(ctx, s->set, block, norm, &s->nearest, &s->error);
    }
    CHK(okra_doubles_(ctx, block->m, OKRA_PANEL_, "inner products with candidates", &G));
    for (okra_int p = 0; p < okra_set_panels_(s->set); p++) {
        okra_part_ part;
        okra_mat_ some;
        CHK(okra_set_part_(ctx, s->set, p, block, &s->nearest, &part));
        if (part.count == 0) {
            continue;
        }
        CHK(okra_set_values_(ctx, s->set, again, &part));
        CHK(okra_part_rows_(ctx, &part, W, &copy, &some));
        CHK(okra_gemm_(ctx, false, false, 1, some, part.C, 0,
                       okra_mat_of_(G, part.m, part.count)));
        if (s->unlearn || (!s->told && !s->output.map)) {
            unlearn(s, &part, some, G);
        }
        okra_measured_ all = {block, &part, part.self, G, norm, 1, s->constant, NULL};
        CHK(okra_nearest_put_(ctx, &s->nearest, &all));
    }
    tell_learned(ctx, s);
    return OKRA_OK;
}

/* J = base - 2 <w, l> of the method's own criterion takes the place of the distance. */
static okra_status search_criterion(okra_context *ctx, state *s, const okra_block_ *block)
{
    OWNED okra_int *which = NULL;
    okra_int m = block->m;
    OWNED double *base = NULL, *inner = NULL, *norm = NULL;
    CHK(okra_doubles_(ctx, m, OKRA_PANEL_, "the criterion of candidates", &base));
    CHK(okra_doubles_(ctx, m, OKRA_PANEL_, "inner products with candidates", &inner));
    MAKE(which, m);
    MAKE(norm, m);
    okra_iota_(m, which);
    okra_criterion_eval_levels_(s->judge, block, s->constant, norm);
    okra_panels_ *panels = s->set->panels;
    for (okra_int p = 0; p < okra_panels_count_(panels); p++) {
        okra_int first = p * OKRA_PANEL_;
        okra_int columns = OKRA_MIN_(OKRA_PANEL_, s->nearest.count - first);
        okra_mat_ C;
        if (!okra_nearest_wanted_(&s->nearest, block, first, columns)) {
            continue;
        }
        CHK(okra_panels_get_(ctx, panels, p, m < s->nearest.tests, &C));
        CHK(okra_criterion_eval_panel_(ctx, s->judge, block, C, s->self + first,
                                       s->constant, okra_mat_of_(base, m, columns),
                                       okra_mat_of_(inner, m, columns)));
        okra_part_ part = {.m = m, .first = first, .count = columns};
        okra_measured_ all = {block, &part, base, inner, norm, 1, (double)NAN, which};
        CHK(okra_nearest_put_(ctx, &s->nearest, &all));
    }
    return OKRA_OK;
}

/* The same where an engine computes the inner products and chooses among them. */
static okra_status search_scored(okra_context *ctx, state *s, const okra_block_ *block)
{
    OWNED double *norm = NULL;
    MAKE(norm, block->m);
    CHK(okra_scored_norms_(ctx, s->training, block->W, norm));
    return okra_scored_put_(ctx, s->set->panels, block, norm, s->constant, &s->nearest);
}

/* All but the method's own criterion. `scored`: by the engine. */
static okra_status search_rows(okra_context *ctx, state *s, bool scored,
                               const okra_block_ *block)
{
    if (s->flat) {
        return okra_explicit_search_(ctx, &s->features, block, &s->nearest);
    }
    REFUSE_IF(!(s->output.map ? block->H.p : block->W.p), OKRA_EUNSUPPORTED,
              "decoder candidates: this model predicts embeddings that its "
              "output kernel does not measure");
    if (s->thin) {
        return okra_sparse_outputs_search_(ctx, &s->output, s->scale, s->list, s->self,
                                           s->constant, block, &s->nearest);
    }
    if (scored) {
        return search_scored(ctx, s, block);
    }
    bool own = s->own && !s->output.map && !s->set->windows.used && !s->unlearn;
    return own ? search_own(ctx, s, block) : search_set(ctx, s, block);
}

static okra_mat_ rows_of(okra_mat_ A, okra_int first, okra_int count)
{
    return A.p ? okra_mat_part_(A, first, count, 0, A.cols) : A;
}

/* Many processes: each searches for its share of the rows, and all get all lists. */
static okra_status search_share(okra_context *ctx, state *s, const okra_block_ *block)
{
    okra_int first = 0, count = 0;
    okra_engine_share_(ctx, block->m, &first, &count);
    /* One without rows searches too, so that all keep the same in memory. */
    okra_int some = OKRA_MAX_(count, 1), from = OKRA_MIN_(first, block->m - some);
    okra_block_ own = {.first = block->first + from,
                       .m = some,
                       .W = rows_of(block->W, from, some),
                       .H = rows_of(block->H, from, some)};
    CHK(search_rows(ctx, s, false, &own));
    return okra_scored_share_(ctx, &s->nearest, block->first, block->m,
                              block->first + first, count);
}

static okra_status search(okra_context *ctx, void *arg, const okra_block_ *block)
{
    state *s = arg;
    if (s->judge) {
        return search_criterion(ctx, s, block);
    }
    bool scored = !s->unlearn && !s->flat && !s->thin && !s->output.map && s->list &&
                  !s->set->windows.used && okra_scored_wanted_(ctx, &s->nearest);
    return okra_context_processes(ctx) > 1 && (!scored || block->m > s->nearest.count)
               ? search_share(ctx, s, block)
               : search_rows(ctx, s, scored, block);
}

okra_status okra_candidates_block_(okra_context *ctx, void *arg, const okra_block_ *block,
                                   double *norm, bool *known)
{
    state *s = arg;
    s->norm = norm;
    okra_status st = search(ctx, s, block);
    *known = !s->norm;
    s->norm = NULL;
    return st;
}

static okra_status finish(okra_context *ctx, void *arg, okra_decoded_ *out)
{
    state *s = arg;
    out->error = s->error;
    out->compared = TAKE(s->nearest.compared);
    return okra_decoded_nearest_(ctx, &s->nearest, s->list, "candidates",
                                 "finite distance to any candidate", out);
}

const okra_decoder_ okra_decoder_candidates_ = {
    .name = "candidates",
    .maps = true,
    .help = "the nearest objects of a set: the training outputs, or those given",
    .options = {"decoder candidates", rows, sizeof(candidates_options)},
    .chooses = true,
    .indexes = true,
    .criterion = true,
    .state = sizeof(state),
    .open = open,
    .block = search,
    .finish = finish,
    .clear = clear,
};
