/*
 * top.c: of many rows of bits the k best for each query, by
 *     s_q(c) = sum_i W_qi t(c, y_i),     t the Tanimoto coefficient,
 * as if all of them were computed in double precision.
 *
 * All scores are computed from codes of 8 bits on the tensor cores, where sums of whole
 * numbers are exact. The rounding to codes is random (codes.cu, top_codes.c): the value
 * below or the one above, with the probabilities that make the mean right. With w = code
 * unit_q + d, t = centre + step (code + e), for one query and one row of bits
 *     s = centre sum_i w_i + step unit_q (sum of products of codes + E),
 *     E = sum_i code(w)_i e_i + sum_i d_i (t_i - centre) / (step unit_q).
 * Terms of both sums are independent, of mean 0, and lie in intervals of length
 * |code(w)_i| and |t_i - centre| / step. Hoeffding's inequality (1963, theorem 2) says of
 * each that it exceeds B = h |the lengths| with probability 2 exp(-2 h^2). h is such that
 * this is 1e-20: of 10^11 scores one is farther from its code than the bound with a
 * probability of less than 1e-8, over the draw of the roundings, which are the same for
 * the same problem. Codes come from floats: `bias` bounds what that moves their mean.
 *
 * Whatever is within two bounds of the k-th best so far stays in the list of its query.
 * At the end the best of the list get their exact scores, in double precision, and then
 * whatever is within one bound of the k-th best of these. Where a code does not fit 8
 * bits the row gets exact scores for every query. Where lists or odd rows become too
 * many, the verb says that it did not do it.
 *
 * The host copies rows to pinned memory, and the device takes them, while the device
 * works on those before.
 */
#include "top.h"

#include <string.h>

#define X_BYTES ((okra_int)1 << 29)
#define LIST_BYTES ((okra_int)1 << 28)

/* ---- memory ---- */

static void *take(char **at, okra_int count, size_t size)
{
    void *p = *at;
    *at += gpu_round_((size_t)count * size);
    return p;
}

/* Lays out the arena; from NULL: how much it takes. */
static size_t lay_out(top_ *t, char *base)
{
    char *at = base;
    size_t word = sizeof(uint64_t);
    t->yb = take(&at, t->n * t->width, word);
    t->yt = take(&at, t->n * t->width, word);
    t->v_all = take(&at, t->n, sizeof(double));
    t->W_all = take(&at, t->m * t->n, sizeof(double));
    t->norm_all = take(&at, t->m, sizeof(double));
    t->one_all = take(&at, t->m, sizeof(double));
    t->parts = take(&at, 4 * GPU_RANGE_, sizeof(double));
    t->v_float = take(&at, t->ld, sizeof(float));
    t->offset_all = take(&at, t->ld, sizeof(float));
    t->u = take(&at, t->chunk, sizeof(float));
    t->W_codes = take(&at, t->height * t->ld, 1);
    t->X = take(&at, t->chunk * t->ld, 1);
    t->S = take(&at, t->height * t->chunk, sizeof(int));
    t->square = take(&at, t->chunk, sizeof(int));
    t->low_all = take(&at, t->m, sizeof(int));
    t->listed = take(&at, t->m, sizeof(int));
    t->kept = take(&at, t->m, sizeof(int));
    t->limit = take(&at, t->m, sizeof(int64_t));
    t->odd = take(&at, TOP_ODD, sizeof(int64_t));
    t->list = take(&at, t->m * t->room, sizeof(gpu_found_));
    t->state = take(&at, 1, sizeof(gpu_choice_));
    for (int b = 0; b < 2; b++) {
        t->bits[b] = take(&at, t->unit * t->width, word);
        t->flag[b] = take(&at, t->unit, 1);
    }
    return (size_t)(at - base);
}

static void plan(top_ *t)
{
    okra_int row = t->width * (okra_int)sizeof(uint64_t);
    t->ld = (t->n + GPU_TILE_ - 1) / GPU_TILE_ * GPU_TILE_;
    t->height = (2 * t->m + 15) / 16 * 16;
    t->unit = OKRA_MIN_((okra_int)GPU_STAGE_BYTES_ / row, t->count);
    okra_int fit = OKRA_MIN_(X_BYTES / t->ld, X_BYTES / (4 * t->height));
    fit = OKRA_MIN_(OKRA_MAX_(fit, TOP_LEAST), 65536);
    t->chunk = (fit + GPU_TILE_ - 1) / GPU_TILE_ * GPU_TILE_;
    okra_int room =
        OKRA_MAX_(LIST_BYTES / (okra_int)sizeof(gpu_found_) / t->m, TOP_LEAST);
    t->room = (int)OKRA_MIN_(room, 65536);
}

