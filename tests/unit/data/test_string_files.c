/* Strings and sequences in files of every sort that holds them, and back. */
#include "files.h"
#include "texts.h"

/* Each test works in a folder of its own. */
static void enter(void)
{
    files_path("");
    CHECK(chdir(files_folder) == 0);
}

static void leave(void)
{
    CHECK(chdir("/") == 0);
    files_clean();
}

static void put_file(const char *path, const char *content)
{
    FILE *f = fopen(path, "w");
    fputs(content, f);
    fclose(f);
}

static void check_file(const char *path, const char *expected)
{
    char content[512] = "";
    FILE *f = fopen(path, "r");
    size_t size = f ? fread(content, 1, sizeof content - 1, f) : 0;
    content[size] = 0;
    CHECK(strcmp(content, expected) == 0);
    if (f) {
        fclose(f);
    }
}

TEST(strings_by_file_and_back)
{
    okra_data *d = NULL;
    enter();
    put_file("t.txt", "abad\nb\xc3\xa9\n");
    CHECK_OK(okra_data_read(NULL, "t.txt", &d));
    CHECK(d->n == 2 && is(d, 0, "abad") && strcmp(d->source, "t.txt") == 0);
    CHECK_OK(okra_data_write(NULL, d, "t2.txt"));
    check_file("t2.txt", "abad\nb\xc3\xa9\n");
    CHECK_OK(okra_data_write(NULL, d, "t2.fasta"));
    check_file("t2.fasta", ">0\nabad\n>1\nb\xc3\xa9\n");
    CHECK_OK(okra_data_write(NULL, d, "t2.csv"));
    check_file("t2.csv", "abad\nb\xc3\xa9\n");
    CHECK_FAILS(okra_data_write(NULL, d, "t2.npy"), OKRA_EUNSUPPORTED, "strings");
    okra_data_free(d);
    d = NULL;
    put_file("t.words", "x\n");
    CHECK_OK(okra_data_read(NULL, "strings:t.words", &d));
    CHECK(is(d, 0, "x"));
    okra_data_free(d);
    d = NULL;
    CHECK_FAILS(okra_data_read(NULL, "dense:t.txt", &d), OKRA_EARG,
                "t.txt: 'dense:' does not go with strings");
    put_file("t.fa", ">a b\nAC\nGT\n");
    CHECK_OK(okra_data_read(NULL, "t.fa", &d));
    CHECK_OK(okra_data_write(NULL, d, "t2.fasta"));
    check_file("t2.fasta", ">a b\nACGT\n");
    okra_data_free(d);
    d = NULL;
    put_file("t.txt", "a\n\n");
    CHECK_FAILS(okra_data_read(NULL, "t.txt", &d), OKRA_EFORMAT,
                "t.txt: line 2, character 1");
    const double x = 1;
    CHECK_OK(okra_data_dense(&x, 1, 1, 1, &d));
    CHECK_FAILS(okra_data_write(NULL, d, "t2.txt"), OKRA_EUNSUPPORTED,
                "dense data cannot be");
    okra_data_free(d);
    leave();
}

/* What a file of lines or FASTA would be misread for is not written. */
TEST(texts_that_formats_cannot_say)
{
    const char *const odd[] = {"plain", "a\nb", "a\rb", "a>b", "a\tb", "\x1b[2J"};
    const char *const in_fasta[] = {NULL,     "U+000A", "U+000D",
                                    "U+003E", "U+0009", "U+001B"};
    okra_data *d = NULL;
    enter();
    for (size_t k = 0; k < sizeof odd / sizeof *odd; k++) {
        const char *both[] = {"ok", odd[k]};
        CHECK_OK(okra_data_strings(both, 2, &d));
        if (k == 1 || k == 2) {
            CHECK_FAILS(okra_data_write(NULL, d, "t2.txt"), OKRA_EUNSUPPORTED,
                        "t2.txt: string 1 (counted from 0) holds a line end");
        } else {
            CHECK_OK(okra_data_write(NULL, d, "t2.txt"));
        }
        if (in_fasta[k]) {
            CHECK_FAILS(okra_data_write(NULL, d, "t3.fasta"), OKRA_EUNSUPPORTED,
                        in_fasta[k]);
        } else {
            CHECK_OK(okra_data_write(NULL, d, "t3.fasta"));
        }
        okra_data_free(d);
        d = NULL;
    }
    check_file("t3.fasta", ">0\nok\n>1\nplain\n"); /* the last that could be said */
    const char *nodes[] = {"a", "b\nc"};
    const okra_int ends[] = {0, 1}, codes[] = {0, 1};
    const double weight = 1;
    CHECK_OK(okra_data_nodes(2, nodes, ends, &weight, 1, codes, 2, &d));
    CHECK_FAILS(okra_data_write(NULL, d, "t2.txt"), OKRA_EUNSUPPORTED,
                "node 1 (counted from 0) holds a line end");
    okra_data_free(d);
    leave();
}

