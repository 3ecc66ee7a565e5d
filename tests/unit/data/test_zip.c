/* Zip archives: written, read back, aligned, zip64, and every way to be damaged. */
#include "data/files/formats.h"
#include "data/files/archive.h"
#include "files.h"

#include <zlib.h>

/* Two entries: "first" of 5 bytes in one head, "second" of 3 rows of 4 bytes, 6 apart. */
static okra_status make(const char *path, okra_int zip64_from)
{
    static const char body[] = "abcd__efgh__ijkl__";
    okra_status st = OKRA_OK;
    okra_writer_ *file = NULL;
    okra_zip_writer_ *zip = NULL;
    uint32_t crc = 0;
    TRY(okra_writer_open_(path, &file));
    TRY(okra_zip_writer_create_(file, &zip));
    if (zip64_from >= 0) {
        okra_zip_writer_zip64_(zip, zip64_from);
    }
    TRY(okra_zip_add_(zip, "first", "hello", 5, NULL, 0, 0, 0, NULL));
    TRY(okra_zip_add_(zip, "folder/second", "!", 1, body, 3, 4, 6, &crc));
    CHECK(crc == crc32(0, (const Bytef *)"!abcdefghijkl", 13));
    TRY(okra_zip_add_(zip, "empty", NULL, 0, NULL, 0, 0, 0, NULL));
    TRY(okra_zip_finish_(zip));
    okra_writer_ *done_file = file;
    file = NULL;
    TRY(okra_writer_commit_(done_file));
done:
    okra_zip_writer_free_(zip);
    okra_writer_abort_(file);
    return st;
}

static void check_archive(const char *path)
{
    okra_zip_ *zip = NULL;
    const unsigned char *p = NULL;
    void *owned = NULL;
    okra_int size = 0;
    CHECK_OK(okra_zip_open_(NULL, path, &zip));
    if (!zip) {
        return;
    }
    CHECK_TEXT(okra_zip_each_(zip, 0), "first");
    CHECK_TEXT(okra_zip_each_(zip, 1), "folder/second");
    CHECK(okra_zip_each_(zip, 3) == NULL);
    CHECK(okra_zip_find_(zip, "folder/second") == 1 && okra_zip_find_(zip, "x") == -1);
    const char *want[] = {"hello", "!abcdefghijkl", ""};
    for (okra_int k = 0; k < 3; k++) {
        CHECK_OK(okra_zip_entry_(NULL, zip, k, &p, &size, &owned));
        CHECK(size == (okra_int)strlen(want[k]) && memcmp(p, want[k], (size_t)size) == 0);
        CHECK(owned == NULL && (p - okra_zip_bytes_(zip)->p) % 64 == 0);
    }
    CHECK_OK(okra_zip_check_seal_(zip));
    okra_zip_close_(zip);
}

TEST(round_trip)
{
    char first[2000];
    size_t length = 0;
    for (int k = 0; k < 2; k++) {
        CHECK_OK(make(files_path("a.zip"), -1));
        check_archive(files_path("a.zip"));
        FILE *f = fopen(files_path("a.zip"), "rb");
        char again[2000];
        size_t got = fread(again, 1, sizeof again, f);
        fclose(f);
        CHECK(k == 0 || (got == length && memcmp(first, again, got) == 0));
        memcpy(first, again, got);
        length = got;
    }
    /* every number that may be, as zip64: sizes from 6 bytes on, all but the first offset
     */
    CHECK_OK(make(files_path("b.zip"), 6));
    check_archive(files_path("b.zip"));
    CHECK_OK(make(files_path("b.zip"), 0));
    check_archive(files_path("b.zip"));
    okra_zip_close_(NULL);
    okra_zip_writer_free_(NULL);
    files_clean();
}

/* Many entries; the directory spans several buffers of the writer. */
TEST(many)
{
    okra_writer_ *file = NULL;
    okra_zip_writer_ *writer = NULL;
    okra_zip_ *zip = NULL;
    char name[16];
    CHECK_OK(okra_writer_open_(files_path("many.zip"), &file));
    CHECK_OK(okra_zip_writer_create_(file, &writer));
    for (int k = 0; k < 3000; k++) {
        sprintf(name, "%d", k);
        CHECK_OK(okra_zip_add_(writer, name, name, strlen(name), NULL, 0, 0, 0, NULL));
    }
    CHECK_OK(okra_zip_finish_(writer));
    okra_zip_writer_free_(writer);
    CHECK_OK(okra_writer_commit_(file));
    CHECK_OK(okra_zip_open_(NULL, files_path("many.zip"), &zip));
    CHECK(okra_zip_find_(zip, "2999") == 2999);
    okra_zip_close_(zip);
    files_clean();
}

