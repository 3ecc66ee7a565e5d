/* Data sets in their makers' formats, tiny and written here, give the arrays that entries
 * read. */
#include "../../../papers/original/original.c"
#include "../../../papers/original/original_mat.c"
#include "../../../papers/original/original_text.c"

#include "../data/files.h"
#include "data/files/formats.h"
#include "data/files/archive.h"
#include "okra/more/objects.h"

static char scratch[300];

static void begin(void)
{
    files_path("");
    snprintf(scratch, sizeof scratch, "%s/made", files_folder);
    CHECK(mkdir(scratch, 0777) == 0);
}

/* Everything made is gone after cleaning. */
static void end(const char *original)
{
    paper_convert_clean(scratch);
    CHECK(access(scratch, F_OK) != 0);
    remove(files_path(original));
    CHECK(files_count() == 0);
    files_clean();
}

static okra_data *read_made(const char *prefix, const char *file, const char *part)
{
    char spec[600];
    okra_data *data = NULL;
    snprintf(spec, sizeof spec, "%s%s/%s%s", prefix, scratch, file, part);
    CHECK_OK(okra_data_read(NULL, spec, &data));
    return data;
}

/* Two digits of grey levels -1, -0.999, ... as zip.train has them. */
static void zip_line(char *text, size_t size, int digit, int shift)
{
    size_t used = (size_t)snprintf(text, size, "%d.0000", digit);
    for (int k = 0; k < PIXELS; k++) {
        used += (size_t)snprintf(text + used, size - used, " %.4f",
                                 (shift + 7 * k - 1000) / 1000.0);
    }
    snprintf(text + used, size - used, " \n");
}

static void check_zip(void)
{
    okra_data *x = read_made("", "usps/train_x.npy", ""),
              *y = read_made("labels:", "usps/train_y.npy", "");
    double want[2 * PIXELS];
    for (int k = 0; k < PIXELS; k++) {
        want[k] = 7 * k - 1000;
        want[PIXELS + k] = 7 * k - 995;
    }
    CHECK(x && files_dense(x, 2, PIXELS, want));
    CHECK(y && okra_data_count(y) == 2 && okra_data_codes(y)[0] == 6 &&
          okra_data_codes(y)[1] == 0);
    okra_data_free(x);
    okra_data_free(y);
}

TEST(digits_of_zip_train)
{
    char text[8192], path[600];
    begin();
    zip_line(text, sizeof text, 6, 0);
    zip_line(text + strlen(text), sizeof text - strlen(text), 0, 5);
    files_make("zip.train", text, strlen(text));
    CHECK(paper_original(files_folder, "usps/train_y.npy", path, sizeof path));
    CHECK(!paper_original(files_folder, "usps/test_x.npy", path, sizeof path));
    CHECK(!paper_original(files_folder, "usps/none.npy", path, sizeof path));
    CHECK_OK(paper_convert(NULL, files_folder, "usps/train_x.npy", scratch));
    check_zip();
    remove(files_path("zip.train"));
    gzFile packed = gzopen(files_path("zip.train.gz"), "wb");
    CHECK(packed && gzputs(packed, text) > 0 && gzclose(packed) == Z_OK);
    CHECK_OK(paper_convert(NULL, files_folder, "usps/train_x.npy", scratch));
    check_zip();
    end("zip.train.gz");
}

TEST(broken_texts)
{
    begin();
    files_make("zip.train", "6.0 1 2 3\n", 10);
    CHECK_FAILS(paper_convert(NULL, files_folder, "usps/train_x.npy", scratch),
                OKRA_EFORMAT, "zip.train: line 1: expected a digit and 256 grey levels");
    remove(files_path("zip.train"));
    files_make("letter.data", "1\to\t2\t1\t1\t0\t0\n", 15);
    CHECK_FAILS(paper_convert(NULL, files_folder, "ocr_letters/words.tsv", scratch),
                OKRA_EFORMAT,
                "letter.data: line 1: expected id, letter, next id, word, position, fold "
                "and 128 pixels");
    CHECK_FAILS(paper_convert(NULL, files_folder, "usps/train_x.npy", scratch),
                OKRA_EINTERNAL, "usps/train_x.npy is made from no other file");
    end("letter.data");
}

