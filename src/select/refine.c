/*
 * refine.c: around the best cell, off the grid.
 * Nelder and Mead's simplex (1965; reflection 1, expansion 2, contraction and shrinking
 * 1/2) on the logarithms of the numbers that the grid varied, from the best cell, with
 * steps of half the spacing of the grid; it stops after `refine` evaluations, or when the
 * values of the simplex agree to 1e-6 of their size. Options out of their range count as
 * worst, and so do points further beyond an automatic list than its values are apart.
 */
#include "select/select.h"

typedef struct dimension {
    okra_int place;     /* among those of all axes */
    double start, step; /* logarithms */
    double low, high;   /* ends; of lists that somebody wrote there are none */
} dimension;

typedef struct simplex {
    okra_cell_search_ *search;
    okra_space_ *space; /* of the best cell's alternatives */
    okra_found_ *found;
    okra_setting_ base;    /* kept where nothing is varied */
    okra_int cell, places; /* the best cell; places of all axes */
    double *numbers;       /* work: one a place */
    dimension *dims;
    okra_int d, left; /* evaluations left */
    double *points;   /* (d + 1) x d, then 3 rows of work */
    double *value;    /* d + 1 */
} simplex;

/* Does the place take a number between the whole ones? Parameters of kernels that do not
 * refuse it. */
static okra_status takes_reals(simplex *z, size_t axis, okra_int place, double start,
                               bool *out)
{
    okra_status st = OKRA_OK;
    const char *name = z->space->axes[axis].name;
    FREED_BY(okra_setting_free_) okra_setting_ setting = {NULL, 0};
    FREED_BY(okra_kernel_drop_) okra_kernel *kernel = NULL;
    const okra_option *row = okra_space_row_(name, "fit");
    *out = !row || row->type != OKRA_OPTION_INT;
    if (!*out || (strcmp(name, "kx") != 0 && strcmp(name, "ky") != 0)) {
        return OKRA_OK;
    }
    okra_fill_(z->places, (double)NAN, z->numbers);
    z->numbers[place] = floor(start) + 0.5;
    CHK(okra_space_at_(z->space, z->cell, z->numbers, &z->base, &setting));
    if (!strstr(setting.text[axis], "auto") && !okra_align_asked_(setting.text[axis])) {
        st = okra_kernel_parse(setting.text[axis], &kernel);
        *out = st != OKRA_EARG;
        st = st == OKRA_EARG ? OKRA_OK : st;
    }
    return st;
}

/* Places with two or more values, all positive numbers, that take reals. */
static okra_status find_dimensions(simplex *z, const double *drawn)
{
    const okra_space_ *space = z->space;
    okra_int place = 0;
    bool some = false;
    for (size_t a = 0; a < space->count; a++) {
        some = some || (z->search->own && space->axes[a].automatic);
    }
    MAKE(z->dims, z->places);
    for (size_t a = 0; a < space->count; a++) {
        const okra_grid_ *grid = space->axes[a].grid;
        for (okra_int p = 0; p < grid->count; p++, place++) {
            char *const *values = grid->axes[p].values;
            okra_int count = grid->axes[p].count;
            double low = (double)INFINITY, high = 0;
            bool numbers = count > 1 && (!some || space->axes[a].automatic);
            for (okra_int k = 0; numbers && k < count; k++) {
                char *end = NULL;
                double v = okra_strtod_(values[k], &end);
                numbers = end != values[k] && !*end && v > 0 && isfinite(v);
                low = fmin(low, v);
                high = fmax(high, v);
            }
            if (!numbers || !(high > low)) {
                continue;
            }
            okra_int digit = okra_space_digit_(space, z->cell, a, p);
            bool lambda = space->path && a + 1 == space->count;
            double start =
                drawn && !isnan(drawn[place])
                    ? drawn[place]
                    : okra_strtod_(lambda ? z->base.text[a] : values[digit], NULL);
            double least = low;
            low = fmin(low, start);
            CHK(takes_reals(z, a, place, start, &numbers));
            if (numbers) {
                double step = log(high / least) / (double)(count - 1) / 2;
                double beyond = some ? 2 * step : (double)INFINITY;
                z->dims[z->d++] = (dimension){place, log(start), step, log(low) - beyond,
                                              log(high) + beyond};
            }
        }
    }
    return OKRA_OK;
}

/* The settings at a point. */
static okra_status place(const simplex *z, const double *x, okra_setting_ *out)
{
    okra_fill_(z->places, (double)NAN, z->numbers);
    for (okra_int k = 0; k < z->d; k++) {
        z->numbers[z->dims[k].place] = exp(x[k]);
    }
    return okra_space_at_(z->space, z->cell, z->numbers, &z->base, out);
}

