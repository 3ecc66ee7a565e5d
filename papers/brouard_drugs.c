/*
 * brouard_drugs.c: Brouard et al. 2016, sec. 6.2, Figures 6 and 7: activities of
 * molecules against 59 cell lines, transductive, models 0, 1 and 2 of related tasks.
 */
#include "protocol.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 59, REPEATS_MOST = 10, SHARES = 3, CURVES = 5, STEPS_MOST = 4 };

static const double shares[SHARES] = {0.05, 0.1, 0.2};
static const char *const share_names[SHARES] = {"5 %", "10 %", "20 %"};

/* What is fitted, a curve each against lambda2. */
static const struct {
    const char *name, *ky, *operator_text;
    double mu;
} curves[CURVES] = {
    {"model 0", "linear", "identity", 0},
    {"model 1, mu=1", "tasks(mu=1)", "identity", 1},
    {"model 2, mu=0.4", "linear", "graph:estimate(gamma=auto),mu=0.4", 0.4},
    {"model 2, mu=0.8", "linear", "graph:estimate(gamma=auto),mu=0.8", 0.8},
    {"model 2, mu=0.95", "linear", "graph:estimate(gamma=auto),mu=0.95", 0.95},
};

typedef struct task {
    okra_int n;
    double *K; /* n x n: Tanimoto of paths */
    double *Y; /* n x LINES: -log10(GI50)  */
    int repeats, steps;
    bool centred;               /* Y less the means of the labelled */
    double lambda2[STEPS_MOST]; /* 0: supervised */
    double mse[SHARES][CURVES][STEPS_MOST][REPEATS_MOST];
} task;

/* ---- data ----------------------------------------------------------------------------
 */

/* Rows and SMILES of the molecules that are active in a line and have a structure. */
static okra_status read_table(paper_run *run, okra_int most, char **smiles,
                              okra_int *rows, okra_int *count)
{
    char path[1024], line[4096];
    FILE *f = fopen(paper_path(run, "nci60/molecules.tsv", path, sizeof path), "r");
    if (!f) {
        return okra_fail(OKRA_EIO, "%s cannot be opened", path);
    }
    okra_status st = OKRA_OK;
    *count = 0;
    while (st == OKRA_OK && *count < most && fgets(line, sizeof line, f)) {
        char *fields[7] = {line}, *at = line;
        for (int k = 1; k < 7 && at; k++) {
            at = strchr(at, '\t');
            fields[k] = at ? ++at : NULL;
        }
        if (fields[6] && fields[2][0] == '1' && fields[6][0] != '-') {
            fields[6][strcspn(fields[6], "\r\n")] = '\0';
            rows[*count] = strtoll(fields[0], NULL, 10);
            smiles[*count] = strdup(fields[6]);
            st = smiles[*count] ? OKRA_OK : okra_fail(OKRA_EMEM, "no memory for SMILES");
            *count += st == OKRA_OK;
        }
    }
    fclose(f);
    return st;
}

static okra_status gram(paper_run *run, char **smiles, task *t)
{
    okra_data *molecules = NULL;
    okra_kernel *kernel = NULL;
    okra_status st = okra_data_smiles(paper_context(run), (const char *const *)smiles,
                                      t->n, &molecules);
    if (st == OKRA_OK) {
        st = okra_kernel_parse("paths(m=6) | tanimoto", &kernel);
    }
    if (st == OKRA_OK) {
        st = okra_gram(paper_context(run), kernel, molecules, NULL, t->K, t->n);
    }
    okra_kernel_free(kernel);
    okra_data_free(molecules);
    return st;
}

