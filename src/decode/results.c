/*
 * results.c: what decoders make up: the best objects of every test point, as codes.
 */
#include "decode/decode.h"

#include "data/strings.h"

okra_status okra_objects_letters_(okra_context *ctx, const void *user,
                                  const int32_t *codes, const okra_int *offsets,
                                  okra_int count, okra_data **out)
{
    const okra_data *y = user;
    FREED_BY(okra_ragged_abandon_) okra_ragged_builder_ b = {0};
    FREED_BY(okra_data_drop_) okra_data *strings = NULL;
    OWNED double *zeros = NULL; /* the vectors of sequences */
    CHK(okra_characters_begin_(&b));
    for (okra_int i = 0; i < count; i++) {
        const void *const array[] = {codes + offsets[i]};
        CHK(okra_ragged_push_many_(&b, offsets[i + 1] - offsets[i], array));
        CHK(okra_ragged_close_(&b));
    }
    CHK(okra_strings_adopt_(&b, NULL, "decoded strings", &strings));
    if (y->kind != OKRA_SEQUENCES) {
        *out = TAKE(strings);
        return OKRA_OK;
    }
    const okra_ragged_ *group = &strings->groups[0];
    ZMAKE(zeros, group->offsets[count] * y->d);
    return okra_data_sequences(group->offsets, zeros, group->fields[0].values, count,
                               y->d, out);
}

okra_int okra_longest_(const okra_data *y)
{
    okra_int longest = 0, length = 0;
    for (okra_int i = 0; i < y->n; i++) {
        okra_characters_(y, i, &length);
        longest = OKRA_MAX_(longest, length);
    }
    return longest;
}

/* ---- all results ---- */

okra_status okra_results_open_(okra_context *ctx, const char *who, double most,
                               const okra_output_ *output,
                               const okra_decode_request_ *request, okra_objects_ objects,
                               const void *user, okra_results_ *out)
{
    okra_int top = (okra_int)fmin((double)OKRA_MAX_(request->top, 1), fmax(most, 1));
    okra_results_ r = {output, request->tests, top, NULL, objects, user, NULL};
    REFUSE_IF(request->candidates || request->ranges, OKRA_EARG,
              "decoder %s takes no candidates", who);
    CHK(okra_budget_ask_(ctx, (double)(r.tests * top) * sizeof *r.cells,
                         "the decoded objects of all test points"));
    ZMAKE(r.cells, r.tests * top);
    *out = r;
    return OKRA_OK;
}

void okra_results_clear_(okra_results_ *r)
{
    for (okra_int k = 0; r->cells && k < r->tests * r->top; k++) {
        okra_free_(r->cells[k].codes);
    }
    okra_panels_free_(r->training);
    okra_free_(r->cells);
    *r = (okra_results_){0};
}

okra_status okra_results_put_(const okra_results_ *r, okra_int i, okra_int rank,
                              const int32_t *codes, okra_int length, double distance)
{
    okra_result_ *cell = &r->cells[i * r->top + rank];
    MAKE(cell->codes, OKRA_MAX_(length, 1));
    OKRA_COPY_(cell->codes, codes, length);
    cell->length = length;
    cell->distance = distance;
    return OKRA_OK;
}

/* The objects of m test points from `first` on, and the number of each among them (m x
 * top; -1: there is none). */
static okra_status make_objects(okra_context *ctx, const okra_results_ *r, okra_int first,
                                okra_int m, okra_int *index, okra_data **out)
{
    OWNED int32_t *codes = NULL;
    OWNED okra_int *offsets = NULL;
    const okra_result_ *cells = r->cells + first * r->top;
    okra_int count = 0, total = 0;
    MAKE(offsets, m * r->top + 1);
    for (okra_int k = 0; k < m * r->top; k++) {
        offsets[count] = total;
        total += cells[k].length;
        index[k] = cells[k].codes ? count++ : -1;
    }
    offsets[count] = total;
    MAKE(codes, total);
    for (okra_int k = 0; k < m * r->top; k++) {
        OKRA_COPY_(codes + offsets[index[k]], cells[k].codes, cells[k].length);
    }
    return r->objects(ctx, r->user, codes, offsets, count, out);
}

okra_status okra_results_measure_(okra_context *ctx, okra_results_ *r,
                                  const okra_block_ *block)
{
    FREED_BY(okra_data_drop_) okra_data *objects = NULL;
    OWNED okra_int *index = NULL, *owner = NULL;
    OWNED double *norm = NULL, *distance = NULL;
    okra_int cells = block->m * r->top;
    MAKE(index, cells);
    MAKE(owner, cells);
    MAKE(distance, cells);
    MAKE(norm, block->m);
    if (!r->training) {
        CHK(okra_panels_create_(ctx, r->output, NULL, &r->training));
    }
    CHK(make_objects(ctx, r, block->first, block->m, index, &objects));
    for (okra_int k = 0; k < cells; k++) {
        if (index[k] >= 0) {
            owner[index[k]] = k / r->top;
        }
    }
    CHK(okra_panels_norms_(ctx, r->training, block->m < r->tests, block->W, norm));
    CHK(okra_propose_(ctx, r->output, objects, owner, true, block->W, norm, (double)NAN,
                      NULL, distance));
    for (okra_int k = 0; k < cells; k++) {
        if (index[k] >= 0) {
            r->cells[block->first * r->top + k].distance = distance[index[k]];
        }
    }
    return OKRA_OK;
}