/* Evaluates a point as a new cell; worse than anything where the options are refused. */
static okra_status at(okra_context *ctx, simplex *z, const double *x, double *value)
{
    okra_status st = OKRA_OK;
    okra_cell_search_ *s = z->search;
    okra_found_ *f = z->found;
    okra_setting_ setting = {NULL, 0};
    OWNED char *name = NULL;
    for (okra_int k = 0; k < z->d; k++) {
        if (!(x[k] >= z->dims[k].low && x[k] <= z->dims[k].high)) {
            z->left--; /* so that it ends */
            *value = (double)INFINITY;
            return OKRA_OK;
        }
    }
    RESIZE(f->cells, f->count + 1);
    CHK(place(z, x, &setting));
    okra_cell_ *cell = &f->cells[f->count];
    CHK(okra_search_cell_(s->task, &setting, cell));
    f->count++;
    okra_found_ only = {cell, 1, 0};
    CHK(okra_search_resolve_(ctx, s->task, &only));
    cell->refined = true;
    okra_int values = okra_task_values_(s->task);
    GOT(name = okra_format_("refined %lld", (long long)z->left));
    if (!okra_journal_find_(s->journal, s->outer, name, values, cell)) {
        st = okra_group_run_(ctx, s->task, &cell, 1);
        if (st == OKRA_EARG) { /* out of range: the mean stays NaN */
            st = OKRA_OK;
        }
        CHK(st);
        CHK(okra_journal_add_(s->journal, s->outer, name, values, cell));
        CHK(okra_journal_save_(s->journal, NULL));
    }
    z->left--;
    *value = isnan(cell->mean) ? (double)INFINITY : s->loss ? cell->mean : -cell->mean;
    okra_progress_(ctx, "refine", s->refine - z->left, s->refine);
    return OKRA_OK;
}

static void sort_simplex(simplex *z)
{
    for (okra_int i = 1; i <= z->d; i++) { /* few points: by insertion */
        for (okra_int j = i; j > 0 && z->value[j] < z->value[j - 1]; j--) {
            OKRA_SWAP_(z->value[j], z->value[j - 1]);
            for (okra_int k = 0; k < z->d; k++) {
                OKRA_SWAP_(z->points[j * z->d + k], z->points[(j - 1) * z->d + k]);
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
    okra_int d = z->d;
    double *x = z->points + (d + 1) * d, *y = x + d, fx, fy;
    double *worst = z->points + d * d;
    along(z, -1, x);
    CHK(at(ctx, z, x, &fx));
    if (fx >= z->value[0] && fx < z->value[d - 1]) {
        memcpy(worst, x, (size_t)d * sizeof *x);
        z->value[d] = fx;
        return OKRA_OK;
    }
    if (z->left == 0) {
        return OKRA_OK;
    }
    bool expand = fx < z->value[0];
    along(z, expand ? -2 : fx < z->value[d] ? -0.5 : 0.5, y);
    CHK(at(ctx, z, y, &fy));
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
            CHK(at(ctx, z, z->points + i * d, &z->value[i]));
        }
    }
    return OKRA_OK;
}

/* Numbers drawn for the places of a space, as those of its narrow form: alternatives have
 * places of their own, none of them drawn. */
static okra_status narrow_draws(const okra_space_ *space, const okra_space_ *narrow,
                                const double *drawn, double **out)
{
    okra_int places = okra_space_places_(narrow), at = 0;
    double *numbers = NULL;
    if (!drawn) {
        return OKRA_OK;
    }
    MAKE(numbers, places);
    for (size_t a = 0; a < space->count; a++) {
        const okra_grid_ *grid = space->axes[a].grid;
        okra_int own = narrow->axes[a].grid->count;
        for (okra_int p = 0; p < own; p++) {
            numbers[at++] = okra_grid_branched_(grid) ? (double)NAN : drawn[p];
        }
        drawn += grid->count;
    }
    *out = numbers;
    return OKRA_OK;
}

static void clear(simplex *z)
{
    okra_space_free_(z->space);
    okra_setting_free_(&z->base);
    FREE(z->dims, z->numbers, z->points, z->value);
}

okra_status okra_search_refine_(okra_context *ctx, okra_cell_search_ *s,
                                okra_found_ *found, const okra_plan_ *plan,
                                okra_int origin)
{
    FREED_BY(clear) simplex z = {.search = s, .found = found, .left = s->refine};
    double best = found->cells[found->best].mean;
    OWNED double *drawn = NULL;
    okra_space_ *narrow = NULL;
    CHK(okra_space_narrow_(s->task->space, plan->number[origin], &narrow, &z.cell));
    z.space = narrow;
    CHK(narrow_draws(s->task->space, narrow, okra_plan_drawn_(plan, origin), &drawn));
    z.places = okra_space_places_(narrow);
    MAKE(z.numbers, z.places);
    CHK(okra_setting_copy_(&found->cells[found->best].setting, &z.base));
    CHK(find_dimensions(&z, drawn));
    if (z.d == 0 && s->own) {
        return OKRA_OK;
    }
    REFUSE_IF(z.d == 0, OKRA_EARG,
              "refine varies the numbers that the grid varies, but no list "
              "holds two positive numbers");
    ZMAKE(z.points, (z.d + 3) * z.d);
    MAKE(z.value, z.d + 1);
    okra_progress_(ctx, "refine", 0, s->refine);
    z.value[0] = s->loss ? best : -best;
    for (okra_int i = 0; i <= z.d; i++) {
        for (okra_int k = 0; k < z.d; k++) {
            z.points[i * z.d + k] = z.dims[k].start + (i == k + 1 ? z.dims[k].step : 0);
        }
        if (i > 0) {
            z.value[i] = (double)INFINITY;
            if (z.left > 0) {
                CHK(at(ctx, &z, z.points + i * z.d, &z.value[i]));
            }
        }
    }
    sort_simplex(&z);
    while (z.left > 0 &&
           !(z.value[z.d] - z.value[0] <= 1e-6 * (fabs(z.value[0]) + 1e-300))) {
        CHK(okra_cancelled_(ctx));
        CHK(step(ctx, &z));
        sort_simplex(&z);
    }
    okra_progress_end_(ctx, "refine");
    return OKRA_OK;
}
