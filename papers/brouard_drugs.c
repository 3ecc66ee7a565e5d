/*
 * brouard_drugs.c: Brouard et al. 2016, sec. 6.2, Figures 6 and 7: activities of
 * molecules against 59 cell lines, transductive, models 0, 1 and 2 of related tasks.
 */
#include "nested.h"
#include "sets/drugs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REPEATS_MOST = 10, SHARES = 3, STEPS_MOST = 4 };
enum { MODEL0, MODEL1, MODEL1_SCALED, MODEL2, CURVES = MODEL2 + DRUG_MUS };

static const double shares[SHARES] = {0.05, 0.1, 0.2};
static const char *const share_names[SHARES] = {"5 %", "10 %", "20 %"};

/* A curve each against lambda2. */
static const struct {
    const char *name;
    double mu;
} curves[CURVES] = {
    {"model 0", 0},
    {"model 1, mu=1", 1},
    {"model 1, mu=1, M scaled", 1},
    {"model 2, mu=0.4", DRUG_MU_1},
    {"model 2, mu=0.8", DRUG_MU_2},
    {"model 2, mu=0.95", DRUG_MU_3},
};

/* Activities as they are, and less the means of the labelled molecules. */
static const char *const form_ids[FORMS] = {"", "-centred"};
static const char *const form_titles[FORMS] = {"", ", centred activities"};

typedef struct task {
    drugs all;
    int repeats, steps;
    double lambda2[STEPS_MOST]; /* 0: supervised */
    double mse[FORMS][SHARES][CURVES][STEPS_MOST][REPEATS_MOST];
    double own[SHARES][REPEATS_MOST]; /* what okra chooses without options */
} task;

/* e'Me, with M scaled to D^-1/2 M D^-1/2, D_ii = sum_j M_ij, where asked for. */
static double in_metric(const double *M, bool scaled, const double *e)
{
    double sum = 0, root[LINES];
    for (int i = 0; i < LINES; i++) {
        double degree = 0;
        for (int j = 0; j < LINES; j++) {
            degree += M[i * LINES + j];
        }
        root[i] = scaled ? 1 / sqrt(degree) : 1;
    }
    for (int i = 0; i < LINES; i++) {
        for (int j = 0; j < LINES; j++) {
            sum += M[i * LINES + j] * root[i] * root[j] * e[i] * e[j];
        }
    }
    return sum;
}

/* Means over the unlabelled molecules of what each curve shows; mse: FORMS x CURVES. */
static void errors(const task *t, const drug_draw *d, const double *H, double *mse)
{
    okra_int l = d->labelled;
    double count = (double)(t->all.n - l);
    memset(mse, 0, FORMS * CURVES * sizeof *mse);
    for (okra_int i = l; i < t->all.n; i++) {
        for (int b = 0; b < BLOCKS; b++) {
            double e[LINES], square = 0, *to = mse + b / PARTS * CURVES;
            for (int j = 0; j < LINES; j++) {
                e[j] =
                    H[(i - l) * WIDTH + b * LINES + j] - d->Y[i * WIDTH + b * LINES + j];
                square += e[j] * e[j] / count;
            }
            to[b % PARTS ? MODEL2 + b % PARTS - 1 : MODEL0] += square;
            for (int scaled = 0; b % PARTS == 0 && scaled < 2; scaled++) {
                to[scaled ? MODEL1_SCALED : MODEL1] +=
                    in_metric(d->M[b / PARTS], scaled, e) / count;
            }
        }
    }
}

