/*
 * transductive.c: the protocol of Brouard et al. 2016 for links of nodes whose
 * descriptions are known while learning.
 */
#include "transductive.h"
#include "okra/more/link.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double shares[SHARES] = {0.05, 0.1, 0.2};
static const char *const share_names[SHARES] = {"5 %", "10 %", "20 %"};
static const char *const names[ROWS] = {
    "EM", "PKMR", "IOKR", "IOKR, semi-supervised", "naive", NETWORK_OWN};
enum { MARGIN_TEXT = METHODS };
static const char *const method_texts[METHODS + 1] = {"method=em", "method=pkmr",
                                                      "method=ridge", "method=margin"};
static const double lambdas[LAMBDAS] = {1e-3, 1e-2, 1e-1};
static const double smooth[SMOOTH] = {0, 1e-4, 1e-3, 1e-2, 0.1, 1}; /* 0: supervised */

#define PENALTY "graph=knn(share=0.1) | diffusion(beta=1)"

/* Options of a method: kernel of a width, lambda, lambda2. */
typedef struct setting {
    char kx[64], lambda[32], lambda2[32];
    const char *list[8];
} setting;

static void set(const study *s, int method, int width, double lambda, double lambda2,
                setting *out)
{
    snprintf(out->kx, sizeof out->kx, "kx=precomputed");
    if (s->distance > 0) {
        snprintf(out->kx, sizeof out->kx, "kx=precomputed | rbf(gamma=%.10g)",
                 s->widths[width] / s->distance);
    }
    snprintf(out->lambda, sizeof out->lambda, "lambda=%.10g", lambda);
    snprintf(out->lambda2, sizeof out->lambda2, "lambda2=%.10g", lambda2);
    const char *list[] = {method_texts[method],
                          out->kx,
                          out->lambda,
                          method == EM ? "m-step=yes" : NULL,
                          NULL,
                          NULL};
    if (lambda2 > 0) {
        list[3] = out->lambda2;
        list[4] = PENALTY;
    }
    memcpy(out->list, list, sizeof list);
}

/* The nodes of one repeat: training ones in a random order, the labelled first. */
typedef struct draw {
    network net;
    double *gram;
    okra_int *order, labelled;
    okra_int *whole, training; /* all nodes of the study, the training ones first */
} draw;

/* The choice with the largest area. */
static size_t best_of(double (*auc)[AREAS], size_t count, int area)
{
    size_t best = 0;
    for (size_t c = 1; c < count; c++) {
        best = auc[c][area] > auc[best][area] ? c : best;
    }
    return best;
}

/* EM and PKMR: width and lambda by five folds of the labelled nodes, for each area. */
static okra_status complete(paper_run *run, const study *s, const draw *d, int method,
                            result *out)
{
    setting settings[WIDTHS * LAMBDAS];
    const char *const *lists[WIDTHS * LAMBDAS];
    double auc[WIDTHS * LAMBDAS][AREAS], final[AREAS];
    size_t count = (size_t)s->width_count * LAMBDAS, used = count;
    for (size_t c = 0; c < count; c++) {
        set(s, method, (int)(c / LAMBDAS), lambdas[c % LAMBDAS], 0, &settings[c]);
        lists[c] = settings[c].list;
    }
    okra_status st = network_try(run, &d->net, d->order, d->labelled, lists, count, FOLDS,
                                 0, FOLDS, auc);
    for (int a = 0; st == OKRA_OK && a < AREAS; a++) {
        size_t best = best_of(auc, count, a);
        if (best != used) {
            used = best;
            st = network_score(run, &d->net, d->order, d->labelled, lists[best],
                               OKRA_LINK_ALL, final, &out->seconds[method]);
        }
        out->area[method][a] = final[a];
    }
    return st;
}

/* `count` settings by five folds of the labelled nodes. */
static okra_status try_all(paper_run *run, const draw *d, const setting *settings,
                           size_t count, double (*auc)[AREAS])
{
    const char *const *lists[WIDTHS * LAMBDAS];
    for (size_t c = 0; c < count; c++) {
        lists[c] = settings[c].list;
    }
    return network_try(run, &d->net, d->order, d->labelled, lists, count, FOLDS, 0, FOLDS,
                       auc);
}

/* Width and lambda of IOKR by five folds of the labelled nodes, for each area, then
 * lambda2. */
