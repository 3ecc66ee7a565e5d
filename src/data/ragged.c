/*
 * ragged.c: runs of elements, one run an object.
 */
#include "data/strings.h"
#include "okra/more/objects.h"

size_t okra_field_size_(okra_field_type_ type)
{
    static const size_t sizes[] = {sizeof(double), sizeof(int32_t), 1, sizeof(okra_int)};
    return sizes[type];
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

okra_status okra_ragged_take_(const okra_ragged_ *from, okra_int parts,
                              const okra_int *index, const okra_int *counts,
                              okra_ragged_ *to)
{
    FREED_BY(okra_ragged_clear_) okra_ragged_ fresh = from[0];
    okra_int n = 0, at = 0;
    fresh.offsets = NULL;
    for (int k = 0; k < fresh.field_count; k++) {
        fresh.fields[k].values = NULL;
    }
    for (okra_int p = 0; p < parts; p++) {
        REFUSE_IF(!same_fields(&from[0], &from[p]), OKRA_EARG,
                  "the objects' '%s' and '%s' have different fields", from[0].name,
                  from[p].name);
        n += counts[p];
    }
    MAKE(fresh.offsets, n + 1);
    fresh.offsets[0] = 0;
    for (okra_int p = 0; p < parts; p++) {
        for (okra_int i = 0; i < counts[p]; i++, at++) {
            const okra_int *run = from[p].offsets + (index ? index[i] : i);
            fresh.offsets[at + 1] = fresh.offsets[at] + run[1] - run[0];
        }
    }
    for (int k = 0; k < fresh.field_count; k++) {
        size_t size = element_size(&fresh.fields[k]);
        char *target = okra_alloc_(fresh.offsets[n], size);
        GOT(target);
        fresh.fields[k].values = target;
        for (okra_int p = 0; p < parts; p++) {
            for (okra_int i = 0; i < counts[p]; i++) {
                const okra_int *run = from[p].offsets + (index ? index[i] : i);
                size_t bytes = (size_t)(run[1] - run[0]) * size;
                OKRA_COPY_(target,
                           (char *)from[p].fields[k].values + run[0] * (okra_int)size,
                           bytes);
                target += bytes;
            }
        }
    }
    *to = TAKE(fresh);
    return OKRA_OK;
}

/* ---- building ---- */

okra_status okra_ragged_begin_(okra_ragged_builder_ *b, const char *name, int field_count,
                               const okra_field_ *fields)
{
    memset(b, 0, sizeof *b);
    b->group.name = name;
    b->group.field_count = field_count;
    for (int k = 0; k < field_count; k++) {
        b->group.fields[k] = fields[k];
        b->group.fields[k].values = NULL;
    }
    b->objects_room = 16;
    bool made = (b->group.offsets =
                     okra_zalloc_(b->objects_room + 1, sizeof *b->group.offsets)) != NULL;
    for (int k = 0; made && k < field_count; k++) {
        made = (b->group.fields[k].values = okra_alloc_(0, 1)) != NULL;
    }
    if (!made) {
        okra_ragged_abandon_(b);
    }
    return made ? OKRA_OK : OKRA_EMEM;
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
    CHK(grow_elements(b, b->elements + count));
    for (int k = 0; count > 0 && k < b->group.field_count; k++) {
        size_t size = element_size(&b->group.fields[k]);
        memcpy((char *)b->group.fields[k].values + (size_t)b->elements * size, arrays[k],
               (size_t)count * size);
    }
    b->elements += count;
    return OKRA_OK;
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

okra_status okra_ragged_data_(okra_kind kind, okra_ragged_builder_ **parts,
                              const char *source, okra_data **out)
{
    okra_data *data = NULL;
    CHK(okra_data_new_(kind, parts[0]->objects, 0, source, &data));
    for (int k = 0; parts[k]; k++) {
        data->groups[data->group_count++] = TAKE(*parts[k]).group;
    }
    *out = data;
    return OKRA_OK;
}

void okra_ragged_abandon_(okra_ragged_builder_ *b)
{
    okra_ragged_clear_(&b->group);
    memset(b, 0, sizeof *b);
}

/* ---- sequences, bags and tuples from memory ---- */

static okra_status check_offsets(const char *kind, const okra_int *offsets, okra_int n,
                                 okra_int least)
{
    REFUSE_IF(!offsets, OKRA_EARG, "%s data: offsets are NULL", kind);
    for (okra_int i = 0; i <= n; i++) {
        REFUSE_IF(i == 0 ? offsets[0] != 0
                  : offsets[i]<offsets[i - 1] + least, OKRA_EARG,
                               "%s data: offsets[%" PRId64 "] is %" PRId64
                               "; they must begin at 0 and %s",
                               kind, i, offsets[i], least> 0
                      ? "rise"
                      : "never fall");
    }
    return OKRA_OK;
}

/* Fills the group of `data` with copies of the arrays. */
static okra_status fill_positions(okra_data *data, const okra_int *offsets,
                                  const double *vectors, const int32_t *labels)
{
    okra_int n = data->n, d = data->d, total = offsets[n], area = 0;
    okra_ragged_ *group = &data->groups[0];
    double *vector = NULL;
    int32_t *label = NULL;
    group->name = "positions";
    group->field_count = 2;
    group->fields[0] = (okra_field_){"vector", OKRA_FIELD_DOUBLE, d, NULL};
    group->fields[1] = (okra_field_){"label", OKRA_FIELD_INT32, 1, NULL};
    data->group_count = 1;
    CHK(okra_area_(total, d, sizeof *vectors, &area));
    MAKE(group->offsets, n + 1);
    memcpy(group->offsets, offsets, (size_t)(n + 1) * sizeof *offsets);
    MAKE(vector, area);
    group->fields[0].values = vector;
    MAKE(label, total);
    group->fields[1].values = label;
    OKRA_COPY_(vector, vectors, area);
    for (okra_int k = 0; k < total; k++) {
        label[k] = labels ? labels[k] : OKRA_NO_LABEL_;
    }
    return OKRA_OK;
}

okra_status okra_data_sequences(const okra_int *offsets, const double *vectors,
                                const int32_t *labels, okra_int n, okra_int d,
                                okra_data **out)
{
    NOT_NULL(out);
    FREED_BY(okra_data_drop_) okra_data *data = NULL;
    REFUSE_IF(n < 0 || d < 0, OKRA_ESHAPE,
              "sequences data: %" PRId64 " sequences of vectors of length %" PRId64, n,
              d);
    CHK(check_offsets("sequences", offsets, n, 0));
    REFUSE_IF(!vectors && d > 0 && offsets[n] > 0, OKRA_EARG,
              "sequences data: vectors are NULL");
    CHK(okra_at_(okra_finite_(vectors, d > 0 ? offsets[n] : 0, d, d), "sequences data"));
    CHK(okra_data_new_(OKRA_SEQUENCES, n, d, "memory", &data));
    CHK(fill_positions(data, offsets, vectors, labels));
    *out = TAKE(data);
    return OKRA_OK;
}

okra_status okra_data_bags(const okra_data *members, const okra_int *offsets, okra_int n,
                           okra_data **out)
{
    FREED_BY(okra_data_drop_) okra_data *data = NULL;
    NOT_NULL(members, out);
    REFUSE_IF(members->kind == OKRA_BAGS || members->kind == OKRA_TUPLE ||
                  okra_data_holds_gram_(members) || members->weights || n < 0,
              OKRA_EARG, "bags data: %s",
              n < 0 ? "their number is negative"
              : members->weights
                  ? "the objects have weights"
                  : "the objects are bags or tuples, or rows of a Gram matrix");
    CHK(check_offsets("bags", offsets, n, 1));
    REFUSE_IF(offsets[n] != members->n, OKRA_ESHAPE,
              "bags data: the bags have %" PRId64 " objects, and there are %" PRId64,
              offsets[n], members->n);
    CHK(okra_data_new_(OKRA_BAGS, n, 0, members->source, &data));
    data->groups[0].name = "members";
    data->group_count = 1;
    MAKE(data->groups[0].offsets, n + 1);
    memcpy(data->groups[0].offsets, offsets, (size_t)(n + 1) * sizeof *offsets);
    ZMAKE(data->components, 1);
    CHK(okra_data_copy(members, &data->components[0]));
    data->component_count = 1;
    *out = TAKE(data);
    return OKRA_OK;
}

okra_status okra_data_tuple(okra_data *const *parts, int count, okra_data **out)
{
    FREED_BY(okra_data_drop_) okra_data *data = NULL;
    NOT_NULL(out);
    REFUSE_IF(!parts || count < 1, OKRA_EARG, "tuple data: no parts");
    for (int k = 0; k < count; k++) {
        REFUSE_IF(!parts[k] || parts[k]->kind == OKRA_TUPLE, OKRA_EARG,
                  "tuple data: part %d %s", k + 1,
                  parts[k] ? "is a tuple itself" : "is NULL");
        REFUSE_IF(parts[k]->n != parts[0]->n, OKRA_ESHAPE,
                  "%s has %" PRId64 " objects and %s %" PRId64
                  ": several descriptions must be of the same objects",
                  parts[0]->source, parts[0]->n, parts[k]->source, parts[k]->n);
    }
    CHK(okra_data_new_(OKRA_TUPLE, parts[0]->n, count, "tuple", &data));
    ZMAKE(data->components, count);
    for (int k = 0; k < count; k++) {
        /* What only borrows its memory is copied: a tuple owns what it holds. */
        CHK(okra_data_copy(parts[k], &data->components[k]));
        data->component_count = k + 1;
    }
    *out = TAKE(data);
    return OKRA_OK;
}

/* ---- strings ---- */

okra_status okra_characters_begin_(okra_ragged_builder_ *b)
{
    static const okra_field_ fields[] = {{"code", OKRA_FIELD_INT32, 1, NULL}};
    return okra_ragged_begin_(b, "characters", 1, fields);
}

okra_status okra_strings_adopt_(okra_ragged_builder_ *characters,
                                okra_ragged_builder_ *names, const char *source,
                                okra_data **out)
{
    okra_ragged_builder_ *parts[] = {characters, names, NULL};
    return okra_ragged_data_(OKRA_STRINGS, parts, source, out);
}

/* One zero-ended text as an object of the builder. */
static okra_status add_text(okra_ragged_builder_ *b, const char *text, okra_int index)
{
    okra_utf8_ utf8 = {0};
    for (const char *p = text; *p; p++) {
        int32_t code = okra_utf8_take_(&utf8, (unsigned char)*p);
        if (code >= 0) {
            CHK(okra_ragged_push_(b, (const void *const[]){&code}));
        } else if (code == OKRA_UTF8_BAD_) {
            return okra_fail_(OKRA_EFORMAT,
                              "string %" PRId64 " (counted from 0), character %" PRId64
                              ": not UTF-8 (byte 0x%02x)",
                              index, okra_ragged_open_count_(b) + 1, (unsigned char)*p);
        }
    }
    REFUSE_IF(utf8.more > 0, OKRA_EFORMAT,
              "string %" PRId64 " (counted from 0) ends inside a UTF-8 character", index);
    REFUSE_IF(okra_ragged_open_count_(b) > OKRA_STRING_MOST_, OKRA_EFORMAT,
              "string %" PRId64
              " (counted from 0) has more than %d characters, the limit",
              index, OKRA_STRING_MOST_);
    return okra_ragged_close_(b);
}

okra_status okra_data_strings(const char *const *texts, okra_int n, okra_data **out)
{
    NOT_NULL(out);
    FREED_BY(okra_ragged_abandon_) okra_ragged_builder_ b = {0};
    REFUSE_IF(n < 0 || (!texts && n > 0), OKRA_EARG, "strings data: %s",
              n < 0 ? "the number of strings is negative" : "texts are NULL");
    CHK(okra_characters_begin_(&b));
    for (okra_int i = 0; i < n; i++) {
        REFUSE_IF(!texts[i], OKRA_EARG,
                  "strings data: text %" PRId64 " (counted from 0) is NULL", i);
        CHK(add_text(&b, texts[i], i));
    }
    return okra_strings_adopt_(&b, NULL, "memory", out);
}

const int32_t *okra_data_characters(const okra_data *data, okra_int i, okra_int *length)
{
    bool valid = data && (data->kind == OKRA_STRINGS || data->kind == OKRA_SEQUENCES) &&
                 i >= 0 && i < data->n;
    okra_int unasked;
    return valid ? okra_characters_(data, i, length ? length : &unasked) : NULL;
}
