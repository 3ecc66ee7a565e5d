/*
 * predict.c: test inputs to weights or embeddings, and those to objects, block by block.
 *
 *     W = method(K_x)  (m x n),   H = W Y  (m x d) where l(y,y') = c <y,y'>
 *
 * A decoder is fed H where the method reaches it without the weights (n d instead of n^2
 * operations a test point), else W. What is asked for besides never changes what is
 * decoded.
 */
#include "model/model.h"
#include "okra/more/objects.h"
#include "okra/more/prediction.h"

/* how sure a prediction is: the distance of the decoded object, the gap to
 * the nearest other candidate, and the predictive variance of a Gaussian process with the
 * input kernel as covariance and noise lambda (Rasmussen and Williams 2006, eq. 2.26):
 *
 *     v(x) = k(x,x) - k_x'(K + lambda I)^-1 k_x = k(x,x) - |G^-1 k_x|^2,
 *     K + lambda I = GG'
 *
 * A pair of weight u_i has noise lambda / u_i, that is S K S and S k_x, S = diag(u)^1/2.
 * n lambda in place of lambda with the operators cov and ccov, as in their systems. Under
 * an operator T with eigenvalues t_i the variance along its i-th direction is
 * t_i (k(x,x) - k_x'(K + lambda/t_i I)^-1 k_x): v(x) is that of a direction with t_i = 1.
 * Where outputs have missing values, it is that of an output without any.
 *
 * Only for methods that predict the mean of that process. Under a loss other than squares
 * (margin) lambda is no noise; where every position has a system of its own (jkm,
 * constrained, the operator diagonal) none has the kernel of the whole; unlabelled inputs
 * are in K without being observed. There the variance does not exist.
 *
 * Between 0 and k(x,x); rounding below 0 is clamped. It tells how far x is from the
 * training inputs, whatever the outputs. Cost: n^2 a test point from the factor that the
 * model keeps; n^3/3 once and n^2 doubles where it keeps none. */

/* The nearest that is not at the best's distance: as the decoder tells, or among the best
 * that it made up; infinite: not known. */
static double runner_up(const okra_decoded_ *d, okra_int i)
{
    double found = d->runner_up ? d->runner_up[i] : (double)INFINITY;
    for (okra_int k = i * d->top + 1;
         d->proposals && !d->runner_up && k < (i + 1) * d->top; k++) {
        bool farther = d->index[k] >= 0 && d->distance[k] > d->distance[i * d->top];
        found = farther ? fmin(found, d->distance[k]) : found;
    }
    return found;
}

static okra_status confidence_of(okra_context *ctx, const okra_model *model,
                                 const okra_data *x, const okra_decoded_ *decoded,
                                 double **out)
{
    const okra_training_ *t = model->training;
    OWNED double *values = NULL;
    FREED_BY(okra_solution_clear_) okra_solution_ s = {0};
    MAKE(values, x->n * OKRA_CONFIDENCE_COLUMNS);
    for (okra_int i = 0; i < x->n; i++) {
        double *row = values + i * OKRA_CONFIDENCE_COLUMNS;
        row[0] = decoded->distance ? decoded->distance[i * decoded->top] : (double)NAN;
        double gap = runner_up(decoded, i) - row[0];
        row[1] = isfinite(gap) ? gap : (double)NAN;
        row[2] = NAN;
    }
    okra_model_solution_(model, &s);
    if (s.noise >= 0 && !t->waves && t->x->n == t->y->n) { /* it keeps its inputs */
        CHK(okra_solution_variances_(ctx, &s, t->bound_x, x, OKRA_CONFIDENCE_COLUMNS,
                                     values + 2));
    }
    *out = TAKE(values);
    return OKRA_OK;
}

/* Test points per 1024 training outputs that are few: their decoding costs less than what
 * it needs of the training outputs, which then stays with the model for the next ones. */
enum { FEW = 64 };

typedef struct run {
    const okra_model *model;
    const okra_decoder_ *decoder;
    void *state;
    okra_batches_ walk;
    bool direct; /* the decoder is fed H that the method gives by itself */
    bool want_weights, want_embedding;
    const okra_data *given; /* weights that are not the model's own, or NULL */
    double *W, *H;          /* one block of each, where needed */
    okra_output_ output;    /* what the decoder sees */
    okra_components_ components;
    okra_criterion_ criterion;
    okra_prediction *p;
} run;

