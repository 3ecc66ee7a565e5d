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
    bool moved;  /* a transform below which a leaf's origin moves   */
} okra_node_;

struct okra_kernel {
    okra_node_ *nodes; /* children before parents; the last is the root */
    int count, room;
    char *text;  /* canonical */
    bool closed; /* it came from a model: no file is read because it says so */
};

/* Does it need means over the training set? */
static inline bool okra_node_centers_(const okra_node_ *node)
{
    return node->transform && node->transform->uses == OKRA_USES_MEANS_;
}

/* A name that stands for linear | transform. */
typedef struct okra_sugar_ {
    const char *name, *help;
    const okra_transform_class_ *transform;
} okra_sugar_;
extern const okra_sugar_ okra_sugar_names_[]; /* ends at name == NULL */

void okra_grid_axis_clear_(okra_grid_axis_ *axis);
/* Takes over what the axis holds, on success. */
okra_status okra_grid_add_(okra_grid_ *grid, okra_grid_axis_ *axis);
/* The same, its values the cells of its branches. */
okra_status okra_grid_branches_(okra_grid_ *grid, okra_grid_axis_ *axis);

/* Fills `kernel` (zeroed by the caller, who frees it after failure too); grid == NULL:
 * grids are refused. */
okra_status okra_expr_parse_(const char *text, okra_grid_ *grid, okra_kernel *kernel);
/* Frees what the kernel holds, not the kernel. */
void okra_expr_clear_(okra_kernel *kernel);
/* The canonical text, to be freed with okra_free_. */
okra_status okra_expr_text_(const okra_kernel *kernel, char **text);

/* ---- the two halves of the expression parser: expressions and parameter values ---- */

/* Parentheses within one another. */
enum { OKRA_PARSE_DEPTH_ = 100 };

typedef struct okra_parser_ {
    const char *text;
    size_t at;        /* next character */
    okra_grid_ *grid; /* NULL: grids are refused */
    okra_kernel *kernel;
    int made;         /* nodes so far, nested ones too                            */
    int depth;        /* of parentheses                                           */
    bool inside;      /* parameters follow a nested expression: ',' or ')' is next */
    const char *what; /* opens messages; NULL: "kernel expression" */
} okra_parser_;

/* Fails with a message, the text, and a caret under the character at `at`. */
okra_status okra_parse_fail_(const okra_parser_ *p, okra_status status, size_t at,
                             const char *format, ...) OKRA_PRINTF(4, 5);
/* Fail at once at a place of the text of parser `p` where `bad` holds. */
#define PARSE_REFUSE_IF(bad, at, ...)                                 \
    do {                                                              \
        if (bad) {                                                    \
            return okra_parse_fail_(p, OKRA_EARG, (at), __VA_ARGS__); \
        }                                                             \
    } while (0)
/* Adds text and caret to the message of a call that failed. */
okra_status okra_parse_point_(const okra_parser_ *p, okra_status status, size_t at);
/* The next character that is no space; the cursor moves to it. */
char okra_parse_next_(okra_parser_ *p);
/* Length of the number at text: digits[.digits][e[sign]digits], a sign before if
 * allowed; 0 if there is none. The dots of lo..hi end it. */
size_t okra_parse_number_(const char *text, bool sign);
size_t okra_parse_name_(const char *text);

/* One value, or a grid of them, checked as the row says; the (first) value goes to
 * `field`. */
okra_status okra_parse_value_(okra_parser_ *p, const char *owner, const okra_option *row,
                              void *field);
/* What stands at the cursor: a list or range (*grid), or one value; and more values after
 * commas. */
okra_status okra_parse_list_(okra_parser_ *p, bool numeric, bool whole,
                             okra_grid_axis_ *out, bool *grid);
okra_status okra_parse_commas_(okra_parser_ *p, okra_grid_axis_ *out);
/* (name=value, ...) or nothing; fills `fields` of the table. */
okra_status okra_parse_params_(okra_parser_ *p, const okra_option_table *table,
                               bool positional, void *fields);

#endif