static okra_status load(paper_run *run, task *t)
{
    enum { TABLE_MOST = 5000 };
    okra_int most = paper_quick(run) ? 400 : TABLE_MOST, ld = 0;
    char **smiles = calloc(TABLE_MOST, sizeof *smiles);
    okra_int *rows = malloc(TABLE_MOST * sizeof *rows);
    okra_data *activity = NULL;
    okra_status st = smiles && rows ? OKRA_OK : okra_fail(OKRA_EMEM, "no memory");
    if (st == OKRA_OK) {
        st = read_table(run, most, smiles, rows, &t->n);
    }
    if (st == OKRA_OK) {
        st = paper_read(run, "nci60/activity.npy", &activity);
    }
    size_t n = (size_t)t->n;
    t->K = malloc((n * n + 1) * sizeof *t->K);
    t->Y = malloc((n * LINES + 1) * sizeof *t->Y);
    if (st == OKRA_OK && !(t->K && t->Y)) {
        st = okra_fail(OKRA_EMEM, "no memory for %zu molecules", n);
    }
    const double *values = st == OKRA_OK ? okra_data_values(activity, &ld) : NULL;
    for (okra_int i = 0; values && i < t->n * LINES; i++) {
        t->Y[i] = values[rows[i / LINES] * ld + i % LINES] / 10;
    }
    if (st == OKRA_OK) {
        st = gram(run, smiles, t);
    }
    for (okra_int i = 0; smiles && i < TABLE_MOST; i++) {
        free(smiles[i]);
    }
    free(smiles);
    free(rows);
    okra_data_free(activity);
    return st;
}

/* ---- one random choice of the labelled molecules -------------------------------------
 */

