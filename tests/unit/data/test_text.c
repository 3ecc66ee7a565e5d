/* Readers of text: tables, LIBSVM, Matrix Market; numbers and labels. */
#include "data/files/formats.h"
#include "files.h"

#include <locale.h>

TEST(numbers)
{
    static const char *const same[] = {"0",
                                       "-0",
                                       "1",
                                       "+1.5",
                                       "-2e3",
                                       ".5",
                                       "5.",
                                       "1e22",
                                       "1e23",
                                       "1e-22",
                                       "1e-23",
                                       "123456789012345678901234567890",
                                       "0.1",
                                       "9007199254740993",
                                       "4.9e-324",
                                       "1.7976931348623157e308",
                                       "0.30000000000000004",
                                       " 7\t",
                                       "00012",
                                       "1E+05",
                                       "2.2250738585072011e-308",
                                       "900719925474099.1",
                                       "1e-400"};
    static const char *const text[] = {"x", "1x", "0x10", "1e", "e5",
                                       ".", "+",  "1 2",  "--1"};
    static const char *const bad[] = {"nan", "-Inf", "INFINITY", "1e999", "-NaN"};
    static const char *const missing[] = {"", "  ", "?", "NA", "-"};
    double value;
    for (size_t k = 0; k < sizeof same / sizeof *same; k++) {
        CHECK(okra_number_(same[k], same[k] + strlen(same[k]), &value) ==
              OKRA_TOKEN_NUMBER_);
        double want = strtod(same[k], NULL);
        CHECK(memcmp(&value, &want, sizeof value) == 0);
    }
    for (size_t k = 0; k < sizeof text / sizeof *text; k++) {
        CHECK(okra_number_(text[k], text[k] + strlen(text[k]), &value) ==
              OKRA_TOKEN_TEXT_);
    }
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        CHECK(okra_number_(bad[k], bad[k] + strlen(bad[k]), &value) ==
              OKRA_TOKEN_NONFINITE_);
    }
    for (size_t k = 0; k < sizeof missing / sizeof *missing; k++) {
        CHECK(okra_number_(missing[k], missing[k] + strlen(missing[k]), &value) ==
              OKRA_TOKEN_MISSING_);
    }
    char digits[1200];
    memset(digits, '1', sizeof digits);
    CHECK(okra_number_(digits, digits + sizeof digits, &value) == OKRA_TOKEN_TEXT_);
}

/* Random doubles of every size survive the trip through text, bit for bit. */
TEST(number_round_trip)
{
    okra_random_ r = okra_random_create_(1, 0);
    for (int k = 0; k < 20000; k++) {
        uint64_t bits = okra_random_bits_(&r);
        double x, y = 0;
        char text[OKRA_NUMBER_TEXT_];
        memcpy(&x, &bits, sizeof x);
        if (k % 2) {
            x = round(ldexp(okra_random_uniform_(&r), 40)) / 1e6;
        }
        if (!isfinite(x)) {
            continue;
        }
        okra_double_text_(x, text);
        CHECK(okra_number_(text, text + strlen(text), &y) == OKRA_TOKEN_NUMBER_);
        CHECK(memcmp(&x, &y, sizeof x) == 0);
    }
}

TEST(tables)
{
    static const char *const csv[] = {
        "1,2\n3,4\n",
        "1,2\n3,4",
        "1,2\r\n3,4\r\n",
        "\xef\xbb\xbf\141,b\n1,2\n3,4\n", /* \141: an 'a' that ends the escape */
        "\"first name\",\"a \"\"b\"\"\"\n1,2\n3,4\n",
        "\"1\",\"2\"\n\"3\",4\r\n",
        "\n1 , 2\n\n 3,4\n\n",
        "\"split\nheader\",b\n1,2\n3,4\n",
    };
    const double want[] = {1, 2, 3, 4};
    okra_data *data = NULL;
    for (size_t k = 0; k < sizeof csv / sizeof *csv; k++) {
        data = NULL;
        CHECK_OK(files_text("", "a.csv", csv[k], &data));
        CHECK(files_dense(data, 2, 2, want));
        okra_data_free(data);
    }
    CHECK_OK(files_text("", "a.tsv", "1\t2\n3\t4\n", &data));
    CHECK(files_dense(data, 2, 2, want));
    CHECK_TEXT(data->source, files_path("a.tsv"));
    okra_data_free(data);
    CHECK_OK(files_text("tsv:", "a.dat", "x\ty\n1\t2\n3\t4\n", &data));
    CHECK(files_dense(data, 2, 2, want));
    okra_data_free(data);
    CHECK_OK(files_text("", "head.csv", "x,y\n", &data));
    CHECK(data->n == 0 && data->d == 2);
    okra_data_free(data);
    files_clean();
}