static okra_status check_request(const okra_model *model,
                                 const okra_predict_request *request)
{
    const okra_training_ *t = model->training;
    bool embedding = okra_model_form_(model) == OKRA_FORM_EMBEDDING;
    REFUSE_IF(request->weights && embedding, OKRA_EUNSUPPORTED,
              "this model (method %s) predicts embeddings: there are no "
              "weights over the training outputs",
              model->method->name);
    REFUSE_IF(request->embedding && !embedding && !t->output.features &&
                  !t->output.vectors,
              OKRA_EUNSUPPORTED,
              "the output kernel %s has no explicit features: an embedding "
              "needs ky linear, metric or tasks on dense outputs",
              okra_kernel_text(t->ky));
    return OKRA_OK;
}

/* Weights that somebody else has made: as many as there are tests and training outputs.
 */
static okra_status check_given(const run *r, const okra_data *x,
                               const okra_predict_request *request, bool as_new)
{
    const okra_data *given = r->given;
    okra_int n = r->model->training->y->n;
    REFUSE_IF(given->kind != OKRA_DENSE && given->kind != OKRA_SPARSE, OKRA_EARG,
              "%s: weights are numbers, found %s", given->source,
              okra_kind_name(given->kind));
    REFUSE_IF(given->d != n, OKRA_ESHAPE,
              "%s: a row of weights has %lld numbers, expected %lld, one for each "
              "training output",
              given->source, (long long)given->d, (long long)n);
    REFUSE_IF(x && x->n != given->n, OKRA_ESHAPE,
              "%s: there are weights of %lld test points, expected %lld, as there are "
              "test inputs",
              given->source, (long long)given->n, (long long)x->n);
    REFUSE_IF(r->output.criterion || r->output.map, OKRA_EUNSUPPORTED,
              "weights cannot be decoded by a model of method %s%s",
              r->model->method->name,
              r->output.map ? " with an output kernel of low rank"
                            : ", which has a criterion of its own");
    REFUSE_IF(
        request->confidence || as_new || (request->window && !x), OKRA_EUNSUPPORTED,
        "given weights have no confidence, no pairs that were not learned (as-new), "
        "and without test inputs no window");
    return OKRA_OK;
}

/* Rows first.. of given weights. */
static void copy_given(const okra_data *given, okra_int first, okra_mat_ W)
{
    const okra_csr_ *s = &given->csr;
    okra_mat_fill_(W, 0);
    for (okra_int i = first; i < first + W.rows; i++) {
        double *to = W.p + (i - first) * W.ld;
        for (okra_int j = 0; given->values && j < W.cols; j++) {
            to[j] = given->values[i * given->ld + j];
        }
        for (okra_int k = given->values ? 0 : s->indptr[i],
                      end = given->values ? 0 : s->indptr[i + 1];
             k < end; k++) {
            to[s->indices[k]] = s->values[k];
        }
    }
}

/* The whole output space, or the components that the method predicts; the distance to
 * the prediction, or the criterion of the method. */
static okra_status choose_space(okra_context *ctx, run *r)
{
    const okra_model *m = r->model;
    CHK(okra_model_settle_(ctx, m));
    r->output = m->training->output;
    if (okra_method_compares_(m->method)->components) {
        CHK(okra_method_compares_(m->method)->components(m->store, r->output.y->n,
                                                         &r->components));
        r->output.components = r->components.whole ? NULL : &r->components;
    }
    if (okra_method_compares_(m->method)->criterion) {
        CHK(okra_method_compares_(m->method)->criterion(m->store, r->output.y->n,
                                                        &r->criterion));
        r->output.criterion = &r->criterion;
    }
    return OKRA_OK;
}

/* What --decode says. Left open: candidates where they are given, or several are asked
 * for and the model's decoder makes up none; else what the method or the model names; the
 * optimum of the method's own criterion, or the vector itself where it is explicit. */
