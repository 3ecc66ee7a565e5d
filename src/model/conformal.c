/*
 * conformal.c: what is asked for is checked, groups and weights are brought to one form,
 * and one of the ways is taken.
 */
#include "model/conformal.h"

#include "okra/metric.h"
#include "okra/more/leave.h"
#include "okra/more/objects.h"

/* ---- what is asked for ---- */

static okra_status read_how(okra_conformal_ *job)
{
    const char *how = job->s.how ? job->s.how : "auto";
    bool given = job->s.calibration_x && job->s.calibration_y;
    bool pairs = given || okra_model_calibration(job->model, NULL, NULL) > 0;
    REFUSE_IF(!job->s.calibration_x != !job->s.calibration_y, OKRA_EARG,
              "conformal: inputs to calibrate with need their outputs");
    if (strcmp(how, "auto") == 0) {
        job->s.how = how = pairs ? "split" : "full";
    }
    if (strcmp(how, "split") == 0) {
        job->how = OKRA_CONFORMAL_SPLIT_;
        REFUSE_IF(!pairs, OKRA_EARG,
                  "conformal split needs pairs to calibrate with "
                  "that the fit has not seen; the model keeps none");
    } else if (strcmp(how, "full") == 0) {
        job->how = OKRA_CONFORMAL_FULL_;
    } else if (strcmp(how, "jackknife+") == 0 || strcmp(how, "cv+") == 0) {
        job->how = OKRA_CONFORMAL_FOLDS_;
        job->folds = how[0] == 'c' ? job->s.folds : 0;
        REFUSE_IF(how[0] == 'c' && job->folds < 2, OKRA_EARG,
                  "conformal cv+: %lld folds, expected at least 2",
                  (long long)job->folds);
    } else {
        return okra_fail_(OKRA_EARG,
                          "conformal is '%s', expected split, full, jackknife+, cv+ or "
                          "auto",
                          how);
    }
    REFUSE_IF(job->model->training->y->weights && job->how != OKRA_CONFORMAL_SPLIT_,
              OKRA_EUNSUPPORTED,
              "conformal %s needs training pairs of equal weight, but "
              "the model was fitted with sample weights: calibrate with "
              "other pairs (split)",
              how);
    okra_solution_ fitted;
    okra_model_solution_(job->model, &fitted);
    REFUSE_IF(fitted.times && job->how != OKRA_CONFORMAL_SPLIT_, OKRA_EUNSUPPORTED,
              "conformal %s: the model has a lambda of its own for each "
              "output: calibrate with other pairs (split)",
              how);
    REFUSE_IF(given && !okra_weights_plain_(job->s.calibration_y), OKRA_EARG,
              "conformal split: the pairs to calibrate with have "
              "sample weights, which it does not use");
    REFUSE_IF(given && job->how != OKRA_CONFORMAL_SPLIT_, OKRA_EARG,
              "conformal %s calibrates with the training pairs: pairs to "
              "calibrate with are for split",
              how);
    if (job->how != OKRA_CONFORMAL_SPLIT_ && !okra_engine_is_host_(job->ctx)) {
        okra_warn_(job->ctx,
                   "conformal %s solves on the engine and computes the rest on the host",
                   how);
    }
    return OKRA_OK;
}

/* Of the n values of v, in any order, the one that 9 of 10 are at most. */
static double most_of(double *v, okra_int n)
{
    qsort(v, (size_t)n, sizeof *v, okra_by_double_);
    return v[OKRA_MIN_((okra_int)ceil(0.9 * (double)(n + 1)), n) - 1];
}

/* split: is the radius of sets less where it follows the standard deviation s_i that the
 * inputs give? By the training pairs left out, so that the pairs that calibrate have no
 * part in it: with errors e_i of them, the mean of s_i times what most e_i / s_i are at
 * most, against what most e_i are at most. False where there is no closed form. */
