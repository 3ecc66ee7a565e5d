/*
 * parse.h: the two halves of the expression parser: expressions and parameter values.
 */
#ifndef OKRA_PARSE_H_
#define OKRA_PARSE_H_

#include "kernel/expression/expr.h"

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