/* Any one altered bit is noticed by the seal, whatever the directory says. */
TEST(seal)
{
    okra_bytes_ bytes = {0};
    CHECK_OK(make(files_path("a.zip"), -1));
    CHECK_OK(okra_bytes_open_(NULL, files_path("a.zip"), &bytes));
    char *copy = malloc((size_t)bytes.size);
    okra_int opened = 0;
    for (okra_int k = 0; k < bytes.size; k++) {
        okra_zip_ *zip = NULL;
        okra_bytes_ view = {.p = (unsigned char *)copy, .size = bytes.size};
        memcpy(copy, bytes.p, (size_t)bytes.size);
        copy[k] ^= (char)(1 << (k % 8));
        if (okra_zip_adopt_(&view, &zip) == OKRA_OK) {
            opened++;
            CHECK_FAILS(okra_zip_check_seal_(zip), OKRA_EFORMAT, NULL);
            okra_zip_close_(zip);
        }
    }
    CHECK(opened > bytes.size / 2);
    free(copy);
    okra_bytes_close_(&bytes);
    files_clean();
}

static void put(char *file, size_t at, unsigned value, int size)
{
    for (int k = 0; k < size; k++) {
        file[at + (size_t)k] = (char)(value >> 8 * k);
    }
}

/* A zip of one entry "x" with `packed` as its bytes; offsets: local 0, data 31. */
static size_t one_entry(char *file, int method, const void *packed, size_t packed_size,
                        size_t size, unsigned crc)
{
    size_t central = 31 + packed_size, end = central + 47;
    memset(file, 0, end + 22);
    put(file, 0, 0x04034b50, 4);
    put(file, 26, 1, 2);
    file[30] = 'x';
    memcpy(file + 31, packed, packed_size);
    put(file, central, 0x02014b50, 4);
    put(file, central + 10, (unsigned)method, 2);
    put(file, central + 16, crc, 4);
    put(file, central + 20, (unsigned)packed_size, 4);
    put(file, central + 24, (unsigned)size, 4);
    put(file, central + 28, 1, 2);
    file[central + 46] = 'x';
    put(file, end, 0x06054b50, 4);
    put(file, end + 8, 1, 2);
    put(file, end + 10, 1, 2);
    put(file, end + 12, 47, 4);
    put(file, end + 16, (unsigned)central, 4);
    return end + 22;
}

static okra_status open_bytes(const char *file, size_t size, bool read)
{
    okra_status st = OKRA_OK;
    okra_zip_ *zip = NULL;
    okra_bytes_ view = {.p = (const unsigned char *)file, .size = (okra_int)size};
    const unsigned char *p;
    okra_int length;
    void *owned = NULL;
    TRY(okra_zip_adopt_(&view, &zip));
    if (read) {
        TRY(okra_zip_entry_(NULL, zip, 0, &p, &length, &owned));
    } else {
        TRY(okra_zip_check_seal_(zip));
    }
done:
    okra_free_(owned);
    okra_zip_close_(zip);
    return st;
}

