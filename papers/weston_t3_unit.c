/*
 * weston_t3_unit.c: Weston et al. 2003, Table 3 with halves of unit length, background 0,
 * the first 100 of each digit, ten partitions with 20 of each digit in a fold.
 *
 * Two readings of the loss, neither of which the text decides:
 *   2 - 2 l(y, y') at the width where k-NN has its printed loss (one constant);
 *   |P(phi(y) - phi(y'))|^2 at the printed sigma' = 0.35, P the kernel PCA of the 200
 *   training outputs, the space in which eq. (6) and the rule of pre-images work.
 */
#include "loss_width.h"
#include "sets/digits.h"
#include "weston_t3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FOLDS = 5, METHODS = WESTON_T3_METHODS, TRAIN = DIGITS_COUNT / FOLDS };
enum { TEST = DIGITS_COUNT - TRAIN };

#define PRINTED_WIDTH 0.35
static const char projected_kernel[] = "rbf(sigma=0.35) | center";

typedef struct halves {
    paper_pairs all;
    okra_int classes[DIGITS_COUNT];
} halves;

static okra_status make(paper_run *run, const digits_set *set, int partition, halves *h)
{
    okra_int order[DIGITS_COUNT];
    digits_order(run, set, partition, order);
    for (okra_int i = 0; i < DIGITS_COUNT; i++) {
        h->classes[i] = set->classes[order[i]];
    }
    okra_status st = digits_unit(set, order, 0, DIGITS_HALF, &h->all.x);
    return st == OKRA_OK
               ? digits_unit(set, order, DIGITS_HALF, 2 * DIGITS_HALF, &h->all.y)
               : st;
}

/* ---- the loss between kernel-PCA coordinates ---- */

/* Centred values c with the training outputs, and (Kc + 1e-10 I)^-1 c; both m x n. */
typedef struct projection {
    double *values;
    okra_prediction *solved;
} projection;

static okra_status project(paper_run *run, const okra_model *model,
                           const okra_kernel *kernel, const okra_data *train,
                           const okra_data *y, projection *out)
{
    okra_predict_request request = {OKRA_SIZED(okra_predict_request), .weights = true};
    okra_options *options = NULL;
    out->values = malloc(sizeof(double) * TEST * TRAIN);
    okra_status st = out->values ? okra_predict_options(&options)
                                 : okra_fail(OKRA_EMEM, "no memory for a projection");
    if (st == OKRA_OK) {
        st = paper_set_options(options, (const char *const[]){"decode=none", NULL});
    }
    if (st == OKRA_OK) {
        st = okra_predict(paper_context(run), model, y, options, &request, &out->solved);
    }
    if (st == OKRA_OK) {
        st = okra_gram(paper_context(run), kernel, y, train, out->values, TRAIN);
    }
    okra_options_free(options);
    return st;
}

/* The mean of (c_y - c_y')' Kc^+ (c_y - c_y') over test points. */
static okra_status projected_loss(paper_run *run, const paper_pairs *train,
                                  const okra_data *truth, const okra_data *predicted,
                                  double *loss)
{
    const char *const fit[] = {"kx=rbf(sigma=0.35) | center", "ky=linear", "lambda=1e-10",
                               NULL};
    projection p[2] = {{NULL, NULL}, {NULL, NULL}};
    okra_options *options = NULL;
    okra_kernel *kernel = NULL;
    okra_model *model = NULL;
    okra_int rows, columns;
    okra_status st = okra_fit_options(&options);
    if (st == OKRA_OK) {
        st = paper_set_options(options, fit);
    }
    if (st == OKRA_OK) {
        st = okra_fit(paper_context(run), train->y, train->y, options, &model);
    }
    if (st == OKRA_OK) {
        st = okra_kernel_parse(projected_kernel, &kernel);
    }
    for (int k = 0; st == OKRA_OK && k < 2; k++) {
        st = project(run, model, kernel, train->y, k ? predicted : truth, &p[k]);
    }
    *loss = 0;
    if (st == OKRA_OK) {
        const double *a = okra_prediction_weights(p[0].solved, &rows, &columns);
        const double *b = okra_prediction_weights(p[1].solved, &rows, &columns);
        for (okra_int i = 0; i < TEST * TRAIN; i++) {
            *loss += (p[0].values[i] - p[1].values[i]) * (a[i] - b[i]) / TEST;
        }
    }
    for (int k = 0; k < 2; k++) {
        free(p[k].values);
        okra_prediction_free(p[k].solved);
    }
    okra_model_free(model);
    okra_kernel_free(kernel);
    okra_options_free(options);
    return st;
}

