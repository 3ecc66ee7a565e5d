/*
 * grid.c: texts with lists of values in some places: {a,b,c}, lo..hi[:steps], auto, or
 * whole kernels. A cell of the grid is the text with one value in each place.
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
    okra_grid_ **branches;     /* alternatives that the values are cells of, or NULL */
    okra_int branch_count;
} axis;

struct okra_grid_ {
    char *text;
    axis *axes;
    okra_int count;
};

okra_status okra_grid_add_(okra_grid_ *grid, size_t begin, size_t end, char **values,
                           okra_int count)
{
    RESIZE(grid->axes, grid->count + 1);
    grid->axes[grid->count++] =
        (axis){.begin = begin, .end = end, .values = values, .count = count, .node = -1};
    return OKRA_OK;
}

/* ---- alternatives ---- */

okra_status okra_grid_empty_(okra_grid_ **out)
{
    ZMAKE(*out, 1);
    return OKRA_OK;
}

okra_status okra_grid_cut_(okra_grid_ *grid, const char *text, size_t begin, size_t end)
{
    grid->text = okra_strndup_(text + begin, end - begin);
    for (okra_int k = 0; k < grid->count; k++) {
        grid->axes[k].begin -= begin;
        grid->axes[k].end -= begin;
    }
    return grid->text ? OKRA_OK : OKRA_EMEM;
}

okra_status okra_grid_branches_(okra_grid_ *grid, size_t begin, size_t end,
                                okra_grid_ **branches, okra_int count)
{
    enum { VALUES_MOST = 10000 };
    okra_status st = OKRA_OK;
    okra_int total = 0, have = 0;
    char **values = NULL;
    okra_grid_ **kept = NULL;
    for (okra_int b = 0; b < count; b++) {
        okra_int cells = okra_grid_count_(branches[b]);
        REFUSE_IF(cells < 0 || (total += cells) > VALUES_MOST, OKRA_EARG,
                  "kernel expression: the alternatives have more than %d values",
                  VALUES_MOST);
    }
    ZALLOC(values, total);
    ALLOC(kept, count);
    for (okra_int b = 0; b < count; b++) {
        okra_int cells = okra_grid_count_(branches[b]);
        for (okra_int c = 0; c < cells; c++) {
            TRY(okra_grid_text_(branches[b], c, &values[have]));
            have++;
        }
    }
    TRY(okra_grid_add_(grid, begin, end, values, total));
    axis *last = &grid->axes[grid->count - 1];
    for (okra_int b = 0; b < count; b++) {
        kept[b] = TAKE(branches[b]);
    }
    last->branches = kept;
    last->branch_count = count;
    return OKRA_OK;
done:
    okra_parse_list_free_(values, have);
    okra_free_(kept);
    return st;
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
        const axis *a = &grid->axes[k];
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
    grid->text = okra_strdup_(text);
    GOT(grid->text);
    CHK(okra_expr_parse_(text, grid, &kernel));
    *out = TAKE(grid);
    return OKRA_OK;
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
        for (okra_int b = 0; b < grid->axes[k].branch_count; b++) {
            okra_grid_free_(grid->axes[k].branches[b]);
        }
        okra_free_(grid->axes[k].branches);
    }
    FREE(grid->axes, grid->text, grid);
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
    *out = TAKE(grid);
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

/* An alternative within a larger text goes between parentheses where it has operators. */
static bool wrapped(const okra_grid_ *grid, okra_int place, const char *value)
{
    const axis *a = &grid->axes[place];
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