static okra_status name_decoder(okra_context *ctx, const run *r,
                                const okra_options *options,
                                const okra_predict_request *request,
                                okra_predict_fields_ *fields)
{
    bool smooth = false;
    okra_status st = OKRA_OK;
    const char *kept = okra_store_get_text_(r->model->store, "decode");
    if (options && okra_options_is_set(options, "decode") && *fields->decode) {
        return OKRA_OK;
    }
    const okra_decoder_ *own = kept ? okra_decoder_find_(kept) : NULL;
    bool plain = !request->candidates && !request->ranges && !request->index &&
                 !request->window && (fields->top <= 1 || (own && own->makes_up));
    if (plain && r->output.criterion) {
        st = okra_decode_smooth_(ctx, &r->output, &smooth);
    }
    REFUSE_IF(kept && !own, OKRA_EFORMAT,
              "the model names the decoder '%s': there is none", kept);
    bool ranks =
        okra_method_compares_(r->model->method)->criterion || request->confidence;
    bool explicitly = plain && r->output.features && !ranks;
    fields->decode = okra_method_auto_(r->model->method)->decoder
                         ? okra_method_auto_(r->model->method)->decoder
                     : plain && kept ? kept
                                     : okra_decoder_default_(explicitly, smooth)->name;
    return st;
}

static okra_status prepare(okra_context *ctx, run *r, const okra_data *x, okra_int tests)
{
    okra_prediction *p = r->p;
    const okra_output_ *output = &r->model->training->output;
    okra_int width = okra_model_width_(r->model);
    bool embeds = !r->given && okra_model_form_(r->model) == OKRA_FORM_EMBEDDING;
    p->tests = tests;
    p->n = r->model->training->y->n;
    p->d = embeds ? width : output->d;
    if (r->given) {
        r->walk.tests = tests;
        r->walk.rows = okra_block_rows_of_(ctx, 64 << 20, tests, p->n + p->d);
    } else {
        CHK(okra_batches_open_(ctx, r->model, x, p->d, &r->walk));
    }
    r->direct = !r->given && !embeds && !r->decoder->weights && output->features &&
                okra_method_embeds_(r->model->method, r->model->store);
    if (r->want_weights) {
        CHK(okra_doubles_(ctx, p->tests, p->n, "the weights of all test points",
                          &p->weights));
    }
    if (r->want_embedding) {
        CHK(okra_doubles_(ctx, p->tests, p->d, "the embedding of all test points",
                          &p->embedding));
    }
    if (!embeds && !r->direct && !r->want_weights) {
        CHK(okra_doubles_(ctx, r->walk.rows, p->n, "a block of weights", &r->W));
    }
    return (embeds || r->direct) && !r->want_embedding
               ? okra_doubles_(ctx, r->walk.rows, p->d, "a block of embeddings", &r->H)
               : OKRA_OK;
}

/* Rows first.. of a whole matrix, or the one block there is. */
static okra_mat_ part(double *whole, double *block, okra_int first, okra_int m,
                      okra_int cols)
{
    return okra_mat_of_(whole ? whole + first * cols : block, m, cols);
}

/* A prediction is made of finite numbers, or there is none. */
static okra_status check_finite(okra_mat_ W, okra_mat_ H, okra_int first)
{
    const okra_mat_ parts[] = {W, H};
    for (int k = 0; k < 2; k++) {
        okra_mat_ A = parts[k];
        for (okra_int i = 0; A.p && i < A.rows; i++) {
            for (okra_int j = 0; j < A.cols; j++) {
                REFUSE_IF(!isfinite(A.p[i * A.ld + j]), OKRA_ENUMERIC,
                          "the prediction for test input %lld has a %s of %g",
                          (long long)(first + i), k == 0 ? "weight" : "coordinate",
                          A.p[i * A.ld + j]);
            }
        }
    }
    return OKRA_OK;
}

/* What a decoder gave: candidates that there are, and distances that are numbers. */
static okra_status check_decoded(const okra_decoder_ *decoder,
                                 const okra_decoded_ *decoded, okra_int given,
                                 okra_int tests)
{
    okra_int count = decoded->proposals ? decoded->proposals->n : given;
    for (okra_int i = 0; i < tests * decoded->top; i++) {
        REFUSE_IF(
            decoded->index && (decoded->index[i] < -1 || decoded->index[i] >= count),
            OKRA_EINTERNAL, "decoder %s gave candidate %lld of %lld to test input %lld",
            decoder->name, (long long)decoded->index[i], (long long)count,
            (long long)(i / decoded->top));
        REFUSE_IF(decoded->distance && isnan(decoded->distance[i]), OKRA_ENUMERIC,
                  "the distance of what is predicted for test input %lld is "
                  "not a number",
                  (long long)(i / decoded->top));
    }
    return OKRA_OK;
}

