/*
 * when.c: beyond the papers: drawn data on which the ideas of the papers help, beside
 * data of the same kind on which they cannot. Every parameter is chosen by inner folds of
 * the training pairs; both columns of a table have the same grids.
 *
 * Operators. Covariance C = sum_j c_j u_j u_j': the problem falls apart into one ridge
 *   regression a direction u_j with lambda / c_j. It helps where the outputs lie near few
 *   directions and the rest is noise: directions of noise are shrunk, those of signal are
 *   not. It cannot help where all directions carry alike: then C is a multiple of I.
 *   Conditional covariance takes from C what the inputs explain: what it leaves at a
 *   small epsilon is the noise, at a large one it is C.
 * Twin kernels. A power of exp(-gamma d^2) is exp(-p gamma d^2): a polynomial of a
 *   Gaussian kernel mixes it with narrower ones. It helps where the kernel is too wide,
 *   and has nothing to offer where it is narrow enough.
 * Margin. The squared loss pulls back a point that is right by far, the hinge does not.
 *   It helps where some points of a class lie far behind the boundary.
 */
#include "nested.h"
#include "sets/draws.h"
#include "stkl.h"

#include <math.h>
#include <stdlib.h>

enum { DRAWS = 20, TEST = 200, INNER = 5 };

/* ---- pairs of one law ---- */

/* Rows of x (dx) and y (dy), filled by `fill` from its own numbers. */
typedef struct law {
    okra_int dx, dy;
    bool plain; /* the column in which the idea cannot help */
    void (*fill)(uint64_t *state, bool plain, const double *fixed, double *x, double *y);
    okra_int train, fixed; /* training pairs; normal numbers that a draw has once */
} law;

static okra_status draw_part(const law *l, uint64_t *state, const double *fixed,
                             okra_int n, paper_pairs *out)
{
    double *x = malloc((size_t)(n * (l->dx + l->dy)) * sizeof *x);
    if (!x) {
        return okra_fail(OKRA_EMEM, "no memory for a draw");
    }
    double *y = x + n * l->dx;
    for (okra_int i = 0; i < n; i++) {
        l->fill(state, l->plain, fixed, x + i * l->dx, y + i * l->dy);
    }
    okra_status st = paper_dense(x, n, l->dx, &out->x);
    if (st == OKRA_OK) {
        st = paper_dense(y, n, l->dy, &out->y);
    }
    free(x);
    return st;
}

static okra_status draw_law(const law *l, uint64_t seed, paper_pairs *train,
                            paper_pairs *test)
{
    double *fixed = malloc((size_t)(l->fixed + 1) * sizeof *fixed);
    okra_status st = fixed ? OKRA_OK : okra_fail(OKRA_EMEM, "no memory for a draw");
    for (okra_int i = 0; fixed && i < l->fixed; i++) {
        fixed[i] = draw_normal(&seed);
    }
    if (st == OKRA_OK) {
        st = draw_part(l, &seed, fixed, l->train, train);
    }
    if (st == OKRA_OK) {
        st = draw_part(l, &seed, fixed, TEST, test);
    }
    free(fixed);
    return st;
}

/* ---- the score of one family over the draws ---- */

static size_t draws_of(const paper_run *run)
{
    return paper_quick(run) ? 3 : DRAWS;
}

static okra_status over_draws(paper_run *run, const law *l, const char *key,
                              const paper_family *family, double *values)
{
    okra_status st = OKRA_OK;
    for (size_t r = 0; st == OKRA_OK && r < draws_of(run); r++) {
        paper_pairs train = {NULL, NULL}, test = {NULL, NULL};
        char step[160];
        snprintf(step, sizeof step, "%s, %s, draw %zu", key, l->plain ? "plain" : "helps",
                 r);
        if (paper_have(run, step, &values[r], 1)) {
            continue;
        }
        st = draw_law(l, paper_seed(run) * 1000 + 17 * (r + 1), &train, &test);
        if (st == OKRA_OK) {
            st = family ? paper_nested(run, family, &train, &test, &values[r], NULL, NULL,
                                       NULL)
                        : paper_own(run, &train, &test, "mse", &values[r]);
        }
        if (st == OKRA_OK) {
            st = paper_keep(run, step, &values[r], 1);
        }
        paper_pairs_clear(&train);
        paper_pairs_clear(&test);
    }
    return st;
}

/* One method: a row of a table. */
typedef struct row {
    const char *label;
    const paper_options *settings; /* NULL: okra without options */
    size_t count;
} row;

