/*
 * kept.h: what a model keeps, declared by whoever keeps it.
 *
 * A method, a kernel, a map of low rank has a table of what it puts into a model's bag:
 * names, shapes as sizes of the model, ranges of values. A model file is checked against
 * these tables before anything in it is used (model/check.c), and what no table names is
 * refused.
 *
 * Sizes are written as sums of terms K, NAME or K*NAME: "n", "2*N", "n+1". A name that
 * has no value yet takes it from the shape where it stands alone: the "p" of a first
 * matrix "n" x "p" is a size from then on.
 */
#ifndef OKRA_KEPT_H_
#define OKRA_KEPT_H_

#include "data/data.h"

typedef enum okra_kept_sort_ {
    OKRA_KEPT_MATRIX_,
    OKRA_KEPT_NUMBER_,
    OKRA_KEPT_TEXT_,
    OKRA_KEPT_EQUAL_, /* nothing is kept: `rows` and `cols` must be the same size */
} okra_kept_sort_;

/* What is asked of values beyond being finite and between low and high. */
enum {
    OKRA_KEPT_WHOLE_ = 1,    /* integers                                      */
    OKRA_KEPT_POSITIVE_ = 2, /* above 0                                       */
    OKRA_KEPT_FACTOR_ = 4,   /* a matrix whose diagonal is above 0            */
    OKRA_KEPT_OPTIONAL_ = 8, /* it may be absent                              */
    OKRA_KEPT_LOOSE_ = 16,   /* a number that is told, not used: any there is */
};

typedef struct okra_kept_ {
    const char *name; /* after its owner's prefix; "": the prefix itself */
    okra_kept_sort_ sort;
    unsigned flags;
    const char *rows, *cols; /* of a matrix */
    const char *low, *high;  /* of values, as sizes or numbers; NULL: no bound */
} okra_kept_;

/* Rows of tables. */
#define OKRA_KEEPS_MATRIX_(name, flags, rows, cols)            \
    {                                                          \
        name, OKRA_KEPT_MATRIX_, flags, rows, cols, NULL, NULL \
    }
#define OKRA_KEEPS_VALUES_(name, flags, rows, cols, low, high) \
    {                                                          \
        name, OKRA_KEPT_MATRIX_, flags, rows, cols, low, high  \
    }
#define OKRA_KEEPS_NUMBER_(name, flags, low, high)            \
    {                                                         \
        name, OKRA_KEPT_NUMBER_, flags, NULL, NULL, low, high \
    }
#define OKRA_KEEPS_TEXT_(name, flags)                        \
    {                                                        \
        name, OKRA_KEPT_TEXT_, flags, NULL, NULL, NULL, NULL \
    }
/* A number that is there to be read by people, if it is there. */
#define OKRA_KEEPS_TOLD_(name) \
    OKRA_KEEPS_NUMBER_(name, OKRA_KEPT_OPTIONAL_ | OKRA_KEPT_LOOSE_, NULL, NULL)
/* Nothing: `a` must be as many as `b`; `what` names them in the message. */
#define OKRA_KEEPS_SAME_(what, a, b)                \
    {                                               \
        what, OKRA_KEPT_EQUAL_, 0, a, b, NULL, NULL \
    }

/* Tables end at a row without a name. */
#define OKRA_KEPT_END_                                    \
    {                                                     \
        NULL, OKRA_KEPT_EQUAL_, 0, NULL, NULL, NULL, NULL \
    }

/* Sizes by name. A value < 0: there is no such size in this model. */
enum { OKRA_SIZES_MOST_ = 24 };
typedef struct okra_sizes_ {
    struct {
        char name[12];
        okra_int value;
    } of[OKRA_SIZES_MOST_];
    int count;
} okra_sizes_;
void okra_sizes_set_(okra_sizes_ *sizes, const char *name, okra_int value);
/* The value of a name, or -1. */
okra_int okra_sizes_get_(const okra_sizes_ *sizes, const char *name);

/* OKRA_EFORMAT unless the bag holds what the rows say, each name after "prefix." (prefix
 * == NULL: as it is). What was checked is marked as declared. New sizes are added. */
okra_status okra_kept_check_(const okra_kept_ *rows, const char *prefix, okra_bag_ *bag,
                             okra_sizes_ *sizes) OKRA_CHECK;
/* The same with the first of several tables (a list that ends at NULL) whose first row is
 * there; if none is, the last. */
okra_status okra_kept_check_forms_(const okra_kept_ *const *forms, const char *prefix,
                                   okra_bag_ *bag, okra_sizes_ *sizes) OKRA_CHECK;
/* OKRA_EFORMAT with the name of something that no table declared. */
okra_status okra_kept_check_all_(const okra_bag_ *bag) OKRA_CHECK;

#endif
