/* NumPy arrays: every element type, byte order, memory order and version; writing. */
#include "data/files/formats.h"
#include "files.h"

#include <fcntl.h>

/* A version 1 array file with this header and these bytes. */
static size_t npy(char *to, const char *descr, const char *order, const char *shape,
                  const void *bytes, size_t size)
{
    memset(to, ' ', 128);
    memcpy(to, "\x93NUMPY\x01\x00\x76\x00", 10);
    int length = sprintf(to + 10, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }",
                         descr, order, shape);
    to[10 + length] = ' ';
    to[127] = '\n';
    memcpy(to + 128, bytes, size);
    return 128 + size;
}

static void check_type(const char *descr, size_t size, const void *little,
                       const double *want)
{
    char file[512], name[8], reversed[64];
    okra_data *data = NULL;
    for (int big = 0; big < 2; big++) {
        for (size_t k = 0; k < 4 * size; k++) {
            size_t from = big ? k / size * size + size - 1 - k % size : k;
            reversed[k] = ((const char *)little)[from];
        }
        snprintf(name, sizeof name, "%c%s", big ? '>' : '<', descr);
        size_t length = npy(file, name, "False", "(2, 2)", reversed, 4 * size);
        data = NULL;
        CHECK_OK(files_read("", "a.npy", "", file, length, &data));
        CHECK(files_dense(data, 2, 2, want));
        okra_data_free(data);
    }
}

TEST(types)
{
    const double ints[] = {1, -2, 100, -128}, small[] = {1, 2, 100, 255};
    check_type("i1", 1, (int8_t[]){1, -2, 100, -128}, ints);
    check_type("i2", 2, (int16_t[]){1, -2, 100, -128}, ints);
    check_type("i4", 4, (int32_t[]){1, -2, 100, -128}, ints);
    check_type("i8", 8, (int64_t[]){1, -2, 100, -128}, ints);
    check_type("u1", 1, (uint8_t[]){1, 2, 100, 255}, small);
    check_type("u2", 2, (uint16_t[]){1, 2, 100, 255}, small);
    check_type("u4", 4, (uint32_t[]){1, 2, 100, 255}, small);
    check_type("u8", 8, (uint64_t[]){1, 2, 100, 255}, small);
    check_type("f4", 4, (float[]){1, -2, 100, -128}, ints);
    check_type("f8", 8, (double[]){1, -2, 100, -128}, ints);
    check_type("b1", 1, (uint8_t[]){0, 1, 1, 0}, (double[]){0, 1, 1, 0});
    /* binary16: 1, -2, the least subnormal 2^-24, the largest finite 65504 */
    check_type("f2", 2, (uint16_t[]){0x3c00, 0xc000, 0x0001, 0x7bff},
               (double[]){1, -2, 0x1p-24, 65504});
    files_clean();
}

TEST(layouts)
{
    char file[512];
    const double x[] = {1, 2, 3, 4, 5, 6}, turned[] = {1, 3, 5, 2, 4, 6};
    okra_data *data = NULL;
    size_t size = npy(file, "<f8", "True", "(2, 3)", x, sizeof x);
    CHECK_OK(files_read("", "a.npy", "", file, size, &data));
    CHECK(files_dense(data, 2, 3, turned));
    okra_data_free(data);
    size = npy(file, "<f8", "True", "(6,)", x, sizeof x);
    CHECK_OK(files_read("", "a.npy", "", file, size, &data));
    CHECK(files_dense(data, 6, 1, x));
    okra_data_free(data);
    size = npy(file, "<f8", "False", "(2L, 3L)", x, sizeof x);
    CHECK_OK(files_read("", "a.npy", "", file, size, &data));
    CHECK(files_dense(data, 2, 3, x));
    /* used where it lies: behind the header of the file that was read */
    CHECK(data->release != NULL && (uintptr_t)data->values % 64 == 0);
    okra_data *copy = NULL;
    CHECK_OK(okra_data_copy(data, &copy));
    okra_data_free(data);
    CHECK(files_dense(copy, 2, 3, x));
    okra_data_free(copy);
    size = npy(file, "<f8", "False", "(0, 3)", x, 0);
    CHECK_OK(files_read("", "a.npy", "", file, size, &data));
    CHECK(data->n == 0 && data->d == 3);
    okra_data_free(data);
    files_clean();
}

