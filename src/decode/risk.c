/*
 * risk.c: the candidate of the least expected loss, for any metric of pairs.
 *
 *     y(x) = argmin over candidates of  sum_i w_i(x) D(y, y_i)
 *
 * D is the metric between one candidate and one training output; the weights stand for
 * the conditional distribution of outputs (Ciliberto, Rosasco and Rudi 2016). A metric
 * that is better when larger counts negative. Where D(y, z) = |phi(y) - phi(z)|^2 of a
 * kernel and all l(y,y) are equal, or the weights sum to 1, this is the decoder
 * `candidates`.
 *
 * D is computed in panels of candidates by all training outputs and kept while half of
 * the budget is free: c n pairs once, then a product for every block of predictions.
 */
#include "decode/nearest.h"
#include "decode/propose.h"
#include "okra/metric.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDE = 64 }; /* candidates of a panel */

typedef struct state {
    const okra_output_ *output;
    const okra_data *set;
    okra_nearest_ nearest;
    char *spec;
    bool gain; /* larger is better */
    double **kept;
    double *scratch;
    double zeros[WIDE];
    okra_kernel *kernel; /* kernel-loss: its pairs come from the Gram engine */
    okra_bound_ *bound;
    okra_other_ *other;
    double *self, *train_self;
} state;

extern const okra_decoder_ okra_decoder_loss_;

static okra_int panels(const state *s)
{
    return (s->nearest.count + WIDE - 1) / WIDE;
}

static void release(void *arg)
{
    state *s = arg;
    if (s) {
        for (okra_int p = 0; s->kept && p < panels(s); p++) {
            okra_free_(s->kept[p]);
        }
        okra_free_(s->kept);
        okra_free_(s->scratch);
        okra_free_(s->self);
        okra_free_(s->train_self);
        okra_other_free_(s->other);
        okra_bound_free_(s->bound);
        okra_kernel_free(s->kernel);
        okra_nearest_clear_(&s->nearest);
        okra_free_(s->spec);
        okra_free_(s);
    }
}

/* ---- losses of pairs ---- */

/* each[i] = D(candidate c, y_i) for all training outputs. */
static okra_status one_candidate(const state *s, okra_int c, double *each)
{
    okra_status st = OKRA_OK;
    okra_int n = s->output->y->n, *index = NULL;
    okra_data *copies = NULL;
    double value;
    bool pairs = false;
    ALLOC(index, n);
    for (okra_int i = 0; i < n; i++) {
        index[i] = c;
    }
    TRY(okra_data_take(s->set, index, n, &copies));
    TRY(okra_score(NULL, s->spec, s->output->y, copies, &value, each, &pairs));
    if (!pairs) {
        FAIL(
            OKRA_EUNSUPPORTED,
            "decoder loss: metric %s is one number for many objects; a loss of each pair "
            "is needed",
            s->spec);
    }
    for (okra_int i = 0; s->gain && i < n; i++) {
        each[i] = -each[i];
    }
done:
    okra_data_free(copies);
    okra_free_(index);
    return st;
}

typedef struct filling {
    const state *s;
    okra_int first;
    okra_mat_ D;
} filling;

static okra_status some_candidates(void *arg, okra_int begin, okra_int end, int worker)
{
    okra_status st = OKRA_OK;
    const filling *f = arg;
    (void)worker;
    for (okra_int c = begin; c < end; c++) {
        TRY(one_candidate(f->s, f->first + c, f->D.p + c * f->D.ld));
    }
done:
    return st;
}

static okra_status fill(okra_context *ctx, const state *s, okra_int first, okra_mat_ D)
{
    okra_status st = OKRA_OK;
    filling f = {s, first, D};
    if (!s->bound) {
        return okra_parallel_(ctx, D.rows, 1, NULL, some_candidates, &f);
    }
    TRY(okra_other_cross_(ctx, s->bound, s->other, first, D));
    for (okra_int i = 0; i < D.rows * D.cols; i++) {
        okra_int c = i / D.cols, j = i % D.cols;
        D.p[i] = s->self[first + c] - 2 * D.p[i] + s->train_self[j];
    }
done:
    return st;
}

/* Panel p: losses of candidates by training outputs. */
static okra_status get(okra_context *ctx, state *s, okra_int p, bool again, okra_mat_ *D)
{
    okra_status st = OKRA_OK;
    double *fresh = NULL;
    okra_int n = s->output->y->n, first = p * WIDE;
    *D = okra_mat_of_(s->kept[p], OKRA_MIN_(WIDE, s->nearest.count - first), n);
    if (D->p) {
        return OKRA_OK;
    }
    double bytes = 8.0 * WIDE * (double)n, half = (double)okra_context_memory(ctx) / 2;
    bool keep = again && okra_budget_ask_(ctx, bytes + half, "losses") == OKRA_OK;
    if (keep || !s->scratch) {
        TRY(okra_doubles_(ctx, WIDE, n, "losses of candidates", &fresh));
    }
    D->p = fresh ? fresh : s->scratch;
    TRY(okra_cancelled_(ctx));
    TRY(fill(ctx, s, first, *D));
    if (fresh) {
        *(keep ? &s->kept[p] : &s->scratch) = fresh;
        fresh = NULL;
    }
done:
    okra_free_(fresh);
    return st;
}

