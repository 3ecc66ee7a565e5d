/*
 * test_vectors.c: candidates that are vectors, ranked against plain double loops.
 */
#include "vector_files.h"
#include "okra/more/index.h"
#include "okra/more/prediction.h"

static double kernel(char which, const double *a, const double *b)
{
    double inner = 0, square = 0, aa = 0, bb = 0;
    for (int j = 0; j < WIDTH; j++) {
        inner += a[j] * b[j];
        aa += a[j] * a[j];
        bb += b[j] * b[j];
        square += (a[j] - b[j]) * (a[j] - b[j]);
    }
    return which == 'r'   ? exp(-square / 2)
           : which == 'l' ? inner
           : which == 'c' ? (aa > 0 && bb > 0 ? inner / sqrt(aa * bb) : 0)
                          : (inner + 1) * (inner + 1);
}

/* want[q * COUNT + i]: the squared distance of vector i to the prediction of query q. */
static void naive(const okra_model *model, const okra_data *queries, char which,
                  double *want)
{
    okra_options *options = NULL;
    okra_prediction *p = NULL;
    okra_int rows = 0, n = 0;
    okra_predict_request request = {OKRA_SIZED(okra_predict_request), .weights = true};
    CHECK_OK(okra_predict_options(&options));
    CHECK_OK(okra_options_set(options, "decode", "none"));
    CHECK_OK(okra_predict(NULL, model, queries, options, &request, &p));
    const double *w = okra_prediction_weights(p, &rows, &n);
    CHECK(rows == QUERIES && n == TRAIN);
    for (okra_int q = 0; q < rows; q++) {
        double norm = 0;
        for (int a = 0; a < TRAIN; a++) {
            for (int b = 0; b < TRAIN; b++) {
                norm += w[q * n + a] * w[q * n + b] * kernel(which, y[a], y[b]);
            }
        }
        for (int i = 0; i < COUNT; i++) {
            double inner = 0;
            for (int a = 0; a < TRAIN; a++) {
                inner += w[q * n + a] * kernel(which, y[a], vectors[i]);
            }
            want[q * COUNT + i] =
                kernel(which, vectors[i], vectors[i]) - 2 * inner + norm;
        }
    }
    okra_prediction_free(p);
    okra_options_free(options);
}

static const bool *fits; /* QUERIES x COUNT; NULL: all */

static bool fitting(okra_int q, okra_int i)
{
    return !fits || fits[q * COUNT + i];
}

static bool without; /* features: the two vectors that are 0 are no candidates */

/* Each rank has as many rows before it, by plain counting, as it says. */
static void check(const okra_prediction *ranked, const double *want)
{
    okra_int tests = 0, top = 0;
    const okra_int *number = ranked_index(ranked, &tests, &top);
    const double *distance = ranked_distance(ranked);
    for (okra_int q = 0; q < tests; q++) {
        okra_int fit = 0;
        for (okra_int i = 0; i < COUNT; i++) {
            fit += fitting(q, i);
        }
        CHECK(okra_prediction_compared(ranked, q) == fit);
        for (okra_int k = 0; k < top; k++) {
            okra_int row = number[q * top + k], before = 0;
            CHECK((row >= 0) == (k < fit));
            if (row < 0) {
                continue;
            }
            double own = want[q * COUNT + row];
            CHECK(fitting(q, row));
            CHECK_NEAR(distance[q * top + k], own, 1e-11); /* seen: 1e-13 */
            for (okra_int i = 0; i < COUNT; i++) {
                bool there = fitting(q, i) && !(without && (i == 40 || i == 41));
                before += there && want[q * COUNT + i] < own - 1e-10;
            }
            CHECK(before <= k && !(without && (row == 40 || row == 41)));
        }
    }
}