static okra_status follows_variance(const okra_conformal_ *job, bool *out)
{
    enum { MOST = 4000 }; /* pairs: a leave-one-out takes n^3 */
    const okra_training_ *t = job->model->training;
    okra_int n = t->y->n;
    double mean = 0;
    FREED_BY(okra_solution_clear_) okra_solution_ fitted;
    FREED_BY(okra_prediction_drop_) okra_prediction *left = NULL;
    OWNED double *e = NULL, *s = NULL;
    okra_model_solution_(job->model, &fitted);
    *out = false;
    if (!(fitted.noise > 0) || !t->bound_x || t->x->n != n || n > MOST || t->y->missing ||
        t->y->weights || fitted.times) {
        return OKRA_OK;
    }
    MAKE(e, n);
    MAKE(s, n);
    okra_mute_(job->ctx, true);
    okra_status st = okra_model_leave(job->ctx, job->model, NULL, e, &left);
    okra_mute_(job->ctx, false);
    if (st == OKRA_EUNSUPPORTED || st == OKRA_ESHAPE) {
        return OKRA_OK;
    }
    CHK(st);
    CHK(okra_solution_diagonal_(job->ctx, &fitted, t->bound_x, s));
    for (okra_int i = 0; i < n; i++) {
        double error = sqrt(e[i]), sd = 1 / sqrt(s[i]);
        mean += sd / (double)n;
        e[i] = error;
        s[i] = error / sd;
    }
    *out = mean * most_of(s, n) < most_of(e, n);
    return OKRA_OK;
}

/* What "auto" stands for. The closed forms: normalized, under which no candidate that is
 * far enough stays in a set (conformal_full.c), whatever kernel and lambda above 0. */
static okra_status choose_score(okra_conformal_ *job)
{
    okra_solution_ fitted;
    okra_model_solution_(job->model, &fitted);
    bool normalized = job->how == OKRA_CONFORMAL_FULL_ || fitted.lambda > 0;
    if (job->how == OKRA_CONFORMAL_SPLIT_) {
        CHK(follows_variance(job, &normalized));
    }
    job->s.score = normalized ? "normalized" : "distance";
    return OKRA_OK;
}

static okra_status read_score(okra_conformal_ *job)
{
    static const char *const names[] = {"distance", "normalized", "residual", "rank"};
    bool loss = true;
    if (!job->s.score || strcmp(job->s.score, "auto") == 0) {
        CHK(choose_score(job));
    }
    const char *score = job->s.score;
    int found = 0;
    while (found < 4 && strcmp(score, names[found]) != 0) {
        found++;
    }
    job->score = (okra_conformal_score_)found;
    REFUSE_IF(found == OKRA_SCORE_METRIC_ && okra_metric_is_loss(score, &loss) != OKRA_OK,
              OKRA_EARG,
              "conformal score is '%s', expected auto, distance, normalized, "
              "residual, rank or a metric",
              score);
    bool needs_split = found == OKRA_SCORE_RANK_ || found == OKRA_SCORE_METRIC_;
    REFUSE_IF((needs_split && job->how != OKRA_CONFORMAL_SPLIT_) ||
                  (found == OKRA_SCORE_RESIDUAL_ && job->how != OKRA_CONFORMAL_FULL_),
              OKRA_EARG, "conformal score %s is for %s, not for %s", score,
              needs_split ? "split" : "full", job->s.how);
    REFUSE_IF(needs_split && !job->candidates, OKRA_EARG,
              "conformal score %s is for sets, not for intervals", score);
    return OKRA_OK;
}

/* Numbers of the groups of pairs and of test inputs or candidates: equal objects have
 * equal numbers. */
static okra_status number_groups(okra_conformal_ *job, const okra_data *pairs,
                                 const okra_data *others, okra_int **theirs)
{
    const okra_data *sets[] = {pairs, others};
    OWNED okra_int *first = NULL;
    MAKE(first, pairs->n + others->n);
    CHK(okra_data_same_(sets, 2, first));
    MAKE(job->group, pairs->n);
    MAKE(*theirs, others->n);
    memcpy(job->group, first, (size_t)pairs->n * sizeof *first);
    memcpy(*theirs, first + pairs->n, (size_t)others->n * sizeof *first);
    return OKRA_OK;
}

