/*
 * score.c: from predictions of left-out pairs to the value of the metric.
 * feature-loss   |phi(y) - h|^2 in the feature space of the output kernel (relative-loss:
 *                the same of the outputs of select.c)
 * else           the predictions are decoded and compared by okra_score
 *
 * Decoding to the training outputs: the output of a left-out pair is no candidate; in
 * closed form the two nearest are found and the pair itself is struck out.
 */
#include "select/select.h"
#include "okra/program.h"
#include "okra/more/leave.h"
#include "okra/more/score.h"
#include "okra/more/traits.h"
#include "decode/sets/counts.h"

/* ---- where scores of labels are cut: `labels:threshold=auto`.
 *
 * Ridge of rows of 0 and 1 gives each label a score h_j, about its probability. The set
 * {j : h_j > 1/2} has the fewest wrong labels but is often empty where labels are rare;
 * the metric that judges sets (F1 of sets or of all labels together, Hamming) has its own
 * best cut t, which left-out scores tell: the value of the metric at t = 1/200, 2/200,
 * ... for all left-out pairs at once, from counts of each row,
 *     k_i(t) labels above t, of which r_i(t) are right, s_i the size of the true set:
 *     F1 of sets  mean_i 2 r_i / (k_i + s_i);  of labels  2 sum r_i / sum (k_i + s_i);
 *     Hamming     mean_i (k_i + s_i - 2 r_i) / d.
 * Of equal values the t nearest 1/2. One cut serves all labels: cuts of single labels
 * follow the noise of rare ones. `nonempty`: a row without labels above t has its best.
 * Cost: n (d + 200) for a setting.
 */

#define AUTO "threshold=auto"

double okra_cut_threshold_(int b)
{
    return (b + 1) / 200.0;
}

/* How many cuts are below a score. */
static int cuts_below(double score)
{
    int q = score <= 0 ? 0 : score >= 1 ? OKRA_CUTS_ : (int)(score * 200);
    q = OKRA_MIN_(q, OKRA_CUTS_);
    while (q > 0 && okra_cut_threshold_(q - 1) >= score) {
        q--;
    }
    while (q < OKRA_CUTS_ && okra_cut_threshold_(q) < score) {
        q++;
    }
    return q;
}

static okra_status cut_read(const char *decode, const char *metric, okra_cut_ *out)
{
    FREED_BY(okra_spec_clear_) okra_spec_ s = {NULL, NULL, NULL};
    okra_cut_ cut = {.wanted = strstr(decode, AUTO) != NULL};
    if (cut.wanted && !okra_metric_has(metric, OKRA_METRIC_UNDECODED)) {
        CHK(okra_spec_read_(metric, &s));
        bool f1 = strcmp(s.metric->name, "f1") == 0;
        const char *average = f1 ? okra_options_get(s.options, "average") : "";
        cut.hamming = strcmp(s.metric->name, "hamming") == 0;
        cut.micro = strcmp(average, "micro") == 0;
        REFUSE_IF(!cut.hamming && !cut.micro && strcmp(average, "example") != 0,
                  OKRA_EARG,
                  "decoder labels: " AUTO " is chosen by f1:average=example, "
                  "f1:average=micro or hamming; metric is '%s'",
                  metric);
        cut.empty = f1 ? okra_strtod_(okra_options_get(s.options, "empty"), NULL) : 0;
        cut.judges = true;
    }
    cut.nonempty = strstr(decode, "nonempty=yes") != NULL;
    *out = cut;
    return OKRA_OK;
}

okra_status okra_cut_text_(const char *decode, double threshold, char **out)
{
    const char *at = strstr(decode, AUTO);
    *out = at ? okra_format_("%.*sthreshold=%.4g%s", (int)(at - decode), decode,
                             isnan(threshold) ? 0.5 : threshold, at + strlen(AUTO))
              : okra_strdup_(decode);
    return *out ? OKRA_OK : OKRA_EMEM;
}

/* ---- counts ---- */

static double value_of(const okra_cut_ *cut, double right, double sizes, okra_int d)
{
    return cut->hamming ? (sizes - 2 * right) / (double)d
           : sizes > 0  ? 2 * right / sizes
                        : cut->empty;
}

