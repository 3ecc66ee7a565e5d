/*
 * plan.c: the cells that a search starts with.
 *
 * The whole grid, or `budget` cells. Of lists alone the budget draws cells without
 * repeats. Where a place holds a range lo..hi (without steps) of real numbers, each draw
 * has its own number there, log-uniform between lo and hi: with few numbers that matter,
 * random points look at more values of each than a grid (Bergstra and Bengio 2012). The
 * numbers come from the context's seed alone; they are rounded to six digits, as they are
 * shown. Draws with the same lists follow one another, so that they can share work.
 */
#include "select/select.h"

#include <math.h>
#include <stdlib.h>

/* A place whose draws are real numbers. */
static bool continuous(const okra_space_ *space)
{
    double low, high;
    for (size_t a = 0; a < space->count; a++) {
        for (okra_int p = 0; p < okra_grid_places_(space->axes[a].grid); p++) {
            if (okra_grid_range_(space->axes[a].grid, p, &low, &high)) {
                return true;
            }
        }
    }
    return false;
}

okra_int okra_search_cells_(const okra_space_ *space, okra_int budget)
{
    return budget == 0         ? space->cells
           : continuous(space) ? budget
                               : OKRA_MIN_(budget, space->cells);
}

/* `count` different numbers below `cells`, okra_by_int_. */
static void draw_cells(okra_int cells, okra_int count, okra_random_ *random,
                       okra_int *out)
{
    okra_int have = 0;
    while (have < count) { /* draw, sort, strike out repeats, until there are enough */
        while (have < count) {
            out[have++] = okra_random_below_(random, cells);
        }
        qsort(out, (size_t)have, sizeof *out, okra_by_int_);
        okra_int kept = 0;
        for (okra_int i = 0; i < have; i++) {
            if (kept == 0 || out[i] != out[kept - 1]) {
                out[kept++] = out[i];
            }
        }
        have = kept;
    }
}

/* One draw: the cell of its lists, ranges at their first value, and numbers in these. */
static okra_int draw_point(const okra_space_ *space, okra_random_ *random, double *drawn)
{
    okra_int cell = 0;
    const char *const *values;
    double low, high;
    for (size_t a = 0; a < space->count; a++) {
        const okra_grid_ *grid = space->axes[a].grid;
        for (okra_int p = 0; p < okra_grid_places_(grid); p++, drawn++) {
            okra_int count = okra_grid_place_(grid, p, &values), digit = 0;
            *drawn = (double)NAN;
            if (okra_grid_range_(grid, p, &low, &high)) {
                *drawn = low * pow(high / low, okra_random_uniform_(random));
            } else {
                digit = okra_random_below_(random, count);
            }
            cell = cell * count + digit;
        }
    }
    return cell;
}

typedef struct key {
    okra_int cell, place;
} key;

static int by_cell(const void *a, const void *b)
{
    const key *x = a, *y = b;
    return x->cell != y->cell     ? (x->cell < y->cell ? -1 : 1)
           : x->place != y->place ? (x->place < y->place ? -1 : 1)
                                  : 0;
}

/* Draws in the order of their cells; those of one cell stay as drawn. */
static okra_status draw_points(const okra_space_ *space, okra_random_ *random,
                               okra_plan_ *plan)
{
    OWNED key *keys = NULL;
    OWNED double *drawn = NULL;
    okra_int width = plan->places;
    MAKE(keys, plan->count);
    MAKE(drawn, plan->count * width);
    MAKE(plan->drawn, plan->count * width);
    for (okra_int i = 0; i < plan->count; i++) {
        keys[i] = (key){draw_point(space, random, drawn + i * width), i};
    }
    qsort(keys, (size_t)plan->count, sizeof *keys, by_cell);
    for (okra_int i = 0; i < plan->count; i++) {
        plan->number[i] = keys[i].cell;
        for (okra_int p = 0; p < width; p++) {
            plan->drawn[i * width + p] = drawn[keys[i].place * width + p];
        }
    }
    return OKRA_OK;
}

okra_status okra_plan_create_(const okra_space_ *space, okra_int budget, uint64_t seed,
                              okra_plan_ *out)
{
    FREED_BY(okra_plan_clear_)
    okra_plan_ plan = {.count = okra_search_cells_(space, budget),
                       .places = okra_space_places_(space)};
    okra_random_ random = okra_random_create_(seed, 0x5e1ec7);
    MAKE(plan.number, plan.count);
    if (budget > 0 && continuous(space)) {
        CHK(draw_points(space, &random, &plan));
    } else if (plan.count < space->cells) {
        draw_cells(space->cells, plan.count, &random, plan.number);
    } else {
        okra_iota_(plan.count, plan.number);
    }
    *out = plan;
    plan = (okra_plan_){0};
    return OKRA_OK;
}

OKRA_SHARED_CLEARS_(okra_plan_clear_, okra_plan_, it->number, it->drawn)

const double *okra_plan_drawn_(const okra_plan_ *plan, okra_int i)
{
    return plan->drawn ? plan->drawn + i * plan->places : NULL;
}

okra_int okra_plan_name_(const okra_plan_ *plan, okra_int i)
{
    return plan->drawn ? i : plan->number[i];
}

bool okra_plan_same_(const okra_plan_ *plan, const okra_space_ *space, okra_int i,
                     okra_int j)
{
    bool same = plan->number[i] / space->lambdas == plan->number[j] / space->lambdas;
    const double *x = okra_plan_drawn_(plan, i), *y = okra_plan_drawn_(plan, j);
    okra_int others = plan->places - space->path; /* lambda is the last place */
    for (okra_int p = 0; same && x && p < others; p++) {
        same = (isnan(x[p]) && isnan(y[p])) || x[p] == y[p];
    }
    return same;
}
