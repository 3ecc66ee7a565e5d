/*
 * optimum.c: the vector y that minimises a method's own criterion J (criterion.c), by
 * L-BFGS (libLBFGS) with analytic gradients.
 *
 * Outputs are taken as y = m + s z, m their mean and s their root mean square distance
 * from it, so that the stopping rule |dJ/dz| <= tolerance max(1, |z|) max(1, |J|) does
 * not depend on units. J has several valleys: the search starts at the explicit weighted
 * output (kl: Y'w, the ridge prediction; hsic: with the positive weights made to sum to
 * 1) and at the best, by J, of the outputs with the TRIED largest weights; the lowest end
 * is kept. The lowest finite point ever evaluated is what is returned, converged or not,
 * so that an output is never NaN; the report says how it went.
 *
 * Cost of an evaluation: that of J, and d operations a member of the training set.
 */
#include "decode/criterion.h"
#include "kernel/vectors/smooth.h"

#include <float.h>
#include <lbfgs.h>
#include <math.h>
#include <string.h>

enum { TRIED = 16, STARTS_MOST = 16 };

typedef struct optimum_options {
    okra_int starts, iterations;
    double tolerance;
} optimum_options;

static const okra_option rows[] = {
    {"starts", OKRA_OPTION_INT, offsetof(optimum_options, starts), "3", 1, STARTS_MOST,
     NULL, "N", "where the search begins: the weighted output, then training outputs"},
    {"iterations", OKRA_OPTION_INT, offsetof(optimum_options, iterations), "200", 1, 1e6,
     NULL, "N", "most iterations from a start"},
    {"tolerance", OKRA_OPTION_NUMBER, offsetof(optimum_options, tolerance), "1e-5",
     1e-300, 1, NULL, "V", "norm of the gradient at which a search has converged"},
    {0},
};

extern const okra_decoder_ okra_decoder_optimum_;

/* What a worker needs for one test point. */
typedef struct search {
    okra_case_ problem;
    okra_smooth_work_ *smooth;
    const okra_data *y_train;
    const double *mean;
    double scale;
    okra_int d;
    double *z;                /* d, padded with zeros: libLBFGS rounds d up to 16 */
    double *y, *g, *l, *work; /* d, d, count, count                               */
    double *by_l;             /* count                                            */
    double *best;             /* d: the lowest point so far                       */
    double lowest, slope;     /* J there, |dJ/dz| / (max(1, |z|) max(1, |J|))     */
    double evaluations;
} search;

typedef struct state {
    okra_output_ output;
    optimum_options o;
    okra_judge_ *judge;
    okra_smooth_ *smooth;
    okra_int tests;
    double *mean, scale;
    search *workers;
    int worker_count;
    double *Y;      /* tests x d                   */
    double *report; /* tests x OKRA_REPORT_COLUMNS */
    double *jitter; /* a row of the block at hand, room for `tests` */
} state;

static void search_clear(search *s)
{
    okra_case_clear_(&s->problem);
    okra_smooth_work_free_(s->smooth);
    okra_free_(s->z);
    okra_free_(s->l);
}

static void release(void *arg)
{
    state *s = arg;
    if (s) {
        for (int w = 0; s->workers && w < s->worker_count; w++) {
            search_clear(&s->workers[w]);
        }
        okra_free_(s->workers);
        okra_judge_free_(s->judge);
        okra_smooth_free_(s->smooth);
        okra_free_(s->mean);
        okra_free_(s->Y);
        okra_free_(s->report);
        okra_free_(s->jitter);
        okra_free_(s);
    }
}

okra_status okra_decode_smooth_(okra_context *ctx, const okra_output_ *output, bool *yes)
{
    okra_smooth_ *smooth = NULL;
    okra_status st = okra_smooth_create_(ctx, output->kernel, output->y, &smooth);
    *yes = st == OKRA_OK && (output->criterion->kl || okra_smooth_bounded_(smooth));
    okra_smooth_free_(smooth);
    return st == OKRA_EUNSUPPORTED ? OKRA_OK : st;
}