static okra_status choose_ridge(paper_run *run, const study *s, const draw *d,
                                setting chosen[AREAS])
{
    enum { CHOICES = WIDTHS * LAMBDAS };
    setting settings[CHOICES];
    double auc[CHOICES][AREAS];
    size_t count = (size_t)s->width_count * LAMBDAS, best[AREAS] = {0, 0};
    for (size_t c = 0; c < count; c++) {
        set(s, IOKR, (int)(c / LAMBDAS), lambdas[c % LAMBDAS], 0, &settings[c]);
    }
    okra_status st = try_all(run, d, settings, count, auc);
    for (int a = 0; st == OKRA_OK && a < AREAS; a++) {
        best[a] = best_of(auc, count, a);
    }
    for (int a = 0; st == OKRA_OK && a < AREAS; a++) {
        int width = (int)(best[a] / LAMBDAS);
        double lambda = lambdas[best[a] % LAMBDAS];
        for (int k = 0; k < SMOOTH; k++) {
            set(s, IOKR, width, lambda, smooth[k], &settings[k]);
        }
        if (a == 0 || best[a] != best[0]) {
            st = try_all(run, d, settings, SMOOTH, auc);
        }
        set(s, IOKR, width, lambda, smooth[best_of(auc, SMOOTH, a)], &chosen[a]);
    }
    return st;
}

/* IOKR with the parameters chosen for each area, asked for unlabelled and for test nodes;
 * and along lambda2 with the width and lambda that are chosen for AUC-ROC. */
static okra_status regress(paper_run *run, const study *s, const draw *d, result *out)
{
    setting chosen[AREAS], o;
    double final[AREAS];
    okra_status st = choose_ridge(run, s, d, chosen);
    for (int a = 0; st == OKRA_OK && a < AREAS; a++) {
        st = network_score(run, &d->net, d->order, d->labelled, chosen[a].list,
                           OKRA_LINK_ALL, final, &out->seconds[IOKR]);
        out->area[IOKR][a] = final[a];
        if (st == OKRA_OK) {
            st = network_unseen(run, &s->net, d->whole, d->labelled, d->training,
                                chosen[a].list, final);
        }
        out->area[UNSEEN][a] = final[a];
    }
    for (int k = 0; st == OKRA_OK && s->margin && k < SMOOTH; k++) {
        o = chosen[ROC];
        o.list[0] = method_texts[IOKR];
        o.list[1] = o.kx;
        o.list[2] = o.lambda;
        snprintf(o.lambda2, sizeof o.lambda2, "lambda2=%.10g", smooth[k]);
        o.list[3] = smooth[k] > 0 ? o.lambda2 : NULL;
        o.list[4] = smooth[k] > 0 ? PENALTY : NULL;
        o.list[5] = NULL;
        st = network_score(run, &d->net, d->order, d->labelled, o.list, OKRA_LINK_ALL,
                           out->curve[RIDGE][k], NULL);
    }
    return st;
}

/* Two nodes are linked where their own kernel value is large; the first width. */
static okra_status naive(paper_run *run, const study *s, const draw *d, result *out)
{
    setting o;
    set(s, IOKR, 0, 1, 0, &o);
    const char *const list[] = {"method=naive", o.kx, NULL};
    return network_score(run, &d->net, d->order, d->labelled, list, OKRA_LINK_ALL,
                         out->area[NAIVE], NULL);
}

/* The hinge loss at every lambda2; width and lambda by five folds of the labelled nodes,
 * AUC-ROC + AUC-PR, without the others. */
static okra_status separate(paper_run *run, const study *s, const draw *d, result *out)
{
    setting settings[WIDTHS * LAMBDAS], o;
    const char *const *lists[WIDTHS * LAMBDAS];
    double auc[WIDTHS * LAMBDAS][AREAS];
    size_t count = (size_t)s->width_count * LAMBDAS, best = 0;
    for (size_t c = 0; c < count; c++) {
        set(s, MARGIN_TEXT, (int)(c / LAMBDAS), lambdas[c % LAMBDAS], 0, &settings[c]);
        lists[c] = settings[c].list;
    }
    okra_status st = network_try(run, &d->net, d->order, d->labelled, lists, count, FOLDS,
                                 0, FOLDS, auc);
    for (size_t c = 1; st == OKRA_OK && c < count; c++) {
        best = auc[c][ROC] + auc[c][PR] > auc[best][ROC] + auc[best][PR] ? c : best;
    }
    for (int k = 0; st == OKRA_OK && k < SMOOTH; k++) {
        set(s, MARGIN_TEXT, (int)(best / LAMBDAS), lambdas[best % LAMBDAS], smooth[k],
            &o);
        st = network_score(run, &d->net, d->order, d->labelled, o.list, OKRA_LINK_ALL,
                           out->curve[MARGIN][k], NULL);
    }
    return st;
}

