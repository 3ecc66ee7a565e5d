/*
 * parts.h: a model file taken apart, changed and sealed again, as somebody would who
 * knows the format and wants harm.
 */
#ifndef OKRA_TEST_PARTS_H
#define OKRA_TEST_PARTS_H

#include "data/files/archive.h"
#include "model/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS_MOST = 96, PARTS_NAME = 120 };

typedef struct part {
    char name[PARTS_NAME]; /* bag/coefficients; "": taken out */
    char dtype[8];
    okra_int rows, cols; /* cols < 0: a vector */
    unsigned char *bytes;
    size_t size; /* of the bytes */
} part;

typedef struct parts {
    part p[PARTS_MOST];
    size_t count;
    json_t *about; /* model.json without its arrays */
} parts;

#define PARTS_CHECK(condition)                                                 \
    do {                                                                       \
        if (!(condition)) {                                                    \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, \
                    okra_message());                                           \
            abort();                                                           \
        }                                                                      \
    } while (0)

static inline size_t part_element(const char *dtype)
{
    return (size_t)(dtype[2] - '0');
}

static inline void parts_read(const char *path, parts *m)
{
    okra_zip_ *zip = NULL;
    const unsigned char *bytes = NULL;
    void *owned = NULL;
    okra_int size = 0;
    const char *key;
    json_t *value;
    memset(m, 0, sizeof *m);
    PARTS_CHECK(okra_zip_open_(NULL, path, &zip) == OKRA_OK);
    PARTS_CHECK(okra_zip_entry_(NULL, zip, okra_zip_find_(zip, "model.json"), &bytes,
                                &size, &owned) == OKRA_OK);
    m->about = json_loadb((const char *)bytes, (size_t)size, 0, NULL);
    json_object_foreach(json_object_get(m->about, "arrays"), key, value)
    {
        char entry[PARTS_NAME + 8];
        part *a = &m->p[m->count++];
        const json_t *shape = json_object_get(value, "shape");
        PARTS_CHECK(m->count <= PARTS_MOST && strlen(key) < PARTS_NAME);
        snprintf(a->name, sizeof a->name, "%s", key);
        snprintf(a->dtype, sizeof a->dtype, "%s",
                 json_string_value(json_object_get(value, "dtype")));
        a->rows = json_integer_value(json_array_get(shape, 0));
        a->cols = json_array_size(shape) == 2
                      ? json_integer_value(json_array_get(shape, 1))
                      : -1;
        a->size =
            (size_t)(a->rows * (a->cols < 0 ? 1 : a->cols)) * part_element(a->dtype);
        snprintf(entry, sizeof entry, "%s.npy", key);
        PARTS_CHECK(okra_zip_entry_(NULL, zip, okra_zip_find_(zip, entry), &bytes, &size,
                                    &owned) == OKRA_OK);
        a->bytes = malloc(a->size + 1);
        PARTS_CHECK(a->bytes && (size_t)size >= a->size);
        memcpy(a->bytes, bytes + size - a->size, a->size);
    }
    json_object_del(m->about, "arrays");
    okra_zip_close_(zip);
}

static inline void parts_free(parts *m)
{
    for (size_t i = 0; i < m->count; i++) {
        free(m->p[i].bytes);
    }
    json_decref(m->about);
    memset(m, 0, sizeof *m);
}

/* A copy that can be changed apart. */
static inline void parts_copy(const parts *from, parts *to)
{
    *to = *from;
    to->about = json_deep_copy(from->about);
    for (size_t i = 0; i < to->count; i++) {
        to->p[i].bytes = malloc(to->p[i].size + 1);
        PARTS_CHECK(to->p[i].bytes);
        memcpy(to->p[i].bytes, from->p[i].bytes, to->p[i].size);
    }
}

static inline part *parts_find(parts *m, const char *name)
{
    for (size_t i = 0; i < m->count; i++) {
        if (strcmp(m->p[i].name, name) == 0) {
            return &m->p[i];
        }
    }
    return NULL;
}