/* One row: scores h, the `size` members of the true set marked in `in`. */
static void add_row(const okra_cut_ *cut, okra_int d, const double *h, const bool *in,
                    double size, double weight, okra_cut_sums_ *s)
{
    int chosen[OKRA_CUTS_ + 1] = {0}, right[OKRA_CUTS_ + 1] = {0};
    okra_int top = 0;
    for (okra_int j = 0; j < d; j++) {
        int q = cuts_below(h[j]);
        chosen[q]++;
        right[q] += in[j];
        top = h[j] > h[top] ? j : top;
    }
    double k = 0, r = 0;
    s->weight += weight;
    for (int b = OKRA_CUTS_ - 1; b >= 0; b--) {
        k += chosen[b + 1];
        r += right[b + 1];
        bool alone = cut->nonempty && k == 0;
        double sizes = size + (alone ? 1 : k), hits = alone ? in[top] : r;
        double value = value_of(cut, hits, sizes, d);
        s->sum[b] += weight * value;
        s->square[b] += weight * value * value;
        s->right[b] += weight * hits;
        s->sizes[b] += weight * sizes;
    }
}

double okra_cut_value_(const okra_cut_ *cut, const okra_cut_sums_ *s, int b)
{
    return cut->micro ? value_of(cut, s->right[b], s->sizes[b], 1)
                      : s->sum[b] / s->weight;
}

double okra_cut_error_(const okra_cut_ *cut, const okra_cut_sums_ *s, int b)
{
    double mean = s->sum[b] / s->weight, n = (double)s->rows;
    return cut->micro || s->rows < 2
               ? (double)NAN
               : sqrt(fmax(0, s->square[b] / s->weight - mean * mean) / (n - 1));
}

int okra_cut_best_(const okra_cut_ *cut, const okra_cut_sums_ *s)
{
    int best = OKRA_CUTS_ / 2;
    for (int b = 0; b < OKRA_CUTS_; b++) {
        double gain = okra_cut_value_(cut, s, b) - okra_cut_value_(cut, s, best);
        gain = cut->hamming ? -gain : gain;
        bool nearer =
            fabs(okra_cut_threshold_(b) - 0.5) < fabs(okra_cut_threshold_(best) - 0.5);
        best = gain > 1e-12 || (gain > -1e-12 && nearer) ? b : best;
    }
    return best;
}

void okra_cut_merge_(const okra_cut_sums_ *from, okra_cut_sums_ *to)
{
    to->rows += from->rows;
    to->weight += from->weight;
    for (int b = 0; b < OKRA_CUTS_; b++) {
        to->sum[b] += from->sum[b];
        to->square[b] += from->square[b];
        to->right[b] += from->right[b];
        to->sizes[b] += from->sizes[b];
    }
}

okra_status okra_cut_block_(okra_context *ctx, const okra_cut_ *cut,
                            const okra_output_ *output, const okra_block_ *block,
                            const okra_data *truth, const okra_int *part,
                            okra_cut_sums_ *sums)
{
    OWNED double *H = NULL;
    OWNED bool *in = NULL;
    OWNED int32_t *members = NULL;
    okra_int d = okra_data_width(truth);
    double scale;
    bool dense = output->features != NULL;
    REFUSE_IF(!dense && !okra_sparse_outputs_wanted_(output, &scale), OKRA_EARG,
              "decoder labels: " AUTO " cuts scores, which the linear kernel alone has");
    CHK(okra_doubles_(ctx, dense ? block->m : 1, d, "explicit predictions", &H));
    MAKE(in, d);
    MAKE(members, d + 1);
    if (dense) {
        CHK(okra_block_explicit_(ctx, output, block, okra_mat_of_(H, block->m, d)));
    }
    for (okra_int r = 0; r < block->m; r++) {
        okra_cut_sums_ *s = &sums[part ? part[r] : 0];
        okra_int size = okra_sets_members_(truth, r, members);
        memset(in, 0, (size_t)d * sizeof *in);
        for (okra_int k = 0; k < size; k++) {
            in[members[k]] = true;
        }
        if (!dense) {
            okra_sparse_outputs_combine_(output->y, block->W.p + r * block->W.ld, H);
        }
        add_row(cut, d, dense ? H + r * d : H, in, (double)size, okra_weight_(truth, r),
                s);
        s->rows++;
    }
    return OKRA_OK;
}

