/*
 * ragged.c: runs of elements, one run an object.
 */
#include "data/ragged.h"

#include <string.h>

size_t okra_field_size_(okra_field_type_ type)
{
    return type == OKRA_FIELD_DOUBLE  ? sizeof(double)
           : type == OKRA_FIELD_INT32 ? sizeof(int32_t)
                                      : 1;
}

/* Bytes of one element of a field. */
static size_t element_size(const okra_field_ *f)
{
    return (size_t)f->width * okra_field_size_(f->type);
}

const okra_field_ *okra_ragged_field_(const okra_ragged_ *group, const char *name)
{
    for (int k = 0; k < group->field_count; k++) {
        if (strcmp(group->fields[k].name, name) == 0) {
            return &group->fields[k];
        }
    }
    return NULL;
}

void okra_ragged_clear_(okra_ragged_ *group)
{
    okra_free_(group->offsets);
    for (int k = 0; k < group->field_count; k++) {
        okra_free_(group->fields[k].values);
    }
    memset(group, 0, sizeof *group);
}

static void take_field(const okra_ragged_ *from, const okra_int *index, okra_int count,
                       const okra_ragged_ *to, int k)
{
    size_t size = element_size(&from->fields[k]);
    const char *source = from->fields[k].values;
    char *target = to->fields[k].values;
    for (okra_int i = 0; i < count; i++) {
        okra_int begin = from->offsets[index ? index[i] : i];
        size_t run = (size_t)(to->offsets[i + 1] - to->offsets[i]) * size;
        if (run > 0) {
            memcpy(target + (size_t)to->offsets[i] * size, source + (size_t)begin * size,
                   run);
        }
    }
}

okra_status okra_ragged_take_(const okra_ragged_ *from, const okra_int *index,
                              okra_int count, okra_ragged_ *to)
{
    FREED_BY(okra_ragged_clear_) okra_ragged_ fresh = *from;
    fresh.offsets = NULL;
    for (int k = 0; k < fresh.field_count; k++) {
        fresh.fields[k].values = NULL;
    }
    MAKE(fresh.offsets, count + 1);
    fresh.offsets[0] = 0;
    for (okra_int i = 0; i < count; i++) {
        okra_int j = index ? index[i] : i;
        fresh.offsets[i + 1] = fresh.offsets[i] + from->offsets[j + 1] - from->offsets[j];
    }
    for (int k = 0; k < fresh.field_count; k++) {
        fresh.fields[k].values =
            okra_alloc_(fresh.offsets[count], element_size(&fresh.fields[k]));
        GOT(fresh.fields[k].values);
        take_field(from, index, count, &fresh, k);
    }
    *to = fresh;
    memset(&fresh, 0, sizeof fresh);
    return OKRA_OK;
}

static bool same_fields(const okra_ragged_ *a, const okra_ragged_ *b)
{
    bool same = strcmp(a->name, b->name) == 0 && a->field_count == b->field_count;
    for (int k = 0; same && k < a->field_count; k++) {
        const okra_field_ *f = &a->fields[k], *g = &b->fields[k];
        same =
            strcmp(f->name, g->name) == 0 && f->type == g->type && f->width == g->width;
    }
    return same;
}

okra_status okra_ragged_concat_(const okra_ragged_ *a, okra_int na, const okra_ragged_ *b,
                                okra_int nb, okra_ragged_ *to)
{
    FREED_BY(okra_ragged_abandon_) okra_ragged_builder_ all = {0};
    const okra_ragged_ *parts[] = {a, b};
    const okra_int counts[] = {na, nb};
    REFUSE_IF(!same_fields(a, b), OKRA_EARG,
              "the objects' '%s' and '%s' have different fields", a->name, b->name);
    CHK(okra_ragged_begin_(&all, a->name, a->field_count, a->fields));
    for (int p = 0; p < 2; p++) {
        const okra_int *offsets = parts[p]->offsets;
        const void *arrays[OKRA_FIELDS_MOST];
        for (int k = 0; k < a->field_count; k++) {
            arrays[k] = parts[p]->fields[k].values;
        }
        CHK(okra_ragged_push_many_(&all, offsets[counts[p]], arrays));
        okra_int before = p == 0 ? 0 : a->offsets[na];
        for (okra_int i = 0; i < counts[p]; i++) {
            CHK(okra_ragged_close_(&all));
            all.group.offsets[all.objects] = before + offsets[i + 1];
        }
    }
    okra_ragged_finish_(&all, to);
    return OKRA_OK;
}

/* ---- building ---- */

okra_status okra_ragged_begin_(okra_ragged_builder_ *b, const char *name, int field_count,
                               const okra_field_ *fields)
{
    okra_status st = OKRA_OK;
    memset(b, 0, sizeof *b);
    b->group.name = name;
    b->group.field_count = field_count;
    for (int k = 0; k < field_count; k++) {
        b->group.fields[k] = fields[k];
        b->group.fields[k].values = NULL;
    }
    b->objects_room = 16;
    ALLOC(b->group.offsets, b->objects_room + 1);
    b->group.offsets[0] = 0;
    for (int k = 0; k < field_count; k++) {
        b->group.fields[k].values = okra_alloc_(0, 1);
        if (!b->group.fields[k].values) {
            st = OKRA_EMEM;
            goto done;
        }
    }
done:
    if (st != OKRA_OK) {
        okra_ragged_abandon_(b);
    }
    return st;
}

static okra_status grow_elements(okra_ragged_builder_ *b, okra_int need)
{
    if (need <= b->elements_room) {
        return OKRA_OK;
    }
    okra_int room = OKRA_MAX_(need, b->elements_room + b->elements_room / 2 + 64);
    for (int k = 0; k < b->group.field_count; k++) {
        okra_field_ *f = &b->group.fields[k];
        void *grown = okra_realloc_(f->values, room, element_size(f));
        GOT(grown);
        f->values = grown;
    }
    b->elements_room = room;
    return OKRA_OK;
}

okra_status okra_ragged_push_many_(okra_ragged_builder_ *b, okra_int count,
                                   const void *const *arrays)
{
    okra_status st = grow_elements(b, b->elements + count);
    for (int k = 0; st == OKRA_OK && count > 0 && k < b->group.field_count; k++) {
        size_t size = element_size(&b->group.fields[k]);
        memcpy((char *)b->group.fields[k].values + (size_t)b->elements * size, arrays[k],
               (size_t)count * size);
    }
    if (st == OKRA_OK) {
        b->elements += count;
    }
    return st;
}

okra_status okra_ragged_push_(okra_ragged_builder_ *b, const void *const *element)
{
    return okra_ragged_push_many_(b, 1, element);
}

okra_int okra_ragged_open_count_(const okra_ragged_builder_ *b)
{
    return b->elements - b->group.offsets[b->objects];
}

okra_status okra_ragged_close_(okra_ragged_builder_ *b)
{
    if (b->objects == b->objects_room) {
        okra_int room = 2 * b->objects_room;
        okra_int *grown =
            okra_realloc_(b->group.offsets, room + 1, sizeof *b->group.offsets);
        GOT(grown);
        b->group.offsets = grown;
        b->objects_room = room;
    }
    b->group.offsets[++b->objects] = b->elements;
    return OKRA_OK;
}

void okra_ragged_finish_(okra_ragged_builder_ *b, okra_ragged_ *out)
{
    *out = b->group;
    memset(b, 0, sizeof *b);
}

void okra_ragged_abandon_(okra_ragged_builder_ *b)
{
    okra_ragged_clear_(&b->group);
    memset(b, 0, sizeof *b);
}
