/*
 * stkl_poser.c: Tonde and Elgammal, Table 4 (Poser): human pose from silhouettes.
 */
#include "stkl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct task {
    paper_pairs train, test, part, held;
    okra_int neighbours;
} task;

static okra_status every(const paper_pairs *from, okra_int step, okra_int offset,
                         paper_pairs *out)
{
    okra_int index[2000], count = 0, n = okra_data_count(from->x);
    for (okra_int i = offset; i < n && count < 2000; i += step) {
        index[count++] = i;
    }
    return paper_pairs_take(from, index, count, out);
}

static okra_status load(paper_run *run, task *t)
{
    bool quick = paper_quick(run);
    paper_pairs train = {NULL, NULL}, test = {NULL, NULL};
    okra_status st = paper_read(run, "poser/train_x.npy", &train.x);
    if (st == OKRA_OK) {
        st = paper_read(run, "poser/train_y.npy", &train.y);
    }
    if (st == OKRA_OK) {
        st = paper_read(run, "poser/test_x.npy", &test.x);
    }
    if (st == OKRA_OK) {
        st = paper_read(run, "poser/test_y.npy", &test.y);
    }
    if (st == OKRA_OK) {
        st = every(&train, quick ? 7 : 1, 0, &t->train);
    }
    if (st == OKRA_OK) {
        st = every(&test, quick ? 8 : 1, 0, &t->test);
    }
    if (st == OKRA_OK) {
        st = every(&train, quick ? 14 : 4, 0, &t->part);
    }
    if (st == OKRA_OK) {
        st = every(&train, quick ? 70 : 20, 2, &t->held);
    }
    t->neighbours = quick ? 100 : 300;
    paper_pairs_clear(&train);
    paper_pairs_clear(&test);
    return st;
}

static okra_status choose(paper_run *run, const task *t, const stkl_map *m, bool mapped,
                          stkl_setting *out)
{
    bool kl = m->kl;
    static const double gamma_x[] = {0.0003, 0.001}, gamma_y[] = {0.001, 0.003, 0.01};
    static const double lambda_x[] = {0.01, 0.1}, lambda_y[] = {0.001, 0.1};
    stkl_setting all[24];
    size_t count = 0, best = 0;
    for (int i = 0; i < (kl ? 24 : 6); i++) {
        all[count++] = (stkl_setting){.kl = kl,
                                      .gamma_x = gamma_x[i % 2],
                                      .gamma_y = gamma_y[i / 2 % 3],
                                      .lambda_x = lambda_x[i / 6 % 2],
                                      .lambda_y = lambda_y[i / 12],
                                      .d1 = mapped ? m->d1 : 1,
                                      .d2 = mapped ? m->d2 : 1,
                                      .neighbours = t->neighbours};
    }
    okra_status st = stkl_choose(run, "held", &t->part, &t->held, all, count, &best);
    *out = all[best];
    return st;
}

/* Mean distance of the 21 joints from where they are. */
static double joint_error(const okra_data *truth, const okra_data *predicted)
{
    okra_int n = okra_data_count(truth), d = okra_data_width(truth), ly, lh;
    const double *y = okra_data_values(truth, &ly), *h = okra_data_values(predicted, &lh);
    double sum = 0;
    for (okra_int i = 0; i < n; i++) {
        for (okra_int j = 0; j + 2 < d; j += 3) {
            double a = y[i * ly + j] - h[i * lh + j];
            double b = y[i * ly + j + 1] - h[i * lh + j + 1];
            double c = y[i * ly + j + 2] - h[i * lh + j + 2];
            sum += sqrt(a * a + b * b + c * c);
        }
    }
    okra_int joints = d / 3;
    return sum / (double)(n * joints);
}

