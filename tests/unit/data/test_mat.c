/* MATLAB files of both versions, written here through matio. */
#include "files.h"

#include <matio.h>

static void add(mat_t *file, const char *name, enum matio_classes class_type,
                enum matio_types type, size_t rows, size_t cols, const void *data,
                int opt, enum matio_compression compression)
{
    size_t dims[] = {rows, cols};
    matvar_t *v =
        Mat_VarCreate(name, class_type, type, 2, dims, (void *)(uintptr_t)data, opt);
    CHECK(v && Mat_VarWrite(file, v, compression) == 0);
    Mat_VarFree(v);
}

static const double columns[] = {1, 4, 2, 5, 3, 6}, rows[] = {1, 2, 3, 4, 5, 6};

/* x: doubles; small: uint8; text; wave: complex; cube: 2x1x3; s: sparse. */
static void make(const char *path, enum mat_ft version,
                 enum matio_compression compression, bool all)
{
    mat_t *file = Mat_CreateVer(path, NULL, version);
    CHECK(file != NULL);
    add(file, "x", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, 3, columns, 0, compression);
    if (all) {
        const uint8_t small[] = {1, 0, 2};
        const double one = 1;
        mat_complex_split_t wave = {(void *)(uintptr_t)&one, (void *)(uintptr_t)&one};
        size_t cube[] = {2, 1, 3};
        mat_uint32_t ir[] = {1, 0, 2}, jc[] = {0, 1, 3};
        double values[] = {5, 6, 7};
        mat_sparse_t sparse = {.nzmax = 3,
                               .ir = ir,
                               .nir = 3,
                               .jc = jc,
                               .njc = 3,
                               .ndata = 3,
                               .data = values};
        const double bad[] = {1, 2, NAN, 4};
        add(file, "small", MAT_C_UINT8, MAT_T_UINT8, 1, 3, small, 0, compression);
        add(file, "text", MAT_C_CHAR, MAT_T_UINT8, 1, 2, "ab", 0, compression);
        add(file, "wave", MAT_C_DOUBLE, MAT_T_DOUBLE, 1, 1, &wave, MAT_F_COMPLEX,
            compression);
        add(file, "s", MAT_C_SPARSE, MAT_T_DOUBLE, 3, 2, &sparse, 0, compression);
        add(file, "bad", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, 2, bad, 0, compression);
        matvar_t *v = Mat_VarCreate("cube", MAT_C_DOUBLE, MAT_T_DOUBLE, 3, cube,
                                    (void *)(uintptr_t)columns, 0);
        CHECK(Mat_VarWrite(file, v, compression) == 0);
        Mat_VarFree(v);
    }
    Mat_Close(file);
}

static okra_status read_part(const char *prefix, const char *part, okra_data **out)
{
    char spec[600];
    snprintf(spec, sizeof spec, "%s%s%s", prefix, files_path("a.mat"), part);
    return okra_data_read(NULL, spec, out);
}

