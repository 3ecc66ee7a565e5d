/*
 * test_vector_files.c: vectors that do not fit, runs that go on.
 */
#include "vector_files.h"
#include "okra/more/index.h"

static void write_text(const char *name, const char *text)
{
    FILE *f = fopen(path_of(name), "w");
    CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

TEST(vectors_that_do_not_fit)
{
    okra_data *queries = NULL;
    okra_model *model = NULL, *narrow = NULL, *molecules = NULL;
    okra_index *index = NULL;
    okra_prediction *ranked = NULL;
    okra_context *strict = NULL;
    okra_index_report report = {OKRA_SIZED(okra_index_report)};
    open_folder();
    make_vectors(5);
    write_vectors("v.npy", 4);
    write_text("short.tsv", "name\tx\na\t1\nb\t2\n\nc\t3\n");
    write_text("x.tsv", "name\tx\na\t1\nb\tone\nc\t\nd\t4\n");
    write_text("t.csv", "name,x\n");
    write_text("s.smi", "CCO\n");
    CHECK_FAILS(
        build_from("v.npy", "a.okx", "ecfp(bits=64)", NULL, 0, 0, NULL, NULL, NULL),
        OKRA_EARG, "ecfp");
    CHECK_FAILS(
        build_from("v.npy", "a.okx", "rbf(sigma=1)", NULL, 0, 0, "short.tsv", NULL, NULL),
        OKRA_EFORMAT, "3 lines below the header, expected 4");
    CHECK_FAILS(build_from("v.npy", "a.okx", "linear", NULL, 0, 0, "t.csv", NULL, NULL),
                OKRA_EFORMAT, "0 lines below the header, expected 4");
    CHECK_FAILS(build_from("v.npy", "a.okx", "linear", NULL, 0, 0, NULL, "x", NULL),
                OKRA_EARG, "columns need a table with a header, NAME.tsv, beside");
    CHECK_FAILS(build_from("v.npy", "a.okx", "linear", NULL, 0, 0, "x.tsv", "z", NULL),
                OKRA_EFORMAT, "x.tsv: line 1: no column is called 'z'");
    CHECK_FAILS(
        build_from("s.smi", "a.okx", "ecfp(bits=64)", NULL, 0, 0, "x.tsv", NULL, NULL),
        OKRA_EARG, "a table apart is for vectors");
    CHECK_OK(build_from("v.npy", "x.okx", "linear", NULL, 0, 0, "x.tsv", "x", &report));
    CHECK(report.lines == 4 && report.kept == 3 && report.broken == 1);
    vectors[1][3] = (double)NAN; /* is left out, or an error where the run is strict */
    write_vectors("gap.npy", 4);
    CHECK_OK(build_from("gap.npy", "gap.okx", "linear", NULL, 0, 2, NULL, NULL, &report));
    CHECK(report.lines == 4 && report.kept == 3 && report.broken == 1);
    CHECK_OK(okra_index_open(NULL, path_of("gap.okx"), &index));
    okra_int length = 0;
    CHECK(okra_index_text(index, 0, &length) && !okra_index_text(index, 1, &length) &&
          okra_index_text(index, 3, &length) && okra_index_lines(index) == 4);
    CHECK_OK(okra_context_create(&strict));
    CHECK_OK(okra_context_set_strict(strict, 1));
    okra_index_request r = {OKRA_SIZED(okra_index_request), .source = path_of("gap.npy"),
                            .path = path_of("s.okx"), .ky = "linear"};
    CHECK_FAILS(okra_index_build(strict, &r, NULL), OKRA_EFORMAT,
                "row 1, column 3 (counted from 0) is nan, expected a number");
    model = fit_vectors("linear", WIDTH, &queries);
    okra_data_free(queries);
    narrow = fit_vectors("linear", 2, &queries);
    CHECK_FAILS(build_from("gap.npy", "n.okx", NULL, narrow, 2, 0, NULL, NULL, NULL),
                OKRA_EARG, "low rank needs a model whose outputs are vectors of as many");
    rank_request q = {OKRA_SIZED(rank_request), .top = 3};
    CHECK_FAILS(rank_all(NULL, index, narrow, queries, &q, &ranked), OKRA_EARG,
                "outputs are 12 dense vectors of length 2, the candidates dense vectors "
                "of length 5");
    okra_data_free(queries);
    molecules = make_model("ecfp(bits=64)", &queries);
    CHECK_FAILS(rank_all(NULL, index, molecules, queries, &q, &ranked), OKRA_EARG,
                "the candidates dense vectors of length 5");
    q.within = "mass=10ppm";
    CHECK_FAILS(rank_all(NULL, index, model, queries, &q, &ranked), OKRA_EARG,
                "the index has no column 'mass'");
    q.within = "formula";
    CHECK_FAILS(rank_all(NULL, index, model, queries, &q, &ranked), OKRA_EARG,
                "the index has no column 'formula'");
    okra_index_free(index);
    okra_context_free(strict);
    okra_model_free(model);
    okra_model_free(narrow);
    okra_model_free(molecules);
    okra_data_free(queries);
    remove_folder(folder);
}

/* Values so large that inner products overflow are left out. */
TEST(huge_vectors)
{
    okra_index_report report = {OKRA_SIZED(okra_index_report)};
    okra_index *index = NULL;
    open_folder();
    make_vectors(6);
    vectors[2][1] = vectors[7][0] = 1e308;
    vectors[7][1] = -1e308;
    vectors[9][4] = 1e150; /* its square is a number yet */
    write_vectors("v.npy", 20);
    CHECK_OK(build_from("v.npy", "v.okx", "linear", NULL, 0, 7, NULL, NULL, &report));
    CHECK(report.broken == 2 && report.kept == 18);
    CHECK_OK(okra_index_open(NULL, path_of("v.okx"), &index));
    for (okra_int i = 0; i < 20; i++) {
        okra_int length = 0;
        CHECK((okra_index_text(index, i, &length) == NULL) == (i == 2 || i == 7));
    }
    okra_index_free(index);
    remove_folder(folder);
}

TEST(a_run_over_vectors_goes_on)
{
    okra_index_report report = {OKRA_SIZED(okra_index_report)};
    char command[1200];
    open_folder();
    make_vectors(7);
    write_vectors("v.npy", COUNT);
    CHECK_OK(build_from("v.npy", "a.okx", "linear", NULL, 0, 60, NULL, NULL, &report));
    CHECK(report.shards == 4);
    snprintf(command, sizeof command,
             "cp -r %s %s && rm %s/index.json %s/shard-00001 && cp -r %s %s",
             path_of("a.okx"), path_of("b.okx.part"), path_of("b.okx.part"),
             path_of("b.okx.part"), path_of("b.okx.part"), path_of("c.okx.part"));
    CHECK(system(command) == 0);
    CHECK_OK(build_from("v.npy", "b.okx", "linear", NULL, 0, 60, NULL, NULL, &report));
    CHECK(report.resumed == 3 && report.kept == COUNT);
    for (int k = 0; k < 4; k++) {
        char a[40], b[40];
        snprintf(a, sizeof a, "a.okx/shard-0000%d", k);
        snprintf(b, sizeof b, "b.okx/shard-0000%d", k);
        snprintf(command, sizeof command, "cmp %s %s", path_of(a), path_of(b));
        CHECK(system(command) == 0);
    }
    vectors[100][0] += 1; /* another source of the same size: nothing is kept */
    write_vectors("v.npy", COUNT);
    CHECK_OK(build_from("v.npy", "c.okx", "linear", NULL, 0, 60, NULL, NULL, &report));
    CHECK(report.resumed == 0 && report.kept == COUNT);
    remove_folder(folder);
}

MAIN(RUN(vectors_that_do_not_fit), RUN(huge_vectors), RUN(a_run_over_vectors_goes_on))
