/*
 * edges.c: a best value at the end of its list may have better ones beyond it, and
 * whoever wrote the list is told.
 */
#include "kernel/expression/expr.h"
#include "select/select.h"

#include <math.h>
#include <stdio.h>
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

okra_status okra_search_edges_(const okra_context *ctx, const okra_space_ *space,
                               okra_int cell)
{
    okra_status st = OKRA_OK;
    okra_space_ *narrow = NULL;
    okra_int at;
    TRY(okra_space_narrow_(space, cell, &narrow, &at));
    for (size_t a = 0; a < narrow->count; a++) {
        const okra_axis_ *axis = &narrow->axes[a];
        for (okra_int p = 0; p < okra_grid_places_(axis->grid); p++) {
            const char *const *values, *owner, *parameter;
            okra_int count = okra_grid_place_(axis->grid, p, &values);
            okra_int digit = okra_space_digit_(narrow, at, a, p);
            int side = edge(values, count, digit);
            okra_grid_owner_(axis->grid, p, &owner, &parameter);
            if (side != 0) {
                okra_warn_(ctx,
                           "select: the best %s%s%s, %s, is the %s value of its list: "
                           "better ones may lie beyond it",
                           parameter ? parameter : axis->name, parameter ? " of " : "",
                           parameter ? axis->name : "", values[digit],
                           side < 0 ? "least" : "largest");
            }
        }
    }
done:
    okra_space_free_(narrow);
    return st;
}