/* ---- create ---- */

static okra_status search_create(okra_context *ctx, const state *s, search *w)
{
    okra_status st = OKRA_OK;
    const okra_criterion_ *criterion = s->output.criterion;
    okra_int n = okra_data_count(s->output.y), d = okra_data_width(s->output.y);
    okra_int count = criterion->neighbours > 0 ? criterion->neighbours : n;
    okra_int padded = (d + 15) / 16 * 16;
    TRY(okra_case_create_(ctx, s->judge, &w->problem));
    TRY(okra_smooth_work_create_(ctx, s->smooth, count, &w->smooth));
    if (criterion->neighbours == 0) {
        okra_smooth_select_(w->smooth, NULL, n);
    }
    ZALLOC(w->z, padded + 3 * d);
    ALLOC(w->l, 3 * count);
    w->y = w->z + padded;
    w->g = w->y + d;
    w->best = w->g + d;
    w->work = w->l + count;
    w->by_l = w->work + count;
    w->y_train = s->output.y;
    w->mean = s->mean;
    w->scale = s->scale;
    w->d = d;
done:
    return st;
}

/* Mean and spread of the training outputs; 1 where they are all the same. Where its
 * squares overflow so do kernels, and J is defined nowhere (find). */
static okra_status moments(state *s)
{
    okra_status st = OKRA_OK;
    const okra_data *y = s->output.y;
    okra_int n = okra_data_count(y), d = okra_data_width(y), ld = 0;
    const double *values = okra_data_values(y, &ld);
    double sum = 0;
    ZALLOC(s->mean, d);
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < d; j++) {
            s->mean[j] += values[i * ld + j] / (double)n;
        }
    }
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j < d; j++) {
            double e = values[i * ld + j] - s->mean[j];
            sum += e * e / (double)n;
        }
    }
    s->scale = sum > 0 ? sqrt(sum) : 1;
done:
    return st;
}

static okra_status check(const okra_output_ *output, const okra_smooth_ *smooth)
{
    if (!output->criterion->kl && !okra_smooth_bounded_(smooth)) {
        return okra_fail_(OKRA_EUNSUPPORTED,
                          "decoder optimum: under the output kernel %s the criterion of "
                          "tgp-hsic has no optimum, it improves without end; a bounded "
                          "kernel has one, 'candidates' needs none",
                          okra_kernel_text(output->kernel));
    }
    return OKRA_OK;
}

static okra_status create(okra_context *ctx, const okra_output_ *output,
                          const okra_options *options,
                          const okra_decode_request_ *request, void **out)
{
    okra_status st = OKRA_OK;
    state *s = NULL;
    if (!output->criterion) {
        FAIL(OKRA_EUNSUPPORTED, "decoder optimum is for models of method tgp-kl and "
                                "tgp-hsic, which minimise a criterion of their own");
    }
    TRY(okra_decode_check_plain_("optimum", request));
    ZALLOC(s, 1);
    s->output = *output;
    s->tests = request->tests;
    TRY(okra_options_read(options, &okra_decoder_optimum_.options, &s->o));
    st = okra_smooth_create_(ctx, output->kernel, output->y, &s->smooth);
    if (st != OKRA_OK) {
        okra_message_prefix_("decoder optimum");
        goto done;
    }
    TRY(check(output, s->smooth));
    TRY(moments(s));
    TRY(okra_judge_create_(ctx, output, &s->judge));
    TRY(okra_doubles_(ctx, s->tests, okra_data_width(output->y), "the predictions",
                      &s->Y));
    TRY(okra_doubles_(ctx, s->tests, OKRA_REPORT_COLUMNS, "the report", &s->report));
    ZALLOC(s->jitter, s->tests);
    s->worker_count = okra_workers_(ctx);
    ZALLOC(s->workers, s->worker_count);
    for (int w = 0; w < s->worker_count; w++) {
        TRY(search_create(ctx, s, &s->workers[w]));
    }
    *out = s;
    s = NULL;
done:
    release(s);
    return st;
}

