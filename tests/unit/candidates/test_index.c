/*
 * test_index.c: indexes of candidates: what is kept, runs that go on, and files that
 * somebody altered.
 */
#include "index_files.h"
#include "okra/more/index.h"

TEST(what_is_kept)
{
    static const char *const texts[] = {
        "OCC ethanol", "CCO",      "C(O)C again",    "c1ccccc1",
        "C1=CC=CC=C1", "",         "C1CC",           "[Na+].[Cl-]",
        "[Cl-].[Na+]", "CC*",      "C1CCCC1C1CCCC1", "C1CCC2CCCCC2C1",
        "F/C=C/F",     "F/C=C\\F", "[13CH4]",        "C"};
    okra_index_report report = {OKRA_SIZED(okra_index_report)};
    okra_index *index = NULL;
    open_folder();
    for (int k = 0; k < 16; k++) {
        strcpy(lines[k], texts[k]);
    }
    write_source("a.smi", 16);
    for (int shard = 2; shard <= 100; shard += 98) {
        const char *name = shard == 2 ? "a.okx" : "b.okx";
        CHECK_OK(build("a.smi", name, "ecfp(bits=64)|tanimoto", NULL, 0, shard, &report));
        CHECK(report.lines == 15 && report.kept == 9 && report.broken == 1);
        CHECK(report.repeated == 5 && report.apart == 1 && report.massless == 1);
        CHECK(report.shards == (shard == 2 ? 8 : 1) && report.whole);
        CHECK_OK(okra_index_open(NULL, path_of(name), &index));
        CHECK_OK(okra_index_check(NULL, index));
        CHECK(okra_index_count(index) == 9);
        okra_int length = 0;
        okra_int there = 0, row = 0;
        CHECK(okra_index_lines(index) == 15);
        for (int k = 0; k < 16; k++) { /* a number is a row that is not empty */
            const char *text = okra_index_text(index, row, &length);
            CHECK(!text || ((size_t)length == strlen(lines[k]) &&
                            memcmp(text, lines[k], (size_t)length) == 0));
            there += *lines[k] && text;
            row += *lines[k] != 0;
        }
        CHECK(there == 9);
        CHECK(!okra_index_text(index, 15, &length) && okra_index_mass(index, -1) == 0);
        okra_index_free(index);
        index = NULL;
    }
    CHECK_FAILS(build("a.smi", "b.okx", "ecfp(bits=64)|tanimoto", NULL, 0, 0, NULL),
                OKRA_EIO, "is there already");
    CHECK_FAILS(build("a.smi", "c", "ecfp", NULL, 0, 0, NULL), OKRA_EARG,
                "the name of an index ends in .okx");
    CHECK_FAILS(build("none.smi", "c.okx", "ecfp", NULL, 0, 0, NULL), OKRA_EIO,
                "cannot be opened");
    remove_folder(folder);
}

/* Chains with two marks far from each other and from the ends: what tells them apart is
 * further away than a few bonds. Each stands once, and once from the other end. */
TEST(long_chains)
{
    enum { CHAINS = 60, ATOMS = 120 };
    okra_index_report report = {OKRA_SIZED(okra_index_report)};
    open_folder();
    for (int k = 0; k < CHAINS; k++) {
        char *at = lines[2 * k], *back = lines[2 * k + 1];
        for (int i = 0; i < ATOMS; i++) {
            at[i] = i == 20 + k % 10 ? 'O' : i == 60 + k / 10 ? 'N' : 'C';
        }
        at[ATOMS] = back[ATOMS] = '\0';
        for (int i = 0; i < ATOMS; i++) {
            back[i] = at[ATOMS - 1 - i];
        }
    }
    write_source("a.smi", 2 * CHAINS);
    CHECK_OK(build("a.smi", "a.okx", "ecfp(bits=64)|tanimoto", NULL, 0, 50, &report));
    CHECK(report.kept == CHAINS && report.repeated == CHAINS && report.apart == 0);
    remove_folder(folder);
}

