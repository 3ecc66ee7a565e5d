/*
 * pairs.c: learning a number for each pair of a row and a column (okra/more/pairs.h).
 * The algebra is in solve/pairs.c. Here: kernels of both sides, lambda and the share of
 * what is an object's own by left-out error, scores in all four settings, predictions.
 *
 * Own: A + s I, B + t I in place of A, B: their product adds a function of columns for
 * each row by itself, s I (x) B, one of rows for each column, t A (x) I, and s t I.
 *
 * Intervals (split conformal): pairs, rows or columns are held back as the setting says.
 * Rows are exchangeable, pairs within one are not: every row counts 1 / (rows + 1),
 * shared among its pairs (Dunn, Wasserman and Ramdas 2022, sec. 3). Where both are new,
 * pair k of row k and column k of those held back alone are exchangeable.
 */
#include "select/pairs.h"

static const double own_share = 0.3; /* of the mean of k(r, r) */
/* How far the last step may move predictions: to choose, to score, and at last. */
static const double loose = 1e-2, fair = 1e-3, tight = 1e-14;
enum { FEW = 20000 }; /* known pairs; beyond, two groups are enough to choose by */

void okra_pairs_free(okra_pairs *pairs)
{
    if (!pairs) {
        return;
    }
    for (int k = 0; k < 2 * OKRA_PAIR_TERMS_; k++) {
        okra_pair_side_ *side = &pairs->of[k % 2][k / 2];
        okra_trained_kernel_free_(side->bound);
        okra_kernel_free(side->kernel);
    }
    okra_data_free(pairs->side[0]);
    okra_data_free(pairs->side[1]);
    okra_store_free_(pairs->store);
    json_decref(pairs->scores);
    if (pairs->archive) {
        okra_archive_free_(pairs->archive);
    }
    FREE(pairs->json, pairs);
}

void okra_pairs_size(const okra_pairs *pairs, okra_int *rows, okra_int *columns)
{
    GIVE(rows, pairs ? pairs->side[0]->n : 0);
    GIVE(columns, pairs ? pairs->side[1]->n : 0);
}

const char *okra_pairs_json(const okra_pairs *pairs)
{
    return pairs ? pairs->json : NULL;
}

/* ---- values ---- */

static okra_status read_lines(const okra_data *y, okra_int n, okra_int m, double *out)
{
    okra_fill_(n * m, NAN, out);
    for (okra_int k = 0; k < y->n; k++) {
        const double *line = y->values + k * y->ld;
        bool whole = line[0] == floor(line[0]) && line[1] == floor(line[1]);
        REFUSE_IF(
            !whole || !(line[0] >= 0 && line[0] < (double)n) ||
                !(line[1] >= 0 && line[1] < (double)m),
            OKRA_EARG,
            "%s: line %lld has row %g and column %g, expected whole numbers from 0, "
            "below %lld and below %lld",
            y->source, (long long)k + 1, line[0], line[1], (long long)n, (long long)m);
        double *place = out + (okra_int)line[0] * m + (okra_int)line[1];
        REFUSE_IF(!isnan(*place), OKRA_EARG,
                  "%s: line %lld: row %g and column %g are there twice", y->source,
                  (long long)k + 1, line[0], line[1]);
        *place = line[2];
    }
    return OKRA_OK;
}

okra_status okra_pairs_values(const okra_data *y, okra_int n, okra_int m, double *out)
{
    NOT_NULL(y, out);
    bool matrix = y->n == n && y->d == m;
    REFUSE_IF(
        y->kind != OKRA_DENSE || (!matrix && y->d != 3), OKRA_ESHAPE,
        "%s has %lld x %lld (%s), expected the values of %lld rows x %lld columns, or "
        "lines of row, column, value",
        y->source, (long long)y->n, (long long)y->d, okra_kind_name(y->kind),
        (long long)n, (long long)m);
    if (!matrix) {
        return read_lines(y, n, m, out);
    }
    return okra_mat_copy_(okra_mat_view_(y->values, n, m, y->ld),
                          okra_mat_of_(out, n, m));
}

/* ---- kernels ---- */

