/*
 * search.c: which cells are evaluated.
 *
 * Full grid, or `budget` cells drawn from it without repeats. Cells are taken in order,
 * so that those that differ in lambda alone form a group that shares its decompositions,
 * and those that share kernels follow one another.
 *
 * Refinement: Nelder and Mead's simplex (1965; reflection 1, expansion 2, contraction and
 * shrinking 1/2) on the logarithms of the numbers that the grid varied, from the best
 * cell, with steps of half the spacing of the grid; it stops after `refine` evaluations,
 * or when the values of the simplex agree to 1e-6 of their size.
 */
#include "select/select.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

okra_int okra_search_cells_(const okra_space_ *space, okra_int budget)
{
    return budget > 0 ? OKRA_MIN_(budget, space->cells) : space->cells;
}

void okra_found_free_(okra_found_ *found)
{
    for (okra_int i = 0; found->cells && i < found->count; i++) {
        okra_setting_free_(&found->cells[i].setting);
        okra_free_(found->cells[i].values);
    }
    okra_free_(found->cells);
    found->cells = NULL;
    found->count = 0;
}

/* ---- the cells ------------------------------------------------------------------------
 */

static int ascending(const void *a, const void *b)
{
    okra_int x = *(const okra_int *)a, y = *(const okra_int *)b;
    return x < y ? -1 : x > y;
}

/* `wanted` different numbers below `cells`, ascending. */
static okra_status draw(okra_int cells, okra_int wanted, uint64_t seed, okra_int *out)
{
    okra_random_ random = okra_random_create_(seed, 0x5e1ec7);
    okra_int have = 0;
    if (wanted == cells) {
        for (okra_int i = 0; i < wanted; i++) {
            out[i] = i;
        }
        return OKRA_OK;
    }
    while (have < wanted) { /* draw, sort, strike out repeats, until there are enough */
        while (have < wanted) {
            out[have++] = okra_random_below_(&random, cells);
        }
        qsort(out, (size_t)have, sizeof *out, ascending);
        okra_int kept = 0;
        for (okra_int i = 0; i < have; i++) {
            if (kept == 0 || out[i] != out[kept - 1]) {
                out[kept++] = out[i];
            }
        }
        have = kept;
    }
    return OKRA_OK;
}

static okra_status make_cell(const okra_task_ *task, okra_setting_ *setting,
                             okra_cell_ *cell)
{
    okra_int values = okra_task_values_(task);
    *cell = (okra_cell_){.mean = NAN, .error = NAN, .gcv = NAN};
    cell->values = okra_alloc_(values, sizeof *cell->values);
    if (!cell->values) {
        okra_setting_free_(setting);
        return OKRA_EMEM;
    }
    for (okra_int f = 0; f < values; f++) {
        cell->values[f] = NAN;
    }
    cell->setting = *setting;
    return OKRA_OK;
}

/* Numbers in place of auto, chosen from the pairs that take part. */
static okra_status resolve(okra_context *ctx, const okra_task_ *task, const char *name,
                           const char *before, char **text, const char *known)
{
    okra_status st = OKRA_OK;
    const okra_data *all =
        *name == 'k' && name[1] == 'x' ? task->source->x : task->source->y;
    okra_data *some = NULL;
    char *found = NULL;
    if (before && strcmp(before, *text) == 0) { /* the cell before had the same text */
        found = okra_strdup_(known);
        st = found ? OKRA_OK : OKRA_EMEM;
    } else {
        if (task->index && okra_data_kind(all) != OKRA_GRAM) {
            TRY(okra_data_take(all, task->index, task->folds.n, &some));
        }
        TRY(okra_kernel_auto_(ctx, *text, some ? some : all, &found));
    }
    if (st == OKRA_OK) {
        okra_free_(*text);
        *text = found;
    }
done:
    okra_data_free(some);
    return st;
}

static okra_status resolve_all(okra_context *ctx, const okra_task_ *task,
                               okra_found_ *found)
{
    okra_status st = OKRA_OK;
    const okra_space_ *space = task->space;
    char *before = NULL;
    for (size_t a = 0; a < space->count && a < 2; a++) {
        const char *name = space->axes[a].name;
        if (strcmp(name, "kx") != 0 && strcmp(name, "ky") != 0) {
            continue;
        }
        const char *known = NULL;
        for (okra_int i = 0; i < found->count; i++) {
            char **text = &found->cells[i].setting.text[a];
            if (!strstr(*text, "auto")) {
                continue;
            }
            char *copy = okra_strdup_(*text);
            if (!copy) {
                st = OKRA_EMEM;
                goto done;
            }
            st = resolve(ctx, task, name, before, text, known);
            okra_free_(before);
            before = copy;
            known = *text;
            TRY(st);
        }
        okra_free_(before);
        before = NULL;
    }
done:
    okra_free_(before);
    return st;
}

