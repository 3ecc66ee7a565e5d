/*
 * optimum.c: the vector y that minimises a method's own criterion J (criterion.c), by
 * L-BFGS with analytic gradients.
 *
 * Outputs are taken as y = m + s z, m their mean and s their root mean square distance
 * from it (of a kernel that standardizes: coordinate by coordinate), so that the stopping
 * rule |dJ/dz| <= tolerance max(1, |z|) max(1, |J|) does not depend on units. J has
 * several valleys, which valleys.c searches; the lowest finite point ever evaluated is
 * what is returned, converged or not, so that an output is never NaN; the report says how
 * it went.
 *
 * Cost of an evaluation: that of J, and d operations a member of the training set.
 */
#include "decode/vectors/criterion.h"
#include "okra/more/prediction.h"

typedef okra_valleys_options_ optimum_options;

static const okra_option rows[] = {
    {"starts", OKRA_OPTION_INT, offsetof(optimum_options, starts), "6", 1,
     OKRA_VALLEYS_MOST_, NULL, "N",
     "searches, from the lowest of the places that are compared first"},
    {"iterations", OKRA_OPTION_INT, offsetof(optimum_options, iterations), "200", 1, 1e6,
     NULL, "N", "most iterations from a start"},
    {"tolerance", OKRA_OPTION_NUMBER, offsetof(optimum_options, tolerance), "1e-5",
     1e-300, 1, NULL, "V", "norm of the gradient at which a search has converged"},
    {0},
};

typedef struct state {
    okra_output_ output;
    optimum_options o;
    okra_criterion_eval_ *judge;
    okra_smooth_ *smooth;
    okra_int tests;
    double *mean, *scale; /* d each */
    okra_valleys_ *workers;
    int worker_count;
    double *Y;      /* tests x d                   */
    double *report; /* tests x OKRA_REPORT_COLUMNS */
    double *jitter; /* a row of the block at hand, room for `tests` */
} state;

static void clear(void *arg)
{
    state *s = arg;
    for (int w = 0; s->workers && w < s->worker_count; w++) {
        okra_valleys_clear_(&s->workers[w]);
    }
    okra_free_(s->workers);
    okra_criterion_eval_free_(s->judge);
    okra_smooth_free_(s->smooth);
    FREE(s->mean, s->scale, s->Y, s->report, s->jitter);
}

okra_status okra_decode_smooth_(okra_context *ctx, const okra_output_ *output, bool *yes)
{
    okra_smooth_ *smooth = NULL;
    okra_status st =
        okra_smooth_create_(ctx, output->kernel, output->y, output->ky, &smooth);
    *yes = st == OKRA_OK && (output->criterion->kl || smooth->bounded);
    okra_smooth_free_(smooth);
    return st == OKRA_EUNSUPPORTED ? OKRA_OK : st;
}

/* ---- create ---- */

/* Mean and spread of the training outputs; 1 where they are all the same. Where its
 * squares overflow so do kernels, and J is defined nowhere (find). */
static okra_status moments(state *s)
{
    const okra_data *y = s->output.y;
    okra_int n = okra_data_count(y), d = okra_data_width(y), ld = 0;
    const double *values = okra_data_values(y, &ld);
    double sum = 0;
    ZMAKE(s->mean, d);
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
    const double *spread = s->smooth->spread;
    MAKE(s->scale, d);
    for (okra_int j = 0; j < d; j++) {
        s->scale[j] = spread ? spread[j] * sqrt((double)d) : sum > 0 ? sqrt(sum) : 1;
    }
    return OKRA_OK;
}

static okra_status open(okra_context *ctx, void *arg, const okra_output_ *output,
                        const void *options, const okra_decode_request_ *request)
{
    state *s = arg;
    s->o = *(const optimum_options *)options;
    REFUSE_IF(!output->criterion, OKRA_EUNSUPPORTED,
              "decoder optimum is for models of method tgp-kl and "
              "tgp-hsic, which minimise a criterion of their own");
    CHK(okra_decode_check_plain_("optimum", request));
    s->output = *output;
    s->tests = request->tests;
    CHK(okra_at_(
        okra_smooth_create_(ctx, output->kernel, output->y, output->ky, &s->smooth),
        "decoder optimum"));
    REFUSE_IF(
        !output->criterion->kl && !s->smooth->bounded, OKRA_EUNSUPPORTED,
        "decoder optimum: under the output kernel %s the criterion of tgp-hsic has no "
        "optimum, it improves without end; a bounded kernel has one, 'candidates' "
        "needs none",
        okra_kernel_text(output->kernel));
    CHK(moments(s));
    CHK(okra_criterion_eval_create_(ctx, output, &s->judge));
    CHK(okra_doubles_(ctx, s->tests, okra_data_width(output->y), "the predictions",
                      &s->Y));
    CHK(okra_doubles_(ctx, s->tests, OKRA_REPORT_COLUMNS, "the report", &s->report));
    ZMAKE(s->jitter, s->tests);
    s->worker_count = okra_workers_(ctx);
    ZMAKE(s->workers, s->worker_count);
    for (int w = 0; w < s->worker_count; w++) {
        CHK(okra_valleys_create_(ctx, &s->output, s->judge, s->smooth, &s->workers[w]));
        s->workers[w].mean = s->mean;
        s->workers[w].scale = s->scale;
        s->workers[w].centred = s->smooth->spread != NULL;
    }
    return OKRA_OK;
}

/* ---- blocks ---- */

typedef struct job {
    state *s;
    const okra_block_ *block;
} job;

static okra_status body(void *arg, okra_int begin, okra_int end, int worker)
{
    const job *j = arg;
    state *s = j->s;
    okra_valleys_ *w = &s->workers[worker];
    for (okra_int r = begin; r < end; r++) {
        okra_int i = j->block->first + r;
        double *report = s->report + i * OKRA_REPORT_COLUMNS;
        CHK(okra_case_set_(s->judge, j->block, r, &w->problem));
        if (w->problem.index) {
            okra_smooth_select_(w->smooth, w->problem.index, w->problem.count);
        }
        w->evaluations = 0;
        CHK(okra_valleys_find_(w, &s->o));
        memcpy(s->Y + i * w->d, w->best, (size_t)w->d * sizeof *w->best);
        s->jitter[i] = w->problem.jitter;
        report[0] = w->lowest;
        report[1] = w->evaluations;
        report[2] = w->slope;
        report[3] = w->slope <= s->o.tolerance;
    }
    return OKRA_OK;
}

static okra_status block_in(okra_context *ctx, void *arg, const okra_block_ *block)
{
    job j = {arg, block};
    return okra_parallel_(ctx, block->m, 1, "predictions", body, &j);
}

static okra_status finish(okra_context *ctx, void *arg, okra_decoded_ *out)
{
    state *s = arg;
    okra_int open = 0, jittered = 0;
    for (okra_int i = 0; i < s->tests; i++) {
        open += s->report[i * OKRA_REPORT_COLUMNS + 3] == 0;
        jittered += s->jitter[i] > 0;
    }
    CHK(okra_data_adopt_dense_(&s->Y, s->tests, okra_data_width(s->output.y),
                               "predictions", &out->objects));
    out->report = TAKE(s->report);
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
    return OKRA_OK;
}

const okra_decoder_ okra_decoder_optimum_ = {
    .name = "optimum",
    .reports = true,
    .help = "the vector that minimises the criterion of a twin Gaussian process",
    .options = {"decoder optimum", rows, sizeof(optimum_options)},
    .criterion = true,
    .state = sizeof(state),
    .open = open,
    .block = block_in,
    .finish = finish,
    .clear = clear,
};