/* Objects that equal one of the side, whose own they have: K += own there. */
static okra_status add_own(const okra_pairs *pairs, int side, const okra_data *objects,
                           okra_mat_ K)
{
    const okra_data *sets[] = {pairs->side[side], objects};
    OWNED okra_int *first = NULL;
    okra_int n = pairs->side[side]->n;
    MAKE(first, n + objects->n);
    CHK(okra_data_same_(sets, 2, first));
    for (okra_int i = 0; i < objects->n; i++) {
        if (first[n + i] < n) {
            K.p[i * K.ld + first[n + i]] += pairs->own[side];
        }
    }
    return OKRA_OK;
}

/* K (count x n) of the objects (NULL: those of the side) against the side's. */
static okra_status side_gram(okra_context *ctx, const okra_pairs *pairs, int side,
                             int term, const okra_data *objects, okra_mat_ K)
{
    const okra_trained_kernel_ *bound = pairs->of[side][term].bound;
    FREED_BY(okra_test_side_drop_) okra_test_side_ *other = NULL;
    double scale = side == 0 ? pairs->scale[term] : 1;
    if (objects) {
        CHK(okra_test_side_create_(ctx, bound, objects, &other));
        CHK(okra_test_side_cross_(ctx, bound, other, 0, K));
    } else {
        CHK(okra_trained_kernel_gram_(ctx, bound, K));
        okra_mat_add_diagonal_(K, pairs->own[side]);
    }
    if (objects && pairs->own[side] > 0) {
        CHK(add_own(pairs, side, objects, K));
    }
    okra_scale_(K.rows * K.cols, scale, K.p);
    return OKRA_OK;
}

/* ---- fitting ---- */

typedef struct fitting {
    okra_context *ctx;
    const okra_pairs_request *r;
    okra_pairs *pairs;
    okra_int n, m;
    double *gram[2][OKRA_PAIR_TERMS_];
    double mean[2]; /* of the diagonals of a side */
    bool *held;     /* n x m, or NULL: pairs that are held back */
    double *values; /* n x m: of the request, NaN where held */
    okra_pair_solver_ solver;
    okra_int groups; /* of the setting at hand, or 0 */
    okra_pair_fold_ *folds;
} fitting;

static void forget_groups(fitting *z)
{
    for (okra_int k = 0; k < z->groups; k++) {
        okra_pair_fold_clear_(&z->folds[k]);
    }
    FREE(z->folds);
    z->folds = NULL;
    z->groups = 0;
}

static void fitting_clear(fitting *z)
{
    forget_groups(z);
    for (int k = 0; k < 2 * OKRA_PAIR_TERMS_; k++) {
        okra_free_(z->gram[k % 2][k / 2]);
    }
    okra_pair_solver_clear_(&z->solver);
    FREE(z->held, z->values);
}

static okra_status check_request(const okra_pairs_request *r)
{
    NOT_NULL(r->rows, r->columns, r->values);
    okra_int n = r->rows->n, m = r->columns->n;
    REFUSE_IF(n < 1 || m < 1, OKRA_ESHAPE, "%lld rows and %lld columns, expected some",
              (long long)n, (long long)m);
    for (okra_int p = 0; p < n * m; p++) {
        REFUSE_IF(isinf(r->values[p]) ||
                      (r->weights && !(r->weights[p] >= 0 && r->weights[p] < 1e300)),
                  OKRA_EARG,
                  "row %lld, column %lld (from 0): the value is %g and its weight %g, "
                  "expected numbers, the weight not below 0",
                  (long long)(p / m), (long long)(p % m), r->values[p],
                  r->weights ? r->weights[p] : 1);
    }
    REFUSE_IF(!(r->lambda >= 0 && r->lambda < 1e300), OKRA_EARG,
              "lambda is %g, expected a number above 0, or 0: chosen", r->lambda);
    REFUSE_IF(!(r->own < 1e300), OKRA_EARG, "own is %g, expected a number", r->own);
    REFUSE_IF(!(r->calibration >= 0 && r->calibration < 1), OKRA_EARG,
              "calibration is %g, expected a share from 0 to below 1", r->calibration);
    REFUSE_IF((unsigned)r->setting >= OKRA_PAIR_SETTINGS, OKRA_EARG,
              "the setting is %d, which is no okra_pair_setting", (int)r->setting);
    return OKRA_OK;
}