/* ---- evaluating -----------------------------------------------------------------------
 */

/* After the first group of a long search: how long the whole will take. */
static void estimate(const okra_context *ctx, const okra_search_ *s, okra_int done,
                     double seconds)
{
    okra_int rest = s->total - s->before - done;
    double each = seconds / (double)done;
    if (s->before == 0 && each * (double)rest > 60) {
        okra_warn_(ctx, "selection: %lld cells at about %.2g s each: about %.0f min",
                   (long long)s->total, each, ceil(each * (double)rest / 60));
    }
}

static okra_status run_group(okra_context *ctx, okra_search_ *s, okra_cell_ *cells,
                             const okra_int *number, size_t count)
{
    okra_status st = OKRA_OK;
    okra_cell_ **todo = NULL;
    size_t some = 0;
    okra_int values = okra_task_values_(s->task);
    char name[32];
    ALLOC(todo, (okra_int)count);
    for (size_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "%lld", (long long)number[i]);
        if (!okra_journal_find_(s->journal, s->outer, name, values, &cells[i])) {
            todo[some++] = &cells[i];
        }
    }
    if (some > 0) {
        TRY(okra_group_run_(ctx, s->task, todo, some));
        for (size_t i = 0; i < some; i++) {
            snprintf(name, sizeof name, "%lld", (long long)number[todo[i] - cells]);
            TRY(okra_journal_add_(s->journal, s->outer, name, values, todo[i]));
        }
        TRY(okra_journal_save_(s->journal, NULL));
    }
done:
    okra_free_(todo);
    return st;
}

static bool better(const okra_search_ *s, double a, double b)
{
    return !isnan(a) && (isnan(b) || (s->loss ? a < b : a > b));
}

static okra_status run_cells(okra_context *ctx, okra_search_ *s, okra_found_ *found,
                             const okra_int *number)
{
    okra_status st = OKRA_OK;
    okra_int lambdas = s->task->space->lambdas, count = found->count;
    for (okra_int first = 0; first < count;) {
        okra_int end = first + 1;
        while (end < count && number[end] / lambdas == number[first] / lambdas) {
            end++;
        }
        double begin = now();
        TRY(okra_cancelled_(ctx));
        okra_progress_(ctx, "select", s->before + first, s->total);
        TRY(run_group(ctx, s, found->cells + first, number + first,
                      (size_t)(end - first)));
        if (first == 0) {
            estimate(ctx, s, end, now() - begin);
        }
        first = end;
    }
    s->before += count;
    okra_progress_(ctx, "select", s->before, s->total);
done:
    return st;
}

/* ---- refinement -----------------------------------------------------------------------
 */

typedef struct dimension {
    size_t axis;
    okra_int place;
    double start, step; /* logarithms */
} dimension;

typedef struct simplex {
    okra_search_ *search;
    okra_found_ *found;
    const okra_cell_ *from; /* its settings are kept where nothing is varied */
    okra_setting_ base;
    okra_int cell; /* number of the best cell in the grid */
    dimension *dims;
    okra_int d, left; /* evaluations left */
    double *points;   /* (d + 1) x d, then 3 rows of work */
    double *value;    /* d + 1 */
} simplex;

/* Which value of each place a cell has, by the digits of its number. */
static okra_int digit(const okra_space_ *space, okra_int cell, size_t axis,
                      okra_int place)
{
    for (size_t i = space->count - 1; i > axis; i--) {
        cell /= space->axes[i].count;
    }
    const okra_grid_ *grid = space->axes[axis].grid;
    cell %= space->axes[axis].count;
    const char *const *values;
    for (okra_int k = okra_grid_places_(grid) - 1; k > place; k--) {
        cell /= okra_grid_place_(grid, k, &values);
    }
    return cell % okra_grid_place_(grid, place, &values);
}

/* Is the option of the axis a whole number? */
static bool whole(const okra_space_ *space, size_t axis)
{
    size_t count;
    const okra_option_table *const *tables = okra_option_tables("fit", &count);
    for (size_t t = 0; t < count; t++) {
        const okra_option *row = okra_option_find_(tables[t], space->axes[axis].name,
                                                   strlen(space->axes[axis].name));
        if (row && row->type == OKRA_OPTION_INT) {
            return true;
        }
    }
    return false;
}