/* ---- one search ---- */

/* J at z, and dJ/dz if g is given; keeps the lowest point. */
static double evaluate(search *s, const double *z, double *g)
{
    double self, by_self = 0, square = 0, size = 0;
    for (okra_int j = 0; j < s->d; j++) {
        s->y[j] = s->mean[j] + s->scale * z[j];
    }
    okra_smooth_values_(s->smooth, s->y, s->l, &self);
    double J =
        okra_case_value_(&s->problem, s->l, self, s->work, g ? s->by_l : NULL, &by_self);
    s->evaluations++;
    if (g && isfinite(J)) {
        okra_smooth_gradient_(s->smooth, s->by_l, by_self, g);
        for (okra_int j = 0; j < s->d; j++) {
            g[j] *= s->scale;
            square += g[j] * g[j];
            size += z[j] * z[j];
        }
    } else if (g) { /* nowhere to go: the line search steps back */
        memset(g, 0, (size_t)s->d * sizeof *g);
    }
    if (g && isfinite(square) && J < s->lowest) {
        s->lowest = J;
        s->slope = sqrt(square) / fmax(1, sqrt(size)) / fmax(1, fabs(J));
        memcpy(s->best, s->y, (size_t)s->d * sizeof *s->best);
    }
    return isfinite(J) ? J : DBL_MAX;
}

static lbfgsfloatval_t objective(void *arg, const lbfgsfloatval_t *z, lbfgsfloatval_t *g,
                                 int d, lbfgsfloatval_t step)
{
    (void)d;
    (void)step;
    return evaluate(arg, z, g);
}

/* z of the explicit weighted output. */
static void weighted_output(const search *s, double *z)
{
    const okra_case_ *c = &s->problem;
    okra_int ld = 0;
    const double *Y = okra_data_values(s->y_train, &ld);
    double sum = 0;
    memset(z, 0, (size_t)s->d * sizeof *z);
    for (okra_int i = 0; i < c->count; i++) {
        double w = c->kl ? c->weights[i] : fmax(0, c->weights[i]);
        const double *y = Y + (c->index ? c->index[i] : i) * ld;
        sum += w;
        for (okra_int j = 0; j < s->d; j++) {
            z[j] += w * y[j];
        }
    }
    for (okra_int j = 0; j < s->d; j++) {
        z[j] = (z[j] / (c->kl || sum == 0 ? 1 : sum) - s->mean[j]) / s->scale;
    }
}

/* The output of member i of the training set. */
static const double *output_of(const search *s, okra_int i)
{
    okra_int ld = 0, row = s->problem.index ? s->problem.index[i] : i;
    return okra_data_values(s->y_train, &ld) + row * ld;
}

/* z of member i. */
static void member(const search *s, okra_int i, double *z)
{
    const double *y = output_of(s, i);
    for (okra_int j = 0; j < s->d; j++) {
        z[j] = (y[j] - s->mean[j]) / s->scale;
    }
}

/* item[0..held-1] stays sorted by value, lowest first; `most` are kept. */
static void insert(okra_int i, double value, okra_int most, okra_int *held,
                   okra_int *item, double *values)
{
    okra_int at = OKRA_MIN_(*held, most - 1);
    if (*held == most && !(value < values[most - 1])) {
        return;
    }
    for (; at > 0 && value < values[at - 1]; at--) {
        item[at] = item[at - 1];
        values[at] = values[at - 1];
    }
    item[at] = i;
    values[at] = value;
    *held = OKRA_MIN_(*held + 1, most);
}

/* The members with the lowest J among those with the largest weights. */
static okra_int best_members(search *s, okra_int most, okra_int *chosen)
{
    okra_int tried[TRIED], held = 0, kept = 0;
    double values[TRIED], J[STARTS_MOST];
    for (okra_int i = 0; i < s->problem.count; i++) {
        insert(i, -s->problem.weights[i], TRIED, &held, tried, values);
    }
    for (okra_int t = 0; most > 0 && t < held; t++) {
        member(s, tried[t], s->z);
        insert(tried[t], evaluate(s, s->z, NULL), most, &kept, chosen, J);
    }
    return kept;
}