static okra_status make_grams(fitting *z)
{
    for (int side = 0; side < 2; side++) {
        const okra_data *data = z->pairs->side[side];
        okra_int n = data->n;
        for (int t = 0; t < z->pairs->terms; t++) {
            okra_pair_side_ *of = &z->pairs->of[side][t];
            double **K = &z->gram[side][t];
            CHK(okra_trained_kernel_create_(z->ctx, of->kernel, data, &of->bound));
            CHK(okra_doubles_(z->ctx, n, n, "the Gram matrix of one side", K));
            CHK(side_gram(z->ctx, z->pairs, side, t, NULL, okra_mat_of_(*K, n, n)));
            for (okra_int i = 0; i < n; i++) {
                z->mean[side] += (*K)[i * n + i] / (double)n;
            }
        }
    }
    return OKRA_OK;
}

/* The share of what is to be held back: true with that chance, of count things. */
static okra_status draw(double share, okra_int count, uint64_t stream, bool **out)
{
    okra_random_ random = okra_random_create_(0, stream);
    OWNED okra_int *order = NULL;
    MAKE(order, count);
    ZMAKE(*out, count);
    okra_iota_(count, order);
    okra_random_shuffle_(&random, count, order);
    okra_int most = (okra_int)ceil(share * (double)count);
    for (okra_int k = 0; k < OKRA_MIN_(most, count - 1); k++) {
        (*out)[order[k]] = true;
    }
    return OKRA_OK;
}

/* Values without those that are held back. */
static okra_status hold_back(fitting *z)
{
    OWNED bool *rows = NULL, *columns = NULL, *single = NULL;
    okra_int size = z->n * z->m;
    okra_pair_setting s = z->r->setting;
    CHK(okra_doubles_(z->ctx, z->n, z->m, "values", &z->values));
    memcpy(z->values, z->r->values, (size_t)size * sizeof *z->values);
    if (z->r->calibration == 0) {
        return OKRA_OK;
    }
    ZMAKE(z->held, size);
    CHK(draw(z->r->calibration, z->n, 51, &rows));
    CHK(draw(z->r->calibration, z->m, 52, &columns));
    CHK(draw(z->r->calibration, size, 53, &single));
    for (okra_int p = 0; p < size; p++) {
        bool row = rows[p / z->m], column = columns[p % z->m];
        bool gone = s == OKRA_PAIR_PAIR     ? single[p]
                    : s == OKRA_PAIR_ROW    ? row
                    : s == OKRA_PAIR_COLUMN ? column
                                            : row || column;
        z->held[p] = s == OKRA_PAIR_BOTH ? row && column : gone;
        z->values[p] = gone ? (double)NAN : z->values[p];
    }
    return OKRA_OK;
}

/* Own of both sides as a share of their means, from what it was. */
static void set_own(fitting *z, double share)
{
    for (int side = 0; side < 2; side++) {
        okra_int n = side ? z->m : z->n;
        double own =
            z->r->own < 0 ? share * z->mean[side] / (double)z->pairs->terms : z->r->own;
        double more = own - z->pairs->own[side];
        for (int t = 0; t < z->pairs->terms; t++) {
            double scale = side == 0 ? z->pairs->scale[t] : 1;
            okra_mat_add_diagonal_(okra_mat_of_(z->gram[side][t], n, n), scale * more);
            double *values = side ? z->solver.of[t].b : z->solver.of[t].a;
            for (okra_int k = 0; k < n; k++) {
                values[k] += scale * more;
            }
        }
        z->pairs->own[side] = own;
    }
}

