/*
 * kadri_fig2.c: error and time against the rank: conditional covariance by incomplete
 * Cholesky factors of all examples, and plain KDE on as many examples as the rank.
 */
#include "protocol.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    SIDE = 32,
    PIXELS = SIDE * SIDE,
    HALF = PIXELS / 2,
    TESTS = 98,
    REACH = 2,
    ACROSS = 2 * REACH + 1,
    SHIFTS = ACROSS * ACROSS
};
static const double WHITE = 65280; /* of the image file */

typedef struct faces {
    paper_pairs train, test;
} faces;

static void faces_clear(faces *f)
{
    paper_pairs_clear(&f->train);
    paper_pairs_clear(&f->test);
}

/* The image moved by (dr, dc), edges repeated, grey in [0, 1]: its left and right half.
 */
static void move(const double *from, int dr, int dc, double *left, double *right)
{
    for (int r = 0; r < SIDE; r++) {
        for (int c = 0; c < SIDE; c++) {
            int i = r + dr < 0 ? 0 : r + dr >= SIDE ? SIDE - 1 : r + dr;
            int j = c + dc < 0 ? 0 : c + dc >= SIDE ? SIDE - 1 : c + dc;
            double *half = c < SIDE / 2 ? left : right;
            half[r * SIDE / 2 + c % (SIDE / 2)] = from[i * SIDE + j] / WHITE;
        }
    }
}

/* Pseudo-random order: multiplicative congruences of the seed (Lehmer, 2^31 - 1). */
static void shuffle(uint64_t seed, okra_int n, okra_int *items)
{
    uint64_t state = seed % 2147483646 + 1;
    for (okra_int i = n - 1; i > 0; i--) {
        state = state * 48271 % 2147483647;
        okra_int j = (okra_int)(state % (uint64_t)(i + 1)), item = items[i];
        items[i] = items[j];
        items[j] = item;
    }
}

static okra_status own(const double *values, okra_int n, okra_data **out)
{
    okra_data *view = NULL;
    okra_status st = okra_data_dense(values, n, HALF, HALF, &view);
    if (st == OKRA_OK) {
        st = okra_data_copy(view, out);
    }
    okra_data_free(view);
    return st;
}

/* Images `index[0..count-1]` in `shifts` copies each. */
static okra_status gather(const double *x, okra_int ld, const okra_int *index,
                          okra_int count, int shifts, paper_pairs *out)
{
    size_t size = (size_t)(count * shifts * HALF) * sizeof(double);
    double *in = malloc(size), *target = malloc(size);
    okra_status st = in && target ? OKRA_OK : okra_fail(OKRA_EMEM, "out of memory");
    for (okra_int k = 0; st == OKRA_OK && k < count * shifts; k++) {
        int shift = shifts == 1 ? SHIFTS / 2 : (int)(k % shifts);
        move(x + index[k / shifts] * ld, shift / ACROSS - REACH, shift % ACROSS - REACH,
             in + k * HALF, target + k * HALF);
    }
    if (st == OKRA_OK) {
        st = own(in, count * shifts, &out->x);
    }
    if (st == OKRA_OK) {
        st = own(target, count * shifts, &out->y);
    }
    free(in);
    free(target);
    return st;
}