/* ---- one partition ---- */

/* What a prediction is asked beside its loss. */
typedef struct asked {
    const okra_int *classes;
    okra_int fold;
    bool projected;
    double loss;
    const char *other; /* another loss that is asked; NULL: none */
    double other_loss;
} asked;

/* The training output that a prediction is. */
static okra_int which(const okra_data *outputs, const double *row)
{
    okra_int ld;
    const double *y = okra_data_values(outputs, &ld);
    for (okra_int k = 0; k < TRAIN; k++) {
        okra_int j = 0;
        while (j < DIGITS_HALF && y[k * ld + j] == row[j]) {
            j++;
        }
        if (j == DIGITS_HALF) {
            return k;
        }
    }
    return -1;
}

static okra_status look(paper_run *run, void *user, const paper_pairs *train,
                        const paper_pairs *test, const okra_data *predicted,
                        const okra_int *index, double *value)
{
    asked *a = user;
    okra_int begin = a->fold * TRAIN, wrong = 0, ld;
    const double *rows = okra_data_values(predicted, &ld);
    for (okra_int i = 0; i < TEST; i++) {
        okra_int own = a->classes[i < begin ? i : i + TRAIN];
        okra_int chosen = index ? index[i] : which(train->y, rows + i * ld);
        wrong += chosen < 0 || a->classes[begin + chosen] != own;
    }
    *value = (double)wrong / TEST;
    okra_status st = a->other ? okra_score(paper_context(run), a->other, test->y,
                                           predicted, &a->other_loss, NULL, NULL)
                              : OKRA_OK;
    return st != OKRA_OK  ? st
           : a->projected ? projected_loss(run, train, test->y, predicted, &a->loss)
                          : OKRA_OK;
}

/* Of each method: loss at the calibrated width; at sigma' = 0.35 the loss between
 * coordinates, the class error and 2 - 2 l; and the calibrated width. */
enum { CALIBRATED, PROJECTED, CLASSES, PLAIN, KINDS };
typedef struct figures {
    double of[METHODS][KINDS], width;
} figures;
enum { FIGURES = sizeof(figures) / sizeof(double) };

/* What the net says does not depend on the width of the loss: one recall for both. */
static okra_status one_fold(paper_run *run, const halves *h, okra_int f, figures *out)
{
    weston_t3_texts t[2]; /* at the calibrated width, and at the printed one */
    paper_pairs train = {NULL, NULL}, test = {NULL, NULL};
    double loss = 0, error = 0;
    okra_status st = paper_fold(&h->all, FOLDS, f, &train, &test);
    if (st == OKRA_OK) {
        st = loss_width_calibrate(run, &train, weston_t3_losses[1][0], 0.1, 3,
                                  &out->width);
    }
    weston_t3_say(out->width, NULL, &t[0]);
    weston_t3_say(PRINTED_WIDTH, NULL, &t[1]);
    weston_t3_components(&t[1]);
    for (int m = 0; st == OKRA_OK && m < METHODS; m++) {
        bool net = m == METHODS - 1;
        asked a = {.classes = h->classes, .fold = f, .projected = true};
        a.other = net ? t[0].loss : NULL;
        st = paper_nested(run, &t[1].family[m], &train, &test, &loss, look, &a, &error);
        out->of[m][PLAIN] = loss;
        out->of[m][PROJECTED] = a.loss;
        out->of[m][CLASSES] = error;
        out->of[m][CALIBRATED] = a.other_loss;
        if (st == OKRA_OK && !net) {
            st = paper_nested(run, &t[0].family[m], &train, &test,
                              &out->of[m][CALIBRATED], NULL, NULL, NULL);
        }
    }
    paper_pairs_clear(&train);
    paper_pairs_clear(&test);
    return st;
}

/* The mean over the folds of one partition. */
static okra_status one_partition(paper_run *run, const digits_set *set, int p,
                                 figures *out)
{
    halves h = {.all = {NULL, NULL}};
    okra_status st = make(run, set, p, &h);
    double *sum = (double *)out;
    memset(out, 0, sizeof *out);
    for (okra_int f = 0; st == OKRA_OK && f < FOLDS; f++) {
        char key[64];
        figures one;
        memset(&one, 0, sizeof one);
        snprintf(key, sizeof key, "unit length, partition %d, fold %d", p, (int)f);
        if (!paper_have(run, key, (double *)&one, FIGURES)) {
            st = one_fold(run, &h, f, &one);
            if (st == OKRA_OK) {
                st = paper_keep(run, key, (double *)&one, FIGURES);
            }
        }
        for (int k = 0; k < FIGURES; k++) {
            sum[k] += ((const double *)&one)[k] / FOLDS;
        }
    }
    paper_pairs_clear(&h.all);
    return st;
}