/* A permutation by splitmix64: the same on every machine. */
static void shuffle(uint64_t seed, okra_int n, okra_int *order)
{
    for (okra_int i = 0; i < n; i++) {
        order[i] = i;
    }
    for (okra_int i = n - 1; i > 0; i--) {
        uint64_t x = seed += 0x9e3779b97f4a7c15u;
        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
        x = (x ^ x >> 27) * 0x94d049bb133111ebu;
        okra_int j = (okra_int)((x ^ x >> 31) % (uint64_t)(i + 1)), swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
}

typedef struct draw {
    okra_int labelled;
    double *K, *Y, *self; /* permuted: labelled first */
} draw;

static okra_status draw_make(const task *t, okra_int labelled, uint64_t seed, draw *d)
{
    size_t n = (size_t)t->n;
    okra_int *order = malloc(n * sizeof *order);
    *d = (draw){labelled, malloc(n * n * sizeof(double)),
                malloc(n * LINES * sizeof(double)), malloc(n * sizeof(double))};
    if (!order || !d->K || !d->Y || !d->self) {
        free(order);
        return okra_fail(OKRA_EMEM, "no memory for %zu molecules", n);
    }
    shuffle(seed, t->n, order);
    for (okra_int i = 0; i < t->n; i++) {
        for (okra_int j = 0; j < t->n; j++) {
            d->K[i * t->n + j] = t->K[order[i] * t->n + order[j]];
        }
        memcpy(d->Y + i * LINES, t->Y + order[i] * LINES, LINES * sizeof *d->Y);
        d->self[i] = t->K[order[i] * (t->n + 1)];
    }
    free(order);
    for (okra_int j = 0; t->centred && j < LINES; j++) {
        double mean = 0;
        for (okra_int i = 0; i < labelled; i++) {
            mean += d->Y[i * LINES + j] / (double)labelled;
        }
        for (okra_int i = 0; i < t->n; i++) {
            d->Y[i * LINES + j] -= mean;
        }
    }
    return OKRA_OK;
}

static void draw_clear(draw *d)
{
    free(d->K);
    free(d->Y);
    free(d->self);
}

/* The mean of |phi(y) - h(x)|^2 over the unlabelled molecules. */
static okra_status one_fit(paper_run *run, const task *t, const draw *d, int curve,
                           double lambda2, double *mse)
{
    okra_int n = t->n, l = d->labelled, width = lambda2 > 0 ? n : l;
    char ky[64], op[96], smooth[64];
    snprintf(ky, sizeof ky, "ky=%s", curves[curve].ky);
    snprintf(op, sizeof op, "operator=%s", curves[curve].operator_text);
    snprintf(smooth, sizeof smooth, "lambda2=%.10g", lambda2);
    const char *const texts[] = {"kx=precomputed",
                                 ky,
                                 op,
                                 "lambda=1",
                                 lambda2 > 0 ? smooth : NULL,
                                 "graph=knn(k=50)|power(p=5)",
                                 NULL};
    okra_data *x = NULL, *y = NULL, *tx = NULL, *ty = NULL;
    okra_options *options = NULL;
    okra_model *model = NULL;
    okra_status st = okra_data_gram(d->K, width, width, n, NULL, &x);
    if (st == OKRA_OK) {
        st = okra_data_dense(d->Y, l, LINES, LINES, &y);
    }
    if (st == OKRA_OK) {
        st = okra_data_gram(d->K + l * n, n - l, width, n, d->self + l, &tx);
    }
    if (st == OKRA_OK) {
        st = okra_data_dense(d->Y + l * LINES, n - l, LINES, LINES, &ty);
    }
    if (st == OKRA_OK) {
        st = okra_fit_options(&options);
    }
    if (st == OKRA_OK) {
        st = paper_set_options(options, texts);
    }
    if (st == OKRA_OK) {
        st = okra_fit(paper_context(run), x, y, options, &model);
    }
    if (st == OKRA_OK) {
        st = okra_model_loss(paper_context(run), model, tx, ty, mse, NULL);
    }
    okra_model_free(model);
    okra_options_free(options);
    okra_data_free(x);
    okra_data_free(y);
    okra_data_free(tx);
    okra_data_free(ty);
    return st;
}

static okra_status one_draw(paper_run *run, task *t, int share, int repeat)
{
    double values[CURVES * STEPS_MOST];
    size_t count = CURVES * (size_t)t->steps;
    char key[64];
    draw d = {0};
    okra_int labelled = (okra_int)(shares[share] * (double)t->n + 0.5);
    okra_status st = OKRA_OK;
    snprintf(key, sizeof key, "%sshare %d repeat %d", t->centred ? "centred " : "", share,
             repeat);
    if (!paper_have(run, key, values, count)) {
        st = draw_make(t, labelled, paper_seed(run) * 1000 + (uint64_t)repeat, &d);
        for (size_t k = 0; st == OKRA_OK && k < count; k++) {
            st = one_fit(run, t, &d, (int)(k % CURVES), t->lambda2[k / CURVES],
                         &values[k]);
        }
        if (st == OKRA_OK) {
            st = paper_keep(run, key, values, count);
        }
        draw_clear(&d);
    }
    for (size_t k = 0; st == OKRA_OK && k < count; k++) {
        t->mse[share][k % CURVES][k / CURVES][repeat] = values[k];
    }
    return st;
}

/* ---- what is told --------------------------------------------------------------------
 */

static double mean_of(const task *t, int share, int curve, int step, double *sd)
{
    double mean;
    paper_moments(t->mse[share][curve][step], (size_t)t->repeats, &mean, sd);
    return mean;
}

static int best_step(const task *t, int share, int curve)
{
    int best = 0;
    double sd;
    for (int k = 1; k < t->steps; k++) {
        if (mean_of(t, share, curve, k, &sd) < mean_of(t, share, curve, best, &sd)) {
            best = k;
        }
    }
    return best;
}

static okra_status put_table(paper_run *run, const task *t, bool semi)
{
    okra_status st = OKRA_OK;
    char id[40], title[80];
    snprintf(id, sizeof id, "%s%s", semi ? "semi" : "supervised",
             t->centred ? "-centred" : "");
    snprintf(title, sizeof title, "Figure 7, %s%s",
             semi ? "the best lambda2 of each" : "without unlabelled molecules",
             t->centred ? ", centred activities" : "");
    int table = paper_table(run, id, title, "MSE, sum over 59 lines", PAPER_LOWER,
                            "5 %|10 %|20 %");
    for (int c = 0; c < CURVES; c++) {
        for (int s = 0; st == OKRA_OK && s < SHARES; s++) {
            int step = semi ? best_step(t, s, c) : 0;
            paper_cell cell = {NAN,  NAN,  t->mse[s][c][step], (size_t)t->repeats,
                               NULL, false};
            st = paper_put(run, table, curves[c].name, share_names[s], cell);
        }
    }
    return st;
}

/* Figure 6 along lambda2; the supervised fit stands at a hundredth of the least. */
static okra_status along_lambda2(paper_run *run, const task *t, int share)
{
    json_t *series = json_array();
    char id[40], title[80];
    for (int c = 0; c < CURVES; c++) {
        json_t *x = json_array(), *y = json_array(), *sds = json_array();
        for (int k = 0; k < t->steps; k++) {
            double sd, mean = mean_of(t, share, c, k, &sd);
            double at = k ? t->lambda2[k] : t->lambda2[1] / 100;
            json_array_append_new(x, json_real(at));
            json_array_append_new(y, json_real(mean));
            json_array_append_new(sds, json_real(sd));
        }
        json_array_append_new(series,
                              json_pack("{s:s, s:o, s:o, s:o}", "name", curves[c].name,
                                        "x", x, "y", y, "sd", sds));
    }
    snprintf(id, sizeof id, "lambda2-%d%s", share, t->centred ? "-centred" : "");
    snprintf(title, sizeof title, "Figures 6 and 7, %s labelled%s", share_names[share],
             t->centred ? ", centred activities" : "");
    return paper_figure(run, id, "curve", title,
                        json_pack("{s:s, s:s, s:b, s:o}", "x_label",
                                  "lambda2 (leftmost: supervised)", "y_label", "MSE",
                                  "log_x", 1, "series", series));
}

/* Figure 6 along mu, at the best lambda2. The error of model 1 is e'(mu M + (1 - mu) I)e
 * of the same e: a straight line. */
static okra_status along_mu(paper_run *run, const task *t, int share)
{
    json_t *series = json_array();
    char id[40], title[80];
    for (int model = 1; model < 3; model++) {
        static const int members[2][4] = {{0, 1, -1, -1}, {0, 2, 3, 4}};
        json_t *x = json_array(), *y = json_array();
        for (int k = 0; k < 4 && members[model - 1][k] >= 0; k++) {
            int c = members[model - 1][k];
            double sd;
            json_array_append_new(x, json_real(curves[c].mu));
            json_array_append_new(
                y, json_real(mean_of(t, share, c, best_step(t, share, c), &sd)));
        }
        json_array_append_new(series, json_pack("{s:s, s:o, s:o}", "name",
                                                model == 1 ? "model 1" : "model 2", "x",
                                                x, "y", y));
    }
    snprintf(id, sizeof id, "mu-%d%s", share, t->centred ? "-centred" : "");
    snprintf(title, sizeof title, "Figure 6, %s labelled%s", share_names[share],
             t->centred ? ", centred activities" : "");
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
                       "own with three repeats at most, less the mean of the labelled "
                       "molecules in each line");
    paper_deviation(run,
                    "%lld molecules that are active in a line and whose SMILES are "
                    "known, of the paper's 2303; paths of at most 6 bonds as okra counts "
                    "them",
                    (long long)t->n);
    paper_deviation(run, "lambda2 on a short grid; mu of model 2 ends at 0.95, as A_2 is "
                         "singular at 1");
    paper_remark(run, "figures have no printed numbers, so no cell has a verdict");
    paper_remark(
        run, "the weights of ridge with the identity operator do not depend on "
             "the output kernel: in the units of y model 1 predicts what model "
             "0 does, for every mu. Its MSE is that of model 0 in the metric "
             "A_1, e'A_1 e, linear in mu, and cannot be compared with the MSE "
             "of models 0 and 2, as Figure 7 does. Errors of related lines "
             "mostly have one sign, so it grew with mu on 400 molecules; in the paper it "
             "falls, which is not explained");
    paper_remark(run, "what model 2 gains on the activities as they are was gone, on 400 "
                      "molecules, when these "
                      "are centred: with lambda1 = 1 predictions shrink towards 0, and "
                      "model 2 shrinks the common level of all lines less");
}

static okra_status measure(paper_run *run, task *t)
{
    okra_status st = OKRA_OK;
    for (int s = 0; s < SHARES; s++) {
        for (int r = 0; st == OKRA_OK && r < t->repeats; r++) {
            st = one_draw(run, t, s, r);
        }
    }
    for (int semi = 0; semi < 2 && st == OKRA_OK; semi++) {
        st = put_table(run, t, semi);
    }
    for (int s = 0; s < SHARES && st == OKRA_OK; s++) {
        st = along_lambda2(run, t, s);
        if (st == OKRA_OK) {
            st = along_mu(run, t, s);
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
    okra_status st = load(run, t);
    if (st == OKRA_OK) {
        tell(run, t);
        st = measure(run, t);
    }
    if (st == OKRA_OK) {
        t->centred = true;
        t->repeats = t->repeats < 3 ? t->repeats : 3;
        st = measure(run, t);
    }
    free(t->K);
    free(t->Y);
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