static okra_status own(top_ *t, bool *fits)
{
    okra_status st = OKRA_OK;
    gpu_ *g = t->g;
    size_t room = 0;
    void *arena = NULL;
    plan(t);
    size_t bytes = lay_out(t, NULL);
    TRY(gpu_room_(g, t->ctx, &room));
    *fits = bytes <= room;
    if (!*fits) {
        goto done;
    }
    TRY(gpu_arena_(g, t->ctx, bytes, "scores of candidates", "fewer queries need less",
                   &arena));
    lay_out(t, arena);
    t->unit_of = g->host->alloc(t->m, sizeof *t->unit_of);
    t->norm = g->host->alloc(t->m, sizeof *t->norm);
    t->one = g->host->alloc(t->m, sizeof *t->one);
    t->low = g->host->alloc(t->m, sizeof *t->low);
    t->codes = g->host->alloc(t->height * t->ld, 1);
    t->offset = g->host->alloc(t->ld, sizeof *t->offset);
    if (!t->unit_of || !t->norm || !t->one || !t->low || !t->codes || !t->offset) {
        st = OKRA_EMEM;
    }
done:
    return st;
}

static void disown(top_ *t)
{
    const okra_engine_host_ *host = t->g->host;
    host->free(t->unit_of);
    host->free(t->norm);
    host->free(t->one);
    host->free(t->low);
    host->free(t->codes);
    host->free(t->offset);
}

/* ---- the training outputs ---- */

static okra_status upload_outputs(top_ *t)
{
    okra_status st = OKRA_OK;
    gpu_ *g = t->g;
    size_t row = (size_t)t->width * sizeof(uint64_t);
    uint64_t *turned = g->host->alloc(t->n * t->width, sizeof *turned);
    float *bits = g->host->alloc(t->ld, sizeof *bits);
    if (!turned || !bits) {
        st = OKRA_EMEM;
        goto done;
    }
    for (okra_int i = 0; i < t->n; i++) {
        for (okra_int w = 0; w < t->width; w++) {
            turned[w * t->n + i] = t->b[i * t->b_ld + w];
        }
    }
    for (okra_int i = 0; i < t->ld; i++) {
        bits[i] = i < t->n ? (float)t->v[i] : 1;
    }
    TRY(gpu_upload_(g, t->ctx, t->b, (size_t)t->b_ld * sizeof *t->b, row, t->n, t->yb,
                    row));
    TRY(gpu_upload_(g, t->ctx, turned, row, row, t->n, t->yt, row));
    TRY(gpu_upload_(g, t->ctx, t->v, sizeof(double), sizeof(double), t->n, t->v_all,
                    sizeof(double)));
    TRY(gpu_upload_(g, t->ctx, bits, sizeof(float), sizeof(float), t->ld, t->v_float,
                    sizeof(float)));
    TRY(gpu_upload_(g, t->ctx, t->W.p, (size_t)t->W.ld * sizeof(double),
                    (size_t)t->n * sizeof(double), t->m, t->W_all,
                    (size_t)t->n * sizeof(double)));
    /* What was copied without a stage is free only now. */
    GPU_TRY(cudaStreamSynchronize(g->stream), "copying outputs");
done:
    g->host->free(turned);
    g->host->free(bits);
    return st;
}

/* ---- scores ---- */

static okra_status begin_lists(top_ *t)
{
    okra_status st = OKRA_OK;
    gpu_ *g = t->g;
    size_t m = (size_t)t->m;
    GPU_TRY(cudaMemsetAsync(t->listed, 0, m * sizeof(int), g->stream), "lists");
    GPU_TRY(cudaMemsetAsync(t->kept, 0, m * sizeof(int), g->stream), "lists");
    /* 0x8080...: less than any score */
    GPU_TRY(cudaMemsetAsync(t->limit, 0x80, m * sizeof(int64_t), g->stream), "lists");
    GPU_TRY(cudaMemsetAsync(t->state, 0, sizeof *t->state, g->stream), "lists");
done:
    return st;
}

