/*
 * grid.c: texts with lists of values in some places: {a,b,c}, lo..hi[:steps], auto. A
 * cell of the grid is the text with one value in each place.
 */
#include "kernel/expression/parse.h"

#include <math.h>
#include <string.h>

typedef struct axis {
    size_t begin, end; /* where it stands in the text */
    char **values;
    okra_int count;
    const char *owner, *param; /* whose parameter, NULL: not known */
    int node;                  /* of the kernel */
} axis;

struct okra_grid_ {
    char *text;
    axis *axes;
    okra_int count;
};

okra_status okra_grid_add_(okra_grid_ *grid, size_t begin, size_t end, char **values,
                           okra_int count)
{
    axis *grown = okra_realloc_(grid->axes, grid->count + 1, sizeof *grown);
    if (!grown) {
        return OKRA_EMEM;
    }
    grid->axes = grown;
    grid->axes[grid->count++] =
        (axis){.begin = begin, .end = end, .values = values, .count = count, .node = -1};
    return OKRA_OK;
}

okra_status okra_grid_parse_(const char *text, okra_grid_ **out)
{
    okra_status st = OKRA_OK;
    okra_grid_ *grid = NULL;
    okra_kernel kernel = {.nodes = NULL};

    ZALLOC(grid, 1);
    grid->text = okra_strdup_(text);
    if (!grid->text) {
        st = OKRA_EMEM;
        goto done;
    }
    TRY(okra_expr_parse_(text, grid, &kernel));
    *out = grid;
    grid = NULL;
done:
    okra_expr_clear_(&kernel);
    okra_grid_free_(grid);
    return st;
}

void okra_grid_free_(okra_grid_ *grid)
{
    if (!grid) {
        return;
    }
    for (okra_int k = 0; k < grid->count; k++) {
        for (okra_int v = 0; v < grid->axes[k].count; v++) {
            okra_free_(grid->axes[k].values[v]);
        }
        okra_free_(grid->axes[k].values);
    }
    okra_free_(grid->axes);
    okra_free_(grid->text);
    okra_free_(grid);
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
    okra_status st = OKRA_OK;
    okra_grid_ *grid = NULL;
    char **values = NULL;
    okra_int count = 0;
    okra_parser_ p = {.text = text, .what = what};

    ZALLOC(grid, 1);
    grid->text = okra_strdup_(text);
    if (!grid->text) {
        st = OKRA_EMEM;
        goto done;
    }
    while (text[p.at]) {
        bool place = p.at == 0 || text[p.at - 1] == '=', found = false;
        size_t begin = p.at;
        if (numeric || text[p.at] == '{' ||
            (place && okra_parse_number_(text + p.at, false) > 0)) {
            TRY(okra_parse_list_(&p, numeric || text[p.at] != '{', whole,
                                 numeric && begin == 0, &values, &count, &found));
        }
        if (found) {
            TRY(okra_grid_add_(grid, begin, p.at, values, count));
            values = NULL;
        } else {
            p.at = begin + 1;
        }
        if (numeric && (!found || text[p.at])) {
            st = okra_parse_fail_(&p, OKRA_EARG, begin,
                                  "expected a number, {a,b,...}, lo..hi or lo..hi:steps");
            goto done;
        }
    }
    if (numeric && grid->count == 0) {
        st = okra_parse_fail_(&p, OKRA_EARG, 0, "the grid is empty");
        goto done;
    }
    *out = grid;
    grid = NULL;
done:
    okra_parse_list_free_(values, count);
    okra_grid_free_(grid);
    return st;
}

void okra_grid_own_(okra_grid_ *grid, const char *owner, const char *param, int node)
{
    axis *last = &grid->axes[grid->count - 1];
    last->owner = owner;
    last->param = param;
    last->node = node;
}

int okra_grid_owner_(const okra_grid_ *grid, okra_int place, const char **owner,
                     const char **param)
{
    *owner = grid->axes[place].owner;
    *param = grid->axes[place].param;
    return grid->axes[place].node;
}

okra_int okra_grid_places_(const okra_grid_ *grid)
{
    return grid->count;
}

okra_int okra_grid_place_(const okra_grid_ *grid, okra_int place,
                          const char *const **values)
{
    *values = (const char *const *)grid->axes[place].values;
    return grid->axes[place].count;
}

bool okra_grid_range_(const okra_grid_ *grid, okra_int place, double *low, double *high)
{
    const axis *a = &grid->axes[place];
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

okra_status okra_grid_build_(const okra_grid_ *grid, const char *const *chosen,
                             char **text)
{
    okra_status st = OKRA_OK;
    okra_int size = (okra_int)strlen(grid->text) + 1;
    char *built = NULL;

    for (okra_int k = 0; k < grid->count; k++) {
        size += (okra_int)strlen(chosen[k]);
    }
    ALLOC(built, size);
    size_t from = 0, to = 0;
    for (okra_int k = 0; k < grid->count; k++) {
        size_t before = grid->axes[k].begin - from, length = strlen(chosen[k]);
        memcpy(built + to, grid->text + from, before);
        memcpy(built + to + before, chosen[k], length);
        to += before + length;
        from = grid->axes[k].end;
    }
    memcpy(built + to, grid->text + from, strlen(grid->text + from) + 1);
    *text = built;
done:
    return st;
}

/* The last axis runs fastest. */
okra_status okra_grid_text_(const okra_grid_ *grid, okra_int cell, char **text)
{
    okra_status st = OKRA_OK;
    okra_int cells = okra_grid_count_(grid);
    const char **chosen = NULL;

    if (cell < 0 || cell >= cells) {
        FAIL(OKRA_EARG, "cell %lld is asked of a grid of %lld", (long long)cell,
             (long long)cells);
    }
    ALLOC(chosen, grid->count);
    for (okra_int k = grid->count - 1; k >= 0; k--) {
        chosen[k] = grid->axes[k].values[cell % grid->axes[k].count];
        cell /= grid->axes[k].count;
    }
    TRY(okra_grid_build_(grid, chosen, text));
done:
    okra_free_(chosen);
    return st;
}
