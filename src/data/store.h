/*
 * store.h: what a model keeps: named matrices, numbers and texts, and tables that declare
 * them.
 *
 * A method's fit fills a store; its predict reads it; the model file saves and maps it
 * without knowing what is inside.
 *
 * A method, a kernel, a map of low rank has a table of what it puts into a model's store:
 * names, shapes as sizes of the model, ranges of values. A model file is checked against
 * these tables before anything in it is used (model/json.c), and what no table names is
 * refused.
 *
 * Sizes are written as sums of terms K, NAME or K*NAME: "n", "2*N", "n+1". A name that
 * has no value yet takes it from the shape where it stands alone: the "p" of a first
 * matrix "n" x "p" is a size from then on.
 */
#ifndef OKRA_STORE_H_
#define OKRA_STORE_H_

#include "linalg/linalg.h"

/* ---- what is in a store ---- */

typedef enum okra_schema_sort_ {
    OKRA_KEPT_MATRIX_,
    OKRA_KEPT_NUMBER_,
    OKRA_KEPT_TEXT_,
    OKRA_KEPT_EQUAL_, /* of tables: nothing is kept, `rows` and `cols` are the same size
                       */
} okra_schema_sort_;

/* A matrix that stays where it is, on an engine of several processes, none of which may
 * hold all of it: `get` brings its rows first.. into `block`, on all of them together. */
typedef struct okra_rows_ {
    okra_status (*get)(okra_context *ctx, const void *self, okra_int first,
                       okra_mat_ block);
    void (*free)(void *self);
    void *self;
} okra_rows_;
/* The rows x cols matrix of `source` (whose `free` is not called), written as
 * okra_data_write does, in blocks of rows. */
okra_status okra_rows_write_(okra_context *ctx, const okra_rows_ *source, okra_int rows,
                             okra_int cols, const char *path);

/* Memory for a square matrix that grows, see store.c: n rows are in use, and it has room
 * for some more where the budget allows it. All of it is 0 at first. */
typedef struct okra_growing_ okra_growing_;
okra_status okra_growing_create_(okra_context *ctx, okra_int n, const char *what,
                                 okra_growing_ **out);
/* Frees it, and where n rows are in use `before` of them stay so. Accepts NULL. */
void okra_growing_leave_(okra_growing_ *room, okra_int n, okra_int before);
/* Its first n rows and columns. */
okra_mat_ okra_growing_mat_(okra_growing_ *room, okra_int n);

typedef struct okra_store_item_ {
    okra_schema_sort_ sort;
    char *name;
    okra_mat_ A;         /* MATRIX; p NULL: it has no values yet, and a source */
    okra_rows_ source;   /* of a matrix on an engine; settling brings its values */
    okra_growing_ *room; /* that it stands in, or NULL */
    okra_int before;     /* rows of the room that were in use before it */
    double *owned;       /* values of a matrix that was taken over */
    double number;       /* NUMBER */
    char *text;          /* TEXT */
    bool declared;       /* a table of what is kept names it */
} okra_store_item_;

/* What predictions make of the store's matrices and leave there for the next: how many
 * asked, and the numbers, once they are there. Freed with the store. */
typedef struct okra_memo_ {
    atomic_int asked;
    _Atomic(double *) values;
} okra_memo_;

typedef struct okra_store_ {
    okra_store_item_ *items; /* in the order put */
    okra_int count;
    okra_memo_ *memo;
} okra_store_;
okra_status okra_store_create_(okra_store_ **out);
void okra_store_free_(okra_store_ *store); /* accepts NULL */
OKRA_DROPS_(okra_store_drop_, okra_store_, okra_store_free_)

/* ---- putting ---- */

/* An item as it is, its name and text copied; what it owns (source, room, values) goes to
 * the store on success. A matrix without any of them is a view of memory that outlives
 * the store (a mapped file). */
okra_status okra_store_add_(okra_store_ *store, const char *name, okra_store_item_ item);
/* Takes over *values (rows*cols doubles from okra_alloc_), then NULL, on success. */
okra_status okra_store_put_(okra_store_ *store, const char *name, double **values,
                            okra_int rows, okra_int cols);
/* Puts a copy of rows*cols doubles. */
okra_status okra_store_put_copy_(okra_store_ *store, const char *name,
                                 const double *values, okra_int rows, okra_int cols);
okra_status okra_store_put_number_(okra_store_ *store, const char *name, double value);
okra_status okra_store_put_text_(okra_store_ *store, const char *name, const char *text);
/* Brings the values of a matrix on an engine to the host; others stay. */
okra_status okra_store_settle_(okra_context *ctx, okra_store_ *store, const char *name);

/* ---- getting ---- */

/* NULL: there is none of that sort and name. */
okra_store_item_ *okra_store_find_(const okra_store_ *store, okra_schema_sort_ sort,
                                   const char *name);
/* Is there a matrix of that name, with values or not? */
bool okra_store_has_(const okra_store_ *store, const char *name);
/* NULL (0 rows) if there is none of that name. Rows follow one another, unless the matrix
 * stands in a room; okra_store_mat_ knows. */
okra_mat_ okra_store_mat_(const okra_store_ *store, const char *name);
const double *okra_store_get_(const okra_store_ *store, const char *name, okra_int *rows,
                              okra_int *cols);
/* The same of a matrix that the store owns, to be written; NULL if it does not. */
double *okra_store_edit_(okra_store_ *store, const char *name, okra_int *rows,
                         okra_int *cols);
bool okra_store_get_number_(const okra_store_ *store, const char *name, double *value);
double okra_store_number_(const okra_store_ *store, const char *name, double otherwise);
const char *okra_store_get_text_(const okra_store_ *store, const char *name);
/* A reference to the room of that matrix, n of whose rows are in use from now on; NULL:
 * there is none, it is too small, or somebody else has appended rows. */
okra_growing_ *okra_store_enter_(const okra_store_ *store, const char *name, okra_int n);

/* ---- tables ---- */

/* What is asked of values beyond being finite and between low and high. */
enum {
    OKRA_KEPT_WHOLE_ = 1,    /* integers                                      */
    OKRA_KEPT_POSITIVE_ = 2, /* above 0                                       */
    OKRA_KEPT_FACTOR_ = 4,   /* a matrix whose diagonal is above 0            */
    OKRA_KEPT_OPTIONAL_ = 8, /* it may be absent                              */
    OKRA_KEPT_LOOSE_ = 16,   /* a number that is printed, not used: any there is */
};

typedef struct okra_schema_ {
    const char *name; /* after its owner's prefix; "": the prefix itself */
    okra_schema_sort_ sort;
    unsigned flags;
    const char *rows, *cols; /* of a matrix */
    const char *low, *high;  /* of values, as sizes or numbers; NULL: no bound */
} okra_schema_;

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

/* OKRA_EFORMAT unless the store holds what the rows say, each name after "prefix." (NULL:
 * as it is). What was checked is marked as declared. New sizes are added. */
okra_status okra_schema_check_(const okra_schema_ *rows, const char *prefix,
                               okra_store_ *store, okra_sizes_ *sizes);
/* The same with the first of several tables (a list that ends at NULL) whose first row is
 * there; if none is, the last. */
okra_status okra_schema_check_forms_(const okra_schema_ *const *forms, const char *prefix,
                                     okra_store_ *store, okra_sizes_ *sizes);
/* OKRA_EFORMAT with the name of something that no table declared. */
okra_status okra_schema_check_all_(const okra_store_ *store);

#endif
