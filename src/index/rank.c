/*
 * rank.c: the candidates of an index nearest to predictions.
 *
 * The squared distance of candidate y to the prediction sum_i w_i phi(y_i) is
 *     l(y,y) - 2 sum_i w_i l(y_i, y) + w'Lw.
 * Queries are taken by mass, BATCH at a time; the candidates that fit one of them are
 * runs of rows of each shard, walked in panels. A value l(y_i, y) serves every query of
 * the batch: panels are multiplied by the weights of the batch. Of low rank all rows are
 * measured by a few numbers first, and the best `shortlist` of each query exactly
 * (scan.c). Ties go to the lower number. Same bits whatever the number of threads.
 */
#include "index/rank.h"

#include "decode/decode.h"
#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 16, PANEL = 2048, TOP_MOST = 1000000, SHORTLIST = 1000 };
/* A character of a SMILES may become this many bytes. */
enum { ATOM_BYTES = 128 };

OKRA_SHARED_FREES_(okra_ranked_free, okra_ranked, it->index, it->distance, it->compared)

const okra_int *okra_ranked_index(const okra_ranked *r, okra_int *tests, okra_int *top)
{
    GIVE(tests, r ? r->tests : 0);
    GIVE(top, r ? r->top : 0);
    return r ? r->index : NULL;
}

const double *okra_ranked_distance(const okra_ranked *r)
{
    return r ? r->distance : NULL;
}

okra_int okra_ranked_compared(const okra_ranked *r, okra_int i)
{
    return r && i >= 0 && i < r->tests ? r->compared[i] : 0;
}

double okra_ranked_error(const okra_ranked *r)
{
    return r ? r->error : 0;
}

/* ---- the best of a query ---- */

static void offer(okra_best_ *b, okra_int index, double distance)
{
    okra_int k = b->count;
    if (k == b->top && (distance > b->distance[k - 1] ||
                        (distance == b->distance[k - 1] && index > b->index[k - 1]))) {
        return;
    }
    k = k < b->top ? b->count++ : k - 1;
    while (k > 0 && (b->distance[k - 1] > distance ||
                     (b->distance[k - 1] == distance && b->index[k - 1] > index))) {
        b->distance[k] = b->distance[k - 1];
        b->index[k] = b->index[k - 1];
        k--;
    }
    b->distance[k] = distance;
    b->index[k] = index;
}

void okra_ranking_offer_(const okra_ranking_ *r, okra_int query, okra_int index,
                         double self, double inner)
{
    double d = self - 2 * inner + r->norm[query];
    /* A molecule without features is near to nothing; vectors may be 0, but not so large
     * that nothing can be said of them. */
    if (r->index->width > 0 ? isfinite(d) : self > 0) {
        offer(&r->best[query], index, fmax(d, 0));
    }
}

/* ---- measuring ---- */

okra_status okra_shard_molecules_(okra_context *ctx, const okra_shard_ *s,
                                  const okra_int *rows, okra_int first, okra_int count,
                                  okra_data **out)
{
    okra_status st = OKRA_OK;
    char **texts = NULL;
    okra_int length = 0;
    double all = 0;
    for (okra_int k = 0; k < count; k++) { /* ends of rows may tell of the same bytes */
        (void)okra_shard_text_(s, rows ? rows[k] : first + k, &length);
        all += (double)length;
    }
    TRY(okra_budget_ask_(ctx, ATOM_BYTES * all, "%lld candidates", (long long)count));
    ZALLOC(texts, count);
    for (okra_int k = 0; k < count; k++) {
        const char *text = okra_shard_text_(s, rows ? rows[k] : first + k, &length);
        texts[k] = okra_strndup_(text, (size_t)length);
        if (!texts[k]) {
            st = OKRA_EMEM;
            goto done;
        }
    }
    TRY(okra_data_smiles(ctx, (const char *const *)texts, count, out));
done:
    for (okra_int k = 0; texts && k < count; k++) {
        okra_free_(texts[k]);
    }
    okra_free_(texts);
    return st;
}

okra_status okra_shard_data_(okra_context *ctx, const okra_bit_kernel_ *bits,
                             bool vectors, const okra_shard_ *s, const okra_int *rows,
                             okra_int first, okra_int count, okra_data **out)
{
    return bits      ? okra_shard_features_(ctx, bits, s, rows, first, count, out)
           : vectors ? okra_shard_vectors_(s, rows, first, count, out)
                     : okra_shard_molecules_(ctx, s, rows, first, count, out);
}