/* A program that runs under a locale with decimal commas reads and writes points. */
TEST(foreign_locale)
{
    const double want[] = {1.5, 1e-30};
    okra_data *data = NULL;
    if (!setlocale(LC_ALL, "de_DE.UTF-8")) {
        SKIP("there is no locale de_DE.UTF-8");
    }
    CHECK_OK(files_text("", "a.csv", "1.5,1e-30\n", &data));
    CHECK(files_dense(data, 1, 2, want));
    okra_data_free(data);
    setlocale(LC_ALL, "C");
    files_clean();
}

static void check_labels(const char *prefix, const char *name, const char *part,
                         const char *text, const char *codes, const char *names)
{
    okra_data *data = NULL;
    char got[200] = "", got_names[200] = "";
    CHECK_OK(files_read(prefix, name, part, text, strlen(text), &data));
    if (!data) {
        return;
    }
    CHECK(data->kind == OKRA_LABELS);
    for (okra_int i = 0; i < data->n; i++) {
        sprintf(got + strlen(got), "%s%d", i ? " " : "", (int)data->codes[i]);
    }
    for (okra_int c = 0; data->class_names && c < data->d; c++) {
        sprintf(got_names + strlen(got_names), "%s%s", c ? "|" : "",
                data->class_names[c]);
    }
    CHECK_TEXT(got, codes);
    CHECK_TEXT(got_names, names);
    okra_data_free(data);
}

TEST(labels)
{
    check_labels("labels:", "a.csv", "", "oak\nash\noak\n", "1 0 1", "ash|oak");
    check_labels("labels:", "a.csv", "", "2\n0\n1\n", "2 0 1", "");
    check_labels("labels:", "a.csv", "", "class\n2\n0\n", "2 0", "");
    check_labels("labels:", "a.csv", "", "-1\n1\n-1\n", "0 1 0", "-1|1");
    check_labels("labels:", "a.csv", "", "10\n9.5\n-1\n", "2 1 0", "-1|9.5|10");
    check_labels("labels:", "a.csv", "", "10\n9\n007\n", "2 1 0", "007|9|10");
    check_labels("labels:", "a.csv", "", "5000000\n1\n", "1 0", "1|5000000");
    check_labels("labels:", "a.csv", "", "\"a,b\"\n\"q\"\"r\"\n c \n", "0 2 1",
                 "a,b|c|q\"r");
    check_labels("labels:", "a.csv", ":kind", "x,kind\n1,oak\n2,ash\n", "1 0", "ash|oak");
    check_labels("labels:", "a.csv", ":2", "x,kind\n1,oak\n2,ash\n", "1 0", "ash|oak");
    check_labels("labels:", "a.tsv", ":2", "1\toak\n2\tash\n", "1 0", "ash|oak");
    check_labels("csv:labels:", "a.dat", ":2", "1,7\n2,5\n", "7 5", "");
    check_labels("labels:", "a.svm", "", "+1 1:2\n-1 3:4\n+1\n", "1 0 1", "-1|1");
    check_labels("labels:", "a.svm", "", "3 1:2\n0 3:4\n", "3 0", "");
    check_labels("labels:", "a.mtx", "",
                 "%%MatrixMarket matrix array integer general\n3 1\n1\n0\n2\n", "1 0 2",
                 "");
    check_labels("labels:", "a.mtx", "",
                 "%%MatrixMarket matrix coordinate integer general\n1 3 1\n1 2 4\n",
                 "0 4 0", "");
    files_clean();
}