/* ---- what is told ---- */

static const char *const columns[KINDS] = {"calibrated on k-NN",
                                           "kernel-PCA coordinates, 0.35",
                                           "unit length, 0.35", "2 - 2 l, 0.35"};

static okra_status put(paper_run *run, int table, const figures *all, size_t count,
                       int kind)
{
    okra_status st = OKRA_OK;
    for (int m = 0; st == OKRA_OK && m < METHODS; m++) {
        const double *printed =
            kind == CLASSES ? weston_t3_errors[m] : weston_t3_losses[m];
        bool fitted = m == 1 && kind == CALIBRATED;
        double values[DIGITS_PARTITIONS];
        for (size_t p = 0; p < count; p++) {
            values[p] = all[p].of[m][kind];
        }
        paper_cell cell = {printed[0],
                           printed[1],
                           values,
                           count,
                           NULL,
                           fitted               ? PAPER_FITTED
                           : kind == CALIBRATED ? PAPER_CONSTANT
                           : kind == PLAIN      ? PAPER_APART
                                                : PAPER_FOUND};
        cell.why = fitted          ? "the width was fitted on this cell"
                   : kind == PLAIN ? "no loss 2 - 2 l at this width comes near the print"
                                   : NULL;
        st = paper_put(run, table, weston_t3_names[m], columns[kind], cell);
    }
    return st;
}

/* KDE / k-NN, partition by partition; the printed error is that of a ratio of two
 * independent means. */
static okra_status put_ratio(paper_run *run, int table, const figures *all, size_t count,
                             int kind)
{
    double values[DIGITS_PARTITIONS];
    for (size_t p = 0; p < count; p++) {
        values[p] = all[p].of[0][kind] / all[p].of[1][kind];
    }
    paper_cell cell = {0.8384 / 0.8960, 0.0102, values,
                       count,           NULL,   kind ? PAPER_FOUND : PAPER_CONSTANT};
    return paper_put(run, table, "KDE / k-NN", columns[kind], cell);
}

/* sigma' by the printed rule, each fold left out in turn. */
static okra_status put_width(paper_run *run, const digits_set *set)
{
    halves h = {.all = {NULL, NULL}};
    double widths[FOLDS];
    okra_status st = make(run, set, 0, &h);
    for (okra_int f = 0; st == OKRA_OK && f < FOLDS; f++) {
        paper_pairs in = {NULL, NULL}, out = {NULL, NULL};
        st = paper_fold(&h.all, FOLDS, f, &in, &out);
        if (st == OKRA_OK) {
            st = loss_width_align(run, out.y, "rbf(sigma=auto-align/30)", &widths[f]);
        }
        paper_pairs_clear(&in);
        paper_pairs_clear(&out);
    }
    int table = paper_table(run, "width", "Width by alignment, bottom halves of length 1",
                            "sigma'", PAPER_NEITHER, "sigma'");
    paper_yardstick_of(run, table,
                       (paper_yardstick){.errors = true, .over = "folds left out"});
    paper_cell cell = {0.35, 0.005, widths, FOLDS, NULL, PAPER_FOUND};
    paper_pairs_clear(&h.all);
    return st == OKRA_OK ? paper_put(run, table, "30 clusters", "sigma'", cell) : st;
}