/* Rows first..first+now-1 of the unit in buffer b, which begins at row `from` of all. */
static okra_status score(top_ *t, int b, okra_int from, okra_int first, okra_int now)
{
    okra_status st = OKRA_OK;
    gpu_ *g = t->g;
    cudaStream_t s = g->stream;
    const uint64_t *bits = t->bits[b] + first * t->width;
    uint8_t *flag = t->flag[b] + first;
    int one = 1, zero = 0;
    okra_int wide = (now + GPU_TILE_ - 1) / GPU_TILE_ * GPU_TILE_;

    GPU_TRY(cudaMemsetAsync(t->square, 0, (size_t)now * sizeof(int), s), "codes");
    GPU_TRY(gpu_run_counts_(s, now, t->width, bits, t->u, flag), "numbers of bits");
    GPU_TRY(gpu_run_codes_(s, now, t->n, t->width, bits, t->yb, t->u, t->v_float,
                           t->offset_all, (float)(1 / t->step), t->X, t->ld, t->square,
                           flag),
            "codes of candidates");
    GPU_TRY(gpu_run_collect_(s, now, t->square, flag, from + first, TOP_ODD, t->odd,
                             t->state),
            "codes of candidates");
    /* S = W X' is S' = X W' of theirs. */
    BLAS_TRY(cublasGemmEx(g->blas, CUBLAS_OP_T, CUBLAS_OP_N, (int)wide, (int)t->rows,
                          (int)t->ld, &one, t->X, CUDA_R_8I, (int)t->ld, t->W_codes,
                          CUDA_R_8I, (int)t->ld, &zero, t->S, CUDA_R_32I, (int)t->chunk,
                          CUBLAS_COMPUTE_32I, CUBLAS_GEMM_DEFAULT),
             "scores of candidates");
    GPU_TRY(gpu_run_filter_(s, t->m, now, t->S, t->chunk, t->low_all, flag, t->limit,
                            from + first, t->room, t->listed, t->list),
            "the best candidates");
    GPU_TRY(gpu_run_prune_(s, t->m, (int)t->k, t->room, top_bound_(), top_root_(t),
                           top_bias_(t), t->norm_all, t->one_all, t->limit, t->listed,
                           t->kept, t->list, t->state),
            "the best candidates");
done:
    return st;
}

/* Rows from..from+now-1 to buffer b, by the stream of copies. */
static okra_status send(top_ *t, int b, okra_int from, okra_int now)
{
    okra_status st = OKRA_OK;
    gpu_ *g = t->g;
    size_t row = (size_t)t->width * sizeof(uint64_t);
    const bool *skip = t->skip ? t->skip + from : NULL;

    TRY(gpu_stage_wait_(g, b));
    TRY(gpu_fill_stage_(g, t->ctx, t->a + from * t->a_ld,
                        (size_t)t->a_ld * sizeof(uint64_t), row, now, b));
    GPU_TRY(cudaMemcpyAsync(t->bits[b], g->stage[b], row * (size_t)now,
                            cudaMemcpyHostToDevice, g->copies),
            "copying candidates");
    GPU_TRY(cudaMemsetAsync(t->flag[b], 0, (size_t)now, g->copies), "copying candidates");
    GPU_TRY(cudaEventRecord(g->freed[b], g->copies), "copying candidates");
    if (skip && memchr(skip, 1, (size_t)now)) {
        GPU_TRY(cudaStreamSynchronize(g->copies), "copying candidates");
        uint8_t *flag = (uint8_t *)g->stage[b];
        for (okra_int i = 0; i < now; i++) {
            flag[i] = skip[i] ? 2 : 0;
        }
        GPU_TRY(cudaMemcpyAsync(t->flag[b], flag, (size_t)now, cudaMemcpyHostToDevice,
                                g->copies),
                "copying candidates");
        GPU_TRY(cudaEventRecord(g->freed[b], g->copies), "copying candidates");
    }
    GPU_TRY(cudaStreamWaitEvent(g->stream, g->freed[b], 0), "copying candidates");
done:
    return st;
}