okra_status okra_ranking_measure_(const okra_ranking_ *r, const okra_shard_ *s,
                                  const okra_int *rows, okra_int first, okra_int count,
                                  okra_mat_ W, double *G, double *self)
{
    FREED_BY(okra_data_drop_) okra_data *data = NULL;
    FREED_BY(okra_other_drop_) okra_other_ *other = NULL;
    OWNED double *L = NULL;
    okra_int n = okra_bound_count_(r->bound);
    CHK(okra_shard_data_(r->ctx, r->bits ? &r->kernel : NULL, r->index->width > 0, s,
                         rows, first, count, &data));
    CHK(okra_other_create_(r->ctx, r->bound, data, &other));
    CHK(okra_other_diagonal_(r->ctx, r->bound, other, self));
    CHK(okra_doubles_(r->ctx, count, n, "kernel values of candidates", &L));
    CHK(okra_other_cross_(r->ctx, r->bound, other, 0, okra_mat_of_(L, count, n)));
    return okra_gemm_(r->ctx, false, true, 1, W, okra_mat_of_(L, count, n), 0,
                      okra_mat_of_(G, W.rows, count));
}

/* Which of rows first..first+count-1 fit a query of the batch; how many. */
static okra_int fitting(const okra_ranking_ *r, const okra_shard_ *s,
                        const okra_int *query, okra_int m, okra_int first, okra_int count,
                        okra_int *rows)
{
    okra_int used = 0;
    for (okra_int c = first; c < first + count; c++) {
        bool fits = !r->window.used;
        for (okra_int k = 0; !fits && k < m; k++) {
            fits = okra_window_fits_(&r->window, query[k], s, c);
        }
        rows[used] = c;
        used += fits;
    }
    return used;
}

/* Rows begin..end of one shard for the queries of a batch, each with those that fit. */
static okra_status run_of_rows(const okra_ranking_ *r, int shard, const okra_int *query,
                               okra_int m, okra_int begin, okra_int end)
{
    const okra_shard_ *s = &r->index->shard[shard];
    okra_int n = r->n, rows[PANEL];
    OWNED double *G = NULL, *self = NULL, *W = NULL;
    MAKE(G, m * PANEL);
    MAKE(self, PANEL);
    MAKE(W, m * n);
    for (okra_int k = 0; k < m; k++) {
        memcpy(W + k * n, r->W + query[k] * n, (size_t)n * sizeof *W);
    }
    for (okra_int first = begin; first < end; first += PANEL) {
        okra_int panel = OKRA_MIN_(PANEL, end - first);
        okra_int count = fitting(r, s, query, m, first, panel, rows);
        CHK(okra_cancelled_(r->ctx));
        if (count == 0) {
            continue;
        }
        CHK(okra_ranking_measure_(r, s, count < panel ? rows : NULL, first, count,
                                  okra_mat_of_(W, m, n), G, self));
        for (okra_int k = 0; k < m; k++) {
            okra_int q = query[k];
            for (okra_int c = 0; c < count; c++) {
                if (!okra_window_fits_(&r->window, q, s, rows[c])) {
                    continue;
                }
                r->compared[q]++;
                okra_ranking_offer_(r, q, r->index->first[shard] + rows[c], self[c],
                                    G[k * count + c]);
            }
        }
    }
    return OKRA_OK;
}

/* All shards for a batch; rows that fit no query of it between two that do are skipped
 * where there are many. */
static okra_status one_batch(const okra_ranking_ *r, const okra_int *query, okra_int m)
{
    for (int s = 0; s < r->index->shards; s++) {
        okra_int open = 0, from = 0, to = 0;
        for (okra_int k = 0; k < m; k++) { /* queries ascend by mass, so do their rows */
            okra_int begin, end;
            okra_window_rows_(&r->window, query[k], &r->index->shard[s], &begin, &end);
            if (k > 0 && begin > to) {
                CHK(run_of_rows(r, s, query + open, k - open, from, to));
                open = k;
            }
            from = k == open ? begin : OKRA_MIN_(from, begin);
            to = k == open ? end : OKRA_MAX_(to, end);
        }
        CHK(run_of_rows(r, s, query + open, m - open, from, to));
    }
    return OKRA_OK;
}

/* ---- preparing ---- */