/* All models at once: one decomposition serves every block. */
static okra_status one_fit(paper_run *run, const task *t, const drug_draw *d,
                           double lambda2, double *mse)
{
    okra_int n = t->all.n, l = d->labelled, width = lambda2 > 0 ? n : l, rows, cols;
    char op[sizeof d->file + 32], text[64];
    snprintf(op, sizeof op, "operator=matrix:%s", d->file);
    snprintf(text, sizeof text, "lambda2=%.10g", lambda2);
    const char *const texts[] = {"kx=precomputed",
                                 "ky=linear",
                                 op,
                                 "lambda=1",
                                 lambda2 > 0 ? text : NULL,
                                 "graph=knn(k=50)|power(p=5)",
                                 NULL};
    okra_predict_request request = {OKRA_SIZED(okra_predict_request), .embedding = true};
    okra_data *x = NULL, *y = NULL, *tx = NULL;
    okra_options *fit = NULL, *none = NULL;
    okra_model *model = NULL;
    okra_prediction *p = NULL;
    okra_status st = okra_data_gram(d->K, width, width, n, NULL, &x);
    if (st == OKRA_OK) {
        st = okra_data_dense(d->Y, l, WIDTH, WIDTH, &y);
    }
    if (st == OKRA_OK) {
        st = okra_data_gram(d->K + l * n, n - l, width, n, d->self + l, &tx);
    }
    if (st == OKRA_OK) {
        st = okra_fit_options(&fit);
    }
    if (st == OKRA_OK) {
        st = paper_set_options(fit, texts);
    }
    if (st == OKRA_OK) {
        st = okra_fit(paper_context(run), x, y, fit, &model);
    }
    if (st == OKRA_OK) {
        st = okra_predict_options(&none);
    }
    if (st == OKRA_OK) {
        st = okra_options_set(none, "decode", "none");
    }
    if (st == OKRA_OK) {
        st = okra_predict(paper_context(run), model, tx, none, &request, &p);
    }
    if (st == OKRA_OK) {
        errors(t, d, okra_prediction_embedding(p, &rows, &cols), mse);
    }
    okra_prediction_free(p);
    okra_model_free(model);
    okra_options_free(none);
    okra_options_free(fit);
    okra_data_free(x);
    okra_data_free(y);
    okra_data_free(tx);
    return st;
}

static okra_status one_draw(paper_run *run, task *t, int share, int repeat)
{
    enum { EACH = FORMS * CURVES };
    double values[STEPS_MOST * EACH];
    size_t count = EACH * (size_t)t->steps;
    char key[64];
    drug_draw d = {0};
    okra_int labelled = (okra_int)(shares[share] * (double)t->all.n + 0.5);
    okra_status st = OKRA_OK;
    snprintf(key, sizeof key, "share %d repeat %d", share, repeat);
    if (!paper_have(run, key, values, count)) {
        st = drug_draw_make(run, &t->all, labelled,
                            paper_seed(run) * 1000 + (uint64_t)repeat, &d);
        for (int k = 0; st == OKRA_OK && k < t->steps; k++) {
            st = one_fit(run, t, &d, t->lambda2[k], values + k * EACH);
        }
        if (st == OKRA_OK) {
            st = paper_keep(run, key, values, count);
        }
        drug_draw_clear(&d);
    }
    for (size_t k = 0; st == OKRA_OK && k < count; k++) {
        size_t within = k % EACH;
        t->mse[within / CURVES][share][within % CURVES][k / EACH][repeat] = values[k];
    }
    return st;
}

/* The same error of what okra chooses on the labelled molecules without options. */
static okra_status own_draw(paper_run *run, task *t, int share, int repeat)
{
    char key[64];
    double *mse = &t->own[share][repeat];
    drug_draw d = {0};
    paper_pairs train = {NULL, NULL}, test = {NULL, NULL};
    okra_int n = t->all.n, l = (okra_int)(shares[share] * (double)n + 0.5);
    snprintf(key, sizeof key, PAPER_OWN ", share %d repeat %d", share, repeat);
    if (paper_have(run, key, mse, 1)) {
        return OKRA_OK;
    }
    okra_status st =
        drug_draw_make(run, &t->all, l, paper_seed(run) * 1000 + (uint64_t)repeat, &d);
    if (st == OKRA_OK) {
        st = okra_data_gram(d.K, l, l, n, NULL, &train.x);
    }
    if (st == OKRA_OK) {
        st = okra_data_gram(d.K + l * n, n - l, l, n, d.self + l, &test.x);
    }
    if (st == OKRA_OK) {
        st = okra_data_dense(d.Y, l, LINES, WIDTH, &train.y);
    }
    if (st == OKRA_OK) {
        st = okra_data_dense(d.Y + l * WIDTH, n - l, LINES, WIDTH, &test.y);
    }
    if (st == OKRA_OK) {
        st = paper_own(run, &train, &test, "mse", mse);
        *mse *= LINES; /* a sum over the lines, as the others */
    }
    paper_pairs_clear(&train);
    paper_pairs_clear(&test);
    drug_draw_clear(&d);
    return st == OKRA_OK ? paper_keep(run, key, mse, 1) : st;
}

/* ---- what is told ---- */