static void check_version(enum mat_ft version, enum matio_compression compression)
{
    okra_data *data = NULL;
    const double sparse[] = {0, 6, 5, 0, 0, 7};
    make(files_path("a.mat"), version, compression, false);
    CHECK_OK(read_part("", "", &data));
    CHECK(files_dense(data, 2, 3, rows));
    okra_data_free(data);
    make(files_path("a.mat"), version, compression, true);
    CHECK_OK(read_part("", ":x", &data));
    CHECK(files_dense(data, 2, 3, rows));
    okra_data_free(data);
    CHECK_OK(read_part("labels:", ":small", &data));
    CHECK(data->n == 3 && data->codes[0] == 1 && data->codes[1] == 0 &&
          data->codes[2] == 2);
    okra_data_free(data);
    data = NULL;
    CHECK_OK(read_part("", ":s", &data));
    CHECK(data && data->kind == OKRA_SPARSE && data->csr.indptr[3] == 3);
    okra_data_free(data);
    data = NULL;
    CHECK_OK(read_part("dense:", ":s", &data));
    CHECK(files_dense(data, 3, 2, sparse));
    okra_data_free(data);
    CHECK_FAILS(read_part("", "", &data), OKRA_EARG,
                "a.mat: there are 6 numeric variables among: ");
    CHECK_FAILS(read_part("", ":none", &data), OKRA_EARG,
                "there is no variable 'none'; there is: ");
    CHECK_FAILS(read_part("", ":text", &data), OKRA_EUNSUPPORTED,
                "a.mat: variable 'text' is not numeric");
    CHECK_FAILS(read_part("", ":wave", &data), OKRA_EUNSUPPORTED,
                "a.mat: variable 'wave' is not real");
    CHECK_OK(read_part("", ":cube", &data)); /* as cube(:,:) */
    CHECK(files_dense(data, 2, 3, rows));
    okra_data_free(data);
    CHECK_FAILS(read_part("", ":bad", &data), OKRA_EFORMAT,
                "a.mat: row 0, column 1 (counted from 0) is nan; values must be finite");
    CHECK_ALLOCATIONS(read_part("", ":x", &data), okra_data_free(data));
    CHECK_ALLOCATIONS(read_part("", ":s", &data), okra_data_free(data));
    files_clean();
}

TEST(version_5)
{
    check_version(MAT_FT_MAT5, MAT_COMPRESSION_NONE);
    check_version(MAT_FT_MAT5, MAT_COMPRESSION_ZLIB);
}

TEST(version_73)
{
    check_version(MAT_FT_MAT73, MAT_COMPRESSION_NONE);
}

TEST(broken)
{
    okra_data *data = NULL;
    okra_context *context = NULL;
    char spec[600];
    CHECK_FAILS(files_text("", "t.mat", "", &data), OKRA_EFORMAT,
                "t.mat: not a MATLAB file of version 5 or 7.3");
    CHECK_FAILS(
        files_text("", "t.mat", "some text that is no MATLAB file at all\n", &data),
        OKRA_EFORMAT, "t.mat: not a MATLAB file of version 5 or 7.3");
    CHECK_FAILS(okra_data_read(NULL, "/nowhere.mat", &data), OKRA_EIO,
                "/nowhere.mat: cannot be opened: No such file or directory");
    make(files_path("a.mat"), MAT_FT_MAT5, MAT_COMPRESSION_NONE, false);
    CHECK_OK(okra_context_create(&context));
    CHECK_OK(okra_context_set_memory(context, 100000));
    CHECK(truncate(files_path("a.mat"), 200) == 0);
    CHECK_FAILS(okra_data_read(NULL, files_path("a.mat"), &data), OKRA_EFORMAT,
                "a.mat: ");
    /* Cut anywhere, or with a name that claims 2 GiB, or with a damaged zlib stream. */
    for (int packed = 0; packed < 2; packed++) {
        make(files_path("a.mat"), MAT_FT_MAT5,
             packed ? MAT_COMPRESSION_ZLIB : MAT_COMPRESSION_NONE, false);
        okra_bytes_ whole = {0};
        CHECK_OK(okra_bytes_open_(NULL, files_path("a.mat"), &whole));
        unsigned char *copy = malloc((size_t)whole.size);
        memcpy(copy, whole.p, (size_t)whole.size);
        for (okra_int cut = 0; cut < whole.size; cut++) {
            CHECK_FAILS(files_read("", "cut.mat", "", copy, (size_t)cut, &data),
                        OKRA_EFORMAT, "cut.mat: ");
        }
        copy[packed ? 150 : 128 + 8 + 16 + 16 + 7] ^= 0x7f;
        copy[packed ? 150 : 128 + 8 + 16 + 16 + 2] = 0;
        CHECK_FAILS(files_read("", "cut.mat", "", copy, (size_t)whole.size, &data),
                    OKRA_EFORMAT,
                    packed ? "damaged: a variable does not inflate"
                           : "damaged or cut short: a variable is not whole");
        free(copy);
        okra_bytes_close_(&whole);
    }
    /* What the budget does not hold, and sizes that the elements do not fill, are refused
     * before anything is read. */
    make(files_path("a.mat"), MAT_FT_MAT5, MAT_COMPRESSION_NONE, false);
    CHECK_OK(okra_context_set_memory(context, 300));
    CHECK_FAILS(okra_data_read(context, files_path("a.mat"), &data), OKRA_EBUDGET,
                "needs");
    CHECK_OK(okra_context_set_memory(context, 100000));
    FILE *f = fopen(files_path("a.mat"), "r+b");
    int32_t dims[] = {1000000, 1000000};
    fseek(f, 128 + 8 + 16 + 8, SEEK_SET);
    fwrite(dims, sizeof dims, 1, f);
    fclose(f);
    snprintf(spec, sizeof spec, "%s", files_path("a.mat"));
    CHECK_FAILS(okra_data_read(context, spec, &data), OKRA_EFORMAT,
                "damaged: the sizes of a variable are not those of its elements");
    /* No rows take none, however long they are. */
    f = fopen(files_path("a.mat"), "r+b");
    fseek(f, 128 + 8 + 16 + 8, SEEK_SET);
    fwrite((const int32_t[]){0, 1 << 30}, sizeof dims, 1, f);
    fclose(f);
    CHECK_OK(okra_data_read(context, spec, &data));
    CHECK(data && data->n == 0 && data->d == 1 << 30);
    okra_data_free(data);
    okra_context_free(context);
    files_clean();
}