/* Places with two or more values, all positive numbers that are not all whole. */
static okra_status find_dimensions(simplex *z)
{
    okra_status st = OKRA_OK;
    const okra_space_ *space = z->search->task->space;
    okra_int places = 0;
    for (size_t a = 0; a < space->count; a++) {
        places += okra_grid_places_(space->axes[a].grid);
    }
    ALLOC(z->dims, places);
    for (size_t a = 0; a < space->count; a++) {
        const okra_grid_ *grid = space->axes[a].grid;
        for (okra_int p = 0; !whole(space, a) && p < okra_grid_places_(grid); p++) {
            const char *const *values;
            okra_int count = okra_grid_place_(grid, p, &values);
            double low = INFINITY, high = 0;
            bool numbers = count > 1;
            for (okra_int k = 0; numbers && k < count; k++) {
                char *end = NULL;
                double v = strtod(values[k], &end);
                numbers = end != values[k] && !*end && v > 0 && isfinite(v);
                low = fmin(low, v);
                high = fmax(high, v);
            }
            if (numbers && high > low) {
                double start = log(strtod(values[digit(space, z->cell, a, p)], NULL));
                double step = log(high / low) / (double)(count - 1) / 2;
                z->dims[z->d++] = (dimension){a, p, start, step};
            }
        }
    }
done:
    return st;
}

/* The settings at a point. */
static okra_status place(const simplex *z, const double *x, okra_setting_ *out)
{
    enum { PLACES = 64 };
    okra_status st = OKRA_OK;
    const okra_space_ *space = z->search->task->space;
    okra_setting_ s = {NULL, 0};
    TRY(okra_setting_copy_(&z->base, &s));
    for (size_t a = 0; a < space->count; a++) {
        const okra_grid_ *grid = space->axes[a].grid;
        okra_int places = okra_grid_places_(grid);
        const char *chosen[PLACES];
        char text[PLACES][32];
        bool moved = false;
        for (okra_int p = 0; p < places && places <= PLACES; p++) {
            const char *const *values;
            okra_grid_place_(grid, p, &values);
            chosen[p] = values[digit(space, z->cell, a, p)];
            for (okra_int k = 0; k < z->d; k++) {
                if (z->dims[k].axis == a && z->dims[k].place == p) {
                    snprintf(text[p], sizeof text[p], "%.6g", exp(x[k]));
                    chosen[p] = text[p];
                    moved = true;
                }
            }
        }
        if (moved) {
            okra_free_(s.text[a]);
            s.text[a] = NULL;
            TRY(okra_grid_build_(grid, chosen, &s.text[a]));
        }
    }
    *out = s;
    s.text = NULL;
done:
    okra_setting_free_(&s);
    return st;
}

/* Evaluates a point as a new cell; worse than anything where the options are refused. */
static okra_status at(okra_context *ctx, simplex *z, const double *x, double *value)
{
    okra_status st = OKRA_OK;
    okra_search_ *s = z->search;
    okra_found_ *f = z->found;
    okra_setting_ setting = {NULL, 0};
    char *name = NULL;
    okra_cell_ *grown = okra_realloc_(f->cells, f->count + 1, sizeof *grown);
    if (!grown) {
        return OKRA_EMEM;
    }
    f->cells = grown;
    TRY(place(z, x, &setting));
    for (size_t a = 0; a < setting.count && a < 2; a++) {
        if (strstr(setting.text[a], "auto")) {
            TRY(resolve(ctx, s->task, s->task->space->axes[a].name, NULL,
                        &setting.text[a], NULL));
        }
    }
    okra_cell_ *cell = &f->cells[f->count];
    TRY(make_cell(s->task, &setting, cell));
    setting.text = NULL;
    f->count++;
    cell->refined = true;
    okra_int values = okra_task_values_(s->task);
    name = okra_format_("refined %lld", (long long)z->left);
    if (!name) {
        st = OKRA_EMEM;
        goto done;
    }
    if (!okra_journal_find_(s->journal, s->outer, name, values, cell)) {
        TRY(okra_group_run_(ctx, s->task, &cell, 1));
        TRY(okra_journal_add_(s->journal, s->outer, name, values, cell));
        TRY(okra_journal_save_(s->journal, NULL));
    }
    z->left--;
    *value = isnan(cell->mean) ? (double)INFINITY : s->loss ? cell->mean : -cell->mean;
    okra_progress_(ctx, "refine", s->refine - z->left, s->refine);
done:
    okra_free_(name);
    return st;
}

static void sort_simplex(simplex *z)
{
    for (okra_int i = 1; i <= z->d; i++) { /* few points: by insertion */
        for (okra_int j = i; j > 0 && z->value[j] < z->value[j - 1]; j--) {
            double v = z->value[j];
            z->value[j] = z->value[j - 1];
            z->value[j - 1] = v;
            for (okra_int k = 0; k < z->d; k++) {
                double p = z->points[j * z->d + k];
                z->points[j * z->d + k] = z->points[(j - 1) * z->d + k];
                z->points[(j - 1) * z->d + k] = p;
            }
        }
    }
}