static double mean_of(const task *t, int form, int share, int curve, int step, double *sd)
{
    double mean;
    paper_moments(t->mse[form][share][curve][step], (size_t)t->repeats, &mean, sd);
    return mean;
}

static int best_step(const task *t, int form, int share, int curve)
{
    int best = 0;
    double sd;
    for (int k = 1; k < t->steps; k++) {
        if (mean_of(t, form, share, curve, k, &sd) <
            mean_of(t, form, share, curve, best, &sd)) {
            best = k;
        }
    }
    return best;
}

static okra_status put_table(paper_run *run, const task *t, int form, bool semi)
{
    okra_status st = OKRA_OK;
    char id[40], title[80];
    snprintf(id, sizeof id, "%s%s", semi ? "semi" : "supervised", form_ids[form]);
    snprintf(title, sizeof title, "Figure 7, %s%s",
             semi ? "the best lambda2 of each by test error, as printed"
                  : "without unlabelled molecules",
             form_titles[form]);
    int table = paper_table(run, id, title, "MSE, sum over 59 lines", PAPER_LOWER,
                            "5 %|10 %|20 %");
    for (int c = 0; c < CURVES; c++) {
        for (int s = 0; st == OKRA_OK && s < SHARES; s++) {
            int step = semi ? best_step(t, form, s, c) : 0;
            paper_cell cell = {
                NAN,  NAN,           t->mse[form][s][c][step], (size_t)t->repeats,
                NULL, PAPER_TOGETHER};
            st = paper_put(run, table, curves[c].name, share_names[s], cell);
        }
    }
    for (int s = 0; st == OKRA_OK && !semi && s < SHARES; s++) {
        paper_cell cell = {NAN, NAN, t->own[s], (size_t)t->repeats, NULL, PAPER_TOGETHER};
        st = paper_put(run, table, PAPER_OWN, share_names[s], cell);
    }
    return st;
}

/* Figure 6 along lambda2; the supervised fit stands at a hundredth of the least. */
static okra_status along_lambda2(paper_run *run, const task *t, int form, int share)
{
    json_t *series = json_array();
    char id[40], title[80];
    for (int c = 0; c < CURVES; c++) {
        if (c == MODEL1) { /* another scale */
            continue;
        }
        json_t *x = json_array(), *y = json_array(), *sds = json_array();
        for (int k = 0; k < t->steps; k++) {
            double sd, mean = mean_of(t, form, share, c, k, &sd);
            double at = k ? t->lambda2[k] : t->lambda2[1] / 100;
            json_array_append_new(x, json_real(at));
            json_array_append_new(y, json_real(mean));
            json_array_append_new(sds, json_real(sd));
        }
        json_array_append_new(series,
                              json_pack("{s:s, s:o, s:o, s:o}", "name", curves[c].name,
                                        "x", x, "y", y, "sd", sds));
    }
    snprintf(id, sizeof id, "lambda2-%d%s", share, form_ids[form]);
    snprintf(title, sizeof title, "Figures 6 and 7, %s labelled%s", share_names[share],
             form_titles[form]);
    return paper_figure(run, id, "curve", title,
                        json_pack("{s:s, s:s, s:b, s:o}", "x_label",
                                  "lambda2 (leftmost: supervised)", "y_label", "MSE",
                                  "log_x", 1, "series", series));
}

/* Figure 6 along mu, at the best lambda2. The error of model 1 is e'(mu M + (1 - mu) I)e
 * of the same e: a straight line. */
static okra_status along_mu(paper_run *run, const task *t, int form, int share)
{
    json_t *series = json_array();
    char id[40], title[80];
    static const char *const models[3] = {"model 1", "model 1, M scaled", "model 2"};
    static const int members[3][4] = {
        {MODEL0, MODEL1, -1, -1},
        {MODEL0, MODEL1_SCALED, -1, -1},
        {MODEL0, MODEL2, MODEL2 + 1, MODEL2 + 2},
    };
    for (int model = 1; model < 3; model++) { /* model 1 as printed has another scale */
        json_t *x = json_array(), *y = json_array();
        for (int k = 0; k < 4 && members[model][k] >= 0; k++) {
            int c = members[model][k];
            double sd;
            json_array_append_new(x, json_real(curves[c].mu));
            json_array_append_new(
                y,
                json_real(mean_of(t, form, share, c, best_step(t, form, share, c), &sd)));
        }
        json_array_append_new(
            series, json_pack("{s:s, s:o, s:o}", "name", models[model], "x", x, "y", y));
    }
    snprintf(id, sizeof id, "mu-%d%s", share, form_ids[form]);
    snprintf(title, sizeof title, "Figure 6, %s labelled%s", share_names[share],
             form_titles[form]);
    return paper_figure(run, id, "curve", title,
                        json_pack("{s:s, s:s, s:o}", "x_label", "mu", "y_label", "MSE",
                                  "series", series));
}