static okra_status read_groups(okra_conformal_ *job)
{
    const okra_conformal_settings *s = &job->s;
    REFUSE_IF(!s->groups != !s->test_groups || (s->groups && s->by_class), OKRA_EARG,
              "conformal: groups need those of the pairs and those of the test "
              "inputs, or the class alone");
    REFUSE_IF(s->by_class && !job->candidates, OKRA_EARG,
              "conformal: groups by class are for sets, not for intervals");
    if (s->groups) {
        REFUSE_IF(s->groups->n != job->pairs || s->test_groups->n != job->tests,
                  OKRA_ESHAPE,
                  "conformal: there are %lld and %lld groups, expected %lld (pairs that "
                  "calibrate) and %lld (test inputs)",
                  (long long)s->groups->n, (long long)s->test_groups->n,
                  (long long)job->pairs, (long long)job->tests);
        CHK(number_groups(job, s->groups, s->test_groups, &job->test_group));
    } else if (s->by_class) {
        const okra_data *y =
            job->how == OKRA_CONFORMAL_SPLIT_ ? job->cal_y : job->model->training->y;
        CHK(number_groups(job, y, job->candidates, &job->class_group));
    }
    return OKRA_OK;
}

static okra_status check_weights(const char *whose, const double *w, okra_int n)
{
    for (okra_int i = 0; i < n; i++) {
        REFUSE_IF(!(w[i] >= 0 && isfinite(w[i])), OKRA_EARG,
                  "conformal: weight %lld of the %s is %g, expected a number "
                  "of at least 0",
                  (long long)i, whose, w[i]);
    }
    return OKRA_OK;
}

static okra_status read_weights(const okra_conformal_ *job)
{
    REFUSE_IF(!job->s.weights != !job->s.test_weights, OKRA_EARG,
              "conformal: weights need those of the pairs and of the test "
              "inputs");
    if (job->s.weights) {
        REFUSE_IF(job->how == OKRA_CONFORMAL_FOLDS_, OKRA_EUNSUPPORTED,
                  "conformal %s has no weights: use split or full", job->s.how);
        CHK(check_weights("pairs", job->s.weights, job->pairs));
        CHK(check_weights("test inputs", job->s.test_weights, job->tests));
        for (okra_int t = 0; t < job->tests; t++) {
            REFUSE_IF(!(job->s.test_weights[t] > 0), OKRA_EARG,
                      "conformal: weight %lld of the test inputs is 0", (long long)t);
        }
    }
    return OKRA_OK;
}

static void job_clear(okra_conformal_ *job)
{
    okra_data_free(job->x);
    okra_data_free(job->candidates);
    okra_data_free(job->cal_x);
    okra_data_free(job->cal_y);
    FREE(job->group, job->test_group, job->class_group);
}

static okra_status job_open(okra_context *ctx, const okra_model *model,
                            const okra_data *x, const okra_data *candidates,
                            const okra_conformal_settings *settings, okra_conformal_ *out)
{
    FREED_BY(job_clear)
    okra_conformal_ job = {.ctx = ctx, .model = model, .tests = x->n};
    CHK(okra_data_align(ctx, x, model->training->x, &job.x));
    CHK(candidates ? okra_data_align(ctx, candidates, model->training->y, &job.candidates)
                   : OKRA_OK);
    SIZED(settings, &job.s);
    job.s.folds = job.s.folds ? job.s.folds : 10;
    job.count = candidates ? candidates->n : 0;
    REFUSE_IF(model->method->linker, OKRA_EUNSUPPORTED,
              "conformal: method %s scores links between nodes", model->method->name);
    CHK(read_how(&job));
    CHK(read_score(&job));
    const okra_data *cal_x = job.s.calibration_x, *cal_y = job.s.calibration_y;
    if (!cal_x) {
        (void)okra_model_calibration(model, &cal_x, &cal_y);
    }
    CHK(cal_x ? okra_data_align(ctx, cal_x, model->training->x, &job.cal_x) : OKRA_OK);
    CHK(cal_y ? okra_data_align(ctx, cal_y, model->training->y, &job.cal_y) : OKRA_OK);
    job.pairs = job.how == OKRA_CONFORMAL_SPLIT_ ? job.cal_y->n : model->training->y->n;
    REFUSE_IF(job.how == OKRA_CONFORMAL_SPLIT_ && job.cal_x->n != job.cal_y->n,
              OKRA_ESHAPE,
              "conformal split: there are %lld inputs and %lld outputs to calibrate with",
              (long long)job.cal_x->n, (long long)job.cal_y->n);
    /* Intervals take what is known of outputs with missing values. */
    if (job.how == OKRA_CONFORMAL_SPLIT_ && candidates) {
        CHK(okra_decode_check_kind_(&model->training->output, job.cal_y,
                                    "the outputs to calibrate with are"));
    } else if (job.how == OKRA_CONFORMAL_SPLIT_ &&
               (job.cal_y->kind != OKRA_DENSE ||
                job.cal_y->d != model->training->output.d)) {
        return okra_fail_(
            OKRA_ESHAPE,
            "conformal split: the outputs to calibrate with have width %lld, expected "
            "dense vectors of length %lld",
            (long long)job.cal_y->d, (long long)model->training->output.d);
    }
    CHK(read_groups(&job));
    CHK(read_weights(&job));
    *out = TAKE(job);
    return OKRA_OK;
}