static okra_status twin_row(paper_run *run, const task *t, int table, const stkl_map *m,
                            bool mapped)
{
    bool kl = m->kl;
    stkl_score score;
    stkl_setting s = {0};
    char text[100], row[64];
    double error[2] = {0, 0}, joints[2] = {0, 0};
    okra_status st = choose(run, t, m, mapped, &s);
    for (int map = 0; st == OKRA_OK && map < 2; map++) {
        okra_prediction *p = NULL;
        s.d1 = map ? m->d1 : 1;
        s.d2 = map ? m->d2 : 1;
        st = stkl_error(run, "test", &t->train, &t->test, &s, &score, &p);
        if (st == OKRA_OK) {
            error[map] = score.mae;
            joints[map] = joint_error(t->test.y, okra_prediction_objects(p));
        }
        okra_prediction_free(p);
    }
    if (st != OKRA_OK) {
        return st;
    }
    double gain = stkl_gain(error[1], error[0]);
    snprintf(row, sizeof row, "%s (%d,%d), chosen %s map", kl ? "KL" : "HSIC", m->d1,
             m->d2, mapped ? "with" : "without");
    paper_remark(run, "%s: %s", row, stkl_text(&s, text, sizeof text));
    paper_cell without = {NAN, NAN, &error[0], 1, NULL, PAPER_TOGETHER};
    paper_cell with = {NAN, NAN, &error[1], 1, NULL, PAPER_TOGETHER};
    paper_cell gains = {
        kl ? 6.39 : 1.2613, 0, &gain, 1, "positions of joints where the paper has angles",
        PAPER_APART};
    paper_cell joint = {NAN, NAN, &joints[1], 1, NULL, PAPER_TOGETHER};
    paper_cell joint_without = {NAN, NAN, &joints[0], 1, NULL, PAPER_TOGETHER};
    st = paper_put(run, table, row, "no mapping", without);
    if (st == OKRA_OK) {
        st = paper_put(run, table, row, "mapping", with);
    }
    if (st == OKRA_OK) {
        st = paper_put(run, table, row, "gain %", gains);
    }
    if (st == OKRA_OK) {
        st = paper_put(run, table, row, "joints, no mapping", joint_without);
    }
    return st == OKRA_OK ? paper_put(run, table, row, "joints, mapping", joint) : st;
}

static okra_status others(paper_run *run, const task *t, int table)
{
    static const char *const decode[] = {"decode=explicit", NULL};
    static const char *const knn[] = {"method=knn", "k=1", "kx=linear", NULL};
    static const char *const ridges[] = {"lambda=0.01", "lambda=0.1", "lambda=1"};
    const char *ridge[] = {"method=ridge", "center-output=yes", "kx=rbf(gamma=0.001)",
                           NULL, NULL};
    double least = INFINITY;
    stkl_score score = {0};
    okra_status st = stkl_other(run, "test", &t->train, &t->test, knn, decode, 0, &score);
    if (st == OKRA_OK) {
        paper_cell cell = {NAN, NAN, &score.mae, 1, NULL, PAPER_TOGETHER};
        st = paper_put(run, table, "nearest neighbour", "no mapping", cell);
    }
    const char *best = ridges[0];
    for (int l = 0; st == OKRA_OK && l < 3; l++) {
        ridge[3] = ridges[l];
        st = stkl_other(run, "held", &t->part, &t->held, ridge, decode, 0, &score);
        if (st == OKRA_OK && score.mae < least) {
            least = score.mae;
            best = ridges[l];
        }
    }
    ridge[3] = best;
    if (st == OKRA_OK) {
        st = stkl_other(run, "test", &t->train, &t->test, ridge, decode, 0, &score);
    }
    if (st == OKRA_OK) {
        paper_cell cell = {NAN, NAN, &score.mae, 1, NULL, PAPER_TOGETHER};
        st = paper_put(run, table, "kernel ridge", "no mapping", cell);
    }
    return st;
}

static okra_status run_entry(paper_run *run)
{
    task t;
    memset(&t, 0, sizeof t);
    paper_deviation(run, "outputs are 21 positions of joints; the paper has 54 angles: "
                         "errors are not comparable, gains are");
    paper_reading(run,
                  "parameters are chosen on training frames held out, by models of a "
                  "quarter of the training set; local training sets of 300 frames");
    okra_status st = load(run, &t);
    if (st == OKRA_OK) {
        int table = paper_table(
            run, "poser", "Table 4 (Poser)", "mean absolute error", PAPER_LOWER,
            "no mapping|mapping|gain %|joints, no mapping|joints, mapping");
        for (int row = 0; st == OKRA_OK && row < 2 * STKL_MAPS; row++) {
            st = twin_row(run, &t, table, &stkl_maps[row / 2], row % 2);
        }
        if (st == OKRA_OK) {
            st = others(run, &t, table);
        }
        if (st == OKRA_OK) {
            st = stkl_own(run, &t.train, &t.test, table);
        }
    }
    paper_pairs_clear(&t.train);
    paper_pairs_clear(&t.test);
    paper_pairs_clear(&t.part);
    paper_pairs_clear(&t.held);
    return st;
}

const paper_entry paper_stkl_poser = {
    .name = "stkl-poser",
    .paper = "Tonde and Elgammal",
    .title = "Table 4 (Poser): human pose from silhouettes",
    .files = "poser/train_x.npy poser/train_y.npy poser/test_x.npy poser/test_y.npy",
    .original = "ankurDataPoseSilhouette.mat",
    .quick = PAPER_SECONDS,
    .full = PAPER_MINUTES,
    .run = run_entry,
};