/* Left-out predictions: exact, or groups that begin where the last lambda ended. */
static okra_status leave(fitting *z, double lambda, okra_pair_setting setting,
                         double tolerance, double *F, okra_pair_how_ *how)
{
    if (z->solver.product || z->solver.known <= OKRA_PAIR_DENSE_MOST_) {
        return okra_pair_leave_(&z->solver, lambda, setting, F, how);
    }
    *how = OKRA_PAIR_FOLDS_;
    if (!z->folds && tolerance == loose) { /* the next lambda begins with them */
        ZMAKE(z->folds, okra_pair_folds_(&z->solver, setting));
        z->groups = okra_pair_folds_(&z->solver, setting);
    }
    bool some = tolerance == loose && z->solver.known > FEW;
    return okra_pair_leave_folds_(&z->solver, lambda, setting, some, tolerance, z->folds,
                                  F);
}

static okra_status left_out_error(fitting *z, double lambda, double *F, double *error)
{
    okra_pair_how_ how;
    double order;
    CHK(leave(z, lambda, z->r->setting, loose, F, &how));
    return okra_pair_score_(z->n * z->m, z->values, F, z->r->weights, error, &order);
}

/* lambda from large to small, in units of the mean of K's diagonal, until the error has
 * twice not fallen by a thousandth. */
static okra_status choose_lambda(fitting *z, double *F, double *lambda, double *least)
{
    enum { FIRST = -2, TRIES = 9 };
    double unit = z->mean[0] > 0 ? z->mean[0] * z->mean[1] : 1;
    int worse = 0;
    forget_groups(z);
    for (int k = FIRST; k < TRIES && worse < 2; k++) {
        double tried = unit * pow(10, -0.4 * k), error = 0;
        CHK(left_out_error(z, tried, F, &error));
        worse = error < 0.999 * *least ? 0 : worse + 1;
        *lambda = error < *least ? tried : *lambda;
        *least = fmin(*least, error);
    }
    return OKRA_OK;
}

static okra_status choose(fitting *z)
{
    OWNED double *F = NULL;
    double lambda = z->r->lambda, best = lambda, share = 0, least = INFINITY;
    CHK(okra_doubles_(z->ctx, z->n, z->m, "left-out predictions", &F));
    for (int k = 0; k < (z->r->own < 0 ? 2 : 1); k++) {
        double error = INFINITY;
        set_own(z, k * own_share);
        if (z->r->lambda == 0) {
            CHK(choose_lambda(z, F, &lambda, &error));
        } else if (z->r->own < 0) {
            CHK(left_out_error(z, lambda, F, &error));
        }
        if (error < least) {
            least = error;
            best = lambda;
            share = k * own_share;
        }
    }
    REFUSE_IF(
        z->r->lambda == 0 && best == 0, OKRA_EARG,
        "lambda cannot be chosen: no pair has others left when it is left out; give "
        "one");
    set_own(z, share);
    z->pairs->lambda = best;
    return OKRA_OK;
}

/* All four settings, as JSON. */
static okra_status score(fitting *z)
{
    static const char *const names[] = {"pair", "row", "column", "both"};
    static const char *const hows[] = {OKRA_PAIR_HOWS_};
    OWNED double *F = NULL;
    GOT(z->pairs->scores = json_array());
    CHK(okra_doubles_(z->ctx, z->n, z->m, "left-out predictions", &F));
    for (int s = 0; s < OKRA_PAIR_SETTINGS; s++) {
        okra_pair_how_ how;
        double error, order;
        CHK(leave(z, z->pairs->lambda, (okra_pair_setting)s, fair, F, &how));
        CHK(okra_pair_score_(z->n * z->m, z->values, F, z->r->weights, &error, &order));
        json_t *line =
            json_pack("{s:s, s:o, s:o, s:s}", "setting", names[s], "mse",
                      isnan(error) ? json_null() : json_real(error), "concordance",
                      isnan(order) ? json_null() : json_real(order), "how", hows[how]);
        GOT(line);
        GOT(json_array_append_new(z->pairs->scores, line) == 0 ? line : NULL);
    }
    return OKRA_OK;
}

/* The places of those that are `held`, and how many of them. */
static okra_int number(okra_int count, okra_int step, okra_int inner, const bool *held,
                       okra_int *place)
{
    okra_int found = 0;
    for (okra_int i = 0; i < count; i++) {
        bool any = false;
        for (okra_int j = 0; j < inner; j++) {
            any = any || held[i * step + j * (step == 1 ? count : 1)];
        }
        place[i] = any ? found++ : -1;
    }
    return found;
}