static bool too_many(const top_ *t, gpu_choice_ found)
{
    return found.full || found.odd > TOP_ODD || found.odd * t->m > TOP_PAIRS;
}

static okra_status run(top_ *t, gpu_choice_ *found)
{
    okra_status st = OKRA_OK;
    gpu_ *g = t->g;
    gpu_choice_ *said = g->notes; /* pinned, one a buffer */
    okra_int now = 0, turn = 0;

    TRY(begin_lists(t));
    said[0] = said[1] = (gpu_choice_){0, 0, 0};
    for (okra_int from = 0; from < t->count; from += now, turn++) {
        int b = (int)(turn % 2);
        now = OKRA_MIN_(t->unit, t->count - from);
        GPU_TRY(cudaEventSynchronize(g->worked[b]), "scores of candidates");
        if (turn >= 2 && too_many(t, said[b])) {
            break;
        }
        TRY(g->host->cancelled(t->ctx));
        TRY(send(t, b, from, now));
        for (okra_int first = 0, some = 0; first < now; first += some) {
            /* Small ones at the beginning, when nothing is left out yet. */
            some = OKRA_MIN_(t->chunk, OKRA_MAX_(TOP_LEAST / 4, from + first));
            some = OKRA_MIN_(some / GPU_TILE_ * GPU_TILE_, now - first);
            TRY(score(t, b, from, first, some));
        }
        GPU_TRY(cudaMemcpyAsync(&said[b], t->state, sizeof *said, cudaMemcpyDeviceToHost,
                                g->stream),
                "scores of candidates");
        GPU_TRY(cudaEventRecord(g->worked[b], g->stream), "scores of candidates");
    }
    GPU_TRY(cudaMemcpyAsync(&said[0], t->state, sizeof *said, cudaMemcpyDeviceToHost,
                            g->stream),
            "scores of candidates");
    GPU_TRY(cudaStreamSynchronize(g->stream), "scores of candidates");
    *found = said[0];
done:
    if (st != OKRA_OK) {
        (void)cudaStreamSynchronize(g->copies);
        (void)cudaStreamSynchronize(g->stream);
    }
    return st;
}

/* Is it new rows of bits against outputs, compared by Tanimoto? */
static bool can(const okra_entries_ *e, okra_mat_ W, okra_int k)
{
    const okra_step_ *s = e->steps;
    return s && e->count == 2 && !e->symmetric && s[0].code == OKRA_CODE_BITS_ &&
           s[1].code == OKRA_CODE_TANIMOTO_ && s[0].width > 0 && s[0].width <= 1024 &&
           e->rows >= TOP_LEAST && e->cols <= TOP_TRAINING && W.rows <= TOP_QUERIES &&
           k <= TOP_MOST;
}

okra_status gpu_top_(void *e, okra_context *ctx, const okra_entries_ *entries,
                     okra_mat_ W, const bool *skip, okra_int k, okra_int *index,
                     double *value, bool *done)
{
    okra_status st = OKRA_OK;
    gpu_ *g = e;
    const okra_step_ *s = entries->steps;
    top_ t = {.g = g, .ctx = ctx, .W = W, .skip = skip, .m = W.rows, .k = k};
    gpu_choice_ found = {0, 0, 0};

    *done = false;
    if (!can(entries, W, k)) {
        return OKRA_OK;
    }
    TRY(gpu_use_(g));
    t.a = s[0].a, t.b = s[0].b, t.v = s[1].v;
    t.a_ld = s[0].a_ld, t.b_ld = s[0].b_ld, t.width = s[0].width;
    t.count = entries->rows, t.n = entries->cols;
    TRY(own(&t, done));
    if (!*done) {
        goto done;
    }
    TRY(gpu_stages_(g));
    TRY(upload_outputs(&t));
    *done = false;
    for (int wide = 0; wide < 2 && !*done; wide++) {
        bool fine = false;
        TRY(top_range_(&t, wide));
        TRY(top_weights_(&t, &fine));
        if (!fine) {
            break;
        }
        TRY(run(&t, &found));
        *done = !too_many(&t, found);
        if (found.full) {
            break; /* wider codes make longer lists */
        }
    }
    if (*done) {
        TRY(top_answer_(&t, found, index, value));
    }
done:
    disown(&t);
    return st;
}