static okra_status one_block(okra_context *ctx, run *r, okra_int first, okra_int m)
{
    okra_prediction *p = r->p;
    const okra_output_ *output = &r->model->training->output;
    bool embeds = !r->given && okra_model_form_(r->model) == OKRA_FORM_EMBEDDING;
    okra_mat_ W = part(p->weights, r->W, first, m, p->n);
    okra_mat_ H = part(p->embedding, r->H, first, m, p->d);
    if (embeds) {
        CHK(okra_batches_predict_(ctx, &r->walk, first, H));
    } else if (r->direct) {
        CHK(okra_batches_embed_(ctx, &r->walk, first, H));
    }
    if (W.p && r->given) {
        copy_given(r->given, first, W);
    } else if (W.p) {
        CHK(okra_batches_predict_(ctx, &r->walk, first, W));
    }
    CHK(check_finite(W, embeds || r->direct ? H : (okra_mat_){0}, first));
    okra_block_ block = {.first = first, .m = m};
    block.extra = okra_mat_of_(r->walk.extra, m, r->walk.extra_cols);
    if (embeds || r->direct) {
        block.H = H;
    } else {
        block.W = W;
        if (r->want_embedding) {
            CHK(okra_block_explicit_(ctx, output, &block, H));
        }
    }
    return r->decoder->block(ctx, r->state, &block);
}

static okra_status all_blocks(okra_context *ctx, run *r)
{
    okra_int tests = r->walk.tests, rows = r->walk.rows;
    okra_progress_(ctx, "predict", 0, tests);
    for (okra_int first = 0; first < tests; first += rows) {
        CHK(okra_cancelled_(ctx));
        CHK(one_block(ctx, r, first, OKRA_MIN_(rows, tests - first)));
        okra_progress_(ctx, "predict", OKRA_MIN_(first + rows, tests), tests);
    }
    return OKRA_OK;
}

/* Lengths of the test inputs, where inputs and outputs are sequences of equal lengths
 * pair by pair; else NULL. */
static okra_status aligned_lengths(const okra_training_ *t, const okra_data *x,
                                   okra_int **out)
{
    okra_int a = 0, b = 0, *lengths = NULL;
    for (okra_int i = 0; i < t->y->n; i++) {
        if (!okra_data_characters(t->x, i, &a) || !okra_data_characters(t->y, i, &b) ||
            a != b) {
            return OKRA_OK;
        }
    }
    MAKE(lengths, x->n);
    for (okra_int i = 0; i < x->n; i++) {
        if (!okra_data_characters(x, i, &lengths[i])) {
            okra_free_(lengths);
            return OKRA_OK; /* another kind of input, which the kernel will refuse */
        }
    }
    *out = lengths;
    return OKRA_OK;
}

/* Can the decoder make something of what the model predicts? */
static okra_status check_decoder(const run *r, const okra_predict_request *request)
{
    REFUSE_IF(r->output.criterion && !r->decoder->criterion, OKRA_EUNSUPPORTED,
              "decoder %s looks for what is nearest to a prediction, and method %s has a "
              "criterion of its own: expected the decoder optimum or candidates",
              r->decoder->name, r->model->method->name);
    REFUSE_IF(
        (request->index || request->window) && !r->decoder->indexes, OKRA_EUNSUPPORTED,
        "decoder %s takes no index and no window: expected candidates", r->decoder->name);
    REFUSE_IF(request->index && request->candidates, OKRA_EARG,
              "candidates are given twice: as a list and as an index");
    REFUSE_IF(
        r->output.map && !r->decoder->maps, OKRA_EUNSUPPORTED,
        "decoder %s needs weights over the training outputs, which an output kernel "
        "of low rank does not give",
        r->decoder->name);
    return OKRA_OK;
}

/* Do all processes predict the same? */
static okra_status same_request(const okra_context *ctx, const okra_model *model,
                                const okra_data *x, const okra_options *options,
                                const okra_data *candidates)
{
    if (!okra_context_processes_(ctx)) {
        return OKRA_OK;
    }
    uint64_t h = okra_mix_(OKRA_MIX_START_, model->json, strlen(model->json));
    h = okra_data_mix_(okra_data_mix_(h, x), candidates);
    return okra_context_same_(ctx, "model, data and options of a prediction",
                              okra_options_mix_(h, options));
}