/* |value - prediction| of those that were held back, and what each counts. */
static okra_status calibrate(fitting *z, const double *F)
{
    OWNED okra_int *row = NULL, *column = NULL;
    OWNED double *left = NULL, *share = NULL;
    okra_int size = z->n * z->m, count = 0;
    okra_pair_setting s = z->r->setting;
    MAKE(row, z->n);
    MAKE(column, z->m);
    MAKE(left, 2 * size);
    ZMAKE(share, OKRA_MAX_(z->n, z->m));
    number(z->n, z->m, z->m, z->held, row);
    number(z->m, 1, z->n, z->held, column);
    for (int pass = 0; pass < 2; pass++) {
        for (okra_int p = 0; p < size; p++) {
            okra_int i = p / z->m, j = p % z->m;
            okra_int unit = s == OKRA_PAIR_ROW ? i : j;
            bool lines = s == OKRA_PAIR_ROW || s == OKRA_PAIR_COLUMN;
            if (!z->held[p] || isnan(z->r->values[p]) ||
                (s == OKRA_PAIR_BOTH && row[i] != column[j])) {
                continue;
            }
            if (pass == 0) {
                z->pairs->units += !lines || share[unit] == 0;
                share[unit] += lines;
            } else {
                left[2 * count] = fabs(z->r->values[p] - F[p]);
                left[2 * count++ + 1] = lines ? 1 / share[unit] : 1;
            }
        }
    }
    REFUSE_IF(count == 0, OKRA_EARG,
              "calibration: no known pair was held back; a larger share helps");
    return okra_store_put_copy_(z->pairs->store, "left", left, count, 2);
}

/* Is there room for so many doubles? Asked before minutes are spent on what comes first.
 */
static okra_status ask(const fitting *z, const char *what, double count)
{
    return okra_budget_ask_(z->ctx, 8 * count, "%s of %lld x %lld pairs", what,
                            (long long)z->n, (long long)z->m);
}

/* Is a lambda that was given lost beside the rounding of values that are 0? Eigenvalues
 * ascend. */
static okra_status check_lambda(const fitting *z)
{
    double least = 0, most = 0;
    for (int t = 0; t < z->pairs->terms; t++) {
        const okra_pair_term_ *of = &z->solver.of[t];
        least += of->a[0] * of->b[0];
        most += of->a[z->n - 1] * of->b[z->m - 1];
    }
    double rounding = (double)(z->n + z->m) * DBL_EPSILON * most;
    REFUSE_IF(z->pairs->lambda < rounding && least < rounding, OKRA_EARG,
              "lambda is %g, which rounding loses: expected %.1e or more, or 0: chosen",
              z->pairs->lambda, rounding);
    return OKRA_OK;
}

static okra_status fit(fitting *z)
{
    okra_pairs *pairs = z->pairs;
    OWNED double *C = NULL, *F = NULL;
    okra_int steps = 0;
    double n = (double)z->n, m = (double)z->m, terms = pairs->terms;
    CHK(ask(z, "the fit", 2 * terms * (n * n + m * m) + 2 * n * m));
    CHK(make_grams(z));
    CHK(hold_back(z));
    CHK(okra_pair_solver_create_(z->ctx, z->n, z->m, pairs->terms, z->gram[0], z->gram[1],
                                 z->values, z->r->weights, !z->r->plain, &z->solver));
    if (!z->solver.product && z->solver.known > OKRA_PAIR_DENSE_MOST_) {
        CHK(ask(z, "conjugate gradients", (6 + 5 * terms) * n * m));
    }
    CHK(choose(z));
    CHK(check_lambda(z));
    forget_groups(z);
    CHK(score(z));
    CHK(okra_doubles_(z->ctx, z->n, z->m, "coefficients", &C));
    okra_fill_(z->n * z->m, 0, C);
    CHK(okra_pair_solve_(&z->solver, pairs->lambda, NULL, tight, C, &pairs->mean,
                         &steps));
    CHK(okra_store_create_(&pairs->store));
    for (int k = 0; k < 2 * pairs->terms; k++) {
        char prefix[24];
        snprintf(prefix, sizeof prefix, "k%d.%d", k % 2 + 1, k / 2 + 1);
        CHK(okra_trained_kernel_save_(pairs->of[k % 2][k / 2].bound, pairs->store,
                                      prefix));
    }
    if (z->held) {
        CHK(okra_doubles_(z->ctx, z->n, z->m, "predictions", &F));
        CHK(okra_pair_fitted_(&z->solver, C, pairs->mean, F));
        CHK(calibrate(z, F));
    }
    return okra_store_put_(pairs->store, "C", &C, z->n, z->m);
}

