/*
 * test_window.c: windows by formula and by columns, against plain loops.
 */
#include "index_files.h"
#include "okra/more/index.h"
#include "okra/more/objects.h"
#include "okra/more/prediction.h"

enum { TABLE = 90 };

static double logp_of(int k)
{
    return k % 7 == 0 ? (double)NAN : (double)(k % 11) / 2 - 1;
}

static void write_table(const char *name)
{
    FILE *f = fopen(path_of(name), "w");
    CHECK(f != NULL);
    fputs("Name\tlogp\tSMILES\trt\n", f);
    for (int k = 0; k < TABLE; k++) {
        fprintf(f, "mol %d\t", k);
        if (k % 7) {
            fprintf(f, "%g", logp_of(k));
        }
        fprintf(f, "\t%s\t%d\r\n", lines[k], k);
    }
    fclose(f);
}

static void formula_of(const char *text, char *out)
{
    okra_data *one = NULL;
    CHECK_OK(okra_data_smiles(NULL, &text, 1, &one));
    okra_data_formula(one, 0, out, 64);
    okra_data_free(one);
}

/* The candidates that a ranking of all gave are those for which `fits` is told. */
static void check_fitting(const okra_prediction *ranked, const okra_index *index,
                          const bool *fits)
{
    okra_int tests = 0, top = 0, n = okra_index_lines(index);
    const okra_int *number = ranked_index(ranked, &tests, &top);
    for (okra_int q = 0; q < tests; q++) {
        bool seen[TABLE] = {false};
        okra_int count = 0;
        for (okra_int k = 0; k < top && number[q * top + k] >= 0; k++) {
            seen[number[q * top + k]] = true;
        }
        for (okra_int i = 0; i < n; i++) {
            CHECK(seen[i] == fits[q * n + i]);
            count += fits[q * n + i];
        }
        CHECK(okra_prediction_compared(ranked, q) == count);
    }
}

TEST(windows_are_those_of_plain_loops)
{
    okra_index_report report = {OKRA_SIZED(okra_index_report)};
    okra_data *queries = NULL;
    okra_model *model = NULL;
    okra_index *index = NULL;
    okra_int length = 0;
    char formula[QUERIES][64];
    const char *formulas[QUERIES];
    double values[2 * QUERIES];
    bool fits[QUERIES * TABLE], any = false, some = false;
    open_folder();
    make_lines(TABLE, 21);
    write_table("t.tsv");
    model = make_model("ecfp(bits=64) | tanimoto", &queries);
    okra_index_request request = {OKRA_SIZED(okra_index_request),
                                  .source = path_of("t.tsv"),
                                  .path = path_of("t.okx"),
                                  .model = model,
                                  .shard = 40,
                                  .columns = "LogP,rt"};
    CHECK_OK(okra_index_build(NULL, &request, &report));
    CHECK(report.lines == TABLE && report.broken == 0);
    CHECK_OK(okra_index_open(NULL, path_of("t.okx"), &index));
    okra_int n = okra_index_lines(index);
    CHECK(okra_index_columns(index) == 2 && !okra_index_column(index, 2));
    CHECK(strcmp(okra_index_column(index, 1), "rt") == 0);
    for (okra_int i = 0; i < n; i++) { /* each number is that of its own line */
        char text[200];
        const char *p = okra_index_text(index, i, &length);
        int line = (int)i;
        if (!p) {
            continue; /* there already, in an earlier row */
        }
        CHECK(okra_index_value(index, i, 1) == (double)line);
        snprintf(text, sizeof text, "%s mol %d", lines[line], line);
        CHECK((okra_int)strlen(text) == length && memcmp(p, text, (size_t)length) == 0);
        double logp = okra_index_value(index, i, 0), want = logp_of(line);
        CHECK(isnan(want) ? isnan(logp) : logp == want);
    }
    CHECK(isnan(okra_index_value(index, 0, 2)) && isnan(okra_index_value(index, -1, 0)));
    for (int q = 0; q < QUERIES; q++) {
        formula_of(lines[7 * q], formula[q]);
        formulas[q] = formula[q];
        values[2 * q] = 0.5 * q - 0.75;
        values[2 * q + 1] = 20 * q;
    }
    static const char *const windows[] = {"formula", "logp=0.5", "rt=10..40,logp=1",
                                          "mass=60..120,formula", "rt=0..1000000"};
    for (int w = 0; w < 5; w++) {
        okra_prediction *ranked = NULL;
        rank_request r = {OKRA_SIZED(rank_request), .within = windows[w], .top = TABLE,
                          .formulas = formulas, .values = values};
        CHECK_OK(rank_all(NULL, index, model, queries, &r, &ranked));
        for (okra_int k = 0; k < QUERIES * n; k++) {
            okra_int q = k / n, i = k % n;
            char own[64];
            int line = (int)i;
            double logp = logp_of(line), mass = okra_index_mass(index, i);
            formula_of(lines[line], own);
            bool same = strcmp(own, formula[q]) == 0;
            bool near = fabs(logp - values[2 * q]) <= (w == 1 ? 0.5 : 1);
            fits[k] = w == 0   ? same
                      : w == 1 ? near
                      : w == 2 ? line >= 10 && line <= 40 && near
                      : w == 3 ? same && mass >= 60 && mass <= 120
                               : true;
            fits[k] = fits[k] && okra_index_text(index, i, &length);
            any = any || (w == 0 && fits[k]);
            some = some || (w == 2 && fits[k]);
        }
        check_fitting(ranked, index, fits);
        okra_prediction_free(ranked);
    }
    CHECK(any && some);
    okra_index_free(index);
    okra_model_free(model);
    okra_data_free(queries);
    remove_folder(folder);
}

