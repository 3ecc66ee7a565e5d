/*
 * edges.c: a best value at the end of its list may have better ones beyond it, and
 * whoever wrote the list is told; unless the value beside it is as good, for then the
 * list makes no difference there.
 */
#include "kernel/expression/expr.h"
#include "select/select.h"

#include <math.h>
#include <string.h>

/* The place of `value` among `count` numbers of a list: -1 the least, 1 the largest, 0
 * neither, or no list of three numbers or more. A least whole number of 1 or 0 has
 * nothing below it. */
static int edge(const char *const *values, okra_int count, okra_int digit)
{
    double low = (double)INFINITY, high = -(double)INFINITY;
    bool whole = true, numbers = count >= 3;
    for (okra_int k = 0; k < count && numbers; k++) {
        char *end = NULL;
        double v = okra_strtod_(values[k], &end);
        numbers = end != values[k] && !*end;
        whole = whole && v == floor(v);
        low = fmin(low, v);
        high = fmax(high, v);
    }
    double best = numbers ? okra_strtod_(values[digit], NULL) : 0;
    bool bottom = best <= 0 || (whole && best == 1);
    return !numbers ? 0 : best == high ? 1 : best == low && !bottom ? -1 : 0;
}

/* Is the cell `at` of the narrow space, which was searched too, as good as the best? */
static okra_status tied(const okra_space_ *narrow, okra_int at, const okra_found_ *found,
                        bool *out)
{
    FREED_BY(okra_setting_free_) okra_setting_ setting = {NULL, 0};
    double best = found->cells[found->best].mean;
    CHK(okra_space_setting_(narrow, at, &setting));
    *out = false;
    for (okra_int i = 0; i < found->count && !*out; i++) {
        bool same = fabs(found->cells[i].mean - best) <= 1e-9 * fabs(best);
        for (size_t a = 0; a < setting.count && same; a++) {
            same = strcmp(setting.text[a], found->cells[i].setting.text[a]) == 0;
        }
        *out = same;
    }
    return OKRA_OK;
}

/* How far apart two cells are that differ by one value at a place of an axis. */
static okra_int stride(const okra_space_ *space, size_t axis, okra_int place)
{
    const char *const *values;
    okra_int step = 1;
    for (size_t a = axis + 1; a < space->count; a++) {
        step *= space->axes[a].count;
    }
    for (okra_int p = okra_grid_places_(space->axes[axis].grid) - 1; p > place; p--) {
        step *= okra_grid_place_(space->axes[axis].grid, p, &values);
    }
    return step;
}

okra_status okra_search_edges_(const okra_context *ctx, const okra_space_ *space,
                               const okra_found_ *found, okra_int cell)
{
    FREED_BY(okra_space_drop_) okra_space_ *narrow = NULL;
    okra_int at;
    CHK(okra_space_narrow_(space, cell, &narrow, &at));
    for (size_t a = 0; a < narrow->count; a++) {
        const okra_axis_ *axis = &narrow->axes[a];
        for (okra_int p = 0; p < okra_grid_places_(axis->grid); p++) {
            const char *const *values, *owner, *parameter;
            okra_int count = okra_grid_place_(axis->grid, p, &values);
            okra_int digit = okra_space_digit_(narrow, at, a, p);
            int side = axis->automatic ? 0 : edge(values, count, digit);
            bool alike = false;
            if (side != 0) {
                okra_int beside = digit > 0 ? -1 : 1;
                CHK(tied(narrow, at + beside * stride(narrow, a, p), found, &alike));
            }
            okra_grid_owner_(axis->grid, p, &owner, &parameter);
            if (side != 0 && !alike) {
                okra_warn_(ctx,
                           "select: the best %s%s%s, %s, is the %s value of its list: "
                           "better ones may lie beyond it",
                           parameter ? parameter : axis->name, parameter ? " of " : "",
                           parameter ? axis->name : "", values[digit],
                           side < 0 ? "least" : "largest");
            }
        }
    }
    return OKRA_OK;
}
