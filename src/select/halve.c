/*
 * halve.c: kernels that lose on a part of the pairs are not compared on all of them.
 * All cells are evaluated on m evenly spaced pairs first, m = n / 3 and at least LEAST. A
 * group (cells that differ in lambda alone) is as good as its best cell; the best KEEP
 * groups stay that are not worse than the best by SLACK of it, and in them the lambdas
 * within WINDOW of their best. Decompositions of the part cost a twenty-seventh.
 */
#include "select/select.h"

enum { LEAST = 150, FROM = 300, GROUPS = 6, KEEP = 4, WINDOW = 3 };
static const double SLACK = 0.2;

bool okra_halve_wanted_(const okra_cell_search_ *s, const okra_plan_ *plan)
{
    const okra_task_ *task = s->task;
    const okra_pairs_ *source = task->source;
    okra_int lambdas = task->space->lambdas;
    return s->halve && task->space->path && task->folds.n >= FROM && !task->index &&
           !task->outputs && task->cv != OKRA_CV_GCV_ && !plan->drawn &&
           plan->count == task->space->cells && plan->count / lambdas >= GROUPS &&
           source->inputs == source->n && !source->links && !source->same &&
           !source->request->candidates && source->x->kind != OKRA_GRAM &&
           source->y->kind != OKRA_GRAM;
}

typedef struct part {
    okra_task_ task;
    okra_pairs_ source;
    okra_data *x, *y;
    okra_found_ found;
} part;

static void clear(part *p)
{
    okra_source_clear_(&p->source);
    okra_folds_free_(&p->task.folds);
    okra_found_free_(&p->found);
    okra_data_free(p->x);
    okra_data_free(p->y);
}

/* The part as a task of its own, its folds those of the whole. */
static okra_status open_part(const okra_task_ *task, okra_int m, part *p)
{
    const okra_pairs_ *from = task->source;
    const okra_folds_ *folds = &task->folds;
    CHK(okra_data_some_(from->x, 0, folds->n, m, &p->x));
    CHK(okra_data_some_(from->y, 0, folds->n, m, &p->y));
    p->source = (okra_pairs_){.x = p->x,
                              .y = p->y,
                              .n = m,
                              .inputs = m,
                              .request = from->request,
                              .classes = from->classes};
    p->task = *task;
    p->task.source = &p->source;
    p->task.folds = (okra_folds_){.n = m,
                                  .parts = folds->part ? folds->parts : m,
                                  .repeats = folds->repeats,
                                  .train_on_one = folds->train_on_one};
    if (folds->part) {
        MAKE(p->task.folds.part, m * folds->repeats);
        for (okra_int k = 0; k < m * folds->repeats; k++) {
            p->task.folds.part[k] = folds->part[k / m * folds->n + k % m * folds->n / m];
        }
    }
    return OKRA_OK;
}

static okra_status evaluate(okra_context *ctx, const okra_found_ *cells, okra_int lambdas,
                            part *p)
{
    ZMAKE(p->found.cells, cells->count);
    for (okra_int i = 0; i < cells->count; i++) {
        okra_setting_ setting = {NULL, 0};
        CHK(okra_setting_copy_(&cells->cells[i].setting, &setting));
        CHK(okra_search_cell_(&p->task, &setting, &p->found.cells[i]));
        p->found.count++;
    }
    for (okra_int first = 0; first < cells->count; first += lambdas) {
        OWNED okra_cell_ **group = NULL;
        MAKE(group, lambdas);
        for (okra_int k = 0; k < lambdas; k++) {
            group[k] = &p->found.cells[first + k];
        }
        CHK(okra_cancelled_(ctx));
        CHK(okra_group_run_(ctx, &p->task, group, (size_t)lambdas));
    }
    return OKRA_OK;
}

/* Among cells first..end-1 the best; `sign` 1: the least mean. NaN is never. */
static okra_int best_of(const okra_cell_ *cells, okra_int first, okra_int end,
                        double sign)
{
    okra_int best = first;
    for (okra_int i = first + 1; i < end; i++) {
        if (isnan(cells[best].mean) || sign * cells[i].mean < sign * cells[best].mean) {
            best = i;
        }
    }
    return best;
}

okra_status okra_halve_(okra_context *ctx, const okra_cell_search_ *s, okra_found_ *found)
{
    FREED_BY(clear) part p = {.x = NULL};
    okra_int lambdas = s->task->space->lambdas, n = s->task->folds.n;
    double sign = s->loss ? 1 : -1;
    CHK(open_part(s->task, OKRA_MAX_(LEAST, n / 3), &p));
    CHK(evaluate(ctx, found, lambdas, &p));
    for (okra_int i = 0; i < found->count; i++) {
        found->cells[i].part = p.found.cells[i].mean;
        found->cells[i].dropped = true;
    }
    double least = 0;
    for (int kept = 0; kept < KEEP; kept++) {
        okra_int best = best_of(p.found.cells, 0, found->count, sign);
        double mean = sign * p.found.cells[best].mean;
        if (kept > 0 && !(mean <= least + SLACK * fabs(least))) {
            break;
        }
        least = kept > 0 ? least : mean;
        okra_int first = best / lambdas * lambdas;
        for (okra_int i = first; i < first + lambdas; i++) {
            found->cells[i].dropped = labs((long)(i - best)) > WINDOW;
            p.found.cells[i].mean = (double)NAN; /* not again */
        }
    }
    return OKRA_OK;
}

okra_status okra_halve_more_(okra_context *ctx, const okra_cell_search_ *s,
                             okra_found_ *found)
{
    okra_int lambdas = s->task->space->lambdas, count = 0;
    okra_int first = found->best / lambdas * lambdas, last = first + lambdas - 1;
    OWNED okra_cell_ **rest = NULL;
    okra_int best = found->best;
    bool edge = (best > first && found->cells[best - 1].dropped) ||
                (best < last && found->cells[best + 1].dropped);
    MAKE(rest, lambdas);
    for (okra_int i = first; edge && i <= last; i++) {
        if (found->cells[i].dropped) {
            found->cells[i].dropped = false;
            rest[count++] = &found->cells[i];
        }
    }
    return count > 0 ? okra_group_run_(ctx, s->task, rest, (size_t)count) : OKRA_OK;
}