static okra_status load(paper_run *run, faces *out)
{
    okra_data *x = NULL;
    okra_int ld = 0;
    okra_status st = paper_read(run, "isomap_faces/x.npy", &x);
    const double *values = x ? okra_data_values(x, &ld) : NULL;
    okra_int n = x ? okra_data_count(x) : 0;
    if (st == OKRA_OK && (!values || okra_data_width(x) != PIXELS || n <= TESTS)) {
        st = okra_fail(OKRA_EFORMAT,
                       "isomap_faces/x.npy: expected more than %d images of %d pixels",
                       TESTS, PIXELS);
    }
    okra_int *index = calloc((size_t)n + 1, sizeof *index);
    if (st == OKRA_OK && !index) {
        st = okra_fail(OKRA_EMEM, "out of memory");
    }
    for (okra_int i = 0; st == OKRA_OK && i < n; i++) {
        index[i] = i;
    }
    if (st == OKRA_OK) {
        shuffle(paper_seed(run), n, index);
        st = gather(values, ld, index, TESTS, 1, &out->test);
    }
    if (st == OKRA_OK) {
        int shifts = paper_quick(run) ? 1 : SHIFTS;
        st = gather(values, ld, index + TESTS, n - TESTS, shifts, &out->train);
    }
    free(index);
    okra_data_free(x);
    return st;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

enum { RUNS = 3 };

/* values: the error and the seconds of fit and prediction together, the best of RUNS
 * where the first takes less than SHORT. */
static okra_status measure(paper_run *run, const paper_pairs *train,
                           const paper_pairs *test, paper_options fit, double lambda,
                           double values[2])
{
    static const char *const decode[] = {"decode=candidates", NULL};
    static const double SHORT = 3;
    okra_status st = OKRA_OK;
    values[1] = (double)INFINITY;
    for (int k = 0; st == OKRA_OK && (k == 0 || (k < RUNS && values[1] < SHORT)); k++) {
        double begin = now();
        st = paper_fit_score(run, train, test, fit, decode, "mse", &lambda, 1, values);
        values[1] = fmin(values[1], now() - begin);
    }
    return st;
}

#define KERNELS "kx=rbf(sigma=8)", "ky=rbf(sigma=8)"

static okra_status plain(paper_run *run, const faces *f, okra_int n, double values[2])
{
    static const char *const fit[] = {KERNELS, "operator=identity", NULL};
    okra_int all = okra_data_count(f->train.x);
    okra_int *index = calloc((size_t)all, sizeof *index);
    paper_pairs some = {NULL, NULL};
    for (okra_int i = 0; index && i < all; i++) {
        index[i] = i;
    }
    if (!index) {
        return okra_fail(OKRA_EMEM, "out of memory");
    }
    shuffle(paper_seed(run) + 1, all, index);
    okra_status st = paper_pairs_take(&f->train, index, n, &some);
    if (st == OKRA_OK) {
        st = measure(run, &some, &f->test, fit, 1e-3, values);
    }
    paper_pairs_clear(&some);
    free(index);
    return st;
}

static okra_status low(paper_run *run, const faces *f, okra_int rank, double values[2])
{
    char text[64];
    snprintf(text, sizeof text, "low-rank=chol(rank=%lld,tol=0)", (long long)rank);
    const char *const fit[] = {KERNELS, "operator=ccov", "epsilon=0.01", text, NULL};
    return measure(run, &f->train, &f->test, fit, 1e-5, values);
}

/* One n: both methods, kept on disk when finished. */
static okra_status point(paper_run *run, const faces *f, okra_int n, bool with_low,
                         double values[4])
{
    char key[64];
    snprintf(key, sizeof key, "n=%lld", (long long)n);
    if (paper_have(run, key, values, 4)) {
        return OKRA_OK;
    }
    okra_status st = plain(run, f, n, values);
    values[2] = values[3] = 0;
    if (st == OKRA_OK && with_low) {
        st = low(run, f, n, values + 2);
    }
    return st == OKRA_OK ? paper_keep(run, key, values, 4) : st;
}

static okra_status put(paper_run *run, const int table[2], okra_int n, bool with_low,
                       const double values[4])
{
    static const char *const columns[] = {"KDE on n", "low-rank ccov, m = n"};
    char row[32];
    okra_status st = OKRA_OK;
    snprintf(row, sizeof row, "n = %lld", (long long)n);
    for (int k = 0; st == OKRA_OK && k < 2 + 2 * with_low; k++) {
        paper_cell cell = {NAN, NAN, &values[k], 1, NULL, false};
        st = paper_put(run, table[k % 2], row, columns[k / 2], cell);
    }
    return st;
}

enum { SIZES = 7 };

/* Both methods against n: values[i][what] and, where it is there, values[i][2 + what]. */
static okra_status draw(paper_run *run, const okra_int *n, double values[SIZES][4],
                        int what)
{
    json_t *series = json_array();
    for (int method = 0; method < 2; method++) {
        json_t *x = json_array(), *y = json_array();
        for (int i = 0; i < SIZES - method; i++) {
            json_array_append_new(x, json_integer(n[i]));
            json_array_append_new(y, json_real(values[i][2 * method + what]));
        }
        json_array_append_new(series,
                              json_pack("{s:s, s:o, s:o}", "name",
                                        method ? "low-rank ccov, m = n" : "KDE on n", "x",
                                        x, "y", y));
    }
    json_t *figure =
        json_pack("{s:s, s:s, s:b, s:b, s:o}", "x_label", "n", "y_label",
                  what ? "seconds" : "MSE", "log_x", 1, "log_y", what, "series", series);
    return paper_figure(run, what ? "time-curve" : "error-curve", "curve",
                        what ? "Seconds of fit and prediction" : "Error", figure);
}

static okra_status run_entry(paper_run *run)
{
    okra_int sizes[SIZES] = {10, 30, 50, 100, 200, 400, 0}; /* the last: all */
    double values[SIZES][4];
    faces f = {{NULL, NULL}, {NULL, NULL}};
    paper_deviation(
        run, "the faces are those of Isomap, a head under changing light, pan and "
             "tilt, not the paper's 200 heads: the right half of an image from its "
             "left half; 98 images test, the others, each also moved by up to two "
             "pixels in every direction (not with --quick), train. The truth is "
             "not among the candidates");
    paper_reading(run, "candidates are the training outputs; widths 8, lambda 0.001 "
                       "(KDE) and 1e-5 (ccov, times n), epsilon 0.01, the same for "
                       "every n");
    paper_remark(run,
                 "time is that of fit and prediction together, on this machine, the "
                 "best of %d where it is below three seconds, else once",
                 RUNS);
    int table[] = {paper_table(run, "error", "Error of the predicted half", "MSE",
                               PAPER_LOWER, "KDE on n|low-rank ccov, m = n"),
                   paper_table(run, "time", "Seconds of fit and prediction", "s",
                               PAPER_LOWER, "KDE on n|low-rank ccov, m = n")};
    okra_status st = load(run, &f);
    sizes[SIZES - 1] = st == OKRA_OK ? okra_data_count(f.train.x) : 0;
    for (int i = 0; st == OKRA_OK && i < SIZES; i++) {
        st = point(run, &f, sizes[i], i < SIZES - 1, values[i]);
        if (st == OKRA_OK) {
            st = put(run, table, sizes[i], i < SIZES - 1, values[i]);
        }
    }
    if (st == OKRA_OK) { /* what the figure is about: sizes[1] is 30 */
        const double *all = values[SIZES - 1], *m = values[1] + 2;
        paper_remark(run,
                     "low-rank ccov at m = %lld takes 1/%.0f of the time of KDE on all "
                     "%lld examples; its error is %.2f times theirs",
                     (long long)sizes[1], all[1] / m[1], (long long)sizes[SIZES - 1],
                     m[0] / all[0]);
    }
    for (int what = 0; st == OKRA_OK && what < 2; what++) {
        st = draw(run, sizes, values, what);
    }
    faces_clear(&f);
    return st;
}

const paper_entry paper_kadri_fig2 = {
    .name = "kadri-fig2",
    .paper = "Kadri et al. 2013",
    .title = "Figure 2: error and time against the rank, faces",
    .files = "isomap_faces/x.npy",
    .original = "face_data.mat",
    .quick = PAPER_SECONDS,
    .full = PAPER_MINUTES,
    .run = run_entry,
};