typedef struct by_mass {
    double mass;
    okra_int query;
} by_mass;

static int compare(const void *a, const void *b)
{
    const by_mass *x = a, *y = b;
    ORDER_BY(x->mass, y->mass);
    return (x->query > y->query) - (x->query < y->query);
}

static okra_status exact(const okra_ranking_ *r)
{
    okra_int tests = r->tests, batch[BATCH];
    OWNED by_mass *order = NULL;
    MAKE(order, tests);
    for (okra_int i = 0; i < tests; i++) {
        order[i] = (by_mass){r->window.used ? r->window.low[i] : 0, i};
    }
    if (tests > 0) {
        qsort(order, (size_t)tests, sizeof *order, compare);
    }
    for (okra_int first = 0; first < tests; first += BATCH) {
        okra_int m = OKRA_MIN_(BATCH, tests - first);
        for (okra_int k = 0; k < m; k++) {
            batch[k] = order[first + k].query;
        }
        CHK(one_batch(r, batch, m));
        okra_progress_(r->ctx, "queries", first + m, tests);
    }
    return OKRA_OK;
}

/* Models that predict h itself, under a linear kernel of vectors: h = sum_j h_j e_j, so
 * the unit vectors stand for the training outputs, and the coordinates of h for weights.
 */
static okra_status bind_units(okra_ranking_ *r)
{
    okra_int d = r->index->width;
    OWNED double *units = NULL;
    CHK(okra_doubles_(r->ctx, d, d, "unit vectors", &units));
    for (okra_int j = 0; j < d * d; j++) {
        units[j] = j % (d + 1) == 0;
    }
    CHK(okra_data_adopt_dense_(&units, d, d, "unit vectors", &r->outputs));
    CHK(okra_bound_create_(r->ctx, r->model->training->ky, r->outputs, &r->own));
    r->bound = r->own;
    return OKRA_OK;
}

/* Squared norms of the predictions w'Lw. */
static okra_status norms(okra_ranking_ *r)
{
    okra_output_ output = r->model->training->output;
    FREED_BY(okra_panels_drop_) okra_panels_ *training = NULL;
    MAKE(r->norm, r->tests);
    if (!r->embedded) {
        CHK(okra_panels_create_(r->ctx, &output, NULL, &training));
        return okra_panels_norms_(r->ctx, training, false,
                                  okra_mat_of_(r->W, r->tests, r->n), r->norm);
    }
    for (okra_int i = 0; i < r->tests; i++) {
        r->norm[i] = 0;
        for (okra_int j = 0; j < r->n; j++) {
            double h = r->W[i * r->n + j];
            r->norm[i] += output.feature_scale * h * h;
        }
    }
    return OKRA_OK;
}

/* Weights of the queries and w'Lw. */
static okra_status weigh(okra_ranking_ *r, const okra_data *x)
{
    FREED_BY(okra_options_drop_) okra_options *options = NULL;
    FREED_BY(okra_prediction_drop_) okra_prediction *p = NULL;
    okra_predict_request request = {OKRA_SIZED(okra_predict_request),
                                    .weights = !r->embedded, .embedding = r->embedded};
    okra_int rows = 0, n = 0;
    CHK(okra_predict_options(&options));
    CHK(okra_options_set(options, "decode", "none"));
    CHK(okra_predict(r->ctx, r->model, x, options, &request, &p));
    const double *W = r->embedded ? okra_prediction_embedding(p, &rows, &n)
                                  : okra_prediction_weights(p, &rows, &n);
    CHK(okra_doubles_(r->ctx, rows, n, "the weights of queries", &r->W));
    memcpy(r->W, W, (size_t)(rows * n) * sizeof *W);
    r->n = n;
    return norms(r);
}

static okra_status check_model(const okra_ranking_ *r)
{
    const okra_output_ *o = &r->model->training->output;
    const okra_data *y = r->model->training->y;
    if (r->index->width > 0 && (y->kind != OKRA_DENSE || y->d != r->index->width)) {
        char text[96];
        return okra_fail_(OKRA_EARG,
                          "the model's outputs are %s, the candidates dense vectors of "
                          "length %lld",
                          okra_data_describe_(y, text, sizeof text),
                          (long long)r->index->width);
    }
    REFUSE_IF(r->index->width == 0 && y->kind != OKRA_GRAPHS, OKRA_EARG,
              "the model's outputs are %s, candidates molecules",
              okra_kind_name(y->kind));
    REFUSE_IF(!o->ky || o->map || r->model->method->compares, OKRA_EUNSUPPORTED,
              "an index is ranked by distances to weighted sums of training outputs; "
              "method %s%s has another measure",
              r->model->method->name, o->map ? " of low rank" : "");
    return OKRA_OK;
}