static void run_clear(run *r)
{
    okra_decoder_close_(r->decoder, r->state);
    okra_prediction_free(r->p);
    okra_batches_close_(&r->walk);
    FREE(r->W, r->H);
}

/* NULL where none are given. */
static okra_status copy_ranges(const okra_int *given, okra_int n, okra_range_ **out)
{
    if (given) {
        MAKE(*out, n);
        memcpy(*out, given, (size_t)n * sizeof **out);
    }
    return OKRA_OK;
}

okra_status okra_predict(okra_context *context, const okra_model *model,
                         const okra_data *x, const okra_options *options,
                         const okra_predict_request *request, okra_prediction **out)
{
    okra_predict_request known = {OKRA_SIZED(okra_predict_request)};
    okra_predict_fields_ fields;
    OWNED okra_range_ *ranges = NULL;
    OWNED okra_int *lengths = NULL;
    OWNED double *unlearn = NULL;
    bool as_new = false;
    FREED_BY(okra_data_drop_) okra_data *aligned = NULL, *candidates = NULL;
    FREED_BY(okra_compact_forget_) okra_model whole = {0};
    FREED_BY(run_clear) run r = {.model = model};
    NOT_NULL(model, out);
    SIZED(request, &known);
    request = &known;
    r.given = known.given;
    REFUSE_IF(!x && !r.given, OKRA_EARG, "okra_predict: x is NULL");
    if (known.weights && model->dropped && !r.given) {
        CHK(okra_compact_whole_(context, model, &whole));
        r.model = model = &whole;
    }
    r.want_weights = request->weights;
    r.want_embedding = request->embedding;
    CHK(same_request(context, model, r.given ? r.given : x, options, known.candidates));
    CHK(x ? okra_data_align(context, x, model->training->x, &aligned) : OKRA_OK);
    x = aligned;
    okra_int tests = r.given ? r.given->n : x->n;
    if (known.candidates) {
        CHK(okra_data_align(context, known.candidates, model->training->y, &candidates));
        known.candidates = candidates;
    }
    CHK(okra_options_read(options, &okra_predict_table_, &fields));
    CHK(choose_space(context, &r));
    CHK(okra_candidates_as_new_(options, &as_new));
    CHK(r.given ? check_given(&r, x, request, as_new) : OKRA_OK);
    r.output.few = tests <= FEW * (1 + r.output.y->n / 1024);
    CHK(name_decoder(context, &r, options, request, &fields));
    CHK(okra_decoder_choose_(fields.decode, &r.decoder));
    CHK(okra_decoder_check_(options, r.decoder));
    CHK(check_request(model, request));
    okra_int count = request->index        ? okra_index_count(request->index)
                     : request->candidates ? request->candidates->n
                                           : r.output.y->n;
    if (okra_decoder_chooses_(r.decoder, options)) { /* there are no more of them */
        fields.top = OKRA_MIN_(fields.top, OKRA_MAX_(count, 1));
    }
    CHK(copy_ranges(request->ranges, tests, &ranges));
    CHK(x ? aligned_lengths(model->training, x, &lengths) : OKRA_OK);
    okra_decode_request_ decode = {.candidates = request->candidates,
                                   .index = request->index,
                                   .window = request->window,
                                   .ranges = ranges,
                                   .tests = tests,
                                   .top = fields.top,
                                   .lengths = lengths,
                                   .runner_up = request->confidence,
                                   .inputs = x,
                                   .argument = okra_decoder_argument_(fields.decode)};
    CHK(check_decoder(&r, request));
    if (as_new) {
        CHK(okra_unlearn_(context, model, &unlearn));
        decode.unlearn = unlearn;
    }
    CHK(okra_decoder_open_(context, r.decoder, &r.output, options, &decode, &r.state));
    ZMAKE(r.p, 1);
    CHK(prepare(context, &r, x, tests));
    CHK(all_blocks(context, &r));
    CHK(r.decoder->finish(context, r.state, &r.p->decoded));
    count = request->index ? okra_index_lines(request->index) : count;
    CHK(check_decoded(r.decoder, &r.p->decoded, count, tests));
    if (request->confidence) {
        CHK(confidence_of(context, model, x, &r.p->decoded, &r.p->confidence));
    }
    *out = TAKE(r.p);
    return OKRA_OK;
}

