/*
 * search.c: the cells of a plan evaluated. They are taken in order, so that those that
 * differ in lambda alone form a group that shares its decompositions, and those that
 * share kernels follow one another.
 */
#include "model/align.h"
#include "select/select.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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
    okra_free_(found->cells);
    found->cells = NULL;
    found->count = 0;
}

/* ---- the cells ---- */

okra_status okra_search_cell_(const okra_task_ *task, okra_setting_ *setting,
                              okra_cell_ *cell)
{
    okra_int values = okra_task_values_(task);
    *cell = (okra_cell_){.mean = (double)NAN, .error = (double)NAN, .gcv = (double)NAN};
    cell->values = okra_alloc_(values, sizeof *cell->values);
    if (!cell->values) {
        okra_setting_free_(setting);
        return OKRA_EMEM;
    }
    for (okra_int f = 0; f < values; f++) {
        cell->values[f] = (double)NAN;
    }
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
        found = okra_strdup_(known);
        GOT(found);
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
        okra_free_(before);
        before = NULL;
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
                 (long long)okra_plan_name_(plan, first + (okra_int)i));
        if (!okra_journal_find_(s->journal, s->outer, name, values, &cells[i])) {
            todo[some++] = &cells[i];
        }
    }
    if (some > 0) {
        CHK(okra_group_run_(ctx, s->task, todo, some));
        for (size_t i = 0; i < some; i++) {
            snprintf(name, sizeof name, "%lld",
                     (long long)okra_plan_name_(plan, first + (todo[i] - cells)));
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
        while (end < count && okra_plan_same_(plan, s->task->space, first, end)) {
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
        if (at > first + low) {
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
    CHK(okra_plan_create_(space, search->budget, search->seed, &plan));
    ZMAKE(found.cells, plan.count);
    for (okra_int i = 0; i < plan.count; i++) {
        okra_setting_ setting = {NULL, 0};
        CHK(okra_space_at_(space, plan.number[i], okra_plan_drawn_(&plan, i), NULL,
                           &setting));
        CHK(okra_search_cell_(search->task, &setting, &found.cells[i]));
        found.count++;
    }
    CHK(okra_search_resolve_(ctx, search->task, &found));
    CHK(run_cells(ctx, search, &found, &plan));
    find_best(search, &found);
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
        CHK(okra_search_edges_(ctx, space, &found, plan.number[found.best]));
    }
    *out = TAKE(found);
    return OKRA_OK;
}