/* Versions 2 and 3 have a 4-byte header length; keys may come in any order. */
TEST(versions)
{
    static const char body[] =
        "{'shape':(1,2),\"fortran_order\":False,'descr':'|u1'}\n\x05\x07";
    const double want[] = {5, 7};
    for (char version = 2; version <= 3; version++) {
        char file[128] = "\x93NUMPY";
        okra_data *data = NULL;
        file[6] = version;
        file[8] = sizeof body - 3;
        memcpy(file + 12, body, sizeof body);
        CHECK_OK(files_read("", "a.npy", "", file, 12 + sizeof body - 1, &data));
        CHECK(files_dense(data, 1, 2, want));
        okra_data_free(data);
    }
    files_clean();
}

/* Beyond a quarter of the memory it stays mapped; the mapping outlives the file's name.
 */
TEST(mapped)
{
    okra_int n = 200000;
    double *x = okra_alloc_(n, sizeof *x);
    okra_context *small = NULL;
    okra_data *data = NULL, *back = NULL;
    CHECK_OK(okra_context_create(&small));
    CHECK_OK(okra_context_set_memory(small, 8 * n));
    for (okra_int i = 0; i < n; i++) {
        x[i] = (double)i / 7;
    }
    CHECK_OK(okra_data_dense(x, n / 2, 2, 2, &data));
    CHECK_OK(okra_data_write(NULL, data, files_path("big.npy")));
    okra_int before = okra_alloc_live_bytes_();
    CHECK_OK(okra_data_read(small, files_path("big.npy"), &back));
    CHECK(okra_alloc_live_bytes_() - before < 10000);
    unlink(files_path("big.npy"));
    CHECK(files_dense(back, n / 2, 2, x));
    okra_data_free(back);
    okra_data_free(data);
    okra_free_(x);
    okra_context_free(small);
    files_clean();
}

/* Row i, column j of the arrays below; whole numbers that every type holds. */
static double entry(okra_int i, okra_int j)
{
    return (double)((7 * i + 3 * j) % 120);
}

enum { ROWS = 20011, COLS = 5 }; /* no multiple of a block */

/* One of the types, in either byte order and memory order. */
static size_t make_large(char *file, const char *descr, bool fortran)
{
    size_t size = (size_t)(descr[2] - '0');
    char shape[32];
    unsigned char *bytes = calloc(ROWS * COLS, size);
    for (okra_int k = 0; k < (okra_int)ROWS * COLS; k++) {
        double value = fortran ? entry(k % ROWS, k / ROWS) : entry(k / COLS, k % COLS);
        float single = (float)value;
        uint64_t bits = (uint64_t)value;
        if (descr[1] == 'f' && size == 4) {
            uint32_t word;
            memcpy(&word, &single, sizeof word);
            bits = word;
        } else if (descr[1] == 'f') {
            memcpy(&bits, &value, sizeof bits);
        }
        for (size_t b = 0; b < size; b++) {
            size_t at = descr[0] == '>' ? size - 1 - b : b;
            bytes[(size_t)k * size + at] = (unsigned char)(bits >> (8 * b));
        }
    }
    snprintf(shape, sizeof shape, "(%d, %d)", ROWS, COLS);
    size_t length =
        npy(file, descr, fortran ? "True" : "False", shape, bytes, ROWS * COLS * size);
    free(bytes);
    return length;
}

/* Arrays that are not float64 in C order, larger than the whole budget: the values are
 * those read in memory, and what is allocated stays below it. */
