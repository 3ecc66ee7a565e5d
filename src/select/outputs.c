/*
 * outputs.c: a lambda for each output. The cells of a search that differ in lambda alone
 * come from one decomposition (group.c), and their left-out predictions tell the
 * squared error of every coordinate of the outputs. Each coordinate, or group of
 * coordinates, takes the lambda that is best for it; settings are compared by the sum of
 * these errors, which is feature-loss of the model with those lambdas (in the units of
 * the outputs). It is more optimistic than one lambda: nested folds tell by how much.
 */
#include "select/select.h"

okra_status okra_outputs_check_(const okra_pairs_ *source, const okra_space_ *space,
                                const okra_scorer_ *scorer, const okra_options *options,
                                const okra_cv_ *cv)
{
    const okra_select_request *r = source->request;
    const okra_method_ *method = space->method;
    bool has = okra_option_find_(&method->options, "output-lambda", 13) != NULL;
    const char *wrong =
        source->links                   ? "links have no coordinates"
        : source->y->kind != OKRA_DENSE ? "the outputs are no dense vectors"
        : !has                          ? "the method has no option output-lambda"
        : !okra_rule_apart_(method, options)
            ? "the operator binds the coordinates together"
        : !scorer->feature                              ? "the metric is not feature-loss"
        : cv->kind == OKRA_CV_GCV_ || cv->outer > 0     ? "cv is not loo or kfold"
        : r->resume                                     ? "finished work does not hold it"
        : okra_options_is_set(options, "refine")        ? "refine has one lambda"
        : okra_options_is_set(options, "output-lambda") ? "output-lambda is given"
                                                        : NULL;
    REFUSE_IF(wrong, OKRA_EARG, "per-output chooses a lambda for each coordinate, but %s",
              wrong);
    if (r->output_groups &&
        (r->output_groups->kind != OKRA_LABELS || r->output_groups->n != source->y->d)) {
        char text[96];
        return okra_fail_(OKRA_ESHAPE,
                          "output groups: found %s, expected labels of the %lld outputs",
                          okra_data_describe_(r->output_groups, text, sizeof text),
                          (long long)source->y->d);
    }
    return OKRA_OK;
}

okra_status okra_outputs_add_(const okra_lambda_group_ *g, const okra_left_ *left,
                              okra_cell_ *cell)
{
    const okra_data *y = g->view->train_y;
    double repeats = (double)g->task->folds.repeats, total = okra_weights_total_(y);
    REFUSE_IF(!left->H.p || left->H.cols != y->d, OKRA_EUNSUPPORTED,
              "per-output needs explicit outputs: ky must be linear");
    if (!cell->outputs) {
        ZMAKE(cell->outputs, y->d);
    }
    for (okra_int i = 0; i < y->n; i++) {
        double w = okra_weight_(y, i) / total / repeats;
        for (okra_int j = 0; j < y->d; j++) {
            double r = y->values[i * y->ld + j] - left->H.p[i * left->H.ld + j];
            cell->outputs[j] += w * r * r;
        }
    }
    return OKRA_OK;
}

/* Do two cells agree in all but lambda, the last axis? */
static bool alike(const okra_space_ *space, const okra_cell_ *a, const okra_cell_ *b)
{
    for (size_t i = 0; i + 1 < space->count; i++) {
        if (strcmp(a->setting.text[i], b->setting.text[i]) != 0) {
            return false;
        }
    }
    return true;
}

/* Groups of coordinates: codes below `count`, or each its own. */
typedef struct grouping {
    okra_int d, count;
    const okra_int *code; /* d, or NULL */
    double *sum, *least;  /* count */
    okra_int *which;      /* count: the cell */
} grouping;

static okra_int group_of(const grouping *g, okra_int j)
{
    return g->code ? g->code[j] : j;
}

/* Among the cells of cell i's setting: which each group takes; their sum of errors. */
static double choose(const okra_selection *s, okra_int i, grouping *g)
{
    const okra_found_ *f = &s->found;
    for (okra_int k = 0; k < g->count; k++) {
        g->least[k] = (double)INFINITY;
        g->which[k] = i;
    }
    for (okra_int c = 0; c < f->count; c++) {
        if (!f->cells[c].outputs || !alike(s->space, &f->cells[i], &f->cells[c])) {
            continue;
        }
        memset(g->sum, 0, (size_t)g->count * sizeof *g->sum);
        for (okra_int j = 0; j < g->d; j++) {
            g->sum[group_of(g, j)] += f->cells[c].outputs[j];
        }
        for (okra_int k = 0; k < g->count; k++) {
            if (g->sum[k] < g->least[k]) {
                g->least[k] = g->sum[k];
                g->which[k] = c;
            }
        }
    }
    return okra_total_(g->count, g->least);
}

/* The lambdas of the outputs as a text, "V,V,...". */
static okra_status write_list(const okra_selection *s, const grouping *g,
                              const okra_int *which, char **out)
{
    enum { MOST = 32 };
    OWNED char *text = NULL;
    okra_int at = 0;
    MAKE(text, g->d * MOST + 1);
    text[0] = '\0';
    for (okra_int j = 0; j < g->d; j++) {
        const okra_cell_ *c = &s->found.cells[which[group_of(g, j)]];
        const char *lambda = okra_space_value_(s->space, &c->setting, "lambda");
        at += snprintf(text + at, MOST, "%s%.30s", j ? "," : "", lambda);
    }
    *out = TAKE(text);
    return OKRA_OK;
}

okra_status okra_outputs_choose_(const okra_pairs_ *source, okra_selection *s)
{
    const okra_data *groups = source->request->output_groups;
    grouping g = {.d = source->y->d,
                  .count = groups ? groups->d : source->y->d,
                  .code = groups ? groups->codes : NULL};
    OWNS(&g.which, &g.sum, &g.least);
    OWNED okra_int *best = NULL;
    double least = (double)INFINITY;
    MAKE(best, g.count);
    MAKE(g.which, g.count);
    MAKE(g.sum, g.count);
    MAKE(g.least, g.count);
    for (okra_int i = 0; i < s->found.count; i++) {
        bool seen = false;
        for (okra_int k = 0; k < i && !seen; k++) {
            seen = alike(s->space, &s->found.cells[i], &s->found.cells[k]);
        }
        double all = seen ? (double)INFINITY : choose(s, i, &g);
        if (all < least) {
            least = all;
            memcpy(best, g.which, (size_t)g.count * sizeof *best);
            s->found.best = i;
        }
    }
    REFUSE_IF(!isfinite(least), OKRA_ENUMERIC,
              "per-output: no setting has finite errors");
    for (okra_int i = 0; i < s->found.count; i++) { /* its best single lambda */
        const okra_cell_ *c = s->found.cells;
        if (alike(s->space, &c[i], &c[s->found.best]) &&
            c[i].mean < c[s->found.best].mean) {
            s->found.best = i;
        }
    }
    s->output_loss = least;
    return write_list(s, &g, best, &s->output_lambda);
}