TEST(deflated)
{
    char text[5000], file[9000];
    unsigned char packed[6000];
    for (size_t k = 0; k < sizeof text; k++) {
        text[k] = (char)('a' + k * k % 7);
    }
    z_stream z = {0};
    CHECK(deflateInit2(&z, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    z.next_in = (Bytef *)text;
    z.avail_in = sizeof text;
    z.next_out = packed;
    z.avail_out = sizeof packed;
    CHECK(deflate(&z, Z_FINISH) == Z_STREAM_END);
    size_t length = sizeof packed - z.avail_out;
    deflateEnd(&z);
    unsigned crc = (unsigned)crc32(0, (Bytef *)text, sizeof text);
    size_t size = one_entry(file, 8, packed, length, sizeof text, crc);
    CHECK_OK(open_bytes(file, size, true));
    CHECK_ALLOCATIONS(open_bytes(file, size, true), (void)0);
    size = one_entry(file, 8, packed, length, sizeof text - 1, crc);
    CHECK_FAILS(open_bytes(file, size, true), OKRA_EFORMAT,
                "entry 'x' does not inflate to its 4999 bytes");
    size = one_entry(file, 8, packed, length, sizeof text + 1, crc);
    CHECK_FAILS(open_bytes(file, size, true), OKRA_EFORMAT,
                "entry 'x' does not inflate to its 5001 bytes");
    size = one_entry(file, 8, packed, length, 2000000000, crc);
    CHECK_FAILS(open_bytes(file, size, true), OKRA_EFORMAT, "more than its");
    size = one_entry(file, 8, packed, length, sizeof text, crc + 1);
    CHECK_FAILS(open_bytes(file, size, true), OKRA_EFORMAT,
                "entry 'x' is damaged: its CRC");
}

TEST(damaged)
{
    char file[400];
    unsigned crc = (unsigned)crc32(0, (const Bytef *)"data", 4);
    const size_t central = 35, end = 82, size = 104;
    static const struct {
        size_t at;
        unsigned value;
        int bytes;
        okra_status status;
        const char *message;
    } cases[] = {
        {82, 0, 4, OKRA_EFORMAT, "not a zip archive, or cut short: it has no end record"},
        {86, 1, 2, OKRA_EUNSUPPORTED, "the archive is in several parts"},
        {92, 2, 2, OKRA_EFORMAT,
         "the directory (2 entries, 47 bytes from byte 35) does not "
         "fit in the file's 104 bytes"},
        {98, 1000, 4, OKRA_EFORMAT, "the directory (1 entries, 47 bytes from byte 1000)"},
        {35, 0, 4, OKRA_EFORMAT, "entry 0 of the zip directory is damaged"},
        {63, 9, 2, OKRA_EFORMAT, "entry 0 of the zip directory is cut short"},
        {43, 1, 2, OKRA_EUNSUPPORTED, "entry 'x' is encrypted"},
        {45, 12, 2, OKRA_EUNSUPPORTED,
         "entry 'x' is compressed by method 12; expected stored or deflated"},
        {77, 90, 4, OKRA_EFORMAT, "entry 'x' has no header at byte 90"},
        {77, 2, 4, OKRA_EFORMAT, "entry 'x' has no header at byte 2"},
        {55, 90, 4, OKRA_EFORMAT,
         "entry 'x' (4 bytes, stored in 90 from byte 31) does not "
         "fit in the file's 104 bytes"},
        {59, 3, 4, OKRA_EFORMAT, "entry 'x' (3 bytes, stored in 4 from byte 31)"},
        {51, 1, 4, OKRA_EFORMAT,
         "entry 'x' is damaged: its CRC-32 is adf3f363, expected "
         "00000001"},
        {26, 60000, 2, OKRA_EFORMAT, "entry 'x' (4 bytes, stored in 4 from byte 60030)"},
    };
    CHECK(one_entry(file, 0, "data", 4, 4, crc) == size);
    CHECK_OK(open_bytes(file, size, true));
    CHECK_FAILS(open_bytes(file, size, false), OKRA_EFORMAT, "the archive has no seal");
    CHECK(central + 47 == end);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        one_entry(file, 0, "data", 4, 4, crc);
        put(file, cases[k].at, cases[k].value, cases[k].bytes);
        CHECK_FAILS(open_bytes(file, size, true), cases[k].status, cases[k].message);
    }
    one_entry(file, 0, "data", 4, 4, crc);
    for (size_t cut = 0; cut < size; cut++) {
        CHECK_FAILS(open_bytes(file, cut, true), OKRA_EFORMAT, "it has no end record");
    }
    CHECK_OK(make(files_path("z.zip"), 0));
    okra_bytes_ bytes = {0};
    CHECK_OK(okra_bytes_open_(NULL, files_path("z.zip"), &bytes));
    char *copy = malloc((size_t)bytes.size);
    memcpy(copy, bytes.p, (size_t)bytes.size);
    copy[bytes.size - 19 - 22 - 20 + 9] = 0x7f; /* the locator's offset */
    CHECK_FAILS(open_bytes(copy, (size_t)bytes.size, true), OKRA_EFORMAT,
                "the zip64 end record is not where its locator says");
    free(copy);
    okra_bytes_close_(&bytes);
    files_clean();
}

TEST(refused)
{
    okra_writer_ *file = NULL;
    okra_zip_writer_ *writer = NULL;
    okra_zip_ *zip = NULL;
    char *name = malloc(70001);
    memset(name, 'n', 70000);
    name[70000] = '\0';
    CHECK_OK(okra_writer_open_(files_path("x.zip"), &file));
    CHECK_OK(okra_zip_writer_create_(file, &writer));
    CHECK_FAILS(okra_zip_add_(writer, name, "", 0, NULL, 0, 0, 0, NULL), OKRA_EARG,
                "a zip entry's name has 70000 bytes; at most 65535 are possible");
    okra_zip_writer_free_(writer);
    okra_writer_abort_(file);
    free(name);
    CHECK_FAILS(okra_zip_open_(NULL, "/nowhere.zip", &zip), OKRA_EIO,
                "/nowhere.zip: cannot be opened");
    CHECK_FAILS(okra_zip_open_(NULL, files_make("t.zip", "text", 4), &zip), OKRA_EFORMAT,
                "t.zip: not a zip archive");
    CHECK_ALLOCATIONS(make(files_path("b.zip"), -1), (void)0);
    CHECK_ALLOCATIONS(okra_zip_open_(NULL, files_path("b.zip"), &zip),
                      okra_zip_close_(zip));
    files_clean();
}

/* .npz files: one array is taken, of several the one named. */
TEST(npz)
{
    const double x[] = {1, 2, 3, 4, 5, 6};
    const int64_t y[] = {7, 8};
    char header[OKRA_NPY_HEADER_], spec[600];
    okra_writer_ *file = NULL;
    okra_zip_writer_ *zip = NULL;
    okra_data *data = NULL;
    for (int arrays = 0; arrays <= 2; arrays++) {
        CHECK_OK(okra_writer_open_(files_path("a.npz"), &file));
        CHECK_OK(okra_zip_writer_create_(file, &zip));
        if (arrays > 0) {
            CHECK_OK(okra_zip_add_(zip, "x.npy", header,
                                   okra_npy_header_("<f8", 2, 3, header), x, 2, 24, 24,
                                   NULL));
        }
        if (arrays > 1) {
            CHECK_OK(okra_zip_add_(zip, "y.npy", header,
                                   okra_npy_header_("<i8", 2, -1, header), y, 2, 8, 8,
                                   NULL));
        }
        CHECK_OK(okra_zip_add_(zip, "note.txt", "n", 1, NULL, 0, 0, 0, NULL));
        CHECK_OK(okra_zip_finish_(zip));
        okra_zip_writer_free_(zip);
        CHECK_OK(okra_writer_commit_(file));
        if (arrays == 0) {
            CHECK_FAILS(okra_data_read(NULL, files_path("a.npz"), &data), OKRA_EFORMAT,
                        "a.npz: there are 0 arrays; choose one as FILE:NAME");
        } else if (arrays == 1) {
            CHECK_OK(okra_data_read(NULL, files_path("a.npz"), &data));
            CHECK(files_dense(data, 2, 3, x) && data->release);
            okra_data_free(data);
        }
    }
    CHECK_FAILS(okra_data_read(NULL, files_path("a.npz"), &data), OKRA_EARG,
                "a.npz: there are 2 arrays: x, y; choose one as FILE:NAME");
    snprintf(spec, sizeof spec, "%s:z", files_path("a.npz"));
    CHECK_FAILS(okra_data_read(NULL, spec, &data), OKRA_EARG,
                "a.npz: there is no array 'z'; there is: x, y");
    snprintf(spec, sizeof spec, "labels:%s:y", files_path("a.npz"));
    CHECK_OK(okra_data_read(NULL, spec, &data));
    CHECK(data->kind == OKRA_LABELS && data->codes[1] == 8 && data->n == 2);
    okra_data_free(data);
    snprintf(spec, sizeof spec, "%s:x", files_path("a.npz"));
    CHECK_ALLOCATIONS(okra_data_read(NULL, spec, &data), okra_data_free(data));
    files_clean();
}

MAIN(RUN(round_trip), RUN(many), RUN(seal), RUN(deflated), RUN(damaged), RUN(refused),
     RUN(npz))