static okra_status put_rows(paper_run *run, int table, const law *laws,
                            const char *const columns[2], const row *rows, size_t count,
                            paper_options decode)
{
    static const double lambda[] = {1e-3, 1e-2, 1e-1, 1, 10, 100};
    okra_status st = OKRA_OK;
    for (size_t k = 0; st == OKRA_OK && k < 2 * count; k++) {
        const row *r = &rows[k / 2];
        double values[DRAWS];
        paper_family family = {r->settings, r->count, lambda, 6, decode,
                               "mse",       INNER,    NULL,   0};
        st =
            over_draws(run, &laws[k % 2], r->label, r->settings ? &family : NULL, values);
        paper_cell cell = {NAN, NAN, values, draws_of(run), NULL, PAPER_TOGETHER};
        if (st == OKRA_OK) {
            st = paper_put(run, table, r->label, columns[k % 2], cell);
        }
    }
    return st;
}

/* ---- operators ---- */

enum { INPUTS = 10, OUTPUTS = 20, RANK = 2 };

/* y = A B x + noise, A and B of rank 2; or y = D x + noise with every output of its own
 * strength alike. The signal has the same variance in both. */
static void fill_outputs(uint64_t *state, bool plain, const double *fixed, double *x,
                         double *y)
{
    const double *A = fixed, *B = A + OUTPUTS * RANK, *D = B + RANK * INPUTS;
    double inner[RANK] = {0};
    for (int j = 0; j < INPUTS; j++) {
        x[j] = draw_normal(state);
        for (int q = 0; q < RANK; q++) {
            inner[q] += B[q * INPUTS + j] * x[j] / sqrt(INPUTS);
        }
    }
    for (int o = 0; o < OUTPUTS; o++) {
        double signal = 0;
        for (int q = 0; !plain && q < RANK; q++) {
            signal += A[o * RANK + q] * inner[q] / sqrt(RANK);
        }
        for (int j = 0; plain && j < INPUTS; j++) {
            signal += D[o * INPUTS + j] * x[j] / sqrt(INPUTS);
        }
        y[o] = signal + draw_normal(state);
    }
}

#define SETTING(...)                   \
    (const char *const[])              \
    {                                  \
        "ky=linear", __VA_ARGS__, NULL \
    }

static okra_status operators(paper_run *run)
{
    static const char *const columns[2] = {"outputs of rank 2", "independent outputs"};
    const law laws[2] = {
        {INPUTS, OUTPUTS, false, fill_outputs, 30, (RANK + INPUTS) * (OUTPUTS + RANK)},
        {INPUTS, OUTPUTS, true, fill_outputs, 30, (RANK + INPUTS) * (OUTPUTS + RANK)}};
    const paper_options identity[] = {SETTING("kx=linear", "operator=identity")};
    const paper_options cov[] = {SETTING("kx=linear", "operator=cov")};
    const paper_options ccov[] = {SETTING("kx=linear", "operator=ccov", "epsilon=0.01"),
                                  SETTING("kx=linear", "operator=ccov", "epsilon=1"),
                                  SETTING("kx=linear", "operator=ccov", "epsilon=100")};
    const row rows[] = {{"identity", identity, 1},
                        {"covariance", cov, 1},
                        {"conditional covariance", ccov, 3},
                        {PAPER_OWN, NULL, 0}};
    const char *const decode[] = {"decode=explicit", NULL};
    int table = paper_table(
        run, "operators", "Operators: 20 outputs from 30 training pairs",
        "mean squared error", PAPER_LOWER, "outputs of rank 2|independent outputs");
    paper_yardstick_of(run, table, (paper_yardstick){.over = "draws"});
    return put_rows(run, table, laws, columns, rows, 4, decode);
}

/* ---- margin ---- */

/* Two classes at -1 and 1, a tenth of the points of the second at 30; or none there. The
 * outputs are -1/2 and 1/2: the squared error is the share of wrong classes. */
static void fill_classes(uint64_t *state, bool plain, const double *fixed, double *x,
                         double *y)
{
    (void)fixed;
    bool second = draw_uniform(state) < 0.5;
    bool far = draw_uniform(state) < 0.1 && second && !plain;
    y[0] = second ? 0.5 : -0.5;
    x[0] = (far ? 30 : second ? 1 : -1) + 0.3 * draw_normal(state);
    x[1] = draw_normal(state);
}

static okra_status margin(paper_run *run)
{
    static const char *const columns[2] = {"a tenth of a class far away",
                                           "none far away"};
    const law laws[2] = {{2, 1, false, fill_classes, 100, 0},
                         {2, 1, true, fill_classes, 100, 0}};
    const paper_options ridge[] = {SETTING("kx=poly(degree=1,coef0=1)", "method=ridge")};
    const paper_options hinge[] = {
        SETTING("kx=poly(degree=1,coef0=1)", "method=margin", "tolerance=1e-6")};
    const row rows[] = {{"ridge", ridge, 1}, {"margin", hinge, 1}};
    const char *const decode[] = {"decode=candidates", NULL};
    int table = paper_table(run, "margin", "Margin: two classes and a straight boundary",
                            "share of wrong classes", PAPER_LOWER,
                            "a tenth of a class far away|none far away");
    paper_yardstick_of(run, table, (paper_yardstick){.over = "draws"});
    return put_rows(run, table, laws, columns, rows, 2, decode);
}

