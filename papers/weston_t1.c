/*
 * weston_t1.c: Weston et al. 2003, Table 1: strings to strings, a task that is generated.
 */
#include "nested.h"

#include <math.h>
#include <string.h>

enum { STRINGS = 200, FOLDS = 4, INNER = 5, SETS = 10 };

#define OUTPUT "ssk(length=3,decay=0.01) | normalize"
#define LOSS "kernel-loss:kernel=" OUTPUT
#define KDE(s)                                                                           \
    (const char *const[])                                                                \
    {                                                                                    \
        "kx=ssk(length=3,decay=0.01) | normalize | rbf(sigma=" s ")", "ky=" OUTPUT, NULL \
    }
#define KNN(k)                                                                         \
    (const char *const[])                                                              \
    {                                                                                  \
        "method=knn", "k=" k, "kx=ssk(length=3,decay=0.01) | normalize", "ky=" OUTPUT, \
            NULL                                                                       \
    }

typedef struct truth {
    const okra_int *train, *test; /* classes */
} truth;

/* Share of test points whose chosen training output is of another class. */
static okra_status class_error(paper_run *run, void *user, const paper_pairs *train,
                               const paper_pairs *test, const okra_data *predicted,
                               const okra_int *index, double *value)
{
    const truth *t = user;
    okra_int wrong = 0, n = okra_data_count(test->x);
    (void)run, (void)train, (void)predicted;
    for (okra_int i = 0; i < n; i++) {
        wrong += index[i] < 0 || t->train[index[i]] != t->test[i];
    }
    *value = (double)wrong / (double)n;
    return OKRA_OK;
}

/* Training is on three of the four folds: paper_fold's outside. */
static okra_status one_fold(paper_run *run, const paper_family *family,
                            const paper_pairs *all, const okra_int *classes, okra_int f,
                            bool has_class, double values[2])
{
    paper_pairs test = {NULL, NULL}, train = {NULL, NULL};
    okra_int known[STRINGS], asked[STRINGS], begin = STRINGS * f / FOLDS,
                                             end = STRINGS * (f + 1) / FOLDS, in = 0;
    for (okra_int i = 0; i < STRINGS; i++) {
        if (i >= begin && i < end) {
            asked[i - begin] = classes[i];
        } else {
            known[in++] = classes[i];
        }
    }
    truth t = {known, asked};
    okra_status st = paper_fold(all, FOLDS, f, &test, &train);
    if (st == OKRA_OK) {
        st = paper_nested(run, family, &train, &test, &values[0],
                          has_class ? class_error : NULL, &t, &values[1]);
    }
    paper_pairs_clear(&test);
    paper_pairs_clear(&train);
    return st;
}

static okra_status run_entry(paper_run *run)
{
    static const double lambdas[] = {1e-3, 1e-2, 1e-1, 1};
    const paper_options kde[] = {KDE("0.3"), KDE("0.5"), KDE("0.8"), KDE("1.2")};
    const paper_options knn[] = {KNN("1"), KNN("3"), KNN("5"), KNN("9"), KNN("15")};
    const paper_options search = (const char *const[]){"decode=string", "beam=8", NULL};
    const paper_family families[] = {
        {kde, 4, lambdas, 4, NULL, LOSS, INNER},
        {knn, 5, NULL, 0, NULL, LOSS, INNER},
        {kde, 4, lambdas, 4, search, LOSS, INNER},
    };
    static const char *const names[] = {"KDE", "k-NN", "KDE, new strings"};
    static const double printed[][4] = {
        {0.676, 0.030, 0.125, 0.012}, {0.985, 0.029, 0.205, 0.026}, {NAN, NAN, NAN, NAN}};
    okra_int sets = paper_quick(run) ? 2 : SETS;
    double values[3][2][SETS * FOLDS];
    int table = paper_table(run, "table1", "Strings to strings", "loss or error",
                            PAPER_LOWER, "string loss|class error");
    paper_reading(run, "the loss is that of the output kernel, 2 - 2 l(y, y'); outputs "
                       "shorter than three letters have no features: they are not "
                       "candidates, and their loss is 1 whatever is predicted");
    paper_reading(run,
                  "the decay of %s is small, so that subsequences count almost only "
                  "without gaps; sets of 200 strings are generated anew %d times",
                  "0.01", (int)sets);
    paper_remark(run, "new strings: the decoder that writes strings, with the parameters "
                      "chosen anew for it by the same inner folds");
    okra_status st = OKRA_OK;
    for (okra_int s = 0; st == OKRA_OK && s < sets; s++) {
        paper_pairs all = {NULL, NULL};
        okra_data *classes = NULL;
        st = okra_synthetic_strings(paper_seed(run) + (uint64_t)s, STRINGS, &all.x,
                                    &all.y, &classes);
        for (size_t m = 0; st == OKRA_OK && m < 3; m++) {
            for (okra_int f = 0; st == OKRA_OK && f < FOLDS; f++) {
                double both[2] = {NAN, NAN};
                char key[80];
                snprintf(key, sizeof key, "%s %d %d", names[m], (int)s, (int)f);
                if (!paper_have(run, key, both, 2)) {
                    st = one_fold(run, &families[m], &all, okra_data_codes(classes), f,
                                  m < 2, both);
                    both[1] = m < 2 ? both[1] : 0;
                    if (st == OKRA_OK) {
                        st = paper_keep(run, key, both, 2);
                    }
                }
                values[m][0][s * FOLDS + f] = both[0];
                values[m][1][s * FOLDS + f] = both[1];
            }
        }
        paper_pairs_clear(&all);
        okra_data_free(classes);
    }
    for (size_t m = 0; st == OKRA_OK && m < 3; m++) {
        for (int c = 0; st == OKRA_OK && c < (m < 2 ? 2 : 1); c++) {
            paper_cell cell = {printed[m][2 * c],
                               printed[m][2 * c + 1],
                               values[m][c],
                               (size_t)(sets * FOLDS),
                               NULL,
                               false};
            st = paper_put(run, table, names[m], c ? "class error" : "string loss", cell);
        }
    }
    return st;
}

extern const paper_entry paper_weston_t1;
const paper_entry paper_weston_t1 = {
    .name = "weston-t1",
    .paper = "Weston et al. 2003",
    .title = "Table 1: strings to strings",
    .files = NULL,
    .original = NULL,
    .quick = PAPER_MINUTES,
    .full = PAPER_HOUR,
    .run = run_entry,
};