TEST(words_of_letter_data)
{
    static const char words[] = "okbind", starts[] = "100100";
    char text[8192];
    size_t used = 0;
    double want[6 * LETTER_PIXELS];
    begin();
    for (int i = 0, word = 7; i < 6; i++) { /* running numbers, from anywhere */
        word += starts[i] == '1' || i == 2;
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "%d\t%c\t%d\t%d\t%d\t%d\t", i + 1, words[i], i + 2, word,
                                 i < 2 ? i + 1 : i - 1, word == 8 ? 3 : 9);
        for (int k = 0; k < LETTER_PIXELS; k++) {
            want[i * LETTER_PIXELS + k] = (i * 5 + k) % 3 == 0;
            used += (size_t)snprintf(text + used, sizeof text - used, "%d\t",
                                     (i * 5 + k) % 3 == 0);
        }
        used += (size_t)snprintf(text + used, sizeof text - used, "\n");
    }
    /* "ok", "b", "ind": word 8, 9, 10 */
    files_make("letter.data", text, used);
    CHECK_OK(paper_convert(NULL, files_folder, "ocr_letters/pixels.npy", scratch));
    okra_data *x = read_made("", "ocr_letters/pixels.npy", ""),
              *w = read_made("strings:", "ocr_letters/words.tsv", ":word"),
              *fold = read_made("labels:", "ocr_letters/words.tsv", ":fold"),
              *s = read_made("sequences:", "ocr_letters/pixels.npy", ":letters.tsv");
    CHECK(x && files_dense(x, 6, LETTER_PIXELS, want));
    CHECK(w && okra_data_count(w) == 3 && s && okra_data_count(s) == 3);
    okra_int length = 0;
    const int32_t *c = w ? okra_data_characters(w, 2, &length) : NULL;
    CHECK(c && length == 3 && c[0] == 'i' && c[2] == 'd');
    CHECK(fold && okra_data_codes(fold)[0] == 3 && okra_data_codes(fold)[2] == 9);
    okra_data_free(x);
    okra_data_free(w);
    okra_data_free(s);
    okra_data_free(fold);
    end("letter.data");
}

/* NAME.mat, which nothing reads, and NAME.npz beside it with arrays of n x d doubles. */
typedef struct array {
    const char *name;
    okra_int n, d;
    const double *values;
} array;

static void make_npz(const char *name, const array *arrays, int count)
{
    char file[300], head[OKRA_NPY_HEADER_];
    okra_writer_ *w = NULL;
    okra_zip_writer_ *zip = NULL;
    snprintf(file, sizeof file, "%s.mat", name);
    files_make(file, "MATLAB", 6);
    snprintf(file, sizeof file, "%s.npz", name);
    CHECK_OK(okra_writer_join_(NULL, files_path(file), &w));
    CHECK_OK(okra_zip_writer_create_(w, &zip));
    for (int k = 0; k < count; k++) {
        const array *a = &arrays[k];
        size_t size = okra_npy_header_("<f8", a->n, a->d, head);
        snprintf(file, sizeof file, "%s.npy", a->name);
        CHECK_OK(okra_zip_add_(zip, file, head, size, a->values, 1,
                               sizeof(double) * (size_t)(a->n * a->d), 0, NULL));
    }
    CHECK_OK(okra_zip_finish_(zip));
    okra_zip_writer_free_(zip);
    CHECK_OK(okra_writer_commit_(w));
}

static void end_npz(const char *name)
{
    char file[300];
    snprintf(file, sizeof file, "%s.npz", name);
    remove(files_path(file));
    snprintf(file, sizeof file, "%s.mat", name);
    end(file);
}