TEST(converted_into_a_file)
{
    static const char *const types[] = {"<f4", ">f4", "<f8", ">f8", "<i2", "|u1", ">i8"};
    char *file = malloc(128 + ROWS * COLS * 8);
    double *want = malloc(ROWS * COLS * sizeof *want);
    okra_context *ctx = NULL;
    const okra_int budget = 300000;
    CHECK_OK(okra_context_create(&ctx));
    for (okra_int k = 0; k < (okra_int)ROWS * COLS; k++) {
        want[k] = entry(k / COLS, k % COLS);
    }
    for (int c = 0; c < 7 * 2; c++) {
        okra_data *data = NULL, *plain = NULL;
        size_t size = make_large(file, types[c % 7], c / 7);
        if (c == 2) {
            continue; /* used in place */
        }
        files_make("big.npy", file, size);
        okra_bytes_ held = {0};
        CHECK_OK(okra_context_set_memory(ctx, okra_account_bytes_(ctx) + budget));
        okra_int live = okra_alloc_live_bytes_();
        okra_alloc_reset_peak_();
        CHECK_OK(okra_npy_data_(ctx, (unsigned char *)file, (okra_int)size, &held, false,
                                "big.npy", &data));
        CHECK(okra_alloc_peak_bytes_() - live < budget / 4);
        CHECK(data->release != NULL && files_dense(data, ROWS, COLS, want));
        CHECK_OK(okra_data_read(NULL, files_path("big.npy"), &plain));
        CHECK(plain->release == NULL && files_dense(plain, ROWS, COLS, want));
        okra_data *copy = NULL;
        CHECK_OK(okra_data_copy(data, &copy));
        okra_data_free(data);
        CHECK(files_dense(copy, ROWS, COLS, want));
        okra_data_free(copy);
        okra_data_free(plain);
    }
    okra_context_free(ctx);
    free(file);
    free(want);
    files_clean();
}

/* Mistakes are told as those of arrays in memory, and leave nothing behind. */
TEST(mistakes_in_large_arrays)
{
    char *file = malloc(128 + ROWS * COLS * 8);
    okra_context *ctx = NULL;
    okra_bytes_ held = {0};
    okra_data *data = NULL;
    float nan = NAN;
    int64_t large = ((int64_t)1 << 53) + 1;
    CHECK_OK(okra_context_create(&ctx));
    CHECK_OK(okra_context_set_memory(ctx, okra_account_bytes_(ctx) + 300000));
    size_t size = make_large(file, "<f4", false);
    memcpy(file + 128 + 4 * (15000 * COLS + 2), &nan, sizeof nan);
    CHECK_FAILS(okra_npy_data_(ctx, (unsigned char *)file, (okra_int)size, &held, false,
                               "big.npy", &data),
                OKRA_EFORMAT, "row 15000, column 2 (counted from 0) is nan");
    CHECK_OK(okra_npy_data_(ctx, (unsigned char *)file, (okra_int)size, &held, true,
                            "big.npy", &data));
    CHECK(isnan(data->values[15000 * COLS + 2]) && data->values[3] == entry(0, 3));
    okra_data_free(data);
    CHECK_ALLOCATIONS(okra_npy_data_(ctx, (unsigned char *)file, (okra_int)size, &held,
                                     true, "big.npy", &data),
                      okra_data_free(data));
    CHECK_FAILS(okra_npy_data_(ctx, (unsigned char *)file, (okra_int)size - 1, &held,
                               true, "big.npy", &data),
                OKRA_EFORMAT, "does not fit");
    size = make_large(file, "<i8", false);
    memcpy(file + 128 + 8 * (20000 * COLS + 4), &large, sizeof large);
    CHECK_FAILS(okra_npy_data_(ctx, (unsigned char *)file, (okra_int)size, &held, false,
                               "big.npy", &data),
                OKRA_EFORMAT, "row 20000, column 4 (counted from 0) is an integer near");
    okra_context_free(ctx);
    free(file);
}

static void check_file(const char *name, const char *want, size_t size)
{
    char got[512] = "";
    FILE *f = fopen(files_path(name), "rb");
    CHECK(f != NULL);
    if (f) {
        CHECK(fread(got, 1, sizeof got, f) == size && memcmp(got, want, size) == 0);
        fclose(f);
    }
}

