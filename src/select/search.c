/*
 * search.c: the cells of a selection, and their values.
 * The whole grid, or `budget` cells. Of lists alone the budget draws cells without
 * repeats. Where a place holds a range lo..hi (without steps) of real numbers, each draw
 * has its own number there, log-uniform (Bergstra and Bengio 2012), by the context's seed
 * alone, rounded to six digits as it is shown.
 *
 * Cells are taken in order, so that those that differ in lambda alone form a group that
 * shares its decompositions, and those that share kernels follow one another.
 *
 * A best value at the end of its list may have better ones beyond it, of which whoever
 * wrote the list is warned; unless the value beside it is as good.
 */
#include "select/select.h"
#include "kernel/expression/expr.h"

/* ---- the cells that a search starts with ---- */

/* A place whose draws are real numbers. */
static bool continuous(const okra_space_ *space)
{
    double low, high;
    for (size_t a = 0; a < space->count; a++) {
        for (okra_int p = 0; p < space->axes[a].grid->count; p++) {
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
    double low, high;
    for (size_t a = 0; a < space->count; a++) {
        const okra_grid_ *grid = space->axes[a].grid;
        for (okra_int p = 0; p < grid->count; p++, drawn++) {
            okra_int count = grid->axes[p].count, digit = 0;
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

OKRA_ORDER_(by_cell, key, OKRA_UP_(cell), OKRA_UP_(place))

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

static okra_status plan_create(const okra_space_ *space, okra_int budget, uint64_t seed,
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
    *out = TAKE(plan);
    return OKRA_OK;
}

OKRA_SHARED_CLEARS_(okra_plan_clear_, okra_plan_, it->number, it->drawn)

const double *okra_plan_drawn_(const okra_plan_ *plan, okra_int i)
{
    return plan->drawn ? plan->drawn + i * plan->places : NULL;
}

/* What the journal calls it. */
static okra_int plan_name(const okra_plan_ *plan, okra_int i)
{
    return plan->drawn ? i : plan->number[i];
}

/* Do two cells differ in lambda at most? */
static bool plan_same(const okra_plan_ *plan, const okra_space_ *space, okra_int i,
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

/* ---- values at the end of their list ---- */

/* The place of `value` among `count` numbers of a list: -1 the least, 1 the largest, 0
 * neither, or no list of three numbers or more. A least whole number of 1 or 0 has
 * nothing below it. */
static int edge(char *const *values, okra_int count, okra_int digit)
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
    const okra_grid_ *grid = space->axes[axis].grid;
    okra_int step = 1;
    for (size_t a = axis + 1; a < space->count; a++) {
        step *= space->axes[a].count;
    }
    for (okra_int p = grid->count - 1; p > place; p--) {
        step *= grid->axes[p].count;
    }
    return step;
}

/* Warns of the values of the best cell, number `cell` of the grid, that are the first or
 * last of their lists, unless the value beside them is as good or nobody wrote the list.
 */
static okra_status tell_edges(const okra_context *ctx, const okra_space_ *space,
                              const okra_found_ *found, okra_int cell)
{
    FREED_BY(okra_space_drop_) okra_space_ *narrow = NULL;
    okra_int at;
    CHK(okra_space_narrow_(space, cell, &narrow, &at));
    for (size_t a = 0; a < narrow->count; a++) {
        const okra_axis_ *axis = &narrow->axes[a];
        for (okra_int p = 0; p < axis->grid->count; p++) {
            const okra_grid_axis_ *place = &axis->grid->axes[p];
            okra_int digit = okra_space_digit_(narrow, at, a, p);
            int side = axis->automatic ? 0 : edge(place->values, place->count, digit);
            bool alike = false;
            if (side != 0) {
                okra_int beside = digit > 0 ? -1 : 1;
                CHK(tied(narrow, at + beside * stride(narrow, a, p), found, &alike));
            }
            if (side != 0 && !alike) {
                okra_warn_(ctx,
                           "select: the best %s%s%s, %s, is the %s value of its list: "
                           "better ones may lie beyond it",
                           place->param ? place->param : axis->name,
                           place->param ? " of " : "", place->param ? axis->name : "",
                           place->values[digit], side < 0 ? "least" : "largest");
            }
        }
    }
    return OKRA_OK;
}

/* ---- the search ---- */

static void clear_cell(okra_cell_ *cell)
{
    okra_setting_free_(&cell->setting);
    FREE(cell->values, cell->outputs);
}

void okra_found_free_(okra_found_ *found)
{
    for (okra_int i = 0; found->cells && i < found->count; i++) {
        clear_cell(&found->cells[i]);
    }
    okra_free_at_(&found->cells);
    found->count = 0;
}

/* ---- the cells ---- */

okra_status okra_search_cell_(const okra_task_ *task, okra_setting_ *setting,
                              okra_cell_ *cell)
{
    okra_int values = okra_task_values_(task);
    *cell = (okra_cell_){OKRA_CELL_UNKNOWN_};
    cell->values = okra_alloc_(values, sizeof *cell->values);
    if (!cell->values) {
        okra_setting_free_(setting);
        return OKRA_EMEM;
    }
    okra_fill_(values, (double)NAN, cell->values);
    cell->setting = *setting;
    return OKRA_OK;
}

/* Numbers in place of auto, chosen from the pairs that take part. */
static okra_status resolve(okra_context *ctx, const okra_task_ *task, const char *name,
                           const char *before, char **text, const char *known)
{
    const okra_data *all =
        *name == 'k' && name[1] == 'x' ? task->source->x : task->source->y;
    FREED_BY(okra_data_drop_) okra_data *some = NULL;
    char *found = NULL;
    if (before && strcmp(before, *text) == 0) { /* the cell before had the same text */
        GOT(found = okra_strdup_(known));
    } else {
        if (task->index && okra_data_kind(all) != OKRA_GRAM) {
            CHK(okra_data_take(all, task->index, task->folds.n, &some));
        }
        CHK(okra_kernel_auto_(ctx, *text, some ? some : all, &found));
    }
    okra_free_(*text);
    *text = found;
    return OKRA_OK;
}

okra_status okra_search_resolve_(okra_context *ctx, const okra_task_ *task,
                                 okra_found_ *found)
{
    okra_status st = OKRA_OK;
    const okra_space_ *space = task->space;
    OWNED char *before = NULL;
    for (size_t a = 0; a < space->count && a < 2; a++) {
        const char *name = space->axes[a].name;
        if (strcmp(name, "kx") != 0 && strcmp(name, "ky") != 0) {
            continue;
        }
        const char *known = NULL;
        for (okra_int i = 0; i < found->count; i++) {
            char **text = &found->cells[i].setting.text[a];
            if (!strstr(*text, "auto") || okra_align_asked_(*text)) {
                continue;
            }
            char *copy = okra_strdup_(*text);
            GOT(copy);
            st = resolve(ctx, task, name, before, text, known);
            okra_free_(before);
            before = copy;
            known = *text;
            CHK(st);
        }
        okra_free_at_(&before);
    }
    return OKRA_OK;
}

/* ---- evaluating ---- */

/* After the first group of a long search: how long the whole will take. */
static void estimate(const okra_context *ctx, const okra_cell_search_ *s, okra_int done,
                     double seconds)
{
    okra_int rest = s->total - s->before - done;
    double each = seconds / (double)done;
    if (s->before == 0 && each * (double)rest > 60) {
        okra_warn_(ctx, "selection: %lld cells at about %.2g s each: about %.0f min",
                   (long long)s->total, each, ceil(each * (double)rest / 60));
    }
}

static okra_status run_group(okra_context *ctx, okra_cell_search_ *s, okra_cell_ *cells,
                             const okra_plan_ *plan, okra_int first, size_t count)
{
    OWNED okra_cell_ **todo = NULL;
    size_t some = 0;
    okra_int values = okra_task_values_(s->task);
    char name[32];
    MAKE(todo, (okra_int)count);
    for (size_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "%lld",
                 (long long)plan_name(plan, first + (okra_int)i));
        if (!cells[i].dropped &&
            !okra_journal_find_(s->journal, s->outer, name, values, &cells[i])) {
            todo[some++] = &cells[i];
        }
    }
    if (some > 0) {
        CHK(okra_group_run_(ctx, s->task, todo, some));
        for (size_t i = 0; i < some; i++) {
            snprintf(name, sizeof name, "%lld",
                     (long long)plan_name(plan, first + (todo[i] - cells)));
            CHK(okra_journal_add_(s->journal, s->outer, name, values, todo[i]));
        }
        CHK(okra_journal_save_(s->journal, NULL));
    }
    return OKRA_OK;
}

static bool better(const okra_cell_search_ *s, double a, double b)
{
    return !isnan(a) && (isnan(b) || (s->loss ? a < b : a > b));
}

static okra_status run_cells(okra_context *ctx, okra_cell_search_ *s, okra_found_ *found,
                             const okra_plan_ *plan)
{
    okra_int count = found->count;
    for (okra_int first = 0; first < count;) {
        okra_int end = first + 1;
        while (end < count && plan_same(plan, s->task->space, first, end)) {
            end++;
        }
        double begin = okra_now_();
        CHK(okra_cancelled_(ctx));
        okra_progress_(ctx, "select", s->before + first, s->total);
        CHK(run_group(ctx, s, found->cells + first, plan, first, (size_t)(end - first)));
        if (first == 0) {
            estimate(ctx, s, end, okra_now_() - begin);
        }
        first = end;
    }
    s->before += count;
    okra_progress_(ctx, "select", s->before, s->total);
    return OKRA_OK;
}

/* ---- the search ---- */

static void find_best(const okra_cell_search_ *s, okra_found_ *found)
{
    found->best = 0;
    for (okra_int i = 1; i < found->count; i++) {
        if (better(s, found->cells[i].mean, found->cells[found->best].mean)) {
            found->best = i;
        }
    }
}

/* Eight lambdas over four decades below the cell `from`, of its setting. */
static okra_status go_below(okra_context *ctx, okra_cell_search_ *s, okra_found_ *found,
                            okra_int from)
{
    enum { MORE = 8 };
    size_t last = s->task->space->count - 1;
    okra_cell_ *todo[MORE];
    RESIZE(found->cells, found->count + MORE);
    okra_cell_ *grown = found->cells;
    double least = okra_strtod_(grown[from].setting.text[last], NULL);
    for (int k = 0; k < MORE; k++) {
        okra_setting_ setting = {NULL, 0};
        CHK(okra_setting_copy_(&grown[from].setting, &setting));
        okra_free_(setting.text[last]);
        setting.text[last] = okra_format_("%.6g", least * pow(10, -(k + 1) / 2.0));
        if (!setting.text[last]) {
            okra_setting_free_(&setting);
            return OKRA_EMEM;
        }
        todo[k] = &grown[found->count];
        CHK(okra_search_cell_(s->task, &setting, todo[k]));
        todo[k]->refined = true;
        found->count++;
    }
    return okra_group_run_(ctx, s->task, todo, MORE);
}

/* Where a small lambda of an automatic list is best, there may be hardly any noise, and
 * the best kernel may be one that shows it only below the list: every setting that likes
 * small ones goes on below it, if that pays. *origin: the cell of the grid whose setting
 * is best. */
static okra_status extend(okra_context *ctx, okra_cell_search_ *s, okra_found_ *found,
                          const okra_plan_ *plan, okra_int *origin)
{
    const okra_space_ *space = s->task->space;
    okra_int all = found->count, lambdas = space->lambdas, low = lambdas / 4;
    double best = found->cells[found->best].mean;
    if (!s->own || !s->loss || !space->path || !space->axes[space->count - 1].automatic ||
        plan->drawn || plan->count < space->cells || lambdas < 3 ||
        found->best % lambdas > low) {
        return OKRA_OK;
    }
    for (okra_int first = 0; first < all; first += lambdas) {
        okra_int at = first, begin = found->count;
        for (okra_int i = first + 1; i < first + lambdas; i++) {
            at = better(s, found->cells[i].mean, found->cells[at].mean) ? i : at;
        }
        if (at > first + low || isnan(found->cells[at].mean)) {
            continue;
        }
        CHK(go_below(ctx, s, found, first));
        bool gain = false;
        for (okra_int i = begin; i < found->count; i++) {
            if (found->cells[i].mean < 0.9 * best) {
                best = found->cells[i].mean / 0.9; /* the next pays if it is better yet */
                *origin = first;
                gain = true;
            }
        }
        while (!gain && found->count > begin) {
            clear_cell(&found->cells[--found->count]);
        }
    }
    return OKRA_OK;
}

okra_status okra_search_run_(okra_context *ctx, okra_cell_search_ *search,
                             okra_found_ *out)
{
    FREED_BY(okra_found_free_) okra_found_ found = {NULL, 0, 0};
    FREED_BY(okra_plan_clear_) okra_plan_ plan = {0};
    const okra_space_ *space = search->task->space;
    CHK(plan_create(space, search->budget, search->seed, &plan));
    ZMAKE(found.cells, plan.count);
    for (okra_int i = 0; i < plan.count; i++) {
        okra_setting_ setting = {NULL, 0};
        CHK(okra_space_at_(space, plan.number[i], okra_plan_drawn_(&plan, i), NULL,
                           &setting));
        CHK(okra_search_cell_(search->task, &setting, &found.cells[i]));
        found.count++;
    }
    CHK(okra_search_resolve_(ctx, search->task, &found));
    bool halve = okra_halve_wanted_(search, &plan);
    CHK(halve ? okra_halve_(ctx, search, &found) : OKRA_OK);
    CHK(run_cells(ctx, search, &found, &plan));
    find_best(search, &found);
    if (halve) {
        CHK(okra_halve_more_(ctx, search, &found));
        find_best(search, &found);
    }
    REFUSE_IF(isnan(found.cells[found.best].mean), OKRA_ENUMERIC,
              "select: the metric has no value (nan) for any setting");
    okra_int origin = found.best;
    CHK(extend(ctx, search, &found, &plan, &origin));
    find_best(search, &found);
    if (search->refine > 0) {
        CHK(okra_search_refine_(ctx, search, &found, &plan, origin));
        find_best(search, &found);
    }
    if (search->edges && found.best < plan.count && !plan.drawn) {
        CHK(tell_edges(ctx, space, &found, plan.number[found.best]));
    }
    *out = TAKE(found);
    return OKRA_OK;
}