/* ---- twin kernels ---- */

enum { SHAPE = 150 };

static okra_status one_width(paper_run *run, int table, double gamma, json_t *gains)
{
    double values[3][DRAWS];
    char label[64];
    okra_status st = OKRA_OK;
    for (size_t r = 0; st == OKRA_OK && r < draws_of(run); r++) {
        paper_pairs train = {NULL, NULL}, test = {NULL, NULL};
        uint64_t seed = paper_seed(run) * 1000 + 31 * (r + 1);
        char name[32];
        snprintf(name, sizeof name, "twin %zu", r);
        st = draw_sshape(seed, SHAPE, &train);
        if (st == OKRA_OK) {
            st = draw_sshape(seed + 1, SHAPE, &test);
        }
        for (int map = 0; st == OKRA_OK && map < 2; map++) {
            stkl_setting s = {.gamma_x = gamma, .gamma_y = 20, .d1 = 1, .d2 = 1};
            stkl_score score = {0};
            s.d1 = s.d2 = map ? 11 : 1;
            st = stkl_error(run, name, &train, &test, &s, &score, NULL);
            values[map][r] = score.mae;
        }
        values[2][r] = stkl_gain(values[1][r], values[0][r]);
        paper_pairs_clear(&train);
        paper_pairs_clear(&test);
    }
    static const char *const columns[] = {"no mapping", "mapping", "gain %"};
    snprintf(label, sizeof label, "gamma of the inputs %g", gamma);
    for (int k = 0; st == OKRA_OK && k < 3; k++) {
        paper_cell cell = {NAN, NAN, values[k], draws_of(run), NULL, PAPER_TOGETHER};
        st = paper_put(run, table, label, columns[k], cell);
    }
    double mean, sd;
    paper_moments(values[2], draws_of(run), &mean, &sd);
    json_array_append_new(gains, json_real(mean));
    return st;
}

static okra_status twins(paper_run *run)
{
    static const double gammas[] = {0.02, 0.2, 2, 20, 200};
    okra_status st = OKRA_OK;
    int table = paper_table(
        run, "twins", "Twin kernels: S-shape by HSIC, degrees 11, against the width",
        "mean absolute error, gain in %", PAPER_NEITHER, "no mapping|mapping|gain %");
    paper_yardstick_of(run, table, (paper_yardstick){.over = "draws"});
    json_t *x = json_array(), *y = json_array();
    for (size_t k = 0; st == OKRA_OK && k < sizeof gammas / sizeof *gammas; k++) {
        json_array_append_new(x, json_real(gammas[k]));
        st = one_width(run, table, gammas[k], y);
    }
    json_t *figure = json_pack("{s:s, s:s, s:b, s:[{s:s, s:o, s:o}]}", "x_label",
                               "gamma of the inputs", "y_label", "gain %", "log_x", 1,
                               "series", "name", "HSIC, degrees 11", "x", x, "y", y);
    if (st != OKRA_OK) {
        json_decref(figure);
        return st;
    }
    return paper_figure(run, "twin-gain", "curve",
                        "Gain of the mapping against the width of the kernel", figure);
}

static okra_status run_entry(paper_run *run)
{
    paper_reading(run, "none of this is in the papers: data are drawn so that the reason "
                       "for which an idea can help is there (first column) or not "
                       "(second); 20 draws, 200 test points each, lambda of 1e-3 to 100 "
                       "and epsilon of 0.01 to 100 by five folds of the training pairs");
    paper_remark(run,
                 "operators: with covariance C = sum_j c_j u_j u_j' the problem falls "
                 "apart into a ridge regression a direction u_j of the outputs, with "
                 "lambda / c_j. That helps where few directions carry the signal and all "
                 "of them noise. Where all carry alike, C is a multiple of the identity. "
                 "Conditional covariance is what the inputs leave unexplained: noise at "
                 "a small epsilon, C at a large one");
    paper_remark(run, "twin kernels: a power of exp(-gamma d^2) is exp(-p gamma d^2), so "
                      "that a polynomial mixes a kernel with narrower ones. That helps "
                      "where gamma is too small by up to the degree, and has nothing to "
                      "offer where the width was chosen well");
    paper_remark(run, "margin: the squared loss pulls back points that are right by far, "
                      "and with them the boundary; the hinge leaves them alone. Without "
                      "such points the two are alike");
    okra_status st = operators(run);
    if (st == OKRA_OK) {
        st = twins(run);
    }
    return st == OKRA_OK ? margin(run) : st;
}

extern const paper_entry paper_when;
const paper_entry paper_when = {
    .name = "when-it-helps",
    .paper = "Beyond the papers",
    .title = "Drawn data on which operators, twin kernels and a margin help",
    .quick = PAPER_SECONDS,
    .full = PAPER_SECONDS,
    .run = run_entry,
};