/* The search for one test point; true if it converged. */
static bool find(search *s, const optimum_options *o)
{
    okra_int chosen[STARTS_MOST] = {0}, members = best_members(s, o->starts - 1, chosen);
    lbfgs_parameter_t parameters;
    lbfgs_parameter_init(&parameters);
    parameters.max_iterations = (int)o->iterations;
    parameters.epsilon = o->tolerance;
    s->lowest = DBL_MAX;
    s->slope = DBL_MAX;
    for (okra_int k = 0; k <= members; k++) {
        if (k == 0) {
            weighted_output(s, s->z);
        } else {
            member(s, chosen[k - 1], s->z);
        }
        lbfgs((int)s->d, s->z, NULL, objective, NULL, s, &parameters);
    }
    if (s->lowest == DBL_MAX) { /* J is defined nowhere: the output with most weight */
        best_members(s, 1, chosen);
        memcpy(s->best, output_of(s, chosen[0]), (size_t)s->d * sizeof *s->best);
    }
    return s->slope <= o->tolerance;
}

/* ---- blocks ---- */

typedef struct job {
    state *s;
    const okra_block_ *block;
} job;

static okra_status body(void *arg, okra_int begin, okra_int end, int worker)
{
    okra_status st = OKRA_OK;
    const job *j = arg;
    state *s = j->s;
    search *w = &s->workers[worker];
    for (okra_int r = begin; r < end; r++) {
        okra_int i = j->block->first + r;
        double *report = s->report + i * OKRA_REPORT_COLUMNS;
        TRY(okra_case_set_(s->judge, j->block, r, &w->problem));
        if (w->problem.index) {
            okra_smooth_select_(w->smooth, w->problem.index, w->problem.count);
        }
        w->evaluations = 0;
        bool converged = find(w, &s->o);
        memcpy(s->Y + i * w->d, w->best, (size_t)w->d * sizeof *w->best);
        s->jitter[i] = w->problem.jitter;
        report[0] = w->lowest;
        report[1] = w->evaluations;
        report[2] = w->slope;
        report[3] = converged;
    }
done:
    return st;
}

static okra_status block_in(okra_context *ctx, void *arg, const okra_block_ *block)
{
    job j = {arg, block};
    return okra_parallel_(ctx, block->m, 1, "predictions", body, &j);
}

static okra_status finish(okra_context *ctx, void *arg, okra_decoded_ *out)
{
    okra_status st = OKRA_OK;
    state *s = arg;
    okra_decoded_ decoded = {0};
    okra_int open = 0, jittered = 0;
    for (okra_int i = 0; i < s->tests; i++) {
        open += s->report[i * OKRA_REPORT_COLUMNS + 3] == 0;
        jittered += s->jitter[i] > 0;
    }
    TRY(okra_data_adopt_dense_(s->Y, s->tests, okra_data_width(s->output.y),
                               "predictions", &decoded.objects));
    s->Y = NULL;
    decoded.report = s->report;
    s->report = NULL;
    *out = decoded;
    if (open > 0) {
        okra_warn_(ctx,
                   "%lld of %lld predictions did not converge; the lowest point found is "
                   "given, the report says which they are",
                   (long long)open, (long long)s->tests);
    }
    if (jittered > 0) {
        okra_warn_(ctx,
                   "the local Gram matrices of the outputs of %lld predictions are not "
                   "positive definite; something was added to their diagonals",
                   (long long)jittered);
    }
done:
    return st;
}

const okra_decoder_ okra_decoder_optimum_ = {
    .name = "optimum",
    .help = "the vector that minimises the criterion of a twin Gaussian process",
    .options = {"decoder optimum", rows, sizeof(optimum_options)},
    .create = create,
    .block = block_in,
    .finish = finish,
    .free = release,
};