static void tell(paper_run *run, const task *t)
{
    paper_reading(run,
                  "the labelled share is of all molecules, the others are unlabelled "
                  "and are predicted; lambda1 = 1, W of 50 nearest neighbours, its "
                  "Laplacian to the power 5");
    paper_reading(run,
                  "gamma of the task graph maximises the entropy of the histogram of "
                  "its weights (the paper: an information criterion)");
    paper_reading(run,
                  "MSE is the mean of |phi(y) - h(x)|^2 in the output feature space, "
                  "as the paper defines it");
    paper_reading(run, "activities are -log10(GI50) as they are, and, in tables of their "
                       "own, less the mean of the labelled molecules in each line");
    paper_deviation(run,
                    "%lld molecules that are active in a line and whose SMILES can be "
                    "read, of the paper's 2303; paths of at most 6 bonds as okra counts "
                    "them",
                    (long long)t->all.n);
    paper_deviation(run, "lambda2 on a short grid; mu of model 2 ends at 0.95, as A_2 is "
                         "singular at 1");
    paper_remark(run, "figures have no printed numbers, so no cell has a verdict");
    paper_remark(run,
                 "the weights of ridge with the identity operator do not depend on "
                 "the output kernel: in the units of y model 1 predicts what model 0 "
                 "does, for every mu. With phi(y) = sqrt(A_1) y its MSE, as the "
                 "paper defines it, is that of the same errors e in another metric, "
                 "e'A_1 e, linear in mu, and cannot be compared with the MSE of "
                 "models 0 and 2, as Figure 7 does");
    paper_remark(run,
                 "errors of related lines mostly have one sign, so that e'A_1 e with "
                 "M as printed grows with mu, many times over; in the paper it "
                 "falls. It falls here too if M is scaled to D^-1/2 M D^-1/2, whose "
                 "largest eigenvalue is 1 (rows \"M scaled\"): perhaps the paper's M "
                 "was. Either way nothing is gained in the prediction");
}

static okra_status show(paper_run *run, const task *t, int form)
{
    okra_status st = OKRA_OK;
    for (int semi = 0; semi < 2 && st == OKRA_OK; semi++) {
        st = put_table(run, t, form, semi);
    }
    for (int s = 0; s < SHARES && st == OKRA_OK; s++) {
        st = along_lambda2(run, t, form, s);
        if (st == OKRA_OK) {
            st = along_mu(run, t, form, s);
        }
    }
    return st;
}

static okra_status run_entry(paper_run *run)
{
    bool quick = paper_quick(run);
    task *t = calloc(1, sizeof *t);
    if (!t) {
        return okra_fail(OKRA_EMEM, "no memory for the results");
    }
    t->repeats = quick ? 2 : REPEATS_MOST;
    t->steps = quick ? 3 : STEPS_MOST;
    for (int k = 1; k < t->steps; k++) {
        t->lambda2[k] = pow(100, k - 5); /* 1e-8, 1e-6, 1e-4 */
    }
    okra_status st = drugs_load(run, &t->all);
    if (st == OKRA_OK) {
        tell(run, t);
    }
    for (int r = 0; st == OKRA_OK && r < t->repeats * SHARES; r++) {
        st = one_draw(run, t, r % SHARES, r / SHARES);
        if (st == OKRA_OK) {
            st = own_draw(run, t, r % SHARES, r / SHARES);
        }
    }
    for (int form = 0; st == OKRA_OK && form < FORMS; form++) {
        st = show(run, t, form);
    }
    drugs_clear(&t->all);
    free(t);
    return st;
}

const paper_entry paper_brouard_drugs = {
    .name = "brouard-drugs",
    .paper = "Brouard et al. 2016",
    .title = "Figures 6 and 7: activities of molecules as related tasks",
    .files = "nci60/molecules.tsv nci60/activity.npy",
    .original = "NCI-60 screen, No-Zero-Active",
    .quick = PAPER_SECONDS,
    .full = PAPER_HOUR,
    .run = run_entry,
};
