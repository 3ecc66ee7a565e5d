/*
 * editor.h: letters to write with, and the single edits of a string.
 */
#ifndef OKRA_EDITOR_H_
#define OKRA_EDITOR_H_

#include "decode/beam.h"

typedef struct okra_editor_ {
    int32_t *alphabet, *edited; /* distinct letters, ascending; space for one string */
    okra_int letters;
    okra_int longest, known; /* letters of a string, of a training output at most */
    bool one_length;         /* none is inserted or deleted */
} okra_editor_;

/* The letters of the training outputs y, or those of `text` where it has any; longest 0:
 * two more than a training output. */
okra_status okra_editor_open_(const okra_data *y, const char *text, okra_int longest,
                              okra_editor_ *out) OKRA_CHECK;
void okra_editor_clear_(okra_editor_ *editor);
/* Proposes every string that one letter inserted, deleted or replaced, or two neighbours
 * swapped, makes of this one. */
okra_status okra_editor_neighbours_(const okra_editor_ *editor, const int32_t *codes,
                                    okra_int length, okra_offer_ *offer) OKRA_CHECK;

#endif
