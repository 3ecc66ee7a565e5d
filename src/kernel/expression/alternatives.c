/*
 * alternatives.c: whole kernels as the values of a grid, {linear, rbf(sigma={1,2})}.
 *
 * Braces where a kernel stands hold numbers (a factor) if every item is a number or auto,
 * else alternatives: expressions that may hold grids themselves. An alternative with
 * lists counts as many values as it has cells.
 */
#include "kernel/expression/parse.h"

#include <string.h>

/* The braces at the cursor hold numbers alone. */
static bool numbers(const char *s)
{
    do {
        s++; /* { or , */
        s += strspn(s, " \t\n");
        size_t length = okra_parse_number_(s, true);
        if (length == 0 && strncmp(s, "auto", 4) == 0) {
            length = 4 + strcspn(s + 4, ",} ");
        }
        if (length == 0) {
            return *s == '}' || !*s || *s == ','; /* its own message */
        }
        s += length;
        s += strspn(s, " \t\n");
    } while (*s == ',');
    return *s != '*' && *s != '|' && *s != '+';
}

bool okra_parse_alternatives_ahead_(const okra_parser_ *p)
{
    return p->text[p->at] == '{' && !numbers(p->text + p->at);
}

/* One alternative: parsed as a kernel of its own, its lists kept in `branch`. */
static okra_status one(okra_parser_ *p, okra_grid_ **branch)
{
    okra_status st = OKRA_OK;
    okra_kernel *outer = p->kernel, inner = {.nodes = NULL};
    okra_grid_ *grid = p->grid, *own = NULL;
    int root;

    TRY(okra_grid_empty_(&own));
    okra_parse_space_(p);
    size_t begin = p->at;
    p->kernel = &inner;
    p->grid = own;
    TRY(okra_parse_pipe_(p, &root));
    size_t end = p->at;
    while (end > begin && strchr(" \t\n", p->text[end - 1])) {
        end--;
    }
    TRY(okra_grid_cut_(own, p->text, begin, end));
    *branch = TAKE(own);
done:
    p->kernel = outer;
    p->grid = grid;
    okra_expr_clear_(&inner);
    okra_grid_free_(own);
    return st;
}

okra_status okra_parse_alternatives_(okra_parser_ *p)
{
    enum { MOST = 100 };
    okra_status st = OKRA_OK;
    okra_grid_ *branches[MOST] = {NULL};
    okra_int count = 0;
    size_t begin = p->at;

    if (!p->grid) {
        size_t length = strcspn(p->text + begin, "}") + 1;
        return okra_parse_fail_(p, OKRA_EARG, begin,
                                "'%.*s' are alternatives for selection: one kernel is "
                                "needed here",
                                (int)OKRA_MIN_(length, 40), p->text + begin);
    }
    PARSE_REFUSE_IF(++p->depth > OKRA_PARSE_DEPTH_, begin,
                    "more than %d parentheses within one another", OKRA_PARSE_DEPTH_);
    do {
        if (count == MOST) {
            st = okra_parse_fail_(p, OKRA_EARG, p->at, "more than %d alternatives", MOST);
            goto done;
        }
        p->at++; /* { or , */
        TRY(one(p, &branches[count]));
        count++;
        okra_parse_space_(p);
    } while (p->text[p->at] == ',');
    if (p->text[p->at] != '}') {
        st = okra_parse_fail_(p, OKRA_EARG, p->at, "expected ',' or '}'");
        goto done;
    }
    p->at++;
    p->depth--;
    st = okra_grid_branches_(p->grid, begin, p->at, branches, count);
    if (st == OKRA_EARG) {
        st = okra_parse_point_(p, st, begin);
    }
done:
    for (okra_int k = 0; k < count; k++) {
        okra_grid_free_(branches[k]);
    }
    return st;
}
