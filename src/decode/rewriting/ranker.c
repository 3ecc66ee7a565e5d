/*
 * ranker.c: distances of proposals among outputs.
 */
#include "decode/rewriting/ranker.h"

#include "data/strings.h"

#include <math.h>

enum { GROUP = 64 };

OKRA_SHARED_CLEARS_(okra_made_up_clear_, okra_made_up_, it->codes, it->offsets, it->score,
                    it->value, it->far)

void okra_ranker_clear_(okra_ranker_ *ranker)
{
    okra_panels_free_(ranker->training);
    *ranker = (okra_ranker_){0};
}

okra_status okra_ranker_create_(okra_context *ctx, const okra_output_ *output, bool both,
                                okra_int tests, okra_ranker_ *out)
{
    okra_int n = output->y->n, used = 0;
    OWNED bool *skip = NULL;
    FREED_BY(okra_ranker_clear_)
    okra_ranker_ s = {.output = output, .both = both, .tests = tests};
    CHK(okra_panels_create_(ctx, output, NULL, &s.training));
    const double *self = okra_panels_self_(s.training);
    MAKE(skip, n);
    for (okra_int i = 0; i < n; i++) {
        skip[i] = self[i] <= 0;
        s.scale += skip[i] ? 0 : self[i];
        used += !skip[i];
    }
    CHK(okra_self_constant_(ctx, self, n, skip, &s.constant));
    s.scale = used > 0 ? s.scale / (double)used : 1;
    *out = s;
    s = (okra_ranker_){0};
    return OKRA_OK;
}

static okra_status as_objects(const okra_made_up_ *rows, okra_int count, okra_int *owner,
                              okra_data **out)
{
    FREED_BY(okra_ragged_abandon_) okra_ragged_builder_ b = {0};
    okra_int total = 0;
    CHK(okra_characters_begin_(&b));
    for (okra_int r = 0; r < count; r++) {
        for (okra_int k = 0; k < rows[r].count; k++) {
            const void *const array[] = {rows[r].codes + rows[r].offsets[k]};
            CHK(okra_ragged_push_many_(&b, rows[r].offsets[k + 1] - rows[r].offsets[k],
                                       array));
            CHK(okra_ragged_close_(&b));
            owner[total++] = r;
        }
    }
    return okra_strings_adopt_(&b, NULL, "proposed strings", out);
}

/* Adds the distances among outputs, or puts them in place of those among edits. A
 * proposal without features there comes after all others. */
static okra_status measure(okra_context *ctx, const okra_ranker_ *s, okra_mat_ W,
                           const double *norm, okra_made_up_ *rows)
{
    OWNED okra_int *owner = NULL;
    okra_int most = 0, c = 0;
    FREED_BY(okra_data_drop_) okra_data *objects = NULL;
    OWNED okra_key_ *key = NULL;
    OWNED double *far = NULL;
    double add = s->both, scale = s->both ? s->scale : 1;
    for (okra_int r = 0; r < W.rows; r++) {
        most += rows[r].count;
    }
    MAKE(owner, most);
    MAKE(key, most);
    MAKE(far, most);
    CHK(as_objects(rows, W.rows, owner, &objects));
    CHK(okra_propose_(ctx, s->output, objects, owner, false, W, norm, s->constant, key,
                      far));
    for (okra_int r = 0; r < W.rows; r++) {
        for (okra_int k = 0; k < rows[r].count; k++, c++) {
            bool none = isinf(far[c]) != 0;
            double value = none ? (double)INFINITY : (key[c].high + key[c].low) / scale;
            double distance = none ? norm[r] / scale : far[c] / scale;
            rows[r].value[k] = add * rows[r].value[k] + value;
            rows[r].far[k] = add * rows[r].far[k] + distance;
        }
    }
    return OKRA_OK;
}

okra_status okra_ranker_measure_(okra_context *ctx, const okra_ranker_ *s,
                                 const okra_block_ *block, okra_made_up_ *rows)
{
    OWNED double *norm = NULL;
    okra_mat_ W = block->W;
    MAKE(norm, block->m);
    CHK(okra_panels_norms_(ctx, s->training, block->m < s->tests, W, norm));
    for (okra_int first = 0; first < W.rows; first += GROUP) {
        okra_int count = OKRA_MIN_(GROUP, W.rows - first);
        CHK(okra_cancelled_(ctx));
        CHK(measure(ctx, s, okra_mat_part_(W, first, count, 0, W.cols), norm + first,
                    rows + first));
        okra_progress_(ctx, "decode", first + count, W.rows);
    }
    return OKRA_OK;
}