/* The file of `make` with one byte altered. */
static okra_status read_altered(bool all, size_t at, unsigned char value)
{
    okra_data *data = NULL;
    okra_bytes_ whole = {0};
    make(files_path("a.mat"), MAT_FT_MAT5, MAT_COMPRESSION_NONE, all);
    CHECK_OK(okra_bytes_open_(NULL, files_path("a.mat"), &whole));
    unsigned char *copy = malloc((size_t)whole.size);
    memcpy(copy, whole.p, (size_t)whole.size);
    if (all) { /* `at` counts from the sparse variable, found by its dimensions 3 x 2 */
        static const unsigned char dims[] = {5, 0, 0, 0, 8, 0, 0, 0,
                                             3, 0, 0, 0, 2, 0, 0, 0};
        const unsigned char *found = memmem(copy, (size_t)whole.size, dims, sizeof dims);
        CHECK(found != NULL);
        at += found ? (size_t)(found - copy) : 0;
    }
    copy[at] = value;
    okra_int before = okra_alloc_live_bytes_();
    okra_alloc_reset_peak_();
    okra_status st =
        files_read("", "b.mat", all ? ":s" : ":x", copy, (size_t)whole.size, &data);
    CHECK(okra_alloc_peak_bytes_() - before < 1 << 20);
    okra_data_free(data);
    free(copy);
    okra_bytes_close_(&whole);
    return st;
}