static void round_trip(const okra_data *data, const char *name, const char *prefix,
                       okra_data **back)
{
    char spec[600];
    CHECK_OK(okra_data_write(NULL, data, files_path(name)));
    snprintf(spec, sizeof spec, "%s%s", prefix, files_path(name));
    CHECK_OK(okra_data_read(NULL, spec, back));
}

TEST(written)
{
    const double x[] = {0.1, -0.0, 9, 1e300, 5e-324, 9, -1.0 / 3, 4, 9};
    const double want[] = {0.1, -0.0, 1e300, 5e-324, -1.0 / 3, 4};
    static const char *const names[] = {"a.npy", "a.csv", "a.tsv"};
    okra_data *data = NULL, *back = NULL;
    CHECK_OK(okra_data_dense(x, 3, 2, 3, &data));
    for (int k = 0; k < 3; k++) {
        round_trip(data, names[k], "", &back);
        CHECK(files_dense(back, 3, 2, want));
        okra_data_free(back);
    }
    okra_data_free(data);
    CHECK_OK(okra_data_gram(x, 1, 2, 3, NULL, &data));
    round_trip(data, "g.npy", "gram:", &back);
    CHECK(back->kind == OKRA_GRAM && back->values[0] == 0.1);
    okra_data_free(back);
    okra_data_free(data);
    unsigned char packed[] = {5, 1};
    CHECK_OK(okra_data_bits(packed, 1, 9, 2, &data));
    for (int k = 0; k < 3; k++) {
        round_trip(data, names[k], "bits:", &back);
        CHECK(back->d == 9 && back->bits[0] == 0x105);
        okra_data_free(back);
    }
    okra_data_free(data);
    CHECK(files_count() == 4);
    files_clean();
}

TEST(written_labels)
{
    okra_int codes[] = {1, 0, 2, 1};
    const char *names[] = {"a,\"b\"", "tab\there", "line\nend"};
    okra_data *data = NULL, *back = NULL;
    CHECK_OK(okra_data_labels(codes, 4, names, 3, &data));
    CHECK_OK(okra_data_write(NULL, data, files_path("l.csv")));
    static const char csv[] = "tab\there\n\"a,\"\"b\"\"\"\n\"line\nend\"\ntab\there\n";
    check_file("l.csv", csv, sizeof csv - 1);
    for (int k = 0; k < 2; k++) {
        round_trip(data, k ? "l.tsv" : "l.csv", "labels:", &back);
        CHECK(back->n == 4 && back->d == 3);
        for (int i = 0; i < 4; i++) {
            CHECK_TEXT(back->class_names[back->codes[i]], names[codes[i]]);
        }
        okra_data_free(back);
    }
    round_trip(data, "l.npy", "labels:", &back);
    CHECK(memcmp(back->codes, codes, sizeof codes) == 0 && !back->class_names);
    okra_data_free(back);
    okra_data_free(data);
    CHECK_OK(okra_data_labels(codes, 4, NULL, 3, &data));
    CHECK_OK(okra_data_write(NULL, data, files_path("l.csv")));
    check_file("l.csv", "1\n0\n2\n1\n", 8);
    okra_data_free(data);
    files_clean();
}