TEST(tables_and_windows_that_do_not_fit)
{
    okra_index_report report = {OKRA_SIZED(okra_index_report)};
    okra_data *queries = NULL;
    okra_model *model = NULL;
    okra_index *index = NULL;
    okra_prediction *ranked = NULL;
    static const struct {
        const char *file, *text, *columns;
        okra_status status;
        const char *message;
    } bad[] = {
        {"a.tsv", "", NULL, OKRA_EFORMAT, "the file is empty; expected a header"},
        {"b.tsv", "name\tmass\n", NULL, OKRA_EFORMAT, "no column is called 'smiles'"},
        {"c.tsv", "smiles\tlogp\nC\t1\n", "logk", OKRA_EFORMAT,
         "no column is called 'logk'"},
        {"d.tsv", "smiles\tmass\nC\t1\n", "mass", OKRA_EARG, "neither mass nor formula"},
        {"e.tsv", "smiles\tx\nC\t1\n", "x,,x", OKRA_EARG, "is called ''"},
        {"f.smi", "C\n", "logp", OKRA_EARG, "columns need a table with a header"},
        {"g.csv", "smiles,logp\nC,1\n", NULL, OKRA_EARG, "has tabs between columns"},
        {"h.tsv", "smiles\tx\n", "x", OKRA_EFORMAT, "there is no molecule in the file"},
        {"i.tsv", "smiles\tx\nC\thigh\n", "x", OKRA_EFORMAT,
         "there is no molecule in the file"},
    };
    open_folder();
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        FILE *f = fopen(path_of(bad[k].file), "w");
        CHECK(f && fputs(bad[k].text, f) >= 0 && fclose(f) == 0);
        okra_index_request r = {OKRA_SIZED(okra_index_request),
                                .source = path_of(bad[k].file), .path = path_of("x.okx"),
                                .ky = "ecfp(bits=64)", .columns = bad[k].columns};
        CHECK_FAILS(okra_index_build(NULL, &r, NULL), bad[k].status, bad[k].message);
    }
    FILE *f = fopen(path_of("t.tsv"), "w"); /* broken lines are left out, one by one */
    CHECK(f &&
          fputs("\xef\xbb\xbfsmiles\tx\nC\thigh\nCC\t1e999\nCCC\tnan\n\tNA\nCO\t\n"
                "CN\nCS\t-7\tmore\n",
                f) >= 0 &&
          fclose(f) == 0);
    model = make_model("ecfp(bits=64) | tanimoto", &queries);
    okra_index_request good = {OKRA_SIZED(okra_index_request), .source = path_of("t.tsv"),
                               .path = path_of("s.okx"), .model = model, .columns = "x"};
    report.size = offsetof(okra_index_report, broken); /* of an older caller */
    report.broken = -1;
    CHECK_OK(okra_index_build(NULL, &good, &report));
    CHECK(report.size == offsetof(okra_index_report, broken) && report.broken == -1);
    CHECK(report.lines == 7 && report.kept == 3);
    report.size = 0;
    CHECK_FAILS(okra_index_build(NULL, &good, &report), OKRA_EARG, "OKRA_SIZED");
    report.size = sizeof report;
    good.path = path_of("t.okx");
    CHECK_OK(okra_index_build(NULL, &good, &report));
    CHECK(report.lines == 7 && report.kept == 3 && report.broken == 4);
    CHECK_OK(okra_index_open(NULL, path_of("t.okx"), &index));
    rank_request r = {OKRA_SIZED(rank_request), .top = 3};
    static const char *const windows[] = {
        "x",    "x=",        "x=1ppm2", "x=1Da", "x=3..1",      "x=..",   "x=1,",
        ",x=1", "formula=1", "x=-1",    "x=nan", "mass=1..inf", "x=1e999"};
    for (size_t k = 0; k < sizeof windows / sizeof *windows; k++) {
        r.within = windows[k];
        CHECK_FAILS(rank_all(NULL, index, model, queries, &r, &ranked), OKRA_EARG,
                    "expected parts such as mass=10ppm");
    }
    r.within = "y=1";
    CHECK_FAILS(rank_all(NULL, index, model, queries, &r, &ranked), OKRA_EARG,
                "the index has no column 'y'");
    r.within = "x=1";
    CHECK_FAILS(rank_all(NULL, index, model, queries, &r, &ranked), OKRA_EARG,
                "does not tell its x, which a window needs");
    double values[QUERIES] = {(double)NAN, -7, 0, -6.5, (double)NAN};
    r.values = values; /* some tell it: the others get nothing */
    CHECK_OK(rank_all(NULL, index, model, queries, &r, &ranked));
    for (int q = 0; q < QUERIES; q++) {
        CHECK(okra_prediction_compared(ranked, q) == (q == 1 || q == 3));
    }
    okra_prediction_free(ranked);
    okra_index_free(index);
    okra_model_free(model);
    okra_data_free(queries);
    remove_folder(folder);
}

MAIN(RUN(windows_are_those_of_plain_loops), RUN(tables_and_windows_that_do_not_fit))