/* ---- the public functions ---- */

okra_status okra_conformal_chosen(okra_context *context, const okra_model *model,
                                  const okra_conformal_settings *settings,
                                  const char **how, const char **score)
{
    okra_conformal_ job = {.ctx = context, .model = model};
    NOT_NULL(model, how, score);
    SIZED(settings, &job.s);
    job.s.folds = job.s.folds ? job.s.folds : 10;
    CHK(read_how(&job));
    if (!job.s.score || strcmp(job.s.score, "auto") == 0) {
        CHK(choose_score(&job));
    }
    *how = job.s.how;
    *score = job.s.score;
    return OKRA_OK;
}

okra_status okra_conformal_p_values(okra_context *context, const okra_model *model,
                                    const okra_data *x, const okra_data *candidates,
                                    const okra_conformal_settings *settings, double *p)
{
    FREED_BY(job_clear) okra_conformal_ job = {0};
    NOT_NULL(model, x, candidates, p);
    REFUSE_IF(candidates->n == 0, OKRA_EARG, "candidates: the set is empty");
    CHK(okra_decode_check_kind_(&model->training->output, candidates,
                                "the candidates are"));
    CHK(job_open(context, model, x, candidates, settings, &job));
    return job.how == OKRA_CONFORMAL_SPLIT_  ? okra_conformal_split_(&job, p)
           : job.how == OKRA_CONFORMAL_FULL_ ? okra_conformal_full_(&job, p)
                                             : okra_conformal_folds_(&job, p);
}

/* Is the test input's own weight more than alpha of all that its bounds compare? Then no
 * bound is certain enough, whatever the scores. *pairs: how many it is compared with. */
static bool too_few(const okra_conformal_ *job, double alpha, okra_int t, okra_int j,
                    okra_int *pairs)
{
    okra_int group = okra_conformal_group_(job, t, 0), ld = 0;
    const double *y =
        job->how == OKRA_CONFORMAL_SPLIT_ ? okra_data_values(job->cal_y, &ld) : NULL;
    double own = okra_conformal_test_weight_(job, t), sum = own;
    *pairs = 0;
    for (okra_int i = 0; i < job->pairs; i++) {
        if (okra_conformal_in_(job, i, group) && !(y && isnan(y[i * ld + j]))) {
            sum += okra_conformal_weight_(job, i);
            ++*pairs;
        }
    }
    return own > alpha * sum * (1 + 1e-9);
}

/* Why intervals are infinite: too few pairs, or, full alone, no y is too far: the score
 * of more than alpha of the pairs grows with y at least as fast as that of (x, y), for
 * distance where u_i (1 - u_i) >= s B_ii. So it is where the fit knows much more at x
 * than at the pairs without themselves, and lambda is small. */
static void tell_endless(const okra_conformal_ *job, double alpha, const double *bounds)
{
    okra_int d = job->model->training->output.d, count = job->tests * d;
    okra_int open = 0, few = 0, least = job->pairs;
    for (okra_int k = 0; k < count; k++) {
        if (isinf(bounds[2 * k]) || isinf(bounds[2 * k + 1])) {
            okra_int pairs = 0;
            open++;
            if (too_few(job, alpha, k / d, k % d, &pairs)) {
                few++;
                least = OKRA_MIN_(least, pairs);
            }
        }
    }
    if (few > 0 && job->s.weights) {
        okra_warn_(job->ctx,
                   "conformal: %lld of %lld intervals are infinite: the weight of the "
                   "test input is more than alpha = %g of that of all pairs",
                   (long long)few, (long long)count, alpha);
    } else if (few > 0) {
        okra_warn_(job->ctx,
                   "conformal: %lld of %lld intervals are infinite: %lld pairs "
                   "calibrate%s, and alpha = %g needs %.0f or more",
                   (long long)few, (long long)count, (long long)least,
                   job->group           ? " in the smallest of their groups"
                   : least < job->pairs ? " with a known output"
                                        : "",
                   alpha, ceil((1 - alpha) / alpha - 1e-9));
    }
    if (open > few) {
        okra_warn_(
            job->ctx,
            "conformal: %lld of %lld intervals are infinite: what the model predicts for "
            "the other pairs moves as much as the output that is tried, so that none "
            "is too far; use jackknife+ or split, or fit with a larger lambda",
            (long long)(open - few), (long long)count);
    }
}