/* Class error of the Hopfield net against its steps, first partition. */
static okra_status draw_steps(paper_run *run, const digits_set *set)
{
    static const int steps[] = {10, 50, 200, 1000};
    int count = paper_quick(run) ? 2 : 4;
    halves h = {.all = {NULL, NULL}};
    json_t *x = json_array(), *y = json_array();
    okra_status st = make(run, set, 0, &h);
    for (int k = 0; st == OKRA_OK && k < count; k++) {
        double sum = 0, error = 0, loss;
        char text[32];
        weston_t3_texts t;
        snprintf(text, sizeof text, "steps=%d", steps[k]);
        weston_t3_say(PRINTED_WIDTH, text, &t);
        for (okra_int f = 0; st == OKRA_OK && f < FOLDS; f++) {
            paper_pairs train = {NULL, NULL}, test = {NULL, NULL};
            asked a = {.classes = h.classes, .fold = f};
            char key[64];
            snprintf(key, sizeof key, "net, %s, fold %d", text, (int)f);
            if (paper_have(run, key, &error, 1)) {
                sum += error / FOLDS;
                continue;
            }
            st = paper_fold(&h.all, FOLDS, f, &train, &test);
            if (st == OKRA_OK) {
                st = paper_nested(run, &t.family[2], &train, &test, &loss, look, &a,
                                  &error);
            }
            if (st == OKRA_OK) {
                st = paper_keep(run, key, &error, 1);
            }
            sum += error / FOLDS;
            paper_pairs_clear(&train);
            paper_pairs_clear(&test);
        }
        json_array_append_new(x, json_real(steps[k]));
        json_array_append_new(y, json_real(sum));
    }
    paper_pairs_clear(&h.all);
    json_t *figure = json_pack("{s:s, s:s, s:b, s:[{s:s, s:o, s:o}]}", "x_label", "steps",
                               "y_label", "class error", "log_x", 1, "series", "name",
                               "Hopfield net, halves of unit length", "x", x, "y", y);
    if (st != OKRA_OK) {
        json_decref(figure);
        return st;
    }
    return paper_figure(run, "hopfield-steps", "curve",
                        "Class error of the Hopfield net against its steps", figure);
}

static okra_status tell(paper_run *run, const figures *all, size_t count)
{
    const paper_yardstick by = {.errors = true, .one_draw = true, .over = "partitions"};
    int losses = paper_table(
        run, "unit", "Halves of unit length, background 0", "loss", PAPER_LOWER,
        "calibrated on k-NN|kernel-PCA coordinates, 0.35|2 - 2 l, 0.35");
    int ratio =
        paper_table(run, "unit-ratio", "Loss of KDE in units of that of k-NN", "ratio",
                    PAPER_LOWER, "calibrated on k-NN|kernel-PCA coordinates, 0.35");
    int classes = paper_table(run, "unit-classes",
                              "Class of the training digit that was chosen, unit length",
                              "classification error", PAPER_LOWER, columns[CLASSES]);
    paper_yardstick_of(run, losses, by);
    paper_yardstick_of(run, ratio, by);
    paper_yardstick_of(run, classes, by);
    okra_status st = put(run, classes, all, count, CLASSES);
    for (int kind = 0; st == OKRA_OK && kind < KINDS; kind++) {
        st = kind == CLASSES ? OKRA_OK : put(run, losses, all, count, kind);
    }
    for (int kind = CALIBRATED; st == OKRA_OK && kind <= PROJECTED; kind++) {
        st = put_ratio(run, ratio, all, count, kind);
    }
    return st;
}

okra_status weston_t3_unit(paper_run *run)
{
    figures all[DIGITS_PARTITIONS];
    digits_set set = {NULL, NULL};
    size_t count = paper_quick(run) ? 1 : DIGITS_PARTITIONS;
    paper_reading(
        run, "halves of unit length: grey from 0 to 1, each half divided by its "
             "length; the first 100 of each digit, 20 of each in a fold; ten "
             "partitions. This scale was found with the print in sight: it gives the "
             "printed sigma' and nearly the printed k-NN. Hopfield net: halves of "
             "unit length, 1,000 steps");
    paper_reading(
        run,
        "two losses that the text leaves open: 2 - 2 l at the width where k-NN "
        "has its printed loss on training digits (one constant), and the squared "
        "distance of the coordinates of kernel PCA at the printed 0.35. There the "
        "number of components that KDE learns (75, 100, 150 or all; not printed) is "
        "chosen by inner folds; the distance is that of all, for every method alike");
    okra_status st = digits_read(run, &set);
    for (size_t p = 0; st == OKRA_OK && p < count; p++) {
        st = one_partition(run, &set, (int)p, &all[p]);
    }
    if (st == OKRA_OK) {
        paper_remark(run,
                     "width calibrated on k-NN with halves of unit length: about %.3g",
                     all[0].width);
        st = tell(run, all, count);
    }
    if (st == OKRA_OK) {
        st = put_width(run, &set);
    }
    if (st == OKRA_OK) {
        st = draw_steps(run, &set);
    }
    digits_clear(&set);
    return st;
}