static void rank_as(const char *ky, char which, okra_int rank, okra_int shard,
                    const char *name)
{
    okra_data *queries = NULL;
    okra_model *model = fit_vectors(ky, WIDTH, &queries);
    okra_index *index = NULL;
    static double want[QUERIES * COUNT];
    okra_index_report report = {OKRA_SIZED(okra_index_report)};
    CHECK_OK(build_from("v.npy", name, rank ? NULL : "linear", rank ? model : NULL, rank,
                        shard, NULL, NULL, &report));
    CHECK(report.kept == COUNT && report.width == WIDTH && report.repeated == 0);
    CHECK_OK(okra_index_open(NULL, path_of(name), &index));
    CHECK_OK(okra_index_check(NULL, index));
    CHECK(okra_index_width(index) == WIDTH && okra_index_rank(index) <= rank);
    naive(model, queries, which, want);
    for (int exact = 0; exact < 2; exact++) {
        okra_prediction *ranked = NULL;
        rank_request all = {OKRA_SIZED(rank_request), .top = 9, .shortlist = COUNT,
                            .exact = exact};
        CHECK_OK(rank_all(NULL, index, model, queries, &all, &ranked));
        without = which == 'c';
        check(ranked, want);
        without = false;
        /* Under a linear kernel the numbers themselves are compared. */
        CHECK((okra_prediction_error(ranked) > 0) ==
              (rank > 0 && !exact && which != 'l'));
        okra_prediction_free(ranked);
    }
    okra_index_free(index);
    okra_model_free(model);
    okra_data_free(queries);
}

TEST(vectors_are_ranked_as_by_plain_loops)
{
    open_folder();
    make_vectors(1);
    write_vectors("v.npy", COUNT);
    rank_as("rbf(sigma=1)", 'r', 0, 0, "a.okx");
    rank_as("rbf(sigma=1)", 'r', 0, 37, "b.okx");
    rank_as("rbf(sigma=1)", 'r', TRAIN, 50, "c.okx");
    rank_as("rbf(sigma=1)", 'r', 4, 1, "d.okx");
    rank_as("linear", 'l', 0, 64, "e.okx");
    rank_as("linear", 'l', 5, 64, "f.okx");
    rank_as("cosine", 'c', 0, 64, "g.okx");
    rank_as("cosine", 'c', 3, 64, "h.okx");
    rank_as("poly(degree=2)", 'p', 0, 64, "i.okx");
    remove_folder(folder);
}

/* Of few axes and a short list nearly all of the best are found. */
TEST(a_short_list_of_vectors_holds_the_best)
{
    okra_data *queries = NULL;
    okra_model *model = NULL;
    okra_index *index = NULL;
    okra_prediction *low = NULL, *exact = NULL;
    okra_int tests = 0, top = 0, hits = 0;
    open_folder();
    make_vectors(2);
    write_vectors("v.npy", COUNT);
    model = fit_vectors("rbf(sigma=1)", WIDTH, &queries);
    CHECK_OK(build_from("v.npy", "v.okx", NULL, model, 8, 60, NULL, NULL, NULL));
    CHECK_OK(okra_index_open(NULL, path_of("v.okx"), &index));
    rank_request r = {OKRA_SIZED(rank_request), .top = 5, .shortlist = 40};
    CHECK_OK(rank_all(NULL, index, model, queries, &r, &low));
    r.exact = true;
    CHECK_OK(rank_all(NULL, index, model, queries, &r, &exact));
    const double *a = ranked_distance(low), *b = ranked_distance(exact);
    (void)ranked_index(low, &tests, &top);
    for (okra_int k = 0; k < tests * top; k++) {
        hits += fabs(a[k] - b[k]) < 1e-11;
    }
    CHECK(hits >= 22); /* of 25 */
    okra_prediction_free(low);
    okra_prediction_free(exact);
    okra_index_free(index);
    okra_model_free(model);
    okra_data_free(queries);
    remove_folder(folder);
}

static double year_of(int i)
{
    return i % 9 == 0 ? (double)NAN : 1990 + i % 13;
}

static double mass_of(int i)
{
    return i % 10 == 0 ? 0 : (double)(i * 37 % 101);
}

static void write_about(const char *name)
{
    FILE *f = fopen(path_of(name), "w");
    CHECK(f != NULL);
    fputs("title\tmass\tyear\n", f);
    for (int i = 0; f && i < COUNT; i++) {
        fprintf(f, "item %d\t%g\t", i, mass_of(i));
        if (i % 9) {
            fprintf(f, "%g", year_of(i));
        }
        fputs(i % 50 == 7 ? "\r\n\r\n" : "\n", f);
    }
    if (f) {
        fclose(f);
    }
}