/* The kernel over bits where the index has those of this model's kernel, else over
 * molecules. */
static okra_status bind_kernel(okra_ranking_ *r)
{
    const okra_training_ *t = r->model->training;
    const char *why;
    bool bits = false;
    r->embedded = r->index->width > 0 && t->output.features &&
                  okra_model_form_(r->model) == OKRA_FORM_EMBEDDING;
    if (r->embedded) {
        CHK(bind_units(r));
    } else if (r->index->bits && strcmp(r->index->kernel, t->ky->text) == 0) {
        CHK(okra_bit_kernel_open_(t->ky->text, &r->kernel, &bits, &why));
        CHK(okra_bit_molecules_(r->ctx, &r->kernel, t->y, &r->outputs));
        CHK(okra_bound_create_(r->ctx, r->kernel.of_bits, r->outputs, &r->own));
        r->bits = true;
        r->bound = r->own;
    } else {
        if (r->index->width == 0 && strcmp(r->index->kernel, t->ky->text) != 0) {
            okra_warn_(r->ctx,
                       "the index holds features of %s, the model's output kernel is "
                       "%s: candidates are read again",
                       r->index->kernel, t->ky->text);
        }
        r->bound = t->output.ky;
    }
    return OKRA_OK;
}

OKRA_DROPS_(drop_ranked, okra_ranked, okra_ranked_free)

static okra_status open_result(okra_ranking_ *r, okra_int top, okra_ranked **out)
{
    FREED_BY(drop_ranked) okra_ranked *p = NULL;
    okra_int tests = r->tests;
    ZMAKE(p, 1);
    p->tests = tests;
    p->top = top;
    MAKE(p->index, tests * top);
    MAKE(p->distance, tests * top);
    ZMAKE(p->compared, tests);
    MAKE(r->best, tests);
    for (okra_int i = 0; i < tests; i++) {
        r->best[i] = (okra_best_){p->index + i * top, p->distance + i * top, 0, top};
        for (okra_int k = 0; k < top; k++) {
            p->index[i * top + k] = -1;
            p->distance[i * top + k] = (double)INFINITY;
        }
    }
    r->compared = p->compared;
    *out = TAKE(p);
    return OKRA_OK;
}

okra_status okra_index_rank_all(okra_context *context, const okra_index *index,
                                const okra_model *model, const okra_data *x,
                                const okra_rank_request *request, okra_ranked **out)
{
    okra_status st = OKRA_OK;
    okra_rank_request known = {OKRA_SIZED(okra_rank_request)};
    okra_ranking_ r = {.ctx = context, .index = index, .model = model};
    okra_ranked *result = NULL;
    NOT_NULL(index);
    NOT_NULL(model);
    NOT_NULL(x);
    NOT_NULL(request);
    NOT_NULL(out);
    SIZED(request, &known);
    REFUSE_IF(known.top < 1 || known.top > TOP_MOST, OKRA_EARG,
              "top is %lld, expected 1 to %d", (long long)known.top, TOP_MOST);
    r.tests = x->n;
    okra_int top = OKRA_MIN_(known.top, index->count);
    TRY(check_model(&r));
    TRY(okra_window_open_(context, index, x, &known, &r.window));
    TRY(bind_kernel(&r));
    TRY(weigh(&r, x));
    TRY(open_result(&r, top, &result));
    bool low = index->rank > 0 && !r.window.used && !known.exact && !r.embedded &&
               index->model == okra_index_outputs_(model) && index->outputs == r.n;
    if (low) {
        okra_int list = known.shortlist > 0 ? known.shortlist : SHORTLIST;
        TRY(okra_ranking_scan_(&r, OKRA_MAX_(list, top), &result->error));
    } else {
        TRY(exact(&r));
    }
    *out = TAKE(result);
done:
    okra_ranked_free(result);
    okra_window_close_(&r.window);
    FREE(r.W, r.norm, r.best);
    okra_bound_free_(r.own);
    okra_data_free(r.outputs);
    okra_bit_kernel_close_(&r.kernel);
    return st;
}
