/*
 * ranks.c: where the truth stands among candidates, of predictions that were left out.
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
#include "okra/program.h"
#include "okra/more/score.h"
#include "select/select.h"

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
static okra_status order(okra_context *ctx, const okra_scorer_ *s, const okra_ranked_ *r,
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
        return okra_scorer_decode_(ctx, s, r->output, &asked, r->block, out);
    }
    CHK(okra_options_copy(s->predict, &all));
    snprintf(top, sizeof top, "%lld", (long long)list->n);
    CHK(okra_options_set(all, "top", top));
    CHK(okra_predict(ctx, r->model, r->inputs, all, &request, &p));
    *out = TAKE(p->decoded);
    return OKRA_OK;
}

okra_status okra_ranks_value_(okra_context *ctx, const okra_scorer_ *s,
                              const okra_ranked_ *r, double *value, double *each)
{
    FREED_BY(okra_decoded_clear_) okra_decoded_ decoded = {0};
    const okra_data *list = s->candidates ? s->candidates : r->own;
    okra_int m = r->truth->n;
    CHK(order(ctx, s, r, list, &decoded));
    CHK(tell_apart(decoded.index, m, decoded.top,
                   s->candidates ? s->source->of : r->number,
                   s->candidates ? list->n : s->source->n));
    CHK(okra_score_lists(ctx, s->metric, r->number, decoded.index, m, decoded.top, value,
                         each));
    *value = okra_weighted_mean_(m, each, r->truth->weights);
    return OKRA_OK;
}
