/*
 * ranker.c: distances of proposals among outputs.
 */
#include "decode/ranker.h"

#include "data/strings.h"

#include <math.h>

enum { GROUP = 64 };

void okra_made_up_clear_(okra_made_up_ *m)
{
    okra_free_(m->codes);
    okra_free_(m->offsets);
    okra_free_(m->score);
    okra_free_(m->value);
    okra_free_(m->far);
}

void okra_ranker_clear_(okra_ranker_ *ranker)
{
    okra_panels_free_(ranker->training);
    *ranker = (okra_ranker_){0};
}

okra_status okra_ranker_create_(okra_context *ctx, const okra_output_ *output, bool both,
                                okra_int tests, okra_ranker_ *out)
{
    okra_status st = OKRA_OK;
    okra_int n = output->y->n, used = 0;
    bool *skip = NULL;
    okra_ranker_ s = {.output = output, .both = both, .tests = tests};
    TRY(okra_panels_create_(ctx, output, NULL, &s.training));
    const double *self = okra_panels_self_(s.training);
    ALLOC(skip, n);
    for (okra_int i = 0; i < n; i++) {
        skip[i] = self[i] <= 0;
        s.scale += skip[i] ? 0 : self[i];
        used += !skip[i];
    }
    TRY(okra_self_constant_(ctx, self, n, skip, &s.constant));
    s.scale = used > 0 ? s.scale / (double)used : 1;
    *out = s;
    s = (okra_ranker_){0};
done:
    okra_ranker_clear_(&s);
    okra_free_(skip);
    return st;
}

static okra_status as_objects(const okra_made_up_ *rows, okra_int count, okra_int *owner,
                              okra_data **out)
{
    okra_status st = OKRA_OK;
    okra_ragged_builder_ b = {0};
    okra_int total = 0;
    TRY(okra_characters_begin_(&b));
    for (okra_int r = 0; r < count; r++) {
        for (okra_int k = 0; k < rows[r].count; k++) {
            const void *const array[] = {rows[r].codes + rows[r].offsets[k]};
            TRY(okra_ragged_push_many_(&b, rows[r].offsets[k + 1] - rows[r].offsets[k],
                                       array));
            TRY(okra_ragged_close_(&b));
            owner[total++] = r;
        }
    }
    TRY(okra_strings_adopt_(&b, NULL, "proposed strings", out));
done:
    okra_ragged_abandon_(&b);
    return st;
}

/* Adds the distances among outputs, or puts them in place of those among edits. A
 * proposal without features there comes after all others. */
static okra_status measure(okra_context *ctx, const okra_ranker_ *s, okra_mat_ W,
                           const double *norm, okra_made_up_ *rows)
{
    okra_status st = OKRA_OK;
    okra_int most = 0, *owner = NULL, c = 0;
    okra_data *objects = NULL;
    okra_key_ *key = NULL;
    double *far = NULL, add = s->both, scale = s->both ? s->scale : 1;
    for (okra_int r = 0; r < W.rows; r++) {
        most += rows[r].count;
    }
    ALLOC(owner, most);
    ALLOC(key, most);
    ALLOC(far, most);
    TRY(as_objects(rows, W.rows, owner, &objects));
    TRY(okra_propose_(ctx, s->output, objects, owner, false, W, norm, s->constant, key,
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
done:
    okra_data_free(objects);
    okra_free_(owner);
    okra_free_(key);
    okra_free_(far);
    return st;
}

okra_status okra_ranker_measure_(okra_context *ctx, const okra_ranker_ *s,
                                 const okra_block_ *block, okra_made_up_ *rows)
{
    okra_status st = OKRA_OK;
    double *norm = NULL;
    okra_mat_ W = block->W;
    ALLOC(norm, block->m);
    TRY(okra_panels_norms_(ctx, s->training, block->m < s->tests, W, norm));
    for (okra_int first = 0; first < W.rows; first += GROUP) {
        okra_int count = OKRA_MIN_(GROUP, W.rows - first);
        TRY(okra_cancelled_(ctx));
        TRY(measure(ctx, s, okra_mat_part_(W, first, count, 0, W.cols), norm + first,
                    rows + first));
        okra_progress_(ctx, "decode", first + count, W.rows);
    }
done:
    okra_free_(norm);
    return st;
}