okra_status okra_conformal_intervals(okra_context *context, const okra_model *model,
                                     const okra_data *x, double alpha,
                                     const okra_conformal_settings *settings,
                                     double *bounds, double *radius)
{
    FREED_BY(job_clear) okra_conformal_ job = {0};
    NOT_NULL(model, x, bounds);
    REFUSE_IF(!(alpha > 0 && alpha < 1), OKRA_EARG,
              "conformal: alpha is %g, expected a number between 0 and 1", alpha);
    REFUSE_IF(!model->training->output.features, OKRA_EUNSUPPORTED,
              "conformal: intervals need dense outputs under a linear kernel; ky is %s",
              okra_kernel_text(model->training->ky));
    CHK(job_open(context, model, x, NULL, settings, &job));
    CHK(job.how == OKRA_CONFORMAL_SPLIT_
            ? okra_conformal_split_intervals_(&job, alpha, bounds, radius)
        : job.how == OKRA_CONFORMAL_FULL_
            ? okra_conformal_full_intervals_(&job, alpha, bounds, radius)
            : okra_conformal_folds_intervals_(&job, alpha, bounds, radius));
    tell_endless(&job, alpha, bounds);
    return OKRA_OK;
}

/* ---- p-values of distances that somebody measured already ----
 *
 * The share of pairs whose output is at least as far from its own prediction as the
 * candidate, the candidate itself included. Pairs that the fit has not seen make it that
 * of split conformal prediction; the training pairs, each predicted without itself, that
 * of the jackknife, which promises nothing exact: a model of all pairs is a little better
 * than those without one. */

okra_status okra_conformal_distances(okra_context *context, const okra_model *model,
                                     bool training, const double *distance,
                                     okra_int count, double *p, okra_int *pairs)
{
    OWNED double *score = NULL;
    double mean = 0;
    FREED_BY(okra_prediction_drop_) okra_prediction *left = NULL;
    const okra_data *x = NULL, *y = NULL;
    NOT_NULL(model, distance, p);
    okra_int n =
        training ? okra_model_count(model) : okra_model_calibration(model, &x, &y);
    REFUSE_IF(n < 1, OKRA_EARG, "the model keeps no pairs to calibrate with");
    MAKE(score, n);
    CHK(training ? okra_model_leave(context, model, NULL, score, &left)
                 : okra_model_loss(context, model, x, y, &mean, score));
    qsort(score, (size_t)n, sizeof *score, okra_by_double_);
    for (okra_int k = 0; k < count; k++) {
        double least = distance[k] - OKRA_CONFORMAL_SLACK_ * fabs(distance[k]);
        p[k] = (double)(n - okra_below_(score, sizeof *score, n, least) + 1) /
               (double)(n + 1);
    }
    GIVE(pairs, n);
    return OKRA_OK;
}

/* ---- groups of numbers: below the first cut, between two, from the last on ---- */

enum { NAME = 64 };

static okra_status check_cuts(const okra_data *numbers, const double *cuts,
                              okra_int count)
{
    REFUSE_IF(numbers->kind != OKRA_DENSE || numbers->d != 1, OKRA_ESHAPE,
              "groups to cut: %s holds %s of width %lld, expected one column of numbers",
              numbers->source, okra_kind_name(numbers->kind), (long long)numbers->d);
    for (okra_int k = 0; k < count; k++) {
        REFUSE_IF(!isfinite(cuts[k]) || (k > 0 && !(cuts[k] > cuts[k - 1])), OKRA_EARG,
                  "groups to cut: cut %lld is %g, expected growing numbers", (long long)k,
                  cuts[k]);
    }
    for (okra_int i = 0; i < numbers->n; i++) {
        REFUSE_IF(isnan(numbers->values[i * numbers->ld]), OKRA_EARG,
                  "groups to cut: %s: number %lld is missing", numbers->source,
                  (long long)i);
    }
    return OKRA_OK;
}