static okra_status one_draw(paper_run *run, const study *s, int share, int repeat,
                            result *out)
{
    enum { VALUES = sizeof(result) / sizeof(double) };
    char key[64];
    draw d = {.training = s->net.nodes - s->test};
    double values[VALUES];
    snprintf(key, sizeof key, "share %d repeat %d", share, repeat);
    if (paper_have(run, key, values, VALUES)) {
        memcpy(out, values, sizeof values);
        return OKRA_OK;
    }
    *out = (result){.seconds = {0}};
    okra_status st =
        network_shuffle(paper_seed(run) + 1 + (uint64_t)repeat, s->net.nodes, &d.whole);
    if (st == OKRA_OK) {
        st = network_part(&s->net, d.whole, d.training, &d.net, &d.gram);
    }
    if (st == OKRA_OK) {
        d.order = malloc((size_t)(d.training + 1) * sizeof *d.order);
        st = d.order ? OKRA_OK : okra_fail(OKRA_EMEM, "no memory for an order of nodes");
    }
    for (okra_int i = 0; st == OKRA_OK && i < d.training; i++) {
        d.order[i] = i; /* its nodes are in that order already */
    }
    d.labelled = (okra_int)(shares[share] * (double)d.training + 0.5);
    if (st == OKRA_OK) {
        st = complete(run, s, &d, EM, out);
    }
    if (st == OKRA_OK) {
        st = complete(run, s, &d, PKMR, out);
    }
    if (st == OKRA_OK) {
        st = regress(run, s, &d, out);
    }
    if (st == OKRA_OK) {
        st = naive(run, s, &d, out);
    }
    if (st == OKRA_OK) {
        st = network_own(run, &d.net, d.order, d.labelled, OKRA_LINK_ALL, out->area[OWN]);
    }
    if (st == OKRA_OK && s->margin) {
        st = separate(run, s, &d, out);
    }
    network_clear(&d.net);
    free(d.gram);
    free(d.order);
    free(d.whole);
    memcpy(values, out, sizeof values);
    return st == OKRA_OK ? paper_keep(run, key, values, VALUES) : st;
}

/* ---- what is told ---- */

static okra_status put_areas(paper_run *run, const study *s, result results[][REPEATS])
{
    okra_status st = OKRA_OK;
    static const char *const titles[AREAS] = {"AUC-ROC, per cent", "AUC-PR, per cent"};
    for (int a = 0; a < AREAS; a++) {
        int table =
            paper_table(run, a == ROC ? "auc-roc" : "auc-pr", titles[a],
                        a == ROC ? "AUC-ROC" : "AUC-PR", PAPER_HIGHER, "5 %|10 %|20 %");
        paper_yardstick_of(
            run, table,
            (paper_yardstick){.count = REPEATS, .over = "choices of labelled nodes"});
        for (int k = 0; st == OKRA_OK && k < ROWS * SHARES; k++) {
            int m = k / SHARES, p = k % SHARES;
            double values[REPEATS];
            for (int r = 0; r < s->repeats; r++) {
                values[r] = results[p][r].area[m][a];
            }
            bool printed = m < NAIVE;
            paper_cell cell = {printed ? s->printed[m][a][p][0] : (double)NAN,
                               printed ? s->printed[m][a][p][1] : (double)NAN,
                               values,
                               (size_t)s->repeats,
                               printed ? s->why : NULL,
                               printed ? PAPER_APART : PAPER_TOGETHER};
            st = paper_put(run, table, names[m], share_names[p], cell);
        }
    }
    return st;
}