TEST(refused)
{
    okra_int indptr[] = {0, 1}, index = 0;
    double value = 1;
    okra_data *sparse = NULL, *dense = NULL;
    char want[700];
    CHECK_OK(okra_data_sparse(indptr, &index, &value, 1, 1, &sparse));
    CHECK_OK(okra_data_dense(&value, 1, 1, 1, &dense));
    snprintf(want, sizeof want,
             "%s: sparse data cannot be written as .npy, but as .mtx, or read with "
             "dense: first",
             files_path("s.npy"));
    CHECK_FAILS(okra_data_write(NULL, sparse, files_path("s.npy")), OKRA_EUNSUPPORTED,
                want);
    CHECK_FAILS(okra_data_write(NULL, sparse, files_path("s.csv")), OKRA_EUNSUPPORTED,
                "sparse data cannot be written as a table");
    CHECK_FAILS(okra_data_write(NULL, dense, files_path("s.mtx")), OKRA_EUNSUPPORTED,
                "dense data cannot be written as .mtx; expected sparse, bits");
    CHECK_FAILS(okra_data_write(NULL, dense, files_path("s.svm")), OKRA_EUNSUPPORTED,
                "format svm is not written; expected one of npy csv tsv mtx smiles sdf "
                "mgf txt fasta graphml edges");
    CHECK_FAILS(okra_data_write(NULL, dense, "gram:x.npy"), OKRA_EUNSUPPORTED,
                "gram:x.npy: format gram is not written");
    CHECK_FAILS(okra_data_write(NULL, dense, files_path("s.xyz")), OKRA_EARG,
                "the extension tells no format");
    CHECK_FAILS(okra_data_write(NULL, NULL, "s.npy"), OKRA_EARG,
                "the data to write is NULL");
    CHECK_FAILS(okra_data_write(NULL, dense, NULL), OKRA_EARG,
                "the file to write is NULL");
    CHECK(files_count() == 0);
    okra_data_free(sparse);
    okra_data_free(dense);
    files_clean();
}

/* Points "-" at a file for the time of a call. */
static int redirect(int to, const char *path, int flags)
{
    int kept = dup(to), fd = open(path, flags, 0600);
    dup2(fd, to);
    close(fd);
    return kept;
}

static void restore(int to, int kept)
{
    dup2(kept, to);
    close(kept);
}

TEST(standard_streams)
{
    const double x[] = {1.5, 2, 3, 4};
    okra_data *data = NULL, *back = NULL;
    static const char *const out[] = {"-", "csv:-", "npy:-", "tsv:-"};
    static const char *const in[] = {"-", "csv:-", "-", "tsv:-"};
    CHECK_OK(okra_data_dense(x, 2, 2, 2, &data));
    for (int k = 0; k < 4; k++) {
        fflush(stdout);
        int kept = redirect(1, files_path("out"), O_CREAT | O_WRONLY | O_TRUNC);
        okra_status st = okra_data_write(NULL, data, out[k]);
        restore(1, kept);
        CHECK(st == OKRA_OK);
        kept = redirect(0, files_path("out"), O_RDONLY);
        back = NULL;
        CHECK_OK(okra_data_read(NULL, in[k], &back));
        restore(0, kept);
        CHECK(files_dense(back, 2, 2, x));
        CHECK_TEXT(back->source, "standard input");
        okra_data_free(back);
    }
    CHECK_FAILS(
        okra_data_read(NULL, "mat:-", &back), OKRA_EUNSUPPORTED,
        "mat:-: only the Python package reads MATLAB files; convert it: python -m "
        "okra convert mat:- -o -.npz");
    okra_data_free(data);
    files_clean();
}

TEST(allocations)
{
    char file[512];
    const double x[] = {1, 2, 3, 4, 5, 6};
    const float y[] = {1, 2, 3, 4, 5, 6};
    okra_data *data = NULL;
    size_t size = npy(file, "<f8", "False", "(2, 3)", x, sizeof x);
    CHECK_ALLOCATIONS(files_read("", "a.npy", "", file, size, &data),
                      okra_data_free(data));
    size = npy(file, "<f4", "False", "(6,)", y, sizeof y);
    CHECK_ALLOCATIONS(files_read("labels:", "a.npy", "", file, size, &data),
                      okra_data_free(data));
    CHECK_OK(okra_data_dense(x, 2, 3, 3, &data));
    CHECK_ALLOCATIONS(okra_data_write(NULL, data, files_path("b.npy")), (void)0);
    CHECK_ALLOCATIONS(okra_data_write(NULL, data, files_path("b.csv")), (void)0);
    CHECK(files_count() == 3);
    okra_data_free(data);
    files_clean();
}

MAIN(RUN(types), RUN(layouts), RUN(versions), RUN(mapped), RUN(converted_into_a_file),
     RUN(mistakes_in_large_arrays), RUN(written), RUN(written_labels), RUN(refused),
     RUN(standard_streams), RUN(allocations))