TEST(requests_that_do_not_fit)
{
    okra_data *queries = NULL, *other = NULL;
    okra_model *model = NULL;
    okra_index *index = NULL;
    okra_prediction *ranked = NULL;
    open_folder();
    make_lines(20, 4);
    write_source("a.smi", 20);
    model = make_model("ecfp(bits=64)|tanimoto", &queries);
    CHECK_OK(build("a.smi", "a.okx", NULL, model, 4, 0, NULL));
    CHECK_OK(okra_index_open(NULL, path_of("a.okx"), &index));
    rank_request r = {OKRA_SIZED(rank_request), .top = 3};
    static const char *const windows[] = {"mass",         "mass=x",     "mass=1",
                                          "weight=10ppm", "mass=-1ppm", "mass=1ppm "};
    for (int k = 0; k < 6; k++) {
        r.within = windows[k];
        CHECK(rank_all(NULL, index, model, queries, &r, &ranked) == OKRA_EARG);
    }
    r.within = "mass=10ppm";
    CHECK_FAILS(rank_all(NULL, index, model, queries, &r, &ranked), OKRA_EARG,
                "does not tell its mass");
    r.within = NULL;
    r.top = 0;
    CHECK_FAILS(rank_all(NULL, index, model, queries, &r, &ranked), OKRA_EARG,
                "top is 0");
    CHECK_FAILS(build("a.smi", "b.okx", "ecfp(bits=32)|tanimoto", model, 0, 0, NULL),
                OKRA_EARG, "that of the model");
    CHECK_FAILS(build("a.smi", "b.okx", "ecfp|tanimoto", NULL, 4, 0, NULL), OKRA_EARG,
                "low rank needs a model whose outputs are molecules");
    CHECK_FAILS(build("a.smi", "b.okx", "nonsense", NULL, 0, 0, NULL), OKRA_EARG,
                "nonsense");
    CHECK(okra_index_open(NULL, path_of("a.smi"), &index) != OKRA_OK);
    okra_index_free(index);
    okra_data_free(other);
    okra_model_free(model);
    okra_data_free(queries);
    remove_folder(folder);
}

TEST(a_run_that_was_stopped_goes_on)
{
    okra_index_report report = {OKRA_SIZED(okra_index_report)};
    okra_index *a = NULL, *b = NULL;
    char command[1200];
    open_folder();
    make_lines(120, 5);
    write_source("a.smi", 120);
    CHECK_OK(build("a.smi", "a.okx", "ecfp(bits=64)|tanimoto", NULL, 0, 30, &report));
    /* What a run leaves that was killed in its third shard: two whole ones, and one cut.
     */
    snprintf(command, sizeof command, "cp -r %s %s && rm %s/index.json %s/shard-00003",
             path_of("a.okx"), path_of("b.okx.part"), path_of("b.okx.part"),
             path_of("b.okx.part"));
    CHECK(system(command) == 0);
    CHECK(truncate(path_of("b.okx.part/shard-00002"),
                   size_of(path_of("b.okx.part/shard-00002")) - 64) == 0);
    okra_index_report again = {OKRA_SIZED(okra_index_report)};
    CHECK_OK(build("a.smi", "b.okx", "ecfp(bits=64)|tanimoto", NULL, 0, 30, &again));
    CHECK(again.resumed == 2 && again.kept == report.kept &&
          again.repeated == report.repeated && again.shards == 4);
    CHECK_OK(okra_index_open(NULL, path_of("a.okx"), &a));
    CHECK_OK(okra_index_open(NULL, path_of("b.okx"), &b));
    for (okra_int i = 0; i < okra_index_lines(a); i++) {
        okra_int la = 0, lb = 0;
        const char *ta = okra_index_text(a, i, &la), *tb = okra_index_text(b, i, &lb);
        CHECK(!ta == !tb && la == lb && (!ta || memcmp(ta, tb, (size_t)la) == 0));
    }
    /* Other settings: nothing is kept. */
    snprintf(command, sizeof command, "cp -r %s %s", path_of("a.okx"),
             path_of("c.okx.part"));
    CHECK(system(command) == 0);
    CHECK_OK(build("a.smi", "c.okx", "ecfp(bits=128)|tanimoto", NULL, 0, 70, &again));
    CHECK(again.resumed == 0 && again.shards == 2);
    CHECK(size_of(path_of("c.okx/shard-00001")) > 0); /* and what was more is gone */
    CHECK(size_of(path_of("c.okx/shard-00002")) < 0);
    okra_index_free(a);
    okra_index_free(b);
    remove_folder(folder);
}