/* x = centre + t (worst - centre), the centre that of all points but the worst. */
static void along(const simplex *z, double t, double *x)
{
    okra_int d = z->d;
    for (okra_int k = 0; k < d; k++) {
        double centre = 0;
        for (okra_int i = 0; i < d; i++) {
            centre += z->points[i * d + k] / (double)d;
        }
        x[k] = centre + t * (z->points[d * d + k] - centre);
    }
}

static okra_status step(okra_context *ctx, simplex *z)
{
    okra_status st = OKRA_OK;
    okra_int d = z->d;
    double *x = z->points + (d + 1) * d, *y = x + d, fx, fy;
    double *worst = z->points + d * d;
    along(z, -1, x);
    TRY(at(ctx, z, x, &fx));
    if (fx >= z->value[0] && fx < z->value[d - 1]) {
        memcpy(worst, x, (size_t)d * sizeof *x);
        z->value[d] = fx;
        goto done;
    }
    if (z->left == 0) {
        goto done;
    }
    bool expand = fx < z->value[0];
    along(z, expand ? -2 : fx < z->value[d] ? -0.5 : 0.5, y);
    TRY(at(ctx, z, y, &fy));
    if (fy < fmin(fx, z->value[d])) {
        memcpy(worst, y, (size_t)d * sizeof *y);
        z->value[d] = fy;
    } else if (expand || fx < z->value[d]) {
        memcpy(worst, x, (size_t)d * sizeof *x);
        z->value[d] = fx;
    } else {
        for (okra_int i = 1; i <= d && z->left > 0; i++) {
            for (okra_int k = 0; k < d; k++) {
                z->points[i * d + k] = (z->points[i * d + k] + z->points[k]) / 2;
            }
            TRY(at(ctx, z, z->points + i * d, &z->value[i]));
        }
    }
done:
    return st;
}

static okra_status refine(okra_context *ctx, okra_search_ *s, okra_found_ *found,
                          const okra_int *number)
{
    okra_status st = OKRA_OK;
    simplex z = {.search = s, .found = found, .left = s->refine};
    double best = found->cells[found->best].mean;
    z.cell = number[found->best];
    TRY(okra_setting_copy_(&found->cells[found->best].setting, &z.base));
    TRY(find_dimensions(&z));
    if (z.d == 0) {
        FAIL(OKRA_EARG, "refine varies the numbers that the grid varies, but no list "
                        "holds two positive numbers");
    }
    ZALLOC(z.points, (z.d + 3) * z.d);
    ALLOC(z.value, z.d + 1);
    z.value[0] = s->loss ? best : -best;
    for (okra_int i = 0; i <= z.d; i++) {
        for (okra_int k = 0; k < z.d; k++) {
            z.points[i * z.d + k] = z.dims[k].start + (i == k + 1 ? z.dims[k].step : 0);
        }
        if (i > 0) {
            z.value[i] = INFINITY;
            if (z.left > 0) {
                TRY(at(ctx, &z, z.points + i * z.d, &z.value[i]));
            }
        }
    }
    sort_simplex(&z);
    while (z.left > 0 &&
           !(z.value[z.d] - z.value[0] <= 1e-6 * (fabs(z.value[0]) + 1e-300))) {
        TRY(okra_cancelled_(ctx));
        TRY(step(ctx, &z));
        sort_simplex(&z);
    }
done:
    okra_setting_free_(&z.base);
    okra_free_(z.dims);
    okra_free_(z.points);
    okra_free_(z.value);
    return st;
}

/* ---- the search -----------------------------------------------------------------------
 */

static void find_best(const okra_search_ *s, okra_found_ *found)
{
    found->best = 0;
    for (okra_int i = 1; i < found->count; i++) {
        if (better(s, found->cells[i].mean, found->cells[found->best].mean)) {
            found->best = i;
        }
    }
}

okra_status okra_search_run_(okra_context *ctx, okra_search_ *search, okra_found_ *out)
{
    okra_status st = OKRA_OK;
    okra_found_ found = {NULL, 0, 0};
    okra_int *number = NULL;
    const okra_space_ *space = search->task->space;
    okra_int wanted = okra_search_cells_(space, search->budget);
    ALLOC(number, wanted);
    TRY(draw(space->cells, wanted, search->seed, number));
    ZALLOC(found.cells, wanted);
    for (okra_int i = 0; i < wanted; i++) {
        okra_setting_ setting = {NULL, 0};
        TRY(okra_space_setting_(space, number[i], &setting));
        TRY(make_cell(search->task, &setting, &found.cells[i]));
        found.count++;
    }
    TRY(resolve_all(ctx, search->task, &found));
    TRY(run_cells(ctx, search, &found, number));
    find_best(search, &found);
    if (search->refine > 0) {
        TRY(refine(ctx, search, &found, number));
        find_best(search, &found);
    }
    *out = found;
    found.cells = NULL;
done:
    okra_found_free_(&found);
    okra_free_(number);
    return st;
}