TEST(strings_of_a_column)
{
    okra_data *d = NULL;
    enter();
    put_file("t.csv", "word,n,say\nab,1,\"a,\"\"b\"\ncd,2,-\n");
    CHECK_OK(okra_data_read(NULL, "strings:t.csv:word", &d));
    CHECK(d->n == 2 && is(d, 0, "ab") && is(d, 1, "cd"));
    okra_data_free(d);
    CHECK_OK(okra_data_read(NULL, "strings:t.csv:3", &d));
    CHECK(d->n == 2 && is(d, 0, "a,\"b") && is(d, 1, "-"));
    okra_data_free(d);
    d = NULL;
    CHECK_FAILS(okra_data_read(NULL, "strings:t.csv", &d), OKRA_ESHAPE, "found 3");
    CHECK_FAILS(okra_data_read(NULL, "strings:t.csv:none", &d), OKRA_EARG,
                "no column 'none'");
    put_file("t.csv", "w,n\nab,1\n,2\n");
    CHECK_FAILS(okra_data_read(NULL, "strings:t.csv:w", &d), OKRA_EFORMAT,
                "line 3, column 1: the field is empty");
    put_file("t.csv", "w,n\na\xc3\xa9\xff,1\n");
    CHECK_FAILS(okra_data_read(NULL, "strings:t.csv:w", &d), OKRA_EFORMAT,
                "line 2, column 1, character 3: not UTF-8");
    put_file("t.csv", "w,n\na\xc3,1\n");
    CHECK_FAILS(okra_data_read(NULL, "strings:t.csv:w", &d), OKRA_EFORMAT, "ends inside");
    leave();
}

TEST(sequences_by_file)
{
    okra_data *d = NULL;
    enter();
    put_file("t.tsv", "letter\tword_id\tposition\no\t0\t0\nm\t0\t1\nx\t1\t0\n");
    put_file("v.csv", "1,2\n3,4\n5,6\n");
    CHECK_OK(okra_data_read(NULL, "sequences:v.csv:t.tsv", &d));
    CHECK(d->n == 2 && d->d == 2 && is(d, 0, "om") && is(d, 1, "x"));
    CHECK(((const double *)d->groups[0].fields[0].values)[5] == 6);
    CHECK_OK(okra_data_write(NULL, d, "t2.txt"));
    check_file("t2.txt", "om\nx\n");
    okra_data_free(d);
    CHECK_OK(okra_data_read(NULL, "sequences:t.tsv", &d));
    CHECK(d->n == 2 && d->d == 0 && is(d, 0, "om"));
    okra_data_free(d);
    put_file("t.data", "1\to\t2\t1\t1\t0\t0\t1\t\n2\tm\t-1\t1\t2\t0\t1\t1\t\n3\tx\t-"
                       "1\t2\t1\t0\t1\t0\t\n");
    CHECK_OK(okra_data_read(NULL, "t.data", &d));
    CHECK(d->n == 2 && d->d == 2 && is(d, 0, "om") && is(d, 1, "x"));
    CHECK(((const double *)d->groups[0].fields[0].values)[4] == 1);
    okra_data_free(d);
    d = NULL;
    put_file("t.data", "1\to\t2\t1\t1\t0\t0\t1\n2\tm\t-1\t1\t2\t0\t1\n");
    CHECK_FAILS(okra_data_read(NULL, "t.data", &d), OKRA_EFORMAT, "line 2 has 7 fields");
    put_file("t.data", "1\tou\t2\t1\t1\t0\t0\t1\n");
    CHECK_FAILS(okra_data_read(NULL, "t.data", &d), OKRA_EFORMAT,
                "line 1: the second field");
    put_file("t.data", "1\to\n");
    CHECK_FAILS(okra_data_read(NULL, "t.data", &d), OKRA_EFORMAT, "line 1 has 2 fields");
    CHECK_FAILS(okra_data_read(NULL, "sequences:v.csv:none.tsv", &d), OKRA_EIO,
                "none.tsv");
    put_file("t.tsv", "letter\tword_id\tposition\no\t0\t0\nm\t0\t2\nx\t1\t0\n");
    CHECK_FAILS(okra_data_read(NULL, "sequences:v.csv:t.tsv", &d), OKRA_EFORMAT,
                "row 2 (after the header, from 1): position '2', expected 1");
    put_file("t.tsv", "letter\tword_id\tposition\nou\t0\t0\n");
    CHECK_FAILS(okra_data_read(NULL, "sequences:v.csv:t.tsv", &d), OKRA_ESHAPE,
                "1 rows and there are 3");
    CHECK_FAILS(okra_data_read(NULL, "sequences:t.tsv", &d), OKRA_EFORMAT,
                "the label is 'ou'");
    put_file("t.tsv", "letter\tposition\no\t0\n");
    CHECK_FAILS(okra_data_read(NULL, "sequences:t.tsv", &d), OKRA_EFORMAT,
                "no column word_id");
    put_file("t.npy", "x");
    CHECK_FAILS(okra_data_read(NULL, "sequences:t.npy", &d), OKRA_EARG,
                "table of positions");
    leave();
}

MAIN(RUN(strings_by_file_and_back), RUN(texts_that_formats_cannot_say),
     RUN(strings_of_a_column), RUN(sequences_by_file))