TEST(svm)
{
    okra_data *data = NULL, *dense = NULL;
    const char *text = "# comment\n1 1:0.5 3:2 # tail\n\n-1\n+1 2:-1e1 \r\n";
    const double want[] = {0.5, 0, 2, 0, 0, 0, 0, -10, 0}, y[] = {1, -1, 1};
    CHECK_OK(files_text("", "a.libsvm", text, &data));
    CHECK(data->kind == OKRA_SPARSE && data->n == 3 && data->d == 3);
    CHECK(data->csr.indptr[3] == 3 && data->csr.indices[2] == 1);
    okra_data_free(data);
    CHECK_OK(files_text("dense:", "a.svm", text, &dense));
    CHECK(files_dense(dense, 3, 3, want));
    okra_data_free(dense);
    CHECK_OK(files_text("targets:", "a.svm", text, &dense));
    CHECK(files_dense(dense, 3, 1, y));
    okra_data_free(dense);
    CHECK_OK(files_text("svm0:dense:", "a.svm", "1 0:0.5 2:2\n-1\n1 1:-10\n", &dense));
    CHECK(files_dense(dense, 3, 3, want));
    okra_data_free(dense);
    files_clean();
}

TEST(matrix_market)
{
    okra_data *data = NULL;
    const double a[] = {1, 4, 2, 5, 3, 6}, s[] = {1, 2, 3, 2, 4, 5, 3, 5, 6};
    const double c[] = {0, 1.5, 0, -2, 0, 0}, p[] = {0, 1, 1, 1, 0, 0, 1, 0, 1};
    CHECK_OK(files_text("", "a.mtx",
                        "%%MatrixMarket matrix array real general\n% note\n\n3 2\n"
                        "1\n2\n3\n4\n5\n6\n",
                        &data));
    CHECK(files_dense(data, 3, 2, a));
    okra_data_free(data);
    CHECK_OK(files_text("", "a.mtx",
                        "%%matrixmarket MATRIX array integer symmetric\n3 3\n"
                        "1\n2\n3\n4\n5\n6",
                        &data));
    CHECK(files_dense(data, 3, 3, s));
    okra_data_free(data);
    CHECK_OK(files_text("", "a.mtx",
                        "%%MatrixMarket matrix coordinate real general\n2 3 2\n"
                        "2 1 -2\n1 2 1.5\n",
                        &data));
    CHECK(data->kind == OKRA_SPARSE);
    okra_data_free(data);
    CHECK_OK(files_text("dense:", "a.mtx",
                        "%%MatrixMarket matrix coordinate real general\n2 3 2\n"
                        "2 1 -2\n1 2 1.5\n",
                        &data));
    CHECK(files_dense(data, 2, 3, c));
    okra_data_free(data);
    CHECK_OK(files_text("dense:", "a.mtx",
                        "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 3\n"
                        "3 3\n2 1\n3 1\n",
                        &data));
    CHECK(files_dense(data, 3, 3, p));
    okra_data_free(data);
    files_clean();
}

/* Sparse vectors and bits come back as they were written; the last row and column of the
 * bits are empty, and the columns take more than one word. */
/* A matrix of no rows takes no time and no memory, however many columns it claims. */
TEST(matrix_market_of_no_rows)
{
    static const char *const ways[] = {"", "dense:", "sparse:", "bits:", "permutations:"};
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        okra_data *data = NULL;
        CHECK_OK(files_text(ways[k], "a.mtx",
                            "%%MatrixMarket matrix array real general\n"
                            "0 7555551555555555553\n",
                            &data));
        CHECK(data && data->n == 0 && data->d == 7555551555555555553);
        okra_data_free(data);
    }
    files_clean();
}

TEST(matrix_market_is_written)
{
    okra_int indptr[] = {0, 2, 2, 3}, indices[] = {0, 3, 1};
    double values[] = {0.1, -1e300, 5e-324}, want[12] = {0.1, 0, 0, -1e300};
    double set[3 * 70] = {0};
    okra_data *data = NULL, *dense = NULL;
    char spec[600];
    want[9] = 5e-324;
    CHECK_OK(okra_data_sparse(indptr, indices, values, 3, 4, &data));
    CHECK_OK(okra_data_write(NULL, data, files_path("s.mtx")));
    okra_data_free(data);
    CHECK_OK(okra_data_read(NULL, files_path("s.mtx"), &data));
    CHECK(data->kind == OKRA_SPARSE);
    okra_data_free(data);
    snprintf(spec, sizeof spec, "dense:%s", files_path("s.mtx"));
    CHECK_OK(okra_data_read(NULL, spec, &data));
    CHECK(files_dense(data, 3, 4, want));
    okra_data_free(data);

    set[0] = set[63] = set[64] = set[70 + 68] = 1;
    CHECK_OK(okra_data_dense(set, 3, 70, 70, &dense));
    CHECK_OK(okra_take_as_(NULL, OKRA_HOW_BITS_, &dense));
    CHECK_OK(okra_data_write(NULL, dense, files_path("b.mtx")));
    snprintf(spec, sizeof spec, "dense:%s", files_path("b.mtx"));
    CHECK_OK(okra_data_read(NULL, spec, &data));
    CHECK(files_dense(data, 3, 70, set));
    okra_data_free(data);
    okra_data_free(dense);
    files_clean();
}