okra_status okra_groups_cut(const okra_data *numbers, const double *cuts, okra_int count,
                            okra_data **out)
{
    NOT_NULL(numbers, cuts, out);
    OWNED okra_int *codes = NULL;
    OWNED char *text = NULL;
    OWNED const char **names = NULL;
    REFUSE_IF(count < 1, OKRA_EARG, "groups to cut: there is no cut");
    CHK(check_cuts(numbers, cuts, count));
    MAKE(codes, numbers->n);
    MAKE(text, (count + 1) * NAME);
    MAKE(names, count + 1);
    for (okra_int k = 0; k <= count; k++) {
        char low[NAME / 2 - 4], high[NAME / 2 - 4];
        okra_number_format_(low, sizeof low, 15, k > 0 ? cuts[k - 1] : 0);
        okra_number_format_(high, sizeof high, 15, k < count ? cuts[k] : 0);
        char *name = text + k * NAME;
        if (k == 0) {
            snprintf(name, NAME, "below %s", high);
        } else if (k == count) {
            snprintf(name, NAME, "from %s", low);
        } else {
            snprintf(name, NAME, "%s to %s", low, high);
        }
        names[k] = name;
    }
    for (okra_int i = 0; i < numbers->n; i++) {
        double value = numbers->values[i * numbers->ld];
        codes[i] = 0;
        while (codes[i] < count && value >= cuts[codes[i]]) {
            codes[i]++;
        }
    }
    return okra_data_labels(codes, numbers->n, names, count + 1, out);
}

/* ---- pairs that are held back, drawn at random ---- */

okra_status okra_pairs_split(okra_context *context, const okra_data *x,
                             const okra_data *y, double share, okra_data **parts)
{
    OWNED okra_int *index = NULL;
    FREED_BY(okra_data_drop_) okra_data *learn_x = NULL, *learn_y = NULL;
    FREED_BY(okra_data_drop_) okra_data *held_x = NULL, *held_y = NULL;
    NOT_NULL(x, y, parts);
    okra_int n = y->n, N = x->n;
    REFUSE_IF(!(share > 0 && share < 1), OKRA_EARG,
              "calibration: the share is %g, expected a number between 0 and 1", share);
    REFUSE_IF(x->kind == OKRA_GRAM || y->kind == OKRA_GRAM, OKRA_EUNSUPPORTED,
              "calibration: a precomputed kernel cannot be parted: give pairs to "
              "calibrate with when predicting");
    REFUSE_IF(N < n, OKRA_ESHAPE, "calibration: there are %lld inputs and %lld outputs",
              (long long)N, (long long)n);
    okra_int held = (okra_int)floor(share * (double)n + 0.5), kept = n - held;
    REFUSE_IF(held < 1 || kept < 1, OKRA_ESHAPE,
              "calibration: a share of %g of %lld pairs leaves %lld to learn from and "
              "%lld to calibrate with",
              share, (long long)n, (long long)kept, (long long)held);
    MAKE(index, N);
    okra_iota_(N, index); /* inputs without outputs stay */
    okra_random_ r = okra_random_create_(okra_context_seed(context), 13);
    okra_random_shuffle_(&r, n, index);
    okra_int *rest = index + held;
    qsort(index, (size_t)held, sizeof *index, okra_by_int_);
    qsort(rest, (size_t)kept, sizeof *rest, okra_by_int_);
    CHK(okra_data_take(x, index, held, &held_x));
    CHK(okra_data_take(y, index, held, &held_y));
    CHK(okra_data_take(y, rest, kept, &learn_y));
    CHK(okra_data_take(x, rest, N - held, &learn_x));
    parts[0] = TAKE(learn_x);
    parts[1] = TAKE(learn_y);
    parts[2] = TAKE(held_x);
    parts[3] = TAKE(held_y);
    return OKRA_OK;
}