okra_status transductive_seconds(paper_run *run, const study *s,
                                 result results[][REPEATS],
                                 const double printed[METHODS][SHARES][2])
{
    okra_status st = OKRA_OK;
    int table = paper_table(run, "t7", "Table 7: one repeat, parameters given", "seconds",
                            PAPER_LOWER, "5 %|10 %|20 %");
    for (int k = 0; st == OKRA_OK && k < METHODS * SHARES; k++) {
        int m = k / SHARES, p = k % SHARES;
        double values[REPEATS];
        for (int r = 0; r < s->repeats; r++) {
            values[r] = results[p][r].seconds[m];
        }
        paper_cell cell = {printed[m][p][0],   printed[m][p][1],  values,
                           (size_t)s->repeats, "another machine", PAPER_APART};
        st = paper_put(run, table, names[m], share_names[p], cell);
    }
    return st;
}

/* Figure 5: an area against lambda2, a curve a share. */
okra_status transductive_curves(paper_run *run, const study *s, result results[][REPEATS],
                                int loss, int area)
{
    static const char *const losses[LOSSES] = {"ridge", "margin"};
    const char *name = area == ROC ? "AUC-ROC" : "AUC-PR";
    char id[64], title[80];
    json_t *series = json_array();
    snprintf(id, sizeof id, "lambda2-%s-%s", losses[loss], area == ROC ? "roc" : "pr");
    snprintf(title, sizeof title, "Figure 5, IOKR-%s: %s", losses[loss], name);
    for (int p = 0; p < SHARES; p++) {
        json_t *x = json_array(), *y = json_array(), *sds = json_array();
        for (int k = 0; k < SMOOTH; k++) {
            double values[REPEATS], mean, sd;
            for (int r = 0; r < s->repeats; r++) {
                values[r] = results[p][r].curve[loss][k][area];
            }
            paper_moments(values, (size_t)s->repeats, &mean, &sd);
            json_array_append_new(x, json_real(k ? smooth[k] : smooth[1] / 100));
            json_array_append_new(y, json_real(mean));
            json_array_append_new(sds, json_real(sd));
        }
        json_array_append_new(series,
                              json_pack("{s:s+, s:o, s:o, s:o}", "name", share_names[p],
                                        " labelled", "x", x, "y", y, "sd", sds));
    }
    return paper_figure(run, id, "curve", title,
                        json_pack("{s:s, s:s, s:b, s:o}", "x_label",
                                  "lambda2 (leftmost: supervised)", "y_label", name,
                                  "log_x", 1, "series", series));
}

static void say_protocol(paper_run *run, const study *s)
{
    paper_reading(run,
                  "%lld of the %lld nodes are the paper's test set, unseen while "
                  "learning; areas of the transductive rows are over all pairs of the "
                  "others that are not both labelled, those of the semi-supervised row "
                  "over pairs of a test node with a labelled or another test node",
                  (long long)s->test, (long long)s->net.nodes);
    paper_reading(run,
                  "EM with its m-step, of the scale of the one kernel of the inputs");
    paper_reading(run, "EM and PKMR: the width of the kernel, where it is not given, and "
                       "lambda of 0.001, 0.01 and 0.1 by five folds of the labelled "
                       "nodes, for each area");
    paper_reading(
        run, "IOKR: width and lambda_1 (0.001, 0.01, 0.1), then lambda_2 (0 and 1e-4 "
             "to 1) by five folds of the labelled nodes, for each area; W of the "
             "10 %% nearest neighbours, its Laplacian diffused (beta_2 = 1)");
    paper_reading(run, "naive: the value of the kernel of two nodes' own descriptions, "
                       "which the paper does not have");
    paper_reading(run, "the semi-supervised row is the very model of the row IOKR, "
                       "asked for test nodes");
    paper_remark(run, "of the pairs of the semi-supervised row a larger share has a "
                      "labelled end than of the transductive ones, so the two rows are "
                      "not over the same kinds of pairs. The paper does not say which "
                      "pairs it takes");
}

okra_status transductive_measure(paper_run *run, study *s, result results[][REPEATS])
{
    okra_status st = OKRA_OK;
    s->repeats = paper_quick(run) ? 1 : REPEATS;
    say_protocol(run, s);
    for (int p = 0; p < SHARES; p++) {
        for (int r = 0; st == OKRA_OK && r < s->repeats; r++) {
            st = one_draw(run, s, p, r, &results[p][r]);
        }
    }
    return st == OKRA_OK ? put_areas(run, s, results) : st;
}
