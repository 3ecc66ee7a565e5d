/*
 * results.c: what decoders make up: the best objects of every test point, as codes.
 */
#include "decode/results.h"

#include "data/strings.h"

#include <math.h>
#include <string.h>

okra_status okra_reserve_(void **block, okra_int need, okra_int *room, size_t size)
{
    if (need > *room) {
        okra_int larger = OKRA_MAX_(need, 2 * *room + 256);
        void *grown = okra_realloc_(*block, larger, size);
        GOT(grown);
        *block = grown;
        *room = larger;
    }
    return OKRA_OK;
}

okra_status okra_result_make_(const int32_t *codes, okra_int length, double distance,
                              okra_result_ *out)
{
    MAKE(out->codes, OKRA_MAX_(length, 1));
    if (length > 0) {
        memcpy(out->codes, codes, (size_t)length * sizeof *codes);
    }
    out->length = length;
    out->distance = distance;
    return OKRA_OK;
}

void okra_result_free_(okra_result_ *found, okra_int count)
{
    for (okra_int k = 0; found && k < count; k++) {
        okra_free_(found[k].codes);
    }
    okra_free_(found);
}

/* Characters as data of the kind of y: strings, or sequences whose vectors are 0. The
 * builder is emptied. */
static okra_status letters_as(const okra_data *y, okra_ragged_builder_ *b,
                              okra_data **out)
{
    FREED_BY(okra_data_drop_) okra_data *strings = NULL;
    OWNED double *zeros = NULL;
    CHK(okra_strings_adopt_(b, NULL, "decoded strings", &strings));
    if (y->kind == OKRA_SEQUENCES) {
        const okra_ragged_ *group = &strings->groups[0];
        okra_int total = group->offsets[strings->n];
        ZMAKE(zeros, total * y->d);
        CHK(okra_data_sequences(group->offsets, zeros, group->fields[0].values,
                                strings->n, y->d, out));
    } else {
        *out = okra_data_retain(strings);
    }
    return OKRA_OK;
}

okra_status okra_objects_letters_(const void *user, const int32_t *codes,
                                  const okra_int *offsets, okra_int count,
                                  okra_data **out)
{
    FREED_BY(okra_ragged_abandon_) okra_ragged_builder_ b = {0};
    CHK(okra_characters_begin_(&b));
    for (okra_int i = 0; i < count; i++) {
        const void *const array[] = {codes + offsets[i]};
        CHK(okra_ragged_push_many_(&b, offsets[i + 1] - offsets[i], array));
        CHK(okra_ragged_close_(&b));
    }
    return letters_as(user, &b, out);
}

okra_status okra_results_open_(okra_context *ctx, const char *who, double most,
                               const okra_decode_request_ *request, okra_results_ *out)
{
    okra_int top = (okra_int)fmin((double)OKRA_MAX_(request->top, 1), fmax(most, 1));
    okra_int cells = request->tests * top;
    FREED_BY(okra_results_clear_) okra_results_ f = {.tests = request->tests, .top = top};
    REFUSE_IF(request->candidates || request->ranges, OKRA_EARG,
              "decoder %s takes no candidates", who);
    CHK(okra_budget_ask_(ctx, (double)cells * (sizeof *f.distance + sizeof *f.index),
                         "the decoded objects of all test points"));
    CHK(okra_doubles_(ctx, f.tests, top, "the distances of decoded objects",
                      &f.distance));
    MAKE(f.index, cells);
    for (okra_int k = 0; k < cells; k++) {
        f.index[k] = -1;
        f.distance[k] = (double)INFINITY;
    }
    *out = f;
    f = (okra_results_){0};
    return OKRA_OK;
}

OKRA_SHARED_CLEARS_(okra_results_clear_, okra_results_, it->codes, it->offsets, it->index,
                    it->distance)

okra_status okra_results_put_(okra_results_ *f, okra_int i, okra_int rank,
                              const int32_t *codes, okra_int length, double distance)
{
    okra_int begin = f->count > 0 ? f->offsets[f->count] : 0;
    CHK(okra_reserve_((void **)&f->offsets, f->count + 2, &f->room, sizeof *f->offsets));
    CHK(okra_reserve_((void **)&f->codes, begin + length + 1, &f->codes_room,
                      sizeof *f->codes));
    if (length > 0) {
        memcpy(f->codes + begin, codes, (size_t)length * sizeof *codes);
    }
    f->offsets[f->count] = begin;
    f->offsets[f->count + 1] = begin + length;
    f->index[i * f->top + rank] = f->count++;
    f->distance[i * f->top + rank] = distance;
    return OKRA_OK;
}

okra_status okra_results_put_all_(okra_results_ *f, okra_int first, okra_int rows,
                                  const okra_result_ *found)
{
    for (okra_int k = 0; k < rows * f->top; k++) {
        if (found[k].codes) {
            CHK(okra_results_put_(f, first + k / f->top, k % f->top, found[k].codes,
                                  found[k].length, found[k].distance));
        }
    }
    return OKRA_OK;
}

okra_status okra_results_give_(okra_results_ *f, okra_objects_ objects, const void *user,
                               okra_decoded_ *out)
{
    static const okra_int none[] = {0};
    FREED_BY(okra_data_drop_) okra_data *all = NULL;
    OWNED okra_int *first = NULL;
    okra_data *best = NULL;
    MAKE(first, f->tests);
    for (okra_int i = 0; i < f->tests; i++) {
        first[i] = f->index[i * f->top];
    }
    CHK(objects(user, f->codes, f->count > 0 ? f->offsets : none, f->count, &all));
    if (f->top == 1) {
        best = okra_data_retain(all);
    } else {
        CHK(okra_data_take(all, first, f->tests, &best));
    }
    *out = (okra_decoded_){.objects = best,
                           .proposals = all,
                           .top = f->top,
                           .index = f->index,
                           .distance = f->distance};
    all = NULL;
    f->index = NULL;
    f->distance = NULL;
    return OKRA_OK;
}