okra_status okra_results_give_(okra_context *ctx, void *results, okra_decoded_ *out)
{
    const okra_results_ *r = results;
    FREED_BY(okra_data_drop_) okra_data *all = NULL, *best = NULL;
    OWNED okra_int *first = NULL, *index = NULL;
    OWNED double *distance = NULL;
    MAKE(first, r->tests);
    MAKE(index, r->tests * r->top);
    CHK(okra_doubles_(ctx, r->tests, r->top, "the distances of decoded objects",
                      &distance));
    CHK(make_objects(ctx, r, 0, r->tests, index, &all));
    for (okra_int k = 0; k < r->tests * r->top; k++) {
        distance[k] = index[k] < 0 ? (double)INFINITY : r->cells[k].distance;
    }
    for (okra_int i = 0; i < r->tests; i++) {
        first[i] = index[i * r->top];
    }
    if (r->top == 1) {
        best = okra_data_retain(all);
    } else {
        CHK(okra_data_take(all, first, r->tests, &best));
    }
    *out = (okra_decoded_){.objects = TAKE(best),
                           .proposals = TAKE(all),
                           .top = r->top,
                           .index = TAKE(index),
                           .distance = TAKE(distance)};
    return OKRA_OK;
}

/* ---- the best so far ---- */

okra_status okra_shortlist_open_(okra_int most, bool distinct, okra_shortlist_ *out)
{
    okra_shortlist_ list = {.most = most, .room = most, .distinct = distinct};
    ZMAKE(list.items, most);
    *out = list;
    return OKRA_OK;
}

void okra_shortlist_clear_(okra_shortlist_ *list)
{
    for (okra_int k = 0; list->items && k < list->room; k++) {
        okra_free_(list->items[k].codes);
    }
    okra_free_(list->items);
    *list = (okra_shortlist_){0};
}

void okra_shortlist_empty_(okra_shortlist_ *list)
{
    list->count = list->came = 0;
}

/* Its place; list->count: it is not there. */
static okra_int find_codes(const okra_shortlist_ *list, const int32_t *codes,
                           okra_int length)
{
    okra_int k = 0;
    while (k < list->count &&
           (list->items[k].length != length ||
            (length > 0 &&
             memcmp(list->items[k].codes, codes, (size_t)length * sizeof *codes) != 0))) {
        k++;
    }
    return k;
}

bool okra_shortlist_has_(const okra_shortlist_ *list, const int32_t *codes,
                         okra_int length)
{
    return find_codes(list, codes, length) < list->count;
}

okra_status okra_shortlist_put_(okra_shortlist_ *list, const int32_t *codes,
                                okra_int length, okra_key_ key, double distance)
{
    bool full = list->count == list->most;
    if (full && !okra_key_less_(key, list->items[list->most - 1].rank.key)) {
        return OKRA_OK;
    }
    okra_int k = list->distinct ? list->count : find_codes(list, codes, length);
    if (k < list->count) {
        okra_item_ same = list->items[k];
        if (!okra_key_less_(key, same.rank.key)) {
            return OKRA_OK;
        }
        memmove(list->items + k, list->items + k + 1,
                (size_t)(--list->count - k) * sizeof same);
        list->items[list->count] = same;
    }
    okra_item_ *it = okra_best_put_(list->items, sizeof *it, &list->count, list->most,
                                    (okra_rank_){key, list->came++});
    if (it) {
        it->length = 0;
        CHK(okra_reserve_(&it->codes, length, &it->room, sizeof *codes));
        OKRA_COPY_(it->codes, codes, length);
        it->length = length;
        it->distance = distance;
        it->expanded = false;
    }
    return OKRA_OK;
}

okra_item_ *okra_shortlist_next_(const okra_shortlist_ *list)
{
    for (okra_int k = 0; k < list->count; k++) {
        if (!list->items[k].expanded) {
            list->items[k].expanded = true;
            return &list->items[k];
        }
    }
    return NULL;
}

double okra_shortlist_worst_(const okra_shortlist_ *list)
{
    return list->count < list->most ? (double)INFINITY
                                    : list->items[list->most - 1].rank.key.high;
}

okra_status okra_results_list_(const okra_results_ *r, okra_int i,
                               const okra_shortlist_ *list)
{
    for (okra_int k = 0; k < OKRA_MIN_(r->top, list->count); k++) {
        const okra_item_ *it = &list->items[k];
        CHK(okra_results_put_(r, i, k, it->codes, it->length, it->distance));
    }
    return OKRA_OK;
}