okra_status okra_scorer_create_(const char *metric, const okra_pairs_ *source,
                                const okra_space_ *space, okra_scorer_ *out)
{
    okra_scorer_ s = {.metric = metric,
                      .feature = okra_metric_has(metric, OKRA_METRIC_UNDECODED),
                      .loss = true,
                      .decoder = space->decoder,
                      .lists = okra_metric_has(metric, OKRA_METRIC_LISTS),
                      .candidates = source->request->candidates,
                      .source = source};
    REFUSE_IF(source->request->window && !s.lists, OKRA_EARG,
              "a window says which candidates are put in order, and metric %s puts none: "
              "expected mrr or hit-rate",
              metric);
    if (source->links) {
        s.feature = s.loss = false;
        REFUSE_IF(!okra_metric_has(metric, OKRA_METRIC_LINKS), OKRA_EARG,
                  "metric is '%s', expected auc-roc or auc-pr: links are ranked", metric);
    } else if (!s.feature) {
        okra_status st = okra_metric_is_loss(metric, &s.loss);
        if (st != OKRA_OK) {
            return st;
        }
        REFUSE_IF(s.decoder->nothing, OKRA_EARG,
                  "metric %s compares decoded objects, but decode is none", metric);
        REFUSE_IF(s.lists && !s.decoder->indexes, OKRA_EARG,
                  "metric %s puts candidates in order, but decode is %s: expected "
                  "candidates",
                  metric, s.decoder->name);
    } else if (space->ky_varies) {
        return okra_fail_(
            OKRA_EARG,
            "ky is a grid (or learned by twin), and the metric feature-loss is measured "
            "in the feature space "
            "of ky itself: its unit changes from cell to cell (any prediction looks good "
            "under a kernel that takes all outputs for equal), so the cells cannot be "
            "compared. Fix what is measured with metric, e.g. rbf-loss:sigma=V, mse or "
            "kernel-loss:kernel=EXPR");
    }
    CHK(cut_read(space->decode, metric, &s.cut));
    *out = s;
    return OKRA_OK;
}

/* Losses in feature space; weights: of the pairs, or NULL. */
static okra_status feature(okra_context *ctx, const okra_output_ *output,
                           const okra_data *truth, const double *weights,
                           const okra_block_ *block, double *value, double *each)
{
    FREED_BY(okra_feature_loss_drop_) okra_feature_loss_ *loss = NULL;
    CHK(okra_feature_loss_create_(ctx, output, truth, &loss));
    CHK(okra_feature_loss_block_(ctx, loss, block, each));
    *value = okra_weighted_mean_(block->m, each, weights);
    return OKRA_OK;
}

/* ---- where the truth stands among candidates, of predictions that were left out.
 *
 * The candidates are those of the request, or the outputs of the pairs that are left out
 * together: the model has learned from none of them, as from none of the candidates of a
 * new input. Leave-one-out has all outputs, of which the truth alone was not learned
 * from; so it comes out worse than among new candidates.
 *
 * Candidates that are the same object (a molecule of several spectra) count once. A
 * window of the request says which fit a pair; the truth is always one that was asked
 * for, and counts as not found where the window leaves it out.
 *
 * Cost: the decoder `candidates` of all of them.
 */

/* Predictions whose candidates are put in order. */
typedef struct ranked {
    const okra_output_ *output;
    const okra_block_ *block;
    const okra_model *model; /* in place of the two, or NULL */
    const okra_data *inputs, *truth;
    const okra_data *own;   /* the candidates where the request has none: the truth, as
                               the output knows it */
    const okra_int *number; /* of the truth, as okra_view_ has it */
} ranked;

okra_status okra_ranks_number_(okra_pairs_ *source)
{
    const okra_data *candidates = source->request->candidates;
    OWNED okra_int *same = NULL, *of = NULL;
    if (source->same) {
        return OKRA_OK;
    }
    MAKE(same, source->n);
    MAKE(of, candidates ? candidates->n : 0);
    if (candidates) {
        CHK(okra_candidates_match(candidates, candidates, of));
    }
    CHK(okra_candidates_match(source->y, candidates ? candidates : source->y, same));
    source->same = TAKE(same);
    source->of = TAKE(of);
    return OKRA_OK;
}

okra_status okra_ranks_groups_(const okra_data *y, okra_data **out, okra_int *count)
{
    OWNED okra_int *same = NULL;
    *count = 0;
    MAKE(same, y->n);
    CHK(okra_candidates_match(y, y, same));
    for (okra_int i = 0; i < y->n; i++) {
        *count += same[i] == i;
    }
    return okra_data_labels(same, y->n, NULL, y->n, out);
}

