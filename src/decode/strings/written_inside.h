/*
 * written_inside.h: what written.c and pen.c share.
 */
#ifndef OKRA_WRITTEN_INSIDE_H_
#define OKRA_WRITTEN_INSIDE_H_

#include "data/strings.h"
#include "decode/strings/written.h"
#include "kernel/expression/expr.h"
#include "kernel/strings/string_kernels.h"

enum { OKRA_WRITTEN_NODES_ = 32, OKRA_WRITTEN_LENGTH_ = 8 };

typedef enum okra_leaf_sort_ {
    OKRA_LEAF_SSK_,
    OKRA_LEAF_SPECTRUM_,
    OKRA_LEAF_MISMATCH_,
    OKRA_LEAF_POSITION_,
} okra_leaf_sort_;

/* A leaf. Tables of a level hold letters^level numbers, the last letter of a word first;
 * those of mismatch have one letter more, which is none of the alphabet. */
typedef struct okra_leaf_ {
    okra_leaf_sort_ sort;
    int node, low, high; /* levels low..high */
    double decay;
    okra_int offset[OKRA_WRITTEN_LENGTH_ + 1]; /* of the levels in the tables */
    okra_int size, top; /* mismatch: cells; places that may differ at most, */
    double shared[OKRA_MISMATCH_TOP_ + 1]; /* words shared by how many do */
} okra_leaf_;

struct okra_written_ {
    const okra_kernel *kernel;
    const okra_data *y;
    okra_int letters, longest, cells; /* longest of y and of what is written */
    int leaves;
    okra_leaf_ leaf[OKRA_WRITTEN_NODES_];
    int leaf_of[OKRA_WRITTEN_NODES_];
    double *power[OKRA_WRITTEN_NODES_]; /* a leaf: decay^k */
    double
        *least[OKRA_WRITTEN_NODES_]; /* a leaf: the least self-similarity of m letters */
    double
        *factor[OKRA_WRITTEN_NODES_]; /* a leaf: 1 / prod sqrt(self_i) of the outputs */
    int32_t *places;                  /* the letters of the outputs */
    bool strange; /* outputs have letters that are not in the alphabet */
    bool whole;   /* the root alone normalizes, or nothing does */
};

/* The sum of the features of a leaf that end in letter m - 1; `add` to each of them. */
double okra_leaf_last_(const okra_written_ *w, int number, const double *table,
                       const int32_t *y, okra_int m);
void okra_leaf_add_(const okra_written_ *w, int number, double *table, const int32_t *y,
                    okra_int m, double add);
/* Counts of substrings in the table of a leaf of mismatch become what a substring shares
 * with all of them; room: top + 1 times the size. */
void okra_leaf_spread_(const okra_written_ *w, const okra_leaf_ *leaf, double *table,
                       double *room);
/* The sum of the features of a leaf that contain letter `at`. */
double okra_leaf_through_(const okra_written_ *w, int number, const double *table,
                          okra_word_ y, okra_int at);
/* l(y,y) of a leaf; B: OKRA_WRITTEN_LENGTH_ numbers per letter. */
double okra_leaf_self_(const okra_leaf_ *l, okra_word_ y, double *B);
/* S of every node from those of the leaves; V too where it is not NULL. */
void okra_written_climb_(const okra_written_ *w, double constants, double *S, double *V);

#endif