TEST(damaged)
{
    /* the rows, fewer or more; columns and rows of the sparse one */
    CHECK_OK(read_altered(false, 128 + 8 + 16 + 8, 2));
    CHECK_FAILS(read_altered(false, 128 + 8 + 16 + 8 + 2, 100), OKRA_EFORMAT,
                "b.mat: damaged: the sizes of a variable are not those of its elements");
    CHECK_FAILS(read_altered(false, 128 + 8 + 16 + 8, 1), OKRA_EFORMAT,
                "b.mat: damaged: the sizes of a variable are not those of its elements");
    CHECK_FAILS(read_altered(true, 8 + 4 + 2, 100), OKRA_EFORMAT,
                "b.mat: damaged: a sparse matrix of 6553602 columns says where 2 begin");
    CHECK_FAILS(read_altered(true, 8 + 2, 100), OKRA_EFORMAT,
                "b.mat: it claims 6553603 rows, absurd for a file of ");
    /* the type of the dimensions, the size of the name, the type of the row numbers */
    CHECK_FAILS(read_altered(false, 128 + 8 + 16, 77), OKRA_EFORMAT,
                "b.mat: damaged: an element of a variable has type 77");
    CHECK_FAILS(read_altered(false, 128 + 8 + 16 + 16 + 2, 5), OKRA_EFORMAT,
                "b.mat: damaged or cut short: a variable is not whole");
    CHECK_FAILS(read_altered(true, 16 + 8, 9), OKRA_EFORMAT,
                "b.mat: damaged: indices of a sparse matrix have type 9");
    files_clean();
}

static matvar_t *number(const double *value)
{
    size_t one[] = {1, 1};
    return Mat_VarCreate(NULL, MAT_C_DOUBLE, MAT_T_DOUBLE, 2, one,
                         (void *)(uintptr_t)value, 0);
}

/* Beside x: s, 2 structures of fields a and bb; c, 3 cells; none, 5000 structures of no
 * fields. */
static void make_nested(const char *path, enum matio_compression compression)
{
    const char *names[] = {"a", "bb"};
    size_t two[] = {2, 1}, three[] = {1, 3}, many[] = {5000, 1};
    matvar_t *parts[4] = {number(rows), number(rows + 1), number(rows + 2), NULL};
    mat_t *file = Mat_CreateVer(path, NULL, MAT_FT_MAT5);
    matvar_t *c = Mat_VarCreate("c", MAT_C_CELL, MAT_T_CELL, 2, three, parts, 0);
    matvar_t *s = Mat_VarCreateStruct("s", 2, two, names, 2);
    matvar_t *none = Mat_VarCreateStruct("none", 2, many, NULL, 0);
    CHECK(file && c && s && none);
    for (size_t i = 0; i < 2; i++) {
        Mat_VarSetStructFieldByName(s, "a", i, number(rows + i));
        Mat_VarSetStructFieldByName(s, "bb", i, number(rows + i));
    }
    CHECK(Mat_VarWrite(file, s, compression) == 0);
    CHECK(Mat_VarWrite(file, c, compression) == 0);
    CHECK(Mat_VarWrite(file, none, compression) == 0);
    add(file, "x", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, 3, columns, 0, compression);
    Mat_VarFree(s);
    Mat_VarFree(c);
    Mat_VarFree(none);
    Mat_Close(file);
}

/* Reads x of the file above, one of the words after the sizes rows x cols of another
 * variable altered: `at` counts bytes from the first size. */
static okra_status read_nested(uint32_t n, uint32_t d, size_t at, unsigned char value)
{
    const uint32_t dims[] = {5, 8, n, d};
    okra_data *data = NULL;
    okra_bytes_ whole = {0};
    make_nested(files_path("a.mat"), MAT_COMPRESSION_NONE);
    CHECK_OK(okra_bytes_open_(NULL, files_path("a.mat"), &whole));
    unsigned char *copy = malloc((size_t)whole.size);
    memcpy(copy, whole.p, (size_t)whole.size);
    unsigned char *found = memmem(copy, (size_t)whole.size, dims, sizeof dims);
    CHECK(found != NULL);
    if (found) {
        found[8 + at] = value;
    }
    okra_status st = files_read("", "b.mat", ":x", copy, (size_t)whole.size, &data);
    okra_data_free(data);
    free(copy);
    okra_bytes_close_(&whole);
    return st;
}