/* Every list by the numbers of different objects, each once; -1 ends it. */
static okra_status tell_apart(okra_int *lists, okra_int rows, okra_int width,
                              const okra_int *number, okra_int numbers)
{
    OWNED okra_int *seen = NULL;
    MAKE(seen, numbers);
    memset(seen, -1, (size_t)numbers * sizeof *seen);
    for (okra_int i = 0; i < rows; i++) {
        okra_int *list = lists + i * width, used = 0;
        for (okra_int k = 0; k < width && list[k] >= 0; k++) {
            okra_int one = number[list[k]];
            if (seen[one] != i) {
                seen[one] = i;
                list[used++] = one;
            }
        }
        for (; used < width; used++) {
            list[used] = -1;
        }
    }
    return OKRA_OK;
}

/* All candidates of every left-out pair, best first. */
static okra_status order_all(okra_context *ctx, const okra_scorer_ *s, const ranked *r,
                             const okra_data *list, okra_decoded_ *out)
{
    const okra_window *window = s->source->request->window;
    okra_decode_request_ asked = {.candidates = list,
                                  .window = window,
                                  .tests = r->block->m,
                                  .top = list->n,
                                  .inputs = r->inputs};
    okra_predict_request request = {OKRA_SIZED(okra_predict_request), .candidates = list,
                                    .window = window};
    FREED_BY(okra_prediction_drop_) okra_prediction *p = NULL;
    FREED_BY(okra_options_drop_) okra_options *all = NULL;
    char top[32];
    if (!r->model) {
        return okra_decode_block_(ctx, s->decoder, r->output, s->predict, &asked,
                                  r->block, out);
    }
    CHK(okra_options_copy(s->predict, &all));
    snprintf(top, sizeof top, "%lld", (long long)list->n);
    CHK(okra_options_set(all, "top", top));
    CHK(okra_predict(ctx, r->model, r->inputs, all, &request, &p));
    *out = TAKE(p->decoded);
    return OKRA_OK;
}

static okra_status ranks_value(okra_context *ctx, const okra_scorer_ *s, const ranked *r,
                               double *value, double *each)
{
    FREED_BY(okra_decoded_clear_) okra_decoded_ decoded = {0};
    const okra_data *list = s->candidates ? s->candidates : r->own;
    okra_int m = r->truth->n;
    CHK(order_all(ctx, s, r, list, &decoded));
    CHK(tell_apart(decoded.index, m, decoded.top,
                   s->candidates ? s->source->of : r->number,
                   s->candidates ? list->n : s->source->n));
    CHK(okra_score_lists(ctx, s->metric, r->number, decoded.index, m, decoded.top, value,
                         each));
    *value = okra_weighted_mean_(m, each, r->truth->weights);
    return OKRA_OK;
}

static okra_status decode(okra_context *ctx, const okra_scorer_ *s,
                          const okra_view_ *view, const okra_data *inputs,
                          const okra_block_ *block, okra_int top, okra_decoded_ *out)
{
    okra_decode_request_ request = {
        .candidates = s->candidates, .tests = block->m, .top = top, .inputs = inputs};
    request.argument = okra_decoder_argument_(okra_options_get(s->predict, "decode"));
    return okra_decode_block_(ctx, s->decoder, &view->output, s->predict, &request, block,
                              out);
}

/* The prediction of a model itself, decoded by the options. */
static okra_status model_objects(okra_context *ctx, const okra_scorer_ *s,
                                 const okra_view_ *view, const okra_model *model,
                                 okra_data **out)
{
    FREED_BY(okra_prediction_drop_) okra_prediction *p = NULL;
    okra_predict_request request = {OKRA_SIZED(okra_predict_request),
                                    .candidates = s->candidates};
    CHK(okra_predict(ctx, model, view->test_x, s->predict, &request, &p));
    *out = TAKE(p->decoded.objects);
    return OKRA_OK;
}

okra_status okra_scorer_objects_(okra_context *ctx, const okra_scorer_ *s,
                                 const okra_view_ *view, const okra_left_out_ *left_out,
                                 okra_data **out)
{
    FREED_BY(okra_decoded_clear_) okra_decoded_ decoded = {0};
    const okra_block_ *block = &left_out->block;
    REFUSE_IF(s->lists, OKRA_EUNSUPPORTED,
              "metric %s: these settings have no closed form of leave-one-out: expected "
              "cv kfold:K",
              s->metric);
    if (left_out->model) {
        return model_objects(ctx, s, view, left_out->model, out);
    }
    CHK(decode(ctx, s, view, view->test_x, block, 1, &decoded));
    if (view->gram_y) {
        CHK(okra_data_take(view->training->y, decoded.index, block->m, out));
    } else {
        *out = TAKE(decoded.objects);
    }
    return OKRA_OK;
}