TEST(windows_of_vectors)
{
    okra_data *queries = NULL;
    okra_model *model = NULL;
    okra_index *index = NULL;
    static double want[QUERIES * COUNT];
    static bool fit[QUERIES * COUNT];
    double values[2 * QUERIES], masses[QUERIES];
    okra_index_report report = {OKRA_SIZED(okra_index_report)};
    open_folder();
    make_vectors(3);
    write_vectors("v.npy", COUNT);
    write_about("t.tsv");
    model = fit_vectors("rbf(sigma=1)", WIDTH, &queries);
    CHECK_OK(
        build_from("v.npy", "v.okx", NULL, model, 0, 70, "t.tsv", "year,mass", &report));
    CHECK(report.kept == COUNT && report.broken == 0);
    CHECK_OK(okra_index_open(NULL, path_of("v.okx"), &index));
    for (okra_int i = 0; i < COUNT; i++) { /* names and numbers are those of the row */
        char name[32];
        okra_int length = 0, row = i;
        const char *text = okra_index_text(index, i, &length);
        snprintf(name, sizeof name, "item %d", (int)row);
        CHECK((okra_int)strlen(name) == length &&
              memcmp(name, text, (size_t)length) == 0);
        double year = okra_index_value(index, i, 0);
        CHECK(isnan(year) ? row % 9 == 0 : year == year_of((int)row));
        CHECK_NEAR(okra_index_mass(index, i), mass_of((int)row), 0);
    }
    naive(model, queries, 'r', want);
    for (int q = 0; q < QUERIES; q++) {
        values[2 * q] = 1991 + 3 * q;
        values[2 * q + 1] = 0;
        masses[q] = 10 + 20 * q;
    }
    static const char *const windows[] = {"year=2", "year=1995..1997", "mass=7.5Da",
                                          "mass=20..50,year=1"};
    for (int w = 0; w < 4; w++) {
        okra_prediction *ranked = NULL;
        rank_request r = {OKRA_SIZED(rank_request), .within = windows[w], .top = 200,
                          .values = values, .masses = masses};
        for (int k = 0; k < QUERIES * COUNT; k++) {
            int q = k / COUNT, i = k % COUNT;
            double year = year_of(i), mass = mass_of(i);
            fit[k] = w == 0   ? fabs(year - values[2 * q]) <= 2
                     : w == 1 ? year >= 1995 && year <= 1997
                     : w == 2
                         ? fabs(mass - masses[q]) <= 7.5
                         : mass >= 20 && mass <= 50 && fabs(year - values[2 * q]) <= 1;
        }
        fits = fit;
        CHECK_OK(rank_all(NULL, index, model, queries, &r, &ranked));
        check(ranked, want);
        fits = NULL;
        okra_prediction_free(ranked);
    }
    okra_index_free(index);
    okra_model_free(model);
    okra_data_free(queries);
    remove_folder(folder);
}

TEST(which_vector_is_it)
{
    okra_index *index = NULL;
    okra_data *some = NULL, *narrow = NULL;
    okra_int number[4] = {0};
    double rows[4][WIDTH];
    open_folder();
    make_vectors(4);
    write_vectors("v.npy", COUNT);
    CHECK_OK(build_from("v.npy", "v.okx", "cosine", NULL, 0, 90, NULL, NULL, NULL));
    CHECK_OK(okra_index_open(NULL, path_of("v.okx"), &index));
    memcpy(rows[0], vectors[200], sizeof rows[0]);
    memcpy(rows[1], vectors[5], sizeof rows[1]);
    memcpy(rows[2], vectors[41], sizeof rows[2]);
    memcpy(rows[3], vectors[6], sizeof rows[3]);
    rows[1][2] = 0; /* there it is -0 */
    rows[3][4] += 1e-9;
    CHECK_OK(okra_data_dense(rows[0], 4, WIDTH, WIDTH, &some));
    CHECK_OK(okra_index_find(NULL, index, some, number));
    CHECK(number[0] == 3 && number[1] == 5 && number[2] == 40 && number[3] == -1);
    CHECK_OK(okra_data_dense(rows[0], 4, 2, WIDTH, &narrow));
    CHECK_FAILS(okra_index_find(NULL, index, narrow, number), OKRA_EARG,
                "expected vectors of length 5, found 4 dense vectors of length 2");
    okra_index_free(index);
    okra_data_free(some);
    okra_data_free(narrow);
    remove_folder(folder);
}

MAIN(RUN(vectors_are_ranked_as_by_plain_loops),
     RUN(a_short_list_of_vectors_holds_the_best), RUN(windows_of_vectors),
     RUN(which_vector_is_it))