/* ---- the decoder ---- */

/* f1 of a pair is its mean over examples. */
static okra_status read_spec(const char *argument, state *s)
{
    okra_status st = OKRA_OK;
    char text[512];
    bool loss = false;
    if (!argument || !*argument) {
        FAIL(OKRA_EARG,
             "decoder loss: expected loss:METRIC, as in loss:f1, loss:hamming, "
             "loss:edit or loss:kernel-loss:kernel=tanimoto");
    }
    bool f1 =
        strncmp(argument, "f1", 2) == 0 && (argument[2] == '\0' || argument[2] == ':');
    bool named = strstr(argument, "average=") != NULL;
    int length = snprintf(text, sizeof text, "%s%s", argument,
                          !f1 || named         ? ""
                          : argument[2] == ':' ? ",average=example"
                                               : ":average=example");
    if (length < 0 || (size_t)length >= sizeof text) {
        FAIL(OKRA_EARG, "decoder loss: the metric has more than %d characters",
             (int)sizeof text - 20);
    }
    TRY(okra_metric_is_loss(text, &loss));
    s->gain = !loss;
    s->spec = okra_strndup_(text, (size_t)length);
    st = s->spec ? OKRA_OK : OKRA_EMEM;
done:
    return st;
}

static okra_status open_kernel(okra_context *ctx, state *s)
{
    okra_status st = OKRA_OK;
    static const char prefix[] = "kernel-loss:kernel=";
    if (strncmp(s->spec, prefix, sizeof prefix - 1) != 0) {
        return OKRA_OK;
    }
    TRY(okra_kernel_parse_kept_(s->spec + sizeof prefix - 1, &s->kernel));
    if (okra_kernel_centers_(s->kernel)) {
        FAIL(OKRA_EARG,
             "decoder loss: kernel %s depends on more than two objects; expected one of "
             "pairs",
             okra_kernel_text(s->kernel));
    }
    TRY(okra_bound_create_(ctx, s->kernel, s->output->y, &s->bound));
    TRY(okra_other_create_(ctx, s->bound, s->set, &s->other));
    ALLOC(s->self, s->set->n);
    ALLOC(s->train_self, s->output->y->n);
    TRY(okra_other_diagonal_(ctx, s->bound, s->other, s->self));
    TRY(okra_bound_diagonal_(ctx, s->bound, s->train_self));
done:
    return st;
}

static okra_status create(okra_context *ctx, const okra_output_ *output,
                          const okra_options *options,
                          const okra_decode_request_ *request, void **out)
{
    okra_status st = OKRA_OK;
    state *s = NULL;
    (void)options;
    if (output->criterion) {
        FAIL(OKRA_EUNSUPPORTED,
             "decoder loss needs weights over the training outputs, and "
             "this method has a criterion of its own");
    }
    ZALLOC(s, 1);
    s->output = output;
    s->set = request->candidates ? request->candidates : output->y;
    TRY(read_spec(request->argument, s));
    if (okra_data_count(s->set) == 0) {
        FAIL(OKRA_EARG, "decoder loss: the set of candidates is empty");
    }
    TRY(okra_decode_check_kind_(output, s->set, "the candidates are"));
    TRY(open_kernel(ctx, s));
    TRY(okra_nearest_open_(ctx, request, s->set->n, true, &s->nearest));
    ZALLOC(s->kept, panels(s));
    *out = s;
    s = NULL;
done:
    release(s);
    return st;
}

static okra_status search(okra_context *ctx, void *arg, const okra_block_ *block)
{
    okra_status st = OKRA_OK;
    state *s = arg;
    double *G = NULL;
    TRY(okra_block_weights_(block, "decoder loss"));
    TRY(okra_doubles_(ctx, block->m, WIDE, "expected losses", &G));
    for (okra_int p = 0; p < panels(s); p++) {
        okra_int first = p * WIDE, columns = OKRA_MIN_(WIDE, s->nearest.count - first);
        okra_mat_ D;
        if (!okra_nearest_wanted_(&s->nearest, block, first, columns)) {
            continue;
        }
        TRY(get(ctx, s, p, block->m < s->nearest.tests, &D));
        TRY(okra_gemm_(ctx, false, true, -0.5, block->W, D, 0,
                       okra_mat_of_(G, block->m, columns)));
        okra_measured_ all = {block, first, columns, s->zeros, G, NULL, 1, NAN, NULL};
        TRY(okra_nearest_put_(ctx, &s->nearest, &all));
    }
done:
    okra_free_(G);
    return st;
}

static okra_status finish(okra_context *ctx, void *arg, okra_decoded_ *out)
{
    (void)ctx;
    state *s = arg;
    return okra_nearest_give_(&s->nearest, s->set, "decoder loss",
                              "candidate of finite loss", out);
}

const okra_decoder_ okra_decoder_loss_ = {
    .name = "loss",
    .help =
        "loss:METRIC, the candidate of the least expected loss: loss:f1, loss:hamming, "
        "loss:edit, loss:kernel-loss:kernel=EXPR and other metrics of pairs",
    .options = {"decoder loss", NULL, 0},
    .argument = true,
    .weights = true,
    .create = create,
    .block = search,
    .finish = finish,
    .free = release,
};