TEST(digits_of_usps_all)
{
    enum { EACH = 2, N = 10 * EACH };
    double *data = malloc(N * PIXELS * sizeof *data);
    double *want = malloc(N * PIXELS * sizeof *want);
    begin();
    for (int i = 0; data && want && i < N; i++) {
        for (int r = 0; r < 16; r++) {
            for (int c = 0; c < 16; c++) { /* an image lies column by column */
                int value = (i * 31 + r * 7 + c * 3) % 256;
                data[(c * 16 + r) * N + i] = value;
                want[i * PIXELS + r * 16 + c] = value;
            }
        }
    }
    files_make("usps_all.mat", "MATLAB", 6);
    CHECK_FAILS(paper_convert(NULL, files_folder, "usps11000/x.npy", scratch),
                OKRA_EUNSUPPORTED, "convert it: python -m okra convert ");
    make_npz("usps_all", &(array){"data", PIXELS, N, data}, 1);
    CHECK_OK(paper_convert(NULL, files_folder, "usps11000/x.npy", scratch));
    okra_data *x = read_made("", "usps11000/x.npy", ""),
              *y = read_made("", "usps11000/y.npy", "");
    CHECK(x && files_dense(x, N, PIXELS, want));
    okra_int ld = 0;
    const double *digits = y ? okra_data_values(y, &ld) : NULL;
    CHECK(digits && digits[0] == 1 && digits[EACH * ld] == 2 &&
          digits[(N - 1) * ld] == 0);
    okra_data_free(x);
    okra_data_free(y);
    make_npz("usps_all", &(array){"data", 5, 2, data}, 1);
    CHECK_FAILS(paper_convert(NULL, files_folder, "usps11000/x.npy", scratch),
                OKRA_EFORMAT, "data is 5 x 2, expected 256 x images x 10 classes");
    free(data);
    free(want);
    end_npz("usps_all");
}

TEST(poses)
{
    const double rows[] = {1, 2, 3, 4, 5, 6}, across[] = {1, 4, 2, 5, 3, 6};
    const array arrays[] = {{"Y", 2, 3, rows},
                            {"Z", 3, 2, across},
                            {"Y_test", 2, 3, rows},
                            {"Z_test", 3, 2, across}};
    begin();
    make_npz("ankurDataPoseSilhouette", arrays, 4);
    CHECK_OK(paper_convert(NULL, files_folder, "poser/test_y.npy", scratch));
    okra_data *x = read_made("", "poser/test_x.npy", ""),
              *y = read_made("", "poser/train_y.npy", "");
    CHECK(x && files_dense(x, 2, 3, rows));
    CHECK(y && files_dense(y, 3, 2, across));
    okra_data_free(x);
    okra_data_free(y);
    end_npz("ankurDataPoseSilhouette");
}

static void make_mtx(const char *name, const char *sizes_and_entries)
{
    char text[300];
    snprintf(text, sizeof text, "%%%%MatrixMarket matrix coordinate real general\n%s",
             sizes_and_entries);
    files_make(name, text, strlen(text));
}

/* Three words, two papers; the first by authors 0 and 2, the second by 0, 1 and 2. */
TEST(co_authors)
{
    const double pairs[] = {0, 1, 1, 0, 2, 2, 1, 2, 1}, starts[] = {0, 2, 3},
                 words[] = {0, 2, 1}, counts[] = {5, 7, 9};
    begin();
    files_make("nips_1-17.mat", "MATLAB", 6);
    make_mtx("nips_1-17.counts.mtx", "3 2 3\n1 1 5\n3 1 7\n2 2 9\n");
    make_mtx("nips_1-17.docs_authors.mtx", "2 3 5\n1 1 1\n2 1 1\n2 2 1\n1 3 1\n2 3 1\n");
    CHECK_OK(paper_convert(NULL, files_folder, "nips12/edges.tsv", scratch));
    okra_data *e = read_made("tsv:", "nips12/edges.tsv", ""),
              *i = read_made("", "nips12/doc_indptr.npy", ""),
              *w = read_made("", "nips12/doc_words.npy", ""),
              *c = read_made("", "nips12/doc_counts.npy", "");
    CHECK(e && files_dense(e, 3, 3, pairs));
    CHECK(i && files_dense(i, 3, 1, starts));
    CHECK(w && files_dense(w, 3, 1, words));
    CHECK(c && files_dense(c, 3, 1, counts));
    okra_data_free(e);
    okra_data_free(i);
    okra_data_free(w);
    okra_data_free(c);
    make_mtx("nips_1-17.docs_authors.mtx", "3 2 3\n1 1 5\n3 1 7\n2 2 9\n");
    CHECK_FAILS(paper_convert(NULL, files_folder, "nips12/papers.tsv", scratch),
                OKRA_EFORMAT, "expected sparse counts of words x papers");
    remove(files_path("nips_1-17.counts.mtx"));
    remove(files_path("nips_1-17.docs_authors.mtx"));
    end("nips_1-17.mat");
}

MAIN(RUN(digits_of_zip_train), RUN(broken_texts), RUN(words_of_letter_data),
     RUN(digits_of_usps_all), RUN(poses), RUN(co_authors))