okra_status okra_pairs_fit(okra_context *context, const okra_pairs_request *request,
                           okra_pairs **out)
{
    okra_pairs_request r;
    FREED_BY(okra_pairs_drop_) okra_pairs *pairs = NULL;
    FREED_BY(fitting_clear) fitting z = {.ctx = context, .r = &r};
    NOT_NULL(request, out);
    SIZED(request, &r);
    CHK(check_request(&r));
    ZMAKE(pairs, 1);
    pairs->setting = r.setting;
    CHK(okra_data_copy(r.rows, &pairs->side[0]));
    CHK(okra_data_copy(r.columns, &pairs->side[1]));
    CHK(okra_pairs_parse_(context, r.kernel, pairs));
    z.pairs = pairs;
    z.n = r.rows->n;
    z.m = r.columns->n;
    CHK(fit(&z));
    CHK(okra_pairs_describe_(pairs));
    *out = TAKE(pairs);
    return OKRA_OK;
}

/* ---- predicting ---- */

okra_status okra_pairs_predict(okra_context *context, const okra_pairs *pairs,
                               const okra_data *rows, const okra_data *columns,
                               double *out)
{
    NOT_NULL(pairs, out);
    FREED_BY(okra_mat_drop_) okra_mat_ A = {0}, B = {0}, T = {0};
    okra_int n = pairs->side[0]->n, m = pairs->side[1]->n;
    okra_int p = rows ? rows->n : n, q = columns ? columns->n : m;
    okra_mat_ C = okra_store_mat_(pairs->store, "C");
    CHK(okra_mat_room_(context, p, n, "kernel values of rows", &A));
    CHK(okra_mat_room_(context, q, m, "kernel values of columns", &B));
    CHK(okra_mat_room_(context, p, m, "a product", &T));
    for (int t = 0; t < pairs->terms; t++) {
        CHK(okra_at_(side_gram(context, pairs, 0, t, rows, A), "rows"));
        CHK(okra_at_(side_gram(context, pairs, 1, t, columns, B), "columns"));
        CHK(okra_engine_gemm_(context, false, false, 1, A, C, 0, T));
        CHK(okra_engine_gemm_(context, false, true, 1, T, B, t > 0,
                              okra_mat_of_(out, p, q)));
    }
    for (okra_int k = 0; k < p * q; k++) {
        out[k] += pairs->mean;
    }
    return OKRA_OK;
}

okra_status okra_pairs_interval(const okra_pairs *pairs, double alpha, double *width)
{
    NOT_NULL(pairs, width);
    OWNED double *left = NULL;
    okra_mat_ kept = okra_store_mat_(pairs->store, "left");
    REFUSE_IF(!(alpha > 0 && alpha < 1), OKRA_EARG,
              "alpha is %g, expected a number between 0 and 1", alpha);
    REFUSE_IF(!kept.p, OKRA_EUNSUPPORTED,
              "no pairs were held back to calibrate with; fit with a calibration share");
    MAKE(left, 2 * kept.rows);
    memcpy(left, kept.p, (size_t)(2 * kept.rows) * sizeof *left);
    qsort(left, (size_t)kept.rows, 2 * sizeof *left, okra_by_double_);
    double need = (1 - alpha) * ((double)pairs->units + 1), sum = 0;
    *width = INFINITY;
    for (okra_int k = 0; k < kept.rows; k++) {
        sum += left[2 * k + 1];
        if (sum >= need - 1e-9 * need) {
            *width = left[2 * k];
            break;
        }
    }
    return OKRA_OK;
}