/* ---- what a prediction holds ---- */

void okra_prediction_free(okra_prediction *p)
{
    if (p) {
        okra_decoded_clear_(&p->decoded);
        FREE(p->weights, p->embedding, p->confidence, p);
    }
}

okra_int okra_prediction_count(const okra_prediction *p)
{
    return p ? p->tests : 0;
}

okra_status okra_predict_values(okra_context *context, const okra_model *model,
                                const double *x, okra_int m, okra_int ld, double *out)
{
    FREED_BY(okra_data_drop_) okra_data *inputs = NULL;
    FREED_BY(okra_prediction_drop_) okra_prediction *p = NULL;
    okra_int step = 0;
    NOT_NULL(model, x, out);
    okra_int d = model->training->y->d;
    REFUSE_IF(model->training->x->kind != OKRA_DENSE ||
                  model->training->y->kind != OKRA_DENSE,
              OKRA_EUNSUPPORTED,
              "the model maps %s to %s: okra_predict takes and gives what is not plain "
              "numbers",
              okra_kind_name(model->training->x->kind),
              okra_kind_name(model->training->y->kind));
    CHK(okra_data_dense(x, m, model->training->x->d, ld, &inputs));
    CHK(okra_predict(context, model, inputs, NULL, NULL, &p));
    const double *values = okra_data_values(okra_prediction_objects(p), &step);
    REFUSE_IF(!values, OKRA_EUNSUPPORTED, "the model's decoder gives no vectors");
    for (okra_int i = 0; i < m; i++) {
        memcpy(out + i * d, values + i * step, (size_t)d * sizeof *out);
    }
    return OKRA_OK;
}

const okra_data *okra_prediction_objects(const okra_prediction *p)
{
    return p ? p->decoded.objects : NULL;
}

const double *okra_prediction_weights(const okra_prediction *p, okra_int *rows,
                                      okra_int *cols)
{
    GIVE(rows, p && p->weights ? p->tests : 0);
    GIVE(cols, p && p->weights ? p->n : 0);
    return p ? p->weights : NULL;
}

const double *okra_prediction_embedding(const okra_prediction *p, okra_int *rows,
                                        okra_int *cols)
{
    GIVE(rows, p && p->embedding ? p->tests : 0);
    GIVE(cols, p && p->embedding ? p->d : 0);
    return p ? p->embedding : NULL;
}

const double *okra_prediction_confidence(const okra_prediction *p, okra_int *rows)
{
    GIVE(rows, p && p->confidence ? p->tests : 0);
    return p ? p->confidence : NULL;
}

const okra_int *okra_prediction_index(const okra_prediction *p, okra_int *top)
{
    GIVE(top, p ? p->decoded.top : 0);
    return p ? p->decoded.index : NULL;
}

const double *okra_prediction_distance(const okra_prediction *p, okra_int *top)
{
    GIVE(top, p ? p->decoded.top : 0);
    return p ? p->decoded.distance : NULL;
}

okra_int okra_prediction_compared(const okra_prediction *p, okra_int i)
{
    return p && p->decoded.compared && i >= 0 && i < p->tests ? p->decoded.compared[i]
                                                              : 0;
}

double okra_prediction_error(const okra_prediction *p)
{
    return p ? p->decoded.error : 0;
}

const okra_data *okra_prediction_proposals(const okra_prediction *p)
{
    return p ? p->decoded.proposals : NULL;
}

const char *okra_prediction_report_name(const okra_prediction *p, int column)
{
    static const char *const optimum[OKRA_REPORT_COLUMNS] = {"criterion", "evaluations",
                                                             "gradient", "converged"};
    if (!p || !p->decoded.report || column < 0 || column >= OKRA_REPORT_COLUMNS) {
        return NULL;
    }
    return p->decoded.report_names ? p->decoded.report_names[column] : optimum[column];
}

const double *okra_prediction_report(const okra_prediction *p, okra_int *rows)
{
    GIVE(rows, p && p->decoded.report ? p->tests : 0);
    return p ? p->decoded.report : NULL;
}
