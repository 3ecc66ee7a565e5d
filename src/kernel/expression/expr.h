/*
 * expr.h: the tree of a parsed kernel expression, shared by parser and evaluation.
 */
#ifndef OKRA_EXPR_H_
#define OKRA_EXPR_H_

#include "kernel/kernel.h"

typedef enum okra_node_kind_ {
    OKRA_NODE_LEAF_,
    OKRA_NODE_TRANSFORM_, /* of child a           */
    OKRA_NODE_SCALE_,     /* scale * a            */
    OKRA_NODE_CONSTANT_,  /* scale for every pair */
    OKRA_NODE_SUM_,       /* a + b                */
    OKRA_NODE_PRODUCT_,   /* a * b                */
} okra_node_kind_;

typedef struct okra_node_ {
    okra_node_kind_ kind;
    const okra_kernel_class_ *leaf;
    const okra_transform_class_ *transform;
    void *params;  /* of the leaf or transform, as its table describes */
    int component; /* of a leaf: which part of a tuple, from 1; 0: the object itself */
    double scale;
    int serial;  /* which node of the whole text it is, nested ones counted too */
    int a, b;    /* children, by place in the list of nodes         */
    int scratch; /* tiles beyond the result that evaluation needs   */
} okra_node_;

struct okra_kernel {
    okra_node_ *nodes; /* children before parents; the last is the root */
    int count, room;
    char *text;  /* canonical */
    bool closed; /* it came from a model: no file is read because it says so */
};

/* A name that stands for linear | transform. */
typedef struct okra_sugar_ {
    const char *name, *help;
    const okra_transform_class_ *transform;
} okra_sugar_;
extern const okra_sugar_ okra_sugar_names_[]; /* ends at name == NULL */

/* Numbers where a grid stood, and the place in the text. */
okra_status okra_grid_add_(okra_grid_ *grid, size_t begin, size_t end, char **values,
                           okra_int count) OKRA_CHECK;

/* A grid without places, for an alternative that is being parsed; then cut out of the
 * text that it was parsed in. */
okra_status okra_grid_empty_(okra_grid_ **out) OKRA_CHECK;
okra_status okra_grid_cut_(okra_grid_ *grid, const char *text, size_t begin,
                           size_t end) OKRA_CHECK;
/* A place whose values are the cells of the alternatives, which are taken over on success
 * (their entries become NULL). */
okra_status okra_grid_branches_(okra_grid_ *grid, size_t begin, size_t end,
                                okra_grid_ **branches, okra_int count) OKRA_CHECK;

/* The place added last is this parameter of the node of that serial number; asked for
 * again by place. */
void okra_grid_own_(okra_grid_ *grid, const char *owner, const char *param, int node);
int okra_grid_owner_(const okra_grid_ *grid, okra_int place, const char **owner,
                     const char **param);

/* Fills `kernel` (zeroed by the caller, who frees it after failure too); grid == NULL:
 * grids are refused. */
okra_status okra_expr_parse_(const char *text, okra_grid_ *grid,
                             okra_kernel *kernel) OKRA_CHECK;
/* Frees what the kernel holds, not the kernel. */
void okra_expr_clear_(okra_kernel *kernel);
/* The canonical text, to be freed with okra_free_. */
okra_status okra_expr_text_(const okra_kernel *kernel, char **text) OKRA_CHECK;

#endif