/* Any byte of any file altered: refused, or ranked without harm. */
TEST(altered_files_do_no_harm)
{
    okra_random_ r = okra_random_create_(1, 7);
    okra_data *queries = NULL;
    okra_model *model = NULL;
    int opened = 0, caught = 0;
    open_folder();
    make_lines(60, 6);
    write_source("a.smi", 60);
    model = make_model("ecfp(bits=64)|tanimoto", &queries);
    CHECK_OK(build("a.smi", "a.okx", NULL, model, 4, 25, NULL));
    static const char *const files[] = {"a.okx/index.json", "a.okx/shard-00000",
                                        "a.okx/shard-00001", "a.okx/basis.npy"};
    for (int round = 0; round < 600; round++) {
        const char *path = path_of(files[round % 4]);
        long size = size_of(path), at = okra_random_below_(&r, size);
        at = round % 8 < 4 ? at % 200 : at;
        FILE *f = fopen(path, "r+b");
        CHECK(f && fseek(f, at, SEEK_SET) == 0);
        int before = fgetc(f);
        fseek(f, at, SEEK_SET);
        fputc((before ^ (1 << okra_random_below_(&r, 8))) & 255, f);
        fclose(f);
        okra_index *index = NULL;
        if (okra_index_open(NULL, path_of("a.okx"), &index) == OKRA_OK) {
            okra_prediction *ranked = NULL;
            rank_request q = {OKRA_SIZED(rank_request), .top = 5, .shortlist = 9,
                              .exact = round % 3 == 0};
            opened++;
            caught += okra_index_check(NULL, index) != OKRA_OK;
            okra_status st = rank_all(NULL, index, model, queries, &q, &ranked);
            CHECK(st == OKRA_OK || okra_message()[0]);
            for (okra_int i = 0; i < okra_index_count(index); i++) {
                okra_int length = 0;
                CHECK(!okra_index_text(index, i, &length) || length >= 0);
            }
            okra_prediction_free(ranked);
            okra_index_free(index);
        } else {
            CHECK(okra_message()[0]);
        }
        f = fopen(path, "r+b");
        CHECK(f && fseek(f, at, SEEK_SET) == 0);
        fputc(before, f);
        fclose(f);
    }
    CHECK(opened > 50 && caught > 20);
    okra_model_free(model);
    okra_data_free(queries);
    remove_folder(folder);
}

/* Ends of texts that tell of the same bytes in every second row: the budget counts what
 * the rows hold, not the file. */
TEST(rows_that_share_a_text_obey_the_budget)
{
    enum { LONG = 1000000 };
    okra_context *ctx = NULL;
    okra_data *queries = NULL;
    okra_model *model = make_model("wl", &queries);
    okra_index *index = NULL;
    okra_prediction *ranked = NULL;
    okra_shard_ shard = {.mass = NULL};
    rank_request q = {OKRA_SIZED(rank_request), .top = 5};
    uint64_t end[MOST] = {0};
    char *text = malloc(LONG);
    open_folder();
    make_lines(60, 6);
    write_source("a.smi", 60);
    CHECK_OK(build("a.smi", "a.okx", NULL, model, 0, 100, NULL));
    CHECK_OK(okra_shard_open_(NULL, path_of("a.okx/shard-00000"), &shard));
    for (uint64_t k = 0; k < shard.head.rows; k += 2) {
        end[k] = LONG;
    }
    memset(text, 'C', LONG);
    shard.head.texts = LONG;
    shard.end = end;
    shard.text = text;
    CHECK_OK(okra_shard_write_(path_of("a.okx/shard-00000"), &shard));
    okra_shard_close_(&shard);
    CHECK_OK(okra_context_create(&ctx));
    CHECK_OK(okra_context_set_memory(ctx, 64 << 20));
    CHECK_OK(okra_index_open(ctx, path_of("a.okx"), &index));
    CHECK_OK(okra_index_check(ctx, index));
    CHECK_FAILS(rank_all(ctx, index, model, queries, &q, &ranked), OKRA_EBUDGET,
                "candidates needs");
    okra_index_free(index);
    okra_context_free(ctx);
    okra_model_free(model);
    okra_data_free(queries);
    free(text);
    remove_folder(folder);
}

MAIN(RUN(what_is_kept), RUN(long_chains), RUN(requests_that_do_not_fit),
     RUN(a_run_that_was_stopped_goes_on), RUN(altered_files_do_no_harm),
     RUN(rows_that_share_a_text_obey_the_budget))
