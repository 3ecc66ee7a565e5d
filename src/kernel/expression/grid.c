/*
 * grid.c: texts with lists of values in some places: {a,b,c}, lo..hi[:steps], auto, or
 * whole kernels. A cell of the grid is the text with one value in each place.
 */
#include "kernel/expression/expr.h"

void okra_grid_axis_clear_(okra_grid_axis_ *axis)
{
    for (okra_int v = 0; v < axis->count; v++) {
        okra_free_(axis->values[v]);
    }
    for (okra_int b = 0; b < axis->branch_count; b++) {
        okra_grid_free_(axis->branches[b]);
    }
    FREE(axis->values, axis->branches);
}

void okra_grid_free_(okra_grid_ *grid)
{
    if (grid) {
        for (okra_int k = 0; k < grid->count; k++) {
            okra_grid_axis_clear_(&grid->axes[k]);
        }
        FREE(grid->axes, grid->text, grid);
    }
}

okra_status okra_grid_add_(okra_grid_ *grid, okra_grid_axis_ *axis)
{
    RESIZE(grid->axes, grid->count + 1);
    grid->axes[grid->count++] = TAKE(*axis);
    return OKRA_OK;
}

/* ---- alternatives ---- */

okra_status okra_grid_branches_(okra_grid_ *grid, okra_grid_axis_ *axis)
{
    enum { VALUES_MOST = 10000 };
    okra_int total = 0;
    for (okra_int b = 0; b < axis->branch_count; b++) {
        okra_int cells = okra_grid_count_(axis->branches[b]);
        REFUSE_IF(cells < 0 || (total += cells) > VALUES_MOST, OKRA_EARG,
                  "kernel expression: the alternatives have more than %d values",
                  VALUES_MOST);
    }
    MAKE(axis->values, total);
    for (okra_int b = 0; b < axis->branch_count; b++) {
        okra_int cells = okra_grid_count_(axis->branches[b]);
        for (okra_int c = 0; c < cells; c++) {
            CHK(okra_grid_text_(axis->branches[b], c, &axis->values[axis->count]));
            axis->count++;
        }
    }
    return okra_grid_add_(grid, axis);
}

okra_status okra_grid_narrow_(const okra_grid_ *grid, okra_int cell, char **text,
                              okra_int *within)
{
    OWNED const char **chosen = NULL;
    OWNED okra_int *digit = NULL;
    *within = 0;
    MAKE(chosen, grid->count);
    MAKE(digit, grid->count);
    for (okra_int k = grid->count - 1; k >= 0; k--) {
        digit[k] = cell % grid->axes[k].count;
        cell /= grid->axes[k].count;
    }
    for (okra_int k = 0; k < grid->count; k++) {
        const okra_grid_axis_ *a = &grid->axes[k];
        okra_int b = 0, at = digit[k], cells = a->count;
        chosen[k] = NULL; /* as it stands */
        for (; a->branches && b < a->branch_count; b++) {
            cells = okra_grid_count_(a->branches[b]);
            if (at < cells) {
                break;
            }
            at -= cells;
        }
        if (a->branches) {
            chosen[k] = a->branches[b]->text;
        }
        *within = *within * cells + at;
    }
    return okra_grid_build_(grid, chosen, text);
}

bool okra_grid_branched_(const okra_grid_ *grid)
{
    bool any = false;
    for (okra_int k = 0; k < grid->count; k++) {
        any = any || grid->axes[k].branches;
    }
    return any;
}

/* ---- parsing ---- */

okra_status okra_grid_parse_(const char *text, okra_grid_ **out)
{
    FREED_BY(okra_grid_drop_) okra_grid_ *grid = NULL;
    FREED_BY(okra_expr_clear_) okra_kernel kernel = {.nodes = NULL};
    ZMAKE(grid, 1);
    GOT(grid->text = okra_strdup_(text));
    CHK(okra_expr_parse_(text, grid, &kernel));
    *out = TAKE(grid);
    return OKRA_OK;
}

okra_int okra_grid_count_(const okra_grid_ *grid)
{
    okra_int count = 1;
    for (okra_int k = 0; k < grid->count; k++) {
        if (__builtin_mul_overflow(count, grid->axes[k].count, &count)) {
            return -1;
        }
    }
    return count;
}

/* A text that is not a kernel: values stand at its beginning and after '='. A number may
 * also be a list a,b,c without braces. */
