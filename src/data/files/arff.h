/*
 * arff.h: the head of an attribute-relation file, and its rows one by one.
 */
#ifndef OKRA_ARFF_H_
#define OKRA_ARFF_H_

#include "data/files/formats.h"

typedef enum okra_arff_sort_ {
    OKRA_ARFF_NUMERIC_,
    OKRA_ARFF_NOMINAL_NUMBERS_,
    OKRA_ARFF_NOMINAL_TEXTS_,
    OKRA_ARFF_OTHER_
} okra_arff_sort_;

typedef struct okra_arff_attribute_ {
    okra_arff_sort_ sort;
    okra_int name;        /* index into texts                           */
    okra_int first, last; /* the nominal values in texts, last excluded */
} okra_arff_attribute_;

typedef struct okra_arff_ {
    okra_lines_ lines;
    okra_arff_attribute_ *attributes;
    okra_int count, room;
    okra_texts_ texts; /* names and nominal values */
    okra_int rows;
    bool sparse;
} okra_arff_;

typedef struct okra_span_ {
    const char *begin, *close;
} okra_span_;

/* Reads up to @data; r->lines stand at the beginning of the file. */
okra_status okra_arff_head_(okra_arff_ *r) OKRA_CHECK;
const char *okra_arff_name_(const okra_arff_ *r, okra_int attribute);
/* The next line that is neither blank nor a comment, its leading blanks cut. */
bool okra_arff_line_(okra_lines_ *lines);
/* Counts the rows, and returns the commas, a bound on the entries of sparse rows. */
okra_int okra_arff_measure_(okra_arff_ *r);

/* What is done with the value of attribute k in the current row. */
typedef okra_status (*okra_arff_taker_)(void *arg, const okra_arff_ *r, okra_int k,
                                        okra_span_ value);
/* The values that the current line holds. */
okra_status okra_arff_row_(okra_arff_ *r, okra_arff_taker_ take, void *arg) OKRA_CHECK;

#endif