okra_status okra_scorer_feature_(okra_context *ctx, const okra_view_ *view,
                                 const okra_left_out_ *left_out, double *value,
                                 double *each)
{
    return left_out->model ? okra_model_loss(ctx, left_out->model, view->test_x,
                                             view->truth, value, each)
                           : feature(ctx, &view->output, view->truth_rows,
                                     view->truth->weights, &left_out->block, value, each);
}

/* Scores of left-out pairs, from the block or the model. */
static okra_status count_cuts(okra_context *ctx, const okra_scorer_ *s,
                              const okra_view_ *view, const okra_left_out_ *left_out,
                              okra_cut_sums_ *sums)
{
    FREED_BY(okra_prediction_drop_) okra_prediction *p = NULL;
    FREED_BY(okra_options_drop_) okra_options *none = NULL;
    okra_predict_request request = {OKRA_SIZED(okra_predict_request), .embedding = true};
    okra_block_ block = left_out->block;
    const okra_output_ *output = &view->output;
    if (left_out->model) {
        output = &left_out->model->training->output;
        CHK(okra_predict_options(&none));
        CHK(okra_options_set(none, "decode", "none"));
        CHK(okra_predict(ctx, left_out->model, view->test_x, none, &request, &p));
        block =
            (okra_block_){.m = p->tests, .H = okra_mat_of_(p->embedding, p->tests, p->d)};
    }
    return okra_cut_block_(ctx, &s->cut, output, &block, view->truth, NULL, sums);
}

okra_status okra_scorer_cut_(okra_context *ctx, const okra_scorer_ *s,
                             const okra_view_ *view, const okra_left_out_ *left_out,
                             double *value, double *threshold)
{
    OWNED okra_cut_sums_ *sums = NULL;
    ZMAKE(sums, 1);
    CHK(count_cuts(ctx, s, view, left_out, sums));
    int best = okra_cut_best_(&s->cut, sums);
    *value = okra_cut_value_(&s->cut, sums, best);
    *threshold = okra_cut_threshold_(best);
    return OKRA_OK;
}

okra_status okra_scorer_value_(okra_context *ctx, const okra_scorer_ *s,
                               const okra_view_ *view, const okra_left_out_ *left_out,
                               double *value, double *each)
{
    FREED_BY(okra_data_drop_) okra_data *objects = NULL;
    if (s->feature) {
        return okra_scorer_feature_(ctx, view, left_out, value, each);
    }
    if (s->lists) {
        ranked list = {.output = &view->output,
                       .block = &left_out->block,
                       .model = left_out->model,
                       .inputs = view->test_x,
                       .truth = view->truth,
                       .own = left_out->model ? view->truth : view->truth_rows,
                       .number = view->number};
        return ranks_value(ctx, s, &list, value, each);
    }
    CHK(okra_scorer_objects_(ctx, s, view, left_out, &objects));
    return okra_score(ctx, s->metric, view->truth, objects, value, NULL, NULL);
}

okra_status okra_scorer_left_(okra_context *ctx, const okra_scorer_ *s,
                              const okra_view_ *view, const okra_block_ *block,
                              double *value, double *each, bool *has_each)
{
    FREED_BY(okra_decoded_clear_) okra_decoded_ decoded = {0};
    FREED_BY(okra_data_drop_) okra_data *objects = NULL;
    OWNED okra_int *nearest = NULL;
    const okra_data *y = view->training->y;
    if (s->feature) {
        *has_each = true;
        return feature(ctx, &view->output, view->output.y, y->weights, block, value,
                       each);
    }
    if (s->lists) {
        ranked list = {.output = &view->output,
                       .block = block,
                       .inputs = view->training->x,
                       .truth = y,
                       .own = view->output.y,
                       .number = view->number};
        *has_each = true;
        return ranks_value(ctx, s, &list, value, each);
    }
    bool own = !s->candidates && okra_decoder_chooses_(s->decoder, s->predict);
    CHK(decode(ctx, s, view, view->training->x, block, own ? 2 : 1, &decoded));
    if (own) {
        MAKE(nearest, block->m);
        for (okra_int i = 0; i < block->m; i++) {
            const okra_int *two = decoded.index + 2 * i;
            nearest[i] = two[0] == i ? two[1] : two[0];
            REFUSE_IF(nearest[i] < 0, OKRA_EARG,
                      "candidates: without pair %lld there is no training output that "
                      "could be chosen",
                      (long long)i);
        }
        CHK(okra_data_take(y, nearest, block->m, &objects));
    }
    return okra_score(ctx, s->metric, y, objects ? objects : decoded.objects, value, each,
                      has_each);
}