okra_status okra_grid_plain_(const char *what, const char *text, bool numeric, bool whole,
                             okra_grid_ **out)
{
    FREED_BY(okra_grid_drop_) okra_grid_ *grid = NULL;
    okra_parser_ parser = {.text = text, .what = what}, *p = &parser;
    ZMAKE(grid, 1);
    GOT(grid->text = okra_strdup_(text));
    while (text[p->at]) {
        FREED_BY(okra_grid_axis_clear_) okra_grid_axis_ axis = {0};
        bool place = p->at == 0 || text[p->at - 1] == '=', found = false;
        size_t begin = p->at;
        if (numeric || text[begin] == '{' ||
            (place && okra_parse_number_(text + begin, false) > 0)) {
            CHK(okra_parse_list_(p, numeric || text[begin] != '{', whole, &axis, &found));
        }
        if (numeric && begin == 0) {
            CHK(okra_parse_commas_(p, &axis));
            found = true;
        }
        if (found) {
            CHK(okra_grid_add_(grid, &axis));
        } else {
            p->at = begin + 1;
        }
        PARSE_REFUSE_IF(numeric && (!found || text[p->at]), begin,
                        "expected a number, {a,b,...}, lo..hi or lo..hi:steps");
    }
    PARSE_REFUSE_IF(numeric && grid->count == 0, 0, "the grid is empty");
    *out = TAKE(grid);
    return OKRA_OK;
}

bool okra_grid_range_(const okra_grid_ *grid, okra_int place, double *low, double *high)
{
    const okra_grid_axis_ *a = &grid->axes[place];
    const char *text = grid->text + a->begin, *end = grid->text + a->end;
    size_t first = okra_parse_number_(text, true);
    if (*text == '{' || a->count < 2 || first == 0 ||
        strncmp(text + first, "..", 2) != 0) {
        return false;
    }
    const char *second = text + first + 2;
    *low = okra_strtod_(text, NULL);
    *high = okra_strtod_(second, NULL);
    /* a range of whole numbers holds every one; the second real one is at a tenth */
    bool whole = okra_strtod_(a->values[1], NULL) == ceil(*low) + 1 &&
                 (double)a->count == floor(*high) - ceil(*low) + 1;
    return !whole && second + okra_parse_number_(second, true) == end;
}

/* An alternative within a larger text goes between parentheses where it has operators. */
static bool wrapped(const okra_grid_ *grid, okra_int place, const char *value)
{
    const okra_grid_axis_ *a = &grid->axes[place];
    bool alone = a->begin == 0 && !grid->text[a->end];
    return a->branches && !alone && strpbrk(value, "|+*");
}

okra_status okra_grid_build_(const okra_grid_ *grid, const char *const *chosen,
                             char **text)
{
    okra_int size = (okra_int)strlen(grid->text) + 1;
    char *built = NULL;
    for (okra_int k = 0; k < grid->count; k++) {
        size += chosen[k] ? (okra_int)strlen(chosen[k]) + 2 : 0;
    }
    MAKE(built, size);
    size_t from = 0, to = 0;
    for (okra_int k = 0; k < grid->count; k++) {
        if (!chosen[k]) {
            continue;
        }
        size_t before = grid->axes[k].begin - from, length = strlen(chosen[k]);
        bool wrap = wrapped(grid, k, chosen[k]);
        memcpy(built + to, grid->text + from, before);
        to += before;
        built[to] = '(';
        to += wrap;
        memcpy(built + to, chosen[k], length);
        to += length;
        built[to] = ')';
        to += wrap;
        from = grid->axes[k].end;
    }
    memcpy(built + to, grid->text + from, strlen(grid->text + from) + 1);
    *text = built;
    return OKRA_OK;
}

/* The last axis runs fastest. */
okra_status okra_grid_text_(const okra_grid_ *grid, okra_int cell, char **text)
{
    okra_int cells = okra_grid_count_(grid);
    OWNED const char **chosen = NULL;
    REFUSE_IF(cell < 0 || cell >= cells, OKRA_EARG,
              "cell %lld is asked of a grid of %lld", (long long)cell, (long long)cells);
    MAKE(chosen, grid->count);
    for (okra_int k = grid->count - 1; k >= 0; k--) {
        chosen[k] = grid->axes[k].values[cell % grid->axes[k].count];
        cell /= grid->axes[k].count;
    }
    return okra_grid_build_(grid, chosen, text);
}