TEST(taken_as)
{
    okra_data *data = NULL;
    okra_int ld = 0;
    CHECK_OK(files_text("sparse:", "a.csv", "0,2\n0,0\n3,0\n", &data));
    okra_int ptr[] = {0, 1, 1, 2};
    CHECK(data->kind == OKRA_SPARSE && memcmp(data->csr.indptr, ptr, sizeof ptr) == 0);
    CHECK(data->csr.indices[0] == 1 && data->csr.values[1] == 3 && data->d == 2);
    okra_data_free(data);
    CHECK_OK(
        files_text("bits:", "a.csv", "0,1,1,0,0,0,0,0,1\n1,0,0,0,0,0,0,0,0\n", &data));
    CHECK(data->kind == OKRA_BITS && data->d == 9 && data->bits[0] == 0x106);
    CHECK(data->bits[1] == 1);
    okra_data_free(data);
    CHECK_OK(files_text("bits:", "a.svm", "1 2:1 9:1\n", &data));
    CHECK(data->kind == OKRA_BITS && data->d == 9 && data->bits[0] == 0x102);
    okra_data_free(data);
    CHECK_OK(files_text("packed:", "a.csv", "3,128\n0,255\n", &data));
    CHECK(data->kind == OKRA_BITS && data->d == 16 && data->bits[0] == 0x8003);
    CHECK(data->bits[1] == 0xff00);
    okra_data_free(data);
    CHECK_OK(files_text("gram:", "a.csv", "2,1\n1,2\n", &data));
    CHECK(data->kind == OKRA_GRAM && okra_data_values(data, &ld)[1] == 1 && ld == 2);
    okra_data_free(data);
    CHECK_OK(files_text("gram:", "a.svm", "1 2:1\n", &data));
    CHECK(data->kind == OKRA_GRAM && data->values[0] == 0 && data->values[1] == 1);
    okra_data_free(data);
    files_clean();
}

TEST(allocations)
{
    okra_data *data = NULL;
    static const char *const sources[][3] = {
        {"", "a.csv", "x,y\n1,2\n3,4\n"},
        {"labels:", "a.csv", "a\n\"b\"\"\"\nc\n"},
        {"sparse:", "a.tsv", "0\t2\n3\t0\n"},
        {"bits:", "a.csv", "0,1\n"},
        {"packed:", "a.csv", "0,1\n"},
        {"labels:", "num.mtx", "%%MatrixMarket matrix array real general\n1 1\n1.5\n"},
        {"", "a.svm", "1 1:2\n-1 3:4\n"},
        {"labels:", "a.svm", "1 1:2\n-1 3:4\n"},
        {"targets:", "a.svm", "1 1:2\n-1 3:4\n"},
        {"dense:", "a.mtx",
         "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n"
         "2 1 5\n1 1 4\n"},
    };
    for (size_t k = 0; k < sizeof sources / sizeof *sources; k++) {
        char spec[600];
        snprintf(spec, sizeof spec, "%s%s", sources[k][0],
                 files_make(sources[k][1], sources[k][2], strlen(sources[k][2])));
        CHECK_ALLOCATIONS(okra_data_read(NULL, spec, &data), okra_data_free(data));
    }
    files_clean();
}

MAIN(RUN(numbers), RUN(number_round_trip), RUN(tables), RUN(foreign_locale), RUN(labels),
     RUN(svm), RUN(matrix_market), RUN(matrix_market_of_no_rows),
     RUN(matrix_market_is_written), RUN(taken_as), RUN(allocations))
