/*
 * names.h: texts and their numbers, in order of first appearance.
 */
#ifndef OKRA_NAMES_H_
#define OKRA_NAMES_H_

#include "data/files/formats.h"

/* All zero when empty. */
typedef struct okra_names_ {
    okra_texts_ texts;
    okra_int *table; /* place plus 1; 0: empty */
    okra_int mask;
} okra_names_;

static inline const char *okra_name_(const okra_names_ *n, okra_int i)
{
    return n->texts.block + n->texts.offsets[i];
}
/* The number of a name, -1 if it is not there. */
okra_int okra_names_find_(const okra_names_ *n, const char *p, const char *end);
/* The same, given the next number if it is new. */
okra_status okra_names_add_(okra_names_ *n, const char *p, const char *end,
                            okra_int *code);
void okra_names_free_(okra_names_ *n);

#endif
