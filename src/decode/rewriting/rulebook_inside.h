/*
 * rulebook_inside.h: what a rulebook holds.
 */
#ifndef OKRA_RULEBOOK_INSIDE_H_
#define OKRA_RULEBOOK_INSIDE_H_

#include "data/strings.h"
#include "decode/rewriting/rulebook.h"

typedef struct okra_counted_ {
    uint64_t hash;
    okra_int count, place; /* place: of a feature, the pair that has it first */
} okra_counted_;

struct okra_rulebook_ {
    const okra_data *x, *y;
    okra_int n;
    okra_prices_ prices;
    okra_script_ *scripts; /* n */
    uint8_t (*forms)[OKRA_CHANGES_MOST_];
    okra_counted_ *changes; /* forms of changes by hash */
    okra_int change_count;
    okra_counted_ *features; /* by hash */
    okra_int feature_count;
    int32_t (*of)[OKRA_ASPECTS_]; /* n: features of the pairs */
    int32_t *by[OKRA_ASPECTS_];   /* features of an aspect */
    okra_int by_count[OKRA_ASPECTS_];
};

static inline okra_word_ okra_rulebook_word_(const okra_data *data, okra_int i)
{
    okra_word_ w;
    w.code = okra_characters_(data, i, &w.length);
    return w;
}

#endif
