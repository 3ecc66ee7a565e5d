/*
 * propose.c: distances of objects that a decoder makes up.
 *
 *     |phi(y) - h|^2 = l(y,y) - 2 sum_i w_i l(y_i,y) + w'Lw
 *
 * l(y_i,y) comes from the same panels as for candidates, so that a made-up object that
 * equals a candidate has its distance, up to the order of a sum. Cost: n a proposal,
 * beside the kernel. The rules of candidates hold: clamped at 0, and objects without
 * features are left out.
 */
#include "decode/decode.h"

okra_status okra_propose_(okra_context *ctx, const okra_output_ *output,
                          const okra_data *data, const okra_int *owner, bool empty,
                          okra_mat_ W, const double *norm, double constant,
                          okra_key_ *key, double *distance)
{
    FREED_BY(okra_panels_drop_) okra_panels_ *panels = NULL;
    double inner[OKRA_PANEL_];
    okra_mute_(ctx, true);
    okra_status st = okra_panels_create_(ctx, output, data, &panels);
    okra_mute_(ctx, false);
    CHK(st);
    const double *self = okra_panels_self_(panels);
    for (okra_int p = 0; p < okra_panels_count_(panels); p++) {
        okra_mat_ C;
        okra_int first = p * OKRA_PANEL_;
        CHK(okra_panels_get_(ctx, panels, p, false, &C));
        okra_fill_(C.cols, 0, inner);
        for (okra_int i = 0; i < C.rows; i++) {
            for (okra_int c = 0; c < C.cols; c++) {
                inner[c] += W.p[owner[first + c] * W.ld + i] * C.p[i * C.ld + c];
            }
        }
        for (okra_int c = 0; c < C.cols; c++) {
            double own = okra_self_settle_(self[first + c], constant);
            double d = own - 2 * inner[c] + norm[owner[first + c]];
            bool none = !empty && own <= 0;
            distance[first + c] = none ? (double)INFINITY : d < 0 ? 0 : d;
            if (key) {
                key[first + c] =
                    okra_key_of_(isnan(constant) ? own : own - constant, inner[c]);
            }
        }
    }
    return OKRA_OK;
}

/* ---- where to begin ---- */

okra_status okra_starts_create_(okra_context *ctx, const okra_output_ *output,
                                struct okra_pair_loss_ *loss, okra_int tests,
                                okra_int top, bool empty, okra_starts_ **out)
{
    FREED_BY(okra_starts_drop_) okra_starts_ *s = NULL;
    okra_output_ whole = *output;
    okra_decode_request_ request = {.tests = tests, .top = top};
    whole.components = NULL;
    ZMAKE(s, 1);
    s->tests = tests;
    s->decoder = loss ? &okra_decoder_loss_ : &okra_decoder_candidates_;
    GOT(s->candidates = okra_zalloc_(1, s->decoder->state));
    s->constant = (double)NAN;
    if (loss) {
        CHK(okra_risk_open_(ctx, s->candidates, output, loss, &request));
        s->nearest = okra_risk_nearest_(s->candidates);
        *out = TAKE(s);
        return OKRA_OK;
    }
    CHK(okra_candidates_open_(ctx, s->candidates, &whole, &request, empty));
    s->nearest = okra_candidates_nearest_(s->candidates);
    CHK(okra_panels_create_(ctx, output, NULL, &s->training));
    s->constant = okra_self_constant_(okra_panels_self_(s->training), output->y->n, true);
    *out = TAKE(s);
    return OKRA_OK;
}

void okra_starts_free_(okra_starts_ *starts)
{
    if (starts) {
        okra_decoder_close_(starts->decoder, starts->candidates);
        okra_panels_free_(starts->training);
        okra_free_(starts);
    }
}

okra_status okra_starts_block_(okra_context *ctx, okra_starts_ *starts,
                               const okra_block_ *block, double *norm)
{
    bool again = block->m < starts->tests;
    if (starts->decoder == &okra_decoder_loss_) {
        memset(norm, 0, (size_t)block->m * sizeof *norm);
        return okra_risk_block_(ctx, starts->candidates, block);
    }
    bool known = false;
    CHK(okra_candidates_block_(ctx, starts->candidates, block, norm, &known));
    return known ? OKRA_OK
                 : okra_panels_norms_(ctx, starts->training, again, block->W, norm);
}

const okra_near_ *okra_starts_get_(const okra_starts_ *starts, okra_int i,
                                   okra_int *count)
{
    *count = starts->nearest->used[i];
    return starts->nearest->list + i * starts->nearest->top;
}

/* ---- shared by decoders that make up objects ---- */

okra_status okra_decoded_single_(okra_data **objects, okra_int tests, double **distance,
                                 okra_decoded_ *out)
{
    okra_int *index = NULL;
    MAKE(index, tests);
    for (okra_int i = 0; i < tests; i++) {
        index[i] = -1;
    }
    *out = (okra_decoded_){
        .objects = TAKE(*objects), .top = 1, .index = index, .distance = TAKE(*distance)};
    return OKRA_OK;
}

okra_status okra_block_weights_(const okra_block_ *block, const char *who)
{
    REFUSE_IF(
        !block->W.p, OKRA_EUNSUPPORTED,
        "%s needs weights over the training outputs; this model predicts embeddings",
        who);
    return OKRA_OK;
}