/* Another shape; the elements are repeated as often as needed. */
static inline void part_reshape(part *a, okra_int rows, okra_int cols)
{
    size_t size = (size_t)(rows * (cols < 0 ? 1 : cols)) * part_element(a->dtype);
    unsigned char *bytes = calloc(size + 1, 1);
    PARTS_CHECK(bytes);
    for (size_t i = 0; i < size && a->size > 0; i++) {
        bytes[i] = a->bytes[i % a->size];
    }
    free(a->bytes);
    a->rows = rows;
    a->cols = cols;
    a->bytes = bytes;
    a->size = size;
}

static inline void parts_reshape(parts *m, const char *name, okra_int rows, okra_int cols)
{
    part *a = parts_find(m, name);
    PARTS_CHECK(a);
    part_reshape(a, rows, cols);
}

static inline void parts_drop(parts *m, const char *name)
{
    part *a = parts_find(m, name);
    PARTS_CHECK(a);
    a->name[0] = '\0';
}

/* A matrix of doubles, all `value`, that was not there. */
static inline void parts_add(parts *m, const char *name, okra_int rows, okra_int cols,
                             double value)
{
    part *a = &m->p[m->count++];
    PARTS_CHECK(m->count <= PARTS_MOST);
    *a = (part){.rows = rows, .cols = cols, .size = (size_t)(rows * cols) * 8};
    snprintf(a->name, sizeof a->name, "%s", name);
    snprintf(a->dtype, sizeof a->dtype, "<f8");
    a->bytes = malloc(a->size + 1);
    PARTS_CHECK(a->bytes);
    for (okra_int i = 0; i < rows * cols; i++) {
        memcpy(a->bytes + i * 8, &value, 8);
    }
}

static inline void parts_set(parts *m, const char *name, size_t at, double value)
{
    part *a = parts_find(m, name);
    PARTS_CHECK(a && (at + 1) * 8 <= a->size);
    memcpy(a->bytes + at * 8, &value, 8);
}

static inline void parts_number(parts *m, const char *name, double value)
{
    json_object_set_new(json_object_get(m->about, "numbers"), name, json_real(value));
}

static inline void parts_text(parts *m, const char *name, const char *value)
{
    json_object_set_new(json_object_get(m->about, "texts"), name, json_string(value));
}

static inline void parts_kernel(parts *m, const char *side, const char *value)
{
    json_object_set_new(json_object_get(m->about, "kernels"), side, json_string(value));
}

/* x or y: count, width. */
static inline void parts_about(parts *m, const char *side, const char *key,
                               json_int_t value)
{
    json_object_set_new(json_object_get(m->about, side), key, json_integer(value));
}

static inline void parts_write(const parts *m, const char *path)
{
    okra_writer_ *file = NULL;
    okra_saver_ saver = {.arrays = json_object()};
    char *text = NULL;
    PARTS_CHECK(okra_writer_open_(path, &file) == OKRA_OK);
    PARTS_CHECK(okra_zip_writer_create_(file, &saver.zip) == OKRA_OK);
    for (size_t i = 0; i < m->count; i++) {
        const part *a = &m->p[i];
        char folder[PARTS_NAME];
        char *slash;
        if (!a->name[0]) {
            continue;
        }
        snprintf(folder, sizeof folder, "%s", a->name);
        slash = strrchr(folder, '/');
        PARTS_CHECK(slash);
        *slash = '\0';
        okra_int width = (okra_int)part_element(a->dtype) * (a->cols < 0 ? 1 : a->cols);
        PARTS_CHECK(okra_saver_put_(&saver, folder, slash + 1, a->dtype, a->rows, a->cols,
                                    a->bytes, width) == OKRA_OK);
    }
    json_t *about = json_deep_copy(m->about);
    if (!json_object_get(about, "arrays")) {
        json_object_set(about, "arrays", saver.arrays);
    }
    PARTS_CHECK(okra_json_text_(about, &text) == OKRA_OK);
    PARTS_CHECK(okra_zip_add_(saver.zip, "model.json", text, strlen(text), NULL, 0, 0, 0,
                              NULL) == OKRA_OK);
    PARTS_CHECK(okra_zip_finish_(saver.zip) == OKRA_OK);
    okra_zip_writer_free_(saver.zip);
    PARTS_CHECK(okra_writer_commit_(file) == OKRA_OK);
    okra_free_(text);
    json_decref(about);
    json_decref(saver.arrays);
}

#endif
