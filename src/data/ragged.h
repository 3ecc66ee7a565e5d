/*
 * ragged.h: objects of varying size: strings, sequences, graphs, molecules.
 *
 * A ragged group gives each object a run of elements (characters, positions, atoms,
 * bonds): object i owns elements offsets[i]..offsets[i+1]-1. Every element has a few
 * fields, each an array of `width` values an element. Copying, choosing, saving and
 * loading a collection go over its groups and fields without knowing what they mean:
 *
 *     strings    characters: code point (int32)         [lines: text (uint8)]
 *     sequences  positions: vector (double, width d), label (int32)
 *     graphs     nodes: label, ...; edges: ends (int32, width 2, numbered within the
 *                object), label; texts: the object as it was written (uint8)
 *     spectra    peaks: mz, intensity (double); ion; names; texts (data/spectra)
 */
#ifndef OKRA_RAGGED_H_
#define OKRA_RAGGED_H_

#include "core/core.h"

typedef enum okra_field_type_ {
    OKRA_FIELD_DOUBLE,
    OKRA_FIELD_INT32,
    OKRA_FIELD_BYTE,
} okra_field_type_;

enum { OKRA_FIELDS_MOST = 8, OKRA_GROUPS_MOST = 4 };

typedef struct okra_field_ {
    const char *name; /* a literal: the kind's reader and kernels know it */
    okra_field_type_ type;
    okra_int width; /* values an element */
    void *values;   /* owned by the group */
} okra_field_;

typedef struct okra_ragged_ {
    const char *name;  /* a literal */
    okra_int *offsets; /* n + 1, offsets[0] = 0; owned */
    int field_count;
    okra_field_ fields[OKRA_FIELDS_MOST];
} okra_ragged_;

size_t okra_field_size_(okra_field_type_ type); /* bytes of one value */
/* The field of that name, or NULL. */
const okra_field_ *okra_ragged_field_(const okra_ragged_ *group, const char *name);
/* The chosen objects of a group of n (index == NULL: all of them). */
okra_status okra_ragged_take_(const okra_ragged_ *from, const okra_int *index,
                              okra_int count, okra_ragged_ *to);
/* The na objects of a, then the nb of b; both must have the same fields. */
okra_status okra_ragged_concat_(const okra_ragged_ *a, okra_int na, const okra_ragged_ *b,
                                okra_int nb, okra_ragged_ *to);
/* Frees offsets and values; the struct itself is the caller's. */
void okra_ragged_clear_(okra_ragged_ *group);

/* A group under construction: append elements one after another, close each object. */
typedef struct okra_ragged_builder_ {
    okra_ragged_ group;
    okra_int objects, objects_room, elements, elements_room;
} okra_ragged_builder_;
/* Fields are given by name, type, width, in order; values start empty. */
okra_status okra_ragged_begin_(okra_ragged_builder_ *b, const char *name, int field_count,
                               const okra_field_ *fields);
/* Appends one element; element[k] points at `width` values of field k. */
okra_status okra_ragged_push_(okra_ragged_builder_ *b, const void *const *element);
/* Appends `count` elements at once; arrays[k] holds count*width values of field k. */
okra_status okra_ragged_push_many_(okra_ragged_builder_ *b, okra_int count,
                                   const void *const *arrays);
/* Ends the current object. */
okra_status okra_ragged_close_(okra_ragged_builder_ *b);
/* Elements of the object under construction so far. */
okra_int okra_ragged_open_count_(const okra_ragged_builder_ *b);
/* Moves the finished group to `out`; the builder is empty afterwards. */
void okra_ragged_finish_(okra_ragged_builder_ *b, okra_ragged_ *out);
void okra_ragged_abandon_(okra_ragged_builder_ *b);

#endif