/* matio takes memory for all structures and cells before it looks for them. */
TEST(nested)
{
    okra_data *data = NULL;
    for (int packed = 0; packed < 2; packed++) {
        make_nested(files_path("a.mat"),
                    packed ? MAT_COMPRESSION_ZLIB : MAT_COMPRESSION_NONE);
        CHECK_OK(read_part("", ":x", &data));
        CHECK(files_dense(data, 2, 3, rows));
        okra_data_free(data);
        data = NULL;
    }
    CHECK_OK(read_nested(2, 1, 0, 2));
    CHECK_FAILS(read_nested(2, 1, 3, 0x80), OKRA_EFORMAT,
                "has more parts than they can hold");
    CHECK_FAILS(read_nested(1, 3, 6, 1), OKRA_EFORMAT,
                "has more parts than they can hold");
    CHECK_FAILS(read_nested(2, 1, 18, 0), OKRA_EFORMAT,
                "b.mat: damaged: a structure does not say how long its names are");
    files_clean();
}

/* A matrix of version 7.3 in pieces, of which most are not there: HDF5 gives zeros. */
TEST(claimed_73)
{
    const uint64_t dims[] = {3, 2}, claimed[] = {3, 20000000};
    okra_data *data = NULL;
    okra_bytes_ whole = {0};
    make(files_path("a.mat"), MAT_FT_MAT73, MAT_COMPRESSION_ZLIB, false);
    CHECK_OK(okra_bytes_open_(NULL, files_path("a.mat"), &whole));
    unsigned char *copy = malloc((size_t)whole.size);
    memcpy(copy, whole.p, (size_t)whole.size);
    unsigned char *found = memmem(copy, (size_t)whole.size, dims, sizeof dims);
    CHECK(found != NULL);
    if (found) {
        memcpy(found, claimed, sizeof claimed);
    }
    CHECK_FAILS(files_read("", "b.mat", "", copy, (size_t)whole.size, &data),
                OKRA_EFORMAT,
                "b.mat: it claims 60000000 elements, absurd for a file of ");
    free(copy);
    okra_bytes_close_(&whole);
    files_clean();
}

/* A variable of cells, each in the one before it; behind it x. */
static okra_status read_deep(uint32_t depth)
{
    enum { HEADER = 128, HEAD = 48 }; /* tag, flags, sizes, name */
    okra_data *data = NULL;
    okra_bytes_ whole = {0};
    make(files_path("a.mat"), MAT_FT_MAT5, MAT_COMPRESSION_NONE, false);
    CHECK_OK(okra_bytes_open_(NULL, files_path("a.mat"), &whole));
    size_t cells = (size_t)depth * HEAD, size = (size_t)whole.size + cells;
    unsigned char *copy = malloc(size);
    memcpy(copy, whole.p, HEADER);
    memcpy(copy + HEADER + cells, (const char *)whole.p + HEADER,
           (size_t)whole.size - HEADER);
    for (uint32_t k = 0; k < depth; k++) {
        bool last = k + 1 == depth;
        const uint32_t head[] = {
            14, (depth - k) * HEAD - 8, 6, 8, 1, 0, 5, 8, !last, 1, 1 | 1 << 16, 'c'};
        memcpy(copy + HEADER + (size_t)k * HEAD, head, sizeof head);
    }
    okra_status st = files_read("", "deep.mat", ":x", copy, size, &data);
    CHECK(st != OKRA_OK || files_dense(data, 2, 3, rows));
    okra_data_free(data);
    free(copy);
    okra_bytes_close_(&whole);
    return st;
}

TEST(deep)
{
    CHECK_OK(read_deep(1));
    CHECK_OK(read_deep(40));
    CHECK_OK(read_deep(64));
    CHECK_FAILS(read_deep(65), OKRA_EUNSUPPORTED, "a variable nests more than 64 deep");
    CHECK_FAILS(read_deep(100000), OKRA_EUNSUPPORTED,
                "a variable nests more than 64 deep");
    files_clean();
}

MAIN(RUN(version_5), RUN(version_73), RUN(broken), RUN(damaged), RUN(nested),
     RUN(claimed_73), RUN(deep))
